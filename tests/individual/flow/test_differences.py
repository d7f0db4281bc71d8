"""Central differences against derivatives, and functions that have none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.individual import flow
from skfairtest.individual.flow import central_differences, differentiable, steps_of

WIDTH = np.cbrt(np.finfo(float).eps)


def wave(x, people):
    """Different functions of different people."""
    return np.sin(x).sum(axis=1) * (1 + people) + x[:, 0] * x[:, -1]


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 100))
def test_they_are_the_derivative_of_every_person(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d)) * 3
    expected = np.cos(x) * (1 + np.arange(n))[:, None]
    expected[:, 0] += x[:, -1]
    expected[:, -1] += x[:, 0]
    np.testing.assert_allclose(central_differences(wave, x, steps_of(x, WIDTH)), expected, atol=1e-7 * n)


def test_rows_asked_about_at_once_change_nothing(monkeypatch):
    x = np.random.default_rng(0).normal(size=(7, 4))
    together = central_differences(wave, x, steps_of(x, WIDTH))
    monkeypatch.setattr(flow, "ROWS", 20)
    np.testing.assert_array_equal(central_differences(wave, x, steps_of(x, WIDTH)), together)


def test_other_columns_are_left_alone():
    x = np.random.default_rng(0).normal(size=(7, 4))
    found = central_differences(wave, x, steps_of(x, WIDTH), columns=np.array([1, 2]))
    assert not found[:, [0, 3]].any()
    np.testing.assert_array_equal(found[:, [1, 2]], central_differences(wave, x, steps_of(x, WIDTH))[:, [1, 2]])


def test_large_columns_have_wide_differences():
    x = np.array([[1e6, 1e-6]])
    asked = []

    def function(x, people):
        asked.append(x.copy())
        return (x[:, 0] / 1e6) ** 2 + x[:, 1]

    found = central_differences(function, x, steps_of(x, WIDTH))
    np.testing.assert_allclose(found, [[2e-6, 1.0]], rtol=1e-8)
    np.testing.assert_allclose(np.abs(asked[0] - x).max(axis=0), [1e6 * WIDTH, WIDTH], rtol=1e-4)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (wave, True),
        (lambda x, people: np.abs(x).sum(axis=1), True),  # but for a few people at the kink
        (lambda x, people: np.zeros(len(x)), False),
        (lambda x, people: np.floor(x).sum(axis=1), False),
        (lambda x, people: np.floor(1e5 * x).sum(axis=1), False),  # many small jumps
    ],
)
def test_what_jumps_has_no_derivatives(function, expected):
    x = np.random.default_rng(0).normal(size=(200, 3))
    assert differentiable(function, x, width=WIDTH) is expected
