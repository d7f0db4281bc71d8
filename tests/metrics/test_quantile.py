"""Quantiles of predictions: NumPy's values, ties, standard errors, and measured size and coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest import FairnessTest
from skfairtest.metrics import resolve_metrics
from skfairtest.metrics.counted import Quantile

SHARES = st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9])


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), SHARES)
def test_without_ties_it_is_hazens_quantile_whatever_numbers_others_have(seed, n, share):
    rng = np.random.default_rng(seed)
    own, others = rng.exponential(size=n), rng.normal(size=9)
    values = np.concatenate([own, others])
    masses = np.stack([np.arange(n + 9) < n, np.arange(n + 9) >= n]).astype(float)
    found = Quantile(values, share).values(masses)
    assert found == pytest.approx([np.quantile(x, share, method="hazen") for x in (own, others)], rel=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), SHARES)
def test_ties_are_those_of_the_mid_distribution(numbers, share):
    x = np.array(numbers, dtype=float)
    levels, counts = np.unique(x, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(x)
    due = np.interp(share, middle, levels)
    assert Quantile(x, share).values(np.ones(len(x))) == pytest.approx(due)
    counted = Quantile(levels, share)  # people or a table of counts
    assert counted.values(counts.astype(float)) == pytest.approx(due)
    one, other = Quantile(x, share).moments(np.ones(len(x))), counted.moments(counts.astype(float))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_table_is_evaluated_as_each_of_its_rows():
    rng = np.random.default_rng(0)
    of = Quantile(rng.integers(0, 8, 40).astype(float), 0.75)
    masses = rng.integers(0, 2, (5, 40)).astype(float)
    np.testing.assert_allclose(of.values(masses), [of.values(row) for row in masses])
    np.testing.assert_allclose(of.moments(masses), np.transpose([of.moments(row) for row in masses]))


def test_weights_count_by_their_share():
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=50), rng.uniform(0.5, 2, 50)
    of = Quantile(x, 0.5)
    assert of.values(weight) == pytest.approx(of.values(3 * weight))
    np.testing.assert_allclose(of.parts(weight)[1], of.parts(3 * weight)[1])
    assert of.parts(weight)[1].sum() == pytest.approx(0, abs=0.01)


def test_nobody_has_no_quantile_and_one_person_no_standard_error():
    of = Quantile(np.arange(4.0), 0.5)
    assert np.isnan(of.values(np.zeros(4)))
    assert of.values(np.eye(4)[2]) == 2
    assert not of.moments(np.eye(4)[2])[1] > 0


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("law", ["normal", "exponential", "ten values"])
def test_the_standard_error_is_that_of_repeated_samples(law, share, thorough):
    """Of 300 people, within 15% and a little, or 25%: it is rather too large in the tail, and with ties."""
    rng = np.random.default_rng(2)
    draw = {
        "normal": lambda: rng.normal(size=300),
        "exponential": lambda: rng.exponential(size=300),
        "ten values": lambda: rng.integers(1, 11, 300).astype(float),
    }[law]
    found = np.array([Quantile(draw(), share).moments(np.ones(300)) for _ in range(600 if thorough else 150)])
    ratio = np.sqrt(found[:, 1].mean()) / found[:, 0].std()
    assert (0.93 if thorough else 0.83) < ratio < (1.5 if law == "ten values" else 1.15 if thorough else 1.25)


def test_names():
    assert resolve_metrics("quantile_prediction_0.5") == resolve_metrics("median_prediction")
    assert resolve_metrics(["quantile_prediction_0.9", "quantile_prediction_.90"]) == resolve_metrics(
        "quantile_prediction_0.9"
    )
    (ratio,) = resolve_metrics("median_prediction_ratio")
    assert ratio.disparity == "ratio"
    for name in ("quantile_prediction_0", "quantile_prediction_1", "quantile_prediction_50"):
        with pytest.raises(ValueError, match="must name a share between 0 and 1"):
            resolve_metrics(name)


DESIGNS = {
    "normal, thrice as wide": (lambda rng, n: rng.normal(size=n), lambda rng, n: 3 * rng.normal(size=n), 0.5),
    "exponential and uniform": (
        lambda rng, n: rng.exponential(size=n) - np.log(2),
        lambda rng, n: rng.uniform(-1, 1, n),
        0.5,
    ),
    "upper decile, normal and exponential": (
        lambda rng, n: rng.normal(size=n) - 1.2815515655446004,
        lambda rng, n: rng.exponential(size=n) - np.log(10),
        0.9,
    ),
    "ten values, one distribution": (
        lambda rng, n: rng.integers(1, 11, n).astype(float),
        lambda rng, n: rng.integers(1, 11, n).astype(float),
        0.5,
    ),
}


def run(design, sizes, data_sets, shift=0.0):
    """Return how often equal quantiles are rejected, and how often the interval holds the true difference."""
    first, second, share = DESIGNS[design]
    rejected = covered = 0
    for seed in range(data_sets):
        rng = np.random.default_rng([20, seed])
        y_pred = np.concatenate([first(rng, sizes[0]) + shift, second(rng, sizes[1])])
        test = FairnessTest.from_predictions(
            None, y_pred, sensitive_features=np.repeat(["a", "b"], sizes), metric=f"quantile_prediction_{share}",
            n_resamples=199, random_state=seed,
        )  # fmt: skip
        low, high = test.confidence_interval_
        rejected += test.rejected_
        covered += low <= shift <= high
    return rejected / data_sets, covered / data_sets


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(60, 180), (180, 60)], ids=str)
@pytest.mark.parametrize("design", DESIGNS)
def test_size_and_coverage_with_unequal_variances(design, sizes):
    """Equal quantiles of different distributions, 400 data sets: at most 6.5% and three standard errors."""
    size, coverage = run(design, sizes, 400)
    assert size <= 0.065 + 3 * np.sqrt(0.065 * 0.935 / 400)
    assert coverage >= 0.935 - 3 * np.sqrt(0.065 * 0.935 / 400)


def test_a_shift_is_found_and_lies_in_the_interval():
    size, coverage = run("normal, thrice as wide", (60, 180), 20, shift=2.0)
    assert size >= 0.9
    assert coverage >= 0.8
