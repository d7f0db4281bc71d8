"""Where an answer is doubtful or not defined, it is said."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from skfairtest import IndividualFairnessTest, Projection

INCOME = Projection([[1, 0, 0]])


# Where nobody is ----------------------------------------------------------------------------------------------------


def test_unfair_examples_far_from_everybody(fit, people):
    def gradient(X, y):  # away, as fast as they say
        return np.full(X.shape, [speed, 0.0, 0.0])

    income = people[0]["income"]
    beyond = {"loss": lambda y_true, y_pred: 1.0 + 0.1 * y_pred[:, 1], "gradient": gradient, "steps": (10, 0.01)}
    speed = 20 * np.ptp(income) / 0.1  # for a time of 0.1
    with pytest.warns(
        UserWarning,
        match=r"unfair examples lie outside the observed range of a feature, by up to 20 times .* feature_ranges",
    ):
        test = fit(**beyond)
    assert test.solver_report_["n_people_outside"] > 0
    assert "Doubtful: unfair examples lie outside the observed range of a feature, by up to 20 times" in str(test)
    held = fit(**beyond, feature_ranges={"income": (income.min(), income.max())})
    assert held.solver_report_["n_people_outside"] == 0
    assert "Doubtful" not in str(held)


# Losses next to nothing ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_mean_of_ratios_that_rests_on_tiny_losses(fit, training, people):
    forest = RandomForestClassifier(20, random_state=0).fit(*training[:2])  # sure of many people
    with pytest.warns(UserWarning, match=r"depends on few people, or on losses close to zero: .*'ratio_of_means'"):
        test = fit(model=forest, steps=(100, 0.05))
    assert test.statistic_ > 1e6
    robust = [
        fit(model=forest, steps=(100, 0.05), statistic=name).statistic_
        for name in ("ratio_of_means", "error_rate_ratio")
    ]
    assert max(robust) < 10


def test_a_mean_of_ratios_that_rests_on_few_people(fit, people):
    X, y, _, _ = people

    def loss(y_true, y_pred):
        return np.abs(y_true - y_pred[:, 1])

    def gradient(X, y):  # one person is sent far away
        away = np.zeros(X.shape)
        away[np.asarray(X["debts"] == people[0]["debts"].iloc[5]), 0] = 300.0 * (1 - 2 * people[1].iloc[5])
        return away

    with pytest.warns(UserWarning, match="the mean of loss ratios depends on few people"):
        fit(
            X=X.assign(income=X["income"].where(X.index != "p005", 8.0 * (2 * y.iloc[5] - 1))),
            loss=loss,
            gradient=gradient,
        )


def test_a_model_that_knows_the_people_by_heart(fit, people):
    X, _, _, score = people
    model = KNeighborsRegressor(1).fit(X, score)
    for statistic in ("auto", "ratio_of_means"):
        with pytest.raises(ValueError, match=r"has no loss on anybody.*test people it was not fitted"):
            fit(model=model, y=score, statistic=statistic)
    line = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"has no loss on anybody"):
        fit(model=line, y=pd.Series(line.predict(X), index=X.index), statistic="ratio_of_means")


def test_some_losses_of_zero(fit, people):
    X, _, _, score = people
    half = score.where(np.arange(80) % 2 == 0, score + 1.0)
    model = KNeighborsRegressor(1).fit(X, score)
    with pytest.raises(ValueError, match=r"statistic='loss_ratio' is not defined: errors near 0 .*'ratio_of_means'"):
        fit(model=model, y=half, steps=(60, 0.01))
    test = fit(model=model, y=half, steps=(60, 0.01), statistic="ratio_of_means")
    assert np.isinf(test.loss_ratios_).any()
    assert np.isfinite(test.statistic_)
    assert "inf" in str(test)


def test_nobody_is_wrong_to_begin_with(fit, classifier, people):
    with pytest.raises(ValueError, match=r"the model makes no errors on the people tested"):
        fit(y=pd.Series(classifier.predict(people[0]), index=people[0].index), statistic="error_rate_ratio")


def test_every_warning_points_at_the_callers_line(fit, classifier, people):
    with pytest.warns(UserWarning) as caught:  # noqa: PT030 - two of them, of which the place is looked at
        IndividualFairnessTest.as_published(classifier, fair_metric=INCOME, steps=(2, 0.03)).fit(
            people[0][:9], people[1][:9]
        )
    assert {warning.filename for warning in caught} == {__file__}
    said = [str(warning.message) for warning in caught]
    assert [message.partition(":")[0] for message in said] == [
        "steps of 0.03 are too long for regularization=50",
        "X has 9 people",
    ]


def test_a_p_value_near_the_level_is_doubtful_where_a_few_are_harmed_much_less():
    n = 60
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros(n), rng.random(n) < 0.1]).astype(float)
    y = np.zeros(n)
    # Who has a 1 in the second feature does not lose; everybody else loses in proportion to how far they are moved.
    model, metric = _Lines(), Projection([[1.0, 0.0]])
    loss = {"loss": _distance_from_one, "gradient": "finite_differences", "regularization": 0.0}
    common = {"fair_metric": metric, **loss}
    test = IndividualFairnessTest.as_published(model, steps=(1, 1.0), **common).fit(X, y)
    near = test.statistic_ - 2.0 * test.standard_error_
    message = r"p_value_=0.02\d* is too close to the level of 0.05 .* with 60 people .*% of models at the tolerance"
    with pytest.warns(UserWarning, match=message):
        IndividualFairnessTest.as_published(model, steps=(1, 1.0), tolerance=near, **common).fit(X, y)


def test_a_test_that_was_read_holds_no_model_and_says_to_fit_again(classifier, people):
    X, y = people[0][:60], people[1][:60]
    test = IndividualFairnessTest(classifier, fair_metric=INCOME).fit(X, y)
    text = test.to_json()
    assert " at 0x" not in text
    again = IndividualFairnessTest.from_json(text)
    assert (again.p_value_, str(again), again.sentences()) == (test.p_value_, str(test), test.sentences())
    pd.testing.assert_frame_equal(again.path_, test.path_)
    np.testing.assert_array_equal(again.plot().loss_ratios, test.loss_ratios_)
    for use in (again.most_unfair, again.changed_features):
        with pytest.raises(AttributeError, match="fit again"):
            use()


class _Lines:
    """Says twice the first feature of people whose second is 0, and 0 of the others."""

    def predict(self, X):
        X = np.asarray(X)
        return 2 * X[:, 0] * (1 - X[:, 1])


def _distance_from_one(y_true, y_pred):
    return np.abs(1 + y_pred - y_true)


# The statistic that is defined --------------------------------------------------------------------------------------


def test_auto_is_the_mean_of_ratios_where_that_exists(fit, training, people, regressor):
    score = people[3]
    forest = RandomForestClassifier(20, random_state=0).fit(*training[:2])  # sure of many people
    cases = [
        ({}, "loss_ratio", "the paper's"),
        ({"model": regressor, "y": score}, "loss_ratio", "the paper's"),
        ({"model": regressor, "y": score, "loss": "absolute_error"}, "ratio_of_means", "no finite mean"),
        ({"model": regressor, "y": score, "gradient": "search"}, "ratio_of_means", "no finite mean"),
        ({"model": forest}, "ratio_of_means", r"less than a millionth of the mean loss"),
        ({"loss": lambda y_true, y_pred: (y_true - y_pred[:, 1]) ** 2}, "ratio_of_means", "it is not known"),
    ]
    for given, statistic, because in cases:
        test = fit(statistic="auto", **given)
        report = test.solver_report_
        assert (report["statistic"], because in report["statistic_because"]) == (statistic, True)
        assert report["statistic_because"] in str(test)
        named = fit(statistic=statistic, **given)
        assert (named.statistic_, named.p_value_) == (test.statistic_, test.p_value_)


@pytest.mark.parametrize("given", [{"loss": "absolute_error"}, {"gradient": "search"}])
def test_a_statistic_without_a_finite_expectation_is_refused(given, fit, regressor, people):
    with pytest.raises(ValueError, match=r"statistic='loss_ratio' is not defined: .*no finite mean.*'ratio_of_means'"):
        fit(model=regressor, y=people[3], statistic="loss_ratio", **given)
