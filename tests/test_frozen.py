"""The package computes what it computed before its insides were rearranged, to nine digits.

If a result changes on purpose, ``python -m tests.frozen_results --write CASE`` stores it anew.
"""

import pytest

from tests.frozen_results import CASES, changes, compute, stored


def test_every_case_is_stored_and_every_stored_case_is_computed():
    assert sorted(stored()) == sorted(CASES)


#: Cases that take seconds.
LONG = {"power criterion", "power equivalence", "power ratio", "jobs 2 area"}
#: Every sixteenth case at every change; the others are slow.
SPREAD = [
    pytest.param(name, marks=pytest.mark.slow if place % 16 or name in LONG else ()) for place, name in enumerate(CASES)
]


@pytest.mark.parametrize("name", SPREAD)
def test_result_is_what_it_was(name):
    lines = changes(name, compute(name))
    assert not lines, "\n".join(lines[:20])
