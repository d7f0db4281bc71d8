"""The record of an audit: what `from_json` takes, and what it refuses in one sentence that names the place."""

import json

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.record import AuditRecord
from skfairtest.report.plain import plain_label


def walk(value, place=()):
    """Yield the place of every leaf, and of every list and object, of a document."""
    yield place
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from walk(child, (*place, key))


def put(text, place, value):
    """Return a document with another value at a place."""
    document = json.loads(text)
    if not place:
        return value
    *way, last = place
    target = document
    for key in way:
        target = target[key]
    target[last] = value
    return document


@pytest.fixture(scope="module")
def small():
    """Write an audit with two features, their intersection, a control feature, and something left out."""
    audit = FairnessAudit.from_predictions(
        [0, 1] * 20,
        [0, 1, 1, 1, 0, 0, 1, 0] * 5,
        sensitive_features={"sex": list("fmfm") * 10, "town": ["x"] * 18 + ["y"] * 22},
        control_features={"age": [20, 40] * 10 + [40] * 20},
        metrics=["selection_rate", "f1"],
    )
    return audit.to_json()


def test_what_was_written_is_read(small):
    assert AuditRecord.from_json(small).to_json() == small
    assert AuditRecord.from_json(small.encode()).to_json() == small


def test_a_tuple_that_is_the_label_of_one_feature_is_text():
    town, old, yes = (np.empty(40, dtype=object) for _ in range(3))
    town[:], old[:] = [("x", 1), ("y", 2)] * 20, [("no",)] * 20 + [("yes",)] * 20
    yes[:] = [("no", 0), ("yes", 1), ("yes", 1)] * 13 + [("no", 0)]
    audit = FairnessAudit.from_predictions(
        None, yes, sensitive_features={"town": town, "sex": list("ffmm") * 10}, control_features={"old": old},
        metrics="selection_rate", pos_label=("yes", 1),
    )  # fmt: skip
    assert set(audit.by_group_["group"]) == {
        "('x', 1)", "('y', 2)", "f", "m", *((town, sex) for town in ("('x', 1)", "('y', 2)") for sex in "fm")
    }  # fmt: skip
    assert audit.pos_label_ == "('yes', 1)"
    again = FairnessAudit.from_json(audit.to_json())
    assert again.to_json() == audit.to_json()
    assert str(again) == str(audit)


FIRST = ("parts", 0, "comparisons", 0)
HUGE = 10**400


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((*FIRST, "concern"), "false", r"parts\[0\].comparisons\[0\].concern must be true or false; found 'false'"),
        ((*FIRST, "concern"), 0, "concern must be true or false"),
        ((*FIRST, "method"), None, r"comparisons\[0\].method must be a text; found None"),
        ((*FIRST, "metric"), None, "metric must be a text"),
        ((*FIRST, "group"), {}, r"comparisons\[0\].group must be a label"),
        ((*FIRST, "group"), ["f", "x"], r"comparisons\[0\].group must be a label"),
        (("parts", 2, "by_group", 0, "group"), ["f"], r"parts\[2\].by_group\[0\].group must be a list of 2"),
        ((*FIRST, "stratum"), [1, 2], "stratum must be a label"),
        ((*FIRST, "p_value"), "0.5", 'p_value must be a number from 0 to 1, null; found \'0.5\''),
        ((*FIRST, "p_value"), True, "p_value must be a number from 0 to 1"),
        ((*FIRST, "p_value"), 1.5, "p_value must be a number from 0 to 1"),
        ((*FIRST, "disparity"), "nan", 'disparity must be a finite number, null, "inf" or "-inf"; found \'nan\''),
        ((*FIRST, "ci_low"), HUGE, "ci_low must be a finite number"),
        ((*FIRST, "minimum_detectable"), -1, "minimum_detectable must be a number from 0"),
        ((*FIRST, "standard_error"), -1, "standard_error must be a number from 0"),
        ((*FIRST, "n_group"), 1e308, "n_group must be a whole number"),
        ((*FIRST, "n_group"), 2**63, "n_group must be a whole number"),
        ((*FIRST, "n_other"), -1, "n_other must be a whole number"),
        ((*FIRST, "verdict"), "fair", "verdict must be one of 'disparity found', 'no disparity found'; found 'fair'"),
        (FIRST, [], r"parts\[0\].comparisons\[0\] must be an object; found \[\]"),
        (("parts", 0, "by_group", 0, "n"), 2.0, r"parts\[0\].by_group\[0\].n must be a whole number"),
        (("parts", 0, "by_group", 0, "small"), None, "small must be true or false"),
        (("parts", 0, "by_group"), None, r"parts\[0\].by_group must be a list; found None"),
        (("parts", 0, "sensitive"), [], r"parts\[0\].sensitive must be a list of at least 1"),
        (("parts", 0, "control"), "age", "control must be a list"),
        (("parts",), [], "parts must be a list of at least 1"),
        (("parts", 0, "setup", "compare"), "else", r"setup.compare must be one of 'between_groups', .*; found 'else'"),
        (("parts", 0, "setup", "compare"), [], "setup.compare must be one of"),
        (("parts", 0, "setup", "disparity"), "gap", "setup.disparity must be one of"),
        (("parts", 0, "setup", "alternative"), None, "setup.alternative must be one of"),
        (("parts", 0, "setup", "within"), "sex", "setup.within must be one of 'auto', null, 'y_true', 'y_pred'"),
        (("parts", 0, "setup", "margin_bounds"), [], "setup.margin_bounds must be a list of 2"),
        (("parts", 0, "setup", "alpha"), 1, "setup.alpha must be a number between 0 and 1"),
        (("parts", 0, "setup", "descriptions"), [], "setup.descriptions must be an object"),
        (("parts", 0, "setup", "disparities"), {"f1": "gap"}, r"setup.disparities\['f1'\] must be one of"),
        (("parts", 0, "setup", "sentences"), {"f1": ["are"]}, r"setup.sentences\['f1'\] must be a list of 2"),
        (("parts", 0, "setup", "functions"), "f1", "setup.functions must be a list"),
        (("parts", 0, "setup", "everybody"), [1], r"setup.everybody\[0\] must be a text"),
        (("verdict", "concern"), "true", "verdict.concern must be true or false; found 'true'"),
        (("verdict", "n_samples"), "40", "verdict.n_samples must be a whole number"),
        (("verdict", "alpha"), "0.05", "verdict.alpha must be a number"),
        (("verdict", "adjust"), "max_t", "verdict.adjust must be one of null, 'holm'"),
        (("verdict", "p_value_interval"), [0], "verdict.p_value_interval must be a list of 2"),
        (("verdict", "pos_label"), {}, "verdict.pos_label must be a label"),
        (("leading",), [0, True], r"leading\[1\] must be a whole number"),
        (("leading",), [9, 0], r"leading \[9, 0\] is no comparison"),
        (("leading",), [0, -1], r"leading\[1\] must be a whole number"),
        (("null_distribution", "kind"), "guessed", "null_distribution.kind must be one of"),
        (("null_distribution", "low", 0), "inf", r"null_distribution.low\[0\] must be a finite number; found 'inf'"),
        (("null_distribution", "mass"), [], "null_distribution.low, high, mass and extreme must be of one length"),
        (("null_distribution", "mass", 0), -0.5, r"null_distribution.mass\[0\] must be a number from 0 to 1"),
        (("null_distribution", "observed"), None, "null_distribution.observed must be a finite number"),
        (("null_distribution",), [], "null_distribution must be an object"),
        (("versions", "numpy"), 2, "versions.*numpy.* must be a text"),
        (("parameters",), None, "parameters must be an object"),
        (("not_compared",), [{"sensitive": "sex"}], r"not_compared\[0\]: 'reason' is missing"),
        (("warnings",), [None], r"warnings\[0\] must be a text"),
        (("title",), 3, "title must be a text; found 3"),
    ],
)  # fmt: skip
def test_what_is_not_as_it_should_be_is_named(small, place, value, message):
    document = put(small, place, value)
    with pytest.raises(
        ValueError, match=f"text is not the record of an audit that to_json wrote: .*{message}"
    ) as error:
        AuditRecord.from_json(json.dumps(document))
    assert len(str(error.value)) < 400


ROWS = ("parts", 0, "comparisons")
SETUP = ("parts", 0, "setup")


@pytest.fixture(scope="module")
def found():
    """Write the audit of a model that treats two towns very differently, and sexes alike."""
    audit = FairnessAudit.from_predictions(
        [0, 1] * 60, [0, 0, 0, 1, 0, 0] * 10 + [1, 1, 1, 0, 1, 1] * 10,
        sensitive_features={"town": ["x"] * 60 + ["y"] * 60, "sex": list("fm") * 60}, pos_label=1,
        metrics=["selection_rate", "accuracy"], compare_intersections="to_parents",
    )  # fmt: skip
    return audit.to_json()


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (("verdict", "concern"), False, "verdict.concern is False, and must be True: that follows"),
        (("verdict", "n_found"), -1, r"verdict.n_found is \d+, and must be \d+: that follows"),
        (("verdict", "n_found"), 1, "verdict.n_found is"),
        (("verdict", "n_comparisons"), 1, r"verdict.n_comparisons is \d+, and must be \d+: that follows"),
        (("verdict", "p_value"), 0.03, "verdict.p_value is 0.03, and must be "),
        (("verdict", "p_value_interval"), [0.5, 1.0], "p_value_interval is 0.5 to 1, and must contain"),
        (("verdict", "n_samples"), 1, r"n_samples is 121, and must be 120"),
        (("verdict", "n_samples"), -1, r"n_samples is 119, and must be 120"),
        (("verdict", "alpha"), 0.01, "verdict.alpha is 0.01, and must be 0.05"),
        (("verdict", "adjust"), "fdr_bh", "verdict.adjust is 'fdr_bh', and must be 'holm'"),
        (("verdict", "pos_label"), 0, r"verdict.pos_label is 0, and must be 1"),
        (("parameters", "confidence_level"), 0.9, r"verdict.alpha is 0.05, and must be 0.1"),
        (("parameters", "margin"), 0.2, r"setup.margin_bounds is None, and must be"),
        (("parameters", "disparity"), "ratio", "setup.disparity is 'difference', and must be 'ratio'|disparity is"),
        (("parameters", "compare"), "to_rest", "other is 'y', and must be one of 'rest'"),
        (("parameters", "compare_intersections"), "to_rest", r"parts\[2\].*one of 'rest': setup.compare is 'to_rest'"),
        (("leading",), [1, 0], r"leading\[\d\] is \d, and must be \d"),
        ((*SETUP, "features"), "race", "setup.features is 'race', and must be 'town'"),
        ((*SETUP, "controls"), "age", "setup.controls is 'age', and must be ''"),
        ((*SETUP, "alternative"), "greater", "setup.alternative is 'greater', and must be 'two-sided'"),
        ((*SETUP, "disparity"), "ratio", "setup.disparity is 'ratio'"),
        ((*SETUP, "compare"), "to_rest", "setup.compare is 'to_rest'"),
        ((*SETUP, "margin_bounds"), [-0.1, 0.1], "setup.margin_bounds is .*, and must be None"),
        ((*ROWS, 0, "concern"), False, r"comparisons\[0\].concern is False, and must be True"),
        ((*ROWS, 0, "verdict"), "no disparity found", "verdict is .*, and must be 'disparity found'"),
        ((*ROWS, 0, "p_value"), 0.04, "p_value_adjusted is .*, and must be at least p_value, 0.04"),
        ((*ROWS, 0, "p_value"), None, "both must be defined"),
        ((*ROWS, 0, "p_value_adjusted"), 0.9, r"verdict.n_found is \d+, and must|concern is True, and must"),
        ((*ROWS, 0, "p_value_adjusted"), 1e-3, r"p_value_adjusted is 0.001, and must be \d|verdict.p_value|leading"),
        ((*ROWS, 0, "p_value_adjusted"), None, "both must be defined"),
        ((*ROWS, 0, "disparity"), 0.1, "disparity is 0.1, and must be"),
        ((*ROWS, 0, "value_group"), 0.02, "value_group is 0.02, and must be 0.166"),
        ((*ROWS, 0, "ci_low"), 0.99, "ci_low is 0.99, and ci_high .*: the lower limit must come first"),
        ((*ROWS, 0, "n_group"), 1, r"n_group is 61, and must be 60"),
        ((*ROWS, 0, "n_other"), -1, r"n_other is 59, and must be 60"),
        ((*ROWS, 0, "group"), "z", "group is 'z', and must be a group of by_group with metric 'selection_rate'"),
        ((*ROWS, 0, "other"), "rest", "other is 'rest', and must be one of 'y'"),
        ((*ROWS, 0, "metric"), "recall", "must be a group of by_group with metric 'recall'"),
        (("parts", 2, "comparisons", 0, "other"), "rest of sex = m", r"must be one of 'rest of"),
        (("parts", 0, "by_group", 0, "value"), 0.5, "disparity is -0.66.*, and must be -0.33"),
        (("parts", 0, "by_group", 0, "n"), 1, r"n_samples is 120, and must be 121|hold 121"),
        (("parts", 0, "by_group", 0, "n_effective"), 1, r"n_effective is 61, and must be at most n, 60"),
        (("parts", 0, "by_group", 0, "small"), True, "small is True, and must be False"),
        (("parts", 0, "by_group", 0, "ci_low"), 0.99, "the lower limit must come first"),
        (("parts", 1, "by_group", 0, "ci_high"), None, "the lower limit must come first"),
        (("null_distribution", "p_value"), 0.5, "null_distribution.p_value is 0.5"),
        (("null_distribution", "low", 0), 5, r"low\[0\] is 5, and must be at most high\[0\]"),
        (("null_distribution", "extreme", 0), 0.9, r"extreme\[0\] is 0.9, and must be at most mass\[0\]"),
    ],
)  # fmt: skip
def test_a_field_that_contradicts_others_is_refused(found, place, change, message):
    here = json.loads(found)
    assert here["verdict"]["concern"]
    for key in place:
        here = here[key]
    # Small whole numbers are steps.
    value = here + change if type(here) is int and type(change) is int and place[-1] != "pos_label" else change
    assert value != here
    with pytest.raises(ValueError, match=f"text is not the record of an audit that to_json wrote: .*{message}"):
        FairnessAudit.from_json(json.dumps(put(found, place, value)))


def test_a_concern_without_a_finding_is_refused(small):
    assert not json.loads(small)["verdict"]["n_found"]
    with pytest.raises(ValueError, match=r"verdict.concern is True, and must be False"):
        AuditRecord.from_json(json.dumps(put(small, ("verdict", "concern"), True)))


def test_comparisons_that_are_taken_out_are_missed(found):
    document = json.loads(found)
    del document["parts"][0]["comparisons"][0]
    with pytest.raises(ValueError, match=r"comparisons must hold that of 'selection_rate' and 'x' and 'y'"):
        AuditRecord.from_json(json.dumps(document))


def test_sentences_are_made_of_numbers_and_those_of_other_versions_are_not_read(found):
    document = json.loads(found)
    document["verdict"]["sentence"] = document["parts"][0]["comparisons"][0]["sentence"] = "All is fair."
    with pytest.raises(ValueError, match=r"sentence is 'All is fair\.', and must be"):
        AuditRecord.from_json(json.dumps(document))
    document["versions"]["skfairtest"] = "0.0.1"
    made = AuditRecord.from_json(json.dumps(document))
    assert made.to_dict()["verdict"] == json.loads(found)["verdict"]


def test_a_key_that_stands_twice_is_refused(found):
    text = found.replace('"concern": true', '"concern": true, "concern": false', 1)
    with pytest.raises(ValueError, match="it has 'concern' twice in one object"):
        AuditRecord.from_json(text)


@pytest.mark.parametrize(
    "params",
    [
        {
            "compare": "to_overall",
            "compare_intersections": "to_parents",
            "adjust": "fdr_by",
            "margin": 0.05,
            "metrics": ["selection_rate", "recall"],
        },
        {"compare": "to_rest", "compare_intersections": "between_groups", "adjust": "fdr_bh"},
        {
            "disparity": "ratio",
            "margin": 0.8,
            "adjust": "bonferroni",
            "control_features": {"d": list("uvw") * 20},
            "metrics": "accuracy",
        },
        {"adjust": None, "sample_weight": [1.0, 2.0, 3.0] * 20, "metrics": "selection_rate"},
        {"clusters": np.repeat(np.arange(30), 2), "metrics": ["f1", "balanced_accuracy"], "intersections": False},
        {"metrics": ["normalized_mutual_info", "recall"], "random_state": 0, "intersections": False},
        {"y_score": np.tile([0.2, 0.8, 0.4, 0.7, 0.1, 0.6], 10), "confidence_level": 0.9, "random_state": 0},
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # few people
def test_no_audit_contradicts_itself(params):
    audit = FairnessAudit.from_predictions(
        [0, 1, 1] * 20, [0, 1, 0, 1, 1, 1] * 10, n_resamples=49, **params,
        sensitive_features={"a": list("fmfm") * 15, "b": ["x"] * 5 + ["y"] * 25 + ["z"] * 30},
    )  # fmt: skip
    assert FairnessAudit.from_json(audit.to_json()).to_json() == audit.to_json()


@pytest.mark.parametrize("text", [5, None, ["[]"], {}])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ValueError, match="text must be a text that holds JSON; found "):
        AuditRecord.from_json(text)


@pytest.mark.parametrize("text", ["", "{", b"\xff\xfe\xff", "[" * 100_000, '{"schema": NaN}', "1" * 5000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match="text is not JSON"):
        AuditRecord.from_json(text)


def test_numbers_beyond_all_floats_and_lists_without_end_are_refused(small):
    for odd, message in [("1e999", "must be a finite number"), ("[" * 50 + "]" * 50, "more than 20 deep")]:
        text = json.dumps(put(small, ("parameters", "metrics"), "HERE")).replace('"HERE"', odd)
        with pytest.raises(ValueError, match=message):
            AuditRecord.from_json(text)


ODD = (
    None, True, 0, -1, 1, 2, 0.5, 1e308, -1e308, 5e-324, HUGE, 2**63 - 1, "", "inf", "-inf", "nan", "false", "\x1b[31m",
    "{", [], [None], [1, 2], ["a", "b"], [0, 0], [[]], {}, {"a": 1},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@pytest.mark.parametrize("n_cases", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_whatever_is_read_can_be_reported(small, n_cases):
    """Every place of a record takes every odd value: it is refused in one sentence, or everything can be written."""
    places = [place for place in walk(json.loads(small)) if place[:1] != ("versions",)]
    # One row of each table stands for all.
    places = [place for place in places if all(key == 0 for key in place if isinstance(key, int))]
    cases = [(place, value) for place in places for value in ODD]
    read = refused = 0
    for case in np.random.default_rng(0).choice(len(cases), n_cases, replace=False):
        place, value = cases[case]
        text = json.dumps(put(small, place, value))
        try:
            audit = FairnessAudit.from_json(text)
        except ValueError:
            refused += 1
            continue
        read += 1
        assert AuditRecord.from_json(audit.to_json()).to_json() == audit.to_json()
        assert str(audit)
        assert audit.to_markdown()
        # Drawings take their time, and text is not what they stumble over.
        if isinstance(value, float) and read % 8 == 0:
            assert audit.to_html()
    assert read > n_cases / 20  # what follows from other fields is refused
    assert refused > n_cases / 2


@pytest.mark.parametrize(("value", "plain"), [(2**64 - 1, 2**64 - 1), (2**64, str(2**64)), (-(10**30), str(-(10**30)))])
def test_labels_that_no_index_holds_are_text(value, plain):
    assert plain_label(value) == plain
