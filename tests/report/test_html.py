"""The page of an audit, read as a browser would."""

import base64
import hashlib
import importlib
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise

import pytest

from skfairtest import FairnessAudit
from skfairtest._utils.text import label, printable
from skfairtest.audit.report import audit_report
from skfairtest.report.html import fragment, page
from skfairtest.report.report import Report

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


def audit_html(record):
    return page(audit_report(record))


def audit_fragment(record):
    return fragment(audit_report(record))


WRITERS = {"page": audit_html, "fragment": audit_fragment}


class Page(HTMLParser):
    """The elements of a page with their attributes and texts; it fails where they are not nested properly."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.declarations = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.elements.append((tag, dict(attributes), len(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), len(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def handle_decl(self, declaration):
        self.declarations.append(declaration)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data!r}")

    def all(self, *tags):
        return [attributes for tag, attributes, _ in self.elements if tag in tags]

    def words(self):
        return "".join(text for tag, text in self.texts if tag not in ("style", "script"))


@pytest.fixture(scope="module", params=WRITERS)
def write(request):
    return WRITERS[request.param]


@pytest.fixture(scope="module")
def texts(write, hostile_record, compas_record):
    """What is written of two records, once."""
    return {"hostile": write(hostile_record), "compas": write(compas_record)}


@pytest.fixture(scope="module", params=["hostile", "compas"])
def any_page(request, texts):
    return Page(texts[request.param])


@pytest.fixture(scope="module")
def hostile_page(texts):
    return Page(texts["hostile"])


@pytest.fixture(scope="module")
def compas_page(texts):
    return Page(texts["compas"])


@pytest.fixture(scope="module")
def whole(compas_record):
    return audit_html(compas_record)


def test_nothing_comes_from_outside_and_nothing_runs(any_page):
    page = any_page
    tags = {tag for tag, _, _ in page.elements}
    assert page.all("script") in ([], [{}])  # the page's own, of which the policy has the hash
    assert not tags & {"img", "iframe", "object", "embed", "form", "base", "video", "audio", "image"}
    for tag, attributes, _ in page.elements:
        for key, value in attributes.items():
            assert not key.startswith("on"), (tag, key)
            assert key not in ("src", "srcset", "action", "formaction", "background", "poster", "data")
            if key == "href":
                assert value == "data:," or value.startswith("#")
            if key == "style":
                assert not re.search(r"url\((?!#)|import|expression", value)
            if key not in ("aria-label", "content", "datetime"):
                assert "evil" not in (value or "")
    for style in (text for tag, text in page.texts if tag == "style"):
        assert not re.search(r"url\(|@import|evil", style)


def test_ids_are_unique_and_every_link_and_label_finds_its_target(any_page):
    page = any_page
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert not [each for each, count in Counter(ids).items() if count > 1]
    for _, attributes, _ in page.elements:
        targets = attributes.get("aria-labelledby", "").split()
        if attributes.get("href", "").startswith("#"):
            targets.append(attributes["href"][1:])
        assert set(targets) <= set(ids)


def test_tables_and_headings_can_be_walked_through(any_page):
    page = any_page
    assert page.all("table")
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(attributes.get("scope") in ("col", "row", "rowgroup") for attributes in page.all("th"))
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(min(levels)) == 1
    assert levels[0] == min(levels)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    drawings = [each for each in page.all("div") if each.get("class") == "drawing"]
    assert len(drawings) == len(page.all("svg"))
    assert all(each["role"] == "img" and each["aria-label"] for each in drawings)


def test_every_hostile_name_is_text_and_nothing_else(hostile, hostile_page, hostile_record):
    said = hostile_page.words()
    for part in hostile_record.parts:
        for group in part.by_group["group"]:
            assert printable(label(group)) in said
    for name in hostile[:-2]:
        assert printable(name) in said
    assert "{{7*7}} {% raw %}" in said
    assert not any(c in said for c in "\x1b\x00\u202e\ud800\r")


def test_a_name_is_isolated_from_the_writing_around_it(hostile_page):
    names = {text for tag, text in hostile_page.texts if tag == "bdi"}
    assert "\u05e9\u05dc\u05d5\u05dd" in names
    assert "x" * 300 in names


def test_a_page_says_what_it_is_and_in_which_language(compas_record, whole):
    page = Page(whole)
    assert page.declarations == ["DOCTYPE html"]
    assert page.all("html") == [{"lang": "en"}]
    assert ("title", compas_record.title) in page.texts
    assert {tag for tag, _, _ in page.elements} >= {"header", "main", "nav", "section"}
    policy = next(each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == "'unsafe-inline'"
    assert rules["img-src"] == "data:"
    (script,) = (text for tag, text in page.texts if tag == "script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    own = resources.files("skfairtest.report").joinpath("templates/page.js").read_text(encoding="utf-8")
    assert script == own
    skip = page.all("a")[0]
    assert skip == {"class": "skip", "href": "#audit-main"}


def test_every_comparison_and_every_value_is_in_a_table(compas_record, whole):
    compas_page = Page(whole)
    rows = sum(len(part.comparisons) for part in compas_record.parts)
    groups = sum(len(set(part.by_group["group"])) for part in compas_record.parts)
    excluded = sum(len(part.excluded) for part in compas_record.parts)
    headers = [each for each in compas_page.all("th") if each["scope"] == "row"]
    values = sum(len(part.by_group) for part in compas_record.parts)
    assert len(headers) == groups + rows + values + excluded  # the grid has the groups, too
    marked = sum(attributes.get("class") == "concern" for attributes in compas_page.all("tr"))
    assert marked == compas_record.n_found > 0


def test_a_fragment_reaches_nothing_outside_of_it(compas_record):
    text = audit_fragment(compas_record)
    page = Page(text)
    tags = {tag for tag, _, _ in page.elements}
    assert not tags & {"html", "head", "body", "meta", "link", "title", "main", "header", "h1"} - {"title"}
    assert page.elements[0][:2] == ("div", {"class": "skfairtest fragment"})
    assert sum(depth == 0 for _, _, depth in page.elements) == 1
    (style,) = [text for tag, text in page.texts if tag == "style"]
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/|@(?:media|container)[^{]+\{", "", style))
    assert selectors
    assert all(part.strip().startswith(".skfairtest") for each in selectors for part in outer_commas(each))


def outer_commas(selector):
    """Split a selector at the commas that stand in no parentheses, however deep these are."""
    parts, depth = [""], 0
    for letter in selector:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def test_selectors_are_split_at_outer_commas_only():
    assert outer_commas(".a :is(b:has(c, d), e), f") == [".a :is(b:has(c, d), e)", " f"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_what_the_page_needs_is_named_where_it_is_missing(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "skfairtest.report.html")
    with pytest.raises(ImportError, match=rf"the HTML report needs {missing}: python -m pip install"):
        importlib.import_module("skfairtest.report.html")


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """The ratio of WCAG 2."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_text_and_drawings_stand_out_from_what_is_behind_them(whole, place):
    colours = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", rules)) for rules in re.findall(r"\{([^{}]*)\}", whole)]
    shown = [found for found in colours if "ink" in found][place]
    for text in ("ink", "grey", "link"):
        for behind in ("paper", "tint", "alert"):
            assert contrast(shown[text], shown[behind]) >= 4.5, (text, behind)
    for mark in ("blue", "orange", "grey"):
        assert contrast(shown[mark], shown["paper"]) >= 3, mark
    assert contrast(shown["bar"], shown["orange"]) >= 1.2


def test_small_numbers_stay_on_one_line():
    text = page(Report(title="Title", verdict="<b> p = 3.0e-44, -1", findings=("2e-5 & p = 0.005.", "p < 1e-300.")))
    assert '&lt;b&gt; <span class="whole">p = 3.0e-44</span>, -1' in text
    assert '<li><span class="whole">2e-5</span> &amp; <span class="whole">p = 0.005</span>.</li>' in text
    assert '<li><span class="whole">p &lt; 1e-300</span>.</li>' in text


def test_a_name_is_divided_between_its_words():
    assert "Race/<wbr>Ethnicity" in audit_html(
        FairnessAudit.from_predictions(
            None, [0, 1] * 20, sensitive_features={"Race/Ethnicity": list("ab") * 20}, random_state=0
        ).record_
    )


def test_a_page_without_long_tables_has_no_script():
    text = page(Report(title="Title", verdict="Said."))
    assert "<script" not in text
    assert "script-src" not in text


def test_a_folded_part_is_an_annex():
    report = Report(
        title="Title", verdict="Said.",
        parts=(Report(title="Aside", findings=("Folded.",), folded=True), Report(title="Next", findings=("Open.",))),
    )  # fmt: skip
    found = Page(page(report))
    assert [each for each in found.all("details") if each.get("class") == "annex"] == [{"class": "annex"}]
    assert '<div class="skfairtest all">' in page(report, details=True)
    assert '<div class="skfairtest">' in page(report)
