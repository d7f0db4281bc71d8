"""What a test's rates read, and what its sentences need to know: the same for one test and for an audit of several."""

from __future__ import annotations

from collections.abc import Sequence

from skfairtest.group._settings import Settings
from skfairtest.metrics import Rate
from skfairtest.report.words import Facts
from skfairtest.tables import CountTable


def cells_read(rates: Sequence[Rate], settings: Settings) -> set[str]:
    """Return which of ``y_true`` and ``y_pred`` the rates, or the place where labels are permuted, read."""
    reads = {name for rate in rates for name in rate.reads}
    return reads | ({settings.within} if settings.within in ("y_true", "y_pred") else set())


def with_cells(table: CountTable, needed: set[str]) -> CountTable:
    """Return the table with no other cells than those that are read."""
    if set(table.cell_names) == needed:
        return table
    return table.marginal([name for name in table.cell_names if name in needed])


def facts_of(table: CountTable, rates: Sequence[Rate], settings: Settings) -> Facts:
    """Collect what sentences say about how a table was tested."""
    question = settings.question
    return Facts(
        compare=settings.compare,
        disparity=question.disparity,
        alternative=question.alternative,
        edges=question.edges,
        alpha=settings.alpha,
        features=" x ".join(table.sensitive_names),
        controls=" x ".join(table.control_names),
        words={rate.name: (rate.happens, rate.among) for rate in rates},
        functions=frozenset(rate.name for rate in rates if rate.value is not None),
        adjust=settings.adjust,
        within=settings.within if question.method == "permutation" else "auto",
    )
