"""The kinds of test that run the gauntlet, as declarations.

A kind names the public tests that it covers, the question that its null hypothesis answers, how it is asked (see
`gauntlet_answers`) and which columns it takes. Names of `skfairtest` that give no p-value and no verdict are in
`NO_TESTS`, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.common.gauntlet_answers import (
    EDGE,
    SIX_RATES,
    WRONG_BY_POSITIVE,
    adjusted,
    audit,
    audited_classifier,
    audited_regressor,
    between,
    bounds,
    correlation,
    decomposition,
    few_labels,
    frame,
    group_test,
    homogeneity,
    impact,
    in_batches,
    in_queues,
    individuals,
    margin_test,
    models,
    p_value,
    paired,
    scan,
    scored,
    selected,
    shares_of_few,
    uncertain,
    unequal_labels,
)


@dataclass(frozen=True)
class Kind:
    """One kind of test.

    Parameters
    ----------
    name : str
        Of its row.
    tests : tuple of str
        Public names that it covers.
    question : str
        What its null hypothesis says, a key of `_gauntlet_designs.QUESTIONS`.
    answer : callable
        Of people and a seed: what is said of them.
    takes : tuple of str
        Of "weights", "clusters" and "strata".
    factor : float
        What the rate of the first group is multiplied by, so that the null hypothesis is true just so.
    data_sets : int
        Of a cell.
    quick, most : tuple of str, int
        The designs of a quick run, and the most data sets there.
    small : int
        With at most so many people in a group sizes up to .07 are allowed.
    slow : dict
        Numbers of data sets of designs on which a test takes long, or of which more are needed.
    """

    name: str
    tests: tuple
    question: str
    answer: Callable
    takes: tuple = ("weights", "clusters", "strata")
    factor: float = 1.0
    data_sets: int = 100
    quick: tuple = ()
    most: int = 60
    small: int = 0
    slow: dict = field(default_factory=dict)

    def why_not(self, design):
        """Say why there is no answer for a design; None where there should be one."""
        reason = design.why_not(self.question)
        if reason is not None:
            return reason
        given = {"weights": design.weights, "clusters": design.clusters, "strata": design.strata}
        missing = [name for name, there in given.items() if there and name not in self.takes]
        return f"takes no {missing[0]}" if missing else None


NOTHING, STRATA = (), ("strata",)
SPARSE, FOLLOW, MANY_GROUPS = "sparse disagreement", "weights that follow the outcome", "many small groups"
IN_STRATA = ("matched pairs", "strata of two")
KINDS = (
    Kind("rates", ("FairnessTest",), "rates", group_test("equalized_odds"), data_sets=150,
         quick=("ordinary", "rare events", MANY_GROUPS)),
    Kind("ratios of rates", ("FairnessTest",), "rates", group_test("selection_rate", null=1.0, disparity="ratio"),
         quick=(FOLLOW, MANY_GROUPS)),
    Kind("margins", ("FairnessTest",), "margins", margin_test("less"), factor=EDGE, quick=(FOLLOW, "rare events"),
         slow=dict.fromkeys((FOLLOW, f"{FOLLOW}, many people"), 400)),
    Kind("equivalence", ("FairnessTest",), "margins", margin_test("equivalence"), factor=EDGE, data_sets=60,
         quick=(FOLLOW,)),
    Kind("rates against the highest", ("FairnessTest",), "rates", group_test("selection_rate", compare="to_highest"),
         ("weights", "clusters"), quick=("rare events", MANY_GROUPS)),
    Kind("rates with unknown groups", ("FairnessTest",), "subgroups, rates", bounds, NOTHING, data_sets=40,
         quick=("rare events",), most=20),
    Kind("homogeneity of odds ratios", ("FairnessTest",), "odds ratios", homogeneity, STRATA, data_sets=60,
         quick=("strata of two",), most=8),
    Kind("means", ("FairnessTest",), "means", group_test("mean_prediction", "numbers"), data_sets=400,
         quick=("ordinary", SPARSE, "unequal shapes", FOLLOW, "few clusters"), most=100),
    Kind("mean losses", ("FairnessTest",), "losses", group_test("mean_squared_error", "losses"), data_sets=200,
         quick=("unequal shapes",)),
    Kind("areas", ("FairnessTest",), "areas", group_test("roc_auc", "scores"), data_sets=200, small=60,
         quick=("ordinary", "rare events")),
    Kind("F1", ("FairnessTest",), "labels", group_test("f1"), small=60, quick=("hardly any error", "few clusters")),
    Kind("balanced accuracy", ("FairnessTest",), "labels", group_test("balanced_accuracy"), small=60,
         quick=("hardly any error",)),
    Kind("Matthews' coefficient", ("FairnessTest",), "labels", group_test("matthews_corrcoef"), small=60,
         quick=("hardly any error",)),
    Kind("Theil's index", ("FairnessTest",), "theil", group_test("theil_index"), data_sets=200, small=60,
         quick=("errors of two kinds", "hardly any error")),
    Kind("log losses", ("FairnessTest",), "scored labels", group_test("log_loss", "scores"), small=60,
         quick=("ordinary",)),
    Kind("calibration", ("FairnessTest",), "scored labels", group_test("calibration", "scores"), small=60,
         quick=("ordinary",)),
    Kind("families of six rates", ("FairnessTest",), "labels", group_test(SIX_RATES), quick=("ordinary", FOLLOW),
         data_sets=20, most=10),
    Kind("several labels", ("FairnessTest",), "labels", group_test("demographic_parity", "classes"), data_sets=40,
         quick=("ordinary",), most=10),
    Kind("distributions", ("FairnessTest",), "scored labels", group_test("distribution", "scores"), data_sets=60,
         quick=("ordinary",), most=20),
    Kind("ratios of sums", ("FairnessTest",), "labels", group_test(WRONG_BY_POSITIVE), small=60,
         quick=("hardly any error",)),
    Kind("coverage of intervals", ("FairnessTest",), "labels", group_test("coverage", "intervals"),
         quick=("rare events",)),
    Kind("average precision, greater", ("FairnessTest",), "scored labels",
         group_test("average_precision", "scores", alternative="greater"), NOTHING, data_sets=100, small=60,
         quick=("ordinary",), most=20),
    Kind("average precision, less", ("FairnessTest",), "scored labels",
         group_test("average_precision", "scores", alternative="less"), NOTHING, data_sets=100, small=60,
         quick=("ordinary",), most=20),
    Kind("calibration, Kuiper", ("FairnessTest",), "scored labels", group_test("kuiper_calibration", "scores"),
         small=60, data_sets=60, quick=("ordinary",), most=30),
    Kind("fairness_p_value", ("fairness_p_value",), "rates", p_value, data_sets=40, quick=("rare events",), most=30),
    Kind("frames", ("SignificanceFrame",), "rates", frame, NOTHING, data_sets=40, quick=(MANY_GROUPS,), most=20),
    Kind("impact tables", ("impact_table",), "rates", impact, NOTHING, quick=(MANY_GROUPS,), most=20),
    Kind("decomposition of inequality", ("inequality_decomposition",), "labels", decomposition, NOTHING,
         data_sets=200, quick=("ordinary", "hardly any error")),
    Kind("spread of rates", ("between_group_spread",), "rates", between, NOTHING, data_sets=200,
         quick=("rare events", MANY_GROUPS)),
    Kind("audits", ("FairnessAudit",), "subgroups, rates", audit, data_sets=30, quick=(MANY_GROUPS,), most=12),
    Kind("audited classifiers", ("AuditedClassifier",), "rates", audited_classifier, data_sets=40,
         quick=("rare events",), most=20),
    Kind("audited regressors", ("AuditedRegressor",), "means", audited_regressor, ("clusters", "strata"),
         quick=(SPARSE,)),
    Kind("fairness scorers", ("make_fairness_scorer",), "rates", scored, data_sets=40, quick=("rare events",), most=20),
    Kind("fair selection", ("select_fair",), "margins", selected, factor=EDGE, data_sets=40, quick=("ordinary",),
         most=20),
    Kind("subgroup scans, rates", ("SubgroupScan",), "subgroups, rates", scan("selection_rate"), STRATA,
         quick=("noise",), most=30),
    Kind("subgroup scans, means", ("SubgroupScan",), "subgroups, means", scan("mean_prediction"), STRATA,
         data_sets=60, quick=(SPARSE,), most=20),
    Kind("subgroup scans in context", ("SubgroupScan",), "subgroups, means", scan("mean_prediction", "in_context"),
         STRATA, data_sets=60, quick=(SPARSE,), most=20),
    Kind("two models, rates", ("PairedFairnessTest",), "changes, rates", paired("selection_rate"),
         slow=dict.fromkeys(IN_STRATA, 40), quick=(SPARSE, FOLLOW, "nearly everybody changes"), most=40),
    Kind("two models, fairer", ("PairedFairnessTest",), "changes, rates",
         paired("selection_rate", alternative="fairer"), STRATA, data_sets=40, slow=dict.fromkeys(IN_STRATA, 4),
         quick=(SPARSE,), most=12),
    Kind("two models, means", ("PairedFairnessTest",), "changes, means", paired("mean_prediction"),
         quick=(SPARSE, FOLLOW), data_sets=200),
    Kind("several models", ("compare_models",), "changes, rates", models, ("clusters", "strata"), data_sets=30,
         slow=dict.fromkeys(IN_STRATA, 4), quick=(SPARSE,), most=20),
    Kind("streams, batches", ("SequentialFairnessTest",), "streams", in_batches, NOTHING, data_sets=30,
         quick=("ordinary",), most=10),
    Kind("streams, queues", ("SequentialFairnessTest",), "streams", in_queues, NOTHING, data_sets=20,
         quick=("arrival that follows outcomes",), most=6),
    Kind("uncertain groups, weighted", ("UncertainGroupsTest",), "probabilities", uncertain("weighted"),
         data_sets=60, quick=("ordinary", "probabilities near 0 and 1"), most=30),
    Kind("uncertain groups, thresholded", ("UncertainGroupsTest",), "probabilities", uncertain("thresholded"),
         quick=("probabilities near 0 and 1",)),
    Kind("uncertain groups, likelihood", ("UncertainGroupsTest",), "probabilities", uncertain("likelihood"),
         data_sets=40, quick=("probabilities near 0 and 1",), most=20),
    Kind("uncertain groups, shares of few people", ("UncertainGroupsTest",), "probabilities", shares_of_few,
         data_sets=40, quick=("ordinary",), most=20),
    Kind("few labels and a judge", ("LabelledFairnessTest",), "labels", few_labels, NOTHING, data_sets=100,
         quick=("ordinary", "hardly any error"), most=20),
    Kind("few labels with unequal probabilities", ("LabelledFairnessTest",), "labels", unequal_labels, NOTHING,
         data_sets=100, quick=("ordinary",), most=20),
    Kind("correlation", ("CorrelationFairnessTest",), "correlation", correlation, STRATA, data_sets=200,
         quick=("noise", SPARSE)),
    Kind("given covariates", ("AdjustedFairnessTest",), "given covariates", adjusted, ("clusters",), data_sets=30,
         quick=("checkerboard", "smooth confounding"), most=8),
    Kind("individuals", ("IndividualFairnessTest",), "individuals", individuals, data_sets=400, quick=("ordinary",)),
)  # fmt: skip

_SHOWN, _PLANNED = "draws the result of a test", "plans a test, and has no data"
_METRIC, _INPUT = "is what a test measures", "is what a test is given"
#: Public names without a test of their own.
NO_TESTS = {
    **dict.fromkeys((
        "DisparityDisplay", "GroupMetricDisplay", "LossRatioDisplay", "MonitorDisplay", "NullDistributionDisplay",
        "ThresholdDisplay",
    ), _SHOWN),
    **dict.fromkeys((
        "PowerDisplay", "label_plan", "minimum_detectable_disparity", "power", "required_sample_size",
    ), _PLANNED),
    **dict.fromkeys((
        "Mahalanobis", "MeanOf", "Projection", "RatioOfSums", "SensitiveSubspace", "Rate", "ScoreMetric",
    ), _METRIC),
    **dict.fromkeys(("CountTable", "SensitiveStratifiedKFold"), _INPUT),
    **dict.fromkeys(("FairnessRejectedError", "FairnessRejectedWarning"), "says what an audited model found"),
    **dict.fromkeys(("FairnessAssertionError", "assert_fair"), "requires what FairnessTest finds"),
    "SmallGroupWarning": "says that people are few",
    "__version__": "is a number",
}  # fmt: skip
