"""The test of individual fairness.

"Level": how often a logistic model is rejected whose audit value in the population is 1.1, exactly the tolerance of
1.25, 1.3 or 1.5, and how often the interval holds the true value; the truth is an integral that is computed, not
simulated (see `logistic_population`). In one design ratios have a long right tail, in the other a long left one. Then
the same at a boundary for differences of what models say, and for the search of forests; the tolerance is the value of
that very map, integrated or from a million people of its own. An unfair example is a function of one person. So people
are moved in one pass and then dealt into samples; of the first sample it is checked that the test finds the same.

"Coins": the sensitive feature is a coin flip, so that X holds no trace of it, on people of a normal population and of
real tables. "Blind": the sensitive feature shifts one column, and the model has no weight on it. "Used": a model with a
weight on what the sensitive feature shifts, one column or six that correlate by .95, also of models without
derivatives. "Planted": a model that uses the sensitive feature, a column of X, with log odds of 1.5. Of blind models
and of those that use proxies: how often the interval holds the value of the direction that the whole population gives,
and the value that the learned metrics have for fresh people of the same population ("fresh").
"""

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.common import logistic_population
from benchmarks.common.cells import ALPHA, SEED
from benchmarks.common.design import Design
from benchmarks.common.logistic_population import MAP, TOLERANCE, Map, Population, logistic
from benchmarks.make_compas_counts import data_folder
from skfairtest import IndividualFairnessTest, Mahalanobis, Projection
from skfairtest.individual.statistics import audit_value

#: People of a sample of a real table.
PEOPLE = 1000


def tested(model, X, y, sensitive, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single samples
        return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sensitive)


# Level ------------------------------------------------------------------------------------------------------

STATISTICS = ("loss_ratio", "ratio_of_means", "error_rate_ratio")
SAMPLES = (50, 100, 400, 1600)

#: Labels nearly as the models say; and models that are wrong about many, of whom nearly all are harmed alike.
FEW = logistic_population.Design("few are harmed much", Population(truth=(0.0, 1.0, 4.0)), 0.4, 4.0)
MOST = logistic_population.Design("most are harmed alike", Population(truth=(0.5, 0.0, 6.0)), 2.0, 2.0)
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


def dealt(statistic, losses, wrong, n, data_sets, tolerance, truth):
    """Deal people into samples: whether the test rejects, and its interval holds the truth."""
    found = [
        judged(statistic, losses[:, some], wrong[:, some], tolerance)
        for some in (slice(sample * n, (sample + 1) * n) for sample in range(data_sets))
    ]
    name = "size" if truth <= tolerance else "power"
    return {
        name: [each.p_value <= ALPHA for each in found],
        "coverage": [each.interval[0] <= truth <= each.interval[1] for each in found],
    }


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


def level(design, value, statistic, rng, data_sets):
    """A logistic model of which the truth is known, by the number of people."""
    model = design.model(design.weight(statistic, value))
    X, y, losses, wrong = pool(design.population, MAP, model, data_sets * max(SAMPLES), rng)
    out = {}
    for n in SAMPLES:
        check(MAP.test(model, statistic=statistic, tolerance=TOLERANCE), X, y, losses, wrong, n)
        out[f"{n} people"] = dealt(statistic, losses, wrong, n, data_sets, TOLERANCE, value)
    return out


def trained(model):
    X, y, _ = FEW.population.draw(TRAINED, np.random.default_rng(SEED))
    return model.fit(X, y)


#: Models, and how their unfair examples are found.
WAYS = {
    "logistic regression": (
        lambda: FEW.model(FEW.weight("loss_ratio", TOLERANCE)), MAP, {"gradient": "finite_differences"},
    ),
    "naive Bayes": (lambda: trained(GaussianNB()), MAP, {"gradient": "finite_differences"}),
    "forest, 100 people a leaf": (
        lambda: trained(RandomForestClassifier(10, min_samples_leaf=100, random_state=0)), SEARCH,
        {"gradient": "search"},
    ),
    "forest, grown out": (
        lambda: trained(RandomForestClassifier(10, random_state=0)), SEARCH, {"gradient": "search"},
    ),
}  # fmt: skip


def by_way(made, unfair_map, params, statistic, rng, data_sets):
    """A model at the boundary, however unfair examples are found; its value is that of many people if not known."""
    model, people = made(), SAMPLES[1:3]
    if isinstance(model, LogisticRegression):
        value = FEW.truth(FEW.weight("loss_ratio", TOLERANCE)).value(statistic)
    else:
        _, _, losses, wrong = pool(FEW.population, unfair_map, model, MANY, rng, **params)
        value = judged(statistic, losses, wrong, 1.0).estimate
    X, y, losses, wrong = pool(FEW.population, unfair_map, model, data_sets * max(people), rng, **params)
    check(unfair_map.test(model, statistic=statistic, tolerance=value, **params), X, y, losses, wrong, people[0])
    return {f"{n} people": dealt(statistic, losses, wrong, n, data_sets, value, value) for n in people}


def too_often(data_sets, methods):
    """Say where the size of many people is not near the level, up to three Monte-Carlo errors."""
    for method, figures in methods.items():
        size = figures.get("size", 0.0)
        error = 3 * np.sqrt(size * (1 - size) / figures.get("data_sets", data_sets))
        if int(method.split()[0]) >= ENOUGH and size > NEAR + error:
            yield f"{method}: size {size}"


# A learned metric -------------------------------------------------------------------------------------------


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


def verdicts(tests, figure):
    """Whether each test finds unfairness, or no trace of the sensitive feature."""
    found = [test.verdict_ for test in tests]
    return {figure: [each == "unfair" for each in found], "no_trace": [each == "no_trace" for each in found]}


def normal(n, rng):
    X = rng.normal(size=(n, 6))
    return X, (X[:, :3].sum(axis=1) * 1.5 + rng.normal(size=n) > 0).astype(int)


def coins(name, source, rng, data_sets):
    """Toss a coin for the sensitive feature."""
    if source is None:
        model = MODELS[name]().fit(*normal(PEOPLE, rng))
        people = (normal(PEOPLE, rng) for _ in range(data_sets))
    else:
        X, y, sensitive = (part.reset_index(drop=True) for part in source())
        order = rng.permutation(len(X))
        train, rest = order[: min(len(X) // 2, TRAINING)], order[len(X) // 2 :]
        y = y.astype(int)
        model = pipeline(X).set_params(logisticregression=MODELS[name]()).fit(X.iloc[train], y.iloc[train])
        n = min(PEOPLE, len(rest))
        people = (
            taken(rng.choice(rest, n, replace=False), X, y, sensitive)[:2] for _ in range(data_sets)
        )  # fmt: skip
    found = [tested(model, some, true, rng.integers(0, 2, len(some))) for some, true in people]
    return {"learned": verdicts(found, "size")}


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


def directions(weights, shift, width, n, name, rng, data_sets):
    """Models of people whom the sensitive feature shifts; "derivatives" names the logistic model of these weights."""
    model, (fresh,) = model_of(name, weights, shift, width), rng.spawn(1)
    found = []
    for _ in range(data_sets):
        X, sex = proxies(n, rng, shift, width)
        found.append(
            tested(model, X, labelled(X, weights, rng), sex, statistic=statistic_of(name), feature_ranges="free")
        )
    figures = verdicts(found, "power" if weights[0] else "size")
    known = [test for test in found if test.verdict_ != "no_trace"]
    if shift and known:
        truth = value_of(name, weights, shift, width)
        figures["coverage"] = [low <= truth <= high for low, high in (test.confidence_interval_ for test in known)]
    if weights[0] and known:  # what a blind model does in a direction hardly depends on it
        about = weights, shift, width, FRESH[name in MODELS], fresh
        figures["fresh"] = [holds_fresh_value(test, *about) for test in known]
    return {"learned": figures}


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


def planted(name, levels, rng, data_sets, n=500):
    """A model that uses a category outright."""
    made, written, params = PLANTED[name]
    X, y = applicants(4 * n, rng, levels)
    model, found = made().fit(written(X), y), []
    for _ in range(data_sets):
        X, y = applicants(n, rng, levels)
        found.append(tested(model, written(X), y, X["race"], **params))
    return {"learned": verdicts(found, "power")}


# The designs ------------------------------------------------------------------------------------------------

#: Sizes in the order in which they were added: seeds follow the places in a list.
SHIFTS, SIZES = (0.0, 0.2, 0.5, 1.0), (1000, 4000, 500)
BLIND = [(0.0, 1.0, 1.0, 1.0, 1.0)]
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
    (f"{kind}, {name}", weights, STRONG, width, n, name)
    for kind, weights, width in (
        ("six proxies", (*6 * (LENGTH,), 1.0, 1.0, 0.0, 0.0), 6), ("one proxy", (WEIGHT, 1.0, 1.0, 0.0, 0.0), 1),
    )
    for name, n in (("boosted trees", 500), ("boosted trees", 1000), ("forest", 1000))
]  # fmt: skip
DESIGNS = [
    *(
        Design(
            f"known metric/{design.name}, {statistic} {value}", partial(level, design, value, statistic),
            4000 if value == TOLERANCE else 1000,
            also=partial(too_often, 4000 if value == TOLERANCE else 1000),
            quick=20 * ((design, value, statistic) == (FEW, TOLERANCE, "loss_ratio")),
        )
        for design, value in LEVEL for statistic in STATISTICS
    ),
    *(
        Design(f"known metric/{name}, {statistic}", partial(by_way, *way, statistic), 4000,
               also=partial(too_often, 4000))
        for name, way in WAYS.items() for statistic in STATISTICS
    ),
    *(
        Design(f"coins/{table}, {name}", partial(coins, name, source), 200, ("learned",))
        for name in MODELS for table, source in {"normal": None, **SOURCES}.items()
    ),
    *(
        Design(f"learned metric/{kind}, shift {shift:.3g}, {n} people", partial(directions, *how), 100)
        for kind, *how in (
            *(("blind", *BLIND, shift, 1, n, "derivatives") for n in SIZES for shift in SHIFTS),
            *((*used, "derivatives") for used in USED), *SEARCHES,
        )
        for _, shift, _, n, _ in [how]
    ),
    *(
        Design(f"planted/{name}, {len(levels)} levels", partial(planted, name, levels), 30)
        for name, levels in (*((name, RACES[0]) for name in PLANTED), (next(iter(PLANTED)), RACES[1]))
    ),
]  # fmt: skip
