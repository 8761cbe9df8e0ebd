# SPDX-License-Identifier: Apache-2.0
"""Files of trees, as the command line writes and reads them."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _taproot
from ._conllu import Path, file_name

Row = tuple[int, Any, "list[str] | None", "float | None"]  # The sentence, heads, labels and log_prob of a tree.


@dataclass
class TreeFile:
    """The trees of a file, by sentence: of sentence ``numbers[b]`` all trees, and the best of them."""

    name: str
    numbers: list[int] = field(default_factory=list)
    heads: list[list[Any]] = field(default_factory=list)  # [b][s] of each (n,)
    labels: list[list[list[str] | None]] = field(default_factory=list)
    log_prob: list[list[float | None]] = field(default_factory=list)
    failed: int = 0

    def add(self, row: Row) -> None:
        sentence, heads, labels, log_prob = row
        if self.numbers and sentence < self.numbers[-1]:
            raise ValueError(
                f"{self.name}: sentence {sentence} comes after sentence {self.numbers[-1]}; trees must be in the order "
                "of the gold file"
            )
        if not self.numbers or sentence != self.numbers[-1]:
            self.numbers.append(sentence)
            for of_sentences in (self.heads, self.labels, self.log_prob):
                of_sentences.append([])
        self.heads[-1].append(heads)
        self.labels[-1].append(labels)
        self.log_prob[-1].append(log_prob)


def read_trees(path: Path) -> TreeFile:
    """The trees of a file; its ending says whether it is npz or conllu, and any other is jsonl."""
    with open(path, "rb"):
        pass  # A file that cannot be opened raises what Python raises for it.
    name = file_name(path)
    found = TreeFile(name)
    ending = os.path.splitext(name)[1].lower()
    if ending == ".conllu":
        rows, found.failed = _taproot.read_conllu_trees(name)
        for sentence, heads, labels, log_prob in rows:
            found.add((sentence, heads, labels or None, log_prob))
    elif ending == ".npz":
        for row in _npz_rows(name):
            found.add(row)
    elif ending == ".txt":
        raise ValueError(
            f"{name}: trees cannot be read from text, which does not keep everything; use jsonl, npz or conllu"
        )
    else:
        for row in _jsonl_rows(name, found):
            found.add(row)
    return found


def _check(heads: Any, labels: list[Any] | None, where: str) -> None:
    n = len(heads)
    for i, head in enumerate(heads):
        if head == i + 1:
            raise ValueError(f"{where}: word {i + 1} is its own head")
        if not 0 <= head <= n:
            raise ValueError(f"{where}: the head of word {i + 1} is {head}, not one of 0 to {n}")
    if labels is not None and len(labels) != n:
        raise ValueError(f"{where}: the tree has {len(labels)} labels but {n} heads")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _jsonl_rows(name: str, found: TreeFile) -> Iterator[Row]:
    with open(name, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{name}, line {number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{where}: the line is not JSON: {error}") from None
            if not isinstance(row, dict):
                raise ValueError(f"{where}: the line is not an object")
            if not _is_count(row.get("sentence")):
                raise ValueError(f"{where}: the key 'sentence' is missing, or not a number from 0")
            if "exhausted" in row:
                continue
            if "status" in row and "heads" not in row:
                found.failed += 1
                continue
            heads, labels, log_prob = row.get("heads"), row.get("labels"), row.get("log_prob")
            if not isinstance(heads, list) or not all(map(_is_count, heads)):
                raise ValueError(f"{where}: the key 'heads' is missing, or not a list of heads")
            if labels is not None and not (isinstance(labels, list) and all(isinstance(t, str) for t in labels)):
                raise ValueError(f"{where}: 'labels' is not a list of texts")
            if log_prob is not None and not isinstance(log_prob, (int, float)):
                raise ValueError(f"{where}: 'log_prob' is not a number")
            _check(heads, labels, where)
            yield row["sentence"], np.array(heads, np.int32), labels, log_prob


def _npz_rows(name: str) -> Iterator[Row]:
    try:
        archive = np.load(name, allow_pickle=False)
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not an .npz archive: {error}") from None
    with archive:
        missing = [key for key in ("heads", "sentence") if key not in archive]
        if missing:
            raise ValueError(f"{name} has no array '{missing[0]}'")
        all_heads, sentences = archive["heads"], archive["sentence"]
        if all_heads.ndim != 2 or all_heads.dtype.kind not in "iu":
            raise ValueError(f"{name}: heads must be a matrix of integers with one row per tree")
        rows = len(all_heads)
        columns = {key: archive[key] for key in ("labels", "log_prob") if key in archive}
    shapes = {"labels": all_heads.shape, "log_prob": (rows,)}
    for key, of_rows in {"sentence": sentences, **columns}.items():
        if of_rows.shape != shapes.get(key, (rows,)):
            raise ValueError(f"{name}: {key} must have shape {shapes.get(key, (rows,))}, and has {of_rows.shape}")
    if sentences.dtype.kind not in "iu":
        raise ValueError(f"{name}: sentence must be integers, not {sentences.dtype}")
    for r, row in enumerate(all_heads):
        where, sentence = f"{name}, row {r}", int(sentences[r])
        if sentence < 0:
            raise ValueError(f"{where}: sentence is {sentence}, which is negative")
        n = int((row != -1).sum())
        if (row[:n] == -1).any():
            raise ValueError(f"{where}: word {n + 1} has a head behind the padding (-1)")
        labels = [str(label) for label in columns["labels"][r, :n]] if "labels" in columns else None
        _check(row[:n].tolist(), labels, where)
        yield sentence, np.ascontiguousarray(row[:n], np.int32), labels, _number(columns.get("log_prob"), r)


def _number(column: Any, r: int) -> float | None:
    return None if column is None else float(column[r])
