"""The data as a small table of counts (strata x groups x cells), or as people one by one."""

from skfairtest.tables.count_table import CountTable
from skfairtest.tables.sample import Kinds, Sample, Values
from skfairtest.tables.storage import tagged, untagged

__all__ = ["CountTable", "Kinds", "Sample", "Values", "tagged", "untagged"]
