"""The first screen of an audit: the headline, the grid, and the strongest disparities."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.first_screen import (
    FEWEST,
    MOST,
    MOST_ROWS,
    audit_grid,
    first_sentences,
    highlights,
    intervals_of,
    shown_first,
    standings,
)
from skfairtest.audit.report import audit_report

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(3)
N = 1200
RACE = RNG.choice(["Black", "White", "Other"], N, p=[0.3, 0.6, 0.1])
SEX = RNG.choice(["Female", "Male"], N)
TRUE = RNG.integers(0, 2, N)
CHANCE = 0.3 + 0.3 * TRUE + 0.3 * (RACE == "Black")
PRED = (RNG.random(N) < CHANCE).astype(int)
FAIR = (RNG.random(N) < 0.3 + 0.3 * TRUE).astype(int)
FEATURES = pd.DataFrame({"race": RACE, "sex": SEX})


def audited(pred=PRED, features=FEATURES, **params):
    return FairnessAudit.from_predictions(TRUE, pred, sensitive_features=features, random_state=0, **params).record_


@pytest.fixture(scope="module")
def record():
    return audited(favorable=False, positive_means="denied")


@pytest.fixture(scope="module")
def nothing():
    return audited(FAIR)


def test_of_all_pairs_a_cell_is_the_difference_from_everyone_else():
    pairs, rest = (audited(compare=compare, intersections=False) for compare in ("between_groups", "to_rest"))
    for one, other in zip(pairs.parts, rest.parts, strict=True):
        found, due = standings(one), standings(other)
        for group, metrics in found.items():
            for metric, standing in metrics.items():
                assert standing.disparity == pytest.approx(due[group][metric].disparity)
                assert standing.value == due[group][metric].value


def test_of_all_pairs_a_ratio_is_that_to_everyone_else():
    pairs, rest = (
        audited(compare=compare, intersections=False, disparity="ratio") for compare in ("between_groups", "to_rest")
    )
    found, due = standings(pairs.parts[0]), standings(rest.parts[0])
    for group, metrics in found.items():
        for metric, standing in metrics.items():
            assert standing.disparity == pytest.approx(due[group][metric].disparity)


@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_overall"])
@pytest.mark.parametrize("crossed", ["to_rest", "between_groups", "to_parents"])
def test_a_cell_is_significant_where_any_comparison_of_its_group_is(compare, crossed):
    for part in audited(compare=compare, compare_intersections=crossed).parts:
        rows = part.comparisons
        for group, metrics in standings(part).items():
            for metric, standing in metrics.items():
                own = [
                    row.concern
                    for row in rows.itertuples()
                    if row.metric == metric
                    and (row.group == group or (part.setup.compare == "between_groups" and row.other == group))
                ]
                assert (standing.mark == "significant") == any(own)


def test_strata_have_one_grid_of_the_averages_over_them():
    town = np.where(np.arange(N) % 2, "north", "south")
    found = FairnessAudit.from_predictions(
        TRUE, PRED, sensitive_features=FEATURES[["sex"]], control_features={"town": town}, metrics="selection_rate"
    )
    (part,) = found.record_.parts
    pooled = part.comparisons[part.comparisons["stratum"].isna()]
    female = standings(part)["Female"]["selection_rate"]
    assert female.disparity == pytest.approx(pooled["disparity"].item())
    assert standings(part)["Male"]["selection_rate"].disparity == pytest.approx(-pooled["disparity"].item())
    assert np.isnan(female.value)
    assert audit_grid(found.record_)[0].rows[1][1] == f"{(SEX == 'Female').sum():,}"


def cells_of(table, metric):
    """The cells of a metric by group."""
    column = [each.head for each in table.columns].index(metric)
    return {row[0]: row[column] for row in table.rows if row[column]}


def test_colours_say_who_is_worse_off_where_that_is_known(record):
    grid, *_ = audit_grid(record)
    assert dict(grid.key) == {"warm": "worse off", "cool": "better off"}
    black = cells_of(grid, "selection rate")["Black"]
    assert (black.shade[:4], black.mark, black.text[0]) == ("warm", "significant", "+")
    good, *_ = audit_grid(audited(favorable=True))
    assert cells_of(good, "selection rate")["Black"].shade[:4] == "cool"
    unknown, *_ = audit_grid(audited())
    assert dict(unknown.key) == {"high": "higher", "low": "lower"}
    for cell in cells_of(unknown, "accuracy").values():
        assert not cell.shade or cell.shade[:-1] == ("high" if cell.text.startswith("+") else "low")


def test_a_group_of_few_people_is_hatched_and_named():
    few = FEATURES.assign(race=np.where(np.arange(N) < 12, "Rare", RACE))
    record = audited(features=few)
    grid, *_ = audit_grid(record)
    (row,) = [row for row in grid.rows if row[0] == "Rare"]
    assert {cell.mark for cell in row[2:]} == {"few"}
    assert "Rare people (12)" in " ".join(first_sentences(record))


def test_many_groups_fold_up_but_for_those_with_the_smallest_p_values():
    town = RNG.choice([f"{i:02}" for i in range(40)], N)
    record = audited((RNG.random(N) < 0.2 + 0.7 * (town == "33")).astype(int), {"town": town}, compare="to_rest")
    shown, rest = audit_grid(record)
    assert (len(shown.rows), len(rest.rows), shown.folded, rest.folded) == (1 + MOST_ROWS, 40 - MOST_ROWS, False, True)
    names = [row[0] for row in shown.rows[1:]]
    assert "33" in names
    assert names == sorted(names)


def test_the_headline_is_the_disparity_that_its_interval_assures_most(record):
    assured = {
        (part.feature, row.Index): max(row.ci_low, -row.ci_high, 0)
        for part in record.parts
        if len(part.sensitive) == 1
        for row in part.comparisons.itertuples()
        if row.concern
    }
    first = highlights(record)[0]
    assert -first["strength"][1] == max(assured.values()) > 0
    headline, counts, *_ = first_sentences(record)
    assert headline.startswith("Worse off: ")
    assert "Black" in headline
    assert "were denied more often" in headline
    total, found = record.n_comparisons, record.n_found
    assert counts.startswith(f"{found:,} of {total:,} comparisons show a significant disparity")


def test_three_to_seven_disparities_one_for_each_question(record):
    found = highlights(record)
    assert FEWEST <= len(found) <= MOST
    assert all(one["concern"] for one in found)
    assert len({(one["feature"], one["metric"]) for one in found}) == len(found)
    sizes = [len(one["part"].sensitive) for one in found]
    assert sizes == sorted(sizes)
    findings = audit_report(record).findings
    assert len(findings) == len(found)
    for finding in findings:
        assert 0 <= finding.bar.low <= finding.bar.at <= finding.bar.high <= 100
        assert finding.bar.kind == "significant"
        assert not finding.bar.low <= finding.bar.null <= finding.bar.high


def test_a_crossing_that_no_feature_explains_is_told():
    other = np.where((RACE == "Black") == (SEX == "Female"), 0.8, 0.2)
    record = audited((RNG.random(N) < other).astype(int), metrics="selection_rate")
    found = highlights(record)
    assert "race x sex" in {one["feature"] for one in found}


def test_where_nothing_was_found_the_gaps_and_the_detectable_sizes_are_told(nothing):
    assert not nothing.n_found
    assert not highlights(nothing)
    first, gap, *_ = first_sentences(nothing)
    assert first.startswith("No significant disparity was detected")
    assert "does not prove fairness" in first
    assert gap.startswith("The largest gap observed: ")
    shown = shown_first(nothing)
    for row, said in zip(shown, intervals_of(nothing.setup, shown), strict=True):
        size = row["minimum_detectable"]
        assert np.isinf(size) or f"an 80% chance of detecting {100 * size:.1f}" in said.text
    assert len(shown) == FEWEST
    assert not any(one["concern"] for one in shown)
    largest = [abs(one["disparity"]) for one in shown]
    assert largest == sorted(largest, reverse=True)
    assert largest[0] == max(part.comparisons["disparity"].abs().max() for part in nothing.parts)


def test_renamed_groups_have_the_same_grid_but_for_their_names():
    (grid,) = audit_grid(audited(intersections=False))
    features = FEATURES.replace({"Black": "zebra", "White": "antelope"})
    (renamed,) = audit_grid(audited(features=features, intersections=False))
    assert {row[1:] for row in grid.rows} == {row[1:] for row in renamed.rows}


def test_a_metric_that_looks_at_all_groups_at_once_has_no_row():
    assert audit_grid(audited(metrics="normalized_mutual_info", n_resamples=199)) == ()
    report = audit_report(audited(metrics=["normalized_mutual_info", "selection_rate"], n_resamples=199))
    assert [column.head for column in report.grid[0].columns] == ["group", "people", "selection rate"]
