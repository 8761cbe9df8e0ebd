# SPDX-License-Identifier: Apache-2.0
"""How many threads batches run on."""

from __future__ import annotations

from . import _taproot
from ._arrays import as_count


def set_num_threads(threads: int) -> None:
    """How many threads batches run on; 0 means one per core, which is how it begins. Answers do not depend on it.

    >>> taproot.set_num_threads(2)
    >>> taproot.get_num_threads()
    2
    >>> taproot.set_num_threads(0)
    """
    _taproot.set_num_threads(as_count(threads, "threads", 1 << 16))


def get_num_threads() -> int:
    """How many threads batches run on."""
    return _taproot.get_num_threads()


set_num_threads.__module__ = get_num_threads.__module__ = "taproot"
