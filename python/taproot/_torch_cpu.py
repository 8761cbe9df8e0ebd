# SPDX-License-Identifier: Apache-2.0
"""Scores in memory: what ``_torch_cuda.CudaTrees`` is for those on a device, with tensors in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _distribution, _taproot
from ._distribution import Root


def as_numpy(tensor: Tensor, name: str) -> np.ndarray[Any, Any]:
    """The tensor's memory, without its gradient."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}, and must be on the CPU or a CUDA device, where the scores are")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} must be a dense tensor")
    if tensor.dtype == torch.bfloat16:  # NumPy has none; float32 holds every one of them.
        tensor = tensor.float()
    array: np.ndarray[Any, Any] = tensor.detach().resolve_neg().numpy()
    return array


def flat_matrices(scores: Tensor, name: str, axes: int = 2) -> np.ndarray[Any, Any]:
    """Matrices (..., N+1, N+1), or with labels behind, as one batch."""
    array = as_numpy(scores, name)
    return array if array.ndim == axes + 1 else array.reshape((-1, *array.shape[array.ndim - axes :]))


# log Z, marginals and log p; None is what was not asked for.
Answers = tuple[Tensor, Tensor | None, Tensor | None]


def infer_at_once(scores: Tensor, kind: int, marginals: bool) -> tuple[Tensor, Tensor | None] | None:
    """log Z (B) and marginals of dense float32 or float64 scores (B, N+1, N+1), or None if a sentence has no answer.

    The same numbers as those of a ``CpuTrees``, which would keep what is found, for less than half of its cost.
    """
    size, side, _ = scores.shape
    log_z = scores.new_empty(size, dtype=torch.float64)
    p = scores.new_empty((size, side, side), dtype=torch.float64) if marginals else None
    is_double = scores.dtype is torch.float64
    address = 0 if p is None else p.data_ptr()
    by_sentence, by_head, by_modifier = scores.stride()
    where = (scores.data_ptr(), is_double, size, side - 1, by_sentence, by_head, by_modifier)
    if not _taproot.cpu_infer(*where, kind, log_z.data_ptr(), address):
        return None
    if is_double:
        return log_z, p
    return log_z.to(scores.dtype), None if p is None else p.to(scores.dtype)


class CpuTrees:
    """The distributions of scores (..., N+1, N+1), float32 or float64, with checked numbers of words (...)."""

    def __init__(self, scores: Tensor, words: Tensor | None, root: Root, projective: bool, check: bool) -> None:
        self._batch = scores.shape[:-2]
        self._side = scores.shape[-1]
        self._dtype = scores.dtype
        self._scores = scores.detach()
        self.decoder = _distribution.DependencyTrees(
            flat_matrices(scores, "scores"),
            None if words is None else words.reshape(-1).numpy(),
            root,
            projective=projective,
            on_error="raise" if check else "status",
            copy=False,
        )
        self._check = check

    def _tensor(self, values: Any, shape: tuple[int, ...]) -> Tensor:
        found = torch.from_numpy(values if values.shape == shape else values.reshape(shape))
        return found if self._dtype is torch.float64 else found.to(self._dtype)

    def infer(self, heads: Tensor | None, marginals: bool) -> Answers:
        """log Z (...), marginals (..., N+1, N+1) and log p (k, ...) of heads (k, ..., N)."""
        trees = self.decoder
        p: np.ndarray[Any, Any] | None = None
        if marginals:
            log_z, p = trees._log_partition_and_marginals()
        else:
            log_z = trees.log_partition()
        if not self._check and np.isnan(log_z).any():
            for b in [b for b, status in enumerate(trees.status) if status == "no_tree"]:
                log_z[b] = -np.inf
                if p is not None:
                    p[b] = 0
        found = self._tensor(log_z, self._batch)
        of_edges = None if p is None else self._tensor(p, (*self._batch, self._side, self._side))
        return found, of_edges, None if heads is None else self._log_prob(heads)

    def entropy(self, slope: bool) -> tuple[Tensor, Tensor | None]:
        """Entropies (...), and their gradients (..., N+1, N+1)."""
        found = self._tensor(self.decoder.entropy(), self._batch)
        return found, self.hessian_product(-self._scores) if slope else None

    def log_prob(self, heads: Tensor, slope: bool) -> tuple[Tensor, Tensor | None]:
        """log p (...) of heads (..., N), and its gradient (..., N+1, N+1)."""
        log_prob = self._log_prob(heads[None])[0]
        if not slope:
            return log_prob, None
        trees, side = self.decoder, self._side
        of_edges = trees.marginals()
        np.negative(of_edges, out=of_edges)
        word = np.arange(1, side)
        real = (word <= np.broadcast_to(trees.lengths, (len(trees),))[:, None]) & (
            log_prob.numpy().reshape(-1, 1) > -np.inf
        )
        of_edges[~real.any(1)] = 0
        b, at = real.nonzero()
        of_edges[b, heads.detach().numpy().reshape((len(trees), side - 1))[b, at], at + 1] += 1
        of_edges[np.isnan(log_prob.numpy().reshape(-1))] = np.nan
        return log_prob, self._tensor(of_edges, (*self._batch, side, side))

    def _log_prob(self, heads: Tensor) -> Tensor:
        k, n = len(heads), self._side - 1
        flat = as_numpy(heads, "heads").reshape((k, len(self.decoder), n))
        if not self._check:  # Heads that do not exist do not form a tree; neither does a word that is its own head.
            lengths = np.broadcast_to(self.decoder.lengths, (len(self.decoder),))[:, None]
            word = np.arange(1, n + 1)
            wrong = ((flat < 0) | (flat > lengths)) & (word <= lengths)
            missing = flat[..., :1] == -1
            flat = np.where(wrong & ~missing, word, flat)
        return self._tensor(self.decoder.log_prob(flat), heads.shape[:-1])

    def root_marginals(self) -> Tensor:
        """p(0 -> m), shape (..., N)."""
        return self._tensor(self.decoder.root_marginals(), (*self._batch, self._side - 1))

    def hessian_product(self, direction: Tensor) -> Tensor:
        """The Hessian of log Z times a matrix per sentence."""
        flat = flat_matrices(direction, "the direction").astype(np.float64, copy=False)
        found = self.decoder._hessian_product(np.ascontiguousarray(flat))
        if not self._check and np.isnan(found).any():
            found[[status == "no_tree" for status in self.decoder.status]] = 0
        return self._tensor(found, direction.shape)

    def divergence(self, other: CpuTrees, relative: bool) -> Tensor:
        p, q = self.decoder, other.decoder
        return self._tensor(p.kl_divergence(q) if relative else p.cross_entropy(q), self._batch)
