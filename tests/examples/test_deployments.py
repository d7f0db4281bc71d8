"""What the documentation shows of clusters runs as it is written, one machine standing for many."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = {
    "spark_cluster": ["pyspark"],
    "dask_cluster": ["dask.dataframe", "distributed"],
    "duckdb_partitions": ["duckdb"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_a_deployment_runs(name):
    for module in NEEDED[name]:
        pytest.importorskip(module)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = ROOT / "examples" / "deployments" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    if "JAVA_GATEWAY_EXITED" in done.stderr:
        pytest.skip("Spark needs Java")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "No significant disparity by sex was detected in 2 comparisons" in done.stdout


def test_every_deployment_is_run_and_shown():
    files = {path.stem for path in (ROOT / "examples" / "deployments").glob("*.py")}
    page = (ROOT / "doc" / "guide" / "scale.md").read_text(encoding="utf-8")
    assert files == set(NEEDED)
    assert all(f"deployments/{name}.py" in page for name in files)
