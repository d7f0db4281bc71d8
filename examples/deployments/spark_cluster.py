"""Test predictions on Spark: two worker processes stand in for the machines of a cluster.

On a real cluster ``master`` is its address ("yarn", "k8s://...", "spark://host:7077") or left out where spark-submit
gives it, and the data lie where every worker reads them. Java comes with Debian's package openjdk-17-jre-headless.
"""

import os
import sys
import tempfile

import numpy as np
import pandas as pd
import pyspark
from pyspark.sql import SparkSession

from skfairtest import FairnessTest

# The worker processes must find this Python, Spark itself, and each other.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "8")
    .getOrCreate()
)
with tempfile.TemporaryDirectory() as folder:
    # The output of a pipeline: many files of predictions.
    rng = np.random.default_rng(0)
    for day in range(4):
        people = pd.DataFrame({"sex": rng.choice(["f", "m"], 50_000), "qualified": rng.integers(0, 2, 50_000)})
        people["approved"] = (rng.random(50_000) < 0.3 + 0.2 * people["qualified"]).astype(int)
        people.to_parquet(f"{folder}/day={day}.parquet")

    predictions = spark.read.parquet(folder)
    test = FairnessTest.from_frame(
        predictions, y_true="qualified", y_pred="approved", sensitive_features="sex", metric="equalized_odds"
    )
    print(test)
spark.stop()
