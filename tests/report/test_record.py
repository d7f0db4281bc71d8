"""Records: what is written is read and shown as it was, what was changed is refused, and nothing is computed again."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import skfairtest as sf
from skfairtest.report.record import Recorded, decoded, encoded, frame_from, table_of

RNG = np.random.default_rng(3)
N = 200
PEOPLE = pd.DataFrame({"sex": RNG.choice(["f", "m"], N), "age": RNG.integers(20, 70, N)})
TRUE, OLD = RNG.integers(0, 2, N), RNG.integers(0, 2, N)
SCORE = np.round(RNG.random(N), 3)
PREDICTED = (RNG.random(N) < np.where(PEOPLE["sex"] == "f", 0.75, 0.3)).astype(int)
GROUPS = {"sensitive_features": PEOPLE["sex"], "random_state": 0}


def audit(*people, **params):
    return sf.FairnessAudit.from_predictions(*people, **{**GROUPS, "n_resamples": 99, **params})


def stream(batches=3):
    test = sf.SequentialFairnessTest(["selection_rate", "accuracy"])
    for place in range(batches):
        rows = slice(30 * place, 30 * place + 30)
        test.partial_fit(
            y_true=TRUE[rows], y_pred=PREDICTED[rows], sensitive_features=PEOPLE["sex"][rows], name=f"day {place}"
        )
    return test


def individual():
    X = pd.DataFrame({"sex": (PEOPLE["sex"] == "f").astype(float), "size": RNG.normal(size=N)})
    model = LogisticRegression().fit(X, PREDICTED)
    return sf.IndividualFairnessTest(model).fit(X, TRUE, sensitive_features=X["sex"])


#: Each made without warnings about few people, which say nothing about records.
MAKERS = {
    "rates": lambda: audit(TRUE, PREDICTED, sensitive_features=PEOPLE.assign(age=PEOPLE["age"] > 40)),
    "scores": lambda: audit(TRUE, PREDICTED, y_score=SCORE, metrics=["roc_auc", "brier_score"]),
    "weights": lambda: audit(TRUE, PREDICTED, sample_weight=SCORE + 1, metrics="accuracy"),
    "regression": lambda: audit(SCORE, SCORE[::-1], metrics="mean_squared_error"),
    "scan": lambda: audit(
        TRUE, PREDICTED, X=PEOPLE, scan=sf.SubgroupScan(metric="selection_rate", features="age"), metrics="accuracy"
    ),
    "impact": lambda: audit(None, PREDICTED, impact=True, metrics="selection_rate"),
    "strata": lambda: audit(TRUE, PREDICTED, control_features={"old": PEOPLE["age"] > 40}, metrics="accuracy"),
    "odds": lambda: audit(
        None, OLD, sensitive_features=PEOPLE["age"] // 20, disparity="odds_ratio", compare="to_highest"
    ),
    "groups": lambda: sf.FairnessTest.from_predictions(TRUE, PREDICTED, metric=["accuracy", "recall"], **GROUPS),
    "days": lambda: sf.FairnessTest.from_predictions(
        None, PREDICTED, metric="selection_rate", pos_label=1,
        sensitive_features={"day": pd.to_datetime(np.where(PEOPLE["age"] > 40, "2026-01-01", "2026-02-01"))},
    ),
    "paired": lambda: sf.PairedFairnessTest.from_predictions(TRUE, PREDICTED, OLD, **GROUPS),
    "labelled": lambda: sf.LabelledFairnessTest.from_predictions(
        np.where(SCORE < 0.5, TRUE, np.nan), PREDICTED, metric="true_positive_rate", labelled="at_random", **GROUPS
    ),
    "adjusted": lambda: sf.AdjustedFairnessTest.from_predictions(TRUE, PREDICTED, covariates=PEOPLE[["age"]], **GROUPS),
    "correlation": lambda: sf.CorrelationFairnessTest.from_predictions(
        TRUE, PREDICTED, sensitive_features=PEOPLE[["age"]], n_resamples=99, random_state=0
    ),
    "searched": lambda: sf.SubgroupScan.from_predictions(
        TRUE, PREDICTED, metric="selection_rate", sensitive_features=PEOPLE.assign(age=PEOPLE["age"] // 20)
    ),
    "stream": stream,
    "individual": individual,
}  # fmt: skip


@pytest.fixture(scope="module", params=MAKERS)
def made(request):
    return MAKERS[request.param]()


@pytest.fixture(scope="module")
def text(made):
    return made.to_json()


#: Kinds with one p-value here, which is not adjusted.
ONE = {"regression", "weights", "scan", "impact", "strata", "days", "labelled", "adjusted", "individual"}
#: The text of every kind's report; SKFAIRTEST_GOLDEN=write writes what it is now.
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.filterwarnings("ignore::UserWarning")  # few people
@pytest.mark.parametrize("name", MAKERS)
def test_the_report_of_every_kind_is_the_golden_one(name):
    found = MAKERS[name]().to_text(details=True).partition("How to reproduce this")[0]
    found = re.sub(r"skfairtest \S+;", "skfairtest VERSION;", found)
    if os.environ.get("SKFAIRTEST_GOLDEN") == "write":
        (GOLDEN / f"{name}.txt").write_text(found, encoding="utf-8")
    assert found == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    sentences = re.split(r"\nNull hypothes|\nAll groupings", found)[0]
    assert len(re.findall(r"(?<!adjusted )\bp [=<] ", sentences)) == (name in ONE)
    assert not re.search(r"\b(is|are|be) fair\b", found)


@pytest.mark.filterwarnings("ignore::UserWarning")  # few people
class TestEveryKind:
    def test_what_was_written_is_read_and_shown_as_it_was(self, made, text):
        again = type(made).from_json(text)
        assert again.to_json() == text
        assert again.to_text(details=True) == made.to_text(details=True)
        assert again.to_html() == made.to_html()
        assert (again.p_value_, again.concern_, again.n_samples_) == (made.p_value_, made.concern_, made.n_samples_)
        for name in json.loads(text)["tables"]:
            if name.endswith("_"):
                pd.testing.assert_frame_equal(getattr(again, name), getattr(made, name))

    def test_a_record_has_the_keys_of_its_schema(self, text):
        record = json.loads(text)
        assert set(record) == {"schema", "test", "versions", "parameters", "report", "tables", "facts", "checksum"}
        assert record["schema"] == 2
        assert text.isascii()

    @pytest.mark.parametrize("n_cases", [25, pytest.param(3000, marks=pytest.mark.exhaustive)])
    def test_a_changed_digit_or_letter_is_refused(self, made, text, n_cases):
        rng = np.random.default_rng(0)
        places = [match.start() for match in re.finditer("[0-9a-zA-Z]", text)]
        for place in rng.choice(places, n_cases):
            of = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            changed = rng.choice([each for each in of if each != text[place]])
            with pytest.raises(ValueError, match="source "):
                type(made).from_json(f"{text[:place]}{changed}{text[place + 1 :]}")


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_another_case_of_an_escape_is_another_text(change):
    text = sf.FairnessTest.from_predictions(
        None, [1, 1, 0, 0], sensitive_features={"g": list("\xeb\xeb\xfc\xfc")}, metric="selection_rate"
    ).to_json()
    other = re.sub(r"\\u00[ef][bc]", lambda match: "\\u" + change(match[0][2:]), text)
    assert (other == text) is (change is str.lower)
    if other != text:
        with pytest.raises(ValueError, match="checksum"):
            sf.FairnessTest.from_json(other)


@pytest.mark.parametrize("space", ["\n", " ", "\r\n"])
def test_white_space_is_no_change(space):
    test = MAKERS["groups"]()
    spaced = test.to_json().replace('{"schema"', f'{space}{{{space}"schema"') + space
    assert str(sf.FairnessTest.from_json(spaced)) == str(test)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "source must be what FairnessTest.to_json writes"),
        ("{", "its file; found '{', which is not JSON: Expecting"),
        (b"\xff\xfe", "codec can't decode"),
        ("[" * 100_000, "its file; found"),
        (None, "found None, which is not JSON: "),
        ('{"test": "FairnessTest", "state": null, "checksum": "0"}', "has schema None, and this version reads 2"),
        ('{"schema": 2, "checksum": "0"}', "damaged or edited"),
    ],
)
def test_what_is_no_record_is_refused_in_one_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        sf.FairnessTest.from_json(text)


def test_the_record_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="is the record of a FairnessTest, and no FairnessAudit"):
        sf.FairnessAudit.from_json(MAKERS["groups"]().to_json())


def test_a_stream_goes_on():
    test = sf.SequentialFairnessTest.from_json(stream(2).to_json())
    rows = slice(60, 90)
    test.partial_fit(y_true=TRUE[rows], y_pred=PREDICTED[rows], sensitive_features=PEOPLE["sex"][rows], name="day 2")
    assert test.to_json() == stream(3).to_json()
    with pytest.warns(UserWarning, match="added already"):
        test.partial_fit(y_pred=PREDICTED[rows], sensitive_features=PEOPLE["sex"][rows], name="day 2")


def test_a_second_fit_forgets_what_was_read():
    test = sf.FairnessTest.from_json(MAKERS["groups"]().to_json())
    test.fit(OLD, TRUE, sensitive_features=PEOPLE["sex"])
    fresh = sf.FairnessTest(metric=["accuracy", "recall"], random_state=0)
    assert str(test) == str(fresh.fit(OLD, TRUE, sensitive_features=PEOPLE["sex"]))


def test_breaking_points_are_kept_if_they_were_computed(monkeypatch):
    test = MAKERS["groups"]()
    with monkeypatch.context() as patch:
        patch.setattr("skfairtest.comparisons.breaking.MOST_COMPARISONS", 0)  # reports do not search
        with pytest.raises(AttributeError, match="fit again"):
            _ = sf.FairnessTest.from_json(test.to_json()).breaking_point_
    found = test.breaking_point_
    pd.testing.assert_frame_equal(sf.FairnessTest.from_json(test.to_json()).breaking_point_, found)
    with pytest.raises(ValueError, match="fit again"):
        sf.FairnessTest.from_json(test.to_json()).sensitivity("confounding")


def calls(work):
    """How many calls of functions a piece of work makes."""
    made = 0

    def count(frame, event, arg):
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reading_an_audit_makes_a_tenth_of_the_calls_of_computing_it(compas_table):
    def work():
        return sf.FairnessAudit.from_table(compas_table, metrics=["selection_rate", "accuracy"], random_state=0)

    computed, text = calls(work), work().to_json()
    assert calls(lambda: sf.FairnessAudit.from_json(text)) < computed / 10


@pytest.mark.parametrize(
    "value",
    [
        (1, "1", True, None, 1.5), [1, (2, [3])], {("a", 1): 2.0, "b": frozenset({1})}, float("-inf"),
        pd.Timestamp("2026-01-01"), {"label": 1}, {"Heading": "text"},
    ],
)  # fmt: skip
def test_values_are_read_as_they_were(value):
    written = json.loads(json.dumps(encoded(value), allow_nan=False))
    assert decoded(written) == value
    assert repr(decoded(written)) == repr(value)


def test_frames_keep_types_labels_and_index():
    frame = pd.DataFrame(
        {
            "label": pd.Series([1, "1", True, (1, None)], dtype=object), "n": [1, 2, 3, 4],
            "value": [0.1, np.nan, np.inf, -np.inf], "is": pd.array([True, None, False, True], dtype="boolean"),
        },
        index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)], names=["g", None]),
    )  # fmt: skip
    again = frame_from(json.loads(json.dumps(table_of(frame), allow_nan=False)))
    pd.testing.assert_frame_equal(again, frame)
    assert list(map(repr, again["label"])) == list(map(repr, frame["label"]))


def test_no_two_classes_of_a_record_have_one_name():
    every = list(Recorded.__subclasses__())
    assert len({each.__name__ for each in every}) == len(every)
