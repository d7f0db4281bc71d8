"""``import skfairtest`` needs the core dependencies only."""

import json
import subprocess
import sys
from pathlib import Path

import skfairtest

ROOT = Path(__file__).parents[1]
EXTRAS = {"matplotlib", "jinja2", "rich", "typer", "polars", "torch"}
CORE = "import fairlearn.metrics, joblib, narwhals, numpy, pandas, scipy.stats, sklearn.base"


def modules_after(code):
    """The top-level modules that a fresh interpreter holds after running `code`."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}; {report}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in json.loads(finished.stdout)}


def test_importing_the_package_imports_no_test_tool_and_no_extra_that_the_core_does_not_bring():
    imported = modules_after("import skfairtest, skfairtest.datasets")
    assert "pytest" not in imported
    assert imported & EXTRAS <= modules_after(CORE)


def test_every_public_name_exists_once():
    assert len(set(skfairtest.__all__)) == len(skfairtest.__all__)
    for name in skfairtest.__all__:
        assert hasattr(skfairtest, name), name
