# SPDX-License-Identifier: Apache-2.0
"""What the pages say and their examples do not show. The examples themselves are run by test_pages.py."""

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


def test_probabilities_of_several_edges() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 4))
    names: dict[str, Any] = {"np": np, "taproot": taproot, "scores": scores}
    (block,) = code_of("docs/python.md", "p_b_given_a")
    exec(compile(block, "docs/python.md", "exec"), names)
    trees = taproot.DependencyTrees(scores).kbest(100)
    p = np.exp(taproot.DependencyTrees(scores).log_prob(trees.heads))
    a, b = trees.heads[:, 0] == 2, trees.heads[:, 2] == 2
    assert names["p_a_and_b"] == pytest.approx(p[a & b].sum())
    assert names["p_b_given_a"] == pytest.approx(p[a & b].sum() / p[a].sum())


@pytest.mark.parametrize("page", ["docs/corpora.md", "docs/errors.md"])
def test_every_status_is_explained(page: str) -> None:
    text = (ROOT / page).read_text()
    rows = taproot._taproot.row_statuses() if page == "docs/corpora.md" else ("no_tree", "bad_score", "empty")
    for status in ("ok", *rows):
        assert f"`{status}`" in text or status == "step_limit", status


def test_small_samples_are_said_not_to_be_trusted() -> None:
    said = r"fewer than about\s+10\s+trees"
    for text in (
        (ROOT / "docs/without_replacement.md").read_text(),
        taproot.estimate.__doc__,
        taproot.interval.__doc__,
        taproot.WithoutReplacementSample.estimate.__doc__,
        taproot.WithoutReplacementSample.interval.__doc__,
    ):
        assert re.search(said, text or ""), text
    # What the pages say: infinite or wide though little is left, and zero width for equal values.
    d = taproot.DependencyTrees(np.random.default_rng(2).normal(0, 12, (6, 6)))
    s = d.sample_without_replacement(5, seed=1)
    low, high = s.interval((s.heads == 1).sum(axis=-1))
    assert np.exp(s.log_prob).sum() > 0.99 and high - low > 3
    assert s.interval(np.full(5, 3.0)).low == s.interval(np.full(5, 3.0)).high == 3
    assert taproot.interval([3, 3, 3, 3]).low == taproot.interval([3, 3, 3, 3]).high == 3


def test_the_readme_says_that_lengths_count_root() -> None:
    (block,) = code_of("README.md", "taproot.torch.nll")
    assert "# lengths count ROOT" in block


def test_log_prob_of_the_distribution_is_documented() -> None:
    torch = pytest.importorskip("torch")
    from taproot.torch import DependencyTrees

    text = DependencyTrees.log_prob.__doc__ or ""
    for piece in ("sample_shape + batch_shape + (N,)", "-inf", "NaN", "ValueError", "labels"):
        assert piece in text, piece
    scores = torch.zeros(4, 4)
    scores[2, 1] = -torch.inf
    d = DependencyTrees(scores, validate_args=True)  # torch.compile turns the default off.
    trees = torch.tensor([[[2, 0, 2], [-1, -1, -1]], [[0, 1, 2], [3, 3, 0]]])
    found = d.log_prob(trees)
    assert found.shape == (2, 2) and found[0, 0] == -torch.inf and found[0, 1].isnan() and found[1].isfinite().all()
    with pytest.raises(ValueError, match="not in the support"):
        d.log_prob(torch.tensor([2, 1, 0]))
    assert DependencyTrees(scores, validate_args=False).log_prob(torch.tensor([2, 1, 0])) == -torch.inf


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
