"""The benchmark of inequality: groups are equal where it says so, and its figures are within the bounds."""

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import inequality
from benchmarks.common import inequality_cells, methods, storage

CELLS = list(inequality_cells.inequality_cells())


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_groups_are_equal_where_they_are_said_to_be(cell):
    first, second = methods.true_values(cell, cell.null)
    assert first == pytest.approx(second, abs=1e-9)
    if cell.effect is not None:
        first, second = methods.true_values(cell, cell.effect)
        assert abs(first - second) > 0.01


def test_committed_figures_are_of_these_designs_and_within_the_bounds():
    records = storage.load(inequality.RESULTS)
    assert all(storage.is_finished(cell, records) for cell in CELLS)
    assert list(inequality.broken(CELLS, records)) == []
