"""The test of one model: whether a fairness metric differs between groups by more than chance explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Later, with_parameters
from skfairtest.comparisons.breaking import breaking_point_of, kept_breaking_point, shown_breaking_point
from skfairtest.comparisons.classes import by_label
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import check_question, judge, setup_of
from skfairtest.comparisons.family import equivalence_interval
from skfairtest.comparisons.frames import (
    bounds_frame,
    by_group,
    comparisons_columns,
    excluded_frame,
    frame_by,
    homogeneity_columns,
    method_of,
    null_distribution,
    standardized_columns,
)
from skfairtest.comparisons.measure import cells_read, measure, permuted_within, shared
from skfairtest.comparisons.null_histogram import Supposed, null_histogram_of
from skfairtest.comparisons.people import GroupsTest, Inputs
from skfairtest.comparisons.rates import RateNull
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.unknown import disparities_of, p_value_bounds_of, with_unknown
from skfairtest.group.explanation import Explanation, decomposition
from skfairtest.group.report import group_report
from skfairtest.metrics import Metric
from skfairtest.readers import classes_of
from skfairtest.report.report import Report
from skfairtest.sensitivity.analysis import Sensitivity
from skfairtest.sensitivity.rates import Counted, sensitivity_of
from skfairtest.tables import Sample


@with_parameters
class FairnessTest(GroupsTest):
    """Test whether a fairness metric differs between groups by more than chance explains.

    Null hypothesis: `metric` is equal in the compared groups (with `margin`: it does not differ by more than the
    margin; with ``alternative="equivalence"``: it does differ by more). Rates are compared by Boschloo's exact
    unconditional test, whose false-positive rate never exceeds the level. Tests of other metrics are asymptotically
    valid, and permutations exact if the groups have the same distribution.

    Parameters
    ----------
    estimator : fitted estimator, optional
        None: the `X` of `fit` is the predictions.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        Names of metrics here, in scikit-learn, fairlearn and the literature; their functions and scorers; any
        ``f(y_true, y_pred)``; any function of ``sensitive_features`` too (null hypothesis: groups are independent of
        truth and prediction). Keys of a dict are names in results.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference", "to_highest", "to_lowest"}
        All pairs of groups, or each group against everyone, everyone else, `reference_group`, or the group with the
        highest or lowest value in the data (adjusted for all pairs).
    reference_group : label or tuple of labels, optional
        A tuple for several sensitive features.
    disparity : {"difference", "ratio", "odds_ratio"}, default="difference"
        ``value_group - value_other`` or ``value_group / value_other``; for rates also the conditional odds ratio (over
        strata Mantel and Haenszel's).
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        "greater": the group's value is larger. "equivalence": the disparity lies within the margin.
    margin : float or tuple, optional
        Tolerated disparity: a difference, or a ratio in (0, 1] that means [margin, 1/margin]. With "equivalence" also
        the lowest and the highest one, either possibly None (non-inferiority).
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap", "diciccio"}, default="auto"
        "auto" is exact for rates if the null distribution can be enumerated, otherwise a score test, permutations (with
        at least the p-value of Welch's t or of the normal distribution) or bootstrap samples, as each row's ``method``
        says. "diciccio": algorithm 1 of DiCiccio et al. (2020) as published.
    variance : {"auto", "score", "delta", "jackknife", "bootstrap", None}, default="auto"
        Standard error that studentizes a resampled disparity. "auto": the metric's own.
    within : {"auto", None, "y_true", "y_pred"}, default="auto"
        The column within whose levels labels are permuted; anything but "auto" tests equal conditional distributions.
    strata_weights : mapping or callable, optional
        Weights of strata in a pooled difference or ratio of rates: one for each stratum label, or a function
        ``f(n_group, n_other)`` of arrays of people per stratum. None: Mantel and Haenszel's. The null hypothesis
        remains equality in every stratum.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        "auto": Holm's step-down, with Shaffer's smaller factors for all pairs of three or more groups; discrete Holm
        for two groups, or with compare="to_rest" or "to_overall", from six exactly tested hypotheses on, up to 2,000.
    confidence_level : float, default=0.95
        Of intervals; one minus the level.
    n_resamples : int or "adaptive", default=9999
        Resamples; "adaptive" stops after 20 at least as extreme as the data (Besag and Clifford 1991).
    missing : {"raise", "exclude", "group", "bounds"}, default="raise"
        People whose sensitive feature is missing are an error, left out, a group, or, for rates, assigned in all ways:
        the largest p-value and the widest interval hold.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True; other labels need one.
    prediction_threshold : float, optional
        Predict the positive label from this score on.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The method for scores; "predict" if it returns probabilities.
    random_state : int, RandomState, Generator or None
        Seed of resamples and of randomised predictions.
    unit : str, default="people"
        The rows' name in reports, in the plural, such as "answers".
    n_jobs : int, optional
        Number of processes.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    p_value_ : float
        The smallest adjusted p-value; with "equivalence" the largest.
    rejected_ : bool
        ``p_value_ <= 1 - confidence_level``.
    concern_ : bool
        Whether a disparity was detected or, with "equivalence", fairness within the margin not shown.
    statistic_, disparity_ : float
        Of the comparison that sets `p_value_`.
    confidence_interval_, equivalence_interval_ : tuple of float
        Limits of that disparity, simultaneous over all comparisons; the interval that "equivalence" inverts.
    by_group_ : DataFrame
        People, values and pointwise limits, indexed like fairlearn's ``MetricFrame.by_group``.
    comparisons_ : DataFrame
        One row per comparison; ``stratum`` is None if strata are pooled.
    excluded_ : DataFrame
        Groups and strata left out, with the reason and the counts.
    homogeneity_ : DataFrame
        With control features, whether each pooled disparity is the same in every stratum.
    standardized_differences_ : DataFrame
        Of means of numbers, Cohen's d with an interval of the same test.
    breaking_point_ : DataFrame
        For rates, the fewest changed decisions or true labels of one group that would reverse the verdict.
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Statistics under resampling; None if every null distribution was enumerated.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_`.
    method_, variance_, within_, adjust_, n_resamples_ : object
        What was run.
    binning_error_ : float
        The largest possible effect of bins of scores on a group's value.
    groups_, pos_label_, negative_labels_, n_samples_, n_unknown_ : object
        Groups, labels, and the numbers of people of known and of unknown group.
    disparity_bounds_, p_value_bounds_, bounds_ : object
        With ``missing="bounds"`` only: the range over all assignments, and a row for each comparison.

    See Also
    --------
    CountTable : The table behind every test.
    Rate, ScoreMetric : Declare your own metric.
    CorrelationFairnessTest : For a continuous sensitive feature.

    Notes
    -----
    A model whose ``predict`` takes ``sensitive_features`` or ``random_state`` gets the groups or a seed. `clone` passes
    on the fitted model itself. Equal hypotheses, as of complementary events, have one adjusted p-value.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. C. DiCiccio et al. (2020), KDD, sections 2 and 3. J. Besag
    and P. Clifford (1991), Biometrika 78, 301-304. S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70. J. P.
    Shaffer (1986), Journal of the American Statistical Association 81, 826-831.

    Examples
    --------
    >>> from skfairtest import FairnessTest
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> test = FairnessTest.from_predictions(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     metric="false_positive_rate",
    ... )
    >>> round(test.disparity_, 4), round(test.p_value_, 3)
    (-0.0031, 0.869)
    >>> test.rejected_
    False
    """

    # Most fits are asked for a few numbers: the rest is put together when it is read.
    by_group_, comparisons_, excluded_, homogeneity_, standardized_differences_ = (Later() for _ in range(5))
    _values, _null_histogram, _supposed, _breaking = (Later() for _ in range(4))

    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "p_value_interval", "rejected", "concern", "statistic", "disparity", "confidence_interval",
        "equivalence_interval", "comparisons", "excluded", "homogeneity", "standardized_differences", "method",
        "variance", "within", "adjust", "n_resamples", "groups", "pos_label", "n_samples", "n_unknown",
        "disparity_bounds", "p_value_bounds", "bounds",
    )  # fmt: skip

    _not_written: ClassVar[tuple[str, ...]] = (*GroupsTest._not_written, "_counted", "_supposed")

    estimator: Any = field(default=None, kw_only=False)
    metric: Any = "equalized_odds"
    compare: str = "between_groups"
    reference_group: Any = None
    disparity: str = "difference"
    alternative: str = "two-sided"
    margin: Any = None
    method: str = "auto"
    variance: str | None = "auto"
    within: str | None = "auto"
    strata_weights: Any = None
    adjust: str | None = "auto"
    confidence_level: float = 0.95
    n_resamples: int = 9999
    missing: str = "raise"
    pos_label: Any = None
    prediction_threshold: float | None = None
    response: str = "auto"
    random_state: Any = None
    unit: str = GroupsTest.unit
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare whether true labels are required, which depends on the metric."""
        tags = super().__sklearn_tags__()
        try:
            settings, metrics = self._check()
        except (TypeError, ValueError):  # `fit` says what is wrong with the parameters
            return tags
        tags.target_tags.required = "y_true" in cells_read(metrics, settings)
        return tags

    def _check(self) -> tuple[Settings, list[Metric]]:
        return check_question(self.metric, self.get_params())

    def _compare(self, sample: Sample, settings: Settings, metrics: list[Metric], seed: Any) -> Result:
        metrics = by_label(metrics, sample, settings, self.pos_label)
        tested = measure(sample, metrics, settings, self.pos_label, classes_of(self.estimator), seed)
        return judge([with_unknown(tested)], settings)[0]

    def _fit_sample(
        self, sample: Sample, settings: Settings, metrics: list[Metric] | None, seed: Any, subject: str
    ) -> Self:
        assert metrics is not None
        self._store(self._compare(sample, settings, metrics, seed))
        return self

    def _store(self, result: Result) -> None:
        """Set the fitted attributes."""
        settings, sample, metrics, verdict = result.settings, result.sample, result.metrics, result.verdict
        assert sample is not None
        rows, leading = result.comparisons, result.leading
        self.pos_label_, self.negative_labels_ = result.pos_label, result.negative_labels
        self._set_verdict(result)
        if settings.question.alternative == "equivalence":
            self.equivalence_interval_ = equivalence_interval(leading, settings)
        self.by_group_, self._values = by_group(result)
        # Counts may wait until they are read; people and resamples are not kept for that.
        are_counts = all(isinstance(one.null, RateNull) and one.draws is None for one in rows)

        def later(make: Callable[..., Any], *given: Any) -> Any:
            return partial(make, *given) if are_counts else make(*given)

        self.comparisons_ = partial(frame_by, later(comparisons_columns, rows))
        self.excluded_ = partial(excluded_frame, result.excluded)
        self.homogeneity_ = partial(frame_by, later(homogeneity_columns, rows))
        self.standardized_differences_ = partial(frame_by, later(standardized_columns, rows))
        self.null_distribution_ = null_distribution(rows, verdict.n_resamples)
        self.method_ = method_of(result)
        known = result.by_metric
        self.variance_ = shared({one.metric: known[one.metric].variance for one in rows if one.metric in known})
        self.within_ = permuted_within(metrics, settings, clustered=sample.clusters is not None)
        self.binning_error_ = max((one.binning_error for one in known.values()), default=0.0)
        self.groups_ = list(sample.group_labels)
        self.n_samples_, self.n_unknown_ = sample.n_samples, sample.n_unknown
        if settings.missing == "bounds":
            self.bounds_, self.p_value_bounds_ = bounds_frame(rows), p_value_bounds_of(result)
            self.disparity_bounds_ = disparities_of(leading)
        summaries = {metric.name: metric.summary.name for metric in metrics if metric.summary is not None}
        self._summary = summaries.get(leading.metric, "")
        setup = setup_of(result)
        self._setup = replace(setup, unique=setup.unique and self.unit == GroupsTest.unit)
        self._feature = self._setup.features
        self._null_histogram = later(null_histogram_of, leading)
        # The basis of the power of the strongest evidence, and of the sensitivity of the verdict.
        self._supposed = later(Supposed.of, leading, verdict.level, settings.n_resamples)
        self._counted = Counted.of(result)
        self._breaking = breaking_point_of([result])
        self._keep_parameters()

    @property
    def breaking_point_(self) -> Any:
        """With how few decisions, and true labels, of one group each verdict would turn."""
        check_is_fitted(self)
        return shown_breaking_point(self, self._breaking)

    def decompose(
        self, *, metric: str | None = None, group: Any = None, other: Any = None, standard: str = "average"
    ) -> Explanation:
        """Decompose a difference of two groups over the control features that the test was fitted with.

        Composition is the part due to different shares of the strata; the rest is different values within strata. A
        decomposition is descriptive; the test itself is about the values within strata.

        Parameters
        ----------
        metric : str, optional
            A rate or a mean of the test; not needed if there is only one.
        group, other : label or tuple of labels, optional
            The groups; not needed if there are only two.
        standard : {"average", "pooled", "group", "other"}, default="average"
            The composition that weights the values within strata: the average of both groups' (Kitagawa 1955),
            all people's, or one group's (Oaxaca 1973, Blinder 1973).

        Returns
        -------
        Explanation
            Its `parts` and `by_stratum` are frames; printing it shows sentences and both frames.

        Raises
        ------
        ValueError
            If there were no control features, people have weights or come in clusters, or the metric is not a rate or
            a mean.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> from skfairtest.datasets import load_berkeley
        >>> test = FairnessTest.from_table(load_berkeley(as_table=True), metric="selection_rate")
        >>> test.decompose().parts["value"].round(3).to_dict()
        {'difference': -0.142, 'composition': -0.178, 'treatment': 0.036, 'no_counterpart': 0.0}
        """
        check_is_fitted(self)
        found = decomposition(
            self._values, self._setup, self.variance_, metric=metric, group=group, other=other, standard=standard
        )
        return replace(found, pos_label=self.pos_label_)

    def sensitivity(self, to: str, *, at: Any = None) -> Sensitivity:
        """Analyse how far the verdict depends on an assumption that the data cannot check.

        Parameters
        ----------
        to : {"missing_groups", "confounding"}
            The assumption. "missing_groups": up to a share of the people of unknown group may be in any group, while
            the others are missing by chance (the test was fitted with ``missing="exclude"`` or ``"bounds"``).
            "confounding": an unmeasured variable changes the odds of being in a group by up to a factor, within strata
            of `control_features` if there are any (Rosenbaum's gamma).
        at : float or array-like of float, optional
            Shares or factors in the frame.

        Returns
        -------
        Sensitivity
            Its `frame` has the smallest and the largest disparity (with "confounding" odds ratio) and p-value of each
            comparison; printing it begins with how far the verdict survives.

        Raises
        ------
        ValueError
            If the test is not an exact or asymptotic one of rates without weights and clusters, or was read from JSON.

        Notes
        -----
        The analysis shows what is possible, not what is likely. Adjusted p-values of several comparisons are bounds.
        With "confounding", two-sided p-values are twice the smaller one-sided bound. For errors in true labels see
        `breaking_point_`.

        References
        ----------
        P. R. Rosenbaum (2002), Observational Studies, 2nd edition, chapter 4.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> from skfairtest.datasets import load_compas
        >>> compas = load_compas()
        >>> test = FairnessTest.from_predictions(
        ...     compas.y_true,
        ...     compas.y_pred,
        ...     sensitive_features=compas.sensitive_features["sex"],
        ...     metric="selection_rate",
        ... )
        >>> print(test.sensitivity("confounding").sentence)
        Significant disparity. The verdict survives up to an unmeasured confounder that changes the odds of being in a
        group by a factor of 1.06.
        """
        check_is_fitted(self)
        counted = getattr(
            self, "_counted", Counted(None, "a test that was read from JSON, which holds no counts: fit again")
        )
        return sensitivity_of(counted, to, at)

    def _found(self) -> dict[str, Any]:
        return {**super()._found(), "by_group": self._values}

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "_breaking": kept_breaking_point(self._breaking)}

    def _made(self) -> Report:
        return group_report(self)


def measured_of(test: FairnessTest, inputs: Inputs) -> Result:
    """The estimates of a test without fitting it; p-values of rates mean nothing."""
    sample, settings, metrics, seed, _ = test._people(inputs)
    assert metrics is not None
    metrics = by_label(metrics, sample, settings, test.pos_label)
    return measure(sample, metrics, replace(settings, tested=False), test.pos_label, classes_of(test.estimator), seed)


def result_of(test: FairnessTest, inputs: Inputs, *, tested: bool = True) -> Result:
    """The results of a test without fitting it."""
    sample, settings, metrics, seed, _ = test._people(inputs)
    assert metrics is not None
    return test._compare(sample, replace(settings, tested=tested), metrics, seed)
