"""Breaking points of audits, which follow from the record: against audits of every changed table."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable, FairnessAudit

RNG = np.random.default_rng(38)
COUNTS = np.array([[4, 0, 0, 4], [5, 1, 1, 3], [0, 4, 4, 0], [1, 3, 2, 4]])
LEVEL = {"metrics": ["true_positive_rate", "false_positive_rate"], "confidence_level": 0.8}


def audit_of(counts: np.ndarray, **params) -> FairnessAudit:
    """Two features of two values each, with these people by true label and prediction, (groups, 4)."""
    table = CountTable(
        counts[None],
        groups=[("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")],
        cells=[(0, 0), (0, 1), (1, 0), (1, 1)],
        cell_names=["y_true", "y_pred"],
        sensitive_names=["f", "g"],
    )
    return FairnessAudit.from_table(table, **LEVEL, **params)


def test_changed_decisions_turn_what_the_audit_says_they_turn(thorough):
    """All changes of one person, and of two, audited anew."""
    most = 2 if thorough else 1
    audit = audit_of(COUNTS)
    row, fewest = audit.breaking_point_.query("changed == 'decisions'").iloc[0], None
    for people in range(1, most + 1):
        for group in range(4):
            for u in range(-people, people + 1):
                for v in {people - abs(u), abs(u) - people}:
                    changed = COUNTS.copy()
                    changed[group] += [-v, v, -u, u]
                    if changed.min() < 0:
                        continue
                    if audit_of(changed).concern_ != audit.concern_:
                        fewest = fewest or people
    assert fewest == (None if row.n_changed is pd.NA or row.n_changed > most else row.n_changed)
    assert row.concern == audit.concern_


@pytest.mark.parametrize(
    ("params", "reason"),
    [({"intersections": False}, "intersections=True"), ({"compare": "to_highest"}, "to_highest")],
)
def test_where_there_is_no_breaking_point_the_error_says_why(params, reason):
    with pytest.raises(AttributeError, match=reason):
        audit_of(COUNTS, **params).breaking_point_  # noqa: B018


def test_reports_say_with_how_few_people_the_verdict_would_turn(monkeypatch):
    audit = audit_of(COUNTS)
    verdict = audit.breaking_point_.iloc[0]
    about = "people with " + " and ".join(map(" = ".join, zip("fg", verdict["among"], strict=True)))
    both = f"({verdict['to_positive']} positive, {verdict['to_negative']} negative)"
    turn = f"{verdict['n_changed']} decisions about {about} had been different {both}"
    assert f"The verdict would be reversed if {turn}" in str(audit)
    read = FairnessAudit.from_json(audit.to_json())
    assert read.to_html() == audit.to_html()
    monkeypatch.setattr("skfairtest.comparisons.breaking.MOST_COMPARISONS", 1)
    assert "would be reversed" not in str(audit)  # of many, the search takes longer than the report
