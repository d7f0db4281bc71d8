"""The provenance of an audit: its call, and a hash of its data, which reveals nothing else about them."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skfairtest._utils.text import label, shorten
from skfairtest.labelled.measure import LabelledSample
from skfairtest.readers.columns import Column, Numbers
from skfairtest.tables import Sample

#: What is known of people of whom some have no label.
FEW_LABELS = ("y_judge", "label_probability")
#: Parameters that hold tests.
TESTS = ("individual", "scan")
#: Characters of a model's representation, which may hold a list of anything.
MOST_CHARACTERS = 600


def data_hash(sample: Sample) -> str:
    """Hash the people of a sample: labels, predictions, scores, groups, strata, weights and clusters.

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
    columns: dict[str, Any] = {**sample.columns, "weight": sample.weight, "clusters": sample.clusters}
    roles = {"sensitive": sample.sensitive, "control": sample.control}
    columns |= {f"{role} {column.name}": column for role, held in roles.items() for column in held}
    rows = pd.DataFrame({name: _values(column) for name, column in sorted(columns.items()) if column is not None})
    kinds, place = np.unique(pd.util.hash_pandas_object(rows, index=False).to_numpy(), return_inverse=True)
    people = np.bincount(place.reshape(-1), weights=sample.counts, minlength=len(kinds))
    found = hashlib.sha256(repr(list(rows)).encode("utf-8", "backslashreplace"))
    found.update(kinds.astype("<u8").tobytes() + people.astype("<i8").tobytes())
    return f"sha256:{found.hexdigest()}"


def _values(column: Column | Numbers) -> Any:
    """The values of a column: floats if all of its levels equal floats, otherwise texts with their types."""
    numbers = column.numbers
    if numbers is not None and (isinstance(column, Numbers) or list(map(float, column.levels)) == list(column.levels)):
        return numbers + 0.0  # + 0.0: no minus sign before 0
    assert isinstance(column, Column)
    levels = [f"{'number' if isinstance(level, bool | int | float) else type(level).__name__} {level}"
              for level in column.levels]  # fmt: skip
    texts = [level.encode("utf-8", "backslashreplace").decode() for level in levels]
    return np.array(texts, dtype=object)[column.codes]


def provenance_of(sample: Sample, estimator: Any, *, from_table: bool) -> dict[str, Any]:
    """Trace an audit of these people; `estimator` is the model that was asked, if any."""
    further: dict[str, Any] = {"sample_weight": sample.weight, "clusters": sample.clusters}
    if isinstance(sample, LabelledSample):
        further |= {"y_judge": sample.judge, "label_probability": sample.label_probability}
    columns = [name for name in ("y_true", "y_pred", "y_score") if name in sample.columns]
    return {
        "entry": "from_table" if from_table else "from_predictions" if estimator is None else "fit",
        "columns": (*columns, *(name for name, column in further.items() if column is not None)),
        "sensitive": sample.sensitive_names,
        "control": sample.control_names,
        "data_hash": data_hash(sample),
        "model": None if estimator is None else model_text(estimator),
        "command": None,
    }


def model_text(estimator: Any) -> str:
    """Write a model with the parameters that were set; of objects that are not scikit-learn's, only the class."""
    name = type(estimator).__name__
    if not isinstance(estimator, BaseEstimator):
        return name
    try:
        return shorten(" ".join(repr(estimator).split()), MOST_CHARACTERS)
    except Exception:  # a parameter that is missing or cannot be written: the class is named at least
        return name


def call_lines(found: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """Write the call of an audit, with names that stand for the data; a test within the audit is a call already."""
    entry, columns = found["entry"], found["columns"]
    given = []
    for name, value in parameters.items():
        text = value if name in TESTS and isinstance(value, str) else repr(value)
        given.append(f"{label(name)}={label(' '.join(text.split()))}")
    named = [f"{name}={name}" for name in columns if name not in ("y_true", "y_pred")]
    roles = {"sensitive": found["sensitive"], "control": found["control"]}
    named += [f"{role}_features=data[{label(repr(list(names)))}]" for role, names in roles.items() if names]
    first = [name if name in columns else "None" for name in ("y_true", "y_pred")]
    if entry == "fit":  # the model is asked for its predictions and scores
        data = ["X", first[0].replace("y_true", "y"), *(each for each in named if each != "y_score=y_score")]
        return ["FairnessAudit(", *(f"    {each}," for each in ["model", *given]), f").fit({', '.join(data)})"]
    data = ["table"] if entry == "from_table" else [*first, *named]
    return [f"FairnessAudit.{entry}(", *(f"    {each}," for each in [*data, *given]), ")"]
