"""What an audit can be traced back to, and who signs it."""

import json
import os
import pickle
import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import FairnessAudit
from skfairtest.audit.provenance import model_hash, model_text
from skfairtest.audit.record import AuditRecord

MODEL = """
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from skfairtest.audit.provenance import model_hash
X = np.random.default_rng(0).random((60, 3))
print(model_hash(RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0.5)))
"""

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
    found = fitted.to_dict()["provenance"]
    assert found["entry"] == "fit"
    assert found["columns"] == ["y_true", "y_pred", "y_score"]
    assert found["model"] == model_text(fitted.estimator)
    assert "LogisticRegression(C=0.5)" in found["model"]
    assert found["model_hash"] == model_hash(fitted.estimator)
    lines = code(fitted)
    assert "FairnessAudit(" in lines
    assert "model," in lines
    assert "random_state=3," in lines
    assert ").fit(X, y, sensitive_features=data[['sex']])" in lines
    for said in (found["data_hash"], found["model_hash"]):
        assert any(said in line for line in lines)


def test_predictions_and_tables_have_no_model(people, compas_table):
    _, y, sex = people
    audit = FairnessAudit.from_predictions(
        y, y, sensitive_features=sex, sample_weight=np.arange(200) + 1.0, metrics="accuracy"
    )
    found = audit.to_dict()["provenance"]
    assert (found["entry"], found["model"], found["model_hash"]) == ("from_predictions", None, None)
    assert found["columns"] == ["y_true", "y_pred", "sample_weight"]
    assert "sample_weight=sample_weight," in code(audit)
    table = FairnessAudit.from_table(compas_table.regroup(["sex"]), metrics="selection_rate")
    assert table.to_dict()["provenance"]["entry"] == "from_table"
    assert code(table)[code(table).index("FairnessAudit.from_table(") + 1] == "table,"


def test_the_same_data_have_one_hash_and_other_data_another(people):
    _, y, sex = people
    order = np.random.default_rng(1).permutation(200)

    def found(y, sex):
        return FairnessAudit.from_predictions(None, y, sensitive_features=sex).record_.provenance.data_hash

    assert found(y[order], sex.iloc[order]) == found(y, sex)
    assert found(1 - y, sex) != found(y, sex)


def test_the_hash_of_a_model_is_that_of_its_parameters_and_of_what_it_learned(people):
    X, y, _ = people
    one = LogisticRegression().fit(X, y)
    for model in (one, GridSearchCV(one, {"C": [1, 2]}).fit(X, y), RandomForestClassifier(5).fit(X, y)):
        assert model_hash(pickle.loads(pickle.dumps(model))) == model_hash(model)
    assert model_hash(LogisticRegression(C=2).fit(X, y)) != model_hash(one)
    assert model_hash(LogisticRegression().fit(X, 1 - y)) != model_hash(one)


@pytest.mark.parametrize("seed", ["0", pytest.param("1", marks=pytest.mark.slow)])
def test_the_hash_of_a_model_is_the_same_in_another_process(seed):
    X = np.random.default_rng(0).random((60, 3))
    here = model_hash(RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0.5))
    there = subprocess.run(
        [sys.executable, "-c", MODEL],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == here


def test_a_model_that_cannot_be_written_as_bytes_is_tested_all_the_same(people):
    X, y, sex = people

    class Closed:
        def predict(self, X):
            return y

        def __reduce__(self):
            raise RuntimeError("not this one")

    audit = FairnessAudit(Closed()).fit(X, y, sensitive_features=sex)
    found = audit.to_dict()["provenance"]
    assert (found["model"], found["model_hash"]) == ("Closed", None)
    assert "model's hash: none: the model cannot be pickled" in audit.to_text(details=True)


def test_a_signature_is_in_every_report_and_survives_the_file(fitted, tmp_path):
    before = fitted.to_dict()
    assert before["signature"] is None
    again = FairnessAudit.from_json(fitted.to_json())
    assert again.sign("Jane <Doe>") is again
    signature = again.to_dict()["signature"]
    assert signature["name"] == "Jane <Doe>"
    assert datetime.fromisoformat(signature["date"]).tzinfo is not None
    assert again.to_dict() == before | {"signature": signature}
    assert f"signed by: Jane <Doe>, {signature['date']}" in again.to_text(details=True)
    assert "Jane &lt;Doe&gt;" in again.to_html()
    assert FairnessAudit.from_json(again.to_json()).to_html() == again.to_html()
    assert fitted.to_dict()["signature"] is None


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_signature_has_a_name(fitted, name):
    with pytest.raises(ValueError, match="name must be the name of who signs"):
        fitted.sign(name)


def test_a_record_of_before_is_read_and_says_nothing_of_its_data(fitted):
    document = {k: v for k, v in fitted.to_dict().items() if k not in ("provenance", "signature")}
    record = AuditRecord.from_json(json.dumps(document))
    assert record.provenance is None
    assert record.signature is None
    assert "sha256" not in FairnessAudit.from_json(json.dumps(document)).to_text(details=True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"data_hash": "sha256:12"}, "provenance.data_hash must be a hash"),
        ({"model_hash": 3}, "provenance.model_hash must be a hash"),
        ({"entry": "guess"}, "provenance.entry must be one of"),
        ({"columns": ["secret"]}, r"provenance.columns\[0\] must be one of"),
        ({"model": None}, "provenance.model is None, and provenance.entry 'fit'"),
        ({"entry": "from_table"}, "provenance.entry 'from_table': a model"),
        ({"model": None, "entry": "from_table"}, "provenance.model_hash is of no model"),
        ({"sensitive": ["race"]}, r"parts\[0\].sensitive is \['sex'\], and provenance.sensitive \['race'\]"),
        ({"control": ["race"]}, r"parts\[0\].control is \[\], and provenance.control \['race'\]"),
    ],
)
def test_a_provenance_that_the_record_contradicts_is_refused(fitted, changed, message):
    document = fitted.to_dict()
    document["provenance"] |= changed
    with pytest.raises(ValueError, match=message):
        AuditRecord.from_json(json.dumps(document))


def test_all_comparisons_are_written_as_csv(fitted, tmp_path):
    path = tmp_path / "audit.csv"
    assert fitted.to_csv(path) is None
    assert path.read_text(encoding="utf-8") == fitted.to_csv()
    read = pd.read_csv(path)
    assert len(read) == len(fitted.comparisons_)
    assert read["p_value"].tolist() == pytest.approx(fitted.comparisons_["p_value"].tolist())
