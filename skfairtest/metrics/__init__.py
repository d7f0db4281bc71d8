"""What is measured: rates, the criteria made of them, metrics of scores and numbers, and functions that users write."""

from skfairtest.metrics.calibration import CALIBRATION, Calibration
from skfairtest.metrics.errors import Bootstrap, ByCell, Jackknife, Robust
from skfairtest.metrics.functionals import Evaluated, Functional, Mean, Share
from skfairtest.metrics.omnibus import Omnibus
from skfairtest.metrics.rate import CELLS, Rate
from skfairtest.metrics.rates import CRITERIA, RATES
from skfairtest.metrics.resolve import Metric, disparity_of, resolve_metrics
from skfairtest.metrics.score_metric import Context, MetricError, ScoreMetric, shared_codes
from skfairtest.metrics.scores import SCORES, BuiltIn
from skfairtest.metrics.standard import standard_metrics

__all__ = [
    "CALIBRATION",
    "CELLS",
    "CRITERIA",
    "RATES",
    "SCORES",
    "Bootstrap",
    "BuiltIn",
    "ByCell",
    "Calibration",
    "Context",
    "Evaluated",
    "Functional",
    "Jackknife",
    "Mean",
    "Metric",
    "MetricError",
    "Omnibus",
    "Rate",
    "Robust",
    "ScoreMetric",
    "Share",
    "disparity_of",
    "resolve_metrics",
    "shared_codes",
    "standard_metrics",
]
