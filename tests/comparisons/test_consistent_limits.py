"""No interval contradicts its test, in small random families of cheap kinds."""

import pytest

from benchmarks.contradictions import counted

CHEAP = ("ratio of rates", "odds ratio, asymptotic", "F1", "permutation", "correlation", "stream", "impact")


@pytest.mark.parametrize("kind", CHEAP)
def test_no_interval_contradicts_its_test(kind):
    drawn = counted(kind, 40)
    assert drawn["comparisons"] >= 40
    assert drawn["contradictions"] == 0
