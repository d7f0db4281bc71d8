"""Subspaces: bases that depend on nothing but the space, and what lies outside of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orth

from skfairtest.individual.flow import basis, complement, span


def random_rows(seed, k, d):
    """Orthonormal rows."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0].T


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 6), data=st.data())
def test_a_basis_does_not_depend_on_which_rows_span_the_space(seed, d, data):
    k = data.draw(st.integers(1, d))
    rows = random_rows(seed, k, d)
    turned = random_rows(seed + 1, k, k) @ rows
    np.testing.assert_allclose(basis(turned), basis(rows), atol=1e-9)


def test_spans_are_those_of_scipy_and_complements_are_the_rest():
    rows = np.random.default_rng(1).normal(size=(3, 6))
    rows = np.vstack([rows, rows[0] - 2 * rows[1], np.zeros(6)])
    found, expected = span(rows), orth(rows.T, rcond=1e-6)
    assert found.shape == (3, 6)
    np.testing.assert_allclose(found.T @ found, expected @ expected.T, atol=1e-13)
    np.testing.assert_allclose(complement(found), np.eye(6) - expected @ expected.T, atol=1e-13)
