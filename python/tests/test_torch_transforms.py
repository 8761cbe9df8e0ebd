# SPDX-License-Identifier: Apache-2.0
"""taproot.torch under torch.compile, torch.func and autocast, and what it says of sentences without an answer."""

from typing import Any

import pytest

import taproot

torch = pytest.importorskip("torch")
import taproot.torch as tt  # noqa: E402

ROOTS = ["single", "multi"]
LENGTHS = torch.tensor([5, 2, 4])
GOLD = torch.tensor([[2, 0, 2, 3, 3], [0, 1, -100, -100, -100], [2, 0, 2, 3, -100]])


def scores_of(*shape: int, seed: int = 0, dtype: Any = torch.float64) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


class Parser(torch.nn.Module):  # type: ignore[misc]
    """A biaffine parser with a conditional random field on top, as people write them."""

    def __init__(self, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.dependent, self.head = torch.nn.Linear(size, size), torch.nn.Linear(size, size)

    def forward(self, words: Any, gold: Any, lengths: Any) -> Any:
        scores = self.dependent(words) @ self.head(words).transpose(1, 2)
        return tt.nll(scores, gold, lengths, layout="dependent-head")


def gradients(model: Any, call: Any, *inputs: Any) -> Any:
    model.zero_grad()
    call(*inputs).backward()
    return [p.grad.clone() for p in model.parameters()]


def test_a_compiled_parser_has_the_same_gradients() -> None:
    model, words = Parser(), scores_of(3, 6, 8, dtype=torch.float32)
    expected = gradients(model, model, words, GOLD, LENGTHS)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for ours, theirs in zip(gradients(model, compiled, words, GOLD, LENGTHS), expected):
        torch.testing.assert_close(ours, theirs)
    assert any(bool((grad != 0).any()) for grad in expected)


@pytest.mark.parametrize("root", ROOTS)
def test_every_function_compiles(root: Any) -> None:
    x, y = scores_of(3, 6, 6), scores_of(3, 6, 6, seed=1)
    for function in (
        lambda s: tt.log_partition(s, LENGTHS, root),
        lambda s: tt.marginals(s, LENGTHS, root, layout="dependent-head"),
        lambda s: tt.entropy(s, LENGTHS, root),
        lambda s: tt.expectation(s, y, LENGTHS, root),
        lambda s: tt.nll(s, GOLD, LENGTHS, root, reduction="words"),
        lambda s: tt.kl_divergence(s, y, LENGTHS, root),
        lambda s: tt.cross_entropy(y, s, LENGTHS, root),
    ):
        torch._dynamo.reset()
        values, slopes = [], []
        for call in (function, torch.compile(function, fullgraph=True, backend="aot_eager")):
            leaf = x.clone().requires_grad_()
            found = call(leaf)
            found.square().sum().backward()
            values.append(found.detach())
            slopes.append(leaf.grad)
        torch.testing.assert_close(*values, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(*slopes, rtol=1e-12, atol=1e-13)
    for decode in (tt.argmax, tt.mbr):
        torch._dynamo.reset()
        compiled = torch.compile(lambda s: decode(s, LENGTHS, root), fullgraph=True, backend="aot_eager")  # noqa: B023
        assert torch.equal(compiled(x), decode(x, LENGTHS, root))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # opcheck's own.
def test_the_operators_are_registered_rightly() -> None:
    x = scores_of(2, 3, 5, 5).requires_grad_()
    y = scores_of(2, 3, 5, 5, seed=1).requires_grad_()
    words = torch.tensor([[4, 2, 3], [1, 4, 4]], dtype=torch.int32)
    heads = tt.DependencyTrees(x.detach(), words).sample((2,), seed=0)
    operators = torch.ops.taproot
    for marginals, trees in ((False, None), (True, heads)):
        torch.library.opcheck(operators.infer.default, (x, trees, words, 0, marginals))
    torch.library.opcheck(operators.entropy.default, (x, words, 1, False))
    torch.library.opcheck(operators.entropy.default, (x.detach(), words, 2, True))
    for slope in (False, True):
        torch.library.opcheck(operators.log_prob.default, (x, heads[0], words, 1, slope))
    torch.library.opcheck(operators.hessian_product.default, (x.detach(), y, words, 3))
    torch.library.opcheck(operators.divergence.default, (x, y, None, 2, 0, True))
    torch.library.opcheck(operators.argmax.default, (x, words, 0))
    torch.library.opcheck(operators.mbr.default, (x, words, 3))


def test_entropy_with_its_gradient() -> None:
    """A device finds both forward, the CPU the gradient when it is asked for: one answer, once differentiable."""
    from taproot import _torch_operators as operators

    x = scores_of(2, 5, 5).requires_grad_()
    slopes = []
    for slope in (False, True):
        entropy, found = operators.entropy(x, None, 0, slope)
        assert (found is not None) == slope
        slopes += torch.autograd.grad(entropy.sum(), x, create_graph=True)
        with pytest.raises(NotImplementedError, match="one more"):
            slopes[-1].sum().backward()
    torch.testing.assert_close(*slopes, rtol=0, atol=0)


@pytest.mark.parametrize("root", ROOTS)
def test_functional_gradients(root: Any) -> None:
    from torch.func import grad, vmap

    x, y = scores_of(3, 6, 6), scores_of(3, 6, 6, seed=1)
    for function in (
        lambda s, n, h: tt.log_partition(s, n, root),
        lambda s, n, h: tt.entropy(s, n, root),
        lambda s, n, h: (tt.marginals(s, n, root) * y[0]).sum(),
        lambda s, n, h: tt.nll(s, h, n, root),
        lambda s, n, h: tt.kl_divergence(s, y[0], n, root),
    ):
        expected = []
        for b in range(3):
            leaf = x[b].clone().requires_grad_()
            value = function(leaf, LENGTHS[b], GOLD[b])
            expected.append((value.detach(), torch.autograd.grad(value, leaf)[0]))
        values, slopes = (torch.stack(list(of)) for of in zip(*expected))
        torch.testing.assert_close(vmap(function)(x, LENGTHS, GOLD), values)
        torch.testing.assert_close(vmap(grad(function))(x, LENGTHS, GOLD), slopes)
        torch.testing.assert_close(grad(lambda s: function(s, LENGTHS[1], GOLD[1]))(x[1]), slopes[1])  # noqa: B023
    # An axis that is not the first, lengths that are shared, and a Hessian.
    shared = vmap(lambda s: tt.log_partition(s, LENGTHS, root), in_dims=2, out_dims=1)(x[:, None].movedim(1, 2))
    torch.testing.assert_close(shared[:, 0], tt.log_partition(x, LENGTHS, root))
    v = scores_of(6, 6, seed=2)
    product = grad(lambda s: (grad(lambda t: tt.log_partition(t, root=root))(s) * v).sum())(x[0])
    exact = taproot.DependencyTrees(x[0].numpy(), root=root).hessian_product(v.numpy())
    torch.testing.assert_close(product, torch.from_numpy(exact), rtol=0, atol=1e-13)


def test_autocast() -> None:
    model, words = Parser(), scores_of(3, 6, 8, dtype=torch.float32)
    exact = model(words, GOLD, LENGTHS)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(words, GOLD, LENGTHS)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact, rtol=0.05, atol=0.05)
    loss.backward()
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters())


def broken() -> Any:
    """A good sentence, one without a tree, one with a NaN."""
    scores = scores_of(3, 4, 4)
    scores[1, 0] = -torch.inf
    scores[2, 1, 2] = torch.nan
    return scores


def test_sentences_without_an_answer_do_not_spoil_the_others() -> None:
    leaf = broken().requires_grad_()
    good = leaf.detach()[:1]
    found = tt.log_partition(leaf, check=False)
    assert found[1] == -torch.inf and found[2].isnan()
    torch.testing.assert_close(found[:1].detach(), tt.log_partition(good))
    found.sum().backward()
    torch.testing.assert_close(leaf.grad[:1], tt.marginals(good))
    assert bool((leaf.grad[1] == 0).all()) and bool(leaf.grad[2].isnan().any())
    (slope,) = torch.autograd.grad(tt.entropy(leaf, check=False)[:2].nan_to_num().sum(), leaf)
    assert bool(slope[:2].isfinite().all()) and bool((slope[1] == 0).all())
    p = tt.marginals(leaf.detach(), check=False)
    assert bool((p[1] == 0).all()) and bool(p[2].isnan().all())
    for gold in (torch.tensor([[2, 0, 2]] * 3), torch.tensor([[2, 0, 77]] * 3)):
        loss = tt.nll(leaf.detach(), gold, reduction="none", check=False)
        assert loss[1:].isnan().all()
    assert loss[0] == torch.inf
    batch = broken()[:2].requires_grad_()
    loss = tt.nll(batch, torch.tensor([[2, 0, 2]] * 2), reduction="none", check=False)
    (slope,) = torch.autograd.grad(loss.mean(), batch, retain_graph=True)
    assert bool(slope[1].isnan().any()) and bool(slope[0].isfinite().all())
    (slope,) = torch.autograd.grad(loss[loss.isfinite()].mean(), batch)
    alone = batch.detach()[:1].requires_grad_()
    (expected,) = torch.autograd.grad(tt.nll(alone, torch.tensor([[2, 0, 2]])), alone)
    assert torch.equal(slope[:1], expected) and bool((slope[1] == 0).all())
    assert tt.argmax(leaf.detach(), check=False)[1:].eq(-1).all()


def test_who_is_told_of_them() -> None:
    for check in (None, True):
        with pytest.raises(taproot.NoTreeError, match="sentence 1"):
            tt.log_partition(broken()[:2], check=check)
    with pytest.raises(ValueError, match="lengths"):
        tt.log_partition(torch.zeros(2, 4, 4), lengths=[3, 9], check=False)  # Nothing has to be waited for.
    compiled = torch.compile(tt.log_partition, fullgraph=True, backend="aot_eager")
    found = compiled(broken())
    assert found[0].isfinite() and found[1] == -torch.inf and found[2].isnan()
    with pytest.raises(ValueError, match="check=True"):
        torch.func.vmap(lambda s: tt.log_partition(s, check=True))(broken())
