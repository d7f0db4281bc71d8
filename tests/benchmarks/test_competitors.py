"""Other packages: LiFT's constants, schemes against references, and packages that run here, elsewhere or nowhere."""

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.metrics import roc_auc_score
from statsmodels.stats.proportion import proportions_ztest

from skfairtest import FairnessTest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.reproduce import __main__ as reproduce
from benchmarks.reproduce import _individuals, _lift, _peers, _questions, _schemes, competitors

TABLE = [[80, 20, 20, 80], [80, 20, 45, 55]]


DESIGNS = {"different": (_peers.TPR, [TABLE] * 2)}


@pytest.mark.parametrize("name", _lift.CASES)
def test_lift_gives_its_constants_to_the_last_digits(name):
    people, groups, metric, constants = _lift.CASES[name]
    found = _lift.permutation_test(people, *groups, metric, _lift.TRIALS, _lift.SEED)
    assert list(found.values()) == pytest.approx(constants, abs=1e-12)


def test_the_pooled_statistic_is_that_of_the_z_test():
    counts = np.array(TABLE)
    z = float(_schemes.studentized(counts)["pooled"])
    assert abs(z) == pytest.approx(abs(proportions_ztest([80, 55], [100, 100])[0]), rel=1e-12)
    assert _schemes.z_of_two(np.array([80, 55]), np.array([100, 100])) == pytest.approx(
        proportions_ztest([80, 55], [100, 100])[1], rel=1e-9
    )


def test_permutation_within_the_positives_has_the_hypergeometric_distribution():
    counts, rng = np.array([[5, 5, 3, 7], [5, 5, 7, 3]]), np.random.default_rng(0)
    x = np.arange(11)
    exact = hypergeom.pmf(x, 20, 10, 10)[np.abs(x - 5) >= 2].sum()
    assert exact > _peers.ALPHA
    assert not _schemes.permuted_within(counts, 999, rng)
    assert _schemes.permuted_within(np.array([[5, 5, 0, 10], [5, 5, 8, 2]]), 999, rng)


@pytest.mark.parametrize(("events", "people"), [((30, 45), (100, 100)), ((30, 42), (100, 100)), ((0, 5), (30, 40))])
def test_ours_is_the_decision_of_the_default_test(events, people):
    y_pred = np.concatenate([np.repeat([1, 0], [x, n - x]) for x, n in zip(events, people, strict=True)])
    test = FairnessTest.from_predictions(
        None, y_pred, sensitive_features=np.repeat(["a", "b"], people), metric="selection_rate"
    )
    assert _schemes.ours(events, people) == test.rejected_
    assert (_schemes.all_pairs(np.array(events), np.array(people)) <= _peers.ALPHA) == test.rejected_


def test_the_schemes_do_what_their_packages_do():
    people = np.array([200, 200])
    assert (_schemes.fairaudit_interval(np.array([60, 61, 59]), np.array([200] * 3)) <= 0).all()
    assert not _schemes.jfa_excludes((60, 60), people)
    assert _schemes.jfa_excludes((60, 80), people)
    assert _schemes.fairlens_binomial((60, 60), people) == pytest.approx(1.0)
    first, second = competitors.samples_of((60, 100), people)
    # Differences of resampled groups lie around the difference observed, however large it is.
    for other in (first, second, np.ones(200)):
        assert _schemes.fairlens_bootstrap(first, other, 999, np.random.default_rng(0)) > 0.4
    # In deviations, not in standard errors: two hundred or two million people alike.
    z = _schemes.holisticai_z(first, second)
    assert z == pytest.approx(_schemes.holisticai_z(np.tile(first, 100), np.tile(second, 100)))
    assert competitors.without_zero((60, 60), people, np.random.default_rng(0))


def test_a_call_that_raises_has_no_answer_and_decides_nothing():
    def broken(*_):
        raise ZeroDivisionError

    found = _peers.run_call(_peers.Call("none", "broken", broken), DESIGNS, 2)["different"]
    shown = competitors.figure(found, 0, {"seconds": [1.0]})
    assert shown["no_answer"] == shown["data_sets"] == 2
    assert shown["rejected"] is None
    assert competitors.decided(shown) == "–, no answer 2"


def test_the_slope_is_that_of_the_mean_ratio_in_the_population():
    X, y, _ = _individuals.simulated(np.random.default_rng(0), 300)
    slope = competitors.slope_of(1.25, X, y)
    assert competitors.individual((slope, 1.0), X, y).statistic_ == pytest.approx(1.25, abs=1e-4)
    assert competitors.slope_of(None, X, y) == 0
    assert competitors.individual((0.0, 1.0), X, y).statistic_ < 1.01


def test_infairness_with_the_paper_s_step_decides_as_ours_and_by_default_finds_nobody():
    table = reproduce.stored("competitors")["tables"]["Individual fairness by inFairness"]
    head, rows = table["head"], table["rows"]
    shares = {row[2]: [float(share.partition(" ")[0]) for share in row[3:-1]] for row in rows}
    assert head[3:-1] == [competitors.design_name(*each) for each in competitors.INDIVIDUAL]
    ours = shares["IndividualFairnessTest.as_published"]
    assert shares["SenSRAuditor, step times the number of people, no noise"] == pytest.approx(ours, abs=0.011)
    assert shares["SenSRAuditor, its defaults"] == [0.0] * len(ours)
    assert ours[0] == 0
    assert max(ours[1:3]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert min(ours[3:]) > 0.5


def test_designs_have_the_areas_rates_and_means_that_they_name():
    rng = np.random.default_rng(0)
    given = {"people": (40_000, 40_000), "areas": (0.98, 0.98), "spreads": (1.0, 3.0)}
    data = _questions.areas(rng, **given)
    for name in "ab":
        here = data["group"] == name
        assert roc_auc_score(data["truth"][here], data["score"][here]) == pytest.approx(0.98, abs=0.004)
    data = _questions.labels(rng, (40_000, 40_000), (0.9, 0.1), (0.8, 0.65))
    shares = {
        (name, label): data["predicted"][(data["group"] == name) & (data["truth"] == label)].mean()
        for name in "ab"
        for label in (0, 1)
    }
    assert shares == pytest.approx({("a", 0): 0.2, ("a", 1): 0.8, ("b", 0): 0.2, ("b", 1): 0.65}, abs=0.03)
    data = _questions.two_models(rng, (40_000, 40_000), (0.5, 0.3), (0.5, 0.7))
    rates = {name: (data["after"] - data["before"])[data["group"] == name].mean() for name in "ab"}
    assert rates == pytest.approx({"a": 0.0, "b": 0.2 * 0.4}, abs=0.02)
    data = _questions.errors(rng, (40_000, 40_000), (0.0, 0.2), (1.0, 4.0))
    error = data["system"] - data["human"]
    assert [error[data["group"] == name].std() for name in "ab"] == pytest.approx([1.0, 4.0], rel=0.05)
