"""The table of kinds and designs of doc/validity.md, and the page of its details, from the stored results."""

import re
from dataclasses import replace

from benchmarks.common.gauntlet_cells import all_cells, exceeds, failures, is_expected, largest_size
from benchmarks.common.gauntlet_designs import DESIGNS
from benchmarks.common.gauntlet_kinds import KINDS
from benchmarks.common.storage import load
from benchmarks.common.tables import folded, number, table

BEGIN, END = "<!-- gauntlet -->", "<!-- end of gauntlet -->"
INTRODUCTION = """\
## Every test on every fair design

Each row of this table is a kind of test, each column a [design](validity/gauntlet.md) in which its null hypothesis is
true, so that nothing is to be found. The figure is the share of data sets in which it is rejected, which should be at
most .05. {counts} *c*: too many rejections, and at least 90% of them come with a caution. *R*: every data set is
refused, with an error that says why. *Italics*: a bar is broken where it is expected. **Bold**: a bar is broken.
"""
DETAILS = """\
# Every test on every fair design: details

[Summary](../validity.md). The designs are the columns of the table there. A cell holds if the size is at most .05 (.07
with 20 and 40 clusters, and for areas, F1 and the like where a group has 60 or fewer people), or 90% of the rejections
come with a caution, which at least 95% of the results of friendly designs do not have; and if intervals cover at least
.93. Each bar may be missed by three Monte-Carlo errors. Bars are expected to break in areas near 1 and in unequal
skewed shapes. A kind has no cell in a design for which it has no answer; the reasons are below.
"""


def stored_cells(path):
    """The cells that are stored, each with as many data sets as it had, by name; and their records."""
    records = load(path)
    cells = {
        cell.name: replace(cell, data_sets=records[cell.name]["parameters"]["data_sets"])
        for cell in all_cells()
        if cell.name in records
    }
    return cells, records


def section(path):
    """Return the lines between the markers, which are there before there are results."""
    cells, records = stored_cells(path)
    if not cells:
        return [BEGIN, END, ""]
    head = ["kind of test", *(str(place) for place, _ in enumerate(DESIGNS, 1))]
    rows = [
        [kind.name, *(_size(kind, design, cells.get(f"{kind.name}/{design.name}"), records) for design in DESIGNS)]
        for kind in KINDS
    ]
    broken = sum(any(failures(cell, records[name])) and not is_expected(cell) for name, cell in cells.items())
    data_sets = sorted(cell.data_sets for cell in cells.values())
    many = " to ".join(dict.fromkeys(f"{n:,}" for n in (data_sets[0], data_sets[-1])))
    counts = f"{len(cells) - broken} of {len(cells)} cells hold, of {many} data sets each."
    if waiting := len(all_cells()) - len(cells):
        counts += (
            f" {waiting} others, marked ?, have not been computed yet: `python -m benchmarks.gauntlet` computes them."
        )
    title = f"{len(KINDS)} kinds of test in {len(DESIGNS)} designs"
    return [BEGIN, INTRODUCTION.format(counts=counts), *folded(title, head, rows, left=1), END, ""]


def details(path):
    """Return the page of designs and details."""
    cells, records = stored_cells(path)
    designs = [[place, f"{design.name}{' (friendly)' if design.friendly else ''}", design.says]
               for place, design in enumerate(DESIGNS, 1)]  # fmt: skip
    return "\n".join([
        DETAILS, "## The designs", "", table(["", "design", "people"], designs, left=3), "", "## The figures", "",
        *folded("Sizes, coverage, cautions and contradictions",
                ["kind", "design", "size", "rejections without a caution", "coverage",
                 "equality outside of the interval though not rejected", "inside though rejected", "data sets",
                 "refused"], [_details(cell, records[name]) for name, cell in cells.items()]),
        *folded("Why a cell is empty, or refused", ["design", "reason", "kinds"], _reasons(cells, records), left=3),
    ])  # fmt: skip


def exceptions(path):
    """Lines of the cells that break a bar where that is expected, and of those whose rejections come with cautions."""
    cells, records = stored_cells(path)
    shown = {"broken": {}, "warned": {}}
    for name, cell in cells.items():
        if "rejected" not in records[name]:
            continue
        size = round(records[name]["rejected"] * cell.data_sets)
        if any(failures(cell, records[name])):
            where = "broken"
        elif exceeds(size, cell.data_sets, largest_size(cell)):
            where = "warned"
        else:
            continue
        text = f"{cell.kind.name} {number(records[name]['rejected'])}"
        shown[where].setdefault(cell.design.name, []).append(text)
    words = {
        "broken": "**Reject too often, often without a caution**",
        "warned": "**Reject too often, and say so in a caution**",
    }
    return [
        f"- {words[where]}: " + "; ".join(f"in *{name}*, {', '.join(kinds)}" for name, kinds in found.items()) + "."
        for where, found in shown.items()
        if found
    ]


def _size(kind, design, cell, records):
    if cell is None:
        return "?" if kind.why_not(design) is None else ""
    found = records[cell.name]
    if "rejected" not in found:
        return "R"
    text = number(found["rejected"])
    if any(failures(cell, found)):
        return f"*{text}*" if is_expected(cell) else f"**{text}**"
    excused = exceeds(round(found["rejected"] * cell.data_sets), cell.data_sets, largest_size(cell))
    return f"{text} c" if excused else text


def _details(cell, found):
    shares = [found.get(key) for key in ("rejected", "rejected_silently", "covered", "out", "inside")]
    size, silent, covered, out, inside = shares
    return [
        cell.kind.name, cell.design.name, *("–" if size is None else text for text in (number(size), str(silent))),
        "–" if covered is None else number(covered), *("–" if count is None else str(count) for count in (out, inside)),
        str(cell.data_sets), str(found["refused"]),
    ]  # fmt: skip


def _reasons(cells, records):
    """Rows of a design, a reason and the kinds that it holds for."""
    found = {}
    for design in DESIGNS:
        for kind in KINDS:
            record = records.get(f"{kind.name}/{design.name}")
            reason = kind.why_not(design)
            if reason is None and record is not None and "rejected" not in record:
                reason = f"refused: {record['refusal']}"
            if reason is not None:
                found.setdefault((design.name, reason), []).append(kind.name)
    return [[design, reason, ", ".join(kinds)] for (design, reason), kinds in found.items()]


def replaced(page, path):
    """Return a page with the section between its markers written anew."""
    begin, end = re.escape(BEGIN), re.escape(END)
    text, count = re.subn(rf"{begin}.*?{end}", lambda _: "\n".join(section(path)).rstrip(), page, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"the page needs one place between {BEGIN} and {END}, and has {count}")
    return text
