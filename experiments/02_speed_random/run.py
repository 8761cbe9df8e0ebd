# SPDX-License-Identifier: Apache-2.0
"""100 trees per graph with random weights: the paper's Figure 2a. See README.md."""

import numpy as np
from contest import NUMPY, OURS, check_frequencies, milliseconds, plot, ratios, shown, summarize, times, turn
from graphs import scores_of, uniform_weights
from harness import Experiment
from plots import plt, ticks
from samplers import SAMPLERS, laplacian_hat
from samplers import marginals as marginals_of_numpy
from walks import CPP, WALKS, WAYS, Walks

import taproot

TREES = 100
PAPER = ["colbourn", "wilson-reject", "wilson-marginal"]
CONTENDERS = [(NUMPY, name) for name in PAPER] + [(OURS, name) for name in (*PAPER, "elimination", "auto")]


def rows_of(x):
    rng = np.random.default_rng(2)
    with Walks() as walks:
        yield from rows_beside(x, rng, walks)


def rows_beside(x, rng, walks):
    for n in x.choose((5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), (5, 20, 40)):
        for graph in range(x.choose(5, 1)):
            weights = uniform_weights(n, rng)
            scores = scores_of(weights)
            contenders = {
                (implementation, name): (
                    (lambda sampler=SAMPLERS[name]: sampler(weights, TREES, rng))
                    if implementation == NUMPY
                    else (lambda name=name: taproot.DependencyTrees(scores).sample(TREES, graph, name))
                )
                for implementation, name in CONTENDERS
            }
            for (implementation, name), ms in turn(contenders).items():
                yield n, graph, implementation, name, ms
            for way, (ms, _) in walks(scores, TREES).items():
                yield n, graph, CPP, way, ms


def check(x):
    """NumPy and taproot have the same marginals, and all samplers follow them."""
    rng = np.random.default_rng(22)
    for n, of_numpy in ((6, 400), (12, 300)):
        weights = uniform_weights(n, rng)
        d = taproot.DependencyTrees(scores_of(weights))
        marginals = d.marginals()
        inverse = np.linalg.inv(laplacian_hat(weights))
        x.check(np.abs(marginals_of_numpy(weights, inverse) - marginals).max() < 1e-10, "marginals agree with NumPy's")
        for implementation, name in CONTENDERS:
            if implementation == OURS:
                heads = d.sample(20000, 4, name)
            else:
                heads = np.array(SAMPLERS[name](weights, of_numpy, rng))[:, 1:]
            x.check(bool(np.isfinite(d.log_prob(heads)).all()), f"{name}, {implementation}: trees only")
            check_frequencies(x, heads, marginals, f"{name}, {implementation}, n = {n}")


def faster(rows, implementation, fast, slow):
    """The lengths at which one is faster, and the others."""
    found = ratios(rows, "n", (implementation, slow), (implementation, fast))
    return [n for n in found if found[n][1] > 1], [n for n in found if found[n][1] <= 1]


def main():
    with Experiment(__file__, __doc__) as x:
        check(x)
        rows = x.measure("speed", ("n", "graph", "implementation", "algorithm", "ms"), lambda: rows_of(x))
        summarize(x, rows, ("n",))
        if x.measure_only:
            return
        figure, axes = plt.subplots()
        plot(axes, rows, "n", [*CONTENDERS, *WALKS])
        axes.set(xlabel="words n", title=f"{TREES} trees, uniformly random weights")
        ticks(axes.xaxis, x.choose((5, 10, 20, 50, 100), (5, 20, 40)))
        x.save(
            figure,
            "Time of 100 trees by the number of words, random weights: NumPy dashed, taproot solid, "
            "popping and walks in C++ dotted",
        )

        lengths = sorted({row["n"] for row in rows})
        x.table(
            ("n", *(f"{name}, {implementation}, ms" for implementation, name in CONTENDERS)),
            ((n, *(milliseconds(times(rows, "n", c)[n]) for c in CONTENDERS)) for n in lengths),
        )
        speed_ups = {name: ratios(rows, "n", (NUMPY, name), (OURS, name)) for name in PAPER}
        x.say("How many times as long NumPy takes as taproot on the same graph, median and quartiles over the graphs:")
        x.table(("n", *PAPER), ((n, *(shown(speed_ups[name][n]) for name in PAPER)) for n in lengths))
        x.say(
            "Popping beside walks: the trees of wilson-marginal in C++. Popping and the walk by its definition give "
            "the same trees; the plain walk, taproot's before, draws other random numbers."
        )
        x.table(
            ("n", *(f"{way}, ms" for way in WAYS), "popping / plain walk", "popping / by definition"),
            (
                (
                    n,
                    *(milliseconds(times(rows, "n", c)[n]) for c in WALKS),
                    *(shown(ratios(rows, "n", WALKS[2], other)[n]) for other in WALKS[:2]),
                )
                for n in lengths
            ),
        )
        if faster(rows, NUMPY, "wilson-reject", "colbourn")[1]:
            x.say(
                "In NumPy every step of a walk is a call of `rng.choice`, which costs more than its arithmetic; "
                "Colbourn's algorithm calls it once per word, WilsonReject about 2e times. So Colbourn's cubic "
                "arithmetic shows only where sentences are long."
            )
        report(x, rows, lengths)


def report(x, rows, lengths):
    clauses, kept = [], []
    for implementation in (NUMPY, OURS):
        exceptions = []
        for fast, slow in (
            ("wilson-marginal", "wilson-reject"),
            ("wilson-reject", "colbourn"),
            ("wilson-marginal", "colbourn"),
        ):
            yes, no = faster(rows, implementation, fast, slow)
            kept.append(len(yes) / len(lengths))
            if no:
                exceptions.append(f"{slow} is not slower than {fast} for n = {', '.join(map(str, no))}")
        longest = lengths[-1]
        last = {
            slow: ratios(rows, "n", (implementation, slow), (implementation, "wilson-marginal"))[longest][1]
            for slow in ("wilson-reject", "colbourn")
        }
        clauses.append(
            f"in {implementation} wilson-marginal is {last['wilson-reject']:.1f} times as fast as wilson-reject and "
            f"{last['colbourn']:.1f} times as fast as colbourn at n = {longest}"
            + (f" ({'; '.join(exceptions)})" if exceptions else ", and the order is the paper's at all lengths")
        )
    holds = "holds" if min(kept) == 1 else "holds in part" if sum(kept) > len(kept) / 2 else "does not hold"
    of_all = [ratios(rows, "n", (NUMPY, name), (OURS, name))[n][1] for name in PAPER for n in lengths]
    best = ratios(rows, "n", (OURS, "wilson-marginal"), (OURS, "auto"))
    x.verdict(
        f"{holds}: {'; '.join(clauses)}. Ours are {min(of_all):.0f} to {max(of_all):.0f} times as fast as the same "
        f"algorithms in NumPy; `auto` takes {1 / best[lengths[-1]][1]:.2f} times the time of our wilson-marginal at "
        f"n = {lengths[-1]}, `elimination` "
        f"{ratios(rows, 'n', (OURS, 'elimination'), (OURS, 'wilson-marginal'))[lengths[-1]][1]:.1f} times. Popping "
        f"takes {ratios(rows, 'n', WALKS[2], WALKS[0])[lengths[-1]][1]:.2f} times the time of the plain walk there."
    )


if __name__ == "__main__":
    main()
