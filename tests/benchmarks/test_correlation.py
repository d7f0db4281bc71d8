import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command_and_reports_every_design(quick):
    lines = quick("correlation", "validity_correlation.json")
    assert sum("pearson" in line for line in lines) == 4
    assert sum("spearman" in line for line in lines) == 2
