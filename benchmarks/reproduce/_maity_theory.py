"""What Maity et al. (2021) state without a number, tried with a logistic model of two normal features."""

from itertools import pairwise

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from scipy.special import expit
from scipy.stats import kstest

from benchmarks.reproduce._expected import meanings
from benchmarks.reproduce._rows import said
from skfairtest.individual.flow import euler
from skfairtest.individual.statistics import audit_value

ALPHA, REGULARIZATION, TIME = 0.05, 5.0, 2.5
#: The largest mean ratio of losses that the paper calls fair.
TOLERANCE = 1.25
THETA = np.array([0.8, 0.8])
PEOPLE, DATA_SETS = 400, 1000
#: Three Monte-Carlo errors of a share of the level, and what a sample of 400 may be from the limit.
SLACK = 3 * np.sqrt(ALPHA * (1 - ALPHA) / DATA_SETS) + 0.005


def drawn(n, rng, theta=THETA, *, certain=False):
    """Draw features and labels; certain ones are those that the model predicts, with small losses."""
    X = rng.normal(size=(n, len(theta)))
    y = X @ theta > 0 if certain else rng.random(n) < expit(X @ theta)
    return X, y.astype(float)


def losses(X, y, theta):
    return np.logaddexp(0, (1 - 2 * y) * (X @ theta))


def ends(X, y, theta, n_steps, *, time=TIME, regularization=REGULARIZATION, scale=1.0, angle=0.0):
    """Where people are after a flow of equal steps; the metric ignores the first feature, or a direction near it."""
    free = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    matrix = np.eye(2) - np.outer(free, free)

    def gradient(x, _):
        return scale * (expit(x @ theta) - y)[:, None] * theta

    steps = np.full(n_steps, time / n_steps)
    (end,) = euler(X, gradient, lambda v: v @ matrix, steps=steps, regularization=regularization, checkpoints=[n_steps])
    return end


def ratios(X, y, theta, n_steps=25, **how):
    return losses(ends(X, y, theta, n_steps, **how), y, theta) / losses(X, y, theta)


def bounds(values):
    """The published lower bound and both ends of the two-sided interval, of data sets in rows."""
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return mean - 1.645 * error, mean - 1.96 * error, mean + 1.96 * error


def simulated(rng, theta=THETA, *, certain=False, time=TIME):
    """The share of data sets that reject their true audit value, that cover it, and that reject one 10% below it.

    With the deviation of a ratio over its mean, and the distance of studentized means from the normal distribution.
    """
    n = PEOPLE * DATA_SETS
    values = ratios(*drawn(n, rng, theta, certain=certain), theta, time=time).reshape(DATA_SETS, PEOPLE)
    truth = ratios(*drawn(2 * n, rng, theta, certain=certain), theta, time=time).mean()
    lower, low, high = bounds(values)
    z = 1.96 * (2 * truth - low - high) / (high - low)
    covered = ((low <= truth) & (truth <= high)).mean()
    far = kstest(z, "norm").statistic
    return (lower > truth).mean(), covered, (lower > 0.9 * truth).mean(), values.std() / values.mean(), far


def dual(rng, people=6, points=12, radius=0.1):
    """The largest mean loss over distributions within a Wasserstein radius, by linear programming, and its dual."""
    place = rng.normal(size=points)
    loss, cost = np.log1p(np.exp(2 * place)), np.subtract.outer(place[:people], place) ** 2
    each = np.kron(np.eye(people), np.ones(points))
    primal = linprog(-np.tile(loss, people), cost.reshape(1, -1), [radius], each, np.full(people, 1 / people))

    def bound(penalty):
        return penalty * radius + (loss - penalty * cost).max(axis=1).mean()

    return -primal.fun, minimize_scalar(bound, bounds=(0, 50), options={"xatol": 1e-10}).fun


def error_rates(rng):
    """The size of the test of the ratio of error rates, its power 25% below, and the distance from the normal one."""
    n = PEOPLE * DATA_SETS

    def errors(X, y):
        moved = ends(X, y, THETA, 25)
        return ((X @ THETA > 0) != y).astype(float), ((moved @ THETA > 0) != y).astype(float)

    before, after = (each.reshape(DATA_SETS, PEOPLE) for each in errors(*drawn(n, rng)))
    wrong, moved = errors(*drawn(2 * n, rng))
    truth = float(moved.mean() / wrong.mean())
    tests = [
        audit_value("ratio_of_means", *pair, tolerance=truth, confidence_level=1 - ALPHA)
        for pair in zip(before, after, strict=True)
    ]
    lower = np.array([test.lower_bound for test in tests])
    z = [(test.estimate - truth) / test.standard_error for test in tests]
    return (lower > truth).mean(), (lower > 0.75 * truth).mean(), kstest(z, "norm").statistic


def rows(seed):
    """Return a row for each statement."""
    rng = np.random.default_rng(seed)
    X, y = drawn(300, rng)
    exact = ends(X, y, THETA, 25_600)
    steps = (50, 100, 200, 400)
    errors = [np.abs(ends(X, y, THETA, n) - exact).max() for n in steps]
    halves = [a / b for a, b in pairwise(errors)]
    smallest = min(ratios(X, y, THETA, n).min() for n in steps)
    scales = (0.1, 1.0, 2.0, 10.0)
    fixed, scaled = (
        [float(bounds(ratios(X, y, THETA, 400, scale=scale, **how(scale))[None])[0][0]) for scale in scales]
        for how in (lambda _: {}, lambda scale: {"regularization": REGULARIZATION * scale, "time": TIME / scale})
    )
    size, coverage, power, varies, far = simulated(rng)
    larger = simulated(rng, time=2 * TIME)[0], simulated(rng, time=TIME / 5)[0]
    small_size, _, small_power, small_varies, _ = simulated(rng, 4 * THETA, certain=True)
    rate_size, rate_power, rate_far = error_rates(rng)
    best, least = dual(np.random.default_rng(seed))
    (near,), (rate_near,) = (meanings("maity", f"theory.{name}") for name in ("normal", "rate_normal"))
    angles = (0.0, 0.5, 1.0, 2.0)
    turned = [float(bounds(ratios(X, y, THETA, 400, angle=angle)[None])[0][0]) for angle in angles]
    moves = np.abs(np.subtract(turned[1:], turned[0]))
    fair = np.array([0.0, 0.8])
    fair_rejected = (bounds(ratios(*drawn(PEOPLE * 200, rng, fair), fair).reshape(200, PEOPLE))[0] > TOLERANCE).mean()
    return [
        said("2: the error of the flow halves with its step", all(1.8 < half < 2.2 for half in halves),
             ", ".join(f"{n} steps {error:.1e}" for n, error in zip(steps, errors, strict=True)),
             answers="theory.euler"),
        said("3: no loss falls", smallest >= 1, f"smallest ratio {smallest:.4f}", answers="theory.increase"),
        said("3: T_n of losses times .1, 1, 2 and 10 with lambda fixed", np.ptp(fixed) < 1e-3,
             "T_n of losses times .1, 1, 2, 10: " + ", ".join(f"{t:.3f}" for t in fixed), answers="theory.scale"),
        said("3: the same with lambda times the factor and time over it", np.ptp(scaled) < 1e-3,
             ", ".join(f"{value:.3f}" for value in scaled), answers="theory.scale",
             reading="lambda multiplied too, and steps divided"),
        said("3: small losses: size at the true audit value, and power against a tolerance 10% below",
             small_size <= ALPHA + SLACK and small_power < power and small_varies > varies,
             f"ratios vary by {small_varies:.2f} of their mean, of larger losses by {varies:.2f}; power against a "
             f"tolerance 10% below {small_power:.2f} and {power:.2f}; size {small_size:.3f}",
             answers="theory.small_loss"),
        said("2: the largest risk within a Wasserstein distance, and its dual", abs(best - least) < 1e-6,
             f"{best:.6f} by linear programming, dual {least:.6f}", answers="theory.dual"),
        said("3.1: studentized means are normal", far <= near, f"{far:.3f} apart", answers="theory.normal"),
        said("C: studentized ratios of error rates are normal", rate_far <= rate_near, f"{rate_far:.3f} apart",
             answers="theory.rate_normal"),
        said("3.1: coverage of the two-sided interval", abs(coverage - (1 - ALPHA)) <= SLACK, f"covers {coverage:.3f}",
             answers="theory.coverage"),
        said("3.1: size at the true audit value", size <= ALPHA + SLACK < 0.8 < power,
             f"size {size:.3f}; power against a tolerance 10% below {power:.2f}", answers="theory.level"),
        said("3.2: size of the ratio of error rates", rate_size <= ALPHA + SLACK < 0.8 < rate_power,
             f"size {rate_size:.3f}; power against a tolerance 25% below {rate_power:.2f}",
             answers="theory.error_rate"),
        said("4.2: sizes at other stopping times, and a fair model's rejections at 1.25",
             max(larger) <= ALPHA + SLACK and fair_rejected <= ALPHA,
             f"size {larger[0]:.3f} and {larger[1]:.3f} if stopped twice as late, or after a fifth of the time; a fair "
             f"model is rejected {fair_rejected:.3f}", answers="stopping.level"),
        said("A: T_n moves as the metric is rotated by .5, 1 and 2 degrees", moves.max() < 0.05 * turned[0],
             ", ".join(f"{m:.4f}" for m in moves) + f" of {turned[0]:.3f} (.5, 1, 2 degrees)", answers="theory.robust"),
    ]  # fmt: skip
