import json
from pathlib import Path

import pytest

benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


def test_validity_benchmark_finds_a_test_that_rejects_too_often(monkeypatch, capsys):
    from benchmarks import validity

    monkeypatch.setattr(validity, "SIZES", [(30, 60)])
    monkeypatch.setattr(validity, "BASE_RATES", [(0.5, 0.5)])
    monkeypatch.setattr(validity, "RATES", [0.4])
    assert validity.main(["--quick"]) == 0
    assert "Largest size: exact 0.0" in capsys.readouterr().out
    loose = validity.conditional_region
    monkeypatch.setattr(validity, "unconditional_region", lambda d1, d2, alpha: loose(d1, d2, 0.3))
    monkeypatch.setattr(validity, "check_region", lambda regions, rng: None)
    assert validity.main(["--quick"]) == 1
    assert "rejects a fair model" in capsys.readouterr().err


def test_speed_benchmark_compares_on_the_same_arrays(capsys):
    from benchmarks import speed

    assert speed.main(["rates", "--people", "2000"]) == 0
    out = capsys.readouterr().out
    assert "2,000 people" in out
    assert "x slower" in out


def test_committed_validity_figures_name_their_seed_and_versions_and_keep_the_level():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "validity_rates.json"
    document = json.loads(path.read_text())
    assert {"seed", "versions", "data_sets_per_cell"} <= set(document)
    assert len(document["cells"]) == 48
    assert max(cell["exact_largest_size"] for cell in document["cells"]) <= document["level"]
    assert all(cell["exact_power"] >= cell["fisher_power"] for cell in document["cells"])
