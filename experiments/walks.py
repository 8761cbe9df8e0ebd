# SPDX-License-Identifier: Apache-2.0
"""Popping beside walks, in C++, where a caller's time does not hide what they differ in.

`bench_pop times` samples the trees of wilson-marginal in three ways. The plain walk is the one that taproot had before:
its draws have running numbers, so no two ways to walk give the same trees. The walk by its definition and popping read
the same stacks and give the same trees.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from types import TracebackType

import numpy as np
from contest import CPP
from harness import ROOT

WAYS = ["plain walk", "walk by its definition", "popping"]
WALKS = [(CPP, way) for way in WAYS]


class Walks:
    """Asks the program, which reproduce.sh builds; TAPROOT_BENCH_POP names another one."""

    def __enter__(self) -> Walks:
        program = os.environ.get("TAPROOT_BENCH_POP", str(ROOT / "build" / "bench" / "bench" / "bench_pop"))
        if not pathlib.Path(program).exists():
            sys.exit(f"{program} is missing: cmake --preset bench && cmake --build --preset bench --target bench_pop")
        self.file = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen([program, "times"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __call__(self, scores: np.ndarray, trees: int) -> dict[str, tuple[float, float]]:
        """{way: (milliseconds of so many trees from the scores on, milliseconds of one more tree)}."""
        assert self.process.stdin is not None and self.process.stdout is not None
        pathlib.Path(self.file.name).write_bytes(np.ascontiguousarray(scores, np.float64).tobytes())
        self.process.stdin.write(f"{len(scores) - 1} {trees} {self.file.name}\n")
        self.process.stdin.flush()
        found = [float(word) for word in self.process.stdout.readline().split()]
        if len(found) != 2 * len(WAYS):
            sys.exit("bench_pop ended")
        return dict(zip(WAYS, zip(found[::2], found[1::2])))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.file.close()
