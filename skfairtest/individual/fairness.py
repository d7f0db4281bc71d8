"""The test of one model for individual fairness: does it treat similar people differently."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.seeds import check_seed, seed_sequence
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.individual._audited import RESPONSES, Audited, asks_for_groups, audited, check_losses, check_width
from skfairtest.individual._check import OF_MEANS, Ranges, check_parameters, n_folds, ranges_of, scale_of
from skfairtest.individual._losses import LOSSES, Loss, loss_and_unit, loss_of
from skfairtest.individual._metric import learn, resolve
from skfairtest.individual._people import People, gone_outside, people_of, warn_of_units
from skfairtest.individual._statistics import Judge, doubts_about, warn_of
from skfairtest.individual._unfair import Flow, Moved, Starts, changes, checkpoints, move, warn_of_cost
from skfairtest.individual.flow.audit_value import AuditValue, ratios
from skfairtest.individual.flow.constraints import constraint
from skfairtest.individual.flow.quadratic import Quadratic
from skfairtest.individual.flow.unfair_map import FlowDivergedError
from skfairtest.individual.models.autograd import is_torch
from skfairtest.individual.models.features import Features
from skfairtest.individual.sensitive_subspace import NoGroupsError
from skfairtest.readers import (
    Column,
    Numbers,
    as_numbers,
    classes_of,
)
from skfairtest.readers.labels import MAX_LABELS
from skfairtest.readers.levels import listed
from skfairtest.report.document import Block
from skfairtest.report.individual import IndividualSetup, individual_document
from skfairtest.report.mixin import ReportMixin


class IndividualFairnessTest(ReportMixin):
    """Test whether a model treats similar people differently: how much more it errs about someone almost like you.

    Every person is moved to their *unfair example*: along the flow that raises the model's loss, held back by the fair
    distance, so that it goes where people are similar and the model errs (equation 2.6 of the paper). Null hypothesis:
    in the population that the people were drawn from, the loss at the unfair example is on average at most `tolerance`
    times the loss at the person. The unfair example depends on the person alone, given the fair metric and the units,
    so ratios of different people are independent, and the test keeps its level in large samples whichever `gradient`,
    `solver` and number of steps found it; what these change is what is found. No rejection is therefore no proof of
    fairness. Of a metric that is learned, the null hypothesis is about the one learned (or those of the folds), not
    about the one that would be learned from everybody there is.

    Parameters
    ----------
    estimator : fitted estimator
        A classifier or a regressor; never fitted here. It must not have seen the people tested.
    fair_metric : {"sensitive_subspace"} or transformer, default="sensitive_subspace"
        Who is similar: d(x, x') is the Euclidean distance of x and x' after ``transform``. `SensitiveSubspace`,
        `Projection`, `Mahalanobis`, `ComparablePairs`, or any affine transformer. One that is fitted is used as it is.
    statistic : {"loss_ratio", "error_rate_ratio", "ratio_of_means", "log_ratio"}, default="loss_ratio"
        The mean of ratios (the paper's equation 3.4); the ratio of error rates (its section 3.2); the ratio of mean
        losses, or the geometric mean of ratios, which few people with tiny losses cannot carry away.
    tolerance : float, default=1.25
        The largest ratio that is no violation: one over the four fifths of the four-fifths rule.
    regularization : float, default=50.0
        lambda, the weight of the squared fair distance.
    n_steps : int, default=500
        Steps of the flow; of a search, candidates per person.
    step_size, step_decay : float, default=0.01 and 0.0
        Step i has size ``step_size / i**step_decay``. Their sum is the time the flow runs, and the radius of a search.
    solver : {"euler", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"}, default="euler"
        Forward Euler for all people at once, or as a reference a method of ``scipy.integrate.solve_ivp``, person by
        person, for the same time.
    gradient : {"auto", "analytic", "autograd", "finite_differences", "search"} or callable, default="auto"
        Where the direction comes from: a closed form, torch, central differences, or a search without derivatives for
        models that are constant almost everywhere, such as forests; the first that is possible. Or
        ``gradient(X, y)``, the derivative of each person's loss, of the shape of X.
    loss : {"auto", "log_loss", "squared_error", "absolute_error"}, tuple or callable, default="auto"
        Log loss for classifiers, with probabilities no closer to 0 and 1 than 2.2e-16, as in scikit-learn; squared
        error for regressors. Errors are in standard deviations of `y` of the people tested, so that steps mean the same
        in every unit, or as ``("squared_error", unit)`` in a unit that does not depend on them. Or
        ``loss(y_true, y_pred)``, one number of at least 0 per person; y_pred is ``predict_proba``,
        ``decision_function`` or ``predict``, the first that there is.
    cross_fit : bool or int, default=True
        Whether a fair metric is learned on other folds (5) than it is used on. Folds depend on what people are, not on
        the order of rows.
    feature_ranges : mapping, optional
        ``{"age": (18, 90), "sex": "frozen", ("job_a", "job_b", "job_c"): "one_hot"}``: limits, features that stay, and
        columns of one category, which remain shares that sum to 1. Without, features move freely, also those that are
        0 or 1, as in the paper.
    feature_scale : {None, "std"}, mapping or array-like, default=None
        What one unit is in each feature, for distances and steps: the units of `X`; its standard deviations, for a
        pipeline that scales by itself; or given numbers.
    confidence_level : float, default=0.95
        Of the interval; one minus it is the level of the test.
    random_state : int, RandomState, Generator or None
        Of the candidates of a search; None: always the same. Nothing else is random.
    n_jobs : int, optional
        Processes among which people are divided. The result is the same.
    verbose : int, default=0
        Above 0, a test that takes more than a second shows how far it is.

    Attributes
    ----------
    p_value_ : float
        One-sided p-value of the null hypothesis.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``.
    statistic_ : float
        S_n, the estimate.
    lower_bound_ : float
        T_n: the ratio in the population is larger, with `confidence_level`. Rejected is what exceeds `tolerance`.
    confidence_interval_ : tuple of float
        Two-sided limits.
    standard_error_ : float
        Of the estimate; standard deviations have the divisor n.
    attained_level_ : float
        How often a test of so many people really rejects a model at the tolerance, estimated from the skewness of what
        people lose: more often than it should where a few are harmed much less than the others.
    loss_ratios_ : ndarray of shape (`n_samples_`,)
        Loss at the unfair example over loss at the person; 1 where both are 0.
    unfair_examples_ : same container and columns as X
        `X` moved; without the people of `excluded_`.
    path_ : DataFrame
        Had the flow been stopped earlier: ``n_steps``, ``time``, ``statistic``, ``standard_error``, ``lower_bound``;
        had a search tried fewer candidates at the same distances. To choose a time by looking at it and test at this
        time is to test often.
    n_samples_ : int
        People tested.
    excluded_ : DataFrame
        People left out, with the reason: a feature is missing.
    fair_metrics_ : list
        The fitted fair metrics, one per fold.
    solver_report_ : dict
        What was run: ``gradient`` and ``because`` (how directions were found, and why so), ``loss``, ``fair_metric``,
        ``n_directions`` that it leaves free, ``n_folds``, ``solver``, ``n_steps``, ``time``, ``regularization``,
        ``largest_eigenvalue`` of the metric, ``n_unstable_steps`` of forward Euler, ``n_features_outside`` (that went
        beyond their range in X), ``n_worse`` (people whose loss grew), mean and largest fair ``distance`` and Euclidean
        ``displacement``, ``loss_unit``.
    feature_scale_ : ndarray of shape (`n_features_in_`,) or None
        Units of the features.
    n_features_in_ : int
        Features.
    feature_names_in_ : ndarray of str
        Their names, where `X` has names.

    See Also
    --------
    FairnessTest : The test of group fairness.
    SensitiveSubspace : The default fair metric.

    Notes
    -----
    With step sizes eta_i, fair matrix Sigma and d^2(x, x') = (x - x') Sigma (x - x')',

    x <- x + eta_i [grad loss(f(x), y) - 2 lambda Sigma (x - x_0)], and r = loss(f(x_T), y) / loss(f(x_0), y);

    S_n is the mean of r, V_n its standard deviation (divisor n, as in the published code), T_n = S_n - z V_n / sqrt(n)
    with z the normal quantile (equation 3.10). The published code uses z = 1.645 and drops ratios that are not finite;
    here they are an error that says which statistic is defined.

    References
    ----------
    S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness, ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfairtest import IndividualFairnessTest, Projection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X @ [1, 1] + rng.normal(size=400) > 0).astype(int)
    >>> model = LogisticRegression().fit(X[:200], y[:200])
    >>> # People who differ in the first feature only are the same.
    >>> similar = Projection([[1, 0]])
    >>> test = IndividualFairnessTest(model, fair_metric=similar).fit(X[200:], y[200:])
    >>> print(f"{test.statistic_:.2f}, at least {test.lower_bound_:.2f}")
    25.70, at least 23.00
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "rejected", "concern", "statistic", "standard_error", "lower_bound", "confidence_interval",
        "attained_level", "n_samples", "excluded", "solver_report",
    )  # fmt: skip

    def __init__(
        self,
        estimator: Any = None,
        *,
        fair_metric: Any = "sensitive_subspace",
        statistic: str = "loss_ratio",
        tolerance: float = 1.25,
        regularization: float = 50.0,
        n_steps: int = 500,
        step_size: float = 0.01,
        step_decay: float = 0.0,
        solver: str = "euler",
        gradient: Any = "auto",
        loss: Any = "auto",
        cross_fit: bool | int = True,
        feature_ranges: Any = None,
        feature_scale: Any = None,
        confidence_level: float = 0.95,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.fair_metric = fair_metric
        self.statistic = statistic
        self.tolerance = tolerance
        self.regularization = regularization
        self.n_steps = n_steps
        self.step_size = step_size
        self.step_decay = step_decay
        self.solver = solver
        self.gradient = gradient
        self.loss = loss
        self.cross_fit = cross_fit
        self.feature_ranges = feature_ranges
        self.feature_scale = feature_scale
        self.confidence_level = confidence_level
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> IndividualFairnessTest:
        """Move everybody to their unfair example and test how much more the model loses there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            What the estimator predicts from: numbers, in any table.
        y : array-like of shape (n_samples,)
            True labels or targets.
        sensitive_features : array-like, frame or mapping, optional
            One or several columns of length n_samples, from which a fair metric that is not fitted yet learns who is
            similar. They need not be columns of X.

        Returns
        -------
        IndividualFairnessTest
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable, the fair metric has another dimension, the flow diverges, or the
            statistic is not defined; the message names it, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        check_parameters(self)
        check_seed(self.random_state)
        metric = resolve(self.fair_metric)
        if self.estimator is None:
            raise ParameterError("estimator is missing: IndividualFairnessTest(model).fit(X, y, ...)")
        if isinstance(self.estimator, type):
            raise ParameterError(
                f"estimator={self.estimator.__name__} is a class: fit a model of it, on other people than those of the "
                "test, and pass the model"
            )
        people = people_of(X, y, sensitive_features, numbers=self._kind() == "regressor")
        features, y_true = people.features, people.y_true
        loss, truth, labels = self._read_truth(y_true)
        ranges = ranges_of(self.feature_ranges, features)
        scale = scale_of(self.feature_scale, features, ranges)
        if scale is None:
            warn_of_units(features, ranges.frozen)
        places = np.asarray(y_true.codes if isinstance(y_true, Column) else y_true.values, dtype=float)
        try:
            metrics, matrices, folds = learn(metric, features, places, people.sensitive, n_folds(self.cross_fit), scale)
        except NoGroupsError as error:
            what = "the fair metric is learned from what predicts them. Pass one or several columns"
            raise self._without_groups(what, "sex") from error
        model = self._audited(features, y_true, truth, labels, loss, scale, ~ranges.frozen)
        flow = self._flow(model, matrices, ranges, scale)
        starts = Starts(features.values if scale is None else features.values / scale, truth, labels)
        check_losses(model, starts.z, truth)
        warn_of_cost(model, flow, len(features), self.n_jobs)
        moved = self._move(model, matrices, folds, flow, starts)
        judge = Judge(
            self.statistic,
            moved.losses if moved.wrong is None else moved.wrong,
            flow.checkpoints,
            flow.times,
            loss.nothing,
            float(self.tolerance),
            float(self.confidence_level),
        )
        found, level = judge.end()
        # What did not move keeps its last digit, whatever it was divided by on the way.
        ends = np.clip(model.in_units(moved.z), ranges.low, ranges.high)
        self._set_found(found, level, judge)
        ends = np.where(moved.z == starts.z, features.values, ends)
        self._set_people(people, starts, moved, ends)
        self.feature_scale_ = scale
        outside, farthest = gone_outside(features.values, ends)
        doubts = doubts_about(
            self.statistic, moved, self.loss_ratios_, self.p_value_, 1 - self.confidence_level, level, farthest
        )
        n_directions = max(len(one.free_directions) if one.has_free_directions else 0 for one in matrices)
        self._set_report(model, metrics, flow, n_directions, outside, doubts)
        warn_of(doubts)
        return self

    @property
    def path_(self) -> pd.DataFrame:
        """The statistic and its lower bound had the flow been stopped earlier."""
        check_is_fitted(self)
        return self._judge.path()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per person.

        Returns
        -------
        DataFrame
            ``person`` (the label of the row of X, or its position), ``label`` (the true one), ``loss_before``,
            ``loss_after``, ``loss_ratio``, ``distance`` (the fair distance that the person was moved) and
            ``displacement`` (the Euclidean one), both in units of the audit.
        """
        check_is_fitted(self)
        return pd.DataFrame(self._columns)

    def most_unfair(self, k: int = 10, *, n_features: int | None = None) -> pd.DataFrame:
        """Return the people whose loss grows most, and the changes of features that make it grow.

        Most is by the ratio, or where the statistic is a ratio of means or of error rates, by the difference.

        Parameters
        ----------
        k : int, default=10
            How many people.
        n_features : int, optional
            How many features of each, those that count most; None: all that change.

        Returns
        -------
        DataFrame
            One row per person and feature, the worst person first and their most telling feature first: ``person``,
            ``loss_ratio``, ``feature``, ``before`` and ``after`` in the units of X, ``change``, and ``loss_increase``,
            by how much the loss at the unfair example falls if this feature alone is put back.

        Raises
        ------
        ValueError
            If a number is not one of at least 1.
        """
        check_is_fitted(self)
        for name, value in (("k", k), ("n_features", n_features)):
            if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
                raise ParameterError(f"{name} must be an integer of at least 1; found {value!r}")
        people = self._columns
        growth = self.loss_ratios_
        if self._setup.statistic in OF_MEANS:
            growth = people["loss_after"] - people["loss_before"]
        worst = np.argsort(-growth, kind="stable")[:k]
        return changes(self._model, self._starts, self._ends, self._truth, people, worst, n_features)

    def _document(self) -> list[Block]:
        return individual_document(self._setup, self.most_unfair(3, n_features=3))

    def __sklearn_tags__(self) -> Tags:
        """Say that X is a table of numbers."""
        tags = super().__sklearn_tags__()
        given = tags.input_tags
        given.one_d_array, given.two_d_array, given.sparse = False, True, False
        given.string = given.categorical = False
        return tags

    def _kind(self) -> str | None:
        """What the estimator is, or what the loss makes of it."""
        name = self.loss[0] if isinstance(self.loss, tuple) and self.loss else self.loss
        judged = LOSSES[name].kind if isinstance(name, str) and name in LOSSES else None
        model = self.estimator
        if hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
            return "classifier" if is_classifier(model) else "regressor" if is_regressor(model) else judged
        return "classifier" if hasattr(model, "predict_proba") else judged

    def _read_truth(self, y_true: Column | Numbers) -> tuple[Loss, Any, Any]:
        """Return the loss, what it compares with, and the labels as they were written."""
        kind, name = self._kind(), type(self.estimator).__name__
        loss = loss_of(self.loss, kind, name)
        labels = y_true.values
        if self.statistic == "error_rate_ratio" and (kind or loss.kind) == "regressor":
            raise ParameterError(
                f"statistic='error_rate_ratio' counts wrong labels, and estimator={name}() predicts numbers: use "
                "'loss_ratio', 'ratio_of_means' or 'log_ratio'"
            )
        if loss.own:
            return loss, labels, labels
        if loss.kind == "classifier":
            assert isinstance(y_true, Column)
            classes = self._classes(y_true)
            unknown = [level for level in y_true.levels if level not in classes]
            if unknown:
                raise ParameterError(
                    f"y has labels that estimator={name}() does not know, {listed(unknown)}: it knows {listed(classes)}"
                )
            positions = np.array([classes.index(level) for level in y_true.levels], dtype=np.intp)
            return loss, positions[y_true.codes], labels
        numbers = as_numbers(y_true)
        if numbers is None:
            raise ParameterError(f"y must hold numbers for estimator={name}(); found {listed(y_true.levels, 3)}")  # type: ignore[union-attr]
        unit = loss_and_unit(self.loss)[1]
        return loss.in_units_of(float(numbers.std()) if unit is None else unit), numbers, labels

    def _classes(self, y_true: Column) -> tuple[Any, ...]:
        """The classes of the model; of one that does not say, whole numbers from 0, or the labels seen."""
        known = classes_of(self.estimator)
        if known is not None:
            return known
        if is_torch(self.estimator) and not all(isinstance(level, int) for level in y_true.levels):
            raise ParameterError(
                f"y must hold the positions of outputs, from 0, for estimator={type(self.estimator).__name__}(), a "
                f"torch module that does not say what its classes are; found {listed(y_true.levels, 5)}. Of a module "
                "that predicts numbers say loss='squared_error'"
            )
        if all(isinstance(level, int) and 0 <= level <= MAX_LABELS for level in y_true.levels):
            return tuple(range(max(1, *y_true.levels) + 1))
        return y_true.levels

    def _audited(
        self,
        features: Features,
        y_true: Column | Numbers,
        truth: Any,
        labels: Any,
        loss: Loss,
        scale: Floats | None,
        movable: NDArray[np.bool_],
    ) -> Audited:
        """Look at what the model says, and choose how unfair examples are found."""
        model, kind = self.estimator, self._kind()
        name = type(model).__name__
        wanted = RESPONSES[loss.kind]
        response = next((method for method in wanted if callable(getattr(model, method, None))), wanted[0])
        torch = is_torch(model)
        if torch and not hasattr(model, "fit") and (loss.own or self.gradient not in ("auto", "autograd")):
            raise ParameterError(
                f"estimator={name}() is a torch module, whose derivatives torch knows for the losses that have a name: "
                "use loss='auto' and gradient='auto', or wrap it in an object with classes_ and predict_proba"
            )
        if not callable(getattr(model, response, None)) and not torch:
            raise ParameterError(
                f"estimator={name}() has no {response}, and loss={loss.name!r} needs it: calibrate it "
                "(sklearn.calibration.CalibratedClassifierCV), wrap it in an object with classes_ and predict_proba, "
                "or pass loss=function(y_true, y_pred), which gets its decision_function or its predictions. Of a "
                "regressor that does not say that it is one: loss='squared_error'"
            )
        if not torch and asks_for_groups(getattr(model, response)):
            raise ParameterError(
                f"estimator={name}().{response} asks for sensitive_features, which are no features that an unfair "
                f"example could change. Wrap it in an object whose {response} reads the group from a column of X"
            )
        bare = Audited(model, replace(features, values=features.values[:1], index=None), loss, scale, movable, response)
        if loss.kind == "classifier" and not torch and classes_of(model) is None:
            assert isinstance(y_true, Column)
            check_width(bare, features, self._classes(y_true))
        chosen = audited(bare, self.gradient, features, truth, labels, kind=kind)
        if chosen.smooth is not None and chosen.smooth.classes is not None and loss.kind == "classifier":
            n_classes = len(chosen.smooth.classes)
            if truth.max() >= n_classes:
                raise ParameterError(
                    f"y has labels beyond those of estimator={name}(), which has {n_classes} outputs, for the labels 0 "
                    f"to {n_classes - 1}: found {listed(y_true.levels, 5)}. Of a module that predicts numbers say "  # type: ignore[union-attr]
                    "loss='squared_error'"
                )
        return chosen

    def _flow(self, model: Audited, matrices: list[Quadratic], ranges: Ranges, scale: Floats | None) -> Flow:
        """Set the map up, and warn where its steps are too long."""
        solver = "search" if model.way == "search" else self.solver
        if solver == "search" and self.solver != "euler":
            raise ParameterError(
                f"solver={self.solver!r} follows derivatives, and this model has none ({model.why}): leave "
                "solver='euler'"
            )
        if ranges.limited and solver not in ("euler", "search"):
            raise ParameterError(f"solver={solver!r} cannot hold features inside feature_ranges: use solver='euler'")
        steps: Floats = self.step_size / np.arange(1.0, self.n_steps + 1) ** self.step_decay
        low, high = ranges.low, ranges.high
        if scale is not None:
            low, high = low / scale, high / scale
        flow = Flow(
            solver,
            steps,
            float(self.regularization),
            constraint(low=low, high=high, frozen=np.flatnonzero(ranges.frozen), blocks=ranges.blocks),
            (low, high) if np.isfinite(low).any() or np.isfinite(high).any() else None,
            _seed(self.random_state) if solver == "search" else 0,
            checkpoints(self.n_steps),
            max(metric.among(model.movable).largest for metric in matrices) if model.movable.any() else 0.0,
        )
        if flow.n_unstable:
            pull = self.regularization * flow.largest
            warnings.warn(
                f"step_size={self.step_size:g} is too long for regularization={self.regularization:g}: their product "
                f"(times the largest eigenvalue of the fair metric, {flow.largest:.3g}) is {steps[0] * pull:.3g}, and "
                f"from 1 on forward Euler is unstable, here in {flow.n_unstable:,} of {self.n_steps:,} steps. Use a "
                f"step_size below {1 / pull:.3g}, or a solver of scipy.integrate such as 'LSODA'",
                UserWarning,
                stacklevel=find_stack_level(),
            )
        return flow

    def _move(
        self,
        model: Audited,
        matrices: list[Quadratic],
        folds: NDArray[np.intp],
        flow: Flow,
        starts: Starts,
    ) -> Moved:
        """Move everybody."""
        try:
            return move(
                model,
                matrices,
                folds,
                flow,
                starts,
                errors=self.statistic == "error_rate_ratio",
                n_jobs=self.n_jobs,
                show=bool(self.verbose),
            )
        except FlowDivergedError as error:
            what = "steps" if flow.solver == "euler" else "units of time"
            instead = "; feature_scale='std' if features have different units"
            if self.feature_scale is not None:
                instead = "; a fair metric that was fitted in other units than feature_scale's pulls too hard"
            raise ParameterError(
                f"step_size={self.step_size:g} with regularization={self.regularization:g} diverges: "
                f"{pluralize(error.people, 'unfair example')} ran away within {error.step:g} {what}. Use a smaller "
                f"step_size, fewer n_steps, or feature_ranges that end{instead}"
            ) from error

    def _set_found(self, found: AuditValue, level: float, judge: Judge) -> None:
        """Set the statistic and what follows from it."""
        self.statistic_, self.standard_error_ = found.estimate, found.standard_error
        self.lower_bound_, self.confidence_interval_ = found.lower_bound, found.interval
        self.p_value_ = found.p_value
        self.rejected_ = self.concern_ = bool(self.p_value_ <= 1 - self.confidence_level)
        self.attained_level_, self._judge = level, judge

    def _set_people(self, people: People, starts: Starts, moved: Moved, ends: Floats) -> None:
        """Set what was found about each person."""
        features = people.features
        self.n_samples_, self.n_features_in_ = features.values.shape
        self.__dict__.pop("feature_names_in_", None)
        if features.names_in is not None:
            self.feature_names_in_ = np.array(features.names_in, dtype=object)
        self.excluded_ = people.excluded
        self.unfair_examples_ = features.rebuild(ends)
        self.loss_ratios_ = ratios(moved.losses[:, 0], moved.losses[:, -1])
        self._starts, self._ends, self._truth = features.values, ends, starts.truth
        self._columns = {
            "person": people.names,
            "label": starts.labels,
            "loss_before": moved.losses[:, 0],
            "loss_after": moved.losses[:, -1],
            "loss_ratio": self.loss_ratios_,
            "distance": moved.distance,
            "displacement": np.linalg.norm(moved.z - starts.z, axis=1),
        }

    def _set_report(
        self,
        model: Audited,
        metrics: list[Any],
        flow: Flow,
        n_directions: int,
        outside: int,
        doubts: tuple[str, ...],
    ) -> None:
        """Set what was run."""
        self._model, self.fair_metrics_ = model, metrics
        people = self._columns
        self.solver_report_ = {
            "gradient": model.way,
            "because": model.why,
            "loss": model.loss.name,
            "loss_unit": model.loss.unit,
            "fair_metric": type(metrics[0]).__name__,
            "n_directions": n_directions,
            "n_folds": len(metrics),
            "solver": flow.solver,
            "n_steps": len(flow.steps),
            "time": flow.time,
            "regularization": flow.regularization,
            "largest_eigenvalue": flow.largest,
            "n_unstable_steps": flow.n_unstable,
            "n_features_outside": outside,
            "n_worse": int((people["loss_after"] > people["loss_before"]).sum()),
            "mean_distance": float(people["distance"].mean()),
            "max_distance": float(people["distance"].max()),
            "mean_displacement": float(people["displacement"].mean()),
            "max_displacement": float(people["displacement"].max()),
        }
        self._setup = IndividualSetup(
            statistic=self.statistic,
            tolerance=float(self.tolerance),
            alpha=1 - float(self.confidence_level),
            estimate=self.statistic_,
            lower_bound=self.lower_bound_,
            interval=self.confidence_interval_,
            p_value=self.p_value_,
            concern=self.concern_,
            n_samples=self.n_samples_,
            n_excluded=len(self.excluded_),
            n_features=self.n_features_in_,
            units=self._units(),
            doubts=doubts,
            report=self.solver_report_,
        )

    def _units(self) -> str:
        """Say what the map is measured in, where that is estimated from the people tested."""
        told = []
        if self.solver_report_["loss_unit"] is not None:
            estimated = " (the standard deviation of y)" if loss_and_unit(self.loss)[1] is None else ""
            told.append(f"errors in units of {self.solver_report_['loss_unit']:.4g}{estimated}")
        if isinstance(self.feature_scale, str):
            told.append("features in their standard deviations")
        return " and ".join(told)


def _seed(random_state: Any) -> int:
    """Return the seed of a search; without one, always the same."""
    return 0 if random_state is None else int(seed_sequence(random_state).generate_state(1)[0])
