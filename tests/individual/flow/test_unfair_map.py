"""Unfair maps: the published figures, exact solutions, and that nobody's path depends on anybody else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.special import expit

from skfairtest._utils.errors import ParameterError
from skfairtest.individual.flow import Quadratic, euler, implicit
from skfairtest.individual.statistics import lower_bound, ratios


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


@pytest.mark.parametrize("name", ["fitted", "doubled", "none"])
def test_the_published_flow(name, golden, simulated):
    expected = golden["flows"][name]
    x, y = simulated
    loss, gradient = logistic(golden["theta"], expected["intercept"], y)
    steps = 0.02 / np.arange(1, 401) ** (2 / 3)
    (moved,) = euler(x, gradient, pull(Quadratic(np.diag([0, 1]))), steps=steps, regularization=100, checkpoints=[400])
    found = ratios(loss(x), loss(moved))
    mean, sd = found.mean(), found.std()
    assert mean == pytest.approx(expected["mean"], abs=1e-7)
    assert sd == pytest.approx(expected["standard_deviation"], abs=1e-7)
    assert lower_bound(mean, sd, golden["n"], golden["z"]) == pytest.approx(expected["lower_bound"], abs=1e-7)


def test_one_step_is_the_formula():
    x, _, _, gradient, metric = small()
    (first, second) = euler(x, gradient, pull(metric), steps=[0.1, 0.05], regularization=2.0, checkpoints=[1, 2])
    np.testing.assert_allclose(first, x + 0.1 * gradient(x, slice(None)), rtol=0, atol=1e-15)
    by_hand = first + 0.05 * (gradient(first, slice(None)) - 4.0 * (first - x) @ metric.matrix)
    np.testing.assert_allclose(second, by_hand, rtol=0, atol=1e-15)


def test_one_implicit_step_is_pulled_from_where_it_ends():
    x, _, _, gradient, metric = small()
    (first, second) = implicit(x, gradient, shrink(metric, 20.0), steps=[0.1, 5.0], checkpoints=[1, 2])
    for before, after, size in ((x, first, 0.1), (first, second, 5.0)):
        by_hand = before + size * (gradient(before, slice(None)) - 40.0 * (after - x) @ metric.matrix)
        np.testing.assert_allclose(after, by_hand, rtol=0, atol=1e-9)


def test_implicit_steps_of_any_length_stay_where_the_distance_holds_them():
    """Without a free direction everybody ends near the start, where one step of Euler would throw them far away."""
    x, _, _, gradient, _ = small()
    metric = Quadratic(np.diag([0.5, 1.0, 4.0]))
    for size in (0.01, 1.0, 1000.0):
        steps = np.full(1000, size)
        end = last(implicit(x, gradient, shrink(metric, 50.0), steps=steps, checkpoints=[1000]))
        np.testing.assert_allclose(100.0 * (end - x) @ metric.matrix, gradient(end, slice(None)), atol=1e-3)


def test_few_implicit_steps_end_where_many_steps_of_euler_do():
    x, y, _, _, _ = small(n=200, seed=3)
    _, gradient = logistic([1.0, -0.5, 0.3], 0.2, y)
    metric = Quadratic(np.diag([0.0, 1.0, 1.0]))
    exact = last(euler(x, gradient, pull(metric), steps=np.full(5000, 0.001), regularization=50.0, checkpoints=[5000]))
    few = last(implicit(x, gradient, shrink(metric, 50.0), steps=np.full(25, 0.2), checkpoints=[25]))
    assert np.abs(exact - x).max() > 2
    np.testing.assert_allclose(few, exact, atol=0.1)


def test_the_start_is_left_alone_and_what_is_yielded_is_not_overwritten():
    x, _, _, gradient, metric = small()
    before = x.copy()
    flow = {"steps": np.full(10, 0.1), "regularization": 1.0}
    path = list(euler(x, gradient, pull(metric), checkpoints=[0, 3, 10], **flow))
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(path[0], before)
    for step, place in zip((3, 10), path[1:], strict=True):
        (alone,) = euler(
            x, gradient, pull(metric), steps=flow["steps"][:step], regularization=1.0, checkpoints=np.array([step])
        )
        np.testing.assert_array_equal(place, alone)


def test_a_gradient_or_a_pull_that_hands_over_its_own_array_is_not_overwritten():
    kept = np.ones((4, 2))
    (moved,) = euler(
        np.zeros((4, 2)), lambda x, people: kept, lambda v: kept, steps=[1.0, 1.0], regularization=0.25, checkpoints=[2]
    )
    np.testing.assert_array_equal(kept, np.ones((4, 2)))
    np.testing.assert_array_equal(moved, np.ones((4, 2)))


def test_warnings_of_the_reader_are_as_they_were_between_checkpoints():
    x, _, _, gradient, metric = small()
    with np.errstate(all="raise"):
        for _ in euler(x, gradient, pull(metric), steps=[0.1, 0.1], regularization=1.0, checkpoints=[1, 2]):
            assert np.geterr() == {"divide": "raise", "over": "raise", "under": "raise", "invalid": "raise"}


# What must not matter -------------------------------------------------------------------------------------------------


def moved(x, y, theta, metric, flow, rows):
    """Where some rows end that are given in this order."""
    _, gradient = logistic(theta, 0.2, y[rows])
    if flow == "euler":
        steps = 0.05 / np.arange(1, 30) ** 0.5
        return last(euler(x[rows], gradient, pull(metric), steps=steps, regularization=3.0, checkpoints=[29]))
    steps = np.full(10, 0.5)
    return last(implicit(x[rows], gradient, shrink(metric, 3.0), steps=steps, checkpoints=[10]))


@pytest.mark.parametrize("flow", ["euler", "implicit"])
@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 9), d=st.integers(1, 4), data=st.data())
def test_nobodys_path_depends_on_who_else_is_there(flow, seed, n, d, data):
    rng = np.random.default_rng(seed)
    x, y, theta = rng.normal(size=(n, d)), rng.integers(2, size=n).astype(float), rng.normal(size=d)
    root = rng.normal(size=(d, d))
    metric = Quadratic(root @ root.T)
    together = moved(x, y, theta, metric, flow, np.arange(n))
    order = np.array(data.draw(st.permutations(range(n))))
    cut = data.draw(st.integers(1, n - 1))
    repeated = np.repeat(np.arange(n), 2)
    for rows in (order, np.arange(cut), np.arange(cut, n), repeated, np.array([0])):
        np.testing.assert_allclose(moved(x, y, theta, metric, flow, rows), together[rows], rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), regularization=st.floats(0, 20))
def test_small_steps_never_lower_the_regularized_loss(seed, regularization):
    x, _, loss, gradient, metric = small(seed=seed)
    theta_square = 10.0 + 2 * regularization * metric.largest  # a bound of the objective's second derivative
    steps = np.full(30, 0.5 / theta_square)
    value = loss(x)
    for place in euler(x, gradient, pull(metric), steps=steps, regularization=regularization, checkpoints=range(1, 31)):
        after = loss(place) - regularization * metric.squared_distance(place - x)
        assert (after >= value - 1e-12).all()
        value = after


def test_a_constant_loss_moves_nobody():
    x, _, _, _, metric = small()

    def flat(x, people):
        return np.zeros_like(x)

    np.testing.assert_array_equal(
        last(euler(x, flat, pull(metric), steps=np.full(50, 0.1), regularization=5.0, checkpoints=[50])), x
    )


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


def test_a_diverging_step_says_how_many_people_and_when():
    x = np.array([[1.0, -1.0], [-1.0, -1.0], [2.0, 0.0]])
    with pytest.raises(ParameterError, match="steps of up to 1 diverge: 2 unfair examples ran away within 64 of them"):
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
    with pytest.raises(ParameterError, match="1 unfair example ran away within 8 of them"):
        next(path)


def test_a_model_that_refuses_diverged_points_does_not_hide_that_they_diverged():
    def strict(x, people):
        if not np.isfinite(x).all():
            raise ValueError("Input X contains infinity")
        return x * x

    with pytest.raises(ParameterError, match="1 unfair example ran away"):
        list(euler(np.array([[1.0]]), strict, no_pull, steps=np.full(50, 1.0), regularization=0, checkpoints=[50]))


def test_an_error_of_the_model_remains_its_own():
    def broken(x, people):
        raise KeyError("age")

    with pytest.raises(KeyError, match="age"):
        list(euler(np.array([[1.0]]), broken, no_pull, steps=[1.0], regularization=0, checkpoints=[1]))
