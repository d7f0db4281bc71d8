"""Breaking points: against every change of small tables, refitted one by one, and by counts that are known."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable, FairnessTest
from skfairtest.comparisons import rates
from skfairtest.datasets import load_compas
from skfairtest.inference import breaking
from skfairtest.metrics.rates import CRITERIA, RATES

CELLS = [(0, 0), (0, 1), (1, 0), (1, 1)]
MARGINS = {"difference": (0.05, 0.2), "ratio": (0.5, 0.8), "odds_ratio": (0.4, 0.8)}


def table_of(counts: np.ndarray) -> CountTable:
    """Groups "a", "b", ... with these people by true label and prediction, (groups, 4)."""
    groups = [(name,) for name in "abcdef"[: len(counts)]]
    return CountTable(
        counts[None], groups=groups, cells=CELLS, cell_names=["y_true", "y_pred"], sensitive_names=["group"]
    )


def verdicts_of(counts: np.ndarray, params: dict[str, Any]) -> dict[Any, bool]:
    """What the test itself says of a table, by comparison; None is the verdict."""
    try:
        test = FairnessTest.from_table(table_of(counts), **params)
    except ValueError:  # nothing is defined
        return {}
    found = test.comparisons_
    named = zip(found["metric"], found["group"], found["other"], found["concern"], strict=True)
    return {(metric, group, other): bool(concern) for metric, group, other, concern in named} | {None: test.concern_}


def changes_of(counts: np.ndarray, kind: str) -> dict[int, list[tuple[int, np.ndarray]]]:
    """All tables after changes in one group, by the number of people changed."""
    out: dict[int, list[tuple[int, np.ndarray]]] = {}
    pairs = ((0, 1), (2, 3)) if kind == "decisions" else ((0, 2), (1, 3))
    for group, row in enumerate(counts):
        reach = [range(-int(row[second]), int(row[first]) + 1) for first, second in pairs]
        for moved in product(*reach):
            changed = counts.copy()
            for by, (first, second) in zip(moved, pairs, strict=True):
                changed[group, first] -= by
                changed[group, second] += by
            out.setdefault(sum(map(abs, moved)), []).append((group, changed))
    return out


def by_brute_force(counts: np.ndarray, params: dict[str, Any], kind: str) -> dict[Any, tuple[int | None, set[str]]]:
    """The fewest people with whom each verdict turns, and the groups: every change is tested anew."""
    now = verdicts_of(counts, params)
    found: dict[Any, tuple[int | None, set[str]]] = {}
    changes = changes_of(counts, kind)
    for people in sorted(changes)[1:]:
        open_ = [key for key in now if key not in found]
        if not open_:
            break
        for group, changed in changes[people]:
            then = verdicts_of(changed, params)
            for key in open_:
                if then.get(key, now[key]) != now[key]:
                    found.setdefault(key, (people, set()))[1].add("abcdef"[group])
    return {key: found.get(key, (None, set())) for key in now}


def drawn(rng: np.random.Generator, most: int) -> tuple[np.ndarray, dict[str, Any]]:
    """A random table with at most so many people in a group, half as many of more than two; and a test of it."""
    n_groups = int(rng.choice([2, 2, 2, 3, 3, 4]))
    most = int(rng.integers(2, 1 + (most if n_groups == 2 else most // 2)))
    shape = rng.dirichlet([0.5] * 4, n_groups)
    counts = np.stack([rng.multinomial(rng.integers(2, most + 1), p) for p in shape])
    params: dict[str, Any] = {"metric": str(rng.choice([*RATES, *CRITERIA]))}
    if rng.random() < 0.25:
        params["metric"] = [str(name) for name in rng.choice(list(RATES), 2, replace=False)]
    params["disparity"] = str(rng.choice(["difference", "difference", "ratio", "odds_ratio"]))
    if "f1" in np.atleast_1d(params["metric"]) and params["disparity"] == "odds_ratio":
        params["disparity"] = "ratio"
    params["compare"] = str(rng.choice(["between_groups", "to_rest", "to_overall", "to_reference"]))
    if params["compare"] == "to_reference":
        params["reference_group"] = "a"
    params["confidence_level"] = float(rng.choice([0.95, 0.9, 0.7, 0.5]))
    params["adjust"] = [*["auto"] * 4, "holm", "bonferroni", "fdr_bh", "fdr_by", None][rng.integers(9)]
    kind = rng.random()
    if kind < 0.1:
        params["alternative"] = str(rng.choice(["greater", "less"]))
        params["compare"] = "to_rest"
        params.pop("reference_group", None)
    elif kind < 0.2:
        params["margin"] = float(rng.choice(MARGINS[params["disparity"]]))
        params["alternative"] = str(rng.choice(["two-sided", "equivalence"]))
    if kind > 0.9:
        params["method"] = "asymptotic"
    return counts, params


@pytest.fixture(scope="module", autouse=True)
def remembered():
    """Refits and the search ask for the same exact p-values again and again: each is computed once."""
    with pytest.MonkeyPatch.context() as patch:
        own_equality = cache(lambda alternative, *key: own(alternative, key))
        original_equalities, original_answer = rates.equalities, rates.answer

        def own(alternative, key):
            return original_equalities([breaking.Pair(*(np.array([value]) for value in key))], alternative)[0]

        def equalities(pairs, alternative, advance=lambda: None):
            return [
                own_equality(alternative, *(int(a[0]) for a in (pair.x1, pair.d1, pair.x2, pair.d2))) for pair in pairs
            ]

        known: dict[Any, Any] = {}

        def answer(pair, scale, question):
            key = (*(int(a[0]) for a in (pair.x1, pair.d1, pair.x2, pair.d2)), pair.overall, scale, question)
            if key not in known:
                known[key] = original_answer(pair, scale, question)
            return known[key]

        for module in (rates, breaking):
            patch.setattr(module, "equalities", equalities)
            patch.setattr(module, "answer", answer)
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("n_tables", "most"),
    [(8, 4), pytest.param(100, 12, marks=pytest.mark.slow), pytest.param(5000, 12, marks=pytest.mark.exhaustive)],
)
def test_breaking_points_are_those_of_every_change_tested_anew(n_tables, most):
    n_turned = n_none = 0
    for seed in range(n_tables):
        counts, params = drawn(np.random.default_rng([38, seed]), most)
        try:
            test = FairnessTest.from_table(table_of(counts), **params)
        except ValueError:  # nothing is defined, or a parameter has no meaning there
            continue
        found = test.breaking_point_
        assert (found["search"] == "every change").all()
        for kind, own in found.groupby("changed"):
            expected = by_brute_force(counts, params, kind)
            assert len(own) == len(expected)
            for row in own.itertuples():
                key = None if row.metric is None else (row.metric, row.group, row.other)
                groups = set() if row.among is None else {row.among, *row.tied}
                people = None if row.n_changed is pd.NA else row.n_changed
                assert (people, groups) == expected[key], (seed, counts.tolist(), params, kind, key)
                n_turned, n_none = n_turned + (people is not None), n_none + (people is None)
    assert n_turned > 5
    assert n_none > 5


COMPAS = load_compas()


def hired_of_ten(n: int) -> FairnessTest:
    """So many of ten are hired in group a, and 8 of ten in group b."""
    hired = [1] * n + [0] * (10 - n) + [1] * 8 + [0] * 2
    return FairnessTest.from_predictions(
        None, hired, sensitive_features=list("a" * 10 + "b" * 10), metric="selection_rate"
    )


def test_the_frame_and_the_report_name_the_groups_and_the_direction():
    assert [hired_of_ten(n).concern_ for n in (2, 3, 4)] == [True, True, False]
    test = hired_of_ten(2)
    one, verdict = test.breaking_point_.to_dict("records")
    known = {"changed": "decisions", "n_changed": 2, "n_among": 10, "among": "a", "to_positive": 2, "to_negative": 0}
    assert {name: one[name] for name in known} == known
    assert one["tied"] == ("b",)  # 6 of ten in b: the same table with events and groups exchanged
    assert (verdict["metric"], verdict["n_changed"]) == (None, 2)
    turn = "2 of 10 decisions about group a were positive in place of negative (or as many of group b)."
    assert f"The verdict would turn if {turn}" in str(test)


def test_changes_along_paths_turn_the_verdict_and_one_less_does_not(monkeypatch):
    """Of one rate all that matters is one number, so that bisection finds what looking at every change does."""
    given = {"sensitive_features": COMPAS.sensitive_features["sex"], "metric": "false_positive_rate"}
    every = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    monkeypatch.setattr(breaking, "_LOOKED_AT", 0)
    found = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    assert (every["search"] == "every change").all()
    assert (found["search"] == "bisection").all()
    columns = ["n_changed", "among", "n_among", "to_positive", "to_negative"]
    pd.testing.assert_frame_equal(found[columns], every[columns])


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"metric": "roc_auc"}, "no metric is a rate"),
        ({"metric": "selection_rate", "method": "permutation", "n_resamples": 19}, "resamples"),
        ({"metric": "selection_rate", "compare": "to_highest"}, "to_highest"),
        ({"metric": "selection_rate", "sample_weight": np.ones(20)}, "weights"),
        ({"metric": "selection_rate", "control_features": list("xy" * 10)}, "stratum"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_where_there_is_no_breaking_point_the_error_says_why(params, reason):
    y = [0, 1] * 10
    test = FairnessTest.from_predictions(y, [0, 1, 1, 0] * 5, sensitive_features=list("aabb" * 5), **params)
    with pytest.raises(AttributeError, match=reason):
        test.breaking_point_  # noqa: B018
    assert not hasattr(test, "breaking_point_")
    assert "would turn" not in str(test)


def test_a_test_that_was_read_has_the_same_breaking_points():
    test = FairnessTest.from_table(table_of(np.array([[5, 1, 2, 4], [1, 3, 3, 2]])), metric=["precision", "f1"])
    read = FairnessTest.from_json(test.to_json())
    pd.testing.assert_frame_equal(read.breaking_point_, test.breaking_point_)


def test_labels_are_not_changed_where_other_metrics_read_them():
    """The area under the ROC curve does not depend on decisions, and its p-value stays; with other labels it would."""
    test = FairnessTest.from_predictions(
        COMPAS.y_true, COMPAS.y_pred, y_score=COMPAS.decile_score, sensitive_features=COMPAS.sensitive_features["sex"],
        metric=["selection_rate", "roc_auc"], method="asymptotic",
    )  # fmt: skip
    assert set(test.breaking_point_["changed"]) == {"decisions"}
