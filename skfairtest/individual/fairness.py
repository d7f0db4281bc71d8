"""The test of individual fairness of one model: whether it treats similar people differently."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import with_parameters
from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.individual._audited import Audited
from skfairtest.individual._learning import GROUPS, variance_of_direction
from skfairtest.individual._levels import changed_alone
from skfairtest.individual._parameters import OF_MEANS
from skfairtest.individual._people import UNUSUAL, functions_of_others, outside_ranges
from skfairtest.individual._plan import Plan, moved_by, nobody_moved, planned
from skfairtest.individual._statistics import NOTHING, SequentialStatistic, doubts_about
from skfairtest.individual._unfair import Moved, Starts, changed_features, changes
from skfairtest.individual.flow.audit_value import AuditValue, ratios
from skfairtest.individual.report import IndividualSetup, individual_report, individual_sentences
from skfairtest.individual.sensitive_subspace import NoGroupsError
from skfairtest.readers import given_to_fit
from skfairtest.report.mixin import ReportMixin
from skfairtest.report.report import Report

#: The setting of the paper.
_PUBLISHED: dict[str, Any] = {
    "statistic": "loss_ratio", "regularization": 50.0, "n_steps": 500, "step_size": 0.01, "solver": "euler",
    "feature_ranges": "free", "feature_scale": None, "require_trace": False,
}  # fmt: skip


@with_parameters
class IndividualFairnessTest(ReportMixin):
    """Test whether a model treats similar people differently: how much larger its error is for someone almost like you.

    Null hypothesis: in the population that the people were drawn from, the loss at the *unfair example* is on average
    at most `tolerance` times the loss at the person. The unfair example is the end point of a flow that starts at the
    person, raises the model's loss and is held back by the fair distance: a similar person about whom the model errs
    more (equation 2.6 of the paper). Given the fair metric and the units, it depends on the person alone. Ratios of
    different people are therefore independent, and the test controls the false-positive rate in large samples,
    whichever `gradient`, `solver` and number of steps found the examples. These settings affect how much unfairness is
    found, so a test that does not reject does not prove fairness. If the metric is learned, the null hypothesis is
    about the learned metric (or those of the folds), not about the metric that the whole population would give.

    Parameters
    ----------
    estimator : fitted estimator
        A classifier or a regressor; the test never fits it. It must not have been trained on the people tested.
    fair_metric : {"sensitive_subspace"} or transformer, default="sensitive_subspace"
        Who is similar: d(x, x') is the Euclidean distance of x and x' after ``transform``. `SensitiveSubspace`,
        `Projection`, `Mahalanobis`, or any affine transformer. A fitted transformer is used as it
        is.
    statistic : {"auto", "loss_ratio", "error_rate_ratio", "ratio_of_means"}, default="auto"
        "loss_ratio": the mean of the ratios (the paper's equation 3.4). "error_rate_ratio": the ratio of error rates
        (its section 3.2). "ratio_of_means": the ratio of mean losses, which a few people with tiny losses cannot
        dominate. "auto": the mean of ratios if its expectation is
        finite and nobody's initial loss is close to zero, otherwise the ratio of mean losses;
        ``solver_report_["statistic_because"]`` gives the reason.
    tolerance : float, default=1.25
        The largest ratio that does not count as a violation. The default is the reciprocal of the four-fifths rule's
        0.8.
    regularization : float, default=50.0
        lambda, the weight of the squared fair distance.
    n_steps : int, optional
        Number of steps of the flow or, for a search, of candidates per person. None: 25 implicit steps, 500 steps of
        the other solvers, 64 candidates.
    step_size : float, optional
        None: 0.2 for implicit steps, 0.01 for others.
    step_decay : float, default=0.0
        Step i has size ``step_size / i**step_decay``. The sum of the sizes is the time for which the flow runs, 5 by
        default. A search moves people as far as the flow would in that time, with the loss smoothed by differences over
        a quarter of a unit.
    solver : {"implicit", "euler", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"}, default="implicit"
        "implicit": steps that are implicit in the distance, stable for any step size. "euler": forward Euler, as
        published, stable for short steps only. Both move all people at once. The others are methods of
        ``scipy.integrate.solve_ivp``, run person by person for the same time, as a reference.
    gradient : {"auto", "analytic", "autograd", "finite_differences", "search"} or callable, default="auto"
        How the direction is found: from a closed form, by torch, by central differences, or by a search without
        derivatives, for models that are constant almost everywhere, such as forests. "auto" is the first of these that
        is possible. A function ``gradient(X, y)`` returns the derivative of each person's loss, in the shape of X.
    loss : {"auto", "log_loss", "zero_one_loss", "squared_error", "absolute_error"}, tuple or callable, default="auto"
        Log loss for classifiers, with probabilities no closer to 0 and 1 than 2.2e-16, as in scikit-learn; squared
        error for regressors. Errors are in standard deviations of `y` among the people tested, so that a step means the
        same whatever the unit of `y`; ``("squared_error", unit)`` sets a unit that does not depend on these people. Or
        ``loss(y_true, y_pred)``, one number of at least 0 per person; y_pred is ``predict_proba``,
        ``decision_function`` or ``predict``, the first that the model has.
    cross_fit : bool or int, default=True
        Whether a fair metric is learned on folds other than the one it is used on (True: 5 folds). The folds depend on
        the people's values, not on the order of the rows.
    feature_ranges : {"observed", "free"} or mapping, default="observed"
        Which people are possible. The flow moves people through all real numbers; the unfair example is the possible
        person nearest to where the flow ends. "observed": numbers stay within the range of the people tested, columns
        with few distinct values take only these, and neighbouring columns of zeros and ones that sum to 1 are one
        choice. "free": no restriction, so that half a category is allowed too, as in the paper.
        ``{"age": (18, 90), "sex": "frozen", ("job_a", "job_b"): "one_hot", "wage": "free"}`` sets some features; the
        others are as observed.
    min_plausibility : float, default=0.01
        Unfair examples do not get more unusual than this, in all features together: those who would end farther from
        everybody else than all but this share of real people are, and farther than at the start, go only that part of
        the way where this is not so. 0: nobody is kept back. Not used with ``feature_ranges="free"``, nor where a
        category changes alone.
    derived : mapping of str or int to callable, optional
        Columns of `X` that are functions of the others, and follow them wherever people are moved, such as
        ``{"loan_to_price": lambda X: X["loan"] / X["price"]}``. A function takes a table like `X` and returns
        the column. A fair metric that is learned ignores these columns, and derivatives are differences. Numbers that
        are nearly functions of others, and not named here, are listed in the result: they were not moved along.
    feature_scale : {"std", None}, mapping or array-like, default="std"
        The size of one unit of each feature, for distances and steps. "std": the standard deviations of the people
        tested; for the columns of a choice, the square roots of its shares (the chi-squared distance, which is the same
        however the choice is encoded). None: the units of `X`, as in the paper. Or given numbers.
    require_trace : bool, default=True
        Whether a metric that is learned from sensitive features has to have something to learn. `X` is first tested for
        a trace of each sensitive feature: out of fold, does it predict the feature better than chance (a permutation
        test; Bonferroni for several features)? Where it does not, no direction is learned from that feature; if none
        is left, nothing is tested and ``verdict_`` is "no_trace". `SensitiveSubspace` then keeps the coefficients that
        are significant (its `level`). False: every regression gives a direction, of noise as well, as in the paper.
    confidence_level : float, default=0.95
        Confidence level of the interval; one minus it is the level of the test, and of the search for a trace.
    random_state : int, RandomState, Generator or None
        Seed of the candidates of a search; None: always the same candidates. Nothing else is random.
    n_jobs : int, optional
        Number of processes; each works on 1,024 people at a time. The result does not depend on it.
    verbose : int, default=0
        Above 0, a test that takes more than a second shows its progress.

    Attributes
    ----------
    verdict_ : {"unfair", "not_rejected", "no_trace"}
        "no_trace": `X` holds no trace of the sensitive features, so it is not known who is similar. Nothing was tested,
        nobody was moved, and numbers are NaN; it is no evidence of fairness.
    p_value_ : float
        One-sided p-value of the null hypothesis.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``; False with "no_trace", which is neither passed nor failed. If the verdict
        depends on unfair examples outside the range of the people tested, the first sentence of ``print(test)`` says
        so.
    statistic_ : float
        S_n, the estimate.
    lower_bound_ : float
        T_n, the one-sided lower confidence bound of the ratio in the population. The test rejects if it exceeds
        `tolerance`.
    confidence_interval_ : tuple of float
        Two-sided confidence limits. If the metric was learned, and `require_trace` is true, they are about the value of
        the metric and units that the whole population would give: they add how much the statistic varies with what
        was learned (a jackknife: ten groups of people are left out in turn, and 250 people moved by each metric).
        `standard_error_`, `lower_bound_` and `p_value_` are given the metrics that were learned.
    standard_error_ : float
        Standard error of the estimate; standard deviations have the divisor n.
    attained_level_ : float
        The actual rejection rate of the test, with this number of people, for a model exactly at the tolerance,
        estimated from the skewness of the losses. It exceeds the nominal level if a few people are harmed much less
        than the others.
    traces_ : DataFrame
        One row per sensitive feature that was searched for: ``feature``; ``measure`` ("AUC", the mean over levels, or
        "correlation" of a number) and ``value``, of predictions out of fold; ``p_value`` of the null hypothesis that
        the feature is independent of X; ``found``.
    changed_alone_ : DataFrame
        One row per sensitive feature that is a column of X, and what changing it alone does, at each person's worst
        other level: ``feature``, ``n_levels``, ``statistic``, ``ci_low``, ``ci_high`` and ``p_value`` (as of the test);
        ``kind`` of what the model says ("decision", "label" or "prediction") and ``outcome``, the upper decision;
        ``n_changed`` and ``changed``, number and share of people for whom it changes at some level, with
        ``changed_ci_low`` and ``changed_ci_high`` (Wilson); and the two levels between which the evidence is strongest:
        ``level`` instead of ``other`` raises what the model says (or of labels, makes it wrong) for ``n_up`` people and
        lowers it for ``n_down``, with ``decision_p_value`` of McNemar's exact test (of predictions the sign test), two-
        sided, Bonferroni over pairs of levels.
    loss_ratios_ : ndarray of shape (`n_samples_`,)
        Loss at the unfair example over loss at the person; 1 where both are 0.
    unfair_examples_ : same container and columns as X
        `X` moved; without the people of `excluded_`.
    path_ : DataFrame
        The result if the flow had been stopped earlier, or if a search had tried fewer candidates at the same
        distances: ``n_steps``, ``time``, ``statistic``, ``standard_error``, ``lower_bound``. Choosing a time by looking
        at this path and then testing at that time is multiple testing.
    n_samples_ : int
        People tested.
    excluded_ : DataFrame
        People left out, with the reason: a feature is missing.
    fair_metrics_ : list
        The fitted fair metrics, one per fold.
    solver_report_ : dict
        What was run: ``gradient`` and ``because`` (how directions were found, and why), ``statistic`` and
        ``statistic_because``, ``loss``, ``fair_metric``, ``n_directions`` (how many it leaves free), ``n_folds``,
        ``sd_of_learning`` (of the logarithm of the statistic, over metrics that other people would give), ``solver``,
        ``n_steps``, ``time``, ``regularization``, ``largest_eigenvalue`` of the metric, ``n_unstable_steps`` of forward
        Euler, ``n_features_outside`` and ``n_people_outside`` (that went beyond the range of X), ``rejected_inside``
        (the verdict if they are kept within it), ``n_worse`` (people whose loss grew), mean and largest fair
        ``distance`` and Euclidean ``displacement``, ``n_unusual`` (unfair examples than which at most one real person
        in 100 is farther from everybody else), ``n_held_back`` (by `min_plausibility`), ``functions`` (columns of
        numbers that are nearly functions of others, R squared of at least .99, and were not moved along),
        ``loss_unit``.
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

    x <- x + eta_i [grad loss(f(x), y) - 2 lambda Sigma (x - x_0)] (Euler), or
    x <- x_0 + (I + 2 eta_i lambda Sigma)^-1 [x - x_0 + eta_i grad loss(f(x), y)] (implicit), and
    r = loss(f(x'), y) / loss(f(x_0), y) with x' the nearest possible person to x_T;

    S_n is the mean of r, V_n its standard deviation (divisor n, as in the published code), T_n = S_n - z V_n / sqrt(n)
    with z the normal quantile (equation 3.10). The published code uses z = 1.645 and drops ratios that are not finite;
    here they raise an error that names a statistic that is defined.

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
    13.27, at least 11.59
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    _display: ClassVar[str] = "LossRatioDisplay"
    _reported: ClassVar[tuple[str, ...]] = (
        "verdict", "p_value", "rejected", "concern", "statistic", "standard_error", "lower_bound",
        "confidence_interval", "attained_level", "n_samples", "excluded", "traces", "changed_alone", "solver_report",
    )  # fmt: skip

    estimator: Any = field(default=None, kw_only=False)
    fair_metric: Any = "sensitive_subspace"
    statistic: str = "auto"
    tolerance: float = 1.25
    regularization: float = 50.0
    n_steps: int | None = None
    step_size: float | None = None
    step_decay: float = 0.0
    solver: str = "implicit"
    gradient: Any = "auto"
    loss: Any = "auto"
    cross_fit: bool | int = True
    feature_ranges: Any = "observed"
    min_plausibility: float = 0.01
    derived: Any = None
    feature_scale: Any = "std"
    require_trace: bool = True
    confidence_level: float = 0.95
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

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
            The test, not fitted, with ``feature_ranges="free"``, ``feature_scale=None``, ``statistic="loss_ratio"``,
            ``require_trace=False``, ``solver="euler"``, 500 steps of 0.01 and ``regularization=50``, as for Adult.
        """
        return cls(estimator, **{**_PUBLISHED, **params})

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> IndividualFairnessTest:
        """Move everybody to their unfair example and test how much larger the model's loss is there.

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
        return self._run(self._planned(X, y, sensitive_features))

    def _planned(self, X: Any, y: Any, sensitive_features: Any) -> Plan:
        """Read everything and decide how people are moved."""
        X, y, given = given_to_fit(X, y, {"sensitive_features": sensitive_features})
        try:
            return planned(self, X, y, given["sensitive_features"])
        except NoGroupsError as error:
            raise self._without_groups(str(error), "sex") from error

    def _run(self, plan: Plan) -> IndividualFairnessTest:
        """Move everybody, and set what was found."""
        model, flow, starts, ranges = plan.model, plan.flow, plan.starts, plan.ranges
        features, statistic = plan.people.features, plan.statistic
        moved = moved_by(self, plan) if plan.learned else nobody_moved(model, flow, starts)
        self._statistic = SequentialStatistic(
            statistic,
            moved.losses if moved.wrong is None else moved.wrong,
            flow.checkpoints,
            flow.times,
            model.loss.rounding,
            float(self.tolerance),
            float(self.confidence_level),
            variance_of_direction(self, plan) if plan.learned else 0.0,
            GROUPS - 1,
        )
        self.traces_ = plan.found_traces()
        self.changed_alone_ = changed_alone(model, self._statistic, starts, plan.in_X)
        self._set_found(*(self._statistic.end() if plan.learned else (NOTHING, np.nan)))
        # What did not move keeps its last digit, whatever it was divided by on the way.
        unfair = ranges.nearest(model.in_units_of_X(moved.z), features.values)
        unfair = np.where(moved.z == starts.z, features.values, unfair)
        self._set_people(plan, moved, unfair)
        self.feature_scale_ = plan.scale
        own = np.isin(np.arange(unfair.shape[1]), ranges.derived, invert=True)  # columns that follow no others
        n_outside, outside, farthest = outside_ranges(features.values[:, own], unfair[:, own])
        held = None
        if outside.any():
            held = self._held_inside(
                model, starts, moved, np.clip(unfair, features.values.min(0), features.values.max(0))
            )
        alpha = 1 - self.confidence_level
        doubts: tuple[str, ...] = ()
        if plan.learned:
            doubts = doubts_about(
                statistic, moved, self.loss_ratios_, self.p_value_, alpha, self.attained_level_, farthest
            )
        outsiders = n_outside, int(outside.sum()), held
        self._set_report(plan, outsiders, int(moved.held.sum()), doubts)
        self._keep_parameters()
        for doubt in doubts:
            warn(doubt)
        return self

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
            example: the share of people who are farther from everybody else, in all features together, than it is
            from everybody but the person; NaN where features are free and nobody needs to be possible.
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
        check_is_fitted(self)
        for name, value in (("k", k), ("n_features", n_features)):
            if value is not None and (not is_integer(value) or value < 1):
                raise ParameterError(f"{name} must be an integer of at least 1; found {value!r}")
        people = self._columns
        growth = self.loss_ratios_
        if self._setup.statistic in OF_MEANS:
            growth = people["loss_after"] - people["loss_before"]
        worst = np.argsort(-growth, kind="stable")[:k]
        return changes(self._model, self._starts, self._unfair, self._truth, people, worst, n_features)

    def changed_features(self) -> pd.DataFrame:
        """The columns of X that changed, in which way, and for how many people.

        Returns
        -------
        DataFrame
            One row per feature and way in which it changed, the most frequent first: ``feature``, ``change`` ("up",
            "down", or from one category to another), ``n_people``, ``mean_change`` of numbers, and ``worse``, the
            share of these people whose loss grew.
        """
        check_is_fitted(self)
        return changed_features(self._model.inputs, self._starts, self._unfair, self.loss_ratios_)

    def sentences(self) -> tuple[str, ...]:
        """Return the report in sentences: the verdict first, then its basis, how it was found, and what changed.

        Returns
        -------
        tuple of str
            The sentences; none is about an individual person.
        """
        check_is_fitted(self)
        return individual_sentences(self)

    def _title(self) -> str:
        return f"Individual fairness of {label(type(self._model.estimator).__name__)}"

    def _made(self) -> Report:
        return individual_report(self)

    def __getattr__(self, name: str) -> Any:
        """Say of what a record does not hold that it takes another fit."""
        why = ", which was read from JSON, without the people: fit again" if "_kept" in vars(self) else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}", name=name, obj=self)

    def _facts(self) -> dict[str, Any]:
        """The attributes of a record: of single people their loss ratios."""
        kept = {*(f"{name}_" for name in (*self._reported, "loss_ratios")), "_setup", *self.get_params()}
        return {name: value for name, value in super()._facts().items() if name in kept}

    def __sklearn_tags__(self) -> Tags:
        """Declare that X is a table of numbers and categories."""
        tags = super().__sklearn_tags__()
        given = tags.input_tags
        given.one_d_array, given.two_d_array, given.sparse = False, True, False
        given.string, given.categorical = True, False
        return tags

    def _held_inside(self, model: Audited, starts: Starts, moved: Moved, x: Floats) -> bool:
        """Whether the test also rejects if nobody ends outside the range of the people tested."""
        z = model.in_units_of_audit(x)
        after = model.losses(z, starts.truth) if moved.wrong is None else model.wrong(z, starts.truth)
        values = np.column_stack([self._statistic.values[:, 0], after])
        try:
            found, _ = replace(self._statistic, values=values).end()
        except ValueError:
            return False
        return bool(found.p_value <= 1 - self.confidence_level)

    def _set_found(self, found: AuditValue, level: float) -> None:
        """Set the statistic and what follows from it."""
        self.statistic_, self.standard_error_ = found.estimate, found.standard_error
        self.lower_bound_, self.confidence_interval_ = found.lower_bound, found.interval
        self.p_value_ = found.p_value
        self.rejected_ = self.concern_ = bool(self.p_value_ <= 1 - self.confidence_level)
        self.verdict_ = "unfair" if self.concern_ else "no_trace" if np.isnan(self.p_value_) else "not_rejected"
        self.attained_level_ = level

    def _set_people(self, plan: Plan, moved: Moved, unfair: Floats) -> None:
        """Set what was found about each person."""
        people, starts, neighbours = plan.people, plan.starts, plan.flow.neighbours
        features = people.features
        self.n_samples_, self.n_features_in_ = len(features), len(features.groups)
        self.__dict__.pop("feature_names_in_", None)
        if features.names_in is not None:
            self.feature_names_in_ = np.array(features.names_in, dtype=object)
        self.excluded_ = people.excluded
        self.unfair_examples_ = features.rebuild(unfair)
        self.loss_ratios_ = ratios(moved.losses[:, 0], moved.losses[:, -1])
        self._starts, self._unfair, self._truth = features.values, unfair, starts.truth
        self._columns = {
            "person": people.names,
            "label": starts.truth.labels,
            "loss_before": moved.losses[:, 0],
            "loss_after": moved.losses[:, -1],
            "loss_ratio": self.loss_ratios_,
            "distance": moved.distance,
            "displacement": np.linalg.norm(moved.z - starts.z, axis=1),
            "plausibility": np.full(len(features), np.nan)
            if neighbours is None
            else neighbours.plausibility(neighbours.distances(unfair, features.values)),
        }

    def _set_report(
        self, plan: Plan, outside: tuple[int, int, bool | None], n_held: int, doubts: tuple[str, ...]
    ) -> None:
        """Set what was run."""
        model, flow, metrics, people = plan.model, plan.flow, plan.metrics, self._columns
        self._model, self.fair_metrics_ = model, metrics
        self.solver_report_ = {
            "gradient": model.way,
            "because": model.why,
            "statistic": self._statistic.statistic,
            "statistic_because": plan.because,
            "loss": model.loss.name,
            "loss_unit": model.loss.unit,
            "fair_metric": plan.metric_name,
            "n_directions": plan.n_directions,
            "n_folds": len(metrics),
            "sd_of_learning": float(np.sqrt(self._statistic.variance)),
            "solver": flow.solver,
            "n_steps": len(flow.steps),
            "n_candidates": flow.n_candidates if flow.solver == "search" else None,
            "time": flow.time,
            "regularization": flow.regularization,
            "largest_eigenvalue": flow.largest,
            "n_unstable_steps": flow.n_unstable,
            "n_features_outside": outside[0],
            "n_people_outside": outside[1],
            "rejected_inside": outside[2],
            "n_worse": int((people["loss_after"] > people["loss_before"]).sum()),
            "mean_distance": float(people["distance"].mean()),
            "max_distance": float(people["distance"].max()),
            "mean_displacement": float(people["displacement"].mean()),
            "max_displacement": float(people["displacement"].max()),
            "n_unusual": None if flow.ranges.free else int((people["plausibility"] <= UNUSUAL).sum()),
            "n_held_back": n_held,
            "functions": [] if flow.ranges.free else functions_of_others(plan.people.features, flow.ranges),
        }
        alpha, tolerance = 1 - float(self.confidence_level), float(self.tolerance)
        self._setup = IndividualSetup(self._statistic.statistic, tolerance, alpha, self._units(), doubts)

    def _units(self) -> str:
        """Say what the map is measured in, where that is estimated from the people tested."""
        units = []
        if self.solver_report_["loss_unit"] is not None:
            estimated = " (the standard deviation of y)" if isinstance(self.loss, str) else ""
            units.append(f"errors in units of {self.solver_report_['loss_unit']:.4g}{estimated}")
        if isinstance(self.feature_scale, str):
            units.append("features in their standard deviations")
        return " and ".join(units)
