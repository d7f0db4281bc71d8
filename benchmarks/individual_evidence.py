"""Verdicts where there is no direction to learn, and where there is one: ``python -m benchmarks.individual_evidence``.

Coins: the sensitive feature is a coin flip, so that X holds no trace of it, on people of a normal population and of
real tables. Blind: the sensitive feature shifts one column, and the model has no weight on it. Used: a model with a
weight on what the sensitive feature shifts, one column or six that correlate by .95. Planted: a model that uses the
sensitive feature, a column of X, with log odds of 1.5. How often is each called unfair, and how often is nothing
tested. Of blind models and of those that use proxies: how often the interval holds the value of the direction that the
whole population gives, and the value that the learned metrics have for fresh people of the same population. Searched:
the same of models without derivatives.

With ``--quick`` there are few data sets and nothing is written; ``--only NAME`` runs one section and keeps the others;
``--data-sets N`` draws N data sets in every cell, the first of those that a full run draws. The figures are written to
benchmarks/results/individual_evidence.json with the seed, versions, and the number of data sets of every cell.
"""

import argparse
import json
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from benchmarks.common.logistic_population import logistic
from benchmarks.common.results import write
from benchmarks.individual import share, text
from benchmarks.individual_people import SOURCES, pipeline, taken
from skfairtest import IndividualFairnessTest, Mahalanobis, Projection

SEED = 20261125
RESULTS = Path(__file__).parent / "results" / "individual_evidence.json"
#: People of a sample of a real table, of a model's training, and of the truth of a direction.
PEOPLE, TRAINING, MANY = 1000, 2000, 100_000
#: People of the training and of the truth of models that are searched; fresh people of other models, and of those.
FITTED, SEARCHED, FRESH = 4000, 20_000, (5000, 1000)
MODELS = {
    "logistic regression": lambda: LogisticRegression(max_iter=2000),
    "least squares": LinearRegression,
    "boosted trees": lambda: HistGradientBoostingClassifier(max_iter=30),
    "forest": lambda: RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
}


def tested(model, X, y, sensitive, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single samples
        return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sensitive)


def verdicts(tests):
    """Return the shares of verdicts."""
    found = [test.verdict_ for test in tests]
    return {name: share([verdict == name for verdict in found]) for name in ("unfair", "no_trace")}


def normal(n, rng):
    X = rng.normal(size=(n, 6))
    return X, (X[:, :3].sum(axis=1) * 1.5 + rng.normal(size=n) > 0).astype(int)


def coins(n_data_sets, sequence):
    """Toss a coin for the sensitive feature."""
    children = iter(sequence.spawn(len(MODELS) * (1 + len(SOURCES))))
    for name, made in MODELS.items():
        rng = np.random.default_rng(next(children))
        model = made().fit(*normal(PEOPLE, rng))
        found = [tested(model, *normal(PEOPLE, rng), rng.integers(0, 2, PEOPLE)) for _ in range(n_data_sets)]
        yield {"people": "normal", "model": name, **verdicts(found)}
        for table, source in SOURCES.items():
            rng = np.random.default_rng(next(children))
            try:
                X, y, sensitive = (part.reset_index(drop=True) for part in source())
            except FileNotFoundError as missing:
                print(f"  coins    {table}: skipped, {missing.filename} is not here (SKFAIRTEST_DATA names its folder)")
                continue
            order = rng.permutation(len(X))
            train, rest = order[: min(len(X) // 2, TRAINING)], order[len(X) // 2 :]
            y = y.astype(int)
            model = pipeline(X).set_params(logisticregression=made()).fit(X.iloc[train], y.iloc[train])
            found = []
            for _ in range(n_data_sets):
                some, true, _ = taken(rng.choice(rest, min(PEOPLE, len(rest)), replace=False), X, y, sensitive)
                found.append(tested(model, some, true, rng.integers(0, 2, len(some))))
            yield {"people": table, "model": name, **verdicts(found)}


def proxies(n, rng, shift, width=1, correlation=0.95, others=4):
    """People whose sensitive feature shifts the first columns."""
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, width + others))
    if width > 1:
        common = rng.normal(size=(n, 1))
        X[:, :width] = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * X[:, :width]
    X[:, :width] += shift * sex[:, None]
    return X, sex


def labelled(X, weights, rng):
    return (rng.random(len(X)) < 1 / (1 + np.exp(-X @ weights))).astype(int)


@cache
def model_of(name, weights, shift, width, seed=SEED):
    """Return a model of known weights, or one that is fitted on labels that have them."""
    if name not in MODELS:
        return logistic(0.0, np.array(weights))
    rng = np.random.default_rng([seed, 1])
    X, _ = proxies(FITTED, rng, shift, width)
    return MODELS[name]().fit(X, labelled(X, weights, rng))


def statistic_of(name):
    """Return the mean of ratios, but for forests, whose losses are 0 where all trees agree."""
    return "ratio_of_means" if name == "forest" else "loss_ratio"


@cache
def value_of(name, weights, shift, width, seed=SEED):
    """Return the value of the true direction, that of the shift, in a population."""
    rng = np.random.default_rng(seed)
    X, _ = proxies(SEARCHED if name in MODELS else MANY, rng, shift, width)
    direction = np.arange(len(weights)) < width
    test = tested(
        model_of(name, weights, shift, width), X, labelled(X, weights, rng), None,
        fair_metric=Projection(direction.astype(float)), statistic=statistic_of(name), feature_ranges="free",
    )  # fmt: skip
    return test.statistic_


def holds_fresh_value(test, weights, shift, width, n, rng):
    """Whether an interval holds the value that its metrics have for fresh people, given the error of that value."""
    scale, values = test.feature_scale_, []
    for metric in test.fair_metrics_:
        X, _ = proxies(n // len(test.fair_metrics_), rng, shift, width)
        given = Mahalanobis(metric.matrix_ / np.multiply.outer(scale, scale))
        values.append(
            tested(
                test.estimator, X, labelled(X, weights, rng), None, fair_metric=given, statistic=test.statistic,
                feature_ranges="free", feature_scale=scale,
            )
        )  # fmt: skip
    value = np.mean([one.statistic_ for one in values])
    error = np.sqrt(sum(one.standard_error_**2 for one in values)) / len(values)
    limit = test.confidence_interval_[int(value > test.statistic_)]
    return abs(value - test.statistic_) <= np.hypot(limit - test.statistic_, norm.ppf(0.975) * error)


def directions(designs, n_data_sets, sequence):
    """Models of people whom the sensitive feature shifts."""
    for (kind, weights, shift, width, n, *fitted), child in zip(designs, sequence.spawn(len(designs)), strict=True):
        name = fitted[0] if fitted else "derivatives"
        rng, others = (np.random.default_rng(seed) for seed in (child, child.spawn(1)[0]))
        model = model_of(name, weights, shift, width)
        truth = value_of(name, weights, shift, width) if shift else None
        found = []
        for _ in range(n_data_sets):
            X, sex = proxies(n, rng, shift, width)
            found.append(
                tested(model, X, labelled(X, weights, rng), sex, statistic=statistic_of(name), feature_ranges="free")
            )
        known = [test for test in found if test.verdict_ != "no_trace"]
        limits = np.array([test.confidence_interval_ for test in known]).reshape(-1, 2)
        # What a blind model does in a direction hardly depends on it.
        about = weights, shift, width, FRESH[len(fitted)], others
        fresh = [holds_fresh_value(test, *about) for test in known if weights[0]]
        yield {
            "model": f"{kind}, {name}" if fitted else kind, "shift": shift, "people": n, **verdicts(found),
            "value": None if truth is None else round(truth, 4),
            "median": round(float(np.median([test.statistic_ for test in known])), 4) if known else None,
            "width": round(float(np.median(np.diff(limits))), 4) if known else None,
            "coverage": None if truth is None or not known
            else share((limits[:, 0] <= truth) & (truth <= limits[:, 1])),
            "fresh": share(fresh) if fresh else None,
        }  # fmt: skip


#: Sizes in the order in which they were added: seeds follow the places in a list.
SHIFTS, SIZES = (0.0, 0.2, 0.5, 1.0), (1000, 4000, 500)
BLIND = [("blind", (0.0, 1.0, 1.0, 1.0, 1.0), shift, 1, n) for n in SIZES for shift in SHIFTS]
#: A shift of 1.155 of unit normal columns is a correlation of .5; the weight is 1 per standard deviation.
STRONG = float(2 / np.sqrt(3))
WEIGHT = float(1 / np.sqrt(1 + STRONG**2 / 4))
#: Split over six columns, the weight keeps its sum, or its length.
SUM, LENGTH = WEIGHT / 6, float(WEIGHT / np.sqrt(6))
USED = [
    *(("one proxy", (WEIGHT, 1.0, 1.0, 0.0, 0.0), STRONG, 1, n) for n in (1000, 4000)),
    *(("six proxies, the sum of weights as of one", (*6 * (SUM,), 1.0, 1.0, 0.0, 0.0), STRONG, 6, n)
      for n in (1000, 4000)),
    *(("six proxies, the length of weights as of one", (*6 * (LENGTH,), 1.0, 1.0, 0.0, 0.0), STRONG, 6, n)
      for n in (1000, 4000)),
    ("one weak proxy", (2.0, 1.0, 1.0, 0.0, 0.0), 0.2, 1, 1000),
    ("six weak proxies", (*6 * (2 / 6,), 1.0, 1.0, 0.0, 0.0), 0.5, 6, 1000),
    ("one proxy", (WEIGHT, 1.0, 1.0, 0.0, 0.0), STRONG, 1, 500),
    ("six proxies, the length of weights as of one", (*6 * (LENGTH,), 1.0, 1.0, 0.0, 0.0), STRONG, 6, 500),
]  # fmt: skip
SEARCHES = [
    (kind, weights, STRONG, width, n, name)
    for kind, weights, width in (
        ("six proxies", (*6 * (LENGTH,), 1.0, 1.0, 0.0, 0.0), 6), ("one proxy", (WEIGHT, 1.0, 1.0, 0.0, 0.0), 1),
    )
    for name, n in (("boosted trees", 500), ("boosted trees", 1000), ("forest", 1000))
]  # fmt: skip


def applicants(n, rng, levels):
    """People with a text column of the sensitive feature, whose first level has log odds of 1.5 fewer."""
    race = rng.choice(list(levels), n, p=list(levels.values()))
    X = pd.DataFrame({"income": rng.normal(size=n), "debts": rng.normal(size=n), "race": race})
    odds = X["income"] - X["debts"] - 1.5 * (race == next(iter(levels)))
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def encoded(encoder, model, **params):
    return make_pipeline(make_column_transformer((encoder, ["race"]), remainder="passthrough", **params), model)


def one_hot(X):
    return X.drop(columns="race").assign(**{f"race_{name}": X["race"] == name for name in sorted(set(X["race"]))})


def numbered(X):
    return X.assign(race=X["race"].astype("category"))


PLANTED = {
    "text": (lambda: encoded(OneHotEncoder(), LogisticRegression()), lambda X: X, {}),
    "text, differences": (
        lambda: encoded(OneHotEncoder(), LogisticRegression()), lambda X: X, {"gradient": "finite_differences"},
    ),
    "text, search": (lambda: encoded(OneHotEncoder(), LogisticRegression()), lambda X: X, {"gradient": "search"}),
    "text, first level dropped": (
        lambda: encoded(OneHotEncoder(drop="first"), LogisticRegression()), lambda X: X, {},
    ),
    "one-hot columns": (LogisticRegression, lambda X: one_hot(X).astype(float), {}),
    "ordinal, boosted trees": (
        lambda: encoded(OrdinalEncoder(), HistGradientBoostingClassifier(max_iter=50)), lambda X: X, {},
    ),
    "native categories, boosted trees": (
        lambda: HistGradientBoostingClassifier(max_iter=50, categorical_features="from_dtype"), numbered, {},
    ),
}  # fmt: skip
RACES = ({"nonwhite": 0.3, "white": 0.7}, {"a": 0.2, "b": 0.3, "c": 0.5})


def planted(n_data_sets, sequence, n=500):
    """A model that uses a category outright."""
    cells = [*((name, RACES[0]) for name in PLANTED), (next(iter(PLANTED)), RACES[1])]
    for (name, levels), child in zip(cells, sequence.spawn(len(cells)), strict=True):
        made, written, params = PLANTED[name]
        rng = np.random.default_rng(child)
        X, y = applicants(4 * n, rng, levels)
        model = made().fit(written(X), y)
        found = []
        for _ in range(n_data_sets):
            X, y = applicants(n, rng, levels)
            found.append(tested(model, written(X), y, X["race"], **params))
        yield {
            "model": name, "levels": len(levels), "people": n, **verdicts(found),
            "median": round(float(np.median([test.statistic_ for test in found])), 4),
        }  # fmt: skip


def sections(n=None, searches=SEARCHES):
    """Return what is run, with n data sets of every cell: 200 of coins, 100 of all else."""
    return {
        "coins": lambda sequence: coins(n or 200, sequence),
        "blind": lambda sequence: directions(BLIND, n or 100, sequence),
        "used": lambda sequence: directions(USED, n or 100, sequence),
        "planted": lambda sequence: planted(n or 100, sequence),
        "searched": lambda sequence: directions(searches, n or 100, sequence),
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing is written")
    parser.add_argument("--only", choices=list(sections()), help="run one section, and keep the others")
    parser.add_argument("--data-sets", type=int, help="data sets of every cell; by default 200 of coins, 100 of others")
    options = parser.parse_args(argv)
    stored = json.loads(RESULTS.read_text())
    runs = sections(4, SEARCHES[:1]) if options.quick else sections(options.data_sets)
    figures = {name: stored[name] for name in runs if name in stored and not options.quick}
    for (name, run), sequence in zip(runs.items(), np.random.SeedSequence(SEED).spawn(len(runs)), strict=True):
        if options.only not in (None, name):
            continue
        found = figures.setdefault(name, [])
        for place, row in enumerate(run(sequence)):
            found[place : place + 1] = [row]
            if not options.quick:
                what = "verdicts where X holds no trace, and where it does"
                write(RESULTS, what, SEED, ("scikit-learn",), many=MANY, **figures)
            said = "   ".join(text(value) if isinstance(value, dict) else str(value) for value in row.values())
            print(f"  {name:<8} {said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
