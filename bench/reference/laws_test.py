# SPDX-License-Identifier: Apache-2.0
"""The laws of the NumPy samplers with replacement, by chi-square against all trees: python -m pytest bench/reference"""

import sys
from pathlib import Path

import numpy as np
import pytest

# The import mode "importlib" leaves sys.path alone.
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "testing" / "python")]

from laws import FALSE_ALARM, chi_square_p  # noqa: E402
from oracle import Enumeration  # noqa: E402
from samplers import SAMPLERS, uniform_weights, wilson_rc  # noqa: E402

FIGURE_1 = np.array([[0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0.5, 0, 0], [0, 0, 0.5, 0]])  # ROOT, A, B, C of the paper


def sparse():
    weights = uniform_weights(4, np.random.default_rng(1))
    weights[0, 2] = weights[3, 1] = weights[1, 4] = 0
    return weights


def skewed():
    return uniform_weights(4, np.random.default_rng(2)) ** 3


def balanced():
    """Every word gives its words as much as it takes from them (a mixture of cycles); ROOT gives what it likes."""
    rng = np.random.default_rng(3)
    weights = np.zeros((5, 5))
    weights[0, 1:] = rng.random(4)
    for _ in range(6):
        cycle = 1 + rng.permutation(4)[: rng.integers(2, 5)]
        weights[cycle, np.roll(cycle, 1)] += rng.random()
    weights[[1, 2, 3, 4], [2, 3, 4, 1]] += 0.1  # So that every word reaches all.
    return weights


GRAPHS = {"figure 1": FIGURE_1, "sparse": sparse(), "skewed": skewed(), "balanced": balanced()}


def trees_of(weights):
    with np.errstate(divide="ignore"):
        return Enumeration(np.log(weights), "single")


def p_value(sampler, weights, law=None, draws=4000):
    trees = trees_of(weights)
    heads = np.array(sampler(weights, draws, np.random.default_rng(0)))[:, 1:]
    counts = np.bincount(trees.index(heads), minlength=len(trees))
    return chi_square_p(trees.p if law is None else law, counts)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", SAMPLERS)
def test_law(name, graph):
    assert p_value(SAMPLERS[name], GRAPHS[graph]) > FALSE_ALARM


@pytest.mark.parametrize("graph", ["figure 1", "sparse", "skewed"])
def test_wilson_rc_is_biased(graph):
    assert p_value(wilson_rc, GRAPHS[graph]) < FALSE_ALARM


@pytest.mark.parametrize("graph", GRAPHS)
def test_wilson_rc_has_the_law_of_appendix_e(graph):
    weights = GRAPHS[graph]
    trees = trees_of(weights)
    root = (trees.heads == 0).argmax(axis=1) + 1
    given_root = trees.p / trees.marginals()[0, root]
    assert p_value(wilson_rc, weights, law=weights[0, root] / weights[0].sum() * given_root) > FALSE_ALARM


def test_wilson_rc_is_right_where_word_edges_are_balanced():
    """Appendix E's condition: root weights proportional to root marginals, which is up to the words' edges alone."""
    weights = balanced()
    assert np.allclose(weights[1:].sum(axis=1), weights[1:, :].sum(axis=0)[1:])
    assert np.allclose(trees_of(weights).marginals()[0], weights[0] / weights[0].sum())
    assert p_value(wilson_rc, weights) > FALSE_ALARM


def test_wilson_rc_is_right_where_columns_are_scaled_to_it():
    """All edges into a word times a constant: the same trees, other root weights, and so another WilsonRC."""
    weights = skewed()
    scale = np.ones(5)
    scale[1:] = trees_of(weights).marginals()[0, 1:] / weights[0, 1:]
    assert np.allclose(trees_of(weights * scale).p, trees_of(weights).p)
    assert p_value(wilson_rc, weights * scale) > FALSE_ALARM
