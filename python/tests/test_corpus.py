# SPDX-License-Identifier: Apache-2.0
"""python -m taproot.corpus on this machine: what it writes, that it goes on where it stopped, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from taproot import _corpus_ids, _corpus_inputs, _corpus_local, _corpus_output, _taproot  # noqa: E402
from taproot.arrow import Task  # noqa: E402
from taproot.corpus import main  # noqa: E402

pytestmark = pytest.mark.usefixtures("threads")  # The command sets the number of threads.
SAMPLE = ["--task", "sample", "-k", "3", "--seed", "4"]


def table_of(first: int, rows: int, **columns: Any) -> Any:
    rng = np.random.default_rng(first)
    scores = [rng.normal(0, 2, (n + 1) ** 2).astype(np.float32) for n in rng.integers(1, 12, rows)]
    scores[rows // 2][1] = np.nan
    return pa.table(
        {"id": np.arange(first, first + rows), "scores": pa.array(scores, pa.list_(pa.float32())), **columns}
    )


def write_corpus(folder: Path, shards: int = 3, rows: int = 40, text_ids: bool = False) -> list[Any]:
    folder.mkdir()
    tables = []
    for i in range(shards):
        table = table_of(i * rows, rows)
        if text_ids:
            table = table.set_column(0, "id", pa.array([f"s{i}-{j}" for j in range(rows)]))
        pq.write_table(table, folder / f"part{i}.parquet", row_group_size=15)
        tables.append(table)
    return tables


def run(*arguments: Any) -> int:
    return main([*map(str, arguments), "--quiet"])


def read(folder: Path) -> Any:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_answers_are_those_of_the_task(tmp_path: Path) -> None:
    tables = write_corpus(tmp_path / "in")
    assert run(tmp_path / "in", "-o", tmp_path / "out", *SAMPLE) == 0
    assert names_in(tmp_path / "out") == ["manifest.json", "part0.parquet", "part1.parquet", "part2.parquet"]
    task = Task("sample", k=3, seed=4)
    for i, table in enumerate(tables):
        found = pq.read_table(tmp_path / "out" / f"part{i}.parquet")
        assert found.schema.equals(task.schema) and found.equals(task(table).combine_chunks())
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["complete"] and manifest["shards"] == 3 and manifest["rows"] == 120
    assert manifest["statuses"] == {"bad_score": 3, "ok": 117}
    assert manifest["versions"]["taproot"] == taproot.__version__ and manifest["task"] == task.describe()


def test_floats_are_split_by_bytes_and_compressed(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", 1)
    assert run(tmp_path / "in", "-o", tmp_path / "out", "--task", "swor", "-k", "2") == 0
    group = pq.read_metadata(tmp_path / "out/part0.parquet").row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    for path, column in columns.items():
        assert column.compression == "ZSTD"
        assert ("BYTE_STREAM_SPLIT" in column.encodings) == (column.physical_type == "DOUBLE"), path
    assert columns["kappa"].physical_type == "DOUBLE" and "heads.list.element.list.element" in columns


def test_batches_do_not_show_in_the_output(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in")
    for name, size in (("a", 1 << 24), ("b", 3000)):
        assert run(tmp_path / "in", "-o", tmp_path / name, "--task", "marginals", "--batch-bytes", size) == 0
    assert read(tmp_path / "a").equals(read(tmp_path / "b"))


def test_parquet_and_arrow_files(tmp_path: Path) -> None:
    tables = write_corpus(tmp_path / "in")
    (tmp_path / "ipc").mkdir()
    for i, table in enumerate(tables):
        with pa.OSFile(str(tmp_path / f"ipc/part{i}.arrow"), "wb") as file:
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=7)
    assert run(tmp_path / "in", "-o", tmp_path / "a", *SAMPLE) == 0
    assert run(tmp_path / "ipc", "-o", tmp_path / "b", *SAMPLE, "--batch-bytes", 2000) == 0
    assert read(tmp_path / "a").equals(read(tmp_path / "b"))


@pytest.mark.parametrize("layout", ["flat", "padded", "single"])
def test_npz_files_are_one_list_of_sentences(tmp_path: Path, layout: str) -> None:
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(n + 1, n + 1)) for n in (3, 5, 1, 7, 4)]
    for i, part in enumerate((scores[:2], scores[2:])):
        path = tmp_path / f"p{i}.npz"
        if layout == "flat":
            taproot.save_scores(path, part)
        elif layout == "single":
            np.savez(path, *part)
        else:
            padded = np.full((len(part), 9, 9), np.nan)
            for row, m in zip(padded, part):
                row[: len(m), : len(m)] = m
            np.savez(path, scores=padded, lengths=[len(m) - 1 for m in part])
    files = [tmp_path / "p0.npz", tmp_path / "p1.npz"]
    assert run(*files, "-o", tmp_path / "out", *SAMPLE, "--batch-bytes", 300) == 0
    found = read(tmp_path / "out")
    assert found.column("id").to_pylist() == [0, 1, 2, 3, 4]
    for i, matrix in enumerate(scores):
        expected = taproot.DependencyTrees(matrix, ids=i).sample(3, seed=4).tolist()
        assert found.column("heads")[i].as_py() == expected


def test_a_run_goes_on_where_another_stopped(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in")
    out = tmp_path / "out"
    assert run(tmp_path / "in", "-o", out, *SAMPLE) == 0
    before, whole = {p.name: p.stat().st_ino for p in out.iterdir()}, read(out)
    (out / "part1.parquet").unlink()
    lost = out / ".running" / f"{socket.gethostname()}-999999999"
    lost.mkdir(parents=True)
    (lost / "part1.parquet.0").write_bytes(b"half")
    assert run(tmp_path / "in", "-o", out, *SAMPLE) == 0
    assert read(out).equals(whole) and not (out / ".running").exists()
    after = {p.name: p.stat().st_ino for p in out.iterdir()}
    assert [before[f"part{i}.parquet"] == after[f"part{i}.parquet"] for i in (0, 2)] == [True, True]
    # More shards may come later.
    pq.write_table(table_of(1000, 5), tmp_path / "in/part3.parquet")
    assert run(tmp_path / "in", "-o", out, *SAMPLE) == 0
    assert read(out).num_rows == 125


def test_options_reach_the_task(tmp_path: Path) -> None:
    scores = [np.random.default_rng(i).normal(size=16) for i in range(3)]
    table = pa.table({"key": ["x", "y", "z"], "s": scores, "w": [[1], None, [2, 3]], "text": ["a", "b", "c"]})
    pq.write_table(table, tmp_path / "in.parquet")
    options = ["--id", "key", "--scores", "s", "--roots", "w", "--keep", "text", "--root", "multi", "--projective"]
    assert run(tmp_path / "in.parquet", "-o", tmp_path / "out", "--task", "kbest", "-k", 4, *options) == 0
    task = Task(
        "kbest",
        k=4,
        id="key",
        id_type="string",
        scores="s",
        roots="w",
        keep=[pa.field("text", pa.string())],
        root="multi",
        projective=True,
    )
    assert read(tmp_path / "out").equals(task(table))


def refused(capsys: Any, code: int, *arguments: Any) -> str:
    assert run(*arguments) == code
    return str(capsys.readouterr().err)


def test_folders_that_are_not_ours(tmp_path: Path, capsys: Any) -> None:
    write_corpus(tmp_path / "in")
    out = tmp_path / "out"
    assert run(tmp_path / "in", "-o", out, *SAMPLE) == 0
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    text = refused(capsys, 2, tmp_path / "in", "-o", out, "--task", "sample", "-k", 3, "--seed", 5)
    assert "belongs to another task: seed is 4 there and 5 here" in text
    pq.write_table(table_of(0, 40), tmp_path / "in/part1.parquet", compression="none")
    assert "part1.parquet is not the input" in refused(capsys, 2, tmp_path / "in", "-o", out, *SAMPLE)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"versions": {"taproot": "0.0.1"}}))
    assert "begun with Taproot 0.0.1" in refused(capsys, 2, tmp_path / "in", "-o", out, *SAMPLE)
    (out / "manifest.json").write_text("{}")
    assert "is not a manifest" in refused(capsys, 2, tmp_path / "in", "-o", out, *SAMPLE)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.txt").write_text("mine")
    assert "has files but no manifest.json" in refused(capsys, 2, tmp_path / "in", "-o", tmp_path / "other", *SAMPLE)
    assert names_in(tmp_path / "other") == ["thesis.txt"]
    assert "is not a folder" in refused(capsys, 2, tmp_path / "in", "-o", tmp_path / "other/thesis.txt", *SAMPLE)


def test_ids_that_occur_twice(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    write_corpus(tmp_path / "in")
    pq.write_table(table_of(35, 10), tmp_path / "in/part9.parquet")
    for part in (1 << 18, 16):  # In memory, and sorted into files first.
        monkeypatch.setattr(_corpus_ids, "_PART", part)
        text = refused(capsys, 2, tmp_path / "in", "-o", tmp_path / f"out{part}", *SAMPLE)
        assert "10 ids occur more than once" in text
        assert "35 is row 35 of " in text and "part0.parquet and row 0 of " in text and "part9.parquet" in text
        assert list((tmp_path / f"out{part}").iterdir()) == []
    assert run(tmp_path / "in", "-o", tmp_path / "unchecked", *SAMPLE, "--no-id-check") == 0


def test_texts_with_one_hash_are_two_ids(tmp_path: Path, monkeypatch: Any) -> None:
    """As if the hashes of two texts, each of which occurs once, were those that occur twice."""
    write_corpus(tmp_path / "in", text_ids=True)
    ids, texts = np.zeros(2, np.uint64), np.frombuffer(b"s0-0s1-1", np.uint8)
    _taproot.sentence_ids(texts, np.array([0, 4, 8]), ids)
    monkeypatch.setattr(_corpus_ids, "_repeated_keys", lambda *_: ids)
    assert run(tmp_path / "in", "-o", tmp_path / "out", *SAMPLE) == 0
    assert read(tmp_path / "out").column("id").to_pylist()[0] == "s0-0"


def test_a_file_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    task = Task("log_partition")
    answers = task(table_of(0, 10)).to_batches()[0]
    writer = _corpus_output.ShardWriter(str(tmp_path), "run", "part.parquet", task.schema, {})
    for _ in range(3):
        writer.write(answers)
        assert not (tmp_path / "part.parquet").exists()
    writer.finish()
    assert pq.read_table(tmp_path / "part.parquet").num_rows == 30
    other = _corpus_output.ShardWriter(str(tmp_path), "run", "other.parquet", task.schema, {})
    other.write(answers)
    other.discard()
    assert not (tmp_path / "other.parquet").exists() and list((tmp_path / ".running/run").iterdir()) == []


def test_a_worker_does_not_do_a_shard_again(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", 1)
    shard = _corpus_inputs.inspect(str(tmp_path / "in/part0.parquet"))
    job = _corpus_local.Job(Task("log_partition"), str(tmp_path / "out"), "run", {}, 1 << 20)
    first = _corpus_local.run_shard(job, shard)
    made = (tmp_path / "out/part0.parquet").stat().st_ino
    assert _corpus_local.run_shard(job, shard) == first == (shard.path, 40, None)
    assert (tmp_path / "out/part0.parquet").stat().st_ino == made


def test_few_batches_are_in_memory() -> None:
    """A slow writer holds up the reader, whatever the number of batches."""
    made = written = most = 0

    class Writer:
        rows = 0

        def write(self, batch: Any) -> None:
            nonlocal written
            written += 1
            time.sleep(0.002)

        def finish(self) -> None:
            pass

    class CountingJob(_corpus_local.Job):
        def read(self, shard: Any) -> Any:
            nonlocal made, most
            for _ in range(50):
                made += 1
                most = max(most, made - written)
                yield batch

        def writer(self, shard: Any) -> Any:
            return Writer()

    (batch,) = table_of(0, 2).combine_chunks().to_batches()
    shards = [_corpus_inputs.Shard(f"{i}", f"{i}", "parquet", 0, 100) for i in range(4)]
    job = CountingJob(Task("log_partition", threads=1), "", "", {}, 1)
    outcome = _corpus_local.run_local(job, shards, lambda *_: None, 2)
    assert outcome.done == 4 and made == written == 200
    assert 2 < most < 14


def test_inputs_that_are_broken(tmp_path: Path, capsys: Any) -> None:
    """Their shards fail, with a message, the others are done, and a later run makes up for it."""
    write_corpus(tmp_path / "in", 4)
    whole = tmp_path / "whole"
    assert run(tmp_path / "in", "-o", whole, *SAMPLE) == 0
    cut, torn = tmp_path / "in/part1.parquet", tmp_path / "in/part2.parquet"
    good = {path: path.read_bytes() for path in (cut, torn)}
    cut.write_bytes(good[cut][: len(good[cut]) // 2])
    start = pq.read_metadata(torn).row_group(2).column(1).data_page_offset  # The header of a page.
    torn.write_bytes(good[torn][:start] + b"\xff" * 20 + good[torn][start + 20 :])
    text = refused(capsys, 1, tmp_path / "in", "-o", tmp_path / "out", *SAMPLE, "--no-id-check")
    assert f"{cut} cannot be read" in text and f"{torn} cannot be read" in text
    assert names_in(tmp_path / "out") == ["manifest.json", "part0.parquet", "part3.parquet"]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["complete"] is False and list(manifest["failed"]) == [str(torn), str(cut)]
    torn.write_bytes(good[torn])
    assert run(tmp_path / "in", "-o", tmp_path / "out", *SAMPLE) == 1  # The other is still cut off.
    assert json.loads((tmp_path / "out/manifest.json").read_text())["complete"] is False
    for path, data in good.items():
        path.write_bytes(data)
    assert run(tmp_path / "in", "-o", tmp_path / "out", *SAMPLE) == 0
    assert read(tmp_path / "out").equals(read(whole))


def test_shards_that_are_not_like_the_first(tmp_path: Path, capsys: Any) -> None:
    write_corpus(tmp_path / "in")
    pq.write_table(pa.table({"id": [900], "scores": ["text"]}), tmp_path / "in/part5.parquet")
    pq.write_table(pa.table({"id": [901], "score": [[0.0]]}), tmp_path / "in/part6.parquet")
    text = refused(capsys, 1, tmp_path / "in", "-o", tmp_path / "out", *SAMPLE)
    assert "part5.parquet: the column 'scores' must have lists" in text
    assert "part6.parquet has no column 'scores'; it has 'id', 'score'" in text
    assert names_in(tmp_path / "out") == ["manifest.json", "part0.parquet", "part1.parquet", "part2.parquet"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1]}, "no column 'scores'; it has 'id'"),
        ({"scores": [[0.0]]}, "no column 'id'"),
        ({"id": [1.5], "scores": [[0.0]]}, "'id' must have ids of type string, not double"),
        ({"id": [1], "scores": [1.0]}, "'scores' must have lists"),
    ],
)
def test_wrong_columns(tmp_path: Path, capsys: Any, columns: Any, message: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    assert message in refused(capsys, 2, tmp_path / "in.parquet", "-o", tmp_path / "out", *SAMPLE)
    assert not (tmp_path / "out").exists()


def test_wrong_inputs(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "text.parquet").write_text("hello, world")
    (tmp_path / "empty").mkdir()
    options = ["-o", tmp_path / "out", *SAMPLE]
    assert "is not a Parquet file" in refused(capsys, 2, tmp_path / "text.parquet", *options)
    assert "No such file" in refused(capsys, 2, tmp_path / "none.parquet", *options)
    assert "is a folder without" in refused(capsys, 2, tmp_path / "empty", *options)
    np.savez(tmp_path / "bad.npz", scores=np.zeros(10), lengths=[1, 1])
    assert "do not add up to the 10 scores" in refused(capsys, 2, tmp_path / "bad.npz", *options)
    taproot.save_scores(tmp_path / "good.npz", np.zeros((2, 3, 3)))
    write_corpus(tmp_path / "in")
    assert "must all be .npz" in refused(capsys, 2, tmp_path / "good.npz", tmp_path / "in", *options)
    (tmp_path / "in2").mkdir()
    (tmp_path / "in2/part1.parquet").write_bytes((tmp_path / "in/part1.parquet").read_bytes())
    text = refused(capsys, 2, tmp_path / "in", tmp_path / "in2", *options)
    assert "would both be written to part1.parquet" in text
    assert "takes no k" in refused(capsys, 2, tmp_path / "in", "-o", tmp_path / "out", "--task", "logz", "-k", 3)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    write_corpus(tmp_path / "in")
    out = tmp_path / "out"
    begun = []

    def full(path: Path, mode: str) -> Any:
        begun.append(path)
        return open("/dev/full" if len(begun) == 2 else path, "wb", buffering=0)

    monkeypatch.setattr(_corpus_output, "open", full, raising=False)
    assert "there is no space left" in refused(capsys, 1, tmp_path / "in", "-o", out, *SAMPLE)
    assert len(begun) == 2 and names_in(out) == ["manifest.json", "part0.parquet"]
    monkeypatch.undo()
    assert run(tmp_path / "in", "-o", out, *SAMPLE) == 0
    assert names_in(out) == ["manifest.json", "part0.parquet", "part1.parquet", "part2.parquet"]


def test_control_c(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", shards=60, rows=400)
    # A process that was started in the background ignores SIGINT, and so do its children unless they undo that.
    start = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('taproot.corpus', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", start, tmp_path / "in", "-o", tmp_path / "out", "--progress"]
    command += ["--task", "swor", "-k", "200"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "out/part0.parquet").exists() and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "interrupted. What is done stays" in text
    assert "Traceback" not in text and "/60 shards" in text and "sentences" in text
    done = names_in(tmp_path / "out")
    assert 2 <= len(done) < 61 and done[0] == "manifest.json"  # And nothing that was written aside.
    for name in done[1:]:
        assert pq.read_table(tmp_path / "out" / name).num_rows == 400


def test_the_summary(tmp_path: Path, capsys: Any) -> None:
    write_corpus(tmp_path / "in")
    assert main([str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--task", "logz"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("3 shards done, 0 were there, 0 failed; 120 sentences in ")
    assert shown.out.endswith("In all 120 sentences: 3 bad_score, 117 ok.\n") and shown.err == ""
    assert main([str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--task", "logz"]) == 0
    assert capsys.readouterr().out.startswith("0 shards done, 3 were there, 0 failed; ")
