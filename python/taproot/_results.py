# SPDX-License-Identifier: Apache-2.0
"""What comes back when it is more than one array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import Float64, Int32, as_count


class LabeledTrees(NamedTuple):
    """Heads and labels, of one shape: entry i of a tree is that of word i + 1; padding is -1."""

    heads: Int32
    labels: Int32


@dataclass(frozen=True, eq=False)
class BestTrees:
    """The best trees, in order. ``heads`` has shape (k, n); of a batch (k, B, N).

    Where a sentence of a batch has fewer trees than others, ``heads`` is -1 and ``score`` -inf; ``counts`` says how
    many each has. ``score`` is the sum over a tree's edges. ``labels``, of labeled trees, are the best ones of each
    edge.
    """

    heads: Int32
    score: Float64
    counts: Any
    labels: Int32 | None = None

    def __len__(self) -> int:
        return len(self.heads)


@dataclass(frozen=True, eq=False)
class WithoutReplacementSample:
    """Different trees, in the order in which they were sampled.

    ``heads`` has shape (k, n); of a batch (k, B, N). ``log_prob`` is that of the tree; ``gumbel`` the same perturbed,
    of which the sample has the k largest; ``kappa`` the (k+1)-th. ``weights`` are the Horvitz-Thompson weights p/q:
    the sum of ``weights * f(tree)`` is an unbiased estimate of E[f] (at k = 1 of infinite variance). ``exhausted`` says
    that these are all the trees there are. Where a sentence of a batch has fewer trees than others: -1, -inf and weight
    0; ``counts`` says how many each has.
    """

    heads: Int32
    log_prob: Float64
    gumbel: Float64
    weights: Float64
    kappa: Any
    exhausted: Any
    counts: Any
    labels: Int32 | None = None

    @property
    def normalized_weights(self) -> Float64:
        """The weights divided by their sum: estimates are biased, and of lower variance."""
        total: Float64 = self.weights.sum(axis=0, keepdims=True)
        normalized: Float64 = np.divide(self.weights, total, where=total > 0, out=np.zeros_like(self.weights))
        return normalized

    def first(self, k: int) -> WithoutReplacementSample:
        """The first k of these trees, which are a sample of size k: its kappa is the Gumbel of the tree after them.

        >>> import numpy as np, taproot
        >>> d = taproot.DependencyTrees(np.zeros((5, 5)))
        >>> few, same = d.sample_without_replacement(20).first(7), d.sample_without_replacement(7)
        >>> np.array_equal(few.heads, same.heads), np.allclose(few.gumbel, same.gumbel), few.exhausted
        (True, True, False)
        """
        count = as_count(k)
        if count >= len(self):
            return self
        counts = np.minimum(self.counts, count)
        cut = np.asarray(self.counts) > count
        kappa = np.where(cut, self.gumbel[count], self.kappa)
        weights = np.where(self.log_prob[:count] > -np.inf, horvitz_thompson_weight(self.log_prob[:count], kappa), 0.0)
        single = self.log_prob.ndim == 1
        return WithoutReplacementSample(
            heads=self.heads[:count],
            log_prob=self.log_prob[:count],
            gumbel=self.gumbel[:count],
            weights=weights,
            kappa=float(kappa) if single else kappa,
            exhausted=False if single else self.exhausted & ~cut,
            counts=int(counts) if single else counts,
            labels=None if self.labels is None else self.labels[:count],
        )

    def estimate(self, values: npt.ArrayLike, normalized: bool = False) -> Any:
        """An estimate of E[value] from the value of each tree, shape (k,); of a batch (k, B).

        >>> import numpy as np, taproot
        >>> d = taproot.DependencyTrees(np.zeros((4, 4)))
        >>> s = d.sample_without_replacement(100)
        >>> bool(s.exhausted), len(s)
        (True, 9)
        >>> round(s.estimate(s.heads[:, 0] == 0), 12)  # P(word 1 hangs off ROOT)
        0.333333333333
        """
        of_trees = np.asarray(values)
        if of_trees.shape != self.weights.shape:
            raise ValueError(f"values must have shape {self.weights.shape}, one a tree, not {of_trees.shape}")
        weights = self.normalized_weights if normalized else self.weights
        total: Any = np.multiply(weights, of_trees, where=weights > 0, out=np.zeros_like(weights)).sum(axis=0)
        total = np.where(np.isnan(self.kappa), np.nan, total)  # A sentence without an answer has none here.
        return float(total) if self.weights.ndim == 1 else total

    def __len__(self) -> int:
        return len(self.heads)


class ScoredTree(NamedTuple):
    """One of the best trees."""

    heads: Int32
    score: float
    labels: Int32 | None = None


class WithoutReplacementTree(NamedTuple):
    """One tree of a sample without replacement."""

    heads: Int32
    log_prob: float
    gumbel: float
    labels: Int32 | None = None


def _map(function: Any, log_prob: npt.ArrayLike, kappa: npt.ArrayLike) -> Any:
    both = np.broadcast_arrays(np.asarray(log_prob, np.float64), np.asarray(kappa, np.float64))
    out = np.empty(both[0].shape)
    function(np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1]), out)
    return float(out) if out.ndim == 0 else out


def inclusion_probability(log_prob: npt.ArrayLike, kappa: npt.ArrayLike) -> Any:
    """q = 1 - exp(-exp(log_prob - kappa)): that a tree is in a sample without replacement, given the kappa.

    >>> round(inclusion_probability(-1.0, -2.0), 6)
    0.934012
    """
    return _map(_taproot.inclusion_probability, log_prob, kappa)


def horvitz_thompson_weight(log_prob: npt.ArrayLike, kappa: npt.ArrayLike) -> Any:
    """p / q, accurate also where both are tiny.

    >>> round(horvitz_thompson_weight(-1.0, -2.0), 6)
    0.39387
    """
    return _map(_taproot.horvitz_thompson_weight, log_prob, kappa)
