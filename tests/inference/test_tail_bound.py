"""Permutations that are ruled out without being drawn."""

from itertools import combinations

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.comparisons import studentized
from skfairtest.inference.draws import memberships
from skfairtest.inference.resampling import is_rarer
from skfairtest.metrics.functionals import Mean

SHARES = (0.9, 0.5, 0.2, 0.05, 0.01)


def welch(values, members):
    """Absolute statistics of memberships, one row each."""
    first = Mean(values).split(members)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(first.first - first.second) / np.sqrt(first.first_variance + first.second_variance)


@pytest.mark.parametrize("size", [2, 4, 7, 11])
@pytest.mark.parametrize("shape", ["normal", "events", "skewed"])
def test_what_is_ruled_out_is_rare_among_all_permutations(shape, size):
    rng = np.random.default_rng(3)
    values = {
        "normal": rng.normal(size=14),
        "events": np.r_[np.ones(4), np.zeros(10)] - 0.01 * rng.random(14),
        "skewed": rng.exponential(size=14) ** 2,
    }[shape]
    chosen = np.array(list(combinations(range(14), size)))
    members = np.zeros((len(chosen), 14), dtype=np.uint8)
    np.put_along_axis(members, chosen, 1, axis=1)
    every = welch(values, members)
    for statistic in (1.5, 2.0, 3.0, 5.0, 10.0, 40.0):
        for share in SHARES:
            if is_rarer(values, np.ones(14, dtype=int), size, statistic, np.log(share)):
                assert (every >= statistic).mean() < share


@pytest.mark.parametrize("size", [40, 150, 360])
@pytest.mark.parametrize("shape", ["normal", "events", "skewed"])
def test_what_is_ruled_out_is_rare_among_many_people(shape, size):
    rng = np.random.default_rng(size)
    values = {
        "normal": rng.normal(size=400),
        "events": (rng.random(400) < 0.2).astype(float),
        "skewed": rng.exponential(size=400) ** 2,
    }[shape]
    drawn = welch(values, memberships(400, size, 4000, rng))
    proven = [
        (statistic, share)
        for statistic in np.arange(1.5, 12, 0.25)
        for share in SHARES
        if is_rarer(values, np.ones(400, dtype=int), size, statistic, np.log(share))
    ]
    assert all((drawn >= statistic).mean() < share for statistic, share in proven)
    assert proven or shape == "skewed"


def test_people_with_one_value_count_as_often_as_they_are():
    rng = np.random.default_rng(4)
    values, people = np.linspace(-1, 1, 9), rng.integers(20, 60, 9)
    rows = np.repeat(values, people)
    for statistic in np.arange(5.0, 15.0, 0.5):
        found = is_rarer(values, people, 90, statistic, np.log(1e-12))
        assert found == is_rarer(rows, np.ones(len(rows), dtype=int), 90, -statistic, np.log(1e-12))


@pytest.mark.parametrize("values", [np.ones(50), np.r_[1e9, np.zeros(49)], np.r_[np.ones(25), -np.ones(25)]])
def test_nothing_is_ruled_out_where_rounding_could_decide(values):
    people = np.ones(50, dtype=int)
    assert not is_rarer(values, people, 10, np.inf, np.log(0.5))
    assert not is_rarer(values, people, 1, 30.0, np.log(1e-12))
    assert not is_rarer(values, people, 10, 30.0, np.log(1e-12))


@pytest.mark.filterwarnings("ignore")  # of small groups
def test_an_audit_without_the_draws_that_are_ruled_out_says_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    group, n = np.repeat(list("abc"), [1500, 1000, 300]), 2800
    half, score = rng.integers(0, 2, n), rng.random(n)
    y = (rng.random(n) < np.where(group == "b", score**3, score)).astype(int)

    def audited():
        seen = []
        draw = studentized._Permutations.draw

        def counting(self, family):
            inner = draw(self, family)
            return lambda size, seed: (seen.append(size), inner(size, seed))[1]

        with monkeypatch.context() as patched:
            patched.setattr(studentized._Permutations, "draw", counting)
            audit = FairnessAudit.from_predictions(
                y, score > 0.5, y_score=score, sensitive_features={"group": group, "half": half},
                metrics=["calibration", "brier_score"], n_resamples=120, random_state=0,
            )  # fmt: skip
        return audit, sum(seen)

    short, few = audited()
    monkeypatch.setattr(studentized, "is_rarer", lambda *_: False)
    long, many = audited()
    assert few < many - 300
    assert short.comparisons_.equals(long.comparisons_)
    note = short.record_.null_distribution.note
    assert "of which 0 are at least as extreme as the data; it is proven that none of 400 would be" in note
