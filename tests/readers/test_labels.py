"""Nobody guesses which label is the good one."""

import numpy as np
import pytest

from skfairtest.readers import check_labels, read_column, resolve_pos_label


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], "1"),
        ([0], "1"),
        ([1], "1"),
        ([-1, 1], "1"),
        ([-1], "1"),
        ([False, True], "True"),
        ([False], "1"),
        ([0.0, 1.0], "1.0"),
        ([True, 0, 1], "1"),
        (np.array([1, 0]), "1"),
    ],
)
def test_one_is_positive_by_convention(labels, expected):
    assert repr(resolve_pos_label(labels)) == expected
    assert repr(resolve_pos_label(labels, classes=[0, 1])) == expected


@pytest.mark.parametrize("classes", [None, ["no"], ["no", "yes"], ["no", "yes", "so"], ["down", "up"]])
def test_strings_are_an_error_that_lists_them(classes):
    with pytest.raises(ValueError, match=r"pos_label is needed.*'no', 'yes'"):
        resolve_pos_label(["yes", "no"], classes=classes)


@pytest.mark.parametrize(("labels", "pos_label"), [([0], 1), ([1], -1), ([1], 0), ([-1], 1)])
def test_the_named_label_may_be_unseen_if_the_pair_is_standard(labels, pos_label):
    assert resolve_pos_label(labels, pos_label) == pos_label


def test_the_named_label_may_be_unseen_if_the_estimator_knows_it():
    assert resolve_pos_label(["no"], "yes", classes=["no", "yes"]) == "yes"


@pytest.mark.parametrize(("labels", "pos_label"), [([0, 1], -1), ([0, 1], "1"), (["a"], "b")])
def test_a_named_label_that_is_absent_is_an_error_that_lists_the_labels(labels, pos_label):
    with pytest.raises(ValueError, match=f"pos_label={pos_label!r} is not among.*{labels[0]!r}"):
        resolve_pos_label(labels, pos_label)


def test_more_than_two_labels_are_an_error_that_lists_them():
    with pytest.raises(ValueError, match=r"there are 3 labels, 0, 1, '1'"):
        resolve_pos_label([0, 1, "1"])


def test_one_of_several_labels_may_be_tested_against_the_others():
    assert resolve_pos_label([0, 1, "1"], "1") == "1"
    with pytest.raises(ValueError, match=r"pos_label=2 is not among.*0, 1, '1'"):
        resolve_pos_label([0, 1, "1"], 2)


def test_fractions_look_like_scores():
    with pytest.raises(ValueError, match=r"looks like scores.*0\.25, 0\.5.*y_score"):
        resolve_pos_label([0.0, 0.25, 0.5])
    with pytest.raises(ValueError, match="y_pred looks like scores"):
        check_labels(read_column([0.1, 1.0], "y_pred"), "y_pred")


def test_no_labels_are_an_error():
    with pytest.raises(ValueError, match="y_pred holds no label"):
        resolve_pos_label([])


def test_more_than_1000_distinct_values_are_not_labels():
    check_labels(read_column(range(1000), "y_true"), "y_true")
    with pytest.raises(ValueError, match="y_true has 1,001 distinct values, more than 1000"):
        check_labels(read_column(range(1001), "y_true"), "y_true")


def test_an_estimator_that_knows_other_classes_is_believed():
    # Label 1 alone could be the 1 of {0, 1}; of an estimator of {1, 2} it is the first class.
    with pytest.raises(ValueError, match="pos_label is needed: the labels are 1, 2"):
        resolve_pos_label([1], None, classes=[1, 2])
    assert resolve_pos_label([1], None, classes=[0, 1]) == 1
