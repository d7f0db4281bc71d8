"""The parts of an audit beside its comparisons: impact tables, and a comparison with the model in production."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated, label
from skfairtest.audit._questions import kinds_of
from skfairtest.audit.impact import above_median, tables_of
from skfairtest.audit.impact_report import UNFAVORABLE, below_sentences, impact_report
from skfairtest.audit.record import AuditRecord
from skfairtest.comparisons.family import at_most
from skfairtest.inference.multiplicity import holm
from skfairtest.metrics import Metric
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.paired.measure import paired
from skfairtest.paired.report import paired_section
from skfairtest.readers import Column, resolve_pos_label
from skfairtest.report.report import Report
from skfairtest.subgroups.fairness import SubgroupScan
from skfairtest.subgroups.report import scan_section
from skfairtest.tables import Sample

#: What the level of a section beside the comparisons is apart from.
APART = "of their own, apart from the comparisons of this audit: the verdict does not count them."
#: What the models of an audit are called in its report.
NAMES = ("the model in production", "this model")
#: Parameters of an audit that its comparison of models has too.
SHARED = (
    "compare", "n_resamples", "pos_label", "prediction_threshold", "response", "random_state", "n_jobs", "verbose",
)  # fmt: skip


def with_impact(
    record: AuditRecord, sample: Sample, estimator: Any, classes: tuple[Any, ...] | None, settings: Mapping[str, Any]
) -> tuple[AuditRecord, pd.DataFrame]:
    """Compare rates of selection with the highest one, of decisions; of scores and numbers those above the median."""
    people = sample.everyone or sample  # of whom a feature may not be known
    kinds, _ = kinds_of(people, estimator, settings["pos_label"])
    scoring = bool(kinds & {"scores", "continuous"}) and "binary" not in kinds
    if scoring:
        chosen = above_median(people.columns["y_pred" if "y_pred" in people.columns else "y_score"], people.counts)
    else:
        decisions = people.labels_of("y_pred")
        positive = resolve_pos_label(people.labels, settings["pos_label"], classes)
        chosen = np.array([bool(level == positive) for level in decisions.levels])[decisions.codes]
    frames, reasons = tables_of(
        people.sensitive,
        Sample({"y_pred": Column("y_pred", (False, True), chosen.astype(np.intp))}, (), counts=people.counts),
        intersections=settings["intersections"],
        confidence_level=settings["confidence_level"],
        method=settings["method"] if settings["method"] in ("exact", "asymptotic") else "auto",
    )
    frame = pd.concat(frames, ignore_index=True)
    section = impact_report(
        frame,
        title="Impact table",
        about=f"These tables have a level {APART}",
        scoring=scoring,
        confidence_level=settings["confidence_level"],
        not_compared=[*map(label, map(str, reasons)), *[UNFAVORABLE] * (settings["favorable"] is False)],
    )
    return replace(record, beside=(*record.beside, section), impact=tuple(below_sentences(frame))), frame


def scan_part(scan: SubgroupScan, positive_means: str | None) -> Report:
    """The section about the subgroups of a scan."""
    found = replace(scan.record_, setup=replace(scan.record_.setup, positive_means=positive_means))
    remarks = (f"These subgroups have a guarantee {APART}",)
    return replace(scan_section(found), title="Further subgroups", remarks=remarks)


def compared_with_baseline(
    metrics: Sequence[Metric],
    known: set[str],
    settings: Mapping[str, Any],
    features: set[str],
    people_of: Callable[[PairedFairnessTest], Sequence[Any]],
) -> tuple[dict[str, PairedFairnessTest], Report]:
    """Compare an audited model with the model in production by each feature, adjusted together by Holm's method."""
    compared: list[Metric] = []
    without: list[str] = []
    for metric in metrics:
        try:
            paired(metric)
        except ParameterError as error:
            without.append(str(error))
            continue
        if lacking := sorted(metric.reads - known):
            name = f"{lacking[0]}{'_baseline' if lacking[0] != 'y_true' else ''}"
            without.append(f"{metric.name} needs {name}, which was not passed")
        else:
            compared.append(metric)
    if not compared:
        raise ParameterError(f"metrics: by none of them are two models compared: {'; '.join(without)}")
    alpha = 1 - settings["confidence_level"]
    level = {"confidence_level": 1 - alpha / len(features)}
    test = PairedFairnessTest(metric=compared, **level, **{name: settings[name] for name in SHARED})
    sample, *asked = people_of(test)
    names = [name for name in sample.sensitive_names if len(sample.regroup([name]).groups) > 1]
    tests = {name: clone(test)._fit_sample(sample.regroup([name]), *asked) for name in names}
    for name, each in tests.items():
        excluded = zip(each.excluded_["metric"], each.excluded_["reason"], strict=True)
        without += [f"By {name}: {metric}, {reason}" for metric, reason in excluded]
    records = [each._record(NAMES, alpha=alpha) for each in tests.values()]
    rows = [dict(row) for record in records for row in record.results]
    with np.errstate(divide="ignore"):
        log_p = np.log([row["p_value"] for row in rows])
    within = np.array([bool(row["stratum"]) for row in rows])
    for family in (within, ~within):
        for place, p in zip(np.flatnonzero(family), holm(log_p[family]).tolist(), strict=True):
            rows[place] |= {"p_value_adjusted": float(np.exp(p)), "concern": at_most(p, alpha)}
    averages = [row for row in rows if not row["stratum"]]
    found = replace(
        records[0],
        setup=replace(records[0].setup, features=enumerated(names)),
        results=tuple(rows),
        p_value=min((row["p_value_adjusted"] for row in averages), default=1.0),
        concern=any(row["concern"] for row in averages),
        not_compared=tuple(dict.fromkeys(without)),
    )
    return tests, replace(paired_section(found), title="Compared with the model in production")
