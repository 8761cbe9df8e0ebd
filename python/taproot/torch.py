# SPDX-License-Identifier: Apache-2.0
"""Taproot for PyTorch: differentiable functions of scores, a loss, and a ``torch.distributions.Distribution``.

Scores are tensors of shape (..., N+1, N+1), float32 or float64, read without a copy; ``lengths`` has shape (...).
``scores[..., h, m]`` is the edge from head h to modifier m, and 0 is ROOT; ``layout="dependent-head"`` has them the
other way round, and ``layout="dependent-head+root"`` also has an entry for ROOT in heads and lengths. Constraints and
label scores are those of ``taproot.DependencyTrees``, and so is ``projective=True``, for projective trees only.

All arithmetic on the CPU is in float64 and exact; results have the scores' dtype, or float32 where that is shorter
(autocast). Gradients are exact too: that of ``log_partition`` is ``marginals``, whose own is the covariance of edges.
So ``log_partition`` and ``log_prob`` can be differentiated twice, ``marginals``, ``expectation``, ``entropy`` and the
divergences once; asking for more is an error. The functions of this module work under
``torch.compile(fullgraph=True)``, ``torch.func`` (``grad``, ``vmap``) and in CUDA graphs.

CUDA tensors stay on their device, where taproot was built for it (``taproot.cuda_available()``), on PyTorch's current
stream: log Z, marginals and samples in the scores' precision, derivatives in float64. ``kbest``, and labels from
``argmax``, ``mbr`` or ``sample``, are not available there, and say so.

A sentence without an answer raises an exception on the CPU. On a device, under ``torch.compile`` and in ``torch.func``
the results are not checked: there a sentence without a tree has log Z = -inf, marginals 0 and no gradient, its ``nll``
and the gradient of that are NaN, and one with a score or a length that cannot be has NaN. ``check=True`` waits, looks
and raises, and ``check=False`` does not raise on the CPU either.

>>> import torch, taproot.torch
>>> scores = torch.zeros(4, 4, dtype=torch.float64, requires_grad=True)
>>> taproot.torch.log_partition(scores).backward()
>>> scores.grad[0]
tensor([0.0000, 0.3333, 0.3333, 0.3333], dtype=torch.float64)
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import torch
from torch import Tensor
from torch.distributions import constraints as _constraints
from torch.distributions import kl

from . import _distribution
from ._arrays import as_count, as_seed
from ._distribution import Algorithm, Root, WithoutReplacementAlgorithm
from ._gold import gold_error
from ._layouts import Arrangement, Layout
from ._results import BestTrees, LabeledTrees
from ._tensors import WithoutReplacementSample
from ._torch_cpu import as_numpy
from ._torch_cuda import release_memory
from ._torch_operators import plain_argmax, plain_log_partition
from ._torch_sentences import Sentences
from ._torch_tree import is_projective, is_tree

__all__ = [
    "BestTrees",
    "DependencyTrees",
    "LabeledTrees",
    "WithoutReplacementSample",
    "argmax",
    "cross_entropy",
    "entropy",
    "expectation",
    "is_projective",
    "is_tree",
    "kl_divergence",
    "log_partition",
    "log_prob",
    "marginals",
    "mbr",
    "nll",
    "release_memory",
]

Reduction = Literal["mean", "words", "sum", "none"]


def log_partition(
    scores: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """log Z, shape (...). Twice differentiable; its gradient is ``marginals``."""
    if lengths is constraints is label_scores is None and layout == "head-dependent":
        found = plain_log_partition(scores, root, projective, check)
        if found is not None:
            return found
    return Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective).log_partition()


def marginals(
    scores: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """p(h -> m), shape (..., N+1, N+1), differentiable."""
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    return sentences.arrangement.turned(sentences.marginals())


def entropy(
    scores: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """-sum p log p in nats, shape (...), differentiable."""
    return Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective).entropy()


def expectation(
    scores: Tensor,
    edge_values: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """E[sum of edge_values over a tree's edges], shape (...), differentiable in both.

    Values of edges that have no probability do not count.
    """
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    return sentences.expectation(edge_values)


def log_prob(
    scores: Tensor,
    heads: Any,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    labels: Any = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """log p of trees, heads of shape (..., N) or with more axes in front. Twice differentiable in the scores.

    ``heads`` may also be a list with the heads of each sentence, of its own length, or what ``argmax``, ``kbest`` and
    the samplers give, whose labels count where it has labels.

    -inf for heads that are not a tree, and then no gradient; NaN for a tree of -1, which fills up samples. With
    ``labels``, of the shape of heads, the log-probability of the labeled trees. What lies beyond a sentence's length is
    not read.
    """
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    return sentences.log_prob(*sentences.given(heads, labels))


def nll(
    scores: Tensor,
    heads: Any,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    labels: Any = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    reduction: Reduction = "mean",
    check: bool | None = None,
) -> Tensor:
    """The loss of gold trees, -log p(heads), or -log p(heads, labels): a conditional random field in one call.

    ``heads`` and ``labels`` have shape (..., N); with a layout ``"+root"`` (..., N+1). What lies beyond a sentence's
    length does not matter, so they may be padded with 0, -1, -100 or anything else. Or they are lists with the heads,
    or labels, of each sentence, of its own length. Without ``labels`` the labels of
    ``label_scores`` are summed out. ``reduction``: ``"mean"`` divides the sum over sentences by their number, and
    ``"words"`` by the number of words; ``"sum"``; ``"none"`` gives shape (...). Gold heads that are not a tree, or that
    use a forbidden edge, raise a ``ValueError`` that names the sentence and the words; with ``check=False``, and on a
    device and in compiled programs without ``check=True``, their loss is infinite and has no gradient. Lengths that do
    not count ROOT, though the layout has an entry for it, raise one where the padding of the gold heads shows it.

    >>> import torch, taproot.torch
    >>> scores = torch.zeros(2, 4, 4, requires_grad=True)         # [sentence, dependent, head], ROOT first
    >>> gold = torch.tensor([[0, 2, 0, 2], [0, 0, 1, -100]])      # an entry for ROOT, padded with -100
    >>> loss = taproot.torch.nll(scores, gold, torch.tensor([4, 3]), layout="dependent-head+root")
    >>> loss.backward()
    >>> loss
    tensor(1.4452, grad_fn=<MeanBackward0>)
    """
    if reduction not in ("mean", "words", "sum", "none"):
        raise ValueError(f'reduction must be "mean", "words", "sum" or "none", not {reduction!r}')
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    gold, gold_labels = sentences.given(heads, labels)
    if sentences.check and lengths is not None:
        sentences.check_root_is_counted(gold)
    found = sentences.log_prob(gold, gold_labels, more=False)
    if sentences.check and not bool(found.isfinite().all()):
        sentences.report_gold(found, gold)
    if reduction == "none":
        return -found
    if reduction == "mean":
        return (-found).mean()
    total = -found.sum()
    return total if reduction == "sum" else total / sentences.word_counts.sum()


def cross_entropy(
    scores: Tensor,
    other: Tensor,
    lengths: Any = None,
    root: Root = "single",
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """-sum p log q, shape (...), q of the scores ``other``; differentiable in both.

    Where it is infinite, p's gradient is NaN. For constraints, for labels, and for a family of trees each:
    ``DependencyTrees.cross_entropy``.
    """
    p, q = _pair(scores, other, lengths, root, layout, check, projective)
    return p.divergence(q, "cross_entropy")


def kl_divergence(
    scores: Tensor,
    other: Tensor,
    lengths: Any = None,
    root: Root = "single",
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Tensor:
    """sum p log(p/q), shape (...), q of the scores ``other``; differentiable in both.

    Where it is infinite, p's gradient is NaN. For constraints, for labels, and for a family of trees each:
    ``DependencyTrees.kl_divergence``.
    """
    p, q = _pair(scores, other, lengths, root, layout, check, projective)
    return p.divergence(q, "kl_divergence")


def _pair(
    scores: Tensor, other: Tensor, lengths: Any, root: Root, layout: Layout, check: bool | None, projective: bool
) -> tuple[Sentences, Sentences]:
    if scores.shape != other.shape:
        raise ValueError(f"the two must have one shape, not {tuple(scores.shape)} and {tuple(other.shape)}")
    p, q = (Sentences(s, lengths, root, None, None, layout, check, projective) for s in (scores, other))
    q.words = p.words
    return p, q


def argmax(
    scores: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Any:
    """The heads of the best tree, shape (..., N), int64, padding -1; with ``label_scores`` a ``LabeledTrees``.

    >>> import torch, taproot.torch
    >>> taproot.torch.argmax(torch.tensor([[0.0, 2, 1], [0, 0, 1], [0, 0, 0]]))
    tensor([0, 1])
    """
    if lengths is constraints is label_scores is None and layout == "head-dependent":
        found = plain_argmax(scores, root, projective, check)
        if found is not None:
            return found
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    return _trees_of(sentences, sentences.decode("argmax"), ())


def mbr(
    scores: Tensor,
    lengths: Any = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Tensor | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    check: bool | None = None,
) -> Any:
    """The tree with the largest expected number of right heads; shapes as ``argmax``."""
    sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
    return _trees_of(sentences, sentences.decode("mbr"), ())


def _of_words(sentences: Sentences, values: Any, leading: Any, dtype: torch.dtype = torch.int64) -> Tensor:
    """Arrays [k, B, N] of words as tensors of the caller's layout."""
    tensor = torch.as_tensor(values).to(dtype).reshape((*leading, *sentences.batch, sentences.n))
    return torch.nn.functional.pad(tensor, (1, 0), value=-1) if sentences.arrangement.root else tensor


def _trees_of(sentences: Sentences, found: Any, leading: Any, dtype: torch.dtype = torch.int64) -> Any:
    if isinstance(found, LabeledTrees):
        heads = _of_words(sentences, found.heads, leading, dtype)
        return LabeledTrees(heads, _of_words(sentences, found.labels, leading))
    return _of_words(sentences, found, leading, dtype)


def _seed(seed: Any) -> int:
    """A seed of 64 bits. PyTorch's own generator, or the one given, says which where it is not an integer."""
    if seed is None:
        return int(torch.randint(2**63 - 1, ()))
    if isinstance(seed, torch.Generator):
        return int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    return as_seed(seed)


class _Trees(_constraints.Constraint):
    """Heads that are trees of the family under the root rule."""

    is_discrete = True
    event_dim = 1

    def __init__(self, words: Tensor, root: Root, projective: bool, arrangement: Arrangement) -> None:
        self.words, self.root, self.projective, self.arrangement = words, root, projective, arrangement
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        heads, words = self.arrangement.words_of(value), self.words.to(value.device)
        valid = is_tree(heads, words, self.root)
        return valid & is_projective(heads, words) if self.projective else valid


class DependencyTrees(torch.distributions.Distribution):
    """The distribution over dependency trees, as PyTorch has distributions.

    An event is a tree, its heads of shape (N,), int64, padding -1; with a layout ``"+root"`` of shape (N+1,). What
    ``taproot.DependencyTrees`` can be asked, this can be asked, for tensors, and ``numpy()`` is the same distribution
    there, with drawings and iterators. Samples follow ``torch.manual_seed``, or the ``torch.Generator`` or the integer
    that is given as ``seed``. The scores must not be changed in place afterwards; make another distribution after a
    step of an optimizer.

    >>> import torch, taproot.torch
    >>> d = taproot.torch.DependencyTrees(torch.zeros(2, 4, 4), lengths=torch.tensor([3, 2]))
    >>> d.batch_shape, d.event_shape, d.sample((5,)).shape
    (torch.Size([2]), torch.Size([3]), torch.Size([5, 2, 3]))
    >>> d.entropy()
    tensor([2.1972, 0.6931])
    >>> d.log_prob(d.argmax()).exp()
    tensor([0.1111, 0.5000])
    """

    arg_constraints: dict[str, _constraints.Constraint] = {}  # Checked by the library, which names the sentence.
    has_enumerate_support = False

    def __init__(
        self,
        scores: Tensor,
        lengths: Any = None,
        root: Root = "single",
        constraints: Any = None,
        label_scores: Tensor | None = None,
        *,
        projective: bool = False,
        layout: Layout = "head-dependent",
        validate_args: bool | None = None,
    ) -> None:
        # None asks torch whether values are to be checked, and that may cost nothing here.
        check = None if validate_args is None else validate_args or not scores.is_cuda
        self._sentences = Sentences(scores, lengths, root, constraints, label_scores, layout, check, projective)
        self._constraints = constraints
        self.scores = scores
        self.label_scores = label_scores
        self.root: Root = root
        self.projective: bool = self._sentences.projective
        self.layout: Layout = layout
        arrangement = self._sentences.arrangement
        self.lengths: Tensor = arrangement.lengths_of(self._sentences.word_counts)
        event = torch.Size([arrangement.entries(self._sentences.n)])
        super().__init__(torch.Size(self._sentences.batch), event, validate_args=validate_args)

    @property
    def support(self) -> _constraints.Constraint:
        return _Trees(self._sentences.word_counts, self.root, self.projective, self._sentences.arrangement)

    def expand(self, batch_shape: Any, _instance: Any = None) -> DependencyTrees:
        shape = torch.Size(batch_shape)
        edges = self._sentences.arrangement.turned(self._sentences.edges)  # Under the constraints.
        labels = self.label_scores
        return type(self)(
            edges.expand(shape + edges.shape[-2:]),
            self.lengths.expand(shape),
            self.root,
            label_scores=None if labels is None else labels.expand(shape + labels.shape[-3:]),
            projective=self.projective,
            layout=self.layout,
            validate_args=self._validate_args,
        )

    def numpy(self) -> _distribution.DependencyTrees:
        """The same distribution as a ``taproot.DependencyTrees`` that reads the same memory; batches have one axis."""
        if len(self.batch_shape) > 1:
            raise ValueError(f"numpy() needs one axis of sentences, not {tuple(self.batch_shape)}")
        labels = self.label_scores
        return _distribution.DependencyTrees(
            as_numpy(self.scores, "scores"),
            self.lengths.numpy() if self.batch_shape else None,
            self.root,
            self._constraints,
            None if labels is None else as_numpy(labels, "label_scores"),
            projective=self.projective,
            copy=False,
            layout=self.layout,
        )

    def log_partition(self) -> Tensor:
        """log Z, shape batch_shape."""
        return self._sentences.log_partition()

    def marginals(self) -> Tensor:
        """p(h -> m), shape batch_shape + (N+1, N+1)."""
        return self._sentences.arrangement.turned(self._sentences.marginals())

    def root_marginals(self) -> Tensor:
        """p(0 -> m) for the words m = 1..N, shape batch_shape + (N,), accurate relatively where a root is single."""
        sentences = self._sentences
        found = sentences.root_marginals()
        return torch.nn.functional.pad(found, (1, 0)) if sentences.arrangement.root else found

    def label_marginals(self) -> Tensor:
        """p(h -> m with label l), shape batch_shape + (N+1, N+1, labels)."""
        return self._sentences.arrangement.labels_turned(self._sentences.label_marginals())

    def entropy(self) -> Tensor:
        """-sum p log p in nats, shape batch_shape; labels are summed out."""
        return self._sentences.entropy()

    def expectation(self, edge_values: Tensor) -> Tensor:
        """E[sum of edge_values over a tree's edges], shape batch_shape, differentiable in the values, too."""
        return self._sentences.expectation(edge_values)

    def expected_attachment(self, heads: Any) -> Tensor:
        """The expected share of words that have the head given in ``heads``, shape batch_shape, differentiable.

        ``heads`` has shape batch_shape + (N,) or more axes in front, which the answer has, too; or is a list with the
        heads of each sentence; or a result, whose labels do not count. Words whose head is negative do not count; a
        sentence without any other word gives NaN.
        """
        return self._sentences.expected_attachment(self._sentences.given(heads)[0])

    def hessian_product(self, direction: Tensor) -> Tensor:
        """The derivative of ``marginals`` when the scores move along `direction`, of their shape."""
        sentences = self._sentences
        if direction.shape != self.scores.shape:
            raise ValueError(f"direction must have shape {tuple(self.scores.shape)}, not {tuple(direction.shape)}")
        vector = sentences.arrangement.turned(direction)
        found = sentences.hessian_product(vector)
        return sentences.arrangement.turned(found.to(sentences.dtype))

    def cross_entropy(self, other: DependencyTrees) -> Tensor:
        """-sum p log q, q the other distribution over the same sentences, shape batch_shape."""
        return self._sentences.divergence(other._sentences, "cross_entropy")

    def kl_divergence(self, other: DependencyTrees) -> Tensor:
        """sum p log(p/q), q the other distribution over the same sentences, shape batch_shape."""
        return self._sentences.divergence(other._sentences, "kl_divergence")

    def expected_tries(self) -> Tensor:
        """Z_multi / Z_single, shape batch_shape, without a gradient."""
        return self._numbers(self._sentences.trees.decoder.expected_tries())

    def projective_mass(self) -> Tensor:
        """The share of the projective trees in Z of all trees, shape batch_shape, without a gradient. On the CPU."""
        return self._numbers(self._sentences.trees.decoder.projective_mass())

    def expected_steps(self) -> Tensor:
        """How many heads Wilson's random walk samples, on average, shape batch_shape, without a gradient.

        Not for projective trees, which it does not sample.
        """
        return self._numbers(self._sentences.trees.decoder.expected_steps())

    def log_prob(self, value: Any, labels: Any = None) -> Tensor:
        """log p of trees, heads of shape sample_shape + batch_shape + (N,): the answer has shape sample_shape +
        batch_shape, and is twice differentiable in the scores.

        Axes of the value are broadcast against batch_shape. ``value`` may also be a list with the heads of each
        sentence, of its own length; or what ``argmax``, ``sample``, ``kbest`` or ``sample_without_replacement`` gives,
        whose labels count where it has labels, so give its ``.heads`` for the trees alone. With ``labels``, of the
        shape of the heads, the log-probability of the labeled trees. What lies beyond a sentence's length is not read.

        -inf for a tree that uses a forbidden edge, and then no gradient. NaN for rows of -1, which fill up samples and
        best trees. Heads that are not a tree raise a ``ValueError`` that names the sentence where values are checked
        (``validate_args``, PyTorch's default), and are -inf otherwise.

        >>> import torch, taproot.torch
        >>> d = taproot.torch.DependencyTrees(torch.zeros(2, 4, 4), lengths=torch.tensor([3, 2]))
        >>> d.log_prob([[2, 0, 2], [2, 0]]).exp()
        tensor([0.1111, 0.5000])
        """
        value, labels = self._sentences.given(value, labels)
        if self._validate_args:
            self._validate_sample(value)
        shape = torch.broadcast_shapes(value.shape, self.batch_shape + self.event_shape)
        batch = shape[len(shape) - 1 - len(self.batch_shape) : -1]
        of_all = self if batch == self.batch_shape else self.expand(batch)
        return of_all._sentences.log_prob(value.expand(shape), None if labels is None else labels.expand(shape))

    def _validate_sample(self, value: Tensor) -> None:
        if value.shape[-1:] != self.event_shape:
            return  # log_prob says what is wrong.
        of_words = self._sentences.arrangement.words_of(value)
        valid = self.support.check(value) | (of_words == -1).all(-1)  # Rows that fill up samples, which give NaN.
        if bool(valid.all()):
            return
        at = (~valid).nonzero()[0].tolist()
        words = self._sentences.word_counts.expand(valid.shape)[tuple(at)]
        heads = of_words[tuple(at)][: int(words)].detach().cpu().numpy()
        where = f"[{', '.join(map(str, at))}]" if at else ""
        what = gold_error(where, heads, self.root, self._sentences.arrangement, None, self.projective)
        raise ValueError(f"the value is not in the support of {self}: {what}")

    def argmax(self) -> Any:
        """The best tree, shape batch_shape + (N,); with ``label_scores`` a ``LabeledTrees`` with its best labels."""
        return _trees_of(self._sentences, self._sentences.decode("argmax"), ())

    @property
    def mode(self) -> Any:
        """The best tree, as ``argmax``."""
        return self.argmax()

    def mbr(self) -> Any:
        """The tree with the largest expected number of right heads; shapes as ``argmax``."""
        return _trees_of(self._sentences, self._sentences.decode("mbr"), ())

    def kbest(self, k: int) -> BestTrees:
        """The k best trees of every sentence, in order: ``heads`` (k, ..., N) and ``score`` (k, ...).

        >>> import torch, taproot.torch
        >>> best = taproot.torch.DependencyTrees(torch.zeros(2, 3, 3)).kbest(5)
        >>> best.heads.shape, best.counts
        (torch.Size([2, 2, 2]), tensor([2, 2]))
        """
        found = self._sentences.decoder.kbest(k)
        leading = (len(found),)
        return BestTrees(
            heads=_of_words(self._sentences, found.heads, leading),
            score=self._numbers(found.score, leading),
            counts=torch.as_tensor(found.counts).long().reshape(self.batch_shape),
            labels=None if found.labels is None else _of_words(self._sentences, found.labels, leading),
        )

    def sample(
        self,
        sample_shape: Any = (),
        seed: Any = None,
        algorithm: Algorithm = "auto",
        *,
        dtype: torch.dtype = torch.int64,
    ) -> Any:
        """Trees sampled independently, shape sample_shape + batch_shape + (N,); with ``label_scores`` also labels.

        ``sample_shape`` may be an integer, k for (k,). ``seed`` is an integer or a ``torch.Generator``; without one,
        PyTorch's own generator is used. ``dtype`` is that of the heads: ``torch.int8`` (sentences of up to 127 words),
        ``int16``, ``int32`` or ``int64``. Small ones save memory, and time on a CUDA device, which writes them at once.
        """
        if isinstance(sample_shape, Integral):
            sample_shape = (as_count(sample_shape, "sample_shape"),)
        leading = torch.Size(sample_shape)
        if dtype not in (torch.int8, torch.int16, torch.int32, torch.int64):
            raise ValueError(f"dtype must be torch.int8, int16, int32 or int64, not {dtype}")
        if self._sentences.n > torch.iinfo(dtype).max:
            raise ValueError(f"heads of up to {self._sentences.n} words do not fit {dtype}")
        decoder = self._sentences.decoder
        written = {"dtype": dtype} if self.scores.is_cuda else {}
        found = decoder.sample(leading.numel(), _seed(seed), algorithm, **written)
        return _trees_of(self._sentences, found, leading, dtype)

    def sample_without_replacement(
        self, k: int, seed: Any = None, algorithm: WithoutReplacementAlgorithm = "auto"
    ) -> WithoutReplacementSample:
        """k different trees of every sentence, or all of them: ``heads`` (k, ..., N), ``log_prob`` (k, ...) and more.

        ``seed`` is an integer or a ``torch.Generator``; without one, PyTorch's own generator is used.

        >>> import torch, taproot.torch
        >>> s = taproot.torch.DependencyTrees(torch.zeros(2, 3, 3)).sample_without_replacement(5)
        >>> s.heads.shape, s.weights.sum(0), s.exhausted
        (torch.Size([2, 2, 2]), tensor([1., 1.]), tensor([True, True]))
        """
        found = self._sentences.decoder.sample_without_replacement(k, _seed(seed), algorithm)
        leading = (len(found.heads),)
        return WithoutReplacementSample(
            heads=_of_words(self._sentences, found.heads, leading),
            log_prob=self._numbers(found.log_prob, leading),
            gumbel=self._numbers(found.gumbel, leading),
            weights=self._numbers(found.weights, leading),
            kappa=self._numbers(found.kappa),
            exhausted=torch.as_tensor(found.exhausted).reshape(self.batch_shape),
            counts=torch.as_tensor(found.counts).long().reshape(self.batch_shape),
            labels=None if found.labels is None else _of_words(self._sentences, found.labels, leading),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.scores, self.lengths, self.root, self._constraints, self.label_scores)
        options = {"projective": self.projective, "layout": self.layout, "validate_args": self._validate_args}
        return _restored, (state, options)

    def __repr__(self) -> str:
        family = ", projective=True" if self.projective else ""
        return f"DependencyTrees(scores: {tuple(self.scores.shape)}, root={self.root!r}{family})"

    def _numbers(self, values: Any, leading: Any = ()) -> Tensor:
        return torch.as_tensor(values).reshape((*leading, *self.batch_shape)).to(self._sentences.dtype)


def _restored(state: tuple[Any, ...], options: dict[str, Any]) -> DependencyTrees:
    return DependencyTrees(*state, **options)


@kl.register_kl(DependencyTrees, DependencyTrees)
def _kl(p: DependencyTrees, q: DependencyTrees) -> Tensor:
    return p.kl_divergence(q)
