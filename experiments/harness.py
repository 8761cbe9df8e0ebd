# SPDX-License-Identifier: Apache-2.0
"""What every experiment does alike: it writes a CSV with the environment in its header, plots that a person can read,
and the result section of its README.

An experiment is a folder with a `run.py`, which makes one Experiment and calls its methods. Its README is written by
hand but for what is between the two marks. With --quick everything goes to build/experiments/quick/ instead, so that
what is committed stays as it is; --plot-only draws and reports anew from the CSV that is there; --measure-only writes
the CSV alone, and needs no matplotlib.
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
from collections.abc import Callable, Iterable, Sequence
from typing import Any

# One thread for NumPy as for us. It reads this when it is imported, so if it was imported first, we start again.
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
if not _ONE_THREAD.items() <= os.environ.items():
    os.environ.update(_ONE_THREAD)
    if "numpy" in sys.modules:
        os.execv(sys.executable, sys.orig_argv)

import numpy as np  # noqa: E402

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:  # A machine that only measures need not have it.
    plt: Any = None

import taproot  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench" / "reference"))
sys.path.insert(0, str(ROOT / "python" / "tests"))  # For laws.py.
BEGIN, END = "<!-- result: written by run.py -->", "<!-- end of result -->"

# Okabe and Ito's colors, which color-blind readers tell apart; one for an algorithm, the same in every figure.
COLOURS = {
    "colbourn": "#D55E00",
    "wilson-marginal": "#0072B2",
    "wilson-reject": "#E69F00",
    "wilson-rc": "#CC79A7",
    "elimination": "#009E73",
    "auto": "#000000",
    "list": "#CC79A7",
    "trie": "#0072B2",
    "beam": "#D55E00",
}
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]

if plt is not None:
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 4.4),
            "figure.dpi": 100,
            "savefig.dpi": 160,
            "savefig.bbox": "tight",
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "lines.linewidth": 1.6,
            "lines.markersize": 4,
            "svg.hashsalt": "taproot",  # The same figure gives the same bytes.
            "axes.prop_cycle": plt.cycler(color=PALETTE),
        }
    )


def processor() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def environment() -> dict[str, str]:
    """Where and with what the figures of a CSV were measured."""
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
        parser.add_argument("--quick", action="store_true", help="a small version, into build/experiments/quick/")
        parser.add_argument("--plot-only", action="store_true", help="from the CSV that is there")
        parser.add_argument("--measure-only", action="store_true", help="the CSV alone")
        arguments = parser.parse_args()
        self.quick: bool = arguments.quick
        self.plot_only: bool = arguments.plot_only
        self.measure_only: bool = arguments.measure_only
        self.out = ROOT / "build" / "experiments" / "quick" / self.folder.name if self.quick else self.folder
        (self.out / "results").mkdir(parents=True, exist_ok=True)
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
        """The rows, written to results/NAME.csv as they come; with --plot-only those that are there already.

        `also` adds lines to the header.
        """
        path = self.out / "results" / f"{name}.csv"
        if not self.plot_only:
            with path.open("w", newline="") as file:
                for key, value in (environment() | (also or {})).items():
                    file.write(f"# {key}: {value}\n")
                command = f"python experiments/{self.folder.name}/run.py{' --quick' * self.quick}"
                file.write(f"# command: PYTHONPATH=experiments {command}\n")
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                for row in rows():
                    writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])
                    file.flush()
        return read_csv(path)

    def save(self, figure: Any, name: str, caption: str) -> None:
        """results/NAME.png and .svg, and the first inline in the README."""
        spread_labels(figure)
        for kind, metadata in (("png", None), ("svg", {"Date": None})):
            figure.savefig(self.out / "results" / f"{name}.{kind}", metadata=metadata)
        plt.close(figure)
        self.say(f"![{caption}](results/{name}.png)")

    def say(self, markdown: str) -> None:
        """A paragraph of the README's result section."""
        self.parts.append(markdown.strip())

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.say("\n".join(lines))

    def check(self, holds: bool, what: str) -> None:
        """Something that must hold whatever the machine: never a time. What does not fails the run, at its end."""
        if not holds:
            self.failed.append(what)

    def verdict(self, text: str) -> None:
        """One sentence, with the figures that back it, from the CSV. What follows it is a paragraph of its own."""
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
            sys.exit(f"{self.folder.name}: a README with both marks and one verdict is needed")
        (self.out / "README.md").write_text(before + "\n\n".join([BEGIN, *self.parts, END]) + after)


def read_csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """Its rows; numbers are numbers."""

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
    """What the CSV says of where it was measured."""
    with path.open() as file:
        lines = [line[2:].rstrip("\n").partition(": ") for line in file if line.startswith("# ")]
    return {key: value for key, _, value in lines}


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """(first quartile, median, third quartile): how spread is shown."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of log y over log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def line(
    axes: Any,
    x: Sequence[float],
    middle: Sequence[float],
    low: Sequence[float] | None,
    high: Sequence[float] | None,
    label: str,
    color: str,
    style: str = "-",
) -> None:
    """A line with its quartiles as a band, and its name at its end instead of in a legend."""
    axes.plot(x, middle, style, color=color, marker="o")
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    end_label(axes, x[-1], middle[-1], label, color)


def end_label(axes: Any, x: float, y: float, label: str, color: str) -> None:
    """A name to the right of a point. `Experiment.save` moves those of one axes apart, each as little as it can be."""
    text = axes.annotate(
        label,
        (x, y),
        xytext=(6, 0),
        textcoords="offset points",
        color=color,
        va="center",
        fontsize=9,
        annotation_clip=False,
    )
    text.set_gid("end label")


def spread_labels(figure: Any) -> None:
    """Moves end labels that overlap up and down; one that is then off its point gets a thin line to it."""
    figure.canvas.draw()  # Where they are is known only now.
    renderer = figure.canvas.get_renderer()
    points = 72 / figure.dpi
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_gid() == "end label"]
        boxes = {label: label.get_window_extent(renderer) for label in labels}
        frame = axes.get_window_extent(renderer)
        # Those side by side are in nobody's way: each group shares a range of x.
        groups: list[list[Any]] = []
        for label in sorted(labels, key=lambda label: boxes[label].x0):
            if groups and boxes[label].x0 <= max(boxes[other].x1 for other in groups[-1]):
                groups[-1].append(label)
            else:
                groups.append([label])
        for group in groups:
            group.sort(key=lambda label: boxes[label].y0 + boxes[label].y1)
            heights = [0.9 * boxes[label].height for label in group]  # A box has some air above the letters.
            middles = [(boxes[label].y0 + boxes[label].y1) / 2 for label in group]
            for label, height, middle, moved in zip(
                group, heights, middles, apart(middles, heights, frame.y0, frame.y1)
            ):
                shift = (moved - middle) * points
                label.set_position((6 if abs(moved - middle) < height / 2 else 14, shift))
                if abs(moved - middle) >= height / 2:
                    axes.annotate(
                        "",
                        label.xy,
                        xytext=(13, shift),
                        textcoords="offset points",
                        arrowprops={"arrowstyle": "-", "color": label.get_color(), "linewidth": 0.6, "shrinkA": 0},
                        annotation_clip=False,
                    )


def apart(middles: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Positions nearest to the ascending `middles` that leave each its height, between low and high if they fit."""
    steps = [(a + b) / 2 for a, b in zip(heights, heights[1:])]
    offsets = np.concatenate([[0], np.cumsum(steps)])
    blocks: list[list[float]] = []  # Pool adjacent violators: [sum, count] of middles less offsets.
    for value in np.asarray(middles) - offsets:
        blocks.append([float(value), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    fitted = np.concatenate([np.full(int(count), total / count) for total, count in blocks])
    low, high = low + heights[0] / 2, high - heights[-1] / 2 - float(offsets[-1])
    if low <= high:
        fitted = np.clip(fitted, low, high)
    return [float(value) for value in fitted + offsets]


def ticks(axis: Any, values: Sequence[float]) -> None:
    """Ticks at these values alone, written out: for a log axis of numbers that people read, as words or trees."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)


def uniform_weights(n: int, rng: np.random.Generator) -> np.ndarray:
    """The paper's random graphs: weights uniform on (0, 1); column 0 and the diagonal are 0."""
    weights = rng.random((n + 1, n + 1))
    weights[:, 0] = 0
    np.fill_diagonal(weights, 0)
    return weights


def truncated_normal(rng: np.random.Generator, shape: tuple[int, ...], mean: float, deviation: float) -> np.ndarray:
    """Normal, given that it is not negative."""
    values = rng.normal(mean, deviation, shape)
    while (negative := values < 0).any():
        values[negative] = rng.normal(mean, deviation, int(negative.sum()))
    return values


# How the paper and we draw independent weights.
FAMILIES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "uniform": lambda rng, shape: rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "truncated normal": lambda rng, shape: truncated_normal(rng, shape, 0, 1),
    "truncated normal (1, 1)": lambda rng, shape: truncated_normal(rng, shape, 1, 1),
    "truncated normal (2, 1)": lambda rng, shape: truncated_normal(rng, shape, 2, 1),
    "log-normal, σ = 3": lambda rng, shape: rng.lognormal(0, 3, shape),
}


def expected_tries(family: str, n: int, graphs: int, rng: np.random.Generator) -> np.ndarray:
    """Z_T / Z_D of random graphs, exact, a few megabytes of them at a time."""
    found = []
    while graphs > 0:
        count = min(graphs, max(1, 2_000_000 // (n + 1) ** 2))
        weights = FAMILIES[family](rng, (count, n + 1, n + 1))
        found.append(taproot.DependencyTrees(scores_of(weights), copy=False).expected_tries())
        graphs -= count
    return np.concatenate(found)


def scores_of(weights: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(weights)


def trained(name: str) -> list[np.ndarray]:
    """The score matrices of data/NAME.npz."""
    with np.load(ROOT / "data" / f"{name}.npz") as file:
        scores, lengths = file["scores"].astype(np.float64), file["lengths"]
    matrices = np.split(scores, np.cumsum((lengths + 1) ** 2)[:-1])
    return [matrix.reshape(n + 1, n + 1) for matrix, n in zip(matrices, lengths)]
