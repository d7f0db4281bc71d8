"""fairlearn's page "Common fairness metrics": its 18 people, its four numbers, and what 18 people can show."""

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
    """Return shares of Berkeley's applicants, and the odds ratio of women against men within six departments."""
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
    return {name: float(share) for name, share in shares.items()}, float(within.disparity_)


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
        try:
            least = minimum_detectable_disparity(
                metric="selection_rate", baseline=baseline, n_per_group=sizes, direction=direction
            )
        except ValueError:  # not even the largest one
            continue
        found.append(100 * abs(least))
    return min(found, default=None)


def run(*, quick):
    figures = {
        "demographic_parity_difference": largest_difference("demographic_parity"),
        "demographic_parity_ratio": smallest_ratio("demographic_parity"),
        "equalized_odds_difference": largest_difference("equalized_odds"),
        "equalized_odds_ratio": smallest_ratio("equalized_odds"),
    }
    rows = [Row(name, value, f"{name}/value") for name, value in figures.items()]
    rates, ratio = berkeley()
    shares = {name: tested(name, "difference").comparisons_ for name in ("demographic_parity", "equalized_odds")}
    odds = shares["equalized_odds"].groupby("metric")["disparity"].apply(lambda column: column.abs().max())
    rows += [
        said("Berkeley: men are admitted more often", rates["Male"] > rates["Female"], answers="berkeley.direction",
             why=" and ".join(f"{rate:.3f} ({sex})" for sex, rate in rates.items() if sex in ("Male", "Female"))),
        said("Berkeley: women apply to departments that admit fewer", rates["of women"] < rates["of men"],
             "mean admission rate of the departments applied to: {of women:.3f}, of men {of men:.3f}".format_map(rates),
             answers="berkeley.departments"),
        said("Berkeley: within departments women are admitted more often", ratio > 1,
             f"odds ratio within six departments {ratio:.2f}", answers="berkeley.reversal"),
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
