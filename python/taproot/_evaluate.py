# SPDX-License-Identifier: Apache-2.0
"""How trees compare with the gold ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _taproot
from ._arrays import Int32, as_integers
from ._conllu import Sentence, count_words, label_text, read_conllu
from ._results import BestTrees, LabeledTrees


@dataclass(frozen=True)
class Attachment:
    """How many words have the right head: counts over all trees, and the shares ``uas``, ``las`` and ``exact_match``.

    ``words`` counts the words with a gold head, ``heads`` those whose head is right, ``labels`` those whose head and
    label are right (None without labels), ``trees`` the trees, ``exact`` those with all heads right.
    """

    words: int
    heads: int
    labels: int | None
    trees: int
    exact: int

    @property
    def uas(self) -> float:
        """Unlabeled attachment score: the share of words with the right head."""
        return self.heads / self.words

    @property
    def las(self) -> float | None:
        """Labeled attachment score: the share of words with the right head and label. None without labels."""
        return None if self.labels is None else self.labels / self.words

    @property
    def exact_match(self) -> float:
        """The share of trees with all heads right."""
        return self.exact / self.trees


class _Numbers:
    """Labels as numbers, equal ones for equal labels."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def __call__(self, labels: Sequence[Any]) -> Int32:
        return np.array([self._known.setdefault(label, len(self._known)) for label in labels], np.int32)


def _rows(values: Any, name: str) -> list[Any]:
    """One entry per sentence, of shape (n,) or, for several trees, (k, n); a batch's trees are (B, N) or (k, B, N)."""
    if isinstance(values, (list, tuple)) and (len(values) == 0 or np.ndim(values[0]) > 0):
        return list(values)
    array = np.asarray(values)
    if array.ndim == 1:
        return [array]
    if array.ndim == 2:
        return list(array)
    if array.ndim == 3:
        return [array[:, b] for b in range(array.shape[1])]
    raise ValueError(f"{name} must have shape (n,), (B, N) or (k, B, N), or be a list of trees, not {array.shape}")


def _trees(entry: Any, name: str, b: int) -> Int32:
    array = as_integers(entry, f"{name} of sentence {b}")
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} of sentence {b} must have shape (n,) or (k, n), not {array.shape}")
    return np.ascontiguousarray(np.atleast_2d(array), np.int32)


def evaluate(
    trees: Any,
    gold: Any,
    labels: Any = None,
    gold_labels: Any = None,
    *,
    label_names: Sequence[str] | None = None,
) -> Attachment:
    """Compares trees with gold trees: attachment scores (UAS, LAS) and exact matches.

    Parameters
    ----------
    trees
        Heads of shape (n,), (B, N) or (k, B, N), as ``argmax``, ``mbr`` and ``sample`` give them; or what they give
        with labels; or the result of ``kbest``; or a list with the heads of each sentence. Rows of -1 are not trees and
        are left out. Trees of a layout ``"+root"`` may have their entry of -1 for ROOT.
    gold
        Heads likewise, one tree per sentence, or the sentences of ``read_conllu``, or the path of a CoNLL-U file. A
        word whose gold head is negative is not counted.
    labels, gold_labels
        The labels of the trees and of the gold trees, numbers or texts, of the shape of their heads. Those of labeled
        trees and of sentences need not be given.
    label_names
        The names of numbered labels, needed where the other labels are texts.

    >>> found = taproot.evaluate([[2, 0, 2], [0, 1, -1]], [[2, 0, 2], [0, 0, -1]])
    >>> found.uas, found.exact_match
    (0.8, 0.5)
    """
    if isinstance(trees, (LabeledTrees, BestTrees)):
        labels = trees.labels if labels is None else labels
        trees = trees.heads
    if isinstance(gold, (str, os.PathLike)):
        gold = read_conllu(gold)
    if isinstance(gold, Sentence):
        gold = [gold]
    if isinstance(gold, (list, tuple)) and gold and isinstance(gold[0], Sentence):
        gold_labels = [s.labels for s in gold] if gold_labels is None and labels is not None else gold_labels
        gold = [s.heads for s in gold]
    if (labels is None) != (gold_labels is None):
        raise ValueError("labels and gold_labels must be given both, or neither")
    found, wanted = _rows(trees, "trees"), _rows(gold, "gold")
    if len(wanted) == 1 and np.ndim(wanted[0]) == 1 and len(found) != 1 and np.ndim(found[0]) == 1:
        found = [np.stack(found)]  # Several trees of one sentence.
    if len(found) != len(wanted):
        raise ValueError(f"there are trees of {len(found)} sentences, and gold trees of {len(wanted)}")
    of_found = None if labels is None else _rows(labels, "labels")
    of_wanted = None if gold_labels is None else _rows(gold_labels, "gold_labels")
    numbers = _Numbers()
    sums = np.zeros(5, np.int64)
    for b, (entry, own) in enumerate(zip(found, wanted)):
        heads, gold_heads = _trees(entry, "trees", b), _trees(own, "gold", b)
        n = gold_heads.shape[1]
        if len(gold_heads) != 1:
            raise ValueError(f"gold has {len(gold_heads)} trees of sentence {b}, not one")
        width = heads.shape[1]
        rooted = width > n and _has_root(heads)
        heads = heads[:, 1:] if rooted else heads
        if heads.shape[1] < n or (heads[:, n:] != -1).any():
            raise ValueError(
                f"sentence {b} has {count_words(heads)} words in trees, but {n} in gold{_root_hint(width, n, rooted)}"
            )
        for s, tree in enumerate(heads[:, :n]):
            if (tree == -1).all():
                continue
            pair: tuple[Int32 | None, Int32 | None] = (None, None)
            if of_found is not None and of_wanted is not None:
                of_tree = _labels(of_found[b], s, n, "labels", b, rooted)
                of_gold = _labels(of_wanted[b], 0, n, "gold_labels", b)
                of_tree, of_gold = _alike(of_tree, of_gold, gold_heads[0], label_names, b)
                pair = (numbers(of_tree), numbers(of_gold))
            sums += _taproot.evaluate(np.ascontiguousarray(tree), gold_heads[0], *pair)
    words, right, labeled, count, exact = (int(x) for x in sums)
    if words == 0:
        raise ValueError("there is nothing to compare: no word of a tree has a gold head")
    return Attachment(words, right, None if of_found is None else labeled, count, exact)


def _has_root(heads: Int32) -> bool:
    """Whether trees [k][N+1] begin with ROOT's entry, -1, as those of a layout "+root" do; heads are 0 or more."""
    trees = heads[(heads != -1).any(-1)]
    return len(trees) > 0 and bool((trees[:, 0] == -1).all())


def _root_hint(width: int, n: int, rooted: bool) -> str:
    if abs(width - n) != 1 or rooted:
        return ""
    name = "trees" if width > n else "gold"
    return f'. If the first entry of {name} is ROOT\'s, as with a layout "+root", give {name}[..., 1:]'


def _labels(of_sentence: Any, s: int, n: int, name: str, b: int, rooted: bool = False) -> list[Any]:
    row = list(of_sentence[s] if np.ndim(of_sentence) == 2 else of_sentence)
    row = row[1:] if rooted and len(row) > n else row
    if len(row) < n:
        raise ValueError(f"{name} of sentence {b} has {len(row)} labels, but the sentence has {n} words")
    return [label if isinstance(label, str) else int(label) for label in row[:n]]


def _alike(
    labels: list[Any], gold_labels: list[Any], gold: Int32, names: Sequence[str] | None, b: int
) -> tuple[list[Any], list[Any]]:
    """The labels of a tree and of its gold tree, numbers turned into texts where the others are texts."""
    counted = np.flatnonzero(gold >= 0).tolist()
    if not any(isinstance(of[i], str) for of in (labels, gold_labels) for i in counted):
        return labels, gold_labels
    pair = list(labels), list(gold_labels)
    for of in pair:
        for i in counted:
            of[i] = label_text(of[i], names, b, i)
    return pair


Attachment.__module__ = evaluate.__module__ = "taproot"
