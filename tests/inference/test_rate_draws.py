"""Counts of many contrasts at once are those of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.inference.rate_draws import Contrast, pair_of, pairs_of

N_GROUPS = 4
CONTRASTS = {
    "pairs": [Contrast(0, 1), Contrast(0, 3), Contrast(2, 1)],
    "rest": [Contrast(group, None) for group in range(N_GROUPS)],
    "overall": [Contrast(group, None, overall=True) for group in range(N_GROUPS)],
    "parents": [Contrast(0, None, among=(0, 3)), Contrast(2, None, among=(3, 2, 1))],
}


@pytest.mark.parametrize("name", CONTRASTS)
@given(data=st.data())
def test_counts_of_contrasts(name, data):
    shape = data.draw(st.integers(1, 3)), N_GROUPS
    numbers = st.lists(st.integers(0, 9), min_size=2 * shape[0] * N_GROUPS, max_size=2 * shape[0] * N_GROUPS)
    events, others = np.array(data.draw(numbers)).reshape(2, *shape)
    together = pairs_of(events, events + others, CONTRASTS[name])
    for row, contrast in enumerate(CONTRASTS[name]):
        alone = pair_of(events, events + others, contrast)
        assert together.overall is alone.overall
        for side in ("x1", "d1", "x2", "d2"):
            np.testing.assert_array_equal(getattr(together, side)[row], getattr(alone, side))
