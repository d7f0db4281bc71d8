"""Two models on the same people: is the disparity of one that of the other."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, roc_auc_score

from skfairtest import CountTable, FairnessTest, PairedFairnessTest, Rate, compare_models
from skfairtest.paired.report import models_frame, paired_report
from skfairtest.paired.statistics import Changes, compare_changes, not_worse


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n = 500
    group = rng.choice(["f", "g", "m"], n, p=[0.3, 0.2, 0.5])
    y = (rng.random(n) < 0.45).astype(int)
    signal = rng.normal(size=n) + 1.2 * y
    score_a, score_b = signal + rng.normal(size=n), signal + 0.6 * rng.normal(size=n) + 0.5 * (group == "f")
    a, b = ((score > 0.6).astype(int) for score in (score_a, score_b))
    return pd.DataFrame(
        {"y": y, "a": a, "b": b, "score_a": score_a, "score_b": score_b, "sex": group, "site": rng.choice([0, 1], n)}
    )


def fitted(data, metric, columns=("a", "b"), **params):
    more = {"control_features": data[["site"]]} if params.pop("strata", False) else {}
    return PairedFairnessTest.from_predictions(
        data["y"], *(data[name] for name in columns), sensitive_features=data[["sex"]], metric=metric,
        **{"random_state": 0, "n_resamples": 999, **more, **params},
    )  # fmt: skip


VALUES = {
    "selection_rate": lambda y, p: p.mean(),
    "true_positive_rate": lambda y, p: p[y == 1].mean(),
    "false_positive_rate": lambda y, p: p[y == 0].mean(),
    "accuracy": lambda y, p: (y == p).mean(),
    "precision": precision_score,
    "f1": f1_score,
}


@pytest.mark.parametrize("metric", VALUES)
def test_values_are_changes_and_disparities_are_those_of_the_models(data, metric):
    test = fitted(data, metric, n_resamples=199)
    values = {group: [VALUES[metric](own["y"], own[model]) for model in "ab"] for group, own in data.groupby("sex")}
    by_model = test.by_model_.set_index("group")
    for group, (a, b) in values.items():
        assert by_model.loc[group, ["value_a", "value_b"]].tolist() == pytest.approx([a, b])
        assert test.by_group_.loc[group, "value"] == pytest.approx(b - a)
    for row, disparity in zip(test.disparities_.itertuples(), test.comparisons_["disparity"], strict=True):
        of_a, of_b = (values[row.group][model] - values[row.other][model] for model in (0, 1))
        assert (row.disparity_a, row.disparity_b, row.difference) == pytest.approx((of_a, of_b, of_b - of_a))
        assert disparity == pytest.approx(of_b - of_a)


@pytest.mark.parametrize("metric", ["false_positive_rate", "precision"])
@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_overall"])
def test_disparities_over_strata_are_those_of_one_model_each(data, metric, compare):
    test = fitted(data, metric, strata=True, compare=compare, n_resamples=199)
    found = test.disparities_[test.disparities_["stratum"].isna()]
    for model in "ab":
        alone = FairnessTest.from_predictions(
            data["y"], data[model], sensitive_features=data[["sex"]], control_features=data[["site"]], metric=metric,
            compare=compare, method="asymptotic",
        ).comparisons_  # fmt: skip
        within = alone[alone["stratum"].notna()]["disparity"]
        assert test.disparities_[found.index.max() + 1 :][f"disparity_{model}"].tolist() == pytest.approx(
            within.tolist()
        )
    assert found["difference"].tolist() == pytest.approx(
        test.comparisons_.loc[found.index, "disparity"].tolist(), abs=0.02 if metric == "precision" else 1e-12
    )


def test_a_rate_is_tested_by_its_changes(data):
    test = fitted(data[data["sex"] != "g"], "false_positive_rate")
    negative = data[(data["y"] == 0) & (data["sex"] != "g")]
    d = negative["b"] - negative["a"]
    counts = np.array([[[(d[negative["sex"] == g] == v).sum() for v in (1, -1, 0)]] for g in "fm"])
    expected = compare_changes(Changes(counts), n_resamples=9999, seed=np.random.SeedSequence(5))
    assert test.statistic_ == pytest.approx(expected.statistic)
    assert test.p_value_ == pytest.approx(np.exp(expected.log_p), rel=0.6)


def test_areas_have_delongs_variance_of_two_curves(data):
    """DeLong, DeLong and Clarke-Pearson (1988): structural components of both curves, with their covariances."""
    test = fitted(data[data["sex"] != "g"], "roc_auc", ("score_a", "score_b"), n_resamples=99)
    expected = []
    for _, own in data[data["sex"] != "g"].groupby("sex"):
        positive, negative = own[own["y"] == 1], own[own["y"] == 0]
        of_positive, of_negative = [], []
        for name in ("score_a", "score_b"):
            right = np.subtract.outer(positive[name].to_numpy(), negative[name].to_numpy())
            right = (right > 0) + (right == 0) / 2
            of_positive.append(right.mean(axis=1))
            of_negative.append(right.mean(axis=0))
        change = np.array([-1, 1])
        s10, s01 = np.cov(of_positive), np.cov(of_negative)
        expected.append(change @ (s10 / len(positive) + s01 / len(negative)) @ change)
    changes = [
        roc_auc_score(own["y"], own["score_b"]) - roc_auc_score(own["y"], own["score_a"])
        for _, own in data[data["sex"] != "g"].groupby("sex")
    ]
    assert test.by_group_["value"].tolist() == pytest.approx(changes)
    assert test.by_group_["standard_error"].tolist() == pytest.approx(np.sqrt(expected))
    assert test.statistic_ == pytest.approx((changes[0] - changes[1]) / np.sqrt(sum(expected)))


def test_a_function_is_tested_as_its_built_in_twin(data):
    def matthews(y_true, y_pred, sample_weight=None):
        tn, fp, fn, tp = np.bincount(2 * y_true + y_pred, sample_weight, 4)
        return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))

    own, known = (fitted(data[data["sex"] != "g"], metric, n_resamples=39) for metric in (matthews, "mcc"))
    assert own.disparity_ == pytest.approx(known.disparity_)
    assert own.statistic_ == pytest.approx(known.statistic_, rel=0.05)


def test_models_are_asked_as_one_model_is(data):
    X, y = data[["score_a", "score_b"]].to_numpy(), data["y"]
    models = [LogisticRegression().fit(X[:, [0]] * [1, 0], y), LogisticRegression().fit(X, y)]
    test = PairedFairnessTest(*models, metric=["selection_rate", "roc_auc"], random_state=0, n_resamples=199)
    test.fit(X, y, sensitive_features=data[["sex"]])
    said = PairedFairnessTest.from_predictions(
        y, *(model.predict(X) for model in models),
        **{f"y_score_{name}": model.decision_function(X) for name, model in zip("ab", models, strict=True)},
        sensitive_features=data[["sex"]], metric=["selection_rate", "roc_auc"], random_state=0, n_resamples=199,
    )  # fmt: skip
    pd.testing.assert_frame_equal(test.comparisons_, said.comparisons_)
    both = PairedFairnessTest(metric="selection_rate", random_state=0, n_resamples=199).fit(
        np.column_stack([model.predict(X) for model in models]), sensitive_features=data[["sex"]]
    )
    assert both.p_value_ == pytest.approx(fitted(
        data.assign(a=models[0].predict(X), b=models[1].predict(X)), "selection_rate", n_resamples=199
    ).p_value_)  # fmt: skip


def test_a_table_of_counts_says_the_same(data):
    counts = data.value_counts(["sex", "y", "a", "b"]).reset_index(name="count")
    table = CountTable.from_counts(counts, y_true="y", y_pred_a="a", y_pred_b="b", sensitive_features="sex")
    rows = CountTable.from_predictions(
        data["y"], y_pred_a=data["a"], y_pred_b=data["b"], sensitive_features=data[["sex"]]
    )
    assert table == rows
    test = PairedFairnessTest.from_table(table, random_state=0, n_resamples=199)
    pd.testing.assert_frame_equal(test.comparisons_, fitted(data, "equalized_odds", n_resamples=199).comparisons_)


def test_the_same_model_twice_is_no_difference(data):
    test = fitted(data, "equalized_odds", ("a", "a"))
    assert test.p_value_ == 1
    assert not test.concern_


def test_one_sided_tests_have_one_sided_intervals(data):
    two = data[data["sex"] != "g"]
    greater, less = (fitted(two, "false_positive_rate", alternative=side) for side in ("greater", "less"))
    assert greater.p_value_ < 0.05 < less.p_value_
    assert greater.confidence_interval_[1] == 2
    assert less.confidence_interval_[0] == -2
    assert greater.statistic_ == less.statistic_


def test_weights_and_clusters_are_studentized(data):
    more = {"sample_weight": np.tile([1.0, 2.0], 250), "clusters": np.arange(500) // 2}
    for name, values in more.items():
        test = PairedFairnessTest.from_predictions(
            data["y"], data["a"], data["b"], sensitive_features=data[["sex"]], metric="selection_rate",
            random_state=0, n_resamples=499, **{name: values},
        )  # fmt: skip
        assert set(test.comparisons_["method"]) <= {"permutation", "sign flipping"}
        assert np.isfinite(test.comparisons_["statistic"]).all()


WRONG = {
    "one model": (
        lambda d: PairedFairnessTest(LogisticRegression()).fit(d[["a"]], d["y"], sensitive_features=d["sex"]),
        "estimator_b is None",
    ),
    "no truth": (
        lambda d: PairedFairnessTest.from_predictions(None, d["a"], d["b"], sensitive_features=d["sex"]),
        "y_true is missing: true_positive_rate, false_positive_rate",
    ),
    "no groups": (lambda d: PairedFairnessTest.from_predictions(d["y"], d["a"], d["b"]), "sensitive_features is"),
    "max_t": (lambda d: fitted(d, "f1", adjust="max_t"), "adjust must be one of"),
    "adjust": (lambda d: fitted(d, "f1", adjust=np.zeros(2)), "adjust must be one of"),
    "compare": (lambda d: fitted(d, "f1", compare=np.zeros(2)), "compare must be one of"),
    "ratio": (lambda d: fitted(d, "disparate_impact"), "compared by the ratio"),
    "omnibus": (lambda d: fitted(d, "normalized_mutual_info"), "looks at all groups at once"),
    "best": (lambda d: fitted(d, "f1", compare="to_highest"), "compare='to_highest'"),
    "one column": (
        lambda d: PairedFairnessTest(metric="selection_rate").fit(d[["a"]], sensitive_features=d["sex"]),
        "as two columns",
    ),
    "base rate": (lambda d: fitted(d, Rate("base", "y_true")), "reads nothing that a model"),
    "lengths": (
        lambda d: PairedFairnessTest.from_predictions(d["y"], d["a"], d["b"][:5].tolist(), sensitive_features=d["sex"]),
        "y_pred_b",
    ),
    "frame": (lambda d: PairedFairnessTest.from_frame(d), "engines count the predictions of one model"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_tested_is_refused_by_name(data, case):
    ask, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        ask(data)


# One group ------------------------------------------------------------------------------------------------------------


def approvals(**params):
    """Agresti, Categorical Data Analysis, section 11.1: who approves of a prime minister, in two surveys of them."""
    first, second = (np.repeat(says, [794, 86, 150, 570]) for says in ([1, 1, 0, 0], [1, 0, 1, 0]))
    return PairedFairnessTest.from_predictions(
        None, first, second, sensitive_features={"country": ["UK"] * 1600}, metric="selection_rate", **params
    )


def test_one_group_is_mcnemars_exact_test():
    test = approvals()
    assert test.p_value_ == pytest.approx(3.716e-5, rel=1e-4)
    assert test.statistic_**2 == pytest.approx(17.356, abs=5e-4)
    assert (abs(150 - 86) - 1) ** 2 / (150 + 86) == pytest.approx(16.818, abs=5e-4)  # corrected, in the same table
    assert test.disparity_ == pytest.approx(0.04)
    assert test.by_model_[["value_a", "value_b"]].to_numpy().tolist() == [[0.55, 0.59]]
    assert len(test.disparities_) == 0
    assert test.method_ == "exact"
    assert ": 55.0% under model A and 59.0% under model B, a difference of 4.0 points" in str(test)
    one_sided = approvals(alternative="greater")
    assert one_sided.p_value_ == pytest.approx(test.p_value_ / 2)
    assert one_sided.confidence_interval_[1] == 1


def test_one_group_has_no_test_of_other_metrics(data):
    with pytest.raises(ValueError, match=r"one group only .* f1 has none"):
        fitted(data[data["sex"] == "f"], "f1")


# Fairer ---------------------------------------------------------------------------------------------------------------


def test_the_fairer_model_is_certified_and_the_other_is_not(data):
    two = data[data["sex"] != "g"]
    back, forth = (
        fitted(two, "false_positive_rate", order, alternative="fairer") for order in (("b", "a"), ("a", "b"))
    )
    assert back.p_value_ < forth.p_value_
    assert forth.concern_
    assert not forth.rejected_
    sizes = forth.disparities_[["disparity_b", "disparity_a"]].abs().to_numpy()
    assert forth.comparisons_[["value_group", "value_other"]].to_numpy() == pytest.approx(sizes)
    assert forth.disparity_ == pytest.approx(sizes[0, 0] - sizes[0, 1])
    assert str(forth).startswith(
        "Not certified: it was not shown that in the one comparison the disparity by sex is smaller"
    )


def test_every_comparison_has_to_be_certified(data):
    test = fitted(data, ["selection_rate", "accuracy"], alternative="fairer", margin=0.2)
    assert test.p_value_ == test.comparisons_["p_value"].max()
    assert not hasattr(test, "equivalence_interval_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"margin": 0.1}, "needs alternative='fairer'"),
        ({"alternative": "fairer", "margin": -0.1}, "margin must be a number of at least 0"),
        ({"alternative": "fairer", "margin": 1.0}, "margin must be a number of at least 0 and below 1; found 1.0"),
        ({"alternative": "fairer", "metric": "f1"}, "f1 is not one"),
        ({"alternative": "fairer", "compare": "to_overall"}, "use compare='to_rest'"),
        ({"alternative": "equivalence"}, "alternative"),
    ],
)
def test_what_has_no_test_of_sizes_is_refused(data, params, message):
    with pytest.raises(ValueError, match=message):
        fitted(data, params.pop("metric", "selection_rate"), **params)


@pytest.mark.parametrize("name", ["sample_weight", "clusters"])
def test_sizes_of_disparities_count_each_person_once_and_alone(data, name):
    columns = {name: np.arange(len(data)) % 7 + 1}
    with pytest.raises(ValueError, match=f"{name} has no test with alternative='fairer'"):
        fitted(data, "selection_rate", alternative="fairer", **columns)


def swap(share, better):
    """Two models, of which B has the gap of A times `share` in the metric's first pair of groups."""
    group, place = np.repeat(["f", "m"], 200), np.tile(np.arange(200), 2)
    decided = (place < np.where(group == "f", 60, 120), place < np.where(group == "f", 120 - 60 * share, 120))
    first, second = decided if better == "B" else decided[::-1]
    return PairedFairnessTest.from_predictions(
        None, first.astype(int), second.astype(int), sensitive_features={"sex": group}, metric="selection_rate",
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize("better", ["A", "B"])
def test_the_headline_names_the_fairer_model_and_both_disparities(better):
    a, b = {"A": (-15, -30), "B": (-30, -15)}[better]
    found = paired_report(swap(0.5, better), "old", "new")
    assert found.verdict.startswith("Significant difference between old and new in 1 of 1 comparison (p = ")
    assert found.verdict.endswith(f"; the disparity is smaller in size under new in {int(better == 'B')} of these.")
    (finding,) = found.findings
    assert f"f minus m: {a}.0 points under old and {b}.0 points under new, a difference of" in finding


def test_a_stratum_called_0_is_no_average(data):
    strata = models_frame(fitted(data, "accuracy", strata=True))["stratum"].tolist()
    assert (strata[:3], sorted(strata[3:])) == ([None] * 3, [0] * 3 + [1] * 3)


def test_the_headline_says_that_nothing_was_found():
    assert "No significant difference" in paired_report(swap(0.98, "B")).verdict


def test_pages_have_the_interval_of_each_difference_and_axes_a_dumbbell(data):
    test = fitted(data, "false_positive_rate")
    frame, table = models_frame(test), test._report().tables[0]
    place = [column.head for column in table.columns].index("interval")
    assert np.argsort([row[place].bar.at for row in table.rows]).tolist() == np.argsort(frame["disparity"]).tolist()
    display = test.plot()
    hollow, *_ = (drawn for drawn in display.ax_.collections if isinstance(drawn, PathCollection))
    np.testing.assert_allclose(hollow.get_offsets()[:, 0], 100 * frame["value_other"])
    np.testing.assert_allclose(display.disparity, frame["disparity"])
    plt.close(display.figure_)


def test_a_size_has_an_upper_limit_alone(data):
    table = fitted(data, "selection_rate", alternative="fairer")._report().tables[0]
    place = [column.head for column in table.columns].index("interval")
    assert all(str(row[place]).startswith("at most ") for row in table.rows)
    assert all(row[place].bar.low < row[place].bar.at < row[place].bar.high for row in table.rows)


def test_headings_of_several_candidates_have_ids_of_their_own(data):
    models = {"old": data["a"], "new": data["b"], "same": data["a"]}
    found = compare_models(models, sensitive_features=data[["sex"]], metric="selection_rate").to_html()
    ids = re.findall(r' id="([^"]+)"', found)
    assert len(ids) == len(set(ids))


def candidates(data, **params):
    rng = np.random.default_rng(1)
    models = {"a": data["a"], "b": data["b"], "coin": rng.integers(0, 2, len(data))}
    return compare_models(
        models, y=data["y"], sensitive_features=data[["sex"]], **{"random_state": 0, "n_resamples": 499, **params}
    )


@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_overall"])
@pytest.mark.parametrize("metric", ["selection_rate", "precision", ["true_positive_rate", "f1"]])
def test_disparities_of_candidates_have_the_intervals_of_one_model_allowing_for_the_choice(data, metric, compare):
    found = candidates(data, metric=metric, compare=compare)
    alone = FairnessTest.from_predictions(
        data["y"], data["b"], sensitive_features=data[["sex"]], metric=metric, compare=compare, n_resamples=499,
        random_state=0, confidence_level=0.975,
    )  # fmt: skip
    row, rows = found.results.loc["b"], alone.comparisons_
    own = rows[(rows[["metric", "group", "other"]] == row[["metric", "group", "other"]]).all(axis=1)]
    limits = row[["disparity_b", "disparity_b_low", "disparity_b_high"]].to_numpy(dtype=float)
    np.testing.assert_allclose(own[["disparity", "ci_low", "ci_high"]].to_numpy(dtype=float), [limits])


def test_a_candidate_is_certified_if_it_is_fairer_and_not_less_accurate(data):
    given = {"metric": "selection_rate", "alternative": "fairer"}
    fairer, both = (candidates(data, **given, **more).results for more in ({}, {"accuracy_margin": 0.05}))
    assert (both["disparity_b_low"] >= 0).all()
    right = {name: (data[name] == data["y"]).astype(int) for name in "ab"}
    change = right["b"] - right["a"]
    p = np.exp(not_worse(np.array([(change == 1).sum(), (change == -1).sum(), (change == 0).sum()]), 0.05))
    assert both.loc["b", ["accuracy_a", "accuracy_b", "p_value_accuracy"]].tolist() == pytest.approx(
        [right["a"].mean(), right["b"].mean(), p]
    )
    np.testing.assert_array_equal(both["p_value"], fairer["p_value"])
    assert both.loc["coin", "p_value_accuracy"] > 0.5
    larger = np.sort(both[["p_value", "p_value_accuracy"]].max(axis=1))
    np.testing.assert_allclose(np.sort(both["p_value_adjusted"]), np.minimum(1, [2 * larger[0], larger[1]]))
    assert (both["p_value_adjusted"] >= fairer["p_value_adjusted"]).all()


def test_one_candidate_is_certified_in_words(data):
    hired = pd.Series(np.tile([1, 0], 200))
    today = hired.where((np.arange(400) < 200) | (np.arange(400) % 4 > 0), 0)
    found = compare_models(
        {"today": today, "new": hired}, y=hired, sensitive_features={"sex": np.repeat(["f", "m"], 200)},
        metric="selection_rate", alternative="fairer", accuracy_margin=0.02,
    )  # fmt: skip
    assert "Of 1 candidate, new is certified, compared with today" in str(found)
    assert "its accuracy is lower by 2.0 points or more" in str(found)
    assert "75.0% and 100.0%" in str(found) or "87.5% and 100.0%" in str(found)
    read = type(found).from_json(found.to_json())
    assert str(read) == str(found)
    assert read.accuracy_margin == 0.02


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"accuracy_margin": 0.02}, "accuracy_margin=0.02 .* it needs alternative='fairer'"),
        ({"accuracy_margin": 0.02, "alternative": "fairer", "y": None}, "it needs y, the true labels"),
        ({"accuracy_margin": 2, "alternative": "fairer"}, "accuracy_margin must"),
    ],
)
def test_accuracy_is_held_only_by_fairer_candidates_and_true_labels(data, params, message):
    with pytest.raises(ValueError, match=message):
        compare_models(
            [data["a"], data["b"]],
            **{"y": data["y"], "metric": "selection_rate", **params},
            sensitive_features=data["sex"],
        )


def test_many_candidates_say_how_much_more_trainings_would_find():
    rng = np.random.default_rng(0)
    models = rng.integers(0, 2, (11, 16))
    given = {"sensitive_features": np.repeat(["f", "m"], 8), "metric": "selection_rate"}
    text = str(compare_models(list(models), **given))
    assert "If the 10 candidates are independent trainings" in text
    assert "with 95% confidence at most 25.9% of further trainings would beat the best of them on these people" in text
    assert "does not hold for an adaptive search" in text
    assert "independent trainings" not in str(compare_models(list(models[:10]), **given))
