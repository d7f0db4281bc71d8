import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command_and_reports_both_promises(quick):
    lines = quick("audit", "audit.json")
    assert sum("comparisons   " in line for line in lines) == 2
    assert sum("power" in line and "size" in line for line in lines) == 4


@pytest.mark.slow
def test_speed_benchmark_audits_the_same_people_as_metric_frame(capsys):
    from benchmarks import speed

    assert speed.main(["audit", "--people", "300"]) == 0
    out = capsys.readouterr().out
    assert "300 people" in out
    assert "the first call" in out
    assert out.count("x MetricFrame") == 2
