"""What is measured: rates and the criteria made of them."""

from skfairtest.metrics.rate import Rate
from skfairtest.metrics.rates import CRITERIA, RATES, Criterion
from skfairtest.metrics.resolve import resolve_metrics

__all__ = ["CRITERIA", "RATES", "Criterion", "Rate", "resolve_metrics"]
