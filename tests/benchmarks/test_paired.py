"""The benchmark of two models: its designs are what they say, and its figures are within the bounds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import paired
from skfairtest import PairedFairnessTest
from skfairtest.metrics.functionals import Auc
from skfairtest.paired.measure import Change

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command(quick):
    lines = quick("paired", "paired.json")
    assert {line.split()[0] for line in lines} == {"equal", "different", "sizes", "metrics"}


@pytest.mark.parametrize("design", [*paired.EQUAL, *paired.DIFFERENT])
def test_a_design_has_the_changes_that_it_says(design):
    for group in (0, 1):
        plus, minus, both, neither = design.cells(group)
        assert plus + minus + both + neither == pytest.approx(1)
        assert min(plus, minus, both, neither) >= 0
        assert (plus - minus, both + minus) == pytest.approx((design.change[group], design.rates[group]))


@pytest.mark.parametrize("design", paired.LARGER)
def test_a_disparity_is_larger_in_size_by_the_margin(design):
    cells = np.array([design.cells(group) for group in (0, 1)])
    assert cells.min() >= 0
    of_a, of_b = (cells[:, own] + cells[:, 2] for own in (1, 0))
    assert abs(of_b[0] - of_b[1]) - abs(of_a[0] - of_a[1]) == pytest.approx(design.margin)


@pytest.mark.parametrize("shape", ["alike", "spread 3", "bimodal"])
def test_scores_of_two_models_have_the_areas_and_correlations_that_are_said(shape):
    n, areas, correlation = 40_000, (0.9, 0.83), 0.6
    y, *scores = paired.two_scores(n, areas, shape, correlation, np.random.default_rng(3))
    # Four standard errors of an area of n / 2 and n / 2 people are at most 4 * .5 / sqrt(n / 2).
    assert [roc_auc_score(y, score) for score in scores] == pytest.approx(areas, abs=2 / np.sqrt(n / 2))
    negatives = np.stack(scores)[:, ~y]
    assert np.corrcoef(negatives)[0, 1] == pytest.approx(correlation, abs=4 * (1 - correlation**2) / np.sqrt(n / 2))


def test_counts_of_placements_have_the_value_of_the_change_and_nearly_its_variance():
    y, a, b = paired.two_scores(2000, (0.8, 0.7), "alike", 0.5, np.random.default_rng(4))
    change = Change(Auc(y, b), Auc(y, a))
    plus, minus, stay = paired.as_counts(change, np.ones(len(y)), np.stack([y, ~y]))
    n = plus + minus + stay
    value = roc_auc_score(y, b) - roc_auc_score(y, a)
    assert (plus - minus) / n == pytest.approx(value)
    (variance,) = change.moments(np.ones((1, len(y))))[1]
    # One more misplaced person of about a thousand who say something.
    assert ((plus + minus) / n - value**2) / n == pytest.approx(variance, rel=0.01)
    same = paired.as_counts(Change(Auc(y, a), Auc(y, a)), np.ones(len(y)), np.stack([y, ~y]))
    assert same == pytest.approx([0, 0, 1000])


def test_the_default_of_areas_is_valid_where_counts_are_no_better_on_average():
    rows = json.loads(paired.RESULTS.read_text())["areas"]
    assert not any(paired.exceeds(row["rejected"]["paired"]["size"], row["data_sets"]) for row in rows)
    gains = [
        row["rejected"]["score"][key] - row["rejected"]["paired"][key]
        for row in rows
        for key in ("first_worse", "second_worse")
    ]
    assert np.mean(gains) < 0


def test_figures_of_areas_are_of_the_three_tests():
    design = replace(paired.AREAS[0], people=(20, 30))
    found = paired.area_rates(design, 0, 20)
    assert set(found) == {"paired", "delong", "score"}
    assert all({"size", "first_worse", "second_worse"} <= set(figures) for figures in found.values())
    document = {"equal": [], "sizes": [], "metrics": [], "different": []}
    for warned, n_broken in ((0.5, 1), (0.95, 0)):
        own = {"design": "one", "data_sets": 400, "rejected": {"paired": {"size": 0.1, "warned": warned}}}
        assert len(list(paired.broken({**document, "areas": [own]}))) == n_broken


def test_rejections_are_those_of_the_public_test():
    design = paired.Design((25, 80), (0.4, 0.3), (0.3, 0.1), (0.2, 0.0))
    counts = paired.draw(design, 6, np.random.default_rng(1))
    mine, _ = paired.paired(paired.of_changes(counts), 1)
    for table, rejected in zip(counts, mine, strict=True):
        groups = np.repeat([0, 1], design.people)
        a, b = (
            np.concatenate([np.repeat(says, of_group) for of_group in table]) for says in ([0, 1, 1, 0], [1, 0, 1, 0])
        )
        test = PairedFairnessTest.from_predictions(
            None, a, b, sensitive_features=groups, metric="selection_rate", random_state=0, pos_label=1
        )
        if abs(test.p_value_ - 0.05) > 0.02:  # sampled ones differ by their Monte-Carlo error
            assert test.rejected_ == rejected


def test_committed_figures_are_of_these_designs_and_within_the_bounds():
    document = json.loads(paired.RESULTS.read_text())
    found = [(kind, row["design"], row["data_sets"]) for kind in paired.DATA_SETS for row in document[kind]]
    expected = [
        (kind, json.loads(json.dumps(design)), paired.DATA_SETS[kind]) for kind, _, design, _ in paired.designs()
    ]
    assert found == expected
    assert list(paired.broken(document)) == []


def test_figures_in_the_documentation_are_those_stored():
    document = json.loads(paired.RESULTS.read_text())
    largest = {
        name: f"{max(row['rejected'][name] for row in document['equal']):.3f}".lstrip("0")
        for name in ("paired", "permuted", "swapped", "normal")
    }
    methods, guide = ((ROOT / "doc" / name).read_text() for name in ("methods.md", "guide/two_models.md"))
    section = methods.partition("## Two models")[2].partition("## Audits")[0]
    assert all(figure in section for figure in largest.values())
    powers = {name: [row["rejected"][name] for row in document["different"]] for name in ("paired", "independent")}
    for own in powers.values():
        assert f"{min(own):.2f} to {max(own):.2f}".replace("0.", ".") in section
    assert f"at most {largest['paired']} in twenty designs" in " ".join(guide.split())
    assert f"up to {100 * float(largest['permuted']):.0f}%" in guide
