"""Valid hypothesis tests for the fairness of machine-learning models."""

from skfairtest._version import __version__
from skfairtest.audit import FairnessAudit
from skfairtest.displays import (
    DisparityDisplay,
    GroupMetricDisplay,
    LossRatioDisplay,
    NullDistributionDisplay,
    PowerDisplay,
    StoppingTimeDisplay,
    ThresholdDisplay,
)
from skfairtest.group import FairnessTest
from skfairtest.group.correlation import CorrelationFairnessTest
from skfairtest.group.power import minimum_detectable_disparity, power, required_sample_size
from skfairtest.individual import (
    ComparablePairs,
    IndividualFairnessTest,
    Mahalanobis,
    Projection,
    SensitiveSubspace,
)
from skfairtest.metrics import Rate, ScoreMetric
from skfairtest.model_selection.audited import (
    AuditedClassifier,
    AuditedRegressor,
    FairnessRejectedError,
    FairnessRejectedWarning,
)
from skfairtest.model_selection.frame import SignificanceFrame
from skfairtest.model_selection.p_value import fairness_p_value
from skfairtest.model_selection.scorer import make_fairness_scorer
from skfairtest.model_selection.selection import select_fair
from skfairtest.model_selection.splitter import SensitiveStratifiedKFold
from skfairtest.tables import CountTable

__all__ = [
    "AuditedClassifier",
    "AuditedRegressor",
    "ComparablePairs",
    "CorrelationFairnessTest",
    "CountTable",
    "DisparityDisplay",
    "FairnessAudit",
    "FairnessRejectedError",
    "FairnessRejectedWarning",
    "FairnessTest",
    "GroupMetricDisplay",
    "IndividualFairnessTest",
    "LossRatioDisplay",
    "Mahalanobis",
    "NullDistributionDisplay",
    "PowerDisplay",
    "Projection",
    "Rate",
    "ScoreMetric",
    "SensitiveStratifiedKFold",
    "SensitiveSubspace",
    "SignificanceFrame",
    "StoppingTimeDisplay",
    "ThresholdDisplay",
    "__version__",
    "fairness_p_value",
    "make_fairness_scorer",
    "minimum_detectable_disparity",
    "power",
    "required_sample_size",
    "select_fair",
]
