"""What `tests/test_common.py` asks of tests of groups, asked of the one for continuous features."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from skfairtest import CorrelationFairnessTest

VALUES = ("p_value_", "statistic_", "disparity_", "confidence_interval_", "p_value_interval_", "rejected_", "concern_")
FACTS = ("method_", "adjust_", "n_resamples_", "n_samples_", "pos_label_")


def covariance(x, e):
    """A measure of one's own."""
    return float(np.mean((x - x.mean()) * (e - e.mean())))


def squared(y_true, y_pred):
    """An outcome of one's own."""
    return (y_true - y_pred) ** 2


#: Parameters, and whether there are strata.
CASES = {
    "defaults": ({}, False),
    "rank correlation in strata": ({"correlation": "spearman", "of": "residual", "adjust": None}, True),
    "functions": ({"correlation": covariance, "of": squared, "n_resamples": 99}, True),
    "one-sided": ({"alternative": "greater", "of": "prediction", "adjust": "fdr_by"}, False),
    "max_t": ({"adjust": "max_t"}, True),
    "adaptive": ({"n_resamples": "adaptive", "of": "residual"}, False),
}
every_case = pytest.mark.parametrize("case", list(CASES))

CONTAINERS = {
    "list": lambda values, name: values.tolist(),
    "tuple": lambda values, name: tuple(values),
    "numpy": lambda values, name: values.to_numpy(),
    "objects": lambda values, name: values.astype(object).to_numpy(),
    "pandas": lambda values, name: values.rename(name),
    "pandas nullable": lambda values, name: values.convert_dtypes().rename(name),
    "pandas frame": lambda values, name: values.rename(name).to_frame() if name else values,
    "polars": lambda values, name: pl.Series(name or "", values.to_numpy()),
    "polars frame": lambda values, name: pl.DataFrame({name: values.tolist()}) if name else pl.Series(values.tolist()),
    "pyarrow": lambda values, name: pa.table({name: values.tolist()}) if name else pa.array(values.tolist()),
    "dict": lambda values, name: {name: values.tolist()} if name else values.tolist(),
    "2-D array": lambda values, name: values.to_numpy()[:, None] if name else values.to_numpy(),
}
NAMELESS = ("list", "tuple", "numpy", "objects", "2-D array")


@pytest.fixture(scope="module")
def data():
    """Errors that grow with age, which has ties; three sites, one of two people."""
    rng = np.random.default_rng(4)
    n = 90
    age = rng.integers(20, 70, n)
    y_pred = rng.normal(size=n).round(2)
    y_true = (y_pred + rng.normal(size=n) * age / 40).round(2)
    site = np.where(np.arange(n) < 2, "c", rng.choice(["a", "b"], n))
    return pd.DataFrame({"y_true": y_true, "y_pred": y_pred, "age": age, "income": rng.lognormal(size=n), "site": site})


@pytest.fixture(scope="module")
def reference(data):
    """Each case fitted once."""
    return {case: run(case, data) for case in CASES}


def run(case, data, *, put=lambda values, name: values.rename(name), names=("age", "income"), **params):
    """Test the people of a frame; a single feature is put into some container, several are in a frame."""
    given, control = CASES[case]
    features = put(data[names[0]], names[0]) if len(names) == 1 else data[list(names)]
    arguments = {"control_features": put(data["site"], "site")} if control else {}
    params = {"n_resamples": 299, "random_state": 7, **given, **params}
    return CorrelationFairnessTest(**params).fit(
        put(data["y_pred"], None), put(data["y_true"], None), sensitive_features=features, **arguments
    )


def assert_same(one, two, *, names=True):
    """Compare everything two tests say, to the last digit."""
    for name in ("comparisons_", "excluded_"):
        a, b = (getattr(test, name).drop(columns=[] if names else ["feature"]) for test in (one, two))
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    for name in (*VALUES, *FACTS):
        np.testing.assert_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(one.null_distribution_, two.null_distribution_)
    if names:
        assert str(one) == str(two)


@every_case
def test_fitting_again_gives_the_same(case, data, reference):
    assert_same(run(case, data), reference[case])


@every_case
def test_the_order_of_rows_changes_nothing(case, data, reference):
    assert_same(run(case, data.sample(frac=1, random_state=3)), reference[case])


@every_case
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_n_jobs_changes_nothing(case, n_jobs, data, reference):
    assert_same(run(case, data, n_jobs=n_jobs), reference[case])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_n_jobs_changes_nothing_of_several_chunks(n_jobs, data):
    assert_same(run("defaults", data, n_jobs=n_jobs, n_resamples=999), run("defaults", data, n_resamples=999))


@every_case
@pytest.mark.parametrize("container", list(CONTAINERS))
def test_the_container_changes_nothing(case, container, data):
    test, before = (run(case, data, names=["age"], put=put) for put in (CONTAINERS[container], CONTAINERS["pandas"]))
    assert_same(test, before, names=container not in NAMELESS)
    if container in NAMELESS:
        assert set(test.comparisons_["feature"]) == {"sensitive_feature_0"}


@every_case
def test_another_seed_changes_only_what_is_drawn(case, data, reference):
    test, before = run(case, data, random_state=8), reference[case]
    assert not np.array_equal(test.null_distribution_, before.null_distribution_)
    for name in ("correlation", "standard_error", "statistic"):
        np.testing.assert_array_equal(test.comparisons_[name], before.comparisons_[name])


@every_case
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_as_good_as_an_integer(case, kind, data):
    assert_same(run(case, data, random_state=kind(3)), run(case, data, random_state=kind(3)))


@every_case
def test_fit_leaves_its_parameters_and_the_data_alone(case, data):
    before = data.copy()
    test = run(case, data)
    assert test.get_params(deep=False)["random_state"] == 7
    assert test.get_params(deep=False)["correlation"] is CASES[case][0].get("correlation", "pearson")
    pd.testing.assert_frame_equal(data, before)


@every_case
def test_a_pickled_test_says_the_same(case, reference):
    after = pickle.loads(pickle.dumps(reference[case]))
    assert_same(after, reference[case])
    assert repr(after) == repr(reference[case])


@every_case
def test_a_clone_is_unfitted_and_gives_the_same(case, data):
    given, _ = CASES[case]
    model = LinearRegression().fit(data[["income"]], data["y_true"])
    test = CorrelationFairnessTest(model, **{"n_resamples": 99, "random_state": 7, **given})
    arguments = (data[["income"]], data["y_true"])
    test.fit(*arguments, sensitive_features=data["age"])
    copy = clone(test)
    assert copy.estimator is model
    assert copy.get_params(deep=False) == test.get_params(deep=False)
    assert not hasattr(copy, "p_value_")
    assert_same(copy.fit(*arguments, sensitive_features=data["age"]), test)


def test_only_fitting_sets_attributes_and_their_names_end_in_an_underscore(data):
    test = CorrelationFairnessTest(n_resamples=99)
    assert set(vars(test)) == set(test.get_params(deep=False))
    before = set(vars(test))
    test.fit(data["y_pred"], data["y_true"], sensitive_features=data["age"])
    public = {name for name in set(vars(test)) - before if not name.startswith("_")}
    assert public
    assert all(name.endswith("_") for name in public)


def test_a_second_fit_leaves_nothing_of_the_first(data):
    test = run("functions", data)
    test.set_params(**CorrelationFairnessTest(n_resamples=299, random_state=7).get_params(deep=False))
    test.fit(data["y_pred"], data["y_true"], sensitive_features=data[["age", "income"]])
    assert_same(test, run("defaults", data))


def test_a_frame_can_be_written_to_any_file(data, tmp_path):
    frame = run("functions", data).to_frame()
    frame.to_parquet(tmp_path / "frame.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame, check_dtype=False)
