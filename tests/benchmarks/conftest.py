"""What several tests of benchmarks share."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quick():
    """Run a benchmark's quick command, which succeeds and stores nothing; return the lines that it prints."""

    def run(name, results):
        stored = ROOT / "benchmarks" / "results" / results
        before = stored.read_bytes() if stored.exists() else None
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", "--quick"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (stored.read_bytes() if stored.exists() else None) == before
        return done.stdout.splitlines()

    return run
