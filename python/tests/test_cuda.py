# SPDX-License-Identifier: Apache-2.0
"""CUDA tensors in taproot.torch. Skipped where there is no device; and a test proves that the device did the work."""

from typing import Any

import numpy as np
import pytest

import taproot

torch = pytest.importorskip("torch")
import taproot.torch as tt  # noqa: E402
from taproot import _torch_cuda  # noqa: E402

ROOTS = ["single", "multi"]
needs_device = pytest.mark.skipif(
    not (taproot.cuda_available() and torch.cuda.is_available()), reason=f"no device: {taproot.cuda_description()}"
)


def scores_of(*shape: int, seed: int = 0, dtype: Any = torch.float64) -> Any:
    scores = np.random.default_rng(seed).normal(size=shape)
    scores[..., 2, 1] = -np.inf
    return torch.tensor(scores, dtype=dtype)


def test_a_description_is_there() -> None:
    assert isinstance(taproot.cuda_available(), bool) and taproot.cuda_description()


@needs_device
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(("n", "lengths"), [(5, [5, 1, 3]), (31, None), (60, [60, 2, 33]), (100, [100, 99, 50])])
def test_values_are_those_of_the_cpu(root: Any, n: int, lengths: Any) -> None:
    scores = scores_of(3, n + 1, n + 1)
    cuda = scores.cuda()
    d = tt.DependencyTrees(cuda, lengths, root)
    e = tt.DependencyTrees(scores, lengths, root)
    torch.testing.assert_close(d.log_partition().cpu(), e.log_partition(), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(d.marginals().cpu(), e.marginals(), rtol=0, atol=1e-12)
    torch.testing.assert_close(d.entropy().cpu(), e.entropy(), rtol=1e-11, atol=1e-12)
    heads = e.sample((4,), seed=1)
    torch.testing.assert_close(d.log_prob(heads.cuda()).cpu(), e.log_prob(heads), rtol=1e-12, atol=1e-12)
    heads[0, 0, 0] = 1  # A word that is its own head,
    heads[1, 1] = -1  # and a tree that is not there.
    found, exact = tt.log_prob(cuda, heads.cuda(), lengths, root).cpu(), tt.log_prob(scores, heads, lengths, root)
    torch.testing.assert_close(found, exact, rtol=1e-12, atol=1e-12, equal_nan=True)
    assert found[0, 0] == -torch.inf and found[1, 1].isnan()
    assert d.log_partition().device == cuda.device == d.marginals().device


@needs_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_one_distribution_eliminates_once(dtype: Any) -> None:
    scores = scores_of(2, 26, 26, dtype=dtype).cuda()
    d = tt.DependencyTrees(scores)
    device = _torch_cuda._cuda(0, "float64" if dtype == torch.float64 else "float32")
    before = device.statistics()
    d.log_partition(), d.marginals(), d.entropy(), d.log_prob(d.sample((100,), seed=0))
    after = device.statistics()
    assert after["launches"] > before["launches"], "nothing ran on the device"
    assert after["eliminations"] == before["eliminations"] + 1


@needs_device
def test_memory_is_given_back() -> None:
    d = tt.DependencyTrees(scores_of(2000, 101, 101).cuda())
    d.marginals()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]
    del d
    _torch_cuda.release_memory()
    assert torch.cuda.mem_get_info()[0] > before + 2000 * 101**2 * 8
    assert tt.log_partition(scores_of(2, 6, 6).cuda()).isfinite().all()


@needs_device
@pytest.mark.parametrize("root", ROOTS)
def test_gradients(root: Any) -> None:
    scores = scores_of(3, 8, 8)
    lengths = torch.tensor([7, 4, 6])
    heads = tt.DependencyTrees(scores, lengths, root).sample((2,), seed=0)
    for function in (
        lambda s, h: tt.log_partition(s, lengths, root).sum(),
        lambda s, h: (tt.log_prob(s, h, lengths, root) * 0.5).sum(),
        lambda s, h: tt.entropy(s, lengths, root).sum(),
        lambda s, h: tt.marginals(s, lengths, root).square().sum(),
    ):
        leaf, on_device = scores.clone().requires_grad_(), scores.cuda().requires_grad_()
        function(leaf, heads).backward()
        function(on_device, heads.cuda()).backward()
        torch.testing.assert_close(on_device.grad.cpu(), leaf.grad, rtol=0, atol=1e-12)
    of_gradients = []
    for there in (scores.clone().requires_grad_(), scores.cuda().requires_grad_()):
        (grad,) = torch.autograd.grad(tt.log_partition(there, lengths, root).sum(), there, create_graph=True)
        grad.square().sum().backward()
        of_gradients.append(there.grad.cpu())
    torch.testing.assert_close(*of_gradients, rtol=0, atol=1e-12)
    single = scores.float().cuda().requires_grad_()
    tt.entropy(single, lengths, root).sum().backward()
    exact = scores.float().double().requires_grad_()
    tt.entropy(exact, lengths, root).sum().backward()
    torch.testing.assert_close(single.grad.cpu().double(), exact.grad, rtol=0, atol=1e-6)


@needs_device
@pytest.mark.parametrize("root", ROOTS)
def test_samples_are_those_of_the_cpu(root: Any) -> None:
    scores = scores_of(4, 26, 26)
    lengths = torch.tensor([25, 3, 10, 24])
    ours = tt.DependencyTrees(scores.cuda(), lengths, root).sample((200,), seed=9)
    assert ours.is_cuda
    assert torch.equal(ours.cpu(), tt.DependencyTrees(scores, lengths, root).sample((200,), seed=9))


@needs_device
def test_without_replacement() -> None:
    scores = scores_of(2, 9, 9)
    d = tt.DependencyTrees(scores.cuda(), lengths=[8, 3])
    s = d.sample_without_replacement(50, seed=3)
    heads = s.heads.cpu().numpy()
    cpu = taproot.DependencyTrees(scores.numpy(), [8, 3])
    assert len({tuple(t) for t in heads[:, 0].tolist()}) == 50
    np.testing.assert_allclose(s.log_prob[:, 0].cpu(), cpu[0].log_prob(heads[:, 0]), rtol=1e-9, atol=1e-10)
    assert (np.diff(s.gumbel[:, 0].cpu()) <= 0).all()
    every = taproot.DependencyTrees(scores[1, :4, :4].numpy()).kbest(50)
    count = int(s.counts[1])
    assert bool(s.exhausted[1]) and count == len(every) and not bool(s.exhausted[0])
    assert sorted(heads[:count, 1, :3].tolist()) == sorted(every.heads.tolist())
    assert float(s.weights[:, 1].sum()) == pytest.approx(1)
    there, weights = s.log_prob.cpu().numpy(), s.weights.cpu().numpy()
    expected = taproot.horvitz_thompson_weight(there, s.kappa.cpu().numpy())
    np.testing.assert_allclose(weights, np.where(there > -np.inf, expected, 0), rtol=1e-12)


@needs_device
def test_strides_streams_and_types() -> None:
    scores = scores_of(3, 12, 12)
    expected = tt.log_partition(scores)
    turned = scores.permute(2, 1, 0).contiguous().cuda().permute(2, 1, 0)
    torch.testing.assert_close(tt.log_partition(turned).cpu(), expected, rtol=1e-13, atol=0)
    shared = scores[0].cuda().expand(3, 12, 12)
    torch.testing.assert_close(tt.log_partition(shared).cpu(), expected[:1].expand(3), rtol=1e-13, atol=0)
    single = tt.log_partition(scores.float().cuda())
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.cpu().double(), tt.log_partition(scores.float()).double(), rtol=1e-5, atol=1e-6)
    assert tt.marginals(scores.float().cuda()).dtype == torch.float32
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = scores.cuda() * 1
        found = tt.log_partition(late)
    stream.synchronize()
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-13, atol=0)
    assert tt.log_partition(torch.zeros(0, 4, 4, device="cuda")).shape == (0,)
    assert tt.log_partition(torch.zeros(4, 4, device="cuda")).shape == ()


@needs_device
def test_beyond_double_goes_to_the_cpu() -> None:
    scores = scores_of(2, 6, 6)
    scores[0] = torch.where(
        torch.rand(6, 6, generator=torch.Generator().manual_seed(0)) < 0.5, scores[0] * 1e5, scores[0]
    )
    torch.testing.assert_close(tt.log_partition(scores.cuda()).cpu(), tt.log_partition(scores), rtol=1e-12, atol=0)
    torch.testing.assert_close(tt.marginals(scores.cuda()).cpu(), tt.marginals(scores), rtol=0, atol=1e-12)
    found, exact = scores.cuda().requires_grad_(), scores.clone().requires_grad_()
    for leaf in (found, exact):
        tt.marginals(leaf).square().sum().backward()
    torch.testing.assert_close(found.grad.cpu(), exact.grad, rtol=0, atol=1e-11)


@needs_device
def test_errors() -> None:
    scores = torch.zeros(3, 4, 4)
    scores[1, 0] = -torch.inf
    with pytest.raises(taproot.NoTreeError, match="sentence 1"):
        tt.log_partition(scores.cuda())
    bad = torch.zeros(3, 4, 4)
    bad[2, 1, 2] = torch.nan
    with pytest.raises(taproot.SentenceError, match="sentence 2: the score of head 1 -> modifier 2"):
        tt.marginals(bad.cuda())
    good = tt.DependencyTrees(torch.zeros(2, 4, 4, device="cuda"))
    for call in (lambda: good.mode, good.mbr, lambda: torch.distributions.kl_divergence(good, good)):
        with pytest.raises(NotImplementedError, match="not done on a device"):
            call()
    with pytest.raises(ValueError, match="algorithm"):
        good.sample((2,), algorithm="colbourn")
    with pytest.raises(ValueError, match="lengths"):
        tt.log_partition(torch.zeros(2, 4, 4, device="cuda"), lengths=[3, 9])
    with pytest.raises(ValueError, match="heads are on cpu"):
        tt.log_prob(torch.zeros(4, 4, device="cuda"), torch.tensor([0, 1, 1]))
