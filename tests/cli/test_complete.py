"""The tab key: what the shell is told, and that the scripts for it can be had."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skfairtest.cli.header import columns_of_file, metrics_of_audit, metrics_of_power
from skfairtest.metrics import CRITERIA, RATES, SCORES
from skfairtest.planning.plan import AREA, MEANS

ROOT = Path(__file__).parents[2]
HEADER = ["sex", "sexe", "race", "with space", "$(rm -rf ~)", "a;b", "日本"]


class Context:
    """What completion knows of the arguments."""

    def __init__(self, file=None, args=()):
        self.params, self.args = {"files": None if file is None else (file,)}, list(args)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(",".join(f'"{name}"' for name in HEADER) + "\n", encoding="utf-8")
    return path


def test_columns_are_offered_that_the_shell_leaves_as_they_are(people):
    assert columns_of_file(Context(str(people)), "") == ["sex", "sexe", "race"]
    assert columns_of_file(Context(str(people)), "se") == ["sex", "sexe"]
    assert columns_of_file(Context(None, [str(people)]), "r") == ["race"]
    assert columns_of_file(Context(None, [str(people.parent / "*.csv")]), "r") == ["race"]


def test_columns_are_read_in_the_encoding_that_was_typed(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("año,sexo\n".encode("cp1252"))
    context = Context(str(path))
    assert columns_of_file(context, "") == []
    for encoding, offered in (("cp1252", ["sexo"]), ("nonsense", [])):
        context.params["encoding"] = encoding
        assert columns_of_file(context, "s") == offered


def test_where_there_is_no_file_nothing_is_offered(people, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "broken.parquet").write_bytes(b"nothing")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    for name in ("nowhere.csv", "fifo", "broken.parquet", "binary.csv", "."):
        assert columns_of_file(Context(str(tmp_path / name)), "") == []
    assert columns_of_file(Context("a\0b"), "") == []
    assert columns_of_file(Context(), "") == []


def test_metrics_are_offered():
    assert metrics_of_audit("st") == ["standard"]
    assert "roc_auc" in metrics_of_audit("roc")
    assert metrics_of_power("mean_p") == ["mean_prediction"]
    assert "balanced_accuracy" not in metrics_of_power("")


def test_every_metric_is_offered_that_is_declared():
    assert metrics_of_audit("") == ["standard", *RATES, *CRITERIA, *SCORES]
    assert metrics_of_power("") == [*RATES, *CRITERIA, *MEANS, AREA]


#: The command line, in a process that then lists what it has imported.
LISTED = """
import json, sys
from skfairtest.__main__ import main
try:
    main()
except SystemExit as stopped:
    status = stopped.code
sys.stdout.flush()
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def listed(*arguments, **variables):
    """What the command writes, its status, and the top-level modules that it imports."""
    finished = subprocess.run(
        [sys.executable, "-c", LISTED, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
    )
    status, modules = json.loads(finished.stderr)
    return finished.stdout, status, {name.partition(".")[0] for name in modules}


HEAVY = {"numpy", "scipy", "pandas", "sklearn", "fairlearn", "narwhals", "joblib", "matplotlib", "jinja2", "pyarrow"}


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        pytest.param(["--version"], "skfairtest ", marks=pytest.mark.slow),
        (["--help"], "Usage: skfairtest"),
    ],
)
def test_the_version_and_the_help_import_nothing_that_computes(arguments, begins):
    shown, status, modules = listed(*arguments)
    assert shown.startswith(begins)
    assert status == 0
    assert not modules & HEAVY


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("audit {people} --sensitive se", ["sex", "sexe"]),
        pytest.param("audit {people} --metric equal", ["equal_opportunity", "equalized_odds"], marks=pytest.mark.slow),
        ("power --metric mean_r", ["mean_residual"]),
        pytest.param("de", ["demo"], marks=pytest.mark.slow),
    ],
)
def test_the_tab_key_imports_nothing_that_computes(people, words, offered):
    words = f"skfairtest {words.format(people=people)}"
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_SKFAIRTEST_COMPLETE": "complete_bash"}
    shown, status, modules = listed(**variables)
    assert shown.split() == offered
    assert status == 0
    assert not modules & HEAVY


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script_that_is_shown(people, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "skfairtest"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skfairtest "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = f"""
        source <(_SKFAIRTEST_COMPLETE=source_bash skfairtest)
        COMP_WORDS=(skfairtest audit {people} --sensitive se); COMP_CWORD=4
        _skfairtest_completion skfairtest
        echo "${{COMPREPLY[*]}}"
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{folder}:{os.environ['PATH']}"}
    finished = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    assert finished.stdout.split() == ["sex", "sexe"], finished.stderr
