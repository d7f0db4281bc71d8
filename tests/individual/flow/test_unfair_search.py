"""Unfair examples of models without derivatives: wide differences, and the worst point on the way."""

import numpy as np
import pytest

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual.unfair import SEARCHING

FIRST = Projection([[1.0, 0.0]])


class Steps:
    """The probability of label 1 is constant between edges of the first feature."""

    classes_ = (0, 1)

    def __init__(self, edges, shares):
        self.edges, self.shares, self.n_rows = np.array(edges), np.array(shares), 0

    def predict_proba(self, X):
        self.n_rows += len(X)
        p = self.shares[np.searchsorted(self.edges, np.asarray(X)[:, 0])]
        return np.column_stack([1 - p, p])


def moved(model, start, **params):
    """How far the first feature of some people of label 1 goes; they stand beside one another."""
    X = np.column_stack([np.broadcast_to(start, 40), np.linspace(-1, 1, 40)])
    params = {"fair_metric": FIRST, "feature_ranges": "free", "feature_scale": None, "gradient": "search"} | params
    test = IndividualFairnessTest(model, **params).fit(X, np.ones(40, dtype=int))
    np.testing.assert_array_equal(test.unfair_examples_[:, 1], X[:, 1])
    return test, test.unfair_examples_[:, 0] - X[:, 0]


@pytest.mark.parametrize("edge", [0.2, 0.4, 0.9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_an_edge_within_a_unit_is_passed(edge, sign):
    worse = [0.8, 0.3] if sign > 0 else [0.3, 0.8]
    test, change = moved(Steps([sign * edge], worse), 0.0)
    assert (sign * change > edge).all()
    np.testing.assert_allclose(test.loss_ratios_, np.log(0.3) / np.log(0.8))


@pytest.mark.filterwarnings("ignore:nobody's loss changed:UserWarning")
def test_an_edge_beyond_a_unit_is_not_seen_and_who_has_nothing_worse_stays():
    for model in (Steps([1.5], [0.8, 0.3]), Steps([0.5], [0.3, 0.3]), Steps([-0.5, 0.5], [0.9, 0.3, 0.9])):
        assert not moved(model, 0.0)[1].any()


def test_the_worst_on_the_way_is_kept_and_the_nearest_of_what_is_as_bad():
    """Behind a narrow step that is worst the slopes go on upward, to what is less bad."""
    model = Steps([0.2, 0.6, 1.0], [0.8, 0.6, 0.2, 0.3])
    test, change = moved(model, 0.0)
    path = test.path_["statistic"]
    assert path.is_monotonic_increasing
    assert (change > 0.2).all()
    stopped = moved(model, 0.0, steps=(1, 5.0))[0]
    assert test.statistic_ <= np.log(0.2) / np.log(0.8) + 1e-9
    assert stopped.solver_report_["n_steps"] == SEARCHING


@pytest.mark.filterwarnings("ignore:nobody's loss changed:UserWarning")
def test_distance_has_its_price():
    """Where nothing is free, people go as far as a loss of 1 pays for."""
    model = Steps([0.05], [0.8, 0.05])
    near, far = (moved(model, 0.0, fair_metric=np.eye(2), regularization=weight)[1] for weight in (50.0, 5000.0))
    assert (near > 0.05).all()
    assert not far.any()


def test_nobodys_example_depends_on_who_else_is_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    model = Steps([-0.7, -0.1, 0.4, 1.1], [0.2, 0.7, 0.4, 0.8, 0.3])
    params = {"fair_metric": FIRST, "feature_ranges": "free", "feature_scale": None, "gradient": "search"}
    together = IndividualFairnessTest(model, **params).fit(X, y).unfair_examples_
    for some in (np.arange(30), np.arange(30, 60), rng.permutation(60)):
        alone = IndividualFairnessTest(model, **params).fit(X[some], y[some]).unfair_examples_
        np.testing.assert_array_equal(alone, together[some])


def test_what_differs_by_rounding_only_is_not_worse():
    class Rounded(Steps):
        def predict_proba(self, X):
            return super().predict_proba(X) * (1 + 1e-14 * np.sin(1e6 * np.asarray(X)[:, :1]))

    with pytest.warns(UserWarning, match="nobody's loss changed"):
        test, change = moved(Rounded([9.0], [0.8, 0.3]), 0.0, statistic="ratio_of_means", loss=lambda y, p: 1 - p[:, 1])
    assert test.statistic_ == pytest.approx(1.0)
    assert not change.any()
