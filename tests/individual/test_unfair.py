"""How long unfair examples take is said before."""

import numpy as np
import pytest

from skfairtest import IndividualFairnessTest, Projection

INCOME = Projection([[1, 0, 0]])


class Slow:
    """A model that thinks for a while about every question, and a hundred microseconds about every person."""

    classes_ = (0, 1)

    def __init__(self, clock):
        self.clock = clock

    def predict_proba(self, X):
        self.clock.sleep(1e-4 * len(X))
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - p, p])


class AnnouncedError(Exception):
    """Nobody is moved: the announcement is what is tested."""


def test_a_test_that_takes_long_is_announced(monkeypatch, clock):
    def move(*given, **named):
        raise AnnouncedError

    monkeypatch.setattr("skfairtest.individual._plan.move", move)
    monkeypatch.setattr("skfairtest.individual._audited.time", clock)
    X = np.random.default_rng(0).normal(size=(40, 3))
    test = IndividualFairnessTest.as_published(Slow(clock), fair_metric=INCOME, n_steps=100_000)
    # 40 people, 100,000 steps, 6 answers each: 2,400 seconds.
    message = (
        r"finding the unfair examples of 40 people is going to take about 40 minutes \(100,000 steps, two .*\).* n_jobs"
    )
    with pytest.warns(UserWarning, match=message), pytest.raises(AnnouncedError):
        test.fit(X, (X[:, 0] > 0).astype(int))


class SlowSteps(Slow):
    """The same, and what it says has steps."""

    def predict_proba(self, X):
        return super().predict_proba(np.floor(4 * np.asarray(X)))


@pytest.mark.parametrize("model", [Slow, SlowSteps])
@pytest.mark.parametrize("free", [1, 2])
def test_forecasts_are_within_a_factor_of_two(model, free, monkeypatch, clock):
    forecast = []
    monkeypatch.setattr("skfairtest.individual._audited.time", clock)
    monkeypatch.setattr("skfairtest.individual._unfair.LONG", -1)
    monkeypatch.setattr("skfairtest.individual._unfair.duration", lambda seconds: forecast.append(seconds) or "")
    X = np.random.default_rng(0).normal(size=(600, 6))
    began = clock.perf_counter()
    with pytest.warns(UserWarning, match="is going to take"):
        IndividualFairnessTest(model(clock), fair_metric=Projection(np.eye(6)[:free])).fit(X, (X[:, 0] > 0).astype(int))
    assert 0.5 < forecast[0] / (clock.perf_counter() - began) < 2


@pytest.mark.parametrize("model", [Slow, SlowSteps])
def test_forecasts_count_the_people_who_are_moved_by_other_metrics(model, monkeypatch, clock):
    forecast = []
    monkeypatch.setattr("skfairtest.individual._audited.time", clock)
    monkeypatch.setattr("skfairtest.individual._unfair.LONG", -1)
    monkeypatch.setattr("skfairtest.individual._unfair.duration", lambda seconds: forecast.append(seconds) or "")
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + sex[:, None] * [1, 0, 0]
    began = clock.perf_counter()
    with pytest.warns(UserWarning, match="is going to take"):
        IndividualFairnessTest(model(clock)).fit(X, (X[:, 0] > 0).astype(int), sensitive_features=sex)
    assert 0.5 < forecast[0] / (clock.perf_counter() - began) < 2
