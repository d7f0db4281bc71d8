"""Follow the README line by line, as a new user would: every command, then every example.

Run it in a fresh environment, from the project's folder. Shell blocks are run one after the other; Python blocks are
one session with the package that the commands have installed, whose output has to be the one that is shown. A block of
another kind, a command that README must have and has not, and a file that is not written are failures, too. With
``--list`` the steps are only printed.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^([ \t]*)(```+|~~~+)[ \t]*(.*?)[ \t]*\n(.*?)^[ \t]*\2[ \t]*$", re.MULTILINE | re.DOTALL)
#: What README has to say word for word, whatever else it says.
COMMANDS = (
    'python -m pip install ".[report]" && skfairtest demo',
    'python -m pip install ".[test]" && python -m pytest',
)
#: Blocks that are followed, and blocks that are only read.
FOLLOWED, READ = {"sh", "python"}, {"bibtex"}
#: What the commands write.
WRITTEN = ("skfairtest-demo.html", "people.csv", "audit.html")
#: The audit of the README finds something, and says so with its exit status.
AUDIT, CONCERN = "skfairtest audit ", 1
SESSION = """
import doctest, sys
test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "README.md", "README.md", 0)
runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
runner.run(test)
print(f"{runner.tries} examples, {runner.failures} failed")
sys.exit(bool(runner.failures) or not runner.tries)
"""


def steps(readme):
    """Return the kind and the text of every block that is followed."""
    found = []
    for indent, _, kind, text in FENCE.findall(readme):
        if indent or kind not in FOLLOWED | READ:
            sys.exit(f"README has a block that nobody can follow: {kind or 'without a kind'!r}, {text.strip()[:60]!r}")
        if kind in FOLLOWED:
            found.append((kind, text))
    lines = [line for kind, text in found if kind == "sh" for line in text.splitlines()]
    for command in COMMANDS:
        if command not in lines:
            sys.exit(f"README does not say: {command}")
    return found


def run_shell(text):
    """Run a block; every line has to succeed, and an audit to say that there is a concern."""
    *before, last = text.strip().splitlines()
    parts = [("\n".join(before), 0), (last, CONCERN)] if last.startswith(AUDIT) else [(text.strip(), 0)]
    for command, expected in parts:
        print(f"\n=== $ {command}", flush=True)
        started = time.monotonic()
        status = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=ROOT, check=False).returncode
        print(f"--- exit status {status} after {time.monotonic() - started:.0f} s", flush=True)
        if status != expected:
            sys.exit(f"README's command ended with status {status}, not {expected}: {command}")


def run_python(text):
    """Run the examples with the installed package: -P keeps this folder out of the way."""
    print("\n=== README's examples", flush=True)
    if subprocess.run(["python", "-P", "-c", SESSION], input=text, text=True, cwd=ROOT, check=False).returncode:
        sys.exit("README's examples do not say what it says")


def main():
    """Follow every step; the first one that fails ends it."""
    found = steps((ROOT / "README.md").read_text(encoding="utf-8"))
    if "--list" in sys.argv:
        print("\n".join(f"{kind}: {text.strip().splitlines()[0]}" for kind, text in found))
        return
    files = [ROOT / name for name in WRITTEN]
    for file in files:
        file.unlink(missing_ok=True)
    try:
        for kind, text in found:
            if kind == "sh":
                run_shell(text)
        missing = [file.name for file in files if not file.exists()]
        if missing:
            sys.exit(f"README's commands did not write {', '.join(missing)}")
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    run_python("\n".join(text for kind, text in found if kind == "python"))


if __name__ == "__main__":
    main()
