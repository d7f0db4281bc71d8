"""fairlearn's page "Common fairness metrics": its 18 people, its four numbers, and what 18 people can show."""

from contextlib import suppress

import numpy as np
import pandas as pd

from benchmarks.reproduce._rows import Found, Row, said
from skfairtest import FairnessTest, minimum_detectable_disparity
from skfairtest.datasets import load_berkeley

TITLE = "fairlearn: common fairness metrics"
SOURCE = "fairlearn"
SEED = 0
INTRODUCTION = """\
The [user guide of fairlearn](https://fairlearn.org/main/user_guide/assessment/common_fairness_metrics.html) explains
demographic parity and equalized odds by {people} people in three groups, and computes four numbers, which are the
largest or smallest of the pairwise disparities here. None of them says more than chance would: the
smallest p-value of a pair is {smallest_p:.2g}, that of the largest possible disparity there is, and each interval
contains equality. The page is right to recommend statistics for small groups: {detected} of these comparisons had an
80% chance of detecting a disparity, however large."""
TABLES = {
    "What these people can show": """\
Every pair of groups. The interval has 95% confidence for all pairs of its row's metric together. Detectable is the
smallest disparity of that pair, in either direction, that its test has an 80% chance of detecting; "none" means that
not even the largest possible one."""
}

Y_TRUE = [0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1]
Y_PRED = [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0]
GROUP = [*"bbabbcccaacabccbcc"]


def tested(metric, disparity):
    return FairnessTest.from_predictions(
        Y_TRUE, Y_PRED, sensitive_features=GROUP, metric=metric, disparity=disparity, random_state=SEED
    )


def berkeley():
    """Return shares of Berkeley's applicants, and the test of the odds ratio of women within six departments."""
    data = load_berkeley()
    sex, department = data.sensitive_features["sex"], data.control_features["department"]
    admitted = pd.Series(data.y_pred)
    rate = admitted.groupby(department).transform("mean")  # of the department that somebody applied to
    shares = {
        **admitted.groupby(sex).mean(),
        "of women": rate[sex == "Female"].mean(),
        "of men": rate[sex == "Male"].mean(),
    }
    within = FairnessTest.from_predictions(
        None, data.y_pred, sensitive_features=sex, control_features=department, metric="selection_rate",
        disparity="odds_ratio", compare="to_reference", reference_group="Male", random_state=SEED,
    )  # fmt: skip
    return {name: float(share) for name, share in shares.items()}, within


def of_counts(**groups):
    """Return differences of the metrics of two groups of (true, predicted) people."""
    people = [(name, *pair) for name, pairs in groups.items() for pair in pairs]
    sex, y_true, y_pred = zip(*people, strict=True)
    tests = {
        metric: FairnessTest.from_predictions(y_true, y_pred, sensitive_features=sex, metric=metric).comparisons_
        for metric in ("demographic_parity", "equalized_odds", "true_positive_rate", "false_positive_rate")
    }
    found = {metric: float(rows["disparity"].abs().max()) for metric, rows in tests.items()}
    rates = tests["demographic_parity"].iloc[0]
    return found | {"ratio": float(rates["value_group"] / rates["value_other"])}


#: Groups with other base rates that are all predicted right; as many selected of both, the wrong ones of one; and as
#: many of the positives, with false positives in one.
RIGHT = of_counts(a=[(1, 1)] * 74 + [(0, 0)] * 26, b=[(1, 1)] * 26 + [(0, 0)] * 74)
ALIKE = of_counts(a=[(1, 1)] * 50 + [(0, 0)] * 50, b=[(1, 0)] * 25 + [(1, 1)] * 25 + [(0, 1)] * 25 + [(0, 0)] * 25)
POSITIVES = of_counts(a=[(1, 1)] * 50 + [(0, 0)] * 50, b=[(1, 1)] * 50 + [(0, 1)] * 25 + [(0, 0)] * 25)


def of_scores(a, b):
    """The largest difference of two groups' distributions of 200 scores each, and its p-value."""
    scores, group = np.tile([a, b], 200 // len(a)).ravel(), np.repeat(["a", "b"], 200)
    test = FairnessTest.from_predictions(
        scores, scores, sensitive_features=group, metric="distribution", random_state=SEED
    )
    return abs(test.disparity_), test.p_value_


def failing(n_groups, people):
    """Return how often the largest difference of equal rates of one half is .2 or more in so many groups."""
    rates = np.random.default_rng(SEED).binomial(people, 0.5, (10_000, n_groups)) / people
    return float((np.ptp(rates, axis=1) >= 0.2 - 1e-9).mean())


def largest_difference(metric):
    return float(tested(metric, "difference").comparisons_["disparity"].abs().max())


def smallest_ratio(metric):
    """The smaller rate over the larger one, of the pair where this is smallest."""
    ratios = tested(metric, "ratio").comparisons_["disparity"].to_numpy()
    with np.errstate(divide="ignore"):
        return float(np.minimum(ratios, 1 / ratios).min())


def counts(test):
    """Return how many people each rate of each group rests on."""
    groups = test.by_group_.reset_index()
    if "metric" not in groups:
        groups["metric"] = test.comparisons_["metric"].iloc[0]
    return groups.set_index(["metric", "sensitive_feature_0"])["n_effective"]


def detectable(baseline, sizes):
    """Return the smallest difference in points that so many people could detect in one direction, or None."""
    found = []
    for direction in ("up", "down"):
        how = {"metric": "selection_rate", "baseline": baseline, "n_per_group": sizes, "direction": direction}
        with suppress(ValueError):  # not even the largest one
            found.append(100 * abs(minimum_detectable_disparity(**how)))
    return min(found, default=None)


def run(*, quick):
    figures = {
        "demographic_parity_difference": largest_difference("demographic_parity"),
        "demographic_parity_ratio": smallest_ratio("demographic_parity"),
        "equalized_odds_difference": largest_difference("equalized_odds"),
        "equalized_odds_ratio": smallest_ratio("equalized_odds"),
    }
    rows = [Row(name, value, f"{name}/value") for name, value in figures.items()]
    rates, within = berkeley()
    (low, high), chance = within.confidence_interval_, [(2, 400), (4, 200), (8, 100)]
    fails = [failing(*each) for each in chance]
    shares = {name: tested(name, "difference").comparisons_ for name in ("demographic_parity", "equalized_odds")}
    odds = shares["equalized_odds"].groupby("metric")["disparity"].apply(lambda column: column.abs().max())
    (same, _), (spread, p) = of_scores([0, 1, 2, 3], [3, 2, 1, 0]), of_scores([0, 3, 0, 3], [1, 2, 1, 2])
    # Of a 3 of 4 choose the level that selects nine of ten people, of b 1 of 4; the other selects one of ten.
    group, level = np.repeat(["a", "b"], 80), np.repeat([1, 0, 1, 0], [60, 20, 20, 60])
    selected = np.repeat([1, 0] * 4, [54, 6, 2, 18, 18, 2, 6, 54])
    whole, inside = (
        FairnessTest.from_predictions(
            None, selected, sensitive_features=group, control_features=control, metric="selection_rate"
        ).disparity_
        for control in (None, level)
    )
    rows += [
        said("Scores with the same distribution, and with the same mean and another spread", same == 0 < spread,
             f"largest difference of the same distributions {same:.2f}, of others with the same mean {spread:.2f} "
             f"(p = {p:.2g})", answers="parity.regression"),
        said("Parity within the levels of a feature and not in all", abs(inside) < 1e-12 < abs(whole),
             f"difference {abs(whole):.2f} in the aggregate and {abs(inside):.2f} within two levels",
             answers="parity.conditional"),
        said("Berkeley: men are admitted more often", rates["Male"] > rates["Female"], answers="berkeley.direction",
             why=" and ".join(f"{rate:.3f} ({sex})" for sex, rate in rates.items() if sex in ("Male", "Female"))),
        said("Berkeley: women apply to departments that admit fewer", rates["of women"] < rates["of men"],
             "mean admission rate of the departments applied to: {of women:.3f}, of men {of men:.3f}".format_map(rates),
             answers="berkeley.departments"),
        said("Berkeley: within departments women are admitted more often", within.disparity_ > 1,
             f"odds ratio within six departments {within.disparity_:.3f} ({low:.2f} to {high:.2f}), p = "
             f"{within.p_value_:.3f}: no more than chance", answers="berkeley.reversal"),
        said("Equal groups that differ by .2 or more", fails == sorted(fails), ", ".join(
            f"{n} groups of {people}: {share:.3f}" for (n, people), share in zip(chance, fails, strict=True)
        ), answers="multiple"),
        said("Equal selection rates have a difference of 0", ALIKE["demographic_parity"] == 0, answers="parity.zero"),
        said("and a ratio of 1", ALIKE["ratio"] == 1, answers="parity.one"),
        said("Equalized odds imply demographic parity", RIGHT["demographic_parity"] == 0,
             "right predictions of groups with base rates .74 and .26: equalized odds "
             f"{RIGHT['equalized_odds']:.2f}, parity {RIGHT['demographic_parity']:.2f}", answers="odds.stricter"),
        said("Demographic parity without equalized odds", ALIKE["demographic_parity"] == 0 < ALIKE["equalized_odds"],
             f"parity {ALIKE['demographic_parity']:.2f}, equalized odds "
             f"{ALIKE['equalized_odds']:.2f}", answers="odds.parity"),
        said("Equal opportunity without equal false positive rates",
             POSITIVES["true_positive_rate"] == 0 < POSITIVES["false_positive_rate"],
             f"false positive rates {POSITIVES['false_positive_rate']:.2f} apart", answers="opportunity.costs"),
        said("The equalized odds difference is the larger of the two rates' differences",
             figures["equalized_odds_difference"] == odds.max(),
             " and ".join(f"{value:.3f}" for value in odds), answers="odds.larger"),
    ]  # fmt: skip
    pairs, reached, smallest = [], [], 1.0
    for metric in ("demographic_parity", "equalized_odds"):
        test = tested(metric, "difference")
        smallest = min(smallest, float(test.comparisons_["p_value"].min()))
        n = counts(test)
        for _, row in test.comparisons_.iterrows():
            sizes = tuple(int(n[row["metric"], row[side]]) for side in ("group", "other"))
            least = detectable(row["value_other"], sizes)
            reached += [] if least is None else [least]
            pairs.append([
                row["metric"], f"{row['group']} against {row['other']}", "{} and {}".format(*sizes),
                f"{100 * row['disparity']:.1f}", f"{100 * row['ci_low']:.0f} to {100 * row['ci_high']:.0f}",
                f"{row['p_value']:.3f}", f"{row['p_value_adjusted']:.3f}", "none" if least is None else f"{least:.0f}",
            ])  # fmt: skip
    head = ["metric", "pair", "people", "difference (points)", "interval", "p", "adjusted p", "detectable (points)"]
    facts = {"people": len(Y_TRUE), "smallest_p": smallest, "detected": len(reached) or "none"}
    return Found(rows, {"What these people can show": (head, pairs)}, facts)
