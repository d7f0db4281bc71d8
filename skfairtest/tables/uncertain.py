"""People whose groups are known by their probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from skfairtest._utils.typing import Integers
from skfairtest.readers.columns import Column, check_same_people
from skfairtest.readers.numbers import Probabilities
from skfairtest.tables.sample import Sample


@dataclass(frozen=True, eq=False)
class UncertainSample(Sample):
    """People with a probability for each group; labels are those of the largest ones, the first of equal ones.

    Parameters
    ----------
    probabilities : Probabilities
        One row per person.
    """

    probabilities: Probabilities | None = None

    @classmethod
    def from_probabilities(
        cls, y_true: Any, y_pred: Any, probabilities: Probabilities, name: str = "group"
    ) -> "UncertainSample":
        """Read people from one row per person; the groups are all columns, in order."""
        largest = probabilities.values.argmax(axis=1)
        one = Column(name, probabilities.groups, largest, probabilities.index)
        check_same_people({"y_true": y_true, "y_pred": y_pred, "sensitive_features": one})
        people = Sample.from_predictions(y_true, y_pred, sensitive_features=(one,))
        own: Mapping[str, Any] = {field.name: getattr(people, field.name) for field in fields(Sample)}
        return cls(**own, probabilities=probabilities)

    @cached_property
    def sizes(self) -> Integers:
        """Expected numbers of people of each group, rounded, (1, G)."""
        assert self.probabilities is not None
        return np.asarray(np.rint(self.probabilities.values.sum(axis=0))[None], dtype=np.int64)
