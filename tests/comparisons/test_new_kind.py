"""A kind of test that the package does not have, in one place: everything else is there already.

The difference of two groups' log odds, by Woolf's normal test: a metric, what chance does to it, and how it is
measured. Estimators, adjustment, intervals, frames, reports, pictures, engines and audits follow.
"""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skfairtest import CountTable, DisparityDisplay, FairnessAudit, FairnessTest, NullDistributionDisplay
from skfairtest.comparisons.core import GroupValues, NullDistribution
from skfairtest.comparisons.frames import COMPARISON_COLUMNS
from skfairtest.comparisons.measure import measure_metric
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import pairs_of
from skfairtest.metrics import BuiltIn

# The kind: what is measured, and what chance does to it ---------------------------------------------------------------


@dataclass(frozen=True)
class LogOdds(BuiltIn):
    """The logarithm of the odds of being selected, with half a person added to both outcomes."""


#: Its measure, below, needs no function of counts.
LOG_ODDS = LogOdds("log_odds", lambda context: None, columns=("y_pred",), positive="always")


def log_odds(events, people):
    """Return log odds, and their standard error."""
    x, rest = events + 0.5, people - events + 0.5
    return np.log(x / rest), np.sqrt(1 / x + 1 / rest)


@measure_metric.register(LogOdds)
def _(metric, design, kinds, known, seed):
    selected = kinds.values["y_pred"].is_label(design.pos_label)
    events, people = kinds.counts @ selected, kinds.counts.sum(axis=2)
    pairs = pairs_of(events, people, [contrast for contrast, _ in design.contrasts])
    sides = *log_odds(pairs.x1[:, 0], pairs.d1[:, 0]), *log_odds(pairs.x2[:, 0], pairs.d2[:, 0])
    question, made = design.question(metric), []
    for (contrast, other), one, first, two, second in zip(design.contrasts, *sides, strict=True):
        difference, spread = float(one - two), float(np.hypot(first, second))
        null, z = NullDistribution(question, estimate=difference, standard_error=spread), difference / spread
        test = {"log_p": normal_log_p(z, question.alternative), "method": "asymptotic", "statistic": z}
        made.append(
            design.comparison(metric.name, contrast, other, (one, two), difference, null, standard_error=spread, **test)
        )
    value, error = log_odds(events, people)
    half = norm.isf(design.settings.alpha / 2) * error
    return made, (), GroupValues(people, value, error, value - half, value + half, "delta")


# What it has --------------------------------------------------------------------------------------------------------

COUNTS = {"a": (40, 120), "b": (25, 130), "c": (70, 140)}


@pytest.fixture(scope="module")
def people():
    rows = [(group, int(i < events)) for group, (events, n) in COUNTS.items() for i in range(n)]
    return pd.DataFrame(rows, columns=["group", "hired"])


ASKED = {"metric": LOG_ODDS, "adjust": "holm"}


@pytest.fixture(scope="module")
def test(people):
    return FairnessTest.from_predictions(None, people["hired"], sensitive_features=people[["group"]], **ASKED)


def woolf(one, two):
    cells = np.array([n for x, people in (COUNTS[one], COUNTS[two]) for n in (x, people - x)]) + 0.5
    return np.log(cells[0] * cells[3] / cells[1] / cells[2]), np.sqrt((1 / cells).sum())


def test_it_is_tested_adjusted_and_has_intervals_that_agree(test):
    frame = test.comparisons_
    assert list(frame) == COMPARISON_COLUMNS
    expected = np.array([woolf(row["group"], row["other"]) for _, row in frame.iterrows()])
    assert frame[["disparity", "standard_error"]].to_numpy() == pytest.approx(expected)
    p = 2 * norm.sf(np.abs(expected[:, 0] / expected[:, 1]))
    assert frame["p_value"].to_numpy() == pytest.approx(p)
    order = np.argsort(p)
    adjusted = np.minimum(1, np.maximum.accumulate(p[order] * [3, 2, 1]))
    assert frame["p_value_adjusted"].to_numpy()[order] == pytest.approx(adjusted)
    assert test.p_value_ == pytest.approx(adjusted.min())
    inside = (frame["ci_low"] <= 0) & (frame["ci_high"] >= 0)
    assert (inside == ~frame["concern"]).all()
    half = norm.isf(0.025 / 3) * expected[order[0], 1]
    assert test.confidence_interval_ == pytest.approx((test.disparity_ - half, test.disparity_ + half))


def test_it_has_values_of_groups_as_metric_frame_has(test):
    assert test.by_group_["value"].to_dict() == pytest.approx({g: log_odds(x, n)[0] for g, (x, n) in COUNTS.items()})


def test_it_is_printed_written_and_drawn(test):
    assert "log_odds" in str(test)
    assert "log_odds" in test._repr_html_()
    assert json.loads(test.to_json())["facts"]["p_value_"] == test.p_value_
    drawn = DisparityDisplay.from_test(test)
    assert len(drawn.labels) == 3
    assert NullDistributionDisplay.from_test(test).ax_.get_title()


def test_it_is_counted_by_engines(test, people):
    columns = {"y_pred": "hired", "sensitive_features": "group"}
    table = FairnessTest.from_table(CountTable.from_frame(people, **columns), **ASKED)
    assert FairnessTest.from_frame(people, **columns, **ASKED).p_value_ == table.p_value_ == test.p_value_


def test_it_is_audited_beside_others(people):
    audit = FairnessAudit.from_predictions(
        None, people["hired"], sensitive_features=people[["group"]], metrics=["selection_rate", LOG_ODDS]
    )
    results = audit.comparisons_.set_index("metric").loc["log_odds"]
    errors = results["standard_error"]
    # With six comparisons, and a power of 80%.
    assert results["minimum_detectable"].to_numpy() == pytest.approx(
        (norm.isf(0.05 / 12) + norm.isf(0.2)) * errors, rel=1e-3
    )
    assert "log_odds" in audit.to_html()
