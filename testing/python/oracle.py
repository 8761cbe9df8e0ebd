# SPDX-License-Identifier: Apache-2.0
"""All trees of a short sentence, one by one: what every answer must agree with. Knows nothing of taproot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

Heads = tuple[int, ...]
INF = math.inf
ROOTS = ("single", "multi")


def is_tree(heads: Heads, root: str) -> bool:
    n = len(heads)
    if root == "single" and heads.count(0) != 1:
        return False
    for word in range(1, n + 1):
        node = word
        for _ in range(n):
            node = heads[node - 1]
            if node == 0:
                break
        if node != 0:
            return False
    return True


@cache
def all_trees(n: int, root: str) -> tuple[Heads, ...]:
    """By trying every head of every word."""
    return tuple(heads for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads, root))


def log_sum_exp(values: Any) -> float:
    finite = [v for v in values if v > -INF]
    if not finite:
        return -INF
    top = max(finite)
    return top + math.log(math.fsum(math.exp(v - top) for v in finite))


def sum_labels(scores: np.ndarray, label_scores: np.ndarray) -> np.ndarray:
    """The scores of edges whose labels are summed out."""
    out = np.array(scores, np.float64)
    for h, m in np.ndindex(*out.shape):
        if m > 0 and h != m:
            out[h, m] += log_sum_exp(label_scores[h, m])
    return out


class Enumeration:
    """The distribution over the trees of one sentence, tree by tree.

    Trees that use a forbidden edge are left out, and so are those that `keep` does not want.
    """

    def __init__(self, scores: Any, root: str, keep: Callable[[Heads], bool] = lambda heads: True) -> None:
        self.scores = np.asarray(scores, np.float64)
        self.n = len(self.scores) - 1
        self.root = root
        cells = self.scores.tolist()
        self.trees: list[Heads] = []
        self.score: list[float] = []
        for heads in all_trees(self.n, root):
            edges = [cells[h][m] for m, h in enumerate(heads, 1)]
            if -INF not in edges and keep(heads):
                self.trees.append(heads)
                self.score.append(math.fsum(edges))  # Rounded once, so that equal sums are equal.
        self.log_z = log_sum_exp(self.score)
        self.log_p = np.array(self.score) - self.log_z
        self.p = np.exp(self.log_p)
        self.heads = np.array(self.trees, np.int64).reshape(-1, self.n)

    def __len__(self) -> int:
        return len(self.trees)

    def edges(self) -> np.ndarray:
        """Which edges each tree has: [tree][h][m], 0 or 1."""
        out = np.zeros((len(self), self.n + 1, self.n + 1))
        tree, word = np.indices(self.heads.shape)
        out[tree, self.heads, word + 1] = 1
        return out

    def marginals(self) -> np.ndarray:
        out: np.ndarray = np.einsum("t,thm->hm", self.p, self.edges())
        return out

    def entropy(self) -> float:
        return -math.fsum(self.p * self.log_p)

    def log_prob(self, heads: Heads) -> float:
        return float(self.log_p[self.trees.index(heads)]) if heads in self.trees else -INF

    def sums(self, values: np.ndarray) -> np.ndarray:
        """For each tree the sum of its edges' values."""
        out: np.ndarray = values[self.heads, np.arange(1, self.n + 1)].sum(axis=1)
        return out

    def covariance(self, values: np.ndarray) -> np.ndarray:
        """Of each edge with the sum of a tree's values."""
        sums = self.sums(values)
        centered = sums - np.dot(self.p, sums)
        out: np.ndarray = np.einsum("t,t,thm->hm", self.p, centered, self.edges())
        return out

    def index(self, heads: Any) -> np.ndarray:
        """Which tree each row of heads is; raises if it is none."""
        base = self.n + 1
        digits = base ** np.arange(self.n)
        place = np.full(base**self.n, -1)
        place[self.heads @ digits] = np.arange(len(self))
        found = place[np.asarray(heads, np.int64) @ digits]
        assert (found >= 0).all(), "that is no tree of the distribution"
        return np.asarray(found)


def expected_steps(scores: np.ndarray, root: str) -> float:
    """Of Wilson's walk from words to heads: the sum over words of the expected visits to it, started there."""
    weights = np.exp(np.array(scores, np.float64))
    np.fill_diagonal(weights, 0)
    weights[:, 0] = 0
    n = len(weights) - 1
    if root == "multi":
        step = (weights / np.where(weights.sum(axis=0) > 0, weights.sum(axis=0), 1))[1:, 1:].T
        return float(np.trace(np.linalg.inv(np.eye(n) - step)))
    total = 0.0
    root_marginals = Enumeration(scores, root).marginals()[0]
    for r in range(1, n + 1):
        others = [m for m in range(1, n + 1) if m != r]
        if root_marginals[r] == 0 or not others:
            continue
        columns = weights[1:][:, others]
        step = (columns / columns.sum(axis=0))[[m - 1 for m in others]].T
        total += root_marginals[r] * float(np.trace(np.linalg.inv(np.eye(n - 1) - step)))
    return total


@st.composite
def score_matrices(draw: st.DrawFn, least: int = 1, most: int = 4, forbidden: bool = True) -> np.ndarray:
    """Scores of a sentence, with edges forbidden; and anything where nothing is to be read."""
    n = draw(st.integers(least, most))
    usual = st.floats(-6, 6, width=32)
    cell = st.one_of(usual, usual, st.floats(-40, 40), st.just(-INF)) if forbidden else usual
    scores = np.array(draw(st.lists(cell, min_size=(n + 1) ** 2, max_size=(n + 1) ** 2))).reshape(n + 1, n + 1)
    scores[:, 0] = draw(st.sampled_from([0.0, INF, math.nan]))
    np.fill_diagonal(scores, draw(st.sampled_from([0.0, -INF, math.nan])))
    return scores


roots = st.sampled_from(ROOTS)
