# SPDX-License-Identifier: Apache-2.0
"""Layouts: the same answers from scores[dependent, head], from heads with an entry for ROOT, from lengths with ROOT."""

import pickle
from typing import Any

import numpy as np
import pytest

import taproot

LAYOUTS = ["head-dependent", "dependent-head", "head-dependent+root", "dependent-head+root"]
OTHERS = LAYOUTS[1:]
LENGTHS = np.array([4, 2, 3])


class Arranged:
    """What a user with another layout has, from what a user of ours has."""

    def __init__(self, layout: Any) -> None:
        self.transposed, self.root = layout.startswith("dependent"), layout.endswith("root")

    def edges(self, matrix: Any, axis: int = -1) -> Any:
        return np.swapaxes(matrix, axis - 1, axis) if self.transposed else matrix

    def labels(self, array: Any) -> Any:
        return self.edges(array, -2)

    def words(self, heads: Any, root: int = -1) -> Any:
        widths = [(0, 0)] * (np.ndim(heads) - 1) + [(1, 0)]
        return np.pad(heads, widths, constant_values=root) if self.root else heads

    def lengths(self, lengths: Any) -> Any:
        return lengths + 1 if self.root else lengths


@pytest.fixture
def scores() -> Any:
    return np.random.default_rng(0).normal(size=(3, 5, 5))


@pytest.fixture
def label_scores() -> Any:
    return np.random.default_rng(1).normal(size=(3, 5, 5, 2))


@pytest.mark.parametrize("layout", OTHERS)
@pytest.mark.parametrize("labeled", [False, True])
def test_every_answer_of_a_batch(layout: Any, labeled: bool, scores: Any, label_scores: Any) -> None:
    a = Arranged(layout)
    labels = label_scores if labeled else None
    d = taproot.DependencyTrees(scores, LENGTHS, label_scores=labels)
    e = taproot.DependencyTrees(
        a.edges(scores), a.lengths(LENGTHS), label_scores=None if labels is None else a.labels(labels), layout=layout
    )
    assert e.layout == layout and d.layout == "head-dependent"
    np.testing.assert_array_equal(e.lengths, a.lengths(LENGTHS))
    assert e.event_shape == (4 + a.root,)
    np.testing.assert_array_equal(e.log_partition(), d.log_partition())
    np.testing.assert_array_equal(e.marginals(), a.edges(d.marginals()))
    np.testing.assert_array_equal(e.root_marginals(), a.words(d.root_marginals(), 0))
    values = np.random.default_rng(2).normal(size=(3, 5, 5))
    np.testing.assert_array_equal(e.expectation(a.edges(values)), d.expectation(values))
    np.testing.assert_array_equal(e.hessian_product(a.edges(values)), a.edges(d.hessian_product(values)))
    np.testing.assert_array_equal(e.kl_divergence(d), np.zeros(3))
    best, mine = d.kbest(3), e.kbest(3)
    np.testing.assert_array_equal(mine.heads, a.words(best.heads))
    trees, drawn = d.sample(4, seed=5), e.sample(4, seed=5)
    different, own = d.sample_without_replacement(4, seed=5), e.sample_without_replacement(4, seed=5)
    np.testing.assert_array_equal(own.heads, a.words(different.heads))
    np.testing.assert_array_equal(e.log_prob(own.heads), d.log_prob(different.heads))
    if labeled:
        np.testing.assert_array_equal(e.label_marginals(), a.labels(d.label_marginals()))
        for ours, theirs in [(drawn, trees), (e.argmax(), d.argmax()), (e.mbr(), d.mbr())]:
            np.testing.assert_array_equal(ours.heads, a.words(theirs.heads))
            np.testing.assert_array_equal(ours.labels, a.words(theirs.labels))
        np.testing.assert_array_equal(mine.labels, a.words(best.labels))
        np.testing.assert_array_equal(e.log_prob(drawn.heads, drawn.labels), d.log_prob(trees.heads, trees.labels))
    else:
        for ours, theirs in [(drawn, trees), (e.argmax(), d.argmax()), (e.mbr(), d.mbr())]:
            np.testing.assert_array_equal(ours, a.words(theirs))
    for copy in (e[1], pickle.loads(pickle.dumps(e))[1]):
        assert copy.layout == layout
        np.testing.assert_array_equal(copy.marginals(), a.edges(d[1].marginals()))
        np.testing.assert_array_equal(copy.kbest(1).heads[0], a.words(d[1].kbest(1).heads[0]))


@pytest.mark.parametrize("layout", OTHERS)
def test_a_single_sentence_a_list_and_iterators(layout: Any, scores: Any) -> None:
    a = Arranged(layout)
    d, e = taproot.DependencyTrees(scores[0]), taproot.DependencyTrees(a.edges(scores[0]), layout=layout)
    assert e.lengths == 4 + a.root
    np.testing.assert_array_equal(next(e.kbest_iterator()).heads, a.words(d.argmax()))
    drawn, expected = (x.sample_without_replacement_iterator(seed=3) for x in (e, d))
    for _ in range(5):
        np.testing.assert_array_equal(next(drawn).heads, a.words(next(expected).heads))
    assert e.draw("a b c d").svg == d.draw("a b c d").svg
    sizes = [scores[0], scores[1, :3, :3]]
    several = taproot.DependencyTrees([a.edges(m) for m in sizes], layout=layout)
    np.testing.assert_array_equal(several.marginals(), a.edges(taproot.DependencyTrees(sizes).marginals()))
    # Constraints number words as always.
    c = taproot.Constraints().force(2, 1)
    constrained = taproot.DependencyTrees(a.edges(scores[0]), constraints=c, layout=layout)
    np.testing.assert_array_equal(a.edges(constrained.marginals())[:, 1], [0, 0, 1, 0, 0])


@pytest.mark.parametrize("padding", [0, -1, -100, 7])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gold_may_be_padded_with_anything(layout: Any, padding: int, scores: Any) -> None:
    a = Arranged(layout)
    d = taproot.DependencyTrees(a.edges(scores), a.lengths(LENGTHS), layout=layout)
    gold = np.array([[2, 0, 2, 2], [2, 0, padding, padding], [0, 1, 1, padding]])
    plain = taproot.DependencyTrees(scores, LENGTHS)
    expected = plain.log_prob(np.where(np.arange(4) < LENGTHS[:, None], gold, -1))
    for root in (0, -1, -100):
        np.testing.assert_array_equal(d.log_prob(a.words(gold, root)), expected)


def test_messages_name_root_and_transposing(scores: Any) -> None:
    make = taproot.DependencyTrees
    for call, parts in [
        (lambda: make(scores, [5, 3, 4]), ["lengths[0] is 5", "lengths count words, not ROOT", "head-dependent+root"]),
        (lambda: make(scores, [1, 0, 4], layout="dependent-head+root"), ["lengths[1] is 0", "1 to 5", "count ROOT"]),
        (lambda: make(scores[:, 1:]), ["(3, 4, 5)", "ROOT has a row and a column"]),
        (lambda: make(scores).log_prob(np.zeros((3, 5), int)), ["(3, 4)", "ROOT's", "heads[..., 1:]", "+root"]),
        (
            lambda: make(scores, layout="dependent-head+root").log_prob(np.zeros((3, 4), int)),
            ["(3, 5)", "first entry is ROOT's"],
        ),
        (lambda: make(scores, layout="head-first"), ["layout must be one of", "dependent-head+root"]),  # type: ignore[arg-type]
        (
            lambda: make(scores, LENGTHS).log_prob([[2, 0, 2, 2], [2, 0, 0, 0], [0, 1, -100, 0]]),
            ["sentence 2, word 3: the head is -100"],
        ),
        (
            lambda: make(scores, LENGTHS).log_prob([[2, 0, 2, 2], [2, 4, 0, 0], [0, 1, 1, 0]]),
            ["sentence 1, word 2: the head is 4"],
        ),
    ]:
        with pytest.raises(ValueError) as error:
            call()
        for part in parts:
            assert part in str(error.value)


def test_exchanged_axes_are_suspected_where_nothing_hangs_off_root(scores: Any) -> None:
    scores[1, :, 0] = -np.inf  # As parsers have it that let no edge enter ROOT,
    turned = scores.swapaxes(-2, -1)  # but [dependent, head].
    with pytest.raises(taproot.NoTreeError, match='sentence 1: .* give layout="dependent-head"'):
        taproot.DependencyTrees(turned).entropy()
    assert np.isfinite(taproot.DependencyTrees(turned, layout="dependent-head").entropy()).all()
    plain = np.zeros((3, 3))
    plain[0] = -np.inf
    with pytest.raises(taproot.NoTreeError) as error:
        taproot.DependencyTrees(plain).entropy()
    assert "layout" not in str(error.value)


# The same for tensors: values, gradients, trees and the loss.


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("padding", [0, -1, -100])
def test_torch(layout: Any, padding: int, scores: Any) -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    a = Arranged(layout)
    gold = np.array([[2, 0, 2, 2], [2, 0, padding, padding], [0, 1, 1, padding]])
    plain = torch.tensor(scores, requires_grad=True)
    loss = -tt.log_prob(plain, torch.tensor(gold), LENGTHS).mean()
    loss.backward()
    leaf = torch.tensor(a.edges(scores).copy(), requires_grad=True)
    lengths = torch.tensor(a.lengths(LENGTHS))
    heads = torch.tensor(a.words(gold, padding))
    ours = tt.nll(leaf, heads, lengths, layout=layout)
    ours.backward()
    assert ours.item() == loss.item()
    np.testing.assert_array_equal(leaf.grad, a.edges(plain.grad))
    for reduction, by in [("sum", 3), ("words", 3 / LENGTHS.sum())]:
        found = tt.nll(leaf, heads, lengths, layout=layout, reduction=reduction)  # type: ignore[arg-type]
        torch.testing.assert_close(found, loss * by)
    torch.testing.assert_close(tt.nll(leaf, heads, lengths, layout=layout, reduction="none").mean(), loss)
    d = tt.DependencyTrees(leaf, lengths, layout=layout)
    e = taproot.DependencyTrees(a.edges(scores), a.lengths(LENGTHS), layout=layout)
    np.testing.assert_array_equal(d.marginals().detach(), e.marginals())
    np.testing.assert_array_equal(d.argmax(), e.argmax())
    np.testing.assert_array_equal(d.sample((3,), seed=1), e.sample(3, seed=1))
    np.testing.assert_array_equal(d.sample(3, seed=1), e.sample(3, seed=1))
    np.testing.assert_array_equal(
        d.sample_without_replacement(3, seed=1).heads, e.sample_without_replacement(3, 1).heads
    )
    np.testing.assert_array_equal(d.kbest(2).heads, e.kbest(2).heads)
    np.testing.assert_array_equal(d.root_marginals().detach(), e.root_marginals())
    assert d.event_shape == e.event_shape and d.support.check(d.argmax()).all() and d.support.check(heads).all()
    np.testing.assert_array_equal(d.numpy().marginals(), e.marginals())
    np.testing.assert_array_equal(d.lengths, e.lengths)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("jit", [False, True])
def test_jax(layout: Any, jit: bool, scores: Any) -> None:
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    import taproot.jax as tj

    a = Arranged(layout)
    scores = scores.astype(np.float32)
    plain = taproot.DependencyTrees(scores, LENGTHS)
    run = jax.jit if jit else lambda f: f
    for padding in (0, -1, -100):
        gold = np.array([[2, 0, 2, 2], [2, 0, padding, padding], [0, 1, 1, padding]])
        loss = run(jax.value_and_grad(lambda s, h, n: tj.nll(s, h, n, layout=layout)))
        heads, lengths = jnp.asarray(a.words(gold, padding)), jnp.asarray(a.lengths(LENGTHS))
        value, grad = loss(jnp.asarray(a.edges(scores)), heads, lengths)
        assert float(value) == pytest.approx(-plain.log_prob(gold).mean(), rel=1e-6)
        edges = np.zeros((3, 5, 5))
        for b, n in enumerate(LENGTHS):
            edges[b, gold[b, :n], np.arange(1, n + 1)] = 1
        np.testing.assert_allclose(grad, a.edges(plain.marginals() - edges) / 3, atol=1e-6)
    e = taproot.DependencyTrees(a.edges(scores), a.lengths(LENGTHS), layout=layout)

    def trees(s: Any, n: Any) -> Any:
        d = tj.DependencyTrees(s, n, layout=layout)
        return d.argmax(), d.kbest(2).heads, d.marginals(), d.root_marginals()

    ours = run(trees)(jnp.asarray(a.edges(scores)), lengths)
    for found, expected in zip(ours, (e.argmax(), e.kbest(2).heads, e.marginals(), e.root_marginals())):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    key = jax.random.key(3)
    for drawn in (
        tj.sample(key, a.edges(scores), 4, lengths, layout=layout),
        tj.sample_without_replacement(key, a.edges(scores), 4, lengths, layout=layout).heads,
    ):
        assert drawn.shape == (4, 3, 4 + a.root)
        assert np.isfinite(e.log_prob(np.asarray(drawn))[:, 0]).all()


def test_messages_for_tensors(scores: Any) -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    tensor = torch.tensor(scores)
    gold = torch.zeros(3, 5, dtype=torch.int64)
    for call, part in [
        (lambda: tt.nll(tensor, gold), r"heads\[..., 1:\]"),
        (lambda: tt.nll(tensor, gold[:, 1:], layout="dependent-head+root"), "first entry is ROOT's"),
        (lambda: tt.nll(tensor, gold[:, 1:], torch.tensor([5, 3, 4])), "lengths count words, not ROOT"),
        (lambda: tt.nll(tensor, gold[:, 1:], torch.ones(3, dtype=torch.bool)), r"mask.sum\(-1\)"),
        (lambda: tt.nll(tensor[:, 1:], gold), "ROOT has a row and a column"),
        (lambda: tt.nll(tensor, gold[:, 1:].double()), "integers"),
        (lambda: tt.nll(tensor, gold[:, 1:], reduction="max"), "reduction"),  # type: ignore[arg-type]
        (lambda: tt.log_partition(tensor, layout="none"), "layout must be one of"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(ValueError, match=part):
            call()
