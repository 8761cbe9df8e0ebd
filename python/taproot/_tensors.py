# SPDX-License-Identifier: Apache-2.0
"""Results whose arrays are a framework's tensors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from . import _results
from ._estimate import Estimate, Interval


@dataclass(frozen=True, eq=False, repr=False)
class WithoutReplacementSample:
    """Different trees, in the order in which they were sampled, as tensors.

    ``heads`` has shape (k, ..., N); ``log_prob``, ``gumbel`` and ``weights`` have shape (k, ...), and ``kappa``,
    ``exhausted`` and ``counts`` have shape (...): what they mean is what ``taproot.WithoutReplacementSample`` says.
    They have no gradient: ask ``log_prob(heads)`` for log-probabilities that do. ``numpy()`` is the same sample as
    NumPy's arrays, with all that such a sample can be asked.
    """

    heads: Any
    log_prob: Any
    gumbel: Any
    weights: Any
    kappa: Any
    exhausted: Any
    counts: Any
    labels: Any = None

    def numpy(self) -> _results.WithoutReplacementSample:
        """The same sample as a ``taproot.WithoutReplacementSample``."""
        arrays = {field.name: as_array(getattr(self, field.name)) for field in fields(self)}
        if arrays["kappa"].ndim == 0:
            for name in ("kappa", "exhausted", "counts"):
                arrays[name] = arrays[name].item()
        return _results.WithoutReplacementSample(**arrays)

    def first(self, k: int) -> _results.WithoutReplacementSample:
        """The first k of these trees, in NumPy's arrays: ``numpy().first(k)``."""
        return self.numpy().first(k)

    def estimate(self, values: Any, normalized: bool = True) -> Estimate:
        """E[f] and its standard error, from the value f of each tree, shape (k, ...): ``numpy().estimate(values)``."""
        return self.numpy().estimate(as_array(values), normalized)

    def interval(self, values: Any, level: float = 0.95) -> Interval:
        """A confidence interval for E[f], from the value f of each tree: ``numpy().interval(values)``."""
        return self.numpy().interval(as_array(values), level)

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        return f"WithoutReplacementSample({_results.sizes(self)})"


def as_array(value: Any) -> Any:
    """The values of a tensor of any framework; None is none."""
    if value is None:
        return None
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind not in "biuf" else array  # bfloat16 is none of NumPy's.
