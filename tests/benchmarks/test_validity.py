"""The validity benchmark: its figures are those of the tests that users run, and it notices a broken promise."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from skfairtest import FairnessTest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.common import bounds, competitors, drawings, families, methods, render, run, storage
from benchmarks.common import cells as designs
from benchmarks.designs import DESIGNS

PAGES = Path(__file__).parents[2] / "doc"
Z = methods.Z


def expand(counts):
    """Rows (y_true, y_pred, group) of a table (G, 4)."""
    group, cell = np.indices(counts.shape)
    repeated = [np.repeat(a.ravel(), counts.ravel()) for a in (methods.TRUE[cell], methods.PREDICTED[cell], group)]
    return tuple(repeated)


def cell_named(name):
    return next(cell for cell in designs.all_cells() if cell.name == name)


def test_comparisons_with_the_highest_are_those_of_a_fairness_test(thorough):
    n = 10 if thorough else 1
    cell = replace(cell_named("highest/rate 0.6/30-30-30-30-30"), people=(20, 20, 20, 25, 25))
    rejected = families.judge_highest(cell, n, np.random.default_rng(8))
    tables = methods.draw_tables(cell.people, cell.null, n, np.random.default_rng(8))
    for method, asked in (("to_highest", {}), ("chosen_reference", {"compare": "to_reference"})):
        found = []
        for counts in tables:
            y_true, y_pred, group = expand(counts)
            given = {"metric": "selection_rate", "compare": "to_highest"} | asked
            if asked:
                x, d = methods.counted_events(counts, "selection_rate")
                given["reference_group"] = max(range(len(d)), key=lambda g, x=x, d=d: (x[g] / d[g], d[g], -g))
            found.append(FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, **given).rejected_)
        assert found == rejected[method].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("metric", sorted(designs.RATES))
def test_exact_p_values_and_intervals_are_those_of_a_fairness_test(metric):
    first, same, _ = designs.RATES[metric]
    for counts in methods.draw_tables((60, 90), (first, same), 3, np.random.default_rng(5)):
        x, d = methods.counted_events(counts, metric)
        p = methods.exact_p(*(int(v) for v in (x[0], d[0], x[1], d[1])))
        low, high = methods.exact_interval(x[None], d[None], np.array([p]), metric)
        y_true, y_pred, group = expand(counts)
        test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=metric)
        assert test.p_value_ == pytest.approx(p, rel=1e-6) or min(test.p_value_, p) > methods.NEVER
        assert test.confidence_interval_ == pytest.approx((low[0], high[0]), abs=1e-9)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "matthews_corrcoef"])
def test_permuted_tables_are_those_of_a_fairness_test(metric):
    cell = next(c for c in designs.table_cells() if c.metric == metric and c.people == (200, 200))
    functional, block = methods.table_functional(metric)
    rng = np.random.default_rng(3)
    counts = methods.draw_tables(cell.people, cell.effect, 1, rng)[0]
    (p, low, high), *_ = methods.studentized(methods.Stratum(functional, counts, block), 4000, rng)
    y_true, y_pred, group = expand(counts)
    people = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": group, "metric": metric}
    by_default = FairnessTest.from_predictions(**people)
    assert by_default.p_value_ == pytest.approx(methods.scored(functional, counts, 0.0)[0], rel=1e-9)
    inside, outside = (by_default.confidence_interval_[0] + step for step in (1e-3, -1e-3))
    covered = [methods.scored(functional, counts, edge)[1] < np.inf for edge in (inside, outside)]
    assert covered == [True, False]
    test = FairnessTest.from_predictions(**people, method="permutation", n_resamples=4000, random_state=1)
    assert test.p_value_ == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 2000))
    assert test.confidence_interval_ == pytest.approx((low, high), abs=0.02)


def test_permuted_areas_and_losses_are_those_of_a_fairness_test():
    rng = np.random.default_rng(4)
    population = (designs.scores(0.5, 0.85), designs.scores(0.5, 0.8, 3.0))
    group, truth, score = methods.draw_scores((150, 300), population, rng)
    counts = np.stack([group == 0, group == 1]).astype(np.int64)
    for metric, functional, block in (
        ("roc_auc", methods.Auc(truth, score), truth.astype(int)),
        ("mean_squared_error", methods.Mean((truth - score) ** 2, (0.0, np.inf)), np.zeros(len(truth), dtype=int)),
    ):
        (p, low, high), *_ = methods.studentized(methods.Stratum(functional, counts, block, rows=True), 4000, rng)
        known = {"y_score": score} if metric == "roc_auc" else {}
        test = FairnessTest.from_predictions(
            truth.astype(int), None if known else score, **known, sensitive_features=group, metric=metric,
            n_resamples=4000, random_state=1,
        )  # fmt: skip
        assert test.p_value_ == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 2000))
        assert test.confidence_interval_ == pytest.approx((low, high), abs=0.05 * (high - low))


@pytest.mark.parametrize("method", ["kdd", "raw", "score"])
def test_permutations_of_all_labels_are_those_of_a_fairness_test(method):
    cell = cell_named("paper/tpr")
    rng = np.random.default_rng(6)
    counts = methods.draw_tables(cell.people, cell.null, 1, rng)[0]
    variance = {"kdd": "delta", "raw": None, "score": "score"}[method]
    table = methods.RateTable(counts[None], *methods.masks(cell.metric), methods.EVERYBODY)
    p = methods.permuted_p(table, methods.Scale(), variance, 4000, rng)
    y_true, y_pred, group = expand(counts)
    test = FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=group, metric=cell.metric, method="permutation", within=None,
        variance=variance, n_resamples=4000, random_state=1,
    )  # fmt: skip
    assert test.p_value_ == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 2000))


@pytest.mark.parametrize("metric", ["selection_rate", "equalized_odds", "f1"])
def test_adjusted_p_values_are_those_of_a_fairness_test(metric):
    cell = next(c for c in designs.family_cells() if c.metric == metric and len(c.people) == 3)
    rng = np.random.default_rng(7)
    counts = methods.draw_tables((40, 70, 90), cell.null, 1, rng)[0]
    found = families._exact_pairs(cell, counts)
    y_true, y_pred, group = expand(counts)
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=metric)
    default = "discrete_holm" if metric == "equalized_odds" else "shaffer"
    assert default == cell.default
    for method, adjust in ((default, default if metric == "equalized_odds" else "auto"), ("holm", "holm")):
        test.set_params(adjust=adjust).fit(y_pred, y_true, sensitive_features=group)
        adjusted = test.comparisons_["p_value_adjusted"].to_numpy()
        # P-values below .001 are Fisher's there, and of those above .2 it is only known that they are.
        close = np.isclose(found[method], adjusted, rtol=1e-6) | (np.maximum(found[method], adjusted) <= 0.01)
        assert (close | (np.minimum(found[method], adjusted) > 0.2)).all()


def test_populations_are_equal_where_they_are_said_to_be():
    for cell in designs.all_cells():
        if cell.kind in methods.JUDGES:
            first, second = methods.true_values(cell, cell.null)
            assert first == pytest.approx(second, abs=1e-12), cell.name
            if cell.effect is not None:
                first, second = methods.true_values(cell, cell.effect)
                assert abs(first - second) > 0.01, cell.name


@pytest.mark.parametrize("law", sorted(designs.LAWS))
def test_losses_have_the_mean_that_is_said(law):
    draw, mean = designs.LAWS[law]
    losses = draw(np.random.default_rng(8), 400_000)
    assert losses.mean() == pytest.approx(mean, abs=5 * losses.std() / np.sqrt(len(losses)))


def test_lift_counts_only_strictly_larger_permutations():
    """Equal recalls: every permutation that moves anything is larger, and only those; a valid p-value is 1."""
    counts = np.array([[1, 1, 1, 2], [1, 1, 1, 2]])
    rng = np.random.default_rng(9)
    value = methods.rate_value("true_positive_rate")
    p, _, _ = competitors.lift(competitors.Table(counts), value, 4000, rng)
    permuted = competitors.Table(counts).shuffled(4000, rng)
    moved = np.abs(np.diff(competitors._or_zero(value)(permuted))[:, 0]) > 0
    assert p == pytest.approx(moved.mean(), abs=0.04)
    assert p < 1


def test_resamples_of_people_and_of_tables_have_the_same_means():
    rng = np.random.default_rng(10)
    people = competitors.People(np.arange(30) < 10)
    for draw in ("pooled", "within", "shuffled"):
        drawn = getattr(people, draw)(3000, rng)
        assert drawn.sum(axis=(1, 2)) == pytest.approx(30)
        expected = np.repeat([[1 / 3], [2 / 3]], 30, axis=1) if draw == "shuffled" else people.counts
        assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.15)
    assert (people.within(50, rng).sum(axis=2) == [10, 20]).all()


def test_committed_figures_are_of_the_designs_keep_the_promises_and_are_on_the_page():
    document, cells = json.loads(storage.RESULTS.read_text()), list(designs.all_cells())
    records = document["cells"]
    assert document["seed"] == designs.SEED
    assert set(records) == {cell.name for cell in (*cells, *DESIGNS)}
    assert all(storage.is_finished(cell, records) for cell in (*cells, *DESIGNS))
    for promise in bounds.promises(cells, records):
        assert promise.checked
        assert promise.broken == []
        assert not promise.left or promise.why
    pages = render.render(cells, DESIGNS, records, storage.RESULTS.parent)
    assert (PAGES / "validity.md").read_text() == pages.pop("validity.md")
    for name, text in pages.items():
        committed, drawn = (marks(svg) for svg in ((PAGES / name).read_text(), text))
        assert committed[0] == drawn[0]
        assert committed[1] == pytest.approx(drawn[1], abs=0.2)


@pytest.mark.slow
def test_a_test_that_rejects_too_often_is_noticed(monkeypatch):
    cell, power = replace(cell_named("grid/400-100/0.1-0.1/0.4"), data_sets=40, denominators=3), run.comparison_power
    monkeypatch.setattr(run, "comparison_power", lambda *assumed: power(*assumed[:-1], 0.3))
    monkeypatch.setattr(run, "_check", lambda d1, d2, regions, rng: None)
    assert any(promise.broken for promise in bounds.promises([cell], {cell.name: run.run(cell)}))


def marks(svg):
    """Every text of a drawing, and the place of every mark in tenths of a point."""
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    uses = [element.attrib for element in root.iter("{http://www.w3.org/2000/svg}use")]
    return texts, [round(float(use[axis]), 1) for use in uses for axis in ("x", "y")]


def test_power_is_compared_at_equal_size_or_at_the_level_where_the_size_is_right():
    cell = cell_named("rates/f1/200-200")
    methods = {
        "exact": {"size": 0.05, "power": 0.7, "power_at_equal_size": 0.6},
        "welch": {"size": 0.2, "power": 0.9, "power_at_equal_size": 0.5},
    }
    assert list(drawings.gains(methods, "exact", "exact", cell)) == []
    assert list(drawings.gains(methods, "welch", "exact", cell)) == [(pytest.approx(-0.1), True)]
    for figures in methods.values():
        del figures["power_at_equal_size"]
    assert list(drawings.gains(methods, "welch", "exact", cell)) == []
    methods["welch"]["size"] = 0.05
    assert list(drawings.gains(methods, "welch", "exact", cell)) == [(pytest.approx(0.2), False)]


def test_an_interval_that_misses_too_often_is_marked_with_equal_and_with_different_groups():
    figures = {"coverage": 0.94, "coverage_effect": 0.8}
    shares = list(drawings.misses({"exact": figures}, "exact", "exact", cell_named("rates/f1/200-200")))
    assert shares == [(pytest.approx(0.06), False), (pytest.approx(0.2), True)]
