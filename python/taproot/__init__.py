# SPDX-License-Identifier: Apache-2.0
"""Exact inference over distributions of dependency trees.

Everything hangs off ``DependencyTrees``; ``taproot.torch`` and ``taproot.jax`` have the same for their tensors, with
gradients.
"""

from . import _extension  # Says what is wrong where the compiled part cannot be imported.
from ._conllu import Sentence, read_conllu, write_conllu
from ._constraints import Constraints
from ._distribution import DependencyTrees
from ._draw import Drawing, TreeDrawing
from ._errors import NoTreeError, SentenceError
from ._estimate import Estimate, Interval, estimate, interval
from ._evaluate import Attachment, evaluate
from ._iterator import KBestIterator, WithoutReplacementIterator
from ._results import (
    BestTrees,
    LabeledTrees,
    ScoredTree,
    WithoutReplacementSample,
    WithoutReplacementTree,
    horvitz_thompson_weight,
    inclusion_probability,
)
from ._scores import load_label_scores, load_scores, save_scores
from ._taproot import Cuda, CudaDependencyTrees, cuda_available, cuda_description
from ._threads import get_num_threads, set_num_threads
from ._tree import is_projective
from ._versions import show_versions

__version__ = _extension.version

__all__ = [
    "Attachment",
    "BestTrees",
    "Constraints",
    "Cuda",
    "CudaDependencyTrees",
    "DependencyTrees",
    "Drawing",
    "Estimate",
    "Interval",
    "KBestIterator",
    "LabeledTrees",
    "NoTreeError",
    "ScoredTree",
    "Sentence",
    "SentenceError",
    "TreeDrawing",
    "WithoutReplacementIterator",
    "WithoutReplacementSample",
    "WithoutReplacementTree",
    "__version__",
    "cuda_available",
    "cuda_description",
    "estimate",
    "evaluate",
    "get_num_threads",
    "horvitz_thompson_weight",
    "inclusion_probability",
    "interval",
    "is_projective",
    "load_label_scores",
    "load_scores",
    "read_conllu",
    "save_scores",
    "set_num_threads",
    "show_versions",
    "write_conllu",
]
