"""R's functions for two rates and for strata, whose answers with their version are in tests/golden/r.json."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nchypergeom_fisher

from skfairtest import FairnessTest

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "r.json").read_text(encoding="utf-8"))


def odds_test(strata, **params):
    """Test the odds ratio of the first group against the second, of events and people of both in each stratum."""
    label, group, stratum = [], [], []
    for name, (events, people, others, more) in enumerate(strata):
        label += [1] * events + [0] * (people - events) + [1] * others + [0] * (more - others)
        group += ["first"] * people + ["second"] * more
        stratum += [name] * (people + more)
    columns = {"sensitive_features": group, **({"control_features": stratum} if len(strata) > 1 else {})}
    return FairnessTest.from_predictions(
        None, label, metric="selection_rate", disparity="odds_ratio", adjust=None, **columns, **params
    )


def tails_at(interval, table):
    """The exact tails at the limits of an odds ratio, which end at 1 where Fisher's test rejects."""
    events, people, others, more = table
    given = (people + more, people, events + others)
    low, high = interval
    if low not in (0, 1):
        yield nchypergeom_fisher.sf(events - 1, *given, low)
    if high != 1 and math.isfinite(high):
        yield nchypergeom_fisher.cdf(events, *given, high)


@pytest.mark.parametrize("each", GOLDEN["rates"], ids=lambda each: str(each["table"]))
def test_two_rates(each):
    test = odds_test([each["table"]])
    assert test.p_value_ == pytest.approx(each["p_value"], rel=1e-10)
    assert test.disparity_ == pytest.approx(float(each["odds_ratio"]), rel=5e-4)  # fisher.test's search stops at 1e-4
    for ours, theirs in zip(test.confidence_interval_, map(float, each["odds_ratio_interval"]), strict=True):
        assert ours == (1 if ours == 1 else theirs if math.isinf(theirs) else pytest.approx(theirs, rel=0.01))
    for tail in tails_at(test.confidence_interval_, each["table"]):
        assert tail == pytest.approx(0.025, abs=1e-9)
    limits = test.by_group_.loc["first", ["ci_low", "ci_high"]].to_numpy(float)
    np.testing.assert_allclose(limits, each["wilson"], rtol=1e-9)
    for direction in ("less", "greater"):
        one_sided = odds_test([each["table"]], alternative=direction)
        assert one_sided.p_value_ == pytest.approx(each[f"p_{direction}"], rel=1e-10)


@pytest.mark.parametrize("each", GOLDEN["strata"], ids=["all", "without A"])
def test_departments(each):
    test = odds_test(each["strata"])
    assert test.p_value_ == pytest.approx(each["p_value"], rel=1e-10)
    assert test.disparity_ == pytest.approx(each["mantel_haenszel"], rel=1e-12)
    assert test.confidence_interval_ == pytest.approx(each["interval"], rel=1e-10)
    assert test.homogeneity_["statistic"].iloc[0] == pytest.approx(each["breslow_day"], rel=1e-5)  # ours is Tarone's
