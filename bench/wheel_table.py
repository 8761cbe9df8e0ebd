# SPDX-License-Identifier: Apache-2.0
"""Compares the times that scripts/bench_wheel.sh measured: wheel_table.py FOLDER."""

import collections
import json
import pathlib
import statistics
import sys

LIMIT = 1.05
times = collections.defaultdict(lambda: collections.defaultdict(list))
for file in pathlib.Path(sys.argv[1]).glob("*.json"):
    program, build, _ = file.stem.split(".")
    for benchmark in json.loads(file.read_text())["benchmarks"]:
        times[program, benchmark["name"]][build].append(benchmark["cpu_time"])
# The wheel has no command line, and so no reader of the trained scores that some figures need.
times = {name: t for name, t in times.items() if len(t) == 2}
# Others on the machine only make a run slower, so the fastest of each is compared.
ratios = sorted((min(t["wheels"]) / min(t["bench"]), *name) for name, t in times.items())
print(f"{len(ratios)} figures, the wheel's time over the other's: median {statistics.median(r for r, *_ in ratios):.3f}")
for ratio, program, name in ratios[:5] + ratios[5:][-12:]:
    print(f"{ratio:6.3f}  {program:20} {name}")
sys.exit(ratios[-1][0] > LIMIT)
