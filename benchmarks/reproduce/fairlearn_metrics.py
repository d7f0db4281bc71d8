"""fairlearn's page "Common fairness metrics": its 18 people, its four numbers, and what 18 people can show."""

import numpy as np

from benchmarks.reproduce._rows import Found, Row
from skfairtest import FairnessTest, minimum_detectable_disparity

TITLE = "fairlearn: common fairness metrics"
SEED = 0
INTRODUCTION = """\
The [user guide of fairlearn](https://fairlearn.org/main/user_guide/assessment/common_fairness_metrics.html) explains
demographic parity and equalized odds by {people} people in three groups, and computes four numbers. All of them come
out here, as the largest or smallest of the pairwise disparities. None of them says more than chance would: the
smallest p-value of a pair is {smallest_p:.2g}, that of the largest possible disparity there is, and each interval
contains equality. The page is right to recommend statistics for small groups: {detected} of these comparisons had an
80 % chance of detecting a disparity, however large."""
TABLES = {
    "What these people can show": """\
Every pair of groups. The interval has 95 % confidence for all pairs of its row's metric together. Detectable is the
smallest disparity of that pair, in either direction, that its test has an 80 % chance of detecting; "none" means that
not even the largest possible one."""
}

Y_TRUE = [0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1]
Y_PRED = [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0]
GROUP = [*"bbabbcccaacabccbcc"]


def tested(metric, disparity):
    return FairnessTest.from_predictions(
        Y_TRUE, Y_PRED, sensitive_features=GROUP, metric=metric, disparity=disparity, random_state=SEED
    )


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
    rows = [
        Row("demographic_parity_difference", 0.25, largest_difference("demographic_parity"), 1e-12),
        Row("demographic_parity_ratio", 0.66666, smallest_ratio("demographic_parity"), 1e-5, "its digits are cut"),
        Row("equalized_odds_difference", 1.0, largest_difference("equalized_odds"), 1e-12),
        Row("equalized_odds_ratio", 0.0, smallest_ratio("equalized_odds"), 1e-12),
    ]
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
