# SPDX-License-Identifier: Apache-2.0
"""A bar on standard error."""

from __future__ import annotations

import sys
import time


class Progress:
    """Shows how many sentences are done, if standard error is a terminal or `always` is set."""

    def __init__(self, shards: int, rows: int, quiet: bool, always: bool) -> None:
        self._on = not quiet and (always or sys.stderr.isatty())
        self._shards, self._rows = shards, rows
        self._shards_done = self._rows_done = self._rows_before = 0
        self._begin = self._last = time.monotonic()
        self._shown = False

    def was_there(self, rows: int) -> None:
        """A shard that an earlier run made."""
        self._rows_before += rows
        self._rows_done += rows
        self._shards_done += 1

    def add(self, rows: int = 0, shards: int = 0) -> None:
        self._rows_done += rows
        self._shards_done += shards
        now = time.monotonic()
        if self._on and (now - self._last >= 0.2 or not self._shown):
            self._last = now
            self._show(now)

    def _show(self, now: float) -> None:
        share = self._rows_done / self._rows if self._rows else 1.0
        rate = (self._rows_done - self._rows_before) / max(now - self._begin, 1e-9)
        left = round((self._rows - self._rows_done) / rate) if rate > 0 else 0
        bar = "#" * int(30 * share) + "." * (30 - int(30 * share))
        line = f"\r[{bar}] {self._shards_done}/{self._shards} shards, {self._rows_done:,} of {self._rows:,} sentences, "
        line += f"{rate:,.0f} per second, {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left "
        print(line, end="", file=sys.stderr, flush=True)
        self._shown = True

    def close(self) -> None:
        if self._shown:
            self._show(time.monotonic())
            print(file=sys.stderr)
            self._shown = False
