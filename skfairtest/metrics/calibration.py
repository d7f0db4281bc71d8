"""Metrics of calibration beyond the mean: cumulative differences between groups, or from the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skfairtest._utils.typing import Floats
from skfairtest.metrics.omnibus import Omnibus
from skfairtest.metrics.score_metric import Context
from skfairtest.metrics.scores import PROBABILITY, probabilities

BETWEEN = "the largest cumulative difference of calibration curves"
FROM_SCORES = "the largest cumulative difference of outcomes from scores"


@dataclass(frozen=True)
class Calibration(Omnibus):
    """A metric of calibration curves. It has no value for each group whose difference could be tested.

    Parameters
    ----------
    between : bool
        Whether groups are compared with each other; otherwise each is compared with its own scores.
    kuiper : bool
        Whether the largest change over any interval of scores counts; otherwise only intervals from the lowest score
        on.
    """

    responses: ClassVar[tuple[str, ...]] = (PROBABILITY,)
    extreme: str = "two-sided"
    between: bool = True
    kuiper: bool = True

    @property
    def takes_weights(self) -> bool:
        """Whether people may have weights."""
        return False

    @property
    def slow(self) -> bool:
        """Whether it is evaluated one table at a time."""
        return False

    @property
    def needs_pos_label(self) -> bool:
        """Whether it needs to know the positive label."""
        return True

    def read(self, context: Context) -> tuple[Floats, Floats]:
        """Return who is truly positive, as 0 and 1, and the probabilities."""
        return context.columns["y_true"].is_label(context.pos_label).astype(float), probabilities(context)


def _declared(name: str, *, between: bool, kuiper: bool) -> Calibration:
    describes = f"{BETWEEN if between else FROM_SCORES} ({'Kuiper' if kuiper else 'Kolmogorov and Smirnov'})"
    return Calibration(name, frozenset({"y_true", "y_score"}), describes=describes, between=between, kuiper=kuiper)


CALIBRATION: dict[str, Calibration] = {
    metric.name: metric
    for metric in (
        _declared("kuiper_calibration", between=True, kuiper=True),
        _declared("kolmogorov_smirnov_calibration", between=True, kuiper=False),
        _declared("calibration_within_groups", between=False, kuiper=True),
    )
}
