"""
An audit and its report
=======================

Five metrics, race, sex and their intersections: one call asks all of these questions, adjusts once for all of them, and
writes a report that an engineer, a lawyer and a manager can each use.
"""

# %%
# The null hypotheses: each metric is equal in the groups that are compared. Races are compared with each other, and so
# are the sexes; intersections are compared with everyone else (`compare_intersections` has other choices). Where a
# metric is undefined in a group, a warning says so, and the report lists it.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import DisparityDisplay, FairnessAudit
from skfairtest.datasets import load_compas

compas = load_compas()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UndefinedMetricWarning)  # the report lists what was left out
    audit = FairnessAudit.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features[["race", "sex"]], random_state=0
    )

# %%
# What was found, by feature and metric. One adjustment runs over all comparisons of the audit: Holm's, with
# Shaffer's factors where all pairs of groups are compared.
columns = ["feature", "metric", "n_comparisons", "n_found", "p_value_adjusted"]
print(audit.summary_[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# Every comparison has a sentence: who, which direction, by how much, how sure. Where nothing was found, it says how
# large a disparity it could have missed.
results = audit.results_.sort_values("p_value")
print("\n\n".join([*results.loc[results["concern"], "sentence"].head(3), *results["sentence"].tail(1)]))

# %%
# The findings at a glance: those with the smallest p-values.
DisparityDisplay.from_test(audit, max_rows=20)
plt.show()

# %%
# The same in a notebook, where an audit shows itself. ``audit.to_html("report.html")`` writes a page that needs no
# network and can be printed, ``to_markdown()`` a section for a model card, ``to_json()`` a record of which
# ``FairnessAudit.from_json`` makes the same reports again.
audit
