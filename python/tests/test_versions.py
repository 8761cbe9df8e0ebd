# SPDX-License-Identifier: Apache-2.0
"""What bug reports say, and what is said where the import finds something else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import taproot


def test_the_distribution_is_taproot_trees() -> None:
    # The wheel with CUDA inside has a suffix.
    assert metadata.version("taproot-trees").removesuffix("+cuda13") == taproot.__version__


def test_show_versions(capsys: pytest.CaptureFixture[str]) -> None:
    taproot.show_versions()
    facts = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert facts["taproot"] == taproot.__version__
    assert facts["numpy"] == metadata.version("numpy")
    assert facts["threads"] == str(taproot.get_num_threads())
    assert facts["CUDA"] == taproot.cuda_description()
    assert facts["instruction set"] in {"AVX-512", "AVX2", "SSE4", "SSE2", "NEON", "scalar"}


def sources_in(folder: Path) -> None:
    """The package without its extension."""
    (folder / "taproot").mkdir()
    for file in Path(taproot.__file__).parent.glob("*.py*"):
        shutil.copy(file, folder / "taproot")


def error_of_import(folder: Path) -> str:
    found = subprocess.run([sys.executable, "-c", "import taproot"], cwd=folder, capture_output=True, text=True)
    assert found.returncode != 0
    return found.stderr.splitlines()[-1]


def test_an_extension_that_is_missing_is_explained(tmp_path: Path) -> None:
    sources_in(tmp_path)
    error = error_of_import(tmp_path)
    assert error.startswith("ImportError: taproot: ") and "pip install taproot-trees" in error


def test_a_foreign_distribution_is_named(tmp_path: Path) -> None:
    sources_in(tmp_path)
    foreign = tmp_path / "taproot-0.1.dist-info"
    foreign.mkdir()
    (foreign / "METADATA").write_text("Metadata-Version: 2.1\nName: taproot\nVersion: 0.1\nSummary: About trees\n")
    error = error_of_import(tmp_path)
    assert "the distribution 'taproot' (About trees) is installed" in error
    assert "pip uninstall taproot" in error
