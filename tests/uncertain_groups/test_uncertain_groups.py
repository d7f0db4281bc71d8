"""Groups that are known by their probabilities: certain ones, three estimates, what is read and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from skfairtest import CountTable, FairnessTest, UncertainGroupsTest

N = 150
RNG = np.random.default_rng(4)
P = RNG.dirichlet([0.5, 0.4, 0.3], 40)[RNG.integers(0, 40, N)]
GROUP = (P.cumsum(axis=1) > RNG.random(N)[:, None]).argmax(axis=1)
Y = RNG.integers(0, 2, N)
PRED = (RNG.random(N) < np.array([0.2, 0.6, 0.4])[GROUP]).astype(int)
NAMES = ["a", "b", "c"]
LIKELY = dict(zip(NAMES, P.T, strict=True))
CERTAIN = dict(zip(NAMES, np.eye(3)[GROUP].T, strict=True))


def run(sensitive_features=LIKELY, **params):
    params = {"random_state": 0, "n_resamples": 199} | params
    return UncertainGroupsTest.from_predictions(Y, PRED, sensitive_features=sensitive_features, **params)


@pytest.mark.parametrize("estimate", ["weighted", "thresholded", "likelihood"])
@pytest.mark.parametrize(
    "params",
    [
        {"metric": "selection_rate"},
        {"metric": "equalized_odds", "compare": "to_rest"},
        {"metric": "f1", "disparity": "ratio"},
        {"metric": "accuracy", "alternative": "equivalence", "margin": 0.2},
        {"metric": "demographic_parity", "compare": "to_reference", "reference_group": "b", "adjust": None},
    ],
)
def test_certain_groups_have_the_p_values_of_labels_bit_for_bit(params, estimate):
    labels = {"group": np.array(NAMES)[GROUP]}
    expected = FairnessTest.from_predictions(Y, PRED, sensitive_features=labels, **params)
    for n_reference in (None, 10) if estimate == "weighted" else (None,):
        test = run(CERTAIN, estimate=estimate, n_reference=n_reference, **params)
        assert test.p_value_ == expected.p_value_
        assert test.confidence_interval_ == expected.confidence_interval_
        pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_, check_exact=True)
        pd.testing.assert_frame_equal(test.by_group_, expected.by_group_, check_exact=True)
        assert test.assumption_ == "none: groups are certain"


def test_the_weighted_rate_is_that_of_people_with_weights():
    test = run(metric="true_positive_rate")
    for name, p in LIKELY.items():
        assert test.by_group_.loc[name, "value"] == pytest.approx(np.average(PRED[Y == 1], weights=p[Y == 1]))
    assert test.by_group_["n"].tolist() == np.rint(P.sum(axis=0)).astype(int).tolist()


def test_the_thresholded_rate_is_that_of_the_most_probable_groups():
    labels = {"group": np.array(NAMES)[P.argmax(axis=1)]}
    expected = FairnessTest.from_predictions(Y, PRED, sensitive_features=labels, metric="selection_rate")
    pd.testing.assert_frame_equal(run(estimate="thresholded").comparisons_, expected.comparisons_, check_exact=True)


@pytest.mark.parametrize("estimate", ["weighted", "thresholded", "likelihood"])
def test_the_assumption_is_in_the_result_its_report_and_its_json(estimate):
    test = run(estimate=estimate)
    assert test.assumption_ in str(test)
    assert f"The {estimate} estimate assumes" in str(test)
    found = test.to_dict()
    method = "exact" if estimate == "thresholded" else "parametric bootstrap"
    assert (found["assumption"], found["method"]) == (test.assumption_, method)
    assert found["parameters"]["estimate"] == estimate
    assert test.within_ is None


def test_intervals_contain_the_estimate_and_agree_with_the_p_values():
    test = run(metric="equalized_odds", disparity="ratio", adjust="bonferroni")
    for row in test.comparisons_.to_dict("records"):
        assert row["ci_low"] <= row["disparity"] <= row["ci_high"]
        assert (row["p_value_adjusted"] <= 0.05) == (not row["ci_low"] <= 1 <= row["ci_high"])


def test_columns_without_names_are_numbered():
    assert run(P).groups_ == ["group_0", "group_1", "group_2"]


def test_a_model_is_asked_for_its_predictions():
    X = np.stack([Y + RNG.normal(size=N), RNG.normal(size=N)], axis=1)
    model = LogisticRegression().fit(X, Y)
    test = UncertainGroupsTest(model, metric="accuracy", random_state=0, n_resamples=99)
    fitted = clone(test).fit(X, Y, sensitive_features=LIKELY)
    expected = UncertainGroupsTest.from_predictions(
        Y, model.predict(X), sensitive_features=LIKELY, metric="accuracy", random_state=0, n_resamples=99
    )
    assert fitted.p_value_ == expected.p_value_


def test_rounded_probabilities_are_divided_by_their_sum():
    rounded = {name: p.round(3) for name, p in LIKELY.items()}
    assert run(rounded).disparity_ == pytest.approx(run().disparity_, abs=0.005)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"sensitive_features": np.array(NAMES)[GROUP]},
            "must have a column of probabilities for each group.*FairnessTest",
        ),
        ({"sensitive_features": {"a": P[:, 0]}}, "two or more groups"),
        (
            {"sensitive_features": {"a": P[:, 0], "b": P[:, 1]}},
            r"probabilities of \d+ of 150 people do not add up to 1",
        ),
        ({"sensitive_features": {"a": P[:, 0] - 1, "b": 2 - P[:, 0]}}, "'a'.*between 0 and 1"),
        ({"sensitive_features": {"a": np.where(Y, np.nan, P[:, 0]), "b": P[:, 1]}}, "missing values.*shares of groups"),
        ({"estimate": "birdie"}, "estimate must be one of"),
        ({"n_reference": 9, "estimate": "thresholded"}, "takes the largest for certain"),
        ({"n_reference": 9, "estimate": "likelihood"}, "biased towards equality by errors of probabilities"),
        ({"n_reference": 0}, "n_reference must be a number above 0, or None"),
        ({"metric": "mean_squared_error"}, "'mean_squared_error' is not a rate"),
        ({"compare": "to_highest"}, "compare must be one of"),
        ({"disparity": "odds_ratio"}, "disparity must be one of"),
        ({"n_resamples": "adaptive"}, "n_resamples must be an integer"),
        ({"control_features": Y}, "control_features was given"),
        ({"sample_weight": np.ones(N)}, "sample_weight was given"),
    ],
)
def test_what_has_no_answer_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        run(**changed)


def test_tables_have_no_probabilities():
    table = CountTable.from_predictions(Y, PRED, sensitive_features=GROUP)
    with pytest.raises(ValueError, match="table holds people whose groups are known"):
        UncertainGroupsTest.from_table(table)
    with pytest.raises(ValueError, match="table holds people whose groups are known"):
        UncertainGroupsTest.from_frame(pd.DataFrame(LIKELY), sensitive_features="a")


def test_a_group_that_nobody_is_likely_to_be_in_is_left_out():
    rare = {"a": P[:, 0] + P[:, 1] + P[:, 2] - 0.001, "b": np.full(N, 0.001)}
    with pytest.raises(ValueError, match="at least two groups of 2 or more people"):
        run(rare)


def nearly_certain(events, people, doubt):
    """Two groups with so many events of so many people, whose probabilities fall short of certainty by a doubt."""
    y = np.concatenate([np.repeat([1, 0], [x, n - x]) for x, n in zip(events, people, strict=True)])
    first = np.repeat([1 - doubt, doubt], people)
    return y, {"a": first, "b": 1 - first}


@pytest.mark.parametrize("estimate", ["weighted", "likelihood"])
def test_nearly_certain_groups_have_the_score_test_of_certain_ones(estimate):
    """Against the score statistic of two binomials by hand, and the exact test."""
    y, certain = nearly_certain((0, 25), (15, 500), 0.0)
    exact = UncertainGroupsTest.from_predictions(None, y, sensitive_features=certain)
    r = 25 / 515
    z = -0.05 / np.sqrt(r * (1 - r) * (1 / 15 + 1 / 500))
    assert exact.p_value_ == 1.0
    for doubt in (1e-12, 1e-8, 1e-4):
        y, likely = nearly_certain((0, 25), (15, 500), doubt)
        test = UncertainGroupsTest.from_predictions(
            None, y, sensitive_features=likely, estimate=estimate, random_state=0, n_resamples=999
        )
        assert test.statistic_ == pytest.approx(z, abs=0.01)
        assert test.p_value_ == pytest.approx(0.39, abs=0.06)  # between .375, of the normal, and what is drawn
        assert test.confidence_interval_[1] > 0.1
        assert not test.rejected_


def test_what_probabilities_do_not_identify_is_not_certified():
    half, first = np.full(N, 0.5), LIKELY["a"]
    three = {"a": first, "b": (1 - first) / 2, "c": (1 - first) / 2}
    for estimate in ("weighted", "likelihood"):
        with pytest.raises(ValueError, match="the probabilities do not tell 'a' and 'b' apart"):
            run({"a": half, "b": half}, estimate=estimate, alternative="equivalence", margin=0.2)
    with pytest.raises(ValueError, match="the probabilities do not tell 'a' and 'b' apart"):
        run(three, estimate="likelihood")  # that of a alone is known, that of b and of c is not
    with pytest.warns(UndefinedMetricWarning, match="the probabilities do not tell 'b' and 'c' apart"):
        test = run(three)
    assert test.comparisons_["group"].tolist() == ["a", "a"]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less", "equivalence"])
@pytest.mark.parametrize("estimate", ["weighted", "likelihood"])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_tests_and_intervals_do_not_contradict_each_other(alternative, estimate, disparity):
    margin = {"difference": 0.1, "ratio": 0.8}[disparity] if alternative == "equivalence" else None
    null = {"difference": 0.0, "ratio": 1.0}[disparity]
    for first in (4, 14, 34):
        y, likely = nearly_certain((first, 60), (40, 200), 0.02)
        test = UncertainGroupsTest.from_predictions(
            None, y, sensitive_features=likely, alternative=alternative, estimate=estimate, disparity=disparity,
            margin=margin, random_state=0, n_resamples=99,
        )  # fmt: skip
        low, high = test.equivalence_interval_ if margin else test.confidence_interval_
        if margin:
            inside = {"difference": low > -0.1 and high < 0.1, "ratio": low > 0.8 and high < 1.25}[disparity]
            assert test.rejected_ == inside
        else:
            assert test.rejected_ == (not low <= null <= high)
        assert low <= test.disparity_ <= high


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["weighted", "likelihood"])
@pytest.mark.parametrize(
    ("people", "rate", "certainty"), [((15, 500), 0.05, 0.99), ((100, 1000), 0.01, 0.99), ((60, 600), 0.05, 0.95)]
)
def test_size_and_coverage_with_rare_events_in_a_small_group(people, rate, certainty, estimate):
    rng = np.random.default_rng(5)
    first = np.repeat([certainty, 1 - certainty], people)
    rejected = covered = 0
    for seed in range(150):
        test = UncertainGroupsTest.from_predictions(
            None, (rng.random(sum(people)) < rate).astype(int), sensitive_features={"a": first, "b": 1 - first},
            estimate=estimate, n_resamples=199, random_state=seed,
        )  # fmt: skip
        rejected += test.rejected_
        covered += test.confidence_interval_[0] <= 0 <= test.confidence_interval_[1]
    assert rejected <= 150 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 150))
    assert covered == 150 - rejected


def test_the_interval_ends_where_draws_reject_what_a_normal_quantile_does_not():
    # Few events of the small group leave a null distribution with a short tail: it rejects far below 1.96.
    first = np.repeat([0.99, 0.01], [15, 500])
    events = np.concatenate([np.arange(15) < 3, np.arange(500) < 24]).astype(int)
    test = UncertainGroupsTest.from_predictions(
        None, events, sensitive_features={"a": first, "b": 1 - first}, n_resamples=199, random_state=8
    )
    assert test.rejected_
    assert abs(test.statistic_) < 1.5
    assert 0 < test.confidence_interval_[0] < test.disparity_
