"""Random calls over containers, dtypes, labels and parameters: a right answer, or an error of our own.

`python -m benchmarks.fuzz` makes a hundred thousand of them.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
pytest.importorskip("pyarrow", reason="one of the containers")

from benchmarks._fuzz_calls import call
from benchmarks._fuzz_oracle import invariant, run

FEW = settings(
    max_examples=2 * settings.default.max_examples,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@FEW
@given(st.randoms(use_true_random=False))
def test_every_call_has_a_right_answer_or_an_error_of_our_own(random):
    made = call(random)
    note(str(made))
    outcome = run(made)
    assert not outcome.violations
    if outcome.kind == "result":
        assert not invariant(made, random)
