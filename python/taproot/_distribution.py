# SPDX-License-Identifier: Apache-2.0
"""The distribution over the dependency trees of a sentence, or of each sentence of a batch."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import (
    FLOAT64,
    INT32,
    Float64,
    Int32,
    as_count,
    as_first_tree,
    as_floats,
    as_ids,
    as_lengths,
    as_name,
    as_seed,
    as_switch,
    as_trees,
    fresh_bits,
    is_list_of,
    pad,
)
from ._constraints import NOT_OF_A_BATCH, Constraints, shared_core
from ._draw import Drawing, as_words
from ._errors import raise_failures
from ._given import parts_of
from ._iterator import KBestIterator, WithoutReplacementIterator
from ._layouts import OURS, Arrangement, Layout, as_arrangement, square_hint
from ._results import BestTrees, LabeledTrees, WithoutReplacementSample

Root = Literal["single", "multi"]
Seed = int | np.random.Generator | np.random.SeedSequence | None
Algorithm = Literal["auto", "elimination", "wilson", "wilson-marginal", "wilson-reject", "colbourn", "wilson-rc"]
WithoutReplacementAlgorithm = Literal["auto", "trie", "beam", "list"]

_GIB = 1 << 30
_Core = _taproot.Core
_OF_TREES = ("heads", "labels", "score", "log_prob", "gumbel", "weights")
_NO_CONSTRAINTS: list[_taproot.Constraints] = []


class DependencyTrees:
    """p(tree) proportional to the exponential of the sum of its edges' scores.

    ``scores[h, m]`` is the natural-log weight of the edge from head h to modifier m; node 0 is ROOT, words are 1..n.
    Shape (n+1, n+1); or (B, N+1, N+1) for a batch, sentence b of which has ``lengths[b]`` words and uses the top left
    corner of its matrix (what lies outside is never read); or a list of matrices of any sizes. float32 or float64, any
    strides; all arithmetic is in float64. ``-inf`` forbids an edge. Column 0 and the diagonal are ignored. Nothing is
    floored, clipped or smoothed.

    A tree is its heads: ``heads[i - 1]`` is the head of word i, 0 for ROOT; int32.

    Parameters
    ----------
    scores
        See above. Copied, so that it may change afterwards, unless ``copy=False``.
    lengths
        How many words each sentence of a batch has, shape (B,); all have N if not given.
    root
        ``"single"``: exactly one word hangs off ROOT; ``"multi"``: at least one.
    constraints
        A ``Constraints``, which holds for all sentences of a batch, each of which must have the words that it names;
        or a list with one (or None) per sentence.
    label_scores
        Shape of scores and one more axis, of labels: the weight of edge h -> m with label l is
        ``exp(scores[h, m] + label_scores[h, m, l])``. Sampled and decoded trees then have labels; all else is about
        trees with their labels summed out.
    projective
        Whether the distribution is over projective trees only: for every edge, all words between head and modifier
        descend from the head. Every question is then about these.
    ids
        64-bit numbers that samples are keyed by, shape (B,); an integer for a single sentence. A corpus with ids gives
        the same trees however it is split into batches. Without them a sentence's id is its position in the batch.
    on_error
        A sentence may have no answer: no tree, a NaN, no words. ``"raise"``: ``NoTreeError`` or another
        ``SentenceError`` that names it. ``"status"``: its numbers are NaN, its heads -1, and ``status`` says why.
    layout
        ``"dependent-head"``: ``scores[m, h]``, as most parsers have them; ``label_scores``, marginals and whatever
        else has a head and a modifier have this order too. With ``"+root"`` behind it (``"dependent-head+root"``,
        ``"head-dependent+root"``), arrays of words, such as heads, have an entry for ROOT in front, which is -1 in
        answers and not read in arguments, and ``lengths`` count ROOT. ``Constraints`` number words as always.

    Sentences are factored at the first question, and that is kept: ask as many as you like.

    >>> import numpy as np, taproot
    >>> scores = np.array([[0, -2, 3, -1],     # "She saw stars", from ROOT
    ...                    [0, 0, -1, -2],     # from "She"
    ...                    [0, 2, 0, 2.5],     # from "saw"
    ...                    [0, -1, 0, 0]])     # from "stars"
    >>> d = taproot.DependencyTrees(scores)
    >>> round(d.log_partition(), 4), round(d.entropy(), 4)
    (7.561, 0.2613)
    >>> d.argmax()
    array([2, 0, 2], dtype=int32)
    >>> d.sample(2, seed=0)
    array([[2, 0, 2],
           [2, 0, 2]], dtype=int32)
    """

    # What a single sentence without lengths, labels and constraints leaves as it is: making one is to cost next to
    # nothing.
    _matrix: npt.NDArray[Any]
    _single = True
    _batch = 1
    _root: Root = "single"
    _projective = False
    _raise = True
    _lengths: Int32 | None = None
    _label_array: npt.NDArray[Any] | None = None
    _label_count: int | None = None
    _constraints: Any = None
    _arrangement: Arrangement = OURS
    _ids: npt.NDArray[np.uint64] | None = None

    def __init__(
        self,
        scores: npt.ArrayLike | Sequence[npt.ArrayLike],
        lengths: npt.ArrayLike | None = None,
        root: Root = "single",
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        label_scores: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
        *,
        projective: bool = False,
        ids: npt.ArrayLike | None = None,
        on_error: Literal["raise", "status"] = "raise",
        copy: bool = True,
        layout: Layout = "head-dependent",
    ) -> None:
        if type(scores) is np.ndarray and scores.dtype is FLOAT64 and scores.ndim == 2 and scores.flags.c_contiguous:
            side, columns = scores.shape
            plain = lengths is None and constraints is None and label_scores is None and ids is None
            plain = plain and root == "single" and on_error == "raise" and layout == "head-dependent"
            if plain and not projective and side == columns > 0:
                self._n = side - 1
                self._matrix = scores.copy() if copy else scores
                self._core = _Core(self._matrix, None, False, _NO_CONSTRAINTS, None, None)
                return  # A single sentence as it comes most often: what follows would find nothing to do.
        of_list: Int32 | None = None
        if type(scores) is not np.ndarray and is_list_of(2, scores):
            array, of_list = pad(scores, "scores")  # type: ignore[arg-type]
            if lengths is not None:
                raise ValueError("a list of matrices has its own lengths")
        else:
            array = as_floats(scores, "scores", copy)
        shape = array.shape
        axes = len(shape)
        if axes not in (2, 3) or shape[-1] != shape[-2] or shape[-1] == 0:
            hint = square_hint(shape)
            raise ValueError(f"scores must have shape (n+1, n+1) or (B, N+1, N+1), not {shape}{hint}")
        if layout != "head-dependent":
            self._arrangement = as_arrangement(layout)
            array = self._arrangement.turned(array)
        self._matrix = array
        self._n = shape[-1] - 1
        if axes == 3:
            self._single = False
            self._batch = shape[0]
        if root != "single":
            if root != "multi":
                raise ValueError(f'root must be "single" or "multi", not {root!r}')
            self._root = root
        self._projective = as_switch(projective, "projective")
        if on_error != "raise":
            if on_error != "status":
                raise ValueError(f'on_error must be "raise" or "status", not {on_error!r}')
            self._raise = False
        if of_list is not None:
            self._lengths = of_list
        elif lengths is not None:
            if axes == 2:
                raise ValueError("lengths are for batches: scores has shape (n+1, n+1)")
            self._lengths = as_lengths(lengths, self._batch, self._n, self._arrangement)
        if label_scores is not None:
            self._label_array = self._labels_of(label_scores, shape, copy)
            self._label_count = self._label_array.shape[-1]
        if ids is not None:
            self._ids = as_ids(ids, self.batch_shape)
        of_sentences = _NO_CONSTRAINTS
        if constraints is not None:
            of_sentences = self._constraints_of(constraints)
            self._constraints = deepcopy(constraints)
        multi = self._root == "multi"
        labels = self._label_array
        self._core = _Core(array, self._lengths, multi, of_sentences, labels, self._ids, self._projective)

    def _labels_of(self, label_scores: Any, shape: tuple[int, ...], copy: bool) -> npt.NDArray[Any]:
        if not self._single and is_list_of(3, label_scores):
            array, lengths = pad(label_scores, "label_scores")
            if not np.array_equal(lengths, self._all_lengths()):
                raise ValueError(_different(lengths, self._all_lengths(), "label_scores", "scores"))
        else:
            array = as_floats(label_scores, "label_scores", copy)
        if array.shape[:-1] != shape or array.shape[-1] == 0:
            raise ValueError(f"label_scores must have shape {shape} and one more axis, of labels, not {array.shape}")
        return self._arrangement.labels_turned(array)  # type: ignore[no-any-return]

    def _constraints_of(self, constraints: Any) -> list[_taproot.Constraints]:
        if isinstance(constraints, Constraints):
            if not self._single:
                return [shared_core(constraints, self._all_lengths())] * self._batch
            constraints = [constraints]
        elif self._single:
            raise ValueError("constraints of a single sentence must be one taproot.Constraints")
        elif not isinstance(constraints, (list, tuple)):
            raise ValueError(NOT_OF_A_BATCH)
        if len(constraints) != self._batch:
            raise ValueError(f"constraints must be {self._batch}, one (or None) per sentence, not {len(constraints)}")
        found = []
        for b, (of_sentence, n) in enumerate(zip(constraints, self._all_lengths())):
            if of_sentence is not None and not isinstance(of_sentence, Constraints):
                raise ValueError(f"constraints[{b}] is not a taproot.Constraints")
            core = _taproot.Constraints() if of_sentence is None else of_sentence._core()
            if of_sentence is not None and not core.fits(int(n)):
                raise ValueError(
                    f"constraints[{b}]{of_sentence._misfit(int(n))} is not about a sentence of {n} words: heads are 0 "
                    f"(ROOT) to {n}, words 1 to {n}, and a partial tree has {n} heads"
                )
            found.append(core)
        return found

    def _all_lengths(self) -> Int32:
        return np.full(self._batch, self._n, np.int32) if self._lengths is None else self._lengths

    def _word_counts(self) -> npt.NDArray[Any]:
        """The number of words, shape () or (B,)."""
        return np.array(self._n) if self._single else self._all_lengths()

    # What it is about.

    @property
    def root(self) -> Root:
        """The root rule, ``"single"`` or ``"multi"``."""
        return self._root

    @property
    def projective(self) -> bool:
        """Whether the distribution is over projective trees only."""
        return self._projective

    @property
    def lengths(self) -> Any:
        """How many words the sentence has; of a batch, shape (B,). Layouts with ROOT count it."""
        return self._arrangement.lengths_of(self._n if self._single else self._all_lengths().copy())

    @property
    def layout(self) -> Layout:
        """How matrices and trees are laid out: ``"head-dependent"`` unless you asked for another layout."""
        return self._arrangement.name

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """() or (B,)."""
        return () if self._single else (self._batch,)

    @property
    def event_shape(self) -> tuple[int]:
        """(n,); of a batch (N,). Layouts with ROOT have one more entry."""
        return (self._arrangement.entries(self._n),)

    @property
    def status(self) -> Any:
        """``"ok"`` or what is wrong with the sentence; of a batch a list.

        >>> d = DependencyTrees(np.zeros((2, 3, 3)), lengths=[2, 0], on_error="status")
        >>> d.status
        ['ok', 'empty']
        >>> d.entropy().round(4)
        array([0.6931,    nan])
        """
        all_ = ["ok"] * self._batch
        for b, status, _ in self._core.failures() or ():
            all_[b] = status
        return all_[0] if self._single else all_

    def __len__(self) -> int:
        """How many sentences a batch has."""
        if self._single:
            raise TypeError("a single sentence has no len(); its words are .lengths")
        return self._batch

    def __getitem__(self, sentence: int) -> DependencyTrees:
        """One sentence of a batch by itself. It keeps its id, so its samples are the same ones.

        >>> DependencyTrees(np.zeros((2, 4, 4)), lengths=[2, 3])[0]
        DependencyTrees(words=2, root='single')
        """
        if self._single:
            raise TypeError("this is a single sentence")
        try:
            b = range(self._batch)[operator.index(sentence)]
        except TypeError:
            raise TypeError(f"sentences are numbered by integers, not {sentence!r}") from None
        except IndexError:
            raise IndexError(f"there are {self._batch} sentences, and no sentence {sentence}") from None
        side = int(self._all_lengths()[b]) + 1
        array, label_array = self._matrix, self._label_array
        shared = self._constraints is None or isinstance(self._constraints, Constraints)
        own = DependencyTrees(
            array[b, :side, :side],
            root=self._root,
            constraints=self._constraints if shared else self._constraints[b],
            label_scores=None if label_array is None else label_array[b, :side, :side],
            projective=self._projective,
            ids=b if self._ids is None else self._ids[b],
            on_error="raise" if self._raise else "status",
            copy=False,
        )
        own._arrangement = self._arrangement  # Its arrays are in our layout already.
        return own

    def __iter__(self) -> Iterator[DependencyTrees]:
        return (self[b] for b in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        array, label_array = self._matrix, self._label_array
        on_error = "raise" if self._raise else "status"
        state = (array, self._lengths, self._root, self._constraints, label_array, self._ids, on_error)
        return _restored, (*state, self.layout, self._projective)

    def __bool__(self) -> bool:
        return True  # Also where there is no len().

    def __repr__(self) -> str:
        size = f"words={self._n}" if self._single else f"sentences={self._batch}, words<={self._n}"
        labels = "" if self._label_count is None else f", labels={self._label_count}"
        family = ", projective=True" if self._projective else ""
        return f"DependencyTrees({size}, root={self._root!r}{family}{labels})"

    # What can be asked.

    def _check(self, failures: list[tuple[int, str, str]] | None) -> None:
        if failures is not None and self._raise:
            raise_failures(self._explained(failures))

    def _explained(self, failures: list[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
        """Failures, of which the first says so if it looks as if heads and dependents were exchanged."""
        b, status, message = failures[0]
        side = int(self._all_lengths()[b]) + 1
        if status != "no_tree" or side == 1:
            return failures
        if self._projective:
            message += ", or none that is projective"
            failures = [(b, status, message), *failures[1:]]
        matrix = (self._matrix if self._single else self._matrix[b])[:side, :side]
        to_root = matrix[1:, 0]  # Never read, and so most often all alike.
        if not np.all(matrix[0, 1:] == -np.inf) or np.all(to_root == to_root[0]):
            return failures
        turned = "dependent-head" if not self._arrangement.transposed else "head-dependent"
        message += (
            ": every score of an edge from ROOT is -inf, but not those of edges to ROOT. If heads and dependents are "
            f'exchanged, give layout="{turned}"'
        )
        return [(b, status, message), *failures[1:]]

    def _scalar(self, query: Any, *arguments: Any) -> Any:
        out = np.empty(self._batch)
        self._check(query(*arguments, out))
        return float(out[0]) if self._single else out

    def _array(self, query: Any, shape: tuple[int, ...], *arguments: Any) -> Float64:
        out = np.empty(shape if self._single else (self._batch, *shape))
        self._check(query(*arguments, out))
        return out

    def _edge_values(self, values: npt.ArrayLike, name: str) -> Float64:
        array = np.ascontiguousarray(as_floats(values, name, copy=False), np.float64)
        shape = (*self.batch_shape, self._n + 1, self._n + 1)
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, that of the scores, not {array.shape}")
        return np.ascontiguousarray(self._arrangement.turned(array))

    def log_partition(self) -> Any:
        """log Z, the log of the sum over trees; of a batch, shape (B,).

        >>> round(np.exp(DependencyTrees(np.zeros((4, 4))).log_partition()).item(), 12)  # 3 words have 3**2 trees.
        9.0
        """
        return self._scalar(self._core.log_partition)

    def entropy(self) -> Any:
        """-sum p log p over trees, in nats; of a batch, shape (B,).

        >>> round(DependencyTrees(np.zeros((4, 4))).entropy(), 6)
        2.197225
        """
        return self._scalar(self._core.entropy)

    def marginals(self) -> Float64:
        """p(h -> m), the probability that a tree has the edge: shape (n+1, n+1); of a batch (B, N+1, N+1), padding 0.

        Also the gradient of ``log_partition``. Column 0 and the diagonal are 0, every other column sums to 1.

        >>> DependencyTrees(np.zeros((3, 3))).marginals()
        array([[0. , 0.5, 0.5],
               [0. , 0. , 0.5],
               [0. , 0.5, 0. ]])
        """
        found = self._array(self._core.marginals, (self._n + 1, self._n + 1))
        return self._arrangement.turned(found)  # type: ignore[no-any-return]

    def _log_partition_and_marginals(self) -> tuple[Float64, Float64]:
        """Both from one pass, shapes (B,) and (B, N+1, N+1), of a batch in our layout."""
        log_z, found = np.empty(self._batch), np.empty((self._batch, self._n + 1, self._n + 1))
        self._check(self._core.log_partition_and_marginals(log_z, found))
        return log_z, found

    def root_marginals(self) -> Float64:
        """p(0 -> m) for the words m = 1..n: shape (n,); of a batch (B, N), padding 0.

        Under ``root="single"`` accurate relatively, however small, and cheaper than ``marginals``.

        >>> DependencyTrees(np.zeros((5, 5))).root_marginals()
        array([0.25, 0.25, 0.25, 0.25])
        """
        found = self._array(self._core.root_marginals, (self._n,))
        return self._arrangement.with_root(found, value=0)  # type: ignore[no-any-return]

    def label_marginals(self) -> Float64:
        """p(h -> m with label l): shape (n+1, n+1, labels); of a batch with B in front.

        Their sum over the labels is ``marginals``, and the quotient of the two is p(label | edge).

        >>> d = DependencyTrees(np.zeros((2, 2)), label_scores=np.log([[[1, 1], [3, 1]], [[1, 1], [1, 1]]]))
        >>> d.label_marginals()[0, 1].round(6)
        array([0.75, 0.25])
        """
        if self._label_count is None:
            raise ValueError("label_marginals needs label_scores")
        shape = (self._n + 1, self._n + 1, self._label_count)
        found = self._array(self._core.label_marginals, shape)
        return self._arrangement.labels_turned(found)  # type: ignore[no-any-return]

    def log_prob(self, heads: Any, labels: Any = None) -> Any:
        """log p of trees, heads of shape (n,) or (k, n), of a batch (B, N) or (k, B, N): a number, (k,), (B,) or (k,
        B).

        ``heads`` of a batch may also be a list with the heads of each sentence, of its own length, such as ``[s.heads
        for s in read_conllu(path)]``. Or it is what ``argmax``, ``sample``, ``kbest`` or
        ``sample_without_replacement`` gives; its labels count where it has labels, so give its ``.heads`` for the trees
        alone.

        -inf for heads that are not a tree under the root rule or that use a forbidden edge. Rows of -1, which fill up
        samples and best trees of sentences that have fewer of them, give NaN. With ``labels``, numbers of the shape of
        heads, the log probability of the labeled trees.

        >>> d = DependencyTrees(np.zeros((3, 3)))
        >>> np.exp(d.log_prob([[0, 1], [2, 0], [2, 1]]))
        array([0.5, 0.5, 0. ])
        >>> two = DependencyTrees([np.zeros((4, 4)), np.zeros((3, 3))])
        >>> np.exp(two.log_prob([[2, 0, 2], [2, 0]])).round(4)
        array([0.1111, 0.5   ])
        """
        shape = (*self.batch_shape, self._n)
        heads, labels = parts_of(heads, labels)
        words = self._word_counts()
        trees, leading = as_trees(heads, "heads", shape, self._arrangement, words)
        of_words = None
        if labels is not None:
            if self._label_count is None:
                raise ValueError("labels need label_scores")
            of_words, of_labels = as_trees(labels, "labels", shape, self._arrangement, words)
            if of_labels != leading:
                own, found = (*leading, *self.batch_shape, *self.event_shape), (*of_labels, *shape)
                raise ValueError(f"labels must have the shape of heads, {own}, and have {found}")
        out = np.empty((len(trees), self._batch))
        try:
            self._check(self._core.log_prob(len(trees), trees, of_words, out))
        except ValueError as error:
            self._name_bad_entry(trees, of_words, error)
            raise
        out = out.reshape(leading + self.batch_shape)
        return float(out) if out.ndim == 0 else out

    def _name_bad_entry(self, trees: Int32, labels: Int32 | None, error: ValueError) -> None:
        """Raises an error that names the first head, or label, which does not exist, if there is one."""
        n = self._all_lengths()[:, None]
        own = trees.reshape(len(trees), self._batch, self._n)
        inside = (np.arange(self._n) < n) & (own[..., :1] != -1)
        for name, entries, most in (("head", own, n), ("label", labels, (self._label_count or 0) - 1)):
            if entries is None:
                continue
            entries = entries.reshape(own.shape)
            wrong = np.argwhere(inside & ((entries < 0) | (entries > most)))
            if wrong.size:
                s, b, i = wrong[0].tolist()
                last = int(n[b, 0]) if name == "head" else most
                where = f"tree {s}, " + ("" if self._single else f"sentence {b}, ") + f"word {i + 1}"
                found = entries[s, b, i]
                raise ValueError(f"{where}: the {name} is {found}, not one of 0 to {last}") from error

    def expectation(self, edge_values: npt.ArrayLike) -> Any:
        """E[sum of edge_values over a tree's edges]; the values have the shape of the scores. Of a batch, shape (B,).

        An edge of probability zero counts 0, whatever its value.

        >>> arcs_from_root = np.zeros((4, 4)); arcs_from_root[0] = 1
        >>> round(DependencyTrees(np.zeros((4, 4)), root="multi").expectation(arcs_from_root), 6)
        1.5
        """
        return self._scalar(self._core.expectation, self._edge_values(edge_values, "edge_values"))

    def hessian_product(self, direction: npt.ArrayLike) -> Float64:
        """The derivative of ``marginals`` when the scores move along `direction`, of their shape.

        The Hessian of log Z, which is the covariance of the edges, times a vector.

        >>> v = np.zeros((3, 3)); v[0, 1] = 1
        >>> DependencyTrees(np.zeros((3, 3))).hessian_product(v)[0]
        array([ 0.  ,  0.25, -0.25])
        """
        values = self._edge_values(direction, "direction")
        found = self._hessian_product(values)
        lost = np.isnan(found).any((-2, -1))
        if np.any(lost & ~np.isfinite(values).all((-2, -1))) and self._raise:
            p = np.where(np.isfinite(values), 0, self._arrangement.turned(self.marginals()))
            p = p.reshape(self._batch, self._n + 1, self._n + 1)
            b, h, m = np.argwhere(p > 0)[0].tolist() if (p > 0).any() else (0, 0, 0)
            where = f"head {h} -> modifier {m}" + ("" if self._single else f" of sentence {b}")
            raise ValueError(f"direction is not finite at an edge that a tree may have: {where}")
        return self._arrangement.turned(found)  # type: ignore[no-any-return]

    def _hessian_product(self, direction: Float64) -> Float64:
        """In our layout; NaN for a sentence whose direction is not finite where it matters."""
        return self._array(self._core.hessian_product, (self._n + 1, self._n + 1), direction)

    def _pair(self, query: Any, other: DependencyTrees, name: str) -> Any:
        if not isinstance(other, DependencyTrees):
            raise ValueError(f"{name} needs another DependencyTrees, not {type(other).__name__}")
        if other._single != self._single or not np.array_equal(other._all_lengths(), self._all_lengths()):
            how = "one is a batch, the other a single sentence"
            if other._single == self._single:
                how = _different(self._all_lengths(), other._all_lengths(), "the first", "the second")
            raise ValueError(f"{name} needs distributions over the same sentences: {how}")
        if other._root != self._root:
            raise ValueError(f"{name} needs one root rule, not {self._root} and {other._root}")
        return self._scalar(query, other._core)

    def kl_divergence(self, other: DependencyTrees) -> Any:
        """sum p log(p/q), q the other distribution over the same sentences; +inf where p has a tree that q forbids.

        One of the two may be over projective trees and the other over all trees.

        >>> p = DependencyTrees(np.zeros((3, 3)))
        >>> q = DependencyTrees([[0, np.log(3), 0], [0, 0, 0], [0, 0, 0]])
        >>> round(p.kl_divergence(q), 6)
        0.143841
        """
        return self._pair(self._core.kl_divergence, other, "kl_divergence")

    def cross_entropy(self, other: DependencyTrees) -> Any:
        """-sum p log q, q the other distribution over the same sentences; +inf where p has a tree that q forbids.

        >>> p = DependencyTrees(np.zeros((3, 3)))
        >>> p.cross_entropy(p) == p.entropy()
        True
        """
        return self._pair(self._core.cross_entropy, other, "cross_entropy")

    def expected_tries(self) -> Any:
        """Z_multi / Z_single: how many multi-root trees one samples until one of them has a single root.

        >>> round(DependencyTrees(np.zeros((3, 3))).expected_tries(), 6)
        1.5
        """
        return self._scalar(self._core.expected_tries)

    def projective_mass(self) -> Any:
        """The share of the projective trees in Z of all trees: how projective a sentence is.

        It is about the scores and the root rule, so that ``projective=True`` does not change it.

        >>> round(DependencyTrees(np.zeros((4, 4))).projective_mass(), 6)  # Seven of nine trees.
        0.777778
        """
        return self._scalar(self._core.projective_mass)

    def expected_steps(self) -> Any:
        """How many heads Wilson's random walk samples, on average. Not for projective trees.

        >>> DependencyTrees(np.zeros((3, 3))).expected_steps()  # Given its root, two words take one.
        1.0
        """
        return self._scalar(self._core.expected_steps)

    def draw(
        self,
        words: Sequence[str] | None = None,
        threshold: float = _taproot.DRAW_THRESHOLD,
        labels: Sequence[str] | None = None,
    ) -> Drawing:
        """The edges of a single sentence as arcs above its words, each with its probability: for a notebook, or
        ``.save(path)``.

        ``words`` is a list, or a string with spaces between them. Edges of a probability below ``threshold`` are left
        out. ``labels`` are the names of the labels, in the order of ``label_scores``: each edge then bears the name of
        its most probable label and the probability of the edge with this label. How dark it is, and whether it is
        drawn, still goes by the probability of the edge.

        >>> DependencyTrees(np.zeros((3, 3))).draw("Time flies").svg.count("50%")
        4
        """
        if not self._single:
            raise ValueError("a drawing is of one sentence: take one of the batch, d[b]")
        of_edges: list[str] = []
        with_label = np.empty(0)
        if labels is not None:
            if self._label_count is None:
                raise ValueError("labels need label_scores")
            names = as_words(labels, self._label_count, "labels", "label")
            of_labels = self._arrangement.labels_turned(self.label_marginals())
            of_edges = [names[label] for label in of_labels.argmax(axis=-1).ravel()]
            with_label = np.ascontiguousarray(of_labels.max(axis=-1))
        p = np.ascontiguousarray(self._arrangement.turned(self.marginals()))
        return Drawing(_taproot.marginals_svg(as_words(words, self._n), p, float(threshold), of_edges, with_label))

    # Trees.

    def _empty_trees(self) -> tuple[Int32, Int32 | None]:
        shape = (self._n,) if self._single else (self._batch, self._n)
        return np.empty(shape, np.int32), None if self._label_count is None else np.empty(shape, np.int32)

    def _trees(self, heads: Int32, labels: Int32 | None) -> Any:
        """Trees in the caller's layout."""
        if self._arrangement.root:
            heads = self._arrangement.with_root(heads)
            labels = None if labels is None else self._arrangement.with_root(labels)
        return heads if labels is None else LabeledTrees(heads, labels)

    def argmax(self) -> Any:
        """The tree of the largest score: heads (n,), of a batch (B, N), padding -1; with ``label_scores`` also its best
        labels.

        Exact, however large the masks: no rounding error can make it another one.

        >>> DependencyTrees([[0, 2, 1], [0, 0, 1], [0, 0, 0]]).argmax()
        array([0, 1], dtype=int32)
        """
        heads, labels = self._empty_trees()
        self._check(self._core.argmax(heads, labels))
        return self._trees(heads, labels)

    def mbr(self) -> Any:
        """The tree with the largest expected number of right heads; shapes as ``argmax``.

        >>> DependencyTrees([[0, 2, 1], [0, 0, 1], [0, 0, 0]]).mbr()
        array([0, 1], dtype=int32)
        """
        heads, labels = self._empty_trees()
        self._check(self._core.mbr(heads, labels))
        return self._trees(heads, labels)

    def expected_attachment(self, heads: Any) -> Any:
        """The expected share of words that have the head given in ``heads``, if trees are sampled: the mean of
        ``marginals[head, word]``. Shapes as ``log_prob``, and heads may be given in the same ways.

        With the heads of a gold tree it is the expected UAS; with those of ``argmax`` it says how sure the parser is.
        A word whose head is negative is not counted; a sentence without any other word gives NaN. Labels do not count.

        >>> d = DependencyTrees(np.zeros((3, 3)))
        >>> d.expected_attachment([2, 0]), d.expected_attachment([-1, 0])
        (0.5, 0.5)
        """
        shape = (*self.batch_shape, self._n)
        heads, _ = parts_of(heads)
        trees, leading = as_trees(heads, "heads", shape, self._arrangement, self._word_counts())
        n = self._all_lengths()[:, None]
        own = trees.reshape(len(trees), self._batch, self._n)
        wrong = np.argwhere((own > n) & (np.arange(self._n) < n))
        if wrong.size:
            s, b, i = wrong[0].tolist()
            of = (f"of tree {s}, " if leading else "") + ("" if self._single else f"of sentence {b}, ")
            raise ValueError(f"heads {of}word {i + 1}: the head is {own[s, b, i]}, not one of 0 (ROOT) to {n[b, 0]}")
        if not leading:
            return self._scalar(self._core.expected_attachment, trees)
        found = np.empty((len(trees), self._batch))
        for tree, out in zip(trees, found):
            self._check(self._core.expected_attachment(tree, out))
        return found.reshape(leading + self.batch_shape)

    def kbest(self, k: int) -> BestTrees:
        """The k best trees, in order, or all if there are fewer. Their probabilities: ``log_prob(best.heads)``.

        >>> best = DependencyTrees([[0, 2, 1], [0, 0, 1], [0, 0, 0]]).kbest(10)
        >>> best.heads.tolist(), best.score.tolist()
        ([[0, 1], [2, 0]], [3.0, 1.0])
        """
        table, failures = self._core.kbest(as_count(k))
        self._check(failures)
        return BestTrees(**self._unbatch(table))

    def kbest_iterator(self) -> KBestIterator:
        """The trees of a single sentence in the order of their scores, until you stop or there are no more.

        >>> trees = DependencyTrees([[0, 2, 1], [0, 0, 1], [0, 0, 0]]).kbest_iterator()
        >>> [(tree.heads.tolist(), tree.score) for tree in trees]
        [([0, 1], 3.0), ([2, 0], 1.0)]
        """
        if not self._single:
            raise ValueError("an iterator is of one sentence: take one of the batch, d[b]")
        failures = self._core.failures()
        if failures is not None:
            raise_failures(failures)
        return KBestIterator(_taproot.KBestIterator(self._core), self._arrangement)

    def sample(
        self,
        k: int,
        seed: Seed = None,
        algorithm: Algorithm = "auto",
        *,
        step_limit: int = 0,
        first_tree: int = 0,
    ) -> Any:
        """k trees sampled independently: heads (k, n), of a batch (k, B, N), padding -1; with ``label_scores`` also
        labels.

        Without a ``seed`` every call samples other trees. An integer from 0 to 2**64 - 1 gives the same trees every
        time. A ``numpy.random.Generator`` gives one seed per call, so that calls differ and the program can be
        repeated; a ``SeedSequence`` gives its own seed. Tree s of a sentence depends on (seed, the sentence's id,
        first_tree + s) alone, whatever the number of threads, the batch it is in, and how many trees are sampled.

        ``sample_without_replacement`` with the same seed shares these trees: it takes them in order and skips repeats,
        so that a seed names one sequence of trees. Use two seeds where the two should be independent.

        ``algorithm``: ``"auto"`` is the right choice unless you compare samplers; ``"elimination"``, ``"wilson"``
        (multi-root), ``"wilson-marginal"``, ``"wilson-reject"`` (single-root) and ``"colbourn"`` have the same law;
        ``"wilson-rc"`` is biased and here for comparison. ``step_limit`` is the number of steps after which the walks
        that are asked for by name give up a tree (status ``"step_limit"``); 0 means never.

        >>> d = DependencyTrees(np.zeros((3, 3)))
        >>> trees = d.sample(1000, seed=7)
        >>> trees.shape, bool(abs((trees[:, 0] == 0).mean() - 0.5) < 0.1)
        ((1000, 2), True)
        """
        try:
            shape = (k, self._n) if self._single else (k, self._batch, self._n)
            heads = np.empty(shape, INT32)
            labels = None if self._label_count is None else np.empty(shape, INT32)
            number = fresh_bits(64) if seed is None else seed if type(seed) is int else as_seed(seed)
            failures = self._core.sample(k, number, algorithm, step_limit, first_tree, heads, labels)
        except (OverflowError, TypeError, ValueError):
            # Only now is it worth looking what was wrong, to say so.
            as_first_tree(first_tree, as_count(k))
            as_count(step_limit, "step_limit")
            as_seed(seed)
            as_name(algorithm, "algorithm")
            raise
        if failures is not None:
            self._check(failures)
        # Most callers want one sentence's heads as they are, and a short call more than anything else.
        return heads if labels is None and not self._arrangement.root else self._trees(heads, labels)

    def sample_without_replacement(
        self,
        k: int,
        seed: Seed = None,
        algorithm: WithoutReplacementAlgorithm = "auto",
        *,
        memory_limit: int = _GIB,
    ) -> WithoutReplacementSample:
        """k different trees, each sampled from the trees that are left; all of them if there are no more than k.

        ``seed`` as for ``sample``: None, an integer, a ``numpy.random.Generator`` or a ``SeedSequence``. The result has
        ``estimate`` and ``interval`` for expectations.

        ``sample`` with the same seed shares these trees: ``"auto"`` takes them in order and skips repeats, as long as
        that is efficient, so that a seed names one sequence of trees. Use two seeds where the two should be
        independent, as in a comparison of estimates with and without replacement.

        ``algorithm``: ``"auto"`` is the right choice unless you compare samplers; ``"trie"``, ``"beam"`` and the
        literature's ``"list"`` have the same law. ``memory_limit`` is the number of bytes that a sentence's trie may
        take; it does not change which trees come.

        Of a batch, sentences with fewer trees than others are filled up with rows of -1, of ``log_prob`` -inf and
        weight 0; ``d.log_prob(s.heads)`` gives NaN for these rows.

        >>> s = DependencyTrees(np.zeros((3, 3))).sample_without_replacement(5)
        >>> sorted(s.heads.tolist()), s.exhausted, s.weights
        ([[0, 1], [2, 0]], True, array([0.5, 0.5]))
        """
        table, failures = self._core.sample_without_replacement(
            as_count(k),
            as_seed(seed),
            as_name(algorithm, "algorithm"),
            as_count(memory_limit, "memory_limit"),
        )
        self._check(failures)
        found = self._unbatch(table)
        exhausted = found["exhausted"]
        return WithoutReplacementSample(
            heads=found["heads"],
            log_prob=found["log_prob"],
            gumbel=found["gumbel"],
            weights=found["weights"],
            kappa=float(found["kappa"]) if self._single else found["kappa"],
            exhausted=bool(exhausted) if self._single else exhausted.astype(bool),
            counts=found["counts"],
            labels=found.get("labels"),
        )

    def _unbatch(self, table: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
        """Arrays [k, B, ...] and [B] as those of a single sentence, if it is one; trees in the caller's layout."""
        found: dict[str, Any] = dict(table)
        for name in {"heads", "labels"} & found.keys():
            found[name] = self._arrangement.with_root(found[name])
        if not self._single:
            return found
        for name, array in found.items():
            found[name] = array[:, 0] if name in _OF_TREES else array[0]
        found["counts"] = int(found["counts"])
        return found

    def sample_without_replacement_iterator(
        self,
        seed: Seed = None,
        algorithm: Literal["auto", "trie", "list"] = "auto",
        *,
        memory_limit: int = _GIB,
    ) -> WithoutReplacementIterator:
        """Samples different trees of a single sentence, one after the other, until you stop or there are no more.

        The trees of ``sample_without_replacement`` with the same seed, which it shares with ``sample``.

        >>> d = DependencyTrees(np.zeros((3, 3)))
        >>> [round(np.exp(tree.log_prob).item(), 6) for tree in d.sample_without_replacement_iterator()]
        [0.5, 0.5]
        """
        if not self._single:
            raise ValueError("an iterator is of one sentence: take one of the batch, d[b]")
        if algorithm not in ("auto", "trie", "list"):
            raise ValueError(f'algorithm must be "auto", "trie" or "list" for an iterator, not {algorithm!r}')
        failures = self._core.failures()
        if failures is not None:
            raise_failures(failures)
        return WithoutReplacementIterator(
            _taproot.WithoutReplacementIterator(
                self._core,
                as_seed(seed),
                algorithm,
                as_count(memory_limit, "memory_limit"),
            ),
            self._arrangement,
        )


def _different(lengths: Any, others: Any, name: str, other_name: str) -> str:
    """How the numbers of words of two batches differ."""
    a, b = np.atleast_1d(lengths), np.atleast_1d(others)
    if a.shape != b.shape:
        return f"{name} has {len(a)} sentences, {other_name} {len(b)}"
    i = int(np.flatnonzero(a != b)[0])
    return f"sentence {i} has {a[i]} words in {name}, and {b[i]} in {other_name}"


def _restored(
    scores: Any,
    lengths: Any,
    root: Root,
    constraints: Any,
    labels: Any,
    ids: Any,
    on_error: Any,
    layout: Layout,
    projective: bool,
) -> DependencyTrees:
    if ids is not None and scores.ndim == 2:
        ids = ids[0]
    own = DependencyTrees(
        scores, lengths, root, constraints, labels, projective=projective, ids=ids, on_error=on_error, copy=False
    )
    own._arrangement = as_arrangement(layout)  # The arrays are in our layout already.
    return own


DependencyTrees.__module__ = "taproot"
