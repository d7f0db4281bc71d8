"""Labels, byte orders, indexes and magnitudes that other libraries refuse, misread or merge."""

import datetime
import io
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skfairtest import (
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    SignificanceFrame,
    compare_models,
    inequality_decomposition,
    power,
)
from skfairtest._utils.errors import ParameterError
from skfairtest.readers import Column, read_column, read_columns, read_weights

pytestmark = pytest.mark.filterwarnings("ignore:.* rests on few people")

Y = [1, 1, 1, 0, 0, 0, 1, 0]
GROUPS = list("aaaabbbb")


def run(**changes):
    """Test the selection rates of two groups of four with some arguments changed."""
    arguments = {"y_true": None, "y_pred": Y, "sensitive_features": GROUPS, "metric": "selection_rate", **changes}
    arguments = {"n_resamples": 99, "random_state": 0, **arguments}
    return FairnessTest.from_predictions(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def decoded(data):
    """Return the values that a column was read as."""
    column = read_column(data, "x")
    return [column.levels[code] for code in column.codes]


# At the door ----------------------------------------------------------------------------------------------------------

NAN = float("nan")


def arrow_series(values):
    """Return a series of an Arrow type, in which NaN stands beside null."""
    return pd.Series(pd.arrays.ArrowExtensionArray(values if isinstance(values, pa.Array) else pa.array(values)))


def framed(column=GROUPS, **asked):
    """Count a frame of which a column, and what is asked for, are strange; return the groups."""
    frame = {"y": Y, "p": Y, "s": np.linspace(0, 1, 8), "g": column}
    frame = pa.table(frame) if isinstance(column, pa.Array) else pd.DataFrame(frame)
    asked = {"y_true": "y", "sensitive_features": "g", **asked}
    return [group for (group,) in CountTable.from_frame(frame, **asked).groups]


def in_memory(column):
    return [group for (group,) in CountTable.from_predictions(y_pred=Y, sensitive_features={"g": column}).groups]


#: Half of the people have one value, half another.
COLUMNS = {
    "NaN in Arrow's floats": (arrow_series([1.0, NAN] * 4), "4 missing values among 8"),
    "NaN and null in Arrow's floats": (arrow_series([1.0, NAN, 2.0, None] * 2), "4 missing values among 8"),
    "NaN in Float64": (pd.Series([0.0, 1.0] * 4, dtype="Float64") / pd.Series([0.0, 1.0] * 4), "4 missing values"),
    "float16": (pd.Series([0.5, 2] * 4, dtype="f2"), [0.5, 2.0]),
    "Arrow's float16": (arrow_series(np.array([0.5, 2] * 4, "f2")), [0.5, 2.0]),
    "decimal256": (
        pa.array([Decimal("1.5"), Decimal("2")] * 4, pa.decimal256(50, 1)),
        [Decimal("1.5"), Decimal("2.0")],
    ),
    "intervals": (pd.Series([pd.Interval(0, 1), pd.Interval(1, 2)] * 4), [pd.Interval(0, 1), pd.Interval(1, 2)]),
    "lists": (pd.Series([[1], [2]] * 4), "cannot be compared with each other"),
    "Arrow's lists": (arrow_series([[1], [2]] * 4), "cannot be compared with each other"),
    "structs": (pa.array([{"a": 1}, {"a": 2}] * 4), "cannot be compared with each other"),
    "Arrow's structs": (arrow_series([{"a": 1}, {"a": 2}] * 4), "cannot be compared with each other"),
    "equal numbers": (pd.Series([1, 1.0, 2, 2] * 2, dtype=object), [1, 2]),
    "time zones": (
        pd.Series(pd.date_range("2026-01-01", periods=2, tz="Europe/Berlin").tolist() * 4),
        pd.date_range("2026-01-01", periods=2, tz="Europe/Berlin").tolist(),
    ),
}
MANY = 10**400


def of_memory(**changes):
    return lambda: run(**changes)


def models(*found, **named):
    found = named or (found[0] if len(found) == 1 else found)
    return lambda: compare_models(found, y=Y, sensitive_features=GROUPS)


def entropy(**changes):
    return lambda: inequality_decomposition([*Y], Y[::-1], sensitive_features=GROUPS, **changes)


#: What is not a parameter, with the beginning of what is said about it.
PARAMETERS = {
    "a list in place of a name": (lambda: framed(y_pred=["p"]), "y_pred must be the name of a column"),
    "a list of a weight": (lambda: framed(sample_weight=["s"]), "sample_weight must be the name of a column"),
    "a number in place of a name": (lambda: framed(sensitive_features=0), "sensitive_features takes names of columns"),
    "a number among names": (lambda: framed(control_features=[0]), "control_features takes names of columns"),
    "huge bins": (lambda: framed(y_score="s", score_bins=MANY), "score_bins"),
    "a huge margin": (of_memory(margin=MANY), "margin must be a number"),
    "alpha is text": (entropy(alpha="x"), "alpha must be a number"),
    "alpha is tiny": (entropy(alpha=5e-324), "alpha must be a number"),
    "alpha is huge": (entropy(alpha=MANY), "alpha must be a number"),
    "no level": (entropy(confidence_level=None), "confidence_level must be a number"),
    "no level of a test": (of_memory(confidence_level=None), "confidence_level must be a number"),
    "no models": (models(None), "models must be a sequence of models"),
    "a name in place of models": (models("ab"), "models must be a sequence of models"),
    "one model": (models(a=Y), "models must hold a baseline and at least one candidate"),
    "a candidate is a mapping": (models(Y, {"x": Y}), "y_pred_b"),
    "no people have that many": (
        lambda: power(metric="selection_rate", rates=[0.3, 0.5], n_per_group=[10**20] * 2),
        "n_per_group must be integers",
    ),
}


@pytest.mark.parametrize("read", [in_memory, framed])
@pytest.mark.parametrize(("column", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_a_strange_column_is_read_alike_by_frame_and_in_memory(column, expected, read):
    if isinstance(expected, list):
        assert read(column) == expected
        return
    with pytest.raises(ParameterError, match="^sensitive_features.*" + expected):
        read(column)


@pytest.mark.parametrize(("asked", "said"), PARAMETERS.values(), ids=PARAMETERS)
def test_what_is_no_parameter_is_an_error_that_names_it(asked, said):
    with pytest.raises(ParameterError, match=f"^{said}"):
        asked()


# Byte order -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u8", "c16"])
@pytest.mark.parametrize("container", [lambda a: a, pd.Series, lambda a: pd.DataFrame({"x": a})["x"]])
def test_numbers_of_another_byte_order_are_the_same_numbers(kind, container):
    array = np.array([3, 1, 2, 1]).astype(f">{kind}")
    assert decoded(container(array)) == [3, 1, 2, 1]


@pytest.mark.parametrize("kind", ["M8[D]", "M8[s]", "M8[ns]"])
def test_dates_of_another_byte_order_are_the_same_dates(kind):
    days = np.array(["2026-01-02", "1969-05-06"], dtype=kind)
    assert decoded(days.astype(f">{kind}")) == [pd.Timestamp("2026-01-02"), pd.Timestamp("1969-05-06")]
    spans = (days - days[0]).astype(f">m8{kind[2:]}")
    assert decoded(spans) == [pd.Timedelta(0), pd.Timestamp("1969-05-06") - pd.Timestamp("2026-01-02")]


# Text -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([np.str_("a\x00"), "a"], ("a", "a\x00")),
        ([np.bytes_(b"a\x00"), b"a"], (b"a", b"a\x00")),
        (pd.Series(["a\x00", "a"]), ("a", "a\x00")),
    ],
)
def test_text_that_ends_in_nul_is_a_label_of_its_own(values, levels):
    column = read_column(values, "x")
    assert column.levels == levels
    assert column.codes.tolist() == [1, 0]
    assert column.values.tolist() == [levels[1], levels[0]]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"sensitive_features": ["\ud800"] * 4 + ["a"] * 4}, "sensitive_features"),
        ({"sensitive_features": np.array(["\ud800"] * 4 + ["a"] * 4)}, "sensitive_features"),
        ({"sensitive_features": {"\ud800": GROUPS}}, "sensitive_features"),
        ({"sensitive_features": [("a", "\ud800")] * 4 + [("b", "c")] * 4}, "sensitive_features"),
        ({"control_features": {"\udfff": GROUPS}}, "control_features"),
        ({"y_pred": ["\udcff"] * 4 + ["a"] * 4, "pos_label": "a"}, "y_pred"),
        ({"clusters": [f"\ud800{i}" for i in range(8)]}, "clusters"),
    ],
)
def test_text_that_no_file_can_hold_is_an_error_that_names_it(changes, named):
    with pytest.raises(ValueError, match=rf"{named}.*'\\ud.*is not valid Unicode.*encoding") as error:
        run(**changes)
    str(error.value).encode()


# Tuples and rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[("a", 1), ("b", 2)], [("a", 1), ("b",)], [(), ("b", 2, 3)]])
def test_tuples_can_be_groups(labels):
    groups = pd.Series([labels[0]] * 4 + [labels[1]] * 4)
    test = run(sensitive_features=groups)
    assert test.groups_ == sorted(labels)
    assert test.by_group_["n"].to_dict() == dict.fromkeys(labels, 4)
    assert test.p_value_ == run().p_value_
    test.to_frame().to_csv(io.StringIO())
    assert run(sensitive_features=groups, compare="to_reference", reference_group=labels[1]).groups_ == test.groups_
    audit = FairnessAudit.from_predictions(None, Y, sensitive_features=groups)
    assert len(json.loads(audit.to_json())) > 0
    assert "a" in str(audit)


def test_cells_of_a_list_of_rows_can_be_anything_but_columns():
    columns = read_columns([(("a", 1), "x"), ("b", "x")], "sensitive_features", default_name="s")
    assert [column.levels for column in columns] == [("b", ("a", 1)), ("x",)]
    with pytest.raises(ValueError, match="sensitive_features has no columns"):
        read_columns([(), ()], "sensitive_features", default_name="s")


# Tables ---------------------------------------------------------------------------------------------------------------


class TableOfItsOwn:
    """A table of a library that is not known, with columns, which NumPy reads as an array."""

    shape, ndim = (8, 1), 2

    @property
    def columns(self):
        return ["sex"]

    def __len__(self):
        return 8

    def __array__(self, dtype=None, copy=None):
        return np.array(GROUPS)[:, None]


def test_tables_of_unknown_libraries_are_read_as_arrays():
    assert run(sensitive_features=TableOfItsOwn()).p_value_ == run().p_value_


# Indexes --------------------------------------------------------------------------------------------------------------

LEVELS = pd.MultiIndex.from_product([["a", "b"], range(4)])


@pytest.mark.parametrize(
    "index",
    [
        LEVELS,
        pd.date_range("2026-01-01", periods=8),
        pd.date_range("2026-01-01", periods=8, tz="UTC"),
        pd.period_range("2026", periods=8, freq="Y"),
        pd.interval_range(0, 8),
        pd.Index(list("stuvwxyz")),
        pd.CategoricalIndex(list("stuvwxyz")),
    ],
)
def test_indexes_of_different_kinds_share_no_label_and_the_default_one_says_nothing(index):
    expected = run().p_value_
    for other in (None, pd.Index(range(8))):
        assert run(y_pred=pd.Series(Y, index=index), sensitive_features=pd.Series(GROUPS, other)).p_value_ == expected
        assert run(y_pred=pd.Series(Y, index=other), sensitive_features=pd.Series(GROUPS, index)).p_value_ == expected
    dates = pd.Index([f"2026-01-0{i + 1}" for i in range(8)])
    with pytest.raises(ValueError, match="y_pred and sensitive_features have pandas indexes that share no label"):
        run(y_pred=pd.Series(Y, index=index), sensitive_features=pd.Series(GROUPS, dates))


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [2**63, -1, 2**63 + 1],
        [2**64 + 1, 1.5, True],
        pytest.param(
            pl.Series([2**64, 0, 2**64 + 1], dtype=pl.Int128, strict=False) if hasattr(pl, "Int128") else None,
            marks=pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no 128-bit integers"),
        ),
        np.array([1, np.longdouble(1) + np.finfo(np.longdouble).eps, 2], dtype=np.longdouble),
    ],
)
def test_numbers_beyond_64_bits_are_labels(values):
    column = read_column(values, "x")
    assert [column.levels[code] for code in column.codes] == column.values.tolist()
    assert [float(value) for value in column.values] == [float(value) for value in values]
    assert len(set(column.levels)) == len(column.levels)


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no 128-bit integers")
def test_predictions_that_numpy_has_no_type_for_are_labels():
    assert run(y_pred=pl.Series(Y, dtype=pl.Int128)).p_value_ == run(y_pred=Y).p_value_


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([Decimal(2), 2.0, Decimal("2.5"), 2.5], (2, 2.5)),
        ([Fraction(1, 2), 0.5, Fraction(1, 3), 1], (Fraction(1, 3), 0.5, 1)),
        ([1 + 0j, 1, 1.0], (1,)),
        ([Decimal("0.1"), 0.1, float("inf")], (Decimal("0.1"), 0.1, float("inf"))),
        ([Decimal(2), Decimal("2.5")], (Decimal(2), Decimal("2.5"))),
    ],
)
def test_equal_numbers_are_written_in_one_way_whichever_came_first(values, levels):
    for ordered in (values, values[::-1]):
        found = read_column(ordered, "x").levels
        assert found == levels
        assert list(map(type, found)) == list(map(type, levels))


def test_integers_beyond_all_floats_are_infinite_numbers():
    with pytest.raises(ValueError, match="sample_weight must hold finite numbers; found 1000"):
        read_weights([1, 2, 10**400])
    with pytest.raises(ValueError, match=r"'x'\) holds infinite values"):
        CorrelationFairnessTest.from_predictions(
            [1, 2, 3, 4], [1, 2, 4, 3], sensitive_features={"x": [1, 2, 3, 10**400]}
        )
    assert decoded([10**400, 1.5, True]) == [10**400, 1.5, 1]


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-500, 2.0**500, 2.0**1020])
@pytest.mark.parametrize("metric", ["selection_rate", "f1", "balanced_accuracy", "matthews_corrcoef", "mean_residual"])
def test_the_scale_of_weights_changes_nothing(scale, metric):
    rng = np.random.default_rng(3)
    y_true, y_pred, weight = rng.integers(0, 2, 60), rng.integers(0, 2, 60), rng.integers(1, 8, 60)
    groups = np.repeat(["a", "b", "c"], 20)
    first, second = (
        run(y_true=y_true, y_pred=y_pred, sensitive_features=groups, sample_weight=w, metric=metric)
        for w in (weight, weight * scale)
    )
    pd.testing.assert_frame_equal(first.comparisons_, second.comparisons_)
    pd.testing.assert_frame_equal(first.by_group_, second.by_group_)


def test_weights_that_cannot_be_added_up_are_an_error_that_names_their_range():
    with pytest.raises(ValueError, match=r"sample_weight holds positive weights from 1e-308 to 1e\+308.*Set them to 0"):
        run(sample_weight=[1e308, 1e-308] * 4)
    assert 0 < run(sample_weight=[1e308, 0] * 2 + [1e308] * 4).p_value_ <= 1


@pytest.mark.parametrize("metric", ["mean_squared_error", "mean_absolute_error", "mean_prediction", "mean_residual"])
@pytest.mark.parametrize("scale", [1e300, 1e160, 1e102, 1e-103, 1e-300])
def test_numbers_whose_squares_are_no_floats_are_an_error(metric, scale):
    y = np.arange(8) % 5 * scale
    with pytest.raises(ValueError, match=r"^y_(true|pred) holds numbers of up to 4e.*: rescale "):
        run(y_true=y, y_pred=y[::-1], metric=metric)


@pytest.mark.parametrize("scale", [1e51, 1e-52])
def test_squared_errors_are_squared_once_more(scale):
    y = np.arange(8) % 5 * scale
    with pytest.raises(ValueError, match=r"the largest lies between 1e-51 and 1e\+51"):
        run(y_true=y, y_pred=y[::-1], metric={"loss": "mean_squared_error"})


@pytest.mark.parametrize("metric", ["mean_squared_error", "mean_absolute_error", "mean_prediction", "mean_residual"])
@pytest.mark.parametrize("scale", [2.0**126, 2.0**-40, 2.0**-126])
def test_the_scale_of_numbers_changes_no_p_value(metric, scale):
    y, predicted = np.array([0, 3, 1, 4, 9, 8, 2, 7.5]), np.array([1, 2, 3, 1, 3, 5, 2, 4.0])
    plain = run(y_true=y, y_pred=predicted, metric=metric)
    scaled = run(y_true=y * scale, y_pred=predicted * scale, metric=metric)
    assert scaled.p_value_ == plain.p_value_
    np.testing.assert_allclose(scaled.comparisons_["statistic"], plain.comparisons_["statistic"], rtol=1e-9)


def test_a_column_of_tiny_numbers_beside_ordinary_ones_is_no_error():
    assert 0 < run(y_true=Y, y_pred=np.arange(8) * 1e-300, metric="mean_residual").p_value_ <= 1


def test_labels_may_be_numbers_of_any_size():
    # Class labels are compared and never squared.
    test = run(y_pred=[1e160 if y else -1e160 for y in Y], pos_label=1e160)
    assert test.p_value_ == run().p_value_


# What is asked for ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strange", [pd.NA, np.array([1, 2]), Decimal("NaN"), datetime.date(2026, 1, 2)])
def test_a_label_that_cannot_be_compared_is_not_among_the_labels(strange):
    with pytest.raises(ValueError, match=r"pos_label=.*is not among the labels"):
        run(pos_label=strange)
    with pytest.raises(ValueError, match=r"reference_group=.*is not a group"):
        run(compare="to_reference", reference_group=strange)


def _share(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize("metrics", [_share, {"share": _share}])
def test_a_frame_of_nobody_is_an_error(metrics):
    nobody = pd.Series([], dtype=object)
    with pytest.raises(ValueError, match="y_true is empty: at least one person is needed"):
        SignificanceFrame(metrics=metrics, y_true=[], y_pred=[], sensitive_features=nobody, control_features=nobody)


def test_a_column_takes_what_it_was_read_as():
    # The dtype of labels as a whole is one that holds each of them.
    column = Column("x", (-1, 2**63 + 1), np.array([1, 0]))
    assert column.values.tolist() == [2**63 + 1, -1]
