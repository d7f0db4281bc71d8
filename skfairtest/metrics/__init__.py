"""Metrics: rates, criteria, metrics of scores and numbers, and users' functions."""

from skfairtest.metrics.errors import Bootstrap, ByCell, Jackknife, Robust
from skfairtest.metrics.functionals import Evaluated, Functional, Mean, Share
from skfairtest.metrics.omnibus import CALIBRATION, Calibration, Distribution, Independence, Omnibus, independence
from skfairtest.metrics.rates import CELLS, CRITERIA, RATES, Rate, asks_coverage
from skfairtest.metrics.resolve import (
    Metric,
    disparity_of,
    of_numbers,
    of_scores,
    resolve_metrics,
    standard_metrics,
    summarized_compare,
)
from skfairtest.metrics.score_metric import Context, MetricError, ScoreMetric, shared_codes
from skfairtest.metrics.scores import SCORES, BuiltIn, OfMean
from skfairtest.metrics.sums import MeanOf, RatioOfSums
