# SPDX-License-Identifier: Apache-2.0
"""What callers give as trees: arrays of heads, or a result with heads and labels."""

from __future__ import annotations

from typing import Any

from ._results import BestTrees, LabeledTrees, ScoredTree, WithoutReplacementSample, WithoutReplacementTree
from ._tensors import WithoutReplacementSample as TensorSample

RESULTS = (LabeledTrees, BestTrees, WithoutReplacementSample, TensorSample, ScoredTree, WithoutReplacementTree)


def parts_of(trees: Any, labels: Any = None) -> tuple[Any, Any]:
    """Heads and labels. A result's own labels count unless others are given; heads alone have those given."""
    if isinstance(trees, RESULTS):
        return trees.heads, trees.labels if labels is None else labels
    return trees, labels
