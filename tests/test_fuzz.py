"""Random calls over containers, dtypes, labels and parameters: a right answer, or an error of our own.

`python -m benchmarks.fuzz` makes a hundred thousand of them.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
pytest.importorskip("pyarrow", reason="one of the containers")

from benchmarks.common.fuzz_calls import call
from benchmarks.common.fuzz_oracle import invariant, run

#: Calls of each class and function, of which one or two things are changed; the rest is in the benchmark.
EACH = 2


@pytest.mark.parametrize("numbers", [range(EACH), pytest.param(range(EACH, 12 * EACH), marks=pytest.mark.slow)])
def test_calls_that_begin_valid_end_in_a_right_result_or_an_error_of_our_own(numbers):
    from benchmarks.fuzz_deep import SEED, SUBJECTS, tried

    outcomes = {(kind, number): tried(kind, SEED, number)[1] for kind in SUBJECTS for number in numbers}
    assert not {call: outcome.violations for call, outcome in outcomes.items() if outcome.violations}
    assert sum(outcome.kind == "result" for outcome in outcomes.values()) >= len(outcomes) / 2


FEW = settings(
    max_examples=settings.default.max_examples,
    deadline=None,
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
