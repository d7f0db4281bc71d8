"""Composition and treatment: they add up, change sides, and have the errors of many samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.inference.standardized import STANDARDS, decompose

COUNTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=5).map(
    lambda pairs: np.array([(1, 1), *pairs], dtype=float).T
)


@given(COUNTS, st.integers(0, 2**32 - 1), st.sampled_from(STANDARDS))
def test_parts_add_up_to_the_difference(people, seed, standard):
    value = np.random.default_rng(seed).random(people.shape)
    parts, _ = decompose(people, value, value, standard)
    n = people.shape[1]
    whole = (people * value).sum(axis=1) / people.sum(axis=1)
    assert parts[0] == pytest.approx(whole[0] - whole[1])
    assert parts[1:4].sum() == pytest.approx(parts[0])
    assert parts[4 : 4 + n].sum() == pytest.approx(parts[1])
    assert parts[4 + n :].sum() == pytest.approx(parts[2])


@settings(deadline=None)
@given(COUNTS, st.integers(0, 2**32 - 1))
def test_sides_that_change_change_the_signs(people, seed):
    value = np.random.default_rng(seed).random(people.shape)
    for standard, mirrored in zip(STANDARDS, ("average", "pooled", "other", "group"), strict=True):
        parts, error = decompose(people, value, value, standard)
        other, same = decompose(people[::-1], value[::-1], value[::-1], mirrored)
        assert other == pytest.approx(-parts, abs=1e-12)
        assert same == pytest.approx(error, abs=1e-12)


def test_kitagawas_parts_by_hand():
    people, value = np.array([[30.0, 70.0], [60.0, 40.0]]), np.array([[0.5, 0.2], [0.4, 0.3]])
    parts, _ = decompose(people, value, value, "average")
    assert parts[1] == pytest.approx((0.3 - 0.6) * 0.45 + (0.7 - 0.4) * 0.25)
    assert parts[2] == pytest.approx(0.45 * 0.1 - 0.55 * 0.1)


def test_equal_values_are_all_composition_and_equal_shares_all_treatment():
    people, value = np.array([[30.0, 70.0], [60.0, 40.0]]), np.array([[0.5, 0.2], [0.4, 0.3]])
    assert decompose(people, value[[0, 0]], value, "average")[0][2:4] == pytest.approx(0.0, abs=1e-15)
    assert decompose(people[[0, 0]], value, value, "average")[0][[1, 3]] == pytest.approx(0.0, abs=1e-15)


def test_a_stratum_of_one_group_has_no_counterpart():
    people, value = np.array([[50.0, 50.0], [80.0, 0.0]]), np.array([[0.4, 0.9], [0.4, np.nan]])
    parts, error = decompose(people, value, np.full((2, 2), 0.01), "average")
    assert parts[:4] == pytest.approx([0.25, 0.0, 0.0, 0.25])
    assert np.isfinite(error).all()


@pytest.mark.parametrize("standard", STANDARDS)
def test_standard_errors_are_those_of_many_samples(standard, thorough):
    n, error_of_errors = (1500, 0.08) if thorough else (250, 0.16)  # 3.5 times 1 / sqrt(2n)
    rng = np.random.default_rng(0)
    share, rate = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]), np.array([[0.3, 0.5, 0.6], [0.4, 0.5, 0.4]])
    found, errors = [], []
    for _ in range(n):
        people = np.stack([rng.multinomial(n, p) for n, p in zip((400, 600), share, strict=True)])
        value = rng.binomial(people, rate) / people
        parts, error = decompose(people.astype(float), value, value * (1 - value) / people, standard)
        found.append(parts)
        errors.append(error)
    chosen = [0, 1, 2, 7, 8, 9]
    assert np.mean(errors, axis=0)[chosen] == pytest.approx(np.std(found, axis=0)[chosen], rel=error_of_errors)
