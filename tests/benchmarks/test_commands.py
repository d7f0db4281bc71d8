import pytest

benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


def test_speed_benchmark_compares_on_the_same_arrays(capsys):
    from benchmarks import speed

    assert speed.main(["rates", "--people", "2000"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert "x slower" in out
