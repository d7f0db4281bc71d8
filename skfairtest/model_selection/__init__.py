"""Fairness tests inside scikit-learn's and fairlearn's tools: scorers, selection, wrappers, the splitter, the frame."""

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

__all__ = [
    "AuditedClassifier",
    "AuditedRegressor",
    "FairnessRejectedError",
    "FairnessRejectedWarning",
    "SensitiveStratifiedKFold",
    "SignificanceFrame",
    "fairness_p_value",
    "make_fairness_scorer",
    "select_fair",
]
