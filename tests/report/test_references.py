"""Which methods a report cites."""

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.report.references import METHODS, methods_used


def audited(*, numbers=False, **params):
    random = np.random.default_rng(0)
    y = random.normal(size=(2, 600)) if numbers else random.integers(0, 2, (2, 80))
    group = np.repeat(["a", "b"], y.shape[1] // 2)
    given = {"metrics": "selection_rate", "random_state": 0} | params
    return FairnessAudit.from_predictions(*y, sensitive_features=group, **given).record_


@pytest.mark.parametrize(
    ("params", "cited"),
    [
        ({}, ["exact unconditional", "interval", "rate", "holm", "detectable"]),
        ({"margin": 0.1}, ["exact margin", "interval", "rate", "holm", "detectable"]),
        ({"method": "asymptotic", "adjust": None}, ["asymptotic", "interval", "rate", "detectable"]),
        ({"metrics": "f1"}, ["exact unconditional", "interval of a function", "rate", "holm", "detectable"]),
        ({"adjust": "fdr_by"}, ["exact unconditional", "interval", "rate", "fdr_by", "detectable"]),
        (
            {"control_features": ["x", "y"] * 40},
            [
                "exact unconditional", "exact conditional", "strata", "interval",
                "interval of a stratified difference", "rate", "holm", "detectable",
            ],
        ),
        ({"numbers": True, "metrics": "mean_squared_error", "n_resamples": 99}, ["permutation", "holm", "detectable"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:n_resamples=99")  # that few suffice to say what was drawn
def test_what_was_used_is_cited_and_nothing_else(params, cited):
    assert [method.when for method in methods_used(audited(**params))] == cited


def test_every_method_says_who_described_it():
    assert len({method.when for method in METHODS}) == len(METHODS)
    for method in METHODS:
        assert method.says.endswith(".") or method.says.endswith(").")
        assert any(f"({year})" in method.citation for year in range(1900, 2026))
