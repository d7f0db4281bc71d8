"""Bounds over all assignments of people of unknown group, beside every assignment tried one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.inference import unknown as module
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, answer, equalities, limits, pair_disparity, values
from skfairtest.inference.unknown import (
    Reach,
    Unknown,
    assigned,
    corner_pairs,
    extreme_pairs,
    n_assignments,
    p_value_bounds,
)
from skfairtest.metrics.rates import f1_of_jaccard, f1_slope

SCALES = {"rate": Scale(), "f1": Scale(f1_of_jaccard, f1_slope)}
QUESTIONS = {
    "difference": Question(),
    "ratio": Question("ratio"),
    "odds ratio": Question("odds_ratio"),
    "greater": Question(alternative="greater"),
    "less": Question("odds_ratio", "less"),
    "asymptotic": Question(method="asymptotic"),
    "margin": Question(alternative="less", margin_bounds=(-0.1, 0.1)),
    "equivalence": Question("ratio", "equivalence", (0.8, 1.25)),
}


def pair_of(*counts, overall=False):
    return Pair(*(np.array([int(n)]) for n in counts), overall=overall)


def by_hand(pair, unknown):
    """Every assignment, each person's group named one by one as far as counts tell people apart."""
    x1, d1, x2, d2 = (int(n[0]) for n in (pair.x1, pair.d1, pair.x2, pair.d2))
    for (a, c), (b, e) in product(_splits(unknown.events), _splits(unknown.others)):
        yield pair_of(x1 + a, d1 + a + b, x2 + c, d2 + c + e, overall=pair.overall)


def _splits(reach):
    """Every person of every kind of `reach` in one of the places that they may have."""
    ways = [[(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * elsewhere for first, second, elsewhere in reach.people]
    return {tuple(map(sum, zip((0, 0), *way, strict=True))) for way in product(*ways)}


class People(Reach):
    """A reach that remembers its people, each with the places that are possible: side 1, side 2, elsewhere."""

    @classmethod
    def made(cls, people):
        parts = [Reach.of(1, first=a, second=b, elsewhere=c) for a, b, c in people]
        reach = cls(**vars(sum(parts, Reach.of(0))))
        object.__setattr__(reach, "people", people)
        return reach


SOME_PLACES = [places for places in product((False, True), repeat=3) if any(places)]


def disparity(pair, scale, question):
    return pair_disparity(pair, *values(pair, scale), question.disparity)


@st.composite
def tables(draw, most=12, unknown=2):
    d1, d2 = draw(st.integers(1, most)), draw(st.integers(1, most))
    pair = pair_of(draw(st.integers(0, d1)), d1, draw(st.integers(0, d2)), d2)
    places = st.sampled_from(SOME_PLACES)
    if draw(st.booleans()):  # nothing is known of anyone
        places = st.just((True, True, draw(st.booleans())))
    kinds = st.lists(places, max_size=unknown)
    return pair, Unknown(People.made(draw(kinds)), People.made(draw(kinds)))


@pytest.mark.parametrize("asked", QUESTIONS)
@settings(deadline=None)
@given(table=tables())
def test_no_assignment_has_a_p_value_outside_the_bounds_and_two_have_the_bounds(asked, table):
    pair, unknown = table
    question = QUESTIONS[asked]
    found = p_value_bounds(pair, [unknown], Scale(), question)
    log_p = [answer(one, Scale(), question).log_p for one in by_hand(pair, unknown)]
    assert found.attained
    assert found.low == pytest.approx(min(log_p), rel=1e-8, abs=1e-8)
    assert found.high == pytest.approx(max(log_p), rel=1e-8, abs=1e-8)
    worst = answer(found.worst, Scale(), question)
    assert (worst.log_p, worst.method) == (pytest.approx(found.high, rel=1e-8, abs=1e-8), found.method)


@pytest.mark.parametrize("disparity_", ["difference", "ratio", "odds_ratio"])
@pytest.mark.parametrize("overall", [False, True])
@settings(deadline=None)
@given(table=tables())
def test_no_assignment_has_a_disparity_outside_the_ends(disparity_, overall, table):
    pair, unknown = table
    if overall:
        if disparity_ == "odds_ratio":
            return
        pair = Pair(pair.x1, pair.d1, pair.x2, pair.d2, overall=True)
        both = ([(a, b or not a, False) for a, b, _ in reach.people] for reach in (unknown.events, unknown.others))
        unknown = Unknown(*map(People.made, both))  # nobody is elsewhere
    question = Question(disparity_)
    all_of_them = [disparity(one, Scale(), question) for one in by_hand(pair, unknown)]
    low, high = (disparity(one, Scale(), question) for one in extreme_pairs(pair, unknown))
    defined = [one for one in all_of_them if not np.isnan(one)]
    if defined:  # 0 / 0 at one end only where all others are alike
        low, high = (high if np.isnan(low) else low), (low if np.isnan(high) else high)
        assert low == pytest.approx(min(defined), rel=1e-9, abs=1e-12)
        assert high == pytest.approx(max(defined), rel=1e-9, abs=1e-12)
    else:
        assert np.isnan([low, high]).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("disparity_", ["difference", "ratio", "odds_ratio"])
@settings(deadline=None)
@given(table=tables(), z=st.sampled_from([1.0, 1.645, 1.96, 3.0]))
def test_no_assignment_has_limits_outside_those_of_the_corners(disparity_, scale, table, z):
    # Of score limits and those of transformed Wilson limits this is checked, not proved.
    if scale == "f1" and disparity_ == "odds_ratio":
        return
    pair, unknown = table
    all_of_them = np.array([limits(one, SCALES[scale], disparity_, z, z) for one in by_hand(pair, unknown)])
    corners = np.array([limits(one, SCALES[scale], disparity_, z, z) for one in corner_pairs(pair, unknown)])
    low, high = np.nanmin(corners[:, 0]), np.nanmax(corners[:, 1])
    assert low <= np.nanmin(all_of_them[:, 0]) * (1 + 1e-9) + 1e-9
    assert high >= np.nanmax(all_of_them[:, 1]) * (1 - 1e-9) - 1e-9


@settings(deadline=None)
@given(table=tables(unknown=5))
def test_assignments_are_counted(table):
    pair, unknown = table
    found = assigned(pair, [unknown])
    assert len(found.x1) == n_assignments([unknown]) == sum(1 for _ in by_hand(pair, unknown))


@settings(deadline=None)
@given(
    events=st.lists(st.sampled_from(SOME_PLACES), max_size=3),
    others=st.lists(st.sampled_from(SOME_PLACES), max_size=3),
    rest=st.integers(0, 2),
)
def test_subsets_are_all_people_that_can_be_chosen_in_all_places(events, others, rest):
    n, m = len(events), len(others)
    unknown = Unknown(People.made(events), People.made(others))
    for size in range(n + m + rest + 1):
        by_hand = {
            (*a, *b)
            for chosen in combinations(range(n + m + rest), size)
            for a in _splits(People.made([events[i] for i in chosen if i < n]))
            for b in _splits(People.made([others[i - n] for i in chosen if n <= i < n + m]))
        }
        parts = unknown.subsets(n, m, rest, size)
        found = assigned(pair_of(0, 0, 0, 0), parts)
        a, c = found.x1, found.x2
        assert {*zip(a.tolist(), c.tolist(), (found.d1 - a).tolist(), (found.d2 - c).tolist(), strict=True)} == by_hand
    assert unknown.subsets(n, m, rest, n + m + rest) == [unknown]


@pytest.mark.parametrize("asked", QUESTIONS)
@settings(deadline=None)
@given(table=tables(unknown=4))
def test_of_tables_with_the_same_totals_the_ends_decide(asked, table):
    pair, unknown = table
    exact = p_value_bounds(pair, [unknown], Scale(), QUESTIONS[asked])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ALIKE", 0)
        fast = p_value_bounds(pair, [unknown], Scale(), QUESTIONS[asked])
    assert (fast.low, fast.high) == pytest.approx((exact.low, exact.high), rel=1e-12)  # sums of other lengths
    assert fast.attained == exact.attained


@pytest.mark.parametrize("asked", QUESTIONS)
@settings(deadline=None)
@given(table=tables())
def test_bounds_of_too_many_assignments_are_wider(asked, table):
    pair, unknown = table
    exact = p_value_bounds(pair, [unknown], Scale(), QUESTIONS[asked])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ASSIGNMENTS", 0)
        patch.setattr(module, "MOST_MARGINS", 0)
        rough = p_value_bounds(pair, [unknown], Scale(), QUESTIONS[asked])
    assert not rough.attained
    assert rough.low <= exact.low + 1e-9
    assert rough.high >= exact.high - 1e-9


@settings(deadline=None)
@given(table=tables())
def test_a_search_that_is_cut_short_says_so_and_is_not_too_narrow(table):
    pair, unknown = table
    exact = p_value_bounds(pair, [unknown], Scale(), Question())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_WORK", -1)
        rough = p_value_bounds(pair, [unknown], Scale(), Question())
    assert rough.low <= exact.low + 1e-9
    assert rough.high >= exact.high - 1e-9
    assert not rough.attained
    assert rough.worst is None


def test_many_people_whose_groups_are_known_leave_little_to_search():
    # Fisher's test of 100,000 people, in 15,251 assignments.
    unknown = Unknown(Reach.of(100), Reach.of(150))
    found = p_value_bounds(pair_of(20_000, 50_000, 19_800, 50_000), [unknown], Scale(), Question())
    assert found.attained
    low, high = (
        answer(one, Scale(), Question()).log_p
        for one in extreme_pairs(pair_of(20_000, 50_000, 19_800, 50_000), unknown)
    )
    assert found.low <= min(low, high)


def test_adps_published_bounds():
    # ADP's audit of 2023 by sex, as compiled by the ACLU (auditing-the-audits-facct-2025, audits_full.csv): 222,823 of
    # 478,161 men above the median, 397,979 people of unknown sex, of whom the scores are unknown too; the rate of women
    # is .473. Counts above the median are products of rounded rates.
    men, scored, unknown, women = 222_823.026, 478_161, 397_979, 0.473
    reach = Reach.of(unknown, second=False, elsewhere=True)
    pairs = extreme_pairs(Pair(men, scored, 0, 0), Unknown(reach, reach))
    low, high = (pair.x1 / pair.d1 / women for pair in pairs)
    assert (round(low, 4), round(high, 4)) == (0.5377, 1.498)
    assert (low, high) == pytest.approx((0.5376819019385967, 1.4980229828986082), rel=1e-12)


def test_bounds_of_many_people_are_narrow_and_take_few_tests(monkeypatch):
    """A search of all p-values took minutes."""
    tested = []
    monkeypatch.setattr(module, "equalities", lambda pairs, side: tested.extend(pairs) or equalities(pairs, side))
    pair, unknown = pair_of(1369, 2190, 390, 620), Unknown(Reach.of(20), Reach.of(10))
    found = p_value_bounds(pair, [unknown], Scale(), Question())
    tables = assigned(pair, [unknown])
    fisher = conditional_log_p(tables.x1, tables.d1, tables.x2, tables.d2, "two-sided")
    assert fisher.max() - 0.1 < found.high <= fisher.max() + 1e-9
    assert fisher.min() + np.log(0.2) < found.low <= fisher.min()
    assert found.attained
    assert len(tested) <= 96
