import numpy as np
import pytest

from skfairtest.inference.power_designs import denominators


@pytest.mark.parametrize(("n", "share"), [(50, 0.3), (1000, 0.05), (100_000, 0.5)])
@pytest.mark.parametrize("spacing", [0.2, 0.5, 1.0])
def test_nodes_average_cubics_exactly(n, share, spacing):
    nodes, weights = denominators(n, share, spacing)
    mean, spread = n * share, np.sqrt(n * share * (1 - share))
    z = (nodes - mean) / spread
    assert weights.sum() == pytest.approx(1)
    assert weights @ z == pytest.approx(0, abs=2e-3)
    assert weights @ z**2 == pytest.approx(1, abs=5e-3)
    assert weights @ z**3 == pytest.approx((1 - 2 * share) / spread, abs=2e-2)
