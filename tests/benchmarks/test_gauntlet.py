"""The gauntlet: every public test has a row, nothing differs in its designs, and it notices a test that is wrong."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import skfairtest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import gauntlet
from benchmarks.common import gauntlet_cells, gauntlet_designs
from benchmarks.common.gauntlet_answers import Answer
from benchmarks.common.gauntlet_designs import DESIGNS, QUESTIONS
from benchmarks.common.gauntlet_kinds import KINDS, NO_TESTS
from benchmarks.common.inequality import INDICES, PREDICTED, TRUE

DESIGN = {design.name: design for design in DESIGNS}


def test_every_public_name_has_a_row_or_a_reason_to_have_none():
    with_row = {name for kind in KINDS for name in kind.tests}
    assert not with_row & set(NO_TESTS)
    assert with_row | set(NO_TESTS) == set(skfairtest.__all__)


def test_kinds_and_designs_have_names_of_their_own_and_questions_that_are_known():
    cells = [cell.name for cell in gauntlet_cells.all_cells()]
    assert len(set(cells)) == len(cells)
    assert {kind.question for kind in KINDS} <= set(QUESTIONS)
    assert all(set(design.lacks) <= set(QUESTIONS) for design in DESIGNS)
    assert {question for questions in gauntlet_cells.EXPECTED.values() for question in questions} <= set(QUESTIONS)
    assert set(gauntlet_cells.EXPECTED) <= set(DESIGN)
    # Every kind faces a hostile design, and every design a kind.
    faced = {(cell.kind.name, cell.design.name) for cell in gauntlet_cells.all_cells()}
    assert {kind for kind, design in faced if not DESIGN[design].friendly} == {kind.name for kind in KINDS}
    assert {design for _, design in faced} == set(DESIGN)
    quick = {(kind.name, design) for kind in KINDS for design in kind.quick}
    assert quick <= faced
    assert {kind for kind, _ in quick} == {kind.name for kind in KINDS}


def in_errors(found):
    """How far the mean over data sets is from 0, in its standard errors."""
    found = np.array(found)[~np.isnan(found)]
    return abs(found.mean()) / max(found.std(ddof=1) / np.sqrt(len(found)), 1e-12)


def difference(people, values, of=None):
    """The weighted mean in the first group less that in the others; NaN where there is nobody."""
    weight = np.ones(len(values)) if people.weight is None else people.weight
    weight = weight if of is None else weight * of
    sums = [(weight[own].sum(), weight[own] @ values[own]) for own in (people.group == 0, people.group > 0)]
    return sums[0][1] / sums[0][0] - sums[1][1] / sums[1][0] if sums[0][0] and sums[1][0] else np.nan


DIFFERENCES = {
    "rates": lambda people: [
        difference(people, people.y_pred), *(difference(people, people.y_pred, people.y_true == y) for y in (0, 1))
    ],
    "means": lambda people: [difference(people, people.value)],
    "losses": lambda people: [difference(people, np.abs(people.value))],
    "changes, rates": lambda people: [difference(people, people.y_pred_b - people.y_pred)],
    "changes, means": lambda people: [difference(people, people.value_b - people.value)],
    "labels": lambda people: [
        difference(people, values) for values in (people.y_true, people.y_true * people.y_pred)
    ],
}  # fmt: skip


def test_nothing_differs_that_a_design_asks_about():
    # Weighted means are biased by one over the number of people: 4 standard errors leave room for it.
    checked = set()
    for design in DESIGNS:
        asked = [question for question in DIFFERENCES if design.why_not(question) is None]
        if not asked:
            continue
        found = {question: [] for question in asked}
        for number in range(40):
            people = design.drawn(np.random.default_rng([7, number]))
            for question in asked:
                found[question].append(DIFFERENCES[question](people))
        for question, differences in found.items():
            for place, values in enumerate(zip(*differences, strict=True)):
                assert in_errors(values) < 4, (design.name, question, place)
                checked.add((design.name, question))
    assert len(checked) > 70


def test_groups_that_err_differently_have_the_same_theil_index_and_areas_are_what_they_are_called():
    first, second = DESIGN["errors of two kinds"].tables
    assert sum(first) == pytest.approx(1)
    assert sum(second) == pytest.approx(1)
    assert first[1] == second[2] == 0  # no false alarm, no miss
    theil = INDICES["theil_index"]
    values = [theil(TRUE, PREDICTED, np.array(table)) for table in (first, second)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    people = replace(DESIGN["near-separated scores"], sizes=(20_000, 20_000)).drawn(np.random.default_rng(0))
    for group in (0, 1):
        own = people.group == group
        positive, negative = (np.sort(people.score[own & (people.y_true == truth)]) for truth in (1, 0))
        above = np.searchsorted(negative, positive).mean() / len(negative)
        assert above == pytest.approx(0.99, abs=0.003)


def test_one_group_comes_until_one_of_its_people_is_selected():
    group, y_pred = gauntlet_designs.in_turn(np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 0, 0, 1]))
    assert group.tolist() == [0, 0, 1, 0, 1, 0, 1]
    assert y_pred.tolist() == [0, 1, 0, 1, 0, 0, 1]


def cell(kind="means", design="ordinary", data_sets=200):
    return gauntlet_cells.Cell(next(one for one in KINDS if one.name == kind), DESIGN[design], data_sets)


def test_a_cell_depends_on_its_name_alone_and_starts_with_the_data_of_a_quick_run():
    few, more = (gauntlet.run(cell(data_sets=n)) for n in (3, 3))
    few.pop("seconds"), more.pop("seconds")
    assert few == more
    seen = []
    spy = replace(cell().kind, answer=lambda people, seed: seen.append(people.value.sum()) or Answer(False))
    for n in (2, 4):
        gauntlet.run(replace(cell(data_sets=n), kind=spy))
    assert seen[:2] == seen[2:4]
    assert len(set(seen)) == 4


def answering(answer, design="ordinary", data_sets=40):
    return replace(cell(design=design, data_sets=data_sets), kind=replace(cell().kind, answer=answer))


def test_a_test_that_rejects_too_often_breaks_a_bar_unless_it_says_so():
    def silent(people, seed):
        return Answer(seed % 4 == 0, ((0.01, -1.0, 1.0, 0.0, 0.0),))

    def cautious(people, seed):
        if seed % 4 == 0:
            warnings.warn("p-values are approximate", UserWarning, stacklevel=1)
        return silent(people, seed)

    wrong = answering(silent, "sparse disagreement")
    found = gauntlet.run(wrong)
    assert (found["rejected"], found["rejected_silently"], found["cautions"]) == (0.25, 10, 0)
    assert (found["inside"], found["out"], found["covered"]) == (40, 0, 1.0)
    assert "size 0.250" in next(gauntlet_cells.failures(wrong, found))
    said = answering(cautious, "sparse disagreement")
    assert not list(gauntlet_cells.failures(said, gauntlet.run(said)))
    friendly = answering(cautious)
    assert "friendly" in next(gauntlet_cells.failures(friendly, gauntlet.run(friendly)))


def test_intervals_that_miss_break_a_bar_and_what_is_left_out_is_no_caution():
    def missing(people, seed):
        warnings.warn("group a left out of comparisons, having fewer than 2 people", UserWarning, stacklevel=1)
        return Answer(False, ((0.5, 0.1, 1.0, 0.0, 0.0 if seed % 5 == 0 else 0.5), (np.nan,) * 5))

    wrong = answering(missing, "sparse disagreement", 100)
    found = gauntlet.run(wrong)
    assert (found["covered"], found["missed_silently"], found["out"], found["cautions"]) == (0.8, 20, 100, 0)
    assert "coverage 0.800" in next(gauntlet_cells.failures(wrong, found))


def test_a_refusal_is_recorded_with_its_first_sentence_and_anything_else_is_raised():
    def refuse(people, seed):
        raise ValueError("clusters: 6 are too few; use more. Or none")

    refused = answering(refuse)
    found = gauntlet.run(refused)
    assert (found["refused"], found["refusal"]) == (40, "clusters: 6 are too few")
    assert not list(gauntlet_cells.failures(refused, found))
    with pytest.raises(KeyError):
        gauntlet.run(answering(lambda people, seed: {}["no"]))
