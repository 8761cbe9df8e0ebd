# SPDX-License-Identifier: Apache-2.0
"""One surface: what NumPy's DependencyTrees can be asked, PyTorch's and JAX's can be asked, with the same answers."""

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import taproot

LENGTHS = np.array([4, 2, 3])
# What PyTorch's distribution has by way of numpy(), and JAX's by taproot.DependencyTrees: one sentence at a time, or
# not about trees.
ON_THE_HOST = {"draw", "kbest_iterator", "sample_without_replacement_iterator", "status"}


def questions(kind: Any) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def scores_of(*shape: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


class Case:
    """Three sentences, with or without labels and constraints, of all trees or of projective trees."""

    def __init__(self, labeled: bool, constrained: bool, root: Any, projective: bool = False) -> None:
        self.scores = scores_of(3, 5, 5, seed=0)
        self.scores[1, :, 0] = np.nan  # Never read,
        self.scores[1, :, 3:] = np.nan  # and beyond the length.
        self.label_scores = scores_of(3, 5, 5, 2, seed=1) if labeled else None
        if self.label_scores is not None:
            self.label_scores[1, 3:] = np.nan
            self.label_scores[2, 1, 2] = -np.inf  # An edge without any label,
            self.label_scores[2, 1, 3, 0] = -np.inf  # and one that has a single one.
        make = taproot.Constraints
        self.constraints = [make().force(2, 1), None, make().forbid(0, 1).allow_roots([1, 2])] if constrained else None
        self.root = root
        self.projective = projective
        given = (self.scores, LENGTHS, root, self.constraints, self.label_scores)
        self.numpy = taproot.DependencyTrees(*given, projective=projective)


CASES = [(labeled, constrained, root) for labeled in (0, 1) for constrained in (0, 1) for root in ("single", "multi")]


@pytest.fixture(params=CASES, ids=lambda p: f"labels={p[0]}-constraints={p[1]}-{p[2]}")
def case(request: Any) -> Case:
    labeled, constrained, root = request.param
    return Case(bool(labeled), bool(constrained), root)


def heads_and_labels(found: Any) -> Any:
    return [found] if not isinstance(found, taproot.LabeledTrees) else [found.heads, found.labels]


def assert_same(found: Any, expected: Any, exact: bool = False) -> None:
    for ours, theirs in zip(heads_and_labels(found), heads_and_labels(expected)):
        ours = ours.detach().numpy() if hasattr(ours, "detach") else np.asarray(ours)
        if exact or np.asarray(theirs).dtype.kind in "ib":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def answers(d: Any, values: Any, trees: Any, labels: Any, other: Any) -> dict[str, Any]:
    """What all three can be asked in the same words."""
    best = d.kbest(3)
    found = {
        "log_partition": d.log_partition(),
        "entropy": d.entropy(),
        "marginals": d.marginals(),
        "root_marginals": d.root_marginals(),
        "expectation": d.expectation(values),
        "hessian_product": d.hessian_product(values),
        "log_prob": d.log_prob(trees),
        "cross_entropy": d.cross_entropy(other),
        "kl_divergence": d.kl_divergence(other),
        "argmax": d.argmax(),
        "mbr": d.mbr(),
        "kbest": best.heads,
        "scores of kbest": best.score,
        "counts of kbest": best.counts,
        "expected_attachment": d.expected_attachment(trees[1]),
        "expected_tries": d.expected_tries(),
    }
    if not getattr(d, "projective", False):
        found["expected_steps"] = d.expected_steps()
    if labels is not None:
        found["label_marginals"] = d.label_marginals()
        found["log_prob with labels"] = d.log_prob(trees, labels)
    return found


def expected_answers(case: Case) -> tuple[dict[str, Any], Any, Any, Any, Any]:
    values = scores_of(3, 5, 5, seed=2)
    drawn = case.numpy.sample(4, seed=1)
    trees, labels = (drawn.heads, drawn.labels) if case.label_scores is not None else (drawn, None)
    trees = trees.copy()
    trees[0, 0] = [2, 1, 0, 0]  # Not a tree.
    other = taproot.DependencyTrees(case.scores * 0.5, LENGTHS, case.root)  # All trees, whatever the case is about.
    return answers(case.numpy, values, trees, labels, other), values, trees, labels, other


@pytest.mark.parametrize("projective", [False, True])
def test_torch(case: Case, projective: bool) -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    if projective:
        case = Case(case.label_scores is not None, case.constraints is not None, case.root, True)
    expected, values, trees, labels, other = expected_answers(case)
    label_scores = None if case.label_scores is None else torch.tensor(case.label_scores)
    options = dict(label_scores=label_scores, projective=projective, validate_args=False)
    d = tt.DependencyTrees(torch.tensor(case.scores), LENGTHS, case.root, case.constraints, **options)
    e = tt.DependencyTrees(torch.tensor(case.scores * 0.5), LENGTHS, case.root)
    given = [torch.tensor(values), torch.tensor(trees), None if labels is None else torch.tensor(labels), e]
    found = answers(d, *given)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_same(found[name], expected[name])
    assert_same(d.sample((4,), seed=1), case.numpy.sample(4, seed=1))
    different, exactly = d.sample_without_replacement(5, seed=2), case.numpy.sample_without_replacement(5, seed=2)
    for name in ("heads", "log_prob", "gumbel", "weights", "kappa", "exhausted", "counts", "labels"):
        if getattr(exactly, name) is not None:
            assert isinstance(getattr(different, name), torch.Tensor)
            assert_same(getattr(different, name), getattr(exactly, name))
    np.testing.assert_array_equal(different.numpy().heads, exactly.heads)
    roots, their_roots = (different.heads == 0).sum(-1), (exactly.heads == 0).sum(-1)
    np.testing.assert_allclose(tuple(different.estimate(roots)), tuple(exactly.estimate(their_roots)), rtol=1e-9)
    np.testing.assert_allclose(tuple(different.interval(roots)), tuple(exactly.interval(their_roots)), rtol=1e-9)
    assert_same(d.sample((3,), seed=5), d.numpy().sample(3, seed=5))
    copy = pickle.loads(pickle.dumps(d))
    assert_same(copy.marginals(), expected["marginals"])
    assert_same(d.expand((2, 3)).entropy()[1], expected["entropy"])
    assert_same(d.projective_mass(), case.numpy.projective_mass())
    given = (torch.tensor(case.scores), LENGTHS, case.root, case.constraints, label_scores)
    assert_same(tt.argmax(*given, projective=projective), expected["argmax"])


@pytest.mark.parametrize("projective", [False, True])
def test_jax(case: Case, projective: bool) -> None:
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    import taproot.jax as tj

    if projective:
        case = Case(case.label_scores is not None, case.constraints is not None, case.root, True)
    expected, values, trees, labels, other = expected_answers(case)
    jax.config.update("jax_enable_x64", True)
    try:
        label_scores = None if case.label_scores is None else jnp.asarray(case.label_scores)
        d = tj.DependencyTrees(
            jnp.asarray(case.scores), LENGTHS, case.root, case.constraints, label_scores, projective=projective
        )
        assert d.projective == projective and ("projective=True" in repr(d)) == projective
        assert_same(d.projective_mass(), case.numpy.projective_mass())
        e = tj.DependencyTrees(jnp.asarray(case.scores * 0.5), LENGTHS, case.root)
        ask = lambda d, e, *given: answers(d, *given, e)
        for run in (lambda f: f, jax.jit):
            found = run(ask)(d, e, values, trees, labels)
            assert found.keys() == expected.keys()
            for name in expected:
                assert_same(found[name], expected[name])
        key = jax.random.key(4)
        high, low = (int(word) for word in jax.random.key_data(key))
        seed = high << 32 | low
        assert_same(d.sample(key, 4), case.numpy.sample(4, seed=seed))
        different = jax.jit(lambda d: d.sample_without_replacement(key, 5))(d)
        exactly = case.numpy.sample_without_replacement(5, seed=seed)
        for name in ("heads", "log_prob", "gumbel", "weights", "kappa", "exhausted", "counts", "labels"):
            if getattr(exactly, name) is not None:
                assert_same(getattr(different, name)[: len(exactly)], getattr(exactly, name))
    finally:
        jax.config.update("jax_enable_x64", False)


def test_expected_attachment() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    scores = scores_of(3, 5, 5, seed=3)
    heads = np.array([[2, 0, 2, -1], [0, 1, -100, 9], [-1, -1, -1, 0]])
    p = taproot.DependencyTrees(scores, LENGTHS).marginals()
    expected = [p[0, [2, 0, 2], [1, 2, 3]].mean(), p[1, [0, 1], [1, 2]].mean(), np.nan]
    assert_same(tt.DependencyTrees(torch.tensor(scores), LENGTHS).expected_attachment(torch.tensor(heads)), expected)
    with pytest.raises(ValueError, match=r"heads\[1\]: word 2 has head 3"):
        tt.DependencyTrees(torch.tensor(scores), LENGTHS).expected_attachment(
            torch.tensor([[0] * 4, [0, 3, 0, 0], [0] * 4])
        )
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    found = tj.DependencyTrees(scores, LENGTHS).expected_attachment(heads)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    share = jax.jit(lambda h: tj.DependencyTrees(scores, LENGTHS).expected_attachment(h))
    np.testing.assert_array_equal(share(heads), found)
    assert np.isnan(share(np.array([[0] * 4, [0, 3, 0, 0], [0] * 4]))).tolist() == [False, True, False]


def test_names() -> None:
    ours = questions(taproot.DependencyTrees) - ON_THE_HOST
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    assert torch and ours - questions(tt.DependencyTrees) - {"lengths", "layout", "root", "projective"} == set()
    assert ON_THE_HOST & questions(tt.DependencyTrees(torch.zeros(3, 3)).numpy()) == ON_THE_HOST


def test_names_in_jax() -> None:
    pytest.importorskip("jax")
    import taproot.jax as tj

    ours = questions(taproot.DependencyTrees) - ON_THE_HOST
    assert ours - questions(tj.DependencyTrees) == set()


def test_gradients_with_labels_and_constraints() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    rng = np.random.default_rng(5)
    scores = torch.tensor(rng.normal(size=(2, 4, 4)), requires_grad=True)
    label_scores = torch.tensor(rng.normal(size=(2, 4, 4, 2)), requires_grad=True)
    heads, labels = torch.tensor([[2, 0, 2], [0, 1, -100]]), torch.tensor([[1, 0, 0], [0, 1, -100]])
    lengths, constraints = [3, 2], [taproot.Constraints().force(2, 1), None]

    def loss(s: Any, l: Any) -> Any:
        return tt.nll(s, heads, lengths, "single", constraints, l, labels, layout="dependent-head")

    given = (scores, label_scores)
    assert torch.autograd.gradcheck(loss, given) and torch.autograd.gradgradcheck(loss, given)
    d = lambda s, l: tt.DependencyTrees(s, lengths, "multi", constraints, l)
    for question in ("entropy", "label_marginals", "root_marginals", "marginals"):
        assert torch.autograd.gradcheck(lambda s, l, q=question: getattr(d(s, l), q)(), given)
    # What is not read gets no gradient, whatever is there, and neither has an edge without labels.
    with torch.no_grad():
        label_scores[1, 3] = torch.nan
        label_scores[0, 0, 3] = -torch.inf
    (grad,) = torch.autograd.grad(tt.log_partition(scores, lengths, label_scores=label_scores).sum(), label_scores)
    assert grad.isfinite().all() and (grad[1, 3] == 0).all() and (grad[0, 0, 3] == 0).all()
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    arrays = [t.detach().float().numpy() for t in (scores, label_scores)]
    found = jax.grad(lambda l: tj.log_partition(arrays[0], np.array(lengths), label_scores=l).sum())(arrays[1])
    np.testing.assert_allclose(found, grad, atol=1e-6)


def test_answers_share_no_graph() -> None:
    """Each can be differentiated by itself, as PyTorch's users expect, and once for all."""
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    scores, label_scores = torch.zeros(4, 4, requires_grad=True), torch.zeros(4, 4, 2, requires_grad=True)
    c = taproot.Constraints().forbid(2, 1)
    for options in ({}, {"constraints": c}, {"label_scores": label_scores}, {"layout": "dependent-head"}):
        d = tt.DependencyTrees(scores, **options)
        d.log_partition().backward()
        d.entropy().backward()
        d.log_prob(d.argmax() if "label_scores" not in options else d.argmax().heads).backward()
        d.marginals().square().sum().backward()
        with torch.no_grad():
            late = tt.DependencyTrees(scores, **options)
            assert not late.entropy().requires_grad
        late.log_partition().backward()
        scores.grad = None
        late.entropy().backward()
        assert scores.grad is not None


def test_labels_that_do_not_exist() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    scores, label_scores = torch.zeros(2, 4, 4), torch.zeros(2, 4, 4, 2)
    heads, labels = torch.tensor([[2, 0, 2], [0, 1, -100]]), torch.tensor([[1, 0, 0], [0, 2, -100]])
    with pytest.raises(ValueError, match=r"labels\[1, 1\], of word 2, is 2, and there are 2 labels"):
        tt.nll(scores, heads, [3, 2], label_scores=label_scores, labels=labels)
    with pytest.raises(ValueError, match="labels need label_scores"):
        tt.nll(scores, heads, [3, 2], labels=labels)
    with pytest.raises(ValueError, match="one more axis"):
        tt.log_partition(scores, label_scores=label_scores[:1])
    with pytest.raises(ValueError, match=r"constraints\[1\]: .* 2 words"):
        tt.log_partition(scores, [3, 2], constraints=[None, taproot.Constraints().force(3, 1)])
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    given = [t.numpy() for t in (scores, heads, labels, label_scores)]
    loss = lambda s, h, l, ls: tj.nll(s, h, np.array([3, 2]), label_scores=ls, labels=l, reduction="none")
    with pytest.raises(ValueError, match="labels of sentence 1 "):
        loss(*given)
    assert np.isnan(jax.jit(loss)(*given)).tolist() == [False, True]


def test_allowed_edges_are_the_constraints() -> None:
    scores = scores_of(4, 4, seed=7)
    c = taproot.Constraints().force(2, 1).forbid(0, 3)
    masked = taproot.DependencyTrees(np.where(c.allowed(3), scores, -np.inf))
    np.testing.assert_array_equal(masked.marginals(), taproot.DependencyTrees(scores, constraints=c).marginals())
    with pytest.raises(ValueError, match="1 words"):
        c.allowed(1)
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    assert np.isfinite(jax.jit(lambda s: tj.log_partition(s, constraints=c))(scores))
    with pytest.raises(ValueError, match="not traced"):
        jax.jit(lambda s, n: tj.log_partition(s, n, constraints=c))(scores, 3)


def test_constraints_given_once_hold_for_every_sentence() -> None:
    scores, c = scores_of(3, 5, 5, seed=4), taproot.Constraints().force(2, 1).allow_roots([2])
    once = taproot.DependencyTrees(scores, LENGTHS, constraints=c)
    expected = taproot.DependencyTrees(scores, LENGTHS, constraints=[c] * 3)
    assert_same(once.marginals(), expected.marginals(), exact=True)
    assert_same(once[1].marginals(), expected[1].marginals(), exact=True)
    again = pickle.loads(pickle.dumps(once))
    assert_same(again.sample(5, seed=1), expected.sample(5, seed=1))
    unconstrained = taproot.DependencyTrees(scores, LENGTHS)
    assert (expected.log_partition() < unconstrained.log_partition() - 0.1).all()
    c.force(1, 3)  # Afterwards, as with a list.
    assert_same(once[0].marginals(), expected[0].marginals(), exact=True)


def test_constraints_given_once_hold_for_every_tensor() -> None:
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    import taproot.jax as tj
    import taproot.torch as tt

    scores, c = scores_of(3, 5, 5, seed=4), taproot.Constraints().force(2, 1).allow_roots([2])
    expected = taproot.DependencyTrees(scores, LENGTHS, constraints=[c] * 3).marginals()
    assert_same(tt.DependencyTrees(torch.tensor(scores), LENGTHS, constraints=c).marginals(), expected)
    of_numpy = tt.DependencyTrees(torch.tensor(scores), LENGTHS, constraints=c).numpy()
    assert_same(of_numpy.marginals(), expected)
    two_axes = torch.tensor(scores)[:, None].expand(3, 2, 5, 5)
    assert_same(tt.marginals(two_axes, LENGTHS[:, None].repeat(2, 1), constraints=c)[:, 1], expected)
    with jax.enable_x64(True):
        assert_same(tj.DependencyTrees(jax.numpy.asarray(scores), LENGTHS, constraints=c).marginals(), expected)
    too_long = taproot.Constraints().forbid(0, 1).force(3, 1)
    message = r"constraints\.force\(3, 1\), given for all sentences, is not about sentence 1, which has 2 words"
    for ask in (
        taproot.DependencyTrees,
        lambda s, *a, **k: tt.DependencyTrees(torch.tensor(s), *a, **k),
        tj.DependencyTrees,
    ):
        with pytest.raises(ValueError, match=message):
            ask(scores, LENGTHS, constraints=too_long)
    with pytest.raises(ValueError, match=r"is not about sentence \(1, 0\), which has 2 words"):
        tt.marginals(two_axes, LENGTHS[:, None].repeat(2, 1), constraints=too_long)


def test_results_of_many_trees_are_shown_in_a_line() -> None:
    labels = scores_of(3, 5, 5, 2, seed=1)
    d = taproot.DependencyTrees(scores_of(3, 5, 5, seed=4), LENGTHS, label_scores=labels)
    shown = "WithoutReplacementSample(trees<=9, sentences=3, words<=4, labeled, exhausted=2 of 3 sentences)"
    assert repr(d.sample_without_replacement(9, seed=1)) == shown
    assert repr(d[0].sample_without_replacement(7, seed=1)).endswith("(trees=7, words=4, labeled, exhausted=False)")
    assert repr(d[0].kbest(3)) == "BestTrees(trees=3, words=4, labeled)"
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    s = tt.DependencyTrees(torch.zeros(3, 5, 5), LENGTHS).sample_without_replacement(9, seed=1)
    assert repr(s) == "WithoutReplacementSample(trees<=9, sentences=3, words<=4)"
