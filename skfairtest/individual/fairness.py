"""The test of individual fairness of one model: whether it treats similar people differently."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import with_parameters
from skfairtest._utils.checks import check_choice, check_number, check_running, finite_numbers, is_integer, is_number
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import SensitiveSubspace
from skfairtest.individual.metric import GROUPS, similarity, variance_of_learning
from skfairtest.individual.model import Model, Truth, audited, check_losses, checked_model, kind_of, read_truth
from skfairtest.individual.people import Neighbours, People, people_of, ranges_of, scale_of
from skfairtest.individual.report import STATISTICS, individual_report
from skfairtest.individual.statistics import (
    NOTHING,
    OF_MEANS,
    SequentialStatistic,
    audit_value,
    choose,
    doubts_about,
    ratios,
)
from skfairtest.individual.unfair import CANDIDATES, LOOKS, Flow, Moved, changes, free_choices, move, worst_levels
from skfairtest.readers import given_to_fit
from skfairtest.report.mixin import ReportMixin
from skfairtest.report.report import Report

#: Number and size of steps: the time of the flow is that of the paper, 5.
_STEPS = {"implicit": (25, 0.2), "euler": (500, 0.01)}


@with_parameters
class IndividualFairnessTest(ReportMixin):
    """Test whether a model treats similar people differently.

    Null hypothesis: in the population of the people tested, the loss at the *unfair example* is on average at most
    `tolerance` times the loss at the person. The unfair example is the end point of a flow that starts at the person,
    raises the model's loss and is held back by the fair distance (equation 2.6 of the paper). The level holds in large
    samples.

    Parameters
    ----------
    estimator : fitted estimator
        A classifier or a regressor that has not been trained on the people tested. Random predictions are refused; an
        ``ExponentiatedGradient`` is tested as the mean of its predictors.
    fair_metric : {"sensitive_subspace"}, matrix, callable or transformer, default="sensitive_subspace"
        The distance that defines similar people. A matrix A or a function ``distance(X, X_other)``: d²(x, x') = (x -
        x') A (x - x')' in the units of X. A linear transformer: the Euclidean distance after it; unless it is fitted,
        it is learned for each of five folds from the others. `SensitiveSubspace`, the default, is learned only from
        sensitive features that `X` predicts better than chance, out of fold; without such a trace nothing is tested.
    statistic : {"auto", "loss_ratio", "error_rate_ratio", "ratio_of_means"}, default="auto"
        The mean of the ratios (the paper's equation 3.4), the ratio of error rates (its section 3.2), or the ratio of
        mean losses. "auto": the mean of ratios if it is finite and no one's loss is close to zero, otherwise the ratio
        of mean losses.
    tolerance : float, default=1.25
        The largest ratio that does not count as a violation: the reciprocal of the four-fifths rule's 0.8.
    regularization : float, default=50.0
        lambda, the weight of the squared fair distance.
    steps : tuple of (int, float) or array-like, optional
        Number and size of the steps, or the size of each. None: 25 of 0.2, or 500 of 0.01 by forward Euler.
    solver : {"implicit", "euler"}, default="implicit"
        Steps that are implicit in the distance, stable for any size, or forward Euler, as published.
    gradient : {"auto", "finite_differences", "search"} or callable, default="auto"
        How the direction is computed: torch differentiates its modules; other models are evaluated on both sides of
        each person, or searched if small steps do not change them. A function ``gradient(X, y)`` returns the derivative
        of each person's loss, in the shape of X.
    loss : {"auto", "log_loss", "squared_error", "absolute_error"} or callable, default="auto"
        Log loss for classifiers; squared error for regressors, in standard deviations of `y`. Or ``loss(y_true,
        y_pred)``, one number of at least 0 per person; y_pred is ``predict_proba``, ``decision_function`` or
        ``predict``, the first that the model has.
    feature_ranges : {"observed", "free"} or mapping, default="observed"
        The values that features may take. "observed": numbers stay within the range of the people tested, columns with
        few distinct values take only these, neighbouring columns of zeros and ones that sum to 1 are one choice, and no
        one becomes more unusual than 1 in 100 people. ``{"age": (18, 90), "sex": "frozen", "wage": "free"}`` sets some
        features.
    feature_scale : {"std", None} or array-like, default="std"
        The size of one unit of each feature. "std": standard deviations; for the columns of a choice, the square roots
        of its shares. None: the units of `X`.
    confidence_level : float, default=0.95
        Confidence level of the interval; one minus it is the level of the test.

    Attributes
    ----------
    verdict_ : {"unfair", "not_rejected", "no_trace"}
        "no_trace" is neither a pass nor a failure; all numbers are NaN.
    statistic_, standard_error_, lower_bound_, p_value_ : float
        The estimate, its error given the metric, the one-sided limit, and the p-value.
    confidence_interval_ : tuple of float
        Two-sided; of a learned metric with the uncertainty of learning it.
    rejected_, concern_ : bool
        Whether the null hypothesis is rejected.
    traces_ : DataFrame
        How well X predicts each sensitive feature out of fold.
    loss_ratios_ : ndarray of shape (`n_samples_`,)
        Loss at the unfair example over loss at the person; 1 where both are 0.
    unfair_examples_ : same container and columns as X
        `X` moved; without the people of `excluded_`.
    path_ : DataFrame
        The result if the flow had been stopped earlier.
    n_samples_, n_features_in_, feature_names_in_ : int, int, ndarray
        People tested, features, and their names where `X` has names.
    excluded_ : DataFrame
        People left out because a feature is missing.
    fair_metrics_ : list
        The fitted fair metrics, one per fold.
    feature_scale_ : ndarray of shape (`n_features_in_`,) or None
        Units of the features.
    solver_report_ : dict
        The solver and gradient used, and how far people moved.

    See Also
    --------
    FairnessTest : The test of group fairness.
    SensitiveSubspace : The default fair metric.

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
    13.03, at least 11.38
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    _display: ClassVar[str] = "LossRatioDisplay"
    _not_written: ClassVar[tuple[str, ...]] = ("_model", "_starts", "_unfair", "_truth")
    _shows_people = True
    _reported: ClassVar[tuple[str, ...]] = (
        "verdict", "p_value", "rejected", "concern", "statistic", "standard_error", "lower_bound",
        "confidence_interval", "n_samples", "excluded", "traces", "solver_report",
    )  # fmt: skip

    estimator: Any = field(default=None, kw_only=False)
    fair_metric: Any = "sensitive_subspace"
    statistic: str = "auto"
    tolerance: float = 1.25
    regularization: float = 50.0
    steps: Any = None
    solver: str = "implicit"
    gradient: Any = "auto"
    loss: Any = "auto"
    feature_ranges: Any = "observed"
    feature_scale: Any = "std"
    confidence_level: float = 0.95

    @classmethod
    def as_published(cls, estimator: Any, **params: Any) -> IndividualFairnessTest:
        """Return the test with the settings of the paper: features move freely, in the units of X, by forward Euler.

        Parameters
        ----------
        estimator : fitted estimator
            The model.
        **params
            Other parameters of the test; they override the paper's.

        Returns
        -------
        IndividualFairnessTest
            The test, not fitted, with ``fair_metric=SensitiveSubspace(level=None)``, ``statistic="loss_ratio"``,
            ``solver="euler"`` (500 steps of 0.01), ``feature_ranges="free"``, ``feature_scale=None`` and
            ``regularization=50``, as for Adult.
        """
        published = {
            "fair_metric": SensitiveSubspace(level=None), "statistic": "loss_ratio", "solver": "euler",
            "feature_ranges": "free", "feature_scale": None,
        }  # fmt: skip
        return cls(estimator, **{**published, **params})

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> IndividualFairnessTest:
        """Move people to their unfair examples and test how much larger the model's loss is there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features that the estimator predicts from, in any kind of table: numbers, and columns of text or
            categories.
        y : array-like of shape (n_samples,)
            True labels or targets.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`, optional
            One or several columns of length n_samples, from which a fair metric that is not fitted yet learns who is
            similar. They need not be columns of X.

        Returns
        -------
        IndividualFairnessTest
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable, the fair metric does not match the number of features, the flow
            diverges, or the statistic is not defined. The message says what is wrong, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        X, y, given = given_to_fit(X, y, {"sensitive_features": sensitive_features})
        steps, level = self._check(), 1 - float(self.confidence_level)
        estimator = checked_model(self.estimator)
        kind = kind_of(estimator, self.loss)
        people = people_of(X, y, given["sensitive_features"], numbers=kind == "regressor", estimator=estimator)
        features = people.features
        loss, truth, classes = read_truth(estimator, self.loss, self.statistic, kind, people.y_true)
        ranges = ranges_of(self.feature_ranges, features)
        scale = scale_of(self.feature_scale, features, ranges)
        similar = similarity(self.fair_metric, people, scale, level)
        model = audited(Model(estimator, features, loss, scale, ~ranges.frozen), self.gradient, truth, kind, classes)
        if not similar.metrics:  # no pairs are known to be similar: no one moves
            model = replace(model, movable=np.zeros_like(model.movable))
        x = features.values
        statistic, because = choose(
            self.statistic, loss, model.way, check_losses(model, model.in_units_of_audit(x), truth)
        )
        errors, searched = statistic == "error_rate_ratio", model.way == "search"
        free = free_choices(ranges, similar.matrices, x, scale)
        worst = worst_levels(model, free, x, truth)
        limited = ranges.blocks or ranges.levels or np.isfinite([ranges.low, ranges.high]).any()
        flow = Flow(
            "search" if searched else self.solver, steps, float(self.regularization), ranges,
            np.unique(np.rint(np.geomspace(1, CANDIDATES if searched else len(steps), LOOKS)).astype(np.intp)),
            Neighbours.of(features.values, scale) if limited else None,
        )  # fmt: skip
        pull = self.regularization * max(metric.holding(ranges.frozen).largest for metric in similar.matrices)
        if flow.solver == "euler" and (product := float(steps.max() * pull)) >= 1:
            warn(
                f"steps of {steps.max():g} are too long for regularization={self.regularization:g}: their product "
                f"(times the largest eigenvalue of the fair metric) is {product:.3g}, and from 1 on forward Euler is "
                f"unstable. Use solver='implicit', which is stable, or steps below {1 / pull:.3g}"
            )

        def move_some(some: Any, matrices: list[Any], folds: NDArray[np.intp]) -> Moved:
            return move(model, matrices, folds, flow, x[some], worst[some], truth.take(some), errors=errors)

        moved, variance = move_some(slice(None), similar.matrices, similar.folds), 0.0
        if similar.uncertain:

            def values(some: NDArray[np.intp], matrices: list[Any], folds: NDArray[np.intp]) -> list[float]:
                ends = np.split(move_some(some, matrices, folds).judged[:, [0, -1]], len(matrices))
                return [audit_value(statistic, *each.T, tolerance=1.0, confidence_level=0.95).estimate for each in ends]

            variance = variance_of_learning(
                similar, people, lambda some: scale_of(self.feature_scale, some, ranges), values
            )
        self._statistic = SequentialStatistic(
            statistic, moved.judged, flow.checkpoints,
            np.full(len(flow.checkpoints), steps.sum()) if searched else np.cumsum(steps)[flow.checkpoints - 1],
            float(self.tolerance), float(self.confidence_level), variance, GROUPS - 1,
        )  # fmt: skip
        self._model, self.traces_, self.fair_metrics_ = model, similar.traces, similar.metrics
        self.feature_scale_, unfair = scale, moved.x
        found = self._statistic.at(-1) if similar.metrics else NOTHING
        self.statistic_, self.standard_error_ = found.estimate, found.standard_error
        self.lower_bound_, self.confidence_interval_ = found.lower_bound, found.interval
        self.p_value_ = found.p_value
        self.rejected_ = self.concern_ = bool(self.p_value_ <= level)
        self.verdict_ = "unfair" if self.concern_ else "no_trace" if np.isnan(self.p_value_) else "not_rejected"
        self._set_people(people, truth, flow, moved)
        low, high = features.values.min(axis=0), features.values.max(axis=0)
        excess = np.maximum(unfair - high, low - unfair) / np.where(high > low, high - low, 1.0)
        about = statistic, moved.losses, self.p_value_, level, float(excess.max())
        self._doubts = doubts_about(*about) if similar.metrics else ()
        self.solver_report_ = {
            "because": model.why,
            "statistic_because": because,
            "gradient": model.way,
            "statistic": statistic,
            "loss": loss.name,
            "loss_unit": loss.unit,
            "n_directions": max(len(matrix.free_directions) for matrix in similar.matrices),
            "n_folds": len(similar.metrics),
            "sd_of_learning": float(np.sqrt(variance)),
            "n_steps": len(steps),
            "time": float(steps.sum()),
            "n_people_outside": int((excess > 1e-9).any(axis=1).sum()),
            "n_held_back": int(moved.held.sum()),
        }
        self._keep_parameters()
        for doubt in self._doubts:
            warn(doubt)
        return self

    def _check(self) -> Floats:
        """Check what can be checked without people, and return the sizes of the steps."""
        check_choice("statistic", self.statistic, ("auto", *STATISTICS))
        check_choice("solver", self.solver, tuple(_STEPS))
        check_number("tolerance", self.tolerance, 0, bounds="()")
        check_number("regularization", self.regularization, 0)
        check_running(self.confidence_level, None, 0)
        given = _STEPS[self.solver] if self.steps is None else self.steps
        if isinstance(given, tuple) and len(given) == 2 and is_integer(given[0]) and given[0] >= 1:
            given = np.full(given[0], given[1]) if is_number(given[1]) else given
        sizes = finite_numbers(given)
        if not len(sizes) or not (sizes > 0).all() or isinstance(given, tuple):
            raise ParameterError(
                "steps must be (number, size), such as (25, 0.2), or an array of sizes, all of them above 0; found "
                f"{self.steps!r}"
            )
        return sizes

    def _fitted_model(self) -> Model:
        """The model, which a record does not hold."""
        check_is_fitted(self)
        if "_model" not in vars(self):
            raise AttributeError("a test that was read from JSON does not hold the model: fit again")
        return self._model

    @property
    def path_(self) -> pd.DataFrame:
        """The statistic and its lower bound if the flow had been stopped earlier."""
        check_is_fitted(self)
        path = self._statistic.path()
        return path if self.verdict_ != "no_trace" else path.head(0)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per person.

        Returns
        -------
        DataFrame
            ``person`` (the label of the row of X, or its position), ``label`` (the true label or target),
            ``loss_before``, ``loss_after``, ``loss_ratio``, ``distance`` (the fair distance that the person was moved)
            and ``displacement`` (the Euclidean one), both in units of the audit; and ``plausibility`` of the unfair
            example: the share of people who are farther from all others, in all features together, than it is
            from all others; NaN if all features are free.
        """
        check_is_fitted(self)
        return pd.DataFrame(self._columns)

    def most_unfair(self, k: int = 10, *, n_features: int | None = None) -> pd.DataFrame:
        """Return the people whose loss grows most, and the changes in features that make it grow.

        Growth is the ratio of the losses or, if the statistic is a ratio of means or of error rates, their difference.

        Parameters
        ----------
        k : int, default=10
            How many people.
        n_features : int, optional
            How many features of each person, those that matter most; None: all that change.

        Returns
        -------
        DataFrame
            One row per person and feature, the worst person first and the feature that matters most first: ``person``,
            ``loss_ratio``, ``feature``, ``before`` and ``after`` in the units of X, ``change``, and ``loss_increase``,
            the amount by which the loss at the unfair example falls if this feature alone is set back.

        Raises
        ------
        ValueError
            If `k` or `n_features` is not an integer of at least 1.
        """
        model = self._fitted_model()
        check_number("k", k, 1, whole=True)
        check_number("n_features", n_features, 1, whole=True, optional=True)
        growth = self.loss_ratios_
        if self._statistic.statistic in OF_MEANS:
            growth = self._columns["loss_after"] - self._columns["loss_before"]
        changed = changes(model.inputs, self._starts, self._unfair)
        columns, parts = dict(model.inputs.groups), []
        for place in np.argsort(-growth, kind="stable")[:k]:
            part = changed[changed["place"] == place]
            back = np.tile(self._unfair[place], (len(part) + 1, 1))
            for row, name in zip(back, part["feature"], strict=False):
                row[list(columns[name])] = self._starts[place, columns[name]]
            truth = self._truth.take(np.full(len(back), place))
            losses = model.losses(model.in_units_of_audit(back), truth)
            part = part.assign(loss_increase=losses[-1] - losses[:-1])
            parts.append(part.sort_values("loss_increase", ascending=False, kind="stable").head(n_features))
        found: pd.DataFrame = pd.concat(parts, ignore_index=True)
        for name in ("loss_ratio", "person"):
            found.insert(0, name, self._columns[name][found["place"]])
        return found.drop(columns="place")

    def changed_features(self) -> pd.DataFrame:
        """The columns of X that changed, in which way, and for how many people.

        Returns
        -------
        DataFrame
            One row per feature and way in which it changed, the most frequent first: ``feature``, ``change`` ("up",
            "down", or from one category to another), ``n_people``, ``mean_change`` of numbers, and ``worse``, the
            share of these people whose loss grew.
        """
        changed = changes(self._fitted_model().inputs, self._starts, self._unfair)
        size = pd.to_numeric(changed["change"], errors="coerce")
        changed["mean_change"], changed["worse"] = size, self.loss_ratios_[changed["place"]] > 1
        changed["change"] = np.where(size > 0, "up", np.where(size < 0, "down", changed["change"]))
        ways = changed.groupby(["feature", "change"])
        found = ways.agg(n_people=("place", "size"), mean_change=("mean_change", "mean"), worse=("worse", "mean"))
        ordered: pd.DataFrame = found.sort_values("n_people", ascending=False, kind="stable").reset_index()
        return ordered

    def sentences(self) -> tuple[str, ...]:
        """Return the report in sentences: the verdict first, then its basis, and how it was found.

        Returns
        -------
        tuple of str
            The sentences; none is about an individual person.
        """
        check_is_fitted(self)
        report = self._report()
        lines = [str(line) for part in report.parts for line in part.findings]
        return report.verdict, *report.remarks, *map("Null hypothesis: {}".format, report.hypotheses), *lines

    def _made(self) -> Report:
        return individual_report(self)

    def __sklearn_tags__(self) -> Tags:
        """Declare that X is a table of numbers and categories."""
        tags = super().__sklearn_tags__()
        given = tags.input_tags
        given.one_d_array, given.two_d_array, given.sparse = False, True, False
        given.string, given.categorical = True, False
        return tags

    def _set_people(self, people: People, truth: Truth, flow: Flow, moved: Moved) -> None:
        """Set the results of each person in the caller's order."""
        features, unfair, back = people.features, moved.x, np.argsort(people.order)
        self.n_samples_, self.n_features_in_ = len(features), len(features.groups)
        self.__dict__.pop("feature_names_in_", None)
        if features.names_in is not None:
            self.feature_names_in_ = np.array(features.names_in, dtype=object)
        self.excluded_ = people.excluded
        self.unfair_examples_ = features.take(back).rebuild(unfair[back])
        self._starts, self._unfair, self._truth = features.values[back], unfair[back], truth.take(back)
        columns = {
            "person": people.names,
            "label": truth.labels,
            "loss_before": moved.losses[:, 0],
            "loss_after": moved.losses[:, -1],
            "loss_ratio": ratios(moved.losses[:, 0], moved.losses[:, -1]),
            "distance": moved.distance,
            "displacement": np.linalg.norm(self._model.in_units_of_audit(unfair - features.values), axis=1),
            "plausibility": np.full(len(features), np.nan)
            if flow.neighbours is None
            else flow.neighbours.plausibility(flow.neighbours.distances(unfair, features.values)),
        }
        self._columns = {name: column[back] for name, column in columns.items()}
        self.loss_ratios_ = self._columns["loss_ratio"]
