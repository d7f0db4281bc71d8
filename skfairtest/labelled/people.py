"""People of whom only some have a true label, with a judge's guess or score for everybody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.readers import Column, Numbers, check_same_people, one_column, read_column, read_values
from skfairtest.tables import Sample


@dataclass(frozen=True, eq=False)
class LabelledSample(Sample):
    """People with labels of whom `labelled` says; of others ``y_true`` holds any label.

    Parameters
    ----------
    labelled : ndarray of bool, shape (n,)
        Who has a true label.
    judge : Column, Numbers or None
        What the judge says of everybody.
    label_probability : ndarray of shape (n,) or None
        How probable it was that a person was labelled; None: equally probable within a group.
    """

    labelled: Booleans = field(default_factory=lambda: np.ones(0, dtype=bool))
    judge: Column | Numbers | None = None
    label_probability: Floats | None = None

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_pred: Any,
        asked: str | None,
        *,
        sensitive_features: Any,
        y_judge: Any = None,
        label_probability: Any = None,
    ) -> LabelledSample:
        """Read people from one row per person."""
        truth = read_column(y_true, "y_true", missing=True)
        judge, label_probability = one_column(y_judge), one_column(label_probability)
        labelled = truth.codes >= 0
        if not labelled.any():
            raise ParameterError(
                f"y_true is missing for all {len(truth):,} people: a judge that is never compared with labels proves "
                "nothing; have some people labelled (label_plan says whom)"
            )
        given = None if label_probability is None else read_values(label_probability, "label_probability")
        probability = None if given is None else given.numbers
        missing = int((~labelled).sum())
        if missing and label_probability is None and asked is None:
            raise ParameterError(
                f"y_true is missing for {missing:,} of {len(truth):,} people, and nothing says how the others were "
                "chosen: pass labelled='at_random' if they are a random sample of their group, or label_probability, "
                "how probable it was that each person was labelled. Labels that were chosen otherwise, such as those "
                "of complaints or of clear cases, say nothing about people without labels"
            )
        if label_probability is not None:
            _check_probability(probability, labelled, asked)
        guesses = None if judge is None else read_values(judge, "y_judge")
        people = Sample.from_predictions(
            Column(truth.name, truth.levels, np.maximum(truth.codes, 0), truth.index, truth.categorical),
            y_pred,
            sensitive_features=sensitive_features,
        )
        check_same_people({"y_true": truth, "y_judge": guesses, "label_probability": label_probability})
        return cls(people.columns, people.sensitive, labelled=labelled, judge=guesses, label_probability=probability)


def _check_probability(probability: Floats | None, labelled: Booleans, asked: str | None) -> None:
    """Refuse probabilities that cannot be those with which people were labelled."""
    if asked is not None:
        raise ParameterError(
            f"labelled={brief(asked)} says that labels are equally probable within groups, and label_probability was "
            "given: leave one of them out"
        )
    if probability is None or not ((probability > 0) & (probability <= 1)).all():
        found = (
            "values that are no numbers" if probability is None else f"{probability.min():g} to {probability.max():g}"
        )
        raise ParameterError(
            f"label_probability must be above 0 and at most 1 for everybody; found {found}. People who cannot be "
            "labelled are not represented by others: leave them out of every argument, and say so"
        )
    without = int(((probability == 1) & ~labelled).sum()) if len(probability) == len(labelled) else 0
    if without:
        raise ParameterError(
            f"label_probability is 1 for {without:,} people whose y_true is missing: pass the probability with which "
            "they would have been labelled"
        )
