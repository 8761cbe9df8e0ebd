# SPDX-License-Identifier: Apache-2.0
"""Results with a few named parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any


class Record:
    """A frozen dataclass that can also be unpacked and indexed, part by part, like a tuple.

    Not a named tuple, because ``help()`` would list all that a tuple can do.
    """

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(fields(self))  # type: ignore[arg-type]

    def __getitem__(self, part: int) -> Any:
        return tuple(self)[part]
