"""Unfair maps against exact solutions, and the search: what is found and spent, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.special import expit

from skfairtest._utils.errors import ParameterError
from skfairtest.individual.flow import SAME, Quadratic, candidates, euler, implicit, search, slopes
from skfairtest.individual.unfair import WIDTHS


def pull(metric):
    """The distance's pull at an offset."""
    return lambda v: v @ metric.matrix


def shrink(metric, regularization):
    """What an implicit step of a length leaves of an offset."""
    return lambda t: lambda v: v @ metric.shrinking(t * regularization)


def logistic(theta, intercept, y):
    """Log loss of a logistic model and its gradient, by hand: dloss/dx = (p - y) theta."""
    theta = np.asarray(theta)

    def loss(x, people=slice(None)):
        return np.logaddexp(0, (1 - 2 * y[people]) * (x @ theta + intercept))

    def gradient(x, people):
        return (expit(x @ theta + intercept) - y[people])[:, None] * theta

    return loss, gradient


def small(n=13, d=3, seed=0):
    """A few people, a logistic model and a fair metric of rank d - 1."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, d)), rng.integers(2, size=n).astype(float)
    loss, gradient = logistic(rng.normal(size=d), 0.3, y)
    root = rng.normal(size=(d, d - 1))
    return x, y, loss, gradient, Quadratic(root @ root.T)


def last(paths):
    """The end of a path."""
    return list(paths)[-1]


# Euler ----------------------------------------------------------------------------------------------------------------


def test_the_simulated_people_are_those_of_the_paper(golden, simulated):
    X, y = simulated
    minority = X[:, 0] > 0
    assert (len(X), minority.sum()) == (golden["n"], golden["minority"])
    assert round(y[~minority].mean(), 3) == golden["positive_rate_majority"]
    assert round(y[minority].mean(), 3) == golden["positive_rate_minority"]


def test_one_implicit_step_is_pulled_from_where_it_ends():
    x, _, _, gradient, metric = small()
    (first, second) = implicit(x, gradient, shrink(metric, 20.0), steps=[0.1, 5.0], checkpoints=[1, 2])
    for before, after, size in ((x, first, 0.1), (first, second, 5.0)):
        by_hand = before + size * (gradient(before, slice(None)) - 40.0 * (after - x) @ metric.matrix)
        np.testing.assert_allclose(after, by_hand, rtol=0, atol=1e-9)


# Against exact solutions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["euler", "implicit"])
def test_a_quadratic_loss_has_the_solution_of_a_linear_equation(solver):
    """With loss (b'x - y)^2, dv/dt = 2 (b'v + r) b - 2 lambda Sigma v, solved by a matrix exponential.

    The error halves with the length of the steps.
    """
    x, y, _, _, metric = small(n=4)
    b, regularization = np.array([0.5, -1.0, 0.3]), 0.7

    def gradient(x, people):
        return 2 * (x @ b - y[people])[:, None] * b

    exact = np.empty_like(x)
    for person in range(4):
        # One more coordinate, constantly 1, makes the equation homogeneous.
        whole = np.zeros((4, 4))
        whole[:3, :3] = 2 * np.outer(b, b) - 2 * regularization * metric.matrix
        whole[:3, 3] = 2 * (x[person] @ b - y[person]) * b
        exact[person] = x[person] + (expm(0.5 * whole) @ [0, 0, 0, 1])[:3]
    errors = []
    for n_steps in (400, 800, 1600):
        rest = {"steps": np.full(n_steps, 0.5 / n_steps), "checkpoints": [n_steps]}
        if solver == "euler":
            followed = euler(x, gradient, pull(metric), regularization=regularization, **rest)
        else:
            followed = implicit(x, gradient, shrink(metric, regularization), **rest)
        errors.append(np.abs(last(followed) - exact).max())
    assert errors[2] < 1e-2
    np.testing.assert_allclose(np.divide(errors[:2], errors[1:]), 2, atol=0.05)


# Divergence -----------------------------------------------------------------------------------------------------------


def square(x, people):
    """A gradient whose flow from x > 0 reaches infinity at time 1 / x."""
    return x * x


def no_pull(v):
    return np.zeros_like(v)


def test_a_diverging_step_says_how_many_people_run_away():
    x = np.array([[2.0, -1.0], [-1.0, -1.0], [2.0, 0.0]])
    with pytest.raises(ParameterError, match="steps of up to 1 diverge: 2 unfair examples ran away"):
        list(euler(x, square, no_pull, steps=np.full(500, 1.0), regularization=0, checkpoints=[64, 500]))


def test_who_would_run_away_by_implicit_steps_stays_where_numbers_end():
    def gradient(x, people):  # of exp(2 x), which is infinite in a finite time
        return 2 * np.exp(2 * x)

    flow = {"steps": [0.2] * 25, "checkpoints": [25]}
    start = np.array([[2.0], [-9.0]])
    (found,) = implicit(start, gradient, lambda t: lambda v: v, **flow)
    assert 1e3 < found[0, 0] < 1e30
    (alone,) = implicit(start[1:], gradient, lambda t: lambda v: v, **flow)
    assert found[1, 0] == alone[0, 0]


def test_places_that_are_finite_but_absurd_have_diverged_as_well():
    """x + x^2 from 1 is 1.1e26 after seven steps and 1.3e52 after eight."""
    path = euler(np.array([[1.0]]), square, no_pull, steps=np.full(8, 1.0), regularization=0, checkpoints=[7, 8])
    assert 1e26 < next(path)[0, 0] < 2e26
    with pytest.raises(ParameterError, match="1 unfair example ran away"):
        next(path)


def test_a_model_that_refuses_diverged_points_does_not_hide_that_they_diverged():
    def strict(x, people):
        if not np.isfinite(x).all():
            raise ValueError("Input X contains infinity")
        return x * x

    with pytest.raises(ParameterError, match="1 unfair example ran away"):
        list(euler(np.array([[1.0]]), strict, no_pull, steps=np.full(50, 1.0), regularization=0, checkpoints=[50]))


FREE_FIRST = Quadratic(np.diag([0.0, 1.0]))


class Model:
    """A loss that is constant on boxes, and how often anybody was asked about."""

    def __init__(self, seed=0, d=2, n=50, cells=6):
        rng = np.random.default_rng(seed)
        self.edges = np.linspace(-1, 1, cells - 1) + rng.uniform(-0.15, 0.15, size=(d, cells - 1))
        self.table = rng.exponential(size=(n, *[cells] * d))
        self.asked = np.zeros(n, dtype=int)
        self.rows = []

    def __call__(self, x, people):
        self.rows.append(len(x))
        np.add.at(self.asked, people, 1)
        cells = [np.searchsorted(edges, x[:, j]) for j, edges in enumerate(self.edges)]
        return self.table[(people, *cells)]


def found(
    x0, objective, metric=FREE_FIRST, *, radius=3.0, regularization=50.0, first=None, n_candidates=100, checkpoints=None
):
    """Everything that is yielded; by default once, at the end, from 100 candidates within 3."""
    x0, (rows, costs) = np.asarray(x0), metric.reachable(np.zeros(len(metric.matrix), dtype=bool))
    shape = (len(x0), len(rows))
    return list(
        search(
            x0,
            objective,
            directions=np.broadcast_to(rows, (*shape, rows.shape[1])),
            radius=np.broadcast_to(radius, shape),
            costs=np.broadcast_to(regularization * costs, shape),
            first=np.zeros(shape) if first is None else first,
            n_candidates=n_candidates,
            checkpoints=checkpoints or [n_candidates],
        )
    )


def reach(x0, objective, rows, *, steps, limits=np.inf, costs=0.0):
    """Where the flow of the smoothed loss ends along rows."""
    x0, rows = np.asarray(x0), np.asarray(rows)
    shape = (len(x0), len(rows))
    directions, widths = np.broadcast_to(rows, (*shape, rows.shape[1])), WIDTHS
    limits = np.broadcast_to(limits, shape)
    gradient = slopes(x0, objective, directions, [np.minimum(width, limits) for width in widths], SAME)
    (ends,) = implicit(
        np.zeros(shape), gradient, lambda t: lambda u: np.clip(u / (1 + t * costs), -limits, limits),
        steps=steps, checkpoints=[len(steps)],
    )  # fmt: skip
    return ends


def people(n, d=2, seed=1):
    return np.random.default_rng(seed).normal(size=(n, d))


# What is found --------------------------------------------------------------------------------------------------------


def test_along_one_direction_the_worst_of_all_cells_is_found_where_it_is_nearest():
    x0, model = people(50), Model()
    (moved,) = found(x0, model, n_candidates=400)
    start = model(x0, np.arange(50))
    cells = np.searchsorted(model.edges[1], x0[:, 1])
    reachable = np.concatenate([[-np.inf], model.edges[0], [np.inf]])
    for person in range(50):
        losses = model.table[person, :, cells[person]].copy()
        beyond = (reachable[:-1] > x0[person, 0] + 3) | (reachable[1:] < x0[person, 0] - 3)
        losses[beyond] = 0
        worst = int(np.argmax(losses))
        assert model(moved[[person]], np.array([person]))[0] == losses[worst] >= start[person]
        nearest = np.clip(x0[person, 0], reachable[worst], reachable[worst + 1])
        assert abs(moved[person, 0] - nearest) < 0.01
    np.testing.assert_array_equal(moved[:, 1], x0[:, 1])


def test_several_directions_are_searched_together():
    """A corner that no axis reaches: worse only where all three features exceed a half."""
    metric = Quadratic(np.diag([0.0, 0.0, 0.0, 1.0]))
    (moved,) = found(np.zeros((3, 4)), lambda x, people: (x[:, :3] > 0.5).all(axis=1) * 1.0, metric, n_candidates=400)
    assert (moved[:, :3] > 0.5).all()
    assert (np.linalg.norm(moved, axis=1) < 1.2).all()  # the corner itself is at .87
    assert (moved[:, 3] == 0).all()


def test_who_has_nothing_strictly_worse_stays():
    x0 = people(30)
    (moved,) = found(x0, lambda x, people: np.where(x[:, 0] == x0[people, 0], 1.0, 1.0 - (people % 2)))
    np.testing.assert_array_equal(moved, x0)


def test_what_differs_by_rounding_only_is_not_worse():
    x0 = people(30)
    noise = np.random.default_rng(0)
    (moved,) = found(x0, lambda x, people: 0.7 * (1 + 1e-14 * noise.normal(size=len(x))))
    np.testing.assert_array_equal(moved, x0)


def test_an_infinite_loss_is_worse_than_any_and_the_nearest_one_is_kept():
    (moved,) = found(np.zeros((1, 2)), lambda x, people: np.where(x[:, 0] > 0.4, np.inf, 1.0))
    assert 0.4 < moved[0, 0] < 0.41


def test_directions_may_have_radii_of_their_own():
    seen = []

    def loss(x, people):
        seen.append(x.copy())
        return np.zeros(len(x))

    found(np.zeros((1, 3)), loss, Quadratic(np.diag([0.0, 0.0, 1.0])), radius=[10.0, 0.1])
    seen = np.concatenate(seen)
    np.testing.assert_allclose(np.abs(seen).max(axis=0), [10.0, 0.1, 0.0])
    assert ((seen[:, 0] / 10) ** 2 + (seen[:, 1] / 0.1) ** 2 <= 1 + 1e-12).all()


def test_distance_has_its_price():
    """Without a free direction a step of height 1 at a distance of .5 is worth it for lambda below 4 only."""
    metric = Quadratic(np.eye(1))

    def steps(x, people):
        return (x[:, 0] >= 0.5) * 1.0

    assert found(np.zeros((1, 1)), steps, metric, regularization=3.0)[0][0, 0] == pytest.approx(0.5, abs=0.01)
    assert found(np.zeros((1, 1)), steps, metric, regularization=5.0)[0][0, 0] == 0


def test_more_candidates_are_never_worse():
    x0, model = people(50), Model()
    value = model(x0, np.arange(50))
    for place in found(x0, model, checkpoints=range(1, 101)):
        after = model(place, np.arange(50))
        assert (after >= value).all()
        value = after


# How far it goes ------------------------------------------------------------------------------------------------------


def test_the_reach_is_where_the_flow_of_a_smooth_loss_ends():
    """A logistic loss along one free direction, and one that costs: against small steps of its exact derivative."""
    metric, weights = Quadratic(np.diag([0.0, 0.02, 1.0])), np.array([1.2, -0.7, 0.4])
    x0 = people(20, 3)

    def loss(x, people):
        return np.logaddexp(0, x @ weights)

    costs = 2.0 * metric.squared_distance(np.eye(3)[:2])
    ends = reach(x0, loss, np.eye(3)[:2], steps=np.full(400, 0.01), costs=costs)
    x = x0.copy()
    for _ in range(4000):
        slope = (weights / (1 + np.exp(-(x @ weights)))[:, None]) - 4.0 * (x - x0) @ metric.matrix
        x[:, :2] += 0.001 * slope[:, :2]
    np.testing.assert_allclose(ends, (x - x0)[:, :2], rtol=0.02)
    limited = reach(x0, loss, np.eye(3)[:2], steps=[90.0], costs=costs, limits=[1.0, 0.1])
    assert (np.abs(limited) <= [1.0, 0.1]).all()
    assert (np.abs(limited) == [1.0, 0.1]).any(axis=0).all()


def test_who_stands_on_a_plain_looks_farther():
    plain = [[-0.6, 0.0], [-0.2, 0.0], [-2.0, 0.0]]
    ends = reach(plain, lambda x, people: (x[:, 0] > 0) * 1.0, [[1.0, 0.0]], steps=[0.1])
    np.testing.assert_allclose(ends[:, 0], [0.1 / 2, 0.1 / 0.5, 0.0])


# What is spent --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_candidates", [1, 2, 3, 8, 17, 100, 333])
@pytest.mark.parametrize("d", [2, 4])
def test_everybody_is_asked_about_exactly_as_often_as_wanted(n_candidates, d):
    model = Model(n=7, d=d, cells=3)
    metric = Quadratic(np.diag([*[0.0] * (d - 1), 1.0]))
    path = found(people(7, d), model, metric, n_candidates=n_candidates, checkpoints=range(1, n_candidates + 1))
    assert len(path) == n_candidates
    np.testing.assert_array_equal(model.asked, n_candidates + 2)  # and about the start and the first point


# Candidates -----------------------------------------------------------------------------------------------------------


@given(k=st.integers(1, 12), n=st.integers(1, 200))
def test_candidates_are_as_many_as_wanted_all_in_the_ball_and_all_different(k, n):
    points = candidates(k, n)
    assert points.shape == (n, k)
    assert (np.linalg.norm(points, axis=1) <= 1 + 1e-12).all()
    assert len(np.unique(points, axis=0)) == n
