"""The simulation of Maity et al. (2021) and its Figure 1: logistic models over a grid of coefficients.

The simulated people are those of the authors' generate_data.py, number by number. The flows of all models of the grid
are followed at once, by the package's own steps; tests compare them with the estimator, and with the published flows.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from benchmarks.reproduce import _maity_theory as theory
from benchmarks.reproduce._expected import meanings
from benchmarks.reproduce._maity_theory import TOLERANCE
from benchmarks.reproduce._pictures import HIGH, LOW, Picture, maps
from benchmarks.reproduce._rows import FAILS, HOLDS, Found, Row, said
from skfairtest.individual.flow import euler
from skfairtest.individual.statistics import audit_value

TITLE = "Maity et al. (2021): the simulation"
SOURCE = "maity"
SEED = 1
INTRODUCTION = """\
S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), "Statistical inference for individual fairness", simulate {people}
people of two groups, {minority} of them in the minority, who differ in the first feature. The fair metric ignores that
feature. Logistic models with coefficients theta_1 and theta_2 from -4 to 4 are audited: T_n is the lower bound of the
mean ratio of losses, and a model is rejected if T_n is above {tolerance}. The flow has {steps} steps of .02 / i^(2/3)
and a penalty of {regularization:g}. The people here are those of the published code, and so are single flows, to the
last digits stored.

The published heat maps are those of models whose intercept is added twice, by a slip in the published code. With that
slip the largest T_n of every map is the stored one. The text says that the intercept is fitted; such models are a
second picture here, in which T_n is much larger."""
TABLES = {
    "Figure 1": """\
T_n as published, with the intercept added twice: the metric ignores the first feature (left), or a direction rotated by
5 (centre) and 10 degrees (right). The colours are those of the paper, from {low} (blue) over {tolerance} (white) to
{high} (red) and above; the line is where T_n is {tolerance}.""",
    "Figure 1 with the intercept of the text": """\
The same with the intercept that fits the data best for each pair of coefficients, as the text says.""",
    "Largest T_n of the grid": """\
Published are the arrays stored with the code, from which its figure is drawn. The text says {steps} steps and the
notebook {fewer}: the arrays are those of {steps}. The text defines the rotated distance with the squares of sine and
cosine as weights of the two features. That is no rotation, as it has no direction that costs nothing; the arrays are
those of the rotation.""",
    "What the published code does": """\
- It adds the intercept once for each feature: twice in all.
- In its last version it multiplies the angle by ten before the rotation. The stored arrays were made without that.
- Where penalty times step is above 1, as in the first steps of the simulation, the feature that is held back
  overshoots. The package warns about it; here the settings are the published ones.""",
}

#: Settings of the simulation's flow.
FLOW = {"regularization": 100.0, "steps": 0.02 / np.arange(1, 401) ** (2 / 3)}
#: The published code's notebook has fewer steps.
CHECKPOINTS = (200, 400)
GRID = np.linspace(-4, 4, 21).round(1)
ANGLES = (0, 5, 10, 20)
#: Those of the figure.
SHOWN = (0, 5, 10)
#: The largest T_n in the arrays that are stored with the published code, by rotation.
STORED = {0: 1.67, 5: 1.81, 10: 1.95, 20: 2.39}
#: What is tried: how the intercept is chosen, and whether the distance is the text's formula.
VARIANTS = {
    "intercept twice, as in the code": ("doubled", False),
    "intercept fitted, as in the text": ("fitted", False),
    "intercept fitted, the text's formula of the distance": ("fitted", True),
}


def people():
    """Draw features and labels as the published generate_data.py does, and who is of the minority."""
    random, n = np.random.RandomState(SEED), 400  # what numpy.random.seed seeds
    X = random.normal(0, 0.25, (n, 2))
    majority = random.choice([False, True], n, p=[0.1, 0.9])
    noise = 0.01 * random.normal(size=n)
    score = X[:, 0] * np.where(majority, -0.2, 0.2) - 0.01 * X[:, 1] + noise
    X = X + np.where(majority[:, None], [-1.5, 0.0], [1.5, 0.0])
    return X, (score > 0).astype(int), ~majority


def intercept_of(theta, X, y, how):
    """Return the intercept of a logistic model: fitted, or that one twice."""
    fitted = brentq(lambda b: (expit(X @ theta + b) - y).sum(), -20, 20, xtol=1e-10)
    return fitted * (2 if how == "doubled" else 1)


def held_back(angle, formula):
    """Return the matrix of the squared fair distance."""
    sine, cosine = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    if formula:
        return np.diag([sine**2, cosine**2])
    return np.outer([-sine, cosine], [-sine, cosine])


def bounds(grid, X, y, how, angle, formula=False):
    """Return T_n of every pair of coefficients after each checkpoint: (checkpoints, theta_2, theta_1)."""
    thetas = np.array([[first, second] for second in grid for first in grid])
    intercepts = np.array([intercept_of(theta, X, y, how) for theta in thetas])
    theta = np.repeat(thetas, len(X), axis=0)
    intercept, labels = np.repeat(intercepts, len(X)), np.tile(y, len(thetas))

    def losses(x):
        return np.logaddexp(0, (1 - 2 * labels) * ((x * theta).sum(axis=1) + intercept)).reshape(len(thetas), len(X))

    def gradient(x, rows):
        return (expit((x * theta[rows]).sum(axis=1) + intercept[rows]) - labels[rows])[:, None] * theta[rows]

    start = np.tile(X, (len(thetas), 1))
    before = losses(start)
    matrix = held_back(angle, formula)
    ends = euler(start, gradient, lambda v: v @ matrix, checkpoints=CHECKPOINTS, **FLOW)
    found = []
    for end in ends:
        after = losses(end)
        audits = (
            audit_value("loss_ratio", *each, tolerance=TOLERANCE, confidence_level=0.95)
            for each in zip(before, after, strict=True)
        )
        found.append(np.reshape([audit.lower_bound for audit in audits], (len(grid), len(grid))))
    return np.array(found)


def crossing(grid, row):
    """Return where T_n rises above the tolerance, by theta_1 from 0 upwards, on a straight line between two models."""
    above = grid >= 0
    theta, values = grid[above], row[above]
    first = int(np.argmax(values > TOLERANCE))
    share = (TOLERANCE - values[first - 1]) / (values[first] - values[first - 1])
    return float(theta[first - 1] + share * (theta[first] - theta[first - 1]))


def grows(values):
    """Whether T_n grows with the distance of theta_1 from 0, for every theta_2."""
    middle = values.shape[1] // 2
    return bool((np.diff(values[:, middle:]) > 0).all() and (np.diff(values[:, middle::-1]) > 0).all())


def statements(grid, maps):
    """Return what the paper says about Figure 1 beside whether it holds for its maps, and for those of its text."""
    middle = len(grid) // 2

    def rejected(how, angle):
        return maps[how, False, angle] > TOLERANCE

    def changed(how):
        """How many models have another verdict than that with theta_2 = 0."""
        return int((rejected(how, 0) != rejected(how, 0)[middle]).sum())

    says = (
        ("left: T_n grows with the distance of theta_1 from 0", "increase", lambda how: grows(maps[how, False, 0])),
        ("left: which models are rejected does not depend on theta_2", "increase", lambda how: not changed(how)),
        ("centre and right: models with theta_1 = 0 are not rejected", "robust", lambda how: (
            not any(rejected(how, angle)[:, middle].any() for angle in SHOWN[1:])
        )),
        ("centre and right: models with large theta_2 are rejected that are not on the left", "misspecified",
         lambda how: all((rejected(how, angle) & ~rejected(how, 0))[[0, -1]].any() for angle in SHOWN[1:])),
        ("left: a tolerance near 1 rejects every model with theta_1 other than 0, and no other", "strict",
         lambda how: maps[how, False, 0][:, grid != 0].min() > max(1, maps[how, False, 0][:, middle].max())),
    )  # fmt: skip
    for what, claim, holds in says:
        published = f"in the published maps, of the intercept added twice: {HOLDS if holds('doubled') else FAILS}"
        if "depend" in what:
            published += f" ({changed('doubled')} of {len(grid) ** 2} models differ from theta_2 = 0)"
            varies = np.ptp(maps["fitted", False, 0], axis=0) / maps["fitted", False, 0].min(axis=0)
            published += f"; T_n itself varies with theta_2, by up to {varies.max():.0%}"
        if claim == "strict":
            others, fair = maps["fitted", False, 0][:, grid != 0].min(), maps["fitted", False, 0][:, middle].max()
            published += f"; T_n of theta_1 = 0 goes up to {fair:.3f}, and of others down to {others:.3f}"
        yield said(f"Figure 1, {what}", holds("fitted"), published, answers=f"simulation.{claim}")
    for how, reading in (("fitted", ""), ("doubled", "intercept added twice, as in the published code")):
        edge = float(np.mean([crossing(grid, row) for row in maps[how, False, 0]]))
        what = "Figure 1, left: theta_1 up to which models are not rejected"
        yield Row(
            what, edge, "simulation.permitted/theta1", reading, why="between models of the grid, which are .4 apart"
        )


def overfitted(X, y, minority):
    """Whether a logistic regression predicts the majority better, by both coordinates."""
    model = LogisticRegression(C=1e6).fit(X, y)
    (first, second), right = model.coef_[0], model.predict(X) == y
    majority, fewer = right[minority == 0].mean(), right[minority == 1].mean()
    why = (
        f"coefficients {first:.2f} and {second:.2f}; right {majority:.2f} of the majority, {fewer:.2f} of the minority"
    )
    holds = majority > fewer and min(abs(first), abs(second)) > 0.1
    return said(
        "4.1: a logistic regression overfits the majority, by both coordinates", holds, why,
        answers="simulation.overfits",
    )  # fmt: skip


def largest_table(maps):
    rows = [["published", *(f"{STORED[angle]:.2f}" for angle in ANGLES)]]
    for name, variant in VARIANTS.items():
        found = [maps.get((*variant, angle)) for angle in ANGLES]
        largest = [None if values is None else values.max(axis=(1, 2)) for values in found]
        rows.append([name, *(None if each is None else "{1:.2f} ({0:.2f})".format(*each) for each in largest)])
    return [f"after {CHECKPOINTS[1]} steps (after {CHECKPOINTS[0]})", *(f"{angle} degrees" for angle in ANGLES)], rows


def pictured(maps, how):
    """Return what a picture of three heat maps is drawn from."""
    return {
        "grid": GRID.tolist(),
        "maps": {str(angle): maps[how, False, angle].round(3).tolist() for angle in SHOWN},
    }


def run(*, quick):
    grid = GRID[::5] if quick else GRID
    X, y, minority = people()
    asked = [(*variant, angle) for variant in VARIANTS.values() for angle in ANGLES if angle or not variant[1]]
    if quick:
        asked = [each for each in asked if each[:2] == ("doubled", False)]
    through = {each: bounds(grid, X, y, each[0], each[2], each[1]) for each in asked}
    maps = {each: found[-1] for each, found in through.items()}
    rows = []
    for angle, stored in STORED.items():  # in the corners, which a coarse grid has too
        ours = float(maps["doubled", False, angle].max())
        what = f"Figure 1, largest T_n, {angle} degrees: the array stored with the published code"
        rows.append(Row(what, ours, other=stored, within=0.005))
    if quick:
        return Found(rows)
    rows += [*statements(grid, maps), overfitted(X, y, minority), *theory.rows(SEED)]
    apart = np.abs(X[minority == 1].mean(axis=0) - X[minority == 0].mean(axis=0))
    why = "means {:.2f} and {:.2f} apart".format(*apart)
    (times,) = meanings(SOURCE, "figure3.groups")
    rows.append(said("Figure 3: groups differ mainly in the first feature", apart[0] > times * apart[1], why,
                     answers="figure3.groups"))  # fmt: skip
    tables = {
        "Figure 1": ([], []),
        "Figure 1 with the intercept of the text": ([], []),
        "Largest T_n of the grid": largest_table(through),
        "What the published code does": ([], []),
    }
    facts = {
        "people": len(X), "minority": int(minority.sum()), "tolerance": TOLERANCE, "steps": len(FLOW["steps"]),
        "fewer": CHECKPOINTS[0], "regularization": FLOW["regularization"], "low": LOW, "high": HIGH,
    }  # fmt: skip
    pictures = {"figure_1": pictured(maps, "doubled"), "figure_1_text": pictured(maps, "fitted")}
    return Found(rows, tables, facts, pictures)


PICTURES = {
    "figure_1": Picture(
        "Figure 1",
        "T_n over the grid of coefficients, intercept twice",
        "Three heat maps of T_n by theta_1 and theta_2, with rotations of 0, 5 and 10 degrees. Models that are not "
        "rejected, in blue, lie in an upright band around theta_1 = 0, which tilts as the metric is rotated; the line "
        "is T_n = {tolerance}.",
        (7.2, 3.0),
        maps,
    ),
    "figure_1_text": Picture(
        "Figure 1 with the intercept of the text",
        "T_n over the grid of coefficients, intercept fitted",
        "The same three heat maps with the intercept fitted: bands of blue are narrower, and red is darker.",
        (7.2, 3.0),
        maps,
    ),
}
