"""Hinnefeld et al. (2018): six fairness metrics on four data sets with known bias, with p-values and intervals.

Their population is not public. Ours has its published margins (Table 1): so many people of each race, and of them so
many whose score is at least .5. Everything after that follows the text of the paper.
"""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.reproduce._expected import meanings
from benchmarks.reproduce._rows import Found, said
from benchmarks.reproduce.fairlearn_metrics import berkeley, largest_difference
from skfairtest import FairnessTest

TITLE = "Hinnefeld et al. (2018): fairness metrics and dataset bias"
SOURCE = "hinnefeld"
SEED = 20180924
INTRODUCTION = """\
J. H. Hinnefeld, P. Cooman, N. Mammo and R. Deese (2018), [Evaluating fairness metrics in the presence of dataset
bias](https://arxiv.org/abs/1809.09245), plant two kinds of bias in a data set, train a model on it, and ask which of
six metrics notice. Their population is not public: ours has {people:,} people with the margins of their Table 1, and
{features} features, half of which are related to race. The rest follows the paper: in experiment A the white people
only, whose race is assigned at random; in experiment B everybody; sample bias keeps white people with probability .8
(score at least .5) or .2, and all black people; label bias sets the threshold of the score at .3 for white and .7 for
black people. Where the paper is silent: the model is told the race (otherwise label bias could not be learned in
experiment A), it is trained on half of the people, and l1 and l2 penalties weigh the same.

The paper compares metrics without saying how sure it is. Here each value has an interval and a p-value. Whether a
conclusion of the paper holds here is about the values themselves, as in the paper; how "most", "similar" and "minimal"
are read stands beside each. Its p-value is one-sided: how often data sets on which metrics were equally far from fair
would show as much of a difference; the largest one, where a conclusion rests on several comparisons of data sets. It
leaves out the mutual information, which has no interval.

Which of sample bias and label bias a metric notices more depends on how many labels the thresholds change, and so on
the distribution of the score, which the paper does not publish. What the logit of our scores is multiplied by, their
steepness, is the one free parameter here: at {first:g}, with {between:.0%} of the people between .3 and .7, {plain} of
{conclusions} conclusions hold, at {best:g} (with {steep:.0%}) {most}."""
STEEPER = "Conclusions by the steepness of the score"
TABLES = {
    "Experiment A": """\
White people only, whose race is assigned at random: neither the truth nor the groups' sizes differ. Black against
white, on people whom the model has not seen; the labels are those of the biased data set, as in the paper.""",
    STEEPER: """\
At which steepness each conclusion holds, in a population of half the size. The steepness that is counted beside the
first was chosen because most conclusions hold there.""",
    "Experiment B": """\
Everybody: the truth differs between the groups, and no bias is planted in data set 1.""",
}

#: What the logit of the score is multiplied by; the first is that of the tables.
STEEPNESS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
#: People of each race, and of them those whose score is at least .5 (Table 1).
POPULATION = {"black": (10_653, 1_296), "white": (119_340, 64_536)}
N_FEATURES, RELATED = 8, 4
DATASETS = {1: "no bias", 2: "sample bias", 3: "label bias", 4: "sample and label bias"}
METRICS = {
    "difference in means": ("selection_rate", "difference"),
    "difference in residuals": ("mean_residual", "difference"),
    "equal opportunity": ("true_positive_rate", "difference"),
    "equal mis-opportunity": ("false_positive_rate", "difference"),
    "disparate impact": ("selection_rate", "ratio"),
    "normalized mutual information": ("normalized_mutual_info", "difference"),
}


def population(rng, share, steepness):
    """Draw features, scores and races, with the published margins (or a share of them)."""
    parts = []
    for race, (people, positive) in POPULATION.items():
        people, positive = round(share * people), round(share * positive)
        shift = np.repeat([-0.5, 0.0], [RELATED, N_FEATURES - RELATED]) * (race == "black")
        X = rng.normal(shift, 1.0, (people, N_FEATURES))
        latent = X.sum(axis=1) / np.sqrt(N_FEATURES) + rng.normal(0.0, 0.7, people)
        # As many as published are at .5 or above.
        threshold = np.sort(latent)[people - positive]
        parts.append((X, 1 / (1 + np.exp(steepness * (threshold - latent))), np.repeat(race, people)))
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def kept(score, black, biased, rng):
    """Return who gets into the data set."""
    chance = np.where(black, 1.0, np.where(score >= 0.5, 0.8, 0.2)) if biased else np.full(len(score), 0.5)
    return rng.random(len(score)) < chance


def labels(score, black, biased):
    """Return the labels that the data set has."""
    return score >= (np.where(black, 0.7, 0.3) if biased else 0.5)


def tested(experiment, dataset, share, steepness):
    """Train on half of a biased data set and test the six metrics on the other half."""
    rng = np.random.default_rng([SEED, dataset])
    X, score, race = population(rng, share, steepness)
    if experiment == "A":
        X, score = X[race == "white"], score[race == "white"]
        race = rng.choice(["black", "white"], len(score))
    black = race == "black"
    keep = kept(score, black, dataset in (2, 4), rng)
    X, black = np.column_stack([X, black])[keep], black[keep]
    y = labels(score[keep], black, dataset in (3, 4)).astype(int)
    X_train, X_test, y_train, y_test, _, black = train_test_split(X, y, black, test_size=0.5, random_state=SEED)
    model = LogisticRegression(l1_ratio=0.5, solver="saga", max_iter=1000, random_state=SEED)
    y_pred = make_pipeline(StandardScaler(), model).fit(X_train, y_train).predict(X_test)
    race = np.where(black, "black", "white")
    return {
        name: FairnessTest.from_predictions(
            y_test, y_pred, sensitive_features=race, metric=metric, disparity=disparity, random_state=SEED
        )
        for name, (metric, disparity) in METRICS.items()
    }


def far(name, test):
    """Return how far a metric is from its fair value, and the standard error of that: NaN where it has none."""
    value, limits = float(test.disparity_), np.array(test.confidence_interval_, dtype=float)
    if name == "disparate impact":
        value, limits = np.log(value), np.log(limits)
    return abs(value), np.ptp(limits) / (2 * NormalDist().inv_cdf(0.975))


def farther(name, tests, than):
    """Whether a metric is farther from fair on one data set than on another, and the one-sided p-value of that."""
    (value, error), (other, its) = far(name, tests[name]), far(name, than[name])
    return value > other, 1 - NormalDist().cdf((value - other) / np.hypot(error, its))


def p_text(p):
    return "p < 1e-15" if p < 1e-15 else f"p = {p:.2g}"


def concluded(answers, says, compared):
    """A conclusion, whether all its comparisons hold here, and the largest of their p-values."""
    held, p = zip(*compared, strict=True)
    return said(says, all(held), p_text(np.nanmax(p)), answers=answers)


def reactions(tests, data):
    """Return by how much farther from fair each metric is than on the data set without planted bias."""
    return {name: far(name, tests[data][name])[0] - far(name, tests[1][name])[0] for name in METRICS}


def most(answers, says, holds):
    """A conclusion about most metrics, with those of which it holds."""
    enough, *_ = meanings(SOURCE, answers)
    there = [name for name in METRICS if holds(name)]
    why = f"{len(there)} of {len(METRICS)}: {', '.join(there) or 'none'}"
    return said(says, len(there) >= enough, why, answers=answers)


def middling(steepness):
    """Return the share of everybody whose label depends on the threshold."""
    _, score, _ = population(np.random.default_rng(SEED), 1.0, steepness)
    return float(np.mean((score >= 0.3) & (score < 0.7)))


def conclusions(A, B):
    others = [name for name in METRICS if name != "difference in residuals"]
    sample, label = ({kind: reactions(tests, data) for kind, tests in (("A", A), ("B", B))} for data in (2, 3))

    _, times = meanings(SOURCE, "a.similar")
    _, part = meanings(SOURCE, "b.label")

    def similar(name):
        small, large = sorted(abs(found["A"][name]) for found in (sample, label))
        return large <= times * small

    return [
        concluded(
            "a.least", "A: every metric is smallest on data set 1",
            [farther(m, A[d], A[1]) for m in METRICS for d in (2, 3, 4)],
        ),
        concluded(
            "a.most", "A: every metric but the difference in residuals is largest on data set 4",
            [farther(m, A[4], A[d]) for m in others for d in (1, 2, 3)],
        ),
        most("a.similar", "A: most metrics react alike to sample bias and to label bias", similar),
        concluded(
            "a.residuals", "A: the difference in residuals reacts more to label bias than to sample bias",
            [farther("difference in residuals", A[3], A[2])],
        ),
        concluded(
            "a.misopportunity", "A: equal mis-opportunity reacts more to sample bias than to label bias",
            [farther("equal mis-opportunity", A[2], A[3])],
        ),
        concluded(
            "b.least", "B: every metric but the difference in residuals is smallest on data set 1",
            [farther(m, B[d], B[1]) for m in others for d in (2, 3, 4)],
        ),
        concluded(
            "b.dataset1", "B: every metric finds data set 1 unfair, which has no planted bias",
            [(B[1][m].p_value_ <= 0.05, float(B[1][m].p_value_)) for m in METRICS],
        ),
        most("b.sample", "B: most metrics react more to sample bias than to label bias",
             lambda name: sample["B"][name] > label["B"][name]),
        most("b.label", "B: most metrics hardly react to label bias",
             lambda name: abs(label["B"][name]) <= part * abs(sample["B"][name])),
        concluded("discussion.dependence",
                  "Values depend on the truth: every metric is farther from fair in B than in A",
                  [farther(m, B[1], A[1]) for m in METRICS]),
        said("5: normalized mutual information reacts to sample bias when base rates differ, the most of all to it",
             sample["B"]["normalized mutual information"] > label["B"]["normalized mutual information"],
             answers="practice.information"),
    ]  # fmt: skip


def written(name, test):
    """Write a metric as the paper defines it, prediction minus truth, with its interval if it has one."""
    value, limits = test.disparity_, np.array(test.confidence_interval_)
    if name == "difference in residuals":
        value, limits = -value, -limits[::-1]
    interval = "" if np.isnan(limits).any() else " ({:.3f} to {:.3f})".format(*limits)
    return f"{value:.3f}{interval}, {p_text(test.p_value_)}"


def run(*, quick):
    share, steepness = (0.1, STEEPNESS[:2]) if quick else (1.0, STEEPNESS)
    whole = {kind: {data: tested(kind, data, share, STEEPNESS[0]) for data in DATASETS} for kind in "AB"}
    rows = conclusions(**whole)
    by_steepness = {
        each: conclusions(**{kind: {data: tested(kind, data, share / 2, each) for data in DATASETS} for kind in "AB"})
        for each in steepness
    }
    held = {each: sum(row.agrees for row in found) for each, found in by_steepness.items()}
    best = max(held, key=held.__getitem__)
    rows += [
        replace(row, what=f"{row.what}, steepness {best:g}", reading=f"scores {best:g} times as steep")
        for row in by_steepness[best]
    ]
    rates, (threshold,) = berkeley()[0], meanings(SOURCE, "practice.impact")
    impact = float(whole["B"][1]["disparate impact"].disparity_)
    both = [largest_difference(name) for name in ("true_positive_rate", "false_positive_rate", "equalized_odds")]
    rows += [
        said("Berkeley: fewer women are admitted", rates["Female"] < rates["Male"],
             f"{rates['Female']:.3f} of women, {rates['Male']:.3f} of men", answers="berkeley"),
        said("Equalized odds of fairlearn's 18 people are both of its parts", max(both[:2]) == both[2],
             "differences {:.3f} and {:.3f}, of equalized odds {:.3f}".format(*both), answers="odds"),
        said("B: disparate impact of data set 1", impact < threshold, f"{impact:.3f}", answers="practice.impact"),
    ]  # fmt: skip
    head = ["metric", *(f"{data}: {bias}" for data, bias in DATASETS.items())]
    tables = {
        f"Experiment {kind}": (
            head,
            [[name, *(written(name, tests[data][name]) for data in DATASETS)] for name in METRICS],
        )
        for kind, tests in whole.items()
    }
    between = {each: middling(each) for each in steepness}
    columns = ["result", *(f"{each:g} ({between[each]:.0%} between .3 and .7)" for each in steepness)]
    tables[STEEPER] = (
        columns,
        [
            [row.what, *("holds" if by_steepness[each][place].agrees else "" for each in steepness)]
            for place, row in enumerate(by_steepness[best])
        ],
    )
    facts = {
        "people": sum(people for people, _ in POPULATION.values()), "features": N_FEATURES, "first": STEEPNESS[0],
        "between": between[STEEPNESS[0]], "steep": between[best], "best": best, "conclusions": len(by_steepness[best]),
        "plain": held[STEEPNESS[0]], "most": held[best],
    }  # fmt: skip
    return Found(rows, tables, facts)
