"""
Many groups and their intersections
===================================

Race, sex and age make thirty-six groups. Test each at 5%, and chance alone makes one or two of them significant.
Holm's adjustment keeps the probability of *any* false positive at 5%, however the p-values depend on each other, and
costs less power than one might fear.
"""

# %%
# The null hypotheses: among people who did not reoffend, people in the group are called a risk as often as everyone
# else; everyone else is assumed to be a random sample of the people outside the group. Groups in which fewer than two
# people can be counted are listed.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import DisparityDisplay, FairnessAudit, FairnessTest
from skfairtest.datasets import load_compas

compas = load_compas()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UndefinedMetricWarning)  # the groups left out are printed below
    warnings.simplefilter("ignore", UserWarning)  # that there are more than twenty groups
    test = FairnessTest.from_predictions(
        compas.y_true,
        compas.y_pred,
        sensitive_features=compas.sensitive_features,
        metric="false_positive_rate",
        compare="to_rest",
    )
frame = test.to_frame().sort_values("p_value")
print(str(test).splitlines()[0])
print(test.excluded_.to_string())

# %%
# The same p-values with each adjustment. Bonferroni is never better than Holm. The false discovery rate (Benjamini
# and Hochberg) guarantees something else: that few *of the significant disparities* are false.
level = 0.05
print(f"comparisons: {len(frame)}")
print(f"p below 5%, not adjusted: {(frame['p_value'] <= level).sum()}")
print(f"Bonferroni: {(frame['p_value'] * len(frame) <= level).sum()}")
print(f"Holm: {(frame['p_value_adjusted'] <= level).sum()}")
print(f"of {len(frame)} true null hypotheses, chance would reject about {len(frame) * level:.1f} without adjustment")

# %%
# The groups that differ significantly, and those that do not.
DisparityDisplay.from_test(test)
plt.show()

# %%
# Another choice is the parent group: is a crossed group called a risk as often as the others in it? Young women are
# compared with older women (the rest of sex = Female) and with young men (the rest of their age).
audit = FairnessAudit.from_predictions(
    compas.y_true,
    compas.y_pred,
    sensitive_features=compas.sensitive_features[["sex", "age_cat"]],
    metrics="false_positive_rate",
    compare_intersections="to_parents",
)
crossed = audit.to_frame().query("feature == 'sex x age_cat'")
columns = ["group", "other", "disparity", "p_value_adjusted"]
print(crossed[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# Age explains much of it: the score counts youth as a risk. Does race matter at equal age? That is a question about
# strata, not about more groups: the null hypothesis is that the rates of two races are the same at every age. A
# stratum without a rate (all Native Americans under 25 reoffended) is left out, with a warning.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    by_race = FairnessTest.from_predictions(
        compas.y_true,
        compas.y_pred,
        sensitive_features=compas.sensitive_features["race"],
        control_features=compas.sensitive_features["age_cat"],
        metric="false_positive_rate",
        compare="to_reference",
        reference_group="Caucasian",
    )
pooled = by_race.comparisons_[by_race.comparisons_["stratum"].isna()]
print(pooled[["group", "disparity", "ci_low", "ci_high", "p_value_adjusted"]].round(4).to_string(index=False))
