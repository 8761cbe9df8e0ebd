# SPDX-License-Identifier: Apache-2.0
"""CUDA tensors in taproot.torch. Skipped where there is no device; and a test proves that the device did the work."""

import gc
from typing import Any

import numpy as np
import pytest

import taproot

torch = pytest.importorskip("torch")
import taproot.torch as tt  # noqa: E402
from taproot import _torch_cuda  # noqa: E402

# Warnings of PyTorch itself, about its profiler and make_graphed_callables.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:.*{message}")
    for message in ("Profiler clears events", "AccumulateGrad node's stream")
]
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
@pytest.mark.parametrize("projective", [False, True])
def test_values_are_those_of_the_cpu(root: Any, n: int, lengths: Any, projective: bool) -> None:
    scores = scores_of(3, n + 1, n + 1)
    cuda = scores.cuda()
    d = tt.DependencyTrees(cuda, lengths, root, projective=projective)
    e = tt.DependencyTrees(scores, lengths, root, projective=projective)
    torch.testing.assert_close(d.log_partition().cpu(), e.log_partition(), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(d.marginals().cpu(), e.marginals(), rtol=0, atol=1e-12)
    torch.testing.assert_close(d.entropy().cpu(), e.entropy(), rtol=1e-11, atol=1e-12)
    heads = e.sample((4,), seed=1)
    torch.testing.assert_close(d.log_prob(heads.cuda()).cpu(), e.log_prob(heads), rtol=1e-12, atol=1e-12)
    heads[0, 0, 0] = 1  # A word that is its own head,
    heads[1, 1] = -1  # and a tree that is not there.
    found, exact = (
        tt.log_prob(s, heads.to(s.device), lengths, root, projective=projective).cpu() for s in (cuda, scores)
    )
    torch.testing.assert_close(found, exact, rtol=1e-12, atol=1e-12, equal_nan=True)
    assert found[0, 0] == -torch.inf and found[1, 1].isnan()
    assert d.log_partition().device == cuda.device == d.marginals().device


@needs_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_the_device_does_the_work_and_keeps_it(dtype: Any, projective: bool) -> None:
    scores = scores_of(2, 26, 26, dtype=dtype).cuda()
    d = tt.DependencyTrees(scores, projective=projective)
    device = _torch_cuda._cuda(0, "float64" if dtype == torch.float64 else "float32")
    before = device.statistics()
    d.sample((100,), seed=0), d.mbr(), d.root_marginals(), d.sample((100,), seed=1), d.kl_divergence(d)
    after = device.statistics()
    assert after["launches"] > before["launches"], "nothing ran on the device"
    assert after["eliminations"] == before["eliminations"] + 1


def host_copies(call: Any) -> list[str]:
    """The copies from the device to the host that a call makes, as PyTorch's profiler names them."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as found:
        call()
        torch.cuda.synchronize()
    return [event.name for event in found.events() if "DtoH" in event.name]


@needs_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_nothing_reaches_the_host(dtype: Any, projective: bool) -> None:
    leaf = scores_of(64, 26, 26, dtype=dtype).cuda().requires_grad_()
    lengths = torch.full((64,), 25, device="cuda")
    rest: Any = dict(projective=projective)
    gold = tt.DependencyTrees(leaf.detach(), lengths, **rest).sample((), seed=0)

    def step() -> None:
        tt.log_partition(leaf, lengths, **rest).sum().backward()
        tt.nll(leaf, gold, lengths, **rest).backward()
        tt.entropy(leaf, lengths, **rest).sum().backward()
        tt.argmax(leaf, lengths, **rest)

    step()
    assert host_copies(step) == []
    assert host_copies(lambda: tt.log_partition(leaf, lengths, check=True)), "the profiler sees no copies"


@needs_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_cuda_graphs(dtype: Any, projective: bool) -> None:
    """A captured step, replayed with other scores, lengths and gold trees; and make_graphed_callables."""
    gc.collect()  # The graphs of an earlier test, if freed during a capture, make it fail; PyTorch 2.11 does not look.
    n, batch = 12, 16
    leaf = torch.zeros(batch, n + 1, n + 1, dtype=dtype, device="cuda", requires_grad=True)
    lengths = torch.full((batch,), n, dtype=torch.int32, device="cuda")
    gold = torch.arange(n, device="cuda").expand(batch, n).contiguous()
    rest: Any = dict(projective=projective)

    def losses(scores: Any) -> Any:
        return tt.nll(scores, gold, lengths, reduction="sum", **rest), tt.entropy(scores, lengths, **rest).sum()

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            sum(losses(leaf)).backward()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    leaf.grad = None
    with torch.cuda.graph(graph):
        loss, entropy = losses(leaf)
        (loss + entropy).backward()
    for seed in range(3):
        new = scores_of(batch, n + 1, n + 1, seed=seed, dtype=dtype)
        with torch.no_grad():
            leaf.copy_(new)
            lengths.copy_(torch.arange(batch) % n + 1)
        graph.replay()
        own = new.cuda().requires_grad_()
        expected = losses(own)
        sum(expected).backward()
        torch.testing.assert_close((loss, entropy), expected)
        torch.testing.assert_close(leaf.grad, own.grad)

    class Loss(torch.nn.Module):  # type: ignore[misc]
        def forward(self, scores: Any) -> Any:
            return tt.log_partition(scores, **rest).sum()

    sample = torch.zeros(batch, n + 1, n + 1, dtype=dtype, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(Loss(), (sample,))
    own = new.cuda().requires_grad_()
    graphed(own).backward()
    torch.testing.assert_close(own.grad, tt.marginals(new.cuda(), **rest))


@needs_device
@pytest.mark.filterwarnings("ignore")  # PyTorch's compiler has several.
def test_compiled_on_the_device() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(16, 16).cuda()
    words = torch.randn(8, 13, 16, device="cuda")
    gold = torch.arange(12, device="cuda").expand(8, 12)
    lengths = torch.randint(1, 13, (8,), device="cuda")

    def loss(words: Any) -> Any:
        return tt.nll(linear(words) @ words.transpose(1, 2), gold, lengths, layout="dependent-head")

    expected = torch.autograd.grad(loss(words), linear.weight)[0]
    for mode in ("default", "reduce-overhead"):  # The second one makes CUDA graphs of it.
        compiled = torch.compile(loss, fullgraph=True, mode=mode)
        for _ in range(3):
            found = torch.autograd.grad(compiled(words), linear.weight)[0]
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    with torch.autocast("cuda", torch.bfloat16):
        short = loss(words)
    assert short.dtype == torch.float32
    torch.testing.assert_close(short, loss(words), rtol=0.05, atol=0.05)


@needs_device
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_plain_scores_have_the_answers_of_the_longer_way(root: Any, projective: bool, dtype: Any) -> None:
    scores = scores_of(6, 21, 21, dtype=dtype)
    scores[1, 0] = -torch.inf  # No tree,
    scores[2, 3, 4] = torch.nan  # no answer,
    scores[3] *= 400  # and beyond the range of double.
    turned = scores.mT.contiguous().mT
    rest: Any = dict(root=root, projective=projective)
    weights = torch.rand(6, dtype=dtype, device="cuda")
    kept = [0, 1, 3, 4, 5]
    for given in (scores, turned):
        leaf = given.cuda().requires_grad_()
        short, long = tt.log_partition(leaf, **rest), tt.log_partition(leaf, [20] * 6, **rest)
        assert torch.equal(short.nan_to_num(), long.nan_to_num()) and torch.equal(short.isnan(), long.isnan())
        slopes = [torch.autograd.grad((z * weights)[kept].sum(), leaf, retain_graph=True)[0] for z in (short, long)]
        differentiable, again = (
            torch.autograd.grad((short * weights)[kept].sum(), leaf, create_graph=create)[0] for create in (True, False)
        )
        for slope in (slopes[1], again, differentiable):
            assert torch.equal(slopes[0][kept], slope[kept])
        best = tt.argmax(leaf.detach(), **rest)
        assert torch.equal(best, tt.argmax(leaf.detach(), [20] * 6, **rest)) and best.dtype == torch.int64
    assert tt.log_partition(scores[:0].cuda(), **rest).shape == (0,) == tt.argmax(scores[:0].cuda(), **rest).shape[:1]
    with pytest.raises(taproot.SentenceError):
        tt.log_partition(scores.cuda(), check=True, **rest)


@needs_device
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("projective", [False, True])
def test_trees_and_divergences_are_those_of_the_cpu(root: Any, projective: bool) -> None:
    scores, other = scores_of(5, 21, 21), scores_of(5, 21, 21, seed=1)
    scores[3] = scores[3].round()  # Ties.
    lengths = torch.tensor([20, 1, 7, 20, 19])
    rest: Any = dict(lengths=lengths, root=root, projective=projective)
    for find in (tt.argmax, tt.mbr):
        assert torch.equal(find(scores.cuda(), **rest).cpu(), find(scores, **rest))
    sampled = [tt.DependencyTrees(s, **rest).sample((50,), seed=3).cpu() for s in (scores, scores.cuda())]
    assert torch.equal(*sampled)
    values = torch.randn(5, 21, 21, dtype=torch.float64)
    for function in (
        lambda s, o, v: tt.kl_divergence(s, o, **rest),
        lambda s, o, v: tt.cross_entropy(s, o, **rest),
        lambda s, o, v: tt.expectation(s, v, **rest),
        lambda s, o, v: tt.DependencyTrees(s, **rest).root_marginals().square().sum(-1),
    ):
        found = []
        for device in ("cpu", "cuda"):
            p, q, v = (t.to(device).requires_grad_() for t in (scores.clone(), other.clone(), values.clone()))
            value = function(p, q, v)
            slopes = torch.autograd.grad(value.sum(), [p, q, v], allow_unused=True)
            found.append([value.detach().cpu(), *(None if s is None else s.cpu() for s in slopes)])
        for ours, theirs in zip(*found):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


@needs_device
def test_memory_is_given_back() -> None:
    d = tt.DependencyTrees(scores_of(2000, 101, 101).cuda())
    d.mbr()  # Keeps factors and marginals.
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
    for dtype in (torch.int8, torch.int16, torch.int32):
        small = tt.DependencyTrees(scores.cuda(), lengths, root).sample((200,), seed=9, dtype=dtype)
        assert small.dtype == dtype and torch.equal(small.long(), ours)


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
def test_beyond_double() -> None:
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
    d, e = tt.DependencyTrees(scores.cuda()), tt.DependencyTrees(scores)
    assert torch.equal(d.sample((20,), seed=4).cpu(), e.sample((20,), seed=4))


@needs_device
def test_sentences_without_an_answer() -> None:
    scores = scores_of(4, 4, 4)
    scores[1, 0] = -torch.inf
    scores[2, 1, 2] = torch.nan
    lengths = torch.tensor([3, 3, 3, 9], device="cuda")  # Not looked at.
    for dtype in (torch.float64, torch.float32):
        leaf = scores.to("cuda", dtype).requires_grad_()
        found = tt.log_partition(leaf, lengths)
        assert found[0].isfinite() and found[1] == -torch.inf and found[2:].isnan().all()
        found.sum().backward()
        assert leaf.grad[:2].isfinite().all() and (leaf.grad[1] == 0).all() and leaf.grad[2:].isnan().any((1, 2)).all()
        (slope,) = torch.autograd.grad(tt.entropy(leaf, lengths)[:2].nan_to_num().sum(), leaf)
        assert slope[:2].isfinite().all() and (slope[1] == 0).all()
        loss = tt.nll(leaf, torch.tensor([[0, 1, 1]] * 4, device="cuda"), lengths, reduction="none")
        assert loss[0].isfinite() and loss[1:].isnan().all()
        assert tt.argmax(leaf, lengths)[1:].eq(-1).all() and tt.mbr(leaf, lengths)[1:].eq(-1).all()
    with pytest.raises(taproot.NoTreeError, match="sentence 1"):
        tt.log_partition(scores[:2].cuda(), check=True)
    with pytest.raises(taproot.SentenceError, match="sentence 0: the score of head 1 -> modifier 2"):
        tt.marginals(scores[2:3].cuda(), check=True)
    with pytest.raises(ValueError, match="lengths"):
        tt.log_partition(torch.zeros(4, 4, 4, device="cuda"), lengths, check=True)
    with pytest.raises(taproot.NoTreeError, match="sentence 1"):
        tt.DependencyTrees(scores[:2].cuda()).sample((3,))


@needs_device
def test_errors() -> None:
    good = tt.DependencyTrees(torch.zeros(2, 4, 4, device="cuda"))
    with pytest.raises(NotImplementedError, match="not done on a device"):
        good.kbest(3)
    with pytest.raises(ValueError, match="algorithm"):
        good.sample((2,), algorithm="colbourn")
    with pytest.raises(ValueError, match="lengths"):
        tt.log_partition(torch.zeros(2, 4, 4, device="cuda"), lengths=[3, 9])
    with pytest.raises(ValueError, match="heads are on cpu"):
        tt.log_prob(torch.zeros(4, 4, device="cuda"), torch.tensor([0, 1, 1]))
