"""What the first sentences say about groups that are too small to tell."""

import numpy as np
import pytest

from skfairtest import FairnessAudit

NAMES, SIZES = ("White", "Black", "Asian"), (800, 60, 9)


@pytest.fixture(scope="module")
def lines():
    """Black people are selected more often than White people, but of the truly positive as often as them."""
    place = np.concatenate([np.arange(n) for n in SIZES])
    group = np.repeat(NAMES, SIZES)
    truth = np.where(group == "Black", place < 12, place % 2).astype(int)
    chosen = np.where(group == "Black", (place < 2) | (place >= 20), place % 10 < 3).astype(int)
    audit = FairnessAudit.from_predictions(
        truth, chosen, sensitive_features={"race": group}, metrics=["selection_rate", "true_positive_rate"]
    )
    assert audit.comparisons_.set_index(["metric", "group", "other"])["concern"].to_dict()[
        "selection_rate", "Black", "White"
    ]
    return audit.to_text().splitlines()


def test_a_large_group_is_not_too_small_because_others_are(lines):
    (said,) = [line for line in lines if line.startswith("Too few people to tell: ")]
    assert "Asian people (9)" in said
    assert "White" not in said


def test_only_the_metrics_are_named_in_which_nothing_was_found(lines):
    (said,) = [line for line in lines if line.startswith("Too few people to tell: ")]
    assert "Black people (60) in true positive rate" in said


def test_what_was_not_left_out_takes_no_line(lines):
    assert "Left out, and warnings" not in lines


def test_people_who_are_left_out_do_not_count_among_the_compared():
    groups = ["a"] * 50 + ["b"] * 40 + [None] * 10
    audits = {
        how: FairnessAudit.from_predictions(
            None, [0, 1] * 50, sensitive_features={"sex": groups}, metrics="selection_rate", missing=how
        )
        for how in ("exclude", "group")
    }
    assert "people: 90 of 100," in str(audits["exclude"])
    assert "people: 100," in str(audits["group"])
