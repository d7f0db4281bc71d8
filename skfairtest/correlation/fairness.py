"""The test of one model for a continuous sensitive feature, such as age: whether outcomes grow or shrink with it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from skfairtest import readers
from skfairtest._utils.base import check_seed, seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, SmallGroupWarning, brief, find_stack_level
from skfairtest._utils.text import enumerated, label, name_of
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.engine import Compared, judge
from skfairtest.comparisons.frames import comparisons_columns, excluded_frame, frame_of, null_distribution
from skfairtest.comparisons.measure import FEW_PEOPLE
from skfairtest.comparisons.outcomes import numbers, own_outcome
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.correlation import measure
from skfairtest.correlation.report import correlation_report
from skfairtest.correlation.statistics import Pairs, arrange
from skfairtest.report.mixin import ReportMixin
from skfairtest.report.record import Recorded
from skfairtest.report.report import Report

#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}
#: What each correlation is called.
CORRELATIONS = {"pearson": "correlation", "spearman": "rank correlation"}


@dataclass(frozen=True)
class CorrelationSetup(Recorded):
    """The settings of a test that its sentences need.

    Parameters
    ----------
    outcome : str
        What is correlated with the features ("absolute errors").
    measure : str
        What the correlation is called.
    alternative : str
        As in the test.
    alpha : float
        Level of the test.
    controls : str
        Names of the control features; may be empty.
    adjust : str or None
        Adjustment that was run.
    """

    outcome: str
    measure: str
    alternative: str
    alpha: float
    controls: str
    adjust: str | None


@with_parameters
class CorrelationFairnessTest(Compared, ReportMixin):
    """Test whether predictions or errors are correlated with a continuous sensitive feature, such as age.

    Null hypothesis: the correlation of the outcome (`of`) with each sensitive feature is zero. The feature is never cut
    into groups. The outcome is permuted, and each permutation's correlation is divided by its own standard error. If
    outcome and feature are independent, the test is exact in samples of any size. If they are uncorrelated but
    dependent (errors that vary more among the young, but are no larger on average), it is valid in large samples, where
    the ordinary permutation test is not.

    Parameters
    ----------
    estimator : fitted estimator, optional
        The test never fits it. The prediction of a classifier of two classes is the probability of `pos_label` if
        it has ``predict_proba``; otherwise it is what ``predict`` returns. None: the `X` of `fit` is the predictions.
    of : {"absolute_error", "residual", "prediction"} or callable, default="absolute_error"
        The outcome: the absolute difference of y_true and y_pred, y_true - y_pred, y_pred, or ``of(y_true, y_pred)``,
        which returns one number per person. The labels of a classifier of two classes become 1 (`pos_label`) and 0.
    correlation : {"pearson", "spearman"}, default="pearson"
        Pearson's r, or Spearman's rho, with midranks for ties.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis. "greater": a positive correlation. A two-sided test compares absolute values.
    adjust : {"auto", "holm", "bonferroni", "fdr_bh", None}, default="auto"
        How p-values are adjusted for the number of sensitive features; "auto" is Holm.
    confidence_level : float, default=0.95
        Confidence level of intervals; one minus it is the level of the test.
    n_resamples : int or "adaptive", default=9999
        Number of permutations. "adaptive": permute until 20 are at least as extreme as the data, for every comparison,
        but at most 9999 times.
    pos_label : label, optional
        The positive one of a classifier's two classes. None: 1 of {0, 1} or {-1, 1}, or True; other classes need one.
    random_state : int, RandomState, Generator or None
        Seed of the permutations.
    n_jobs : int, optional
        Number of processes; the permutations are divided among them. The result does not depend on it.
    verbose : int, default=0
        Above 0, a test that takes more than a second shows its progress.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted one.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``.
    statistic_, disparity_ : float
        Studentized and plain correlation of the feature that sets `p_value_`.
    confidence_interval_ : tuple of float
        Confidence limits of that correlation, simultaneous over all features (pointwise with a false-discovery rule or
        ``adjust=None``). See the notes.
    comparisons_ : DataFrame
        One row per feature; with control features, more rows for single strata. ``standard_error`` is the correlation's
        standard error, whatever its true value, from its influence function; for "pearson", ``statistic`` divides by
        the standard error under zero correlation.
    excluded_ : DataFrame
        Strata that were left out, with the reason and the number of people.
    null_distribution_ : ndarray of shape (n_resamples, n_features)
        Statistics of the permutations, pooled over strata; NaN where undefined, or after the permutations had stopped.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_`.
    method_, adjust_ : str or None
        What was run.
    n_resamples_ : int
        How many permutations the pooled comparisons have.
    pos_label_ : object
        The class counted as 1; None where labels are numbers.
    n_samples_ : int
        People.

    See Also
    --------
    FairnessTest : The test for groups.

    Notes
    -----
    With control features, the outcome is permuted within strata, and the correlation is of deviations from the
    stratum's mean (Spearman: of ranks within the stratum).

    An interval contains the correlations that the test does not reject. The critical value is that of the permutations,
    at the level of the test divided by the number of features. For "pearson" the
    standard error is computed at each hypothetical correlation, so that the interval is not centred at the estimate;
    for "spearman" it is computed at the estimate. The interval contains zero if, and only if, the comparison is not
    rejected. If there are too few permutations to reject anything, the critical value is Student's t.

    Measured coverage at a nominal .95: "pearson" .94 to .97 for 40 and 200 people with normal, lognormal and Student's
    t variables (3 degrees of freedom), with an outcome whose spread grows with the feature, and for three features
    together; .92 to .97 for 8 to 20 people. "spearman" .92 to .97 for 40 and 200 people. Coverage of both is too low if
    mean and spread of the outcome grow steeply with the feature: with b x + eps x^2, normal x and eps and a correlation
    of .6, "pearson" covers .82 for 40 people, .86 for 200 and .92 for 1,000, and "spearman" .85 for 40 and .94 for 200.
    With Spearman and fewer than about 10 people, standard errors are so uncertain that a perfect order is not the only
    extreme one.

    References
    ----------
    C. J. DiCiccio and J. P. Romano (2017), Robust permutation tests for correlation and regression coefficients, JASA
    112, 1211-1220. C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import CorrelationFairnessTest
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 70, 300)
    >>> y_true = rng.normal(size=300) * age / 45
    >>> test = CorrelationFairnessTest.from_predictions(
    ...     y_true, np.zeros(300), sensitive_features={"age": age}, random_state=0
    ... )
    >>> print(str(test).splitlines()[0])
    Absolute errors grow with age: correlation 0.34 (interval 0.26 to 0.43), adjusted p = 1.0e-04.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sensitive_features": True,
        "control_features": True,
        "predict_params": True,
    }
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "p_value_interval", "rejected", "concern", "statistic", "disparity", "confidence_interval",
        "comparisons", "excluded", "method", "adjust", "n_resamples", "pos_label", "n_samples",
    )  # fmt: skip

    estimator: Any = field(default=None, kw_only=False)
    of: Any = "absolute_error"
    correlation: str = "pearson"
    alternative: str = "two-sided"
    adjust: str | None = "auto"
    confidence_level: float = 0.95
    n_resamples: int | str = 9999
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare whether true values are required: predictions alone can be correlated too."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.of != "prediction"
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> CorrelationFairnessTest:
        """Predict with the estimator and test the outcome.

        Parameters
        ----------
        X : array-like
            The features that the estimator predicts from; with ``estimator=None`` the predictions, of shape
            (n_samples,).
        y : array-like of shape (n_samples,), optional
            True values or labels; None only with ``of="prediction"``.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            One or several columns of numbers of length n_samples; each is tested by itself.
        control_features : array-like, frame, mapping, or names of columns of `X`, optional
            Strata within which the outcome is permuted, at most 1,000 (times the number of sensitive features).
        predict_params : dict, optional
            Further arguments of the estimator's ``predict`` or ``predict_proba``.

        Returns
        -------
        CorrelationFairnessTest
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        settings = self._check()
        if sensitive_features is None:
            raise self._without_groups("columns of numbers", "age")
        given = {"sensitive_features": sensitive_features, "control_features": control_features}
        X, y, given = readers.given_to_fit(X, y, given)
        sensitive_features, control_features = given.values()
        features = readers.read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
        controls: tuple[readers.Column, ...] = ()
        if control_features is not None:
            controls = readers.read_columns(control_features, "control_features", default_name="control_feature")
        x = measure.feature_values(features, sensitive_features)
        y = readers.one_column(y, warned=True)
        y_true = None if y is None else readers.read_column(y, "y_true", name="y_true")
        people = {"y_true": y_true, "sensitive_features": features, "control_features": controls}
        classes = readers.classes_of(self.estimator) or ()
        pos_label = readers.resolve_pos_label(classes, self.pos_label) if len(classes) == 2 else None
        if pos_label is None and self.pos_label is not None:
            raise ParameterError(
                f"pos_label={brief(self.pos_label)} is a label of a classifier of two classes, and the estimator is "
                "none: leave it out"
            )
        if self.estimator is None:
            predicted: Any = readers.predictions_from_X(X)
        else:
            readers.check_rows(X, **people)
            predicted = measure.response(
                self.estimator, X, sensitive_features, predict_params, self.random_state, pos_label
            )
        y_pred = readers.read_column(predicted, "y_pred", name="y_pred")
        readers.check_same_people({"y_true": y_true, "y_pred": y_pred, **people})
        e = self._outcome(y_true, y_pred, classes, pos_label)
        strata, labels = measure.crossed(controls)
        # Between people of equal outcome features decide in the order of their names, not of their columns.
        names = [column.name for column in features]
        pairs = arrange(x, e, strata if controls else None, order=np.argsort(names, kind="stable"))
        setup = CorrelationSetup(
            outcome=OUTCOMES[self.of] if isinstance(self.of, str) else f"values of {name_of(self.of)}",
            measure=CORRELATIONS[self.correlation],
            alternative=settings.question.alternative,
            alpha=settings.alpha,
            controls=" x ".join(column.name for column in controls),
            adjust=settings.adjust,
        )
        self._test(pairs, names, labels, settings, setup)
        self.pos_label_, self._setup = pos_label, setup
        self._keep_parameters()
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        **params: Any,
    ) -> CorrelationFairnessTest:
        """Test predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True values; None only with ``of="prediction"``.
        y_pred : array-like of shape (n_samples,)
            Predictions: numbers, for instance probabilities.
        y_score : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2)
            Scores, in place of predictions.
        sensitive_features : array-like, frame or mapping
            One or several columns of numbers of length n_samples; each is tested by itself.
        control_features : array-like, frame or mapping, optional
            Strata within which the outcome is permuted.
        **params
            Parameters of the test.

        Returns
        -------
        CorrelationFairnessTest
            The fitted test.

        Examples
        --------
        >>> from skfairtest import CorrelationFairnessTest
        >>> CorrelationFairnessTest.from_predictions(
        ...     None,
        ...     [0.1, 0.3, 0.2, 0.5, 0.4, 0.7, 0.6, 0.9, 0.8],
        ...     sensitive_features=[20, 24, 30, 34, 41, 45, 50, 57, 62],
        ...     of="prediction",
        ...     correlation="spearman",
        ...     random_state=0,
        ... ).disparity_
        0.933...
        """
        y_true = readers.one_column(readers.in_memory(y_true))
        predicted = readers.given_predictions(cls.__name__, y_true, y_pred, y_score, params)
        return cls(**params).fit(
            predicted, y_true, sensitive_features=sensitive_features, control_features=control_features
        )

    def _title(self) -> str:
        features = enumerated([label(feature) for feature in dict.fromkeys(self.comparisons_["feature"])])
        return f"Correlation of {self._setup.outcome} with {features}"

    def _made(self) -> Report:
        return correlation_report(self)

    def _check(self) -> Settings:
        check_seed(self.random_state)
        if not callable(self.of):
            check_choice("of", self.of, OUTCOMES)
        check_choice("correlation", self.correlation, CORRELATIONS)
        check_choice("alternative", self.alternative, ("two-sided", "greater", "less"))
        adjust = "holm" if isinstance(self.adjust, str) and self.adjust == "auto" else self.adjust
        return check_settings(**{**self.get_params(), "method": "permutation", "adjust": adjust})

    def _outcome(
        self, y_true: readers.Column | None, y_pred: readers.Column, classes: tuple[Any, ...], pos_label: Any
    ) -> Floats:
        """Return each person's outcome."""
        if y_true is None and self.of != "prediction":
            raise ParameterError(f"y is missing: of={name_of(self.of)} needs the true values; of='prediction' does not")
        if len(classes) > 2:
            if not callable(self.of):
                raise ParameterError(
                    f"estimator has {len(classes)} classes, whose labels cannot be subtracted: pass "
                    "of=lambda y_true, y_pred: ..., which returns a number per person"
                )
            labels = [np.array(column.levels)[column.codes] for column in (y_true, y_pred) if column is not None]
            return own_outcome(self.of, *labels)
        binary = len(classes) == 2
        labelled = binary and not hasattr(self.estimator, "predict_proba")
        if y_true is not None and len(y_true.levels) == len(y_pred.levels) == 2 and len(y_true) >= FEW_PEOPLE:
            readers.check_codings({"y_true": y_true.levels, "y_pred": y_pred.levels})
        predicted = measure.zero_one(y_pred, classes, pos_label) if labelled else numbers(y_pred, "y_pred")
        if y_true is None:
            return predicted
        true = measure.zero_one(y_true, classes, pos_label) if binary else numbers(y_true, "y_true")
        if callable(self.of):
            return own_outcome(self.of, true, predicted)
        if self.of == "prediction":
            return predicted
        return np.abs(true - predicted) if self.of == "absolute_error" else true - predicted

    def _test(
        self, pairs: Pairs, names: list[str], labels: list[Any], settings: Settings, setup: CorrelationSetup
    ) -> None:
        tested = measure.usable(pairs, setup.controls, name_of(self.of))
        left, kept, seed = pairs.only(tested), [names[feature] for feature in tested], seed_sequence(self.random_state)
        what = f"{setup.measure} of {setup.outcome}"
        comparisons = measure.measure_correlations(left, kept, labels, self.correlation, settings, seed, what)
        for doubt in measure.doubts(comparisons, settings):
            warnings.warn(doubt, SmallGroupWarning, stacklevel=find_stack_level())
        (result,) = judge([measure.measured_correlations(comparisons, pairs, names, labels, settings)], settings)
        self._set_verdict(result)
        self.comparisons_ = frame_of(comparisons_columns(result.comparisons, measure.COLUMNS))
        self.excluded_ = excluded_frame(result.excluded, measure.EXCLUDED_COLUMNS)
        pooled = [one for one in result.comparisons if one.is_pooled]
        self.null_distribution_ = null_distribution(pooled, self.n_resamples_)
        self.method_, self.n_samples_ = "permutation", len(pairs.e)
