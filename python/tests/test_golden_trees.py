# SPDX-License-Identifier: Apache-2.0
"""The trees that seeds give are part of the format: tests/golden/trees.json pins them for every language."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot

FILE = json.loads((Path(__file__).parents[2] / "tests" / "golden" / "trees.json").read_text())
# What the file leaves out has its usual value.
USUAL = {"family": "all", "replacement": True, "id": 0, "first_tree": 0, "fallbacks": 0, "exhausted": False}
CASES = [USUAL | case for case in FILE["cases"]]


def with_infinities(rows: Any) -> Any:
    return [with_infinities(row) for row in rows] if isinstance(rows, list) else -math.inf if rows is None else rows


GRAPHS = {graph["name"]: graph for graph in FILE["graphs"]}


def trees_of(case: dict[str, Any]) -> taproot.DependencyTrees:
    graph = GRAPHS[case["graph"]]
    labels = graph.get("label_scores")
    return taproot.DependencyTrees(
        np.array(with_infinities(graph["scores"])),
        root=case["root"],
        projective=case["family"] == "projective",
        label_scores=None if labels is None else np.array(with_infinities(labels)),
        ids=case["id"],
    )


def name_of(case: dict[str, Any]) -> str:
    return "/".join(str(case[key]) for key in ("graph", "family", "root", "replacement", "algorithm", "seed", "id"))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_golden_trees(case: dict[str, Any]) -> None:
    d = trees_of(case)
    if case["replacement"]:
        found = d.sample(case["k"], case["seed"], case["algorithm"], first_tree=case["first_tree"])
        heads, labels = (found.heads, found.labels) if "labels" in case else (found, None)
    else:
        s = d.sample_without_replacement(case["k"], case["seed"], case["algorithm"])
        heads, labels = s.heads, s.labels
        np.testing.assert_allclose(s.log_prob, case["log_prob"], atol=1e-9)
        np.testing.assert_allclose(s.gumbel, case["gumbel"], atol=1e-9)
        kappa = -math.inf if case["kappa"] is None else case["kappa"]
        assert s.exhausted == case["exhausted"] and (s.kappa == kappa or abs(s.kappa - kappa) < 1e-9)
    assert heads.tolist() == case["trees"]
    if "labels" in case:
        assert labels is not None and labels.tolist() == case["labels"]
