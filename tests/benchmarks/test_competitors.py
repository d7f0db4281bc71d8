"""Other packages: LiFT's constants, and packages that run here, elsewhere or nowhere."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.reproduce import _lift, _peers, competitors


@pytest.mark.parametrize("name", _lift.CASES)
def test_lift_gives_its_constants_to_the_last_digits(name):
    people, groups, metric, constants = _lift.CASES[name]
    found = _lift.permutation_test(people, *groups, metric, _lift.TRIALS, _lift.SEED)
    assert list(found.values()) == pytest.approx(constants, abs=1e-12)


def test_drawn_counts_have_the_rates_that_their_design_names():
    counts = competitors.counts_of((1000, 500), (0.9, 0.1), (0.8, 0.65), 400, np.random.default_rng(0)).sum(axis=0)
    assert counts.sum(axis=1).tolist() == [400_000, 200_000]
    assert counts[:, 2:].sum(axis=1) / counts.sum(axis=1) == pytest.approx([0.9, 0.1], abs=0.005)
    assert counts[:, 3] / counts[:, 2:].sum(axis=1) == pytest.approx([0.8, 0.65], abs=0.02)
    assert counts[:, 1] / counts[:, :2].sum(axis=1) == pytest.approx([0.2, 0.2], abs=0.005)


def test_a_package_that_is_nowhere_keeps_its_rows_and_one_that_raises_has_no_answer():
    def broken(*_):
        raise ZeroDivisionError

    designs = {name: (metric, [[[80, 20, 20, 80], [80, 20, 45, 55]]] * 2)
               for name, (metric, *_) in competitors.COMPARED.items()}  # fmt: skip
    call, absent = _peers.Call("none", "broken", broken), _peers.Call("absent", "call", broken, ("p", "interval"))
    entries = [(each, "1", _peers.run_call(each, designs, 2)) for each in (competitors.OWN, call)]
    head, (own, raised, *nowhere) = competitors.compared_table(_peers.TPR, [*entries, (absent, "-", None)])
    assert own[4:10] == [2, *["1.000 (0.000)"] * 5]
    assert raised[4:10] == [2, *["–, no answer 2"] * 5]
    assert [row[3:] for row in nowhere] == [[reads, *[None] * (len(head) - 4)] for reads in ("p", "interval")]
