"""Comparisons (rows with all their numbers) and results (rows, a verdict, and exclusions); all frozen.

A new kind of test is a `NullDistribution` and an estimator; everything else uses only what is declared here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from skfairtest._utils.typing import Booleans, Floats, Moments
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import two_sides
from skfairtest.inference.detectable import TwoRates
from skfairtest.inference.homogeneity import Homogeneity
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.multiplicity import Equality
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Question, quantiles
from skfairtest.metrics import Metric, Rate
from skfairtest.readers import other_labels
from skfairtest.tables import CountTable, Sample

#: Methods whose p-values count resamples.
RESAMPLED = frozenset(
    {
        "permutation", "permutation within scores", "simulation", "sign flipping", "bootstrap", "parametric bootstrap",
    }
)  # fmt: skip


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of one comparison, and the disparities that agree with the data.

    Of this class it is normal around an `estimate` with a standard error; without these there are no intervals.
    """

    question: Question
    estimate: float = field(default=np.nan, kw_only=True)
    standard_error: float = field(default=np.nan, kw_only=True)
    studentized: bool = field(default=True, kw_only=True)
    #: Bootstrap samples, at any margin; `alike` if the people of a side are all alike, so that its samples are too.
    samples: Resampled | None = field(default=None, kw_only=True)
    alike: bool = field(default=False, kw_only=True)

    #: Degrees of freedom of t, which its statistic has in large samples, and the skewness of its error.
    freedom: float = field(default=np.inf, kw_only=True)
    skewness: float = field(default=0.0, kw_only=True)
    #: Whether drawing stopped as soon as the p-value was known.
    adaptive: bool = field(default=False, kw_only=True)
    #: Which values of a statistic that is the metric itself are evidence; empty if the alternative says it.
    extreme: str = field(default="", kw_only=True)
    #: Whether critical values are those of resamples, where the p-value counts resamples.
    has_drawn_limits: ClassVar[bool] = False

    @property
    def side(self) -> str:
        """Which draws are extreme."""
        return self.extreme or self.question.alternative

    @property
    def tails(self) -> tuple[str, ...]:
        """The tails that are counted; both, the smaller doubled, for a metric without a direction."""
        return ("greater", "less") if self.extreme == "two-sided" else (self.side,)

    def critical_values(self, row: Comparison, error: float) -> tuple[float, float]:
        """Critical values below and above the estimate, at an error."""
        if not self.has_drawn_limits or row.has_samples:
            return quantiles(self.question.alternative, error)
        draws = row.draws if row.method in RESAMPLED and not self.adaptive else None
        return two_sides.critical_values(
            draws, self.question.alternative, error, studentized=self.studentized, freedom=self.freedom,
            skewness=self.skewness,
        )  # fmt: skip

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """The disparities not rejected at critical values below and above the estimate."""
        below, above = critical
        return self.estimate - below * self.standard_error, self.estimate + above * self.standard_error

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """The limits of several comparisons."""
        return [null.limits(*of_one) for null, *of_one in zip(nulls, critical, bounds, strict=True)]

    def table(self) -> TwoRates | None:
        """Two rates whose test has a power that is known; None for others."""
        return None

    def error(self) -> float:
        """The standard error of the difference, or of the log ratio; NaN if there is none."""
        return self.standard_error

    def n_effective(self, row: Comparison) -> int:
        """The number of people of the group on whom the estimate rests."""
        return row.n_group

    def standardized(self) -> Moments | None:
        """The difference of two means and the pooled standard deviation; None if there are none."""
        return None

    def homogeneity(self) -> Homogeneity | None:
        """Test that the disparity is the same in every stratum; None without strata or such a test."""
        return None

    def attainable(self) -> tuple[float, Floats] | None:
        """Log p-value of an exact test given its margins, and those that it can attain; None without such a test."""
        return None


#: What a test says of a comparison, which others with its hypothesis share but for the sign of the statistic.
EVIDENCE = ("log_p", "method", "n_extreme", "n_defined", "n_undefined", "n_tails", "least_log_p")


@dataclass(frozen=True)
class Comparison:
    """A comparison with all its numbers: the estimate, then its test, then its place in the family.

    Without groups, `metric` is the quantity tested, and values are NaN. The disparity lies within `bounds`.
    `hypothesis`: an equality that other comparisons may test too; `sign`: of the statistic relative to theirs.
    `strata`: labels of those in which both sides are defined, if several. `undefined`: the reason; the p-value is then
    1, because outcomes must not change the number of hypotheses.

    `n_extreme` of `n_defined` `draws` are at least as extreme as the data; their p-value is multiplied by `n_tails`,
    and at least exp(`least_log_p`). `error`: the interval's noncoverage. `at`: where two distributions differ most.
    """

    metric: str
    group: Any
    other: Any
    stratum: Any
    contrast: Contrast
    n_group: int
    n_other: int
    value_group: float
    value_other: float
    disparity: float
    null: NullDistribution
    bounds: tuple[float, float] = (-np.inf, np.inf)
    hypothesis: Equality | None = None
    sign: int = 1
    strata: tuple[Any, ...] = ()
    undefined: str = ""
    log_p: float = 0.0
    method: str = ""
    statistic: float = np.nan
    standard_error: float = np.nan
    draws: Floats | None = None
    n_extreme: int | None = None
    n_defined: int = 0
    n_undefined: int = 0
    n_tails: int = 1
    least_log_p: float = -np.inf
    log_p_adjusted: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)
    concern: bool = False
    error: float = np.nan
    at: float = np.nan

    @property
    def is_pooled(self) -> bool:
        """Whether it is over all strata."""
        return self.contrast.stratum is None

    @property
    def order(self) -> tuple[bool, int]:
        """Its place among those of a metric: over all strata, then in each."""
        return not self.is_pooled, self.contrast.stratum or 0

    def updated(self, **values: Any) -> Self:
        """A copy with other values: `dataclasses.replace` takes 50 times as long for so many fields."""
        row = object.__new__(type(self))
        vars(row).update(vars(self), **values)
        return row

    @property
    def in_family(self) -> Self:
        """The comparison as its family counts it: an undefined disparity counts, but is not evidence."""
        if not self.undefined:
            return self
        return self.updated(
            log_p=0.0, method=f"undefined: {self.undefined}", statistic=np.nan, standard_error=np.nan,
            n_extreme=None, n_defined=0, n_undefined=0, n_tails=1, least_log_p=-np.inf,
        )  # fmt: skip

    @property
    def has_samples(self) -> bool:
        """Whether bootstrap samples give an interval: a statistic without an error has none."""
        return self.method == "bootstrap" and bool(np.isfinite(self.statistic))

    @property
    def critical(self) -> tuple[float, float]:
        """Critical values of its interval, below and above the estimate."""
        return self.null.critical_values(self, self.error)

    def tested_as(self, first: Self) -> Self:
        """Take the test of a comparison with the same hypothesis, up to the sign of the statistic."""
        sign = self.sign * first.sign
        return self.updated(
            **{name: getattr(first, name) for name in EVIDENCE},
            statistic=sign * first.statistic + 0.0,  # + 0.0: no minus sign before 0
            draws=None if first.draws is None else sign * first.draws,
        )


@dataclass(frozen=True)
class Exclusion:
    """A group, cell or stratum that was left out of `comparisons` comparisons, and the reason."""

    metric: str | None
    group: Any
    other: Any
    stratum: Any
    reason: str
    n: int
    n_effective: int
    comparisons: int


def pooled(exclusions: Iterable[Exclusion]) -> list[Exclusion]:
    """Those that leave out comparisons which are not of a single stratum."""
    return [one for one in exclusions if one.stratum is None and one.comparisons > 0]


@dataclass(frozen=True)
class GroupValues:
    """A metric in every stratum and group, arrays of shape (S, G); `n_effective` is the denominator.

    `variance`: the kind of standard error ("none": no error); `doubtful`: (group, reason) if the null distribution is
    only approximate; `binning_error`: the most that bins of scores may have moved a value; `further`: what a kind of
    test knows beside.
    """

    n_effective: np.ndarray
    value: np.ndarray
    standard_error: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    variance: str | None = "none"
    doubtful: tuple[tuple[Any, str], ...] = ()
    binning_error: float = 0.0
    further: Any = None


#: The comparisons of a metric, those that were impossible, and its values; None for a metric of all groups at once.
Measured = tuple[Sequence[Comparison], Sequence[Exclusion], GroupValues | None]


@dataclass(frozen=True)
class Design:
    """The people, settings, groups and contrasts by which every metric of a sample is compared.

    Parameters
    ----------
    sample : Sample
        People, with the columns that the metrics read.
    settings : Settings
        How they are compared.
    kept : tuple of int
        The groups that take part.
    contrasts : tuple of (Contrast, object)
        Each contrast, and the label of its other side.
    pos_label : object
        The positive label; `asked_pos_label` is the parameter, or None.
    sets : tuple of int
        The people in each group as bits, one for each smallest group: equal if and only if the people are.
    """

    sample: Sample
    settings: Settings
    kept: tuple[int, ...]
    contrasts: tuple[tuple[Contrast, Any], ...]
    pos_label: Any
    asked_pos_label: Any
    sets: tuple[int, ...]

    @property
    def places(self) -> list[int | None]:
        """Where comparisons are made: over all strata (None), then in each stratum."""
        each = self.sample.control_names and self.settings.by_stratum
        return [None, *range(len(self.sample.strata))] if each else [None]

    def stratum(self, place: int | None) -> Any:
        """The label of a place."""
        return None if place is None else self.sample.stratum_labels[place]

    def group(self, contrast: Contrast) -> Any:
        """The label of the group that is compared."""
        return self.sample.group_labels[contrast.first]

    def people(self, contrast: Contrast) -> tuple[int, int]:
        """The people of both sides of a comparison; the other side is everyone for compare='to_overall'."""
        sizes = self.sample.sizes if contrast.stratum is None else self.sample.sizes[[contrast.stratum]]
        first, second = (int(sizes[:, side].sum()) for side in groups_of(sizes.shape[1], contrast))
        return first, second + first * contrast.overall

    def comparison(
        self,
        metric: str,
        contrast: Contrast,
        other: Any,
        values: tuple[float, float],
        disparity: float,
        null: NullDistribution,
        *,
        n: tuple[int, int] | None = None,
        hypothesis: tuple[Equality | None, int] = (None, 1),
        strata: Sequence[int] = (),
        **known: Any,
    ) -> Comparison:
        """A comparison, with what is `known` of it already; its people are counted if necessary."""
        n = self.people(contrast) if n is None else n
        pooled = tuple(map(self.stratum, strata)) if len(strata) > 1 else ()
        return Comparison(
            metric, self.group(contrast), other, self.stratum(contrast.stratum), contrast, *n, *values, disparity,
            null, hypothesis=hypothesis[0], sign=hypothesis[1], strata=pooled, **known,
        )  # fmt: skip

    def left_out(
        self, metric: str, contrast: Contrast, other: Any, reason: str, n_effective: int, n: int | None = None
    ) -> Exclusion:
        """A comparison that cannot be made, with the reason."""
        n = self.people(contrast)[0] if n is None else n
        group, stratum = self.group(contrast), self.stratum(contrast.stratum)
        return Exclusion(metric, group, other, stratum, reason, n, n_effective, 1)

    def question(self, metric: Metric) -> Question:
        """The question about a metric, which may have a disparity of its own."""
        question = self.settings.question
        return replace(question, disparity=metric.disparity or question.disparity)

    def undefined(self, metric: str, found: Counter[tuple[int, int | None]], reason: str) -> Iterator[Exclusion]:
        """List groups, and strata of a group, in which a metric is undefined, and the number of comparisons lost."""
        sizes = self.sample.sizes
        for (group, place), comparisons in found.items():
            n = int(sizes[:, group].sum() if place is None else sizes[place, group])
            name, why = self.sample.group_labels[group], reason if n else "no people"
            yield Exclusion(metric, name, None, self.stratum(place), why, n, 0, comparisons)

    def what_is_equal(self, rate: Rate, question: Question, *, scored: bool) -> tuple[Hashable, bool]:
        """The rate that is equal if and only if this one is, and whether it is the complement.

        `scored` statistics of equality are of the rate, on any scale. Others are the same for the complement, up to
        sign, only if differences of the rate itself are compared.
        """
        which, complement = rate.equality(several_labels=len(self.sample.labels) > 2)
        what = (which, rate.label)
        disparity = rate.disparity or question.disparity
        if disparity == "odds_ratio":  # tested exactly by Fisher's test, the complement alike
            return (what, disparity), complement
        if (scored and question.margin_bounds is None) or (disparity == "difference" and rate.value is None):
            return what, complement
        return (what, complement, disparity, rate.value), False

    def hypothesis(
        self, question: Question, contrast: Contrast, what: tuple[Hashable, bool], strata: Sequence[int]
    ) -> tuple[Equality | None, int]:
        """The hypothesis of a comparison, unless it is one-sided, and the sign of its statistic.

        Swapping sides changes one-sided tests, but not equivalence within a margin, which does not follow from other
        pairs' hypotheses.
        """
        if question.directed or (callable(self.settings.strata_weights) and contrast.second is None):
            return None, 1  # a function may weigh strata differently if the sides are swapped
        if contrast.overall and (question.method == "bootstrap" or question.margin_bounds is not None):
            return None, 1  # everyone's samples, or margins, depend on how many of them the group is
        first = self.sets[contrast.first]
        second = sum(self.sets[group] for group in contrast.others(len(self.sets)))
        place = 0 if len(self.sample.strata) == 1 else contrast.stratum
        sides = frozenset({first, second})
        own = question.margin_bounds and (question.margin_bounds, sides)  # sides that no other hypothesis shares
        equality = Equality((what[0], place, tuple(strata), own), sides)
        return equality, (1 if first < second else -1) * (-1 if what[1] else 1)


def groups_of(n_groups: int, contrast: Contrast) -> tuple[Booleans, Booleans]:
    """The groups on either side of a contrast."""
    groups = np.arange(n_groups)
    return groups == contrast.first, np.isin(groups, contrast.others(n_groups))


@dataclass(frozen=True)
class Verdict:
    """The global p-value with its Monte Carlo limits, and the verdict.

    `leading`: the strongest evidence (grouping, comparison). `adjust`: as run; "shaffer" is Holm's if no hypothesis
    follows from others. `n_hypotheses`: in the deciding family; `level`: for its smallest p-value.
    """

    log_p: float = np.nan
    limits: tuple[float, float] = (np.nan, np.nan)
    rejected: bool = False
    concern: bool = False
    n_resamples: int = 0
    adjust: str | None = None
    n_hypotheses: int = 0
    level: float = np.nan
    leading: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Result:
    """The result of one grouping of people, and the verdict of the family to which it belongs.

    `tested`: all comparisons, unadjusted; `comparisons`: those shown, adjusted; `table`: people by the labels that
    rates read. `further`: hypotheses testable only if people of unknown group were in certain groups.
    """

    settings: Settings
    tested: tuple[Comparison, ...]
    excluded: tuple[Exclusion, ...]
    sample: Sample | None = None
    metrics: tuple[Metric, ...] = ()
    pos_label: Any = None
    by_metric: Mapping[str, GroupValues] = field(default_factory=dict)
    design: Design | None = None
    table: CountTable | None = None
    further: int = 0
    comparisons: tuple[Comparison, ...] = ()
    verdict: Verdict = Verdict()

    @property
    def leading(self) -> Comparison:
        """The strongest evidence of one grouping."""
        return self.comparisons[self.verdict.leading[1]]

    @property
    def negative_labels(self) -> list[Any]:
        """The labels that count as negative, if there is a positive one."""
        return other_labels([] if self.sample is None else self.sample.labels, self.pos_label)

    @property
    def undefined(self) -> list[Exclusion]:
        """The comparisons whose disparity is undefined, with the reason, although their hypotheses count."""
        return [
            Exclusion(
                row.metric, row.group, row.other, row.stratum, row.undefined, row.n_group, row.null.n_effective(row), 1
            )
            for row in self.tested
            if row.undefined
        ]
