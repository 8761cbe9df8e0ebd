#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sampling without replacement in NumPy, to be compared with: the list of Zmigrod et al. (2021), at
each word subtracting the listed trees that share the prefix, over the paper's state machine; and
stochastic beam search, vectorised over beams, which takes one row of B a word. In both B is updated
by an outer product. Written from Stanojevic (2022) with the errata of docs/math.md.

Prints one JSON object of seconds: {"list": {"14/1000": ...}, "beam": {"100/1000": ...}}.
"""

import json
import sys

import numpy as np
from samplers import initial_state, laplacian_hat, marginals, seconds, transit_state, transition_probs, uniform_weights


def conditionals(w, rows, i):
    """P(head of word i) for a stack of rows B[i - 1], single-root: [..., n + 1]."""
    own = rows[..., i - 1] if i != 1 else np.zeros(rows.shape[:-1])
    others = rows.copy()
    others[..., 0] = 0
    p = np.empty(rows.shape[:-1] + (rows.shape[-1] + 1,))
    p[..., 0] = w[0, i] * rows[..., 0]
    p[..., 1:] = w[1:, i] * (own[..., None] - others)
    return np.maximum(p, 0)


def fixed_columns(w, i):
    """The column of word i in the Laplacian once its head is fixed, for every head: [n + 1, n]."""
    n = w.shape[0] - 1
    columns = np.zeros((n + 1, n))
    columns[0, 0] = w[0, i]
    for j in range(1, n + 1):
        if i != 1:
            columns[j, i - 1] += w[j, i]
        if j != 1:
            columns[j, j - 1] -= w[j, i]
    return columns


def list_sampler(w, k, rng):
    n = w.shape[0] - 1
    first = initial_state(w)
    log_z = np.linalg.slogdet(first[1])[1]
    listed = np.zeros((k, n), dtype=int)
    probabilities = np.zeros(k)
    for t in range(k):
        state = first
        active = np.arange(t)
        prefix = 1.0
        for i in range(1, n + 1):
            p = transition_probs(state, i)
            mass = prefix * p
            mass -= np.bincount(listed[active, i - 1], weights=probabilities[active], minlength=n + 1)
            mass = np.maximum(mass, 0)
            head = rng.choice(n + 1, p=mass / mass.sum())
            listed[t, i - 1] = head
            prefix *= p[head]
            active = active[listed[active, i - 1] == head]
            state = transit_state(state, i, head)
        probabilities[t] = np.exp(np.log(w[listed[t], np.arange(1, n + 1)]).sum() - log_z)
    return listed


def beam(w, k, rng):
    n = w.shape[0] - 1
    laplacian = laplacian_hat(w)
    b = np.linalg.inv(laplacian)[None]
    heads = np.zeros((1, 0), dtype=int)
    log_p = np.zeros(1)
    gumbels = rng.gumbel(size=1)
    for i in range(1, n + 1):
        p = conditionals(w, b[:, i - 1], i)
        with np.errstate(divide="ignore", invalid="ignore"):
            phi = log_p[:, None] + np.log(p / p.sum(axis=1, keepdims=True))
            g = phi + rng.gumbel(size=phi.shape)
            top = g.max(axis=1, keepdims=True)
            v = gumbels[:, None] - g + np.log1p(-np.exp(g - top))
            g = gumbels[:, None] - np.maximum(0, v) - np.log1p(np.exp(-np.abs(v)))
        g = np.where(p > 0, g, -np.inf).ravel()
        kept = np.argpartition(-g, k - 1)[:k] if g.size > k else np.arange(g.size)
        kept = kept[g[kept] > -np.inf]
        parent, head = np.divmod(kept, n + 1)
        heads = np.concatenate([heads[parent], head[:, None]], axis=1)
        log_p, gumbels = phi.ravel()[kept], g[kept]
        b = b[parent]
        u = (fixed_columns(w, i) - laplacian[:, i - 1])[head]
        row = b[:, i - 1]
        change = np.einsum("krc,kc->kr", b, u)
        scale = 1 / (1 + np.einsum("kc,kc->k", row, u))
        b = b - (change * scale[:, None])[:, :, None] * row[:, None, :]
    return heads[np.argsort(-gumbels)]


def check(rng):
    """Three words: single-root trees only, none twice, and the first has the marginals' law."""
    w = uniform_weights(3, rng)
    p = marginals(w, np.linalg.inv(laplacian_hat(w)))
    for sampler in (list_sampler, beam):
        assert len({tuple(t) for t in sampler(w, 9, rng)}) == 9, sampler.__name__
        seen = np.zeros_like(w)
        for _ in range(3000):
            trees = sampler(w, 2, rng)
            assert len({tuple(t) for t in trees}) == 2 and (trees == 0).sum() == 2
            seen[trees[0], np.arange(1, 4)] += 1 / 3000
        assert np.abs(seen - p).max() < 0.06, sampler.__name__


def main():
    rng = np.random.default_rng(0)
    check(rng)
    result = {"list": {}, "beam": {}}
    for n, k in ((14, 1000),):
        w = uniform_weights(n, rng)
        result["list"][f"{n}/{k}"] = seconds(lambda: list_sampler(w, k, rng), 3)
    for n, k in ((14, 1000), (100, 1000)):
        w = uniform_weights(n, rng)
        result["beam"][f"{n}/{k}"] = seconds(lambda: beam(w, k, rng), 3 if n < 100 else 1)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
