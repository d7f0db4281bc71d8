"""Two published data sets, small enough to ship as counts."""

from skfairtest.datasets._berkeley import load_berkeley
from skfairtest.datasets._compas import load_compas

__all__ = ["load_berkeley", "load_compas"]
