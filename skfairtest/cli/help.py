"""How the help is laid out: options under headings, examples at the end, and written as any other output."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from skfairtest.cli.output import write_out

_OTHERS = "Other options"


def _written(option: Any) -> Any:
    """Return the option of help whose text is written as any other output: a full disk is an error in one line."""
    if option is not None:
        option.callback = _show
    return option


def _show(context: Any, _: Any, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        write_out(context.get_help() + "\n")
        context.exit()


class Command(TyperCommand):
    """A command whose options stand under the headings that they name."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        return _written(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The text to type, without braces around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options, in the order in which they are declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            name = str(parameter.metavar) if is_argument else record[0]
            heading = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or _OTHERS
            sections.setdefault(heading, []).append((name, record[1]))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what comes last, whose headings stand where the others do."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog)


class Commands(TyperGroup):
    """The program, which shows its commands before its options."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        return _written(super().get_help_option(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        rows = [record for parameter in self.get_params(ctx) if (record := parameter.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(rows)
