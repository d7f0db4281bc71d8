"""The benchmark of two models: its designs are what they say, and its figures are within the bounds."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import paired
from skfairtest import PairedFairnessTest

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


def test_rejections_are_those_of_the_public_test():
    design = paired.Design((25, 80), (0.4, 0.3), (0.3, 0.1), (0.2, 0.0))
    counts = paired.draw(design, 15, np.random.default_rng(1))
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
