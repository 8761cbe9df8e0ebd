# SPDX-License-Identifier: Apache-2.0
"""From what callers have to what the core reads: every check of a shape or a type is here."""

from __future__ import annotations

import operator
import os
import random
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._layouts import OURS, Arrangement

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

FLOAT64 = np.dtype(np.float64)
INT32 = np.dtype(np.int32)
_FLOATS = (FLOAT64, np.dtype(np.float32))


def as_floats(values: Any, name: str, copy: bool) -> npt.NDArray[Any]:
    """float32 stays float32; what is not float64 becomes a type that holds it exactly."""
    masked = sys.modules.get("numpy.ma")  # NumPy imports it when it is first used.
    if masked is not None and isinstance(values, masked.MaskedArray) and masked.is_masked(values):
        raise ValueError(f"{name} has a mask: forbid edges with -inf, np.where(mask, -np.inf, {name}.data)")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} is not an array: its rows differ in length") from None
    if copy and not isinstance(values, (list, tuple)):
        array = array.copy()
    if array.dtype not in _FLOATS:
        kind, size = array.dtype.kind, array.dtype.itemsize
        if kind in "biu" or (kind == "f" and size == 8):  # An 8-byte float is one in the other byte order.
            array = array.astype(np.float64)
        elif kind == "f" and size <= 4:
            array = array.astype(np.float32)
        else:
            raise ValueError(f"{name} must be float32 or float64, not {array.dtype}")
    elif not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = array.copy()  # A field of records may lie where no whole number of elements leads.
    return array


def pad(matrices: Sequence[Any], name: str) -> tuple[npt.NDArray[Any], Int32]:
    """Matrices of several sizes as one padded batch, and their lengths."""
    arrays = [as_floats(m, f"{name}[{b}]", copy=False) for b, m in enumerate(matrices)]
    axes = arrays[0].ndim
    for b, array in enumerate(arrays):
        if array.ndim != axes or array.shape[0] != array.shape[1] or array.shape[0] < 1:
            raise ValueError(
                f"{name}[{b}] must have shape (n+1, n+1{', labels' if axes > 2 else ''}), not {array.shape}"
            )
        if array.shape[2:] != arrays[0].shape[2:]:
            raise ValueError(f"{name}[{b}] differs from {name}[0] in its number of labels")
    side = max(array.shape[0] for array in arrays)
    dtype = np.result_type(*arrays)
    padded = np.zeros((len(arrays), side, side) + arrays[0].shape[2:], dtype)
    for b, array in enumerate(arrays):
        padded[b, : array.shape[0], : array.shape[0]] = array
    return padded, np.array([array.shape[0] - 1 for array in arrays], np.int32)


def is_list_of(axes: int, values: Any) -> bool:
    """Whether it is a list of arrays with so many axes."""
    if not isinstance(values, (list, tuple)) or len(values) == 0:
        return False
    first = values[0]
    while axes > 0 and isinstance(first, (list, tuple)) and len(first) > 0:
        first = first[0]
        axes -= 1
    return np.ndim(first) == axes


def as_integers(values: Any, name: str) -> npt.NDArray[Any]:
    array = _regular(values)
    if array is None:
        raise ValueError(f"{name} is not an array: its rows differ in length")
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"{name} must be integers, not {array.dtype}")
    return array


def _regular(values: Any) -> npt.NDArray[Any] | None:
    """As an array; None for lists whose rows differ in length."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return None if array.dtype == object and isinstance(values, (list, tuple)) and _axes_of(values) > 1 else array


def _axes_of(values: Any) -> int:
    """How many axes nested lists have, by their first entries."""
    axes = 0
    while isinstance(values, (list, tuple)):
        axes += 1
        if not values:
            return axes
        values = values[0]
    return axes + np.ndim(values)


def mask_hint(shape: tuple[int, ...], batch: tuple[int, ...]) -> str:
    """What to say of lengths that do not have the shape `batch`, but may be a mask."""
    return "; for a mask: mask.sum(-1)" if len(shape) == len(batch) + 1 and shape[:-1] == batch else ""


def as_switch(value: Any, name: str) -> bool:
    if value is not True and value is not False and not isinstance(value, np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def as_lengths(lengths: Any, batch: int, longest: int, arrangement: Arrangement = OURS) -> Int32:
    """Numbers of words, from lengths of a layout."""
    array = _regular(lengths)
    if array is not None and array.shape != (batch,):
        hint = mask_hint(array.shape, (batch,))
        raise ValueError(f"lengths must have shape ({batch},), one per sentence, not {array.shape}{hint}")
    array = as_integers(lengths, "lengths")
    wrong = np.flatnonzero((array < arrangement.lengths_of(0)) | (array > arrangement.lengths_of(longest)))
    if wrong.size:
        b = int(wrong[0])
        raise arrangement.wrong_length(b, int(array[b]), longest)
    return np.array(arrangement.words_in(array), np.int32, order="C")


def filled_up(values: Any, name: str, words: npt.NDArray[Any], n: int, arrangement: Arrangement) -> npt.NDArray[Any]:
    """Lists with the heads, or labels, of each sentence, of its own length, as one array (..., N) padded with -1.

    ``words`` holds the numbers of words of a batch, shape (...), at most n; the lists may have more axes in front. What
    is not such a list comes back as an array of the shape that it has.
    """
    array = _regular(values)
    axes = words.ndim
    if not isinstance(values, (list, tuple)) or axes == 0 or _axes_of(values) <= axes:
        return as_integers(values, name)
    if array is not None and array.shape[-1] == arrangement.entries(n):
        return as_integers(array, name)
    return _filled(values, name, words, n, arrangement, _axes_of(values) - 1 - axes)


def _filled(
    values: Any, name: str, words: npt.NDArray[Any], n: int, arrangement: Arrangement, in_front: int
) -> npt.NDArray[Any]:
    """The same for `in_front` axes before those of the sentences; `name` says where the values were found."""
    if in_front == 0 and words.ndim == 0:
        row, own = as_integers(values, name), int(words)
        if row.ndim != 1 or row.size not in (arrangement.entries(own), arrangement.entries(n)):
            expected = f"({arrangement.entries(own)},)"
            hint = arrangement.trees_hint(name, row.size, own)
            raise ValueError(
                f"{name} must have shape {expected}, since the sentence has {own} words, not {row.shape}{hint}"
            )
        return np.pad(row, (0, arrangement.entries(n) - row.size), constant_values=-1)
    if in_front == 0 and len(values) != len(words):
        raise ValueError(f"{name} must have {len(words)} entries, one per sentence, not {len(values)}")
    rows = []
    for i, entry in enumerate(values):
        own_words = words if in_front else words[i]
        rows.append(_filled(entry, f"{name}[{i}]", own_words, n, arrangement, max(in_front - 1, 0)))
    return np.stack(rows)


def as_trees(
    values: Any,
    name: str,
    shape: tuple[int, ...] | None = None,
    arrangement: Arrangement = OURS,
    words: npt.NDArray[Any] | None = None,
) -> tuple[Int32, tuple[int, ...]]:
    """Trees of shape ``shape``, or any number of them, ``(..., *shape)``: as [k, *shape], and what stands for k.

    Where the layout has an entry for ROOT, the values have one more than ``shape``. Without a shape: one list of any
    length. With the numbers of ``words`` of a batch, its sentences may have lists of their own lengths.
    """
    if shape is None or words is None:
        array = as_integers(values, name)
    else:
        array = filled_up(values, name, words, shape[-1], arrangement)
    if shape is None:
        if array.ndim != 1:
            raise ValueError(f"{name} must have one entry per word, shape (n,), not {array.shape}")
    else:
        given = (*shape[:-1], arrangement.entries(shape[-1]))
        if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != given:
            hint = arrangement.trees_hint(name, array.shape[-1], shape[-1]) if array.ndim else ""
            raise ValueError(f"{name} must have shape {given} or (k, {str(given)[1:]}, not {array.shape}{hint}")
        array = arrangement.words_of(array)
    if array.dtype != np.int32:
        if array.size and (array.min() < -(2**31) or array.max() >= 2**31):
            beyond = array.max() if array.max() >= 2**31 else array.min()
            raise ValueError(f"{name} has the entry {beyond}, which is not the number of a word")
        array = array.astype(np.int32)
    if shape is None:
        return np.ascontiguousarray(array), ()
    leading = array.shape[: array.ndim - len(shape)]
    count = int(np.prod(leading, dtype=np.int64))
    return np.ascontiguousarray(array.reshape((count, *shape))), leading


def as_count(k: Any, name: str = "k", below: int = 2**64) -> int:
    if type(k) is int and 0 <= k < below:
        return k
    if isinstance(k, np.ndarray) and k.ndim > 0:
        raise ValueError(f"{name} must be an integer, not an array")
    try:
        count = operator.index(k)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {k!r}") from None
    if not 0 <= count < below:
        raise ValueError(f"{name} must {'not be negative' if count < 0 else f'be below {below}'}, and is {count}")
    return count


# Seeded by the system once per process, because asking it for each seed costs a system call. random.seed() does not
# reach it.
_fresh = random.Random()
fresh_bits = _fresh.getrandbits
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh.seed)


def as_seed(seed: Any) -> int:
    """64 bits: fresh ones for None, of a NumPy source of randomness, or the integer itself."""
    if seed is None:
        return fresh_bits(64)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    try:
        return as_count(seed, "seed")
    except ValueError as error:
        wanted = "seed must be None, an integer from 0 to 2**64 - 1, a numpy.random.Generator or a SeedSequence"
        raise ValueError(f"{wanted}, not {seed!r}") from error


def as_name(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a name, not {value!r}")
    return value


def as_first_tree(first: Any, count: int) -> int:
    """The number of the first of `count` trees."""
    number = as_count(first, "first_tree")
    if number + count > 2**32:
        raise ValueError(f"first_tree is {number}: trees are numbered below 2**32")
    return number


def as_ids(ids: Any, batch_shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Sentence ids as [B]; negative ones are taken as the 64-bit numbers that they are."""
    array = np.asarray(ids)
    if array.dtype == object:  # NumPy makes Python integers beyond 64 bits objects.
        raise ValueError("ids must be integers of 64 bits")
    array = as_integers(array, "ids")
    if array.shape != batch_shape:
        wanted = f"have shape {batch_shape}, one per sentence" if batch_shape else "be an integer for a single sentence"
        raise ValueError(f"ids must {wanted}, not have shape {array.shape}")
    signed = array.astype(np.int64) if array.dtype.kind == "i" else array.astype(np.uint64)
    return np.ascontiguousarray(signed.view(np.uint64).reshape(-1))
