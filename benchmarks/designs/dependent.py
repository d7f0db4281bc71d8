"""Rates of people in clusters or with weights, ratios of rare events, and cautions about means of skewed losses.

In every design the groups are equal, or at the margin that is tested; people who are all alike are drawn anew. The
first method of a design is the default.
"""

from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq

from benchmarks.common.bounds import CLUSTERED, COVERED, SILENT, WARNED
from benchmarks.common.cells import ALPHA, FACTORS, LAWS
from benchmarks.common.design import Design, one_by_one
from benchmarks.designs.fairness_test import sizes_of, tested

#: What is asked for beside the people; "ignored" leaves weights and clusters out.
METHODS = {
    "permutation": {"method": "permutation"},
    "asymptotic": {"method": "asymptotic"},
    "bootstrap_t": {"method": "bootstrap"},
    "raw": {"method": "permutation", "variance": None},
    "ignored": {},
}
MARGIN = {"disparity": "ratio", "margin": 0.8, "alternative": "less"}


def of_one_group(units, rates):
    """Clusters of 5 to 15 people of one group."""

    def draw(rng):
        cluster = np.repeat(np.arange(sum(units)), rng.integers(5, 16, sum(units)))
        own = np.concatenate([rates_of_clusters(n, rate, rng) for n, rate in zip(units, rates, strict=True)])
        return (cluster >= units[0]).astype(int), rng.random(len(cluster)) < own[cluster], {"clusters": cluster}

    return draw


def rates_of_clusters(units, rate, rng):
    return rng.beta(2.0, 2.0 * (1 - rate) / rate, units)  # correlation about .13


def log_odds(own, rate, slope, start):
    """Probability that a person of a cluster with this rate belongs to the second group."""
    return 1 / (1 + np.exp(-slope * (own - rate) - start))


@lru_cache
def factor_of(rate, slope, start):
    """By how much the second group's rates differ from the first's in each cluster, so that both are equal overall."""
    own = rates_of_clusters(400_000, rate, np.random.default_rng(0))
    second = log_odds(own, rate, slope, start)
    overall = ((1 - second) * own).sum() / (1 - second).sum()
    return brentq(lambda k: (second * np.minimum(k * own, 1)).sum() / second.sum() - overall, 0.01, 1 / rate)


def composed(units, rate, slope, start=0.0):
    """Clusters of 3 to 8 people of both groups, whose shares depend on the cluster's rate."""

    def draw(rng):
        cluster = np.repeat(np.arange(units), rng.integers(3, 9, units))
        own = rates_of_clusters(units, rate, rng)[cluster]
        second = rng.random(len(cluster)) < log_odds(own, rate, slope, start)
        chance = np.where(second, np.minimum(factor_of(rate, slope, start) * own, 1), own)
        return second.astype(int), rng.random(len(cluster)) < chance, {"clusters": cluster}

    return draw


def weighted(people, deviation, rates, factors=(1.0, 1.0)):
    """Log-normal weights, which a group's selected people have times a factor; weighted, the rates are these."""
    group = sizes_of(*people)
    rate, factor = np.array(rates)[group], np.array(factors)[group]
    plain = rate / (factor - rate * (factor - 1))

    def draw(rng):
        selected = rng.random(len(group)) < plain
        weight = rng.lognormal(0.0, deviation, len(group)) * np.where(selected, factor, 1.0)
        return group, selected, {"sample_weight": weight} if deviation or max(factors) > 1 else {}

    return draw


def compared(draw, methods, truth=0.0, **asked):
    """Whether each method rejects, and its interval holds the true disparity."""

    def figures(rng):
        selected = ()
        while len(np.unique(selected)) < 2:
            group, selected, known = draw(rng)
        out = {}
        for method in methods:
            given = known | asked | {"n_resamples": 199} | METHODS[method]
            if method == "ignored":
                given = {key: value for key, value in given.items() if key not in known}
            test, _ = tested(rng, None, selected.astype(int), group, "selection_rate", **given)
            low, high = test.confidence_interval_
            out[method] = {"size": test.p_value_ <= ALPHA}
            if method != "raw":
                out[method]["coverage"] = low - 1e-12 <= truth <= high + 1e-12
        return out

    return one_by_one(figures)


def beyond(method, most, data_sets, methods):
    """Say where a method's size is above a bound and three Monte-Carlo errors, or its coverage below `COVERED`."""
    figures = methods[method]
    error = 3 * np.sqrt(most * (1 - most) / data_sets)
    if figures["size"] > most + error or figures["coverage"] < COVERED - error:
        yield f"{method}: size {figures['size']}, coverage {figures['coverage']}"


# Cautions ---------------------------------------------------------------------------------------------------


def losses(people, laws, factor=1.0):
    """Mean losses of two laws, of which the first group's are multiplied."""
    group = sizes_of(*people)

    def figures(rng):
        values = np.concatenate([LAWS[law][0](rng, n) for law, n in zip(laws, people, strict=True)])
        test, warned = tested(rng, None, values * np.where(group == 0, factor, 1), group, "mean_prediction",
                              n_resamples=199)  # fmt: skip
        rejected = test.p_value_ <= ALPHA
        name = "size" if factor == 1 else "power"
        return {"permutation": {name: rejected, "silently": rejected and not warned, "warned": warned}}

    return one_by_one(figures)


def silent_rejections(methods):
    figures = methods["permutation"]
    if figures["silently"] > (1 - WARNED) * figures["size"]:
        yield f"{figures['silently']} of {figures['size']} rejections without a caution"


def needless_cautions(data_sets, methods):
    share, most = methods["permutation"]["warned"], 1 - SILENT
    if share > most + 3 * np.sqrt(most * (1 - most) / data_sets):
        yield f"cautions in {share} of harmless data sets"


# The designs ------------------------------------------------------------------------------------------------

CLUSTERS = {
    "15 and 40 clusters of 5 to 15, rate .3": of_one_group((15, 40), (0.3, 0.3)),
    "10 and 40 clusters of 5 to 15, rate .1": of_one_group((10, 40), (0.1, 0.1)),
    "8 and 60 clusters of 5 to 15, rate .1": of_one_group((8, 60), (0.1, 0.1)),
    "40 clusters of both groups, composed by their rates": composed(40, 0.3, 4.0),
    "40 clusters of both groups, composed against their rates": composed(40, 0.3, -4.0),
    "20 clusters of both groups, composed strongly by their rates": composed(20, 0.3, 10.0),
    "40 clusters of both groups, composed by their rates, rate .1": composed(40, 0.1, 4.0),
    "40 clusters of both groups, composed by their rates, few of one": composed(40, 0.3, 4.0, -1.5),
}
WEIGHTS = {
    "log-normal(1.5), rate .1, 100 v 500": weighted((100, 500), 1.5, (0.1, 0.1)),
    "log-normal(1), rate .05, 50 v 1,000": weighted((50, 1000), 1.0, (0.05, 0.05)),
    "log-normal(.5), twice for the event in one group, 200 v 500": weighted((200, 500), 0.5, (0.3, 0.3), (1.0, 2.0)),
    "twice for the event, 100 v 100": weighted((100, 100), 0.0, (0.2, 0.2), (2.0, 2.0)),
    "half for the event, 200 v 500": weighted((200, 500), 0.5, (0.3, 0.3), (0.5, 0.5)),
}
RATIOS = {
    "rate .05, 20 v 100": (weighted((20, 100), 0.0, (0.05, 0.05)), 1.0),
    "log-normal(.5) weights, rate .05, 50 v 50": (weighted((50, 50), 0.5, (0.05, 0.05)), 1.0),
    "20 and 40 clusters, rate .05": (of_one_group((20, 40), (0.05, 0.05)), 1.0),
    "margin .8, rates .04 and .05, 20 v 100": (weighted((20, 100), 0.0, (0.04, 0.05)), 0.8),
    "margin .8, log-normal(.5) weights, rates .04 and .05, 50 v 50": (weighted((50, 50), 0.5, (0.04, 0.05)), 0.8),
    "margin .8, 40 and 40 clusters, rates .08 and .1": (of_one_group((40, 40), (0.08, 0.1)), 0.8),
}
#: Laws and people of losses: where the default rejects too often, and where a caution would be out of place.
DOUBTFUL = [("certain", "rare Beta", people) for people in ((50, 500), (200, 200), (200, 2000))]
DOUBTFUL += [("exponential", law, (50, 500)) for law in ("uniform", "normal")]
FRIENDLY = [("normal", "normal", people) for people in ((30, 30), (20, 200), (50, 500), (200, 2000))]
FRIENDLY += [("normal", "uniform", (50, 500))]


def cautions():
    for first, second, people in DOUBTFUL:
        name = f"rejected too often, {first}, {second}, {people[0]} v {people[1]}"
        yield Design(f"cautions/{name}", losses(people, (first, second)), 400, also=silent_rejections)
    for first, second, people in FRIENDLY:
        for words, factor in {"": 1.0, ", first higher": FACTORS[people[0]]}.items():
            yield Design(
                f"cautions/harmless, {first}, {second}{words}, {people[0]} v {people[1]}",
                losses(people, (first, second), factor), 200, also=partial(needless_cautions, 200),
            )  # fmt: skip


def families(section, designs, methods, n, quick=""):
    """Designs of a section whose first method is the default."""
    for name, (draw, truth) in designs.items():
        most = CLUSTERED if "clusters" in name else ALPHA
        asked = {} if section != "ratios" else MARGIN if truth < 1 else {"disparity": "ratio"}
        yield Design(
            f"{section}/{name}", compared(draw, methods, truth, **asked), n,
            quick=60 * name.startswith(quick) if quick else 0, also=partial(beyond, methods[0], most, n),
        )  # fmt: skip


DESIGNS = [
    *families("clusters", {name: (draw, 0.0) for name, draw in CLUSTERS.items()},
              ("permutation", "asymptotic", "ignored"), 400, "15 and 40"),
    *families("weights", {name: (draw, 0.0) for name, draw in WEIGHTS.items()},
              ("permutation", "asymptotic", "raw", "ignored"), 400, "half"),
    *families("ratios", {name: known for name, known in RATIOS.items() if known[1] == 1},
              ("asymptotic", "permutation", "bootstrap_t"), 400),
    *families("ratios", {name: known for name, known in RATIOS.items() if known[1] < 1},
              ("asymptotic", "bootstrap_t"), 400),
    *cautions(),
]  # fmt: skip
