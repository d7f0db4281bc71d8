"""
Is the new model really fairer?
===============================

Arrests in Toronto, 1997 to 2002: who was released with a summons? A model is in production, and two candidates promise
to treat Black and White people more alike. All three judge the same people, so the comparison is paired: what counts
are those whom two models judge differently.
"""

# %%
# Three models, fitted on one half of the people and compared on the other.
import matplotlib.pyplot as plt
import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from skfairtest import FairnessTest, PairedFairnessTest, compare_models

arrests = load_arrests(as_frame=True)
y = (arrests["released"] == "Yes").astype(int)
X_train, X_test, y_train, y_test = train_test_split(
    arrests.drop(columns="released"), y, test_size=0.5, stratify=arrests[["released", "colour"]], random_state=0
)


def model(categories, numbers):
    columns = make_column_transformer((OneHotEncoder(drop="if_binary"), categories), (StandardScaler(), numbers))
    return make_pipeline(columns, LogisticRegression(class_weight="balanced")).fit(X_train, y_train)


production = model(["sex", "employed", "citizen"], ["year", "age", "checks"])
without_checks = model(["sex", "employed", "citizen"], ["year", "age"])
thresholds = ThresholdOptimizer(
    estimator=production, constraints="demographic_parity", objective="balanced_accuracy_score", prefit=True,
    predict_method="predict_proba",
).fit(X_train, y_train, sensitive_features=X_train["colour"])  # fmt: skip

# %%
# One test for each model shows where each stands. To compare the verdicts would be no test of the difference.
models = {"production": production, "without checks": without_checks, "thresholds": thresholds}
colour = X_test["colour"]
for name, own in models.items():
    test = FairnessTest(own, metric="selection_rate", random_state=0).fit(X_test, y_test, sensitive_features=colour)
    print(f"{name}: Black minus White {test.disparity_:+.3f}, p = {test.p_value_:.2g}")

# %%
# The paired comparison of both candidates with the model in production. Null hypothesis: the disparity of the selection
# rate is the same.
found = compare_models(models, X_test, y_test, sensitive_features=colour, metric="selection_rate", random_state=0)
print(found)

# %%
# The difference of two disparities has an interval of its own, which is much narrower than two intervals side by side
# suggest, because both models are wrong about the same people.
figure, axes = plt.subplots(layout="constrained", figsize=(7, 2.4))
rows = found.results
ends = np.abs(rows[["ci_low", "ci_high"]].T.to_numpy() - rows["difference"].to_numpy())
axes.errorbar(rows["difference"], rows.index, xerr=ends, fmt="o", color="black", capsize=3)
axes.axvline(0, color="0.6", linewidth=1)
axes.set(xlabel="disparity of the candidate minus disparity in production", ylim=(-0.5, len(rows) - 0.5))
plt.show()

# %%
# Is the second candidate fairer in size, and does it pay with error rates that are farther apart? "fairer" certifies
# that a disparity is smaller in size, with a margin that it is larger by less than that.
for metric, margin in (("selection_rate", None), ("true_positive_rate", 0.05), ("false_positive_rate", 0.05)):
    test = PairedFairnessTest(
        production, thresholds, metric=metric, alternative="fairer", margin=margin, random_state=0
    ).fit(X_test, y_test, sensitive_features=colour)
    print(f"{metric}: {str(test).splitlines()[0]}")
