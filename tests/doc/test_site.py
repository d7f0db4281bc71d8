"""What the site must hold, read from its sources: Sphinx itself checks the rest when it builds them."""

import ast
import re
from pathlib import Path

import pytest

import skfairtest
import skfairtest.datasets

ROOT = Path(__file__).parents[2]
DOC = ROOT / "doc"
#: Made by the build.
MADE = ("auto_examples", "generated", "_build")


def listed(module):
    """Names in the API reference below ``currentmodule:: module``."""
    text = (DOC / "api.rst").read_text(encoding="utf-8")
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
    entries = [body for name, body in zip(parts[1::2], parts[2::2], strict=True) if name == module]
    blocks = re.findall(r"^\.\. autosummary::\n((?:   .*\n|\n)+)", "".join(entries), flags=re.MULTILINE)
    return [line.strip() for block in blocks for line in block.splitlines() if re.fullmatch(r"   \w+", line)]


def test_the_page_of_metrics_has_every_name():
    from skfairtest.metrics import CRITERIA, RATES
    from skfairtest.metrics.names import OTHER_NAMES

    page = (DOC / "metrics.md").read_text(encoding="utf-8")
    page += (DOC / "methods.md").read_text(encoding="utf-8")
    names = {*RATES, *CRITERIA, *OTHER_NAMES} - {"g_mean", "geometric_mean_score"}
    assert not {name for name in names if f"`{name}`" not in page}


def sources():
    """Pages, by their names in a toctree."""
    found = [path for suffix in ("md", "rst") for path in DOC.rglob(f"*.{suffix}")]
    paths = [path.relative_to(DOC) for path in found]
    return {str(path.with_suffix("")): DOC / path for path in paths if path.parts[0] not in {*MADE, "_templates"}}


def children(name, path):
    """Pages in the toctrees of a page."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        for line in block.split("\n"):
            if line and not line.startswith(":"):
                yield (DOC / name).parent.joinpath(line).resolve().relative_to(DOC).as_posix()


def assigned(path, name):
    """Return what a module assigns to a name, without importing it."""
    tree = ast.parse((DOC / path).read_text(encoding="utf-8"))
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == name]
    return ast.literal_eval(values[0])


@pytest.mark.parametrize("module", [skfairtest, skfairtest.datasets], ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_api_reference_once(module):
    assert sorted(listed(module.__name__)) == sorted(name for name in module.__all__ if not name.startswith("__"))


def test_every_page_is_reachable_from_the_index():
    pages, seen, to_visit = sources(), set(), ["index"]
    while to_visit:
        page = to_visit.pop()
        if page not in seen and not page.startswith(MADE):
            seen.add(page)
            to_visit.extend(children(page, pages[page]))
    assert seen == set(pages)


def test_every_example_has_its_place_in_the_gallery():
    assert sorted(assigned("_gallery.py", "ORDER")) == sorted(
        path.name for path in (ROOT / "examples").glob("plot_*.py")
    )


def test_links_to_the_gallery_lead_to_examples():
    for path in sources().values():
        for name in re.findall(r"auto_examples/(\w+)\.rst", path.read_text(encoding="utf-8")):
            assert name == "index" or (ROOT / "examples" / f"{name}.py").exists(), f"{path.name}: {name}"


def test_the_page_of_reports_shows_every_report_that_the_build_makes():
    page = (DOC / "reports.md").read_text(encoding="utf-8")
    shown = re.findall(r":file: generated/static/reports/(\S+)\.txt", page)
    assert shown == [name for name, _ in assigned("_reports.py", "SHOWN")]


def test_the_first_page_has_the_install_line_the_picture_and_three_doors_in_this_order():
    page = (DOC / "index.md").read_text(encoding="utf-8")
    doors = re.findall(r"^## (I have a .*)$", page, flags=re.MULTILINE)
    assert doors == ["I have a model", "I have a file", "I have a question of statistics"]
    parts = ['python -m pip install ".[report]" && skfairtest demo', "(_static/report.png)", *doors]
    assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)


def test_readme_begins_with_a_question_and_a_picture_before_its_first_code():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.index("?") < readme.index("](doc/_static/report.png)") < readme.index("```sh")
    assert readme.count("\n") <= 120
