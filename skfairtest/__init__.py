"""Valid hypothesis tests for the fairness of machine-learning models."""

from importlib import import_module

from skfairtest._version import __version__

TYPE_CHECKING = False  # type checkers take it for true; typing has the same, and is slow to import
if TYPE_CHECKING:
    from skfairtest._utils.errors import SmallGroupWarning
    from skfairtest.adjusted.fairness import AdjustedFairnessTest
    from skfairtest.audit import FairnessAudit
    from skfairtest.audit.impact import impact_table
    from skfairtest.correlation.fairness import CorrelationFairnessTest
    from skfairtest.displays.disparity import DisparityDisplay, NullDistributionDisplay
    from skfairtest.displays.group_metric import CalibrationDisplay, GroupMetricDisplay
    from skfairtest.displays.individual import LossRatioDisplay, StoppingTimeDisplay
    from skfairtest.displays.monitor import MonitorDisplay
    from skfairtest.displays.power import PowerDisplay
    from skfairtest.displays.sensitivity import SensitivityDisplay
    from skfairtest.displays.threshold import ThresholdDisplay
    from skfairtest.group import FairnessTest
    from skfairtest.group.inequality import inequality_decomposition
    from skfairtest.individual import (
        ComparablePairs,
        IndividualFairnessTest,
        Mahalanobis,
        Projection,
        SensitiveSubspace,
    )
    from skfairtest.labelled.fairness import LabelledFairnessTest
    from skfairtest.labelled.plan import label_plan
    from skfairtest.metrics import Rate, ScoreMetric
    from skfairtest.model_selection.audited import (
        AuditedClassifier,
        AuditedRegressor,
        FairnessRejectedError,
        FairnessRejectedWarning,
    )
    from skfairtest.model_selection.frame import SignificanceFrame
    from skfairtest.model_selection.p_value import FairnessAssertionError, assert_fair, fairness_p_value
    from skfairtest.model_selection.scorer import make_fairness_scorer
    from skfairtest.model_selection.selection import select_fair
    from skfairtest.model_selection.splitter import SensitiveStratifiedKFold
    from skfairtest.paired.fairness import PairedFairnessTest
    from skfairtest.paired.models import compare_models
    from skfairtest.planning.power import minimum_detectable_disparity, power, required_sample_size
    from skfairtest.sequential.fairness import SequentialFairnessTest
    from skfairtest.subgroups.fairness import SubgroupScan
    from skfairtest.tables import CountTable
    from skfairtest.uncertain_groups.fairness import UncertainGroupsTest

__all__ = [
    "AdjustedFairnessTest",
    "AuditedClassifier",
    "AuditedRegressor",
    "CalibrationDisplay",
    "ComparablePairs",
    "CorrelationFairnessTest",
    "CountTable",
    "DisparityDisplay",
    "FairnessAssertionError",
    "FairnessAudit",
    "FairnessRejectedError",
    "FairnessRejectedWarning",
    "FairnessTest",
    "GroupMetricDisplay",
    "IndividualFairnessTest",
    "LabelledFairnessTest",
    "LossRatioDisplay",
    "Mahalanobis",
    "MonitorDisplay",
    "NullDistributionDisplay",
    "PairedFairnessTest",
    "PowerDisplay",
    "Projection",
    "Rate",
    "ScoreMetric",
    "SensitiveStratifiedKFold",
    "SensitiveSubspace",
    "SensitivityDisplay",
    "SequentialFairnessTest",
    "SignificanceFrame",
    "SmallGroupWarning",
    "StoppingTimeDisplay",
    "SubgroupScan",
    "ThresholdDisplay",
    "UncertainGroupsTest",
    "__version__",
    "assert_fair",
    "compare_models",
    "fairness_p_value",
    "impact_table",
    "inequality_decomposition",
    "label_plan",
    "make_fairness_scorer",
    "minimum_detectable_disparity",
    "power",
    "required_sample_size",
    "select_fair",
]

#: Where each public name is. It is imported when it is first used: no program needs all of them, and the version and
#: the completion of the command need none.
_HOMES = {
    "AdjustedFairnessTest": "adjusted.fairness",
    "AuditedClassifier": "model_selection.audited",
    "AuditedRegressor": "model_selection.audited",
    "CalibrationDisplay": "displays.group_metric",
    "ComparablePairs": "individual",
    "CorrelationFairnessTest": "correlation.fairness",
    "CountTable": "tables",
    "DisparityDisplay": "displays.disparity",
    "FairnessAssertionError": "model_selection.p_value",
    "FairnessAudit": "audit",
    "FairnessRejectedError": "model_selection.audited",
    "FairnessRejectedWarning": "model_selection.audited",
    "FairnessTest": "group",
    "GroupMetricDisplay": "displays.group_metric",
    "IndividualFairnessTest": "individual",
    "LabelledFairnessTest": "labelled.fairness",
    "LossRatioDisplay": "displays.individual",
    "Mahalanobis": "individual",
    "MonitorDisplay": "displays.monitor",
    "NullDistributionDisplay": "displays.disparity",
    "PairedFairnessTest": "paired.fairness",
    "PowerDisplay": "displays.power",
    "Projection": "individual",
    "Rate": "metrics",
    "ScoreMetric": "metrics",
    "SensitiveStratifiedKFold": "model_selection.splitter",
    "SensitiveSubspace": "individual",
    "SensitivityDisplay": "displays.sensitivity",
    "SequentialFairnessTest": "sequential.fairness",
    "SignificanceFrame": "model_selection.frame",
    "SmallGroupWarning": "_utils.errors",
    "StoppingTimeDisplay": "displays.individual",
    "SubgroupScan": "subgroups.fairness",
    "ThresholdDisplay": "displays.threshold",
    "UncertainGroupsTest": "uncertain_groups.fairness",
    "assert_fair": "model_selection.p_value",
    "compare_models": "paired.models",
    "fairness_p_value": "model_selection.p_value",
    "impact_table": "audit.impact",
    "inequality_decomposition": "group.inequality",
    "label_plan": "labelled.plan",
    "make_fairness_scorer": "model_selection.scorer",
    "minimum_detectable_disparity": "planning.power",
    "power": "planning.power",
    "required_sample_size": "planning.power",
    "select_fair": "model_selection.selection",
}

if not TYPE_CHECKING:  # to a type checker any name would then be public

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return __all__
