# SPDX-License-Identifier: Apache-2.0
"""What every experiment does alike: it measures, draws one figure, and writes the result section of its README.

An experiment is a folder with a `run.py`, which makes one Experiment and calls its methods. Raw measurements and an SVG
of the figure go to build/experiments/, which git ignores. Three files are committed: README.md, which is written by
hand except for what is between the two marks; results/figure.png; and results/summary.csv. With --quick everything goes
to build/experiments/quick/, and nothing committed changes. --plot-only draws and reports from the raw measurements of
an earlier run; --measure-only writes these alone, and does not need matplotlib.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

# NumPy gets one thread, as taproot does. It reads this when it is imported; if it was imported first, we start again.
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
if not _ONE_THREAD.items() <= os.environ.items():
    os.environ.update(_ONE_THREAD)
    if "numpy" in sys.modules:
        os.execv(sys.executable, sys.orig_argv)

import numpy as np  # noqa: E402
from plots import plt, save_png, spread_labels  # noqa: E402

import taproot  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench" / "reference"))  # The samplers in NumPy.
sys.path.insert(0, str(ROOT / "testing" / "python"))  # The tests of a law.
BUILD = ROOT / "build" / "experiments"
BEGIN, END = "<!-- result: written by run.py -->", "<!-- end of result -->"
COLUMNS = 100  # The width of the Markdown that we write.


def processor() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def environment() -> dict[str, str]:
    """Where and with what a CSV was measured."""
    try:
        found = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
        commit = found.stdout.strip()
    except OSError:  # A copy of the sources, on a machine without git.
        commit = ""
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores",
        "taproot": f"{taproot.__version__} {commit}".strip(),
        "software": f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()}",
    }


class Experiment:
    """One folder: its arguments, its files, its verdict. Use it as `with Experiment(__file__) as x:`."""

    def __init__(self, file: str, usage: str = "") -> None:
        self.folder = pathlib.Path(file).resolve().parent
        parser = argparse.ArgumentParser(description=usage)
        parser.add_argument("--quick", action="store_true", help="run a small version, into build/experiments/quick/")
        parser.add_argument("--plot-only", action="store_true", help="use the raw measurements of the last run")
        parser.add_argument("--measure-only", action="store_true", help="write the raw measurements alone")
        arguments = parser.parse_args()
        self.quick: bool = arguments.quick
        self.plot_only: bool = arguments.plot_only
        self.measure_only: bool = arguments.measure_only
        name = self.folder.name
        self.raw = BUILD / ("quick" if self.quick else "full") / name
        self.out = self.raw if self.quick else self.folder
        for folder in (self.raw, self.out / "results"):
            folder.mkdir(parents=True, exist_ok=True)
        self.command = f"PYTHONPATH=experiments python experiments/{name}/run.py{' --quick' * self.quick}"
        self.measured: dict[str, str] = {}
        self.parts: list[str] = []
        self.failed: list[str] = []

    def __enter__(self) -> Experiment:
        taproot.set_num_threads(1)
        return self

    def choose(self, full: Any, quick: Any) -> Any:
        """The parameter for this run."""
        return quick if self.quick else full

    def measure(
        self,
        name: str,
        columns: Sequence[str],
        rows: Callable[[], Iterable[Sequence[Any]]],
        also: dict[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """The rows, written to the raw NAME.csv as they come; with --plot-only the rows of the last run.

        `also` adds lines to the header.
        """
        path = self.raw / f"{name}.csv"
        if not self.plot_only:
            write_csv(path, environment() | (also or {}) | {"command": self.command}, columns, rows())
        elif not path.exists():
            sys.exit(f"{self.folder.name}: --plot-only needs {path.relative_to(ROOT)}: run it without, once")
        self.measured = self.measured or read_header(path)
        return read_csv(path)

    def summary(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """results/summary.csv, with the header of the first raw CSV: the measurements that are committed."""
        write_csv(self.out / "results" / "summary.csv", self.measured, columns, rows)

    def save(self, figure: Any, caption: str) -> None:
        """results/figure.png, shown in the README, and an SVG beside the raw measurements. Called once."""
        spread_labels(figure)
        save_png(figure, self.out / "results" / "figure.png")
        figure.savefig(self.raw / "figure.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
        self.say(f"![{caption}](results/figure.png)")

    def say(self, markdown: str) -> None:
        """A paragraph of the README's result section."""
        self.parts.append(textwrap.fill(markdown, COLUMNS, break_long_words=False, break_on_hyphens=False))

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.parts.append("\n".join(lines))

    def check(self, holds: bool, what: str) -> None:
        """Something that must hold on every machine, so never a time. A failed check fails the run at its end."""
        if not holds:
            self.failed.append(what)

    def verdict(self, text: str) -> None:
        """One sentence, with the figures that support it. What follows it becomes a paragraph of its own."""
        if self.failed:
            text = f"does not hold: {'; '.join(self.failed)}."
        sentence, *details = re.split(r"(?<=\.)\s+(?=[A-Z`])", text, maxsplit=1)
        self.say(f"**Verdict:** {sentence}")
        for paragraph in details:
            self.say(paragraph)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None:
            return
        if not self.measure_only:
            self._write_readme()
        if self.failed:
            sys.exit(f"{self.folder.name}: does not hold: " + "; ".join(self.failed))

    def _write_readme(self) -> None:
        text = (self.folder / "README.md").read_text()
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        if not rest or not any(part.startswith("**Verdict:**") for part in self.parts):
            sys.exit(f"{self.folder.name}: the README needs both marks, and the run one verdict")
        for name in ("figure.png", "summary.csv"):
            if not (self.out / "results" / name).exists():
                sys.exit(f"{self.folder.name}: the run wrote no results/{name}")
        (self.out / "README.md").write_text(before + "\n\n".join([BEGIN, *self.parts, END]) + after)


def write_csv(
    path: pathlib.Path, header: dict[str, str], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Row by row, so that an interrupted run leaves what it measured."""
    with path.open("w", newline="") as file:
        for key, value in header.items():
            file.write(f"# {key}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])
            file.flush()


def read_csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """Its rows, with numbers as numbers."""

    def parsed(cell: str) -> Any:
        for kind in (int, float):
            try:
                return kind(cell)
            except ValueError:
                pass
        return cell

    with path.open() as file:
        lines = [line for line in file if not line.startswith("#")]
    return [{key: parsed(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def read_header(path: pathlib.Path) -> dict[str, str]:
    """What a CSV says about where it was measured."""
    with path.open() as file:
        lines = [line[2:].rstrip("\n").partition(": ") for line in file if line.startswith("# ")]
    return {key: value for key, _, value in lines}


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """(first quartile, median, third quartile)."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of log y over log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
