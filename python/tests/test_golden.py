# SPDX-License-Identifier: Apache-2.0
"""Agreement with answers that were computed in exact arithmetic, by tools that are not ours."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import ROOTS

import taproot

FOLDER = Path(__file__).parents[2] / "tests" / "golden"
INF = math.inf


def matrix(rows: Any) -> np.ndarray:
    return np.array([[-INF if cell is None else cell for cell in row] for row in rows], np.float64)


GOLDEN = json.loads((FOLDER / "golden.json").read_text())["cases"]
SCORES = {case["name"]: matrix(case["scores"]) for case in GOLDEN}
TRAINED = {
    s["name"]: matrix(np.array(s["scores"], object).reshape(s["n"] + 1, s["n"] + 1)).astype(np.float32)
    for s in json.loads((FOLDER / "trained.json").read_text())["sentences"]
}


def answer(case: dict[str, Any], root: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = case[f"{root}_root"]
    return found


def check(
    exact: dict[str, Any], log_z: float, entropy: float, marginals: np.ndarray, of_root: np.ndarray, root: str
) -> None:
    """The promise of the C++ tests: log Z to 1e-12 relative, marginals to 1e-13 absolute, entropy to 1e-11 relative."""
    assert abs(log_z - exact["log_partition"]) <= 1e-12 * max(1.0, abs(exact["log_partition"]))
    assert abs(entropy - exact["entropy"]) <= 1e-11 * max(1.0, exact["entropy"])
    expected = matrix(exact["marginals"])
    assert (marginals >= 0).all()
    assert np.abs(marginals - expected).max() <= 1e-13
    assert np.abs(of_root - expected[0, 1:]).max() <= 1e-13
    if root == "single":  # Free of subtraction.
        assert (np.abs(of_root - expected[0, 1:]) <= 1e-12 * expected[0, 1:] + 2.0**-256).all()


def test_there_are_all_the_cases() -> None:
    assert len(GOLDEN) == 22 and len(TRAINED) == 6
    assert sum(answer(case, root) is None for case in GOLDEN for root in ROOTS) == 5


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_single(case: dict[str, Any], root: str) -> None:
    d = taproot.DependencyTrees(SCORES[case["name"]], root=root)
    exact = answer(case, root)
    if exact is None:
        assert d.status == "no_tree"
        for query in (d.log_partition, d.entropy, d.marginals, d.root_marginals):
            with pytest.raises(taproot.NoTreeError):
                query()
        return
    assert d.status == "ok"
    check(exact, d.log_partition(), d.entropy(), d.marginals(), d.root_marginals(), root)


def padded(fill: Any) -> tuple[np.ndarray, np.ndarray]:
    """All cases in one array: what lies outside a sentence is drawn from `fill`."""
    side = max(len(s) for s in SCORES.values())
    array = np.empty((len(GOLDEN), side, side))
    array.flat = np.resize(np.array(fill, np.float64), array.size)
    for b, scores in enumerate(SCORES.values()):
        array[b, : len(scores), : len(scores)] = scores
    return array, np.array([len(s) - 1 for s in SCORES.values()])


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("how", ["list", "zeros", "garbage", "garbage, not copied"])
def test_batch(root: str, how: str) -> None:
    if how == "list":
        d = taproot.DependencyTrees(list(SCORES.values()), root=root, on_error="status")
    else:
        array, lengths = padded([0.0] if how == "zeros" else [math.nan, INF, 1e308, -INF, 7.0])
        d = taproot.DependencyTrees(array, lengths, root=root, on_error="status", copy="not copied" not in how)
    log_z, entropy, marginals, of_root = d.log_partition(), d.entropy(), d.marginals(), d.root_marginals()
    for b, case in enumerate(GOLDEN):
        exact = answer(case, root)
        n = case["n"]
        if exact is None:
            assert d.status[b] == "no_tree"
            assert math.isnan(log_z[b]) and math.isnan(entropy[b])
            assert np.isnan(marginals[b]).all() and np.isnan(of_root[b]).all()
            continue
        assert d.status[b] == "ok"
        check(exact, log_z[b], entropy[b], marginals[b, : n + 1, : n + 1], of_root[b, :n], root)
        outside = marginals[b].copy()
        outside[: n + 1, : n + 1] = 0
        assert not outside.any() and not of_root[b, n:].any()


@pytest.mark.parametrize("root", ROOTS)
def test_batch_and_single_are_the_same_numbers(root: str) -> None:
    batch = taproot.DependencyTrees([*SCORES.values(), *TRAINED.values()], root=root, on_error="status")
    marginals = batch.marginals()
    for b, scores in enumerate([*SCORES.values(), *TRAINED.values()]):
        # float32 beside float64 in one list: every number is kept.
        d = taproot.DependencyTrees(scores, root=root, on_error="status")
        side = len(scores)
        assert np.array_equal(d.log_partition(), batch.log_partition()[b], equal_nan=True)
        assert np.array_equal(d.entropy(), batch.entropy()[b], equal_nan=True)
        assert np.array_equal(d.marginals(), marginals[b, :side, :side], equal_nan=True)


def log_determinant(scores: np.ndarray, root: str) -> float:
    """log Z by the matrix-tree theorem; LAPACK, good for weights as tame as those of a trained parser."""
    weights = np.exp(scores.astype(np.float64))
    np.fill_diagonal(weights, 0)
    words = weights[1:, 1:]
    laplacian = np.diag(words.sum(axis=0)) - words
    if root == "multi":
        laplacian += np.diag(weights[0, 1:])
    else:
        laplacian[0] = weights[0, 1:]
    sign, value = np.linalg.slogdet(laplacian)
    assert sign > 0
    return float(value)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("name", TRAINED)
def test_trained(name: str, root: str) -> None:
    scores = TRAINED[name]
    d = taproot.DependencyTrees(scores, root=root)
    assert d.log_partition() == pytest.approx(log_determinant(scores, root), rel=1e-9, abs=1e-9)
    p = d.marginals()
    assert np.abs(p[:, 1:].sum(axis=0) - 1).max() < 1e-12 and not p[:, 0].any()
    # The gradient of log Z along the scores themselves, both ways.
    finite = np.where(np.isfinite(scores), scores, 0).astype(np.float64)
    assert d.entropy() == pytest.approx(d.log_partition() - (p * finite).sum(), abs=1e-9)
    assert d.expectation(finite) == pytest.approx((p * finite).sum(), abs=1e-9)
    best = d.argmax()
    assert d.log_prob(best) == pytest.approx(d.kbest(1).score[0] - d.log_partition(), abs=1e-9)
