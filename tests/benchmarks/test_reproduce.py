"""The sources, reproduced: figures are stored, pages are made of them, and a number that is off is said."""

import json
import math
import re
from xml.etree import ElementTree

import pytest

from skfairtest import FairnessTest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import witness
from benchmarks.reproduce._pages import index_page, source_page
from benchmarks.reproduce._pictures import Picture, drawings
from benchmarks.reproduce._rows import Found, Row

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_the_pages_are_those_of_the_stored_figures():
    documents = {name: reproduce.stored(name) for name in reproduce.SOURCES}
    for name, document in documents.items():
        written = source_page(reproduce.module_of(name), name, document)
        assert (reproduce.PAGES / f"{name}.md").read_text() == written
    assert (reproduce.PAGES / "index.md").read_text() == index_page(documents)


def shapes(svg):
    """Every text of a drawing, and the ends of its lines and marks."""
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    # Where a text begins depends on its font, and so on the version of matplotlib.
    drawn = [element for element in root.iter() if not element.tag.endswith("text")]
    attributes = [element.get(name, "") for element in drawn for name in ("x", "y", "d")]
    return texts, [float(number) for each in attributes for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", each)]


@pytest.mark.parametrize("name", reproduce.SOURCES)
def test_the_pictures_are_those_of_the_stored_figures(name):
    document = reproduce.stored(name)
    for file, text in drawings(reproduce.module_of(name), name, document).items():
        (texts, ends), (old_texts, old_ends) = (shapes(each) for each in (text, (reproduce.STATIC / file).read_text()))
        assert texts == old_texts
        assert ends == pytest.approx(old_ends, abs=0.2)


def test_a_picture_is_drawn_from_what_is_stored_and_stands_in_its_section(tmp_path, monkeypatch):
    def paint(figure, figures):
        ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
        ax.pcolormesh(figures["heat"])
        ax.set_title("a heat map of the witness")

    module = reproduce.module_of("witness")
    picture = Picture("Heat", "Heat", "A heat map of {tables} cells.", (4.0, 3.0), paint)
    monkeypatch.setattr(module, "PICTURES", {"heat": picture}, raising=False)
    monkeypatch.setattr(
        module,
        "run",
        lambda *, quick: Found(
            [Row("said", "more", "less")],
            {"Heat": ([], [])},
            {"source": "R", "tables": 4},
            {"heat": {"heat": [[1, 2]] * 2}},
        ),
    )
    for folder in ("RESULTS", "PAGES", "STATIC"):
        monkeypatch.setattr(reproduce, folder, tmp_path)
    monkeypatch.setattr(reproduce, "SOURCES", ("witness",))
    assert reproduce.main(["witness"]) == 0
    page, drawing = (tmp_path / "witness.md").read_text(), (tmp_path / "witness_heat.svg").read_text()
    assert "## Heat\n\n\n\n![A heat map of 4 cells.](../_static/witness_heat.svg)\n" in page
    assert "a heat map of the witness" in shapes(drawing)[0]
    assert "A heat map of 4 cells." in drawing
    assert reproduce.main(["witness", "--render"]) == 0
    assert (tmp_path / "witness_heat.svg").read_text() == drawing


@pytest.mark.parametrize("name", ["fairlearn_metrics", "witness"])
def test_what_is_stored_is_what_comes_out(name):
    stored = reproduce.stored(name)
    found = reproduce.module_of(name).run(quick=False)
    assert [row.what for row in found.rows] == [row["what"] for row in stored["rows"]]
    for row, old in zip(found.rows, stored["rows"], strict=True):
        assert row.agrees
        assert row.published == pytest.approx(old["published"], rel=1e-6)
        assert row.ours == pytest.approx(old["ours"], rel=1e-6, abs=1e-9)
    for title, (_, rows) in found.tables.items():
        assert rows == stored["tables"][title]["rows"]


@pytest.mark.parametrize("each", json.loads(witness.GOLDEN.read_text())["rates"], ids=lambda each: str(each["table"]))
def test_r_agrees_about_two_rates(each):
    test = witness.odds_test([each["table"]])
    assert test.p_value_ == pytest.approx(each["p_value"], rel=1e-10)
    # R's limits are found with a tolerance; ours have exact tails.
    low, high = map(float, each["odds_ratio_interval"])
    assert test.confidence_interval_[0] == pytest.approx(low, rel=0.01)
    assert test.confidence_interval_[1] == (high if math.isinf(high) else pytest.approx(high, rel=0.01))
    assert witness.off(test.confidence_interval_, each["table"]) < 1e-9
    for direction in ("less", "greater"):
        one_sided = witness.odds_test([each["table"]], alternative=direction)
        assert one_sided.p_value_ == pytest.approx(each[f"p_{direction}"], rel=1e-10)


@pytest.mark.parametrize("each", json.loads(witness.GOLDEN.read_text())["strata"], ids=["all", "without A"])
def test_r_agrees_about_departments(each):
    test = witness.odds_test(each["strata"])
    assert test.p_value_ == pytest.approx(each["p_value"], rel=1e-10)
    assert test.disparity_ == pytest.approx(each["mantel_haenszel"], rel=1e-12)
    assert test.confidence_interval_ == pytest.approx(each["interval"], rel=1e-10)


def test_a_number_that_does_not_come_out_is_said_and_fails(monkeypatch, capsys, tmp_path):
    def run(*, quick):
        return Found([Row("near", 0.5, 0.504, 0.005), Row("far", 0.5, 0.6, 0.05), Row("said", "more", "less")])

    monkeypatch.setattr(reproduce.module_of("witness"), "run", run)
    monkeypatch.setattr(reproduce, "RESULTS", tmp_path)
    assert reproduce.main(["witness", "--quick"]) == 1
    assert "witness: far: published 0.5, ours 0.6, allowed 0.05" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_quick_run_checks_all_sources_and_writes_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "RESULTS", tmp_path)
    monkeypatch.setattr(reproduce, "PAGES", tmp_path)
    monkeypatch.setattr(reproduce, "STATIC", tmp_path)
    assert reproduce.main(["all", "--quick"]) == 0
    assert not list(tmp_path.iterdir())


def test_the_example_of_fairlearn_is_that_of_its_page():
    page = reproduce.module_of("fairlearn_metrics")
    test = FairnessTest.from_predictions(
        page.Y_TRUE, page.Y_PRED, sensitive_features=page.GROUP, metric="selection_rate", random_state=0
    )
    assert test.by_group_["n"].tolist() == [4, 6, 8]
