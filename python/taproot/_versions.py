# SPDX-License-Identifier: Apache-2.0
"""What a bug report should say."""

from __future__ import annotations

import platform
from importlib import metadata

from . import _taproot
from ._threads import get_num_threads

# What taproot works with; none of them is imported to be asked.
OTHERS = ("numpy", "torch", "jax", "jaxlib", "pyarrow")


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print what a bug report should say: versions, the instruction set in use, threads and the CUDA device.

    >>> taproot.show_versions()  # doctest: +ELLIPSIS
    taproot: ...
    build: ... Highway ...
    instruction set: ...
    threads: ...
    CUDA: ...
    Python: ...
    """
    facts = {
        "taproot": _taproot.version(),
        "build": _taproot.build_description(),
        "instruction set": _taproot.instruction_set(),
        "threads": str(get_num_threads()),
        "CUDA": _taproot.cuda_description(),
        "Python": f"{platform.python_version()} on {platform.platform()}",
        **{name: _installed(name) for name in OTHERS},
    }
    for name, value in facts.items():
        print(f"{name}: {value}")


show_versions.__module__ = "taproot"
