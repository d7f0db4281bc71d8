"""The record of an audit as plain rows, for tests that compare or freeze all of it."""

from dataclasses import fields, is_dataclass

import pandas as pd

from skfairtest import FairnessAudit
from skfairtest.report.cells import oriented, records
from skfairtest.report.plain import plain_rows, plain_value
from skfairtest.report.sentences import finding_sentence


def plain_record(made):
    """Return what an audit, its record or its JSON holds, as JSON has it; comparisons with their sentences."""
    if isinstance(made, str | bytes):
        made = FairnessAudit.from_json(made)
    record = getattr(made, "record_", made)
    found = _plain(record)
    names = ("concern", "p_value", "p_value_interval", "alpha", "adjust", "n_samples", "n_comparisons", "n_found")
    derived = {"concern": record.n_found > 0, "alpha": round(record.setup.alpha, 12), "adjust": record.setup.adjust}
    known = {name: getattr(record, name, None) for name in (*names, "pos_label", "negative_labels")} | derived
    found["verdict"] = {**_plain(known), "sentence": record.sentence}
    found["not_compared"] = [{"sensitive": names, "reason": reason} for names, reason in record.not_compared]
    for part, rows in zip(record.parts, found["parts"], strict=True):
        for row, shown in zip(rows["comparisons"], records(oriented(part.setup, part.comparisons)), strict=True):
            row["sentence"] = finding_sentence(part.setup, shown)
    return found


def _plain(value):
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, pd.DataFrame):
        return plain_rows(value.astype(object).where(value.notna(), None))
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return plain_value(value)
