# SPDX-License-Identifier: Apache-2.0
"""examples/corpus parses text with a scorer in PyTorch and Taproot in one Ray actor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]


def test_text_becomes_trees(tmp_path: Path) -> None:
    lines = (ROOT / "data/demo.txt").read_text().splitlines() * 20
    pq.write_table(pa.table({"id": np.arange(len(lines) + 1), "text": [*lines, ""]}), tmp_path / "in.parquet")
    program = ROOT / "examples/corpus/parse.py"
    command = [sys.executable, program, tmp_path / "in.parquet", "-o", tmp_path / "out", "--threshold", "0"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted(int(row["id"]) for row in rows) == list(range(len(lines) + 1))
    assert "scores" not in rows[0]
    for row in rows:
        n = len(row["text"].split())
        if n == 0:
            assert row["status"] == "empty" and row["heads"] is None
            continue
        assert row["status"] == "ok" and len(row["heads"]) == n and row["heads"].count(0) == 1
        assert 0 <= row["entropy"] <= n * np.log(n + 1)
        sums = np.bincount(row["modifier"], row["probability"], n + 1)
        np.testing.assert_allclose(sums[1:], 1, rtol=1e-12)
    assert np.mean([row["entropy"] for row in rows if row["heads"]]) > 0.1  # The scorer is not sure of everything.
