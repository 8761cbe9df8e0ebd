# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where the helpers are, and hypothesis without chance or clock."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import taproot

# The import mode "importlib" leaves sys.path alone, and the shared helpers are plain modules.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testing" / "python"))

settings.register_profile(
    "taproot",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    # Sentences without a tree are checked to have none, and then do not count as examples.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("taproot")


@pytest.fixture
def threads() -> Iterator[None]:
    """For tests that change the number of threads: puts it back."""
    before = taproot.get_num_threads()
    yield
    taproot.set_num_threads(before)
