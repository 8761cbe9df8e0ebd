# SPDX-License-Identifier: Apache-2.0
"""Projective trees: every question against an enumeration of the projective trees of short sentences."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle import INF, Enumeration, Heads, roots, score_matrices, sum_labels

import taproot
from taproot import Constraints, DependencyTrees

TINY = 1e-11


def near(value: Any, expected: Any, tolerance: float = TINY) -> None:
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def projective(heads: Heads) -> bool:
    """By the definition: all words between a head and its modifier descend from the head."""

    def descends(word: int, head: int) -> bool:
        while word not in (0, head):
            word = heads[word - 1]
        return word == head

    return all(descends(x, h) for m, h in enumerate(heads, 1) for x in range(min(h, m) + 1, max(h, m)))


def both(scores: np.ndarray, root: str, **options: Any) -> tuple[DependencyTrees, Enumeration]:
    d = DependencyTrees(scores, root=root, projective=True, **options)
    trees = Enumeration(scores, root, projective)
    assert d.status == ("no_tree" if len(trees) == 0 else "ok")
    return d, trees


@given(score_matrices(most=5), roots)
@example(np.zeros((2, 2)), "single")
@example(np.zeros((6, 6)), "multi")
def test_sums(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    assume(len(trees) > 0)
    near(d.log_partition(), trees.log_z)
    near(d.entropy(), trees.entropy(), 1e-10)
    near(d.marginals(), trees.marginals())
    near(d.root_marginals(), trees.marginals()[0, 1:])
    values = np.random.default_rng(1).normal(0, 1, scores.shape)
    near(d.expectation(values), float(np.dot(trees.p, trees.sums(values))))
    near(d.hessian_product(values), trees.covariance(values), 1e-10)


@given(score_matrices(most=4), roots)
def test_log_prob(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    assume(len(trees) > 0)
    everything = np.array(list(itertools.product(range(trees.n + 1), repeat=trees.n)), np.int32)
    found = d.log_prob(everything)
    expected = np.array([trees.log_prob(tuple(heads)) for heads in everything.tolist()])
    assert np.array_equal(found == -INF, expected == -INF)
    near(found[expected > -INF], expected[expected > -INF])


@given(score_matrices(most=4), roots)
@example(np.zeros((5, 5)), "single")
@example(np.zeros((5, 5)), "multi")
def test_decoding(scores: np.ndarray, root: str) -> None:
    d, trees = both(scores, root)
    assume(len(trees) > 0)
    score_of = dict(zip(trees.trees, trees.score))
    best = d.argmax()
    assert score_of[tuple(best.tolist())] == max(trees.score)
    ranked = d.kbest(len(trees) + 3)
    assert sorted(map(tuple, ranked.heads.tolist())) == sorted(trees.trees)
    assert ranked.score.tolist() == sorted(trees.score, reverse=True)
    assert ranked.score.tolist() == [score_of[tuple(heads)] for heads in ranked.heads.tolist()]
    assert ranked.heads[0].tolist() == best.tolist()
    assert [tree.heads.tolist() for tree in d.kbest_iterator()] == ranked.heads.tolist()
    gains = np.einsum("hm,thm->t", trees.marginals(), trees.edges())
    near(gains[trees.trees.index(tuple(d.mbr().tolist()))], gains.max())


@given(score_matrices(most=4), roots, st.sampled_from(["auto", "trie", "beam"]))
def test_without_replacement_exhausts(scores: np.ndarray, root: str, algorithm: Any) -> None:
    d, trees = both(scores, root)
    assume(len(trees) > 0)
    found = d.sample_without_replacement(len(trees) + 1, 3, algorithm)
    assert found.exhausted and sorted(map(tuple, found.heads.tolist())) == sorted(trees.trees)
    near(found.log_prob, [trees.log_prob(tuple(heads)) for heads in found.heads.tolist()])


@pytest.mark.parametrize("root", ["single", "multi"])
def test_sampling(root: str) -> None:
    scores = np.random.default_rng(5).normal(0, 1, (5, 5))
    d, trees = both(scores, root)
    heads = d.sample(20000, seed=4)
    assert taproot.is_projective(heads).all()
    found, counts = np.unique(heads, axis=0, return_counts=True)
    expected = {heads: 20000 * p for heads, p in zip(trees.trees, trees.p)}
    statistic = sum((c - expected[tuple(t)]) ** 2 / expected[tuple(t)] for t, c in zip(found.tolist(), counts))
    assert statistic < len(trees) + 8 * math.sqrt(2 * len(trees))
    with pytest.raises(ValueError, match="does not sample projective trees"):
        d.sample(1, algorithm="colbourn")
    with pytest.raises(ValueError, match="does not sample projective trees"):
        d.sample_without_replacement(1, algorithm="list")
    with pytest.raises(ValueError, match="does not sample projective trees"):
        d.expected_steps()


@given(score_matrices(most=4), score_matrices(most=4), roots, st.booleans(), st.booleans())
def test_divergences_between_families(
    first: np.ndarray, second: np.ndarray, root: str, p_projective: bool, q_projective: bool
) -> None:
    side = min(len(first), len(second))

    def make(scores: np.ndarray, restricted: bool) -> tuple[DependencyTrees, Enumeration]:
        trees = Enumeration(scores, root, projective if restricted else lambda heads: True)
        assume(len(trees) > 0)
        return DependencyTrees(scores, root=root, projective=restricted), trees

    p, p_trees = make(first[:side, :side], p_projective)
    q, q_trees = make(second[:side, :side], q_projective)
    if set(p_trees.trees) - set(q_trees.trees):
        assert p.cross_entropy(q) == INF and p.kl_divergence(q) == INF
    else:
        log_q = np.array([q_trees.log_prob(heads) for heads in p_trees.trees])
        near(p.cross_entropy(q), -math.fsum(p_trees.p * log_q), 1e-10)
        near(p.kl_divergence(q), math.fsum(p_trees.p * (p_trees.log_p - log_q)), 1e-10)


@given(score_matrices(most=5), roots)
def test_mass(scores: np.ndarray, root: str) -> None:
    everything, own = Enumeration(scores, root), Enumeration(scores, root, projective)
    assume(len(everything) > 0)
    mass = math.exp(own.log_z - everything.log_z)
    near(DependencyTrees(scores, root=root).projective_mass(), mass)
    if len(own):
        near(DependencyTrees(scores, root=root, projective=True).projective_mass(), mass)


def test_labels_and_constraints_act_on_the_scores() -> None:
    rng = np.random.default_rng(3)
    scores, label_scores = rng.normal(0, 1, (5, 5)), rng.normal(0, 1, (5, 5, 3))
    constraints = Constraints().force(2, 3).forbid(0, 1)
    d = DependencyTrees(scores, constraints=constraints, label_scores=label_scores, projective=True)
    trees = Enumeration(sum_labels(scores, label_scores), "single", lambda t: projective(t) and t[2] == 2 and t[0] != 0)
    near(d.log_partition(), trees.log_z)
    near(d.marginals(), trees.marginals())
    sampled = d.sample(50, seed=1)
    assert {tuple(heads) for heads in sampled.heads.tolist()} <= set(trees.trees)
    assert tuple(d.argmax().heads.tolist()) in trees.trees


def test_batches_keep_the_family() -> None:
    scores = np.random.default_rng(2).normal(0, 1, (3, 7, 7))
    d = DependencyTrees(scores, lengths=[6, 3, 5], projective=True)
    assert d.projective and d[1].projective
    assert repr(d[1]) == "DependencyTrees(words=3, root='single', projective=True)"
    for restored in (pickle.loads(pickle.dumps(d)), d):
        assert restored.projective
        near(restored.log_partition(), [one.log_partition() for one in d])
        assert restored.sample(3, seed=1).tolist() == d.sample(3, seed=1).tolist()
    assert (d.log_partition() < DependencyTrees(scores, lengths=[6, 3, 5]).log_partition()).all()
    with pytest.raises(ValueError, match="projective must be True or False"):
        DependencyTrees(scores, projective="yes")  # type: ignore[arg-type]


def test_a_sentence_without_a_projective_tree() -> None:
    scores = np.full((4, 4), -INF)
    scores[0, 2] = scores[3, 1] = scores[2, 3] = 0  # From 3 to 1, across the root.
    near(DependencyTrees(scores).log_partition(), 0)
    assert DependencyTrees(scores).projective_mass() == 0
    with pytest.raises(taproot.NoTreeError, match="or none that is projective"):
        DependencyTrees(scores, projective=True).log_partition()


def test_is_projective() -> None:
    for n in range(1, 5):
        everything = list(itertools.product(range(n + 1), repeat=n))
        trees = set(Enumeration(np.zeros((n + 1, n + 1)), "multi", projective).trees)
        assert taproot.is_projective(everything).tolist() == [heads in trees for heads in everything]
    assert taproot.is_projective(np.array([[[2, 0, -1]], [[3, 0, 2]]]), [[2], [3]]).tolist() == [[True], [False]]
    assert taproot.is_projective([2, 0, 2]) is True
    assert taproot.is_projective([2**40, 0]) is False
    with pytest.raises(ValueError, match="lengths must have shape"):
        taproot.is_projective([[1, 0]], [2, 2])
    with pytest.raises(ValueError, match="lengths must be 0 to 2, not 3"):
        taproot.is_projective([[1, 0]], [3])
