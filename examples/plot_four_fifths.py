"""
Four fifths, margins and equivalence
====================================

"The selection rate of any group should be at least four fifths of the highest one." The rule comes from United States
employment law, where it may start an inquiry; it is neither a statistical test nor a definition of fairness, and
elsewhere it has no standing at all. It ignores chance, because it looks at the observed ratio only. A test is about the
true ratio.
"""

# %%
# Berkeley's six largest departments in 1973: women's admission rate over men's. Here each department is tested by
# itself, without adjustment; :doc:`plot_berkeley` tests all of them together.
import matplotlib.pyplot as plt
import numpy as np

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_berkeley

berkeley = load_berkeley()
departments = berkeley.control_features["department"]
sex = berkeley.sensitive_features["sex"]
lines = []
for department in sorted(set(departments)):
    here = np.asarray(departments == department)
    test = FairnessTest.from_predictions(
        None,
        berkeley.y_pred[here],
        sensitive_features=sex[here],
        metric="selection_rate",
        disparity="ratio",
    )
    lines.append((department, test.disparity_, *test.confidence_interval_, test.p_value_))
    verdict = "breaks" if not 0.8 <= test.disparity_ <= 1.25 else "keeps"
    low, high = test.confidence_interval_
    interval = f"{test.disparity_:.2f} ({low:.2f} to {high:.2f})"
    print(f"{department}: ratio {interval} {verdict} four fifths, p = {test.p_value_:.2g}")

# %%
# A department can break the rule by chance, or satisfy it by luck. Department F admits so few people that its
# interval is very wide; department A breaks the rule in favour of women, and is the only one whose difference is more
# than chance.
figure, axes = plt.subplots(layout="constrained", figsize=(7, 3.6))
names, ratio, low, high, _ = map(np.array, zip(*lines, strict=True))
axes.axvspan(0.8, 1.25, color="0.9", label="four fifths, in both directions")
axes.axvline(1, color="0.6", linewidth=1)
axes.errorbar(ratio, names, xerr=[ratio - low, high - ratio], fmt="o", color="black", capsize=3, label="95% interval")
axes.set_xscale("log")
axes.set_xticks([0.5, 0.8, 1, 1.25, 2], ["0.5", "0.8", "1", "1.25", "2"])
axes.minorticks_off()
axes.invert_yaxis()
axes.set(xlabel="women's admission rate over men's", ylabel="department")
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# The same ratio, .75, with more and more people: the rule gives the same answer for all of them, the tests do not.
# Without a margin, the null hypothesis is that the ratio is 1. With ``margin=0.8`` its null hypothesis is that the
# ratio lies within [0.8, 1.25]: a significant result is a violation of the rule that chance does not explain.
for people in (40, 400, 4000, 40000):
    counts = {("a", 1): people * 30 // 100, ("a", 0): people * 70 // 100}
    counts |= {("b", 1): people * 40 // 100, ("b", 0): people * 60 // 100}
    table = CountTable.from_counts(counts, names=("group", "selected"), y_pred="selected", sensitive_features="group")
    p = [
        FairnessTest.from_table(table, metric="selection_rate", disparity="ratio", margin=margin).p_value_
        for margin in (None, 0.8)
    ]
    print(f"{people:6,} people per group: is it 1? p = {p[0]:.2g}; is it within four fifths? p = {p[1]:.2g}")

# %%
# Neither test can show that the ratio is 1 or within the margin. To show that it lies within a margin, swap the
# hypotheses: with ``alternative="equivalence"`` the null hypothesis is that it lies outside. ``concern_`` is then
# True unless closeness is shown, which is the right answer when there are few people.
for department in "ABCDEF":
    here = np.asarray(departments == department)
    test = FairnessTest.from_predictions(
        None,
        berkeley.y_pred[here],
        sensitive_features=sex[here],
        metric="selection_rate",
        disparity="ratio",
        margin=0.8,
        alternative="equivalence",
    )
    low, high = test.equivalence_interval_
    answer = "not certified" if test.concern_ else "certified"
    print(f"{department}: {answer} (p = {test.p_value_:.2g}, ratio between {low:.2f} and {high:.2f})")
