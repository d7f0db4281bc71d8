"""The comparison that an audit makes with the model in production, whose place the audited model may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated
from skfairtest.group.paired import PairedFairnessTest
from skfairtest.inference.multiplicity import holm
from skfairtest.metrics import Metric, paired
from skfairtest.report.paired_record import PairedRecord

__all__ = ["baseline_record", "comparable", "paired_test"]

#: What the models of an audit are called in its report.
NAMES = ("the model in production", "this model")


def comparable(metrics: Sequence[Metric], columns: set[str]) -> tuple[list[Metric], list[str]]:
    """Return the metrics by which two models are compared, and why others are not.

    Parameters
    ----------
    metrics : sequence of Metric
        Those of the audit.
    columns : set of str
        What there is of both models, of "y_true", "y_pred" and "y_score".

    Raises
    ------
    ValueError
        If there is none left.
    """
    found: list[Metric] = []
    without: list[str] = []
    for metric in metrics:
        lacking = sorted(metric.reads - columns)
        try:
            paired(metric)
        except ParameterError as error:
            without.append(str(error))
            continue
        if lacking:
            name = lacking[0]
            without.append(f"{metric.name} needs {name}{'_baseline' if name != 'y_true' else ''}, which was not passed")
            continue
        found.append(metric)
    if not found:
        raise ParameterError(f"metrics: by none of them are two models compared: {'; '.join(without)}")
    return found, without


def paired_test(metrics: Sequence[Metric], settings: Mapping[str, Any], n_features: int) -> PairedFairnessTest:
    """Return the test of one sensitive feature, whose intervals hold for all of them together.

    Parameters
    ----------
    metrics : sequence of Metric
        By which models are compared.
    settings : mapping
        Parameters of the audit.
    n_features : int
        How many sensitive features there are.
    """
    names = ("compare", "n_resamples", "pos_label", "random_state", "n_jobs", "verbose")
    level = 1 - (1 - settings["confidence_level"]) / n_features
    return PairedFairnessTest(metric=list(metrics), confidence_level=level, **{name: settings[name] for name in names})


def baseline_record(tests: Mapping[str, PairedFairnessTest], alpha: float, without: Sequence[str]) -> PairedRecord:
    """The results of the tests of all features, adjusted together by Holm's method.

    Parameters
    ----------
    tests : mapping of str to PairedFairnessTest
        The fitted test of each sensitive feature.
    alpha : float
        The level of all of them together.
    without : sequence of str
        Why other metrics are not compared.

    Returns
    -------
    PairedRecord
        One comparison after the other; those averaged over strata and those within strata are two families.
    """
    each = [test._record(NAMES, alpha=alpha) for test in tests.values()]
    rows = [row for one in each for row in one.results]
    with np.errstate(divide="ignore"):
        log_p = np.log([row["p_value"] for row in rows])
    within = np.array([bool(row["stratum"]) for row in rows])
    adjusted = np.empty(len(rows))
    for family in (within, ~within):
        adjusted[family] = np.exp(holm(log_p[family]))
    limit = alpha * (1 + 1e-12)
    found = tuple(
        {**row, "p_value_adjusted": float(p), "concern": bool(p <= limit)}
        for row, p in zip(rows, adjusted, strict=True)
    )
    p_value, first = float(adjusted[~within].min()), each[0]
    missing = [
        f"By {name}: {row['metric']}, {row['reason']}"
        for name, test in tests.items()
        for row in test.excluded_.to_dict("records")
    ]
    setup = replace(first.setup, features=enumerated(list(tests)))
    return PairedRecord(
        setup, first.kind, NAMES, first.shares, first.n_samples, p_value, p_value <= limit, found,
        tuple(dict.fromkeys([*without, *missing])),
    )  # fmt: skip
