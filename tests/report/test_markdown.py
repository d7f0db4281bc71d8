"""The section for a model card, rendered as a code host would."""

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from skfairtest._utils.text import label, printable
from skfairtest.audit.report import audit_report
from skfairtest.report.text import escaped, markdown

TAGS = {"h2", "h3", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}


def audit_markdown(record):
    return markdown(audit_report(record), details=True)


class Words(HTMLParser):
    """Tags and text of what was rendered."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.said, self.cells = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert {key for key, _ in attributes} <= {"style"}  # the alignment of a column

    def handle_data(self, data):
        self.said.append(data)


def rendered(source, html):
    parser = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    return Words(parser.render(source))


@pytest.fixture(scope="module")
def section(hostile_record):
    return audit_markdown(hostile_record)


@pytest.mark.parametrize("html", [True, False])
def test_every_hostile_name_is_text_and_nothing_else(hostile, hostile_record, section, html):
    found = rendered(section, html)
    assert found.tags == TAGS
    said = "".join(found.said).replace("\u2060", "")
    for part in hostile_record.parts:
        for group in part.by_group["group"]:
            assert printable(label(group)) in said
    for name in hostile[:-2]:
        assert printable(name) in said


@pytest.mark.parametrize("html", [True, False])
def test_a_name_alone_is_text_wherever_it_stands(hostile, html):
    for name in hostile:
        shown = printable(label(name))
        for form, tags in (
            ("## {}", {"h2"}),
            ("| |\n| --- |\n| {} |", {"table", "thead", "tbody", "tr", "th", "td"}),
        ):
            found = rendered(form.format(escaped(label(name))), html)
            assert found.tags == tags
            said = "".join(found.said).replace("\u2060", "")
            assert " ".join(said.split()) == " ".join(shown.split())


def test_rows_have_as_many_cells_as_their_table_has_columns(section):
    tables = re.findall(r"(?:^\|.*\|\n)+", section, flags=re.M)
    assert tables
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1


def test_addresses_and_mentions_are_not_made_links():
    written = escaped("http://a.example www.a.example me@a.example @octocat")
    assert not re.search(r"(?<!\\)://", written)
    assert "www.a" not in written
    assert "@a" not in written
    assert "@o" not in written


def test_templates_of_static_sites_find_nothing():
    written = escaped("{{7*7}} {% raw %}")
    assert not re.search(r"\{\{|\}\}|\{%|%\}", written)
