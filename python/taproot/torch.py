# SPDX-License-Identifier: Apache-2.0
"""Taproot for PyTorch: differentiable functions of scores, and a ``torch.distributions.Distribution``.

Scores are tensors of shape (..., N+1, N+1), float32 or float64, read without a copy; ``lengths`` has shape (...).
All arithmetic on the CPU is in float64 and exact; results have the scores' dtype. Gradients are exact too: that of
``log_partition`` is ``marginals``, whose own is the covariance of edges. So ``log_partition`` and ``log_prob`` can be
differentiated twice, ``marginals``, ``expectation``, ``entropy`` and the divergences once; asking for more is an error.

CUDA tensors stay on their device, where taproot was built for it (``taproot.cuda_available()``): ``log_partition`` and
``log_prob`` with their gradients, ``marginals`` and ``entropy`` without, ``sample``, and ``sample_without_replacement``
by ``beam``, on PyTorch's current stream, in the scores' precision. The rest says that it is not done there.

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
from ._distribution import Algorithm, DistinctAlgorithm, Root
from ._results import WithoutReplacement
from ._torch_cuda import CudaTrees
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
]


def _numpy(tensor: Tensor, name: str) -> np.ndarray[Any, Any]:
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}, and must be on the CPU or a CUDA device, where the scores are")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} must be a dense tensor")
    if tensor.dtype == torch.bfloat16:  # NumPy has none; float32 holds every one of them.
        tensor = tensor.float()
    return tensor.detach().resolve_neg().numpy()


def _trees(scores: Tensor, lengths: Any, root: Root) -> _distribution.DependencyTrees | CudaTrees:
    """The scores as one flat batch."""
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
    tensor = values if isinstance(values, Tensor) else torch.from_numpy(np.asarray(values))
    return tensor.reshape(shape).to(like.dtype)


def _lengths(trees: _distribution.DependencyTrees | CudaTrees) -> Tensor:
    return torch.as_tensor(trees.lengths)


def _spread(grad: Tensor) -> Tensor:
    """One number a sentence against a matrix a sentence."""
    return grad[..., None, None]


# Each function below is differentiated by hand: its context keeps the factorisation of the forward pass (``trees``), so
# that going back costs no second one. The scores are saved only as what the result depends on.


class _Marginals(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return _tensor(trees.marginals(), scores, scores.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        return _HessianProduct.apply(scores, grad, ctx.trees), None


class _HessianProduct(torch.autograd.Function):
    """The Hessian of log Z times a vector: linear in it, and symmetric."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, vector: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        if isinstance(trees, CudaTrees):
            return trees.hessian_product(vector)
        direction = _numpy(vector, "the gradient").astype(np.float64).reshape((len(trees), *vector.shape[-2:]))
        return _tensor(trees.hessian_product(direction), scores, scores.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor, None]:
        if ctx.needs_input_grad[0]:
            raise NotImplementedError(
                "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
                "this asks for one more"
            )
        (scores,) = ctx.saved_tensors
        return None, _HessianProduct.apply(scores, grad, ctx.trees), None


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return _tensor(trees.log_partition(), scores, scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        return _spread(grad) * _Marginals.apply(scores, ctx.trees), None


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
        return -_spread(grad) * _HessianProduct.apply(scores, scores.detach(), ctx.trees), None


class _CrossEntropy(torch.autograd.Function):
    """Its gradient is -H_p S_q for p's scores, and q's marginals less p's for q's."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, other: Tensor, p: Any, q: Any) -> Tensor:
        ctx.save_for_backward(scores, other)
        ctx.trees = (p, q)
        return _tensor(p.cross_entropy(q), scores, scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        scores, other = ctx.saved_tensors
        p, q = ctx.trees
        of_scores = of_other = None
        if ctx.needs_input_grad[0]:
            of_scores = -_spread(grad) * _HessianProduct.apply(scores, other, p)
        if ctx.needs_input_grad[1]:
            of_other = _spread(grad) * (_Marginals.apply(other, q) - _Marginals.apply(scores, p))
        return of_scores, of_other, None, None


class _LogProb(torch.autograd.Function):
    """Its gradient is the tree's edges less the marginals; none for what is no tree."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, heads: Tensor, trees: Any) -> Tensor:
        flat = heads.reshape(-1, len(trees), heads.shape[-1])
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
        grad = torch.where(out > -torch.inf, grad, torch.zeros_like(grad))
        batch, side = len(ctx.trees), scores.shape[-1]
        draws = heads.reshape(-1, batch, side - 1)
        of_draws = grad.reshape(-1, batch)
        word = torch.arange(1, side, device=heads.device)
        at = (torch.arange(batch, device=heads.device)[:, None] * side + draws) * side + word
        real = (word <= _lengths(ctx.trees)[:, None]).expand_as(draws)
        edges = scores.new_zeros(batch * side * side)
        edges = edges.index_add(0, at[real], of_draws[..., None].expand(draws.shape)[real])
        total = of_draws.sum(0).reshape(scores.shape[:-2])
        return edges.reshape(scores.shape) - _spread(total) * _Marginals.apply(scores, ctx.trees), None, None


def log_partition(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """log Z, shape (...). Twice differentiable; its gradient is ``marginals``."""
    return _LogPartition.apply(scores, _trees(scores, lengths, root))


def marginals(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """p(h -> m), shape (..., N+1, N+1), differentiable."""
    return _Marginals.apply(scores, _trees(scores, lengths, root))


def entropy(scores: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """-sum p log p in nats, shape (...), differentiable."""
    return _Entropy.apply(scores, _trees(scores, lengths, root))


def expectation(scores: Tensor, edge_values: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """E[sum of edge_values over a tree's edges], shape (...), differentiable in both.

    Values of edges that have no probability do not count.
    """
    p = marginals(scores, lengths, root)
    return torch.where(p > 0, p * edge_values, torch.zeros_like(p)).sum((-2, -1))


def log_prob(scores: Tensor, heads: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """log p of trees, heads of shape (..., N) or with more axes in front. Twice differentiable in the scores."""
    heads = torch.as_tensor(heads)
    expected = (*scores.shape[:-2], scores.shape[-1] - 1)
    if heads.ndim < len(expected) or tuple(heads.shape[heads.ndim - len(expected) :]) != expected:
        raise ValueError(f"heads must have shape {expected}, or more axes in front, not {tuple(heads.shape)}")
    return _LogProb.apply(scores, heads, _trees(scores, lengths, root))


def cross_entropy(scores: Tensor, other: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """-sum p log q, shape (...), q of the scores ``other``; differentiable in both."""
    if scores.shape != other.shape:
        raise ValueError(f"the two have shapes {tuple(scores.shape)} and {tuple(other.shape)}")
    return _CrossEntropy.apply(scores, other, _trees(scores, lengths, root), _trees(other, lengths, root))


def kl_divergence(scores: Tensor, other: Tensor, lengths: Any = None, root: Root = "single") -> Tensor:
    """sum p log(p/q), shape (...), q of the scores ``other``; differentiable in both."""
    return cross_entropy(scores, other, lengths, root) - entropy(scores, lengths, root)


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
    given.

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
        self._trees = _trees(scores, lengths, root)
        n = scores.shape[-1] - 1
        batch = scores.shape[:-2]
        self.lengths = _lengths(self._trees).long().reshape(batch)
        super().__init__(batch, torch.Size([n]), validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return _Trees(self.lengths, self.event_shape[0], self.root)

    def expand(self, batch_shape: Any, _instance: Any = None) -> DependencyTrees:
        shape = torch.Size(batch_shape)
        scores = self.scores.expand(shape + self.scores.shape[-2:])
        return type(self)(scores, self.lengths.expand(shape), self.root, validate_args=self._validate_args)

    def log_partition(self) -> Tensor:
        return _LogPartition.apply(self.scores, self._trees)

    @property
    def marginals(self) -> Tensor:
        """p(h -> m), shape batch_shape + (N+1, N+1)."""
        return _Marginals.apply(self.scores, self._trees)

    def entropy(self) -> Tensor:
        return _Entropy.apply(self.scores, self._trees)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        shape = self.batch_shape + self.event_shape
        value = value.expand(torch.broadcast_shapes(value.shape, shape))
        return _LogProb.apply(self.scores, value, self._trees)

    @property
    def mode(self) -> Tensor:
        return self._heads(self._trees.argmax(), ())

    def mbr(self) -> Tensor:
        """The tree with the largest expected number of right heads."""
        return self._heads(self._trees.mbr(), ())

    def sample(self, sample_shape: Any = (), seed: int | None = None, algorithm: Algorithm = "auto") -> Tensor:
        leading = torch.Size(sample_shape)
        return self._heads(self._trees.sample(leading.numel(), _seed(seed), algorithm), leading)

    def sample_without_replacement(
        self, k: int, seed: int | None = None, algorithm: DistinctAlgorithm = "auto"
    ) -> WithoutReplacement:
        """k different trees of every sentence, as ``taproot.DependencyTrees`` gives them for a flat batch."""
        return self._trees.sample_without_replacement(k, _seed(seed), algorithm)

    def _heads(self, heads: Any, leading: Any) -> Tensor:
        return torch.as_tensor(heads).long().reshape((*leading, *self.batch_shape, *self.event_shape))


def _seed(seed: int | None) -> int:
    return int(torch.randint(2**63 - 1, ())) if seed is None else seed


@kl.register_kl(DependencyTrees, DependencyTrees)
def _kl(p: DependencyTrees, q: DependencyTrees) -> Tensor:
    if p.root != q.root or p.scores.shape != q.scores.shape or not torch.equal(p.lengths, q.lengths):
        raise ValueError("kl_divergence needs distributions over the same sentences, under one root rule")
    return _CrossEntropy.apply(p.scores, q.scores, p._trees, q._trees) - p.entropy()
