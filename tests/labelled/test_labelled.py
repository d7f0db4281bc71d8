"""Few labels and a judge: what is estimated, what is read and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom, norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from skfairtest import CountTable, FairnessTest, LabelledFairnessTest, Rate, SmallGroupWarning
from skfairtest.labelled.measure import rate_of_group
from skfairtest.labelled.statistics import LabelledRate, disparity_statistic

N = 600
RNG = np.random.default_rng(3)
GROUP = RNG.choice(["a", "b"], N)
Y = (RNG.random(N) < np.where(GROUP == "a", 0.5, 0.3)).astype(float)
SCORE = np.clip(0.2 + 0.6 * Y + RNG.normal(scale=0.15, size=N), 0, 1)
GUESS = (SCORE > 0.5).astype(float)
PRED = (RNG.random(N) < np.where(Y == 1, 0.7, 0.2)).astype(float)
KNOWN = RNG.permutation(N) < 120
TRUTH = np.where(KNOWN, Y, np.nan)
#: The roles of a rate that everybody meets the condition of.
EVENT = np.array([[[1.0, 1.0], [0.0, 1.0]]])


def run(y_true=TRUTH, y_pred=PRED, *, sensitive_features=GROUP, **params):
    params = {"y_judge": GUESS, "labelled": "at_random", "metric": "accuracy"} | params
    return LabelledFairnessTest.from_predictions(y_true, y_pred, sensitive_features=sensitive_features, **params)


def post_stratified(event, given, strata, rows):
    """A rate with the shares of everybody's strata: sums of stratum means."""
    top = bottom = 0.0
    for stratum in np.unique(strata[rows]):
        here = rows & (strata == stratum)
        share = here.sum() / rows.sum()
        top += share * event[here & KNOWN].mean()
        bottom += share * given[here & KNOWN].mean()
    return top / bottom


@pytest.mark.parametrize(
    ("metric", "event", "given", "strata"),
    [
        ("accuracy", Y == PRED, np.ones(N), GUESS == PRED),
        ("precision", (Y == 1) & (PRED == 1), PRED == 1, GUESS + 2 * PRED),
        ("true_positive_rate", (Y == 1) & (PRED == 1), Y == 1, GUESS + 2 * PRED),
        ("jaccard", (Y == 1) & (PRED == 1), (Y == 1) | (PRED == 1), GUESS + 2 * PRED),
    ],
)
def test_rates_are_post_stratified_by_the_judge(metric, event, given, strata):
    test = run(metric=metric)
    for group, row in test.by_group_.iterrows():
        expected = post_stratified(event, given, np.asarray(strata, dtype=float), group == GROUP)
        assert row["value"] == pytest.approx(expected)
        assert row["ci_low"] < expected < row["ci_high"]
    assert test.disparity_ == pytest.approx(test.by_group_["value"]["a"] - test.by_group_["value"]["b"])


def test_everybody_labelled_is_fairness_test():
    expected = FairnessTest.from_predictions(Y, PRED, sensitive_features=GROUP)
    test = LabelledFairnessTest.from_predictions(Y, PRED, sensitive_features=GROUP, y_judge=GUESS)
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    assert test.p_value_ == expected.p_value_
    assert "Everyone has a label." in str(test)


def test_labels_and_a_good_judge_are_worth_more_labels():
    test = run()
    assert test.labels_["labels"].sum() == 120
    assert (test.labels_["worth"] > 1.3 * test.labels_["labels"]).all()
    worth = round(test.labels_["worth"].sum())
    assert f"120 labels and the judge are worth {worth:,} labels" in str(test)
    alone = run(y_judge=None)
    low, high = test.confidence_interval_
    assert high - low < 0.8 * (alone.confidence_interval_[1] - alone.confidence_interval_[0])
    assert "to which the judge adds nothing" in str(alone)
    assert alone.labels_["value_judge"].isna().all()
    assert "by the judge alone" not in str(alone)


def test_a_biased_judge_is_shown_and_does_no_harm():
    """In group b the judge calls everybody wrong; the estimate stays near the truth, and the judge does not."""
    judge = np.where(GROUP == "b", 1 - PRED, GUESS)
    test = run(y_judge=judge)
    truth = (Y == PRED)[GROUP == "a"].mean() - (Y == PRED)[GROUP == "b"].mean()
    low, high = test.confidence_interval_
    assert low < truth < high
    (row,) = test.judge_.to_dict("records")
    assert row["disparity_judge"] == pytest.approx((GUESS == PRED)[GROUP == "a"].mean())
    assert row["bias"] == pytest.approx(row["disparity_judge"] - test.disparity_)
    assert row["p_value"] < 1e-6
    assert "The judge is biased between groups" in str(test)
    assert run().judge_["p_value"][0] > 0.01
    assert "biased between" not in str(run())


def test_an_inverted_judge_is_as_good_as_a_right_one():
    right, inverted = run(), run(y_judge=1 - GUESS)
    assert inverted.p_value_ == pytest.approx(right.p_value_, rel=1e-6)
    assert inverted.disparity_ == pytest.approx(right.disparity_)


def test_a_monotone_transformation_of_a_guess_changes_nothing_and_scores_may_have_any_scale():
    assert run(y_judge=3 * GUESS - 7).p_value_ == pytest.approx(run().p_value_, rel=1e-9)
    test = run(y_judge=10 * SCORE)
    assert test.p_value_ == pytest.approx(run(y_judge=SCORE).p_value_, rel=1e-9)
    assert test.labels_["value_judge"].isna().all()  # no probabilities


def test_probabilities_of_labels_weight_what_was_chosen_unequally():
    """People whom the judge finds positive are labelled three times as often; equal probabilities ignore that."""
    probability = np.where(GUESS == 1, 0.6, 0.2)
    known = np.random.default_rng(0).random(N) < probability
    truth = np.where(known, Y, np.nan)
    share = Rate("base_rate", event="y_true")
    test = run(truth, label_probability=probability, labelled=None, y_judge=None, metric=share)
    for group, row in test.by_group_.iterrows():
        rows = group == GROUP
        expected = sum((rows & (g == GUESS)).sum() / rows.sum() * Y[rows & known & (g == GUESS)].mean() for g in (0, 1))
        assert row["value"] == pytest.approx(expected)
    # More different probabilities: weighted means of those from one power of 2 to the next.
    varying = np.clip(probability + np.random.default_rng(1).uniform(-0.1, 0.1, N), 0.05, 1)
    with pytest.warns(SmallGroupWarning, match="expected labels"):
        weighted = run(truth, label_probability=varying, labelled=None, y_judge=None, metric=share)
    stratum = np.ceil(np.log2(varying))
    for group, row in weighted.by_group_.iterrows():
        rows = group == GROUP
        expected = sum(
            (rows & here).sum() / rows.sum() * np.average(Y[of], weights=1 / varying[of])
            for here in (stratum == level for level in np.unique(stratum))
            for of in [rows & here & known]
        )
        assert row["value"] == pytest.approx(expected)


def test_people_whose_probability_no_label_has_count_with_those_of_the_next():
    """Half of the people have the probability .02 and rarely a label; what few others say of them is little."""
    n = 40
    probability, y = np.repeat([0.02, 0.5], n // 2), np.repeat([1.0, 0.0], n // 2)
    labelled = np.arange(n) >= n - 10
    rate = rate_of_group(y, np.zeros(n), np.zeros(n, dtype=np.intp), EVENT, labelled, probability, known=True)
    assert rate.labels.tolist() == pytest.approx([10 / 0.5 * 0.02])
    assert rate.limits(1.96)[1] > 0.85
    assert rate.limits(1.96)[0] == 0


@pytest.mark.parametrize("low", [0.01, "continuous"])
@pytest.mark.parametrize("link", ["low", "none", "high"])
def test_unequal_probabilities_have_their_size_with_a_useless_judge(low, link, thorough):
    """The event may be frequent where labels are rare; nobody, or hardly anybody, may have a label there."""
    n, rate, sets = 600, 0.3, 800 if thorough else 150
    rng = np.random.default_rng([11, ["low", "none", "high"].index(link)])
    sides = [[], []]
    for place in range(2 * sets):
        probability = np.where(rng.random(n) < 0.5, low, 0.4) if low == 0.01 else rng.beta(0.5, 2, n).clip(0.01)
        rare = probability < np.median(probability) if low != 0.01 else probability == low
        y = rng.random(n) < np.where(rare, *{"low": (0.55, 0.05), "none": (rate, rate), "high": (0.05, 0.55)}[link])
        score, labelled = rng.integers(0, 2, n).astype(float), rng.random(n) < probability
        kinds = np.zeros(n, dtype=np.intp)
        sides[place % 2].append(rate_of_group(y * 1.0, score, kinds, EVENT, labelled, probability, known=True))
    rates = LabelledRate.stacked(*sides)
    rejected = (np.abs(disparity_statistic(rates, 0.0, "difference")) > norm.isf(0.025)).sum()
    assert binom.sf(rejected - 1, sets, 0.05) > 0.001


def test_few_expected_labels_and_labels_of_clear_cases_have_a_caution():
    probability = np.where(np.arange(N) % 3 == 0, 0.02, 0.5)
    known = np.random.default_rng(3).random(N) < probability
    with pytest.warns(SmallGroupWarning, match="expected labels of .* small label_probability.*more labels help"):
        run(np.where(known, Y, np.nan), label_probability=probability, labelled=None)
    clear = np.where(np.abs(SCORE - 0.5) > 0.3, Y, np.nan)
    with pytest.warns(SmallGroupWarning, match="do not look random, although labelled='at_random' says"):
        run(clear, y_judge=SCORE)


def test_three_groups_and_the_rest():
    groups = np.where((GROUP == "a") & (np.arange(N) % 2 == 0), "c", GROUP)
    test = run(sensitive_features=groups, compare="to_rest")
    assert test.comparisons_["other"].tolist() == ["rest"] * 3
    row = test.comparisons_.set_index("group").loc["b"]
    values, sizes = test.by_group_["value"], test.by_group_["n"]
    assert row["value_other"] == pytest.approx(np.average(values[["a", "c"]], weights=sizes[["a", "c"]]))
    pairs = run(sensitive_features=groups)
    assert len(pairs.comparisons_) == 3
    assert run(sensitive_features=groups, reference_group="c").comparisons_["other"].tolist() == ["c", "c"]


def test_the_rest_may_hold_a_group_in_which_nobody_meets_the_condition():
    """Nobody of group c is predicted positive, so that its people add nothing to the precision of the rest."""
    groups, pred = np.where(np.arange(N) % 5 == 0, "c", GROUP), np.where(np.arange(N) % 5 == 0, 0.0, PRED)
    with pytest.warns(UndefinedMetricWarning, match="no labelled person meets the condition"):
        test = run(y_pred=pred, sensitive_features=groups, compare="to_rest", disparity="ratio", metric="precision")
    assert test.comparisons_["group"].tolist() == ["a", "b"]
    values = test.by_group_["value"]
    assert np.isnan(values["c"])
    assert test.comparisons_["disparity"].tolist() == pytest.approx(
        [values["a"] / values["b"], values["b"] / values["a"]]
    )


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_intervals_are_the_disparities_that_are_not_rejected(disparity):
    for end, alternative in zip(run(disparity=disparity).confidence_interval_, ("greater", "less"), strict=True):
        edge = {"difference": (end, 0.0), "ratio": (end, 1.0)}[disparity]
        test = run(disparity=disparity, alternative="equivalence", margin=tuple(sorted(edge)))
        side = [p for p in [test.p_value_] if alternative]
        assert side[0] >= 0.0249


def test_equivalence_with_a_wide_margin_is_shown():
    assert not run(alternative="equivalence", margin=0.9).concern_
    assert run(alternative="equivalence", margin=0.001).concern_


def test_directions_have_one_sided_p_values():
    two, greater, less = (run(alternative=a).p_value_ for a in ("two-sided", "greater", "less"))
    z = run().statistic_
    assert z < 0
    least = norm.cdf(z) * (1 - 1e-12)  # but for rounding
    assert least <= less < two < greater <= 1
    assert two >= 2 * least


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"labelled": None}, "y_true is missing for 480 of 600 people, and nothing says how the others were chosen"),
        ({"label_probability": np.full(N, 0.2)}, "leave one of them out"),
        ({"labelled": None, "label_probability": np.full(N, 1.2)}, "above 0 and at most 1 for every person; found 1.2"),
        ({"labelled": None, "label_probability": np.zeros(N)}, "above 0 and at most 1 for every person; found 0 to 0"),
        ({"labelled": None, "label_probability": ["x"] * N}, "found values that are not numbers"),
        ({"labelled": None, "label_probability": np.ones(N)}, "label_probability is 1 for 480 people"),
        ({"y_true": np.full(N, np.nan)}, "y_true is missing for all 600 people"),
        ({"y_judge": np.where(KNOWN, GUESS, np.nan)}, "y_judge has 480 missing values"),
        ({"y_judge": ["yes"] * N}, "y_judge holds .yes.: a number never equals text"),
        ({"y_judge": GUESS[1:]}, "different lengths"),
        ({"label_probability": np.full(N - 1, 0.2), "labelled": None}, "different lengths"),
        ({"metric": "selection_rate"}, "FairnessTest for what needs none"),
        ({"metric": ["accuracy", "selection_rate"]}, "metric=selection_rate has no test with few labels"),
        ({"metric": ["accuracy", "f1"]}, "metric=f1 has no test with few labels"),
        ({"metric": "roc_auc"}, "has no test with few labels"),
        ({"metric": "f1"}, "jaccard"),
        ({"compare": "to_overall"}, "compare"),
        ({"disparity": "odds_ratio"}, "disparity"),
        ({"adjust": "max_t"}, "adjust"),
        ({"labelled": "by_complaint"}, "labelled"),
        ({"clusters": np.arange(N) // 2}, "clusters was given, and labels .* label one row of each cluster"),
    ],
)
def test_what_is_refused_names_what_to_do(more, says):
    with pytest.raises(ValueError, match=says):
        run(**more)


def test_missing_labels_of_other_tests_name_this_one():
    with pytest.raises(ValueError, match="LabelledFairnessTest"):
        FairnessTest.from_predictions(TRUTH, PRED, sensitive_features=GROUP)


def test_tables_are_refused():
    table = CountTable.from_predictions(Y, PRED, sensitive_features=GROUP)
    with pytest.raises(ValueError, match=r"use FairnessTest\.from_table"):
        LabelledFairnessTest.from_table(table)
    with pytest.raises(ValueError, match=r"use FairnessTest\.from_table"):
        LabelledFairnessTest.from_frame(pd.DataFrame({"g": GROUP}), sensitive_features="g")


@pytest.mark.parametrize("write", [list, pd.Series, pl.Series, lambda v: np.array(v, dtype=object)])
def test_missing_labels_are_read_from_every_container(write):
    labels = [None if missing else ["no", "yes"][int(value)] for missing, value in zip(~KNOWN, Y, strict=True)]
    words = [["no", "yes"][int(value)] for value in PRED]
    guesses = [["no", "yes"][int(value)] for value in GUESS]
    test = run(write(labels), write(words), y_judge=write(guesses), pos_label="yes", metric="true_positive_rate")
    assert test.p_value_ == pytest.approx(run(metric="true_positive_rate").p_value_, rel=1e-9)
    assert test.pos_label_ == "yes"


def test_only_negatives_among_the_labels_say_little_and_no_more():
    truth = np.where(KNOWN & (Y == 0), 0.0, np.nan)
    test = run(truth, metric=Rate("base_rate", event="y_true"), y_judge=None)
    assert test.disparity_ == 0
    assert test.p_value_ == 1
    low, high = test.confidence_interval_
    assert low < -0.01 < 0.01 < high
    with pytest.raises(ValueError, match="no comparison is defined: undefined: no labelled person meets the condition"):
        run(truth, metric="true_positive_rate")


def test_a_prediction_of_which_nobody_is_labelled_is_left_out():
    truth = np.where(KNOWN & ~((GROUP == "a") & (PRED == 1)), Y, np.nan)
    groups = np.where((GROUP == "b") & (np.arange(N) % 2 == 0), "c", GROUP)
    with pytest.warns(UndefinedMetricWarning, match="no one with one of the predictions has a label"):
        test = run(truth, sensitive_features=groups, metric="precision")
    assert test.comparisons_[["group", "other"]].to_numpy().tolist() == [["b", "c"]]
    assert len(test.excluded_) == 2


def test_several_labels_have_accuracies_with_guessed_labels():
    rng = np.random.default_rng(5)
    y = rng.choice(["x", "y", "z"], N)
    pred = np.where(rng.random(N) < 0.6, y, rng.choice(["x", "y", "z"], N))
    judge = np.where(rng.random(N) < 0.9, y, "x")
    truth = np.where(KNOWN, y, None)
    test = run(truth, pred, y_judge=judge)
    strata = (judge == pred).astype(float)
    for group, row in test.by_group_.iterrows():
        assert row["value"] == pytest.approx(post_stratified(y == pred, np.ones(N), strata, group == GROUP))
    with pytest.raises(ValueError, match="more than two labels: pass guessed labels"):
        run(truth, pred, y_judge=rng.random(N))


def test_a_model_and_columns_by_name():
    X = pd.DataFrame({"s": SCORE, "group": GROUP, "judge": GUESS, "p": 0.2})
    model = LogisticRegression().fit(X[["s"]].to_numpy(), Y)

    class Wrapped:
        classes_ = model.classes_

        def predict(self, data):
            return model.predict(data[["s"]].to_numpy())

    test = LabelledFairnessTest(Wrapped(), metric="accuracy").fit(
        X, TRUTH, sensitive_features="group", y_judge="judge", label_probability="p"
    )
    expected = run(y_pred=model.predict(X[["s"]].to_numpy()))
    assert test.p_value_ == pytest.approx(expected.p_value_)
