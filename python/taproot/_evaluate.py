# SPDX-License-Identifier: Apache-2.0
"""How trees compare with the gold ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _taproot
from ._arrays import Int32, as_integers
from ._conllu import Sentence, count_words, label_text, read_conllu
from ._results import BestTrees, LabeledTrees, WithoutReplacementSample
from ._tensors import WithoutReplacementSample as TensorSample
from ._tree_files import TreeFile, read_trees


@dataclass(frozen=True)
class Attachment:
    """How many words have the right head: counts over all trees, and the shares ``uas``, ``las`` and ``exact_match``.

    ``words`` counts the words with a gold head, ``heads`` those whose head is right, ``labels`` those whose head and
    label are right (None without labels), ``trees`` the trees, ``exact`` those with all heads right. ``sentences`` of
    the ``gold_sentences`` that there are have been compared; ``failed`` counts sentences that are said to have no tree.
    """

    words: int
    heads: int
    labels: int | None
    trees: int
    exact: int
    sentences: int
    gold_sentences: int
    failed: int

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


@dataclass
class _Found:
    """What is compared: entry b has the trees (k, n) of gold sentence ``numbers[b]``, their labels and log_prob."""

    name: str
    numbers: list[int]
    heads: list[Any]
    labels: list[Any] | None
    log_prob: list[Any] | None  # None where nothing tells which tree is the best.
    failed: int = 0


def _of_file(file: TreeFile) -> _Found:
    labeled = all(labels is not None for of_sentence in file.labels for labels in of_sentence)
    log_prob = [[-np.inf if p is None or np.isnan(p) else p for p in of_sentence] for of_sentence in file.log_prob]
    return _Found(file.name, file.numbers, file.heads, file.labels if labeled else None, log_prob, file.failed)


def _of_arrays(trees: Any, labels: Any, one_sentence: bool) -> _Found:
    log_prob: Any = None
    if isinstance(trees, (LabeledTrees, BestTrees, WithoutReplacementSample, TensorSample)):
        labels = trees.labels if labels is None else labels
        log_prob = getattr(trees, "score", getattr(trees, "log_prob", None))
        trees = trees.heads
    heads = _rows(trees, "trees")
    if one_sentence and len(heads) != 1 and len(heads) > 0 and np.ndim(heads[0]) == 1:
        heads = [np.stack(heads)]  # Several trees of one sentence.
    of_labels = None if labels is None else _rows(labels, "labels")
    if of_labels is not None and len(of_labels) != len(heads):
        of_labels = [np.stack(of_labels)] if len(heads) == 1 else of_labels
    if log_prob is not None:
        by_tree = np.asarray(log_prob)
        log_prob = [by_tree] if by_tree.ndim == 1 else [by_tree[:, b] for b in range(by_tree.shape[1])]
    elif all(np.ndim(own) == 1 or len(own) == 1 for own in heads):
        log_prob = [[0.0]] * len(heads)  # The only tree is the best.
    return _Found("trees", list(range(len(heads))), heads, of_labels, log_prob)


def evaluate(
    trees: Any,
    gold: Any,
    labels: Any = None,
    gold_labels: Any = None,
    *,
    label_names: Sequence[str] | None = None,
    over: Literal["best", "mean"] | None = None,
) -> Attachment:
    """Compares trees with gold trees: attachment scores (UAS, LAS) and exact matches.

    Parameters
    ----------
    trees
        Heads of shape (n,), (B, N) or (k, B, N), as ``argmax``, ``mbr`` and ``sample`` give them; or what they give
        with labels; or the result of ``kbest`` or ``sample_without_replacement``; or a list with the heads of each
        sentence; or the path of a file of trees that the command line or ``write_conllu`` wrote (jsonl, npz or conllu,
        by its ending). Rows of -1 are not trees and are left out. Trees of a layout ``"+root"`` may have their entry
        of -1 for ROOT. There may be trees of a part of the gold sentences: a file says of which, and others are trees
        of the first ones.
    gold
        Heads likewise, one tree per sentence, or the sentences of ``read_conllu``, or the path of a CoNLL-U file. A
        word whose gold head is negative (``_`` in a file) is not counted.
    labels, gold_labels
        The labels of the trees and of the gold trees, numbers or texts, of the shape of their heads. Those of labeled
        trees, files and sentences need not be given. Where a gold sentence has words without a relation (``_``), or a
        file has trees without labels, ``las`` is None.
    label_names
        The names of numbered labels, needed where the other labels are texts.
    over
        Of several trees per sentence, ``"best"`` takes the most probable one and ``"mean"`` all of them. As on the
        command line, the default is ``"best"`` for a file; for anything else it is ``"mean"``.

    >>> found = taproot.evaluate([[2, 0, 2], [0, 1, -1]], [[2, 0, 2], [0, 0, -1]])
    >>> found.uas, found.exact_match
    (0.8, 0.5)
    """
    if over not in (None, "best", "mean"):
        raise ValueError(f'over must be "best" or "mean", not {over!r}')
    gold_name, of_sentences = "gold", False
    if isinstance(gold, (str, os.PathLike)):
        gold_name, gold = os.fspath(gold), read_conllu(gold)
    if isinstance(gold, Sentence):
        gold = [gold]
    if isinstance(gold, (list, tuple)) and gold and isinstance(gold[0], Sentence):
        of_sentences = gold_labels is None
        gold_labels = [s.labels for s in gold] if gold_labels is None else gold_labels
        gold = [s.heads for s in gold]
    wanted = _rows(gold, "gold")
    if isinstance(trees, (str, os.PathLike)):
        if labels is not None:
            raise ValueError("labels are for trees that are arrays: a file of trees has its own")
        found, over = _of_file(read_trees(trees)), over or "best"
    else:
        found, over = _of_arrays(trees, labels, len(wanted) == 1 and np.ndim(wanted[0]) == 1), over or "mean"
    if found.labels is None and of_sentences or gold_labels is None and found.name != "trees":
        found.labels = gold_labels = None
    if (found.labels is None) != (gold_labels is None):
        raise ValueError("labels and gold_labels must be given both, or neither")
    of_wanted = None if gold_labels is None else _rows(gold_labels, "gold_labels")
    numbers = _Numbers()
    sums, compared, failed, labeled = np.zeros(5, np.int64), 0, found.failed, found.labels is not None
    for b, number in enumerate(found.numbers):
        if number >= len(wanted):
            raise ValueError(
                f"{gold_name} has {len(wanted)} sentences, but {found.name} has trees of sentence {number}"
            )
        heads, gold_heads = _trees(found.heads[b], "trees", number), _trees(wanted[number], "gold", number)
        n = gold_heads.shape[1]
        if len(gold_heads) != 1:
            raise ValueError(f"gold has {len(gold_heads)} trees of sentence {number}, not one")
        width = heads.shape[1]
        rooted = width > n and _has_root(heads)
        heads = heads[:, 1:] if rooted else heads
        if heads.shape[1] < n or (heads[:, n:] != -1).any():
            raise ValueError(
                f"sentence {number} has {count_words(heads)} words in {found.name}, but {n} in {gold_name}"
                f"{_root_hint(width, n, rooted)}"
            )
        chosen = [s for s, tree in enumerate(heads[:, :n]) if (tree != -1).any()]
        compared, failed = compared + bool(chosen), failed + (not chosen)
        for s in chosen if over == "mean" else _best(chosen, found.log_prob, b):
            pair: tuple[Int32 | None, Int32 | None] = (None, None)
            if found.labels is not None and of_wanted is not None:
                of_tree = _labels(found.labels[b], s, n, "labels", number, rooted)
                of_gold = _labels(of_wanted[number], 0, n, "gold_labels", number)
                labeled &= not (of_sentences and "_" in of_gold)
                of_tree, of_gold = _alike(of_tree, of_gold, gold_heads[0], label_names, number)
                pair = (numbers(of_tree), numbers(of_gold))
            sums += _taproot.evaluate(np.ascontiguousarray(heads[s, :n]), gold_heads[0], *pair)
    if compared == 0:
        all_failed = f": all of its {failed} sentences failed" if failed else ""
        raise ValueError(f"{found.name} has no trees to compare{all_failed}")
    words, right, right_labels, count, exact = (int(x) for x in sums)
    if words == 0:
        raise ValueError("there is nothing to compare: no word of a tree has a gold head")
    return Attachment(words, right, right_labels if labeled else None, count, exact, compared, len(wanted), failed)


def _best(chosen: list[int], log_prob: list[Any] | None, b: int) -> list[int]:
    if log_prob is None:
        raise ValueError(
            'over="best" needs trees that know their probability: a file, or the result of kbest or '
            "sample_without_replacement"
        )
    return [max(chosen, key=lambda s: log_prob[b][s])] if chosen else []


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
    several = len(of_sentence) > 0 and not isinstance(of_sentence[0], str) and np.ndim(of_sentence[0]) == 1
    row = list(of_sentence[s] if several else of_sentence)
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
