"""A comparison is a row with all its numbers, and a result has rows, a verdict, and what was left out; all frozen.

A new kind of test is a `NullDistribution` and an estimator. Families, adjustment, intervals, verdicts, frames, reports
and displays use only what is declared here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from skfairtest._utils.typing import Floats, Moments
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import two_sides
from skfairtest.inference.detectable import TwoRates
from skfairtest.inference.homogeneity import Homogeneity
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.multiplicity import Equality
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Question, quantiles
from skfairtest.metrics import Metric
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
    """What can happen by chance in one comparison, and the disparities that agree with the data.

    This one has neither intervals nor bins: what a kind of test knows of these, its null distribution says.
    """

    question: Question
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

    def critical_values(self, row: Comparison, error: float) -> tuple[float, float]:
        """Critical values below and above the estimate, at an error; limits of bootstrap samples follow themselves."""
        if not self.has_drawn_limits or row.has_samples:
            return quantiles(self.question.alternative, error)
        draws = row.draws if row.method in RESAMPLED and not self.adaptive else None
        return two_sides.critical_values(
            draws, self.question.alternative, error, studentized=self.studentized, freedom=self.freedom,
            skewness=self.skewness,
        )  # fmt: skip

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the disparities that are not rejected at critical values below and above the estimate."""
        return np.nan, np.nan

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Return the limits of several comparisons."""
        return [null.limits(*of_one) for null, *of_one in zip(nulls, critical, bounds, strict=True)]

    def table(self) -> TwoRates | None:
        """Return two rates whose test has a power that is known; None for others."""
        return None

    def error(self) -> float:
        """Return the standard error of the difference, or of the logarithm of the ratio; NaN where there is none."""
        return np.nan

    def n_effective(self, row: Comparison) -> int:
        """The number of people of the group on whom the estimate rests."""
        return row.n_group

    def standardized(self) -> Moments | None:
        """Return the difference of two means and the pooled standard deviation; None of what is no such difference."""
        return None

    def homogeneity(self) -> Homogeneity | None:
        """Test that the disparity is the same in every stratum; None where there are no strata, or no such test."""
        return None


#: What a test says of a comparison, which others with its hypothesis share but for the sign of the statistic.
EVIDENCE = ("log_p", "method", "n_extreme", "n_defined", "n_undefined", "n_tails", "least_log_p")


@dataclass(frozen=True)
class Comparison:
    """A comparison with all its numbers: what the data say, then its test, then its place in the family.

    Of a test without groups, `metric` is what is tested, and the values are NaN. The disparity lies within its
    `bounds`. `hypothesis` is that two sides have one value, where other comparisons can have it too; `sign` is that of
    the statistic beside theirs. `strata` are the labels of those in which both sides are defined, where there are
    several. `undefined` says why the disparity is not defined: outcomes must not decide how many hypotheses there are,
    so it is one with a p-value of 1.

    `draws` are what the p-value counts. `n_extreme` of `n_defined` draws are at least as extreme as the data, and the
    p-value of these is multiplied by `n_tails`; it is at least exp(`least_log_p`), whatever is drawn.

    `error` is the probability to miss the disparity that the adjustment leaves the interval.
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

    @property
    def is_pooled(self) -> bool:
        """Whether it is over all strata."""
        return self.contrast.stratum is None

    @property
    def in_family(self) -> Self:
        """The comparison as its family counts it: an undefined disparity keeps its place, and is no evidence."""
        if not self.undefined:
            return self
        return replace(
            self, log_p=0.0, method=f"undefined: {self.undefined}", statistic=np.nan, standard_error=np.nan,
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
        """Take the test of a comparison with the same hypothesis, whose statistic differs in its sign."""
        sign = self.sign * first.sign
        return replace(
            self,
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
    """A metric in every stratum and group, arrays of shape (S, G); `n_effective` is the denominator."""

    n_effective: np.ndarray
    value: np.ndarray
    standard_error: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray


@dataclass(frozen=True)
class Measurement:
    """One metric, tested comparison by comparison.

    Parameters
    ----------
    comparisons, excluded : tuple
        What was compared, and what could not be.
    values : GroupValues or None
        The metric in each group, if it has a value there.
    variance : str or None
        What its standard error is; "none" where it has none.
    doubtful : tuple of (group, reason)
        Where the null distribution is only approximate.
    binning_error : float
        How far bins of scores may have moved a group's value.
    """

    comparisons: tuple[Comparison, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    values: GroupValues | None = None
    variance: str | None = "none"
    doubtful: tuple[tuple[Any, str], ...] = ()
    binning_error: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The verdict: the global p-value with its Monte-Carlo limits, and whether there is a significant disparity.

    `leading` is the place of the strongest evidence: which grouping, and which of its comparisons. `adjust` is the
    adjustment that was run: "shaffer" is Holm's where no hypothesis follows from others. `n_hypotheses` are those of
    the family that decides, and `level` is what the adjustment leaves the smallest of their p-values.
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

    `tested` are all comparisons, each on its own; `comparisons` are those that are shown, beside the others of their
    family. `design` says who is compared with whom, and `table` has the people by the labels that rates read. `further`
    hypotheses, which could be tested if people of unknown group were in certain groups, count in the family.
    """

    settings: Settings
    tested: tuple[Comparison, ...]
    excluded: tuple[Exclusion, ...]
    sample: Sample | None = None
    metrics: tuple[Metric, ...] = ()
    pos_label: Any = None
    by_metric: Mapping[str, Measurement] = field(default_factory=dict)
    #: The design of these comparisons, a `Design`.
    design: Any = None
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
