"""The sources, reproduced: figures are stored, pages are made of them, and a number that is off is said."""

from dataclasses import replace

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce._expected import verdicts
from benchmarks.reproduce._pages import inventory_file, readme_words, totals_sentence, with_words
from benchmarks.reproduce._rows import Found, Row, said

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_the_pages_are_those_of_the_stored_figures():
    documents = {name: reproduce.stored(name) for name in reproduce.SOURCES}
    found = verdicts(documents)
    for page, text in reproduce.pages_of(documents, found).items():
        assert (reproduce.PAGES / f"{page}.md").read_text() == text
    assert (reproduce.PAGES / "inventory.csv").read_text() == inventory_file(found)
    readme = reproduce.README.read_text()
    assert readme == with_words(readme)
    assert readme_words() in readme


def test_what_is_stored_is_what_comes_out():
    stored = reproduce.stored("fairlearn_metrics")
    found = reproduce.module_of("fairlearn_metrics").run(quick=False)
    assert [row.what for row in found.rows] == [row["what"] for row in stored["rows"]]
    for row, old in zip(found.rows, stored["rows"], strict=True):
        if row.other is not None:
            assert row.agrees
            assert row.other == pytest.approx(old.get("other"), rel=1e-6)
        assert row.answers == old.get("answers", "")
        near = old["ours"] if isinstance(row.ours, str) else pytest.approx(old["ours"], rel=1e-6, abs=1e-9)
        assert row.ours == near
    for title, (_, rows) in found.tables.items():
        assert rows == stored["tables"][title]["rows"]


def test_a_number_that_is_too_far_or_no_longer_reproduced_is_said_and_fails(monkeypatch, capsys):
    def run(*, quick):
        parity = Row("parity", 0.3, "demographic_parity_difference/value")
        return Found([Row("near", 0.504, other=0.5, within=0.005), Row("far", 0.6, other=0.5, within=0.05), parity])

    monkeypatch.setattr(reproduce.module_of("fairlearn_metrics"), "run", run)
    assert reproduce.main(["fairlearn_metrics", "--quick"]) == 1
    out = capsys.readouterr().out
    assert "fairlearn_metrics: far: another computation 0.5, ours 0.6, allowed 0.05" in out
    assert "fairlearn_metrics: demographic_parity_difference/value: published 0.25, ours 0.3" in out
    assert "near" not in out


@pytest.mark.exhaustive  # .ci/run makes it
def test_a_quick_run_checks_all_sources_and_writes_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "PAGES", tmp_path)
    monkeypatch.setattr(reproduce, "STATIC", tmp_path)
    monkeypatch.setattr(reproduce, "README", tmp_path / "README.md")
    stored = {path: path.read_bytes() for path in reproduce.RESULTS.iterdir()}
    assert reproduce.main(["all", "--quick"]) == 0
    assert stored == {path: path.read_bytes() for path in reproduce.RESULTS.iterdir()}
    assert not list(tmp_path.iterdir())


def documented(*rows, what="A source"):
    return {"what": what, "source": "fairlearn", "rows": reproduce.stored_rows(rows), "facts": {}, "tables": {}}


def test_the_totals_count_each_claim_once_and_the_list_has_what_is_not_reproduced():
    near, far = (
        Row("", value, f"demographic_parity_{kind}/value") for value, kind in ((0.25, "difference"), (1, "ratio"))
    )
    rows = [
        near,
        far,
        replace(far, ours=2 / 3, reading="another"),
        Row("own", 0.3),
        said("", False, answers="odds.larger"),
    ]
    found = [claim for claim in verdicts({"one": documented(*rows)}) if claim.source == "fairlearn"]
    assert totals_sentence(found) == (
        "Reproduced here: 1 of 7 numbers (1 only in another reading, 5 not attempted) and 0 of 14 statements "
        "(1 not, 13 not attempted)."
    )
