"""Whether breaking points are those of every change, in random tables of up to 12 people in a group.

Every change of decisions, and of true labels, of one group is tested anew by the engine that every test runs on, in
increasing order of people: the fewest with whom the verdict turns, the groups that tie, and the direction have to be
those that `breaking_point_` finds. Intervals, which verdicts do not follow from, are left out, and p-values of equal
counts are computed once.
"""

import warnings
from contextlib import contextmanager
from itertools import product
from unittest.mock import patch

import numpy as np

from benchmarks.common.design import Design
from skfairtest import CountTable, FairnessTest
from skfairtest.comparisons import engine, family, measure, rates
from skfairtest.inference import breaking
from skfairtest.inference.rates import Pair
from skfairtest.metrics.rates import CRITERIA, RATES
from skfairtest.tables import Sample

CELLS = [(0, 0), (0, 1), (1, 0), (1, 1)]
#: The places, in `CELLS`, between which people change.
PLACES = {"decisions": ((0, 1), (2, 3)), "labels": ((0, 2), (1, 3))}
MARGINS = {"difference": (0.05, 0.2), "ratio": (0.5, 0.8), "odds_ratio": (0.4, 0.8)}
#: Rates of decisions; a prediction set is none that could be another.
DECIDED = [name for name in RATES if name != "coverage"]


def table_of(counts):
    """Groups "a", "b", ... with these people by true label and prediction, (groups, 4)."""
    groups = [(name,) for name in "abcdef"[: len(counts)]]
    return CountTable(
        counts[None], groups=groups, cells=CELLS, cell_names=["y_true", "y_pred"], sensitive_names=["group"]
    )


def verdict_of(counts, params):
    """What the engine says of a table; None if nothing is defined."""
    settings, metrics = engine.check_question(params["metric"], FairnessTest(**params).get_params())
    try:
        tested = measure.measure(Sample.from_table(table_of(counts)), metrics, settings, None, None, None)
        return engine.judge([tested], settings)[0].verdict.concern
    except ValueError:
        return None


def changes_of(counts, kind):
    """All changes in one group, (group, people that become positive, negative, the table), by the people it takes."""
    out = {}
    for group, row in enumerate(counts):
        reach = [range(-int(row[second]), int(row[first]) + 1) for first, second in PLACES[kind]]
        for moved in product(*reach):
            changed = counts.copy()
            for by, (first, second) in zip(moved, PLACES[kind], strict=True):
                changed[group, first] -= by
                changed[group, second] += by
            up, down = sum(by for by in moved if by > 0), -sum(by for by in moved if by < 0)
            out.setdefault(up + down, []).append(("abcdef"[group], up, down, changed))
    return out


def by_brute_force(counts, params, kind):
    """The fewest people with whom the verdict turns, and (group, to positive, to negative) of all ways."""
    now, changes = verdict_of(counts, params), changes_of(counts, kind)
    for people in sorted(changes)[1:]:
        ways = {tuple(way) for *way, changed in changes[people] if verdict_of(changed, params) not in (None, now)}
        if ways:
            return people, ways
    return None, set()


def drawn(rng, most=12):
    """A random table with at most so many people in a group; and a test of it."""
    n_groups = int(rng.choice([2, 2, 2, 3, 3, 4]))
    most = int(rng.integers(2, 1 + (most if n_groups == 2 else most // 2)))
    shape = rng.dirichlet([0.5] * 4, n_groups)
    counts = np.stack([rng.multinomial(rng.integers(2, most + 1), p) for p in shape])
    params = {"metric": str(rng.choice([*DECIDED, *CRITERIA]))}
    if rng.random() < 0.25:
        params["metric"] = [str(name) for name in rng.choice(DECIDED, 2, replace=False)]
    params["disparity"] = str(rng.choice(["difference", "difference", "ratio", "odds_ratio"]))
    if "f1" in np.atleast_1d(params["metric"]) and params["disparity"] == "odds_ratio":
        params["disparity"] = "ratio"
    params["compare"] = str(rng.choice(["between_groups", "to_rest", "to_overall", "to_reference"]))
    if params["compare"] == "to_reference":
        params["reference_group"] = "a"
    params["confidence_level"] = float(rng.choice([0.95, 0.9, 0.7, 0.5]))
    params["adjust"] = [*["auto"] * 4, "holm", "bonferroni", "fdr_bh", None][rng.integers(8)]
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


@contextmanager
def remembered():
    """P-values of the same counts are computed once, and intervals not at all."""
    known = {}
    own_equalities, own_answer = rates.equalities, rates.answer

    def equalities(pairs, alternative, advance=lambda: None):
        keys = [(alternative, *(int(a[0]) for a in (pair.x1, pair.d1, pair.x2, pair.d2))) for pair in pairs]
        for _, *key in keys:
            if (alternative, *key) not in known:
                known[alternative, *key] = own_equalities([Pair(*np.array(key)[:, None])], alternative)[0]
        return [known[key] for key in keys]

    def answer(pair, scale, question):
        key = (*(int(a[0]) for a in (pair.x1, pair.d1, pair.x2, pair.d2)), pair.overall, scale, question)
        if key not in known:
            known[key] = own_answer(pair, scale, question)
        return known[key]

    none = patch.object(family, "_intervals", lambda comparisons, *_: [(np.nan, np.nan)] * len(comparisons))
    patches = [
        patch.object(module, function.__name__, function)
        for module in (rates, breaking)
        for function in (equalities, answer)
    ]
    with none, patches[0], patches[1], patches[2], patches[3], warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def differences_of(counts, params):
    """Try one table; None if nothing is defined there, or else what was found and not expected."""
    try:
        test = FairnessTest.from_table(table_of(counts), **params)
    except ValueError:  # nothing is defined, or a parameter has no meaning there
        return None
    wrong = []
    for kind, own in test.breaking_point_.groupby("changed"):
        people, ways = by_brute_force(counts, params, kind)
        (row,) = own.to_dict("records")
        found = None if row["among"] is None else row["n_changed"]
        groups = set() if row["among"] is None else {row["among"], *row["tied"]}
        way = (row["among"], row["to_positive"], row["to_negative"])
        if (
            found != people
            or groups != {group for group, *_ in ways}
            or (ways and way not in ways)
            or (row["search"] != "every change")
        ):
            wrong.append([kind, str(row), str((people, sorted(ways)))])
    return wrong


def tried(rng, n_tables):
    """Which tables differ."""
    differing = []
    with remembered():
        while len(differing) < n_tables:
            if (wrong := differences_of(*drawn(rng))) is not None:
                differing.append(bool(wrong))
    return {"breaking points": {"differ": differing}}


def differing(methods):
    if share := methods["breaking points"]["differ"]:
        yield f"{share:.4f} of the tables differ"


DESIGNS = [Design("breaking points/random tables", tried, 5000, also=differing)]
