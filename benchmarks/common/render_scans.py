"""The sections of calibration curves, of prompts and of scans in doc/validity.md, from their stored results."""

import json

import numpy as np

from benchmarks.common.cells import ALPHA
from benchmarks.common.tables import folded, number
from benchmarks.common.words import (
    CALIBRATION,
    CALIBRATION_READING,
    PROMPTS,
    SCAN,
    SCAN_DISCRETE,
    SCAN_PLANTED,
    SCAN_SPEED,
)

#: Methods of the benchmark of calibration, the package's own first.
CURVES = {
    "kuiper": "**Kuiper**",
    "kolmogorov_smirnov": "Kolmogorov-Smirnov",
    "mean_residual": "mean residual",
    "ten_bins": "ten bins",
    "hosmer_lemeshow": "Hosmer-Lemeshow",
    "binned_error": "binned error",
}

#: Decisions that are turned in a planted subgroup.
FLIPPED = 300


def judged(share, runs, *, fair=True):
    """A share; bold where it is beyond the level by more than three errors."""
    text = number(share)
    return f"**{text}**" if fair and share > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / runs) else text


def calibration(folder):
    """Show the figures of `benchmarks.calibration` where they are."""
    path = folder / "calibration.json"
    if not path.exists():
        return []
    rows = json.loads(path.read_text())["rows"]
    data_sets = sorted({row["data_sets"] for row in rows})
    out = ["## Calibration curves", "",
           CALIBRATION.format(file=path.name, data_sets=f"{data_sets[0]:,} to {data_sets[-1]:,}"), ""]  # fmt: skip
    for question in ("between", "within"):
        chosen = [row for row in rows if row["question"] == question]
        methods = [method for method in CURVES if method in chosen[0]["rejected"]]
        table = [
            [
                row["curve"], f"{row['people']:,}",
                *(
                    judged(row["rejected"][method], row["data_sets"], fair=row["curve"] == "calibrated")
                    for method in methods
                ),
            ]
            for row in chosen
        ]  # fmt: skip
        head = ["second group", "people", *(CURVES[method] for method in methods)]
        out += folded(f"{question.capitalize()}: how often each method rejects", head, table)
    largest = max((row for row in rows if row["question"] == "between"), key=lambda row: row["people"])
    reading = CALIBRATION_READING.format(
        people=f"{largest['people']:,}", bins=f"{100 * largest['rejected']['ten_bins']:.0f}%"
    )
    return [*out, reading, ""]


def prompts(folder):
    """Show the figures of `benchmarks.prompts` where they are."""
    path = folder / "prompts.json"
    if not path.exists():
        return []
    rows = json.loads(path.read_text())["rows"]
    tests = ("answers", "within prompts", "clusters")
    table = [
        [
            row["names"], str(row["prompts"]), str(row["repeats"]), f"{row['effect']:g}",
            *(judged(row["rejected"][test], row["data_sets"]) if test in row["rejected"] else "" for test in tests),
        ]
        for row in rows
    ]  # fmt: skip
    head = ["prompts are asked with", "prompts", "answers to each", "effect varies by", *tests]
    text = PROMPTS.format(file=path.name, data_sets=f"{rows[0]['data_sets']:,}")
    return ["## Answers to prompts", "", text, "", *folded("How often fair models are rejected", head, table)]


def scans(folder):
    """Show the figures of `benchmarks.scan` where they are."""
    path = folder / "scan.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    figures = document["figures"]
    null = {name: found for name, found in figures.items() if name.startswith(("global", "partial", "mean"))}
    rows = [[name, f"{found['runs']:,}", judged(found["false"] / found["runs"], found["runs"])]
            for name, found in null.items()]  # fmt: skip
    runs = " to ".join(f"{n:,}" for n in sorted({found["runs"] for found in null.values()}))
    text = SCAN.format(
        file=path.name, people=f"{document['people']:,}", runs=runs, level=f"{100 * document['level']:g}%"
    )
    out = ["## Scans of subgroups", "", text, "", *folded("False positives of scans", ["", "runs", "share"], rows)]
    permuted, real = (figures.get(f"planted, {name}") for name in ("errors permuted", "predictions as they are"))
    if permuted and real:
        words = {"found": permuted["found"], "runs": permuted["runs"], "as_found": real["found"]}
        others = f"{real['others_reported']:.3g}"
        out += [SCAN_PLANTED.format(**words, flipped=FLIPPED, as_runs=real["runs"], others=others), ""]
    keys = ("people", "hypotheses", "counted_for_the_smallest", "significant", "significant_with_holm")
    rows = [[f"{found[key]:,g}" for key in keys] for found in figures.get("discreteness", [])]
    if rows:
        head = ["people", "hypotheses", "count for the smallest", "significant", "with Holm"]
        out += [SCAN_DISCRETE, "", *folded("Tarone's adjustment", head, rows)]
    keys = ("searched", "max_depth", "tested", "significant", "reported", "cpu_seconds")
    rows = [[f"{found[key]:,}" for key in keys] for found in figures.get("speed", [])]
    if rows:
        head = ["subgroups", "features each", "hypotheses", "significant", "reported", "seconds"]
        out += [SCAN_SPEED, "", *folded("Speed", head, rows)]
    return out
