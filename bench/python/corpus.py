# SPDX-License-Identifier: Apache-2.0
"""Corpora: makes one to measure with, and compares taproot.arrow with the same work by a C++ caller (bench_corpus).

usage: corpus.py make DIR --sentences N [--words N] [--shards N] [--layout list|binary|arrow] [--random]
       corpus.py rate DIR BENCH_CORPUS [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from taproot._corpus_inputs import batches_of, inspect
from taproot.arrow import Task


def scores_of(rng: Any, sentences: int, n: int, uncertain: bool) -> np.ndarray:
    """Scores like a trained parser's: noise, and 8 more for the edges of a tree, so that 1.9 edges per word have a
    probability of 0.01 or more (1.7 in the scores of data/en_ewt.npz). `uncertain` leaves the tree out, and doubles
    the noise."""
    found = rng.standard_normal((sentences, n + 1, n + 1), dtype=np.float32) * np.float32(2 if uncertain else 1.5)
    if uncertain:
        return found
    order = np.argsort(rng.random((sentences, n)), axis=1) + 1
    earlier = (rng.random((sentences, n)) * np.arange(n)).astype(np.int64)
    heads = np.take_along_axis(order, earlier, axis=1)
    heads[:, 0] = 0
    found[np.arange(sentences)[:, None], heads, order] += 8
    return found


def make(options: argparse.Namespace) -> None:
    folder, n = Path(options.folder), options.words
    folder.mkdir(parents=True)
    cells = (n + 1) ** 2
    for shard in range(options.shards):
        first, end = (options.sentences * i // options.shards for i in (shard, shard + 1))
        values = scores_of(np.random.default_rng(shard), end - first, n, options.random).ravel()
        offsets = np.arange(end - first + 1, dtype=np.int32) * cells
        scores: Any = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
        encoding: dict[str, Any] = {
            "compression": "zstd",
            "column_encoding": {"scores.list.element": "BYTE_STREAM_SPLIT"},
        }
        if options.layout == "binary":
            buffers = [None, pa.py_buffer(offsets * 4), pa.py_buffer(values)]
            scores = pa.Array.from_buffers(pa.binary(), end - first, buffers)
            encoding = {"compression": "none"}
        table = pa.table({"id": np.arange(first, end), "scores": scores})
        if options.layout == "arrow":
            with (
                pa.OSFile(str(folder / f"{shard:05}.arrow"), "wb") as file,
                pa.ipc.new_file(file, table.schema) as writer,
            ):
                writer.write_table(table, max_chunksize=4096)
        else:
            pq.write_table(table, folder / f"{shard:05}.parquet", row_group_size=8192, use_dictionary=False, **encoding)


def rate(options: argparse.Namespace) -> None:
    """Rounds in which both take their turn, because other programs may be at work."""
    shards = [inspect(str(path)) for path in sorted(Path(options.folder).iterdir())]
    batches = [b for shard in shards for b in batches_of(shard, ["id", "scores"], "id", "scores", 1 << 24)]
    rows = sum(map(len, batches))
    tasks = {
        "sample": Task("sample", k=10, seed=1, threads=1),
        "marginals": Task("marginals", threshold=0.01, threads=1),
    }
    cores = ThreadPoolExecutor(os.cpu_count())  # Each asks about batches of its own, as taproot.corpus does it.
    times: dict[str, list[tuple[float, float]]] = {f"{what} {who}": [] for what in tasks for who in ("C++", "Task")}
    with tempfile.NamedTemporaryFile() as file:
        for batch in batches:
            batch.column("scores").values.to_numpy().tofile(file)
        file.flush()
        n = round(np.sqrt(len(batches[0].column("scores")[0]))) - 1
        for _ in range(options.rounds):
            ours = [run_cpp(options.bench, file.name, n, size) for size in (1024, 8192)]
            for i, what in enumerate(tasks):
                times[f"{what} C++"].append(min(own[i] for own in ours))
                begin, cpu = time.perf_counter(), time.process_time()
                for _ in cores.map(tasks[what], batches):
                    pass
                taken = time.perf_counter() - begin, time.process_time() - cpu
                times[f"{what} Task"].append((taken[0] / rows * 1e6, taken[1] / rows * 1e6))
    columns = ["us per sentence", "C++", "taproot.arrow", "share of the rate", "by processor time"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for what in tasks:
        for name, of_rounds in (("median", statistics.median), ("best", min)):
            (ours, our_cpu), (theirs, their_cpu) = (
                [of_rounds(column) for column in zip(*times[f"{what} {who}"])] for who in ("C++", "Task")
            )
            shares = f"{ours / theirs:.0%} | {our_cpu / their_cpu:.0%}"
            print(f"| {what}, {name} of {options.rounds} | {ours:.2f} | {theirs:.2f} | {shares} |")


def run_cpp(program: str, file: str, n: int, batch: int) -> list[tuple[float, float]]:
    found = subprocess.run([program, file, str(n), str(batch)], check=True, capture_output=True, text=True).stdout
    a, b, c, d = map(float, found.split())
    return [(a, b), (c, d)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("folder")
    making.add_argument("--sentences", type=int, required=True)
    making.add_argument("--words", type=int, default=25)
    making.add_argument("--shards", type=int, default=10)
    making.add_argument("--layout", choices=["list", "binary", "arrow"], default="list")
    making.add_argument("--random", action="store_true")
    making.set_defaults(run=make)
    rating = commands.add_parser("rate")
    rating.add_argument("folder")
    rating.add_argument("bench")
    rating.add_argument("--rounds", type=int, default=9)
    rating.set_defaults(run=rate)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
