"""
An audit and its report
=======================

Five metrics, race, sex and their intersections: one call tests all of them, adjusts for their number, and writes a
report that an engineer, a lawyer and a manager can each use.
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
# The result by feature and metric. All comparisons of the audit are adjusted together, by discrete Holm, because at
# least six hypotheses are tested exactly.
by_metric = audit.comparisons_.groupby(["feature", "metric"], sort=False)
print(by_metric["concern"].agg(comparisons="size", significant="sum"))

# %%
# Every comparison has a sentence: who, which direction, by how much, how sure. Where nothing is significant, it says
# how large a disparity could have been missed.
results = audit.comparisons_.sort_values("p_value")
print("\n\n".join([*results.loc[results["concern"], "sentence"].head(3), *results["sentence"].tail(1)]))

# %%
# The comparisons with the smallest p-values at a glance.
DisparityDisplay.from_test(audit, max_rows=20)
plt.show()

# %%
# The same in a notebook, where an audit shows itself. ``audit.to_html("report.html")`` writes a page that needs no
# network and can be printed, ``to_markdown()`` a section for a model card, ``to_json()`` a record from which
# ``FairnessAudit.from_json`` makes the same reports again.
audit
