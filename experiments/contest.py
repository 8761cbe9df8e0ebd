# SPDX-License-Identifier: Apache-2.0
"""What the experiments on speed do alike: the paper's algorithms in NumPy and ours take turns on the same graphs, in
one run, so that every ratio compares times measured side by side. A row is (x, case, implementation, algorithm, ms).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from harness import Experiment, quartiles
from laws import FALSE_ALARM, normal_tail
from plots import COLORS, line
from without_replacement import SAMPLERS as WITHOUT_REPLACEMENT

import taproot

NUMPY, OURS, CPP = "NumPy", "taproot", "C++"
STYLES = {NUMPY: "--", OURS: "-", CPP: ":"}
Contender = tuple[str, str]  # (implementation, algorithm)
Rows = list[dict[str, Any]]


def turn(contenders: dict[Contender, Callable[[], Any]]) -> dict[Contender, float]:
    """The milliseconds of each, one after the other; below 5 ms, the median of several calls."""
    taken = {}
    for contender, function in contenders.items():
        times: list[float] = []
        while not times or (len(times) < 9 and sum(times) < 5):
            start = time.perf_counter()
            function()
            times.append(1e3 * (time.perf_counter() - start))
        taken[contender] = statistics.median(times)
    return taken


def times(rows: Rows, x: str, contender: Contender) -> dict[Any, list[float]]:
    """The contender's milliseconds by x, a list in the order of the cases."""
    found: dict[Any, list[float]] = {}
    for row in rows:
        if (row["implementation"], row["algorithm"]) == contender:
            found.setdefault(row[x], []).append(row["ms"])
    return found


def ratios(rows: Rows, x: str, slow: Contender, fast: Contender) -> dict[Any, tuple[float, float, float]]:
    """Quartiles, by x, of how many times as long `slow` takes on the same case, where both were measured."""
    above, below = times(rows, x, slow), times(rows, x, fast)
    return {at: quartiles([a / b for a, b in zip(above[at], below[at])]) for at in above if at in below}


def summarize(x: Experiment, rows: Rows, keys: Sequence[str], name: str = "algorithm") -> None:
    """The experiment's summary.csv: quartiles of the times of each contender over the cases that share the keys."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        found.setdefault((*(row[key] for key in keys), row["implementation"], row[name]), []).append(row["ms"])
    x.summary(
        (*keys, "implementation", name, "cases", "low_ms", "median_ms", "high_ms"),
        ((*key, len(ms), *quartiles(ms)) for key, ms in found.items()),
    )


def plot(axes: Any, rows: Rows, x: str, contenders: Iterable[Contender]) -> None:
    """One line per contender: NumPy dashed, ours solid, walks in C++ dotted; quartiles over the cases as a band."""
    for contender in contenders:
        measured = times(rows, x, contender)
        low, middle, high = zip(*(quartiles(ms) for ms in measured.values()))
        implementation, algorithm = contender
        line(
            axes,
            list(measured),
            middle,
            low,
            high,
            f"{algorithm}, NumPy" if implementation == NUMPY else algorithm,
            COLORS[algorithm],
            STYLES[implementation],
        )
    axes.set(xscale="log", yscale="log", ylabel="milliseconds")


def without_replacement_contenders(
    weights: np.ndarray, scores: np.ndarray, k: int, seed: int, names: Iterable[Contender]
) -> Any:
    """k trees without replacement from the weights, by each of them."""
    rng = np.random.default_rng(seed)
    return {
        (implementation, name): (
            (lambda sampler=WITHOUT_REPLACEMENT[name]: sampler(weights, k, rng))
            if implementation == NUMPY
            else (lambda name=name: taproot.DependencyTrees(scores).sample_without_replacement(k, seed, name))
        )
        for implementation, name in names
    }


def shown(quarters: Sequence[float]) -> str:
    """A ratio with its quartiles."""
    low, middle, high = (f"{value:.{0 if value >= 9.95 else 1 if value >= 3 else 2}f}" for value in quarters)
    return f"{middle} ({low}–{high})"


def milliseconds(values: Sequence[float]) -> str:
    middle = statistics.median(values)
    return f"{middle:,.0f}" if middle >= 1000 else f"{middle:.3g}"


def check_frequencies(x: Experiment, heads: np.ndarray, marginals: np.ndarray, what: str) -> None:
    """Edges are as frequent as their marginals say. heads [k][word] from word 1."""
    total, n = heads.shape
    edges = np.zeros((n + 1, n + 1))
    np.add.at(edges, (heads, np.arange(1, n + 1)), 1)
    spread = np.sqrt(total * marginals * np.clip(1 - marginals, 0, 1))
    common = spread > 3  # Where a count is nearly normal.
    z = np.abs(edges - total * marginals)[common] / spread[common]
    x.check(z.size > 0 and z.size * normal_tail(float(z.max())) > FALSE_ALARM, f"{what}: edges follow the marginals")


def check_different(x: Experiment, weights: np.ndarray, scores: np.ndarray, k: int, names: Iterable[Contender]) -> None:
    """Each samples k different trees, and ours have the right log-probabilities."""
    d = taproot.DependencyTrees(scores)
    for contender, sample in without_replacement_contenders(weights, scores, k, 6, names).items():
        found = sample()
        heads = found if contender[0] == NUMPY else found.heads
        exact = d.log_prob(heads)
        what = f"{contender[1]}, {contender[0]}, n = {len(scores) - 1}, k = {k}"
        x.check(len({tuple(tree) for tree in heads.tolist()}) == k, f"{what}: no tree twice")
        x.check(bool(np.isfinite(exact).all()), f"{what}: trees only")
        if contender[0] == OURS:
            x.check(float(np.abs(found.log_prob - exact).max()) < 1e-9, f"{what}: log-probabilities")


def check_masses(x: Experiment, weights: np.ndarray, scores: np.ndarray, algorithms: Iterable[str]) -> None:
    """The total probability of k different trees is the same, on average, for all samplers."""
    d = taproot.DependencyTrees(scores)
    rng = np.random.default_rng(5)
    k, found = 15, {}
    for algorithm in algorithms:
        samples = [d.sample_without_replacement(k, seed, algorithm) for seed in range(400)]
        error = max(float(np.abs(s.log_prob - d.log_prob(s.heads)).max()) for s in samples)
        x.check(error < 1e-9, f"{algorithm}: trees have their log-probabilities")
        found[algorithm] = np.array([np.exp(s.log_prob).sum() for s in samples])
        if algorithm in WITHOUT_REPLACEMENT:
            heads = [WITHOUT_REPLACEMENT[algorithm](weights, k, rng) for _ in range(60)]
            found[f"{algorithm}, NumPy"] = np.exp([d.log_prob(trees) for trees in heads]).sum(axis=1)
    first, *others = found
    for other in others:
        a, b = found[first], found[other]
        z = (a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
        x.check(normal_tail(float(z)) > FALSE_ALARM, f"{first} and {other} sample as much probability")
