"""Random calls: containers, dtypes, labels and parameters. Every choice comes from one random generator.

The generator has the methods of ``random.Random``: a seeded one in ``benchmarks.fuzz``, one that shrinks in the test
with Hypothesis. A call knows its data twice: in the containers that are passed, and as plain Python values that
were read out of these containers with their own libraries, from which an oracle can count.
"""

import datetime
import string
import warnings
from collections import UserList, deque
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fairlearn import metrics as fairlearn_metrics
from sklearn import metrics as sklearn_metrics

from skfairtest.metrics import CRITERIA, RATES, SCORES

#: Stands for every kind of missing value.
MISSING = "<missing>"
#: How many calls in 20 are of each kind.
TESTS = {"FairnessTest": 14, "fit": 2, "CorrelationFairnessTest": 2, "FairnessAudit": 1, "SignificanceFrame": 1}
DAY = datetime.date(2026, 1, 2)
NOON = datetime.datetime(2026, 1, 2, 12)


@dataclass
class Given:
    """One column in a container, and its values as plain Python."""

    container: object
    values: list
    how: str


@dataclass
class Call:
    """What is called, with what; `plain` has the columns of every argument, `how` says what they are in."""

    test: str
    arguments: dict = field(default_factory=dict)
    params: dict = field(default_factory=dict)
    plain: dict = field(default_factory=dict)
    how: dict = field(default_factory=dict)

    def __str__(self):
        """Return the call as its plain values, containers and parameters."""
        lines = [f"{self.test}, with {self.params}"]
        lines += [f"  {name} ({self.how.get(name, '')}): {values!a}" for name, values in self.plain.items()]
        return "\n".join(lines)


def chance(random, share):
    """Return whether something happens that happens in a share of calls; it does not where all choices are first."""
    return random.randrange(1000) >= 1000 * (1 - share)


# Labels -----------------------------------------------------------------------------------------


def _numpy_text(*texts):
    return [np.str_(text) for text in texts]


#: Kinds of labels; of each, some are chosen.
LABELS = {
    "letters": list("abcd"),
    "words": ["Female", "Male", "Ünïcödé", "日本", "😀", "", " ", "a\nb", "\x1b[31m", "NA", "nan", "None", "overall"],
    "NUL": ["a\x00", "a", "\x00", "b"],
    "numpy text with NUL": [*_numpy_text("a\x00", "a"), "b", "b\x00"],
    "surrogates": ["\ud800", "a", "b", "\udcff"],
    "whole numbers": [0, 1, 2, -3],
    "large numbers": [2**63, 2**64 + 1, -(2**63), 10**30, 2**63 - 1],
    "floats": [0.0, -0.0, 0.5, 1.0, -2.5],
    "extreme floats": [1e160, 1e-300, -1e308, 5e-324],
    "booleans": [True, False],
    "numpy scalars": [np.int8(1), np.float32(0.5), np.bool_(True), np.str_("a"), np.uint64(2**63), np.float16(2)],
    "equal numbers": [1, 1.0, True, 2, 2.0, np.int64(2)],
    "text of numbers": ["1", "2", 1, 2, b"1"],
    "bytes": [b"a", b"b", b"a\x00", b"\xff"],
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "ragged tuples": [("a", 1), ("b",), (), ("a", 1, 2)],
    "tuples and text": [("a", 1), "ab", "b", 3],
    "days": [DAY, datetime.date(1900, 1, 1), datetime.date(9999, 1, 1)],
    "times": [NOON, NOON + datetime.timedelta(seconds=1), datetime.datetime(1, 1, 1)],
    "times with zones": [pd.Timestamp("2026-01-02", tz="UTC"), pd.Timestamp("2026-01-02"), NOON],
    "datetime64": [np.datetime64("2026-01-02"), np.datetime64("2026-01-02T03", "h"), np.datetime64("1969", "Y")],
    "durations": [datetime.timedelta(1), pd.Timedelta("2D"), np.timedelta64(3, "h")],
    "decimals": [Decimal("1"), Decimal("2.50"), 1, 2.5],
    "fractions": [Fraction(1, 3), Fraction(1, 2), 0.5, 1],
    "complex": [1j, 2 + 1j, 1.0],
    "mixed": ["a", 1, 2.5, None, True, DAY, ("a",), b"a"],
    "periods": [pd.Period("2026", "Y"), pd.Period("2025", "Y"), pd.Period("2026-01", "M")],
    "intervals": [pd.Interval(0, 1), pd.Interval(1, 2)],
    "missing": ["a", "b", None, np.nan, pd.NaT, pd.NA, Decimal("NaN")],
    "unhashable": ["a", ["a"], {"b": 1}],
}
#: Kinds that are drawn most of the time.
ORDINARY = ("letters", "words", "whole numbers", "booleans", "floats")
POSITIVE = {
    "0 and 1": [0, 1],
    "-1 and 1": [-1, 1],
    "booleans": [False, True],
    "floats": [0.0, 1.0],
    "words": ["no", "yes"],
    "three": ["a", "b", "c"],
    "large": [0, 2**64],
    "NUL": ["a", "a\x00"],
    "tuples": [("no", 0), ("yes", 1)],
    "one": [1],
}


def labels(random, n, kinds=LABELS, ordinary=ORDINARY, most=4):
    """Return n labels of one kind."""
    kind = random.choice(list(kinds) if chance(random, 0.2) else ordinary)
    pool = kinds[kind]
    chosen = random.sample(pool, min(len(pool), random.randrange(2, most + 1)))
    return [random.choice(chosen) for _ in range(n)]


def numbers(random, n):
    """Return n numbers: ordinary, few, with ties, huge or tiny."""
    kind = random.choice(("unit", "few", "normal"))
    if chance(random, 0.25):
        kind = random.choice(("huge", "tiny", "infinite", "wide"))
    scale = {"huge": 10.0 ** random.choice((20, 39, 160, 300)), "tiny": 10.0 ** -random.choice((20, 39, 160, 300))}
    values = []
    for _ in range(n):
        value = random.randrange(0, 1001) / 1000
        if kind == "few":
            value = random.choice((0.0, 0.25, 0.5, 1.0))
        elif kind != "unit":
            value = (value - 0.5) * scale.get(kind, 4.0)
        if kind == "infinite" and chance(random, 0.1):
            value = random.choice((float("inf"), float("nan"), 2**2000))
        if kind == "wide" and chance(random, 0.3):
            value *= 10.0 ** random.randrange(-30, 30)
        values.append(value)
    return values


def weights(random, n):
    """Return n weights: ordinary, with zeros, whole, huge, tiny, far apart, or not allowed."""
    kind = random.choice(("ordinary", "zeros", "whole", "equal"))
    if chance(random, 0.4):
        kind = random.choice(("huge", "tiny", "far apart", "wrong"))
    values = []
    for _ in range(n):
        value = random.randrange(1, 40) / 8
        if kind == "zeros" and chance(random, 0.4):
            value = 0.0
        elif kind == "whole":
            value = random.randrange(0, 4)
        elif kind == "equal":
            value = 1
        elif kind == "huge":
            value *= 1e307
        elif kind == "tiny":
            value *= 1e-307
        elif kind == "far apart":
            value *= 10.0 ** random.choice((-300, -40, -9, 0, 9, 40, 300))
        elif kind == "wrong" and chance(random, 0.1):
            value = random.choice((-1.0, float("nan"), None, "2", float("inf"), 10**400, Decimal(2)))
        values.append(value)
    return values


# Containers -------------------------------------------------------------------------------------


def _objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def _big_endian(values, random):
    array = np.array(values)
    return array.astype(array.dtype.newbyteorder(">"))


def _dtype(*names):
    def build(values, random):
        return np.array(values).astype(random.choice(names))

    return build


def _masked(values, random):
    array = np.ma.array(np.array(values), mask=False)
    if len(values) and chance(random, 0.3):
        array[random.randrange(len(values))] = np.ma.masked
    return array


def _index(n, random):
    """Return an index of people: often the same for everything, sometimes of another kind or order."""
    kind = "range"
    if chance(random, 0.2):
        kind = random.choice(("shuffled", "shifted", "levels", "text", "days", "same", "floats"))
    if kind == "shuffled":
        places = list(range(n))
        random.shuffle(places)
        return pd.Index(places)
    if kind == "levels":
        return pd.MultiIndex.from_tuples([(i // 3, i % 3) for i in range(n)], names=["a", "b"]) if n else None
    return {
        "range": None,
        "shifted": pd.RangeIndex(1000, 1000 + n),
        "text": pd.Index([str(i) for i in range(n)]),
        "days": pd.date_range("2026-01-01", periods=n),
        "same": pd.Index([0] * n),
        "floats": pd.Index([float(i) for i in range(n)]),
    }[kind]


def _series(dtype=None, name=True):
    def build(values, random):
        kind = random.choice(dtype) if isinstance(dtype, tuple) else dtype
        called = random.choice((None, "x", "", 3, ("a", "b"), "Ünï", "x\x00")) if name else None
        return pd.Series(values, dtype=kind, index=_index(len(values), random), name=called)

    return build


def _arrow_series(values, random):
    return pd.Series(pa.array(values).to_pandas(types_mapper=pd.ArrowDtype))


def _categorical(values, random):
    return pd.Series(pd.Categorical(values), index=_index(len(values), random))


def _sparse(values, random):
    return pd.Series(pd.arrays.SparseArray(np.array(values)))


def _polars(dtype=None):
    def build(values, random):
        if any(isinstance(value, Decimal) and value.is_nan() for value in values):
            raise ValueError("polars panics")
        return pl.Series("x", values, dtype=dtype, strict=dtype is None)

    return build


def _polars_object(values, random):
    return pl.Series("x", values, dtype=pl.Object)


def _arrow(values, random):
    array = pa.array(values)
    kind = random.randrange(3)
    return array if not kind else array.dictionary_encode() if kind == 1 else pa.chunked_array([array[:1], array[1:]])


CONTAINERS = {
    "list": lambda values, random: list(values),
    "tuple": lambda values, random: tuple(values),
    "deque": lambda values, random: deque(values),
    "UserList": lambda values, random: UserList(values),
    "array": lambda values, random: np.array(values),
    "object array": lambda values, random: _objects(values),
    "array of another byte order": _big_endian,
    "array of a small dtype": _dtype("i1", "u1", "f2", "f4", "i2", ">f4", ">i2", "?"),
    "array of another dtype": _dtype(
        "U5", "S5", ">U5", "M8[D]", ">M8[D]", ">M8[s]", "m8[h]", ">m8[s]", "c8", "g", "V4"
    ),
    "string array": lambda values, random: np.array(values, dtype=np.dtypes.StringDType()),
    "masked array": _masked,
    "read-only array": lambda values, random: np.broadcast_to(np.array(values)[:, None], (len(values), 2))[:, 0],
    "Series": _series(),
    "object Series": _series(object),
    "nullable Series": _series(("Int64", "Float64", "boolean", "string", "UInt8", "Float32")),
    "Series of a dtype": _series(("float32", "int8", "M8[s]", "m8[ns]", "str", ">f8", ">i4", "complex64")),
    "arrow Series": _arrow_series,
    "categorical Series": _categorical,
    "sparse Series": _sparse,
    "Categorical": lambda values, random: pd.Categorical(values),
    "Index": lambda values, random: pd.Index(values, tupleize_cols=chance(random, 0.2)),
    "extension array": lambda values, random: pd.array(values),
    "polars": _polars(),
    "polars Categorical": _polars(pl.Categorical),
    "polars Object": _polars_object,
    "polars Float32": _polars(pl.Float32),
    "polars Decimal": _polars(pl.Decimal(20, 3)),
    "pyarrow": _arrow,
    "column": lambda values, random: _objects(values).reshape(-1, 1),
    "frame": lambda values, random: pd.DataFrame({"x": _objects(values)}),
    "frame of equal names": lambda values, random: pd.DataFrame([[v, v] for v in values], columns=["x", "x"]),
    "arrow table of equal names": lambda values, random: pa.Table.from_arrays([pa.array(values)] * 2, ["x", "x"]),
    "generator": lambda values, random: (value for value in values),
    "set": lambda values, random: set(values),
    "text": lambda values, random: "".join(map(str, values)),
}
USUAL = ("list", "list", "array", "Series", "polars", "object array", "pyarrow")
#: What no column can be read from; an error is expected.
REFUSED = ("column", "frame", "frame of equal names", "arrow table of equal names", "generator", "set", "text")


def reraise_others(error):
    """Raise what is neither an exception nor a panic of a library in Rust: the signals of the interpreter, of tests."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error


def plain(value):
    """Return a value as plain Python: what two libraries mean by one label is equal."""
    if value is None or value is pd.NaT or value is pd.NA or value is np.ma.masked:
        return MISSING
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    elif isinstance(value, np.str_):
        value = "".join(value)
    elif isinstance(value, np.bytes_):
        value = bytes(value)
    elif isinstance(value, np.longdouble):
        value = float(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if value is pd.NaT or (isinstance(value, float | Decimal | complex) and value != value):
        return MISSING
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def read_out(container):
    """Return the values of a container, read with its own library."""
    if isinstance(container, pa.Array | pa.ChunkedArray):
        return [plain(value) for value in container.to_pylist()]
    return [plain(value) for value in container]


def contained(random, values):
    """Put values into a container that can hold them; one that cannot gives way to a list."""
    how = random.choice(USUAL)
    if chance(random, 0.25):
        how = random.choice(REFUSED if chance(random, 0.05) else [name for name in CONTAINERS if name not in REFUSED])
    try:
        with np.errstate(all="ignore"):
            container = CONTAINERS[how](values, random)
        return Given(container, None if how in REFUSED else read_out(container), how)
    except BaseException as error:  # whatever another library says of these values is no matter of this one
        reraise_others(error)
        return Given(list(values), [plain(value) for value in values], "list")


# Tables -----------------------------------------------------------------------------------------

NAMES = ("sex", "race", "x", "", "Ünï", "\ud800", "y_true", "count", 3, 3.0, None, ("a", 1), "a\x00", "a", "overall")


def table(random, n, columns, default):
    """Return features in one of many tables, with their plain columns by name."""
    made = [labels(random, n) for _ in range(columns)]
    how = random.choice(("column", "dict", "dict", "frame", "frame", "polars", "arrow", "rows", "array", "structured"))
    unusual = chance(random, 0.2)
    names = [random.choice(NAMES) if unusual else f"{default} {i}" for i in range(columns)]
    bare = {f"{default}_{i}": [plain(v) for v in values] for i, values in enumerate(made)}
    try:
        if how == "column" and columns == 1:
            given = contained(random, made[0])
            if given.how in ("column", "frame"):  # tables of one column
                return Given(
                    given.container,
                    {"x" if given.how == "frame" else f"{default}_0": list(map(plain, made[0]))},
                    given.how,
                )
            return Given(given.container, {f"{default}_0": given.values}, given.how)
        if how == "dict":
            given = [contained(random, values) for values in made]
            found = dict(zip(names, given, strict=True))
            return Given(
                {name: part.container for name, part in found.items()},
                {str(name): part.values for name, part in found.items()},
                f"dict of {', '.join(part.how for part in found.values())}",
            )
        if how == "frame":
            frame = pd.concat([pd.Series(_objects(values)) for values in made], axis=1)
            frame = frame.set_axis(names, axis=1)
            if chance(random, 0.5):
                frame = frame.infer_objects()
            frame.index = _index(n, random) if chance(random, 0.3) else frame.index
            parts = {str(name): read_out(frame.iloc[:, i]) for i, name in enumerate(names)}
            return Given(frame, parts, "frame")
        if how == "polars":
            made_of = _polars()
            parts = [made_of(values, random).alias(str(name)) for name, values in zip(names, made, strict=True)]
            frame = pl.DataFrame(parts)
            return Given(frame, {name: read_out(frame[name]) for name in frame.columns}, "polars frame")
        if how == "arrow":
            frame = pa.table([pa.array(values) for values in made], names=[str(name) for name in names])
            return Given(frame, {str(n): read_out(frame.column(i)) for i, n in enumerate(names)}, "arrow table")
        if how == "rows":
            return Given([tuple(row) for row in zip(*made, strict=True)], bare, "list of rows")
        if how == "array":
            array = np.array(list(zip(*made, strict=True)))
            return Given(array, {f"{default}_{i}": read_out(array[:, i]) for i in range(columns)}, "array")
        if how == "structured":
            arrays = [np.array(values) for values in made]
            kinds = [(f"f{i}", array.dtype.newbyteorder(">")) for i, array in enumerate(arrays)]
            array = np.empty(n, dtype=kinds)
            for (name, _), values in zip(kinds, arrays, strict=True):
                array[name] = values
            return Given(array, {name: read_out(array[name]) for name, _ in kinds}, "structured array")
    except BaseException as error:  # as above
        reraise_others(error)
    return Given({f"f{i}": values for i, values in enumerate(made)}, {
        f"f{i}": [plain(v) for v in values] for i, values in enumerate(made)
    }, "dict of list")  # fmt: skip


# Parameters -------------------------------------------------------------------------------------


def _share_right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def _weighted_share_right(y_true, y_pred, sample_weight=None):
    return float(np.average(y_true == y_pred, weights=sample_weight))


FUNCTIONS = {
    "accuracy_score": sklearn_metrics.accuracy_score,
    "balanced_accuracy_score": sklearn_metrics.balanced_accuracy_score,
    "selection_rate": fairlearn_metrics.selection_rate,
    "demographic_parity_difference": fairlearn_metrics.demographic_parity_difference,
    "share right": _share_right,
    "weighted share right": _weighted_share_right,
}
STRANGE = (
    None,
    "nonsense",
    float("nan"),
    -1,
    2,
    0,
    True,
    pd.NA,
    Decimal("0.5"),
    [],
    (),
    np.array([1, 2]),
    object,
    b"a",
)


def _one(random, *options):
    """Return one of the options, or once in a while something strange."""
    return random.choice(STRANGE) if chance(random, 0.005) else random.choice(options)


def metric(random):
    """Return a metric: one name, several, or a function."""
    names = (*RATES, *RATES, *CRITERIA, *SCORES, "normalized_mutual_info", "hinnefeld")
    if chance(random, 0.08):
        return FUNCTIONS[random.choice(list(FUNCTIONS))]
    if chance(random, 0.1):
        return [random.choice(names), random.choice(names)]
    return _one(random, *names)


def question(random, groups):
    """Return parameters of a test of groups, most of which go together."""
    params = {"metric": metric(random), "random_state": _one(random, 0), "n_resamples": _one(random, 19, 39)}
    maybe = {
        "compare": ("between_groups", "to_overall", "to_rest"),
        "disparity": ("ratio",),
        "alternative": ("greater", "less", "equivalence"),
        "method": ("exact", "asymptotic", "permutation", "bootstrap"),
        "adjust": ("holm", "bonferroni", "fdr_bh", None),
        "variance": ("score", "delta", "jackknife", "bootstrap", None),
        "within": (None, "y_true", "y_pred"),
        "confidence_level": (0.5, 0.9, 0.999),
    }
    for name, options in maybe.items():
        if chance(random, 0.08 if name in ("variance", "within") else 0.2):
            params[name] = _one(random, *options)
    if chance(random, 0.1) or str(params.get("alternative")) == "equivalence":
        params["margin"] = _one(random, *((0.8, 0.3, 1) if "disparity" in params else (0.1, 0.0, 0.4)))
    if chance(random, 0.1):
        params["compare"] = "to_reference"
        params["reference_group"] = _one(random, *groups) if groups else None
    if chance(random, 0.05):
        params["n_resamples"] = "adaptive"
    return params


# Calls ------------------------------------------------------------------------------------------


def call(random):
    """Return a random call; what other libraries say of its containers is no matter of this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _call(random)


def _call(random):
    test = random.choice([name for name, times in TESTS.items() for _ in range(times)])
    n = random.choice((random.randrange(4), 4, 6, 8, 12, 12, 16, 20, 30, 30, 40, 60))
    made = Call(test)
    if test == "CorrelationFairnessTest":
        return _correlation(made, random, n)
    _features(made, "sensitive_features", random, n, random.choice((1, 1, 1, 2)))
    if chance(random, 0.15):
        _features(made, "control_features", random, n, random.choice((1, 1, 2)))
    groups = next((values for values in made.plain["sensitive_features"].values() if values), [])
    made.params = question(random, groups)
    _outcomes(made, random, n)
    if test != "SignificanceFrame":
        if chance(random, 0.25):
            _column(made, "sample_weight", weights(random, n), random)
        if chance(random, 0.1):
            pool = labels(random, max(n, 1), most=12)
            _column(made, "clusters", [random.choice(pool) for _ in range(n)], random)
    if test == "FairnessAudit":
        made.params = {
            name: value for name, value in made.params.items()
            if name in ("compare", "disparity", "method", "margin", "confidence_level", "n_resamples", "random_state",
                        "pos_label")
        }  # fmt: skip
        if made.params.get("compare") == "to_reference":
            del made.params["compare"]
        if chance(random, 0.5):
            made.params["metrics"] = metric(random)
    return made


def _outcomes(made, random, n):
    """Add true labels, predictions and scores."""
    kind = random.choice(("0 and 1", "0 and 1", "0 and 1", "booleans", random.choice(list(POSITIVE))))
    pool = POSITIVE[kind]
    odd = random.randrange(100)
    for name in ("y_true", "y_pred"):
        values = [random.choice(pool) for _ in range(n)]
        if odd >= 90:
            values = numbers(random, n)
        elif odd >= 86:
            values = labels(random, n)
        _column(made, name, values, random)
    if chance(random, 0.4) or str(made.params.get("metric")) in SCORES:
        _column(made, "y_score", numbers(random, n), random)
    if odd < 90 and (kind in ("words", "three", "NUL", "tuples", "large") or chance(random, 0.1)):
        made.params["pos_label"] = _one(random, *pool)
    if chance(random, 0.03):
        made.arguments["y_true"], made.plain["y_true"] = None, None


def _correlation(made, random, n):
    columns = random.choice((1, 1, 2))
    found = {string.ascii_lowercase[i]: contained(random, numbers(random, n)) for i in range(columns)}
    made.arguments["sensitive_features"] = {name: given.container for name, given in found.items()}
    made.plain["sensitive_features"] = {name: given.values for name, given in found.items()}
    made.how["sensitive_features"] = ", ".join(given.how for given in found.values())
    if chance(random, 0.15):
        _features(made, "control_features", random, n, 1)
    for name in ("y_true", "y_pred"):
        _column(made, name, numbers(random, n), random)
    made.params = {
        "of": _one(random, "absolute_error", "absolute_error", "residual", "prediction"),
        "correlation": _one(random, "pearson", "spearman"),
        "alternative": _one(random, "two-sided", "greater", "less"),
        "adjust": _one(random, "auto", "fdr_bh", None),
        "n_resamples": _one(random, 19, 39),
        "random_state": 0,
    }
    return made


def _column(made, name, values, random):
    given = contained(random, values)
    made.arguments[name], made.plain[name], made.how[name] = given.container, given.values, given.how


def _features(made, name, random, n, columns):
    if chance(random, 0.02):
        n = max(0, n + random.choice((-1, 1)))
    default = {"sensitive_features": "sensitive_feature", "control_features": "control_feature"}[name]
    given = table(random, n, columns, default)
    made.arguments[name], made.plain[name], made.how[name] = given.container, given.values, given.how
