"""Benchmarks of single kinds: their designs are what they say, their figures those of the tests."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks import contradictions
from benchmarks.common import bounds, design, methods, storage
from benchmarks.common.gradients import log_loss_gradient
from benchmarks.common.logistic_population import Map, Population, Truth, logistic
from benchmarks.designs import (
    DESIGNS,
    breaking_points,
    calibration,
    correlation,
    individual,
    labelled,
    paired,
    sequential,
)
from skfairtest import FairnessTest, LabelledFairnessTest, PairedFairnessTest, Projection, Rate, SequentialFairnessTest


def stored(name):
    return json.loads((storage.RESULTS.parent / f"{name}.json").read_text(encoding="utf-8"))


RECORDS = storage.load(storage.RESULTS)


def test_stored_figures_break_no_promise():
    for promise in bounds.promises_of_designs(DESIGNS, RECORDS):
        assert promise.broken == []
    assert [kind for kind in stored("contradictions")["kinds"] if kind["contradictions"]] == []


@pytest.mark.parametrize(
    ("section", "method", "change"),
    [
        ("scans", "scans", {"size": 0.15}),
        ("scans", "scans", {"power": 0.4}),
        ("two models", "two intervals", {"power": 1.0}),
        ("areas of two models", "paired", {"size": 0.2, "warned": 0.5}),
        ("few labels", "labels and a judge", {"coverage": 0.8}),
        ("few labels", "labels and a judge", {"width": 1.0, "power": 0.0}),
        ("unknown groups", "by weighted", {"bias": 0.2}),
        ("inequality", "permutation", {"size": 0.1}),
        ("sums", "sums", {"size": 0.2, "warned": 0.1}),
        ("distributions", "distribution", {"coverage_effect": 0.8}),
        ("several labels", "all labels", {"power": 0.3}),
        ("discrete families", "discrete_holm", {"size": 0.1}),
        ("weights of strata", "weights of strata", {"size": 0.15}),
        ("clusters", "permutation", {"size": 0.15}),
        ("ratios", "asymptotic", {"coverage": 0.8}),
        ("cautions", "permutation", {"size": 0.2, "silently": 0.1}),
        ("known metric", "400 people", {"size": 0.1}),
        ("coins", "learned", {"size": 0.15}),
    ],
)
def test_figures_that_break_a_promise_are_named(section, method, change):
    broken = 0
    for each in DESIGNS:
        methods = RECORDS[each.name]["methods"]
        if each.section == section and set(change) <= set(methods.get(method, ())):
            broken += any(each.broken(methods | {method: methods[method] | change}))
    assert broken


def test_the_page_on_many_groups_shows_the_stored_figures():
    page = (storage.DOC / "guide" / "many_groups.md").read_text(encoding="utf-8")
    shown = []
    for each in DESIGNS:
        methods = RECORDS[each.name]["methods"]
        if each.section == "discrete families" and "power" in methods["holm"]:
            figures = [f"{methods[method][figure]:.2f}".lstrip("0") for figure in ("power", "found")
                       for method in ("holm", "discrete_holm")]  # fmt: skip
            shown.append(f"| {each.name.split('/')[1]} | {' | '.join(figures)} |")
        elif each.section == "real audits":
            for people, figures in methods.items():
                counts = [f"{figures[name]:.0f}" for name in ("holm", "discrete_holm", "comparisons")]
                shown.append(f"| {each.name.split('/')[1]}, {people} | {' | '.join(counts)} |")
    assert len(shown) > 4
    assert [line for line in shown if line not in page.splitlines()] == []


def test_the_loop_stores_means_and_how_many_data_sets_a_method_was_tried_on():
    def ask(rng, n):
        return {"own": {"size": rng.random(n) < 0.05, "width": 2.0}, "other": {"coverage": np.ones(n // 2)}}

    figures = replace(design.Design("one/two", ask, 400, ("own", "other")), data_sets=200).methods()
    assert figures["other"] == {"coverage": 1.0, "data_sets": 100}
    assert figures["own"]["width"] == 2
    assert 0 < figures["own"]["size"] < 0.1


@pytest.mark.parametrize("numbers", [range(6), pytest.param(range(6, 200), marks=pytest.mark.slow)])
def test_breaking_points_are_those_of_every_change_tested_anew(numbers):
    generators = [np.random.default_rng([39, number]) for number in numbers]
    with breaking_points.remembered():
        found = [breaking_points.differences_of(*breaking_points.drawn(rng)) for rng in generators]
    assert sum(wrong is not None for wrong in found) > len(found) / 2
    assert not any(found)


@pytest.mark.parametrize(
    ("p", "low", "high", "params", "wrong"),
    [
        (0.04, -0.1, 0.3, {}, 1),
        (0.04, 0.0, 0.3, {}, 0),
        (0.06, 0.01, 0.3, {}, 1),
        (0.06, 0.0, 0.3, {}, 0),
        (0.04, -0.2, 1.0, {"alternative": "greater"}, 1),
        (0.04, 0.05, 0.3, {"margin": 0.1}, 1),
        (0.04, 0.9, 1.2, {"disparity": "ratio"}, 1),
        (0.06, -0.05, 0.05, {"alternative": "equivalence", "margin": 0.1}, 1),
        (0.06, -0.05, 0.1, {"alternative": "equivalence", "margin": 0.1}, 0),
        (0.04, -0.1, 0.3, {"adjust": None}, 0),
    ],
)
def test_a_contradiction_is_counted(p, low, high, params, wrong):
    frame = pd.DataFrame({"p_value": [0.5], "p_value_adjusted": [p], "ci_low": [low], "ci_high": [high]})
    assert contradictions.judged(frame, params)[2] == wrong


# Two models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rates", [*paired.EQUAL, *paired.DIFFERENT])
def test_a_design_has_the_changes_that_it_says(rates):
    for group in (0, 1):
        plus, minus, both, neither = rates.cells(group)
        assert plus + minus + both + neither == pytest.approx(1)
        assert min(plus, minus, both, neither) >= 0
        assert (plus - minus, both + minus) == pytest.approx((rates.change[group], rates.rates[group]))


@pytest.mark.parametrize("design", paired.LARGER)
def test_a_disparity_is_larger_in_size_by_the_margin(design):
    cells = np.array([design.cells(group) for group in (0, 1)])
    assert cells.min() >= 0
    of_a, of_b = (cells[:, own] + cells[:, 2] for own in (1, 0))
    assert abs(of_b[0] - of_b[1]) - abs(of_a[0] - of_a[1]) == pytest.approx(design.margin)


@pytest.mark.parametrize("shape", ["alike", "spread 3", "bimodal"])
def test_scores_of_two_models_have_the_areas_and_correlations_that_are_said(shape):
    n, areas, correlation = 40_000, (0.9, 0.83), 0.6
    y, *scores = paired.two_scores(n, areas, shape, correlation, np.random.default_rng(3))
    # Four standard errors of an area of n / 2 and n / 2 people are at most 4 * .5 / sqrt(n / 2).
    assert [roc_auc_score(y, score) for score in scores] == pytest.approx(areas, abs=2 / np.sqrt(n / 2))
    negatives = np.stack(scores)[:, ~y]
    assert np.corrcoef(negatives)[0, 1] == pytest.approx(correlation, abs=4 * (1 - correlation**2) / np.sqrt(n / 2))


def test_rejections_are_those_of_the_public_test():
    design = paired.Rates((25, 80), (0.4, 0.3), (0.3, 0.1), (0.2, 0.0))
    counts = paired.draw(design, 6, np.random.default_rng(1))
    mine, _ = paired.paired(paired.of_changes(counts), np.random.default_rng(1))
    for table, rejected in zip(counts, mine, strict=True):
        groups = np.repeat([0, 1], design.people)
        a, b = (
            np.concatenate([np.repeat(says, of_group) for of_group in table]) for says in ([0, 1, 1, 0], [1, 0, 1, 0])
        )
        test = PairedFairnessTest.from_predictions(
            None, a, b, sensitive_features=groups, metric="selection_rate", random_state=0, pos_label=1
        )
        if abs(test.p_value_ - 0.05) > 0.02:  # sampled ones differ by their Monte-Carlo error
            assert test.rejected_ == rejected


# Few labels, streams, correlations, calibration, inequality -----------------------------------------------------------


@pytest.mark.parametrize("how", labelled.DRAWN)
def test_what_is_simulated_is_what_the_test_says(how):
    """The same people, and the rates in bins, verdicts and limits that the benchmark computes of them."""
    people, rates = [], []
    for group, rate in enumerate((0.1, 0.4)):
        rng = np.random.default_rng([3, group])
        y, score = labelled.person("good", group, rate, rng)
        known, probability = labelled.drawn(how, score, 40, rng)
        people.append((np.where(known, y, np.nan), score, np.full(len(y), group), probability))
        rates.append(labelled.data_set("good", how, group, rate, 40, np.random.default_rng([3, group]))[0])
    y_true, judge, group, probability = zip(*people, strict=True)
    drawn = {"labelled": "at_random"} if how == "at random" else {"label_probability": np.concatenate(probability)}
    test = LabelledFairnessTest.from_predictions(
        np.concatenate(y_true), np.ones(2 * labelled.PEOPLE), sensitive_features=np.concatenate(group),
        y_judge=np.concatenate(judge), metric=Rate("share", event="y_true"), **drawn,
    )  # fmt: skip
    sides = labelled.LabelledRate.stacked(*([rate] for rate in rates))
    assert test.statistic_ == pytest.approx(float(labelled.disparity_statistic(sides, 0.0, "difference")[0]))
    limits = labelled.disparity_limits(sides, "difference", labelled.Z)[:, 0]
    assert test.confidence_interval_ == pytest.approx(tuple(limits))
    assert test.rejected_ == labelled.rejected(sides)[0]


@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_streams_that_are_simulated_together_are_those_of_the_class(method):
    stream, rng = sequential.FAIR["a group is often missing"], np.random.default_rng(0)
    together = sequential.begun(3, method)
    alone = [SequentialFairnessTest(blocks="batches", method=method, groups=["a", "b"]) for _ in range(3)]
    for look, counts in enumerate(stream.batches(3, rng)):
        log_e = sequential.take(together, counts)
        for test, own in zip(alone, counts.astype(int), strict=True):
            test.partial_fit(
                y_pred=np.repeat([0, 1, 0, 1], own.ravel()), sensitive_features=np.repeat(list("aabb"), own.ravel())
            )
        if look == 12:
            break
    np.testing.assert_allclose(np.exp(log_e), [test.comparisons_["e_value"].item() for test in alone], rtol=1e-9)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    "design",
    [d for d in correlation.known() if d.people == 40],
    ids=lambda each: each.name,
)
def test_designs_have_the_correlation_that_they_name(design, thorough):
    """The median of samples of 20,000 people, of which heavy tails leave the correlation uncertain."""
    rng = np.random.default_rng(0)
    measure = stats.spearmanr if design.correlation == "spearman" else stats.pearsonr
    big = replace(design, people=20_000)
    found = []
    for _ in range(30 if thorough else 15):
        features, outcome = big.data(rng)
        found.append([measure(x, outcome).statistic for x in features.values()])
    np.testing.assert_allclose(np.median(found, axis=0), design.truth, atol=0.04)


@pytest.mark.parametrize(
    ("question", "metric"), [("between", "kuiper_calibration"), ("within", "calibration_within_groups")]
)
def test_p_values_are_those_of_a_fairness_test(question, metric):
    score, outcome, group = calibration.draw(600, "half the slope", np.random.default_rng(1))
    p = calibration.QUESTIONS[question](score, outcome, group, np.random.default_rng(0))["Kuiper"]
    test = FairnessTest.from_predictions(
        outcome.astype(int), score, sensitive_features=group, metric=metric, n_resamples=999, random_state=0
    )
    found = test.comparisons_.set_index("group")["p_value"]
    mine = found.loc[1] if question == "within" else found.iloc[0]
    assert mine == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / calibration.RESAMPLES) + 0.01)


@pytest.mark.parametrize("cell", [d for d in DESIGNS if d.section == "inequality"], ids=lambda cell: cell.name)
def test_groups_are_equal_where_they_are_said_to_be(cell):
    first, second = methods.true_values(cell, cell.null)
    assert first == pytest.approx(second, abs=1e-9)
    if cell.effect is not None:
        first, second = methods.true_values(cell, cell.effect)
        assert abs(first - second) > 0.01


# Similar people -------------------------------------------------------------------------------------------------------

POPULATION, MAP = Population(truth=(0.5, 1.0, 4.0), minority=0.3), Map()


def test_of_a_metric_only_what_it_leaves_free_of_the_weights_counts():
    """The value of people in three dimensions, whose free direction is askew, is that of an integral over the score."""
    population = Population(truth=(0.5, 1.0, 4.0), minority=0.3, n_features=3)
    weights = population.along(1.2, 3.0)
    direction = np.array([2.0, 1.0, -0.5]) / np.linalg.norm([2.0, 1.0, -0.5])
    X, y, _ = population.draw(20_000, np.random.default_rng(1))
    metric = Projection([direction]).fit(X)
    (before, after), _, _ = MAP.moved(logistic(0.4, weights), X, y, fair_metric=metric)
    ratios = after / before
    value = Truth(population, MAP, 0.4, 1.2, 3.0, free=(direction @ weights) ** 2).value("loss_ratio")
    assert abs(ratios.mean() - value) < 4 * ratios.std() / np.sqrt(len(ratios))
    assert abs(Truth(population, MAP, 0.4, 1.2, 3.0).value("loss_ratio") - value) > 0.01


def test_a_pool_that_the_test_does_not_reproduce_is_noticed():
    model = individual.FEW.model(1.0)
    X, y, losses, wrong = individual.pool(individual.FEW.population, MAP, model, 200, np.random.default_rng(2))
    test = MAP.test(model, statistic="ratio_of_means", tolerance=1.25)
    individual.check(test, X, y, losses, wrong, 100)
    with pytest.raises(SystemExit, match="where the pool has"):
        individual.check(test, X, y, losses * [[1.0], [1.1]], wrong, 100)


def test_gradients_are_those_of_the_losses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    members = [("a", FrozenEstimator(LogisticRegression().fit(X, y))), ("b", LogisticRegression(C=0.01))]
    perceptron = MLPClassifier((6,), random_state=0, max_iter=2000, tol=1e-3)
    for model in (LogisticRegression(), perceptron, VotingClassifier(members, voting="soft", weights=[0.3, 0.7]),
                  make_pipeline(StandardScaler(), perceptron)):  # fmt: skip
        model.fit(X, y)
        found, step = log_loss_gradient(model)(X, y), 1e-6 * np.eye(3)
        up, down = (
            np.stack([-np.log(model.predict_proba(X + sign * each)[np.arange(200), y]) for each in step], axis=1)
            for sign in (1, -1)
        )
        np.testing.assert_allclose(found, (up - down) / 2e-6, atol=1e-7)
