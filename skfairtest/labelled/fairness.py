"""The test of one model where the true labels of only some people are known."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self

import pandas as pd

from skfairtest._utils.base import Later, with_parameters
from skfairtest._utils.checks import check_choice
from skfairtest._utils.text import label
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.frames import frame_of
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.group.fairness import FairnessTest
from skfairtest.labelled.measure import LabelledSample, judge_columns, label_columns, with_few_labels
from skfairtest.metrics import Metric
from skfairtest.readers import classes_of
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import decimal, smallest_p
from skfairtest.tables import Sample


@with_parameters
class LabelledFairnessTest(FairnessTest):
    """Test whether a rate differs between groups where few people have a true label, and a judge guesses the others.

    Null hypothesis: the rate is equal in the compared groups. In each group, people with similar guesses or scores of
    the judge (another model, a rule, a language model) are a bin. In a bin the labelled people are a random sample, and
    its size is known, so that rates are estimated without trusting the judge: a good one makes the standard error
    smaller, a bad one does not help.

    Parameters
    ----------
    estimator : fitted estimator, optional
        As in `FairnessTest`. None: the `X` of `fit` is the predictions.
    metric : str, Rate, or list or dict of these, default="equalized_odds"
        Rates that need true labels, and criteria made of them.
    compare : {"between_groups", "to_rest", "to_reference"}, default="between_groups"
        As in `FairnessTest`.
    reference_group : label or tuple of labels, optional
        As in `FairnessTest`.
    disparity : {"difference", "ratio"}, default="difference"
        As in `FairnessTest`.
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        As in `FairnessTest`.
    margin : float or tuple, optional
        As in `FairnessTest`.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        As in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    pos_label : label, optional
        As in `FairnessTest`.
    prediction_threshold : float, optional
        Predict the positive label from this score on, as in `FairnessTest`.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The estimator's method that gives scores, as in `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Of the predictions of a randomised model; the test itself draws nothing.
    unit : str, default="people"
        The rows' name in reports, in the plural, such as "answers".
    verbose : int, default=0
        As in `FairnessTest`.
    labelled : {"at_random", None}, default=None
        How people with a true label were chosen: "at_random", a random sample of each group or of all people. None: as
        `label_probability` says, or everyone has a label.

    Attributes
    ----------
    labels_ : DataFrame
        A row for each metric and group: ``n`` people; ``labels`` that the metric needs; ``worth``, the number of labels
        with the same standard error without a judge; ``bins`` of the judge's score; the ``value``, and ``value_judge``
        of the judge alone (NaN unless its scores are between 0 and 1).
    judge_ : DataFrame
        A row for each comparison: the ``disparity``, the judge's own, its ``bias``, and the ``p_value`` of the
        hypothesis that the bias is 0. A judge with a bias does no harm to the test.
    by_group_ : DataFrame
        As of `FairnessTest`; ``n_effective`` counts the labels that meet the condition.
    p_value_, statistic_, disparity_, binning_error_ : float
        As of `FairnessTest`, and so is everything that follows.
    rejected_, concern_ : bool
        Whether a disparity was detected or, with "equivalence", fairness within the margin not shown.
    confidence_interval_, equivalence_interval_, p_value_interval_ : tuple of float
        Limits of the disparity in the population of which people are a sample.
    comparisons_, excluded_, homogeneity_, standardized_differences_ : DataFrame
        The last two have no rows.
    breaking_point_ : DataFrame
        As of `FairnessTest` if everyone has a label.
    null_distribution_ : None
        Nothing is drawn.
    method_, variance_, within_, adjust_, n_resamples_ : object
        What was run; nothing is resampled.
    groups_, pos_label_, negative_labels_, n_samples_, n_unknown_ : object
        Groups, labels, and numbers of people.

    See Also
    --------
    FairnessTest : Everyone has a label.
    label_plan : Whom to label next.

    Notes
    -----
    With shares W_b of bins and rates p_b in them, a rate is sum W_b p_b, and of a rate whose condition needs a label,
    such as the true positive rate, S1 / (S1 + S0) of two such sums over bins of those predicted positive and negative.
    The statistic is that of a linear form of independent rates, with the variance at the most likely rates under the
    null hypothesis; intervals are the disparities not rejected. The variance includes the sampling error of the shares.
    The p-value is the larger of the normal one and a mid-p-value of labels that are binomial in each bin, which matters
    if events are rare and one side has few labels. Bins depend on the judge's scores and on the number of labels, never
    on their values: two below 90 labels of a group, up to six beyond, with at least three expected labels in each.

    With ``label_probability`` people with the same probability are a stratum, in which labels are a random sample; of
    more than 20 different probabilities, those from one power of 2 to the next. A stratum without a label is joined
    with the next. Labels in a bin are weighted, and count as at most this many as Hajek's variance allows. A caution
    warns of few expected labels, or labels that do not look random.

    References
    ----------
    A. N. Angelopoulos et al. (2023), Prediction-powered inference, Science 382, 669-674. A. N. Angelopoulos,
    J. C. Duchi and T. Zrnic (2024), PPI++. D. Holt and T. M. F. Smith (1979), Post stratification, JRSS A 142, 33-46.
    A. Martin Andres et al. (2011), Inferences about a linear combination of proportions, SMMR 20, 369-387.

    Examples
    --------
    Loans were granted to 800 people, and for 80 of them an expert has found out who could pay. A model guesses that for
    each of them, and is right in nine of ten cases.

    >>> import numpy as np
    >>> from skfairtest import LabelledFairnessTest
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 400)
    >>> could_pay = rng.random(800) < np.where(group == "a", 0.9, 0.7)
    >>> guess = np.where(rng.random(800) < 0.9, could_pay, ~could_pay)
    >>> known = rng.permutation(800) < 80
    >>> test = LabelledFairnessTest.from_predictions(
    ...     np.where(known, could_pay, np.nan),
    ...     np.ones(800),
    ...     sensitive_features=group,
    ...     y_judge=guess,
    ...     metric="precision",
    ...     labelled="at_random",
    ... )
    >>> round(test.disparity_, 2), test.p_value_ < 0.05
    (0.14, False)
    >>> test.labels_[["group", "n", "labels"]]
      group    n  labels
    0     a  400      39
    1     b  400      41
    """

    _reported: ClassVar[tuple[str, ...]] = (*FairnessTest._reported, "labels", "judge")
    _uncounted: ClassVar[str] = (
        "table holds people who all have labels: use FairnessTest.from_table, or from_predictions with y_true that "
        "is missing for some"
    )
    _refused: ClassVar[dict[str, str]] = {
        "clusters": "labels are compared as independent ones: label one row of each cluster, such as one answer to a "
        "prompt, or pass the labelled rows alone to FairnessTest, with their clusters"
    }

    judge_ = Later()

    _unshared: ClassVar[tuple[str, ...]] = (
        "method", "variance", "within", "strata_weights", "n_resamples", "missing", "n_jobs",
    )  # fmt: skip
    estimator: Any = field(default=None, kw_only=False)
    labelled: str | None = None

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_choice("labelled", self.labelled, ("at_random", None))
        check_choice("compare", self.compare, ("between_groups", "to_rest", "to_reference"))
        check_choice("disparity", self.disparity, ("difference", "ratio"))
        return super()._check()

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        y_judge: Any = None,
        label_probability: Any = None,
        clusters: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> Self:
        """Predict with the estimator and test its predictions.

        Parameters
        ----------
        X : array-like
            The features that the estimator predicts from; with ``estimator=None`` the predictions, of shape
            (n_samples,).
        y : array-like of shape (n_samples,)
            True labels; NaN or None where there is none.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            The groups: one or several columns of length n_samples.
        y_judge : array-like of shape (n_samples,), or name of a column of `X`, optional
            The judge's guessed label, or score of the positive label, for every person. None: labels alone.
        label_probability : array-like of shape (n_samples,), or name of a column of `X`, optional
            Each person's probability of being labelled: above 0, at most 1.
        clusters : None
            Not supported; the error says what to do.
        predict_params : dict, optional
            Further arguments of the estimator's ``predict``.

        Returns
        -------
        self
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable, or labels are missing and it is not said how people were chosen.
        """
        judged = {"y_judge": y_judge, "label_probability": label_probability}
        columns = {"sensitive_features": sensitive_features, "clusters": clusters, **judged}
        return self._fit(Inputs.of_fit(X, y, predict_params, **columns))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        y_judge: Any = None,
        label_probability: Any = None,
        clusters: Any = None,
        **params: Any,
    ) -> Self:
        """Test predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels; NaN or None where there is none.
        y_pred : array-like of shape (n_samples,)
            Predictions for every person.
        y_score : array-like of shape (n_samples,), optional
            Scores in place of predictions, with ``prediction_threshold``.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        y_judge, label_probability : array-like of shape (n_samples,), optional
            As in `fit`.
        clusters : None
            As in `fit`.
        **params
            Parameters of the test.

        Returns
        -------
        test
            The fitted test.

        Examples
        --------
        >>> from skfairtest import LabelledFairnessTest
        >>> LabelledFairnessTest.from_predictions(
        ...     [1, None, 0, None],
        ...     [1, 1, 1, 1],
        ...     sensitive_features=list("aabb"),
        ...     metric="precision",
        ... )
        Traceback (most recent call last):
        ...
        skfairtest._utils.errors.ParameterError: y_true is missing for 2 of 4 people, and nothing says how the others...
        """
        judged = {"y_judge": y_judge, "label_probability": label_probability}
        columns = {"sensitive_features": sensitive_features, "clusters": clusters, **judged}
        return cls._of_predictions(y_true, y_pred, y_score, columns, params)

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        columns = {name: values for name, values in inputs.columns.items() if name != "clusters"}
        return LabelledSample.read(inputs.y, y_pred, self.labelled, **columns)

    def _compare(self, sample: Sample, settings: Settings, metrics: list[Metric], seed: Any) -> Result:
        assert isinstance(sample, LabelledSample)
        few = [with_few_labels([metric])[0][0] for metric in metrics]  # each of them, or an error
        measured = measure(sample, few, settings, self.pos_label, classes_of(self.estimator), seed)
        self.labels_ = frame_of(label_columns(measured))
        (result,) = judge([measured], settings)
        self.judge_ = partial(frame_of, judge_columns(result.comparisons))
        return super()._compare(sample, settings, metrics, seed) if sample.labelled.all() else result

    def _store(self, result: Result) -> None:
        super()._store(result)
        worth = worth_sentence(self.labels_, self.comparisons_["metric"].iloc[self._leading])
        self.within_, self._setup = None, replace(self._setup, unknown=worth)

    def _made(self) -> Report:
        several = self.labels_["metric"].nunique() > 1
        of_labels = (
            several and cells.METRIC, cells.GROUP, Column("people", shows="n"),
            Column("labels", shows="labels"), Column("worth", shows=lambda row: f"{row['worth']:.0f} labels"),
            Column("bins", shows="bins"), Column("value", shows=lambda row: decimal(row["value"])),
            Column("the judge says", shows=lambda row: decimal(row["value_judge"])),
        )  # fmt: skip
        rows: Any = {"marks": None, "few": cells.SHOWN}
        tables = [Table.of(of_labels, cells.records(self.labels_), "What labels are worth with the judge", **rows)]
        judged, findings = self.judge_[self.judge_["disparity_judge"].notna()], []
        if len(judged):
            of_judge = (
                several and cells.METRIC, cells.GROUP, cells.COMPARED_WITH,
                Column("disparity", shows=lambda row: decimal(row["disparity"])),
                Column("by the judge alone", shows=lambda row: decimal(row["disparity_judge"])),
                Column("p (judge is right)", shows=cells.P.shows),
            )  # fmt: skip
            tables += [Table.of(of_judge, cells.records(judged), "The disparity that the judge alone finds", **rows)]
            worst = judged.loc[judged["p_value"].idxmin()] if judged["p_value"].notna().any() else None
            if worst is not None and worst["p_value"] * len(judged) <= self._setup.alpha:
                findings.append(
                    f"The judge is biased between groups: its disparity of {label(worst['group'])} and "
                    f"{label(worst['other'])} is off by {decimal(worst['bias'])} "
                    f"({smallest_p(min(1.0, worst['p_value'] * len(judged)), len(judged))}). The test is not."
                )
        report = super()._made()
        judge = Report(title="Labels and the judge", findings=tuple(findings), tables=tuple(tables))
        return replace(report, parts=(judge, *report.parts))


def worth_sentence(labels: pd.DataFrame, metric: str) -> str:
    """The number of labels alone that is as precise as the labels with the judge, for one metric."""
    n, found, worth = (round(value) for value in labels.loc[labels["metric"] == metric, ["n", "labels", "worth"]].sum())
    if n == found:
        return "Everyone has a label."
    share = f"{100 * found / n:.1f}% of {n:,} people have a label"
    if worth <= found:
        return f"{share}: the verdict rests on {found:,} labels, to which the judge adds nothing."
    return (
        f"{share}. {found:,} labels and the judge are worth {worth:,} labels: {100 * found / worth:.0f}% of the "
        f"evidence rests on labels, {100 - 100 * found / worth:.0f}% on the judge, whose errors are allowed for."
    )
