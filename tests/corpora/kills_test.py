# SPDX-License-Identifier: Apache-2.0
"""A node of the cluster dies, or the whole run does: the output is complete and the same, and each id is there once.

Only processes that these tests started are killed, by their ids.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from corpora import (
    bytes_by_id,
    command_of,
    done_in,
    finish,
    kill_family,
    read_all,
    start,
    wait_until_done,
    write_corpus,
)

from taproot.arrow import Task

SHARDS, ROWS, KILLS = 200, 60, 10
OPTIONS = ["--task", "swor", "-k", "100", "--seed", "3"]
TASK = Task("sample_without_replacement", k=100, seed=3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: Any) -> Path:
    folder = Path(tmp_path_factory.mktemp("corpus") / "in")
    write_corpus(folder, SHARDS, ROWS, longest=20)
    return folder


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: Any) -> Path:
    """The output of a run that nothing disturbs."""
    out = Path(tmp_path_factory.mktemp("undisturbed") / "out")
    finish(start(corpus, "-o", out, *OPTIONS))
    return out


def check(out: Path, corpus: Path, undisturbed: Path) -> None:
    found, ids = read_all(out), read_all(corpus).column("id").to_pylist()
    assert sorted(found.column("id").to_pylist()) == sorted(ids) and len(set(ids)) == SHARDS * ROWS
    assert bytes_by_id(found, TASK.schema) == bytes_by_id(read_all(undisturbed), TASK.schema)
    # Nothing but the outputs and the manifest is left, and the outputs are the same files.
    names = [f"shard{i:04}.parquet" for i in range(SHARDS)]
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", *names]
    assert all((out / name).read_bytes() == (undisturbed / name).read_bytes() for name in names)
    assert json.loads((out / "manifest.json").read_text())["complete"]


@pytest.fixture
def ray_cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield cluster
    cluster.shutdown()


def wait_for_work(raylets: list[psutil.Process], process: Any) -> psutil.Process:
    """A node that has a shard in the works at this moment."""
    while process.poll() is None:
        for raylet in raylets:
            if any("run_shard" in command_of(child) for child in raylet.children(recursive=True)):
                return raylet
    raise AssertionError("no node was at work")


def test_a_node_of_ray_dies(corpus: Path, undisturbed: Path, tmp_path: Path, ray_cluster: Any) -> None:
    nodes = [ray_cluster.add_node(num_cpus=1) for _ in range(2)]
    out = tmp_path / "out"
    process = start(corpus, "-o", out, *OPTIONS, "--engine", "ray", "--address", ray_cluster.address)
    try:
        wait_until_done(out, SHARDS // 10, process)
        raylets = [psutil.Process(node.all_processes["raylet"][0].process.pid) for node in nodes]
        raylet = wait_for_work(raylets, process)
        before = done_in(out)
        assert kill_family(raylet) > 1
        assert len(before) < SHARDS
        finish(process)
    finally:
        process.kill()
    after = done_in(out)
    assert all(after[name] == own for name, own in before.items())
    check(out, corpus, undisturbed)


def test_a_worker_of_spark_dies(corpus: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(corpus, "-o", out, *OPTIONS, "--engine", "spark", "--address", "local-cluster[2,1,1024]")
    try:
        wait_until_done(out, SHARDS // 10, process)
        family = psutil.Process(process.pid).children(recursive=True)
        executors = [p for p in family if "CoarseGrainedExecutorBackend" in command_of(p)]
        before = done_in(out)
        assert len(executors) == 2 and len(before) < SHARDS
        assert kill_family(executors[0]) > 1  # With the Python workers that it has.
        finish(process)
    finally:
        process.kill()
    check(out, corpus, undisturbed)


def kill_again_and_again(corpus: Path, out: Path, *options: Any) -> None:
    """Kills the whole run ten times, at random moments while it begins or after a random number of shards, and lets it
    end after that."""
    chance = random.Random(20)
    kept: dict[str, int] = {}
    for _ in range(KILLS):
        process = start(corpus, "-o", out, *OPTIONS, *options)
        more = chance.randrange(12)
        if more > 0:
            wait_until_done(out, len(kept) + more, process)
        time.sleep(chance.uniform(0.0, 0.03 if more > 0 else 1.0))
        assert process.poll() is None, process.communicate()[0]  # Otherwise there was nothing to kill.
        kill_family(psutil.Process(process.pid))
        process.communicate()
        done = done_in(out) if out.exists() else {}
        # What was done before is neither lost nor done again.
        assert all(done.get(name) == own for name, own in kept.items())
        kept = done
    assert 0 < len(kept) < SHARDS
    finish(start(corpus, "-o", out, *OPTIONS, *options))
    last = done_in(out)
    assert all(last[name] == own for name, own in kept.items())


def test_the_whole_run_is_killed_ten_times(corpus: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_again_and_again(corpus, out)
    check(out, corpus, undisturbed)


def test_the_driver_of_ray_is_killed_ten_times(
    corpus: Path, undisturbed: Path, tmp_path: Path, ray_cluster: Any
) -> None:
    ray_cluster.add_node(num_cpus=1)
    out = tmp_path / "out"
    kill_again_and_again(corpus, out, "--engine", "ray", "--address", ray_cluster.address)
    check(out, corpus, undisturbed)
