"""The part of doc/validity.md about two models, from the figures of `benchmarks.paired`."""

import json

from benchmarks._tables import folded, number

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
    ]  # fmt: skip
