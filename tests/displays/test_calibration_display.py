"""Calibration curves by group: bins that divide no score, and bands that hold together."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.proportion import proportion_confint

from skfairtest import CalibrationDisplay


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    score, group = rng.random(n), rng.choice(["a", "b", "c"], n)
    return (rng.random(n) < score).astype(int), score, group


def test_bins_are_shares_with_clopper_and_pearsons_limits():
    y_true, score, group = people()
    bins = CalibrationDisplay.from_predictions(y_true, score, sensitive_features=group, n_bins=4).bins
    assert bins.groupby("group")["n"].sum().to_dict() == {g: (group == g).sum() for g in "abc"}
    events = (bins["n"] * bins["share"]).round()
    low, high = proportion_confint(events, bins["n"], alpha=0.05 / 12, method="beta")
    np.testing.assert_allclose(bins[["ci_low", "ci_high"]], np.stack([low, high], axis=1), atol=1e-9)
    first = np.sort(score[group == "a"])[: bins["n"][0]]
    assert bins["score"][0] == pytest.approx(first.mean())


@pytest.mark.slow
def test_all_bands_hold_together_at_least_as_often_as_they_say():
    held, (_, ax) = 0, plt.subplots()
    for seed in range(100):
        y_true, score, group = people(200, seed)
        bins = CalibrationDisplay.from_predictions(
            y_true, score, sensitive_features=group, n_bins=5, confidence_level=0.8, ax=ax
        ).bins
        ax.clear()
        held += bool(((bins["ci_low"] <= bins["score"]) & (bins["score"] <= bins["ci_high"])).all())
    assert held / 100 >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / 100)


def test_people_of_one_score_are_in_one_bin():
    y_true, score, group = people()
    bins = CalibrationDisplay.from_predictions(y_true, score.round(1), sensitive_features=group).bins
    assert bins["score"].round(6).isin(np.arange(11) / 10).sum() > 20
    assert (bins.groupby("group")["score"].diff().dropna() > 0).all()


def test_a_model_is_asked_and_every_group_is_drawn():
    y_true, score, group = people()
    model = LogisticRegression().fit(score[:, None], y_true)
    display = CalibrationDisplay.from_estimator(model, score[:, None], y_true, sensitive_features=group)
    again = CalibrationDisplay.from_predictions(
        y_true, model.predict_proba(score[:, None])[:, 1], sensitive_features=group, ax=display.ax_
    )
    assert again.ax_ is display.ax_
    assert again.bins.equals(display.bins)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:4] == ["calibrated", "a", "b", "c"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_bins": 0}, "n_bins must be an integer of at least 1"),
        ({"confidence_level": 2}, "confidence_level"),
        ({"sensitive_features": None}, "sensitive_features is missing"),
        ({"y_score": np.linspace(0, 3, 600)}, "y_score must hold probabilities"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, says):
    y_true, score, group = people()
    usual = {"y_true": y_true, "y_score": score, "sensitive_features": group}
    with pytest.raises(ValueError, match=says):
        CalibrationDisplay.from_predictions(**(usual | arguments))
