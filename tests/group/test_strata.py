"""Strata and other questions of a fitted test: Berkeley's paradox, odds ratios, homogeneity, decompositions, curves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact, nchypergeom_fisher, norm, ttest_ind
from scipy.stats.contingency import odds_ratio
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_berkeley
from skfairtest.inference import rates
from skfairtest.inference.homogeneity import score_homogeneity
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.odds_ratio import conditional_limits, mantel_haenszel_odds_ratio

BERKELEY = load_berkeley()
ADMITTED = {"metric": "selection_rate"}
#: Women admitted, women, men admitted, men, by department (R's UCBAdmissions).
DEPARTMENTS = {
    "A": (89, 108, 512, 825),
    "B": (17, 25, 353, 560),
    "C": (202, 593, 120, 325),
    "D": (131, 375, 138, 417),
    "E": (94, 393, 53, 191),
    "F": (24, 341, 22, 373),
}
A, N, B, M = (np.array(column, dtype=float) for column in zip(*DEPARTMENTS.values(), strict=True))


def berkeley(rows=slice(None), **params):
    y = np.asarray(BERKELEY.y_true)[rows]
    columns = {
        "sensitive_features": BERKELEY.sensitive_features[["sex"]][rows],
        "control_features": BERKELEY.control_features[["department"]][rows],
    }
    return FairnessTest.from_predictions(y, y, **columns, **ADMITTED, **params)


@pytest.fixture(scope="module")
def within():
    """By sex, within departments."""
    return berkeley()


# Berkeley 1973: a disparity against women that reverses within departments --------------------------------------------


def test_by_sex_alone_women_are_admitted_significantly_less_often(berkeley_table):
    # 557 of 1835 women and 1198 of 2691 men (Bickel et al. 1975, the six largest departments).
    overall = FairnessTest.from_table(berkeley_table.regroup("sex", []), **ADMITTED)
    assert overall.disparity_ == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    assert overall.p_value_ < 1e-20
    assert overall.concern_
    (row,) = overall.comparisons_.itertuples()
    assert (row.group, row.other) == ("Female", "Male")


def test_within_departments_the_pooled_disparity_reverses(within, berkeley_table):
    # Mantel-Haenszel: the sum of w (r1 - r2) over the sum of w, w = n1 n2 / (n1 + n2).
    assert within.disparity_ == pytest.approx(np.average(A / N - B / M, weights=N * M / (N + M)), rel=1e-12)
    assert within.disparity_ == pytest.approx(0.018, abs=0.001)
    assert not within.concern_
    pooled = within.comparisons_.iloc[0]
    assert pooled["stratum"] is None
    assert pooled["value_group"] - pooled["value_other"] == pytest.approx(pooled["disparity"])
    assert within.confidence_interval_[0] < 0 < within.confidence_interval_[1]
    strata = within.comparisons_.iloc[1:].set_index("stratum")
    assert list(strata.index) == list(DEPARTMENTS)
    assert list(strata.index[strata["concern"]]) == ["A"]
    np.testing.assert_allclose(strata["disparity"], A / N - B / M)
    # A family of its own: Holm over the six strata, of which the others' tables allow somewhat smaller p-values only.
    assert strata.loc["A", ["p_value_adjusted", "p_value"]].astype(float).pipe(lambda p: 5 < p.iloc[0] / p.iloc[1] < 6)
    holm = FairnessTest.from_table(berkeley_table, adjust="holm", **ADMITTED).comparisons_.set_index("stratum").loc["A"]
    assert holm["p_value_adjusted"] == pytest.approx(6 * holm["p_value"])
    np.testing.assert_allclose(within.by_group_["value"].unstack("sex").to_numpy().T, [A / N, B / M])
    assert FairnessTest.from_table(berkeley_table, **ADMITTED).p_value_ == within.p_value_
    ratio = FairnessTest.from_table(berkeley_table, disparity="ratio", **ADMITTED)
    assert ratio.disparity_ == pytest.approx((A * M / (N + M)).sum() / (B * N / (N + M)).sum(), rel=1e-12)
    assert ratio.p_value_ == within.p_value_
    # Draws are ordered by distance and outcomes by probability, which differ little here.
    drawn = FairnessTest.from_table(berkeley_table, method="permutation", random_state=0, n_resamples=1999, **ADMITTED)
    low, high = drawn.p_value_interval_
    assert low - 0.01 < within.p_value_ < high + 0.01
    assert drawn.null_distribution_.shape == (1999, 7)


# Odds ratios: Fisher's test with its exact limits, Mantel and Haenszel's over strata, margins -------------------------


def compared(x1, d1, x2, d2, **params):
    y = np.repeat([1, 0, 1, 0], [x1, d1 - x1, x2, d2 - x2])
    params = {"metric": "selection_rate", "disparity": "odds_ratio", **params}
    return FairnessTest(**params).fit(y, sensitive_features=np.repeat(["a", "b"], [d1, d2]))


TABLES = [(8, 10, 1, 6), (2, 10, 15, 25), (141, 340, 1854, 3623), (0, 10, 3, 12), (40, 40, 30, 50)]


@st.composite
def tables(draw):
    d1, d2 = draw(st.integers(2, 15)), draw(st.integers(2, 15))
    x1, x2 = draw(st.integers(0, d1)), draw(st.integers(0, d2))
    assume(0 < x1 + x2 < d1 + d2)
    return x1, d1, x2, d2


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("table", TABLES)
def test_fishers_test_with_its_exact_limits(table, alternative):
    x1, d1, x2, d2 = table
    counts = [[x1, d1 - x1], [x2, d2 - x2]]
    test, theirs = compared(*table, alternative=alternative), odds_ratio(counts)
    assert test.p_value_ == pytest.approx(fisher_exact(counts, alternative).pvalue)
    assert test.disparity_ == pytest.approx(theirs.statistic, rel=1e-6)
    limits = theirs.confidence_interval(0.95, alternative)
    assert test.confidence_interval_ == pytest.approx(tuple(limits), rel=1e-6)
    assert (test.method_, test.comparisons_["method"][0]) == ("exact", "exact conditional")


@given(tables(), st.sampled_from([0.3, 0.5, 0.8]))
def test_margins_are_tested_by_the_noncentral_distribution(table, margin):
    x1, d1, x2, d2 = table
    above, below = (nchypergeom_fisher(d1 + d2, x1 + x2, d1, edge) for edge in (1 / margin, margin))
    greater, less = above.sf(x1 - 1), below.cdf(x1)
    assert compared(*table, margin=margin, alternative="greater").p_value_ == pytest.approx(greater, rel=1e-6)
    assert compared(*table, margin=margin, alternative="less").p_value_ == pytest.approx(less, rel=1e-6)
    assert compared(*table, margin=margin).p_value_ == pytest.approx(min(1, 2 * min(greater, less)), rel=1e-6)
    certified = max(below.sf(x1 - 1), above.cdf(x1))
    assert compared(*table, margin=margin, alternative="equivalence").p_value_ == pytest.approx(certified, rel=1e-6)


def test_strata_have_mantel_and_haenszels_and_berkeleys_are_not_homogeneous(within):
    test = berkeley(disparity="odds_ratio")
    pooled = test.comparisons_.iloc[0]
    estimate, error, low, high = mantel_haenszel_odds_ratio(A, N, B, M, 1.959964)
    found = pooled[["disparity", "standard_error", "ci_low", "ci_high"]].tolist()
    assert found == pytest.approx([estimate, error, low, high], rel=1e-6)
    assert pooled["p_value"] == pytest.approx(within.comparisons_["p_value"][0], rel=1e-9)  # the same convolution
    (row,) = test.homogeneity_.to_dict("records")
    assert (row["method"], row["stratum"], row["df"]) == ("sampled conditional", "A", 5)
    assert row["statistic"] == pytest.approx(18.8255, abs=5e-5)  # Breslow and Day's; Tarone's correction is 5e-7 here
    assert row["p_value"] == pytest.approx(0.00126, abs=3 * np.sqrt(0.00126 / 9999))  # enumerated


def test_rates_of_zero_or_one_on_both_sides_have_none():
    for counts in ((0, 10, 0, 12), (10, 10, 12, 12)):
        with pytest.warns(UndefinedMetricWarning, match="both values are 0 or 1: their odds ratio is undefined"):
            test = compared(*counts)
        assert np.isnan(test.disparity_)
        assert (test.p_value_, test.confidence_interval_) == (1.0, (0.0, np.inf))


def test_coverage_of_exact_limits():
    """Enumerated: 8 against 6 people at a rate of .3 among the latter, for five odds ratios."""
    x1, x2 = np.indices((9, 7)).reshape(2, -1)
    tables = (np.array([[a], [8], [b], [6]]) for a, b in zip(x1, x2, strict=True))
    low, high = np.transpose([conditional_limits(*table, 0.025, 0.025) for table in tables])
    for truth in (0.2, 0.5, 1.0, 2.0, 5.0):
        odds = truth * 0.3 / 0.7
        mass = binom.pmf(x1, 8, odds / (1 + odds)) * binom.pmf(x2, 6, 0.3)
        assert mass[(low <= truth) & (truth <= high)].sum() >= 0.95


# Is a disparity the same in every stratum -----------------------------------------------------------------------------


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_a_rate_of_berkeleys_departments(disparity):
    (row,) = berkeley(disparity=disparity).homogeneity_.to_dict("records")
    expected = score_homogeneity(A, N, B, M, disparity)
    assert (row["statistic"], row["df"], row["p_value"]) == (expected.statistic, 5, expected.p_value)
    assert (row["stratum"], row["n_strata"], row["method"]) == ("A", 6, "asymptotic")
    assert row["p_value"] < 0.01
    assert row["p_value_adjusted"] == pytest.approx(row["p_value"])
    without = berkeley(BERKELEY.control_features["department"].to_numpy() != "A")
    assert without.homogeneity_["p_value"][0] == pytest.approx(0.61, abs=0.03)


def test_the_ratio_to_everyone_is_the_indirectly_standardised_one():
    rows = berkeley(compare="to_overall", disparity="ratio").comparisons_
    women = rows.query("group == 'Female' and stratum.isna()").iloc[0]
    assert women["disparity"] == pytest.approx(A.sum() / (N * (A + B) / (N + M)).sum())


def test_other_metrics_have_cochrans_q_and_rows_are_a_family(compas):
    groups = compas.sensitive_features
    columns = {"sensitive_features": groups["sex"], "control_features": groups["age_cat"], "random_state": 0}
    metrics = ["roc_auc", "f1", "accuracy", "mean_residual"]
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, y_score=compas.decile_score, metric=metrics, n_resamples=99, **columns
    )
    found = test.homogeneity_.set_index("metric").loc["roc_auc"]
    strata = test.comparisons_.query("metric == 'roc_auc' and stratum.notna()")
    weights = 1 / strata["standard_error"] ** 2
    common = float((weights * strata["disparity"]).sum() / weights.sum())
    assert found["common"] == pytest.approx(common, abs=1e-3)
    assert found["statistic"] == pytest.approx(float((weights * (strata["disparity"] - common) ** 2).sum()), rel=0.02)
    ordered = test.homogeneity_.sort_values("p_value")
    assert set(ordered["metric"]) == set(metrics)
    assert ordered["p_value_adjusted"].iloc[0] == pytest.approx(min(1, 4 * ordered["p_value"].iloc[0]))
    assert ordered["p_value_adjusted"].is_monotonic_increasing
    raw = {"metric": "mean_residual", "variance": None, "n_resamples": 99, **columns}
    assert FairnessTest.from_predictions(compas.y_true, compas.y_pred, **raw).homogeneity_.empty


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


# Decomposed disparities -----------------------------------------------------------------------------------------------


def test_berkeleys_standardized_rates_are_the_published_ones(within):
    """Freedman, Pisani and Purves, Statistics, chapter 2, table 2: men 39%, women 43%, weighted by all applicants."""
    found = within.decompose(standard="pooled")
    rows, weight = found.by_stratum, (N + M) / 4526
    assert (weight @ rows["value_group"]).round(2) == 0.43
    assert (weight @ rows["value_other"]).round(2) == 0.39
    assert found.parts["value"]["treatment"] == pytest.approx(weight @ (rows["value_group"] - rows["value_other"]))
    assert found.parts["value"]["difference"].round(4) == -0.1416
    first, second = within.decompose(), within.decompose(group="Male")
    assert second.other == "Female"
    assert second.parts["value"].to_numpy() == pytest.approx(-first.parts["value"].to_numpy())
    assert second.parts["standard_error"].to_numpy() == pytest.approx(first.parts["standard_error"].to_numpy())
    assert str(first).startswith("selection_rate of Female minus that of Male: -0.1416")


def people(n=900):
    rng = np.random.default_rng(0)
    group, site = rng.choice(list("abc"), n), rng.choice(["x", "y"], n)
    return rng.integers(0, 2, n), rng.random(n), group, site


def test_a_mean_is_decomposed_as_numpy_does_it():
    y_true, score, group, site = people()
    test = FairnessTest.from_predictions(
        y_true, score, sensitive_features=group, control_features=site, metric="mean_prediction", n_resamples=99,
        random_state=0,
    )  # fmt: skip
    found = test.decompose(group="a", other="b", standard="other")
    share = np.array([(site[group == "b"] == s).mean() for s in "xy"])
    values = [[score[(group == g) & (site == s)].mean() for s in "xy"] for g in "ab"]
    assert found.parts["value"]["treatment"] == pytest.approx(share @ np.subtract(*values))
    assert found.parts["value"]["difference"] == pytest.approx(score[group == "a"].mean() - score[group == "b"].mean())


@pytest.mark.parametrize(
    ("metric", "columns", "arguments", "says"),
    [
        ("selection_rate", {}, {"group": "a", "other": "b"}, "control_features were not given"),
        ("selection_rate", {"control_features": "site"}, {}, "group must be one of 'a', 'b', 'c'"),
        ("selection_rate", {"control_features": "site"}, {"group": "z"}, "group='z' is not one of"),
        ("selection_rate", {"control_features": "site"}, {"group": "a", "other": "a"}, "other='a' is not one of"),
        ("selection_rate", {"control_features": "site"}, {"standard": "men"}, "standard"),
        ("equalized_odds", {"control_features": "site"}, {"group": "a", "other": "b"}, "metric must be one of"),
        ("f1", {"control_features": "site"}, {"group": "a", "other": "b"}, "is not a rate or a mean"),
        ("balanced_accuracy", {"control_features": "site"}, {"group": "a", "other": "b"}, "is not a rate or a mean"),
        (
            "selection_rate", {"control_features": "site", "sample_weight": "weight"}, {"group": "a", "other": "b"},
            "sample_weight and clusters cannot be decomposed",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_decomposed_is_refused(metric, columns, arguments, says):
    y_true, score, group, site = people()
    known = {"site": site, "weight": 1 + score}
    test = FairnessTest.from_predictions(
        y_true, (score > 0.5).astype(int), sensitive_features=group, metric=metric, n_resamples=99, random_state=0,
        adjust=None, **{name: known[column] for name, column in columns.items()},
    )  # fmt: skip
    with pytest.raises(ValueError, match=says):
        test.decompose(**arguments)


# Standardized differences ---------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
GROUP = np.repeat(["a", "b", "c"], [50, 60, 80])
SCORE = RNG.normal(size=190) + 0.6 * (GROUP == "b")
TRUTH = RNG.integers(0, 2, 190)


def of_scores(y_true=None, y_pred=SCORE, **params):
    given = {"metric": "mean_prediction", "sensitive_features": GROUP, "n_resamples": 199, "random_state": 0} | params
    return FairnessTest.from_predictions(y_true, y_pred, **given)


def test_each_comparison_has_its_difference_and_the_test_of_the_means():
    test = of_scores(method="asymptotic")
    found = test.standardized_differences_
    for name in ("group", "other", "p_value", "p_value_adjusted"):
        assert found[name].tolist() == test.comparisons_[name].tolist()
    for row, tested in zip(found.to_dict("records"), test.comparisons_.to_dict("records"), strict=True):
        first, second = (SCORE[row[name] == GROUP] for name in ("group", "other"))
        n1, n2 = len(first), len(second)
        spread = np.sqrt(((n1 - 1) * first.var(ddof=1) + (n2 - 1) * second.var(ddof=1)) / (n1 + n2 - 2))
        assert row["standardized_difference"] == pytest.approx((first.mean() - second.mean()) / spread)
        welch = ttest_ind(first, second, equal_var=False).statistic
        assert (row["ci_low"] <= 0 <= row["ci_high"]) == (abs(welch) <= norm.ppf(1 - 0.05 / 6))
        assert tested["disparity"] * row["standardized_difference"] > 0


@pytest.mark.parametrize(
    "params",
    [
        {"metric": "selection_rate", "y_pred": TRUTH}, {"metric": "roc_auc", "y_true": TRUTH},
        {"compare": "to_overall"}, {"variance": None}, {"sample_weight": np.arange(190) % 3 + 1.0},
        {"clusters": np.arange(190) // 2}, {"metric": "r2", "y_true": SCORE + 1 + RNG.normal(size=190)},
    ],
    ids=lambda params: "-".join(params),
)  # fmt: skip
def test_where_there_are_none(params):
    test = of_scores(**params)
    assert len(test.standardized_differences_) == 0


def test_one_sided_limits_strata_and_people_who_are_all_alike():
    two = np.where(GROUP == "c", "a", GROUP)
    found = of_scores(sensitive_features=two, alternative="less").standardized_differences_
    assert found["ci_low"].tolist() == [-np.inf]
    assert np.isfinite(found["ci_high"]).all()
    test = of_scores(control_features={"site": np.arange(190) % 2})
    assert test.standardized_differences_["stratum"].tolist() == test.comparisons_["stratum"].dropna().tolist()
    with pytest.warns(UserWarning, match="rests on few people"):
        assert of_scores(y_pred=np.full(190, 0.1), method="asymptotic").standardized_differences_.empty


# Calibration curves ---------------------------------------------------------------------------------------------------

BETWEEN, WITHIN = "kuiper_calibration", "calibration_within_groups"


CURVES = [BETWEEN, "kolmogorov_smirnov_calibration", WITHIN]


def of_two_slopes(n=1500, seed=0, slope=0.5):
    """Group "b" has the right mean and a curve of this slope."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    score = np.where(group == "a", rng.beta(2, 5, n), rng.beta(4, 2.5, n))
    middle = score[group == "b"].mean()
    probability = np.where(group == "b", middle + slope * (score - middle), score)
    return (rng.random(n) < probability).astype(int), score, group


def curve(y_true, y_score, group, metric=BETWEEN, **params):
    params = {"n_resamples": 199, "random_state": 0} | params
    return FairnessTest.from_predictions(
        y_true, None, y_score=y_score, sensitive_features=group, metric=metric, **params
    )


def test_half_the_slope_with_the_right_mean_is_found_by_the_curve_and_not_by_the_mean():
    y_true, score, group = of_two_slopes(6000)
    assert curve(y_true, score, group, "calibration").p_value_ > 0.05
    found = curve(y_true, score, group, WITHIN)
    assert found.comparisons_.set_index("group")["concern"].to_dict() == {"a": False, "b": True}
    assert curve(y_true, score, group, BETWEEN).p_value_ < 0.05
    assert found.method_ == "simulation"


@pytest.mark.parametrize("metric", CURVES)
def test_values_are_the_largest_moves_of_the_groups(metric):
    y_true, score, group = of_two_slopes(400)
    found = curve(y_true, score, group, metric)
    for name, value in found.by_group_["value"].items():
        mine = np.argsort(score[group == name])
        path = np.concatenate([[0.0], (y_true - score)[group == name][mine].cumsum()]) / len(mine)
        kuiper = path.max() - path.min()
        assert value == pytest.approx(np.abs(path).max() if "smirnov" in metric else kuiper)


@pytest.mark.parametrize("metric", CURVES)
def test_calibrated_groups_show_nothing_and_neither_order_nor_tables_matter(metric):
    assert curve(*of_two_slopes(slope=1.0, seed=3), metric).p_value_ > 0.05
    y_true, score, group = of_two_slopes(300)
    first = curve(y_true, score.round(1), group, metric)
    order = np.random.default_rng(0).permutation(300)
    frame = pd.DataFrame({"y": y_true, "s": score.round(1), "g": group}).iloc[order]
    pd.testing.assert_frame_equal(first.comparisons_, curve(frame["y"], frame["s"], frame["g"], metric).comparisons_)
    table = CountTable.from_predictions(y_true, y_score=score.round(1), sensitive_features=group)
    counted = FairnessTest.from_table(table, metric=metric, n_resamples=199, random_state=0)
    pd.testing.assert_frame_equal(first.comparisons_, counted.comparisons_)
    turned = curve(np.where(y_true, "yes", "no"), score.round(1), np.where(group == "a", "z", "b"), metric,
                   pos_label="yes")  # fmt: skip
    assert turned.p_value_ == pytest.approx(first.p_value_, abs=0.12)


# Weights of strata given by the caller --------------------------------------------------------------------------------

DIFFERENCES = A / N - B / M


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (dict.fromkeys(DEPARTMENTS, 1), np.ones(6)),
        (dict(zip(DEPARTMENTS, (2.5, 0, 1, 1, 0.5, 3), strict=True)), np.array([2.5, 0, 1, 1, 0.5, 3])),
        (lambda women, men: women + men, N + M),
        (lambda women, _: women, N),
        (lambda women, men: women * men / (women + men), N * M / (N + M)),
    ],
)
def test_weights_of_strata_average_the_differences(weights, expected):
    test = berkeley(strata_weights=weights)
    assert test.disparity_ == pytest.approx((expected * DIFFERENCES).sum() / expected.sum(), rel=1e-9)
    low, high = test.confidence_interval_
    assert low < test.disparity_ < high
    assert (low > 0) == test.rejected_
    ratio = berkeley(strata_weights=weights, disparity="ratio")
    assert ratio.disparity_ == pytest.approx((expected * A / N).sum() / (expected * B / M).sum(), rel=1e-9)
    assert ratio.p_value_ == pytest.approx(test.p_value_, rel=1e-12)


def test_weights_by_all_people_are_the_treatment_of_the_decomposition(within):
    # Freedman, Pisani and Purves: 43% and 39% at the same composition.
    test = berkeley(strata_weights=lambda women, men: women + men)
    parts = within.decompose(standard="pooled").parts.loc["treatment"]
    assert test.disparity_ == pytest.approx(parts["value"], rel=1e-9)
    assert test.confidence_interval_ == pytest.approx((parts["ci_low"], parts["ci_high"]), abs=0.004)
    assert test.comparisons_["method"][0] == "exact conditional"
    assert "weights that strata_weights gives" in str(test)
    assert "weights" not in str(within)


def test_a_stratum_that_has_all_the_weight_is_tested_alone():
    test = berkeley(strata_weights={name: int(name == "A") for name in DEPARTMENTS})
    alone = berkeley(BERKELEY.control_features["department"].to_numpy() == "A")
    assert test.p_value_ == alone.p_value_
    assert test.confidence_interval_ == alone.confidence_interval_


def test_sides_keep_their_own_p_values_if_a_function_weighs_them_differently():
    test = berkeley(strata_weights=lambda n_group, _: n_group, compare="to_rest")
    women, men = test.comparisons_[test.comparisons_["stratum"].isna()]["p_value"]
    assert women > 0.9
    assert men < 0.01


@pytest.mark.parametrize("weights", [{"x": 1, "y": 3}, lambda n_group, n_other: n_group + n_other])
def test_all_pairs_of_three_groups_can_be_weighed(weights):
    rng = np.random.default_rng(0)
    groups, strata = rng.choice(list("abc"), 600), rng.choice(list("xy"), 600)
    y_pred = rng.random(600) < np.where(groups == "a", 0.7, 0.4)
    test = FairnessTest.from_predictions(
        None, y_pred, sensitive_features=groups, control_features=strata, strata_weights=weights, **ADMITTED
    )
    pooled = test.comparisons_[test.comparisons_["stratum"].isna()].set_index(["group", "other"])
    assert len(pooled) == 3
    for (first, second), row in pooled.iterrows():
        own = [[y_pred[(groups == group) & (strata == stratum)] for group in (first, second)] for stratum in ("x", "y")]
        w = np.array([weights(len(a), len(b)) for a, b in own] if callable(weights) else list(weights.values()))
        differences = np.array([a.mean() - b.mean() for a, b in own])
        assert row["disparity"] == pytest.approx((w * differences).sum() / w.sum(), rel=1e-9)
        assert (row["p_value_adjusted"] <= 0.05) == ("a" in (first, second))


@pytest.mark.parametrize(
    ("design", "weights"),
    [
        ((np.ones(200, int), np.ones(200, int)), np.r_[20, np.ones(199)]),
        ((np.full(12, 5), np.full(12, 500)), np.arange(1, 13)),
        ((np.full(8, 40), np.full(8, 60)), np.ones(8)),
    ],
    ids=["strata of two", "1 to 100, rare", "rare"],
)
def test_the_asymptotic_weighted_test_is_near_its_level(design, weights):
    rng, rates_ = np.random.default_rng(0), 0.03 if len(weights) < 100 else 0.3
    x1, x2 = (rng.binomial(people, rates_, (20_000, len(people))) for people in design)
    z, _ = rates.statistic(rates.Pair(x1, design[0], x2, design[1], False, weights.astype(float)), Scale(), "score")
    assert (np.abs(z) >= 1.959964).mean() <= 0.06
