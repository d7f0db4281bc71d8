"""From a question and people to a result: what all tests of groups, frames and scorers run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import check_seed
from skfairtest.comparisons.core import Finding, Measured, Result
from skfairtest.comparisons.family import decide, p_of
from skfairtest.comparisons.frames import warn_about_people, warn_about_resamples, written_labels
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.comparisons.unknown import with_unknown
from skfairtest.inference.multiplicity import Extreme, extreme_disparity
from skfairtest.metrics import Metric, Rate, disparity_of, resolve_metrics
from skfairtest.tables import Sample


class Compared:
    """What tests of comparisons have in common once they are fitted."""

    comparisons_: Any

    def to_frame(self) -> pd.DataFrame:
        """Return the comparisons as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `comparisons_` in which the labels of several features are joined into one text ("Asian, Female"),
            so that it can be written to any file.
        """
        check_is_fitted(self)
        return written_labels(self.comparisons_)

    def _set_verdict(self, result: Result) -> None:
        """Set what was found, and the comparison that it rests on."""
        verdict, leading = result.verdict, result.leading
        self.p_value_, self.p_value_interval_ = p_of(verdict.log_p), verdict.limits
        self.rejected_, self.concern_ = verdict.rejected, verdict.concern
        self.statistic_, self.disparity_ = float(leading.evidence.statistic), float(leading.estimate.disparity)
        self.confidence_interval_, self._leading = leading.interval, verdict.leading[1]
        self.adjust_, self.n_resamples_ = verdict.adjust, verdict.n_resamples


def settings_of(metrics: Sequence[Metric] | None, params: Mapping[str, Any]) -> Settings:
    """Check how metrics are compared; those that are not known yet (None) may have any unit.

    Raises
    ------
    ValueError
        If a parameter is not usable, or a margin is of another disparity than a metric is always compared by.
    """
    unit = metrics is not None and all(
        isinstance(metric, Rate) or getattr(metric, "bounds", None) == (0.0, 1.0) for metric in metrics
    )
    disparity = disparity_of(metrics or (), params.get("disparity", "difference"), params.get("margin"))
    return check_settings(**{**params, "disparity": disparity}, unit=unit)


def check_question(metric: Any, params: Mapping[str, Any]) -> tuple[Settings, list[Metric]]:
    """Check what is tested and how, which needs no data."""
    check_seed(params.get("random_state"))
    metrics = resolve_metrics(metric, params.get("disparity", "difference"))
    return settings_of(metrics, params), metrics


def compare(
    sample: Sample,
    metrics: Sequence[Metric],
    settings: Settings,
    *,
    pos_label: Any = None,
    classes: tuple[Any, ...] | None = None,
    random_state: Any = None,
) -> Result:
    """Make and judge the comparisons of one grouping of people."""
    (result,) = judge([with_unknown(measure(sample, metrics, settings, pos_label, classes, random_state))], settings)
    return result


def judge(measured: Sequence[Measured], settings: Settings, *, together: bool = False) -> list[Result]:
    """Decide what `decide` decides, and warn of what makes it doubtful: every test comes to its verdict here."""
    results = decide(measured, settings, together=together)
    for part in measured:
        warn_about_people(part)
    warn_about_resamples(results, settings)
    return results


def extreme_of(findings: Sequence[Finding], disparity: str) -> Extreme:
    """Return the largest disparity among findings, with its limits."""
    low, high = np.reshape([finding.interval for finding in findings], (-1, 2)).T
    return extreme_disparity([finding.estimate.disparity for finding in findings], low, high, disparity)
