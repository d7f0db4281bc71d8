"""Many tests judged together."""

from skfairtest.audit.tables import Audit, AuditPart, audit_table

__all__ = ["Audit", "AuditPart", "audit_table"]
