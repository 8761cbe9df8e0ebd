# SPDX-License-Identifier: Apache-2.0
"""Answers as Arrow's columns: lists of the numbers that the library wrote, without a copy, and null for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import _taproot

STATUSES: list[str] = [str(name) for name in _taproot.row_statuses()]
NO_ID, NO_SCORES, BAD_SCORE, BAD_LENGTH = map(STATUSES.index, ("no_id", "no_scores", "bad_score", "bad_length"))
_NAMES = pa.array(STATUSES, pa.string())

Array = npt.NDArray[Any]
TREES = pa.list_(pa.list_(pa.int32()))
NUMBERS = pa.list_(pa.float64())
INTEGERS = pa.list_(pa.int32())


class Answered:
    """The rows of a batch after a question: which have an answer, and how columns are made for them."""

    def __init__(self, statuses: npt.NDArray[np.uint8]) -> None:
        self._ok = statuses == 0
        self._failed = int(len(statuses) - np.count_nonzero(self._ok))
        self._statuses = statuses
        bits = np.packbits(self._ok, bitorder="little")
        self._validity = pa.py_buffer(bits) if self._failed else None

    def status(self) -> Any:
        return _NAMES.take(pa.array(self._statuses))

    def numbers(self, values: Array, kind: Any) -> Any:
        """One number per row."""
        buffers = [self._validity, pa.py_buffer(values)]
        return pa.Array.from_buffers(kind, len(self._ok), buffers, self._failed)

    def numbers_of_answered(self, values: Array) -> Any:
        """The same of numbers that only the rows with an answer have."""
        spread = np.zeros(len(self._ok))
        spread[self._ok] = values
        return self.numbers(spread, pa.float64())

    def flags(self, values: npt.NDArray[np.uint8]) -> Any:
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(self._ok), [self._validity, pa.py_buffer(bits)], self._failed)

    def lists(self, offsets: npt.NDArray[np.int32], values: Any) -> Any:
        """One list per row; values are an array of Arrow's."""
        buffers = [self._validity, pa.py_buffer(offsets)]
        kind = pa.list_(values.type)
        return pa.Array.from_buffers(kind, len(self._ok), buffers, self._failed, children=[values])


def plain(values: Array) -> Any:
    """Numbers without nulls, in the memory of the NumPy array."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)], 0)


def _lists_of(offsets: npt.NDArray[np.int32], values: Array) -> Any:
    return pa.Array.from_buffers(INTEGERS, len(offsets) - 1, [None, pa.py_buffer(offsets)], 0, children=[plain(values)])


def one_tree(found: dict[str, Array], rows: Answered, names: list[str]) -> list[Any]:
    """The columns of answers with one tree per row."""
    offsets = found["words"][found["rows"]]
    make: dict[str, Callable[[Array], Any]] = dict.fromkeys(names, rows.numbers_of_answered)
    make["heads"] = make["labels"] = lambda values: rows.lists(offsets, plain(values))
    return [make[name](found[name]) for name in names]


def many_trees(found: dict[str, Array], rows: Answered, names: list[str]) -> list[Any]:
    """The columns of answers with several trees per row."""
    offsets, words = found["rows"], found["words"]
    make: dict[str, Callable[[Array], Any]] = dict.fromkeys(names, lambda values: rows.lists(offsets, plain(values)))
    make["heads"] = make["labels"] = lambda values: rows.lists(offsets, _lists_of(words, values))
    make["kappa"] = lambda values: rows.numbers(values, pa.float64())
    make["exhausted"] = rows.flags
    return [make[name](found[name]) for name in names]
