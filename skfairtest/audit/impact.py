"""The table of adverse impact: rates of selection by category, and what employers and auditors compute of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import is_number
from skfairtest._utils.errors import GroupsMissing, NothingDefined, ParameterError, answering_guesses, brief, warn
from skfairtest._utils.typing import Integers, Positions
from skfairtest.audit._questions import groupings
from skfairtest.comparisons.engine import check_question
from skfairtest.comparisons.family import decide
from skfairtest.comparisons.frames import comparisons_columns, frame_of
from skfairtest.comparisons.measure import measure
from skfairtest.inference.breaking import Decided
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, equalities
from skfairtest.readers import (
    Column,
    check_labels,
    check_same_people,
    check_vocabularies,
    read_column,
    read_columns,
    read_values,
    resolve_pos_label,
)
from skfairtest.tables import Sample

#: Categories with a smaller share of the people are shown, and not compared.
SMALLEST_SHARE = 0.02
#: Of the signs that are flipped for people in clusters.
SEED = 0
#: Numbers of changed decisions that are tried at once.
MOST_TRIED = 10_000
COLUMNS = [
    "feature", "category", "n", "share", "selected", "rate", "compared", "highest", "ratio", "ci_low", "ci_high",
    "p_value", "p_value_adjusted", "significant", "below_four_fifths", "standard_deviations", "shortfall_pool",
    "shortfall_highest", "to_four_fifths", "flips_four_fifths", "flips_test", "method",
]  # fmt: skip
_KINDS = {
    "n": "int64", "selected": "int64", "compared": "bool", "highest": "bool", "significant": "boolean",
    "below_four_fifths": "boolean", "to_four_fifths": "Int64", "flips_four_fifths": "Int64", "flips_test": "Int64",
    "feature": "object", "category": "object", "method": "object",
}  # fmt: skip


def _compare(
    rows: list[dict[str, Any]], people: Sample, *, smallest_share: float = SMALLEST_SHARE,
    confidence_level: float = 0.95, method: str = "auto",
) -> None:  # fmt: skip
    if not is_number(smallest_share) or not 0 <= smallest_share < 1:
        raise ParameterError(f"smallest_share must be at least 0 and below 1; found {brief(smallest_share)}")
    places = [place for place, row in enumerate(rows) if row["n"] >= 2 and row["share"] >= smallest_share]
    if len(places) < 2:
        found = ", ".join(f"{rows[place]['category']!r} ({rows[place]['n']:,})" for place in places) or "none"
        raise GroupsMissing(
            f"sensitive_features: {rows[0]['feature']}: rates can be compared only if at least two categories each "
            f"have two people and {100 * smallest_share:g}% of them; found {found}"
        )
    if not any(rows[place]["selected"] for place in places):
        raise NothingDefined(
            f"{rows[0]['feature']}: no one was selected in the categories that can be compared, so there is no highest "
            "rate"
        )
    # The category with the highest rate comes last, so that it is the other side of its comparisons.
    places.sort(key=lambda place: (Fraction(rows[place]["selected"], rows[place]["n"]), rows[place]["n"], -place))
    rank_of = np.full(len(rows) + 1, -1)  # the last one is of unknown category, -1
    rank_of[places] = np.arange(len(places))
    ranked = Column("category", tuple(range(len(places))), rank_of[people.sensitive[0].codes])
    people = replace(replace(people, sensitive=(ranked,)).known(), everyone=None)
    params = {"disparity": "ratio", "confidence_level": confidence_level, "method": method}
    settings, metrics = check_question("selection_rate", params)
    settings = replace(settings, by_stratum=False)
    (result,) = decide([measure(people, metrics, settings, True, None, SEED)], settings)
    frame = frame_of(comparisons_columns(result.comparisons))
    pairs: dict[tuple[Any, Any], Any] = {(row["group"], row["other"]): row for row in frame.to_dict("records")}
    cells = people.table(["y_pred"]).counts  # strata, categories, not selected and selected
    n, x = cells.sum(axis=2), cells[:, :, -1]
    pool = n * (x.sum(axis=1) / np.maximum(n.sum(axis=1), 1))[:, None]
    top = len(places) - 1
    for rank, place in enumerate(places):
        row = rows[place]
        row |= {"compared": rank == top or (rank, top) in pairs, "highest": rank == top}
        row["shortfall_pool"] = float((pool - x)[:, rank].sum())
        if rank == top:
            row["ratio"] = 1.0
        elif row["compared"]:  # they share a stratum
            both = (n[:, rank] > 0) & (n[:, top] > 0)
            sides = [part[both, side] for side in (rank, top) for part in (x, n)]
            row |= _beside_highest(pairs[rank, top], *sides)
            # The interval also covers the ratio to the category whose true rate is the highest.
            lows = [pair["ci_low"] for (group, _), pair in pairs.items() if group == rank]
            lows += [1 / pair["ci_high"] for (_, other), pair in pairs.items() if other == rank and pair["ci_high"]]
            row["ci_low"] = min(lows)
            if len(cells) == 1 and people.clusters is None:
                chosen, of, most, others = (int(side[0]) for side in sides)
                row["flips_test"] = flips_of_test(chosen, of, most, others, 1 - confidence_level)


@answering_guesses
def impact_table(
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    pos_label: Any = None,
    intersections: bool = True,
    strata: Any = None,
    clusters: Any = None,
    smallest_share: float = SMALLEST_SHARE,
    confidence_level: float = 0.95,
    method: str = "auto",
) -> pd.DataFrame:
    """Compare each category's selection (or scoring) rate with the highest: the table of adverse impact.

    Null hypothesis of each row: the category has the same rate as the one with the highest rate in these data. The test
    is ``FairnessTest(metric="selection_rate", compare="to_highest", disparity="ratio")``, which allows for choosing the
    highest rate from the data. p-values are adjusted within a feature (or crossing), not over features: `FairnessAudit`
    judges all together.

    People are assumed to be selected independently. If candidates compete, such as for one job per shortlist, pass the
    shortlists as `strata`: each null hypothesis is then equal rates in every stratum, and the test is exact given how
    many were selected there.

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,), optional
        Decisions: the positive label means selected. In an audit, its predictions.
    sensitive_features : array-like, frame or mapping
        The categories: one or several columns of length n_samples. A missing value is an unknown category.
    y_score : array-like of shape (n_samples,), optional
        Scores instead of `y_pred`: people above the median of all scores are "selected".
    pos_label : label, optional
        The label that means selected, as in `FairnessTest`.
    intersections : bool, default=True
        Whether to cross features as well. A category unknown in one feature is unknown in the crossing.
    strata : array-like, frame or mapping, optional
        Compare people of the same list, job or site. Ratios are Mantel and Haenszel's, which can exceed 1; shortfalls
        are summed.
    clusters : array-like of shape (n_samples,), optional
        Rows that belong together, such as decisions on one person. The test flips the signs of clusters, with a fixed
        seed.
    smallest_share : float, default=0.02
        Categories with a smaller share of the people of known category (or a single person) are shown but neither
        compared nor pooled. Nor is a category compared that shares no stratum with the highest.
    confidence_level : float, default=0.95
        Of the intervals of all pairs of compared categories jointly; one minus the level.
    method : {"auto", "exact", "asymptotic"}, default="auto"
        As in `FairnessTest`.

    Returns
    -------
    DataFrame
        A row for each category of each feature, then of the crossings:

        ``feature``, ``category``
            None is the unknown category.
        ``n``, ``share``, ``selected``, ``rate``
            People, their share of those of known category, the number selected, and the selection rate.
        ``compared``, ``highest``
            Whether the category is compared, and has the highest rate of those compared.
        ``ratio``, ``ci_low``, ``ci_high``, ``p_value``, ``p_value_adjusted``, ``significant``, ``method``
            The ratio of the rate to the highest one, and its test. ``significant`` is by ``p_value_adjusted``.
        ``below_four_fifths``
            Whether the ratio is below 4/5, in whole numbers.
        ``standard_deviations``
            The pooled z statistic of the two rates, over strata Mantel and Haenszel's.
        ``shortfall_pool``, ``shortfall_highest``
            How many more would be selected at the rate of all compared people, and at the highest rate.
        ``to_four_fifths``
            How many more have to be selected for a ratio of 4/5.
        ``flips_four_fifths``, ``flips_test``
            How many changed decisions on this category move the ratio across 4/5, and how many reverse the exact test
            of this pair alone: more selections if it is significant, else fewer (NA: none does, or there are several
            strata or clusters).

    Raises
    ------
    ValueError
        If an input is not usable, or no feature has two categories that can be compared.

    Warns
    -----
    UserWarning
        If a feature or crossing cannot be compared; its categories are still shown.

    See Also
    --------
    FairnessAudit : Many metrics, with one adjustment for all comparisons.

    References
    ----------
    S. B. Morris (2017), Statistical significance testing in adverse impact analysis, in Adverse Impact Analysis,
    Routledge. J. C. Hsu (1996), Multiple Comparisons, Chapman & Hall.

    Examples
    --------
    2 of 10 women, 15 of 25 men and 1 of 3 people of unknown sex are hired.

    >>> from skfairtest import impact_table
    >>> hired = [1] * 2 + [0] * 8 + [1] * 15 + [0] * 10 + [1, 0, 0]
    >>> sex = ["f"] * 10 + ["m"] * 25 + [None] * 3
    >>> table = impact_table(hired, sensitive_features={"sex": sex})
    >>> print(table[["category", "n", "selected", "compared", "ratio"]].round(3))
      category   n  selected  compared  ratio
    0        f  10         2      True  0.333
    1        m  25        15      True  1.000
    2     None   3         1     False    NaN
    >>> women = table.iloc[0]
    >>> print(f"{women['standard_deviations']:.3f} {women['shortfall_pool']:.2f}")
    -2.139 2.86
    >>> print(women["to_four_fifths"], women["flips_test"], women["significant"])
    3 1 True
    """
    selected = _selected(y_pred, y_score, pos_label)
    columns = read_columns(
        sensitive_features, "sensitive_features", default_name="sensitive_feature", few=True, missing=True
    )
    within = () if strata is None else read_columns(strata, "strata", default_name="stratum")
    together = None if clusters is None else read_column(clusters, "clusters")
    check_same_people({
        "y_pred" if y_score is None else "y_score": selected, "sensitive_features": columns, "strata": within,
        "clusters": together,
    })  # fmt: skip
    frames, reasons = tables_of(
        columns, Sample({"y_pred": selected}, (), within, clusters=together),
        intersections=intersections, smallest_share=smallest_share, confidence_level=confidence_level, method=method,
    )  # fmt: skip
    if len(reasons) == len(frames):
        raise reasons[0]
    for reason in reasons:
        warn(f"shown and not compared: {reason}")
    return pd.concat(frames, ignore_index=True)


def tables_of(
    columns: Sequence[Column], people: Sample, *, intersections: bool, **how: Any
) -> tuple[list[pd.DataFrame], list[GroupsMissing | NothingDefined]]:
    """Make the tables of features and of their crossings; those that cannot be compared show their categories."""
    by_name = {column.name: column for column in columns}
    levels = {column.name: len(column.levels) for column in columns}
    frames: list[pd.DataFrame] = []
    reasons: list[GroupsMissing | NothingDefined] = []
    for names in groupings(levels, intersections=intersections):
        rows, places = _counted([by_name[name] for name in names], people)
        try:
            _compare(rows, replace(people, sensitive=(Column(" x ".join(names), (), places),)), **how)
        except (GroupsMissing, NothingDefined) as error:  # another feature may still be comparable
            reasons.append(error)
        frame = pd.DataFrame(rows, dtype=object).reindex(columns=COLUMNS)
        frame["method"] = frame["method"].where(frame["method"].notna(), None)
        frames.append(frame.astype({name: _KINDS.get(name, "float64") for name in COLUMNS}))
    return frames, reasons


def _selected(y_pred: Any, y_score: Any, pos_label: Any) -> Column:
    """The codes of people: 1 of those who were selected, and 0 of the others."""
    if (y_pred is None) == (y_score is None):
        raise ParameterError(
            "y_pred (decisions) or y_score (scores; people above their median are selected) is needed, not both; "
            f"found {'neither' if y_pred is None else 'both'}"
        )
    if y_pred is not None:
        column = read_column(y_pred, "y_pred")
        check_labels(column, "y_pred")
        check_vocabularies({"y_pred": column.levels})
        return selected_of(column, resolve_pos_label(column.levels, pos_label))
    if pos_label is not None:
        raise ParameterError(f"pos_label={brief(pos_label)} is a label in y_pred, but y_score was given: leave it out")
    return selected_of(read_values(y_score, "y_score"))


def selected_of(column: Any, positive: Any = None, counts: Integers | None = None) -> Column:
    """The people with the positive label; without one, those whose number is above the median of all people's."""
    if positive is not None:
        chosen = np.array([bool(level == positive) for level in column.levels])[column.codes]
    elif (numbers := column.numbers) is None:
        raise ParameterError(f"{column.name} must be numbers, whose median divides people; found labels")
    else:
        order = np.argsort(numbers, kind="stable")
        upto = np.cumsum(np.ones(len(order), dtype=int) if counts is None else counts[order])
        # No number lies between the two in the middle.
        chosen = numbers > numbers[order[np.searchsorted(upto, (upto[-1] - 1) // 2, side="right")]]
    return Column("y_pred", (False, True), chosen.astype(np.intp), column.index)


def _counted(columns: Sequence[Column], people: Sample) -> tuple[list[dict[str, Any]], Positions]:
    """The sorted categories of one or several features with their people, the unknown last, and each row's place."""
    codes = np.stack([column.codes.astype(np.intp) for column in columns], axis=1)
    known = ~(codes < 0).any(axis=1)
    keys, inverse = np.unique(codes[known], axis=0, return_inverse=True)
    places = np.full(len(codes), -1)
    places[known] = inverse.reshape(-1)
    mass = np.ones(len(codes), dtype=np.int64) if people.counts is None else people.counts
    chosen = mass * people.labels_of("y_pred").codes
    n, x = (np.bincount(places + 1, weights=each, minlength=len(keys) + 1).astype(int) for each in (mass, chosen))
    names = [tuple(column.levels[code] for column, code in zip(columns, key, strict=True)) for key in keys]
    labels = [name if len(name) > 1 else name[0] for name in names]
    feature, total = " x ".join(column.name for column in columns), int(n[1:].sum())
    rows = [
        {
            "feature": feature, "category": name, "n": people, "selected": selected,
            "share": np.nan if name is None or not total else people / total,
            "rate": selected / people if people else np.nan, "compared": False, "highest": False,
        }
        for name, people, selected in zip([None, *labels], n.tolist(), x.tolist(), strict=True)
    ]  # fmt: skip
    return rows[1:] + ([] if known.all() else rows[:1]), places


def _beside_highest(pair: Mapping[str, Any], x: Integers, n: Integers, top: Integers, m: Integers) -> dict[str, Any]:
    """Compare a category (x of n selected in each stratum) with the one whose rate is the highest (top of m)."""
    # Mantel and Haenszel's ratio is a / b; fractions are exact.
    people = (n + m).tolist()
    a, b, both = (sum(map(Fraction, part.tolist(), people)) for part in (x * m, top * n, n * m))
    weights = list(map(Fraction, m.tolist(), people))
    gap = a - Fraction(4, 5) * b
    more = 0 if gap >= 0 else _changes(-gap, weights, n - x)
    return {
        **{name: pair[name] for name in ("ci_low", "ci_high", "p_value", "p_value_adjusted", "method")},
        "ratio": pair["disparity"], "significant": bool(pair["concern"]), "standard_deviations": pair["statistic"],
        "below_four_fifths": gap < 0, "shortfall_highest": float(n.sum() * (b - a) / both),
        "to_four_fifths": more, "flips_four_fifths": more or _changes(gap, weights, x, beyond=True),
    }  # fmt: skip


def _changes(gap: Fraction, weights: Sequence[Fraction], people: Integers, *, beyond: bool = False) -> int:
    """The fewest changed decisions, each of its stratum's weight, that are together worth the gap, or more than it."""
    changes = 0
    for weight, most in sorted(zip(weights, people.tolist(), strict=True), reverse=True):
        some = min(most, gap // weight + 1 if beyond else -(-gap // weight))
        changes, gap = changes + some, gap - some * weight
        if gap < 0 or (gap == 0 and not beyond):
            break
    return changes


def flips_of_test(x: int, n: int, top: int, m: int, alpha: float) -> Any:
    """The number of changed decisions on a category after which the exact test of this pair alone says the opposite.

    Examples
    --------
    >>> flips_of_test(2, 10, 15, 25, 0.05), flips_of_test(9, 40, 20, 40, 0.05)
    (1, 3)
    """
    pair = Pair(*np.array([[x], [n], [top], [m]]))
    log_p = np.array([equalities([pair], "two-sided")[0][0]])
    counts = np.array([[[n - x, x], [0, 0]], [[m - top, top], [0, 0]]])
    rate = np.array([[1, 2]]), np.array([[[0, 1], [0, 1]]]), np.ones((1, 2, 2), dtype=int)
    decided = Decided(counts, *rate, (Question(),), (Scale(),), (False,), log_p, None, alpha, together=False)
    now = int(decided.verdicts(log_p[None])[0])
    most = min(n, top * n // m) - x if now else x
    low, high = 0, most
    while low < high:  # every number of changes is tried, if there are few
        tried = np.unique(np.linspace(low + 1, high, MOST_TRIED).astype(np.int64))
        changes = tried[:, None] * np.array([0, 0, 1 if now else -1])
        turned = decided.settle(changes, now)
        if not turned.any():
            break
        first = int(turned.argmax())
        low, high = int(tried[first - 1]) if first else low, int(tried[first])
        if high - low == 1:
            return high
    return pd.NA
