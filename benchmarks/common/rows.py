"""People one by one, with weights or in clusters, as FairnessTest is given them.

A group's population is ("clusters", number of clusters, their sizes, what), ("inside", number of clusters that both
groups share, their sizes, what), ("composed", the same, and how much the second group's log odds of being there rise
with a cluster's rate and where they start) or ("weights", deviation of their logarithm, what, factor). What: the
selection rate, the scores of `_cells.scores`, a distribution of losses or the four cells of a table. A ("mixture",
first group's, second group's, composed) has clusters of one group and of both. The factor multiplies the weights of the
selected, of those missed for a cost.
"""

import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from benchmarks.common.cells import LAWS
from benchmarks.common.methods import PREDICTED, TRUE, Outcomes
from skfairtest import FairnessTest, ScoreMetric
from skfairtest.inference.draws import Side, flipped, random_signs
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.inference.score import studentize

#: Cost of a missed positive; a false alarm costs 1.
MISSED = 5.0
#: Which part of the variance of positives' scores is their cluster's, and the shape of the clusters' factors of losses.
SHARED, SHAPE = 0.5, 2.0


def mean_cost(y_true, y_pred, counts):
    """Return the mean cost of kinds of people, as a user would write it."""
    price = np.where(y_true > y_pred, MISSED, 1.0) * (y_true != y_pred)
    return counts @ price / counts.sum(axis=-1)


METRICS = {"cost": ScoreMetric("cost", mean_cost)}


def draw_rows(cell, rng):
    """Columns of all people: group, cluster or weight, y_pred (or what the AUC ranks), and y_true if it is read."""
    if cell.null[0][0] == "inside":
        return _both_in_each(cell, cell.null[0], rng)
    if cell.null[0][0] == "composed":
        return _composed(cell.null[0], rng)
    if cell.null[0][0] == "mixture":
        return _mixture(cell.null[0][1:], rng)
    return _apart(cell, cell.null, rng)


def _apart(cell, null, rng):
    """Groups that share no cluster."""
    groups = []
    for g, population in enumerate(null):
        made = _in_clusters(population, rng) if population[0] == "clusters" else {"n": cell.people[g]}
        columns = DRAWS[cell.metric](made, population, rng)
        if "cluster" in made:
            columns["cluster"] = made["cluster"] + 10_000 * g
        groups.append({"group": np.full(len(columns["y_pred"]), g), **columns})
    return {name: np.concatenate([columns[name] for columns in groups]) for name in groups[0]}


def _in_clusters(population, rng):
    units, sizes = population[1:3]
    people = _cluster_sizes(units, sizes, rng)
    return {"n": int(people.sum()), "units": units, "cluster": np.repeat(np.arange(units), people)}


def _cluster_sizes(units, sizes, rng):
    if sizes == "small":
        return rng.integers(3, 9, units)
    if "heavy" in sizes:
        return np.ceil(rng.lognormal(1.0, 1.0 if sizes == "heavy" else 1.8, units)).astype(int)
    return np.full(units, 5) if sizes == "five" else rng.integers(5, 16, units)


def _rates_of_clusters(units, rate, rng):
    return rng.beta(2.0, 2.0 * (1 - rate) / rate, units)  # correlation about .13


def _both_in_each(cell, population, rng):
    """Groups that vary inside clusters: at least one person of each, in shares that have nothing to do with rates."""
    made = _in_clusters(population, rng)
    columns = DRAWS[cell.metric](made, population, rng)
    people = np.bincount(made["cluster"])
    first = np.clip(rng.binomial(people, rng.random(len(people))), 1, people - 1)
    place = np.arange(made["n"]) - np.repeat(np.cumsum(people) - people, people)
    return {"group": (place >= first[made["cluster"]]).astype(int), "cluster": made["cluster"], **columns}


def _odds(own, rate, slope, start):
    """Probability that a person of a cluster with this rate belongs to the second group."""
    return 1 / (1 + np.exp(-slope * (own - rate) - start))


@lru_cache
def _factor(rate, slope, start):
    """By how much the second group's rates differ from the first's in each cluster, so that both are equal overall."""
    own = _rates_of_clusters(400_000, rate, np.random.default_rng(0))
    second = _odds(own, rate, slope, start)
    overall = ((1 - second) * own).sum() / (1 - second).sum()
    return brentq(lambda k: (second * np.minimum(k * own, 1)).sum() / second.sum() - overall, 0.01, 1 / rate)


def _composed(population, rng):
    """Groups whose shares in a cluster depend on its rate; their rates differ in each cluster and are equal overall."""
    _, _, _, rate, slope, start = population
    made = _in_clusters(population[:4], rng)
    own = _rates_of_clusters(made["units"], rate, rng)
    second = rng.random(made["n"]) < _odds(own, rate, slope, start)[made["cluster"]]
    probability = np.where(
        second, np.minimum(_factor(rate, slope, start) * own, 1)[made["cluster"]], own[made["cluster"]]
    )
    selected = (rng.random(made["n"]) < probability).astype(int)
    return {"group": second.astype(int), "y_pred": selected, "cluster": made["cluster"]}


def _mixture(populations, rng):
    """Clusters of one group and clusters of both."""
    *whole, composed = populations
    parts = [_composed(composed, rng)]
    for g, population in enumerate(whole):
        made = _in_clusters(population, rng)
        columns = _draw_selected(made, population, rng)
        parts.append({"group": np.full(made["n"], g), "cluster": made["cluster"] + 10_000 * (g + 1), **columns})
    return {name: np.concatenate([part[name] for part in parts]) for name in ("group", "y_pred", "cluster")}


def _draw_selected(made, population, rng):
    if "cluster" in made:
        own = _rates_of_clusters(made["units"], population[3], rng)[made["cluster"]]
        return {"y_pred": (rng.random(made["n"]) < own).astype(int)}
    _, sigma, rate, factor = population
    plain = rate / (factor - rate * (factor - 1))  # weighted, it is `rate`
    shown = rng.random(made["n"]) < plain
    return {"y_pred": shown.astype(int), "weight": _weights(made["n"], sigma, np.where(shown, factor, 1.0), rng)}


def _weights(n, sigma, factor, rng):
    return rng.lognormal(0.0, sigma, n) * factor


def _known(made, population, rng):
    """Weights that have nothing to do with the rest."""
    return {} if "cluster" in made else {"weight": _weights(made["n"], population[1], 1.0, rng)}


def _draw_scores(made, population, rng):
    n = made["n"]
    base, mean, spread, shift = population[3 if "cluster" in made else 2]
    truth = rng.random(n) < base
    own = rng.normal(size=n)
    if "cluster" in made:
        own = np.sqrt(1 - SHARED) * own + np.sqrt(SHARED) * rng.normal(size=made["units"])[made["cluster"]]
    score = np.where(truth, mean + spread * own, rng.normal(size=n)) + shift
    return {"y_true": truth.astype(int), "y_pred": score, **_known(made, population, rng)}


def _draw_errors(made, population, rng):
    loss = LAWS[population[3 if "cluster" in made else 2]][0](rng, made["n"])
    if "cluster" in made:
        loss = loss * rng.gamma(SHAPE, 1 / SHAPE, made["units"])[made["cluster"]]
    return {"y_true": np.zeros(made["n"]), "y_pred": np.sqrt(loss), **_known(made, population, rng)}


def _draw_costs(made, population, rng):
    _, sigma, cells, factor = population
    factors = np.where(TRUE > PREDICTED, factor, 1.0)
    share = np.asarray(cells) / factors  # weighted, they are `cells`
    cell = rng.choice(4, made["n"], p=share / share.sum())
    weight = _weights(made["n"], sigma, factors[cell], rng)
    return {"y_true": TRUE[cell], "y_pred": PREDICTED[cell], "weight": weight}


DRAWS = {
    "selection_rate": _draw_selected,
    "roc_auc": _draw_scores,
    "mean_squared_error": _draw_errors,
    "cost": _draw_costs,
}


#: What is asked of rates of people with weights, in clusters or neither, and by which methods, by kind of cell.
SHARES = {
    "ratio": ({"disparity": "ratio"}, ("asymptotic", "permutation", "bootstrap_t")),
    "margin": ({"disparity": "ratio", "margin": 0.8, "alternative": "less"}, ("asymptotic", "bootstrap_t")),
    "follow": ({"disparity": "difference"}, ("asymptotic", "permutation")),
}
#: The disparity of groups that are equal, or at the margin.
NULL = {"ratio": 1.0, "margin": 0.8}


def judge_shares(cell, population, size, rng):
    """Selection rates by every method of FairnessTest; one with nothing to compare is no rejection."""
    out = Outcomes()
    asked, methods = SHARES[cell.kind]
    drawn = replace(cell, null=population)
    plain = all(people[0] == "weights" and people[1] == 0 and people[3] == 1 for people in population)
    for _ in range(size):
        columns = draw_rows(drawn, rng)
        if len(np.unique(columns["y_pred"])) < 2:
            continue
        known = {"clusters": columns["cluster"]} if "cluster" in columns else {"sample_weight": columns["weight"]}
        for method in methods:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test = FairnessTest.from_predictions(
                    None, columns["y_pred"], sensitive_features=columns["group"], metric=cell.metric,
                    method="bootstrap" if method == "bootstrap_t" else method, n_resamples=cell.resamples,
                    random_state=int(rng.integers(2**31)), **asked, **({} if plain else known),
                )  # fmt: skip
            out.add(method, test.p_value_, *test.confidence_interval_)
    return out.arrays()


def judge_rows(cell, _population, size, rng):
    """The whole of FairnessTest: studentized, raw, and as if there were neither weights nor clusters."""
    out = Outcomes()
    for _ in range(size):
        columns = draw_rows(cell, rng)
        if len(np.unique(columns["y_pred"])) < 2:
            continue
        known = {"clusters": columns["cluster"]} if "cluster" in columns else {"sample_weight": columns["weight"]}
        common = {
            "y_true": columns.get("y_true"),
            "y_pred": columns["y_pred"],
            "sensitive_features": columns["group"],
            "metric": METRICS.get(cell.metric, cell.metric),
            "n_resamples": cell.resamples,
        }
        if cell.metric == "roc_auc":
            common |= {"y_pred": None, "y_score": columns["y_pred"]}
        for method, extra in (
            (cell.default, known),
            ("raw", {**known, "variance": None}),
            ("ignored", {}),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test = FairnessTest.from_predictions(random_state=int(rng.integers(2**31)), **common, **extra)
            interval = test.confidence_interval_ if method != "raw" else (np.nan, np.nan)
            out.add(method, test.p_value_, *interval)
        if cell.metric == "selection_rate" and "cluster" in columns:
            out.add("signs", _by_signs(columns, cell.resamples, rng), np.nan, np.nan)
    return out.arrays()


def _by_signs(columns, n_resamples, rng):
    """P-value by random signs of the clusters' parts, also where each cluster lies in one group."""
    sides = []
    for group in (0, 1):
        there = columns["group"] == group
        value = columns["y_pred"][there].mean()
        clusters = np.unique(columns["cluster"], return_inverse=True)[1]
        parts = np.bincount(clusters, there * (columns["y_pred"] - value)) / there.sum()
        sides.append(Side(value, parts, np.bincount(clusters, there)))
    signs = np.vstack([np.ones(len(parts)), random_signs(n_resamples, len(parts), rng)])
    first, q1, second, q2, covariance = flipped(*sides, signs)
    statistics = studentize(first - second, np.sqrt(np.maximum(q1 + q2 - 2 * covariance, 0)))
    return monte_carlo_p(statistics[1:], statistics[0], "two-sided")[0]
