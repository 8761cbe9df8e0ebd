# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs: against numpy.linalg.slogdet, and against the same work by a C++ caller (bench_call).

usage: overhead.py BENCH_CALL
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import taproot

ROUNDS = 15


def median_of(function: Callable[[], object], calls: int) -> float:
    """Median microseconds of one call."""
    times = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        function()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def interleaved(*functions: Callable[[], float]) -> list[float]:
    """Medians over rounds in which all take their turn."""
    rounds = [[f() for f in functions] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds)]


def main() -> None:
    bench_call = sys.argv[1]
    taproot.set_num_threads(1)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 6))
    trees = taproot.DependencyTrees
    slogdet, construct, both = interleaved(
        lambda: median_of(lambda: np.linalg.slogdet(scores), 2000),
        lambda: median_of(lambda: trees(scores), 2000),
        lambda: median_of(lambda: trees(scores).sample(1), 2000),
    )
    print("| 6 x 6 | us | over slogdet |\n| --- | --- | --- |")
    for name, value in [("numpy.linalg.slogdet", slogdet), ("construct", construct), ("construct and sample(1)", both)]:
        print(f"| {name} | {value:.2f} | {value / slogdet:.2f} |")
    print("\n| k = 100 | construct and sample: C++ us | Python us | adds | sample alone: C++ us | Python us | adds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n in (25, 50, 100):
        scores = np.log(rng.uniform(size=(n + 1, n + 1)))
        there = trees(scores)
        with tempfile.NamedTemporaryFile() as file:
            file.write(scores.tobytes())
            file.flush()
            command = [bench_call, file.name, str(n), "100"]
            plain: list[tuple[float, ...]] = []

            def run_plain(command: list[str] = command, plain: list[tuple[float, ...]] = plain) -> float:
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                plain.append(tuple(map(float, output.split())))
                return 0.0

            _, both, alone = interleaved(
                run_plain,
                lambda scores=scores: median_of(lambda: trees(scores).sample(100), 300),
                lambda there=there: median_of(lambda: there.sample(100), 300),
            )
        cells = [f"n = {n}"]
        for ours, theirs in zip((both, alone), map(statistics.median, zip(*plain))):
            cells += [f"{theirs:.1f}", f"{ours:.1f}", f"{100 * (ours / theirs - 1):.1f} %"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
