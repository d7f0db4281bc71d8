"""The test of one model for a continuous sensitive feature, such as age: whether outcomes grow or shrink with it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np

from skfairtest import readers
from skfairtest._utils.base import seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, SmallGroupWarning, warn
from skfairtest._utils.text import enumerated, label, name_of
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.frames import comparisons_columns, excluded_frame, frame_of, null_distribution
from skfairtest.comparisons.outcomes import OutcomeTest, predicted_columns
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import Settings
from skfairtest.correlation import measure
from skfairtest.correlation.statistics import arrange
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import NO_PROOF, Setup, adjustment_note, capital, decimal, equals_p, sampling_error
from skfairtest.tables import Sample

#: What each correlation is called.
CORRELATIONS = {"pearson": "correlation", "spearman": "rank correlation"}


@with_parameters
class CorrelationFairnessTest(OutcomeTest):
    """Test whether predictions or errors are correlated with a continuous sensitive feature, such as age.

    Null hypothesis: the correlation of the outcome (`of`) with each sensitive feature is zero. The outcome is permuted,
    and each permutation's correlation is divided by its own standard error. If outcome and feature are independent, the
    test is exact in samples of any size. If they are uncorrelated but dependent (errors that vary more among the young,
    but are no larger on average), it is valid in large samples, unlike the ordinary permutation test.

    Parameters
    ----------
    estimator : fitted estimator, optional
        The test never fits it. The prediction of a classifier of two classes is the probability of `pos_label` if
        it has ``predict_proba``; otherwise it is what ``predict`` returns. None: the `X` of `fit` is the predictions.
    of : {"absolute_error", "residual", "prediction"} or callable, default="absolute_error"
        The outcome: the absolute difference of y_true and y_pred, y_true - y_pred, y_pred, or ``of(y_true, y_pred)``,
        which returns one number per person. Labels become 1 (`pos_label`) and 0.
    correlation : {"pearson", "spearman"}, default="pearson"
        Pearson's r, or Spearman's rho, with midranks for ties.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis. "greater": a positive correlation. A two-sided test compares absolute values.
    adjust : {"auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None}, default="auto"
        How p-values are adjusted for the number of sensitive features; "auto" and "discrete_holm" are Holm.
    confidence_level : float, default=0.95
        Confidence level of intervals; one minus it is the level of the test.
    n_resamples : int or "adaptive", default=9999
        Number of permutations. "adaptive": until 20 are at least as extreme as the data, at most 9999.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True; other labels need one.
    random_state : int, RandomState, Generator or None
        Seed of the permutations.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    verbose : int, default=0
        As in `FairnessTest`.

    Attributes
    ----------
    p_value_ : float
        The global p-value: the smallest familywise-adjusted one.
    rejected_, concern_ : bool
        ``p_value_ <= 1 - confidence_level``.
    statistic_, disparity_ : float
        Studentized and plain correlation of the feature that sets `p_value_`.
    confidence_interval_ : tuple of float
        Confidence limits of that correlation, simultaneous over all features (pointwise with a false-discovery rule or
        ``adjust=None``). See the notes.
    comparisons_ : DataFrame
        One row per feature; with control features, more rows for single strata. ``standard_error`` is the correlation's
        standard error, whatever its true value, from its influence function; for "pearson", ``statistic`` divides by
        the standard error under zero correlation.
    excluded_ : DataFrame
        Strata that were left out, with the reason and the number of people.
    null_distribution_ : ndarray of shape (n_resamples, n_features)
        Statistics of the permutations, pooled over strata; NaN where undefined, or after the permutations had stopped.
    p_value_interval_ : tuple of float
        95% limits of the Monte-Carlo error of `p_value_`.
    method_, adjust_ : str or None
        What was run.
    n_resamples_ : int
        How many permutations the pooled comparisons have.
    pos_label_, negative_labels_ : object
        The label counted as 1, and the others; None and empty if outcomes are numbers.
    n_samples_ : int
        People.

    See Also
    --------
    FairnessTest : The test for groups.

    Notes
    -----
    With control features, the outcome is permuted within strata (at most 1,000 of all features
    together), and the correlation is of deviations from the stratum's mean (Spearman: of ranks within the stratum).

    An interval contains the correlations that the test does not reject, with the critical value of the permutations at
    the level divided by the number of features, or Student's t if there are too few permutations to reject anything.
    For "pearson" the standard error is computed at each hypothetical correlation, for "spearman" at the estimate. The
    interval contains zero if, and only if, the comparison is not rejected.

    Measured coverage at a nominal .95: "pearson" .94 to .97 for 40 and 200 people with normal, lognormal and Student's
    t variables (3 degrees of freedom), .92 to .97 for 8 to 20 people; "spearman" .92 to .97 for 40 and 200 people.
    Coverage is too low if mean and spread of the outcome grow steeply with the feature: with b x + eps x^2, normal x
    and eps and a correlation of .6, "pearson" covers .82 for 40 people, .86 for 200 and .92 for 1,000, and "spearman"
    .85 for 40 and .94 for 200.

    References
    ----------
    C. J. DiCiccio and J. P. Romano (2017), Robust permutation tests for correlation and regression coefficients, JASA
    112, 1211-1220. C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import CorrelationFairnessTest
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 70, 300)
    >>> y_true = rng.normal(size=300) * age / 45
    >>> test = CorrelationFairnessTest.from_predictions(
    ...     y_true, np.zeros(300), sensitive_features={"age": age}, random_state=0
    ... )
    >>> print(str(test).splitlines()[0])
    Absolute errors grow with age: correlation 0.34 (interval 0.26 to 0.43), adjusted p = 1.0e-04.
    """

    _outcomes: ClassVar[tuple[str, ...]] = ("prediction", "residual", "absolute_error")
    _method: ClassVar[str] = "permutation"
    _refused: ClassVar[dict[str, str]] = {
        "sample_weight": "this test of correlations takes no weights: leave it out",
        "clusters": "permuting outcomes needs independent rows: pass one row per cluster, such as its means",
    }
    _uncounted: ClassVar[str] = "table counts people, who are correlated one by one: use from_predictions"
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "p_value_interval", "rejected", "concern", "statistic", "disparity", "confidence_interval",
        "comparisons", "excluded", "method", "adjust", "n_resamples", "pos_label", "n_samples",
    )  # fmt: skip

    estimator: Any = field(default=None, kw_only=False)
    of: Any = "absolute_error"
    correlation: str = "pearson"
    alternative: str = "two-sided"
    adjust: str | None = "auto"
    confidence_level: float = 0.95
    n_resamples: int | str = 9999
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _without_groups(self, what: str = "columns of numbers", column: str = "age") -> ParameterError:
        return super()._without_groups(what, column)

    def _made(self) -> Report:
        setup, strata = self._setup, self._setup.controls and label(self._setup.controls)
        rows = cells.records(cells.pooled_first(self.comparisons_.sort_values("p_value", kind="stable")))
        main, within = ([row for row in rows if (row["stratum"] is None) is pooled] for pooled in (True, False))
        lead = cells.records(self.comparisons_)[self._leading]
        feature, size = label(lead["feature"]), decimal(lead["correlation"], 2)
        said = f"no correlation of {self._outcome} with {feature} was found"
        if self.concern_:
            said = f"{self._outcome} {'grow' if lead['correlation'] > 0 else 'shrink'} with {feature}"
        interval = cells.difference_span(lambda end: decimal(end, 2), {**lead, "concern": self.concern_})
        said += f"{f' within levels of {strata}' if strata else ''}: {self._measure} {size} (interval {interval})"
        inside = f"within every {strata}, " if strata else ""
        zero = {"two-sided": "zero", "greater": "at most zero", "less": "at least zero"}[setup.alternative]
        columns = (
            cells.FEATURE, cells.stratum(setup.controls), Column("people", shows="n"),
            Column("correlation", shows=lambda row: decimal(row["correlation"])), cells.interval(decimal), cells.P,
            cells.ADJUSTED_P, cells.VERDICT,
        )  # fmt: skip
        features = enumerated([label(feature) for feature in dict.fromkeys(self.comparisons_["feature"])])
        return Report(
            title=f"Correlation of {self._outcome} with {features}",
            verdict=f"{capital(said)}, adjusted {equals_p(self.p_value_)}.",
            concern=self.concern_,
            remarks=(
                *([] if self.concern_ else [NO_PROOF]), *cells.counted(main, "feature"),
                *cells.counted(within, within=setup.controls), *sampling_error(self.p_value_interval_),
            ),
            hypotheses=(
                f"{inside}the {self._measure} of {self._outcome} with each sensitive feature is {zero}. Permuting is "
                "exact if they are independent, and is valid in large samples if they are only uncorrelated.",
            ),
            tables=(Table.of(columns, cells.barred(rows, at="correlation"), "Comparisons", few=cells.SHOWN),),
            left_out=cells.excluded_tables(self.excluded_),
            notes=(adjustment_note(setup.adjust, setup.alpha, "feature", strata=setup.controls),),
        )  # fmt: skip

    def _check(self) -> tuple[Settings, None]:
        check_choice("correlation", self.correlation, CORRELATIONS)
        return super()._check()

    @property
    def _responses(self) -> tuple[str, ...]:
        binary = len(readers.classes_of(self.estimator) or ()) == 2
        return ("predict_proba",) if binary and hasattr(self.estimator, "predict_proba") else ()

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        labels = predicted_columns(inputs.y, y_pred, y_score)
        features, controls = (
            () if data is None else readers.read_columns(data, f"{kind}_features", default_name=f"{kind}_feature")
            for kind, data in (("sensitive", inputs.groups), ("control", inputs.columns["control_features"]))
        )
        readers.check_same_people({**labels, "sensitive_features": features, "control_features": controls})
        return Sample(labels, features, controls)

    def _fit_sample(self, sample: Sample, settings: Settings, metrics: Any, seed: Any, subject: str) -> Self:
        x = [measure.feature_values(column) for column in sample.sensitive]
        names, controls = list(sample.sensitive_names), " x ".join(sample.control_names)
        strata, outcome = sample.stratum_codes if controls else None, self._values(sample.columns)
        # Between people of equal outcome features decide in the order of their names, not of their columns.
        pairs = arrange(x, outcome, strata, order=np.argsort(names, kind="stable"))
        measure.check_pairs(pairs, controls, name_of(self.of))
        self._measure = CORRELATIONS[self.correlation]
        what, labels, seeds = f"{self._measure} of {name_of(self.of)}", sample.stratum_labels, seed_sequence(seed)
        result = measure.measure_correlations(pairs, names, labels, self.correlation, settings, seeds, what)
        if doubt := measure.doubt(result):
            warn(doubt, SmallGroupWarning)
        (result,) = judge([result], settings)
        self._store(result, sample, "permutation")
        self.comparisons_ = frame_of(comparisons_columns(result.comparisons, measure.COLUMNS))
        self.excluded_ = excluded_frame(result.excluded, measure.EXCLUDED_COLUMNS)
        pooled = [one for one in result.comparisons if one.is_pooled]
        self.null_distribution_ = null_distribution(pooled, self.n_resamples_)
        self._setup = Setup(
            alternative=settings.question.alternative, alpha=settings.alpha, controls=controls, adjust=self.adjust_
        )
        return self
