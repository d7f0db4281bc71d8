"""A report as data, and its three writers."""

from dataclasses import replace

import numpy as np
import pytest

from skfairtest._utils.text import display_width
from skfairtest.report.draw import svg
from skfairtest.report.html import fragment, page
from skfairtest.report.record import decoded, encoded
from skfairtest.report.report import Bar, Cell, Column, Figure, Report, Table, bars
from skfairtest.report.text import aligned, blocks, markdown, spread, text


def table(*lines, numbers=False, **given):
    headers, *rows = lines
    columns = (Column(headers[0], "number" if numbers else "name"), *map(Column, headers[1:]))
    return Table(columns, tuple(rows), **given)


PEOPLE = table(("sex", "n"), ("f", "5"), ("m", "7"), caption="People", few=1, marked=frozenset({0, 1}))
CURVE = {"x": (1.0, 2.0), "y": (0.1, 0.2), "low": (0.0, 0.1), "high": (0.2, 0.3)}
GRID = table(
    ("group", "n", "rate"), ("sex", "", ""), ("f", "5", Cell("+3", "40%", "warm2", "significant")),
    ("m", "7", Cell("-3", mark="few")),
    caption="How far", key=(("warm", "worse off"),), notes=("A note.",),
)  # fmt: skip
REPORT = Report(
    title="The title", headed=True, about=("About it.",), verdict="The verdict.", concern=True, remarks=("A remark.",),
    numbers=(("people", "12"),), grid=(GRID, replace(GRID, caption="Crossed", folded=True)), lead="Ranked:",
    findings=("a < b", Cell("two", bar=Bar(10.0, 20.0, 30.0, 5.0, "significant"))), hypotheses=("the same rate",),
    figures=(Figure("curve", "A curve", "What it shows.", CURVE, "look", "difference"),), tables=(PEOPLE,),
    parts=(
        Report(title="First part", verdict="Its verdict.", concern=False, findings=("one",)),
        Report(title="Folded part", findings=tuple(f"item {i}" for i in range(9)), folded=True),
    ),
    left_out=(table(("group", "n"), ("x", "1"), caption="Left out"),), methods=("Fisher (1935).",), notes=("p: p.",),
    reproduce=("Seeded.", "  call(", "  )"),
)  # fmt: skip
ORDER = [
    "About it.", "The verdict.", "A remark.", "How far", "Crossed", "Ranked:", "two", "the same rate", "People",
    "First part", "Its verdict.", "Folded part", "item 8", "Left out", "Fisher", "p: p.", "call(",
]  # fmt: skip


@pytest.mark.parametrize("write", [text, page, lambda report: markdown(report, details=True)])
def test_every_writer_says_everything_in_the_same_order(write):
    said = write(REPORT)
    said = said[said.rindex("<header") if "<header" in said else 0 :]
    places, start = [], 0
    for words in ORDER:
        start = said.index(words, start)
        places.append(start)
    assert places == sorted(places)


def test_a_short_text_ends_before_the_first_folded_part_and_says_where_the_rest_is():
    said = text(REPORT, details=False, rest="there.")
    assert "Its verdict." in said
    assert "Folded part" not in said
    assert "Crossed" not in said
    assert "People; the first 1 of 2, 1 further significant:" in said
    assert said.endswith("The rest (values by group, every comparison, null hypotheses, methods): there.\n")
    assert "Folded part" not in markdown(REPORT)
    assert "Folded part" not in fragment(REPORT)
    assert "and 2 more" in text(Report(findings=tuple("abcdefghi")), details=False)


def test_a_report_without_a_title_begins_with_its_verdict():
    said = text(replace(REPORT, about=(), numbers=(), grid=(), headed=False))
    assert said.startswith("The verdict.\nA remark.\nRanked:\n- a < b\n- two\n\nNull hypothesis\n- the same rate\n\n")
    assert "The title" not in said
    assert "First part\nIts verdict.\n- one\n" in said


def test_marks_stand_for_colours_and_a_row_of_a_name_alone_is_a_heading():
    said = text(REPORT)
    rows = "  group  n  rate\n  sex\n    f    5   +3*\n    m    7   -3?"
    assert f"How far (* significant, ? too few to tell):\n{rows}" in said
    shown = page(REPORT)
    assert '<th scope="rowgroup" colspan="3"><bdi>sex</bdi></th>' in shown
    assert 'class="number significant warm2">+3<span class="sign" aria-hidden="true"> ◆</span>' in shown
    assert "worse off</li>" in shown
    assert '<span class="bar significant" aria-hidden="true"><i class="null" style="left: 5.0%"></i>' in shown


def test_names_are_escaped_by_every_writer():
    assert "a &lt; b" in page(REPORT)
    assert "a \\< b" in markdown(REPORT)
    assert "a < b" in text(REPORT)


def test_columns_line_up_with_wide_and_combining_characters():
    lines = aligned(table(("g", "n"), ("漢字", "1"), ("e\u0301", "2"), ("abcd", "3"))).splitlines()
    assert {display_width(line) for line in lines} == {display_width(lines[-1])}


def test_a_column_with_gaps_is_still_numeric():
    lines = aligned(table(("n",), ("1000",), ("",), ("1",), numbers=True)).splitlines()
    assert lines == ["     n", "  1000", "", "     1"]


def test_a_mark_takes_the_place_of_words_where_lines_are_short():
    columns = (Column("sex", "name"), Column("verdict", "mark"))
    rows = (("f", "certified"), ("m", ""))
    (shown,) = spread(Table(columns, rows, "People", marked=frozenset({0})))
    assert shown == "People (* certified):\n  sex\n  f    *\n  m"


@pytest.mark.parametrize("width", [20, 30, 80])
def test_a_table_is_divided_at_the_width_of_the_screen(width):
    wide = table(("name", *(f"column {i}" for i in range(6))), ("a", *"123456"), caption="Wide")
    parts = list(spread(wide, width))
    assert all(display_width(line) <= width for part in parts for line in part.split("\n"))
    assert all(part.split("\n")[-1].split()[0] == "a" for part in parts)
    assert [word for part in parts for word in part.split("\n")[-1].split()[1:]] == list("123456")
    said = text(Report(verdict="word " * 40), width=width)
    assert max(map(len, said.splitlines())) <= width


def test_headings_of_nothing_are_left_out():
    assert [*blocks(Report(title="Alone", headed=True, verdict="Said."))] == [
        ("h1", "Alone"),
        ("h2", "Verdict"),
        ("verdict", "Said."),
    ]


def test_bars_of_one_scale_have_one_place_of_equality():
    first, second, none = bars([(0.5, 1.0, 2.0), (1.0, 4.0, np.inf), (np.nan, np.nan, np.nan)], 1.0, log=True)
    assert first.null == second.null == first.at
    assert second.high == 100.0
    assert none is None
    (below,) = bars([(-np.inf, -0.1, 0.2)], 0.0)
    assert below.low == 0.0 < below.at < below.null < below.high


def test_a_report_is_in_a_record_as_it_is():
    written = encoded(REPORT)
    assert type(decoded(written)) is Report
    assert encoded(decoded(written)) == written


def test_drawings_are_the_same_for_the_same_figure_and_have_the_colours_of_the_page():
    figure = REPORT.figures[0]
    drawn = svg(figure)
    assert drawn == svg(figure)
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert "var(--blue)" in drawn
    assert "metadata" not in drawn
    assert page(REPORT) == page(REPORT)
