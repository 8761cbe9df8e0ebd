#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sampling without replacement in NumPy, to be compared with: the list of Zmigrod et al. (2021), at
each word subtracting the listed trees that share the prefix, and the trie of Shi et al. (2020), both
over the paper's state machine; and stochastic beam search, vectorized over beams, which takes one row
of B a word. In all B is updated by an outer product. Written from Stanojevic (2022) with the errata of
docs/math.md; laws_without_replacement_test.py holds them to their law.

Prints one JSON object of seconds: {"list": {"14/1000": ...}, "trie": {...}, "beam": {"100/1000": ...}}.
"""

import json
import sys

import numpy as np
from samplers import initial_state, laplacian_hat, seconds, transit_state, transition_probs, uniform_weights


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


def listed_mass(heads, probabilities, size):
    """The probability of the listed trees by their head of the word at hand."""
    return np.bincount(heads, weights=probabilities, minlength=size)


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
            mass = prefix * p - listed_mass(listed[active, i - 1], probabilities[active], n + 1)
            mass = np.maximum(mass, 0)
            head = rng.choice(n + 1, p=mass / mass.sum())
            listed[t, i - 1] = head
            prefix *= p[head]
            active = active[listed[active, i - 1] == head]
            state = transit_state(state, i, head)
        probabilities[t] = np.exp(np.log(w[listed[t], np.arange(1, n + 1)]).sum() - log_z)
    return listed


class Node:
    """A prefix in the trie: for every head of its word the probability of the trees not drawn yet."""

    def __init__(self, mass, p):
        self.mass = mass * p / p.sum()
        self.children = {}


def remove(path):
    """Takes out the tree at the end of a path [(node, head)]: what is left of a node is the sum over its children."""
    left = 0.0
    for node, head in reversed(path):
        node.mass[head] = left
        left = node.mass.sum()


def trie(w, k, rng):
    """Masses are kept in the trie and states are not, of which each takes three matrices."""
    n = w.shape[0] - 1
    first = initial_state(w)
    top = Node(1.0, transition_probs(first, 1))
    trees = np.zeros((k, n), dtype=int)
    for t in range(k):
        state, node, path = first, top, []
        for i in range(1, n + 1):
            head = rng.choice(n + 1, p=node.mass / node.mass.sum())
            path.append((node, head))
            trees[t, i - 1] = head
            if i < n:
                state = transit_state(state, i, head)
                if head not in node.children:
                    node.children[head] = Node(node.mass[head], transition_probs(state, i + 1))
                node = node.children[head]
        remove(path)
    return trees


def truncated(g, gumbels):
    """Gumbels g of children [beam, head], given that the largest of a row is its parent's."""
    v = gumbels[:, None] - g + np.log1p(-np.exp(g - g.max(axis=1, keepdims=True)))
    return gumbels[:, None] - np.maximum(0, v) - np.log1p(np.exp(-np.abs(v)))


def beam(w, k, rng):
    n = w.shape[0] - 1
    laplacian = laplacian_hat(w)
    b = np.linalg.inv(laplacian)[None]
    heads = np.zeros((1, 0), dtype=int)
    log_p = np.zeros(1)
    gumbels = rng.gumbel(size=1)
    for i in range(1, n + 1):
        with np.errstate(invalid="ignore"):
            p = conditionals(w, b[:, i - 1], i)
        with np.errstate(divide="ignore", invalid="ignore"):
            phi = log_p[:, None] + np.log(p / p.sum(axis=1, keepdims=True))
            g = truncated(phi + rng.gumbel(size=phi.shape), gumbels)
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
        # A beam that is not full yet keeps what is no tree (a cycle, a second root) and has the probability of a
        # rounding error; its inverse may be NaN, and then its children are dropped.
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1 / (1 + np.einsum("kc,kc->k", row, u))
            b = b - (change * scale[:, None])[:, :, None] * row[:, None, :]
    return heads[np.argsort(-gumbels)]


SAMPLERS = {"list": list_sampler, "trie": trie, "beam": beam}


def check(w, trees):
    """Different trees, each with one root and no cycle."""
    n = w.shape[0] - 1
    assert len({tuple(tree) for tree in trees}) == len(trees) and ((trees == 0).sum(axis=1) == 1).all()
    heads = np.concatenate([np.zeros((len(trees), 1), dtype=int), trees], axis=1)
    above = heads
    for _ in range(n.bit_length()):  # 2, 4, 8 ... steps up.
        above = np.take_along_axis(above, above, axis=1)
    assert not above.any()


def main():
    rng = np.random.default_rng(0)
    result = {name: {} for name in SAMPLERS}
    for name, n, k in (("list", 14, 1000), ("trie", 14, 1000), ("beam", 14, 1000), ("beam", 100, 1000)):
        w = uniform_weights(n, rng)
        check(w, SAMPLERS[name](w, 10, rng))
        result[name][f"{n}/{k}"] = seconds(lambda: SAMPLERS[name](w, k, rng), 3 if n < 100 else 1)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
