"""Several features of one audit: their order is nothing but an order, and a pipeline hands all of them over."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfairtest import FairnessAudit


@pytest.fixture(scope="module")
def people():
    """Two features, a stratum, labels and scores."""
    rng = np.random.default_rng(0)
    tree = rng.choice(["ash", "birch", "cedar"], 160, p=[0.5, 0.3, 0.2])
    y = rng.random(160) < 0.5
    score = np.clip(0.5 * y + 0.6 * rng.random(160) * (1 + (tree == "cedar")) / 2, 0, 1)
    return pd.DataFrame(
        {
            "y_true": y.astype(int),
            "y_pred": (score > 0.5).astype(int),
            "score": score.round(2),
            "tree": tree,
            "moss": rng.choice(["no", "yes"], 160),
            "soil": rng.choice(["clay", "sand"], 160),
        }
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"n_resamples": 299}, marks=pytest.mark.slow),
        {"metrics": ["precision", "f1"], "disparity": "ratio", "compare": "to_overall"},
        {"metrics": ["roc_auc", "mean_residual"], "n_resamples": 299},
        {"metrics": "selection_rate", "margin": 0.05, "adjust": "fdr_bh"},
    ],
    ids=["standard", "ratios", "drawn", "margin"],
)
def test_another_order_of_features_changes_no_p_value(people, params):
    before, swapped = (
        FairnessAudit.from_predictions(
            people["y_true"],
            people["y_pred"],
            y_score=people["score"],
            sensitive_features=people[features],
            control_features=people[["soil"]] if params.get("disparity") == "ratio" else None,
            random_state=7,
            **params,
        ).comparisons_
        for features in (["tree", "moss"], ["moss", "tree"])
    )
    for name in ("tree", "moss"):
        # Crossed groups come in another order, with resamples of their own, and Holm's maximum runs over them too.
        adjusted = [] if "n_resamples" in params else ["p_value_adjusted"]
        columns = ["group", "other", "p_value", *adjusted, "disparity"]
        ours, theirs = (found.loc[found["feature"] == name, columns] for found in (before, swapped))
        pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs.reset_index(drop=True), rtol=1e-12)


def test_an_audit_is_the_last_step_of_a_pipeline(people):
    model = LogisticRegression().fit(people[["score"]], people["y_true"])
    pipeline = make_pipeline("passthrough", FairnessAudit(model, metrics="accuracy"))
    pipeline.fit(people[["score"]], people["y_true"], fairnessaudit__sensitive_features=people["tree"])
    expected = pipeline[-1].comparisons_
    with config_context(enable_metadata_routing=True):
        pipeline.fit(people[["score"]], people["y_true"], sensitive_features=people["tree"])
    pd.testing.assert_frame_equal(pipeline[-1].comparisons_, expected)


def test_a_second_fit_has_the_features_of_the_second(people):
    audit = FairnessAudit(metrics="selection_rate", random_state=0)
    audit.fit(people["y_pred"], sensitive_features=people[["tree", "moss"]])
    audit.fit(people["y_pred"], sensitive_features=people["moss"])
    assert audit.comparisons_["feature"].tolist() == ["moss"]
    fresh = FairnessAudit(metrics="selection_rate", random_state=0)
    fresh.fit(people["y_pred"], sensitive_features=people["moss"])
    pd.testing.assert_frame_equal(audit.comparisons_, fresh.comparisons_, check_exact=True)
    dated, again = ((str(one), one.record_.created) for one in (audit, fresh))
    assert dated[0].replace(dated[1], "") == again[0].replace(again[1], "")


@pytest.fixture(scope="module")
def many():
    """More people than are marked one by one where a group is small."""
    rng = np.random.default_rng(3)
    y = (rng.random(5400) < 0.4).astype(int)
    group = rng.choice(["large", "middle", "small"], 5400, p=[0.8, 0.15, 0.05])
    score = ((0.4 * y + rng.random(5400) + 0.2 * (group == "small")) / 1.6).round(3)
    return pd.DataFrame({"y": y, "label": (score > 0.5).astype(int), "score": score, "group": group})


def audited(people, **params):
    params = {"metrics": ["roc_auc", "calibration"], "random_state": 0, "n_resamples": 99, **params}
    return FairnessAudit.from_predictions(
        people["y"], people["label"], y_score=people["score"], sensitive_features=people[["group"]], **params
    )


@pytest.mark.filterwarnings("ignore:n_resamples=99 cannot reject:UserWarning")
@pytest.mark.parametrize("n_resamples", [99, pytest.param("adaptive", marks=pytest.mark.slow)])
def test_small_groups_of_many_have_one_answer_for_any_processes_and_order(many, n_resamples):
    params = {"n_resamples": n_resamples, "method": "permutation"}
    one, two = (audited(many, n_jobs=n_jobs, **params) for n_jobs in (1, 2))
    again = audited(many.sample(frac=1, random_state=1), **params)
    pd.testing.assert_frame_equal(one.comparisons_, two.comparisons_)
    # Sums of the same numbers may be rounded in another order.
    pd.testing.assert_frame_equal(one.comparisons_, again.comparisons_, rtol=1e-9)


def test_strong_evidence_stops_at_as_many_resamples_as_a_finding_takes(many):
    found = audited(many).comparisons_.set_index(["metric", "group", "other"])
    enough = len(found) / 0.05
    assert enough == 120  # more than the 99 that were asked for
    strong = found.loc["calibration"].loc[[("large", "small"), ("middle", "small")]]
    assert strong["p_value"].tolist() == pytest.approx([1 / 121] * 2)
    assert strong["concern"].all()
    assert strong["p_value_adjusted"].max() == pytest.approx(6 / 121)
    weak = found.loc[("calibration", "large", "middle")]
    assert weak["p_value"] > 0.1
    adaptive = audited(many, n_resamples="adaptive").comparisons_
    assert adaptive["p_value"].min() == pytest.approx(1e-4)  # nobody stops where all that were asked for are enough
