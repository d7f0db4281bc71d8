"""Follow the README line by line, as a new user would: every command and every example, in their order.

Run it in a fresh environment, from the project's folder. Shell blocks are run one after the other; Python blocks are
one session, whose output has to be the one that is shown. With ``--list`` the steps are only printed.
"""

import doctest
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What an audit from the command line says with its exit status: no concern, or a concern.
AUDITED = (0, 1)


def steps(readme):
    """Return the kind and the text of every block that can be followed."""
    return [(kind, text) for kind, text in BLOCK.findall(readme) if kind in ("sh", "python")]


def allowed(command):
    """Return the exit statuses with which a shell block has done what it should."""
    last = command.strip().splitlines()[-1]
    return AUDITED if last.startswith("skfairtest audit ") else (0,)


def run_shell(command):
    """Run a block and return whether it did what it should."""
    started = time.monotonic()
    # "set -e" would take the audit's answer for a failure where it is not the last line.
    status = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, check=False).returncode
    print(f"--- exit status {status} after {time.monotonic() - started:.0f} s", flush=True)
    return status in allowed(command)


def run_python(text):
    """Run the Python blocks as one session, in the environment that the shell blocks have made."""
    code = (
        "import doctest, pathlib, sys\n"
        "test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, 'README.md', 'README.md', 0)\n"
        "runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)\n"
        "runner.run(test)\n"
        "print(f'{runner.tries} examples, {runner.failures} failed')\n"
        "sys.exit(bool(runner.failures) or not runner.tries)\n"
    )
    return subprocess.run(["python", "-c", code], input=text, text=True, cwd=ROOT, check=False).returncode == 0


def main():
    """Follow every step; the first one that fails ends it."""
    found = steps((ROOT / "README.md").read_text(encoding="utf-8"))
    if not found or not any(doctest.DocTestParser().get_examples(text) for kind, text in found if kind == "python"):
        sys.exit("README has nothing to follow")
    if "--list" in sys.argv:
        print("\n".join(f"{kind}: {text.strip().splitlines()[0]}" for kind, text in found))
        return
    for kind, text in found:
        if kind == "sh":
            print(f"\n=== $ {text.strip()}", flush=True)
            if not run_shell(text):
                sys.exit(f"README's command failed: {text.strip()}")
    print("\n=== README's examples", flush=True)
    if not run_python("\n".join(text for kind, text in found if kind == "python")):
        sys.exit("README's examples do not say what it says")


if __name__ == "__main__":
    main()
