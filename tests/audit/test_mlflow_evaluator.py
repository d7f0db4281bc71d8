"""The evaluator that MLflow finds by its entry point, with a real store on disk."""

import json
import sys
import tomllib
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessAudit
from skfairtest.audit.mlflow_evaluator import FairnessEvaluator, metrics_of

ROOT = Path(__file__).parents[2]


def people(groups=("f", "m")):
    rng = np.random.default_rng(0)
    sex = rng.choice(groups, 300)
    y = rng.integers(0, 2, 300)
    return pd.DataFrame({"sex": sex, "y": y, "hired": (rng.random(300) < 0.3 + 0.4 * (sex == groups[1])).astype(int)})


def test_without_mlflow_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"skfairtest\[mlflow\]"):
        FairnessEvaluator().evaluate(model_type=None, dataset=None, run_id="", evaluator_config={})


def test_it_passes_by_where_no_groups_were_named():
    assert not FairnessEvaluator.can_evaluate(model_type="classifier", evaluator_config=None)
    assert not FairnessEvaluator.can_evaluate(model_type="classifier", evaluator_config={"metrics": "accuracy"})
    assert FairnessEvaluator.can_evaluate(model_type=None, evaluator_config={"sensitive_features": "sex"})


def test_names_that_mlflow_refuses_are_written_otherwise_and_stay_apart():
    data = people(groups=("a:1", "a;1"))
    found = metrics_of(
        FairnessAudit.from_predictions(None, data["hired"], sensitive_features=data[["sex"]], metrics="selection_rate")
    )
    assert "fairness/sex/selection_rate/a_1/a_1/disparity" in found


@pytest.fixture
def mlflow(tmp_path):
    """MLflow with a store of its own on disk, and the evaluator that its entry point names."""
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry as registry

    (entry,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][
        "mlflow.model_evaluator"
    ].items()
    registry.register(entry[0], EntryPoint(*entry, "mlflow.model_evaluator").load())
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("audits", (tmp_path / "kept").as_uri()))
    return mlflow


@pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports
def test_a_run_keeps_the_numbers_the_page_and_the_record(mlflow):
    data = people()
    with mlflow.start_run() as run, warnings.catch_warnings():
        result = mlflow.models.evaluate(
            data=data, targets="y", predictions="hired", model_type="classifier", evaluators="skfairtest",
            evaluator_config={"sensitive_features": ["sex"], "random_state": 0},
        )  # fmt: skip
    audit = FairnessAudit.from_predictions(data["y"], data["hired"], sensitive_features=data[["sex"]], random_state=0)
    kept = mlflow.MlflowClient().get_run(run.info.run_id).data.metrics
    assert kept == pytest.approx(metrics_of(audit))
    assert result.metrics == pytest.approx(kept)
    row = audit.comparisons_.iloc[0]
    assert kept[f"fairness/sex/{row['metric']}/f/m/disparity"] == pytest.approx(row["disparity"])
    record = json.loads(mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/fairness_audit.json"))
    assert record["facts"]["p_value_"] == audit.p_value_
    assert "<!DOCTYPE html>" in mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/fairness_audit.html")


@pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports
@pytest.mark.parametrize("signed", [True, False])
def test_a_model_is_asked_for_its_predictions(mlflow, signed):
    data = people().assign(x=np.random.default_rng(1).normal(size=300))
    inputs, config = data[["x"]], {"metrics": "selection_rate", "random_state": 0}
    model = LogisticRegression().fit(inputs, data["hired"])
    predicted = model.predict(inputs)
    signature = mlflow.models.infer_signature(inputs, predicted) if signed else None
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(model, name="model", signature=signature)

        def evaluate(columns, groups):
            return mlflow.models.evaluate(
                model=logged.model_uri, data=data[columns], targets="y", model_type="classifier",
                evaluators="skfairtest", evaluator_config={"sensitive_features": groups, **config},
            )  # fmt: skip

        found = [evaluate(["x", "y"], data["sex"])]
        if signed:  # which leaves out the columns that the model does not know
            found.append(evaluate(["x", "y", "sex"], ["sex"]))
        else:
            with pytest.raises(ValueError, match="feature names should match") as caught:
                evaluate(["x", "y", "sex"], "sex")
            assert "log it with a signature" in caught.value.__notes__[0]
    audit = FairnessAudit.from_predictions(data["y"], predicted, sensitive_features=data[["sex"]], **config)
    for each in found:
        assert each.metrics == pytest.approx(metrics_of(audit))
