import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks import individual
from benchmarks.common.gradients import log_loss_gradient
from benchmarks.common.logistic_population import Map, Population, Truth, logistic, weight_with
from skfairtest import Projection

POPULATION, MAP = Population(truth=(0.5, 1.0, 4.0), minority=0.3), Map()


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command_and_reports_every_part(quick):
    lines = quick("individual", "individual.json")
    assert sum(line.startswith("  few are harmed much") for line in lines) == 6
    assert sum(" differences " in line for line in lines) == 6
    assert sum(" search " in line for line in lines) == 6
    assert sum("own value " in line for line in lines) == 2
    assert sum(" times " in line for line in lines) == 5
    assert any("dropped_although_harmed" in line for line in lines)


def test_stored_verdicts_keep_what_the_documentation_promises():
    stored = json.loads((Path(individual.__file__).parent / "results" / "individual_evidence.json").read_text())
    for cell in (*stored.get("coins", []), *stored["blind"]):
        most = 0.05 if "value" not in cell else 0.07
        assert cell["unfair"]["share"] <= most + 3 * np.sqrt(most * (1 - most) / cell["unfair"]["data_sets"]), cell
    assert all(cell["unfair"]["share"] >= 0.95 for cell in stored["planted"])
    for cell in stored["used"]:
        if cell["value"] < 1.25:
            assert cell["unfair"]["share"] <= 0.05, cell
        elif "weak" not in cell["model"] and cell["people"] >= 1000:
            assert cell["unfair"]["share"] >= 0.9, cell


def plane(weights, bias, n=401):
    """Shares of labels and places on a grid of both features, and the same steps written out."""
    spread = POPULATION.spread
    axis = np.linspace(-7, 7, n) * spread
    mass = np.exp(-0.5 * (axis / spread) ** 2)
    mass = np.multiply.outer(mass, mass).ravel() / mass.sum() ** 2
    for share, shift in ((1 - POPULATION.minority, -POPULATION.shift), (POPULATION.minority, POPULATION.shift)):
        X = np.stack(np.meshgrid(axis + shift, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        positive = expit(POPULATION.truth[0] + X @ POPULATION.truth[1:])
        for y in (0, 1):
            x = X.copy()
            for _ in range(MAP.n_steps):
                slope = (expit(x @ weights + bias) - y)[:, None] * weights
                x = x + MAP.step_size * (slope - 2 * MAP.regularization * (x - X) * [0, 1])
            yield share * mass * (positive if y else 1 - positive), X, x, y


@pytest.mark.slow
def test_true_values_are_those_of_an_integral_over_the_plane():
    weights, bias = np.array([1.2, 3.0]), 0.4
    ratio, means, errors = 0.0, np.zeros(2), np.zeros(2)
    for mass, before, after, y in plane(weights, bias):
        losses = [np.logaddexp(0, (1 - 2 * y) * (x @ weights + bias)) for x in (before, after)]
        ratio += mass @ (losses[1] / losses[0])
        means += [mass @ loss for loss in losses]
        errors += [mass @ ((x @ weights + bias > 0) != y) for x in (before, after)]
    truth = Truth(POPULATION, MAP, bias, *weights)
    assert truth.value("loss_ratio") == pytest.approx(ratio, abs=1e-8)
    assert truth.value("ratio_of_means") == pytest.approx(means[1] / means[0], abs=1e-8)
    # Where labels flip the grid is coarse.
    assert truth.value("error_rate_ratio") == pytest.approx(errors[1] / errors[0], abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", individual.STATISTICS)
def test_a_model_is_found_for_an_audit_value(statistic):
    weight = weight_with(statistic, 1.25, POPULATION, MAP, 1.0, 4.0)
    assert Truth(POPULATION, MAP, 1.0, weight, 4.0).value(statistic) == pytest.approx(1.25, abs=1e-9)


@pytest.mark.slow
def test_a_value_that_no_model_has_is_an_error():
    with pytest.raises(ValueError, match="no weight up to 4 has the loss_ratio 50"):
        weight_with("loss_ratio", 50, POPULATION, MAP, 1.0, 4.0)


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


def test_committed_figures_keep_the_promises_and_name_seed_and_versions():
    document = json.loads((Path(individual.__file__).parent / "results" / "individual.json").read_text())
    assert document["seed"] == individual.SEED
    assert {"skfairtest", "numpy", "scipy", "python"} <= set(document["versions"])
    assert list(individual.failures_of(document)) == []
    assert {(cell["design"], cell["value"]) for cell in document["level"]} == {
        (design.name, value) for design, value in individual.LEVEL
    }


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
