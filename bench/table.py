#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints medians, spreads and ratios of a Google Benchmark file as one Markdown table."""

import json
import statistics
import subprocess
import sys

CONTENDERS = ["factor", "factor_and_marginals", "eigen_lu", "eigen_inverse"]
BASELINE = "eigen_inverse"


def cpu_name():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def main(path):
    with open(path) as f:
        runs = json.load(f)["benchmarks"]
    times = {}
    for run in runs:
        if run["run_type"] != "iteration":
            continue
        contender, n = run["name"].split("/")[:2]
        times.setdefault((contender, int(n)), []).append(run["real_time"] / 1000)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True)
    print(f"{cpu_name()}; {compiler.stdout.splitlines()[0]}; commit {commit.stdout.strip()}; one thread.")
    print(f"Medians in microseconds (+- median absolute deviation) and ratios to {BASELINE}.\n")
    print("| n | " + " | ".join(CONTENDERS) + " | factor ratio | factor_and_marginals ratio |")
    print("| --- |" + " --- |" * (len(CONTENDERS) + 2))
    for n in sorted({n for _, n in times}):
        cells = []
        median = {}
        for contender in CONTENDERS:
            sample = times[contender, n]
            median[contender] = statistics.median(sample)
            spread = statistics.median(abs(t - median[contender]) for t in sample)
            digits = 3 if median[contender] < 10 else 1 if median[contender] < 1000 else 0
            cells.append(f"{median[contender]:.{digits}f} ± {spread:.{digits}f}")
        ratios = [median[c] / median[BASELINE] for c in CONTENDERS[:2]]
        print(f"| {n} | " + " | ".join(cells) + " | " + " | ".join(f"{r:.2f}" for r in ratios) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
