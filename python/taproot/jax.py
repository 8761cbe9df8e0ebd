# SPDX-License-Identifier: Apache-2.0
"""Taproot for JAX: functions of scores that work under ``jit``, ``vmap`` and ``grad``.

Scores are arrays of shape (..., N+1, N+1), float32 or float64; ``lengths`` has shape (...). The work is done on the
host, in float64 and exactly; results have the scores' dtype. Gradients (reverse mode) are exact too: that of
``log_partition`` is ``marginals``, whose own is a covariance. A sentence without an answer gives NaN, since an
exception cannot leave compiled code in good order; heads of it are -1.

Reverse mode only: a Hessian is ``jacrev(jacrev(f))``. On a machine with a single core JAX may hang in any
callback: there, ``jax.config.update("jax_cpu_enable_async_dispatch", False)`` first.

>>> import jax, jax.numpy as jnp, taproot.jax
>>> jax.grad(taproot.jax.log_partition)(jnp.zeros((4, 4)))[0].round(4).tolist()
[0.0, 0.333299994468689, 0.333299994468689, 0.333299994468689]
"""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ._distribution import Algorithm, DependencyTrees, Root

__all__ = [
    "argmax",
    "cross_entropy",
    "entropy",
    "expectation",
    "kl_divergence",
    "log_partition",
    "log_prob",
    "marginals",
    "sample",
]

Array = Any


def _lengths(scores: Array, lengths: Array | None) -> Array:
    """Lengths as an array of the batch's shape; the full one where there are none."""
    shape = jnp.shape(scores)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(f"scores must have shape (..., N+1, N+1), not {shape}")
    if lengths is None:
        return jnp.full(shape[:-2], shape[-1] - 1, jnp.int32)
    found = jnp.asarray(lengths)
    if not jnp.issubdtype(found.dtype, jnp.integer):
        raise ValueError(f"lengths must be integers, not {found.dtype}")
    return jnp.broadcast_to(found.astype(jnp.int32), shape[:-2])


def _root(root: Root) -> Root:
    if root != "single" and root != "multi":
        raise ValueError(f'root must be "single" or "multi", not {root!r}')
    return root


def _floats(scores: Array) -> Array:
    array = jnp.asarray(scores)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(jnp.float32)


def _trees(scores: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], root: Root) -> DependencyTrees:
    array = np.asarray(scores)
    if array.dtype not in (np.float32, np.float64):  # bfloat16: float32 holds every one of them.
        array = array.astype(np.float32)
    flat = array.reshape((-1, *array.shape[-2:]))
    n = np.asarray(lengths).reshape(-1)
    n = np.where((n < 0) | (n >= array.shape[-1]), 0, n)  # A length that cannot be has no answer, as an empty sentence.
    return DependencyTrees(flat, n, root, on_error="status", copy=False)


def _call(function: Any, shape: Any, dtype: Any, *arguments: Array) -> Array:
    """function(*NumPy arrays) on the host; all arguments have the batch's axes in front, and so has the result."""

    def on_host(*arrays: Any) -> Any:
        found = function(*[np.asarray(a) for a in arrays])
        batch = np.shape(arrays[0])[:-2]
        return np.asarray(found).reshape(batch + event).astype(dtype)

    batch = jnp.shape(arguments[0])[:-2]
    event = tuple(shape[len(batch) :])
    result = jax.ShapeDtypeStruct(tuple(shape), dtype)
    return jax.pure_callback(on_host, result, *arguments, vmap_method="broadcast_all")


def _call_marginals(scores: Array, lengths: Array, root: Root) -> Array:
    return _call(lambda s, n: _trees(s, n, root).marginals(), scores.shape, scores.dtype, scores, lengths)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _hessian_product(scores: Array, vector: Array, lengths: Array, root: Root) -> Array:
    def on_host(s: Any, v: Any, n: Any) -> Any:
        trees = _trees(s, n, root)
        direction = np.asarray(v, np.float64).reshape((-1, *v.shape[-2:]))
        found = trees._hessian_product(np.ascontiguousarray(direction))
        found[~direction.any((1, 2))] = 0.0  # A sentence that does not count may well have no answer.
        return found

    return _call(on_host, scores.shape, scores.dtype, scores, vector, lengths)


def _hessian_product_forward(scores: Array, vector: Array, lengths: Array, root: Root) -> Any:
    return _hessian_product(scores, vector, lengths, root), None


def _hessian_product_backward(root: Root, saved: Any, grad: Array) -> Any:
    raise NotImplementedError(
        "log_partition and log_prob can be differentiated twice, marginals, entropy and the divergences once: "
        "this asks for one more"
    )


_hessian_product.defvjp(_hessian_product_forward, _hessian_product_backward)


def _times(grad: Array, slope: Array) -> Array:
    """One number a sentence times a matrix a sentence; 0 where the sentence does not count, answer or not."""
    spread = grad[..., None, None]
    return jnp.where(spread == 0, jnp.zeros((), slope.dtype), spread * slope)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _marginals(scores: Array, lengths: Array, root: Root) -> Array:
    return _call_marginals(scores, lengths, root)


def _marginals_forward(scores: Array, lengths: Array, root: Root) -> Any:
    return _call_marginals(scores, lengths, root), (scores, lengths)


def _marginals_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, lengths = saved
    return _hessian_product(scores, grad, lengths, root), None


_marginals.defvjp(_marginals_forward, _marginals_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _log_partition(scores: Array, lengths: Array, root: Root) -> Array:
    return _call(lambda s, n: _trees(s, n, root).log_partition(), scores.shape[:-2], scores.dtype, scores, lengths)


def _log_partition_forward(scores: Array, lengths: Array, root: Root) -> Any:
    return _log_partition(scores, lengths, root), (scores, lengths)


def _log_partition_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, lengths = saved
    return _times(grad, _marginals(scores, lengths, root)), None


_log_partition.defvjp(_log_partition_forward, _log_partition_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _entropy(scores: Array, lengths: Array, root: Root) -> Array:
    return _call(lambda s, n: _trees(s, n, root).entropy(), scores.shape[:-2], scores.dtype, scores, lengths)


def _entropy_forward(scores: Array, lengths: Array, root: Root) -> Any:
    return _entropy(scores, lengths, root), (scores, lengths)


def _entropy_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, lengths = saved
    return _times(-grad, _hessian_product(scores, scores, lengths, root)), None


_entropy.defvjp(_entropy_forward, _entropy_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _divergence(scores: Array, other: Array, lengths: Array, root: Root, relative: bool) -> Array:
    """The cross-entropy of q relative to p or, if `relative`, the divergence of q from p."""

    def on_host(s: Any, o: Any, n: Any) -> Any:
        p, q = _trees(s, n, root), _trees(o, n, root)
        return p.kl_divergence(q) if relative else p.cross_entropy(q)

    return _call(on_host, scores.shape[:-2], scores.dtype, scores, other, lengths)


def _divergence_forward(scores: Array, other: Array, lengths: Array, root: Root, relative: bool) -> Any:
    return _divergence(scores, other, lengths, root, relative), (scores, other, lengths)


def _divergence_backward(root: Root, relative: bool, saved: Any, grad: Array) -> Any:
    scores, other, lengths = saved
    vector = other - scores if relative else other
    of_scores = _times(-grad, _hessian_product(scores, vector, lengths, root))
    of_other = _times(grad, _marginals(other, lengths, root) - _marginals(scores, lengths, root))
    return of_scores, of_other, None


_divergence.defvjp(_divergence_forward, _divergence_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _log_prob(scores: Array, heads: Array, lengths: Array, root: Root) -> Array:
    def on_host(s: Any, h: Any, n: Any) -> Any:
        heads_ = h.reshape(-1, h.shape[-1])
        wrong = ((heads_ < 0) | (heads_ > n.reshape(-1, 1))) & (np.arange(1, h.shape[-1] + 1) <= n.reshape(-1, 1))
        found = _trees(s, n, root).log_prob(np.where(wrong, 0, heads_))
        return np.where(wrong.any(-1), np.nan, found)  # A head that cannot be.

    return _call(on_host, scores.shape[:-2], scores.dtype, scores, heads, lengths)


def _log_prob_forward(scores: Array, heads: Array, lengths: Array, root: Root) -> Any:
    out = _log_prob(scores, heads, lengths, root)
    return out, (scores, heads, lengths, out)


def _log_prob_backward(root: Root, saved: Any, grad: Array) -> Any:
    scores, heads, lengths, out = saved
    grad = jnp.where(out > -jnp.inf, grad, 0)
    head = jnp.arange(scores.shape[-1])[:, None]
    edges = jnp.pad((heads[..., None, :] == head).astype(scores.dtype), [(0, 0)] * (scores.ndim - 1) + [(1, 0)])
    return _times(grad, edges - _marginals(scores, lengths, root)), None, None


_log_prob.defvjp(_log_prob_forward, _log_prob_backward)


def log_partition(scores: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """log Z, shape (...). Its gradient is ``marginals``."""
    scores = _floats(scores)
    return _log_partition(scores, _lengths(scores, lengths), _root(root))


def marginals(scores: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """p(h -> m), shape (..., N+1, N+1)."""
    scores = _floats(scores)
    return _marginals(scores, _lengths(scores, lengths), _root(root))


def entropy(scores: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """-sum p log p in nats, shape (...)."""
    scores = _floats(scores)
    return _entropy(scores, _lengths(scores, lengths), _root(root))


def expectation(scores: Array, edge_values: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """E[sum of edge_values over a tree's edges], shape (...); values of edges that have no probability do not count."""
    p = marginals(scores, lengths, root)
    return jnp.where(p > 0, p * jnp.where(p > 0, edge_values, 0), 0).sum((-2, -1))


def log_prob(scores: Array, heads: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """log p of trees, heads of shape (..., N), one a sentence (``jax.vmap`` for more); -inf for what is no tree."""
    scores = _floats(scores)
    heads = jnp.asarray(heads)
    shape = (*scores.shape[:-2], scores.shape[-1] - 1)
    if heads.shape != shape:
        raise ValueError(f"heads must have shape {shape}, not {heads.shape}")
    return _log_prob(scores, heads.astype(jnp.int32), _lengths(scores, lengths), _root(root))


def cross_entropy(scores: Array, other: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """-sum p log q, shape (...), q of the scores ``other``."""
    return _compared(scores, other, lengths, root, relative=False)


def kl_divergence(scores: Array, other: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """sum p log(p/q), shape (...), q of the scores ``other``."""
    return _compared(scores, other, lengths, root, relative=True)


def _compared(scores: Array, other: Array, lengths: Array | None, root: Root, relative: bool) -> Array:
    scores, other = _floats(scores), _floats(other)
    if scores.shape != other.shape:
        raise ValueError(f"the two have shapes {scores.shape} and {other.shape}")
    return _divergence(scores, other, _lengths(scores, lengths), _root(root), relative)


def argmax(scores: Array, lengths: Array | None = None, root: Root = "single") -> Array:
    """The heads of the best tree, shape (..., N), int32, padding -1."""
    scores = _floats(scores)
    shape = (*scores.shape[:-2], scores.shape[-1] - 1)
    return _call(lambda s, n: _trees(s, n, root).argmax(), shape, jnp.int32, scores, _lengths(scores, lengths))


def _key_words(key: Array) -> Array:
    """The words of one key, new style or old."""
    if not hasattr(key, "dtype"):
        raise ValueError(f"key must be one of JAX's random keys, not {key!r}")
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.shape == ():
        return jax.random.key_data(key)
    if key.dtype == jnp.uint32 and key.ndim == 1 and key.shape[0] >= 2:
        return key
    raise ValueError(f"key must be one of JAX's random keys, not an array {key.dtype} of shape {key.shape}")


def sample(
    key: Array,
    scores: Array,
    k: int,
    lengths: Array | None = None,
    root: Root = "single",
    algorithm: Algorithm = "auto",
) -> Array:
    """k trees a sentence, heads of shape (k, ..., N), int32, padding -1; ``key`` is one of JAX's random keys.

    >>> import jax, jax.numpy as jnp, taproot.jax
    >>> taproot.jax.sample(jax.random.key(0), jnp.zeros((2, 4, 4)), 5).shape
    (5, 2, 3)
    """
    scores = _floats(scores)
    data = _key_words(key)
    if algorithm not in get_args(Algorithm):
        raise ValueError(f"algorithm must be one of {', '.join(get_args(Algorithm))}, not {algorithm!r}")
    _root(root)
    words = jnp.broadcast_to(data.reshape(-1)[-2:], (*scores.shape[:-2], 2)).astype(jnp.uint32)

    def on_host(s: Any, n: Any, seeds: Any) -> Any:
        # Under vmap there are several calls in one, each with its key: their draws must be those of the calls by
        # themselves.
        if s.size == 0:
            return np.empty((*s.shape[:-2], k, s.shape[-1] - 1), np.int32)
        of_calls = [a.reshape((-1, *call, *a.shape[a.ndim - axes :])) for a, axes in ((s, 2), (n, 0), (seeds, 1))]
        out = []
        for of_call, lengths_, words_ in zip(*of_calls):
            high, low = (int(word) for word in words_.reshape(-1)[:2])
            out.append(
                np.swapaxes(np.asarray(_trees(of_call, lengths_, root).sample(k, high << 32 | low, algorithm)), 0, 1)
            )
        return np.stack(out)

    call = scores.shape[:-2]
    shape = (*scores.shape[:-2], k, scores.shape[-1] - 1)
    drawn = _call(on_host, shape, jnp.int32, scores, _lengths(scores, lengths), words)
    return jnp.moveaxis(drawn, -2, 0)
