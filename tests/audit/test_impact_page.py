"""The page of the impact table: what each row says where the rule of four fifths and the test disagree."""

import pytest

from skfairtest import impact_table
from skfairtest.audit.impact_report import impact_document, impact_reading
from skfairtest.report.document import Figure, Table
from skfairtest.report.html import page
from skfairtest.report.text import plain


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
    document = impact_document(table, title="Impact table", about="People.")
    assert said in plain(document)
    (shown,) = [block for block in document if isinstance(block, Table)]
    assert shown.marked == (frozenset({0}) if " significant" in said and "not significant" not in said else frozenset())
    significant = "not" not in said
    if "below" in said:
        words = "statistically significant" if significant else "not significant, chance may explain it"
        assert f"{table['to_four_fifths'][0]} short of four fifths; {words}" in plain(document)
    else:
        assert "No rate is below four fifths" in plain(document)
        assert ("1 is not below four fifths, but significant." in plain(document)) == significant


def test_the_verdict_names_categories_below_four_fifths_and_which_are_significant():
    text = plain(impact_document(table_of(("a", 20, 100), ("b", 7, 17), ("c", 300, 500)), title="T", about=""))
    # 20/100 and 7/17 of 300/500: by Fisher's test p = 1e-13 and .14.
    for line in (
        "- a (sex): 20.0% selected, 0.333 of the highest rate, 28 short of four fifths; statistically significant (adj",
        "- b (sex): 41.2% selected, 0.686 of the highest rate, 2 short of four fifths; not significant, chance may",
    ):
        assert line in text
    few = plain(impact_document(table_of(("a", 20, 100), ("c", 21, 100)), title="T", about=""))
    assert "No rate is below four fifths of the highest." in few
    many = [(f"g{place}", 10, 100) for place in range(8)]
    assert "- and 3 more" in plain(impact_document(table_of(*many, ("c", 50, 100)), title="T", about=""))


def test_what_is_not_compared_is_explained_only_where_it_occurs():
    people = table_of(("f", 40, 100), ("m", 50, 100))
    others = table_of(("f", 40, 100), ("m", 50, 100), (None, 1, 3), ("x", 1, 2))
    texts = [plain(impact_document(table, title="Impact table", about="")) for table in (people, others)]
    assert ["counted as unknown" in text for text in texts] == [False, True]
    assert ["are shown and not compared" in text for text in texts] == [False, True]


def test_bars_are_the_rates_with_the_line_of_four_fifths():
    document = impact_document(
        table_of(("a", 20, 100), ("b", 45, 100), ("c", 300, 500), ("x", 1, 2)), title="T", about=""
    )
    (figure,) = [block for block in document if isinstance(block, Figure)]
    (rows,) = figure.drawing.rows
    (panel,) = rows.panels
    assert rows.names == ("a 20.0%", "b 45.0%", "c 60.0%", "x 50.0%")
    assert [(mark.low, mark.value) for mark in panel.marks] == [(0, 0.2), (0, 0.45), (0, 0.6), (0, 0.5)]
    assert [mark.kind for mark in panel.marks] == ["significant bar", "significant bar", "bar", "few bar"]
    assert panel.equality == pytest.approx(0.48)
    assert "48.0%" in figure.caption


def test_many_categories_have_the_highest_and_the_lowest_rates_drawn():
    document = impact_document(table_of(*((f"g{k}", 10 + k, 100) for k in range(40))), title="T", about="")
    (figure,) = [block for block in document if isinstance(block, Figure)]
    (rows,) = figure.drawing.rows
    assert [name.split()[0] for name in rows.names] == sorted([*(f"g{k}" for k in range(29)), "g39"])
    assert "30 of 40" in figure.caption


def test_every_number_of_the_page_has_a_heading_of_its_own():
    found = page(impact_document(table_of(("a", 20, 100), ("c", 300, 500)), title="T", about=""))
    for head in ("share", "rate", "95% interval", "SDs", "short of 4/5"):
        assert f'<span class="below">{head}</span></th>' in found
