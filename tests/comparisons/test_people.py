"""Every kind of test reads what it is given once."""

from collections.abc import Sequence

import numpy as np
import pytest

from skfairtest import (
    AdjustedFairnessTest,
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    SequentialFairnessTest,
    SubgroupScan,
    UncertainGroupsTest,
)
from skfairtest.readers import containers, numbers, predictions


class Walked(Sequence):
    """A column that counts how often somebody walks through it."""

    def __init__(self, values):
        self.values, self.walks = list(values), 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]

    def __iter__(self):
        self.walks += 1
        return iter(self.values)


GENERATOR = np.random.default_rng(0)
N = 200
GROUPS = GENERATOR.choice(["a", "b"], N).tolist()
LABELS, DECISIONS, OTHERS = (GENERATOR.integers(0, 2, N).tolist() for _ in range(3))
AGES = GENERATOR.integers(20, 60, N).tolist()
CHANCES = GENERATOR.uniform(0.1, 0.9, N)


def one_model(kind, **params):
    return lambda y, p, s: kind.from_predictions(y, p, sensitive_features=s, **params)


def fitted(kind, **params):
    return lambda y, p, s: kind(**params).fit(p, y, sensitive_features=s)


KINDS = {
    "groups": one_model(FairnessTest),
    "groups, fitted": fitted(FairnessTest),
    "groups, scores": one_model(FairnessTest, metric="roc_auc"),
    "correlation": one_model(CorrelationFairnessTest, n_resamples=99),
    "correlation, fitted": fitted(CorrelationFairnessTest, n_resamples=99),
    "adjusted": lambda y, p, s: AdjustedFairnessTest.from_predictions(
        y, p, sensitive_features=s, covariates={"age": AGES}, of="residual", n_folds=2
    ),
    "paired": lambda y, p, s: PairedFairnessTest.from_predictions(y, p, OTHERS, sensitive_features=s),
    "stream": lambda y, p, s: SequentialFairnessTest(metric="true_positive_rate").partial_fit(
        y_true=y, y_pred=p, sensitive_features=s
    ),
    "scan": one_model(SubgroupScan, min_group_size=20),
    "scan, fitted": fitted(SubgroupScan, min_group_size=20),
    "unknown groups": lambda y, p, s: UncertainGroupsTest.from_predictions(
        y, p, sensitive_features={"a": CHANCES, "b": 1 - CHANCES}, n_resamples=99
    ),
    "few labels": one_model(LabelledFairnessTest, metric="accuracy", y_judge=DECISIONS),
    "audit": one_model(FairnessAudit),
    "audit, fitted": fitted(FairnessAudit),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_each_column_is_walked_through_once(kind, monkeypatch):
    """Labels, predictions and groups are unwrapped once each, by whichever door they come."""
    unwrapped = []
    for module in (containers, numbers, predictions):
        original = module.one_dimensional
        monkeypatch.setattr(
            module, "one_dimensional", lambda data, name, own=original: unwrapped.append(data) or own(data, name)
        )
    feature = AGES if kind.startswith("correlation") else GROUPS
    given = [Walked(LABELS), Walked(DECISIONS), Walked(feature)]
    KINDS[kind](*given)
    arrays = [np.array(values) for values in (LABELS, DECISIONS, feature)]
    unwrapped.clear()
    KINDS[kind](*arrays)
    once = [1, 1, kind != "unknown groups"]
    assert [column.walks for column in given] == once
    assert [sum(data is array for data in unwrapped) for array in arrays] == once
