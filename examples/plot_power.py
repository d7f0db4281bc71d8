"""
How many people an audit needs
==============================

"No significant disparity" means little if none could have been detected. Before an audit: how many people are needed?
After it: what could these people have shown? Both are about the test that runs, with its level and its number of
comparisons.
"""

# %%
# Before the audit: how many people are needed to detect a difference between selection rates of .3 and .4 four times
# out of five? If one group is a tenth of all people, more.
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
# The smallest detectable difference by the number of people: detecting half the difference takes four times as many.
# Small groups are expensive, because the smaller group determines the power.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shares, style in (((0.5, 0.5), "-"), ((0.1, 0.9), "--"), ((0.01, 0.99), ":")):
    name = f"smaller group: {min(shares):.0%} of all"
    PowerDisplay.from_rates(0.3, shares=shares, name=name, ax=axes, linestyle=style)
plt.show()

# %%
# After the audit: no significant difference between women and men was detected in COMPAS's false positive rates. What
# could have been detected?
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
# This is not "observed power", which is only the p-value in other words. It says what the data could show, whatever
# they did show, and belongs beside every result that is not significant.
