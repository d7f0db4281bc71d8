"""The reproduction of DiCiccio et al. (2020): its statistics, limits and data, against other computations of them."""

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, false_positive_rate, true_positive_rate
from scipy import stats

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.common import methods
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import _diciccio_data as data
from benchmarks.reproduce import _diciccio_limits as limits
from benchmarks.reproduce import _diciccio_simulations as simulations
from benchmarks.reproduce import diciccio
from benchmarks.reproduce._expected import NOT, READING, verdicts

needs_data = pytest.mark.skipif(bool(data.missing()), reason=f"the data folder lacks {data.missing()}")


@pytest.mark.parametrize(
    ("error", "variance"), [(simulations.RAW, None), (simulations.PLUG_IN, "delta"), (simulations.POOLED, "score")]
)
def test_statistics_of_rates_are_those_of_the_package(error, variance):
    # Cells: true negative, false positive, false negative (a miss), true positive.
    for x1, d1, x2, d2 in [(3, 160, 9, 40), (12, 150, 2, 51), (1, 9, 5, 60)]:
        counts = np.array([[200 - d1, 0, x1, d1 - x1], [200 - d2, 0, x2, d2 - x2]])
        table = methods.RateTable(counts[None], *methods.masks("false_negative_rate"), methods.EVERYBODY)
        expected = methods.observed_statistics(table, methods.PAIR, methods.Scale(), variance)[0][0]
        assert simulations.statistic(error, x1, d1, x2, d2) == pytest.approx(expected, rel=1e-9)


def test_p_values_count_resamples_on_either_side_and_those_at_the_observed_distance():
    tails = simulations.Tails(np.array([1.0]))
    for drawn in (-2.0, -1.0, 0.0, 1.0 + 1e-12, 3.0, np.nan):
        tails.add(np.array([drawn]))
    found = {side: float(p[0]) for side, p in tails.p_values().items()}
    assert found == {
        "both sides": 4 / 5, "twice the smaller side": 4 / 5, "A higher": 2 / 5, "B higher": 4 / 5
    }  # fmt: skip


def test_variances_of_two_means_are_those_of_section_2():
    small_varies, large_varies = (simulations.Means((400, 100), deviations) for deviations in ((1, 3), (3, 1)))
    assert (small_varies.sampling_variance, small_varies.permutation_variance) == pytest.approx((37, 13))
    assert (large_varies.sampling_variance, large_varies.permutation_variance) == pytest.approx((13, 37))
    assert small_varies.limit == pytest.approx(2 * stats.norm.sf(1.959964 * np.sqrt(13 / 37)), abs=1e-6)
    assert simulations.Means((400, 100), (2, 2)).limit == pytest.approx(0.05)


def test_the_variance_of_an_area_is_that_of_normal_scores():
    mean, spread, base = 1.5, 2.0, 0.3
    law = limits.Law((1.0,), (base,), ((mean, spread),))

    def both_above(shared, own):
        covariance = [[shared + own, shared], [shared, shared + own]]
        return stats.multivariate_normal([0, 0], covariance).cdf([mean, mean])

    area = stats.norm.cdf(mean / np.hypot(1, spread))
    one_positive, two_positives = both_above(spread**2, 1), both_above(1, spread**2)
    expected = (one_positive - area**2) / base + (two_positives - area**2) / (1 - base)
    assert law.variance() == pytest.approx(expected, abs=1e-5)
    exchanged = one_positive / (1 - base) + two_positives / base - area**2 * (1 / base + 1 / (1 - base))
    assert law.variance(exchanged=True) == pytest.approx(exchanged, abs=1e-5)


@pytest.mark.parametrize(("draw", "people"), [(limits.many_areas, 400), (limits.many_rates, 6000)])
def test_permutations_are_of_the_data_sets_and_studentized_values_have_spread_one(draw, people):
    observed, permuted = draw(people, 300, 200, 2, np.random.default_rng(1))
    assert observed.shape == (2, 300)
    assert [each.shape for each in permuted] == [(2, 200)] * 2
    assert np.nanstd(observed[1]) == pytest.approx(1, abs=0.15)
    assert np.nanstd(permuted[0][1]) == pytest.approx(1, abs=0.2)


def people(n=400):
    rng = np.random.default_rng(3)
    male, score = rng.random(n) < 0.6, rng.random(n)
    return score, (rng.random(n) < score).astype(int), male


def test_differences_at_a_threshold_are_those_of_fairlearn():
    score, y, male = people()
    found = data.differences(data.counted(score, y, male))
    for place in (0, 7, 25, 49, 50):
        y_pred = (score >= data.THRESHOLDS[place]).astype(int)
        for row, metric in enumerate((false_positive_rate, true_positive_rate)):
            rates = MetricFrame(metrics=metric, y_true=y, y_pred=y_pred, sensitive_features=male).by_group
            assert found[row, place] == pytest.approx(rates[True] - rates[False])


def test_the_test_of_section_5_is_that_of_lift():
    """Against a port of LiFT that resamples people of both groups together, and counts larger statistics only."""
    score, y, male = people()
    counts = data.counted(score, y, male)
    found = data.tested(counts, np.random.default_rng(0))
    sample = methods.competitors.Table(counts.reshape(2, -1))
    for place in (10, 25):

        def recall(cells, place=place):
            own = cells.reshape(*cells.shape[:-1], 2, -1)[..., 1, :]
            return own[..., place + 1 :].sum(axis=-1) / own.sum(axis=-1)

        p, *_ = methods.competitors.lift(sample, recall, 4000, np.random.default_rng(1))
        assert found.p_value[1, place] == pytest.approx(p, abs=0.06)
    assert found.p_value[:, 0].tolist() == [1.0, 1.0]
    smallest = found.smallest_detected
    for row in range(2):
        detected = np.abs(found.difference[row])[found.p_value[row] <= 0.05]
        assert (np.isnan(smallest[row]) and not len(detected)) or smallest[row] == detected.min()


def test_the_stored_figures_say_which_readings_of_the_paper_are_reproduced():
    document = reproduce.stored("diciccio")
    found = {claim.name: claim for claim in verdicts({"diciccio": document}) if claim.source == diciccio.SOURCE}
    read_otherwise = {claim.name: claim.why.partition(";")[0] for claim in found.values() if claim.status == READING}
    assert read_otherwise == {
        "table1.uncorrelated/fairtest": "noise z / |x|, as in the authors' Python script for FairTest",
        "fnr.studentized_rate/rejected": "a pooled standard error",
        "fnr.bootstrap/rejected": "one-sided p-values (A higher)",
        "fnr.bootstrap_worse": "pooled errors and one-sided p-values, which give the numbers",
        "algorithm.p_value": "the share of permuted statistics at least as far from 0",
        "auc.variances": "its two denominators exchanged, a misprint",
        "proof.fnr_variance": "a plus for the minus, as in 3.3",
    }
    assert {claim.name for claim in found.values() if claim.status == NOT} == {
        *("table1.uncorrelated/algorithm1", "table1.independence/fairtest"),  # within errors of both, or beyond 15%
        "planning.recipe",
    }
    assert list(document["tables"]) == list(diciccio.SECTIONS)
    assert set(document["data"]) == set(diciccio.PICTURES)
