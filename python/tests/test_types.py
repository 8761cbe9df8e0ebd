# SPDX-License-Identifier: Apache-2.0
"""The committed stub is what the extension has, and the package's types hold together."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_stub_is_that_of_the_extension(tmp_path: Path) -> None:
    pytest.importorskip("nanobind")
    made = tmp_path / "_taproot.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "taproot._taproot", "-o", made], check=True)
    committed = ROOT / "python/taproot/_taproot.pyi"
    assert made.read_text() == committed.read_text(), (
        f"make it anew: python -m nanobind.stubgen -m taproot._taproot -o {committed.name}"
    )


def test_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path]
    found = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
