"""The test of two models: does a disparity between groups differ between them by more than chance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import pandas as pd

from skfairtest._utils.base import check_seed, with_parameters
from skfairtest._utils.checks import check_choice, check_number, check_probability
from skfairtest._utils.errors import ParameterError, answering_guesses, brief
from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import judge, settings_of
from skfairtest.comparisons.frames import written_labels
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.unknown import with_unknown
from skfairtest.group.fairness import FairnessTest
from skfairtest.inference.multiplicity import extreme_disparity, holm
from skfairtest.metrics import Metric, resolve_metrics
from skfairtest.paired.measure import MODELS, Paired, compare_in_one_group, counts_of, paired
from skfairtest.paired.report import paired_report
from skfairtest.paired.statistics import not_worse
from skfairtest.readers import check_classes, classes_of, is_label, one_column, predictions_from_X
from skfairtest.readers.containers import is_table, split_table
from skfairtest.report import cells
from skfairtest.report.mixin import Pages, library_versions, positive_label
from skfairtest.report.report import Column, Report
from skfairtest.report.sentences import equals_p, number, p_text, percent, points, span
from skfairtest.tables import PAIRED_NAMES, Sample

ALTERNATIVES = ("two-sided", "greater", "less", "fairer")
#: What the level of several candidates holds for.
TOGETHER = (
    "Candidates are judged by Holm's method over all of them. Intervals, and what follows about single comparisons of "
    "a candidate, hold for all candidates together. One may therefore be chosen by these results, if every model that "
    "was tried is among them and none was trained or tuned on these people."
)
#: From how many candidates on it is said how much more of them would find.
MANY = 10


@with_parameters
class PairedFairnessTest(FairnessTest):
    """Test whether a disparity between groups differs between two models that judge the same people.

    Null hypothesis: the disparity of `metric` between two groups is the same under both models, that is, the metric
    changes by the same amount in both, however often the models disagree in either. With a single group: the rate is
    the same under both models (McNemar's exact test).

    If a rate's condition does not depend on the prediction (selection rate, true and false positive rate, accuracy),
    its change is the mean of d = b - a among those who meet the condition; a and b are 1 if the event happens under the
    model, else 0. Two such means are compared by a score test; its p-value is the larger of the normal one and that in
    samples from the most likely distributions under the null hypothesis. Other metrics (precision, F1, ROC AUC, your
    own functions) are tested by permuting labels, with an error that includes the covariance of the models.

    Parameters
    ----------
    estimator_a, estimator_b : fitted estimators, optional
        Model A, such as the one in production, and model B, the candidate. None for both: the two columns of `X` in
        `fit` are their predictions.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        As in `FairnessTest`: any metric with a value for each group, compared by differences.
    compare : {"between_groups", "to_overall", "to_rest", "to_reference"}
        As in `FairnessTest`.
    reference_group : label or tuple of labels, optional
        The group that each is compared with; implies ``compare="to_reference"``.
    alternative : {"two-sided", "greater", "less", "fairer"}, default="two-sided"
        "greater": the disparity (group minus other) is greater under model B. "fairer": it is smaller in size under
        model B in every comparison, only for rates whose condition does not depend on the prediction; `p_value_` is
        then the largest of the comparisons', `concern_` says that this was not certified, and values are sizes of
        disparities.
    margin : float, optional
        Only with "fairer": by how much model B's disparity may exceed model A's in size. None: B's must be smaller.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        As in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals; one minus the level.
    n_resamples : int, default=9999
        Resamples, if a null distribution is not enumerated.
    pos_label : label, optional
        As in `FairnessTest`.
    prediction_threshold : float, optional
        As in `FairnessTest`.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        As in `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Seed of the resamples and of randomised models' predictions.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    p_value_ : float
        The smallest familywise-adjusted p-value.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``: a disparity differs between the models.
    statistic_, disparity_ : float
        Of the comparison that sets `p_value_`; the disparity under model B minus that under model A.
    confidence_interval_ : tuple of float
        Limits of that comparison's disparity, simultaneous over all comparisons.
    disparities_ : DataFrame
        One row per comparison: ``disparity_a`` and ``disparity_b``, and their ``difference``. Strata of other metrics
        than rates are weighted by the average denominator of the two models.
    by_model_ : DataFrame
        ``value_a``, ``value_b`` and the number of people ``n`` in each stratum and group.
    by_group_, comparisons_, excluded_, homogeneity_ : DataFrame
        As of `FairnessTest`; group values are changes from model A to B.
    standardized_differences_ : DataFrame
        Empty.
    breaking_point_ : DataFrame
        Not available: raises an error.
    null_distribution_ : ndarray of shape (n_resamples, n_comparisons) or None
        Sampled statistics; None if none were sampled.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_`.
    method_, variance_, within_, adjust_ : str or None
        What was run, as of `FairnessTest`.
    n_resamples_ : int
        Number of resamples.
    binning_error_ : float
        Always 0: there are no bins.
    groups_ : list
        Groups, sorted: labels, or tuples of labels.
    pos_label_ : object
        The positive label; None if no metric needs one.
    negative_labels_ : list
        The other labels.
    n_samples_, n_unknown_ : int
        People, and 0.

    See Also
    --------
    FairnessTest : The test of one model.

    Notes
    -----
    Comparing two models' intervals or p-values does not test their difference: a disparity that is significant only
    under A may be the same under both.

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

    _unshared: ClassVar[tuple[str, ...]] = (
        "estimator", "disparity", "method", "variance", "within", "strata_weights", "missing", "unit",
    )  # fmt: skip
    estimator_a: Any = field(default=None, kw_only=False)
    estimator_b: Any = field(default=None, kw_only=False)

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
            Both models' predictions for the same people; not needed if metrics read only scores.
        y_score_a, y_score_b : array-like of shape (n_samples,), optional
            Scores of the positive label, if metrics need them.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, at least 0.
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
        return test._fit_sample(*test._people(Inputs(said, y_true, columns, called="y_pred")))

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

    def decompose(self, **params: Any) -> NoReturn:
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
        raise ParameterError("decompose is for the disparity of one model: use FairnessTest on each model")

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_seed(self.random_state)
        check_choice("alternative", self.alternative, ALTERNATIVES)
        if any(is_label(self.compare, best) for best in ("to_highest", "to_lowest")):
            raise ParameterError(
                f"compare={self.compare!r} chooses a group by one model's values: use compare='to_reference'"
            )
        metrics, params, margin = list(map(paired, resolve_metrics(self.metric))), self.get_params(), self.margin
        if self.alternative != "fairer":
            if margin is not None:
                raise ParameterError(
                    f"margin={brief(margin)} is by how much the disparity of model B may be larger than that of A: it "
                    f"needs alternative='fairer'; found {self.alternative!r}"
                )
            return settings_of(metrics, params), [*metrics]
        if margin is not None:
            check_number("margin", margin, 0, 1)
        if is_label(self.compare, "to_overall"):
            raise ParameterError("compare='to_overall' has no test with alternative='fairer': use compare='to_rest'")
        others = [metric.name for metric in metrics if not metric.is_change]
        if others:
            raise ParameterError(
                f"alternative='fairer' compares rates whose condition no model decides, such as "
                f"'false_positive_rate' and 'selection_rate'; {others[0]} is not one of these"
            )
        settings = settings_of(metrics, {**params, "alternative": "equivalence", "margin": (None, margin or 0.0)})
        # Sizes stay what they are where the groups change places.
        return replace(settings, question=replace(settings.question, directed=False)), [*metrics]

    def _lacking(self) -> list[str]:
        return [name for name in self._models if getattr(self, name) is None]

    def _features(self, inputs: Inputs) -> Any:
        """The features, or the columns of both predictions by name."""
        lacking = self._lacking()
        if inputs.called != "X" and len(lacking) < len(MODELS):
            raise ParameterError(
                f"{next(name for name in self._models if name not in lacking)} is not for from_predictions, which "
                f"takes predictions: use {type(self).__name__}(model_a, model_b).fit(X, y, ...)"
            )
        if len(lacking) == 1:
            raise ParameterError(
                f"{lacking[0]} is None and the other model is not: pass both models, or neither and their predictions"
            )
        if not lacking:
            return inputs.X
        if self.prediction_threshold is not None:
            raise ParameterError(
                "prediction_threshold makes predictions of models, and here are predictions: pass the decisions, such "
                "as scores_a >= 0.5 and scores_b >= 0.5"
            )
        if inputs.called == "X":
            return _two_columns(inputs.X)
        columns = {name: one_column(values) for name, values in inputs.X.items() if values is not None}
        for name, values in columns.items():
            predictions_from_X(values, name)
        return columns

    def _answers(self, inputs: Inputs, metrics: Any, asked: Any, needed: Set[str], seed: Any) -> tuple[Any, Any]:
        columns = inputs.X
        if not self._lacking():
            models, columns = [self.estimator_a, self.estimator_b], {}
            common, measured = self._asking(models, inputs, seed), [metric.of for metric in metrics]
            for model, estimator in zip(MODELS, models, strict=True):
                reads = {name for name in ("y_pred", "y_score") if f"{name}_{model}" in needed}
                answers = self._ask(estimator, inputs, measured, reads, common)
                columns |= {f"{name}_{model}": each for name, each in zip(("y_pred", "y_score"), answers, strict=True)}
        columns = {name: columns[name] for name in PAIRED_NAMES if columns.get(name) is not None}
        if needed <= {"y_true", "y_score_a", "y_score_b"}:  # scores alone are taken as predictions too
            columns = {name.replace("y_pred", "y_score"): values for name, values in columns.items()}
        missing = sorted(needed - {"y_true"} - set(columns))
        if missing:
            names = ", ".join(metric.name for metric in metrics if set(missing) & metric.reads)
            raise ParameterError(f"{' and '.join(missing)} is missing: {names} needs it")
        return columns, None

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        counted = [name for name in ("sample_weight", "clusters") if inputs.columns.get(name) is not None]
        if self.alternative == "fairer" and counted:
            raise ParameterError(
                f"{counted[0]} has no test with alternative='fairer', which counts each person once and alone: leave "
                "it out, or use alternative='two-sided'"
            )
        return Sample.from_predictions(one_column(inputs.y), **y_pred, **inputs.columns)

    def _store(self, result: Result) -> None:
        super()._store(result)
        measured, sample = result.by_metric.values(), result.sample
        models, of_both = zip(*(made.further for made in measured), strict=True)
        assert sample is not None
        shares = {metric.name for metric in result.metrics if getattr(metric, "is_share", True)}
        kind = "change"
        if self.alternative == "fairer":
            kind = "sizes"
            del self.equivalence_interval_
        if len(self.groups_) == 1:
            kind, self._setup = "one group", replace(self._setup, features="model", names=())
        described = {name: text for name, text in self._setup.descriptions.items() if name not in shares}
        self._setup = replace(self._setup, models=kind, descriptions=described)
        a, b = np.concatenate([values[:, sample.sizes > 0] for values in models], axis=1)
        self.by_model_ = self._values[["metric", "stratum", "group", "n"]].assign(value_a=a, value_b=b)
        a, b = np.concatenate(of_both).T
        rows = self.comparisons_.head(len(a))[["metric", "group", "other", "stratum"]]
        self.disparities_ = rows.assign(disparity_a=a, disparity_b=b, difference=b - a)

    def _made(self) -> Report:
        return paired_report(self)

    def _compare(self, sample: Sample, settings: Settings, metrics: list[Metric], seed: Any) -> Result:
        classes, truth = classes_of(self.estimator_b), getattr(sample.columns.get("y_true"), "levels", ())
        check_classes(truth, classes_of(self.estimator_a), self.pos_label)
        if len(sample.groups) == 1:
            changes = [metric for metric in metrics if isinstance(metric, Paired)]
            return compare_in_one_group(sample, changes, settings, pos_label=self.pos_label, classes=classes)
        return judge([with_unknown(measure(sample, metrics, settings, self.pos_label, classes, seed))], settings)[0]


def _two_columns(X: Any) -> dict[str, Any]:
    columns = split_table(X, "X") if X is not None and is_table(X) else []
    if len(columns) != 2:
        found = f"{len(columns)} columns" if columns else type(X).__name__
        raise ParameterError(
            f"X must hold the predictions of models A and B as two columns where no estimators are given; found "
            f"{found}: pass estimator_a and estimator_b to predict from it"
        )
    return {f"y_pred_{model}": values for model, (_, values) in zip(MODELS, columns, strict=True)}


@dataclass(frozen=True)
class ModelComparison(Pages):
    """The result of `compare_models`.

    Parameters
    ----------
    baseline : str
        The name of the model that the others were compared with.
    tests : mapping of str to PairedFairnessTest
        The fitted test of each candidate (model B) against the baseline (model A).
    results : DataFrame
        Each candidate's strongest evidence: ``metric``, ``group``, ``other``, ``disparity_a`` (of the baseline),
        ``disparity_b``, their ``difference`` with ``ci_low`` and ``ci_high``, ``disparity_b_low`` and
        ``disparity_b_high`` (limits of `FairnessTest`), ``p_value`` (over this candidate's comparisons),
        ``p_value_adjusted`` (over candidates too) and ``significant`` (with "fairer": certified). With
        `accuracy_margin` also ``accuracy_a``, ``accuracy_b`` and ``p_value_accuracy``.
    confidence_level : float
        Of all differences jointly, and of all limits of ``disparity_b`` jointly.
    alternative : {"two-sided", "greater", "less", "fairer"}
        As of `PairedFairnessTest`.
    accuracy_margin : float or None
        As of `compare_models`.
    """

    baseline: str
    tests: Mapping[str, PairedFairnessTest] = field(repr=False)
    results: pd.DataFrame = field(repr=False)
    confidence_level: float = 0.95
    alternative: str = "two-sided"
    accuracy_margin: float | None = None
    _given: dict[str, Any] = field(default_factory=dict, repr=False)
    _versions: dict[str, str] = field(default_factory=lambda: dict(library_versions()), repr=False)

    @property
    def concern_(self) -> bool:
        """Whether a candidate differs significantly; with ``alternative="fairer"``, whether one was not certified."""
        significant = self.results["significant"]
        return bool(not significant.all() if self.alternative == "fairer" else significant.any())

    def to_frame(self) -> pd.DataFrame:
        """The results, with a column for the candidate."""
        return written_labels(self.results.reset_index())

    def _facts(self) -> dict[str, Any]:
        names = ("baseline", "results", "confidence_level", "alternative", "accuracy_margin")
        return {"tests": {}, **{name: getattr(self, name) for name in names}}

    def __str__(self) -> str:
        """Return the verdict and sentences, then the tables."""
        return self.to_text(details=True).rstrip("\n")

    def _whole(self) -> Report:
        """The report of each candidate, and above several of them what they show together."""
        made = {name: paired_report(test, self.baseline, name) for name, test in self.tests.items()}
        parts = tuple(replace(report, title=label(name)) for name, report in made.items())
        alone = len(parts) == 1 and self.accuracy_margin is None
        report = parts[0] if alone else replace(self._together(made), parts=parts)
        cautions = dict.fromkeys(f"Caution: {caution}" for test in self.tests.values() for caution in test._cautions)
        first = next(iter(self.tests.values()))
        labels = positive_label(first.pos_label_, None, first.negative_labels_)
        title = f"Models compared with {label(self.baseline)}"
        return replace(report, title=title, remarks=(*labels, *cautions, *report.remarks))

    def _together(self, made: Mapping[str, Report]) -> Report:
        results, fairer, n, margin = self.results, self.alternative == "fairer", len(self.results), self.accuracy_margin
        names, adjusted = results.index[results["significant"]].tolist(), results["p_value_adjusted"]
        verb = ("is", "are")[len(names) > 1]
        how = "certified, compared with" if fairer else "significantly different, in a disparity, from"
        p = equals_p(adjusted.max() if fairer else adjusted.min())
        told = f"{enumerated([*map(label, names)]) if names else 'none'} {verb} {how} {label(self.baseline)}"
        remarks = [TOGETHER]
        if margin is not None:
            lower = f"lower by {points(margin)} points or more" if margin else "the same or lower"
            remarks.append(
                "Certified is a candidate for which two null hypotheses are rejected: that about disparities, and that "
                f"its accuracy is {lower} (exact score test). Its p-value is the larger one of both."
            )
        if n >= MANY:
            share = percent(1 - (1 - self.confidence_level) ** (1 / n))
            remarks.append(
                f"If the {n:,} candidates are independent trainings (with new seeds, or settings drawn at random), "
                f"then with {100 * self.confidence_level:g}% confidence at most {share} of further trainings would "
                "beat the best of them on these people, by a measure that was fixed before. This does not hold for an "
                "adaptive search, whose trials depend on earlier ones."
            )
        setup, renamed = (
            next(iter(self.tests.values()))._setup,
            {"disparity_b": "value_group", "disparity_a": "value_other"},
        )
        frame = results.rename(columns={**renamed, "difference": "disparity"}).reset_index()
        frame = frame.assign(concern=frame["significant"] != fairer, stratum=None)
        frame = frame.assign(ci_low=-np.inf) if fairer else frame

        def limits(row: Mapping[str, Any]) -> str:
            write = points if setup.is_share(row["metric"]) else number
            return span(write, row["disparity_b_low"], row["disparity_b_high"])

        more = [Column("interval of the candidate", shows=limits)]
        if margin is not None:
            both = ("accuracy_a", "accuracy_b")
            more.append(Column("accuracies", shows=lambda row: " and ".join(percent(row[name]) for name in both)))
            more.append(Column("p of accuracy", shows=lambda row: p_text(row["p_value_accuracy"])))
        first, values = Column("candidate", "name", shows="candidate"), ("candidate", label(self.baseline))
        table = cells.comparisons_table(
            setup,
            frame,
            "The strongest evidence about each candidate",
            first=(first, cells.METRIC),
            values=values,
            more=more,
        )
        return Report(
            verdict=f"Of {pluralize(n, 'candidate')}, {told} ({'largest' if fairer else 'smallest'} adjusted {p}).",
            concern=self.concern_,
            remarks=tuple(remarks),
            findings=tuple(made[name].verdict for name in names if self.tests[name].concern_ != fairer),
            tables=(table,),
        )


@answering_guesses
def compare_models(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any = None,
    y: Any = None,
    *,
    baseline: str | None = None,
    sensitive_features: Any,
    control_features: Any = None,
    clusters: Any = None,
    predict_params: dict[str, Any] | None = None,
    accuracy_margin: float | None = None,
    confidence_level: float = 0.95,
    **params: Any,
) -> ModelComparison:
    """Compare the disparities of several candidates with those of one baseline, on the same people.

    Null hypothesis of each candidate: its disparities equal the baseline's. With ``alternative="fairer"``: at least one
    is not smaller in size, or, with `accuracy_margin`, the accuracy is lower by the margin or more; the p-value is the
    largest of these hypotheses' (Berger 1982), and that of accuracy is exact.

    p-values are adjusted by Holm's method over each candidate's comparisons, then over candidates; intervals are
    simultaneous over both (Bonferroni). They are therefore valid for the best-looking candidate too, if all models that
    were tried are included and none was trained or tuned on these people.

    Parameters
    ----------
    models : mapping of str to model, or sequence of models
        Fitted estimators; without `X`, each model's predictions, of shape (n_samples,). Models in a sequence are named
        ``"model 0"``, ``"model 1"``, and so on.
    X : array-like, optional
        Features; None: `models` are predictions.
    y : array-like of shape (n_samples,), optional
        True labels; None where the metrics need none.
    baseline : str, optional
        The name of the baseline; None: the first model.
    sensitive_features, control_features, clusters : array-like, frame or mapping
        As of `PairedFairnessTest`.
    predict_params : dict, optional
        As in `FairnessTest.fit`.
    accuracy_margin : float, optional
        Only with "fairer": by how much, from 0 to 1, a candidate's overall accuracy may be lower; 0: it must be higher.
        None: accuracy is not tested.
    confidence_level : float, default=0.95
        Of all intervals jointly; one minus the familywise level.
    **params
        Other parameters of `PairedFairnessTest`.

    Returns
    -------
    ModelComparison
        Its `results` and the fitted `tests`.

    Raises
    ------
    ValueError
        If there are fewer than two models, or the baseline is not among them.

    Notes
    -----
    After n independent trainings, with confidence 1 - alpha, at most a share ``1 - alpha ** (1 / n)`` of further ones
    would beat the best on these people: 5% after 59 (Wilks 1941; less with ties). The report says so from ten
    candidates on. This does not hold for adaptive searches.

    References
    ----------
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70. R. L. Berger (1982), Technometrics 24, 295-300. S. S.
    Wilks (1941), Annals of Mathematical Statistics 12, 91-96.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import compare_models
    >>> sex, place = np.repeat(["f", "m"], 100), np.tile(np.arange(100), 2)
    >>> found = compare_models(
    ...     {
    ...         "today": (place < np.where(sex == "f", 30, 50)).astype(int),
    ...         "new": (place < np.where(sex == "f", 45, 50)).astype(int),
    ...         "newer": (place < np.where(sex == "f", 31, 51)).astype(int),
    ...     },
    ...     sensitive_features={"sex": sex},
    ...     metric="selection_rate",
    ... )
    >>> found.results[["disparity_a", "disparity_b"]].round(2).to_numpy().tolist()
    [[-0.2, -0.05], [-0.2, -0.2]]
    >>> found.results["significant"].tolist()
    [True, False]
    """
    if not isinstance(models, Mapping | Iterable) or isinstance(models, str):
        raise ParameterError(
            f"models must be a sequence of models, or a mapping of names to them; found {brief(models)}"
        )
    named = dict(models) if isinstance(models, Mapping) else {f"model {k}": model for k, model in enumerate(models)}
    if len(named) < 2:
        raise ParameterError(f"models must hold a baseline and at least one candidate; found {len(named)}")
    first = next(iter(named)) if baseline is None else baseline
    if not isinstance(first, Hashable) or first not in named:
        raise ParameterError(
            f"baseline={brief(baseline)} is not one of the models, which are {', '.join(map(repr, named))}"
        )
    check_probability("confidence_level", confidence_level)
    check_number("accuracy_margin", accuracy_margin, 0, 1, optional=True)
    if accuracy_margin is not None and (params.get("alternative") != "fairer" or y is None):
        lacking = "y, the true labels" if y is None else "alternative='fairer', with which it is certified"
        raise ParameterError(
            f"accuracy_margin={accuracy_margin:g} is the accuracy that a candidate may lose: it needs {lacking}"
        )
    columns = {
        "sensitive_features": sensitive_features, "control_features": control_features, "clusters": clusters,
    }  # fmt: skip
    alpha, candidates = 1 - confidence_level, [name for name in named if name != first]
    params["confidence_level"] = 1 - alpha / len(candidates)
    tests, rows = {}, []
    for name in candidates:
        if X is None:
            test, both = PairedFairnessTest(**params), {"y_pred_a": named[first], "y_pred_b": named[name]}
            inputs = Inputs(both, y, columns, called="y_pred")
        else:
            test = PairedFairnessTest(named[first], named[name], **params)
            inputs = Inputs.of_fit(X, y, predict_params, **columns)
        people = test._people(inputs)
        tests[name] = test._fit_sample(*people)
        rows.append(_row(test, people[0], accuracy_margin))
    results = pd.DataFrame(rows, index=pd.Index(candidates, name="candidate"))
    p_values = results[[name for name in ("p_value", "p_value_accuracy") if name in results]].max(axis=1)
    with np.errstate(divide="ignore"):
        adjusted = np.exp(holm(np.log(p_values.to_numpy())))
    results["p_value_adjusted"] = adjusted
    results["significant"] = adjusted <= alpha * (1 + 1e-12)
    return ModelComparison(
        first, tests, results, confidence_level, params.get("alternative", "two-sided"), accuracy_margin
    )


def _row(test: PairedFairnessTest, sample: Sample, accuracy_margin: float | None) -> dict[str, Any]:
    row = test.comparisons_.iloc[test._leading]
    of_a, of_b = row["value_other"], row["value_group"]
    if len(test.disparities_) and test.alternative != "fairer":  # in one group both are rates; with "fairer" sizes
        of_a, of_b = test.disparities_.iloc[test._leading][["disparity_a", "disparity_b"]]
    labels: dict[str, Any] = {name: row[name] for name in ("metric", "group", "other")}
    limits = {name: row[name] for name in ("ci_low", "ci_high")}
    both = {"disparity_a": of_a, "disparity_b": of_b, "difference": row["disparity"]}
    low, high = _limits_of_b(test, sample, row)
    found = labels | both | limits | {"disparity_b_low": low, "disparity_b_high": high, "p_value": test.p_value_}
    if accuracy_margin is None:
        return found
    rate = paired(resolve_metrics("accuracy")[0])
    kinds = sample.kinds(sorted(rate.reads))
    changes, sums = counts_of(rate, kinds, test.pos_label_, sample.sizes.shape).sum(axis=(1, 2))
    under_b, under_a = ((only + sums[0]) / changes.sum() for only in changes[:2].tolist())
    p_value = float(np.exp(not_worse(changes, accuracy_margin)))
    return found | {"accuracy_a": under_a, "accuracy_b": under_b, "p_value_accuracy": p_value}


def _limits_of_b(test: PairedFairnessTest, sample: Sample, row: pd.Series) -> tuple[float, float]:
    if len(test.groups_) == 1:
        return np.nan, np.nan
    params = test.get_params(deep=False)
    shared = {name: params[name] for name in params if name not in (*test._models, "alternative", "margin")}
    columns = {name.removesuffix("_b"): column for name, column in sample.columns.items() if not name.endswith("_a")}
    alone = FairnessTest(test.estimator_b, **shared)
    alone._fit_sample(replace(sample, columns=columns), *alone._check(), test._seed(), "")
    same = ("metric", "group", "other", "stratum")
    made = next(one for one in cells.records(alone.comparisons_) if all(one[name] == row[name] for name in same))
    value, low, high = made["disparity"], made["ci_low"], made["ci_high"]
    return extreme_disparity([value], [low], [high], "difference")[1:] if test.alternative == "fairer" else (low, high)
