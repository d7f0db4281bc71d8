"""Run by tests/_utils/test_parallel.py: a test of a slow function by the workers of a cluster, as JSON."""

import contextlib
import json
import os
import sys
import tempfile

import joblib
import numpy as np

from skfairtest import FairnessTest
from skfairtest._utils.parallel import in_parallel

PIECES = 20


class Shipped:
    """A function with data, which notes whenever a process receives it."""

    def __init__(self, notes):
        self.data, self.notes = np.zeros(300_000), notes

    def __setstate__(self, state):
        self.__dict__.update(state)
        descriptor, _ = tempfile.mkstemp(prefix=f"{os.getpid()}-", dir=self.notes)
        os.close(descriptor)

    def __call__(self, number):
        return number + len(self.data)


def cost(y_true, y_pred):
    return float(np.mean((y_true != y_pred) * (1.0 + y_true)))


def p_value():
    rng = np.random.default_rng(0)
    y_true, y_pred, groups = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.choice(list("abc"), 300)
    test = FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=groups, metric=cost, n_resamples=499, random_state=3
    )
    return test.p_value_


@contextlib.contextmanager
def cluster(backend):
    """Start two workers on this machine, and tell joblib of them."""
    if backend == "dask":
        from dask.distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers):
            yield joblib.parallel_config(backend="dask")
    elif backend == "ray":
        import ray
        from ray.util.joblib import register_ray

        register_ray()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield joblib.parallel_config(backend="ray", n_jobs=2)
        ray.shutdown()
    else:
        from joblibspark import register_spark
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"]).getOrCreate()
        register_spark()
        yield joblib.parallel_config(backend="spark", n_jobs=2)
        spark.stop()


def main(backend, notes):
    local = p_value()
    with cluster(backend) as configured, configured:
        found = p_value()
        results = list(in_parallel(Shipped(notes), [(number,) for number in range(PIECES)], None))
    print(json.dumps({"local": local, "cluster": found, "results": results}))


if __name__ == "__main__":
    main(*sys.argv[1:])
