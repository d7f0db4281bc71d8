"""The report of an audit in a real browser."""

import re

import pytest

pytestmark = pytest.mark.browser

#: The longest one takes its time.
fair = pytest.param("fair", marks=pytest.mark.slow)
every_page = pytest.mark.parametrize("name", ["compas", "hostile", fair, "notebook"])
light_and_dark = pytest.mark.parametrize("scheme", ["light", "dark"])

UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"
UNFOLDED = """
return [...document.querySelectorAll('details td')]
    .filter(each => each.checkVisibility({contentVisibilityAuto: true})).length
"""
#: What no element may scroll within, and is wider than the window.
WIDER = """
return [...document.querySelectorAll('.skfairtest *')]
    .filter(each => !each.closest('.scroll, pre') && each.getBoundingClientRect().right > arguments[0] + 1)
    .map(each => each.outerHTML)
"""
BACKGROUND = "return getComputedStyle(document.querySelector('.skfairtest')).backgroundColor"


@every_page
@light_and_dark
def test_it_is_shown_without_an_error_and_asks_for_nothing_but_itself(browser, pages, name, scheme):
    asked, console = browser.open(pages[name], scheme=scheme)
    assert [url for url in asked if not url.startswith("data:")] == [pages[name].as_uri()]
    assert console == []
    assert browser.run("return document.scripts.length") == (name != "notebook")
    assert browser.run("return document.querySelector('.skfairtest .bar').getBoundingClientRect().height") > 10


TRIM = "document.querySelectorAll('tbody').forEach(each => [...each.rows].slice(2).forEach(row => row.remove()))"
hostile_page, notebook = (pytest.param(name, marks=pytest.mark.slow) for name in ("hostile", "notebook"))


@pytest.mark.parametrize("name", ["compas", hostile_page, fair, notebook])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_is_accessible(browser, pages, name, scheme, thorough):
    browser.open(pages[name], scheme=scheme)
    if not thorough:  # rows of a table are alike
        browser.run(TRIM)
    if name != "fair":  # whose table of 780 rows is like all others, and takes minutes
        browser.run(UNFOLD)
    assert browser.violations() == []


@every_page
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser, pages, name, width):
    browser.open(pages[name], width=width)
    browser.run(UNFOLD)
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert browser.run(WIDER, width) == []


SMALL = """
return [...document.querySelectorAll('.skfairtest *')]
    .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()))
    .filter(each => each.checkVisibility() && each.getBoundingClientRect().height > 2)
    .filter(each => {
        // Letters in a drawing are as large as they are shown, and not as they were drawn.
        const matrix = each.getScreenCTM ? each.getScreenCTM().a : 1;
        return matrix * parseFloat(getComputedStyle(each).fontSize) < 11;
    })
    .map(each => each.outerHTML.slice(0, 200))
"""


@every_page
@pytest.mark.parametrize("width", [1280, 390])
def test_no_text_is_too_small_to_read(browser, pages, name, width):
    browser.open(pages[name], width=width)
    browser.run(UNFOLD)
    assert browser.run("return document.querySelectorAll('.bar').length") > 5
    assert browser.run(SMALL) == []


def test_dark_is_dark_and_paper_is_white(browser, pages):
    colours = []
    for settings in ({}, {"scheme": "dark"}, {"scheme": "dark", "media": "print"}):
        browser.open(pages["compas"], **settings)
        colours.append(browser.run(BACKGROUND))
    light, dark, paper = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert light == paper == 3 * 255
    assert dark < 3 * 60


@pytest.mark.parametrize("name", ["compas", "hostile", "details"])
def test_what_is_folded_is_printed_only_on_request(browser, pages, name):
    browser.open(pages[name])
    assert browser.run(UNFOLDED) == 0
    browser.open(pages[name], media="print")
    cells = browser.run("return document.querySelectorAll('details td').length")
    assert cells
    assert browser.run(UNFOLDED) == (cells if name == "details" else 0)


def test_keys_reach_the_verdict_and_the_tables(browser, pages):
    browser.open(pages["compas"])
    browser.run("document.querySelector('.skip').focus()")
    assert browser.run("return document.activeElement.getBoundingClientRect().left") >= 0
    browser.run("document.querySelector('.skip').click()")
    assert browser.run("return location.hash") == "#audit-main"
    assert browser.run("return document.querySelectorAll('.scroll:not([tabindex])').length") == 0


def test_a_notebook_keeps_its_own_style(browser, pages):
    browser.open(pages["notebook"], scheme="dark")
    own = "return getComputedStyle(document.querySelector('#own td'))[arguments[0]]"
    assert browser.run(own, "borderBottomWidth") == "0px"
    assert browser.run(own, "color") == "rgb(0, 0, 0)"
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
