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


#: The questions of the guide's table: a metric, which documents are compared, and what stands for their predictions.
QUESTIONS = {
    "among the first k": ("selection_rate", False, "top"),
    "precision at k": ("precision", False, "top"),
    "recall at k": ("equal_opportunity", False, "top"),
    "exposure": ("mean_prediction", False, "exposure"),
    "exposure at equal relevance": ("mean_prediction", True, "exposure"),
    "gain": ("mean_prediction", True, "gain"),
}


def columns_of(ranked):
    """Return a ranking as the guide has it, and what each relevant document adds to NDCG."""
    query, _, relevant, top, exposure = ranked
    ideal = pd.Series(relevant).groupby(query).transform(lambda r: (1 / np.log2(2 + np.arange(r.sum()))).sum())
    return {"top": top, "exposure": exposure, "gain": exposure / ideal.where(ideal > 0).to_numpy()}


def rejections(question, role, n=120, **params):
    """Return how often a question is answered with yes; queries are control features, or clusters."""
    metric, only_relevant, column = QUESTIONS[question]
    rng, rejected = np.random.default_rng(7), 0
    for seed in range(n):
        ranked = ranking(rng, **params)
        query, group, relevant, *_ = ranked
        there = relevant == 1 if only_relevant else np.ones(len(query), dtype=bool)
        test = FairnessTest.from_predictions(
            relevant[there], columns_of(ranked)[column][there], sensitive_features=group[there], metric=metric,
            n_resamples=99, random_state=seed, **{role: query[there]},
        )  # fmt: skip
        rejected += test.rejected_
    return rejected / n


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # queries of one group are left out and listed
@pytest.mark.parametrize("question", ["among the first k", "exposure"])
def test_rankings_that_do_not_depend_on_the_group_are_rejected_as_often_as_the_level_says(question):
    assert rejections(question, "control_features") <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("role", ["control_features", "clusters"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_size_of_every_question_is_the_level(question, role):
    level = 0.05 if role == "control_features" else 0.066  # that of signs flipped in 20 clusters or more
    assert rejections(question, role, n=400) <= level + 3 * np.sqrt(level * (1 - level) / 400)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", ["among the first k", "exposure"])
def test_a_preference_is_found(question, thorough):
    assert rejections(question, "control_features", n=30 if thorough else 5, prefer=0.6) > 0.5


def test_a_query_without_a_document_in_the_top_is_listed_and_not_0():
    query, group = np.repeat([0, 1, 2], 4), np.tile([0, 0, 1, 1], 3)
    top, relevant = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1]), np.array([1, 0, 1, 0] * 3)
    with pytest.warns(UserWarning, match="precision of 1"):
        test = FairnessTest.from_predictions(
            relevant, top, sensitive_features=group, control_features=query, metric="precision"
        )
    assert test.excluded_["stratum"].tolist() == [0]
    assert np.isnan(test.by_group_["value"].loc[(0, 1)])
