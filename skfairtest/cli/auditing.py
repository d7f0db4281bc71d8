"""Audits, from people or from the example, to all that is written of them.

From people to the record of an audit, and to everything that is written of it.

The audit of the data that come with the package.
"""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest._utils.text import label, pluralize
from skfairtest.audit import FairnessAudit
from skfairtest.audit.findings import accept, to_junit, to_sarif
from skfairtest.audit.record import AuditRecord
from skfairtest.cli.errors import BadInput, Status, in_terms_of_options, one_line
from skfairtest.cli.files import People, cast_pos_label, cut_where_many, read_people
from skfairtest.cli.many import Counted
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, tell, watched, write_asked, write_out
from skfairtest.cli.source import Source
from skfairtest.datasets import load_compas
from skfairtest.metrics import RATES
from skfairtest.report.document import Block, Heading, Paragraph, first_part, shortened, unfolded
from skfairtest.report.mixin import positive_label
from skfairtest.report.text import to_csv
from skfairtest.subgroups.fairness import SubgroupScan

_REST = "--details shows it here, --html FILE writes a page."
_MORE = "--details shows all of them, --format csv lists them"


Result = TypeVar("Result")


def audited(work: Callable[[], Result]) -> tuple[Result, list[str]]:
    """Run an audit; return it with what the package said meanwhile: each once, and at once, in terms of options."""
    said: dict[str, None] = {}

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # What is undefined is listed under "Left out"; other categories are not about the user's data.
        if not issubclass(category, UserWarning) or issubclass(category, UndefinedMetricWarning):
            return
        line = one_line(in_terms_of_options(message))
        if line not in said:
            said[line] = None
            tell(f"warning: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        result = work()
    return result, list(said)


def tested(asked: Asked, work: Callable[[], Any], frame: Callable[[Any], pd.DataFrame]) -> Status:
    """Test the people of a file, write what is asked for, of which CSV has a frame, and say how the command ends."""
    with watched(asked.no_color):
        found, _ = audited(work)
    reports = {"html": found.to_html, "json": found.to_json, "markdown": found.to_markdown}
    write_asked(asked, lambda _: found._report().blocks, {**reports, "csv": lambda: to_csv(frame(found))})
    return Status.SIGNIFICANT if found.concern_ else Status.DONE


def audited_files(
    source: Source, *, pos_label: str | None, params: Mapping[str, Any], scan: Sequence[str] = ()
) -> tuple[FairnessAudit, Counted | None]:
    """Audit files with the parameters of `FairnessAudit`: one in memory, others by the table of their counts.

    Columns of `scan` are searched for subgroups as well, with the groups' own.
    """
    if not source.is_counted:
        columns = source.columns
        read = (*columns.sensitive, *(name for name in dict.fromkeys(scan) if name not in columns.sensitive))
        people = read_people(source.files[0], replace(columns, sensitive=read))
        return audited_people(people, pos_label=pos_label, params=params, groups=columns.sensitive, scan=scan), None
    if scan:
        raise BadInput(
            "--scan needs a single file that is read into memory: leave out what counts it, or use --sensitive"
        )
    counted = source.counted()
    label_ = None if pos_label is None else cast_pos_label(pos_label, counted.table.labels)
    return FairnessAudit.from_table(counted.table, pos_label=label_, **params), counted


def audited_people(
    people: People, *, pos_label: str | None, params: Mapping[str, Any], groups: Sequence[str], scan: Sequence[str] = ()
) -> FairnessAudit:
    """Audit people with the parameters of `FairnessAudit`: some columns are groups, others are scanned."""
    searched: dict[str, Any] = {}
    if scan:
        own = SubgroupScan(features=list(dict.fromkeys(scan)), confidence_level=params["confidence_level"])
        metrics = params["metrics"]
        if metrics == "standard":
            metrics = "equalized_odds" if people.y_true is not None else "selection_rate"
        searched["scan"] = own.set_params(metric=metrics)
        searched["X"] = {name: cut_where_many(people.sensitive[name], own.n_bins) for name in scan}
    if people.others:
        searched["y_pred_baseline"] = next(iter(people.others.values()))
    return FairnessAudit.from_predictions(
        people.y_true,
        people.y_pred,
        y_score=people.y_score,
        sensitive_features={name: people.sensitive[name] for name in groups},
        control_features=people.control or None,
        sample_weight=people.weight,
        clusters=people.cluster,
        y_judge=people.y_judge,
        label_probability=people.label_probability,
        pos_label=people.pos_label(pos_label),
        **searched,
        **params,
    )


def described(
    record: AuditRecord,
    source: Source,
    said: Sequence[str],
    counted: Counted | None = None,
    *,
    command: str | None = None,
) -> AuditRecord:
    """Say in a record what files it is about and what was typed, and name options where it names parameters."""
    name = label(source.name)
    if record.baseline is not None:
        names = (source.columns.others[0][1], str(source.columns.y_pred))
        record = replace(record, baseline=replace(record.baseline, names=names))
    assert record.provenance is not None
    warned = [one_line(in_terms_of_options(warning)) for warning in record.warnings]  # some of which were said
    return replace(
        record,
        title=f"Fairness audit of {name}",
        subject=name,
        about=(_about(record, source, counted),),
        provenance=replace(record.provenance, command=command),
        not_compared=tuple((names, in_terms_of_options(reason)) for names, reason in record.not_compared),
        warnings=tuple(dict.fromkeys((*warned, *said, *([] if counted is None else counted.warnings)))),
    )


def accepting(result: FairnessAudit, given: Sequence[str] | None) -> None:
    """Accept known findings, each typed as ID=REASON or ID:LIMIT=REASON."""
    known = {name: reason.strip() for name, _, reason in (text.partition("=") for text in given or ())}
    if known:
        result._say(accept(result.record_, known))


def _about(record: AuditRecord, source: Source, counted: Counted | None) -> str:
    columns = source.columns
    decided = "" if source.threshold is None else f" (predictions are 1 from {source.threshold:g} on)"
    roles = {
        "true labels": columns.y_true,
        "predictions": columns.y_pred,
        "scores": columns.y_score,
        "weights": columns.weight,
        "clusters": columns.cluster,
        "a judge's guesses": columns.y_judge,
        "probabilities of labels": columns.label_probability,
    }
    read = ", ".join(f"{role} in {label(name)}" for role, name in roles.items() if name is not None) + decided
    if counted is not None and (source.tables or counted.n_files > 1):
        things = ("table of counts", "tables of counts") if source.tables else ("file", "files")
        read = f"counted in {pluralize(counted.n_files, *things)}" + (f"; {read}" if read else "")
    return " ".join([f"{record.verdict.n_samples:,} people; {read}.", *positive_label(record.verdict.pos_label)])


def written(result: FairnessAudit, asked: Asked) -> None:
    """Write an audit to standard output, or to a file instead, and each report to the file that was named."""
    record = result.record_

    def document(screen: bool) -> list[Block]:
        blocks = list(result._report().blocks)
        if not asked.details:
            return blocks if asked.output is not None else shortened(first_part(blocks, _REST), _MORE)
        blocks = unfolded(blocks)
        if not screen:
            return blocks
        first = next(i for i, block in enumerate(blocks) if isinstance(block, Paragraph) and block.tone != "plain")
        # On a screen the end is what is seen first.
        return [*blocks, Heading("In short"), *blocks[first : first + 2]]

    def csv() -> str:
        left_out = sum(len(part.excluded) for part in record.parts) + len(record.not_compared)
        if left_out:
            things = pluralize(left_out, "entry", "entries")
            tell(f"warning: CSV does not show what was left out ({things}): --format table and json list it")
        return to_csv(result.to_frame())

    makers: dict[str, Callable[[], str | None]] = {
        "csv": csv,
        "html": lambda: result.to_html(details=bool(asked.details)),
        "json": result.to_json,
        "junit": lambda: to_junit(record),
        "sarif": lambda: to_sarif(record),
        "markdown": lambda: result.to_markdown(details=bool(asked.details)),
    }
    write_asked(asked, document, makers)


def check_metrics(metrics: Sequence[str]) -> str | list[str]:
    """The metrics of an audit."""
    if not metrics or list(metrics) == ["standard"]:
        return "standard"
    if "standard" in metrics:
        raise BadInput("--metric standard is a set of metrics: leave out the others, or name all of them")
    return list(metrics)


def resamples(text: str) -> int | str:
    """The number of resamples."""
    if text == "adaptive":
        return text
    try:
        return int(text)
    except ValueError:
        raise BadInput(f"--n-resamples must be a whole number, or adaptive; found {text!r}") from None


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
    result._say(record)
    written(result, Asked(asked.command, format="table", details=asked.details, no_color=asked.no_color))
    if not asked.no_html:
        _write_page(result, asked.html)


def _sources() -> tuple[str, ...]:
    paragraphs = [" ".join(text.split()) for text in load_compas().DESCR.split("\n\n")]
    return tuple(text for text in paragraphs if text.startswith(("Source:", "Caution:", "Reference:")))


def _write_page(result: FairnessAudit, html: str | None) -> None:
    """Write the demo's page: where it was asked for, or else here if that is possible."""
    option, path = ("--html", html) if html is not None else ("the page", _PAGE)
    try:
        check_outputs({option: path})
        write_out(result.to_html() or "", path, option=option)
    except BadInput as error:
        if html is not None:
            raise
        tell(f"warning: {one_line(error)} (--html FILE writes it elsewhere)")
    else:
        write_out(f"\nThe same report as a page for the browser, with drawings: {one_line(os.path.abspath(path))}\n")
