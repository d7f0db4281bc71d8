"""Options that several commands share: what can be typed, and what the help says about it."""

from typing import Annotated, Any, Literal

import typer


def option(text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option with its help, what stands for its value, and its flags, if these are not the parameter's name."""
    return typer.Option(*flags, metavar=metavar, help=text, **more)


def level(alpha: float | None) -> float | None:
    """Refuse a significance level that is none."""
    if alpha is not None and not (0 < alpha < 1 and 0 < 1 - alpha < 1):  # a test knows one minus it
        raise typer.BadParameter(f"must lie between 0 and 1, such as 0.05; found {alpha:g}")
    return alpha


def column(text: str) -> Any:
    """An option that names a column."""
    return option(text, "COLUMN")


def output(text: str) -> Any:
    """An option that names a file to write."""
    return option(text, "FILE")


# fmt: off
Files = Annotated[list[str], typer.Argument(metavar="FILES", help="CSV or Parquet files, quoted patterns, or -.")]
YTrue = Annotated[str | None, column("The true labels; some metrics need none.")]
YPred = Annotated[str | None, column("The predictions or decisions.")]
YScore = Annotated[str | None, column("The scores of the positive label.")]
Sensitive = Annotated[list[str], column("The groups. Repeat it for several columns.")]
Control = Annotated[list[str] | None, column("Compare only people with the same value here; repeatable.")]
Weight = Annotated[str | None, column("How many people each row counts for.")]
Cluster = Annotated[str | None, option("Which rows belong together.", "COLUMN", "--cluster", "--clusters")]
Encoding = Annotated[str, option("Of text files: cp1252 (Windows), latin-1, utf-16, ...", "NAME")]
Metrics = Annotated[list[str] | None, option("A metric, see 'skfairtest metrics'; repeatable.", "NAME", "--metric")]
PosLabel = Annotated[str | None, option("The positive label.  [default: 1 of 0 and 1 or -1 and 1; True]", "VALUE")]
Disparity = Annotated[Literal["difference", "ratio", "odds_ratio"], option("How two values are compared.")]
Margin = Annotated[float | None, option("A disparity to tolerate, such as 0.05, or a ratio such as 0.8.", "SIZE")]
Alpha = Annotated[float, option("The significance level of all comparisons together.", "LEVEL", callback=level)]
Adjust = Annotated[Literal["auto", "holm", "bonferroni", "fdr_bh", "none"], option("The adjustment of p-values.")]
Resamples = Annotated[int, option("Resamples, if a p-value is sampled.", "NUMBER")]
Seed = Annotated[int, option("The seed of p-values that are sampled.", "NUMBER")]
Jobs = Annotated[int | None, option("Parallel processes; -1: one per processor.  [default: 1]", "NUMBER")]
Details = Annotated[bool, option("Show every comparison.", None, "--details")]
Html = Annotated[str | None, output("Also write a page for the browser.")]
Json = Annotated[str | None, output("Also write the record, which 'skfairtest report' reads.")]
Csv = Annotated[str | None, output("Also write every comparison as a table.")]
Markdown = Annotated[str | None, output("Also write a section for a model card.")]
JUnit = Annotated[str | None, output("Also write every comparison as a test case, for CI systems.")]
Accept = Annotated[list[str] | None, option("Accept a disparity, by its identifier in --junit.", "ID=REASON")]
NoColor = Annotated[bool, option("No colours, as with NO_COLOR in the environment.", None, "--no-color")]
