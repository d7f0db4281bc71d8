"""A test that is fed batch by batch: late groups, late labels, batches fed twice, streams that are put together."""

import ast
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfairtest import FairnessTest, Rate, SequentialFairnessTest
from skfairtest._utils.errors import ParameterError
from skfairtest.sequential import fairness as sequential


def batch(seed, n=80, groups=("a", "b"), gap=0.0, rate=0.3):
    """Groups, true labels and predictions of a week; the first group is selected more often."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n)
    y_true = rng.random(n) < 0.5
    y_pred = rng.random(n) < rate + gap * (group == groups[0])
    return {"y_pred": y_pred.astype(int), "y_true": y_true.astype(int), "sensitive_features": group}


def fed(test, weeks, **more):
    for week in weeks:
        test.partial_fit(**batch(week, **more), name=f"week {week}", time=week)
    return test


def test_a_disparity_is_found_and_its_first_look_is_kept():
    test = fed(SequentialFairnessTest(), range(30), gap=0.2)
    assert test.rejected_
    assert test.concern_
    assert test.p_value_ <= 0.05
    history = test.wealth_
    first = history.loc[history["e_value_adjusted"] >= 20, "look"].min()
    assert test.rejected_at_ == first > 1
    assert test.p_value_ == pytest.approx(1 / history["e_value_adjusted"].max())
    assert test.confidence_interval_[0] > 0
    assert test.disparity_ == pytest.approx(0.2, abs=0.05)
    assert test.n_batches_ == 30
    assert test.n_samples_ == 2400
    row = test.comparisons_.iloc[0]
    assert row["value_group"] - row["value_other"] == pytest.approx(row["disparity"], abs=0.01)
    assert row["n_group"] + row["n_other"] == 2400


def test_significance_stays_when_evidence_falls():
    test = fed(SequentialFairnessTest(), range(12), gap=0.3)
    before = test.p_value_
    fed(test, range(100, 130), gap=-0.2, rate=0.4)
    assert test.e_value_ < 1 / before
    assert test.p_value_ == before
    assert test.rejected_


def test_equal_rates_that_drift_together_are_no_disparity_even_where_mixes_drift_too():
    """Group a comes when rates are high: over all batches its rate is far higher, within every batch it is equal."""
    test, rng = SequentialFairnessTest(), np.random.default_rng(0)
    for week in range(40):
        rate = 0.2 + 0.015 * week
        group = np.where(rng.random(200) < 0.1 + 0.02 * week, "a", "b")
        test.partial_fit(y_pred=rng.random(200) < rate, sensitive_features=group)
    row = test.comparisons_.iloc[0]
    assert row["value_group"] - row["value_other"] > 0.1
    assert not test.rejected_
    assert abs(test.disparity_) < 0.03
    assert test.confidence_interval_[0] < 0 < test.confidence_interval_[1]


def test_within_a_margin_nothing_is_significant():
    strict, lenient = SequentialFairnessTest(), SequentialFairnessTest(margin=0.2)
    for test in (strict, lenient):
        fed(test, range(40), gap=0.12)
    assert strict.rejected_
    assert not lenient.rejected_
    far = fed(SequentialFairnessTest(margin=0.2), range(40), gap=0.5)
    assert far.rejected_
    assert far.confidence_interval_[0] > 0.2


def test_several_groups_are_adjusted_together():
    test = SequentialFairnessTest()
    for week in range(20):
        test.partial_fit(**batch(week, n=150, groups=("a", "b", "c"), gap=0.3))
    found = test.comparisons_.set_index(["group", "other"])
    assert found["concern"].to_dict() == {("a", "b"): True, ("a", "c"): True, ("b", "c"): False}
    assert (found["e_value_adjusted"] <= found["e_value"] * 0.9 + 1e-12).all()
    assert test.p_value_ == found["p_value_adjusted"].min()
    alone = clone(test).set_params(adjust=None)
    bonferroni = clone(test).set_params(adjust="bonferroni")
    for other in (alone, bonferroni):
        for week in range(20):
            other.partial_fit(**batch(week, n=150, groups=("a", "b", "c"), gap=0.3))
    np.testing.assert_allclose(alone.comparisons_["e_value_adjusted"], alone.comparisons_["e_value"])
    np.testing.assert_allclose(bonferroni.comparisons_["e_value_adjusted"], alone.comparisons_["e_value"] * 0.9 / 3)
    assert (bonferroni.comparisons_["p_value_adjusted"] >= found["p_value_adjusted"].to_numpy() - 1e-15).all()
    assert alone.p_value_ == test.p_value_  # the global p-value is Holm's
    wider = test.comparisons_["ci_high"] - test.comparisons_["ci_low"]
    assert (wider >= alone.comparisons_["ci_high"] - alone.comparisons_["ci_low"]).all()


def test_groups_that_are_named_share_the_whole_level_and_others_are_refused():
    named = SequentialFairnessTest(groups=["b", "a", "c"])
    fed(named, range(6), gap=0.2)
    assert len(named.comparisons_) == 3
    assert named.groups_ == ["a", "b", "c"]
    unnamed = fed(SequentialFairnessTest(groups=["a", "b"]), range(6), gap=0.2)
    assert unnamed.e_value_ > named.e_value_
    with pytest.raises(ParameterError, match="groups does not list 'd'"):
        named.partial_fit(**batch(9, groups=("a", "d")))
    assert named.n_batches_ == 6  # nothing was added


def test_a_late_group_is_compared_with_a_part_of_the_level_that_was_kept_for_it():
    test = fed(SequentialFairnessTest(), range(5))
    with pytest.warns(UserWarning, match="groups: c came after the first comparison"):
        test.partial_fit(**batch(7, groups=("a", "b", "c")))
    assert [(row.group, row.other) for row in test.comparisons_.itertuples()] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert test._stream.share.tolist() == [0.9, 0.05, 0.05]
    with pytest.warns(UserWarning, match="d came after"):
        test.partial_fit(**batch(8, groups=("c", "d")))
    assert set(test._stream.share) == {0.9, 0.05, 0.025}


def one_by_one(test, data):
    for y_pred, group in zip(data["y_pred"].tolist(), data["sensitive_features"].tolist(), strict=True):
        test.partial_fit(y_pred=[y_pred], sensitive_features=[group])
    return test


def test_single_samples_are_compared_in_pairs_from_each_groups_own_queue():
    data = batch(0, n=60, gap=0.3)
    test = one_by_one(SequentialFairnessTest(), data)
    assert test.blocks_ == "queues"
    assert test.n_batches_ == test.n_samples_ == 60
    queues = [data["y_pred"][data["sensitive_features"] == group] for group in "ab"]
    blocks = min(map(len, queues))
    row = test.comparisons_.iloc[0]
    assert row["n_group"] + row["n_other"] == 60
    assert row["n_uncompared"] == 60 - 2 * blocks
    a, b = (queue[:blocks].mean() for queue in queues)
    assert row["disparity"] == pytest.approx(a - b)
    at_once = SequentialFairnessTest(blocks="queues").partial_fit(
        y_pred=data["y_pred"], sensitive_features=data["sensitive_features"]
    )
    assert at_once.e_value_ == pytest.approx(test.e_value_, rel=1e-9)


def until_hired(rng, n, rate=0.3):
    """Women come until one is hired, then one man: who comes next follows the last outcome."""
    hired, sex = (rng.random(n) < rate).astype(int), [0]
    for one in hired.tolist():
        sex.append(int(not sex[-1] and one))
    return hired, np.array(["f", "m"])[sex[:-1]]


def test_fair_streams_in_which_an_outcome_decides_who_comes_next_are_not_rejected():
    """Blocks that ended when the other group came had a hired woman each: 6 of 6 such streams were rejected."""
    for seed in range(6):
        hired, sex = until_hired(np.random.default_rng(seed), 600)
        test = SequentialFairnessTest(blocks="queues")
        for start in range(0, 600, 50):
            test.partial_fit(y_pred=hired[start : start + 50], sensitive_features=sex[start : start + 50])
        assert test.p_value_ > 0.1


def test_who_comes_when_changes_nothing_but_how_many_blocks_there_are():
    """The same queues in two orders, of three groups, of which one stops coming: the others go on."""
    rng = np.random.default_rng(5)
    queues = {group: rng.integers(0, 2, n) for group, n in (("a", 40), ("b", 30), ("c", 9))}
    alternating = sorted((place / len(queue), group) for group, queue in queues.items() for place in range(len(queue)))
    orders = ["c" * 9 + "a" * 40 + "b" * 30, [group for _, group in alternating]]
    tests = []
    for order in orders:
        test, place = SequentialFairnessTest(blocks="queues", groups=["a", "b", "c"]), dict.fromkeys("abc", 0)
        for group in order:
            test.partial_fit(y_pred=[queues[group][place[group]]], sensitive_features=[group])
            place[group] += 1
        tests.append(test)
    one, two = (test.comparisons_ for test in tests)
    np.testing.assert_allclose(one["e_value"], two["e_value"], rtol=1e-9)
    np.testing.assert_allclose(one["disparity"], two["disparity"], rtol=1e-9)
    assert one["n_uncompared"].tolist() == two["n_uncompared"].tolist() == [10, 31, 21]
    waiting = {group: len(queue) for (_, group), queue in tests[0]._stream.queues.items()}
    assert waiting == {"a": 31, "b": 21, "c": 0}  # what some pair still needs, and no more
    alone = SequentialFairnessTest(blocks="queues").partial_fit(
        y_pred=np.concatenate([queues["a"], queues["b"]]), sensitive_features=["a"] * 40 + ["b"] * 30
    )
    assert alone.comparisons_["e_value"].item() == pytest.approx(one["e_value"][0], rel=1e-9)
    assert "they wait for the other group" in str(tests[0])


def test_blocks_of_queues_have_as_many_samples_of_each_group_as_was_said():
    data = batch(0, n=100, gap=0.3)
    # Numbers are NumPy's: JSON holds them as Python's.
    numbers = {"alpha": np.float32(0.05), "margin": np.float32(0)}
    sizes = {"a": np.int64(2), "b": np.int64(3)}
    test = SequentialFairnessTest(blocks="queues", groups=sizes, **numbers).partial_fit(
        y_pred=data["y_pred"], sensitive_features=data["sensitive_features"]
    )
    a, b = (data["y_pred"][data["sensitive_features"] == group] for group in "ab")
    blocks = min(len(a) // 2, len(b) // 3)
    row = test.comparisons_.iloc[0]
    assert row["n_uncompared"] == 100 - 5 * blocks
    assert row["disparity"] == pytest.approx(a[: 2 * blocks].mean() - b[: 3 * blocks].mean())
    again = SequentialFairnessTest.from_json(test.to_json())
    assert again.groups == {"a": 2, "b": 3}
    more = batch(1, n=33)
    for each in (test, again):
        each.partial_fit(y_pred=more["y_pred"], sensitive_features=more["sensitive_features"])
    assert again.to_json() == test.to_json()
    with pytest.raises(ParameterError, match="how many samples a block has"):
        SequentialFairnessTest(groups={"a": 0, "b": 3}).partial_fit(y_pred=[0, 1], sensitive_features=["a", "b"])


def test_what_comes_before_the_other_group_is_counted_and_compared_or_said_to_be_not():
    late = {"y_pred": [1, 1, 0], "sensitive_features": ["b", "b", "b"]}
    queues = SequentialFairnessTest(blocks="queues").partial_fit(y_pred=[1, 0], sensitive_features=["a", "a"])
    assert queues.partial_fit(**late).comparisons_["n_uncompared"].tolist() == [1]
    batches = SequentialFairnessTest().partial_fit(y_pred=[1, 0], sensitive_features=["a", "a"])
    assert batches.by_group_["n"].tolist() == [2]
    row = batches.partial_fit(**late).comparisons_.iloc[0]
    assert (row["n_group"], row["n_other"], row["n_uncompared"], row["e_value"]) == (2, 3, 5, 1.0)
    assert "5 samples of a and b (selection_rate): the other group was missing from their batches" in str(batches)
    both = batches.partial_fit(y_pred=[1, 0, 0], sensitive_features=["a", "b", "b"]).comparisons_.iloc[0]
    only = SequentialFairnessTest().partial_fit(y_pred=[1, 0, 0], sensitive_features=["a", "b", "b"])
    assert both["e_value"] == only.comparisons_["e_value"].item()
    assert both["n_uncompared"] == 5
    with pytest.warns(UserWarning, match="one sample has no other to be compared with"):
        batches.partial_fit(y_pred=[1], sensitive_features=["a"])


def test_labels_that_come_later_complete_their_batch():
    at_once, later = (SequentialFairnessTest("equalized_odds") for _ in range(2))
    weeks = [batch(week, gap=0.2) for week in range(8)]
    for week, data in enumerate(weeks):
        at_once.partial_fit(**data, name=week)
        later.partial_fit(
            y_pred=data["y_pred"], sensitive_features=data["sensitive_features"], name=week, time=f"w{week}"
        )
        assert later.n_batches_ == 0
    assert later.pending_.to_dict("list") == {
        "batch": [str(week) for week in range(8)],
        "time": [f"w{week}" for week in range(8)],
        "n": [80] * 8,
    }
    later = SequentialFairnessTest.from_json(later.to_json())
    for week, data in enumerate(weeks):
        later.partial_fit(**data, name=week)
    assert later.pending_.empty
    assert later.n_samples_ == at_once.n_samples_ == 640
    pd.testing.assert_frame_equal(later.comparisons_, at_once.comparisons_)


def test_metrics_that_need_no_labels_do_not_wait_for_them():
    test = SequentialFairnessTest(["selection_rate", "accuracy"])
    data = batch(0)
    test.partial_fit(y_pred=data["y_pred"], sensitive_features=data["sensitive_features"], name="May")
    assert test.comparisons_["n_group"].tolist()[1] == 0
    assert test.n_batches_ == 1
    with pytest.warns(UserWarning, match="'May' was added already and waits for its labels"):
        test.partial_fit(y_pred=data["y_pred"], sensitive_features=data["sensitive_features"], name="May")
    with pytest.raises(ParameterError, match="other predictions or groups"):
        test.partial_fit(y_pred=[1, 0], y_true=[1, 1], sensitive_features=["a", "b"], name="May")
    test.partial_fit(**data, name="May")
    assert test.comparisons_["n_group"].nunique() == 1
    whole = SequentialFairnessTest(["selection_rate", "accuracy"]).partial_fit(**data)
    np.testing.assert_array_equal(test.comparisons_["e_value"], whole.comparisons_["e_value"])
    with pytest.raises(ParameterError, match="name the batch"):
        test.partial_fit(y_pred=[1, 0], sensitive_features=["a", "b"])


def test_a_batch_fed_twice_is_recognised_and_said():
    test = fed(SequentialFairnessTest(), range(3))
    before = test.to_json()
    with pytest.warns(UserWarning, match="'week 1' was added already"):
        fed(test, [1])
    assert test.to_json() == before


def test_a_state_goes_on_as_if_it_had_never_been_away(tmp_path):
    test = fed(SequentialFairnessTest(["selection_rate", "accuracy"], margin=0.01), range(6), gap=0.1)
    test.to_json(tmp_path / "state.json")
    again = SequentialFairnessTest.from_json(tmp_path / "state.json")
    assert again.get_params() == test.get_params()
    for each in (test, again):
        fed(each, range(6, 12), gap=0.1)
    assert again.to_json() == test.to_json()
    for name in ("comparisons_", "wealth_", "confidence_sequence_", "by_group_"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(test, name))
    assert json.loads(test.to_json())["facts"]["p_value_"] == test.p_value_


def test_a_state_does_not_grow_with_how_many_samples_there_are():
    def size(n):
        test = SequentialFairnessTest().partial_fit(**batch(0, n=n))
        return len(test.to_json())

    assert size(20_000) < size(200) * 1.05


def test_no_frame_is_made_before_somebody_looks_and_then_one(monkeypatch):
    made = []
    looks = sequential.looks_frame
    monkeypatch.setattr(sequential, "looks_frame", lambda stream: made.append(stream.looks) or looks(stream))
    test = fed(SequentialFairnessTest(), range(5))
    assert made == []
    assert len(test.wealth_) == len(test.to_frame()) == 5
    assert made == [5]
    assert len(fed(test, [5]).wealth_) == 6
    with pytest.raises(AttributeError):
        SequentialFairnessTest().wealth_  # noqa: B018


def test_parameters_do_not_change_between_batches():
    test = fed(SequentialFairnessTest(), range(2))
    test.set_params(alpha=0.5)
    with pytest.raises(ParameterError, match="alpha was changed"):
        fed(test, [3])
    test.fit(**batch(0))
    assert test.n_batches_ == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "alpha must be"),
        ({"margin": -0.1}, "margin must be"),
        ({"margin": "wide"}, "margin must be"),
        ({"method": "exact"}, "method must be one of"),
        ({"blocks": "weeks"}, "blocks must be one of"),
        ({"adjust": "fdr_bh"}, "adjust must be one of"),
        ({"groups": ["a"]}, "groups must list"),
        ({"metric": "roc_auc"}, "neither a rate nor a mean"),
        ({"metric": "f1"}, "metric='jaccard'"),
        ({"metric": "disparate_impact"}, "compared by a ratio"),
        ({"metric": "nonsense"}, "metric='nonsense' is unknown"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        SequentialFairnessTest(**params).partial_fit(
            y_pred=[0.2, 0.7] if params.get("metric") == "roc_auc" else [0, 1],
            y_true=[0, 1],
            sensitive_features=["a", "b"],
        )


def test_input_that_cannot_be_used_is_named():
    test = SequentialFairnessTest()
    with pytest.raises(ParameterError, match="sensitive_features is missing"):
        test.partial_fit(y_pred=[0, 1])
    for take in (test.fit, test.partial_fit):  # elsewhere y_true is first, and exchanged they give another disparity
        with pytest.raises(TypeError, match="takes nothing by position: pass everything by name, such as y_true="):
            take([0, 1], [1, 1], sensitive_features=["a", "b"])
    with pytest.raises(ParameterError, match="looks like scores"):
        test.partial_fit(y_pred=[0.2, 0.7], sensitive_features=["a", "b"])
    with pytest.raises(ParameterError, match="y_true has 1 missing value"):
        SequentialFairnessTest("accuracy").partial_fit(y_pred=[0, 1], y_true=[1, None], sensitive_features=["a", "b"])
    with pytest.raises(ParameterError, match="between known bounds, here 0 and 1"):
        SequentialFairnessTest("mean_absolute_error").partial_fit(
            y_pred=[1.0, 5.0], y_true=[1.0, 2.0], sensitive_features=["a", "b"]
        )
    with pytest.raises(NotFittedError):
        SequentialFairnessTest().to_json()


def test_a_batch_may_lack_the_positive_label_unless_it_has_two_others_and_none_before_had_it():
    test = SequentialFairnessTest(pos_label="yes")
    test.partial_fit(y_pred=["no", "no"], sensitive_features=["a", "b"])
    with pytest.raises(ParameterError, match="pos_label='yes' is not among the labels"):
        clone(test).partial_fit(y_pred=["no", "YES"], sensitive_features=["a", "b"])
    test.partial_fit(y_pred=["no", "yes"], sensitive_features=["a", "b"])
    test.partial_fit(y_pred=["no", "no"], sensitive_features=["a", "b"])
    assert test.comparisons_["value_other"].item() == pytest.approx(1 / 3)
    test.partial_fit(y_pred=["no", "perhaps"], sensitive_features=["a", "b"])
    for strange in ([0, 1], [0.2, 0.3]):
        with pytest.raises(ParameterError):
            test.partial_fit(y_pred=strange, sensitive_features=["a", "b"])
    zeros = SequentialFairnessTest().partial_fit(y_pred=[0, 0], sensitive_features=["a", "b"])
    with pytest.raises(ParameterError, match=r"earlier batches\) holds 0 and y_pred \(this batch\) holds '0', '1'"):
        zeros.partial_fit(y_pred=["0", "1"], sensitive_features=["a", "b"])


def test_accuracy_of_several_labels_needs_no_positive_one():
    y_true = ["ash", "birch", "cedar", "ash"] * 5
    y_pred = ["ash", "cedar", "cedar", "birch"] * 5
    test = SequentialFairnessTest("accuracy").partial_fit(
        y_pred=y_pred, y_true=y_true, sensitive_features=["f", "m", "f", "m"] * 5
    )
    assert test.by_group_["value"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("metric", "low"), [("brier_score", 0.0), ("calibration", -1.0), ("mean_residual", -1.0)])
def test_means_of_bounded_values_are_tested_in_their_own_units(metric, low):
    test, rng = SequentialFairnessTest(metric), np.random.default_rng(0)
    everything = []
    for _ in range(10):
        group = rng.choice(["a", "b"], 450)
        y_true = (rng.random(450) < 0.4).astype(int)
        score = np.clip(0.4 + 0.3 * (y_true - 0.4) + 0.25 * (group == "a"), 0, 1).round(3)
        test.partial_fit(y_pred=score, y_true=y_true, sensitive_features=group)
        value = (score - y_true) ** 2 if metric == "brier_score" else y_true - score
        everything.append(value[group == "a"].mean() - value[group == "b"].mean())
    row = test.comparisons_.iloc[0]
    assert row["disparity"] == pytest.approx(np.mean(everything), abs=0.005)
    assert row["ci_low"] <= row["disparity"] <= row["ci_high"]
    assert low - 1 <= row["ci_low"]
    assert test.rejected_


def test_bets_on_means_are_valid_too_and_slower():
    blocks, betting = (SequentialFairnessTest(method=method) for method in ("blocks", "betting"))
    for test in (blocks, betting):
        fed(test, range(25), gap=0.2)
    assert blocks.method_ == SequentialFairnessTest().partial_fit(**batch(0)).method_ == "blocks"
    assert blocks.e_value_ > betting.e_value_ > 1


def test_rates_of_ones_own_are_tested_and_have_no_state_in_json():
    miss = Rate("miss_rate", event="~y_pred", given="y_true")
    test = fed(SequentialFairnessTest(miss), range(3))
    same = fed(SequentialFairnessTest("false_negative_rate"), range(3))
    assert test.e_value_ == same.e_value_
    with pytest.raises(ParameterError, match="metric must be a name"):
        test.to_json()


def test_two_sensitive_features_make_groups_of_both():
    data = batch(0)
    soil = np.array(["clay", "sand"])[np.arange(80) % 2]
    test = SequentialFairnessTest().partial_fit(
        y_pred=data["y_pred"], sensitive_features={"tree": data["sensitive_features"], "soil": soil}
    )
    assert ("a", "clay") in test.groups_
    assert len(test.comparisons_) == 6
    assert SequentialFairnessTest.from_json(test.to_json()).groups_ == test.groups_


def test_a_clone_knows_nothing_and_a_pickle_everything():
    test = fed(SequentialFairnessTest(alpha=0.01, groups=["a", "b"]), range(4))
    copy = clone(test)
    assert copy.get_params() == test.get_params()
    with pytest.raises(NotFittedError):
        copy.to_frame()
    again = pickle.loads(pickle.dumps(test))
    assert fed(again, [9]).e_value_ == fed(test, [9]).e_value_


def test_the_report_says_in_words_what_the_attributes_say():
    test = fed(SequentialFairnessTest(), range(30), gap=0.2)
    test.partial_fit(y_pred=[1, 1], sensitive_features=["a", "a"], name="late")
    text = str(test)
    assert text.splitlines()[0] == f"{test.summary()} Valid if a batch's members were not chosen by their outcomes."
    assert f"first at look {test.rejected_at_} (p = " in test.summary()
    assert "2 samples of a and b (selection_rate): the other group was missing" in text
    fair = fed(SequentialFairnessTest("accuracy", margin=0.1), range(3))
    assert fair.summary().startswith(
        "No significant disparity beyond the margin was detected in 3 batches (240 samples)"
    )
    assert "the difference in accuracy is at most 0.1 in size" in str(fair)
    means = SequentialFairnessTest("brier_score").partial_fit(
        y_pred=[0.2, 0.7], y_true=[0, 1], sensitive_features=["a", "b"]
    )
    assert "Pairs of groups now" in means.to_markdown()
    found = test.to_dict()
    assert found["test"] == "SequentialFairnessTest"
    assert found["rejected_at"] == test.rejected_at_


def test_german_credit_by_quarters(raw_data):
    """The example's counts are those of the file, and naive retesting is significant two quarters before the test."""
    records = pd.read_csv(raw_data("german.csv"))
    age, quarter = np.where(records["age"] <= 25, "25 or younger", "older"), np.arange(1000) // 250
    good = (records["credit_risk"] == 1).astype(int)
    source = (Path(__file__).parents[2] / "examples" / "plot_monitoring.py").read_text()
    quarters = ast.literal_eval(re.search(r"QUARTERS = (\[.*?\n\])", source, re.DOTALL)[1])
    test, repeated = SequentialFairnessTest(), []
    for number in range(4):
        here, so_far = quarter == number, quarter <= number
        own = {group: good[here & (age == group)] for group in set(age)}
        counted = {group: (ratings.sum(), (1 - ratings).sum()) for group, ratings in own.items()}
        assert counted == quarters[number]
        test.partial_fit(y_pred=good[here], sensitive_features=age[here])
        look = FairnessTest.from_predictions(
            None, good[so_far], sensitive_features=age[so_far], metric="selection_rate"
        )
        repeated.append(look.p_value_)
    assert repeated[1] < 0.05 < repeated[0]
    assert test.rejected_at_ == 4
    assert test.disparity_ == pytest.approx(look.disparity_, abs=0.002)
