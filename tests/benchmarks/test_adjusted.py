"""The benchmark of disparities given covariates: the figures stored are within the bounds, and it runs."""

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import adjusted


def test_committed_figures_are_of_these_designs_and_within_the_bounds():
    figures = adjusted.load()
    computed = adjusted.cases(quick=False)
    assert set(figures) <= set(computed)
    assert all(found["runs"] == computed[name]["runs"] for name, found in figures.items())
    assert {"size, smooth, 500 people", "size, smooth, 5000 people"} <= set(figures)
    assert list(adjusted.problems(figures)) == []


@pytest.mark.slow
def test_a_quick_run_stores_nothing(capsys):
    before = adjusted.load()
    assert adjusted.main(["--quick", "--only", "decisions"]) == 0
    assert "size, decisions, 500 people" in capsys.readouterr().out
    assert adjusted.load() == before
