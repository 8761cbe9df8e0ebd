#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the samplers' medians, their ratios to the NumPy reference of the same run, and fits.

Usage: sample_table.py GOOGLE_BENCHMARK.json REFERENCE.json
"""

import json
import math
import statistics
import sys


def read(path):
    times, counters = {}, {}
    with open(path) as f:
        for run in json.load(f)["benchmarks"]:
            if run["run_type"] != "iteration":
                continue
            name = run["name"].removesuffix("/real_time")
            scale = {"ns": 1e-3, "us": 1, "ms": 1e3}[run["time_unit"]]
            times.setdefault(name, []).append(run["real_time"] * scale)
            counters[name] = {k: run[k] for k in ("steps", "tries", "expected_tries", "bytes") if k in run}
    return {name: statistics.median(t) for name, t in times.items()}, counters


def exponent(points):
    xs = [math.log(n) for n, _ in points]
    ys = [math.log(t) for _, t in points]
    mx, my = statistics.mean(xs), statistics.mean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def main(ours_path, reference_path):
    ours, counters = read(ours_path)
    with open(reference_path) as f:
        reference = json.load(f)
    print("100 trees, n = 100, uniform weights, set-up included (NumPy / ours):\n")
    print("| sampler | us | NumPy us | ratio |\n| --- | --- | --- | --- |")
    for name in ("wilson-marginal", "auto", "wilson-reject", "colbourn", "elimination"):
        numpy = reference["hundred_trees"].get("wilson-marginal" if name in ("auto", "elimination") else name)
        t = ours[f"hundred_trees/{name}"]
        print(f"| {name} | {t:.0f} | {numpy * 1e6:.0f} | {numpy * 1e6 / t:.0f} |")
    print("\nOne further tree, us, and the exponent fitted over n:\n")
    lengths = (25, 50, 100, 200, 400)
    print("| sampler | " + " | ".join(map(str, lengths)) + " | exponent | NumPy ratio, n = 100 |")
    print("| --- |" + " --- |" * (len(lengths) + 2))
    for name in ("wilson-marginal", "wilson-reject", "auto", "elimination", "colbourn"):
        points = [(n, ours[f"one_tree/{name}/{n}"]) for n in lengths if f"one_tree/{name}/{n}" in ours]
        numpy = reference["hundred_trees"].get(name)
        ratio = "" if numpy is None else f"{numpy * 1e4 / dict(points)[100]:.0f}"
        cells = [f"{dict(points)[n]:.2f}" if n in dict(points) else "" for n in lengths]
        print(f"| {name} | " + " | ".join(cells) + f" | {exponent(points):.2f} | {ratio} |")
    uniform = ours["one_tree/elimination/100"]
    print(f"\nelimination / wilson-marginal, n = 100: {uniform / ours['one_tree/wilson-marginal/100']:.2f}")
    print("\nOther weights (100 words unless the name says otherwise), us per tree:\n")
    print("| family | elimination | auto | auto / elimination |\n| --- | --- | --- | --- |")
    families = [name.split("/")[1] for name in ours if name.startswith("family/") and name.endswith("/auto")]
    for name in families:
        e, a = ours[f"family/{name}/elimination"], ours[f"family/{name}/auto"]
        print(f"| {name} | {e:.2f} | {a:.2f} | {a / e:.2f} |")
    if reference["trained"]:
        print("\nTrained scores, 100 trees per sentence, all sentences:\n")
        print("| file | sampler | ms | NumPy ms | ratio | tries | expected_tries |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for file, seconds_of in reference["trained"].items():
            for name in ("wilson-marginal", "wilson-reject", "auto", "elimination"):
                key = f"trained/{file}/{name}"
                seconds = seconds_of.get(name, seconds_of["wilson-marginal"])
                t = ours[key] / 1e3
                c = counters[key]
                print(f"| {file} | {name} | {t:.2f} | {seconds * 1e3:.0f} | {seconds * 1e3 / t:.0f} | "
                      f"{c['tries']:.3f} | {c['expected_tries']:.3f} |")
    speedup = ours["thousand_sentences/1"] / ours["thousand_sentences/2"]
    print(f"\n1,000 sentences x 100 trees: two threads are {speedup:.2f} times as fast as one.")


if __name__ == "__main__":
    main(*sys.argv[1:])
