"""The audit of one model: many metrics, sensitive features and their intersections, judged as one family of questions.

Testing race, sex, and race x sex, by five metrics each, asks many questions and reports the luckiest answer. Here one
adjustment runs over all of them, and it alone decides.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import numpy as np
import pandas as pd
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skfairtest._version import __version__
from skfairtest.audit._asked import asked_of, kinds_of
from skfairtest.audit._detectable import minimum_detectable
from skfairtest.audit._groupings import groupings, how_many
from skfairtest.group._citizen import ModelTest
from skfairtest.group._errors import GroupsMissing
from skfairtest.group._facts import facts_of
from skfairtest.group._frames import comparisons_frame, excluded_frame, values_frame
from skfairtest.group._judge import Verdict as Judged
from skfairtest.group._judge import judge, p_of
from skfairtest.group._law import law_of
from skfairtest.group._measure import cells_read, measure
from skfairtest.group._people import Given, asked_people, predicted_people
from skfairtest.group._progress import progress
from skfairtest.group._random import check_seed, seed_sequence
from skfairtest.group._rows import Measured
from skfairtest.group._settings import Settings, check_settings
from skfairtest.group._warnings import warn_about_people, warn_about_resamples
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.metrics import Metric, Rate, resolve_metrics, standard_metrics
from skfairtest.readers import classes_of, predictions_from_X
from skfairtest.report.audit import audit_document, summary_frame
from skfairtest.report.document import plain
from skfairtest.report.record import AuditPart, AuditRecord, Verdict
from skfairtest.report.words import FOUND, NOT_FOUND, label, result_sentence
from skfairtest.tables import CountTable, Sample

#: Libraries whose versions may change a number or a drawing.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "fairlearn")


class FairnessAudit(ModelTest):
    """Audit a model: every metric, every sensitive feature and every intersection, as one family of questions.

    Null hypothesis of each comparison: the metric is equal in the two groups that are compared (with `margin`: it does
    not differ by more than the margin). Each is tested as `FairnessTest` tests it; `adjust` then acts once, on all of
    them together, so that with the default at most 5 % of audits raise even one false concern.

    Parameters
    ----------
    estimator : fitted estimator, optional
        The model; None: the `X` of `fit` is the predictions.
    metrics : "standard", str, Rate, ScoreMetric, callable, or list or dict of these, default="standard"
        As `metric` of `FairnessTest`. "standard": selection rate, true and false positive rate, precision and accuracy;
        where there are scores, also AUC and calibration; of more than two labels, accuracy and balanced accuracy; of
        numbers, mean prediction, mean residual, mean squared and mean absolute error. Without true labels, those of
        them that need none.
    intersections : bool, default=True
        Whether to cross the sensitive features as well: all pairs, all triples and so forth. Each crossed group is
        compared with everybody else.
    compare : {"between_groups", "to_overall", "to_rest"}, default="between_groups"
        What the groups of single features are compared with.
    disparity : {"difference", "ratio"}, default="difference"
        ``value_group - value_other`` or ``value_group / value_other``.
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap"}, default="auto"
        Law of the p-values, as in `FairnessTest`.
    adjust : {"holm", "auto", "bonferroni", "fdr_bh", "fdr_by", None}, default="holm"
        How p-values are adjusted for the number of comparisons, over the whole audit; "auto" is Holm.
    margin : float, optional
        Tolerated disparity, as in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the audit.
    n_resamples : int or "adaptive", default=9999
        Resamples of each law that is drawn.
    pos_label : label, optional
        The positive label, as in `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Seed of laws that are drawn, and of the predictions of a randomised model. All groupings share it, so that a
        finding does not depend on which other features are audited.
    n_jobs : int, optional
        Processes; the result is the same.
    verbose : int, default=0
        With 1, progress is shown on standard error.

    Attributes
    ----------
    results_ : DataFrame
        One row per comparison: ``feature``, ``metric``, ``group``, ``other``, ``stratum``, ``n_group``, ``n_other``,
        ``value_group``, ``value_other``, ``disparity``, ``standard_error``, ``statistic``, ``ci_low``, ``ci_high``,
        ``p_value``, ``p_value_adjusted``, ``minimum_detectable``, ``concern``, ``verdict``, ``method`` and
        ``sentence``. ``minimum_detectable`` is the smallest disparity that the comparison would have found with
        power .8, by normal approximation, at the level that the adjustment leaves the smallest p-value: an absolute
        difference, or a ratio above 1; infinite where none would have been found.
    by_group_ : DataFrame
        ``feature``, ``metric``, ``stratum``, ``group``, ``n``, ``n_effective``, ``value``, ``standard_error``,
        ``ci_low``, ``ci_high`` (pointwise) and ``small``.
    summary_ : DataFrame
        One row per feature and metric: how many comparisons and findings, and the comparison with the smallest
        p-value.
    p_value_ : float
        The smallest adjusted p-value of all.
    rejected_, concern_ : bool
        Whether it is at most ``1 - confidence_level``.
    excluded_ : DataFrame
        What was left out, with the reason and the counts.
    record_ : AuditRecord
        Everything that reports are made of.
    pos_label_ : object
        The label counted as positive; None where no metric asks.
    n_samples_ : int
        People.

    See Also
    --------
    FairnessTest : One metric, or a few that are tested jointly.
    SignificanceFrame : The frame of fairlearn with p-values.

    Notes
    -----
    Rates have exact laws. The laws of other metrics are drawn as long as draws can be findings: of so many comparisons
    that even none of `n_resamples` being as extreme would not be one, the normal law of the studentized disparity is
    taken ("asymptotic" in `results_`), which wants hundreds of people on both sides.

    With `control_features`, comparisons averaged over the strata and those within each of them are one family, too.

    An intersection that is compared with everybody else shares people with its features' own comparisons; Holm's
    adjustment holds however p-values depend on each other.

    References
    ----------
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

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
    >>> audit.rejected_, len(audit.results_)
    (True, 50)
    >>> print(
    ...     audit.results_.query("feature == 'sex' and metric == 'selection_rate'")[
    ...         "sentence"
    ...     ].item()
    ... )
    No disparity was found between Female and Male in selection_rate. Among all people, 42.4 % of Female against ...
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
        metrics: Any = "standard",
        intersections: bool = True,
        compare: str = "between_groups",
        disparity: str = "difference",
        method: str = "auto",
        adjust: str | None = "holm",
        margin: float | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        pos_label: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.metrics = metrics
        self.intersections = intersections
        self.compare = compare
        self.disparity = disparity
        self.method = method
        self.adjust = adjust
        self.margin = margin
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Say that true labels are not always required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
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
    ) -> FairnessAudit:
        """Predict with the estimator and audit its predictions.

        Parameters
        ----------
        X : array-like
            What the estimator predicts from; with ``estimator=None`` the predictions, of shape (n_samples,).
        y : array-like of shape (n_samples,), optional
            True labels; without them, only metrics that need none are standard.
        sensitive_features : array-like, frame or mapping
            One or several columns of length n_samples: each is audited, and with `intersections` their crossings.
        control_features : array-like, frame or mapping, optional
            Strata within which groups are compared.
        sample_weight : array-like of shape (n_samples,), optional
            What each person counts, at least 0.
        clusters : array-like of shape (n_samples,), optional
            Who belongs together, such as the repeated decisions on one person.
        predict_params : dict, optional
            Further arguments of the estimator's ``predict``.

        Returns
        -------
        FairnessAudit
            The fitted audit.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        NotFittedError
            If the estimator is a scikit-learn estimator that is not fitted.
        """
        given = Given(sensitive_features, control_features, sample_weight, clusters, predict_params)
        return self._fit(X, y, None, given)

    def _fit(self, X: Any, y: Any, y_score: Any, given: Given) -> FairnessAudit:
        settings = self._settings()
        if given.sensitive_features is None:
            raise self._without_groups("the groups to compare", "sex")
        metrics = self._named()
        without: list[tuple[str, str]] = []
        if self.estimator is None:
            predictions_from_X(X)
        if metrics is not None:
            needed = cells_read(metrics, settings)
            if "y_true" in needed and y is None:
                names = ", ".join(metric.name for metric in metrics if "y_true" in metric.reads)
                raise ValueError(f"y is missing: {names} needs the true labels; metrics='selection_rate' does not")
            asked = list(metrics)
        else:
            asked, needed = ([], {"y_pred"}) if self.estimator is None else asked_of(self.estimator)
        if self.estimator is None:
            sample = predicted_people(X, y, y_score, given, needed=needed)
        else:
            common = {"pos_label": self.pos_label, "random_state": self.random_state}
            sample = asked_people(self.estimator, X, y, given, asked, needed, **common)
        if metrics is None:
            metrics, without = self._standard(sample)
        subject = "predictions" if self.estimator is None else type(self.estimator).__name__
        return self._fit_sample(sample, settings, metrics, without, subject)

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
    ) -> FairnessAudit:
        """Audit predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predictions: labels or numbers.
        y_score : array-like of shape (n_samples,), optional
            Scores of the positive label.
        sensitive_features, control_features, sample_weight, clusters : array-like
            As in `fit`.
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
        ...     None, [1, 1, 1, 1, 0, 0, 0, 0], sensitive_features={"sex": list("ffffmmmm")}
        ... )
        >>> audit.results_[["metric", "group", "other", "disparity"]]
                   metric group other  disparity
        0  selection_rate     f     m        1.0
        """
        if params.get("estimator") is not None:
            raise ValueError(
                "from_predictions takes predictions, not an estimator: use FairnessAudit(estimator).fit(X, y, ...)"
            )
        if y_score is not None:
            predictions_from_X(y_score, "y_score")
        if y_pred is None and y_score is None:
            raise ValueError("y_pred and y_score are both None: pass predictions, or scores for a metric of scores")
        given = Given(sensitive_features, control_features, sample_weight, clusters)
        if y_pred is not None:
            predictions_from_X(y_pred, "y_pred")
            return cls(**params)._fit(y_pred, y_true, y_score, given)
        # Scores alone: the metrics that read them and no decisions.
        audit = cls(**params)
        if isinstance(audit.metrics, str) and audit.metrics == "standard":
            audit_of_scores = cls(**{**params, "metrics": ["roc_auc", "calibration"]})
            return audit_of_scores._fit(y_score, y_true, None, given)
        return audit._fit(y_score, y_true, None, given)

    @classmethod
    def from_table(cls, table: CountTable, **params: Any) -> FairnessAudit:
        """Audit counts.

        Parameters
        ----------
        table : CountTable
            People by stratum, group and cell.
        **params
            Parameters of the audit.

        Returns
        -------
        FairnessAudit
            The fitted audit, the same as from the rows that the table counts.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> from skfairtest.datasets import load_berkeley
        >>> audit = FairnessAudit.from_table(load_berkeley(as_table=True), metrics="selection_rate")
        >>> found = audit.results_[audit.results_["concern"]]
        >>> found[["group", "other", "stratum", "disparity"]].round(2)
            group other stratum  disparity
        1  Female  Male       A        0.2
        """
        if not isinstance(table, CountTable):
            raise ValueError(f"table must be a CountTable, found {type(table).__name__}: see CountTable.from_counts")
        audit = cls(**params)
        settings, metrics = audit._settings(), audit._named()
        without: list[tuple[str, str]] = []
        sample = Sample.from_table(table)
        if metrics is None:
            metrics, without = audit._standard(sample)
        missing = sorted(cells_read(metrics, settings) - set(table.cell_names))
        if missing:
            names = ", ".join(metric.name for metric in metrics if set(missing) & metric.reads)
            raise ValueError(
                f"table has no {' and no '.join(missing)}, which {names} needs; "
                f"its cells are {', '.join(table.cell_names)}"
            )
        return audit._fit_sample(sample, settings, metrics, without, "a table of counts")

    def _settings(self) -> Settings:
        check_seed(self.random_state)
        if self.compare == "to_reference":
            raise ValueError(
                "compare='to_reference' has no meaning over several features, which share no group: use "
                "'between_groups', 'to_rest' or 'to_overall'"
            )
        if self.adjust == "max_t":
            raise ValueError("adjust='max_t' has no joint law across groupings of the same people: use adjust='holm'")
        if not isinstance(self.intersections, bool | np.bool_):
            raise ValueError(f"intersections must be True or False; found {self.intersections!r}")
        metrics = self._named()
        return check_settings(
            compare=self.compare,
            reference_group=None,
            disparity=self.disparity,
            alternative="two-sided",
            margin=self.margin,
            method=self.method,
            variance="auto",
            within="auto",
            adjust=self.adjust,
            confidence_level=self.confidence_level,
            n_resamples=self.n_resamples,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            unit=metrics is not None
            and all(isinstance(metric, Rate) or getattr(metric, "bounds", None) == (0.0, 1.0) for metric in metrics),
        )

    def _named(self) -> list[Metric] | None:
        """Return the metrics that were named; None for the standard ones, which depend on the predictions."""
        if isinstance(self.metrics, str) and self.metrics == "standard":
            return None
        try:
            return resolve_metrics(self.metrics, self.disparity)
        except ValueError as error:  # which knows the parameter of a single test
            raise ValueError(str(error).replace("metric", "metrics", 1)) from error

    def _standard(self, sample: Sample) -> tuple[list[Metric], list[tuple[str, str]]]:
        kinds, without = kinds_of(sample, self.estimator)
        metrics = standard_metrics(kinds, set(sample.columns))
        return [m for m in metrics if m.name not in dict(without)], without

    def _fit_sample(
        self,
        sample: Sample,
        settings: Settings,
        metrics: list[Metric],
        without: Sequence[tuple[str, str]],
        subject: str,
    ) -> FairnessAudit:
        classes = classes_of(self.estimator)
        seed = int(seed_sequence(self.random_state).entropy)  # type: ignore[arg-type]
        levels = {name: len(sample.regroup([name]).groups) for name in sample.sensitive_names}
        asked = list(groupings(levels, intersections=bool(self.intersections)))
        samples = [sample.regroup(names) for names in asked]
        places = 1 + len(sample.strata) * bool(sample.control_names)
        questions = [settings if len(names) == 1 else replace(settings, compare="to_rest") for names in asked]
        planned = sum(how_many(len(people.groups), own.compare) for people, own in zip(samples, questions, strict=True))
        if settings.adjust in FAMILYWISE:
            questions = [replace(own, family=planned * len(metrics) * places) for own in questions]
        measured: list[Measured] = []
        each: list[Settings] = []
        not_compared = list(without)
        missing: GroupsMissing | None = None
        with progress("audit", len(asked), bool(settings.verbose)) as advance:
            for names, people, own in zip(asked, samples, questions, strict=True):
                try:
                    measured.append(measure(people, metrics, own, self.pos_label, classes, seed))
                    each.append(own)
                except GroupsMissing as error:  # another grouping may still be comparable
                    not_compared.append((" x ".join(names), str(error)))
                    missing = missing or error
                advance()
        if not measured:
            assert missing is not None
            raise missing
        judged = judge(measured, settings, together=True)
        rows = [row for part in measured for row in part.rows]
        for part in measured:
            warn_about_people(part)
        if any(row.drawn is not None for row in rows):
            warn_about_resamples(len(rows), judged.n_resamples, settings)
        parts = tuple(self._part(part, own, len(rows), settings) for part, own in zip(measured, each, strict=True))
        self._set(
            AuditRecord(
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                title=f"Fairness audit of {subject}",
                subject=subject,
                versions=_versions(),
                parameters=self._parameters(metrics, seed),
                verdict=_verdict(judged, measured, settings, sample.n_samples),
                parts=parts,
                leading=_place_of(judged, measured),
                law=law_of(judged.leading, settings),
                not_compared=tuple(not_compared),
            )
        )
        return self

    def _part(self, part: Measured, own: Settings, n_comparisons: int, settings: Settings) -> AuditPart:
        comparisons = comparisons_frame(part.rows)
        alpha = settings.alpha / n_comparisons if settings.adjust in FAMILYWISE else settings.alpha
        comparisons["minimum_detectable"] = minimum_detectable(part.rows, alpha)
        comparisons["verdict"] = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
        return AuditPart(
            part.sample.sensitive_names,
            part.sample.control_names,
            facts_of(part, own),
            values_frame(part),
            comparisons,
            excluded_frame(part.excluded),
        )

    def _parameters(self, metrics: Sequence[Metric], seed: int) -> dict[str, Any]:
        given = self.get_params(deep=False)
        del given["estimator"], given["n_jobs"], given["verbose"]
        standard = isinstance(self.metrics, str) and self.metrics == "standard"
        return {
            **given,
            "metrics": "standard" if standard else [metric.name for metric in metrics],
            "random_state": seed,
        }

    def _set(self, record: AuditRecord) -> None:
        """Take fitted attributes from a record, wherever it comes from."""
        self.record_ = record
        self.results_ = pd.concat([_results(part) for part in record.parts], ignore_index=True)
        self.by_group_ = pd.concat([_with_feature(part, part.by_group) for part in record.parts], ignore_index=True)
        left_out = [_with_feature(part, part.excluded) for part in record.parts if len(part.excluded)]
        self.excluded_ = (
            pd.concat(left_out, ignore_index=True)
            if left_out
            else _with_feature(record.parts[0], record.parts[0].excluded)
        )
        self.summary_ = summary_frame(record.parts)
        self.p_value_ = record.verdict.p_value
        self.rejected_ = self.concern_ = record.verdict.concern
        self.pos_label_ = record.verdict.pos_label
        self.n_samples_ = record.verdict.n_samples

    def to_frame(self) -> pd.DataFrame:
        """Return the results with labels of several features as one text each, so that any file can hold them.

        Returns
        -------
        DataFrame
            A copy of `results_`.
        """
        check_is_fitted(self)
        frame = self.results_.copy()
        for column in ("group", "other", "stratum"):
            frame[column] = [label(value) for value in frame[column]]
        return frame

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> None: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write everything that reports are made of as JSON.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            ASCII text. `skfairtest.report.record` documents the schema, whose version it names.
        """
        check_is_fitted(self)
        return _written(self.record_.to_json(), path)

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str]) -> Self:
        """Read an audit that `to_json` wrote, as it was fitted: its reports are the same, byte for byte.

        Parameters
        ----------
        source : str, bytes or path
            The text, or a path object (``pathlib.Path``) of its file.

        Returns
        -------
        FairnessAudit
            The fitted audit, without its estimator.

        Raises
        ------
        ValueError
            If it is not the record of an audit, or one of another version.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features={"sex": list("ffmm")}
        ... )
        >>> again = FairnessAudit.from_json(audit.to_json())
        >>> again.to_json() == audit.to_json()
        True
        """
        text = Path(source).read_bytes() if isinstance(source, os.PathLike) else source
        record = AuditRecord.from_json(text)
        names = set(cls._get_param_names())
        audit = cls(**{name: value for name, value in record.parameters.items() if name in names})
        audit._set(record)
        return audit

    @overload
    def to_markdown(self, path: None = None) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str]) -> None: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write a section for a model card.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            Markdown, in which every name is text.
        """
        from skfairtest.report.markdown import audit_markdown

        check_is_fitted(self)
        return _written(audit_markdown(self.record_), path)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the report as one page that needs nothing else: no network, no script.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            HTML.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is not installed.
        """
        check_is_fitted(self)
        from skfairtest.report.html import audit_html

        return _written(audit_html(self.record_), path)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the report in a notebook where the libraries that draw it are there; before `fit`, the parameters."""
        if not hasattr(self, "record_"):
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[no-any-return]
        bundle = {"text/plain": str(self)}
        try:
            from skfairtest.report.html import audit_fragment
        except ImportError:
            return bundle
        return {**bundle, "text/html": audit_fragment(self.record_)}

    def _repr_html_(self) -> str | None:
        """Return the report for a notebook; None before `fit`, or where the libraries that draw it are missing."""
        return self._repr_mimebundle_().get("text/html")

    def __str__(self) -> str:
        """Return the verdict and the findings in sentences, then the tables; before `fit`, the parameters."""
        return plain(audit_document(self.record_)) if hasattr(self, "record_") else repr(self)


def _versions() -> dict[str, str]:
    return {
        "skfairtest": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _verdict(judged: Judged, measured: Sequence[Measured], settings: Settings, n_samples: int) -> Verdict:
    rows = [row for part in measured for row in part.rows]
    return Verdict(
        concern=judged.concern,
        p_value=p_of(judged.log_p),
        p_value_interval=judged.limits,
        alpha=round(settings.alpha, 12),
        adjust=settings.adjust,
        n_samples=n_samples,
        n_comparisons=len(rows),
        n_found=sum(row.concern for row in rows),
        pos_label=measured[0].pos_label,
    )


def _place_of(judged: Judged, measured: Sequence[Measured]) -> tuple[int, int]:
    return next(
        (place, i) for place, part in enumerate(measured) for i, row in enumerate(part.rows) if row is judged.leading
    )


def _with_feature(part: AuditPart, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.copy()
    frame.insert(0, "feature", pd.Series([part.feature] * len(frame), dtype=object))
    return frame


def _results(part: AuditPart) -> pd.DataFrame:
    frame = _with_feature(part, part.comparisons)
    rows = part.comparisons.to_dict("records")
    frame["sentence"] = pd.Series([result_sentence(part.facts, row) for row in rows], dtype=object)  # type: ignore[arg-type]
    return frame


def _written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    return None
