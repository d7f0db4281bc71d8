"""What a test of correlation reads, and the rows that it makes: features, outcome, strata, p-values and verdicts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.frames import objects
from skfairtest.comparisons.resample import resample
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.correlation import (
    E_CONSTANT,
    KEPT,
    SMALLEST_STRATUM,
    TOO_FEW,
    X_CONSTANT,
    Estimates,
    Pairs,
    correlation_limits,
    permuted,
)
from skfairtest.inference.max_t import max_t_extreme, max_t_p
from skfairtest.inference.multiplicity import ADJUSTMENTS, FAMILYWISE, holm
from skfairtest.inference.resampling import critical_value, monte_carlo_p, oriented, p_value_limits
from skfairtest.inference.two_sides import sequential_p
from skfairtest.readers import Column, as_floats, classes_of, predict, scores

COLUMNS = [
    "feature", "stratum", "n", "correlation", "standard_error", "statistic", "p_value", "p_value_adjusted", "ci_low",
    "ci_high", "concern", "method",
]  # fmt: skip
EXCLUDED_COLUMNS = ["feature", "stratum", "reason", "n"]
REASONS = {
    TOO_FEW: f"fewer than {SMALLEST_STRATUM} people",
    X_CONSTANT: "the feature is the same for everybody",
    E_CONSTANT: "the outcome is the same for everybody",
}
#: More single strata than this, over all features, are refused.
MOST_STRATA = 1000
#: Numbers of this size and above count as infinite.
LARGEST = 1e307


def name_of(function: Any) -> str:
    """Write the name of a function, or the text itself in quotes."""
    return repr(function) if isinstance(function, str) else str(getattr(function, "__name__", type(function).__name__))


def numbers(column: Column, where: str, instead: str = "pass numbers") -> Floats:
    """Return a column's values as floats.

    Raises
    ------
    ValueError
        If one of them is no number, or too large for a float.
    """
    strange = next((level for level in column.levels if not isinstance(level, Real | Decimal)), None)
    if strange is not None:
        raise ParameterError(f"{where} holds {strange!r}, which is not a number: {instead}")
    levels = as_floats(column.levels)
    # Differences and sums of two must be finite as well.
    if not np.abs(levels).max() < LARGEST:
        raise ParameterError(
            f"{where} holds infinite values: replace them, or leave these people out of every argument"
        )
    return np.asarray(levels[column.codes])


def feature_values(columns: tuple[Column, ...], data: Any) -> list[Floats]:
    """Return the sensitive features as numbers; what is no number, categorical or constant is refused."""
    out = []
    for column in columns:
        where = f"sensitive_features (column {column.name!r})"
        out.append(numbers(column, where, "use FairnessTest for groups; dates can become numbers, such as years"))
        if len(column.levels) == 1:
            everybody = f"everybody (n_samples={len(column)})"
            raise ParameterError(f"{where} is {column.levels[0]!r} for {everybody}: nothing can be correlated with it")
    for name, values in data.items() if isinstance(data, dict | pd.DataFrame) else [(columns[0].name, data)]:
        if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
            raise ParameterError(
                f"sensitive_features (column {str(name)!r}) is categorical: use FairnessTest for groups"
            )
    return out


def zero_one(column: Column, classes: tuple[Any, ...]) -> Floats:
    """Return 1 for the second class and 0 for the first."""
    strange = next((level for level in column.levels if level not in classes), None)
    if strange is not None:
        raise ValueError(
            f"{column.name} holds {strange!r}, which is neither of the estimator's classes {classes[0]!r} and "
            f"{classes[1]!r}"
        )
    return np.array([float(level == classes[1]) for level in column.levels])[column.codes]


def response(estimator: Any, X: Any, sensitive_features: Any, predict_params: Any, random_state: Any) -> Any:
    """Return probabilities of the second of two classes where there are any, else predictions."""
    common = {
        "sensitive_features": sensitive_features,
        "predict_params": predict_params,
        "random_state": random_state,
    }
    classes = classes_of(estimator)
    if classes is not None and len(classes) == 2 and hasattr(estimator, "predict_proba"):
        return scores(estimator, X, ["predict_proba"], metric="of", pos_label=classes[1], **common)
    return predict(estimator, X, **common)


def own_outcome(function: Any, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    """Return what a function makes of true and predicted values, one finite number per person."""
    name = name_of(function)
    try:
        e = np.asarray(function(y_true.copy(), y_pred.copy()))
    except Exception as error:
        raise ParameterError(f"of={name} raised {type(error).__name__}: {error}") from error
    if e.shape != y_pred.shape or e.dtype.kind not in "biuf":
        raise ParameterError(
            f"of={name} must return one number per person, of shape {y_pred.shape}; found {e.dtype} of shape {e.shape}"
        )
    e = e.astype(float)
    bad = int((~(np.abs(e) < LARGEST)).sum())
    if bad:
        raise ParameterError(f"of={name} returned {bad:,} values among {len(e):,} that are NaN or infinite")
    return e


def crossed(controls: tuple[Column, ...]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return codes of the crossed control features and their labels: values, or tuples of several."""
    if not controls:
        return np.zeros(0, dtype=np.intp), []
    codes = np.stack([column.codes for column in controls], axis=1)
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    keys = [tuple(c.levels[code] for c, code in zip(controls, row, strict=True)) for row in found.tolist()]
    return inverse.reshape(-1), [key[0] if len(key) == 1 else key for key in keys]


def usable(pairs: Pairs, controls: str, of: str) -> list[int]:
    """Return the features that have a stratum that counts.

    Raises
    ------
    ValueError
        If no feature has, or there are too many strata.
    """
    kept = pairs.left_out == KEPT
    if pairs.stratified and kept.sum() > MOST_STRATA:
        raise ParameterError(
            f"control_features ({controls}) makes {int(kept.sum()):,} comparisons within strata, more than "
            f"{MOST_STRATA:,}: use fewer values, for instance with pandas.cut"
        )
    if kept.any():
        return np.flatnonzero(kept.any(axis=1)).tolist()
    n = len(pairs.e)
    if pairs.stratified:
        raise ValueError(
            f"no stratum of {controls} has {SMALLEST_STRATUM} or more people among whom both the sensitive feature and "
            "the outcome vary: use fewer strata"
        )
    if n < SMALLEST_STRATUM:
        raise ValueError(f"{n} people are too few: a correlation needs at least {SMALLEST_STRATUM}")
    raise ParameterError(
        f"of={of} is {pairs.e[0]:g} for all {n:,} people: what does not vary is correlated with nothing"
    )


@dataclass
class Row:
    """One comparison: `place` is 0 for all people, else one more than the stratum's position.

    `drawn` holds the draws that its p-value is made of, and `extreme` counts the extreme and the defined ones.
    """

    feature: str
    stratum: Any
    place: int
    n: int
    freedom: int
    correlation: float
    standard_error: float
    variance: Floats
    statistic: float
    drawn: Floats
    p_value: float
    extreme: tuple[int, int]
    p_value_adjusted: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)
    concern: bool = False


def draw(
    pairs: Pairs, correlation: Any, found: Estimates, settings: Settings, seed: np.random.SeedSequence, what: str
) -> Floats:
    """Draw the statistics of all permutations, or of as many as every row needs; `what` is said in messages."""
    observed = found.statistic
    places = np.argwhere(~np.isnan(observed)).tolist()

    def done(parts: list[Floats]) -> bool:
        drawn, side = np.concatenate(parts), settings.question.alternative
        return all(sequential_p(drawn[:, i, j], float(observed[i, j]), side) is not None for i, j in places)

    return np.concatenate(resample(partial(permuted, pairs, correlation), settings, seed, what=what, done=done))


def make_rows(
    pairs: Pairs, names: list[str], labels: list[Any], found: Estimates, drawn: Floats, settings: Settings
) -> list[Row]:
    """Return pooled rows, then strata's rows in their order, with the p-value of each."""
    rows = []
    for place, feature in product(range(drawn.shape[2]), range(len(names))):
        strata = np.flatnonzero(pairs.left_out[feature] == KEPT)
        if place:
            strata = strata[strata == place - 1]
        if not len(strata):
            continue
        n, statistic = int(pairs.sizes[strata].sum()), float(found.statistic[feature, place])
        draws, p, extreme = _p_value(drawn[:, feature, place], statistic, settings)
        rows.append(
            Row(
                names[feature],
                labels[place - 1] if place else None,
                place,
                n,
                n - 1 - len(strata),
                float(found.correlation[feature, place]),
                float(found.standard_error[feature, place]),
                found.variance[feature, place],
                statistic,
                draws,
                p,
                extreme,
            )
        )
    return rows


def _p_value(draws: Floats, statistic: float, settings: Settings) -> tuple[Floats, float, tuple[int, int]]:
    """Return the draws that count, the p-value, and how many of them are extreme and defined."""
    found = sequential_p(draws, statistic, settings.question.alternative) if settings.adaptive else None
    if found is None:
        p, extreme, defined = monte_carlo_p(draws, statistic, settings.question.alternative)
        return draws, p, (extreme, defined)
    # What was drawn for other rows after this one had its answer is not part of it.
    p, extreme, defined = found
    return draws[: 1 + np.searchsorted(np.cumsum(~np.isnan(draws)), defined)], p, (extreme, defined)


def judge(family: list[Row], settings: Settings, *, studentized: bool) -> None:
    """Adjust a family's p-values and set verdicts and limits."""
    side, alpha, several = settings.question.alternative, settings.alpha, len(family) > 1
    p = np.array([row.p_value for row in family])
    error, joint = alpha / len(family) if settings.adjust in FAMILYWISE else alpha, None
    if settings.adjust == "max_t":
        draws, observed = _joint(family, side)
        adjusted = np.maximum(max_t_p(draws, observed), p)
        if studentized and several:
            joint = critical_value(np.fmax.reduce(draws, axis=1), "greater", alpha)
    else:
        adjusted = np.exp(ADJUSTMENTS[settings.adjust](np.log(p)))
    for row, value in zip(family, adjusted.tolist(), strict=True):
        row.p_value_adjusted = value if several else row.p_value
        row.concern = row.p_value_adjusted <= alpha
        if studentized:
            row.interval = _interval(row, side, error, joint)
            if not (row.p_value <= error if joint is None else row.concern):
                row.interval = min(row.interval[0], 0.0), max(row.interval[1], 0.0)


def _interval(row: Row, side: str, error: float, joint: float | None) -> tuple[float, float]:
    """Invert the test at the critical value of a family's permutations, or of the row's own."""
    critical = critical_value(row.drawn, side, error) if joint is None else joint
    if critical is None:  # so few permutations that nothing can be rejected
        critical = float(student.isf(error / 2 if side == "two-sided" else error, row.freedom))
    # One-sided, of very skewed values hardly any permutation has a positive statistic.
    critical = max(0.0, critical)
    ends = (np.inf if side == "less" else critical), (np.inf if side == "greater" else critical)
    return correlation_limits(row.correlation, row.variance, *ends)


def _joint(family: list[Row], side: str) -> tuple[Floats, Floats]:
    """Drawn and observed statistics of a family, of which larger ones are more extreme."""
    draws = np.stack([row.drawn for row in family], axis=1)
    return oriented(draws, side), oriented(np.array([row.statistic for row in family]), side)


def decide(main: list[Row], settings: Settings) -> tuple[Row, float, tuple[float, float]]:
    """Return the leading row, the global p-value and the limits of its Monte-Carlo error."""
    adjusted = np.array([row.p_value_adjusted for row in main])
    if settings.adjust not in FAMILYWISE and len(main) > 1:
        adjusted = np.exp(holm(np.log([row.p_value for row in main])))
    # Among ties the row's own p-value decides, then the largest statistic.
    tied = [row for row, value in zip(main, adjusted, strict=True) if value <= adjusted.min() * (1 + 1e-9)]
    leading = min(tied, key=lambda row: (row.p_value, -abs(row.statistic)))
    counts, times = leading.extreme, len(main)
    if settings.adjust == "max_t":
        draws, observed = _joint(main, settings.question.alternative)
        counts, times = max_t_extreme(draws, float(observed[main.index(leading)])), 1
    p = float(adjusted.min())
    low, high = p_value_limits(*counts) if counts[1] else (0.0, 1.0)
    return leading, p, (min(p, times * low), max(p, min(1.0, times * high)))


def warn_unreachable(n_comparisons: int, settings: Settings) -> None:
    """Warn that so few permutations cannot reject anything."""
    smallest = (1 if settings.adjust == "max_t" else n_comparisons) / (1 + settings.n_resamples)
    if not settings.adaptive and smallest > settings.alpha:
        warnings.warn(
            f"n_resamples={settings.n_resamples} cannot reject at {settings.alpha:.3g}: the smallest adjusted p-value "
            f"that {pluralize(n_comparisons, 'comparison')} can reach is {min(1.0, smallest):.3g}; "
            f"use more than {int(np.ceil(n_comparisons / settings.alpha))}",
            UserWarning,
            stacklevel=find_stack_level(),
        )


def null_distribution(main: list[Row]) -> Floats:
    """Return the draws of pooled rows, a column for each; NaN after the last one that counts."""
    out = np.full((max(len(row.drawn) for row in main), len(main)), np.nan)
    for place, row in enumerate(main):
        out[: len(row.drawn), place] = row.drawn
    return out


def comparisons_frame(rows: list[Row]) -> pd.DataFrame:
    """One row per comparison, in the order of `COLUMNS`."""
    frame = {name: [getattr(row, name) for row in rows] for name in COLUMNS if name in Row.__dataclass_fields__}
    frame |= {"ci_low": [row.interval[0] for row in rows], "ci_high": [row.interval[1] for row in rows]}
    labels = {"feature": frame["feature"], "stratum": frame["stratum"], "method": ["permutation"] * len(rows)}
    return pd.DataFrame({**frame, **{name: objects(values) for name, values in labels.items()}})[COLUMNS]


def excluded_frame(pairs: Pairs, names: list[str], labels: list[Any], rows: list[Row]) -> pd.DataFrame:
    """Strata that were left out for a feature, and permutations that left a row's statistic undefined."""
    left_out = [
        (names[feature], labels[stratum], REASONS[int(pairs.left_out[feature, stratum])], pairs.sizes[stratum])
        for feature, stratum in np.argwhere(pairs.left_out != KEPT).tolist()
    ]
    for row in rows:
        undefined = int(np.isnan(row.drawn).sum())
        if undefined:
            reason = f"undefined in {undefined:,} of {len(row.drawn):,} permutations, which are not counted"
            left_out.append((row.feature, row.stratum, reason, row.n))
    columns = zip(*left_out, strict=True) if left_out else ([], [], [], [])
    frame = {name: objects(values) for name, values in zip(EXCLUDED_COLUMNS, columns, strict=True)}
    return pd.DataFrame(frame).astype({"n": int})
