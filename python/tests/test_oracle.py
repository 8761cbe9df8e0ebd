# SPDX-License-Identifier: Apache-2.0
"""Every question, on short sentences with forbidden edges, against an enumeration of all trees."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle import INF, Enumeration, all_trees, expected_steps, is_tree, log_sum_exp, roots, score_matrices, sum_labels

import taproot
from taproot import Constraints, DependencyTrees

TINY = 1e-11


def near(value: Any, expected: Any, tolerance: float = TINY) -> None:
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def both(scores: np.ndarray, root: str, **options: Any) -> tuple[DependencyTrees, Enumeration]:
    """The distribution and its enumeration; an example without a tree is checked to have none, and ends here."""
    d, trees = DependencyTrees(scores, root=root, **options), Enumeration(scores, root)
    check_feasible(d, trees)
    return d, trees


def check_feasible(d: DependencyTrees, trees: Enumeration) -> None:
    if len(trees) == 0:
        assert d.status == "no_tree"
        for query in (d.log_partition, d.marginals, d.argmax, d.mbr, lambda: d.kbest(1), lambda: d.sample(1)):
            with pytest.raises(taproot.NoTreeError):
                query()
    else:
        assert d.status == "ok"
    assume(len(trees) > 0)


def test_the_oracle_counts_trees() -> None:
    # Cayley: n^(n-1) rooted trees, and (n+1)^(n-1) when any number of words may hang off ROOT.
    for n in range(1, 6):
        assert len(all_trees(n, "single")) == n ** (n - 1)
        assert len(all_trees(n, "multi")) == (n + 1) ** (n - 1)


def test_the_oracle_by_hand() -> None:
    # Weights 2 and 3 from ROOT, 5 from 1 to 2, 7 from 2 to 1: trees 2 * 5 = 10, 3 * 7 = 21 and, multi-root, 2 * 3 = 6.
    scores = np.log([[1.0, 2, 3], [1, 1, 5], [1, 7, 1]])
    near(Enumeration(scores, "single").log_z, math.log(31))
    near(Enumeration(scores, "multi").log_z, math.log(37))
    near(Enumeration(scores, "multi").marginals()[0], [0, 16 / 37, 27 / 37])
    near(sorted(Enumeration(scores, "single").p), [10 / 31, 21 / 31])


@given(score_matrices(most=5), roots)
@example(np.zeros((2, 2)), "single")
def test_sums(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    near(d.log_partition(), trees.log_z)
    near(d.entropy(), trees.entropy(), 1e-10)
    near(d.marginals(), trees.marginals())
    near(d.root_marginals(), trees.marginals()[0, 1:])
    if root == "single":  # Relatively accurate, however small.
        np.testing.assert_allclose(d.root_marginals(), trees.marginals()[0, 1:], rtol=1e-10)


@given(score_matrices(most=4), roots)
def test_marginals_are_the_gradient(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    step = 1e-4
    p = d.marginals()
    for h, m in [(0, 1), (trees.trees[0][-1], trees.n)]:
        if scores[h, m] == -INF:
            assert p[h, m] == 0
            continue
        up, down = scores.copy(), scores.copy()
        up[h, m] += step
        down[h, m] -= step
        slope = (DependencyTrees(up, root=root).log_partition() - DependencyTrees(down, root=root).log_partition()) / (
            2 * step
        )
        assert slope == pytest.approx(p[h, m], abs=1e-6)


@given(score_matrices(most=4), roots)
def test_log_prob(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    everything = np.array(list(itertools.product(range(trees.n + 1), repeat=trees.n)), np.int32)
    found = d.log_prob(everything)
    expected = np.full(len(everything), -INF)
    place = {heads: i for i, heads in enumerate(map(tuple, everything.tolist()))}
    for heads, log_p in zip(trees.trees, trees.log_p):
        expected[place[heads]] = log_p
    assert np.array_equal(found == -INF, expected == -INF)
    near(found[expected > -INF], expected[expected > -INF])
    near(np.exp(found).sum(), 1)
    assert d.log_prob(trees.trees[0]) == found[place[trees.trees[0]]]


@given(score_matrices(most=4), roots, st.integers(0, 2**32))
def test_expectation(scores: np.ndarray, root: str, seed: int) -> None:
    d, trees = both(scores, root)
    values = np.random.default_rng(seed).normal(0, 3, scores.shape)
    expected = float(np.dot(trees.p, trees.sums(values)))
    near(d.expectation(values), expected)
    # What is forbidden counts 0, even if it is not a number.
    values[scores == -INF] = math.nan
    np.fill_diagonal(values, math.nan)
    values[:, 0] = math.nan
    near(d.expectation(values), expected)


def test_expectation_of_edges_that_no_tree_has() -> None:
    """Edge 1 -> 2 is allowed, but in no tree: its probability is zero, so its value does not count."""
    no = -INF
    scores = np.array([[0, no, 0, 0, no], [0, 0, 0, 0, 2], [0, -1, 0, -1, -1], [0, no, 0, 0, no], [0, 0, no, 0, 0]])
    assert Enumeration(scores, "single").marginals()[1, 2] == 0
    values = np.zeros((5, 5))
    values[1, 2] = math.nan
    assert DependencyTrees(scores).expectation(values) == 0


@given(score_matrices(most=4), roots, st.integers(0, 2**32))
def test_hessian_product(scores: np.ndarray, root: str, seed: int) -> None:
    d, trees = both(scores, root)
    direction = np.random.default_rng(seed).normal(0, 1, scores.shape)
    found = d.hessian_product(direction)
    near(found, trees.covariance(direction), 1e-10)
    assert not found[:, 0].any() and not np.diag(found).any()
    assert not found[scores == -INF].any()


@given(score_matrices(most=4, forbidden=False), roots)
def test_hessian_is_symmetric_and_moves_the_marginals(scores: np.ndarray, root: str) -> None:
    d = DependencyTrees(scores, root=root)
    rng = np.random.default_rng(3)
    v, w = rng.normal(0, 1, (2, *scores.shape))
    near(np.vdot(w, d.hessian_product(v)), np.vdot(v, d.hessian_product(w)), 1e-10)
    step = 1e-4
    change = (
        DependencyTrees(scores + step * v, root=root).marginals()
        - DependencyTrees(scores - step * v, root=root).marginals()
    )
    near(d.hessian_product(v), change / (2 * step), 1e-5)


@given(score_matrices(most=4), score_matrices(most=4), roots)
def test_divergences(first: np.ndarray, second: np.ndarray, root: str) -> None:
    side = min(len(first), len(second))
    first, second = first[:side, :side], second[:side, :side]
    p, p_trees = both(first, root)
    q, q_trees = both(second, root)
    missing = set(p_trees.trees) - set(q_trees.trees)
    if missing:
        assert p.cross_entropy(q) == INF and p.kl_divergence(q) == INF
    else:
        log_q = np.array([q_trees.log_prob(heads) for heads in p_trees.trees])
        near(p.cross_entropy(q), -math.fsum(p_trees.p * log_q), 1e-10)
        near(p.kl_divergence(q), math.fsum(p_trees.p * (p_trees.log_p - log_q)), 1e-10)
    assert p.kl_divergence(q) >= 0
    near(p.kl_divergence(p), 0)
    near(p.cross_entropy(p), p_trees.entropy(), 1e-10)


@given(score_matrices(most=4), roots)
def test_tries_and_steps(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    single, multi = Enumeration(scores, "single").log_z, Enumeration(scores, "multi").log_z
    tries = math.exp(multi - single) if single > -INF else INF
    np.testing.assert_allclose(d.expected_tries(), tries, rtol=1e-10)
    # Every word is drawn once at least, but for the root that is given.
    assert d.expected_steps() >= trees.n - (root == "single") - 1e-9


@given(score_matrices(most=4, forbidden=False), roots)
def test_expected_steps(scores: np.ndarray, root: str) -> None:
    np.testing.assert_allclose(
        DependencyTrees(scores, root=root).expected_steps(), expected_steps(scores, root), rtol=1e-7
    )


@given(score_matrices(most=4), roots)
@example(np.zeros((5, 5)), "single")
@example(np.zeros((5, 5)), "multi")
def test_decoding(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    score_of = dict(zip(trees.trees, trees.score))
    best = d.argmax()
    assert best.dtype == np.int32 and best.shape == (trees.n,)
    assert score_of[tuple(best.tolist())] == max(trees.score)
    # All of them, in order, each with its score rounded once.
    ranked = d.kbest(len(trees) + 3)
    assert ranked.counts == len(ranked) == len(trees)
    assert sorted(map(tuple, ranked.heads.tolist())) == sorted(trees.trees)
    assert ranked.score.tolist() == sorted(trees.score, reverse=True)
    assert ranked.score.tolist() == [score_of[tuple(heads)] for heads in ranked.heads.tolist()]
    assert ranked.heads[0].tolist() == best.tolist()
    few = d.kbest(2)
    assert np.array_equal(few.heads, ranked.heads[:2]) and np.array_equal(few.score, ranked.score[:2])
    # Minimum Bayes risk: ties are open, its value is not.
    gains = np.einsum("hm,thm->t", trees.marginals(), trees.edges())
    near(gains[trees.trees.index(tuple(d.mbr().tolist()))], gains.max())


@given(score_matrices(most=4), roots, st.floats(1e9, 1e14), st.booleans())
def test_argmax_with_large_masks(scores: np.ndarray, root: str, mask: float, narrow: bool) -> None:
    masked = np.where(scores == -INF, -mask, np.where(np.isfinite(scores), scores, 0.0))
    if narrow:
        masked = masked.astype(np.float32).astype(np.float64)
    trees = Enumeration(masked, root)
    best = DependencyTrees(masked.astype(np.float32) if narrow else masked, root=root).argmax()
    # Sums as exact integers of 2^-200: a mask must not swallow the scores beside it.
    exact = [sum(int(masked[h, m] * 2.0**200) for m, h in enumerate(heads, 1)) for heads in trees.trees]
    assert exact[trees.trees.index(tuple(best.tolist()))] == max(exact)


@st.composite
def labeled(draw: st.DrawFn, most: int = 3) -> tuple[np.ndarray, np.ndarray]:
    scores = draw(score_matrices(most=most))
    count = draw(st.integers(1, 3))
    cell = st.one_of(st.floats(-6, 6, width=32), st.floats(-6, 6, width=32), st.just(-INF))
    size = scores.size * count
    return scores, np.array(draw(st.lists(cell, min_size=size, max_size=size))).reshape(*scores.shape, count)


@given(labeled(), roots)
def test_labels(case: tuple[np.ndarray, np.ndarray], root: str) -> None:
    scores, label_scores = case
    count = label_scores.shape[-1]
    d = DependencyTrees(scores, root=root, label_scores=label_scores)
    trees = Enumeration(sum_labels(scores, label_scores), root)
    check_feasible(d, trees)
    near(d.log_partition(), trees.log_z)
    near(d.marginals(), trees.marginals())
    near(d.entropy(), trees.entropy(), 1e-10)
    near(d.log_prob(trees.trees), trees.log_p)

    # Every labeled tree by itself.
    pairs, log_p = [], []
    of_edges = np.zeros(label_scores.shape)
    for heads in trees.trees:
        for labels in itertools.product(range(count), repeat=trees.n):
            edges = [scores[h, m] + label_scores[h, m, l] for m, (h, l) in enumerate(zip(heads, labels), 1)]
            pairs.append((heads, labels))
            log_p.append(math.fsum(edges) - trees.log_z if -INF not in edges else -INF)
            for m, (h, l) in enumerate(zip(heads, labels), 1):
                of_edges[h, m, l] += math.exp(log_p[-1])
    found = d.log_prob([heads for heads, _ in pairs], [labels for _, labels in pairs])
    assert np.array_equal(found == -INF, np.array(log_p) == -INF)
    near(np.exp(found), np.exp(log_p))
    near(found[found > -INF], np.array(log_p)[found > -INF], 1e-10)
    near(log_sum_exp(found.tolist()), 0)
    near(d.label_marginals(), of_edges)
    near(d.label_marginals().sum(axis=-1), d.marginals())

    # The best labeled tree, and the best labels of each tree. Edges count with their best label, rounded to double.
    best = d.argmax()
    assert isinstance(best, taproot.LabeledTrees) and best.heads.dtype == best.labels.dtype == np.int32
    near(d.log_prob(best.heads, best.labels), max(log_p), 1e-9)
    top = label_scores.max(axis=-1)
    with np.errstate(invalid="ignore"):  # Where nothing is read, inf meets -inf.
        decoded = Enumeration(scores + top, root)
    ranked = d.kbest(1000)
    assert ranked.score.tolist() == sorted(decoded.score, reverse=True)
    assert ranked.labels is not None and ranked.labels.shape == ranked.heads.shape
    for heads, labels in [
        *zip(ranked.heads.tolist(), ranked.labels.tolist()),
        (best.heads.tolist(), best.labels.tolist()),
    ]:
        assert labels == [int(np.argmax(label_scores[h, m])) for m, h in enumerate(heads, 1)]
    by_risk = d.mbr()
    assert by_risk.labels.tolist() == [
        int(np.argmax(label_scores[h, m])) for m, h in enumerate(by_risk.heads.tolist(), 1)
    ]


@st.composite
def constrained(draw: st.DrawFn) -> tuple[np.ndarray, Constraints, Any]:
    """Scores, constraints, and which trees they keep."""
    scores = draw(score_matrices(least=2, most=4))
    n = len(scores) - 1
    c = Constraints()
    tests = []
    edges = st.tuples(st.integers(0, n), st.integers(1, n)).filter(lambda edge: edge[0] != edge[1])
    for h, m in draw(st.lists(edges, max_size=2)):
        c.force(h, m)
        tests.append(lambda heads, h=h, m=m: heads[m - 1] == h)
    for h, m in draw(st.lists(edges, max_size=4)):
        c.forbid(h, m)
        tests.append(lambda heads, h=h, m=m: heads[m - 1] != h)
    if draw(st.booleans()):
        allowed = draw(st.lists(st.integers(1, n), max_size=n))
        c.allow_roots(allowed)
        tests.append(lambda heads: all(h != 0 or m in allowed for m, h in enumerate(heads, 1)))
    if draw(st.booleans()):
        partial = [
            draw(st.one_of(st.just(-1), st.just(-1), st.integers(0, n).filter(lambda h, m=m: h != m)))
            for m in range(1, n + 1)
        ]
        c.force_partial_tree(partial)
        tests.append(lambda heads: all(p < 0 or p == h for p, h in zip(partial, heads)))
    return scores, c, lambda heads: all(test(heads) for test in tests)


@given(constrained(), roots)
def test_constraints(case: tuple[np.ndarray, Constraints, Any], root: str) -> None:
    scores, c, keep = case
    d = DependencyTrees(scores, root=root, constraints=c)
    trees = Enumeration(scores, root, keep)
    check_feasible(d, trees)
    near(d.log_partition(), trees.log_z)
    near(d.marginals(), trees.marginals())
    near(d.entropy(), trees.entropy(), 1e-10)
    near(d.log_prob(trees.trees), trees.log_p)
    ranked = d.kbest(1000)
    assert sorted(map(tuple, ranked.heads.tolist())) == sorted(trees.trees)
    assert ranked.score.tolist() == sorted(trees.score, reverse=True)
    drawn = {tuple(heads) for heads in d.sample(20, seed=1).tolist()}
    assert drawn <= set(trees.trees)
    distinct = d.sample_without_replacement(1000)
    assert sorted(map(tuple, distinct.heads.tolist())) == sorted(trees.trees) and distinct.exhausted
    # All others are impossible.
    others = [heads for heads in all_trees(trees.n, root) if heads not in set(trees.trees)]
    assert (d.log_prob(np.reshape(others, (-1, trees.n)).astype(int)) == -INF).all()


@given(labeled(), roots, st.integers(1, 3), st.integers(0, 3))
def test_constraints_and_labels(case: tuple[np.ndarray, np.ndarray], root: str, word: int, head: int) -> None:
    scores, label_scores = case
    n = len(scores) - 1
    word = 1 + (word - 1) % n
    head = (word + 1 + head % n) % (n + 1)  # Any node but the word.
    d = DependencyTrees(scores, root=root, label_scores=label_scores, constraints=Constraints().force(head, word))
    trees = Enumeration(sum_labels(scores, label_scores), root, lambda heads: heads[word - 1] == head)
    check_feasible(d, trees)
    near(d.log_partition(), trees.log_z)
    near(d.label_marginals().sum(axis=-1), trees.marginals())
    assert d.argmax().heads[word - 1] == head


@given(st.lists(score_matrices(most=3), min_size=1, max_size=4), roots, st.data())
def test_a_batch_is_its_sentences(matrices: list[np.ndarray], root: str, data: st.DataObject) -> None:
    """Whatever a batch is asked, it says of each sentence what the sentence says by itself."""
    batch = DependencyTrees(matrices, root=root, on_error="status")
    side = 1 + batch.event_shape[0]
    values = np.random.default_rng(data.draw(st.integers(0, 99))).normal(0, 1, (len(matrices), side, side))
    other = DependencyTrees([m[::-1, ::-1].T for m in matrices], root=root, on_error="status")
    ranked = batch.kbest(5)
    for b, scores in enumerate(matrices):
        own = len(scores)
        d = DependencyTrees(scores, root=root, on_error="status")
        same = lambda found, expected: np.testing.assert_array_equal(found, expected)  # noqa: E731  NaN is NaN.
        assert batch.status[b] == d.status
        same(batch.log_partition()[b], d.log_partition())
        same(batch.entropy()[b], d.entropy())
        same(batch.expected_tries()[b], d.expected_tries())
        same(batch.expected_steps()[b], d.expected_steps())
        same(batch.marginals()[b, :own, :own], d.marginals())
        same(batch.root_marginals()[b, : own - 1], d.root_marginals())
        same(batch.expectation(values)[b], d.expectation(values[b, :own, :own]))
        same(batch.kl_divergence(other)[b], d.kl_divergence(other[b]))
        same(batch.argmax()[b, : own - 1], d.argmax())
        same(batch.mbr()[b, : own - 1], d.mbr())
        alone = d.kbest(5)
        assert ranked.counts[b] == alone.counts
        same(ranked.heads[: alone.counts, b, : own - 1], alone.heads)
        same(ranked.score[: alone.counts, b], alone.score)
        assert (ranked.score[alone.counts :, b] == -INF).all() and (ranked.heads[alone.counts :, b] == -1).all()


@given(st.lists(score_matrices(most=3), min_size=1, max_size=4), roots)
def test_the_hessian_of_a_batch_is_that_of_its_sentences(matrices: list[np.ndarray], root: str) -> None:
    batch = DependencyTrees(matrices, root=root, on_error="status")
    side = 1 + batch.event_shape[0]
    direction = np.random.default_rng(5).normal(0, 1, (len(matrices), side, side))
    found = batch.hessian_product(direction)
    for b, d in enumerate(batch):
        own = int(batch.lengths[b]) + 1
        np.testing.assert_array_equal(found[b, :own, :own], d.hessian_product(direction[b, :own, :own]))
        if d.status == "ok":
            assert not found[b, own:].any() and not found[b, :, own:].any()
        else:
            assert np.isnan(found[b]).all()


@given(score_matrices(most=4), roots, st.integers(0, 2**64 - 1))
def test_samples_are_trees(scores: np.ndarray, root: str, seed: int) -> None:
    d, trees = both(scores, root)
    names = ["auto", "elimination", "colbourn"] + (
        ["wilson"] if root == "multi" else ["wilson-marginal", "wilson-reject"]
    )
    # A walk may need e^80 steps here: those by name are for tamer weights.
    tame = d.expected_steps() < 1e3 and d.expected_tries() < 1e2
    for name in names if tame else names[:3]:
        for heads in d.sample(5, seed, name).tolist():
            assert is_tree(tuple(heads), root) and tuple(heads) in trees.trees
    for name in ("auto", "trie", "beam"):
        s = d.sample_without_replacement(3, seed, name)
        assert len({tuple(heads) for heads in s.heads.tolist()}) == len(s) == min(3, len(trees))
        near(s.log_prob, d.log_prob(s.heads))
        assert s.exhausted == (len(trees) <= 3)
