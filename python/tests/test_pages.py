# SPDX-License-Identifier: Apache-2.0
"""Every example of the documentation runs and gives what the page says.

A page is run from top to bottom in one folder and with one set of names: `python` blocks, as doctests if they have
prompts; `console` blocks, line for line against the command line; and `cpp` blocks, compiled together into a program.
A page in docs/operations/ starts with the examples of that folder's index.
"""

from __future__ import annotations

import doctest
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import taproot

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TAPROOT_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "cli/taproot"
LIBRARY = BUILD / "libtaproot.a"
PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")) + ["README.md"]

# What the fragments on the page about GPUs assume. They are compiled, and not run where there is no device.
DEVICE_NAMES = """
taproot::CudaScores device_scores; taproot::CudaEdges device_edges; void* stream = nullptr; void* workspace = nullptr;
std::vector<taproot::ScoreView> scores; std::vector<double> log_partition; std::vector<taproot::TreeOutput> out;
taproot::SampleOptions options; taproot::Cuda* the_cuda = nullptr; taproot::Cuda& cuda = *the_cuda;
double* device_log_partition = nullptr;
"""


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks that can be run. A block without a language is one if it begins with a prompt."""
    path = ROOT / page
    text = path.read_text()
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, code = match.groups()
        if not language and code.startswith("$ "):
            language = "console"
        if language in ("python", "console", "cpp"):
            found.append(Block(language, code, text[: match.start()].count("\n") + 1))
    index = path.parent / "index.md"
    if path.parent.name == "operations" and path != index:
        return blocks_of(str(index.relative_to(ROOT))) + found
    return found


def pages_with(*languages: str) -> list[str]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


def is_same(found: str, expected: str) -> bool:
    """Whether two lines agree: numbers to nine digits, because processors round the last ones differently."""
    pieces = [re.split(r"(-?\d+\.\d+(?:e[-+]?\d+)?)", line.rstrip()) for line in (found, expected)]
    if len(pieces[0]) != len(pieces[1]):
        return False
    return all(
        math.isclose(float(a), float(b), rel_tol=1e-9) if i % 2 else a == b for i, (a, b) in enumerate(zip(*pieces))
    )


def matches(found: list[str], expected: list[str]) -> bool:
    """Whether the lines agree, where a line `...` stands for any number of lines."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(matches(found[i:], expected[1:]) for i in range(len(found) + 1))
    return bool(found) and is_same(found[0], expected[0]) and matches(found[1:], expected[1:])


def test_lines_are_compared() -> None:
    assert matches(["a 0.12345678901", "b"], ["a 0.12345678902", "b"]) and matches(["a", "b", "c"], ["a", "..."])
    assert not matches(["a 0.123"], ["a 0.124"]) and not matches(["a", "b"], ["a"]) and not matches(["a"], ["...", "b"])


def run_console(block: Block, where: str, folder: Path) -> None:
    """Runs the lines that begin with a prompt, and compares what each prints with the lines below it."""
    environment = {
        **os.environ,
        "PATH": f"{PROGRAM.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
    }
    last = 0
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *expected = piece.rstrip("\n").split("\n")
        while command.endswith("\\"):
            command += "\n" + expected.pop(0)
        run = subprocess.run(
            ["bash", "-c", f"(exit {last}); {command}"], cwd=folder, env=environment, capture_output=True, text=True
        )
        last = run.returncode
        found = run.stdout.rstrip("\n").split("\n") if run.stdout.strip() else []
        assert matches(found, [line for line in expected if line or found]), (
            f"{where}: `{command}` printed\n{run.stdout}{run.stderr}"
        )


def run_python(block: Block, where: str, names: dict[str, Any]) -> None:
    """Runs one block: as a doctest if it has prompts, and as a program otherwise."""
    for module in set(re.findall(r"^(?:>>> )?(?:import|from) .*?\b(torch|jax|pyarrow)\b", block.text, re.MULTILINE)):
        pytest.importorskip(module)
    if ">>> " not in block.text:
        exec(compile(block.text, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    output: list[str] = []
    runner.run(test, out=output.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


@pytest.mark.parametrize("page", pages_with("python", "console"))
def test_python_and_console(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [block for block in blocks_of(page) if block.language != "cpp"]
    if any(block.language == "console" for block in blocks) and not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} has not been built")
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    if page == "README.md":
        names = parser_of_the_readme()
    for block in blocks:
        where = f"{page}:{block.line}"
        if block.language == "console":
            run_console(block, where, tmp_path)
        else:
            run_python(block, where, names)


def parser_of_the_readme() -> dict[str, Any]:
    """What the README's first example is given: scores and gold heads with ROOT first."""
    torch = pytest.importorskip("torch")
    gold = torch.tensor([[-100, 2, 0, 2], [-100, 2, 0, -100]])
    return {"scores": torch.zeros(2, 4, 4, requires_grad=True), "gold": gold, "lengths": torch.tensor([4, 3])}


def program_of(page: str) -> tuple[str, list[str]]:
    """One program of a page's C++ blocks, and what it should print: the comments behind its calls of printf."""
    blocks = [block for block in blocks_of(page) if block.language == "cpp"]
    text = "".join(f'#line {block.line + 1} "{page}"\n{block.text}' for block in blocks)
    expected = re.findall(r"std::printf\(.*//\s(.*)$", text, re.MULTILINE)
    if "int main()" in text:
        return text, expected
    if page == "docs/cuda.md":
        text = DEVICE_NAMES + "".join(f"{{\n{block.text}}}\n" for block in blocks)
    headers = "".join(f"#include <{name}>\n" for name in ("taproot/taproot.h", "cmath", "cstdio", "string", "vector"))
    return f"{headers}int main() {{\n{text}}}\n", expected


@pytest.mark.parametrize("page", pages_with("cpp"))
def test_cpp(page: str, tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None or not LIBRARY.exists():
        pytest.skip(f"there is no compiler, or {LIBRARY} has not been built")
    text, expected = program_of(page)
    source = tmp_path / "page.cc"
    source.write_text(text)
    only_compiled = page == "docs/cuda.md"
    flags = ["-std=c++20", f"-I{ROOT / 'include'}", *(["-fsyntax-only"] if only_compiled else [])]
    linked = [] if only_compiled else [str(LIBRARY), "-lhwy", "-pthread", "-o", str(tmp_path / "page")]
    compiled = subprocess.run([compiler, *flags, str(source), *linked], capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    if only_compiled:
        return
    run = subprocess.run([str(tmp_path / "page")], capture_output=True, text=True, check=True)
    if page != "README.md":  # Its example prints a table without comments; ctest runs it as `quickstart`.
        assert matches(run.stdout.splitlines(), expected), run.stdout


def test_every_public_name_is_in_the_reference() -> None:
    text = (ROOT / "docs/reference/python.md").read_text()
    listed = set(re.findall(r"^\.\. auto\w+:: (\w+)", text, re.MULTILINE))
    assert listed == set(taproot.__all__) - {"__version__"}
    headers = {path.name for path in (ROOT / "include/taproot").glob("*.h")} - {"taproot.h", "version.h"}
    pages = "".join(page.read_text() for page in (ROOT / "docs/reference/cpp").glob("*.md"))
    assert set(re.findall(r"^```{header} (\S+)$", pages, re.MULTILINE)) == headers
