"""Whether an audit keeps its two promises: ``python -m benchmarks.audit [--quick]``.

Familywise error: how often an audit of three sensitive features and all their crossings, by the standard metrics,
reports a false positive. *Nobody differs*: features mean nothing. *One feature matters*: predictions are harsher on one
sex; false are the findings by race, by age and by both. *Base rates differ*: labels depend on race and predictions on
the label alone; false are findings in rates within the true label, and in accuracy. *Small groups*: twenty of thirty
people beside a large one, and scores that are right on average and very skewed; nobody differs. Rates are exact, AUC
and calibration of scores are drawn until 20 resamples were as extreme, one adjustment runs over everything: Holm's,
with Shaffer's factors for pairs of groups.

Detectable size: the exact power of a comparison whose true disparity is the ``minimum_detectable`` that the audit
names as found with probability .8, which it finds from a faster sum than `power`: the two have to agree within .02.

Without ``--quick`` the figures are written to benchmarks/results/audit.json with the seed and versions.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common.results import write
from skfairtest import FairnessAudit, power
from skfairtest.inference.detectable import TwoRates, detectable_rates
from skfairtest.inference.rates import Question

SEED = 20261122
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "audit.json"

RACES, RACE_SHARES = ("a", "b", "c", "d"), (0.6, 0.2, 0.15, 0.05)
AGES = ("old", "middle", "young")
RATES_WITHIN_LABEL = {"true_positive_rate", "false_positive_rate", "accuracy"}
#: Design, people, what is predicted, and data sets.
FAMILIES = [
    ("nobody differs", 500, "labels", 120),
    ("nobody differs", 2000, "labels", 120),
    ("one feature matters", 1000, "labels", 120),
    ("base rates differ", 1000, "labels", 120),
    ("nobody differs", 500, "scores", 50),
    ("base rates differ", 1000, "scores", 50),
    ("small groups", 2600, "scores", 30),
]
#: People in each group, rate of the others, and how many comparisons Holm's level is divided by.
DETECTABLE = [
    (n, p, k) for k in (1, 20, 400) for n in ((50, 50), (30, 1000), (200, 200), (1000, 1000)) for p in (0.05, 0.3, 0.5)
]


def people(design, n, rng):
    """Features, labels, decisions and scores of n people."""
    if design == "small groups":
        small = [f"{i}" for i in range(20)]
        score = rng.beta(0.5, 5, n)
        y = (rng.random(n) < score).astype(int)
        race = np.r_[np.repeat(small, 30), ["large"] * (n - 600)]
        return {"race": race, "sex": rng.choice(["f", "m"], n)}, y, (score > 0.1).astype(int), score
    race = rng.choice(RACES, n, p=RACE_SHARES)
    sex, age = rng.choice(["f", "m"], n), rng.choice(AGES, n)
    base = np.where(race == "a", 0.6, 0.3) if design == "base rates differ" else 0.4
    y = (rng.random(n) < base).astype(int)
    shift = 1.0 * (sex == "f") if design == "one feature matters" else 0.0
    score = 1 / (1 + np.exp(0.6 - (1.2 * y + shift + rng.normal(size=n))))
    return {"race": race, "sex": sex, "age": age}, y, (score > 0.5).astype(int), score


def false_findings(design, results):
    """Return the findings that are false."""
    found = results[results["concern"]]
    if design == "one feature matters":
        return found[~found["feature"].str.contains("sex")]
    if design == "base rates differ":
        return found[found["metric"].isin(RATES_WITHIN_LABEL | {"roc_auc"})]
    return found


def audited(design, n, what, seed):
    """Return whether an audit of new people has a false positive, a true one, its size, and its adjustment."""
    rng = np.random.default_rng(seed)
    features, y, decided, score = people(design, n, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small groups
        audit = FairnessAudit.from_predictions(
            y,
            decided,
            y_score=score if what == "scores" else None,
            sensitive_features=features,
            n_resamples="adaptive",
            random_state=int(rng.integers(2**31)),
        )
    wrong = len(false_findings(design, audit.comparisons_))
    right = int(audit.comparisons_["concern"].sum()) > wrong
    return wrong > 0, right, len(audit.comparisons_), audit.record_.setup.adjust


def share(found):
    """A share of data sets and its Monte-Carlo error."""
    value = float(np.mean(found))
    return {
        "share": round(value, 4),
        "error": round(float(np.sqrt(value * (1 - value) / len(found))), 4),
        "data_sets": len(found),
    }


def family(design, n, what, data_sets, sequence):
    """Return how often audits of a design report a false positive."""
    seeds = sequence.spawn(data_sets)
    jobs = (delayed(audited)(design, n, what, seed) for seed in seeds)
    wrong, right, sizes, adjust = zip(*Parallel(n_jobs=-1)(jobs), strict=True)
    return {
        "design": design,
        "people": n,
        "predictions": what,
        "comparisons": round(float(np.mean(sizes))),
        "adjust": "+".join(sorted(set(adjust))),
        "false_concern": share(wrong),
        "true_concern": share(right),
    }


def detectable(n, p, k):
    """Return the exact power at the size that an audit calls detectable."""
    (size,) = detectable_rates([TwoRates(p, *n)], Question(), alpha=ALPHA / k, power=0.8)
    if np.isinf(size):
        return {"people": list(n), "rate": p, "comparisons": k, "size": None, "power": None}
    ways = [p1 for p1 in (p + size, p - size) if 0 <= p1 <= 1]
    reached = [power(metric="selection_rate", rates=(p1, p), n_per_group=n, alpha=ALPHA / k) for p1 in ways]
    return {
        "people": list(n), "rate": p, "comparisons": k, "size": round(float(size), 4), "power": round(min(reached), 4),
    }  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written: a few seconds")
    parser.add_argument(
        "--only", choices=("families", "detectable"), help="measure one part, and keep the other as it is stored"
    )
    options = parser.parse_args(argv)
    started = time.perf_counter()
    sequence = np.random.SeedSequence(SEED)
    results = {"families": [], "detectable": []}
    chosen = [FAMILIES[0], FAMILIES[4]] if options.quick else FAMILIES
    designs = DETECTABLE[:3] if options.quick else DETECTABLE
    if options.only == "detectable":
        chosen, results["families"] = [], json.loads(RESULTS.read_text())["families"]
    elif options.only == "families":
        designs, results["detectable"] = [], json.loads(RESULTS.read_text())["detectable"]
    print("How often an audit reports a false positive")
    for (design, n, what, data_sets), own in zip(chosen, sequence.spawn(len(chosen)), strict=True):
        cell = family(design, n, what, 2 if options.quick else data_sets, own)
        results["families"].append(cell)
        found = cell["false_concern"]
        print(
            f"  {design:<20} {n:>6,} people  {what:<6} {cell['comparisons']:>4} comparisons   "
            f"{found['share']:.3f} (error {found['error']:.3f})",
            flush=True,
        )
    print("Power at the size called detectable with power .8")
    for n, p, k in designs:
        cell = detectable(n, p, k)
        results["detectable"].append(cell)
        print(
            f"  {n[0]:>5} and {n[1]:>5} people, rate {p:.2f}, 1 of {k:>3}: size {cell['size']}, power {cell['power']}"
        )
    print(f"\n{time.perf_counter() - started:.0f} s.")
    failures = [
        f"{cell['design']}, {cell['predictions']}: {cell['false_concern']['share']}"
        for cell in results["families"]
        if cell["false_concern"]["share"]
        > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / cell["false_concern"]["data_sets"])
    ]
    failures += [
        f"{cell['people']}, rate {cell['rate']}, 1 of {cell['comparisons']}: power {cell['power']} where .8 is named"
        for cell in results["detectable"]
        if cell["power"] is not None and abs(cell["power"] - 0.8) > 0.02
    ]
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    if not options.quick:
        write(RESULTS, "familywise error and detectable sizes of audits; see benchmarks/audit.py", SEED,
              level=ALPHA, **results)  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
