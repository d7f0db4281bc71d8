"""The data as a small table of counts: strata x groups x cells."""

from skfairtest.tables.count_table import CountTable

__all__ = ["CountTable"]
