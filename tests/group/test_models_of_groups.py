"""Models that predict from groups: what they are given is compared with what they were fitted on."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfairtest import (
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    GroupMetricDisplay,
    PairedFairnessTest,
    SubgroupScan,
    compare_models,
    make_fairness_scorer,
)
from skfairtest.readers import predict, unknown_groups

N = 300
RNG = np.random.default_rng(1)
RACE = RNG.choice(["Black", "White, or not"], N)
SEX = RNG.choice(["f", "m"], N)
PEOPLE = pd.DataFrame({"x": RNG.normal(size=N), "race": RACE, "sex": SEX})
X = PEOPLE[["x"]]
Y = (PEOPLE["x"] + (RACE == "Black") + RNG.normal(size=N) > 0.3).astype(int)
PLAIN = LogisticRegression().fit(X, Y)


def optimized(groups):
    """A model with thresholds for these groups."""
    model = ThresholdOptimizer(estimator=PLAIN, prefit=True, predict_method="predict_proba")
    return model.fit(X, Y, sensitive_features=groups)


BY_RACE = optimized(RACE)
RATE = {"metric": "selection_rate", "random_state": 0}
REFUSED = r"sensitive_features holds .*'f.*, none of which the model knows: ThresholdOptimizer .* predict_params="

ASKING = {
    "test": lambda who, **k: FairnessTest(BY_RACE, **RATE).fit(X, Y, sensitive_features=who, **k),
    "frozen": lambda who, **k: FairnessTest(FrozenEstimator(BY_RACE), **RATE).fit(X, Y, sensitive_features=who, **k),
    "audit": lambda who, **k: FairnessAudit(BY_RACE, metrics="selection_rate").fit(X, Y, sensitive_features=who, **k),
    "two models": lambda who, **k: PairedFairnessTest(PLAIN, BY_RACE, n_resamples=19, **RATE).fit(
        X, Y, sensitive_features=who, **k
    ),
    "candidates": lambda who, **k: compare_models(
        [PLAIN, BY_RACE], X, Y, sensitive_features=who, n_resamples=19, **RATE, **k
    ),
    "scan": lambda who, **k: SubgroupScan(BY_RACE, **RATE).fit(X, Y, sensitive_features=who, **k),
}
SEX_AND_RACE = {"sex": SEX, "race": RACE}


@pytest.mark.filterwarnings("ignore:.*n_resamples=19")
@pytest.mark.parametrize("asking", ASKING)
def test_groups_none_of_which_a_model_knows_are_refused(asking):
    for who in ({"sex": SEX}, SEX_AND_RACE):
        with pytest.raises(ValueError, match=REFUSED):
            ASKING[asking](who)
    ASKING[asking]({"sex": SEX}, predict_params={"sensitive_features": RACE})


@pytest.mark.filterwarnings("ignore:.*n_resamples=19")
@pytest.mark.parametrize("asking", ASKING)
def test_groups_some_of_which_a_model_knows_are_a_caution_with_their_number(asking):
    some = np.where(np.arange(N) < 20, "Asian", RACE)
    with pytest.warns(UserWarning, match=r"does not know the groups of 20 of 300 people \('Asian'\)"):
        found = ASKING[asking](some)
    assert "does not know the groups of 20 of 300 people (Asian)" in str(found).replace("'", "")


def test_other_doors_compare_too():
    with pytest.raises(ValueError, match=REFUSED):
        GroupMetricDisplay.from_estimator(BY_RACE, X, Y, sensitive_features=SEX, metric="selection_rate")
    with pytest.raises(ValueError, match=r"holds 1, 2, 3, 4, 5, .* none of which the model knows"):
        CorrelationFairnessTest(BY_RACE).fit(X, Y, sensitive_features=np.arange(1, N + 1))


def test_predictions_are_those_from_the_models_own_groups():
    test = FairnessTest(BY_RACE, **RATE).fit(X, Y, sensitive_features=SEX, predict_params={"sensitive_features": RACE})
    by_hand = BY_RACE.predict(X, sensitive_features=RACE, random_state=0)
    assert test.by_group_["value"].tolist() == [by_hand[sex == SEX].mean() for sex in "fm"]


def test_several_columns_are_compared_as_fairlearn_joins_them():
    both = PEOPLE[["race", "sex"]]
    model = optimized(both)
    assert unknown_groups(model, both) is None
    assert unknown_groups(model, {"race": RACE, "sex": SEX}) is None
    recoded = both.assign(sex=np.where(np.arange(N) < 7, "?", SEX))
    assert "the groups of 7 of 300 people" in unknown_groups(model, recoded)
    with pytest.raises(ValueError, match="none of which the model knows"):
        unknown_groups(model, both[["sex", "race"]])
    numbers = optimized((SEX == "f").astype(int))
    assert unknown_groups(numbers, pd.Series((SEX == "f").astype(float))) is None  # 1.0 is 1
    with pytest.raises(ValueError, match=r"^predict_params\['sensitive_features'\] holds '0', '1', none"):
        unknown_groups(numbers, SEX, {"sensitive_features": (SEX == "f").astype(int).astype(str)})


def test_groups_are_of_the_same_people():
    with pytest.raises(ValueError, match=r"X and predict_params\['sensitive_features'\] have different lengths"):
        predict(BY_RACE, X, predict_params={"sensitive_features": RACE[1:]})
    with pytest.raises(ValueError, match=r"predict_params\['sensitive_features'\].* index"):
        predict(BY_RACE, X, predict_params={"sensitive_features": pd.Series(RACE)[::-1]})


def test_a_scorer_reads_the_models_groups_from_columns_of_X_or_is_given_them():
    only_x = make_column_transformer(("passthrough", ["x"]), verbose_feature_names_out=False)
    pipeline = make_pipeline(only_x.set_output(transform="pandas").fit(PEOPLE), BY_RACE)
    settings = {"output": "disparity", "sensitive_features": "sex"}
    with pytest.raises(ValueError, match="none of which the model knows"):
        make_fairness_scorer("selection_rate", **settings)(pipeline, PEOPLE, Y)
    scorer = make_fairness_scorer("selection_rate", predict_params={"sensitive_features": "race"}, **settings)
    expected = FairnessTest(BY_RACE, **RATE).fit(X, sensitive_features=SEX, predict_params={"sensitive_features": RACE})
    assert scorer(pipeline, PEOPLE, Y) == -abs(expected.disparity_)
    given = make_fairness_scorer("selection_rate", **settings)
    assert given(pipeline, PEOPLE, Y, predict_params={"sensitive_features": RACE}) == scorer(pipeline, PEOPLE, Y)
    assert "predict_params={'sensitive_features': 'race'}" in repr(scorer)
    with pytest.raises(ValueError, match=r"predict_params\['sensitive_features'\] must be the name of a column of X"):
        make_fairness_scorer("selection_rate", predict_params={"sensitive_features": RACE})
