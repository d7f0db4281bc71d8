"""What the validity benchmark promises of the default methods, and where a measured figure breaks it."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.common.cells import ALPHA, BOUNDS
from benchmarks.common.methods import expects_five

#: Smallest coverage of intervals said to be 95% ones, and largest size of tests with some tens of clusters.
COVERED, CLUSTERED = 0.93, 0.07
#: A size far above the level; there so many rejections have a caution, and elsewhere so many data sets none.
FAR, WARNED, SILENT = 0.1, 0.9, 0.95


@dataclass
class Promise:
    """A statement, in how many places it was looked at, and where it does not hold.

    `left` are the places that its condition leaves out, where it would not hold; `why` is the reason of the condition.
    """

    says: str
    checked: int = 0
    broken: list = field(default_factory=list)
    left: list = field(default_factory=list)
    why: str = ""

    def look(self, holds, where):
        self.checked += 1
        if not holds:
            self.broken.append(where)


def promises(cells, records, *, slack=0.0):
    """Check the bounds in the cells that have records.

    `slack` is how many Monte-Carlo errors are allowed beyond the bounds that have none of their own: with the few data
    sets of a quick run chance alone breaks those.
    """
    bounds = {name: Promise(bound.says, why=bound.why) for name, bound in BOUNDS.items()}
    sums = Promise("enumerated size at most .05: every sampled pair of denominators")
    covered = Promise(
        "95% intervals of rates and F1 cover at least 93%: where five events and five non-events are expected in "
        "each group"
    )
    power = Promise("the default exact test has at least the power of Fisher's")
    for cell in cells:
        if cell.name not in records:
            continue
        record = records[cell.name]
        figures = record["methods"][cell.default]
        error = np.sqrt(ALPHA * (1 - ALPHA) / cell.data_sets)
        size = figures["size"]
        where = f"{cell.name}: {size:.4f}"
        for name, bound in BOUNDS.items():
            if bound.about(cell):
                own = figures["size_error"] if cell.kind == "grid" else error
                holds = size <= bound.most + (bound.errors or slack) * own + 1e-9
                if bound.where(cell):
                    bounds[name].look(holds, where)
                elif not holds:
                    bounds[name].left.append(where)
        if "largest_size" in figures:
            sums.look(figures["largest_size"] <= ALPHA + 1e-6, f"{cell.name}: {figures['largest_size']:.5f}")
            fisher = record["methods"]["fisher"]["power"]
            power.look(figures["power"] >= fisher - 1e-5, f"{cell.name}: {figures['power']:.4f}, Fisher {fisher:.4f}")
        for key, population in (("coverage", cell.null), ("coverage_effect", cell.effect)):
            if key in figures and cell.kind in ("rate", "grid") and expects_five(cell, population):
                holds = figures[key] >= COVERED - slack * error
                covered.look(holds, f"{cell.name}, {key.replace('_', ' ')}: {figures[key]:.4f}")
    return [*bounds.values(), sums, covered, power]


def promises_of_designs(designs, records):
    """Check what the designs of kinds of test with data of their own promise, kind by kind."""
    held = {}
    for design in designs:
        if design.name in records:
            broken = list(design.broken(records[design.name]["methods"]))
            held.setdefault(
                design.section, Promise(f"{design.section}: size, coverage, power as their designs promise")
            )
            held[design.section].look(not broken, "; ".join(broken))
    return list(held.values())
