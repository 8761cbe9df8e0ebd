# SPDX-License-Identifier: Apache-2.0
"""Whatever the shape, the strides and the type of an array, the answers are those for its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import Enumeration

import taproot
from taproot import Constraints, DependencyTrees

RNG = np.random.default_rng(42)
N = 4
SCORES = RNG.normal(0, 2, (N + 1, N + 1))
BATCH = RNG.normal(0, 2, (3, N + 1, N + 1))
LENGTHS = [4, 2, 3]


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected)


def answers(d: DependencyTrees) -> list[Any]:
    return [d.log_partition(), d.entropy(), d.marginals(), d.argmax(), d.sample(5, seed=3), d.kbest(3).score]


def check_same(d: DependencyTrees, expected: DependencyTrees) -> None:
    for a, b in zip(answers(d), answers(expected)):
        same(a, b)


# Strides and types.


def sliced(a: np.ndarray) -> np.ndarray:
    big = np.full([2 * size + 3 for size in a.shape], math.nan)
    view = big[tuple(slice(1, 1 + 2 * size, 2) for size in a.shape)]
    view[...] = a
    return view


def of_records(a: np.ndarray) -> np.ndarray:
    """Rows of 9 bytes: strides that are no multiple of the item's size."""
    records = np.zeros(a.shape, [("flag", "i1"), ("score", "f8")])
    records["score"] = a
    return records["score"]


def unaligned(a: np.ndarray) -> np.ndarray:
    memory = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(a.shape)
    memory[...] = a
    return memory


def read_only(a: np.ndarray) -> np.ndarray:
    out = a.copy()
    out.flags.writeable = False
    return out


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": np.asfortranarray,
    "transposed twice": lambda a: np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
    "reversed": lambda a: np.ascontiguousarray(np.flip(a))[tuple([slice(None, None, -1)] * a.ndim)],
    "reversed heads": lambda a: np.ascontiguousarray(a[..., ::-1, :])[..., ::-1, :],
    "sliced": sliced,
    "records": of_records,
    "unaligned": unaligned,
    "read-only": read_only,
    "big-endian": lambda a: a.astype(">f8"),
    "subclass": lambda a: a.view(type("Mine", (np.ndarray,), {})),
}


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout(layout: str, copy: bool) -> None:
    view = LAYOUTS[layout](SCORES)
    assert np.array_equal(view, SCORES)
    check_same(DependencyTrees(view, copy=copy), DependencyTrees(SCORES))
    view = LAYOUTS[layout](BATCH)
    check_same(DependencyTrees(view, LENGTHS, copy=copy), DependencyTrees(BATCH, LENGTHS))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_of_labels(layout: str, copy: bool) -> None:
    label_scores = RNG.normal(0, 1, (3, N + 1, N + 1, 2))
    d = DependencyTrees(BATCH, LENGTHS, label_scores=LAYOUTS[layout](label_scores), copy=copy)
    expected = DependencyTrees(BATCH, LENGTHS, label_scores=label_scores)
    same(d.label_marginals(), expected.label_marginals())
    same(d.sample(9, seed=1).labels, expected.sample(9, seed=1).labels)


@pytest.mark.parametrize("copy", [True, False])
def test_broadcast(copy: bool) -> None:
    # One matrix as a batch: the batch axis has stride 0.
    d = DependencyTrees(np.broadcast_to(SCORES, (4, N + 1, N + 1)), copy=copy)
    assert d.log_partition().tolist() == [DependencyTrees(SCORES).log_partition()] * 4
    # Heads that do not matter, and modifiers that do not: the inner axes have stride 0.
    for narrow in (SCORES[:, :1], SCORES[:1], SCORES[:1, :1]):
        wide = np.broadcast_to(narrow, SCORES.shape)
        check_same(DependencyTrees(wide, copy=copy), DependencyTrees(np.array(wide)))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("dtype", ["f4", ">f4", "f2", ">f2", ">f8", "i1", "i8", ">i4", "u2", "?"])
def test_types(dtype: str, copy: bool) -> None:
    values = np.clip(np.round(SCORES), 0, 1) if dtype in ("?", "u2") else np.round(SCORES)
    array = values.astype(dtype)
    d = DependencyTrees(array, copy=copy)
    assert d.log_partition() == pytest.approx(Enumeration(array.astype(float), "single").log_z, rel=1e-12)
    check_same(d, DependencyTrees(array.astype(np.float64)))
    check_same(DependencyTrees(np.stack([array] * 2), copy=copy), DependencyTrees(np.stack([array] * 2).astype(float)))
    check_same(
        DependencyTrees([array, array[:3, :3]], copy=copy),
        DependencyTrees([array.astype(float), array[:3, :3].astype(float)]),
    )


def test_float32_is_read_as_it_is() -> None:
    narrow = SCORES.astype(np.float32)
    check_same(DependencyTrees(narrow, copy=False), DependencyTrees(narrow.astype(np.float64)))
    assert DependencyTrees(narrow).log_partition() != DependencyTrees(SCORES).log_partition()


def test_lists_and_tuples() -> None:
    check_same(DependencyTrees(SCORES.tolist()), DependencyTrees(SCORES))
    check_same(DependencyTrees(tuple(map(tuple, SCORES))), DependencyTrees(SCORES))
    ragged = [m[: n + 1, : n + 1] for m, n in zip(BATCH, LENGTHS)]
    expected = DependencyTrees(BATCH, LENGTHS)
    for form in (ragged, tuple(ragged), [m.tolist() for m in ragged]):
        d = DependencyTrees(form)
        assert d.lengths.tolist() == LENGTHS
        check_same(d, expected)
    check_same(DependencyTrees([SCORES]), DependencyTrees(SCORES[None]))
    many = DependencyTrees([BATCH[b % 3] for b in range(300)])  # More than np.result_type once took.
    assert len(many) == 300 and many.log_partition()[299] == many.log_partition()[2]


def test_labels_in_lists() -> None:
    labels = [RNG.normal(0, 1, (n + 1, n + 1, 3)) for n in LENGTHS]
    ragged = [m[: n + 1, : n + 1] for m, n in zip(BATCH, LENGTHS)]
    d = DependencyTrees(ragged, label_scores=labels)
    for b in range(3):
        alone = DependencyTrees(ragged[b], label_scores=labels[b])
        same(d.label_marginals()[b, : LENGTHS[b] + 1, : LENGTHS[b] + 1], alone.label_marginals())
        same(d[b].label_marginals(), alone.label_marginals())


@pytest.mark.parametrize(
    "lengths",
    [
        LENGTHS,
        tuple(LENGTHS),
        np.array(LENGTHS, np.int8),
        np.array(LENGTHS, np.uint64),
        np.array(LENGTHS, ">i4"),
        np.array([4, 0, 2, 0, 3, 0])[::2],
        np.array(LENGTHS[::-1])[::-1],
        read_only(np.array(LENGTHS)),
    ],
    ids=str,
)
def test_lengths(lengths: Any) -> None:
    d = DependencyTrees(BATCH, lengths)
    assert d.lengths.tolist() == LENGTHS
    check_same(d, DependencyTrees(BATCH, LENGTHS))


def test_lengths_are_copied_in_and_out() -> None:
    lengths = np.array(LENGTHS, np.int32)
    d = DependencyTrees(BATCH, lengths)
    lengths[:] = 1
    d.lengths[:] = 1
    assert d.lengths.tolist() == LENGTHS
    check_same(d, DependencyTrees(BATCH, LENGTHS))


# Whose memory.


class Wrapped:
    """As arrays of other libraries are: hands out its memory."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)


COPIES: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda a: a,
    "view": lambda a: a[:],
    "transposed": lambda a: a.T,
    "memoryview": memoryview,
    "subclass": lambda a: a.view(type("Mine", (np.ndarray,), {})),
    "__array__": Wrapped,
}


@pytest.mark.parametrize("form", COPIES)
def test_copied(form: str) -> None:
    scores = SCORES.copy()
    expected = DependencyTrees(np.array(COPIES[form](SCORES.copy()))).log_partition()
    d = DependencyTrees(COPIES[form](scores))
    scores[:] = 0  # Before the first question.
    assert d.log_partition() == expected


@pytest.mark.parametrize("form", COPIES)
def test_not_copied(form: str) -> None:
    scores = SCORES.copy()
    d = DependencyTrees(COPIES[form](scores), copy=False)
    scores[:] = 0
    # Read at the first question: n^(n-1) trees of weight 1.
    assert d.log_partition() == pytest.approx(math.log(N ** (N - 1)))
    scores[:] = SCORES  # The answer stays.
    assert d.log_partition() == pytest.approx(math.log(N ** (N - 1)))


def test_labels_are_copied() -> None:
    label_scores = RNG.normal(0, 1, (N + 1, N + 1, 2))
    d = DependencyTrees(SCORES, label_scores=label_scores)
    expected = DependencyTrees(SCORES, label_scores=label_scores.copy())
    expected_labels, expected_marginals = expected.sample(50, seed=0).labels, expected.label_marginals()
    label_scores[:] = 0
    same(d.sample(50, seed=0).labels, expected_labels)
    same(d.label_marginals(), expected_marginals)


def test_constraints_are_copied() -> None:
    """As scores are: what happens to them later is nobody's business, also not of a sentence taken out of the batch."""
    c = Constraints().forbid(0, 1)
    d = DependencyTrees(BATCH, constraints=[c, None, None])
    c.forbid(0, 2).forbid(0, 3)
    expected = DependencyTrees(BATCH[0], constraints=Constraints().forbid(0, 1)).log_partition()
    assert d.log_partition()[0] == expected
    assert d[0].log_partition() == expected


def test_arguments_are_not_changed() -> None:
    scores, values, heads = SCORES.copy(), SCORES.copy(), np.array([0, 1, 1, 1])
    d = DependencyTrees(scores, copy=False)
    answers(d)
    d.expectation(values)
    d.log_prob(heads)
    same(scores, SCORES)
    same(values, SCORES)
    same(heads, [0, 1, 1, 1])


def test_answers_are_the_callers() -> None:
    d = DependencyTrees(BATCH)
    for query in (
        d.log_partition,
        d.entropy,
        d.marginals,
        d.root_marginals,
        d.argmax,
        lambda: d.sample(2, seed=0),
        lambda: d.kbest(2).heads,
    ):
        first = query()
        kept = first.copy()
        assert first.flags.writeable and first.flags.c_contiguous
        first[:] = 0
        same(query(), kept)


# Shapes of answers.


def test_single_shapes() -> None:
    d = DependencyTrees(SCORES, label_scores=np.zeros((N + 1, N + 1, 3)))
    assert d.batch_shape == () and d.event_shape == (N,) and d.lengths == N and d.root == "single" and d.status == "ok"
    for value in (
        d.log_partition(),
        d.entropy(),
        d.expected_tries(),
        d.expected_steps(),
        d.kl_divergence(d),
        d.expectation(SCORES),
    ):
        assert type(value) is float
    assert d.marginals().shape == (N + 1, N + 1) and d.root_marginals().shape == (N,)
    assert d.label_marginals().shape == (N + 1, N + 1, 3)
    assert d.hessian_product(SCORES).shape == (N + 1, N + 1)
    trees = d.sample(7)
    assert trees.heads.shape == trees.labels.shape == (7, N) and trees.heads.dtype == trees.labels.dtype == np.int32
    assert d.argmax().heads.shape == d.mbr().labels.shape == (N,)
    best = d.kbest(5)
    assert best.heads.shape == best.labels.shape == (5, N) and best.score.shape == (5,) and type(best.counts) is int
    s = d.sample_without_replacement(6)
    assert s.heads.shape == s.labels.shape == (6, N)
    assert s.log_prob.shape == s.gumbel.shape == s.weights.shape == s.normalized_weights.shape == (6,)
    assert type(s.kappa) is float and type(s.exhausted) is bool and type(s.counts) is int and len(s) == 6
    for record in (s.estimate(np.ones(6)), s.interval(np.ones(6)), taproot.estimate(np.ones(6))):
        assert [type(part) for part in record] == [float, float] and len(record) == 2 and record[0] == pytest.approx(1)
    assert type(d.log_prob(trees.heads[0])) is float and d.log_prob(trees.heads).shape == (7,)
    assert (
        d.log_prob(trees.heads, trees.labels).shape == (7,)
        and type(d.log_prob(trees.heads[0], trees.labels[0])) is float
    )
    tree = next(d.sample_without_replacement_iterator())
    assert (
        tree.heads.shape == (N,)
        and tree.heads.dtype == np.int32
        and type(tree.log_prob) is float
        and type(tree.gumbel) is float
    )


def test_batch_shapes() -> None:
    d = DependencyTrees(BATCH, LENGTHS, "multi", label_scores=np.zeros((3, N + 1, N + 1, 2)))
    assert d.batch_shape == (3,) and d.event_shape == (N,) and d.lengths.dtype == np.int32 and d.root == "multi"
    assert d.status == ["ok"] * 3
    for value in (
        d.log_partition(),
        d.entropy(),
        d.expected_tries(),
        d.expected_steps(),
        d.kl_divergence(d),
        d.expectation(BATCH),
    ):
        assert value.shape == (3,) and value.dtype == np.float64
    assert d.marginals().shape == d.hessian_product(BATCH).shape == (3, N + 1, N + 1)
    assert d.label_marginals().shape == (3, N + 1, N + 1, 2)
    assert d.root_marginals().shape == (3, N)
    trees = d.sample(7)
    assert trees.heads.shape == trees.labels.shape == (7, 3, N)
    assert d.argmax().heads.shape == d.mbr().labels.shape == (3, N)
    best = d.kbest(5)
    assert (
        best.heads.shape == best.labels.shape == (5, 3, N) and best.score.shape == (5, 3) and best.counts.shape == (3,)
    )
    s = d.sample_without_replacement(6)
    assert s.heads.shape == s.labels.shape == (6, 3, N)
    assert s.log_prob.shape == s.gumbel.shape == s.weights.shape == s.normalized_weights.shape == (6, 3)
    assert s.kappa.shape == s.exhausted.shape == s.counts.shape == (3,) and s.exhausted.dtype == bool
    for record in (s.estimate(np.ones((6, 3))), s.interval(np.ones((6, 3))), taproot.interval(np.ones((6, 3)))):
        assert [part.shape for part in record] == [(3,), (3,)]
    assert d.log_prob(trees.heads).shape == (7, 3) and d.log_prob(trees.heads[0]).shape == (3,)
    assert d.log_prob(trees.heads[None, :, :]).shape == (1, 7, 3)
    assert d.log_prob(trees.heads, trees.labels).shape == (7, 3)


def assert_zero_outside(edges: np.ndarray) -> None:
    """Padding, column 0 and the diagonal."""
    for b, n in enumerate(LENGTHS):
        assert not edges[b, n + 1 :].any() and not edges[b, :, n + 1 :].any() and not edges[b, :, 0].any()
        assert not np.diagonal(edges[b]).any()


@pytest.mark.parametrize("labels", [None, 2])
def test_padding(labels: int | None) -> None:
    label_scores = None if labels is None else np.full((3, N + 1, N + 1, labels), 0.5)
    d = DependencyTrees(BATCH, LENGTHS, label_scores=label_scores)
    arrays = []
    for found in (d.sample(3), d.argmax(), d.mbr(), d.kbest(20), d.sample_without_replacement(20)):
        arrays += (
            [found] if isinstance(found, np.ndarray) else [a for a in (found.heads, found.labels) if a is not None]
        )
    for array in arrays:
        for b, n in enumerate(LENGTHS):
            assert (array[..., b, n:] == -1).all()
            assert (array[0, b, :n] >= 0).all() if array.ndim == 3 else (array[b, :n] >= 0).all()
    assert_zero_outside(d.marginals())
    # Two words have two trees.
    best, s = d.kbest(20), d.sample_without_replacement(20)
    assert best.counts.tolist() == [20, 2, 9] and s.counts.tolist() == [20, 2, 9]
    assert (best.heads[2:, 1] == -1).all() and (best.score[2:, 1] == -math.inf).all()
    assert (s.heads[2:, 1] == -1).all() and (s.log_prob[2:, 1] == -math.inf).all() and not s.weights[2:, 1].any()
    assert (s.gumbel[2:, 1] == -math.inf).all()
    assert s.exhausted.tolist() == [False, True, True]
    # What stands in the padding is not looked at.
    heads = d.sample(3) if labels is None else d.sample(3).heads
    garbage = heads.copy()
    garbage[:, 1, 2:] = 2**31 - 1
    same(d.log_prob(heads), d.log_prob(garbage))
    values = BATCH.copy()
    values[1, 3:] = values[1, :, 3:] = math.nan
    same(d.expectation(values), d.expectation(BATCH))


def test_padding_of_the_hessian() -> None:
    d = DependencyTrees(BATCH, LENGTHS)
    assert_zero_outside(d.hessian_product(BATCH))
    values = BATCH.copy()
    values[1, 3:] = values[1, :, 3:] = math.nan
    same(d.hessian_product(values), d.hessian_product(BATCH))


def test_estimate_where_sentences_have_fewer_trees() -> None:
    s = DependencyTrees(BATCH, LENGTHS).sample_without_replacement(20)
    # log_prob is -inf where a sentence has no more trees: that counts 0, and nothing is to warn.
    for normalized in (False, True):
        assert np.isfinite(s.estimate(-s.log_prob, normalized)).all()
    assert np.isfinite(s.interval(-s.log_prob)).all()
    mean, error = s.estimate(-s.log_prob)
    assert error[1] == 0 and error[0] > 0
    assert mean[1] == pytest.approx(DependencyTrees(BATCH[1, :3, :3]).entropy())


def test_empty_batch() -> None:
    d = DependencyTrees(np.zeros((0, N + 1, N + 1)), label_scores=np.zeros((0, N + 1, N + 1, 2)))
    assert len(d) == 0 and d.batch_shape == (0,) and d.status == [] and list(d) == [] and d.lengths.shape == (0,)
    assert d.log_partition().shape == d.entropy().shape == d.kl_divergence(d).shape == d.expected_tries().shape == (0,)
    assert d.marginals().shape == (0, N + 1, N + 1) and d.root_marginals().shape == (0, N)
    assert d.label_marginals().shape == (0, N + 1, N + 1, 2)
    assert d.sample(5).heads.shape == (5, 0, N) and d.argmax().labels.shape == (0, N)
    assert d.kbest(5).heads.shape == (0, 0, N)
    s = d.sample_without_replacement(5)
    assert s.heads.shape == (0, 0, N) and s.weights.shape == (0, 0) and s.kappa.shape == (0,)
    assert s.estimate(np.zeros((0, 0))).mean.shape == s.interval(np.zeros((0, 0))).low.shape == (0,)
    assert s.normalized_weights.shape == (0, 0)
    assert d.log_prob(np.zeros((5, 0, N), int)).shape == (5, 0)
    assert d.expectation(np.zeros((0, N + 1, N + 1))).shape == (0,)
    assert DependencyTrees(np.zeros((0, 3, 3)), lengths=[]).log_partition().shape == (0,)
    assert DependencyTrees(np.zeros((0, 3, 3)), constraints=[]).log_partition().shape == (0,)
    assert DependencyTrees(np.zeros((0, 1, 1))).sample(2).shape == (2, 0, 0)


def test_no_words() -> None:
    for d in (
        DependencyTrees(np.zeros((1, 1)), on_error="status"),
        DependencyTrees([[math.nan]], on_error="status"),
        DependencyTrees(BATCH, [0, 0, 0], on_error="status")[1],
    ):
        assert d.lengths == 0 and d.event_shape == (0,) and d.status == "empty"
        assert math.isnan(d.log_partition()) and d.marginals().shape == (1, 1) and d.root_marginals().shape == (0,)
        assert d.sample(3).shape == (3, 0) and d.argmax().shape == (0,) and d.kbest(3).heads.shape == (0, 0)
        assert d.sample_without_replacement(3).counts == 0
        with pytest.raises(taproot.SentenceError):
            d.sample_without_replacement_iterator()
    mixed = DependencyTrees(BATCH, [4, 0, 3], on_error="status", label_scores=np.zeros((3, N + 1, N + 1, 2)))
    assert mixed.status == ["ok", "empty", "ok"]
    assert np.isnan(mixed.label_marginals()[1]).all() and not np.isnan(mixed.label_marginals()[[0, 2]]).any()
    assert (mixed.sample(2).labels[:, 1] == -1).all()
    with pytest.raises(taproot.SentenceError, match="sentence 1"):
        DependencyTrees([SCORES, [[0.0]]]).entropy()


def test_one_word() -> None:
    for root in ("single", "multi"):
        d = DependencyTrees([[5.0, -700.0], [math.nan, 3.0]], root=root)
        assert d.log_partition() == -700 and abs(d.entropy()) < 1e-12 and d.marginals().tolist() == [[0, 1], [0, 0]]
        for algorithm in (
            "auto",
            "elimination",
            "colbourn",
            *(("wilson",) if root == "multi" else ("wilson-marginal", "wilson-reject")),
        ):
            assert d.sample(3, algorithm=algorithm).tolist() == [[0]] * 3
        assert d.argmax().tolist() == d.mbr().tolist() == [0]
        assert d.kbest(3).heads.tolist() == [[0]] and d.kbest(3).score.tolist() == [-700]
        for algorithm in ("auto", "trie", "beam", "list"):
            s = d.sample_without_replacement(3, algorithm=algorithm)
            assert s.heads.tolist() == [[0]] and s.exhausted and s.weights == pytest.approx([1])


def test_no_trees_at_all() -> None:
    d = DependencyTrees(SCORES)
    assert d.sample(0).shape == (0, N) and d.kbest(0).heads.shape == (0, N)
    s = d.sample_without_replacement(0)
    assert s.heads.shape == (0, N) and s.weights.shape == (0,) and math.isnan(s.estimate([]).mean) and not s.exhausted
    assert d.log_prob(np.zeros((0, N), int)).shape == (0,)
    assert DependencyTrees(BATCH).sample(0).shape == (0, 3, N)
    assert DependencyTrees(BATCH).sample_without_replacement(0).heads.shape == (0, 3, N)


# Which trees are drawn.

ALGORITHMS = ["auto", "elimination", "wilson-marginal", "wilson-reject", "colbourn"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_slices_of_a_larger_draw(algorithm: str) -> None:
    d = DependencyTrees(SCORES)
    whole = d.sample(3000, 5, algorithm)
    for first, k in [(0, 10), (1, 1), (7, 100), (1023, 3), (1024, 1024), (2990, 10)]:
        same(d.sample(k, 5, algorithm, first_tree=first), whole[first : first + k])


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_splits_of_a_batch(labels: bool, lengths: Any) -> None:
    label_scores = RNG.normal(0, 1, (3, N + 1, N + 1, 2)) if labels else None
    d = DependencyTrees(BATCH, lengths, label_scores=label_scores)
    whole = d.sample(20, 9)
    distinct = d.sample_without_replacement(5, 9)
    for b, one in enumerate(d):
        n = N if lengths is None else lengths[b]
        part = one.sample(20, 9)
        if labels:
            same(part.labels, whole.labels[:, b, :n])
            same(part.heads, whole.heads[:, b, :n])
        else:
            same(part, whole[:, b, :n])
        s = one.sample_without_replacement(5, 9)
        same(s.heads, distinct.heads[: s.counts, b, :n])
        same(s.gumbel, distinct.gumbel[: s.counts, b])
        assert s.kappa == distinct.kappa[b]
        if labels:
            same(s.labels, distinct.labels[: s.counts, b, :n])


def test_ids_decide_the_trees() -> None:
    """However a corpus is split and ordered, a sentence has the trees of its id; ids have 64 bits."""
    ids = np.array([7, 2**32 + 7, -1])
    same(ids.view(np.uint64)[2], 2**64 - 1)
    whole = DependencyTrees(BATCH, ids=ids)
    trees, distinct = whole.sample(20, 9), whole.sample_without_replacement(5, 9)
    order = [2, 0, 1]
    turned = DependencyTrees(BATCH[order], ids=ids[order])
    same(turned.sample(20, 9), trees[:, order])
    same(turned.sample_without_replacement(5, 9).gumbel, distinct.gumbel[:, order])
    for b in range(3):
        same(DependencyTrees(BATCH[b], ids=ids[b]).sample(20, 9), trees[:, b])
        same(whole[b].sample(20, 9), trees[:, b])
    same(DependencyTrees(BATCH, ids=[0, 1, 2]).sample(20, 9), DependencyTrees(BATCH).sample(20, 9))
    equal = DependencyTrees(np.broadcast_to(SCORES, (2, N + 1, N + 1)), ids=[7, 2**32 + 7]).sample(50)
    assert not np.array_equal(equal[:, 0], equal[:, 1])


def test_trees_that_are_not_there_have_no_probability() -> None:
    """Rows of -1 fill up the samples and the best trees of sentences that have fewer of them."""
    d = DependencyTrees(BATCH, [1, 4, 2])
    best = d.kbest(7)
    found = d.log_prob(best.heads)
    for b, count in enumerate(best.counts):
        assert np.isfinite(found[:count, b]).all() and np.isnan(found[count:, b]).all()
    s = d.sample_without_replacement(7)
    np.testing.assert_allclose(d.log_prob(s.heads), np.where(s.log_prob > -np.inf, s.log_prob, np.nan), atol=1e-12)


def test_sentences_and_seeds_differ() -> None:
    d = DependencyTrees(np.broadcast_to(SCORES, (2, N + 1, N + 1)))
    trees = d.sample(50, seed=0)
    assert not np.array_equal(trees[:, 0], trees[:, 1])
    same(trees, d.sample(50, seed=0))
    assert not np.array_equal(trees, d.sample(50, seed=1))
    assert not np.array_equal(d.sample_without_replacement(9, 0).gumbel, d.sample_without_replacement(9, 1).gumbel)


def test_without_a_seed_samples_differ() -> None:
    d = DependencyTrees(SCORES)
    for sample in (
        lambda **seed: d.sample(50, **seed),
        lambda **seed: d.sample_without_replacement(9, **seed).gumbel,
        lambda **seed: np.array([next(d.sample_without_replacement_iterator(**seed)).gumbel]),
    ):
        assert not np.array_equal(sample(), sample())
        assert not np.array_equal(sample(seed=None), sample(seed=None))
        # A generator goes on from call to call, and from its beginning gives the same again.
        rng, again = np.random.default_rng(3), np.random.default_rng(3)
        first, second = sample(seed=rng), sample(seed=rng)
        assert not np.array_equal(first, second)
        same(sample(seed=again), first)
        same(sample(seed=again), second)
        # A seed sequence stays the same; its children differ.
        sequence = np.random.SeedSequence(5)
        same(sample(seed=sequence), sample(seed=np.random.SeedSequence(5)))
        same(sample(seed=sequence), sample(seed=sequence))
        left, right = sequence.spawn(2)
        assert not np.array_equal(sample(seed=left), sample(seed=right))


def test_one_seed_names_one_sequence_of_trees() -> None:
    """As the docstrings of both say."""
    d = DependencyTrees(np.zeros((N + 1, N + 1)))
    trees = [tuple(tree) for tree in d.sample(1000, seed=8).tolist()]
    without_repeats = list(dict.fromkeys(trees))
    found = [tuple(tree) for tree in d.sample_without_replacement(40, seed=8).heads.tolist()]
    assert found == without_repeats[:40] != trees[:40]  # While more than a quarter of the 64 trees is left.
    for method in (d.sample, d.sample_without_replacement, d.sample_without_replacement_iterator):
        assert "with the same seed" in method.__doc__


def test_seeds() -> None:
    d = DependencyTrees(SCORES)
    seen = set()
    for seed in (0, 1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1):
        trees = d.sample(40, seed)
        seen.add(trees.tobytes())
        same(d.sample(40, np.uint64(seed)), trees)
        d.sample_without_replacement(3, np.uint64(seed))
        next(d.sample_without_replacement_iterator(seed))
    assert len(seen) == 7  # All 64 bits count.


def test_numpy_integers() -> None:
    d = DependencyTrees(SCORES)
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64):
        same(
            d.sample(kind(5), kind(3), first_tree=kind(2)),
            d.sample(5, 3, first_tree=2),
        )
        same(d.kbest(kind(3)).heads, d.kbest(3).heads)
        same(
            d.sample_without_replacement(kind(3), kind(4)).heads,
            d.sample_without_replacement(3, 4).heads,
        )
        same(DependencyTrees(SCORES, constraints=Constraints().force(kind(0), kind(2))).argmax()[1], 0)
    same(d.sample(np.array(5), 0), d.sample(5, 0))
    same(
        DependencyTrees(SCORES, constraints=Constraints().force_partial_tree(np.array([0, -1, -1, -1]))).argmax()[0], 0
    )
    same(DependencyTrees(SCORES, constraints=Constraints().allow_roots(np.array([3]))).root_marginals(), [0, 0, 1, 0])


def test_small_numpy_integers_do_not_overflow() -> None:
    d = DependencyTrees(SCORES)
    same(d.sample(np.uint8(200), 0, first_tree=np.uint8(200)), d.sample(200, 0, first_tree=200))
    same(d.sample(100, 0, first_tree=np.int8(100)), d.sample(100, 0, first_tree=100))


def draws() -> list[np.ndarray]:
    """Over sentences, over trees, with labels, without replacement."""
    big = DependencyTrees(np.broadcast_to(SCORES, (40, N + 1, N + 1)), label_scores=np.zeros((40, N + 1, N + 1, 2)))
    few = DependencyTrees(BATCH, LENGTHS)
    found = [
        *big.sample(50, 3),
        few.sample(9000, 4),
        DependencyTrees(SCORES).sample(20001, 5),
        DependencyTrees(SCORES).sample(4000, 5, "colbourn"),
    ]
    for algorithm in ("auto", "trie", "beam", "list"):
        s = big.sample_without_replacement(5, 6, algorithm)
        found += [s.heads, s.labels, s.gumbel, s.kappa, s.weights]
    return [*found, big.marginals(), big.entropy(), few.kbest(7).heads, few.argmax(), few.mbr()]


@pytest.mark.usefixtures("threads")
def test_threads_change_nothing() -> None:
    taproot.set_num_threads(1)
    assert taproot.get_num_threads() == 1
    expected = draws()
    for count in (2, 3, 0):
        taproot.set_num_threads(count)
        assert taproot.get_num_threads() == count or count == 0
        for found, of_one in zip(draws(), expected):
            same(found, of_one)


def test_large_draws() -> None:
    """Beyond 20,000 heads the trees of one sentence are shared out among threads: the same trees."""
    d = DependencyTrees(SCORES)
    large = d.sample(50_000, 7)
    same(large[:1000], d.sample(1000, 7))
    same(large[49_000:], d.sample(1000, 7, first_tree=49_000))
    padded = DependencyTrees(BATCH, LENGTHS)
    large = padded.sample(20_000, 7)
    same(large[:100], padded.sample(100, 7))
    assert (large[:, 1, 2:] == -1).all() and (large[:, 1, :2] >= 0).all()
    labeled = DependencyTrees(BATCH, LENGTHS, label_scores=np.zeros((3, N + 1, N + 1, 2)))
    both = labeled.sample(20_000, 7)
    same(both.labels[19_000:], labeled.sample(1000, 7, first_tree=19_000).labels)


# One of a batch.


def test_items() -> None:
    d = DependencyTrees(
        BATCH, LENGTHS, "multi", [None, Constraints().forbid(0, 1), None], np.zeros((3, N + 1, N + 1, 2))
    )
    assert len(d) == 3
    for b, one in enumerate(d):
        n = LENGTHS[b]
        assert one.batch_shape == () and one.lengths == n and one.root == "multi"
        assert one.log_partition() == d.log_partition()[b] == d[b - 3].log_partition() == d[np.int64(b)].log_partition()
        same(one.marginals(), d.marginals()[b, : n + 1, : n + 1])
        same(one.label_marginals(), d.label_marginals()[b, : n + 1, : n + 1])
        same(one.argmax().heads, d.argmax().heads[b, :n])
    assert d[1].marginals()[0, 1] == 0
    for wrong in (3, -4):
        with pytest.raises(IndexError):
            d[wrong]
    one = d[0]
    del d
    assert math.isfinite(one.log_partition())


def test_repr() -> None:
    assert repr(DependencyTrees(SCORES)) == "DependencyTrees(words=4, root='single')"
    assert repr(DependencyTrees(BATCH, root="multi")) == "DependencyTrees(sentences=3, words<=4, root='multi')"
    labeled = DependencyTrees(SCORES, label_scores=np.zeros((N + 1, N + 1, 3)))
    assert repr(labeled) == str(labeled) == "DependencyTrees(words=4, root='single', labels=3)"


def test_log_prob_takes_any_integers() -> None:
    d = DependencyTrees(BATCH)
    heads = d.sample(6)
    expected = d.log_prob(heads)
    for form in (
        heads.astype(np.int64),
        heads.astype(np.uint8),
        heads.astype(">i4"),
        np.asfortranarray(heads),
        heads.tolist(),
        read_only(heads),
    ):
        same(d.log_prob(form), expected)
    same(d.log_prob(heads[::-1]), expected[::-1])
    same(d.log_prob(heads.reshape(2, 3, 3, N)), expected.reshape(2, 3, 3))


@pytest.mark.parametrize("name", ["expectation", "hessian_product"])
def test_edge_values_of_any_type(name: str) -> None:
    d = DependencyTrees(BATCH)
    query = getattr(d, name)
    values = np.round(BATCH)
    narrow = [values.astype(dtype) for dtype in (np.float32, int, ">f8")]
    for form in (*narrow, np.asfortranarray(values), values.tolist(), read_only(values), values[::-1][::-1]):
        same(query(form), query(values))
    assert d.expectation(np.broadcast_to(1.0, BATCH.shape)) == pytest.approx([N] * 3)


def test_paired_batches_may_be_padded_differently() -> None:
    wide = np.full((3, N + 3, N + 3), math.nan)
    wide[:, : N + 1, : N + 1] = BATCH[::-1]
    p, q = DependencyTrees(BATCH, LENGTHS), DependencyTrees(wide, LENGTHS)
    same(p.kl_divergence(q), p.kl_divergence(DependencyTrees(BATCH[::-1], LENGTHS)))
    same(q.kl_divergence(p), DependencyTrees(BATCH[::-1], LENGTHS).kl_divergence(p))


def test_estimators_broadcast() -> None:
    log_prob, kappa = np.log([[0.5, 0.25], [0.125, 1e-300]]), np.array([-1.0, -2.0])
    expected = -np.expm1(-np.exp(log_prob - kappa))
    np.testing.assert_allclose(taproot.inclusion_probability(log_prob, kappa), expected, rtol=1e-12)
    np.testing.assert_allclose(
        taproot.horvitz_thompson_weight(log_prob, kappa), np.exp(log_prob) / expected, rtol=1e-12
    )
    assert taproot.inclusion_probability(-3, -math.inf) == 1
    assert taproot.horvitz_thompson_weight(math.log(0.25), -math.inf) == pytest.approx(0.25)
    assert taproot.inclusion_probability(np.zeros((0, 2)), 0.0).shape == (0, 2)
    # Where both underflow their ratio does not: p / q -> exp(kappa).
    assert taproot.horvitz_thompson_weight(-2000.0, -1.0) == pytest.approx(math.exp(-1))
