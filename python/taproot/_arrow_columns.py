# SPDX-License-Identifier: Apache-2.0
"""Arrow's columns as NumPy arrays of their own memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import _taproot

_FLOATS = {pa.float16(): np.float16, pa.float32(): np.float32, pa.float64(): np.float64}
_SMALL_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32())
Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Lists(NamedTuple):
    """Lists of numbers: row i has values[offsets[i]:offsets[i + 1]]."""

    values: npt.NDArray[Any]
    offsets: Offsets
    valid: Mask  # Which rows are not null.
    whole: Mask  # Which rows have no null among their numbers.
    square: Mask  # Which rows, where they are lists of lists, have lists of their own length.


def column_of(batch: Any, name: str) -> Any:
    """A column of a batch; KeyError, naming the columns that there are, if there is none."""
    at = batch.schema.get_all_field_indices(name)
    if len(at) == 1:
        return batch.column(at[0])
    has = ", ".join(map(repr, batch.schema.names)) or "no columns"
    raise KeyError(f"the batch has {len(at) or 'no'} column{'s' * bool(at)} {name!r}; it has {has}")


def valid_of(array: Any) -> Mask:
    """Which entries of an array are not null."""
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _in_place(array: Any, dtype: Any) -> npt.NDArray[Any]:
    """The numbers of an array, in its memory."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), dtype)
    numbers = np.frombuffer(buffer, dtype, count=array.offset + len(array))[array.offset :]
    return numbers if numbers.flags.aligned else numbers.copy()


def _rows_of(array: Any) -> tuple[Any, Offsets] | None:
    """The entries of lists, all of them, and where each row's begin; None if the array has no lists."""
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        return array.values, (array.offset + np.arange(len(array) + 1, dtype=np.int64)) * kind.list_size
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        dtype = np.int32 if pa.types.is_list(kind) else np.int64
        buffer = array.buffers()[1]
        if buffer is None or len(array) == 0:
            return array.values, np.zeros(len(array) + 1, np.int64)
        offsets = np.frombuffer(buffer, dtype, count=array.offset + len(array) + 1)[array.offset :]
        return array.values, offsets.astype(np.int64)
    return None


def _all_of_rows(good: Mask, offsets: Offsets) -> Mask:
    """Whether all entries of each row are good."""
    if good.all():
        return np.ones(len(offsets) - 1, np.bool_)
    bad = np.insert(np.cumsum(~good), 0, 0)
    return np.asarray(bad[offsets[1:]] == bad[offsets[:-1]], np.bool_)


def _without_null(values: Any, offsets: Offsets) -> Mask:
    """Whether each row has no null among its values."""
    if values.null_count == 0:  # As almost always: a mask of all values would take longer than some questions.
        return np.ones(len(offsets) - 1, np.bool_)
    return _all_of_rows(valid_of(values), offsets)


def float_lists(array: Any, name: str) -> Lists:
    """A column of lists, large lists, fixed-size lists or tensors of floats; lists of lists, too; or of float32 as
    binary. Only float16 is copied, because the library reads float32 and float64.

    TypeError for other columns.
    """
    given = array.type
    if isinstance(given, pa.BaseExtensionType):
        array = array.storage
    valid = valid_of(array)
    square = np.ones(len(array), np.bool_)
    if pa.types.is_struct(array.type) and {field.name for field in array.type} >= {"data", "shape"}:
        # Tensors of different shapes, as Arrow and Ray store them.
        shapes, ends = _rows_of(array.field("shape")) or (None, None)
        if shapes is not None and ends is not None and (np.diff(ends[: len(array) + 1]) == 2).all():
            sizes = shapes.to_numpy(zero_copy_only=False)[ends[0] : ends[-1]].reshape(-1, 2)
            square &= sizes[:, 0] == sizes[:, 1]
        array = array.field("data")
        valid &= valid_of(array)
    whole = np.ones(len(array), np.bool_)
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return Lists(*_binary(array, square), valid, whole, square)
    rows = _rows_of(array)
    if rows is None:
        raise TypeError(_not_floats(name, given))
    values, offsets = rows
    inner = _rows_of(values)
    if inner is not None:
        lengths = np.diff(offsets)
        used = slice(offsets[0], offsets[-1])
        even = np.ones(len(values), np.bool_)
        even[used] = np.diff(inner[1])[used] == np.repeat(lengths, lengths)
        square &= _all_of_rows(even, offsets)
        whole &= _without_null(values, offsets)
        values, offsets = inner[0], inner[1][offsets]
    if values.type not in _FLOATS:
        raise TypeError(_not_floats(name, given))
    whole &= _without_null(values, offsets)
    numbers = _in_place(values, _FLOATS[values.type])
    if values.type == pa.float16():
        first = int(offsets[0])
        numbers, offsets = numbers[first : offsets[-1]].astype(np.float32), offsets - first
    return Lists(numbers, offsets, valid, whole, square)


def _binary(array: Any, square: Mask) -> tuple[npt.NDArray[np.float32], Offsets]:
    """Bytes as float32. Rows that are not whole numbers of them are not `square`."""
    dtype = np.int32 if pa.types.is_binary(array.type) else np.int64
    _, at, data = array.buffers()
    if len(array) == 0 or data is None:
        return np.zeros(0, np.float32), np.zeros(len(array) + 1, np.int64)
    offsets = np.frombuffer(at, dtype, count=array.offset + len(array) + 1)[array.offset :].astype(np.int64)
    if (offsets % 4).any():  # Rare, and then rows are moved to where floats can be.
        square &= np.diff(offsets) % 4 == 0
        return _binary(pc.if_else(pa.array(square), array, pa.scalar(b"", array.type)), square)
    return np.frombuffer(data, np.float32, count=int(offsets[-1]) // 4), offsets // 4


def _not_floats(name: str, found: Any) -> str:
    wanted = "lists (or tensors) of float16, float32 or float64, or float32 as binary"
    return f"the column {name!r} must have {wanted}, not {found}"


class IntegerLists(NamedTuple):
    """Lists of 32-bit integers, and of a second one for each if they are pairs."""

    valid: npt.NDArray[np.uint8]
    offsets: Offsets
    values: npt.NDArray[np.int32]
    seconds: npt.NDArray[np.int32] | None


def integer_lists(array: Any, name: str, pairs: bool) -> IntegerLists:
    """A column of lists of integers; or, if `pairs`, of structs of the integers ``head`` and ``modifier``. Null among
    them is -1. TypeError for other columns.
    """
    wanted = "structs of the integers 'head' and 'modifier'" if pairs else "integers"
    message = f"the column {name!r} must have lists of {wanted}, not {array.type}"
    rows = _rows_of(array)
    if rows is None:
        raise TypeError(message)
    values, offsets = rows
    parts = [values]
    if pairs:
        if not pa.types.is_struct(values.type) or {f.name for f in values.type} < {"head", "modifier"}:
            raise TypeError(message)
        parts = [values.field("head"), values.field("modifier")]
    if not all(pa.types.is_integer(part.type) for part in parts):
        raise TypeError(message)
    try:
        numbers = [_in_place(part.cast(pa.int32()).fill_null(-1), np.int32) for part in parts]
    except pa.ArrowInvalid as error:
        raise TypeError(f"the column {name!r} has integers beyond 32 bits: {error}") from None
    return IntegerLists(valid_of(array).astype(np.uint8), offsets, numbers[0], numbers[1] if pairs else None)


def ids_of(array: Any, name: str, text: bool) -> tuple[Any, npt.NDArray[np.uint64], Mask]:
    """A column of ids, as int64 or as string; the 64-bit ids that samples are keyed by; and which are not null.

    TypeError for a column of another type than the task was made for.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if is_text != text or not (is_text or kind == pa.int64() or kind in _SMALL_INTEGERS):
        hint = ""
        if is_text or kind == pa.int64():
            hint = f"; make the task with id_type={'string' if is_text else 'int64'!r}"
        elif kind == pa.uint64():
            hint = "; cast it to int64 or string"
        raise TypeError(f"the column {name!r} must have ids of type {'string' if text else 'int64'}, not {kind}{hint}")
    array = array.cast(pa.string() if text else pa.int64())
    valid = valid_of(array)
    if not text:
        return array, _in_place(array, np.int64).view(np.uint64), valid
    keys = np.zeros(len(array), np.uint64)
    _, offsets, data = array.buffers()
    if len(array) and offsets is not None:
        at = np.frombuffer(offsets, np.int32, count=array.offset + len(array) + 1)[array.offset :]
        bytes_ = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        _taproot.sentence_ids(bytes_, at.astype(np.int64), keys)
    return array, keys, valid
