# SPDX-License-Identifier: Apache-2.0
"""The operators of ``taproot.jax``: functions of scores (..., N+1, N+1), with ROOT first, and numbers of words (...).

The surface (``jax.py``) knows these functions and nothing of what is behind them, which is a callback to the host. A
sentence without an answer has NaN for values and gradients, or heads of -1; and so has one whose number of words cannot
be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._distribution import Algorithm, DependencyTrees, Root, WithoutReplacementAlgorithm

Array = Any
# The shape of one sentence's result, and its dtype.
Result = tuple[tuple[int, ...], Any]


def host_trees(scores: Any, labels: Any, words: Any, root: Root, on_error: Any = "status") -> DependencyTrees:
    """A flat batch on the host."""
    arrays = [None if a is None else _readable(np.asarray(a)) for a in (scores, labels)]
    edges, of_labels = arrays[0], arrays[1]
    assert edges is not None
    n = np.asarray(words).reshape(-1)
    n = np.where((n < 0) | (n >= edges.shape[-1]), 0, n)  # A length that cannot be has no answer, as an empty sentence.
    return DependencyTrees(
        edges.reshape((-1, *edges.shape[-2:])),
        n,
        root,
        label_scores=None if of_labels is None else of_labels.reshape((-1, *of_labels.shape[-3:])),
        on_error=on_error,
        copy=False,
    )


def _readable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)  # bfloat16 fits.


def _call(function: Callable[..., Any], results: Sequence[Result], *arguments: Array | None) -> Any:
    """function(*NumPy arrays) on the host, which gives a list of arrays with the axes of the batch in front.

    The first argument is a matrix per sentence; ``vmap`` adds axes to the batch of all arguments.
    """

    def on_host(*arrays: Any) -> Any:
        batch = np.shape(arrays[0])[:-2]
        given = iter(arrays)
        found = function(*[None if a is None else np.asarray(next(given)) for a in arguments])
        return [np.asarray(f).reshape(batch + shape).astype(dtype) for f, (shape, dtype) in zip(found, results)]

    first = arguments[0]
    assert first is not None
    batch = first.shape[:-2]
    shapes = [jax.ShapeDtypeStruct((*batch, *shape), dtype) for shape, dtype in results]
    return jax.pure_callback(on_host, shapes, *[a for a in arguments if a is not None], vmap_method="broadcast_all")


def _ask(name: str, shape: tuple[int, ...], scores: Array, words: Array, root: Root) -> Array:
    """One of the questions of DependencyTrees without arguments."""
    question = lambda s, n: [getattr(host_trees(s, None, n, root), name)()]
    return _call(question, [(shape, scores.dtype)], scores, words)[0]


def _times(grad: Array, slope: Array, out: Array) -> Array:
    """One number per sentence times a matrix per sentence.

    NaN where the answer is, and 0 where the sentence does not count, whether it has an answer or not.
    """
    counts = grad != 0
    known = jnp.where(counts[..., None, None], grad[..., None, None] * slope, jnp.zeros((), slope.dtype))
    return jnp.where((counts & jnp.isnan(out))[..., None, None], jnp.nan, known)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def hessian_product(scores: Array, vector: Array, words: Array, root: Root) -> Array:
    """The Hessian of log Z times a vector; 0 if the vector is, whether the sentence has an answer or not."""

    def on_host(s: Any, v: Any, n: Any) -> Any:
        direction = np.asarray(v, np.float64).reshape((-1, *v.shape[-2:]))
        found = host_trees(s, None, n, root)._hessian_product(np.ascontiguousarray(direction))
        found[~direction.any((1, 2))] = 0.0
        return [found]

    return _call(on_host, [(scores.shape[-2:], scores.dtype)], scores, vector, words)[0]


def _hessian_product_forward(scores: Array, vector: Array, words: Array, root: Root) -> Any:
    return hessian_product(scores, vector, words, root), None


def _hessian_product_backward(root: Root, saved: Any, grad: Array) -> Any:
    raise NotImplementedError(
        "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
        "this asks for one more"
    )


hessian_product.defvjp(_hessian_product_forward, _hessian_product_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def marginals(scores: Array, words: Array, root: Root) -> Array:
    return _ask("marginals", scores.shape[-2:], scores, words, root)


def _marginals_forward(scores: Array, words: Array, root: Root) -> Any:
    return marginals(scores, words, root), (scores, words)


def _marginals_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, words = saved
    return hessian_product(scores, grad, words, root), None


marginals.defvjp(_marginals_forward, _marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def root_marginals(scores: Array, words: Array, root: Root) -> Array:
    return _ask("root_marginals", (scores.shape[-1] - 1,), scores, words, root)


def _root_marginals_forward(scores: Array, words: Array, root: Root) -> Any:
    return root_marginals(scores, words, root), (scores, words)


def _root_marginals_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, words = saved
    of_edges = jnp.zeros_like(scores).at[..., 0, 1:].set(grad.astype(scores.dtype))
    return hessian_product(scores, of_edges, words, root), None


root_marginals.defvjp(_root_marginals_forward, _root_marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def log_partition(scores: Array, words: Array, root: Root) -> Array:
    return _ask("log_partition", (), scores, words, root)


def _log_partition_forward(scores: Array, words: Array, root: Root) -> Any:
    out = log_partition(scores, words, root)
    return out, (scores, words, out)


def _log_partition_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, words, out = saved
    return _times(grad, marginals(scores, words, root), out), None


log_partition.defvjp(_log_partition_forward, _log_partition_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def entropy(scores: Array, words: Array, root: Root) -> Array:
    return _ask("entropy", (), scores, words, root)


def _entropy_forward(scores: Array, words: Array, root: Root) -> Any:
    out = entropy(scores, words, root)
    return out, (scores, words, out)


def _entropy_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, words, out = saved
    return _times(-grad, hessian_product(scores, scores, words, root), out), None


entropy.defvjp(_entropy_forward, _entropy_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def divergence(scores: Array, other: Array, words: Array, root: Root, relative: bool) -> Array:
    """The cross-entropy of q relative to p or, if `relative`, the divergence of q from p."""

    def on_host(s: Any, o: Any, n: Any) -> Any:
        p, q = host_trees(s, None, n, root), host_trees(o, None, n, root)
        return [p.kl_divergence(q) if relative else p.cross_entropy(q)]

    return _call(on_host, [((), scores.dtype)], scores, other, words)[0]


def _divergence_forward(scores: Array, other: Array, words: Array, root: Root, relative: bool) -> Any:
    out = divergence(scores, other, words, root, relative)
    return out, (scores, other, words, out)


def _divergence_backward(root: Root, relative: bool, saved: Any, grad: Array) -> Any:
    scores, other, words, out = saved
    vector = other - scores if relative else other
    of_scores = _times(-grad, hessian_product(scores, vector, words, root), out)
    of_other = _times(grad, marginals(other, words, root) - marginals(scores, words, root), out)
    return of_scores, of_other, None


divergence.defvjp(_divergence_forward, _divergence_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def log_prob(scores: Array, heads: Array, words: Array, root: Root) -> Array:
    """Of K trees per sentence, heads (..., K, N), shape (..., K); NaN for heads that cannot be."""

    def on_host(s: Any, h: Any, n: Any) -> Any:
        trees = np.moveaxis(h.reshape((-1, *h.shape[-2:])), 1, 0)
        last = n.reshape(-1, 1)
        real = np.arange(1, trees.shape[-1] + 1) <= last
        wrong = ((trees < 0) | (trees > last)) & real
        found = host_trees(s, None, n, root).log_prob(np.where(wrong, 0, trees))
        return [np.moveaxis(np.where(wrong.any(-1), np.nan, found), 0, 1)]

    return _call(on_host, [((heads.shape[-2],), scores.dtype)], scores, heads, words)[0]


def _log_prob_forward(scores: Array, heads: Array, words: Array, root: Root) -> Any:
    out = log_prob(scores, heads, words, root)
    return out, (scores, heads, words, out)


def _log_prob_backward(root: Root, saved: Any, grad: Array) -> Any:
    """Edges less marginals; 0 for heads that are not a tree, NaN where the value is."""
    scores, heads, words, out = saved
    side = scores.shape[-1]
    of_trees = jnp.where(jnp.isfinite(out), grad, 0)
    real = jnp.arange(1, side) <= words[..., None]
    has = (heads[..., None, :] == jnp.arange(side)[:, None]) & real[..., None, None, :]
    edges = jnp.where(has, of_trees[..., None, None], 0).sum(-3)
    edges = jnp.pad(edges, [(0, 0)] * (edges.ndim - 1) + [(1, 0)])
    total = of_trees.sum(-1)
    slope = edges - _times(total, marginals(scores, words, root), total)
    lost = (jnp.isnan(out) & (grad != 0)).any(-1)
    return jnp.where(lost[..., None, None], jnp.nan, slope).astype(scores.dtype), None, None


log_prob.defvjp(_log_prob_forward, _log_prob_backward)


# What has no gradient. `labels` (..., N+1, N+1, L) are None where there are none.


def numbers(name: str, scores: Array, words: Array, root: Root) -> Array:
    """expected_tries or expected_steps, shape (...)."""
    return _ask(name, (), scores, words, root)


def _results_of_trees(scores: Array, labels: Array | None, *leading: int) -> list[Result]:
    shape = (*leading, scores.shape[-1] - 1)
    return [(shape, jnp.int32)] * (1 if labels is None else 2)


def decode(name: str, scores: Array, labels: Array | None, words: Array, root: Root) -> Any:
    """argmax or mbr: [heads], or [heads, labels], each (..., N)."""

    def on_host(s: Any, l: Any, n: Any) -> Any:
        found = getattr(host_trees(s, l, n, root), name)()
        return [found] if l is None else found

    return _call(on_host, _results_of_trees(scores, labels), scores, labels, words)


def _rows(array: Any, k: int, filler: Any) -> Any:
    """[k' <= k, B, ...] as [B, k, ...]."""
    out = np.full((array.shape[1], k, *array.shape[2:]), filler, array.dtype)
    out[:, : len(array)] = np.moveaxis(array, 0, 1)
    return out


def kbest(k: int, scores: Array, labels: Array | None, words: Array, root: Root) -> Any:
    """[heads, labels if there are any, score, counts]: (..., k, N), (..., k) and (...)."""

    def on_host(s: Any, l: Any, n: Any) -> Any:
        best = host_trees(s, l, n, root).kbest(k)
        trees = [best.heads] if best.labels is None else [best.heads, best.labels]
        return [*(_rows(a, k, -1) for a in trees), _rows(best.score, k, -np.inf), best.counts]

    results = [*_results_of_trees(scores, labels, k), ((k,), scores.dtype), ((), jnp.int32)]
    return _call(on_host, results, scores, labels, words)


def _by_key(
    question: Callable[..., list[Any]],
    results: list[Result],
    key: Array,
    scores: Array,
    labels: Array | None,
    words: Array,
) -> Any:
    """question(seed, scores, labels, words) on the host, with a seed from two words of a key.

    Under ``vmap`` there are several calls in one, each with a key of its own. Their trees must be those that each call
    has by itself.
    """
    call = scores.shape[:-2]
    keys = jnp.broadcast_to(key.reshape(-1)[-2:], (*call, 2)).astype(jnp.uint32)

    def on_host(s: Any, l: Any, n: Any, of_keys: Any) -> Any:
        if s.size == 0:
            return [np.zeros((*s.shape[:-2], *shape)) for shape, _ in results]
        calls = int(np.prod(s.shape[: s.ndim - 2 - len(call)]))
        split = [None if a is None else a.reshape((calls, *call, *a.shape[n.ndim :])) for a in (s, l, n, of_keys)]
        found = []
        for c in range(calls):
            own = [None if a is None else a[c] for a in split]
            high, low = (int(word) for word in own[3].reshape(-1)[:2])  # type: ignore[union-attr]
            found.append(question(high << 32 | low, *own[:3]))
        return [np.stack(arrays) for arrays in zip(*found)]

    return _call(on_host, results, scores, labels, words, keys)


def sample(
    k: int, key: Array, algorithm: Algorithm, scores: Array, labels: Array | None, words: Array, root: Root
) -> Any:
    """[heads], or [heads, labels], each (..., k, N)."""

    def question(seed: int, s: Any, l: Any, n: Any) -> list[Any]:
        found = host_trees(s, l, n, root).sample(k, seed, algorithm)
        return [_rows(np.asarray(a), k, -1) for a in ([found] if l is None else found)]

    return _by_key(question, _results_of_trees(scores, labels, k), key, scores, labels, words)


def sample_without_replacement(
    k: int,
    key: Array,
    algorithm: WithoutReplacementAlgorithm,
    scores: Array,
    labels: Array | None,
    words: Array,
    root: Root,
) -> Any:
    """[heads, labels if there are any, log_prob, gumbel, weights, kappa, exhausted, counts]."""

    def question(seed: int, s: Any, l: Any, n: Any) -> list[Any]:
        found = host_trees(s, l, n, root).sample_without_replacement(k, seed, algorithm)
        trees = [found.heads] if found.labels is None else [found.heads, found.labels]
        rows = [_rows(a, k, -1) for a in trees]
        rows += [_rows(a, k, f) for a, f in ((found.log_prob, -np.inf), (found.gumbel, -np.inf), (found.weights, 0))]
        return [*rows, found.kappa, found.exhausted, found.counts]

    dtype = scores.dtype
    results: list[Result] = [*_results_of_trees(scores, labels, k), ((k,), dtype), ((k,), dtype), ((k,), dtype)]
    results += [((), dtype), ((), jnp.bool_), ((), jnp.int32)]
    return _by_key(question, results, key, scores, labels, words)
