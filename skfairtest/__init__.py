"""Valid hypothesis tests for the fairness of machine-learning models."""

from importlib import import_module

from skfairtest._version import __version__ as __version__

TYPE_CHECKING = False  # type checkers take it for true; typing has the same, and is slow to import
if TYPE_CHECKING:  # "as": re-exported names
    from skfairtest._utils.errors import SmallGroupWarning as SmallGroupWarning
    from skfairtest.adjusted.fairness import AdjustedFairnessTest as AdjustedFairnessTest
    from skfairtest.audit import FairnessAudit as FairnessAudit
    from skfairtest.audit.impact import impact_table as impact_table
    from skfairtest.correlation.fairness import CorrelationFairnessTest as CorrelationFairnessTest
    from skfairtest.displays.curves import MonitorDisplay as MonitorDisplay
    from skfairtest.displays.curves import PowerDisplay as PowerDisplay
    from skfairtest.displays.curves import ThresholdDisplay as ThresholdDisplay
    from skfairtest.displays.histograms import LossRatioDisplay as LossRatioDisplay
    from skfairtest.displays.histograms import NullDistributionDisplay as NullDistributionDisplay
    from skfairtest.displays.rows import DisparityDisplay as DisparityDisplay
    from skfairtest.displays.rows import GroupMetricDisplay as GroupMetricDisplay
    from skfairtest.group import FairnessTest as FairnessTest
    from skfairtest.group.inequality import inequality_decomposition as inequality_decomposition
    from skfairtest.group.spread import between_group_spread as between_group_spread
    from skfairtest.individual import IndividualFairnessTest as IndividualFairnessTest
    from skfairtest.individual import Mahalanobis as Mahalanobis
    from skfairtest.individual import Projection as Projection
    from skfairtest.individual import SensitiveSubspace as SensitiveSubspace
    from skfairtest.labelled.fairness import LabelledFairnessTest as LabelledFairnessTest
    from skfairtest.labelled.plan import label_plan as label_plan
    from skfairtest.metrics import MeanOf as MeanOf
    from skfairtest.metrics import Rate as Rate
    from skfairtest.metrics import RatioOfSums as RatioOfSums
    from skfairtest.metrics import ScoreMetric as ScoreMetric
    from skfairtest.model_selection.audited import AuditedClassifier as AuditedClassifier
    from skfairtest.model_selection.audited import AuditedRegressor as AuditedRegressor
    from skfairtest.model_selection.audited import FairnessRejectedError as FairnessRejectedError
    from skfairtest.model_selection.audited import FairnessRejectedWarning as FairnessRejectedWarning
    from skfairtest.model_selection.frame import SignificanceFrame as SignificanceFrame
    from skfairtest.model_selection.p_value import FairnessAssertionError as FairnessAssertionError
    from skfairtest.model_selection.p_value import assert_fair as assert_fair
    from skfairtest.model_selection.p_value import fairness_p_value as fairness_p_value
    from skfairtest.model_selection.scorer import make_fairness_scorer as make_fairness_scorer
    from skfairtest.model_selection.selection import select_fair as select_fair
    from skfairtest.model_selection.splitter import SensitiveStratifiedKFold as SensitiveStratifiedKFold
    from skfairtest.paired.fairness import PairedFairnessTest as PairedFairnessTest
    from skfairtest.paired.fairness import compare_models as compare_models
    from skfairtest.planning.power import minimum_detectable_disparity as minimum_detectable_disparity
    from skfairtest.planning.power import power as power
    from skfairtest.planning.power import required_sample_size as required_sample_size
    from skfairtest.sequential.fairness import SequentialFairnessTest as SequentialFairnessTest
    from skfairtest.subgroups.fairness import SubgroupScan as SubgroupScan
    from skfairtest.tables import CountTable as CountTable
    from skfairtest.uncertain_groups.fairness import UncertainGroupsTest as UncertainGroupsTest

#: The public names of each module. One is imported when it is first used: no program needs all of them, and the version
#: and the completion of the command need none.
_HOMES = {
    name: module
    for module, names in {
        "_utils.errors": "SmallGroupWarning",
        "adjusted.fairness": "AdjustedFairnessTest",
        "audit": "FairnessAudit",
        "audit.impact": "impact_table",
        "correlation.fairness": "CorrelationFairnessTest",
        "displays.curves": "MonitorDisplay PowerDisplay ThresholdDisplay",
        "displays.histograms": "LossRatioDisplay NullDistributionDisplay",
        "displays.rows": "DisparityDisplay GroupMetricDisplay",
        "group": "FairnessTest",
        "group.inequality": "inequality_decomposition",
        "group.spread": "between_group_spread",
        "individual": "IndividualFairnessTest Mahalanobis Projection SensitiveSubspace",
        "labelled.fairness": "LabelledFairnessTest",
        "labelled.plan": "label_plan",
        "metrics": "MeanOf Rate RatioOfSums ScoreMetric",
        "model_selection.audited": "AuditedClassifier AuditedRegressor FairnessRejectedError FairnessRejectedWarning",
        "model_selection.frame": "SignificanceFrame",
        "model_selection.p_value": "FairnessAssertionError assert_fair fairness_p_value",
        "model_selection.scorer": "make_fairness_scorer",
        "model_selection.selection": "select_fair",
        "model_selection.splitter": "SensitiveStratifiedKFold",
        "paired.fairness": "PairedFairnessTest compare_models",
        "planning.power": "minimum_detectable_disparity power required_sample_size",
        "sequential.fairness": "SequentialFairnessTest",
        "subgroups.fairness": "SubgroupScan",
        "tables": "CountTable",
        "uncertain_groups.fairness": "UncertainGroupsTest",
    }.items()
    for name in names.split()
}

if not TYPE_CHECKING:  # to a type checker any name would then be public
    __all__ = sorted([*_HOMES, "__version__"])

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value

    def __dir__():
        return __all__
