"""Few labels, enumerated: ``python -m benchmarks.labelled_exact``.

Two groups with 5 to 20 labels each, in the bins of a judge who is useless (right for half), good (right for 93%), good
in one group only, or inverted. Shares of bins are known, so that every outcome has a probability, and nothing is drawn.
Of each test: the largest size over a grid of rates of the bins with equal rates of the groups, and the power at a
difference. Tests are the normal one of the score statistic; that of `LabelledFairnessTest`; exact tests, whose p-value
is the largest probability, over the same grid, of a score statistic as far from 0 ("largest over rates"), or of a
probability of that at the most likely rates, which is as small ("of likely rates"); and Boschloo's of labels alone.
Stored in benchmarks/results/labelled_exact.json.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import binom, norm

from benchmarks.common.results import write
from benchmarks.labelled import LEVEL, RIGHT, ROLES
from skfairtest.inference.unconditional import unconditional_log_p
from skfairtest.labelled.statistics import (
    EXPECTED,
    LabelledRate,
    _likely_values,
    _most_likely,
    disparity_statistic,
    log_tails,
)

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "labelled_exact.json"
WHAT = "enumerated size and power of tests with 5 to 20 labels and a judge; see benchmarks/labelled_exact.py"
LABELS, PAIRS = (5, 10, 20), ((0.1, 0.3), (0.1, 0.5), (0.3, 0.7))
#: Values of both groups, and rates of bins at each of them.
VALUES, LINES = np.sin(np.linspace(0, np.pi / 2, 33)) ** 2, np.sin(np.linspace(0, np.pi / 2, 9)) ** 2


def bins(judge, group, rate, n):
    """Shares, rates and labels of what the judge guesses; one bin where one of two would have too few labels."""
    right = RIGHT[judge][group]
    share = np.array([rate * (1 - right) + (1 - rate) * right, rate * right + (1 - rate) * (1 - right)])
    if (share * n < EXPECTED - 1e-9).any():
        return np.ones(1), np.array([rate]), np.array([n])
    zero = round(share[0] * n)
    return share, np.array([rate * (1 - right), rate * right]) / share, np.array([zero, n - zero])


def laws(x, labels, p):
    """Probabilities of outcomes (O,) at rates of bins (..., B)."""
    return binom.pmf(x, labels, np.clip(p, 0, 1)[..., None, :]).prod(axis=-1)


def line(share, value):
    """Rates of bins at which the group's rate has a value."""
    if len(share) == 1:
        return np.array([[value]])
    low, high = max(0.0, (value - share[1]) / share[0]), min(1.0, value / share[0])
    first = low + (high - low) * LINES
    return np.stack([first, (value - share[0] * first) / share[1]], axis=-1)


def largest(grid, small):
    """The largest probability over the grid of a value that is at most as large, for each outcome."""
    levels, place = np.unique(small, return_inverse=True)
    found = np.zeros(len(levels))
    for first, second in grid:
        for one in first:
            for other in second:
                mass = np.bincount(place.reshape(-1), np.outer(one, other).ravel(), len(levels))
                found = np.maximum(found, mass.cumsum())
    return found[place.reshape(-1)]


def at_likely_rates(groups, xs, sides, size, some):
    """Probabilities of a statistic as far from 0 as an outcome's, at the rates that are then most likely."""
    out, own = np.ones(len(size)), sides[:, some]
    slope, _, constant = own._form(_likely_values(own, 0.0, "difference"))
    rates, _ = _most_likely(slope, constant, own.first, own.labels)
    first, second = (laws(x, labels, p[:, : len(labels)]) for (*_, labels), x, p in zip(groups, xs, rates, strict=True))
    for place, one, other in zip(np.flatnonzero(some), first, second, strict=True):
        out[place] = np.outer(one, other).ravel()[size >= size[place]].sum()
    return out.round(8)


def enumerated(judge, rates, n):
    """The largest size and the power of each test, in one design."""
    groups = [bins(judge, group, rate, n) for group, rate in enumerate(rates)]
    xs = [np.stack(np.meshgrid(*[np.arange(m + 1) for m in labels], indexing="ij"), axis=-1).reshape(-1, len(labels))
          for *_, labels in groups]  # fmt: skip
    first, second = (side.ravel() for side in np.indices([len(x) for x in xs]))
    each = [[LabelledRate(one.astype(float), labels.astype(float), share, np.repeat(ROLES, len(share), axis=0), np.inf)
             for one in x] for (share, _, labels), x in zip(groups, xs, strict=True)]  # fmt: skip
    sides = LabelledRate.stacked([each[0][row] for row in first], [each[1][row] for row in second])
    size = np.abs(disparity_statistic(sides, 0.0, "difference")).round(6)
    of_lines = [[laws(x, labels, line(share, value)) for value in VALUES]
                for (share, _, labels), x in zip(groups, xs, strict=True)]  # fmt: skip
    grid = list(zip(*of_lines, strict=True))
    normal = 2 * norm.sf(size)
    tails = np.zeros(len(size))
    some = normal < 4 * LEVEL  # others are not rejected by any of these tests
    tails[some] = np.exp(log_tails(sides[:, some], 0.0, "difference", "two-sided"))
    tails[~some] = 1.0
    pairs, place = np.unique(
        np.stack([xs[0].sum(axis=1)[first], xs[1].sum(axis=1)[second]]), axis=1, return_inverse=True
    )
    alone = np.exp(unconditional_log_p(pairs[0], np.full(len(pairs[0]), n), pairs[1], np.full(len(pairs[0]), n)))
    p_values = {
        "normal": normal, "test": np.maximum(normal, tails), "largest over rates": largest(grid, -size),
        "of likely rates": largest(grid, at_likely_rates(groups, xs, sides, size, some)),
        "labels alone": alone[place.reshape(-1)],
    }  # fmt: skip
    out = {"judge": judge, "rates": list(rates), "labels": [labels.tolist() for *_, labels in groups]}
    truth = [laws(x, labels, p) for (_, p, labels), x in zip(groups, xs, strict=True)]
    for name, p in p_values.items():
        rejected = (p <= LEVEL + 1e-12).reshape(len(xs[0]), -1).astype(float)
        out[name] = {
            "size": round(max(float((one @ rejected @ other.T).max()) for one, other in grid), 4),
            "power": round(float(truth[0] @ rejected @ truth[1]), 4),
        }
    return out


def main():
    cells = []
    for n in LABELS:
        for judge in RIGHT:
            for rates in PAIRS:
                cells.append(enumerated(judge, rates, n))
                print(cells[-1], flush=True)
                write(RESULTS, WHAT, 0, cells=cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
