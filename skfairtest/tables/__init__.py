"""The data as a small table of counts (strata x groups x cells), or as people one by one."""

from skfairtest.tables.count_table import CountTable
from skfairtest.tables.rows import PAIRED_NAMES, distinct_levels
from skfairtest.tables.sample import Kinds, Sample, UncertainSample
