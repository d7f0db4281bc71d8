"""What users type first: a keyword that others use is answered with the one that is used here."""

import inspect
from functools import partial

import pytest
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

import skfairtest
from skfairtest import (
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    SignificanceFrame,
    SubgroupScan,
    UncertainGroupsTest,
    assert_fair,
    compare_models,
    power,
    required_sample_size,
    select_fair,
)
from skfairtest._utils.base import ModelTest

ROWS = {"y_true": [0, 1, 1], "y_pred": [1, 0, 1], "sensitive_features": list("aab")}


@pytest.mark.parametrize(
    ("keyword", "says"),
    [
        ("metrics", "Did you mean metric?"),
        ("metrc", "Did you mean metric?"),
        ("alpha", "confidence_level=1 - alpha"),
        ("level", "confidence_level=1 - alpha"),
        ("n_permutations", "Did you mean n_resamples?"),
        ("ratio", "disparity='ratio'"),
        ("correction", "Did you mean adjust?"),
        ("multiple_testing", "Did you mean adjust?"),
        ("privileged_group", "Did you mean reference_group?"),
        ("reference", "Did you mean reference_group?"),
        ("threshold", "prediction_threshold"),
    ],
)
def test_a_guessed_parameter_is_answered_with_the_right_one(keyword, says):
    for call in (lambda **given: FairnessTest(**given), lambda **given: FairnessTest.from_predictions(**ROWS, **given)):
        with pytest.raises(
            TypeError, match=rf"FairnessTest(\.from_predictions)?\(\) has no parameter '{keyword}'"
        ) as error:
            call(**{keyword: 0.1})
        assert says in str(error.value)


@pytest.mark.parametrize("plan", [power, required_sample_size])
def test_a_plan_by_position_is_answered_with_a_call_that_works(plan):
    with pytest.raises(TypeError, match="pass everything by name") as error:
        plan([0.3, 0.4], [500, 500])
    typed = str(error.value).split("by name: ")[1]
    assert eval(typed, {plan.__name__: plan})
    with pytest.raises(TypeError, match=r"needs metric and n_per_group: power|needs metric: required"):
        plan(rates=[0.3, 0.4])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda y: assert_fair(y, y), "first argument is a fitted model, or None with the predictions as X"),
        (lambda y: assert_fair(y_true=y, y_pred=y), r"needs estimator and X: assert_fair\(model, X, y, sensitive"),
        (lambda y: FairnessTest().p_value, "write p_value_$"),
        (lambda y: FairnessTest().summary(), "write to_text"),
    ],
)
def test_a_first_guess_is_answered_with_what_to_type(call, says):
    with pytest.raises((ValueError, TypeError, AttributeError), match=says):
        call([1, 0, 1, 0])


@pytest.mark.parametrize(
    "keyword",
    ["protected", "groups", "sensitive_feature", "protected_attribute", "A", "sensitive", "sensitive_featres"],
)
def test_groups_of_another_name_are_answered(keyword):
    with pytest.raises(TypeError, match=rf"fit\(\) has no parameter '{keyword}'. Did you mean sensitive_features\?"):
        FairnessTest().fit([0, 1], **{keyword: list("ab")})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"compare": "pairwise"}, "did you mean 'between_groups'?"),
        ({"compare": "overall"}, "did you mean 'to_overall'?"),
        ({"method": "ratio"}, "did you mean disparity='ratio'?"),
        ({"method": "permutations"}, "did you mean 'permutation'?"),
        ({"variance": "unstudentized"}, "did you mean None?"),
    ],
)
def test_a_guessed_value_is_answered_with_the_right_one(given, says):
    with pytest.raises(ValueError, match="must be one of") as error:
        FairnessTest.from_predictions(**ROWS, **given)
    assert says in str(error.value)


def test_a_choice_that_is_not_made_is_told_how():
    search = GridSearchCV(
        DummyClassifier(), {"strategy": ["prior"]}, scoring=["accuracy", "f1"], refit=select_fair, cv=2
    )
    with pytest.raises(ValueError, match=r"refit=select_fair\('accuracy', 'fairness'"):
        search.fit([[0], [1], [2], [3]], [0, 1, 0, 1])


def test_a_third_array_is_told_its_name():
    with pytest.raises(TypeError, match=r"fit\(\) takes only X and y by position: .*sensitive_features="):
        FairnessTest().fit([0, 1], [0, 1], list("ab"))


def test_models_by_position_and_a_metric_frame_are_told_what_to_type():
    labels, group = [0, 1] * 4, list("aabb") * 2
    with pytest.raises(TypeError, match=r"by name\. Models are one argument: compare_models\(\[model_a"):
        compare_models(labels, labels, [[0.0]] * 8, labels, sensitive_features=group)
    given = {"metrics": selection_rate, "y_true": labels, "y_pred": labels, "sensitive_features": group}
    with pytest.raises(TypeError, match=r"keeps no data: pass what .* SignificanceFrame\(metrics="):
        SignificanceFrame(MetricFrame(**given))
    assert SignificanceFrame(**given).difference_test()["p_value"].iloc[0] == 1


@pytest.mark.parametrize(
    "call",
    [
        FairnessTest,
        partial(FairnessTest.from_predictions, **ROWS),
        partial(LabelledFairnessTest.from_predictions, **ROWS),
    ],
)
def test_where_nothing_is_near_the_keyword_is_named(call):
    with pytest.raises(TypeError, match=r"FairnessTest(\.from_predictions)?\(\) has no parameter 'zzz'$"):
        call(zzz=1)


@pytest.mark.parametrize("cls", [FairnessTest, FairnessAudit, LabelledFairnessTest, SubgroupScan, UncertainGroupsTest])
def test_what_is_lacking_is_named_with_the_class_that_was_called(cls):
    name = rf"{cls.__name__}\.from_predictions"
    with pytest.raises(TypeError, match=rf"^{name}\(\) needs y_true"):
        cls.from_predictions(y_pred=[0, 1], sensitive_features=list("ab"))
    with pytest.raises(TypeError, match=rf"^{name}\(\) has no parameter 'y_ture'. Did you mean y_true\?"):
        cls.from_predictions(y_ture=[0, 1], y_pred=[0, 1], sensitive_features=list("ab"))


CONSTRUCTORS = [
    (cls, name)
    for cls in (getattr(skfairtest, each) for each in skfairtest.__all__)
    if isinstance(cls, type) and issubclass(cls, ModelTest)
    for name in dir(cls)
    if name.startswith("from_")
]


@pytest.mark.parametrize(("cls", "name"), CONSTRUCTORS, ids="{0}".format)
def test_a_constructor_is_no_method_of_an_instance(cls, name):
    test = cls()
    for work in (getattr(test, name), getattr(type("Subclass", (cls,), {})(), name)):
        with pytest.raises(TypeError, match=rf"\.{name} makes a new object, .* call it on the class, .* or use fit"):
            work([0, 1], [0, 1], sensitive_features=list("ab"))
    assert inspect.signature(getattr(cls, name)) == inspect.signature(getattr(test, name))
    assert isinstance(inspect.getattr_static(cls, name), classmethod)
    assert getattr(cls, name).__self__ is cls
    assert inspect.getdoc(getattr(cls, name))
