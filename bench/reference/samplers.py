#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The paper's samplers in straight NumPy, to be compared with: one rng.choice a step of a walk;
Colbourn with the marginals recomputed from B at each word and B updated by an outer product.
Written from Stanojevic (2022) with the errata of docs/math.md.

Prints one JSON object of seconds: {"task": {...}}. Usage: samplers.py [SCORES.npz ...]
"""

import json
import statistics
import sys
import time

import numpy as np


def laplacian_hat(w):
    """Koo et al. (2007): words only, first row replaced by the ROOT edges. w[h, m], ROOT is 0."""
    words = w[1:, 1:]
    laplacian = np.diag(words.sum(axis=0)) - words
    laplacian[0] = w[0, 1:]
    return laplacian


def marginals(w, b):
    """b is the inverse of laplacian_hat(w)."""
    x = np.diag(b).copy()
    x[0] = 0
    y = b.T.copy()
    y[0] = 0
    p = np.zeros_like(w)
    p[1:, 1:] = w[1:, 1:] * (x[None, :] - y)
    p[0, 1:] = w[0, 1:] * b[:, 0]
    return p


def wilson(w, root, rng):
    """A tree of the graph whose edges lead away from node `root`."""
    n = w.shape[0] - 1
    p = w / np.maximum(w.sum(axis=0, keepdims=True), 1e-300)
    heads = np.zeros(n + 1, dtype=int)
    visited = np.zeros(n + 1, dtype=bool)
    visited[root] = True
    for i in range(1, n + 1):
        u = i
        while not visited[u]:
            heads[u] = rng.choice(n + 1, p=p[:, u])
            u = heads[u]
        u = i
        while not visited[u]:
            visited[u] = True
            u = heads[u]
    return heads


def rooted(w, p, k, rng):
    """k trees: the root by p, the rest by a walk over the words' edges."""
    words = w.copy()
    words[0] = 0
    trees = []
    for _ in range(k):
        root = rng.choice(len(p), p=p)
        heads = wilson(words, root, rng)
        heads[root] = 0
        trees.append(heads)
    return trees


def wilson_marginal(w, k, rng):
    p = marginals(w, np.linalg.inv(laplacian_hat(w)))[0]
    p = np.maximum(p, 0) / np.maximum(p, 0).sum()
    return rooted(w, p, k, rng)


def wilson_rc(w, k, rng):
    """Zmigrod et al. (2021), section 4.1 of the paper: the root by the weight of its edge. Biased: to be shown so."""
    return rooted(w, w[0] / w[0].sum(), k, rng)


def wilson_reject(w, k, rng):
    trees = []
    tries = 0
    while len(trees) < k:
        heads = wilson(w, 0, rng)
        tries += 1
        if (heads[1:] == 0).sum() == 1:
            trees.append(heads)
    wilson_reject.tries = tries
    return trees


def transition_probs(state, i):
    """Head of word i given those before: the paper's state machine, state = (W, L, B)."""
    w, _, b = state
    return np.maximum(marginals(w, b)[:, i], 0)


def transit_state(state, i, head):
    w, laplacian, b = state
    column = w[:, i].copy()
    w = w.copy()
    w[:, i] = 0
    w[head, i] = column[head]
    new = laplacian_hat(w)
    u = new[:, i - 1] - laplacian[:, i - 1]
    row = b[i - 1]
    return w, new, b - np.outer(b @ u, row) / (1 + row @ u)


def initial_state(w):
    laplacian = laplacian_hat(w)
    return w, laplacian, np.linalg.inv(laplacian)


def colbourn(w, k, rng):
    n = w.shape[0] - 1
    first = initial_state(w)
    trees = []
    for _ in range(k):
        state = first
        heads = np.zeros(n + 1, dtype=int)
        for i in range(1, n + 1):
            p = transition_probs(state, i)
            heads[i] = rng.choice(n + 1, p=p / p.sum())
            state = transit_state(state, i, heads[i])
        trees.append(heads)
    return trees


SAMPLERS = {"wilson-marginal": wilson_marginal, "wilson-reject": wilson_reject, "colbourn": colbourn}


def uniform_weights(n, rng):
    w = rng.random((n + 1, n + 1))
    w[:, 0] = 0
    np.fill_diagonal(w, 0)
    return w


def seconds(run, repetitions):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def check(rng):
    """Trees with one root each. That their law is right is for laws_test.py to say."""
    w = uniform_weights(8, rng)
    for sampler in SAMPLERS.values():
        heads = np.array(sampler(w, 20, rng))
        top = np.tile(np.arange(9), (20, 1))
        for _ in range(8):
            top = np.take_along_axis(heads, top, axis=1)
        assert (top == 0).all() and ((heads[:, 1:] == 0).sum(axis=1) == 1).all(), sampler.__name__


def main(files):
    rng = np.random.default_rng(0)
    check(rng)
    result = {"hundred_trees": {}, "trained": {}}
    for name, sampler in SAMPLERS.items():
        w = uniform_weights(100, rng)
        result["hundred_trees"][name] = seconds(lambda: sampler(w, 100, rng), 3)
    for path in files:
        data = np.load(path)
        scores, lengths = data["scores"].astype(np.float64), data["lengths"]
        ends = np.cumsum((lengths + 1) ** 2)
        taken = {"wilson-marginal": 0.0, "wilson-reject": 0.0}
        for n, end in zip(lengths, ends):
            s = scores[end - (n + 1) ** 2 : end].reshape(n + 1, n + 1).copy()
            s[:, 0] = -np.inf
            np.fill_diagonal(s, -np.inf)
            for name in taken:
                taken[name] += seconds(lambda: SAMPLERS[name](np.exp(s), 100, rng), 1)
        result["trained"][path.split("/")[-1]] = taken
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
