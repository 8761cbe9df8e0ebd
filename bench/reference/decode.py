#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The best tree in straight NumPy, to be compared with: Chu-Liu/Edmonds by recursive contraction
(argmax of each column, find a cycle, contract it into a smaller array). Single-root by a constant
taken off the ROOT edges (Stanojevic and Cohen 2021).

Prints one JSON object of median seconds, single-root: {"argmax": {"25": ..., "50": ..., "100": ...}}.
Usage: decode.py
"""

import itertools
import json
import statistics
import time

import numpy as np


def find_cycle(heads):
    """Nodes of a cycle of heads, None if they form a tree. heads[0] is ignored."""
    seen = np.zeros(len(heads), dtype=int)
    seen[0] = -1
    for start in range(1, len(heads)):
        u = start
        while seen[u] == 0:
            seen[u] = start
            u = heads[u]
        if seen[u] == start:
            cycle = [u]
            while heads[cycle[-1]] != u:
                cycle.append(heads[cycle[-1]])
            return np.array(cycle)
    return None


def contract(s):
    """Heads of the best tree away from node 0, None without one. Diagonal and column 0 are -inf."""
    heads = s.argmax(axis=0)
    best = s[heads, np.arange(len(s))]
    if np.isneginf(best[1:]).any():
        return None
    cycle = find_cycle(heads)
    if cycle is None:
        return heads
    rest = np.setdiff1d(np.arange(len(s)), cycle)  # ROOT first
    into = s[np.ix_(rest, cycle)] - best[cycle]
    out = s[np.ix_(cycle, rest)]
    k = len(rest)  # the cycle's number in the smaller graph
    smaller = np.full((k + 1, k + 1), -np.inf)
    smaller[:k, :k] = s[np.ix_(rest, rest)]
    smaller[:k, k] = into.max(axis=1)
    smaller[k, :k] = out.max(axis=0)
    inner = contract(smaller)
    if inner is None:
        return None
    names = np.append(rest, -1)
    heads[rest] = np.where(inner[:k] == k, cycle[out.argmax(axis=0)], names[inner[:k]])
    heads[cycle[into[inner[k]].argmax()]] = rest[inner[k]]
    return heads


def best_tree(scores, single_root):
    """Heads of the words 1..n, None without a tree. scores[h, m], ROOT is 0."""
    s = scores.copy()
    s[:, 0] = -np.inf
    np.fill_diagonal(s, -np.inf)
    if single_root:
        finite = s[np.isfinite(s)]
        if finite.size:
            s[0] -= len(s) * (np.ptp(finite) + 1)
    heads = contract(s)
    if heads is None or (single_root and (heads[1:] == 0).sum() > 1):
        return None
    return heads[1:]


def score(scores, heads):
    return scores[heads, np.arange(1, len(scores))].sum()


def brute_force(scores, single_root):
    """The best score, -inf without a tree."""
    n = len(scores) - 1
    best = -np.inf
    for heads in itertools.product(range(n + 1), repeat=n):
        if single_root and heads.count(0) != 1:
            continue
        tops = list(range(1, n + 1))
        for _ in range(n):
            tops = [u and heads[u - 1] for u in tops]
        if not any(tops):
            best = max(best, score(scores, list(heads)))
    return best


def check(rng):
    """Three and four words, some edges forbidden: both rules against brute force."""
    for n in (3, 4):
        for density in (0.4, 0.7, 1.0):
            for _ in range(10):
                scores = log_weights(n, rng)
                scores[rng.random(scores.shape) >= density] = -np.inf
                for single_root in (True, False):
                    heads = best_tree(scores, single_root)
                    found = -np.inf if heads is None else score(scores, heads)
                    best = brute_force(scores, single_root)
                    assert found == best or abs(found - best) < 1e-12, (scores, single_root)


def log_weights(n, rng):
    return np.log(1 - rng.random((n + 1, n + 1)))


def seconds(problems):
    times = []
    for scores in problems:
        start = time.perf_counter()
        best_tree(scores, True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    rng = np.random.default_rng(0)
    check(rng)
    result = {"argmax": {}}
    for n in (25, 50, 100):
        result["argmax"][str(n)] = seconds([log_weights(n, rng) for _ in range(101)])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
