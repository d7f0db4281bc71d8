"""
Errors of a risk score, by race
===============================

ProPublica's question of 2016: among people who did not reoffend, whom did the COMPAS score call a risk? Equalized odds
requires equal true and false positive rates for every group. Fifteen pairs of races and two rates make thirty
comparisons, and the p-values are adjusted for thirty.
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
# The rates of every group, each with its own interval: a first look, not a comparison.
GroupMetricDisplay.from_test(test)
plt.show()

# %%
# To compare two groups, look at their difference. Its intervals hold for all thirty comparisons together.
DisparityDisplay.from_test(test)
plt.show()

# %%
# Some groups are tiny: eighteen Native Americans, of whom eight did not reoffend. An exact test is valid even here;
# the interval shows how little eight people can show.
groups = test.by_group_
print(groups.loc[groups["small"], ["n", "n_effective", "value", "ci_low", "ci_high"]].round(3).to_string())

# %%
# Does the score treat men and women alike? No significant difference was detected, which does not mean that they are
# treated alike. Equivalence within five points can be shown for the false positive rate only.
sex = compas.sensitive_features["sex"]
alike = FairnessTest.from_predictions(
    compas.y_true, compas.y_pred, sensitive_features=sex, alternative="equivalence", margin=0.05
)
print(alike.comparisons_[["metric", "disparity", "p_value_adjusted", "concern"]])
