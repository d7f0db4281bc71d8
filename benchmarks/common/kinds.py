"""Sizes and misses of the kinds of test that have designs of their own, as panels of a drawing."""

from dataclasses import replace

import numpy as np

from benchmarks.common.drawings import Row, misses, panels, sizes
from benchmarks.common.gauntlet_cells import all_cells, exceeds, largest_size
from benchmarks.common.gauntlet_kinds import KINDS
from benchmarks.common.storage import load

#: Title, section of the designs, the methods whose sizes are shown, and those whose intervals are; first the package's.
#: Methods that are one test of so many people.
PEOPLE = ("1600 people", "400 people", "100 people", "50 people")
PANELS = (
    ("Audits of three features", "audits", ("audits",), ()),
    ("Inequality of benefits", "inequality", ("permutation", "kdd", "raw"), ("permutation",)),
    ("Calibration curves", "calibration",
     ("Kuiper", "Kolmogorov-Smirnov", "mean residual", "ten bins", "Hosmer-Lemeshow", "binned error"), ()),
    ("Correlations", "correlations", ("permutation", "raw"), ("permutation",)),
    ("Answers to prompts", "prompts", ("prompts as clusters", "prompts as strata", "answers as people"), ()),
    ("Scans of subgroups", "scans", ("scans",), ()),
    ("Two models", "two models",
     ("paired", "normal alone", "labels permuted", "predictions swapped", "two independent tests", "two intervals",
      "two verdicts"), ()),
    ("Streams, at every look", "streams",
     ("blocks", "betting", "all data, exact", "each batch, exact", "exact, Bonferroni"), ("blocks",)),
    ("Given covariates", "covariates", ("adjusted", "without adjustment"), ()),
    ("Few labels", "few labels", ("labels and a judge",), ("labels and a judge", "PPI++")),
    ("Unknown groups", "unknown groups", ("by weighted", "by thresholded", "by likelihood"),
     ("by weighted", "by thresholded", "by likelihood")),
    ("Ratios of sums, means of amounts", "sums", ("sums",), ("sums",)),
    ("Whole distributions", "distributions", ("distribution",), ("distribution",)),
    ("Many small tables", "discrete families", ("discrete_holm", "holm"), ()),
    ("Several labels", "several labels", ("family", "all labels", "chi-square"), ()),
    ("People in clusters", "clusters", ("permutation", "asymptotic", "ignored"), ("permutation", "asymptotic")),
    ("Weights", "weights", ("permutation", "asymptotic", "raw", "ignored"), ("permutation", "asymptotic")),
    ("Ratios of rare events", "ratios", ("asymptotic", "permutation", "bootstrap_t"),
     ("asymptotic", "permutation", "bootstrap_t")),
    ("Weights of strata", "weights of strata", ("weights of strata",), ("weights of strata",)),
    ("Individual fairness, known metric", "known metric", PEOPLE, PEOPLE),
    ("Individual fairness, coin flips", "coins", ("learned",), ()),
    ("Individual fairness, learned metric", "learned metric", ("learned",), ("learned",)),
    ("Audited models, frames", "models", ("out of fold", "in sample"), ("intervals of frames",)),
)  # fmt: skip


def panels_of_kinds(designs, records):
    """Return the panels of sizes and those of misses; the first method of each is that of the package."""
    out = []
    for part, figures_of in enumerate((sizes, misses)):
        shown = [(title, (section,), methods[part][0], methods[part][1:]) for title, section, *methods in PANELS
                 if methods[part]]  # fmt: skip
        out.append([
            (title, [replace(row, is_default=row.is_default or row.method in PEOPLE) for row in rows])
            for title, rows in panels(designs, records, figures_of, shown)
        ])  # fmt: skip
    return out


def gauntlet(path):
    """Return the panel of the gauntlet: a row for each kind of test, a mark for each design that it answers."""
    records, rows = load(path), []
    for kind in KINDS:
        cells = [cell for cell in all_cells() if cell.kind == kind and "rejected" in records.get(cell.name, ())]
        shares = np.array([records[cell.name]["rejected"] for cell in cells])
        if cells:
            # A name that no method has.
            bad = np.array([rejects_too_often(cell, records) for cell in cells])
            rows.append(Row(f"{kind.name} ", False, shares, bad))
    return [("Every kind of test", rows)]


def rejects_too_often(cell, records):
    n = records[cell.name]["data_sets"]
    return exceeds(round(records[cell.name]["rejected"] * n), n, largest_size(cell))
