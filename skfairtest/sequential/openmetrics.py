"""What is known of a stream, as the text that Prometheus and other collectors of OpenMetrics read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skfairtest._utils.text import label

if TYPE_CHECKING:
    from skfairtest.sequential.fairness import SequentialFairnessTest

#: Gauges of the whole stream, and of each comparison, by the attribute or column that they show.
STREAM = {
    "p_value": "Anytime-valid p-value of the stream so far.",
    "e_value": "Evidence against fairness now.",
    "concern": "1 from the first significant disparity on.",
    "changed": "1 from the first alarm of the change detector on.",
    "n_batches": "Batches that were taken in.",
    "n_samples": "Samples that were taken in.",
}
COMPARISON = {
    "disparity": "Value of the group minus that of the other.",
    "ci_low": "Lower limit of the disparity, valid at every look.",
    "ci_high": "Upper limit of the disparity, valid at every look.",
    "p_value_adjusted": "Anytime-valid p-value, adjusted for all comparisons.",
}


def open_metrics(test: SequentialFairnessTest) -> str:
    """Write a fitted test of a stream as gauges.

    Parameters
    ----------
    test : SequentialFairnessTest
        The fitted test.

    Returns
    -------
    str
        OpenMetrics 1.0: ``skfairtest_p_value`` and others of the stream, ``skfairtest_comparison_disparity`` and others
        of each comparison, which have the labels ``metric``, ``group`` and ``other``.
    """
    return "\n".join([*_lines(test), "# EOF", ""])


def _lines(test: SequentialFairnessTest) -> Iterator[str]:
    for name, says in STREAM.items():
        yield from _head(f"skfairtest_{name}", says)
        yield f"skfairtest_{name} {_number(getattr(test, f'{name}_'))}"
    rows = test.comparisons_.to_dict("records")
    for name, says in COMPARISON.items():
        yield from _head(f"skfairtest_comparison_{name}", says)
        for row in rows:
            given = ",".join(f'{key}="{_escaped(label(row[key]))}"' for key in ("metric", "group", "other"))
            yield f"skfairtest_comparison_{name}{{{given}}} {_number(row[name])}"


def _head(name: str, says: str) -> tuple[str, str]:
    return f"# TYPE {name} gauge", f"# HELP {name} {says}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return f"{number:+}".replace("inf", "Inf") if math.isinf(number) else repr(number)
