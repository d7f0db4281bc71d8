"""Whether labels from several sources are of one vocabulary."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from skfairtest._utils.errors import ParameterError, brief
from skfairtest.readers.levels import is_label, listed, number_kind, unify_numbers

#: The parameters that hold labels, the true ones first.
LABELS = ("y_true", "y", "y_pred", "y_pred_a", "y_pred_b", "y_judge")
#: How many labels of each source an error shows.
SHOWN = 5


def is_fraction(label: Any) -> bool:
    """Whether a label is a number that is not whole, as scores are."""
    return isinstance(label, float) and not label.is_integer()


def _type_of(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    return "a number" if number_kind(type(label)) else "bytes" if isinstance(label, bytes) else "another value"


def _spelling(label: Any) -> str:
    """A label without case, surrounding space, invisible characters and Unicode form."""
    text = label if isinstance(label, str) else str(unify_numbers([label], (int, float))[0])
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        kinds = ((letter, unicodedata.category(letter)) for letter in text)
        text = "".join("-" if kind == "Pd" else letter for letter, kind in kinds if kind != "Cf")
    return " ".join(text.casefold().split())


def near_duplicates(labels: Iterable[Any]) -> str:
    """Name the labels that differ only by case, space or Unicode form; empty if there are none.

    Examples
    --------
    >>> (
    ...     near_duplicates(["Yes", "No", "yes "]),
    ...     near_duplicates(["1", 1]),
    ...     near_duplicates([1, 1.5]),
    ... )
    ("'Yes' and 'yes '", "'1' and 1", '')
    """
    labels = list(labels)
    if not any(isinstance(label, str) for label in labels):
        return ""
    alike: dict[str, list[Any]] = {}
    for label in labels:
        alike.setdefault(_spelling(label), []).append(label)
    pairs = [same for same in alike.values() if len(same) > 1][:SHOWN]
    # Composed and decomposed letters look the same.
    forms = [{unicodedata.normalize("NFC", str(label)) for label in same} for same in pairs]
    return ", ".join(
        " and ".join(map(repr if len(looks) == len(same) else ascii, same[:SHOWN]))
        for same, looks in zip(pairs, forms, strict=True)
    )


def check_vocabularies(labels: Mapping[str, Sequence[Any]], n_people: float = math.inf) -> None:
    """Check that labels which are compared with each other can be equal.

    Examples
    --------
    >>> check_vocabularies({"y_true": ["no", "yes"], "y_pred": [0, 1]})
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 'no', 'yes' and y_pred holds 0, 1: text never equals a ...
    """
    labels = {name: levels for name, levels in labels.items() if not any(map(is_fraction, levels))}
    pairs = [(*mine, *its) for mine, its in combinations(labels.items(), 2) if mine[1] != its[1]]
    for first, mine, second, its in pairs:
        types, others = {_type_of(label) for label in mine}, {_type_of(label) for label in its}
        ratings = second == "y_judge" and others == {"a number"} and len(its) > 2
        if not types & others and not ratings:
            raise _two_vocabularies(first, mine, second, its, f"{max(types)} never equals {max(others)}")
    if alike := near_duplicates(dict.fromkeys(label for levels in labels.values() for label in levels)):
        raise ParameterError(
            f"{', '.join(labels)}: the labels {alike} differ only by case, space or Unicode form, and would count "
            "as different: write each label in one way"
        )
    for first, mine, second, its in pairs:
        texts = all(isinstance(label, str) for label in (*mine, *its))
        if texts and first != "y_pred_a" and n_people >= 2 * len({*mine, *its}):
            _check_shared(first, mine, second, its)


def check_codings(labels: Mapping[str, Sequence[Any]]) -> None:
    """Check that true labels and predictions do not name two classes otherwise, such as -1, 1 and 0, 1.

    Examples
    --------
    >>> check_codings({"y_true": [0, 1], "y_pred": [-1, 1]})
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 0, 1 and y_pred holds -1, 1: these are not the same ...
    """
    (first, mine), *others = labels.items()
    for second, its in others:
        both = (*mine, *its)
        if mine and its and not any(map(is_fraction, both)):
            _check_shared(first, mine, second, its, all_classes=True)


def check_classes(labels: Sequence[Any], classes: Sequence[Any] | None, pos_label: Any) -> None:
    """Check that a model's classes are those of the true labels.

    Examples
    --------
    >>> check_classes([1, 2], [0, 1], 1)
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 1, 2 and classes_ of the estimator holds 0, 1: these are ...
    """
    name = "classes_ of the estimator"
    if classes is None or len(classes) < 2:  # trained on people of one label
        return
    if labels and not any(map(is_fraction, labels)) and {*labels} != {*classes}:
        check_vocabularies({"y_true": labels, name: classes})
        _check_shared("y_true", labels, name, classes, all_classes=True)
    if pos_label is not None and not any(is_label(label, pos_label) for label in classes):
        raise ParameterError(
            f"pos_label={brief(pos_label)} is not among the {name}, {listed(classes, SHOWN)}: the model never predicts "
            "it"
        )


def _check_shared(
    first: str, mine: Sequence[Any], second: str, its: Sequence[Any], *, all_classes: bool = False
) -> None:
    """Refuse more than two labels of which none is shared, or two each that are not the same `all_classes`."""
    shared, together = {*mine} & {*its}, {*mine} | {*its}
    if len(together) > 2 and (not shared or (all_classes and len(mine) == len(its) == 2)):
        raise _two_vocabularies(first, mine, second, its, "these are not the same classes")


def _two_vocabularies(first: str, mine: Sequence[Any], second: str, its: Sequence[Any], why: str) -> ParameterError:
    return ParameterError(
        f"{first} holds {listed(mine, SHOWN)} and {second} holds {listed(its, SHOWN)}: {why}. Write both with the same "
        "labels"
    )
