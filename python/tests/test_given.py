# SPDX-License-Identifier: Apache-2.0
"""What may be given as trees: lists with the heads of each sentence, and results with heads and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot

N, LENGTHS = 4, [4, 2, 3]
RNG = np.random.default_rng(11)
SCORES = RNG.normal(0, 1, (3, N + 1, N + 1))
LABELS = RNG.normal(0, 1, (3, N + 1, N + 1, 2))
HEADS = [[2, 0, 2, 3], [2, 0], [0, 1, 2]]
OF_WORDS = [[1, 0, 1, 0], [0, 1], [1, 1, 0]]
PADDED = np.array([[2, 0, 2, 3], [2, 0, -1, -1], [0, 1, 2, -1]])
PADDED_LABELS = np.array([[1, 0, 1, 0], [0, 1, -1, -1], [1, 1, 0, -1]])


class Numpy:
    """taproot.DependencyTrees, as the other surfaces are asked."""

    @staticmethod
    def make(scores: Any = SCORES, lengths: Any = LENGTHS, **options: Any) -> Any:
        return taproot.DependencyTrees(scores, lengths, **options)

    @staticmethod
    def sample(d: Any, k: int) -> Any:
        return d.sample(k, seed=1)

    @staticmethod
    def without_replacement(d: Any, k: int) -> Any:
        return d.sample_without_replacement(k, seed=1)


class Torch(Numpy):
    @staticmethod
    def make(scores: Any = SCORES, lengths: Any = LENGTHS, **options: Any) -> Any:
        torch = pytest.importorskip("torch")
        tt = pytest.importorskip("taproot.torch")
        if "label_scores" in options:
            options["label_scores"] = torch.tensor(options["label_scores"])
        return tt.DependencyTrees(torch.tensor(scores), None if lengths is None else torch.tensor(lengths), **options)


class Jax(Numpy):
    @staticmethod
    def make(scores: Any = SCORES, lengths: Any = LENGTHS, **options: Any) -> Any:
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        tj = pytest.importorskip("taproot.jax")
        return tj.DependencyTrees(scores, lengths, **options)

    @staticmethod
    def sample(d: Any, k: int) -> Any:
        import jax

        return d.sample(jax.random.key(1), k)

    @staticmethod
    def without_replacement(d: Any, k: int) -> Any:
        import jax

        return d.sample_without_replacement(jax.random.key(1), k)


SURFACES = pytest.mark.parametrize("surface", [Numpy, Torch, Jax])


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)


@SURFACES
def test_lists_with_the_heads_of_each_sentence(surface: type[Numpy]) -> None:
    d = surface.make(label_scores=LABELS)
    heads = [np.array(own) for own in HEADS]
    expected = d.log_prob(surface_array(surface, PADDED))
    assert np.isfinite(np.asarray(expected)).all()
    for given in (HEADS, tuple(HEADS), heads, [HEADS[0], [2, 0, -1, -1], HEADS[2]]):
        same(d.log_prob(given), expected)
        same(d.expected_attachment(given), d.expected_attachment(surface_array(surface, PADDED)))
    both = d.log_prob(surface_array(surface, PADDED), surface_array(surface, PADDED_LABELS))
    same(d.log_prob(HEADS, OF_WORDS), both)
    assert not np.allclose(np.asarray(both), np.asarray(expected))
    # Several trees per sentence, and sentences that are all shorter than the scores allow.
    same(d.log_prob([HEADS, HEADS]), np.stack([expected, expected]))
    short = surface.make(lengths=[2, 2, 2])
    same(short.log_prob([[2, 0], [0, 1], [2, 0]]), short.log_prob([[2, 0, -1, -1], [0, 1, -1, -1], [2, 0, -1, -1]]))


def surface_array(surface: type[Numpy], array: Any) -> Any:
    if surface is Torch:
        import torch

        return torch.tensor(array)
    return array


@SURFACES
def test_lists_of_a_layout_with_root(surface: type[Numpy]) -> None:
    turned = surface.make(SCORES.swapaxes(1, 2), [5, 3, 4], layout="dependent-head+root")
    same(turned.log_prob([[-1, *own] for own in HEADS]), surface.make().log_prob(HEADS))


@SURFACES
def test_lists_that_do_not_fit_say_where(surface: type[Numpy]) -> None:
    d = surface.make()
    wrong = [
        ([[2, 0, 2, 3], [2, 0, 2], [0, 1, 2]], r"heads\[1\] must have shape \(2,\), since the sentence has 2 words"),
        ([[2, 0, 2, 3], [2, 0]], r"heads must have 3 entries, one per sentence, not 2"),
        ([HEADS, [[2, 0, 2, 3], [0], [0, 1, 2]]], r"heads\[1\]\[1\] must have shape \(2,\)"),
        ([[2.0, 0, 2, 3], [2, 0], [0, 1, 2]], r"heads\[0\] must be integers, not float64"),
    ]
    for heads, message in wrong:
        with pytest.raises(ValueError, match=message):
            d.log_prob(heads)
        with pytest.raises(ValueError, match=message):
            d.expected_attachment(heads)
    single = taproot.DependencyTrees(SCORES[0])
    with pytest.raises(ValueError, match="heads is not an array: its rows differ in length"):
        single.log_prob([[2, 0, 2, 3], [2, 0]])


def test_gold_sentences_of_a_file(tmp_path: Path) -> None:
    taproot.write_conllu(tmp_path / "g.conllu", ["a b c d", "a b", "a b c"], HEADS)
    gold = taproot.read_conllu(tmp_path / "g.conllu")
    same(Numpy.make().log_prob([s.heads for s in gold]), Numpy.make().log_prob(PADDED))


@SURFACES
@pytest.mark.parametrize("labeled", [False, True])
def test_results_are_trees(surface: type[Numpy], labeled: bool) -> None:
    d = surface.make(**({"label_scores": LABELS} if labeled else {}))
    results = [d.argmax(), d.mbr(), surface.sample(d, 4), d.kbest(3), surface.without_replacement(d, 3)]
    for trees in results:
        heads = getattr(trees, "heads", trees)
        labels = getattr(trees, "labels", None)
        assert (labels is not None) == labeled
        expected = d.log_prob(heads, labels)
        assert np.asarray(expected).shape == tuple(heads.shape[:-1])
        same(d.log_prob(trees), expected)
        same(d.expected_attachment(trees), d.expected_attachment(heads))
        if labeled:
            assert not np.allclose(np.asarray(d.log_prob(heads)), np.asarray(expected))


def test_trees_of_iterators_are_trees() -> None:
    d = taproot.DependencyTrees(SCORES[0], label_scores=LABELS[0])
    for tree in (next(d.kbest_iterator()), next(d.sample_without_replacement_iterator(seed=1))):
        assert d.log_prob(tree) == d.log_prob(tree.heads, tree.labels) != d.log_prob(tree.heads)
        assert d.expected_attachment(tree) == d.expected_attachment(tree.heads)
        assert taproot.evaluate(tree, tree.heads, gold_labels=tree.labels).las == 1


@SURFACES
def test_expected_attachment_of_several_trees(surface: type[Numpy]) -> None:
    d = surface.make()
    trees = surface.sample(d, 5)
    found = d.expected_attachment(trees)
    assert tuple(found.shape) == (5, 3)
    for s in range(5):
        same(found[s], d.expected_attachment(trees[s]))


def test_losses_take_lists() -> None:
    torch = pytest.importorskip("torch")
    tt = pytest.importorskip("taproot.torch")
    given = (torch.tensor(SCORES), torch.tensor(LENGTHS))
    same(tt.nll(given[0], HEADS, given[1]), tt.nll(given[0], torch.tensor(PADDED), given[1]))
    same(tt.log_prob(given[0], HEADS, given[1]), tt.log_prob(given[0], torch.tensor(PADDED), given[1]))
    labels = {"label_scores": torch.tensor(LABELS)}
    expected = tt.nll(given[0], torch.tensor(PADDED), given[1], labels=torch.tensor(PADDED_LABELS), **labels)
    same(tt.nll(given[0], HEADS, given[1], labels=OF_WORDS, **labels), expected)
    best = tt.argmax(*given, **labels)
    same(
        tt.nll(given[0], best, given[1], **labels), tt.nll(given[0], best.heads, given[1], labels=best.labels, **labels)
    )
    own = [torch.tensor(tree) for tree in HEADS]
    same(tt.log_prob(given[0], own, given[1]), tt.log_prob(given[0], torch.tensor(PADDED), given[1]))


def test_losses_take_lists_in_jax() -> None:
    jax = pytest.importorskip("jax")
    tj = pytest.importorskip("taproot.jax")
    lengths = np.array(LENGTHS)
    same(tj.nll(SCORES, HEADS, lengths), tj.nll(SCORES, PADDED, lengths))
    same(tj.log_prob(SCORES, HEADS, lengths), tj.log_prob(SCORES, PADDED, lengths))
    best = tj.argmax(SCORES, lengths, label_scores=LABELS)
    expected = tj.nll(SCORES, best.heads, lengths, label_scores=LABELS, labels=best.labels)
    same(tj.nll(SCORES, best, lengths, label_scores=LABELS), expected)
    # Also within jit, where the result's arrays are traced; lists need lengths that are not.
    same(jax.jit(lambda trees: tj.log_prob(SCORES, trees, lengths, label_scores=LABELS).sum())(best), -3 * expected)
    same(jax.jit(lambda s: tj.log_prob(s, HEADS, lengths))(SCORES), tj.log_prob(SCORES, PADDED, lengths))
    with pytest.raises(ValueError, match="where lengths are traced, must be an array padded with -1"):
        jax.jit(lambda n: tj.log_prob(SCORES, HEADS, n))(lengths)


@SURFACES
def test_a_mask_in_place_of_lengths(surface: type[Numpy]) -> None:
    mask = np.arange(N) < np.array(LENGTHS)[:, None]
    for wrong in (mask, mask.astype(int)):
        with pytest.raises(
            ValueError, match=r"lengths must have shape \(3,\).* not \(3, 4\); for a mask: mask.sum\(-1\)"
        ):
            surface.make(lengths=wrong)


def test_attachment_shows_its_shares() -> None:
    found = taproot.evaluate([[2, 0, 2], [0, 1]], [[2, 0, 2], [0, 0]], [[1, 0, 1], [0, 0]], [[1, 0, 0], [0, 0]])
    assert repr(found) == "Attachment(uas=0.8, las=0.6, exact_match=0.5, words=5, trees=2, sentences=2)"
