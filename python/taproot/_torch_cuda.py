# SPDX-License-Identifier: Apache-2.0
"""Scores on a CUDA device: what ``_torch_cpu.CpuTrees`` is for those in memory, with tensors in and out.

What a training step asks goes to ``cuda_infer``, ``cuda_hessian_product`` and ``cuda_argmax`` of the library, on
PyTorch's current stream and in PyTorch's memory: nothing is copied to the host or waited for, so that CUDA graphs can
capture it. A sentence without an answer has NaN, or -inf and 0 if it has no tree. The rest is asked of a
``CudaDependencyTrees``, which keeps its factors on the device; samples look at the outcomes of the sentences, since
those beyond the range of double are sampled by the CPU. What a device does not do raises an error.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _distribution, _taproot
from ._arrays import as_count, as_seed
from ._distribution import Root, WithoutReplacementAlgorithm
from ._errors import raise_failures
from ._results import WithoutReplacementSample
from ._torch_cpu import Answers

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


# How many bytes of memory a question needs, which depends on the device.


@lru_cache(maxsize=4096)
def _infer_bytes(device: int, *question: Any) -> int:
    return _taproot.cuda_infer_bytes(*question)


@lru_cache(maxsize=4096)
def _hessian_bytes(device: int, *question: Any) -> int:
    return _taproot.cuda_hessian_bytes(*question)


@lru_cache(maxsize=4096)
def _argmax_bytes(device: int, *question: Any) -> int:
    return _taproot.cuda_argmax_bytes(*question)


@lru_cache(maxsize=1)
def _require_cuda(device: int) -> None:
    if not _taproot.cuda_available():
        why = _taproot.cuda_description()
        raise RuntimeError(f"scores are on cuda:{device}, and taproot cannot work there: {why}")


def root_and_family(kind: int) -> tuple[Root, bool]:
    """The root rule, and whether trees are projective: the inverse of ``_torch_operators.kind_of``."""
    return ("multi" if kind & 1 else "single"), bool(kind & 2)


def infer_at_once(scores: Tensor, kind: int, marginals: bool) -> tuple[Tensor, Tensor | None] | None:
    """log Z (B) and marginals of dense scores (B, N+1, N+1) on the current device; None on another or for B = 0.

    The same numbers as those of a ``CudaTrees`` that does not check, for half of the time before the launch.
    """
    device = scores.get_device()
    _require_cuda(device)
    size, side, _ = scores.shape
    if size == 0 or torch._C._cuda_getDevice() != device:
        return None
    is_double = scores.dtype is torch.float64
    log_z = scores.new_empty(size)
    p = scores.new_empty((size, side, side)) if marginals else None
    count = _infer_bytes(device, is_double, size, side - 1, kind, False, marginals)
    workspace = scores.new_empty(count, dtype=torch.uint8)
    by_sentence, by_head, by_modifier = scores.stride()
    where = (scores.data_ptr(), is_double, size, side - 1, by_sentence, by_head, by_modifier, 0, kind)
    to = (log_z.data_ptr(), 0, 0 if p is None else p.data_ptr(), side * side, side, 1)
    stream = torch._C._cuda_getCurrentRawStream(device)
    _taproot.cuda_infer(*where, *to, 0, 0, 0, 0, False, workspace.data_ptr(), count, stream)
    return log_z, p


class CudaTrees:
    """The distributions of scores (..., N+1, N+1), float32 or float64, with numbers of words (...).

    `kind` is the root rule and the family of trees (``_torch_operators.kind_of``). If `check`, a sentence without an
    answer raises an exception, which waits for the device.
    """

    def __init__(self, scores: Tensor, words: Tensor | None, kind: int, check: bool) -> None:
        self._device = scores.get_device()
        _require_cuda(self._device)
        self._batch = scores.shape[:-2]
        self._n = scores.shape[-1] - 1
        scores = scores.detach()
        if scores.is_neg():
            scores = scores.resolve_neg()
        self._scores = scores if scores.ndim == 3 else scores.reshape(-1, self._n + 1, self._n + 1)
        self._words: Tensor | None = None
        if words is not None:
            flat = words if words.ndim == 1 else words.reshape(-1)
            self._words = flat.to(scores.device, torch.int32).contiguous()
        self._kind = kind
        self._check = check
        self._where = scores.device
        self._size: int = self._scores.shape[0]  # A tensor's len() costs ten times as much.
        self._is_double = scores.dtype == torch.float64

    def __len__(self) -> int:
        return self._size

    @property
    def decoder(self) -> CudaTrees:
        return self

    @property
    def _stream(self) -> int:
        return int(torch._C._cuda_getCurrentRawStream(self._device))

    def _empty(self, shape: Any, dtype: torch.dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=self._where)

    def _full(self, shape: Any, dtype: torch.dtype, value: float) -> Tensor:
        return torch.full(shape, value, dtype=dtype, device=self._where)

    def _question(self) -> tuple[Any, ...]:
        """The scores as the library's operators take them."""
        scores, words = self._scores, self._words
        return (
            scores.data_ptr(),
            self._is_double,
            self._size,
            self._n,
            *scores.stride(),
            0 if words is None else words.data_ptr(),
            self._kind,
        )

    def _call(self, function: Any, bytes_of: Any, sizes: tuple[Any, ...], *arguments: Any) -> None:
        """function(*arguments, workspace, its bytes, stream) on the device of the scores."""
        if not self._size:
            return
        if torch._C._cuda_getDevice() != self._device:
            with torch.cuda.device(self._device):
                return self._call(function, bytes_of, sizes, *arguments)
        count = bytes_of(self._device, self._is_double, self._size, self._n, self._kind, *sizes)
        workspace = self._empty(count, torch.uint8)
        function(*arguments, workspace.data_ptr(), count, self._stream)

    def infer(self, heads: Tensor | None, marginals: bool, slope: bool = False) -> Answers:
        """log Z (...), marginals (..., N+1, N+1) and log p (k, ...) of heads (k, ..., N).

        With `slope` the gradient of the first tree's log p takes the place of the marginals.
        """
        log_z = self._empty(self._batch, self._scores.dtype)
        found: Answers = self._infer(heads, log_z, None, marginals, slope)
        return found

    def _infer(
        self, heads: Tensor | None, log_z: Tensor | None, entropy: Tensor | None, marginals: bool, slope: bool = False
    ) -> Any:
        dtype = self._scores.dtype
        p = self._empty((*self._batch, self._n + 1, self._n + 1), dtype) if marginals else None
        outcomes = self._empty((self._size, 3), torch.int32) if self._check else None
        log_prob, trees = None, None
        if heads is not None:
            trees = self._trees_given(heads)
            log_prob = self._empty(heads.shape[:-1], torch.float64)
        side = self._n + 1
        self._call(
            _taproot.cuda_infer,
            _infer_bytes,
            (entropy is not None, marginals),
            *self._question(),
            0 if log_z is None else log_z.data_ptr(),
            0 if entropy is None else entropy.data_ptr(),
            0 if p is None else p.data_ptr(),
            side * side,
            side,
            1,
            0 if outcomes is None else outcomes.data_ptr(),
            0 if trees is None else len(trees),
            0 if trees is None else trees.data_ptr(),
            0 if log_prob is None else log_prob.data_ptr(),
            slope,
        )
        if outcomes is not None:
            self._out_of_range(outcomes)
        return log_z, p, None if log_prob is None else log_prob.to(dtype)

    def log_prob(self, heads: Tensor, slope: bool) -> tuple[Tensor, Tensor | None]:
        """log p (...) of heads (..., N), and its gradient (..., N+1, N+1)."""
        _, of_edges, log_prob = self.infer(heads[None], slope, slope)
        assert log_prob is not None
        return log_prob[0], of_edges

    def _trees_given(self, heads: Tensor) -> Tensor:
        if heads.device != self._scores.device:
            raise ValueError(f"heads are on {heads.device}, and the scores on {self._scores.device}")
        # Clamped, so that a head that does not exist is none in 32 bits either.
        return heads.clamp(-2, self._n + 1).to(torch.int32).contiguous()

    def hessian_product(self, direction: Tensor) -> Tensor:
        """The Hessian of log Z times a matrix per sentence, in the dtype of the scores."""
        direction = direction.detach().resolve_neg().contiguous()
        out = self._empty(direction.shape, self._scores.dtype)
        self._call(
            _taproot.cuda_hessian_product,
            _hessian_bytes,
            (False,),
            *self._question(),
            direction.data_ptr(),
            direction.dtype == torch.float64,
            out.data_ptr(),
            out.dtype == torch.float64,
        )
        return out

    def entropy(self, slope: bool) -> tuple[Tensor, Tensor | None]:
        """Entropies (...), and their gradients (..., N+1, N+1) from the same elimination."""
        scores = self._scores
        found = self._empty(self._batch, scores.dtype)
        if not slope:
            self._infer(None, None, found, False)
            return found, None
        of_edges = self._empty((*self._batch, self._n + 1, self._n + 1), scores.dtype)
        outcomes = self._empty((self._size, 3), torch.int32) if self._check else None
        self._call(
            _taproot.cuda_entropy_and_slope,
            _hessian_bytes,
            (True,),
            *self._question(),
            found.data_ptr(),
            of_edges.data_ptr(),
            0 if outcomes is None else outcomes.data_ptr(),
        )
        if outcomes is not None:
            self._out_of_range(outcomes)
        return found, of_edges

    def argmax(self) -> Tensor:
        """The best trees, [B, N], of -1 where a sentence has none."""
        heads = self._empty((self._size, self._n), torch.int64)
        outcomes = self._empty((self._size, 3), torch.int32) if self._check else None
        self._call(
            _taproot.cuda_argmax,
            _argmax_bytes,
            (),
            *self._question(),
            0 if outcomes is None else outcomes.data_ptr(),
            heads.data_ptr(),
        )
        if outcomes is not None:
            self._out_of_range(outcomes)
        return heads

    # What needs an object that keeps its factors.

    @cached_property
    def _kept(self) -> _taproot.CudaDependencyTrees:
        return self._factored("float64" if self._is_double else "float32", keep=True)

    def _factored(self, precision: str, keep: bool) -> _taproot.CudaDependencyTrees:
        cuda = _cuda(self._device, precision)
        root, projective = root_and_family(self._kind)
        return _taproot.CudaDependencyTrees(cuda, self._scores, self._words, root, None, keep, projective)

    def _out_of_range(self, outcomes: Tensor) -> list[int]:
        """The sentences that only the CPU can answer. Raises where one has no answer."""
        failures, rest = [], []
        for b, (status, head, modifier) in enumerate(outcomes.cpu().tolist()):
            name = _taproot.cuda_status(status)
            if name == "out_of_range":
                rest.append(b)
            elif name == "bad_length":
                raise ValueError(f"the length of sentence {b} is negative or more than {self._n} words")
            elif name != "ok":
                failures.append((b, name, _taproot.describe_outcome(status, head, modifier, b)))
        if failures:
            raise_failures(failures)
        return rest

    def root_marginals(self) -> Tensor:
        """p(0 -> m), shape (..., N)."""
        out = self._full((self._size, self._n), torch.float64, 0 if self._words is not None else torch.nan)
        self._kept.root_marginals(out, self._stream)
        return out.reshape((*self._batch, self._n)).to(self._scores.dtype)

    def divergence(self, other: CudaTrees, relative: bool) -> Tensor:
        out = self._full((len(self),), torch.float64, torch.nan)
        if self._kind != other._kind:
            self.not_here("comparing projective trees with all trees")
        ask = self._kept.kl_divergence if relative else self._kept.cross_entropy
        ask(other._kept, out, self._stream)
        return out.reshape(self._batch).to(self._scores.dtype)

    def mbr(self) -> Tensor:
        """The trees with the largest expected number of right heads, [B, N]."""
        if self._check:
            self._check_outcomes()
        heads = self._full((self._size, self._n), torch.int32, -1)
        self._kept.mbr(heads, self._stream)
        return heads

    def _check_outcomes(self) -> list[int]:
        outcomes = self._empty((self._size, 3), torch.int32)
        self._kept.outcomes(outcomes, self._stream)
        return self._out_of_range(outcomes)

    def _on_cpu(self, sentences: list[int]) -> _distribution.DependencyTrees:
        words = None if self._words is None else self._words[sentences].cpu().numpy()
        root, projective = root_and_family(self._kind)
        return _distribution.DependencyTrees(
            self._scores[sentences].cpu().numpy(),
            words,
            root,
            projective=projective,
            ids=np.array(sentences, np.int64),
            copy=False,
        )

    def sample(self, k: int, seed: int, algorithm: str, dtype: torch.dtype) -> Tensor:
        if algorithm != "auto":
            raise ValueError(f'on a device there is the algorithm "auto" alone, not {algorithm!r}')
        heads = self._empty((as_count(k), self._size, self._n), dtype)
        outcomes = self._empty((self._size, 3), torch.int32)
        self._kept.sample(as_seed(seed), 0, outcomes, heads, self._stream)
        rest = self._out_of_range(outcomes)
        if rest:
            heads[:, rest] = torch.from_numpy(self._on_cpu(rest).sample(k, seed)).to(heads)
        return heads

    def sample_without_replacement(
        self, k: int, seed: int, algorithm: WithoutReplacementAlgorithm
    ) -> WithoutReplacementSample:
        if algorithm not in ("auto", "beam"):
            raise ValueError(f'on a device there are the algorithms "auto" and "beam" alone, not {algorithm!r}')
        if algorithm == "beam" and root_and_family(self._kind)[1]:
            self.not_here("a beam of projective trees")
        count, batch = as_count(k), len(self)
        outcomes = self._empty((batch, 3), torch.int32)
        heads = self._full((count, batch, self._n), torch.int32, -1)
        log_prob, gumbel = (self._full((batch, count), torch.float64, -torch.inf) for _ in range(2))
        weights = self._full((batch, count), torch.float64, 0)
        kappa = self._empty((batch,), torch.float64)
        counts = self._full((batch,), torch.int32, 0)
        # Beams of long sentences are faster in float64, whatever the scores are.
        self._factored("float64", keep=False).sample_without_replacement(
            algorithm, as_seed(seed), outcomes, heads, log_prob, gumbel, weights, kappa, counts, self._stream
        )
        for b in self._out_of_range(outcomes):
            found = self._on_cpu([b]).sample_without_replacement(count, seed, algorithm)
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

    def kbest(self, k: int) -> Any:
        return self.not_here("finding the k best trees")

    def projective_mass(self) -> Any:
        return self.not_here("summing over projective trees")

    def expected_tries(self) -> Any:
        return self.not_here("the cost of Wilson's walk")

    expected_steps = expected_tries
