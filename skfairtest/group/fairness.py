"""The test of one model: does a fairness metric differ between groups by more than chance."""

from __future__ import annotations

import copy
import sys
import warnings
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest.group._facts import cells_read, facts_of, with_cells
from skfairtest.group._frames import by_group_frame, comparisons_frame, excluded_frame
from skfairtest.group._judge import equivalence_interval, judge, p_of
from skfairtest.group._random import check_seed
from skfairtest.group._rows import Measured, measure
from skfairtest.group._settings import Settings, check_settings
from skfairtest.metrics import Rate, resolve_metrics
from skfairtest.readers import check_same_people, classes_of, predict, predictions_from_X, resolve_pos_label
from skfairtest.report import text
from skfairtest.tables import CountTable


class FairnessTest(MetaEstimatorMixin, BaseEstimator):
    """Test whether a fairness metric differs between groups by more than chance.

    Null hypothesis: each rate of `metric` is equal in the groups that are compared (with `margin`: it does not differ
    by more than the margin; with ``alternative="equivalence"``: it does differ by more). A rate is the probability of
    an event among the people who meet a condition; the default test of two groups is Boschloo's exact unconditional
    test within that condition, which never rejects a fair model more often than the level says, in samples of any
    size.

    Parameters
    ----------
    estimator : fitted estimator, optional
        Anything with ``predict``; it is never fitted here. None: the `X` of `fit` is the predictions.
    metric : str, Rate, callable, or list or dict of these, default="equalized_odds"
        Names of rates (``selection_rate``, ``true_positive_rate`` or ``recall``, ``false_positive_rate``, ...) or of
        criteria made of rates (``demographic_parity``, ``equalized_odds``, ...), own rates, or the fairlearn or
        scikit-learn functions of the same meaning. A dict's keys rename.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference"}, default="between_groups"
        All pairs of groups, or each group against everyone, against everyone else, or against `reference_group`. The
        p-value against everyone is the one against everyone else.
    reference_group : label or tuple of labels, optional
        Only with ``compare="to_reference"``; a tuple for several sensitive features.
    disparity : {"difference", "ratio"}, default="difference"
        ``value_group - value_other`` or ``value_group / value_other``.
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        What would be a finding. "greater": the group's value is the greater one. "equivalence": the disparity lies
        within the margin.
    margin : float, optional
        Tolerated disparity: a difference in [0, 1), or a ratio in (0, 1] that means [margin, 1/margin].
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap"}, default="auto"
        Law of the p-value. "auto": exact where it can be enumerated, else the score test, and the row's ``method``
        says so; "permutation" where `variance` or `within` ask for a law that cannot be enumerated.
    variance : {"auto", "score", "delta", None}, default="auto"
        Standard error that studentizes a resampled disparity: with both values equal, plug-in, or none.
    within : {"auto", None, "y_true", "y_pred"}, default="auto"
        Where labels are permuted: within each rate's own condition (exact), everywhere, or within the labels or
        predictions. Anything but "auto" changes the null hypothesis to equal conditional laws.
    adjust : {"auto", "max_t", "holm", "bonferroni", "fdr_bh", "fdr_by", None}, default="auto"
        How p-values are adjusted for the number of comparisons; "auto" is Holm. "max_t" is exact only if all groups
        are alike.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    n_resamples : int, default=9999
        Tables drawn by the resampled methods.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, True, or the estimator's ``classes_[1]``.
    random_state : int, RandomState, Generator or None
        Seed of the resampled methods.
    n_jobs : int, optional
        Processes among which enumerated comparisons are divided; worth it for thousands of them. The result is the
        same.
    verbose : int, default=0
        Accepted for every test; nothing is reported yet.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted comparison; with "equivalence" the largest comparison's.
    rejected_ : bool
        ``p_value_ <= 1 - confidence_level``.
    concern_ : bool
        A disparity was found or, with "equivalence", fairness within the margin was not certified.
    statistic_, disparity_ : float
        Of the comparison that sets `p_value_`.
    confidence_interval_ : tuple of float
        Limits of that comparison's disparity, simultaneous over all comparisons.
    equivalence_interval_ : tuple of float
        With "equivalence" only: the interval at level 1 - 2 alpha that the test inverts.
    by_group_ : DataFrame
        ``n``, ``n_effective`` (people who meet the condition), ``value``, ``standard_error``, ``ci_low``, ``ci_high``
        (Wilson, pointwise) and ``small`` (fewer than 10 meet the condition), indexed like fairlearn's
        ``MetricFrame.by_group``.
    comparisons_ : DataFrame
        One row per comparison; ``n_group`` and ``n_other`` are people, ``stratum`` is None where strata are pooled.
    excluded_ : DataFrame
        What was left out, with the reason and the counts.
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Resampled statistics; None where every law was enumerated.
    p_value_interval_ : tuple of float
        95 % limits of the Monte-Carlo error of `p_value_`; both ends are `p_value_` where it is exact.
    method_, variance_, within_, adjust_ : str or None
        What was run. `within_` is a dict where rates differ in it.
    n_resamples_ : int
        How many tables were drawn.
    groups_ : list
        Groups, sorted: labels, or tuples of labels.
    pos_label_ : object
        The label counted as positive.
    n_samples_ : int
        People.

    See Also
    --------
    CountTable : The table that every test starts from.
    Rate : Declare a rate of your own.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. C. DiCiccio et al. (2020), Evaluating Fairness Using
    Permutation Tests, KDD. S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

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

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sensitive_features": True,
        "control_features": True,
        "sample_weight": True,
        "clusters": True,
        "predict_params": True,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        metric: Any = "equalized_odds",
        compare: str = "between_groups",
        reference_group: Any = None,
        disparity: str = "difference",
        alternative: str = "two-sided",
        margin: float | None = None,
        method: str = "auto",
        variance: str | None = "auto",
        within: str | None = "auto",
        adjust: str | None = "auto",
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        pos_label: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.compare = compare
        self.reference_group = reference_group
        self.disparity = disparity
        self.alternative = alternative
        self.margin = margin
        self.method = method
        self.variance = variance
        self.within = within
        self.adjust = adjust
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_clone__(self) -> FairnessTest:
        """Copy the parameters and hand on the fitted estimator itself, which a test never fits."""
        bare = copy.copy(self)
        bare.estimator = None
        new = super(FairnessTest, bare).__sklearn_clone__()
        new.estimator = self.estimator
        return new  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        """Say that X is only handed to the estimator, which may take anything."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.no_validation = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> FairnessTest:
        """Predict with the estimator and test its predictions.

        Parameters
        ----------
        X : array-like
            What the estimator predicts from; with ``estimator=None`` the predictions, of shape (n_samples,).
        y : array-like of shape (n_samples,), optional
            True labels; None where the metric needs none.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples (several are crossed).
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight, clusters : None
            Not built yet.
        predict_params : dict, optional
            Further arguments of the estimator's ``predict``.

        Returns
        -------
        FairnessTest
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        NotImplementedError
            If a parameter asks for what this version does not have.
        """
        settings, rates = self._check()
        _refuse_later(sample_weight=sample_weight, clusters=clusters)
        if sensitive_features is None:
            raise ValueError(
                "sensitive_features is missing: the groups to compare, one value per person, for instance "
                "fit(X, y, sensitive_features=df['sex'])"
            )
        if self.estimator is None:
            y_pred = predictions_from_X(X)
        else:
            y_pred = predict(
                self.estimator,
                X,
                sensitive_features=sensitive_features,
                predict_params=predict_params,
                random_state=self.random_state,
            )
        needed = cells_read(rates, settings)
        if "y_true" in needed and y is None:
            names = ", ".join(rate.name for rate in rates if "y_true" in rate.reads) or f"within={self.within!r}"
            raise ValueError(f"y is missing: {names} needs the true labels; metric='selection_rate' does not")
        # Labels that no rate reads are counted first all the same, because a missing one is an error.
        table = CountTable.from_predictions(
            y, y_pred, sensitive_features=sensitive_features, control_features=control_features
        )
        _check_rows_of(X, table, y=y, sensitive_features=sensitive_features, control_features=control_features)
        return self._fit_table(with_cells(table, needed), settings, rates, classes_of(self.estimator))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        **params: Any,
    ) -> FairnessTest:
        """Test predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True labels; None where the metric needs none.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        y_score : None
            Not built yet.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples (several are crossed).
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight, clusters : None
            Not built yet.
        **params
            Parameters of the test.

        Returns
        -------
        FairnessTest
            The fitted test.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> FairnessTest.from_predictions(
        ...     None,
        ...     [1, 1, 1, 1, 0, 0, 0, 0],
        ...     sensitive_features=list("aaaabbbb"),
        ...     metric="selection_rate",
        ... ).p_value_
        0.0078125...
        """
        _refuse_later(y_score=y_score)
        if params.get("estimator") is not None:
            raise ValueError(
                "from_predictions takes predictions, not an estimator: use FairnessTest(estimator).fit(X, y, ...)"
            )
        predictions_from_X(y_pred, "y_pred")
        return cls(**params).fit(
            y_pred,
            y_true,
            sensitive_features=sensitive_features,
            control_features=control_features,
            sample_weight=sample_weight,
            clusters=clusters,
        )

    @classmethod
    def from_table(cls, table: CountTable, **params: Any) -> FairnessTest:
        """Test counts.

        Parameters
        ----------
        table : CountTable
            People by stratum, group and cell; its cells must hold what the metric reads.
        **params
            Parameters of the test.

        Returns
        -------
        FairnessTest
            The fitted test, the same as from the rows that the table counts.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> from skfairtest.datasets import load_berkeley
        >>> test = FairnessTest.from_table(load_berkeley(as_table=True), metric="selection_rate")
        >>> round(test.disparity_, 3), round(test.p_value_, 2)
        (0.018, 0.23)
        """
        if not isinstance(table, CountTable):
            raise ValueError(f"table must be a CountTable, found {type(table).__name__}: see CountTable.from_counts")
        test = cls(**params)
        settings, rates = test._check()
        needed = cells_read(rates, settings)
        missing = sorted(needed - set(table.cell_names))
        if missing:
            names = ", ".join(rate.name for rate in rates)
            raise ValueError(
                f"table has no {' and no '.join(missing)}, which {names} needs; "
                f"its cells are {', '.join(table.cell_names)}"
            )
        return test._fit_table(with_cells(table, needed), settings, rates, classes_of(test.estimator))

    def _check(self) -> tuple[Settings, list[Rate]]:
        check_seed(self.random_state)
        settings = check_settings(
            compare=self.compare,
            reference_group=self.reference_group,
            disparity=self.disparity,
            alternative=self.alternative,
            margin=self.margin,
            method=self.method,
            variance=self.variance,
            within=self.within,
            adjust=self.adjust,
            confidence_level=self.confidence_level,
            n_resamples=self.n_resamples,
            n_jobs=self.n_jobs,
        )
        return settings, resolve_metrics(self.metric, self.disparity)

    def _fit_table(
        self, table: CountTable, settings: Settings, rates: list[Rate], classes: tuple[Any, ...] | None
    ) -> FairnessTest:
        self.pos_label_ = resolve_pos_label(table.labels, self.pos_label, classes)
        measured = measure(table, rates, settings, self.pos_label_, self.random_state)
        verdict = judge([measured], settings)
        _warn(measured, verdict.n_resamples, settings)
        row = verdict.leading
        self.p_value_ = p_of(verdict.log_p)
        self.rejected_ = verdict.rejected
        self.concern_ = verdict.concern
        self.statistic_ = float(row.statistic)
        self.disparity_ = float(row.disparity)
        self.confidence_interval_ = row.interval
        if settings.question.alternative == "equivalence":
            self.equivalence_interval_ = equivalence_interval(row, settings)
        elif hasattr(self, "equivalence_interval_"):  # of an earlier fit
            del self.equivalence_interval_
        self.by_group_ = by_group_frame(measured, self.confidence_level)
        self.comparisons_ = comparisons_frame(measured.rows)
        self.excluded_ = excluded_frame(measured.excluded)
        drawn = [row.drawn for row in measured.rows if row.drawn is not None]
        self.null_distribution_ = np.stack(drawn, axis=1) if drawn and verdict.n_resamples else None
        self.p_value_interval_ = verdict.limits
        laws = {row.method.split()[0] for row in measured.rows}
        self.method_ = "+".join(sorted(laws | ({"permutation"} if verdict.drawn else set())))
        self.variance_ = settings.variance
        self.within_ = _within(rates, settings)
        self.adjust_ = settings.adjust
        self.n_resamples_ = verdict.n_resamples
        self.groups_ = table.group_labels
        self.n_samples_ = table.n_samples
        self._facts = facts_of(table, rates, settings)
        # Where the leading comparison stands in comparisons_.
        self._leading = next(i for i, row in enumerate(measured.rows) if row is verdict.leading)
        return self

    def to_frame(self) -> pd.DataFrame:
        """Return the comparisons as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `comparisons_` in which labels of several features are one text each ("Asian, Female"), so that
            it can be written to any file.
        """
        check_is_fitted(self)
        frame = self.comparisons_.copy()
        for column in ("group", "other", "stratum"):
            frame[column] = [text.label(value) for value in frame[column]]
        return frame

    def __str__(self) -> str:
        """Return a sentence for a manager, then the tables; before `fit`, the parameters."""
        if not hasattr(self, "_facts"):
            return repr(self)
        return text.summary(
            self._facts,
            by_group=self.by_group_,
            comparisons=self.comparisons_,
            excluded=self.excluded_,
            p_value=self.p_value_,
            concern=self.concern_,
            adjust=self.adjust_,
            p_value_interval=self.p_value_interval_,
            leading=self._leading,
            equivalence_interval=getattr(self, "equivalence_interval_", None),
        )


def _refuse_later(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"{name} is not built yet: leave it None")


def _check_rows_of(X: Any, table: CountTable, **frames: Any) -> None:
    """Check that the rows predicted from are those of the groups: predictions themselves have no index left."""
    if hasattr(X, "shape") and X.shape[0] != table.n_samples:
        raise ValueError(
            f"X and sensitive_features have different lengths, {X.shape[0]:,} and {table.n_samples:,}: "
            "pass one value per person in each, for the same people."
        )
    columns = {
        f"{name}[{key!r}]" if key is not None else name: column
        for name, frame in frames.items()
        for key, column in (frame.items() if isinstance(frame, dict) else [(None, frame)])
    }
    indexed = {name: column for name, column in columns.items() if isinstance(column, pd.Series | pd.DataFrame)}
    if isinstance(X, pd.DataFrame):
        check_same_people({"X": X, **indexed})


def _within(rates: list[Rate], settings: Settings) -> Any:
    """Where people were taken to be exchangeable: one word if it is the same for every rate, else one per rate."""
    if settings.question.method == "bootstrap":
        return None
    if settings.within != "auto":
        return settings.within
    found = {rate.name: _condition(rate) for rate in rates}
    values = set(found.values())
    return values.pop() if len(values) == 1 else found


def _condition(rate: Rate) -> str | None:
    reads = rate.condition_reads
    if not reads:
        return None
    return next(iter(reads)) if len(reads) == 1 else "condition"


def _outside() -> int:
    """Return the stack level of the line outside the package that a warning of the calling function is about."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("skfairtest."):
        level, frame = level + 1, frame.f_back
    return level


def _warn(measured: Measured, n_resamples: int, settings: Settings) -> None:
    undefined = [e for e in measured.excluded if e.metric is not None and e.n and e.comparisons]
    if undefined:
        first = undefined[0]
        where = text.label(first.group) + (f" ({text.label(first.stratum)})" if first.stratum is not None else "")
        more = f", and {len(undefined) - 1} more" if len(undefined) > 1 else ""
        says = " is" if first.other is None else f" against {text.label(first.other)}:"
        warnings.warn(
            f"{first.metric} of {where}{says} {first.reason}{more}: these comparisons are left out, see excluded_",
            UndefinedMetricWarning,
            stacklevel=_outside(),
        )
    small = [e for e in measured.excluded if e.metric is None]
    if small:
        names = ", ".join(text.label(e.group) for e in small)
        warnings.warn(
            f"sensitive_features: {names} left out of comparisons, having fewer than 2 people; see excluded_",
            UserWarning,
            stacklevel=_outside(),
        )
    if n_resamples:
        main = sum(row.contrast.stratum is None for row in measured.rows)
        smallest = (1 if settings.adjust == "max_t" else main) / (1 + n_resamples)
        if smallest > settings.alpha:
            warnings.warn(
                f"n_resamples={n_resamples} cannot reject at {settings.alpha:.3g}: the smallest adjusted p-value that "
                f"{text.many(main, 'comparison')} can reach is {min(1.0, smallest):.3g}; "
                f"use more than {int(np.ceil(main / settings.alpha))}",
                UserWarning,
                stacklevel=_outside(),
            )
