"""The comparison that an audit makes with the model in production, whose place the audited model may take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated
from skfairtest.audit.rebuilt import unrounded
from skfairtest.audit.record import AuditRecord
from skfairtest.inference.multiplicity import holm
from skfairtest.metrics import Metric
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.paired.metric import paired
from skfairtest.paired.record import PairedRecord
from skfairtest.report.consistency import at_most, implausible
from skfairtest.report.sentences import Setup

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
    names = (
        "compare", "n_resamples", "pos_label", "prediction_threshold", "response", "random_state", "n_jobs", "verbose",
    )  # fmt: skip
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
    missing = [
        f"By {name}: {row['metric']}, {row['reason']}"
        for name, test in tests.items()
        for row in test.excluded_.to_dict("records")
    ]
    together = replace(
        each[0],
        setup=replace(each[0].setup, features=enumerated(list(tests))),
        results=tuple(row for one in each for row in one.results),
        not_compared=tuple(dict.fromkeys([*without, *missing])),
    )
    return adjusted(together)


def adjusted(found: PairedRecord) -> PairedRecord:
    """Return the record with p-values adjusted by Holm's method, and what follows from them."""
    rows, alpha = found.results, found.setup.alpha
    with np.errstate(divide="ignore"):
        log_p = np.log([row["p_value"] for row in rows])
    within = np.array([bool(row["stratum"]) for row in rows])
    p = np.empty(len(rows))
    for family in (within, ~within):
        p[family] = np.exp(holm(log_p[family]))
    results = tuple(
        {**row, "p_value_adjusted": own, "concern": at_most(own, alpha)}
        for row, own in zip(rows, p.tolist(), strict=True)
    )
    smallest = float(p[~within].min(initial=1.0))
    return replace(found, results=results, p_value=smallest, concern=at_most(smallest, alpha))


def recomputed_baseline(found: PairedRecord, record: AuditRecord) -> PairedRecord:
    """The findings of an audit about its model and the one in production, of which it tests the same and no more."""
    part, results, compared = record.parts[0], [], {row["feature"] for row in found.results}
    metrics = tuple(dict.fromkeys(row["metric"] for row in found.results))
    for i, row in enumerate(found.results):
        for said in implausible(row, "difference"):
            raise ValueError(f"baseline.results[{i}].{said}")
        results.append({**row, **unrounded(row, {"difference": row["value_b"] - row["value_a"]})})
    setup = Setup(
        compare=part.setup.compare,
        alpha=part.setup.alpha,
        features=enumerated([one.feature for one in record.parts if one.feature in compared]),
        controls=part.setup.controls,
        descriptions={
            metric: f"the change of the {metric.replace('_', ' ')} from model A to model B" for metric in metrics
        },
        people=found.setup.people,
        within=found.setup.within,
    )
    names = _models(record.provenance.command) if record.provenance and record.provenance.command else NAMES
    shares = tuple(metric for metric in metrics if part.setup.is_percentage(metric))
    due = replace(
        found, setup=setup, kind="change", names=names or found.names, shares=shares,
        n_samples=record.verdict.n_samples, results=tuple(results),
    )  # fmt: skip
    return adjusted(due)


def _models(command: str) -> tuple[str, str] | None:
    """The columns of both models in a command that was typed; None where it does not say."""
    words = shlex.split(command)
    given = dict(pairwise(word for part in words for word in part.split("=", 1)))
    names = (given.get("--baseline"), given.get("--y-pred"))
    return names if all(names) else None  # type: ignore[return-value]
