# SPDX-License-Identifier: Apache-2.0
"""Projective trees beside all trees, from Python: whole calls, one thread, in one run.

Answers are checked before anything is timed: marginals sum to 1, and ``projective_mass`` is what the two log-partitions
say.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

import taproot

ROUNDS = 11
Call = Callable[[], object]


def median_of(call: Call, seconds: float = 0.02) -> float:
    """Median microseconds of one call."""
    times: list[int] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def interleaved(calls: list[Call]) -> list[float]:
    """Medians over rounds in which all take their turn."""
    rounds = [[median_of(call) for call in calls] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds)]


def trees(scores: np.ndarray, projective: bool) -> taproot.DependencyTrees:
    return taproot.DependencyTrees(scores, projective=projective, copy=False)


def check(scores: np.ndarray) -> None:
    every, some = trees(scores, False), trees(scores, True)
    assert np.allclose(some.marginals()[..., 1:].sum(axis=-2), 1, atol=1e-10)
    mass = np.exp(some.log_partition() - every.log_partition())
    assert np.allclose(every.projective_mass(), mass, rtol=1e-9, atol=0)


def with_marginals(scores: np.ndarray, projective: bool) -> None:
    d = trees(scores, projective)
    d.marginals()  # It has the log-partition on the way.
    d.log_partition()


def tasks(scores: np.ndarray, projective: bool) -> list[Call]:
    there = trees(scores, projective)
    there.sample(10)
    return [
        lambda: trees(scores, projective).log_partition(),
        lambda: with_marginals(scores, projective),
        lambda: trees(scores, projective).argmax(),
        lambda: there.sample(10, seed=1),
        lambda: there.sample(100, seed=1),
    ]


def main() -> None:
    taproot.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("One thread, uniform weights, us per sentence and, once the sentence is factored, per tree; medians:")
    print("all trees, projective trees, ratio\n")
    print("| n | sentences | log-partition | with marginals | argmax | argmax / log-partition | tree of 10 | of 100 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for n, batch in ((25, 1), (50, 1), (100, 1), (10, 1024), (25, 1024), (32, 1024)):
        scores = np.log(rng.uniform(size=(n + 1, n + 1) if batch == 1 else (batch, n + 1, n + 1)))
        check(scores)
        all_times = interleaved(tasks(scores, False) + tasks(scores, True))
        every, some = all_times[:5], all_times[5:]
        per = [1, 1, 1, 10, 100]
        cells = [f"{a / batch / k:.2f}, {b / batch / k:.2f}, {b / a:.2f}" for a, b, k in zip(every, some, per)]
        cells.insert(3, f"{some[2] / some[0]:.2f}")
        print(f"| {n} | {batch} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
