"""How many small faults do the tests find? ``python -m benchmarks.mutants``.

A mutant is this package with one comparison, boundary, sign, operator or constant changed, drawn by a seed from the
statistics and the reading of people. Each is run against the tests that mirror its folder, those of its module first,
and ``tests/test_common.py``, for 30 seconds of processor time at most. Tests that fail without a mutant are left out.
The counts are written to benchmarks/results/mutants.json; a run that was interrupted goes on where it stopped.
"""

import argparse
import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.common.results import write

SEED, N_MUTANTS, SECONDS = 20261128, 120, 30
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mutants.json"
FOLDERS = (
    "adjusted", "comparisons", "correlation", "group", "inference", "labelled", "metrics", "paired", "planning",
    "readers", "sensitivity", "sequential", "subgroups", "tables", "uncertain_groups",
)  # fmt: skip
OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def spots(tree):
    """Yield each node that can be changed, outside annotations."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                number = isinstance(child, ast.Constant) and type(child.value) in (int, float)
                operator = isinstance(child, (ast.BinOp, ast.BoolOp)) and type(child.op) in OPERATORS
                comparison = isinstance(child, ast.Compare) and type(child.ops[0]) in OPERATORS
                if (
                    number
                    or operator
                    or comparison
                    or (isinstance(child, ast.UnaryOp) and isinstance(child.op, ast.USub))
                ):
                    yield child


def change(node):
    """Change one node of a tree."""
    if isinstance(node, ast.Constant):
        node.value = node.value + 1 if isinstance(node.value, int) else node.value * 1.1
    elif isinstance(node, ast.Compare):
        node.ops[0] = OPERATORS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
    else:
        node.op = OPERATORS[type(node.op)]()


def drawn():
    """Return what is changed: path, and the number of the spot in it."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / "skfairtest" / folder).rglob("*.py"))]
    every = [(path, spot) for path in paths for spot in range(sum(1 for _ in spots(ast.parse(path.read_text()))))]
    chosen = np.random.default_rng(SEED).choice(len(every), N_MUTANTS, replace=False)
    return [every[i] for i in chosen]


def tests(path):
    """Return the arguments of pytest: the module's own tests, then those of its folder, then the common ones."""
    folder = Path("tests") / path.relative_to(ROOT / "skfairtest").parts[0]
    own = folder / f"test_{path.stem.lstrip('_')}.py"
    files = sorted(str(file.relative_to(ROOT)) for file in (ROOT / folder).rglob("test_*.py"))
    return [*sorted(files, key=lambda name: name != str(own)), "tests/test_common.py"]


def run(copy, arguments):
    """Return pytest's exit status, negative if the time was over, and its output."""
    command = [sys.executable, "-m", "pytest", "-v", "-n", "0", "--tb=no", "-rN", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=copy, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(copy)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5)),
    )  # fmt: skip
    return done.returncode, done.stdout


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(argv)
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"mutants": [], "failing": {}}
    rows, failing = stored["mutants"], stored["failing"]
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git"))
        for path, spot in drawn()[len(rows) :]:
            name = str(path.relative_to(ROOT))
            arguments = tests(path)
            key = name.split("/")[1]
            if key not in failing:
                failing[key] = re.findall(r"^(\S.*) (?:FAILED|ERROR) ", run(copy, arguments)[1], re.MULTILINE)
            tree = ast.parse(path.read_text())
            node = list(spots(tree))[spot]
            before = ast.unparse(node)
            change(node)
            (copy / name).write_text(ast.unparse(tree))
            status, said = run(copy, ["-x", *arguments, *(f"--deselect={test}" for test in failing[key])])
            shutil.copy(path, copy / name)
            outcome = "found" if status > 0 else "survived" if status == 0 else "time over"
            by = re.findall(r"^(\S.*) (?:FAILED|ERROR) ", said, re.MULTILINE)
            rows.append(
                {"line": f"{name}:{node.lineno}", "change": f"{before} -> {ast.unparse(node)}", "outcome": outcome}
            )
            print(len(rows), *rows[-1].values(), *by[:1], flush=True)
            counts = dict(Counter(row["outcome"] for row in rows))
            write(RESULTS, "mutants that the tests find", SEED, (), counts=counts, failing=failing, mutants=rows)


if __name__ == "__main__":
    sys.exit(main())
