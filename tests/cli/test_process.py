"""The command in a process of its own: pipes, terminals, signals."""

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from skfairtest.cli.output import write_out

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-W", "error", "-m", "skfairtest"]
ANSI = re.compile(r"\x1b\[[0-9;]*m")
NAMES = ["[red]x[/red]", "[link=http://e.vil]y[/link]", ":smile:", "a\x1b[31mb", "very long name " * 8 + "end", "plain"]

pty = pytest.importorskip("pty", reason="only Unix has pseudo-terminals")


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **variables}


def piped(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, env=environment(), **options
    )


def on_terminal(*arguments, columns, command=COMMAND, **variables):
    """Run in a pseudo-terminal; return what arrives there, and the exit status."""
    import fcntl
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [*command, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment(**variables)
    )
    os.close(slave)
    received = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not block:
            break
        received += block
    os.close(master)
    return received.decode().replace("\r\n", "\n"), process.wait()


@pytest.fixture
def people(tmp_path):
    rows = [(name, place < 2) for place, name in enumerate(NAMES) for _ in range(12)]
    path = tmp_path / "people.csv"
    pd.DataFrame(rows, columns=["[b]group[/b]", "pred"]).to_csv(path, index=False)
    return path


AUDIT = ["--y-pred", "pred", "--sensitive", "[b]group[/b]", "--metric", "demographic_parity"]


def audit(path):
    return ["audit", str(path), *AUDIT]


@pytest.mark.slow
def test_a_pipe_gets_plain_text_at_any_width(people):
    finished = piped(*audit(people), "--details")
    assert finished.returncode == 1
    assert finished.stderr == ""
    assert "\x1b" not in finished.stdout
    assert not set("─│┃━…") & set(finished.stdout)
    shown = [name.replace("\x1b", r"\x1b") for name in NAMES]
    table = finished.stdout[finished.stdout.index("15 comparisons") :]
    for place, name in enumerate(shown):
        others = [other for other in shown if other != name]
        assert sum(name in line for line in table.splitlines()) >= len(others), place


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 140])
def test_a_terminal_gets_tables_that_fit_and_lose_nothing(people, columns):
    text, status = on_terminal(*audit(people), "--details", columns=columns)
    assert status == 1
    shown = ANSI.sub("", text)
    assert "\x1b" not in shown
    assert [line for line in shown.splitlines() if len(line) > columns] == []
    assert "…" not in shown
    assert r"a\x1b[31mb" in shown
    squeezed = re.sub(r"\s", "", shown)
    for name in ("[red]x[/red]", ":smile:", "plain"):
        assert name in squeezed
    if columns >= 80:
        assert "[link=http://e.vil]y[/link]" in shown
        # Every value and interval of the plain report is there, unbroken.
        numbers = set(re.findall(r"-?\d\.\d{4} to -?\d\.\d{4}", piped(*audit(people), "--details").stdout))
        assert numbers <= set(re.findall(r"-?\d\.\d{4} to -?\d\.\d{4}", shown))


@pytest.mark.slow
def test_colours_are_off_where_nobody_wants_them(people):
    assert "\x1b[1;31m" in on_terminal(*audit(people), columns=80)[0]
    without = on_terminal(*audit(people), columns=80, NO_COLOR="1")[0]
    assert "8 of 15 comparisons show a significant disparity" in " ".join(without.split())
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", without)
    assert "\x1b" not in on_terminal(*audit(people), columns=80, TERM="dumb")[0]


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_is_no_failure(tmp_path):
    path = tmp_path / "p.csv"
    rows = [(f"group {i} " + "x" * 300, i % 2) for i in range(20) for _ in range(4)]
    pd.DataFrame(rows, columns=["[b]group[/b]", "pred"]).to_csv(path, index=False)
    process = subprocess.Popen(
        [*COMMAND, *audit(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 1)
    assert errors == b""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["-h"],
        ["--version"],
        ["audit", "--help"],
        ["power", "--rate", "0.3", "--rate", "0.5"],
        ["audit", "FILE", *AUDIT],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("where", ["a full disk", "nowhere"])
def test_output_that_cannot_be_written_is_2_with_one_line(people, tmp_path, arguments, where):
    named = {"FILE": str(people), "TABLE": str(tmp_path / "table.json")}
    command = [*COMMAND, *(named.get(argument, argument) for argument in arguments)]
    redirected = '"$@" >/dev/full' if where == "a full disk" else '"$@" >&-'
    finished = subprocess.run(
        ["sh", "-c", redirected, "sh", *command], stderr=subprocess.PIPE, text=True, check=False, env=environment()
    )
    assert finished.returncode == 2
    (line,) = finished.stderr.splitlines()
    assert line.startswith(
        "skfairtest: standard output: No space left"
        if where == "a full disk"
        else "skfairtest: standard output is closed"
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("option", ["--html", "--json", "--csv", "--markdown"])
def test_a_file_on_a_full_disk_is_2_and_names_its_option(people, option):
    finished = piped(*audit(people), option, "/dev/full")
    assert finished.returncode == 2
    assert finished.stderr == f"skfairtest: {option} /dev/full: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_the_status_does_not_depend_on_who_reads_the_errors(people, where):
    for arguments, status in ((audit(people), 1), (["audit", "nowhere.csv", *AUDIT], 2)):
        command = ["sh", "-c", f'"$@" {where}', "sh", *COMMAND, *arguments]
        finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment())
        assert finished.returncode == status
        # No error is printed among the results.
        assert bool(finished.stdout) == (status == 1)
        assert "skfairtest: nowhere" not in finished.stdout


@pytest.mark.slow
def test_nobody_has_to_read_the_help_to_its_end():
    reader, writer = os.pipe()
    os.close(reader)
    finished = subprocess.run(
        [*COMMAND, "audit", "--help"], stdout=writer, stderr=subprocess.PIPE, check=False, env=environment()
    )
    os.close(writer)
    assert finished.returncode == 0
    assert finished.stderr == b""


def test_a_closed_pipe_raises_nothing(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        write_out("x" * 100_000)


@pytest.mark.slow
def test_the_demo_is_a_plain_report_with_status_0(tmp_path):
    finished = piped("demo", cwd=tmp_path)
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert "25 of 83 comparisons show a significant disparity, more than chance explains: by race (" in finished.stdout
    assert "\x1b" not in finished.stdout
    assert finished.stdout.rstrip().endswith(str(tmp_path / "skfairtest-demo.html"))
