"""The first screen of an audit: the headline, the grid, and the strongest disparities."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.grid import MOST_ROWS, audit_grid, standings
from skfairtest.audit.headline import FEWEST, MOST, Highlight, first_sentences, highlights, largest_gaps
from skfairtest.audit.report import audit_document
from skfairtest.report.document import Grid, Intervals, as_table

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
                assert standing.significant == any(own)


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
    assert audit_grid(found.record_).parts[0].rows[0].people == f"{(SEX == 'Female').sum():,}"


def test_colours_say_who_is_worse_off_where_that_is_known(record):
    grid = audit_grid(record)
    assert dict(grid.legend) == {"warm": "worse off", "cool": "better off"}
    column = grid.columns.index("selection rate")
    (black,) = [row for row in grid.parts[0].rows if row.name == "Black"]
    assert (black.cells[column].hue, black.cells[column].state) == ("warm", "significant")
    assert black.cells[column].text.startswith("+")
    good = audit_grid(audited(favorable=True))
    assert good.parts[0].rows[0].cells[column].hue == "cool"
    unknown = audit_grid(audited())
    assert dict(unknown.legend) == {"high": "higher", "low": "lower"}
    accuracy = unknown.columns.index("accuracy")
    for row in unknown.parts[0].rows:
        cell = row.cells[accuracy]
        assert not cell.level or cell.hue == ("high" if cell.text.startswith("+") else "low")


def test_a_group_of_few_people_is_hatched_and_named():
    few = FEATURES.assign(race=np.where(np.arange(N) < 12, "Rare", RACE))
    record = audited(features=few)
    (row,) = [row for row in audit_grid(record).parts[0].rows if row.name == "Rare"]
    assert {cell.state for cell in row.cells} == {"few"}
    assert not any(cell.shade.startswith(("warm", "cool")) for cell in row.cells)
    assert "Rare people (12)" in " ".join(first_sentences(record))


def test_many_groups_fold_up_but_for_those_with_the_smallest_p_values():
    town = RNG.choice([f"{i:02}" for i in range(40)], N)
    record = audited((RNG.random(N) < 0.2 + 0.7 * (town == "33")).astype(int), {"town": town}, compare="to_rest")
    shown, rest = audit_grid(record).parts
    assert (len(shown.rows), len(rest.rows), shown.folded, rest.folded) == (MOST_ROWS, 40 - MOST_ROWS, False, True)
    assert "33" in [row.name for row in shown.rows]
    assert [row.name for row in shown.rows] == sorted(row.name for row in shown.rows)
    assert len(as_table(audit_grid(record)).rows) == MOST_ROWS


def test_the_headline_is_the_disparity_that_its_interval_assures_most(record):
    assured = {
        (part.feature, row.Index): max(row.ci_low, -row.ci_high, 0)
        for part in record.parts
        if len(part.sensitive) == 1
        for row in part.comparisons.itertuples()
        if row.concern
    }
    first = highlights(record)[0]
    assert first.assured == max(assured.values()) > 0
    headline, counts, *_ = first_sentences(record)
    assert headline.startswith("Worse off: ")
    assert "Black" in headline
    assert "were denied more often" in headline
    total, found = record.verdict.n_comparisons, record.verdict.n_found
    assert counts.startswith(f"{found:,} of {total:,} comparisons show a significant disparity")


def test_three_to_seven_disparities_one_for_each_question(record):
    found = highlights(record)
    assert FEWEST <= len(found) <= MOST
    assert all(one.row["concern"] for one in found)
    assert len({one.question for one in found}) == len(found)
    sizes = [len(one.part.sensitive) for one in found]
    assert sizes == sorted(sizes)
    (block,) = [block for block in audit_document(record) if isinstance(block, Intervals)]
    assert len(block.lines) == len(found)
    for line in block.lines:
        assert 0 <= line.low <= line.at <= line.high <= 1
        assert line.significant
        assert not line.low <= line.null <= line.high or "includes" in line.text or "included" in line.text


def test_crossed_groups_that_only_repeat_a_feature_are_left_out(record):
    single = next(part for part in record.parts if part.feature == "race")
    crossed = next(part for part in record.parts if part.feature == "race x sex")

    def first(part, **values):
        rows = [row for row in part.comparisons.to_dict("records") if all(row[k] == v for k, v in values.items())]
        return Highlight(part, rows[0])

    one = first(single, metric="selection_rate", group="Black", other="White")
    same = first(crossed, metric="selection_rate", group=("Black", "Female"))
    assert one.row["disparity"] > 0
    assert same.repeats(one)
    assert not one.repeats(same)
    assert not Highlight(crossed, same.row | {"disparity": -0.1, "ci_low": -0.2, "ci_high": -0.05}).repeats(one)
    assert not first(crossed, metric="accuracy", group=("Black", "Female")).repeats(one)
    assert not first(crossed, metric="selection_rate", group=("Other", "Female")).repeats(one)
    # Lower than the rest, as White people are lower than Black people: the pair seen from its other side.
    white = first(crossed, metric="selection_rate", group=("White", "Female"))
    assert white.row["disparity"] < 0
    assert white.repeats(one)


def test_a_crossing_that_no_feature_explains_is_told():
    other = np.where((RACE == "Black") == (SEX == "Female"), 0.8, 0.2)
    record = audited((RNG.random(N) < other).astype(int), metrics="selection_rate")
    found = highlights(record)
    assert "race x sex" in {one.part.feature for one in found}


def test_where_nothing_was_found_the_gaps_and_the_detectable_sizes_are_told(nothing):
    assert not nothing.verdict.concern
    assert not highlights(nothing)
    first, gap, *others = first_sentences(nothing)
    assert first.startswith("No significant disparity was detected")
    assert "does not prove fairness" in first
    assert gap.startswith("The largest gap observed: ")
    sizes = np.concatenate([part.comparisons["minimum_detectable"] for part in nothing.parts])
    assert f"could have detected a gap of {100 * sizes.min():.1f} points (80% power)" in " ".join(others)
    shown = largest_gaps(nothing)
    assert len(shown) == FEWEST
    assert not any(one.row["concern"] for one in shown)
    largest = [abs(one.row["disparity"]) for one in shown]
    assert largest == sorted(largest, reverse=True)
    assert largest[0] == max(part.comparisons["disparity"].abs().max() for part in nothing.parts)


def test_renamed_groups_have_the_same_grid_but_for_their_names():
    grid = audit_grid(audited(intersections=False))
    renamed = audit_grid(
        audited(features=FEATURES.replace({"Black": "zebra", "White": "antelope"}), intersections=False)
    )
    assert {row.cells for part in grid.parts for row in part.rows} == {
        row.cells for part in renamed.parts for row in part.rows
    }


def test_a_metric_that_looks_at_all_groups_at_once_has_no_row():
    assert audit_grid(audited(metrics="normalized_mutual_info", n_resamples=199)) is None
    blocks = audit_document(audited(metrics=["normalized_mutual_info", "selection_rate"], n_resamples=199))
    (grid,) = [block for block in blocks if isinstance(block, Grid)]
    assert grid.columns == ("selection rate",)
