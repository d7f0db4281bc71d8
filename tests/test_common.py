"""What every public test keeps, whatever it tests: the same people give the same answer.

A new public test class is added to `CASES` and is then held to everything in this file.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfairtest import CountTable, FairnessTest

#: Public test classes; each takes the arguments of `FairnessTest.fit` and has frames and numbers that end in "_".
CLASSES = [FairnessTest]


@dataclass(frozen=True)
class Case:
    """One way to set up a test."""

    cls: type
    params: dict[str, Any]
    control: bool = False
    exact: bool = True
    name: str = field(default="", compare=False)
    #: Columns of the people that are passed too: what a person counts, or who belongs together.
    more: tuple[str, ...] = ()


pytestmark = [
    pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore:sensitive_features. .* left out of comparisons:UserWarning"),
]


def gain(y_true, y_pred, sample_weight=None):
    """A metric of one's own: what a right decision earns, less what a decision costs."""
    positive = np.max([y_true.max(), y_pred.max()])
    return np.average((y_pred == positive) * (2.0 * (y_true == positive) - 1), weights=sample_weight)


def earned(y_true, y_pred):
    """The same without weights."""
    positive = max(y_true.max(), y_pred.max())
    return ((y_pred == positive) * (2.0 * (y_true == positive) - 1)).mean()


DRAWN = {"n_resamples": 299}
CASES = [
    Case(cls, params, control, exact, f"{cls.__name__}-{name}")
    for cls in CLASSES
    for name, params, control, exact in [
        ("defaults", {}, False, True),
        ("every rate", {"metric": ["selection_rate", "conditional_use_accuracy", "accuracy", "f1"]}, False, True),
        ("ratio to the rest", {"metric": "precision", "disparity": "ratio", "compare": "to_rest"}, False, True),
        ("to overall", {"metric": "jaccard", "compare": "to_overall", "adjust": "fdr_by"}, False, True),
        ("margin", {"metric": "selection_rate", "margin": 0.1, "adjust": "bonferroni"}, False, True),
        ("equivalence", {"metric": "accuracy", "margin": 0.2, "alternative": "equivalence"}, False, True),
        ("strata", {"metric": "demographic_parity", "adjust": None}, True, True),
        ("asymptotic", {"metric": "f1", "method": "asymptotic"}, True, True),
        ("permutation", {"method": "permutation", "n_resamples": 299}, False, False),
        ("raw permutation", {"variance": None, "within": None, "n_resamples": 299}, True, False),
        ("bootstrap", {"metric": "accuracy", "method": "bootstrap", "n_resamples": 299}, False, False),
        ("max_t", {"adjust": "max_t", "n_resamples": 299}, False, False),
        ("balanced accuracy", {"metric": "balanced_accuracy", "compare": "to_overall", **DRAWN}, False, False),
        ("correlation", {"metric": "matthews_corrcoef", "disparity": "ratio", "adjust": None, **DRAWN}, True, False),
        ("residual", {"metric": "mean_residual", "compare": "to_rest", "variance": "jackknife", **DRAWN}, True, False),
        ("function", {"metric": gain, "variance": "jackknife", "n_resamples": 149}, False, False),
        (
            "function bootstrap",
            {"metric": earned, "variance": "bootstrap", "compare": "to_rest", "n_resamples": 79},
            False,
            False,
        ),
        ("metric max_t", {"metric": ["mean_residual", "f1"], "adjust": "max_t", **DRAWN}, False, False),
        ("metric bootstrap", {"metric": "mean_residual", "method": "bootstrap", **DRAWN}, True, False),
        ("adaptive", {"metric": "balanced_accuracy", "n_resamples": "adaptive"}, False, False),
    ]
] + [
    Case(cls, params, control, exact, f"{cls.__name__}-{name}", more)
    for cls in CLASSES
    for name, params, control, exact, more in [
        ("weights", {**DRAWN}, False, False, ("weight",)),
        ("clusters", {"metric": "accuracy", **DRAWN}, False, False, ("household",)),
        ("weighted residual", {"metric": "mean_residual", **DRAWN}, True, False, ("weight",)),
        ("clusters and weights", {"metric": "balanced_accuracy", **DRAWN}, False, False, ("weight", "household")),
        ("clusters bootstrap", {"metric": "f1", "method": "bootstrap", **DRAWN}, False, False, ("household",)),
        ("clusters inside", {"metric": "mean_residual", **DRAWN}, False, False, ("query",)),
        ("clusters asymptotic", {"metric": "f1", "method": "asymptotic"}, False, True, ("query",)),
    ]
]
FRAMES = ("by_group_", "comparisons_", "excluded_")
VALUES = ("p_value_", "statistic_", "disparity_", "confidence_interval_", "p_value_interval_", "rejected_", "concern_")
FACTS = ("method_", "variance_", "within_", "adjust_", "n_resamples_", "groups_", "n_samples_")

every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
#: Tables count people, who have no weights and no clusters there.
every_counted_case = pytest.mark.parametrize(
    "case", [case for case in CASES if not case.more], ids=[case.name for case in CASES if not case.more]
)
#: Functions of one's own read labels as they are, and a residual is of numbers.
LABELLED = [case for case in CASES if "residual" not in str(case.params) and not callable(case.params.get("metric"))]
default_case = pytest.mark.parametrize("cls", CLASSES)


def in_turn(name, values, cases):
    """Each case with one of the values, in turn, and the first case with all of them; every other pair is slow."""
    pairs = [
        pytest.param(
            case, value, id=f"{value}-{case.name}", marks=pytest.mark.slow if i and i % len(values) != j else ()
        )
        for i, case in enumerate(cases)
        for j, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("case", name), pairs)


def people(n=100, seed=0):
    """Three unequal groups, one without positives of any kind, and one of a single person; two strata."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["ash", "birch", "cedar"], n, p=[0.5, 0.3, 0.2])
    y_true = rng.random(n) < 0.5
    y_pred = rng.random(n) < np.where(y_true, 0.7, 0.3) + 0.2 * (group == "cedar")
    soil = rng.choice(["clay", "sand"], n)
    drawn = pd.DataFrame({"y_true": y_true.astype(int), "y_pred": y_pred.astype(int), "tree": group, "soil": soil})
    added = pd.DataFrame(
        {"y_true": 0, "y_pred": 0, "tree": ["dogwood"] * 4 + ["elm"], "soil": ["clay", "sand", "sand", "sand", "clay"]}
    )
    people = pd.concat([drawn, added], ignore_index=True)
    people["weight"] = rng.integers(1, 5, len(people)) / 4
    people["household"] = people["tree"] + (people.groupby("tree").cumcount() // 3).map("{:03d}".format)
    # Queries of several trees; those who are left over are alone in theirs.
    people["query"] = [f"q{number // 7:02d}" if number < 98 else f"r{number:03d}" for number in people.index]
    return people


ARGUMENTS = {"weight": "sample_weight", "household": "clusters", "query": "clusters"}


def run(case, data, *, labels=None, container=None, sensitive=None, **params):
    """Fit a test of this case to the people, their labels renamed, their columns in some container."""
    labels = labels or {0: 0, 1: 1}
    put = container or (lambda values, name: values.rename(name))
    features = {"sensitive_features": put(data["tree"], "tree") if sensitive is None else sensitive}
    if case.control:
        features["control_features"] = put(data["soil"], "soil")
    features |= {ARGUMENTS[name]: put(data[name], None) for name in case.more}
    test = case.cls(**{"random_state": 7, **case.params, **params})
    return test.fit(put(data["y_pred"].map(labels), None), put(data["y_true"].map(labels), None), **features)


def assert_same(one, two, *, index_names=True):
    """Compare everything two fitted tests say, to the last digit."""
    for name in FRAMES:
        a, b = getattr(one, name), getattr(two, name)
        if not index_names:
            a, b = a.rename_axis(index=[None] * a.index.nlevels), b.rename_axis(index=[None] * b.index.nlevels)
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    for name in (*VALUES, *FACTS):
        np.testing.assert_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(one.null_distribution_, two.null_distribution_)


@pytest.fixture(scope="module")
def data():
    """The people of this file."""
    return people()


@pytest.fixture(scope="module")
def reference(data):
    """Each case, fitted when it is first asked for."""

    class Fitted(dict):
        def __missing__(self, name):
            (case,) = (case for case in CASES if case.name == name)
            return self.setdefault(name, run(case, data))

    return Fitted()


# The same people ------------------------------------------------------------------------------------------------------


@every_case
def test_the_people_of_this_file_leave_something_out(case, reference):
    excluded = reference[case.name].excluded_
    assert "elm" in list(excluded["group"])
    rates = {row.metric for row in reference[case.name].comparisons_.itertuples()}
    everywhere = {"selection_rate", "accuracy", "negative_predictive_value", "false_positive_rate", "mean_residual"}
    left_out = list(excluded.loc[excluded["stratum"].isna(), "group"])
    assert bool(rates - everywhere - {"gain", "earned"}) == ("dogwood" in left_out)


@every_case
def test_fitting_again_gives_the_same(case, data, reference):
    assert_same(run(case, data), reference[case.name])


@every_case
def test_the_order_of_rows_changes_nothing(case, data, reference):
    shuffled = data.sample(frac=1, random_state=3)
    assert_same(run(case, shuffled), reference[case.name])


@in_turn("n_jobs", [2, -1], CASES)
def test_n_jobs_changes_nothing(case, n_jobs, data, reference):
    assert_same(run(case, data, n_jobs=n_jobs), reference[case.name])


CONTAINERS = {
    "list": (lambda values, name: values.tolist(), False),
    "tuple": (lambda values, name: tuple(values), False),
    "numpy": (lambda values, name: values.to_numpy(), False),
    "numpy strings": (lambda values, name: np.array(values.tolist()), False),
    "pandas": (lambda values, name: values.rename(name), True),
    "pandas category": (lambda values, name: values.astype("category").rename(name), True),
    "pandas frame": (lambda values, name: values.rename(name).to_frame() if name else values, True),
    "polars": (lambda values, name: pl.Series(name or "", values.to_numpy()), True),
    "polars frame": (
        lambda values, name: pl.DataFrame({name: values.tolist()}) if name else pl.Series(values.tolist()),
        True,
    ),
    "pyarrow": (
        lambda values, name: pa.table({name: values.tolist()}) if name else pa.array(values.tolist()),
        True,
    ),
    "dict": (lambda values, name: {name: values.tolist()} if name else values.tolist(), True),
    "2-D array": (lambda values, name: values.to_numpy()[:, None] if name else values.to_numpy(), False),
}


@in_turn("container", list(CONTAINERS), CASES)
def test_the_container_changes_nothing(case, container, data, reference):
    put, names_survive = CONTAINERS[container]
    test = run(case, data, container=put)
    assert_same(test, reference[case.name], index_names=names_survive)
    if not names_survive:
        assert test.by_group_.index.names[-1] == "sensitive_feature_0"


LABELS = {
    "strings": ({0: "refused", 1: "granted"}, "granted"),
    "booleans": ({0: False, 1: True}, None),
    "floats": ({0: 0.0, 1: 1.0}, None),
    "-1 and 1": ({0: -1, 1: 1}, None),
    "1 and 2": ({0: 1, 1: 2}, 2),
    "0 is positive": ({0: 1, 1: 0}, 0),
}


@in_turn("labels", list(LABELS), LABELLED)
def test_how_labels_are_written_changes_nothing(case, labels, data, reference):
    mapping, pos_label = LABELS[labels]
    test, before = run(case, data, labels=mapping, pos_label=pos_label), reference[case.name]
    if case.exact or mapping[0] < mapping[1]:
        assert_same(test, before)
    else:  # the tables are drawn cell by cell, in the order of the labels: p-values keep a Monte-Carlo error
        pd.testing.assert_series_equal(test.comparisons_["disparity"], before.comparisons_["disparity"])
        np.testing.assert_allclose(test.comparisons_["p_value"], before.comparisons_["p_value"], atol=0.15)
    assert test.pos_label_ == mapping[1]
    assert type(test.pos_label_) is type(mapping[1])


@every_counted_case
def test_merged_shards_are_the_whole(case, data, reference):
    # The first shard lacks groups, the second has people of all.
    first = data[data["tree"].isin(["ash", "birch"]) & (data.index < 75)]
    shards = [first, data.drop(first.index)]
    tables = [
        CountTable.from_predictions(
            shard["y_true"],
            shard["y_pred"],
            sensitive_features=shard[["tree"]],
            control_features=shard[["soil"]] if case.control else None,
        )
        for shard in shards
    ]
    merged = case.cls.from_table(tables[0].merge(tables[1]), random_state=7, **case.params)
    assert_same(merged, reference[case.name])


@every_counted_case
def test_predictions_and_a_table_of_them_give_the_same(case, data, reference):
    features = {"sensitive_features": data["tree"], "control_features": data["soil"] if case.control else None}
    test = case.cls.from_predictions(data["y_true"], data["y_pred"], **features, random_state=7, **case.params)
    assert_same(test, reference[case.name])


@every_case
def test_another_seed_changes_only_what_is_drawn(case, data, reference):
    test, before = run(case, data, random_state=8), reference[case.name]
    drawn = before.null_distribution_ is not None
    assert drawn is not case.exact
    if not drawn:
        assert_same(test, before)
    else:
        assert not np.array_equal(test.null_distribution_, before.null_distribution_)
    np.testing.assert_array_equal(test.comparisons_["disparity"], before.comparisons_["disparity"])


@default_case
def test_an_enumerated_law_draws_no_random_number(cls, data):
    generator, state = np.random.RandomState(5), np.random.RandomState(5).random_sample()
    np.random.seed(5)
    case = Case(cls, {"metric": "accuracy"})
    run(case, data, random_state=None)
    run(case, data, random_state=generator)
    assert np.random.random_sample() == generator.random_sample() == state


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
@default_case
def test_a_generator_is_as_good_as_an_integer(cls, kind, data):
    case = next(c for c in CASES if c.cls is cls and not c.exact)
    assert_same(run(case, data, random_state=kind(3)), run(case, data, random_state=kind(3)))


# Names of groups ------------------------------------------------------------------------------------------------------

#: New names in the same order, and in the reverse order.
SAME_ORDER = {
    name: dict(zip(["ash", "birch", "cedar", "dogwood", "elm"], names, strict=True))
    for name, names in {
        "strings": ["A", "B", "C", "D", "E"],
        "integers": [3, 20, 100, 101, 1000],
        "floats": [-0.5, 0.0, 2.25, 1e3, 1e300],
        "unicode": ["", "Ä", "Ω", "日本", "😀"],
        "mixed types": [False, 2.5, 10, "", "1"],
    }.items()
}
REVERSED = dict(zip(["ash", "birch", "cedar", "dogwood", "elm"], "zyxwv", strict=True))


@in_turn("names", list(SAME_ORDER), CASES)
def test_renaming_groups_in_the_same_order_changes_their_names_only(case, names, data, reference):
    mapping = SAME_ORDER[names]
    renamed = [mapping[name] for name in data["tree"]]
    test, before = run(case, data, sensitive=renamed), reference[case.name]
    assert test.groups_ == list(mapping.values())
    ours, theirs = test.comparisons_, before.comparisons_
    assert list(ours["group"]) == [mapping[name] for name in theirs["group"]]
    numbers = [name for name in ours.columns if name not in ("group", "other")]
    pd.testing.assert_frame_equal(ours[numbers], theirs[numbers], check_exact=True)
    pd.testing.assert_frame_equal(
        test.by_group_.reset_index(drop=True), before.by_group_.reset_index(drop=True), check_exact=True
    )
    for name in VALUES:
        np.testing.assert_equal(getattr(test, name), getattr(before, name))
    names = ["group", "other"]
    pd.testing.assert_frame_equal(test.excluded_.drop(columns=names), before.excluded_.drop(columns=names))


@every_case
def test_renaming_groups_in_reverse_order_changes_signs_and_no_p_value(case, data, reference):
    back = {new: old for old, new in REVERSED.items()}
    test, before = run(case, data, sensitive=data["tree"].map(REVERSED)), reference[case.name]
    ours, theirs = test.comparisons_, before.comparisons_
    assert len(ours) == len(theirs)
    assert len(test.excluded_) == len(before.excluded_)
    turned = case.params.get("compare", "between_groups") == "between_groups"
    # Where the law is simulated, another group order draws other tables: Monte-Carlo error of 299 resamples.
    tolerance = {"rel": 1e-9} if case.exact else {"abs": 0.15}
    for row in theirs.itertuples():
        key = (row.metric, row.stratum)
        pair = (row.group, row.other)
        (match,) = [
            other
            for other in ours.itertuples()
            if (other.metric, other.stratum) == key
            and {back.get(other.group), back.get(other.other, other.other)} == set(pair)
        ]
        assert match.p_value == pytest.approx(row.p_value, **tolerance)
        if case.exact:
            assert match.p_value_adjusted == pytest.approx(row.p_value_adjusted, rel=1e-9)
        if not turned:
            assert match.disparity == pytest.approx(row.disparity, rel=1e-12)
        elif case.params.get("disparity") == "ratio":
            assert match.disparity == pytest.approx(1 / row.disparity, rel=1e-12)
        else:
            assert match.disparity == pytest.approx(-row.disparity, rel=1e-12)
            if case.params.get("variance") != "bootstrap":  # drawn, too
                assert match.statistic == pytest.approx(-row.statistic, rel=1e-9)
            if case.exact:
                assert (match.ci_low, match.ci_high) == pytest.approx((-row.ci_high, -row.ci_low), abs=1e-9)
    if case.exact:
        assert test.p_value_ == pytest.approx(before.p_value_, rel=1e-9)
        assert test.concern_ == before.concern_


# scikit-learn's manners -----------------------------------------------------------------------------------------------


@every_case
def test_fit_returns_the_test_and_leaves_its_parameters_and_the_data_alone(case, data):
    before = data.copy()
    test = case.cls(random_state=7, **case.params)
    params = test.get_params(deep=False)
    features = {"control_features": data[["soil"]]} if case.control else {}
    fitted = test.fit(data["y_pred"], data["y_true"], sensitive_features=data["tree"], **features)
    assert fitted is test
    assert test.get_params(deep=False) == params
    pd.testing.assert_frame_equal(data, before)


@every_case
def test_a_pickled_test_says_the_same(case, reference):
    before = reference[case.name]
    after = pickle.loads(pickle.dumps(before))
    assert_same(after, before)
    assert str(after) == str(before)
    assert repr(after) == repr(before)


@default_case
def test_cloning_keeps_the_fitted_estimator_and_drops_the_fit(cls):
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    test = cls(model, metric="selection_rate", n_resamples=99)
    test.fit([[0.0], [3.0]] * 4, sensitive_features=list("aabbabab"))
    copy = clone(test)
    assert copy.estimator is model
    assert copy.get_params(deep=False) == test.get_params(deep=False)
    assert not hasattr(copy, "p_value_")
    copy.fit([[0.0], [3.0]] * 4, sensitive_features=list("aabbabab"))
    assert_same(copy, test)


@default_case
def test_cloning_copies_no_model(cls):
    class Unique:
        """A model that cannot be copied: it holds a connection, say."""

        def __deepcopy__(self, memo):
            raise TypeError("this model cannot be copied")

        def predict(self, X):
            return [1 for _ in X]

    model = Unique()
    assert clone(cls(model)).estimator is model


@default_case
def test_parameters_are_set_and_read_back(cls):
    model = LogisticRegression(C=2.0)
    test = cls(model)
    assert test.get_params() == test.get_params(deep=False)
    assert test.get_params()["estimator"] is model
    test.set_params(metric="f1", adjust=None)
    assert (test.metric, test.adjust) == ("f1", None)
    with pytest.raises(ValueError, match="nonsense"):
        test.set_params(nonsense=1)


@default_case
def test_creating_a_test_checks_nothing(cls):
    assert cls(metric="nonsense", margin="wide").get_params()["margin"] == "wide"


@default_case
def test_an_unfitted_test_shows_its_parameters(cls):
    test = cls(metric="f1")
    assert repr(test) == str(test) == f"{cls.__name__}(metric='f1')"


@default_case
def test_a_fitted_test_prints_a_sentence_and_its_repr_stays_short(cls, data):
    test = cls(metric="f1").fit(data["y_pred"], data["y_true"], sensitive_features=data["tree"])
    assert repr(test) == f"{cls.__name__}(metric='f1')"
    assert "tree" in str(test).splitlines()[0]
    assert test._repr_html_()


@default_case
def test_a_second_fit_leaves_nothing_of_the_first(cls, data):
    features = {"sensitive_features": data["tree"]}
    first = {"metric": "selection_rate", "alternative": "equivalence", "margin": 0.1}
    second = {"metric": "f1", "alternative": "two-sided", "margin": None}
    test = cls(**first).fit(data["y_pred"], data["y_true"], **features)
    test.set_params(**second).fit(data["y_pred"], data["y_true"], **features)
    fresh = cls(**second).fit(data["y_pred"], data["y_true"], **features)
    assert_same(test, fresh)
    assert {name for name in vars(test) if name.endswith("_")} == {name for name in vars(fresh) if name.endswith("_")}


@default_case
def test_only_fitting_sets_attributes_and_their_names_end_in_an_underscore(cls, data):
    test = cls()
    before = set(vars(test))
    assert before == set(test.get_params(deep=False))
    test.fit(data["y_pred"], data["y_true"], sensitive_features=data["tree"])
    public = {name for name in set(vars(test)) - before if not name.startswith("_")}
    assert public
    assert all(name.endswith("_") for name in public)


@default_case
def test_the_groups_are_requested_without_ceremony(cls):
    request = cls().get_metadata_routing().fit.requests
    assert request["sensitive_features"] is True
    assert request["control_features"] is True


@default_case
def test_a_frame_can_be_written_to_any_file(cls, data, tmp_path):
    both = data[["tree", "soil"]]
    test = cls().fit(data["y_pred"], data["y_true"], sensitive_features=both)
    frame = test.to_frame()
    assert list(frame.columns) == list(test.comparisons_.columns)
    assert len(frame) == len(test.comparisons_)
    assert "ash, clay" in list(frame["group"])
    frame.to_parquet(tmp_path / "frame.parquet")
    frame.to_csv(tmp_path / "frame.csv", index=False)
    back = pd.read_csv(tmp_path / "frame.csv", keep_default_na=False)
    np.testing.assert_allclose(back["p_value"], frame["p_value"], rtol=1e-12)
    frame["group"] = "changed"
    assert ("ash", "clay") in list(test.comparisons_["group"])


@default_case
def test_to_frame_and_only_to_frame_needs_a_fit(cls):
    with pytest.raises(NotFittedError):
        cls().to_frame()
