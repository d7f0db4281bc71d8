import json

import pytest

benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.parametrize(("what", "other"), [("auc", "roc_auc_score"), ("mean", "scipy permutation_test")])
def test_speed_benchmark_times_a_resample(capsys, what, other):
    from benchmarks import speed

    assert speed.main([what, "--people", "2000", "--resamples", "100"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert other in out
    assert "goal" in out


def test_speed_benchmark_stores_two_versions_beside_each_other(capsys, monkeypatch, tmp_path):
    from benchmarks import speed

    monkeypatch.setattr(speed, "RESULTS", tmp_path / "speed.json")
    monkeypatch.setitem(speed.COMMANDS, "fit", lambda options: print("one\nand two"))
    for version in ("before", "after"):
        assert speed.main(["fit", "--store", version]) == 0
    stored = json.loads((tmp_path / "speed.json").read_text())
    assert stored["before"] == stored["after"] == {"fit": ["one", "and two"]}
    assert capsys.readouterr().out.startswith("one\nand two\n")


def test_the_peak_of_memory_is_that_of_this_process():
    from benchmarks import speed

    before = speed.peak_megabytes()
    held = bytearray(b"x") * 60_000_000
    assert speed.peak_megabytes() >= before
    assert 10 < before < 20_000
    del held
