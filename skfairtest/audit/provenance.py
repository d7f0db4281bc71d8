"""What a record can be traced back to: the data, the model, the call, and who signed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from skfairtest._utils.text import label
from skfairtest.report.schema import Declared, array, either, matching, one_of, text

_NONE = one_of(None)
_HASH = matching(r"sha256:[0-9a-f]{64}", 'a hash such as "sha256:..." with all of its digits')
#: Arguments that stand without a name, by how the audit was called; all others are named.
_FIRST = {"fit": {"y_true": "y"}, "from_predictions": {"y_true": "y_true", "y_pred": "y_pred"}}


#: What a model in production says of the same people.
BASELINE = ("y_pred_baseline", "y_score_baseline")


@dataclass(frozen=True)
class Provenance(Declared):
    """Where the numbers of a record come from.

    Parameters
    ----------
    entry : {"fit", "from_predictions", "from_table"}
        How the audit was called.
    columns : tuple of str
        What was known of the people beside their groups: y_true, y_pred, y_score, sample_weight, clusters, and X where
        a scan looked up further features.
    sensitive, control : tuple of str
        The features that were named.
    data_hash : str
        Of everything tested, whatever the order of the rows.
    model : str or None
        The model and its parameters, where there is one.
    model_hash : str or None
        Of everything that the model holds; None where it cannot be written as bytes.
    command : str or None
        What was typed, where the audit was run from the command line.
    """

    entry: Annotated[str, one_of("fit", "from_predictions", "from_table")]
    columns: Annotated[
        tuple[str, ...], array(one_of("y_true", "y_pred", "y_score", "sample_weight", "clusters", "X", *BASELINE))
    ]
    sensitive: Annotated[tuple[str, ...], array(text, least=1)]
    control: Annotated[tuple[str, ...], array(text)]
    data_hash: Annotated[str, _HASH]
    model: Annotated[str | None, either(_NONE, text)] = None
    model_hash: Annotated[str | None, either(_NONE, _HASH)] = None
    command: Annotated[str | None, either(_NONE, text)] = None


@dataclass(frozen=True)
class Signature(Declared):
    """Who vouches for a record, and since when.

    Parameters
    ----------
    name : str
        Who.
    date : str
        ISO 8601, UTC.
    """

    name: Annotated[str, text]
    date: Annotated[str, text]


@dataclass(frozen=True)
class Accepted(Declared):
    """A known finding, and why it is accepted.

    Parameters
    ----------
    id : str
        The identifier that `skfairtest.audit.findings` gives the comparison.
    reason : str
        Why.
    """

    id: Annotated[str, text]
    reason: Annotated[str, text]


def call_lines(provenance: Provenance | None, parameters: Sequence[str]) -> Iterator[str]:
    """Write the call that made a record, with names that stand for the data.

    Parameters
    ----------
    provenance : Provenance or None
        How it was called; None: unknown, and the parameters are those of the class.
    parameters : sequence of str
        The parameters as they are typed, "method='auto'".
    """
    given = [f"    {parameter}," for parameter in parameters]
    if provenance is None:
        yield from ("FairnessAudit(", *given, ")")
        return
    entry, data = provenance.entry, ["table"] if provenance.entry == "from_table" else list(_data(provenance))
    if entry == "fit":
        yield from ("FairnessAudit(", "    model,", *given, f").fit({', '.join(['X', *data])})")
    else:
        yield from (f"FairnessAudit.{entry}(", *(f"    {argument}," for argument in data), *given, ")")


def _data(provenance: Provenance) -> Iterator[str]:
    first = _FIRST[provenance.entry]
    for name, argument in first.items():
        yield argument if name in provenance.columns else "None"
    for name in ("y_score", "sample_weight", "clusters", "X", *BASELINE):
        # A model is asked for its scores.
        if name in provenance.columns and (name != "y_score" or provenance.entry != "fit"):
            yield f"{name}={name}"
    for role, names in (("sensitive", provenance.sensitive), ("control", provenance.control)):
        if names:
            yield f"{role}_features=data[{label(repr(list(names)))}]"
