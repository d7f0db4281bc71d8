"""Adult, COMPAS and German credit, with a column of text beside them, the district, that gives the sensitive feature
away nine times in ten: a fair and an unfair pipeline, and one pipeline told in several ways.

A pipeline of one-hot categories, scaled numbers and logistic regression is fitted on one half. The fair model is that
one with what the sensitive subspace of the training people leaves free projected out of its coefficients; the unfair
one is the fair one with a weight on the district. Samples of the other half are tested with every default.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from benchmarks.designs.individual import PEOPLE, SOURCES, pipeline, taken, tested
from skfairtest.individual.metric import learn, similarity
from skfairtest.individual.model import affine
from skfairtest.individual.people import people_of, ranges_of, scale_of

#: People of the training of a pipeline.
HALF = 5000
#: Log odds between the two districts that the unfair model adds.
LOG_ODDS = 4.0
SEEN_THROUGH = 0.9


def with_coefficients(model, coefficients):
    """Return a copy of a fitted pipeline with other coefficients."""
    line = clone(model[-1])
    line.__dict__.update(model[-1].__dict__)
    line.coef_ = np.atleast_2d(coefficients)
    return make_pipeline(model[0], line)


def blind(model, X, y, sensitive):
    """Return the coefficients without what the sensitive subspace of these people leaves free."""
    people = people_of(X, y, sensitive, numbers=False, estimator=model)
    features, truth = people.features, people.y_true.codes.astype(float)
    scale = scale_of("std", features, ranges_of("observed", features))
    similar = similarity("sensitive_subspace", people, scale, 0.05)
    (metric,), _, _ = learn(similar.metric, features, truth, similar.sensitive, scale)
    encode, _ = affine(model[0].transform, features)
    free = metric.directions_ @ (scale[:, None] * encode)
    coefficients = model[-1].coef_[0]
    return coefficients - np.linalg.pinv(free) @ (free @ coefficients)


def impossible(test, X):
    """Count values of unfair examples that nobody could have."""
    moved = test.unfair_examples_
    wrong = 0
    for column in X:
        if X[column].dtype == object or isinstance(X[column].dtype, pd.StringDtype):
            wrong += int((~moved[column].isin(set(X[column]))).sum())
        else:
            wrong += int((~moved[column].between(X[column].min(), X[column].max())).sum())
    return wrong


def judged(name, n_samples, rng):
    """Fit the models of a data set, and test samples of the other half."""
    X, y, sensitive = (part.reset_index(drop=True) for part in SOURCES[name]())
    said = sensitive == sensitive.iloc[0]
    X = X.assign(district=np.where(said == (rng.random(len(X)) < SEEN_THROUGH), "north", "south"))
    order = rng.permutation(len(X))
    half = len(X) // 2
    train, rest = order[: min(half, HALF)], order[half:]
    model = pipeline(X).fit(X.iloc[train], y.iloc[train])
    fair = blind(model, X.iloc[train], y.iloc[train], sensitive.iloc[train])
    names = list(model[0].get_feature_names_out())
    unfair = fair.copy()
    unfair[names.index("text__district_north")] += LOG_ODDS
    found = {"data": name, "samples": n_samples, "people": PEOPLE}
    for kind, coefficients in (("fair", fair), ("unfair", unfair)):
        made = with_coefficients(model, coefficients)
        statistics, rejected = [], 0
        for _ in range(n_samples):
            test = tested(made, *taken(rng.choice(rest, PEOPLE), X, y, sensitive))
            statistics.append(test.statistic_)
            rejected += test.rejected_
        mean, sd = float(np.mean(statistics)), float(np.std(statistics))
        found[kind] = {"rejected": rejected, "mean": round(mean, 4), "sd": round(sd, 4)}
    people = taken(rng.permutation(rest)[:PEOPLE], X, y, sensitive)
    found["fitted"] = same_verdicts(model, unfair, X.iloc[train], y.iloc[train], *people)
    return found


def same_verdicts(model, unfair, X_train, y_train, X, y, sensitive):
    """Return statistics and verdicts of one model told in several ways; the last two are of the unfair one."""
    numbers = X.select_dtypes("number").columns
    factors = np.resize([-3.0, 0.01, 250.0], len(numbers))

    def rescaled(X):
        return X.assign(**{name: factor * X[name] + 7.0 for name, factor in zip(numbers, factors, strict=True)})

    def recoded(X):
        return X.assign(district=(X["district"] == "north").astype(float))

    dropped = pipeline(X_train, drop="first").set_params(logisticregression__C=1e6)
    dropped.set_params(columntransformer__text__handle_unknown="error")
    weak = pipeline(X_train).set_params(logisticregression__C=1e6)
    planted = with_coefficients(model, unfair)
    tests = {
        "as fitted": tested(model, X, y, sensitive),
        "other units": tested(pipeline(X).fit(rescaled(X_train), y_train), rescaled(X), y, sensitive),
        "numbers for yes and no": tested(pipeline(recoded(X)).fit(recoded(X_train), y_train), recoded(X), y, sensitive),
        "no penalty": tested(weak.fit(X_train, y_train), X, y, sensitive),
        "no penalty, first categories dropped": tested(dropped.fit(X_train, y_train), X, y, sensitive),
        "searched": tested(model, X, y, sensitive, gradient="search"),
        "unfair": tested(planted, X, y, sensitive),
        "unfair, searched": tested(planted, X, y, sensitive, gradient="search"),
    }
    return {
        key: {"statistic": round(test.statistic_, 4), "rejected": bool(test.rejected_)} for key, test in tests.items()
    } | {
        "impossible": sum(impossible(tests[key], X) for key in ("as fitted", "searched", "unfair", "unfair, searched"))
    }
