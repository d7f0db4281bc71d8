"""What must hold on real tables of text, as people write their pipelines."""

import numpy as np
import pytest

from benchmarks import individual_people
from benchmarks.make_compas_counts import data_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (data_folder() / "adult.csv.gz").exists(), reason="the raw data are not here"),
]


@pytest.fixture(scope="module", params=list(individual_people.SOURCES))
def found(request):
    """The models of a data set, and samples of its people."""
    return individual_people.run(request.param, 6, np.random.default_rng(1))


def test_units_and_encodings_do_not_change_the_verdict(found):
    fitted = found["fitted"]
    for told in ("other units", "numbers for yes and no"):
        assert fitted[told]["rejected"] == fitted["as fitted"]["rejected"]
    dropped, weak = fitted["no penalty, first categories dropped"], fitted["no penalty"]
    assert dropped["rejected"] == weak["rejected"]
    for told in ("other units", "numbers for yes and no"):
        assert fitted[told]["statistic"] == pytest.approx(fitted["as fitted"]["statistic"], rel=0.05)
    assert dropped["statistic"] == pytest.approx(weak["statistic"], rel=0.05)


def test_a_search_finds_what_the_flow_finds(found):
    fitted = found["fitted"]
    for model in ("as fitted", "unfair"):
        searched = fitted["searched" if model == "as fitted" else "unfair, searched"]
        assert searched["statistic"] == pytest.approx(fitted[model]["statistic"], rel=0.05)
        assert searched["rejected"] == fitted[model]["rejected"]


def test_nobody_becomes_impossible(found):
    assert found["fitted"]["impossible"] == 0


def test_a_planted_unfairness_is_found_and_a_fair_model_is_not_rejected(found):
    assert found["unfair"]["rejected"] == 6
    assert found["fair"]["rejected"] <= 2  # of 6, at 5%: more have a probability of .002
