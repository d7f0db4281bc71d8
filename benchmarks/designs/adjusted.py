"""Disparities given four covariates, on which outcome and group depend alike.

"smooth" (a sine and a square), "products" (of two covariates), "steps" (of one covariate, and of two together), and
"decisions" (0 or 1, with the probability that the smooth curve gives); differences of the same size for all, or of a
sign that changes with a covariate. Beside the default models: curves alone, penalised least squares on bent lines, and
boosted trees alone.
"""

import numpy as np
from scipy.stats import ttest_ind
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from benchmarks.common.design import Design, one_by_one
from skfairtest import AdjustedFairnessTest
from skfairtest.adjusted.measure import TREES, curves

ALPHA = 0.05


def smooth(X):
    return 1.2 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 / 2


SHAPES = {
    "smooth": smooth,
    "products": lambda X: X[:, 0] * X[:, 1] + 0.7 * X[:, 2],
    "steps": lambda X: 1.0 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + (X[:, 2] > 0.5),
    "decisions": smooth,
}
#: Differences given covariates, at n people.
EFFECTS = {
    "none": lambda X, n: 0.0,
    "same for all": lambda X, n: np.full(n, 3.3 / np.sqrt(n)) * 2,
    "changes its sign": lambda X, n: 9.0 / np.sqrt(n) * np.sign(X[:, 3]),
}
MODELS = {
    "default models": lambda: None,
    "curves alone": lambda: curves(RidgeCV(tuple(np.logspace(-1, 4, 11).tolist()))),
    "trees alone": lambda: HistGradientBoostingRegressor(**TREES),
}


def people(n, shape, rng, effect="none"):
    """Return covariates, groups and outcomes, of groups that differ by an effect."""
    X = rng.normal(size=(n, 4))
    curve = SHAPES[shape](X)
    curve = curve - curve.mean()
    group = rng.random(n) < 1 / (1 + np.exp(-curve))
    if shape == "decisions":
        return X, group, (rng.random(n) < 1 / (1 + np.exp(-2 * curve))).astype(int)
    return X, group, curve + rng.normal(size=n) + EFFECTS[effect](X, n) * (group - 0.5)


def design(shape, n, data_sets, effect="none", models="default models"):
    """Reject by the test of this package, and by the test of means without adjustment."""
    figure = "size" if effect == "none" else "power"

    def draw(rng):
        X, group, y = people(n, shape, rng, effect)
        test = AdjustedFairnessTest.from_predictions(
            None, y, sensitive_features=np.where(group, "a", "b"), covariates=dict(zip("wxyz", X.T, strict=True)),
            random_state=rng, outcome_model=MODELS[models](), group_model=MODELS[models](),
        )  # fmt: skip
        alone = ttest_ind(y[group], y[~group], equal_var=False).pvalue <= ALPHA
        return {"adjusted": {figure: test.rejected_}, "without adjustment": {figure: alone}}

    return Design(
        f"covariates/{shape}, effect {effect}, {n} people, {models}", one_by_one(draw), data_sets,
        ("adjusted",) if models == "default models" else (), 100 * (shape == "products" and n == 500),
    )  # fmt: skip


DESIGNS = [
    *(
        each
        for n in (500, 5000)
        for each in (
            *(design(shape, n, 600 if n == 500 and shape in ("smooth", "steps") else 200) for shape in SHAPES),
            *(design("smooth", n, 40, effect) for effect in ("same for all", "changes its sign")),
        )
    ),
    design("steps", 500, 200, models="curves alone"),
    design("smooth", 500, 200, models="trees alone"),
]
