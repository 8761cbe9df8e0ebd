# SPDX-License-Identifier: Apache-2.0
"""What a sentence and one more tree cost, by length. See README.md."""

import time

import numpy as np
from contest import NUMPY, OURS, STYLES, check_frequencies, milliseconds, shown, summarize, turn
from graphs import scores_of, uniform_weights
from harness import Experiment, exponent, quartiles
from plots import COLORS, line, plt, ticks
from samplers import laplacian_hat
from samplers import marginals as marginals_of_numpy
from walks import CPP, WALKS, WAYS, Walks

import taproot

SENTENCE = [(NUMPY, "slogdet"), (NUMPY, "marginals"), (OURS, "log_partition"), (OURS, "marginals")]
BY_NAME = ["wilson-marginal", "wilson-reject", "auto"]
TREES = [*BY_NAME, "elimination", "colbourn"]
SHORT, LONG = (20, 200), (200, 2000)  # Words, for the exponents.
COLOR = {"slogdet": COLORS["trie"], "log_partition": COLORS["trie"], "marginals": COLORS["beam"]}


def sentence_contenders(weights, scores):
    return {
        (NUMPY, "slogdet"): lambda: np.linalg.slogdet(laplacian_hat(weights)),
        (NUMPY, "marginals"): lambda: marginals_of_numpy(weights, np.linalg.inv(laplacian_hat(weights))),
        (OURS, "log_partition"): lambda: taproot.DependencyTrees(scores, copy=False).log_partition(),
        (OURS, "marginals"): lambda: taproot.DependencyTrees(scores, copy=False).marginals(),
    }


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def further_tree(d, name, seed):
    """Milliseconds per tree, from the difference of many trees and fewer, once tables are made and kept."""
    for _ in range(2):  # From the second call on.
        d.sample(1, seed, name)
    n = d.lengths
    many = max(6, 4_000_000 // n**2) if name == "colbourn" else max(300, 600_000 // n)
    few = many // 5
    taken = [min(seconds(lambda: d.sample(k, seed, name)) for _ in range(2)) for k in (few, many)]
    return 1e3 * max(taken[1] - taken[0], 1e-9) / (many - few)


def rows_of(x):
    rng = np.random.default_rng(11)
    with Walks() as walks:
        yield from rows_beside(x, rng, walks)


def rows_beside(x, rng, walks):
    for n in x.choose((10, 20, 50, 100, 200, 500, 1000, 2000), (10, 50, 100, 200)):
        for graph in range(x.choose(5, 1)):
            weights = uniform_weights(n, rng)
            scores = scores_of(weights)
            for (implementation, task), ms in turn(sentence_contenders(weights, scores)).items():
                yield n, graph, implementation, task, ms
            d = taproot.DependencyTrees(scores, copy=False)
            d.log_partition()
            for name in TREES:
                if name != "colbourn" or n <= 1000:
                    yield n, graph, OURS, name, further_tree(d, name, graph)
            for way, (_, ms) in walks(scores, max(20, 20_000 // n)).items():
                yield n, graph, CPP, way, ms


def check(x):
    """Answers, up to lengths at which NumPy takes long."""
    rng = np.random.default_rng(111)
    for n in (10, 50, *x.choose((500, 2000), (200,))):
        weights = uniform_weights(n, rng)
        scores = scores_of(weights)
        answers = {contender: function() for contender, function in sentence_contenders(weights, scores).items()}
        log_z = answers[NUMPY, "slogdet"][1]
        x.check(abs(answers[OURS, "log_partition"] / log_z - 1) < 1e-11, f"log Z is slogdet's, n = {n}")
        error = np.abs(answers[OURS, "marginals"] - answers[NUMPY, "marginals"]).max()
        x.check(error < 1e-9, f"marginals are NumPy's, n = {n}")
        d = taproot.DependencyTrees(scores, copy=False)
        for name in TREES:
            if n <= 50:
                heads = d.sample(20000, 1, name)
                check_frequencies(x, heads, answers[OURS, "marginals"], f"{name}, n = {n}")
            elif name != "colbourn":
                x.check(bool(np.isfinite(d.log_prob(d.sample(20, 1, name))).all()), f"{name}, n = {n}: trees only")


def series(rows, implementation, task):
    """{n: milliseconds, one per graph}."""
    found = {}
    for row in rows:
        if (row["implementation"], row["task"]) == (implementation, task):
            found.setdefault(row["n"], []).append(row["ms"])
    return found


def slopes(found, words):
    """Quartiles over the graphs of the exponent between two lengths."""
    lengths = [n for n in found if words[0] <= n <= words[1]]
    return quartiles([exponent(lengths, of_graph) for of_graph in zip(*(found[n] for n in lengths))])


def plot(x, rows, lengths, words):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    panels = [(left, implementation, task, COLOR[task], 1) for implementation, task in SENTENCE]
    panels += [(right, OURS, task, COLORS[task], 1e3) for task in TREES]
    panels += [(right, CPP, way, COLORS[way], 1e3) for way in WAYS]
    for axes, implementation, task, color, unit in panels:
        found = series(rows, implementation, task)
        low, middle, high = zip(*(np.array(quartiles(ms)) * unit for ms in found.values()))
        label = f"{task}, NumPy" if implementation == NUMPY else task
        line(
            axes,
            list(found),
            middle,
            low,
            high,
            f"{label}: $n^{{{slopes(found, words)[1]:.2f}}}$",
            color,
            STYLES[implementation],
        )
    left.set(title="one sentence", ylabel="milliseconds")
    right.set(title="one more tree", ylabel="microseconds")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="words n")
        ticks(axes.xaxis, lengths)
    x.save(
        figure,
        f"Time of one sentence and of one more tree by the number of words; exponents fitted from {words[0]} words on",
    )


def main():
    with Experiment(__file__, __doc__) as x:
        check(x)
        rows = x.measure("scaling", ("n", "graph", "implementation", "task", "ms"), lambda: rows_of(x))
        summarize(x, rows, ("n",), "task")
        if x.measure_only:
            return
        lengths = sorted({row["n"] for row in rows})
        plot(x, rows, lengths, x.choose(LONG, (50, 200)))
        compared = {
            "log_partition / slogdet": ((OURS, "log_partition"), (NUMPY, "slogdet")),
            "marginals / NumPy's": ((OURS, "marginals"), (NUMPY, "marginals")),
        }
        ratios = {
            title: {
                n: quartiles([a / b for a, b in zip(series(rows, *ours)[n], series(rows, *theirs)[n])]) for n in lengths
            }
            for title, (ours, theirs) in compared.items()
        }
        x.say("Median milliseconds of one sentence; ratios with quartiles over the graphs:")
        x.table(
            ("n", *(f"{task}, {implementation}" for implementation, task in SENTENCE), *ratios),
            (
                (
                    n,
                    *(milliseconds(series(rows, *c)[n]) for c in SENTENCE),
                    *(shown(found[n]) for found in ratios.values()),
                )
                for n in lengths
            ),
        )
        x.say("Median microseconds of one more tree, with quartiles over the graphs:")
        trees = {name: series(rows, OURS, name) for name in TREES}
        x.table(
            ("n", *TREES),
            (
                (n, *(shown(1e3 * np.array(quartiles(trees[name][n]))) if n in trees[name] else "" for name in TREES))
                for n in lengths
            ),
        )
        x.say(
            "Popping beside walks: one more tree of wilson-marginal in C++, median microseconds. Popping and the walk "
            "by its definition give the same trees; the plain walk, taproot's before, draws other random numbers."
        )
        beside = [series(rows, *contender) for contender in WALKS]
        x.table(
            ("n", *WAYS, "popping / plain walk"),
            (
                (
                    n,
                    *(shown(1e3 * np.array(quartiles(found[n]))) for found in beside),
                    shown(quartiles([a / b for a, b in zip(beside[2][n], beside[0][n])])),
                )
                for n in lengths
            ),
        )
        report(x, rows, lengths, ratios)


def report(x, rows, lengths, ratios):
    tasks = [*TREES, "log_partition", "marginals"]
    ranges = x.choose((SHORT, LONG), ((10, 50), (50, 200)))
    short, long = ({task: slopes(series(rows, OURS, task), words) for task in tasks} for words in ranges)
    x.say("Exponents of n, median and quartiles over the graphs:")
    x.table(
        ("words", *tasks),
        (
            (f"{words[0]} to {words[1]}", *(shown(found[task]) for task in tasks))
            for words, found in zip(ranges, (short, long))
        ),
    )
    x.say(
        "A step of a walk, and a choice of a head, reads one place of tables that have n² entries. While they fit into "
        "a near cache, time grows as the number of steps; beyond that it grows as they wait for memory."
    )
    # Exponents should be those of the arithmetic within 0.25; those of walks, as long as caches hold the tables.
    kept = [short[task][1] < 1.25 for task in BY_NAME]
    kept += [long[task][1] < most + 0.25 for task, most in (("elimination", 2), *((task, 3) for task in tasks[-3:]))]
    holds = "holds" if all(kept) else "holds in part" if any(kept) else "does not hold"
    far = [n for n in lengths if n >= 100]
    x.verdict(
        f"{holds}, walks up to {ranges[0][1]} words: from {ranges[1][0]} to {ranges[1][1]} words time grows as "
        + ", ".join(
            f"n^{long[task][1]:.2f} ({task}{', to 1000 words' if task == 'colbourn' and not x.quick else ''})"
            for task in tasks[-4:]
        )
        + "; a walk's as "
        + ", ".join(f"n^{short[task][1]:.2f} ({task})" for task in BY_NAME)
        + f" up to {ranges[0][1]} words, and as n^{min(long[task][1] for task in BY_NAME):.2f} to "
        + f"n^{max(long[task][1] for task in BY_NAME):.2f} beyond, where its tables leave the caches. From 100 words "
        + "on "
        + " and ".join(
            f"{title} is {min(by[n][1] for n in far):.2f} to {max(by[n][1] for n in far):.2f}"
            for title, by in ratios.items()
        )
        + f". One more tree of {lengths[-1]} words takes "
        + " and ".join(
            f"{1e3 * quartiles(series(rows, OURS, name)[lengths[-1]])[1]:.0f} µs ({name})"
            for name in ("auto", "elimination")
        )
        + "."
    )


if __name__ == "__main__":
    main()
