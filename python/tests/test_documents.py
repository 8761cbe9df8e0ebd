# SPDX-License-Identifier: Apache-2.0
"""The code of the pages about PyTorch and JAX runs, and does what its assertions say."""

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot

ROOT = Path(__file__).resolve().parents[2]


def code_of(page: str, containing: str = "") -> list[str]:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if containing in block]


def test_the_page_about_pytorch_and_jax() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    names: dict[str, Any] = {}
    blocks = code_of("docs/pytorch.md")
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, "docs/pytorch.md", "exec"), names)


def test_the_errors_on_the_page_are_raised() -> None:
    """An `except` that nothing reaches would pass the test above."""
    pytest.importorskip("torch")
    names: dict[str, Any] = {}
    raised = 0
    for block in code_of("docs/pytorch.md"):
        if "jax" in block:
            continue
        for tried in re.split(r"(?=^try:)", block, flags=re.MULTILINE):
            if tried.startswith("try:"):
                raised += 1
                with pytest.raises(ValueError):
                    exec(textwrap.dedent(tried[len("try:\n") : tried.index("except")]), names)
            else:
                exec(tried, names)
    assert raised == 4


def test_the_recipes_of_the_page_about_python(monkeypatch: Any, tmp_path: Path) -> None:
    scores = np.random.default_rng(0).normal(size=(4, 4))
    names: dict[str, Any] = {"np": np, "taproot": taproot, "scores": scores}
    (block,) = code_of("docs/python.md", "p_b_given_a")
    exec(compile(block, "docs/python.md", "exec"), names)
    trees = taproot.DependencyTrees(scores).kbest(100)
    p = np.exp(taproot.DependencyTrees(scores).log_prob(trees.heads))
    a, b = trees.heads[:, 0] == 2, trees.heads[:, 2] == 2
    assert names["p_a_and_b"] == pytest.approx(p[a & b].sum())
    assert names["p_b_given_a"] == pytest.approx(p[a & b].sum() / p[a].sum())
    (block,) = code_of("docs/python.md", "projective_mass")
    exec(compile(block, "docs/python.md", "exec"), names)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    (block,) = code_of("docs/python.md", "load_label_scores")
    exec(compile(block, "docs/python.md", "exec"), names)
    assert len(taproot.read_conllu("best.conllu")) == len(names["words"])


def test_the_parser_of_the_readme() -> None:
    torch = pytest.importorskip("torch")
    (block,) = code_of("README.md", "taproot.torch.nll")
    scores = torch.zeros(2, 4, 4, requires_grad=True)
    names: dict[str, Any] = {
        "scores": scores,
        "gold": torch.tensor([[-100, 2, 0, 2], [-100, 2, 0, -100]]),  # ROOT first, as the text says.
        "lengths": torch.tensor([4, 3]),
    }
    exec(compile(block, "README.md", "exec"), names)
    names["loss"].backward()
    assert scores.grad[0, 1, 2] < 0  # [dependent, head]
    assert names["heads"].shape == (2, 4) and names["p"].shape == (2, 4, 4)
    torch.testing.assert_close(names["p"][0, 1:].sum(-1), torch.ones(3))
