"""Options that several commands share.

A command's parameters have the names that the package gives them, so that errors can name the option.
"""

import glob
import os
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from skfairtest.cli.errors import BadInput


def option(text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option with its help, what stands for its value, and its flags, if these are not the parameter's name."""
    return typer.Option(*flags, metavar=metavar, help=text, **more)


def column(text: str, *flags: str) -> Any:
    """An option that names a column."""
    return option(text, "COLUMN", *flags)


def output(text: str) -> Any:
    """An option that names a file to write."""
    return option(text, "FILE")


def level(alpha: float | None) -> float | None:
    """Refuse an invalid significance level."""
    if alpha is not None and not (0 < alpha < 1 and 0 < 1 - alpha < 1):  # a test knows one minus it
        raise typer.BadParameter(f"must lie between 0 and 1, such as 0.05; found {alpha:g}")
    return alpha


def files_of(patterns: Sequence[str]) -> list[str]:
    """The files that names and patterns stand for, each once, in the order of their names."""
    files: dict[str, str] = {}
    for pattern in patterns:
        matching = [pattern]
        if pattern != "-" and not os.path.lexists(pattern) and glob.has_magic(pattern):
            matching = [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
            if not matching:
                raise BadInput(f"{pattern}: no file matches this pattern (** matches folders within folders)")
        files.update((os.path.realpath(path), path) for path in matching)
    return sorted(files.values())


def columns(context: typer.Context) -> dict[str, Any]:
    """The columns that were named, by the parameter."""
    return {each.name: context.params[each.name] for each in context.command.params if each.metavar == "COLUMN"}


def outputs(context: typer.Context) -> dict[str, str | None]:
    """The file to write for each option that names one, by the parameter."""
    return {each.name: context.params[each.name] for each in context.command.params if each.metavar == "FILE"}


def settings(context: typer.Context, names: str) -> dict[str, Any]:
    """The values of options that are parameters of the package as they are."""
    return {name: context.params[name] for name in names.split()}


def reasons(accepted: Sequence[str] | None) -> dict[str, str]:
    """The reason by the identifier, each typed as ID=REASON."""
    return {name: reason.strip() for name, _, reason in (text.partition("=") for text in accepted or ())}


# fmt: off
Files = Annotated[
    list[str], typer.Argument(metavar="FILES", help="CSV or Parquet files, quoted patterns, or -.", callback=files_of)
]
YTrue = Annotated[str | None, column("The true labels; some metrics need none.")]
YPred = Annotated[str | None, column("The predictions or decisions.")]
YScore = Annotated[str | None, column("The scores of the positive label.")]
Sensitive = Annotated[list[str], column("The groups. Repeat it for several columns.", "--sensitive")]
Control = Annotated[list[str] | None, column("Compare only people with the same value here; repeatable.", "--control")]
Weight = Annotated[str | None, column("How many people each row counts for.", "--weight")]
Cluster = Annotated[str | None, column("Which rows belong together.", "--cluster", "--clusters")]
Encoding = Annotated[str, option("Of text files: cp1252 (Windows), latin-1, utf-16, ...", "NAME")]
Metrics = Annotated[list[str] | None, option("A metric, see 'skfairtest metrics'; repeatable.", "NAME", "--metric")]
PosLabel = Annotated[str | None, option("The positive label.  [default: 1 of 0 and 1 or -1 and 1; True]", "VALUE")]
Disparity = Annotated[Literal["difference", "ratio", "odds_ratio"], option("How two values are compared.")]
Margin = Annotated[float | None, option("A disparity to tolerate, such as 0.05, or a ratio such as 0.8.", "SIZE")]
Alpha = Annotated[float, option("The significance level of all comparisons together.", "LEVEL", callback=level)]
Adjust = Annotated[
    Literal["auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", "none"],
    option("The adjustment of p-values.", callback=lambda adjust: None if adjust == "none" else adjust),
]
Resamples = Annotated[int, option("Resamples, if a p-value is sampled.", "NUMBER")]
Seed = Annotated[int, option("The seed of p-values that are sampled.", "NUMBER", "--seed")]
Jobs = Annotated[int | None, option("Parallel processes; -1: one per processor.  [default: 1]", "NUMBER", "--jobs")]
Details = Annotated[bool, option("Show every comparison.", None, "--details")]
Html = Annotated[str | None, output("Also write a page for the browser.")]
Json = Annotated[str | None, output("Also write the record, which 'skfairtest report' reads.")]
Csv = Annotated[str | None, output("Also write every comparison as a table.")]
Markdown = Annotated[str | None, output("Also write a section for a model card.")]
JUnit = Annotated[str | None, output("Also write every comparison as a test case, for CI systems.")]
Accept = Annotated[list[str] | None, option("Accept a disparity, by its identifier in --junit.", "ID=REASON")]
