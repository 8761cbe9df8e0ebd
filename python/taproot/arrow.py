# SPDX-License-Identifier: Apache-2.0
"""Questions about batches of Arrow's columns: the function that Ray, Spark, Polars and other engines map over a corpus.

``pip install taproot-trees[arrow]`` brings pyarrow, which this module needs. docs/corpora.md has a line per engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from . import _taproot
from ._arrays import as_count, as_seed, as_switch
from ._arrow_answers import (
    BAD_LENGTH,
    BAD_SCORE,
    INTEGERS,
    NO_ID,
    NO_SCORES,
    NUMBERS,
    TREES,
    Answered,
    many_trees,
    one_tree,
    plain,
)
from ._arrow_columns import column_of, float_lists, ids_of, integer_lists
from ._threads import get_num_threads, set_num_threads

Operation = Literal[
    "log_partition", "entropy", "marginals", "argmax", "mbr", "sample", "sample_without_replacement", "kbest"
]

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
_WITH_K = ("sample", "sample_without_replacement", "kbest")
_SEEDED = ("sample", "sample_without_replacement")
_CONSTRAINTS = ("force", "forbid", "roots", "partial_tree")


class Task:
    """One question about every sentence of a corpus: a function from a ``pyarrow.RecordBatch`` to another with one row
    per row. A ``pyarrow.Table`` gives a table. A task can be pickled.

    Every output row has ``id`` and ``status``: ``ok``, or why there is no answer. ``no_tree``, ``bad_score``, ``empty``
    and ``numerical_loss`` are the outcomes of ``DependencyTrees``; ``no_id`` and ``no_scores`` are rows whose id or
    scores are null, ``bad_length`` scores that are not (n+1)² numbers, ``bad_labels`` label scores that do not fit the
    scores, and ``bad_constraint`` constraints that name words which the sentence does not have. The other columns of
    such a row are null, and no row stops a batch.

    Scores are read in place. The same id and seed give the same row, however rows are split, ordered and retried.

    Parameters
    ----------
    operation
        As in ``DependencyTrees``: ``"log_partition"``, ``"entropy"``, ``"marginals"``, ``"argmax"``, ``"mbr"``,
        ``"sample"``, ``"sample_without_replacement"`` or ``"kbest"``. The columns have the names that the command line
        writes; k trees are lists of lists.
    k
        How many trees the samplers and ``kbest`` give per sentence.
    seed
        An integer, of the samplers.
    algorithm
        Of the samplers, as in ``DependencyTrees``.
    threshold
        Of ``marginals``: edges of at least this probability, as lists ``head``, ``modifier`` (with labels also
        ``label``) and ``probability``, ordered by modifier. Without it, ``marginals`` has all (n+1)² numbers.
    root, projective
        As in ``DependencyTrees``.
    id, id_type
        The name of the column of ids, and their type, ``"int64"`` or ``"string"``. A string stands for its XXH64 hash.
    scores
        The name of a column of lists, large lists, fixed-size lists or tensors of (n+1)² floats, ``[head, modifier]``
        row by row; lists of lists, too. A binary column holds float32, little-endian, which Parquet decodes fastest.
    label_scores, label_count
        The name of a column with (n+1)² times ``label_count`` floats per row.
    force, forbid, roots, partial_tree
        Names of columns with constraints, of which null means none. ``force`` and ``forbid`` have lists of structs
        of the integers ``head`` and ``modifier``, ``roots`` lists of the words that may hang off ROOT, and
        ``partial_tree`` lists of heads, negative or null where they are open.
    keep
        Fields (``pyarrow.Field``, or a schema) of input columns that the output has, too.
    threads
        How many threads the process uses from the next batch on; 1 is right where an engine runs one worker per core.

    >>> import pyarrow as pa
    >>> task = taproot.arrow.Task("argmax")
    >>> batch = pa.record_batch({"id": [7, 8], "scores": [[0, 2, 1, 0, 0, 1, 0, 0, 0.0], [0.0, 1.0]]})
    >>> found = task(batch)
    >>> found.column("status").to_pylist(), found.column("heads").to_pylist()
    (['ok', 'bad_length'], [[0, 1], None])
    """

    def __init__(
        self,
        operation: Operation,
        *,
        k: int | None = None,
        seed: int = 0,
        algorithm: str = "auto",
        threshold: float | None = None,
        root: Literal["single", "multi"] = "single",
        projective: bool = False,
        id: str = "id",
        id_type: Literal["int64", "string"] = "int64",
        scores: str = "scores",
        label_scores: str | None = None,
        label_count: int | None = None,
        force: str | None = None,
        forbid: str | None = None,
        roots: str | None = None,
        partial_tree: str | None = None,
        keep: Iterable[Any] = (),
        threads: int | None = None,
    ) -> None:
        if operation not in OPERATIONS:
            raise ValueError(f"operation must be one of {', '.join(OPERATIONS)}, not {operation!r}")
        if (k is None) == (operation in _WITH_K):
            raise ValueError(f"{operation} {'needs k, the number of trees' if k is None else 'takes no k'}")
        if k is not None and as_count(k) == 0:
            raise ValueError("k must be at least 1, not 0")
        if threshold is not None and operation != "marginals":
            raise ValueError(f"threshold is for marginals only, and the operation is {operation!r}")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be a probability, from 0 to 1, not {threshold!r}")
        if algorithm != "auto" and operation not in _SEEDED:
            raise ValueError(f"{operation} takes no algorithm")
        if root not in ("single", "multi"):
            raise ValueError(f'root must be "single" or "multi", not {root!r}')
        if id_type not in ("int64", "string"):
            raise ValueError(f'id_type must be "int64" or "string", not {id_type!r}')
        if (label_scores is None) != (label_count is None) or label_count == 0:
            raise ValueError("label_scores, the name of a column, and label_count, from 1 on, go together")
        self._operation = operation
        self._k = 0 if k is None else as_count(k)
        self._seed = as_seed(seed)
        self._algorithm = algorithm
        self._threshold = None if threshold is None else float(threshold)
        self._root = root
        self._projective = as_switch(projective, "projective")
        self._id, self._id_type, self._scores = id, id_type, scores
        self._label_scores = label_scores
        self._label_count = 0 if label_count is None else as_count(label_count, "label_count")
        columns = (force, forbid, roots, partial_tree)
        self._constraints = {kind: name for kind, name in zip(_CONSTRAINTS, columns) if name is not None}
        self._keep = [_as_field(field) for field in keep]
        self._threads = None if threads is None else as_count(threads, "threads")
        names = self.schema.names
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"the output would have two columns {repeated.pop()!r}")
        self(self._trial_input())  # Refuses an algorithm that does not exist or does not go with the rest.

    @property
    def operation(self) -> str:
        """What is asked."""
        return self._operation

    @property
    def columns(self) -> list[str]:
        """The names of the input columns that the task reads, so that an engine can leave out the others."""
        found = [self._id, self._scores, *filter(None, [self._label_scores]), *self._constraints.values()]
        return list(dict.fromkeys(found + [field.name for field in self._keep]))

    @property
    def schema(self) -> Any:
        """The schema of the output."""
        first = [pa.field(self._id, pa.string() if self._id_type == "string" else pa.int64())]
        first.append(pa.field("status", pa.string()))
        return pa.schema([*first, *self._keep, *map(pa.field, *zip(*self._answers()))])

    def _answers(self) -> list[tuple[str, Any]]:
        """The names and types of the columns that are the answer."""
        number, labeled = pa.float64(), self._label_count > 0
        if self._operation in ("log_partition", "entropy"):
            return [("n", pa.int32()), (self._operation, number)]
        if self._operation == "marginals":
            if self._threshold is None:
                return [("n", pa.int32()), ("marginals", NUMBERS)]
            of_labels = [("label", INTEGERS)] if labeled else []
            return [("n", pa.int32()), ("head", INTEGERS), ("modifier", INTEGERS), *of_labels, ("probability", NUMBERS)]
        one = self._operation in ("argmax", "mbr")
        trees = [(name, INTEGERS if one else TREES) for name in ("heads", "labels")[: 1 + labeled]]
        if one:
            return [*trees, ("score", number), ("log_prob", number)]
        if self._operation == "sample":
            return [*trees, ("log_prob", NUMBERS)]
        if self._operation == "kbest":
            return [*trees, ("score", NUMBERS), ("log_prob", NUMBERS), ("exhausted", pa.bool_())]
        numbers = [(name, NUMBERS) for name in ("log_prob", "gumbel", "weight")]
        return [*trees, *numbers, ("kappa", number), ("exhausted", pa.bool_())]

    def _trial_input(self) -> Any:
        """A batch with a sentence of one word."""
        edges = pa.list_(pa.struct([("head", pa.int32()), ("modifier", pa.int32())]))
        columns = {field.name: pa.nulls(1, field.type) for field in self._keep}
        for kind, name in self._constraints.items():
            columns[name] = pa.nulls(1, edges if kind in ("force", "forbid") else INTEGERS)
        columns[self._scores] = pa.array([[0.0] * 4])
        if self._label_scores is not None:
            columns[self._label_scores] = pa.array([[0.0] * 4 * self._label_count])
        columns[self._id] = pa.array([""] if self._id_type == "string" else [0])
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def __call__(self, batch: Any) -> Any:
        """The answers for the rows of a ``pyarrow.RecordBatch``, or of a ``pyarrow.Table``.

        KeyError if a column is missing, TypeError if one has another type.
        """
        if isinstance(batch, pa.Table):
            return pa.Table.from_batches(map(self, batch.to_batches()), self.schema)
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"a task is for a pyarrow.RecordBatch or Table, not {type(batch).__name__}")
        if self._threads is not None and self._threads != get_num_threads():
            set_num_threads(self._threads)
        ids, statuses, rows, words = self._read(batch)
        make = self._ask(rows)  # The statuses are final after this.
        answered = Answered(statuses)
        kept = [column_of(batch, field.name).cast(field.type) for field in self._keep]
        columns = [ids, answered.status(), *kept, *make(answered, words)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def stream(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The answers for one batch after the other.

        >>> batch = pa.record_batch({"id": [1], "scores": [[0, 1, 0, 0.0]]})
        >>> [found.column("log_partition").to_pylist() for found in taproot.arrow.Task("log_partition").stream([batch])]
        [[1.0]]
        """
        return map(self, batches)

    def _read(self, batch: Any) -> tuple[Any, Any, _taproot.Rows, Any]:
        """The ids, the statuses that C++ fills in, the rows in C++, and how many words each has if it is a sentence."""
        ids, keys, with_id = ids_of(column_of(batch, self._id), self._id, self._id_type == "string")
        scores = float_lists(column_of(batch, self._scores), self._scores)
        statuses = np.zeros(len(batch), np.uint8)
        for why, good in (
            (BAD_SCORE, scores.whole),
            (BAD_LENGTH, scores.square),
            (NO_SCORES, scores.valid),
            (NO_ID, with_id),
        ):
            statuses[~good] = why
        multi = self._root == "multi"
        rows = _taproot.Rows(scores.values, scores.offsets, statuses, keys, multi, self._projective)
        if self._label_scores is not None:
            labels = float_lists(column_of(batch, self._label_scores), self._label_scores)
            valid = (labels.valid & labels.whole).astype(np.uint8)
            rows.set_labels(labels.values, labels.offsets, valid, self._label_count)
        for kind, name in self._constraints.items():
            rows.set_constraint(kind, *integer_lists(column_of(batch, name), name, kind in ("force", "forbid")))
        words = np.rint(np.sqrt(np.diff(scores.offsets))).astype(np.int32) - 1
        return ids, statuses, rows, words

    def _ask(self, rows: _taproot.Rows) -> Any:
        """Asks the question. What comes back makes the columns of the answer."""
        names = [name for name, _ in self._answers()]
        if self._operation in ("log_partition", "entropy"):
            numbers = getattr(rows, self._operation)()
            return lambda to, n: [to.numbers(n, pa.int32()), to.numbers(numbers, pa.float64())]
        found: Any
        if self._operation == "marginals":
            dense = self._threshold is None
            found = rows.dense_marginals() if dense else rows.sparse_marginals(self._threshold or 0.0)
            lists = names[1:]
            return lambda to, n: [
                to.numbers(n, pa.int32()),
                *(to.lists(found["offsets"], plain(found[name])) for name in lists),
            ]
        if self._operation in ("argmax", "mbr"):
            found = rows.argmax() if self._operation == "argmax" else rows.mbr()
            return lambda to, n: one_tree(found, to, names)
        if self._operation == "sample":
            found = rows.sample(self._k, self._seed, self._algorithm)
        elif self._operation == "sample_without_replacement":
            found = rows.sample_without_replacement(self._k, self._seed, self._algorithm)
        else:
            found = rows.kbest(self._k)
        return lambda to, n: many_trees(found, to, names)

    def describe(self) -> dict[str, Any]:
        """What the task does, as JSON has it: two tasks with the same description give the same answers."""
        found: dict[str, Any] = {"operation": self._operation}
        if self._operation in _WITH_K:
            found["k"] = self._k
        if self._operation in _SEEDED:
            found |= {"seed": self._seed, "algorithm": self._algorithm}
        if self._threshold is not None:
            found["threshold"] = self._threshold
        found |= {"root": self._root, "projective": self._projective}
        found |= {"id": self._id, "id_type": self._id_type, "scores": self._scores}
        if self._label_scores is not None:
            found |= {"label_scores": self._label_scores, "label_count": self._label_count}
        found |= self._constraints
        if self._keep:
            found["keep"] = {field.name: str(field.type) for field in self._keep}
        return found

    def __repr__(self) -> str:
        options = self.describe()
        listed = ", ".join(f"{name}={value!r}" for name, value in options.items() if name != "operation")
        return f"Task({self._operation!r}, {listed})"


def _as_field(field: Any) -> Any:
    if isinstance(field, pa.Field):
        return field
    raise ValueError(f"keep has fields, such as pyarrow.field('text', pyarrow.string()), not {field!r}")


__all__: Sequence[str] = ["Task"]
