"""
Before and after: did the mitigation work?
==========================================

fairlearn's mitigators aim at equal rates on the people they are trained on. What matters is everyone else. 5,226
arrests in Toronto, 1997 to 2002: who was released with a summons? A model and two mitigated ones are tested on people
who were not used for training.
"""

# %%
# The data come with scikit-lego. Colour is the sensitive feature, and the model does not see it.
import matplotlib.pyplot as plt
import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from skfairtest import FairnessTest

arrests = load_arrests(as_frame=True)
y = (arrests["released"] == "Yes").astype(int)
X_train, X_test, y_train, y_test = train_test_split(
    arrests.drop(columns="released"), y, test_size=0.5, stratify=arrests[["released", "colour"]], random_state=0
)
prepare = make_column_transformer(
    (OneHotEncoder(drop="if_binary"), ["sex", "employed", "citizen"]), (StandardScaler(), ["year", "age", "checks"])
)
plain = make_pipeline(prepare, LogisticRegression(class_weight="balanced")).fit(X_train, y_train)

# %%
# Two ways to demographic parity: a threshold for each group, and training with a constraint.
thresholds = ThresholdOptimizer(
    estimator=plain, constraints="demographic_parity", objective="balanced_accuracy_score", prefit=True,
    predict_method="predict_proba",
).fit(X_train, y_train, sensitive_features=X_train["colour"])  # fmt: skip
columns = prepare.fit(X_train)
costs = ErrorRate(costs={"fp": (y_train == 1).mean(), "fn": (y_train == 0).mean()})
reduction = make_pipeline(
    columns, ExponentiatedGradient(LogisticRegression(), DemographicParity(), objective=costs, max_iter=20)
).fit(X_train, y_train, exponentiatedgradient__sensitive_features=X_train["colour"])
models = {"as it comes": plain, "ThresholdOptimizer": thresholds, "ExponentiatedGradient": reduction}

# %%
# The null hypothesis of each test: Black and White people are released equally often (selection rate), or equally
# often among those who were in fact released, or held (equalized odds). A test passes a model the groups or the seed
# that it needs to predict.
metrics = ["selection_rate", "true_positive_rate", "false_positive_rate"]
frames = {}
for name, model in models.items():
    test = FairnessTest(model, metric=metrics, random_state=0)
    test.fit(X_test, y_test, sensitive_features=X_test["colour"])
    frames[name] = test.to_frame().set_index("metric")
    print(f"\n{name}: {str(test).splitlines()[0]}")
    print(frames[name][["value_group", "value_other", "p_value_adjusted"]].to_string(float_format="{:.2g}".format))

# %%
# Both mitigations bring the selection rates together, on people who were not used for training. That was their only
# goal: if equal shares of unequal groups are released, error rates can move apart, now in the other direction. (Three
# models are three families of comparisons; p-values are adjusted within each.) What remains, and what it cost:
figure, several = plt.subplots(1, 3, layout="constrained", figsize=(10, 2.8), sharex=True, sharey=True)
for axes, metric in zip(several, metrics, strict=True):
    rows = [frames[name].loc[metric] for name in models]
    middle = np.array([row["disparity"] for row in rows])
    ends = np.abs([[row["ci_low"] for row in rows] - middle, [row["ci_high"] for row in rows] - middle])
    axes.errorbar(middle, list(models), xerr=ends, fmt="o", color="black", capsize=3)
    axes.axvline(0, color="0.6", linewidth=1)
    axes.set(title=metric.replace("_", " "), xlabel="Black minus White")
several[0].invert_yaxis()
plt.show()
needs = {"ThresholdOptimizer": {"sensitive_features": X_test["colour"], "random_state": 0},
         "ExponentiatedGradient": {"random_state": 0}}  # fmt: skip
for name, model in models.items():
    predicted = model.predict(X_test, **needs.get(name, {}))
    print(f"{name}: balanced accuracy {balanced_accuracy_score(y_test, predicted):.3f}")

# %%
# That nothing is significant for a mitigated model does not prove it fair. Are the rates within five points?
for name, model in models.items():
    test = FairnessTest(model, metric="demographic_parity", alternative="equivalence", margin=0.05, random_state=0).fit(
        X_test, y_test, sensitive_features=X_test["colour"]
    )
    low, high = test.equivalence_interval_
    print(f"{name}: {'not certified' if test.concern_ else 'certified'}, between {low:+.3f} and {high:+.3f}")
