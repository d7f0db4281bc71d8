"""From inputs to correlations and their null distributions.

The inputs of a test of correlation: features as numbers, strata as codes.

The null distribution of a correlation, and the comparisons of a test: each feature, over all strata and in each.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.contrasts import LOPSIDED, MISSED
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.measure import undefined_draws
from skfairtest.comparisons.outcomes import numbers
from skfairtest.comparisons.resample import resample, with_draws
from skfairtest.comparisons.settings import Settings
from skfairtest.correlation import statistics
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import sequential_p
from skfairtest.readers import Column, predict, scores

#: More single strata than this, over all features, are refused.
MOST_STRATA = 1000


def feature_values(columns: tuple[Column, ...], data: Any) -> list[Floats]:
    """Return the sensitive features as numbers; raise an error if one is not numeric, is categorical or constant."""
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


def zero_one(column: Column, classes: tuple[Any, ...], pos_label: Any) -> Floats:
    """Return 1 for the positive class and 0 for the other."""
    strange = next((level for level in column.levels if level not in classes), None)
    if strange is not None:
        raise ParameterError(
            f"{column.name} holds {strange!r}, which is neither of the estimator's classes {classes[0]!r} and "
            f"{classes[1]!r}"
        )
    return np.array([float(level == pos_label) for level in column.levels])[column.codes]


def response(
    estimator: Any, X: Any, sensitive_features: Any, predict_params: Any, random_state: Any, pos_label: Any
) -> Any:
    """Return probabilities of the positive one of two classes where there are any, else predictions."""
    common = {"sensitive_features": sensitive_features, "predict_params": predict_params, "random_state": random_state}
    if pos_label is not None and hasattr(estimator, "predict_proba"):
        return scores(estimator, X, ["predict_proba"], metric="of", pos_label=pos_label, **common)
    return predict(estimator, X, **common)


def crossed(controls: tuple[Column, ...]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return codes of the crossed control features and their labels: values, or tuples of several."""
    if not controls:
        return np.zeros(0, dtype=np.intp), []
    codes = np.stack([column.codes for column in controls], axis=1)
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    keys = [tuple(c.levels[code] for c, code in zip(controls, row, strict=True)) for row in found.tolist()]
    return inverse.reshape(-1), [key[0] if len(key) == 1 else key for key in keys]


def usable(pairs: statistics.Pairs, controls: str, of: str) -> list[int]:
    """Return the features that have at least one usable stratum."""
    kept = pairs.left_out == statistics.KEPT
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
            f"no stratum of {controls} has {statistics.SMALLEST_STRATUM} or more people among whom both the sensitive "
            "feature and the outcome vary: use fewer strata"
        )
    if n < statistics.SMALLEST_STRATUM:
        raise ValueError(f"{n} people are too few: a correlation needs at least {statistics.SMALLEST_STRATUM}")
    raise ParameterError(f"of={of} is {pairs.e[0]:g} for all {n:,} people: a constant has no correlation")


#: Columns of frames, and what they are called in a test of groups.
COLUMNS = {
    "feature": "metric", "correlation": "disparity", "ci_low": "ci_low", "ci_high": "ci_high", "stratum": "stratum",
    "n": "n_group",
    **{name: name for name in ("standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern")},
}  # fmt: skip
EXCLUDED_COLUMNS = {"feature": "metric", "stratum": "stratum", "reason": "reason", "n": "n"}
REASONS = {
    statistics.TOO_FEW: f"fewer than {statistics.SMALLEST_STRATUM} people",
    statistics.X_CONSTANT: "the feature is the same for everybody",
    statistics.E_CONSTANT: "the outcome is the same for everybody",
}


@dataclass(frozen=True)
class CorrelationNull(NullDistribution):
    """The distribution of a correlation when the outcome is permuted.

    `variance` holds the coefficients of the correlation's variance as a function of the true correlation (see
    `Estimates`), `expected_skewness` that of the error of values as skewed as these.
    """

    correlation: float
    variance: Floats
    expected_skewness: float
    has_drawn_limits: ClassVar[bool] = True

    def may_lack_extremes(self, one: Comparison, alpha: float) -> bool:
        """Whether it is significant in the direction from which missed extreme values would bring it."""
        way = -np.sign(one.statistic)
        return bool(one.log_p <= np.log(alpha) and way * self.expected_skewness > LOPSIDED)

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the test with the variance at each correlation."""
        return statistics.correlation_limits(self.correlation, self.variance, *critical)


def measure_correlations(
    pairs: statistics.Pairs,
    features: list[str],
    strata: list[Any],
    correlation: str,
    settings: Settings,
    seed: np.random.SeedSequence,
    what: str,
) -> list[Comparison]:
    """Test every feature: over all strata, then within each of them; `what` is used in messages."""
    question, side = settings.question, settings.question.alternative
    found = statistics.estimate(pairs, correlation)
    places = np.argwhere(~np.isnan(found.statistic)).tolist()

    def done(parts: list[Floats]) -> bool:
        drawn = np.concatenate(parts)
        return all(sequential_p(drawn[:, i, j], float(found.statistic[i, j]), side) is not None for i, j in places)

    draw = partial(statistics.permuted, pairs, correlation)
    drawn = np.concatenate(resample(draw, settings, seed, what=what, done=done))
    comparisons = []
    for place, feature in product(range(drawn.shape[2]), range(len(features))):
        kept = np.flatnonzero(pairs.left_out[feature] == statistics.KEPT)
        kept = kept[kept == place - 1] if place else kept
        if not len(kept):
            continue
        n, at = int(pairs.sizes[kept].sum()), (feature, place)
        value, error, statistic = (float(a[at]) for a in (found.correlation, found.standard_error, found.statistic))
        stratum, contrast = (
            (strata[place - 1], Contrast(0, None, stratum=place - 1)) if place else (None, Contrast(0, None))
        )
        freedom = n - 1 - len(kept)
        one = Comparison(
            features[feature], None, None, stratum, contrast, n, n, np.nan, np.nan, value,
            CorrelationNull(question, value, found.variance[at], float(found.skewness[at]), freedom=freedom),
            (-1.0, 1.0), method="permutation", statistic=statistic, standard_error=error,
        )  # fmt: skip
        comparisons.append(with_draws(one, drawn[:, feature, place], settings, freedom))
    return comparisons


def doubts(comparisons: list[Comparison], settings: Settings) -> list[str]:
    """Say which correlations may be significant only because extreme people are missing."""
    found = [
        one.metric for one in comparisons if cast(CorrelationNull, one.null).may_lack_extremes(one, settings.alpha)
    ]
    more = f" (and {pluralize(len(found) - 1, 'other correlation')})" if len(found) > 1 else ""
    return [
        f"{name} {MISSED}{more}: p-values and intervals may be too small; correlation='spearman' has no extreme values"
        for name in found[:1]
    ]


def measured_correlations(
    comparisons: list[Comparison], pairs: statistics.Pairs, features: list[str], strata: list[Any], settings: Settings
) -> Result:
    """Combine the comparisons with the strata that were left out, and with permutations that left one undefined."""
    excluded = [
        Exclusion(
            features[i], None, None, strata[j], REASONS[int(pairs.left_out[i, j])], n := int(pairs.sizes[j]), n, 0
        )
        for i, j in np.argwhere(pairs.left_out != statistics.KEPT).tolist()
    ]
    excluded += [exclusion for comparison in comparisons for exclusion in undefined_draws(comparison)]
    return Result(settings, tuple(comparisons), tuple(excluded))
