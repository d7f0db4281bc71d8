"""What a positive prediction means to people: words, and a direction; no number depends on either."""

import json

import numpy as np
import pytest

from skfairtest import FairnessAudit

Y = np.tile([0, 1], 60)
GROUPS = {"sex": np.repeat(["Female", "Male"], 60)}
PREDICTED = np.where(np.arange(120) < 60, np.arange(120) % 5 == 0, np.arange(120) % 5 != 0).astype(int)


def audited(**params):
    return FairnessAudit.from_predictions(Y, PREDICTED, sensitive_features=GROUPS, random_state=0, **params)


def test_sentences_say_it_and_numbers_do_not_change():
    plain, worded = audited(), audited(positive_means="denied", favorable=False)
    numbers = [name for name in plain.comparisons_ if name != "sentence"]
    assert plain.comparisons_[numbers].equals(worded.comparisons_[numbers])
    assert not worded.comparisons_["sentence"].str.contains("predicted positive").any()
    first = worded.comparisons_["sentence"].iloc[0]
    assert first.startswith("Women were denied less often than men: 20.0% versus 80.0%, 60.0 points")
    assert "Worse off: men were denied more often than women: 80.0% versus 20.0%" in str(worded)
    assert "Worse off: women" in str(audited(favorable=True))
    assert "orse off" not in str(plain)
    assert "The positive label is 1 (denied)." in str(worded)


def test_a_record_has_it_among_its_parameters_and_is_read_again():
    worded = audited(positive_means="denied", favorable=False)
    document = json.loads(worded.to_json())
    assert {"positive_means": "denied", "favorable": False}.items() <= document["parameters"].items()
    again = FairnessAudit.from_json(worded.to_json())
    assert (again.positive_means, again.favorable) == ("denied", False)
    for write in (str, FairnessAudit.to_json, FairnessAudit.to_markdown, FairnessAudit.to_html):
        assert write(again) == write(worded)
    assert "positive_means" not in json.loads(audited().to_json())["parameters"]


@pytest.mark.parametrize("params", [{"positive_means": ["denied"]}, {"positive_means": " "}, {"favorable": "yes"}])
def test_what_is_neither_words_nor_a_direction_is_an_error(params):
    (name,) = params
    with pytest.raises(ValueError, match=f"^{name} must "):
        audited(**params)


def test_a_truth_value_of_numpy_is_one():
    assert audited(favorable=np.True_).to_dict()["parameters"]["favorable"] is True
