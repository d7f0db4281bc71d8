"""doc/validity.md and its drawings from the stored results: every figure comes from a file, none is typed."""

import json
from pathlib import Path

import jinja2

from benchmarks.common import kinds
from benchmarks.common.bounds import COVERED, FAR, promises, promises_of_designs
from benchmarks.common.drawings import DRAWN, KINDS, PANELS, counts, drawings, misses, panels, sizes
from benchmarks.common.gauntlet_cells import all_cells, failures, is_expected
from benchmarks.common.gauntlet_designs import DESIGNS
from benchmarks.common.storage import load
from benchmarks.common.tables import number

#: Powers at equal size that are so much lower are a loss, and so much higher a gain.
LOST, GAINED = 0.02, 0.15
#: The default, another method, and what that is called.
BEFORE = {
    "areas and the like": ("areas", "permutation", "the studentized permutation"),
    "mean losses": ("permutation", "permuted", "the permutations alone"),
}
#: What the package's own methods get wrong in the designs of other benchmarks: sizes and intervals.
OF_OWN = ("Reject too often in designs of their own", "Intervals that miss too often in designs of their own")
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True, lstrip_blocks=True,
    keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
)  # fmt: skip
TEMPLATES.filters["number"] = number


def seen(cells, records):
    """The number of bad figures, by drawing and method."""
    found = {kind: counts(panels(cells, records, figures_of)) for kind, (figures_of, _) in KINDS.items()}
    return {
        kind: {method: f"{bad} of {of}" for method, (bad, of) in methods.items()} for kind, methods in found.items()
    }


def gauntlet(path):
    """The numbers of combinations of a kind and a design, and those that reject too often."""
    records = load(path)
    cells = [cell for cell in all_cells() if cell.name in records]
    answered = [cell for cell in cells if "rejected" in records[cell.name]]
    broken = {cell.name for cell in answered if any(failures(cell, records[cell.name]))}
    unexpected = sum(cell.name in broken and not is_expected(cell) for cell in answered)
    too_often = {"often without a caution": {}, "and say so in a caution": {}}
    for cell in answered:
        if kinds.rejects_too_often(cell, records):
            words = "often without a caution" if cell.name in broken else "and say so in a caution"
            figure = f"{cell.kind.name} {number(records[cell.name]['rejected'])}"
            too_often[words].setdefault(cell.design.name, []).append(figure)
    return {
        "designs": len(DESIGNS), "cells": len(cells), "hold": len(cells) - unexpected,
        "refused": len(cells) - len(answered), "too_often": too_often,
    }  # fmt: skip


def contradictions(path):
    """The contradictions of p-values and intervals, and the coverage before and after intervals are cut."""
    document = json.loads(path.read_text())
    total = {name: f"{sum(kind[name] for kind in document['kinds']):,}"
             for name in ("comparisons", "rejected", "contradictions")}  # fmt: skip
    two, families = (document["coverage"][part] for part in ("two_groups", "families"))
    return {
        "kinds": len(document["kinds"]), **total, "falls": number(max(cell["falls_by"] for cell in two)),
        "before": number(min(cell["before"] for cell in two)), "after": number(min(cell["after"] for cell in two)),
        "families": number(min(cell["after"] for cell in families)),
    }  # fmt: skip


def approximate(cells, designs, records):
    """The designs of metrics that are not rates in which the default rejects too often, and its cautions."""
    too_often = [
        size
        for cell in cells
        for size, is_bad in sizes(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    doubtful = [
        records[each.name]["methods"]["permutation"]
        for each in designs
        if each.name.startswith("cautions/rejected") and each.name in records
    ]
    warned = min((1 - figures["silently"] / figures["size"] for figures in doubtful), default=1.0)
    return {
        "designs": len(cells), "above": len(too_often), "far": sum(size > FAR for size in too_often),
        "doubtful": len(doubtful), "warned": number(round(warned, 5)),
    }  # fmt: skip


def coverage_of_scores(cells, records):
    """The coverage of intervals of metrics tested as rates, in designs in which the test's size is right."""
    shares = []
    for cell in cells:
        methods = records[cell.name]["methods"]
        if cell.default == "areas" and not any(is_bad for _, is_bad in sizes(methods, "areas", None, cell)):
            shares += [1 - miss for miss, _ in misses(methods, "areas", None, cell)]
    enough = sum(share >= COVERED for share in shares)
    return {"covered": number(COVERED), "enough": enough, "of": len(shares), "least": number(min(shares))}


def power_lost(cells, records):
    """The designs in which another method finds more at equal size."""
    for what, (default, other, title) in BEFORE.items():
        gains = []
        for cell in cells:
            powers = [records[cell.name]["methods"].get(m, {}).get("power_at_equal_size") for m in (default, other)]
            if None not in powers:
                gains.append((round(powers[0] - powers[1], 5), cell.name, powers))
        less, (worst, design, powers) = sum(gain < -LOST for gain, *_ in gains), min(gains)
        if less:
            yield {
                "what": what, "before": title, "less": less, "designs": len(gains),
                "more": sum(gain >= GAINED for gain, *_ in gains),
                "worst": f"{number(-worst)} in *{design}* ({' for '.join(map(number, powers))})",
            }  # fmt: skip


def bad_rows(shown):
    return [
        f"{title}, {row.label} ({row.is_bad.sum()} of {len(row.values)}, at worst {number(row.values.max())})"
        for title, rows in shown
        for row in rows
        if row.is_default and row.is_bad.any()
    ]


def render(cells, designs, records, folder):
    """Return the page and its drawings by their names; `designs` are those of kinds of test with data of their own."""
    there = [cell for cell in cells if cell.name in records]
    if not there:
        raise SystemExit("no results are stored yet: run python -m benchmarks.validity")
    not_rates = [cell for cell in there if cell.kind in ("area", "table", "loss", "explained")]
    missed = [
        miss
        for cell in there
        if any(cell.section in sections for _, sections, *_ in PANELS)
        for miss, is_bad in misses(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    of_kinds = kinds.panels_of_kinds(designs, records)
    page = TEMPLATES.get_template("validity.md.j2").render(
        drawn=DRAWN, seen=seen(there, records), missed=missed,
        held=[*promises(there, records), *promises_of_designs(designs, records)],
        gauntlet=gauntlet(folder / "gauntlet.json"), contradictions=contradictions(folder / "contradictions.json"),
        approximate=approximate(not_rates, designs, records), scores=coverage_of_scores(not_rates, records),
        power=list(power_lost(not_rates, records)), of_own=dict(zip(OF_OWN, map(bad_rows, of_kinds), strict=True)),
    )  # fmt: skip
    drawn = drawings(there, records, *of_kinds, kinds.gauntlet(folder / "gauntlet.json"))
    return {"validity.md": page, **{f"_static/{name}": text for name, text in drawn.items()}}
