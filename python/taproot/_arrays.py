# SPDX-License-Identifier: Apache-2.0
"""From what callers have to what the core reads: every check of a shape or a type is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def as_floats(values: Any, name: str, copy: bool) -> npt.NDArray[Any]:
    """float32 stays float32; float16 and integers become float types that hold them exactly."""
    array = np.asarray(values)
    if array.dtype not in _FLOATS:
        if array.dtype.kind in "bu" or array.dtype.kind == "i":
            array = array.astype(np.float64)
        elif array.dtype == np.float16:
            array = array.astype(np.float32)
        elif array.dtype.kind == "f" and array.dtype.itemsize <= 8:  # The other byte order.
            array = array.astype(array.dtype.newbyteorder("="))
        else:
            raise ValueError(f"{name} must be float32 or float64, not {array.dtype}")
    elif copy and (array is values or array.base is not None):
        array = array.copy()
    return array


def pad(matrices: Sequence[Any], name: str) -> tuple[npt.NDArray[Any], Int32]:
    """Matrices of several sizes as one padded batch, and their lengths."""
    arrays = [as_floats(m, f"{name}[{b}]", copy=False) for b, m in enumerate(matrices)]
    if not arrays:
        raise ValueError(f"{name} is an empty list: give an array of shape (0, N+1, N+1) instead")
    axes = arrays[0].ndim
    for b, array in enumerate(arrays):
        if array.ndim != axes or axes < 2 or array.shape[0] != array.shape[1] or array.shape[0] < 1:
            raise ValueError(f"{name}[{b}] must have shape (n+1, n+1), not {array.shape}")
    side = max(array.shape[0] for array in arrays)
    dtype = np.result_type(*arrays)
    padded = np.zeros((len(arrays), side, side) + arrays[0].shape[2:], dtype)
    for b, array in enumerate(arrays):
        padded[b, : array.shape[0], : array.shape[0]] = array
    return padded, np.array([array.shape[0] - 1 for array in arrays], np.int32)


def as_lengths(lengths: Any, batch: int, longest: int) -> Int32:
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"lengths must be integers, not {array.dtype}")
    if array.shape != (batch,):
        raise ValueError(f"lengths must have shape ({batch},), one a sentence, not {array.shape}")
    wrong = np.flatnonzero((array < 0) | (array > longest))
    if wrong.size:
        b = int(wrong[0])
        raise ValueError(f"lengths[{b}] is {array[b]}, and the scores are for up to {longest} words")
    return np.ascontiguousarray(array, np.int32)


def as_trees(values: Any, name: str, shape: tuple[int, ...]) -> tuple[Int32, tuple[int, ...]]:
    """Trees of shape ``shape``, or any number of them, ``(..., *shape)``: as [k, *shape], and what stands for k."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"{name} must be integers, not {array.dtype}")
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        raise ValueError(f"{name} must have shape {shape} or (k, {str(shape)[1:]}, not {array.shape}")
    leading = array.shape[: array.ndim - len(shape)]
    if array.dtype != np.int32:
        if array.size and (array.min() < -(2**31) or array.max() >= 2**31):
            raise ValueError(f"{name} has entries that are no words")
        array = array.astype(np.int32)
    count = int(np.prod(leading, dtype=np.int64))
    return np.ascontiguousarray(array.reshape((count, *shape))), leading


def as_count(k: Any, name: str = "k") -> int:
    try:
        count = k.__index__()
    except AttributeError:
        raise ValueError(f"{name} must be an integer, not {k!r}") from None
    if count < 0:
        raise ValueError(f"{name} must not be negative: {count}")
    return int(count)


def as_seed(seed: Any) -> int:
    count = as_count(seed, "seed")
    if count >= 2**64:
        raise ValueError(f"seed must be below 2**64: {count}")
    return count
