"""The questions of an audit: its default metrics, its ways of grouping people, and the resamples that they need."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from skfairtest._utils.errors import ParameterError, brief
from skfairtest.comparisons.classes import has_several_labels
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.metrics import SCORES, Metric
from skfairtest.metrics.resolve import STANDARD
from skfairtest.readers import classes_of, is_label, read_values, resolve_pos_label
from skfairtest.tables import Sample


def asked_of(estimator: Any, y: Any, response: str = "auto", pos_label: Any = None) -> tuple[list[Metric], set[str]]:
    """Return the metrics of scores that a fitted model allows, and the columns that they need."""
    classes = classes_of(estimator)
    if classes is None and y is not None:  # of a model that does not know its classes
        classes = tuple(getattr(read_values(y, "y"), "levels", ()))
    if _type_of(estimator) == "regressor" or (classes is not None and len(classes) > 2 and pos_label is None):
        return [], {"y_pred"}
    known = {"predict_proba": ("roc_auc", "calibration"), "decision_function": ("roc_auc",)}
    if response != "auto":  # probabilities, unless they go beyond 0 and 1
        known = {response: ("roc_auc", "calibration")}
    for method, names in known.items():
        if callable(getattr(estimator, method, None)):
            return [SCORES[name] for name in names], {"y_pred", "y_score"}
    return [], {"y_pred"}


#: In data of numbers at least so many people in a hundred have one that is not whole; fewer are stray labels.
FRACTIONS = 5


def kinds_of(sample: Sample, estimator: Any, pos_label: Any = None) -> tuple[set[str], dict[str, str]]:
    """The kind of prediction, and the standard metrics that cannot be tested, with the reason."""
    kind = _kind(sample, estimator, pos_label)
    kinds, without = {kind}, {}
    if kind == "multiclass" and has_several_labels(sample):
        kinds.add("labels")
    elif kind == "multiclass" and len(classes_of(estimator) or ()) <= 2:
        why = f"{len(sample.labels)} labels and no positive one: pass pos_label, or name the metrics that are wanted"
        without = {name: why for name in STANDARD["binary"] if name not in STANDARD["multiclass"]}
    if "y_score" in sample.columns and kind in ("multiclass", "continuous"):
        why = f"scores of one label say nothing of {kind} predictions"
        without |= dict.fromkeys(STANDARD["scores"], why)
    elif "y_score" in sample.columns:
        kinds.add("scores")
        numbers = sample.columns["y_score"].numbers
        if numbers is not None and len(numbers) and not (numbers.min() >= 0 and numbers.max() <= 1):
            without["calibration"] = "scores go beyond 0 and 1, so they are not probabilities"
    return kinds, without


def _kind(sample: Sample, estimator: Any, pos_label: Any) -> str:
    if "y_pred" not in sample.columns:
        return "scores"
    if _type_of(estimator) == "regressor":
        return "continuous"
    values = {name: sample.columns[name] for name in ("y_true", "y_pred") if name in sample.columns}
    levels = {name: tuple(getattr(column, "levels", ())) for name, column in values.items()}
    shares = {name: _fractions(column, sample.counts) for name, column in values.items()}
    if shares["y_pred"] and not shares.get("y_true", 1.0) and len(levels["y_true"]) <= 2:
        raise ParameterError(
            "y_pred looks like scores, but y_true has two labels: pass the scores as y_score, and the decisions made "
            "from them as y_pred (for example scores >= 0.5, or prediction_threshold=0.5)"
        )
    if shares.get("y_true") and values["y_pred"].numbers is None:
        raise ParameterError("y_true holds numbers but y_pred text: pass predicted numbers, or true labels")
    if any(shares.values()) and _type_of(estimator) != "classifier":
        name = max(shares, key=lambda name: shares[name])
        two = any(not shares[other] and len(levels[other]) == 2 for other in shares)
        if pos_label is not None or two or 100 * shares[name] < FRACTIONS:
            numbers = np.asarray(values[name].numbers, dtype=float)
            stray = numbers[numbers != np.floor(numbers)][0]
            raise ParameterError(
                f"{name} holds numbers that are not whole, such as {stray:g}, beside labels: correct them or leave "
                "these people out; if all are predicted numbers, name metrics of numbers, such as "
                "metrics='mean_squared_error', without pos_label"
            )
        return "continuous"
    if len(sample.labels) <= 2 or pos_label is not None:
        return "binary"
    if len(classes_of(estimator) or ()) <= 2 and min(map(len, levels.values())) <= 2:
        resolve_pos_label(sample.labels)  # which asks for it: a third label may be a stray
    return "multiclass"


def _type_of(estimator: Any) -> str | None:
    """Return scikit-learn's type of a model; None for objects that do not declare one."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return None
    found: str | None = get_tags(estimator).estimator_type
    return found


def _fractions(column: Any, counts: Any) -> float:
    numbers = column.numbers
    return 0.0 if numbers is None else float(np.average(numbers != np.floor(numbers), weights=counts))


def groupings(levels: Mapping[str, int], *, intersections: bool) -> Iterator[tuple[str, ...]]:
    """Yield each feature, then all pairs, all triples and so forth of the features that have at least two values.

    Examples
    --------
    >>> list(groupings({"race": 5, "sex": 2, "planet": 1}, intersections=True))
    [('race',), ('sex',), ('planet',), ('race', 'sex')]
    """
    if not is_label(intersections, True) and not is_label(intersections, False):
        raise ParameterError(f"intersections must be True or False; found {brief(intersections)}")
    yield from ((name,) for name in levels)
    # At the intersection with a feature of one value, people are grouped as they were without it.
    dividing = [name for name, n in levels.items() if n > 1]
    for size in range(2, (len(dividing) if intersections else 0) + 1):
        for names in combinations(dividing, size):
            if " x ".join(names) in levels:
                raise ParameterError(
                    f"sensitive_features: {' x '.join(names)!r} is the name of a feature, and also of "
                    f"{' and '.join(names)} crossed: rename it, or set intersections=False"
                )
            yield names


def sets_of(sample: Sample, people: Sample) -> list[int]:
    """The people in each group of a grouping (see `Design.sets`): equal for equal people in all groupings."""
    place = [sample.sensitive_names.index(name) for name in people.sensitive_names]
    found = dict.fromkeys(people.groups, 0)
    for number, key in enumerate(sample.groups):
        own = tuple(key[p] for p in place)
        if own in found:  # people of whom one of the features is not known are in none of its groups
            found[own] |= 1 << number
    return list(found.values())


def how_many(n_groups: int, n_features: int, compare: str) -> int:
    """Count the comparisons of one metric between groups of so many features, undefined ones included."""
    if compare in ("between_groups", *BEST):
        return comb(n_groups, 2)
    return n_groups * (n_features if compare == "to_parents" else 1)


def enough_draws(settings: Settings, family: int) -> Settings:
    """Set the number of resamples so high that few extreme ones can be significant, if the caller left it open."""
    needed = int(np.ceil(family / settings.alpha)) if settings.adjust in FAMILYWISE else 0
    if settings.question.method != "auto" or settings.n_resamples > needed:
        return settings
    # None as extreme among these is significant; twice as many, so that few extreme ones can be where some are.
    return replace(settings, n_resamples=2 * needed, adaptive=True, n_decisive=needed)
