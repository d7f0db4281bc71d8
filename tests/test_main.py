"""The ``skfairtest`` command: its name, and its exit status without the report extra."""

import subprocess
import sys
from pathlib import Path

import pytest

from skfairtest.__main__ import main

ROOT = Path(__file__).parents[1]
INSTALL_LINE = 'python -m pip install "skfairtest[report]"'


def run_python(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_without_the_report_extra_the_command_exits_2_with_one_install_line():
    finished = run_python(
        "-c",
        "import sys; sys.modules['typer'] = None; import runpy; runpy.run_module('skfairtest', run_name='__main__')",
    )
    assert finished.returncode == 2
    assert finished.stdout == ""
    (line,) = finished.stderr.splitlines()
    assert "typer" in line
    assert INSTALL_LINE in line


def test_an_extra_that_only_one_command_needs_is_named_too(monkeypatch, capsys):
    def needs_matplotlib():
        raise ModuleNotFoundError("no matplotlib.axes", name="matplotlib.axes")

    monkeypatch.setattr("skfairtest.cli.app.run", needs_matplotlib)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "matplotlib is not installed" in capsys.readouterr().err


def test_a_missing_module_that_is_no_extra_is_not_hidden(monkeypatch):
    def broken():
        raise ModuleNotFoundError("no skfairtest.nowhere", name="skfairtest.nowhere")

    monkeypatch.setattr("skfairtest.cli.app.run", broken)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        main()


def test_the_exit_status_is_that_of_the_command_line(monkeypatch):
    monkeypatch.setattr("skfairtest.cli.app.run", lambda: 1)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1


@pytest.mark.slow
def test_the_program_is_called_skfairtest_also_when_run_as_a_module():
    finished = run_python("-m", "skfairtest", "--help")
    assert finished.returncode == 0, finished.stderr
    assert "Usage: skfairtest" in finished.stdout
    assert "python -m skfairtest" not in finished.stdout
