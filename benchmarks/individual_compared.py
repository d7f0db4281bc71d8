"""How often equal models are said to differ: ``python -m benchmarks.individual_compared [--quick]``.

`IndividualFairnessTest.compare` tests the difference of two models' statistics on the same people. Here both are
logistic models of one population with the same audit value, an integral that is computed (see _logistic_population):
they differ in their intercept and in the weight of what the fair metric holds back, and their weight of what it leaves
free is solved for. How often is the difference significant at 5%, and how often does its 95% interval hold 0. And the
power: the second model has a smaller value.

Without ``--quick`` the figures are written to benchmarks/results/individual_compared.json with the seed and versions.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common.results import write
from benchmarks.individual import FEW, MAP, MOST, pool, share, text
from skfairtest.individual.flow.audit_value import difference

SEED = 20261124
RESULTS = Path(__file__).parent / "results" / "individual_compared.json"
ALPHA, PEOPLE = 0.05, (100, 400)
#: An error rate ratio is a ratio of means of 0 and 1, and that of the other models is never so large.
STATISTICS = ("loss_ratio", "ratio_of_means", "log_ratio")
#: Two models of each design: the other has this intercept and this weight of what is held back.
OTHERS = {FEW.name: {"bias": 0.2, "held": 3.0}, MOST.name: {"bias": 1.5, "held": 1.5}}
#: Audit values of the first model and of the second.
VALUES = [(1.25, 1.25), (1.25, 1.2)]


def compared(n_data_sets, people, sequence):
    """Deal people into samples, and compare two models on each."""
    cells = [(design, values, statistic) for design in (FEW, MOST) for values in VALUES for statistic in STATISTICS]
    for (design, values, statistic), child in zip(cells, sequence.spawn(len(cells)), strict=True):
        other = replace(design, **OTHERS[design.name])
        pairs = []
        for one, value in ((design, values[0]), (other, values[1])):
            model = one.model(one.weight(statistic, value))
            moved = pool(one.population, MAP, model, n_data_sets * max(people), np.random.default_rng(child))
            pairs.append(moved[2])
        for n in people:
            significant, covered = [], []
            for sample in range(n_data_sets):
                some = slice(sample * n, (sample + 1) * n)
                found = difference(statistic, *(pair[:, some] for pair in pairs), confidence_level=1 - ALPHA)
                significant.append(found.p_value <= ALPHA)
                covered.append(found.interval[0] <= values[0] - values[1] <= found.interval[1])
            yield {
                "design": design.name, "statistic": statistic, "values": values, "people": n,
                "significant": share(significant), "coverage": share(covered),
            }  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.individual_compared", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written")
    quick = parser.parse_args(argv).quick
    rows = []
    for cell in compared(20 if quick else 2000, PEOPLE[:1] if quick else PEOPLE, np.random.SeedSequence(SEED)):
        rows.append(cell)
        print(
            f"  {cell['design']:<22} {cell['statistic']:<17} {cell['values']} {cell['people']:>5} people   "
            f"{text(cell['significant'])}   {text(cell['coverage'])}",
            flush=True,
        )
    if not quick:
        write(
            RESULTS, "differences of two models' audit values; see benchmarks/individual_compared.py", SEED, rows=rows
        )


if __name__ == "__main__":
    sys.exit(main())
