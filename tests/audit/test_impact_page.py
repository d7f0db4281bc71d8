"""The page of the impact table: what each row says where the rule of four fifths and the test disagree."""

import pytest

from skfairtest import impact_table
from skfairtest.audit.impact_report import impact_reading, impact_report
from skfairtest.report.html import page
from skfairtest.report.text import text


def table_of(*counts):
    rows = [(name, int(place < x)) for name, x, n in counts for place in range(n)]
    return impact_table([row[1] for row in rows], sensitive_features={"sex": [row[0] for row in rows]})


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((8, 20, 12, 20), "below four fifths, but not significant"),
        ((2000, 5000, 2300, 5000), "above four fifths, but significant"),
        ((2, 10, 15, 25), "below, significant"),
        ((10, 20, 11, 20), "above, not significant"),
        ((8, 20, 10, 20), "at, not significant"),
        ((2000, 5000, 2500, 5000), "at four fifths, but significant"),
    ],
)
def test_both_are_said(counts, said):
    x, n, top, m = counts
    table = table_of(("f", x, n), ("m", top, m))
    assert [impact_reading(row) for _, row in table.iterrows()] == [said, "highest rate"]
    report = impact_report(table, title="Impact table", about="People.")
    assert said in text(report)
    (shown,) = report.tables
    assert shown.marked == (frozenset({0}) if " significant" in said and "not significant" not in said else frozenset())
    below = "" if "below" in said else " not"
    assert f"The impact ratio is{below} below .8: {table['ratio'][0]:.3f}, of f (sex)." in text(report)


def test_the_verdict_counts_categories_below_four_fifths_and_names_the_lowest():
    said = text(impact_report(table_of(("a", 20, 100), ("b", 7, 17), ("c", 300, 500)), title="T", about=""))
    # 20/100 and 7/17 of 300/500: by Fisher's test p = 1e-13 and .14.
    assert "2 of 2 impact ratios are below .8; the lowest is 0.333, of a (sex)." in said


def test_what_is_not_compared_is_explained_only_where_it_occurs():
    people = table_of(("f", 40, 100), ("m", 50, 100))
    others = table_of(("f", 40, 100), ("m", 50, 100), (None, 1, 3), ("x", 1, 2))
    texts = [text(impact_report(table, title="Impact table", about="")) for table in (people, others)]
    assert ["counted as unknown" in said for said in texts] == [False, True]
    assert ["are not compared" in said for said in texts] == [False, True]


def test_bars_are_the_rates_with_the_line_of_four_fifths():
    report = impact_report(table_of(("a", 20, 100), ("b", 45, 100), ("c", 300, 500), ("x", 1, 2)), title="T", about="")
    (table,) = report.tables
    place = [column.head for column in table.columns].index("rate")
    bars = {row[0]: row[place].bar for row in table.rows}
    assert {name: bar.at for name, bar in bars.items()} == {"a": 33.33, "b": 75.0, "c": 100.0, "x": 83.33}
    assert {bar.kind for bar in (bars["a"], bars["b"])} == {"rate significant"}
    assert (bars["c"].kind, bars["x"].kind) == ("rate", "rate few")
    assert {bar.null for bar in bars.values()} == {80.0}


def test_every_number_of_the_page_has_a_heading_of_its_own():
    found = page(impact_report(table_of(("a", 20, 100), ("c", 300, 500)), title="T", about=""))
    for head in ("share", "rate", "95% interval", "SDs", "short of 4/5"):
        assert f'<span class="below">{head}</span></th>' in found
