# SPDX-License-Identifier: Apache-2.0
"""Trees as heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _taproot
from ._arrays import as_integers


def is_projective(heads: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> Any:
    """Whether the heads are a projective tree: for every edge, all words between head and modifier descend from the
    head. ROOT stands before the first word.

    ``heads`` has shape (n,), or (..., N) for many trees, of which tree i has ``lengths[i]`` words; all have N if
    lengths are not given. Gives a bool, or an array of shape (...). Heads that are not a tree give False.

    >>> import taproot
    >>> taproot.is_projective([2, 0, 2])
    True
    >>> taproot.is_projective([[2, 0, 2], [3, 0, 2]])  # From 3 to 1, across the root.
    array([ True, False])
    """
    trees = as_integers(heads, "heads")
    if trees.ndim == 0:
        raise ValueError("heads must have at least one axis, of words")
    n = trees.shape[-1]
    shape = trees.shape[:-1]
    words = np.full(shape, n) if lengths is None else as_integers(lengths, "lengths")
    if words.shape != shape:
        raise ValueError(f"lengths must have shape {shape}, one per tree, not {words.shape}")
    if words.size and not 0 <= words.min() <= words.max() <= n:
        raise ValueError(f"lengths must be 0 to {n}, not {words.min()} to {words.max()}")
    flat = np.ascontiguousarray(np.clip(trees, -1, n + 1).reshape(-1, n), np.int32)  # int64 may hold other heads.
    found = np.empty(words.size, np.bool_)
    _taproot.are_projective(flat, np.ascontiguousarray(words.reshape(-1), np.int32), found)
    return found.reshape(shape) if shape else bool(found[0])


is_projective.__module__ = "taproot"
