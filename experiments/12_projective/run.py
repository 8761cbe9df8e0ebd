# SPDX-License-Identifier: Apache-2.0
"""How projective the distributions of trained parsers are, and what the best trees lose by it. See README.md."""

import numpy as np
from graphs import trained
from harness import Experiment, quartiles
from plots import PALETTE, plt

import taproot

LANGUAGES = {"en_ewt": "English", "wo_wtb": "Wolof"}
DECODERS = ("argmax", "mbr")
COLUMNS = ("language", "sentence", "n", "entropy", "projective_mass", "argmax_projective", "mbr_projective")
COLUMNS += ("argmax_words", "mbr_words", "argmax_nats", "mbr_attachment", "mass_of_samples")
SAMPLES = 2000


def rows(x):
    for name, language in LANGUAGES.items():
        sentences = trained(name)[: x.choose(None, 40)]
        # As one batch on all threads: nothing here is timed.
        everything = taproot.DependencyTrees(sentences)
        projective = taproot.DependencyTrees(sentences, projective=True)
        lengths = np.array([len(scores) - 1 for scores in sentences])
        mass, entropies = everything.projective_mass(), everything.entropy()
        best, best_projective = everything.argmax(), projective.argmax()
        careful, careful_projective = everything.mbr(), projective.mbr()
        found = [taproot.is_projective(trees, lengths) for trees in (best, careful)]
        lost = everything.log_prob(best) - everything.log_prob(best_projective)
        gain = everything.expected_attachment(careful) - everything.expected_attachment(careful_projective)
        sampled = everything.sample(SAMPLES, seed=12)
        share = taproot.is_projective(sampled, np.broadcast_to(lengths, sampled.shape[:2])).mean(0)
        for b, n in enumerate(lengths):
            differ = [
                int((trees[b, :n] != others[b, :n]).sum())
                for trees, others in ((best, best_projective), (careful, careful_projective))
            ]
            yield (
                language,
                b,
                int(n),
                float(entropies[b]),
                float(mass[b]),
                int(found[0][b]),
                int(found[1][b]),
                *differ,
                float(lost[b]),
                float(gain[b]),
                float(share[b]),
            )


def of_language(table, language):
    return [row for row in table if row["language"] == language]


def plot(x, table):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    for color, language in zip(PALETTE, LANGUAGES.values()):
        own = of_language(table, language)
        mass = np.sort([row["projective_mass"] for row in own])
        share = np.arange(1, len(mass) + 1) / len(mass)
        left.plot(np.maximum(1 - mass[::-1], 1e-6), share, color=color, label=language)
        n, beyond = ([row[key] for row in own] for key in ("n", "projective_mass"))
        right.scatter(n, beyond, s=9, color=color, alpha=0.6, linewidth=0, label=language)
    left.set_xscale("log")
    left.set_xlabel("probability of all trees that are not projective (1e-6 and less at the left)")
    left.set_ylabel("share of the sentences with at most that")
    left.set_ylim(0, 1.02)
    right.set_xlabel("words")
    right.set_ylabel("probability of all projective trees")
    left.legend(frameon=False)
    caption = "Left: how much of the probability is not on projective trees, over sentences. Right: by length"
    x.save(figure, caption)


def changed(own, decoder):
    """Sentences whose best tree changes, and the words that do so, over all and over these sentences."""
    moved = [row for row in own if row[f"{decoder}_words"] > 0]
    words = sum(row[f"{decoder}_words"] for row in moved)
    return moved, words / sum(row["n"] for row in own), words / max(1, sum(row["n"] for row in moved))


def report(x, table):
    plot(x, table)
    masses = {
        language: [row["projective_mass"] for row in of_language(table, language)] for language in LANGUAGES.values()
    }
    x.say("`projective_mass` over the sentences:")
    header = ("language", "sentences", "mean", "least", "5 %", "quartiles and median", "below 1/2", "above 0.99")
    lines = []
    for language, mass in masses.items():
        low, middle, high = quartiles(mass)
        lines.append(
            (
                language,
                len(mass),
                f"{np.mean(mass):.3f}",
                f"{min(mass):.2g}",
                f"{np.quantile(mass, 0.05):.3f}",
                f"{low:.3f}, {middle:.3f}, {high:.3f}",
                f"{np.mean(np.array(mass) < 0.5):.1%}",
                f"{np.mean(np.array(mass) > 0.99):.1%}",
            )
        )
    x.table(header, lines)
    x.say("What changes if only projective trees are allowed:")
    header = ("language", "decoder", "trees that change", "words that change", "of the words of these trees", "lost")
    lines, of = [], {}
    for language in LANGUAGES.values():
        own = of_language(table, language)
        for decoder in DECODERS:
            moved, words, of_these = of[language, decoder] = changed(own, decoder)
            if decoder == "argmax":
                lost = f"{np.median([r['argmax_nats'] for r in moved] or [0]):.2f} nats of log-probability (median)"
            else:
                drop = np.mean([r["mbr_attachment"] for r in moved] or [0])
                lost = f"{100 * drop:.2f} points of expected attachment (mean)"
            lines.append((language, decoder, f"{len(moved)} of {len(own)}", f"{words:.2%}", f"{of_these:.1%}", lost))
    x.table(header, lines)
    same = all(row["argmax_words"] == 0 for row in table if row["argmax_projective"])
    x.check(same, "a best tree that is projective is the best projective tree")
    # The share of projective trees among samples: 5 standard errors, and one tree of 2000 for masses near 0 and 1.
    near = [
        abs(row["mass_of_samples"] - row["projective_mass"])
        <= 5 * np.sqrt(row["projective_mass"] * max(0, 1 - row["projective_mass"]) / SAMPLES) + 1 / SAMPLES
        for row in table
    ]
    x.check(all(near), "projective_mass is the share of projective trees among samples")
    names = list(LANGUAGES.values())
    both = lambda value: " and ".join(value(name) for name in names)
    of_moved = lambda decoder: both(lambda name: f"{len(of[name, decoder][0]) / len(masses[name]):.1%}")
    of_words = both(lambda name: f"{of[name, 'argmax'][1]:.2%}")
    low = [row for row in table if row["projective_mass"] < 0.5]
    high = [row for row in table if row["projective_mass"] >= 0.5]
    median = lambda rows, key: np.median([row[key] for row in rows]) if rows else float("nan")
    x.verdict(
        "holds for best trees, in part for the probability: in English and Wolof the best tree changes in "
        f"{of_moved('argmax')} of the sentences and the tree of minimum Bayes risk in {of_moved('mbr')}, but the "
        f"projective trees have {both(lambda name: f'{np.mean(masses[name]):.1%}')} of the probability on average "
        f"(medians {both(lambda name: f'{np.median(masses[name]):.3f}')}), and less than half of it in "
        f"{both(lambda name: f'{np.mean(np.array(masses[name]) < 0.5):.1%}')} of the sentences. "
        f"Of all words, {of_words} get another head in the best tree. "
        "A mass below one half goes with length and with doubt: "
        f"these sentences have {median(low, 'n'):.0f} words and an entropy of {median(low, 'entropy'):.1f} nats in the "
        f"median, the others {median(high, 'n'):.0f} words and {median(high, 'entropy'):.1f} nats. Their projective "
        "and non-projective distributions differ, also where the best trees do not."
    )


def main():
    with Experiment(__file__, __doc__) as x:
        taproot.set_num_threads(0)
        table = x.measure("mass", COLUMNS, lambda: rows(x))
        summary = COLUMNS[:-1]
        x.summary(summary, ([row[name] for name in summary] for row in table))
        if not x.measure_only:
            report(x, table)


if __name__ == "__main__":
    main()
