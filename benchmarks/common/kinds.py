"""Sizes and misses of the kinds of test whose designs are in a benchmark of their own, as panels of a drawing."""

import json

import numpy as np

from benchmarks.common.drawings import Row, misses, row
from benchmarks.common.gauntlet_cells import all_cells, exceeds, largest_size
from benchmarks.common.gauntlet_kinds import KINDS
from benchmarks.common.inequality_cells import inequality_cells
from benchmarks.common.storage import load


def pairs(cells, name="rejected"):
    """Yield the (share, data sets) of stored shares."""
    return [(cell[name]["share"], cell[name]["data_sets"]) for cell in cells if cell[name]]


def by_method(rows, data_sets="data_sets"):
    """Return the (share, data sets) pairs of each method of rows that have a share for each."""
    methods = dict.fromkeys(method for each in rows for method in each["rejected"])
    return {
        method: [(each["rejected"][method], each[data_sets]) for each in rows if method in each["rejected"]]
        for method in methods
    }


def missed(shares):
    return [(1 - share, n) for share, n in shares]


def inequality(document):
    cells = [(cell, document["cells"][cell.name]["methods"]) for cell in inequality_cells()]
    sizes, default = {}, "permutation"
    for name in (default, "kdd", "raw"):
        sizes[name] = [(methods[name]["size"], cell.data_sets) for cell, methods in cells]
    shares = [(miss, cell.data_sets) for cell, methods in cells for miss, _ in misses(methods, default, None, cell)]
    return sizes, {default: shares}


def correlations(document):
    intervals = document["intervals"]
    studentized, ordinary = (
        [(each[name]["size"], each[name]["data_sets"]) for each in document["cells"] if name in each]
        for name in ("studentized", "ordinary")
    )
    uncorrelated = pairs([each for each in intervals if each["true_correlation"] == 0])
    return {"permutation": studentized + uncorrelated, "raw": ordinary}, {
        "permutation": missed(pairs(intervals, "coverage"))
    }


def calibration(document):
    rows = [each for each in document["rows"] if each["curve"] == "calibrated"]
    names = {"kuiper": "Kuiper", "kolmogorov_smirnov": "Kolmogorov-Smirnov", "hosmer_lemeshow": "Hosmer-Lemeshow"}
    return {names.get(name, name.replace("_", " ")): shares for name, shares in by_method(rows).items()}, {}


def prompts(document):
    tests = by_method(document["rows"])
    return {"prompts as clusters": tests["clusters"], "prompts as strata": tests["within prompts"],
            "answers as people": tests["answers"]}, {}  # fmt: skip


def scans(document):
    return {"scans": [(each["false"] / each["runs"], each["runs"])
                      for each in document["figures"].values() if "false" in each]}, {}  # fmt: skip


def audits(document):
    return {"audits": pairs(document["families"], "false_concern")}, {}


def two_models(document):
    sizes = by_method(document["equal"])
    sizes["paired"] += by_method([*document["sizes"], *document["metrics"]])["paired"]
    names = {
        "normal": "normal alone",
        "permuted": "labels permuted",
        "swapped": "predictions swapped",
        "independent": "two independent tests",
        "intervals": "two intervals",
        "verdicts": "two verdicts",
    }
    return {names.get(name, name): shares for name, shares in sizes.items()}, {}


def streams(document):
    fair = [
        {"rejected": each["ever"], "n": each["streams"] if "betting" in each["ever"] else document["compared"]}
        for name, each in document["figures"].items()
        if name.startswith("fair")
    ]
    ends = [(each["ever_missed_cut"], each["streams"]) for each in document["figures"]["coverage"].values()]
    names = {"exact test of all data each look": "all data, exact", "exact test of each batch": "each batch, exact",
             "exact test, Bonferroni over looks": "exact, Bonferroni"}  # fmt: skip
    return {names.get(name, name): shares for name, shares in by_method(fair, "n").items()}, {"blocks": ends}


def covariates(document):
    rows = [
        {"n": each["runs"], "rejected": {name: count / each["runs"] for name, count in each["rejected"].items()}}
        for name, each in document["figures"].items()
        if name.startswith("size")
    ]
    sizes = by_method(rows, "n")
    return {"adjusted": sizes["gcm"], "without adjustment": sizes["unadjusted"]}, {}


def few_labels(document):
    cells = document["cells"]

    def misses(*names):
        return [(1 - each[name], each["data_sets"]) for each in cells for name in names]

    return {"labels and a judge": [(each["size"], each["data_sets"]) for each in cells]}, {
        "labels and a judge": misses("coverage", "coverage_of_difference"),
        "PPI++": misses("coverage_ppi", "coverage_ppi_of_difference"),
    }


def unknown_groups(document):
    cells = [each for each in document["cells"] if each["assumption_holds"]]
    estimates = dict.fromkeys(each["estimate"] for each in cells)
    sizes = {
        name: [(each["rejected"], each["repetitions"]) for each in cells
               if each["estimate"] == name and abs(each["true_disparity"]) < 1e-9]
        for name in estimates
    }  # fmt: skip
    misses = {
        name: [(1 - each["coverage"], each["repetitions"]) for each in cells if each["estimate"] == name]
        for name in estimates
    }
    return [{f"by {name}": each for name, each in shares.items()} for shares in (sizes, misses)]


def models(document):
    fair = [each for each in document["out_of_fold"] if each["model"].startswith("fair")]
    intervals = document["intervals"]
    return {"out of fold": pairs(fair, "out_of_fold"), "in sample": pairs(fair, "in_sample")}, {
        "intervals of frames": missed(pairs(intervals, "coverage")),
        "percentile bootstrap": missed(pairs(intervals, "percentile_bootstrap")),
    }


def individual(document):
    cells = [each for each in document["level"] if each["statistic"] == "loss_ratio"]
    fair = [each for each in cells if each["value"] <= document["tolerance"]]
    return {"at a known metric": pairs(fair)}, {"at a known metric": missed(pairs(cells, "coverage"))}


def learned(document):
    cells = [each for name in ("blind", "used", "searched") for each in document[name]]
    fair = [*document["coins"], *document["blind"]]
    return {"a learned metric": pairs(fair, "unfair")}, {"a learned metric": missed(pairs(cells, "coverage"))}


#: Title of the panel, stored figures, and how to read them.
PANELS = (
    ("Audits of three features", "audit", audits),
    ("Inequality of benefits", "inequality", inequality),
    ("Calibration curves", "calibration", calibration),
    ("Correlations", "validity_correlation", correlations),
    ("Answers to prompts", "prompts", prompts),
    ("Scans of subgroups", "scan", scans),
    ("Two models", "paired", two_models),
    ("Streams, at every look", "sequential", streams),
    ("Given covariates", "adjusted", covariates),
    ("Few labels", "labelled", few_labels),
    ("Unknown groups", "uncertain_groups", unknown_groups),
    ("Audited models, frames", "model_selection", models),
    ("Individual fairness", "individual", individual),
    ("Individual fairness", "individual_evidence", learned),
)


def panels(folder):
    """Return the panels of sizes and those of misses; the first method of each is that of the package."""
    out = ([], [])
    for title, name, figures_of in PANELS:
        path = folder / f"{name}.json"
        for shown, shares in zip(out, figures_of(json.loads(path.read_text())) if path.exists() else (), strict=False):
            rows = [row(method, each, default=method == next(iter(shares))) for method, each in shares.items() if each]
            if rows and shown and shown[-1][0] == title:
                shown[-1][1].extend(rows)
            elif rows:
                shown.append((title, rows))
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
