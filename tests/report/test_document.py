"""Documents as plain text."""

from skfairtest._utils.text import display_width
from skfairtest.report.document import Grid, Heading, Item, Paragraph, plain
from skfairtest.report.text import aligned


def test_a_document_is_headings_lists_and_tables():
    text = plain(
        [
            Heading("Title", 1),
            Paragraph("First."),
            Item("one"),
            Item("two"),
            Heading("Part"),
            Heading("Small", 3),
            Grid((["name", "n"], [["a", "1"], ["b", "20"]])),
        ]
    )
    assert text == (
        "Title\n=====\n\nFirst.\n- one\n- two\n\nPart\n----\n\nSmall\n\n  name   n\n  a      1\n  b     20\n"
    )


def test_columns_line_up_with_wide_and_combining_characters():
    lines = aligned((["g", "n"], [["漢字", "1"], ["e\u0301", "2"], ["abcd", "3"]])).splitlines()
    assert {display_width(line) for line in lines} == {display_width(lines[-1])}


def test_a_table_without_rows_shows_its_headers():
    assert aligned((["group", "n"], [])) == "  group  n"


def test_a_column_with_gaps_is_still_numeric():
    assert aligned((["n"], [["1000"], [""], ["1"]])).splitlines() == ["     n", "  1000", "", "     1"]
