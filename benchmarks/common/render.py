"""doc/validity.md and its drawings from the stored results: every figure comes from a file, none is typed."""

import json

from benchmarks.common import kinds
from benchmarks.common.bounds import COVERED, FAR, promises
from benchmarks.common.drawings import KINDS, PANELS, counts, drawings, file_name, misses, panels, sizes
from benchmarks.common.gauntlet_cells import all_cells, failures, is_expected
from benchmarks.common.gauntlet_designs import DESIGNS
from benchmarks.common.storage import load
from benchmarks.common.tables import number, table
from benchmarks.common.words import (
    APPROXIMATE,
    BEFORE,
    CLAIMS,
    COVERAGE,
    DRAWN,
    GAUNTLET,
    INTERVALS,
    INTRODUCTION,
    LIMITS,
    METHODS,
    NOTES,
    OF_OWN,
    POWER,
)
from benchmarks.common.words import KINDS as OF_KINDS

#: Powers at equal size that are so much lower are a loss, and so much higher a gain.
LOST, GAINED = 0.02, 0.15


def pictures(cells, records):
    """Show the drawings, and below how to read each, with the counts of what is drawn."""
    shown, read = [], []
    for kind, (figures_of, _) in KINDS.items():
        words, seen = DRAWN[kind], counts(panels(cells, records, figures_of))
        shown.append(f"![{words['description']}](_static/{file_name(kind)})")
        reading = words["reading"].format_map({method: f"{bad} of {of}" for method, (bad, of) in seen.items()})
        read += ["", f"**{words['title']}.** {reading}"]
    return "\n".join([*shown, *read])


def gauntlet(path):
    """Say how many combinations of a kind and a design hold, and name those that reject too often."""
    records = load(path)
    cells = [cell for cell in all_cells() if cell.name in records]
    answered = [cell for cell in cells if "rejected" in records[cell.name]]
    broken = {cell.name for cell in answered if any(failures(cell, records[cell.name]))}
    unexpected = sum(cell.name in broken and not is_expected(cell) for cell in answered)
    text = GAUNTLET.format(
        description=DRAWN["size"]["description"], designs=len(DESIGNS), cells=len(cells), hold=len(cells) - unexpected,
        refused=len(cells) - len(answered),
    )  # fmt: skip
    exceptions = []
    for words, silent in (("often without a caution", True), ("and say so in a caution", False)):
        names = {}
        for cell in answered:
            if kinds.rejects_too_often(cell, records) and (cell.name in broken) == silent:
                figure = f"{cell.kind.name} {number(records[cell.name]['rejected'])}"
                names.setdefault(cell.design.name, []).append(figure)
        if names:
            listed = "; ".join(f"in *{name}*, {', '.join(figures)}" for name, figures in names.items())
            exceptions.append(f"- **Reject too often, {words}**: {listed}.")
    return text, exceptions


def contradictions(path):
    """Return how often p-values and intervals contradict each other, and what cutting intervals costs."""
    document = json.loads(path.read_text())
    total = {name: f"{sum(kind[name] for kind in document['kinds']):,}"
             for name in ("comparisons", "rejected", "contradictions")}  # fmt: skip
    two, families = (document["coverage"][part] for part in ("two_groups", "families"))
    return {
        "kinds": len(document["kinds"]), **total, "falls": number(max(cell["falls_by"] for cell in two)),
        "before": number(min(cell["before"] for cell in two)), "after": number(min(cell["after"] for cell in two)),
        "families": number(min(cell["after"] for cell in families)),
    }  # fmt: skip


def claims(held):
    """Return the table of what is claimed, and in how many designs it holds."""
    rows = [
        [p.says, f"{p.checked - len(p.broken)} of {p.checked}" + "".join(f"; not {where}" for where in p.broken)]
        for p in held
    ]
    return [CLAIMS, "", table(["claim", "figures for which it holds"], rows), ""]


def approximate(cells, records):
    """Count the designs of metrics that are not rates in which the default rejects too often, and its cautions."""
    too_often = [
        (size, cell)
        for cell in cells
        for size, is_bad in sizes(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    return {"designs": len(cells), "above": len(too_often), "far": sum(size > FAR for size, _ in too_often)}, too_often


def warned(cells, records, too_often):
    """Return the smallest share of rejections with a caution of the fair models that are rejected in more than 10%."""
    measured = {
        (cell.people, cell.null): records[cell.name]["methods"][cell.default]["warned"]
        for cell in cells
        if cell.kind == "caution"
    }
    return min((measured.get((cell.people, cell.null), 0.0) for size, cell in too_often if size > FAR), default=1.0)


def coverage_of_scores(cells, records):
    """Say how often intervals of what is tested as rates hold the true difference, where the test's size is right."""
    shares = []
    for cell in cells:
        methods = records[cell.name]["methods"]
        if cell.default == "areas" and not any(is_bad for _, is_bad in sizes(methods, "areas", None, cell)):
            shares += [1 - miss for miss, _ in misses(methods, "areas", None, cell)]
    if not shares:
        return []
    enough = sum(share >= COVERED for share in shares)
    return [COVERAGE.format(covered=number(COVERED), enough=enough, of=len(shares), least=number(min(shares)))]


def power_lost(cells, records, what):
    """Say in how many designs another method finds more at equal size, and in which one most."""
    default, other, title = BEFORE[what]
    gains = []
    for cell in cells:
        powers = [records[cell.name]["methods"].get(m, {}).get("power_at_equal_size") for m in (default, other)]
        if None not in powers:
            gains.append((round(powers[0] - powers[1], 5), cell.name, powers))
    less = sum(gain < -LOST for gain, *_ in gains)
    if not less:
        return []
    worst, design, powers = min(gains)
    return [POWER.format(
        what=what, before=title, less=less, designs=len(gains), more=sum(gain >= GAINED for gain, *_ in gains),
        worst=f"{number(-worst)} in *{design}* ({' for '.join(map(number, powers))})",
    )]  # fmt: skip


def limits(cells, records, held, exceptions, of_kinds):
    """Say what the tests of this package get wrong: beyond the claims, in the gauntlet, with intervals, by name."""
    out = [LIMITS]
    for promise in held:
        if promise.left:
            out.append(
                f"- **Not claimed, and does not hold**, in {len(promise.left)} designs: {promise.says}. {promise.why}."
            )
    out += exceptions
    not_rates = [cell for cell in cells if cell.kind in ("area", "table", "loss", "explained")]
    counted, too_often = approximate(not_rates, records)
    out.append(APPROXIMATE.format(**counted, warned=number(warned(cells, records, too_often))))
    out += coverage_of_scores(not_rates, records)
    out += [line for what in BEFORE for line in power_lost(not_rates, records, what)]
    missed = [
        miss
        for cell in cells
        if any(cell.section in sections for _, sections, *_ in PANELS)
        for miss, is_bad in misses(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    out += [INTERVALS.format(count=len(missed), worst=number(max(missed)))] if missed else []
    for words, shown in zip(OF_OWN, of_kinds, strict=True):
        bad = [
            f"{title}, {row.label} ({row.is_bad.sum()} of {len(row.values)}, at worst {number(row.values.max())})"
            for title, rows in shown
            for row in rows
            if row.is_default and row.is_bad.any()
        ]
        out += [f"- **{words}**: {'; '.join(bad)}."] if bad else []
    return [*out, ""]


def render(cells, designs, records, folder):
    """Return the page and its drawings by their names; `designs` are those of kinds of test with data of their own."""
    there = [cell for cell in cells if cell.name in records]
    if not there:
        raise SystemExit("no results are stored yet: run python -m benchmarks.validity")
    methods = [["; ".join(METHODS[method] for method in named), note] for named, note in NOTES]
    held = promises(there, records)
    every_kind, exceptions = gauntlet(folder / "gauntlet.json")
    of_kinds = kinds.panels_of_kinds(designs, records, folder)
    page = [
        INTRODUCTION.format(drawings=pictures(there, records), methods=table(["method", "what it is"], methods)),
        every_kind,
        OF_KINDS.format(
            size=DRAWN["size"]["description"], coverage=DRAWN["coverage"]["description"],
            **contradictions(folder / "contradictions.json"),
        ),
        *claims(held), *limits(there, records, held, exceptions, of_kinds),
    ]  # fmt: skip
    drawn = drawings(there, records, *of_kinds, kinds.gauntlet(folder / "gauntlet.json"))
    return {"validity.md": "\n".join(page), **{f"_static/{name}": text for name, text in drawn.items()}}
