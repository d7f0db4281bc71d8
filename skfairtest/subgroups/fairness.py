"""The search for further subgroups: combinations of features whose people are treated differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import check_seed, seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice, check_number
from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.contrasts import Design
from skfairtest.comparisons.engine import words_of
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.measure import positive_label
from skfairtest.comparisons.outcomes import Measure, measure_of
from skfairtest.comparisons.people import GroupsTest, Inputs
from skfairtest.comparisons.settings import MOST_RESAMPLES, Settings, check_settings
from skfairtest.inference.multiplicity import tarone_holm
from skfairtest.inference.sums import MeanSums, RateSums
from skfairtest.metrics import Metric, resolve_metrics
from skfairtest.readers import (
    Column,
    check_names_of_columns,
    classes_of,
    in_intervals,
    named_columns,
    other_labels,
    read_columns,
)
from skfairtest.report.report import Report
from skfairtest.report.sentences import Setup
from skfairtest.subgroups import scan
from skfairtest.tables import Sample
from skfairtest.tables.subgroups import Cells, NotSearched, Subgroups, all_subgroups, distinct_subgroups


@with_parameters
class SubgroupScan(GroupsTest):
    """Search combinations of features for subgroups that a model treats differently from other people.

    Null hypothesis of each subgroup: the metric has the same value in the subgroup as among everyone else or, with
    ``compare="in_context"``, among the others of its context. All subgroups of up to `max_depth` features are tested,
    and the guarantee holds for all of them together.

    Parameters
    ----------
    estimator : fitted estimator, optional
        None: the `X` of `fit` is the predictions.
    metric : str, Rate or list, default="equalized_odds"
        Rates, criteria, and means of a value of each person, such as "mean_residual". Several metrics are one family.
    compare : {"to_rest", "in_context"}, default="to_rest"
        "to_rest": with everyone else. "in_context": with people who share its values of `features` but differ in the
        sensitive features; women of a department, for instance, with its men.
    max_depth : int, default=2
        The most features that describe a subgroup.
    min_group_size : int, default=50
        The fewest people on either side of a comparison; with "split" in both halves together.
    features : str or list of str, optional
        Names of columns of `X` that describe subgroups, in addition to the sensitive features.
    n_bins : int, default=5
        Numeric features with more distinct values are cut into this number of intervals with about equally many people.
    guarantee : {"familywise", "split"}, default="familywise"
        "familywise" controls the probability that any true null hypothesis is rejected, at the level ``1 -
        confidence_level``. "split": the same for subgroups chosen on one half of the people and tested on the other.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater": the subgroup's value is larger.
    confidence_level : float, default=0.95
        Of intervals; one minus it is the level of the test.
    max_subgroups : int, default=200000
        The largest number of subgroups to search; `not_searched_` lists the rest.
    n_resamples : int, default=999
        Permutations of people, for means.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True; other labels need one.
    prediction_threshold : float, optional
        Predict the positive label from this score on, as of `FairnessTest`.
    response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The estimator's method that gives scores, as of `FairnessTest`.
    random_state : int, RandomState, Generator or None
        Seed of the halves of "split", of the permutations for means, and of the predictions of a randomised model.

    Attributes
    ----------
    p_value_ : float
        The smallest familywise-adjusted p-value.
    rejected_ : bool
        ``p_value_ <= 1 - confidence_level``.
    concern_ : bool
        Whether any subgroup is reported.
    statistic_, disparity_ : float
        Of the subgroup with the strongest evidence.
    confidence_interval_ : tuple of float
        Limits of its disparity, simultaneous over all subgroups tested.
    comparisons_ : DataFrame
        The subgroups reported, in the order in which they were chosen: people, both values, their disparity with an
        interval, p-values, and a sentence. ``n_group`` and ``n_other`` count both sides (with "split" in the half that
        is tested), ``n_effective`` those of the subgroup who meet the condition of a rate. ``p_value_given_above`` is
        the adjusted p-value given the subgroups above. Intervals are simultaneous over all subgroups tested.
    subgroups_ : DataFrame
        All subgroups that were tested, by p-value; ``concern``: which differ, ``reported``: which of them are in
        `comparisons_`.
    not_searched_ : DataFrame
        The combinations of features that were not searched: how many subgroups, and why.
    remaining_p_value_ : float
        The smallest adjusted p-value given all subgroups in `comparisons_`; 1 if none is left.
    n_searched_ : int
        How many subgroups were searched, for all metrics together.
    n_tested_ : int
        The number of different null hypotheses; with "split", on the second half.
    edges_ : dict
        The edges of the intervals of each feature that was cut.
    pos_label_, negative_labels_, n_samples_ : object
        The positive label, the other labels, and the number of people.

    See Also
    --------
    FairnessTest : The test for groups that are named beforehand.
    FairnessAudit : All groups of some features, with their intersections.

    Notes
    -----
    The p-value of a rate is exact, given how many people meet its condition and show its event: hypergeometric, or the
    convolution of the strata's distributions with control features. The p-value of a mean is Welch's, too small in its
    far tail if values are skewed. The adjusted p-value is therefore the larger of Holm's, valid in large samples, and
    the share of permutations (within strata) whose smallest p-value is at most as large, exact if nothing differs
    (Westfall and Young 1993). A small subgroup of skewed values can still be reported too often, with a warning. Means
    are available only with "familywise".

    "familywise" is Holm's procedure with Tarone's (1990) improvement: very small subgroups cost nothing.

    If women are treated worse, so are young women, although being young adds nothing. Such subgroups are left out of
    `comparisons_`: each further one still differs within the strata defined by the subgroups above it, adjusted for
    everything searched. A shorter description replaces it if it does not differ within that one at the level.

    References
    ----------
    F. Tramer et al. (2017), FairTest, EuroS&P. R. E. Tarone (1990), Biometrics 46, 515-522. P. H.
    Westfall and S. S. Young (1993), Resampling-Based Multiple Testing, section 2.3.

    Examples
    --------
    >>> from skfairtest import SubgroupScan
    >>> from skfairtest.datasets import load_berkeley
    >>> berkeley = load_berkeley()
    >>> scan = SubgroupScan.from_predictions(
    ...     None,
    ...     berkeley.y_pred,
    ...     sensitive_features=berkeley.sensitive_features,
    ...     X=berkeley.control_features,
    ...     features="department",
    ...     compare="in_context",
    ...     metric="selection_rate",
    ... )
    >>> scan.comparisons_[["subgroup", "compared_with", "disparity"]].round(2)
                           subgroup               compared_with  disparity
    0                  sex = Female               everyone else      -0.14
    1  department = A, sex = Female  others with department = A       0.20
    """

    _refused: ClassVar[dict[str, str]] = {
        "sample_weight": "a scan counts people alike: leave it out",
        "clusters": "a scan needs independent rows: pass one row per cluster",
    }
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "rejected", "concern", "statistic", "disparity", "confidence_interval", "comparisons",
        "not_searched", "remaining_p_value", "n_searched", "n_tested", "edges", "pos_label", "n_samples",
    )  # fmt: skip

    estimator: Any = field(default=None, kw_only=False)
    metric: Any = "equalized_odds"
    compare: str = "to_rest"
    max_depth: int = 2
    min_group_size: int = 50
    features: Any = None
    n_bins: int = 5
    guarantee: str = "familywise"
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    max_subgroups: int = 200_000
    n_resamples: int = 999
    pos_label: Any = None
    prediction_threshold: float | None = None
    response: str = "auto"
    random_state: Any = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        X: Any = None,
        **params: Any,
    ) -> Self:
        """Search predictions, without an estimator.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True labels; None where the metric needs none.
        y_pred : array-like of shape (n_samples,), optional
            Predictions.
        y_score : array-like of shape (n_samples,), optional
            Scores of the positive label, for metrics that need them beside predictions.
        sensitive_features : array-like, frame or mapping
            One or several columns of length n_samples, labels or numbers.
        control_features : array-like, frame or mapping, optional
            Strata within which subgroups are compared.
        X : frame or mapping, optional
            The table that holds `features`; not needed if they are among the sensitive features.
        **params
            Parameters of the scan.

        Returns
        -------
        SubgroupScan
            The fitted scan.

        Examples
        --------
        >>> from skfairtest import SubgroupScan
        >>> from skfairtest.datasets import load_compas
        >>> compas = load_compas()
        >>> scan = SubgroupScan.from_predictions(
        ...     compas.y_true,
        ...     compas.y_pred,
        ...     sensitive_features=compas.sensitive_features,
        ...     metric="false_positive_rate",
        ... )
        >>> scan.comparisons_["subgroup"].tolist()[:2]
        ['race = African-American', 'age_cat = Less than 25']
        """
        if sensitive_features is not None and X is not None and params.get("features") is not None:
            sensitive_features = _together(sensitive_features, X, params["features"])
        columns = {"sensitive_features": sensitive_features, "control_features": control_features}
        return cls._of_predictions(y_true, y_pred, y_score, columns, params)

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_seed(self.random_state)
        check_choice("compare", self.compare, ("to_rest", "in_context"))
        check_choice("guarantee", self.guarantee, scan.GUARANTEES)
        check_choice("alternative", self.alternative, ("two-sided", "greater", "less"))
        check_number("n_resamples", self.n_resamples, 1, MOST_RESAMPLES, whole=True, bounds="[]")
        check_number("min_group_size", self.min_group_size, 1, 10**18, whole=True, bounds="[]")
        for name in ("max_depth", "max_subgroups", "n_bins"):
            check_number(name, getattr(self, name), 2 if name == "n_bins" else 1, 10**9, whole=True, bounds="[]")
        named = check_names_of_columns(self.features, "features")
        if self.compare == "in_context" and named is None:
            raise ParameterError(
                "compare='in_context' compares people who share values of features, but features is None: name columns "
                "of X, as in features='department', or use compare='to_rest'"
            )
        settings = check_settings(**{**self.get_params(), "compare": "to_rest", "adjust": "holm"})
        return settings, resolve_metrics(self.metric)

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        sensitive = read_columns(inputs.groups, "sensitive_features", default_name="sensitive_feature")
        names = check_names_of_columns(self.features, "features") or ()
        if set(names) - {column.name for column in sensitive}:
            if self.estimator is None:
                raise ParameterError(
                    f"features={brief(self.features)} are columns of X, and without an estimator the X of fit is the "
                    "predictions: use from_predictions(y_true, y_pred, X=...)"
                )
            sensitive = _together(sensitive, inputs.X, names)
        columns = {**inputs.columns, "sensitive_features": sensitive}
        return Sample.from_predictions(inputs.y, y_pred, y_score=y_score, few_groups=False, **columns)

    def _fit_sample(
        self, sample: Sample, settings: Settings, metrics: list[Metric] | None, seed: Any, subject: str
    ) -> Self:
        assert metrics is not None
        if sample.weight is not None:
            raise ParameterError("table has sums of weights, but a scan counts people: use a table without weights")
        cells, edges, contextual = self._cells(sample)
        positive = positive_label(sample, metrics, self.pos_label, classes_of(self.estimator))
        design = Design(sample, settings, (), (), positive, self.pos_label, ())
        measures = [measure_of(design, metric) for metric in metrics]
        everyone, left_out = all_subgroups(cells, self.max_depth, self.min_group_size, self.max_subgroups)
        if not len(everyone):
            raise ParameterError(
                f"min_group_size={self.min_group_size}: among these people (n_samples={sample.n_samples}) no subgroup "
                "and its comparison group both have that many; use a smaller min_group_size, or features with fewer "
                "values"
            )
        self._check_means(measures, settings.alpha, len(everyone.contexts))
        halves = scan.people_of(cells, measures, seed_sequence(seed) if self.guarantee == "split" else None)
        tested = self._search(measures, everyone, halves, settings.alpha, left_out)
        log_adjusted = self._adjusted(tested, seed)
        n_tested, chosen, remaining = sum(len(one.log_p) for one in tested), [], 0.0
        for one, log_p in zip(tested, log_adjusted, strict=True):
            found = np.flatnonzero(log_p <= np.log(settings.alpha) + 1e-12)
            steps, left = scan.explain(one, found, n_tested, settings.alpha)
            chosen.append(steps)
            remaining = min(remaining, left)
        controls = " x ".join(sample.control_names)
        self._setup = Setup(alternative=self.alternative, alpha=settings.alpha, controls=controls, **words_of(metrics))
        features = tuple(name for name in sorted(sample.sensitive_names) if name not in contextual)
        self._names = tuple(metric.name for metric in metrics), features, contextual
        self._keep(tested, log_adjusted, chosen, edges, settings.alpha, n_tested)
        rows = [(" x ".join(map(label, one.features)), one.subgroups, one.reason) for one in left_out]
        self.not_searched_ = pd.DataFrame(rows, columns=["features", "subgroups", "reason"])
        self.remaining_p_value_ = p_of(remaining)
        self.n_searched_, self.n_tested_, self.edges_ = len(everyone) * len(measures), n_tested, edges
        self.pos_label_, self.n_samples_ = positive, sample.n_samples
        self.negative_labels_ = other_labels(sample.labels, positive)
        self._keep_parameters()
        self._warn_of_means(tested, chosen)
        return self

    def _warn_of_means(self, tested: Sequence[scan.Scanned], chosen: Sequence[Sequence[scan.Step]]) -> None:
        """Warn of reported means of too few people, or of a few extreme ones, whose p-values are approximate."""
        reported = [(one, row) for one, steps in zip(tested, chosen, strict=True) for row, _ in steps]
        means = [(one, row) for one, row in reported if isinstance(one.measure.sums, MeanSums)]
        reasons = [(one, row, why) for one, row in means if (why := scan.doubtful(one, row))]
        if reasons:
            one, row, why = reasons[0]
            name = ", ".join(f"{feature} = {label(value)}" for feature, value in one.subgroups.description(row))
            more = f" (and {pluralize(len(reasons) - 1, 'other subgroup')})" if len(reasons) > 1 else ""
            warn(
                f"{one.measure.metric.name} of {name} {why}{more}: p-values of its comparison are approximate, and may "
                "be too small; a rate has an exact test for any number of people",
            )

    def _check_means(self, measures: Sequence[Measure], alpha: float, families: int) -> None:
        means = [measure.metric.name for measure in measures if isinstance(measure.sums, MeanSums)]
        if means and self.guarantee != "familywise":
            raise ParameterError(
                f"guarantee={self.guarantee!r} needs exact p-values, and {means[0]} is a mean, whose p-values are not: "
                "use guarantee='familywise', which permutes people, or a rate"
            )
        fewest = int(np.ceil(families * len(measures) / alpha - 1e-9)) - 1
        if means and self.n_resamples < fewest:
            raise ParameterError(
                f"n_resamples={self.n_resamples:,} is too few for {means[0]}: no p-value of permutations could be as "
                f"small as {alpha:.3g}, the level, divided by the number of metrics ({len(measures)})"
                f"{f' and of kinds of contexts ({families})' if families > 1 else ''}; use at least {fewest:,}"
            )

    def _cells(self, sample: Sample) -> tuple[Cells, dict[str, tuple[float, ...]], tuple[str, ...]]:
        """Return people by the values of their features; edges of intervals; and names of the features of contexts."""
        names = check_names_of_columns(self.features, "features") or ()
        missing = sorted(set(names) - set(sample.sensitive_names))
        if missing:
            raise ParameterError(
                f"features: {', '.join(map(label, missing))} is not a feature of the table, which has "
                f"{', '.join(map(label, sample.sensitive_names))}"
            )
        # In an order that does not depend on that of the columns.
        columns = sorted(sample.sensitive, key=lambda column: column.name)
        cut = [in_intervals(column, self.n_bins, sample.counts) for column in columns]
        edges = {column.name: found for column, found in cut if found}
        contextual = names if self.compare == "in_context" else ()
        if len(contextual) == len(columns):
            raise ParameterError(
                "features names all columns, but compare='in_context' needs at least one sensitive feature besides them"
            )
        features = tuple(column for column, _ in cut)
        within = tuple(column.name in contextual for column in features)
        return Cells(features, within, sample.stratum_codes.astype(np.intp), sample.counts), edges, tuple(contextual)

    def _search(
        self, measures: Sequence[Measure], everyone: Subgroups, halves: list[list[Floats]], alpha: float,
        left_out: list[NotSearched],
    ) -> list[scan.Scanned]:  # fmt: skip
        """Test every distinct subgroup; with "split" those that explain the first half, on the second."""
        tested = []
        for place, measure in enumerate(measures, start=1):
            together = np.sum([half[place] for half in halves], axis=0)
            # One subgroup for each different comparison.
            counted = together[:, 1 if isinstance(measure.sums, RateSums) else 0] > 0
            rows, n_alike = distinct_subgroups(everyone, counted, two_sided=self.alternative == "two-sided")
            subgroups = everyone.take(rows)
            if n_alike:
                name = label(measure.metric.name)
                left_out.append(NotSearched((f"all ({name})",), n_alike, "the same comparison as a subgroup tested"))
            one = scan.Scanned.of(measure, halves[0][0], halves[0][place], subgroups, self.alternative)
            if self.guarantee == "split":
                steps, _ = scan.explain(one, np.flatnonzero(one.log_p <= np.log(alpha)), 1, alpha)
                rows = np.array([row for row, _ in steps], dtype=np.intp)
                one = scan.Scanned.of(measure, halves[1][0], halves[1][place], subgroups.take(rows), self.alternative)
            tested.append(one)
        return tested

    def _adjusted(self, tested: list[scan.Scanned], seed: Any) -> list[Floats]:
        """Adjust p-values, all measures in one family; those of means are at least the permutations' p-values."""
        log_p, smallest = (np.concatenate([getattr(one, name) for one in tested]) for name in ("log_p", "smallest"))
        found = np.split(tarone_holm(log_p, smallest), np.cumsum([len(one.log_p) for one in tested])[:-1])
        means = [place for place, one in enumerate(tested) if isinstance(one.measure.sums, MeanSums)]
        for place, own in zip(means, seed_sequence(seed).spawn(len(means)) if means else (), strict=True):
            drawn = scan.by_permutation(tested[place], self.n_resamples, own) + np.log(len(tested))
            found[place] = np.maximum(found[place], np.minimum(drawn, 0.0))
        return found

    def _keep(
        self, tested: list[scan.Scanned], log_adjusted: list[Floats], chosen: list[list[scan.Step]],
        edges: dict[str, tuple[float, ...]], alpha: float, n_tested: int,
    ) -> None:  # fmt: skip
        """Set the attributes with the results."""
        frames = [
            scan.subgroups_frame(one, log_p, steps, edges, alpha)
            for one, log_p, steps in zip(tested, log_adjusted, chosen, strict=True)
        ]
        by_evidence = ["p_value", "depth"]
        self.subgroups_ = pd.concat(frames).sort_values(by_evidence, kind="stable", ignore_index=True)
        self.comparisons_ = scan.results_frame(frames, tested, chosen, alpha / max(n_tested, 1), self._setup)
        self.p_value_ = float(self.subgroups_["p_value_adjusted"].min()) if n_tested else 1.0
        self.rejected_, self.concern_ = self.p_value_ <= alpha, len(self.comparisons_) > 0
        self.statistic_, self.disparity_, self.confidence_interval_ = np.nan, np.nan, (np.nan, np.nan)
        if n_tested:
            place = int(np.argmin([one.log_p.min(initial=np.inf) for one in tested]))
            row = int(np.argmin(tested[place].log_p))
            strongest = frames[place].iloc[row]
            self.statistic_, self.disparity_ = float(strongest["statistic"]), float(strongest["disparity"])
            self.confidence_interval_ = scan.limits_of(
                tested[place], row, self.disparity_, alpha / n_tested, rejected=strongest["concern"]
            )

    def to_frame(self) -> Any:
        """Return every subgroup that was tested as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `subgroups_`.
        """
        check_is_fitted(self)
        return self.subgroups_.copy()

    def _made(self) -> Report:
        return scan.scan_report(self)


def _together(sensitive_features: Any, X: Any, features: Any) -> tuple[Column, ...]:
    """Read the sensitive features, and the columns of X that are not among them."""
    sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
    named = {column.name for column in sensitive}
    names = [name for name in check_names_of_columns(features, "features") or () if name not in named]
    if not names:
        return sensitive
    others = read_columns(named_columns(X, names, "features"), "features", default_name="feature")
    return (*sensitive, *(replace(column) for column in others))
