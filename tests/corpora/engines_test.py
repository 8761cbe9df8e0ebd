# SPDX-License-Identifier: Apache-2.0
"""The same rows, bit for bit, from one process and from every engine, with ids that are numbers and texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from corpora import TASKS, bytes_by_id, finish, read_all, start, with_text_ids, write_corpus

from taproot import _taproot
from taproot.arrow import Task

SHARDS, ROWS = 4, 300
TASK_OPTIONS = {
    "swor": ["--task", "swor", "-k", "4", "--seed", "11"],
    "sparse": ["--task", "marginals", "--threshold", "0.02"],
    "sample of projective trees": ["--task", "sample", "-k", "3", "--seed", "11", "--projective"],
}


@pytest.fixture(scope="module", params=["numbers", "texts"])
def corpus(request: Any, tmp_path_factory: Any) -> Path:
    folder = Path(tmp_path_factory.mktemp("corpus") / request.param)
    write_corpus(folder, SHARDS, ROWS, text=request.param == "texts")
    return folder


@pytest.fixture(params=TASKS)
def task(request: Any, corpus: Path) -> Task:
    found = TASKS[request.param]
    return with_text_ids(found) if corpus.name == "texts" else found


@pytest.fixture
def expected(corpus: Path, task: Task) -> bytes:
    """By one process, in one batch."""
    (batch,) = read_all(corpus).combine_chunks().to_batches()
    found = task(batch)
    statuses = set(found.column("status").to_pylist())
    assert statuses == {"ok", "no_scores", "bad_length", "bad_score", "empty"}
    return bytes_by_id(pa.Table.from_batches([found]), task.schema)


def test_batches_and_order(corpus: Path, task: Task, expected: bytes) -> None:
    table = read_all(corpus)
    order = np.random.default_rng(0).permutation(len(table))
    for size in (1, 17, 500):
        shuffled = table.take(order).combine_chunks()
        found = pa.Table.from_batches(task.stream(shuffled.to_batches(max_chunksize=size)))
        assert bytes_by_id(found, task.schema) == expected


def test_another_seed_gives_other_bytes(corpus: Path, expected: bytes, task: Task) -> None:
    """The comparison can fail."""
    if task.operation == "marginals":
        pytest.skip("marginals have no seed")
    options = task.describe() | {"seed": 12}
    found = Task(options.pop("operation"), **options)(read_all(corpus))
    assert bytes_by_id(found, task.schema) != expected


def test_polars(corpus: Path, task: Task, expected: bytes) -> None:
    import polars as pl

    frame = pl.read_parquet(corpus / "*.parquet")
    found = pl.from_arrow(task(frame.to_arrow()))
    assert isinstance(found, pl.DataFrame)
    assert bytes_by_id(found.to_arrow(), task.schema) == expected


def test_duckdb(corpus: Path, task: Task, expected: bytes) -> None:
    import duckdb

    rows = duckdb.connect().sql(f"select * from '{corpus}/*.parquet'").to_arrow_reader(128)
    answers = pa.RecordBatchReader.from_batches(task.schema, task.stream(rows))
    found = duckdb.connect().from_arrow(answers).to_arrow_table()
    assert bytes_by_id(found, task.schema) == expected


def test_hugging_face_datasets(corpus: Path, task: Task, expected: bytes, tmp_path: Path) -> None:
    import datasets

    files = sorted(map(str, corpus.glob("*.parquet")))
    rows = datasets.Dataset.from_parquet(files, cache_dir=str(tmp_path))
    found = rows.with_format("arrow").map(task, batched=True, batch_size=77, remove_columns=["scores"])
    assert bytes_by_id(found.data.table, task.schema) == expected


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_ray_data(ray_cluster: Any, corpus: Path, task: Task, expected: bytes) -> None:
    import ray

    assert len(ray.nodes()) == 3
    found = ray.data.read_parquet(str(corpus)).map_batches(task, batch_format="pyarrow", batch_size=64)
    tables = list(found.iter_batches(batch_size=None, batch_format="pyarrow"))
    assert bytes_by_id(pa.concat_tables(tables), task.schema) == expected


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local-cluster[2,1,1024]")
    session = builder.config("spark.ui.enabled", "false").config("spark.executor.memory", "768m").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_spark(spark: Any, corpus: Path, task: Task, expected: bytes) -> None:
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = spark.read.parquet(str(corpus)).repartition(7)
    found = rows.mapInArrow(task.stream, from_arrow_schema(task.schema)).toArrow()
    assert bytes_by_id(found, task.schema) == expected


@pytest.mark.parametrize("name", TASK_OPTIONS)
@pytest.mark.parametrize("engine", ["local", "ray", "spark"])
def test_the_command(engine: str, name: str, corpus: Path, tmp_path: Path, ray_cluster: Any) -> None:
    if engine == "spark" and name != "swor":
        pytest.skip("one task is enough for a JVM of its own")
    task = with_text_ids(TASKS[name]) if corpus.name == "texts" else TASKS[name]
    address = {"ray": ["--address", ray_cluster.address], "spark": ["--address", "local-cluster[2,1,1024]"]}
    out = tmp_path / "out"
    finish(start(corpus, "-o", out, *TASK_OPTIONS[name], "--engine", engine, *address.get(engine, [])))
    whole = pa.Table.from_batches([task(b) for b in read_all(corpus).combine_chunks().to_batches()])
    assert bytes_by_id(read_all(out), task.schema) == bytes_by_id(whole, task.schema)


def test_the_hash_of_texts_is_xxh64() -> None:
    """Against the reference implementation, for every length up to several stripes."""
    data = np.random.default_rng(0).integers(0, 256, 300).astype(np.uint8)
    out = np.zeros(1, np.uint64)
    for size in range(len(data) + 1):
        _taproot.sentence_ids(data[:size], np.array([0, size], np.int64), out)
        assert int(out[0]) == xxhash.xxh64_intdigest(data[:size].tobytes())
