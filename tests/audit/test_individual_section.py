"""An audit may ask about similar people as well."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessAudit, IndividualFairnessTest


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 400)
    X = pd.DataFrame({"skill": rng.normal(size=400), "career": sex + 0.5 * rng.normal(size=400)})
    y = (X["skill"] + X["career"] + rng.normal(size=400) > 0.5).astype(int)
    return X, y, pd.Series(np.where(sex, "m", "f"), name="sex")


@pytest.fixture(scope="module")
def model(people):
    return LogisticRegression().fit(people[0], people[1])


def audit(model, people, **params):
    X, y, sex = people
    return FairnessAudit(model, metrics="accuracy", **params).fit(X, y, sensitive_features=sex)


@pytest.mark.parametrize(
    "wanted",
    [True, pytest.param(IndividualFairnessTest(tolerance=40.0), marks=pytest.mark.slow)],
    ids=["default", "own"],
)
def test_the_section_is_that_of_the_test(wanted, model, people):
    found = audit(model, people, individual=wanted)
    X, y, sex = people
    alone = IndividualFairnessTest(model, tolerance=1.25 if wanted is True else 40.0).fit(X, y, sensitive_features=sex)
    assert found.individual_.p_value_ == alone.p_value_
    assert found.individual_.concern_ == (wanted is True)
    sentence = str(alone).splitlines()[0]
    for report in (str(found), found.to_markdown(), found.to_html()):
        assert "Similar people" in report
        assert sentence.split(":")[0] in report
    assert sentence in str(found)
    again = FairnessAudit.from_json(found.to_json())
    assert str(again) == str(found)
    assert again.to_html() == found.to_html()
    # Groups are another question, with its own level.
    without = audit(model, people)
    assert (found.p_value_, found.concern_) == (without.p_value_, without.concern_)


def test_without_it_nothing_is_said_of_similar_people(model, people):
    found = audit(model, people)
    assert found.individual_ is None
    assert "Similar people" not in str(found)
    assert not found.record_.beside


def test_what_cannot_be_asked(model, people):
    _, y, sex = people
    with pytest.raises(ValueError, match=r"individual must be None, True or IndividualFairnessTest.*found 'yes'"):
        audit(model, people, individual="yes")
    with pytest.raises(ValueError, match="individual fairness needs a model"):
        FairnessAudit.from_predictions(y, y, sensitive_features=sex, individual=True, metrics="accuracy")
    with pytest.raises(ValueError, match="individual fairness needs a model"):
        FairnessAudit(individual=True, metrics="accuracy").fit(y, y, sensitive_features=sex)
