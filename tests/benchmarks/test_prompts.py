"""The benchmark of answers to prompts: its data, and that its figures are those of its tests."""

import numpy as np
import pytest

from benchmarks import prompts


@pytest.mark.parametrize("crossed", ["both names", "one group each"])
def test_prompts_are_asked_so_often_with_the_names_that_they_have(crossed):
    prompt, name, right = prompts.answers(20, 3, 0.5, crossed, np.random.default_rng(0))
    counts = np.zeros((20, 2), dtype=int)
    np.add.at(counts, (prompt, name), 1)
    assert set(map(tuple, counts.tolist())) == ({(3, 3)} if crossed == "both names" else {(3, 0), (0, 3)})
    assert set(right.tolist()) == {0, 1}


def test_shares_are_of_data_sets_and_a_broken_promise_is_found(monkeypatch):
    monkeypatch.setattr(prompts, "p_values", lambda *_: [("clusters", next(drawn))])
    drawn = iter([0.01, 0.5, 0.04, 0.06])
    row = prompts.measured((20, 1, 0.0, "both names"), 4, 0)
    assert row["rejected"] == {"clusters": 0.5}
    assert prompts.held([row]).broken
    assert not prompts.held([{**row, "rejected": {"clusters": 0.05}}]).broken
