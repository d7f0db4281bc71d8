"""Rankings, as the guide has them: exact within queries, valid over queries, and what LiFT takes for 0 is undefined."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessTest


def ranking(rng, n_queries=40, n=8, k=3, prefer=0.0):
    """Queries differ in how many documents of group "b" they have, and in how many relevant ones."""
    query = np.repeat(np.arange(n_queries), n)
    group = (rng.random(len(query)) < np.repeat(rng.uniform(0.2, 0.8, n_queries), n)).astype(int)
    relevant = (rng.random(len(query)) < np.repeat(rng.uniform(0.1, 0.7, n_queries), n)).astype(int)
    score = rng.normal(size=len(query)) + relevant - prefer * group
    rank = pd.Series(score).groupby(query).rank(ascending=False, method="first").to_numpy()
    return query, group, relevant, (rank <= k).astype(int), 1 / np.log2(1 + rank)


def rejections(metric, column, n=120, **params):
    rng, rejected = np.random.default_rng(7), 0
    for seed in range(n):
        query, group, relevant, *columns = ranking(rng, **params)
        test = FairnessTest.from_predictions(
            relevant, columns[column], sensitive_features=group, control_features=query, metric=metric,
            n_resamples=99, random_state=seed,
        )  # fmt: skip
        rejected += test.rejected_
    return rejected / n


@pytest.mark.filterwarnings("ignore")  # queries of one group are left out and listed
@pytest.mark.parametrize(("metric", "column"), [("selection_rate", 0), ("mean_prediction", 1)])
def test_rankings_that_do_not_depend_on_the_group_are_rejected_as_often_as_the_level_says(metric, column):
    assert rejections(metric, column) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("metric", "column"), [("selection_rate", 0), ("mean_prediction", 1)])
def test_a_preference_is_found(metric, column):
    assert rejections(metric, column, n=30, prefer=0.6) > 0.5


def test_a_query_without_a_document_in_the_top_is_listed_and_not_0():
    query, group = np.repeat([0, 1, 2], 4), np.tile([0, 0, 1, 1], 3)
    top, relevant = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1]), np.array([1, 0, 1, 0] * 3)
    with pytest.warns(UserWarning, match="precision of 1"):
        test = FairnessTest.from_predictions(
            relevant, top, sensitive_features=group, control_features=query, metric="precision"
        )
    assert test.excluded_["stratum"].tolist() == [0]
    assert np.isnan(test.by_group_["value"].loc[(0, 1)])
