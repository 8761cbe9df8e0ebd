# SPDX-License-Identifier: Apache-2.0
"""Scores on a CUDA device: what ``taproot.DependencyTrees`` is for those in memory, with tensors in and out.

All work is done by ``CudaDependencyTrees`` on PyTorch's current stream. It keeps the factors of the batch on the
device, so that later questions do not eliminate again. The outcomes of the sentences are copied to the host once;
sentences that only the CPU can answer are answered there. What a device does not do raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _distribution, _taproot
from ._arrays import as_count, as_seed
from ._distribution import Root
from ._errors import raise_failures
from ._results import WithoutReplacementSample

# One per device and precision. Each keeps the memory that it has used, in the order of streams.
_devices: dict[tuple[int, str], _taproot.Cuda] = {}


def release_memory() -> None:
    """Gives the device memory that taproot keeps for later calls back to the device, where no distribution uses it."""
    for cuda in _devices.values():
        cuda.release()


release_memory.__module__ = "taproot.torch"


def _cuda(device: int, precision: str) -> _taproot.Cuda:
    key = (device, precision)
    if key not in _devices:
        with torch.cuda.device(device):
            _devices[key] = _taproot.Cuda(precision)
    return _devices[key]


class CudaTrees:
    """A flat batch (B, N+1, N+1) on a CUDA device, with checked numbers of words (B,)."""

    def __init__(self, scores: Tensor, lengths: Tensor | None, root: Root) -> None:
        if not _taproot.cuda_available():
            why = _taproot.cuda_description()
            raise RuntimeError(f"scores are on {scores.device}, and taproot cannot work there: {why}")
        if root != "single" and root != "multi":
            raise ValueError(f'root must be "single" or "multi", not {root!r}')
        if scores.dtype not in (torch.float32, torch.float64):
            scores = scores.float()
        self._scores = scores.detach().resolve_neg()
        self._root: Root = root
        self._batch, self._n = len(scores), scores.shape[-1] - 1
        self._lengths: Tensor | None = None
        if lengths is not None:
            self._lengths = lengths.to(scores.device, torch.int32).contiguous()
        self._trees = self._factored("float64" if scores.dtype == torch.float64 else "float32", keep=True)

    def __len__(self) -> int:
        return self._batch

    @property
    def lengths(self) -> Tensor:
        if self._lengths is not None:
            return self._lengths
        return self._full((self._batch,), torch.int32, self._n)

    def _factored(self, precision: str, keep: bool) -> _taproot.CudaDependencyTrees:
        cuda = _cuda(self._scores.device.index or 0, precision)
        return _taproot.CudaDependencyTrees(cuda, self._scores, self._lengths, self._root, None, keep)

    @property
    def _stream(self) -> int:
        return int(torch.cuda.current_stream(self._scores.device).cuda_stream)

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=self._scores.device)

    def _full(self, shape: tuple[int, ...], dtype: torch.dtype, value: float) -> Tensor:
        return torch.full(shape, value, dtype=dtype, device=self._scores.device)

    def _edges(self, dtype: torch.dtype) -> Tensor:
        shape = (self._batch, self._n + 1, self._n + 1)
        # What lies beyond a sentence's length is not written.
        return self._empty(shape, dtype) if self._lengths is None else self._full(shape, dtype, 0)

    def _out_of_range(self, outcomes: Tensor) -> list[int]:
        """The sentences that only the CPU can answer. Raises where one has no answer."""
        failures, rest = [], []
        for b, (status, head, modifier) in enumerate(outcomes.cpu().tolist()):
            name = _taproot.cuda_status(status)
            if name == "out_of_range":
                rest.append(b)
            elif name != "ok":
                failures.append((b, name, _taproot.describe_outcome(status, head, modifier, b)))
        if failures:
            raise_failures(failures)
        return rest

    @cached_property
    def _rest(self) -> list[int]:
        outcomes = self._empty((self._batch, 3), torch.int32)
        self._trees.outcomes(outcomes, self._stream)
        return self._out_of_range(outcomes)

    def _on_cpu(self, sentences: list[int]) -> _distribution.DependencyTrees:
        return _distribution.DependencyTrees(
            self._scores[sentences].cpu().numpy(),
            self.lengths[sentences].cpu().numpy(),
            self._root,
            ids=np.array(sentences, np.int64),
            copy=False,
        )

    def _finished(
        self, out: Tensor, axis: int, ask: Callable[[_distribution.DependencyTrees, list[int]], Any]
    ) -> Tensor:
        """The answers, with those of sentences that only the CPU has, along an axis of sentences."""
        rest = self._rest
        if rest:
            found = torch.from_numpy(np.ascontiguousarray(ask(self._on_cpu(rest), rest))).to(out)
            out.index_copy_(axis, torch.tensor(rest, device=out.device), found)
        return out

    def log_partition(self) -> Tensor:
        """In float64."""
        out = self._empty((self._batch,), torch.float64)
        self._trees.log_partition(out, self._stream)
        return self._finished(out, 0, lambda cpu, _: cpu.log_partition())

    def marginals(self) -> Tensor:
        """In the dtype of the scores. Asked first, it finds log Z and the entropy too, in the same launch."""
        out = self._edges(self._scores.dtype)
        self._trees.marginals(out, self._stream)
        return self._finished(out, 0, lambda cpu, _: cpu.marginals())

    def root_marginals(self) -> Tensor:
        """In float64, [B, N]."""
        shape = (self._batch, self._n)
        out = self._empty(shape, torch.float64) if self._lengths is None else self._full(shape, torch.float64, 0)
        self._trees.root_marginals(out, self._stream)
        return self._finished(out, 0, lambda cpu, _: cpu.root_marginals())

    def entropy(self) -> Tensor:
        """In float64."""
        out = self._empty((self._batch,), torch.float64)
        self._trees.entropy(out, self._stream)
        return self._finished(out, 0, lambda cpu, _: cpu.entropy())

    def hessian_product(self, direction: Tensor) -> Tensor:
        """In float64; direction [B, N+1, N+1]."""
        direction = direction.detach().resolve_neg()
        out = self._edges(torch.float64)
        self._trees.hessian_product(direction, out, self._stream)
        return self._finished(
            out, 0, lambda cpu, rest: cpu._hessian_product(direction[rest].double().cpu().contiguous().numpy())
        )

    def log_prob(self, heads: Tensor) -> Tensor:
        """Of trees [k, B, N], in float64; -inf for heads that are not a tree, NaN for rows of -1."""
        # Clamped, so that a head that does not exist is none in 32 bits either.
        heads = heads.clamp(-2, self._n + 1).to(torch.int32).contiguous()
        out = self._empty((len(heads), self._batch), torch.float64)
        self._trees.log_prob(heads, out, self._stream)
        return self._finished(out, 1, lambda cpu, rest: cpu.log_prob(heads[:, rest].cpu().numpy()))

    def sample(self, k: int, seed: int, algorithm: str) -> Tensor:
        if algorithm != "auto":
            raise ValueError(f'on a device there is the algorithm "auto" alone, not {algorithm!r}')
        heads = self._empty((as_count(k), self._batch, self._n), torch.int32)
        outcomes = self._empty((self._batch, 3), torch.int32)
        self._trees.sample(as_seed(seed), 0, outcomes, heads, self._stream)
        rest = self._out_of_range(outcomes)
        if rest:
            heads[:, rest] = torch.from_numpy(self._on_cpu(rest).sample(k, seed)).to(heads)
        return heads

    def sample_without_replacement(self, k: int, seed: int, algorithm: str) -> WithoutReplacementSample:
        if algorithm not in ("auto", "beam"):
            raise ValueError(f'on a device there is the algorithm "beam" alone, not {algorithm!r}')
        count = as_count(k)
        outcomes = self._empty((self._batch, 3), torch.int32)
        heads = self._full((count, self._batch, self._n), torch.int32, -1)
        log_prob, gumbel = (self._full((self._batch, count), torch.float64, -torch.inf) for _ in range(2))
        weights = self._full((self._batch, count), torch.float64, 0)
        kappa = self._empty((self._batch,), torch.float64)
        counts = self._full((self._batch,), torch.int32, 0)
        # Beams of long sentences are faster in float64, whatever the scores are.
        self._factored("float64", keep=False).sample_without_replacement(
            as_seed(seed), outcomes, heads, log_prob, gumbel, weights, kappa, counts, self._stream
        )
        for b in self._out_of_range(outcomes):
            found = self._on_cpu([b]).sample_without_replacement(count, seed, "beam")
            trees = int(found.counts[0])
            heads[:trees, b] = torch.from_numpy(found.heads[:trees, 0]).to(heads)
            for to, values in ((log_prob, found.log_prob), (gumbel, found.gumbel), (weights, found.weights)):
                to[b, :trees] = torch.from_numpy(values[:trees, 0]).to(to)
            kappa[b], counts[b] = float(found.kappa[0]), trees
        return WithoutReplacementSample(
            heads=heads,
            log_prob=log_prob.T,
            gumbel=gumbel.T,
            weights=weights.T,
            kappa=kappa,
            exhausted=kappa == -torch.inf,
            counts=counts,
        )

    def not_here(self, what: str) -> Any:
        raise NotImplementedError(f"{what} is not done on a device: give scores.cpu()")

    def cross_entropy(self, other: Any) -> Any:
        return self.not_here("a divergence")

    kl_divergence = cross_entropy

    def argmax(self) -> Any:
        return self.not_here("decoding")

    mbr = argmax

    def kbest(self, k: int) -> Any:
        return self.not_here("decoding")

    def expected_tries(self) -> Any:
        return self.not_here("the cost of Wilson's walk")

    expected_steps = expected_tries
