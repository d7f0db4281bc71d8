"""One reader serves every engine: the same table, hence the same test, no matter which engine counts."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skfairtest import CountTable, FairnessAudit, FairnessTest
from skfairtest.datasets import load_compas
from skfairtest.readers import engines
from tests.readers.engine_frames import EVERY_ENGINE, frame_of

# What engines warn of is theirs: some say what their next version will do.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def compas():
    found = load_compas()
    return found.sensitive_features.assign(reoffended=found.y_true, risk=found.y_pred, decile=found.decile_score)


def synthetic(n, seed=0):
    """People with everything that engines treat differently."""
    rng = np.random.default_rng(seed)
    qualified = rng.random(n) < 0.4
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + qualified)))
    return pd.DataFrame(
        {
            "name": rng.choice(["Zoë", "日本", "a b", "", "NULL", "nan"], n),
            "flag": rng.integers(0, 2, n).astype(bool),
            "zero": rng.choice([0.0, -0.0, 1.5], n),
            "kind": pd.Categorical(rng.choice(["low", "high"], n), categories=["high", "never", "low"]),
            "year": rng.choice(np.array([1, 2, 10], dtype=np.int16), n),
            "qualified": qualified,
            "approved": score > 0.6,
            "score": score,
            "steep": score**40,
            "weight": rng.lognormal(sigma=0.6, size=n),
        }
    )


@pytest.fixture(scope="module")
def people():
    return synthetic(20_000)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_engine_counts_as_memory_does(engine, compas, people, tmp_path):
    table = CountTable.from_frame(
        frame_of(engine, compas, tmp_path),
        y_true="reoffended",
        y_pred="risk",
        sensitive_features=["race", "sex"],
        control_features="age_cat",
    )
    expected = CountTable.from_predictions(
        compas["reoffended"],
        compas["risk"],
        sensitive_features=compas[["race", "sex"]],
        control_features=compas[["age_cat"]],
    )
    assert table == expected
    features = ["name", "flag", "zero", "kind", "year"]
    table = CountTable.from_frame(
        frame_of(engine, people, tmp_path), y_true="qualified", y_pred="approved", sensitive_features=features
    )
    expected = CountTable.from_predictions(people["qualified"], people["approved"], sensitive_features=people[features])
    assert table == expected
    assert [list(map(type, group)) for group in table.groups] == [list(map(type, g)) for g in expected.groups]
    assert table.counts.dtype == np.int64


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_scores_are_in_the_same_bins_on_every_engine(engine, people, tmp_path):
    people = people[:4000]
    frame = frame_of(engine, people, tmp_path)
    asked = {"y_true": "qualified", "y_score": "steep", "sensitive_features": "kind"}
    table = CountTable.from_frame(frame, score_bins=128, **asked)
    assert table == CountTable.from_frame(people, score_bins=128, **asked)
    assert CountTable.from_frame(frame, score_bins=table.score_bins, **asked) == table
    asked |= {"y_score": "score", "score_bins": [0.1, 0.25, 0.5, 0.9]}
    assert CountTable.from_frame(frame, **asked) == CountTable.from_frame(people, **asked)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_weights_are_summed(engine, people, tmp_path):
    frame = frame_of(engine, people, tmp_path)
    table = CountTable.from_frame(frame, y_pred="approved", sensitive_features="kind", sample_weight="weight")
    assert table.groups == (("high",), ("low",))
    assert table.cells == ((False,), (True,))
    for group, kind in enumerate(("high", "low")):
        for cell in (0, 1):
            chosen = people[(people["kind"] == kind) & (people["approved"] == bool(cell))]["weight"]
            expected = [chosen.sum(), (chosen**2).sum()]
            np.testing.assert_allclose(table.weights[0, group, cell], expected, rtol=1e-12)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize(
    ("column", "parameter"),
    [
        ("name", "sensitive_features"),
        ("zero", "sensitive_features"),
        ("approved", "y_pred"),
        ("score", "y_score"),
        ("weight", "sample_weight"),
    ],
)
def test_missing_values_are_counted_and_refused(engine, column, parameter, people, tmp_path):
    few = people.iloc[:500].drop(columns="kind").astype({"approved": object, "name": object})
    few.loc[[3, 70, 499], column] = None
    if engine == "dask":
        few = few.convert_dtypes(dtype_backend="pyarrow")
    asked = {"y_pred": "approved", "sensitive_features": "name"}
    if column == "zero":
        asked["sensitive_features"] = "zero"
    if parameter == "y_score":
        asked["y_score"], asked["score_bins"] = "score", 16
    if parameter == "sample_weight":
        asked["sample_weight"] = "weight"
    with pytest.raises(ValueError, match=rf"{parameter} \(column '{column}'\) has 3 missing values among 500"):
        CountTable.from_frame(frame_of(engine, few, tmp_path), **asked)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow", pytest.param("pyspark", marks=pytest.mark.slow)])
def test_nan_and_null_are_one_kind_of_missing(engine, tmp_path):
    table = pa.table({"group": pa.array([1.0, np.nan, None, 2.0] * 5), "hired": [0, 1] * 10})
    with pytest.raises(ValueError, match="10 missing values among 20"):
        CountTable.from_frame(frame_of(engine, table, tmp_path), y_pred="hired", sensitive_features="group")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"y_score": "x", "score_bins": 4}, r"y_score \(column 'x'\) has 40 missing values among 200: .* frame\.$"),
        ({"y_pred": "y", "sample_weight": "x"}, r"sample_weight \(column 'x'\) (has 40 missing|holds NaN)"),
        ({"y_pred": "y", "control_features": "x"}, r"control_features \(column 'x'\) has 40 missing values among 200"),
    ],
)
def test_nan_in_files_whose_statistics_hide_it_is_missing(engine, asked, message, tmp_path):
    # Parquet's smallest and largest values leave NaN out, and DuckDB believes them.
    x = np.tile([0.2, 0.4, 0.6, 0.8, np.nan], 40)
    frame = pa.table({"x": pa.array(x), "y": np.tile([0, 1], 100), "g": np.repeat(["a", "b"], 100)})
    with pytest.raises(ValueError, match=message):
        CountTable.from_frame(frame_of(engine, frame, tmp_path), sensitive_features="g", **asked)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_only_groups_leave_the_engine(engine, people, tmp_path, monkeypatch):
    collected = []
    run = engines._collected

    def recorded(asked):
        found = run(asked)
        collected.append((len(found), found.columns))
        return found

    monkeypatch.setattr(engines, "_collected", recorded)
    CountTable.from_frame(
        frame_of(engine, people, tmp_path), y_true="qualified", y_pred="approved", sensitive_features="kind"
    )
    assert collected == [(8, ["key0", "key1", "key2", "count"])]


PLANS = {
    "polars lazy": (lambda native: native.explain(), r"AGGREGATE[\s\S]*"),
    "pyarrow dataset": (lambda native: native.explain(), r"AGGREGATE[\s\S]*PROJECT(\[| )"),
    "duckdb": (lambda native: native.explain(), r"(?i)hash.group.by"),
    "ibis": (lambda native: str(__import__("ibis").to_sql(native)), r"GROUP BY"),
    "dask": (lambda native: native.expr.tree_repr(), r"GroupbyAggregation|Groupby"),
    "pyspark": (
        lambda native: native._jdf.queryExecution().executedPlan().toString(),
        r"HashAggregate[\s\S]*HashAggregate",
    ),
}


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=pytest.mark.slow) if name == "pyspark" else name for name in PLANS]
)
def test_the_plan_groups_in_the_engine_and_reads_only_what_is_asked(engine, people, tmp_path):
    described, pattern = PLANS[engine]
    asked = engines.Question((("sensitive_features", "year"),), {"y_pred": "approved"})
    query = engines._grouped(engines.Frame.opened(frame_of(engine, people, tmp_path)), asked, None)
    plan = described(query.to_native())
    assert re.search(pattern, plan), plan
    if engine in ("duckdb", "pyspark"):  # which show what is scanned
        scanned = re.split(r"(?i)parquet.scan|FileScan", plan)[-1].split("PushedFilters")[0]
        assert "approved" in scanned
        assert "weight" not in scanned


# What is refused -----------------------------------------------------------------------------


#: What is asked of a frame, and what is said.
REFUSED = [
    ({"y_pred": "aproved"}, "y_pred='aproved' is not a column of frame, which has 'name', 'flag'"),
    ({"sensitive_features": "score"}, "column 'score' has 20,000 different numbers, more than 20"),
    ({"control_features": "score"}, "control_features: column 'score' has 20,000 different numbers, more than 20"),
    ({"y_pred": "score"}, "y_pred looks like scores"),
    ({"sample_weight": "minus"}, "negative weights, the smallest -2"),
    ({"sample_weight": "nothing"}, "all weights are 0"),
    ({"sample_weight": "infinite"}, "squares are infinite"),
    ({"sample_weight": "name"}, "must hold numbers"),
    ({"score_bins": 8}, "score_bins needs scores: pass y_score"),
    ({"y_score": "score"}, r"y_score has 20,000 distinct values.*score_bins=1024"),
    ({"y_score": "infinite", "score_bins": 2}, "y_score='infinite' must hold finite numbers"),
    ({"y_score": "score", "score_bins": 1}, "score_bins must be an integer of at least 2"),
    ({"y_score": "score", "score_bins": [0.5, 0.2]}, "increasing edges"),
    ({"y_score": "score", "score_bins": "quantile"}, "increasing edges"),
    ({"y_score": "score", "score_bins": True}, "increasing edges"),
    ({"y_score": "score", "score_bins": [np.nan, 1.0]}, "increasing edges"),
    ({"y_score": "score", "score_bins": list(np.linspace(0, 1, 500))}, "500 edges, more than 256"),
    (
        {"y_score": "year", "score_bins": "of probabilities"},
        "score_bins are bins of probabilities, .*'year' has 1 to 10",
    ),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_what_cannot_be_counted_is_refused(asked, message, people):
    people = people.assign(minus=-2.0, nothing=0.0, infinite=np.inf)
    asked = {"y_pred": "approved", "sensitive_features": "kind", **asked}
    if asked.get("score_bins") == "of probabilities":
        scored = {**asked, "y_score": "score", "score_bins": 64}
        asked["score_bins"] = CountTable.from_frame(people, **scored).score_bins
    with pytest.raises(ValueError, match=message):
        CountTable.from_frame(people, **asked)


def test_a_frame_without_rows_is_refused(people):
    with pytest.raises(ValueError, match="frame has no rows"):
        CountTable.from_frame(people.iloc[:0], y_pred="approved", sensitive_features="kind")


def test_what_is_no_frame_is_refused():
    for nothing in (None, [1, 2], np.zeros((3, 2)), {"a": [1]}, "people.parquet"):
        with pytest.raises(ValueError, match="frame must be a data frame of pandas, polars"):
            CountTable.from_frame(nothing, y_pred="a", sensitive_features="b")


def test_more_groups_than_come_back_are_refused(people, monkeypatch):
    monkeypatch.setattr(engines, "MOST_ROWS", 50)
    with pytest.raises(ValueError, match="more than 50 combinations of 'kind', 'qualified', 'score'"):
        CountTable.from_frame(people, y_true="qualified", y_score="score", score_bins=128, sensitive_features="kind")


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_columns_of_one_name_are_refused(engine, tmp_path):
    frame = pd.DataFrame([["f", 0, 1], ["m", 1, 1]], columns=["sex", "hired", "hired"])
    with pytest.raises(ValueError, match="frame has several columns called 'hired'"):
        CountTable.from_frame(frame_of(engine, frame, tmp_path), y_pred="hired", sensitive_features="sex")

    levels = pd.DataFrame([["f", 0]], columns=pd.MultiIndex.from_tuples([("a", "sex"), ("a", "hired")]))
    with pytest.raises(ValueError, match="frame has names of columns in 2 levels: give each column one name"):
        CountTable.from_frame(frame_of(engine, levels, tmp_path), y_pred="hired", sensitive_features="sex")


# Bins ----------------------------------------------------------------------------------------


def test_few_scores_have_a_bin_each(compas):
    asked = {"y_true": "reoffended", "y_score": "decile", "sensitive_features": "race"}
    binned, plain = (CountTable.from_frame(compas, score_bins=bins, **asked) for bins in (1024, None))
    assert binned.score_bins.exact
    assert binned.cells == plain.cells
    assert np.array_equal(binned.counts, plain.counts)
    asked["sensitive_features"] = "sex"
    binned = CountTable.from_frame(compas, score_bins=1024, **asked)
    assert FairnessTest.from_table(binned, metric="roc_auc", method="asymptotic").binning_error_ == 0


def test_the_score_one_is_in_the_last_bin():
    frame = pd.DataFrame(
        {"s": np.linspace(0, 1, 1001), "g": ["a", "b", "a"] * 333 + ["a", "b"], "y": [0, 1] * 500 + [1]}
    )
    for bins in (10, [0.25, 0.5, 1.0]):
        table = CountTable.from_frame(frame, y_true="y", y_score="s", score_bins=bins, sensitive_features="g")
        assert table.score_bins.high[-1] == 1.0
        assert table.n_samples == 1001
    assert table.score_bins.low[-1] == 1.0  # an edge belongs to the bin above it


@pytest.mark.parametrize("column", ["score", "steep"])
@pytest.mark.parametrize("metric", ["roc_auc", "brier_score", "log_loss", "calibration", "average_precision"])
def test_binning_moves_values_less_than_it_says(people, column, metric):
    asked = {"metric": metric, "method": "asymptotic"}
    exact = FairnessTest.from_predictions(
        people["qualified"], None, y_score=people[column], sensitive_features=people["name"], **asked
    )
    table = CountTable.from_frame(people, y_true="qualified", y_score=column, score_bins=256, sensitive_features="name")
    binned = FairnessTest.from_table(table, **asked)
    moved = (exact.by_group_["value"] - binned.by_group_["value"]).abs().max()
    assert 0 < moved <= binned.binning_error_
    assert f"Scores are in {len(table.score_bins):,} bins" in str(binned)
    statistics = pd.concat([exact.comparisons_["statistic"], binned.comparisons_["statistic"]], axis=1, keys=["e", "b"])
    # A few of the highest scores decide on the average precision.
    assert (statistics["e"] - statistics["b"]).abs().max() < (0.15 if metric == "average_precision" else 0.05)


@pytest.mark.filterwarnings("ignore:.* rests on few people:UserWarning")
@pytest.mark.parametrize("metric", ["mean_squared_error", "mean_absolute_error", "r2"])
@pytest.mark.parametrize(
    ("scores", "edges"),
    [
        # One group lies around the true number, at the far ends of the bins on both sides of it.
        ({"a": [0.9999, 1.0], "b": [0.0, 2.0]}, [1.0, 2.5]),
        # One group has the true number, in the middle of a bin.
        ({"a": [*[0.5] * 20, 1.5], "b": [1.0]}, [0.5, 2.0]),
    ],
)
def test_the_error_of_bins_is_a_bound_where_a_bin_holds_the_true_number(metric, scores, edges):
    parts = [pd.DataFrame({"g": g, "t": 1, "s": np.tile(s, 30)}) for g, s in scores.items()]
    others = pd.DataFrame({"g": ["a", "b"] * 20, "t": 3, "s": 3.0})
    frame = pd.concat([*parts, others], ignore_index=True)
    asked = {"metric": metric, "method": "asymptotic"}
    exact = FairnessTest.from_predictions(frame["t"], frame["s"], sensitive_features=frame["g"], **asked)
    table = CountTable.from_frame(frame, y_true="t", y_score="s", score_bins=edges, sensitive_features="g")
    binned = FairnessTest.from_table(table, **asked)
    moved = (exact.by_group_["value"] - binned.by_group_["value"]).abs().max()
    assert 0 < moved <= binned.binning_error_ * (1 + 1e-12)


def test_the_error_of_bins_is_found_for_many_true_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"t": np.tile(np.arange(50), 40), "g": rng.choice(["a", "b"], 2_000)})
    frame["s"] = frame["t"] + rng.normal(size=2_000)
    table = CountTable.from_frame(frame, y_true="t", y_score="s", score_bins=16, sensitive_features="g")
    assert FairnessTest.from_table(table, metric="mean_squared_error", method="asymptotic").binning_error_ > 0


def test_means_of_numbers_are_tested_from_bins(people):
    loss = people.assign(loss=(people["qualified"] - people["score"]) ** 2 * 1_000)
    asked = {"metric": "mean_prediction", "method": "asymptotic"}
    exact = FairnessTest.from_predictions(None, loss["loss"], sensitive_features=loss["name"], **asked)
    table = CountTable.from_frame(loss, y_score="loss", score_bins=512, sensitive_features="name")
    binned = FairnessTest.from_table(table, **asked)
    moved = (exact.by_group_["value"] - binned.by_group_["value"]).abs().max()
    assert 0 < moved <= binned.binning_error_ < 3
    assert binned.statistic_ == pytest.approx(exact.statistic_, rel=0.01)
    # So few people that nobody shares a bin: the error is still told.
    few = CountTable.from_frame(loss.iloc[:600], y_score="loss", score_bins=512, sensitive_features="flag")
    assert FairnessTest.from_table(few, **asked).binning_error_ > 0


def test_bins_of_scores_near_one_are_fine():
    # Saturated probabilities: nearly all of them within a millionth of 1.
    rng = np.random.default_rng(0)
    score = 1 - rng.random(5_000) ** 4 * 1e-6
    frame = pd.DataFrame({"s": score, "g": rng.integers(0, 2, 5_000), "y": rng.integers(0, 2, 5_000)})
    table = CountTable.from_frame(frame, y_true="y", y_score="s", score_bins=100, sensitive_features="g")
    sizes = np.bincount(np.searchsorted(table.score_bins.low, score, side="right") - 1)
    assert len(table.score_bins) == 100
    assert sizes.max() < 100


@pytest.mark.parametrize(("least", "width"), [(1000, 1), (0.5, 1e-4), (0.9, 1e-3), (-1e6, 1e-3)])
def test_bins_of_scores_in_a_narrow_band_keep_the_area(least, width):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 20_000), rng.random(20_000)
    score = (score + 0.15 * y) / 1.15
    frame = pd.DataFrame({"s": least + width * score, "wide": score, "g": rng.integers(0, 2, 20_000), "y": y})
    for n_bins, moved in ((2, 2e-3), (1024, 5e-5)):
        narrow, wide = (
            FairnessTest.from_table(
                CountTable.from_frame(frame, y_true="y", y_score=scores, score_bins=n_bins, sensitive_features="g"),
                metric="roc_auc",
            ).by_group_["value"]
            for scores in ("s", "wide")
        )
        np.testing.assert_allclose(narrow, wide, atol=moved, rtol=0)


def test_days_with_shared_bins_add_up(people):
    asked = {"y_true": "qualified", "y_score": "score", "sensitive_features": "kind"}
    first = CountTable.from_frame(people.iloc[:8_000], score_bins=64, **asked)
    second = CountTable.from_frame(people.iloc[8_000:], score_bins=first.score_bins, **asked)
    both = CountTable.from_frame(people, score_bins=first.score_bins, **asked)
    assert first + second == both
    other = CountTable.from_frame(people.iloc[8_000:], score_bins=64, **asked)
    with pytest.raises(ValueError, match=r"score_bins differ between the tables to add"):
        first + other


# Tests of what was counted -------------------------------------------------------------------


def test_a_test_of_a_frame_is_that_of_its_rows(compas):
    asked = {"metric": "equalized_odds", "random_state": 0}
    columns = {"y_true": "reoffended", "y_pred": "risk", "sensitive_features": "race"}
    test = FairnessTest.from_frame(pl.from_pandas(compas).lazy(), **columns, **asked)
    expected = FairnessTest.from_predictions(
        compas["reoffended"], compas["risk"], sensitive_features=compas["race"], **asked
    )
    assert test.p_value_ == expected.p_value_
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    columns["sensitive_features"] = ["race", "sex"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        audit = FairnessAudit.from_frame(pl.from_pandas(compas), **columns, metrics="selection_rate")
        expected = FairnessAudit.from_predictions(
            compas["reoffended"], compas["risk"], sensitive_features=compas[["race", "sex"]], metrics="selection_rate"
        )
    pd.testing.assert_frame_equal(audit.comparisons_, expected.comparisons_)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", ["selection_rate", "equalized_odds", "accuracy", "f1", "balanced_accuracy"])
def test_sums_of_weights_give_the_weighted_asymptotic_test(people, metric):
    people = people[:3000]
    columns = ["value_group", "disparity", "standard_error", "statistic", "p_value", "ci_low", "ci_high"]
    exact = FairnessTest.from_predictions(
        people["qualified"], people["approved"], sensitive_features=people["name"], sample_weight=people["weight"],
        metric=metric, method="asymptotic",
    )  # fmt: skip
    summed = FairnessTest.from_frame(
        people, y_true="qualified", y_pred="approved", sensitive_features="name", sample_weight="weight", metric=metric
    )
    assert summed.method_ == "asymptotic"
    pd.testing.assert_frame_equal(summed.comparisons_[columns], exact.comparisons_[columns], rtol=1e-9)
    assert "Of weights only sums are known" in str(summed)


@pytest.mark.parametrize("asked", [{"method": "permutation"}, {"method": "bootstrap"}, {"variance": "bootstrap"}])
def test_sums_of_weights_cannot_be_resampled(people, asked):
    table = CountTable.from_frame(people, y_pred="approved", sensitive_features="kind", sample_weight="weight")
    (name,) = asked
    with pytest.raises(ValueError, match=rf"{name}='{asked[name]}' needs each person's weight"):
        FairnessTest.from_table(table, metric="selection_rate", **asked)


# Large ---------------------------------------------------------------------------------------


#: Names that some engine takes for a pattern, a quotation, a field of a struct or an expression.
HOSTILE = [
    "^a$", "^.*$", "*", "a.b", "`x`", "a`b", 'q"q', "a'b", "key0", "rounded", "column 0", "x y", "a,b", " ", "a=b(c)",
    "{x}", "[a]", "\\", "$", "%", "select", "none\n",
]  # fmt: skip


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_column_is_counted_whatever_it_is_called(engine, tmp_path):
    """All names in one frame, each another column: one that is taken for another gives other counts."""
    rng = np.random.default_rng(0)
    names = [*HOSTILE, "a", "x"]
    people = pd.DataFrame({name: rng.choice(["f", "m", "x"], 40) for name in names}).assign(p=rng.integers(0, 2, 40))
    frame = frame_of(engine, people, tmp_path)
    for start in range(0, 8 if engine in ("dask", "pyspark") else len(HOSTILE), 4):
        some = list(HOSTILE[start : start + 4])
        table = CountTable.from_frame(frame, y_pred="p", sensitive_features=some)
        assert table == CountTable.from_predictions(y_pred=people["p"], sensitive_features=people[some]), some
