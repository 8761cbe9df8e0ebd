# SPDX-License-Identifier: Apache-2.0
"""Gold heads that are not trees are reported by the losses, with the sentence and the words."""

from typing import Any

import numpy as np
import pytest

import taproot

# Gold heads of the second sentence, which has four words, and what is said of them.
WRONG = [
    ([0, 1, 0, 1], r'heads\[1\]: words 1 and 3 hang off ROOT, and root="single" allows one root'),
    ([0, 0, 0, 0], r"words 1 and 2 and 3 and 4 hang off ROOT"),
    ([2, 1, 1, 1], r"heads\[1\]: no word hangs off ROOT"),
    ([0, 3, 4, 2], r"heads\[1\]: words 2 -> 3 -> 4 -> 2 form a cycle"),
    ([0, 2, 1, 1], r"heads\[1\]: word 2 is its own head"),
    ([0, 1, 9, 1], r"heads\[1\]: word 3 has head 9, and the sentence has 4 words"),
    ([0, 1, 1, -100], r"heads\[1\]: word 4 has head -100, which is padding.*lengths count words, not ROOT"),
    ([-1, 0, 2, 2], r"heads\[1\]: word 1 has head -1, which is padding"),
    ([0, 1, 2**32 + 1, 1], r"heads\[1\]: word 3 has head"),
]
GOOD = [2, 0, 2, -100]
LENGTHS = [3, 4]


@pytest.mark.parametrize(("gold", "message"), WRONG)
def test_torch(gold: Any, message: str) -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    scores = torch.zeros(2, 5, 5)
    with pytest.raises(ValueError, match=message):
        tt.nll(scores, torch.tensor([GOOD, gold]), LENGTHS)


@pytest.mark.parametrize(("gold", "message"), WRONG)
def test_jax_outside_jit_and_within_grad(gold: Any, message: str) -> None:
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    heads = np.array([GOOD, gold])
    scores = np.zeros((2, 5, 5), np.float32)
    for call in (
        lambda: tj.nll(scores, heads, np.array(LENGTHS)),
        lambda: jax.grad(lambda s: tj.nll(s, heads, np.array(LENGTHS)))(scores),
        lambda: jax.jit(lambda s: tj.nll(s, heads, np.array(LENGTHS)))(scores),  # Known when it is traced.
    ):
        with pytest.raises(ValueError, match=message if max(gold) < 2**31 else r"heads\[1\]: word 3 has head"):
            call()


def test_several_roots_are_fine_under_the_other_rule() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    gold = torch.tensor([GOOD, [0, 1, 0, 1]])
    assert tt.nll(torch.zeros(2, 5, 5), gold, LENGTHS, "multi").isfinite()
    assert tt.nll(torch.zeros(2, 5, 5), gold, LENGTHS, check=False) == torch.inf


def test_forbidden_edges_are_reported() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    scores = torch.zeros(2, 5, 5)
    scores[1, 1, 3] = -torch.inf
    gold = torch.tensor([GOOD, [0, 1, 1, 1]])
    with pytest.raises(ValueError, match=r"heads\[1\]: the tree has the edge from 1 to 3"):
        tt.nll(scores, gold, LENGTHS)
    root = taproot.Constraints().forbid(0, 1)
    with pytest.raises(ValueError, match=r"heads\[1\]: the tree has the edge from ROOT to 1"):
        tt.nll(torch.zeros(2, 5, 5), gold, LENGTHS, constraints=[None, root])
    labels = torch.zeros(2, 5, 5, 2)
    labels[1, 0, 1, 1] = -torch.inf
    with pytest.raises(ValueError, match=r"heads\[1\]: one of the tree's labels"):
        tt.nll(torch.zeros(2, 5, 5), gold, LENGTHS, label_scores=labels, labels=torch.ones_like(gold))
    jax = pytest.importorskip("jax")
    import taproot.jax as tj

    with pytest.raises(ValueError, match=r"heads\[1\]: the tree has the edge from 1 to 3"):
        tj.nll(scores.numpy(), gold.numpy(), np.array(LENGTHS))
    scores[1, 0] = -torch.inf
    with pytest.raises(taproot.NoTreeError, match="sentence 1"):
        tj.nll(scores.numpy(), gold.numpy(), np.array(LENGTHS))
    inside = jax.jit(lambda s, h: tj.nll(s, h, np.array(LENGTHS), reduction="none"))
    values = inside(np.zeros((2, 5, 5), np.float32), np.array([GOOD, [0, 1, 0, 1]]))
    assert np.isfinite(values[0]) and values[1] == np.inf


def test_the_support_of_a_distribution_says_why() -> None:
    torch = pytest.importorskip("torch")
    import taproot.torch as tt

    d = tt.DependencyTrees(torch.zeros(2, 5, 5), LENGTHS, validate_args=True)
    with pytest.raises(ValueError, match=r"support.*heads\[2, 1\]: words 1 and 3 hang off ROOT"):
        d.log_prob(torch.tensor([[GOOD, [0, 1, 1, 1]], [GOOD, [0, 1, 1, 1]], [GOOD, [0, 1, 0, 1]]]))


# Gold with an entry for ROOT, and lengths that count words alone; None where a batch does not show it.
SHORT = [
    ([[-1, 2, 0, 2, -1], [-1, 2, 0, -1, -1]], [3, 2], r"heads\[0\]: the length is 3, .* word 3 has a head, too \(2\)"),
    ([[0, 2, 0, 2, 3], [0, 2, 0, -100, -100]], [4, 2], r"heads\[1\]: the length is 2"),
    ([[-1, 2, 0, 2, 3]], [4], r"heads\[0\]: the length is 4"),  # One sentence, or several of one length.
    ([[0, 2, 0, 2, 3], [0, 2, 0, 1, 0]], [4, 3], r"heads\[0\]: the length is 4"),  # Padded with 0.
    ([[-1, 0, -1]], [1], r"heads\[0\]: the length is 1"),
    ([[0, 2, 0, 2, 3], [0, 2, 0, 0, 0]], [5, 3], None),
    ([[0, 2, 0, 2, 0], [0, 2, 0, 0, 0]], [4, 3], None),  # Padded beyond the longest.
    ([[0, 2, 0, 2, 9], [0, 2, 0, 9, 9]], [4, 3], None),
    ([[-1, 2, 0, 2, 3], [-1, 2, 0, -1, -1]], [5, 3], None),
]


@pytest.mark.parametrize(("gold", "lengths", "message"), SHORT)
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_lengths_that_do_not_count_root(library: str, gold: Any, lengths: Any, message: str | None) -> None:
    pytest.importorskip(library)
    if library == "torch":
        import torch

        import taproot.torch as adapter

        make: Any = torch.tensor
    else:
        import taproot.jax as adapter  # type: ignore[no-redef]

        make = np.array
    side = len(gold[0])
    scores = make(np.zeros((len(gold), side, side), np.float32))
    given = (scores, make(gold), make(lengths))
    if message is None:
        assert adapter.nll(*given, layout="dependent-head+root") >= 0
        return
    with pytest.raises(ValueError, match=message + r".*with '\+root' lengths count ROOT"):
        adapter.nll(*given, layout="dependent-head+root")
