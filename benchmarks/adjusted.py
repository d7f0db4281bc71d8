"""Size and power of the test of disparities given covariates: ``python -m benchmarks.adjusted [--quick]``.

People have four covariates, on which outcome and group depend alike, so that groups differ although nothing differs
given the covariates. How they depend is what a case is called by: "smooth" (a sine and a square), "products" (of two
covariates), "steps" (of one covariate, and of two together), and "decisions" (0 or 1, with the probability that the
smooth curve gives). Counted are rejections at 5% of the test of means without adjustment, of the test with the default
models, and of the test with models of one kind for smooth curves and for steps: penalised least squares on bent lines,
and boosted trees.

Power: a difference of the same size for all ("same for all"), and one that changes its sign with a covariate.

Without ``--quick`` figures are written to benchmarks/results/adjusted.json with the seed and versions.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from benchmarks.common.bounds import Promise
from benchmarks.common.command import command, generator
from skfairtest import AdjustedFairnessTest
from skfairtest.adjusted.measure import TREES, curves

SEED = 20261122
RESULTS = Path(__file__).parent / "results" / "adjusted.json"
LEVEL = 0.05
#: Strengths of the penalty of curves without trees.
PENALTIES = tuple(np.logspace(-1, 4, 11).tolist())
#: Data sets of `quick`.
QUICK = 100


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
    "same for all": lambda X, n: np.full(n, 3.3 / np.sqrt(n)) * 2,
    "changes its sign": lambda X, n: 9.0 / np.sqrt(n) * np.sign(X[:, 3]),
}
#: Data sets of the sizes that are nearest to their limit.
MOST = {("smooth", 500): 600, ("steps", 500): 600}
MODELS = {
    "default": None,
    "curves": lambda: curves(RidgeCV(PENALTIES)),
    "trees": lambda: HistGradientBoostingRegressor(**TREES),
}


def people(n, shape, rng, effect=None):
    """Return covariates, groups and outcomes, of groups that differ by an effect."""
    X = rng.normal(size=(n, 4))
    curve = SHAPES[shape](X)
    curve = curve - curve.mean()
    group = rng.random(n) < 1 / (1 + np.exp(-curve))
    if shape == "decisions":
        return X, group, (rng.random(n) < 1 / (1 + np.exp(-2 * curve))).astype(int)
    y = curve + rng.normal(size=n)
    return X, group, y if effect is None else y + EFFECTS[effect](X, n) * (group - 0.5)


def run(n, runs, rng, *, shape, effect=None, models="default"):
    """Count rejections, and those of the test without adjustment."""
    found = {"unadjusted": 0, "gcm": 0}
    model = MODELS[models] and MODELS[models]()
    estimates, seconds = [], 0.0
    for _ in range(runs):
        X, group, y = people(n, shape, rng, effect)
        found["unadjusted"] += int(ttest_ind(y[group], y[~group], equal_var=False).pvalue <= LEVEL)
        start = time.process_time()
        test = AdjustedFairnessTest.from_predictions(
            None,
            y,
            sensitive_features=np.where(group, "a", "b"),
            covariates=dict(zip("wxyz", X.T, strict=True)),
            random_state=rng,
            outcome_model=model,
            group_model=model,
        )
        seconds += time.process_time() - start
        found["gcm"] += int(test.rejected_)
        estimates.append(test.disparity_)
    return {
        "runs": runs,
        "rejected": found,
        "mean_disparity": round(float(np.mean(estimates)), 4),
        "cpu_seconds_per_test": {"gcm": round(seconds / runs, 3)},
    }


def cases(*, quick):
    """Return what is computed, by name."""
    out = {}
    many, few = (4, 2) if quick else (200, 40)
    for n in (500,) if quick else (500, 5000):
        for shape in SHAPES:
            runs = MOST.get((shape, n), many) if not quick else many
            out[f"size, {shape}, {n} people"] = {"n": n, "runs": runs, "shape": shape}
        for effect in EFFECTS:
            out[f"power, {effect}, {n} people"] = {"n": n, "runs": few, "shape": "smooth", "effect": effect}
    for models, shape in (("curves", "steps"), ("trees", "smooth")):
        params = {"n": 500, "runs": 4 if quick else 200, "shape": shape, "models": models}
        out[f"size by {models} alone, {shape}, 500 people"] = params
    return {name: lambda rng, params=params: run(rng=rng, **params) for name, params in out.items()}


def problems(figures):
    """Say which figures break a promise."""
    for name, found in figures.items():
        if name.startswith("size,"):
            limit = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / found["runs"])
            for method, rejected in found["rejected"].items():
                if method != "unadjusted" and rejected > limit * found["runs"]:
                    yield f"{name}: {method} rejects {rejected} of {found['runs']}"
            if found["rejected"]["unadjusted"] < 0.9 * found["runs"]:
                yield f"{name}: confounding is too weak to be seen without adjustment"


def quick():
    """Check a few data sets whose groups do not differ given covariates that the default models learn."""
    name = "size, products, 500 people"
    found = run(500, QUICK, generator(SEED, name), shape="products")
    says = f"given covariates: size at most {LEVEL} and three Monte-Carlo errors, {QUICK} data sets of 500 people"
    return Promise(says, 1, list(problems({name: found})))


def main(argv=None):
    what = "disparities given covariates; see benchmarks/adjusted.py"
    return command(argv, what, RESULTS, SEED, cases, problems, level=LEVEL)


if __name__ == "__main__":
    sys.exit(main())
