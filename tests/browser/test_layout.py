"""What is where on the page of an audit: on screens of two widths, and on paper."""

import re
import unicodedata
from functools import cache
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

from skfairtest import impact_table
from skfairtest.audit.impact_report import impact_report
from skfairtest.report.html import page

pytestmark = pytest.mark.browser

#: The longest ones take their time.
three, fair = (pytest.param(name, marks=pytest.mark.slow) for name in ("three", "fair"))
every_page = pytest.mark.parametrize("name", ["compas", three, "hostile", fair])

UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"
#: Regions that scroll: how far, and whether that can be seen, reached and named.
SCROLLING = """
return [...document.querySelectorAll('.scroll, pre')]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => ({
        shadow: getComputedStyle(each).backgroundImage.split('linear-gradient').length - 1,
        overflow: getComputedStyle(each).overflowX, tab: each.tabIndex, name: each.ariaLabel,
        fits: each.getBoundingClientRect().right <= innerWidth + 1}))
"""
HEADINGS = "return [...document.querySelectorAll('h1, h2, h3, h4')].map(each => +each.tagName[1])"
#: Tops of what a reader meets in this order, from that of the document.
TOPS = """
return arguments[0].map(each => document.querySelector(each).getBoundingClientRect().top + scrollY)
"""
BOTTOMS = """
return arguments[0].flatMap(each => [...document.querySelectorAll(each)])
    .map(each => each.getBoundingClientRect().bottom + scrollY)
"""
ROWS = """
const table = document.querySelectorAll('table.long')[arguments[0]];
return [...table.tBodies[0].rows].filter(each => !each.hidden)
    .map(each => [...each.cells].map(cell => cell.firstChild?.textContent ?? ''))
"""
TYPE = """
const [words, significant] = document.querySelectorAll('.tools input');
words.value = arguments[0];
words.dispatchEvent(new Event('input'));
if (significant.checked !== arguments[1]) significant.click();
"""
SHOWN = """
const rows = [...document.querySelectorAll('table.long tbody tr')];
return rows.filter(each => each.checkVisibility({contentVisibilityAuto: true}))
    .map(each => [each.className, each.closest('table').caption.textContent + ' ' + each.textContent])
"""
SORT = """
const head = document.querySelectorAll('table.long')[0].tHead.rows[0].cells[arguments[0]];
head.querySelector('button').click();
return head.ariaSort;
"""


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("name", ["compas", "three", fair])
@pytest.mark.parametrize(("width", "height", "rows"), [(1280, 900, 5), (390, 844, 2)], ids=["desktop", "phone"])
def test_the_first_screen_has_the_verdict_and_the_grid(browser, pages, name, width, height, rows):
    browser.open(pages[name], width=width)
    headline, verdict, *groups = browser.run(BOTTOMS, [".said", ".verdict", "table.grid tbody tr"])
    assert 50 < headline < verdict < height
    assert sum(bottom < height for bottom in groups) >= rows


@every_page
def test_what_is_wider_than_a_phone_scrolls_visibly_and_can_be_reached(browser, pages, name):
    browser.open(pages[name], width=390)
    browser.run(UNFOLD)
    found = browser.run(SCROLLING)
    assert found
    for region in found:
        assert region["fits"]
        assert region["overflow"] == "auto"
        assert region["tab"] == 0
        assert region["name"]
        assert region["shadow"] >= 2


@every_page
@pytest.mark.parametrize("width", [1280, 390])
def test_reading_order_is_the_order_on_the_screen(browser, pages, name, width):
    browser.open(pages[name], width=width)
    levels = browser.run(HEADINGS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    tops = browser.run(TOPS, ["h1", ".verdict", ".contents", "nav ~ section"])
    assert tops == sorted(tops)
    sections = browser.run(
        "return [...document.querySelectorAll('section')].map(each => each.getBoundingClientRect().top)"
    )
    assert sections == sorted(sections)


# On paper -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(browser, pages):
    """Print a page as it is opened, once on each paper."""

    @cache
    def pdf(name, inches=(8.5, 11)):
        browser.open(pages[name])
        return browser.pdf(inches)

    return pdf


paper = pytest.mark.parametrize("inches", [(8.5, 11), (8.27, 11.69)], ids=["letter", "a4"])


@paper
@pytest.mark.parametrize("name", ["compas", "three", fair])
def test_a_report_is_printed_on_five_pages(printed, name, inches):
    assert 2 <= pages_of(printed(name, inches)) <= 5


def test_all_of_it_is_printed_on_request(printed):
    assert pages_of(printed("details")) > pages_of(printed("compas")) + 3


def test_what_a_reader_unfolds_is_printed(browser, pages, printed):
    reader = pytest.importorskip("pypdf", reason="pypdf, which reads printed pages, is not installed").PdfReader

    def letters(pdf):
        return sum(len(page.extract_text()) for page in reader(BytesIO(pdf)).pages)

    browser.open(pages["compas"])
    browser.run("document.querySelectorAll('details.annex').forEach(each => { each.open = true })")
    assert letters(browser.pdf()) > letters(printed("compas"))


def test_paper_says_what_it_leaves_out_and_screens_do_not(browser, pages):
    shown = "return document.querySelector('.short').checkVisibility()"
    for name, media, said in (("three", "", False), ("three", "print", True), ("details", "print", False)):
        browser.open(pages[name], media=media)
        assert browser.run(shown) is said


def test_printed_pages_are_numbered_and_no_heading_is_left_alone(browser, pages, printed):
    reader = pytest.importorskip("pypdf", reason="pypdf, which reads printed pages, is not installed").PdfReader
    browser.open(pages["three"])
    headings = set(browser.run("return [...document.querySelectorAll('h2, h3')].map(each => each.textContent)"))
    found = [each.extract_text() for each in reader(BytesIO(printed("three"))).pages]
    for number, text in enumerate(found, 1):
        # The number may stand on the line of what is printed before or after it.
        before, numbered, after = text.partition(f"Page {number} of {len(found)}")
        assert numbered
        lines = [line.strip() for line in f"{before}\n{after}".splitlines() if line.strip()]
        assert lines[-1] not in headings


# Sorting and filtering ----------------------------------------------------------------------


def test_without_its_script_a_page_shows_all_and_no_tools(browser, pages, tmp_path):
    text = pages["three"].read_text(encoding="utf-8")
    path = tmp_path / "blocked.html"
    path.write_text(text.replace("<script>", "<script>0;"), encoding="utf-8")  # no longer what the policy allows
    _, console = browser.open(path)
    assert len(console) == 1
    assert "Content Security Policy" in console[0]["message"]
    browser.run(UNFOLD)
    assert not browser.run("return document.querySelector('.tools').checkVisibility()")
    everything = len(browser.run(SHOWN))
    browser.open(pages["three"])
    browser.run(UNFOLD)
    assert browser.run("return document.querySelector('.tools').checkVisibility()")
    assert len(browser.run(SHOWN)) == everything > 400


def test_a_column_is_sorted_up_and_down_and_as_it_was(browser, pages):
    browser.open(pages["three"])
    written = browser.run(ROWS, 0)
    heads = browser.run(
        "return [...document.querySelectorAll('table.long')[0].tHead.rows[0].cells].map(e => e.textContent)"
    )
    place = heads.index("p")
    assert browser.run(SORT, place) == "ascending"
    up = [float(row[place].lstrip("<")) for row in browser.run(ROWS, 0)]
    assert up == sorted(up)
    assert browser.run(SORT, place) == "descending"
    down = [float(row[place].lstrip("<")) for row in browser.run(ROWS, 0)]
    assert down == sorted(up, reverse=True)
    assert browser.run(SORT, place) is None
    assert browser.run(ROWS, 0) == written
    assert browser.run(SORT, 0) == "ascending"
    names = [row[0] for row in browser.run(ROWS, 0)]
    assert names == sorted(names, key=str.casefold)
    assert browser.run("return document.querySelectorAll('th[aria-sort]').length") == 1


def test_rows_are_found_by_words_and_by_significance(browser, pages, compas_three):
    browser.open(pages["three"])
    assert browser.run(SHOWN) == []
    browser.run(TYPE, "Accuracy asian", False)
    found = browser.run(SHOWN)
    assert found
    assert all("accuracy" in text.lower() and "asian" in text.lower() for _, text in found)
    rows = [
        row
        for part in compas_three.parts
        for row in part.comparisons.to_dict("records")
        if row["metric"] == "accuracy" and "asian" in f"{row['group']} {row['other']} by {part.feature}".lower()
    ]
    assert len(found) == len(rows)
    assert browser.run("return document.querySelector('output').textContent") == f"{len(rows)} of 425 comparisons"
    browser.run(TYPE, "", True)
    found = browser.run(SHOWN)
    assert len(found) == compas_three.n_found
    assert {name for name, _ in found} == {"concern"}
    browser.run(TYPE, "", False)
    assert browser.run(SHOWN) == []
    assert browser.run("return document.querySelector('output').textContent") == ""


def test_a_filter_hides_nothing_on_paper(browser, pages, printed):
    everything = pages_of(printed("details"))
    browser.open(pages["details"])
    browser.run(TYPE, "nothing has this name", False)
    assert pages_of(browser.pdf()) == everything


def test_keys_sort_and_filter(browser, pages):
    browser.open(pages["three"])
    browser.run(UNFOLD)
    reached = browser.run(
        "return [...document.querySelectorAll('th button, .tools input')]"
        ".every(each => { each.focus(); return document.activeElement === each; })"
    )
    assert reached
    assert browser.run("return document.querySelectorAll('table.long thead th:not(:has(button))').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_a_sorted_and_filtered_page_is_accessible(browser, pages, scheme):
    browser.open(pages["three"], width=390, scheme=scheme)
    browser.run(TYPE, "race", True)
    browser.run(SORT, 1)
    assert browser.violations() == []


def test_an_impact_table_of_seven_races_and_two_sexes_is_one_sheet_of_paper(browser, tmp_path):
    """As New York's audits have them: sex, race, and both crossed, with the unknown."""
    reader = pytest.importorskip("pypdf", reason="pypdf, which reads printed pages, is not installed").PdfReader
    rng, n = np.random.default_rng(0), 2000
    races = [
        "White", "Black or African American", "Hispanic or Latino", "Asian", "Native American or Alaska Native",
        "Native Hawaiian or Pacific Islander", "Two or More Races", None,
    ]  # fmt: skip
    people = {"sex": rng.choice(["Female", "Male", None], n), "race": rng.choice(races, n)}
    table = impact_table((rng.random(n) < 0.3).astype(int), sensitive_features=people)
    document = impact_report(table, title="Impact table of hired.csv", about="2,000 people.")
    path = tmp_path / "impact.html"
    path.write_text(page(document, landscape=True), encoding="utf-8")
    browser.open(path)
    for inches in ((8.27, 11.69), (8.5, 11)):
        (only,) = reader(BytesIO(browser.pdf(inches))).pages
        assert only.mediabox.width > only.mediabox.height
        text = " ".join(unicodedata.normalize("NFKC", only.extract_text()).split())  # letters come as ligatures
        assert "Male, Native Hawaiian or Pacific Islander" in text
        assert "counted as unknown" in text
