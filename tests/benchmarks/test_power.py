import json
from pathlib import Path

import pytest

benchmarks = pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


@pytest.mark.slow
def test_power_benchmark_finds_computed_power_that_is_wrong(monkeypatch, capsys):
    from benchmarks import power

    monkeypatch.setattr(power, "write", lambda rows: pytest.fail("--quick writes nothing"))
    assert power.main(["--quick"]) == 0
    assert "0.7906" in capsys.readouterr().out
    monkeypatch.setattr(power, "CELLS", power.CELLS[:1])
    monkeypatch.setattr(power, "power", lambda **cell: 0.5)
    assert power.main(["--quick"]) == 1
    assert "computed 0.5000, simulated" in capsys.readouterr().err


def test_committed_power_figures_name_their_seed_and_versions_and_agree():
    from benchmarks.power import TOLERANCE

    path = Path(__file__).parents[2] / "benchmarks" / "results" / "power.json"
    document = json.loads(path.read_text())
    assert {"seed", "versions", "level"} <= set(document)
    for cell in document["cells"]:
        assert abs(cell["simulated"] - cell["computed"]) <= 4 * cell["monte_carlo_error"] + TOLERANCE
