"""Rates from few labels: bins of the judge's scores, comparisons, and the quality of the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, cast

import numpy as np
from scipy.special import ndtr
from scipy.stats import ks_2samp

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.comparisons import core
from skfairtest.comparisons.contrasts import Design, disparity_bounds, groups_of
from skfairtest.comparisons.measure import measure_metric
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.rates import Question, disparity_of, quantiles
from skfairtest.inference.score import of_score
from skfairtest.labelled.statistics import (
    EXPECTED,
    MOST_BINS,
    PER_BIN,
    LabelledRate,
    bins_of,
    disparity_limits,
    disparity_statistic,
    log_tails,
)
from skfairtest.metrics import Metric, Rate
from skfairtest.readers import Column, Numbers, check_same_people, is_label, one_column, read_column, read_values
from skfairtest.readers.levels import listed
from skfairtest.tables import Sample


@dataclass(frozen=True, eq=False)
class LabelledSample(Sample):
    """People with labels if `labelled`; of others ``y_true`` holds any label."""

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
        known = {**people.columns, "sensitive_features": people.sensitive}
        check_same_people({**known, "y_judge": guesses, "label_probability": label_probability})
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
            "values that are not numbers" if probability is None else f"{probability.min():g} to {probability.max():g}"
        )
        raise ParameterError(
            f"label_probability must be above 0 and at most 1 for every person; found {found}. People who cannot be "
            "labelled are not represented by others: leave them out of every argument, and say so"
        )
    without = int(((probability == 1) & ~labelled).sum()) if len(probability) == len(labelled) else 0
    if without:
        raise ParameterError(
            f"label_probability is 1 for {without:,} people whose y_true is missing: pass the probability with which "
            "they would have been labelled"
        )


#: So many different probabilities of being labelled are told apart; of more, those from one power of 2 to the next are
#: a stratum. Fewer expected labels than `EXPECTED` of a stratum with so large a share of a group ask for caution.
PROBABILITIES, LARGE = 20, 0.05
#: Below such a p-value, by all groups, the judge's scores of people with and without labels are unlike.
UNLIKE = 0.001


@dataclass(frozen=True)
class Labelled(LabelledRate):
    """The rate of one or several groups; `seen` are unweighted labels, `score` the judge's mean (or nan)."""

    seen: Floats
    score: Floats

    @staticmethod
    def together(groups: Sequence[Labelled | str]) -> Labelled | str:
        """The rate of several groups together, or the reason why it is undefined."""
        each = [one for one in groups if isinstance(one, Labelled)]
        if len(each) < len(groups):
            return next(one for one in groups if isinstance(one, str))
        people = np.asarray(sum(float(one.people) for one in each))
        each = [replace(one, share=one.share * one.people / people) for one in each] if len(each) > 1 else each
        bins = {field.name: np.concatenate([np.atleast_1d(getattr(one, field.name)) for one in each])
                for field in fields(Labelled)}  # fmt: skip
        pooled = Labelled(**{**bins, "people": people})
        return "undefined: no labelled person meets the condition" if np.isnan(pooled.value) else pooled

    @property
    def met(self) -> int:
        """The number of labels of people who meet the condition."""
        roles = self.roles[..., 1]
        return round(float((self.needed * (roles[:, 0] * self.first + roles[:, 1] * (self.labels - self.first))).sum()))


@dataclass(frozen=True)
class LabelledNull(core.NullDistribution):
    """The score statistic of two rates whose labels are known for some people."""

    first: Labelled
    second: Labelled

    def error(self) -> float:
        """Return the standard error of the difference, or of the logarithm of the ratio."""
        ratio = self.question.disparity == "ratio"
        with np.errstate(divide="ignore"):
            parts = [rate.variances[0] / (rate.value**2 if ratio else 1) for rate in (self.first, self.second)]
        total = float(np.sqrt(sum(parts)))
        return total if np.isfinite(total) else np.nan

    def n_effective(self, row: core.Comparison) -> int:
        """Return the number of labels of the group that meet the condition."""
        return self.first.met

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Return the disparities whose score statistics are not beyond critical values, searched at once."""
        z = np.array(critical).T
        limits = disparity_limits(sides_of(nulls), nulls[0].question.disparity, np.where(np.isinf(z), 0.0, z))
        return list(zip(*np.where(np.isinf(z), np.array(bounds).T, limits).tolist(), strict=True))


def sides_of(nulls: Sequence[LabelledNull]) -> LabelledRate:
    """The rates of several comparisons, (2, n)."""
    return LabelledRate.stacked([null.first for null in nulls], [null.second for null in nulls])


@dataclass(frozen=True)
class FewLabels(Rate):
    """A rate that needs labels, which only some people have."""


def with_few_labels(metrics: Sequence[Metric]) -> tuple[list[Metric], list[str]]:
    """The metrics to test, and the names of those that cannot be tested with few labels."""
    found: list[Metric] = []
    for metric in metrics:
        if "y_true" not in metric.reads:
            found.append(metric)
        elif isinstance(metric, Rate) and metric.value is None:
            found.append(FewLabels(**{field.name: getattr(metric, field.name) for field in fields(Rate)}))
    if not any(isinstance(metric, FewLabels) for metric in found):
        names = ", ".join(metric.name for metric in metrics)
        raise ParameterError(
            f"metric={names} has no test with few labels: use rates that need labels, such as 'true_positive_rate', "
            "'precision', 'accuracy' or 'jaccard' (of which F1 is a function), and FairnessTest for what needs none"
        )
    return found, [metric.name for metric in metrics if metric.name not in {one.name for one in found}]


def people_in_roles(sample: LabelledSample, rate: Rate, positive: Any) -> tuple[Floats, Floats, Positions, Floats]:
    """The condition and the event of a rate for each person."""
    labels = sample.labels
    is_positive = [is_label(label, positive) for label in labels]
    labels += [object() for kind in (False, True) if kind not in is_positive]  # a label without people was possible
    is_positive += [kind for kind in (False, True) if kind not in is_positive]
    n, yes = len(labels), np.array(is_positive)
    codes = {"y_true": np.repeat(np.arange(n), n), "y_pred": np.tile(np.arange(n), n)}
    event, given = rate.masks({name: yes[code] for name, code in codes.items()}, codes)
    role = np.where(event, 0, np.where(given, 1, 2)).reshape(n, n)  # by true label and prediction
    ends = np.stack([role.min(axis=0), role.max(axis=0)], axis=1)
    if not ((role == ends[:, 0]) | (role == ends[:, 1])).all():
        raise ParameterError(
            f"metric={rate.name!r} has three outcomes for one prediction where there are more than two labels, and few "
            "labels have a test for two: turn labels into two"
        )
    pairs, kind = np.unique(ends, axis=0, return_inverse=True)
    what = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    numbers = {label: place for place, label in enumerate(labels)}

    def of(column: Column) -> Positions:
        return np.array([numbers[level] for level in column.levels], dtype=np.intp)[column.codes]

    truth = of(sample.labels_of("y_true"))
    predicted = of(sample.labels_of("y_pred")) if "y_pred" in rate.reads else np.zeros_like(truth)
    is_first = role == ends[:, 0]
    judge = sample.judge
    if judge is None:
        score = np.zeros(len(truth))
    elif isinstance(judge, Column) and set(judge.levels) <= set(labels):
        score = is_first[of(judge), predicted].astype(float)
    else:
        scored = judge.numbers
        if scored is None:
            raise ParameterError(
                "y_judge must hold scores, or guesses that are labels of y_true or y_pred; found "
                f"{listed(getattr(judge, 'levels', ()), 5)}"
            )
        score = _oriented(scored, rate, yes, is_first)[predicted, np.arange(len(truth))]
    return is_first[truth, predicted].astype(float), score, kind.reshape(-1)[predicted], what[pairs]


def _oriented(score: Floats, rate: Rate, yes: np.ndarray, is_first: np.ndarray) -> Floats:
    """Scores of the positive label as those of the first role, by prediction, (predictions, n)."""
    positive = (is_first == yes[:, None]).all(axis=0)
    negative = (is_first != yes[:, None]).all(axis=0)
    if not (positive | negative | is_first.all(axis=0)).all():
        raise ParameterError(
            f"y_judge holds scores of the positive label, and metric={rate.name!r} asks for more than two labels: pass "
            "guessed labels"
        )
    turned = (1.0 if score.min() >= 0 and score.max() <= 1 else score.min() + score.max()) - score
    return np.where(positive[:, None], score, turned)


def strata_of(probability: Floats) -> Positions:
    """Strata of people with equal, or of many with similar, probabilities of being labelled, in ascending order."""
    different, place = np.unique(probability, return_inverse=True)
    if len(different) <= PROBABILITIES:
        return place.reshape(-1)
    return np.asarray(np.ceil(np.log2(probability)).astype(np.intp))


def rate_of_group(
    first: Floats,
    score: Floats,
    kinds: Positions,
    roles: Floats,
    labelled: np.ndarray,
    probability: Floats | None,
    *,
    known: bool,
) -> Labelled | str:
    """Put the people of a group into bins; a text says what cannot be estimated."""
    levels: Positions = np.zeros(len(kinds), dtype=np.intp)
    weight = np.ones(len(kinds))
    if probability is not None:
        levels, weight = strata_of(probability), 1 / probability
    bins = []
    for kind in np.unique(kinds):
        own = np.flatnonzero(kinds == kind)
        if (roles[kind, 0] == roles[kind, 1]).all():
            bins.append((kind, 1.0, 1.0, 0, 1.0, len(own)))  # no label is needed
            continue
        if not labelled[own].any():
            return "no one with one of the predictions has a label"
        # Strata without a label are joined with the next larger probability of which there is one.
        seen_levels = np.unique(levels[own][labelled[own]])
        level = seen_levels[np.minimum(np.searchsorted(seen_levels, levels[own]), len(seen_levels) - 1)]
        for one in seen_levels:
            rows = own[level == one]
            # In one of several strata a judge that is useless costs more than it may gain from few labels.
            most = None if len(seen_levels) == 1 else min(max(1, int(labelled[rows].sum()) // PER_BIN), MOST_BINS)
            bin_of = bins_of(score[rows], labelled[rows].astype(float), most)
            for number in range(bin_of.max() + 1):
                here = rows[bin_of == number]
                seen = here[labelled[here]]
                # Hajek's variance is at most that of this many labels, whichever of them have the large weights.
                effective = weight[seen].sum() / weight[here].max()
                mean = score[here].mean() if known else np.nan
                x = effective * np.average(first[seen], weights=weight[seen])
                bins.append((kind, x, effective, len(seen), mean, len(here)))
    kind, x, n, seen, mean, people = np.array(bins, dtype=float).T
    total = people.sum()
    return Labelled(x, n, people / total, roles[kind.astype(np.intp)], np.asarray(total), seen, mean)


def label_columns(result: core.Result) -> dict[str, list[Any]]:
    """The number of equivalent labels without the judge, and the judge's own value, by rate and group."""
    sample = result.sample
    assert sample is not None
    names, rows = ("metric", "group", "n", "labels", "worth", "bins", "value", "value_judge"), []
    few = {rate: made.further for rate, made in result.by_metric.items() if made.further is not None}
    for rate, groups in few.items():
        for label, n, one in zip(sample.group_labels, sample.sizes[0].tolist(), groups, strict=True):
            found: tuple[Any, ...] = (0, np.nan, 0, np.nan, np.nan)
            if isinstance(one, Labelled):
                judged = float(one.rates(one.score))
                found = (int(one.seen.sum()), float(one.worth), int(one.needed.sum()), float(one.value), judged)
            rows.append((rate, label, n, *found))
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


@measure_metric.register(FewLabels)
def _(rate: FewLabels, design: Design, *_: Any) -> core.Measured:
    sample = design.sample
    assert isinstance(sample, LabelledSample)
    first, score, kinds, roles = people_in_roles(sample, rate, design.pos_label)
    known = sample.judge is not None and score.min() >= 0 and score.max() <= 1
    groups: list[Labelled | str] = []
    for group in range(len(sample.groups)):
        rows = np.flatnonzero(sample.group_codes == group)
        own = None if sample.label_probability is None else sample.label_probability[rows]
        of_group = first[rows], score[rows], kinds[rows], roles, sample.labelled[rows], own
        groups.append(rate_of_group(*of_group, known=known))
    question, sizes = design.question(rate), design.sample.sizes[0]
    compared, excluded = [], []
    effective = [0 if isinstance(one, str) else one.met for one in groups]
    for contrast, other in design.contrasts:
        members = groups_of(len(sizes), contrast)
        sides = [Labelled.together([groups[place] for place in np.flatnonzero(side).tolist()]) for side in members]
        reasons = [one for one in sides if isinstance(one, str)]
        if reasons:
            excluded.append(design.left_out(rate.name, contrast, other, reasons[0], effective[contrast.first]))
            continue
        one, two = (side for side in sides if isinstance(side, Labelled))
        values = float(one.value), float(two.value)
        disparity = float(disparity_of(np.asarray(values[0]), np.asarray(values[1]), question.disparity))
        null = LabelledNull(question, one, two)
        compared.append(design.comparison(
            rate.name, contrast, other, values, disparity, null,
            bounds=disparity_bounds((0.0, 1.0), question.disparity), standard_error=null.error(), method="score",
            hypothesis=design.hypothesis(question, contrast, design.what_is_equal(rate, question, scored=False), []),
            undefined="both values are 0" if np.isnan(disparity) else "",
        ))  # fmt: skip
    comparisons = _tested(question, compared)
    by_group = _group_values(groups, effective, design.settings)
    return comparisons, excluded, replace(by_group, variance="score", doubtful=tuple(_doubtful(sample)), further=groups)


def _doubtful(sample: LabelledSample) -> Iterator[tuple[Any, str]]:
    """Groups whose labels do not look like a random sample, or are too few where they count most."""
    asked, score = sample.label_probability, None if sample.judge is None else sample.judge.numbers
    guesses = sample.judge.codes if score is None and isinstance(sample.judge, Column) else score
    for group, name in enumerate(sample.group_labels):
        rows = np.flatnonzero(sample.group_codes == group)
        known = sample.labelled[rows]
        if asked is not None:
            place = np.unique(strata_of(asked)[rows], return_inverse=True)[1]
            expected, people = np.bincount(place.reshape(-1), asked[rows]), np.bincount(place.reshape(-1))
            few = (expected < EXPECTED - 1e-9) & (people >= LARGE * len(rows))
            if few.any():
                labels = f"rests on {expected[few].min():.1f} expected labels of {people[few].max():,} people with the "
                yield name, f"{labels}same or similar small label_probability"
        elif guesses is not None and known.any() and not known.all():
            p = ks_2samp(guesses[rows][known], guesses[rows][~known], method="asymp").pvalue
            if p * len(sample.groups) <= UNLIKE:
                said = "has labels that do not look random, although labelled='at_random' says that they are: the "
                yield name, f"{said}judge's scores of people with and without labels differ (p = {p:.2g})"


def _group_values(groups: Sequence[Labelled | str], effective: Sequence[int], settings: Settings) -> core.GroupValues:
    z, _ = quantiles("two-sided", settings.alpha)
    rates = {place: one for place, one in enumerate(groups) if isinstance(one, Labelled) and not np.isnan(one.value)}
    each, columns = LabelledRate.stacked(list(rates.values()))[0], np.full((4, 1, len(groups)), np.nan)
    columns[:, 0, list(rates)] = each.value, np.sqrt(each.variances[0]), *each.limits(float(z))
    return core.GroupValues(np.array([effective]), *columns)


def _tested(question: Question, rows: Sequence[core.Comparison]) -> list[core.Comparison]:
    """The tests at equality, or at the margin."""
    sides, kind, tests = sides_of([cast("LabelledNull", row.null) for row in rows]), question.disparity, question.tests
    z = np.stack([disparity_statistic(sides, edge, kind) for edge, _ in tests])
    tails = 2 if len(tests) == 2 and question.alternative == "two-sided" else 1
    log_p = np.stack([
        np.maximum(of_score(own, side), log_tails(sides, edge, kind, side))
        for own, (edge, side) in zip(z, tests, strict=True)
    ])  # fmt: skip
    decisive = (np.argmax if question.alternative == "equivalence" else np.argmin)(log_p, axis=0)[None]
    found = (np.take_along_axis(each, decisive, axis=0)[0].tolist() for each in (log_p + np.log(tails), z))
    return [
        replace(row, log_p=min(0.0, p), statistic=own, n_tails=tails) for row, p, own in zip(rows, *found, strict=True)
    ]


def judge_columns(rows: Sequence[core.Comparison]) -> Mapping[str, Any]:
    """The judge's own disparity for each comparison, its bias, and a test of this bias."""
    nulls = [cast("LabelledNull", one.null) for one in rows]
    kind, sides = nulls[0].question.disparity, sides_of(nulls)
    first, second = (np.array([one.rates(one.score) for one in side])
                     for side in zip(*((null.first, null.second) for null in nulls), strict=True))  # fmt: skip
    alone = disparity_of(first, second, kind)
    known = np.isfinite(alone)
    at_hand = replace(sides, people=np.full_like(sides.people, np.inf))
    z = disparity_statistic(at_hand, np.where(known, alone, 0.0), kind)
    names = ("metric", "group", "other", "disparity")
    own: dict[str, Any] = {name: [getattr(one, name) for one in rows] for name in names}
    return {
        **own,
        "disparity_judge": alone,
        "bias": np.where(known, alone - np.array(own["disparity"]), np.nan),
        "p_value": np.where(known, 2 * ndtr(-np.abs(z)), np.nan),
    }
