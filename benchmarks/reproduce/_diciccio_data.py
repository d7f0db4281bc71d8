"""Section 5 of DiCiccio et al. (2020): logistic regressions on COMPAS and Adult, tested at every threshold."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.make_compas_counts import data_folder
from skfairtest import FairnessTest
from skfairtest.inference.draws import draw_first_rows

ALPHA = 0.05
FILES = {"compas": "compas.csv", "adult": "adult.csv.gz"}
THRESHOLDS = np.linspace(0, 1, 51)
#: The rates at each threshold: false positive rate (truth 0) and recall (truth 1).
METRICS = ("false_positive_rate", "true_positive_rate")
TRIALS = 1000
#: Permuted data sets that are bootstrapped, samples of each, and the thresholds at which deviations are compared.
BOOTSTRAPPED, SAMPLES, COMPARED = 40, 200, (0.1, 0.3, 0.5, 0.7, 0.9)
#: Shares of the people who train the model and who test it; the others, for validation, are not used.
TRAIN, TEST = 0.70, 0.15


@dataclass(frozen=True)
class Data:
    """People: a data frame of features as in the file, labels 0 or 1, and who is a man."""

    features: pd.DataFrame
    y: np.ndarray
    male: np.ndarray

    def encoded(self):
        """Numbers as they are, categories one-hot, missing ones as a category of their own."""
        named = {
            name: column if pd.api.types.is_numeric_dtype(column) else column.fillna("missing")
            for name, column in self.features.items()
        }
        return pd.get_dummies(pd.DataFrame(named), dtype=float).to_numpy()


COMPAS = ["age", "age_cat", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree",
          "c_charge_desc"]  # fmt: skip


def load(name):
    records = pd.read_csv(data_folder() / FILES[name])
    if name == "compas":
        kept = records["days_b_screening_arrest"].between(-30, 30) & records["c_charge_desc"].notna()
        records = records[kept & (records["is_recid"] != -1) & (records["c_charge_degree"] != "O")]
        features, y = records[COMPAS], records["two_year_recid"] == 1
    else:
        features = records.drop(columns=["income", "fnlwgt", "sex", "race", "split"])
        y = records["income"] == ">50K"
    return Data(features, y.to_numpy().astype(int), (records["sex"] == "Male").to_numpy())


def missing():
    """Return the files that are not there."""
    return [file for file in FILES.values() if not (data_folder() / file).exists()]


def split(n, rng):
    """Return who trains and who tests the model."""
    order = rng.permutation(n)
    return order[: int(TRAIN * n)], order[n - int(TEST * n) :]


def fitted(X, y):
    return LogisticRegression(solver="newton-cholesky", max_iter=200).fit(X, y)


def areas(data, n_splits, sequence):
    """Return the areas under the ROC curve of test people in random splits."""
    X, found = data.encoded(), []
    for child in sequence.spawn(n_splits):
        train, test = split(len(data.y), np.random.default_rng(child))
        score = fitted(X[train], data.y[train]).predict_proba(X[test])[:, 1]
        found.append(roc_auc_score(data.y[test], score))
    return np.array(found)


# Rates at all thresholds ------------------------------------------------------------------------------------


def counted(score, y, male):
    """Count people by group (men first), truth and how many thresholds their score reaches: (2, 2, K)."""
    reached = np.searchsorted(THRESHOLDS, score, side="right")
    counts = np.zeros((2, 2, len(THRESHOLDS) + 1), dtype=np.int64)
    np.add.at(counts, (1 - male.astype(int), y, reached), 1)
    return counts


def differences(counts):
    """Men's rate minus women's (..., 2, thresholds) of counts (..., 2, 2, K): of the truly negative, then positive."""
    reached = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = reached[..., 1:] / reached[..., :1]
    return rates[..., 0, :, :] - rates[..., 1, :, :]


@dataclass(frozen=True)
class Tested:
    """The test of section 5 at every threshold, arrays (2, thresholds)."""

    difference: np.ndarray
    percentile: np.ndarray
    p_value: np.ndarray

    @property
    def smallest_detected(self):
        """The smallest difference with a p-value of at most .05, by rate; NaN where there is none."""
        found = np.where(self.p_value <= ALPHA, np.abs(self.difference), np.inf).min(axis=1)
        return np.where(np.isinf(found), np.nan, found)


def tested(counts, rng):
    """Permute all labels; divide the observed difference by its bootstrap deviation and permuted ones by theirs."""
    flat, trials = counts.reshape(2, -1), TRIALS
    difference = differences(counts)
    permuted = differences(draw_first_rows(flat, trials, rng).reshape(trials, *counts.shape))
    sides = [rng.multinomial(side.sum(), side / side.sum(), size=trials) for side in flat]
    resampled = differences(np.stack(sides, axis=1).reshape(trials, *counts.shape))
    spread, bootstrap = permuted.std(axis=0, ddof=1), resampled.std(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        farther = np.abs(permuted) / spread >= np.abs(difference) / bootstrap
    # Where everybody or nobody is predicted positive nothing varies.
    p_value = np.where((spread > 0) & (bootstrap > 0), farther.mean(axis=0), 1.0)
    return Tested(difference, np.quantile(np.abs(permuted), 1 - ALPHA, axis=0), p_value)


def deviation_ratios(counts, rng):
    """Return the mean deviation of bootstraps of permuted data over that of the permutations, where it has one.

    Beside each ratio stands how many people of the smaller group the rate is expected to count, or not to count,
    whichever is less, arrays (2, thresholds).
    """
    flat = counts.reshape(2, -1)
    permuted = draw_first_rows(flat, TRIALS, rng).reshape(TRIALS, 2, -1)
    found = []
    for trial in permuted[:BOOTSTRAPPED]:
        sides = [rng.multinomial(side.sum(), side / side.sum(), size=SAMPLES) for side in trial]
        found.append(np.nanstd(differences(np.stack(sides, axis=1).reshape(SAMPLES, *counts.shape)), axis=0, ddof=1))
    reached = np.cumsum(counts.sum(axis=0)[:, ::-1], axis=-1)[:, ::-1]
    rare = np.minimum(reached[:, 1:], reached[:, :1] - reached[:, 1:]) * flat.sum(axis=1).min() / flat.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.mean(found, axis=0) / differences(permuted.reshape(TRIALS, *counts.shape)).std(axis=0, ddof=1)
    return ratio, rare


def exactly_tested(score, y, male):
    """Return the package's p-values (2, thresholds) of the same differences."""
    sex = np.where(male, "Male", "Female")
    return np.array([
        [
            FairnessTest.from_predictions(
                y, (score >= threshold).astype(int), sensitive_features=sex, metric=metric
            ).p_value_
            for threshold in THRESHOLDS
        ]
        for metric in METRICS
    ])  # fmt: skip


def smallest_by_size(score, y, male, people, repetitions, rng):
    """Return the smallest detected differences (repetitions, 2) of random samples of so many people."""
    found = []
    for _ in range(repetitions):
        own = rng.choice(len(y), people, replace=False)
        found.append(tested(counted(score[own], y[own], male[own]), rng).smallest_detected)
    return np.array(found)


def slope(people, smallest):
    """Return the exponent of people in the smallest detected difference, and its standard error: least squares."""
    x = np.log(np.repeat(people, [len(each) for each in smallest]))
    y = np.log(np.concatenate(smallest))
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    centred = x - x.mean()
    found = centred @ y / (centred @ centred)
    residuals = y - y.mean() - found * centred
    return float(found), float(np.sqrt(residuals @ residuals / (len(y) - 2) / (centred @ centred)))
