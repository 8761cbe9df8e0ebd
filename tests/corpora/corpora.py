# SPDX-License-Identifier: Apache-2.0
"""What the tests of engines share: a corpus, the rows that a task gives, and processes to kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from taproot.arrow import Task

TASKS = {
    "swor": Task("sample_without_replacement", k=4, seed=11),
    "sparse": Task("marginals", threshold=0.02),
    "sample of projective trees": Task("sample", k=3, seed=11, projective=True),
}


def with_text_ids(task: Task) -> Task:
    options = task.describe() | {"id_type": "string"}
    return Task(options.pop("operation"), **options)


def write_corpus(folder: Path, shards: int, rows: int, text: bool = False, longest: int = 14) -> None:
    """Sentences of different lengths, one of 50 without an answer of one kind or another."""
    folder.mkdir(parents=True)
    for shard in range(shards):
        rng = np.random.default_rng(shard)
        scores: list[Any] = []
        for n in rng.integers(1, longest + 1, rows):
            scores.append((2 * rng.standard_normal((n + 1) ** 2)).astype(np.float32))
        for i in range(0, rows, 50):
            scores[i] = [None, scores[i][:-1], scores[i] * np.float32(np.nan), scores[i][:1]][(shard + i // 50) % 4]
        ids: Any = np.arange(shard * rows, (shard + 1) * rows) * 1000003 - 5
        if text:
            ids = [f"document {shard}, sentence {i}" for i in range(rows)]
        table = pa.table({"id": ids, "scores": pa.array(scores, pa.list_(pa.float32()))})
        pq.write_table(table, folder / f"shard{shard:04}.parquet", row_group_size=max(1, rows // 3))


def read_all(folder: Path) -> Any:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])


def bytes_by_id(found: Any, schema: Any) -> bytes:
    """All rows, ordered by id, as the bytes of a Parquet file without compression: every bit of every column counts,
    and what lies under a null does not."""
    table = found.select(schema.names).cast(schema).sort_by("id").combine_chunks()
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none", use_dictionary=False)
    return bytes(sink.getvalue())


def start(*arguments: Any) -> subprocess.Popen[str]:
    """python -m taproot.corpus in a process of its own."""
    command = [sys.executable, "-m", "taproot.corpus", *map(str, arguments), "--quiet"]
    environment = os.environ | {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process: subprocess.Popen[str], seconds: float = 300) -> None:
    """Waits for a process that must end well."""
    try:
        text, _ = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert process.returncode == 0, text


def done_in(folder: Path) -> dict[str, int]:
    """The outputs that are there, with numbers that change when one is written again."""
    return {path.name: path.stat().st_ino for path in folder.glob("*.parquet")}


def wait_until_done(folder: Path, shards: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while len(done_in(folder)) < shards:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "no shard is done"
        time.sleep(0.02)


def command_of(process: psutil.Process) -> str:
    """How a process was started; nothing if it has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def kill_family(process: psutil.Process) -> int:
    """SIGKILL to a process and its descendants, by their ids."""
    family = [process, *process.children(recursive=True)]
    for member in family:
        try:
            os.kill(member.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(family)
