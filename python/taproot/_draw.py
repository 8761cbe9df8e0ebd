# SPDX-License-Identifier: Apache-2.0
"""Arcs above words: what a notebook shows for a tree or a distribution."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy.typing as npt

from . import _taproot
from ._arrays import Int32, as_trees


def as_words(words: Sequence[str] | None, n: int, name: str = "words", of: str = "word") -> list[str]:
    """One string per word (or what ``of`` says), or none at all."""
    if words is None:
        return []
    found = words.split() if isinstance(words, str) else [str(word) for word in words]
    if len(found) != n:
        raise ValueError(f"{name} must be {n}, one per {of}, not {len(found)}")
    return found


class Drawing:
    """A picture that notebooks show; ``svg`` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # Inline, where it takes its color from the page: an image would not know whether that is dark.
        return self.svg

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.svg)} characters of SVG>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG to a file, whose name must end in ``.svg``; ``taproot show -o`` also writes PNG and PDF."""
        if os.path.splitext(path)[1].lower() != ".svg":
            raise ValueError(f"a drawing is saved as SVG: the name must end in .svg, unlike {os.fspath(path)!r}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class TreeDrawing(Drawing):
    """A tree with its words, which a notebook shows as arcs above them.

    ``heads`` is a row of what ``sample``, ``argmax`` and the others give (padding -1 at its end is left out). ``words``
    is a list, or a string with spaces between them; without them numbers are shown. ``labels`` are the names of the
    words' edges.

    >>> tree = taproot.TreeDrawing([2, 0, 2], "She saw stars", ["nsubj", "root", "obj"])
    >>> print(tree)
    She/2 saw/0 stars/2
    >>> tree.svg.startswith("<svg")
    True
    """

    def __init__(
        self, heads: npt.ArrayLike, words: Sequence[str] | None = None, labels: Sequence[str] | None = None
    ) -> None:
        found, _ = as_trees(heads, "heads")
        while found.size and found[-1] == -1:
            found = found[:-1]
        self.heads: Int32 = found
        self.words = as_words(words, found.size)
        self.labels = as_words(labels, found.size, "labels")
        super().__init__(_taproot.tree_svg(self.words, found, self.labels))

    def __str__(self) -> str:
        words = self.words or [str(i + 1) for i in range(self.heads.size)]
        return " ".join(f"{word}/{head}" for word, head in zip(words, self.heads))

    def __repr__(self) -> str:
        parts = [repr(self.heads.tolist())]
        parts += [repr(self.words)] if self.words or self.labels else []
        parts += [repr(self.labels)] if self.labels else []
        return f"TreeDrawing({', '.join(parts)})"


Drawing.__module__ = TreeDrawing.__module__ = "taproot"
