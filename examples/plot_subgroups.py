"""
Subgroups found by a search
===========================

An audit compares the groups that you name. A scan compares every combination of a few features, and reports those that
differ by the shortest descriptions that explain the others.
"""

# %%
# The null hypotheses: among people who did not reoffend, people in the subgroup are called a risk as often as everyone
# else. All combinations of race, sex and age are tested; the probability that any true hypothesis is rejected is at
# most 5%.
import matplotlib.pyplot as plt

from skfairtest import DisparityDisplay, Rate, SubgroupScan
from skfairtest.datasets import load_compas

compas = load_compas()
scan = SubgroupScan.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features,
    metric="false_positive_rate",
    max_depth=3,
)
print(f"searched: {scan.n_searched_}, significant: {scan.subgroups_['concern'].sum()}")
print("\n".join(scan.comparisons_["sentence"]))

# %%
# The subgroups that are reported. Each differs from everyone else; given those above it, it differs still.
DisparityDisplay.from_test(scan)
plt.show()

# %%
# Does a score mean the same for everyone? Within each decile, people are compared for whether they reoffended: the test
# of every subgroup is exact, with the deciles as control features.
calibration = SubgroupScan.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features,
    control_features={"decile": compas.decile_score},
    metric=Rate("reoffended", "y_true", happens="reoffended"),
)
DisparityDisplay.from_test(calibration)
plt.show()

# %%
# The same, tested on people who did not choose the subgroups: one half is searched, the other half tested.
halves = SubgroupScan.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features,
    metric="false_positive_rate",
    guarantee="split",
    random_state=0,
)
print(halves.comparisons_[["subgroup", "n_group", "disparity", "p_value_adjusted"]].to_string())
