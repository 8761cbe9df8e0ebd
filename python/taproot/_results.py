# SPDX-License-Identifier: Apache-2.0
"""What comes back when it is more than one array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import Float64, Int32, as_count
from ._estimate import Estimate, Interval, Values, as_level
from ._record import Record


def sizes(result: Any) -> str:
    """How many trees a result has, for repr(). Only shapes are read, because tensors may be traced or on a device."""
    trees, *batch, words = result.heads.shape
    of_batch = f"trees<={trees}, sentences={'x'.join(map(str, batch))}, words<={words}"
    return (of_batch if batch else f"trees={trees}, words={words}") + ("" if result.labels is None else ", labeled")


@dataclass(frozen=True, eq=False)
class LabeledTrees(Record):
    """Heads and labels, of one shape: entry i of a tree is that of word i + 1; padding is -1."""

    heads: Int32
    labels: Int32


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        return f"BestTrees({sizes(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class WithoutReplacementSample:
    """Different trees, in the order in which they were sampled.

    ``heads`` has shape (k, n); of a batch (k, B, N). ``log_prob`` is that of the tree; ``gumbel`` the same perturbed,
    of which the sample has the k largest; ``kappa`` the (k+1)-th. ``weights`` are the Horvitz-Thompson weights p/q:
    the sum of ``weights * f(tree)`` is an unbiased estimate of E[f] (at k = 1 of infinite variance); ``estimate`` and
    ``interval`` do better. ``exhausted`` says that these are all the trees there are. Where a sentence of a batch has
    fewer trees than others: -1, -inf and weight 0; ``counts`` says how many each has.
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
        """The weights of ``estimate``, which sum to 1: each tree's probability, and its share in the mass that is left.

        The share of a tree is proportional to p (1 - q) / q, where q is its ``inclusion_probability``.
        """
        normalized = np.zeros(self.weights.shape)
        columns = normalized[:, None] if normalized.ndim == 1 else normalized
        for b in range(columns.shape[1]):
            log_prob, kappa = self._sentence(b)
            if log_prob.size:
                out = np.empty(log_prob.size)
                _taproot.normalized_weights(log_prob, kappa, out)
                columns[: out.size, b] = out
        return normalized

    def _sentence(self, b: int) -> tuple[Float64, float]:
        """log_prob and kappa of one sentence's trees; none if it has no answer."""
        count = int(np.atleast_1d(self.counts)[b])
        column = self.log_prob if self.log_prob.ndim == 1 else self.log_prob[:, b]
        kappa = float(np.atleast_1d(self.kappa)[b])
        return np.ascontiguousarray(column[: 0 if np.isnan(kappa) else count]), kappa

    def first(self, k: int) -> WithoutReplacementSample:
        """The first k of these trees, which are a sample of size k: its kappa is the Gumbel of the tree after them.

        >>> import numpy as np, taproot
        >>> d = taproot.DependencyTrees(np.zeros((5, 5)))
        >>> few, same = d.sample_without_replacement(20, seed=1).first(7), d.sample_without_replacement(7, seed=1)
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

    def estimate(self, values: npt.ArrayLike, normalized: bool = True) -> Estimate:
        """E[f] and the standard error of that, from the value f of each tree, shape (k,); of a batch (k, B).

        The trees of the sample count with their exact probabilities, and the mean of f over the mass that is left is
        estimated from the sample. This has a small bias, of order 1/k. ``normalized=False`` gives the Horvitz-Thompson
        estimate, the sum of p/q f: unbiased, but its error is a share of E[f] and not of the spread of f, on real
        sentences several times larger. The error is 0 where all trees are in the sample. With fewer than about 10
        trees the error cannot be trusted, even where they hold nearly all of the probability.

        >>> import numpy as np, taproot
        >>> d = taproot.DependencyTrees(np.zeros((4, 4)))
        >>> s = d.sample_without_replacement(100)
        >>> s
        WithoutReplacementSample(trees=9, words=3, exhausted=True)
        >>> mean, standard_error = s.estimate(s.heads[:, 0] == 0)  # P(word 1 hangs off ROOT)
        >>> round(mean, 12), standard_error
        (0.333333333333, 0.0)
        """

        def question(b: int, row: Float64) -> tuple[float, float]:
            log_prob, kappa = self._sentence(b)
            return _taproot.estimate(row[: log_prob.size], log_prob, 0.0 if np.isnan(kappa) else kappa, normalized)

        return Estimate(*Values(values, self.weights.shape).ask(question))

    def interval(self, values: npt.ArrayLike, level: float = 0.95) -> Interval:
        """A confidence interval for E[f], from the value f of each tree, shape (k,); of a batch (k, B).

        It holds E[f] with probability ``level``, approximately: ``estimate`` plus or minus t standard errors, with
        Student's t for as many trees as effectively tell about the mass that is left. Booleans are events, whose
        probability gets Jeffreys' interval (see ``taproot.interval``). A point where all trees are in the sample.
        With fewer than about 10 trees no interval can be trusted: it may be infinite, or far too wide, even where the
        trees hold nearly all of the probability, and values that are all equal give zero width.

        >>> d = taproot.DependencyTrees(np.zeros((6, 6)))
        >>> s = d.sample_without_replacement(300, seed=3)  # Of 625 trees.
        >>> low, high = s.interval((s.heads == 1).sum(axis=-1))  # How many words hang off word 1; exactly 0.8.
        >>> round(low, 2), round(high, 2)
        (0.71, 0.84)
        """
        of_trees, wanted = Values(values, self.weights.shape), as_level(level)

        def question(b: int, row: Float64) -> tuple[float, float]:
            log_prob, kappa = self._sentence(b)
            row = row[: log_prob.size]
            return _taproot.interval(row, log_prob, 0.0 if np.isnan(kappa) else kappa, wanted, of_trees.event)

        return Interval(*of_trees.ask(question))

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        each = np.atleast_1d(self.exhausted)
        exhausted = f"{each.sum()} of {each.size} sentences" if self.log_prob.ndim > 1 else str(bool(each[0]))
        return f"WithoutReplacementSample({sizes(self)}, exhausted={exhausted})"


@dataclass(frozen=True, eq=False)
class ScoredTree(Record):
    """One of the best trees."""

    heads: Int32
    score: float
    labels: Int32 | None = None


@dataclass(frozen=True, eq=False)
class WithoutReplacementTree(Record):
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


for _public in (
    LabeledTrees,
    BestTrees,
    WithoutReplacementSample,
    ScoredTree,
    WithoutReplacementTree,
    inclusion_probability,
    horvitz_thompson_weight,
):
    _public.__module__ = "taproot"
