"""What everything that tests inside scikit-learn's and fairlearn's tools keeps: the same people, the same numbers.

A new public object is added to `ANSWERS`. Folds are made of people in the order in which they come, as everywhere in
scikit-learn; what is about folds is therefore not asked to be the same in another order.
"""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from fairlearn.metrics import false_positive_rate, selection_rate
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate

import skfairtest
from skfairtest import (
    AuditedClassifier,
    AuditedRegressor,
    FairnessTest,
    SensitiveStratifiedKFold,
    SignificanceFrame,
    fairness_p_value,
    make_fairness_scorer,
    select_fair,
)

N = 240


@pytest.fixture(scope="module")
def data():
    """People of three groups, to whom a model does not do the same."""
    rng = np.random.default_rng(7)
    group = rng.choice(["ash", "birch", "cedar"], N, p=[0.45, 0.35, 0.2])
    X = rng.normal(size=(N, 2)) + (group == "birch")[:, None] * 0.6
    y = (X[:, 0] + rng.normal(size=N) > 0.2).astype(int)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y, "target": X[:, 1] + rng.normal(size=N), "tree": group})


@pytest.fixture(scope="module")
def model(data):
    return LogisticRegression().fit(data[["a", "b"]].to_numpy(), data["y"])


def f2(y_true, y_pred):
    hits, misses, alarms = (np.sum((y_true == t) & (y_pred == p)) for t, p in ((1, 1), (1, 0), (0, 1)))
    return 5 * hits / (5 * hits + 4 * misses + alarms)


def of_frame(data, groups, model, n_jobs):
    people = {
        "y_true": data["y"].to_numpy(),
        "y_pred": model.predict(data[["a", "b"]].to_numpy()),
        "sensitive_features": groups,
    }
    metrics = {"selection": selection_rate, "fpr": false_positive_rate}
    frame = SignificanceFrame(metrics=metrics, **people, test_params={"n_jobs": n_jobs})
    low, high = frame.ratio_interval()
    drawn = {"n_jobs": n_jobs, "n_resamples": 19}
    own = SignificanceFrame(metrics=f2, **people, random_state=3, test_params=drawn)
    return [*frame.p_values(), *frame.difference_test("to_overall")["ci_high"], *low, *high, own.p_values()]


def of_scorers(data, groups, model, n_jobs):
    X, y = data[["a", "b"]].to_numpy(), data["y"].to_numpy()
    made = [
        make_fairness_scorer(metric, output=output, n_jobs=n_jobs, n_resamples=99)
        for metric, output in [
            ("equalized_odds", "upper_bound"), ("equalized_odds", "disparity"), ("accuracy", "p_value"),
            ("roc_auc", "statistic"), ("log_loss", "p_value"),
        ]
    ]  # fmt: skip
    return [scorer(model, X, y, sensitive_features=groups) for scorer in made]


def of_p_value(data, groups, model, n_jobs):
    y_pred = model.predict(data[["a", "b"]].to_numpy())
    more = {"sensitive_features": groups, "n_jobs": n_jobs}
    exact = fairness_p_value(data["y"].to_numpy(), y_pred, **more)
    return [exact, fairness_p_value(data["y"].to_numpy(), y_pred, metric=f2, n_resamples=19, **more)]


def of_audited(data, groups, model, n_jobs):
    X = data[["a", "b"]].to_numpy()
    tests = [FairnessTest(n_jobs=n_jobs), FairnessTest(metric="roc_auc", n_resamples=99, random_state=1, n_jobs=n_jobs)]
    audited = AuditedClassifier(LogisticRegression(), tests=tests, on_rejection="ignore")
    return audited.fit(X, data["y"].to_numpy(), sensitive_features=groups).p_values_


def of_audited_numbers(data, groups, model, n_jobs):
    test = FairnessTest(metric="mean_residual", n_resamples=99, random_state=1, n_jobs=n_jobs)
    audited = AuditedRegressor(LinearRegression(), tests=test, on_rejection="ignore")
    X, y = data[["a", "b"]].to_numpy(), data["target"].to_numpy()
    return audited.fit(X, y, sensitive_features=groups).p_values_


def of_folds(data, groups, model, n_jobs):
    y = data["y"].to_numpy()
    folds = SensitiveStratifiedKFold(4, shuffle=True, random_state=2).split(y, y, sensitive_features=groups)
    return np.concatenate([test for _, test in folds])


def of_selection(data, groups, model, n_jobs):
    X = data[["a", "b"]].to_numpy()
    results = {}
    for place, C in enumerate([0.001, 1.0]):
        scoring = {"accuracy": "accuracy", "fair": make_fairness_scorer("demographic_parity")}
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                LogisticRegression(C=C), X, data["y"].to_numpy(), scoring=scoring, cv=SensitiveStratifiedKFold(3),
                n_jobs=n_jobs, params={"sensitive_features": groups},
            )  # fmt: skip
        for name in scoring:
            for fold, value in enumerate(found[f"test_{name}"]):
                results.setdefault(f"split{fold}_test_{name}", np.empty(2))[place] = value
    return [select_fair("accuracy", "fair", tolerance=0.5)(results), *np.concatenate(list(results.values()))]


#: Public objects of this room: numbers that they answer with.
ANSWERS = {
    "SignificanceFrame": of_frame,
    "make_fairness_scorer": of_scorers,
    "fairness_p_value": of_p_value,
    "AuditedClassifier": of_audited,
    "AuditedRegressor": of_audited_numbers,
    "SensitiveStratifiedKFold": of_folds,
    "select_fair": of_selection,
}
OF_FOLDS = {"AuditedClassifier", "AuditedRegressor", "SensitiveStratifiedKFold", "select_fair"}
NO_ANSWER = {"FairnessRejectedError", "FairnessRejectedWarning"}

every_object = pytest.mark.parametrize("name", ANSWERS)
pytestmark = pytest.mark.filterwarnings("ignore:.*cannot reject at:UserWarning", "ignore:.*approximate:UserWarning")


@pytest.fixture(scope="module")
def reference(data, model):
    return {name: answer(data, data["tree"].to_numpy(), model, None) for name, answer in ANSWERS.items()}


def test_every_public_object_of_the_room_is_here():
    assert set(skfairtest.model_selection.__all__) == set(ANSWERS) | NO_ANSWER


@every_object
def test_n_jobs_changes_nothing(name, data, model, reference):
    np.testing.assert_array_equal(ANSWERS[name](data, data["tree"].to_numpy(), model, 2), reference[name])


CONTAINERS = {
    "list": lambda values: values.tolist(),
    "pandas": lambda values: values,
    "category": lambda values: values.astype("category"),
    "frame": lambda values: values.to_frame(),
    "polars": lambda values: pl.Series("tree", values.tolist()),
    "polars frame": lambda values: pl.DataFrame({"tree": values.tolist()}),
    "pyarrow": lambda values: pa.table({"tree": values.tolist()}),
    "2-D array": lambda values: values.to_numpy()[:, None],
}


@every_object
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_of_the_groups_changes_nothing(name, container, data, model, reference):
    if name == "select_fair" and container == "pyarrow" and sklearn.__version__.startswith("1.6."):
        pytest.skip("scikit-learn 1.6 takes no rows of pyarrow tables")
    answer = ANSWERS[name](data, CONTAINERS[container](data["tree"]), model, None)
    np.testing.assert_array_equal(answer, reference[name])


@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in OF_FOLDS])
def test_the_order_of_rows_changes_nothing(name, data, model, reference):
    shuffled = data.sample(frac=1, random_state=1).reset_index(drop=True)
    np.testing.assert_allclose(ANSWERS[name](shuffled, shuffled["tree"].to_numpy(), model, None), reference[name])


@every_object
def test_renaming_groups_in_the_same_order_changes_nothing(name, data, model, reference):
    renamed = data["tree"].map({"ash": 3, "birch": 20, "cedar": 100}).to_numpy()
    np.testing.assert_array_equal(ANSWERS[name](data, renamed, model, None), reference[name])


@pytest.mark.parametrize(
    "made",
    [
        make_fairness_scorer("equalized_odds", sensitive_features="tree"),
        select_fair("accuracy", "fair", alpha=0.05),
        SensitiveStratifiedKFold(sensitive_features="tree"),
        AuditedClassifier(LogisticRegression()),
        AuditedRegressor(LinearRegression()),
    ],
    ids=lambda made: type(made).__name__,
)
def test_what_goes_into_a_search_is_pickled_whole(made):
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
