"""The test for continuous sensitive features: what it reads, what it refuses, what it says."""

import warnings
from decimal import Decimal
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from skfairtest import CorrelationFairnessTest, CountTable
from skfairtest.correlation import measure as _outcomes


@pytest.fixture(scope="module")
def data():
    """Errors grow with age and have nothing to do with income; two sites."""
    rng = np.random.default_rng(0)
    n = 160
    age = rng.integers(20, 70, n)
    frame = pd.DataFrame({"age": age, "income": rng.lognormal(size=n).round(2), "site": rng.choice(["a", "b"], n)})
    frame["y_pred"] = rng.normal(size=n).round(2)
    frame["y_true"] = (frame["y_pred"] + rng.normal(size=n) * age / 40).round(2)
    return frame


def run(data, features=("age", "income"), *, control=False, put=lambda values: values, **params):
    """Test the columns of a frame, put into some container."""
    arguments = {"control_features": put(data["site"])} if control else {}
    arguments["sensitive_features"] = {name: put(data[name]) for name in features}
    params = {"n_resamples": 199, "random_state": 3, **params}
    return CorrelationFairnessTest.from_predictions(put(data["y_true"]), put(data["y_pred"]), **arguments, **params)


# What it says ---------------------------------------------------------------------------------------------------------


def test_attributes_of_a_fitted_test(data):
    test = run(data)
    assert list(test.comparisons_["feature"]) == ["age", "income"]
    assert test.comparisons_["correlation"].tolist() == pytest.approx(
        [stats.pearsonr(data[name], (data["y_true"] - data["y_pred"]).abs()).statistic for name in ("age", "income")]
    )
    lead = test.comparisons_.iloc[0]
    assert test.p_value_ == lead["p_value_adjusted"] == pytest.approx(2 * lead["p_value"])
    assert (test.statistic_, test.disparity_) == (lead["statistic"], lead["correlation"])
    assert test.confidence_interval_ == (lead["ci_low"], lead["ci_high"])
    assert test.confidence_interval_[0] < test.disparity_ < test.confidence_interval_[1]
    assert test.p_value_interval_[0] <= test.p_value_ <= test.p_value_interval_[1]
    assert test.rejected_ is test.concern_ is True
    assert test.null_distribution_.shape == (199, 2)
    assert (test.method_, test.adjust_, test.n_resamples_, test.n_samples_) == ("permutation", "holm", 199, 160)
    assert test.excluded_.empty
    assert (test.comparisons_["method"] == "permutation").all()


def test_the_first_sentence_is_for_a_manager(data):
    lines = str(run(data, ["age"])).splitlines()
    assert lines[0].startswith("Absolute errors grow with age: correlation 0.")
    assert "Null hypothesis" in lines
    assert "zero" in lines[lines.index("Null hypothesis") + 1]
    shrinking = run(data.assign(age=-data["age"]), ["age"])
    assert str(shrinking).startswith("Absolute errors shrink with age: correlation -0.")


def test_nothing_found_is_not_called_fair(data):
    said = str(run(data, ["income"], of="residual", correlation="spearman"))
    assert said.startswith("No correlation of residuals (true minus predicted) with income was found: rank correlation")
    assert "does not prove" in said


def test_several_features_and_strata_are_counted_in_words(data):
    said = str(run(data, control=True, n_resamples=999))
    assert "within levels of site" in said.splitlines()[0]
    assert "1 of 2 features is significant." in said
    assert "of 4 comparisons" in said
    assert "are two families" in said


SKEWED = np.arange(40) ** 3


def skewed(seed, **params):
    """Test 40 outcomes that hardly grow with a skewed feature."""
    e = np.random.default_rng(seed).normal(size=40) + 0.02 * np.arange(40)
    params = {"sensitive_features": SKEWED, "random_state": 0, "n_resamples": 199, **params}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*lack the extreme")  # as it should be, of values this skewed
        return CorrelationFairnessTest.from_predictions(None, e, of="prediction", **params)


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_interval_of_one_feature_holds_zero_exactly_where_the_test_does_not_reject(alternative, correlation):
    found = set()
    for seed in range(30):
        test = skewed(seed, alternative=alternative, correlation=correlation)
        low, high = test.confidence_interval_
        assert low <= test.disparity_ <= high
        assert (low <= 0 <= high) != test.rejected_
        assert "disagree" not in str(test)
        found.add(test.rejected_)
    assert found == {True, False} or alternative == "less"


@pytest.mark.parametrize("params", [{"n_resamples": 49}, {"n_resamples": "adaptive"}, {}])
@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
def test_zero_is_inside_where_a_comparison_is_not_rejected_at_its_level(correlation, params, monkeypatch):
    monkeypatch.setattr("skfairtest.comparisons.settings.MOST_ADAPTIVE", 999)
    features = {"a": SKEWED, "b": np.sin(SKEWED), "c": np.sqrt(SKEWED)}
    for seed in range(8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 49 permutations cannot reject
            rows = skewed(seed, correlation=correlation, sensitive_features=features, **params).comparisons_
        rejected = rows["p_value"] <= 0.05 / 3
        assert (rejected | ((rows["ci_low"] <= 0) & (rows["ci_high"] >= 0))).all()


@pytest.mark.parametrize(
    ("truth", "pair"),
    [
        (0.0, lambda rng, x: (x, rng.normal(size=40) * x**2)),
        (0.6, lambda rng, x: (np.exp(x), 0.6 * np.exp(x) + 0.8 * rng.lognormal(size=40))),
    ],
    ids=["spread that follows the feature", "lognormal"],
)
def test_intervals_cover_the_correlation_with_heavy_tails(truth, pair, thorough):
    """With the standard error at the estimate .82 and .80 of 400 data sets."""
    rng, n = np.random.default_rng(12), 200 if thorough else 50
    covered = 0
    for _ in range(n):
        x, e = pair(rng, rng.normal(size=40))
        options = {"of": "prediction", "n_resamples": 199, "random_state": int(rng.integers(2**31))}
        low, high = CorrelationFairnessTest.from_predictions(
            None, e, sensitive_features=x, **options
        ).confidence_interval_
        covered += low <= truth <= high
    # 95% less three Monte-Carlo errors.
    assert covered >= n * 0.95 - 3 * np.sqrt(n * 0.95 * 0.05)


@pytest.mark.parametrize("adjust", ["holm", "fdr_bh", None])
def test_an_interval_of_several_features_never_contradicts_its_test(adjust):
    age = np.arange(60.0)
    features = {"age": age, "swing": np.sin(age)}
    for seed in range(20):
        e = np.random.default_rng(seed).normal(size=60) + 0.02 * age + 0.35 * np.sin(age)
        rows = CorrelationFairnessTest.from_predictions(
            None, e, sensitive_features=features, of="prediction", adjust=adjust, random_state=0, n_resamples=99
        ).comparisons_
        p = rows["p_value" if adjust in ("fdr_bh", None) else "p_value_adjusted"]
        inside = (rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)
        on_one_side = (rows["ci_low"] >= 0) | (rows["ci_high"] <= 0)
        assert np.where(p <= 0.05, on_one_side, inside).all()


# The p-value ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_p_value_of_a_tiny_sample_is_that_of_all_its_permutations(alternative):
    x, e = np.array([20.0, 30, 33, 41, 60, 61]), np.array([0.1, 0.7, 0.4, 0.3, 1.5, 0.9])
    options = {"of": "prediction", "alternative": alternative, "sensitive_features": x, "random_state": 0}
    test = CorrelationFairnessTest.from_predictions(None, e, n_resamples=20_000, **options)
    a = x - x.mean()
    every = []
    for order in permutations(e - e.mean()):
        b = np.array(order)
        every.append((a @ b) / np.sqrt(a**2 @ b**2))
    sign = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    exact = np.mean(sign(np.array(every)) >= sign(np.array(every[0])) - 1e-12)
    by_t = stats.t.sf(sign(every[0]), 4) * (2 if alternative == "two-sided" else 1)
    assert test.p_value_ == pytest.approx(max(exact, by_t), abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_one_sided_intervals_are_open(data):
    assert run(data, ["age"], alternative="greater").confidence_interval_[1] == 1
    assert run(data, ["age"], alternative="less").confidence_interval_[0] == -1


def test_the_global_p_value_is_familywise_without_adjustment(data):
    assert run(data, adjust=None).p_value_ == pytest.approx(run(data, adjust="holm").p_value_)


@pytest.mark.filterwarnings("ignore:.*lack the extreme")  # of squared errors, which are skewed
def test_a_callable_outcome(data):
    squared = run(data, ["age"], of=lambda y_true, y_pred: (y_true - y_pred) ** 2)
    assert squared.disparity_ == pytest.approx(
        stats.pearsonr(data["age"], (data["y_true"] - data["y_pred"]) ** 2).statistic
    )


# Estimators -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    """Features, a number and a label to predict, and an age that matters."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    age = 40 + 10 * X[:, 0] + rng.normal(size=120)
    y = X @ [1.0, 0.5] + rng.normal(size=120)
    return X, y, np.where(y > 0, "yes", "no"), age


def test_a_regressor_says_what_it_predicts(people):
    X, y, _, age = people
    model = LinearRegression().fit(X, y)
    test = CorrelationFairnessTest(model, of="residual", n_resamples=99, random_state=0)
    test.fit(X, y, sensitive_features=age)
    assert test.disparity_ == pytest.approx(stats.pearsonr(age, y - model.predict(X)).statistic)
    assert test.pos_label_ is None


def test_a_classifier_says_the_probability_of_the_positive_class(people):
    X, _, labels, age = people
    model = LogisticRegression().fit(X, labels)
    probability = model.predict_proba(X)[:, 1]
    with pytest.raises(ValueError, match=r"pos_label is needed: .* 'no', 'yes', and nothing says"):
        CorrelationFairnessTest(model).fit(X, labels, sensitive_features=age)
    with pytest.raises(ValueError, match=r"pos_label='yes' is a label, and 0\.\d+ is not: leave"):
        CorrelationFairnessTest(of="prediction", pos_label="yes").fit(probability, sensitive_features=age)
    options = {"n_resamples": 99, "random_state": 0, "pos_label": "yes"}
    test = CorrelationFairnessTest(model, **options).fit(X, labels, sensitive_features=age)
    expected = stats.pearsonr(age, np.abs((labels == "yes") - probability)).statistic
    assert test.disparity_ == pytest.approx(expected)
    assert (test.pos_label_, test.negative_labels_) == ("yes", ["no"])
    alone = CorrelationFairnessTest(model, of="prediction", **options).fit(X, sensitive_features=age)
    assert alone.disparity_ == pytest.approx(stats.pearsonr(age, probability).statistic)
    other = CorrelationFairnessTest(model, of="prediction", **{**options, "pos_label": "no"})
    assert other.fit(X, sensitive_features=age).disparity_ == pytest.approx(-alone.disparity_)


def test_a_classifier_of_another_library_says_probabilities_too(people):
    X, _, _, age = people

    class Foreign:
        classes_ = (False, True)

        def predict(self, X):
            raise AssertionError("probabilities are there to be used")

        def predict_proba(self, X):
            share = 1 / (1 + np.exp(-X[:, 0]))
            return np.column_stack([1 - share, share])

    test = CorrelationFairnessTest(Foreign(), of="prediction", n_resamples=99).fit(X, sensitive_features=age)
    assert test.disparity_ == pytest.approx(stats.pearsonr(age, 1 / (1 + np.exp(-X[:, 0]))).statistic)


def test_a_classifier_without_probabilities_says_zero_or_one(people):
    X, _, labels, age = people
    model = LinearSVC().fit(X, labels)
    test = CorrelationFairnessTest(model, of="prediction", n_resamples=99, pos_label="yes")
    test.fit(X, sensitive_features=age)
    assert test.disparity_ == pytest.approx(stats.pearsonr(age, model.predict(X) == "yes").statistic)
    with pytest.raises(ValueError, match="y_true holds 'maybe', which is neither of the estimator's classes"):
        CorrelationFairnessTest(model, pos_label="yes").fit(X, ["maybe", *labels[1:]], sensitive_features=age)


def test_more_than_two_classes_need_a_positive_one_or_a_function(people):
    X, y, _, age = people
    labels = np.digitize(y, [-0.5, 0.5])
    model = LogisticRegression().fit(X, labels)
    with pytest.raises(ValueError, match="pos_label is needed: there are 3 labels"):
        CorrelationFairnessTest(model).fit(X, labels, sensitive_features=age)
    against_rest = CorrelationFairnessTest(model, n_resamples=99, pos_label=2).fit(X, labels, sensitive_features=age)
    wrong = (model.predict(X) == 2) != (labels == 2)
    assert against_rest.disparity_ == pytest.approx(stats.pearsonr(age, wrong).statistic)
    test = CorrelationFairnessTest(model, of=np.not_equal, n_resamples=99).fit(X, labels, sensitive_features=age)
    assert test.disparity_ == pytest.approx(stats.pearsonr(age, model.predict(X) != labels).statistic)
    assert "values of not_equal" in str(test)
    # Names of labels are no numbers, and are for the function to read.
    names = np.array(["low", "middle", "high"])[labels]
    named = LogisticRegression().fit(X, names)
    again = CorrelationFairnessTest(named, of=np.not_equal, n_resamples=99).fit(X, names, sensitive_features=age)
    assert again.disparity_ == pytest.approx(stats.pearsonr(age, named.predict(X) != names).statistic)


# Strata ---------------------------------------------------------------------------------------------------------------


def test_rows_of_strata_are_a_second_family(data):
    test = run(data, control=True)
    rows = test.comparisons_
    assert list(rows["stratum"]) == [None, None, "a", "a", "b", "b"]
    assert list(rows["n"].iloc[:2]) == [160, 160]
    assert rows["n"].iloc[2:].sum() == 320
    assert test.p_value_ == rows["p_value_adjusted"].iloc[:2].min()
    assert test.null_distribution_.shape == (199, 2)


def test_a_correlation_between_strata_only_is_none_within(data):
    site = data["site"] == "b"
    moved = data.assign(age=data["income"] + 100 * site, y_true=data["y_pred"] + 1 + 9 * site, one=1.0)
    moved["y_true"] += np.random.default_rng(0).normal(size=160) * 0.1
    assert run(moved, ["age"]).disparity_ > 0.9
    assert not run(moved, ["age"], control=True).rejected_


def test_strata_left_out_are_listed(data):
    changed = data.copy()
    changed.loc[:1, "site"] = "c"
    changed.loc[2:9, "site"] = "d"
    changed.loc[2:9, "age"] = 30
    test = run(changed, control=True)
    assert test.excluded_[["feature", "stratum", "n"]].to_numpy().tolist() == [
        ["age", "c", 2],
        ["age", "d", 8],
        ["income", "c", 2],
    ]
    assert "fewer than 3 people" in str(test)
    rows = test.comparisons_
    assert list(rows.loc[rows["feature"] == "age", "stratum"]) == [None, "a", "b"]
    assert rows["n"].iloc[0] == 150


def test_a_feature_without_a_stratum_is_left_out(data):
    changed = data.assign(income=(data["site"] == "a") * 1.0)
    test = run(changed, control=True)
    assert set(test.comparisons_["feature"]) == {"age"}
    assert list(test.excluded_["feature"]) == ["income", "income"]
    with pytest.raises(ValueError, match="no stratum of control_feature_0 has 3 or more people"):
        CorrelationFairnessTest.from_predictions(
            data["y_true"], data["y_pred"], sensitive_features=data["age"], control_features=np.arange(160)
        )


def test_too_many_strata_are_refused(data, monkeypatch):
    monkeypatch.setattr(_outcomes, "MOST_STRATA", 3)
    with pytest.raises(ValueError, match="makes 4 comparisons within strata, more than 3"):
        run(data, control=True)


# Bad input ------------------------------------------------------------------------------------------------------------

GOOD = {"y_true": [1, 2, 3, 4, 6], "y_pred": [1, 3, 2, 4, 5], "sensitive_features": {"age": [20, 30, 40, 50, 70]}}


def small(**changes):
    """Test the good people with some arguments changed."""
    arguments = {"n_resamples": 99, **GOOD, **changes}
    return CorrelationFairnessTest.from_predictions(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_the_good_people_are_good():
    assert 0 < small().p_value_ <= 1
    small(sensitive_features={"age": [Decimal("20"), 30.5, 40, 50, 70]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sensitive_features": {"age": list("young")}}, r"column 'age'\) holds 'g', .*FairnessTest"),
        ({"sensitive_features": {"age": pd.Categorical([1, 2, 3, 1, 2])}}, r"'age'\) is categorical: use FairnessTest"),
        ({"sensitive_features": {"age": pd.date_range("2000", periods=5)}}, "dates can become numbers"),
        ({"sensitive_features": {"age": [3] * 5}}, r"column 'age'\) is 3 for all people"),
        ({"sensitive_features": {"age": [1, None, 3, np.nan, 5]}}, r"column 'age'\) has 2 missing values among 5"),
        ({"sensitive_features": {"age": [1, np.inf, 3, 4, 5]}}, r"column 'age'\) holds infinite values"),
        ({"sample_weight": [1] * 5}, "sample_weight was given, and this test of correlations takes no weights"),
        ({"clusters": [1, 1, 2, 2, 3]}, "clusters was given, and .* pass one row per cluster"),
        ({"y_true": None}, "y is missing: of='absolute_error' needs the true values"),
        ({"y_true": None, "of": np.subtract}, "y is missing: of=subtract"),
        ({"y_true": [1, 2, None, 4, 5]}, "y_true has 1 missing value"),
        ({"y_true": list("aabab")}, "y_true holds 'a', 'b' and y_pred holds"),
        ({"y_pred": list("aabab"), "y_true": None, "of": "prediction"}, "pos_label is needed: the labels are 'a', 'b'"),
        ({"y_pred": GOOD["y_true"]}, r"of='absolute_error' is 0 for all 5 people"),
        ({"y_score": GOOD["y_pred"]}, "y_pred and y_score are both given"),
        ({"estimator": LinearRegression()}, "estimator is not for from_predictions, which takes predictions"),
        ({"of": "error"}, "of must be one of 'prediction', 'residual', 'absolute_error'"),
        ({"of": lambda y, p: np.nan * y}, "of=<lambda> returned 5 values among 5 that are NaN or infinite"),
        ({"of": lambda y, p: 1.0}, "must return one number per person, of shape"),
        ({"of": lambda y, p: 1 / 0}, "of=<lambda> raised ZeroDivisionError"),
        (
            {"y_true": [1, 2], "y_pred": [1, 3], "sensitive_features": [20, 30]},
            "2 people are too few: a correlation needs at least 3",
        ),
        ({"correlation": "kendall"}, "correlation must be one of 'pearson', 'spearman'"),
        ({"alternative": "equivalence"}, "alternative must be one of 'two-sided', 'greater', 'less'; found"),
        ({"confidence_level": 95}, "confidence_level must be"),
    ],
)
def test_bad_input_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_tables_are_refused():
    table = CountTable.from_predictions([0, 1], [1, 0], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="correlated one by one: use from_predictions"):
        CorrelationFairnessTest.from_table(table)
    with pytest.raises(ValueError, match="correlated one by one: use from_predictions"):
        CorrelationFairnessTest.from_frame(pd.DataFrame({"age": [1, 2]}), sensitive_features="age")


# How long it takes ----------------------------------------------------------------------------------------------------


def test_adaptive_stops_when_every_comparison_has_its_answer(data):
    test = run(data, ["income"], of="residual", n_resamples="adaptive")
    drawn = test.null_distribution_[:, 0]
    assert len(drawn) == test.n_resamples_ < 9999
    extreme = np.abs(drawn) >= abs(test.statistic_)
    assert extreme.sum() == 20
    assert extreme[-1]
    assert test.p_value_ == pytest.approx(20 / test.n_resamples_, rel=1e-14)
    assert test.p_value_interval_[0] < test.p_value_ < test.p_value_interval_[1]


def test_adaptive_goes_on_where_nothing_is_as_extreme(data, monkeypatch):
    monkeypatch.setattr("skfairtest.comparisons.settings.MOST_ADAPTIVE", 300)
    test = run(data, n_resamples="adaptive")
    income = test.null_distribution_[:, 1]
    assert test.n_resamples_ == 300
    assert np.isnan(income[-1])
    # t has 160 - 2 degrees of freedom.
    by_t = 2 * stats.t.sf(np.abs(test.comparisons_["statistic"]), 158)
    expected = np.maximum([1 / 301, 20 / (~np.isnan(income)).sum()], by_t)
    assert test.comparisons_["p_value"].tolist() == pytest.approx(expected, rel=1e-12)
    assert test.excluded_.empty


def test_a_correlation_against_skewness_that_may_lack_extremes_is_doubtful():
    # x = |z| and e = x (w^2 - 1) are uncorrelated; 84 to 93% of the samples of 100 to 500 that reject it
    # have negative correlations beside positively skewed values (700 samples each; of normal ones none).
    rng = np.random.default_rng(12)
    flagged, rejected = 0, 0
    for seed in range(40):
        z, w = rng.normal(size=(2, 100))
        x = np.abs(z)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            test = CorrelationFairnessTest.from_predictions(
                None, x * (w**2 - 1), of="prediction", sensitive_features=x, n_resamples=99, random_state=seed
            )
        rejected += test.rejected_
        flagged += test.rejected_ and any("lack the extreme" in str(one.message) for one in caught)
    assert rejected >= 2
    assert flagged >= 0.6 * rejected


def test_a_correlation_of_symmetric_values_is_not_doubtful():
    x, noise = np.random.default_rng(1).normal(size=(2, 100))
    test = CorrelationFairnessTest.from_predictions(
        None, x + noise, of="prediction", sensitive_features=x, n_resamples=99, random_state=0
    )
    assert test.rejected_
