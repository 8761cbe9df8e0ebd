# SPDX-License-Identifier: Apache-2.0
"""What the trees of a sentence must and must not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import as_count, as_trees


class Constraints:
    """What the trees of a sentence must and must not have. Words and heads are 1..n, 0 is ROOT.

    Calls chain, and the constraints of all calls hold together.

    >>> import numpy as np, taproot
    >>> c = taproot.Constraints().force(2, 1).forbid(0, 3)
    >>> d = taproot.DependencyTrees(np.zeros((4, 4)), constraints=c)
    >>> sorted(d.kbest(100).heads.tolist())
    [[2, 0, 1], [2, 0, 2]]
    """

    def __init__(self) -> None:
        self._calls: list[tuple[str, tuple[Any, ...]]] = []

    def force(self, head: int, modifier: int) -> Constraints:
        """The head of `modifier` is `head`."""
        return self._add("force", _node(head, "head"), _node(modifier, "modifier"))

    def forbid(self, head: int, modifier: int) -> Constraints:
        """The head of `modifier` is not `head`."""
        return self._add("forbid", _node(head, "head"), _node(modifier, "modifier"))

    def allow_roots(self, words: npt.ArrayLike) -> Constraints:
        """Only these words may hang off ROOT. After several calls, only the words that all of them name may."""
        return self._add("allow_roots", as_trees(words, "words")[0].copy())

    def force_partial_tree(self, heads: npt.ArrayLike) -> Constraints:
        """Forces the heads that `heads` gives, one entry per word. Negative entries leave a word's head open."""
        return self._add("force_partial_tree", as_trees(heads, "heads")[0].copy())

    def allowed(self, n: int) -> npt.NDArray[np.bool_]:
        """Which edges the trees of a sentence of n words may still have: ``allowed(n)[head, modifier]``, shape (n+1,
        n+1).

        These masks are all that constraints are: where constraints cannot be passed, as with lengths that ``jax.jit``
        traces, ``where(allowed, scores, -inf)`` gives the same distribution.

        >>> Constraints().force(2, 1).allowed(2).tolist()
        [[False, False, True], [False, False, True], [False, True, False]]
        """
        words, core = as_count(n, "n", below=2**31 - 1), self._core()
        if not core.fits(words):
            raise ValueError(f"{self._misfit(words)} is not about a sentence of {words} words")
        out = np.empty((words + 1, words + 1), np.bool_)
        core.allowed(out)
        return out

    def _add(self, name: str, *arguments: Any) -> Constraints:
        getattr(_taproot.Constraints(), name)(*arguments)  # Refuses what is wrong by itself.
        self._calls.append((name, arguments))
        return self

    def _core(self) -> _taproot.Constraints:
        core = _taproot.Constraints()
        for name, arguments in self._calls:
            getattr(core, name)(*arguments)
        return core

    def _misfit(self, n: int) -> str | None:
        """The first call that names words or heads which a sentence of n words does not have."""
        for call in self._calls:
            core = _taproot.Constraints()
            getattr(core, call[0])(*call[1])
            if not core.fits(n):
                return _shown(call)
        return None

    def __repr__(self) -> str:
        return "Constraints()" + "".join(map(_shown, self._calls))


def _shown(call: tuple[str, tuple[Any, ...]]) -> str:
    name, arguments = call
    return f".{name}({', '.join(str(a) if isinstance(a, int) else str(a.tolist()) for a in arguments)})"


def _node(value: int, name: str) -> int:
    node = as_count(value, name)
    if node >= 2**31:
        raise ValueError(f"{name} is not a word: {node}")
    return node


def allowed_edges(constraints: Any, batch: tuple[int, ...], words: Any, n: int) -> npt.NDArray[np.bool_]:
    """The masks of a batch of sentences, shape (*batch, n+1, n+1), True where nothing is said.

    `constraints` are those of one sentence if `batch` is (), else a list with one (or None) per sentence, nested as
    `batch` has axes; `words` has the shape `batch`.
    """
    out = np.ones((*batch, n + 1, n + 1), np.bool_)
    if not batch:
        if not isinstance(constraints, Constraints):
            raise ValueError("constraints of a single sentence must be one taproot.Constraints")
        side = int(words) + 1
        out[:side, :side] = constraints.allowed(side - 1)
        return out
    if not isinstance(constraints, (list, tuple)):
        raise ValueError("constraints of a batch must be a list, one (or None) per sentence")
    if len(constraints) != batch[0]:
        raise ValueError(f"constraints must be {batch[0]}, one (or None) per sentence, not {len(constraints)}")
    for b, own in enumerate(constraints):
        if own is None:
            continue
        try:
            out[b] = allowed_edges(own, batch[1:], words[b], n)
        except ValueError as error:
            raise ValueError(f"constraints[{b}]: {error}") from None
    return out


Constraints.__module__ = "taproot"
