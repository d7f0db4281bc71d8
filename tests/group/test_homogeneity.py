"""Is a disparity the same in every stratum: what `homogeneity_` holds for rates and for other metrics."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessTest
from skfairtest.datasets import load_berkeley, load_compas
from skfairtest.inference.homogeneity import score_homogeneity

BERKELEY = load_berkeley()


def berkeley(rows=slice(None), **params):
    columns = {
        "sensitive_features": BERKELEY.sensitive_features[["sex"]][rows],
        "control_features": BERKELEY.control_features[["department"]][rows],
    }
    y = np.asarray(BERKELEY.y_true)[rows]
    return FairnessTest.from_predictions(y, y, metric="selection_rate", **columns, **params)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_a_rate_of_berkeleys_departments(disparity):
    test = berkeley(disparity=disparity)
    (row,) = test.homogeneity_.to_dict("records")
    departments = test.by_group_["n"].unstack("sex")
    events = (test.by_group_["value"] * test.by_group_["n"]).round().astype(int).unstack("sex")
    expected = score_homogeneity(
        *(frame[sex].to_numpy() for sex in ("Female", "Male") for frame in (events, departments)), disparity
    )
    assert (row["statistic"], row["df"], row["p_value"]) == (expected.statistic, 5, expected.p_value)
    assert (row["stratum"], row["n_strata"], row["method"]) == ("A", 6, "asymptotic")
    assert row["p_value"] < 0.01
    assert row["p_value_adjusted"] == pytest.approx(row["p_value"])


def test_without_department_a_all_are_alike():
    kept = BERKELEY.control_features["department"].to_numpy() != "A"
    (p,) = berkeley(kept).homogeneity_["p_value"]
    assert p == pytest.approx(0.61, abs=0.03)


def test_the_disparity_to_everyone_is_as_homogeneous_as_that_to_the_rest():
    to_rest, overall = (berkeley(compare=f"to_{other}").homogeneity_ for other in ("rest", "overall"))
    columns = ["group", "statistic", "df", "p_value", "stratum"]
    pd.testing.assert_frame_equal(to_rest[columns], overall[columns])


def test_the_ratio_to_everyone_is_the_indirectly_standardised_one():
    test = berkeley(compare="to_overall", disparity="ratio")
    women = test.comparisons_.query("group == 'Female' and stratum.isna()").iloc[0]
    counts = test.by_group_
    everyone = (counts["value"] * counts["n"]).groupby("department").sum() / counts["n"].groupby("department").sum()
    own = counts.xs("Female", level="sex")
    expected = float((own["n"] * everyone).sum())
    assert women["disparity"] == pytest.approx(float((own["n"] * own["value"]).sum()) / expected)


def test_without_control_features_there_are_no_rows():
    y = np.asarray(BERKELEY.y_true)
    test = FairnessTest.from_predictions(y, y, metric="selection_rate", sensitive_features=BERKELEY.sensitive_features)
    assert test.homogeneity_.empty
    assert "p_value_adjusted" in test.homogeneity_


@pytest.fixture(scope="module")
def compas():
    people = load_compas()
    groups = people.sensitive_features
    return FairnessTest.from_predictions(
        people.y_true,
        people.y_pred,
        y_score=people.decile_score / 10,
        sensitive_features=groups["sex"],
        control_features=groups["age_cat"],
        metric=["roc_auc", "f1", "accuracy", "mean_residual"],
        n_resamples=99,
        random_state=0,
    )


def test_other_metrics_have_cochrans_q(compas):
    found = compas.homogeneity_.set_index("metric").loc["roc_auc"]
    strata = compas.comparisons_.query("metric == 'roc_auc' and stratum.notna()")
    weights = 1 / strata["standard_error"] ** 2
    common = float((weights * strata["disparity"]).sum() / weights.sum())
    assert found["common"] == pytest.approx(common, abs=1e-3)
    assert found["statistic"] == pytest.approx(float((weights * (strata["disparity"] - common) ** 2).sum()), rel=0.02)


def test_rows_are_a_family_of_their_own(compas):
    found = compas.homogeneity_.sort_values("p_value")
    assert list(found["metric"].sort_values()) == ["accuracy", "f1", "mean_residual", "roc_auc"]
    assert found["p_value_adjusted"].iloc[0] == pytest.approx(min(1, 4 * found["p_value"].iloc[0]))
    assert found["p_value_adjusted"].is_monotonic_increasing


def test_raw_statistics_have_no_errors_to_compare_with():
    people = load_compas()
    test = FairnessTest.from_predictions(
        people.y_true,
        people.y_pred,
        sensitive_features=people.sensitive_features["sex"],
        control_features=people.sensitive_features["age_cat"],
        metric="mean_residual",
        variance=None,
        n_resamples=99,
        random_state=0,
    )
    assert test.homogeneity_.empty


def test_it_is_part_of_the_record():
    test = berkeley()
    assert test.to_dict()["homogeneity"] == test.homogeneity_.to_dict("records")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["selection_rate", "mean_prediction"])
def test_size_where_every_department_has_one_disparity(metric):
    """300 samples of five departments in which women are ahead by .1: rejected no more often than .05 + 3 s.e."""
    rng = np.random.default_rng(5)
    n = 1500
    department, woman = rng.integers(0, 5, (300, n)), rng.integers(0, 2, (300, n))
    chance = 0.2 + 0.1 * department + 0.1 * woman
    y = rng.random((300, n)) < chance
    if metric == "mean_prediction":
        y = y + rng.normal(size=y.shape)
    found = []
    for place in range(300):
        test = FairnessTest(metric=metric, method="asymptotic").fit(
            y[place].astype(float if metric == "mean_prediction" else int),
            sensitive_features=woman[place],
            control_features=department[place],
        )
        found.append(test.homogeneity_["p_value"].iloc[0])
    assert (np.array(found) <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.filterwarnings("ignore:.* their odds ratio is undefined:sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:.*fewer than 10 people:UserWarning")
def test_a_pair_of_which_only_one_stratum_says_something_stays_in_the_family():
    counts = {("a", "x"): (30, 40), ("a", "y"): (10, 40), ("b", "x"): (0, 40), ("b", "y"): (22, 40)}
    counts |= {("c", "x"): (0, 9), ("c", "y"): (3, 9)}

    def homogeneity(*groups):
        cells = {key: cell for key, cell in counts.items() if key[0] in groups}
        group, stratum = np.repeat(list(cells), [people for _, people in cells.values()], axis=0).T
        y = np.concatenate([np.arange(people) < events for events, people in cells.values()]).astype(int)
        columns = {"sensitive_features": group, "control_features": stratum}
        test = FairnessTest.from_predictions(None, y, metric="selection_rate", disparity="odds_ratio", **columns)
        return test.homogeneity_.set_index(["group", "other"])["p_value_adjusted"]

    everyone = homogeneity("a", "b", "c")
    assert ("b", "c") not in everyone
    p_values = [homogeneity("a", other).iloc[0] for other in ("b", "c")]
    np.testing.assert_allclose(everyone, [3 * min(p_values), 2 * max(p_values)])
