# SPDX-License-Identifier: Apache-2.0
"""Files of scores, in the layouts that the command line reads and docs/formats.md describes."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_floats, as_integers, as_lengths, is_list_of, pad
from ._layouts import OURS, Arrangement, Layout, as_arrangement

Path = str | os.PathLike[str]
Matrices = list[npt.NDArray[Any]]


def _sentences(values: Any, name: str, axes: int, lengths: Any, arrangement: Arrangement = OURS) -> Matrices:
    """One array [head, modifier] per sentence, of a single one, a padded batch or a list; axes of a single one."""
    found = _as_given(values, name, axes, lengths, arrangement)
    return [arrangement.turned(matrix) if axes == 2 else arrangement.labels_turned(matrix) for matrix in found]


def _as_given(values: Any, name: str, axes: int, lengths: Any, arrangement: Arrangement) -> Matrices:
    if is_list_of(axes, values):
        if lengths is not None:
            raise ValueError("a list of matrices has its own lengths")
        batch, of_list = pad(values, name)
        return [batch[b, : n + 1, : n + 1] for b, n in enumerate(of_list)]
    array = as_floats(values, name, copy=False)
    if array.ndim not in (axes, axes + 1) or array.shape[array.ndim - axes] != array.shape[array.ndim - axes + 1]:
        labels = ", labels" if axes == 3 else ""
        raise ValueError(f"{name} must have shape (n+1, n+1{labels}) or (B, N+1, N+1{labels}), not {array.shape}")
    if array.ndim == axes:
        if lengths is not None:
            raise ValueError(f"lengths are for batches: {name} has shape {array.shape}")
        return [array]
    longest = array.shape[1] - 1
    if lengths is None:
        return list(array)
    of_batch = as_lengths(lengths, len(array), longest, arrangement)
    return [matrix[: n + 1, : n + 1] for matrix, n in zip(array, of_batch)]


def _joined(matrices: Matrices) -> npt.NDArray[Any]:
    return np.concatenate([np.ravel(matrix) for matrix in matrices]) if matrices else np.zeros(0)


def save_scores(
    path: Path,
    scores: npt.ArrayLike | Sequence[npt.ArrayLike],
    lengths: npt.ArrayLike | None = None,
    label_scores: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
    *,
    layout: Layout = "head-dependent",
) -> None:
    """Writes scores to an ``.npz`` archive, which ``load_scores`` and the command line read.

    The arguments are those of ``DependencyTrees``. The archive holds the matrices without their padding, one after the
    other, as ``scores``, the numbers of words as ``lengths`` and, if given, ``label_scores``; then it also serves as
    ``--label-scores`` of the command line. ``layout`` is that of the arguments: in the archive matrices are always
    [head, modifier], and lengths count words. The file appears complete or not at all.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "scores.npz")
    >>> taproot.save_scores(path, np.zeros((2, 4, 4)), lengths=[3, 2])
    >>> [matrix.shape for matrix in taproot.load_scores(path)]
    [(4, 4), (3, 3)]
    """
    name = os.fspath(path)
    if not name.endswith(".npz"):
        raise ValueError(f"scores are saved as an .npz archive, and the path {name!r} does not end in .npz")
    arrangement = as_arrangement(layout)
    matrices = _sentences(scores, "scores", 2, lengths, arrangement)
    counts = np.array([len(matrix) - 1 for matrix in matrices], np.int32)
    arrays = {"scores": _joined(matrices), "lengths": counts}
    if label_scores is not None:
        of_labels = _sentences(label_scores, "label_scores", 3, lengths, arrangement)
        for b, (matrix, words) in enumerate(zip(of_labels, counts.tolist(), strict=True)):
            if len(matrix) - 1 != words:
                raise ValueError(f"sentence {b} has {words} words in scores and {len(matrix) - 1} in label_scores")
        arrays["label_scores"] = _joined(of_labels)
    folder, base = os.path.split(name)
    descriptor, temporary = tempfile.mkstemp(prefix=f"{base}.tmp-", dir=folder or ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # As open() would have made it.
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise


def load_scores(path: Path, lengths: npt.ArrayLike | None = None, *, label_scores: bool = False) -> Any:
    """The scores of a file that ``save_scores`` or ``numpy`` wrote: a list of matrices, as ``DependencyTrees`` takes.

    Reads what the command line reads: an ``.npy`` matrix (n+1, n+1), or a padded batch (B, N+1, N+1) with ``lengths``;
    an ``.npz`` archive with ``scores``, joined or padded, and ``lengths``; or one with a matrix per sentence. With
    ``label_scores`` also those of the archive: ``(scores, label_scores)``. ``load_label_scores`` reads an archive that
    has label scores alone. Files have matrices [head, modifier], and so has the answer, which needs no ``layout``.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "scores.npy")
    >>> np.save(path, np.zeros((2, 4, 4)))
    >>> taproot.DependencyTrees(taproot.load_scores(path, lengths=[3, 2])).lengths
    array([3, 2], dtype=int32)
    """
    name = os.fspath(path)
    file = _opened(name)
    if isinstance(file, np.ndarray):
        if label_scores:
            raise ValueError(f"{name} is an .npy array, and label scores are read from an .npz archive")
        return _checked(name, lambda: _sentences(file, "scores", 2, lengths))
    with file:
        if lengths is not None:
            raise ValueError(f"{name} is an archive, which has its own lengths")
        if "lengths" not in file.files:
            if label_scores:
                raise ValueError(f"{name} has no array 'lengths', which label scores need")
            return _checked(name, lambda: [_one_matrix(file, entry) for entry in file.files])
        counts = _counts(name, file)
        found = _checked(name, lambda: _split(file, "scores", 2, counts))
        return (found, _checked(name, lambda: _split(file, "label_scores", 3, counts))) if label_scores else found


def load_label_scores(path: Path) -> Matrices:
    """The label scores of an ``.npz`` archive with ``label_scores``, joined or padded, and ``lengths``.

    A list of arrays (n+1, n+1, labels), one per sentence, as ``DependencyTrees`` takes. The archive may be one of
    ``save_scores``, or one that has no scores of edges, such as the command line's ``--label-scores`` reads.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.npz")
    >>> np.savez(path, label_scores=np.zeros((2, 4, 4, 5)), lengths=[3, 2])
    >>> [array.shape for array in taproot.load_label_scores(path)]
    [(4, 4, 5), (3, 3, 5)]
    """
    name = os.fspath(path)
    file = _opened(name)
    if isinstance(file, np.ndarray):
        raise ValueError(f"{name} is an .npy array, and label scores are read from an .npz archive")
    with file:
        if "lengths" not in file.files:
            raise ValueError(f"{name} has no array 'lengths', which label scores need")
        counts = _counts(name, file)
        found: Matrices = _checked(name, lambda: _split(file, "label_scores", 3, counts))
        return found


def _opened(name: str) -> Any:
    try:
        return np.load(name, allow_pickle=False)
    except (ValueError, zipfile.BadZipFile):
        raise ValueError(f"{name} is neither an .npy array nor an .npz archive") from None


def _counts(name: str, file: Any) -> npt.NDArray[Any]:
    counts = as_integers(file["lengths"], f"{name}: lengths")
    if counts.ndim != 1 or (counts < 0).any():
        raise ValueError(f"{name}: lengths must be numbers of words, of shape (B,), not {counts.shape}")
    return counts


def _checked(name: str, read: Any) -> Any:
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _one_matrix(file: Any, entry: str) -> npt.NDArray[Any]:
    matrix = as_floats(file[entry], entry, copy=False)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        hint = "; an array of all sentences needs an array 'lengths' beside it" if matrix.ndim != 2 else ""
        raise ValueError(f"{entry!r} must be a matrix (n+1, n+1), not {matrix.shape}{hint}")
    return matrix


def _split(file: Any, entry: str, axes: int, lengths: npt.NDArray[Any]) -> Matrices:
    if entry not in file.files:
        hint = "; load_label_scores reads label scores" if "label_scores" in file.files else ""
        raise ValueError(f"there is no array {entry!r}, only {', '.join(file.files)}{hint}")
    array = as_floats(file[entry], entry, copy=False)
    if array.ndim == axes + 1:
        return _sentences(array, entry, axes, lengths)
    if array.ndim != 1:
        raise ValueError(f"{entry} must be joined, of shape (cells,), or padded, (B, N+1, N+1), not {array.shape}")
    sides = lengths.astype(np.int64) + 1
    cells = int((sides**2).sum())
    labels = 1
    if axes == 3:
        labels = array.size // cells if cells else 0
    if array.size != cells * labels or (axes == 3 and labels == 0):
        raise ValueError(f"{entry} has {array.size} numbers, but the lengths need {cells} cells")
    ends = np.cumsum(sides**2 * labels)
    shape = (labels,) if axes == 3 else ()
    return [array[end - side**2 * labels : end].reshape(side, side, *shape) for end, side in zip(ends, sides)]


load_label_scores.__module__ = load_scores.__module__ = save_scores.__module__ = "taproot"
