"""What the shell offers when the tab key is pressed: metrics, and the columns of the file that was named."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

__all__ = ["columns_of_file", "metrics_of_audit", "metrics_of_power"]


def columns_of_file(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of FILE that begin like this; those that the shell would read otherwise are not offered."""
    from skfairtest.cli.errors import BadInput
    from skfairtest.cli.files import column_names

    # An option that waits for its value ends the reading of arguments: what came before them is left over.
    left_over = [argument for argument in context.args if not argument.startswith("-")]
    path = Path(context.params.get("file") or next(iter(left_over), "")).expanduser()
    try:
        # Of anything but a file (a pipe) what is read here would be missing afterwards.
        names = column_names(str(path)) if path.is_file() else []
    except (BadInput, OSError, RuntimeError, ValueError):
        return []
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and shlex.quote(name) == name]


def metrics_of_audit(incomplete: str) -> list[str]:
    """Offer the metrics of an audit."""
    from skfairtest.metrics import CRITERIA, RATES, SCORES

    return [name for name in ("standard", *RATES, *CRITERIA, *SCORES) if name.startswith(incomplete)]


def metrics_of_power(incomplete: str) -> list[str]:
    """Offer the metrics whose power can be computed."""
    from skfairtest.group.power_plan import AREA, MEANS
    from skfairtest.metrics import CRITERIA, RATES

    return [name for name in (*RATES, *CRITERIA, *MEANS, AREA) if name.startswith(incomplete)]
