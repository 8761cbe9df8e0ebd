# SPDX-License-Identifier: Apache-2.0
"""Taproot for PyTorch: differentiable functions of scores, and a ``torch.distributions.Distribution``.

Scores are tensors of shape (..., N+1, N+1), float32 or float64, read without a copy; ``lengths`` has shape (...).
All arithmetic on the CPU is in float64 and exact; results have the scores' dtype. Gradients are exact too: that of
``log_partition`` is ``marginals``, whose own is the covariance of edges. So ``log_partition`` and ``log_prob`` can be
differentiated twice, ``marginals``, ``expectation``, ``entropy`` and the divergences once; asking for more is an error.
``torch.func`` is not supported.

CUDA tensors stay on their device, where taproot was built for it (``taproot.cuda_available()``): ``log_partition``,
``log_prob``, ``marginals`` and ``entropy`` with their derivatives, ``sample``, and ``sample_without_replacement`` by
``beam``, on PyTorch's current stream; the first three and samples in the scores' precision, the rest in float64.
What is not done there (decoding, divergences) says so.

>>> import torch, taproot.torch
>>> scores = torch.zeros(4, 4, dtype=torch.float64, requires_grad=True)
>>> taproot.torch.log_partition(scores).backward()
>>> scores.grad[0]
tensor([0.0000, 0.3333, 0.3333, 0.3333], dtype=torch.float64)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import constraints, kl

from . import _distribution
from ._distribution import Algorithm, Root, WithoutReplacementAlgorithm
from ._results import WithoutReplacementSample
from ._torch_cuda import CudaTrees, release_memory
from ._torch_tree import is_tree

__all__ = [
    "DependencyTrees",
    "cross_entropy",
    "entropy",
    "expectation",
    "is_tree",
    "kl_divergence",
    "log_partition",
    "log_prob",
    "marginals",
    "release_memory",
]


def _numpy(tensor: Tensor, name: str) -> np.ndarray[Any, Any]:
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}, and must be on the CPU or a CUDA device, where the scores are")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} must be a dense tensor")
    if tensor.dtype == torch.bfloat16:  # NumPy has none; float32 holds every one of them.
        tensor = tensor.float()
    return tensor.detach().resolve_neg().numpy()


def _trees(scores: Tensor, lengths: Any, root: Root) -> Any:
    """The scores as one flat batch: a taproot.DependencyTrees, or a CudaTrees."""
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        raise ValueError("scores must be a tensor of floating-point numbers")
    shape = tuple(scores.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(f"scores must have shape (..., N+1, N+1), not {shape}")
    if lengths is not None:
        if np.shape(lengths) != shape[:-2]:
            raise ValueError(f"lengths must have shape {shape[:-2]}, not {np.shape(lengths)}")
        lengths = lengths.reshape(-1) if isinstance(lengths, Tensor) else np.asarray(lengths).reshape(-1)
    if scores.device.type == "cuda":
        return CudaTrees(scores.detach().reshape(-1, *shape[-2:]), lengths, root)
    array = _numpy(scores, "scores")
    flat = array if array.ndim == 3 else array.reshape((-1, *shape[-2:]))
    return _distribution.DependencyTrees(flat, None if lengths is None else np.asarray(lengths), root, copy=False)


def _tensor(values: Any, like: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.as_tensor(values).reshape(shape).to(like.dtype)


def _spread(grad: Tensor) -> Tensor:
    """One number a sentence against a matrix a sentence."""
    return grad[..., None, None]


# Each function below is differentiated by hand: its context keeps the factorization of the forward pass (``trees``), so
# that going back costs no second one. The scores are saved only as what the result depends on. Marginals and what is
# summed over trees stay in float64 until the end.


class _Last(torch.autograd.Function):
    """The scores as they are, but not to be differentiated."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        return scores.view_as(scores)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        raise NotImplementedError(
            "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
            "this asks for one more"
        )


class _HessianProduct(torch.autograd.Function):
    """The Hessian of log Z times a vector: linear in it, and symmetric. NaN where the vector is not finite."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, vector: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        if isinstance(trees, CudaTrees):
            return trees.hessian_product(vector.reshape((len(trees), *vector.shape[-2:]))).reshape(vector.shape)
        direction = _numpy(vector, "the gradient").astype(np.float64).reshape((len(trees), *vector.shape[-2:]))
        found = trees._hessian_product(np.ascontiguousarray(direction))
        return torch.from_numpy(found).reshape(vector.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        (scores,) = ctx.saved_tensors  # Through _Last, which speaks up if their gradient is asked for.
        return torch.zeros_like(scores), _HessianProduct.apply(scores, grad, ctx.trees), None


def _hessian_product(scores: Tensor, vector: Tensor, trees: Any) -> Tensor:
    return _HessianProduct.apply(_Last.apply(scores), vector, trees)


class _Marginals(torch.autograd.Function):
    """In float64."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return torch.as_tensor(trees.marginals()).double().reshape(scores.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        return _hessian_product(scores, grad, ctx.trees).to(scores.dtype), None


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        if ctx.needs_input_grad[0]:
            ctx.found = torch.as_tensor(trees.marginals())  # One elimination for both.
        return _tensor(trees.log_partition(), scores, scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # To be differentiated once more.
            return (_spread(grad) * _Marginals.apply(scores, ctx.trees)).to(scores.dtype), None
        p = ctx.found.reshape(scores.shape)
        return (_spread(grad).to(p.dtype) * p).to(scores.dtype), None


class _Entropy(torch.autograd.Function):
    """Its gradient is -H S, H the Hessian of log Z."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return _tensor(trees.entropy(), scores, scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        slope = _hessian_product(scores, scores.detach().double(), ctx.trees)
        return (-_spread(grad) * slope).to(scores.dtype), None


class _Divergence(torch.autograd.Function):
    """The cross-entropy of q relative to p, or, if `relative`, the divergence of q from p.

    Their gradients: -H_p S_q, or H_p (S_p - S_q), for p's scores; q's marginals less p's for q's.
    """

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        other: Tensor,
        p: Any,
        q: Any,
        relative: bool,
    ) -> Tensor:
        ctx.save_for_backward(scores, other)
        ctx.trees = (p, q)
        ctx.relative = relative
        return _tensor(p.kl_divergence(q) if relative else p.cross_entropy(q), scores, scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        scores, other = ctx.saved_tensors
        p, q = ctx.trees
        of_scores = of_other = None
        if ctx.needs_input_grad[0]:
            vector = other.double()
            if ctx.relative:
                vector = vector - scores.detach().double()
            of_scores = (-_spread(grad) * _hessian_product(scores, vector, p)).to(scores.dtype)
        if ctx.needs_input_grad[1]:
            difference = _Marginals.apply(other, q) - _Marginals.apply(scores, p)
            of_other = (_spread(grad) * difference).to(other.dtype)
        return of_scores, of_other, None, None, None


class _LogProb(torch.autograd.Function):
    """Its gradient is the tree's edges less the marginals; none for what is no tree."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, heads: Tensor, trees: Any) -> Tensor:
        flat: Any = _flat(heads, trees)
        if not isinstance(trees, CudaTrees):
            flat = _numpy(flat, "heads")
        elif heads.device != scores.device:
            raise ValueError(f"heads are on {heads.device}, and the scores on {scores.device}")
        out = _tensor(trees.log_prob(flat), scores, heads.shape[:-1])
        ctx.save_for_backward(scores, heads, out)
        ctx.trees = trees
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        scores, heads, out = ctx.saved_tensors
        grad = torch.where(out > -torch.inf, grad, torch.zeros_like(grad)).double()
        batch, side = len(ctx.trees), scores.shape[-1]
        draws = _flat(heads, ctx.trees)
        of_draws = grad.reshape(draws.shape[:-1])
        word = torch.arange(1, side, device=heads.device)
        at = (torch.arange(batch, device=heads.device)[:, None] * side + draws) * side + word
        real = (word <= torch.as_tensor(ctx.trees.lengths)[:, None]).expand_as(draws)
        edges = grad.new_zeros(batch * side * side)
        edges = edges.index_add(0, at[real], of_draws[..., None].expand(draws.shape)[real])
        total = of_draws.sum(0).reshape(scores.shape[:-2])
        found = edges.reshape(scores.shape) - _spread(total) * _Marginals.apply(scores, ctx.trees)
        return found.to(scores.dtype), None, None


def _flat(heads: Tensor, trees: Any) -> Tensor:
    """Trees as [k, B, N]."""
    n = heads.shape[-1]
    of_batch = len(trees) * n
    return heads.reshape(heads.numel() // of_batch if of_batch else 1, len(trees), n)


def log_partition(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """log Z, shape (...). Twice differentiable; its gradient is ``marginals``."""
    return _LogPartition.apply(scores, _trees(scores, lengths, root))


def marginals(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """p(h -> m), shape (..., N+1, N+1), differentiable."""
    return _Marginals.apply(scores, _trees(scores, lengths, root)).to(scores.dtype)


def entropy(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """-sum p log p in nats, shape (...), differentiable."""
    return _Entropy.apply(scores, _trees(scores, lengths, root))


def expectation(scores: Tensor, edge_values: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """E[sum of edge_values over a tree's edges], shape (...), differentiable in both.

    Values of edges that have no probability do not count.
    """
    p = _Marginals.apply(scores, _trees(scores, lengths, root))
    values = torch.where(p > 0, edge_values.double(), torch.zeros_like(p))
    return (p * values).sum((-2, -1)).to(scores.dtype)


def log_prob(scores: Tensor, heads: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """log p of trees, heads of shape (..., N) or with more axes in front. Twice differentiable in the scores."""
    heads = torch.as_tensor(heads)
    expected = (*scores.shape[:-2], scores.shape[-1] - 1)
    if heads.ndim < len(expected) or tuple(heads.shape[heads.ndim - len(expected) :]) != expected:
        raise ValueError(f"heads must have shape {expected}, or more axes in front, not {tuple(heads.shape)}")
    return _LogProb.apply(scores, heads, _trees(scores, lengths, root))


def cross_entropy(scores: Tensor, other: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """-sum p log q, shape (...), q of the scores ``other``; differentiable in both.

    Where it is infinite, p's gradient is NaN.
    """
    return _divergence(scores, other, lengths, root, relative=False)


def kl_divergence(scores: Tensor, other: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """sum p log(p/q), shape (...), q of the scores ``other``; differentiable in both.

    Where it is infinite, p's gradient is NaN.
    """
    return _divergence(scores, other, lengths, root, relative=True)


def _divergence(scores: Tensor, other: Tensor, lengths: Any, root: Root, relative: bool) -> Tensor:
    if scores.shape != other.shape:
        raise ValueError(f"the two have shapes {tuple(scores.shape)} and {tuple(other.shape)}")
    return _Divergence.apply(scores, other, _trees(scores, lengths, root), _trees(other, lengths, root), relative)


class _Trees(constraints.Constraint):
    """Heads that are trees under the root rule."""

    is_discrete = True
    event_dim = 1

    def __init__(self, lengths: Tensor, n: int, root: Root) -> None:
        self.lengths, self.n, self.root = lengths, n, root
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return is_tree(value, self.lengths.to(value.device), self.root)


class DependencyTrees(torch.distributions.Distribution):
    """The distribution over dependency trees, as PyTorch has distributions.

    An event is a tree, its heads of shape (N,), int64, padding -1. Draws follow ``torch.manual_seed`` unless a seed is
    given. The scores must not be changed in place afterwards; make another distribution after a step of an optimizer.

    >>> import torch, taproot.torch
    >>> d = taproot.torch.DependencyTrees(torch.zeros(2, 4, 4), lengths=torch.tensor([3, 2]))
    >>> d.batch_shape, d.event_shape, d.sample((5,)).shape
    (torch.Size([2]), torch.Size([3]), torch.Size([5, 2, 3]))
    >>> d.entropy()
    tensor([2.1972, 0.6931])
    >>> d.log_prob(d.mode).exp()
    tensor([0.1111, 0.5000])
    """

    arg_constraints: dict[str, constraints.Constraint] = {}  # Checked by the library, which names the sentence.
    has_enumerate_support = False

    def __init__(
        self, scores: Tensor, lengths: Any = None, root: Root = "single", validate_args: bool | None = None
    ) -> None:
        self.scores = scores
        self.root: Root = root
        self._factored = _trees(scores, lengths, root)
        self._version = _version(scores)
        n = scores.shape[-1] - 1
        batch = scores.shape[:-2]
        self.lengths = torch.as_tensor(self._factored.lengths).long().reshape(batch)
        super().__init__(batch, torch.Size([n]), validate_args=validate_args)

    @property
    def _trees(self) -> Any:
        if _version(self.scores) != self._version:
            raise RuntimeError("the scores were changed in place: make another DependencyTrees of them")
        return self._factored

    @property
    def support(self) -> constraints.Constraint:
        return _Trees(self.lengths, self.event_shape[0], self.root)

    def expand(self, batch_shape: Any, _instance: Any = None) -> DependencyTrees:
        shape = torch.Size(batch_shape)
        scores = self.scores.expand(shape + self.scores.shape[-2:])
        return type(self)(scores, self.lengths.expand(shape), self.root, validate_args=self._validate_args)

    def log_partition(self) -> Tensor:
        """log Z, shape batch_shape."""
        return _LogPartition.apply(self.scores, self._trees)

    def marginals(self) -> Tensor:
        """p(h -> m), shape batch_shape + (N+1, N+1)."""
        return _Marginals.apply(self.scores, self._trees).to(self.scores.dtype)

    def entropy(self) -> Tensor:
        """-sum p log p in nats, shape batch_shape."""
        return _Entropy.apply(self.scores, self._trees)

    def log_prob(self, value: Tensor) -> Tensor:
        """log p of trees, whose batch axes are broadcast against these."""
        if self._validate_args:
            self._validate_sample(value)
        shape = torch.broadcast_shapes(value.shape, self.batch_shape + self.event_shape)
        batch = shape[len(shape) - 1 - len(self.batch_shape) : -1]
        of_all = self if batch == self.batch_shape else self.expand(batch)
        return _LogProb.apply(of_all.scores, value.expand(shape), of_all._trees)

    @property
    def mode(self) -> Tensor:
        """The best tree."""
        return self._heads(self._trees.argmax(), ())

    def mbr(self) -> Tensor:
        """The tree with the largest expected number of right heads."""
        return self._heads(self._trees.mbr(), ())

    def sample(self, sample_shape: Any = (), seed: int | None = None, algorithm: Algorithm = "auto") -> Tensor:
        """Trees drawn independently, shape sample_shape + batch_shape + (N,)."""
        leading = torch.Size(sample_shape)
        return self._heads(self._trees.sample(leading.numel(), _seed(seed), algorithm), leading)

    def sample_without_replacement(
        self, k: int, seed: int | None = None, algorithm: WithoutReplacementAlgorithm = "auto"
    ) -> WithoutReplacementSample:
        """k different trees of every sentence, as ``taproot.DependencyTrees`` gives them for a flat batch."""
        return self._trees.sample_without_replacement(k, _seed(seed), algorithm)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.scores, self.lengths, self.root, self._validate_args)

    def __repr__(self) -> str:
        return f"DependencyTrees(scores: {tuple(self.scores.shape)}, root={self.root!r})"

    def _heads(self, heads: Any, leading: Any) -> Tensor:
        return torch.as_tensor(heads).long().reshape((*leading, *self.batch_shape, *self.event_shape))


def _version(tensor: Tensor) -> int:
    """How often it was changed in place; PyTorch does not count that of tensors made for inference."""
    return 0 if tensor.is_inference() else tensor._version


def _seed(seed: int | None) -> int:
    return int(torch.randint(2**63 - 1, ())) if seed is None else seed


@kl.register_kl(DependencyTrees, DependencyTrees)
def _kl(p: DependencyTrees, q: DependencyTrees) -> Tensor:
    if p.root != q.root or p.scores.shape != q.scores.shape or not torch.equal(p.lengths, q.lengths):
        raise ValueError("kl_divergence needs distributions over the same sentences, under one root rule")
    return _Divergence.apply(p.scores, q.scores, p._trees, q._trees, True)
