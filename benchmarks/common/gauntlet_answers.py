"""How the people of a design become the arguments of each kind of test, and what is kept of its answer."""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import fairlearn.metrics
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from benchmarks.common.cells import ALPHA
from benchmarks.common.inequality import INDICES, PREDICTED, TRUE
from benchmarks.common.logistic_population import MAP, TOLERANCE
from benchmarks.common.logistic_population import Design as Individuals
from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    AuditedRegressor,
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    RatioOfSums,
    SequentialFairnessTest,
    SignificanceFrame,
    SubgroupScan,
    UncertainGroupsTest,
    between_group_spread,
    compare_models,
    fairness_p_value,
    impact_table,
    inequality_decomposition,
    make_fairness_scorer,
    select_fair,
)
from skfairtest.metrics.rates import CRITERIA

#: Resamples of one comparison, and of several.
RESAMPLES, MANY = 199, 1999
#: The ratio of rates at the edge of a margin, which is the true one where a test has a margin.
EDGE = 0.8
#: What a user can leave out of a call.
COLUMNS = {"weights": "sample_weight", "clusters": "clusters", "strata": "control_features"}


@dataclass(frozen=True)
class Answer:
    """What one test says of one data set.

    `comparisons`: rows of (adjusted p-value, lower limit, upper limit, value under the null hypothesis, true value);
    NaN where there is none. `said`: what it prints.
    """

    rejected: bool
    comparisons: tuple = ()
    said: Callable[[], str] = str


def columns(people, *names):
    """Return groups, and of weights, clusters and strata those that there are."""
    given = {"weights": people.weight, "clusters": people.clusters, "strata": people.strata}
    names = names or tuple(COLUMNS)
    own = {COLUMNS[name]: given[name] for name in names if given[name] is not None}
    return {"sensitive_features": people.labels, **own}


def resamples(people):
    return {"n_resamples": RESAMPLES if len(people.names) == 2 else MANY}


def reference(people):
    """Compare more than two groups with the largest one."""
    return {} if len(people.names) == 2 else {"compare": "to_reference", "reference_group": people.names[-1]}


def compared(people):
    return reference(people) | resamples(people)


def rows_of(frame, null, truth, p="p_value_adjusted"):
    """Comparisons of a frame, of pooled strata where there are some; `truth`: of a row."""
    if "stratum" in frame:
        frame = frame[frame["stratum"].isna()]
    return tuple(
        (row[p], row["ci_low"], row["ci_high"], null, truth(row)) for row in frame.to_dict("records")
    )  # fmt: skip


def equal(row):
    return 0.0


def of_test(test, null=0.0, truth=equal):
    return Answer(bool(test.concern_), rows_of(test.comparisons_, null, truth), partial(str, test))


# Groups ----------------------------------------------------------------------------------------------------


def group_test(metric, reads="labels", null=0.0, **params):
    """Return how `FairnessTest` is asked about a metric of labels, of numbers or of scores."""

    def answer(people, seed):
        given = {
            "labels": {"y_true": people.y_true, "y_pred": people.y_pred},
            "numbers": {"y_true": None, "y_pred": people.value},
            "losses": {"y_true": np.zeros(len(people.value)), "y_pred": np.sqrt(np.abs(people.value))},
            "scores": {"y_true": people.y_true, "y_pred": None, "y_score": people.score},
            "classes": {"y_true": None, "y_pred": np.array(["a", "b", "c"])[people.y_true + people.y_pred]},
            "intervals": {"y_true": people.y_true, "y_pred": np.add.outer(people.y_pred, [-0.5, 0.5])},
        }[reads]
        test = FairnessTest.from_predictions(
            **given, **columns(people), metric=metric, random_state=seed, **resamples(people),
            **({} if "compare" in params else reference(people)), **params,
        )  # fmt: skip
        return of_test(test, null, lambda row: null)

    return answer


def wrong(y_true, y_pred):
    return 1.0 * (y_true != y_pred)


def positive(y_true, y_pred):
    return 1.0 + y_true


#: A ratio of sums, and six rates of the same people.
WRONG_BY_POSITIVE = RatioOfSums(wrong, positive)
SIX_RATES = [*CRITERIA["equalized_odds"], "selection_rate", "precision", "accuracy", "negative_predictive_value"]


def margin_test(alternative):
    """Ratios at the edge of the margin: for the test beyond it, and for equivalence."""

    def answer(people, seed):
        params = {"alternative": alternative, "disparity": "ratio", "margin": EDGE, "random_state": seed}
        test = FairnessTest.from_predictions(
            None, people.y_pred, **columns(people), metric="selection_rate", **compared(people), **params
        )
        ratio = dict(zip(people.names, people.rates / people.rates[-1], strict=True))
        if alternative == "equivalence":  # all must be within the margin, so that each interval holds by itself
            own = rows_of(test.comparisons_, np.nan, lambda row: ratio[row["group"]])[:1]
            return Answer(not test.concern_, own, partial(str, test))
        return of_test(test, EDGE, lambda row: ratio[row["group"]])

    return answer


def bounds(people, seed):
    """Groups crossed with a feature, where the group of a few people is not known."""
    unknown = np.random.default_rng(seed).choice(len(people.labels), 3, replace=False)
    features = pd.DataFrame({"group": people.labels.astype(object), "feature": people.features["f1"]})
    features.loc[unknown, "group"] = None
    test = FairnessTest.from_predictions(
        None, people.y_pred, **columns(people) | {"sensitive_features": features}, metric="selection_rate",
        compare="to_rest", missing="bounds", random_state=seed,
    )  # fmt: skip
    return of_test(test)


def homogeneity(people, seed):
    test = FairnessTest.from_predictions(
        None, people.y_pred, **columns(people), metric="selection_rate", disparity="odds_ratio", random_state=seed
    )
    return Answer(bool((test.homogeneity_["p_value_adjusted"] <= ALPHA).any()), (), partial(str, test))


def p_value(people, seed):
    given = columns(people) | compared(people)
    return Answer(fairness_p_value(people.y_true, people.y_pred, **given, random_state=seed) <= ALPHA)


def frame(people, seed):
    found = SignificanceFrame(
        metrics={"selection rate": fairlearn.metrics.selection_rate}, y_true=people.y_true, y_pred=people.y_pred,
        sensitive_features=people.labels, random_state=seed, test_params=resamples(people),
    )  # fmt: skip
    rows = rows_of(found.difference_test(), 0.0, equal, p="p_value")
    return Answer(bool((found.p_values() <= ALPHA).any()), rows, partial(repr, found))


def impact(people, seed):
    found = impact_table(people.y_pred, sensitive_features=people.labels, smallest_share=0.0)
    rows = rows_of(found[~found["highest"].astype(bool) & found["compared"].astype(bool)], 1.0, lambda row: 1.0)
    return Answer(bool((found["significant"] == True).any()), rows, found.to_string)  # noqa: E712 (NA is not True)


def decomposition(people, seed):
    found = inequality_decomposition(
        people.y_true, people.y_pred, sensitive_features=people.labels, n_resamples=RESAMPLES, random_state=seed
    )
    truth = INDICES["generalized_entropy"](TRUE, PREDICTED, np.array(people.table))
    total = found.parts.loc["total"]
    return Answer(found.p_value <= ALPHA, ((np.nan, total["ci_low"], total["ci_high"], np.nan, truth),),
                  partial(str, found))  # fmt: skip


def between(people, seed):
    found = between_group_spread(
        None, people.y_pred, sensitive_features=people.labels, n_resamples=RESAMPLES, random_state=seed
    )
    row = (found.p_value, found.ci_low, found.ci_high, 0.0, 0.0)
    return Answer(found.p_value <= ALPHA, (row,), partial(str, found))


def audit(people, seed):
    test = FairnessAudit.from_predictions(
        people.y_true, people.y_pred, **columns(people) | {"sensitive_features": _crossed(people, 1)},
        metrics=["demographic_parity", "equalized_odds"], n_resamples=MANY, random_state=seed,
    )  # fmt: skip
    return Answer(bool(test.concern_), rows_of(test.comparisons_, 0.0, equal), partial(str, test))


def _crossed(people, n):
    """The groups and some features of noise."""
    return {"group": people.labels, **dict(list(people.features.items())[:n])}


def scan(metric, compare="to_rest"):
    def answer(people, seed):
        y_pred = people.value if metric == "mean_prediction" else people.y_pred
        given = {"sensitive_features": _crossed(people, len(people.features))}
        if compare == "in_context":
            given = {"sensitive_features": {"group": people.labels}, "X": people.features}
            given["features"] = list(people.features)
        if people.strata is not None:
            given["control_features"] = people.strata
        test = SubgroupScan.from_predictions(
            None, y_pred, **given, metric=metric, compare=compare, min_group_size=10, n_resamples=RESAMPLES,
            random_state=seed,
        )  # fmt: skip
        strongest = (test.p_value_, *test.confidence_interval_, 0.0, 0.0)
        return Answer(bool(test.concern_), (strongest,), partial(str, test))

    return answer


def uncertain(estimate):
    def answer(people, seed):
        groups = dict(zip(people.names, people.probabilities.T, strict=True))
        test = UncertainGroupsTest.from_predictions(
            None, people.y_pred, **columns(people) | {"sensitive_features": groups}, estimate=estimate,
            random_state=seed, **compared(people),
        )  # fmt: skip
        return of_test(test)

    return answer


def shares_of_few(people, seed):
    """Probabilities are shares of 30 cells, each estimated from 5 people, which the likelihood does not allow for."""
    rng, likely = np.random.default_rng([seed, 28]), people.probabilities
    cell = np.argsort(np.argsort(likely[:, 0], kind="stable"), kind="stable") * 30 // len(likely)
    true = np.array([likely[cell == one].mean(axis=0) for one in range(30)])
    shares = np.array([rng.multinomial(5, row / row.sum()) for row in true]) / 5
    groups = dict(zip(people.names, shares[cell].T, strict=True))
    test = UncertainGroupsTest.from_predictions(
        None, people.y_pred, **columns(people) | {"sensitive_features": groups}, n_reference=5,
        random_state=seed, **compared(people),
    )  # fmt: skip
    return of_test(test)


def few_labels(people, seed):
    """Every second label is hidden at random, and a judge guesses all, three quarters of them rightly."""
    rng = np.random.default_rng([seed, 39])
    known, right = rng.random((2, len(people.y_true))) < np.array([[0.5], [0.75]])
    test = LabelledFairnessTest.from_predictions(
        np.where(known, people.y_true, np.nan), people.y_pred, **columns(people), metric="accuracy",
        y_judge=np.where(right, people.y_true, 1 - people.y_true), labelled="at_random", **reference(people),
    )  # fmt: skip
    return of_test(test)


def unequal_labels(people, seed):
    """Right predictions are labelled more often than wrong ones, each with a probability of its own; no judge."""
    rng = np.random.default_rng([seed, 45])
    right = people.y_true == people.y_pred
    probability = np.where(right, 0.6, 0.3) * rng.uniform(0.5, 1.0, len(right))
    test = LabelledFairnessTest.from_predictions(
        np.where(rng.random(len(right)) < probability, people.y_true, np.nan), people.y_pred, **columns(people),
        metric="accuracy", label_probability=probability, **reference(people),
    )  # fmt: skip
    return of_test(test)


def correlation(people, seed):
    given = columns(people, "strata") | {"sensitive_features": people.attribute}
    test = CorrelationFairnessTest.from_predictions(
        None, people.value, **given, of="prediction", n_resamples=RESAMPLES, random_state=seed
    )
    return of_test(test)


def adjusted(people, seed):
    test = AdjustedFairnessTest.from_predictions(
        None, people.y_pred, **columns(people, "clusters"), covariates=people.covariates, random_state=seed,
        **reference(people),
    )  # fmt: skip
    return of_test(test)


# Two models ------------------------------------------------------------------------------------------------


def paired(metric, **params):
    def answer(people, seed):
        numbers = metric == "mean_prediction"
        a, b = (people.value, people.value_b) if numbers else (people.y_pred, people.y_pred_b)
        test = PairedFairnessTest.from_predictions(
            None if numbers or metric == "selection_rate" else people.y_true, a, b, **columns(people), metric=metric,
            random_state=seed, **compared(people), **params,
        )  # fmt: skip
        if "alternative" in params:  # certified that the second model is fairer, though both are alike
            return Answer(not test.concern_, (), partial(str, test))
        return of_test(test)

    return answer


def models(people, seed):
    given = {"a": people.y_pred, "b": people.y_pred_b}
    found = compare_models(
        given, y=people.y_true, **columns(people, "clusters", "strata"), metric="selection_rate", random_state=seed,
        **reference(people),
    )  # fmt: skip
    return Answer(bool(found.concern_), rows_of(found.results, 0.0, equal), partial(str, found))


# Streams ---------------------------------------------------------------------------------------------------

#: Samples of a batch, and the most batches; and the most samples that are taken in turns.
BATCH, BATCHES, SINGLE = 30, 15, 450


def in_batches(people, seed):
    order = arrived(people, seed)[: BATCH * BATCHES]
    return streamed(taken(sequential("batches", people), people, np.split(order, range(BATCH, len(order), BATCH))))


def in_queues(people, seed):
    """Samples one after the other; those of one group that come in a row are taken together."""
    order = arrived(people, seed)[:SINGLE]
    turns = np.flatnonzero(np.diff(people.group[order])) + 1
    return streamed(taken(sequential("queues", people), people, np.split(order, turns)))


def arrived(people, seed):
    order = np.arange(len(people.group))
    return order if people.arrives else np.random.default_rng(seed).permutation(order)


def sequential(blocks, people):
    """Return a stream without data; versions that do not ask what blocks are made of form them of what comes."""
    asks = "blocks" in inspect.signature(SequentialFairnessTest).parameters
    return SequentialFairnessTest(groups=people.names, pos_label=1, **({"blocks": blocks} if asks else {}))


def taken(test, people, batches):
    for rows in batches:
        test.partial_fit(y_pred=people.y_pred[rows], sensitive_features=people.labels[rows])
    return test


def streamed(test):
    return Answer(bool(test.rejected_), rows_of(test.comparisons_, np.nan, equal), partial(str, test))


# Models that are trained, searched and scored ---------------------------------------------------------------


class AsGiven(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are its only feature."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


class NumberAsGiven(RegressorMixin, BaseEstimator):
    """A regression whose predictions are its only feature."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def audited_classifier(people, seed):
    test = FairnessTest(metric="equalized_odds", random_state=seed, **compared(people))
    model = AuditedClassifier(AsGiven(), tests=[test], cv=2, on_rejection="ignore")
    given = columns(people)
    if "sample_weight" in given:
        given["test_weight"] = given.pop("sample_weight")
    model.fit(people.y_pred[:, None].astype(float), people.y_true, **given)
    return of_test(model.fairness_tests_[0])


def audited_regressor(people, seed):
    test = FairnessTest(metric="mean_residual", random_state=seed, **compared(people))
    model = AuditedRegressor(NumberAsGiven(), tests=[test], cv=2, on_rejection="ignore")
    model.fit(people.value[:, None], np.ones(len(people.value)), **columns(people, "clusters", "strata"))
    return of_test(model.fairness_tests_[0])


def score(people, seed, **asked):
    """The score of the predictions, by groups that are passed to the scorer."""
    X = people.y_pred[:, None].astype(float)
    scorer = make_fairness_scorer("demographic_parity", random_state=seed, **compared(people), **asked)
    return scorer(AsGiven().fit(X, people.y_true), X, people.y_true, **columns(people))


def scored(people, seed):
    return Answer(score(people, seed, output="p_value") <= ALPHA)


def selected(people, seed):
    """Whether a candidate whose disparity is the tolerance qualifies."""
    bound = -score(people, seed, output="upper_bound")
    largest = float(np.ptp(people.rates))
    choose = select_fair("accuracy", "fair", tolerance=largest)
    found = {"split0_test_accuracy": np.array([0.9]), "split0_test_fair": np.array([-bound]), "params": [{}]}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        choose(found)
    return Answer(not any("no candidate qualifies" in str(one.message) for one in said),
                  ((np.nan, -np.inf, bound, np.nan, largest),))  # fmt: skip


# Individuals -----------------------------------------------------------------------------------------------


@cache
def audited_model(population):
    """A model whose audit value in a population is the tolerance."""
    design = Individuals("", population, 0.4, 4.0)
    return design.model(design.weight("loss_ratio", TOLERANCE))


def individuals(people, seed):
    X, y, _ = people.individuals.draw(len(people.group), np.random.default_rng(seed))
    model = audited_model(people.individuals)
    test = MAP.test(model, statistic="loss_ratio", tolerance=TOLERANCE).fit(X, y)
    low, high = test.confidence_interval_
    return Answer(bool(test.rejected_), ((np.nan, low, high, np.nan, TOLERANCE),), partial(str, test))
