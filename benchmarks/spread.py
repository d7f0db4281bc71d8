"""How much of a gap over many groups is noise: ``python -m benchmarks.spread`` (about five minutes).

Two parts, stored in benchmarks/results/spread.json: the coverage of the interval of `between_group_spread` and the size
of its test on fourteen designs, and the table of Lum, Zhang and Bower (2022, section 6): variances of three rates of an
income model over races and age groups, with the noise taken out not at all, once and twice. Their predictions are
those of a model of Adult data and one division into training and test people; here is a model of the same data on
twenty divisions, and their figures should lie among ours.
"""

import json
import math
import sys

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.common.storage import ROOT
from skfairtest.inference.spread import spread, variance

RESULTS = ROOT / "benchmarks" / "results" / "spread.json"
SEED, N_DATA_SETS, N_DIVISIONS, N_BOOTSTRAPS = 53, 600, 20, 500
#: People, rates, and whether groups are weighted by people.
DESIGNS = {
    "50 groups of 10, rate .3": (np.full(50, 10), np.full(50, 0.3), False),
    "12 groups of 60, rate .02": (np.full(12, 60), np.full(12, 0.02), False),
    "10 to 500 people, rate .05, by people": (np.array([10, 20, 50, 100, 500]), np.full(5, 0.05), True),
    "10 groups of 30, .2 to .5": (np.full(10, 30), np.linspace(0.2, 0.5, 10), False),
    "8 groups of 40, one .6, others .3": (np.full(8, 40), np.r_[np.full(7, 0.3), 0.6], False),
    "5 of 200 at .3, one of 12 at .7, by people": (np.r_[np.full(5, 200), 12], np.r_[np.full(5, 0.3), 0.7], True),
    "12 groups of 60, .005 to .06": (np.full(12, 60), np.linspace(0.005, 0.06, 12), False),
    "30 people at .2, 300 at .5": (np.array([30, 300]), np.array([0.2, 0.5]), False),
    "2,000 people at .58, 3,000 at .995": (np.array([2000, 3000]), np.array([0.58, 0.995]), False),
    "50 people at .5, 2,000 at .97": (np.array([50, 2000]), np.array([0.5, 0.97]), False),
    "50 people at .3, 2,000 at .02": (np.array([50, 2000]), np.array([0.3, 0.02]), False),
    "10 to 5,000 people, .05 to .95": (np.array([10, 50, 200, 1000, 5000]), np.linspace(0.05, 0.95, 5), False),
    "100 groups of 10 to 90, rate .8 (the paper)": (
        np.linspace(10, 90, 100).round().astype(int), np.full(100, 0.8), False),
    "100 groups of 10 to 90, .1 to .9 (the paper)": (
        np.linspace(10, 90, 100).round().astype(int), np.linspace(0.1, 0.9, 100), False),
}  # fmt: skip
#: Variances of observed rates, with the noise taken out once, and twice (section 6 of the paper).
PUBLISHED = {
    "FPR, age": (0.0028, 0.0021, 0.0013), "FPR, race": (0.0014, 0.0012, 0.0011),
    "SR, age": (0.0157, 0.0142, 0.0128), "SR, race": (0.0072, 0.0068, 0.0065),
    "TPR, age": (0.0286, 0.0227, 0.0176), "TPR, race": (0.0155, 0.0084, 0.0018),
}  # fmt: skip


def simulated(n, p, by_people, n_data_sets=N_DATA_SETS):
    """The true standard deviation, how often the interval contains it, and how often the test rejects at 5%."""
    weight = n / n.sum() if by_people else np.full(len(n), 1 / len(n))
    truth, rng = math.sqrt(variance(p, weight)), np.random.default_rng(SEED)
    found = [
        spread(rng.binomial(n, p), n, by_people=by_people, alpha=0.05, n_resamples=499, rng=rng)
        for _ in range(n_data_sets)
    ]
    covered = [one.ci_low <= truth + 1e-12 and truth - 1e-12 <= one.ci_high for one in found]
    return round(truth, 4), round(np.mean(covered), 4), round(np.mean([one.p_value <= 0.05 for one in found]), 4)


def corrected(x, n, rng):
    """The paper's three variances: medians over parametric bootstrap samples, each at least 0."""
    rates = rng.binomial(n, x / n, (N_BOOTSTRAPS, len(n))) / n
    noise = rates * (1 - rates) / n
    plain, once = rates.var(axis=1, ddof=1), noise.mean(axis=1)
    twice = plain - 2 * once + (noise / n).mean(axis=1)
    return [float(np.median(np.maximum(v, 0.0))) for v in (plain, plain - once, twice)]


def adult_rates(path):
    """Yield the events and people of each rate and feature, on each division of the Adult data."""
    people = pd.read_csv(path)
    y, X = people["income"] == ">50K", people.drop(columns=["income", "split", "fnlwgt"])
    text = X.select_dtypes(exclude="number").columns
    age = pd.cut(people["age"], [14, *range(25, 96, 10)])
    for seed in range(N_DIVISIONS):
        train, test = train_test_split(np.arange(len(people)), test_size=0.3, random_state=seed)
        coded = make_column_transformer(
            (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), text), remainder="passthrough"
        )
        model = make_pipeline(coded, HistGradientBoostingClassifier(random_state=seed)).fit(X.iloc[train], y[train])
        chosen, true = model.predict(X.iloc[test]), y.to_numpy()[test]
        for rate, given in (("FPR", ~true), ("SR", np.ones_like(true)), ("TPR", true)):
            for feature, group in (("age", age), ("race", people["race"])):
                counts = pd.crosstab(group.iloc[test][given].to_numpy(), chosen[given])
                yield seed, f"{rate}, {feature}", counts[True].to_numpy(), counts.sum(axis=1).to_numpy()


def table(path):
    """Of each published variance: ours, the median, smallest and largest of the divisions."""
    found = {name: [] for name in PUBLISHED}
    for seed, name, x, n in adult_rates(path):
        found[name].append(corrected(x, n, np.random.default_rng([SEED, seed])))
    parts = {name: np.array(values) for name, values in found.items()}
    return {
        name: [
            [round(float(part), 4) for part in (np.median(column), column.min(), column.max())] for column in values.T
        ]
        for name, values in parts.items()
    }


def main():
    """Compute and store both parts; the argument is the file of Adult data."""
    designs = {name: simulated(*design) for name, design in DESIGNS.items()}
    results = {"what": __doc__.partition(":")[0], "seed": SEED, "designs": designs, "table": table(sys.argv[1])}
    RESULTS.write_text(json.dumps(results) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
