"""Several models, one way to find unfair examples for all, and their differences."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual.flow.audit_value import audit_value, difference


@pytest.fixture(scope="module")
def models(training):
    X, y, _, _ = training
    boosted = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=5)
    made = {"line": LogisticRegression(), "bayes": GaussianNB(), "boosted": boosted}
    return {name: model.fit(X, y) for name, model in made.items()}


#: A metric that is not learned once more without each tenth of the people.
GIVEN = {"fair_metric": Projection([[1, 0, 0]]), "n_steps": 10}


def compared(models, people, **params):
    X, y, sex, _ = people
    return IndividualFairnessTest(**params).compare(models, X, y, sensitive_features=sex)


def only(models, *names):
    return {name: models[name] for name in names}


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (("line", "boosted"), "search"),
        (("line", "bayes"), "finite_differences"),
        (("bayes", "boosted", "line"), "search"),
    ],
)
def test_all_models_are_asked_in_one_way(names, way, models, people):
    found = compared(only(models, *names), people, **GIVEN)
    assert found["model"].tolist() == list(names)
    assert found["gradient"].tolist() == [way] * len(names)
    assert found["statistic"].nunique() == 1
    X, y, sex, _ = people
    statistic = found["statistic"].iloc[0]
    for row in found.to_dict("records"):
        alone = IndividualFairnessTest(models[row["model"]], gradient=way, statistic=statistic, **GIVEN)
        alone.fit(X, y, sensitive_features=sex)
        same = ("value", "standard_error", "lower_bound", "p_value", "concern")
        expected = [alone.statistic_, alone.standard_error_, alone.lower_bound_, alone.p_value_, alone.concern_]
        np.testing.assert_allclose([row[name] for name in same], expected, rtol=1e-12)


def test_models_of_one_kind_keep_their_way(models, people, training):
    X, y, _, _ = training
    other = LogisticRegression(C=0.01).fit(X, y)
    found = compared({"one": models["line"], "other": other}, people)
    assert found["gradient"].tolist() == ["analytic", "analytic"]


def test_differences_are_of_the_same_people(models, people):
    X, y, sex, _ = people
    found = compared(models, people, statistic="loss_ratio", **GIVEN)
    ratios = {
        name: IndividualFairnessTest(model, gradient="search", statistic="loss_ratio", **GIVEN)
        .fit(X, y, sensitive_features=sex)
        .loss_ratios_
        for name, model in models.items()
    }
    first = found.iloc[0].filter(like="difference")
    assert first.isna().all()
    p_values = []
    for row in found.iloc[1:].to_dict("records"):
        each = ratios[row["model"]] - ratios["line"]
        error = each.std() / np.sqrt(len(each))
        assert row["difference"] == pytest.approx(each.mean(), rel=1e-10)
        assert row["difference_standard_error"] == pytest.approx(error, rel=1e-10)
        limits = each.mean() + norm.ppf([0.025, 0.975]) * error
        assert [row["difference_ci_low"], row["difference_ci_high"]] == pytest.approx(limits, rel=1e-9)
        p_values.append(2 * norm.sf(abs(each.mean()) / error))
    adjusted = np.maximum.accumulate(np.minimum(1, np.sort(p_values) * [2, 1]))[np.argsort(np.argsort(p_values))]
    np.testing.assert_allclose(found["difference_p_value"].iloc[1:], adjusted, rtol=1e-8)


def test_a_model_does_not_differ_from_itself(models, people):
    found = compared({"a": models["line"], "b": models["line"]}, people)
    last = found.iloc[1]
    assert (last["difference"], last["difference_standard_error"], last["difference_p_value"]) == (0.0, 0.0, 1.0)


def test_a_generator_gives_all_models_the_same_candidates(models, people):
    boosted = models["boosted"]
    found = compared({"a": boosted, "b": boosted}, people, random_state=np.random.default_rng(3), **GIVEN)
    assert found["value"].nunique() == 1


def test_one_statistic_for_all(models, people, training):
    """A model that is sure of everybody has next to no losses, so that means of ratios rest on few."""
    X, y, _, _ = training
    sure = LogisticRegression(C=1e9).fit(X, y)
    sure.coef_ *= 50
    found = compared({"line": models["line"], "sure": sure}, people)
    assert found["statistic"].tolist() == ["ratio_of_means", "ratio_of_means"]
    assert np.isfinite(found.iloc[1][["difference", "difference_ci_low", "difference_p_value"]].astype(float)).all()


def test_a_category_for_one_model_is_one_for_all(training, people):
    """Years that one model encodes are no numbers for the other, so that both have the same fair metric."""
    rng = np.random.default_rng(0)
    X, tested = ((part[0].assign(years=rng.integers(0, 4, len(part[0])))) for part in (training, people))
    encode = make_column_transformer((OneHotEncoder(), ["years"]), remainder="passthrough")
    models = {
        "numbers": LogisticRegression().fit(X, training[1]),
        "encoded": make_pipeline(encode, LogisticRegression()).fit(X, training[1]),
    }
    for pair in (models, dict(reversed(models.items()))):
        found = IndividualFairnessTest(n_steps=10, cross_fit=False).compare(
            pair, tested, people[1], sensitive_features=people[2]
        )
        values = found.set_index("model")["value"]
        assert set(values.index) == {"numbers", "encoded"}
    assert found["gradient"].tolist() == ["analytic", "analytic"]
    both = compared(
        {"a": models["encoded"], "b": models["encoded"]}, (tested, *people[1:]), n_steps=10, cross_fit=False
    )
    assert values["encoded"] == both["value"].iloc[0]
    alone = IndividualFairnessTest(models["numbers"], n_steps=10, cross_fit=False).fit(
        tested, people[1], sensitive_features=people[2]
    )
    assert values["numbers"] != alone.statistic_


@pytest.mark.parametrize("given", [{}, {"a": LogisticRegression()}, [LogisticRegression()] * 2, None])
def test_two_models_are_needed(given, people):
    with pytest.raises(ValueError, match="models must map the names of at least two fitted models"):
        compared(given, people)


def test_losses_have_to_be_the_same(models, people, training):
    X, _, _, score = training
    with pytest.raises(ValueError, match="models have different losses"):
        compared({"line": models["line"], "numbers": LinearRegression().fit(X, score)}, people)


def test_groups_are_asked_for_by_the_comparison_too(models, people):
    with pytest.raises(ValueError, match="sensitive_features is missing"):
        IndividualFairnessTest().compare(models, *people[:2])


@pytest.mark.parametrize("statistic", ["loss_ratio", "ratio_of_means", "log_ratio"])
def test_the_standard_error_of_a_difference_is_that_of_resampled_people(statistic):
    rng = np.random.default_rng(0)
    before = rng.gamma(2.0, size=(2, 2000))
    one, other = (np.stack([b, b * rng.uniform(1, 2, 2000)]) for b in before)
    found = difference(statistic, one, other, confidence_level=0.95)
    given = {"tolerance": 1.0, "confidence_level": 0.95}
    draws = []
    for _ in range(400):
        who = rng.integers(0, 2000, 2000)
        values = [audit_value(statistic, *pair[:, who], **given).estimate for pair in (one, other)]
        draws.append(values[0] - values[1])
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.15)  # of 400: 3.5% of its own, times four


def test_where_everybody_adds_the_same_p_is_that_of_signs():
    before = np.ones(10)
    found = difference("loss_ratio", [before, 2 * before], [before, 3 * before], confidence_level=0.95)
    assert (found.estimate, found.standard_error, found.p_value) == (-1.0, 0.0, 2.0**-9)


def test_the_order_of_people_is_that_of_frames(models, people):
    X, y, sex, score = people
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = (X.iloc[order], y.iloc[order], sex.iloc[order], score)
    found, again = (compared(only(models, "line", "boosted"), each, **GIVEN) for each in (people, shuffled))
    pd.testing.assert_frame_equal(again, found, rtol=1e-6)
