"""Many tests judged together."""

from skfairtest.audit.fairness_audit import FairnessAudit

__all__ = ["FairnessAudit"]
