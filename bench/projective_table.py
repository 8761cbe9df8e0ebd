#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the medians of projective trees beside those of all trees of the same run, and their ratios.

Usage: projective_table.py PROJECTIVE.json LANES.json, from bench_projective and bench_lanes
"""

import json
import statistics
import sys


def read(path):
    """Median microseconds of the processor's time by name: waiting for other processes does not count."""
    with open(path) as f:
        runs = json.load(f)["benchmarks"]
    times = {}
    for run in runs:
        if run["run_type"] == "iteration":
            scale = {"ns": 1e-3, "us": 1.0}[run["time_unit"]]
            times.setdefault(run["name"].split("/repeats")[0], []).append(scale * run["cpu_time"])
    return {name: statistics.median(values) for name, values in times.items()}


def digits(t):
    return f"{t:.2f}" if t < 10 else f"{t:.1f}" if t < 100 else f"{t:.0f}"


def sentences(times):
    print("One sentence in the cache, uniform weights, single-root, one thread, us: all trees, projective trees, ratio\n")
    print("| n | log Z | with marginals | a sampled tree | argmax | argmax / log Z, projective |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n in (10, 25, 50, 100, 200):
        cells = []
        for task in ("factor", "factor_and_marginals", "sample", "best"):
            every, projective = (times[f"{task}/n:{n}/projective:{p}"] for p in (0, 1))
            cells.append(f"{digits(every)}, {digits(projective)}, {projective / every:.2f}")
        decode = times[f"best/n:{n}/projective:1"] / times[f"factor/n:{n}/projective:1"]
        print(f"| {n} | " + " | ".join(cells) + f" | {decode:.2f} |")


def batches(times):
    print("\n1,024 sentences, one thread, ms: side by side, one by one, ratio\n")
    print("| n | log Z, all | log Z, projective | marginals, all | marginals, projective |")
    print("| --- | --- | --- | --- | --- |")
    for lengths in ("words", "from_half_to"):
        for n in (5, 10, 15, 20, 25, 32):
            cells = []
            for task in ("log_partition", "marginals"):
                for family in ("all", "projective"):
                    name = f"{family}/{task}/{lengths}/{n}"
                    together, alone = (times[f"{name}/{how}"] / 1000 for how in ("side_by_side", "one_by_one"))
                    cells.append(f"{together:.2f}, {alone:.2f}, {alone / together:.2f}")
            label = str(n) if lengths == "words" else f"{n // 2 + n % 2} to {n}"
            print(f"| {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sentences(read(sys.argv[1]))
    batches(read(sys.argv[2]))
