"""The audit of the data that come with the package."""

from __future__ import annotations

import os
from dataclasses import replace

from skfairtest.audit import FairnessAudit
from skfairtest.audit.record import AuditRecord
from skfairtest.audit.report import audit_document
from skfairtest.cli.auditing import audited, written
from skfairtest.cli.errors import BadInput, one_line
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, tell, watched, write_out
from skfairtest.datasets import load_compas
from skfairtest.metrics import RATES
from skfairtest.report.html import page

_PAGE = "skfairtest-demo.html"


def demonstrate(asked: Asked) -> None:
    """Audit the COMPAS data, and write the report to standard output and as a page.

    The page is written where it was asked for; by default into the current folder, if that is possible.
    """
    rated, again = "were rated a medium or high risk", "people who were charged again within two years"
    charged = again.removeprefix("people who ")
    metrics = [
        replace(RATES["false_positive_rate"], happens=rated, among=again.replace("were", "were not")),
        replace(RATES["true_positive_rate"], happens=rated, among=again),
        replace(RATES["precision"], happens=charged, among=f"people who {rated}"),
    ]
    with watched(asked.no_color):
        table = load_compas(as_table=True).regroup(["race", "sex"])
        result, _ = audited(lambda: FairnessAudit.from_table(table, metrics=metrics, favorable=False, random_state=0))
    record = replace(
        result.record_,
        title="Does COMPAS treat groups alike?",
        subject="COMPAS, Broward County, Florida",
        about=(
            f"{result.n_samples_:,} people in Broward County, Florida, whom COMPAS scored for the risk of being "
            "charged again. Prediction: a medium or high risk (a score of 5 to 10). Truth: a new charge within "
            "two years. If errors fall on all groups alike, the rates below are the same in every group.",
        ),
        sources=_sources(),
    )
    written(record, result, Asked(asked.command, format="table", details=asked.details, no_color=asked.no_color))
    if not asked.no_html:
        _write_page(record, asked.html)


def _sources() -> tuple[str, ...]:
    paragraphs = [" ".join(text.split()) for text in load_compas().DESCR.split("\n\n")]
    return tuple(text for text in paragraphs if text.startswith(("Source:", "Caution:", "Reference:")))


def _write_page(record: AuditRecord, html: str | None) -> None:
    """Write the demo's page: where it was asked for, or else here if that is possible."""
    option, path = ("--html", html) if html is not None else ("the page", _PAGE)
    try:
        check_outputs({option: path})
        write_out(page(audit_document(record)), path, option=option)
    except BadInput as error:
        if html is not None:
            raise
        tell(f"warning: {one_line(error)} (--html FILE writes it elsewhere)")
    else:
        write_out(f"\nThe same report as a page for the browser, with drawings: {one_line(os.path.abspath(path))}\n")
