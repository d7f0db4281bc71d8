"""The designs of kinds of test that have data of their own, in the order in which they are shown."""

from benchmarks.common.inequality import inequality_cells
from benchmarks.designs import (
    adjusted,
    audit,
    breaking_points,
    calibration,
    correlation,
    dependent,
    fairness_test,
    individual,
    labelled,
    model_selection,
    paired,
    prompts,
    scan,
    sequential,
    uncertain_groups,
)

DESIGNS = (
    *audit.DESIGNS, *inequality_cells(), *calibration.DESIGNS, *correlation.DESIGNS, *prompts.DESIGNS, *scan.DESIGNS,
    *paired.DESIGNS, *sequential.DESIGNS, *adjusted.DESIGNS, *labelled.DESIGNS, *uncertain_groups.DESIGNS,
    *fairness_test.DESIGNS, *dependent.DESIGNS, *model_selection.DESIGNS, *breaking_points.DESIGNS,
    *individual.DESIGNS,
)  # fmt: skip
