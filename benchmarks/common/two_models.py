"""The part of doc/validity.md about two models, from the figures of `benchmarks.paired`."""

import json

import numpy as np

from benchmarks.common.cells import ALPHA
from benchmarks.common.tables import folded, number

METHODS = {
    "paired": "paired", "normal": "normal alone", "permuted": "labels permuted", "swapped": "predictions swapped",
    "independent": "two independent tests", "intervals": "two intervals", "verdicts": "two verdicts",
}  # fmt: skip
TEXT = (
    "Model B changes the predictions of model A, and the change of the rate is the same in both groups, so that both "
    "models have equal disparities; or it is larger in one group. `PairedFairnessTest` (paired) is compared with its "
    "score test by the normal distribution alone, with permuted labels, with predictions that are swapped within "
    "people, with the test of two independent samples, with two intervals that do not overlap, and with two verdicts, "
    'of which one is significant. For `alternative="fairer"` the disparity of B is larger in size by the margin. '
    "Figures: `benchmarks/results/{file}`."
)
AREAS = {"paired": "paired", "delong": "DeLong", "score": "counts"}
AREAS_TEXT = (
    "Areas under the ROC curve of {people} people, {data_sets} data sets a design: both models have the area named, or "
    "that of model B is lower in one group. The scores of the smaller group have the shape named, as in the designs of "
    "[one model](scores.md); the scores of the two models are correlated ({correlations} in the two groups). "
    "`PairedFairnessTest` (paired) permutes the groups' labels with DeLong's error of the changes. It is compared with "
    "DeLong's test of the changes, and with a score test of the changes as counts of people whose placements rise, "
    "fall and stay (counts), which is for two models what the default is for one. The permutation rejects too often in "
    "{above} of the {designs} designs. The power of counts, at equal size, differs from its own by {smaller} points "
    "where the smaller group is worse and by {larger} where the larger one is, on average by {mean}: the permutation "
    "stays the default."
)


def exceeds(size, data_sets):
    """Whether a size is more than three Monte-Carlo errors above the level."""
    return size > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / data_sets)


def two_models(folder):
    """Show sizes and powers where they are stored."""
    path = folder / "paired.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())

    def rows(kind, keys):
        return [
            [
                *(", ".join(number(v) if v < 1 else f"{v:,}" for v in row["design"][key]) for key in keys),
                *(number(row["rejected"][method]) for method in METHODS),
            ]
            for row in document[kind]
        ]

    def bounds(row, name):
        return [name, " and ".join(f"{n:,}" for n in row["design"]["people"]), number(row["rejected"]["paired"])]

    head = ["people", "judged differently", "change", *METHODS.values()]
    keys = ["people", "disagreement", "change"]
    fairer = [
        [*bounds(row, "fairer")[1:2], *(", ".join(map(number, row["design"][key])) for key in ("rates_a", "rates_b")),
         number(row["design"]["margin"]), number(row["rejected"]["paired"])]
        for row in document["sizes"]
    ]  # fmt: skip
    return [
        "## Two models", "", TEXT.format(file=path.name), "",
        *folded("Size: equal disparities", head, rows("equal", keys)),
        *folded("Power: different disparities", head, rows("different", keys)),
        *folded("Size of the certificate", ["people", "rates under A", "rates under B", "margin", "certified"], fairer),
        *folded("Size of other metrics", ["metric", "people", "rejected"],
                [bounds(row, row["design"]["metric"]) for row in document["metrics"]]),
        *areas(document["areas"]),
    ]  # fmt: skip


def areas(found):
    """Sizes, and powers at equal size, of tests of changes of areas."""
    keys = ("first_worse", "second_worse")
    gains = [[row["rejected"]["score"][key] - row["rejected"]["paired"][key] for row in found] for key in keys]
    smaller, larger = (f"{100 * min(own):+.0f} to {100 * max(own):+.0f}" for own in gains)
    text = AREAS_TEXT.format(
        people=" and ".join(f"{n:,}" for n in found[0]["design"]["people"]), data_sets=found[0]["data_sets"],
        correlations=" and ".join(f"{r:g}".lstrip("0") for r in found[0]["design"]["correlations"]), designs=len(found),
        above=sum(exceeds(row["rejected"]["paired"]["size"], row["data_sets"]) for row in found),
        smaller=smaller, larger=larger, mean=f"{100 * np.mean(gains):+.0f}",
    )  # fmt: skip
    rows = [
        [
            number(row["design"]["area"]), row["design"]["shape"],
            *(" / ".join(number(row["rejected"][method].get(key)) for method in AREAS) for key in ("size", *keys)),
            number(row["rejected"]["paired"]["warned"]),
        ]
        for row in found
    ]  # fmt: skip
    head = ["area", "smaller group", "size", "power, smaller group worse", "power, larger group worse",
            "rejections with a caution"]  # fmt: skip
    return [text, "", *folded(f"Areas: {' / '.join(AREAS.values())}, powers at equal size", head, rows)]
