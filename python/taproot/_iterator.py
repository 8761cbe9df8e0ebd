# SPDX-License-Identifier: Apache-2.0
"""Different trees, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from . import _taproot
from ._errors import raise_failures
from ._results import ScoredTree, WithoutReplacementTree


class WithoutReplacementIterator(Iterator[WithoutReplacementTree]):
    """Different trees, one after the other: ``(heads, log_prob, gumbel, labels)``.

    ``labels`` is None without label scores.
    """

    def __init__(self, core: _taproot.WithoutReplacementIterator) -> None:
        self._core = core

    def __next__(self) -> WithoutReplacementTree:
        found = self._core.next()
        if found is None:
            if self._core.status() != "ok":
                message = "sentence 0: the trees left are lost to rounding (auto and trie lose none)"
                raise_failures([(0, self._core.status(), message)])
            raise StopIteration
        return WithoutReplacementTree(*found)

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

    def __init__(self, core: _taproot.KBestIterator) -> None:
        self._core = core

    def __next__(self) -> ScoredTree:
        found = self._core.next()
        if found is None:
            raise StopIteration
        return ScoredTree(*found)


WithoutReplacementIterator.__module__ = KBestIterator.__module__ = "taproot"
