"""The search for unfair examples of piecewise-constant models: what it finds, what it spends, what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.individual import flow
from skfairtest.individual.flow import SAME, Quadratic, candidates, implicit, search, slopes
from skfairtest.individual.unfair import WIDTHS

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


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_only_ratios_of_losses_matter(scale):
    x0 = people(20)
    expected = found(x0, Model(), regularization=0)[0]
    model = Model()
    np.testing.assert_array_equal(found(x0, lambda x, people: scale * model(x, people), regularization=0)[0], expected)


def test_an_infinite_loss_is_worse_than_any_and_the_nearest_one_is_kept():
    (moved,) = found(np.zeros((1, 2)), lambda x, people: np.where(x[:, 0] > 0.4, np.inf, 1.0))
    assert 0.4 < moved[0, 0] < 0.41


def test_candidates_stay_within_the_radius():
    """Everything beyond 1 is worse and nothing within is: with a radius of 1 there is nowhere to go."""
    metric = Quadratic(np.diag([0.0, 0.0, 1.0]))
    (moved,) = found(
        np.zeros((1, 3)), lambda x, people: (np.linalg.norm(x, axis=1) > 1 + 1e-12) * 1.0, metric, radius=1.0
    )
    np.testing.assert_array_equal(moved, np.zeros((1, 3)))


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


def test_the_start_is_left_alone_and_what_is_yielded_is_not_overwritten():
    x0 = people(20)
    before = x0.copy()
    path = found(x0, Model(), checkpoints=[1, 10, 50, 100])
    copies = [place.copy() for place in path]
    assert len({id(place) for place in path}) == 4
    for place, copy in zip(path, copies, strict=True):
        np.testing.assert_array_equal(place, copy)
    np.testing.assert_array_equal(x0, before)
    assert (path[0] != path[-1]).any()


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


def test_a_search_that_starts_where_the_flow_ends_finds_no_less():
    x0 = people(20)

    def loss(x, people):
        return np.logaddexp(0, 3 * x[:, 0])

    radius = np.linspace(0, 2, 20)[:, None]
    (moved,) = found(x0, loss, radius=radius, first=np.ones((20, 1)), n_candidates=2, checkpoints=[2])
    np.testing.assert_allclose(moved[:, 0] - x0[:, 0], radius[:, 0], atol=1e-12)


# What is spent --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_candidates", [1, 2, 3, 8, 17, 100, 333])
@pytest.mark.parametrize("d", [2, 4])
def test_everybody_is_asked_about_exactly_as_often_as_wanted(n_candidates, d):
    model = Model(n=7, d=d, cells=3)
    metric = Quadratic(np.diag([*[0.0] * (d - 1), 1.0]))
    path = found(people(7, d), model, metric, n_candidates=n_candidates, checkpoints=range(1, n_candidates + 1))
    assert len(path) == n_candidates
    np.testing.assert_array_equal(model.asked, n_candidates + 2)  # and about the start and the first point


# What must not matter -------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 12), d=st.integers(2, 4), data=st.data())
def test_nobodys_example_depends_on_who_else_is_there(seed, n, d, data):
    x0, model = people(n, d, seed), Model(seed, d, n, cells=4)
    root = np.random.default_rng(seed).normal(size=(d, data.draw(st.integers(1, d - 1))))
    metric = Quadratic(root @ root.T)

    def of(rows):
        rows = np.asarray(rows)

        def objective(x, people):
            return model(x, rows[people])

        radius = np.abs(reach(x0[rows], objective, metric.free_directions, steps=np.full(5, 0.3))) + 0.5
        return found(x0[rows], objective, metric, n_candidates=60, radius=radius)[0]

    together = of(range(n))
    order = data.draw(st.permutations(range(n)))
    cut = data.draw(st.integers(1, n - 1))
    for rows in (order, range(cut), range(cut, n), np.repeat(np.arange(n), 2), *([person] for person in range(n))):
        np.testing.assert_array_equal(of(rows), together[np.asarray(rows)])


@pytest.mark.parametrize("rows", [1, 77, 100_000])
def test_how_many_rows_go_into_one_call_does_not_matter(rows, monkeypatch):
    expected = found(people(50), Model(), checkpoints=[7, 60, 100])
    monkeypatch.setattr(flow, "ROWS", rows)
    for place, other in zip(found(people(50), Model(), checkpoints=[7, 60, 100]), expected, strict=True):
        np.testing.assert_array_equal(place, other)


# Candidates -----------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(k=st.integers(1, 12), n=st.integers(1, 200))
def test_candidates_are_as_many_as_wanted_all_in_the_ball_and_all_different(k, n):
    points = candidates(k, n)
    assert points.shape == (n, k)
    assert (np.linalg.norm(points, axis=1) <= 1 + 1e-12).all()
    assert len(np.unique(points, axis=0)) == n


def test_candidates_spread_over_directions_and_distances():
    points = candidates(3, 1000)
    axes = np.flatnonzero((points == 0).sum(axis=1) == 2)
    np.testing.assert_allclose(np.unique(np.abs(points[axes]).max(axis=1)), 0.5 ** np.arange(5, -1, -1))
    assert len(axes) == 6 * 6
    rest = np.delete(points, axes, axis=0)
    lengths = np.linalg.norm(rest, axis=1)
    for part in (lengths, *((rest / lengths[:, None] + 1).T / 2)):  # Archimedes: each coordinate of a sphere is uniform
        ordered = np.sort(part)
        assert np.abs(ordered - np.arange(len(ordered)) / len(ordered)).max() < 0.02
