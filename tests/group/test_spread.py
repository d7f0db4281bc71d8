"""How much of a gap over many groups is noise: what a person calls and reads."""

import re

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit, Rate, between_group_spread
from skfairtest.datasets import load_compas

SIZES = np.array([40, 60, 30, 80, 50, 5])
GROUP = np.repeat(list("abcdef"), SIZES)
RNG = np.random.default_rng(0)
TRUE, PREDICTED = RNG.integers(0, 2, len(GROUP)), RNG.integers(0, 2, len(GROUP))
SETTINGS = {"n_resamples": 199, "random_state": 0}


def test_small_groups_are_listed_and_not_counted():
    found = between_group_spread(None, PREDICTED, sensitive_features=GROUP, **SETTINGS)
    rates = pd.Series(PREDICTED[GROUP != "f"]).groupby(GROUP[GROUP != "f"]).mean()
    assert found.by_group["counted"].tolist() == [True] * 5 + [False]
    assert found.observed == pytest.approx(rates.std(ddof=1))
    assert found.observed_range == pytest.approx(np.ptp(rates))
    variance = rates.var(ddof=1) - np.mean(rates * (1 - rates) / (SIZES[:5] - 1))
    assert found.standard_deviation == pytest.approx(np.sqrt(max(variance, 0)))
    assert "Not counted, with fewer than 10 people: f." in str(found)


def test_complementary_rates_lie_equally_far_apart():
    hit, miss = (
        between_group_spread(TRUE, PREDICTED, sensitive_features=GROUP, metric=metric, **SETTINGS)
        for metric in ("true_positive_rate", Rate("miss", "~y_pred", "y_true"))
    )
    assert hit.standard_deviation == pytest.approx(miss.standard_deviation)
    assert hit.observed_range == pytest.approx(miss.observed_range)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": "equalized_odds"}, "must be one rate, .*true_positive_rate, false_positive_rate: name a rate"),
        ({"metric": "f1"}, "metric must be one rate, whose sampling noise is known; found f1"),
        ({"metric": "roc_auc"}, "metric must be one rate"),
        ({"weighting": "person"}, "weighting must be .*'groups'.*'people'"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"n_resamples": "adaptive"}, "n_resamples must be an integer of at least 1; found 'adaptive'"),
        ({"confidence_level": 95}, "confidence_level"),
        # Two groups, one of five or six people.
        *(({"sensitive_features": few}, "two groups with 10 people or more in the denominator of the rate; found 1")
          for few in (GROUP == "f", np.arange(len(GROUP)) < 6)),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said(changes, said):
    given = {"y_true": TRUE, "y_pred": PREDICTED, "sensitive_features": GROUP, **SETTINGS} | changes
    with pytest.raises(ValueError, match=said):
        between_group_spread(**given)


def test_intervals_and_warnings_about_them_come_through():
    number = RNG.normal(size=len(GROUP))
    ends = np.column_stack([number - RNG.random(len(GROUP)) + 0.3, number + 1])
    ends[:3] = [1.0, -1.0]
    with pytest.warns(UserWarning, match=f"in 3 of {len(GROUP)} intervals"):
        found = between_group_spread(number, ends, sensitive_features=GROUP, metric="coverage", **SETTINGS)
    inside = (ends[:, 0] <= number) & (number <= ends[:, 1])
    by_hand = between_group_spread(None, inside, sensitive_features=GROUP, **SETTINGS)
    assert found.by_group.equals(by_hand.by_group)
    assert (found.ci_low, found.ci_high, found.p_value) == (by_hand.ci_low, by_hand.ci_high, by_hand.p_value)


def test_audits_of_five_groups_or_more_have_it_once_for_each_rate():
    compas = load_compas()
    given = {"sensitive_features": compas.sensitive_features["race"], "random_state": 0}
    audit = FairnessAudit.from_predictions(
        compas.y_true, compas.y_pred, metrics=["true_positive_rate", "false_negative_rate"], **given
    )
    (section,) = audit.record_.beside
    (line,) = map(str, section.findings)
    alone = between_group_spread(compas.y_true, compas.y_pred, metric="true_positive_rate", **given)
    assert f"deviation {100 * alone.standard_deviation:.1f} points" in line
    text = str(audit)
    assert "How much of the gaps is noise?" in text
    assert line in re.sub(r"\s+", " ", text)
    assert "Lum, Y. Zhang" in audit.to_text(details=True)
    assert str(FairnessAudit.from_json(audit.to_json())) == text


@pytest.mark.parametrize("more", [{"sample_weight": np.ones(len(GROUP)) + (TRUE > 0)}, {"control_features": TRUE}])
def test_audits_of_weighted_people_or_strata_have_none(more):
    large = GROUP != "f"
    audit = FairnessAudit.from_predictions(
        None, PREDICTED[large], sensitive_features=GROUP[large], metrics="selection_rate", random_state=0,
        n_resamples=99, **{name: values[large] for name, values in more.items()},
    )  # fmt: skip
    assert "How much of the gaps is noise?" not in [section.title for section in audit.record_.beside]
