# SPDX-License-Identifier: Apache-2.0
"""taproot.torch: values as the NumPy side has them, gradients by torch's own checks."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import taproot

torch = pytest.importorskip("torch")
import taproot.torch as tt  # noqa: E402

ROOTS = ["single", "multi"]


def scores_of(*shape: int, seed: int = 0, forbid: bool = True) -> Any:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=shape)
    if forbid:
        scores[..., 2, 1] = -np.inf
    return torch.tensor(scores, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("root", ROOTS)
def test_values_are_those_of_the_numpy_side(root: Any) -> None:
    scores, other = scores_of(3, 6, 6), scores_of(3, 6, 6, seed=1)
    lengths = [5, 3, 4]
    d = taproot.DependencyTrees(scores.detach().numpy(), lengths, root)
    q = taproot.DependencyTrees(other.detach().numpy(), lengths, root)
    values = np.random.default_rng(2).normal(size=(3, 6, 6))
    for ours, theirs in [
        (tt.log_partition(scores, lengths, root), d.log_partition()),
        (tt.marginals(scores, lengths, root), d.marginals()),
        (tt.entropy(scores, lengths, root), d.entropy()),
        (tt.cross_entropy(scores, other, lengths, root), d.cross_entropy(q)),
        (tt.kl_divergence(scores, other, lengths, root), d.kl_divergence(q)),
        (tt.expectation(scores, torch.tensor(values), lengths, root), d.expectation(values)),
    ]:
        np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-13, atol=1e-15)
    heads = d.sample(4)
    np.testing.assert_array_equal(tt.log_prob(scores, torch.tensor(heads), lengths, root).detach(), d.log_prob(heads))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_partition_of_plain_scores(root: Any, projective: bool, dtype: Any) -> None:
    # Dense scores on the CPU go to the library in one step; other ones, as with lengths, through a distribution.
    scores = scores_of(5, 9, 9).detach().to(dtype)
    for given in (scores, scores.mT, scores[::2]):
        plain, other = given.clone().requires_grad_(), given.clone().requires_grad_()
        log_z = tt.log_partition(plain, None, root, projective=projective)
        expected = tt.log_partition(other, [8] * len(given), root, projective=projective)
        assert torch.equal(log_z, expected)
        assert torch.equal(tt.log_partition(given, None, root, projective=projective), expected)
        weights = torch.arange(1, len(given) + 1, dtype=dtype)
        (log_z * weights).sum().backward(retain_graph=True)
        (expected * weights).sum().backward()
        assert torch.equal(plain.grad, other.grad)
        (log_z * weights).sum().backward()
        assert torch.equal(plain.grad, 2 * other.grad)
        with pytest.raises(RuntimeError, match="second time"):
            log_z.sum().backward()
    scores[3, :, 2] = -torch.inf
    with pytest.raises(taproot.NoTreeError, match="sentence 3"):
        tt.log_partition(scores, None, root, projective=projective)
    assert tt.log_partition(scores, None, root, projective=projective, check=False)[3] == -torch.inf


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_gradients(root: Any, lengths: Any) -> None:
    # gradcheck moves every entry: forbidden edges would move to -inf + eps, so there are none here.
    scores, other = scores_of(2, 5, 5, forbid=False), scores_of(2, 5, 5, seed=1, forbid=False)
    heads = torch.tensor(taproot.DependencyTrees(scores.detach().numpy(), lengths, root).sample(3))
    values = torch.randn(2, 5, 5, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda s: tt.log_partition(s, lengths, root), scores)
    assert check(lambda s: tt.marginals(s, lengths, root), scores)
    assert check(lambda s: tt.entropy(s, lengths, root), scores)
    assert check(lambda s: tt.log_prob(s, heads, lengths, root), scores)
    assert check(lambda s, v: tt.expectation(s, v, lengths, root), (scores, values))
    assert check(lambda s, o: tt.cross_entropy(s, o, lengths, root), (scores, other))
    assert check(lambda s, o: tt.kl_divergence(s, o, lengths, root), (scores, other))
    twice = torch.autograd.gradgradcheck
    assert twice(lambda s: tt.log_partition(s, lengths, root), scores)
    assert twice(lambda s: tt.log_prob(s, heads, lengths, root), scores)


def test_gradcheck_can_fail() -> None:
    wrong = scores_of(4, 4, forbid=False)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda s: tt.log_partition(s) + (s.detach() * s.detach()).sum(), wrong)


def test_a_step_overwrites_marginals_only_if_nobody_comes_back() -> None:
    scores = scores_of(3, 6, 6)
    expected = torch.tensor(taproot.DependencyTrees(scores.detach().numpy()).marginals())

    def gradient(log_z: Any, **options: Any) -> Any:
        return torch.autograd.grad(log_z.sum(), scores, **options)[0]

    log_z = tt.log_partition(scores)
    first = gradient(log_z, retain_graph=True)
    assert torch.equal(first, expected)
    first.zero_()  # Whoever gets a gradient may overwrite it.
    assert torch.equal(gradient(2 * log_z, retain_graph=True), 2 * expected)
    assert torch.equal(gradient(log_z, create_graph=True), expected)
    per_sentence = torch.tensor([1.0, -0.5, 0.0], dtype=torch.float64)
    assert torch.equal(gradient(per_sentence * log_z), per_sentence[:, None, None] * expected)
    with pytest.raises(RuntimeError, match="second time"):
        gradient(log_z)
    each = torch.eye(3, dtype=torch.float64)
    log_z = tt.log_partition(scores)
    (batched,) = torch.autograd.grad(log_z, scores, each, is_grads_batched=True)
    assert torch.equal(batched, each[:, :, None, None] * expected)
    with pytest.raises(RuntimeError, match="second time"):
        gradient(log_z)
    log_z = tt.log_partition(scores)
    assert torch.equal(gradient(log_z, create_graph=True, retain_graph=False), expected)
    with pytest.raises(RuntimeError, match="second time"):
        gradient(log_z)
    a, b = scores.detach().requires_grad_(), torch.zeros_like(scores, requires_grad=True)
    tt.log_partition(a + b).sum().backward()
    assert torch.equal(a.grad, expected) and torch.equal(b.grad, expected)
    assert a.grad.data_ptr() != b.grad.data_ptr() and not a.grad.requires_grad
    d = tt.DependencyTrees(scores)
    gradient(3 * d.log_partition())
    assert torch.equal(d.marginals(), expected)
    sentence = scores_of(6, 6)
    tt.log_partition(sentence).backward()
    np.testing.assert_array_equal(sentence.grad, taproot.DependencyTrees(sentence.detach().numpy()).marginals())


def test_forbidden_edges_have_no_gradient() -> None:
    scores = scores_of(5, 5)
    for function in (tt.log_partition, tt.entropy):
        (grad,) = torch.autograd.grad(function(scores), scores)
        assert (
            torch.isfinite(grad).all() and grad[2, 1] == 0 and (grad.diagonal() == 0).all() and (grad[:, 0] == 0).all()
        )


def test_entropy_regularization_by_the_two_ways() -> None:
    """The entropy written with log_partition and its gradient, differentiated again, is the entropy differentiated."""
    scores = scores_of(2, 6, 6, forbid=False)
    log_z = tt.log_partition(scores)
    (p,) = torch.autograd.grad(log_z.sum(), scores, create_graph=True)
    inner = scores.clone()
    composed = (log_z - (p * inner).sum((-2, -1))).sum()
    (slow,) = torch.autograd.grad(composed, scores)
    (fast,) = torch.autograd.grad(tt.entropy(scores).sum(), scores)
    torch.testing.assert_close(slow, fast, rtol=1e-12, atol=1e-13)


def test_a_third_derivative_is_a_clear_error() -> None:
    scores = scores_of(4, 4, forbid=False)
    (first,) = torch.autograd.grad(tt.log_partition(scores), scores, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), scores, create_graph=True)
    with pytest.raises(NotImplementedError, match="one more"):
        torch.autograd.grad(second.sum(), scores)
    for function in (tt.entropy, lambda s: tt.kl_divergence(s, s.detach() * 2), lambda s: tt.marginals(s)[0, 1]):
        (once,) = torch.autograd.grad(function(scores), scores, create_graph=True)
        with pytest.raises(NotImplementedError, match="one more"):
            torch.autograd.grad(once.sum(), scores)


def test_dtypes_and_memory() -> None:
    scores = scores_of(5, 5).detach()
    exact = tt.log_partition(scores)
    single = tt.log_partition(scores.float())
    assert single.dtype == torch.float32 and abs(single.item() - exact.item()) < 1e-6
    for short in (torch.bfloat16, torch.float16):  # Read as float32, which holds every one of them, and so answered.
        found = tt.log_partition(scores.to(short))
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, tt.log_partition(scores.to(short).double()).float())
    # No copy: what is on the NumPy side is the tensor's memory.
    d = tt.DependencyTrees(scores.expand(2, 5, 5))
    assert np.shares_memory(d._sentences.trees.decoder._matrix, scores.numpy())


def test_changing_the_scores_after_the_forward_pass() -> None:
    scores = scores_of(5, 5, forbid=False)
    with torch.no_grad():
        expected = tt.marginals(scores.clone())
    leaf = scores.detach().clone().requires_grad_()
    moved = leaf * 1
    log_z = tt.log_partition(moved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        moved.mul_(2)
        log_z.backward()
    (grad,) = torch.autograd.grad(tt.log_partition(scores), scores)
    torch.testing.assert_close(grad, expected)


@pytest.mark.parametrize("root", ROOTS)
def test_distribution(root: Any) -> None:
    scores = scores_of(2, 3, 5, 5)
    lengths = torch.tensor([[4, 2, 3], [1, 4, 4]])
    scores = torch.where(torch.isinf(scores), torch.zeros_like(scores), scores)
    d = tt.DependencyTrees(scores, lengths, root, validate_args=True)
    assert d.batch_shape == (2, 3) and d.event_shape == (4,)
    torch.manual_seed(5)
    trees = d.sample((7,))
    assert trees.shape == (7, 2, 3, 4) and trees.dtype == torch.int64
    torch.manual_seed(5)
    assert torch.equal(trees, d.sample((7,)))
    assert not torch.equal(trees, d.sample((7,)))
    assert torch.equal(d.sample((7,), seed=3), d.sample((7,), seed=3))
    assert d.support.check(trees).all()
    assert d.log_prob(trees).shape == (7, 2, 3)
    assert (d.log_prob(d.mode) >= d.log_prob(trees) - 1e-12).all()
    assert d.mbr().shape == (2, 3, 4)
    assert d.sample_without_replacement(2).heads.shape == (2, 2, 3, 4)
    flat = taproot.DependencyTrees(scores.detach().reshape(6, 5, 5).numpy(), lengths.reshape(-1).numpy(), root)
    np.testing.assert_allclose(d.entropy().detach().reshape(-1), flat.entropy())
    np.testing.assert_allclose(d.marginals().detach().reshape(6, 5, 5), flat.marginals())
    np.testing.assert_allclose(d.log_partition().detach().reshape(-1), flat.log_partition())
    q = tt.DependencyTrees(scores * 2, lengths, root)
    np.testing.assert_allclose(
        torch.distributions.kl_divergence(d, q).detach(), tt.kl_divergence(scores, scores * 2, lengths, root).detach()
    )
    wider = tt.DependencyTrees(scores[0, 0], 4, root).expand((3,))
    assert wider.batch_shape == (3,) and torch.allclose(wider.entropy(), wider.entropy()[0])


def test_support_against_every_array_of_heads() -> None:
    for root in ROOTS:
        d = tt.DependencyTrees(torch.zeros(4, 4), root=root, validate_args=True)  # type: ignore[arg-type]
        all_heads = torch.cartesian_prod(*[torch.arange(-1, 5)] * 3)
        trees = taproot.DependencyTrees(np.zeros((4, 4)), root=root).kbest(100).heads.tolist()  # type: ignore[arg-type]
        valid = d.support.check(all_heads)
        assert sorted(all_heads[valid].tolist()) == sorted(trees)
        with pytest.raises(ValueError, match="support"):
            d.log_prob(torch.tensor([2, 1, 0]))
    loose = tt.DependencyTrees(torch.zeros(4, 4), validate_args=False)
    assert loose.log_prob(torch.tensor([2, 1, 0])) == -torch.inf


def test_no_gradient_through_what_is_no_tree() -> None:
    scores = scores_of(4, 4, forbid=False)
    (grad,) = torch.autograd.grad(tt.log_prob(scores, torch.tensor([2, 1, 0])), scores)
    assert (grad == 0).all()


def test_heads_of_fewer_bytes() -> None:
    d = tt.DependencyTrees(scores_of(2, 5, 5), lengths=[4, 2])
    trees = d.sample((7,), seed=3)
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        small = d.sample((7,), seed=3, dtype=dtype)
        assert small.dtype == dtype and torch.equal(small.long(), trees)
    with pytest.raises(ValueError, match="dtype must be torch.int8"):
        d.sample(dtype=torch.float32)
    longer = tt.DependencyTrees(torch.zeros(129, 129))
    with pytest.raises(ValueError, match=r"128 words do not fit torch\.int8"):
        longer.sample(dtype=torch.int8)
    assert longer.sample(dtype=torch.int16).max() > 0


def test_rows_that_fill_up_a_sample() -> None:
    """log_prob of a tree of -1 is NaN, and so is the gradient where it counts; the other trees are as without it."""
    scores = scores_of(2, 3, 3, forbid=False)
    d = tt.DependencyTrees(scores, lengths=[2, 1])
    trees = d.kbest(2).heads
    assert trees[1, 1].tolist() == [-1, -1]
    value = d.log_prob(trees)
    assert value.isnan().tolist() == [[False, False], [False, True]]
    (grad,) = torch.autograd.grad(value.sum(), scores, retain_graph=True)
    assert grad[0].isfinite().all() and grad[1].isnan().any()
    (masked,) = torch.autograd.grad(torch.where(value.isnan(), 0.0, value)[:, 0].sum(), scores)
    torch.testing.assert_close(masked[0], grad[0])
    assert (masked[1] == 0).all()


def test_heads_outside_of_the_sentence_break_no_gradient() -> None:
    scores = scores_of(2, 4, 4, forbid=False)
    heads = torch.tensor([[2, 0, 2], [2, 0, 77]])
    (grad,) = torch.autograd.grad(tt.log_prob(scores, heads, [3, 2]).sum(), scores)
    assert grad.isfinite().all() and (grad[1, 3] == 0).all() and (grad[1, :, 3] == 0).all()


def test_seeds() -> None:
    """Fresh without a seed, as PyTorch's generator says; the same for the same integer or torch.Generator."""
    d = tt.DependencyTrees(torch.zeros(2, 11, 11))

    def generator(seed: int) -> Any:
        return torch.Generator().manual_seed(seed)

    for sample in (
        lambda seed=None: d.sample((20,), seed),
        lambda seed=None: d.sample_without_replacement(20, seed).heads,
    ):
        assert not torch.equal(sample(), sample())
        torch.manual_seed(1)
        first = sample()
        torch.manual_seed(1)
        assert torch.equal(first, sample())
        assert torch.equal(sample(generator(3)), sample(generator(3)))
        assert not torch.equal(sample(generator(3)), sample(generator(4)))
        one = generator(5)
        assert not torch.equal(sample(one), sample(one))
        assert torch.equal(sample(7), sample(7)) and torch.equal(sample(2**64 - 1), sample(2**64 - 1))
        for wrong in (-1, 2**64, "1", 1.5):
            with pytest.raises(ValueError, match="seed"):
                sample(wrong)


def test_training_step_moves_towards_the_gold_tree() -> None:
    torch.manual_seed(0)
    scores = torch.zeros(6, 6, requires_grad=True)
    gold = torch.tensor([2, 0, 2, 3, 3])
    optimizer = torch.optim.SGD([scores], lr=1.0)
    before = tt.log_prob(scores, gold).item()
    for _ in range(50):
        optimizer.zero_grad()
        (-tt.log_prob(scores, gold)).backward()
        optimizer.step()
    assert tt.log_prob(scores, gold).item() > before and tt.log_prob(scores, gold).exp() > 0.8
    assert torch.equal(tt.DependencyTrees(scores.detach()).mode, gold)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tt.log_partition(torch.zeros(3, 4)), "shape"),
        (lambda: tt.log_partition(torch.zeros(3)), "shape"),
        (lambda: tt.log_partition(torch.zeros(3, 3, dtype=torch.int64)), "floating"),
        (lambda: tt.log_partition(np.zeros((3, 3))), "tensor"),
        (lambda: tt.log_partition(torch.zeros(2, 3, 3), lengths=[2]), "lengths"),
        (lambda: tt.log_partition(torch.zeros(3, 3, device="meta")), "CPU"),
        (lambda: tt.log_prob(torch.zeros(2, 3, 3), torch.zeros(3, 2, dtype=torch.int64)), "heads"),
        (lambda: tt.kl_divergence(torch.zeros(3, 3), torch.zeros(4, 4)), "one shape"),
        (lambda: tt.log_partition(torch.full((3, 3), torch.nan)), "NaN"),
        (lambda: tt.log_partition(torch.zeros(3, 3), root="none"), "root"),  # type: ignore[arg-type]
    ],
)
def test_misuse(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_no_tree_names_the_sentence() -> None:
    scores = torch.zeros(3, 4, 4)
    scores[2, 0] = -torch.inf
    with pytest.raises(taproot.NoTreeError, match="sentence 2"):
        tt.log_partition(scores)


def test_copies_of_a_distribution() -> None:
    d = tt.DependencyTrees(torch.zeros(2, 3, 3), lengths=[2, 1])
    for same in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert torch.equal(d.entropy(), same.entropy()) and torch.equal(
            d.sample((3,), seed=1), same.sample((3,), seed=1)
        )


def test_log_prob_broadcasts_over_batch_axes() -> None:
    scores = scores_of(2, 1, 4, 4, forbid=False)
    wide = tt.DependencyTrees(scores.expand(2, 5, 4, 4))
    trees = wide.sample((3,), seed=1)
    narrow = tt.DependencyTrees(scores)
    torch.testing.assert_close(narrow.log_prob(trees), wide.log_prob(trees))
    ours, theirs = (torch.autograd.grad(d.log_prob(trees).sum(), scores, retain_graph=True)[0] for d in (narrow, wide))
    torch.testing.assert_close(ours, theirs)
    one = tt.DependencyTrees(scores[0, 0])
    torch.testing.assert_close(one.log_prob(trees[:, 0, 0]), wide.log_prob(trees)[:, 0, 0])
    assert tt.DependencyTrees(torch.zeros(0, 4, 4)).log_prob(torch.zeros(0, 3, dtype=torch.int64)).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_gradients_in_short_types_are_rounded_once(dtype: Any) -> None:
    scores = torch.zeros(4, 4, dtype=dtype, requires_grad=True)
    heads = torch.tensor([[0, 1, 1]]).expand(2000, 3)
    (grad,) = torch.autograd.grad(tt.log_prob(scores, heads).mean(dtype=torch.float64) * 1, scores)
    assert grad.dtype == dtype
    torch.testing.assert_close(grad[0, 1].double(), torch.tensor(2 / 3, dtype=torch.float64), rtol=2e-2, atol=0)


def test_a_small_divergence_in_float32() -> None:
    scores = scores_of(8, 41, 41, forbid=False).detach()
    other = scores + 1e-3 * scores_of(8, 41, 41, seed=3, forbid=False).detach()
    exact = tt.kl_divergence(scores.float().double(), other.float().double())
    for found in (
        tt.kl_divergence(scores.float(), other.float()),
        torch.distributions.kl_divergence(tt.DependencyTrees(scores.float()), tt.DependencyTrees(other.float())),
    ):
        torch.testing.assert_close(found.double(), exact, rtol=1e-6, atol=0)


def test_changing_the_scores_of_a_distribution_is_noticed() -> None:
    scores = scores_of(4, 4, forbid=False)
    d = tt.DependencyTrees(scores)
    d.log_partition()
    with torch.no_grad():
        scores.mul_(3)
    with pytest.raises(RuntimeError, match="changed in place"):
        d.entropy()
    with torch.inference_mode():
        assert tt.DependencyTrees(torch.zeros(3, 3)).entropy() > 0


def test_hessian_vector_products() -> None:
    scores = scores_of(5, 5, forbid=False)
    v = scores_of(5, 5, seed=4, forbid=False).detach()
    expected = taproot.DependencyTrees(scores.detach().numpy()).hessian_product(v.numpy())
    _, found = torch.autograd.functional.hvp(tt.log_partition, scores.detach(), v)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    full = torch.autograd.functional.hessian(tt.log_partition, scores.detach())
    np.testing.assert_allclose((full * v).sum((-2, -1)), expected, atol=1e-13)


def test_infinities_where_they_do_not_matter_and_where_they_do() -> None:
    p = torch.zeros(4, 4, dtype=torch.float64)
    p[0, 2] = p[0, 3] = -torch.inf
    q = p.clone()
    q[2, 1] = -torch.inf  # Word 1 is the root: no tree has this edge.
    p.requires_grad_()
    kl_ = tt.kl_divergence(p, q)
    (grad,) = torch.autograd.grad(kl_, p)
    assert kl_ == 0 and torch.isfinite(grad).all()
    q = torch.zeros(4, 4, dtype=torch.float64)
    q[1, 2] = -torch.inf
    both, others = torch.zeros(2, 4, 4, dtype=torch.float64, requires_grad=True), torch.stack([q, torch.zeros_like(q)])
    found = tt.kl_divergence(both, others)
    (grad,) = torch.autograd.grad(found.sum(), both)
    assert found[0] == torch.inf and torch.isnan(grad[0]).all() and torch.isfinite(grad[1]).all()
    values = torch.zeros(4, 4, dtype=torch.float64)
    values[0, 1] = -torch.inf
    scores = torch.zeros(4, 4, dtype=torch.float64)
    scores[0, 1] = -torch.inf
    scores.requires_grad_()
    mean = tt.expectation(scores, values)
    (grad,) = torch.autograd.grad(mean, scores)
    assert mean == 0 and torch.isfinite(grad).all()
