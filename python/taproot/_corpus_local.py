# SPDX-License-Identifier: Apache-2.0
"""A corpus on this machine: one thread reads ahead, one writes, and between them as many ask as there are cores.

Each of these asks about a batch of its own and waits for no other. If all cores worked on one batch, each would wait at
its end for the slowest, and that is the one whose core the reader or the writer has just taken.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pyarrow.parquet as pq

from ._corpus_inputs import InputError, Shard, batches_of
from ._corpus_output import ShardWriter
from .arrow import Task

T = TypeVar("T")
_AHEAD = 2  # Batches that wait between two threads.
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Job:
    """What every engine does with a shard."""

    task: Task
    folder: str
    run: str
    note: dict[str, Any]
    batch_bytes: int

    def read(self, shard: Shard) -> Iterator[Any]:
        task = self.task
        return batches_of(shard, task.columns, task.columns[0], task.columns[1], self.batch_bytes)

    def writer(self, shard: Shard) -> ShardWriter:
        note = self.note | {"input": shard.name}
        return ShardWriter(self.folder, self.run, shard.name, self.task.schema, note)


@dataclass
class Outcome:
    """How a run went."""

    done: int = 0
    rows: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # Why, by the path of the input.
    decoding: float = 0.0  # Seconds of a processor.
    asking: float = 0.0
    encoding: float = 0.0


def run_shard(job: Job, shard: Shard) -> tuple[str, int, str | None]:
    """One shard from its input to its output, in this thread: its path, its rows, and what went wrong if anything did.

    What went wrong is not raised, because an engine would then try the shard again. A shard that is there is not done
    again: a worker may die after it has written one and before the engine knows.
    """
    there = os.path.join(job.folder, shard.name)
    if os.path.exists(there):
        return shard.path, pq.read_metadata(there).num_rows, None
    writer: ShardWriter | None = None
    try:
        writer = job.writer(shard)
        for batch in job.read(shard):
            writer.write(job.task(batch))
        writer.finish()
    except BaseException as error:
        if writer is not None:
            writer.discard()
        if isinstance(error, (InputError, KeyError, OSError, TypeError, ValueError)):
            return shard.path, 0, _message(shard, error)
        raise
    return shard.path, writer.rows, None


def _message(shard: Shard, error: BaseException) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return text if text.startswith(shard.path) else f"{shard.path}: {text}"


class Stopped(Exception):
    """The other side of a pipe is not there any more."""


class Pipe(Generic[T]):
    """A short queue between two threads that either of them can close."""

    def __init__(self) -> None:
        self._queue: queue.Queue[T] = queue.Queue(_AHEAD)
        self.closed = threading.Event()

    def put(self, item: T) -> None:
        while not self.closed.is_set():
            try:
                return self._queue.put(item, timeout=0.1)
            except queue.Full:
                pass
        raise Stopped

    def get(self) -> T:
        while True:
            try:
                return self._queue.get(timeout=0.1)
            except queue.Empty:
                if self.closed.is_set():
                    raise Stopped from None


# A batch of a shard; None after its last one; or what went wrong.
Event = tuple[Shard, Any]


class _Reader(threading.Thread):
    def __init__(self, job: Job, shards: list[Shard], to: Pipe[Event | None]) -> None:
        super().__init__(name="taproot-reader", daemon=True)
        self._job, self._shards, self._to = job, shards, to
        self.seconds = 0.0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for shard in self._shards:
                self._read(shard)
            self._to.put(None)
        except Stopped:
            pass
        except BaseException as error:
            self.error = error
            self._to.closed.set()

    def _read(self, shard: Shard) -> None:
        begin = time.thread_time()
        try:
            for batch in self._job.read(shard):
                self.seconds += time.thread_time() - begin
                self._to.put((shard, batch))
                begin = time.thread_time()
        except InputError as error:
            self._to.put((shard, error))
        else:
            self._to.put((shard, None))


class _Writer(threading.Thread):
    def __init__(self, job: Job, source: Pipe[Event | None], report: Callable[[Shard, int, str | None], None]) -> None:
        super().__init__(name="taproot-writer", daemon=True)
        self._job, self._source, self._report = job, source, report
        self.seconds = 0.0
        self.error: BaseException | None = None

    def run(self) -> None:
        writer: ShardWriter | None = None
        try:
            while (event := self._source.get()) is not None:
                begin = time.thread_time()
                shard, item = event
                if writer is None:
                    writer = self._job.writer(shard)
                if item is None:
                    writer.finish()
                    self._report(shard, writer.rows, None)
                    writer = None
                elif isinstance(item, Exception):
                    writer.discard()
                    self._report(shard, 0, _message(shard, item))
                    writer = None
                else:
                    writer.write(item)
                self.seconds += time.thread_time() - begin
        except Stopped:
            pass
        except BaseException as error:
            self.error = error
            self._source.closed.set()
        if writer is not None:
            writer.discard()


def run_local(job: Job, shards: list[Shard], progress: Callable[[int, int], None], threads: int) -> Outcome:
    """All shards, with a task that uses one thread. Raises what the writer met, as a full disk, and KeyboardInterrupt;
    nothing unfinished stays.
    """
    outcome = Outcome()

    def report(shard: Shard, rows: int, wrong: str | None) -> None:
        if wrong is None:
            outcome.done += 1
            outcome.rows += rows
        else:
            outcome.failed[shard.path] = wrong

    inputs: Pipe[Event | None] = Pipe()
    answers: Pipe[Event | None] = Pipe()
    reader, writer = _Reader(job, shards, inputs), _Writer(job, answers, report)
    reader.start()
    writer.start()
    asking = ThreadPoolExecutor(threads, "taproot-asker")
    try:
        _ask(job, inputs, answers, outcome, progress, asking, threads)
        answers.put(None)
        while writer.is_alive():
            writer.join(0.1)
    except Stopped:
        pass  # One of the two met an error, which is raised below.
    finally:
        inputs.closed.set()
        answers.closed.set()
        asking.shutdown(cancel_futures=True)
        reader.join()
        writer.join()
    for error in (writer.error, reader.error):
        if error is not None:
            raise error
    outcome.decoding, outcome.encoding = reader.seconds, writer.seconds
    return outcome


def _timed(task: Task, batch: Any) -> tuple[Any, float]:
    begin = time.thread_time()
    answer = task(batch)
    return answer, time.thread_time() - begin


def _ask(
    job: Job,
    inputs: Pipe[Event | None],
    answers: Pipe[Event | None],
    outcome: Outcome,
    progress: Callable[[int, int], None],
    asking: ThreadPoolExecutor,
    threads: int,
) -> None:
    """Gives batches to threads, and their answers to the writer, in order."""
    waiting: deque[tuple[Shard, Any, Future[Any] | None]] = deque()
    refused: Shard | None = None  # The rest of its batches are dropped.

    def give_next() -> None:
        nonlocal refused
        shard, item, future = waiting.popleft()
        if shard is refused:
            return
        if future is not None:
            try:
                answer, seconds = future.result()
                outcome.asking += seconds
                answers.put((shard, answer))
                return progress(len(item), 0)
            except (KeyError, TypeError, ValueError) as error:
                refused, item = shard, error
        answers.put((shard, item))
        progress(0, 1)

    while (event := inputs.get()) is not None:
        shard, item = event
        is_batch = item is not None and not isinstance(item, Exception)
        waiting.append((shard, item, asking.submit(_timed, job.task, item) if is_batch else None))
        while len(waiting) > threads:
            give_next()
    while waiting:
        give_next()


def is_full_disk(error: OSError) -> bool:
    return error.errno in _DISK_FULL
