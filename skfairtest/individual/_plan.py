"""What is decided before anybody is moved: the people, the model, its loss, who is similar, how far a flow goes.

An ``ExponentiatedGradient`` is tested as the weighted mean of its predictors.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder

from skfairtest._utils.base import seed_sequence
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.individual import _parameters as parameters
from skfairtest.individual._audited import Audited, audited, check_losses
from skfairtest.individual._folds import ranks
from skfairtest.individual._levels import Choice, free_choices, sensitive_choices, worst_levels
from skfairtest.individual._losses import kind_of, read_truth
from skfairtest.individual._metric import FoundTrace, learn, resolve, sensitive_positions, traced
from skfairtest.individual._people import Neighbours, People, people_of, warn_of_units
from skfairtest.individual._statistics import choose
from skfairtest.individual._unfair import Flow, Moved, Starts, checkpoints, move
from skfairtest.individual.flow.quadratic import Quadratic, Ranges
from skfairtest.individual.flow.unfair_map import FlowDivergedError
from skfairtest.individual.models.affine import derives
from skfairtest.individual.models.features import Features
from skfairtest.individual.sensitive_subspace import NoGroupsError
from skfairtest.readers import Column
from skfairtest.readers.levels import listed, plain_scalar
from skfairtest.readers.predictions import path_of, transformers_of


def stand_in(estimator: Any) -> Any:
    """Return the mean of an ``ExponentiatedGradient``, also at the end of a pipeline; other models as they are.

    An ``ExponentiatedGradient`` samples one of its predictors for each prediction: its probability is their weighted
    mean.

    Parameters
    ----------
    estimator : object
        A fitted estimator.

    Raises
    ------
    ValueError
        If the predictors have no probabilities.
    """
    path = path_of(estimator)
    model, steps = path[-1], transformers_of(path)
    if derives(model, "fairlearn", "ExponentiatedGradient") and hasattr(model, "predictors_"):
        return make_pipeline(*steps, _mixture(model)) if steps else _mixture(model)
    return estimator


def _mixture(model: Any) -> VotingClassifier:
    """Return the soft vote that equals an ``ExponentiatedGradient`` on average."""
    weights = np.asarray(model.weights_, dtype=float)
    kept = np.flatnonzero(weights > 0)
    members = [pd.Series(model.predictors_).iloc[place] for place in kept.tolist()]
    lacking = sorted({type(member).__name__ for member in members if not hasattr(member, "predict_proba")})
    if lacking:
        raise ParameterError(
            f"estimator=ExponentiatedGradient() has predictors without predict_proba ({listed(lacking)}): mitigate a "
            "model that has it"
        )
    labels = sorted({plain_scalar(label) for member in members for label in member.classes_})
    full = [member for member in members if len(member.classes_) == len(labels)]
    classes = full[0].classes_ if full else np.array(labels)
    mixture = VotingClassifier([(f"predictor {place}", member) for place, member in zip(kept, members, strict=True)])
    mixture.set_params(voting="soft", weights=weights[kept])
    whole = len(classes)
    mixture.estimators_ = [one if len(one.classes_) == whole else _Sure(one, classes) for one in members]
    mixture.le_, mixture.classes_ = LabelEncoder().fit(classes), np.asarray(classes)
    return mixture


class _Sure:
    """A predictor of one label only, in the columns of all labels."""

    def __init__(self, member: Any, classes: Any) -> None:
        self.member, self.classes_ = member, np.asarray(classes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of all labels."""
        found = np.zeros((len(X), len(self.classes_)))
        found[:, np.isin(self.classes_, self.member.classes_)] = self.member.predict_proba(X)
        return found


@dataclass(frozen=True)
class Plan:
    """A test before anybody is moved.

    Parameters
    ----------
    people : People
        Who is tested.
    ranges : Ranges
        Who is possible.
    scale : ndarray of shape (n_features,) or None
        Units of the audit.
    metrics : list
        Fitted fair metrics, one per fold.
    matrices : list of Quadratic
        What they are in units of the audit.
    folds : ndarray of int
        Which of them judges whom.
    model : Audited
        The model, its loss, and how the direction is found.
    flow : Flow
        How people are moved.
    starts : Starts
        Where they start.
    statistic, because : str
        What is tested, and why.
    traces : tuple of FoundTrace
        Of which sensitive features X holds a trace, where that was tested.
    metric : transformer or None
        The fair metric before it is learned.
    teaching : tuple of Column
        Sensitive features that it is learned from.
    taught : Features
        What it is learned from beside them: the people, with derived columns 0.
    choices : list of Choice
        Categories whose levels cost no fair distance.
    in_X : list of (name, labels, Choice)
        Sensitive features that are columns of X.
    """

    people: People
    ranges: Ranges
    scale: Floats | None
    metrics: list[Any]
    matrices: list[Quadratic]
    folds: NDArray[np.intp]
    model: Audited
    flow: Flow
    starts: Starts
    statistic: str
    because: str
    traces: tuple[FoundTrace, ...]
    metric: Any
    teaching: tuple[Column, ...]
    taught: Features
    choices: list[Choice]
    in_X: list[tuple[str, tuple[str, ...], Choice]]

    @property
    def metric_name(self) -> str:
        """What the fair metric is called."""
        return type(self.metrics[0]).__name__ if self.metrics else "none"

    def found_traces(self) -> pd.DataFrame:
        """Return the traces, as `IndividualFairnessTest.traces_`."""
        rows = [(one.feature, "AUC" if one.labels else "correlation", one.value, one.p_value, one.found)
                for one in self.traces]  # fmt: skip
        names: list[str] = ["feature", "measure", "value", "p_value", "found"]
        return pd.DataFrame(rows, columns=names)

    @property
    def learned(self) -> bool:
        """Whether it is known who is similar; otherwise nothing is tested."""
        return bool(self.metrics)

    @property
    def n_directions(self) -> int:
        """Directions that the fair metric leaves free."""
        return max(len(one.free_directions) for one in self.matrices)


def planned(test: Any, X: Any, y: Any, sensitive_features: Any) -> Plan:
    """Read everything, and decide how people are moved.

    Parameters
    ----------
    test : IndividualFairnessTest
        Its parameters.
    X, y, sensitive_features : object
        As the caller passed them.

    Raises
    ------
    NoGroupsError
        If sensitive features are needed and there are none; the message says what for.
    ValueError
        If a parameter or an input is not usable.
    """
    parameters.check_parameters(test)
    metric = resolve(test.fair_metric)
    estimator = checked_model(test.estimator)
    kind = kind_of(estimator, test.loss)
    people = people_of(X, y, sensitive_features, numbers=kind == "regressor", estimator=estimator)
    features, y_true = people.features, people.y_true
    loss, truth, classes = read_truth(estimator, test.loss, test.statistic, kind, y_true)
    derived = parameters.derived_of(test.derived, features)
    ranges = parameters.ranges_of(test.feature_ranges, features, tuple(derived))
    scale = parameters.scale_of(test.feature_scale, features, ranges)
    if scale is None:
        warn_of_units(features, ranges.frozen)
    codes = np.asarray(y_true.codes if isinstance(y_true, Column) else y_true.values, dtype=float)
    try:
        traces: tuple[FoundTrace, ...] = ()
        teaching = people.sensitive
        # Who is similar does not depend on columns that follow others.
        taught = replace(features, values=np.where(np.isin(np.arange(features.values.shape[1]), list(derived)), 0.0,
                                                   features.values)) if derived else features  # fmt: skip
        if test.require_trace:
            metric, teaching, traces = traced(metric, taught, teaching, 1 - float(test.confidence_level))
        if metric is None:
            metrics: list[Any] = []
            matrices = [Quadratic(np.eye(features.values.shape[1]))]
            folds = np.zeros(len(features), dtype=np.intp)
        else:
            metrics, matrices, folds = learn(metric, taught, codes, teaching, parameters.n_folds(test.cross_fit), scale)
    except NoGroupsError as error:
        what = "the fair metric is learned from what predicts them. Pass one or several columns"
        raise NoGroupsError(what) from error
    movable = ~ranges.frozen & ~np.isin(np.arange(len(ranges.frozen)), list(derived))
    model = Audited(estimator, features, loss, scale, movable, derived=derived)
    model = audited(model, test.gradient, truth, kind=kind, classes=classes)
    flow = _flow(test, model, matrices, ranges)
    if not ranges.free:
        neighbours = Neighbours.of(features.values, scale, np.argsort(ranks(features.values, codes), kind="stable"))
        flow = replace(flow, neighbours=neighbours, least=float(test.min_plausibility))
    starts = Starts(features.values, model.in_units_of_audit(features.values), truth)
    statistic, because = choose(test.statistic, loss, model.way, check_losses(model, starts.z, truth))
    restricted = not (isinstance(test.feature_ranges, str) and test.feature_ranges == "free")
    choices = free_choices(ranges, matrices, features.values, scale) if restricted and metrics else []
    in_X = sensitive_choices(features, people.sensitive, sensitive_positions(metric, features)) if restricted else []
    return Plan(
        people, ranges, scale, metrics, matrices, folds, model, flow, starts, statistic, because,
        traces, metric, teaching, taught, choices, in_X,
    )  # fmt: skip


def checked_model(estimator: Any) -> Any:
    """Return the model that is tested.

    Raises
    ------
    ValueError
        If it is missing, or a class instead of an instance.
    """
    if estimator is None:
        raise ParameterError("estimator is missing: IndividualFairnessTest(model).fit(X, y, ...)")
    if isinstance(estimator, type):
        raise ParameterError(
            f"estimator={estimator.__name__} is a class: fit an instance on people other than those tested, and pass "
            "the instance"
        )
    return stand_in(estimator)


def _flow(test: Any, model: Audited, matrices: list[Quadratic], ranges: Ranges) -> Flow:
    """Set up the map, and warn if its steps are too long."""
    solver = "search" if model.way == "search" else test.solver
    if solver == "search" and test.solver not in ("implicit", "euler"):
        raise ParameterError(
            f"solver={test.solver!r} follows derivatives, and this model has none ({model.why}): leave "
            "solver='implicit'"
        )
    steps = parameters.steps_of(test)
    n_candidates = parameters.CANDIDATES if test.n_steps is None else int(test.n_steps)
    flow = Flow(
        solver,
        steps,
        n_candidates,
        float(test.regularization),
        ranges,
        seed_of(test.random_state) if solver == "search" else 0,
        checkpoints(n_candidates if solver == "search" else len(steps)),
        max(metric.among(model.movable).largest for metric in matrices) if model.movable.any() else 0.0,
    )
    if flow.n_unstable:
        pull = test.regularization * flow.largest
        warn(
            f"step_size={steps[0]:g} is too long for regularization={test.regularization:g}: their product "
            f"(times the largest eigenvalue of the fair metric, {flow.largest:.3g}) is {steps[0] * pull:.3g}, and "
            f"from 1 on forward Euler is unstable, here in {flow.n_unstable:,} of {len(steps):,} steps. Use "
            f"solver='implicit', which is stable, or a step_size below {1 / pull:.3g}"
        )
    return flow


def seed_of(random_state: Any) -> int:
    """Return the seed of a search; without one, always the same."""
    return 0 if random_state is None else int(seed_sequence(random_state).generate_state(1)[0])


def nobody_moved(model: Audited, flow: Flow, starts: Starts) -> Moved:
    """Return everybody where they started, at every checkpoint."""
    losses = np.repeat(model.losses(starts.z, starts.truth)[:, None], 1 + len(flow.checkpoints), axis=1)
    return Moved(starts.z, losses, None, np.zeros(len(losses)), np.zeros(len(losses), dtype=bool))


def moved_by(test: Any, plan: Plan) -> Moved:
    """Move everybody.

    Raises
    ------
    ValueError
        If the flow diverges; the message says what to change.
    """
    flow = plan.flow
    settings = {
        "errors": plan.statistic == "error_rate_ratio", "n_jobs": test.n_jobs, "show": bool(test.verbose),
    }  # fmt: skip
    try:
        moved = move(plan.model, plan.matrices, plan.folds, flow, plan.starts, **settings)
        worst = worst_levels(plan.model, plan.choices, plan.starts) if plan.choices else plan.starts.x
        some = np.flatnonzero((worst != plan.starts.x).any(axis=1))
        if not len(some):
            return moved
        there = Starts(worst[some], plan.model.in_units_of_audit(worst[some]), plan.starts.truth.take(some))
        return moved.or_from(there, some, move(plan.model, plan.matrices, plan.folds[some], flow, there, **settings))
    except FlowDivergedError as error:
        what = "steps" if flow.solver in ("implicit", "euler") else "units of time"
        instead = "; feature_scale='std' if features have different units"
        if test.feature_scale is not None:
            instead = "; a fair metric that was fitted in other units than feature_scale's pulls too hard"
        raise ParameterError(
            f"step_size={flow.steps[0]:g} with regularization={test.regularization:g} diverges: "
            f"{pluralize(error.people, 'unfair example')} ran away within {error.step:g} {what}. Use a smaller "
            f"step_size, fewer n_steps, or feature_ranges that end{instead}"
        ) from error
