# SPDX-License-Identifier: Apache-2.0
"""Projective trees in taproot.torch; test_surface.py compares the answers."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import taproot

torch = pytest.importorskip("torch")
import taproot.torch as tt  # noqa: E402

ROOTS = ["single", "multi"]
LENGTHS = torch.tensor([4, 2])
GOLD = torch.tensor([[2, 0, 2, 3], [0, 1, -100, -100]])


def scores_of(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


@pytest.mark.parametrize("root", ROOTS)
def test_gradients(root: Any) -> None:
    scores, other = scores_of(2, 5, 5), scores_of(2, 5, 5, seed=1)
    values = scores_of(2, 5, 5, seed=2)
    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    options: Any = dict(lengths=LENGTHS, root=root, projective=True)
    assert check(lambda s: tt.log_partition(s, **options), scores)
    assert check(lambda s: tt.marginals(s, **options), scores)
    assert check(lambda s: tt.entropy(s, **options), scores)
    assert check(lambda s: tt.nll(s, GOLD, **options), scores)
    assert check(lambda s, v: tt.expectation(s, v, **options), (scores, values))
    assert check(lambda s, o: tt.cross_entropy(s, o, **options), (scores, other))
    assert check(lambda s, o: tt.kl_divergence(s, o, **options), (scores, other))
    assert twice(lambda s: tt.log_partition(s, **options), scores)
    assert twice(lambda s: tt.nll(s, GOLD, **options), scores)


@pytest.mark.parametrize("root", ROOTS)
def test_divergences_between_the_families(root: Any) -> None:
    scores, other = scores_of(2, 5, 5), scores_of(2, 5, 5, seed=1)

    def compared(s: Any, o: Any, name: str) -> Any:
        p = tt.DependencyTrees(s, LENGTHS, root, projective=True)
        return getattr(p, name)(tt.DependencyTrees(o, LENGTHS, root))

    for name in ("cross_entropy", "kl_divergence"):
        assert torch.autograd.gradcheck(lambda s, o, n=name: compared(s, o, n), (scores, other))
        p = taproot.DependencyTrees(scores.detach().numpy(), LENGTHS, root, projective=True)
        q = taproot.DependencyTrees(other.detach().numpy(), LENGTHS, root)
        np.testing.assert_allclose(compared(scores, other, name).detach(), getattr(p, name)(q), rtol=1e-13)
        # All four words have trees that are not projective; two words have none.
        assert torch.isinf(
            getattr(tt.DependencyTrees(other, LENGTHS, root), name)(
                tt.DependencyTrees(scores, LENGTHS, root, projective=True)
            )
        ).tolist() == [True, False]


@pytest.mark.parametrize("root", ROOTS)
def test_transforms(root: Any) -> None:
    x = scores_of(2, 5, 5).detach()
    functions = (
        lambda s: tt.nll(s, GOLD, LENGTHS, root, projective=True, check=False),
        lambda s: tt.entropy(s, LENGTHS, root, projective=True, check=False).sum(),
        lambda s: tt.kl_divergence(s, 2 * x, LENGTHS, root, projective=True, check=False).sum(),
    )
    for function in functions:
        torch._dynamo.reset()
        leaf = x.clone().requires_grad_()
        (expected,) = torch.autograd.grad(function(leaf), leaf)
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        (found,) = torch.autograd.grad(compiled(leaf), leaf)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(torch.func.grad(function)(x), expected, rtol=1e-12, atol=1e-13)
    decode = lambda s: tt.argmax(s, LENGTHS, root, projective=True, check=False)
    assert torch.equal(torch.compile(decode, fullgraph=True, backend="aot_eager")(x), decode(x))


def test_which_heads_are_projective() -> None:
    for n in range(1, 5):
        everything = torch.tensor(list(itertools.product(range(n + 1), repeat=n)))
        expected = taproot.is_projective(everything.numpy())
        assert tt.is_projective(everything, torch.tensor(n)).tolist() == expected.tolist()
        padded = torch.nn.functional.pad(everything, (0, 2), value=-100)
        assert tt.is_projective(padded, torch.tensor(n)).tolist() == expected.tolist()


def test_the_family_is_kept() -> None:
    d = tt.DependencyTrees(scores_of(2, 5, 5).detach(), LENGTHS, projective=True)
    assert d.projective and d.numpy().projective and d.expand((3, 2)).projective
    assert pickle.loads(pickle.dumps(d)).projective
    assert repr(d) == "DependencyTrees(scores: (2, 5, 5), root='single', projective=True)"
    sampled = d.sample((200,), seed=1)
    assert tt.is_projective(sampled, LENGTHS).all()
    assert not tt.is_projective(tt.DependencyTrees(d.scores, LENGTHS).sample((200,), seed=1), LENGTHS).all()
    with pytest.raises(ValueError, match="projective must be True or False"):
        tt.log_partition(d.scores, projective=1)  # type: ignore[arg-type]


def test_trees_that_are_not_projective() -> None:
    scores = torch.zeros(2, 4, 4)
    gold = torch.tensor([[2, 0, 2], [3, 0, 2]])  # From 3 to 1, across the root.
    message = (
        r"heads\[1\]: word 2 lies between head 3 and modifier 1 and does not descend from 3, so the tree is not "
        "projective, and projective=True allows no other trees"
    )
    assert torch.isfinite(tt.nll(scores, gold))
    with pytest.raises(ValueError, match=message):
        tt.nll(scores, gold, projective=True)
    assert tt.log_prob(scores, gold, projective=True).tolist() == [pytest.approx(-np.log(7)), -np.inf]
    with pytest.raises(ValueError, match=message):
        tt.DependencyTrees(scores, projective=True, validate_args=True).log_prob(gold)
    assert tt.DependencyTrees(scores, projective=True).support.check(gold).tolist() == [True, False]
