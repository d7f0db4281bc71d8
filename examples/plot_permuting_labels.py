"""
Why permuting labels naively is wrong
=====================================

Can we test whether two groups have the same true positive rate by shuffling the group labels many times and counting
how often the difference is as large as the observed one? That answers another question: whether the groups are alike in
*every* respect. If one of them has more positive people, the shuffled groups have other numbers of positive people than
the real ones, and the shuffled differences have another spread.
"""

# %%
# 1,000 people of one group, 100 of another. In both groups a positive person is predicted positive with probability
# .8, and a negative person with probability .2: by this measure the model treats the groups alike. The groups differ
# in how many people are positive: 90% of the large group, and from 90% down to 10% of the small one.
import matplotlib.pyplot as plt
import numpy as np

from skfairtest import CountTable, FairnessTest

rng = np.random.default_rng(0)
CELLS = ("missed", "found", "let go", "accused")  # of the positive people, of the others
PEOPLE = {"large": 1000, "small": 100}


def world(base_rate):
    """Return people of each group by cell, from a population in which true positive rates are equal."""
    masses = ([0.2 * p, 0.8 * p, 0.8 * (1 - p), 0.2 * (1 - p)] for p in (0.9, base_rate))
    return [rng.multinomial(people, mass) for people, mass in zip(PEOPLE.values(), masses, strict=True)]


# %%
# With counts, shuffling labels means sampling the large group's counts from those of all people: one sample from the
# multivariate hypergeometric distribution. The statistic is the difference of the true positive rates. With all cells
# this is the naive test. With the two cells of positive people the same code is another test: labels are shuffled
# where people are exchangeable if the rates are equal.
def rate(cells):
    return cells[..., 1] / np.maximum(cells[..., 0] + cells[..., 1], 1)


def permutation_p(large, small, n_resamples=499):
    """The p-value of a shuffle within the given cells."""
    everyone = large + small
    shuffled = rng.multivariate_hypergeometric(everyone, large.sum(), size=n_resamples)
    differences = np.abs(rate(shuffled) - rate(everyone - shuffled))
    return (1 + np.sum(differences >= abs(rate(large) - rate(small)) - 1e-12)) / (1 + n_resamples)


def exact_p(large, small):
    """The p-value of the package: no shuffle at all, the distribution among positive people is enumerated."""
    counts = {(group, name): int(n) for group, cells in zip(PEOPLE, (large, small), strict=True)
              for name, n in zip(CELLS[:2], cells[:2], strict=True)}  # fmt: skip
    table = CountTable.from_counts(counts, names=("group", "y"), y_pred="y", sensitive_features="group")
    return FairnessTest.from_table(table, metric="selection_rate", pos_label="found").p_value_


tests = {
    "labels of all people shuffled": permutation_p,
    "labels of positive people shuffled": lambda large, small: permutation_p(large[:2], small[:2]),
    "exact": exact_p,
}
base_rates = [0.9, 0.5, 0.2, 0.1]
rejected = {name: [] for name in tests}
for base_rate in base_rates:
    worlds = [world(base_rate) for _ in range(100)]
    for name, p_value in tests.items():
        rejected[name].append(np.mean([p_value(*cells) <= 0.05 for cells in worlds]))
for name, shares in rejected.items():
    print(f"{name:35}", "  ".join(f"{share:6.1%}" for share in shares))

# %%
# All of these data sets satisfy the null hypothesis, so a test at 5% may reject one in twenty of them. With equal
# base rates all three do so, within the error of 100 data sets (two points). The naive test gets worse the more the
# groups differ in other respects.
figure, axes = plt.subplots(layout="constrained", figsize=(7, 3.6))
for (name, shares), marker in zip(rejected.items(), "os^", strict=True):
    axes.plot(base_rates, shares, marker=marker, label=name)
axes.axhline(0.05, color="0.5", linewidth=1, linestyle="--")
axes.invert_xaxis()
axes.set(xlabel="share of positive people in the small group (large group: 0.9)", ylabel="share of worlds rejected")
axes.legend()
plt.show()

# %%
# The reason: after a shuffle the small group has as many positive people as a random sample of all people, and its
# rate varies accordingly little. The real small group has few positive people, and its rate varies more.
large, small = world(0.1)
shuffled = rng.multivariate_hypergeometric(large + small, large.sum(), size=9999)
print("positive people in the small group:", small[:2].sum())
print(f"and in the shuffled ones: {(large + small - shuffled)[:, :2].sum(axis=1).mean():.0f}")
spread = np.sqrt(0.8 * 0.2 * (1 / large[:2].sum() + 1 / small[:2].sum()))
print(f"standard deviation of the difference: {spread:.3f}")
print(f"of the shuffled differences: {(rate(shuffled) - rate(large + small - shuffled)).std():.3f}")
