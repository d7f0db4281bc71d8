"""What the report of an audit promises in words."""

from dataclasses import replace

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.report import grouping, legend

Y = np.array([0, 1] * 30)
PREDICTED = np.array([0, 1, 1, 1, 0, 0] * 10)
GROUPS = {"sex": list("ffm") * 20, "town": list("xxxyyxxx") * 7 + list("xyxy")}


def audited(**params):
    return FairnessAudit.from_predictions(Y, PREDICTED, sensitive_features=GROUPS, random_state=0, **params).record_


@pytest.mark.filterwarnings("ignore:n_resamples=99")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_only_exact_laws_promise_a_level():
    exact, about = "At most 5% of audits done like this", "At most about 5% of audits done like this"
    assert exact in " ".join(legend(audited(metrics="selection_rate")))
    for params, law in (
        ({"method": "asymptotic", "metrics": "selection_rate"}, "asymptotic"),
        ({"metrics": "selection_rate", "method": "permutation", "n_resamples": 99}, "permutation"),
    ):
        said = " ".join(legend(audited(**params)))
        assert exact not in said
        assert about in said
        assert f"because {law} p-values are approximate" in said


def test_the_smallest_p_value_of_a_grouping_is_its_smallest_in_strata_too():
    record = audited(metrics="selection_rate", control_features={"age": ["old"] * 30 + ["young"] * 30})
    part = record.parts[0]
    frame = part.comparisons.copy()
    frame.loc[frame["stratum"] == "young", ["p_value", "p_value_adjusted"]] = [0.07, 0.21]
    changed = replace(part, comparisons=frame.assign(concern=False))
    _, table = grouping(changed).tables
    place = [column.head for column in table.columns].index("age")
    assert table.rows[0][place] == "young"
