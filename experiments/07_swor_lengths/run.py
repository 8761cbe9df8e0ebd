# SPDX-License-Identifier: Apache-2.0
"""k different trees of 30, 45 and 60 words by trie and beam: the paper's Figure 5. See README.md."""

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

PAPER = ["trie", "beam"]
CONTENDERS = [(NUMPY, name) for name in PAPER] + [(OURS, name) for name in (*PAPER, "auto")]


def rows_of(x):
    rng = np.random.default_rng(7)
    for n in x.choose((30, 45, 60), (30, 45)):
        for k in x.choose((10, 30, 100, 300, 1000, 3000), (10, 100)):
            for graph in range(x.choose(5, 1)):
                weights = uniform_weights(n, rng)
                taken = turn(without_replacement_contenders(weights, scores_of(weights), k, graph, CONTENDERS))
                for (implementation, name), ms in taken.items():
                    yield n, k, graph, implementation, name, ms


def check(x):
    rng = np.random.default_rng(77)
    weights = uniform_weights(7, rng)
    check_masses(x, weights, scores_of(weights), [*PAPER, "auto"])
    for n in (30, 60):
        weights = uniform_weights(n, rng)
        check_different(x, weights, scores_of(weights), x.choose(200, 60), CONTENDERS)


def main():
    with Experiment(__file__, __doc__) as x:
        check(x)
        columns = ("n", "k", "graph", "implementation", "algorithm", "ms")
        rows = x.measure("speed", columns, lambda: rows_of(x))
        summarize(x, rows, ("n", "k"))
        if x.measure_only:
            return
        by_length = {n: [row for row in rows if row["n"] == n] for n in sorted({row["n"] for row in rows})}
        counts = sorted({row["k"] for row in rows})
        figure, all_axes = plt.subplots(1, len(by_length), figsize=(13, 4.4), sharey=True)
        for axes, (n, own) in zip(all_axes, by_length.items()):
            plot(axes, own, "k", CONTENDERS)
            axes.set(xlabel="trees k", title=f"{n} words", ylabel="")
            ticks(axes.xaxis, counts)
        all_axes[0].set_ylabel("milliseconds")
        figure.tight_layout()
        x.save(figure, "Time of k different trees by trie and beam: NumPy dashed, taproot solid")
        x.table(
            ("n", "k", *(f"{name}, {implementation}, ms" for implementation, name in CONTENDERS)),
            (
                (n, k, *(milliseconds(times(own, "k", c)[k]) for c in CONTENDERS))
                for n, own in by_length.items()
                for k in counts
            ),
        )
        x.say("Ratios on the same graph, median and quartiles over the graphs:")
        pairs = [((NUMPY, name), (OURS, name)) for name in PAPER]
        pairs += [((implementation, "trie"), (implementation, "beam")) for implementation in (NUMPY, OURS)]
        x.table(
            ("n", "k", *(" / ".join(f"{name}, {implementation}" for implementation, name in pair) for pair in pairs)),
            (
                (n, k, *(shown(ratios(own, "k", *pair)[k]) for pair in pairs))
                for n, own in by_length.items()
                for k in counts
            ),
        )
        if any(ratios(own, "k", (OURS, "trie"), (OURS, "beam"))[counts[-1]][1] < 1 for own in by_length.values()):
            x.say(
                "Our beam keeps a row of n numbers for every prefix and word, which takes "
                f"{8e-6 * counts[-1] * max(by_length) ** 2:.0f} MB for {counts[-1]} trees of {max(by_length)} words: "
                "more than the caches hold. The trie keeps a row from the second visit on, and needs little memory."
            )
        report(x, by_length, counts)


def report(x, by_length, counts):
    clauses, kept = [], []
    for implementation in (NUMPY, OURS):
        found = {
            (n, k): quarters[1]
            for n, own in by_length.items()
            for k, quarters in ratios(own, "k", (implementation, "trie"), (implementation, "beam")).items()
        }
        slower = [ratio for ratio in found.values() if ratio > 1]
        kept.append(len(slower) / len(found))
        clauses.append(
            f"in {implementation} trie takes {min(found.values()):.2f} to {max(found.values()):.2f} times as long as "
            f"beam, longer in {len(slower)} of {len(found)} settings"
        )
    holds = "holds" if min(kept) == 1 else "holds in part" if max(kept) > 0.5 else "does not hold"
    steep = []
    for own in by_length.values():
        for name in PAPER:
            tail = [(k, quartiles(ms)[1]) for k, ms in times(own, "k", (OURS, name)).items()][-2:]
            steep.append(exponent(*zip(*tail)))
    most, longest = counts[-1], max(by_length)

    def last_ratio(slow, fast):
        return ratios(by_length[longest], "k", slow, fast)[most][1]

    x.verdict(
        f"{holds}: {'; '.join(clauses)}. Our times grow as k^{min(steep):.2f} to k^{max(steep):.2f} at the end; at "
        f"n = {longest}, k = {most} our beam is {last_ratio((NUMPY, 'beam'), (OURS, 'beam')):.0f} times and our trie "
        f"{last_ratio((NUMPY, 'trie'), (OURS, 'trie')):.0f} times as fast as NumPy's, and our `auto` "
        f"{last_ratio((OURS, 'beam'), (OURS, 'auto')):.0f} times as fast as our beam."
    )


if __name__ == "__main__":
    main()
