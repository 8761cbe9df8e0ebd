# SPDX-License-Identifier: Apache-2.0
"""The code of the pages about PyTorch and JAX runs, and does what its assertions say."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def code_of(page: str, containing: str = "") -> list[str]:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if containing in block]


def test_the_page_about_pytorch_and_jax() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    names: dict[str, Any] = {}
    blocks = code_of("docs/pytorch.md")
    assert len(blocks) == 6
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
    assert raised == 3


def test_the_parser_of_the_readme() -> None:
    torch = pytest.importorskip("torch")
    (block,) = code_of("README.md", "taproot.torch.nll")
    scores = torch.zeros(2, 4, 4, requires_grad=True)
    names: dict[str, Any] = {
        "scores": scores,
        "gold": torch.tensor([[2, 0, 2], [2, 0, -100]]),
        "lengths": torch.tensor([3, 2]),
    }
    exec(compile(block, "README.md", "exec"), names)
    names["loss"].backward()
    assert scores.grad[0, 1, 2] < 0  # [dependent, head]
    assert names["heads"].shape == (2, 3) and names["p"].shape == (2, 4, 4)
    torch.testing.assert_close(names["p"][0, 1:].sum(-1), torch.ones(3))
