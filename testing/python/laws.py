# SPDX-License-Identifier: Apache-2.0
"""Tests of a law: tails of distributions, chi-square, and the laws of samples without replacement."""

from __future__ import annotations

import itertools
import math

import numpy as np

# How often a correct program may be blamed, had the seeds not been fixed.
FALSE_ALARM = 1e-6


def chi_square_tail(x: float, degrees: int) -> float:
    """P(chi-square > x): the incomplete gamma function Q(degrees / 2, x / 2)."""
    a, y = degrees / 2, x / 2
    if y <= 0:
        return 1.0
    front = math.exp(a * math.log(y) - y - math.lgamma(a))
    if y < a + 1:  # 1 - P, P by its series.
        term = total = 1 / a
        i = a
        while term > total * 1e-17:
            i += 1
            term *= y / i
            total += term
        return max(0.0, 1 - front * total)
    # Lentz's continued fraction.
    tiny = 1e-300
    b = y + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction = d
    for i in range(1, 10000):
        numerator = -i * (i - a)
        b += 2
        d = numerator * d + b
        d = 1 / (d if abs(d) > tiny else tiny)
        c = b + numerator / c
        c = c if abs(c) > tiny else tiny
        fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * fraction


def normal_tail(z: float) -> float:
    """P(|N(0, 1)| > z)."""
    return math.erfc(abs(z) / math.sqrt(2))


def chi_square_p(probabilities: np.ndarray, counts: np.ndarray) -> float:
    """The p-value of counts under the probabilities of their bins; those of fewer than 5 expected are merged."""
    probabilities, counts = np.ravel(probabilities), np.ravel(counts)
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-9)
    if counts[probabilities == 0].any():
        return 0.0
    total = counts.sum()
    bins: list[list[float]] = [[0.0, 0.0]]
    for i in np.argsort(probabilities, kind="stable"):
        if bins[-1][0] >= 5:
            bins.append([0.0, 0.0])
        bins[-1][0] += total * probabilities[i]
        bins[-1][1] += counts[i]
    if len(bins) > 1 and bins[-1][0] < 5:
        last = bins.pop()
        bins[-1] = [bins[-1][0] + last[0], bins[-1][1] + last[1]]
    assert len(bins) > 1, "one bin tests nothing"
    statistic = math.fsum((seen - expected) ** 2 / expected for expected, seen in bins)
    return chi_square_tail(statistic, len(bins) - 1)


def uniform_p(values: np.ndarray, bins: int = 20) -> float:
    """The p-value of values that should be uniform on [0, 1]."""
    place = np.clip((np.ravel(values) * bins).astype(int), 0, bins - 1)
    return chi_square_p(np.full(bins, 1 / bins), np.bincount(place, minlength=bins))


def mean_p(values: np.ndarray, expected: float) -> float:
    """The p-value of independent values whose mean should be `expected`."""
    error = values.std(ddof=1) / math.sqrt(len(values))
    return normal_tail((values.mean() - expected) / error)


def shares_p(probabilities: np.ndarray, counts: np.ndarray, total: int) -> float:
    """The p-value, for the worst of them, of how often events of these probabilities occurred (Bonferroni)."""
    spread = np.sqrt(total * probabilities * (1 - probabilities))
    z = np.abs(counts - total * probabilities) / spread
    return min(1.0, len(z) * normal_tail(float(z.max())))


def ordered_law(p: np.ndarray, k: int) -> np.ndarray:
    """The probability of each ordered k-tuple drawn without replacement: [T] * k."""
    out = np.zeros((len(p),) * k)
    for chosen in itertools.permutations(range(len(p)), k):
        probability, left = 1.0, 1.0
        for t in chosen:
            probability *= p[t] / left
            left -= p[t]
        out[chosen] = probability
    return out


def fewer_than(k: int, q: np.ndarray) -> np.ndarray:
    """P(fewer than k of independent events occur), for each column of their probabilities q [event][case]."""
    count = np.zeros((k, q.shape[1]))
    count[0] = 1.0
    for share in q:
        count[1:] = count[1:] * (1 - share) + count[:-1] * share
        count[0] *= 1 - share
    total: np.ndarray = count.sum(axis=0)
    return total


def inclusion(p: np.ndarray, k: int) -> np.ndarray:
    """The probability that each tree is among the first k: exponential clocks of rates p, integrated over x = e^u."""
    step = 0.05  # Trapezoids: the integrand is analytic, so the error falls off exponentially.
    x = np.exp(np.arange(-36, 12, step))
    q = -np.expm1(-np.outer(p, x))
    return np.array(
        [step * (p[t] * x * (1 - q[t]) * fewer_than(k, np.delete(q, t, axis=0))).sum() for t in range(len(p))]
    )


def kappa_cdf(p: np.ndarray, k: int, kappas: np.ndarray) -> np.ndarray:
    """P(the (k+1)-th largest perturbed log-probability <= x): that at most k are above x."""
    return fewer_than(k + 1, -np.expm1(-np.outer(p, np.exp(-kappas))))
