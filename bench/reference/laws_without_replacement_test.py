# SPDX-License-Identifier: Apache-2.0
"""The NumPy samplers without replacement against full enumeration; and each test is shown to reject a wrong law.

A correct program fails one of these with probability 1e-6 at most, over the choice of seeds; these are fixed.
"""

import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "testing" / "python")]

import without_replacement as reference  # noqa: E402
from laws import FALSE_ALARM, chi_square_p, ordered_law  # noqa: E402
from oracle import Enumeration  # noqa: E402

REPEATS = 5000


def make_weights(forbidden=()):
    w = np.exp(np.random.default_rng(3).normal(0, 1.2, (4, 4)))
    w[:, 0] = 0
    np.fill_diagonal(w, 0)
    for edge in forbidden:
        w[edge] = 0
    return w


PROBLEMS = {"three words": make_weights(), "forbidden edges": make_weights(((0, 2), (3, 1)))}


def p_values(name, w):
    """Of the first tree and of the ordered pair of the first two."""
    with np.errstate(divide="ignore"):
        trees = Enumeration(np.log(w), "single")
    rng = np.random.default_rng(7)
    drawn = trees.index(np.stack([reference.SAMPLERS[name](w, 2, rng) for _ in range(REPEATS)]))
    pairs = np.zeros((len(trees), len(trees)), dtype=int)
    np.add.at(pairs, (drawn[:, 0], drawn[:, 1]), 1)
    return chi_square_p(trees.p, pairs.sum(axis=1)), chi_square_p(ordered_law(trees.p, 2), pairs)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", reference.SAMPLERS)
def test_law(name, problem):
    assert min(p_values(name, PROBLEMS[problem])) > FALSE_ALARM


def forget_the_rest(path):
    """The whole prefix goes with its tree."""
    node, head = path[0]
    node.mass[head] = 0


WRONG = {
    "list": ("listed_mass", lambda heads, probabilities, size: 0),
    "trie": ("remove", forget_the_rest),
    "beam": ("truncated", lambda g, gumbels: g),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_laws_are_rejected(name, monkeypatch):
    monkeypatch.setattr(reference, *WRONG[name])
    assert p_values(name, PROBLEMS["three words"])[1] < FALSE_ALARM


@pytest.mark.parametrize("name", reference.SAMPLERS)
def test_more_words(name):
    rng = np.random.default_rng(1)
    w = reference.uniform_weights(12, rng)
    reference.check(w, reference.SAMPLERS[name](w, 60, rng))


@pytest.mark.parametrize("tree", [[2, 1, 0], [0, 0, 1], [2, 3, 1]])
def test_check_notices_what_is_no_tree(tree):
    with pytest.raises(AssertionError):
        reference.check(make_weights(), np.array([tree]))


def test_check_notices_a_tree_drawn_twice():
    with pytest.raises(AssertionError):
        reference.check(make_weights(), np.array([[0, 1, 1], [0, 1, 1]]))
