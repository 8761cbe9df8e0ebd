# SPDX-License-Identifier: Apache-2.0
"""Beam on the CPU against the GPU: the paper's Figures 4 and 6. See README.md."""

import os
import sys
import time

import numpy as np
from graphs import scores_of, uniform_weights
from harness import Experiment, quartiles, read_csv, read_header
from plots import COLORS, PALETTE, line, plt, ticks

import taproot

COLUMNS = (
    "sentences n k threads cpu_low cpu_ms cpu_high gpu_low gpu_ms gpu_high ratio_low ratio ratio_high "
    "rounds trees differing log_prob_error"
).split()
MANY = 16
TICKS = (10, 100, 1000, 4000)
CPU, GPU = COLORS["beam"], COLORS["trie"]
# Milliseconds of one sentence in SynJax, float32, as {(n, k): (16 cores, H200)}; docs/cuda.md has the latter.
SYNJAX = {
    (30, 1000): (232, 3.58),
    (60, 1000): (1226, 11.6),
    (100, 100): (603, 11.1),
    (100, 1000): (6895, 34.9),
    (100, 4000): (18902, 107.8),
}


def torch_with_cuda():
    """PyTorch, if it and taproot can both use a GPU."""
    if not taproot.cuda_available():
        return None
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def beam_on_cpu(scores, k, seed):
    return taproot.DependencyTrees(scores, copy=False).sample_without_replacement(k, seed, "beam")


def compared(scores, on_cpu, on_gpu):
    """(trees, how many of them differ, the largest error of the GPU's log-probabilities)."""
    heads = on_gpu.heads.cpu().numpy()
    differing = int((heads != on_cpu.heads).any(axis=2).sum())
    exact = taproot.DependencyTrees(scores, copy=False).log_prob(heads)
    error = float(np.abs(on_gpu.log_prob.cpu().numpy() - exact).max())
    return heads.shape[0] * heads.shape[1], differing, error


def measured(x, torch):
    """One row per setting; CPU and GPU take turns."""
    import taproot.torch

    rng = np.random.default_rng(8)
    rounds = x.choose(5, 2)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for sentences in (1, MANY):
        threads = min(sentences, len(os.sched_getaffinity(0)))
        taproot.set_num_threads(threads)
        for n in x.choose((30, 45, 60, 75, 90, 100), (30, 60)):
            scores = np.stack([scores_of(uniform_weights(n, rng)) for _ in range(sentences)])
            on_device = torch.from_numpy(scores).cuda()

            def beam_on_gpu(k, seed):
                return taproot.torch.DependencyTrees(on_device).sample_without_replacement(k, seed, "beam")

            for k in x.choose((10, 100, 1000, 2000, 4000), (10, 100)):
                agreement = compared(scores, beam_on_cpu(scores, k, 1), beam_on_gpu(k, 1))
                cpu, gpu = [], []
                for seed in range(2, 2 + rounds):
                    begin = time.perf_counter()
                    beam_on_cpu(scores, k, seed)
                    cpu.append(1e3 * (time.perf_counter() - begin))
                    torch.cuda.synchronize()
                    start.record()
                    beam_on_gpu(k, seed)
                    end.record()
                    torch.cuda.synchronize()
                    gpu.append(start.elapsed_time(end))
                ratios = [c / g for c, g in zip(cpu, gpu)]
                yield (
                    *(sentences, n, k, threads),
                    *(*quartiles(cpu), *quartiles(gpu), *quartiles(ratios)),
                    *(rounds, *agreement),
                )


def check_cpu(x):
    """Checked on every machine: the beam's trees are different, and have the right log-probabilities."""
    d = taproot.DependencyTrees(scores_of(uniform_weights(30, np.random.default_rng(0))))
    found = d.sample_without_replacement(200, seed=3, algorithm="beam")
    exact = d.log_prob(found.heads)
    x.check(len({tuple(heads) for heads in found.heads}) == 200, "the CPU's beam gives different trees")
    x.check(
        bool(np.abs(found.log_prob - exact).max() < 1e-9), "the CPU's beam gives trees with their log-probabilities"
    )


def plot_lengths(figure, rows):
    lengths = sorted({row["n"] for row in rows})
    grid = figure.subplots(-(-len(lengths) // 3), 3, sharex=True, sharey=True, squeeze=False)
    for axes, n in zip(grid.flat, lengths):
        own = [row for row in rows if row["n"] == n]
        k = [row["k"] for row in own]
        for name, label, color in (("cpu", "CPU", CPU), ("gpu", "GPU", GPU)):
            band = [[row[f"{name}_{part}"] for row in own] for part in ("ms", "low", "high")]
            line(axes, k, *band, label, color)
        points = [(other, SYNJAX[n, other]) for other in k if (n, other) in SYNJAX]
        for i, (label, color, marker, side) in enumerate(
            (("SynJax, CPU", CPU, "s", "right"), ("SynJax, GPU", GPU, "^", "left"))
        ):
            if points:
                at = [(other, ms[i]) for other, ms in points]
                axes.plot(*zip(*at), marker, color=color, markerfacecolor="white", markersize=6)
                axes.annotate(
                    label,
                    at[0],
                    (-6 if side == "right" else 6, 0),
                    textcoords="offset points",
                    color=color,
                    ha=side,
                    va="center",
                    fontsize=8,
                )
        axes.set(xscale="log", yscale="log", title=f"{n} words")
        ticks(axes.xaxis, TICKS)
    for axes in grid[-1]:
        axes.set_xlabel("trees k")
    for axes in grid[:, 0]:
        axes.set_ylabel("milliseconds")
    for axes in grid.flat[len(lengths) :]:
        axes.remove()


def plot_ratios(figure, rows, cores):
    both = figure.subplots(1, 2, sharey=True)
    titles = {1: "one sentence, one thread", MANY: f"{MANY} sentences, {cores} cores"}
    lengths = sorted({row["n"] for row in rows})
    for axes, (sentences, title) in zip(both, titles.items()):
        for n, color in zip(lengths, PALETTE):
            own = [row for row in rows if row["n"] == n and row["sentences"] == sentences]
            band = [[row[name] for row in own] for name in ("ratio", "ratio_low", "ratio_high")]
            line(axes, [row["k"] for row in own], *band, f"n = {n}", color)
        axes.axhline(1, color="#888888", linewidth=1)
        axes.axhline(5, color="#888888", linewidth=1, linestyle=":")
        axes.annotate("the paper's 5", (10, 5), (2, 3), textcoords="offset points", color="#666666", fontsize=8)
        axes.set(xscale="log", yscale="log", title=title, xlabel="trees k")
        ticks(axes.xaxis, TICKS)
    both[0].set_ylabel("CPU time / GPU time")


def plot(x, rows, single, cores):
    figure = plt.figure(figsize=(10, 10), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(6, 4.4))
    plot_lengths(above, single)
    plot_ratios(below, rows, cores)
    x.save(
        figure,
        "Above: beam of one sentence on the CPU and on the GPU, by length and number of trees. Below: how many times "
        "as fast the GPU is, for one sentence, and for 16 on all cores",
    )


def main():
    with Experiment(__file__, __doc__) as x:
        check_cpu(x)
        torch = torch_with_cuda()
        if torch:
            also = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
            rows = x.measure("beam", COLUMNS, lambda: measured(x, torch), also)
        elif x.measure_only:
            sys.exit(f"no GPU to measure: {taproot.cuda_description()}")
        else:  # The rows are medians already, so the summary has all of them.
            committed = x.folder / "results" / "summary.csv"
            x.measured, rows = read_header(committed), read_csv(committed)
        x.summary(COLUMNS, ([row[name] for name in COLUMNS] for row in rows))
        trees, differing = (sum(row[name] for row in rows) for name in ("trees", "differing"))
        error = max(row["log_prob_error"] for row in rows)
        x.check(differing <= trees / 1000, "the GPU's trees are the CPU's, up to one in a thousand")
        x.check(error < 1e-9, "the GPU's log-probabilities are the CPU's within 1e-9")
        if x.measure_only:
            return

        header = x.measured
        cores = max(row["threads"] for row in rows)
        how = (
            "Measured" if torch else "This page was written on a machine without a GPU, from the CSV that was measured"
        )
        x.say(
            f"{how} on {header['date']}: {header['gpu']}; {header['machine']}; taproot {header['taproot']}, "
            f"PyTorch {header['torch']}. Medians of {rows[0]['rounds']} rounds; bands are quartiles."
        )
        single = [row for row in rows if row["sentences"] == 1]
        plot(x, rows, single, cores)
        many = {(row["n"], row["k"]): row for row in rows if row["sentences"] == MANY}
        x.table(
            (
                "n",
                "k",
                "CPU, ms",
                "GPU, ms",
                "ratio",
                f"{MANY} sentences: CPU, ms",
                "GPU, ms",
                "ratio",
                "SynJax GPU, ms",
            ),
            (
                (
                    *(n := row["n"], k := row["k"]),
                    *cells(row),
                    *cells(many[n, k]),
                    SYNJAX.get((n, k), ("", ""))[1],
                )
                for row in single
            ),
        )
        x.say(
            f"Of {trees:,} trees under the same seeds {differing} differ from the CPU's; log-probabilities agree "
            f"within {error:.1g}."
        )
        report(x, single, many, cores)


def cells(row):
    return (
        f"{row['cpu_ms']:.3g}",
        f"{row['gpu_ms']:.3g}",
        f"{row['ratio']:.2g} ({row['ratio_low']:.2g}–{row['ratio_high']:.2g})",
    )


def report(x, single, many, cores):
    longest = max(row["n"] for row in single)
    most = max(row["k"] for row in single)
    best = max((row for row in single if row["n"] == longest), key=lambda row: row["ratio"])
    at_most = [row for row in single if row["k"] == most]
    slower = [row for row in single if row["ratio"] < 1]
    faster_everywhere = all(row["ratio"] > 1 for row in at_most)
    holds = (
        "holds"
        if best["ratio"] >= 5 and faster_everywhere
        else "holds in part"
        if best["ratio"] > 1
        else "does not hold"
    )
    ratios = [row["ratio"] for row in at_most]
    sentence = (
        f"{holds}: with {longest} words the GPU is {best['ratio']:.0f} times as fast as the CPU (k = {best['k']:,}; "
        f"the paper: up to 5), over all lengths {min(ratios):.0f} to {max(ratios):.0f} times for k = {most:,}; "
        f"{MANY} sentences of {longest} words on {cores} cores: {many[longest, most]['ratio']:.0f} times."
    )
    if slower:
        largest = max(row["k"] for row in slower)
        there = sum(row["k"] == largest for row in slower)
        sentence += f" For few trees the CPU wins (k = {largest}: {there} of {len(at_most)} lengths)."
    synjax = [SYNJAX[row["n"], row["k"]][1] / row["gpu_ms"] for row in single if (row["n"], row["k"]) in SYNJAX]
    if synjax:
        sentence += (
            f" SynJax's times, in float32 and in a run of its own, are {min(synjax):.1f} to {max(synjax):.1f} "
            "times ours."
        )
    x.verdict(sentence)


if __name__ == "__main__":
    main()
