# SPDX-License-Identifier: Apache-2.0
"""WilsonRC against the unbiased samplers: figure 1's graph, random graphs with and without appendix E's condition, and
how large the bias is on random and on trained weights."""

import itertools
import math
from fractions import Fraction

import numpy as np
from graphs import scores_of, trained, uniform_weights
from harness import Experiment
from laws import FALSE_ALARM, chi_square_p
from plots import COLORS, PALETTE, plt
from samplers import SAMPLERS, wilson_rc

import taproot

UNBIASED = ("wilson-marginal", "wilson-reject", "colbourn", "elimination", "auto")
NUMPY = {**SAMPLERS, "wilson-rc": wilson_rc}
# ROOT, A, B, C. Trees 1 to 3 as heads of A, B, C.
FIGURE = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0]]
FIGURE_TREES = [(0, 3, 1), (0, 1, 1), (2, 3, 0)]
BIASED_KINDS, RIGHT_KINDS = ("random", "root = marginals"), ("columns scaled", "balanced")


def all_trees(n):
    """Heads of every dependency tree of n words."""
    for heads in itertools.product(range(n + 1), repeat=n):
        tops = range(1, n + 1)
        for _ in range(n):
            tops = [u and heads[u - 1] for u in tops]
        if heads.count(0) == 1 and not any(tops):
            yield heads


def solve(a, b):
    """x with a x = b, over fractions."""
    rows = [list(row) + [value] for row, value in zip(a, b)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[-1] for row in rows]


def branch_law(weights, start, visited):
    """The law of the path, loops erased, that a walk from `start` takes to `visited`: {path: probability}."""
    total = {m: sum(weights[h][m] for h in range(len(weights))) for m in range(1, len(weights))}
    paths, moves = [(start,)], []
    for path in paths:  # Grows meanwhile.
        for h in range(1, len(weights)):
            if weights[h][path[-1]]:
                next_path = path[: path.index(h) + 1] if h in path else (*path, h)
                moves.append((path, next_path, Fraction(weights[h][path[-1]]) / total[path[-1]]))
                if h not in visited and next_path not in paths:
                    paths.append(next_path)
    place = {path: i for i, path in enumerate(paths)}
    a = [[Fraction(i == j) for j in range(len(paths))] for i in range(len(paths))]
    for path, next_path, p in moves:
        if next_path in place:
            a[place[next_path]][place[path]] -= p
    visits = solve(a, [Fraction(path == (start,)) for path in paths])
    law = {}
    for path, next_path, p in moves:
        if next_path not in place:
            law[next_path] = law.get(next_path, 0) + visits[place[path]] * p
    return law


def exact_law(weights):
    """The law of WilsonRC, step by step as it is defined: {heads: probability}."""
    n = len(weights) - 1
    words = [[0] * (n + 1), *weights[1:]]
    law = {}
    for root in range(1, n + 1):
        states = {(0,) * (n + 1): Fraction(weights[0][root]) / sum(weights[0])} if weights[0][root] else {}
        visited_of = {heads: {root} for heads in states}
        for i in range(1, n + 1):
            after, visited_after = {}, {}
            for heads, p in states.items():
                branches = {(i,): Fraction(1)} if i in visited_of[heads] else branch_law(words, i, visited_of[heads])
                for path, q in branches.items():
                    grown = list(heads)
                    for m, h in itertools.pairwise(path):
                        grown[m] = h
                    after[tuple(grown)] = after.get(tuple(grown), 0) + p * q
                    visited_after[tuple(grown)] = visited_of[heads] | set(path)
            states, visited_of = after, visited_after
        law.update({heads[1:]: p for heads, p in states.items()})
    return law


def appendix_e(weights):
    """Equation 5 of the paper: root weight over their sum, times tree weight over that of the trees with this root."""
    phi = {t: math.prod(Fraction(weights[h][m]) for m, h in enumerate(t, 1)) for t in all_trees(len(weights) - 1)}
    phi = {t: weight for t, weight in phi.items() if weight}
    with_root = {r: sum(weight for t, weight in phi.items() if t[r - 1] == 0) for r in range(1, len(weights))}
    root = {t: t.index(0) + 1 for t in phi}
    return {t: Fraction(weights[0][root[t]]) / sum(weights[0]) * phi[t] / with_root[root[t]] for t in phi}


def sample(implementation, name, weights, samples, seed):
    if implementation == "taproot":
        return taproot.DependencyTrees(scores_of(weights)).sample(samples, seed, name)
    return np.array(NUMPY[name](weights, samples, np.random.default_rng(seed)))[:, 1:]


def counts_of(heads, trees):
    """How often each of these trees is among the rows of heads, all of which are one of them."""
    digits = (len(trees[0]) + 1) ** np.arange(len(trees[0]))
    codes = np.array(trees) @ digits
    counts = np.bincount(heads @ digits, minlength=codes.max() + 1)[codes]
    assert counts.sum() == len(heads)
    return counts


def interval(count, samples, z=2.576):
    """The score interval of a share, with confidence 99 %."""
    share, shrink = count / samples, z * z / samples
    middle = (share + shrink / 2) / (1 + shrink)
    half = z * math.sqrt(share * (1 - share) / samples + shrink / samples / 4) / (1 + shrink)
    return middle - half, middle + half


def figure_rows(x):
    weights = np.array(FIGURE, float) / 2
    exact = exact_law(FIGURE)
    x.check(exact == appendix_e(FIGURE), "WilsonRC's Markov chain has the law of appendix E")
    x.check([exact[t] for t in FIGURE_TREES] == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)], "1/4, 1/4, 1/2")
    own = np.array([float(exact[t]) for t in FIGURE_TREES])
    for implementation, samples in (("taproot", x.choose(1000000, 20000)), ("NumPy", x.choose(20000, 2000))):
        for name in (*UNBIASED, "wilson-rc"):
            if implementation == "NumPy" and name not in NUMPY:
                continue
            counts = counts_of(sample(implementation, name, weights, samples, 1), FIGURE_TREES)
            p = chi_square_p(np.full(3, 1 / 3), counts), chi_square_p(own, counts)
            yield (implementation, name, samples, *counts, *interval(counts[2], samples), *p)


def root_share(weights):
    return weights[0, 1:] / weights[0, 1:].sum()


def graph(kind, n, rng):
    if kind == "balanced":
        weights = np.zeros((n + 1, n + 1))
        weights[0, 1:] = rng.random(n)
        for _ in range(2 * n):
            cycle = 1 + rng.permutation(n)[: rng.integers(2, n + 1)]
            weights[cycle, np.roll(cycle, 1)] += rng.random()
        weights[np.arange(1, n + 1), 1 + np.arange(1, n + 1) % n] += 0.1  # So that every word reaches all.
        return weights
    weights = uniform_weights(n, rng)
    marginals = taproot.DependencyTrees(scores_of(weights)).root_marginals()
    if kind == "root = marginals":
        weights[0, 1:] = marginals
    if kind == "columns scaled":
        weights[:, 1:] *= marginals / weights[0, 1:]
    return weights


def law_rows(x):
    rng = np.random.default_rng(5)
    for n in (4, 5):
        trees = list(all_trees(n))
        for kind in (*BIASED_KINDS, *RIGHT_KINDS):
            for number in range(x.choose(6, 1)):
                weights = graph(kind, n, rng)
                phi = np.array([math.prod(weights[h, m] for m, h in enumerate(t, 1)) for t in trees])
                marginals = taproot.DependencyTrees(scores_of(weights)).root_marginals()
                distance = float(np.abs(root_share(weights) - marginals).sum() / 2)
                for implementation, samples in (("taproot", 200000), ("NumPy", x.choose(3000, 1000))):
                    for name in (*UNBIASED, "wilson-rc") if implementation == "taproot" else ("wilson-rc",):
                        counts = counts_of(sample(implementation, name, weights, samples, 2), trees)
                        p = chi_square_p(phi / phi.sum(), counts)
                        yield (n, kind, number, distance, implementation, name, samples, p)


def bias_rows(x):
    """The total variation between WilsonRC and the right law: that of the roots, because all else is right."""
    rng = np.random.default_rng(6)
    graphs = x.choose(300, 20)
    sets = {f"random, n = {n}": [uniform_weights(n, rng) for _ in range(graphs)] for n in (3, 10, 30, 100)}
    scores = {name: [scores_of(w) for w in matrices] for name, matrices in sets.items()}
    scores["trained, English"] = trained("en_ewt")
    scores["trained, Wolof"] = trained("wo_wtb")
    for name, matrices in scores.items():
        all_marginals = taproot.DependencyTrees(matrices).root_marginals()
        for number, (matrix, marginals) in enumerate(zip(matrices, all_marginals)):
            share = root_share(np.exp(matrix - matrix[0, 1:].max()))
            yield name, number, len(matrix) - 1, float(np.abs(share - marginals[: len(share)]).sum() / 2)


def plot(x, figure1, bias):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    rows = figure1[::-1]
    for y, row in enumerate(rows):
        share, color = row["tree_3"] / row["samples"], COLORS[row["sampler"]]
        left.errorbar(share, y, xerr=[[share - row["low"]], [row["high"] - share]], fmt="o", color=color, capsize=3)
    left.set_yticks(range(len(rows)), [f"{row['sampler']}, {row['implementation']}" for row in rows])
    for value, text in ((1 / 3, "1/3"), (1 / 2, "1/2")):
        left.axvline(value, color="#888888", linewidth=1, linestyle="--")
        left.annotate(text, (value, len(rows) - 0.4), ha="center", va="bottom", color="#555555", annotation_clip=False)
    left.set_xlim(0.3, 0.53)
    left.set_ylim(-0.6, len(rows) - 0.4)
    left.set_xlabel("share of tree 3, with its 99 % interval")
    left.grid(axis="y", visible=False)
    names = list(dict.fromkeys(row["weights"] for row in bias))
    for y, name in enumerate(reversed(names)):
        values = [row["distance"] for row in bias if row["weights"] == name]
        color = PALETTE[1 if "trained" in name else 0]
        jitter = np.random.default_rng(0).uniform(-0.25, 0.25, len(values))
        right.plot(values, y + jitter, ".", color=color, alpha=0.25, markersize=4, markeredgewidth=0)
        right.plot([np.mean(values)] * 2, [y - 0.35, y + 0.35], color=color, linewidth=2.5)
    right.set_yticks(range(len(names)), list(reversed(names)))
    right.set_xlim(0, 0.7)
    right.set_xlabel("total variation between WilsonRC and the right law\n(one dot per graph; the bar is their mean)")
    right.grid(axis="y", visible=False)
    x.save(figure, "Left: share of tree 3 of figure 1. Right: WilsonRC's distance from the right law")


def shown(p):
    return f"{p:.2f}" if p >= 0.01 else f"{p:.0e}" if p >= 1e-99 else "< 1e-99"


def summarize(x, figure1, law, bias):
    """One row for each set of graphs and sampler: p-values, and the distance of WilsonRC's law where it is known."""
    found = {}
    for row in [{"kind": "figure 1"} | row for row in figure1] + law:
        found.setdefault((row["kind"], row["implementation"], row["sampler"]), []).append(row)
    rows = [
        (*key, len(own), own[0]["samples"], min(r["p"] for r in own), max(r["p"] for r in own), "", "")
        for key, own in found.items()
    ]
    for name in dict.fromkeys(row["weights"] for row in bias):
        own = [row["distance"] for row in bias if row["weights"] == name]
        rows.append((name, "exact", "wilson-rc", len(own), "", "", "", float(np.mean(own)), max(own)))
    columns = ("graphs", "implementation", "sampler", "count", "samples", "least_p", "largest_p")
    x.summary((*columns, "mean_distance", "largest_distance"), rows)


def report(x, figure1, law, bias):
    plot(x, figure1, bias)
    x.say("Figure 1's graph: how often each tree was sampled, tree 3 with its 99 % interval, and chi-square p-values.")
    x.table(
        ("sampler", "", "samples", "tree 1", "tree 2", "tree 3", "p if 1/3 each", "p if 1/4, 1/4, 1/2"),
        [
            (row["sampler"], row["implementation"], row["samples"])
            + tuple(f"{row[f'tree_{t}'] / row['samples']:.4f}" for t in (1, 2))
            + (f"{row['tree_3'] / row['samples']:.4f} [{row['low']:.4f}, {row['high']:.4f}]",)
            + (shown(row["p"]), shown(row["p_rc"]))
            for row in figure1
        ],
    )
    for row in figure1:
        biased = row["sampler"] == "wilson-rc"
        name = f"{row['sampler']}, {row['implementation']}, figure 1"
        x.check((row["p"] > FALSE_ALARM) != biased, f"{name}: 1/3 each")
        x.check((row["p_rc"] > FALSE_ALARM) == biased, f"{name}: 1/4, 1/4, 1/2")
    x.say(
        "Random graphs of 4 and 5 words, all trees enumerated: the smallest and the largest p-value of WilsonRC (both "
        "implementations) and the smallest of our five unbiased samplers."
    )
    lines = []
    for kind in (*BIASED_KINDS, *RIGHT_KINDS):
        rows = [row for row in law if row["kind"] == kind]
        rc = {
            i: [r["p"] for r in rows if (r["sampler"], r["implementation"]) == ("wilson-rc", i)]
            for i in ("taproot", "NumPy")
        }
        ours = [row["p"] for row in rows if row["sampler"] != "wilson-rc"]
        distances = [row["distance"] for row in rows]
        lines.append((kind, len(rc["taproot"]), f"{min(distances):.3f} to {max(distances):.3f}"))
        lines[-1] += tuple(f"{shown(min(p))} to {shown(max(p))}" for p in rc.values()) + (shown(min(ours)),)
        x.check(min(ours) > FALSE_ALARM, f"unbiased samplers on {kind} graphs")
        for implementation, p in rc.items():
            if kind in RIGHT_KINDS:
                x.check(min(p) > FALSE_ALARM, f"WilsonRC is right on {kind} graphs, {implementation}")
            elif implementation == "taproot":
                x.check(max(p) < FALSE_ALARM, f"WilsonRC is wrong on {kind} graphs")
    x.table(("kind", "graphs", "total variation", "p of WilsonRC", "p of WilsonRC, NumPy", "least p of ours"), lines)
    names = list(dict.fromkeys(row["weights"] for row in bias))
    mean = {name: float(np.mean([row["distance"] for row in bias if row["weights"] == name])) for name in names}
    worst = max((row for row in bias if "trained" in row["weights"]), key=lambda row: row["distance"])
    rc = {row["implementation"]: row for row in figure1 if row["sampler"] == "wilson-rc"}
    ours = [row["p"] for row in figure1 + law if row["sampler"] != "wilson-rc"]
    holds = not x.failed
    x.verdict(
        f"{'holds' if holds else 'does not hold'}: WilsonRC returns tree 3 with probability exactly 1/2 "
        f"({rc['taproot']['tree_3'] / rc['taproot']['samples']:.4f} of {rc['taproot']['samples']} samples, NumPy "
        f"{rc['NumPy']['tree_3'] / rc['NumPy']['samples']:.4f} of {rc['NumPy']['samples']}) where 1/3 is right, and "
        f"none of {len(ours)} tests of the unbiased samplers has p below {min(ours):.0e}. Whether appendix E's "
        f"condition holds depends on the word edges alone: no root weights repair WilsonRC. On trained weights its "
        f"mean distance from the right law is {mean['trained, English']:.3f} (English) and "
        f"{mean['trained, Wolof']:.3f} (Wolof), at worst {worst['distance']:.2f}; on random weights "
        f"{mean['random, n = 10']:.2f} at n = 10 and {mean['random, n = 100']:.2f} at n = 100 (total variation)."
    )


def main():
    with Experiment(__file__, __doc__) as x:
        columns = ("implementation", "sampler", "samples", "tree_1", "tree_2", "tree_3", "low", "high", "p", "p_rc")
        figure1 = x.measure("figure1", columns, lambda: figure_rows(x))
        columns = ("n", "kind", "graph", "distance", "implementation", "sampler", "samples", "p")
        law = x.measure("law", columns, lambda: law_rows(x))
        bias = x.measure("bias", ("weights", "graph", "n", "distance"), lambda: bias_rows(x))
        summarize(x, figure1, law, bias)
        if not x.measure_only:
            report(x, figure1, law, bias)


if __name__ == "__main__":
    main()
