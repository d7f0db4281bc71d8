"""How often a scan finds a planted subgroup, and one that is not there: ``python -m benchmarks.scan [--quick]``.

People are those of Adult; predictions are those of a logistic regression fitted on every second of them.

- Planted: 300 decisions of a random subgroup of two features are turned around, once where the model's errors are
  otherwise permuted over all people, once in the predictions as they are. Found: the description itself is reported.
- Global null hypothesis: (y_true, y_pred) permuted over all people. Counted: runs that report any subgroup.
- Partial null hypotheses. "explained": permuted within each sex, so that nothing differs given sex; counted are runs
  that report anything beside sex. "strata": the same with sex as control feature; counted are runs that report
  anything. "true ones": simulated people with independent features, the first of which changes the rate; counted are
  runs that reject a hypothesis about a subgroup of the others, all of which are true. "contexts": permuted within each
  occupation and compared in this context.
- Means: log losses and skewed values permuted over all people, whose tests are Welch's.
- Discreteness: significant subgroups with Tarone's adjustment and with Holm's, where few people meet the condition.
- Seconds of a processor for more than 100,000 subgroups.

Without ``--quick`` figures are written to benchmarks/results/scan.json with the seed and versions.
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.common.bounds import Promise
from benchmarks.common.command import command
from benchmarks.make_compas_counts import data_folder
from skfairtest import SubgroupScan
from skfairtest.inference.multiplicity import holm

SEED = 20261124
#: Decisions that are turned in a planted subgroup.
FLIPPED = 300
RESULTS = Path(__file__).parent / "results" / "scan.json"
FEATURES = [
    "age", "workclass", "education_num", "marital_status", "occupation", "relationship", "race", "sex",
    "hours_per_week",
]  # fmt: skip
#: Runs, of planted subgroups and of null hypotheses.
PLANTED, NULL = 50, 400
LEVEL = 0.05
#: Scans in `benchmarks.validity --quick`.
QUICK = 100


class Adult:
    """The people, and a model's predictions of them."""

    def __init__(self):
        records = pd.read_csv(data_folder() / "adult.csv.gz").fillna("unknown")
        self.records, self.features = records, records[FEATURES]
        self.y = (records["income"] == ">50K").to_numpy().astype(int)
        X = pd.get_dummies(self.features).astype(float)
        X = (X - X.mean()) / X.std()
        model = LogisticRegression(max_iter=500).fit(X[::2], self.y[::2])
        self.predicted, self.score = model.predict(X), model.predict_proba(X)[:, 1]

    def __len__(self):
        return len(self.y)


def scan(y_true, y_pred, people, **params):
    return SubgroupScan.from_predictions(y_true, y_pred, sensitive_features=people, **params)


def planted(adult, runs, rng, *, permuted):
    """Return how often the subgroup of flipped decisions is reported, and how many others on average."""
    found, others, names = 0, 0, scan(adult.y, adult.predicted, adult.features, metric="zero_one_loss").subgroups_
    names = names[(names["depth"] == 2) & names["n_group"].between(300, 1500)].sort_values("subgroup")
    cut = {}
    for _ in range(runs):
        name = names["subgroup"].iloc[int(rng.integers(len(names)))]
        order = rng.permutation(len(adult)) if permuted else np.arange(len(adult))
        y_true, y_pred = adult.y[order], adult.predicted[order].copy()
        inside = np.logical_and.reduce([members(adult, term, cut) for term in name.split(", ")])
        right = np.flatnonzero(inside & (y_true == y_pred))
        flipped = rng.choice(right, min(FLIPPED, len(right)), replace=False)
        y_pred[flipped] = 1 - y_pred[flipped]
        reported = scan(y_true, y_pred, adult.features, metric="zero_one_loss").comparisons_["subgroup"]
        found += name in set(reported)
        others += len(reported) - (name in set(reported))
    return {"found": found, "runs": runs, "others_reported": round(others / runs, 2)}


def members(adult, term, known):
    """Return who a term of a description is about: "sex = Female", "age 17 to 26"."""
    if term not in known:
        if " = " in term:
            feature, value = term.split(" = ")
            known[term] = (adult.features[feature] == value).to_numpy()
        else:
            feature, low, *high = term.split(" ")  # "age 17 to 26", or "hours_per_week 40"
            known[term] = adult.features[feature].between(float(low), float(high[-1] if high else low)).to_numpy()
    return known[term]


def within(groups, rng):
    """Return a permutation of people within groups."""
    keys = pd.factorize(groups)[0]
    shuffled, place = rng.permutation(len(keys)), np.empty(len(keys), dtype=int)
    place[np.argsort(keys, kind="stable")] = shuffled[np.argsort(keys[shuffled], kind="stable")]
    return place


def rate(runs, one):
    """Return how many runs make a false discovery."""
    return {"runs": runs, "false": int(sum(one() for _ in range(runs)))}


def null_hypotheses(adult, rng):
    """Return what makes a run under each null hypothesis, and says whether it makes a false discovery."""
    y, p, features = adult.y, adult.predicted, adult.features
    few = features[["age", "education_num", "race", "hours_per_week"]]

    def everywhere(**params):
        order = rng.permutation(len(y))
        return scan(y[order], p[order], features, **params).concern_

    def explained():
        order = within(features["sex"], rng)
        found = scan(y[order], p[order], features, metric="selection_rate").comparisons_
        return not set(found["subgroup"]) <= {"sex = Female", "sex = Male"}

    def strata():
        order = within(features["sex"], rng)
        return scan(y[order], p[order], few, metric="selection_rate", control_features=features["sex"]).concern_

    def true_ones(n, base):
        return rejects_a_true_one(simulated(rng, n, base))

    def contexts():
        order = within(features["occupation"], rng)
        params = {"features": "occupation", "compare": "in_context", "metric": "selection_rate"}
        found = scan(y[order], p[order], features[["sex", "race", "age", "occupation"]], **params).subgroups_
        # Those of a whole feature differ because occupations do.
        return bool(found["concern"][found["subgroup"].str.contains("occupation")].any())

    def mean(values):
        shuffled = rng.permutation(values)
        return scan(
            shuffled,
            np.zeros(len(shuffled)),
            few.iloc[: len(values)],
            metric="mean_residual",
            n_resamples=199,
            random_state=rng,
        ).concern_

    loss = -np.log(np.clip(np.where(y == 1, adult.score, 1 - adult.score), 1e-12, 1))
    halves = {"guarantee": "split", "random_state": rng}
    return {
        "global, zero_one_loss": lambda: everywhere(metric="zero_one_loss"),
        "partial, explained by sex": explained,
        "partial, true ones, n 3000, base 0.3": lambda: true_ones(3000, 0.3),
        "partial, true ones, n 3000, base 0.05": lambda: true_ones(3000, 0.05),
        "partial, true ones, n 600, base 0.3": lambda: true_ones(600, 0.3),
        "partial, contexts of occupation": contexts,
        "partial, within strata of sex": strata,
        "global, true_positive_rate": lambda: everywhere(metric="true_positive_rate"),
        "mean, log loss": lambda: mean(loss),
        "mean, lognormal, 5,000 people": lambda: mean(rng.lognormal(size=5000)),
        "global, zero_one_loss, split": lambda: everywhere(metric="zero_one_loss", **halves),
    }


def simulated(rng, n, base, **params):
    """Scan people with four independent features, of which the first one raises the rate."""
    data = {name: rng.integers(0, size, n).astype(str) for name, size in zip("abcd", (2, 3, 4, 5), strict=True)}
    event = (rng.random(n) < base * (1 + (data["a"] == "1"))).astype(int)
    return scan(None, event, data, metric="selection_rate", min_group_size=20, **params)


def rejects_a_true_one(found):
    """Whether a scan of simulated people rejects a hypothesis about features that change nothing."""
    return bool(found.subgroups_["concern"][~found.subgroups_["subgroup"].str.contains("a = ")].any())


def discreteness(adult, rng):
    """Compare discrete Holm with Holm, where a subgroup of the simulated disparity has few who meet the condition."""
    out = []
    for people in (1000, 3000, 10000):
        chosen = rng.choice(len(adult), people, replace=False)
        y, p = adult.y[chosen], adult.predicted[chosen]
        found = scan(y, p, adult.features.iloc[chosen], metric="true_positive_rate", min_group_size=20)
        plain = np.exp(holm(np.log(found.subgroups_["p_value"].to_numpy())))
        own = found.subgroups_["p_value_adjusted"]
        first = found.subgroups_.iloc[0]
        out.append(
            {
                "people": people,
                "hypotheses": found.n_tested_,
                "counted_for_the_smallest": round(float(first["p_value_adjusted"] / first["p_value"]), 1),
                "significant": int((own <= LEVEL).sum()),
                "significant_with_holm": int((plain <= LEVEL).sum()),
            }
        )
    return out


def speed(adult):
    """Time a scan of more than 100,000 subgroups, with disparities to be explained."""
    features = adult.records[[*FEATURES, "native_country", "education"]]
    out = []
    for depth, least in ((2, 50), (3, 20), (4, 15)):
        start = time.process_time()
        found = scan(
            adult.y, adult.predicted, features, metric="zero_one_loss", max_depth=depth, min_group_size=least,
            max_subgroups=1_000_000,
        )  # fmt: skip
        seconds = time.process_time() - start
        out.append(
            {
                "max_depth": depth,
                "min_group_size": least,
                "searched": found.n_searched_,
                "tested": found.n_tested_,
                "significant": int(found.subgroups_["concern"].sum()),
                "reported": len(found.comparisons_),
                "cpu_seconds": round(seconds, 1),
            }
        )
        print(out[-1])
    return out


def quick():
    """Check a few scans of simulated people, which need no data."""
    promise = Promise(f"familywise error at most .05 and three Monte-Carlo errors: {QUICK} scans of 600 people")
    rng = np.random.default_rng(SEED)
    false = sum(rejects_a_true_one(simulated(rng, 600, 0.3)) for _ in range(QUICK))
    promise.look(false / QUICK <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / QUICK), f"{false} of {QUICK}")
    return promise


def problems(figures):
    """Say which figures break a promise."""
    for name, found in figures.items():
        if name.startswith(("global", "partial", "mean")):
            limit = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / found["runs"])
            if found["false"] > limit * found["runs"]:
                yield f"{name}: {found['false']} of {found['runs']} runs, more than {limit:.3f}"
        elif name.startswith("planted") and found["found"] < 0.9 * found["runs"]:
            yield f"{name}: found in {found['found']} of {found['runs']} runs"


def cases(adult, *, quick):
    """Return what is computed, by name: of a generator."""
    n_planted, n_null = (3, 10) if quick else (PLANTED, NULL)
    nulls = null_hypotheses(adult, np.random.default_rng(0))
    return {
        "planted, errors permuted": lambda rng: planted(adult, n_planted, rng, permuted=True),
        **{name: lambda rng, name=name: rate(n_null, null_hypotheses(adult, rng)[name]) for name in nulls},
        "discreteness": lambda rng: discreteness(adult, rng),
        "planted, predictions as they are": lambda rng: planted(adult, n_planted, rng, permuted=False),
        **({} if quick else {"speed": lambda rng: speed(adult)}),
    }


def main(argv=None):
    adult = Adult()
    what = "a scan of subgroups; see benchmarks/scan.py"
    return command(argv, what, RESULTS, SEED, partial(cases, adult), problems, people=len(adult), level=LEVEL)


if __name__ == "__main__":
    sys.exit(main())
