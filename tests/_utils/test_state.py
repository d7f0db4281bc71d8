"""The state of fitted objects: nothing is lost when it is kept, with pickle or without."""

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    PairedFairnessTest,
    Rate,
    SubgroupScan,
    UncertainGroupsTest,
)
from skfairtest._utils.base import Later, PlainState


class Kept(PlainState):
    """What holds a frame."""

    def __init__(self, frame):
        self.frame = frame


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": [1, 2], "x": [0.5, np.nan], "of": ["a", None], "who": [("f", 1), ("m", 2)]}),
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "yes": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["f", "m"], name="sex")),
        pd.DataFrame({"x": [1.0, 2.0]}, index=pd.MultiIndex.from_arrays([["tpr", "fpr"], [1, 2]], names=["of", "a"])),
        pd.DataFrame({"x": []}),
    ],
)
def test_frames_are_the_same_after_pickling(frame):
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(Kept(frame))).frame, frame)
    pd.testing.assert_frame_equal(copy.deepcopy(Kept(frame)).frame, frame)


class Waiting(PlainState):
    """What makes a frame later."""

    frame = Later()


def test_what_is_made_later_is_made_once():
    waiting, calls = Waiting(), []
    assert not hasattr(waiting, "frame")
    waiting.frame = partial(lambda: calls.append(1) or pd.DataFrame({"n": [1]}))
    assert not calls
    assert waiting.frame is waiting.frame
    assert calls == [1]
    waiting.frame = 3
    assert waiting.frame == 3
    del waiting.frame
    with pytest.raises(AttributeError, match="'Waiting' object has no attribute 'frame'"):
        waiting.frame  # noqa: B018


#: Tests that JSON holds, and others: fits of people, each of a model that is fitted.
WRITTEN = (
    lambda model, X, y, given: FairnessTest(model).fit(X, y, **given),
    lambda model, X, y, given: FairnessTest(model, metric="mean_prediction", n_resamples=99).fit(X, y, **given),
    lambda model, X, y, given: PairedFairnessTest(model, model).fit(X, y, **given),
    lambda model, X, y, given: CorrelationFairnessTest(model, n_resamples=99).fit(X, y, sensitive_features=X[:, 1]),
    lambda model, X, y, given: AdjustedFairnessTest(model).fit(X, y, **given, covariates=X[:, :2]),
    lambda model, X, y, given: SubgroupScan(model, n_resamples=99).fit(X, y, **given),
)
OTHERS = (
    lambda model, X, y, given: FairnessAudit(model, scan=True, individual=True, impact=True, n_resamples=99).fit(
        X, y, sensitive_features={"q": given["sensitive_features"], "r": X[:, 2] > 0}
    ),
    lambda model, X, y, given: IndividualFairnessTest(model).fit(X, y, **given),
    lambda model, X, y, given: AuditedClassifier(LogisticRegression()).fit(X, y, **given),
)


def fitted(made):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y, groups = (X[:, 0] > 0).astype(int), np.where(rng.random(300) < 0.5, "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few people
        return [each(LogisticRegression().fit(X, y), X, y, {"sensitive_features": groups}) for each in made]


def same(one, other):
    """Whether two fitted objects have the same attributes, and print the same."""
    for name in vars(one):
        value = getattr(one, name)
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, getattr(other, name))
    assert str(one) == str(other)
    if hasattr(one, "to_json"):
        assert one.to_json() == other.to_json()


@pytest.mark.slow
def test_fitted_objects_are_kept_by_skops():
    skops = pytest.importorskip("skops.io")
    for each in fitted(WRITTEN + OTHERS):
        kept = skops.dumps(each)
        same(each, skops.loads(kept, trusted=skops.get_untrusted_types(data=kept)))


@pytest.fixture(scope="module")
def described():
    """Fitted tests that JSON holds, with labels, strata and margins of several types, and a metric of a user."""
    rng = np.random.default_rng(0)
    decided, likely, days = rng.integers(0, 2, 300), rng.random(300), pd.to_datetime(["2026-01-01", "2026-05-01"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few people
        unknown = UncertainGroupsTest.from_predictions(
            decided, 1 - decided, sensitive_features=pd.DataFrame({"a": likely, "b": 1 - likely}), n_resamples=99
        )
        of_days = FairnessTest.from_predictions(
            decided, decided, sensitive_features={"day": days[decided * rng.integers(0, 2, 300)]},
            control_features={"r": rng.choice([1, 2], 300)}, margin=(-0.5, None), alternative="equivalence",
            metric="selection_rate",
        )  # fmt: skip
        own = FairnessTest.from_predictions(
            decided, decided, sensitive_features=rng.choice(["a", "b"], 300), n_resamples=99, random_state=0,
            metric=Rate("own", event=lambda y_true, y_pred: y_pred == 1),
        )  # fmt: skip
    return [*fitted(WRITTEN), unknown, of_days, own]


def test_tests_are_read_from_json_as_they_were(described):
    for each in described:
        again = type(each).from_json(each.to_json())
        missing = set(vars(each)) - set(vars(again))
        assert missing <= set(each._not_written)
        for name in set(vars(each)) - missing:
            value, kept = getattr(each, name), getattr(again, name)
            if isinstance(value, pd.DataFrame):
                pd.testing.assert_frame_equal(value, kept)
        assert str(again) == str(each)
        assert again.to_text(details=True) == each.to_text(details=True)
        assert again.to_html() == each.to_html()
        assert again.to_json() == type(again).from_json(again.to_json()).to_json()
        assert again.to_dict() | {"parameters": 0} == each.to_dict() | {"parameters": 0}
