"""What an import brings: of the package alone nothing, of its names the core dependencies only."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import skfairtest

ROOT = Path(__file__).parents[1]
EXTRAS = {"matplotlib", "jinja2", "rich", "typer", "polars", "torch"}
CORE = "import fairlearn.metrics, joblib, narwhals, numpy, pandas, scipy.stats, sklearn.base"


def modules_after(code):
    """The modules that a fresh interpreter holds after running `code`."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}; {report}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(finished.stdout))


def packages_after(code):
    """The same, top-level ones only."""
    return {name.partition(".")[0] for name in modules_after(code)}


def test_importing_the_package_imports_no_library():
    brought = packages_after("import skfairtest; skfairtest.__version__; dir(skfairtest)") - {"skfairtest"}
    assert brought <= {*sys.stdlib_module_names, *packages_after("pass")}


def test_its_names_bring_no_test_tool_and_no_extra_that_the_core_does_not_bring():
    added = f"{CORE}; import sys; sys.modules.update(dict.fromkeys('core ' + name for name in list(sys.modules)))"
    imported = packages_after(f"{added}; from skfairtest import *; import skfairtest.datasets")
    core = {name.removeprefix("core ") for name in imported if name.startswith("core ")}
    assert "numpy" in imported
    assert "pytest" not in imported
    assert imported & EXTRAS <= core


def test_a_test_of_groups_brings_neither_drawings_nor_what_is_slow_to_import_and_seldom_used():
    modules = modules_after("from skfairtest import FairnessTest")
    for name in ("scipy.signal", "skfairtest.displays", "skfairtest.individual", "skfairtest.model_selection"):
        assert name not in modules


def test_type_checkers_find_every_name_where_it_is_imported_from():
    tree = ast.parse(Path(skfairtest.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert {*seen, "__version__"} == set(skfairtest.__all__)
    for name, module in seen.items():
        assert getattr(skfairtest, name) is getattr(importlib.import_module(module), name), name


def test_a_name_that_is_not_there_is_an_error_as_of_any_module():
    with pytest.raises(AttributeError, match="module 'skfairtest' has no attribute 'FairnesTest'"):
        skfairtest.FairnesTest  # noqa: B018
    with pytest.raises(ImportError, match="FairnesTest"):
        from skfairtest import FairnesTest  # noqa: F401


def test_every_public_name_exists_once():
    assert len(set(skfairtest.__all__)) == len(skfairtest.__all__)
    for name in skfairtest.__all__:
        assert hasattr(skfairtest, name), name
