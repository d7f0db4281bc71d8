"""Audits in ``mlflow.models.evaluate``: MLflow finds this evaluator by its entry point, ``skfairtest``."""

import re
from collections.abc import Mapping
from typing import Any

from skfairtest._utils.text import label
from skfairtest.audit.fairness_audit import FairnessAudit
from skfairtest.readers import given_to_fit
from skfairtest.report.record import plain_rows

#: What the name of a metric cannot hold in MLflow.
_NO_NAME = re.compile(r"[^\w\-. ]")
#: Numbers of each comparison that are logged.
LOGGED = ("disparity", "ci_low", "ci_high", "p_value_adjusted")


class FairnessEvaluator:
    """Audit what MLflow evaluates, and log what was found to its run."""

    @classmethod
    def can_evaluate(cls, *, model_type: Any, evaluator_config: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        """Whether groups were named."""
        return "sensitive_features" in (evaluator_config or {})

    def evaluate(
        self, *, model_type: Any, dataset: Any, run_id: str, evaluator_config: Mapping[str, Any], model: Any = None,
        **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Log p-values and disparities with their limits as metrics, the page and the record as artifacts."""
        try:
            import mlflow
            from mlflow.models import EvaluationResult
        except ImportError as error:
            raise ImportError(
                'this evaluator needs mlflow: python -m pip install "skfairtest[mlflow]"', name="mlflow"
            ) from error
        params, features = dict(evaluator_config), dataset.features_data
        groups = {"sensitive_features": params.pop("sensitive_features")}
        _, _, named = given_to_fit(features, None, groups)
        try:
            y_pred = dataset.predictions_data if model is None else model.predict(features)
        except Exception as error:
            error.add_note(
                "the model was given every column of the data: log it with a signature, which leaves others out, or "
                "pass the groups themselves as sensitive_features, in place of names of columns"
            )
            raise
        audit = FairnessAudit.from_predictions(dataset.labels_data, y_pred, **named, **params)
        result: Any = EvaluationResult
        metrics = metrics_of(audit)
        mlflow.log_metrics(metrics, run_id=run_id)
        for kind, text in (("html", audit.to_html()), ("json", audit.to_json())):
            mlflow.log_text(text, f"fairness_audit.{kind}", run_id=run_id)
        return result(metrics=metrics, artifacts={}, run_id=run_id)


def metrics_of(audit: FairnessAudit) -> dict[str, float]:
    """The numbers of an audit by names that MLflow takes; undefined ones are in the record alone."""
    found = {"p_value": audit.p_value_, "concern": float(audit.concern_), "n_samples": float(audit.n_samples_)}
    found["not_tested"] = float(sum(map(len, audit.record_.untested.values())))
    for row in plain_rows(audit.to_frame()):
        parts = [row[key] for key in ("feature", "metric", "group", "other", "stratum") if row[key] not in (None, "")]
        path = "/".join(_NO_NAME.sub("_", label(part)) for part in parts)
        while f"{path}/disparity" in found:  # two names may be alike without their signs
            path += "_"
        found |= {f"{path}/{key}": row[key] for key in LOGGED if isinstance(row[key], int | float)}
    return {f"fairness/{name}": value for name, value in found.items()}
