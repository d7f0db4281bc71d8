"""The ``skfairtest`` command, also as ``python -m skfairtest``."""

import sys

_REPORT_EXTRA = frozenset({"click", "filelock", "jinja2", "matplotlib", "pyarrow", "rich", "typer"})
_INSTALL_LINE = 'python -m pip install "skfairtest[report]"'


def main() -> None:
    """Run the command line and exit with its status; 2 where the report extra is missing."""
    try:
        from skfairtest.cli.app import run

        status = run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _REPORT_EXTRA:
            raise
        print(f"skfairtest: {missing} is not installed; run: {_INSTALL_LINE}", file=sys.stderr)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    main()
