"""Paths of cumulative differences: their largest moves, and what chance does to them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skfairtest.inference.calibration import BetweenGroups, FromScores, Scores, draw_moves, largest_move

STEPS = arrays(float, st.integers(1, 12), elements=st.floats(-1, 1))


@given(STEPS)
def test_kuipers_move_is_the_largest_over_all_intervals(steps):
    move, first, last = largest_move(steps)
    path = np.concatenate([[0.0], steps.cumsum()])
    moves = [path[j] - path[i] for i, j in combinations(range(len(path)), 2)]
    assert abs(move) == pytest.approx(max(map(abs, moves)), abs=1e-12)
    assert move == pytest.approx(steps[first:last].sum(), abs=1e-9)


@given(STEPS)
def test_smirnovs_move_is_the_largest_from_the_start(steps):
    move, first, last = largest_move(steps, kuiper=False)
    assert abs(move) == pytest.approx(np.abs(steps.cumsum()).max(initial=0.0), abs=1e-12)
    assert (first, move) == (0, pytest.approx(steps[:last].sum(), abs=1e-9))


def test_a_move_changes_its_sign_with_its_steps():
    steps = np.random.default_rng(0).normal(size=(50, 20))
    for kuiper in (True, False):
        assert largest_move(-steps, kuiper=kuiper)[0] == pytest.approx(-largest_move(steps, kuiper=kuiper)[0])


def counted(score, people, positive):
    return Scores(np.array(score), np.array(people), np.array(positive))


def test_simulated_outcomes_have_the_scores_probabilities_with_and_without_ties():
    for people in ([[1, 1, 1]], [[4, 1, 7]]):
        path = FromScores(counted([0.1, 0.5, 0.8], people, [[0, 1, 1]]))
        drawn = path.draw(40_000, np.random.default_rng(0))
        assert drawn.mean(axis=0) == pytest.approx(0.0, abs=0.03)
        assert drawn.sum(axis=1).std() == pytest.approx(path.spread, rel=0.02)


def test_a_simulated_p_value_is_that_of_all_outcomes():
    """Four people make sixteen outcomes, whose probabilities the scores say."""
    score, truth = np.array([0.2, 0.4, 0.6, 0.9]), np.array([1, 0, 1, 0])
    outcomes = np.array(list(np.ndindex(2, 2, 2, 2)))
    probability = np.where(outcomes == 1, score, 1 - score).prod(axis=1)
    moves = np.abs(largest_move(outcomes - score)[0])
    observed = abs(largest_move(truth - score)[0])
    exact = probability[moves >= observed - 1e-12].sum()
    path = FromScores(counted(score, [[1] * 4], [truth]))
    assert path.steps() == pytest.approx(truth - score)
    drawn = np.abs(draw_moves(path, True, 40_000, np.random.SeedSequence(0))) * path.spread
    assert (drawn >= observed - 1e-12).mean() == pytest.approx(exact, abs=0.01)


def test_blocks_divide_no_score_and_have_about_the_root_of_the_people():
    rng = np.random.default_rng(0)
    score = np.repeat(rng.random(40), rng.integers(1, 30, 40))
    distinct, people = np.unique(score, return_counts=True)
    both = np.stack([people, people])
    path = BetweenGroups.of(counted(distinct, both, both // 2))
    assert path.people.sum() == 2 * len(score)
    ends = np.cumsum(path.people.sum(axis=0))
    assert set(ends) <= set(np.cumsum(2 * people))
    assert np.diff([0, *ends]).mean() < 3 * np.sqrt(2 * len(score))


def test_within_one_score_groups_are_compared_as_in_fishers_test():
    from scipy.stats import fisher_exact

    path = BetweenGroups.of(counted([0.3], [[12, ], [20, ]], [[8, ], [5, ]]))  # fmt: skip
    assert path.steps() == pytest.approx([8 - 12 * 13 / 32])
    drawn = np.abs(draw_moves(path, True, 50_000, np.random.SeedSequence(0)))
    observed = abs(largest_move(path.steps())[0]) / path.spread
    # Ordered by distance and not by probability; here both order the outcomes alike.
    assert (drawn >= observed - 1e-9).mean() == pytest.approx(fisher_exact([[8, 4], [5, 15]]).pvalue, abs=0.005)


def test_what_the_scores_differ_inside_a_block_is_no_difference_of_curves():
    """All outcomes are as expected: residuals are 0, however scores and groups are mixed."""
    score = np.linspace(0.05, 0.95, 19)
    people = np.stack([np.arange(1, 20) * 20, np.arange(19, 0, -1) * 20])
    path = BetweenGroups.of(Scores(score, people, people * score))
    assert path.steps() == pytest.approx(0.0, abs=1e-9)


def test_blocks_of_one_side_are_left_out():
    path = BetweenGroups.of(counted([0.1, 0.9], [[9, 0], [0, 9]], [[1, 0], [0, 8]]))
    assert path.total == 0
    assert path.steps().shape == (0,)


def test_strata_are_joined_in_the_order_of_scores():
    parts = [counted([0.2, 0.8], [[5, 5], [5, 5]], [[1, 4], [0, 5]]), counted([0.5], [[6], [7]], [[3], [2]])]
    joined = BetweenGroups.joined([BetweenGroups.of(part) for part in parts])
    assert (np.diff(joined.score) >= 0).all()
    assert joined.people.sum() == 33
    alone = FromScores.joined([FromScores(Scores(p.score, p.people[:1], p.positive[:1])) for p in parts])
    assert alone.of.score.tolist() == [0.2, 0.5, 0.8]
    assert alone.of.people.tolist() == [[5, 6, 5]]


@pytest.mark.parametrize("curve", [lambda s: s, lambda s: 0.2 + 0.5 * s, lambda s: s**3])
def test_groups_of_one_curve_and_different_scores_are_rejected_as_often_as_the_level_says(curve, thorough):
    rng, rejected, data_sets = np.random.default_rng(5), 0, 400 if thorough else 100
    for number in range(data_sets):
        score = np.concatenate([rng.beta(2, 5, 100), rng.beta(4, 2.5, 300)])
        group, outcome = np.repeat([0, 1], [100, 300]), rng.random(400) < curve(score)
        order = score.argsort()
        sides = np.stack([(group == g)[order] for g in (0, 1)]).astype(int)
        path = BetweenGroups.of(Scores(score[order], sides, sides * outcome[order]))
        observed = abs(largest_move(path.steps())[0]) / path.spread
        drawn = np.abs(draw_moves(path, True, 99, np.random.SeedSequence(number)))
        rejected += (1 + (drawn >= observed - 1e-12).sum()) / 100 <= 0.05
    assert rejected / data_sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / data_sets)
