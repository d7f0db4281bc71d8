"""The audit of one model: many metrics, sensitive features and their intersections, tested as one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import field, replace
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Later, check_seed, seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import GroupsMissing, ParameterError, brief
from skfairtest._utils.progress import progress
from skfairtest._utils.text import label
from skfairtest.audit._questions import asked_of, enough_draws, groupings, how_many, kinds_of, sets_of
from skfairtest.audit.impact import selected_of, tables_of
from skfairtest.audit.impact_report import UNFAVORABLE, below_sentences, impact_report
from skfairtest.audit.provenance import FEW_LABELS, provenance_of
from skfairtest.audit.record import FRAMES, AuditRecord, record_of
from skfairtest.audit.report import audit_report
from skfairtest.comparisons.breaking import breaking_point_of, kept_breaking_point, shown_breaking_point
from skfairtest.comparisons.classes import by_label
from skfairtest.comparisons.core import Exclusion, Result
from skfairtest.comparisons.engine import judge, settings_of
from skfairtest.comparisons.frames import frame_of
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.people import FROM_TABLE, GroupsTest, Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.unknown import with_unknown
from skfairtest.individual import IndividualFairnessTest
from skfairtest.labelled.fairness import worth_sentence
from skfairtest.labelled.measure import LabelledSample, label_columns, with_few_labels
from skfairtest.metrics import Metric, resolve_metrics, standard_metrics
from skfairtest.readers import classes_of, is_label, resolve_pos_label
from skfairtest.report.mixin import PEOPLE
from skfairtest.report.report import Report
from skfairtest.subgroups.fairness import SubgroupScan
from skfairtest.subgroups.scan import scan_section
from skfairtest.tables import Sample

#: What the level of a section beside the comparisons is apart from.
APART = "of their own, apart from the comparisons of this audit: the verdict does not count them."
#: What intersectional groups may be compared with.
INTERSECTIONS = ("to_rest", "between_groups", "to_parents")
#: What parameters may be where few people have a label.
WITH_FEW_LABELS: dict[str, tuple[Any, ...]] = {
    "individual": (None, False), "scan": (None, False), "impact": (False,), "missing": ("raise",),
    "disparity": ("difference", "ratio"), "compare": ("between_groups", "to_rest"),
    "compare_intersections": ("between_groups", "to_rest"),
}  # fmt: skip
#: What some parameters may be.
KINDS: dict[str, tuple[Any, str]] = {
    "impact": (bool | np.bool_, "True or False"),
    "favorable": (bool | np.bool_ | None, "True if a positive prediction is good for people, False if bad, or None"),
    "unit": (str, "a plural noun, such as 'answers'"),
    "positive_means": (str | None, "what happens to people who are predicted positive, such as 'denied', or None"),
}
Made = TypeVar("Made", IndividualFairnessTest, SubgroupScan)


@with_parameters
class FairnessAudit(GroupsTest):
    """Audit a model: every metric, every sensitive feature and every intersection, as one family of tests.

    Null hypothesis of each comparison: the metric is equal in the two groups (with `margin`: differs by no more). Tests
    are those of `FairnessTest`; one adjustment covers all, so at most 5% of audits (about 5% if p-values are not exact)
    report any false positive.

    Parameters
    ----------
    estimator : fitted estimator, optional
        The model; None: the `X` of `fit` is the predictions.
    metrics : "standard", str, Rate, ScoreMetric, callable, or list or dict of these, default="standard"
        As `metric` of `FairnessTest`. "standard": selection rate, true and false positive rate, precision, accuracy;
        with scores also AUC and calibration; with three to ten labels selection and true positive rate of each label,
        accuracy and balanced accuracy, with more the last two; for numbers mean prediction and residual, mean squared
        and absolute error; without true labels, those that need none.
    intersections : bool, default=True
        Whether to cross the sensitive features as well.
    compare : {"between_groups", "to_overall", "to_rest"}, default="between_groups"
        What the groups of single features are compared with.
    compare_intersections : {"to_rest", "between_groups", "to_parents"}, default="to_rest"
        What intersectional groups are compared with: everyone else; each other; or the rest of each parent group
        (Black women with Black men, and with other women).
    disparity : {"difference", "ratio"}, default="difference"
        ``value_group - value_other`` or ``value_group / value_other``.
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap"}, default="auto"
        As in `FairnessTest`.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        As in `FairnessTest`, over the whole audit.
    margin : float, optional
        Tolerated disparity.
    confidence_level : float, default=0.95
        Of intervals; one minus the level.
    n_resamples : int or "adaptive", default=9999
        Resamples per null distribution; raised if no result could otherwise be significant.
    missing : {"raise", "exclude", "group", "bounds"}, default="raise"
        As in `FairnessTest`.
    labelled : {"at_random", None}, default=None
        As in `LabelledFairnessTest`, if some people have no true label.
    pos_label : label, optional
        The positive label.
    prediction_threshold : float, optional
        Predict the positive label from this score on.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The estimator's method that gives scores.
    positive_means : str, optional
        What a positive prediction does to people, as a participle: "denied", "rated high-risk".
    favorable : bool, optional
        Whether a positive (or higher) prediction is good for people; affects reports.
    unit : str, default="people"
        What reports call the rows, in the plural: "answers" of a language model.
    individual : bool or IndividualFairnessTest, optional
        Also test individual fairness, by this test.
    scan : bool or SubgroupScan, optional
        Also search for subgroups, by this scan. True: equalized odds (without true labels selection rate) of
        combinations of two sensitive features.
    impact : bool, default=False
        Also make an `impact_table` of each feature and intersection.
    random_state : int, RandomState, Generator or None
        Seed of the resamples and of a randomised model's predictions.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    comparisons_ : DataFrame
        As of `FairnessTest`, with ``feature``, ``verdict``, ``sentence`` and ``minimum_detectable``: the smallest
        disparity detected with power .8 at the level that the smallest p-value must meet.
    breaking_point_ : DataFrame
        As of `FairnessTest`.
    by_group_ : DataFrame
        People, values and pointwise limits of each group.
    p_value_ : float
        The smallest adjusted p-value.
    rejected_, concern_ : bool
        Whether it is at most ``1 - confidence_level``.
    excluded_ : DataFrame
        Groups and comparisons left out, and why.
    record_ : AuditRecord
        What reports are made from.
    individual_, scan_, impact_ : object
        Results of these questions, each with its own level; None if not asked.
    pos_label_, negative_labels_, n_samples_ : object
        The positive label, the other labels, and the number of people.

    See Also
    --------
    FairnessTest : One metric, or a few that are tested jointly.
    SignificanceFrame : The frame of fairlearn with p-values.

    Notes
    -----
    A family of k comparisons needs more than k / alpha resamples, so large audits take long.

    Holm's and Shaffer's adjustments hold however p-values depend on each other. Against everyone else, or the rest of a
    parent group, a rate's p-value is exact if those people are a random sample; if their numbers by group were fixed in
    advance, the size is usually below the level (.088 at .05 in the worst case found).

    With "to_parents", significance does not imply an interaction: if women differ from men in every race, so do Black
    women.

    References
    ----------
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70. J. P. Shaffer (1986), Journal of
    the American Statistical Association 81, 826-831.

    Examples
    --------
    >>> from skfairtest import FairnessAudit
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> audit = FairnessAudit.from_predictions(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features[["sex", "age_cat"]],
    ... )
    >>> audit.rejected_, len(audit.comparisons_)
    (True, 50)
    >>> print(
    ...     audit.comparisons_.query("feature == 'sex' and metric == 'accuracy'")[
    ...         "sentence"
    ...     ].item()
    ... )
    Men were predicted correctly less often than women: 65.372%  ...
    """

    _of: ClassVar[str] = "metrics"
    _scores_are_predictions: ClassVar[bool] = False
    _breaking = Later()
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "rejected", "concern", "n_samples", "pos_label", "comparisons", "by_group", "excluded", "impact",
    )  # fmt: skip
    _not_written: ClassVar[tuple[str, ...]] = ("_metrics", "individual_", "scan_")

    estimator: Any = field(default=None, kw_only=False)
    metrics: Any = "standard"
    intersections: bool = True
    compare: str = "between_groups"
    compare_intersections: str = "to_rest"
    disparity: str = "difference"
    method: str = "auto"
    adjust: str | None = "auto"
    margin: float | None = None
    confidence_level: float = 0.95
    n_resamples: int = 9999
    missing: str = "raise"
    labelled: str | None = None
    pos_label: Any = None
    prediction_threshold: float | None = None
    response: str = "auto"
    positive_means: str | None = None
    favorable: bool | None = None
    unit: str = PEOPLE
    individual: Any = None
    scan: Any = None
    impact: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        y_judge: Any = None,
        label_probability: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> Self:
        """Predict with the estimator and audit its predictions.

        Parameters
        ----------
        X : array-like
            The features; with ``estimator=None`` the predictions, of shape (n_samples,).
        y : array-like of shape (n_samples,), optional
            True labels, if metrics need them.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame, mapping, or names of columns of `X`, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, at least 0.
        clusters : array-like of shape (n_samples,), optional
            As in `FairnessTest.fit`.
        y_judge, label_probability : array-like of shape (n_samples,), or name of a column of `X`, optional
            As in `from_predictions`, if some people have no true label (NaN or None in `y`).
        predict_params : dict, optional
            As in `FairnessTest.fit`.

        Returns
        -------
        self
            The fitted audit.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        columns = {"sensitive_features": sensitive_features, "control_features": control_features}
        counted = {"sample_weight": sample_weight, "clusters": clusters}
        few = {"y_judge": y_judge, "label_probability": label_probability}
        return self._fit(Inputs.of_fit(X, y, predict_params, **columns, **counted, **few))

    def _fit(self, inputs: Inputs) -> Self:
        super()._fit(inputs)
        X, y = inputs.X, inputs.y
        if (scan := self._scan(has_truth=y is not None)) is not None:
            columns = {name: inputs.columns[name] for name in ("sensitive_features", "control_features")}
            scan.set_params(estimator=self.estimator)
            self._keep_scan(scan.fit(X, y, **columns, predict_params=inputs.predict_params))
        if (test := self._test_of("individual", IndividualFairnessTest)) is not None:
            test.set_params(estimator=self.estimator).fit(X, y, sensitive_features=inputs.groups)
            said, *findings = test.sentences()
            self._add(Report(title="Similar people", verdict=said, findings=tuple(findings)))
            self.record_: AuditRecord = replace(self.record_, individual_verdict=test.verdict_)
            self.individual_ = test
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
        sample_weight: Any = None,
        clusters: Any = None,
        y_judge: Any = None,
        label_probability: Any = None,
        X: Any = None,
        **params: Any,
    ) -> Self:
        """Audit predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, 1), or None
            True labels, if metrics need them.
        y_pred : array-like of shape (n_samples,) or (n_samples, 1), optional
            Predictions: labels or numbers.
        y_score : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2), optional
            Scores of the positive label, or what ``predict_proba`` returns for two classes.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, at least 0.
        clusters : array-like of shape (n_samples,), optional
            As in `FairnessTest.fit`.
        y_judge : array-like of shape (n_samples,), optional
            A guessed label or score for each person, if some have no true label (NaN or None in `y_true`): see
            `LabelledFairnessTest`.
        label_probability : array-like of shape (n_samples,), optional
            The probability that each person was labelled, unless ``labelled="at_random"``.
        X : frame or mapping, optional
            Further `features` of `scan`.
        **params
            Parameters of the audit.

        Returns
        -------
        FairnessAudit
            The fitted audit.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 0, 1, 0, 0] * 20, sensitive_features={"sex": list("ffffmm") * 20}
        ... )
        >>> audit.concern_
        True
        """
        if X is not None and not params.get("scan"):
            raise ParameterError(
                "X is where a scan looks up its features: pass scan=SubgroupScan(features=...), or no X"
            )
        columns = {"sensitive_features": sensitive_features, "control_features": control_features}
        counted = {**columns, "sample_weight": sample_weight, "clusters": clusters}
        few = {"y_judge": y_judge, "label_probability": label_probability}
        audit = cls._of_predictions(y_true, y_pred, y_score, {**counted, **few}, params)
        if (scan := audit._scan(has_truth=y_true is not None)) is not None:
            given = {"y_score": y_score, "X": X, **columns, **scan.get_params()}
            audit._keep_scan(SubgroupScan.from_predictions(y_true, y_pred, **given))
        if X is not None:
            traced = audit.record_.provenance
            traced = {**traced, "columns": (*traced["columns"], "X")}
            audit.record_ = replace(audit.record_, provenance=traced)
        return audit

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        columns = dict(inputs.columns)
        few = {name: columns.pop(name, None) for name in FEW_LABELS}
        if self.labelled is None and all(values is None for values in few.values()):
            return super()._sample(replace(inputs, columns=columns), y_pred, y_score)
        refused = [name for name, values in columns.items() if name != "sensitive_features" and values is not None]
        refused += [name for name, known in WITH_FEW_LABELS.items() if getattr(self, name) not in known]
        if refused:
            raise ParameterError(
                f"{refused[0]} was given, and where few people have a label audits are without it: leave it out"
            )
        return LabelledSample.read(inputs.y, y_pred, self.labelled, sensitive_features=inputs.groups, **few)

    def _add(self, section: Report) -> None:
        self.record_ = replace(self.record_, beside=(*self.record_.beside, section))

    def _test_of(self, name: str, kind: type[Made]) -> Made | None:
        given = getattr(self, name)
        if given is None or given is False:
            return None
        if given is not True and not isinstance(given, kind):
            raise ParameterError(
                f"{name} must be None, True or {kind.__name__} with the parameters wanted; found {brief(given)}"
            )
        if kind is IndividualFairnessTest and self.estimator is None:
            raise ParameterError(
                "individual fairness needs a model, which is called on people similar to those tested: pass "
                "estimator, or individual=None"
            )
        return kind() if given is True else clone(given)

    def _scan(self, *, has_truth: bool = True) -> SubgroupScan | None:
        """Return the scan that is wanted, not fitted; what it does not say it takes from the audit."""
        scan = self._test_of("scan", SubgroupScan)
        if scan is None:
            return None
        settings = {"pos_label": self.pos_label, "random_state": self.record_.parameters["random_state"]}
        settings = {name: value for name, value in settings.items() if getattr(scan, name) is None}
        if self.scan is True:
            settings["metric"] = "equalized_odds" if has_truth else "selection_rate"
            settings["confidence_level"] = self.confidence_level
        if self.prediction_threshold is not None:
            settings |= {"prediction_threshold": self.prediction_threshold, "response": self.response}
        return scan.set_params(**settings)

    def _keep_scan(self, scan: SubgroupScan) -> None:
        self.scan_ = scan
        section = scan_section(scan, replace(scan._setup, positive_means=self.positive_means))
        remarks = (f"These subgroups have a guarantee {APART}",)
        self._add(replace(section, title="Further subgroups", remarks=remarks))

    def __sklearn_tags__(self) -> Tags:
        """Declare that true labels are not always required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def _asked(self, y: Any) -> tuple[Sequence[Metric], Set[str]]:
        return (
            super()._asked(y) if self.estimator is None else asked_of(self.estimator, y, self.response, self.pos_label)
        )

    def _seed(self) -> int:
        """Return one number from which all that is random can be drawn again: predictions, and resamples."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(seed_sequence(self.random_state).generate_state(1)[0])

    def _check(self) -> tuple[Settings, list[Metric] | None]:
        check_seed(self.random_state)
        for name, (kind, what) in KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) or not str(value).strip():
                raise ParameterError(f"{name} must be {what}; found {brief(value)}")
        self._test_of("individual", IndividualFairnessTest)
        if (scan := self._test_of("scan", SubgroupScan)) is not None:
            scan._check()
        if is_label(self.compare, "to_reference"):
            raise ParameterError(
                "compare='to_reference' has no meaning over several features, which share no group: use "
                "'between_groups', 'to_rest' or 'to_overall'"
            )
        check_choice("compare_intersections", self.compare_intersections, INTERSECTIONS)
        metrics = None if self._is_standard else resolve_metrics(self.metrics, self.disparity)
        return settings_of(metrics, self.get_params()), metrics

    @property
    def _is_standard(self) -> bool:
        return isinstance(self.metrics, str) and self.metrics == "standard"

    def _standard(self, sample: Sample) -> tuple[list[Metric], dict[str, str]]:
        kinds, without = kinds_of(sample, self.estimator, self.pos_label)
        metrics = [m for m in standard_metrics(kinds, set(sample.columns)) if m.name not in without]
        if not metrics:
            (kind,) = kinds - {"scores"} or {""}
            raise ParameterError(
                f"y_true is missing: every standard metric of {f'{kind} predictions' if kind else 'scores'} needs the "
                "true labels; pass them, or name metrics that need none, such as metrics='selection_rate' with "
                "pos_label"
            )
        return metrics, without

    def _fit_sample(
        self, sample: Sample, settings: Settings, metrics: list[Metric] | None, seed: Any, subject: str
    ) -> Self:
        classes, without = classes_of(self.estimator), dict[str, str]()
        scan = self._test_of("scan", SubgroupScan)
        for name, wanted in (("scan", scan is not None), ("impact", self.impact)):
            for column, counted in (("sample_weight", sample.weight), ("clusters", sample.clusters)):
                if wanted and counted is not None:
                    raise ParameterError(
                        f"{name} counts each person once and alone, and takes no {column}: leave one of them out"
                    )
        if metrics is None:
            metrics, without = self._standard(sample)
            settings = settings_of(metrics, self.get_params())
        if not isinstance(sample, LabelledSample):
            metrics = by_label(metrics, sample, settings, self.pos_label)
        self._metrics, tested, few = metrics, list(metrics), isinstance(sample, LabelledSample)
        if few:
            tested, untested = with_few_labels(metrics)
            without |= dict.fromkeys(untested, "it has no test where few people have a label")
        single = {(name,): sample.regroup([name]) for name in sample.sensitive_names}
        levels = {name: len(people.groups) for (name,), people in single.items()}
        crossings = groupings(levels, intersections=self.intersections)
        asked = {names: single[names] if names in single else sample.regroup(names) for names in crossings}
        crossed = replace(settings, compare=self.compare_intersections, crossed=True)
        questions = {names: settings if names in single else crossed for names in asked}
        places = 1 + len(sample.strata) * bool(sample.control_names)
        planned = {
            names: places * how_many(len(people.groups), len(names), questions[names].compare)
            for names, people in asked.items()
        }
        family = len(metrics) * sum(planned.values())
        measured: list[Result] = []
        lost: dict[str, GroupsMissing] = {}
        whole = sample.with_unknown()
        with progress("audit", len(asked), bool(settings.verbose)) as advance:
            for names, people in asked.items():
                own, sets = enough_draws(questions[names], family), sets_of(whole, people)
                try:
                    found = with_unknown(measure(people, tested, own, self.pos_label, classes, seed, sets))
                    counts = people.n_samples, 0, planned[names]
                    left_out = [Exclusion(name, None, None, None, why, *counts) for name, why in without.items()]
                    measured.append(replace(found, excluded=(*found.excluded, *left_out)))
                except GroupsMissing as error:  # another grouping may still be comparable
                    lost[" x ".join(names)] = error
                advance()
        if not measured:
            raise next(iter(lost.values()))
        results = judge(measured, enough_draws(settings, family), together=True)
        record = record_of(
            results,
            subject=subject,
            parameters=self._parameters(metrics, seed),
            n_samples=whole.n_samples,
            not_compared=tuple((name, str(error)) for name, error in lost.items()),
            provenance=provenance_of(whole, self.estimator, from_table=subject == FROM_TABLE),
            doubts=self._cautions,
        )
        if few:
            labels = [frame_of(label_columns(found)) for found in measured]
            worth = [worth_sentence(frame, frame["metric"][0]) for frame in labels]
            told = zip(record.parts, worth, strict=True)
            parts = [replace(part, setup=replace(part.setup, people=line)) for part, line in told]
            record = replace(record, parts=tuple(parts))
        self._set(record)
        if self.impact:
            self.record_, self.impact_ = with_impact(record, sample, self.estimator, classes, self.get_params())
        self._breaking = breaking_point_of(results, together=True)
        if subject == FROM_TABLE and (scan := self._scan(has_truth="y_true" in sample.columns)) is not None:
            self._keep_scan(scan._fit_sample(sample, *scan._check(), scan.random_state, subject))
        return self

    def _set(self, record: AuditRecord) -> None:
        self._say(record)
        self.__dict__.update(dict.fromkeys(("individual_", "scan_", "impact_")))
        held = {name: [getattr(part, name) for part in record.parts] for name in FRAMES}
        blank = dict.fromkeys(held["excluded"][0]) | {"n": record.n_samples, "n_effective": 0, "comparisons": 0}
        lost = [{**blank, "feature": names, "reason": why} for names, why in record.not_compared]
        held["excluded"].append(pd.DataFrame(lost, dtype=object))
        for name, of_parts in held.items():
            filled = [frame for frame in of_parts if len(frame)] or of_parts[:1]
            setattr(self, f"{name}_", pd.concat(filled, ignore_index=True).astype(of_parts[0].dtypes))
        self.p_value_, self.rejected_ = record.p_value, record.n_found > 0
        self.concern_, self.n_samples_ = self.rejected_, record.n_samples
        self.pos_label_, self.negative_labels_ = record.pos_label, list(record.negative_labels)

    def _say(self, record: AuditRecord) -> None:
        """Take other words, or accepted findings, from a record of the same numbers."""
        self.record_ = record
        self._given, self._versions = dict(record.parameters), dict(record.versions)
        self.__dict__.pop("_kept", None)

    @property
    def breaking_point_(self) -> pd.DataFrame:
        """With how few decisions, and true labels, of one group the verdict would turn."""
        check_is_fitted(self)
        return shown_breaking_point(self, self._breaking)

    def _found(self) -> dict[str, Any]:
        return {name: value for name, value in super()._found().items() if value is not None}

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "_breaking": kept_breaking_point(self._breaking)}

    def _take(self, facts: dict[str, Any]) -> None:
        """Take the attributes of a record; frames of parts are rows of those of the audit."""
        record, parts = facts["record_"], []
        for part in record.parts:
            own = {name: facts[f"{name}_"] for name in FRAMES}
            own = {name: frame[frame["feature"] == part.feature].reset_index(drop=True) for name, frame in own.items()}
            parts.append(replace(part, **own))
        beside = dict.fromkeys(("individual_", "scan_"))
        super()._take({**facts, **beside, "record_": replace(record, parts=tuple(parts))})

    def _made(self) -> Report:
        return audit_report(self.record_, self._breaking)

    def _parameters(self, metrics: Sequence[Metric], seed: int) -> dict[str, Any]:
        """The parameters of this fit; those that are None are not set, but `adjust`."""
        self._keep_parameters()
        metrics_given = "standard" if self._is_standard else [_typed(metric) for metric in metrics]
        given = self._given | {"metrics": metrics_given, "random_state": seed}
        set_here = (name for name in given if given[name] is not None or name == "adjust")
        return {name: given[name] for name in set_here if name not in self._models}


def with_impact(
    record: AuditRecord, sample: Sample, estimator: Any, classes: tuple[Any, ...] | None, settings: Mapping[str, Any]
) -> tuple[AuditRecord, pd.DataFrame]:
    """Compare rates of selection with the highest one, of decisions; of scores and numbers those above the median."""
    people = sample.everyone or sample  # also those with a missing feature
    kinds, _ = kinds_of(people, estimator, settings["pos_label"])
    scoring = bool(kinds & {"scores", "continuous"}) and "binary" not in kinds
    scores = people.columns.get("y_pred", people.columns.get("y_score"))
    positive = None if scoring else resolve_pos_label(people.labels, settings["pos_label"], classes)
    selected = selected_of(scores if scoring else people.labels_of("y_pred"), positive, people.counts)
    frames, reasons = tables_of(
        people.sensitive,
        Sample({"y_pred": selected}, (), counts=people.counts),
        intersections=settings["intersections"],
        confidence_level=settings["confidence_level"],
        method=settings["method"] if settings["method"] in ("exact", "asymptotic") else "auto",
    )
    frame = pd.concat(frames, ignore_index=True)
    section = impact_report(
        frame,
        title="Impact table",
        about=f"These tables have a level {APART}",
        scoring=scoring,
        confidence_level=settings["confidence_level"],
        not_compared=[*map(label, map(str, reasons)), *[UNFAVORABLE] * (settings["favorable"] is False)],
    )
    return replace(record, beside=(*record.beside, section), impact=tuple(below_sentences(frame))), frame


def _typed(metric: Metric) -> str:
    """Return the name with which a metric can be named again: it says so if it is compared by its ratio."""
    try:
        own = [found.disparity for found in resolve_metrics(metric.name)]
    except ParameterError:  # a function's name, or one that was given to it
        return metric.name
    return f"{metric.name}_ratio" if metric.disparity == "ratio" and own == [None] else metric.name
