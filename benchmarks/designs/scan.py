"""Scans of the people of Adult, with predictions of a logistic regression fitted on every second of them.

- Planted: 300 decisions of a random subgroup of two features are turned around, once where the model's errors are
  otherwise permuted over all people, once in the predictions as they are. Found: the description itself is reported.
- Global null hypothesis: (y_true, y_pred), or log losses or skewed values, permuted over all people.
- Partial null hypotheses. "explained": permuted within each sex, so that nothing differs given sex; false are reports
  of anything beside sex. "strata": the same with sex as control feature; anything is false. "true ones": simulated
  people with independent features, the first of which changes the rate; hypotheses about the others are true.
  "contexts": permuted within each occupation and compared in this context.
"""

from functools import cache, partial

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.common.design import Design, one_by_one
from benchmarks.make_compas_counts import data_folder
from skfairtest import SubgroupScan

FEATURES = [
    "age", "workclass", "education_num", "marital_status", "occupation", "relationship", "race", "sex",
    "hours_per_week",
]  # fmt: skip


@cache
def adult():
    """The features and labels of the people, and a model's predictions and scores of them."""
    records = pd.read_csv(data_folder() / "adult.csv.gz").fillna("unknown")
    features, y = records[FEATURES], (records["income"] == ">50K").to_numpy().astype(int)
    X = pd.get_dummies(features).astype(float)
    X = (X - X.mean()) / X.std()
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    return features, y, model.predict(X), model.predict_proba(X)[:, 1]


def scan(y_true, y_pred, people, **params):
    return SubgroupScan.from_predictions(y_true, y_pred, sensitive_features=people, **params)


@cache
def describable():
    """Descriptions of subgroups of two features with 300 to 1,500 people."""
    features, y, predicted, _ = adult()
    names = scan(y, predicted, features, metric="zero_one_loss").subgroups_
    names = names[(names["depth"] == 2) & names["n_group"].between(300, 1500)].sort_values("subgroup")
    return names["subgroup"].tolist()


@cache
def members(term):
    """Return who a term of a description is about: "sex = Female", "age 17 to 26", "hours_per_week 40"."""
    if " = " in term:
        feature, value = term.split(" = ")
        return (adult()[0][feature] == value).to_numpy()
    feature, low, *high = term.split(" ")
    return adult()[0][feature].between(float(low), float(high[-1] if high else low)).to_numpy()


def planted(permuted, rng):
    """Return whether the subgroup of flipped decisions is reported, and how many others."""
    features, y_true, y_pred, _ = adult()
    name = rng.choice(describable())
    order = rng.permutation(len(y_true)) if permuted else np.arange(len(y_true))
    y_true, y_pred = y_true[order], y_pred[order]
    inside = np.logical_and.reduce([members(term) for term in name.split(", ")])
    right = np.flatnonzero(inside & (y_true == y_pred))
    flipped = rng.choice(right, min(300, len(right)), replace=False)
    y_pred[flipped] = 1 - y_pred[flipped]
    reported = set(scan(y_true, y_pred, features, metric="zero_one_loss").comparisons_["subgroup"])
    return {"scans": {"power": name in reported, "others_reported": len(reported - {name})}}


def within(groups, rng):
    """Return a permutation of people within groups."""
    keys = pd.factorize(groups)[0]
    shuffled, place = rng.permutation(len(keys)), np.empty(len(keys), dtype=int)
    place[np.argsort(keys, kind="stable")] = shuffled[np.argsort(keys[shuffled], kind="stable")]
    return place


def everywhere(params, rng):
    features, y, predicted, _ = adult()
    order = rng.permutation(len(y))
    return scan(y[order], predicted[order], features, random_state=rng, **params).concern_


def explained(rng):
    features, y, predicted, _ = adult()
    order = within(features["sex"], rng)
    found = scan(y[order], predicted[order], features, metric="selection_rate").comparisons_
    return not set(found["subgroup"]) <= {"sex = Female", "sex = Male"}


def few():
    return adult()[0][["age", "education_num", "race", "hours_per_week"]]


def strata(rng):
    features, y, predicted, _ = adult()
    order = within(features["sex"], rng)
    params = {"metric": "selection_rate", "control_features": features["sex"]}
    return scan(y[order], predicted[order], few(), **params).concern_


def contexts(rng):
    features, y, predicted, _ = adult()
    order = within(features["occupation"], rng)
    params = {"features": "occupation", "compare": "in_context", "metric": "selection_rate"}
    found = scan(y[order], predicted[order], features[["sex", "race", "age", "occupation"]], **params).subgroups_
    # Those of a whole feature differ because occupations do.
    return found["concern"][found["subgroup"].str.contains("occupation")].any()


def mean(values, rng):
    shuffled = rng.permutation(values(rng))
    people, params = few().iloc[: len(shuffled)], {"metric": "mean_residual", "n_resamples": 199, "random_state": rng}
    return scan(shuffled, np.zeros(len(shuffled)), people, **params).concern_


def log_losses(_rng):
    _, y, _, score = adult()
    return -np.log(np.clip(np.where(y == 1, score, 1 - score), 1e-12, 1))


def true_ones(n, base, rng):
    """Whether a scan of people with four features, of which the first one raises the rate, reports one without it."""
    data = {name: rng.integers(0, size, n).astype(str) for name, size in zip("abcd", (2, 3, 4, 5), strict=True)}
    event = (rng.random(n) < base * (1 + (data["a"] == "1"))).astype(int)
    found = scan(None, event, data, metric="selection_rate", min_group_size=20).subgroups_
    return found["concern"][~found["subgroup"].str.contains("a = ")].any()


#: Whether a scan makes a false discovery.
FALSE = {
    "global, zero_one_loss": partial(everywhere, {"metric": "zero_one_loss"}),
    "partial, explained by sex": explained,
    "partial, true ones, 3000 people, base .3": partial(true_ones, 3000, 0.3),
    "partial, true ones, 3000 people, base .05": partial(true_ones, 3000, 0.05),
    "partial, true ones, 600 people, base .3": partial(true_ones, 600, 0.3),
    "partial, contexts of occupation": contexts,
    "partial, within strata of sex": strata,
    "global, true_positive_rate": partial(everywhere, {"metric": "true_positive_rate"}),
    "mean, log loss": partial(mean, log_losses),
    "mean, lognormal, 5,000 people": partial(mean, lambda rng: rng.lognormal(size=5000)),
    "global, zero_one_loss, split": partial(everywhere, {"metric": "zero_one_loss", "guarantee": "split"}),
}


def false(discovers, rng):
    return {"scans": {"size": bool(discovers(rng))}}


DESIGNS = [
    *(
        Design(f"scans/{name}", one_by_one(partial(false, discovers)), 400, ("scans",), 100 * ("600 people" in name))
        for name, discovers in FALSE.items()
    ),
    *(
        Design(f"scans/planted, {name}", one_by_one(partial(planted, permuted)), 50, ("scans",), power=0.9)
        for name, permuted in (("errors permuted", True), ("predictions as they are", False))
    ),
]
