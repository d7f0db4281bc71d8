"""Which methods a report cites."""

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.report import METHODS, methods_used

TWO = ["selection_rate", "true_positive_rate"]
WEIGHT = np.arange(1, 81) / 40
LINEARIZED = ["linearized", "interval by standard errors", "detectable"]


def audited(*, numbers=False, **params):
    random = np.random.default_rng(0)
    y = random.normal(size=(2, 600)) if numbers else random.integers(0, 2, (2, 80))
    group = np.repeat(["a", "b"], y.shape[1] // 2)
    given = {"metrics": "mean_squared_error" if numbers else "selection_rate", "random_state": 0} | params
    return FairnessAudit.from_predictions(*y, sensitive_features=group, **given).record_


@pytest.mark.parametrize(
    ("params", "cited"),
    [
        # One comparison has nothing to be adjusted for.
        ({}, ["exact unconditional", "interval", "rate", "detectable"]),
        ({"metrics": TWO}, ["exact unconditional", "interval", "rate", "holm", "detectable"]),
        ({"metrics": TWO, "adjust": "fdr_bh"}, ["exact unconditional", "interval", "rate", "fdr_bh", "detectable"]),
        ({"metrics": TWO, "adjust": None}, ["exact unconditional", "interval", "rate", "detectable"]),
        ({"margin": 0.1}, ["exact margin", "interval", "rate", "detectable"]),
        ({"method": "asymptotic"}, ["score", "interval", "rate", "detectable"]),
        ({"method": "asymptotic", "margin": 0.1}, ["score", "interval", "rate", "detectable"]),
        ({"method": "permutation", "n_resamples": 99}, ["permutation", "interval", "rate", "detectable"]),
        ({"method": "bootstrap", "n_resamples": 99}, ["bootstrap", "rate", "detectable"]),
        ({"metrics": "f1"}, ["exact unconditional", "interval", "rate", "detectable"]),
        ({"metrics": "f1", "margin": 0.1}, ["score", "interval", "rate", "detectable"]),
        ({"metrics": "f1", "method": "asymptotic"}, ["score", "interval", "rate", "detectable"]),
        # Weights and clusters take counts and their distributions away.
        ({"sample_weight": WEIGHT, "n_resamples": 99}, ["permutation", *LINEARIZED]),
        ({"sample_weight": WEIGHT, "margin": 0.1}, ["normal", *LINEARIZED]),
        ({"sample_weight": WEIGHT, "metrics": "f1", "method": "asymptotic"}, ["normal", *LINEARIZED]),
        ({"clusters": np.arange(80) // 2, "n_resamples": 99}, ["permutation", *LINEARIZED]),
        ({"numbers": True, "method": "asymptotic"}, ["normal", "interval by standard errors", "detectable"]),
        ({"numbers": True, "margin": 0.1}, ["normal", "interval by standard errors", "detectable"]),
        ({"metrics": "normalized_mutual_info", "n_resamples": 99}, ["permutation of everyone"]),
        (
            {"control_features": ["x", "y"] * 40},
            [
                "exact unconditional", "exact conditional", "strata", "interval",
                "rate", "holm", "detectable",
            ],
        ),
        (
            {"control_features": ["x", "y"] * 40, "disparity": "ratio", "margin": 0.8},
            [
                "exact margin", "score", "strata", "interval", "rate",
                "holm", "detectable",
            ],
        ),
        (
            {"control_features": ["x", "y"] * 40, "metrics": "f1"},
            [
                "exact unconditional", "exact conditional", "strata", "interval",
                "rate", "holm", "detectable",
            ],
        ),
        ({"numbers": True, "n_resamples": 99}, ["permutation", "interval by standard errors", "detectable"]),
    ],
)  # fmt: skip
# So few resamples and people suffice to say what was used.
@pytest.mark.filterwarnings("ignore:n_resamples=99", "ignore:f1 of a rests on few people")
def test_what_was_used_is_cited_and_nothing_else(params, cited):
    assert methods_used(audited(**params)) == cited


@pytest.mark.filterwarnings("ignore:n_resamples=99", "ignore:roc_auc of a rests on few people")
def test_errors_of_areas_are_delongs_unless_people_have_weights():
    random = np.random.default_rng(0)
    given = {"metrics": "roc_auc", "y_score": random.random(80), "n_resamples": 99}
    assert "roc_auc" in methods_used(audited(**given))
    weighted = methods_used(audited(**given, sample_weight=WEIGHT))
    assert "roc_auc" not in weighted
    assert "linearized" in weighted


@pytest.mark.filterwarnings("ignore:mean_squared_error of . rests on few people")
def test_forty_comparisons_of_numbers_cite_nothing_of_rates():
    random = np.random.default_rng(0)
    record = FairnessAudit.from_predictions(
        *random.normal(size=(2, 1000)), sensitive_features=np.arange(1000) % 10, metrics="mean_squared_error",
        method="asymptotic",
    ).record_  # fmt: skip
    methods = methods_used(record)
    # All pairs of ten groups are tied.
    assert methods == ["normal", "interval by standard errors", "shaffer", "detectable"]
    assert not any("Miettinen" in METHODS[name] or "Wilson" in METHODS[name] for name in methods)


def test_every_method_says_who_described_it():
    for said in METHODS.values():
        assert any(f"({year})" in said for year in range(1900, 2026))
