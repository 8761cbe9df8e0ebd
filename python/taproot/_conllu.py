# SPDX-License-Identifier: Apache-2.0
"""CoNLL-U files, read and written as the command line does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _taproot
from ._arrays import Int32, as_integers
from ._results import BestTrees, LabeledTrees, WithoutReplacementSample

Path = str | os.PathLike[str]


@dataclass(eq=False)
class Sentence:
    """A sentence of a CoNLL-U file.

    ``words`` are its words, ``heads`` their heads (0 for ROOT, -1 where the file has ``_``) and ``labels`` their
    relations, all of one length. ``comments`` holds its comments of the form ``# key = value``; ``lines`` all its lines
    as they are, so that ``write_conllu`` keeps multi-word tokens, empty nodes and the other columns.
    """

    words: list[str]
    heads: Int32
    labels: list[str]
    lines: list[str] = field(repr=False)
    _line_of_word: list[int] = field(repr=False)

    def __len__(self) -> int:
        """How many words the sentence has."""
        return len(self.words)

    @property
    def comments(self) -> dict[str, str]:
        """The comments ``# key = value``, such as ``sent_id`` and ``text``."""
        found = {}
        for line in self.lines:
            key, equals, value = line.removeprefix("#").partition("=")
            if line.startswith("#") and equals:
                found[key.strip()] = value.strip()
        return found


def read_conllu(path: Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file.

    A line that is not CoNLL-U raises ``ValueError`` with its number.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "two.conllu")
    >>> taproot.write_conllu(path, ["She saw stars", "It rains"], [[2, 0, 2], [2, 0]])
    >>> sentence = taproot.read_conllu(path)[0]
    >>> sentence.words, sentence.heads.tolist(), sentence.comments["text"]
    (['She', 'saw', 'stars'], [2, 0, 2], 'She saw stars')
    """
    with open(path, "rb"):
        pass  # A file that cannot be opened raises what Python raises for it.
    return [Sentence(*block) for block in _taproot.read_conllu(_file(path))]


def _file(path: Path) -> str:
    """The path of a file: to the command line's code "-" and "" are standard input and output."""
    name = os.fspath(path)
    if not name:
        raise ValueError("path is empty")
    return os.path.join(os.curdir, name) if name == "-" else name


def label_text(label: Any, names: Sequence[str] | None, b: int, i: int) -> str:
    """The text of a label, given as such or as the number of a name."""
    if isinstance(label, str):
        return label
    if names is None:
        raise ValueError("labels are numbers, so label_names must give their names")
    if not 0 <= label < len(names):
        raise ValueError(
            f"sentence {b}, word {i + 1}: label {int(label)} is not one of 0 to {len(names) - 1}, the numbers of "
            "label_names"
        )
    return str(names[label])


def _words_of(sentence: Any, b: int) -> tuple[list[str], list[str], list[int]]:
    if isinstance(sentence, Sentence):
        return sentence.words, sentence.lines, sentence._line_of_word
    words = sentence.split() if isinstance(sentence, str) else list(sentence)
    for i, word in enumerate(words):
        if not isinstance(word, str) or not word or any(c in word for c in "\t\n\r"):
            raise ValueError(f"sentence {b}, word {i + 1}: {word!r} is not a word that CoNLL-U can hold")
    return words, [], []


def _table(values: Any, single: bool, several: bool) -> Any:
    """Heads, labels or numbers of trees as entries [b][s]; those of a single sentence and of a single tree get axes."""
    if several:
        array = np.asarray(values)
        return [array] if single else [array[:, b] for b in range(array.shape[1])]
    entries = [values] if single else list(values)
    return [[entry] for entry in entries]


def write_conllu(
    path: Path,
    sentences: Any,
    trees: Any = None,
    labels: Any = None,
    *,
    label_names: Sequence[str] | None = None,
) -> None:
    """Writes trees of sentences as CoNLL-U, one block per tree.

    Each block has the comment ``# sentence``, the number of its sentence. Several trees per sentence are numbered by
    ``# sample``, or by ``# rank`` if they are those of ``kbest``, which also have their ``# score``. Those of
    ``sample_without_replacement`` have ``# log_prob``, ``# gumbel`` and ``# weight``, and the last tree of a sentence
    that has no others ``# exhausted``. Other trees are heads alone, so nothing is said of their probability.
    ``# labeled`` says whether a block has labels where that is not obvious. The file appears complete or not at all.
    The command line reads it, and every program that reads CoNLL-U.

    Parameters
    ----------
    sentences
        A list of sentences of ``read_conllu``, whose other columns and comments are kept; of lists of words; or of
        strings with spaces between words. Or a single one.
    trees
        The trees of a batch as ``argmax``, ``mbr`` and ``sample`` give them, (B, N) or (k, B, N); a list with the heads
        of each sentence; or the result of ``kbest`` or ``sample_without_replacement``. For a single sentence (n,) or
        (k, n). If not given, the heads and labels of the sentences. Trees of -1, which fill up batches, are left out.
        Trees of a layout ``"+root"`` may have their entry of -1 for ROOT.
    labels
        Of the shape of the heads, texts or numbers; those of labeled trees need not be given.
    label_names
        The names of numbered labels.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "best.conllu")
    >>> d = taproot.DependencyTrees([[0, 2, 1], [0, 0, 1], [0, 0, 0]])
    >>> taproot.write_conllu(path, "It rains", d.kbest(2))
    >>> [(s.comments["rank"], s.comments["score"], s.heads.tolist()) for s in taproot.read_conllu(path)]
    [('0', '3', [0, 1]), ('1', '1', [2, 0])]
    """
    single = isinstance(sentences, (str, Sentence))
    given = [sentences] if single else list(sentences)
    numbers: dict[str, Any] = {}
    if trees is None:
        if not all(isinstance(s, Sentence) for s in given):
            raise ValueError("trees must be given for sentences that are words alone")
        heads: Any = [s.heads for s in given]
        labels = [s.labels for s in given] if labels is None else labels
        single, several = False, False
    else:
        if isinstance(trees, (LabeledTrees, BestTrees, WithoutReplacementSample)):
            labels = trees.labels if labels is None else labels
        if isinstance(trees, BestTrees):
            numbers = {"score": trees.score}
        elif isinstance(trees, WithoutReplacementSample):
            numbers = {"log_prob": trees.log_prob, "gumbel": trees.gumbel, "weight": trees.weights}
        heads = getattr(trees, "heads", trees)
        several = not _is_ragged(heads, single) and np.ndim(heads) == (2 if single else 3)
    ranked = isinstance(trees, BestTrees)
    heads_of = _table(heads, single, several)
    if len(heads_of) != len(given):
        raise ValueError(f"there are trees of {len(heads_of)} sentences, and words of {len(given)}")
    labels_of = None if labels is None else _table(labels, single, several)
    numbers_of = {name: _table(values, single, True) for name, values in numbers.items()}
    writer = _taproot.ConlluWriter(_file(path), several, ranked)
    for b, sentence in enumerate(given):
        words, lines, line_of_word = _words_of(sentence, b)
        n = len(words)
        writer.sentence(b, words, lines, line_of_word)
        written = 0
        for s, entry in enumerate(heads_of[b]):
            tree = as_integers(entry, f"trees of sentence {b}")
            if several and (tree == -1).all():
                continue
            rooted = tree.ndim == 1 and tree.size > n > 0 and tree[0] == -1 and tree[n] >= 0  # A layout "+root".
            tree = tree[1:] if rooted else tree
            _check_tree(tree, n, b, s if several else None)
            texts = [] if labels_of is None else _texts(labels_of[b][s], n, b, label_names, rooted)
            own = {name: float(of[b][s]) for name, of in numbers_of.items()}
            writer.tree(
                b,
                s,
                np.ascontiguousarray(tree[:n], np.int32),
                texts,
                own.get("score"),
                own.get("log_prob"),
                own.get("gumbel"),
                own.get("weight"),
            )
            written += 1
        if isinstance(trees, WithoutReplacementSample) and np.atleast_1d(trees.exhausted)[b]:
            writer.exhausted(b, written)
    writer.finish()


def _is_ragged(values: Any, single: bool) -> bool:
    """Whether it is a list with the heads of each sentence, which may differ in length."""
    return not single and isinstance(values, (list, tuple)) and all(np.ndim(tree) == 1 for tree in values)


def count_words(trees: Int32) -> int:
    """How many words trees (..., N) have, without their negative padding."""
    words = np.flatnonzero((trees >= 0).any(tuple(range(trees.ndim - 1))))
    return int(words[-1]) + 1 if words.size else 0


def _check_tree(tree: Int32, n: int, b: int, s: int | None) -> None:
    which = f"sentence {b}" if s is None else f"sentence {b}, tree {s}"
    if tree.ndim != 1:
        raise ValueError(f"{which}: the heads have shape {tree.shape}, not ({n},)")
    count = count_words(tree)
    if tree.size < n or count > n or 0 < count < n:
        hint = ""
        if count == n + 1:
            hint = '. If the first entry is ROOT\'s, as with a layout "+root", give trees[..., 1:]'
        raise ValueError(f"{which}: the tree has {count} words, but the sentence has {n}{hint}")
    wrong = np.flatnonzero((tree[:n] < 0) | (tree[:n] > n))
    if wrong.size:
        i = int(wrong[0])
        raise ValueError(f"{which}, word {i + 1}: the head is {tree[i]}, not one of 0 (ROOT) to {n}")


def _texts(labels: Any, n: int, b: int, names: Sequence[str] | None, rooted: bool) -> list[str]:
    row = list(labels)
    row = row[1:] if rooted and len(row) > n else row
    if len(row) < n:
        raise ValueError(f"sentence {b} has {len(row)} labels, but {n} words")
    return [label_text(label, names, b, i) for i, label in enumerate(row[:n])]


Sentence.__module__ = read_conllu.__module__ = write_conllu.__module__ = "taproot"
