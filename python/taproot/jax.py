# SPDX-License-Identifier: Apache-2.0
"""Taproot for JAX: functions of scores that work under ``jit``, ``vmap`` and ``grad``, a loss, and a distribution.

Scores are arrays of shape (..., N+1, N+1), float32 or float64; ``lengths`` has shape (...). ``scores[..., h, m]`` is
the edge from head h to modifier m, and 0 is ROOT; ``layout="dependent-head"`` has them the other way round, and
``layout="dependent-head+root"`` also has an entry for ROOT in heads and lengths. Constraints and label scores are those
of ``taproot.DependencyTrees``; constraints need lengths that are not traced.

The work is done where the scores are, by functions that JAX's compiled code calls (``jax.ffi``): on the CPU exactly, in
float64; on a CUDA device in the scores' precision (labels are summed out in the scores' precision on both). Results
have the scores' dtype. Gradients (reverse mode) are exact too: that of ``log_partition`` is ``marginals``, whose own is
a covariance. A value and its gradient are found in one call. Everything works under ``shard_map`` over a batch. On a
device ``kbest``, ``expected_tries``, ``expected_steps``, ``projective_mass``, samples with labels and algorithms other
than ``"auto"`` and ``"beam"`` are errors when a program is compiled. Trees have no gradient, nor have the numbers that
come with them.

An exception cannot leave compiled code in good order. So a sentence without a tree has log Z = -inf, marginals 0 and
gradient 0; its entropy and other numbers that it does not have are NaN. A sentence with a score of NaN or +inf has NaN
for all of them, and where a value is NaN, its gradient is. Heads of sentences without an answer are -1. Arguments that
are not traced are checked: a length that is too large is an error, and NaN for that sentence alone under ``jit``.

Reverse mode only: a Hessian is ``jacrev(jacrev(f))``.

>>> import jax, jax.numpy as jnp, taproot.jax
>>> jax.grad(taproot.jax.log_partition)(jnp.zeros((4, 4)))[0].round(4).tolist()
[0.0, 0.333299994468689, 0.333299994468689, 0.333299994468689]
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np

from . import _jax_operators as operators
from ._arrays import as_count, as_integers, as_switch, filled_up, mask_hint
from ._constraints import allowed_edges
from ._distribution import Algorithm, Root, WithoutReplacementAlgorithm
from ._given import parts_of
from ._gold import check_gold, check_named_heads, check_root_is_counted, report_gold
from ._layouts import Arrangement, Layout, as_arrangement, check_square, check_tree_shape
from ._results import BestTrees, LabeledTrees
from ._tensors import WithoutReplacementSample

__all__ = [
    "BestTrees",
    "DependencyTrees",
    "LabeledTrees",
    "WithoutReplacementSample",
    "argmax",
    "cross_entropy",
    "entropy",
    "expectation",
    "kbest",
    "kl_divergence",
    "label_marginals",
    "log_partition",
    "log_prob",
    "marginals",
    "mbr",
    "nll",
    "root_marginals",
    "sample",
    "sample_without_replacement",
]

Array = Any
Reduction = Literal["mean", "words", "sum", "none"]


def _is_traced(*arrays: Any) -> bool:
    return any(isinstance(array, jax.core.Tracer) for array in arrays)


def _floats(scores: Array) -> Array:
    array = jnp.asarray(scores)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(jnp.float32)


def _words(lengths: Array | None, batch: tuple[int, ...], n: int, arrangement: Arrangement) -> Array:
    """Numbers of words, shape (...); checked where they are not traced, and then NumPy's."""
    if lengths is None:
        return np.full(batch, n, np.int32)
    hint = mask_hint(np.shape(lengths), batch)
    if hint:
        raise ValueError(f"lengths must have shape {batch}, one per sentence, not {np.shape(lengths)}{hint}")
    found = _integers(lengths, "lengths", " (a mask's are mask.sum(-1))")
    if _is_traced(found):
        return jnp.broadcast_to(arrangement.words_in(found), batch)
    wrong = np.argwhere((found < arrangement.lengths_of(0)) | (found > arrangement.lengths_of(n)))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise arrangement.wrong_length(", ".join(map(str, at)), int(found[at]), n)
    return np.broadcast_to(arrangement.words_in(found), batch)


def _integers(values: Array, name: str, hint: str = "") -> Array:
    """As int32, and NumPy's where they are not traced: under ``jit`` JAX's own functions trace whatever they get."""
    array = values if _is_traced(values) else np.asarray(values)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise ValueError(f"{name} must be integers, not {array.dtype}{hint}")
    if _is_traced(array):
        return array.astype(jnp.int32)
    return np.clip(array, -(2**31), 2**31 - 1).astype(np.int32)


@jax.tree_util.register_pytree_node_class
class DependencyTrees:
    """The distribution over dependency trees: what ``taproot.DependencyTrees`` can be asked, for JAX's arrays.

    It may be an argument or a result of a function under ``jit``, ``vmap`` and ``grad``. Every question starts from the
    scores anew; under ``jit`` the same question is asked once. On a device, ``kbest``, the cost
    of Wilson's walk, ``projective_mass``, and for projective trees beams and comparing them with all trees are refused.

    >>> import jax, jax.numpy as jnp, taproot.jax
    >>> d = taproot.jax.DependencyTrees(jnp.zeros((2, 4, 4)), lengths=jnp.array([3, 2]))
    >>> d.entropy().round(4).tolist()
    [2.197200059890747, 0.6930999755859375]
    >>> d.sample(jax.random.key(0), 5).shape
    (5, 2, 3)
    """

    def __init__(
        self,
        scores: Array,
        lengths: Array | None = None,
        root: Root = "single",
        constraints: Any = None,
        label_scores: Array | None = None,
        *,
        projective: bool = False,
        layout: Layout = "head-dependent",
    ) -> None:
        self._arrangement = as_arrangement(layout)
        scores = _floats(scores)
        check_square(scores.shape)
        if root != "single" and root != "multi":
            raise ValueError(f'root must be "single" or "multi", not {root!r}')
        self._kind = operators.Kind(root, as_switch(projective, "projective"))
        batch, n = scores.shape[:-2], scores.shape[-1] - 1
        self._words = _words(lengths, batch, n, self._arrangement)
        self._edges = self._arrangement.turned(scores)
        if constraints is not None:
            if _is_traced(self._words):
                raise ValueError(
                    "constraints need lengths that are not traced: use jnp.where(allowed, scores, -jnp.inf) with "
                    "taproot.Constraints.allowed(n) instead"
                )
            allowed = allowed_edges(constraints, batch, np.asarray(self._words), n)
            self._edges = jnp.where(allowed, self._edges, -jnp.inf)
        self._labels: Array | None = None
        if label_scores is not None:
            labels = _floats(label_scores)
            if labels.shape[:-1] != scores.shape or labels.shape[-1] == 0:
                raise ValueError(
                    f"label_scores must have shape {scores.shape} and one more axis, of labels, not {labels.shape}"
                )
            self._labels = self._arrangement.labels_turned(labels)

    def tree_flatten(self) -> tuple[Any, Any]:
        """For JAX, which takes it apart and puts it together."""
        return (self._edges, self._labels, self._words), (self._kind, self._arrangement)

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> DependencyTrees:
        """For JAX, which takes it apart and puts it together."""
        own = object.__new__(cls)
        own._kind, own._arrangement = rest
        own._edges, own._labels, own._words = arrays
        return own

    @property
    def root(self) -> Root:
        """The root rule."""
        return self._kind.root

    @property
    def projective(self) -> bool:
        """Whether the distribution is over projective trees only."""
        return self._kind.projective

    @property
    def layout(self) -> Layout:
        """How matrices and trees are laid out."""
        return self._arrangement.name

    @property
    def lengths(self) -> Array:
        """How many words each sentence has, shape (...); layouts with ROOT count it."""
        return self._arrangement.lengths_of(self._words)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape (...) of the sentences."""
        return tuple(self._edges.shape[:-2])

    @property
    def event_shape(self) -> tuple[int]:
        """(N,); layouts with ROOT have one more entry."""
        return (self._arrangement.entries(self._n),)

    @property
    def _n(self) -> int:
        return int(self._edges.shape[-1]) - 1

    @property
    def _dtype(self) -> Any:
        return self._edges.dtype

    def __repr__(self) -> str:
        family = ", projective=True" if self.projective else ""
        return f"DependencyTrees(scores: {tuple(self._edges.shape)}, root={self.root!r}{family})"

    # Labels are summed out here; what the operators see are scores.

    def _real(self) -> Array:
        """Which of the words 1 to N a sentence has, shape (..., N)."""
        return jnp.arange(1, self._n + 1) <= self._words[..., None]

    def _of_labels(self) -> tuple[Array, Array, Array]:
        """Which edges can be labeled; their label scores; the logarithms of the sums of their labels' weights.

        Cells that no tree has may hold anything, and an edge may have no label: neither gives a gradient.
        """
        if self._labels is None:
            raise ValueError("this needs label_scores")
        real = self._real()
        pad = [(0, 0)] * (real.ndim - 1) + [(1, 0)]
        heads, modifiers = jnp.pad(real, pad, constant_values=True), jnp.pad(real, pad, constant_values=False)
        read = heads[..., :, None] & modifiers[..., None, :] & ~jnp.eye(self._n + 1, dtype=bool)
        possible = read & (self._labels != -jnp.inf).any(-1)
        labels = self._labels.astype(jnp.promote_types(jnp.promote_types(self._dtype, self._labels.dtype), jnp.float32))
        labels = jnp.where(possible[..., None], labels, 0)
        return possible, labels, jax.nn.logsumexp(labels, axis=-1)

    def _scores(self) -> Array:
        if self._labels is None:
            return self._edges
        possible, _, total = self._of_labels()
        return jnp.where(possible, self._edges + total, -jnp.inf)

    def _given(self) -> tuple[Array, Array, operators.Kind]:
        return self._scores(), self._words, self._kind

    # What can be asked.

    def log_partition(self) -> Array:
        """log Z, shape (...)."""
        return operators.log_partition(*self._given()).astype(self._dtype)

    def entropy(self) -> Array:
        """-sum p log p in nats, shape (...); labels are summed out."""
        return operators.entropy(*self._given()).astype(self._dtype)

    def _marginals(self) -> Array:
        return operators.marginals(*self._given()).astype(self._dtype)

    def marginals(self) -> Array:
        """p(h -> m), shape (..., N+1, N+1)."""
        return self._arrangement.turned(self._marginals())

    def root_marginals(self) -> Array:
        """p(0 -> m) for the words m = 1..N, shape (..., N), accurate relatively where a root is single."""
        found = operators.root_marginals(*self._given()).astype(self._dtype)
        return self._arrangement.with_root(found, jnp.pad, 0)

    def label_marginals(self) -> Array:
        """p(h -> m with label l), shape (..., N+1, N+1, labels)."""
        possible, labels, total = self._of_labels()
        given_edge = jnp.exp(jnp.where(possible[..., None], labels - total[..., None], -jnp.inf))
        found = (self._marginals()[..., None] * given_edge).astype(self._dtype)
        return self._arrangement.labels_turned(found)

    def expectation(self, edge_values: Array) -> Array:
        """E[sum of edge_values over a tree's edges], shape (...); edges that have no probability do not count."""
        p = self.marginals()
        return jnp.where(p > 0, p * jnp.where(p > 0, edge_values, 0), 0).sum((-2, -1))

    def expected_attachment(self, heads: Array) -> Array:
        """The expected share of words that have the head given in ``heads``, shape (...).

        ``heads`` as for ``log_prob``; labels do not count. Words whose head is negative do not count; a sentence
        without any other word gives NaN.
        """
        own = self._trees_given(parts_of(heads)[0], "heads", more=True)
        if not _is_traced(own, self._words):
            check_named_heads(own, self._words, self._arrangement)
        counts = self._real() & (own >= 0)
        wrong = (counts & (own > self._words[..., None])).any(-1)
        at = jnp.where(counts & ~wrong[..., None], own, 0)
        p = jnp.broadcast_to(self._marginals()[..., 1:], (*own.shape[:-1], self._n + 1, self._n))
        p = jnp.take_along_axis(p, at[..., None, :], axis=-2)[..., 0, :]
        share = jnp.where(counts, p, 0).sum(-1) / counts.sum(-1)
        return jnp.where(wrong, jnp.nan, share).astype(self._dtype)

    def hessian_product(self, direction: Array) -> Array:
        """The derivative of ``marginals`` when the scores move along `direction`, of their shape."""
        scores, words, kind = self._given()
        vector = self._arrangement.turned(_floats(direction))
        if vector.shape != scores.shape:
            raise ValueError(f"direction must have shape {scores.shape}, not {vector.shape}")
        return self._arrangement.turned(operators.hessian_product(scores, vector, words, kind).astype(self._dtype))

    def cross_entropy(self, other: DependencyTrees) -> Array:
        """-sum p log q, q the other distribution over the same sentences, shape (...)."""
        return self._compared(other, "cross_entropy")

    def kl_divergence(self, other: DependencyTrees) -> Array:
        """sum p log(p/q), q the other distribution over the same sentences, shape (...)."""
        return self._compared(other, "kl_divergence")

    def _compared(self, other: DependencyTrees, name: str) -> Array:
        if self._edges.shape != other._edges.shape or self.root != other.root:
            raise ValueError(
                f"{name} needs distributions over the same sentences, under one root rule; their shapes are "
                f"{self._edges.shape} and {other._edges.shape}"
            )
        if not _is_traced(self._words, other._words) and not np.array_equal(self._words, other._words):
            raise ValueError(f"{name} needs distributions over the same sentences: their lengths differ")
        p, q = self._scores(), other._scores()
        return operators.divergence(p, q, self._words, self._kind, other._kind, name == "kl_divergence").astype(
            self._dtype
        )

    def projective_mass(self) -> Array:
        """The share of the projective trees in Z of all trees, shape (...), without a gradient. On the CPU."""
        return operators.numbers("projective_mass", *self._given()).astype(self._dtype)

    def expected_tries(self) -> Array:
        """Z_multi / Z_single, shape (...), without a gradient."""
        return operators.numbers("expected_tries", *self._given()).astype(self._dtype)

    def expected_steps(self) -> Array:
        """How many heads Wilson's random walk samples, on average, shape (...), without a gradient."""
        return operators.numbers("expected_steps", *self._given()).astype(self._dtype)

    def log_prob(self, heads: Array, labels: Array | None = None) -> Array:
        """log p of trees, heads of shape (..., N) or with more axes in front; with ``labels`` of labeled trees.

        ``heads`` may also be a list with the heads of each sentence, of its own length, where lengths are not traced;
        or what ``argmax``, ``kbest`` and the samplers give, whose labels count where it has labels, so give its
        ``.heads`` for the trees alone.

        -inf for heads that are not a tree, and then no gradient. NaN for heads that cannot be. What lies beyond a
        sentence's length is not read.
        """
        heads, labels = parts_of(heads, labels)
        own = self._trees_given(heads, "heads", more=True)
        batch, n = self.batch_shape, self._n
        leading = own.shape[: own.ndim - 1 - len(batch)]
        count = int(np.prod(leading))
        flat = jnp.moveaxis(own.reshape((count, *batch, n)), 0, -2)
        found = operators.log_prob(self._scores(), flat, self._words, self._kind)
        if labels is not None:
            of_words = self._trees_given(labels, "labels", more=True)
            if of_words.shape != own.shape:
                raise ValueError(f"labels must have the shape of heads, {own.shape}, not {of_words.shape}")
            found = self._with_labels(found, flat, jnp.moveaxis(of_words.reshape((count, *batch, n)), 0, -2))
        return jnp.moveaxis(found, -1, 0).reshape((*leading, *batch)).astype(self._dtype)

    def _trees_given(self, of_words: Array, name: str, more: bool) -> Array:
        if isinstance(of_words, (list, tuple)):
            if _is_traced(self._words):
                as_integers(of_words, f"{name}, where lengths are traced, must be an array padded with -1; {name}")
            else:
                of_words = filled_up(of_words, name, np.asarray(self._words), self._n, self._arrangement)
        array = _integers(of_words, name)
        check_tree_shape(self._arrangement, name, array.shape, self.batch_shape, self._n, more)
        return self._arrangement.words_of(array)

    def _with_labels(self, found: Array, heads: Array, labels: Array) -> Array:
        """log p of labeled trees [..., K] from that of their heads [..., K, N]; NaN for labels that cannot be."""
        _, of_labels, total = self._of_labels()
        count = of_labels.shape[-1]
        counts = self._real()[..., None, :] & jnp.isfinite(found)[..., None]
        wrong = (counts & ((labels < 0) | (labels >= count))).any(-1)
        if not _is_traced(wrong) and bool(wrong.any()):
            at = tuple(int(i) for i in np.argwhere(wrong)[0][:-1])
            raise ValueError(f"labels of sentence {', '.join(map(str, at)) or 0} are not all from 0 to {count - 1}")
        head = jnp.where(counts, heads, 0)
        word = jnp.broadcast_to(jnp.arange(1, self._n + 1), head.shape)
        label = jnp.where(counts & (labels >= 0) & (labels < count), labels, 0)
        sentence = [
            jnp.arange(size).reshape((size, *[1] * (head.ndim - axis - 1))) for axis, size in enumerate(head.shape[:-2])
        ]
        of_words = of_labels[(*sentence, head, word, label)]
        forbidden = (counts & (of_words == -jnp.inf)).any(-1)
        shares = jnp.where(counts & (of_words > -jnp.inf), of_words, 0)
        shares = shares - jnp.where(counts, total[(*sentence, head, word)], 0)
        out = jnp.where(forbidden, -jnp.inf, found + shares.sum(-1))
        return jnp.where(wrong, jnp.nan, out)

    def _out(self, found: Any, leading: int = 0) -> Any:
        """Heads, or heads and labels, (..., k, N) in the caller's layout, with k in front."""
        arrays = [self._arrangement.with_root(a, jnp.pad) for a in found]
        arrays = [jnp.moveaxis(a, -2, 0) for a in arrays] if leading else arrays
        return arrays[0] if self._labels is None else LabeledTrees(*arrays)

    def argmax(self) -> Any:
        """The heads of the best tree, shape (..., N), int32, padding -1; with ``label_scores`` a ``LabeledTrees``."""
        return self._out(operators.decode("argmax", self._edges, self._labels, self._words, self._kind))

    def mbr(self) -> Any:
        """The tree with the largest expected number of right heads; shapes as ``argmax``."""
        return self._out(operators.decode("mbr", self._edges, self._labels, self._words, self._kind))

    def kbest(self, k: int) -> BestTrees:
        """The k best trees of every sentence, in order: ``heads`` (k, ..., N) and ``score`` (k, ...).

        There are always k rows; those that a sentence does not have are -1, with score -inf, and ``counts`` says how
        many it has.
        """
        *trees, score, counts = operators.kbest(as_count(k), self._edges, self._labels, self._words, self._kind)
        heads, labels = self._pair_of(trees)
        return BestTrees(heads=heads, score=jnp.moveaxis(score, -1, 0), counts=counts, labels=labels)

    def _pair_of(self, trees: Any) -> tuple[Array, Array | None]:
        found = self._out(trees, leading=1)
        return (found, None) if self._labels is None else (found.heads, found.labels)

    def sample(self, key: Array, k: int, algorithm: Algorithm = "auto") -> Any:
        """k trees per sentence, sampled independently: heads (k, ..., N), int32, padding -1; with ``label_scores`` also
        labels. ``key`` is one of JAX's random keys."""
        words = _key_words(key)
        if algorithm not in get_args(Algorithm):
            raise ValueError(f"algorithm must be one of {', '.join(get_args(Algorithm))}, not {algorithm!r}")
        given = (self._edges, self._labels, self._words, self._kind)
        return self._out(operators.sample(as_count(k), words, algorithm, *given), leading=1)

    def sample_without_replacement(
        self, key: Array, k: int, algorithm: WithoutReplacementAlgorithm = "auto"
    ) -> WithoutReplacementSample:
        """k different trees per sentence: ``heads`` (k, ..., N), ``log_prob`` (k, ...) and more.

        ``key`` is one of JAX's random keys. There are always k rows; those that a sentence does not have are -1, with
        log-probability -inf and weight 0, and ``counts`` says how many it has.
        """
        words = _key_words(key)
        if algorithm not in get_args(WithoutReplacementAlgorithm):
            names = ", ".join(get_args(WithoutReplacementAlgorithm))
            raise ValueError(f"algorithm must be one of {names}, not {algorithm!r}")
        given = (self._edges, self._labels, self._words, self._kind)
        *trees, log_prob, gumbel, weights, kappa, exhausted, counts = operators.sample_without_replacement(
            as_count(k), words, algorithm, *given
        )
        heads, labels = self._pair_of(trees)
        log_prob, gumbel, weights = (jnp.moveaxis(array, -1, 0) for array in (log_prob, gumbel, weights))
        return WithoutReplacementSample(heads, log_prob, gumbel, weights, kappa, exhausted, counts, labels)


def _key_words(key: Array) -> Array:
    """The words of one key, new style or old."""
    if not hasattr(key, "dtype"):
        raise ValueError(f"key must be one of JAX's random keys, such as jax.random.key(0), not {key!r}")
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.shape == ():
        return jax.random.key_data(key)
    if key.dtype == jnp.uint32 and key.ndim == 1 and key.shape[0] >= 2:
        return key
    raise ValueError(
        "key must be one of JAX's random keys, such as jax.random.key(0), not an array of "
        f"{key.dtype} with shape {key.shape}"
    )


def _register(kind: Any, names: tuple[str, ...]) -> None:
    """Lets a record of arrays pass through JAX's transformations."""
    jax.tree_util.register_pytree_node(
        kind, lambda record: ([getattr(record, name) for name in names], None), lambda _, arrays: kind(*arrays)
    )


_register(BestTrees, ("heads", "score", "counts", "labels"))
_register(LabeledTrees, ("heads", "labels"))
_register(
    WithoutReplacementSample,
    ("heads", "log_prob", "gumbel", "weights", "kappa", "exhausted", "counts", "labels"),
)


# The same as functions of scores.


def log_partition(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """log Z, shape (...). Its gradient is ``marginals``."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).log_partition()


def marginals(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """p(h -> m), shape (..., N+1, N+1)."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).marginals()


def root_marginals(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """p(0 -> m) for the words m = 1..N, shape (..., N)."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).root_marginals()


def label_marginals(
    scores: Array,
    label_scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """p(h -> m with label l), shape (..., N+1, N+1, labels)."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).label_marginals()


def entropy(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """-sum p log p in nats, shape (...)."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).entropy()


def expectation(
    scores: Array,
    edge_values: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """E[sum of edge_values over a tree's edges], shape (...); values of edges that have no probability do not count."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).expectation(edge_values)


def log_prob(
    scores: Array,
    heads: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    labels: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """log p of trees, heads of shape (..., N) or with more axes in front; with ``labels`` of labeled trees.

    ``heads`` may also be a list with the heads of each sentence, of its own length, or a result with trees.

    -inf for heads that are not a tree, and then no gradient. NaN for heads that cannot be. What lies beyond a
    sentence's length is not read.
    """
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).log_prob(heads, labels)


def nll(
    scores: Array,
    heads: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    labels: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
    reduction: Reduction = "mean",
    check: bool = True,
) -> Array:
    """The loss of gold trees, -log p(heads), or -log p(heads, labels): a conditional random field in one call.

    ``heads`` and ``labels`` have shape (..., N); with a layout ``"+root"`` (..., N+1). What lies beyond a sentence's
    length does not matter, so they may be padded with 0, -1, -100 or anything else. Without ``labels`` the labels of
    ``label_scores`` are summed out. ``reduction``: ``"mean"`` divides the sum over sentences by their number, and
    ``"words"`` by the number of words; ``"sum"``; ``"none"`` gives shape (...). Gold heads that are not a tree raise a
    ``ValueError`` that names the sentence and the words where heads and lengths are not traced, also within ``grad``.
    So do lengths that do not count ROOT, though the layout has an entry for it, if the gold heads' padding shows it.
    Under ``jit`` the loss of such heads is infinite and has no gradient, or NaN if a head cannot be; call the function
    once without ``jit`` to hear why.

    >>> import jax, jax.numpy as jnp, taproot.jax
    >>> gold = jnp.array([[0, 2, 0, 2], [0, 0, 1, -100]])      # an entry for ROOT, padded with -100
    >>> def loss(scores):                                      # [sentence, dependent, head], ROOT first
    ...     return taproot.jax.nll(scores, gold, jnp.array([4, 3]), layout="dependent-head+root")
    >>> value, gradient = jax.jit(jax.value_and_grad(loss))(jnp.zeros((2, 4, 4)))
    >>> round(float(value), 4), gradient.shape
    (1.4452, (2, 4, 4))
    """
    if reduction not in ("mean", "words", "sum", "none"):
        raise ValueError(f'reduction must be "mean", "words", "sum" or "none", not {reduction!r}')
    trees = DependencyTrees(scores, lengths, root, constraints, label_scores, projective=projective, layout=layout)
    heads, labels = parts_of(heads, labels)
    own = trees._trees_given(heads, "heads", more=False)
    if check and not _is_traced(own, trees._words):
        check_root_is_counted(own, trees._words, trees._arrangement)
        check_gold(own, trees._words, root, trees._arrangement)
    found = trees.log_prob(heads, labels)
    if check and not _is_traced(own, trees._words, found) and not bool(jnp.isfinite(found).all()):
        operators.host_trees(trees._scores(), trees._words, trees._kind, "raise").log_partition()
        report_gold(found, own, trees._words, root, trees._scores(), trees._arrangement, trees.projective)
    if reduction == "none":
        return -found
    if reduction == "mean":
        return -found.mean()
    return -found.sum() if reduction == "sum" else -found.sum() / trees._words.sum()


def cross_entropy(
    scores: Array,
    other: Array,
    lengths: Array | None = None,
    root: Root = "single",
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """-sum p log q, shape (...), q of the scores ``other``."""
    p, q = (DependencyTrees(s, lengths, root, projective=projective, layout=layout) for s in (scores, other))
    return p.cross_entropy(q)


def kl_divergence(
    scores: Array,
    other: Array,
    lengths: Array | None = None,
    root: Root = "single",
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Array:
    """sum p log(p/q), shape (...), q of the scores ``other``."""
    p, q = (DependencyTrees(s, lengths, root, projective=projective, layout=layout) for s in (scores, other))
    return p.kl_divergence(q)


def argmax(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Any:
    """The heads of the best tree, shape (..., N), int32, padding -1; with ``label_scores`` a ``LabeledTrees``."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).argmax()


def mbr(
    scores: Array,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Any:
    """The tree with the largest expected number of right heads; shapes as ``argmax``."""
    return DependencyTrees(scores, lengths, root, constraints, label_scores, projective=projective, layout=layout).mbr()


def kbest(
    scores: Array,
    k: int,
    lengths: Array | None = None,
    root: Root = "single",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> BestTrees:
    """The k best trees of every sentence, in order: ``heads`` (k, ..., N) and ``score`` (k, ...), padded to k rows."""
    return DependencyTrees(
        scores, lengths, root, constraints, label_scores, projective=projective, layout=layout
    ).kbest(k)


def sample(
    key: Array,
    scores: Array,
    k: int,
    lengths: Array | None = None,
    root: Root = "single",
    algorithm: Algorithm = "auto",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> Any:
    """k trees per sentence, heads of shape (k, ..., N), int32, padding -1; ``key`` is one of JAX's random keys.

    >>> import jax, jax.numpy as jnp, taproot.jax
    >>> taproot.jax.sample(jax.random.key(0), jnp.zeros((2, 4, 4)), 5).shape
    (5, 2, 3)
    """
    trees = DependencyTrees(scores, lengths, root, constraints, label_scores, projective=projective, layout=layout)
    return trees.sample(key, k, algorithm)


def sample_without_replacement(
    key: Array,
    scores: Array,
    k: int,
    lengths: Array | None = None,
    root: Root = "single",
    algorithm: WithoutReplacementAlgorithm = "auto",
    constraints: Any = None,
    label_scores: Array | None = None,
    *,
    projective: bool = False,
    layout: Layout = "head-dependent",
) -> WithoutReplacementSample:
    """k different trees per sentence: ``heads`` (k, ..., N), ``log_prob`` (k, ...) and more, padded to k rows.

    >>> import jax, jax.numpy as jnp, taproot.jax
    >>> s = taproot.jax.sample_without_replacement(jax.random.key(0), jnp.zeros((3, 3)), 5)
    >>> s.heads.shape, int(s.counts), bool(s.exhausted)
    ((5, 2), 2, True)
    """
    trees = DependencyTrees(scores, lengths, root, constraints, label_scores, projective=projective, layout=layout)
    return trees.sample_without_replacement(key, k, algorithm)
