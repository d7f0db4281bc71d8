"""Subgroups as entries of cross tables, against masks over people."""

from itertools import combinations, product

import numpy as np
import pytest

from skfairtest.readers import read_column
from skfairtest.tables.subgroups import Cells, all_subgroups, distinct_subgroups

RNG = np.random.default_rng(3)
N = 400
FEATURES = {
    "a": RNG.choice(["x", "y"], N),
    "b": RNG.choice(["p", "q", "r"], N, p=[0.6, 0.3, 0.1]),
    "c": RNG.choice(["u", "v", "w", "z"], N),
}
EVENT = RNG.random(N) < 0.4
STRATUM = RNG.integers(0, 3, N)


def cells(contextual=(), features=FEATURES, counts=None):
    columns = tuple(read_column(values, name) for name, values in features.items())
    return Cells(columns, tuple(name in contextual for name in features), STRATUM[: len(EVENT)], counts)


def mask(description):
    return np.logical_and.reduce([FEATURES[name] == value for name, value in description])


def every_description(max_depth):
    for depth in range(1, max_depth + 1):
        for names in combinations(FEATURES, depth):
            for values in product(*(sorted(set(FEATURES[name])) for name in names)):
                yield tuple(zip(names, values, strict=True))


def test_every_description_with_enough_people_on_both_sides_is_a_subgroup():
    subgroups, left_out = all_subgroups(cells(), 3, 20, 10_000)
    found = {subgroups.description(row) for row in range(len(subgroups))}
    wanted = {d for d in every_description(3) if 20 <= mask(d).sum() <= N - 20}
    assert found == wanted
    small = sum(0 < mask(d).sum() < 20 or mask(d).sum() > N - 20 for d in every_description(3))
    assert sum(one.subgroups for one in left_out) == small
    assert all("fewer than 20 people" in one.reason for one in left_out)


@pytest.mark.parametrize("contextual", [(), ("c",), ("b", "c")])
def test_sums_of_both_sides_are_those_over_people(contextual):
    people = cells(contextual)
    subgroups, _ = all_subgroups(people, 3, 5, 10_000)
    sums = np.stack([np.bincount(people.of_row, EVENT, minlength=len(people.codes)), people.people], axis=1)
    seen = 0
    for rows, own, rest in subgroups.sides(sums, people.stratum, 3):
        for row, first, second in zip(rows, own, rest, strict=True):
            description = subgroups.description(row)
            inside = mask(description)
            within = [term for term in description if term[0] in contextual]
            others = (mask(within) if within else np.ones(N, dtype=bool)) & ~inside
            for stratum in range(3):
                here = stratum == STRATUM
                assert first[stratum].tolist() == [(EVENT & inside & here).sum(), (inside & here).sum()]
                assert second[stratum].tolist() == [(EVENT & others & here).sum(), (others & here).sum()]
            member, context = subgroups.members(row)
            assert (member[people.of_row] == inside).all()
            assert ((context & ~member)[people.of_row] == others).all()
            seen += 1
    assert seen == len(subgroups) > 10


def test_a_context_alone_is_no_subgroup():
    subgroups, _ = all_subgroups(cells(("c",)), 2, 5, 10_000)
    assert all({name for name, _ in subgroups.description(row)} - {"c"} for row in range(len(subgroups)))


def test_people_with_counts_are_as_many():
    doubled = {name: np.repeat(values, 2) for name, values in FEATURES.items()}
    columns = tuple(read_column(values, name) for name, values in doubled.items())
    rows = Cells(columns, (False,) * 3, np.repeat(STRATUM, 2))
    counted = cells(counts=np.full(N, 2))
    assert (rows.people == counted.people).all()
    assert (rows.codes == counted.codes).all()


def test_what_is_beyond_the_most_subgroups_is_listed():
    everything, _ = all_subgroups(cells(), 3, 1, 10_000)
    some, left_out = all_subgroups(cells(), 3, 1, 20)
    assert len(some) <= 20
    assert set(some.depth.tolist()) <= {1, 2}
    beyond = sum(one.subgroups for one in left_out if one.reason == "beyond max_subgroups=20")
    assert len(some) + beyond == len(everything)


def test_which_are_searched_first_does_not_depend_on_the_order_of_columns():
    turned = {name: FEATURES[name] for name in reversed(FEATURES)}
    one, other = (all_subgroups(cells(features=f), 3, 1, 20)[0] for f in (FEATURES, turned))
    assert {frozenset(one.description(r)) for r in range(len(one))} == {
        frozenset(other.description(r)) for r in range(len(other))
    }


def test_the_same_people_and_their_complement_are_one_comparison_with_the_shortest_description():
    features = {"sex": np.repeat(["f", "m"], [40, 60]), "role": np.repeat(["wife", "other"], [40, 60])}
    features["size"] = np.resize(["s", "l"], 100)
    columns = tuple(read_column(values, name) for name, values in features.items())
    people = Cells(columns, (False,) * 3, np.zeros(100, dtype=int))
    subgroups, _ = all_subgroups(people, 2, 5, 1000)
    rows, n_alike = distinct_subgroups(subgroups, np.ones(len(people.codes), dtype=bool), two_sided=True)
    kept = {subgroups.description(row) for row in rows}
    assert n_alike == len(subgroups) - len(rows)
    # f = wife = not m; of both halves of size one; and the two sizes of each sex, described by sex or by role.
    assert len(rows) == 1 + 1 + 4
    assert (("role", "wife"),) in kept
    one_sided, _ = distinct_subgroups(subgroups, np.ones(len(people.codes), dtype=bool), two_sided=False)
    assert len(one_sided) == 2 + 2 + 4


def test_subgroups_that_differ_in_people_who_are_not_counted_are_one_comparison():
    people = cells()
    subgroups, _ = all_subgroups(people, 1, 1, 1000)
    counted = people.codes[:, 1] == 0  # only b = p: the others of b have nobody, and are alike
    rows, _ = distinct_subgroups(subgroups, counted, two_sided=False)
    of_b = [subgroups.description(row) for row in rows if subgroups.description(row)[0][0] == "b"]
    assert len(of_b) == 2
