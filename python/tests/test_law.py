# SPDX-License-Identifier: Apache-2.0
"""Samples follow the law they should, tree by tree; and every such test is shown to notice a law that is wrong.

A correct program fails one of these with probability 1e-6 at most, over the choice of seeds; these are fixed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from laws import (
    FALSE_ALARM,
    chi_square_p,
    chi_square_tail,
    inclusion,
    kappa_cdf,
    mean_p,
    normal_tail,
    ordered_law,
    shares_p,
    uniform_p,
)
from oracle import INF, Enumeration, log_sum_exp, sum_labels

from taproot import DependencyTrees, WithoutReplacementSample, horvitz_thompson_weight, inclusion_probability

WITH = {
    "single": ["auto", "elimination", "wilson-marginal", "wilson-reject", "colbourn"],
    "multi": ["auto", "elimination", "wilson", "colbourn"],
}
CASES = [(root, name) for root, names in WITH.items() for name in names]
WITHOUT_REPLACEMENT = [(root, name) for root in WITH for name in ("auto", "trie", "beam", "list")]
DRAWS = 100_000
REPEATS = 40_000


def make_scores(n: int, forbidden: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    scores = np.random.default_rng(n).normal(0, 1.2, (n + 1, n + 1))
    for h, m in forbidden:
        scores[h, m] = -INF
    return scores


PROBLEMS = {
    "four words": make_scores(4),
    "forbidden edges": make_scores(4, ((0, 1), (2, 3), (1, 4), (4, 3))),
    # Words 1 and 2 attract each other: walks go round, and `auto` gives some of them up.
    "a cycle": make_scores(3) + np.array([[0, 0, 0, 0], [0, 0, 8, 0], [0, 8, 0, 0], [0, 0, 0, 0]]),
    "two words": make_scores(2),
}


# The tools first.


def test_tails() -> None:
    # An even number of degrees: a Poisson sum.
    for degrees in (2, 4, 10, 64, 200):
        for x in (0.1, 1.0, degrees / 2, degrees, 1.5 * degrees, 2 * degrees + 60):
            y = x / 2
            exact = math.fsum(math.exp(i * math.log(y) - y - math.lgamma(i + 1)) for i in range(degrees // 2))
            assert chi_square_tail(x, degrees) == pytest.approx(exact, rel=1e-10)
    for x in (0.3, 3.841, 24.0):  # One degree: the square of a normal variable.
        assert chi_square_tail(x, 1) == pytest.approx(normal_tail(math.sqrt(x)), rel=1e-10)
    # The critical values of printed tables.
    for x, degrees, tail in [
        (11.070, 5, 0.05),
        (24.996, 15, 0.05),
        (30.578, 15, 0.01),
        (59.703, 30, 0.001),
        (2.706, 1, 0.1),
    ]:
        assert chi_square_tail(x, degrees) == pytest.approx(tail, rel=2e-3)


def test_chi_square_by_simulation() -> None:
    rng = np.random.default_rng(1)
    p = np.array([0.4, 0.3, 0.2, 0.06, 0.03, 0.005, 0.005])
    small = [chi_square_p(p, rng.multinomial(2000, p)) for _ in range(2000)]
    assert normal_tail((np.mean(np.array(small) < 0.05) - 0.05) / math.sqrt(0.05 * 0.95 / 2000)) > FALSE_ALARM
    assert chi_square_p(p, rng.multinomial(20000, np.roll(p, 1))) < FALSE_ALARM
    assert chi_square_p(np.array([1.0, 0.0, 0.0]) * 0.5 + [0, 0.5, 0], np.array([50, 49, 1])) == 0  # The impossible.


def test_inclusion_probabilities_both_ways() -> None:
    p = Enumeration(make_scores(3), "single").p
    for k in (1, 2, 3):
        law = ordered_law(p, k)
        assert law.sum() == pytest.approx(1)
        exact = sum(law.sum(axis=tuple(j for j in range(k) if j != i)) for i in range(k))
        np.testing.assert_allclose(inclusion(p, k), exact, atol=1e-10)


# With replacement.


@pytest.mark.parametrize("root", WITH)
def test_a_cycle_is_one(root: str) -> None:
    # The budget of `auto` is 7 steps per word. Many walks must exceed it, so that the law of the substitute is tested.
    assert DependencyTrees(PROBLEMS["a cycle"], root=root).expected_steps() > 7 * 3


def law_p(trees: Enumeration, heads: np.ndarray, p: np.ndarray | None = None) -> float:
    return chi_square_p(trees.p if p is None else p, np.bincount(trees.index(heads), minlength=len(trees)))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("root", "algorithm"), CASES)
def test_sample(problem: str, root: str, algorithm: str) -> None:
    scores = PROBLEMS[problem]
    heads = DependencyTrees(scores, root=root).sample(DRAWS, seed=11, algorithm=algorithm)
    assert law_p(Enumeration(scores, root), heads) > FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), CASES)
def test_sample_over_sentences(root: str, algorithm: str) -> None:
    """The other direction: one tree each of many sentences, which must be independent of each other."""
    scores = PROBLEMS["forbidden edges"]
    many = DependencyTrees(
        np.broadcast_to(scores, (DRAWS // 4, 5, 5)), root=root, ids=np.arange(77, 77 + DRAWS // 4), copy=False
    )
    heads = many.sample(2, seed=5, algorithm=algorithm)
    trees = Enumeration(scores, root)
    assert law_p(trees, heads[0]) > FALSE_ALARM
    assert law_p(trees, heads[1]) > FALSE_ALARM
    # Both trees of a sentence, and the trees of neighboring sentences, together.
    few = np.argsort(np.argsort(-trees.p)).clip(0, 5)
    p = np.bincount(few, trees.p)
    for first, second in [(heads[0], heads[1]), (heads[0, :-1], heads[0, 1:])]:
        pairs = few[trees.index(first)] * 6 + few[trees.index(second)]
        # Neighbors overlap: every other pair, so that pairs are independent.
        step = 1 if first is heads[0] else 2
        assert chi_square_p(np.outer(p, p), np.bincount(pairs[::step], minlength=36)) > FALSE_ALARM


def test_sample_over_seeds() -> None:
    scores = PROBLEMS["two words"]
    d = DependencyTrees(scores, root="multi")
    heads = np.concatenate([d.sample(1, seed=seed * 2**40 + 3) for seed in range(4000)])
    assert law_p(Enumeration(scores, "multi"), heads) > FALSE_ALARM


@pytest.mark.parametrize("problem", ["four words", "forbidden edges", "a cycle", "two words"])
def test_the_biased_sampler_is_noticed(problem: str) -> None:
    scores = PROBLEMS[problem]
    heads = DependencyTrees(scores).sample(DRAWS, seed=11, algorithm="wilson-rc")
    assert law_p(Enumeration(scores, "single"), heads) < FALSE_ALARM


@pytest.mark.parametrize("root", WITH)
def test_wrong_laws_are_noticed(root: str) -> None:
    scores = PROBLEMS["four words"]
    trees = Enumeration(scores, root)
    d = DependencyTrees(scores, root=root)
    rng = np.random.default_rng(2)
    assert law_p(trees, trees.heads[rng.integers(0, len(trees), DRAWS)]) < FALSE_ALARM
    # The score of one edge, as likely as not, that is off by 0.15; and weights read the wrong way round.
    h, m = np.unravel_index(np.argmin(np.abs(trees.marginals() - 0.5)), (5, 5))
    off = scores.copy()
    off[h, m] += 0.15
    for wrong in (off, scores.T):
        assert law_p(trees, DependencyTrees(wrong, root=root).sample(DRAWS, seed=11)) < FALSE_ALARM
    assert law_p(trees, d.sample(DRAWS, seed=11)) > FALSE_ALARM
    # A floor under probabilities, as others have it: trees that ought to be rare.
    floored = np.maximum(trees.p, 2e-3)
    assert law_p(trees, trees.heads[rng.choice(len(trees), DRAWS, p=floored / floored.sum())]) < FALSE_ALARM


# Labels.


def labeled_problem() -> tuple[np.ndarray, np.ndarray]:
    label_scores = np.random.default_rng(8).normal(0, 1, (4, 4, 2))
    label_scores[1, 2, 0] = -INF
    return make_scores(3), label_scores


def labeled_law(scores: np.ndarray, label_scores: np.ndarray, root: str) -> tuple[Enumeration, np.ndarray]:
    """p of [tree][labels as bits]."""
    trees = Enumeration(sum_labels(scores, label_scores), root)
    out = np.zeros((len(trees), 2**trees.n))
    for t, heads in enumerate(trees.trees):
        for code in range(2**trees.n):
            edges = [scores[h, m] + label_scores[h, m, code >> (m - 1) & 1] for m, h in enumerate(heads, 1)]
            out[t, code] = math.exp(sum(edges) - trees.log_z)
    return trees, out


@pytest.mark.parametrize(("root", "algorithm"), CASES)
def test_labeled_sample(root: str, algorithm: str) -> None:
    scores, label_scores = labeled_problem()
    trees, law = labeled_law(scores, label_scores, root)
    drawn = DependencyTrees(scores, root=root, label_scores=label_scores).sample(DRAWS, seed=3, algorithm=algorithm)
    codes = trees.index(drawn.heads) * law.shape[1] + drawn.labels @ (1 << np.arange(trees.n))
    counts = np.bincount(codes, minlength=law.size)
    assert chi_square_p(law, counts) > FALSE_ALARM
    # Uniform labels, and labels of another tree, would not do.
    for wrong in (np.random.default_rng(4).integers(0, 2, drawn.labels.shape), np.roll(drawn.labels, 1, axis=0)):
        codes = trees.index(drawn.heads) * law.shape[1] + wrong @ (1 << np.arange(trees.n))
        assert chi_square_p(law, np.bincount(codes, minlength=law.size)) < FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_labeled_sample_without_replacement(root: str, algorithm: str) -> None:
    """Different trees, with labels drawn given the tree: for every tree of the pair."""
    scores, label_scores = labeled_problem()
    trees, law = labeled_law(scores, label_scores, root)
    many = DependencyTrees(
        np.broadcast_to(scores, (5000, 4, 4)),
        root=root,
        label_scores=np.broadcast_to(label_scores, (5000, 4, 4, 2)),
        copy=False,
    )
    s = many.sample_without_replacement(2, seed=6, algorithm=algorithm)
    assert s.labels is not None
    first = trees.index(s.heads[0])
    codes = first * law.shape[1] + s.labels[0] @ (1 << np.arange(trees.n))
    assert chi_square_p(law, np.bincount(codes, minlength=law.size)) > FALSE_ALARM
    second = trees.index(s.heads[1])
    after = ordered_law(trees.p, 2).sum(axis=0)
    codes = second * law.shape[1] + s.labels[1] @ (1 << np.arange(trees.n))
    given_tree = law / trees.p[:, None]
    assert chi_square_p(given_tree * after[:, None], np.bincount(codes, minlength=law.size)) > FALSE_ALARM


# Without replacement.

SMALL = make_scores(3, ((0, 3),))


@cache
def distinct(root: str, algorithm: str, k: int) -> WithoutReplacementSample:
    many = DependencyTrees(np.broadcast_to(SMALL, (REPEATS, 4, 4)), root=root, copy=False)
    return many.sample_without_replacement(k, seed=23, algorithm=algorithm)


def pair_p(trees: Enumeration, first: np.ndarray, second: np.ndarray) -> float:
    law = ordered_law(trees.p, 2)
    return chi_square_p(law, np.bincount(first * len(trees) + second, minlength=law.size))


def wrong_pairs(trees: Enumeration) -> np.ndarray:
    """Two trees drawn together, and again until they differ: their law is p_i p_j / (1 - sum p^2), which is wrong."""
    pairs = np.random.default_rng(9).choice(len(trees), (8 * REPEATS, 2), p=trees.p)
    out: np.ndarray = pairs[pairs[:, 0] != pairs[:, 1]][:REPEATS]
    assert len(out) == REPEATS
    return out


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_ordered_pairs(root: str, algorithm: str) -> None:
    trees = Enumeration(SMALL, root)
    s = distinct(root, algorithm, 3)
    index = trees.index(s.heads)
    assert (index[0] != index[1]).all() and (index[0] != index[2]).all() and (index[1] != index[2]).all()
    assert pair_p(trees, index[0], index[1]) > FALSE_ALARM
    law = ordered_law(trees.p, 3)
    counts = np.bincount((index[0] * len(trees) + index[1]) * len(trees) + index[2], minlength=law.size)
    assert chi_square_p(law, counts) > FALSE_ALARM
    np.testing.assert_allclose(s.log_prob, trees.log_p[index], atol=1e-12)


@pytest.mark.parametrize("root", WITH)
def test_wrong_pairs_are_noticed(root: str) -> None:
    trees = Enumeration(SMALL, root)
    pairs = wrong_pairs(trees)
    assert pair_p(trees, pairs[:, 0], pairs[:, 1]) < FALSE_ALARM
    good = trees.index(distinct(root, "auto", 3).heads)
    assert pair_p(trees, good[1], good[0]) < FALSE_ALARM
    # The biased sampler, repeats skipped.
    if root == "single":
        d = DependencyTrees(np.broadcast_to(SMALL, (REPEATS, 4, 4)), copy=False)
        drawn = trees.index(d.sample(30, seed=1, algorithm="wilson-rc"))
        other = np.argmax(drawn != drawn[0], axis=0)
        assert pair_p(trees, drawn[0], drawn[other, np.arange(REPEATS)]) < FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_inclusion(root: str, algorithm: str) -> None:
    trees = Enumeration(SMALL, root)
    s = distinct(root, algorithm, 3)
    counts = np.bincount(trees.index(s.heads).ravel(), minlength=len(trees))
    assert shares_p(inclusion(trees.p, 3), counts, REPEATS) > FALSE_ALARM
    # One tree more or less in the sample, or the wrong pairs, would be noticed.
    assert shares_p(inclusion(trees.p, 2), counts, REPEATS) < FALSE_ALARM
    wrong = np.bincount(wrong_pairs(trees).ravel(), minlength=len(trees))
    assert shares_p(inclusion(trees.p, 2), wrong, REPEATS) < FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_gumbels(root: str, algorithm: str) -> None:
    trees = Enumeration(SMALL, root)
    s = distinct(root, algorithm, 3)
    assert (np.diff(s.gumbel, axis=0) < 0).all() and (s.kappa < s.gumbel[-1]).all() and not s.exhausted.any()
    # The largest of all is a standard Gumbel; the fourth has a law that follows from p.
    assert uniform_p(np.exp(-np.exp(-s.gumbel[0]))) > FALSE_ALARM
    assert uniform_p(kappa_cdf(trees.p, 3, s.kappa)) > FALSE_ALARM
    for i in (1, 2):
        assert uniform_p(kappa_cdf(trees.p, i, s.gumbel[i])) > FALSE_ALARM
    # Shifted so that the first one is 0 (the conditioning that two public implementations leave out).
    assert uniform_p(kappa_cdf(trees.p, 3, s.kappa - s.gumbel[0])) < FALSE_ALARM
    assert uniform_p(kappa_cdf(trees.p, 3, s.gumbel[2])) < FALSE_ALARM
    # The first tree says nothing about its Gumbel.
    index = trees.index(s.heads[0])
    order = np.argsort(np.argsort(-trees.p)).clip(0, 3)
    p = np.bincount(order, trees.p)
    upper = np.exp(-np.exp(-s.gumbel[0])) > 0.5
    assert chi_square_p(np.outer(p, [0.5, 0.5]), np.bincount(order[index] * 2 + upper, minlength=8)) > FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_gumbels_of_all_trees(root: str, algorithm: str) -> None:
    """When all trees are drawn, the Gumbels of all, less their log-probabilities, are standard ones and independent."""
    scores = make_scores(3, ((0, 3), (1, 2)))
    trees = Enumeration(scores, root)
    many = DependencyTrees(np.broadcast_to(scores, (REPEATS // 4, 4, 4)), root=root, copy=False)
    s = many.sample_without_replacement(100, seed=7, algorithm=algorithm)
    assert s.exhausted.all() and (s.counts == len(trees)).all() and (s.kappa == -INF).all()
    np.testing.assert_allclose(s.weights, np.exp(s.log_prob))
    np.testing.assert_allclose(s.weights.sum(axis=0), 1)
    index = trees.index(s.heads)
    assert (np.sort(index, axis=0) == np.arange(len(trees))[:, None]).all()
    of_tree = np.empty(index.shape)
    np.put_along_axis(of_tree, index, s.gumbel, axis=0)
    uniform = np.exp(-np.exp(-(of_tree - trees.log_p[:, None])))
    for values in uniform:
        assert len(trees) * uniform_p(values) > FALSE_ALARM
    correlation = np.corrcoef(uniform)[np.triu_indices(len(trees), 1)]
    assert len(correlation) * normal_tail(np.abs(correlation).max() * math.sqrt(REPEATS // 4)) > FALSE_ALARM
    # Without the log-probability they are no standard Gumbels.
    assert min(uniform_p(np.exp(-np.exp(-values))) for values in of_tree) < FALSE_ALARM


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_horvitz_thompson(root: str, algorithm: str) -> None:
    trees = Enumeration(SMALL, root)
    s = distinct(root, algorithm, 3)
    np.testing.assert_allclose(s.weights, np.exp(s.log_prob) / -np.expm1(-np.exp(s.log_prob - s.kappa)), rtol=1e-9)
    np.testing.assert_allclose(
        inclusion_probability(s.log_prob, s.kappa), -np.expm1(-np.exp(s.log_prob - s.kappa)), rtol=1e-9
    )
    np.testing.assert_allclose(horvitz_thompson_weight(s.log_prob, s.kappa), s.weights, rtol=1e-12)
    marginals = trees.marginals()
    index = trees.index(s.heads)
    for value, expected in [
        ((s.heads[:, :, 0] == 2).astype(float), marginals[2, 1]),
        ((s.heads[:, :, 1] == 0).astype(float), marginals[0, 2]),
        (-trees.log_p[index], trees.entropy()),
        (np.ones(index.shape), 1.0),
        ((index == int(np.argmin(trees.p))).astype(float), float(trees.p.min())),
    ]:
        estimates = s.estimate(value, normalized=False).mean
        assert estimates.shape == (REPEATS,)
        assert mean_p(estimates, expected) > FALSE_ALARM
        np.testing.assert_allclose(s.estimate(value).mean, (value * s.normalized_weights).sum(axis=0))
    np.testing.assert_allclose(s.normalized_weights.sum(axis=0), 1)
    # Wrong estimates: the plain mean over the sample, p without q, and a kappa that is the last tree's own.
    entropy = -trees.log_p[index]
    assert mean_p(entropy.mean(axis=0), trees.entropy()) < FALSE_ALARM
    assert mean_p((np.exp(s.log_prob) * entropy).sum(axis=0), trees.entropy()) < FALSE_ALARM
    wrong = horvitz_thompson_weight(s.log_prob, s.gumbel[-1])
    assert mean_p((wrong * entropy).sum(axis=0), trees.entropy()) < FALSE_ALARM


@pytest.mark.parametrize("root", WITH)
@pytest.mark.parametrize("algorithm", ["auto", "trie", "list"])
def test_iterator(root: str, algorithm: str) -> None:
    """Pairs, one iterator after the other; and the iterator draws what the sample of the same seed and sentence has."""
    trees = Enumeration(SMALL, root)
    firsts: list[Any] = []
    seconds: list[Any] = []
    kappas = []
    for sentence in range(4000):
        d = DependencyTrees(SMALL, root=root, ids=sentence)
        iterator = d.sample_without_replacement_iterator(seed=23, algorithm=algorithm)
        firsts.append(next(iterator))
        seconds.append(next(iterator))
        kappas.append(iterator.kappa)
        assert iterator.count == 2
    pairs = [trees.index([tree.heads for tree in some]) for some in (firsts, seconds)]
    assert pair_p(trees, pairs[0], pairs[1]) > FALSE_ALARM
    assert pair_p(trees, pairs[1], pairs[0]) < FALSE_ALARM
    assert uniform_p(kappa_cdf(trees.p, 2, np.array(kappas))) > FALSE_ALARM
    s = distinct(root, algorithm, 3)
    assert np.array_equal(s.heads[0, :4000], [tree.heads for tree in firsts])
    assert np.array_equal(s.heads[1, :4000], [tree.heads for tree in seconds])
    assert np.array_equal(s.gumbel[1, :4000], [tree.gumbel for tree in seconds])
    assert np.array_equal(s.log_prob[1, :4000], [tree.log_prob for tree in seconds])


@pytest.mark.parametrize("root", WITH)
@pytest.mark.parametrize("algorithm", ["auto", "trie", "list"])
def test_iterator_to_the_end(root: str, algorithm: str) -> None:
    trees = Enumeration(make_scores(3) * 0.5, root)
    iterator = DependencyTrees(trees.scores, root=root).sample_without_replacement_iterator(algorithm=algorithm)
    found = list(iterator)
    assert sorted(tuple(tree.heads.tolist()) for tree in found) == sorted(trees.trees)
    assert iterator.count == len(trees) and iterator.kappa == -INF
    assert next(iterator, None) is None
    assert all(a.gumbel > b.gumbel for a, b in zip(found, found[1:]))
    assert log_sum_exp([tree.log_prob for tree in found]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("root", "algorithm"), WITHOUT_REPLACEMENT)
def test_exhausted(root: str, algorithm: str) -> None:
    trees = Enumeration(make_scores(3) * 0.5, root)
    d = DependencyTrees(trees.scores, root=root)
    for k, all_of_them in [(len(trees) - 1, False), (len(trees), True), (len(trees) + 1, True)]:
        s = d.sample_without_replacement(k, algorithm=algorithm)
        assert s.exhausted is all_of_them and s.counts == len(s) == min(k, len(trees))
        assert (s.kappa == -INF) is all_of_them
        # The exact expectation, if all trees are there.
        if all_of_them:
            assert s.estimate(-s.log_prob).mean == pytest.approx(trees.entropy(), rel=1e-9)
