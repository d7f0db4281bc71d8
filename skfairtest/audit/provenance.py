"""Where an audit comes from: what is recorded of it, and how that is found.

What a record can be traced back to: the data, the model and the call.

What an audit can be traced back to: hashes of its data and of its model, and how it was called.

A hash of the people tested, which identifies a data set and reveals nothing else about it.

The data are a multiset of rows. Distinct rows are sorted and counted, and one SHA-256 hash is taken of all of them: the
order of rows, the container and whether people came as rows or in a table of counts make no difference. No hash is
taken of a single row or value, which somebody who knows the possible values could look up.
"""

import copyreg
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skfairtest._utils.text import label, shorten
from skfairtest._utils.typing import Positions
from skfairtest.labelled.people import LabelledSample
from skfairtest.readers.columns import Column, Numbers
from skfairtest.report.record import Recorded
from skfairtest.tables import Sample

#: Written first; changes whenever the same data have another hash.
_VERSION = b"skfairtest.data 1"
_LIMIT = 2**62


def data_hash(sample: Sample) -> str:
    """Hash the people of a sample: labels, predictions, scores, groups, strata, weights and clusters.

    Equal numbers are the same value: 1, 1.0 and True. The text "1" is a different value.

    Parameters
    ----------
    sample : Sample
        People as rows, or counted.

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits: the same for the same rows in any order, different if any value, any number
        of people or the name of any feature differs.

    Examples
    --------
    >>> people = {"sensitive_features": {"sex": ["f", "m", "m"]}}
    >>> one = data_hash(Sample.from_predictions(None, [1, 0, 1], **people))
    >>> one == data_hash(Sample.from_predictions(None, [1, 1, 0], **people))
    True
    >>> one == data_hash(Sample.from_predictions(None, [0, 0, 1], **people))
    False
    """
    # Names are sorted: which feature is named first makes no difference.
    ranked = {name: _ranked(column) for name, column in sorted(_columns(sample))}
    found = hashlib.sha256(_VERSION)
    example, counts = _distinct([(codes, n) for _, codes, n in ranked.values()], sample.counts)
    for name, (levels, codes, _) in ranked.items():
        for part in (name.encode("utf-8", "surrogatepass"), levels, codes[example].astype("<i8").tobytes()):
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
    found.update(counts.astype("<i8").tobytes())
    return f"sha256:{found.hexdigest()}"


def _columns(sample: Sample) -> Iterator[tuple[str, Column | Numbers]]:
    """Yield each column with its part in the test, and its name where that is the user's."""
    yield from sample.columns.items()
    for column in sample.sensitive:
        yield f"sensitive {column.name}", column
    for column in sample.control:
        yield f"control {column.name}", column
    if sample.weight is not None:
        yield "weight", sample.weight
    if sample.clusters is not None:
        yield "clusters", sample.clusters


def _ranked(column: Column | Numbers) -> tuple[bytes, Positions, int]:
    """Return the values that occur as bytes, in an order of their own, the place of each row's, and how many."""
    if isinstance(column, Numbers):
        levels, codes = np.unique(column.values + 0.0, return_inverse=True)
        return _as_bytes(levels), codes.reshape(-1), len(levels)
    present = np.flatnonzero(np.bincount(column.codes, minlength=len(column.levels)))
    values = [column.levels[place] for place in present.tolist()]
    numbers = _exact_numbers(values)
    written: NDArray[Any] = np.array([_token(value) for value in values], dtype=object) if numbers is None else numbers
    sorted_, place = np.unique(written, return_inverse=True)
    places = np.zeros(len(column.levels), dtype=np.intp)
    places[present] = place.reshape(-1)
    return _as_bytes(sorted_), places[column.codes], len(sorted_)


def _exact_numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """Return values as floats; None if any is no number, or a whole number that no float equals."""
    if not all(isinstance(value, bool | int | float) for value in values):
        return None
    try:
        numbers = np.array([float(value) for value in values])
    except OverflowError:
        return None
    return numbers + 0.0 if numbers.tolist() == values else None  # + 0.0: no minus sign before 0


def _token(value: Any) -> str:
    """Write a value with its type; numbers that are equal alike."""
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return f"number {int(value)}"
    return f"number {value.hex()}" if isinstance(value, float) else f"{type(value).__name__} {value}"


def _as_bytes(levels: NDArray[Any]) -> bytes:
    if levels.dtype == object:
        texts = [text.encode("utf-8", "surrogatepass") for text in levels.tolist()]
        return b"texts" + b"".join(len(text).to_bytes(8, "little") + text for text in texts)
    return b"numbers" + levels.astype("<f8").tobytes()


def _distinct(columns: list[tuple[Positions, int]], counts: Any) -> tuple[Positions, NDArray[np.int64]]:
    """Return a row of each kind, sorted by the columns, and how many people are of that kind."""
    key: NDArray[Any] = np.zeros(len(columns[0][0]), dtype=np.int64)
    size = 1
    for codes, n in columns:
        if size * n > _LIMIT:  # only the order of what came before matters
            found, key = np.unique(key, return_inverse=True)
            key, size = key.reshape(-1).astype(np.int64), len(found)
        key, size = key * n + codes, size * n
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    people = np.ones(len(order), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)[order]
    return order[first], np.add.reduceat(people, first)


#: Arguments that stand without a name, by how the audit was called; all others are named.
_FIRST = {"fit": {"y_true": "y"}, "from_predictions": {"y_true": "y_true", "y_pred": "y_pred"}}


#: What a model in production says of the same people.
BASELINE = ("y_pred_baseline", "y_score_baseline")
#: What is known of people of whom some have no label.
FEW_LABELS = ("y_judge", "label_probability")


@dataclass(frozen=True)
class Provenance(Recorded):
    """Where the numbers of a record come from.

    Parameters
    ----------
    entry : {"fit", "from_predictions", "from_table"}
        How the audit was called.
    columns : tuple of str
        What was known of the people beside their groups: y_true, y_pred, y_score, sample_weight, clusters, X where a
        scan looked up further features, and y_judge and label_probability where few people have a label.
    sensitive, control : tuple of str
        The features that were named.
    data_hash : str
        Of everything tested, whatever the order of the rows.
    model : str or None
        The model and its parameters, where there is one.
    model_hash : str or None
        Of everything that the model holds; None where it cannot be written as bytes.
    command : str or None
        What was typed, where the audit was run from the command line.
    """

    entry: str
    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    control: tuple[str, ...]
    data_hash: str
    model: str | None = None
    model_hash: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class Accepted(Recorded):
    """A known finding, and why it is accepted.

    Parameters
    ----------
    id : str
        The identifier that `skfairtest.audit.findings` gives the comparison.
    reason : str
        Why.
    limit : float or None
        Up to which disparity, as a margin is given (a difference of at least 0, a ratio of at most 1); None: any.
    """

    id: str
    reason: str
    limit: float | None = None


def call_lines(provenance: Provenance | None, parameters: Sequence[str]) -> Iterator[str]:
    """Write the call that made a record, with names that stand for the data.

    Parameters
    ----------
    provenance : Provenance or None
        How it was called; None: unknown, and the parameters are those of the class.
    parameters : sequence of str
        The parameters as they are typed, "method='auto'".
    """
    given = [f"    {parameter}," for parameter in parameters]
    if provenance is None:
        yield from ("FairnessAudit(", *given, ")")
        return
    entry, data = provenance.entry, ["table"] if provenance.entry == "from_table" else list(_data(provenance))
    if entry == "fit":
        yield from ("FairnessAudit(", "    model,", *given, f").fit({', '.join(['X', *data])})")
    else:
        yield from (f"FairnessAudit.{entry}(", *(f"    {argument}," for argument in data), *given, ")")


def _data(provenance: Provenance) -> Iterator[str]:
    first = _FIRST[provenance.entry]
    for name, argument in first.items():
        yield argument if name in provenance.columns else "None"
    for name in ("y_score", "sample_weight", "clusters", "X", *BASELINE, *FEW_LABELS):
        # A model is asked for its scores.
        if name in provenance.columns and (name != "y_score" or provenance.entry != "fit"):
            yield f"{name}={name}"
    for role, names in (("sensitive", provenance.sensitive), ("control", provenance.control)):
        if names:
            yield f"{role}_features=data[{label(repr(list(names)))}]"


#: Characters of a model's representation, which may hold a list of anything.
MOST_CHARACTERS = 600


def provenance_of(sample: Sample, estimator: Any, *, from_table: bool) -> Provenance:
    """Trace an audit of these people; `estimator` is the model that was asked, if any."""
    further: dict[str, Any] = {"sample_weight": sample.weight, "clusters": sample.clusters}
    if isinstance(sample, LabelledSample):
        further |= {"y_judge": sample.judge, "label_probability": sample.label_probability}
    columns = [name for name in ("y_true", "y_pred", "y_score") if name in sample.columns]
    return Provenance(
        entry="from_table" if from_table else "from_predictions" if estimator is None else "fit",
        columns=(*columns, *(name for name, column in further.items() if column is not None)),
        sensitive=sample.sensitive_names,
        control=sample.control_names,
        data_hash=data_hash(sample),
        model=None if estimator is None else model_text(estimator),
        model_hash=None if estimator is None else model_hash(estimator),
    )


def model_text(estimator: Any) -> str:
    """Write a model with the parameters that were set; of objects that are not scikit-learn's, only the class."""
    name = type(estimator).__name__
    if not isinstance(estimator, BaseEstimator):
        return name
    try:
        return shorten(" ".join(repr(estimator).split()), MOST_CHARACTERS)
    except Exception:  # a parameter that is missing or cannot be written: the class is named at least
        return name


def model_hash(estimator: Any) -> str | None:
    """Hash everything in a model: its parameters and what it has learned.

    Returns
    -------
    str or None
        "sha256:" and 64 hexadecimal digits: the same in another process, and for a model that was saved and loaded, by
        the same versions of the libraries. None if the model holds something that cannot be pickled.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> one, other = (
    ...     LogisticRegression(C=C).fit([[0], [1], [2], [3]], [0, 1, 0, 1]) for C in (1, 2)
    ... )
    >>> model_hash(one) == model_hash(one), model_hash(one) == model_hash(other)
    (True, False)
    """
    try:
        return f"sha256:{_Digests().of(estimator).hex()}"
    except (
        Exception
    ):  # whatever an object raises that is asked for what it holds: its predictions are tested all the same
        return None


class _Digests:
    """Hashes of objects by their contents, as pickle finds them, and not by which objects are identical.

    A hash of the pickled bytes (`joblib.hash`) changes when a model is saved and loaded, because copies take the place
    of shared objects.
    """

    def __init__(self) -> None:
        # The objects are kept, so that no other one has their id meanwhile; None marks one that holds itself.
        self.known: dict[int, tuple[Any, bytes | None]] = {}

    def of(self, value: Any) -> bytes:
        """Return the digest of an object."""
        if id(value) in self.known:
            return self.known[id(value)][1] or b"itself"
        self.known[id(value)] = (value, None)
        found = hashlib.sha256()
        for part in self._parts(value):
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
        self.known[id(value)] = (value, found.digest())
        return found.digest()

    def _parts(self, value: Any) -> Iterator[bytes]:
        """Yield what an object is and holds, as bytes."""
        kind = type(value)
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if value is None or kind in (bool, int, float, complex, str, bytes):
            yield value if isinstance(value, bytes) else repr(value).encode("utf-8", "backslashreplace")
        elif kind is np.ndarray:
            yield from self._array(value)
        elif kind is np.ma.MaskedArray:  # pickle adds a fill value, which a search over parameters has not set
            yield from (self.of(np.asarray(value)), self.of(np.ma.getmaskarray(value)))
        elif kind in (list, tuple):
            yield from map(self.of, value)
        elif kind in (set, frozenset):
            yield from sorted(map(self.of, value))
        elif kind is dict:
            yield from sorted(self.of(key) + self.of(item) for key, item in value.items())
        elif isinstance(value, type | FunctionType | BuiltinFunctionType | ModuleType | np.ufunc):
            yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}".encode()
        else:
            reduced = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(4)
            if isinstance(reduced, str):  # the name of a global object
                yield reduced.encode()
            else:
                parts = (list(part) if isinstance(part, Iterator) else part for part in reduced)
                yield from map(self.of, parts)

    def _array(self, array: NDArray[Any]) -> Iterator[bytes]:
        yield f"{array.dtype.str} {array.shape}".encode()
        if array.dtype.names is not None:  # what lies between the fields of a record is anything
            yield from (self.of(np.ascontiguousarray(array[name])) for name in array.dtype.names)
        elif array.dtype.hasobject:
            yield from map(self.of, array.ravel().tolist())
        else:
            yield np.ascontiguousarray(array).tobytes()
