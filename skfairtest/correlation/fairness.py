"""The test of one model for a continuous sensitive feature, such as age: whether outcomes grow or shrink with it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags

from skfairtest import readers
from skfairtest._utils.base import check_seed, seed_sequence, with_parameters
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, SmallGroupWarning, brief, warn
from skfairtest._utils.text import enumerated, label, name_of
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.frames import comparisons_columns, excluded_frame, frame_of, null_distribution
from skfairtest.comparisons.measure import FEW_PEOPLE
from skfairtest.comparisons.outcomes import numbers, own_outcome, predicted_columns
from skfairtest.comparisons.people import GroupsTest, Inputs
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.correlation import measure
from skfairtest.correlation.statistics import arrange
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import NO_PROOF, Setup, adjustment_note, capital, decimal, equals_p, sampling_error
from skfairtest.tables import Sample

#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}
#: What each correlation is called.
CORRELATIONS = {"pearson": "correlation", "spearman": "rank correlation"}


@with_parameters
class CorrelationFairnessTest(GroupsTest):
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
        which returns one number per person. The labels of a classifier of two classes become 1 (`pos_label`) and 0.
    correlation : {"pearson", "spearman"}, default="pearson"
        Pearson's r, or Spearman's rho, with midranks for ties.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis. "greater": a positive correlation. A two-sided test compares absolute values.
    adjust : {"auto", "holm", "bonferroni", "fdr_bh", None}, default="auto"
        How p-values are adjusted for the number of sensitive features; "auto" is Holm.
    confidence_level : float, default=0.95
        Confidence level of intervals; one minus it is the level of the test.
    n_resamples : int or "adaptive", default=9999
        Number of permutations. "adaptive": until 20 are at least as extreme as the data, at most 9999.
    pos_label : label, optional
        The positive one of a classifier's two classes. None: 1 of {0, 1} or {-1, 1}, or True; other classes need one.
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
    pos_label_ : object
        The class counted as 1; None where labels are numbers.
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

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sensitive_features": True,
        "control_features": True,
        "predict_params": True,
        "sample_weight": False,
        "clusters": False,
    }
    _of: ClassVar[str] = "of"
    _refused: ClassVar[dict[str, str]] = {
        "sample_weight": "people count alike in this test of correlations: leave it out",
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

    def __sklearn_tags__(self) -> Tags:
        """Declare whether true values are required: predictions alone can be correlated too."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.of != "prediction"
        return tags

    def _without_groups(self, what: str = "columns of numbers", column: str = "age") -> ParameterError:
        return super()._without_groups(what, column)

    def _made(self) -> Report:
        return correlation_report(self)

    def _check(self) -> tuple[Settings, None]:
        check_seed(self.random_state)
        if not callable(self.of):
            check_choice("of", self.of, OUTCOMES)
        check_choice("correlation", self.correlation, CORRELATIONS)
        check_choice("alternative", self.alternative, ("two-sided", "greater", "less"))
        return check_settings(**{**self.get_params(), "method": "permutation"}), None

    @property
    def _classes(self) -> tuple[Any, ...]:
        return readers.classes_of(self.estimator) or ()

    def _positive(self) -> Any:
        """The class counted as 1; None if labels are numbers."""
        if len(self._classes) == 2:
            return readers.resolve_pos_label(self._classes, self.pos_label)
        if self.pos_label is not None:
            raise ParameterError(
                f"pos_label={brief(self.pos_label)} is a label of a classifier of two classes, and the estimator is "
                "none: leave it out"
            )
        return None

    def _ask(self, estimator: Any, inputs: Inputs, metrics: Any, needed: Any, common: Any) -> tuple[Any, Any]:
        """Return probabilities of the positive one of two classes if there are any, else predictions."""
        pos_label = self._positive()
        if pos_label is None or not hasattr(estimator, "predict_proba"):
            return readers.predict(estimator, inputs.X, **common), None
        known = {"metric": "of", "pos_label": pos_label, **common}
        return readers.scores(estimator, inputs.X, ["predict_proba"], **known), None

    def _sample(self, inputs: Inputs, y_pred: Any, y_score: Any) -> Sample:
        labels = predicted_columns(inputs.y, y_pred, y_score)
        features, controls = (
            () if data is None else readers.read_columns(data, f"{kind}_features", default_name=f"{kind}_feature")
            for kind, data in (("sensitive", inputs.groups), ("control", inputs.columns["control_features"]))
        )
        readers.check_same_people({**labels, "sensitive_features": features, "control_features": controls})
        return Sample(labels, features, controls)

    def _values(self, sample: Sample, pos_label: Any) -> Floats:
        """Return each person's outcome."""
        columns: Any = sample.columns
        classes, is_own = self._classes, callable(self.of)
        if "y_true" not in columns and self.of != "prediction":
            raise ParameterError(f"y is missing: of={name_of(self.of)} needs the true values; of='prediction' does not")
        if len(classes) > 2 and not is_own:
            raise ParameterError(
                f"estimator has {len(classes)} classes, whose labels cannot be subtracted: pass "
                "of=lambda y_true, y_pred: ..., which returns a number per person"
            )
        if sample.n_samples >= FEW_PEOPLE and [len(column.levels) for column in columns.values()] == [2, 2]:
            readers.check_vocabularies({name: column.levels for name, column in columns.items()}, all_classes=True)
        strange = set(columns["y_true"].levels).difference(classes) if len(classes) == 2 and "y_true" in columns else ()
        if strange:
            raise ParameterError(
                f"y_true holds {brief(min(strange, key=str))}, which is neither of the estimator's classes "
                f"{classes[0]!r} and {classes[1]!r}"
            )
        values: list[Floats] = []
        for name, column in columns.items():
            if len(classes) == 2 and (name == "y_true" or not hasattr(self.estimator, "predict_proba")):
                values.append(np.array([float(level == pos_label) for level in column.levels])[column.codes])
            else:
                values.append(column.values if len(classes) > 2 else numbers(column, name))
        if is_own:
            return own_outcome(self.of, *values)
        if self.of == "prediction":
            return values[-1]
        return np.abs(values[0] - values[1]) if self.of == "absolute_error" else values[0] - values[1]

    def _fit_sample(self, sample: Sample, settings: Settings, metrics: Any, seed: Any, subject: str) -> Self:
        x, pos_label = [measure.feature_values(column) for column in sample.sensitive], self._positive()
        names, controls = list(sample.sensitive_names), " x ".join(sample.control_names)
        strata = sample.stratum_codes if controls else None
        # Between people of equal outcome features decide in the order of their names, not of their columns.
        pairs = arrange(x, self._values(sample, pos_label), strata, order=np.argsort(names, kind="stable"))
        measure.check_pairs(pairs, controls, name_of(self.of))
        self._outcome = OUTCOMES[self.of] if isinstance(self.of, str) else f"values of {name_of(self.of)}"
        self._measure = CORRELATIONS[self.correlation]
        what, labels = f"{self._measure} of {self._outcome}", sample.stratum_labels
        seeds = seed_sequence(seed)
        result = measure.measure_correlations(pairs, names, labels, self.correlation, settings, seeds, what)
        if doubt := measure.doubt(result):
            warn(doubt, SmallGroupWarning)
        (result,) = judge([result], settings)
        self._set_verdict(result)
        self.comparisons_ = frame_of(comparisons_columns(result.comparisons, measure.COLUMNS))
        self.excluded_ = excluded_frame(result.excluded, measure.EXCLUDED_COLUMNS)
        pooled = [one for one in result.comparisons if one.is_pooled]
        self.null_distribution_ = null_distribution(pooled, self.n_resamples_)
        self.method_, self.n_samples_, self.pos_label_ = "permutation", sample.n_samples, pos_label
        self._setup = Setup(
            alternative=settings.question.alternative, alpha=settings.alpha, controls=controls, adjust=self.adjust_
        )
        self._keep_parameters()
        return self


def correlation_report(test: Any) -> Report:
    """The report of a fitted `CorrelationFairnessTest`."""
    setup, strata = test._setup, test._setup.controls and label(test._setup.controls)
    rows = cells.records(cells.pooled_first(test.comparisons_.sort_values("p_value", kind="stable")))
    main, within = ([row for row in rows if (row["stratum"] is None) is pooled] for pooled in (True, False))
    lead = cells.records(test.comparisons_)[test._leading]
    feature, size = label(lead["feature"]), decimal(lead["correlation"], 2)
    said = f"no correlation of {test._outcome} with {feature} was found"
    if test.concern_:
        said = f"{test._outcome} {'grow' if lead['correlation'] > 0 else 'shrink'} with {feature}"
    interval = cells.difference_span(lambda end: decimal(end, 2), {**lead, "concern": test.concern_})
    said += f"{f' within levels of {strata}' if strata else ''}: {test._measure} {size} (interval {interval})"
    inside = f"within every {strata}, " if strata else ""
    zero = {"two-sided": "zero", "greater": "at most zero", "less": "at least zero"}[setup.alternative]
    columns = (
        cells.FEATURE, cells.stratum(setup.controls), Column("people", shows="n"),
        Column("correlation", shows=lambda row: decimal(row["correlation"])), cells.interval(decimal), cells.P,
        cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    families = "Single strata are a second family, adjusted by itself; the verdict is on the pooled comparisons."
    features = enumerated([label(feature) for feature in dict.fromkeys(test.comparisons_["feature"])])
    return Report(
        title=f"Correlation of {test._outcome} with {features}",
        verdict=f"{capital(said)}, adjusted {equals_p(test.p_value_)}.",
        concern=test.concern_,
        remarks=(
            *([] if test.concern_ else [NO_PROOF]), *cells.counted(main, "feature"),
            *cells.counted(within, within=setup.controls), *sampling_error(test.p_value_interval_),
        ),
        hypotheses=(
            f"{inside}the {test._measure} of {test._outcome} with each sensitive feature is {zero}. Permuting is exact "
            "if they are independent, and is valid in large samples if they are only uncorrelated.",
        ),
        tables=(Table.of(columns, cells.barred(rows, at="correlation"), "Comparisons", few=cells.SHOWN),),
        left_out=cells.excluded_tables(test.excluded_),
        notes=(adjustment_note(setup.adjust, setup.alpha, "feature"), *([families] if within else [])),
    )  # fmt: skip
