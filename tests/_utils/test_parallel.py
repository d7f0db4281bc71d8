"""Work is divided in any number of ways, and the result is one."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skfairtest._utils import parallel
from skfairtest._utils.parallel import in_parallel, one_blas_thread

ROOT = Path(__file__).resolve().parents[2]
PIECES = [(number,) for number in range(7)]


def square(number):
    return number**2


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_results_come_in_order(backend, n_jobs):
    with joblib.parallel_config(backend=backend):
        assert list(in_parallel(square, PIECES, n_jobs)) == [number**2 for (number,) in PIECES]


@pytest.mark.parametrize(("seconds", "started"), [(0.1, False), (1.0, True)])
def test_processes_are_started_only_for_work_that_takes_longer(monkeypatch, clock, seconds, started):
    def slow(number):
        clock.sleep(seconds)
        return number**2

    asked = []
    monkeypatch.setattr(parallel, "time", clock)
    monkeypatch.setattr(parallel, "STARTING", 2.0)
    in_processes = parallel.Parallel
    monkeypatch.setattr(parallel, "Parallel", lambda n_jobs: asked.append(n_jobs) or in_processes(1))
    assert list(in_parallel(slow, PIECES, 2)) == [number**2 for (number,) in PIECES]
    assert asked == [2] * started


def test_one_thread_of_blas_inside_and_as_many_as_before_afterwards():
    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    @one_blas_thread
    def inside():
        return threads()

    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread:  # two that overlap, as of two threads of Python
            assert inside() == {1}
            assert threads() == {1}
        assert threads() == {2}
        with pytest.raises(ZeroDivisionError), one_blas_thread:
            raise ZeroDivisionError
        assert threads() == {2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "needed"), [("dask", ["distributed"]), ("ray", ["ray"]), ("spark", ["pyspark", "joblibspark"])]
)
def test_a_cluster_gives_the_local_result_and_receives_data_once(backend, needed, tmp_path):
    modules = [pytest.importorskip(name) for name in needed]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    if backend == "spark":  # one machine stands for several: names need not be known elsewhere
        environment |= {"SPARK_HOME": str(Path(modules[0].__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, str(Path(__file__).with_name("cluster_script.py")), backend, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300, check=False)
    if "JAVA_GATEWAY_EXITED" in done.stderr:
        pytest.skip("Spark needs Java")
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["cluster"] == found["local"]
    assert found["results"] == [number + 300_000 for number in range(20)]
    # Of twenty pieces each worker has ten: their data come once or twice, not ten times.
    received = Counter(path.name.split("-")[0] for path in tmp_path.iterdir())
    assert received
    assert max(received.values()) <= 4, received
