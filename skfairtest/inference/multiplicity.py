"""Adjustment of log p-values for the number of hypotheses tested, and the largest disparity among comparisons.

The largest absolute difference of any two groups is hardly ever 0, so a percentile interval of it excludes 0;
`extreme_disparity` uses the comparisons' simultaneous intervals instead.

References
----------
Holm (1979); Shaffer (1986); Benjamini and Hochberg (1995).
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import DisjointSet

from skfairtest._utils.typing import Booleans, Floats, Integers, Positions
from skfairtest.inference.conditional import attainable, conditional_log_p, largest_attainable


@dataclass(frozen=True)
class Equality:
    """The null hypothesis that one value is the same on two sides, tested two-sided.

    Comparisons with equal fields test the same hypothesis, for swapped sides and complementary events too. Fields never
    depend on the outcomes.
    """

    of: Hashable
    sides: frozenset[Hashable]


def distinct(hypotheses: Sequence[Equality | None]) -> list[list[int]]:
    """The indices of each distinct hypothesis in order of first appearance; None equals no other.

    Examples
    --------
    >>> same = Equality("recall", frozenset({"a", "b"}))
    >>> distinct([same, None, Equality("recall", frozenset({"b", "a"})), None])
    [[0, 2], [1], [3]]
    """
    places: dict[Hashable, list[int]] = {}
    for place, hypothesis in enumerate(hypotheses):
        places.setdefault(place if hypothesis is None else hypothesis, []).append(place)
    return list(places.values())


def _step(log_p: Floats, factors: Floats, *, down: bool) -> Floats:
    """Multiply the sorted p-values by `factors`, then make them monotone."""
    order = np.argsort(log_p, kind="stable")
    adjusted = log_p[order] + np.log(factors)
    if down:
        adjusted = np.maximum.accumulate(adjusted)
    else:
        adjusted = np.minimum.accumulate(adjusted[::-1])[::-1]
    return np.minimum(adjusted, 0.0)[np.argsort(order)]


def holm(log_p: Floats) -> Floats:
    """Holm's step-down: controls the familywise error strongly under any dependence."""
    return _step(log_p, np.arange(len(log_p), 0, -1.0), down=True)


@lru_cache(maxsize=256)
def true_numbers(groups: int) -> Positions:
    """The possible numbers of true pairwise hypotheses among `groups` values: Shaffer (1986), equation 2.

    Examples
    --------
    >>> true_numbers(3).tolist(), true_numbers(4).tolist()
    ([0, 1, 3], [0, 1, 2, 3, 6])
    """
    found = [1]  # sets of numbers as bits
    for k in range(1, groups + 1):
        bits = 0
        for j in range(1, k + 1):
            bits |= found[k - j] << (j * (j - 1) // 2)
        found.append(bits)
    content = np.frombuffer(found[groups].to_bytes(found[groups].bit_length() // 8 + 1, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(content, bitorder="little"))


def _components(hypotheses: Sequence[Equality | None]) -> list[tuple[list[int], int]]:
    """Sets of hypotheses that share no side: their indices, and their numbers of sides."""
    alone = [Equality(object(), frozenset("ab")) if h is None else h for h in hypotheses]
    ends = [tuple((h.of, side) for side in h.sides) for h in alone]
    tied = DisjointSet(side for pair in ends for side in pair)
    for first, second in ends:
        tied.merge(first, second)
    places: dict[tuple[Hashable, Hashable], list[int]] = {}
    for place, (side, _) in enumerate(ends):
        places.setdefault(tied[side], []).append(place)
    return [(found, len(tied.subset(side))) for side, found in places.items()]


def _most_true(hypotheses: int, sides: int) -> Positions:
    """Upper bounds of the number of true pairwise hypotheses if 0, 1, ... of them are false; attained for all pairs."""
    false = np.arange(hypotheses + 1)
    if hypotheses < sides:  # a tree: no pair follows from others
        return hypotheses - false
    possible = true_numbers(sides)
    most = possible[np.searchsorted(possible, sides * (sides - 1) // 2 - false, side="right") - 1]
    return np.minimum(hypotheses - false, most)


def are_tied(hypotheses: Sequence[Equality | None]) -> bool:
    """Whether some hypotheses follow from others, so that `shaffer` has smaller factors than `holm`."""
    return any(
        bool((_most_true(len(places), sides) < len(places) - np.arange(len(places) + 1)).any())
        for places, sides in _components(hypotheses)
    )


def shaffer(log_p: Floats, hypotheses: Sequence[Equality | None]) -> Floats:
    """Shaffer's static step-down: Holm's with the number of hypotheses that can be true at the same time.

    In each set of hypotheses that share sides, such as all pairs of k groups, the number already rejected bounds how
    many can be true (among four groups 6, 3, 3, 3, 2, 1); a p-value's factor is the sum over all sets. It controls the
    familywise error strongly under any dependence.

    References
    ----------
    J. P. Shaffer (1986), Journal of the American Statistical Association 81, 826-831, procedure S1.

    Examples
    --------
    >>> from itertools import combinations
    >>> pairs = [Equality("recall", frozenset(pair)) for pair in combinations("abcd", 2)]
    >>> p = np.array([0.001, 0.012, 0.013, 0.014, 0.02, 0.03])
    >>> np.exp(shaffer(np.log(p), pairs)).round(3).tolist()
    [0.006, 0.036, 0.039, 0.042, 0.042, 0.042]
    """
    component = np.empty(len(log_p), dtype=np.intp)
    most = []
    for number, (places, sides) in enumerate(_components(hypotheses)):
        component[places] = number
        most.append(_most_true(len(places), sides).tolist())
    total, rejected, factors = len(log_p), [0] * len(most), []
    for number in component[np.argsort(log_p, kind="stable")].tolist():
        factors.append(total)
        rejected[number] += 1
        total -= most[number][rejected[number] - 1] - most[number][rejected[number]]
    return _step(log_p, np.array(factors, dtype=float), down=True)


def discrete_holm(log_p: Floats, values: Sequence[Floats], hypotheses: Sequence[Equality | None]) -> Floats:
    """Discrete Holm: each hypothesis counts with the largest p-value it could have had that is not above p.

    A p-value becomes the sum of these over the hypotheses not yet rejected; of those that share sides only so many are
    added as can be true (see `shaffer`), the largest. `values` are the log p-values that a test can attain given its
    margins (empty: any, so that p itself is added). It controls the familywise error strongly if the margins of all
    true hypotheses can be given at once and each p-value keeps its conditional distribution.

    References
    ----------
    S. Doehler (2010), Journal of Risk Model Validation 4, 59-92. Y. Zhu and W. Guo (2020), Statistics in
    Biopharmaceutical Research 12, 117-128.

    Examples
    --------
    >>> p, values = (
    ...     np.array([0.01, 0.04]),
    ...     [np.array([0.01, 1.0]), np.array([0.008, 0.04, 1.0])],
    ... )
    >>> np.exp(discrete_holm(np.log(p), [np.log(v) for v in values], [None, None])).round(
    ...     3
    ... ).tolist()
    [0.018, 0.04]
    """
    order = np.argsort(log_p, kind="stable")
    ordered, rank, steps = log_p[order], np.argsort(order), np.arange(len(log_p))
    factors = np.zeros(len(log_p))
    for indices, sides in _components(hypotheses):
        remaining = rank[indices][:, None] >= steps
        shares = [np.exp(largest_attainable(values[index], ordered) - ordered) for index in indices]
        largest = np.cumsum(np.sort(np.where(remaining, shares, 0.0), axis=0)[::-1], axis=0)
        most = _most_true(len(indices), sides)[len(indices) - remaining.sum(axis=0)]
        factors += np.where(most > 0, largest[most - 1, steps], 0.0)
    return _step(log_p, np.maximum(factors, 1.0), down=True)


def discrete_holm_rejects(counts: Sequence[Integers], alternative: str, alpha: float, others: Floats) -> Booleans:
    """Whether discrete Holm rejects any hypothesis of each family, a row of x1, d1, x2, d2: (families, tables) each.

    `others` are log p-values of hypotheses that each family has beside; tables without people are no hypotheses.
    """
    defined = (counts[1] > 0) & (counts[3] > 0)
    families, cells = np.nonzero(defined)[0], np.stack([count[defined] for count in counts])
    alike, first = _alike(cells)
    least, level = np.full(len(defined), others.min(initial=0.0)), np.log(alpha) + 1e-12
    x1, d1, x2, d2 = cells[:, first]
    np.minimum.at(least, families, conditional_log_p(x1, d1, x2, d2, alternative)[alike])
    factors, possible = np.full(len(defined), float(len(others))), least[families] <= level
    families, margins = families[possible], np.stack([*cells[1::2], cells[0] + cells[2]])[:, possible]
    alike, first = _alike(margins)
    parts = np.split(families[np.argsort(alike)], np.cumsum(np.bincount(alike))[:-1])
    for margin, part in zip(margins[:, first].T.tolist(), parts, strict=False):
        p = least[part]
        np.add.at(factors, part, np.exp(largest_attainable(attainable(*margin, alternative), p) - p))
    return np.asarray(least + np.log(np.maximum(factors, 1.0)) <= level)


def _alike(columns: Integers) -> tuple[Positions, Positions]:
    """The number of each distinct column, and the first of each; sorting one row after the other is fast."""
    alike = np.zeros(columns.shape[1], dtype=np.intp)
    for row in columns:
        _, first, alike = np.unique(alike * (row.max(initial=0) + 1) + row, return_index=True, return_inverse=True)
    return alike, first


def bonferroni(log_p: Floats) -> Floats:
    """Bonferroni: every p-value times their number."""
    return np.asarray(np.minimum(log_p + np.log(max(len(log_p), 1)), 0.0))


def fdr_bh(log_p: Floats) -> Floats:
    """Benjamini and Hochberg: controls the false-discovery rate under independence or positive dependence."""
    k = len(log_p)
    return _step(log_p, k / np.arange(1.0, k + 1), down=False)


#: What each value of `adjust` does to a family's p-values; `shaffer` needs to know which hypotheses share sides.
ADJUSTMENTS: dict[str | None, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "fdr_bh": fdr_bh,
    None: np.copy,
}
#: Adjustments whose rejections are familywise: their smallest adjusted p-value tests the global null hypothesis.
FAMILYWISE = frozenset({"holm", "shaffer", "discrete_holm", "bonferroni"})
#: Exactly tested hypotheses from which, and hypotheses up to which, a family is adjusted by discrete Holm.
DISCRETE_FROM, MOST_DISCRETE = 6, 2_000


def tarone_holm(log_p: Floats, smallest: Floats) -> Floats:
    """Holm's step-down in which a hypothesis counts only if its p-value could have been that small.

    A p-value p is multiplied by the number of hypotheses not yet rejected whose p-value can be at most p; `smallest`
    holds the logarithms of the smallest possible ones. It controls the familywise error strongly under any dependence
    given these, and rejects whatever Tarone's procedure rejects.

    References
    ----------
    R. E. Tarone (1990), Biometrics 46, 515-522. G. Hommel and F. Krummenauer (1998), Biometrics 54, 673-681.

    Examples
    --------
    >>> p, smallest = np.array([0.01, 0.3, 0.4]), np.array([0.001, 0.2, 0.4])
    >>> np.exp(tarone_holm(np.log(p), np.log(smallest))).round(3).tolist()
    [0.01, 0.3, 0.4]
    """
    ordered = np.sort(log_p)
    could_be = np.searchsorted(np.sort(np.minimum(smallest, log_p)), ordered, side="right")
    return _step(log_p, np.maximum(could_be - np.arange(len(log_p)), 1.0), down=True)


class Extreme(NamedTuple):
    """The disparity farthest from equality (absolute difference, or ratio below 1) with its limits."""

    value: float
    low: float
    high: float


def extreme_disparity(value: ArrayLike, low: ArrayLike, high: ArrayLike, disparity: str) -> Extreme:
    """The disparity farthest from equality among comparisons with simultaneous two-sided intervals; NaN without any.

    Examples
    --------
    >>> extreme_disparity([-0.2, 0.1], [-0.3, -0.1], [-0.05, 0.2], "difference")
    Extreme(value=0.2, low=0.05, high=0.3)
    """
    value, low, high = (np.asarray(numbers, dtype=float) for numbers in (value, low, high))
    if not len(value):
        return Extreme(np.nan, np.nan, np.nan)
    if disparity != "difference":
        with np.errstate(divide="ignore"):
            nearest = np.where((low <= 1) & (high >= 1), 1.0, np.maximum(_below_one(low), _below_one(high)))
            ends = _below_one(value), np.minimum(_below_one(low), _below_one(high)), nearest
        return Extreme(*(float(np.fmin.reduce(end)) for end in ends))  # without ratios that are undefined
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    ends = np.abs(value), nearest, np.maximum(np.abs(low), np.abs(high))
    return Extreme(*(float(end.max()) for end in ends))


def _below_one(ratio: Floats) -> Floats:
    return np.asarray(np.minimum(ratio, 1 / ratio))
