# SPDX-License-Identifier: Apache-2.0
"""``python -m taproot.corpus``: one question about every sentence of a corpus, from Parquet to Parquet.

docs/corpora.md explains it. The exit code is 0 if all shards are done, 1 if some could not be, 2 if the usage or the
output folder is wrong, and 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import pyarrow as pa

from ._corpus_engines import run_ray, run_spark
from ._corpus_ids import check_ids
from ._corpus_inputs import InputError, Shard, find_files, inspect, schema_of
from ._corpus_local import Job, Outcome, is_full_disk, run_local
from ._corpus_output import OutputError, OutputFolder, versions
from ._corpus_progress import Progress
from .arrow import OPERATIONS, Operation, Task

_DONE, _SOME_FAILED, _WRONG, _INTERRUPTED = 0, 1, 2, 130

# The operations of Task, by the words of the command line, which shortens two of them.
_SHORT = {"log_partition": "logz", "sample_without_replacement": "swor"}
_TASKS: dict[str, Operation] = {_SHORT.get(name, name): name for name in OPERATIONS}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m taproot.corpus",
        description="Asks one question about every sentence of a corpus, and writes one Parquet file per input file. "
        "A run that was interrupted goes on where it stopped if you give the same command again.",
    )
    add = parser.add_argument
    add("inputs", nargs="+", metavar="IN", help="Parquet, Arrow IPC or .npz files, or folders of them")
    add("-o", "--output", required=True, metavar="DIR", help="write the answers and manifest.json to this folder")
    add("--task", required=True, choices=_TASKS, metavar="NAME", help=f"one of {', '.join(_TASKS)}")
    add("-k", type=int, metavar="N", help="give N trees per sentence (sample, swor, kbest)")
    add("--seed", type=int, default=0, metavar="N", help="sample with this seed (0)")
    add("--algorithm", default="auto", metavar="NAME", help="use this sampler (auto)")
    add("--threshold", type=float, metavar="P", help="write only marginals of at least P, as lists")
    add("--root", choices=["single", "multi"], default="single", help="the root rule (single)")
    add("--projective", action="store_true", help="ask about projective trees only")
    add("--id", default="id", metavar="COLUMN", help="read ids, int64 or string, from this column (id)")
    add("--scores", default="scores", metavar="COLUMN", help="read scores from this column (scores)")
    add("--label-scores", metavar="COLUMN", help="read label scores from this column")
    add("--label-count", type=int, metavar="N", help="the number of labels")
    for kind in ("force", "forbid", "roots", "partial-tree"):
        add(f"--{kind}", metavar="COLUMN", help=f"read constraints ({kind}) from this column")
    add("--keep", action="append", default=[], metavar="COLUMN", help="copy this column to the output; may be repeated")
    add("--engine", choices=["local", "ray", "spark"], default="local", help="where to work (local)")
    add("--address", metavar="URL", help="the address of a Ray cluster, or Spark's master")
    add("--threads", type=int, metavar="N", help="use N threads (local: one per core), or N per worker (ray, spark: 1)")
    add("--batch-bytes", type=int, default=1 << 23, metavar="N", help="read about N bytes at a time (8 MiB)")
    add("--no-id-check", action="store_true", help="do not look for ids that occur twice")
    add("--progress", action="store_true", help="show progress also where standard error is not a terminal")
    add("--quiet", action="store_true", help="show no progress and no summary")
    add("--version", action="version", version=f"taproot {versions()['taproot']}")
    return parser


def _inspect_all(files: list[str]) -> tuple[list[Shard], dict[str, str]]:
    """The shards, and why other files are none."""
    shards: list[Shard] = []
    failed: dict[str, str] = {}
    first_id = 0
    names: dict[str, str] = {}
    for path in files:
        try:
            shard = inspect(path, first_id)
        except InputError as error:
            failed[path] = str(error)
            continue
        if shard.name in names:
            raise InputError(f"{names[shard.name]} and {path} would both be written to {shard.name}")
        names[shard.name] = path
        if shard.kind == "npz":
            first_id += shard.rows
        shards.append(shard)
    if first_id and (failed or any(shard.kind != "npz" for shard in shards)):
        raise InputError(
            "sentences of .npz files are numbered over all inputs, which must all be .npz files that can be read"
        )
    return shards, failed


def _make_task(options: argparse.Namespace, schema: Any) -> Task:
    kind = schema.field(options.id).type if options.id in schema.names else pa.int64()
    text = not pa.types.is_integer(kind.value_type if pa.types.is_dictionary(kind) else kind)
    missing = [name for name in (options.id, options.scores, *options.keep) if name not in schema.names]
    if missing:
        raise InputError(f"the input has no column {missing[0]!r}; it has {', '.join(map(repr, schema.names))}")
    return Task(
        _TASKS[options.task],
        k=options.k,
        seed=options.seed,
        algorithm=options.algorithm,
        threshold=options.threshold,
        root=options.root,
        projective=options.projective,
        id=options.id,
        id_type="string" if text else "int64",
        scores=options.scores,
        label_scores=options.label_scores,
        label_count=options.label_count,
        force=options.force,
        forbid=options.forbid,
        roots=options.roots,
        partial_tree=options.partial_tree,
        keep=[schema.field(name).remove_metadata() for name in options.keep],
        threads=1 if options.engine == "local" else options.threads or 1,
    )


def _run(options: argparse.Namespace) -> int:
    begin = time.monotonic()
    shards, unreadable = _inspect_all(find_files(options.inputs))
    if not shards:
        raise InputError("; ".join(unreadable.values()))
    schema = schema_of(shards[0], options.id, options.scores)
    task = _make_task(options, schema)
    task(
        pa.RecordBatch.from_pylist([], schema).select(task.columns)
    )  # Refuses columns of the wrong type before anything is read.
    folder = OutputFolder(options.output, task.describe())
    try:
        if not (options.no_id_check or folder.ids_checked):
            check_ids(shards, options.id, task.schema.field(options.id).type == pa.string())
        folder.begin(shards, not options.no_id_check and not unreadable)
        outcome, there = _work(options, task, folder, shards)
    except BaseException:
        folder.leave()
        raise
    outcome.failed |= unreadable
    end = folder.finish(outcome.failed)
    for wrong in outcome.failed.values():
        print(f"taproot.corpus: {wrong}", file=sys.stderr)
    if not options.quiet:
        _summarize(outcome, there, end, time.monotonic() - begin, options.engine)
    return _SOME_FAILED if outcome.failed else _DONE


def _work(options: argparse.Namespace, task: Task, folder: OutputFolder, shards: list[Shard]) -> tuple[Outcome, int]:
    left = [shard for shard in shards if not folder.is_done(shard)]
    progress = Progress(len(shards), sum(shard.rows for shard in shards), options.quiet, options.progress)
    for shard in shards:
        if shard not in left:
            progress.was_there(shard.rows)
    note = {"task": task.describe(), "version": versions()["taproot"]}
    job = Job(task, folder.path, folder.run, note, options.batch_bytes)
    try:
        if not left:
            return Outcome(), len(shards)
        if options.engine == "ray":
            outcome = run_ray(job, left, progress.add, options.address)
        elif options.engine == "spark":
            outcome = run_spark(job, left, progress.add, options.address)
        else:
            outcome = run_local(job, left, progress.add, options.threads or os.cpu_count() or 1)
        return outcome, len(shards) - len(left)
    finally:
        progress.close()


def _summarize(outcome: Outcome, there: int, end: dict[str, Any], seconds: float, engine: str) -> None:
    statuses = ", ".join(f"{count:,} {status}" for status, count in end["statuses"].items())
    line = f"{outcome.done} shards done, {there} were there, {len(outcome.failed)} failed; "
    line += f"{outcome.rows:,} sentences in {seconds:.1f} s"
    if engine == "local" and outcome.rows:
        line += (
            f" (decoding {outcome.decoding:.1f} s, asking {outcome.asking:.1f} s, encoding {outcome.encoding:.1f} s)"
        )
    print(f"{line}. In all {end['rows']:,} sentences: {statuses or 'none'}.")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (InputError, OutputError, KeyError, TypeError, ValueError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"taproot.corpus: {text}", file=sys.stderr)
        return _WRONG
    except KeyboardInterrupt:
        print("taproot.corpus: interrupted. What is done stays; the same command goes on.", file=sys.stderr)
        return _INTERRUPTED
    except OSError as error:
        what = "there is no space left" if is_full_disk(error) else str(error)
        print(
            f"taproot.corpus: {options.output}: {what}. What is done stays; the same command goes on.", file=sys.stderr
        )
        return _SOME_FAILED


if __name__ == "__main__":
    sys.exit(main())
