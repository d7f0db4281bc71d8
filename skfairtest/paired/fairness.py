"""The test of two models: does a disparity between groups differ between them by more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from skfairtest._utils.base import check_seed
from skfairtest._utils.checks import check_choice, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import compare, settings_of
from skfairtest.comparisons.measure import cells_read
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.group.fairness import FairnessTest
from skfairtest.metrics import Metric, Rate, resolve_metrics
from skfairtest.paired.measure import by_model_frame, compare_in_one_group, disparities_frame
from skfairtest.paired.metric import MODELS, Paired, paired
from skfairtest.paired.record import PairedRecord, paired_row
from skfairtest.paired.report import paired_report
from skfairtest.readers import check_classes, classes_of, is_label, one_column, predictions_from_X
from skfairtest.readers.containers import is_table, split_table
from skfairtest.report.cells import records
from skfairtest.report.report import Report
from skfairtest.tables import PAIRED_NAMES, Sample

ALTERNATIVES = ("two-sided", "greater", "less", "fairer")


class PairedFairnessTest(FairnessTest):
    """Test whether a disparity between groups differs between two models that judge the same people.

    Null hypothesis: the disparity of `metric` between the groups compared is the same under both models. That is, the
    change of the metric from model A to model B is the same in these groups, whatever it is, and however often the
    models disagree in either. Which of the models makes more errors is another question. In one group alone, it is that
    the rate is the same under both models: McNemar's exact test.

    Of a rate whose condition does not depend on the prediction (selection rate, true and false positive rate, accuracy)
    the change is the mean of d = b - a among those who meet the condition, where a and b say whether the event happens
    under each model. It is tested by the score test of two such means, whose p-value is the larger of the normal one
    and that in samples from the most likely distributions that satisfy the null hypothesis. Other metrics (precision,
    F1, ROC AUC, functions of your own) are tested by permuting labels, with the parts of each person in both models'
    linearized errors subtracted, which has the covariance of the models in it.

    Parameters
    ----------
    estimator_a, estimator_b : fitted estimators, optional
        Model A, such as the one in production, and model B, the candidate. They are neither fitted nor copied here.
        None for both: the `X` of `fit` holds the predictions of A and B as two columns.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        As in `FairnessTest`; every metric that has a value of each group, and is compared by differences.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference"}
        As in `FairnessTest`.
    reference_group : label or tuple of labels, optional
        With whom each group is compared: ``compare="to_reference"`` follows.
    alternative : {"two-sided", "greater", "less", "fairer"}, default="two-sided"
        "greater": the disparity, of the group less the other, is greater under model B. "fairer": it is smaller in size
        under model B, in every comparison, for rates whose condition no model decides; `p_value_` then is the largest
        comparison's, `concern_` says that this was not certified, and values are sizes of disparities.
    margin : float, optional
        Only with "fairer": by how much the disparity of model B may be larger in size than that of model A, so that B
        counts as no less fair. None: by nothing, B must be fairer.
    adjust : {"auto", "holm", "bonferroni", "fdr_bh", None}, default="auto"
        As in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    n_resamples : int, default=9999
        Resamples drawn where a null distribution is not enumerated.
    pos_label : label, optional
        The positive label, as in `FairnessTest`.
    prediction_threshold : float, optional
        Predict the positive label from this score on: for models that only give probabilities. None: the models' own
        predictions.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The models' method that gives scores, as of `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Seed of what is drawn, and of the predictions of randomised models.
    n_jobs : int, optional
        Processes among which resamples are divided. The result is the same.
    verbose : int, default=0
        With 1, progress of everything that takes more than a second is shown on standard error.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted comparison.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``: a disparity differs between the models.
    statistic_, disparity_ : float
        Of the comparison that sets `p_value_`; the disparity is that under model B less that under model A.
    confidence_interval_ : tuple of float
        Limits of that comparison's disparity, simultaneous over all comparisons.
    disparities_ : DataFrame
        One row per comparison: ``disparity_a`` and ``disparity_b``, and their ``difference``. Over strata of a metric
        that is no rate they are weighted by what both models' values are divided by on average.
    by_model_ : DataFrame
        The metric's ``value_a`` and ``value_b`` in each stratum and group, and how many people are there (``n``).
    by_group_, comparisons_, excluded_, homogeneity_ : DataFrame
        As of `FairnessTest`; values of groups are changes from model A to model B.
    standardized_differences_ : DataFrame
        Without rows.
    breaking_point_ : DataFrame
        Not there, as the error says: a change of two models is no rate.
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Statistics that were sampled; None where none were.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_`.
    method_, variance_, within_, adjust_ : str or None
        What was run, as of `FairnessTest`.
    n_resamples_ : int
        How many resamples were drawn.
    binning_error_ : float
        0: predictions of two models are not in bins.
    groups_ : list
        Groups, sorted: labels, or tuples of labels.
    pos_label_ : object
        The label counted as positive; None where no metric asks.
    negative_labels_ : list
        The other labels.
    n_samples_, n_unknown_ : int
        People, and 0.

    See Also
    --------
    FairnessTest : The test of one model.

    Notes
    -----
    Comparing two intervals, or two p-values of one model each, is no test of the difference: the same people are behind
    both, and a disparity that is significant under A and not under B may be the same under both.

    References
    ----------
    T. Tango (1998), Statistics in Medicine 17, 891-908. C. J. Lloyd (2008), Australian and New Zealand Journal of
    Statistics 50, 329-345. E. R. DeLong et al. (1988), Biometrics 44, 837-845. C. DiCiccio et al. (2020), Evaluating
    Fairness Using Permutation Tests, KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import PairedFairnessTest
    >>> sex = np.repeat(["f", "m"], 100)
    >>> hired_by_a = np.r_[np.arange(100) < 30, np.arange(100) < 50].astype(int)
    >>> hired_by_b = np.r_[np.arange(100) < 45, np.arange(100) < 52].astype(int)
    >>> test = PairedFairnessTest.from_predictions(
    ...     None,
    ...     hired_by_a,
    ...     hired_by_b,
    ...     sensitive_features={"sex": sex},
    ...     metric="selection_rate",
    ... )
    >>> test.disparities_[["disparity_a", "disparity_b", "difference"]].round(2).values.tolist()
    [[-0.2, -0.07, 0.13]]
    >>> round(test.p_value_, 4)
    0.001
    """

    _models: ClassVar[tuple[str, ...]] = ("estimator_a", "estimator_b")
    _reported: ClassVar[tuple[str, ...]] = (*FairnessTest._reported, "disparities", "by_model")

    def __init__(
        self,
        estimator_a: Any = None,
        estimator_b: Any = None,
        *,
        metric: Any = "equalized_odds",
        compare: str = "between_groups",
        reference_group: Any = None,
        alternative: str = "two-sided",
        margin: float | None = None,
        adjust: str | None = "auto",
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        pos_label: Any = None,
        prediction_threshold: float | None = None,
        response: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator_a = estimator_a
        self.estimator_b = estimator_b
        self.metric = metric
        self.compare = compare
        self.reference_group = reference_group
        self.alternative = alternative
        self.margin = margin
        self.adjust = adjust
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.pos_label = pos_label
        self.prediction_threshold = prediction_threshold
        self.response = response
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: Any,
        y_pred_a: Any = None,
        y_pred_b: Any = None,
        *,
        y_score_a: Any = None,
        y_score_b: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        **params: Any,
    ) -> Self:
        """Test the predictions of two models, without estimators.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,), or None
            True labels; None where the metrics need none.
        y_pred_a, y_pred_b : array-like of shape (n_samples,)
            Predictions of both models for the same people; not needed where the metrics read scores alone.
        y_score_a, y_score_b : array-like of shape (n_samples,), optional
            Scores of the positive label, for metrics that need them beside predictions.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            What each person counts, at least 0.
        clusters : array-like of shape (n_samples,), optional
            Who belongs together.
        **params
            Parameters of the test.

        Returns
        -------
        test
            The fitted test.

        Examples
        --------
        >>> from skfairtest import PairedFairnessTest
        >>> PairedFairnessTest.from_predictions(
        ...     None,
        ...     [0, 0, 0, 0, 0, 0, 0, 0],
        ...     [1, 1, 1, 1, 0, 0, 0, 0],
        ...     sensitive_features=list("aaaabbbb"),
        ...     metric="selection_rate",
        ... ).disparity_
        1.0
        """
        columns = {
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "sample_weight": sample_weight,
            "clusters": clusters,
        }
        said = {"y_pred_a": y_pred_a, "y_pred_b": y_pred_b, "y_score_a": y_score_a, "y_score_b": y_score_b}
        test = cls(**params)
        return test._fit_sample(*test._predicted(y_true, said, columns))

    def _predicted(
        self, y_true: Any, said: Mapping[str, Any], columns: dict[str, Any]
    ) -> tuple[Sample, Settings, list[Metric] | None, Any, str]:
        """Read the predictions of both models."""
        given = [name for name in self._models if getattr(self, name) is not None]
        if given:
            raise ParameterError(
                f"{given[0]} is not for from_predictions, which takes predictions: use "
                f"{type(self).__name__}(model_a, model_b).fit(X, y, ...)"
            )
        said = {name: one_column(values) for name, values in said.items() if values is not None}
        for name, values in said.items():
            predictions_from_X(values, name)
        self._with_groups(columns)
        return self._read(one_column(y_true), said, columns, self._seed())

    @classmethod
    def from_frame(cls, *args: Any, **params: Any) -> NoReturn:
        """Raise an error: engines count the predictions of one model.

        Parameters
        ----------
        *args, **params
            Anything.

        Raises
        ------
        ParameterError
            Always; it says what to do instead.
        """
        raise ParameterError(
            "frame: engines count the predictions of one model. Count y_true and both predictions there, and pass them "
            f"as {cls.__name__}.from_table(CountTable.from_counts(counts, y_true=..., y_pred_a=..., y_pred_b=...))"
        )

    def explain(self, **params: Any) -> NoReturn:
        """Raise an error: a change is not decomposed.

        Parameters
        ----------
        **params
            Anything.

        Raises
        ------
        ParameterError
            Always.
        """
        raise ParameterError("explain decomposes the disparity of one model: use FairnessTest on each model")

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_seed(self.random_state)
        check_choice("alternative", self.alternative, ALTERNATIVES)
        if any(is_label(self.compare, best) for best in ("to_highest", "to_lowest")):
            raise ParameterError(
                f"compare={self.compare!r} chooses a group by one model's values: use compare='to_reference'"
            )
        metrics = [paired(metric) for metric in resolve_metrics(self.metric)]
        if self.alternative != "fairer":
            if self.margin is not None:
                raise ParameterError(
                    f"margin={brief(self.margin)} is by how much the disparity of model B may be larger than that of "
                    f"A: it needs alternative='fairer'; found {self.alternative!r}"
                )
            return settings_of(metrics, self.get_params()), list(metrics)
        margin = 0.0 if self.margin is None else self.margin
        if not is_number(margin) or not 0 <= margin < 1:
            raise ParameterError(f"margin must be a number of at least 0 and below 1; found {brief(self.margin)}")
        if is_label(self.compare, "to_overall"):
            raise ParameterError("compare='to_overall' has no test with alternative='fairer': use compare='to_rest'")
        others = [metric.name for metric in metrics if not metric.is_change]
        if others:
            raise ParameterError(
                f"alternative='fairer' compares rates whose condition no model decides, such as "
                f"'false_positive_rate' and 'selection_rate'; {others[0]} is none"
            )
        settings = settings_of(metrics, {**self.get_params(), "alternative": "two-sided", "margin": None})
        question = replace(settings.question, alternative="equivalence", margin_bounds=(-np.inf, float(margin)))
        return replace(settings, question=question), list(metrics)

    def _people(self, inputs: Inputs) -> tuple[Sample, Settings, list[Metric] | None, Any, str]:
        """Ask both models, or split their predictions."""
        models = {model: getattr(self, f"estimator_{model}") for model in MODELS}
        lacking = [f"estimator_{model}" for model, own in models.items() if own is None]
        if len(lacking) == 1:
            raise ParameterError(
                f"{lacking[0]} is None and the other model is not: pass both models, or neither and their predictions"
            )
        self._with_groups(inputs.columns)
        seed = self._seed()
        if lacking:
            return self._read(inputs.y, _two_columns(inputs.X), inputs.columns, seed)
        settings, metrics = self._checked()
        assert metrics is not None
        needed = cells_read(metrics, settings)
        common = self._asking(list(models.values()), inputs, seed)
        measured = [metric.of for metric in metrics if isinstance(metric, Paired)]
        said: dict[str, Any] = {}
        for model, estimator in models.items():
            asked = {name for name in ("y_pred", "y_score") if f"{name}_{model}" in needed}
            answers = self._ask(estimator, inputs, measured, asked, common)
            said |= {f"{name}_{model}": values for name, values in zip(("y_pred", "y_score"), answers, strict=True)}
        said = {name: values for name, values in said.items() if values is not None}
        return self._read(inputs.y, said, inputs.columns, seed)

    def _with_groups(self, columns: Mapping[str, Any]) -> None:
        """Refuse people without groups."""
        if columns["sensitive_features"] is None:
            raise self._without_groups("the groups to compare", "sex")

    def _read(
        self, y: Any, said: Mapping[str, Any], columns: Mapping[str, Any], seed: Any
    ) -> tuple[Sample, Settings, list[Metric] | None, Any, str]:
        settings, metrics = self._checked()
        assert metrics is not None
        if self.prediction_threshold is not None and self.estimator_a is None:
            raise ParameterError(
                "prediction_threshold makes predictions of models, and here are predictions: pass the decisions, such "
                "as scores_a >= 0.5 and scores_b >= 0.5"
            )
        needed = cells_read(metrics, settings)
        if "y_true" in needed and y is None:
            names = ", ".join(metric.name for metric in metrics if "y_true" in metric.reads)
            raise ParameterError(f"y is missing: {names} needs the true labels; {self._of}='selection_rate' does not")
        if needed <= {"y_true", "y_score_a", "y_score_b"}:  # scores alone are taken as predictions too
            said = {name.replace("y_pred", "y_score"): values for name, values in said.items()} | {
                name: values for name, values in said.items() if name.startswith("y_score")
            }
        missing = sorted(needed - {"y_true"} - set(said))
        if missing:
            names = ", ".join(metric.name for metric in metrics if set(missing) & metric.reads)
            raise ParameterError(f"{' and '.join(missing)} is missing: {names} needs it")
        counted = [name for name in ("sample_weight", "clusters") if columns.get(name) is not None]
        if self.alternative == "fairer" and counted:
            raise ParameterError(
                f"{counted[0]} has no test with alternative='fairer', which counts each person once and alone: leave "
                "it out, or use alternative='two-sided'"
            )
        ordered = {name: said[name] for name in PAIRED_NAMES if name in said}
        sample = Sample.from_predictions(y, of_models=ordered, **columns)
        subject = "predictions" if self.estimator_a is None else self._subject()
        return sample, settings, metrics, seed, subject

    def _subject(self) -> str:
        names = [type(getattr(self, name)).__name__ for name in self._models]
        return names[0] if names[0] == names[1] else " and ".join(names)

    def _store(self, result: Result) -> None:
        super()._store(result)
        if self.alternative == "fairer":
            del self.equivalence_interval_
        one_group = len(self.groups_) == 1
        kind = "one group" if one_group else "sizes" if self.alternative == "fairer" else "change"
        self._setup = replace(self._setup, models=kind)
        if one_group:
            self._setup = replace(self._setup, features="model", names=())
        self.disparities_, self.by_model_ = disparities_frame(result.measured), by_model_frame(result.measured)
        measured = [getattr(metric, "of", metric) for metric in result.measured.metrics]  # in one group, the rates
        self._shares = tuple(metric.name for metric in measured if isinstance(metric, Rate) and metric.value is None)

    def _record(self, names: tuple[str, str] = ("model A", "model B"), alpha: float | None = None) -> PairedRecord:
        """The record of the fitted test, from which reports are written.

        `names` are what models are called, and `alpha` is the level of several tests together, adjusted by Holm.
        """
        rows = records(self.comparisons_)
        if len(self.disparities_):
            values = list(zip(self.disparities_["disparity_a"], self.disparities_["disparity_b"], strict=True))
            if self.alternative == "fairer":
                values = [(abs(a), abs(b)) for a, b in values]
        else:  # in one group both are rates
            values = [(row["value_other"], row["value_group"]) for row in rows]
            rows = [{**row, "group": label(self.groups_[0])} for row in rows]
        found = [paired_row(row, self._feature, pair) for row, pair in zip(rows, values, strict=True)]
        setup, people = self._setup, self.n_samples_
        if alpha is not None:
            setup = replace(setup, alpha=alpha, adjust="holm")
        return PairedRecord(
            setup, setup.models, names, self._shares, people, self.p_value_, self.concern_, tuple(found)
        )

    def _made(self) -> Report:
        return paired_report(self, self._record())

    def _title(self) -> str:
        return f"Two models: {super()._title()}"

    def _compare(self, sample: Sample, settings: Settings, metrics: list[Metric], seed: Any) -> Result:
        classes, truth = classes_of(self.estimator_b), getattr(sample.columns.get("y_true"), "levels", ())
        check_classes(truth, classes_of(self.estimator_a), self.pos_label)
        if len(sample.groups) == 1:
            changes = [metric for metric in metrics if isinstance(metric, Paired)]
            return compare_in_one_group(sample, changes, settings, pos_label=self.pos_label, classes=classes)
        return compare(sample, metrics, settings, pos_label=self.pos_label, classes=classes, random_state=seed)


def _two_columns(X: Any) -> dict[str, Any]:
    """Split the predictions of two models, which are two columns."""
    columns = split_table(X, "X") if X is not None and is_table(X) else []
    if len(columns) != 2:
        found = f"{len(columns)} columns" if columns else type(X).__name__
        raise ParameterError(
            f"X must hold the predictions of models A and B as two columns where no estimators are given; found "
            f"{found}: pass estimator_a and estimator_b to predict from it"
        )
    return {f"y_pred_{model}": values for model, (_, values) in zip(MODELS, columns, strict=True)}
