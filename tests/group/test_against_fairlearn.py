"""Values, indexes and disparities of every rate, against fairlearn's MetricFrame."""

from functools import cache

import fairlearn.metrics as fair
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from fairlearn.metrics import MetricFrame
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import FairnessTest
from skfairtest.metrics import RATES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def share_of_wrong(label):
    """Share of the people predicted `label` who are not, by scikit-learn's precision; 0 where nobody is."""

    def metric(y_true, y_pred):
        called = np.asarray(y_pred) == label
        return 1 - sk.precision_score(y_true, y_pred, pos_label=label) if called.any() else 0.0

    return metric


def share_of_missed(y_true, y_pred):
    """Share of the false negatives among those predicted wrongly, by scikit-learn's confusion matrix; 0 of nobody."""
    (_, wrongly), (missed, _) = sk.confusion_matrix(y_true, y_pred, labels=[0, 1])
    return missed / max(missed + wrongly, 1)


#: Each rate by the functions of fairlearn and scikit-learn; they give 0 where it is undefined.
THEIRS = {
    "selection_rate": fair.selection_rate,
    "true_positive_rate": fair.true_positive_rate,
    "false_positive_rate": fair.false_positive_rate,
    "true_negative_rate": fair.true_negative_rate,
    "false_negative_rate": fair.false_negative_rate,
    "precision": lambda t, p: sk.precision_score(t, p, zero_division=0),
    "negative_predictive_value": lambda t, p: sk.precision_score(t, p, pos_label=0, zero_division=0),
    "false_discovery_rate": share_of_wrong(1),
    "false_omission_rate": share_of_wrong(0),
    "accuracy": sk.accuracy_score,
    "coverage": sk.accuracy_score,
    "zero_one_loss": sk.zero_one_loss,
    "jaccard": lambda t, p: sk.jaccard_score(t, p, zero_division=0),
    "false_negative_share": share_of_missed,
    "f1": lambda t, p: sk.f1_score(t, p, zero_division=0),
}
#: Who meets each rate's condition, written out once more.
CONDITIONS = {
    "selection_rate": lambda t, p: t >= 0,
    "true_positive_rate": lambda t, p: t == 1,
    "false_positive_rate": lambda t, p: t == 0,
    "true_negative_rate": lambda t, p: t == 0,
    "false_negative_rate": lambda t, p: t == 1,
    "precision": lambda t, p: p == 1,
    "negative_predictive_value": lambda t, p: p == 0,
    "false_discovery_rate": lambda t, p: p == 1,
    "false_omission_rate": lambda t, p: p == 0,
    "accuracy": lambda t, p: t >= 0,
    "coverage": lambda t, p: t >= 0,
    "zero_one_loss": lambda t, p: t >= 0,
    "jaccard": lambda t, p: (t == 1) | (p == 1),
    "false_negative_share": lambda t, p: t != p,
    "f1": lambda t, p: (t == 1) | (p == 1),
}
GROUPINGS = {
    "race": ["race"],
    "sex": ["sex"],
    "race x sex": ["race", "sex"],
}


def test_the_list_of_rates_here_is_complete():
    assert set(THEIRS) == set(CONDITIONS) == set(RATES)


#: Frames by their features: several fixtures ask for the same.
FRAMES = {}


class Both:
    """Our test and fairlearn's frame of the same people, all rates at once."""

    def __init__(self, compas, sensitive, control=None, **params):
        features = {"sensitive_features": compas.sensitive_features[sensitive]}
        if control is not None:
            features["control_features"] = compas.sensitive_features[control]
        params = {"metric": list(THEIRS), **params}
        self.test = FairnessTest.from_predictions(compas.y_true, compas.y_pred, **features, **params)
        place = (*(control or []), None, *sensitive)
        if place not in FRAMES:
            FRAMES[place] = MetricFrame(metrics=THEIRS, y_true=compas.y_true, y_pred=compas.y_pred, **features)
        self.frame = FRAMES[place]
        # Of all metrics at once.
        self.difference, self.ratio = cache(self.frame.difference), cache(self.frame.ratio)
        keys = [compas.sensitive_features[name] for name in [*(control or []), *sensitive]]
        rows = pd.DataFrame({n: c(compas.y_true, compas.y_pred) for n, c in CONDITIONS.items()})
        self.denominators = rows.groupby([key.to_numpy() for key in keys], observed=False).sum()

    def rows(self, metric):
        """Our comparisons of one rate, strata pooled."""
        table = self.test.comparisons_
        return table[(table["metric"] == metric) & table["stratum"].isna()]


#: Both features crossed have every case that one of them has.
@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name == "race x sex" else pytest.mark.slow) for name in GROUPINGS],
)
def both(request, compas):
    """Every rate of COMPAS by each grouping, each pair of groups compared."""
    return Both(compas, GROUPINGS[request.param], method="asymptotic")


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_index_is_that_of_metric_frame(both, metric):
    ours = both.test.by_group_.xs(metric, level="metric")
    pd.testing.assert_index_equal(ours.index, both.frame.by_group.index)
    assert both.test.by_group_.index.names == ["metric", *both.frame.by_group.index.names]


@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_values_are_those_of_metric_frame_wherever_the_rate_is_defined(both, metric):
    ours = both.test.by_group_.xs(metric, level="metric")
    theirs, denominators = both.frame.by_group[metric], both.denominators[metric].to_numpy()
    np.testing.assert_array_equal(ours["n_effective"], denominators)
    defined = denominators > 0
    np.testing.assert_allclose(ours["value"][defined], theirs[defined].astype(float), rtol=1e-12)
    assert ours["value"][~defined].isna().all()
    assert (theirs[~defined] == 0).all()


@pytest.mark.parametrize("metric", list(THEIRS))
def test_every_undefined_value_is_a_row_of_excluded(both, metric):
    ours = both.test.by_group_.xs(metric, level="metric")
    excluded = both.test.excluded_
    listed = excluded.loc[excluded["metric"] == metric]
    assert list(listed["group"]) == list(ours.index[ours["value"].isna()])
    assert (listed["n_effective"] == 0).all()
    assert listed["reason"].str.contains("no one").all()


def test_the_precision_of_asian_women_is_undefined_and_not_0(compas):
    # No Asian woman of COMPAS is predicted to reoffend.
    frame = compas.sensitive_features[["race", "sex"]]
    with pytest.warns(UndefinedMetricWarning, match=r"precision of Asian, Female"):
        test = FairnessTest.from_predictions(
            compas.y_true, compas.y_pred, sensitive_features=frame, metric="precision", method="asymptotic"
        )
    row = test.by_group_.loc[("Asian", "Female")]
    assert np.isnan(row["value"])
    assert (row["n"], row["n_effective"]) == (2, 0)
    excluded = test.excluded_.iloc[0]
    assert (excluded["metric"], excluded["group"], excluded["n"]) == ("precision", ("Asian", "Female"), 2)
    assert excluded["comparisons"] == 11
    assert ("Asian", "Female") not in {*test.comparisons_["group"], *test.comparisons_["other"]}
    assert len(test.comparisons_) == 11 * 10 // 2
    theirs = MetricFrame(
        metrics=THEIRS["precision"], y_true=compas.y_true, y_pred=compas.y_pred, sensitive_features=frame
    )
    assert theirs.by_group[("Asian", "Female")] == 0


@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_largest_disparity_is_metric_frames_difference(both, metric):
    theirs = both.frame.by_group[metric].astype(float)
    defined = both.denominators[metric].to_numpy() > 0
    expected = theirs[defined].max() - theirs[defined].min()
    assert both.rows(metric)["disparity"].abs().max() == pytest.approx(expected, rel=1e-12)
    if defined.all():
        assert both.difference()[metric] == pytest.approx(expected, rel=1e-12)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_disparity_of_two_groups_is_metric_frames_difference(by_sex, metric):
    (row,) = by_sex.rows(metric).to_dict("records")
    values = by_sex.frame.by_group[metric]
    assert abs(row["disparity"]) == pytest.approx(by_sex.difference()[metric], rel=1e-12)
    assert row["disparity"] == pytest.approx(values["Female"] - values["Male"], rel=1e-12)


@pytest.fixture(scope="module")
def by_sex(compas):
    """Every rate of the women and men of COMPAS."""
    return Both(compas, ["sex"], method="asymptotic")


@pytest.fixture(scope="module", params=[pytest.param("race", marks=pytest.mark.slow), "sex"])
def to_overall(request, compas):
    """Every rate of COMPAS by race or sex, each group against everyone."""
    return Both(compas, [request.param], compare="to_overall", method="asymptotic")


@pytest.mark.parametrize("metric", list(THEIRS))
def test_to_overall_is_metric_frames_difference_to_overall(to_overall, metric):
    rows = to_overall.rows(metric)
    expected = to_overall.difference(method="to_overall")[metric]
    assert rows["disparity"].abs().max() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(rows["value_other"], to_overall.frame.overall[metric], rtol=1e-12)
    assert set(rows["other"]) == {"overall"}


def smaller(ratio):
    """Fairlearn's ratio: the smaller value over the larger one."""
    return np.minimum(ratio, 1 / ratio)


@pytest.fixture(scope="module", params=["between_groups", "to_overall"])
def ratios(request, compas):
    """Every rate of COMPAS by race, as ratios."""
    return Both(compas, ["race"], disparity="ratio", compare=request.param, method="asymptotic")


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_smallest_ratio_is_metric_frames_ratio(ratios, metric):
    expected = ratios.ratio(method=ratios.test.compare)[metric]
    assert smaller(ratios.rows(metric)["disparity"]).min() == pytest.approx(expected, rel=1e-12)


def test_a_ratio_says_who_has_more(ratios):
    rows = ratios.rows("selection_rate")
    np.testing.assert_allclose(rows["disparity"], rows["value_group"] / rows["value_other"], rtol=1e-12)
    assert (rows["disparity"] > 1).any()
    assert (rows["disparity"] < 1).any()


@pytest.fixture(scope="module", params=[pytest.param("race", marks=pytest.mark.slow), "sex"])
def within_age(request, compas):
    """Every rate of COMPAS by race or sex within age."""
    return Both(compas, [request.param], ["age_cat"], method="asymptotic")


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", list(THEIRS))
def test_values_within_control_features_are_those_of_metric_frame(within_age, metric):
    ours = within_age.test.by_group_.xs(metric, level="metric")
    theirs = within_age.frame.by_group[metric]
    pd.testing.assert_index_equal(ours.index, theirs.index)
    defined = within_age.denominators[metric].to_numpy() > 0
    np.testing.assert_array_equal(ours["value"].notna(), defined)
    np.testing.assert_allclose(ours["value"][defined], theirs[defined].astype(float), rtol=1e-12)


@pytest.mark.parametrize("metric", list(THEIRS))
def test_the_largest_disparity_in_each_stratum_is_metric_frames_difference(within_age, metric):
    rows = within_age.test.comparisons_
    rows = rows[(rows["metric"] == metric) & rows["stratum"].notna()]
    ours = within_age.test.by_group_.xs(metric, level="metric")["value"].dropna()
    theirs = within_age.frame.by_group[metric].reindex(ours.index).astype(float)
    spread = theirs.groupby(level=0).max() - theirs.groupby(level=0).min()
    found = rows["disparity"].abs().groupby(rows["stratum"].astype(str)).max()
    assert list(found.index) == list(spread.index)
    np.testing.assert_allclose(found, spread, rtol=1e-12)


def test_a_combination_that_nobody_has_is_a_row_without_people():
    people = pd.DataFrame({"a": ["x", "x", "x", "x", "y", "y"], "b": ["u", "u", "v", "v", "u", "u"]})
    y_pred = [0, 1, 1, 1, 0, 1]
    test = FairnessTest.from_predictions(None, y_pred, sensitive_features=people, metric="selection_rate")
    frame = MetricFrame(metrics=fair.selection_rate, y_true=[0] * 6, y_pred=y_pred, sensitive_features=people)
    pd.testing.assert_index_equal(test.by_group_.index, frame.by_group.index)
    np.testing.assert_array_equal(test.by_group_["value"], frame.by_group.astype(float))
    assert tuple(test.by_group_.loc[("y", "v"), ["n", "n_effective"]]) == (0, 0)
    assert test.groups_ == [("x", "u"), ("x", "v"), ("y", "u")]


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "b", "a"],
        [10, 9, 10, 9],
        [True, False, True, False],
        [2.5, -1.0, 2.5, -1.0],
        ["é", "日本", "é", "日本"],
    ],
)
def test_the_index_is_metric_frames_for_any_kind_of_group(values):
    features = pd.Series(values, name="group")
    test = FairnessTest.from_predictions(None, [0, 1, 1, 1], sensitive_features=features, metric="selection_rate")
    frame = MetricFrame(metrics=fair.selection_rate, y_true=[0] * 4, y_pred=[0, 1, 1, 1], sensitive_features=features)
    assert list(test.by_group_.index) == list(frame.by_group.index)
    assert test.by_group_.index.names == frame.by_group.index.names
    np.testing.assert_array_equal(test.by_group_["value"], frame.by_group.astype(float))


def test_categories_come_in_metric_frames_order():
    features = pd.Series(pd.Categorical(["lo", "hi", "lo", "hi"], categories=["lo", "hi", "never"]), name="size")
    test = FairnessTest.from_predictions(None, [0, 1, 1, 1], sensitive_features=features, metric="selection_rate")
    frame = MetricFrame(metrics=fair.selection_rate, y_true=[0] * 4, y_pred=[0, 1, 1, 1], sensitive_features=features)
    assert list(test.by_group_.index) == list(frame.by_group.index)


def test_features_without_names_are_called_as_in_metric_frame():
    groups = np.array([["x", "u"], ["x", "v"], ["x", "u"], ["x", "v"]])
    test = FairnessTest.from_predictions(None, [0, 1, 1, 1], sensitive_features=groups, metric="selection_rate")
    frame = MetricFrame(metrics=fair.selection_rate, y_true=[0] * 4, y_pred=[0, 1, 1, 1], sensitive_features=groups)
    assert test.by_group_.index.names == frame.by_group.index.names == ["sensitive_feature_0", "sensitive_feature_1"]
