"""From a model, or from predictions, to the people that a test is about: everything is read once, here."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons.responses import responses_of
from skfairtest.metrics import Metric
from skfairtest.readers import check_rows, predict, predictions_from_X, scores
from skfairtest.tables import CountTable, Sample


@dataclass(frozen=True)
class Given:
    """What `fit` was given about the people, beside truth and predictions."""

    sensitive_features: Any
    control_features: Any = None
    sample_weight: Any = None
    clusters: Any = None
    predict_params: dict[str, Any] | None = None


def predicted_people(
    X: Any, y: Any, y_score: Any, given: Given, *, needed: Set[str] = frozenset({"y_pred", "y_score"})
) -> Sample:
    """Read people whose predictions are `X`; scores alone may be given as predictions where nothing else is needed."""
    y_pred = predictions_from_X(X)
    if y_score is None and needed <= {"y_true", "y_score"} and "y_score" in needed:
        y_pred, y_score = None, y_pred  # a metric of scores alone takes them as predictions too
    return read_people(y, y_pred, y_score, given)


def asked_people(
    estimator: Any,
    X: Any,
    y: Any,
    given: Given,
    metrics: Sequence[Metric],
    needed: Set[str],
    *,
    pos_label: Any,
    random_state: Any,
) -> Sample:
    """Ask a fitted model for the predictions and scores that metrics need, and read people with these."""
    # Before the model is asked: it might pair the groups it is handed with other people.
    check_rows(
        X,
        y=y,
        sensitive_features=given.sensitive_features,
        control_features=given.control_features,
        sample_weight=given.sample_weight,
        clusters=given.clusters,
    )
    common = {
        "sensitive_features": given.sensitive_features,
        "predict_params": given.predict_params,
        "random_state": random_state,
    }
    y_pred = y_score = None
    if "y_pred" in needed or "y_score" not in needed:
        y_pred = predict(estimator, X, **common)
    if "y_score" in needed:
        responses, names = responses_of(metrics)
        y_score = scores(estimator, X, responses, metric=names, pos_label=pos_label, y_true=y, **common)
    return read_people(y, y_pred, y_score, given)


def counted_people(table: Any) -> Sample:
    """Read the people of a table.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not isinstance(table, CountTable):
        raise ParameterError(f"table must be a CountTable, found {type(table).__name__}: see CountTable.from_counts")
    return Sample.from_table(table)


def check_cells(sample: Sample, metrics: Sequence[Metric], needed: Set[str]) -> None:
    """Refuse a table whose cells do not hold what metrics, or the place where labels are permuted, read.

    Raises
    ------
    ValueError
        If something is missing.
    """
    missing = sorted(needed - set(sample.columns))
    if missing:
        names = ", ".join(metric.name for metric in metrics if set(missing) & metric.reads) or "within"
        raise ParameterError(
            f"table has no {' and no '.join(missing)}, which {names} needs; its cells are {', '.join(sample.columns)}"
        )


def read_people(y: Any, y_pred: Any, y_score: Any, given: Given) -> Sample:
    """Read people with all that was given of them: a label that is missing is an error, whoever reads it."""
    return Sample.from_predictions(
        y,
        y_pred,
        y_score=y_score,
        sensitive_features=given.sensitive_features,
        control_features=given.control_features,
        sample_weight=given.sample_weight,
        clusters=given.clusters,
    )
