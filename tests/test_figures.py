"""Figures and sentences of README, the changelog and the documentation, against what is stored."""

import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.common import cells as designs
from benchmarks.common import drawings, storage
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce._expected import NOT, READING, inventories, totals, verdicts
from benchmarks.reproduce._pages import totals_sentence

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "doc").rglob("*.md")])


def words_of(page):
    return re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))


def of_two_models(kind, figure, method):
    cells = storage.load(storage.RESULTS).items()
    return [cell["methods"][method][figure] for name, cell in cells if name.startswith(f"two models/{kind}")]


def sizes_of_two_models():
    for method in ("paired", "labels permuted", "predictions swapped", "normal alone"):
        yield f"{max(of_two_models('equal', 'size', method)):.3f}".removeprefix("0")


def share(value):
    return f"{value:.2f}".removeprefix("0")


def power_of_two_models():
    for method in ("paired", "two independent tests"):
        found = of_two_models("other changes", "power", method)
        yield from (share(min(found)), share(max(found)))


def designs_of(method):
    records = storage.load(storage.RESULTS)
    (_, rows), *_ = drawings.panels(designs.all_cells(), records, drawings.sizes)
    bad = {row.method: (row.is_bad.sum(), len(row.values)) for row in rows}
    return ["{} of {}".format(*bad[method])]


#: Sentences with figures: the page, the words with a group for each figure, and the figures that are stored.
SENTENCES = [
    (
        "doc/methods.md",
        r"are at most (\.\d+) at a level of \.05 \(3,000 data sets each\); permuting labels with Welch's error reaches "
        r"(\.\d+), swapping the two predictions within people (\.\d+), and the normal distribution alone (\.\d+)",
        sizes_of_two_models,
    ),
    (
        "doc/methods.md",
        r"its power is (\.\d+) to (\.\d+), that of two independent tests (\.\d+) to (\.\d+)",
        power_of_two_models,
    ),
    pytest.param(
        "doc/validity.md",
        r"The default for rates \(exact\) is wrong too often in (\d+ of \d+) designs",
        lambda: designs_of("exact"),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(
    ("page", "words", "figures"), SENTENCES, ids=lambda value: None if callable(value) else value[:30]
)
def test_a_sentence_has_the_stored_figures(page, words, figures):
    found = re.search(words, words_of(ROOT / page))
    assert found, "the sentence is gone: take it from the list, or mend its pattern"
    assert list(found.groups()) == list(figures())


def test_totals_of_published_results_are_those_of_the_stored_figures():
    """Wherever a page counts reproduced numbers or statements, the count is one that a page of results is made of."""
    documents = {name: reproduce.stored(name) for name in reproduce.SOURCES}
    found = verdicts(documents)
    parts = [found, *([each for each in found if each.source == source] for source in inventories())]
    for document in documents.values():
        names = {row.get("answers") for row in document["rows"]}
        parts.append(
            [
                each
                for each in found
                if each.source == document["source"] and each.name.removesuffix(" (deviation)") in names
            ]
        )
    known = {match for part in parts for match in re.findall(r"\d+ of \d+ (?:number|statement)", totals_sentence(part))}
    assert totals(found)["numbers"][NOT] + totals(found)["numbers"][READING] > 0
    for page in PAGES:
        counted = set(re.findall(r"\d+ of \d+ (?:number|statement)", words_of(page)))
        assert counted <= known, page.name


def test_every_design_is_in_at_most_one_claim_and_claims_with_a_condition_say_why():
    for cell in designs.all_cells():
        assert sum(bound.about(cell) for bound in designs.BOUNDS.values()) <= 1, cell.name
    for bound in designs.BOUNDS.values():
        left = [cell for cell in designs.all_cells() if bound.about(cell) and not bound.where(cell)]
        assert bool(left) == bool(bound.why), bound.says


def test_citation_file_lists_the_papers_that_reports_name_and_those_of_the_methods():
    entries = (ROOT / "CITATION.cff").read_text(encoding="utf-8").split("  - type: ")[1:]
    listed = [
        (set(re.findall(r"family-names: ([^,}\n]+)", entry)), re.search(r"year: (\d+)", entry)[1]) for entry in entries
    ]
    methods = tomllib.loads((ROOT / "skfairtest/audit/methods.toml").read_text(encoding="utf-8"))["method"]
    cited = re.findall(
        r"((?:[A-Z]\.[- ]?)+[^()]{2,160}?) \((\d{4})\)", "\n".join(method.get("citation", "") for method in methods)
    )
    assert len(cited) > 20
    for names, year in cited:
        assert any(year == own and all(name in names for name in authors) for authors, own in listed), (names, year)
    for name in ("Shah", "Maity", "Romano", "Turner", "McCartan"):  # of tests whose reports have sentences of their own
        assert any(name in authors for authors, _ in listed), name
