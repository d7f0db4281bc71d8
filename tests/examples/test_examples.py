import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_something(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
