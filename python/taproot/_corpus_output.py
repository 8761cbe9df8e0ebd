# SPDX-License-Identifier: Apache-2.0
"""The folder that the answers of a corpus go to: one Parquet file per input, complete or not there, and a manifest."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import _taproot
from ._corpus_inputs import Shard

MANIFEST = "manifest.json"
_RUNS = ".running"  # Files that are being written, in one folder per run.
_GROUP_BYTES = 1 << 24
_GROUP_ROWS = 1 << 16
_NOTE = b"taproot"


class OutputError(Exception):
    """A folder that the answers cannot go to."""


def versions() -> dict[str, str]:
    """What the answers were made with."""
    return {
        "taproot": _taproot.version(),
        "pyarrow": pa.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _leaves(field: Any, path: str) -> Iterable[tuple[str, Any]]:
    """The columns that Parquet stores for a field."""
    kind = field.type
    if pa.types.is_struct(kind):
        for child in kind:
            yield from _leaves(child, f"{path}.{child.name}")
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _leaves(kind.value_field, f"{path}.list.element")
    else:
        yield path, kind


def parquet_options(schema: Any) -> dict[str, Any]:
    """Floats are split by bytes, which zstd then packs well; everything else is stored by dictionary."""
    leaves = [leaf for field in schema for leaf in _leaves(field, field.name)]
    floats = [path for path, kind in leaves if pa.types.is_floating(kind)]
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [path for path, _ in leaves if path not in floats],
        "column_encoding": dict.fromkeys(floats, "BYTE_STREAM_SPLIT") or None,
    }


class ShardWriter:
    """Writes one output file aside, and gives it its name when it is complete."""

    def __init__(self, folder: str, run: str, name: str, schema: Any, note: dict[str, Any]) -> None:
        self._final = Path(folder, name)
        aside = Path(folder, _RUNS, run)
        aside.mkdir(parents=True, exist_ok=True)
        self._aside = aside / f"{name}.{uuid.uuid4().hex}"
        self._note = note
        self._schema = schema
        self._statuses: Counter[str] = Counter()
        self.rows = 0
        self._waiting: list[Any] = []
        self._file = open(self._aside, "xb")
        try:
            self._writer = pq.ParquetWriter(self._file, schema, **parquet_options(schema))
        except BaseException:
            self._drop()
            raise

    def write(self, batch: Any) -> None:
        self.rows += len(batch)
        for entry in batch.column("status").value_counts().to_pylist():
            self._statuses[entry["values"]] += entry["counts"]
        self._waiting.append(batch)
        if sum(b.nbytes for b in self._waiting) >= _GROUP_BYTES or sum(map(len, self._waiting)) >= _GROUP_ROWS:
            self._write_group()

    def _write_group(self) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting = []
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def finish(self) -> dict[str, int]:
        """How many rows have each status. The file is on the disk and has its name after this."""
        if self._waiting:
            self._write_group()
        note = self._note | {"rows": self.rows, "statuses": dict(sorted(self._statuses.items()))}
        self._writer.add_key_value_metadata({_NOTE.decode(): json.dumps(note)})
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._aside, self._final)
        _sync(self._final.parent)
        return dict(self._statuses)

    def discard(self) -> None:
        """Leaves nothing behind."""
        self._waiting = []
        try:
            self._writer.close()
        except Exception:  # It may be why we are here: a full disk.
            pass
        self._drop()

    def _drop(self) -> None:
        try:
            self._file.close()
        except OSError:
            pass
        self._aside.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(at)
    finally:
        os.close(at)


def _is_running(run: str) -> bool:
    """Whether a run of this machine still goes on. Of another machine we cannot know, so it may."""
    host, _, process = run.rpartition("-")
    if host != socket.gethostname() or not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class OutputFolder:
    """The folder of one task. Several runs may write to it, one after the other or at once."""

    def __init__(self, path: str, task: dict[str, Any]) -> None:
        self.path = path
        self.run = f"{socket.gethostname()}-{os.getpid()}"
        self._task = task
        self._manifest = Path(path, MANIFEST)
        self._inputs: dict[str, Any] = {}
        self.ids_checked = False
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise OutputError(f"{path} is not a folder") from None
        if self._manifest.exists():
            self._take_over()
        elif any(entry.name != _RUNS for entry in folder.iterdir()):
            raise OutputError(f"{path} has files but no {MANIFEST}: it is not the output of this program")
        for old in sorted(Path(path, _RUNS).glob("*")):
            if not _is_running(old.name):
                shutil.rmtree(old, ignore_errors=True)

    def _take_over(self) -> None:
        try:
            found = json.loads(self._manifest.read_text(encoding="utf-8"))
            task, inputs, made_with = found["task"], found["inputs"], found["versions"]["taproot"]
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{self._manifest} is not a manifest of this program: {error!r}") from None
        if task != self._task:
            keys = sorted(key for key in task.keys() | self._task.keys() if task.get(key) != self._task.get(key))
            which = "; ".join(f"{key} is {task.get(key)!r} there and {self._task.get(key)!r} here" for key in keys)
            raise OutputError(f"{self.path} belongs to another task: {which}")
        if made_with != _taproot.version():
            raise OutputError(f"{self.path} was begun with Taproot {made_with}, and this is {_taproot.version()}")
        self._inputs = inputs
        self.ids_checked = bool(found.get("ids_checked"))

    def begin(self, shards: Sequence[Shard], ids_checked: bool) -> None:
        """Writes the manifest. OutputError if an input is not the one that it was in an earlier run."""
        for shard in shards:
            own = {"path": shard.path, "bytes": shard.bytes, "rows": shard.rows, "first_id": shard.first_id}
            old = self._inputs.get(shard.name)
            if old is not None and any(old.get(key) != own[key] for key in ("bytes", "rows", "first_id")):
                raise OutputError(f"{shard.path} is not the input that {shard.name} was begun with: {old} then")
            self._inputs[shard.name] = own
        self.ids_checked = ids_checked
        self._write({})

    def is_done(self, shard: Shard) -> bool:
        return Path(self.path, shard.name).exists()

    def finish(self, failed: dict[str, str]) -> dict[str, Any]:
        """Writes how it ended to the manifest, and takes away what this run wrote aside."""
        done = [name for name in sorted(self._inputs) if Path(self.path, name).exists()]
        statuses: Counter[str] = Counter()
        rows = 0
        for name in done:
            note = json.loads((pq.read_metadata(Path(self.path, name)).metadata or {}).get(_NOTE, b"{}"))
            statuses.update(note.get("statuses", {}))
            rows += note.get("rows", 0)
        complete = len(done) == len(self._inputs) and not failed
        end: dict[str, Any] = {"complete": complete, "shards": len(done), "rows": rows}
        end |= {"statuses": dict(sorted(statuses.items())), "failed": failed}
        self._write(end)
        self.leave()
        return end

    def leave(self) -> None:
        shutil.rmtree(Path(self.path, _RUNS, self.run), ignore_errors=True)
        try:
            Path(self.path, _RUNS).rmdir()
        except OSError:
            pass  # Another run is at work.

    def _write(self, end: dict[str, Any]) -> None:
        manifest = {"task": self._task, "versions": versions(), "ids_checked": self.ids_checked}
        manifest |= {"inputs": dict(sorted(self._inputs.items()))} | end
        aside = Path(self.path, _RUNS, self.run)
        aside.mkdir(parents=True, exist_ok=True)
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        os.replace(aside / MANIFEST, self._manifest)
