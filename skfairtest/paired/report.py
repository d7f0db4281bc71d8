"""The report of a comparison of two models, that of `PairedFairnessTest` and of each candidate of `compare_models`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.group.report import groups_report
from skfairtest.report import cells, sentences
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import equals_p, number, written


def models_frame(test: Any) -> pd.DataFrame:
    """The comparisons with disparities under B as values and under A as others, the strongest evidence first."""
    frame, sizes = test.comparisons_, test._setup.models == "sizes"
    if test._setup.models == "change":
        of_both = test.disparities_
        frame = frame.assign(value_group=of_both["disparity_b"], value_other=of_both["disparity_a"])
    ordered = cells.by_p_value(test._setup, frame)
    return cells.pooled_first(ordered.iloc[::-1] if sizes else ordered)


def _verdict(test: Any, a: str, b: str, rows: Sequence[Mapping[str, Any]]) -> str:
    setup, n, by = test._setup, len(rows), label(test._setup.features)
    compared, p = pluralize(n, "comparison"), sentences.smallest_p(test.p_value_, n)
    if setup.models == "sizes":
        where = f"in every one of {compared}" if n > 1 else "in the one comparison"
        larger = f", or larger by less than {number(margin)}," if (margin := setup.margin_bounds[1]) else ""
        said = f"{where} the disparity by {by} is smaller{larger} under {b} (largest {equals_p(test.p_value_)})."
        certified = f"Certified at {100 * (1 - setup.alpha):g}%: {said}"
        return f"Not certified: it was not shown that {said}" if test.concern_ else certified
    if not test.concern_:
        what = f"disparities by {by}" if setup.models == "change" else "rates"
        none = f"No significant difference between the models' {what} was detected in {compared} ({p})."
        return f"{none} This does not prove that they are the same: see the intervals."
    smaller = [abs(row["value_group"]) < abs(row["value_other"]) for row in rows if row["concern"]]
    fairer = f"; the disparity is smaller in size under {b} in {sum(smaller):,} of these"
    differ = f"Significant difference between {a} and {b} in {len(smaller):,} of {compared} ({p})"
    return f"{differ}{fairer * (setup.models == 'change')}."


def _finding(test: Any, a: str, b: str, row: Mapping[str, Any]) -> str:
    setup, how = test._setup, written(test._setup, row)
    inside = sentences.span(how.disparity, row["ci_low"], row["ci_high"], setup.open_ends(row)) or "no interval"
    pair = {"change": "{} minus {}", "sizes": "size of the gap between {} and {}"}.get(
        setup.models, label(test.groups_[0])
    )
    whom = pair.format(label(row["group"]), cells.compared_with(setup.compare, row))
    where = "" if row["stratum"] is None else f", in {label(row['stratum'])}"
    unit = how.unit * (setup.models != "one group")
    return (
        f"{sentences.metric_title(row['metric'])}, {whom}{where}: {how.value(row['value_other'])}{unit} under {a} and "
        f"{how.value(row['value_group'])}{unit} under {b}, a difference of {how.disparity(row['disparity'])}{how.unit} "
        f"({inside}, adjusted {equals_p(row['p_value_adjusted'])})."
    )


def paired_report(test: Any, a: str = "model A", b: str = "model B") -> Report:
    """The report of a fitted `PairedFairnessTest`, with names for the models."""
    setup, frame, a, b = test._setup, models_frame(test), label(a), label(b)
    frame = frame.assign(ci_low=-np.inf) if setup.models == "sizes" else frame  # sizes have an upper limit alone
    rows, margin = cells.records(frame), (setup.margin_bounds or (0.0, 0.0))[1]
    larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
    way = {"greater": "not greater", "less": "not less", "equivalence": larger}.get(setup.alternative)
    same = f"{way} under {b} than under {a}" if way else "the same under both models"
    what = "its value" if setup.models == "one group" else f"the disparity by {label(setup.features)}"
    same += f", within every {label(setup.controls)}" * bool(setup.controls)

    def rate(row: Mapping[str, Any], model: str) -> str:
        return (sentences.percent if setup.is_share(row["metric"]) else number)(row[f"value_{model}"])

    models = [Column(name, named=True, shows=partial(rate, model=model)) for name, model in ((a, "a"), (b, "b"))]
    columns = (cells.METRIC, cells.GROUP, cells.stratum(setup.controls), Column("people", shows="n"), *models)
    made = groups_report(
        test,
        _verdict(test, a, b, [row for row in rows if row["stratum"] is None]),
        remarks=tuple(sentences.sampling_error(test.p_value_interval_)),
        findings=tuple(_finding(test, a, b, row) for row in [row for row in rows if row["concern"]] or rows[:3]),
        hypotheses=tuple(f"{label(metric)}: {what} is {same}" for metric in dict.fromkeys(frame["metric"])),
        tables=(
            cells.comparisons_table(setup, frame, "Disparities under both models", values=(b, a)),
            Table.of(columns, cells.records(test.by_model_), "Values under both models", None, few=cells.SHOWN),
        ),
    )
    return replace(made, title=f"Two models: {made.title}")
