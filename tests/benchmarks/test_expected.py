"""The inventory of the sources: every place holds its words, no number of a text is left out, one rule judges all."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.make_compas_counts import ROOT
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import _expected as expected
from benchmarks.reproduce._rows import FAILS, HOLDS, Row

TEXTS = ROOT.parent / "shared" / "seeds"
SOURCES = expected.inventories()
needs_texts = pytest.mark.skipif(not TEXTS.exists(), reason="the texts of the sources are not here")
PAGE = "Published as a conference paper at"


def text_of(source):
    return (TEXTS / expected.inventory(source)["source"]["text"]).read_text(encoding="utf-8")


def places(source):
    return expected.inventory(source)["claim"]


def starts_of(text):
    """Where each line begins, and each page of a text that names them."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    return lines, [match.start() for match in re.finditer(PAGE, text)]


@needs_texts
@pytest.mark.parametrize("source", SOURCES)
def test_the_words_of_every_place_are_on_its_line_and_page_and_hold_what_is_printed(source):
    text = text_of(source)
    lines, pages = starts_of(text)
    for place in places(source):
        start = lines[place["line"] - 1]
        end = lines[place["line"]] if place["line"] < len(lines) else len(text)
        found = text.find(place["quote"], start)
        assert start <= found < end, place["id"]
        if "page" in place:
            on_page = [number for number, begins in enumerate(pages, 1) if begins <= found][-1]
            on_it = text[pages[place["page"] - 1] : (*pages, len(text))[place["page"]]]
            assert place["page"] == on_page or place["quote"] in on_it, place["id"]
        printed = [value for kind in expected.NUMBERS for value in place.get(kind, {}).values()]
        for value in [*printed, *place.get("setting", [])]:
            assert value.removesuffix("%") in place["quote"] or value.replace(",", "") in place["quote"], place["id"]


def test_every_claim_has_a_figure_of_ours_or_a_reason_and_every_figure_its_claim():
    documents = {name: reproduce.stored(name) for name in reproduce.SOURCES}
    found = expected.verdicts(documents)
    for claim in found:
        assert claim.status in expected.STATUSES
        if claim.status == expected.SKIPPED:
            assert claim.kind == "figure" or claim.place["not_attempted"], claim.name
        else:
            assert "not_attempted" not in claim.place, claim.name
        if claim.status == expected.NOT:
            assert claim.why, claim.name
    names = {(claim.source, claim.name) for claim in found}
    for document in documents.values():
        for row in document["rows"]:
            assert "answers" not in row or (document["source"], row["answers"]) in names


def of(kind, printed, **place):
    return expected.Claim("a", "table/value", kind, printed, place)


@pytest.mark.parametrize(("printed", "value", "half"), [
    ("0.0428", 0.0428, 0.00005), ("1,296", 1296, 0.5), ("-0.151", -0.151, 0.0005), ("0.66666...", 0.666665, 0.000005),
])  # fmt: skip
def test_a_printed_number_stands_for_all_that_round_to_it(printed, value, half):
    assert expected.value_of(printed) == pytest.approx((value, half))


def test_a_number_is_reproduced_within_two_errors_of_both_runs_and_15_percent_of_its_size():
    claim, error = of("rate", "0.50", repetitions=10_000), np.sqrt(0.5 * 0.5 * (1 / 10_000 + 1 / 100))
    for far, holds in ((1.9, False), (1.4, True)):  # 15% are 1.49 errors, and the last digit .1
        assert expected.agrees(claim, Row("", 0.5 + far * error, repetitions=100)) == holds
    claim = of("mean", "1.00", repetitions=10, deviation={"value": "0.03"})
    edge = 2 * 0.03 * np.sqrt(2 / 9) + 0.005
    for ours, holds in ((1 + 0.999 * edge, True), (1 + 1.001 * edge, False)):
        assert expected.agrees(claim, Row("", ours, repetitions=10, deviation=0.6)) == holds  # by the published one
    assert expected.agrees(of("number", "6167"), Row("", 6167))
    assert not expected.agrees(of("number", "6167"), Row("", 6168))


def test_a_claim_is_reproduced_as_printed_only_in_another_reading_or_not():
    claim = of("number", "0.5")
    near, far = Row("", 0.52, "table/value"), Row("", 0.9, "table/value", why="because")
    reading = replace(near, reading="another")
    assert expected.judged(claim, [near]).status == expected.REPRODUCED
    assert expected.judged(claim, [far, reading]).status == expected.READING
    assert expected.judged(claim, [far, replace(far, reading="another")]).status == expected.NOT
    assert expected.judged(claim, [replace(far, answers="another/value")]).status == expected.SKIPPED
    statement = of("statement", "It holds.")
    rows = [Row("", HOLDS, "table/value"), Row("", 2.0, "table/value", other=2.1, within=0.2)]
    assert expected.judged(statement, rows).status == expected.REPRODUCED
    assert expected.judged(statement, [*rows, Row("", FAILS, "table/value")]).status == expected.NOT
