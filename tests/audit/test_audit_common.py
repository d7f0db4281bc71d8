"""What every public class keeps, for audits: the same people give the same answer, whoever computes it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import set_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfairtest import CountTable, FairnessAudit

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]

CASES = {
    "standard": {},
    "ratios": {"metrics": ["precision", "f1"], "disparity": "ratio", "compare": "to_overall"},
    "drawn": {"metrics": ["roc_auc", "mean_residual"], "n_resamples": 599},
    "margin": {"metrics": "selection_rate", "margin": 0.05, "adjust": "fdr_bh"},
}
every_case = pytest.mark.parametrize("params", list(CASES.values()), ids=list(CASES))
#: Cases that take long; other containers than the first are slow.
LONG = ("standard", "ratios")


@pytest.fixture(scope="module")
def people():
    """Two features, a stratum, labels and scores."""
    rng = np.random.default_rng(0)
    tree = rng.choice(["ash", "birch", "cedar"], 160, p=[0.5, 0.3, 0.2])
    y = rng.random(160) < 0.5
    score = np.clip(0.5 * y + 0.6 * rng.random(160) * (1 + (tree == "cedar")) / 2, 0, 1)
    return pd.DataFrame(
        {
            "y_true": y.astype(int),
            "y_pred": (score > 0.5).astype(int),
            "score": score.round(2),
            "tree": tree,
            "moss": rng.choice(["no", "yes"], 160),
            "soil": rng.choice(["clay", "sand"], 160),
        }
    )


@pytest.fixture(scope="module")
def expected(people):
    """The audit of these people, made once for each case."""
    found = {}

    def find(params):
        key = str(params)
        if key not in found:
            found[key] = run(people, params)
        return found[key]

    return find


def run(people, params, *, put=lambda values: values, frame=lambda values: values, **more):
    return FairnessAudit.from_predictions(
        put(people["y_true"]),
        put(people["y_pred"]),
        y_score=put(people["score"]),
        sensitive_features=frame(people[["tree", "moss"]]),
        control_features=frame(people[["soil"]]) if params.get("metrics") == ["precision", "f1"] else None,
        **{"random_state": 7, **params, **more},
    )


def undated(audit):
    """Return the text of an audit without the second in which it was made."""
    return str(audit).replace(audit.record_.created, "")


def assert_same(one, two):
    for name in ("results_", "by_group_", "excluded_", "summary_"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(two, name), check_exact=True)
    assert (one.p_value_, one.rejected_, one.n_samples_) == (two.p_value_, two.rejected_, two.n_samples_)
    assert one.record_.null_distribution == two.record_.null_distribution
    assert undated(one) == undated(two)


@every_case
def test_the_order_of_rows_changes_nothing(people, expected, params):
    assert_same(expected(params), run(people.sample(frac=1, random_state=1), params))


@every_case
def test_n_jobs_changes_nothing(people, expected, params):
    assert_same(expected(params), run(people, params, n_jobs=2))


CONTAINERS = {
    "polars": (lambda values: pl.Series(values.to_numpy()), pl.from_pandas),
    "pyarrow": (lambda values: pa.array(values.tolist()), lambda frame: pa.table(frame.to_dict("list"))),
    "dict": (lambda values: values.tolist(), lambda frame: frame.to_dict("list")),
    "numpy": (lambda values: values.to_numpy(), lambda frame: {name: frame[name].to_numpy() for name in frame}),
}


@pytest.mark.parametrize(
    ("params", "container"),
    [
        pytest.param(params, container, id=f"{name}-{container}", marks=pytest.mark.slow if name in LONG and i else ())
        for name, params in CASES.items()
        for i, container in enumerate(CONTAINERS)
    ],
)
def test_the_container_changes_nothing(people, expected, params, container):
    put, frame = CONTAINERS[container]
    assert_same(expected(params), run(people, params, put=put, frame=frame))


@every_case
def test_another_order_of_features_changes_no_p_value(people, expected, params):
    before, after = expected(params), run(people[[*people.columns[:3], "moss", "tree", "soil"]], params)
    swapped = FairnessAudit.from_predictions(
        people["y_true"],
        people["y_pred"],
        y_score=people["score"],
        sensitive_features=people[["moss", "tree"]],
        control_features=people[["soil"]] if params.get("metrics") == ["precision", "f1"] else None,
        random_state=7,
        **params,
    )
    assert_same(before, after)
    for name in ("tree", "moss"):
        columns = ["group", "other", "p_value", "p_value_adjusted", "disparity"]
        ours, theirs = (found.results_[found.results_["feature"] == name][columns] for found in (before, swapped))
        pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs.reset_index(drop=True), rtol=1e-12)


@every_case
def test_renaming_groups_in_the_same_order_changes_their_names_only(people, expected, params):
    renamed = people.assign(tree=people["tree"].map({"ash": "a", "birch": "b", "cedar": "c"}))
    before, after = expected(params).results_, run(renamed, params).results_
    numbers = ["metric", "stratum", "n_group", "disparity", "p_value", "p_value_adjusted", "minimum_detectable"]
    pd.testing.assert_frame_equal(before[numbers], after[numbers], check_exact=True)


def test_predictions_and_a_table_of_them_give_the_same(people):
    features = people[["tree", "moss"]]
    table = CountTable.from_predictions(people["y_true"], people["y_pred"], sensitive_features=features)
    counted = FairnessAudit.from_table(table, random_state=0)
    given = FairnessAudit.from_predictions(
        people["y_true"], people["y_pred"], sensitive_features=features, random_state=0
    )
    pd.testing.assert_frame_equal(counted.results_, given.results_, check_exact=True)


def test_a_pickled_audit_says_the_same(expected):
    found = expected({})
    assert_same(pickle.loads(pickle.dumps(found)), found)


def test_cloning_keeps_the_fitted_estimator_and_drops_the_fit(people):
    model = LogisticRegression().fit(people[["score"]], people["y_true"])
    audit = FairnessAudit(model, metrics="accuracy").fit(
        people[["score"]], people["y_true"], sensitive_features=people["tree"]
    )
    copied = clone(audit)
    assert copied.estimator is model
    assert not hasattr(copied, "results_")
    assert copied.metrics == "accuracy"


def test_an_audit_is_the_last_step_of_a_pipeline(people):
    model = LogisticRegression().fit(people[["score"]], people["y_true"])
    pipeline = make_pipeline("passthrough", FairnessAudit(model, metrics="accuracy"))
    pipeline.fit(people[["score"]], people["y_true"], fairnessaudit__sensitive_features=people["tree"])
    expected = pipeline[-1].results_
    set_config(enable_metadata_routing=True)
    try:
        pipeline.fit(people[["score"]], people["y_true"], sensitive_features=people["tree"])
    finally:
        set_config(enable_metadata_routing=False)
    pd.testing.assert_frame_equal(pipeline[-1].results_, expected)


def test_nothing_can_be_written_before_fit():
    for write in ("to_frame", "to_json", "to_html", "to_markdown"):
        with pytest.raises(NotFittedError):
            getattr(FairnessAudit(), write)()


def test_a_second_fit_leaves_nothing_of_the_first(people):
    audit = FairnessAudit(metrics="selection_rate", random_state=0)
    audit.fit(people["y_pred"], sensitive_features=people[["tree", "moss"]])
    audit.fit(people["y_pred"], sensitive_features=people["moss"])
    assert audit.results_["feature"].tolist() == ["moss"]
    fresh = FairnessAudit(metrics="selection_rate", random_state=0)
    fresh.fit(people["y_pred"], sensitive_features=people["moss"])
    assert_same(audit, fresh)


def test_an_unfitted_audit_shows_its_parameters():
    assert str(FairnessAudit(metrics="accuracy")) == "FairnessAudit(metrics='accuracy')"


def test_a_flat_frame_can_be_written_to_any_file(expected, tmp_path):
    frame = expected({}).to_frame()
    frame.to_parquet(tmp_path / "audit.parquet")
    assert frame["group"].map(type).eq(str).all()
