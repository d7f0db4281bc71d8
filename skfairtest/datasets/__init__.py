"""Two published data sets, small enough to ship as counts."""

from skfairtest.datasets._shipped import load_berkeley, load_compas

__all__ = ["load_berkeley", "load_compas"]
