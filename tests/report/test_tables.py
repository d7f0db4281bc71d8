"""Tables of reports: which comparisons they show, in which order and units."""

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.report import audit_report
from skfairtest.report.text import text


def test_tables_name_pairs_as_comparisons_do(compas_record):
    part = next(part for part in compas_record.parts if part.feature == "race")
    pairs = {f"{row.group} against {row.other}" for row in part.comparisons.itertuples()}
    grouping = next(one for one in audit_report(compas_record).parts if one.title == "By race")
    table = next(table for table in grouping.tables if " by race: " in table.caption)
    assert {f"{row[0]} against {row[1]}" for row in table.rows} <= pairs


def test_a_forty_group_audit_without_a_finding_is_ordered_by_p_value():
    rng = np.random.default_rng(0)
    groups = np.repeat([f"group {i}" for i in range(40)], 30)
    with pytest.warns(UserWarning, match="40 distinct values"):
        audit = FairnessAudit.from_predictions(
            None,
            rng.integers(0, 2, 1200),
            sensitive_features={"g": groups},
            metrics="selection_rate",
            method="asymptotic",
        )
    (grouping,) = (part for part in audit_report(audit.record_).parts if part.title == "By g")
    assert (audit.comparisons_["p_value_adjusted"] == 1).sum() > 700
    smallest = audit.comparisons_.nsmallest(30, "p_value")
    shown = [set(row[:2]) for row in grouping.tables[-1].rows[:30]]
    assert {frozenset(pair) for pair in shown} == {frozenset((row.group, row.other)) for row in smallest.itertuples()}
    assert shown[0] == {smallest.iloc[0]["group"], smallest.iloc[0]["other"]}


def test_tables_have_percentages_and_points_and_records_have_shares(compas_record):
    said = text(audit_report(compas_record))
    assert "difference (points)" in said
    assert "detectable (points)" in said
    row = compas_record.parts[0].comparisons.iloc[0]
    assert abs(row["disparity"]) <= 1
    assert 0 <= row["value_group"] <= 1
