"""The figures and tables of Maity et al. (2021): the people, the maps, and the training of the models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.common import adult_compas, fair_training
from benchmarks.common.gradients import log_loss_gradient
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import maity_simulation, maity_tables
from benchmarks.reproduce._expected import NOT, READING, agrees, claims, verdicts
from benchmarks.reproduce._rows import Row
from skfairtest import IndividualFairnessTest, Mahalanobis, Projection

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_the_simulated_people_are_the_published_ones(simulated, golden):
    X, y, minority = maity_simulation.people()
    np.testing.assert_allclose(X, simulated[0], rtol=0, atol=1e-15)
    assert (y == simulated[1]).all()
    assert minority.sum() == golden["minority"]


@pytest.mark.parametrize("how", ["fitted", "doubled"])
def test_intercepts_are_those_of_the_published_code(how, golden):
    X, y, _ = maity_simulation.people()
    found = maity_simulation.intercept_of(np.array(golden["theta"]), X, y, how)
    assert found == pytest.approx(golden["flows"][how]["intercept"], abs=2e-7)  # their bisection stops at 1e-7


def audited(theta, X, y, how, angle, formula):
    """Audit one logistic model with the settings of the simulation, as a user would."""
    intercept = maity_simulation.intercept_of(theta, X, y, how)
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([theta], dtype=float), np.array([intercept])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    if formula:
        metric = Mahalanobis(maity_simulation.held_back(angle, formula))
    else:
        metric = Projection([[np.cos(np.radians(angle)), np.sin(np.radians(angle))]])
    given = maity_simulation.FLOW | {"gradient": log_loss_gradient(model), "tolerance": maity_simulation.TOLERANCE}
    test = IndividualFairnessTest.as_published(model, fair_metric=metric, **given)
    return test.fit(X, y)


@pytest.mark.parametrize(
    ("how", "angle", "formula"),
    [
        pytest.param("doubled", 20, False, marks=pytest.mark.slow),
        ("fitted", 5, True),
        pytest.param("fitted", 10, False, marks=pytest.mark.slow),
    ],
)
def test_all_models_at_once_are_those_tested_one_by_one(how, angle, formula):
    grid, (X, y, _) = np.array([-2.0, 0.0, 1.2]), maity_simulation.people()
    together = maity_simulation.bounds(grid, X, y, how, angle, formula)[-1]
    for second in range(3):
        for first in range(3):
            test = audited(np.array([grid[first], grid[second]]), X, y, how, angle, formula)
            assert together[second, first] == pytest.approx(test.lower_bound_, abs=1e-9)


def test_the_stored_maps_are_those_that_the_rows_are_about():
    document = reproduce.stored("maity_simulation")
    ours = {row["what"]: row["ours"] for row in document["rows"]}
    for angle, values in document["data"]["figure_1"]["maps"].items():
        assert np.shape(values) == (21, 21)
        assert np.max(values) == pytest.approx(
            ours[f"Figure 1, largest T_n, {angle} degrees: the array stored with the published code"], abs=1e-3
        )
    off = [row["answers"] for row in document["rows"] if not Row(**row).agrees]
    assert off == ["simulation.strict", "theory.scale"]  # by a hair, and with lambda fixed


@pytest.fixture(scope="module")
def people():
    """People whose label depends on the first feature, and who belong to a group by the second."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    group = (X[:, 1] + 0.3 * rng.normal(size=600) > 0).astype(int)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=600) > 0).astype(int)
    return adult_compas.People(X, y, pd.DataFrame({"sex": group, "race": 1 - group}))


@pytest.mark.parametrize(
    ("name", "file", "n_people", "n_features", "n_training"),
    [("adult", "adult.csv.gz", 45_222, 39, 36_177), ("compas", "compas.csv", 5_278, 7, 4_222)],
)
def test_people_are_those_of_the_paper(raw_data, name, file, n_people, n_features, n_training):
    """The 45,222 people and the 7 features are in appendices F.1 and G, the other numbers in the authors' code."""
    raw_data(file)
    people, names = adult_compas.load(name)
    assert people.X.shape == (n_people, n_features)
    assert len(names) == n_features
    training, testing = adult_compas.split(name, people, names, 31228)
    assert len(training.y) == n_training
    assert len(testing.y) == n_people - n_training
    numbers = [names.index(number) for number in adult_compas.NUMBERS[name]]
    assert training.X[:, numbers].mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert training.X[:, numbers].std(axis=0) == pytest.approx(1)
    others = np.delete(testing.X, numbers, axis=1)
    assert set(np.unique(others)) == {0, 1}


@pytest.mark.parametrize(
    ("name", "file", "seed", "weights", "coefficients"),
    [
        ("compas", "compas.csv", 20609, [0.15277813, 0.84722187], [-0.38444316, -0.06392774, 0.81221403]),
        pytest.param(
            "adult", "adult.csv.gz", 31228, [0.91086312, 0.01815047, 0.00954917, 0.06143725],
            [0.34784971, 0.65073939, 2.26208444], marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_reductions_are_those_of_the_authors(raw_data, name, file, seed, weights, coefficients):
    """Weights and first coefficients of the authors' stored models, which no other split or class weights give."""
    raw_data(file)
    people, names = adult_compas.load(name)
    training, _ = adult_compas.split(name, people, names, seed)
    regression, bound = fair_training.REDUCTIONS[name]
    # Which models are mixed depends on where the solver stops: scikit-learn 1.9 goes the authors' way with its default
    # tolerance of 1e-4, and 1.6 with 1e-5. Solved to the last digit, it is another mixture, of three models.
    for tol in (1e-4, 1e-5):
        model = fair_training.reductions(
            training.X, training.y, training.crossed(), clone(regression).set_params(tol=tol), bound
        )
        if len(model.weights) == len(weights):
            break
    assert len(model.weights) == len(weights)
    assert model.weights[0] == pytest.approx(weights[0], abs=1e-3)
    assert model.estimators_[0].coef_[0, :3] == pytest.approx(coefficients, abs=1e-3)


def test_slopes_of_the_network_are_those_of_its_losses(people):
    rng = np.random.default_rng(2)
    network = fair_training.Network(3, 8, rng)
    for name in ("first", "first_bias", "last", "last_bias"):
        setattr(network, name, getattr(network, name).astype(float))
    X, y = people.X[:20], people.y[:20]
    slopes = network.slopes(network.hidden(X), y, network.first)
    for feature in range(3):
        step = np.zeros(3)
        step[feature] = 1e-6
        rise = network.losses(network.hidden(X + step), y) - network.losses(network.hidden(X - step), y)
        assert rise / 2e-6 == pytest.approx(slopes[:, feature], abs=1e-6)


def test_a_balanced_regression_is_scikit_learns_where_people_weigh_the_same(people):
    X, y = people.X[people.y + people.groups["sex"] > 0], people.y[people.y + people.groups["sex"] > 0]
    options = {"tol": 1e-10, "max_iter": 1000}
    expected = LogisticRegression(class_weight="balanced", **options).fit(X, y).coef_
    assert fair_training.BalancedLogisticRegression(**options).fit(X, y).coef_ == pytest.approx(expected, rel=1e-5)


def test_projected_networks_do_not_see_the_subspace(people):
    metric = maity_tables.fair_metric([2]).fit(people.X, sensitive_features=people.groups)
    model = fair_training.project(people.X, people.y, 6, metric, steps=50)
    there = people.X + metric.directions_[0] - 3 * metric.directions_[1]
    assert model.predict_proba(there) == pytest.approx(model.predict_proba(people.X), abs=1e-9)


def test_average_odds_difference_of_a_table_counted_by_hand():
    """Rates of group 0: 1/2 of those with label 1, 1/4 of those with 0; of group 1: 1 and 1/2. (-1/2 - 1/4) / 2."""
    y_true = np.array([1, 1, 0, 0, 0, 0, 1, 0, 0])
    y_pred = np.array([1, 0, 1, 0, 0, 0, 1, 1, 0])
    group = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    assert maity_tables.average_odds_difference(y_true, y_pred, group) == pytest.approx(-0.375)


@pytest.mark.slow
def test_models_of_a_split_that_train_in_seconds_come_out_as_stored_and_as_published(raw_data):
    raw_data("compas.csv")
    stored = reproduce.stored("maity_tables")["data"]["splits"]["compas"]
    again = maity_tables.figures_of("compas", maity_tables.SEED[:1], ["project", "reductions"])
    for kind, (split,) in again.items():
        before = stored[kind][0]
        assert split["seeds"] == before["seeds"]
        for key in ("balanced_accuracy", "aod_sex", "aod_race"):
            assert split[key] == pytest.approx(before[key], abs=0.01)
        for key, found in split["audits"].items():
            assert found["lower_bound"] == pytest.approx(before["audits"][key]["lower_bound"], rel=0.02)
    rows = maity_tables.run(quick=True).rows
    assert len(rows) == 17
    assert all(row.agrees for row in rows)


def test_what_is_shown_is_made_of_the_stored_splits():
    document = reproduce.stored("maity_tables")
    assert document["seed"] == [list(pair) for pair in adult_compas.SEEDS]
    assert {"skfairtest", "numpy", "scipy", "python", *maity_tables.LIBRARIES} <= set(document["versions"])
    found = maity_tables.found(**document["data"])
    assert reproduce.stored_rows(found.rows) == document["rows"]
    assert {title: {"head": head, "rows": rows} for title, (head, rows) in found.tables.items()} == document["tables"]
    assert found.facts == document["facts"]


def test_what_is_not_reproduced_is_what_the_page_explains():
    """The published row Project has the figures of our Baseline after 200 steps; one split makes deviations large."""
    found = verdicts({"maity_tables": reproduce.stored("maity_tables")})
    off = {claim.name: claim for claim in found if claim.is_number and claim.status in (NOT, READING)}
    assert {name: claim.status for name, claim in off.items()} == {
        "table3.balanced_accuracy/baseline": NOT,
        "table3.loss_ratio/sensr": READING,
        "table3.loss_ratio/project": READING,
        "table4.project/loss_ratio": READING,
        "table4.reduction/aod_gender": NOT,
        "table4.reduction/aod_race": NOT,
        "table4.sensr/aod_gender": NOT,
        "table4.sensr/loss_ratio": NOT,
    }
    ours = maity_tables.summary(reproduce.stored("maity_tables")["data"]["splits"]["adult"]["baseline"])
    rows = {claim.name: claim for claim in claims(maity_tables.SOURCE)}
    for key, figure in (("balanced_accuracy", "balanced_accuracy"), ("loss_ratio_200_steps", "loss_ratio")):
        mean, spread, *_ = ours[key]
        row = Row("", mean, repetitions=len(maity_tables.SEED), deviation=spread)
        assert agrees(rows[f"table3.{figure}/project"], row)
