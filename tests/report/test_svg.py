"""Drawings inside a page."""

import re
import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from skfairtest._utils.text import display_width
from skfairtest.report.drawings import BLUE, GREY, ORANGE, PALE, draw_disparities, draw_groups, draw_null_histogram
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.svg import COLOURS, drawn, stand_ins


def paint(figure, names):
    ax = figure.add_axes((0.5, 0.3, 0.4, 0.6))
    n = len(names)
    draw_disparities(
        ax, names, np.zeros(n), np.full(n, -1), np.ones(n), np.arange(n) % 2, null=0, margin_bounds=(-0.1, 0.1)
    )


def draw(names=("a", "b"), paint=paint, **changed):
    settings = {"inches": (6, 3), "prefix": "p", "title": "Title", "description": "Description"}
    return drawn(paint, names, **settings | changed)


def texts(svg):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter("text")]


def test_names_are_written_as_they_are_and_never_drawn(hostile):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = draw(hostile)
    assert {"$x_1^2$ and $", "\u6f22\u5b57\u6f22\u5b57", "'' ".strip(), "<script>alert(1)</script>"} <= set(texts(svg))
    assert "<script" not in svg
    assert {element.tag for element in ElementTree.fromstring(svg).iter()} <= {
        "svg", "title", "desc", "g", "defs", "path", "use", "text", "clipPath", "rect", "pattern",
    }  # fmt: skip


def test_writing_from_right_to_left_is_isolated(hostile):
    assert "\u2068\u05e9\u05dc\u05d5\u05dd\u2069" in texts(draw(hostile))


def test_a_stand_in_is_as_wide_as_its_name_and_unlike_any_other(hostile):
    names = [*hostile, "Asian", "\u6f22\u5b57", "a" * 48]
    found = stand_ins(names)
    assert len(found) == len(names)
    for stand, name in found.items():
        assert display_width(stand) == max(display_width(name), len(stand.lstrip("n")))
        assert stand.isascii()
        assert len(stand) <= 48


def test_two_drawings_of_a_page_share_no_id_and_point_at_their_own():
    found = []
    for prefix in ("one", "two"):
        svg = draw(prefix=prefix)
        ids = re.findall(r'\bid="([^"]+)"', svg)
        assert len(ids) == len(set(ids))
        assert all(name.startswith(f"{prefix}-") for name in ids)
        pointed = re.findall(r"url\(#([^)]+)\)", svg) + re.findall(r'href="#([^"]+)"', svg)
        assert pointed
        assert set(pointed) <= set(ids)
        found += ids
    assert len(found) == len(set(found))


def test_there_is_no_address_metadata_style_sheet_or_prolog():
    svg = draw()
    assert svg.startswith("<svg ")
    for gone in ("http", "<metadata", "<style", "<!", "<?", "xmlns", "xlink", "font-family", "font:"):
        assert gone not in svg


def test_it_is_described_for_somebody_who_does_not_see_it():
    root = ElementTree.fromstring(draw(title="A <b>", description='what "there" is'))
    assert root.attrib["role"] == "img"
    labels = {element.attrib["id"]: element.text for element in root if "id" in element.attrib}
    assert [labels[name] for name in root.attrib["aria-labelledby"].split()] == ["A <b>", 'what "there" is']


def test_every_colour_is_one_of_the_page():
    histogram = NullHistogram("drawn", "difference", (0.0, 1.0), (1.0, 2.0), (0.4, 0.6), (0.0, 0.6), 1.5, 0.6, "")

    def everything(figure, names):
        paint(figure, names)
        draw_groups(figure.add_axes((0.2, 0, 0.2, 0.2)), names, [0.5, 1], [0, 0], [1, 1], [True, False], reference=0.3)
        draw_null_histogram(figure.add_axes((0.5, 0, 0.2, 0.2)), histogram)

    svg = draw(paint=everything)
    assert not re.sub(r"var\(--[a-z]+, #[0-9a-f]{6}\)", "", svg).count("#000000")
    left = set(re.findall(r"#[0-9a-f]{6}\b", re.sub(r"var\([^)]*\)", "", svg)))
    assert not left
    assert set(re.findall(r"var\(--([a-z]+)", svg)) == set(COLOURS.values())
    assert {BLUE.lower(), ORANGE.lower(), GREY.lower(), PALE.lower()} <= set(COLOURS)


def test_the_same_is_drawn_again_whatever_style_somebody_uses():
    first = draw()
    assert draw() == first
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert draw() == first
        assert mpl.rcParams["font.size"] == 30


def test_it_fits_into_any_width():
    root = ElementTree.fromstring(draw(inches=(6, 3)))
    assert root.attrib["viewBox"] == "0 0 432 216"
    assert (root.attrib["width"], root.attrib["height"]) == ("576", "288")


@pytest.mark.parametrize("name", ["bold", "plain"])
def test_the_weight_of_a_text_is_kept(name):
    def titled(figure, names):
        figure.add_axes((0, 0, 1, 0.5)).set_title(names[0], fontweight=name if name == "bold" else "normal")

    written = re.search(r"<text([^>]*)>name<", draw(["name"], titled))[1]
    assert ("font-weight: 700" in written or "font-weight: bold" in written) is (name == "bold")
    assert "font-size: 12px" in written
