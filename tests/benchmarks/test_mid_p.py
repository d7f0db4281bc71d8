"""The stored levels and coverages of exact and mid-p inference, which are enumerated again for the smallest groups."""

import json

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import mid_p

STORED = json.loads(mid_p.RESULTS.read_text(encoding="utf-8"))["cells"]


def test_stored_figures_keep_their_bounds():
    assert list(mid_p.broken(STORED)) == []
    assert [tuple(cell["people"]) for cell in STORED[::2]] == list(mid_p.SIZES)
    for exact, mid in zip(STORED[::2], STORED[1::2], strict=True):
        assert exact["level"] < mid["level"]
        assert 0.95 <= mid["coverage"] < exact["coverage"]


@pytest.mark.slow
def test_the_smallest_groups_have_the_stored_figures():
    for found, stored in zip(mid_p.figures(*mid_p.SIZES[0]), STORED, strict=False):
        assert found == {key: pytest.approx(value, abs=2e-5) for key, value in stored.items() if key != "method"} | {
            "method": stored["method"]
        }


def test_a_broken_bound_is_named():
    exact, mid = STORED[:2]
    assert next(mid_p.broken([exact | {"level_largest": 0.051}])).endswith("level 0.051")
    assert next(mid_p.broken([mid | {"coverage_smallest": 0.9}])).endswith("coverage 0.9")
