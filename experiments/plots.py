# SPDX-License-Identifier: Apache-2.0
"""How figures look: one color per algorithm, quartiles as bands, names at the ends of lines instead of legends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image
except ImportError:  # A machine that only measures does not need them.
    plt: Any = None

# Okabe and Ito's colors, which color-blind readers can tell apart. An algorithm has the same color in every figure.
COLORS = {
    "colbourn": "#D55E00",
    "wilson-marginal": "#0072B2",
    "wilson-reject": "#E69F00",
    "wilson-rc": "#CC79A7",
    "elimination": "#009E73",
    "auto": "#000000",
    "plain walk": "#CC79A7",
    "walk by its definition": "#999999",
    "popping": "#56B4E9",
    "list": "#CC79A7",
    "trie": "#0072B2",
    "beam": "#D55E00",
}
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]

if plt is not None:
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 4.4),
            "figure.dpi": 110,
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


def save_png(figure: Any, path: Path) -> None:
    """A PNG of at most 48 colors, which is a quarter of the size of matplotlib's own and looks the same."""
    figure.savefig(path, bbox_inches="tight")
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(48, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


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
    """A line with its quartiles as a band, and its name at its end."""
    axes.plot(x, middle, style, color=color, marker="o")
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    end_label(axes, x[-1], middle[-1], label, color)


def end_label(axes: Any, x: float, y: float, label: str, color: str) -> None:
    """A name to the right of a point. `spread_labels` moves names that overlap apart."""
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
    """Moves end labels that overlap up and down; a label that leaves its point gets a thin line to it."""
    figure.canvas.draw()  # The positions are known only after drawing.
    renderer = figure.canvas.get_renderer()
    points = 72 / figure.dpi
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_gid() == "end label"]
        boxes = {label: label.get_window_extent(renderer) for label in labels}
        frame = axes.get_window_extent(renderer)
        # Labels side by side do not collide, so each group shares a range of x.
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
    """Ticks at these values alone, written out, for a logarithmic axis of numbers that people read."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)
