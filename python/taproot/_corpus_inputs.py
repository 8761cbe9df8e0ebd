# SPDX-License-Identifier: Apache-2.0
"""The shards that a corpus comes in: Parquet, Arrow IPC and our npz, read in batches of bounded size."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

# Pages are decoded one after the other; a reader never holds a whole row group.
_READ_BYTES = 1 << 22
_MOST_ROWS = 1 << 16


class InputError(Exception):
    """An input that cannot be read, or that is not what it should be."""


@dataclass(frozen=True)
class Shard:
    """One input file, and the name of the output file that belongs to it."""

    path: str
    name: str
    kind: str  # "parquet", "ipc" or "npz"
    bytes: int
    rows: int
    first_id: int = 0  # Of an npz, whose sentences are numbered over all inputs.


def find_files(inputs: Sequence[str]) -> list[str]:
    """The files that are named, and those in the folders that are named, in the order of their names."""
    found: list[str] = []
    for given in inputs:
        path = Path(given)
        if path.is_dir():
            endings = (".parquet", ".arrow", ".feather", ".ipc", ".npz")
            inside = sorted(str(p) for p in path.iterdir() if p.suffix in endings and not p.name.startswith("."))
            if not inside:
                raise InputError(f"{given} is a folder without .parquet, .arrow, .feather, .ipc or .npz files")
            found += inside
        else:
            found.append(given)
    return found


def inspect(path: str, first_id: int = 0) -> Shard:
    """What kind of file it is and how many rows it has. InputError if it cannot be read."""
    name = Path(path).stem + ".parquet"
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            start = file.read(6)
        if start[:4] == b"PAR1":
            with pq.ParquetFile(path) as parquet:
                return Shard(path, name, "parquet", size, parquet.metadata.num_rows)
        if start == b"ARROW1":
            with _open_ipc(path) as reader:
                rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
                return Shard(path, name, "ipc", size, rows)
        if start[:2] == b"PK":
            with zipfile.ZipFile(path) as archive:
                return Shard(path, name, "npz", size, len(_npz_lengths(archive, path)[1]), first_id)
    except (OSError, pa.ArrowException, zipfile.BadZipFile, ValueError) as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from error
    raise InputError(f"{path} is not a Parquet file, an Arrow IPC file or an .npz archive")


def schema_of(shard: Shard, id: str, scores: str) -> Any:
    """The schema of a shard's batches."""
    if shard.kind == "npz":
        return pa.schema([(id, pa.int64()), (scores, pa.list_(pa.float32()))])
    if shard.kind == "ipc":
        with _open_ipc(shard.path) as reader:
            return reader.schema
    return pq.read_schema(shard.path)


def batches_of(shard: Shard, columns: list[str], id: str, scores: str, most_bytes: int) -> Iterator[Any]:
    """The rows of a shard, in order, in batches of about `most_bytes`. InputError if the file is broken."""
    try:
        if shard.kind == "npz":
            yield from _npz_batches(shard, id, scores, most_bytes)
        elif shard.kind == "ipc":
            yield from _ipc_batches(shard, columns, most_bytes)
        else:
            yield from _parquet_batches(shard, columns, most_bytes)
    except (OSError, pa.ArrowException, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"{shard.path} cannot be read: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _missing(columns: list[str], schema: Any, path: str) -> None:
    for name in columns:
        if name not in schema.names:
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, schema.names))}")


def _parquet_batches(shard: Shard, columns: list[str], most_bytes: int) -> Iterator[Any]:
    with pq.ParquetFile(shard.path, pre_buffer=False, buffer_size=_READ_BYTES) as file:
        _missing(columns, file.schema_arrow, shard.path)
        if shard.rows == 0:
            return
        paths = [file.schema.column(i).path.split(".")[0] for i in range(len(file.schema))]
        read = [i for i, top in enumerate(paths) if top in columns]
        size = 0
        for group in range(file.metadata.num_row_groups):
            of_group = file.metadata.row_group(group)
            size += sum(of_group.column(i).total_uncompressed_size for i in read)
        rows = _rows_for(size, shard.rows, most_bytes)
        yield from file.iter_batches(rows, columns=columns, use_threads=False)


def _rows_for(size: int, rows: int, most_bytes: int) -> int:
    return min(max(1, most_bytes * rows // max(1, size)), _MOST_ROWS)


def _open_ipc(path: str) -> Any:
    return pa.ipc.open_file(pa.memory_map(path))


def _ipc_batches(shard: Shard, columns: list[str], most_bytes: int) -> Iterator[Any]:
    with _open_ipc(shard.path) as reader:
        _missing(columns, reader.schema, shard.path)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i).select(columns)
            rows = _rows_for(batch.nbytes, len(batch), most_bytes)
            for first in range(0, len(batch), rows):
                yield batch.slice(first, rows)


# Our npz.


def _npz_lengths(archive: zipfile.ZipFile, path: str) -> tuple[str, npt.NDArray[np.int64]]:
    """How sentences are stored ("flat", "padded" or "single"), and how many words each of them has."""
    names = archive.namelist()
    if "scores.npy" not in names:
        sides = []
        for name in names:
            with archive.open(name) as member:
                shape = _npy_header(member, path)[0]
            if len(shape) != 2 or shape[0] != shape[1]:
                raise InputError(f"{path}: {name} has shape {shape}, not (n+1, n+1)")
            sides.append(shape[0] - 1)
        return "single", np.array(sides, np.int64)
    with archive.open("scores.npy") as member:
        shape = _npy_header(member, path)[0]
    lengths = np.full(shape[0], shape[-1] - 1, np.int64)
    if "lengths.npy" in names:
        with archive.open("lengths.npy") as member:
            lengths = np.lib.format.read_array(member).astype(np.int64)
    elif len(shape) != 3:
        raise InputError(f"{path} has scores of shape {shape} and no lengths")
    if len(shape) == 1:
        if lengths.ndim != 1 or (lengths < 0).any() or ((lengths + 1) ** 2).sum() != shape[0]:
            raise InputError(f"{path}: the lengths do not add up to the {shape[0]} scores")
        return "flat", lengths
    if len(shape) != 3 or shape[1] != shape[2] or lengths.shape != shape[:1]:
        raise InputError(f"{path} has scores of shape {shape}, not (B, N+1, N+1) with B lengths")
    if (lengths < 0).any() or (lengths >= shape[1]).any():
        raise InputError(f"{path}: a length is not one of 0 to {shape[1] - 1}")
    return "padded", lengths


def _npy_header(file: Any, path: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if fortran and len(shape) > 1:
        raise InputError(f"{path} has an array in Fortran order; save it in C order")
    if dtype.kind not in "fiu" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise InputError(f"{path} has an array of {dtype}, not of float16, float32 or float64")
    return shape, dtype


def _npz_batches(shard: Shard, id: str, scores: str, most_bytes: int) -> Iterator[Any]:
    with zipfile.ZipFile(shard.path) as archive:
        layout, lengths = _npz_lengths(archive, shard.path)
        cells = (lengths + 1) ** 2
        if layout == "single":
            parts = _single_parts(archive, cells, most_bytes)
        else:
            parts = _streamed_parts(archive, shard.path, layout, lengths, most_bytes)
        first = 0
        for end, values in parts:
            offsets = np.insert(np.cumsum(cells[first:end]), 0, 0).astype(np.int64)
            lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
            ids = pa.array(np.arange(shard.first_id + first, shard.first_id + end, dtype=np.int64))
            yield pa.RecordBatch.from_arrays([ids, lists], names=[id, scores])
            first = end


def _cut(cells: npt.NDArray[np.int64], width: int, most_bytes: int) -> list[int]:
    """Where batches of at most `most_bytes` end; each has a sentence."""
    ends, used = [], 0
    for i, own in enumerate((cells * width).tolist()):
        if used and used + own > most_bytes:
            ends.append(i)
            used = 0
        used += own
    return [*ends, len(cells)] if len(cells) else []


def _single_parts(archive: zipfile.ZipFile, cells: Any, most_bytes: int) -> Iterator[tuple[int, Any]]:
    names, first = archive.namelist(), 0
    for end in _cut(cells, 8, most_bytes):
        values = []
        for name in names[first:end]:
            with archive.open(name) as member:
                values.append(np.lib.format.read_array(member).ravel())
        yield end, np.concatenate(values)
        first = end


def _streamed_parts(
    archive: zipfile.ZipFile, path: str, layout: str, lengths: Any, most_bytes: int
) -> Iterator[tuple[int, Any]]:
    with archive.open("scores.npy") as member:
        shape, dtype = _npy_header(member, path)
        side = shape[-1]
        stored = (lengths + 1) ** 2 if layout == "flat" else np.full(len(lengths), side**2)
        first = 0
        for end in _cut(stored, dtype.itemsize, most_bytes):
            count = int(stored[first:end].sum())
            data = member.read(count * dtype.itemsize)
            if len(data) != count * dtype.itemsize:
                raise EOFError("the scores end before the last sentence")
            values = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False)
            if layout == "padded":
                within = np.arange(side) <= lengths[first:end, None]
                values = values.reshape(-1, side, side)[within[:, :, None] & within[:, None, :]]
            yield end, values
            first = end
