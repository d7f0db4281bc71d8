"""The search for subgroups: what is found, what it is called, what it is compared with, and what is refused."""

import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from sklearn.linear_model import LinearRegression, LogisticRegression

from skfairtest import CountTable, Rate, SubgroupScan
from skfairtest.datasets import load_berkeley, load_compas
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.multiplicity import tarone_holm
from skfairtest.inference.sums import MeanSums, RateSums
from skfairtest.subgroups.scan import GUARANTEES


def people(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "age": rng.integers(18, 78, n),
            "job": rng.choice(["w", "x", "y", "z"], n),
        }
    ), rng


def scan(event, data, **params):
    return SubgroupScan.from_predictions(None, event, sensitive_features=data, metric="selection_rate", **params)


def test_every_comparison_is_that_of_masks_over_people_with_fishers_p_value():
    data, rng = people(300)
    data = data.drop(columns="age")
    event = (rng.random(300) < np.where(data["sex"] == "f", 0.2, 0.5)).astype(int)
    found = scan(event, data, min_group_size=20, max_depth=3).subgroups_.set_index("subgroup")
    seen = set()
    for depth in (1, 2, 3):
        for names in combinations(sorted(data), depth):
            for values in product(*(sorted(data[name].unique()) for name in names)):
                inside = np.logical_and.reduce([data[n] == v for n, v in zip(names, values, strict=True)])
                name = ", ".join(f"{n} = {v}" for n, v in zip(names, values, strict=True))
                if inside.sum() < 20 or name not in found.index:  # too small, or the complement of another one
                    assert inside.sum() < 20 or names == ("sex",)
                    continue
                row = found.loc[name]
                x1, x2 = int(event[inside].sum()), int(event[~inside].sum())
                assert (row["n_group"], row["n_other"]) == (inside.sum(), (~inside).sum())
                assert row["value_group"] == pytest.approx(event[inside].mean())
                assert row["value_other"] == pytest.approx(event[~inside].mean())
                p = fisher_exact([[x1, inside.sum() - x1], [x2, (~inside).sum() - x2]]).pvalue
                assert row["p_value"] == pytest.approx(p, rel=1e-9)
                seen.add(name)
    assert seen == set(found.index)
    assert len(seen) > 15


def test_a_planted_subgroup_is_reported_alone_by_its_description():
    data, rng = people(4000)
    inside = (data["sex"] == "f") & (data["job"] == "y")
    event = (rng.random(4000) < np.where(inside, 0.7, 0.3)).astype(int)
    found = scan(event, data)
    assert list(found.comparisons_["subgroup"]) == ["job = y, sex = f"]
    assert found.subgroups_["concern"].sum() > 1  # women differ, too
    assert found.remaining_p_value_ > 0.05
    assert found.concern_
    assert found.rejected_
    row = found.comparisons_.iloc[0]
    assert row["ci_low"] < 0.4 < row["ci_high"]
    assert "eople with job = y, sex = f were predicted positive more often than " in row["sentence"]


def test_the_shorter_description_is_reported_where_the_longer_one_adds_nothing():
    data, rng = people(4000, seed=3)
    event = (rng.random(4000) < np.where(data["sex"] == "f", 0.55, 0.3)).astype(int)
    found = scan(event, data)
    assert found.comparisons_["subgroup"].tolist() in (["sex = f"], ["sex = m"])
    assert found.subgroups_["concern"].sum() > 5


def test_two_disparities_are_two_results_each_given_the_other():
    data, rng = people(6000, seed=1)
    event = (rng.random(6000) < 0.3 + 0.2 * (data["race"] == "c") + 0.2 * (data["job"] == "w")).astype(int)
    assert set(scan(event, data).comparisons_["subgroup"]) == {"race = c", "job = w"}


def test_numbers_are_cut_at_stated_edges():
    data, rng = people(6000, seed=2)
    data["age"] = np.resize(np.arange(18, 78), 6000)
    event = (rng.random(6000) < np.where(data["age"] < 30, 0.6, 0.3)).astype(int)
    found = scan(event, data, n_bins=5)
    assert found.comparisons_["subgroup"].tolist() == ["age 18 to 29"]
    assert found.edges_ == {"age": (18.0, 30.0, 42.0, 54.0, 66.0, 77.0)}


def test_strata_are_held_constant():
    """Women apply where few are admitted: within departments nothing differs."""
    rng = np.random.default_rng(5)
    department = rng.choice(["easy", "hard"], 6000)
    sex = np.where(rng.random(6000) < np.where(department == "hard", 0.8, 0.2), "f", "m")
    event = (rng.random(6000) < np.where(department == "hard", 0.2, 0.6)).astype(int)
    data = {"sex": sex, "town": rng.choice(["p", "q", "r"], 6000)}
    assert scan(event, data).concern_
    assert not scan(event, data, control_features=department).concern_


def test_berkeleys_departments_come_out_as_fairtest_reports_them():
    """Women were admitted less often over all, and more often in department A (Bickel et al. 1975; Tramer et al. 2017).

    Admissions of department A: 89 of 108 women, and 512 of 825 men.
    """
    berkeley = load_berkeley()
    found = SubgroupScan.from_predictions(
        None,
        berkeley.y_pred,
        sensitive_features=berkeley.sensitive_features,
        X=pd.DataFrame(berkeley.control_features),
        features="department",
        compare="in_context",
        metric="selection_rate",
    )
    over_all, in_a = found.comparisons_.to_dict("records")
    assert (over_all["subgroup"], in_a["subgroup"]) == ("sex = Female", "department = A, sex = Female")
    assert in_a["compared_with"] == "others with department = A"
    assert over_all["disparity"] == pytest.approx(557 / 1835 - 1198 / 2691)
    assert in_a["disparity"] == pytest.approx(89 / 108 - 512 / 825)
    assert in_a["p_value"] == pytest.approx(fisher_exact([[89, 19], [512, 313]]).pvalue)
    # Departments B and D to F show no disparity, and nor does any of them once both are known.
    assert found.subgroups_["concern"].sum() == 2


def test_within_a_context_people_are_compared_with_others_of_it():
    data, rng = people(4000, seed=4)
    # Jobs differ, sexes differ in one of them.
    rate = data["job"].map({"w": 0.1, "x": 0.3, "y": 0.5, "z": 0.7}) + 0.25 * (
        (data["job"] == "x") & (data["sex"] == "f")
    )
    event = (rng.random(4000) < rate).astype(int)
    found = scan(event, data[["sex", "race", "job"]], features="job", compare="in_context")
    assert set(found.comparisons_["subgroup"]) <= {"job = x, sex = f", "job = x, sex = m"}
    assert set(found.comparisons_["compared_with"]) == {"others with job = x"}
    assert "job = w" not in set(found.subgroups_["subgroup"])


# Guarantees -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["familywise", "split"])
def test_where_nothing_differs_hardly_any_run_reports_anything(guarantee):
    data, rng = people(600)
    params = {"guarantee": guarantee, "min_group_size": 20, "random_state": 0}
    runs = 200
    false = sum(scan((rng.random(600) < 0.2).astype(int), data, **params).concern_ for _ in range(runs))
    assert false <= runs * (0.05 + 3 * np.sqrt(0.05 * 0.95 / runs))


def test_holm_counts_only_subgroups_that_could_be_significant():
    data, rng = people(400)
    event = (rng.random(400) < 0.04).astype(int)
    found = scan(event, data, min_group_size=5)
    first = found.subgroups_.iloc[0]
    assert first["p_value_adjusted"] < found.n_tested_ * first["p_value"] * 0.9


def test_halves_are_tested_on_people_who_did_not_choose_them():
    data, rng = people(4000)
    inside = (data["sex"] == "f") & (data["job"] == "y")
    event = (rng.random(4000) < np.where(inside, 0.7, 0.3)).astype(int)
    found = scan(event, data, guarantee="split", random_state=1)
    assert "job = y, sex = f" in set(found.comparisons_["subgroup"])
    assert found.n_tested_ == len(found.subgroups_) < found.n_searched_
    halves = int(found.subgroups_.set_index("subgroup").loc["job = y, sex = f", "n_effective"])
    assert abs(halves - inside.sum() / 2) < 60
    again = scan(event, data, guarantee="split", random_state=1)
    pd.testing.assert_frame_equal(found.subgroups_, again.subgroups_)
    # Everyone is selected or not: those counted are the people of the half that is tested.
    assert (found.subgroups_["n_group"] == found.subgroups_["n_effective"]).all()
    assert (found.subgroups_["n_group"] + found.subgroups_["n_other"] == 2000).all()


def test_several_rates_are_one_family():
    compas = load_compas()
    columns = {"sensitive_features": compas.sensitive_features}
    both = SubgroupScan.from_predictions(compas.y_true, compas.y_pred, metric="equalized_odds", **columns)
    parts = [
        SubgroupScan.from_predictions(compas.y_true, compas.y_pred, metric=name, **columns)
        for name in ("true_positive_rate", "false_positive_rate")
    ]
    assert both.n_tested_ == sum(part.n_tested_ for part in parts)
    log_p = np.log(both.subgroups_["p_value"].to_numpy())
    assert both.p_value_ <= np.exp(log_p.min()) * both.n_tested_
    assert set(both.comparisons_["metric"]) == {"true_positive_rate", "false_positive_rate"}


# Metrics --------------------------------------------------------------------------------------------------------------


def test_means_of_numbers_are_searched():
    data, rng = people(1200)
    outcome = rng.normal(size=1200) + 0.5 * ((data["sex"] == "m") & (data["race"] == "b"))
    columns = {"sensitive_features": data}
    found = SubgroupScan.from_predictions(outcome, np.zeros(1200), metric="mean_residual", **columns)
    assert found.comparisons_["subgroup"].tolist() == ["race = b, sex = m"]
    assert found.comparisons_["ci_low"].iloc[0] < 0.5 < found.comparisons_["ci_high"].iloc[0]


@pytest.mark.slow
def test_skewed_values_of_small_subgroups_have_the_adjustment_of_permutations():
    """Welch's p-values alone would report something in 40% of such data (benchmarks/designs, before permuting)."""
    data, _ = people(1500, seed=6)
    false = holms = 0
    for seed in range(30):
        values = np.random.default_rng(seed).lognormal(sigma=1.5, size=1500)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = SubgroupScan.from_predictions(
                values, np.zeros(1500), sensitive_features=data, metric="mean_residual", min_group_size=20,
                n_resamples=99, random_state=0,
            )  # fmt: skip
        # What is reported of values like these may come with a warning, which nothing else does.
        assert all("p-values of its comparison are approximate" in str(one.message) for one in told)
        assert found.concern_ or not told
        false += found.concern_
        holms += found.subgroups_["p_value"].min() * found.n_tested_ <= 0.05
    assert false <= 30 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 30))
    assert holms > 8


def test_means_are_refused_where_p_values_have_to_be_exact():
    data, rng = people(300)
    with pytest.raises(ValueError, match="needs exact p-values, and mean_residual is a mean"):
        SubgroupScan.from_predictions(
            rng.random(300), rng.random(300), sensitive_features=data, metric="mean_residual", guarantee="split"
        )


def test_a_level_that_permutations_cannot_reach_is_refused():
    data, rng = people(300)
    columns = {"sensitive_features": data, "metric": ["mean_residual", "mean_squared_error"]}
    y_true, y_pred = rng.integers(0, 2, 300), rng.uniform(0.1, 0.9, 300)
    with pytest.raises(ValueError, match=r"n_resamples=38 is too few .* metrics \(2\); use at least 39"):
        SubgroupScan.from_predictions(y_true, y_pred, n_resamples=38, **columns)
    inside = (data["sex"] == "f").to_numpy()
    found = SubgroupScan.from_predictions(inside.astype(int), y_pred, n_resamples=39, **columns)
    assert found.p_value_ == pytest.approx(2 / 40)
    assert found.concern_


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_condition_that_nobody_meets_has_no_disparity(guarantee):
    data, rng = people(400)
    found = SubgroupScan.from_predictions(
        rng.integers(0, 2, 400), np.zeros(400, int), sensitive_features=data, metric="precision", guarantee=guarantee,
        random_state=0,
    )  # fmt: skip
    assert found.p_value_ == 1
    assert np.isnan([found.disparity_, *found.confidence_interval_]).all()
    assert "No significant disparity" in str(found)


def test_strata_without_two_people_on_both_sides_have_no_limits():
    sums = MeanSums(0.0)
    own, rest = np.array([[1.0, 0.5, 0.25], [0, 0, 0]]), np.array([[4.0, 1.0, 2.0], [3, 1, 1]])
    assert np.isnan(sums.limits(own, rest, "two-sided", 0.05)).all()
    assert np.isnan(RateSums(Scale()).limits(own[1:, :2], rest[1:, :2], "greater", 0.05)).all()


@pytest.mark.parametrize("metric", ["kuiper_calibration", "calibration_within_groups"])
def test_curves_of_calibration_are_refused_with_what_a_scan_takes(metric):
    data, rng = people(200)
    with pytest.raises(ValueError, match=rf"metric: '{metric}' follows the whole curve .*metric='mean_residual'"):
        SubgroupScan.from_predictions(rng.integers(0, 2, 200), rng.random(200), sensitive_features=data, metric=metric)


@pytest.mark.parametrize("seed", range(4))
def test_a_half_without_anything_to_test_says_so(seed):
    data, rng = people(300)
    found = scan(rng.random(300) < 0.3, data, guarantee="split", random_state=seed)
    assert found.comparisons_.empty
    assert found.p_value_ == 1 if not found.n_tested_ else found.p_value_ > 0.05
    assert not found.concern_
    assert "No significant disparity" in str(found)


def test_a_mean_of_zeros_and_ones_is_a_rate():
    data, rng = people(500)
    event = rng.integers(0, 2, 500)
    one = SubgroupScan.from_predictions(None, event, sensitive_features=data, metric="mean_prediction")
    pd.testing.assert_series_equal(one.subgroups_["p_value"], scan(event, data).subgroups_["p_value"])


def test_a_metric_that_is_no_sum_over_people_is_refused_with_those_that_are():
    data, rng = people(200)
    with pytest.raises(
        ValueError, match=r"metric: 'roc_auc' is neither a rate nor a mean .*selection_rate.*mean_residual"
    ):
        SubgroupScan.from_predictions(
            rng.integers(0, 2, 200), None, y_score=rng.random(200), sensitive_features=data, metric="roc_auc"
        )


def test_an_own_rate_is_searched():
    data, rng = people(800)
    y_true, y_pred = rng.integers(0, 2, (2, 800))
    own = Rate("missed", "~y_pred", "y_true")
    columns = {"sensitive_features": data}
    one, two = (
        SubgroupScan.from_predictions(y_true, y_pred, metric=metric, **columns)
        for metric in (own, "false_negative_rate")
    )
    pd.testing.assert_frame_equal(one.subgroups_.drop(columns="metric"), two.subgroups_.drop(columns="metric"))


# Models, tables, reports ----------------------------------------------------------------------------------------------


def test_a_model_is_asked_and_features_are_looked_up_in_its_X():
    data, rng = people(1000)
    X = pd.DataFrame({"age": data["age"], "job": data["job"].map({"w": 0, "x": 1, "y": 2, "z": 3})})
    y = (rng.random(1000) < 0.3 + 0.3 * (X["job"] == 2)).astype(int)
    model = LogisticRegression().fit(X, y)
    model.coef_[:] = [[0.0, 1.0]]
    model.intercept_[:] = -1.5
    found = SubgroupScan(model, metric="selection_rate", features=["job"]).fit(X, y, sensitive_features=data["sex"])
    assert {"job = 2", "job = 3"} <= set(found.subgroups_["subgroup"])
    numbers = SubgroupScan(LinearRegression().fit(X, y), metric="mean_residual", min_group_size=10)
    assert numbers.fit(X, y, sensitive_features=data["race"]).n_searched_ == 3


def test_a_table_of_counts_gives_the_same():
    data, rng = people(2000)
    data = data.drop(columns="age")
    y_true, y_pred = rng.integers(0, 2, (2, 2000))
    table = CountTable.from_predictions(y_true, y_pred, sensitive_features=data)
    params = {"metric": "equalized_odds", "features": "job", "compare": "in_context"}
    one = SubgroupScan.from_table(table, **params)
    two = SubgroupScan.from_predictions(y_true, y_pred, sensitive_features=data, **params)
    pd.testing.assert_frame_equal(one.subgroups_, two.subgroups_)


def test_the_people_of_a_table_are_permuted_as_often_as_they_are():
    data, rng = people(600)
    data = data[["sex", "race"]]
    y_true, y_pred = rng.choice([0.0, 1.0, 50.0], 600, p=[0.8, 0.18, 0.02]), np.zeros(600)
    table = CountTable.from_predictions(y_true, y_pred, sensitive_features=data)
    params = {"metric": "mean_residual", "alternative": "less", "n_resamples": 199, "random_state": 0}
    one = SubgroupScan.from_table(table, **params)
    two = SubgroupScan.from_predictions(y_true, y_pred, sensitive_features=data, **params)
    assert 0.005 < two.p_value_ < 1
    np.testing.assert_allclose(one.subgroups_["p_value_adjusted"], two.subgroups_["p_value_adjusted"])


def test_the_report_says_what_was_found_what_remains_and_what_was_not_looked_at():
    compas = load_compas()
    found = SubgroupScan.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features, metric="false_positive_rate"
    )
    text = str(found)
    assert text.startswith("Significant disparity: of ")
    assert "given them, no other subgroup differs" in text
    assert "fewer than 50 people on one side" in text
    page = found.to_html()
    assert '<span class="bar' in page
    assert "race = African-American" in page
    assert "race = African-American" in found.to_markdown()


def test_the_report_of_nothing_says_that_it_proves_nothing():
    data, rng = people(500, seed=8)
    text = str(scan(rng.integers(0, 2, 500), data))
    assert text.startswith("No significant disparity was detected in ")
    assert "This does not prove fairness." in text


def test_scans_of_more_than_can_be_reported_say_so():
    rng = np.random.default_rng(0)
    data = {"zip": rng.integers(0, 60, 30_000).astype(str)}
    event = (rng.random(30_000) < np.where(np.array(data["zip"]).astype(int) % 2, 0.1, 0.6)).astype(int)
    found = scan(event, data)
    assert len(found.comparisons_) == 20
    assert found.remaining_p_value_ <= 0.05
    assert "others differ as well" in str(found)


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_group_size": 10**400}, "min_group_size must be an integer of at least 1"),
        ({"max_depth": 0}, "max_depth must be an integer of at least 1 and at most 1,000,000,000; found 0"),
        ({"n_bins": 1.5}, "n_bins must be an integer of at least 2 and at most 1,000,000,000; found 1.5"),
        ({"guarantee": "fdr"}, "guarantee must be one of 'familywise', 'split'"),
        ({"compare": "between_groups"}, "compare must be one of 'to_rest', 'in_context'"),
        ({"compare": "in_context"}, "features is None: name columns of X"),
        ({"alternative": "equivalence"}, "alternative must be one of"),
        ({"min_group_size": 10**12}, r"n_samples=.* no subgroup and its comparison group both have that many"),
        ({"min_group_size": 900}, "no subgroup and its comparison group both have that many"),
        ({"features": "height"}, "without an estimator the X of fit is the predictions"),
    ],
)
def test_parameters_that_mean_nothing_are_named(params, message):
    data, rng = people(1000)
    with pytest.raises(ValueError, match=message):
        scan(rng.integers(0, 2, 1000), data, **params)


def test_missing_groups_and_weights_are_named():
    with pytest.raises(ValueError, match="sensitive_features is missing"):
        SubgroupScan(metric="selection_rate").fit([0, 1, 1])
    with pytest.raises(ValueError, match="sample_weight was given, and a scan counts people alike"):
        SubgroupScan(metric="selection_rate").fit([0, 1, 1], sensitive_features=list("aab"), sample_weight=[1, 1, 1])
    rows = pd.DataFrame({"event": [0, 1] * 50, "sex": ["f", "m"] * 50, "weight": np.linspace(1, 2, 100)})
    weighted = CountTable.from_frame(rows, y_pred="event", sensitive_features="sex", sample_weight="weight")
    with pytest.raises(ValueError, match="sums of weights"):
        SubgroupScan.from_table(weighted, metric="selection_rate", min_group_size=5)


def test_the_adjustment_is_that_of_the_family_tested():
    data, rng = people(1000)
    event = (rng.random(1000) < 0.1).astype(int)
    found = scan(event, data, min_group_size=10)
    rows = found.subgroups_
    own = np.stack([rows["value_group"] * rows["n_group"], rows["n_group"]], axis=1)[:, None]
    rest = np.stack([rows["value_other"] * rows["n_other"], rows["n_other"]], axis=1)[:, None]
    log_p, smallest = RateSums(Scale()).log_p(own, rest, "two-sided")
    np.testing.assert_allclose(rows["p_value_adjusted"], np.exp(tarone_holm(log_p, smallest)), rtol=1e-9)


def test_accuracy_of_labels_none_of_which_is_positive_is_that_of_the_labels():
    y_true, y_pred = ["no", "yes"] * 100, ["no", "yes", "no", "no"] * 50
    group = ["a"] * 100 + ["b"] * 100
    scan = SubgroupScan.from_predictions(y_true, y_pred, sensitive_features={"g": group}, metric="accuracy")
    assert scan.subgroups_["value_group"].tolist() == [0.75]


def departments(gap):
    """People of two departments whose outcomes differ by 3; in A women's are lower by `gap`, and hardly any is in A."""
    rng = np.random.default_rng(5)
    in_a, woman = np.arange(1200) % 2 == 0, rng.random(1200)
    woman = woman < np.where(in_a, 0.2, 0.8)
    values = 3.0 * in_a - gap * (in_a & woman) + rng.normal(size=1200)
    return SubgroupScan.from_predictions(
        None, values, sensitive_features={"sex": np.where(woman, "f", "m")}, X={"job": np.where(in_a, "A", "B")},
        features="job", compare="in_context", metric="mean_prediction", n_resamples=99, random_state=0,
    ).subgroups_.set_index("subgroup")  # fmt: skip


def test_disparities_in_contexts_are_found_where_contexts_differ():
    with_gap, without = departments(0.8), departments(0.0)
    # Women differ from men overall: they are where outcomes are low. That hypothesis has no context.
    for found in (with_gap, without):
        assert found["concern"][[name for name in found.index if name.startswith("sex")]].tolist() == [True]
    inside = [name for name in with_gap.index if name.startswith("job")]
    assert [name for name in inside if with_gap["concern"][name]] == ["job = A, sex = f"]
    assert not without["concern"][inside].any()
    # Two families, of 99 permutations each.
    assert with_gap["p_value_adjusted"]["job = A, sex = f"] == pytest.approx(2 / 100)


def test_a_mean_that_rests_on_few_people_is_reported_with_a_warning():
    values = np.zeros(400)
    values[:3] = 9.0
    values[3:43] = 2.0
    group = np.where(np.arange(400) < 60, "a", "b")
    with pytest.warns(UserWarning, match=r"of g = a (rests on few people|depends on a few extreme people)"):
        found = SubgroupScan.from_predictions(
            None, values + np.arange(400) % 7 / 100, sensitive_features={"g": group}, metric="mean_prediction",
            n_resamples=99, random_state=0,
        )  # fmt: skip
    assert found.rejected_
    assert "exact if distributions are equal" in str(found)
