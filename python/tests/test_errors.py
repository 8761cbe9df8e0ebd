# SPDX-License-Identifier: Apache-2.0
"""Wrong input of every kind gets the error that is documented, in words a caller can use, and nothing crashes."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taproot
from taproot import Constraints, DependencyTrees, NoTreeError, SentenceError

INF = math.inf
Z = np.zeros((4, 4))
BATCH = np.zeros((3, 4, 4))


def message(kind: type[BaseException] | tuple[type[BaseException], ...], call: Callable[[], Any], *words: str) -> str:
    """The error's text, which must have the words; and must not be what nanobind says when types do not match."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert text and "incompatible function arguments" not in text, text
    for word in words:
        assert word in text, text
    return text


def value_error(call: Callable[[], Any], *words: str) -> None:
    message(ValueError, call, *words)


def type_name(value: object) -> str:
    """The name of a case whose text has an address in it: it must be the same in every process that runs tests."""
    return type(value).__name__


# Arrays.


@pytest.mark.parametrize(
    "scores",
    [
        np.zeros(()),
        np.zeros(4),
        np.zeros((3, 4)),
        np.zeros((2, 3, 4)),
        np.zeros((0, 0)),
        np.zeros((3, 0, 0)),
        np.zeros((2, 2, 3, 3)),
        [],
        [[]],
        [0.0, 1.0],
    ],
    ids=lambda s: str(np.shape(s)),
)
def test_bad_shapes(scores: Any) -> None:
    value_error(lambda: DependencyTrees(scores), "scores must have shape", str(np.shape(scores)))


@pytest.mark.parametrize(
    "scores",
    [
        [[0.0, 1.0], [2.0]],
        [Z, Z[0]],
        [Z, np.zeros((3, 4))],
        [Z, BATCH],
        [Z, None],
        [Z, np.zeros((0, 0))],
        (Z, np.zeros((4, 4, 2))),
        [Z[0], Z],
    ],
    ids=range(8),
)
def test_bad_lists(scores: Any) -> None:
    value_error(lambda: DependencyTrees(scores))


@pytest.mark.parametrize(
    "dtype", [complex, object, "U3", "S3", "M8[s]", "m8[s]", [("a", "f8")], np.longdouble, np.complex64], ids=str
)
def test_bad_types(dtype: Any) -> None:
    array = np.zeros((4, 4), dtype)
    value_error(lambda: DependencyTrees(array), "scores must be float32 or float64")
    value_error(lambda: DependencyTrees([array]), "scores[0] must be float32 or float64")
    value_error(
        lambda: DependencyTrees(Z, label_scores=np.zeros((4, 4, 2), dtype)), "label_scores must be float32 or float64"
    )


@pytest.mark.parametrize("scores", [None, "abc", 3, {}, object(), {1: 2}, b"abc", lambda: 1], ids=type_name)
def test_what_is_no_array(scores: Any) -> None:
    value_error(lambda: DependencyTrees(scores), "scores must")


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ([3, 2], "(3,)"),
        ([3, 2, 1, 0], "(3,)"),
        (3, "(3,)"),
        ([[3, 2, 1]], "(3,)"),
        ([3, 4, 1], "lengths[1] is 4"),
        ([3, 2, -1], "lengths[2] is -1"),
        ([3, 2, 2**40], "lengths[2]"),
        (np.array([3, 2, 2**64 - 1], np.uint64), "lengths[2]"),
        ([3.0, 2.0, 1.0], "integers"),
        ([True, True, True], "integers"),
        (["3", "2", "1"], "integers"),
        ([None, None, None], "integers"),
        ([[3], [2, 1], [0]], ""),
    ],
    ids=str,
)
def test_bad_lengths(lengths: Any, words: str) -> None:
    value_error(lambda: DependencyTrees(BATCH, lengths), words)


def test_lengths_where_there_are_none() -> None:
    value_error(lambda: DependencyTrees(Z, 3), "lengths")
    value_error(lambda: DependencyTrees(Z, [3]), "lengths")
    value_error(lambda: DependencyTrees([Z, Z], [3, 3]), "lengths")


@pytest.mark.parametrize("root", ["Single", "", None, 1, b"single", ["single"]], ids=str)
def test_bad_root(root: Any) -> None:
    value_error(lambda: DependencyTrees(Z, root=root), '"single" or "multi"', repr(root))


@pytest.mark.parametrize("on_error", ["ignore", None, True], ids=str)
def test_bad_on_error(on_error: Any) -> None:
    value_error(lambda: DependencyTrees(Z, on_error=on_error), '"raise" or "status"')


def test_bad_label_scores() -> None:
    for label_scores in (Z, np.zeros((4, 4, 0)), np.zeros((3, 3, 2)), np.zeros((1, 4, 4, 2)), np.zeros(()), None):
        if label_scores is not None:
            value_error(lambda: DependencyTrees(Z, label_scores=label_scores), "label_scores must have shape (4, 4)")
    for label_scores in (np.zeros((4, 4, 2)), np.zeros((2, 4, 4, 2)), BATCH):
        value_error(lambda: DependencyTrees(BATCH, label_scores=label_scores), "label_scores must have shape (3, 4, 4)")
    value_error(
        lambda: DependencyTrees([Z, Z[:3, :3]], label_scores=[np.zeros((4, 4, 2)), np.zeros((4, 4, 2))]),
        "sentence 1 has 3 words in label_scores, and 2 in scores",
    )
    value_error(lambda: DependencyTrees([Z, Z], label_scores=[np.zeros((4, 4, 2)), np.zeros((4, 4, 3))]))
    value_error(lambda: DependencyTrees([Z, Z], label_scores=[np.zeros((4, 4, 2))]))


@pytest.mark.parametrize("label_scores", [[], (), "abc", 3, {}], ids=str)
def test_what_are_no_label_scores(label_scores: Any) -> None:
    for scores in (Z, BATCH):
        value_error(lambda: DependencyTrees(scores, label_scores=label_scores), "label_scores")


# Scores.


@pytest.mark.parametrize("bad", [math.nan, INF, 2e15, -2e15])
def test_bad_score_names_its_cell(bad: float) -> None:
    scores = BATCH.copy()
    scores[1, 2, 3] = bad
    d = DependencyTrees(scores)
    for query in (
        d.log_partition,
        d.marginals,
        d.entropy,
        lambda: d.sample(1),
        lambda: d.sample_without_replacement(1),
        d.mbr,
    ):
        with pytest.raises(SentenceError) as caught:
            query()
        assert not isinstance(caught.value, NoTreeError)
        assert caught.value.sentence == 1 and caught.value.status == "bad_score"
        assert [f[:2] for f in caught.value.failures] == [(1, "bad_score")]
        assert "sentence 1" in str(caught.value) and "head 2" in str(caught.value) and "modifier 3" in str(caught.value)
    assert d.status == ["ok", "bad_score", "ok"]


@pytest.mark.parametrize("bad", [math.nan, INF, 1.1e15, -1e20, float(np.finfo(np.float32).min)])
def test_bad_scores_are_bad_whatever_is_asked(bad: float) -> None:
    scores = Z.copy()
    scores[0, 2] = bad
    d = DependencyTrees(scores)
    assert d.status == "bad_score"
    for query in (d.log_partition, d.argmax, lambda: d.kbest(2), d.mbr, lambda: d.sample(1)):
        message(SentenceError, query, "head 0", "modifier 2")


def test_bad_float32_scores() -> None:
    scores = Z.astype(np.float32)
    scores[3, 1] = np.nan
    message(SentenceError, DependencyTrees(scores).entropy, "head 3 -> modifier 1")


@pytest.mark.parametrize("bad", [math.nan, INF])
def test_bad_label_score(bad: float) -> None:
    label_scores = np.zeros((4, 4, 2))
    label_scores[1, 2, 1] = bad
    d = DependencyTrees(Z, label_scores=label_scores)
    for query in (d.log_partition, d.label_marginals, d.argmax, lambda: d.sample(1)):
        message(SentenceError, query, "head 1 -> modifier 2")


def test_nothing_is_read_where_nothing_counts() -> None:
    scores = Z.copy()
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, INF)
    label_scores = np.zeros((4, 4, 2))
    label_scores[:, 0] = np.nan
    label_scores[np.arange(4), np.arange(4)] = INF
    d = DependencyTrees(scores, label_scores=label_scores)
    assert d.log_partition() == pytest.approx(math.log(9 * 2**3))
    found = d.label_marginals()
    assert not found[:, 0].any() and not found[np.arange(4), np.arange(4)].any()


def mixed_batch() -> np.ndarray:
    """ok, no tree, NaN, ok, and (by its length) no words."""
    scores = np.random.default_rng(3).normal(0, 1, (5, 4, 4))
    scores[1, 0] = -INF
    scores[2, 1, 2] = np.nan
    return scores


MIXED_LENGTHS = [3, 3, 3, 2, 0]
LOST = [1, 2, 4]


@pytest.mark.parametrize("root", ["single", "multi"])
def test_one_bad_sentence_leaves_the_others(root: Any) -> None:
    scores = mixed_batch()
    label_scores = np.zeros((5, 4, 4, 2))
    d = DependencyTrees(scores, MIXED_LENGTHS, root, on_error="status")
    labeled = DependencyTrees(scores, MIXED_LENGTHS, root, label_scores=label_scores, on_error="status")
    good = DependencyTrees(scores[[0, 3]], [3, 2], root)
    assert d.status == ["ok", "no_tree", "bad_score", "ok", "empty"]
    other = DependencyTrees(np.zeros((5, 4, 4)), MIXED_LENGTHS, root, on_error="status")
    for name in ("log_partition", "entropy", "marginals", "root_marginals", "expected_tries", "expected_steps"):
        found = getattr(d, name)()
        assert np.isnan(found[LOST]).all()
        np.testing.assert_array_equal(found[[0, 3]], getattr(good, name)())
    for found in (
        d.kl_divergence(other),
        other.kl_divergence(d),
        d.cross_entropy(other),
        d.expectation(np.ones((5, 4, 4))),
    ):
        assert np.isnan(found[LOST]).all() and np.isfinite(found[[0, 3]]).all()
    assert np.isnan(labeled.label_marginals()[LOST]).all()
    heads = d.sample(4, seed=0)
    assert (heads[:, LOST] == -1).all() and (heads[:, 0] >= 0).all()
    log_prob = d.log_prob(heads)  # What comes out goes in.
    assert np.isnan(log_prob[:, LOST]).all() and np.isfinite(log_prob[:, [0, 3]]).all()
    for trees in (d.argmax(), d.mbr()):
        assert (trees[LOST] == -1).all()
        assert (trees[0] >= 0).all()
    for table in (labeled.argmax(), labeled.sample(3)):
        assert (table.labels[..., LOST, :] == -1).all() and (table.labels[..., 0, :] >= 0).all()
    best = d.kbest(3)
    assert best.counts.tolist()[0] == 3 and (best.counts[LOST] == 0).all() and (best.heads[:, LOST] == -1).all()
    s = d.sample_without_replacement(3, seed=0)
    assert (s.counts[LOST] == 0).all() and (s.heads[:, LOST] == -1).all() and np.isnan(s.kappa[LOST]).all()
    assert not s.exhausted[LOST].any()
    np.testing.assert_array_equal(s.heads[:, 0], good.sample_without_replacement(3, seed=0).heads[:, 0])


def test_hessian_of_a_mixed_batch() -> None:
    found = DependencyTrees(mixed_batch(), MIXED_LENGTHS, on_error="status").hessian_product(np.ones((5, 4, 4)))
    assert np.isnan(found[LOST]).all()
    np.testing.assert_allclose(found[[0, 3]], 0, atol=1e-12)  # All scores up: nothing changes.


def test_an_estimate_of_a_lost_sentence_is_none() -> None:
    """ "status": its numbers are NaN. A 0 would pass for an estimate."""
    s = DependencyTrees(mixed_batch(), MIXED_LENGTHS, on_error="status").sample_without_replacement(3, seed=2)
    for found in (*s.estimate(np.ones(s.weights.shape)), *s.interval(np.ones(s.weights.shape))):
        assert np.isfinite(found[[0, 3]]).all() and np.isnan(found[LOST]).all()


def test_failures_of_a_batch() -> None:
    d = DependencyTrees(mixed_batch(), MIXED_LENGTHS)
    calls = [
        d.log_partition,
        d.marginals,
        lambda: d.sample(2),
        d.argmax,
        d.mbr,
        lambda: d.kbest(1),
        lambda: d.kl_divergence(d),
    ]
    calls += [
        lambda: d.sample_without_replacement(1),
        lambda: d.log_prob(np.zeros((5, 3), int)),
        lambda: d.expectation(np.ones((5, 4, 4))),
    ]
    for query in calls:
        with pytest.raises(NoTreeError) as caught:
            query()
        error = caught.value
        assert isinstance(error, SentenceError) and isinstance(error, ValueError)
        assert error.sentence == 1 and error.status == "no_tree"
        assert [(b, status) for b, status, _ in error.failures] == [(1, "no_tree"), (2, "bad_score"), (4, "empty")]
        assert "sentence 1" in str(error) and "2 more sentences" in str(error)
        assert all(f"sentence {b}" in text for b, _, text in error.failures)
    assert d.status == ["ok", "no_tree", "bad_score", "ok", "empty"]
    two = DependencyTrees(mixed_batch()[:3])
    message(NoTreeError, two.entropy, "more sentence of the batch has")


def test_the_rule_decides_whether_there_is_a_tree() -> None:
    scores = np.full((3, 3), -INF)
    scores[0] = 0  # Every word hangs off ROOT, or nowhere.
    assert abs(DependencyTrees(scores, root="multi").log_partition()) < 1e-12
    assert DependencyTrees(scores, root="multi").expected_tries() == INF
    with pytest.raises(NoTreeError):
        DependencyTrees(scores).log_partition()
    with pytest.raises(NoTreeError):
        DependencyTrees(scores).sample_without_replacement_iterator()


def test_divergence_names_the_failure_of_the_other() -> None:
    bad = DependencyTrees(mixed_batch()[:1] * np.nan)
    good = DependencyTrees(mixed_batch()[:1])
    for query in (lambda: good.kl_divergence(bad), lambda: bad.kl_divergence(good), lambda: good.cross_entropy(bad)):
        message(SentenceError, query, "sentence 0")


@pytest.mark.parametrize("error", [NoTreeError, SentenceError])
def test_errors_can_be_pickled_and_copied(error: type[SentenceError]) -> None:
    first = error([(3, "no_tree", "sentence 3: no"), (5, "empty", "sentence 5: none")])
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for other in (pickle.loads(pickle.dumps(first, protocol)), copy.copy(first), copy.deepcopy(first)):
            assert type(other) is error and str(other) == str(first)
            assert (other.sentence, other.status, other.failures) == (first.sentence, first.status, first.failures)
    with pytest.raises(SentenceError) as caught:
        DependencyTrees(mixed_batch()).entropy()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (
        type(again) is type(caught.value)
        and again.failures == caught.value.failures
        and str(again) == str(caught.value)
    )


# Constraints.


def test_bad_constraints() -> None:
    for wrong in (
        lambda: Constraints().force(-1, 2),
        lambda: Constraints().force(1, 0),
        lambda: Constraints().force(2, 2),
        lambda: Constraints().forbid(2, 2),
        lambda: Constraints().forbid(0, -1),
        lambda: Constraints().allow_roots([0]),
        lambda: Constraints().allow_roots([-2]),
        lambda: Constraints().force_partial_tree([1, 0]),
    ):
        value_error(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Constraints().force(1.5, 2),
        lambda: Constraints().force("a", 2),
        lambda: Constraints().force(2**40, 2),
        lambda: Constraints().forbid(None, 2),
        lambda: Constraints().allow_roots(3),
        lambda: Constraints().allow_roots([2**40]),
        lambda: Constraints().force_partial_tree([0.5]),
        lambda: Constraints().force_partial_tree(None),
    ],
    ids=["float", "str", "large", "None", "no list", "large root", "float tree", "no tree"],
)
def test_what_are_no_words(wrong: Callable[[], Any]) -> None:
    """Python's own TypeError would do, if one could read it."""
    message((ValueError, TypeError, OverflowError), wrong)


def test_constraints_that_do_not_fit() -> None:
    for c in (
        Constraints().force(0, 4),
        Constraints().force(4, 1),
        Constraints().forbid(1, 7),
        Constraints().allow_roots([4]),
        Constraints().allow_roots([4]).allow_roots([1]),
        Constraints().force_partial_tree([-1, -1]),
        Constraints().force_partial_tree([-1] * 4),
    ):
        value_error(lambda: DependencyTrees(Z, constraints=c), "constraints[0]", "3 words")
        value_error(lambda: DependencyTrees(BATCH, constraints=[None, c, None]), "constraints[1]", "3 words")
        # It may name a word of the padding, which is none of the sentence's.
        value_error(lambda: DependencyTrees(np.zeros((1, 9, 9)), [3], constraints=[c]), "constraints[0]", "3 words")


def test_constraints_accumulate() -> None:
    d = DependencyTrees(Z, constraints=Constraints().allow_roots([1, 2]).allow_roots([2, 3]))
    assert d.root_marginals().tolist() == [0, 1, 0]
    twice = Constraints().force_partial_tree([-1, -1]).force_partial_tree([-1, -1, -1])
    value_error(lambda: DependencyTrees(Z, constraints=twice), "partial trees differ in length")


def test_constraints_of_the_wrong_kind() -> None:
    value_error(lambda: DependencyTrees(BATCH, constraints=5), "one taproot.Constraints, which holds for all sentences")
    value_error(lambda: DependencyTrees(BATCH, constraints=[Constraints()]), "3")
    value_error(lambda: DependencyTrees(BATCH, constraints=[1, 2, 3]), "constraints[0]")
    for wrong in ([], [[(0, 1)]], "a"):
        value_error(lambda wrong=wrong: DependencyTrees(Z, constraints=wrong), "must be one taproot.Constraints")


@pytest.mark.parametrize("constraints", [5, object(), 1.5])
def test_constraints_that_are_no_list(constraints: Any) -> None:
    value_error(lambda: DependencyTrees(Z, constraints=constraints), "constraints")
    value_error(lambda: DependencyTrees(BATCH, constraints=constraints), "constraints")


def test_constraints_that_contradict_each_other() -> None:
    d = DependencyTrees(Z, constraints=Constraints().force(0, 1).force(2, 1))
    assert d.status == "no_tree"
    for c in (
        Constraints().force(0, 1).forbid(0, 1),
        Constraints().allow_roots([]),
        Constraints().allow_roots([1]).allow_roots([2, 3]),
        Constraints().force(1, 2).force(2, 1),
    ):
        with pytest.raises(NoTreeError):
            DependencyTrees(Z, constraints=c).log_partition()
    with pytest.raises(NoTreeError):
        DependencyTrees(Z, constraints=Constraints().force(0, 1).force(0, 2)).argmax()
    assert DependencyTrees(Z, root="multi", constraints=Constraints().force(0, 1).force(0, 2)).status == "ok"


# Counts and names.

D = DependencyTrees(Z)
BAD_COUNTS = [-1, np.int64(-3), 3.0, np.float64(3), "3", None, [3], (3,), 1j]


@pytest.mark.parametrize("k", BAD_COUNTS, ids=repr)
def test_bad_k(k: Any) -> None:
    for call in (lambda: D.sample(k), lambda: D.kbest(k), lambda: D.sample_without_replacement(k)):
        value_error(call, "k must")


@pytest.mark.parametrize("k", [np.array([3]), np.array(3.0), np.array([])], ids=repr)
def test_arrays_are_no_counts(k: Any) -> None:
    for call in (lambda: D.sample(k), lambda: D.kbest(k), lambda: D.sample_without_replacement(k)):
        value_error(call, "k must")


@pytest.mark.parametrize("k", [2**64, 2**70], ids=repr)
def test_k_beyond_everything(k: int) -> None:
    value_error(lambda: D.sample(k))
    # "All of them if there are no more": either that, or an error with a reason.
    for call in (lambda: D.kbest(k).counts, lambda: D.sample_without_replacement(k).counts):
        try:
            assert call() == 9
        except ValueError as error:
            assert "incompatible" not in str(error)


@pytest.mark.parametrize("k", [1000, 2**31, 2**40, 2**63, 2**64 - 1])
def test_k_beyond_what_there_is(k: int) -> None:
    assert D.kbest(k).counts == 9
    for algorithm in ("auto", "trie", "beam", "list"):
        assert D.sample_without_replacement(k, algorithm=algorithm).counts == 9


@pytest.mark.parametrize(
    "seed",
    [-1, 2**64, 2**70, 1.0, "1", [1], np.int8(-1), np.random.PCG64(1), np.random.RandomState(1)],
    ids=type_name,
)
def test_bad_seed(seed: Any) -> None:
    for call in (
        lambda: D.sample(1, seed),
        lambda: D.sample_without_replacement(1, seed),
        lambda: D.sample_without_replacement_iterator(seed),
    ):
        value_error(call, "seed must be None, an integer from 0 to 2**64 - 1, a numpy.random.Generator or a SeedSeq")


@pytest.mark.parametrize("first", [-1, 2**32, 2**70, 1.5, "a", None], ids=repr)
def test_bad_numbers_of_trees(first: Any) -> None:
    value_error(lambda: D.sample(1, first_tree=first))


def test_the_last_numbers() -> None:
    assert D.sample(1, first_tree=2**32 - 1).shape == (1, 3)
    value_error(lambda: D.sample(2, first_tree=2**32 - 1), "2**32")


@pytest.mark.parametrize("ids", [[0, 1], [0, 1, 2, 3], [[0, 1, 2]], 5, [0.5, 1, 2], ["a", "b", "c"], [0, 1, 2**64]])
def test_bad_ids(ids: Any) -> None:
    value_error(lambda: DependencyTrees(BATCH, ids=ids), "ids must")


def test_ids_of_a_single_sentence() -> None:
    value_error(lambda: DependencyTrees(BATCH[0], ids=[3]), "ids must")
    assert DependencyTrees(BATCH[0], ids=2**64 - 1).sample(1).shape == (1, 3)


@pytest.mark.parametrize("limit", [-1, 1.5, "a", None, 2**64, 2**70], ids=repr)
def test_bad_limits(limit: Any) -> None:
    for call in (
        lambda: D.sample(1, step_limit=limit),
        lambda: D.sample_without_replacement(1, memory_limit=limit),
        lambda: D.sample_without_replacement_iterator(memory_limit=limit),
    ):
        value_error(call)


def test_memory_limit_changes_nothing() -> None:
    s = D.sample_without_replacement(5, 3)
    np.testing.assert_array_equal(D.sample_without_replacement(5, 3, memory_limit=0).heads, s.heads)


@pytest.mark.parametrize("algorithm", ["", "Auto", "wilson_marginal", "trie"])
def test_unknown_algorithm(algorithm: Any) -> None:
    for d in (D, DependencyTrees(BATCH), DependencyTrees(BATCH[:0])):
        value_error(lambda: d.sample(1, algorithm=algorithm), "elimination", "colbourn")


@pytest.mark.parametrize("algorithm", ["", "Auto", "colbourn"])
def test_unknown_distinct_algorithm(algorithm: Any) -> None:
    for d in (D, DependencyTrees(BATCH), DependencyTrees(BATCH[:0])):
        value_error(lambda: d.sample_without_replacement(1, algorithm=algorithm), "trie", "beam")
    value_error(lambda: D.sample_without_replacement_iterator(algorithm=algorithm), "trie", "list")


@pytest.mark.parametrize("algorithm", [None, 3, b"auto", ["auto"]], ids=repr)
def test_what_is_no_algorithm(algorithm: Any) -> None:
    value_error(lambda: D.sample(1, algorithm=algorithm))
    value_error(lambda: D.sample_without_replacement(1, algorithm=algorithm))
    value_error(lambda: D.sample_without_replacement_iterator(algorithm=algorithm))


def test_algorithm_of_the_other_rule() -> None:
    multi = DependencyTrees(Z, root="multi")
    for algorithm in ("wilson-marginal", "wilson-reject", "wilson-rc"):
        value_error(lambda: multi.sample(1, algorithm=algorithm), algorithm, "multi")
        value_error(lambda: multi.sample(30000, algorithm=algorithm), algorithm, "multi")
        value_error(lambda: DependencyTrees(BATCH, root="multi").sample(1, algorithm=algorithm), algorithm, "multi")
    value_error(lambda: D.sample(1, algorithm="wilson"), "wilson", "single")
    value_error(lambda: DependencyTrees(np.zeros((20, 4, 4))).sample(1, algorithm="wilson"), "wilson", "single")
    assert D.sample(1).shape == (1, 3)  # And goes on.


def test_beam_has_no_iterator() -> None:
    value_error(lambda: D.sample_without_replacement_iterator(algorithm="beam"), "beam")


def test_iterator_of_a_batch() -> None:
    value_error(lambda: DependencyTrees(BATCH).sample_without_replacement_iterator(), "d[b]")


# Trees.


@pytest.mark.parametrize(
    "heads",
    [
        [0, 1],
        [0, 1, 1, 1],
        [[0, 1]],
        0,
        [[[0], [1], [1]]],
        "abc",
        None,
        [0.0, 1.0, 1.0],
        [True, False, True],
        [[0, 1, 1], [0, 1]],
    ],
    ids=str,
)
def test_bad_heads(heads: Any) -> None:
    value_error(lambda: D.log_prob(heads))


@pytest.mark.parametrize("heads", [[0, 1, 4], [0, -1, 1], [0, 1, 2**31], [0, 1, 2**40], [0, 1, -(2**40)]], ids=str)
def test_heads_that_do_not_exist(heads: Any) -> None:
    value_error(lambda: D.log_prob(heads))
    value_error(lambda: D.log_prob([[0, 1, 1], heads]))
    value_error(lambda: DependencyTrees(BATCH).log_prob([[0, 1, 1], [0, 1, 1], heads]))
    value_error(lambda: D.log_prob(np.array(heads, np.int64).astype(np.uint64)))


def test_no_trees_have_no_probability() -> None:
    cases = [[1, 1, 1], [2, 1, 0], [0, 0, 0], [0, 3, 2], [1, 2, 3]]
    assert (D.log_prob(cases) == -INF).all()
    assert D.log_prob(cases[0]) == -INF


def test_bad_labels() -> None:
    labeled = DependencyTrees(Z, label_scores=np.zeros((4, 4, 2)))
    value_error(lambda: D.log_prob([0, 1, 1], [0, 0, 0]), "label_scores")
    value_error(D.label_marginals, "label_scores")
    value_error(lambda: labeled.log_prob([0, 1, 1], [0, 0, 2]), "label")
    value_error(lambda: labeled.log_prob([0, 1, 1], [0, -1, 0]), "label")
    value_error(lambda: labeled.log_prob([0, 1, 1], [0, 0]), "labels must have shape")
    value_error(lambda: labeled.log_prob([0, 1, 1], [[0, 0, 0]] * 2), "labels must have the shape")
    value_error(lambda: labeled.log_prob([0, 1, 1], [0.0, 0.0, 0.0]), "integers")
    value_error(lambda: labeled.log_prob([0, 1, 1], "abc"), "labels")


def test_labels_of_another_shape() -> None:
    """As many of them, but not one to one: (2, 3, n) is not (6, n)."""
    labeled = DependencyTrees(Z, label_scores=np.zeros((4, 4, 2)))
    heads = labeled.sample(6).heads
    value_error(lambda: labeled.log_prob(heads.reshape(2, 3, 3), np.zeros((6, 3), int)), "labels must have the shape")
    value_error(lambda: labeled.log_prob([0, 1, 1], [[0, 0, 0]]), "labels must have the shape")


@pytest.mark.parametrize("values", [np.zeros((3, 3)), np.zeros(4), 3.0, BATCH, np.zeros((4, 4, 1))], ids=np.shape)
@pytest.mark.parametrize("name", ["expectation", "hessian_product"])
def test_bad_edge_values(name: str, values: Any) -> None:
    value_error(lambda: getattr(D, name)(values), "must have shape (4, 4)")


@pytest.mark.parametrize("dtype", [complex, "U3", "M8[s]", object], ids=str)
@pytest.mark.parametrize("name", ["expectation", "hessian_product"])
def test_bad_types_of_edge_values(name: str, dtype: Any) -> None:
    value_error(lambda: getattr(D, name)(None), "must be float32 or float64")
    values = np.full((4, 4), "a", object) if dtype is object else np.zeros((4, 4), dtype)
    value_error(lambda: getattr(D, name)(values))


def test_bad_pairs() -> None:
    for name in ("kl_divergence", "cross_entropy"):
        query = getattr(D, name)
        value_error(lambda: query(DependencyTrees(np.zeros((3, 3)))), "sentence 0 has 3 words", "and 2 in the second")
        value_error(lambda: query(DependencyTrees(BATCH)), "one is a batch, the other a single sentence")
        value_error(lambda: query(DependencyTrees(BATCH[:1])), "needs distributions over the same sentences")
        value_error(lambda: query(DependencyTrees(Z, root="multi")), "root rule")
        value_error(lambda: query(Z), "DependencyTrees")
        value_error(lambda: query(None), "DependencyTrees")
        of_batch = getattr(DependencyTrees(BATCH, [3, 2, 1]), name)
        value_error(lambda: of_batch(DependencyTrees(BATCH)), "needs distributions over the same sentences")
        value_error(lambda: of_batch(DependencyTrees(BATCH[:2], [3, 2])), "needs distributions over the same sentences")


def test_bad_values_of_an_estimate() -> None:
    s = D.sample_without_replacement(3)
    for values in (np.ones(2), np.ones((3, 1)), 1.0, [[1, 2, 3]]):
        value_error(lambda: s.estimate(values), "(3,)")
    value_error(lambda: taproot.inclusion_probability(np.zeros(2), np.zeros(3)))
    value_error(lambda: taproot.inclusion_probability("a", 0.0))


# Statuses of draws.


def test_step_limit() -> None:
    scores = np.random.default_rng(1).normal(0, 1, (9, 9))
    d = DependencyTrees(scores)
    assert d.sample(100, algorithm="wilson-marginal", step_limit=10**6).shape == (100, 8)
    with pytest.raises(SentenceError) as caught:
        d.sample(100, algorithm="wilson-marginal", step_limit=9)
    assert caught.value.status == "step_limit" and caught.value.sentence == 0 and "step limit" in str(caught.value)
    # Only the trees that were given up are missing.
    free = d.sample(100, seed=0, algorithm="wilson-marginal")
    for labels in (None, np.zeros((9, 9, 2))):
        lenient = DependencyTrees(scores, on_error="status", label_scores=labels)
        drawn = lenient.sample(100, seed=0, algorithm="wilson-marginal", step_limit=9)
        heads = drawn if labels is None else drawn.heads
        lost = (heads == -1).all(axis=1)
        assert 0 < lost.sum() < 100 and (heads[~lost] >= 0).all()
        np.testing.assert_array_equal(heads[~lost], free[~lost])
        if labels is not None:
            assert (drawn.labels[lost] == -1).all() and (drawn.labels[~lost] >= 0).all()
    # Also on the path that shares the trees out, and in a batch; auto and elimination have no limit.
    with pytest.raises(SentenceError, match="sentence 0"):
        d.sample(5000, algorithm="wilson-reject", step_limit=9)
    many = DependencyTrees(np.stack([np.zeros((9, 9)), scores]), [1, 8], on_error="status").sample(
        50, algorithm="wilson-marginal", step_limit=9
    )
    assert (many[:, 0, 0] == 0).all() and (many[:, 1] == -1).any()
    for algorithm in ("auto", "elimination", "colbourn"):
        np.testing.assert_array_equal(
            d.sample(50, seed=0, algorithm=algorithm, step_limit=1), d.sample(50, seed=0, algorithm=algorithm)
        )


def peaked() -> np.ndarray:
    """One tree has all but some 1e-12 of the probability."""
    scores = np.zeros((4, 4))
    scores[0, 2] = scores[2, 1] = scores[1, 3] = 15.0
    return scores


def test_numerical_loss() -> None:
    d = DependencyTrees(peaked())
    with pytest.raises(SentenceError) as caught:
        d.sample_without_replacement(4, algorithm="list")
    assert caught.value.status == "numerical_loss" and caught.value.sentence == 0 and "rounding" in str(caught.value)
    lenient = DependencyTrees(np.stack([np.zeros((4, 4)), peaked()]), on_error="status")
    s = lenient.sample_without_replacement(4, algorithm="list")
    assert s.counts[0] == 4 and 1 <= s.counts[1] < 4 and not s.exhausted.any()
    assert (s.heads[s.counts[1] :, 1] == -1).all() and (s.heads[0, 1] == [2, 0, 1]).all()
    iterator = d.sample_without_replacement_iterator(algorithm="list")
    assert next(iterator).heads.tolist() == [2, 0, 1]
    with pytest.raises(SentenceError) as caught:
        for _ in iterator:
            pass
    assert caught.value.status == "numerical_loss"
    # The others lose nothing.
    for algorithm in ("auto", "trie", "beam"):
        assert d.sample_without_replacement(9, algorithm=algorithm).counts == 9


# Of what is no batch.


def test_a_single_sentence_is_no_sequence() -> None:
    for call in (lambda: len(D), lambda: D[0], lambda: list(D)):
        message(TypeError, call, "single")


@pytest.mark.parametrize("index", [slice(0, 2), "a", 1.0, None, [0, 1], np.array([0, 1])], ids=repr)
def test_bad_index(index: Any) -> None:
    text = message((TypeError, IndexError), lambda: DependencyTrees(BATCH)[index])
    assert "scalar" not in text  # What NumPy says of something else than the caller did.


def test_bad_numbers_of_threads() -> None:
    value_error(lambda: taproot.set_num_threads(-1), "negative")
    before = taproot.get_num_threads()
    assert before >= 1


@pytest.mark.parametrize("count", ["2", 1.5, None, 2**40], ids=repr)
def test_what_is_no_number_of_threads(count: Any) -> None:
    message((ValueError, TypeError, OverflowError), lambda: taproot.set_num_threads(count))


def test_everything_goes_on_after_an_error() -> None:
    bad = DependencyTrees(mixed_batch(), MIXED_LENGTHS)
    good = DependencyTrees(Z)
    expected = good.log_partition()
    for _ in range(50):
        for call in (bad.entropy, lambda: good.sample(1, algorithm="wilson"), lambda: good.log_prob([0, 1, 9])):
            with pytest.raises(ValueError):
                call()
    assert good.log_partition() == expected and bad.status[0] == "ok"


def test_messages_name_the_sentence_and_the_word() -> None:
    """What was found, where, and what was expected."""
    batch = DependencyTrees(BATCH, [3, 2, 3])
    labeled = DependencyTrees(Z, label_scores=np.zeros((4, 4, 2)))
    heads = np.array([[[2, 0, 2], [2, 0, -1], [2, 0, 2]], [[2, 0, 2], [3, 0, -1], [2, 0, 2]]])
    direction = np.zeros(BATCH.shape)
    direction[2, 1, 3] = np.nan
    for call, expected in [
        (
            lambda: DependencyTrees(BATCH, [3, 4, 3]),
            "lengths[1] is 4, and the scores are for up to 3 words: lengths count",
        ),
        (lambda: batch.log_prob(heads), "tree 1, sentence 1, word 1: the head is 3, not one of 0 to 2"),
        (lambda: D.log_prob([2, 0, 4]), "tree 0, word 3: the head is 4, not one of 0 to 3"),
        (
            lambda: D.log_prob([0, 2, 0, 2]),
            "heads must have shape (3,) or (k, 3,), not (4,). The scores have ROOT and 3 words",
        ),
        (lambda: labeled.log_prob([2, 0, 2], [0, 2, 1]), "tree 0, word 2: the label is 2, not one of 0 to 1"),
        (
            lambda: labeled.log_prob([2, 0, 2], [[0, 1, 1]]),
            "labels must have the shape of heads, (3,), and have (1, 3)",
        ),
        (
            lambda: DependencyTrees(BATCH, constraints=[None, None, Constraints().forbid(0, 1).force(2, 4)]),
            "constraints[2].force(2, 4) is not about a sentence of 3 words: heads are 0 (ROOT) to 3, words 1 to 3",
        ),
        (
            lambda: DependencyTrees(Z, constraints=Constraints().force_partial_tree([0, 1])),
            "constraints[0].force_partial_tree([0, 1]) is not about a sentence of 3 words",
        ),
        (lambda: batch.hessian_product(direction), "head 1 -> modifier 3 of sentence 2"),
        (lambda: D.draw("too few"), "words must be 3, one per word, not 2"),
        (lambda: D.kbest(2**64), "k must be below 18446744073709551616, and is 18446744073709551616"),
    ]:
        value_error(call, expected)
