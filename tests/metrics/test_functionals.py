"""Values and standard errors of metrics as functions of counts, against scikit-learn and direct computation."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)
from statsmodels.regression.linear_model import OLS, WLS

from skfairtest.metrics import Bootstrap, Evaluated, Jackknife, Mean, Robust, Share
from skfairtest.metrics.confusion import ClassScores, GeometricMean, Kappa, Matthews, OfLabels
from skfairtest.metrics.counted import AveragePrecision, Determination
from skfairtest.metrics.functionals import Auc
from skfairtest.metrics.rates import f1_of_jaccard, f1_slope

RNG = np.random.default_rng(20240521)
K = 12
Z = RNG.normal(3.0, 2.0, K)
TRUE = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
PREDICTED = np.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1])
SCORE = np.array([0.1, 0.5, 0.2, 0.3, 0.5, 0.7, 0.5, 0.9, 0.2, 0.8, 0.4, 0.7])
TRUE3 = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
PREDICTED3 = np.array([0, 1, 2, 0, 1, 1, 0, 2, 2, 2, 1, 0])
COUNTS = np.array([4, 2, 1, 3, 1, 2, 5, 1, 2, 3, 1, 4])
WEIGHT = np.array([0.5, 2.0, 1.0, 3.0, 0.25, 1.5, 1.0, 0.75, 2.0, 1.0, 4.0, 0.5])


def _share(event, given, *, f1=False):
    return Share(event & given, given, f1_of_jaccard, f1_slope) if f1 else Share(event & given, given)


def _of_classes(wrongly, missed, true=TRUE3, predicted=PREDICTED3, **options):
    return ClassScores(true, predicted, wrongly, missed, **options)


def _f_score(beta, true=TRUE, predicted=PREDICTED):
    wrong, missed = (predicted == 1) & (true == 0), (predicted == 0) & (true == 1)
    right = ((predicted == 1) & (true == 1)).astype(float)
    return Share(right, right + (wrong + beta**2 * missed) / (1 + beta**2))


def _geometric_mean(mass):
    return np.prod(recall_score(TRUE3, PREDICTED3, average=None, sample_weight=mass)) ** (1 / 3)


#: A functional, and the same metric of masses as scikit-learn (or NumPy) computes it.
def _recalled(true, predicted, kind=ClassScores):
    return kind(true, predicted, classes=np.unique(true), absent=False)


METRICS = {
    "mean": (Mean(Z), lambda mass: np.average(Z, weights=mass)),
    "recall": (
        _share(PREDICTED == 1, TRUE == 1),
        lambda mass: recall_score(TRUE, PREDICTED, sample_weight=mass),
    ),
    "f1": (
        _share((TRUE == 1) & (PREDICTED == 1), (TRUE == 1) | (PREDICTED == 1), f1=True),
        lambda mass: f1_score(TRUE, PREDICTED, sample_weight=mass),
    ),
    "auc": (Auc(TRUE == 1, SCORE), lambda mass: roc_auc_score(TRUE, SCORE, sample_weight=mass)),
    "balanced accuracy": (
        _recalled(TRUE, PREDICTED),
        lambda mass: balanced_accuracy_score(TRUE, PREDICTED, sample_weight=mass),
    ),
    "balanced accuracy of three": (
        _recalled(TRUE3, PREDICTED3),
        lambda mass: balanced_accuracy_score(TRUE3, PREDICTED3, sample_weight=mass),
    ),
    "matthews": (
        Matthews(TRUE, PREDICTED),
        lambda mass: matthews_corrcoef(TRUE, PREDICTED, sample_weight=mass),
    ),
    "matthews of three": (
        Matthews(TRUE3, PREDICTED3),
        lambda mass: matthews_corrcoef(TRUE3, PREDICTED3, sample_weight=mass),
    ),
    "f2": (_f_score(2.0), lambda mass: fbeta_score(TRUE, PREDICTED, beta=2, sample_weight=mass)),
    "f0.5": (_f_score(0.5), lambda mass: fbeta_score(TRUE, PREDICTED, beta=0.5, sample_weight=mass)),
    **{
        f"{name} of three, {average}": (
            _of_classes(*counted, weighted=average == "weighted"),
            lambda mass, score=score, average=average: score(TRUE3, PREDICTED3, average=average, sample_weight=mass),
        )
        for name, counted, score in (
            ("precision", (1.0, 0.0), precision_score),
            ("recall", (0.0, 1.0), recall_score),
            ("f1", (0.5, 0.5), f1_score),
            ("jaccard", (1.0, 1.0), jaccard_score),
        )
        for average in ("macro", "weighted")
    },
    "kappa": (
        Kappa(TRUE3, PREDICTED3),
        lambda mass: cohen_kappa_score(TRUE3, PREDICTED3, sample_weight=mass),
    ),
    "geometric mean": (_recalled(TRUE3, PREDICTED3, GeometricMean), _geometric_mean),
    "average precision": (
        AveragePrecision(TRUE == 1, SCORE),
        lambda mass: average_precision_score(TRUE, SCORE, sample_weight=mass),
    ),
    "r2": (Determination(Z, Z[::-1] / 2 + 1), lambda mass: r2_score(Z, Z[::-1] / 2 + 1, sample_weight=mass)),
}
#: Those of which the variance is not that of the parts.
OWN_VARIANCE = {
    "auc", "balanced accuracy", "balanced accuracy of three", "precision of three, macro", "recall of three, macro",
    "geometric mean", *(name for name, (functional, _) in METRICS.items() if isinstance(functional, OfLabels)),
}  # fmt: skip
named = pytest.mark.parametrize("name", METRICS)


def slopes(evaluate, mass, step=1e-5):
    """Return derivatives by mass, by central differences."""
    out = np.empty(len(mass))
    for cell in range(len(mass)):
        up, down = mass.astype(float), mass.astype(float)
        up[cell] += step
        down[cell] -= step
        out[cell] = (evaluate(up) - evaluate(down)) / (2 * step)
    return out


def people(counts):
    """Return the cells of people one by one."""
    return np.repeat(np.arange(len(counts)), counts)


# Values and linearized errors -----------------------------------------------------------------------------------------


@pytest.mark.in_turn(3)
@named
def test_values_are_those_of_scikit_learn(name):
    functional, reference = METRICS[name]
    assert float(functional.values(COUNTS.astype(float))) == pytest.approx(reference(COUNTS), rel=1e-12)
    assert float(functional.moments(COUNTS.astype(float))[0]) == pytest.approx(reference(COUNTS), rel=1e-12)
    masses = COUNTS * WEIGHT
    assert float(functional.values(masses)) == pytest.approx(reference(masses), rel=1e-12)


@pytest.mark.in_turn(3)
@named
def test_parts_are_masses_times_derivatives(name):
    functional, reference = METRICS[name]
    for masses in (COUNTS.astype(float), COUNTS * WEIGHT):
        value, parts = functional.parts(masses)
        assert float(value) == pytest.approx(reference(masses), rel=1e-12)
        np.testing.assert_allclose(parts, masses * slopes(reference, masses), atol=1e-7)


@pytest.mark.parametrize("name", sorted(METRICS.keys() - OWN_VARIANCE))
def test_variances_are_those_of_the_delta_method(name):
    functional, reference = METRICS[name]
    counts = COUNTS.astype(float)
    n = counts.sum()
    expected = (counts * slopes(reference, counts) ** 2).sum() * n / (n - 1)
    assert float(functional.moments(counts)[1]) == pytest.approx(expected, rel=1e-6)


@named
def test_many_tables_at_once_are_the_same_as_one_by_one(name):
    functional, _ = METRICS[name]
    tables = RNG.integers(1, 6, size=(2, 3, K)).astype(float)
    values, variances = functional.moments(tables)
    assert values.shape == variances.shape == (2, 3)
    assert functional.effective(tables).shape == (2, 3)
    for place in np.ndindex(2, 3):
        one = functional.moments(tables[place])
        assert (float(one[0]), float(one[1])) == pytest.approx((values[place], variances[place]), rel=1e-12)


def test_memberships_split_people_as_a_pair_of_counts_does():
    members = np.array([[1, 0] * 6, [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0]], dtype=np.uint8)
    for a, b in zip(Mean(Z).split(members), Mean(Z).pair(members.astype(float), 1.0 - members), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


# Means ----------------------------------------------------------------------------------------------------------------


def test_the_variance_of_a_mean_is_s_squared_over_n():
    values = Z[people(COUNTS)]
    mean, variance = Mean(Z).moments(COUNTS.astype(float))
    assert float(mean) == pytest.approx(values.mean(), rel=1e-14)
    assert float(variance) == pytest.approx(values.var(ddof=1) / len(values), rel=1e-12)


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 0.0, -7.7, 1e12])
def test_a_constant_has_no_variance_at_all(constant):
    value, variance = Mean(np.full(7, constant)).moments(np.array([[1, 2, 3, 4, 5, 6, 7], [3, 0, 0, 1, 0, 0, 0]]))
    np.testing.assert_allclose(value, constant, rtol=1e-15)
    assert variance.tolist() == [0.0, 0.0]


def test_the_covariance_with_everybody_is_that_of_the_people_shared():
    # mean_1 and the mean of all share the n_1 people of the first side.
    first = np.where(np.arange(K) < 5, COUNTS, 0).astype(float)
    everyone = COUNTS.astype(float)
    found = Mean(Z).pair(first, everyone, shared=True)
    z1, z = Z[people(first.astype(int))], Z[people(COUNTS)]
    n1, n = len(z1), len(z)
    # As the variances, of n - 1 people on either side.
    expected = ((z1 - z1.mean()) * (z1 - z.mean())).sum() / np.sqrt(n1 * (n1 - 1) * n * (n - 1))
    assert float(found.covariance) == pytest.approx(expected, rel=1e-10)
    apart = Mean(Z).pair(first, everyone - first)
    assert float(apart.covariance) == 0.0


# Rates ----------------------------------------------------------------------------------------------------------------


def test_two_rates_have_their_errors_around_the_pooled_rate():
    share = _share(PREDICTED == 1, TRUE == 1)
    # Nobody of the first side shows the event: the plug-in error would be 0.
    first = np.array([3, 2, 1, 3, 1, 2, 0, 0, 2, 0, 1, 0], dtype=float)
    second = COUNTS.astype(float)
    found = share.pair(first, second)
    given = TRUE == 1
    d1, d2 = first[given].sum(), second[given].sum()
    x1, x2 = first[given & (PREDICTED == 1)].sum(), second[given & (PREDICTED == 1)].sum()
    pooled = (x1 + x2) / (d1 + d2)
    assert (float(found.first), float(found.second)) == pytest.approx((x1 / d1, x2 / d2))
    for variance, x, d in ((found.first_variance, x1, d1), (found.second_variance, x2, d2)):
        # The people's own squares, and those of ten who are as spread as everybody.
        own, spread = x * (1 - pooled) ** 2 + (d - x) * pooled**2, pooled * (1 - pooled)
        expected = (own + 10 * spread) / (d + 10) / d
        assert float(variance) == pytest.approx(expected, rel=1e-12)
    assert float(found.first_variance) > 0
    # Beside the null hypothesis no variance is below that of one event and one other person more.
    apart = share.pair(first, second, null=False)
    smooth = 1 / (d1 + 2)
    assert float(apart.first_variance) == pytest.approx(smooth * (1 - smooth) / (d1 + 2), rel=1e-12)


def test_weights_that_follow_the_event_have_their_own_error_not_that_of_kish():
    # A post-stratified sample: everyone with the event weighs 2, the others 1. Its linearized variance is
    # sum w^2 (y - p)^2 / W^2, taken with one event and one other more of the usual weight, sum w^2 / sum w.
    x, n = 140, 200
    event = np.array([True, False])
    robust = Robust(_share(event, np.ones(2, dtype=bool)), np.array([2.0, 1.0]))
    counts = np.array([x, n - x], dtype=float)
    total, squares = 2.0 * x + (n - x), 4.0 * x + (n - x)
    usual = squares / total
    p = (2.0 * x + usual) / (total + 2 * usual)
    expected = (4 * x * (1 - p) ** 2 + (n - x) * p**2 + usual**2 * ((1 - p) ** 2 + p**2)) / (total + 2 * usual) ** 2
    found = float(robust.pair(counts, counts, null=False).first_variance)
    assert found == pytest.approx(expected, rel=1e-12)
    rate = 2 * x / total
    assert found == pytest.approx((4 * x * (1 - rate) ** 2 + (n - x) * rate**2) / total**2, rel=0.03)
    assert found < 0.7 * rate * (1 - rate) * squares / total**2  # Kish's


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("weight", [None, np.array([0.3, 2.0])])
def test_one_person_alone_has_an_error(null, shared, weight):
    robust = Robust(_share(np.array([True, False]), np.ones(2, dtype=bool)), weight)
    alone, others = np.array([1.0, 0.0]), np.array([4.0, 6.0])
    found = robust.pair(alone, others, null=null, shared=shared)
    assert np.isfinite(found).all()
    assert float(found.first_variance) > 0.02


# Areas under the curve ------------------------------------------------------------------------------------------------


# Standard errors against brute force ----------------------------------------------------------------------------------


@named
def test_standard_errors_are_those_of_the_jackknife_with_many_people(name):
    functional, _ = METRICS[name]
    counts = 400.0 * COUNTS
    expected = np.sqrt(Jackknife(functional).moments(counts)[1])
    tolerance = 0.02 if name in ("balanced accuracy", "balanced accuracy of three") else 0.005
    assert float(np.sqrt(functional.moments(counts)[1])) == pytest.approx(float(expected), rel=tolerance)


# Several classes ------------------------------------------------------------------------------------------------------


def test_a_class_that_nobody_is_in_is_left_out_as_in_scikit_learn():
    counts = np.where((TRUE3 == 2) | (PREDICTED3 == 2), 0, COUNTS).astype(float)
    for shares, score in (((1.0, 0.0), precision_score), ((0.5, 0.5), f1_score), ((1.0, 1.0), jaccard_score)):
        expected = score(TRUE3[counts > 0], PREDICTED3[counts > 0], average="macro", sample_weight=counts[counts > 0])
        assert float(_of_classes(*shares).values(counts)) == pytest.approx(expected, rel=1e-14)
        value, parts = _of_classes(*shares).parts(counts)
        assert float(value) == pytest.approx(expected, rel=1e-14)
        assert np.isfinite(parts).all()


@pytest.mark.parametrize(("undefined", "expected"), [(None, np.nan), (0.0, 0.0), (1.0, 1.0), (np.nan, np.nan)])
def test_a_class_that_nobody_is_predicted_to_be_in_has_no_precision(undefined, expected):
    counts = np.where(PREDICTED3 == 2, 0, COUNTS).astype(float)
    found = _of_classes(1.0, 0.0, undefined=undefined)
    value, variance = found.moments(counts)
    if undefined is None:  # scikit-learn warns, and takes it for 0
        assert np.isnan(value)
        assert np.isnan(variance)
        return
    rows = people(np.where(PREDICTED3 == 2, 0, COUNTS))
    sklearns = precision_score(TRUE3[rows], PREDICTED3[rows], average="macro", zero_division=undefined)
    assert float(value) == pytest.approx(sklearns, rel=1e-14)
    assert 0 < float(variance) < 1


def test_a_weighted_average_without_an_undefined_class_has_the_derivatives_of_its_own_weights():
    functional = _of_classes(1.0, 0.0, weighted=True, undefined=np.nan)
    masses = np.where(PREDICTED3 == 2, 0, COUNTS * WEIGHT)  # class 2 has people, and no precision
    kept = masses > 0
    expected = np.where(kept, masses * slopes(functional.values, masses), 0)
    np.testing.assert_allclose(functional.parts(masses)[1], expected, atol=1e-7)


def test_nobody_has_no_average():
    for name in METRICS:
        value, variance = METRICS[name][0].moments(np.zeros(K))
        assert np.isnan(value), name
        assert np.isnan(variance), name


def test_a_geometric_mean_with_a_recall_of_zero_is_zero_and_has_a_standard_error():
    functional = _recalled(TRUE3, PREDICTED3, GeometricMean)
    counts = np.where((TRUE3 == 2) & (PREDICTED3 == 2), 0, COUNTS).astype(float)
    value, variance = functional.moments(counts)
    assert float(value) == 0
    assert float(variance) > 0
    assert np.isfinite(functional.parts(counts)[1]).all()


def test_constant_labels_have_no_kappa_and_a_constant_truth_no_r2():
    assert np.isnan(
        Kappa(TRUE3, PREDICTED3).values(np.where((TRUE3 == 0) & (PREDICTED3 == 0), COUNTS, 0).astype(float))
    )
    one = np.zeros(K)
    one[3] = 7
    assert np.isnan(METRICS["r2"][0].values(one))
    assert np.isnan(Determination(np.full(4, 0.1), np.arange(4.0)).values(np.ones(4)))


def test_r2_far_from_zero_keeps_its_digits():
    rng = np.random.default_rng(2)
    y, error = rng.normal(size=50), rng.normal(size=50)
    near, far = Determination(y, y + error), Determination(y + 1e6, y + error + 1e6)
    assert float(far.moments(np.ones(50))[0]) == pytest.approx(float(near.moments(np.ones(50))[0]), rel=1e-9)
    assert float(far.moments(np.ones(50))[1]) == pytest.approx(float(near.moments(np.ones(50))[1]), rel=1e-8)


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_average_precision_is_that_of_scikit_learn_however_many_scores_are_tied(decimals):
    rng = np.random.default_rng(9)
    truth, score = rng.integers(0, 2, 80), rng.normal(size=80).round(decimals)
    functional = AveragePrecision(truth == 1, score)
    drawn = rng.integers(0, 3, (5, 80))
    found = functional.moments(drawn)[0]
    for value, times in zip(found, drawn, strict=True):
        assert float(value) == pytest.approx(average_precision_score(truth, score, sample_weight=times), rel=1e-12)
    for absent in (0, 1):
        value, _ = functional.moments(np.where(truth == absent, 0, 1))
        assert np.isnan(value) if absent else float(value) == 1.0


# Balanced accuracy and Matthews ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("true", "predicted"), [(TRUE, PREDICTED), (TRUE3, PREDICTED3)])
def test_balanced_accuracy_has_the_variance_of_one_person_more_in_every_cell(true, predicted):
    functional = _recalled(true, predicted)
    classes = np.unique(true)
    expected = 0.0
    for label in classes:
        n, right = COUNTS[true == label].sum(), COUNTS[(true == label) & (predicted == label)].sum()
        p = (right + 1) / (n + 2)
        expected += p * (1 - p) / (n + 2) / len(classes) ** 2
    assert float(functional.moments(COUNTS.astype(float))[1]) == pytest.approx(expected, rel=1e-12)
    assert float(functional.effective(COUNTS.astype(float))) == min(COUNTS[true == label].sum() for label in classes)


@pytest.mark.parametrize("name", ["matthews of three", "f1 of three, macro", "jaccard of three, weighted", "kappa"])
def test_the_variance_of_a_metric_of_labels_is_that_at_one_right_and_one_wrong_more_in_every_class(name):
    functional, score = METRICS[name]
    counts = np.where(TRUE3 == PREDICTED3, COUNTS, 0).astype(float)  # nobody is predicted wrongly
    more = np.zeros(K)
    for label in range(3):
        for right in (True, False):
            kinds = (label == TRUE3) & ((TRUE3 == PREDICTED3) == right)
            more[kinds] = 1 / kinds.sum()
    smooth, step = counts + more, 1e-5
    slopes = [(score(smooth + step * kind) - score(smooth - step * kind)) / (2 * step) for kind in np.eye(K)]
    n = counts.sum()
    value, variance = functional.moments(counts)
    assert float(value) == pytest.approx(1.0)
    assert float(variance) == pytest.approx((smooth * np.square(slopes)).sum() * n / (n - 1), rel=1e-6)


@pytest.mark.parametrize("constant", ["true", "predicted", "both"])
def test_matthews_of_constant_labels_is_undefined(constant):
    functional = Matthews(TRUE, PREDICTED)
    keep = np.ones(K, dtype=bool)
    if constant != "predicted":
        keep &= TRUE == 1
    if constant != "true":
        keep &= PREDICTED == 1
    value, variance = functional.moments(np.where(keep, COUNTS, 0).astype(float))
    assert np.isnan(value)
    assert np.isnan(variance)


# Jackknife ------------------------------------------------------------------------------------------------------------


def ratio_of_means(mass):
    """Return a metric without a known standard error: tables (..., K) to (...,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((mass @ Z) / (mass @ SCORE))


def test_the_jackknife_leaves_out_people_one_by_one():
    value, variance = Jackknife(Evaluated(ratio_of_means)).moments(COUNTS.astype(float))
    rows = people(COUNTS)
    n = len(rows)
    without = np.array([Z[np.delete(rows, i)].sum() / SCORE[np.delete(rows, i)].sum() for i in range(n)])
    assert float(value) == pytest.approx(Z[rows].sum() / SCORE[rows].sum(), rel=1e-12)
    assert float(variance) == pytest.approx((n - 1) / n * ((without - without.mean()) ** 2).sum(), rel=1e-10)


def test_the_jackknife_of_a_mean_is_s_squared_over_n():
    _, variance = Jackknife(Evaluated(lambda mass: mass @ Z / mass.sum(axis=-1))).moments(COUNTS.astype(float))
    assert float(variance) == pytest.approx(float(Mean(Z).moments(COUNTS.astype(float))[1]), rel=1e-10)


def test_whoever_leaves_a_metric_undefined_says_nothing_about_it():
    # The only true positive: without them there is no recall.
    event, given = (TRUE == 1) & (PREDICTED == 1), TRUE == 1

    def recall(mass):
        with np.errstate(invalid="ignore"):
            return (mass @ event) / (mass @ given)

    counts = np.where(given, 0, COUNTS).astype(float)
    counts[7] = 1
    value, variance = Jackknife(Evaluated(recall)).moments(counts)
    assert float(value) == 1
    assert float(variance) == 0


def test_the_jackknife_of_people_with_weights_leaves_out_each_with_their_weight():
    robust = Robust(Jackknife(Evaluated(ratio_of_means), WEIGHT), WEIGHT)
    value, variance = robust.moments(COUNTS.astype(float))
    rows = people(COUNTS)
    n = len(rows)

    def weighted(kept):
        return (WEIGHT[kept] * Z[kept]).sum() / (WEIGHT[kept] * SCORE[kept]).sum()

    without = np.array([weighted(np.delete(rows, i)) for i in range(n)])
    assert float(value) == pytest.approx(weighted(rows), rel=1e-12)
    assert float(variance) == pytest.approx((n - 1) / n * ((without - without.mean()) ** 2).sum(), rel=1e-8)


def test_a_weight_of_zero_leaves_the_jackknife_defined():
    weight = WEIGHT.copy()
    weight[[0, 5]] = 0.0
    value, variance = Robust(Jackknife(Evaluated(ratio_of_means), weight), weight).moments(COUNTS.astype(float))
    mass = COUNTS * weight
    assert float(value) == pytest.approx((mass @ Z) / (mass @ SCORE))
    assert float(variance) > 0


# Bootstrap ------------------------------------------------------------------------------------------------------------


def test_the_bootstrap_variance_is_that_of_all_resamples():
    z = np.array([1.0, 4.0, 5.0, 11.0])
    every = np.array([np.exp(np.mean(z[list(rows)]) / 4) for rows in product(range(4), repeat=4)])
    functional = Evaluated(lambda mass: np.exp((mass @ z) / mass.sum(axis=-1) / 4))
    bootstrap = Bootstrap(functional, n_inner=60_000)
    value, variance = bootstrap.moments(np.ones(4), np.random.default_rng(0))
    assert float(value) == pytest.approx(np.exp(z.mean() / 4))
    spread = np.sqrt(((every - every.mean()) ** 4).mean() / every.var() ** 2 - 1)
    assert float(variance) == pytest.approx(every.var(), rel=5 * spread / np.sqrt(60_000))


def test_the_bootstrap_passes_over_resamples_in_which_a_metric_is_undefined():
    def recall(mass):
        with np.errstate(invalid="ignore"):
            return (mass @ ((TRUE == 1) & (PREDICTED == 1))) / (mass @ (TRUE == 1))

    counts = np.zeros(K)
    counts[[0, 7, 8]] = 2, 1, 1  # nobody truly positive in one of 16 resamples
    value, variance = Bootstrap(Evaluated(recall), n_inner=4000).moments(counts, np.random.default_rng(1))
    assert float(value) == 0.5
    rows = people(counts.astype(int))
    drawn = np.array([recall(np.bincount(rows[list(i)], minlength=K)) for i in product(range(4), repeat=4)])
    assert np.isnan(drawn).sum() == 16
    assert float(variance) == pytest.approx(np.nanvar(drawn), rel=0.1)


# Weights and clusters -------------------------------------------------------------------------------------------------


@pytest.mark.in_turn(3)
@named
def test_people_of_one_weight_are_the_same_counted_or_one_by_one(name):
    functional, reference = METRICS[name]
    counts = COUNTS.astype(float)
    value, variance = Robust(functional, WEIGHT).moments(counts)
    # By hand: every person's mass is their weight, and each is drawn on their own.
    mass = COUNTS * WEIGHT
    each = WEIGHT * slopes(reference, mass)
    n = counts.sum()
    assert float(value) == pytest.approx(reference(mass), rel=1e-12)
    assert float(variance) == pytest.approx((counts * each**2).sum() * n / (n - 1), rel=1e-6)


def test_kishs_effective_number_of_people():
    robust = Robust(Mean(Z), WEIGHT)
    rows = people(COUNTS)
    expected = WEIGHT[rows].sum() ** 2 / (WEIGHT[rows] ** 2).sum()
    assert float(robust.effective(COUNTS.astype(float))) == pytest.approx(expected)
    rate = Robust(_share(PREDICTED == 1, TRUE == 1), WEIGHT)
    positive = rows[TRUE[rows] == 1]
    expected = WEIGHT[positive].sum() ** 2 / (WEIGHT[positive] ** 2).sum()
    assert float(rate.effective(COUNTS.astype(float))) == pytest.approx(expected)
    assert float(rate.effective(np.zeros(K))) == 0


CLUSTER = np.array([0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 5])


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_cluster_robust_variance_of_a_mean_is_that_of_a_regression_on_a_constant(weight):
    value, variance = Robust(Mean(Z), weight, CLUSTER).moments(np.ones(K))
    fit = WLS(Z, np.ones(K), weights=np.ones(K) if weight is None else weight).fit(
        cov_type="cluster", cov_kwds={"groups": CLUSTER}
    )
    assert float(value) == pytest.approx(fit.params[0])
    assert float(variance) == pytest.approx(fit.bse[0] ** 2, rel=1e-10)


@pytest.mark.in_turn(3)
@named
def test_the_cluster_robust_variance_sums_parts_before_squaring_them(name):
    functional, reference = METRICS[name]
    _, variance = Robust(functional, WEIGHT, CLUSTER).moments(np.ones(K))
    each = WEIGHT * slopes(reference, WEIGHT)
    sums = np.bincount(CLUSTER, each)
    assert float(variance) == pytest.approx((sums**2).sum() * 6 / 5, rel=1e-5)


def test_the_difference_within_clusters_has_the_error_of_a_regression():
    side = np.array([1.0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0])
    cluster = np.repeat(np.arange(4), 3)
    found = Robust(Mean(Z), None, cluster).pair(side, 1 - side)
    variance = found.first_variance + found.second_variance - 2 * found.covariance
    fit = OLS(Z, np.column_stack([np.ones(K), side])).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    assert float(found.first - found.second) == pytest.approx(fit.params[1])
    assert float(variance) == pytest.approx(fit.bse[1] ** 2 * 4 / 3, rel=1e-10)


def test_a_cluster_drawn_twice_counts_twice():
    counts = np.where(CLUSTER == 3, 2.0, 1.0)
    value, variance = Robust(Mean(Z), None, CLUSTER).moments(counts)
    again = np.r_[np.arange(K), np.flatnonzero(CLUSTER == 3)]
    labels = np.r_[CLUSTER, np.full(4, 9)]
    sums = np.bincount(labels, (Z[again] - Z[again].mean()) / len(again))
    assert float(value) == pytest.approx(Z[again].mean())
    assert float(variance) == pytest.approx((sums**2).sum() * 7 / 6, rel=1e-10)
