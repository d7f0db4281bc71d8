"""The default family of an audit does not shrink with one value of the data, or the audit says what it lacks."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from skfairtest import FairnessAudit, FairnessTest, assert_fair
from skfairtest._utils.errors import ParameterError
from skfairtest.audit.findings import to_junit
from skfairtest.audit.mlflow_evaluator import metrics_of
from skfairtest.cli.app import run
from skfairtest.metrics.resolve import STANDARD

N = 2000
SEX = {"sex": np.tile(["f", "m"], N // 2)}
#: Of 1,000 people in each group 500 are positive, of whom 70% and 100% are predicted positive; 20% of the others are.
TRUTH = np.repeat([1, 0], N // 2)
RANK = np.arange(N) // 2 % 500
PREDICTED = np.where(TRUTH == 1, (RANK < 350) | (SEX["sex"] == "m"), RANK < 100).astype(int)
RATES = list(STANDARD["binary"])


class Says:
    """A fitted model of two classes that says what it is given."""

    _estimator_type, classes_ = "classifier", np.array([0, 1])

    def __init__(self, predictions):
        self.predictions = predictions

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predictions


def stray(values, label):
    """The values, of which the last of a negative person is another label."""
    changed = np.array(values, dtype=object)
    changed[-1] = label
    return changed


def text(values):
    return np.array(values).astype(str).astype(object)


WORDS = np.array(["deny", "approve", "refer"], dtype=object)
LETTERS = np.array(list("abcdefghijkl"))
STRAYS = {
    "number": (TRUTH, stray(PREDICTED, -1).astype(int), 1),
    "text": (text(TRUTH), stray(text(PREDICTED), "unsure"), "1"),
    "empty": (text(TRUTH), stray(text(PREDICTED), ""), "1"),
    "true label": (stray(TRUTH, 7).astype(int), PREDICTED, 1),
    "three decisions": (WORDS[TRUTH], WORDS[np.where(PREDICTED, 1, 2 * (RANK % 2))], "approve"),
    "three of both": (
        WORDS[np.where(TRUTH, 1, 2 * (RANK % 2))],
        WORDS[np.where(PREDICTED, 1, 2 * (RANK % 2))],
        "approve",
    ),
}
DOORS = {
    "from_predictions": lambda y, p, pos: FairnessAudit.from_predictions(y, p, sensitive_features=SEX, pos_label=pos),
    "from_frame": lambda y, p, pos: FairnessAudit.from_frame(
        pd.DataFrame({"y": y, "p": p, **SEX}), y_true="y", y_pred="p", sensitive_features="sex", pos_label=pos
    ),
    "fit": lambda y, p, pos: FairnessAudit(Says(p), pos_label=pos).fit(np.zeros((N, 1)), y, sensitive_features=SEX),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", STRAYS)
def test_with_a_positive_label_a_further_label_takes_no_rate_away(kind, door):
    y_true, y_pred, pos = STRAYS[kind]
    if door == "fit" and isinstance(pos, str):
        pytest.skip("the model's classes are numbers")
    audit = DOORS[door](y_true, y_pred, pos)
    assert list(dict.fromkeys(audit.comparisons_["metric"])) == RATES
    rates = audit.by_group_[audit.by_group_["metric"] == "true_positive_rate"]["value"]
    assert rates.tolist() == [0.7, 1.0]
    assert audit.concern_
    assert audit.excluded_.empty
    assert audit.record_.untested == {}
    assert "Not tested" not in str(audit)


@pytest.mark.parametrize("kind", ["number", "text", "empty", "true label", "three decisions"])
def test_without_a_positive_label_it_is_asked_for(kind):
    y_true, y_pred, _ = STRAYS[kind]
    with pytest.raises(ParameterError, match="pass the one to compare with the others"):
        FairnessAudit.from_predictions(y_true, y_pred, sensitive_features=SEX)
    if y_true is TRUTH:
        with pytest.raises(ParameterError, match="pos_label"):
            FairnessAudit(Says(y_pred)).fit(np.zeros((N, 1)), y_true, sensitive_features=SEX)


def test_the_default_metric_and_assert_fair_keep_their_rates():
    y_true, y_pred, pos = STRAYS["number"]
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=SEX, pos_label=pos)
    assert list(dict.fromkeys(test.comparisons_["metric"])) == ["true_positive_rate", "false_positive_rate"]
    with pytest.raises(AssertionError, match="a significant disparity was found"):
        assert_fair(None, y_pred, y_true, sensitive_features=SEX, pos_label=pos)


@pytest.mark.parametrize("pos", [None, 1])
@pytest.mark.parametrize(("y_true", "y_pred"), [
    (stray(TRUTH, 0.5).astype(float), PREDICTED),
    (stray(TRUTH, 0.5).astype(float), stray(PREDICTED, 0.5).astype(float)),
    (np.where(RANK % 4 == 0, 0.5, TRUTH), PREDICTED),
    (RANK % 6, stray(RANK % 5, 0.5).astype(float)),
])  # fmt: skip
def test_one_label_that_is_not_whole_makes_no_regression(y_true, y_pred, pos):
    with pytest.raises(ParameterError, match=r"holds numbers that are not whole, such as 0\.5, beside labels"):
        FairnessAudit.from_predictions(y_true, y_pred, sensitive_features=SEX, pos_label=pos)


@pytest.mark.parametrize("y_pred", [RANK / 7 + np.arange(N) % 11, RANK % 9, np.zeros(N)])
def test_numbers_that_are_not_whole_stay_a_regression(y_pred):
    audit = FairnessAudit.from_predictions(RANK / 7 + TRUTH, y_pred, sensitive_features=SEX)
    assert set(audit.comparisons_["metric"]) == set(STANDARD["continuous"])
    assert audit.excluded_.empty


def nothing_between(values):
    """Values without their relation to the groups."""
    return np.array(values)[np.arange(N) // 2 * 2]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_what_is_not_tested_stands_in_the_frame_the_verdict_the_report_and_the_files():
    labels = LETTERS[RANK % 12]
    audit = FairnessAudit.from_predictions(labels, labels[::-1], sensitive_features=SEX)
    lost = [name for name in RATES if name != "accuracy"]
    why = "12 labels and no positive one: pass pos_label, or name the metrics that are wanted"
    assert audit.excluded_[["feature", "metric", "reason"]].to_numpy().tolist() == [["sex", name, why] for name in lost]
    assert audit.record_.untested == {why: lost}
    verdict = f"Not tested: selection_rate, true_positive_rate, false_positive_rate and precision ({why})."
    assert audit.record_.sentence.endswith(verdict)
    again = FairnessAudit.from_json(audit.to_json())
    for shown in (audit, again):
        assert verdict in str(shown).replace("\n", " ")
    pd.testing.assert_frame_equal(again.excluded_, audit.excluded_)
    suite = ElementTree.fromstring(to_junit(audit.record_)).find("testsuite")
    skipped = [case.get("name") for case in suite.iterfind("testcase") if case.find("skipped") is not None]
    assert skipped == [f"sex: {name}" for name in lost]
    assert suite.get("skipped") == "4"
    assert metrics_of(audit)["fairness/not_tested"] == 4


def test_a_model_of_several_classes_lacks_nothing():
    labels = WORDS[RANK % 3]
    model = DummyClassifier().fit(np.zeros((N, 1)), labels)
    audit = FairnessAudit(model).fit(np.zeros((N, 1)), labels, sensitive_features=SEX)
    assert audit.record_.untested == {}


def test_a_grouping_without_comparisons_is_not_tested():
    features = {**SEX, "planet": np.full(N, "earth")}
    audit = FairnessAudit.from_predictions(TRUTH, nothing_between(PREDICTED), sensitive_features=features)
    assert not audit.concern_
    (names,) = audit.record_.untested.values()
    assert names == ["by planet"]
    assert audit.excluded_["feature"].tolist() == ["planet"]
    assert "Not tested: by planet (" in audit.record_.sentence
    assert 'name="not compared"' in to_junit(audit.record_)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "options", "status", "says"),
    [
        (*STRAYS["number"][:2], ["--pos-label", "1"], 1, "true positive rate"),
        (*STRAYS["text"][:2], ["--pos-label", "1"], 1, "true positive rate"),
        (*STRAYS["true label"][:2], ["--pos-label", "1"], 1, "true positive rate"),
        (*STRAYS["three decisions"][:2], ["--pos-label", "approve"], 1, "true positive rate"),
        (*STRAYS["number"][:2], [], 2, "--pos-label"),
        (*STRAYS["text"][:2], [], 2, "--pos-label"),
        (stray(TRUTH, 0.5).astype(float), PREDICTED, [], 2, "not whole"),
        (TRUTH, nothing_between(PREDICTED), [], 0, "No significant disparity"),
        (LETTERS[RANK % 12], LETTERS[RANK % 12], [], 4, "Not tested: selection_rate"),
        (np.zeros(N, int), nothing_between(PREDICTED), [], 4, "Not tested: true_positive_rate"),
        (np.zeros(N, int), PREDICTED, [], 1, "Not tested: true_positive_rate"),
    ],
)
def test_the_command_line_says_so_and_its_status_is_not_0(tmp_path, capsys, y_true, y_pred, options, status, says):
    path, saved = str(tmp_path / "people.csv"), str(tmp_path / "audit.json")
    pd.DataFrame({"y": y_true, "p": y_pred, **SEX}).to_csv(path, index=False)
    columns = ["--y-true", "y", "--y-pred", "p", "--sensitive", "sex", "--json", saved]
    assert run(["audit", path, *columns, *options]) == status
    shown = capsys.readouterr()
    assert says in " ".join((shown.out + shown.err).split())
    if status != 2:
        assert run(["report", saved]) == status
        assert FairnessAudit.from_json(tmp_path / "audit.json").concern_ == (status == 1)
