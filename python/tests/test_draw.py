# SPDX-License-Identifier: Apache-2.0
"""Drawings: what a notebook shows of a distribution."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import taproot
from taproot import DependencyTrees

WORDS = "She saw stars"


def drawn(svg: str) -> dict[tuple[int, int], str]:
    """What is written on each edge."""
    texts = re.findall(r'<text [^>]*data-h="(\d+)" data-m="(\d+)"[^>]*>([^<]*)</text>', svg)
    return {(int(h), int(m)): text for h, m, text in texts if text != "ROOT"}


def percent(p: float) -> str:
    return "&gt;99%" if 0.995 <= p < 1 else f"{100 * p:.0f}%"


def test_every_edge_bears_its_probability() -> None:
    scores = np.random.default_rng(5).normal(0, 1, (4, 4))
    d = DependencyTrees(scores)
    p = d.marginals()
    expected = {(int(h), int(m)): percent(p[h, m]) for h, m in np.argwhere(p >= 0.05)}
    assert drawn(d.draw(WORDS).svg) == expected
    assert drawn(d.draw(WORDS, threshold=0.3).svg) == {edge: text for edge, text in expected.items() if p[edge] >= 0.3}


def test_the_threshold_is_that_of_the_other_drawings() -> None:
    default = inspect.signature(DependencyTrees.draw).parameters["threshold"].default
    assert default == taproot._taproot.DRAW_THRESHOLD == 0.05


def test_labels_stand_on_the_edges() -> None:
    rng = np.random.default_rng(6)
    labels = ["nsubj", "obj", "<root>"]
    d = DependencyTrees(rng.normal(0, 1, (4, 4)), label_scores=rng.normal(0, 1, (4, 4, 3)))
    best = d.label_marginals().argmax(axis=-1)
    for (h, m), text in drawn(d.draw(WORDS, labels=labels).svg).items():
        name = labels[best[h, m]].replace("<", "&lt;").replace(">", "&gt;")
        assert text == f"{name} {percent(d.marginals()[h, m])}"
    assert "nsubj" not in d.draw(WORDS).svg
    with pytest.raises(ValueError, match="labels must be 3, one per label, not 2"):
        d.draw(WORDS, labels=labels[:2])
    with pytest.raises(ValueError, match="labels need label_scores"):
        DependencyTrees(np.zeros((4, 4))).draw(WORDS, labels=labels)
    with pytest.raises(ValueError, match="words must be 3, one per word, not 2"):
        d.draw("She saw")


def test_drawings_are_saved_as_svg_alone(tmp_path):
    drawing = taproot.TreeDrawing([2, 0, 2], "She saw stars")
    drawing.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text().startswith("<svg")
    with pytest.raises(ValueError, match=r"must end in \.svg"):
        drawing.save(tmp_path / "tree.png")
    assert not (tmp_path / "tree.png").exists()
