# SPDX-License-Identifier: Apache-2.0
"""Every public name has a docstring, and the examples in them run."""

import doctest
import inspect
import pydoc
from types import ModuleType

import numpy as np
import pytest

import taproot

# Names without an example of their own: what they hold is shown where they come from.
NO_EXAMPLE = {
    "WithoutReplacementTree",
    "WithoutReplacementIterator",
    "BestTrees",
    "LabeledTrees",
    "SentenceError",
    "WithoutReplacementSample",
}


def examples_of(module: ModuleType) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=False)
    globs = {"np": np, "taproot": taproot, **{name: getattr(module, name) for name in module.__all__}}
    found = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or callable(value):
            found += finder.find(value, f"{module.__name__}.{name}", module=False, globs=globs)
    return found


def is_public(test: doctest.DocTest) -> bool:
    return not any(part.startswith("_") for part in test.name.split("."))


EXAMPLES = examples_of(taproot)


@pytest.mark.parametrize("test", [t for t in EXAMPLES if t.examples], ids=lambda t: t.name)
def test_example(test: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    output: list[str] = []
    runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_every_operation_has_an_example() -> None:
    operations = [
        f"taproot.DependencyTrees.{name}"
        for name, value in vars(taproot.DependencyTrees).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]
    shown = {t.name for t in EXAMPLES if t.examples}
    assert set(operations) - shown == set()


def test_every_public_name_has_a_docstring() -> None:
    assert [t.name for t in EXAMPLES if is_public(t) and not t.docstring] == []


def test_help_shows_our_classes() -> None:
    """And not what they inherit from a tuple, of which there is much."""
    text = pydoc.plain(pydoc.render_doc(taproot))
    assert "tuple(" not in text and "inherited from builtins.tuple" not in text
    for name in taproot.__all__:
        value = getattr(taproot, name)
        if inspect.isclass(value):
            assert f"class {name}(" in text
            assert value.__module__ in ("taproot", "taproot._taproot")
