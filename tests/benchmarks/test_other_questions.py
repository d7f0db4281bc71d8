"""Packages with questions of their own: data that are drawn alike anywhere, and calls that may have no answer."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import _questions, other_questions

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_designs_have_the_areas_rates_and_means_that_they_name():
    rng = np.random.default_rng(0)
    given = {"people": (40_000, 40_000), "areas": (0.98, 0.98), "spreads": (1.0, 3.0)}
    data = _questions.areas(rng, **given)
    for name in "ab":
        here = data["group"] == name
        assert roc_auc_score(data["truth"][here], data["score"][here]) == pytest.approx(0.98, abs=0.004)
    data = _questions.labels(rng, (40_000, 40_000), (0.9, 0.1), (0.8, 0.65))
    shares = {
        (name, label): data["predicted"][(data["group"] == name) & (data["truth"] == label)].mean()
        for name in "ab"
        for label in (0, 1)
    }
    assert shares == pytest.approx({("a", 0): 0.2, ("a", 1): 0.8, ("b", 0): 0.2, ("b", 1): 0.65}, abs=0.03)
    data = _questions.two_models(rng, (40_000, 40_000), (0.5, 0.3), (0.5, 0.7))
    rates = {name: (data["after"] - data["before"])[data["group"] == name].mean() for name in "ab"}
    assert rates == pytest.approx({"a": 0.0, "b": 0.2 * 0.4}, abs=0.02)
    data = _questions.errors(rng, (40_000, 40_000), (0.0, 0.2), (1.0, 4.0))
    error = data["system"] - data["human"]
    assert [error[data["group"] == name].std() for name in "ab"] == pytest.approx([1.0, 4.0], rel=0.05)


def test_data_sets_are_the_same_wherever_they_are_drawn():
    for question, designs in _questions.DESIGNS.items():
        for name in designs:
            first, again = ([*_questions.data_sets(question, name, 2)] for _ in range(2))
            for one, other in zip(first, again, strict=True):
                assert all(np.array_equal(one[key], other[key]) for key in one)
            assert any(not np.array_equal(first[0][key], first[1][key]) for key in first[0])


def test_a_call_that_raises_has_no_answer(monkeypatch):
    def decide(data):
        if decide.calls:
            raise ValueError
        decide.calls += 1
        return True

    decide.calls = 0
    found = _questions.run_call(_questions.Call("none", "of all", "two models", decide), 2)
    assert found["500 and 500, rates of .5"] == [True, None]
    assert other_questions.shown([True, None]) == "1.000 (0.000), no answer 1"
    assert other_questions.shown([None, None]) == "–, no answer 2"


def test_packages_that_are_nowhere_keep_their_rows(monkeypatch):
    monkeypatch.delenv("SKFAIRTEST_PEERS", raising=False)
    first = dict(list(_questions.DESIGNS["areas"].items())[:1])
    monkeypatch.setattr(_questions, "DESIGNS", {"areas": first})
    monkeypatch.setattr(other_questions, "QUESTIONS", {"areas": next(iter(other_questions.TABLES))})
    found = other_questions.run(quick=True)
    ((_, rows),) = found.tables.values()
    assert rows[0][0] == "skfairtest"
    if not _questions.version_here("fairscope"):
        assert rows[1][:2] == ["fairscope", "not installed here"]
        assert rows[1][4] is None


def test_what_is_stored_keeps_the_level_where_the_page_says_so():
    tables = reproduce.stored("other_questions")["tables"]
    for title, table in tables.items():
        equal = [place for place, head in enumerate(table["head"]) if place > 3 and "different" not in head]
        own = table["rows"][0]
        size = own[3]
        for place in equal:
            share = float(str(own[place]).split()[0])
            assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / size), (title, table["head"][place])
        assert all(row[1] != "not installed here" for row in table["rows"])
