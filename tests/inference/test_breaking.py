"""How near the bounds are with which verdicts are settled without exact p-values, and verdicts of adjusted ones."""

from itertools import combinations

import numpy as np
import pytest

from skfairtest.inference.breaking import BELOW_FISHER, Decided, slack
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.multiplicity import ADJUSTMENTS, FAMILYWISE, Equality, shaffer
from skfairtest.inference.rates import Pair, Question, equalities


def near_a_level(rng: np.random.Generator, n: int, most: int) -> np.ndarray:
    """Tables (x1, d1, x2, d2) of all shapes, with differences of one to five standard errors: (4, n)."""
    d1, d2 = np.exp(rng.uniform(np.log(5), np.log(most), (2, n))).astype(np.int64)
    p = rng.beta(0.7, 0.7, n)
    z = rng.uniform(1.0, 5.0, n) * rng.choice([-1, 1], n)
    other = np.clip(p + z * np.sqrt(p * (1 - p) * (1 / d1 + 1 / d2)), 0, 1)
    return np.stack([rng.binomial(d1, p), d1, rng.binomial(d2, other), d2])


def test_score_tests_and_fishers_are_nearer_to_the_exact_test_than_is_allowed_for(thorough):
    rng = np.random.default_rng(38)
    x1, d1, x2, d2 = near_a_level(rng, 20_000 if thorough else 150, 1500 if thorough else 150)
    people, events = d1 + d2, x1 + x2
    with np.errstate(all="ignore"):
        expected = np.minimum(d1, d2) * np.minimum(events, people - events) / people
        pooled = events / people
        z = (x1 / d1 - x2 / d2) / np.sqrt(pooled * (1 - pooled) * (1 / d1 + 1 / d2))
    kept = (expected >= 2) & (np.abs(z) < 5)
    tables = np.stack([x1, d1, x2, d2])[:, kept]
    exact = np.array([log_p for log_p, _ in equalities([Pair(*table[:, None]) for table in tables.T], "two-sided")])
    score = np.array([normal_log_p(one, "two-sided") for one in z[kept]])
    wanted = (exact > np.log(1e-5)) & (exact < np.log(0.3))
    share = np.abs(score - exact)[wanted] / slack(score, expected[kept])[wanted]
    assert wanted.sum() > 50
    assert share.max() < (0.75 if thorough else 0.6)
    fisher = conditional_log_p(*tables, "two-sided")
    assert (exact <= fisher + 1e-9).all()
    below = (fisher - exact) * np.sqrt(np.minimum(tables[1], tables[3]))
    assert below[wanted].max() < 0.7 * BELOW_FISHER


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("adjust", ["shaffer", *ADJUSTMENTS])
def test_a_verdict_is_significant_if_an_adjusted_p_value_is_at_most_the_level(adjust, together):
    rng = np.random.default_rng(0)
    pairs = [Equality(rate, frozenset(pair)) for rate in ("recall", "precision") for pair in combinations("abcd", 2)]
    log_p = np.log(rng.beta(0.8, 3, (300, len(pairs))))
    log_p[rng.random(log_p.shape) < 0.2] = np.nan
    n = len(pairs)
    tables = np.zeros((2, 2, 2), dtype=int), np.zeros((n, 2), dtype=int), *np.zeros((2, n, 2, 2), dtype=int)
    many = (Question(),) * n, (Scale(),) * n, (False,) * n
    decided = Decided(*tables, *many, log_p[0], adjust, 0.05, together=together)
    rule = adjust if together or adjust in FAMILYWISE else "bonferroni"
    expected = []
    for own in log_p:
        kept = np.flatnonzero(~np.isnan(own))
        p = own[kept]
        adjusted = shaffer(p, [pairs[place] for place in kept]) if rule == "shaffer" else ADJUSTMENTS[rule](p)
        expected.append(adjusted.min() <= np.log(0.05))
    assert (decided.verdicts(log_p) == expected).all()
    assert 0 < np.mean(expected) < 1
    assert (decided.verdicts(np.full((1, n), np.nan)) == -1).all()
