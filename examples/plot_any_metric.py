"""
Any metric: scores, errors, and your own function
=================================================

Two groups of people get scores from one model. In the smaller one fewer people are positive, and errors have another
distribution: the groups differ in more than one way, and each metric measures one of them.
"""

# %%
# The null hypothesis of every test here: the metric has the same value in both groups. Where the groups differ in
# other ways, only statistics that are divided by their own standard error in every resample control the
# false-positive rate.
import matplotlib.pyplot as plt
import numpy as np

from skfairtest import FairnessTest, ScoreMetric

rng = np.random.default_rng(7)
n = 1200
group = np.where(rng.random(n) < 0.25, "a", "b")
y_true = (rng.random(n) < np.where(group == "a", 0.3, 0.5)).astype(int)
noise = np.where(group == "a", rng.exponential(size=n) - 1, rng.normal(size=n))
score = 1 / (1 + np.exp(-(2 * y_true - 1 + noise)))

test = FairnessTest.from_predictions(
    y_true,
    (score > 0.5).astype(int),
    y_score=score,
    sensitive_features={"group": group},
    metric=["roc_auc", "brier_score", "calibration", "balanced_accuracy"],
    random_state=0,
)
print(test)

# %%
# Your own metric is a function of kinds of people, ``(y_true, y_pred, counts)``, evaluated for thousands of resamples
# at once; ``(y_true, y_pred)`` works too, one resample at a time.


def cost(y_true, y_pred, counts):
    """Mean cost of a decision: a missed positive is five times as bad as a false alarm."""
    price = np.where(y_true > y_pred, 5.0, 1.0) * (y_true != y_pred)
    return counts @ price / counts.sum(axis=-1)


own = FairnessTest.from_predictions(
    y_true,
    (score > 0.5).astype(int),
    sensitive_features={"group": group},
    metric=ScoreMetric("cost", cost, describes="the mean cost of a decision"),
    random_state=0,
)
print(own)

# %%
# The null distribution from permuted labels, and the observed value.
figure, axes = plt.subplots(layout="constrained")
axes.hist(own.null_distribution_[:, 0], bins=60, color="0.75", label="permuted labels")
axes.axvline(own.statistic_, color="black", label=f"observed, p = {own.p_value_:.3f}")
axes.set_xlabel("difference of mean costs over its standard error")
axes.set_ylabel("resamples")
axes.legend()
plt.show()
