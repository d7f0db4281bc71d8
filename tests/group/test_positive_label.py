"""Which label is positive: one rule for models and for predictions, and every report names it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import (
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    SubgroupScan,
    ThresholdDisplay,
    UncertainGroupsTest,
    compare_models,
    inequality_decomposition,
    make_fairness_scorer,
)

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 2))
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0, "denied", "granted")
SEX = np.array(["f", "m"])[np.arange(N) % 2]
MODEL = LogisticRegression().fit(X, Y)
OTHER = LogisticRegression(C=0.001).fit(X, Y)
PREDICTED = MODEL.predict(X)
SHARES = np.where((SEX == "f")[:, None], [0.8, 0.2], [0.2, 0.8])
WHO = {"sensitive_features": SEX}

#: How each asks a model, and how it is given predictions, with or without a positive label.
DOORS = {
    "test of a model": lambda **k: FairnessTest(MODEL, **k).fit(X, Y, **WHO),
    "test of scores": lambda **k: FairnessTest(MODEL, metric="roc_auc", n_resamples=19, **k).fit(X, Y, **WHO),
    "test of predictions": lambda **k: FairnessTest.from_predictions(Y, PREDICTED, **WHO, **k),
    "audit of a model": lambda **k: FairnessAudit(MODEL, metrics="equalized_odds", **k).fit(X, Y, **WHO),
    "audit of predictions": lambda **k: FairnessAudit.from_predictions(Y, PREDICTED, **WHO, **k),
    "two models": lambda **k: PairedFairnessTest(MODEL, OTHER, n_resamples=19, **k).fit(X, Y, **WHO),
    "candidates": lambda **k: compare_models([MODEL, OTHER], X, Y, n_resamples=19, **WHO, **k),
    "scan": lambda **k: SubgroupScan(MODEL, **k).fit(X, Y, **WHO),
    "unknown groups": lambda **k: UncertainGroupsTest(MODEL, n_resamples=19, **k).fit(X, Y, sensitive_features=SHARES),
    "few labels": lambda **k: LabelledFairnessTest(MODEL, **k).fit(X, Y, **WHO),
    "inequality": lambda **k: inequality_decomposition(Y, PREDICTED, n_resamples=19, **WHO, **k),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("door", DOORS)
def test_labels_that_say_nothing_need_a_positive_one_which_every_report_names(door):
    with pytest.raises(ValueError, match=r"pos_label is needed: .* 'denied', 'granted', and nothing says"):
        DOORS[door]()
    lines = str(DOORS[door](pos_label="denied")).splitlines()
    place = next(place for place, line in enumerate(lines) if "The positive label is denied." in line)
    titles = sum(not line or set(line) <= set("=-") for line in lines[:place])
    assert place - 2 * titles <= 2  # below the verdict


def test_a_drawing_of_a_model_needs_it_too():
    with pytest.raises(ValueError, match="pos_label is needed"):
        ThresholdDisplay.from_estimator(MODEL, X, Y, **WHO)


def test_a_scorer_takes_it():
    scorer = make_fairness_scorer("demographic_parity", output="disparity", pos_label="denied")
    expected = FairnessTest(MODEL, metric="selection_rate", pos_label="denied").fit(X, **WHO)
    assert scorer(MODEL, X, Y, **WHO) == -abs(expected.disparity_)


def test_missing_groups_and_a_positive_label_are_asked_for_together():
    holed = np.where(np.arange(N) % 10, SEX, None)
    both = r"sensitive_features .*missing='exclude'.* Besides, pos_label is needed: .*'denied', 'granted'"
    for metric, message in (("selection_rate", both), ("accuracy", r"they may belong to\.$")):
        with pytest.raises(ValueError, match=message):
            FairnessTest.from_predictions(Y, PREDICTED, sensitive_features={"sex": holed}, metric=metric)
        with pytest.raises(ValueError, match=message):
            FairnessTest(MODEL, metric=metric).fit(X, Y, sensitive_features={"sex": holed})
    with pytest.raises(ValueError, match=both):
        FairnessAudit.from_predictions(Y, PREDICTED, sensitive_features={"sex": holed}, metrics="selection_rate")
