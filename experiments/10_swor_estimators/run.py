# SPDX-License-Identifier: Apache-2.0
"""Errors of estimates of expectations from k trees, with and without replacement, on trained weights."""

import functools
import math

import numpy as np
from graphs import trained
from harness import Experiment
from laws import FALSE_ALARM, normal_tail
from plots import PALETTE, line, plt, ticks

import taproot

LANGUAGES = {"English": "en_ewt", "Wolof": "wo_wtb"}
QUANTITIES = {"entropy": "entropy, in nats", "attachment": "agreement with the best tree"}
ESTIMATORS = {
    "with replacement": "#000000",
    "Horvitz–Thompson": PALETTE[1],
    "ratio": PALETTE[3],
    "self-normalized": PALETTE[0],
    "sum and sample": PALETTE[2],
}
PLAIN = "plain mean, different trees"
DIFFERENT = [name for name in ESTIMATORS if name != "with replacement"]
K = 100  # At which sentences are compared one by one.
BANDS = ((0, 0.1), (0.1, 1), (1, 4), (4, math.inf))  # Of entropy, in nats.
UNBIASED = ("with replacement", "Horvitz–Thompson", "sum and sample")


def values_of(heads, log_prob, best, lengths):
    """f of each tree [k, B], by quantity; 0 where there is no tree."""
    right = ((heads == best) & (best >= 0)).sum(axis=2) / lengths
    there = log_prob > -math.inf
    return {"entropy": np.where(there, -np.where(there, log_prob, 0), 0), "attachment": np.where(there, right, 0)}


def sum_and_sample(sample, f, k):
    p = np.exp(sample.log_prob[:k])
    before, counts = p[:-1], np.asarray(sample.counts)
    rest = (1 - before.sum(axis=0)) * f[k - 1]
    return (before * f[: k - 1]).sum(axis=0) + np.where(counts >= k, rest, 0)


def errors(d, sizes, seed, best, truth):
    """Of one repetition: {(quantity, k, estimator): errors [B]}, and by k the sentences without further trees, and the
    mass sampled."""
    most, out, exhausted, covered = max(sizes), {}, {}, {}
    different = d.sample_without_replacement(most, seed=seed)
    f_different = values_of(different.heads, different.log_prob, best, d.lengths)
    trees = d.sample(most, seed=1000000 + seed)
    f_trees = values_of(trees, d.log_prob(trees), best, d.lengths)
    for k in sizes:
        few = different.first(k)
        exhausted[k], covered[k] = few.exhausted, np.exp(few.log_prob).sum(axis=0)
        for quantity in QUANTITIES:
            f = f_different[quantity]
            estimates = {
                "with replacement": f_trees[quantity][:k].mean(axis=0),
                "Horvitz–Thompson": few.estimate(f[:k], normalized=False).mean,
                "ratio": (few.weights * f[:k]).sum(axis=0) / few.weights.sum(axis=0),
                "self-normalized": few.estimate(f[:k]).mean,
                "sum and sample": sum_and_sample(different, f, k),
                PLAIN: f[:k].sum(axis=0) / few.counts,
            }
            for name, estimate in estimates.items():
                out[quantity, k, name] = estimate - truth[quantity]
    return out, exhausted, covered


@functools.cache
def measure(x):
    """Of each: name, distribution, {(quantity, k, estimator): errors [repetition, B]}, {k: exhausted}, {k: mass}"""
    found = []
    for language, name in LANGUAGES.items():
        d = taproot.DependencyTrees(trained(name)[:: x.choose(1, 5)])
        best, sizes = d.argmax(), x.choose((2, 5, 10, 20, 50, 100, 200, 500), (2, 10, 100))
        sentence, word = np.indices(best.shape)
        of_best = np.where(best >= 0, d.marginals()[sentence, best, word + 1], 0)
        truth = {"entropy": d.entropy(), "attachment": of_best.sum(axis=1) / d.lengths}
        collected = {}
        for seed in range(60):
            out, exhausted, covered = errors(d, sizes, seed, best, truth)
            for key, error in out.items():
                collected.setdefault(key, []).append(error)
                if key[2] in DIFFERENT and exhausted[key[1]].any():
                    worst = np.abs(error[exhausted[key[1]]]).max()
                    x.check(worst < 1e-9, f"{language}, {key}: exact where all trees are sampled")
        found.append((language, d, {key: np.array(values) for key, values in collected.items()}, exhausted, covered))
    return found


def rmse_rows(x):
    rng = np.random.default_rng(11)
    for language, _, collected, _, _ in measure(x):
        for (quantity, k, estimator), error in collected.items():
            of_sentence = (error**2).mean(axis=0)
            resampled = of_sentence[rng.integers(0, len(of_sentence), (1000, len(of_sentence)))].mean(axis=1)
            interval = np.sqrt(np.quantile(resampled, (0.025, 0.975)))
            z = error.sum() / math.sqrt((error**2).sum())
            yield (
                language,
                quantity,
                k,
                estimator,
                error.size,
                math.sqrt(of_sentence.mean()),
                *interval,
                error.mean(),
                z,
            )


def sentence_rows(x):
    for language, d, collected, _, _ in measure(x):
        entropy = d.entropy()
        for quantity in QUANTITIES:
            mse = [(collected[quantity, K, estimator] ** 2).mean(axis=0) for estimator in ESTIMATORS]
            for b, n in enumerate(d.lengths):
                yield (language, b, n, float(entropy[b]), quantity, *(float(of[b]) for of in mse))


def coverage_rows(x):
    for language, d, _, exhausted, covered in measure(x):
        for k, mass in covered.items():
            quartiles = (float(q) for q in np.quantile(mass, (0.25, 0.5, 0.75)))
            yield (language, k, len(d), int(exhausted[k].sum()), *quartiles)


def doubtful(sentences, quantity):
    """Sentences of which sampling with replacement gave more than one tree; otherwise all errors are rounding."""
    return [row for row in sentences if row["quantity"] == quantity and row["with replacement"] > 1e-20]


def crossing(sentences, quantity, estimator):
    """The entropy from which on the estimator is worse than with replacement: where a median of 15 passes 1."""
    rows = sorted(doubtful(sentences, quantity), key=lambda row: row["entropy"])
    ratio = [row[estimator] / row["with replacement"] for row in rows]
    medians = [float(np.median(ratio[i : i + 15])) for i in range(max(1, len(rows) - 14))]
    return next((rows[i + 7]["entropy"] for i, median in enumerate(medians) if median > 1), math.inf)


def plot_rmse(figure, rmse):
    panels = figure.subplots(2, 2, sharex=True)
    for row_of_panels, language in zip(panels, LANGUAGES):
        for axes, (quantity, title) in zip(row_of_panels, QUANTITIES.items()):
            for estimator, color in ESTIMATORS.items():
                rows = [
                    r for r in rmse if (r["language"], r["quantity"], r["estimator"]) == (language, quantity, estimator)
                ]
                of = lambda key: [row[key] for row in rows]
                line(axes, of("k"), of("rmse"), of("low"), of("high"), estimator, color)
            axes.set_xscale("log")
            axes.set_yscale("log")
            ticks(axes.xaxis, sorted({row["k"] for row in rmse}))
            axes.set_title(f"{language}: {title}", fontsize=10)
        row_of_panels[0].set_ylabel("RMSE, and its 95 % interval")
    for axes in panels[1]:
        axes.set_xlabel("trees, k")


def plot_sentences(figure, sentences):
    panels = figure.subplots(2, len(DIFFERENT), sharex=True, sharey=True)
    low, high = 1e-6, 1e3
    for row_of_panels, quantity in zip(panels, QUANTITIES):
        for axes, estimator in zip(row_of_panels, DIFFERENT):
            for language, marker in (("English", "o"), ("Wolof", "^")):
                rows = [r for r in doubtful(sentences, quantity) if r["language"] == language]
                ratio = [min(max(r[estimator] / r["with replacement"], low), high) for r in rows]
                entropy = [max(r["entropy"], 1e-3) for r in rows]
                axes.plot(
                    entropy, ratio, marker, color=ESTIMATORS[estimator], alpha=0.4, markersize=4, markeredgewidth=0
                )
            axes.axhline(1, color="#000000", linewidth=1)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(3e-4, 100)  # Room for the name of the first tick within the panel.
            axes.set_ylim(low / 2, high * 2)
            axes.set_yticks([1e-6, 1e-4, 1e-2, 1, 1e2], ["≤ 1e-6", "1e-4", "0.01", "1", "100"])
            axes.set_xticks([1e-3, 0.1, 10], ["≤ 0.001", "0.1", "10"])
            if quantity == "entropy":
                axes.set_title(estimator, fontsize=10)
            else:
                axes.set_xlabel("entropy in nats")
        row_of_panels[0].set_ylabel(f"{QUANTITIES[quantity]}:\nsquared error, relative to\nsampling with replacement")


def plot(x, rmse, sentences):
    figure = plt.figure(figsize=(11, 13), layout="constrained")
    above, below = figure.subfigures(2, 1)
    plot_rmse(above, rmse)
    plot_sentences(below, sentences)
    x.save(
        figure,
        f"Above: error against the number of trees, by estimator. Below: a sentence's squared error at k = {K} "
        "relative to sampling with replacement (o English, △ Wolof)",
    )


def tables(x, of, sizes, better, coverage):
    x.say("RMSE; in brackets, how many trees with replacement one tree is worth: (RMSE with / RMSE without)².")
    x.table(
        ("", "", "k", *ESTIMATORS),
        [
            (language, quantity, k, f"{base:.3g}")
            + tuple(
                f"{r['rmse']:.3g} ({(base / r['rmse']) ** 2:.2g})"
                for r in (of[language, quantity, k, estimator] for estimator in DIFFERENT)
            )
            for language in LANGUAGES
            for quantity in QUANTITIES
            for k in sizes
            for base in [of[language, quantity, k, "with replacement"]["rmse"]]
        ],
    )
    x.say("Bias (z-score), mean over all sentences and repetitions:")
    x.table(
        ("", "", "k", *ESTIMATORS, PLAIN),
        [
            (language, quantity, k)
            + tuple(
                f"{r['bias']:.1e} ({r['z']:.1f})" for r in (of[language, quantity, k, e] for e in (*ESTIMATORS, PLAIN))
            )
            for language in LANGUAGES
            for quantity in QUANTITIES
            for k in (sizes[0], 10, K)
        ],
    )
    x.say(
        f"At k = {K}, the share of sentences whose squared error is smaller than with replacement, by entropy in nats "
        "(leaving out sentences of which sampling with replacement gave one tree only):"
    )
    x.table(
        ("", "entropy", "sentences", *DIFFERENT),
        [
            (quantity, f"{low} to {high}" if high < math.inf else f"over {low}", better[quantity, low])
            + tuple(f"{better[quantity, low, estimator]:.0%}" for estimator in DIFFERENT)
            for quantity in QUANTITIES
            for low, high in BANDS
        ],
    )
    x.say("How many sentences have no further trees after k, and the mass that k different trees hold (quartiles):")
    x.table(
        ("", "k", "sentences", "exhausted", "mass held"),
        [
            (r["language"], r["k"], r["sentences"], r["exhausted"])
            + (" / ".join(f"{r[quartile]:.4f}" for quartile in ("low", "median", "high")),)
            for r in coverage
            if r["k"] in (2, 10, K, sizes[-1])
        ],
    )


def report(x, rmse, sentences, coverage):
    of = {(r["language"], r["quantity"], r["k"], r["estimator"]): r for r in rmse}
    sizes = sorted({row["k"] for row in rmse})
    better = {}  # How many sentences, and what share of them is estimated better than with replacement.
    for quantity in QUANTITIES:
        for low, high in BANDS:
            rows = [r for r in doubtful(sentences, quantity) if low <= r["entropy"] < high]
            better[quantity, low] = len(rows)
            for estimator in DIFFERENT:
                better[quantity, low, estimator] = float(np.mean([r[estimator] < r["with replacement"] for r in rows]))
    plot(x, rmse, sentences)
    tables(x, of, sizes, better, coverage)
    for row in rmse:
        name = f"{row['estimator']}, {row['language']}, {row['quantity']}, k = {row['k']}"
        if row["estimator"] in UNBIASED:
            x.check(normal_tail(row["z"]) > FALSE_ALARM, f"unbiased: {name}")
        if row["estimator"] == PLAIN and row["k"] >= 10:
            x.check(normal_tail(row["z"]) < FALSE_ALARM, f"biased: {name}")

    def worth(k, estimator):
        """Of a tree, in trees with replacement: the least and the most over languages and quantities."""
        rmse_of = lambda language, quantity, name: of[language, quantity, k, name]["rmse"]
        pairs = [(language, quantity) for language in LANGUAGES for quantity in QUANTITIES]
        all_ = [(rmse_of(*pair, "with replacement") / rmse_of(*pair, estimator)) ** 2 for pair in pairs]
        return min(all_), max(all_)

    few, many, unbiased = worth(K, "self-normalized"), worth(sizes[-1], "self-normalized"), worth(K, "Horvitz–Thompson")
    ratio = worth(K, "ratio")
    low = min(better[q, band, estimator] for q in QUANTITIES for band in (0, 0.1) for estimator in DIFFERENT)
    x.check(few[0] > 1, "self-normalized: better than with replacement")
    x.check(few[0] >= 0.98 * ratio[0] and few[1] >= ratio[1], "self-normalized: not worse than the ratio")
    x.check(low > 0.9, "low entropy: all of them better than with replacement")
    crossings = {quantity: crossing(sentences, quantity, "Horvitz–Thompson") for quantity in QUANTITIES}
    flat = min(crossing(sentences, quantity, "self-normalized") for quantity in QUANTITIES)
    plateau = f"from about {flat:.0f} nats on it gains and loses nothing" if flat < math.inf else "at any entropy here"
    z = max(abs(row["z"]) for row in rmse if row["estimator"] in UNBIASED)
    done = sum(row["exhausted"] for row in coverage if row["k"] == sizes[-1])
    x.verdict(
        f"holds for low entropy, in part over all sentences: at k = {K} and below 1 nat {'' if low == 1 else 'over '}"
        f"{low:.0%} of the sentences are estimated better without replacement, by each estimator; the {done} "
        f"sentences whose trees are all sampled by k = {sizes[-1]} have no error. Over all sentences the "
        f"self-normalized estimate pays: a tree is worth {few[0]:.1f} to {few[1]:.1f} with replacement at k = {K}, "
        f"{many[0]:.1f} to {many[1]:.1f} at k = {sizes[-1]}; {plateau}. It counts the sampled trees with their exact "
        f"probabilities; the ratio, which does not, makes {ratio[0]:.1f} to {ratio[1]:.1f} at k = {K}. "
        f"Horvitz–Thompson is unbiased (largest |z| of an unbiased estimator {z:.1f}) but does not pay from "
        f"{crossings['attachment']:.1f} (agreement) or {crossings['entropy']:.1f} nats (entropy) on, and over all "
        f"sentences its trees are worth {unbiased[0]:.2f} to {unbiased[1]:.2f}. Its weights do not sum to 1, so its "
        f"error is a share of E[f], not of f's spread. Sum and sample stops paying for a similar reason: it rests on "
        f"one sample from the trees that are left."
    )


def main():
    with Experiment(__file__, __doc__) as x:
        columns = ("language", "quantity", "k", "estimator", "errors", "rmse", "low", "high", "bias", "z")
        rmse = x.measure("rmse", columns, lambda: rmse_rows(x))
        columns = ("language", "sentence", "n", "entropy", "quantity", *ESTIMATORS)
        sentences = x.measure("sentences", columns, lambda: sentence_rows(x))
        columns = ("language", "k", "sentences", "exhausted", "low", "median", "high")
        coverage = x.measure("coverage", columns, lambda: coverage_rows(x))
        names = ("language", "quantity", "k", "estimator", "errors", "rmse", "low", "high", "bias", "z")
        x.summary(names, ([row[name] for name in names] for row in rmse))
        if not x.measure_only:
            report(x, rmse, sentences, coverage)


if __name__ == "__main__":
    main()
