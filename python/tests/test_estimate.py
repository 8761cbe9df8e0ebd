# SPDX-License-Identifier: Apache-2.0
"""Estimates, their standard errors, and intervals that hold as often as they say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import Enumeration

import taproot
from taproot import DependencyTrees

RUNS, K, N = 10_000, 30, 5


def depth(heads: np.ndarray) -> Any:
    """The example of docs/without_replacement.md: the number of edges on the longest way from a word to ROOT."""
    text = (Path(__file__).resolve().parents[2] / "docs/without_replacement.md").read_text()
    namespace: dict[str, Any] = {"np": np}
    exec(text[text.index("def depth") : text.index("\ntrees = d.sample")], namespace)
    return namespace["depth"](heads)


def test_depth() -> None:
    assert depth(np.array([0])) == 1 and depth(np.array([[2, 0, 2], [0, 1, 2], [0, 0, 0]])).tolist() == [2, 3, 1]


@pytest.fixture(scope="module")
def runs() -> tuple[DependencyTrees, Enumeration]:
    """The same sentence 10,000 times, which are independent samples, and its trees."""
    scores = np.random.default_rng(2).normal(0, 1.5, (N + 1, N + 1))
    return DependencyTrees(np.broadcast_to(scores, (RUNS, N + 1, N + 1))), Enumeration(scores, "single")


def test_intervals_with_replacement_cover(runs: tuple[DependencyTrees, Enumeration]) -> None:
    many, trees = runs
    exact = float((trees.p * depth(np.array(trees.trees))).sum())
    values = depth(many.sample(K, seed=1))
    low, high = taproot.interval(values)
    assert abs(((low <= exact) & (exact <= high)).mean() - 0.95) < 0.01
    mean, error = taproot.estimate(values)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(error, values.std(axis=0, ddof=1) / math.sqrt(K))
    wide = taproot.interval(values, level=0.99)
    assert abs(((wide.low <= exact) & (exact <= wide.high)).mean() - 0.99) < 0.005


def test_intervals_without_replacement_cover(runs: tuple[DependencyTrees, Enumeration]) -> None:
    many, trees = runs
    exact = float((trees.p * depth(np.array(trees.trees))).sum())
    s = many.sample_without_replacement(K, seed=1)
    values = depth(s.heads)
    low, high = s.interval(values)
    assert abs(((low <= exact) & (exact <= high)).mean() - 0.95) < 0.01
    mean, error = s.estimate(values)
    assert (error**2).mean() == pytest.approx(((mean - exact) ** 2).mean(), rel=0.1)
    # The default is the better of the two, by far.
    plain, of_plain = s.estimate(values, normalized=False)
    assert ((plain - exact) ** 2).mean() > 10 * ((mean - exact) ** 2).mean()
    assert (of_plain**2).mean() == pytest.approx(((plain - exact) ** 2).mean(), rel=0.1)
    # What the trees say about one another is not what independent trees would say.
    wrong = taproot.interval(values)
    assert abs(((wrong.low <= exact) & (exact <= wrong.high)).mean() - 0.95) > 0.02


def test_intervals_of_events(runs: tuple[DependencyTrees, Enumeration]) -> None:
    """A share of 30 trees has few values, so what is asked for holds on average over events."""
    many, trees = runs
    drawn, s = many.sample(K, seed=1), many.sample_without_replacement(K, seed=1)
    found = []
    for head, word in np.ndindex(N + 1, 2):
        exact = float((trees.p * (np.array(trees.trees)[:, word] == head)).sum())
        if not 1 / K < exact < 1 - 1 / K:
            continue
        both = taproot.interval(drawn[..., word] == head), s.interval(s.heads[..., word] == head)
        for low, high in both:
            assert (low >= 0).all() and (high <= 1).all() and (high > low).all()
        found.append([((low <= exact) & (exact <= high)).mean() for low, high in both])
    assert len(found) > 5
    np.testing.assert_allclose(np.mean(found, axis=0), 0.95, atol=0.01)
    assert np.min(found) > 0.87


def test_a_sample_of_all_trees_has_no_error() -> None:
    d = DependencyTrees(np.random.default_rng(1).normal(size=(4, 4)))
    s = d.sample_without_replacement(100)
    for normalized in (True, False):
        mean, error = s.estimate(-s.log_prob, normalized)
        assert mean == pytest.approx(d.entropy()) and error == 0
    low, high = s.interval(-s.log_prob)
    assert low == high == pytest.approx(d.entropy())
    np.testing.assert_allclose(s.normalized_weights, np.exp(s.log_prob))


def test_one_tree_says_little() -> None:
    s = DependencyTrees(np.zeros((4, 4))).sample_without_replacement(1)
    assert s.estimate([3.0]).mean == pytest.approx(3) and s.estimate([3.0]).standard_error == math.inf
    assert tuple(s.interval([3.0])) == (-math.inf, math.inf)
    low, high = s.interval([True])
    assert low == pytest.approx(1 / 9) and high == 1
    assert tuple(taproot.interval([2.0])) == (-math.inf, math.inf) and tuple(taproot.interval([True])) == (0, 1)
    assert all(math.isnan(x) for x in (*taproot.estimate([]), *taproot.interval([])))


def test_messages() -> None:
    s = DependencyTrees(np.zeros((2, 4, 4))).sample_without_replacement(3)
    for call, expected in [
        (lambda: s.estimate([1, 2, 3]), r"values must have shape \(3, 2\), one per tree, not \(3,\)"),
        (lambda: s.interval(np.zeros((3, 2)), level=95), "level must be between 0 and 1, such as 0.95, not 95"),
        (lambda: taproot.interval([1, 2], level=1), "level must be between 0 and 1"),
        (lambda: taproot.estimate(["a"]), "values must be numbers or booleans, one per tree"),
        (lambda: taproot.estimate(np.zeros((2, 2, 2))), r"values must have shape \(k,\), or \(k, B\) for a batch"),
    ]:
        with pytest.raises(ValueError, match=expected):
            call()
