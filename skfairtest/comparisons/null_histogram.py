"""What could have been seen by chance in one comparison: the law behind its p-value, as it is drawn and reported."""

from __future__ import annotations

import numpy as np

from skfairtest._utils.text import label, pluralize
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.rows import RESAMPLED, Row
from skfairtest.inference import null_distribution
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.null_distribution import Bins
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.sentences import p_text

#: What the resamples of a method are.
RESAMPLES = {
    "permutation": "permutations of the labels",
    "sign flipping": "resamples in which the signs of the clusters' parts are random",
    "bootstrap": "bootstrap samples, centred",
}


def null_histogram_of(row: Row) -> NullHistogram | None:
    """Return the law of a judged row under its null hypothesis; None where its statistic is undefined."""
    exact = row.method.startswith("exact")
    if exact and row.pair is not None and row.question.margin_bounds is None:
        found = _enumerated(row)
        if found is not None:
            return found
    if row.drawn is not None and row.method in RESAMPLED:
        return _drawn(row)
    if np.isnan(row.statistic):
        return None
    return _normal(row)


def _enumerated(row: Row) -> NullHistogram | None:
    """Return the law of the difference given how many events both sides have; None where it is too long."""
    pair, conditional = row.counted, row.method == "exact conditional"
    known = row.log_p if conditional else None
    bins = null_distribution.given_totals(pair.x1, pair.d1, pair.x2, pair.d2, row.question.alternative, known)
    if bins is None:
        return None
    # The difference, averaged over strata, is a linear function of the events of the group.
    d1, d2, totals = (np.asarray(a, dtype=float) for a in (pair.d1, pair.d2, pair.x1 + pair.x2))
    expected = float((d1 * totals / (d1 + d2)).sum())
    unit = 1 / float(d1.sum() if pair.overall else (d1 * d2 / (d1 + d2)).sum())
    m, where = int(totals.sum()), "" if len(d1) == 1 else " in every stratum"
    note = (
        f"All the ways in which {pluralize(m, 'person', 'people')} in the numerator of {label(row.metric)} can fall on "
        f"the two sides if chance alone divides them, given that there are so many{where}"
    )
    inside, p = float(bins.extreme.sum()), p_of(row.log_p)
    if conditional:
        note += f"; those at least as extreme as the data add up to the p-value, {p_text(p)}."
    else:
        note += (
            f"; those at least as extreme as the data add up to {p_text(inside)}, and the p-value, {p_text(p)}, is the "
            "largest probability of such an outcome over all shares that both sides could have in common, without "
            "taking that number as given."
        )
    statistic = "difference" if row.scale.is_identity else f"difference of the shares behind {label(row.metric)}"
    return _law(
        "enumerated", statistic, bins.moved(-expected * unit, unit), (int(pair.x1.sum()) - expected) * unit, row, note
    )


def _drawn(row: Row) -> NullHistogram | None:
    """Return a histogram of the draws that the p-value counts."""
    assert row.drawn is not None
    if np.isnan(row.statistic):
        return None
    sides, times = _sides(row)
    shares = {side: monte_carlo_p(row.drawn, row.statistic, side) for side in sides}
    side = _nearest({side: share[0] for side, share in shares.items()}, times, row.log_p)
    found = null_distribution.drawn(row.drawn, row.statistic, side)
    if found is None:
        return None
    extreme = shares[side][1]
    what = RESAMPLES[row.method]
    twice = "; twice this share" if times == 2 else ""
    note = (
        f"The statistic in {found.n_defined:,} {what}, of which {extreme:,} are at least as extreme as the data"
        f"{twice or ','} {'gives' if twice else 'which gives'} the p-value, {p_text(p_of(row.log_p))}"
    )
    if found.n_infinite:
        note += f"; {found.n_infinite:,} of them are infinite and not drawn"
    if row.undefined:
        others = pluralize(row.undefined, "other draw, which is", "other draws, which are")
        note += f"; it is undefined in {others} not counted"
    return _law("drawn", _statistic(row), found.bins, row.statistic, row, _ended(note, row))


def _normal(row: Row) -> NullHistogram:
    """Return the standard normal law, for want of one of its own."""
    sides, times = _sides(row)
    side = _nearest({s: float(np.exp(normal_log_p(row.statistic, s))) for s in sides}, times, row.log_p)
    p = p_text(p_of(row.log_p))
    note = "The standard normal law, which the statistic has in large samples if the null hypothesis holds"
    if row.method.startswith("exact"):
        why = "with a margin" if row.question.margin_bounds is not None else "for so many people"
        note += f", drawn {why} in place of the exact law that gives the p-value, {p}"
    else:
        note += f"; {'twice ' if times == 2 else ''}what is at least as extreme as the data is the p-value, {p}"
    return _law(
        "normal", _statistic(row), null_distribution.normal(row.statistic, side), row.statistic, row, _ended(note, row)
    )


def _sides(row: Row) -> tuple[tuple[str, ...], int]:
    """Return the sides on which draws may have been counted, and how often their share counts."""
    side = row.extreme_side
    if side in ("greater", "less"):
        return (side,), 1
    if row.question.margin_bounds is None and row.side is None:
        return ("two-sided",), 1
    # Tests of both edges of a margin, or of both tails, of which one decides.
    return ("greater", "less"), 1 if side == "equivalence" else 2


def _nearest(shares: dict[str, float], times: int, log_p: float) -> str:
    """Return the side whose share is the p-value."""
    if len(shares) == 1:
        return next(iter(shares))
    with np.errstate(divide="ignore"):
        return min(shares, key=lambda side: abs(float(np.log(min(1.0, times * shares[side]))) - log_p))


def _statistic(row: Row) -> str:
    """Say what is on the axis."""
    if row.side is not None:
        return label(row.metric)
    if row.question.margin_bounds is not None:
        return ("studentized " if row.studentized else "") + "distance from the margin"
    # Equality is one hypothesis with one statistic, whether a difference or a ratio is shown.
    return "studentized difference" if row.studentized else "difference"


def _ended(note: str, row: Row) -> str:
    infinite = "; the data's own statistic is infinite, for want of a standard error" if np.isinf(row.statistic) else ""
    return f"{note}{infinite}."


def _law(kind: str, statistic: str, bins: Bins, observed: float, row: Row, note: str) -> NullHistogram:
    low, high, mass, extreme = (tuple(values.tolist()) for values in (bins.low, bins.high, bins.mass, bins.extreme))
    return NullHistogram(kind, statistic, low, high, mass, extreme, float(observed), p_of(row.log_p), note)
