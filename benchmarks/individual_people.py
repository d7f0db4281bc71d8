"""Individual fairness of people in real tables of text: ``python -m benchmarks.individual_people [--quick]``.

Adult, COMPAS and German credit, with a column of text beside them, the district, that gives the sensitive feature away
nine times in ten. A pipeline of one-hot categories, scaled numbers and logistic regression is fitted on one half. The
fair model is that one with what the sensitive subspace of the training people leaves free projected out of its
coefficients; the unfair one is the fair one with a weight on the district. Samples of the other half are tested with
every default: how often is either rejected. For the fitted model itself: the statistic in other units, in another
encoding, by a search, and how many unfair examples have an impossible value.

Without ``--quick`` the figures are written to benchmarks/results/individual_people.json with the seed and versions.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.common.results import write
from benchmarks.make_compas_counts import data_folder
from skfairtest import IndividualFairnessTest
from skfairtest.individual.metric import learn, similarity
from skfairtest.individual.model import affine
from skfairtest.individual.people import people_of, ranges_of, scale_of

SEED = 20261123
RESULTS = Path(__file__).parent / "results" / "individual_people.json"
#: People of a sample, and of the training.
PEOPLE, TRAINING = 1000, 5000
#: Log odds between the two districts that the unfair model adds.
PLANTED = 4.0
SEEN_THROUGH = 0.9


def adult():
    records = pd.read_csv(data_folder() / "adult.csv.gz").dropna()
    left_out = ["income", "split", "sex", "race", "fnlwgt", "native_country", "education", "relationship"]
    return records.drop(columns=left_out), records["income"] == ">50K", records["sex"]


def compas():
    records = pd.read_csv(data_folder() / "compas.csv")
    records = records[records["race"].isin(["African-American", "Caucasian"])]
    counts = ["priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]
    return records[["age", *counts, "c_charge_degree", "sex"]], records["two_year_recid"] == 1, records["race"]


def german():
    records = pd.read_csv(data_folder() / "german.csv")
    sex = records["personal_status_sex"].isin(["A92", "A95"]).map({True: "f", False: "m"})
    return records.drop(columns=["credit_risk", "personal_status_sex"]), records["credit_risk"] == 1, sex


SOURCES = {"adult": adult, "compas": compas, "german": german}


def pipeline(X, **encoding):
    """Return a pipeline as one writes it for a table with text."""
    numbers = X.select_dtypes("number").columns.tolist()
    text = [column for column in X if column not in numbers]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, **encoding)
    first = ColumnTransformer([("numbers", StandardScaler(), numbers), ("text", encoder, text)])
    return make_pipeline(first, LogisticRegression(C=1.0, max_iter=5000))


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


def tested(model, X, y, sensitive, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant features of a sample
        return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sensitive)


def taken(rows, X, y, sensitive):
    """Return some people, with indexes of their own."""
    return X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True), sensitive.iloc[rows].to_numpy()


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


def run(name, n_samples, rng):
    """Fit the models of a data set, and test samples of the other half."""
    X, y, sensitive = (part.reset_index(drop=True) for part in SOURCES[name]())
    said = sensitive == sensitive.iloc[0]
    X = X.assign(district=np.where(said == (rng.random(len(X)) < SEEN_THROUGH), "north", "south"))
    order = rng.permutation(len(X))
    half = len(X) // 2
    train, rest = order[: min(half, TRAINING)], order[half:]
    model = pipeline(X).fit(X.iloc[train], y.iloc[train])
    fair = blind(model, X.iloc[train], y.iloc[train], sensitive.iloc[train])
    names = list(model[0].get_feature_names_out())
    unfair = fair.copy()
    unfair[names.index("text__district_north")] += PLANTED
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


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="five samples, nothing is written")
    options = parser.parse_args(argv)
    began = time.perf_counter()
    sequences = np.random.SeedSequence(SEED).spawn(len(SOURCES))
    rows = []
    for name, sequence in zip(SOURCES, sequences, strict=True):
        rows.append(run(name, 5 if options.quick else 100, np.random.default_rng(sequence)))
        print(rows[-1], flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s.")
    if not options.quick:
        write(RESULTS, "IndividualFairnessTest on people of real tables of text", SEED, rows=rows)


if __name__ == "__main__":
    sys.exit(main())
