# SPDX-License-Identifier: Apache-2.0
"""Which heads are trees, on any device."""

from __future__ import annotations

import torch
from torch import Tensor

from ._distribution import Root


def is_tree(heads: Tensor, lengths: Tensor, root: Root = "single") -> Tensor:
    """Which of the heads, shape (..., N), are trees under the root rule. Shape (...).

    What lies beyond a sentence's length is not read.

    >>> import torch, taproot.torch
    >>> taproot.torch.is_tree(torch.tensor([[2, 0], [2, 1], [0, 0]]), torch.tensor(2))
    tensor([ True, False, False])
    """
    n = heads.shape[-1]
    heads = heads.long()
    last = lengths[..., None]
    real = torch.arange(1, n + 1, device=heads.device) <= last
    valid = (((heads >= 0) & (heads <= last)) | ~real).all(-1)
    node = torch.nn.functional.pad(torch.where(real & (heads >= 0) & (heads <= n), heads, 0), (1, 0))
    for _ in range(max(n, 1).bit_length()):  # Where 1, 2, 4, ... steps toward ROOT lead.
        node = node.gather(-1, node)
    valid = valid & (node == 0).all(-1)
    return valid & (((heads == 0) & real).sum(-1) == 1) if root == "single" else valid


def is_projective(heads: Tensor, lengths: Tensor) -> Tensor:
    """Which of the heads, shape (..., N), are projective trees: for every edge, all words between head and modifier
    descend from the head. ROOT stands before the first word. Shape (...).

    What lies beyond a sentence's length is not read.

    >>> import torch, taproot.torch
    >>> taproot.torch.is_projective(torch.tensor([[2, 0, 2], [3, 0, 2]]), torch.tensor(3))
    tensor([ True, False])
    """
    word = torch.arange(1, heads.shape[-1] + 1, device=heads.device)
    own = torch.where(word <= lengths[..., None], heads.long(), word)  # Beyond the length, an edge that crosses none.
    left, right = torch.minimum(own, word), torch.maximum(own, word)
    # ROOT is at one end, so a tree is projective if no two of its edges cross.
    starts_within = (left[..., :, None] < left[..., None, :]) & (left[..., None, :] < right[..., :, None])
    crosses = starts_within & (right[..., :, None] < right[..., None, :])
    return is_tree(heads, lengths, "multi") & ~crosses.any((-2, -1))


is_projective.__module__ = "taproot.torch"
is_tree.__module__ = "taproot.torch"
