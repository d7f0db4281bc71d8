"""The null distribution of a fitted test's leading comparison: its kind, and that it is behind the p-value."""

import json
import pickle

import numpy as np
import pytest
from scipy.stats import fisher_exact
from sklearn.base import clone

from skfairtest import FairnessTest
from skfairtest.comparisons.core import Comparison, NullDistribution
from skfairtest.comparisons.null_histogram import null_histogram_of
from skfairtest.comparisons.rates import RateNull
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Pair, Question
from skfairtest.report.record import plain_value


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 300)
    y = rng.integers(0, 2, 300)
    score = rng.random(300) + 0.15 * group
    return {
        "y": y,
        "pred": (score > 0.5).astype(int),
        "score": score,
        "group": group,
        "stratum": rng.integers(0, 3, 300),
    }


def fit(people, metric="selection_rate", *, stratified=False, scores=False, **params):
    strata = {"control_features": people["stratum"]} if stratified else {}
    return FairnessTest.from_predictions(
        people["y"],
        people["score"] if scores else people["pred"],
        sensitive_features=people["group"],
        metric=metric,
        random_state=0,
        **{"compare": "to_rest", **params},
        **strata,
    )


def leading(test):
    return test.comparisons_.iloc[test._leading]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate", "accuracy"])
def test_the_law_of_a_rate_is_fishers_and_lies_above_the_unconditional_p(people, metric, alternative):
    test = fit(people, metric, alternative=alternative)
    histogram, row = test._null_histogram, leading(test)
    assert (histogram.kind, histogram.statistic) == ("enumerated", "difference")
    assert sum(histogram.mass) == pytest.approx(1, abs=1e-9)
    assert histogram.observed == pytest.approx(row["disparity"], abs=1e-12)
    assert histogram.p_value == row["p_value"]
    groups = test.by_group_
    own = groups.loc[row["group"]]
    rest = groups.drop(index=row["group"])
    x1, d1 = round(own["value"] * own["n_effective"]), int(own["n_effective"])
    x2, d2 = round((rest["value"] * rest["n_effective"]).sum()), int(rest["n_effective"].sum())
    theirs = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]], alternative=alternative).pvalue
    assert sum(histogram.extreme) == pytest.approx(theirs, rel=1e-6)
    assert histogram.p_value <= sum(histogram.extreme) * (1 + 1e-9)
    assert "largest probability" in histogram.note


def test_the_law_against_everyone_is_that_of_the_difference_to_everyone(people):
    test = fit(people, compare="to_overall")
    histogram, row = test._null_histogram, leading(test)
    assert histogram.observed == pytest.approx(row["disparity"], abs=1e-12)
    step = histogram.low[51] - histogram.low[50]
    own = people["group"] == row["group"]
    assert step == pytest.approx((1 - own.mean()) * (1 / own.sum() + 1 / (~own).sum()))


def test_the_law_of_strata_adds_up_to_their_exact_p(people):
    test = fit(people, stratified=True)
    histogram, row = test._null_histogram, leading(test)
    assert row["method"] == "exact conditional"
    assert sum(histogram.extreme) == pytest.approx(histogram.p_value, rel=1e-9)
    assert histogram.observed == pytest.approx(row["disparity"], abs=1e-12)
    assert "in every stratum" in histogram.note
    mean = sum(m * (low + high) / 2 for m, low, high in zip(histogram.mass, histogram.low, histogram.high, strict=True))
    assert mean == pytest.approx(0, abs=1e-6)


def test_a_ratio_is_drawn_as_a_difference_and_f1_as_the_share_behind_it(people):
    ratio = fit(people, disparity="ratio")._null_histogram
    difference = fit(people)._null_histogram
    assert ratio == difference
    f1 = fit(people, "f1")
    assert f1._null_histogram.statistic == "difference of the shares behind f1"
    assert np.sign(f1._null_histogram.observed) == np.sign(f1.disparity_)


@pytest.mark.parametrize("params", [
    {"metric": "selection_rate", "method": "permutation", "n_resamples": 199},
    {"metric": "selection_rate", "method": "permutation", "variance": None, "n_resamples": 199},
    {"metric": "roc_auc", "scores": True, "method": "permutation", "n_resamples": 199},
    {"metric": "roc_auc", "scores": True, "method": "permutation", "n_resamples": 199, "alternative": "less"},
    {"metric": "normalized_mutual_info", "n_resamples": 199, "compare": "between_groups"},
    {"metric": "selection_rate", "method": "bootstrap", "n_resamples": 199},
])  # fmt: skip
def test_draws_are_counted_as_the_p_value_counts_them(people, params):
    test = fit(people, **params)
    histogram = test._null_histogram
    assert histogram.kind == "drawn"
    assert sum(histogram.mass) == pytest.approx(1)
    extreme = round(sum(histogram.extreme) * 199)
    assert histogram.p_value == pytest.approx((1 + extreme) / 200)
    assert histogram.observed == test.statistic_
    assert f"{extreme} are at least as extreme" in histogram.note


def test_an_adaptive_test_shows_the_draws_that_it_counted(people):
    test = fit(
        people, "roc_auc", scores=True, method="permutation", n_resamples="adaptive", compare="to_reference",
        reference_group=0,
    )  # fmt: skip
    histogram = test._null_histogram
    drawn = test.null_distribution_[:, test._leading]
    used = int((~np.isnan(drawn)).sum())
    assert used < 9999
    assert f" {used:,} permutations" in histogram.note
    assert sum(histogram.mass) == pytest.approx(1)


@pytest.mark.parametrize(("side", "margin", "times"), [
    ("two-sided", 0.02, 2), ("greater", 0.02, 1), ("less", 0.02, 1), ("equivalence", 0.4, 1),
])  # fmt: skip
@pytest.mark.parametrize("metric", ["selection_rate", "roc_auc"])
def test_a_margin_is_drawn_as_the_tail_of_the_edge_that_decides(people, metric, side, margin, times):
    scores = metric == "roc_auc"
    test = fit(
        people, metric, scores=scores, alternative=side, margin=margin, method="auto" if scores else "asymptotic"
    )
    histogram = test._null_histogram
    assert (histogram.kind, histogram.statistic) == ("normal", "studentized distance from the margin")
    assert times * sum(histogram.extreme) == pytest.approx(histogram.p_value, rel=1e-6) or histogram.p_value == 1
    drawn = fit(
        people, "selection_rate", alternative=side, margin=margin, method="bootstrap", n_resamples=199
    )._null_histogram
    assert drawn.kind == "drawn"
    assert min(1, times * (1 + round(199 * sum(drawn.extreme))) / 200) == pytest.approx(drawn.p_value)


def test_an_exact_margin_says_that_the_normal_distribution_only_stands_for_its_own(people):
    histogram = fit(people, margin=0.02)._null_histogram
    assert histogram.kind == "normal"
    assert "in place of the exact distribution" in histogram.note


@pytest.mark.parametrize("seed", range(3))
def test_infinite_draws_are_told(seed):
    # All of one group and none of the other: a difference of 1 with a plug-in error of 0, in 2 of 20 arrangements.
    rng = np.random.default_rng(seed)
    test = FairnessTest.from_predictions(
        None, [0, 0, 1, 1, 0, 1], sensitive_features=list("aaabbb"), metric="selection_rate",
        method="permutation", variance="delta", random_state=int(rng.integers(100)), n_resamples=99,
    )  # fmt: skip
    histogram = test._null_histogram
    infinite = int(np.isinf(test.null_distribution_).sum())
    defined = int((~np.isnan(test.null_distribution_)).sum())
    assert infinite > 0
    assert sum(histogram.mass) == pytest.approx((defined - infinite) / defined)
    assert f"{infinite} of them are infinite and not drawn" in histogram.note


def finding(statistic, draws=None, pair=None, method="permutation", n_undefined=0):
    null = NullDistribution(Question()) if pair is None else RateNull(Question(), pair, Scale())
    return Comparison(
        "metric", "a", "b", None, Contrast(0, 1), 9, 9, 0.5, 0.5, 0.0, null, log_p=-1.0, method=method,
        statistic=statistic, standard_error=1.0, draws=draws, n_undefined=n_undefined, log_p_adjusted=-1.0,
    )  # fmt: skip


def test_an_undefined_statistic_has_no_law():
    assert null_histogram_of(finding(np.nan, np.zeros(9))) is None
    assert null_histogram_of(finding(np.nan, method="asymptotic")) is None
    assert null_histogram_of(finding(1.0, np.full(9, np.nan))) is None


def test_an_infinite_statistic_and_undefined_draws_are_told():
    histogram = null_histogram_of(finding(np.inf, np.array([0.0, 1.0, np.nan]), n_undefined=1))
    assert "it is undefined in 1 other draw, which is not counted" in histogram.note
    assert "the data's own statistic is infinite" in histogram.note
    assert sum(histogram.extreme) == 0


def test_where_people_are_too_many_the_normal_distribution_stands_for_the_exact_one():
    pair = Pair(*(np.array([k]) for k in (3 * 10**11, 10**12, 4 * 10**11, 10**12)))
    histogram = null_histogram_of(finding(-2.0, pair=pair, method="exact conditional"))
    assert histogram.kind == "normal"
    assert "drawn for this many people in place of the exact distribution" in histogram.note


def test_a_law_is_plain_data_and_survives_json_pickle_and_clone(people):
    test = fit(people)
    histogram = test._null_histogram
    assert all(
        type(value) is float for name in ("low", "high", "mass", "extreme") for value in getattr(histogram, name)
    )
    json.dumps(plain_value(histogram), allow_nan=False)
    assert pickle.loads(pickle.dumps(test))._null_histogram == histogram
    assert not hasattr(clone(test), "_law")
