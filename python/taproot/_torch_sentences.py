# SPDX-License-Identifier: Apache-2.0
"""What a caller of ``taproot.torch`` gives, as the operators take it.

Layouts are views, constraints a mask, and labels are summed out, all with PyTorch's own differentiable functions: the
operators behind see scores (..., N+1, N+1) and numbers of words.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from . import _distribution
from . import _torch_operators as operators
from ._arrays import as_switch, filled_up, mask_hint
from ._constraints import allowed_edges
from ._distribution import Root
from ._given import parts_of
from ._gold import check_heads, check_named_heads, check_root_is_counted, report_gold
from ._layouts import Arrangement, Layout, as_arrangement, check_square, check_tree_shape
from ._tensors import as_array
from ._torch_cpu import flat_matrices


class Parts(NamedTuple):
    """The scores that the operators see, with their graphs; of_labels and total are the labels' scores and sums."""

    scores: Tensor
    of_labels: Tensor | None = None
    total: Tensor | None = None


class Sentences:
    """Sentences (...) of up to n words."""

    def __init__(
        self,
        scores: Tensor,
        lengths: Any,
        root: Root,
        constraints: Any = None,
        label_scores: Tensor | None = None,
        layout: Layout = "head-dependent",
        check: bool | None = None,
        projective: bool = False,
    ) -> None:
        self.arrangement = as_arrangement(layout)
        if not isinstance(scores, Tensor) or not scores.is_floating_point():
            raise ValueError("scores must be a tensor of floating-point numbers")
        check_square(tuple(scores.shape))
        if root != "single" and root != "multi":
            raise ValueError(f'root must be "single" or "multi", not {root!r}')
        self.root: Root = root
        self.projective = as_switch(projective, "projective")
        self._kind = operators.kind_of(root, self.projective)
        self.batch = tuple(scores.shape[:-2])
        self.n = scores.shape[-1] - 1
        # What is shorter than float32 is read as float32, and so is the answer.
        self.dtype = scores.dtype if scores.dtype == torch.float64 else torch.float32
        self._traced = operators.is_traced()
        self.check = not (scores.is_cuda or self._traced) if check is None else check
        if self.check and self._traced:
            raise ValueError("check=True looks at values, which torch.compile and torch.func do not allow")
        self.words = _words(lengths, self.batch, self.n, self.arrangement, scores.device, self.check)
        self._given = scores
        self._ruled_out: Tensor | None = None
        if constraints is not None:
            words = np.full(self.batch, self.n) if self.words is None else self.words.cpu().numpy()
            allowed = allowed_edges(constraints, self.batch, words, self.n)
            self._ruled_out = ~torch.from_numpy(allowed).to(scores.device)
        self.labels: Tensor | None = None
        if label_scores is not None:
            self._take_labels(label_scores, scores)
        self._kept: Parts | None = None
        self._trees: operators.Trees | None = None
        self._depends_on = (scores,) if label_scores is None else (scores, label_scores)
        if not self._traced:
            self._versions = tuple(map(_version, self._depends_on))
            self._kept = self.parts()
            self._trees = operators.factor(self._kept.scores, self.words, self._kind, self.check)

    def _take_labels(self, label_scores: Tensor, scores: Tensor) -> None:
        if not isinstance(label_scores, Tensor) or not label_scores.is_floating_point():
            raise ValueError("label_scores must be a tensor of floating-point numbers")
        if label_scores.shape[:-1] != scores.shape or label_scores.shape[-1] == 0:
            raise ValueError(
                f"label_scores must have shape {tuple(scores.shape)} and one more axis, of labels, not "
                f"{tuple(label_scores.shape)}"
            )
        if label_scores.device != scores.device:
            raise ValueError(f"label_scores are on {label_scores.device}, and the scores on {scores.device}")
        self.labels = self.arrangement.labels_turned(label_scores)
        # Cells that no tree has may hold anything, and an edge may have no label: neither gives a gradient.
        self._possible = self._read & (self.labels != -torch.inf).any(-1)

    @property
    def edges(self) -> Tensor:
        """The scores without labels in our layout, under the constraints."""
        edges: Tensor = self.arrangement.turned(self._given)
        if edges.dtype != self.dtype:
            edges = edges.to(self.dtype)
        return edges if self._ruled_out is None else edges.masked_fill(self._ruled_out, -torch.inf)

    def parts(self) -> Parts:
        """What the answers depend on, with a graph of its own for each question.

        PyTorch frees a graph when it goes back through it, and answers must not share that fate.
        """
        with_graph = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in self._depends_on)
        kept = self._kept
        if kept is not None and kept.scores.requires_grad == with_graph:
            if with_graph:
                self._kept = None
            return kept
        if self.labels is None:
            return Parts(self.edges)
        work = torch.float64  # On a device, sums in float32 are as good as what follows.
        if self._given.is_cuda:
            work = torch.promote_types(torch.promote_types(self.dtype, self.labels.dtype), torch.float32)
        of_labels = torch.where(self._possible[..., None], self.labels.to(work), 0.0)
        total = of_labels.logsumexp(-1)
        return Parts(torch.where(self._possible, self.edges.to(work) + total, -torch.inf), of_labels, total)

    @property
    def trees(self) -> Any:
        """The distributions of the scores, labels summed out; None where operators have to make them."""
        if self._trees is not None and tuple(map(_version, self._depends_on)) != self._versions:
            raise RuntimeError("the scores were changed in place: make another DependencyTrees of them")
        return self._trees

    @cached_property
    def _labeled(self) -> _distribution.DependencyTrees:
        assert self.labels is not None
        return _distribution.DependencyTrees(
            flat_matrices(self.edges, "scores"),
            None if self.words is None else self.words.reshape(-1).numpy(),
            self.root,
            label_scores=flat_matrices(self.labels, "label_scores", 3),
            projective=self.projective,
            on_error="raise" if self.check else "status",
            copy=False,
        )

    @property
    def decoder(self) -> Any:
        """The distributions of labeled trees, if there are labels."""
        trees = self.trees
        if trees is None:
            raise NotImplementedError("torch.compile and torch.func can neither sample nor decode labeled or k trees")
        if self.labels is None:
            return trees.decoder
        return trees.not_here("sampling or decoding labels") if self._given.is_cuda else self._labeled

    @property
    def word_counts(self) -> Tensor:
        """How many words each sentence has, shape (...)."""
        if self.words is None:
            return torch.full(self.batch, self.n, device=self._given.device)
        return self.words.long()

    @cached_property
    def _real(self) -> Tensor:
        """Which of the words 1 to N a sentence has, shape (..., N)."""
        return torch.arange(1, self.n + 1, device=self._given.device) <= self.word_counts[..., None]

    @property
    def _read(self) -> Tensor:
        """Which cells of the scores are edges of the sentence, shape (..., N+1, N+1)."""
        modifiers = torch.nn.functional.pad(self._real, (1, 0), value=False)
        heads = torch.nn.functional.pad(self._real, (1, 0), value=True)
        itself = torch.eye(self.n + 1, dtype=torch.bool, device=self._given.device)
        return heads[..., :, None] & modifiers[..., None, :] & ~itself

    def _infer(self, scores: Tensor, heads: Tensor | None, marginals: bool) -> Any:
        """The operator, with marginals too if they are the gradient of what is asked for."""
        slope = torch.is_grad_enabled() and scores.requires_grad
        return operators.infer(scores, heads, self.words, self._kind, marginals or slope, trees=self.trees)

    def marginals(self) -> Tensor:
        """In our layout."""
        return self._infer(self.parts().scores, None, True)[1].to(self.dtype)

    def _exact_marginals(self) -> Tensor:
        """The same to be summed: on the CPU in float64, as they were found."""
        scores = self.parts().scores
        return self._infer(scores if scores.is_cuda else scores.double(), None, True)[1]

    def log_partition(self) -> Tensor:
        return self._infer(self.parts().scores, None, False)[0].to(self.dtype)

    def entropy(self) -> Tensor:
        scores = self.parts().scores
        # On the CPU the gradient costs more than the entropy, and waits until it is asked for.
        slope = scores.is_cuda and torch.is_grad_enabled() and scores.requires_grad
        return operators.entropy(scores, self.words, self._kind, slope, trees=self.trees)[0].to(self.dtype)

    def root_marginals(self) -> Tensor:
        if self.trees is None:
            return self.marginals()[..., 0, 1:]
        return operators.RootMarginals.apply(self.parts().scores, self.words, self._kind, self.trees).to(self.dtype)

    def hessian_product(self, direction: Tensor) -> Tensor:
        """In our layout."""
        return operators.differentiated(self.parts().scores, direction, self.words, self._kind, self.trees)

    def decode(self, name: str) -> Any:
        """argmax or mbr."""
        if self.trees is None and self.labels is None:
            return getattr(operators, name)(self.parts().scores, self.words, self._kind)
        return getattr(self.decoder, name)()

    def expectation(self, edge_values: Tensor) -> Tensor:
        p = self._exact_marginals()
        if edge_values.shape != p.shape:
            raise ValueError(f"edge_values must have shape {tuple(p.shape)}, not {tuple(edge_values.shape)}")
        values = torch.where(p > 0, self.arrangement.turned(edge_values).to(p.dtype), torch.zeros_like(p))
        return (p * values).sum((-2, -1)).to(self.dtype)

    def given(self, trees: Any, labels: Any = None) -> tuple[Tensor, Tensor | None]:
        """Heads and labels as tensors, of tensors, of a result that has both, or of lists."""
        if isinstance(trees, Tensor) and labels is None:
            return trees, None
        heads, labels = parts_of(trees, labels)
        return self._tensor(heads, "heads"), None if labels is None else self._tensor(labels, "labels")

    def _tensor(self, values: Any, name: str) -> Tensor:
        """Lists with the entries of each sentence, of its own length, are padded with -1."""
        if isinstance(values, Tensor):
            return values
        if isinstance(values, (list, tuple)):
            words = self.word_counts.cpu().numpy()
            values = filled_up(_on_host(values), name, words, self.n, self.arrangement)
        return torch.as_tensor(values, device=self._given.device)

    def expected_attachment(self, heads: Tensor) -> Tensor:
        """Of heads of the caller's layout, with any axes in front."""
        own = self._words_of(heads, "heads", more=True).long()
        counts = self._real & (own >= 0)
        wrong = (counts & (own > self.word_counts[..., None])).any(-1)
        if self.check and bool(wrong.any()):
            check_named_heads(own.cpu().numpy(), self.word_counts.cpu().numpy(), self.arrangement)
        counts = counts & ~wrong[..., None]
        p = self._exact_marginals()[..., 1:].expand((*own.shape[:-1], self.n + 1, self.n))
        p = p.gather(-2, torch.where(counts, own, 0)[..., None, :])[..., 0, :]
        share = torch.where(counts, p, 0.0).sum(-1) / counts.sum(-1)
        return torch.where(wrong, torch.nan, share).to(self.dtype)

    def label_marginals(self) -> Tensor:
        """In our layout."""
        scores, of_labels, total = self.parts()
        if of_labels is None or total is None:
            raise ValueError("label_marginals needs label_scores")
        given_edge = torch.where(self._possible[..., None], of_labels - total[..., None], -torch.inf).exp()
        return (self._infer(scores, None, True)[1][..., None] * given_edge).to(self.dtype)

    def divergence(self, other: Sentences, name: str) -> Tensor:
        same = self.root == other.root and self.batch == other.batch and self.n == other.n
        if same and self.words is not other.words and not self._traced:
            same = torch.equal(self.word_counts, other.word_counts)
        if not same:
            found = (f"batch shape {tuple(s.batch)}, up to {s.n} words, root={s.root!r}" for s in (self, other))
            raise ValueError(
                f"{name} needs distributions over the same sentences, under one root rule, not {' and '.join(found)}"
            )
        relative = name == "kl_divergence"
        p, q = self.parts().scores, other.parts().scores
        both = None if self.trees is None else (self.trees, other.trees)
        return operators.divergence(p, q, self.words, self._kind, other._kind, relative, trees=both).to(self.dtype)

    def log_prob(self, heads: Tensor, labels: Tensor | None = None, more: bool = True) -> Tensor:
        """Of heads of the caller's layout, with more axes in front if `more`."""
        own = self._words_of(heads, "heads", more)
        parts = self.parts()
        leading = own.shape[: own.ndim - 1 - len(self.batch)]
        try:
            if not leading:  # One tree per sentence.
                slope = torch.is_grad_enabled() and parts.scores.requires_grad
                found = operators.log_prob(parts.scores, own, self.words, self._kind, slope, trees=self.trees)[0]
            else:
                trees = own.reshape((leading.numel(), *self.batch, self.n))
                found = self._infer(parts.scores, trees, False)[2].reshape((*leading, *self.batch))
        except ValueError:
            if not self.check:
                raise
            check_heads(own.detach().cpu().numpy(), self.word_counts.cpu().numpy(), self.arrangement)
            raise
        if labels is not None:
            if self.labels is None:
                raise ValueError("labels need label_scores")
            if labels.shape != heads.shape:
                raise ValueError(
                    f"labels must have the shape of heads, {tuple(heads.shape)}, not {tuple(labels.shape)}"
                )
            found = self._with_labels(parts, found, own, self._words_of(labels, "labels", more))
        return found.to(self.dtype)

    def _words_of(self, of_words: Tensor, name: str, more: bool) -> Tensor:
        if of_words.is_floating_point() or of_words.is_complex() or of_words.dtype == torch.bool:
            raise ValueError(f"{name} must be integers, not {of_words.dtype}")
        check_tree_shape(self.arrangement, name, tuple(of_words.shape), self.batch, self.n, more)
        return self.arrangement.words_of(of_words)

    def _with_labels(self, parts: Parts, found: Tensor, heads: Tensor, labels: Tensor) -> Tensor:
        """log p of labeled trees from that of their heads."""
        assert parts.of_labels is not None and parts.total is not None
        count = parts.of_labels.shape[-1]
        counts = self._real & found.isfinite()[..., None]
        wrong = counts & ((labels < 0) | (labels >= count))
        if self.check and bool(wrong.any()):
            *at, i = wrong.nonzero()[0].tolist()
            where = ", ".join(map(str, (*at, i + self.arrangement.entries(0))))
            label = int(labels[(*at, i)])
            raise ValueError(f"labels[{where}], of word {i + 1}, is {label}, and there are {count} labels, from 0 on")
        counts = counts & ~wrong
        side = self.n + 1
        sentence = torch.arange(self.word_counts.numel(), device=heads.device).reshape((*self.batch, 1))
        word = torch.arange(1, side, device=heads.device)
        edge = sentence * side * side + torch.where(counts, heads.long(), 0) * side + word
        label = torch.where(counts, labels.long(), 0)
        of_words = parts.of_labels.reshape(-1)[edge * count + label]
        forbidden = (counts & (of_words == -torch.inf)).any(-1)
        shares = torch.where(counts & (of_words > -torch.inf), of_words, 0.0) - torch.where(
            counts, parts.total.reshape(-1)[edge], 0.0
        )
        known = torch.where(forbidden, -torch.inf, found + shares.sum(-1))
        return torch.where(wrong.any(-1), torch.nan, known)

    def check_root_is_counted(self, heads: Tensor) -> None:
        """Raises where the lengths do not count ROOT, as far as gold heads show it, and the layout has them do so."""
        if self.arrangement.root:
            own = self._words_of(heads, "heads", more=False)
            check_root_is_counted(own.detach().cpu().numpy(), self.word_counts.cpu().numpy(), self.arrangement)

    def report_gold(self, found: Tensor, heads: Tensor) -> None:
        """Raises for the first gold tree of the caller's layout that has no log-probability."""
        given = (found.double(), self.arrangement.words_of(heads), self.word_counts, self.parts().scores.double())
        log_prob, own, of_words, scores = (tensor.detach().cpu().numpy() for tensor in given)
        report_gold(log_prob, own, of_words, self.root, scores, self.arrangement, self.projective)


def _words(
    lengths: Any, batch: tuple[int, ...], n: int, arrangement: Arrangement, device: Any, check: bool
) -> Tensor | None:
    """Numbers of words, shape (...), on the device of the scores; checked where that costs nothing."""
    if lengths is None:
        return None
    if isinstance(lengths, Tensor):
        given = lengths
    else:
        array = np.asarray(lengths)
        given = torch.from_numpy(array.astype(np.int64) if array.dtype.kind in "iu" else array)
    if tuple(given.shape) != batch:
        hint = mask_hint(tuple(given.shape), batch)
        raise ValueError(f"lengths must have shape {batch}, one per sentence, not {tuple(given.shape)}{hint}")
    if given.numel() and (given.is_floating_point() or given.dtype == torch.bool):
        raise ValueError(f"lengths must be integers, not {given.dtype} (a mask's are mask.sum(-1))")
    if check or not (given.is_cuda or operators.is_traced()):
        wrong = (given < arrangement.lengths_of(0)) | (given > arrangement.lengths_of(n))
        if bool(wrong.any()):
            at = wrong.nonzero()[0].tolist()
            raise arrangement.wrong_length(", ".join(map(str, at)), int(given[tuple(at)]), n)
    # Clamped, so that a length that cannot be is none in 32 bits either.
    return arrangement.words_in(given).clamp(-1, n + 1).to(device, torch.int32)


def _on_host(values: Any) -> Any:
    """Nested lists with NumPy's arrays in place of tensors."""
    return [_on_host(value) for value in values] if isinstance(values, (list, tuple)) else as_array(values)


def _version(tensor: Tensor) -> int:
    """How often it was changed in place; PyTorch does not count that of tensors made for inference."""
    return 0 if tensor.is_inference() else tensor._version
