"""The figures of Maity et al. (2021): the simulated people, the maps, and what is said about them."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import maity_simulation, maity_stopping, maity_tables
from benchmarks.reproduce._rows import FAILS, HOLDS, Row

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_the_simulated_people_are_the_published_ones(simulated, golden):
    X, y, minority = maity_simulation.people()
    np.testing.assert_allclose(X, simulated[0], rtol=0, atol=1e-15)
    assert (y == simulated[1]).all()
    assert minority.sum() == golden["minority"]


@pytest.mark.parametrize(("how", "key"), [("fitted", "fitted"), ("doubled", "doubled"), ("none", "none")])
def test_intercepts_are_those_of_the_published_code(how, key, golden):
    X, y, _ = maity_simulation.people()
    found = maity_simulation.intercept_of(np.array(golden["theta"]), X, y, how)
    assert found == pytest.approx(golden["flows"][key]["intercept"], abs=2e-7)  # their bisection stops at 1e-7


@pytest.mark.parametrize(
    ("how", "angle", "formula"),
    [
        pytest.param("doubled", 20, False, marks=pytest.mark.slow),
        ("fitted", 5, True),
        pytest.param("none", 10, False, marks=pytest.mark.slow),
    ],
)
def test_all_models_at_once_are_those_tested_one_by_one(how, angle, formula):
    grid, (X, y, _) = np.array([-2.0, 0.0, 1.2]), maity_simulation.people()
    together = maity_simulation.bounds(grid, X, y, how, angle, formula)[-1]
    for second in range(3):
        for first in range(3):
            test = maity_simulation.one_by_one(grid, X, y, how, formula, angle, (second, first))
            assert together[second, first] == pytest.approx(test.lower_bound_, abs=1e-9)


@pytest.mark.slow
def test_a_quick_run_has_the_published_flows_and_the_largest_values_of_the_stored_arrays():
    rows = maity_simulation.run(quick=True).rows
    assert len(rows) == 14
    assert all(row.agrees for row in rows)
    assert [row.other for row in rows[-4:]] == [1.67, 1.81, 1.95, 2.39]


def test_where_t_n_crosses_the_tolerance_and_whether_it_grows():
    grid = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    row = np.array([2.0, 1.3, 1.0, 1.2, 1.4])
    assert maity_simulation.crossing(grid, row) == pytest.approx(1.25)
    assert maity_simulation.grows(row[None])
    assert not maity_simulation.grows(row[None, [0, 1, 2, 4, 3]])


def test_the_stored_maps_are_those_that_the_rows_are_about():
    document = reproduce.stored("maity_simulation")
    ours = {row["what"]: row["ours"] for row in document["rows"]}
    for angle, values in document["pictures"]["figure_1"]["maps"].items():
        assert np.shape(values) == (21, 21)
        assert np.max(values) == pytest.approx(
            ours[f"Figure 1, largest T_n, {angle} degrees: the array stored with the published code"], abs=1e-3
        )
    off = [row["answers"] for row in document["rows"] if not Row(**row).agrees]
    assert off == ["theory.scale"]  # with lambda fixed


@pytest.mark.slow
def test_the_stored_maps_come_out():
    stored = reproduce.stored("maity_simulation")["pictures"]
    X, y, _ = maity_simulation.people()
    for picture, how in (("figure_1", "doubled"), ("figure_1_text", "fitted")):
        values = maity_simulation.bounds(maity_simulation.GRID, X, y, how, 5)[-1]
        np.testing.assert_allclose(values, stored[picture]["maps"]["5"], rtol=0, atol=1e-3)


def test_what_is_said_of_stopping_follows_from_the_curves():
    low, high = [1.0, 1.1, 1.2], [1.0, 1.2, 1.3]
    curves = {"baseline": [high, high], "project": [high, low], "sensr": [low, high]}
    said = [(row.ours, row.why) for row in maity_stopping.statements([10, 500, 2560], curves)]
    assert said == [
        (FAILS, "1 of 2 splits; first rejected after 2,560 steps"),
        (FAILS, "1 of 2 splits"),
        (HOLDS, "2 of 2 splits"),
    ]
    head, rows = maity_stopping.table_of([10, 500, 2560], curves)
    assert head[1] == "10 steps"
    assert [row[-1] for row in rows] == ["1.300 (2)", "1.250 (1)", "1.250 (1)"]


def test_what_is_said_of_stopping_is_made_of_the_stored_curves():
    document = reproduce.stored("maity_stopping")
    steps, curves = (document["pictures"]["figure_2"][key] for key in ("steps", "curves"))
    assert list(curves) == maity_tables.MODELS
    assert {np.shape(values) for values in curves.values()} == {(len(maity_stopping.SEED), len(steps))}
    assert reproduce.stored_rows(maity_stopping.statements(steps, curves)) == document["rows"]
    head, rows = maity_stopping.table_of(steps, curves)
    assert document["tables"]["Figure 2"] == {"head": head, "rows": rows}


@pytest.mark.slow
def test_a_quick_run_of_stopping_is_near_the_published_tables(raw_data):
    raw_data("adult.csv.gz")
    rows = maity_stopping.run(quick=True).rows
    assert len(rows) == 2
    assert all(row.agrees for row in rows)
