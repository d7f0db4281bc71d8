"""What an audit can be traced back to, and how it was called."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import FairnessAudit
from skfairtest.audit.provenance import model_text

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    X = random.random((200, 3))
    return (
        X,
        (X[:, 0] + 0.3 * random.random(200) > 0.6).astype(int),
        pd.DataFrame({"sex": random.choice(["f", "m"], 200)}),
    )


@pytest.fixture(scope="module")
def fitted(people):
    X, y, sex = people
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5)).fit(X, y)
    return FairnessAudit(model, random_state=3).fit(X, y, sensitive_features=sex)


def code(audit):
    text = audit.to_text(details=True)
    return [line.strip() for line in text[text.index("How to reproduce this") :].splitlines()]


def test_a_fit_names_the_model_and_how_it_was_called(fitted, people):
    found = fitted.record_.provenance
    assert found["entry"] == "fit"
    assert found["columns"] == ("y_true", "y_pred", "y_score")
    assert found["model"] == model_text(fitted.estimator)
    assert "LogisticRegression(C=0.5)" in found["model"]
    lines = code(fitted)
    assert "FairnessAudit(" in lines
    assert "model," in lines
    assert "random_state=3," in lines
    assert ").fit(X, y, sensitive_features=data[['sex']])" in lines
    assert any(found["data_hash"] in line for line in lines)


def test_predictions_and_tables_have_no_model(people, compas_table):
    _, y, sex = people
    audit = FairnessAudit.from_predictions(
        y, y, sensitive_features=sex, sample_weight=np.arange(200) + 1.0, metrics="accuracy"
    )
    found = audit.record_.provenance
    assert (found["entry"], found["model"]) == ("from_predictions", None)
    assert found["columns"] == ("y_true", "y_pred", "sample_weight")
    assert "sample_weight=sample_weight," in code(audit)
    table = FairnessAudit.from_table(compas_table.regroup(["sex"]), metrics="selection_rate")
    assert table.record_.provenance["entry"] == "from_table"
    assert code(table)[code(table).index("FairnessAudit.from_table(") + 1] == "table,"
