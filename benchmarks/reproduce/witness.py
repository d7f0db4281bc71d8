"""R as an independent cross-check: p-values, estimates and intervals of its functions beside ours.

R is not needed: what it said is stored with its version in tests/golden/r.json, which witness.R writes.
"""

import json
from pathlib import Path

import numpy as np
from scipy.stats import nchypergeom_fisher

from benchmarks.reproduce._rows import Found, Row
from skfairtest import FairnessTest

TITLE = "R: an independent cross-check"
SOURCE = ""
SEED = None
INTRODUCTION = """\
R's functions for two rates, for strata and for the same people judged twice have been read by statisticians for
decades. What they say ({source}) is stored, and this page compares it with this package on {tables} tables of two
groups, and on the departments of Berkeley, all six and without the first. R's packages for Boschloo's test were not at
hand; for that test [the page of validity](../validity.md) has the agreement with SciPy."""
TABLES = {}
WHY = {
    "fisher.test, odds ratio": "R's search for the root stops at a tolerance of about 1e-4",
    "fisher.test, 95% interval": "the same tolerance, in the reciprocal of a large odds ratio",
    "epi.2by2, Breslow-Day statistic": "ours has Tarone's correction",
    "homogeneity": "ours is Zelen's test by sampled tables, not the chi-squared distribution of large strata",
    "tails": "at a limit of the interval the exact tail is half of 5%: the smaller distance is the better limit",
}
GOLDEN = Path(__file__).parents[2] / "tests/golden/r.json"
#: How far two numbers may be apart of which both are exact, relative to the larger; an estimate and limits that R finds
#: up to a tolerance of about 1e-4 in the odds ratio or its reciprocal.
EXACT, ESTIMATE, LIMIT = 1e-9, 5e-4, 1e-2


def people_of(strata):
    """Return predictions, groups and strata of tables (events and people of the first group, then of the second)."""
    label, group, stratum = [], [], []
    for name, (events, people, others, more) in enumerate(strata):
        label += [1] * events + [0] * (people - events) + [1] * others + [0] * (more - others)
        group += ["first"] * people + ["second"] * more
        stratum += [name] * (people + more)
    return label, group, stratum


def odds_test(strata, **params):
    """Test the odds ratio of the first group against the second."""
    label, group, stratum = people_of(strata)
    columns = {"sensitive_features": group, **({"control_features": stratum} if len(strata) > 1 else {})}
    return FairnessTest.from_predictions(
        None, label, metric="selection_rate", disparity="odds_ratio", adjust=None, **columns, **params
    )


def distance(ours, theirs):
    """Return how far numbers are apart, relative to the larger; 0 for two that are infinite or zero alike."""
    ours, theirs = np.atleast_1d(ours).astype(float), np.atleast_1d(np.asarray(theirs, dtype=float))
    same = ours == theirs
    larger = np.where(same, 1.0, np.maximum(np.abs(ours), np.abs(theirs)))
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0.0, np.abs(ours - theirs) / larger)))


def largest(pairs):
    return max(distance(ours, theirs) for ours, theirs in pairs)


def cut(theirs, ours):
    """R's limits, which go beyond 1 where Fisher's test rejects and ours end at 1."""
    return [1.0 if limit == 1 else float(other) for other, limit in zip(theirs, ours, strict=True)]


def off(interval, table):
    """Return how far the exact tails at the limits of an odds ratio are from half of 5%."""
    events, people, others, more = table
    low, high = interval
    low, high = (low if low != 1 else 0.0), (high if high != 1 else np.inf)  # ours end at 1 where Fisher's test rejects
    given = (people + more, people, events + others)
    tails = [nchypergeom_fisher.sf(events - 1, *given, low)] if low > 0 else []
    tails += [nchypergeom_fisher.cdf(events, *given, high)] if np.isfinite(high) else []
    return float(max(abs(np.array(tails) - 0.025)))


def run(*, quick):
    said = json.loads(GOLDEN.read_text())
    two = [(odds_test([each["table"]]), each) for each in said["rates"]]
    less = [(odds_test([each["table"]], alternative="less"), each) for each in said["rates"]]
    greater = [(odds_test([each["table"]], alternative="greater"), each) for each in said["rates"]]
    many = [(odds_test(each["strata"]), each) for each in said["strata"]]
    compared = {
        "fisher.test, p-value": ([(t.p_value_, r["p_value"]) for t, r in two], EXACT),
        "fisher.test, alternative less": ([(t.p_value_, r["p_less"]) for t, r in less], EXACT),
        "fisher.test, alternative greater": ([(t.p_value_, r["p_greater"]) for t, r in greater], EXACT),
        "fisher.test, odds ratio": ([(t.disparity_, r["odds_ratio"]) for t, r in two], ESTIMATE),
        "fisher.test, 95% interval": (
            [(t.confidence_interval_, cut(r["odds_ratio_interval"], t.confidence_interval_)) for t, r in two], LIMIT,
        ),
        "prop.test, Wilson interval": (
            [(t.by_group_.loc["first", ["ci_low", "ci_high"]], r["wilson"]) for t, r in two], EXACT,
        ),
        "mantelhaen.test, exact p-value": ([(t.p_value_, r["p_value"]) for t, r in many], EXACT),
        "mantelhaen.test, odds ratio": ([(t.disparity_, r["mantel_haenszel"]) for t, r in many], EXACT),
        "epi.2by2, Breslow-Day statistic": (
            [(t.homogeneity_["statistic"].iloc[0], r["breslow_day"]) for t, r in many], 1e-5,
        ),
        "mantelhaen.test, 95% interval": ([(t.confidence_interval_, r["interval"]) for t, r in many], EXACT),
    }  # fmt: skip
    limits = [(t.confidence_interval_, [float(x) for x in r["odds_ratio_interval"]], r["table"]) for t, r in two]
    ours, theirs = (max(off(pair[which], pair[2]) for pair in limits) for which in (0, 1))
    rows = [
        Row(f"{name}: largest relative distance of {len(pairs)}", largest(pairs), other=0.0, within=within,
            why=WHY.get(name, ""))
        for name, (pairs, within) in compared.items()
    ]  # fmt: skip
    for t, r in many:
        what = f"epi.2by2, Breslow-Day p-value of {len(r['strata'])} departments"
        p = float(t.homogeneity_["p_value"].iloc[0])
        rows.append(Row(what, p, other=r["breslow_day_p"], why=WHY["homogeneity"]))
    rows.append(Row("a tail at a limit, largest distance from .025", ours, other=theirs, why=WHY["tails"]))
    return Found(rows, facts={"source": said["source"].split(";")[0], "tables": len(two)})
