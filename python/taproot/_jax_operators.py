# SPDX-License-Identifier: Apache-2.0
"""The operators of ``taproot.jax``: functions of scores (..., N+1, N+1), with ROOT first, and numbers of words (...).

The surface (``jax.py``) knows these functions and nothing of what is behind them: calls of the library from compiled
code, on the CPU or a CUDA device, through ``jax.ffi``. ``python/src/jax`` has the other side of each call. A sentence
without a tree has log Z = -inf, marginals 0 and gradient 0; what else has no answer is NaN, with a gradient of NaN, or
has heads of -1. So has a sentence whose number of words cannot be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _taproot
from ._distribution import Algorithm, DependencyTrees, Root, WithoutReplacementAlgorithm

Array = Any


class Kind(NamedTuple):
    """What trees a distribution is over."""

    root: Root
    projective: bool


# The shape of one sentence's result, and its dtype.
Result = tuple[tuple[int, ...], Any]


def _register() -> None:
    platforms = _taproot.jax_handlers()
    if not platforms:
        raise ImportError(
            "this build of taproot has no JAX, because jaxlib was not there when it was built: install jaxlib, and "
            "then build taproot again with pip install --no-build-isolation"
        )
    for platform, handlers in platforms.items():
        for name, stages in handlers.items():
            try:
                jax.ffi.register_ffi_target(name, stages, platform=platform)
            except Exception as error:
                raise ImportError(
                    "taproot was built for another version of jaxlib than the one that is installed: build taproot "
                    f"again with pip install --no-build-isolation ({error})"
                ) from error


_register()


def host_trees(scores: Any, words: Any, kind: Kind, on_error: Any = "status") -> DependencyTrees:
    """A flat batch in NumPy's arrays."""
    edges = np.asarray(scores)
    edges = edges if edges.dtype in (np.float32, np.float64) else edges.astype(np.float32)
    flat = edges.reshape((-1, *edges.shape[-2:]))
    return DependencyTrees(
        flat, np.asarray(words).reshape(-1), kind.root, projective=kind.projective, on_error=on_error, copy=False
    )


def _wide(array: Array) -> Array:
    """float32 and float64 are read as they are; float32 holds every number of the other types."""
    return array if array.dtype in (jnp.float32, jnp.float64) else array.astype(jnp.float32)


def _varying(results: Sequence[Array], operands: Sequence[Array]) -> list[Array]:
    """The results, which within ``shard_map`` differ between devices where any of the operands does.

    JAX does not find that out for foreign functions by itself, and it has renamed what this needs.
    """
    types = [jax.typeof(operand) for operand in operands]
    manual = [getattr(t, "manual_axis_type", None) for t in types]
    axes = {axis for t, m in zip(types, manual) for axis in (getattr(t, "vma", ()) if m is None else m.varying)}
    if not axes:
        return list(results)
    if hasattr(jax.lax, "pcast"):
        return [jax.lax.pcast(result, tuple(axes), to="varying") for result in results]
    return [jax.lax.pvary(result, tuple(axes)) for result in results]


def _call(
    name: str, results: Sequence[Result], scores: Array, words: Array, kind: Kind, *more: Array, **attributes: Any
) -> list[Array]:
    """The library's answers, with the axes of the batch in front; a result of dtype None has that of the scores.

    ``vmap`` adds axes to the batch of all operands.
    """
    own = _wide(scores)
    operands = (own, jnp.asarray(words, jnp.int32), *more)
    batch = own.shape[:-2]
    shapes = [jax.ShapeDtypeStruct((*batch, *shape), own.dtype if dtype is None else dtype) for shape, dtype in results]
    call = jax.ffi.ffi_call(f"taproot_{name}", shapes, vmap_method="broadcast_all")
    found = _varying(call(*operands, multi=kind.root == "multi", projective=kind.projective, **attributes), operands)
    return [a.astype(scores.dtype) if dtype is None else a for a, (_, dtype) in zip(found, results)]


def _edges(scores: Array) -> Result:
    return tuple(scores.shape[-2:]), None


_NUMBER: Result = ((), None)
_OUTCOME: Result = ((3,), jnp.int32)  # A status, which is 0 if all is well; for a bad score also the cell.
_NO_TREE = 1


def _times(grad: Array, slope: Array) -> Array:
    """One number per sentence times a matrix per sentence; 0 where the sentence does not count, whatever its matrix."""
    factor = grad[..., None, None]
    return jnp.where(factor != 0, factor * slope, jnp.zeros((), slope.dtype))


def _times_known(grad: Array, slope: Array, out: Array) -> Array:
    """The same, but NaN where the value is and the sentence counts."""
    lost = jnp.isnan(out) & (grad != 0)
    return jnp.where(lost[..., None, None], jnp.nan, _times(grad, slope))


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def hessian_product(scores: Array, vector: Array, words: Array, kind: Kind) -> Array:
    """The Hessian of log Z times a vector; 0 if the vector is, whether the sentence has an answer or not."""
    along = _wide(vector)
    found = _call("hessian_product", [_edges(scores)], scores, words, kind, along)[0]
    counts = (vector != 0).any((-2, -1))
    return jnp.where(counts[..., None, None], found, jnp.zeros((), found.dtype))


def _hessian_product_forward(scores: Array, vector: Array, words: Array, kind: Kind) -> Any:
    return hessian_product(scores, vector, words, kind), None


def _one_more(*_: Any) -> Any:
    raise NotImplementedError(
        "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
        "this asks for one more"
    )


hessian_product.defvjp(_hessian_product_forward, _one_more)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def marginals(scores: Array, words: Array, kind: Kind) -> Array:
    return _call("marginals", [_edges(scores)], scores, words, kind)[0]


def _marginals_forward(scores: Array, words: Array, kind: Kind) -> Any:
    return marginals(scores, words, kind), (scores, words)


def _marginals_backward(kind: Kind, saved: Any, grad: Array) -> Any:
    scores, words = saved
    return hessian_product(scores, grad, words, kind), None


marginals.defvjp(_marginals_forward, _marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def root_marginals(scores: Array, words: Array, kind: Kind) -> Array:
    of_words: Result = ((scores.shape[-1] - 1,), None)
    found, outcomes = _call("root_marginals", [of_words, _OUTCOME], scores, words, kind)
    lost = outcomes[..., :1] > _NO_TREE  # The numbers of a sentence without a tree are 0, and so they stay.
    return jnp.where(lost, jnp.nan, found)


def _root_marginals_forward(scores: Array, words: Array, kind: Kind) -> Any:
    return root_marginals(scores, words, kind), (scores, words)


def _root_marginals_backward(kind: Kind, saved: Any, grad: Array) -> Any:
    scores, words = saved
    of_edges = jnp.zeros_like(scores).at[..., 0, 1:].set(grad.astype(scores.dtype))
    return hessian_product(scores, of_edges, words, kind), None


root_marginals.defvjp(_root_marginals_forward, _root_marginals_backward)


# A function whose gradient is wanted finds it on the way forward, in one call with the value, and going back is one
# product. That call is an operator of its own, so that the product can be differentiated once more.


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _log_partition_and_marginals(scores: Array, words: Array, kind: Kind) -> Any:
    return tuple(_call("log_partition_and_marginals", [_NUMBER, _edges(scores)], scores, words, kind))


def _log_partition_and_marginals_forward(scores: Array, words: Array, kind: Kind) -> Any:
    log_z, p = _log_partition_and_marginals(scores, words, kind)
    return (log_z, p), (scores, words, p)


def _log_partition_and_marginals_backward(kind: Kind, saved: Any, grads: Any) -> Any:
    scores, words, p = saved
    of_log_z, of_p = grads
    return _times(of_log_z, p) + hessian_product(scores, of_p, words, kind), None


_log_partition_and_marginals.defvjp(_log_partition_and_marginals_forward, _log_partition_and_marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def log_partition(scores: Array, words: Array, kind: Kind) -> Array:
    return _call("log_partition", [_NUMBER], scores, words, kind)[0]


def _log_partition_forward(scores: Array, words: Array, kind: Kind) -> Any:
    return _log_partition_and_marginals(scores, words, kind)


def _log_partition_backward(kind: Kind, p: Array, grad: Array) -> Any:
    return _times(grad, p), None


log_partition.defvjp(_log_partition_forward, _log_partition_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _entropy_and_product(scores: Array, words: Array, kind: Kind) -> Any:
    """The entropy, and the Hessian of log Z times the scores, which is minus its gradient."""
    return tuple(_call("entropy_and_product", [_NUMBER, _edges(scores)], scores, words, kind))


_entropy_and_product.defvjp(lambda scores, words, kind: (_entropy_and_product(scores, words, kind), None), _one_more)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def entropy(scores: Array, words: Array, kind: Kind) -> Array:
    return _call("entropy", [_NUMBER], scores, words, kind)[0]


def _entropy_forward(scores: Array, words: Array, kind: Kind) -> Any:
    out, product = _entropy_and_product(scores, words, kind)
    return out, (out, product)


def _entropy_backward(kind: Kind, saved: Any, grad: Array) -> Any:
    out, product = saved
    return _times_known(-grad, product, out), None


entropy.defvjp(_entropy_forward, _entropy_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def divergence(scores: Array, other: Array, words: Array, kind: Kind, kind_of_q: Kind, relative: bool) -> Array:
    """The cross-entropy of q relative to p or, if `relative`, the divergence of q from p."""
    name = "kl_divergence" if relative else "cross_entropy"
    of_q = other.astype(_wide(scores).dtype)
    return _call(name, [_NUMBER], scores, words, kind, of_q, other_projective=kind_of_q.projective)[0]


def _divergence_forward(scores: Array, other: Array, words: Array, kind: Kind, kind_of_q: Kind, relative: bool) -> Any:
    out = divergence(scores, other, words, kind, kind_of_q, relative)
    return out, (scores, other, words, out)


def _divergence_backward(kind: Kind, kind_of_q: Kind, relative: bool, saved: Any, grad: Array) -> Any:
    scores, other, words, out = saved
    vector = other - scores if relative else other
    of_scores = _times_known(-grad, hessian_product(scores, vector, words, kind), out)
    of_other = _times_known(grad, marginals(other, words, kind_of_q) - marginals(scores, words, kind), out)
    return of_scores, of_other, None


divergence.defvjp(_divergence_forward, _divergence_backward)


def _readable(heads: Array, words: Array) -> Array:
    """Trees (..., K, N) with -1 for all heads of a tree of which one cannot be: the library has NaN for that."""
    last = jnp.asarray(words)[..., None, None]
    real = jnp.arange(1, heads.shape[-1] + 1) <= last
    wrong = (((heads < 0) | (heads > last)) & real).any(-1, keepdims=True)
    return jnp.where(wrong, -1, heads).astype(jnp.int32)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _log_prob_and_marginals(scores: Array, heads: Array, words: Array, kind: Kind) -> Any:
    results = [((heads.shape[-2],), None), _edges(scores)]
    return tuple(_call("log_prob_and_marginals", results, scores, words, kind, _readable(heads, words)))


def _log_prob_and_marginals_forward(scores: Array, heads: Array, words: Array, kind: Kind) -> Any:
    out, p = _log_prob_and_marginals(scores, heads, words, kind)
    return (out, p), (scores, heads, words, out, p)


def _log_prob_and_marginals_backward(kind: Kind, saved: Any, grads: Any) -> Any:
    scores, heads, words, out, p = saved
    of_out, of_p = grads
    slope = _log_prob_backward(kind, (heads, words, out, p), of_out)[0]
    return slope + hessian_product(scores, of_p, words, kind), None, None


_log_prob_and_marginals.defvjp(_log_prob_and_marginals_forward, _log_prob_and_marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def log_prob(scores: Array, heads: Array, words: Array, kind: Kind) -> Array:
    """Of K trees per sentence, heads (..., K, N), shape (..., K); NaN for heads that cannot be."""
    return _call("log_prob", [((heads.shape[-2],), None)], scores, words, kind, _readable(heads, words))[0]


def _log_prob_forward(scores: Array, heads: Array, words: Array, kind: Kind) -> Any:
    out, p = _log_prob_and_marginals(scores, heads, words, kind)
    return out, (heads, words, out, p)


def _log_prob_backward(kind: Kind, saved: Any, grad: Array) -> Any:
    """Edges less marginals; 0 for heads that are not a tree, NaN where the value is."""
    heads, words, out, p = saved
    side = p.shape[-1]
    of_trees = jnp.where(jnp.isfinite(out), grad, 0)
    real = jnp.arange(1, side) <= jnp.asarray(words)[..., None]
    has = (heads[..., None, :] == jnp.arange(side)[:, None]) & real[..., None, None, :]
    edges = jnp.where(has, of_trees[..., None, None], 0).sum(-3)
    edges = jnp.pad(edges, [(0, 0)] * (edges.ndim - 1) + [(1, 0)])
    slope = edges - _times(of_trees.sum(-1), p)
    lost = (jnp.isnan(out) & (grad != 0)).any(-1)
    return jnp.where(lost[..., None, None], jnp.nan, slope).astype(p.dtype), None, None


log_prob.defvjp(_log_prob_forward, _log_prob_backward)


# What has no gradient. `labels` (..., N+1, N+1, L) are None where there are none.


def numbers(name: str, scores: Array, words: Array, kind: Kind) -> Array:
    """expected_tries or expected_steps, shape (...)."""
    return _call(name, [_NUMBER], *_constants(scores), words, kind)[0]


def _constants(*arrays: Array | None) -> list[Array]:
    """Those that are there, without a gradient: what is found has none, and says so by being 0."""
    return [jax.lax.stop_gradient(a) for a in arrays if a is not None]


def _results_of_trees(scores: Array, labels: Array | None, *leading: int) -> list[Result]:
    shape = (*leading, scores.shape[-1] - 1)
    return [(shape, jnp.int32)] * (1 if labels is None else 2)


def decode(name: str, scores: Array, labels: Array | None, words: Array, kind: Kind) -> Any:
    """argmax or mbr: [heads], or [heads, labels], each (..., N)."""
    own, *of_labels = _constants(scores, labels)
    if not of_labels:
        return _call(name, _results_of_trees(scores, labels), own, words, kind)
    on_cpu, on_device = labeled_decoders(name, kind)
    given = (_wide(own), _wide(of_labels[0]), jnp.asarray(words, jnp.int32))
    return jax.lax.platform_dependent(*given, cpu=on_cpu, cuda=on_device)


@cache  # JAX compiles a function once, if it is the same one.
def labeled_decoders(name: str, kind: Kind) -> tuple[Any, Any]:
    """Functions of scores, label scores and words that give (heads, labels): the library's, for the CPU, and one for
    devices, where the library knows no labels. That one adds label scores in their own precision."""

    def on_cpu(scores: Array, labels: Array, words: Array) -> Any:
        return tuple(_call(name, _results_of_trees(scores, labels), scores, words, kind, labels))

    def on_device(scores: Array, labels: Array, words: Array) -> Any:
        of_edges = labels.max(-1) if name == "argmax" else jax.nn.logsumexp(labels, axis=-1)
        heads = _call(name, _results_of_trees(scores, None), scores + of_edges, words, kind)[0]
        best = jnp.argmax(labels, axis=-1)[..., 1:].astype(jnp.int32)
        of_words = jnp.take_along_axis(best, jnp.maximum(heads, 0)[..., None, :], axis=-2)[..., 0, :]
        return heads, jnp.where(heads < 0, -1, of_words)

    return on_cpu, on_device


def kbest(k: int, scores: Array, labels: Array | None, words: Array, kind: Kind) -> Any:
    """[heads, labels if there are any, score, counts]: (..., k, N), (..., k) and (...)."""
    own, *of_labels = _constants(scores, labels)
    results: list[Result] = [*_results_of_trees(scores, labels, k), ((k,), None), ((), jnp.int32)]
    return _call("kbest", results, own, words, kind, *map(_wide, of_labels))


def _by_key(
    name: str,
    results: list[Result],
    key: Array,
    algorithm: str,
    scores: Array,
    labels: Array | None,
    words: Array,
    kind: Kind,
) -> Any:
    """A question with a seed, from two words of a key.

    Under ``vmap`` there are several calls in one, each with a key of its own. Their trees must be those that each call
    has by itself, so the library has to know how many axes of the batch are one call's.
    """
    own, *of_labels = _constants(scores, labels)
    batch = scores.shape[:-2]
    keys = jnp.broadcast_to(key.reshape(-1)[-2:], (*batch, 2)).astype(jnp.uint32)
    more = (keys, *map(_wide, of_labels))
    given = dict(axes=np.int32(len(batch)), algorithm=algorithm, labeled=labels is not None)
    return _call(name, results, own, words, kind, *more, **given)


def sample(
    k: int, key: Array, algorithm: Algorithm, scores: Array, labels: Array | None, words: Array, kind: Kind
) -> Any:
    """[heads], or [heads, labels], each (..., k, N)."""
    results = _results_of_trees(scores, labels, k)
    return _by_key("sample", results, key, algorithm, scores, labels, words, kind)


def sample_without_replacement(
    k: int,
    key: Array,
    algorithm: WithoutReplacementAlgorithm,
    scores: Array,
    labels: Array | None,
    words: Array,
    kind: Kind,
) -> Any:
    """[heads, labels if there are any, log_prob, gumbel, weights, kappa, exhausted, counts]."""
    results: list[Result] = [*_results_of_trees(scores, labels, k), ((k,), None), ((k,), None), ((k,), None)]
    results += [_NUMBER, ((), jnp.int32), ((), jnp.int32)]
    found = _by_key("sample_without_replacement", results, key, algorithm, scores, labels, words, kind)
    *trees, log_prob, gumbel, weights, kappa, exhausted, counts = found
    # A device does not write the numbers of trees that are not there, and leaves it to kappa whether these are all.
    there = jnp.arange(k) < counts[..., None]
    log_prob, gumbel = (jnp.where(there, a, -jnp.inf) for a in (log_prob, gumbel))
    all_trees = jnp.where(exhausted < 0, kappa == -jnp.inf, exhausted > 0)
    return [*trees, log_prob, gumbel, jnp.where(there, weights, 0), kappa, all_trees, counts]
