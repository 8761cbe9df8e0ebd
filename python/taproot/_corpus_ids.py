# SPDX-License-Identifier: Apache-2.0
"""Whether an id occurs twice in a corpus, in memory that does not grow with it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrow_columns import column_of, ids_of
from ._corpus_inputs import InputError, Shard, batches_of

_PART = 1 << 18  # Ids that are sorted at a time, unless that would take too many files.
_MOST_FILES = 1024
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHOWN = 3
Keys = npt.NDArray[np.uint64]


def _keys_of(shard: Shard, id: str, text: bool) -> Iterator[tuple[Any, Keys]]:
    for batch in batches_of(shard, [id], id, "scores", 1 << 22):
        array, keys, valid = ids_of(column_of(batch, id), id, text)
        if not valid.all():  # A row without an id has a status.
            array, keys = array.drop_null(), keys[valid]
        yield array, keys


def _repeated(keys: Keys) -> Keys:
    keys.sort()
    return np.unique(keys[1:][keys[1:] == keys[:-1]])


def _repeated_keys(shards: Sequence[Shard], id: str, text: bool) -> Keys:
    """The 64-bit ids that occur twice. A large corpus is first sorted into files of a few million ids each."""
    total = sum(shard.rows for shard in shards)
    every = (keys for shard in shards for _, keys in _keys_of(shard, id, text))
    if total <= _PART:
        parts = list(every)
        return _repeated(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
    count = np.uint64(min(2 * total // _PART + 1, _MOST_FILES))
    found = []
    with tempfile.TemporaryDirectory(prefix="taproot-ids-") as folder:
        for keys in every:
            part = (keys * _MIX >> np.uint64(32)) % count
            order = np.argsort(part, kind="stable")
            ends = np.searchsorted(part[order], np.arange(int(count) + 1, dtype=np.uint64))
            sorted_ = keys[order]
            for p in np.flatnonzero(np.diff(ends)).tolist():
                with open(Path(folder, str(p)), "ab") as file:
                    sorted_[ends[p] : ends[p + 1]].tofile(file)
        for name in Path(folder).iterdir():
            found.append(_repeated(np.fromfile(name, np.uint64)))
    return np.concatenate(found) if found else np.zeros(0, np.uint64)


def check_ids(shards: Sequence[Shard], id: str, text: bool) -> None:
    """InputError, which says where, if an id occurs twice. Different texts with one hash are not taken for one id."""
    named = [shard for shard in shards if shard.kind != "npz"]  # Those of npz are numbered.
    repeated = _repeated_keys(named, id, text)
    if len(repeated) == 0:
        return
    places: dict[Any, list[str]] = {}
    for shard in named:
        first = 0
        for array, keys in _keys_of(shard, id, text):
            for i in np.flatnonzero(np.isin(keys, repeated)).tolist():
                places.setdefault(array[i].as_py(), []).append(f"row {first + i} of {shard.path}")
            first += len(keys)
    twice = {value: where for value, where in places.items() if len(where) > 1}
    if twice:
        shown = "; ".join(
            f"{value!r} is {' and '.join(where[:_SHOWN])}" for value, where in list(twice.items())[:_SHOWN]
        )
        raise InputError(f"{len(twice)} {'ids occur' if len(twice) > 1 else 'id occurs'} more than once: {shown}")
