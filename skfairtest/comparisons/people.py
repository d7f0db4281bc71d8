"""From a model, predictions or a table of counts to the people of a test."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from sklearn.base import is_regressor

from skfairtest import readers
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, renaming
from skfairtest.comparisons.engine import Compared
from skfairtest.comparisons.measure import cells_read, check_columns
from skfairtest.comparisons.settings import Settings
from skfairtest.metrics import (
    Calibration,
    Distribution,
    Metric,
    ScoreMetric,
    asks_coverage,
    of_numbers,
    of_scores,
    resolve_metrics,
)
from skfairtest.readers.coverage import covered
from skfairtest.report.mixin import ReportMixin
from skfairtest.tables import CountTable, Sample

#: How a model scores, the first that it has.
SCORED = ("predict_proba", "decision_function", "predict")
#: The subject of a test of counts.
FROM_TABLE = "a table of counts"


@dataclass(frozen=True, eq=False)
class Inputs:
    """Data given to a test; `X` holds features of a model, or predictions.

    `columns`: groups, strata, weights and clusters by parameter; `called`: the caller's name of `X`; `call`: a cached
    call of a model that several tests use.
    """

    X: Any
    y: Any
    columns: Mapping[str, Any]
    y_score: Any = None
    predict_params: dict[str, Any] | None = None
    called: str = field(default="X", kw_only=True)
    call: Callable[[Any, str, Any], Any] | None = field(default=None, kw_only=True)

    @classmethod
    def of_fit(cls, X: Any, y: Any, predict_params: dict[str, Any] | None, **columns: Any) -> Self:
        """The arguments of a ``fit``, with columns of `X` in place of their names."""
        X, y, columns = readers.given_to_fit(X, y, columns)
        return cls(X, readers.one_column(y, warned=True), columns, None, predict_params)

    @property
    def groups(self) -> Any:
        """The sensitive features."""
        return self.columns["sensitive_features"]


class GroupsTest(Compared, ReportMixin):
    """A test of groups of people, who come with a model, with predictions or in a table of counts."""

    #: The parameter that holds metrics, and whether scores that are given alone are read as predictions.
    _of: ClassVar[str] = "metric"
    _scores_are_predictions: ClassVar[bool] = True
    #: Why people who are counted, in a table or by an engine, cannot be tested; empty where they can.
    _uncounted: ClassVar[str] = ""
    #: Columns with which there is no such test, with the reason and what to do.
    _refused: ClassVar[Mapping[str, str]] = {}
    random_state: Any
    pos_label: Any
    #: From which score on the positive label is predicted, and by which method the estimator scores, of tests that
    #: have these parameters.
    prediction_threshold: Any = None
    response: str = "auto"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Request metadata that ``fit`` takes and the test does not refuse."""
        taken = [p.name for p in inspect.signature(cls.fit).parameters.values() if p.kind is p.KEYWORD_ONLY]
        requests = dict.fromkeys(("control_features", "sample_weight", "clusters"), False) | dict.fromkeys(taken, True)
        requests |= dict.fromkeys(cls._refused, False)
        setattr(cls, f"_{cls.__name__}__metadata_request__fit", requests)
        super().__init_subclass__(**kwargs)

    @abstractmethod
    def _check(self) -> tuple[Settings, list[Metric] | None]:
        """Check the parameters; return settings and metrics (None: they depend on the predictions)."""

    @abstractmethod
    def _fit_sample(
        self, sample: Sample, settings: Settings, metrics: list[Metric] | None, seed: Any, subject: str
    ) -> Self:
        """Test people; `subject` is what they come from."""

    def _checked(self) -> tuple[Settings, list[Metric] | None]:
        check_choice("response", self.response, ("auto", *SCORED))
        return self._check()

    def _asked(self, y: Any) -> tuple[Sequence[Metric], Set[str]]:
        """The default metrics of scores for the estimator, and the responses that they read."""
        return [], {"y_pred"}

    def _seed(self) -> Any:
        return self.random_state

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
    ) -> Self:
        """Predict with the estimator and test its predictions.

        Parameters
        ----------
        X : array-like
            The features of the estimator; with ``estimator=None`` the predictions, of shape (n_samples,).
        y : array-like of shape (n_samples,), optional
            True labels; None if the metrics need none.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame, mapping, or names of columns of `X`, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each person, at least 0.
        clusters : array-like of shape (n_samples,), optional
            Dependent rows, such as repeated decisions on one person. The null hypothesis is still about the groups'
            values; to test disparities within clusters, pass them as `control_features`.
        predict_params : dict, optional
            Further arguments of ``predict``. A model that predicts from groups, such as fairlearn's
            ``ThresholdOptimizer``, gets those compared, or ``predict_params={"sensitive_features": ...}``.

        Returns
        -------
        self
            The fitted test.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable.
        NotFittedError
            If a scikit-learn estimator is not fitted.
        """
        return self._fit(
            Inputs.of_fit(
                X,
                y,
                predict_params,
                sensitive_features=sensitive_features,
                control_features=control_features,
                sample_weight=sample_weight,
                clusters=clusters,
            )
        )

    def _fit(self, inputs: Inputs) -> Self:
        with renaming("metric", self._of):
            return self._fit_sample(*self._people(inputs))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        **params: Any,
    ) -> Self:
        """Test predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, 1), or None
            True labels; None if the metrics need none.
        y_pred : array-like of shape (n_samples,) or (n_samples, 1), optional
            Predictions: labels or numbers, or scores if the metrics read only scores.
        y_score : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2), optional
            Scores of the positive label, or the result of ``predict_proba`` for two classes.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each person, at least 0.
        clusters : array-like of shape (n_samples,), optional
            Dependent rows, as in `fit`.
        **params
            Parameters of the test.

        Returns
        -------
        test
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

        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 1, 1, 0, 0, 0, 0], sensitive_features={"sex": list("ffffmmmm")}
        ... )
        >>> audit.comparisons_[["metric", "group", "other", "disparity"]]
               metric group other  disparity
        0  selection_rate     f     m        1.0
        """
        return cls._of_predictions(
            y_true,
            y_pred,
            y_score,
            {
                "sensitive_features": sensitive_features,
                "control_features": control_features,
                "sample_weight": sample_weight,
                "clusters": clusters,
            },
            params,
        )

    @classmethod
    def _of_predictions(
        cls, y_true: Any, y_pred: Any, y_score: Any, columns: Mapping[str, Any], params: Mapping[str, Any]
    ) -> Self:
        if params.get("estimator") is not None:
            name = cls.__name__
            raise ParameterError(
                f"estimator is not for from_predictions, which takes predictions: use {name}(estimator).fit(X, y, ...)"
            )
        y_true, y_pred, y_score = (
            readers.one_column(readers.in_memory(values)) for values in (y_true, y_pred, y_score)
        )
        y_true, y_pred = covered(asks_coverage(params.get(cls._of)), y_true, y_pred)
        y_pred, y_score = (
            readers.positive_scores(values, y_true, params.get("pos_label")) for values in (y_pred, y_score)
        )
        if y_score is not None:
            readers.predictions_from_X(y_score, "y_score")
        if y_pred is None and y_score is None:
            raise ParameterError("y_pred is missing: pass the predictions, or y_score for metrics of scores alone")
        decided = params.get("prediction_threshold") is not None
        if decided and y_pred is not None:
            raise ParameterError(
                "prediction_threshold makes predictions from y_score: pass y_score, and leave y_pred out"
            )
        if y_pred is None and cls._scores_are_predictions and not decided:
            y_pred, y_score = y_score, None
        elif y_pred is not None:
            readers.predictions_from_X(y_pred, "y_pred")
        columns = {name: readers.in_memory(values) for name, values in columns.items()}
        test = cls(**params)
        with renaming("metric", cls._of):
            return test._fit_sample(*test._people(Inputs(y_pred, y_true, columns, y_score, called="y_pred")))

    @classmethod
    def from_table(cls, table: CountTable, **params: Any) -> Self:
        """Test counts.

        Parameters
        ----------
        table : CountTable
            Counts with the cells that the metrics read. Scores can replace predictions of metrics that read nothing
            else.
        **params
            Parameters of the test.

        Returns
        -------
        test
            The fitted test, the same as from the rows.

        Examples
        --------
        >>> from skfairtest import FairnessAudit, FairnessTest
        >>> from skfairtest.datasets import load_berkeley
        >>> berkeley = load_berkeley(as_table=True)
        >>> test = FairnessTest.from_table(berkeley, metric="selection_rate")
        >>> round(test.disparity_, 3), round(test.p_value_, 2)
        (0.018, 0.23)
        >>> audit = FairnessAudit.from_table(berkeley, metrics="selection_rate")
        >>> found = audit.comparisons_[audit.comparisons_["concern"]]
        >>> found[["group", "other", "stratum", "disparity"]].round(2)
            group other stratum  disparity
        1  Female  Male       A        0.2
        """
        if cls._uncounted:
            raise ParameterError(cls._uncounted)
        if not isinstance(table, CountTable):
            raise ParameterError(
                f"table must be a CountTable, found {type(table).__name__}: see CountTable.from_counts"
            )
        sample, test = Sample.from_table(table), cls(**params)
        if test.prediction_threshold is not None:
            raise ParameterError(
                "prediction_threshold makes predictions from people's scores, and a table has them counted: count a "
                "column of predictions, such as score >= threshold"
            )
        with renaming("metric", cls._of):
            settings, metrics = test._checked()
            if metrics is not None:
                metrics = metrics if "y_pred" in sample.columns else of_scores(metrics)
                needed = cells_read(metrics, settings)
                if cls._scores_are_predictions and "y_pred" in needed and "y_score" not in needed:
                    sample = sample.with_scores_as_predictions()
                check_columns(sample, metrics, settings)
            return test._fit_sample(sample, settings, metrics, test._seed(), FROM_TABLE)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        y_true: str | None = None,
        y_pred: str | None = None,
        sensitive_features: str | Sequence[str],
        control_features: str | Sequence[str] | None = None,
        sample_weight: str | None = None,
        y_score: str | None = None,
        score_bins: Any = None,
        **params: Any,
    ) -> Self:
        """Test the people of a frame, counted by its engine: they need not fit into memory.

        Parameters
        ----------
        frame : frame
            Of pandas, polars (eager or lazy), pyarrow (a table or a dataset), DuckDB (a relation), PySpark, Dask or
            ibis: one row per person.
        y_true, y_pred : str, optional
            The columns of labels.
        sensitive_features, control_features : str or sequence of str
            The columns of groups and strata.
        sample_weight, y_score, score_bins : optional
            As of `CountTable.from_frame`.
        **params
            Parameters of the test.

        Returns
        -------
        test
            The fitted test: ``from_table(CountTable.from_frame(...))``.

        Examples
        --------
        >>> import polars as pl
        >>> from skfairtest import FairnessTest
        >>> people = pl.LazyFrame({"sex": list("ffffmmmm"), "hired": [1, 1, 1, 1, 0, 0, 0, 0]})
        >>> FairnessTest.from_frame(
        ...     people, y_pred="hired", sensitive_features="sex", metric="selection_rate"
        ... ).p_value_
        0.0078125...
        """
        if cls._uncounted:
            raise ParameterError(cls._uncounted)
        table = CountTable.from_frame(
            frame,
            y_true=y_true,
            y_pred=y_pred,
            sensitive_features=sensitive_features,
            control_features=control_features,
            sample_weight=sample_weight,
            y_score=y_score,
            score_bins=score_bins,
        )
        return cls.from_table(table, **params)

    def _people(self, inputs: Inputs) -> tuple[Sample, Settings, list[Metric] | None, Any, str]:
        settings, metrics = self._checked()
        y, y_score = inputs.y, inputs.y_score
        if hasattr(self.estimator, "__len__") and not hasattr(
            self.estimator, "fit"
        ):  # labels in the place of the model
            readers.check_model(self.estimator)
        if inputs.groups is None:
            raise self._without_groups()
        for name, why in self._refused.items():
            if inputs.columns.get(name) is not None:
                raise ParameterError(f"{name} was given, and {why}")
        seed, inputs = self._seed(), replace(inputs, X=self._features(inputs))
        if metrics is not None and (y_score is not None or any(hasattr(self.estimator, name) for name in SCORED[:2])):
            metrics = of_scores(metrics)
        asked, needed = self._asked(y) if metrics is None else (metrics, cells_read(metrics, settings))
        if metrics is not None and "y_true" in needed and y is None:
            names = ", ".join(metric.name for metric in metrics if "y_true" in metric.reads)
            raise ParameterError(
                f"{'y' if inputs.called == 'X' else 'y_true'} is missing: {names or f'within={settings.within!r}'} "
                f"{'need' if ', ' in names else 'needs'} the true labels; "
                f"{self._of}='selection_rate' does not"
            )
        y_pred, y_score = self._answers(inputs, metrics, asked, needed, seed)
        # A missing label is an error, whichever metric reads it.
        try:
            sample = self._sample(inputs, y_pred, y_score)
        except ParameterError as error:
            if error.parameter == "sensitive_features" and any(metric.needs_pos_label for metric in metrics or ()):
                self._check_pos_label(error, y, y_pred)
            raise
        named = getattr(self, self._of)
        if metrics is not None and of_numbers(named) != named and _predicts_numbers(sample, self.estimator):
            metrics = resolve_metrics(of_numbers(named), settings.question.disparity)
        subject = "predictions" if self.estimator is None else type(self.estimator).__name__
        return sample, settings, metrics, seed, subject

    def _features(self, inputs: Inputs) -> Any:
        """The features for the model, or the predictions; both are checked before metrics are."""
        if self.estimator is None and inputs.called == "X":
            return readers.predictions_from_X(readers.positive_scores(inputs.X, inputs.y, self.pos_label))
        return inputs.X

    def _answers(
        self, inputs: Inputs, metrics: list[Metric] | None, asked: Sequence[Metric], needed: Set[str], seed: Any
    ) -> tuple[Any, Any]:
        """Predictions and scores, of the model or as they were given."""
        X, y, y_score = inputs.X, inputs.y, inputs.y_score
        if self.estimator is not None:
            return self._ask(self.estimator, inputs, asked, needed, self._asking([self.estimator], inputs, seed))
        if self.prediction_threshold is not None:  # a fit's predictions are scores then
            y_score = X if y_score is None else y_score
            y_pred = readers.decisions(y_score, self.prediction_threshold, y_true=y, pos_label=self.pos_label)
            return y_pred, y_score if metrics is None or "y_score" in needed else None
        if y_score is None and needed <= {"y_true", "y_score"} and "y_score" in needed:
            return None, X  # a metric of scores alone takes them as predictions too
        return X, y_score

    def _check_pos_label(self, error: ParameterError, *labels: Any) -> None:
        given = [values for values in labels if values is not None]
        try:
            levels = [level for values in given for level in getattr(readers.read_values(values, "y"), "levels", ())]
            readers.resolve_pos_label(levels, self.pos_label, readers.classes_of(self.estimator))
        except ParameterError as other:
            raise ParameterError(f"{error} Besides, {other}") from None

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        missing = getattr(self, "missing", None)
        return Sample.from_predictions(inputs.y, y_pred, y_score=y_score, missing=missing, **inputs.columns)

    def _ask(
        self, estimator: Any, inputs: Inputs, metrics: Sequence[Metric], needed: Set[str], common: dict[str, Any]
    ) -> tuple[Any, Any]:
        decided = self.prediction_threshold is not None
        y_pred: Any = None
        y_score: Any = None
        if not decided and ("y_pred" in needed or "y_score" not in needed):
            y_pred = readers.predict(estimator, inputs.X, call=inputs.call, **common)
        if decided or "y_score" in needed:
            responses: tuple[str, ...] = SCORED
            names = "prediction_threshold"
            if "y_score" in needed:
                responses, names = responses_asked(metrics)
            if self.response != "auto":
                responses = (self.response,)
            known = {"metric": names, "pos_label": self.pos_label, "y_true": inputs.y}
            known["probabilities"] = decided or self.response == "predict"
            y_score = readers.scores(estimator, inputs.X, responses, **known, **common)
        if decided:
            labels = {"classes": readers.classes_of(estimator), "y_true": inputs.y, "pos_label": self.pos_label}
            y_pred = readers.decisions(y_score, self.prediction_threshold, **labels)
        return y_pred, y_score if "y_score" in needed else None

    def _asking(self, models: Sequence[Any], inputs: Inputs, seed: Any) -> dict[str, Any]:
        # Before a model is asked: it might pair the groups it is handed with other people.
        readers.check_rows(inputs.X, y=inputs.y, **inputs.columns)
        cautions = (readers.unknown_groups(model, inputs.groups, inputs.predict_params) for model in models)
        self._cautions = tuple(dict.fromkeys(filter(None, cautions)))
        return {"sensitive_features": inputs.groups, "predict_params": inputs.predict_params, "random_state": seed}


def _predicts_numbers(sample: Sample, estimator: Any) -> bool:
    """Whether predictions are numbers and no labels: by themselves, or as true values or the model say."""
    if "y_pred" not in sample.columns or sample.columns["y_pred"].numbers is None:
        return False
    for name in ("y_true", "y_pred"):
        if name in sample.columns:
            try:
                readers.check_labels(sample.labels_of(name), name)
            except ParameterError:
                return sample.columns[name].numbers is not None
    return hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator)


def responses_asked(metrics: Sequence[Metric]) -> tuple[tuple[str, ...], str]:
    """The responses that every metric of scores can use, in the first one's order, and the metrics' names."""
    asking = [
        metric
        for metric in metrics
        if isinstance(metric, ScoreMetric | Calibration | Distribution) and "y_score" in metric.reads
    ]
    names = ", ".join(metric.name for metric in asking)
    shared = [r for r in asking[0].responses if all(r in metric.responses for metric in asking)]
    if not shared:
        asked = "; ".join(f"{metric.name}: {' or '.join(metric.responses)}" for metric in asking)
        raise ParameterError(
            f"metric names metrics that need scores of different kinds ({asked}): test them one by one"
        )
    return tuple(shared), names
