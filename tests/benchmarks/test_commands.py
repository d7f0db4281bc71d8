import json

import pytest

benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.slow
def test_speed_benchmark_compares_on_the_same_arrays(capsys):
    from benchmarks import speed

    assert speed.main(["rates", "--people", "2000"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert "x slower" in out


@pytest.mark.parametrize(("what", "other"), [("auc", "roc_auc_score"), ("mean", "scipy permutation_test")])
def test_speed_benchmark_times_a_resample(capsys, what, other):
    from benchmarks import speed

    assert speed.main([what, "--people", "2000", "--resamples", "100"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert other in out
    assert "goal" in out


@pytest.mark.slow
def test_speed_benchmark_times_a_frame(capsys):
    from benchmarks import speed

    assert speed.main(["frame", "--people", "2000"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert "x MetricFrame" in out


@pytest.mark.slow
@pytest.mark.parametrize(("what", "other"), [("fit", "MetricFrame"), ("search", "accuracy alone")])
def test_speed_benchmark_times_a_fit_and_a_search(capsys, what, other):
    from benchmarks import speed

    assert speed.main([what]) == 0
    out = capsys.readouterr().out
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


@pytest.mark.slow
def test_speed_benchmark_times_an_audit_of_scores(capsys):
    from benchmarks import speed

    assert speed.main(["scores", "--people", "400"]) == 0
    one, two = capsys.readouterr().out.splitlines()
    assert "n_jobs=1" in one
    assert "n_jobs=2" in two
    assert "400 people" in one
    assert "goal: at most 20 s" in one
    assert [line.split(", ")[1] for line in (one, two)] == [two.split(", ")[1]] * 2  # as many comparisons


@pytest.mark.slow
def test_speed_benchmark_times_audits_of_individuals(capsys, monkeypatch):
    from benchmarks import speed

    models = {name: speed.CENSUS_MODELS[name] for name in ("MLPClassifier", "GradientBoostingClassifier")}
    monkeypatch.setattr(speed, "CENSUS_MODELS", models)
    assert speed.main(["individual", "--people", "60", "--steps", "8", "--grid", "2"]) == 0
    out = capsys.readouterr().out
    assert "grid of 2 x 2" in out
    ways = [line.split()[:2] for line in out.splitlines() if "ratio of means" in line]
    assert ways == [
        ["MLPClassifier", "finite_differences"],
        ["GradientBoostingClassifier", "search"],
    ]


def test_the_peak_of_memory_is_that_of_this_process():
    from benchmarks import speed

    before = speed.peak_megabytes()
    held = bytearray(b"x") * 60_000_000
    assert speed.peak_megabytes() >= before
    assert 10 < before < 20_000
    del held
