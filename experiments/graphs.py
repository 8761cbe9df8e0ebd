# SPDX-License-Identifier: Apache-2.0
"""The weights that the experiments use: random ones, as the paper's, and those of the trained parsers in data/."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from harness import ROOT

import taproot


def uniform_weights(n: int, rng: np.random.Generator) -> np.ndarray:
    """The paper's random graphs: weights uniform on (0, 1); column 0 and the diagonal are 0."""
    weights = rng.random((n + 1, n + 1))
    weights[:, 0] = 0
    np.fill_diagonal(weights, 0)
    return weights


def truncated_normal(rng: np.random.Generator, shape: tuple[int, ...], mean: float, deviation: float) -> np.ndarray:
    """Normal, given that it is not negative."""
    values = rng.normal(mean, deviation, shape)
    while (negative := values < 0).any():
        values[negative] = rng.normal(mean, deviation, int(negative.sum()))
    return values


# Families of independent weights: the paper's, and one with heavy tails.
FAMILIES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "uniform": lambda rng, shape: rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "truncated normal": lambda rng, shape: truncated_normal(rng, shape, 0, 1),
    "truncated normal (1, 1)": lambda rng, shape: truncated_normal(rng, shape, 1, 1),
    "truncated normal (2, 1)": lambda rng, shape: truncated_normal(rng, shape, 2, 1),
    "log-normal, σ = 3": lambda rng, shape: rng.lognormal(0, 3, shape),
}


def expected_tries(family: str, n: int, graphs: int, rng: np.random.Generator) -> np.ndarray:
    """Z_T / Z_D of random graphs, exact, computed in batches of a few megabytes."""
    found = []
    while graphs > 0:
        count = min(graphs, max(1, 2_000_000 // (n + 1) ** 2))
        weights = FAMILIES[family](rng, (count, n + 1, n + 1))
        found.append(taproot.DependencyTrees(scores_of(weights), copy=False).expected_tries())
        graphs -= count
    return np.concatenate(found)


def scores_of(weights: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(weights)


def trained(name: str) -> list[np.ndarray]:
    """The score matrices of data/NAME.npz."""
    with np.load(ROOT / "data" / f"{name}.npz") as file:
        scores, lengths = file["scores"].astype(np.float64), file["lengths"]
    matrices = np.split(scores, np.cumsum((lengths + 1) ** 2)[:-1])
    return [matrix.reshape(n + 1, n + 1) for matrix, n in zip(matrices, lengths)]
