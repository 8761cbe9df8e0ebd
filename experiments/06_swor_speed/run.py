# SPDX-License-Identifier: Apache-2.0
"""k different trees of 14 words: the paper's Figure 3. See README.md."""

import numpy as np
from contest import (
    NUMPY,
    OURS,
    check_different,
    check_masses,
    milliseconds,
    plot,
    ratios,
    shown,
    summarize,
    times,
    turn,
    without_replacement_contenders,
)
from graphs import scores_of, uniform_weights
from harness import Experiment, exponent, quartiles
from plots import plt, ticks

N = 14
PAPER = ["list", "trie", "beam"]
CONTENDERS = [(NUMPY, name) for name in PAPER] + [(OURS, name) for name in (*PAPER, "auto")]


def rows_of(x):
    rng = np.random.default_rng(6)
    for k in x.choose((10, 30, 100, 300, 1000, 3000), (10, 100, 300)):
        for graph in range(x.choose(5, 1)):
            weights = uniform_weights(N, rng)
            contenders = without_replacement_contenders(weights, scores_of(weights), k, graph, CONTENDERS)
            for (implementation, name), ms in turn(contenders).items():
                yield k, graph, implementation, name, ms


def check(x):
    rng = np.random.default_rng(66)
    weights = uniform_weights(6, rng)
    check_masses(x, weights, scores_of(weights), [*PAPER, "auto"])
    weights = uniform_weights(N, rng)
    check_different(x, weights, scores_of(weights), x.choose(3000, 300), CONTENDERS)


def main():
    with Experiment(__file__, __doc__) as x:
        check(x)
        rows = x.measure("speed", ("k", "graph", "implementation", "algorithm", "ms"), lambda: rows_of(x))
        summarize(x, rows, ("k",))
        if x.measure_only:
            return
        counts = sorted({row["k"] for row in rows})
        figure, axes = plt.subplots()
        plot(axes, rows, "k", CONTENDERS)
        axes.set(xlabel="trees k", title=f"k different trees, {N} words, random weights")
        ticks(axes.xaxis, counts)
        x.save(figure, f"Time of k different trees of {N} words: NumPy dashed, taproot solid")
        x.table(
            ("k", *(f"{name}, {implementation}, ms" for implementation, name in CONTENDERS)),
            ((k, *(milliseconds(times(rows, "k", c)[k]) for c in CONTENDERS)) for k in counts),
        )
        x.say("How many times as long NumPy takes as taproot on the same graph, median and quartiles over the graphs:")
        speed_ups = {name: ratios(rows, "k", (NUMPY, name), (OURS, name)) for name in PAPER}
        x.table(("k", *PAPER), ((k, *(shown(speed_ups[name][k]) for name in PAPER)) for k in counts))
        x.say(
            "In NumPy a call costs more than its arithmetic at 14 words. The beam makes its calls for all prefixes at "
            "once, but the trie and the list make theirs for one word of one tree. So these two are much slower than "
            "the beam, and nearly as fast as each other. The list's pass over the trees it has, which makes it "
            "quadratic, is a single call too."
        )
        if ratios(rows, "k", (OURS, "trie"), (OURS, "beam"))[counts[-1]][1] < 1:
            x.say(
                "In taproot, where calls cost nothing, the trie is faster than the beam. It keeps what it finds at a "
                "prefix for all later trees that pass through it, and it makes only nodes that are sampled, while the "
                "beam makes more children than it keeps. The beam in NumPy is faster because it is vectorized, not "
                "because it does less."
            )
        report(x, rows, counts, speed_ups)


def report(x, rows, counts, speed_ups):
    most = counts[-1]
    clauses, kept, order = [], [], []
    for implementation in (NUMPY, OURS):
        last = {}
        for slow, fast in (("list", "trie"), ("list", "beam"), ("trie", "beam")):
            found = ratios(rows, "k", (implementation, slow), (implementation, fast))
            last[slow, fast] = found[most][1]
            kept.append(found[most][1] > 1)
        order.append(
            "the paper's, although the trie is much slower than the beam, not slightly"
            if last["trie", "beam"] >= 2 and min(last.values()) > 1
            else "the paper's"
            if min(last.values()) > 1
            else "list, beam, trie, from the slowest to the fastest"
            if last["list", "beam"] > 1 > last["trie", "beam"]
            else "a different one"
        )
        steep = {}
        for name in PAPER:
            tail = list(times(rows, "k", (implementation, name)).items())[-2:]
            steep[name] = exponent([k for k, _ in tail], [quartiles(ms)[1] for _, ms in tail])
        clauses.append(
            f"in {implementation}, at k = {most}, list takes {last['list', 'trie']:.1f} times as long as trie and "
            f"{last['list', 'beam']:.1f} times as long as beam, and trie {last['trie', 'beam']:.2f} times as long as "
            f"beam; time grows there as " + ", ".join(f"k^{steep[name]:.2f} ({name})" for name in PAPER)
        )
    alike = all(kept) and set(order) == {"the paper's"}
    holds = "holds" if alike else "holds in part" if any(kept) else "does not hold"
    auto = ratios(rows, "k", (OURS, "beam"), (OURS, "auto"))[most][1]
    x.verdict(
        f"{holds}: at k = {most} the order in NumPy is {order[0]}; in taproot it is {order[1]}. "
        f"I{'; '.join(clauses)[1:]}. At k = {most} ours are "
        + ", ".join(f"{speed_ups[name][most][1]:.0f} ({name})" for name in PAPER)
        + f" times as fast as NumPy; our `auto` is {auto:.1f} times as fast as our beam."
    )


if __name__ == "__main__":
    main()
