"""Sums, distributions, labels, weights of strata, many small tables: questions of `FairnessTest` with their own data.

Sums are claims over premiums, of people of whom some have a gamma-distributed claim, and the net benefit of decisions.
In every design of size the groups differ in nothing, unless its name says in what.
"""

import warnings
from functools import partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import contingency, random_table

from benchmarks.common.design import Design, one_by_one
from skfairtest import FairnessTest, MeanOf, RatioOfSums

ALPHA = 0.05
SUMS, DISTRIBUTION = "sums", "distribution"
TOGETHER, FAMILY, CHI_SQUARE, WEIGHTED = "all labels", "family", "chi-square", "weights of strata"
DISCRETE, HOLM = "discrete_holm", "holm"


def claims(y_true, _):
    return y_true


def premium(_, y_pred):
    return y_pred


def net_benefit(y_true, y_pred):
    return y_pred * (y_true - (1 - y_true) / 3)


LOSS_RATIO = RatioOfSums(claims, premium, name="loss_ratio")


def sizes_of(*people):
    """Return the group of each person, 0 for the first."""
    return np.repeat(np.arange(len(people)), people)


def tested(rng, y_true, y_pred, group, metric, **given):
    """Return the fitted test and whether it warned."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        test = FairnessTest.from_predictions(
            y_true, y_pred, sensitive_features=group, metric=metric, random_state=int(rng.integers(2**31)),
            **{"n_resamples": 499, **given},
        )  # fmt: skip
    return test, bool(warned)


def answer(test, truth, suffix=""):
    """Whether a test rejects and its interval holds the true value of the first group minus that of the second."""
    row = test.comparisons_.iloc[0]
    truth = truth if row["group"] == 0 else -truth
    return {
        "power" if suffix else "size": test.p_value_ <= ALPHA,
        f"coverage{suffix}": row["ci_low"] - 1e-12 <= truth <= row["ci_high"] + 1e-12,
    }


# Sums -------------------------------------------------------------------------------------------------------


def ratio_of_claims(people, chances, *, worse=3.0, clusters=1, weighted=False):
    """Claims over premiums of two groups whose members have a claim with these chances; mean claims make them equal.

    In the data sets of power the claims of the first group are larger by the factor `worse`.
    """
    group = sizes_of(*people)
    chance = np.array(chances)[group]

    def draw(rng):
        paid = rng.gamma(4, 25, len(group))
        claimed = np.repeat(rng.random(len(group) // clusters), clusters) < chance
        lost = claimed * paid * rng.gamma(2, 0.3 / chance)
        given = {"clusters": np.arange(len(group)) // clusters} if clusters > 1 else {}
        if weighted:
            given["sample_weight"] = 1.0 + 2 * claimed
        test, warned = tested(rng, lost, paid, group, LOSS_RATIO, **given)
        out = answer(test, 0.0) | {"warned": warned}
        if worse > 1:
            test, _ = tested(rng, lost * np.where(group == 0, worse, 1), paid, group, LOSS_RATIO, **given)
            ratio = 0.6 * 3 / (1 + 2 * chances[0]) if weighted else 0.6
            out |= answer(test, ratio * (worse - 1), "_effect")
        return {SUMS: out}

    return one_by_one(draw)


def net_benefits(people, base_rates):
    """Decisions whose net benefit is .06 in both groups, although base rates differ."""
    group = sizes_of(*people)
    base = np.array(base_rates)[group]

    def draw(rng):
        y = rng.random(len(group)) < base
        decided = rng.random(len(group)) < np.where(y, 0.1 / base, 0.12 / (1 - base))
        test, _ = tested(rng, y.astype(int), decided.astype(int), group, MeanOf(net_benefit))
        return {SUMS: answer(test, 0.0)}

    return one_by_one(draw)


def silent(data_sets, methods):
    """Say what is wrong, up to three Monte-Carlo errors, without a caution in 90% of the data sets."""
    figures, error = methods[SUMS], 3 * np.sqrt(ALPHA * (1 - ALPHA) / data_sets)
    least = min(figures["coverage"], figures.get("coverage_effect", 1.0))
    if (figures["size"] > ALPHA + error or least < 1 - ALPHA - error) and figures["warned"] < 0.9:
        yield f"size {figures['size']}, coverage {least}, warned {figures['warned']}"


# Whole distributions ----------------------------------------------------------------------------------------


def normal(rng, group):
    return rng.normal(size=len(group)), {}


def tied(rng, group):
    return np.maximum(np.round(rng.normal(-0.3, 1, len(group))), 0), {}


def whole_clusters(rng, group):
    cluster = np.cumsum(np.arange(len(group)) % 3 == 0)
    return rng.normal(size=len(group)) + rng.normal(size=cluster.max() + 1)[cluster], {"clusters": cluster}


def in_strata(rng, group):
    """Strata differ in their means, and the groups in their strata."""
    stratum = (rng.random(len(group)) < np.where(group == 0, 0.8, 0.3)).astype(int)
    return rng.normal(size=len(group)) + 2 * stratum, {"control_features": stratum}


def equal_distributions(people, values):
    group = sizes_of(*people)

    def draw(rng):
        value, given = values(rng, group)
        out = answer(tested(rng, value, value, group, "distribution", **given)[0], 0.0)
        return {DISTRIBUTION: {"size": out["size"]} if given else out}

    return one_by_one(draw)


def different_distributions(people, shift, scale):
    """Of N(shift, scale^2) and N(0, 1); the band has to hold the difference at the score that is shown."""
    group = sizes_of(*people)

    def draw(rng):
        value = np.where(group == 0, rng.normal(shift, scale, len(group)), rng.normal(size=len(group)))
        test, _ = tested(rng, value, value, group, "distribution")
        at = test.comparisons_["at"].iloc[0]
        return {DISTRIBUTION: answer(test, ndtr((at - shift) / scale) - ndtr(at), "_effect")}

    return one_by_one(draw)


# Several labels ---------------------------------------------------------------------------------------------


def labels_of(rng, chances):
    """Draw a label for each row of probabilities."""
    above = rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)[:, :-1]
    return np.array(list("abcdef"))[above.sum(axis=1)]


def family(test, figure):
    """Whether anything is significant, and whether the row of all labels is without adjustment."""
    rows = test.comparisons_
    together = rows["p_value"][rows["metric"].str.startswith("all labels")] <= ALPHA
    return {FAMILY: {figure: (rows["p_value_adjusted"] <= ALPHA).any()}, TOGETHER: {figure: together.any()}}


def chi_square(table, rng, n=999):
    """The p-value of Pearson's statistic in tables with the same margins."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    drawn = random_table(rows, columns, seed=rng).rvs(n)
    statistic, observed = (((each - expected) ** 2 / expected).sum(axis=(-2, -1)) for each in (drawn, table))
    return (1 + (statistic >= observed - 1e-9).sum()) / (n + 1)


def several_labels(people, *chances):
    """Labels predicted with these chances in each group; with one list, in both."""
    figure, group = "size" if len(chances) == 1 else "power", sizes_of(*people)

    def draw(rng):
        label = ()
        while len(np.unique(label)) < len(chances[0]):  # of two labels one would be the positive one
            label = labels_of(rng, np.array(chances * 2)[group])
        out = family(tested(rng, None, label, group, "demographic_parity")[0], figure)
        table = contingency.crosstab(group, label).count
        return out | {CHI_SQUARE: {figure: chi_square(table, rng) <= ALPHA}}

    return one_by_one(draw)


def odds_of_labels(people):
    """Equalized odds of three labels: true labels differ between the groups, and mistakes do not."""
    group = sizes_of(*people)
    base = np.array([[0.5, 0.3, 0.2], [0.8, 0.15, 0.05]])

    def draw(rng):
        truth = labels_of(rng, base[group])
        predicted = np.where(rng.random(len(group)) < 0.7, truth, labels_of(rng, np.full((len(group), 3), 1 / 3)))
        return family(tested(rng, truth, predicted, group, "equalized_odds")[0], "size")

    return one_by_one(draw)


# Weights of strata ------------------------------------------------------------------------------------------


def weighted_strata(people, strata, rates, effect=0.0):
    """A rate that is equal within strata; the groups differ in their strata. Weights are the people of both groups."""
    group = sizes_of(*people)

    def draw(rng):
        if strata is None:  # of two people each
            stratum = np.tile(np.arange(people[0]), 2)
        else:
            stratum = (rng.random(len(group)) ** np.where(group == 0, 2, 1) * strata).astype(int)
        chance, uniform, out = np.array(rates)[stratum % len(rates)], rng.random(len(group)), {}
        for added, suffix in {0.0: "", effect: "_effect" * (effect > 0)}.items():
            y = (uniform < chance + added * (group == 0)).astype(int)
            given = {"control_features": stratum, "strata_weights": np.add}
            out |= answer(tested(rng, None, y, group, "selection_rate", **given)[0], added, suffix)
        return {WEIGHTED: out}

    return one_by_one(draw)


# Many small tables ------------------------------------------------------------------------------------------


def small_tables(people, rates, metric="selection_rate", compare="between_groups"):
    """Families adjusted by discrete Holm and by Holm: whether anything is found, and how many of the disparities.

    Equalized odds are those of labels that are as frequent as the rates say, by predictions that are right in 90%.
    """
    group, odds = sizes_of(*people), metric == "equalized_odds"
    power = len(set(rates)) > 1 and not odds
    value = np.resize(rates, len(people))

    def draw(rng):
        y, out = (rng.random(len(group)) < value[group]).astype(int), {}
        truth, y = (y, np.where(rng.random(len(group)) < 0.9, y, 1 - y)) if odds else (None, y)
        for adjust in (DISCRETE, HOLM):
            test, _ = tested(rng, truth, y, group, metric, compare=compare, adjust=adjust)
            rows = test.comparisons_[test.comparisons_["p_value_adjusted"] <= ALPHA]
            pairs = rows[["group", "other"]].to_numpy() if power else []
            differ = sum(value[one] != value[other] for one, other in pairs)
            out[adjust] = {"size": len(rows) > differ}
            if power:
                out[adjust] |= {"power": test.p_value_ <= ALPHA, "found": differ}
        return out

    return one_by_one(draw)


# The designs ------------------------------------------------------------------------------------------------

CLAIMS = {
    "common claims, 30 v 300": (300, (30, 300), (0.5, 0.5), {}),
    "rare claims, 30 v 300": (300, (30, 300), (0.05, 0.05), {}),
    "many small and few large claims, 400 v 40": (300, (400, 40), (0.5, 0.05), {}),
    "common claims, 20 v 2,000": (150, (20, 2000), (0.5, 0.5), {"worse": 1.0}),
    "weights that follow the outcome, 30 v 300": (300, (30, 300), (0.5, 0.5), {"weighted": True}),
    "clusters of 3, 90 v 900": (300, (90, 900), (0.5, 0.5), {"clusters": 3, "worse": 1.0}),
}
#: Ratios of which too few people carry the sums: they are allowed to be wrong, if nearly all are warned of.
WARNED = ("rare claims, 30 v 300", "many small and few large claims, 400 v 40")
EQUAL = {
    "15 v 450": ((15, 450), normal), "ties and zeros, 30 v 300": ((30, 300), tied),
    "clusters of 3, 60 v 600": ((60, 600), whole_clusters), "two strata, 60 v 600": ((60, 600), in_strata),
}  # fmt: skip
#: People, shift, standard deviation, and the least power.
DIFFERENT = {
    "shift .5, 100 v 100": ((100, 100), 0.5, 1.0, 0.88), "N(0, 9), 30 v 300": ((30, 300), 0.0, 3.0, 0.96),
}  # fmt: skip
SIX, SHIFTED = (0.6, 0.2, 0.05, 0.05, 0.05, 0.05), (0.77, 0.03, 0.05, 0.05, 0.05, 0.05)
LABELS = {
    "six, 40 v 400": (500, several_labels((40, 400), SIX)),
    "three, 60 v 60": (300, several_labels((60, 60), (0.9, 0.05, 0.05))),
    "three, 20 v 2,000": (300, several_labels((20, 2000), (0.9, 0.05, 0.05))),
    "three, equalized odds, 60 v 600": (300, odds_of_labels((60, 600))),
}
STRATA = {
    "of two": ((60, 60), None, (0.2, 0.5, 0.8)), "rare events, 60 v 600": ((60, 600), 4, (0.02, 0.03, 0.05), 0.15),
    "20 v 2,000": ((20, 2000), 3, (0.1, 0.3, 0.5), 0.3),
}  # fmt: skip
#: People, and rates: equal ones, and those of power.
SMALL_EQUAL = {
    "6 groups of 50": ((50,) * 6, (0.05,)), "8 groups of 10, to_rest": ((10,) * 8, (0.2,), "selection_rate", "to_rest"),
    "4 groups of 60, equalized odds": ((60,) * 4, (0.2, 0.5, 0.3, 0.7), "equalized_odds"),
    "1:100 groups": ((1000, 1000, 10, 10), (0.1,)), "rare events, 6 groups": ((20, 40, 80, 150, 200, 300), (0.01,)),
}  # fmt: skip
SMALL_DIFFERENT = {
    "6 groups of 50, .20 and .03": ((50,) * 6, (0.2, *[0.03] * 5)),
    "8 groups of 10, .6 and .1": ((10,) * 8, (0.6, *[0.1] * 7)),
    "20 to 300 people, .15 and .02": ((20, 40, 80, 150, 200, 300), (0.15, *[0.02] * 5)),
    "4 groups of 100, .1 and .02": ((100,) * 4, (0.1, 0.02, 0.02, 0.02)),
    "4 groups of 15, .9 and .5": ((15,) * 4, (0.5, 0.9, 0.5, 0.5)),
}

DESIGNS = [
    *(
        Design(f"discrete families/{name}", small_tables(*known), 300, (DISCRETE,), 20 * name.startswith("8"))
        for name, known in {**SMALL_EQUAL, **SMALL_DIFFERENT}.items()
    ),
    *(
        Design(
            f"sums/{name}", ratio_of_claims(people, chances, **known), n, () if name in WARNED else (SUMS,),
            40 * name.startswith("common claims, 30"), also=partial(silent, n),
        )
        for name, (n, people, chances, known) in CLAIMS.items()
    ),
    Design("sums/net benefit, base rates differ, 40 v 400", net_benefits((40, 400), (0.5, 0.2)), 500, (SUMS,)),
    *(
        Design(f"distributions/{name}", equal_distributions(*known), 500, (DISTRIBUTION,), 60 * (name == "15 v 450"))
        for name, known in EQUAL.items()
    ),
    *(
        Design(f"distributions/{name}", different_distributions(*known), 500, (DISTRIBUTION,), power=least)
        for name, (*known, least) in DIFFERENT.items()
    ),
    *(
        Design(f"several labels/{name}", ask, n, (TOGETHER, FAMILY), 60 * name.startswith("six"))
        for name, (n, ask) in LABELS.items()
    ),
    Design(
        "several labels/six, one rarer in the small group, 40 v 400", several_labels((40, 400), SHIFTED, SIX), 300,
        (TOGETHER,), power=0.65, weaker=(CHI_SQUARE,),
    ),
    *(
        Design(f"weights of strata/{name}", weighted_strata(*known), 200, (WEIGHTED,), 40 * (name == "of two"))
        for name, known in STRATA.items()
    ),
]  # fmt: skip
