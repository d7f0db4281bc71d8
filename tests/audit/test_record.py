"""Labels of audits, as their records have them."""

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.report.record import plain_label


def test_a_tuple_that_is_the_label_of_one_feature_is_kept():
    town, old, yes = (np.empty(40, dtype=object) for _ in range(3))
    town[:], old[:] = [("x", 1), ("y", 2)] * 20, [("no",)] * 20 + [("yes",)] * 20
    yes[:] = [("no", 0), ("yes", 1), ("yes", 1)] * 13 + [("no", 0)]
    audit = FairnessAudit.from_predictions(
        None, yes, sensitive_features={"town": town, "sex": list("ffmm") * 10}, control_features={"old": old},
        metrics="selection_rate", pos_label=("yes", 1),
    )  # fmt: skip
    assert set(audit.by_group_["group"]) == {
        ("x", 1), ("y", 2), "f", "m", *((town, sex) for town in (("x", 1), ("y", 2)) for sex in "fm")
    }  # fmt: skip
    assert audit.pos_label_ == ("yes", 1)
    again = FairnessAudit.from_json(audit.to_json())
    assert again.to_json() == audit.to_json()
    assert str(again) == str(audit)


@pytest.mark.parametrize(("value", "plain"), [(2**64 - 1, 2**64 - 1), (2**64, str(2**64)), (-(10**30), str(-(10**30)))])
def test_labels_that_no_index_holds_are_text(value, plain):
    assert plain_label(value) == plain
