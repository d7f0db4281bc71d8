"""The skeleton of a report, which every kind of test fills in.

Every kind says the same things in the same order: the verdict, what was found (sentences and the figure), the null
hypothesis, the tables, what was left out, and notes. A kind has a module ``report`` in its own folder, with a function
that takes the fitted test and fills the skeleton in. Its tables are lists of declared columns (`document.Column`: a
heading, what it shows of a row, how it is laid out); those that kinds share stand in `cells`. Its figures are data
(`plots`), which pages and displays draw. How a document looks is none of its business: that is for the writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from skfairtest.report.cells import excluded_table
from skfairtest.report.document import Block, Figure, Heading, Items, Paragraph, Table
from skfairtest.report.sentences import p_text


def skeleton(
    verdict: Block,
    *,
    found: Iterable[Block] = (),
    null: Sequence[str],
    heading: str = "Null hypothesis",
    tables: Iterable[Block] = (),
    excluded: pd.DataFrame | None = None,
    notes: Iterable[str] = (),
) -> list[Block]:
    """Compose the report of a test.

    Parameters
    ----------
    verdict : Block
        The first sentence.
    found : iterable of Block
        What was found: further sentences, and the figure.
    null : sequence of str
        The null hypotheses.
    heading : str
        What stands above them.
    tables : iterable of Block
        The tables, with what is said of them.
    excluded : DataFrame, optional
        What was left out, and why.
    notes : iterable of str
        What explains the tables.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    left_out = [excluded_table(excluded, "Left out")] if excluded is not None and len(excluded) else []
    return [verdict, *found, *listed(heading, null), *tables, *left_out, *lines(notes)]


def verdict_of(said: str, concern: bool) -> Paragraph:
    """Return the verdict in its tone."""
    return Paragraph(said, "concern" if concern else "fine")


#: How a p-value is repeated that is sampled.
SEED = "Without a random_state it differs from run to run: random_state=0 repeats it."


def sections(blocks: Sequence[Block], title: str = "Verdict", details: str = "In detail") -> list[Block]:
    """Divide a report: the verdict and what is said of it, then, from the first figure or table on, the details."""
    first = next((place for place, block in enumerate(blocks) if isinstance(block, Figure | Table)), len(blocks))
    return [Heading(title), *blocks[:first], *([Heading(details), *blocks[first:]] if blocks[first:] else [])]


def lines(said: Iterable[str]) -> list[Block]:
    """Return a paragraph of sentences, a line each; none of no sentences."""
    text = "\n".join(said)
    return [Paragraph(text)] if text else []


def listed(title: str, said: Sequence[str], few: int | None = None) -> list[Block]:
    """Return the points of a list below their heading; nothing where there are none."""
    return [Heading(title, 3), Items(tuple(said), few)] if said else []


def sampling_error(limits: tuple[float, float]) -> list[str]:
    """Say between which limits the p-value lies, if it was sampled."""
    if limits[0] == limits[1]:
        return []
    low, high = (p_text(bound) if bound else "0" for bound in limits)
    return [f"With infinitely many resamples, the p-value would lie between {low} and {high} (95% limits). {SEED}"]
