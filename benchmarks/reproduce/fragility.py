"""How far verdicts survive wrong labels and missing labels on real data: the question of Fawkes et al. (2024)."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.make_compas_counts import data_folder
from benchmarks.reproduce._rows import Found, Row
from skfairtest import FairnessTest
from skfairtest.inference.rates import Scale
from skfairtest.inference.relabelling import disparity_ends, relabelled

TITLE = "Wrong labels and missing labels on real data"
SOURCE = ""
SEED = 20261125
LIBRARIES = ("scikit-learn",)
NEEDS = ("adult.csv.gz", "compas.csv", "german.csv")
INTRODUCTION = """\
Fawkes, Fishman, Andrews and Lipton (2024, arXiv 2410.09600) ask how far parity measures depend on biases of the data
(labels that stand for others, selection), on 14 data sets with 3 kinds of classifier, and find a "striking fragility of
fairness assessments to even minor dataset biases". Their bounds are on the size of a disparity in the population, which
is assumed to be known; ours also count chance. Their figures are pictures; numbers are printed for one example of their
code (github.com/Jakefawkes/fragile_fair), 2,639 people of whose labels 5% are wrong, in any group: ours are found
by dividing the wrong labels between both groups in every way, among twenty times as many people. The tables have ours
alone, on three of their data sets: models that are fitted on one half of the people, and `FairnessTest.sensitivity` on
the other half. Positive are an income above $50,000, a new offence within two years, and a good credit."""
#: True labels 1 with prediction 1 and 0, then 0 with both, of their groups 0 and 1, and what their solver printed.
EXAMPLE = np.array([[413, 396, 178, 593], [184, 224, 178, 473]])
THEIRS = (-0.14215475810912948, 0.20136990978594707)
MODELS = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": make_pipeline(StandardScaler(), GaussianNB()),
    "decision tree": DecisionTreeClassifier(min_samples_leaf=50, random_state=0),
}
METRICS = ("true_positive_rate", "false_positive_rate", "precision")
NOISE, SELECTION = "Up to a share of wrong labels in every group", "Labels of a fifth of the people unknown"
TABLES = {
    NOISE: """\
The difference of both groups, what it may be if up to 1% and 5% of each group's labels are wrong, and the largest share
with which the verdict ("significant" or not, at 5%) survives.""",
    SELECTION: """\
Labels of a fifth of the people, drawn at random, are hidden. What the difference may be if the share of positives among
these is up to twice or half of that of their group, or any, and the largest factor with which the verdict survives.""",
}


def data_sets():
    """Each data set: features as numbers, labels 0 or 1, and two groups."""
    adult = pd.read_csv(data_folder() / "adult.csv.gz")
    yield "Adult (sex)", adult.drop(columns=["income", "sex", "race", "split"]), adult["income"] == ">50K", adult["sex"]
    compas = pd.read_csv(data_folder() / "compas.csv")
    compas = compas[compas["race"].isin(["African-American", "Caucasian"])]
    features = compas[["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree"]]
    yield "COMPAS (race)", features, compas["two_year_recid"] == 1, compas["race"]
    german = pd.read_csv(data_folder() / "german.csv")
    sex = np.where(german["personal_status_sex"].isin(["A92", "A95"]), "Female", "Male")
    yield "German (sex)", german.drop(columns=["credit_risk", "personal_status_sex"]), german["credit_risk"] == 1, sex


def published():
    """Bounds of the difference of false positive rates in their example, beside theirs."""
    cells, event = 20 * EXAMPLE, np.array([False, False, True, False])
    budget, low, high = int(cells.sum()) // 20, 0.0, 0.0
    for first in range(budget + 1):
        sides = [
            relabelled(of, event, np.array([False, False, True, True]), [(-of[0], of[2]), (-of[1], of[3])], labels)
            for of, labels in zip(cells, (budget - first, first), strict=True)
        ]
        ends = disparity_ends(sides[1], sides[0], Scale(), "difference")
        low, high = min(low, ends[0]), max(high, ends[1])
    what = "difference of false positive rates with 5% wrong labels, {} (theirs by their solver)"
    return [
        Row(what.format(end), ours, other=other, within=1e-4)
        for end, ours, other in zip(("smallest", "largest"), (low, high), THEIRS, strict=True)
    ]


def run(*, quick):
    rows = {title: [] for title in TABLES}
    for place, (name, features, labels, groups) in enumerate(data_sets()):
        if quick and place < 2:
            continue
        X = pd.get_dummies(features).to_numpy(dtype=float)
        y, groups = np.asarray(labels, dtype=int), np.asarray(groups)
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=SEED, stratify=y)
        hidden = np.random.default_rng(SEED).random(len(test)) < 0.2
        for model_name, model in list(MODELS.items())[: 1 if quick else None]:
            y_pred = model.fit(X[train], y[train]).predict(X[test])
            people = y[test], y_pred, groups[test]
            for metric in METRICS:
                first = [name, model_name, metric.replace("_", " ")]
                rows[NOISE].append([*first, *_noise(metric, *people)])
                rows[SELECTION].append([*first, *_selection(metric, hidden, *people)])
    heads = {
        NOISE: ["1%", "5%", "verdict", "survives"],
        SELECTION: ["factor 2", "any share", "verdict", "survives a factor of"],
    }
    head = ["data", "model", "metric", "difference"]
    return Found(published(), {title: ([*head, *heads[title]], rows[title]) for title in TABLES}, {})


def _noise(metric, y_true, y_pred, group):
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features={"group": group}, metric=metric)
    found = test.sensitivity("label_noise", at=[0.01, 0.05])
    share = found.survives["every group"]
    return _row(test, found.frame[found.frame["within"] == "every group"], f"{100 * share:.1f}%")


def _selection(metric, hidden, y_true, y_pred, group):
    test = FairnessTest.from_predictions(
        y_true[~hidden], y_pred[~hidden], sensitive_features={"group": group[~hidden]}, metric=metric
    )
    people = {"y_pred": y_pred[hidden], "sensitive_features": {"group": group[hidden]}}
    found = test.sensitivity("selection", at=[2, np.inf], **people)
    factor = found.survives["every group"]
    return _row(test, found.frame, "any" if np.isinf(factor) else "none" if np.isnan(factor) else f"{factor:.2f}")


def _row(test, frame, survives):
    spans = [
        f"{low:+.3f} to {high:+.3f}" for low, high in zip(frame["disparity_low"], frame["disparity_high"], strict=True)
    ]
    return [f"{test.disparity_:+.3f}", *spans, "significant" if test.concern_ else "not significant", survives]
