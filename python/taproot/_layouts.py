# SPDX-License-Identifier: Apache-2.0
"""The layouts that callers may have: the order of heads and dependents in matrices, and whether ROOT has an entry.

Behind the surface there is one layout, ``"head-dependent"``. Every surface (NumPy, PyTorch, JAX) turns what it is given
into that one at its border and turns the answers back. So do the messages: what they say about ROOT and about
transposing is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

Layout = Literal["head-dependent", "dependent-head", "head-dependent+root", "dependent-head+root"]


@dataclass(frozen=True)
class Arrangement:
    """What the name of a layout says."""

    name: Layout
    transposed: bool  # Matrices are [dependent, head].
    root: bool  # Arrays of words begin with an entry for ROOT, and lengths count ROOT.

    def turned(self, edges: Any) -> Any:
        """Matrices of edges (..., N+1, N+1) from this layout to ours, or from ours to this one, as a view."""
        return edges.swapaxes(-2, -1) if self.transposed else edges

    def labels_turned(self, edges: Any) -> Any:
        """The same for (..., N+1, N+1, L)."""
        return edges.swapaxes(-3, -2) if self.transposed else edges

    def entries(self, n: int) -> int:
        """How many entries an array of n words has."""
        return n + 1 if self.root else n

    def words_of(self, of_words: Any) -> Any:
        """The entries of words in an array (..., entries) of this layout."""
        return of_words[..., 1:] if self.root else of_words

    def with_root(self, of_words: Any, pad: Any = np.pad, value: int = -1) -> Any:
        """An array (..., N) of words in this layout; the entry of ROOT, where it has one, is `value`."""
        if not self.root:
            return of_words
        return pad(of_words, [(0, 0)] * (of_words.ndim - 1) + [(1, 0)], constant_values=value)

    def words_in(self, lengths: Any) -> Any:
        """Numbers of words from lengths of this layout."""
        return lengths - 1 if self.root else lengths

    def lengths_of(self, words: Any) -> Any:
        """Lengths of this layout from numbers of words."""
        return words + 1 if self.root else words

    def wrong_length(self, b: Any, length: int, longest: int) -> ValueError:
        """The error for a length that the scores of `longest` words do not allow."""
        found = f"lengths[{b}] is {length}"
        if self.root:
            return ValueError(
                f'{found}, and must be 1 to {longest + 1}: with layout="{self.name}" lengths count ROOT and words'
            )
        hint = f' (layout="{self.name}+root" counts ROOT)' if length == longest + 1 else ""
        return ValueError(f"{found}, and the scores are for up to {longest} words: lengths count words, not ROOT{hint}")

    def trees_hint(self, name: str, entries: int, n: int) -> str:
        """What to say when an array of words has so many entries, and this layout has another number."""
        if not self.root and entries == n + 1:
            return (
                f". The scores have ROOT and {n} words. If the first entry is ROOT's, give {name}[..., 1:], or "
                f'layout="{self.name}+root", where lengths count ROOT, too'
            )
        if self.root and entries == n:
            return f'. With layout="{self.name}" the first entry is ROOT\'s'
        return ""


_ARRANGEMENTS = {name: Arrangement(name, name.startswith("dependent"), "+" in name) for name in get_args(Layout)}
OURS = _ARRANGEMENTS["head-dependent"]


def as_arrangement(layout: Any) -> Arrangement:
    found = _ARRANGEMENTS.get(layout) if isinstance(layout, str) else None
    if found is None:
        raise ValueError(f"layout must be one of {', '.join(_ARRANGEMENTS)}, not {layout!r}")
    return found


def square_hint(shape: tuple[int, ...]) -> str:
    """What to say of scores that are not square."""
    if len(shape) >= 2 and abs(shape[-1] - shape[-2]) == 1:
        return ". ROOT has a row and a column: add the one that is missing, with any values, since nothing enters ROOT"
    return ""


def check_square(shape: tuple[int, ...]) -> None:
    """Raises unless scores of this shape are matrices (..., N+1, N+1)."""
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(f"scores must have shape (..., N+1, N+1), not {tuple(shape)}{square_hint(shape)}")


def check_tree_shape(
    arrangement: Arrangement, name: str, shape: tuple[int, ...], batch: tuple[int, ...], n: int, more: bool
) -> None:
    """Raises unless trees of this shape are (*batch, entries) or, if `more`, have further axes in front."""
    expected = (*batch, arrangement.entries(n))
    tail = shape[len(shape) - len(expected) :] if more and len(shape) > len(expected) else shape
    if tuple(tail) != expected:
        hint = arrangement.trees_hint(name, shape[-1], n) if len(shape) else ""
        also = " or more axes in front" if more else ""
        raise ValueError(f"{name} must have shape {expected}{also}, not {tuple(shape)}{hint}")
