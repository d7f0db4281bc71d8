"""
Errors of a risk score, by race
===============================

ProPublica's question of 2016: among people who did not reoffend, whom did the COMPAS score call a risk? Equalized odds
asks that true and false positive rates be the same for every group. Fifteen pairs of races and two rates make thirty
questions, so the p-values are adjusted for thirty.
"""

# %%
# The data are counts of 7,214 people; `y_pred` is ProPublica's "medium or high", a decile of five or more.
import matplotlib.pyplot as plt

from skfairtest import DisparityDisplay, FairnessTest, GroupMetricDisplay
from skfairtest.datasets import load_compas

compas = load_compas()
race = compas.sensitive_features["race"]
test = FairnessTest.from_predictions(compas.y_true, compas.y_pred, sensitive_features=race, metric="equalized_odds")
print(test)

# %%
# The rates of every group, with the limits of each by itself: a first look, not a comparison.
GroupMetricDisplay.from_test(test)
plt.show()

# %%
# Whether two groups differ is for their difference to say. Its limits hold for all thirty comparisons together.
DisparityDisplay.from_test(test)
plt.show()

# %%
# Some groups are tiny: eighteen Native Americans, of whom eight did not reoffend. An exact test does not mind; the
# interval shows how little eight people can say.
groups = test.by_group_
print(groups.loc[groups["small"], ["n", "n_effective", "value", "ci_low", "ci_high"]].round(3).to_string())

# %%
# Does the score treat men and women alike? No difference was found, which is not the same as alike. Equivalence within
# five points can be certified for the false positive rate only.
sex = compas.sensitive_features["sex"]
alike = FairnessTest.from_predictions(
    compas.y_true, compas.y_pred, sensitive_features=sex, alternative="equivalence", margin=0.05
)
print(alike.comparisons_[["metric", "disparity", "p_value_adjusted", "concern"]])
