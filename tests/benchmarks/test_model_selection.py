import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")


def test_the_quick_benchmark_runs_as_a_command_and_reports_every_part():
    root = Path(__file__).parents[2]
    results = root / "benchmarks" / "results" / "model_selection.json"
    before = results.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.model_selection", "--quick"],
        cwd=root, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith(("  difference", "  ratio")) for line in lines) == 4
    assert sum("fair " in line and "people   " in line for line in lines) >= 4
    assert sum("select_fair" in line for line in lines) == 2
    assert results.read_bytes() == before
