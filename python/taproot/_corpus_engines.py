# SPDX-License-Identifier: Apache-2.0
"""A corpus on the workers of Ray or Spark, which map a function over its shards and do again what is lost."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from ._corpus_inputs import Shard
from ._corpus_local import Job, Outcome, run_shard

Progress = Callable[[int, int], None]
_RETRIES = 100  # Lost workers are the engine's to replace; a shard's own errors are not retried.


def _note(outcome: Outcome, progress: Progress, path: str, rows: int, wrong: str | None) -> None:
    if wrong is None:
        outcome.done += 1
        outcome.rows += rows
    else:
        outcome.failed[path] = wrong
    progress(rows, 1)


def run_ray(job: Job, shards: list[Shard], progress: Progress, address: str | None) -> Outcome:
    """One Ray task per shard, of which at most twice as many wait as there are cores."""
    import ray

    ours = not ray.is_initialized()
    if ours:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:
        remote = ray.remote(run_shard).options(num_cpus=1, max_retries=_RETRIES)
        shared = ray.put(job)
        outcome = Outcome()
        left = list(reversed(shards))
        running: list[Any] = []
        while left or running:
            most = max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
            while left and len(running) < most:
                running.append(remote.remote(shared, left.pop()))
            ready, running = ray.wait(running, timeout=1.0)
            for path, rows, wrong in ray.get(ready):
                _note(outcome, progress, path, rows, wrong)
        return outcome
    finally:
        if ours:
            ray.shutdown()


def run_spark(job: Job, shards: list[Shard], progress: Progress, master: str | None) -> Outcome:
    """One Spark task per shard."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("taproot.corpus").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    session = builder.config("spark.task.maxFailures", str(_RETRIES)).getOrCreate()
    context = session.sparkContext
    outcome = Outcome()
    try:
        # A second thread waits for Spark, so that this one can be interrupted and show how far it is.
        found: list[Any] = []

        def collect() -> None:
            try:
                mapped = context.parallelize(shards, max(1, len(shards))).map(lambda shard: run_shard(job, shard))
                found.append(mapped.collect())
            except BaseException as error:
                found.append(error)

        waiting = threading.Thread(target=collect, daemon=True)
        waiting.start()
        shown: set[str] = set()
        while waiting.is_alive():
            waiting.join(0.5)
            for shard in shards:
                if shard.name not in shown and os.path.exists(os.path.join(job.folder, shard.name)):
                    shown.add(shard.name)
                    progress(shard.rows, 1)
        if isinstance(found[0], BaseException):
            raise found[0]
        for path, rows, wrong in found[0]:
            _note(outcome, lambda *_: None, path, rows, wrong)
        return outcome
    except BaseException:
        context.cancelAllJobs()
        raise
    finally:
        session.stop()
