"""
Small groups: exact tests and honest intervals
==============================================

Of the 7,214 people of the COMPAS data, eighteen are Native American, and ten of these reoffended. Most tests of
fairness rely on the normal distribution, which is a poor approximation for ten people. An exact test needs no minimum:
its null hypothesis is that the rate is the same in both groups, and it rejects a true one at most as often as the level
says.
"""

# %%
# Among people who reoffended, who was called a risk? Each race is compared with everyone else.
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from skfairtest import CountTable, FairnessTest, GroupMetricDisplay, minimum_detectable_disparity
from skfairtest.datasets import load_compas

compas = load_compas()
test = FairnessTest.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features["race"],
    metric="true_positive_rate",
    compare="to_rest",
)
columns = ["group", "value_group", "value_other", "ci_low", "ci_high", "p_value", "p_value_adjusted"]
print(test.to_frame()[columns].to_string(float_format="{:.2g}".format))

# %%
# Small groups are marked, and still shown and tested: leaving a group out is the surest way to miss its disadvantage.
# Their intervals show how little is known.
groups = test.by_group_
print(groups[["n", "n_effective", "value", "ci_low", "ci_high", "small"]].round(3).to_string())
GroupMetricDisplay.from_test(test)
plt.show()

# %%
# What would the textbook test have done? Suppose that everyone who reoffends is called a risk with the same
# probability, .95, whatever the race. Simulate such fair data for the ten people and the others, and test them: at a
# level of 5%, five in a hundred should be significant. If all ten are called a risk, the estimated error of their
# rate is zero, and the textbook test treats any difference as certain.
ten = int(groups.loc["Native American", "n_effective"])
others = int(groups["n_effective"].sum()) - ten
worlds = np.random.default_rng(0).binomial([ten, others], 0.95, size=(300, 2))


def textbook(few, many):
    p, q = few / ten, many / others
    return 2 * stats.norm.sf(abs(p - q) / np.sqrt(p * (1 - p) / ten + q * (1 - q) / others))


def exact(few, many):
    counts = {("ten", 1): few, ("ten", 0): ten - few, ("others", 1): many, ("others", 0): others - many}
    table = CountTable.from_counts(counts, names=("group", "found"), y_pred="found", sensitive_features="group")
    return FairnessTest.from_table(table, metric="selection_rate").p_value_


for test_of in (textbook, exact):
    rejected = np.mean([test_of(int(few), int(many)) <= 0.05 for few, many in worlds])
    print(f"{test_of.__name__}: {rejected:.1%} of fair worlds rejected")

# %%
# Valid is not the same as powerful. What could ten people have shown? The smallest difference that this test detects
# four times out of five, at the level that the adjustment leaves the first of six comparisons:
baseline = float(test.to_frame().set_index("group").loc["Native American", "value_other"])
smallest = minimum_detectable_disparity(
    metric="true_positive_rate", baseline=baseline, n_per_group=(ten, others), alpha=0.05 / 6
)
print(f"others: {baseline:.0%}; a true rate of {baseline + smallest:.0%} in the group would have been found")

# %%
# With ten people, only a difference this large is detected that often, and only downwards: not even a rate of 100% is
# far enough above the others'. That no disparity was detected says little about eighteen people, and nothing in favour
# of the score.
