"""What changing a category alone does: levels that cost no fair distance, and the sensitive features that are in X.

A flow moves a category's shares, and a search tries some candidates: both may end at the level where a person was,
although another level is free and worse. So levels are tried before anybody is moved, and who is worse off at another
one is moved from there as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from skfairtest._utils.text import enumerated, label
from skfairtest._utils.typing import Floats
from skfairtest.individual._audited import Audited
from skfairtest.individual._losses import Truth
from skfairtest.individual._statistics import SequentialStatistic
from skfairtest.individual._unfair import Starts
from skfairtest.individual.flow.audit_value import UndefinedAuditValueError, audit_value
from skfairtest.individual.flow.evidence import exact_columns
from skfairtest.individual.flow.quadratic import Quadratic, Ranges
from skfairtest.individual.models.features import Features
from skfairtest.individual.sensitive_subspace import numbers_of, responses_of
from skfairtest.inference.conditional import mcnemar
from skfairtest.inference.intervals import wilson
from skfairtest.readers import WARN_GROUPS, Column

#: All combinations of levels are tried where there are no more; beyond, one category at a time.
MOST_COMBINATIONS = 300
#: Moves whose squared fair distance is below this share of their squared length are free.
_FREE = 1e-9
#: Predictions that differ by less than this share of their size are the same.
_SAME = 1e-9


@dataclass(frozen=True)
class Choice:
    """Columns that take some combinations of values only.

    Parameters
    ----------
    columns : list of int
        Which.
    levels : ndarray of shape (n_levels, n_columns)
        Their values, in the units of X.
    """

    columns: list[int]
    levels: Floats

    def at(self, x: Floats, level: Floats) -> Floats:
        """Return people with a level instead of their own."""
        moved = x.copy()
        moved[:, self.columns] = level
        return moved


def free_choices(ranges: Ranges, matrices: Sequence[Quadratic], values: Floats, scale: Floats | None) -> list[Choice]:
    """Return the categories, and columns of few values, whose levels cost no fair distance for anybody.

    Parameters
    ----------
    ranges : Ranges
        Who is possible.
    matrices : sequence of Quadratic
        The fair metric of every fold, in units of the audit.
    values : ndarray of shape (n, d)
        The people, in the units of X.
    scale : ndarray of shape (d,) or None
        Units of the audit.
    """
    units = np.ones(values.shape[1]) if scale is None else scale
    blocks = [Choice(list(block), np.eye(len(block))[(values[:, block] > 0).any(axis=0)]) for block in ranges.blocks]
    single = [Choice([column], levels[:, None]) for column, levels in ranges.levels.items()]
    return [
        choice for choice in (*blocks, *single)
        if len(choice.levels) > 1 and not ranges.frozen[choice.columns].any() and _is_free(choice, matrices, units)
    ]  # fmt: skip


def _is_free(choice: Choice, matrices: Sequence[Quadratic], units: Floats) -> bool:
    moves = np.zeros((len(choice.levels) - 1, len(units)))
    moves[:, choice.columns] = choice.levels[1:] - choice.levels[0]
    moves /= units
    lengths = (moves**2).sum(axis=1)
    return all((matrix.squared_distance(moves) <= _FREE * lengths).all() for matrix in matrices)


def worst_levels(model: Audited, choices: Sequence[Choice], starts: Starts) -> Floats:
    """Return people at the free levels where their losses are largest, in the units of X."""
    worst, largest = starts.x.copy(), model.losses(starts.z, starts.truth)
    for choice in _rounds(choices):
        origin = worst
        worst = origin.copy()
        for level in choice.levels:
            there = choice.at(origin, level)
            losses = model.losses(model.in_units_of_audit(there), starts.truth)
            larger = losses > largest
            worst[larger], largest[larger] = there[larger], losses[larger]
    moved = (worst != starts.x).any(axis=1)
    worst[moved] = model.followed(worst[moved])
    return worst


def _rounds(choices: Sequence[Choice]) -> Iterator[Choice]:
    """Yield all combinations as one choice, or every choice after the other if these are too many."""
    if not choices:
        return
    if np.prod([float(len(choice.levels)) for choice in choices]) > MOST_COMBINATIONS:
        yield from choices
        return
    columns = [column for choice in choices for column in choice.columns]
    yield Choice(columns, np.array([np.concatenate(rows) for rows in product(*(one.levels for one in choices))]))


def sensitive_choices(
    features: Features, sensitive: Sequence[Column], named: Sequence[int]
) -> list[tuple[str, tuple[str, ...], Choice]]:
    """Return the sensitive features that are columns of X, with the names of their levels.

    Parameters
    ----------
    features : Features
        The people, in the units of X.
    sensitive : sequence of Column
        Sensitive features.
    named : sequence of int
        Columns of X that the fair metric names as sensitive.
    """
    found: list[tuple[str, tuple[str, ...], Choice]] = []
    values = features.values
    for column in sensitive:
        responses = responses_of(column)
        if responses is None or numbers_of(column) is not None:
            continue
        columns = exact_columns(values, responses).tolist()
        if columns:
            levels, first = np.unique(values[:, columns], axis=0, return_index=True)
            labels = tuple(str(column.levels[code]) for code in column.codes[first])
            if 1 < len(levels) <= WARN_GROUPS:
                names = [name for name, where in features.groups if set(where) & set(columns)]
                found.append((enumerated(names), labels, Choice(columns, levels)))
    known = {column for _, _, choice in found for column in choice.columns}
    for name, where in features.groups:
        columns = list(where)
        if not set(columns) <= set(named) or known & set(columns):
            continue
        levels = np.unique(values[:, columns], axis=0)
        if 1 < len(levels) <= WARN_GROUPS:
            names = [features.names[one].partition("=")[2] for one in columns]
            labels = tuple(
                names[int(row.argmax())] if len(columns) > 1 else f"{row[0]:g}" for row in levels
            )  # fmt: skip
            found.append((str(name), labels, Choice(columns, levels)))
    return found


def changed_alone(
    model: Audited,
    statistic: SequentialStatistic,
    starts: Starts,
    choices: Sequence[tuple[str, tuple[str, ...], Choice]],
) -> pd.DataFrame:
    """The effect on losses and decisions of changing one sensitive column of X alone.

    Parameters
    ----------
    model : Audited
        The model.
    statistic : SequentialStatistic
        Says which statistic, tolerance and level.
    starts : Starts
        Everybody.
    choices : sequence of (name, labels, Choice)
        Sensitive features that are columns of X.

    Returns
    -------
    DataFrame
        One row per feature, as `IndividualFairnessTest.changed_alone_`.
    """
    rows = []
    counts_errors = statistic.statistic == "error_rate_ratio"
    for name, labels, choice in choices:
        places = [model.in_units_of_audit(choice.at(starts.x, level)) for level in choice.levels]
        own = np.array([(starts.x[:, choice.columns] == level).all(axis=1) for level in choice.levels]).T
        judge = model.wrong if counts_errors else model.losses
        after = np.where(own, -np.inf, model.along_path(judge, places, starts.truth)).max(axis=1)
        try:
            value = audit_value(
                statistic.name, judge(starts.z, starts.truth), after, tolerance=statistic.tolerance,
                confidence_level=statistic.confidence_level,
            )  # fmt: skip
            ratio = (value.estimate, *value.interval, value.p_value)
        except UndefinedAuditValueError:
            ratio = (np.nan,) * 4
        rows.append((name, len(labels), *ratio, *_decisions(model, places, own, labels, starts.truth, statistic)))
    names: list[str] = [
        "feature", "n_levels", "statistic", "ci_low", "ci_high", "p_value", "kind", "outcome", "n_changed", "changed",
        "changed_ci_low", "changed_ci_high", "level", "other", "n_up", "n_down", "decision_p_value",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def _decisions(
    model: Audited,
    places: Sequence[Floats],
    own: NDArray[np.bool_],
    labels: tuple[str, ...],
    truth: Truth,
    statistic: SequentialStatistic,
) -> tuple[object, ...]:
    """Return whose decision changes, and the strongest evidence that one of two levels is favoured."""
    kind, outcome, said = _said(model, places, truth)
    tolerated = _SAME * np.abs(said).max(initial=0.0) if kind == "prediction" else 0.0
    mine = (said * own).sum(axis=1, keepdims=True)
    changed = (np.abs(said - mine) > tolerated).any(axis=1)
    if kind == "label":  # of three or more, which are in no order: they become wrong, or right
        said = model.along_path(model.wrong, places, truth)
    found: list[tuple[float, int, int, int, int, int]] = []
    pairs = list(combinations(range(len(labels)), 2))
    for first, second in pairs:
        gap = said[:, second] - said[:, first]
        up, down = int((gap > tolerated).sum()), int((gap < -tolerated).sum())
        log_p = min(0.0, mcnemar(up, down) + np.log(len(pairs)))
        found.append((log_p, -abs(up - down), *((second, first) if up >= down else (first, second)), up, down))
    log_p, _, level, other, up, down = min(found)
    low, high = wilson(changed.sum(), len(changed), ndtri(0.5 + statistic.confidence_level / 2))
    return (
        kind, outcome, int(changed.sum()), float(changed.mean()), float(low), float(high), labels[level], labels[other],
        max(up, down), min(up, down), float(np.exp(log_p)),
    )  # fmt: skip


def _said(model: Audited, places: Sequence[Floats], truth: Truth) -> tuple[str, str, Floats]:
    """The kind of a model's predictions, the upper one of two labels, and the predictions, of shape (n, n_places).

    Kinds are "decision" (one of two labels, as 0 and 1), "label" (one of several), and "prediction" (a number).
    """
    if model.loss.kind == "regressor":
        return "prediction", "", np.stack([model.outputs(place, truth)[:, 0] for place in places], axis=1)
    labels = np.stack([model.predicted(place, truth) for place in places], axis=1)
    known, codes = np.unique(labels, return_inverse=True)
    if model.loss.kind is None and labels.dtype.kind == "f" and len(known) > 2:
        return "prediction", "", labels
    return (
        "decision" if len(known) <= 2 else "label", label(known[-1]), codes.reshape(labels.shape).astype(float)
    )  # fmt: skip
