"""Test predictions on Dask: two worker processes stand in for the machines of a cluster.

The workers count, and draw the resamples of a slow metric as well: joblib hands these out to them. On a real cluster
``Client`` gets the address of its scheduler, and the data lie where every worker reads them.
"""

import tempfile

import dask.dataframe
import joblib
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster

from skfairtest import FairnessTest


def cost(y_true, y_pred):
    """What decisions cost: five for a person overlooked, one for a false alarm."""
    return float(np.mean(np.where(y_true > y_pred, 5.0, 1.0) * (y_true != y_pred)))


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rng = np.random.default_rng(0)
        for day in range(4):
            people = pd.DataFrame({"sex": rng.choice(["f", "m"], 50_000), "qualified": rng.integers(0, 2, 50_000)})
            people["approved"] = (rng.random(50_000) < 0.3 + 0.2 * people["qualified"]).astype(int)
            people.to_parquet(f"{folder}/day={day}.parquet")

        predictions = dask.dataframe.read_parquet(folder)
        test = FairnessTest.from_frame(
            predictions, y_true="qualified", y_pred="approved", sensitive_features="sex", metric="equalized_odds"
        )
        print(test)

        sample = predictions.head(2_000)
        with joblib.parallel_config(backend="dask"):
            slow = FairnessTest.from_predictions(
                sample["qualified"],
                sample["approved"],
                sensitive_features=sample["sex"],
                metric=cost,
                n_resamples=999,
                random_state=0,
            )
        print(slow)
