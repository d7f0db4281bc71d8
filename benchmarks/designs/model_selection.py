"""Audited models, and intervals of the largest disparity between any two groups.

"Equalized odds" of decision trees, tested on people left out ("out of fold") and on their training people: features
are the same for both groups given the label (fair), or noisier in one group (unfair), or each model sees a group that
means nothing, so that models are fair on average over all that could be trained, while no single one is (the test is
about the models at hand, and no size is promised). "Intervals": how often the interval of the largest disparity holds
the true one. "Selection": how often the candidate that `select_fair` takes has a true disparity above .1.
"""

from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common.design import Design, one_by_one
from skfairtest import AuditedClassifier, CountTable, FairnessTest, make_fairness_scorer, select_fair
from skfairtest.inference.multiplicity import extreme_disparity

ALPHA, TOLERANCE = 0.05, 0.1
#: True disparities of the candidates; the accuracy of each grows with its disparity.
CANDIDATES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2)


def trees(kind, n, base_rates, spreads, rng):
    """Whether equalized odds is rejected, on people left out and on the training people."""
    group = rng.integers(2, size=n)
    y = (rng.random(n) < np.array(base_rates)[group]).astype(int)
    X = y[:, None] * 0.8 + rng.normal(size=(n, 4)) * np.array(spreads)[group][:, None]
    if kind == "fair on average":
        X = np.column_stack([X, group == 0])
    audited = AuditedClassifier(DecisionTreeClassifier(random_state=0), on_rejection="ignore")
    audited.fit(X, y, sensitive_features=group)
    test, figure = FairnessTest(audited.estimator_).fit(X, y, sensitive_features=group), "size"
    if kind == "unfair":
        figure = "power"
    return {"out of fold": {figure: audited.fairness_tests_[0].rejected_}, "in sample": {figure: test.rejected_}}


def largest(rates, people, disparity, rng, n_data_sets):
    """Which intervals of the largest disparity hold the true one, and which have its worst end on the right side."""
    truth = max(rates) - min(rates) if disparity == "difference" else min(rates) / max(rates)
    inside = np.empty((n_data_sets, 2), dtype=bool)
    for data_set in range(n_data_sets):
        events = rng.binomial(people, rates)
        counts = {(g, 1): int(x) for g, x in enumerate(events)} | {
            (g, 0): int(n - x) for g, (x, n) in enumerate(zip(events, people, strict=True))
        }
        table = CountTable.from_counts(counts, names=("group", "y_pred"), y_pred="y_pred", sensitive_features="group")
        rows = FairnessTest.from_table(table, metric="selection_rate", disparity=disparity).comparisons_
        _, low, high = extreme_disparity(rows["disparity"], rows["ci_low"], rows["ci_high"], disparity)
        inside[data_set] = low - 1e-9 <= truth, truth <= high + 1e-9
    worst = inside[:, int(disparity == "difference")]
    return {"intervals of frames": {"coverage": inside.all(axis=1), "coverage_of_worst_end": worst}}


class Column(ClassifierMixin, BaseEstimator):
    """A model that was made beforehand: its predictions are a column of X."""

    def __init__(self, candidate=0):
        self.candidate = candidate

    def fit(self, X, y):
        """Learn the labels."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the column."""
        return X[str(self.candidate)].to_numpy()


CHOICES = {
    "select_fair, tolerance": select_fair("accuracy", "upper_bound", tolerance=TOLERANCE),
    "select_fair, alpha": select_fair("accuracy", "p_value", alpha=ALPHA),
}


def selected(n, rng):
    """Whether a candidate beyond the tolerance is taken; candidates' accuracy is .6 plus half of their disparity."""
    group, y = rng.integers(2, size=n), rng.integers(2, size=n)
    X = {"sex": np.array(["f", "m"])[group]}
    for position, disparity in enumerate(CANDIDATES):
        rate = 0.4 + disparity * (group - 0.5) + (0.1 + disparity / 2) * (2 * y - 1)
        X[str(position)] = (rng.random(n) < rate).astype(int)
    scoring = {
        output: make_fairness_scorer("selection_rate", output=output, sensitive_features="sex")
        for output in ("disparity", "upper_bound", "p_value")
    }
    results = GridSearchCV(
        Column(), {"candidate": range(len(CANDIDATES))}, scoring={"accuracy": "accuracy", **scoring}, refit=False,
        error_score="raise",
    ).fit(pd.DataFrame(X), y).cv_results_  # fmt: skip
    taken = {name: CANDIDATES[choose(results)] for name, choose in CHOICES.items()}
    found = {name: {"size": value > TOLERANCE, "disparity": value} for name, value in taken.items()}
    # Twice the mean of the folds' p-values is one, whatever their dependence.
    p = 2 * np.mean([results[f"split{fold}_test_p_value"][0] for fold in range(5)])
    return found | {"p-values of a fair candidate": {"size": p <= ALPHA}}


DESIGNS = [
    *(
        Design(
            f"models/{kind}, {n} people, base rates {base_rates}",
            one_by_one(partial(trees, kind, n, base_rates, spreads)), 1000, ("out of fold",) if kind == "fair" else (),
        )
        for kind, n, base_rates, spreads in (
            ("fair", 600, (0.5, 0.3), (1.0, 1.0)), ("fair", 300, (0.5, 0.2), (1.0, 1.0)),
            ("unfair", 600, (0.5, 0.3), (0.7, 2.0)), ("fair on average", 300, (0.5, 0.5), (1.0, 1.0)),
        )
    ),
    *(
        Design(
            f"models/largest {disparity}, people {people}, rates {rates}", partial(largest, rates, people, disparity),
            500, ("intervals of frames",),
        )
        for rates, people in (
            ((0.3, 0.3), (200, 200)), ((0.3, 0.3, 0.3), (500, 100, 50)), ((0.3,) * 6, (300, 300, 100, 100, 50, 50)),
            ((0.2, 0.3), (200, 200)), ((0.2, 0.3, 0.3), (500, 100, 50)), ((0.05, 0.1, 0.3), (500, 200, 100)),
            ((0.2, 0.25, 0.3, 0.35, 0.4, 0.45), (300, 300, 100, 100, 50, 50)),
        )
        for disparity in ("difference", "ratio")
    ),
    *(
        Design(f"selection/{n} people", one_by_one(partial(selected, n)), 200,
               ("select_fair, tolerance", "p-values of a fair candidate"))
        for n in (1000, 4000)
    ),
]  # fmt: skip
