"""Does an interval say what its test says? ``python -m benchmarks.contradictions [--tables N] [--only KIND]``.

Random people of every kind of test: groups of 2 people on, values of groups that are alike or not, one family or many,
every alternative, with and without a margin. An interval contradicts its test if the null hypothesis is rejected and
has a disparity inside the interval (open at equality or a margin), or if it is not rejected and has none there; and
`confidence_interval_` has to be an interval of the comparisons. Of a family the adjusted p-value decides; with
``adjust=None`` and a false-discovery rule, whose intervals are pointwise, the p-value itself. Comparisons are counted
until each kind has N of them.

Intervals that are cut where the test says so miss the truth more often. How often is enumerated for two groups, over a
grid of rates, and simulated for families whose p-values are adjusted by Holm's method, where the limits have
Bonferroni's level: before and after the cut. Stored in benchmarks/results/contradictions.json.
"""

import argparse
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, LogisticRegression

import skfairtest as sf
from benchmarks.common.results import write
from skfairtest.inference.multiplicity import ADJUSTMENTS
from skfairtest.inference.rates import Question

RESULTS = Path(__file__).parent / "results" / "contradictions.json"
WHAT = "p-values and intervals that contradict each other, and coverage; see benchmarks/contradictions.py"
SEED, TABLES, ALPHA = 45, 10_000, 0.05
#: Sizes of two groups, and rates of both; sizes and rates of a reference and three groups.
SIZES, RATES = ((5, 5), (10, 40), (15, 30), (20, 20), (3, 60)), np.linspace(0.02, 0.98, 25)
FAMILY, DATA_SETS = (100, 30), 20_000
FAMILIES = ((0.3, 0.3, 0.3, 0.3), (0.3, 0.35, 0.4, 0.45), (0.3, 0.3, 0.3, 0.8), (0.3, 0.3, 0.8, 0.8))
FAMILYWISE = ("auto", "holm", "bonferroni", "shaffer")
SIDES = ("two-sided", "greater", "less")


def groups_of(rng, most=20, largest=20):
    """Groups of 2 to some people, most of them small."""
    sizes = 2 + (largest * rng.random(rng.integers(2, most + 1)) ** 2).astype(int)
    return np.repeat(np.arange(len(sizes)), sizes)


def chances(rng, group, spread=0.25):
    """The chance of each person to have an event: that of the group, or the same for all."""
    center, n = rng.random(), group.max() + 1
    return np.clip(center + spread * rng.normal(size=n) * (rng.random() < 0.7), 0.0, 1.0)[group]


def drawn(rng, chance):
    return (rng.random(len(chance)) < chance).astype(int)


def any_of(rng, *values):
    return values[rng.integers(len(values))]


def asked(rng, disparity="difference", margins=False):
    """Parameters of a family: its alternative, its adjustment, its margin."""
    params = {"disparity": disparity, "alternative": any_of(rng, *SIDES), "random_state": 0, "n_resamples": 99}
    params["adjust"] = any_of(rng, "auto", "holm", "bonferroni", "fdr_bh", None)
    if margins:
        ways = (0.02, 0.1, (-0.1, 0.3)) if disparity == "difference" else (0.5, 0.95, (0.8, 1.5))
        params |= {"margin": any_of(rng, *ways), "alternative": any_of(rng, *SIDES, "equivalence")}
    one_way = params["alternative"] in ("greater", "less")
    pairs = () if one_way else ("between_groups", "between_groups", "to_highest", "to_lowest")
    compare = any_of(rng, "to_rest", "to_overall", "to_reference", *pairs)
    return params | {"compare": compare, "reference_group": 0 if compare == "to_reference" else None}


def judged(test, params):
    """The number of comparisons with an interval, of those that are rejected, and of those that contradict the test."""
    frame = test if isinstance(test, pd.DataFrame) else test.comparisons_
    margin, alternative = params.get("margin"), params.get("alternative", "two-sided")
    if not isinstance(margin, tuple):
        ratio = params.get("disparity", "difference") != "difference"
        margin = (margin or 1, 1 / (margin or 1)) if ratio else (-(margin or 0), margin or 0)
    known = frame[frame["ci_low"].notna() & frame["p_value_adjusted"].notna()]
    low, high = (known[name].to_numpy(dtype=float) for name in ("ci_low", "ci_high"))
    decides = "p_value_adjusted" if params.get("adjust", "auto") in FAMILYWISE else "p_value"
    rejected = known[decides].to_numpy(dtype=float) <= ALPHA * (1 + 1e-12)
    if alternative == "equivalence":
        wrong = ~rejected & (low > margin[0]) & (high < margin[1])
    else:
        first = -np.inf if alternative == "greater" else margin[0]
        last = np.inf if alternative == "less" else margin[1]
        wrong = np.where(rejected, (low < last) & (high > first), (low > last) | (high < first))
    shown = getattr(test, "confidence_interval_", (np.nan, np.nan))
    missing = len(known) and not np.isnan(shown[0]) and not ((low == shown[0]) & (high == shown[1])).any()
    return np.array([len(known), rejected.sum(), wrong.sum() + missing])


def decisions(rng, group, truth):
    return drawn(rng, chances(rng, group))


def amounts(rng, group, truth):
    """Skewed numbers above 0, larger for people whose label is 1, of groups that are alike or not."""
    shift, spread = rng.normal(size=group.max() + 1) * (rng.random() < 0.7), rng.gamma(2, size=group.max() + 1)
    value = np.exp(rng.normal(size=len(group))) * spread[group] + shift[group] + truth
    return value - value.min() + 0.1


#: What may be known of each of n people.
STRATA, WEIGHTS, CLUSTERS = (
    lambda rng, n: {"control_features": rng.integers(0, 3, n)},
    lambda rng, n: {"sample_weight": rng.gamma(2, size=n)},
    lambda rng, n: {"clusters": rng.integers(0, max(2, n // 2), n)},
)


def of_groups(metric, disparity="difference", *, values=decisions, margins=False, more=None, most=20, **fixed):
    """Families of a metric."""

    def draw(rng):
        params, group = asked(rng, disparity, margins) | fixed, groups_of(rng, most)
        truth = rng.permutation((np.arange(len(group)) % 3 > 0).astype(int))
        columns = more(rng, len(group)) if more else {}
        test = sf.FairnessTest.from_predictions(
            truth, values(rng, group, truth), sensitive_features=group, metric=metric, **columns, **params
        )
        return judged(test, params)

    return draw


def agreement(y_true, y_pred):
    """A metric that the package does not know."""
    return float(np.mean(np.equal(y_true, y_pred)) ** 2)


def of_two_models(metric, *, fairer=False):
    """Families of changes of a rate or of a mean error."""

    def draw(rng):
        params = {key: value for key, value in asked(rng).items() if key != "disparity"}
        if fairer:
            params |= {"alternative": "fairer", "margin": any_of(rng, None, 0.1)}
        group = groups_of(rng)
        truth, first = rng.integers(0, 2, len(group)), drawn(rng, chances(rng, group))
        second = np.where(rng.random(len(group)) < 0.4, drawn(rng, chances(rng, group)), first)
        test = sf.PairedFairnessTest.from_predictions(
            truth, first, second, sensitive_features=group, metric=metric, **params
        )
        return judged(
            test, params | {"alternative": "less", "margin": (params["margin"] or 0.0,) * 2} if fairer else params
        )

    return draw


def of_streams(rng):
    """Every look at streams of several groups."""
    params = {"adjust": any_of(rng, "holm", None), "margin": any_of(rng, 0.0, 0.05)}
    n, rate = int(rng.integers(2, 7)), rng.random()
    rates = np.clip(rate + 0.2 * rng.normal(size=n) * (rng.random() < 0.8), 0.0, 1.0)
    test, count = sf.SequentialFairnessTest(metric="selection_rate", **params), np.zeros(3, dtype=int)
    for _ in range(12):
        group = rng.integers(0, n, int(rng.integers(6, 120)))
        test.partial_fit(y_pred=drawn(rng, rates[group]), sensitive_features=group)
        count += judged(test, params)
    return count


def of_audits(rng):
    """Whole audits of two features, whose comparisons are adjusted together."""
    params = {"adjust": any_of(rng, "auto", "holm", "fdr_bh", None), "margin": any_of(rng, None, 0.1)}
    group = groups_of(rng, 6, 60)
    sex = rng.integers(0, 2, len(group))
    audit = sf.FairnessAudit.from_predictions(
        rng.integers(0, 2, len(group)), drawn(rng, np.clip(chances(rng, group) + 0.1 * sex, 0, 1)), **params,
        sensitive_features={"group": group, "sex": sex}, random_state=0,
    )  # fmt: skip
    return judged(audit, params)


def of_correlations(rng):
    """Families of correlations."""
    params = {"alternative": any_of(rng, *SIDES), "adjust": any_of(rng, "holm", "fdr_bh", None)}
    n, k = int(rng.integers(8, 80)), int(rng.integers(1, 13))
    x = rng.normal(size=(n, k)) ** rng.choice([1, 3])
    test = sf.CorrelationFairnessTest.from_predictions(
        None, rng.normal(size=n) + 0.3 * x @ rng.normal(size=k), of="prediction", n_resamples=99, random_state=0,
        sensitive_features={f"x{i}": x[:, i] for i in range(k)}, **params,
    )  # fmt: skip
    return judged(test, params)


def of_covariates(rng):
    """Families of differences given a covariate."""
    n, k = int(rng.integers(100, 400)), int(rng.integers(2, 15))
    group, x = rng.integers(0, k, n), rng.normal(size=n)
    value = x + rng.normal(size=n) + 0.4 * rng.normal(size=k)[group] * (rng.random() < 0.7)
    test = sf.AdjustedFairnessTest.from_predictions(
        None, value, sensitive_features=group, covariates={"x": x + 0.5 * (group == 0)}, random_state=0,
        outcome_model=LinearRegression(), group_model=LogisticRegression(),
    )  # fmt: skip
    return judged(test, {})


def of_few_labels(rng):
    """Families of a rate of which few labels are known."""
    params = {"margin": any_of(rng, None, 0.1), "alternative": any_of(rng, *SIDES)}
    group = np.repeat(np.arange(int(rng.integers(2, 13))), int(rng.integers(60, 200)))
    truth = drawn(rng, np.clip(chances(rng, group), 0.05, 0.95))
    judge = np.where(rng.random(len(group)) < 0.85, truth, 1 - truth)
    test = sf.LabelledFairnessTest.from_predictions(
        np.where(rng.random(len(group)) < 0.35, truth, np.nan), np.ones(len(group)), sensitive_features=group,
        y_judge=judge, metric="precision", labelled="at_random", compare="to_rest", **params,
    )  # fmt: skip
    return judged(test, params)


def of_unknown_groups(rng):
    """Rates of people of whose group probabilities are known."""
    params = asked(rng, "difference", bool(rng.random() < 0.5))
    n, k = int(rng.integers(60, 300)), int(rng.integers(2, 11))
    chance = rng.dirichlet(np.full(k, 0.2), n)
    selected = drawn(rng, np.clip(0.2 + chance @ (0.4 * rng.random(k)) * (rng.random() < 0.7), 0, 1))
    params["reference_group"] = "0" if params["compare"] == "to_reference" else None
    test = sf.UncertainGroupsTest.from_predictions(
        None, selected, sensitive_features={str(i): chance[:, i] for i in range(k)}, metric="selection_rate", **params
    )
    return judged(test, params)


def of_scans(rng):
    """Subgroups that a scan reports."""
    n, params = int(rng.integers(100, 400)), {"alternative": any_of(rng, *SIDES)}
    features = {name: rng.integers(0, 4, n) for name in "ab"}
    y = drawn(rng, rng.random(4)[features["a"]])
    scan = sf.SubgroupScan.from_predictions(
        None, y, sensitive_features=features, metric="selection_rate", min_group_size=5, n_resamples=99, **params
    )
    return judged(scan, params) if len(scan.comparisons_) else np.zeros(3, dtype=int)


def of_impact(rng):
    """Impact ratios of categories."""
    group = groups_of(rng, 40, 40)
    table = sf.impact_table(y_pred=drawn(rng, chances(rng, group)), sensitive_features={"group": group.astype(str)})
    return judged(table[~table["highest"].astype(bool)], {"disparity": "ratio"})


rates = partial(of_groups, "selection_rate")
#: What is drawn.
KINDS = {
    "difference of rates": rates(),
    "ratio of rates": rates("ratio"),
    "odds ratio": rates("odds_ratio"),
    "odds ratio, asymptotic": rates("odds_ratio", method="asymptotic"),
    "several rates": of_groups("equalized_odds"),
    "several rates, asymptotic": of_groups("equalized_odds", method="asymptotic"),
    "F1": of_groups("f1"),
    "margin of a difference": rates(margins=True),
    "margin of a ratio": rates("ratio", margins=True),
    "margin of an odds ratio": rates("odds_ratio", margins=True),
    "margin, asymptotic": rates(margins=True, method="asymptotic"),
    "strata, difference": rates(more=STRATA),
    "strata, ratio": rates("ratio", more=STRATA),
    "strata, odds ratio": rates("odds_ratio", more=STRATA),
    "strata, margin": rates(margins=True, more=STRATA),
    "weights": rates(more=WEIGHTS),
    "weights, margin of a ratio": rates("ratio", more=WEIGHTS, margins=True),
    "clusters": rates(more=CLUSTERS),
    "permutation": rates(method="permutation"),
    "diciccio": rates(method="diciccio"),
    "bootstrap": rates(method="bootstrap"),
    "bootstrap, margin of a ratio": rates("ratio", method="bootstrap", margins=True),
    "a function": of_groups(agreement),
    "Matthews' correlation": of_groups("matthews_corrcoef"),
    "mean": of_groups("mean_prediction", values=amounts),
    "ratio of means": of_groups("mean_prediction", "ratio", values=amounts),
    "mean, bootstrap": of_groups("mean_prediction", values=amounts, method="bootstrap"),
    "area": of_groups("roc_auc", values=amounts),
    "average precision": of_groups("average_precision", values=amounts),
    "two models": of_two_models("selection_rate"),
    "two models, fairer": of_two_models("accuracy", fairer=True),
    "stream": of_streams,
    "audit": of_audits,
    "correlation": of_correlations,
    "covariates": of_covariates,
    "few labels": of_few_labels,
    "unknown groups": of_unknown_groups,
    "scan": of_scans,
    "impact": of_impact,
}


def counted(kind, comparisons):
    """Draw families of a kind until there are so many comparisons."""
    rng, count, families, refused = np.random.default_rng([SEED, *kind.encode()]), np.zeros(3, dtype=int), 0, 0
    while count[0] < comparisons:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                count, families = count + KINDS[kind](rng), families + 1
            except ValueError:  # nothing to compare, or not in this way
                refused += 1
                if refused > 100 + 2 * families:
                    raise
    names = ("comparisons", "rejected", "contradictions")
    return {"kind": kind, "families": families, **dict(zip(names, count.tolist(), strict=True))}


def tables_of(n, m, alpha):
    """P-value, limits that are not cut, and difference of every table of m and of n people, (n + 1, m + 1, 4)."""
    group, out = np.repeat([f"{events:03}" for events in range(m + 2)], [*[m] * (m + 1), n]), []
    with mock.patch.object(Question, "consistent_limits", lambda self, limits, *_, **__: limits):
        for events in range(n + 1):
            y = np.append(np.tri(m + 1, m, -1).ravel(), np.arange(n) < events)
            test = sf.FairnessTest.from_predictions(
                None, y, sensitive_features=group, metric="selection_rate", reference_group=f"{m + 1:03}", adjust=None,
                confidence_level=1 - alpha,
            )  # fmt: skip
            out.append(test.comparisons_[["p_value", "ci_low", "ci_high", "disparity"]].to_numpy(dtype=float))
    return np.array(out)


def missed(tables, rejected, truth):
    """Which intervals do not contain the true differences, before and after they are cut."""
    rows = zip(tables[..., 1:].reshape(-1, 3).tolist(), rejected.ravel().tolist(), strict=True)
    cut = [Question().consistent_limits((low, high), d, (-1.0, 1.0), rejected=sure) for (low, high, d), sure in rows]
    both = tables[..., 1:3], np.reshape(cut, (*rejected.shape, 2))
    out = np.array([(limits[..., 0] > truth) | (limits[..., 1] < truth) for limits in both])
    out[1] |= rejected & (np.asarray(truth) == 0)  # open at equality
    return out


def coverage_of_two(n, m):
    """The smallest coverage of two groups over a grid of rates, and by how much it falls where it falls most."""
    tables, found = tables_of(n, m, ALPHA), []
    rejected = tables[..., 0] <= ALPHA * (1 + 1e-12)
    for first, second in product(RATES, repeat=2):
        chance = np.outer(binom.pmf(np.arange(n + 1), n, first), binom.pmf(np.arange(m + 1), m, second))
        found.append(1 - (chance * missed(tables, rejected, round(second - first, 9))).sum(axis=(1, 2)))
    before, after = np.array(found).T
    shares = {"before": before.min(), "after": after.min(), "falls_by": (before - after).max()}
    return {"people": [n, m], **{name: round(float(share), 4) for name, share in shares.items()}}


def coverage_of_families(rng):
    """Coverage of all three differences to a reference together, at Bonferroni's level with tests by Holm's."""
    (n, m), out = FAMILY, []
    tables = tables_of(n, m, ALPHA / 3)
    for first, *others in FAMILIES:
        drawn = tables[rng.binomial(n, first, (DATA_SETS, 1)), rng.binomial(m, others, (DATA_SETS, 3))]
        rejected = np.apply_along_axis(ADJUSTMENTS["holm"], 1, np.log(drawn[..., 0])) <= np.log(ALPHA) + 1e-12
        before, after = 1 - missed(drawn, rejected, np.round(others, 9) - first).any(axis=2).mean(axis=1)
        shares = {"before": before, "after": after, "error": np.sqrt(after * (1 - after) / DATA_SETS)}
        found = {name: round(float(share), 4) for name, share in shares.items()}
        out.append({"people": [n, m, m, m], "rates": [first, *others], **found})
    return out


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=TABLES, help="comparisons of each kind")
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind, and nothing is written")
    given = parser.parse_args(arguments)
    rows = []
    jobs = (delayed(counted)(kind, given.tables) for kind in ([given.only] if given.only else KINDS))
    for row in Parallel(n_jobs=-1, return_as="generator")(jobs):
        print(row, flush=True)
        rows.append(row)
    if given.only is None and given.tables >= TABLES:
        coverage = {"two_groups": [coverage_of_two(*sizes) for sizes in SIZES]}
        coverage["families"] = coverage_of_families(np.random.default_rng(SEED))
        write(RESULTS, WHAT, SEED, ("scikit-learn", "fairlearn"), kinds=rows, coverage=coverage)
    return int(any(row["contradictions"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
