"""The test of one model: whether a fairness metric differs between groups by more than chance explains."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Later, with_parameters
from skfairtest.comparisons.breaking import breaking_point_of, kept_breaking_point, shown_breaking_point
from skfairtest.comparisons.core import Measured, Result
from skfairtest.comparisons.engine import check_question, compare, setup_of
from skfairtest.comparisons.family import equivalence_interval
from skfairtest.comparisons.frames import (
    ByGroup,
    bounds_frame,
    comparisons_columns,
    excluded_frame,
    frame_of,
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
from skfairtest.comparisons.unknown import disparities_of, p_value_bounds_of
from skfairtest.group.explanation import Explanation, explain
from skfairtest.group.report import group_report, group_title
from skfairtest.metrics import Metric
from skfairtest.readers import classes_of
from skfairtest.report.report import Report
from skfairtest.sensitivity.rates import Counted, sensitivity_of
from skfairtest.sensitivity.result import Sensitivity
from skfairtest.tables import Sample


@with_parameters
class FairnessTest(GroupsTest):
    """Test whether a fairness metric differs between groups by more than chance explains.

    Null hypothesis: `metric` is equal in the groups that are compared (with `margin`: it does not differ by more than
    the margin; with ``alternative="equivalence"``: it does differ by more). A rate is the probability of an event
    among the people who meet a condition; the default test of two groups is Boschloo's exact unconditional test within
    that condition, whose false-positive rate is never above the level, in samples of any size. Every other metric is
    tested by permuting labels, with each resample's disparity divided by its own standard error: the test is exact if
    the groups have the same distribution, and asymptotically valid if only the metric is equal.

    Parameters
    ----------
    estimator : fitted estimator, optional
        Anything with ``predict``, or with the scores that the metric needs; it is neither fitted nor copied here. None:
        the `X` of `fit` is the predictions.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        Names of rates (``selection_rate``, ``true_positive_rate`` or ``recall``, ``false_positive_rate``, ...), of
        criteria made of rates (``demographic_parity``, ``equalized_odds``, ...) or of other metrics (``roc_auc``,
        ``average_precision``, ``log_loss``, ``brier_score``, ``calibration``, ``mean_prediction``, ``mean_residual``,
        ``mean_squared_error``, ``mean_absolute_error``, ``r2``, ``f1_macro``, ``f1_weighted``, ``f2``,
        ``precision_macro``, ``recall_macro``, ``balanced_accuracy``, ``geometric_mean``, ``matthews_corrcoef``,
        ``cohen_kappa``, ``average_odds``, ``generalized_entropy``, ``theil_index``,
        ``kuiper_calibration``, ``calibration_within_groups``, ``normalized_mutual_info``, ``hinnefeld``); other names
        of these, such as those of scikit-learn's scorers, fairlearn's functions and the literature
        (``disparate_impact``); a `Rate` or `ScoreMetric`; scorers, and fairlearn's and scikit-learn's functions, also
        as ``functools.partial`` (a function that computes a built-in metric has its test); any ``f(y_true, y_pred)``,
        preferably with ``sample_weight``; and any function that takes ``sensitive_features``, for which the null
        hypothesis is that groups are independent of truth and prediction.
        The keys of a dict are the names in the results.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference", "to_highest", "to_lowest"}
        All pairs of groups, or each group against everyone, against everyone else, against `reference_group`, or
        against the group with the highest or the lowest value in the data. Because the data choose that group, p-values
        and intervals are adjusted for all pairs, and an interval also covers the disparity to the truly best group. The
        p-value against everyone is the one against everyone else; for rates it is exact where everyone else is a random
        sample of the people not in the group.
    reference_group : label or tuple of labels, optional
        With whom each group is compared: ``compare="to_reference"`` follows. A tuple for several sensitive features.
    disparity : {"difference", "ratio", "odds_ratio"}, default="difference"
        ``value_group - value_other`` or ``value_group / value_other``; both have the same test of equality.
        "odds_ratio", for rates: the conditional maximum-likelihood estimate with exact limits and Fisher's exact test;
        over strata, Mantel and Haenszel's estimate with the limits of Robins, Breslow and Greenland; tests with a
        margin are exact. A metric whose name says "ratio" is always compared by the ratio.
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        The alternative hypothesis. "greater": the group's value is larger. "equivalence": the disparity lies within the
        margin.
    margin : float or tuple, optional
        Tolerated disparity: a difference of at least 0, or a ratio in (0, 1] that means [margin, 1/margin]. With
        "equivalence" also the lowest and the highest one, of which one may be None: ``(-0.05, None)`` asks whether no
        group is more than 5 points below the others (non-inferiority), ``(0.8, None)`` for four fifths of their rate.
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap", "diciccio"}, default="auto"
        How the p-value is computed. "auto": exact for rates if the null distribution can be enumerated, otherwise the
        score test; a score test of areas under the ROC curve, average precision, balanced accuracy, averages over
        classes, Matthews' coefficient and kappa too; bootstrap samples for functions of numbers (medians of errors);
        permutation for other metrics (with `margin` "asymptotic"), for rates of people with weights, for people in
        clusters, and if `variance` or `within` requires a null distribution that cannot be enumerated. The row's
        ``method`` says which was used. The p-value of permutations is not below that of Welch's t (means) or of the
        normal distribution (other metrics), which permutations of sparse values undercut. "diciccio": algorithm 1 of
        DiCiccio et al. (2020) as published, without that: everybody's labels are permuted, with bootstrap standard
        errors unless `variance` says otherwise.
    variance : {"auto", "score", "delta", "jackknife", "bootstrap", None}, default="auto"
        Standard error that studentizes a resampled disparity: of rates with both values equal ("score"), linearized
        (DeLong's for AUC), leaving out one person of each of at most 64 kinds, from 50 bootstrap samples of each
        resample, or none. "auto": the metric's own; jackknife, else bootstrap, for functions; none for functions of
        numbers, whose interval is the union of the percentile and the basic bootstrap interval.
    within : {"auto", None, "y_true", "y_pred"}, default="auto"
        Among which people labels are permuted: as the metric requires (rates within their own condition, which is
        exact), among everybody, or among people with the same label or prediction. Anything but "auto" changes the null
        hypothesis to equal conditional distributions.
    adjust : {"auto", "holm", "bonferroni", "fdr_bh", None}, default="auto"
        How p-values are adjusted for the number of hypotheses. "auto" is Holm's step-down, with Shaffer's smaller
        factors where all pairs of three or more groups are compared: among four groups 6, 3, 3, 3, 2, 1 in place of 6,
        5, 4, 3, 2, 1. `adjust_` then is "shaffer", elsewhere "holm".
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    n_resamples : int or "adaptive", default=9999
        Resamples drawn (of functions of numbers by default 999, or 40 for each comparison). "adaptive" stops a
        comparison when 20 were at least as extreme as the data, at 9,999 at the latest; its p-value is valid (Besag and
        Clifford 1991).
    missing : {"raise", "exclude", "group", "bounds"}, default="raise"
        How to treat people whose sensitive feature is missing. "exclude": they are left out, and counted in
        `n_unknown_` and `excluded_`. "group": they are a group of their own, "unknown" (in parentheses where a group
        has that name). "bounds", of rates: each p-value is the largest and each interval the widest over all ways to
        assign them to the groups, so that the test is valid whichever they belong to. In tables and in frames that an
        engine counts, no group is missing.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True; other labels need one.
    prediction_threshold : float, optional
        Predict the positive label from this score on: for models that only give probabilities, and for scores without
        predictions. None: the model's own predictions, or `y_pred`.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The estimator's method that gives scores. "auto": the first that it has of those that the metrics can use, and
        with `prediction_threshold` of these three; "predict" is for models whose ``predict`` gives probabilities.
    random_state : int, RandomState, Generator or None
        Seed of the resampled methods, and of the predictions of a randomised model.
    n_jobs : int, optional
        Number of processes, for resamples or for thousands of enumerated comparisons. The result does not depend on it,
        nor on the joblib backend.
    verbose : int, default=0
        With 1, progress of everything that takes more than a second is shown on standard error.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted comparison; with "equivalence" the largest comparison's.
    rejected_ : bool
        ``p_value_ <= 1 - confidence_level``.
    concern_ : bool
        Whether a significant disparity was detected or, with "equivalence", whether fairness within the margin could
        not be shown.
    statistic_, disparity_ : float
        The statistic and the disparity of the comparison that sets `p_value_`; with a function of fairlearn that
        summarizes all groups, the disparity is the number of that function.
    confidence_interval_ : tuple of float
        Limits of that disparity, simultaneous over all comparisons; the number of a function of fairlearn lies between
        those of the largest disparities that they allow.
    equivalence_interval_ : tuple of float
        With "equivalence" only: the interval at level 1 - 2 alpha that the test inverts.
    by_group_ : DataFrame
        ``n``, ``n_effective`` (people who meet the condition; of other metrics those in the smallest denominator;
        with weights Kish's effective number), ``value``, ``standard_error``, ``ci_low``, ``ci_high`` (pointwise) and
        ``small`` (`n_effective` below 10), indexed like fairlearn's ``MetricFrame.by_group``. None where a metric
        looks at all groups at once.
    comparisons_ : DataFrame
        One row per comparison; ``n_group`` and ``n_other`` are people, ``stratum`` is None where strata are pooled.
        ``standard_error`` is that of the difference, or of the logarithm of the ratio: NaN where that is infinite. A
        ratio that is undefined (0 to 0) has a p-value of 1, counts as a hypothesis, and says why in ``method``.
    excluded_ : DataFrame
        What was left out, with the reason and the counts: too few people, or nobody who meets the condition.
    homogeneity_ : DataFrame
        With control features, one row for each pooled comparison: whether its disparity is the same in every stratum.
        ``statistic`` is the sum of the squared distances of the strata from the disparity that they would share,
        ``common``, in standard errors there (score statistics of a rate; Cochran's Q of other metrics); ``p_value``
        and ``p_value_adjusted`` (Holm over the rows) follow from the chi-square distribution with ``df`` degrees of
        freedom, and of odds ratios from the tables with the same margins, enumerated or sampled (``method``).
        ``stratum`` is the one farthest from ``common``, by ``distance`` standard errors. A disparity to everyone is
        tested as that to everyone else. Without rows where there are no strata.
    standardized_differences_ : DataFrame
        Of metrics that are means of numbers (``mean_prediction``, ``mean_residual``, mean errors and losses,
        ``calibration``), one row for each comparison of two sides that share nobody, within one stratum, of people who
        count alike: the difference of the means over the pooled standard deviation of both sides (Cohen's d, without
        Hedges' correction). The test is that of the means. ``ci_low`` and ``ci_high`` invert the same statistic, and
        contain 0 where the interval of the difference does; they assume neither normal numbers nor equal variances, and
        are approximate.
    breaking_point_ : DataFrame
        Of tests of rates, how few decisions, or true labels, of one group would reverse the verdict if changed: a row
        for each of the two (``changed``). ``n_changed`` is the smallest number of people in one group for whom a refit
        says the opposite, whichever people these are and in whichever direction; missing where no number suffices.
        ``among`` is that group, ``among_label`` the other label of the people who change, where it is one (the true
        label where decisions do), ``n_among`` how many could change alike, ``to_positive`` and ``to_negative`` how many
        change to what, and ``tied`` the other groups of which as many suffice. ``search`` is "every change" where every
        smaller change was ruled out; "bisection", in large tables, where changes in five proportions of their two kinds
        were searched: as many suffice, and fewer may. Computed when first looked at. Not there, with the reason in the
        error, where p-values do not follow from counts: other metrics, weights, clusters, control features, resamples,
        more than two labels, ``missing="bounds"``, and with "to_highest" and "to_lowest".
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Statistics under permuted labels, flipped signs or in bootstrap samples, as ``method`` says; None where every
        null distribution was enumerated, NaN where one was.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_` (Clopper and Pearson's); both ends are `p_value_` where it is
        exact.
    method_, variance_, within_, adjust_ : str or None
        What was run. `variance_` and `within_` are dicts where metrics differ in them.
    n_resamples_ : int
        How many resamples were drawn.
    binning_error_ : float
        The largest amount by which bins of scores may have moved a group's value, if a table has bins; otherwise 0. For
        a function that you write, it holds only if the function is monotone in the scores, given the true label, or in
        their distance from the truth.
    groups_ : list
        Groups, sorted: labels, or tuples of labels.
    pos_label_ : object
        The label counted as positive; None where no metric asks.
    negative_labels_ : list
        The other labels.
    n_samples_ : int
        People who are in a group.
    n_unknown_ : int
        People of whom a sensitive feature is missing. They are among `n_samples_` with ``missing="group"`` only.
    disparity_bounds_, p_value_bounds_ : tuple of float
        With ``missing="bounds"`` only: over all assignments, the smallest and the largest disparity of the comparison
        that sets `p_value_`, and bounds of the global p-value, of which the upper one is `p_value_`. Of a single
        comparison both are attained, unless ``attained`` in `bounds_` says otherwise.
    bounds_ : DataFrame
        With ``missing="bounds"`` only, a row for each comparison: ``n_unknown`` people of unknown group who meet the
        rate's condition and may be in one of the groups, ``n_unknown_event`` of them with its event; ``disparity_low``,
        ``disparity_high``, ``p_value_low`` and ``p_value_high`` (not adjusted) over all assignments; and whether both
        p-values are ``attained``, or there were too many assignments to try and they lie outside of all.

    See Also
    --------
    CountTable : The table that every test starts from.
    Rate : Declare your own rate.
    ScoreMetric : Declare any other metric.
    CorrelationFairnessTest : For a continuous sensitive feature.

    Notes
    -----
    A model whose ``predict`` takes ``sensitive_features`` (fairlearn's ``ThresholdOptimizer``) gets the groups, and one
    that takes ``random_state`` (``ExponentiatedGradient``) gets a seed, also inside a Pipeline, a fitted search or a
    ``FrozenEstimator``, with or without scikit-learn's metadata routing. A model that only votes at random has no
    scores: the AUC of its vote probabilities would be that of a different model.

    A hypothesis counts once in every adjustment, and all its comparisons have one adjusted p-value: two groups, each
    against everyone else; rates of complementary events (true positives' and false negatives'); a rate and a function
    of it (Jaccard's index and F1). This holds for two-sided tests of equality.

    As the last step of a Pipeline, a test is fitted with ``fairnesstest__sensitive_features=...`` or, with metadata
    routing enabled, with ``sensitive_features=...``. `clone` passes on the fitted model itself, whose parameters are
    not the test's; so ``cross_validate`` tests the same model on the training part of each fold, and trains none.

    With ``alternative="equivalence"`` a wider margin can have a slightly larger p-value, because exact tests order the
    outcomes anew at every margin: 30 of 49 against 10 of 15 are certified at a margin of .27266 (p = .0489), not at
    .2727 (p = .0511). Each p-value is valid for the margin that was chosen before the data were seen.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. C. DiCiccio et al. (2020), Evaluating Fairness Using
    Permutation Tests, KDD, sections 2 and 3. E. R. DeLong et al. (1988), Biometrics 44, 837-845. J. Besag and
    P. Clifford (1991), Biometrika 78, 301-304. S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    J. P. Shaffer (1986), Journal of the American Statistical Association 81, 826-831.

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

    # Most fits are asked for a few numbers: frames and the histogram are put together when somebody looks at them.
    by_group_, comparisons_, excluded_, homogeneity_, standardized_differences_ = (Later() for _ in range(5))
    _values, _null_histogram, _breaking = Later(), Later(), Later()

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
    adjust: str | None = "auto"
    confidence_level: float = 0.95
    n_resamples: int = 9999
    missing: str = "raise"
    pos_label: Any = None
    prediction_threshold: float | None = None
    response: str = "auto"
    random_state: Any = None
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
        classes = classes_of(self.estimator)
        return compare(sample, metrics, settings, pos_label=self.pos_label, classes=classes, random_state=seed)

    def _fit_sample(
        self, sample: Sample, settings: Settings, metrics: list[Metric] | None, seed: Any, subject: str
    ) -> Self:
        assert metrics is not None
        self._store(self._compare(sample, settings, metrics, seed))
        return self

    def _store(self, result: Result) -> None:
        """Set the fitted attributes."""
        settings, sample, metrics = result.measured.settings, result.measured.sample, result.measured.metrics
        assert sample is not None
        measured, verdict = result.measured, result.verdict
        findings, leading = result.findings, result.leading
        self.pos_label_, self.negative_labels_ = measured.pos_label, measured.negative_labels
        self._set_verdict(result)
        if settings.question.alternative == "equivalence":
            self.equivalence_interval_ = equivalence_interval(leading, settings)
        by_group = ByGroup.of(measured)
        self.by_group_, self._values = partial(by_group.frame), partial(by_group.flat)
        self.comparisons_ = partial(frame_of, comparisons_columns(findings))
        self.excluded_ = partial(excluded_frame, measured.excluded)
        self.homogeneity_ = partial(frame_of, homogeneity_columns(findings))
        self.standardized_differences_ = partial(frame_of, standardized_columns(findings))
        self.null_distribution_ = null_distribution(findings, verdict.n_resamples)
        self.method_ = method_of(result)
        tested = dict.fromkeys(finding.estimate.metric for finding in findings)
        errors = {name: measured.by_metric[name] for name in tested}
        self.variance_ = shared({name: one.variance for name, one in errors.items() if one.values is not None})
        self.within_ = permuted_within(metrics, settings, clustered=sample.clusters is not None)
        self.binning_error_ = max((one.binning_error for one in measured.by_metric.values()), default=0.0)
        self.groups_ = list(sample.group_labels)
        self.n_samples_, self.n_unknown_ = sample.n_samples, sample.n_unknown
        if settings.missing == "bounds":
            self.bounds_, self.p_value_bounds_ = bounds_frame(findings), p_value_bounds_of(result)
            self.disparity_bounds_ = disparities_of(leading)
        summaries = {metric.name: metric.summary for metric in metrics if metric.summary is not None}
        summary = summaries.get(leading.estimate.metric)
        self._summary = "" if summary is None else summary.name
        self._setup = setup_of(measured, verdict.adjust)
        self._feature = self._setup.features
        # Counts may wait until somebody looks at them; people are not kept for that.
        drawn = partial(null_histogram_of, leading)
        self._null_histogram = drawn if isinstance(leading.null, RateNull) else drawn()
        # What the power of the strongest evidence follows from, and the sensitivity of the verdict.
        self._supposed, self._counted = Supposed.of(leading, result), Counted.of(result)
        self._breaking = breaking_point_of([result])
        self._keep_parameters()

    @property
    def breaking_point_(self) -> Any:
        """With how few decisions, and true labels, of one group each verdict would turn."""
        check_is_fitted(self)
        return shown_breaking_point(self, self._breaking)

    def explain(
        self, *, metric: str | None = None, group: Any = None, other: Any = None, standard: str = "average"
    ) -> Explanation:
        """Decompose a difference of two groups over the control features that the test was fitted with.

        How much of the difference is composition (the groups are spread differently over the strata), and how much is
        different values within strata? A decomposition is descriptive; the hypothesis that values are equal within
        strata is tested by the test itself.

        Parameters
        ----------
        metric : str, optional
            A rate or a mean of the test; not needed if there is only one.
        group, other : label or tuple of labels, optional
            The groups; not needed if there are only two.
        standard : {"average", "pooled", "group", "other"}, default="average"
            The composition that weights the values within strata: the average of both groups' (Kitagawa 1955),
            everybody's, or one group's (Oaxaca 1973, Blinder 1973).

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
        >>> test.explain().parts["value"].round(3).to_dict()
        {'difference': -0.142, 'composition': -0.178, 'treatment': 0.036, 'no_counterpart': 0.0}
        """
        check_is_fitted(self)
        found = explain(
            self._values, self._setup, self.variance_, metric=metric, group=group, other=other, standard=standard
        )
        return replace(found, pos_label=self.pos_label_)

    def sensitivity(self, to: str, *, at: Any = None) -> Sensitivity:
        """Ask how far the verdict depends on an assumption that the data cannot check.

        Parameters
        ----------
        to : {"missing_groups", "confounding"}
            The assumption. "missing_groups": up to a share of the people of unknown group may be in any group, while
            the others are missing by chance (the test was fitted with ``missing="exclude"`` or ``"bounds"``).
            "confounding": something that was not measured changes the odds of being in a group by up to a factor, among
            people of the same stratum of `control_features`, or among all (Rosenbaum's gamma).
        at : float or array-like of float, optional
            Shares or factors in the frame; the largest one that the verdict survives is looked for beyond these.

        Returns
        -------
        Sensitivity
            Its `frame` has the smallest and the largest disparity (with "confounding" odds ratio) and p-value of each
            comparison; printing it begins with how far the verdict survives.

        Raises
        ------
        ValueError
            If there is no such analysis of this test: of rates of people who count alike alone, by exact or asymptotic
            tests; not of a test that was read from JSON.

        Notes
        -----
        The analysis says what could be, not what is likely. Adjusted p-values are bounds where there are several
        comparisons, whose own ends need not be possible together. With "confounding", two-sided p-values are twice the
        smaller one-sided bound, and not smaller than that of the test itself. How few true labels would turn the
        verdict says `breaking_point_`.

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

    def _title(self) -> str:
        return group_title(self)

    def _made(self) -> Report:
        return group_report(self)


def measured_of(test: FairnessTest, inputs: Inputs) -> Measured:
    """The estimates of a test without fitting it; p-values of rates mean nothing."""
    sample, settings, metrics, seed, _ = test._people(inputs)
    assert metrics is not None
    return measure(sample, metrics, replace(settings, tested=False), test.pos_label, classes_of(test.estimator), seed)


def result_of(test: FairnessTest, inputs: Inputs, *, tested: bool = True) -> Result:
    """The results of a test without fitting it.

    Not `tested`, its limits hold, and its p-values mean nothing.
    """
    sample, settings, metrics, seed, _ = test._people(inputs)
    assert metrics is not None
    return test._compare(sample, replace(settings, tested=tested), metrics, seed)
