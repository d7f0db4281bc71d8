"""How often an audit reports a false positive: ``python -m benchmarks.audit [--quick]``.

An audit of three sensitive features and all their crossings, by the standard metrics, is adjusted once. *Nobody
differs*: features mean nothing. *One feature matters*: predictions are harsher on one sex; false are the findings by
race, by age and by both. *Base rates differ*: labels depend on race and predictions on the label alone; false are
findings in rates within the true label, and in accuracy. *Small groups*: twenty of thirty people beside a large one,
and scores that are right on average and very skewed; nobody differs. Rates are exact, AUC and calibration of scores are
drawn until 20 resamples were as extreme, one adjustment runs over everything: Holm's, with Shaffer's factors for pairs
of groups.

Without ``--quick`` the figures are written to benchmarks/results/audit.json with the seed and versions.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common.results import write
from skfairtest import FairnessAudit

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


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written: a few seconds")
    options = parser.parse_args(argv)
    chosen = [FAMILIES[0], FAMILIES[4]] if options.quick else FAMILIES
    cells, failures = [], []
    for (design, n, what, data_sets), own in zip(chosen, np.random.SeedSequence(SEED).spawn(len(chosen)), strict=True):
        cells.append(family(design, n, what, 2 if options.quick else data_sets, own))
        print(cells[-1], flush=True)
        found = cells[-1]["false_concern"]
        if found["share"] > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / found["data_sets"]):
            failures.append(f"{design}, {what}: {found['share']}")
    print("\n".join(f"FAILED {failure}" for failure in failures), file=sys.stderr)
    if not options.quick:
        write(RESULTS, "familywise error of audits; see benchmarks/audit.py", SEED, level=ALPHA, families=cells)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
