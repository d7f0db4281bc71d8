"""
How many people an audit needs
==============================

"No significant disparity" means little if none could have been. Before an audit: how many people does it take? After
it: what could these people have shown? Both are about the test that runs, with its level and its number of
comparisons.
"""

# %%
# Before: selection rates of .3 and .4 are to be told apart four times out of five. If one group is a tenth of all
# people, it takes more of them.
import matplotlib.pyplot as plt

from skfairtest import FairnessTest, PowerDisplay, minimum_detectable_disparity, power, required_sample_size
from skfairtest.datasets import load_compas

for shares in ((0.5, 0.5), (0.1, 0.9)):
    people = required_sample_size(metric="selection_rate", rates=(0.4, 0.3), shares=shares, power=0.8)
    print(f"shares {shares}: {people[0]:,} and {people[1]:,} people")

# %%
# A rate with a condition counts only people who meet it. If one person in five is truly positive, true positive rates
# of .7 and .8 in two groups of 400 people rest on some eighty people each; the number of those is random, and power
# is averaged over it.
for share in (0.2, 1.0):
    found = power(metric="true_positive_rate", rates=(0.7, 0.8), n_per_group=(400, 400), base_rates=share)
    print(f"share of positive people {share:.0%}: power {found:.2f}")

# %%
# The smallest difference that is found, against the number of people: to find half the difference takes four times as
# many. Small groups are expensive: what counts is the smaller one.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shares, style in (((0.5, 0.5), "-"), ((0.1, 0.9), "--"), ((0.01, 0.99), ":")):
    name = f"smaller group: {min(shares):.0%} of all"
    PowerDisplay.from_rates(0.3, shares=shares, name=name, ax=axes, linestyle=style)
plt.show()

# %%
# After: COMPAS found no difference between women and men in false positive rates. What would it have found?
compas = load_compas()
test = FairnessTest.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features["sex"],
    metric="false_positive_rate",
)
low, high = test.confidence_interval_
print(f"seen: {test.disparity_:+.3f}, limits {low:+.3f} to {high:+.3f}, p = {test.p_value_:.2f}")
print(f"would have been found, four times out of five: {minimum_detectable_disparity(test):.3f}")
PowerDisplay.from_test(test)
plt.show()

# %%
# This is no "observed power", which is the p-value in other words. It says what the data could show, whatever they did
# show, and belongs beside every "not found".
