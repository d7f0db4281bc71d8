"""An audit may compare a candidate with the model in production."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessAudit, PairedFairnessTest
from skfairtest.audit import _parts
from skfairtest.cli.app import run

TITLE = "Compared with the model in production"


@pytest.fixture(scope="module")
def people():
    """Women and men of two towns; model a prefers men, model b does not."""
    rng = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "town": rng.choice(["north", "south"], n)})
    merit = rng.random(n)
    frame["truth"] = (merit + rng.normal(0, 0.2, n) > 0.5).astype(int)
    frame["score_a"], frame["score_b"] = merit - 0.3 * (frame["sex"] == "f"), merit
    frame["a"], frame["b"] = ((frame[f"score_{model}"] > 0.45).astype(int) for model in "ab")
    return frame


def audit(people, baseline="a", columns=("sex", "town"), **params):
    known = {} if baseline is None else {"y_pred_baseline": people[baseline]}
    return FairnessAudit.from_predictions(
        people["truth"], people["b"], sensitive_features=people[list(columns)],
        **{"metrics": ["selection_rate", "false_positive_rate"], "random_state": 0, **known, **params},
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(people):
    return audit(people)


def test_the_section_says_what_the_test_of_two_models_says(people, found):
    alone = PairedFairnessTest.from_predictions(
        people["truth"], people["a"], people["b"], sensitive_features=people[["sex"]],
        metric=["selection_rate", "false_positive_rate"], confidence_level=0.975,
    )  # fmt: skip
    own = found.baseline_["sex"]
    pd.testing.assert_frame_equal(own.disparities_, alone.disparities_)
    columns = ["metric", "group", "p_value", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(own.comparisons_[columns], alone.comparisons_[columns])
    assert list(found.baseline_) == ["sex", "town"]
    gap = alone.disparities_.set_index("metric").loc["selection_rate"]
    said = f"{-100 * gap['disparity_a']:.1f} points under the model in production"
    for report in (found.to_text(details=True), found.to_markdown(), found.to_html()):
        assert TITLE in report
        assert said in report
        assert "smaller in size under this model" in report
        assert "level of its own" in report
        assert "Tango" in report
    assert '<span class="bar' in found.to_html().split(TITLE, 1)[1]


@pytest.fixture
def merged(monkeypatch):
    """What the sections that are written say, as records."""
    records, written = [], _parts.paired_section
    monkeypatch.setattr(_parts, "paired_section", lambda record: records.append(record) or written(record))
    return records


def test_p_values_of_all_features_are_adjusted_together_by_holm(people, merged):
    audit(people)
    rows = pd.DataFrame(merged[0].results)
    p = np.sort(rows["p_value"])
    due = np.minimum(1, np.maximum.accumulate(p * np.arange(len(p), 0, -1)))
    assert len(p) == 4
    np.testing.assert_allclose(np.sort(rows["p_value_adjusted"]), due)
    assert list(rows.groupby("feature")["concern"].any()) == [True, False]


def test_the_verdict_is_that_of_the_audited_model(people, found):
    without = audit(people, baseline=None)
    assert (found.p_value_, found.concern_) == (without.p_value_, without.concern_)
    assert without.baseline_ is None
    assert TITLE not in str(without)
    assert not without.record_.beside


@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
def test_models_are_asked_for_what_each_metric_reads(people):
    X = people[["score_a", "score_b"]]
    a, b = (LogisticRegression().fit(X[[f"score_{model}"]].to_numpy(), people["truth"]) for model in "ab")

    class Of:
        """A model of one of the columns."""

        def __init__(self, model, column):
            self.model, self.column, self.classes_ = model, column, model.classes_

        def predict(self, X):
            return self.model.predict(X[[self.column]].to_numpy())

        def predict_proba(self, X):
            return self.model.predict_proba(X[[self.column]].to_numpy())

    own = FairnessAudit(
        Of(b, "score_b"), baseline=Of(a, "score_a"), metrics=["selection_rate", "roc_auc"], n_resamples=199,
        random_state=0,
    ).fit(X, people["truth"], sensitive_features=people["sex"])  # fmt: skip
    values = own.baseline_["sex"].by_model_.set_index(["metric", "group"])
    predicted = a.predict(people[["score_a"]].to_numpy())
    assert values.loc[("selection_rate", "f"), "value_a"] == pytest.approx(predicted[people["sex"] == "f"].mean())
    assert ("roc_auc", "m") in values.index
    assert "baseline=" in own.to_text(details=True)


def test_what_cannot_be_compared_is_listed(people):
    metrics = ["selection_rate", "normalized_mutual_info", "roc_auc"]
    own = audit(people, columns=["sex"], metrics=metrics, y_score=people["score_b"], n_resamples=199)
    text = str(own).split(TITLE, 1)[1]
    assert "normalized_mutual_info" in text.split("Similar people")[0]
    assert "roc_auc needs y_score_baseline, which was not passed" in text


@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
def test_strata_weights_and_clusters_are_those_of_the_audit(people, merged):
    strata = audit(people, columns=["sex"], control_features=people[["town"]], metrics="selection_rate")
    assert [row["stratum"] for row in merged[0].results] == [None, "north", "south"]
    assert "in north" in str(strata)
    weighted = audit(people, columns=["sex"], sample_weight=np.where(people["town"] == "north", 2.0, 1.0))
    assert weighted.baseline_["sex"].method_ == "permutation"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"missing": "exclude"}, "missing='exclude' has no comparison with a baseline"),
        ({"metrics": "normalized_mutual_info"}, "by none of them are two models compared"),
        ({"baseline_model": True}, "baseline is asked for its predictions"),
        ({"compare": "to_highest"}, "chooses a group by one model's values"),
    ],
)
def test_what_has_no_comparison_is_refused(people, params, message):
    if params.pop("baseline_model", False):
        with pytest.raises(ValueError, match=message):
            FairnessAudit(baseline=LogisticRegression()).fit(
                people["b"], people["truth"], sensitive_features=people["sex"]
            )
        return
    with pytest.raises(ValueError, match=message):
        audit(people, **params)


def test_the_command_line_compares_with_the_column_of_the_model_in_production(people, tmp_path, capsys):
    path, record = tmp_path / "people.csv", tmp_path / "audit.json"
    people.to_csv(path, index=False)
    asked = ["--y-true", "truth", "--y-pred", "b", "--sensitive", "sex", "--metric", "selection_rate"]
    status = run(["audit", str(path), *asked, "--baseline", "a", "--json", str(record)])
    text = capsys.readouterr().out
    assert status == run(["audit", str(path), *asked])
    capsys.readouterr()
    assert TITLE in text
    assert "points under the model in production and" in text
    assert [section.title for section in FairnessAudit.from_json(record).record_.beside] == [TITLE]
