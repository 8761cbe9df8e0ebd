# SPDX-License-Identifier: Apache-2.0
"""Distributions, constraints and results go to other processes, and come back the same."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taproot

WAYS: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_distributions(way: Any) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(3, 5, 5)), rng.normal(size=(3, 5, 5, 2))
    scores[2, 0] = -np.inf
    constraints = [None, taproot.Constraints().forbid(0, 2).allow_roots([1, 2]), None]
    d = taproot.DependencyTrees(scores, [4, 2, 3], "single", constraints, labels, on_error="status")
    same = way(d)
    np.testing.assert_array_equal(same.log_partition(), d.log_partition())
    np.testing.assert_array_equal(same.sample(5, seed=2), d.sample(5, seed=2))
    assert same.status == d.status == ["ok", "ok", "no_tree"] and repr(same) == repr(d)
    np.testing.assert_array_equal(same[1].marginals(), d[1].marginals())


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_the_rest(way: Any) -> None:
    c = taproot.Constraints().force(2, 1).force_partial_tree([2, -1, -1])
    assert repr(way(c)) == repr(c) == "Constraints().force(2, 1).force_partial_tree([2, -1, -1])"
    d = taproot.DependencyTrees(np.zeros((4, 4)), constraints=c)
    np.testing.assert_array_equal(way(d.kbest(9)).heads, d.kbest(9).heads)
    s = d.sample_without_replacement(2)
    np.testing.assert_array_equal(way(s).weights, s.weights)
    assert way(taproot.estimate([1.0, 2.0])).mean == 1.5
    assert way(taproot.TreeDrawing([2, 0], "a b")).svg == taproot.TreeDrawing([2, 0], "a b").svg


def test_a_masked_array_is_refused() -> None:
    masked = np.ma.masked_array(np.zeros((3, 3)), mask=np.eye(3))
    with pytest.raises(ValueError, match="mask: forbid edges with -inf"):
        taproot.DependencyTrees(masked)
    assert taproot.DependencyTrees(np.ma.masked_array(np.zeros((3, 3)))).log_partition() == pytest.approx(np.log(2))


def test_the_iterator_has_the_labels_of_the_sample() -> None:
    rng = np.random.default_rng(1)
    d = taproot.DependencyTrees(rng.normal(size=(4, 4)), label_scores=rng.normal(size=(4, 4, 3)))
    s = d.sample_without_replacement(9, seed=4)
    assert s.labels is not None
    for tree, heads, labels in zip(d.sample_without_replacement_iterator(seed=4), s.heads, s.labels):
        np.testing.assert_array_equal(tree.heads, heads)
        np.testing.assert_array_equal(tree.labels, labels)
    plain = taproot.DependencyTrees(np.zeros((3, 3)))
    assert next(plain.sample_without_replacement_iterator()).labels is None


def test_the_first_trees_of_a_sample() -> None:
    d = taproot.DependencyTrees(np.random.default_rng(2).normal(size=(3, 6, 6)), lengths=[5, 2, 4])
    s = d.sample_without_replacement(50, seed=1)
    for k in (0, 1, 2, 7, 50):
        few, same = s.first(k), d.sample_without_replacement(k, seed=1)
        np.testing.assert_array_equal(few.heads, same.heads)
        np.testing.assert_array_equal(few.counts, same.counts)
        np.testing.assert_array_equal(few.exhausted, same.exhausted)
        cut = s.gumbel[k] if k < 50 else np.full(3, np.nan)
        expected = np.where(few.exhausted, -np.inf, np.where(np.asarray(s.counts) > k, cut, s.kappa))
        np.testing.assert_array_equal(few.kappa, expected)
        if few.exhausted.all():
            np.testing.assert_allclose(few.weights.sum(axis=0), 1)
