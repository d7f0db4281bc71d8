"""Reports among the outputs of a notebook that nbconvert writes in its two themes, on systems of two settings."""

import warnings
from pathlib import Path

import pytest

import skfairtest
from skfairtest import FairnessAudit, FairnessTest

pytestmark = pytest.mark.browser

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])
both_systems = pytest.mark.parametrize("scheme", ["light", "dark"])
#: The contrast (of WCAG 2) of all letters with what is behind them, as the browser paints both.
CONTRASTS = """
const rgba = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const light = colour => colour.slice(0, 3).map(x => x / 255)
    .map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
const behind = each => {
    for (; each; each = each.parentElement) {
        const colour = rgba(getComputedStyle(each).backgroundColor);
        if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
};
return [...document.querySelectorAll('.skfairtest *')]
    .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()))
    .filter(each => each.checkVisibility() && !each.closest('style'))
    .map(each => {
        const style = getComputedStyle(each), drawn = each.closest('svg');
        const a = light(rgba(drawn ? style.fill : style.color)), b = light(behind(drawn ? drawn.parentElement : each));
        return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), each.outerHTML.slice(0, 200)];
    });
"""
LIGHTNESS = """
return [...document.querySelectorAll('.skfairtest')]
    .map(each => getComputedStyle(each).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
"""
HEIGHTS = "return [...document.querySelectorAll('.skfairtest')].map(each => each.getBoundingClientRect().height)"
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"


@pytest.fixture(scope="session")
def outputs(compas):
    """An audit and a test, as a notebook shows them."""
    given = {"sensitive_features": compas.sensitive_features, "method": "asymptotic"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small groups, which the report names
        audit = FairnessAudit.from_predictions(compas.y_true, compas.y_pred, **given)
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["sex"]
    )
    return [audit._repr_html_(), test._repr_html_()]


@pytest.fixture(scope="session")
def notebooks(outputs, tmp_path_factory):
    """Pages that nbconvert writes of a notebook with both outputs, by theme."""
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    from nbformat import v4

    shown = [v4.new_output("display_data", {"text/html": html}) for html in outputs]
    notebook = v4.new_notebook(cells=[v4.new_code_cell("shown", outputs=shown)])
    folder, pages = tmp_path_factory.mktemp("notebooks"), {}
    for theme in ("light", "dark"):
        text, _ = nbconvert.HTMLExporter(theme=theme).from_notebook_node(notebook)
        pages[theme] = folder / f"{theme}.html"
        pages[theme].write_text(text, encoding="utf-8")
    return pages


@both_themes
@both_systems
def test_a_report_has_the_colours_of_its_notebook_whatever_those_of_the_system(browser, notebooks, theme, scheme):
    browser.open(notebooks[theme], scheme=scheme)
    browser.run(UNFOLD)
    for lightness in browser.run(LIGHTNESS):
        assert lightness == 3 * 255 if theme == "light" else lightness < 3 * 60
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) > 100
    assert [found for found in contrasts if found[0] < 4.5] == []


@pytest.mark.parametrize(
    ("kind", "dark"), [("vscode-light", False), ("vscode-dark", True), ("vscode-high-contrast", True)]
)
@both_systems
def test_an_editor_says_by_a_class_of_the_body_whether_it_is_dark(browser, outputs, tmp_path, kind, dark, scheme):
    path = tmp_path / "output.html"
    path.write_text(f'<!DOCTYPE html><body class="{kind}">{outputs[1]}</body>', encoding="utf-8")
    browser.open(path, scheme=scheme)
    assert [lightness < 3 * 60 for lightness in browser.run(LIGHTNESS)] == [dark]


@pytest.fixture(scope="session")
def gallery(tmp_path_factory):
    """Pages that nbconvert writes of the gallery's notebook, which is executed, by theme."""
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.read(Path(__file__).parents[2] / "examples" / "notebook.ipynb", as_version=4)
    folder, pages = tmp_path_factory.mktemp("gallery"), {}
    with pytest.MonkeyPatch.context() as patch:  # its kernel is another process
        patch.setenv("PYTHONPATH", str(Path(skfairtest.__file__).parents[1]))
        ExecutePreprocessor(timeout=600).preprocess(notebook, {"metadata": {"path": str(folder)}})
    for theme in ("light", "dark"):
        text, _ = nbconvert.HTMLExporter(theme=theme).from_notebook_node(notebook)
        pages[theme] = folder / f"{theme}.html"
        pages[theme].write_text(text, encoding="utf-8")
    return pages


@both_themes
def test_the_notebook_of_the_gallery_shows_reports_frames_and_pictures(browser, gallery, theme):
    browser.open(gallery[theme], scheme="light")
    assert browser.run("return document.querySelectorAll('.skfairtest').length") == 2
    assert browser.run("return document.querySelectorAll('.jp-OutputArea-output img').length") == 1
    assert browser.run("return document.querySelectorAll('.jp-OutputArea-output table.dataframe').length") == 3
    tables = CONTRASTS.replace(".skfairtest *", ".skfairtest *, table.dataframe *")
    assert [found for found in browser.run(tables) if found[0] < 4.5] == []


def test_what_a_cell_shows_is_short(browser, notebooks, outputs):
    assert max(len(html.encode()) for html in outputs) <= 60_000
    browser.open(notebooks["light"])
    assert max(browser.run(HEIGHTS)) <= 900
