# SPDX-License-Identifier: Apache-2.0
"""The operators of ``taproot.torch``: differentiable functions of scores (..., N+1, N+1), with ROOT first.

There are five: ``infer``, which has log Z, marginals and log p of given trees from one elimination; ``log_prob`` and
``entropy``, which have log p of one tree per sentence and the entropy with their gradients, as a loss needs them;
``hessian_product``, which is the derivative of the marginals; and ``divergence``. Each is written once, as what it
computes, what it saves and how it goes back, and has three forms: an ``autograd.Function`` for programs that run line
by line, which costs little; one that works within ``torch.func``; and an operator of ``torch.library``, with its shapes
known beforehand, for ``torch.compile``.

Numbers of words have shape (...), or are None. ``kind`` says which trees there are (``kind_of``). ``trees`` are the
distributions that ``factor`` made of the scores and keep what was found, or None; then an operator makes them for
itself. Gradients of marginals and what is summed over trees are in float64 until the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._distribution import Root
from ._torch_cpu import Answers, CpuTrees, infer_at_once
from ._torch_cuda import CudaTrees, root_and_family
from ._torch_cuda import infer_at_once as cuda_infer_at_once

Trees = CpuTrees | CudaTrees


def kind_of(root: Root, projective: bool) -> int:
    """The root rule and the family of trees, as an operator of PyTorch can take them: in two bits."""
    return (root == "multi") + 2 * projective


def factor(scores: Tensor, words: Tensor | None, kind: int, check: bool) -> Trees:
    """The distributions of the scores. If `check`, a sentence without an answer raises an exception."""
    if scores.device.type == "cuda":
        return CudaTrees(scores, words, kind, check)
    return CpuTrees(scores, words, *root_and_family(kind), check)


def is_traced() -> bool:
    """Whether values cannot be looked at: under ``torch.compile`` and within ``torch.func``."""
    return torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()


def _made(trees: Any, scores: Tensor, words: Tensor | None, kind: int) -> Any:
    return factor(scores, words, kind, check=False) if trees is None else trees


def _spread(grad: Tensor) -> Tensor:
    """One number per sentence against a matrix per sentence."""
    return grad.unsqueeze(-1).unsqueeze(-1)  # An index would cost twice as much.


# Whether the graph is kept after going back through it; PyTorch's own compiler asks this. Older versions do not tell.
_graph_is_kept = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)
# Whether a gradient stands for several, as with is_grads_batched=True.
_is_batched = getattr(torch._C._functorch, "is_legacy_batchedtensor", lambda grad: True)


def _is_last_use() -> bool:
    """Whether nobody can come back for the marginals that were saved for this step back."""
    return not (torch.is_grad_enabled() or is_traced() or _graph_is_kept())


def _scaled(grad: Tensor, p: Tensor) -> Tensor:
    """Numbers per sentence times matrices that nobody else needs, in the matrices' memory where that is safe.

    Not on a device: a caller who keeps them alive may replay a CUDA graph of this step alone, which would then find the
    product in their place.
    """
    if not grad.is_cpu or _is_batched(grad):
        return _spread(grad) * p
    if grad.numel() and not any(grad.stride()) and grad.as_strided((), ()).item() == 1:
        return p  # As sum() passes it on.
    return p.mul_(_spread(grad))


def _in_front(tensor: Any, axis: int | None, size: int, to: int = 0) -> Any:
    """A tensor whose vmapped axis, or a new one of this size, is at `to`."""
    if tensor is None:
        return None
    if axis is None:
        return tensor.unsqueeze(to).expand(*tensor.shape[:to], size, *tensor.shape[to:])
    return tensor.movedim(axis, to)


def _filled(scores: Tensor, found: Any) -> Any:
    """The answers; those that were not asked for are tensors without elements, since torch.library takes no None."""
    if isinstance(found, Tensor):
        return found
    return tuple(scores.new_empty(0) if answer is None else answer for answer in found)


def _all_in_front(size: int, axes: Any, *tensors: Any) -> tuple[Any, ...]:
    """Tensors that have their vmapped axes, the first ones of `axes`, in front."""
    return tuple(_in_front(tensor, axis, size) for tensor, axis in zip(tensors, axes))


class Operator:
    """One of the operators, in its three forms.

    ``compute(*arguments, trees)`` is the operator, ``shapes(*arguments)`` gives tensors like its answers, and
    ``save(ctx, arguments, answers)`` keeps what ``backward(ctx, *gradients)`` needs, which gives a gradient, or None,
    for each argument. ``over_batch(size, axes, *arguments)`` is for ``vmap``: the arguments with one more axis in the
    batch, and where the answers have it.
    """

    def __init__(
        self,
        schema: str,
        compute: Callable[..., Any],
        shapes: Callable[..., Any],
        save: Callable[..., None],
        backward: Callable[..., Any],
        over_batch: Callable[..., Any],
    ) -> None:
        name = schema[: schema.index("(")]
        torch.library.define(f"taproot::{name}", schema[len(name) :])
        on_tensors = lambda *arguments: _filled(arguments[0], compute(*arguments, None))
        torch.library.impl(f"taproot::{name}", ("cpu", "cuda"), on_tensors)
        torch.library.register_fake(f"taproot::{name}", shapes)

        def save_all(ctx: Any, arguments: Any, trees: Any, eager: bool, answers: Any) -> None:
            ctx.trees, ctx.eager = trees, eager
            ctx.set_materialize_grads(False)
            save(ctx, arguments, answers)

        def go_back(ctx: Any, *grads: Any) -> Any:
            if all(grad is None for grad in grads):
                return (None,) * len(ctx.needs_input_grad)
            return *backward(ctx, *grads), None

        torch.library.register_autograd(
            f"taproot::{name}",
            backward,
            setup_context=lambda ctx, inputs, output: save_all(ctx, inputs, None, False, output),
        )
        self._compiled = getattr(torch.ops.taproot, name)

        class Eager(torch.autograd.Function):
            """The form that costs least."""

            @staticmethod
            def forward(ctx: Any, *arguments: Any) -> Any:
                answers = compute(*arguments)
                save_all(ctx, arguments[:-1], arguments[-1], True, answers)
                return answers

            backward = staticmethod(go_back)

        class Functional(torch.autograd.Function):
            """The form for ``torch.func``."""

            @staticmethod
            def forward(*arguments: Any) -> Any:
                return _filled(arguments[0], compute(*arguments))

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                save_all(ctx, inputs[:-1], inputs[-1], True, output)

            backward = staticmethod(go_back)

            @staticmethod
            def vmap(info: Any, axes: Any, *arguments: Any) -> Any:
                moved, out_axes = over_batch(info.batch_size, axes[:-1], *arguments[:-1])
                return Functional.apply(*moved, None), out_axes

        self._eager, self._functional = Eager.apply, Functional.apply

    def __call__(self, *arguments: Any, trees: Any = None, eager: bool = True) -> Any:
        if not eager or torch.compiler.is_compiling():
            return self._compiled(*arguments)
        if torch._C._are_functorch_transforms_active():
            return self._functional(*arguments, trees)
        return self._eager(*arguments, trees)


# infer(scores, heads, words, kind, marginals): log Z (...), marginals (..., N+1, N+1) and log p (k, ...) of heads
# (k, ..., N). What is not asked for is None.


def _infer(
    scores: Tensor, heads: Tensor | None, words: Tensor | None, kind: int, marginals: bool, trees: Any
) -> Answers:
    found: Answers = _made(trees, scores, words, kind).infer(heads, marginals)
    return found


def _infer_shapes(
    scores: Tensor, heads: Tensor | None, words: Tensor | None, kind: int, marginals: bool
) -> tuple[Tensor, Tensor, Tensor]:
    return (
        scores.new_empty(scores.shape[:-2]),
        torch.empty_like(scores, memory_format=torch.contiguous_format) if marginals else scores.new_empty(0),
        scores.new_empty((0,) if heads is None else heads.shape[:-1]),
    )


def _save_infer(ctx: Any, inputs: Any, output: Any) -> None:
    scores, heads, words, kind, marginals = inputs
    log_prob = None if heads is None else output[2]
    ctx.save_for_backward(scores, heads, words, output[1], log_prob)
    ctx.kind, ctx.marginals = kind, marginals


def _infer_backward(
    ctx: Any, of_log_z: Tensor | None, of_marginals: Tensor | None, of_trees: Tensor | None
) -> tuple[Tensor | None, None, None, None, None]:
    scores, heads, words, p, log_prob = ctx.saved_tensors
    if of_log_z is not None and ctx.marginals and of_marginals is of_trees is None:
        # A training step needs no more.
        last = ctx.eager and _is_last_use()
        of_scores = _scaled(of_log_z, p.detach()) if last else _spread(of_log_z) * p
        return of_scores, None, None, None, None
    total, slope = of_log_z, None
    if heads is not None and of_trees is not None:
        is_tree = log_prob.isfinite()
        lost = (log_prob.isnan() & (of_trees != 0)).any(0)
        of_trees = torch.where(is_tree, of_trees.double(), 0.0)
        of_all = of_trees.sum(0)
        total = -of_all if total is None else total - of_all
        slope = _edges(scores, heads, words, is_tree, of_trees)
        slope = torch.where(_spread(lost), torch.nan, slope)
    if total is not None:
        if not ctx.marginals:  # Nobody had said that there would be a gradient.
            p = infer(scores, None, words, ctx.kind, True, trees=ctx.trees, eager=ctx.eager)[1]
        of_p = _spread(total) * p
        slope = of_p if slope is None else slope + of_p
    if of_marginals is not None and ctx.marginals:
        moved = differentiated(scores, of_marginals.double(), words, ctx.kind, ctx.trees, ctx.eager)
        slope = moved if slope is None else slope + moved
    if slope is not None:
        slope = slope.to(scores.dtype)
    return slope, None, None, None, None


def _edges(scores: Tensor, heads: Tensor, words: Tensor | None, is_tree: Tensor, of_trees: Tensor) -> Tensor:
    """The gradients of trees (k, ...), 0 for those that are none, summed over the edges that they have."""
    n = heads.shape[-1]
    word = torch.arange(1, n + 1, device=heads.device)
    real = is_tree[..., None] if words is None else is_tree[..., None] & (word <= words[..., None])
    at = torch.where(real, heads.long(), 0)
    of_words = torch.where(real, of_trees[..., None], 0.0).expand(at.shape)
    edges = of_words.new_zeros((*scores.shape[:-2], n + 1, n))
    # [k, ..., N] as [..., k, N]: a column of cells for each word, and k of them to be added to.
    edges = edges.scatter_add(-2, at.movedim(0, -2), of_words.movedim(0, -2))
    return torch.nn.functional.pad(edges, (1, 0))


def _infer_over_batch(size: int, axes: Any, *arguments: Any) -> Any:
    scores, heads, words, kind, marginals = arguments
    moved = (
        _in_front(scores, axes[0], size),
        _in_front(heads, axes[1], size, 1),
        _in_front(words, axes[2], size),
        kind,
        marginals,
    )
    return moved, (0, 0 if marginals else None, None if heads is None else 1)


infer = Operator(
    "infer(Tensor scores, Tensor? heads, Tensor? words, int kind, bool marginals) -> (Tensor, Tensor, Tensor)",
    _infer,
    _infer_shapes,
    _save_infer,
    _infer_backward,
    _infer_over_batch,
)


# The same for a training step that asks for log Z alone. Sentences of ten words take less time than the layers in
# between, so this goes from the scores to the library in one step.


def _log_partition_at_once(scores: Tensor, kind: int, check: bool, marginals: bool) -> tuple[Tensor, Tensor | None]:
    found = infer_at_once(scores, kind, marginals) if scores.is_cpu else cuda_infer_at_once(scores, kind, marginals)
    return factor(scores, None, kind, check).infer(None, marginals)[:2] if found is None else found


class LogPartition(torch.autograd.Function):
    """log Z (B) of plain scores (B, N+1, N+1); see ``plain_log_partition``."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, kind: int, check: bool) -> Tensor:
        # The marginals are not a saved tensor, because unpacking one takes longer than the rest of the step back. So
        # hooks of saved tensors do not see them.
        log_z, ctx.marginals = _log_partition_at_once(scores, kind, check, True)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(scores)
        ctx.kind = kind
        return log_z

    @staticmethod
    def backward(ctx: Any, of_log_z: Tensor | None) -> Any:
        if of_log_z is None:
            return None, None, None
        p = ctx.marginals
        traced = is_traced()
        kept = traced or _graph_is_kept()
        if not kept:
            ctx.marginals = None  # PyTorch frees saved tensors alone.
        if p is None or traced or torch.is_grad_enabled():
            # PyTorch raises an error here where the graph has been freed. To differentiate marginals is for infer,
            # which eliminates once more; that is cheaper than a tensor that every training step saves.
            (scores,) = ctx.saved_tensors
            p = infer(scores, None, None, ctx.kind, True)[1]
        elif kept:
            _ = ctx.saved_tensors  # Where PyTorch does not tell, this raises the same error.
        else:
            return _scaled(of_log_z, p), None, None
        return _spread(of_log_z) * p, None, None


_PLAIN_TYPES = (Tensor, torch.nn.Parameter)
_PLAIN_DTYPES = (torch.float64, torch.float32)


def _plain_kind(scores: Any, root: Any, projective: Any) -> int | None:
    """What ``kind_of`` gives, or None if this is not about dense scores (B, N+1, N+1), or if an argument is wrong."""
    if is_traced() or type(scores) not in _PLAIN_TYPES or scores.dtype not in _PLAIN_DTYPES:
        return None
    if forward_ad._current_level >= 0:  # The longer way says that there are no derivatives forward.
        return None
    shape = scores.shape
    if len(shape) != 3 or shape[1] != shape[2] or shape[2] == 0 or scores.layout is not torch.strided:
        return None
    if not (scores.is_cpu or scores.is_cuda) or scores.is_neg():
        return None
    if (root != "single" and root != "multi") or not isinstance(projective, bool):
        return None
    return kind_of(root, projective)


def plain_log_partition(scores: Any, root: Any, projective: Any, check: Any) -> Tensor | None:
    """log Z (B), or None where this way does not lead: see ``_plain_kind``; nor does it check sentences on a device."""
    kind = _plain_kind(scores, root, projective)
    if kind is None:
        return None
    raises = scores.is_cpu if check is None else bool(check)
    if raises and scores.is_cuda:
        return None
    if scores.requires_grad and torch.is_grad_enabled():
        found: Tensor = LogPartition.apply(scores, kind, raises)
        return found
    return _log_partition_at_once(scores, kind, raises, False)[0]


def plain_argmax(scores: Any, root: Any, projective: Any, check: Any) -> Tensor | None:
    """The best trees (B, N), or None where this way does not lead: for scores on a device alone, without checks."""
    kind = _plain_kind(scores, root, projective)
    if kind is None or check or not scores.is_cuda:
        return None
    return CudaTrees(scores, None, kind, False).argmax()


# log_prob(scores, heads, words, kind, slope): log p (...) of one tree per sentence, heads (..., N), and, if there will
# be a gradient, that gradient (..., N+1, N+1): the edges of the tree less the marginals, or 0 where the heads do not
# form a tree.


def _log_prob(
    scores: Tensor, heads: Tensor, words: Tensor | None, kind: int, slope: bool, trees: Any
) -> tuple[Tensor, Tensor | None]:
    found: tuple[Tensor, Tensor | None] = _made(trees, scores, words, kind).log_prob(heads, slope)
    return found


def _log_prob_shapes(
    scores: Tensor, heads: Tensor, words: Tensor | None, kind: int, slope: bool
) -> tuple[Tensor, Tensor]:
    return scores.new_empty(heads.shape[:-1]), scores.new_empty(scores.shape if slope else (0,))


def _save_log_prob(ctx: Any, inputs: Any, output: Any) -> None:
    scores, heads, words, kind, slope = inputs
    ctx.save_for_backward(scores, heads, words, output[1])
    ctx.kind, ctx.slope = kind, slope


def _log_prob_backward(
    ctx: Any, of_log_prob: Tensor | None, of_slope: Tensor | None
) -> tuple[Tensor | None, None, None, None, None]:
    scores, heads, words, slope = ctx.saved_tensors
    found = None
    if of_log_prob is not None:
        if not ctx.slope:  # Nobody had said that there would be a gradient.
            slope = log_prob(scores, heads, words, ctx.kind, True, trees=ctx.trees, eager=ctx.eager)[1]
        found = torch.where(_spread(of_log_prob) == 0, 0.0, _spread(of_log_prob) * slope)
    if of_slope is not None and ctx.slope:
        moved = differentiated(scores, -of_slope.double(), words, ctx.kind, ctx.trees, ctx.eager)
        found = moved if found is None else found + moved
    return found, None, None, None, None


def _log_prob_over_batch(
    size: int, axes: Any, scores: Tensor, heads: Tensor, words: Any, kind: int, slope: bool
) -> Any:
    moved = _all_in_front(size, axes, scores, heads, words)
    return (*moved, kind, slope), (0, 0 if slope else None)


log_prob = Operator(
    "log_prob(Tensor scores, Tensor heads, Tensor? words, int kind, bool slope) -> (Tensor, Tensor)",
    _log_prob,
    _log_prob_shapes,
    _save_log_prob,
    _log_prob_backward,
    _log_prob_over_batch,
)


# entropy(scores, words, kind, slope): the entropies (...) and, if there will be a gradient, that gradient
# (..., N+1, N+1), which is minus the Hessian of log Z times the scores.


def _entropy(scores: Tensor, words: Tensor | None, kind: int, slope: bool, trees: Any) -> tuple[Tensor, Tensor | None]:
    found: tuple[Tensor, Tensor | None] = _made(trees, scores, words, kind).entropy(slope)
    return found


def _entropy_shapes(scores: Tensor, words: Tensor | None, kind: int, slope: bool) -> tuple[Tensor, Tensor]:
    return scores.new_empty(scores.shape[:-2]), scores.new_empty(scores.shape if slope else (0,))


def _save_entropy(ctx: Any, inputs: Any, output: Any) -> None:
    scores, words, kind, slope = inputs
    ctx.save_for_backward(scores, words, output[1])
    ctx.kind, ctx.slope = kind, slope


def _entropy_backward(
    ctx: Any, of_entropy: Tensor | None, of_slope: Tensor | None
) -> tuple[Tensor | None, None, None, None]:
    if of_slope is not None and ctx.slope:
        raise NotImplementedError(_ONE_MORE)
    scores, words, slope = ctx.saved_tensors
    if of_entropy is None:
        return None, None, None, None
    if not ctx.slope:  # Nobody had said that there would be a gradient.
        slope = entropy(scores, words, ctx.kind, True, trees=ctx.trees, eager=ctx.eager)[1]
    return _spread(of_entropy) * slope, None, None, None


def _entropy_over_batch(size: int, axes: Any, scores: Tensor, words: Any, kind: int, slope: bool) -> Any:
    return (*_all_in_front(size, axes, scores, words), kind, slope), (0, 0 if slope else None)


entropy = Operator(
    "entropy(Tensor scores, Tensor? words, int kind, bool slope) -> (Tensor, Tensor)",
    _entropy,
    _entropy_shapes,
    _save_entropy,
    _entropy_backward,
    _entropy_over_batch,
)


# hessian_product(scores, vector, words, kind): linear in the vector, and symmetric.


def _hessian_product(scores: Tensor, vector: Tensor, words: Tensor | None, kind: int, trees: Any) -> Tensor:
    found: Tensor = _made(trees, scores, words, kind).hessian_product(vector)
    return found


def _save_hessian(ctx: Any, inputs: Any, output: Any) -> None:
    scores, vector, words, kind = inputs
    ctx.save_for_backward(scores, words)
    ctx.kind, ctx.dtype = kind, vector.dtype


def _hessian_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
    scores, words = ctx.saved_tensors  # Through _Last, which speaks up if their gradient is asked for.
    of_scores = torch.zeros_like(scores) if ctx.needs_input_grad[0] else None
    of_vector = None
    if ctx.needs_input_grad[1]:
        of_vector = hessian_product(scores, grad, words, ctx.kind, trees=ctx.trees, eager=ctx.eager).to(ctx.dtype)
    return of_scores, of_vector, None, None


def _hessian_over_batch(size: int, axes: Any, scores: Tensor, vector: Tensor, words: Any, kind: int) -> Any:
    return (*_all_in_front(size, axes, scores, vector, words), kind), 0


hessian_product = Operator(
    "hessian_product(Tensor scores, Tensor vector, Tensor? words, int kind) -> Tensor",
    _hessian_product,
    lambda scores, vector, words, kind: scores.new_empty(scores.shape),
    _save_hessian,
    _hessian_backward,
    _hessian_over_batch,
)


_ONE_MORE = (
    "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
    "this asks for one more"
)


class _Last(torch.autograd.Function):
    """The scores as they are, but not to be differentiated."""

    generate_vmap_rule = True

    @staticmethod
    def forward(scores: Tensor) -> Tensor:
        return scores.view_as(scores)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        raise NotImplementedError(_ONE_MORE)


def differentiated(
    scores: Tensor, vector: Tensor, words: Tensor | None, kind: int, trees: Any, eager: bool = True
) -> Tensor:
    """The Hessian of log Z times a vector: NaN where the vector is not finite. It has no derivative in the scores."""
    if eager and not torch.is_grad_enabled():
        return _hessian_product(scores, vector, words, kind, trees)
    last = _Last.apply(scores) if eager else scores
    found: Tensor = hessian_product(last, vector, words, kind, trees=trees, eager=eager)
    return found


# divergence(scores, other, words, kind, other_kind, relative): the cross-entropy of q relative to p or, if `relative`,
# the divergence of q from p, with scores and kinds of p and q. Gradients: -H_p S_q, or H_p (S_p - S_q) if `relative`,
# for p's scores; q's marginals less p's for q's.


def _divergence(
    scores: Tensor, other: Tensor, words: Tensor | None, kind: int, other_kind: int, relative: bool, trees: Any
) -> Tensor:
    p, q = (None, None) if trees is None else trees
    found: Tensor = _made(p, scores, words, kind).divergence(_made(q, other, words, other_kind), relative)
    return found


def _save_divergence(ctx: Any, inputs: Any, output: Any) -> None:
    scores, other, words, kind, other_kind, relative = inputs
    ctx.save_for_backward(scores, other, words)
    ctx.kind, ctx.other_kind, ctx.relative = kind, other_kind, relative


def _divergence_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None, None]:
    scores, other, words = ctx.saved_tensors
    of_scores = of_other = None
    if ctx.needs_input_grad[0]:
        p = None if ctx.trees is None else ctx.trees[0]
        vector = other.double()
        if ctx.relative:
            vector = vector - scores.detach().double()
        moved = differentiated(scores, vector, words, ctx.kind, p, ctx.eager)
        of_scores = (-_spread(grad) * moved).to(scores.dtype)
    if ctx.needs_input_grad[1]:
        of_p, of_q = (
            infer(s.double(), None, words, kind, True, eager=ctx.eager)[1]
            for s, kind in ((scores, ctx.kind), (other, ctx.other_kind))
        )
        of_other = (_spread(grad) * (of_q - of_p)).to(other.dtype)
    return of_scores, of_other, None, None, None, None


def _divergence_over_batch(
    size: int, axes: Any, scores: Tensor, other: Tensor, words: Any, kind: int, other_kind: int, relative: bool
) -> Any:
    return (*_all_in_front(size, axes, scores, other, words), kind, other_kind, relative), 0


divergence = Operator(
    "divergence(Tensor scores, Tensor other, Tensor? words, int kind, int other_kind, bool relative) -> Tensor",
    _divergence,
    lambda scores, other, words, kind, other_kind, relative: scores.new_empty(scores.shape[:-2]),
    _save_divergence,
    _divergence_backward,
    _divergence_over_batch,
)


class RootMarginals(torch.autograd.Function):
    """p(0 -> m), shape (..., N), of distributions that are kept."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, words: Tensor | None, kind: int, trees: Any) -> Tensor:
        ctx.save_for_backward(scores, words)
        ctx.kind, ctx.trees = kind, trees
        found: Tensor = trees.root_marginals()
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        scores, words = ctx.saved_tensors
        of_edges = torch.nn.functional.pad(grad[..., None, :], (1, 0, 0, scores.shape[-1] - 1))
        return differentiated(scores, of_edges, words, ctx.kind, ctx.trees), None, None, None


# Trees have no gradient.


def _decode(name: str) -> Callable[[Tensor, Tensor | None, int], Tensor]:
    def compute(scores: Tensor, words: Tensor | None, kind: int) -> Tensor:
        trees = factor(scores, words, kind, check=False)
        found = torch.as_tensor(getattr(trees.decoder, name)()).long()
        return found.reshape((*scores.shape[:-2], scores.shape[-1] - 1)).clone()

    def shapes(scores: Tensor, words: Tensor | None, kind: int) -> Tensor:
        return scores.new_empty((*scores.shape[:-2], scores.shape[-1] - 1), dtype=torch.int64)

    torch.library.define(f"taproot::{name}", "(Tensor scores, Tensor? words, int kind) -> Tensor")
    torch.library.impl(f"taproot::{name}", ("cpu", "cuda"), compute)
    torch.library.register_fake(f"taproot::{name}", shapes)
    operator: Callable[[Tensor, Tensor | None, int], Tensor] = getattr(torch.ops.taproot, name)
    return operator


argmax = _decode("argmax")
mbr = _decode("mbr")
