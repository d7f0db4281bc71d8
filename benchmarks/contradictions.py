"""Does an interval say what its test says? ``python -m benchmarks.contradictions [--tables N] [--only KIND]``.

Random tables of every kind of test: sizes from 2 people on, values of groups that are alike or not, one family or many,
every alternative, with and without a margin. An interval contradicts its test if the null hypothesis is rejected and
has a disparity inside the interval (open at equality or a margin), or if it is not rejected and has none there. Of a
family the adjusted p-value decides; with ``adjust=None`` and a false-discovery rule, whose intervals are pointwise,
the p-value itself. Comparisons are counted until a kind has N of them, dear kinds a share of N. Stored in
benchmarks/results/contradictions.json.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import skfairtest as sf
from benchmarks.common.results import write

RESULTS = Path(__file__).parent / "results" / "contradictions.json"
WHAT = "p-values and intervals that contradict each other in random tables; see benchmarks/contradictions.py"
SEED, TABLES, ALPHA = 45, 10_000, 0.05
FAMILYWISE = ("auto", "holm", "bonferroni")


def groups_of(rng, most=12, largest=120):
    """Groups of 2 to some people, most of them small."""
    sizes = 2 + (largest * rng.random(rng.integers(2, most)) ** 3).astype(int)
    return np.repeat(np.arange(len(sizes)), sizes)


def chances(rng, group, spread=0.25):
    """The chance of each person to have an event: that of the group, or the same for all."""
    center, n = rng.random(), group.max() + 1
    return np.clip(center + spread * rng.normal(size=n) * (rng.random() < 0.7), 0.0, 1.0)[group]


def asked(rng, disparity="difference", margins=False):
    """Parameters of a family: its alternative, its adjustment, its margin."""
    alternative = rng.choice(["two-sided", "greater", "less"])
    params = {"alternative": alternative, "disparity": disparity, "random_state": 0}
    params["adjust"] = rng.choice(np.array([*FAMILYWISE, "fdr_bh", None], dtype=object))
    if margins:
        params["margin"] = rng.choice([0.02, 0.1, 0.2] if disparity == "difference" else [0.5, 0.8, 0.95])
        params["alternative"] = rng.choice(["two-sided", "greater", "less", "equivalence"])
    compare = rng.choice(["to_rest", "to_overall", "to_reference", "between_groups"])
    if compare == "between_groups" and alternative == params["alternative"] != "two-sided":
        compare = "to_rest"
    params |= {"compare": compare, "reference_group": 0} if compare == "to_reference" else {"compare": compare}
    return params


def judged(frame, params, equality=0.0, margin=None):
    """Count the comparisons with an interval, and those of which it contradicts the test."""
    alternative, adjust = params.get("alternative", "two-sided"), params.get("adjust", "auto")
    known = frame[frame["ci_low"].notna() & (frame["p_value_adjusted"] >= 0)]
    p, low, high = (known[name].to_numpy(dtype=float) for name in ("p_value", "ci_low", "ci_high"))
    p = known["p_value_adjusted"].to_numpy(dtype=float) if adjust in FAMILYWISE else p
    rejected = p <= ALPHA
    first, last = margin or (equality, equality)
    if alternative == "equivalence":
        wrong = ~rejected & (low > first) & (high < last)
        return len(known), int(wrong.sum())
    first = -np.inf if alternative == "greater" else first
    last = np.inf if alternative == "less" else last
    wrong = np.where(rejected, (low < last) & (high > first), (low > last) | (high < first))
    return len(known), int(wrong.sum())


def of_groups(metric, disparity="difference", *, margins=False, strata=False, **more):
    """Families of a rate."""

    def draw(rng):
        params = asked(rng, disparity, margins)
        group = groups_of(rng)
        y = (rng.random(len(group)) < chances(rng, group)).astype(int)
        columns = {"sensitive_features": group}
        if strata:
            columns["control_features"] = rng.integers(0, 3, len(group))
        truth = rng.permutation((np.arange(len(group)) % 3 > 0).astype(int))
        test = sf.FairnessTest.from_predictions(truth, y, metric=metric, **columns, **params, **more)
        bounds = None
        if margins:
            margin = params["margin"]
            bounds = (-margin, margin) if disparity == "difference" else (margin, 1 / margin)
        return judged(test.comparisons_, params, float(disparity != "difference"), bounds)

    return draw


def of_values(metric, disparity="difference", **more):
    """Families of a mean, or of an area."""

    def draw(rng):
        params = asked(rng, disparity)
        group = groups_of(rng, 5, 60)
        shift, spread = rng.normal(size=6)[group] * (rng.random() < 0.7), rng.gamma(2, size=6)[group]
        value = np.exp(rng.normal(size=len(group))) * spread + shift
        truth = np.r_[0, 1, rng.integers(0, 2, len(group) - 2)]
        value = value - value.min() + 0.1 if disparity == "ratio" else value + truth
        test = sf.FairnessTest.from_predictions(
            truth, value, sensitive_features=group, metric=metric, n_resamples=99, **params, **more
        )
        return judged(test.comparisons_, params, float(disparity != "difference"))

    return draw


def of_two_models(rng):
    """Families of changes of a rate."""
    params = {key: value for key, value in asked(rng).items() if key != "disparity"}
    group = groups_of(rng, 6)
    chance = chances(rng, group)
    first = (rng.random(len(group)) < chance).astype(int)
    second = np.where(rng.random(len(group)) < 0.3, (rng.random(len(group)) < chances(rng, group)).astype(int), first)
    test = sf.PairedFairnessTest.from_predictions(
        None, first, second, sensitive_features=group, metric="selection_rate", n_resamples=99, **params
    )
    return judged(test.comparisons_, params)


def of_streams(rng):
    """Every look at streams of two or three groups."""
    adjust, margin = rng.choice(np.array(["holm", None], dtype=object)), rng.choice([0.0, 0.05])
    n, rate = int(rng.integers(2, 4)), rng.random()
    rates = np.clip(rate + 0.2 * rng.normal(size=n) * (rng.random() < 0.8), 0.0, 1.0)
    test = sf.SequentialFairnessTest(metric="selection_rate", adjust=adjust, margin=margin)
    count = wrong = 0
    for _ in range(12):
        group = rng.integers(0, n, int(rng.integers(6, 120)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test.partial_fit(y_pred=(rng.random(len(group)) < rates[group]).astype(int), sensitive_features=group)
        params = {"adjust": "holm" if adjust == "holm" else None}
        found = judged(test.comparisons_, params, margin=(-margin, margin))
        count, wrong = count + found[0], wrong + found[1]
    return count, wrong


def of_correlations(rng):
    """Families of correlations."""
    params = {"alternative": rng.choice(["two-sided", "greater", "less"]), "random_state": 0}
    params["adjust"] = rng.choice(np.array(["holm", "fdr_bh", None], dtype=object))
    n, k = int(rng.integers(8, 80)), int(rng.integers(1, 6))
    x = rng.normal(size=(n, k)) ** rng.choice([1, 3])
    value = rng.normal(size=n) + 0.3 * x @ rng.normal(size=k)
    features = {f"x{i}": x[:, i] for i in range(k)}
    test = sf.CorrelationFairnessTest.from_predictions(
        None, value, sensitive_features=features, of="prediction", n_resamples=99, **params
    )
    return judged(test.comparisons_, params)


def of_covariates(rng):
    """Families of differences given a covariate."""
    n, k = int(rng.integers(60, 200)), int(rng.integers(2, 4))
    group, x = rng.integers(0, k, n), rng.normal(size=n)
    value = x + rng.normal(size=n) + 0.4 * rng.normal(size=k)[group] * (rng.random() < 0.7)
    test = sf.AdjustedFairnessTest.from_predictions(
        None, value, sensitive_features=group, covariates={"x": x + 0.5 * (group == 0)}, random_state=0
    )
    return judged(test.comparisons_, {})


def of_few_labels(rng):
    """Families of a rate of which few labels are known."""
    group = np.repeat(np.arange(int(rng.integers(2, 4))), int(rng.integers(60, 200)))
    truth = (rng.random(len(group)) < np.clip(chances(rng, group), 0.05, 0.95)).astype(int)
    judge = np.where(rng.random(len(group)) < 0.85, truth, 1 - truth)
    known = rng.random(len(group)) < 0.35
    test = sf.LabelledFairnessTest.from_predictions(
        np.where(known, truth, np.nan), np.ones(len(group)), sensitive_features=group, y_judge=judge,
        metric="precision", labelled="at_random",
    )  # fmt: skip
    return judged(test.comparisons_, {})


def of_unknown_groups(rng):
    """A rate of people of whose group probabilities are known."""
    n = int(rng.integers(60, 300))
    group = rng.random(n) < 0.5
    chance = np.clip(np.where(group, 0.9, 0.1) + 0.05 * rng.normal(size=n), 0.02, 0.98)
    gap = 0.4 * rng.random() * (rng.random() < 0.7)
    selected = (rng.random(n) < 0.2 + gap * group).astype(int)
    test = sf.UncertainGroupsTest.from_predictions(
        None, selected, sensitive_features={"a": chance, "b": 1 - chance}, metric="selection_rate", random_state=0,
        n_resamples=99,
    )  # fmt: skip
    return judged(test.comparisons_, {})


def of_scans(rng):
    """Subgroups that a scan reports."""
    n = int(rng.integers(60, 400))
    features = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 3, n)}
    y = (rng.random(n) < np.where(features["a"] == 0, rng.random(), 0.4)).astype(int)
    scan = sf.SubgroupScan.from_predictions(None, y, sensitive_features=features, metric="selection_rate")
    return judged(scan.comparisons_, {}) if len(scan.comparisons_) else (0, 0)


def of_impact(rng):
    """Impact ratios of categories."""
    group = groups_of(rng, 8)
    y = (rng.random(len(group)) < np.clip(chances(rng, group), 0.1, 0.9)).astype(int)
    table = sf.impact_table(y_pred=y, sensitive_features={"group": group.astype(str)})
    rows = table[~table["highest"].astype(bool)]
    return judged(rows, {}, 1.0)


#: What is drawn, and the share of the tables that are.
KINDS = {
    "difference of rates": (of_groups("selection_rate"), 1.0),
    "ratio of rates": (of_groups("selection_rate", "ratio"), 1.0),
    "odds ratio": (of_groups("selection_rate", "odds_ratio"), 1.0),
    "odds ratio, asymptotic": (of_groups("selection_rate", "odds_ratio", method="asymptotic"), 1.0),
    "several rates, asymptotic": (of_groups("equalized_odds", method="asymptotic"), 1.0),
    "F1": (of_groups("f1"), 1.0),
    "margin of a difference": (of_groups("selection_rate", margins=True), 1.0),
    "margin of a ratio": (of_groups("selection_rate", "ratio", margins=True), 1.0),
    "margin of an odds ratio": (of_groups("selection_rate", "odds_ratio", margins=True), 1.0),
    "strata, difference": (of_groups("selection_rate", strata=True), 1.0),
    "strata, ratio": (of_groups("selection_rate", "ratio", strata=True), 1.0),
    "strata, odds ratio": (of_groups("selection_rate", "odds_ratio", strata=True), 1.0),
    "permutation": (of_groups("selection_rate", method="permutation", n_resamples=99), 1.0),
    "diciccio": (of_groups("selection_rate", method="diciccio", n_resamples=99), 1.0),
    "bootstrap": (of_groups("selection_rate", method="bootstrap", n_resamples=99), 1.0),
    "mean": (of_values("mean_prediction"), 1.0),
    "ratio of means": (of_values("mean_prediction", "ratio"), 1.0),
    "mean, bootstrap": (of_values("mean_prediction", method="bootstrap"), 1.0),
    "area": (of_values("roc_auc"), 1.0),
    "two models": (of_two_models, 1.0),
    "stream": (of_streams, 1.0),
    "correlation": (of_correlations, 1.0),
    "covariates": (of_covariates, 0.02),
    "few labels": (of_few_labels, 0.1),
    "unknown groups": (of_unknown_groups, 0.1),
    "scan": (of_scans, 0.1),
    "impact": (of_impact, 1.0),
}


def counted(kind, tables):
    """Draw tables of a kind until there are so many comparisons."""
    draw, share = KINDS[kind]
    rng, count, wrong, families = np.random.default_rng([SEED, *kind.encode()]), 0, 0, 0
    refused = 0
    while count < share * tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = draw(rng)
            except ValueError:  # nothing to compare
                refused += 1
                if refused > 100 + families:
                    raise
                continue
        count, wrong, families = count + found[0], wrong + found[1], families + 1
    return {"kind": kind, "families": families, "comparisons": count, "contradictions": wrong}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=TABLES, help="comparisons of each kind")
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind, and nothing is written")
    given = parser.parse_args(arguments)
    rows = []
    for kind in [given.only] if given.only else KINDS:
        started = time.perf_counter()
        rows.append(counted(kind, given.tables))
        print(rows[-1], f"{time.perf_counter() - started:.1f} s", flush=True)
    if given.only is None and given.tables >= TABLES:
        write(RESULTS, WHAT, SEED, kinds=rows)
    return int(any(row["contradictions"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
