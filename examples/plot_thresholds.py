"""
Every decision threshold at once
================================

A score becomes a decision at a threshold, and what people get is the decision. COMPAS gives deciles, and ProPublica
called five and more a risk. What would other thresholds have done?
"""

# %%
# The null hypothesis at each threshold: among people who did not reoffend, a score at or above it is equally probable
# in both groups. The grey band is what chance explains; where the line leaves it, the difference is rejected.
import matplotlib.pyplot as plt
import numpy as np

from skfairtest import FairnessTest, ThresholdDisplay
from skfairtest.datasets import load_compas

compas = load_compas()
race, sex = compas.sensitive_features["race"], compas.sensitive_features["sex"]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
by_race = ThresholdDisplay.from_predictions(
    compas.y_true,
    compas.decile_score,
    sensitive_features=race,
    group="African-American",
    other="Caucasian",
    metric="false_positive_rate",
    ax=left,
)
by_sex = ThresholdDisplay.from_predictions(
    compas.y_true, compas.decile_score, sensitive_features=sex, metric="false_positive_rate", ax=right
)
plt.show()
print("by race, rejected at", by_race.thresholds[by_race.rejected].astype(int).tolist())
print("by sex, rejected at", by_sex.thresholds[by_sex.rejected].astype(int).tolist())

# %%
# Between Black and White people there is a difference at every threshold that divides people at all: it does not depend
# on the choice of five. If the distribution of a score differs between groups, among people with the same outcome, its
# error rates differ at nearly every threshold, and no common threshold removes the difference.
#
# Between women and men the difference is not significant at five, but it is at a few high thresholds. Each of these
# tests is valid for a threshold that was chosen beforehand. Looking at all of them means nine tests; here they are
# adjusted together by Holm's rule: the smallest p-value times nine, the next one times eight, and so on.
scores = np.asarray(compas.decile_score)
p_values = {
    threshold: FairnessTest.from_predictions(
        compas.y_true, (scores >= threshold).astype(int), sensitive_features=sex, metric="false_positive_rate"
    ).p_value_
    for threshold in range(2, 11)
}
adjusted = 0.0
for place, (threshold, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
    adjusted = max(adjusted, min(1.0, (len(p_values) - place) * p))
    print(f"threshold {threshold:2}: p = {p:.3f}, adjusted {adjusted:.3f}")

# %%
# What survives is what would be reported; a threshold picked from the drawing, for or against the score, would be
# neither proof of a disparity nor an acquittal.
