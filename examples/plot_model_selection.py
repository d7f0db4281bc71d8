"""
From a search to a verdict
==========================

Who is released with a summons when arrested with a little marijuana? 5,226 arrests in Toronto, 1997 to 2002. We search
for a model that predicts the release about as well as any, and releases Black and White people at rates that differ by
at most ten points. Then it is tested on people who were not used in the search.
"""

# %%
# The data come with scikit-lego. A third of the people are kept for the final test, stratified by label and group.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sklearn
from fairlearn.metrics import selection_rate
from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from skfairtest import (
    FairnessTest,
    SensitiveStratifiedKFold,
    SignificanceFrame,
    make_fairness_scorer,
    select_fair,
)

arrests = load_arrests(as_frame=True)
X = arrests.drop(columns="released")
y = (arrests["released"] == "Yes").astype(int)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, stratify=arrests[["released", "colour"]], random_state=0
)

# %%
# The model does not see the colour; scorer and splitter look it up in the column of that name, before the pipeline
# drops it. fairlearn's reduction needs the colour to fit, which is what metadata routing is for; routing reads
# signatures, and that of the reduction has ``**kwargs``. Most people were released; errors are weighted so that both
# outcomes count the same.
sklearn.set_config(enable_metadata_routing=True)


class Reduction(ExponentiatedGradient):
    def fit(self, X, y, *, sensitive_features):
        return super().fit(X, y, sensitive_features=sensitive_features)


preprocess = make_column_transformer(
    (OneHotEncoder(drop="if_binary"), ["sex", "employed", "citizen"]), (StandardScaler(), ["year", "age", "checks"])
)
costs = ErrorRate(costs={"fp": (y_train == 1).mean(), "fn": (y_train == 0).mean()})
reduction = Reduction(LogisticRegression(), DemographicParity(), objective=costs, max_iter=10)
reduction.set_fit_request(sensitive_features=True).set_predict_request(random_state=True)
pipeline = Pipeline([("preprocess", preprocess), ("model", reduction)])

# %%
# The smaller ``eps``, the more a disparity costs the reduction (at most ``1 / eps`` errors); with 10 it is almost the
# original model. The search varies this and the regularization.
candidates = {"model__estimator__C": [0.001, 1.0], "model__eps": [0.01, 0.1, 1.0, 10.0]}

# %%
# The fairness score is the upper limit of the largest difference between groups, with its sign turned: a fold with
# few people scores badly, because little is known about it. ``select_fair`` takes the most accurate candidate whose
# limit, averaged over the folds, is at most ten points. (The reduction predicts at random, and scikit-learn's scorers
# pass it no seed; NumPy's global seed is used.)
np.random.seed(0)
search = GridSearchCV(
    pipeline,
    candidates,
    scoring={
        "accuracy": "balanced_accuracy",
        "parity": make_fairness_scorer("demographic_parity", sensitive_features="colour"),
    },
    cv=SensitiveStratifiedKFold(3, sensitive_features="colour"),
    refit=select_fair("accuracy", "parity", tolerance=0.1),
)
search.fit(X_train, y_train, sensitive_features=X_train["colour"])
results = pd.DataFrame(search.cv_results_)[
    ["param_model__estimator__C", "param_model__eps", "mean_test_accuracy", "mean_test_parity"]
]
print(results.round(3).to_string())
print("taken:", search.best_params_)
figure, axes = plt.subplots(layout="constrained", figsize=(7, 3.6))
axes.scatter(-results["mean_test_parity"], results["mean_test_accuracy"], color="0.5", label="candidates")
best = results.loc[search.best_index_]
axes.scatter(-best["mean_test_parity"], best["mean_test_accuracy"], marker="D", color="black", label="taken")
axes.axvline(0.1, color="0.5", linewidth=1, linestyle="--", label="tolerance")
axes.set(xlabel="largest difference, upper limit (mean of the folds)", ylabel="balanced accuracy")
axes.legend()
plt.show()

# %%
# The folds were used to choose, so the final test needs other people. The question is that of the search: are the
# rates within ten points? An equivalence test can show this; a test that is merely not significant cannot.
test = FairnessTest(
    search.best_estimator_, metric="demographic_parity", alternative="equivalence", margin=0.1, random_state=0
)
print(test.fit(X_test, y_test, sensitive_features=X_test["colour"]))

# %%
# A ``SignificanceFrame`` is fairlearn's ``MetricFrame`` with p-values.
frame = SignificanceFrame(
    metrics={"accuracy": accuracy_score, "selection rate": selection_rate},
    y_true=y_test,
    y_pred=search.best_estimator_.predict(X_test, random_state=0),
    sensitive_features=X_test["colour"],
)
print(frame.by_group)
print(frame.difference_test()[["value", "ci_low", "ci_high", "p_value"]].round(3))
sklearn.set_config(enable_metadata_routing=False)
