"""What DiCiccio et al. (2020) state without a number: theorems by enumeration, limits by formulas, recipes by power."""

from itertools import combinations

import numpy as np
from scipy.stats import binom, hypergeom, norm

from benchmarks.reproduce._diciccio_limits import area_variances, rate_variances
from benchmarks.reproduce._diciccio_simulations import ALPHA, BASES, FNR, SIZE, Means
from benchmarks.reproduce._expected import meanings
from benchmarks.reproduce._rows import said
from skfairtest import FairnessTest, inequality_decomposition

#: People of the false negative rates' design who are positive, by group.
POSITIVES = tuple(round(SIZE * base) for base in BASES)
#: Sums of hypergeometric probabilities that are equal by symmetry differ by less.
TIE = 1e-9


def relabellings():
    """The p-value of each of the 252 relabellings of ten numbers, whose mean at most a level is the test's size."""
    z = np.array([0.3, 1.1, 1.6, 2.8, 3.1, 4.7, 5.9, 8.2, 9.6, 13.4])
    far = np.array([abs(z[list(rows)].mean() - np.delete(z, rows).mean()) for rows in combinations(range(10), 5)])
    return (far >= far[:, None] - TIE).mean(axis=1)


def size_given_totals(d1, d2, rate):
    """The size of the permutation test of two rates of so many people, by the difference itself: enumerated."""
    total = 0.0
    for events in range(d1 + d2 + 1):
        x = np.arange(max(0, events - d2), min(d1, events) + 1)
        chance = hypergeom(d1 + d2, events, d1).pmf(x)
        far = np.abs(x / d1 - (events - x) / d2)
        p = np.array([chance[far >= each - TIE].sum() for each in far])
        total += binom(d1 + d2, rate).pmf(events) * chance[p <= ALPHA + TIE].sum()
    return float(total)


def recipe(deviation, distance):
    """People of each of two groups for whom two standard errors of a difference are a distance, and its power then."""
    people = int(np.ceil(8 * deviation**2 / distance**2))
    error = deviation * np.sqrt(2 / people)
    return people, float(norm.sf((norm.isf(ALPHA / 2) * error - distance) / error))


def related_work():
    """Yield rows of section 6, about 100 people of each of two groups."""
    y, group = np.repeat([1, 0, 1, 0], [50, 50, 30, 70]), np.repeat(["a", "b"], 100)
    y_pred = np.repeat([1, 0, 1, 0] * 2, [40, 10, 5, 45, 10, 20, 20, 50])
    benefit = y_pred - y + 1
    total = np.mean((benefit / benefit.mean()) ** 2 - 1) / 2
    parts = inequality_decomposition(y, y_pred, sensitive_features=group, n_resamples=99, random_state=0).parts["value"]
    yield said("6: generalized entropy", abs(parts["between"] + parts["within"] - total) < TIE,
               "{between:.4f} between and {within:.4f} within".format_map(parts) + f" groups, {total:.4f} in all",
               answers="related.entropy")  # fmt: skip
    weights = {0: 1.0, 1: 3.0}
    within = [np.subtract(*(y_pred[(y == k) & (group == g)].mean() for g in "ba")) for k in weights]
    test = FairnessTest.from_predictions(
        None, y_pred, sensitive_features=group, control_features=y, metric="selection_rate", strata_weights=weights,
        compare="to_reference", reference_group="a",
    )  # fmt: skip
    yield said("6: conditional equality", abs(test.disparity_ - np.average(within, weights=[1, 3])) < TIE,
               "{:.3f} and {:.3f} with weights 1 and 3: ".format(*within) + f"{test.disparity_:.3f}",
               answers="related.conditional")  # fmt: skip


def rows():
    """Return a row for each statement."""
    rng, level, p_values = np.random.default_rng(0), 12 / 252, relabellings()
    v, w = area_variances()
    of_areas = 2 * norm.sf(norm.isf(ALPHA / 2) * np.sqrt(w / v))
    sampled, permuted = rate_variances(bases=(0.4, 0.4))
    exact = float((p_values <= level + TIE).mean())
    fewer, more = (
        2 * norm.sf(norm.isf(ALPHA / 2) * np.sqrt(permuted / sampled))
        for sampled, permuted in (rate_variances(bases=bases) for bases in (BASES, BASES[::-1]))
    )
    ratios = (100, 10_000, 1_000_000)
    limits = [Means((ratio, 1), (1.0, 1e9)).limit for ratio in ratios]
    within, usual = size_given_totals(*POSITIVES, FNR), size_given_totals(50, 100, 0.3)
    errors = [rng.binomial(trials, p_values.min(), 2000).std() / trials for trials in (1000, 10_000)]
    variances = [np.var(np.diff(rng.binomial(n, FNR, (2, 20_000)) / n, axis=0)) for n in (50, 100, 200)]
    (people, power), (_, again) = recipe(0.3, 0.1), recipe(0.5, 0.1)
    enough = (norm.isf(ALPHA / 2) + norm.isf(0.2)) ** 2 * 2 * 0.3**2 / 0.1**2
    n_b = n_p = 1000
    (powerful,) = meanings("diciccio", "planning.recipe")
    return [
        *related_work(),
        said("3: un-studentized tests of equal false negative rates, base rates .8 and .2, and .2 and .8",
             fewer < ALPHA < more, f"reject {fewer:.3f} or {more:.3f} of fair models in the limit, as more people of "
             "the smaller or of the larger group are positive", answers="features.rejected"),
        said("2.1: relabellings of ten numbers that are rejected", abs(exact - level) < TIE,
             f"12 of 252 at the level 12 / 252: {exact:.4f}", answers="background.exact"),
        said("2.1: un-studentized tests of equal means, as one group grows and the other's deviation is large",
             limits[-1] > 0.99, "groups 100, 10,000, 1,000,000 to 1: " + ", ".join(f"{x:.2f}" for x in limits),
             answers="background.weak"),
        said("3.1: size of permutations within the positives, base rates .8 and .2", within <= ALPHA,
             f"{within:.4f} at 5%, enumerated: below it, as rates of few people tie", answers="within.outcome"),
        said("3.3: size of the usual permutation test of two rates", usual <= ALPHA,
             f"{usual:.4f} of 50 and 100 people, enumerated", answers="proportions.usual"),
        said("3.2.1: un-studentized tests of equal areas, base rates .8 and .2", of_areas > ALPHA,
             f"reject {of_areas:.3f} in the limit", answers="auc.unstudentized"),
        said("3.3: variances of false negative rates, base rates .4 and .4", abs(sampled - permuted) < TIE,
             f"{sampled:.3f} sampled, {permuted:.3f} permuted", answers="fnr.same_bases"),
        said("3.4: the number of permuted statistics below the observed one is a p-value", False,
             "it is largest for the most extreme data, and no share", answers="algorithm.p_value"),
        said("3.4: the share of permuted statistics at least as far from 0 is", abs(exact - level) < TIE,
             f"size {exact:.4f} at the level {level:.4f}", answers="algorithm.p_value",
             reading="the share of permuted statistics at least as far from 0"),
        said("5: bootstraps of the data and one permutation are fewer evaluations", n_b + n_p < n_b * (1 + n_p),
             f"{n_b + n_p:,} evaluations of the statistic for {n_b * (1 + n_p):,}", answers="real.runtime"),
        said("5.1: variance of a difference with 50, 100 and 200 people a group", variances == sorted(variances)[::-1],
             ", ".join(f"{value:.4f}" for value in variances) + " with 50, 100 and 200 people a group",
             answers="planning.variance"),
        said("5.1: two standard deviations of a normal statistic", abs(1 - 2 * norm.sf(2) - 0.95) < 0.005,
             f"{1 - 2 * norm.sf(2):.1%} of a normal statistic's distances from 0 are smaller",
             answers="planning.percentile"),
        said("5.1: errors of estimated p-values", errors[1] < errors[0],
             f"{errors[0]:.4f} of 1,000 permutations, {errors[1]:.4f} of 10,000", answers="planning.trials"),
        said("5.1: samples for which two standard errors are the difference detect it", min(power, again) >= powerful,
             f"power {power:.2f}; .8 needs {np.ceil(enough):.0f} people a group where the recipe has {people}",
             answers="planning.recipe"),
    ]  # fmt: skip
