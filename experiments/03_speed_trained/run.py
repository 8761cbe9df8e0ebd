# SPDX-License-Identifier: Apache-2.0
"""100 trees per sentence with the weights of trained parsers: the paper's Figure 2b. See README.md."""

import statistics

import numpy as np
from contest import NUMPY, OURS, check_frequencies, milliseconds, plot, ratios, shown, summarize, times, turn
from graphs import trained
from harness import Experiment
from plots import COLORS, plt, ticks
from samplers import SAMPLERS, laplacian_hat
from samplers import marginals as marginals_of_numpy
from walks import CPP, WALKS, Walks

import taproot

TREES = 100
PAPER = ["colbourn", "wilson-reject", "wilson-marginal"]
CONTENDERS = [(NUMPY, name) for name in PAPER] + [(OURS, name) for name in (*PAPER, "elimination", "auto")]
COLUMNS = ("treebank", "sentence", "n", "tries", "work", "implementation", "algorithm", "ms")
TREEBANKS = {"en_ewt": "English, a sure parser", "wo_wtb": "Wolof, an unsure parser"}
BINS = (0, 5, 10, 15, 20, 30, 45, 90)  # Words: more than the one, up to the next.


def weights_of(scores):
    weights = np.exp(scores)
    weights[:, 0] = 0
    np.fill_diagonal(weights, 0)
    return weights


def sentences(x, treebank):
    """By length; with --quick a few."""
    found = sorted(trained(treebank), key=len)
    return found if not x.quick else found[:: len(found) // 4]


def rows_of(x):
    rng = np.random.default_rng(3)
    with Walks() as walks:
        yield from rows_beside(x, rng, walks)


def rows_beside(x, rng, walks):
    for treebank in TREEBANKS:
        for sentence, scores in enumerate(sentences(x, treebank)):
            weights = weights_of(scores)
            tries, work = expectations(scores)
            contenders = {
                (implementation, name): (
                    (lambda sampler=SAMPLERS[name]: sampler(weights, TREES, rng))
                    if implementation == NUMPY
                    else (lambda name=name: taproot.DependencyTrees(scores).sample(TREES, sentence, name))
                )
                for implementation, name in CONTENDERS
            }
            for _ in range(x.choose(2, 1)):
                for (implementation, name), ms in turn(contenders).items():
                    yield treebank, sentence, len(scores) - 1, tries, work, implementation, name, ms
                for way, (ms, _) in walks(scores, TREES).items():
                    yield treebank, sentence, len(scores) - 1, tries, work, CPP, way, ms


def expectations(scores):
    """(tries of WilsonReject per tree, its steps divided by those of WilsonMarginal, root included)."""
    d, spanning = (taproot.DependencyTrees(scores, root=root) for root in ("single", "multi"))
    tries = d.expected_tries()
    return tries, tries * spanning.expected_steps() / (d.expected_steps() + 1)


def check(x):
    """On the least certain short sentence NumPy and taproot agree on marginals and tries, and all samplers follow."""
    rng = np.random.default_rng(33)
    for treebank in TREEBANKS:
        short = [scores for scores in trained(treebank) if len(scores) <= 13]
        scores = max(short, key=lambda scores: taproot.DependencyTrees(scores).entropy())
        weights = weights_of(scores)
        d = taproot.DependencyTrees(scores)
        marginals = d.marginals()
        laplacian = laplacian_hat(weights)
        of_numpy = marginals_of_numpy(weights, np.linalg.inv(laplacian))
        x.check(np.abs(of_numpy - marginals).max() < 1e-8, f"{treebank}: marginals agree with NumPy's")
        spanning = np.diag(weights[:, 1:].sum(axis=0)) - weights[1:, 1:]
        tries = np.exp(np.linalg.slogdet(spanning)[1] - np.linalg.slogdet(laplacian)[1])
        x.check(abs(d.expected_tries() / tries - 1) < 1e-6, f"{treebank}: expected tries are those of determinants")
        for implementation, name in CONTENDERS:
            if implementation == OURS:
                heads = d.sample(20000, 4, name)
            else:
                heads = np.array(SAMPLERS[name](weights, 200, rng))[:, 1:]
            x.check(bool(np.isfinite(d.log_prob(heads)).all()), f"{treebank}, {name}, {implementation}: trees only")
            check_frequencies(x, heads, marginals, f"{treebank}, {name}, {implementation}")


def medians(rows):
    """One row per sentence and contender: the median of its rounds."""
    names = COLUMNS[:-1]
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row["ms"])
    return [dict(zip(names, key)) | {"ms": statistics.median(ms)} for key, ms in found.items()]


def binned(rows):
    """With a column `about`: the median length of the sentences of the treebank whose length is in the same bin."""
    out = []
    for low, high in zip(BINS, BINS[1:]):
        own = [row for row in rows if low < row["n"] <= high]
        if own:
            about = round(statistics.median(row["n"] for row in own))
            out += [row | {"about": about, "words": f"{low + 1} to {high}"} for row in own]
    return out


def plot_speed(figure, by_treebank):
    both = figure.subplots(1, 2, sharey=True)
    for axes, (treebank, title) in zip(both, TREEBANKS.items()):
        plot(axes, by_treebank[treebank], "about", [*CONTENDERS, *WALKS])
        axes.set(xlabel="words n", title=title)
        ticks(axes.xaxis, (5, 10, 20, 50))
    both[1].set_ylabel("")


def plot_work(figure, by_treebank):
    both = figure.subplots(1, 2, sharex=True, sharey=True)
    most = max(row["work"] for rows in by_treebank.values() for row in rows)
    for axes, implementation in zip(both, (NUMPY, OURS)):
        for (treebank, rows), marker, color in zip(by_treebank.items(), "o^", (COLORS["trie"], COLORS["beam"])):
            found = ratios(rows, "sentence", (implementation, "wilson-reject"), (implementation, "wilson-marginal"))
            work = {row["sentence"]: row["work"] for row in rows}
            heights = [quarters[1] for quarters in found.values()]
            axes.plot([work[s] for s in found], heights, marker, color=color, alpha=0.6, label=TREEBANKS[treebank])
        axes.plot([1, most], [1, most], color="#888888", linewidth=1)
        axes.set(xscale="log", yscale="log", title=implementation, xlabel="expected steps, reject / marginal")
        ticks(axes.xaxis, [value for value in (1, 2, 5, 10) if value <= 1.1 * most])
    both[0].annotate(
        "time as the steps", (most, most), (-8, 0), textcoords="offset points", ha="right", color="#666666", fontsize=8
    )
    both[0].legend(frameon=False, loc="upper left", fontsize=9)
    both[0].set_ylabel("time, reject / marginal")
    both[0].set_ylim(bottom=0.8)
    ticks(both[0].yaxis, [value for value in (1, 2, 5, 10) if value <= 1.1 * most])


def plot_both(x, by_treebank):
    figure = plt.figure(figsize=(11, 9), layout="constrained")
    above, below = figure.subfigures(2, 1)
    plot_speed(above, by_treebank)
    plot_work(below, by_treebank)
    x.save(
        figure,
        "Above: time of 100 trees by the length of sentences, trained weights; NumPy dashed, taproot solid, "
        "popping and walks in C++ dotted. Below: how much longer WilsonReject takes than WilsonMarginal, by the "
        "expected steps of their walks",
    )


def main():
    with Experiment(__file__, __doc__) as x:
        check(x)
        rows = medians(x.measure("speed", COLUMNS, lambda: rows_of(x)))
        by_treebank = {name: binned([row for row in rows if row["treebank"] == name]) for name in TREEBANKS}
        summarize(x, [row for own in by_treebank.values() for row in own], ("treebank", "words"))
        if x.measure_only:
            return
        plot_both(x, by_treebank)
        shown_contenders = [*CONTENDERS, *WALKS]
        for treebank, own in by_treebank.items():
            groups = dict.fromkeys(row["words"] for row in own)
            of_group = {words: sum(row["words"] == words for row in own) // len(shown_contenders) for words in groups}
            x.say(f"{TREEBANKS[treebank]}, median milliseconds of {TREES} trees:")
            x.table(
                ("words", "sentences", *(f"{name}, {implementation}" for implementation, name in shown_contenders)),
                (
                    (
                        words,
                        of_group[words],
                        *(milliseconds(times(own, "words", c)[words]) for c in shown_contenders),
                    )
                    for words in groups
                ),
            )
        x.say("Ratios over all sentences, median and quartiles:")
        pairs = [((NUMPY, name), (OURS, name)) for name in PAPER]
        for implementation in (NUMPY, OURS):
            pairs += [((implementation, slow), (implementation, "wilson-marginal")) for slow in PAPER[:2]]
        pairs += [((OURS, name), (OURS, "wilson-marginal")) for name in ("elimination", "auto")]
        pairs += [(WALKS[2], other) for other in WALKS[:2]]
        x.table(
            ("", *TREEBANKS),
            (
                (
                    " / ".join(f"{name}, {implementation}" for implementation, name in pair),
                    *(shown(overall(own, *pair)) for own in by_treebank.values()),
                )
                for pair in pairs
            ),
        )
        most = max(rows, key=lambda row: row["work"] / row["tries"])
        x.say(
            "Tries alone do not say how long WilsonReject takes, because its walks have to find ROOT, and those of "
            f"WilsonMarginal a known word. The sentence where that matters most ({most['treebank']}, {most['n']} "
            f"words) needs {most['tries']:.3f} tries, and {most['work']:.1f} times as many steps."
        )
        report(x, by_treebank)


def overall(rows, slow, fast):
    """Quartiles over the sentences."""
    return ratios([row | {"all": 0} for row in rows], "all", slow, fast)[0]


def report(x, by_treebank):
    tries = {
        name: statistics.mean({row["sentence"]: row["tries"] for row in own}.values())
        for name, own in by_treebank.items()
    }
    reject = {
        (name, implementation): overall(own, (implementation, "wilson-reject"), (implementation, "wilson-marginal"))[1]
        for name, own in by_treebank.items()
        for implementation in (NUMPY, OURS)
    }
    colbourn = [
        overall(own, (implementation, "colbourn"), (implementation, fast))[1]
        for own in by_treebank.values()
        for implementation in (NUMPY, OURS)
        for fast in ("wilson-reject", "wilson-marginal")
    ]
    alike = [2 / 3 < reject["en_ewt", implementation] < 3 / 2 for implementation in (NUMPY, OURS)]
    holds = "holds" if all(alike) and min(colbourn) > 1 else "holds in part" if any(alike) else "does not hold"
    ours = [overall(own, (NUMPY, "wilson-marginal"), (OURS, "wilson-marginal"))[1] for own in by_treebank.values()]
    popping = [overall(own, WALKS[2], WALKS[0])[1] for own in by_treebank.values()]
    x.verdict(
        f"{holds}: on English, with {tries['en_ewt']:.2f} expected tries (the paper: 1.06), wilson-reject takes "
        f"{reject['en_ewt', NUMPY]:.2f} times as long as wilson-marginal in NumPy and {reject['en_ewt', OURS]:.2f} "
        f"times in taproot; on Wolof, with {tries['wo_wtb']:.2f}, {reject['wo_wtb', NUMPY]:.2f} and "
        f"{reject['wo_wtb', OURS]:.2f} times (medians; single sentences up to {max(worst(by_treebank)):.0f} times). "
        f"Colbourn takes {min(colbourn):.1f} to {max(colbourn):.0f} times as long as either. Ours are "
        f"{ours[0]:.0f} and {ours[1]:.0f} times as fast as NumPy (wilson-marginal, English and Wolof). From the scores "
        f"on, popping takes {popping[0]:.2f} and {popping[1]:.2f} times the time of the plain walk in C++."
    )


def worst(by_treebank):
    """How much longer WilsonReject takes than WilsonMarginal, at most."""
    for own in by_treebank.values():
        for implementation in (NUMPY, OURS):
            found = ratios(own, "sentence", (implementation, "wilson-reject"), (implementation, "wilson-marginal"))
            yield max(quarters[1] for quarters in found.values())


if __name__ == "__main__":
    main()
