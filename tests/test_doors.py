"""Faults of labels and of alignment at every door: what comes in is refused, or the right number comes out."""

import unicodedata
import warnings

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    SensitiveStratifiedKFold,
    SequentialFairnessTest,
    SignificanceFrame,
    SmallGroupWarning,
    SubgroupScan,
    ThresholdDisplay,
    UncertainGroupsTest,
    assert_fair,
    fairness_p_value,
    impact_table,
    inequality_decomposition,
    make_fairness_scorer,
)
from skfairtest._utils.errors import ParameterError
from skfairtest.cli.app import run
from tests.calls import CALLS, valid

N = 48
RNG = np.random.default_rng(0)
TRUTH = np.tile([0, 0, 1, 1], N // 4)
PREDICTED = np.where(RNG.random(N) < 0.75, TRUTH, 1 - TRUTH)
GROUP = np.repeat(["f", "m"], N // 2)
AGE = RNG.normal(size=N)
SHARES = pd.DataFrame({"f": np.where(GROUP == "f", 0.9, 0.2)}).assign(m=lambda shares: 1 - shares["f"])
LATE = {"sensitive_features": GROUP, "name": "May"}
RATE = "true_positive_rate"


class Says:
    """A model that says what it is told, and knows its classes."""

    def __init__(self, predictions, classes=None):
        self.predictions = np.asarray(predictions)
        self.classes_ = np.unique(self.predictions) if classes is None else np.asarray(classes)

    def predict(self, X):
        return self.predictions[np.asarray(X)[:, 0].astype(int)]

    def predict_proba(self, X):
        score = np.where(self.predict(X) == self.classes_[-1], 0.8, 0.3)
        return np.stack([1 - score, score], axis=1)


ROWS = np.arange(N)[:, None]


def table(y_true, y_pred, columns=pd.DataFrame):
    return columns({"y": y_true, "p": y_pred, "sex": GROUP})


def counted(y_true, y_pred):
    counts = table(y_true, y_pred).groupby(["y", "p", "sex"], observed=True).size().reset_index(name="count")
    return CountTable.from_counts(counts, y_true="y", y_pred="p", sensitive_features="sex")


def constructed(y_true, y_pred):
    cells = sorted(set(zip(y_true, y_pred, strict=True)), key=repr)
    return CountTable(np.full((1, 2, len(cells)), 5), groups=[("f",), ("m",)], cells=cells, sensitive_names=["sex"])


def of_frame(frame, pos):
    return FairnessTest.from_frame(
        frame, y_true="y", y_pred="p", sensitive_features="sex", metric="accuracy", pos_label=pos
    )


def late(y_true, y_pred, pos):
    stream = SequentialFairnessTest(RATE, pos_label=pos).partial_fit(y_pred=y_pred, **LATE)
    return stream.partial_fit(y_pred=y_pred, y_true=y_true, **LATE)


def few(y_true, y_pred, pos, **judge):
    some = np.where(np.arange(N) % 3 > 0, np.asarray(y_true, dtype=object), None)
    return LabelledFairnessTest.from_predictions(
        some, y_pred, sensitive_features=GROUP, metric=RATE, pos_label=pos, labelled="at_random", **judge
    )


def on_the_command_line(y_true, y_pred, pos):
    table(y_true, y_pred).to_csv("people.csv", index=False)
    typed = f"audit people.csv --y-true y --y-pred p --sensitive sex --pos-label {pos} --html out.html"
    if (status := run(typed.split())) == 2:
        raise ParameterError("y_true and y_pred: refused on the command line")
    return status


G = {"sensitive_features": GROUP}
#: Doors that compare predictions with true labels; the classes of models are those of the predictions.
DOORS = {
    "from_predictions": lambda y, p, pos: FairnessTest.from_predictions(y, p, metric=RATE, pos_label=pos, **G),
    "accuracy": lambda y, p, pos: FairnessTest.from_predictions(y, p, metric="accuracy", **G),
    "prediction sets": lambda y, p, pos: FairnessTest.from_predictions(y, pd.get_dummies(p), metric="coverage", **G),
    "callable": lambda y, p, pos: FairnessTest.from_predictions(
        y, p, metric=lambda a, b: float(np.mean(a == b)), pos_label=pos, n_resamples=49, random_state=0, **G
    ),
    "fit of predictions": lambda y, p, pos: FairnessTest(metric=RATE, pos_label=pos).fit(p, y, **G),
    "fit of a model": lambda y, p, pos: FairnessTest(Says(p), metric="accuracy", pos_label=pos).fit(ROWS, y, **G),
    "scores of a model": lambda y, p, pos: FairnessTest(Says(p), metric="roc_auc", pos_label=pos).fit(ROWS, y, **G),
    "pandas": lambda y, p, pos: of_frame(table(y, p), pos),
    "polars": lambda y, p, pos: of_frame(table(list(y), list(p), pl.DataFrame), pos),
    "lazy polars": lambda y, p, pos: of_frame(table(list(y), list(p), pl.LazyFrame), pos),
    "duckdb": lambda y, p, pos: of_frame(pytest.importorskip("duckdb").from_df(table(y, p)), pos),
    "table": lambda y, p, pos: FairnessTest.from_table(CountTable.from_predictions(y, p, **G), pos_label=pos),
    "counts": lambda y, p, pos: FairnessTest.from_table(counted(y, p), metric="accuracy", pos_label=pos),
    "cells": lambda y, p, pos: FairnessTest.from_table(constructed(y, p), metric="accuracy", pos_label=pos),
    "two models, a": lambda y, p, pos: PairedFairnessTest.from_predictions(y, p, y, metric="accuracy", **G),
    "two models, b": lambda y, p, pos: PairedFairnessTest.from_predictions(y, y, p, metric=RATE, pos_label=pos, **G),
    "fit of two models": lambda y, p, pos: PairedFairnessTest(Says(p), Says(y), metric="accuracy").fit(ROWS, y, **G),
    "stream": lambda y, p, pos: SequentialFairnessTest("accuracy").partial_fit(y_true=y, y_pred=p, **G),
    "stream, late labels": late,
    "few labels": few,
    "judge": lambda y, p, pos: few(y, y, pos, y_judge=p),
    "adjusted": lambda y, p, pos: AdjustedFairnessTest.from_predictions(
        y, p, covariates=AGE, of="residual", pos_label=pos, random_state=0, **G
    ),
    "scan": lambda y, p, pos: SubgroupScan.from_predictions(y, p, metric="accuracy", min_group_size=5, **G),
    "unknown groups": lambda y, p, pos: UncertainGroupsTest.from_predictions(
        y, p, sensitive_features=SHARES, metric=RATE, pos_label=pos
    ),
    "audit": lambda y, p, pos: FairnessAudit.from_predictions(y, p, metrics=["accuracy", RATE], pos_label=pos, **G),
    "audit of a model": lambda y, p, pos: FairnessAudit(Says(p), metrics=RATE, pos_label=pos).fit(ROWS, y, **G),
    "scorer": lambda y, p, pos: make_fairness_scorer(metric="accuracy", sensitive_features="sex", pos_label=pos)(
        Says(p), pd.DataFrame({"row": range(N), "sex": GROUP}), y
    ),
    "assert_fair": lambda y, p, pos: assert_fair(Says(p), ROWS, y, metric="accuracy", pos_label=pos, **G),
    "fairness_p_value": lambda y, p, pos: fairness_p_value(y, p, metric=RATE, pos_label=pos, **G),
    "SignificanceFrame": lambda y, p, pos: SignificanceFrame(metrics=accuracy_score, y_true=y, y_pred=p, **G),
    "inequality": lambda y, p, pos: inequality_decomposition(y, p, pos_label=pos, n_resamples=19, random_state=0, **G),
    "command line": on_the_command_line,
}
#: Doors that read numbers, of which texts are none; and doors of scores, which have the labels of the truth alone.
NUMBERS = {
    "correlation": lambda y, p, pos: CorrelationFairnessTest.from_predictions(y, p, sensitive_features=AGE),
    "threshold": lambda y, p, pos: ThresholdDisplay.from_estimator(Says(p), ROWS, y, metric=RATE, pos_label=pos, **G),
}


def words(*pair):
    return lambda codes: np.array(pair)[codes]


NO_YES = words("no", "yes")
CAFE = words("no", unicodedata.normalize("NFC", "cafe\u0301"))
#: How true labels and predictions are written, and the positive label.
TWO_VOCABULARIES = {
    "words and codes": (NO_YES, np.array, "yes"),
    "categories and their codes": (lambda codes: pd.Categorical(NO_YES(codes)), np.array, "yes"),
    "text and numbers": (lambda codes: codes.astype(str), np.array, "1"),
    "booleans and text": (lambda codes: codes == 1, lambda codes: (codes == 1).astype(str), True),
    "case": (NO_YES, words("no", "YES"), "yes"),
    "space": (NO_YES, words("no", "yes "), "yes"),
    "no-break space": (NO_YES, words("no", "yes\u00a0"), "yes"),
    "mark of byte order": (NO_YES, words("no", "\ufeffyes"), "yes"),
    "composed and decomposed": (CAFE, words("no", "cafe\u0301"), "caf\u00e9"),
    "wide letters": (NO_YES, words("no", "\uff59\uff45\uff53"), "yes"),
    "other words": (NO_YES, words("nein", "ja"), "yes"),
    "1, 2 and 0, 1": (lambda codes: codes + 1, np.array, 1),
    "-1, 1 and 0, 1": (lambda codes: 2 * codes - 1, np.array, 1),
    "one word of two": (words("no", "paid"), words("not", "paid"), "paid"),
    "numbers with a decimal point": (words("0", "1"), words("0", "1.0"), "0"),
    "a letter that looks alike": (NO_YES, words("no", "y\u0435s"), "no"),
    "another hyphen": (words("no", "non-hire"), words("no", "non\u2011hire"), "non-hire"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


#: Callables and a judge's scores may be of any numbers; a file does not tell 1 from "1".
RIGHT = {
    ("callable", "1, 2 and 0, 1"), ("callable", "-1, 1 and 0, 1"), ("judge", "1, 2 and 0, 1"),
    ("judge", "-1, 1 and 0, 1"), ("callable", "one word of two"), ("callable", "numbers with a decimal point"),
    ("callable", "a letter that looks alike"),
    ("command line", "numbers with a decimal point"), ("command line", "text and numbers"),
    ("command line", "booleans and text"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::skfairtest.SmallGroupWarning")
@pytest.mark.parametrize("door", {**DOORS, **NUMBERS})
def test_labels_of_two_vocabularies_are_refused(door, folder, capsys):
    accepted = []
    # Each run of the command line reads a file.
    step = 4 if door == "command line" else 1
    for fault, (of_truth, of_predictions, pos) in list(TWO_VOCABULARIES.items())[::step]:
        y_true, y_pred = of_truth(TRUTH), of_predictions(PREDICTED)
        try:
            result = {**DOORS, **NUMBERS}[door](y_true, y_pred, pos)
        except ValueError as error:
            told = str(error) + capsys.readouterr().err
            assert any(
                text in told for label in np.unique(y_true) for text in (str(label), ascii(str(label))[1:-1])
            )  # a label that was found
        else:  # the values of a MetricFrame are fairlearn's, and have no test
            if (door, fault) not in RIGHT and not (door == "SignificanceFrame" and np.isnan(result.p_values())):
                accepted.append(fault)
    assert accepted == []


@pytest.mark.filterwarnings("ignore::skfairtest.SmallGroupWarning")
@pytest.mark.parametrize(
    "door", {door: None for door in DOORS if door not in ("callable", "judge", "scores of a model")}
)
def test_two_spellings_of_a_label_are_refused_in_truth_and_in_predictions(door, folder, capsys):
    codes = np.where(np.arange(N) % 5 == 0, 2, PREDICTED)
    for several in ("Yes", "yes\u2009", "YES"):
        spelled, clean = words("no", "yes", several)(codes), NO_YES(TRUTH)
        for y_true, y_pred in ((spelled, clean), (clean, spelled), (spelled, spelled)):
            with pytest.raises(ValueError, match=r"differ only by case, space or Unicode form|command line"):
                DOORS[door](y_true, y_pred, "yes")


def as_strings(codes):
    return NO_YES(codes).astype(object)


#: Containers and types of one vocabulary, whose results are the same.
SAME = [
    (NO_YES, as_strings, "yes"),
    (as_strings, lambda codes: pd.Series(NO_YES(codes), dtype="string"), "yes"),
    (lambda codes: pd.Categorical(NO_YES(codes), categories=["yes", "no", "Yes"]), NO_YES, "yes"),
    (lambda codes: pl.Series(NO_YES(codes).tolist()), NO_YES, "yes"),
    (lambda codes: codes == 1, np.array, 1),
    (lambda codes: codes.astype(float), lambda codes: codes == 1, True),
    (lambda codes: codes.astype(np.uint8), lambda codes: pd.Series(codes, dtype="Int64"), 1.0),
    (lambda codes: 2 * codes - 1, lambda codes: 2.0 * codes - 1, 1),
]


@pytest.mark.parametrize(("of_truth", "of_predictions", "pos"), SAME)
def test_types_of_one_vocabulary_have_one_result(of_truth, of_predictions, pos):
    given = of_truth(TRUTH), of_predictions(PREDICTED)
    for metric in (RATE, "accuracy"):
        expected = FairnessTest.from_predictions(TRUTH, PREDICTED, metric=metric, **G).p_value_
        assert FairnessTest.from_predictions(*given, metric=metric, pos_label=pos, **G).p_value_ == expected
        table = CountTable.from_predictions(*given, **G)
        assert FairnessTest.from_table(table, metric=metric, pos_label=pos).p_value_ == expected


@pytest.mark.parametrize(
    ("y_true", "y_pred", "classes", "pos"),
    [
        ([0, 1], [0, 0], [0], 1),  # a model of people of one class
        ([1, 1], [0, 1], [0, 1], None),  # people of one class
        (["a", "b"], ["a", "a"], ["a", "b", "c"], "a"),  # a class that people lack
        (["a", "b", "c"], ["a", "b", "a"], ["a", "b"], "a"),  # a class that the model has never seen
        ([0, 1, -1], [0, 1, 1], [0, 1], 1),  # a stray label
        ([False, True], [0, 1], [0, 1], True),
    ],
)
def test_a_model_or_its_people_may_lack_a_class(y_true, y_pred, classes, pos):
    y_true, y_pred = (np.resize(labels, N) for labels in (y_true, y_pred))
    test = FairnessTest(Says(y_pred, classes), metric="accuracy", pos_label=pos).fit(ROWS, y_true, **G)
    overall = [float(np.mean((y_true == y_pred)[group == GROUP])) for group in "fm"]
    assert test.by_group_["value"].tolist() == pytest.approx(overall)


@pytest.mark.parametrize(
    ("labels", "classes", "pos", "told"),
    [
        ([1, 2], [0, 1], 1, "y_true holds 1, 2 and classes_ of the estimator holds 0, 1"),
        ([-1, 1], [0, 1], 1, "y_true holds -1, 1 and classes_ of the estimator holds 0, 1"),
        (["good", "bad"], ["good", "poor"], "good", "'bad', 'good' and classes_ of the estimator holds 'good', 'poor'"),
        ([3, 4, 5], [0, 1, 2], 1, "y_true holds 3, 4, 5 and classes_ of the estimator holds 0, 1, 2"),
        ([0, 1, 2], [0, 1], 2, "pos_label=2 is not among the classes_ of the estimator, 0, 1"),
        (["a", "b"], ["a", "B"], "a", "'b' and 'B' differ only by case"),
    ],
)
@pytest.mark.parametrize("metric", [RATE, "selection_rate", "accuracy"])
def test_classes_of_a_model_are_those_of_the_true_labels(labels, classes, pos, told, metric):
    model = Says(np.resize(classes[:1], N), classes)
    for test in (
        FairnessTest(model, metric=metric, pos_label=pos),
        FairnessAudit(model, metrics=metric, pos_label=pos),
    ):
        with pytest.raises(ParameterError, match=told):
            test.fit(ROWS, np.resize(labels, N), **G)


def indexed(values, start):
    series = not isinstance(values, dict) and np.ndim(values) == 1
    frame = pd.Series(values) if series else pd.DataFrame(values)
    return frame.set_axis(start + np.arange(len(frame)))


WHOLE = {"control_features": np.tile(["x", "y"], N // 2), "sample_weight": np.tile([1.0, 2.0], N // 2)}
QUICK = {"metric": "selection_rate", "method": "asymptotic"}
#: Columns that calls of tests/calls.py do not have, among others of the same people.
FURTHER = {
    "clusters": (FairnessTest.from_predictions, {"clusters": np.arange(N) // 2}, QUICK),
    "scores": (FairnessTest.from_predictions, {"y_score": AGE}, {"metric": "roc_auc"}),
    "intervals": (FairnessTest.from_predictions, {"y_pred": np.stack([AGE, AGE + 1], axis=1)}, {"metric": "coverage"}),
    "weights": (FairnessTest.from_predictions, WHOLE, QUICK),
    "audit": (FairnessAudit.from_predictions, WHOLE, {"metrics": "selection_rate", "method": "asymptotic"}),
    "label_probability": (LabelledFairnessTest.from_predictions, {"label_probability": np.full(N, 0.5)}, {}),
    "SignificanceFrame, more": (
        lambda sample_weight, **given: SignificanceFrame(
            metrics=accuracy_score, sample_params={"sample_weight": sample_weight}, **given
        ),
        WHOLE,
        {},
    ),
}
PEOPLE = {"y_true": TRUTH, "y_pred": PREDICTED, **G}
ALIGNED = {
    "fit": (FairnessTest(Says(PREDICTED)).fit, {"X": np.stack([np.arange(N)] * 2, axis=1), "y": TRUTH, **G}, {}),
    "assert_fair": (lambda **given: assert_fair(Says(PREDICTED), ROWS, **given), {"y": TRUTH, **G}, {}),
    **{door: (run, PEOPLE | columns, params) for door, (run, columns, params) in FURTHER.items()},
    **{name: valid(name) for name, (_, columns, _) in CALLS.items() if len(columns) > 1},
}
# A frame has one index, and others of these calls go through a door that is here.
for name in ("CountTable.from_frame", "FairnessTest.sensitivity", "Rate", "ScoreMetric", "NullDistributionDisplay"):
    del ALIGNED[name]


@pytest.mark.parametrize("door", ALIGNED)
def test_indexes_that_share_no_label_are_refused_unless_one_is_the_default(door):
    run, given, params = ALIGNED[door]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given:
            moved = {other: indexed(values, 1000 + 1000 * (other == name)) for other, values in given.items()}
            for values in (moved[name], {"sex": moved[name]}):
                if isinstance(values, dict) and (name != "sensitive_features" or moved[name].ndim > 1):
                    continue
                with pytest.raises(ValueError, match="have pandas indexes that share no label"):
                    run(**{**moved, name: values}, **params)
            run(**{**moved, name: indexed(given[name], 0)}, **params)  # 0 to n - 1 says nothing about people


def test_an_index_is_the_default_by_its_labels_and_other_types_share_none():
    y, p = indexed(TRUTH, 1000), indexed(PREDICTED, 1000)
    for index in (pd.RangeIndex(N), pd.Index(np.arange(N)), pd.Index(np.arange(N, dtype=float))):
        FairnessTest.from_predictions(y, p, sensitive_features=pd.Series(GROUP, index=index))
    pairs = pd.MultiIndex.from_product([range(N // 2), ["a", "b"]])
    for index in (pd.RangeIndex(1, N + 1), [f"id {i}" for i in range(N)], pd.date_range("2026", periods=N), pairs):
        with pytest.raises(
            ParameterError, match="y_true and sensitive_features have pandas indexes that share no label"
        ):
            FairnessTest.from_predictions(y, p, sensitive_features=pd.Series(GROUP, index=index))
    for other, told in (
        (pd.MultiIndex.from_product([range(99, 99 + N // 2), ["a", "b"]]), "no label"),
        (pairs[::-1], "order"),
    ):
        with pytest.raises(ParameterError, match=told):
            FairnessTest.from_predictions(TRUTH, y.set_axis(pairs), sensitive_features=pd.Series(GROUP, index=other))


@pytest.mark.filterwarnings("ignore::skfairtest.SmallGroupWarning")
@pytest.mark.parametrize("door", ["from_predictions", "polars", "counts", "audit", "stream", "impact_table", "scan"])
def test_names_of_groups_that_look_alike_are_a_warning_that_names_them(door):
    sex = np.where(np.arange(N) % 5 == 0, "F", GROUP)
    frame = {"y": TRUTH, "p": PREDICTED, "sex": sex}
    counts = pd.DataFrame(frame).groupby(list(frame)).size().reset_index(name="count")
    run = {
        "from_predictions": lambda: FairnessTest.from_predictions(TRUTH, PREDICTED, sensitive_features={"sex": sex}),
        "polars": lambda: CountTable.from_frame(pl.LazyFrame(frame), y_true="y", y_pred="p", sensitive_features="sex"),
        "counts": lambda: CountTable.from_counts(counts, y_true="y", y_pred="p", sensitive_features="sex"),
        "audit": lambda: FairnessAudit.from_predictions(TRUTH, PREDICTED, sensitive_features={"sex": sex}),
        "stream": lambda: SequentialFairnessTest().partial_fit(y_pred=PREDICTED, sensitive_features={"sex": sex}),
        "impact_table": lambda: impact_table(PREDICTED, sensitive_features={"sex": sex}),
        "scan": lambda: SubgroupScan.from_predictions(
            TRUTH, PREDICTED, sensitive_features={"sex": sex}, metric="accuracy", min_group_size=5
        ),
    }[door]
    with pytest.warns(UserWarning, match=r"sensitive_features: .*'sex' differ only by case.* \('F' and 'f'\)"):
        run()


STREAM = {"metric": RATE, "pos_label": "yes"}


@pytest.mark.parametrize("of", [np.array, words("NO", "YES"), words("nein", "ja")])
def test_later_batches_of_another_vocabulary_are_refused_also_after_saving(of):
    stream = SequentialFairnessTest(**STREAM).partial_fit(y_pred=NO_YES(PREDICTED), y_true=NO_YES(TRUTH), **G)
    for test in (stream, SequentialFairnessTest.from_json(stream.to_json())):
        with pytest.raises(ParameterError, match=r"earlier batches\).*\(this batch"):
            test.partial_fit(y_pred=of(PREDICTED), y_true=of(TRUTH), **G)
        assert test.n_samples_ == N


def test_later_batches_of_other_codes_are_refused():
    stream = SequentialFairnessTest("accuracy", pos_label=1).partial_fit(y_pred=PREDICTED, y_true=TRUTH, **G)
    with pytest.raises(ParameterError, match=r"earlier batches\) holds 0, 1 and y_true \(this batch\) holds 1, 2"):
        stream.partial_fit(y_pred=PREDICTED + 1, y_true=TRUTH + 1, **G)


def test_small_batches_of_many_classes_may_share_no_label():
    stream = SequentialFairnessTest("accuracy")
    for y_true, y_pred in ((["a", "a"], ["b", "c"]), (["b", "c"], ["d", "a"]), (["d", "d"], ["d", "b"])):
        stream.partial_fit(y_true=y_true, y_pred=y_pred, sensitive_features=["f", "m"])
    assert stream.by_group_["value"].tolist() == pytest.approx([1 / 3, 0])


def test_tables_of_two_vocabularies_do_not_merge():
    table = CountTable.from_predictions(NO_YES(TRUTH), NO_YES(PREDICTED), **G)
    for of in (np.array, words("no", "YES")):
        with pytest.raises(ParameterError, match=r"y_true( holds 'no', 'yes' and|,) y_true of another table"):
            table + CountTable.from_predictions(of(TRUTH), of(PREDICTED), **G)


@pytest.mark.parametrize(
    "door", ["from_predictions", "audit", "two models", "scan", "stream", "adjusted", "few labels"]
)
def test_a_result_says_which_labels_count_as_negative_where_there_are_several(door):
    decided = np.resize(["Yes", "No", "unsure", "Yes", "No"], N)
    params = {"metric": "selection_rate", "pos_label": "Yes"}
    yes = np.resize(["Yes", "No"], N)
    test = {
        "from_predictions": lambda: FairnessTest.from_predictions(None, decided, **G, **params),
        "audit": lambda: FairnessAudit.from_predictions(None, decided, metrics="selection_rate", pos_label="Yes", **G),
        "two models": lambda: PairedFairnessTest.from_predictions(None, decided, yes, **G, **params),
        "scan": lambda: SubgroupScan.from_predictions(None, decided, min_group_size=5, **G, **params),
        "stream": lambda: SequentialFairnessTest(**params).partial_fit(y_pred=decided, **G),
        "adjusted": lambda: AdjustedFairnessTest.from_predictions(
            None, decided, covariates=AGE, pos_label="Yes", random_state=0, **G
        ),
        "few labels": lambda: few(yes, decided, "Yes"),
    }[door]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallGroupWarning)
        fitted = test()
    assert fitted.negative_labels_ == ["No", "unsure"]
    assert "The positive label is Yes; No and unsure count as negative." in str(fitted).replace("\n", " ")
    if hasattr(fitted, "from_json"):
        again = type(fitted).from_json(fitted.to_json())
        assert again.negative_labels_ == ["No", "unsure"]


def test_a_duration_may_be_the_positive_label_and_is_no_number():
    waited = np.array([1, 2], dtype="m8[s]")[PREDICTED]
    second = np.timedelta64(1, "s")
    expected = FairnessTest.from_predictions(None, PREDICTED == 0, metric="selection_rate", **G).p_value_
    for pos in (second, pd.Timedelta(second), second.astype("m8[ms]")):
        test = FairnessTest.from_predictions(None, waited, pos_label=pos, metric="selection_rate", **G)
        assert test.p_value_ == expected
        assert "The positive label is" in str(test)
    with pytest.raises(ParameterError, match=r"pos_label=np.timedelta64\(1,'s'\) is not among the labels"):
        FairnessTest.from_predictions(None, PREDICTED, pos_label=second, metric="selection_rate", **G)
    with pytest.raises(ParameterError, match="n_resamples must be an integer"):
        FairnessTest.from_predictions(None, PREDICTED, n_resamples=second, metric="selection_rate", **G)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: AuditedClassifier(LogisticRegression()).fit(X, y, **G),
        lambda X, y: list(SensitiveStratifiedKFold(2).split(X, y, **G)),
    ],
)
def test_labels_are_of_one_vocabulary_where_models_are_trained(fit):
    y = np.where(np.arange(N) % 5 == 0, "YES", NO_YES(TRUTH))
    with pytest.raises(ParameterError, match="y: the labels 'YES' and 'yes' differ only by case"):
        fit(AGE[:, None], y)
