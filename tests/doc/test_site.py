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
    tree = ast.parse((DOC / "_gallery.py").read_text(encoding="utf-8"))
    order = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(order) == sorted(path.name for path in (ROOT / "examples").glob("plot_*.py"))


def test_links_to_the_gallery_lead_to_examples():
    for path in sources().values():
        for name in re.findall(r"auto_examples/(\w+)\.rst", path.read_text(encoding="utf-8")):
            assert name == "index" or (ROOT / "examples" / f"{name}.py").exists(), f"{path.name}: {name}"
