# SPDX-License-Identifier: Apache-2.0
"""Different trees, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _taproot
from ._errors import raise_failures
from ._layouts import OURS, Arrangement
from ._results import ScoredTree, WithoutReplacementTree


def _trees_in(arrangement: Arrangement, heads: Any, labels: Any, *numbers: float) -> tuple[Any, ...]:
    """One tree in the caller's layout: heads, numbers, labels."""
    return arrangement.with_root(heads), *numbers, None if labels is None else arrangement.with_root(labels)


class WithoutReplacementIterator(Iterator[WithoutReplacementTree]):
    """Different trees, one after the other: ``(heads, log_prob, gumbel, labels)``.

    ``labels`` is None without label scores.
    """

    def __init__(self, core: _taproot.WithoutReplacementIterator, arrangement: Arrangement = OURS) -> None:
        self._core = core
        self._arrangement = arrangement

    def __next__(self) -> WithoutReplacementTree:
        found = self._core.next()
        if found is None:
            if self._core.status() != "ok":
                message = "sentence 0: the trees left are lost to rounding (auto and trie lose none)"
                raise_failures([(0, self._core.status(), message)])
            raise StopIteration
        heads, log_prob, gumbel, labels = found
        return WithoutReplacementTree(*_trees_in(self._arrangement, heads, labels, log_prob, gumbel))

    @property
    def count(self) -> int:
        """How many trees there were so far."""
        return self._core.size()

    @property
    def kappa(self) -> float:
        """kappa for the trees so far: what their Horvitz-Thompson weights need; -inf if that was all."""
        return self._core.kappa()


class KBestIterator(Iterator[ScoredTree]):
    """The best tree, the second best, and so on: ``(heads, score, labels)``.

    ``labels`` is None without label scores.
    """

    def __init__(self, core: _taproot.KBestIterator, arrangement: Arrangement = OURS) -> None:
        self._core = core
        self._arrangement = arrangement

    def __next__(self) -> ScoredTree:
        found = self._core.next()
        if found is None:
            raise StopIteration
        heads, score, labels = found
        return ScoredTree(*_trees_in(self._arrangement, heads, labels, score))


WithoutReplacementIterator.__module__ = KBestIterator.__module__ = "taproot"
