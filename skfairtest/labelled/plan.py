"""Whom to label: labels by stratum of the judge's score, for an interval or a power, and a column for annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skfairtest._utils.base import check_seed, seed_sequence
from skfairtest._utils.checks import check_number, check_probability
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Floats, Integers, Positions
from skfairtest.comparisons.frames import frame_of
from skfairtest.comparisons.measure import positive_label
from skfairtest.labelled.measure import LabelledSample, people_in_roles
from skfairtest.labelled.statistics import EXPECTED, LabelledRate, bins_of, disparity_limits
from skfairtest.metrics import Rate, resolve_metrics

#: Labels are shared out as if no stratum's share of events were nearer to 0 and 1, so that a judge who is too sure does
#: not leave people without labels; and so large a part of what a judge says of strata is believed to be noise, which
#: leaves the rate of people with the same prediction as it is.
SUREST = 0.1
#: Numbers of labels whose intervals are computed together.
AT_ONCE = 16
#: So many labels of a group decide on its strata before it is known how many there will be.
USUAL = 100


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """The people to label, and the expected width of the interval.

    Attributes
    ----------
    strata : DataFrame
        A row for each stratum: ``group``, ``score_low`` and ``score_high`` of the judge (for the metric's event),
        ``people``, ``labels`` and ``label_probability``.
    selected : ndarray of bool, shape (n_samples,)
        The people to be labelled, a random sample of each stratum.
    label_probability : ndarray of shape (n_samples,)
        Each person's probability of selection, for `LabelledFairnessTest`.
    n_labels : int
        The number of labels.
    interval_width : float
        The expected width of the interval of two groups' difference (of more groups, of the widest one).
    """

    strata: pd.DataFrame
    selected: Booleans = field(repr=False)
    label_probability: Floats = field(repr=False)
    n_labels: int
    interval_width: float

    def to_frame(self) -> pd.DataFrame:
        """Return the strata as a frame."""
        return self.strata.copy()


def label_plan(
    y_pred: Any,
    *,
    y_judge: Any,
    sensitive_features: Any,
    metric: Any = "true_positive_rate",
    n_labels: int | None = None,
    interval_width: float | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
    random_state: Any = None,
) -> LabelPlan:
    """Plan which people to label, so that a difference of rates between groups is known well.

    Within each group people with similar scores of the judge are a stratum, which gets labels in proportion to its
    share of the group times the standard deviation of its labels (Neyman 1934), if the judge were right, with rates
    between 10% and 90%; every stratum gets a few labels. The width is that of the test's interval if the judge is right
    on average among people with the same prediction. If the judge overestimates rare events, the planned width is too
    small: calibrate its scores first, on as few as 100 random labels. The later test is valid however wrong the judge
    is.

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,)
        Predictions for every person.
    y_judge : array-like of shape (n_samples,)
        The judge's guessed label, or score of the positive label, for every person.
    sensitive_features : array-like, frame or mapping
        The groups.
    metric : str or Rate, default="true_positive_rate"
        The rate to plan for.
    n_labels : int, optional
        How many labels there can be. Give this or `interval_width`.
    interval_width : float, optional
        The width of the interval that is wanted. A width of 1.4 d finds a difference of d at the level of 5% with a
        power of 80% (of 2 z d / (z + z_power) in general, with normal quantiles).
    confidence_level : float, default=0.95
        Of the interval; one minus it is the level of the test.
    pos_label : label, optional
        The positive label.
    random_state : int, RandomState, Generator or None
        Seed of who is selected.

    Returns
    -------
    LabelPlan
        The strata, the people selected, and their probabilities.

    Raises
    ------
    ValueError
        If a parameter is not usable, or no number of labels reaches the width.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import LabelledFairnessTest, label_plan
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], [800, 400])
    >>> y = (rng.random(1200) < 0.4).astype(int)
    >>> pred = np.where(rng.random(1200) < 0.8, y, 1 - y)
    >>> score = np.clip(0.2 + 0.6 * y + rng.normal(scale=0.2, size=1200), 0, 1)
    >>> plan = label_plan(
    ...     pred, y_judge=score, sensitive_features=group, n_labels=200, random_state=0
    ... )
    >>> plan.n_labels, int(plan.selected.sum())
    (200, 200)
    >>> test = LabelledFairnessTest.from_predictions(
    ...     np.where(plan.selected, y, np.nan),
    ...     pred,
    ...     sensitive_features=group,
    ...     y_judge=score,
    ...     label_probability=plan.label_probability,
    ...     metric="true_positive_rate",
    ... )
    >>> low, high = test.confidence_interval_
    >>> bool(low < 0 < high)
    True
    """
    check_seed(random_state)
    check_probability("confidence_level", confidence_level)
    if (n_labels is None) is (interval_width is None):
        raise ParameterError(
            f"n_labels or interval_width: give one of them; found {brief(n_labels)} and {brief(interval_width)}"
        )
    check_number("n_labels", n_labels, 1, whole=True, optional=True)
    check_number("interval_width", interval_width, 0, 2, bounds="()", optional=True)
    metrics = resolve_metrics(metric)
    if len(metrics) != 1 or not isinstance(metrics[0], Rate) or metrics[0].value is not None:
        raise ParameterError(f"metric={brief(metric)} must be one rate: plan for the one that matters most")
    # No label is looked at: predictions stand in their place.
    sample = LabelledSample.read(y_pred, y_pred, None, sensitive_features=sensitive_features, y_judge=y_judge)
    roles, rows, strata = _strata(sample, metrics[0], positive_label(sample, metrics, pos_label, None))
    z = float(-ndtri((1 - confidence_level) / 2))

    def widths(plans: Sequence[Integers]) -> Floats:
        """The widths of the intervals of expected labels, of the two groups with the largest variances."""
        sides: list[list[LabelledRate]] = [[], []]
        for labels in plans:
            rates = sorted(_planned(sample, roles, strata, labels), key=lambda rate: -float(rate.variances[0]))
            for side, rate in zip(sides, rates[:2], strict=True):
                side.append(rate)
        low, high = disparity_limits(LabelledRate.stacked(*sides), "difference", np.full((2, len(plans)), z))
        return np.asarray(high - low)

    people = strata["people"].to_numpy()
    importance = _importance(sample, roles, strata)
    if n_labels is None:
        assert interval_width is not None
        (narrowest,) = widths([people])
        if narrowest > interval_width:
            raise ParameterError(
                f"interval_width={interval_width:g} is narrower than labels can make it: if all people had a label it "
                f"would be {narrowest:.3f} if the judge is right on average, because people are few"
            )
        low, n_labels = 1, int(people.sum())
        while low < n_labels:  # intervals of many plans take hardly longer than one
            numbers = np.unique(np.linspace(low, n_labels - 1, AT_ONCE).astype(int)).tolist()
            wide = widths([shared_out(n, people, importance) for n in numbers]) > interval_width
            n_wide = int(np.argmin([*wide, False]))
            low = numbers[n_wide - 1] + 1 if n_wide else low
            n_labels = numbers[n_wide] if n_wide < len(numbers) else n_labels
    labels = shared_out(n_labels, people, importance)
    rng = np.random.default_rng(seed_sequence(random_state))
    # People who need no label have the smallest probability, not 1.
    selected, least = np.zeros(sample.n_samples, dtype=bool), min(0.5, (labels / people).min())
    probability = np.full(sample.n_samples, least)
    for here, many in zip(rows, labels.tolist(), strict=True):
        selected[rng.choice(here, many, replace=False)] = True
        probability[here] = many / len(here)
    columns = {
        "group": [sample.group_labels[group] for group in strata["group"]],
        **{name: strata[name].tolist() for name in ("score_low", "score_high", "people")},
        "labels": labels.tolist(),
        "label_probability": (labels / people).tolist(),
    }
    return LabelPlan(frame_of(columns), selected, probability, int(labels.sum()), widths([labels]).item())


def _strata(sample: LabelledSample, rate: Rate, positive: Any) -> tuple[Floats, list[Positions], pd.DataFrame]:
    """Roles, the rows of each stratum (group, roles and score) and what the plan believes of its people."""
    _, score, kinds, roles = people_in_roles(sample, rate, positive)
    known = score.min() >= 0 and score.max() <= 1
    strata, found = [], []
    for group in range(len(sample.groups)):
        own = np.flatnonzero(sample.group_codes == group)
        for kind in np.unique(kinds[own]).tolist():
            rows = own[kinds[own] == kind]
            if (roles[kind, 0] == roles[kind, 1]).all():
                continue
            place = bins_of(score[rows], np.full(len(rows), min(1.0, USUAL / len(own))))
            together = float(score[rows].mean())
            for number in range(place.max() + 1):
                here = rows[place == number]
                believed = SUREST * together + (1 - SUREST) * float(score[here].mean()) if known else 0.5
                strata.append(here)
                low, high = score[here].min(), score[here].max()
                found.append((group, kind, low, high, len(here), len(here) / len(own), believed))
    if not found:
        raise ParameterError(f"metric={rate.name!r} needs no true labels: use FairnessTest")
    names = ["group", "kind", "score_low", "score_high", "people", "share", "believed"]
    return roles, strata, pd.DataFrame(found, columns=names)


def _planned(sample: LabelledSample, roles: Floats, strata: pd.DataFrame, labels: Integers) -> list[LabelledRate]:
    """Each group's expected rate; people who need no label add nothing to its variance."""
    out = []
    for group, people in enumerate(sample.sizes[0].tolist()):
        rows = strata["group"].to_numpy() == group
        n, own = labels[rows].astype(float), {name: column.to_numpy() for name, column in strata[rows].items()}
        roles_of_own = roles[own["kind"]]
        out.append(LabelledRate(n * own["believed"], n, own["share"], roles_of_own, np.asarray(float(people))))
    return out


def _importance(sample: LabelledSample, roles: Floats, strata: pd.DataFrame) -> Floats:
    """The square root of the share of a stratum's labels in the variance of its group's rate."""
    rates = np.array([float(rate.value) for rate in _planned(sample, roles, strata, np.full(len(strata), USUAL))])
    group, kind, share, believed = (strata[name].to_numpy() for name in ("group", "kind", "share", "believed"))
    event, condition = (roles[kind, 0] - roles[kind, 1]).T
    believed = np.clip(believed, SUREST, 1 - SUREST)
    return np.asarray(share * np.abs(event - rates[group] * condition) * np.sqrt(believed * (1 - believed)))


def shared_out(n_labels: int, people: Integers, importance: Floats) -> Integers:
    """Whole numbers of labels in proportion to their importance, at least a few, at most one per person."""
    least, wanted = np.minimum(people, EXPECTED), importance / importance.sum()
    low, high = 0.0, people.sum() / wanted[wanted > 0].min()
    for _ in range(100):  # the factor at which the numbers add up
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * wanted, least, people).sum() < n_labels else (low, middle)
    exact = np.clip(high * wanted, least, people)
    labels = np.floor(exact + 1e-9).astype(np.int64)
    missing = max(0, min(n_labels, int(people.sum())) - int(labels.sum()))
    labels[np.argsort(labels - exact, kind="stable")[:missing]] += 1
    return np.asarray(np.minimum(labels, people))
