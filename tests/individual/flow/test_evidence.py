"""Whether there is a trace, and which columns hold it: exact p-values, and what is selected."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

from skfairtest.individual import fair_metrics
from skfairtest.individual.fair_metrics import Design, exact_columns, out_of_fold, support


def indicators(codes):
    return (np.asarray(codes)[:, None] == np.unique(codes)).astype(float)


def shifted(n, seed, shift, width=1, correlation=0.95, others=3):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, width + others))
    if width > 1:
        X[:, :width] = np.sqrt(correlation) * rng.normal(size=(n, 1)) + np.sqrt(1 - correlation) * X[:, :width]
    X[:, :width] += shift * sex[:, None]
    return X, sex


def test_out_of_fold_by_hand():
    X, sex = shifted(60, 0, 1.5)
    folds = np.arange(60) % 5
    predicted, actual = [], []
    for fold in range(5):
        line = LinearRegression().fit(X[folds != fold], sex[folds != fold])
        predicted.append(line.predict(X[folds == fold]) - sex[folds != fold].mean())
        actual.append(sex[folds == fold])
    found = out_of_fold(X, indicators(sex), folds, labels=True)
    scores = np.concatenate(predicted)
    assert found == (pytest.approx(roc_auc_score(np.concatenate(actual), scores), abs=1e-12), 1 / 500)


def test_the_p_value_is_that_of_all_permutations(monkeypatch):
    rng = np.random.default_rng(3)
    X, numbers, folds = rng.normal(size=(6, 1)), rng.normal(size=6), np.arange(6) % 2
    numbers = numbers + 0.8 * X[:, 0]

    def covariance(values):
        scaled = (values - values.mean()) / values.std()
        total = 0.0
        for fold in range(2):
            others, own = folds != fold, folds == fold
            line = np.polyfit(X[others, 0], scaled[others], 1)
            # around the mean of the fold's people: the prediction of a mean is no trace
            total += (np.polyval(line, X[own, 0]) - scaled[others].mean()) @ scaled[own]
        return total

    observed = covariance(numbers)
    exact = np.mean([covariance(numbers[list(order)]) >= observed - 1e-9 for order in permutations(range(6))])
    monkeypatch.setattr(fair_metrics, "N_PERMUTATIONS", 2000)
    monkeypatch.setattr(fair_metrics, "ENOUGH", 2000)
    found = out_of_fold(X, numbers[:, None], folds, labels=False)
    assert found[1] == pytest.approx(exact, abs=4 * np.sqrt(exact / 2000))


@pytest.mark.parametrize("labels", [2, 4, None], ids=["two levels", "four levels", "numbers"])
def test_what_is_independent_has_a_trace_as_often_as_the_level_says(labels, thorough):
    rng = np.random.default_rng(0)
    rejected, n = [], 1000 if thorough else 60
    for _ in range(n):
        X = rng.normal(size=(60, 4))
        drawn = rng.exponential(size=(60, 1)) if labels is None else indicators(rng.integers(0, labels, 60))
        rejected.append(out_of_fold(X, drawn, np.arange(60) % 5, labels=labels is not None)[1] <= 0.05)
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_neither_units_nor_a_change_of_basis_changes_a_trace():
    X, sex = shifted(300, 1, 0.3)
    folds = np.arange(300) % 5
    found = out_of_fold(X, indicators(sex), folds, labels=True)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    for other in (X * [1e-6, -3.0, 1e8, 2.0] + 7, X @ turned, np.column_stack([X, X[:, 0] + X[:, 1], np.ones(300)])):
        again = out_of_fold(other, indicators(sex), folds, labels=True)
        assert again == pytest.approx(found, abs=1e-9)


def test_only_what_is_significant_is_kept():
    kept = [tuple(np.flatnonzero(np.diag(_support(*shifted(1000, seed, 0.5))))) for seed in range(25)]
    assert all(0 in columns for columns in kept)
    assert sum(columns != (0,) for columns in kept) <= 5  # at a level of 5%, more have a probability of .002


def _support(X, sex):
    return support(Design(X), indicators(sex)[:, 1:], 0.05)


@pytest.mark.parametrize("n", [1000, 4000])
def test_columns_that_hide_each_other_are_kept_as_what_they_have_in_common(n):
    for seed in range(6):
        found = _support(*shifted(n, seed, 0.5, width=6))
        common = np.ones(6) @ found[:6, :6]
        assert np.trace(found[:6, :6]) == pytest.approx(1, abs=1e-9)  # one component
        assert common / np.linalg.norm(common) == pytest.approx(np.full(6, 6**-0.5), abs=0.05)


def test_a_contrast_of_two_columns_that_correlate_is_kept():
    rng = np.random.default_rng(0)
    sex, common = rng.integers(0, 2, 2000), rng.normal(size=2000)
    X = np.column_stack([common, common, rng.normal(size=2000)]) + 0.3 * rng.normal(size=(2000, 3))
    X[:, 0] += 0.5 * sex
    X[:, 1] -= 0.5 * sex
    assert _support(X, sex) == pytest.approx(np.diag([1.0, 1.0, 0.0]), abs=1e-6)


def test_something_is_kept_where_nothing_is_significant():
    rng = np.random.default_rng(5)
    X, coin = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    assert np.trace(_support(X, coin)) == 1


def test_the_indicators_of_a_category_are_kept_together():
    rng = np.random.default_rng(0)
    job = rng.integers(0, 4, 2000)
    sex = (rng.random(2000) < np.array([0.3, 0.5, 0.5, 0.5])[job]).astype(int)
    X = np.column_stack([indicators(job), rng.normal(size=2000)])
    assert np.diag(_support(X, sex)).tolist() == [1, 1, 1, 1, 0]


def test_a_variable_that_is_made_of_columns():
    rng = np.random.default_rng(0)
    job, other = rng.integers(0, 3, 100), rng.normal(size=(100, 2))
    X = np.column_stack([other, indicators(job)])
    assert exact_columns(Design(X), indicators(job)).tolist() == [2, 3, 4]
    assert exact_columns(Design(X[:, :4]), indicators(job)).tolist() == [2, 3]  # a level is dropped
    assert not len(exact_columns(Design(other), indicators(job)))
    assert not len(
        exact_columns(Design(rng.normal(size=(5, 9))), indicators([0, 1, 0, 1, 1]))
    )  # as many columns as people
