"""The benchmark of scans: its figures are within the bounds, and the page shows them."""

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import adjusted, calibration, inequality, paired, scan, sequential


def test_committed_figures_are_within_the_bounds():
    figures = scan.load()
    assert list(scan.problems(figures)) == []
    kinds = ("planted", "global", "partial", "mean", "discreteness", "speed")
    assert {kind for kind in kinds if any(name.startswith(kind) for name in figures)} == set(kinds)
    null = [found for name, found in figures.items() if name.startswith(("global", "partial", "mean"))]
    assert all(found["runs"] == scan.NULL for found in null)
    largest = max(figures["speed"], key=lambda found: found["searched"])
    assert largest["searched"] >= 100_000
    assert largest["cpu_seconds"] <= 60


def test_figures_that_break_a_promise_are_named():
    broken = {
        "global, accuracy": {"runs": 400, "false": 60},
        "planted, once": {"runs": 50, "found": 20},
        "mean, loss": {"runs": 400, "false": 20},
    }
    said = list(scan.problems(broken))
    assert [line.split(":")[0] for line in said] == ["global, accuracy", "planted, once"]


def rejected(design):
    rates = dict.fromkeys(calibration.OWN[design[2]], 0.5)
    return {"question": design[2], "curve": design[1], "people": design[0], "data_sets": 5, "rejected": rates}


@pytest.mark.slow
def test_quick_checks_notice_what_does_not_hold(monkeypatch):
    """That they hold is found by ``python -m benchmarks.validity --quick``, as .ci/run asks."""
    monkeypatch.setattr(scan, "rejects_a_true_one", lambda found: True)
    monkeypatch.setattr(scan, "QUICK", 5)
    monkeypatch.setattr(calibration, "design_rates", lambda design, data_sets: rejected(design))
    monkeypatch.setattr(inequality, "SMALLEST_COVERAGE", 2.0)
    monkeypatch.setattr(inequality, "QUICK", 5)
    monkeypatch.setattr(paired, "designs", lambda: [("equal", 2, {}, lambda data_sets: {"paired": 0.5})])
    monkeypatch.setattr(sequential, "QUICK", ("coverage",))
    monkeypatch.setattr(sequential, "coverage", lambda n, rng: {"all": {"streams": n, "ever_missed_cut": 0.5}})
    every = {"runs": adjusted.QUICK, "rejected": {"unadjusted": adjusted.QUICK, "gcm": adjusted.QUICK}}
    monkeypatch.setattr(adjusted, "run", lambda *args, **params: every)
    for benchmark in (paired, sequential, adjusted):
        assert len(benchmark.quick().broken) == 1
    assert scan.quick().broken == ["5 of 5"]
    assert len(calibration.quick().broken) == 4
    assert len(inequality.quick().broken) == 4
