# SPDX-License-Identifier: Apache-2.0
"""Imports the compiled part of the package, and says what is wrong where that fails."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent


def _explain(error: ImportError) -> str:
    """What to do about an extension that cannot be imported."""
    try:
        other = metadata.distribution("taproot").metadata["Summary"]
    except metadata.PackageNotFoundError:
        other = None
    if other is not None:
        return (
            f"the distribution 'taproot' ({other}) is installed. It is another project, which has the import name of "
            "this one, and its files replace files of this one: run 'pip uninstall taproot' and then 'pip install "
            "--force-reinstall --no-deps taproot-trees'"
        )
    if not list(FOLDER.glob("_taproot*")) or {file.suffix for file in FOLDER.glob("_taproot*")} == {".pyi"}:
        return (
            f"{FOLDER} has no compiled extension _taproot. If this is a folder of sources, work in another one, where "
            "Python finds the installed package; otherwise install the package again: 'pip install taproot-trees'"
        )
    return f"the compiled extension in {FOLDER} cannot be loaded: {error}"


try:
    from ._taproot import version as _version
except ImportError as error:
    raise ImportError(f"taproot: {_explain(error)}") from error

version: str = _version()
