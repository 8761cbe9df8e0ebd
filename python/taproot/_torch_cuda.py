# SPDX-License-Identifier: Apache-2.0
"""Scores on a CUDA device: what ``taproot.DependencyTrees`` is for those in memory, with tensors in and out.

Nothing is copied to the host but one small status a sentence, which says whether there is an answer; all work is on
PyTorch's current stream. What is not done on the device says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _distribution, _taproot
from ._arrays import as_count, as_seed
from ._distribution import Root
from ._errors import raise_failures
from ._results import WithoutReplacementSample
from ._torch_tree import is_tree

_STATUS = ["ok", "no_tree", "bad_score", "empty", "step_limit", "numerical_loss"]
_OUT_OF_RANGE = 100  # There is an answer, but not in double: the CPU has it.

# A queue has a workspace for the calls in flight, so there is one for each stream.
_queues: dict[tuple[int, int, bool], _taproot.DeviceQueue] = {}


def _weights(log_prob: Tensor, kappa: Tensor) -> Tensor:
    """taproot.horvitz_thompson_weight where the trees are: p / q [B, k], and 0 where there is no tree."""
    kappa = kappa[:, None]
    x = torch.exp(log_prob - kappa)
    rest = -torch.expm1(-x)
    small = torch.exp(kappa) * torch.where(x > 0, x / rest, torch.ones_like(x))
    return torch.where(log_prob > -torch.inf, torch.where(x < 1, small, torch.exp(log_prob) / rest), 0.0)


class CudaTrees:
    """A flat batch (B, N+1, N+1) on a CUDA device."""

    def __init__(self, scores: Tensor, lengths: Any, root: Root) -> None:
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
            of_sentences = torch.as_tensor(lengths)
            if of_sentences.is_floating_point():
                raise ValueError(f"lengths must be integers, not {of_sentences.dtype}")
            wrong = (of_sentences < 0) | (of_sentences > self._n)
            if bool(wrong.any()):
                b = int(wrong.nonzero()[0, 0])
                raise ValueError(
                    f"lengths[{b}] is {int(of_sentences[b])}, and the scores are for up to {self._n} words"
                )
            self._lengths = of_sentences.to(scores.device, torch.int32).contiguous()

    def __len__(self) -> int:
        return self._batch

    @property
    def lengths(self) -> Tensor:
        if self._lengths is not None:
            return self._lengths
        return torch.full((self._batch,), self._n, dtype=torch.int32, device=self._scores.device)

    def _queue(self, in_double: bool) -> _taproot.DeviceQueue:
        device = self._scores.device.index or 0
        key = (device, torch.cuda.current_stream(device).cuda_stream, in_double)
        if key not in _queues:
            _queues[key] = _taproot.DeviceQueue(key[1], key[2])
        return _queues[key]

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype, fill: float | None = None) -> Tensor:
        if fill is None:
            return torch.empty(shape, dtype=dtype, device=self._scores.device)
        return torch.full(shape, fill, dtype=dtype, device=self._scores.device)

    def _ask(self, operation: str, *arguments: Any) -> list[int]:
        """Runs it, raises where a sentence has no answer; the sentences that only the CPU can answer come back."""
        outcomes = self._empty((self._batch, 3), torch.int32)
        # Beams of long sentences are faster in double, and derivatives are differences.
        in_double = self._scores.dtype == torch.float64 or operation not in ("log_partition", "marginals", "sample")
        with torch.cuda.device(self._scores.device):
            run = getattr(self._queue(in_double), operation)
            run(self._scores, self._lengths, self._root == "multi", *arguments[:-1], outcomes, *arguments[-1])
        if self._batch == 0:
            return []
        statuses = outcomes[:, 0].cpu().tolist()
        lost = [b for b, status in enumerate(statuses) if status not in (0, _OUT_OF_RANGE)]
        if lost:
            self._on_cpu(lost).log_partition()  # Says what is wrong in the words of the CPU.
            raise_failures([(b, _STATUS[statuses[b]], f"sentence {b}: {_STATUS[statuses[b]]}") for b in lost])
        return [b for b, status in enumerate(statuses) if status == _OUT_OF_RANGE]

    def _on_cpu(self, sentences: list[int]) -> _distribution.DependencyTrees:
        """Those sentences on the CPU; the others are there by name only, so that numbers stay what they are."""
        scores = torch.zeros((max(sentences) + 1, self._n + 1, self._n + 1), dtype=self._scores.dtype)
        lengths = torch.ones(len(scores), dtype=torch.int32)
        for b in sentences:
            scores[b] = self._scores[b].cpu()
            lengths[b] = int(self.lengths[b])
        return _distribution.DependencyTrees(scores.numpy(), lengths.numpy(), self._root)

    def log_partition(self) -> Tensor:
        out = self._empty((self._batch,), torch.float64)
        rest = self._ask("log_partition", (out,))
        if rest:
            out[rest] = torch.from_numpy(self._on_cpu(rest).log_partition()).to(out.device)[rest]
        return out

    def marginals(self) -> Tensor:
        # What lies beyond a sentence's length is left alone.
        fill = None if self._lengths is None else 0.0
        out = self._empty((self._batch, self._n + 1, self._n + 1), self._scores.dtype, fill)
        rest = self._ask("marginals", (out, self._empty((self._batch,), torch.float64)))
        if rest:
            out[rest] = torch.from_numpy(self._on_cpu(rest).marginals()).to(out)[rest]
        return out

    def hessian_product(self, direction: Tensor) -> Tensor:
        """In float64; direction [B, N+1, N+1]."""
        fill = None if self._lengths is None else 0.0
        out = self._empty((self._batch, self._n + 1, self._n + 1), torch.float64, fill)
        rest = self._ask("hessian_product", direction.detach().resolve_neg(), (out,))
        if rest:
            vectors = np.zeros((max(rest) + 1, self._n + 1, self._n + 1))
            vectors[rest] = direction[rest].double().cpu().numpy()
            found = self._on_cpu(rest)._hessian_product(vectors)
            out[rest] = torch.from_numpy(found).to(out.device)[rest]
        return out

    def entropy(self) -> Tensor:
        # Columns are centered first: what they have in common would only round.
        scores = self._scores.double()
        top = scores[:, :, 1:].amax(1, keepdim=True)
        centered = scores.clone()
        centered[:, :, 1:] -= torch.where(torch.isfinite(top), top, torch.zeros_like(top))
        trees = CudaTrees(centered, self._lengths, self._root)
        p = trees.marginals()
        return trees.log_partition() - torch.where(p > 0, p * centered, torch.zeros_like(p)).sum((-2, -1))

    def log_prob(self, heads: Tensor) -> Tensor:
        """Of trees [k, B, N]; -inf for what is none."""
        words = torch.arange(1, self._n + 1, device=heads.device)
        real = words <= self.lengths[:, None]
        valid = is_tree(heads, self.lengths, self._root)
        into = torch.where(real & valid[..., None], heads, torch.zeros_like(heads)).long()
        of_edges = (
            self._scores.double()
            .expand(len(heads), -1, -1, -1)
            .gather(2, torch.nn.functional.pad(into, (1, 0))[:, :, None])
        )
        total = torch.where(real, of_edges[:, :, 0, 1:], torch.zeros((), dtype=torch.float64, device=heads.device)).sum(
            -1
        )
        return torch.where(valid, total - self.log_partition(), torch.full_like(total, -torch.inf))

    def sample(self, k: int, seed: int, algorithm: str) -> Tensor:
        if algorithm != "auto":
            raise ValueError(f'on a device there is the algorithm "auto" alone, not {algorithm!r}')
        heads = self._empty((as_count(k), self._batch, self._n), torch.int32, -1)
        rest = self._ask("sample", as_seed(seed), 0, (heads,))
        if rest:
            heads[:, rest] = torch.from_numpy(self._on_cpu(rest).sample(k, seed)).to(heads)[:, rest]
        return heads

    def sample_without_replacement(self, k: int, seed: int, algorithm: str) -> WithoutReplacementSample:
        if algorithm not in ("auto", "beam"):
            raise ValueError(f'on a device there is the algorithm "beam" alone, not {algorithm!r}')
        count = as_count(k)
        heads = self._empty((count, self._batch, self._n), torch.int32, -1)
        log_prob, gumbel = (self._empty((self._batch, count), torch.float64, -torch.inf) for _ in range(2))
        kappa = self._empty((self._batch,), torch.float64)
        counts = self._empty((self._batch,), torch.int32, 0)
        rest = self._ask("sample_without_replacement", as_seed(seed), 0, (heads, log_prob, gumbel, kappa, counts))
        if rest:
            raise ValueError(f"sentence {rest[0]} is beyond what the device's beam can do; use the CPU for it")
        return WithoutReplacementSample(
            heads=heads,
            log_prob=log_prob.T,
            gumbel=gumbel.T,
            weights=_weights(log_prob, kappa).T,
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
