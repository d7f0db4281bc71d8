"""The test of individual fairness: ``python -m benchmarks.individual STUDY [--quick] [--only SECTION]``.

``level``: how often a logistic model is rejected whose audit value in the population is 1.1, exactly the tolerance of
1.25, 1.3 or 1.5, and how often the interval holds the true value; the truth is an integral that is computed, not
simulated (see _logistic_population). In one design ratios have a long right tail, in the other a long left one. Ways:
the same at a boundary for differences of what models say, and for the search of forests; the tolerance is then the
value of that very map, integrated or from a million people of its own. An unfair example is a function of one person.
So people are moved in one pass and then dealt into samples; of some samples it is checked that the test finds the same.

``evidence``: verdicts where there is no direction to learn, and where there is one. Coins: the sensitive feature is a
coin flip, so that X holds no trace of it, on people of a normal population and of real tables. Blind: the sensitive
feature shifts one column, and the model has no weight on it. Used: a model with a weight on what the sensitive feature
shifts, one column or six that correlate by .95. Planted: a model that uses the sensitive feature, a column of X, with
log odds of 1.5. Of blind models and of those that use proxies: how often the interval holds the value of the direction
that the whole population gives, and the value that the learned metrics have for fresh people of the same population.
Searched: the same of models without derivatives. ``--data-sets N`` draws N data sets in every cell, the first of those
that a full run draws.

Without ``--quick`` the figures are written to benchmarks/results with the seed, versions and numbers of data sets.
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
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.common.logistic_population import MAP, TOLERANCE, Design, Map, Population, logistic
from benchmarks.common.results import write
from benchmarks.make_compas_counts import data_folder
from skfairtest import IndividualFairnessTest, Mahalanobis, Projection
from skfairtest.individual.statistics import audit_value

RESULTS = Path(__file__).parent / "results"
#: Seeds of the studies.
SEEDS = {"level": 20261122, "evidence": 20261125}
#: People of a sample of a real table.
PEOPLE = 1000


def share(found):
    """A share of data sets and its Monte-Carlo error."""
    value = float(np.mean(found))
    error = float(np.sqrt(value * (1 - value) / len(found)))
    return {"share": round(value, 4), "error": round(error, 4), "data_sets": len(found)}


def text(found):
    return f"{found['share']:.3f} ({found['error']:.3f})"


def tested(model, X, y, sensitive, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single samples
        return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sensitive)


ALPHA = 0.05
STATISTICS = ("loss_ratio", "ratio_of_means", "error_rate_ratio")
SAMPLES = (50, 100, 400, 1600)

#: Labels nearly as the models say; and models that are wrong about many, of whom nearly all are harmed alike.
FEW = Design("few are harmed much", Population(truth=(0.0, 1.0, 4.0)), 0.4, 4.0)
MOST = Design("most are harmed alike", Population(truth=(0.5, 0.0, 6.0)), 2.0, 2.0)
#: Audit values of the models: within the tolerance, at its boundary, beyond it.
LEVEL = [(FEW, 1.1), (FEW, TOLERANCE), (FEW, 1.3), (MOST, TOLERANCE), (MOST, 1.5)]
#: A search of as many people as far.
SEARCH = Map(n_steps=32, step_size=MAP.n_steps * MAP.step_size / 32)
#: People of the models that are trained.
TRAINED = 2000
#: People who are moved at once, and who say what a map comes to on average.
AT_ONCE, MANY = 200_000, 1_000_000
#: From so many people on a size of at most this is held for near enough: set by what was measured, not derived.
ENOUGH, NEAR = 400, 0.065


def pool(population, unfair_map, model, n, rng, **params):
    """Move many people; return them, their losses and their errors, before and after."""
    parts = []
    for start in range(0, n, AT_ONCE):
        X, y, _ = population.draw(min(AT_ONCE, n - start), rng)
        losses, wrong, _ = unfair_map.moved(model, X, y, **params)
        parts.append((X.T, y[None], losses, wrong))
    X, y, losses, wrong = (np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
    return X.T, y[0], losses, wrong


def judged(statistic, losses, wrong, tolerance):
    """Return what the test says of people who were moved."""
    name, values = ("ratio_of_means", wrong) if statistic == "error_rate_ratio" else (statistic, losses)
    return audit_value(name, *values, tolerance=tolerance, confidence_level=1 - ALPHA)


def rates(statistic, losses, wrong, n, n_data_sets, tolerance, truth):
    """Deal people into samples: how often the test rejects, and its interval holds the truth."""
    rejected, covered = [], []
    for sample in range(min(n_data_sets, losses.shape[1] // n)):
        some = slice(sample * n, (sample + 1) * n)
        found = judged(statistic, losses[:, some], wrong[:, some], tolerance)
        rejected.append(found.p_value <= ALPHA)
        covered.append(found.interval[0] <= truth <= found.interval[1])
    return {"rejected": share(rejected), "coverage": share(covered)}


def check(test, X, y, losses, wrong, n):
    """Compare the test of the first sample with what is made of the pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few people whose ratios are large
        test.fit(X[:n], y[:n])
    found = judged(test.statistic, losses[:, :n], wrong[:, :n], test.tolerance)
    ours = [test.statistic_, test.lower_bound_, *test.confidence_interval_, test.p_value_]
    theirs = [found.estimate, found.lower_bound, *found.interval, found.p_value]
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-12):
        raise SystemExit(f"IndividualFairnessTest finds {ours} where the pool has {theirs}")


def level(designs, people, n_data_sets, n_most, sequence):
    """Size, power and coverage of a logistic model, where the truth is known."""
    cells = [(*design, statistic) for design in designs for statistic in STATISTICS]
    for (design, value, statistic), child in zip(cells, sequence.spawn(len(cells)), strict=True):
        weight = design.weight(statistic, value)
        model = design.model(weight)
        off = abs(design.truth(weight).value(statistic) - value)
        most = n_data_sets if value == TOLERANCE else n_data_sets // 4
        X, y, losses, wrong = pool(design.population, MAP, model, most * max(people), np.random.default_rng(child))
        for n in people:
            check(MAP.test(model, statistic=statistic, tolerance=TOLERANCE), X, y, losses, wrong, n)
            yield {
                "design": design.name, "statistic": statistic, "value": value, "weight": round(weight, 6),
                "off": float(f"{off:.1g}"), "people": n,
                **rates(statistic, losses, wrong, n, n_most, TOLERANCE, value),
            }  # fmt: skip


def trained(model):
    X, y, _ = FEW.population.draw(TRAINED, np.random.default_rng(SEEDS["level"]))
    return model.fit(X, y)


def ways():
    """Models, how their unfair examples are found, and their audit values where these are known."""
    weight = FEW.weight("loss_ratio", TOLERANCE)
    known = {statistic: FEW.truth(weight).value(statistic) for statistic in STATISTICS}
    differences, search = {"gradient": "finite_differences"}, {"gradient": "search"}
    yield "logistic regression", "differences", FEW.model(weight), MAP, differences, known
    yield "naive Bayes", "differences", trained(GaussianNB()), MAP, differences, None
    leaves = RandomForestClassifier(10, min_samples_leaf=100, random_state=0)
    yield "forest, 100 people a leaf", "search", trained(leaves), SEARCH, search, None
    yield "forest, grown out", "search", trained(RandomForestClassifier(10, random_state=0)), SEARCH, search, None


def by_way(people, n_data_sets, n_many, sequence):
    """Size at the boundary and coverage, however unfair examples are found."""
    for (name, way, model, unfair_map, params, known), child in zip(ways(), sequence.spawn(4), strict=True):
        rngs = [np.random.default_rng(own) for own in child.spawn(2)]
        truth = known
        if known is None:
            _, _, losses, wrong = pool(FEW.population, unfair_map, model, n_many, rngs[0], **params)
            truth = {statistic: judged(statistic, losses, wrong, 1.0).estimate for statistic in STATISTICS}
        X, y, losses, wrong = pool(FEW.population, unfair_map, model, n_data_sets * max(people), rngs[1], **params)
        for statistic, value in truth.items():
            test = unfair_map.test(model, statistic=statistic, tolerance=value, **params)
            check(test, X, y, losses, wrong, people[0])
            for n in people:
                yield {
                    "model": name, "way": way, "statistic": statistic, "value": float(f"{value:.5g}"),
                    "known": known is not None, "people": n,
                    **rates(statistic, losses, wrong, n, n_data_sets, value, value),
                }  # fmt: skip


def failures_of(results):
    """What a promise of the package does not keep, beyond three Monte-Carlo errors."""
    for cell in results.get("level", []):
        found = cell["rejected"]
        if cell["value"] <= TOLERANCE and cell["people"] >= ENOUGH and found["share"] > NEAR + 3 * found["error"]:
            where = f"{cell['design']}, {cell['statistic']} {cell['value']} of {cell['people']} people"
            yield f"{where}: rejected in {text(found)}"
    for cell in results.get("ways", []):
        found = cell["rejected"]
        if cell["people"] >= ENOUGH and found["share"] > NEAR + 3 * found["error"]:
            yield f"{cell['model']}, {cell['statistic']}, {cell['people']} people: rejected in {text(found)}"


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


def taken(rows, X, y, sensitive):
    """Return some people, with indexes of their own."""
    return X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True), sensitive.iloc[rows].to_numpy()


#: People of a model's training on a real table, and of the truth of a direction.
TRAINING, DRAWN = 2000, 100_000
#: People of the training and of the truth of models that are searched; fresh people of other models, and of those.
FITTED, SEARCHED, FRESH = 4000, 20_000, (5000, 1000)
MODELS = {
    "logistic regression": lambda: LogisticRegression(max_iter=2000),
    "least squares": LinearRegression,
    "boosted trees": lambda: HistGradientBoostingClassifier(max_iter=30),
    "forest": lambda: RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
}


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
def model_of(name, weights, shift, width, seed=SEEDS["evidence"]):
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
def value_of(name, weights, shift, width, seed=SEEDS["evidence"]):
    """Return the value of the true direction, that of the shift, in a population."""
    rng = np.random.default_rng(seed)
    X, _ = proxies(SEARCHED if name in MODELS else DRAWN, rng, shift, width)
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


def studies(quick, n):
    """The sections of every study: functions of a seed's sequence that yield rows."""
    people = SAMPLES[: 2 if quick else None]
    n_level, n_most, n_many = (20, 20, 5000) if quick else (4000, 20_000, MANY)
    designs, searches = (LEVEL[1:2], SEARCHES[:1]) if quick else (LEVEL, SEARCHES)
    n_coins, n_cells = (4, 4) if quick else (n or 200, n or 100)
    return {
        "level": {
            "level": lambda sequence: level(designs, people, n_level, n_most, sequence),
            "ways": lambda sequence: by_way(people[1:3], n_level, n_many, sequence),
        },
        "evidence": {
            "coins": lambda sequence: coins(n_coins, sequence),
            "blind": lambda sequence: directions(BLIND, n_cells, sequence),
            "used": lambda sequence: directions(USED, n_cells, sequence),
            "planted": lambda sequence: planted(n_cells, sequence),
            "searched": lambda sequence: directions(searches, n_cells, sequence),
        },
    }


def store(study, figures):
    """Write the figures of a study in its layout."""
    if study == "level":
        write(
            RESULTS / "individual.json",
            "level, power and coverage of the test of individual fairness; see benchmarks/individual.py", SEEDS[study],
            level_of_the_test=ALPHA, tolerance=TOLERANCE, map=vars(MAP), search=vars(SEARCH), many=MANY, **figures,
        )  # fmt: skip
    else:
        what = "verdicts where X holds no trace, and where it does"
        write(RESULTS / "individual_evidence.json", what, SEEDS[study], ("scikit-learn",), many=DRAWN, **figures)


def stored(study):
    """The figures of the last run of a study, by section."""
    return json.loads((RESULTS / f"individual{'' if study == 'level' else f'_{study}'}.json").read_text())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=list(SEEDS), help="what is measured")
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing is written")
    parser.add_argument("--only", help="run one section, and keep the others")
    parser.add_argument(
        "--data-sets", type=int, help="evidence: data sets of every cell; by default 200 coins, 100 others"
    )
    options = parser.parse_args(argv)
    study, quick = options.study, options.quick
    sections = studies(quick, options.data_sets)[study]
    if options.only not in (None, *sections):
        parser.error(f"--only: {study} has the sections {', '.join(sections)}")
    kept = {} if quick else stored(study)
    figures = {name: kept[name] for name in sections if name in kept}
    sequences = np.random.SeedSequence(SEEDS[study]).spawn(len(sections))
    for (name, rows), sequence in zip(sections.items(), sequences, strict=True):
        if options.only not in (None, name):
            continue
        found = figures.setdefault(name, [])
        for place, row in enumerate(rows(sequence)):
            found[place : place + 1] = [row]
            if not quick:
                store(study, figures)
            shown = (
                text(value) if isinstance(value, dict) and "share" in value else str(value) for value in row.values()
            )
            print(f"  {name:<8} {'   '.join(shown)}", flush=True)
    failures = list(failures_of(figures)) if study == "level" else []
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
