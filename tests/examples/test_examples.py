import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
import sklearn

mpl.use("Agg")

pytestmark = [
    pytest.mark.exhaustive,  # the documentation runs all of them
    # fairlearn's reductions use what pandas 3 deprecates.
    pytest.mark.filterwarnings(
        "ignore:Setting a value on a Series via .at", "ignore:Setting an item of incompatible dtype"
    ),
]

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_something(path, capsys):
    try:
        with sklearn.config_context():  # what an example that fails has switched on does not reach other tests
            runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")  # nor do its figures, of which matplotlib counts the open ones
    assert capsys.readouterr().out
