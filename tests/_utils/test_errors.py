"""Errors about a parameter know its name."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    Rate,
    ScoreMetric,
    SequentialFairnessTest,
    SubgroupScan,
    UncertainGroupsTest,
    assert_fair,
    impact_table,
    inequality_decomposition,
    make_fairness_scorer,
    minimum_detectable_disparity,
    power,
    required_sample_size,
)
from skfairtest._utils.errors import GroupsMissing, ParameterError


@pytest.mark.parametrize("kind", [ParameterError, GroupsMissing])
def test_an_error_comes_back_from_another_process_with_its_parameter(kind):
    copied = pickle.loads(pickle.dumps(kind("margin must be a number; found 'wide'")))
    assert type(copied) is kind
    assert str(copied) == "margin must be a number; found 'wide'"
    assert copied.parameter == "margin"


def test_only_the_first_name_is_another_one_for_others():
    error = ParameterError("metric names two different metrics 'a': give one another name")
    assert error.renamed("metrics") == "metrics names two different metrics 'a': give one another name"


AGES = np.arange(20.0)[:, None]
SEX, DECISIONS = list("ffmm") * 5, [0, 1, 1, 1] * 5


@pytest.mark.parametrize(
    ("parameter", "work"),
    [
        (
            "y_score",
            lambda: FairnessTest.from_predictions(
                DECISIONS, DECISIONS, sensitive_features=SEX, metric=["roc_auc", "accuracy"]
            ),
        ),
        (
            "estimator",
            lambda: CorrelationFairnessTest.from_predictions(
                DECISIONS, DECISIONS, sensitive_features=range(20), estimator=len
            ),
        ),
        ("n_resamples", lambda: power(metric="accuracy", rates=(0.3, 0.5), n_per_group=(9, 9), n_resamples=9)),
        (
            "metric",
            lambda: minimum_detectable_disparity(
                FairnessTest.from_predictions(None, DECISIONS, sensitive_features=SEX, metric="selection_rate"),
                metric="accuracy",
            ),
        ),
    ],
)
def test_errors_that_name_a_parameter_know_it(parameter, work):
    with pytest.raises(ParameterError) as error:
        work()
    assert error.value.parameter == parameter


MANY = np.array([f"label {i}" for i in range(800)])
WIDE = pd.DataFrame(np.tile([0, 1], (20, 300)), columns=[f"column {i}" for i in range(600)])
VALUES = {
    "array": np.arange(800),
    "list": list(range(800)),
    "numbers of numpy": list(np.arange(800)),
    "tuple": tuple(range(800)),
    "dict": {i: i for i in range(800)},
    "set": set(range(800)),
    "text": "x" * 5000,
    "frame": WIDE,
    "table": np.arange(4000).reshape(800, 5).tolist(),
}
#: Calls with data of many labels or columns.
CALLS = {
    "labels": lambda: FairnessTest.from_predictions(MANY, MANY, sensitive_features=SEX * 40),
    "positive label": lambda: FairnessTest.from_predictions(MANY, MANY, sensitive_features=SEX * 40, pos_label="no"),
    "vocabularies": lambda: FairnessTest.from_predictions(MANY, np.arange(800), sensitive_features=SEX * 40),
    "near duplicates": lambda: FairnessTest.from_predictions(
        np.char.upper(MANY), MANY, sensitive_features=SEX * 40, metric="accuracy"
    ),
    "reference": lambda: FairnessTest.from_predictions(
        None, DECISIONS * 40, sensitive_features=MANY, metric="selection_rate", reference_group="no"
    ),
    "columns": lambda: FairnessTest.from_frame(WIDE, y_true="no", y_pred="column 1", sensitive_features="column 2"),
    "columns of X": lambda: FairnessTest().fit(WIDE, DECISIONS, sensitive_features=["no"]),
    "weights": lambda: FairnessTest.from_predictions(
        DECISIONS, DECISIONS, sensitive_features=SEX, sample_weight=MANY[:20]
    ),
    "scores": lambda: FairnessTest.from_predictions(
        DECISIONS, y_score=MANY[:20], sensitive_features=SEX, metric="roc_auc"
    ),
    "condition": lambda: FairnessTest.from_predictions(DECISIONS, DECISIONS, sensitive_features=SEX, metric="&" * 3000),
    "audit": lambda: FairnessAudit.from_predictions(DECISIONS, DECISIONS, sensitive_features=SEX, metrics=MANY),
    "two models": lambda: PairedFairnessTest.from_predictions(MANY, MANY, np.arange(800), sensitive_features=SEX * 40),
    "scan": lambda: SubgroupScan.from_predictions(DECISIONS, DECISIONS, sensitive_features=SEX, metric=MANY),
    "impact": lambda: impact_table(MANY, sensitive_features=SEX * 40),
    "table": lambda: CountTable.from_counts(WIDE, y_true="no", y_pred="column 1", sensitive_features="column 2"),
    "power": lambda: power(metric="accuracy", rates=list(range(800)), n_per_group=[9] * 300),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::skfairtest.SmallGroupWarning")
@pytest.mark.parametrize("call", CALLS)
def test_messages_show_a_handful_of_values(call):
    with pytest.raises((ValueError, TypeError, KeyError, UserWarning)) as error:
        CALLS[call]()
    message = str(error.value)
    assert len(message) <= 600
    assert message.count("', '") + message.count(", ") <= 25
    assert "798" not in message


G = {"sensitive_features": SEX}
SHARES = {"f": np.tile([0.2, 0.9], 10), "m": np.tile([0.8, 0.1], 10)}
TEST = FairnessTest.from_predictions(DECISIONS, DECISIONS, metric="accuracy", **G)
#: Doors, with what they take; a value of many is none that their parameters can have.
DOORS = {
    FairnessTest: lambda **given: FairnessTest.from_predictions(DECISIONS, DECISIONS, **G | given),
    FairnessAudit: lambda **given: FairnessAudit.from_predictions(DECISIONS, DECISIONS, **G, **given),
    SubgroupScan: lambda **given: SubgroupScan.from_predictions(DECISIONS, DECISIONS, **G, **given),
    PairedFairnessTest: lambda **given: PairedFairnessTest.from_predictions(
        DECISIONS, DECISIONS, DECISIONS[::-1], **G, **given
    ),
    CorrelationFairnessTest: lambda **given: CorrelationFairnessTest.from_predictions(
        DECISIONS, DECISIONS, sensitive_features=range(20), **given
    ),
    AdjustedFairnessTest: lambda **given: AdjustedFairnessTest.from_predictions(
        DECISIONS, DECISIONS, covariates=range(20), **G, **given
    ),
    LabelledFairnessTest: lambda **given: LabelledFairnessTest.from_predictions(
        [None, *DECISIONS[1:]], DECISIONS, **G, **given
    ),
    UncertainGroupsTest: lambda **given: UncertainGroupsTest.from_predictions(
        DECISIONS, DECISIONS, sensitive_features=SHARES, **given
    ),
    SequentialFairnessTest: lambda **given: SequentialFairnessTest(**given).partial_fit(
        y_true=DECISIONS, y_pred=DECISIONS, **G
    ),
    impact_table: lambda **given: impact_table(DECISIONS, **G | given),
    inequality_decomposition: lambda **given: inequality_decomposition(DECISIONS, DECISIONS, **G | given),
    assert_fair: lambda **given: assert_fair(None, DECISIONS, **{"y": DECISIONS} | G | given),
    make_fairness_scorer: make_fairness_scorer,
    power: lambda **given: power(**{"metric": "accuracy", "rates": (0.3, 0.5), "n_per_group": (9, 9)} | given),
    required_sample_size: lambda **given: required_sample_size(**{"metric": "accuracy", "rates": (0.3, 0.5)} | given),
    minimum_detectable_disparity: lambda **given: minimum_detectable_disparity(TEST, **given),
    AuditedClassifier: lambda **given: AuditedClassifier(**{"estimator": DummyClassifier()} | given).fit(
        AGES, DECISIONS, **G
    ),
    Rate: lambda **given: Rate(**{"name": "x", "event": "y_pred"} | given),
    ScoreMetric: lambda **given: ScoreMetric(**{"name": "x"} | given),
}  # fmt: skip
#: What may be many values: messages of scikit-learn, functions and reports are not ours to cut.
MAY_BE_MANY = {"estimator", "estimator_a", "estimator_b", "X", "test", "y_pred", "y_true", "cv", "predict_params"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_messages_of_every_door_show_a_handful_of_values(door):
    for parameter in set(inspect.signature(door).parameters) - MAY_BE_MANY:
        for value in VALUES.values() if door is FairnessTest else (VALUES["array"], MANY.tolist()):
            try:
                DOORS[door](**{parameter: value})
            except (ValueError, TypeError, AttributeError) as error:
                message = str(error)
                assert len(message) <= 600, (parameter, message)
                assert message.count(", ") <= 25, (parameter, message)
                assert "truth value" not in message, (parameter, message)
                assert not re.search(r"798|label 7\d", message), (parameter, message)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_what_stands_after_many_values_is_kept(value):
    with pytest.raises(
        ParameterError, match=r"(?s)reference_group=.*\.\.\..* is not a group; the groups are 'f', 'm'$"
    ):
        DOORS[FairnessTest](reference_group=value)
