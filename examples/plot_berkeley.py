"""
Simpson's paradox at Berkeley
=============================

In 1973 Berkeley's six largest departments admitted 45% of the men and 30% of the women who applied. Within
departments the difference disappears: women applied where few were admitted.
"""

# %%
# The null hypothesis of the first test: women and men are admitted equally often.
import matplotlib.pyplot as plt

from skfairtest import DisparityDisplay, FairnessTest
from skfairtest.datasets import load_berkeley

table = load_berkeley(as_table=True)
together = FairnessTest.from_table(table.regroup(control_features=[]), metric="selection_rate")
print(together)

# %%
# The null hypothesis of the second: within every department, women and men are admitted equally often. The pooled
# disparity is the Mantel-Haenszel average over departments. Each department also has its own row; these are adjusted
# among themselves.
within = FairnessTest.from_table(table, metric="selection_rate")
print(within)

# %%
# Only department A differs significantly, and in favour of women.
strata = within.comparisons_.dropna(subset="stratum")
print(strata[["stratum", "disparity", "p_value_adjusted", "concern"]].to_string(index=False))
DisparityDisplay.from_test(within)
plt.show()
