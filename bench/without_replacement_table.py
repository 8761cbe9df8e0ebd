#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the medians of the samplers without replacement and their ratios to the NumPy reference of
the same run.

Usage: without_replacement_table.py GOOGLE_BENCHMARK.json REFERENCE.json
"""

import json
import sys

from sample_table import read


def main(ours_path, reference_path):
    ours, counters = read(ours_path)
    with open(reference_path) as f:
        numpy = json.load(f)
    print("Without replacement, uniform weights, set-up included:\n")
    print("| n | k | sampler | ms | us per tree | NumPy list / ours | NumPy trie / ours | NumPy beam / ours | MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = [name for name in ours if name.startswith("without_replacement/")]
    for name in sorted(rows, key=lambda name: (*map(int, name.split("/")[2:]), name)):
        _, sampler, n, k = name.split("/")
        t = ours[name]
        ratios = [f"{numpy[kind][f'{n}/{k}'] * 1e6 / t:.0f}" if f"{n}/{k}" in numpy[kind] else ""
                  for kind in ("list", "trie", "beam")]
        print(f"| {n} | {k} | {sampler} | {t / 1e3:.2f} | {t / int(k):.2f} | {' | '.join(ratios)} | "
              f"{counters[name]['bytes'] / 1e6:.1f} |")
    ratio = ours["without_replacement/auto/100/1000"] / ours["with_replacement/100/1000"]
    print(f"\nn = 100, k = 1000: auto takes {ratio:.2f} times as long as drawing with replacement.")
    for name in ("trie", "beam", "list"):
        growth = ours[f"without_replacement/{name}/30/10000"] / ours[f"without_replacement/{name}/30/1000"] / 10
        print(f"n = 30: {name} takes {growth:.2f} times as long a tree at k = 10,000 as at k = 1,000.")
    trained = sorted({name.split("/")[1] for name in ours if name.startswith("trained/")})
    if trained:
        print("\nTrained scores, k = 50, all sentences, ms:\n\n| file | auto | trie | beam |\n| --- | --- | --- | --- |")
        for file in trained:
            print(f"| {file} | " + " | ".join(f"{ours[f'trained/{file}/{a}'] / 1e3:.1f}" for a in ("auto", "trie", "beam")) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
