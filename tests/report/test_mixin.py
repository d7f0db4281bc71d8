"""What every fitted test can be turned into, whichever it is."""

import json
import sys
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import selection_rate_difference
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from skfairtest import (
    AdjustedFairnessTest,
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    PairedFairnessTest,
    Projection,
    Rate,
    ScoreMetric,
    SequentialFairnessTest,
)
from skfairtest._utils.errors import ParameterError

Y = np.array([0, 1] * 30)
PREDICTED = np.array([0, 1, 1, 1, 0, 0] * 10)
GROUPS = {"sex": np.array(list("ffm") * 20), "town": np.array(list("xxxyyxxx") * 7 + list("xyxy"))}


def groups(**params):
    return FairnessTest.from_predictions(Y, PREDICTED, sensitive_features=GROUPS["sex"], **params)


def odd_groups():
    """A reference group that is a tuple, ratios that are infinite or undefined, and a metric that is a function."""

    def share(y_true, y_pred):
        return float(np.mean(y_pred))

    with pytest.warns(UndefinedMetricWarning, match="ratio is undefined"):
        return FairnessTest.from_predictions(
            Y, np.where(GROUPS["sex"] == "f", 0, PREDICTED), sensitive_features=pd.DataFrame(GROUPS),
            control_features={"age": np.repeat([20, 40], 30)}, metric={"own": share, "selected": "selection_rate"},
            compare="to_reference", reference_group=("f", "x"), disparity="ratio", n_resamples=199,
            random_state=np.random.RandomState(0),
        )  # fmt: skip


def correlation():
    return CorrelationFairnessTest.from_predictions(
        Y, PREDICTED / 2, sensitive_features={"age": np.arange(60.0)}, n_resamples=199, random_state=0
    )


def individual():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X @ [1, 1] + rng.normal(size=120) > 0).astype(int)
    model = LogisticRegression().fit(X[:60], y[:60])
    ranges = {0: (-9.0, 9.0)}
    return IndividualFairnessTest.as_published(
        model, fair_metric=Projection([[1, 0]]), steps=(20, 0.01), feature_ranges=ranges
    ).fit(X[60:], y[60:])


def audit():
    return FairnessAudit.from_predictions(Y, PREDICTED, sensitive_features=GROUPS, metrics=["selection_rate", "f1"])


MAKERS = {
    "groups": groups,
    "odd_groups": odd_groups,
    "omnibus": lambda: groups(metric="normalized_mutual_info", n_resamples=99, random_state=0),
    "equivalence": lambda: groups(metric="selection_rate", alternative="equivalence", margin=0.2),
    "correlation": correlation,
    "individual": individual,
    "audit": audit,
}


@pytest.fixture(scope="module", params=MAKERS)
def test(request):
    with np.errstate(all="ignore"):
        return MAKERS[request.param]()


def leaves(value):
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def test_every_test_is_a_dict_of_plain_values(test):
    found = test.to_dict()
    assert {type(leaf) for leaf in leaves(found)} <= {str, int, float, bool, type(None)}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_every_test_says_in_its_dict_what_its_attributes_say(test):
    found = test.to_dict()
    assert found["p_value"] == test.p_value_
    assert found["concern"] == test.concern_
    assert found["n_samples"] == test.n_samples_
    assert found["parameters"]["confidence_level"] == test.confidence_level
    assert {"skfairtest", "python", "numpy"} <= set(found["versions"])


def test_every_test_is_json_and_a_file(test, tmp_path):
    text = test.to_json()
    assert text.isascii()
    assert json.loads(text)["test"] == type(test).__name__
    for write in (test.to_json, test.to_text, test.to_markdown, test.to_html):
        assert write(tmp_path / "found") is None
        assert (tmp_path / "found").read_text(encoding="utf-8") == write()


def test_every_test_is_a_frame(test):
    frame = test.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    assert frame is not test.to_frame()


def test_every_test_is_a_part_of_a_notebook(test):
    shown = test._repr_html_()
    assert shown.startswith('<div class="skfairtest fragment">')
    assert test._repr_mimebundle_()["text/plain"] == str(test)
    levels = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: levels.append(tag) if tag[0] == "h" and tag[1:].isdigit() else 0
    parser.feed(shown)
    assert levels
    assert "h1" not in levels
    assert "sk-container" not in shown  # scikit-learn's diagram


CLASSES = [FairnessTest, CorrelationFairnessTest, IndividualFairnessTest, FairnessAudit]
every_class = pytest.mark.parametrize("cls", CLASSES)


@every_class
def test_nothing_can_be_asked(cls):
    for method in ("to_dict", "to_json", "to_frame"):
        with pytest.raises(NotFittedError):
            getattr(cls(), method)()


@every_class
def test_parameters_are_shown_as_scikit_learn_shows_them(cls):
    bare = cls(confidence_level=0.9)
    assert str(bare) == repr(bare) == f"{cls.__name__}(confidence_level=0.9)"
    assert "sk-container" in bare._repr_html_()
    assert "sk-container" in bare._repr_mimebundle_()["text/html"]


def test_without_the_libraries_of_the_page_a_notebook_shows_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfairtest.report.html", None)
    assert audit()._repr_html_() is None
    assert set(audit()._repr_mimebundle_()) == {"text/plain"}


def test_values_that_json_lacks_are_named():
    rows = odd_groups().to_dict()
    found = list(leaves(rows["comparisons"]))
    assert "inf" in found
    assert rows["parameters"]["reference_group"] == ["f", "x"]
    assert rows["parameters"]["metric"] == {"own": "share", "selected": "selection_rate"}
    assert rows["by_group"][0]["group"] == ["f", "x"]
    assert rows["by_group"][0]["stratum"] == 20
    assert "equivalence_interval" not in rows


@pytest.mark.parametrize("make", [groups, correlation, individual, audit])
def test_what_was_found_is_told_with_the_parameters_of_the_fit(make):
    test = make()
    found = test.to_dict()
    test.set_params(confidence_level=0.5)
    assert test.to_dict() == found


def test_objects_are_named_without_their_address():
    def share(y_true, y_pred, of):
        return float(np.mean(y_pred == of))

    class Missed:
        def __call__(self, y_true, y_pred):
            return float(np.mean(y_pred != y_true))

    metrics = {"partial": partial(share, of=1), "object": Missed(), "gap": selection_rate_difference}
    with pytest.warns(UserWarning, match="partial of m rests on few people"):
        found = groups(metric=metrics, n_resamples=99, random_state=0).to_dict()
    assert found["parameters"]["metric"] == {
        "partial": "share",
        "object": "Missed",
        "gap": "selection_rate_difference",
    }


def test_a_model_is_named_and_nobody_is_told_of():
    found = individual().to_dict()
    assert found["parameters"]["estimator"] == "LogisticRegression"
    assert found["solver_report"]["gradient"] == "finite_differences"
    assert "loss_ratios" not in found
    assert found["excluded"] == []


def streams():
    return SequentialFairnessTest().partial_fit(y_pred=PREDICTED, sensitive_features=GROUPS["sex"])


def two_models():
    return PairedFairnessTest.from_predictions(Y, PREDICTED, 1 - PREDICTED, sensitive_features=GROUPS["sex"])


def adjusted():
    X = pd.DataFrame({"age": np.linspace(20, 60, 60), "size": np.tile([1.0, 2.0, 4.0], 20)})
    return AdjustedFairnessTest.from_predictions(Y, PREDICTED, sensitive_features=GROUPS["town"], covariates=X)


def correlations():
    return CorrelationFairnessTest.from_predictions(
        Y, PREDICTED, sensitive_features={"age": np.arange(60), "size": np.arange(60) % 7}, n_resamples=19
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("made", "display"),
    [(groups, "Disparity"), (two_models, "Disparity"), (adjusted, "Disparity"), (correlations, "Disparity"),
     (streams, "Monitor")],
)  # fmt: skip
def test_every_test_has_a_page_with_a_title_and_a_picture_with_every_row(made, display):
    test = made()
    drawn = test.plot()
    assert type(drawn).__name__ == f"{display}Display"
    if display == "Disparity":
        assert len(drawn.labels) == len(test.comparisons_)
        column = "correlation" if made is correlations else "disparity"
        assert sorted(np.abs(drawn.disparity)) == pytest.approx(sorted(np.abs(test.comparisons_[column])))
    page = test.to_html()
    assert page.count("<h1") == 1
    assert page.index("<h1") < page.index("Verdict") < page.index("Null hypothes")


@pytest.mark.parametrize("made", [lambda: Rate({1}, "y_pred"), lambda: ScoreMetric(10**20, max)])
def test_a_name_is_text(made):
    with pytest.raises(ParameterError, match=r"name of a (rate|metric) must be text"):
        made()
