"""The null distribution of a correlation, and the comparisons of a test: each feature, over all strata and in each."""

from dataclasses import dataclass
from itertools import product, repeat
from typing import ClassVar, cast

import numpy as np

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
from skfairtest.correlation.statistics import KEPT, SMALLEST_STRATUM, Pairs
from skfairtest.inference.rate_draws import Contrast
from skfairtest.readers import Column

#: More single strata than this, over all features, are refused.
MOST_STRATA = 1000
#: Columns of frames, and what they are called in a test of groups.
COLUMNS = {
    "feature": "metric", "correlation": "disparity", "ci_low": "ci_low", "ci_high": "ci_high", "stratum": "stratum",
    "n": "n_group",
    **{name: name for name in ("standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern")},
}  # fmt: skip
EXCLUDED_COLUMNS = {"feature": "metric", "stratum": "stratum", "reason": "reason", "n": "n"}
REASONS = {
    statistics.TOO_FEW: f"fewer than {SMALLEST_STRATUM} people",
    statistics.X_CONSTANT: "the feature is the same for every person",
    statistics.E_CONSTANT: "the outcome is the same for every person",
}


def feature_values(column: Column) -> Floats:
    """Return a sensitive feature as numbers; raise an error if it is not numeric, is categorical or constant."""
    where = f"sensitive_features (column {column.name!r})"
    values = numbers(column, where, "use FairnessTest for groups; dates can become numbers, such as years")
    if len(column.levels) == 1:
        everyone = f"all people (n_samples={len(column)})"
        raise ParameterError(f"{where} is {column.levels[0]!r} for {everyone}: nothing can be correlated with it")
    if column.categorical:
        raise ParameterError(f"{where} is categorical: use FairnessTest for groups")
    return values


def check_pairs(pairs: Pairs, controls: str, of: str) -> None:
    """Check that a feature has a usable stratum, and that there are not too many."""
    kept = int((pairs.left_out == KEPT).sum())
    if pairs.stratified and kept > MOST_STRATA:
        raise ParameterError(
            f"control_features ({controls}) makes {kept:,} comparisons within strata, more than {MOST_STRATA:,}: use "
            "fewer values, for instance with pandas.cut"
        )
    if kept:
        return
    n = len(pairs.e)
    if pairs.stratified:
        raise ValueError(
            f"no stratum of {controls} has {SMALLEST_STRATUM} or more people among whom both the sensitive feature and "
            "the outcome vary: use fewer strata"
        )
    if n < SMALLEST_STRATUM:
        raise ValueError(f"{n} people are too few: a correlation needs at least {SMALLEST_STRATUM}")
    raise ParameterError(f"of={of} is {pairs.e[0]:g} for all {n:,} people: a constant has no correlation")


@dataclass(frozen=True)
class CorrelationNull(NullDistribution):
    """The distribution of a correlation when the outcome is permuted; `variance` is as in `Estimates`."""

    correlation: float
    variance: Floats
    expected_skewness: float
    has_drawn_limits: ClassVar[bool] = True

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the test with the variance at each correlation."""
        return statistics.correlation_limits(self.correlation, self.variance, *critical)


def measure_correlations(
    pairs: Pairs,
    features: list[str],
    strata: list[object],
    correlation: str,
    settings: Settings,
    seed: np.random.SeedSequence,
    what: str,
) -> Result:
    """Test every feature: over all strata, then within each of them; `what` is used in messages."""
    question, found = settings.question, statistics.estimate(pairs, correlation)
    rows, places, freedoms = list[Comparison](), list[tuple[int, int]](), list[int]()
    for place, feature in product(range(found.statistic.shape[1]), range(len(features))):
        kept = np.flatnonzero(pairs.left_out[feature] == KEPT)
        kept = kept[kept == place - 1] if place else kept
        if not len(kept):
            continue
        n, at = int(pairs.sizes[kept].sum()), (feature, place)
        value, error, statistic = (float(a[at]) for a in (found.correlation, found.standard_error, found.statistic))
        stratum, contrast = (
            (strata[place - 1], Contrast(0, None, stratum=place - 1)) if place else (None, Contrast(0, None))
        )
        places.append(at)
        freedoms.append(n - 1 - len(kept))
        rows.append(Comparison(
            features[feature], None, None, stratum, contrast, n, n, np.nan, np.nan, value,
            CorrelationNull(question, value, found.variance[at], float(found.skewness[at]), freedom=freedoms[-1]),
            (-1.0, 1.0), method="permutation", statistic=statistic, standard_error=error,
        ))  # fmt: skip

    def draw(size: int, own: np.random.SeedSequence) -> Floats:
        of, where = np.transpose(places)
        return statistics.permuted(pairs, correlation, size, own)[:, of, where]

    drawn = np.concatenate(resample(draw, settings, seed, what=what, rows=rows))
    comparisons = [with_draws(row, *known) for row, *known in zip(rows, drawn.T, repeat(settings), freedoms)]
    excluded = [
        Exclusion(
            features[i], None, None, strata[j], REASONS[int(pairs.left_out[i, j])], n := int(pairs.sizes[j]), n, 0
        )
        for i, j in np.argwhere(pairs.left_out != KEPT).tolist()
    ]
    excluded += [exclusion for comparison in comparisons for exclusion in undefined_draws(comparison)]
    return Result(settings, tuple(comparisons), tuple(excluded))


def doubt(result: Result) -> str:
    """Say which correlations may be significant only because extreme people are missing; nothing if none may.

    These are significant in the direction from which missed extreme values would bring them.
    """
    found = [
        row.metric
        for row in result.tested
        if row.log_p <= np.log(result.settings.alpha)
        and -np.sign(row.statistic) * cast(CorrelationNull, row.null).expected_skewness > LOPSIDED
    ]
    if not found:
        return ""
    more = f" (and {pluralize(len(found) - 1, 'other correlation')})" if len(found) > 1 else ""
    return (
        f"{found[0]} {MISSED}{more}: p-values and intervals may be too small; correlation='spearman' has no extreme "
        "values"
    )
