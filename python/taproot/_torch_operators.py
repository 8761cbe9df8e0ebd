# SPDX-License-Identifier: Apache-2.0
"""The operators of ``taproot.torch``: differentiable functions of scores (..., N+1, N+1), with ROOT first.

The surface (``torch.py``) knows these functions and nothing of what is behind them. Each takes the scores, for their
gradient, and the distributions that ``factor`` made of them, which keep the factorization of the forward pass, so that
going back costs no second one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _distribution
from ._distribution import Root
from ._torch_cuda import CudaTrees


def as_numpy(tensor: Tensor, name: str) -> np.ndarray[Any, Any]:
    """The tensor's memory, without its gradient."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}, and must be on the CPU or a CUDA device, where the scores are")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} must be a dense tensor")
    if tensor.dtype == torch.bfloat16:  # NumPy has none; float32 holds every one of them.
        tensor = tensor.float()
    return tensor.detach().resolve_neg().numpy()


def flat_matrices(scores: Tensor, name: str, axes: int = 2) -> np.ndarray[Any, Any]:
    """Matrices (..., N+1, N+1), or with labels behind, as one batch."""
    array = as_numpy(scores, name)
    return array if array.ndim == axes + 1 else array.reshape((-1, *array.shape[array.ndim - axes :]))


def factor(scores: Tensor, words: Tensor | None, root: Root) -> Any:
    """The distributions of the scores as one flat batch: a taproot.DependencyTrees, or a CudaTrees.

    `words` are checked numbers of words, shape (B,).
    """
    if scores.device.type == "cuda":
        return CudaTrees(scores.detach().reshape(-1, *scores.shape[-2:]), words, root)
    array = flat_matrices(scores, "scores")
    return _distribution.DependencyTrees(array, None if words is None else words.numpy(), root, copy=False)


def _tensor(values: Any, like: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.as_tensor(values).reshape(shape).to(like.dtype)


def _spread(grad: Tensor) -> Tensor:
    """One number per sentence against a matrix per sentence."""
    return grad[..., None, None]


# The scores are saved only as what the result depends on. Marginals and what is summed over trees stay in float64 until
# the end.


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
    """Linear in the vector, and symmetric."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, vector: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        if isinstance(trees, CudaTrees):
            return trees.hessian_product(vector.reshape((len(trees), *vector.shape[-2:]))).reshape(vector.shape)
        direction = as_numpy(vector, "the gradient").astype(np.float64).reshape((len(trees), *vector.shape[-2:]))
        found = trees._hessian_product(np.ascontiguousarray(direction))
        return torch.from_numpy(found).reshape(vector.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        (scores,) = ctx.saved_tensors  # Through _Last, which speaks up if their gradient is asked for.
        return torch.zeros_like(scores), _HessianProduct.apply(scores, grad, ctx.trees), None


class _Marginals(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return torch.as_tensor(trees.marginals()).double().reshape(scores.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        return hessian_product(scores, grad, ctx.trees).to(scores.dtype), None


class _RootMarginals(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: Any) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        found = torch.as_tensor(trees.root_marginals()).double()
        return found.reshape((*scores.shape[:-2], scores.shape[-1] - 1))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        of_edges = torch.nn.functional.pad(grad[..., None, :], (1, 0, 0, scores.shape[-1] - 1))
        return hessian_product(scores, of_edges, ctx.trees).to(scores.dtype), None


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
        slope = hessian_product(scores, scores.detach().double(), ctx.trees)
        return (-_spread(grad) * slope).to(scores.dtype), None


class _Divergence(torch.autograd.Function):
    """Gradients: -H_p S_q, or H_p (S_p - S_q) if `relative`, for p's scores; q's marginals less p's for q's."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, other: Tensor, p: Any, q: Any, relative: bool) -> Tensor:
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
            of_scores = (-_spread(grad) * hessian_product(scores, vector, p)).to(scores.dtype)
        if ctx.needs_input_grad[1]:
            difference = _Marginals.apply(other, q) - _Marginals.apply(scores, p)
            of_other = (_spread(grad) * difference).to(other.dtype)
        return of_scores, of_other, None, None, None


class _LogProb(torch.autograd.Function):
    """Its gradient is the tree's edges less the marginals; 0 for heads that are not a tree, NaN where the value is."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, heads: Tensor, trees: Any) -> Tensor:
        flat: Any = _flat_trees(heads, trees)
        if not isinstance(trees, CudaTrees):
            flat = as_numpy(flat, "heads")
        elif heads.device != scores.device:
            raise ValueError(f"heads are on {heads.device}, and the scores on {scores.device}")
        out = _tensor(trees.log_prob(flat), scores, heads.shape[:-1])
        ctx.save_for_backward(scores, heads, out)
        ctx.trees = trees
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        scores, heads, out = ctx.saved_tensors
        batch, side = len(ctx.trees), scores.shape[-1]
        draws = _flat_trees(heads, ctx.trees)
        found = out.reshape(draws.shape[:-1])
        of_draws = grad.double().reshape(draws.shape[:-1])
        lost = (found.isnan() & (of_draws != 0)).any(0).reshape(scores.shape[:-2])
        is_tree = found.isfinite()
        of_draws = torch.where(is_tree, of_draws, 0.0)
        word = torch.arange(1, side, device=heads.device)
        real = is_tree[..., None] & (word <= torch.as_tensor(ctx.trees.lengths)[:, None])
        at = (torch.arange(batch, device=heads.device)[:, None] * side + torch.where(real, draws, 0)) * side + word
        of_words = torch.where(real, of_draws[..., None], 0.0)
        edges = of_draws.new_zeros(batch * side * side).index_add(0, at.reshape(-1), of_words.reshape(-1))
        total = of_draws.sum(0).reshape(scores.shape[:-2])
        slope = edges.reshape(scores.shape) - _spread(total) * _Marginals.apply(scores, ctx.trees)
        return torch.where(_spread(lost), torch.nan, slope).to(scores.dtype), None, None


def _flat_trees(heads: Tensor, trees: Any) -> Tensor:
    """Trees as [k, B, N]."""
    n = heads.shape[-1]
    of_batch = len(trees) * n
    return heads.reshape(heads.numel() // of_batch if of_batch else 1, len(trees), n)


def log_partition(scores: Tensor, trees: Any) -> Tensor:
    """In the scores' dtype, twice differentiable."""
    return _LogPartition.apply(scores, trees)


def marginals(scores: Tensor, trees: Any) -> Tensor:
    """In float64, differentiable."""
    return _Marginals.apply(scores, trees)


def root_marginals(scores: Tensor, trees: Any) -> Tensor:
    """p(0 -> m), shape (..., N), in float64, differentiable."""
    return _RootMarginals.apply(scores, trees)


def entropy(scores: Tensor, trees: Any) -> Tensor:
    """In the scores' dtype, differentiable."""
    return _Entropy.apply(scores, trees)


def log_prob(scores: Tensor, heads: Tensor, trees: Any) -> Tensor:
    """Of heads (..., N) with any axes in front, in the scores' dtype, twice differentiable."""
    return _LogProb.apply(scores, heads, trees)


def divergence(scores: Tensor, other: Tensor, p: Any, q: Any, relative: bool) -> Tensor:
    """The cross-entropy of q relative to p or, if `relative`, the divergence of q from p; differentiable in both."""
    return _Divergence.apply(scores, other, p, q, relative)


def hessian_product(scores: Tensor, vector: Tensor, trees: Any) -> Tensor:
    """The Hessian of log Z times a vector, in float64: NaN where the vector is not finite."""
    return _HessianProduct.apply(_Last.apply(scores), vector, trees)
