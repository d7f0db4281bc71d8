"""Two groups in which an index of inequality, or average odds, is equal, and everything else differs."""

import numpy as np
from scipy.optimize import brentq

from benchmarks.common.bounds import COVERED
from benchmarks.common.cells import ALPHA, Cell, by_truth

TRUE, PREDICTED = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])


def _of_benefits(index):
    """An index of benefits that are 0, 1 and 2, of classes 0 and 1 with weights."""

    def value(y_true, y_pred, sample_weight):
        return float(index(np.asarray(y_pred) - y_true + 1.0, np.asarray(sample_weight) / np.sum(sample_weight)))

    return value


INDICES = {
    "generalized_entropy": _of_benefits(lambda b, w: (w @ (b / (w @ b)) ** 2 - 1) / 2),
    "generalized_entropy_0.5": _of_benefits(lambda b, w: 4 * (1 - w @ np.sqrt(b / (w @ b)))),
    "theil_index": _of_benefits(lambda b, w: w @ (b / (w @ b) * np.log(np.where(b > 0, b, 1.0) / (w @ b)))),
    "average_odds": lambda y_true, y_pred, sample_weight: float(
        np.mean([np.average(y_pred[y_true == c], weights=sample_weight[y_true == c]) for c in (0, 1)])
    ),
}


def with_index(base, fpr, metric, value):
    """Choose the true positive rate that gives this index."""

    def distance(tpr):
        return INDICES[metric](TRUE, PREDICTED, np.array(by_truth(base, tpr, fpr))) - value

    return by_truth(base, float(brentq(distance, 0.01, 1.0)), fpr)


class Inequality(Cell):
    """A design with a bound of its own."""

    def broken(self, methods):
        """Say where a size is above .065 or a coverage below .93, with 200 people in each group or more."""
        figures, error = (
            methods["permutation"],
            3 * np.sqrt(ALPHA * (1 - ALPHA) / self.data_sets) * (self.data_sets < 2000),
        )
        coverage = min(figures["coverage"], figures.get("coverage_effect", 1.0))
        if min(self.people) >= 200 and (figures["size"] > 0.065 + error or coverage < COVERED - error):
            yield f"{self.name}: size {figures['size']:.4f}, coverage {coverage:.4f}"


def inequality_cells():
    """Indices of inequality, and average odds, of groups in which everything else differs: ordinary and few errors."""
    designs = (
        ("ordinary", by_truth(0.6, 0.75, 0.2), (0.3, 0.16), by_truth(0.5, 0.5, 0.3)),
        ("few errors", by_truth(0.5, 0.95, 0.04), (0.25, 0.02), by_truth(0.25, 0.8, 0.1)),
    )
    for metric, index in INDICES.items():
        for label, first, same, effect in designs:
            value = index(TRUE, PREDICTED, np.array(first))
            null = (first, with_index(*same, metric, value))
            for people in [(60, 1000), (200, 200), (1000, 1000)]:
                yield Inequality(
                    f"inequality/{metric}/{label}/{people[0]}-{people[1]}", "table", metric, people, null,
                    (first, effect) if people == (200, 200) else None, 2000, 199,
                    competitors=False, quick=200 * (label == "ordinary" and people == (200, 200)),
                )  # fmt: skip
