"""
Sample bias, label bias, and which metrics notice them
======================================================

Hinnefeld et al. (2018) put known bias into data and checked which of six metrics notice. Their data are not public;
this is their design on 5,226 arrests in Toronto, with a test of each metric beside its value. *Sample bias*: who gets
into the data depends on group and outcome. *Label bias*: the same conduct is labelled differently in different groups.
"""

# %%
# As in the paper, the ground truth is a modelled likelihood, here of being released with a summons, expressed as a
# rank from 0 to 1. Chance is added because no model knows everything that matters.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklego.datasets import load_arrests

from skfairtest import FairnessTest

rng = np.random.default_rng(0)
arrests = load_arrests(as_frame=True)
features = pd.DataFrame(
    {name: (arrests[name] == "Yes").astype(float) for name in ("employed", "citizen")}
    | {name: arrests[name].astype(float) for name in ("year", "age", "checks")}
)
model = make_pipeline(StandardScaler(), LogisticRegression())
likelihood = model.fit(features, arrests["released"] == "Yes").decision_function(features)
likelihood += 0.5 * rng.normal(size=len(features))


# %%
# The paper's biases. White people get the positive label at a likelihood of .3 or more, Black people at .7 or more;
# and White people with a high likelihood are sampled four times as often as others.
def biased(score, black, sample_bias, label_bias):
    """Return who is in the data, and with which label."""
    kept = np.where(black, 1.0, np.where(score >= 0.5, 0.8, 0.2)) if sample_bias else np.full(len(score), 0.5)
    threshold = np.where(black, 0.7, 0.3) if label_bias else 0.5
    return rng.random(len(score)) < kept, (score >= threshold).astype(int)


def tested(features, likelihood, black, sample_bias, label_bias):
    """Train a model on such data and test its predictions for people left out."""
    score = rankdata(likelihood) / len(likelihood)
    kept, label = biased(score, black, sample_bias, label_bias)
    X, y, group = features.assign(black=black * 1.0)[kept], label[kept], np.where(black, "Black", "White")[kept]
    X_train, X_test, y_train, y_test, _, g_test = train_test_split(X, y, group, test_size=0.5, random_state=0)
    predicted = model.fit(X_train, y_train).predict(X_test)
    return FairnessTest.from_predictions(
        y_test, predicted, sensitive_features={"group": g_test}, metric="hinnefeld", random_state=0, n_resamples=999
    ).to_frame().set_index("metric")  # fmt: skip


# %%
# Experiment A: the ground truth is balanced, because only White people are used and a random half of them are called
# Black. Experiment B: colour is as recorded, with all the differences between Black and White people.
white = (arrests["colour"] == "White").to_numpy()
experiments = {
    "A: equal ground truth": (features[white], likelihood[white], rng.random(white.sum()) < 0.5),
    "B: ground truth as it was": (features, likelihood, ~white),
}
datasets = {"1 none": (False, False), "2 sample": (True, False), "3 label": (False, True), "4 both": (True, True)}
results = {
    (experiment, name): tested(*people, *bias)
    for experiment, people in experiments.items()
    for name, bias in datasets.items()
}

# %%
# Disparities, Black minus White (disparate impact: Black over White); dark fields are significant (p at most 5%, not
# adjusted).
figure, several = plt.subplots(1, 2, layout="constrained", figsize=(10, 3.6), sharey=True)
for axes, experiment in zip(several, experiments, strict=True):
    values = pd.DataFrame({name: results[experiment, name]["disparity"] for name in datasets})
    found = pd.DataFrame({name: results[experiment, name]["p_value"] for name in datasets}) <= 0.05
    axes.imshow(found, cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
    for (i, j), value in np.ndenumerate(values.to_numpy()):
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color="white" if found.iat[i, j] else "black")
    axes.set_xticks(range(4), datasets)
    axes.set_yticks(range(len(values)), [name.replace("_", " ") for name in values.index])
    axes.set(title=experiment, xlabel="bias put into the data")
    print(f"{experiment}\n{values.round(2).to_string()}\n")
plt.show()

# %%
# In A nothing is significant where there is no bias, and most metrics detect every kind of bias. In B the metrics
# detect "bias" in data to which none was added: they cannot distinguish bias from a difference in the ground truth.
# Disparate impact depends most on the ground truth, and differences in residuals hardly react to label bias, because
# the model learns the labels as they are.
#
# That is the paper's conclusion, and a p-value does not change it. A test says that a disparity is more than chance;
# it does not say where it comes from. Without knowing how people got into the data and how labels were given, no
# metric and no p-value can distinguish a biased model from an unequal world.
