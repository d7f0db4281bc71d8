"""Audits of three sensitive features and all their crossings by the standard metrics, adjusted together.

"Noise": no feature means anything. "One feature matters": predictions are harsher on one sex; false are the findings by
race, by age and by both. "Base rates differ": labels depend on race and predictions on the label alone; false are
findings in rates within the true label, and in accuracy. "Small groups": twenty of thirty people beside a large one,
and scores that are right on average and very skewed.

Audits of COMPAS and Adult (which has to lie in the folder of the raw data) count the significant comparisons with
Holm's adjustment and with discrete Holm.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common.design import Design, one_by_one
from benchmarks.make_compas_counts import data_folder
from skfairtest import FairnessAudit
from skfairtest.datasets import load_compas

WITHIN_LABEL = {"true_positive_rate", "false_positive_rate", "accuracy", "roc_auc"}


def people(design, n, rng):
    """Features, labels, decisions and scores of n people."""
    if design == "small groups":
        score = rng.beta(0.5, 5, n)
        race = np.r_[np.repeat([f"{i}" for i in range(20)], 30), ["large"] * (n - 600)]
        y = (rng.random(n) < score).astype(int)
        return {"race": race, "sex": rng.choice(["f", "m"], n)}, y, (score > 0.1).astype(int), score
    race = rng.choice(["a", "b", "c", "d"], n, p=(0.6, 0.2, 0.15, 0.05))
    sex, age = rng.choice(["f", "m"], n), rng.choice(["old", "middle", "young"], n)
    base = np.where(race == "a", 0.6, 0.3) if design == "base rates differ" else 0.4
    y = (rng.random(n) < base).astype(int)
    shift = 1.0 * (sex == "f") if design == "one feature matters" else 0.0
    score = 1 / (1 + np.exp(0.6 - (1.2 * y + shift + rng.normal(size=n))))
    return {"race": race, "sex": sex, "age": age}, y, (score > 0.5).astype(int), score


def audited(design, n, scored):
    def draw(rng):
        features, y, decided, score = people(design, n, rng)
        audit = FairnessAudit.from_predictions(
            y, decided, y_score=score if scored else None, sensitive_features=features, n_resamples="adaptive",
            random_state=int(rng.integers(2**31)),
        )  # fmt: skip
        found = audit.comparisons_[audit.comparisons_["concern"]]
        false = {
            "one feature matters": lambda: ~found["feature"].str.contains("sex"),
            "base rates differ": lambda: found["metric"].isin(WITHIN_LABEL),
        }.get(design, lambda: np.ones(len(found), dtype=bool))()
        return {"audits": {"size": false.any(), "true": (~false).any()}}

    return one_by_one(draw)


def compas():
    data = load_compas()
    return np.asarray(data.y_true), np.asarray(data.y_pred), data.sensitive_features


def adult():
    """Labels of the test people, decisions of a logistic model, and race, sex and age."""
    data = pd.read_csv(data_folder() / "adult.csv.gz").assign(rich=lambda data: data["income"].str.contains(">50K"))
    train, test = data[data["split"] == "train"], data[data["split"] != "train"]
    numbers = ["age", "education_num", "hours_per_week", "capital_gain", "capital_loss"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[numbers], train["rich"])
    age = pd.cut(test["age"], [0, 25, 45, 100], labels=["to 25", "26 to 45", "over 45"]).astype(str)
    decided = model.predict(test[numbers]).astype(int)
    return test["rich"].to_numpy().astype(int), decided, test[["race", "sex"]].assign(age=age)


def counted(people):
    """Audit all people without and with intersections, by Holm's adjustment and by discrete Holm."""

    def ask(rng, _):
        (y, decided, features), out = people(), {}
        for crossed in (False, True):
            audits = [
                FairnessAudit.from_predictions(
                    y, decided, sensitive_features=features, intersections=crossed, adjust=adjust
                )
                for adjust in ("holm", "discrete_holm")
            ]
            figures = {each.record_.setup.adjust: int(each.comparisons_["concern"].sum()) for each in audits}
            out["with intersections" if crossed else "single features"] = figures | {
                "comparisons": len(audits[0].comparisons_)
            }
        return out

    return ask


DESIGNS = [
    Design("real audits/COMPAS", counted(compas), 1),
    Design("real audits/Adult", counted(adult), 1),
    *(
        Design(
            f"audits/{design}, {n} people, {'scores' if scored else 'labels'}", audited(design, n, scored), data_sets,
            ("audits",),
        )
        for design, n, scored, data_sets in (
            ("noise", 500, False, 120), ("noise", 2000, False, 120), ("one feature matters", 1000, False, 120),
            ("base rates differ", 1000, False, 120), ("noise", 500, True, 50), ("base rates differ", 1000, True, 50),
            ("small groups", 2600, True, 30),
        )
    ),
]  # fmt: skip
