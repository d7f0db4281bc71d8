"""Class labels: whether these are labels at all, and which of them is the positive one."""

from collections.abc import Iterable, Sequence
from typing import Any

from skfairtest._utils.errors import ParameterError
from skfairtest.readers.columns import Column
from skfairtest.readers.levels import is_label, listed, plain_scalar, sort_levels, unify_numbers

MAX_LABELS = 1000
# Where 1 is positive by convention; booleans are equal to 0 and 1.
_STANDARD_PAIRS = (frozenset({0, 1}), frozenset({-1, 1}))


def _is_fraction(label: Any) -> bool:
    return isinstance(label, float) and not label.is_integer()


def _scores_message(subject: str, labels: Iterable[Any]) -> str:
    return (
        f"{subject} looks like scores, not labels: it has values such as "
        f"{listed(filter(_is_fraction, labels), 3)}. Turn scores into decisions first (for "
        "example scores >= 0.5, or prediction_threshold=0.5), or pass them as y_score to a "
        "metric that takes scores, such as 'roc_auc'."
    )


def check_labels(column: Column, parameter: str) -> None:
    """Check that a column holds labels rather than scores.

    Parameters
    ----------
    column : Column
        The column as it was read.
    parameter : str
        The parameter it came from, for error messages.

    Raises
    ------
    ValueError
        If it has fractional numbers, or more than `MAX_LABELS` distinct values.

    Examples
    --------
    >>> from skfairtest.readers import read_column
    >>> check_labels(read_column([0.2, 0.9], "y_pred"), "y_pred")
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_pred looks like scores, not labels: it has values such as 0.2, 0.9. ...
    """
    if any(map(_is_fraction, column.levels)):
        raise ParameterError(_scores_message(parameter, column.levels))
    if len(column.levels) > MAX_LABELS:
        raise ParameterError(
            f"{parameter} has {len(column.levels):,} distinct values, more than {MAX_LABELS}: they cannot be class "
            "labels. Pass scores as y_score, or use a metric of numbers, such as 'mean_squared_error'."
        )


def resolve_pos_label(labels: Iterable[Any], pos_label: Any = None, classes: Sequence[Any] | None = None) -> Any:
    """Decide which label counts as positive, without guessing.

    Parameters
    ----------
    labels : iterable
        The labels seen, in `y_true` and `y_pred` together.
    pos_label : object, optional
        The positive label that the user named.
    classes : sequence, optional
        The ``classes_`` of the estimator that predicted: labels that there are, seen or not.

    Returns
    -------
    object
        `pos_label` if given; otherwise 1 (or True) for labels in {0, 1}, {-1, 1} or booleans. It is written as in
        `labels`.

    Raises
    ------
    ValueError
        If there are more than two labels, the labels are scores, `pos_label` is not among
        them, or nothing says which of them is positive.

    Examples
    --------
    >>> resolve_pos_label([0, 1])
    1
    >>> resolve_pos_label(["granted", "denied"], "granted")
    'granted'
    """
    labels = [plain_scalar(label) for label in labels]
    seen = sort_levels(unify_numbers(dict.fromkeys(labels), map(type, labels)))
    if not seen:
        raise ParameterError("y_true and y_pred hold no label.")
    if any(map(_is_fraction, seen)):
        raise ParameterError(_scores_message("y_true or y_pred", seen))
    known = list(classes) if classes is not None and len(classes) == 2 else []
    if not set(known).issuperset(seen):
        known = []
    pairs = [pair for pair in _STANDARD_PAIRS if pair.issuperset(seen) and pair.issuperset(known)]
    if pos_label is not None:  # of more than two labels: one against the others
        for label in [*seen, *known, *sort_levels(frozenset().union(*pairs))]:
            if is_label(label, pos_label):
                return label
        raise ParameterError(f"pos_label={pos_label!r} is not among the labels of y_true and y_pred: {listed(seen)}.")
    if len(seen) > 2:
        raise ParameterError(
            f"y_true and y_pred are not binary: together they hold {len(seen)} labels, {listed(seen)}. Pass pos_label "
            "to test one of them against the others, or use a metric that needs no positive label, such as 'accuracy'."
        )
    if pairs:
        return next((label for label in seen if label == 1), 1)
    found = known or seen
    raise ParameterError(
        f"pos_label is needed: the labels of y_true and y_pred are {listed(found)}, and nothing "
        f"says which is the positive one. Pass for example pos_label={found[-1]!r}."
    )
