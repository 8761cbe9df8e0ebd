# SPDX-License-Identifier: Apache-2.0
"""Z_T / Z_D, the expected tries of WilsonReject, for random and for trained weights; and tries, counted."""

import math

import numpy as np
from graphs import FAMILIES, expected_tries, scores_of, trained
from harness import Experiment
from laws import FALSE_ALARM, normal_tail
from plots import PALETTE, line, plt, ticks
from samplers import wilson_reject

import taproot

LIGHT = ("uniform", "exponential", "truncated normal")
HEAVY = "log-normal, σ = 3"
COLORS = dict(zip((*LIGHT, HEAVY), PALETTE))
LANGUAGES = {"English": "en_ewt", "Wolof": "wo_wtb"}
COLORS |= {"English": PALETTE[0], "Wolof": PALETTE[1]}


def equal_weights(n):
    """Spanning trees over dependency trees, counted."""
    return ((n + 1) / n) ** (n - 1)


def random_rows(x):
    rng = np.random.default_rng(4)
    for n in x.choose((2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200), (2, 3, 5, 10, 30, 100)):
        for family in (*LIGHT, HEAVY):
            graphs = x.choose(10000 if n <= 50 else 3000, 1000 if n <= 30 else 200)
            tries = expected_tries(family, n, graphs, rng)
            error = tries.std(ddof=1) / math.sqrt(graphs)
            quantiles = np.quantile(tries, (0.25, 0.5, 0.75, 0.99, 1))
            yield (family, n, graphs, equal_weights(n), tries.mean(), error, *quantiles, (tries > math.e).mean())
        exact = taproot.DependencyTrees(np.zeros((n + 1, n + 1))).expected_tries()
        x.check(math.isclose(exact, equal_weights(n), rel_tol=1e-12), f"equal weights, n = {n}")


def trained_rows():
    for language, name in LANGUAGES.items():
        scores = trained(name)
        for number, tries in enumerate(taproot.DependencyTrees(scores).expected_tries()):
            yield language, number, len(scores[number]) - 1, float(tries)


def count_rows(x, tries_of):
    """Tries until the given number of trees was found, against Z_T / Z_D: a sum of geometric variables."""
    rng = np.random.default_rng(5)
    cases = []
    for family in (*LIGHT, HEAVY):
        for n in x.choose((5, 20, 50), (5, 20)):
            weights = FAMILIES[family](rng, (n + 1, n + 1))
            weights[:, 0] = 0
            np.fill_diagonal(weights, 0)
            cases.append((family, scores_of(weights)))
    for language, name in LANGUAGES.items():
        scores = trained(name)
        order = sorted((row for row in tries_of if row["language"] == language), key=lambda row: row["tries"])
        cases += [
            (language, scores[order[place]["sentence"]]) for place in x.choose((len(order) // 2, -9, -3, -1), (-1,))
        ]
    for name, scores in cases:
        n = len(scores) - 1
        exact = taproot.DependencyTrees(scores).expected_tries()
        samples = x.choose(100000, 10000)
        trees = taproot.DependencyTrees(scores, root="multi").sample(samples, seed=1)
        accepted = int(((trees == 0).sum(axis=1) == 1).sum())
        spread = math.sqrt(samples / exact * (1 - 1 / exact))
        yield name, n, "taproot", exact, samples, accepted, (accepted - samples / exact) / max(spread, 1e-9)
        weights = np.exp(scores)
        weights[:, 0] = 0
        np.fill_diagonal(weights, 0)
        wanted = x.choose(max(30, int(600 / exact)), 20)
        wilson_reject(weights, wanted, rng)
        spread = math.sqrt(wanted * (1 - 1 / exact)) * exact
        z = (wilson_reject.tries - wanted * exact) / max(spread, 1e-9)
        yield name, n, "NumPy", exact, wilson_reject.tries, wanted, z


def plot(x, random, of_parsers):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=(1.4, 1))
    for family in (*LIGHT, HEAVY):
        rows = [row for row in random if row["family"] == family]
        of = lambda key: [row[key] for row in rows]
        line(left, of("n"), of("mean"), of("first_quartile"), of("third_quartile"), family, COLORS[family])
    sizes = np.arange(2, 201)
    left.plot(sizes, [equal_weights(n) for n in sizes], "--", color="#000000", linewidth=1)
    left.plot([2, 200], [math.e] * 2, color="#888888", linewidth=1)
    left.annotate("e", (2, math.e), xytext=(0, 2), textcoords="offset points", color="#555555")
    left.annotate("all weights equal", (4, equal_weights(4)), xytext=(18, -32), textcoords="offset points", fontsize=9)
    left.annotate(
        "", (4, equal_weights(4)), xytext=(18, -26), textcoords="offset points", arrowprops={"arrowstyle": "-"}
    )
    left.set_xscale("log")
    left.set_yscale("log")
    ticks(left.xaxis, [2, 5, 10, 20, 50, 100, 200])
    ticks(left.yaxis, [value for value in (1, 2, 3, 5, 10, 30, 100, 1000, 10000) if value <= left.get_ylim()[1]])
    left.set_xlabel("words")
    left.set_ylabel("Z_T / Z_D: mean, and quartiles shaded")
    left.set_title("random weights", fontsize=10)
    for language, where, offset in (("English", 0.985, (62, -34)), ("Wolof", 0.97, (50, 8))):
        tries = np.sort([row["tries"] for row in of_parsers if row["language"] == language])
        share = 1 - np.arange(len(tries)) / len(tries)
        right.step(tries, share, where="pre", color=COLORS[language])
        corner = int(len(tries) * where)
        right.annotate(
            f"{language}\nmean {tries.mean():.2f}",
            (tries[corner], share[corner]),
            xytext=offset,
            textcoords="offset points",
            color=COLORS[language],
            ha="center",
        )
    right.axvline(math.e, color="#888888", linewidth=1)
    right.annotate("e", (math.e, 1), xytext=(3, -8), textcoords="offset points", color="#555555")
    right.set_xscale("log")
    right.set_yscale("log")
    ticks(right.xaxis, [1, 2, 5, 10, 20, 50])
    ticks(right.yaxis, [1, 0.3, 0.1, 0.03, 0.01])
    right.set_xlabel("Z_T / Z_D")
    right.set_ylabel("share of sentences at least that")
    right.set_title("trained weights", fontsize=10)
    x.save(figure, "Expected tries of WilsonReject for random and for trained weights")


def summarize(x, random, of_parsers):
    """Both kinds of weights in one table; a parser's sentences have all lengths, and no reference."""
    columns = ("graphs", "reference", "mean", "error", "first_quartile", "median", "third_quartile", "percentile_99")
    columns += ("largest", "share_over_e")
    rows = [(row["family"], row["n"], *(row[name] for name in columns)) for row in random]
    for language in LANGUAGES:
        tries = np.array([row["tries"] for row in of_parsers if row["language"] == language])
        error = tries.std(ddof=1) / math.sqrt(len(tries))
        quantiles = np.quantile(tries, (0.25, 0.5, 0.75, 0.99, 1))
        rows.append(
            (f"trained, {language}", "", len(tries), "", tries.mean(), error, *quantiles, (tries > math.e).mean())
        )
    x.summary(("weights", "n", *columns), rows)


def report(x, random, of_parsers, counts):
    plot(x, random, of_parsers)
    x.table(
        ("n", "all equal", *(f"{family}: mean ± error" for family in (*LIGHT, HEAVY)), f"{HEAVY}: median, 99 %"),
        [
            (n, f"{equal_weights(n):.3f}")
            + tuple(f"{row['mean']:.3f} ± {row['error']:.3f}" for row in rows)
            + (f"{rows[-1]['median']:.2f}, {rows[-1]['percentile_99']:.1f}",)
            for n in dict.fromkeys(row["n"] for row in random)
            for rows in [[row for row in random if row["n"] == n]]
        ],
    )
    of_language = {
        name: np.array([row["tries"] for row in of_parsers if row["language"] == name]) for name in LANGUAGES
    }
    x.table(
        ("trained weights", "sentences", "mean", "median", "worst", "sentences with over 95 % on single-root trees"),
        [
            (name, len(tries), f"{tries.mean():.3f}", f"{np.median(tries):.4f}", f"{tries.max():.2f}")
            + (f"{(tries < 1 / 0.95).mean():.1%}",)
            for name, tries in of_language.items()
        ],
    )
    x.say("Counted: how many sampled trees have one root, as tries per tree, and the z-score against Z_T / Z_D.")
    x.table(
        ("weights", "n", "", "Z_T / Z_D", "tries", "trees", "tries per tree", "z"),
        [
            (row["weights"], row["n"], row["implementation"], f"{row['exact']:.4f}", row["tries"], row["trees"])
            + (f"{row['tries'] / row['trees']:.4f}", f"{row['z']:.1f}")
            for row in counts
        ],
    )
    for row in counts:
        name = f"{row['implementation']} on {row['weights']} weights, n = {row['n']}"
        x.check(normal_tail(row["z"]) > FALSE_ALARM, f"{name}: tries are Z_T / Z_D")
    light = [row for row in random if row["family"] in LIGHT]
    heavy = [row for row in random if row["family"] == HEAVY]
    x.check(all(row["mean"] - 5 * row["error"] < math.e for row in light), "light tails: a mean of at most e")
    x.check(
        all(abs(row["mean"] / row["reference"] - 1) < 0.05 + 5 * row["error"] for row in light if row["n"] >= 10),
        "near equal",
    )
    english, wolof = of_language["English"], of_language["Wolof"]
    largest = max(light, key=lambda row: row["mean"])
    far = max(heavy, key=lambda row: row["median"])
    over = [row["n"] for row in heavy if row["mean"] > math.e]
    worst = max(light, key=lambda row: row["largest"])
    uniform = max((row for row in random if row["family"] == "uniform"), key=lambda row: row["n"])
    where = "every length" if len(over) == len(heavy) else "n = " + ", ".join(map(str, over))
    highest = max(heavy, key=lambda row: row["mean"])
    x.verdict(
        f"holds for light-tailed weights, and for English but for a detail: over {len(light)} combinations of a "
        f"light-tailed family and a length the largest mean is {largest['mean']:.3f} ({largest['family']}, n = "
        f"{largest['n']}; e is 2.718); single graphs go beyond it (up to {worst['largest']:.0f}, at n = {worst['n']}). "
        f"With {HEAVY}, which the claim does not cover, the mean exceeds e at {where} (up to {highest['mean']:.1f}, at "
        f"n = {highest['n']}), carried by few graphs: no median is above {far['median']:.2f}. "
        f"At n = {uniform['n']} {1 - 1 / uniform['mean']:.1%} of the spanning trees are invalid: 1 − 1/e, and not the "
        f"paper's 73 %. Trained: English {english.mean():.3f} (paper 1.06), with {(english < 1 / 0.95).mean():.0%} of "
        f"the sentences above 95 % on single-root trees, which is less than almost all; Wolof, a small treebank, "
        f"{wolof.mean():.2f}: between English and random weights, as the paper expects, though "
        f"{(wolof > math.e).mean():.1%} of its sentences are above e, the worst at {wolof.max():.1f}."
    )


def main():
    with Experiment(__file__, __doc__) as x:
        columns = ("family", "n", "graphs", "reference", "mean", "error", "first_quartile", "median", "third_quartile")
        columns += ("percentile_99", "largest", "share_over_e")
        random = x.measure("random", columns, lambda: random_rows(x))
        of_parsers = x.measure("trained", ("language", "sentence", "n", "tries"), trained_rows)
        columns = ("weights", "n", "implementation", "exact", "tries", "trees", "z")
        counts = x.measure("counts", columns, lambda: count_rows(x, of_parsers))
        summarize(x, random, of_parsers)
        if not x.measure_only:
            report(x, random, of_parsers, counts)


if __name__ == "__main__":
    main()
