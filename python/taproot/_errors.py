# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a sentence."""

from __future__ import annotations

from collections.abc import Sequence


class SentenceError(ValueError):
    """A sentence has no answer; the others of its batch have theirs (``on_error="status"``).

    ``sentence`` is the number of the first such sentence in the batch, ``status`` says why (``"no_tree"``,
    ``"bad_score"``, ``"empty"``, ``"step_limit"`` or ``"numerical_loss"``), and ``failures`` lists all of them as
    ``(sentence, status, message)``.
    """

    def __init__(self, failures: Sequence[tuple[int, str, str]]) -> None:
        self.failures = list(failures)
        self.sentence, self.status, message = self.failures[0]
        more = len(self.failures) - 1
        if more == 1:
            message += " (and one more sentence of the batch has no answer)"
        elif more > 1:
            message += f" (and {more} more sentences of the batch have no answer)"
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SentenceError], tuple[list[tuple[int, str, str]]]]:
        return type(self), (self.failures,)


class NoTreeError(SentenceError):
    """The edges of a sentence that are not forbidden admit no tree under the root rule.

    >>> import numpy as np, taproot
    >>> scores = np.zeros((2, 3, 3))
    >>> scores[1, 0] = -np.inf  # In sentence 1 no word may hang off ROOT.
    >>> taproot.DependencyTrees(scores).log_partition()
    Traceback (most recent call last):
    ...
    taproot.NoTreeError: sentence 1: the allowed edges admit no tree under the root rule
    """


def raise_failures(failures: Sequence[tuple[int, str, str]]) -> None:
    kind = NoTreeError if failures[0][1] == "no_tree" else SentenceError
    raise kind(failures)


SentenceError.__module__ = NoTreeError.__module__ = "taproot"
