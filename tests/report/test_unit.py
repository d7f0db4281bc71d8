"""What reports call the rows of the data."""

import json
from dataclasses import replace

import pytest

from skfairtest import FairnessAudit, FairnessTest, LabelledFairnessTest

DATA = {
    "sensitive_features": {"gender": ["Black people", "Female"] * 40},
    "metric": "selection_rate",
    "unit": "answers",
}


@pytest.mark.parametrize("way", ["to_text", "to_markdown", "to_html"])
def test_rows_are_called_what_they_are_and_names_of_the_data_stay(way):
    test = FairnessTest.from_predictions(None, [1, 0, 1, 1] * 20, **DATA)
    said = getattr(test, way)(details=True)
    assert "answers whose gender is Black people" in said.replace("Answers", "answers")
    assert "answers whose gender is Female" in said.replace("Answers", "answers")
    assert "the share that are predicted positive" in said
    plain = said.replace("Black people", "").partition("<body")[2] or said.replace("Black people", "")
    assert not {"people", "person", "everyone", "women"} & set(plain.lower().split())
    again = FairnessTest.from_json(test.to_json())
    assert (again.unit, getattr(again, way)(details=True)) == ("answers", said)


def test_sentences_of_an_audit_say_it_too():
    params = {**DATA, "metrics": DATA["metric"]}
    del params["metric"]
    audit = FairnessAudit.from_predictions(None, [1, 0, 1, 1] * 20, **params)
    assert "nswers whose gender is Female" in audit.comparisons_["sentence"][0]
    assert "answers: 80, " in str(audit)
    audit._say(replace(audit.record_, title="Audit of people.csv"))
    assert str(audit).startswith("Audit of people.csv")
    assert json.loads(audit.to_json())["parameters"]["unit"] == "answers"
    assert "unit='answers'" in audit.to_text(details=True)


@pytest.mark.parametrize("unit", ["", " ", None, 3])
def test_a_unit_is_a_noun(unit):
    with pytest.raises(ValueError, match="unit must be a plural noun, such as 'answers'; found"):
        FairnessTest.from_predictions(None, [1, 0, 1, 1] * 20, **{**DATA, "unit": unit})
    with pytest.raises(ValueError, match="unit must be"):
        FairnessAudit.from_predictions(None, [1, 0] * 40, sensitive_features=DATA["sensitive_features"], unit=unit)


def test_strata_without_end_are_listed_as_the_first_few():
    prompts = [prompt for prompt in range(60) for _ in range(2)]
    test = FairnessTest.from_predictions(
        None, [1, 0, 1, 1] * 30, sensitive_features={"group": ["a", "b"] * 60}, control_features={"prompt": prompts},
        metric="selection_rate", unit="answers",
    )  # fmt: skip
    lines = str(test).splitlines()
    assert len(lines) < 70
    assert any("; the first 20 of 121" in line for line in lines)
    assert len(test.to_text(details=True).splitlines()) > 180


def test_few_labels_are_of_the_unit():
    y_true = [1.0, 0.0, None] * 40
    test = LabelledFairnessTest.from_predictions(
        y_true, [1, 0] * 60, sensitive_features=["a", "b", "b"] * 20 + ["b", "a", "a"] * 20, metric="accuracy",
        labelled="at_random", unit="answers",
    )  # fmt: skip
    assert "of 120 answers have a label" in str(test)
    assert "people" not in str(test)
