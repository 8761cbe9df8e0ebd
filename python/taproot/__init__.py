# SPDX-License-Identifier: Apache-2.0
"""Exact inference over distributions of dependency trees.

Everything hangs off ``DependencyTrees``; ``taproot.torch`` and ``taproot.jax`` have the same for their tensors, with
gradients.
"""

from ._constraints import Constraints
from ._distribution import DependencyTrees
from ._draw import Drawing, Tree
from ._errors import NoTreeError, SentenceError
from ._iterator import DistinctIterator
from ._results import (
    DistinctTree,
    KBest,
    LabelledTrees,
    WithoutReplacement,
    horvitz_thompson_weight,
    inclusion_probability,
)
from ._taproot import DeviceQueue, cuda_available, cuda_description
from ._taproot import version as _version
from ._threads import get_num_threads, set_num_threads

__version__ = _version()

__all__ = [
    "Constraints",
    "DependencyTrees",
    "DeviceQueue",
    "DistinctIterator",
    "DistinctTree",
    "Drawing",
    "KBest",
    "LabelledTrees",
    "NoTreeError",
    "SentenceError",
    "Tree",
    "WithoutReplacement",
    "__version__",
    "cuda_available",
    "cuda_description",
    "get_num_threads",
    "horvitz_thompson_weight",
    "inclusion_probability",
    "set_num_threads",
]
