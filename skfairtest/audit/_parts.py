"""What an audit makes beside its comparisons: a search, impact tables, and a comparison of models.

The search for subgroups that an audit makes beside its comparisons.

The impact tables that an audit makes of its predictions, beside its comparisons.

The comparison that an audit makes with the model in production, whose place the audited model may take.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import enumerated
from skfairtest.audit._questions import kinds_of
from skfairtest.audit.impact import SMALLEST_SHARE, ImpactRecord, above_median, tables_of
from skfairtest.inference.multiplicity import holm
from skfairtest.metrics import Metric
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.paired.metric import paired
from skfairtest.paired.record import PairedRecord
from skfairtest.readers import Column, resolve_pos_label
from skfairtest.report.plain import at_most
from skfairtest.subgroups.fairness import SubgroupScan
from skfairtest.tables import Sample


def wanted_scan(asked: Any, **defaults: Any) -> SubgroupScan | None:
    """Return the scan that an audit is asked for, not fitted.

    Parameters
    ----------
    asked : None, bool or SubgroupScan
        The parameter of the audit.
    **defaults
        What a scan that says nothing else takes from the audit, by the names of its parameters.

    Raises
    ------
    ValueError
        If it is none of these, or has a parameter that cannot be used.
    """
    if asked is None or asked is False:
        return None
    if asked is not True and not isinstance(asked, SubgroupScan):
        raise ParameterError(
            f"scan must be None, True or a SubgroupScan with the parameters wanted; found {brief(asked)}"
        )
    scan = SubgroupScan(**defaults) if asked is True else clone(asked)
    given = scan.get_params()
    scan.set_params(**{name: defaults[name] for name in ("pos_label", "random_state") if given[name] is None})
    try:
        scan._check()
    except ParameterError as error:
        raise ParameterError(f"scan has a parameter that cannot be used: {error}") from error
    return scan


def check_counted(sample: Sample, asked: str) -> None:
    """Refuse people whom a part of an audit would count otherwise than its comparisons do."""
    for name, found in (("sample_weight", sample.weight), ("clusters", sample.clusters)):
        if found is not None:
            raise ParameterError(
                f"{asked} counts each person once and alone, and takes no {name}: leave one of them out"
            )


def impact_of(
    sample: Sample,
    estimator: Any,
    *,
    pos_label: Any,
    classes: tuple[Any, ...] | None,
    intersections: bool,
    confidence_level: float,
    method: str,
) -> ImpactRecord:
    """Compare rates of selection with the highest one, of decisions; of scores and numbers those above the median.

    Parameters
    ----------
    sample : Sample
        The people of the audit.
    estimator, pos_label, intersections, confidence_level, method : object
        Parameters of the audit.
    classes : tuple, optional
        The labels that the estimator knows.

    Raises
    ------
    ValueError
        If nothing says which label is that of people who were selected.
    """
    people = sample.everyone or sample  # of whom a feature may not be known
    kinds, _ = kinds_of(people, estimator, pos_label)
    scoring = bool(kinds & {"scores", "continuous"}) and "binary" not in kinds
    if scoring:
        name = "y_pred" if "y_pred" in people.columns else "y_score"
        chosen = above_median(people.columns[name], people.counts)
    else:
        decisions = people.labels_of("y_pred")
        positive = resolve_pos_label(people.labels, pos_label, classes)
        chosen = np.array([bool(level == positive) for level in decisions.levels])[decisions.codes]
    _, frames, reasons = tables_of(
        people.sensitive,
        Sample({"y_pred": Column("y_pred", (False, True), chosen.astype(np.intp))}, (), counts=people.counts),
        intersections=intersections,
        confidence_level=confidence_level,
        method=method if method in ("exact", "asymptotic") else "auto",
    )
    return ImpactRecord(scoring, SMALLEST_SHARE, tuple(map(str, reasons)), pd.concat(frames, ignore_index=True))


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
