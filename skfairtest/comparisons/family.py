"""From rows to verdicts: adjustment for the whole family of questions, intervals, and what decides.

Several tables (a model's predictions by race, by sex, and by both) can be judged as one family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skfairtest._utils.errors import NothingDefined
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.rates import enumerable
from skfairtest.comparisons.rows import RESAMPLED, Measured, Row, by_hypothesis
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import two_sides
from skfairtest.inference.max_t import max_t_extreme, max_t_p, max_t_quantile, product_log_p
from skfairtest.inference.multiplicity import ADJUSTMENTS, FAMILYWISE, are_tied, holm, shaffer
from skfairtest.inference.rates import blocks_of, limits, limits_of_all, quantiles
from skfairtest.inference.resampling import oriented, p_value_limits

#: The smallest p-value a float can hold: what an enumerated law says when its logarithm is below that.
SMALLEST = float(np.nextafter(0.0, 1.0))


def p_of(log_p: float) -> float:
    """P-value of a logarithm; one too small for a float is its smallest positive number, never 0."""
    # The logarithm has made a rounding error, which must not decide at a level.
    return max(float(f"{np.exp(log_p):.15g}"), SMALLEST)


def at_most(log_p: float, level: float) -> bool:
    """Whether a p-value is at most a level; rounding does not decide between equal ones."""
    return bool(log_p <= np.log(level) + 1e-12)


@dataclass(frozen=True)
class Verdict:
    """What decides: the leading row, the global p-value with its Monte-Carlo limits, and whether there is a concern."""

    leading: Row
    log_p: float
    limits: tuple[float, float]
    rejected: bool
    concern: bool
    n_resamples: int
    drawn: bool  # tables were drawn for the adjustment of p-values that were not
    adjust: str | None  # the adjustment that was run: "shaffer" is Holm's where no hypothesis follows from others
    n_hypotheses: int  # those of the family that decides, each counted once


def judge(measured: Sequence[Measured], settings: Settings, *, together: bool = False) -> Verdict:
    """Adjust the rows of one or several tables as one family, set their intervals and verdicts, and say what decides.

    With control features the pooled rows are the family that decides and the strata's rows are a second one, unless
    `together` makes all of them one. A hypothesis counts once in its family, however many rows test it.

    Raises
    ------
    ValueError
        If every comparison was excluded.
    """
    rows = [row for part in measured for row in part.rows]
    main = rows if together else [row for row in rows if row.contrast.stratum is None]
    if not main:
        reasons = sorted({e.reason for part in measured for e in part.excluded})
        raise NothingDefined(f"no comparison is defined: {'; '.join(reasons)}")
    families = [main, [] if together else [row for row in rows if row.contrast.stratum is not None]]
    # The p-values of one adjusted family; the strata's are adjusted among themselves.
    tested = [by_hypothesis(family) for family in families]
    if settings.adjust == "shaffer" and not any(are_tied([same[0].equality for same in one]) for one in tested):
        settings = replace(settings, adjust="holm")
    for one in tested:
        if one:
            _adjust(one, measured, settings)
    return _decide(tested[0], measured, settings, together=together)


def _log_p(tested: list[list[Row]]) -> Floats:
    """Return the p-value of each hypothesis: rows that test the same one differ by what was drawn for them at most."""
    return np.array([max(row.log_p for row in same) for same in tested])


def _adjust(tested: list[list[Row]], measured: Sequence[Measured], settings: Settings) -> None:
    log_p, family = _log_p(tested), [row for same in tested for row in same]
    alpha = settings.alpha
    error, critical = alpha, None
    if settings.adjust == "max_t":
        adjusted, error, critical = _max_t([same[0] for same in tested], measured, settings)
        # A joint law of another statistic must not undercut the comparison's own p-value.
        adjusted = np.maximum(adjusted, log_p)
    elif settings.adjust == "shaffer":
        adjusted = shaffer(log_p, [same[0].equality for same in tested])
    else:
        adjusted = ADJUSTMENTS[settings.adjust](log_p)
    if settings.adjust in FAMILYWISE and settings.adjust != "max_t":
        error = alpha / len(tested)
    for same, value in zip(tested, adjusted.tolist(), strict=True):
        for row in same:
            row.log_p_adjusted = value
            row.concern = at_most(value, alpha)
    z_low, z_high = quantiles(settings.question.alternative, error)
    if critical is not None:
        z_low, z_high = (critical if np.isfinite(z) else z for z in (z_low, z_high))
    inverted = _inverted(family, z_low, z_high)
    for row in family:
        joint = critical is not None or settings.adjust == "max_t"
        rejected = at_most(row.log_p_adjusted, alpha) if joint else at_most(row.log_p, error)
        low, high = _interval(row, inverted.get(id(row)), settings, error, critical)
        if row.question.margin_bounds is None and not rejected:  # nor is equality rejected by the interval
            low, high = min(low, row.question.null), max(high, row.question.null)
        row.interval = (low, high) if np.isnan(low) else (max(row.ends[0], low), min(row.ends[1], high))


def _inverted(family: list[Row], z_low: float, z_high: float) -> dict[int, tuple[float, float]]:
    """Return the limits of rates' rows that invert score tests."""
    out = {}
    for disparity in ("difference", "ratio"):
        rows = [row for row in family if row.pair is not None and row.question.disparity == disparity]
        if rows:
            found = limits_of_all([row.counted for row in rows], [row.scale for row in rows], disparity, z_low, z_high)
            out.update({id(row): limits for row, limits in zip(rows, found, strict=True)})
    return out


def _interval(
    row: Row, inverted: tuple[float, float] | None, settings: Settings, error: float, critical: float | None
) -> tuple[float, float]:
    """Return confidence limits; NaN where the disparity has none. `inverted` are those of a rate's score test."""
    alternative = row.question.alternative
    if row.pair is None and row.form is None:
        return np.nan, np.nan
    if _has_samples(row):
        found = _bootstrap_interval(row, alternative, error)
        if not row.alike:
            return found
        asymptotic = inverted or _form_limits(row, quantiles(alternative, error))
        return min(found[0], asymptotic[0]), max(found[1], asymptotic[1])
    if inverted is not None:
        return inverted
    drawn = row.drawn if row.method in RESAMPLED and not settings.adaptive else None
    values = two_sides.critical_values(drawn, alternative, error, studentized=row.studentized)
    if critical is not None:
        values = (critical if np.isfinite(values[0]) else np.inf, critical if np.isfinite(values[1]) else np.inf)
    return _form_limits(row, values)


def _form_limits(row: Row, critical: tuple[float, float]) -> tuple[float, float]:
    assert row.form is not None
    return row.form.limits(critical, row.ends)


def _blocks(family: list[Row], measured: Sequence[Measured], settings: Settings) -> list[list[Row]]:
    """Parts of a family that have a joint law: rates on disjoint conditions, or all where whole tables are drawn."""
    (part,) = measured
    names = list(part.conditions)
    conditioned = settings.within == "auto" and settings.question.method != "bootstrap"
    blocks = blocks_of(list(part.conditions.values())) if conditioned else [list(range(len(names)))]
    together = [{names[rate] for rate in block} for block in blocks]
    together += [{metric.name} for metric in part.metrics if metric.name not in part.conditions]
    parts = [[row for row in family if row.metric in block] for block in together]
    return [rows for rows in parts if rows]


def _oriented_draws(rows: list[Row]) -> Floats:
    return np.stack([oriented(_draws(row), row.extreme_side) for row in rows], axis=1)


def _max_t(family: list[Row], measured: Sequence[Measured], settings: Settings) -> tuple[Floats, float, float | None]:
    """Adjusted log p-values, the error of an interval, and its critical value where draws give one."""
    blocks = _blocks(family, measured, settings)
    log_p: dict[int, float] = {}
    level = 1 - settings.alpha / len(blocks)
    error, criticals = settings.alpha / len(family), []
    for rows in blocks:
        if len(rows) == 1:
            found = np.array([rows[0].log_p])
        elif enumerable(rows):
            pairs = [tuple(int(v[0]) for v in (r.counted.x1, r.counted.d1, r.counted.x2, r.counted.d2)) for r in rows]
            found = product_log_p(pairs, np.array([row.statistic for row in rows]))  # type: ignore[arg-type]
            if len(blocks) == 1:
                error = 1 - (1 - settings.alpha) ** (1 / len(family))
        else:
            draws = _oriented_draws(rows)
            found = np.log(max_t_p(draws, np.array([row.beyond for row in rows])))
            criticals.append(max_t_quantile(draws, "greater", level))
        # Rates conditioned differently have no joint law: their blocks are combined by Bonferroni.
        found = np.minimum(found + np.log(len(blocks)), 0.0)
        log_p.update({id(row): float(value) for row, value in zip(rows, found, strict=True)})
    # A critical value is on the scale of the normal quantile that it replaces only for studentized statistics.
    usable = len(criticals) == len(blocks) and settings.variance is not None and np.isfinite(criticals).all()
    adjusted = np.array([log_p[id(row)] for row in family])
    return adjusted, error, max(criticals) if usable else None


def _draws(row: Row) -> Floats:
    drawn = row.drawn if row.joint is None else row.joint
    assert drawn is not None
    return drawn


def _has_samples(row: Row) -> bool:
    """Whether bootstrap samples give an interval: a statistic without an error has none."""
    return row.method == "bootstrap" and bool(np.isfinite(row.statistic))


def _bootstrap_interval(row: Row, alternative: str, error: float) -> tuple[float, float]:
    """Return the disparities that the bootstrap test of this alternative does not reject."""
    assert row.resampled is not None
    low, high = ("greater", error), ("less", error)
    if alternative == "equivalence" or (alternative == "two-sided" and row.question.margin_bounds is not None):
        sides = (("greater", error / 2), ("less", error / 2))  # two one-sided tests at a margin
    elif alternative == "two-sided":
        sides = (("two-sided", error), ("two-sided", error))
    else:
        sides = (low, None) if alternative == "greater" else (None, high)  # type: ignore[assignment]
    return row.resampled.limits(sides, row.ends)


def _monte_carlo_limits(
    leading: Row, main: list[Row], measured: Sequence[Measured], settings: Settings
) -> tuple[float, float] | None:
    """Limits of the global p-value if tables were drawn without end; None where no single count decides."""
    if settings.adjust == "max_t":
        blocks = _blocks(main, measured, settings)
        rows = next(rows for rows in blocks if any(row is leading for row in rows))
        if len(rows) > 1 and not enumerable(rows):
            counts, times = max_t_extreme(_oriented_draws(rows), leading.beyond), len(blocks)
        elif leading.extreme is not None:
            counts, times = leading.extreme, len(blocks) * leading.tails
        else:
            return None
    elif leading.extreme is not None:
        counts, times = leading.extreme, leading.tails
        if settings.question.alternative != "equivalence":
            times *= len(main)
    else:
        return None
    low, high = p_value_limits(*counts)
    return min(1.0, times * low), min(1.0, times * high)


def equivalence_interval(row: Row, settings: Settings) -> tuple[float, float]:
    """Return the interval at level 1 - 2 alpha that two one-sided tests at alpha invert."""
    z, _ = quantiles("greater", settings.alpha)
    if row.pair is None:
        asymptotic = _form_limits(row, (z, z))
    else:
        asymptotic = limits(row.pair, row.scale, row.question.disparity, z, z)
    if not _has_samples(row):
        return asymptotic
    low, high = _bootstrap_interval(row, "equivalence", 2 * settings.alpha)
    return (min(low, asymptotic[0]), max(high, asymptotic[1])) if row.alike else (low, high)


def _leading(main: list[Row], tied: np.ndarray, *, worst: bool) -> Row:
    """Return the row that sets the global p-value: among ties its own p-value decides, then the largest statistic."""
    log_p = np.where(tied, [row.log_p for row in main], np.nan)
    own = np.nanmax(log_p) if worst else np.nanmin(log_p)
    statistics = np.abs([row.statistic for row in main])
    sizes = np.where(np.isnan(statistics), -1.0, statistics)
    # Rounding must not decide between comparisons that say the same.
    return main[int(np.argmax(np.where(np.abs(log_p - own) <= 1e-9 * max(1.0, abs(own)), sizes, -2.0)))]


def _decide(tested: list[list[Row]], measured: Sequence[Measured], settings: Settings, *, together: bool) -> Verdict:
    equivalence = settings.question.alternative == "equivalence"
    log_p, main = _log_p(tested), [same[0] for same in tested]
    if equivalence:
        deciding = log_p
        target = log_p.max()
    else:
        # One test has one answer, whatever its rows are adjusted by; an audit has findings, and is about these.
        own = together or settings.adjust in FAMILYWISE
        deciding = np.array([row.log_p_adjusted for row in main]) if own else holm(log_p)
        target = deciding.min()
    with np.errstate(invalid="ignore"):
        tied = (deciding == target) | (np.abs(deciding - target) <= 1e-9 * max(1.0, abs(target)))
    leading = _leading(main, tied, worst=equivalence)
    p = p_of(float(target))
    rejected = at_most(float(target), settings.alpha)
    concern = not rejected if equivalence else rejected
    if equivalence:
        for part in measured:
            for row in part.rows:
                # A certificate for all pairs is one for each; short of it, pairs are certified one by one.
                pooled = row.contrast.stratum is None
                row.concern = not at_most(row.log_p_adjusted, settings.alpha) and (concern or not pooled)
    drew = any(row.drawn is not None or row.joint is not None for row in main)
    resampled = any(row.method in RESAMPLED for row in main)
    limits_of_p = _monte_carlo_limits(leading, main, measured, settings) if drew else None
    bounds = (p, p) if limits_of_p is None else (min(p, limits_of_p[0]), max(p, limits_of_p[1]))
    n_resamples = settings.n_resamples if resampled or drew else 0
    if n_resamples and settings.adaptive:
        n_resamples = max(row.extreme[1] for row in main if row.extreme is not None)
    drawn = drew and not resampled
    return Verdict(leading, float(target), bounds, rejected, concern, n_resamples, drawn, settings.adjust, len(tested))
