# SPDX-License-Identifier: Apache-2.0
"""What is wrong with gold heads, in words: a loss that is infinite says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _taproot
from ._arrays import Int32
from ._layouts import Arrangement


def check_gold(heads: Any, lengths: Any, root: str, arrangement: Arrangement) -> None:
    """Raises unless every row of `heads` [..., N] is a tree; `lengths` [...] are numbers of words."""
    words = np.ascontiguousarray(np.reshape(lengths, -1), np.int32)
    flat = _flat(heads)
    of_words = np.ascontiguousarray(np.clip(flat, -2, flat.shape[-1] + 1), np.int32)  # int64 may hold other heads.
    valid = np.empty(len(words), np.bool_)
    _taproot.are_trees(of_words, words, root == "multi", valid)
    wrong = np.flatnonzero(~valid & (words > 0))
    if wrong.size:
        b = int(wrong[0])
        raise gold_error(_index(b, np.shape(lengths)), flat[b, : words[b]], root, arrangement, None)


def check_root_is_counted(heads: Any, lengths: Any, arrangement: Arrangement) -> None:
    """Raises where lengths of a layout "+root" seem to count words alone, which would drop each sentence's last word.

    `heads` [..., N] are gold heads of words, `lengths` [...] numbers of words. A single head between a sentence's end
    and negative padding gives it away. Padding may be anything, so without negative entries every sentence must have
    such a head, followed by nothing but zeros, and one of the heads must not be 0.
    """
    if not arrangement.root:
        return
    flat, words = _flat(heads), np.reshape(lengths, -1)
    n = flat.shape[-1]
    shorter = words < n
    if not shorter.any():
        return
    after = np.take_along_axis(flat, np.minimum(words, n - 1)[:, None], axis=-1)[:, 0]
    later = np.arange(n) > words[:, None]
    named = shorter & (after >= 0) & (after <= words + 1)
    wrong = named & later.any(-1) & ((flat < 0) | ~later).all(-1)
    if not wrong.any() and named.all() and (after > 0).any() and ((flat <= 0) | ~later).all():
        wrong = named & (after > 0)
    if wrong.any():
        b = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"heads{_index(b, np.shape(lengths))}: the length is {words[b] + 1}, ROOT and {words[b]} words, but word "
            f"{words[b] + 1} has a head, too ({after[b]}): with '+root' lengths count ROOT, so give lengths + 1 if "
            "yours count words"
        )


def check_heads(heads: Any, lengths: Any, arrangement: Arrangement) -> None:
    """Raises for the first of the trees `heads` [..., N] that has a head which is not 0 to n; rows of -1 are skipped.

    `lengths` are numbers of words, whose axes are the last ones of [...].
    """
    array = np.asarray(heads)
    last = np.broadcast_to(np.asarray(lengths), array.shape[:-1])
    real = np.arange(1, array.shape[-1] + 1) <= last[..., None]
    wrong = ((array < 0) | (array > last[..., None])) & real & (array[..., :1] != -1)
    for at in np.argwhere(wrong.any(-1)):
        place = tuple(int(i) for i in at)
        raise gold_error(_shown(place), array[place][: last[place]], "multi", arrangement, None)


def check_named_heads(heads: Any, lengths: Any, arrangement: Arrangement) -> None:
    """As check_heads, where negative heads leave a word out."""
    check_heads(np.where(np.asarray(heads) < 0, 0, heads), lengths, arrangement)


def report_gold(
    log_prob: Any,
    heads: Any,
    lengths: Any,
    root: str,
    scores: Any,
    arrangement: Arrangement,
    projective: bool = False,
) -> None:
    """Raises for the first gold tree that has no log-probability, and says why.

    `log_prob` has shape [...], `heads` [..., N], `lengths` [...] and `scores` [..., N+1, N+1], in our layout.
    """
    check_gold(heads, lengths, root, arrangement)
    lost = np.flatnonzero(~np.isfinite(np.reshape(log_prob, -1)))
    if not lost.size:
        return
    b = int(lost[0])
    side = np.shape(scores)[-1]
    n = int(np.reshape(lengths, -1)[b])
    own = np.reshape(scores, (-1, side, side))[b]
    raise gold_error(_index(b, np.shape(lengths)), _flat(heads)[b, :n], root, arrangement, own, projective)


def gold_error(
    where: str, heads: Int32, root: str, arrangement: Arrangement, scores: Any, projective: bool = False
) -> ValueError:
    """The error for the heads of one sentence, `where` in the batch; `scores` for heads that are a tree of the family.

    If `projective`, only projective trees are.
    """
    return ValueError(f"heads{where}: {_what_is_wrong(heads.tolist(), root, arrangement, scores, projective)}")


def _what_is_wrong(heads: list[int], root: str, arrangement: Arrangement, scores: Any, projective: bool) -> str:
    n = len(heads)
    for word, head in enumerate(heads, 1):
        if head < 0:
            return (
                f"word {word} has head {head}, which is padding, and the sentence has {n} words"
                f"{_about_lengths(arrangement)}"
            )
        if head > n:
            return (
                f"word {word} has head {head}, and the sentence has {n} words{_about_lengths(arrangement)}; heads are "
                "1 to n, and 0 is ROOT"
            )
        if head == word:
            return f"word {word} is its own head; heads count words from 1, and 0 is ROOT"
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if root == "single" and len(roots) > 1:
        named = " and ".join(str(word) for word in roots) if len(roots) < 5 else f"{len(roots)} of its words"
        words = "words " if len(roots) < 5 else ""
        return f'{words}{named} hang off ROOT, and root="single" allows one root: root="multi" allows more'
    if not roots:
        return "no word hangs off ROOT (no head is 0), so this is not a tree"
    cycle = _cycle(heads)
    if cycle:
        return f"words {' -> '.join(map(str, cycle))} form a cycle, so this is not a tree"
    if projective and (outside := _outside(heads)):
        head, word, between = outside
        return (
            f"word {between} lies between head {head} and modifier {word} and does not descend from {head}, so the "
            "tree is not projective, and projective=True allows no other trees"
        )
    for word, head in enumerate(heads, 1):
        score = float(scores[head, word])
        if score == -np.inf:
            return (
                f"the tree has the edge from {head or 'ROOT'} to {word}, which a score of -inf or a constraint forbids"
            )
    return "one of the tree's labels has a score of -inf, which forbids it"


def _about_lengths(arrangement: Arrangement) -> str:
    return " (lengths count ROOT with this layout)" if arrangement.root else " (lengths count words, not ROOT)"


def _cycle(heads: list[int]) -> list[int]:
    """The first cycle, from a word back to it; nothing if every word leads to ROOT."""
    done = {0}
    for start in range(1, len(heads) + 1):
        path: list[int] = []
        word = start
        while word not in done and word not in path:
            path.append(word)
            word = heads[word - 1]
        if word not in done:
            return [*path[path.index(word) :], word]
        done.update(path)
    return []


def _outside(heads: list[int]) -> tuple[int, int, int] | None:
    """The first edge of a tree, head and modifier, with a word between them that does not descend from the head."""
    for word, head in enumerate(heads, 1):
        for between in range(min(head, word) + 1, max(head, word)):
            above = between
            while above not in (0, head):
                above = heads[above - 1]
            if above != head:
                return head, word, between
    return None


def _flat(heads: Any) -> Any:
    array = np.asarray(heads)
    return array.reshape((int(np.prod(array.shape[:-1])), array.shape[-1]))


def _index(b: int, shape: tuple[int, ...]) -> str:
    """The index of sentence b of a flat batch in one of this shape."""
    return _shown(tuple(int(i) for i in np.unravel_index(b, shape)) if shape else ())


def _shown(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}]" if place else ""
