import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import correlation as command
from benchmarks.common.correlation_intervals import SHARES, broken, designs


@pytest.mark.slow
def test_the_quick_benchmark_runs_as_a_command_and_reports_every_design(quick):
    lines = quick("correlation", "validity_correlation.json")
    intervals = [line for line in lines if " people " in line and "(" in line]
    sizes = [line for line in lines if line not in intervals]
    assert sum("pearson" in line for line in sizes) == 4
    assert sum("spearman" in line for line in sizes) == 2
    assert len(intervals) == sum(design.people == 40 for design in designs())


def measured(**changes):
    """A cell without a fault, with some shares changed."""
    share = {"share": 0.0, "error": 0.0, "data_sets": 1000}
    cell = {key: dict(share) for key in SHARES} | {"true_correlation": 0.0, "bound": True}
    cell["rejected"]["share"], cell["coverage"]["share"] = 0.05, 0.95
    for key, value in changes.items():
        cell[key] = {**share, "share": value} if key in SHARES else value
    return cell


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rejected": 0.08}, "rejected 0.08, more than 0.0707"),
        ({"coverage": 0.92}, "covers 0.92, less than 0.93"),
    ],
)
def test_a_broken_promise_is_found(changes, why):
    (found,) = broken(measured(**changes))
    assert why in found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rejected": 0.8, "true_correlation": 0.3},
        {"coverage": 0.8, "bound": False},
    ],
)
def test_what_is_not_promised_is_not_broken(changes):
    assert broken(measured(**changes)) == []


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    "design", [d for d in designs() if d.people == 40 and d.adjust == "holm"], ids=lambda d: f"{d.name} {d.truth:.2f}"
)
def test_designs_have_the_correlation_that_they_name(design, thorough):
    """The median of samples of 20,000 people, of which heavy tails leave the correlation uncertain."""
    rng = np.random.default_rng(0)
    measure = stats.spearmanr if design.correlation == "spearman" else stats.pearsonr
    big = replace(design, people=20_000)
    found = []
    for _ in range(30 if thorough else 15):
        features, outcome = big.data(rng)
        found.append([measure(x, outcome).statistic for x in features.values()])
    np.testing.assert_allclose(np.median(found, axis=0), design.truth, atol=0.04)


def test_one_part_is_measured_and_the_other_is_kept(tmp_path, monkeypatch, capsys):
    stored = tmp_path / "figures.json"
    stored.write_text(json.dumps({"cells": ["sizes"], "intervals": ["old"]}))
    monkeypatch.setattr(command, "RESULTS", stored)
    monkeypatch.setitem(command.PARTS, "intervals", lambda *, quick: (["new"], ["it covers too rarely"]))
    assert command.main(["--only", "intervals"]) == 1
    document = json.loads(stored.read_text())
    assert (document["cells"], document["intervals"]) == (["sizes"], ["new"])
    assert "FAILED it covers too rarely" in capsys.readouterr().err


def test_committed_intervals_break_no_promise():
    document = json.loads(command.RESULTS.read_text())
    assert [broken(cell) for cell in document.get("intervals", []) if broken(cell)] == []
