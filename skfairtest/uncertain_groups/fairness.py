"""The test of one model where the groups of people are known by their probabilities."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from skfairtest._utils.base import with_parameters
from skfairtest._utils.checks import check_choice, check_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.group.fairness import FairnessTest
from skfairtest.metrics import Metric
from skfairtest.readers import classes_of, read_probabilities, read_values
from skfairtest.tables import Sample, UncertainSample
from skfairtest.uncertain_groups.measure import ASSUMPTIONS, uncertain_rate


@with_parameters
class UncertainGroupsTest(FairnessTest):
    """Test whether a rate differs between groups that are known by probabilities, such as those of BISG.

    Null hypothesis: the rate is equal in the compared groups. If every probability is 0 or 1, the test is
    `FairnessTest`. Otherwise rates are estimated as `estimate` says, and compared by score statistics, whose
    distribution is simulated with the rates of the null hypothesis. Every estimate needs probabilities that are right
    on average (of the people with a probability of .3, 30% belong to the group), and one more assumption, which no data
    without groups can check; `assumption_` names it. Estimates that differ from each other are a sign that one fails.

    Parameters
    ----------
    estimator : fitted estimator, optional
        As in `FairnessTest`. None: the `X` of `fit` is the predictions.
    metric : str, Rate, or list or dict of these, default="selection_rate"
        Rates, and criteria made of rates.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference"}, default="between_groups"
        As in `FairnessTest`.
    reference_group : str, optional
        The name of a column, with which each group is compared: ``compare="to_reference"`` follows.
    disparity : {"difference", "ratio"}, default="difference"
        As in `FairnessTest`.
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        As in `FairnessTest`.
    margin : float, optional
        Tolerated disparity, as in `FairnessTest`.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        As in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    n_resamples : int, default=1999
        Number of simulated data sets for each comparison.
    pos_label : label, optional
        As in `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    verbose : int, default=0
        As in `FairnessTest`.
    estimate : {"weighted", "thresholded", "likelihood"}, default="weighted"
        "weighted": a person counts in each group with its probability. Assumes that outcome and group are independent
        among people with the same probabilities; if not, disparities are biased, mostly towards zero.
        "thresholded": a person counts in the group with the largest probability. Assumes that this is everyone's group,
        and is `FairnessTest` of these groups.
        "likelihood": the rates with the largest likelihood, where groups are drawn with these probabilities and
        outcomes with the rates of groups, as in BIRDiE without covariates. Assumes that the outcome is independent,
        within each group, of what the probabilities were made from, such as surname and address. Groups whose
        probabilities are all alike, or follow from those of others, are left out of comparisons.
    n_reference : float, optional
        The number of people of known group from which each row of probabilities was estimated: standard errors then
        include the sampling error of such shares (a Dirichlet distribution), shared by people with equal rows. None:
        the probabilities are known. With ``estimate="weighted"`` only.

    Attributes
    ----------
    assumption_ : str
        The estimate's assumption beside probabilities that are right on average; "none: groups are certain" if every
        probability is 0 or 1.
    by_group_ : DataFrame
        As of `FairnessTest`; ``n`` is the expected number of people, rounded, ``n_effective`` the number of people of
        known group with the same information (Kish's for the weighted estimate).
    p_value_, statistic_, disparity_, binning_error_ : float
        As of `FairnessTest`, and so is everything that follows.
    rejected_, concern_ : bool
        Whether a disparity was detected or, with "equivalence", fairness within the margin not shown.
    confidence_interval_, equivalence_interval_, p_value_interval_ : tuple of float
        Of the disparity, with "equivalence" also at level 1 - 2 alpha, and of the p-value's Monte-Carlo error; without
        the bias of an estimate whose assumption fails.
    comparisons_, excluded_, homogeneity_, standardized_differences_ : DataFrame
        The last two have no rows.
    breaking_point_ : DataFrame
        Not available: people have no certain group.
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Statistics of drawn outcomes.
    method_, variance_, within_, adjust_ : str or None
        What was run.
    n_resamples_, n_samples_, n_unknown_ : int
        Draws, people, and 0.
    groups_ : list
        The names of the columns, sorted.
    pos_label_ : object
        The label counted as positive.
    negative_labels_ : list
        The other labels.

    See Also
    --------
    FairnessTest : Its parameter `missing` is for unknown groups.

    Notes
    -----
    `sensitive_features` are a frame, a mapping or a two-dimensional array with a column for each group, and one row per
    person that adds up to one. Strata, weights and clusters have no such test yet.

    The weighted difference of two groups is biased by the covariance of outcome and group among people with the same
    probabilities, over the share of the group (Chen et al. 2019, theorem 1).

    References
    ----------
    J. Chen, N. Kallus, X. Mao, G. Svacha and M. Udell (2019), Fairness under unawareness: assessing disparity when
    protected class is unobserved, FAT*, 339-348. C. McCartan, R. Fisher, J. Goldin, D. E. Ho and K. Imai (2024),
    Estimating racial disparities when race is not observed, equation 3 and algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import UncertainGroupsTest
    >>> selected = np.array([1] * 30 + [0] * 20 + [1] * 15 + [0] * 35)
    >>> likely = {"a": [0.8] * 50 + [0.1] * 50, "b": [0.2] * 50 + [0.9] * 50}
    >>> test = UncertainGroupsTest.from_predictions(
    ...     None, selected, sensitive_features=likely, random_state=0
    ... )
    >>> round(test.disparity_, 3), test.p_value_ < 0.05
    (0.212, True)
    >>> test.assumption_
    'among people with the same probabilities, outcome and group are independent'
    >>> test.set_params(estimate="likelihood").fit(selected, sensitive_features=likely)
    UncertainGroupsTest(estimate='likelihood', random_state=0)
    >>> round(test.disparity_, 3)
    0.429
    """

    _refused: ClassVar[dict[str, str]] = dict.fromkeys(
        ("control_features", "sample_weight", "clusters"),
        "groups with probabilities have no test with it: leave it out",
    )
    _reported: ClassVar[tuple[str, ...]] = (*FairnessTest._reported, "assumption")
    _uncounted: ClassVar[str] = (
        "table holds people whose groups are known: use FairnessTest.from_table, or from_predictions with a column "
        "of probabilities for each group"
    )

    _unshared: ClassVar[tuple[str, ...]] = (
        "method", "variance", "within", "strata_weights", "missing", "prediction_threshold", "response", "unit",
        "n_jobs",
    )  # fmt: skip
    estimator: Any = field(default=None, kw_only=False)
    metric: Any = "selection_rate"
    n_resamples: int = 1999
    estimate: str = "weighted"
    n_reference: float | None = None

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_choice("estimate", self.estimate, ASSUMPTIONS)
        check_choice("compare", self.compare, ("between_groups", "to_overall", "to_rest", "to_reference"))
        check_choice("disparity", self.disparity, ("difference", "ratio"))
        check_number("n_reference", self.n_reference, 0, bounds="()", optional=True)
        if self.n_reference is not None and self.estimate != "weighted":
            why = {
                "thresholded": "takes the largest for certain",
                "likelihood": "is biased towards equality by errors of probabilities, which no standard error counts",
            }[self.estimate]
            raise ParameterError(
                f"n_reference is how well probabilities are known, and estimate={brief(self.estimate)} {why}: leave it "
                "out, or use estimate='weighted'"
            )
        check_number("n_resamples", self.n_resamples, 1, whole=True)
        return super()._check()

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        probabilities = read_probabilities(inputs.groups, "sensitive_features")
        self._certain = probabilities.are_labels
        if self.estimate == "thresholded":
            largest = np.eye(len(probabilities.groups))[probabilities.values.argmax(axis=1)]
            probabilities = replace(probabilities, values=largest)
        y_true, y_pred = (
            None if values is None else read_values(values, name)
            for values, name in ((inputs.y, "y_true"), (y_pred, "y_pred"))
        )
        return UncertainSample.from_probabilities(y_true, y_pred, probabilities)

    def _compare(self, sample: Sample, settings: Settings, metrics: list[Metric], seed: Any) -> Result:
        assert isinstance(sample, UncertainSample)
        assert sample.probabilities is not None
        if sample.probabilities.are_labels:
            return super()._compare(sample, settings, metrics, seed)
        rates: list[Metric] = [uncertain_rate(metric, self.estimate, self.n_reference) for metric in metrics]
        return judge([measure(sample, rates, settings, self.pos_label, classes_of(self.estimator), seed)], settings)[0]

    def _store(self, result: Result) -> None:
        super()._store(result)
        self.assumption_ = "none: groups are certain"
        if not self._certain:
            self.assumption_ = ASSUMPTIONS[self.estimate]
            expected = "" if self.estimate == "thresholded" else ", and numbers of people are expected ones"
            said = (
                f"Groups are known by probabilities{expected}. The {self.estimate} "
                f"estimate assumes that these are right on average, and that {self.assumption_}."
            )
            self._setup = replace(self._setup, unknown=said)
            if self.estimate != "thresholded":
                self.within_ = None
