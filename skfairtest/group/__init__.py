"""Tests of group fairness: validate, call the rooms in order, set attributes."""

from skfairtest.group.fairness import FairnessTest

__all__ = ["FairnessTest"]
