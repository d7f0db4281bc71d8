import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command_and_reports_every_part(quick):
    lines = quick("model_selection", "model_selection.json")
    assert sum(line.startswith(("  difference", "  ratio")) for line in lines) == 4
    assert sum("fair " in line and "people   " in line for line in lines) >= 4
    assert sum("select_fair" in line for line in lines) == 2
