"""Documents as plain text."""

import pytest

from skfairtest._utils.text import display_width
from skfairtest.report.document import (
    Code,
    Column,
    Figure,
    Heading,
    Items,
    Pairs,
    Paragraph,
    Table,
    shortened,
    spread,
    textual,
)
from skfairtest.report.html import fragment, page
from skfairtest.report.plots import Bar, Bars, Forest, Panel, Rows
from skfairtest.report.text import aligned, markdown, plain


def table(*lines, numbers=False, **given):
    headers, *rows = lines
    columns = (Column(headers[0], "number" if numbers else "name"), *map(Column, headers[1:]))
    return Table(columns, tuple(rows), **given)


def test_a_document_is_headings_lists_and_tables():
    text = plain(
        [
            Heading("Title", 1),
            Paragraph("First."),
            Items(("one", "two")),
            Heading("Part"),
            Heading("Small", 3),
            table(("name", "n"), ("a", "1"), ("b", "20")),
        ]
    )
    assert text == "Title\n=====\n\nFirst.\n- one\n- two\n\nPart\n----\n\nSmall\n  name   n\n  a      1\n  b     20\n"


def test_columns_line_up_with_wide_and_combining_characters():
    lines = aligned(table(("g", "n"), ("漢字", "1"), ("e\u0301", "2"), ("abcd", "3"))).splitlines()
    assert {display_width(line) for line in lines} == {display_width(lines[-1])}


def test_a_table_without_rows_shows_its_headers():
    assert aligned(table(("group", "n"))) == "  group  n"


def test_a_column_with_gaps_is_still_numeric():
    lines = aligned(table(("n",), ("1000",), ("",), ("1",), numbers=True)).splitlines()
    assert lines == ["     n", "  1000", "", "     1"]


RATE = Panel.of([[2], [1], [3]], ["other"], title="Rate", name="rate")
EVERYTHING = [
    Heading("The title", 1),
    Heading("First part"),
    Paragraph("The verdict.", "concern"),
    Pairs((("people", "12"),), "figures"),
    Heading("Drawings"),
    Heading("One", 3),
    Figure(
        Forest(
            "Rates", "One row.", (Rows(("a",), (Panel.of([[2], [1], [3]], ["other"], title="Rate", name="rate"),)),)
        ),
        "Lines.",
    ),
    Heading("Second part"),
    Pairs((("rate", "a share"),)),
    Items(("a < b", "two", "three"), few=2),
    table(("sex", "n"), ("f", "5"), ("m", "7"), caption="People", few=1, marked=frozenset({0, 1})),
    Figure(Bars("Chance", "Bars.", (Bar(1, 2, 50, 5),), 90.0, (), (), ""), "The null distribution.", told=True),
    Code(("call(", ")"), "Call"),
]


@pytest.mark.parametrize("write", [plain, markdown, page, fragment])
def test_every_writer_says_everything_in_the_same_order(write):
    said = write(EVERYTHING)
    shown = ["The title", "First part", "The verdict.", "people", "12"]
    shown += ["Drawings", "Lines."] if write in (page, fragment) else []
    shown += ["Second part", "a share", "two", "People", "The null distribution.", "call("]
    # What stands before the sections of a page is its contents and the names of its regions.
    places, start = [], said.rindex("First part") if write is plain else said.index("The verdict.") - 200
    for words in shown[2:]:
        start = said.index(words, max(start, 0))
        places.append(start)
    assert places == sorted(places)
    assert all(words in said for words in shown)


def test_headings_of_nothing_but_drawings_are_left_out_of_a_text():
    assert "Drawings" not in plain(EVERYTHING)
    assert "One" not in markdown(EVERYTHING)
    assert [block.text for block in textual(EVERYTHING) if isinstance(block, Heading)] == [
        "The title", "First part", "Second part",
    ]  # fmt: skip


def test_a_short_table_says_what_it_leaves_out():
    (short,) = shortened([table(("sex",), ("f",), ("m",), caption="People", few=1, marked=frozenset({0, 1}))], "ask")
    assert short.rows == (("f",),)
    assert short.marked == {0}
    assert short.caption == "People; the first 1, 1 further significant ones (ask)"


def test_a_mark_takes_the_place_of_words_where_lines_are_short():
    columns = (Column("sex", "name"), Column("method", "word", detail=True), Column("verdict", "mark"))
    rows = (("f", "exact", "disparity found"), ("m", "exact", "no disparity found"))
    (shown,) = spread(Table(columns, rows, "People", marked=frozenset({0})))
    assert shown.rows == (("f", "*"), ("m", ""))
    assert shown.caption == "People (* significant)"


def test_what_folds_up_on_a_page_is_counted_in_a_text():
    assert "and 1 more" in plain(EVERYTHING)
    assert "<summary>1 more</summary>" in page(EVERYTHING)
    assert "three" in page(EVERYTHING)


def test_names_are_escaped_by_every_writer():
    assert "a &lt; b" in page(EVERYTHING)
    assert "a \\< b" in markdown(EVERYTHING)
    assert "a < b" in plain(EVERYTHING)
