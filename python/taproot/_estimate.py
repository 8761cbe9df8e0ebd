# SPDX-License-Identifier: Apache-2.0
"""Estimates of E[f(tree)] from the values of sampled trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import Float64
from ._record import Record


@dataclass(frozen=True, eq=False)
class Estimate(Record):
    """An estimate of an expectation: ``mean``, and the ``standard_error`` of that; of a batch, shape (B,).

    >>> mean, standard_error = taproot.estimate([1, 2, 4, 5])
    >>> mean, round(standard_error, 6)
    (3.0, 0.912871)
    """

    mean: Any
    standard_error: Any


@dataclass(frozen=True, eq=False)
class Interval(Record):
    """A confidence interval, from ``low`` to ``high``; of a batch, shape (B,).

    >>> low, high = taproot.interval([1, 2, 4, 5])
    >>> round(low, 4), round(high, 4)
    (0.0948, 5.9052)
    """

    low: Any
    high: Any


class Values:
    """The values of trees, (k,) or (k, B), as one contiguous row per sentence."""

    def __init__(self, values: npt.ArrayLike, shape: tuple[int, ...] | None = None) -> None:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"values must be numbers or booleans, one per tree, not {array.dtype}")
        if shape is not None and array.shape != shape:
            raise ValueError(f"values must have shape {shape}, one per tree, not {array.shape}")
        if array.ndim not in (1, 2):
            raise ValueError(f"values must have shape (k,), or (k, B) for a batch, not {array.shape}")
        self.event = array.dtype.kind == "b"
        self.single = array.ndim == 1
        self.rows: Float64 = np.ascontiguousarray(array[None] if self.single else array.T, np.float64)

    def ask(self, question: Callable[[int, Float64], tuple[float, float]]) -> tuple[Any, Any]:
        """The two numbers of question(b, values of sentence b), for a single sentence or as arrays."""
        if self.single:
            return question(0, self.rows[0])
        found = np.array([question(b, row) for b, row in enumerate(self.rows)]).reshape(-1, 2)
        return np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1])


def as_level(level: Any) -> float:
    number = float(level)
    if not 0 < number < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {level!r}")
    return number


def estimate(values: npt.ArrayLike) -> Estimate:
    """E[f] from the value f of each of k independent trees: their mean, and its standard error.

    ``values`` has shape (k,), or (k, B) for a batch. For trees without replacement, which are not independent, use
    ``WithoutReplacementSample.estimate``. From a single tree the standard error is infinite; from trees whose values
    are all equal it is 0, which says nothing about the trees that were not sampled. With fewer than about 10 trees it
    cannot be trusted.

    >>> d = taproot.DependencyTrees(np.zeros((4, 4)))
    >>> trees = d.sample(1000, seed=1)
    >>> mean, error = taproot.estimate((trees == 1).sum(axis=-1))  # How many words hang off word 1; exactly 2/3.
    >>> bool(abs(mean - 2 / 3) < 4 * error), round(error, 3)
    (True, 0.021)
    """
    return Estimate(*Values(values).ask(lambda _, row: _taproot.estimate(row, None, 0.0, True)))


def interval(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """A confidence interval for E[f], from the value f of each of k independent trees, (k,) or (k, B).

    It holds E[f] with probability ``level``, approximately: mean plus or minus t standard errors, with Student's t for
    k - 1 degrees of freedom. Booleans are events, whose probability gets Jeffreys' interval, which stays within 0 and
    1 and has a width also if no tree, or every tree, has the event. For trees without replacement use
    ``WithoutReplacementSample.interval``. From a single tree it is everything. Values that are all equal (and are not
    booleans) give an interval of zero width. With fewer than about 10 trees no interval can be trusted.

    >>> d = taproot.DependencyTrees(np.zeros((4, 4)))
    >>> trees = d.sample(1000, seed=1)
    >>> low, high = taproot.interval(trees[:, 0] == 0)  # That word 1 is the root; exactly 1/3.
    >>> round(low, 2), round(high, 2)
    (0.28, 0.34)
    """
    of_trees, wanted = Values(values), as_level(level)
    return Interval(*of_trees.ask(lambda _, row: _taproot.interval(row, None, 0.0, wanted, of_trees.event)))


Estimate.__module__ = Interval.__module__ = estimate.__module__ = interval.__module__ = "taproot"
