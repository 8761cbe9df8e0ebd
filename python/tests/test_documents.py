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


def test_lists_and_ids_of_the_page_about_python(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    taproot.write_conllu("gold.conllu", ["a b c", "a b"], [[2, 0, 2], [2, 0]])
    rng = np.random.default_rng(1)
    two = [rng.normal(size=(4, 4)), rng.normal(size=(3, 3))]
    (block,) = code_of("docs/python.md", "log_prob(d.argmax())")
    exec(compile(block, "docs/python.md", "exec"), {"taproot": taproot, "d": taproot.DependencyTrees(two)})
    d = taproot.DependencyTrees(rng.normal(size=(16, 5, 5)))
    (block,) = code_of("docs/python.md", "ids=15")
    one, other = (
        eval(line.split("#")[0], {"taproot": taproot, "d": d, "scores": d[15]._matrix}) for line in lines_of(block)
    )
    np.testing.assert_array_equal(one, d.sample(3, seed=7)[:, 15])
    np.testing.assert_array_equal(other, d.sample(3, seed=7)[:, 3])


def test_the_page_about_corpora() -> None:
    pytest.importorskip("pyarrow")
    (block,) = code_of("docs/corpora.md")
    names: dict[str, Any] = {}
    exec(compile(block, "docs/corpora.md", "exec"), names)
    assert names["found"].num_rows == 3
    page = (ROOT / "docs/corpora.md").read_text()
    for status in ("ok", *taproot._taproot.row_statuses()):
        assert f"`{status}`" in page or status == "step_limit", status


def lines_of(block: str) -> list[str]:
    return block.strip().split("\n")


def test_small_samples_are_said_not_to_be_trusted() -> None:
    said = r"fewer than about\s+10\s+trees"
    for text in (
        (ROOT / "docs/python.md").read_text(),
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
