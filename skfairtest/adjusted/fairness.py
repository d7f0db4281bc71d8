"""The test of one model given covariates: does a disparity remain among people who are alike in these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairtest import readers
from skfairtest._utils.base import Later, seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice, check_number
from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.text import enumerated, label
from skfairtest.adjusted.measure import (
    Covered,
    CurvesThenTrees,
    People,
    caution,
    covariate_frame,
    measure_adjusted,
    omitted_of,
    omitted_variable,
)
from skfairtest.comparisons.contrasts import contrasts_of, kept_groups
from skfairtest.comparisons.core import Exclusion
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.frames import comparisons_columns, excluded_frame, frame_of
from skfairtest.comparisons.outcomes import OUTCOMES, OutcomeTest, predicted_columns
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.unknown import with_p_values
from skfairtest.report import cells, sentences
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import Setup
from skfairtest.sensitivity.analysis import Sensitivity
from skfairtest.tables import Sample

#: What models are called that learn by default.
DEFAULT = "the default (curves, then boosted trees)"
#: Columns of the frame, and what they are called in a test of groups.
COLUMNS = [
    "group", "other", "disparity", "ci_low", "ci_high", "n_group", "n_other", "value_group", "value_other",
    "standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern",
]  # fmt: skip


@with_parameters
class AdjustedFairnessTest(OutcomeTest):
    """Test whether groups differ in an outcome among people with the same covariates, such as age and experience.

    Null hypothesis of each comparison: given the covariates, the outcome's expected value is the same in both groups.
    Covariates are never cut into strata: cross-fitted predictions from them are subtracted from the outcome and from
    the group. The test is valid in large samples if the product of the errors of both models vanishes faster than one
    over the square root of the number of people.

    Parameters
    ----------
    estimator : fitted estimator, optional
        Never fitted here. None: the `X` of `fit` is the predictions.
    of : {"prediction", "score", "residual", "absolute_error"} or callable, default="prediction"
        The outcome: what `predict` returns (of two labels 1 for the positive one, or a number); the score or
        probability of the positive label; y_true minus the prediction; their distance (of labels: 1 for a wrong one);
        or ``of(y_true, y_pred)``, which returns a number per person.
    compare : {"between_groups", "to_rest", "to_reference"}, default="between_groups"
        All pairs of groups, or each group against everyone else or against `reference_group`.
    reference_group : label or tuple of labels, optional
        A tuple for several sensitive features.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis. "greater": the group's outcome is the greater one.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        How p-values are adjusted for the number of comparisons; "auto" and "discrete_holm" are Holm.
    outcome_model, group_model : regressor or classifier, optional
        Models of the outcome and of membership in a group, given the covariates: any of scikit-learn's; copies are
        fitted, and classifiers predict probabilities. None: least squares, or for two labels logistic regression, on
        each covariate, its parts above five quantiles, and the products of all pairs of at most 15; then boosted trees
        of the residuals. They get a frame with covariates that are not numbers as columns of zeros and ones.
    n_folds : int, default=5
        Number of folds, each predicted by models fitted to the others.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True; other labels need one.
    random_state : int, RandomState, Generator or None
        Seed of the folds and of models that draw random numbers.
    n_jobs : int, optional
        Processes among which models are divided. The result is the same.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted one.
    p_value_interval_ : tuple of float
        `p_value_` twice.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``.
    caution_ : str
        A sign of confounding that the models did not learn: they explain nothing of the outcome, or averages of people
        with similar covariates predict the residuals. Empty if there is no sign.
    statistic_, disparity_ : float
        Of the comparison that sets `p_value_`.
    confidence_interval_ : tuple of float
        Limits of its disparity, simultaneous over all comparisons.
    comparisons_ : DataFrame
        One row per comparison. ``value_group`` and ``value_other`` are the means of the outcome, ``unadjusted`` is
        their difference. ``disparity`` is the difference given the covariates (see the notes), in units of the outcome;
        ``outcome_explained`` and ``group_explained`` are the out-of-fold shares of variance that the models explain,
        negative if the mean predicts better. If the outcomes of both groups are constant, or determined by the
        covariates, the disparity is undefined, with the p-value 1, and ``method`` says why.
    excluded_ : DataFrame
        Groups and comparisons that were left out, with the reason and the number of people.
    method_, adjust_, n_resamples_ : object
        What was run; nothing is resampled.
    groups_, pos_label_, negative_labels_, n_samples_ : object
        Groups, labels, and the number of people.

    See Also
    --------
    FairnessTest : With `control_features`, the exact test within strata of a few values.
    CorrelationFairnessTest : For a continuous sensitive feature.

    Notes
    -----
    With the residuals e of the outcome and x of the group indicator, the statistic is the mean of e x divided by its
    standard error (the generalised covariance measure, Shah and Peters 2020), and the disparity is sum(e x) / sum(x^2):
    the group's coefficient in the partially linear model. The standard error also counts that predictions vary with the
    people they are learned from.

    If the difference depends on the covariates, it is an average with the weights P(D = 1 | X) P(D = 0 | X), so
    differences of opposite signs can cancel. If covariates determine the group, the interval is infinite.

    Confounding that the models do not learn stays in the residuals; `caution_` shows signs of it.

    A covariate that is itself unfair, such as a grade given by the same supervisor, explains a disparity away.

    References
    ----------
    R. D. Shah and J. Peters (2020), The hardness of conditional independence testing and the generalised covariance
    measure, Annals of Statistics 48, 1514-1538.
    P. M. Robinson (1988), Econometrica 56, 931-954. V. Chernozhukov et al. (2018), Econometrics Journal 21, C1-C68.

    Examples
    --------
    Pay rises with experience, and men have more of it; nothing else differs.

    >>> import numpy as np
    >>> from skfairtest import AdjustedFairnessTest
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 1000)
    >>> experience = rng.gamma(4, 2, 1000) + 3 * (sex == "m")
    >>> pay = 30 + 2 * experience - 0.05 * experience**2 + rng.normal(size=1000)
    >>> test = AdjustedFairnessTest.from_predictions(
    ...     None,
    ...     pay,
    ...     sensitive_features={"sex": sex},
    ...     covariates={"experience": experience},
    ...     random_state=0,
    ... )
    >>> test.comparisons_[["unadjusted", "disparity"]].round(1) + 0.0
       unadjusted  disparity
    0        -3.1        0.0
    >>> test.rejected_
    False
    """

    _outcomes: ClassVar[tuple[str, ...]] = tuple(OUTCOMES)
    _method: ClassVar[str] = "asymptotic"
    _uncounted: ClassVar[str] = "table has no covariates, which differ from person to person: use from_predictions"
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "p_value_interval", "rejected", "concern", "caution", "statistic", "disparity",
        "confidence_interval", "comparisons", "excluded", "method", "adjust", "n_resamples", "groups", "pos_label",
        "n_samples",
    )  # fmt: skip

    _not_written: ClassVar[tuple[str, ...]] = (*OutcomeTest._not_written, "_base", "_biases")

    estimator: Any = field(default=None, kw_only=False)
    of: Any = "prediction"
    compare: str = "between_groups"
    reference_group: Any = None
    alternative: str = "two-sided"
    adjust: str | None = "auto"
    outcome_model: Any = None
    group_model: Any = None
    n_folds: int = 5
    confidence_level: float = 0.95
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    _biases = Later()

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        covariates: Any = None,
        clusters: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> Self:
        """Predict with the estimator and test its predictions given the covariates.

        Parameters
        ----------
        X : array-like
            What the estimator predicts from; with ``estimator=None`` the predictions, of shape (n_samples,).
        y : array-like of shape (n_samples,), optional
            True values or labels; None where the outcome needs none.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            The groups: one or several columns of length n_samples.
        covariates : array-like, frame, mapping, or names of columns of `X`
            What people are to be alike in: one or several columns of length n_samples, numbers or names.
        clusters : array-like of shape (n_samples,), optional
            Who belongs together, such as the repeated decisions on one person: they are in one fold, and the standard
            errors allow for it.
        predict_params : dict, optional
            Further arguments of the estimator's ``predict``.

        Returns
        -------
        AdjustedFairnessTest
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        columns = {"sensitive_features": sensitive_features, "covariates": covariates, "clusters": clusters}
        return self._fit(Inputs.of_fit(X, y, predict_params, **columns))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        covariates: Any = None,
        clusters: Any = None,
        **params: Any,
    ) -> Self:
        """Test predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True values or labels; None where the outcome needs none.
        y_pred : array-like of shape (n_samples,)
            Predictions: labels, scores or amounts.
        y_score : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2)
            Scores, in place of predictions.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        covariates : array-like, frame or mapping
            What people are to be alike in: one or several columns of length n_samples.
        clusters : array-like of shape (n_samples,), optional
            Who belongs together, as in `fit`.
        **params
            Parameters of the test.

        Returns
        -------
        AdjustedFairnessTest
            The fitted test.

        Examples
        --------
        Women were admitted less often at Berkeley; given the department, they were not.

        >>> from skfairtest import AdjustedFairnessTest
        >>> from skfairtest.datasets import load_berkeley
        >>> berkeley = load_berkeley()
        >>> test = AdjustedFairnessTest.from_predictions(
        ...     None,
        ...     berkeley.y_pred,
        ...     sensitive_features=berkeley.sensitive_features,
        ...     covariates=berkeley.control_features,
        ...     random_state=0,
        ... )
        >>> test.comparisons_[["unadjusted", "disparity"]].round(2)
           unadjusted  disparity
        0       -0.14       0.02
        """
        columns = {"sensitive_features": sensitive_features, "covariates": covariates, "clusters": clusters}
        return cls._of_predictions(y_true, y_pred, y_score, columns, params)

    def _made(self) -> Report:
        setup, rows = self._setup, cells.records(self.comparisons_.sort_values(["p_value"], kind="stable"))
        lead = cells.records(self.comparisons_)[self._leading]
        group, other = label(lead["group"]), cells.compared_with(setup.compare, lead)
        number, sign = sentences.number, -1 if lead["disparity"] < 0 else 1
        write, decimal, unit = (
            (sentences.points, sentences.decimal, " points") if self._is_share else (number, number, "")
        )
        low, high = sorted(sign * lead[end] for end in ("ci_low", "ci_high"))
        limits = sentences.span(write, low, high, (0.0,) if lead["concern"] else ())
        said = "Significant disparity: " if self.concern_ else "No significant disparity was detected: "
        said += f"given {self._covariates}, {self._outcome} are {write(abs(lead['disparity']))}{unit} "
        said += f"{'higher' if sign > 0 else 'lower'} for {group} than for {other} (interval {limits}), "
        unadjusted = (
            f"Without adjustment the difference between {group} and {other} is {write(lead['unadjusted'])}{unit}."
        )
        columns = (
            cells.GROUP, cells.compared(setup.compare), Column("people", shows="n_group"),
            Column("others", shows="n_other"), Column("unadjusted", shows=lambda row: decimal(row["unadjusted"])),
            Column("adjusted", shows=lambda row: decimal(row["disparity"])), cells.interval(decimal), cells.P,
            cells.ADJUSTED_P, cells.VERDICT,
        )  # fmt: skip
        same = {"greater": "not greater in the first group", "less": "not less in the first group"}
        return Report(
            title=f"{self._outcome.capitalize()} of groups, given {self._covariates}",
            verdict=f"{said}{sentences.smallest_p(self.p_value_, len(rows))}.",
            concern=self.concern_,
            remarks=(
                *filter(None, [self.caution_]), unadjusted, *([] if self.concern_ else [sentences.NO_PROOF]),
                *sentences.sampling_error(self.p_value_interval_), *cells.counted(rows),
            ),
            hypotheses=(
                f"given {self._covariates}, the mean of {self._outcome} is "
                f"{same.get(setup.alternative, 'the same in both groups')}. The generalised covariance measure tests "
                "it, which is valid in large samples if models predict the outcome and the group well from the "
                "covariates.",
            ),
            tables=(Table.of(columns, cells.barred(rows), f"Differences in {self._outcome}", few=cells.SHOWN),),
            left_out=cells.excluded_tables(self.excluded_),
            notes=tuple(_notes(self)),
        )  # fmt: skip

    def _check(self) -> tuple[Settings, None]:
        check_choice("compare", self.compare, ("between_groups", "to_rest", "to_reference"))
        check_number("n_folds", self.n_folds, 2, whole=True)
        for name in ("outcome_model", "group_model"):
            value = getattr(self, name)
            if value is not None and not (hasattr(value, "fit") and hasattr(value, "predict")):
                raise ParameterError(
                    f"{name} must be a regressor or a classifier of scikit-learn; found {brief(value)}"
                )
        return super()._check()

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        covariates, clusters = (inputs.columns[name] for name in ("covariates", "clusters"))
        if covariates is None:
            raise ParameterError(
                "covariates is missing: one or several columns of what people are to be alike in, for instance "
                "fit(X, y, sensitive_features=df['sex'], covariates=df[['experience']]); without any, use FairnessTest"
            )
        labels = predicted_columns(inputs.y, y_pred, y_score)
        columns = readers.read_columns(covariates, "covariates", default_name="covariate")
        people = Sample.from_predictions(None, labels["y_pred"], sensitive_features=inputs.groups, clusters=clusters)
        grouped = {"sensitive_features": people.sensitive, "covariates": columns, "clusters": people.clusters}
        readers.check_same_people({**labels, **grouped})
        return Covered(labels, people.sensitive, clusters=people.clusters, covariates=columns)

    def _fit_sample(self, sample: Sample, settings: Settings, metrics: Any, seed: Any, subject: str) -> Self:
        assert isinstance(sample, Covered)
        excluded: list[Exclusion] = []
        columns, outcome = sample.covariates, self._values(sample.columns)
        folds = f", two in each of n_folds={self.n_folds}"
        kept, seeds = kept_groups(sample, excluded, settings, 1, 2 * self.n_folds, folds), seed_sequence(seed).spawn(2)
        learners = {name: getattr(self, name) for name in ("outcome_model", "group_model")}
        models = {name: CurvesThenTrees() if model is None else model for name, model in learners.items()}
        people = People.of(sample, outcome, kept, models, self.n_folds, seeds[0])
        contrasts = list(contrasts_of(sample, kept, settings, excluded, 1))
        result = measure_adjusted(people, contrasts, sample.group_labels, settings, seeds[1], excluded)
        (result,) = judge([result], settings)
        self._store(result, sample, "gcm")
        frame = frame_of(comparisons_columns(result.comparisons, COLUMNS))
        frame.insert(3, "unadjusted", frame["value_group"] - frame["value_other"])
        nulls: list[Any] = [one.null for one in result.comparisons]
        for place, name in enumerate(("outcome_explained", "group_explained")):
            frame.insert(list(frame).index("method"), name, [null.explained[place] for null in nulls])
        self.comparisons_ = frame
        self.excluded_ = excluded_frame(result.excluded)
        self.groups_ = sample.group_labels
        self.caution_ = caution(sorted(result.comparisons, key=lambda one: one is not result.leading))
        if self.concern_ and self.caution_:
            warn(self.caution_)
        by_name = {column.name: list(covariate_frame([column])) for column in columns}
        self._base = with_p_values(result, [one.log_p for one in result.tested])  # without people
        # Made when they are asked for: models are fitted once more without each covariate.
        self._biases = partial(omitted_of, people, result.tested, by_name, settings.n_jobs, seeds[1])
        self._is_share = set(np.unique(outcome).tolist()) <= {0.0, 1.0}
        self._covariates = enumerated([label(column.name) for column in columns])
        self._learners = " and ".join(
            dict.fromkeys(DEFAULT if m is None else type(m).__name__ for m in learners.values())
        )
        self._setup = Setup(
            compare=self.compare, alternative=settings.question.alternative, alpha=settings.alpha, adjust=self.adjust_
        )
        return self

    def sensitivity(self, to: str = "confounding", *, at: Any = None) -> Sensitivity:
        """Analyse how strong a confounder outside the covariates would have to be to reverse the verdict.

        Parameters
        ----------
        to : {"confounding"}
            An unmeasured variable affects the outcome and the group.
        at : float or array-like of float, optional
            Strengths in the frame, as multiples of the covariate whose omission would move the disparity most. The
            largest strength that the verdict survives is sought up to 20.

        Returns
        -------
        Sensitivity
            Its `frame` has the smallest and the largest disparity and p-value of each comparison; the covariate of
            comparison (``confounder``), and the shares of the residual variance of the outcome (``outcome_explained``)
            and of the group (``group_explained``) that the confounder is assumed to explain. With both shares equal to
            ``robustness_value`` it would explain the whole disparity.

        Raises
        ------
        ValueError
            If it was read from JSON.

        Notes
        -----
        The p-value is that of the hypothesis that the disparity equals the bias. The strength of a covariate is the
        increase in the models' out-of-fold loss without it; they are refitted without each covariate on the first call.

        References
        ----------
        C. Cinelli and C. Hazlett (2020), Making sense of sensitivity: extending omitted variable bias, Journal of the
        Royal Statistical Society B 82, 39-67.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairtest import AdjustedFairnessTest
        >>> rng = np.random.default_rng(0)
        >>> man = rng.random(2000) < 0.5
        >>> experience = rng.gamma(4, 2, 2000) + man
        >>> pay = 30 + experience + 2 * man + rng.normal(size=2000) * 4
        >>> test = AdjustedFairnessTest.from_predictions(
        ...     None,
        ...     pay,
        ...     sensitive_features={"man": man},
        ...     covariates={"experience": experience},
        ...     random_state=0,
        ... )
        >>> print(test.sensitivity(at=1).sentence)
        Significant disparity. The verdict survives up to an unmeasured confounder 1.52 times as strong as the strongest
        covariate.
        """
        check_is_fitted(self)
        check_choice("to", to, ("confounding",))
        if not hasattr(self, "_base"):
            raise ParameterError("to='confounding' needs the residuals, which a test read from JSON does not have")
        return omitted_variable(self._base, self._biases, at)


#: From this share of its variance on, predicted by covariates, a group is hardly found among others.
SEPARATED = 0.9


def _notes(test: Any) -> Iterator[str]:
    """Say how much the models explain, and what the p-values are."""
    setup, comparisons = test._setup, test.comparisons_
    explained = comparisons[["outcome_explained", "group_explained"]].clip(lower=0)
    ranges = explained.agg(["min", "max"]).T.itertuples(index=False)
    of_outcome, of_group = (" to ".join(dict.fromkeys(f"{100 * share:.0f}%" for share in ends)) for ends in ranges)
    yield (
        f"Of people whom a model has not seen, covariates explain {of_outcome} of the variance of the outcome and "
        f"{of_group} of that of the group (models: {test._learners}). The adjusted difference is an average in which "
        "people count most whose covariates are found in both groups."
    )
    if explained["group_explained"].max() >= SEPARATED:
        yield (
            "The covariates nearly determine the group: hardly anyone has a counterpart in the other one, and the "
            "comparison rests on few people."
        )
    yield sentences.adjustment_note(setup.adjust, setup.alpha)
    for row in cells.records(comparisons[comparisons["disparity"].isna()]):
        of, why = f"{label(row['group'])} and {label(row['other'])}", row["method"].removeprefix("undefined: ")
        yield f"Of {of}, {why}: the difference is undefined, and counts as a hypothesis with p = 1."
