"""What the shell offers when the tab key is pressed: metrics, and the columns of the file that was named.

The answer is waited for, so nothing here imports NumPy or anything that does, unless the file is a Parquet file.
"""

from __future__ import annotations

import ast
import os
import shlex
from glob import iglob
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from skfairtest.cli.errors import BadInput
from skfairtest.cli.header import UTF_8, check_encoding, column_names


def columns_of_file(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the first file that begin like this, but none that the shell would read otherwise."""
    # An option that waits for its value ends the reading of arguments: what came before them is left over.
    left_over = [argument for argument in context.args if not argument.startswith("-")]
    files = [*(context.params.get("files") or ()), context.params.get("file")]
    named = next(filter(None, [*files, *left_over]), "")
    try:
        matching = named if os.path.lexists(named) else next(iglob(named, recursive=True), named)
        path = Path(matching).expanduser()
        # Of anything but a file (a pipe) what is read here would be missing afterwards.
        names = column_names(str(path), _encoding(context)) if path.is_file() else []
    except (BadInput, OSError, RuntimeError, ValueError):
        return []
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and shlex.quote(name) == name]


def _encoding(context: typer.Context) -> str:
    return check_encoding(context.params.get("encoding") or UTF_8)


def metrics_of_audit(incomplete: str) -> list[str]:
    """Offer the metrics of an audit."""
    tables = (_declared("metrics/rates", "RATES", "CRITERIA"), _declared("metrics/scores", "SCORES"))
    return [name for name in ("standard", *chain(*tables)) if name.startswith(incomplete)]


def metrics_of_power(incomplete: str) -> list[str]:
    """Offer the metrics whose power can be computed."""
    tables = (_declared("metrics/rates", "RATES", "CRITERIA"), _declared("planning/plan", "MEANS", "AREA"))
    return [name for name in chain(*tables) if name.startswith(incomplete)]


def _declared(module: str, *tables: str) -> list[str]:
    """Read the names of metrics where they are declared, without importing the module.

    A table is a name, a tuple of names, a dict by name, or a dict of what some calls make; the first argument of each
    call is the name.
    """
    source = Path(__file__).parents[1].joinpath(f"{module}.py").read_text(encoding="utf-8")
    values: dict[str, ast.expr] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values |= {ast.unparse(target): node.value for target in targets}
    return [ast.literal_eval(name) for table in tables for name in _names(values[table])]


def _names(table: ast.expr) -> list[Any]:
    match table:
        case ast.Dict(keys=names) | ast.Tuple(elts=names):
            return names
        case ast.DictComp(generators=[ast.comprehension(iter=ast.Tuple(elts=made))]):
            return [call.args[0] for call in made if isinstance(call, ast.Call)]
    return [table]
