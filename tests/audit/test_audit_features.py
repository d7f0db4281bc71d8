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
        {"n_resamples": 299},
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
        ).results_
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
    expected = pipeline[-1].results_
    with config_context(enable_metadata_routing=True):
        pipeline.fit(people[["score"]], people["y_true"], sensitive_features=people["tree"])
    pd.testing.assert_frame_equal(pipeline[-1].results_, expected)


def test_a_second_fit_has_the_features_of_the_second(people):
    audit = FairnessAudit(metrics="selection_rate", random_state=0)
    audit.fit(people["y_pred"], sensitive_features=people[["tree", "moss"]])
    audit.fit(people["y_pred"], sensitive_features=people["moss"])
    assert audit.results_["feature"].tolist() == ["moss"]
    fresh = FairnessAudit(metrics="selection_rate", random_state=0)
    fresh.fit(people["y_pred"], sensitive_features=people["moss"])
    pd.testing.assert_frame_equal(audit.results_, fresh.results_, check_exact=True)
    dated, again = ((str(one), one.record_.created) for one in (audit, fresh))
    assert dated[0].replace(dated[1], "") == again[0].replace(again[1], "")
