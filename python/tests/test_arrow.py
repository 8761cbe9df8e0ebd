# SPDX-License-Identifier: Apache-2.0
"""taproot.arrow: answers are those of DependencyTrees, read in place, and a row is the same wherever it stands."""

from __future__ import annotations

import ctypes
import doctest
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import taproot

pa = pytest.importorskip("pyarrow")
from taproot.arrow import Task  # noqa: E402

OPERATIONS: dict[str, dict[str, Any]] = {
    "log_partition": {},
    "entropy": {},
    "marginals": {},
    "sparse": {"threshold": 0.1},
    "argmax": {},
    "mbr": {},
    "sample": {"k": 5, "seed": 3},
    "sample_without_replacement": {"k": 4, "seed": 3},
    "kbest": {"k": 4},
}
LENGTHS = [3, 5, 2, 1, 9, 4, 30, 7]


def task_of(name: str, **options: Any) -> Task:
    return Task("marginals" if name == "sparse" else name, **OPERATIONS[name], **options)  # type: ignore[arg-type]


def matrices(seed: int = 0, dtype: Any = np.float64, lengths: list[int] = LENGTHS) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 2, (n + 1, n + 1)).astype(dtype) for n in lengths]


def batch_of(scores: list[Any], ids: Any = None, kind: Any = None, **columns: Any) -> Any:
    ids = [100 + 7 * i for i in range(len(scores))] if ids is None else ids
    flat = [None if s is None else np.ravel(s) for s in scores]
    return pa.record_batch({"id": ids, "scores": pa.array(flat, kind or pa.list_(pa.float64())), **columns})


def trees_of(scores: list[Any], batch: Any, **options: Any) -> taproot.DependencyTrees:
    return taproot.DependencyTrees(scores, ids=batch.column("id").to_numpy(), **options)


def answers(name: str, d: taproot.DependencyTrees, scores: list[Any]) -> list[dict[str, Any]]:
    """What the task should give, by the methods of DependencyTrees, row by row."""
    found: list[dict[str, Any]] = []
    for b, matrix in enumerate(scores):
        own, n = d[b], len(matrix) - 1
        row: dict[str, Any] = {}
        if name == "log_partition":
            row = {"n": n, "log_partition": own.log_partition()}
        elif name == "entropy":
            row = {"n": n, "entropy": own.entropy()}
        elif name == "marginals":
            row = {"n": n, "marginals": own.marginals().ravel().tolist()}
        elif name == "sparse":
            p = own.marginals()
            modifiers, heads = np.nonzero(p.T >= 0.1)
            row = {"n": n, "head": heads.tolist(), "modifier": modifiers.tolist()}
            row["probability"] = p[heads, modifiers].tolist()
        elif name in ("argmax", "mbr"):
            heads = getattr(own, name)()
            row = {"heads": heads.tolist(), "log_prob": own.log_prob(heads)}
        elif name == "sample":
            heads = own.sample(5, seed=3)
            row = {"heads": heads.tolist(), "log_prob": own.log_prob(heads).tolist()}
        elif name == "sample_without_replacement":
            s = own.sample_without_replacement(4, seed=3)
            row = {"heads": s.heads.tolist(), "log_prob": s.log_prob.tolist(), "gumbel": s.gumbel.tolist()}
            row |= {"weight": s.weights.tolist(), "kappa": s.kappa, "exhausted": s.exhausted}
        else:
            best = own.kbest(4)
            row = {"heads": best.heads.tolist(), "score": best.score.tolist(), "exhausted": len(own.kbest(5).heads) < 5}
        found.append(row)
    return found


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_answers_are_those_of_dependency_trees(name: str, root: Any, projective: bool) -> None:
    scores = matrices()
    batch = batch_of(scores)
    task = task_of(name, root=root, projective=projective)
    found = task(batch)
    found.validate(full=True)
    assert found.schema == task.schema and found.schema.names[:2] == ["id", "status"]
    assert found.column("status").to_pylist() == ["ok"] * len(scores)
    expected = answers(name, trees_of(scores, batch, root=root, projective=projective), scores)
    for row, wanted in zip(found.to_pylist(), expected, strict=True):
        for column, value in wanted.items():
            if column in ("log_prob", "probability", "marginals"):
                np.testing.assert_allclose(row[column], value, rtol=1e-12, atol=1e-15)
            else:
                assert row[column] == value, column


@pytest.mark.parametrize("name", OPERATIONS)
def test_rows_do_not_depend_on_the_batch_they_are_in(name: str) -> None:
    scores = matrices(lengths=LENGTHS * 4)
    batch = batch_of(scores)
    task = task_of(name)
    whole = pa.Table.from_batches([task(batch)])
    for size in (1, 3, 7, 31):
        parts = [batch.slice(i, size) for i in range(0, len(scores), size)]
        assert pa.Table.from_batches(task.stream(parts)).equals(whole)
    order = np.random.default_rng(1).permutation(len(scores))
    shuffled = pa.Table.from_batches([task(batch.take(pa.array(order)))])
    assert not shuffled.equals(whole)
    assert shuffled.sort_by("id").equals(whole)


def test_a_seed_and_an_id_name_the_trees() -> None:
    """That rows are the same in every batch would also hold if samples did not depend on ids or seeds at all."""
    scores = [np.zeros((9, 9))] * 2
    first, second = Task("sample", k=20, seed=1)(batch_of(scores, [5, 6])).column("heads").to_pylist()
    assert first != second
    other = Task("sample", k=20, seed=2)(batch_of(scores, [5, 6])).column("heads").to_pylist()
    assert first != other[0]
    negative = Task("sample", k=20, seed=1)(batch_of(scores, [-5, 6])).column("heads").to_pylist()
    expected = taproot.DependencyTrees(scores[0], ids=2**64 - 5).sample(20, seed=1).tolist()
    assert negative == [expected, second]


def test_ids_that_are_strings() -> None:
    # XXH64 of these, by its reference implementation; tests/unit/core/sentence_id_test.cc has more.
    known = {"": 0xEF46DB3751D8E999, "a": 0xD24EC4F1A98C6E5B, "abc": 0x44BC2CF5AD770999}
    scores = [np.zeros((9, 9))] * 3
    task = Task("sample", k=10, seed=1, id_type="string")
    plain = batch_of(scores, list(known))
    found = task(plain)
    assert found.schema.field("id").type == pa.string() and found.column("id").to_pylist() == list(known)
    for heads, key in zip(found.column("heads").to_pylist(), known.values(), strict=True):
        assert heads == taproot.DependencyTrees(scores[0], ids=key).sample(10, seed=1).tolist()
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        other = plain.set_column(0, "id", pa.array(list(known), pa.string()).cast(kind))
        assert task(other).equals(found)
    assert task(plain.slice(1)).equals(found.slice(1))


def bad_rows() -> tuple[Any, list[str]]:
    good = matrices(lengths=[6])[0]
    nan, forbidden, infinite = good.copy(), good.copy(), good.copy()
    nan[2, 3], infinite[1, 2] = np.nan, np.inf
    forbidden[:, 4] = -np.inf
    rows: list[tuple[Any, Any, str]] = [
        (1, good, "ok"),
        (None, good, "no_id"),
        (2, None, "no_scores"),
        (3, good.ravel()[:-1], "bad_length"),
        (4, good, "ok"),
        (5, nan, "bad_score"),
        (6, forbidden, "no_tree"),
        (7, infinite, "bad_score"),
        (8, [], "empty"),
        (9, [0.0], "empty"),
        (10, [1.0, 2.0], "bad_length"),
        (11, good, "ok"),
        (None, None, "no_id"),
    ]
    batch = batch_of([row[1] for row in rows], pa.array([row[0] for row in rows]))
    return batch, [row[2] for row in rows]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_bad_row_has_a_status_and_nulls_and_stops_nothing(name: str) -> None:
    batch, statuses = bad_rows()
    task = task_of(name)
    found = task(batch)
    found.validate(full=True)
    assert found.column("status").to_pylist() == statuses
    good = [i for i, status in enumerate(statuses) if status == "ok"]
    for column in found.schema.names[2:]:
        is_valid = found.column(column).is_valid().to_pylist()
        assert [i for i, valid in enumerate(is_valid) if valid] == good, column
    assert found.take(pa.array(good)).equals(task(batch.take(pa.array(good))))


def test_a_null_among_the_scores_is_a_bad_score() -> None:
    values = [0.0] * 9
    batch = batch_of([values, values, values])
    scores = pa.array([values, [*values[:4], None, *values[5:]], values])
    found = Task("log_partition")(batch.set_column(1, "scores", scores))
    assert found.column("status").to_pylist() == ["ok", "bad_score", "ok"]
    nested = pa.array([[[0.0, 1.0], [2.0, 3.0]], [[0.0, 1.0], None], [[0.0, 1.0, 2.0], [3.0]]])
    found = Task("log_partition")(batch.set_column(1, "scores", nested))
    assert found.column("status").to_pylist() == ["ok", "bad_length", "bad_length"]


def column_types() -> dict[str, Any]:
    square = matrices(dtype=np.float32, lengths=[4] * 6)
    flat = [m.ravel() for m in square]
    lists = pa.array(flat, pa.list_(pa.float32()))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(flat)), 25)
    ends = np.arange(0, 151, 25, dtype=np.int64)
    shapes = pa.FixedSizeListArray.from_arrays(pa.array([5, 5] * 6, pa.int32()), 2)
    binary = pa.array([m.tobytes() for m in square], pa.binary())
    return {
        "list": lists,
        "binary": binary,
        "large binary": binary.cast(pa.large_binary()),
        "large_list": lists.cast(pa.large_list(pa.float32())),
        "fixed_size_list": fixed,
        "float64": lists.cast(pa.list_(pa.float64())),
        "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.stack(square)),
        "lists of lists": pa.array([m.tolist() for m in square], pa.list_(pa.list_(pa.float32()))),
        "fixed lists of lists": pa.array([m.tolist() for m in square], pa.list_(pa.list_(pa.float32(), 5), 5)),
        "variable tensors": pa.StructArray.from_arrays(
            [pa.LargeListArray.from_arrays(pa.array(ends), pa.array(np.concatenate(flat))), shapes], ["data", "shape"]
        ),
    }


@pytest.mark.parametrize("name", column_types())
def test_every_type_of_scores_is_read_in_place(name: str) -> None:
    columns = column_types()
    batch = batch_of([[0.0]] * 6).set_column(1, "scores", columns["list"])
    task = Task("sample", k=3)
    expected = task(batch)
    array = columns[name]
    other = batch.set_column(1, "scores", array)
    assert task(other).equals(expected)
    for part in (slice(2, 5), slice(0, 0), slice(5, 6)):
        size = part.stop - part.start
        assert task(other.slice(part.start, size)).equals(expected.slice(part.start, size))
    # Numbers that change between two questions of the same rows change the answers, also in a slice.
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    data = next(b for b in reversed(storage.buffers()) if b is not None and b.size >= 6 * 25 * 4)
    if name == "variable tensors":
        data = storage.field("data").values.buffers()[1]
    number = ctypes.c_double if name == "float64" else ctypes.c_float
    memory = np.ctypeslib.as_array((number * (6 * 25)).from_address(data.address)).reshape(6, 5, 5)
    for first in (0, 2):
        rows = task._read(other.slice(first, 3))[2]
        for _ in range(2):
            expected = taproot.DependencyTrees(memory[first : first + 3]).log_partition()
            np.testing.assert_allclose(rows.log_partition(), expected, rtol=1e-14)
            memory *= 0.5


def test_an_array_with_offsets_in_its_values_is_read_in_place() -> None:
    memory = np.arange(100.0)
    values = pa.Array.from_buffers(pa.float64(), 100, [None, pa.py_buffer(memory)]).slice(7)
    lists = pa.ListArray.from_arrays(pa.array([1, 10, 14], pa.int32()), values)
    batch = pa.record_batch({"id": [1, 2], "scores": lists})
    task = Task("log_partition")
    rows = task._read(batch)[2]
    for _ in range(2):
        parts = memory[8:17].reshape(3, 3), memory[17:21].reshape(2, 2)
        expected = [taproot.DependencyTrees(part).log_partition() for part in parts]
        assert rows.log_partition().tolist() == task(batch).column("log_partition").to_pylist() == expected
        memory *= 0.5


def test_binary_rows_that_are_not_float32() -> None:
    good = np.zeros((3, 3), np.float32).tobytes()
    scores = pa.array([good, good[:-3], good, None, good + b"x" * 28], pa.binary())
    batch = pa.record_batch({"id": [1, 2, 3, 4, 5], "scores": scores})
    found = Task("log_partition")(batch)
    assert found.column("status").to_pylist() == ["ok", "bad_length", "ok", "no_scores", "bad_score"]
    assert found.column("log_partition").to_pylist()[:3] == [pytest.approx(np.log(2)), None, pytest.approx(np.log(2))]
    assert Task("log_partition")(batch.slice(2, 2)).equals(found.slice(2, 2))


def test_float16() -> None:
    narrow = matrices(dtype=np.float16)
    found = Task("log_partition")(batch_of(narrow, kind=pa.list_(pa.float16())))
    expected = Task("log_partition")(batch_of([m.astype(np.float64) for m in narrow]))
    assert found.equals(expected)
    assert Task("log_partition")(batch_of(narrow, kind=pa.list_(pa.float16())).slice(3, 2)).equals(expected.slice(3, 2))


def labels_of(scores: list[np.ndarray], count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.normal(size=(*m.shape, count)).astype(np.float32) for m in scores]


def test_labels() -> None:
    scores = matrices(lengths=[3, 6, 4])
    labels = labels_of(scores, 3)
    column = pa.array([*(m.ravel() for m in labels), None, labels[0].ravel()[:-1]], pa.list_(pa.float32()))
    batch = batch_of([*scores, scores[0], scores[0]], labels=column)
    options: dict[str, Any] = {"label_scores": "labels", "label_count": 3}
    d = trees_of(scores, batch.slice(0, 3), label_scores=labels)
    found = Task("sample", k=4, seed=3, **options)(batch)
    assert found.column("status").to_pylist() == ["ok", "ok", "ok", "bad_labels", "bad_labels"]
    for b in range(3):
        sampled = d[b].sample(4, seed=3)
        assert found.column("heads")[b].as_py() == sampled.heads.tolist()
        assert found.column("labels")[b].as_py() == sampled.labels.tolist()
        np.testing.assert_allclose(found.column("log_prob")[b].as_py(), d[b].log_prob(sampled), rtol=1e-12)
    best = Task("argmax", **options)(batch)
    assert best.column("labels").to_pylist()[:3] == [d[b].argmax().labels.tolist() for b in range(3)]
    for name in ("mbr", "sample_without_replacement", "kbest"):
        assert task_of(name, **options)(batch).column("labels")[1].as_py() is not None
    sparse = Task("marginals", threshold=0.05, **options)(batch)
    for b in range(3):
        p = d[b].label_marginals()
        m, h, l = np.nonzero(np.moveaxis(p, 1, 0) >= 0.05)
        row = sparse.slice(b, 1).to_pylist()[0]
        assert (row["head"], row["modifier"], row["label"]) == (h.tolist(), m.tolist(), l.tolist())
        np.testing.assert_allclose(row["probability"], p[h, m, l], rtol=1e-12)
    dense = Task("marginals", **options)(batch).column("marginals")[1].as_py()
    np.testing.assert_allclose(dense, d[1].marginals().ravel(), rtol=1e-12, atol=1e-15)


def test_a_single_label() -> None:
    scores = matrices(lengths=[3, 6])
    batch = batch_of(scores, labels=pa.array([np.zeros(m.size) for m in scores], pa.list_(pa.float64())))
    found = Task("marginals", threshold=0.01, label_scores="labels", label_count=1)(batch)
    for row in found.to_pylist():
        assert row["label"] == [0] * len(row["head"]) and len(row["head"]) >= 3


def test_constraints() -> None:
    scores = [matrices(lengths=[5])[0]] * 7
    edges = pa.list_(pa.struct([("head", pa.int32()), ("modifier", pa.int64())]))
    edge = lambda h, m: {"head": h, "modifier": m}
    batch = batch_of(
        scores,
        force=pa.array([[edge(2, 1), edge(0, 2)], None, None, None, [edge(9, 1)], [edge(-1, 1)], []], edges),
        forbid=pa.array([None, [edge(0, 3), edge(0, 2)], None, None, None, None, None], edges),
        roots=pa.array([None, None, [4], None, None, None, []]),
        partial=pa.array([None, None, None, [2, None, -1, 3, None], None, None, None]),
    )
    names: dict[str, Any] = {"force": "force", "forbid": "forbid", "roots": "roots", "partial_tree": "partial"}
    found = Task("kbest", k=5, **names)(batch)
    assert found.column("status").to_pylist() == ["ok"] * 4 + ["bad_constraint"] * 2 + ["no_tree"]
    constraints = [
        taproot.Constraints().force(2, 1).force(0, 2),
        taproot.Constraints().forbid(0, 3).forbid(0, 2),
        taproot.Constraints().allow_roots([4]),
        taproot.Constraints().force_partial_tree([2, -1, -1, 3, -1]),
    ]
    for b, own in enumerate(constraints):
        best = taproot.DependencyTrees(scores[b], constraints=own).kbest(5)
        assert found.column("heads")[b].as_py() == best.heads.tolist()
        assert found.column("score")[b].as_py() == best.score.tolist()
    free = Task("kbest", k=5)(batch).column("heads").to_pylist()
    assert all(found.column("heads")[b].as_py() != free[b] for b in range(4))


def test_columns_are_kept() -> None:
    batch = batch_of(matrices(), text=pa.array([f"sentence {i}" for i in range(8)]))
    task = Task("log_partition", keep=[pa.field("text", pa.large_string())])
    found = task(batch)
    assert found.schema == task.schema and found.schema.field("text").type == pa.large_string()
    assert found.column("text").to_pylist() == batch.column("text").to_pylist()
    assert task.columns == ["id", "scores", "text"]
    renamed = batch.rename_columns(["key", "edges", "text"])
    assert Task("log_partition", id="key", scores="edges")(renamed).schema.names[0] == "key"


def test_tables_and_pickles() -> None:
    batch = batch_of(matrices())
    task = task_of("sample", projective=True)
    table = pa.Table.from_batches([batch, batch.slice(0, 3)])
    found = pickle.loads(pickle.dumps(task))(table)
    assert isinstance(found, pa.Table) and found.schema == task.schema
    assert found.equals(pa.Table.from_batches([task(batch), task(batch).slice(0, 3)]))
    assert task(table.slice(0, 0)).num_rows == 0
    assert pickle.loads(pickle.dumps(task)).describe() == task.describe()


def test_more_rows_than_a_chunk() -> None:
    """Rows are asked in chunks, and gaps are closed within each."""
    rng = np.random.default_rng(0)
    scores: list[Any] = [rng.normal(size=(26, 26)) for _ in range(2000)]
    for i in range(0, 2000, 7):
        scores[i] = np.full((26, 26), -np.inf)
    batch = batch_of(scores)
    for name in ("marginals", "sparse", "sample", "sample_without_replacement", "argmax"):
        task = task_of(name)
        found = task(batch)
        found.validate(full=True)
        for i in (0, 1, 700, 1399, 1999):
            assert found.slice(i, 1).equals(task(batch.slice(i, 1))), (name, i)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda b: b.drop_columns(["scores"]), KeyError, "no column 'scores'; it has 'id'"),
        (lambda b: b.drop_columns(["id"]), KeyError, "no column 'id'"),
        (lambda b: b.set_column(1, "scores", pa.array(["x"] * 8)), TypeError, "'scores' must have lists .* not string"),
        (lambda b: b.set_column(1, "scores", pa.array([[1]] * 8)), TypeError, "float32 as binary, not list<"),
        (
            lambda b: b.set_column(0, "id", pa.array(["x"] * 8)),
            TypeError,
            "not string; make the task with id_type='str",
        ),
        (lambda b: b.set_column(0, "id", pa.array([0.5] * 8)), TypeError, "of type int64, not double$"),
        (lambda b: b.set_column(0, "id", pa.array([1] * 8, pa.uint64())), TypeError, "uint64; cast it"),
        (lambda b: b.to_pylist(), TypeError, "RecordBatch or Table, not list"),
    ],
)
def test_wrong_columns(change: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Task("log_partition")(change(batch_of(matrices())))


def test_wrong_constraint_columns() -> None:
    batch = batch_of(matrices(), roots=pa.array(["x"] * 8), big=pa.array([[2**40]] * 8))
    with pytest.raises(TypeError, match="'roots' must have lists of integers, not string"):
        Task("log_partition", roots="roots")(batch)
    with pytest.raises(TypeError, match="'big' must have lists of structs of the integers 'head' and 'modifier'"):
        Task("log_partition", force="big")(batch)
    with pytest.raises(TypeError, match="'big' has integers beyond 32 bits"):
        Task("log_partition", roots="big")(batch)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("draw",), {}, "operation must be one of log_partition, .* not 'draw'"),
        (("sample",), {}, "sample needs k"),
        (("log_partition",), {"k": 3}, "log_partition takes no k"),
        (("sample",), {"k": 0}, "k must be at least 1"),
        (("log_partition",), {"threshold": 0.5}, "for marginals only"),
        (("marginals",), {"threshold": 2}, "from 0 to 1"),
        (("log_partition",), {"root": "none"}, "root must be"),
        (("log_partition",), {"id_type": "uuid"}, "id_type must be"),
        (("log_partition",), {"label_scores": "x"}, "go together"),
        (("log_partition",), {"keep": ["text"]}, "keep has fields"),
        (("log_partition",), {"keep": [pa.field("status", pa.string())]}, "two columns 'status'"),
        (("sample",), {"k": 3, "algorithm": "magic"}, "magic"),
        (("kbest",), {"k": 3, "algorithm": "trie"}, "kbest takes no algorithm"),
        (("sample",), {"k": 3, "algorithm": "wilson"}, "wilson"),
        (("sample",), {"k": 3, "seed": -1}, "seed"),
    ],
)
def test_wrong_options(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Task(*arguments, **options)


def test_threads(threads: None) -> None:
    Task("log_partition", threads=1)(batch_of(matrices()))
    assert taproot.get_num_threads() == 1


def test_nothing_else_imports_pyarrow() -> None:
    code = "import sys, taproot; before = 'pyarrow' in sys.modules; import taproot.arrow; "
    code += "assert not before and 'pyarrow' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_examples_in_the_docstrings() -> None:
    names = {"taproot": taproot, "pa": pa}
    tests = [t for t in doctest.DocTestFinder().find(Task, "Task", module=False, globs=names) if t.examples]
    runner = doctest.DocTestRunner()
    assert len(tests) == 2
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
