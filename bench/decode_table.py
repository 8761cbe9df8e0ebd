#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the decoders' medians, their ratios to the textbook contraction and to the NumPy reference of
the same run, and the exponent fitted over n.

Usage: decode_table.py GOOGLE_BENCHMARK.json REFERENCE.json
"""

import json
import sys

from sample_table import exponent, read


def main(ours_path, reference_path):
    ours, _ = read(ours_path)
    with open(reference_path) as f:
        numpy = json.load(f)["argmax"]
    print("Best tree, uniform weights, single-root, us:\n")
    print("| n | argmax | textbook / ours | NumPy / ours | further tree of the k best | in argmax |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n in (10, 25, 50, 100, 200, 400, 800, 1600):
        t = ours[f"argmax/{n}"]
        cells = [f"{ours[f'textbook/{n}'] / t:.1f}" if f"textbook/{n}" in ours else "",
                 f"{numpy[str(n)] * 1e6 / t:.0f}" if str(n) in numpy else ""]
        if f"further/{n}" in ours:
            further = ours[f"further/{n}"] / 100
            cells += [f"{further:.2f}", f"{further / t:.2f}"]
        else:
            cells += ["", ""]
        print(f"| {n} | {t:.2f} | " + " | ".join(cells) + " |")
    points = [(n, ours[f"argmax/{n}"]) for n in (100, 200, 400, 800, 1600)]
    print(f"\nargmax grows as n^{exponent(points):.2f} from 100 to 1600 words.")
    points = [(n, ours[f"further/{n}"]) for n in (25, 50, 100)]
    print(f"A further tree grows as n^{exponent(points):.2f} from 25 to 100.")


if __name__ == "__main__":
    main(*sys.argv[1:])
