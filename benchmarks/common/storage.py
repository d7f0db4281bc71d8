"""Records of cells: computed where they are missing, stored by name, and whether promises hold."""

import json
import os
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.common.cells import ALPHA, SEED
from benchmarks.common.results import versions
from benchmarks.common.run import run

ROOT = Path(__file__).parents[2]
DOC = ROOT / "doc"
RESULTS = ROOT / "benchmarks" / "results" / "validity.json"
WHAT = (
    "size, power and coverage; see benchmarks/validity.py. Figures of benchmarks/designs of 2026-11-27 and before have "
    "other seeds"
)


def load(path):
    """Return the stored records by cell name."""
    return json.loads(path.read_text())["cells"] if path.exists() else {}


def store(path, records, cells, what=WHAT, seed=SEED):
    """Write the records of the present designs, a line each, in the designs' order; never half a file."""
    path.parent.mkdir(exist_ok=True)
    earlier = json.loads(path.read_text())["versions"] if path.exists() else []
    known = earlier if versions() in earlier else [*earlier, versions()]
    head = {"what": what, "seed": seed, "level": ALPHA, "versions": known}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    body = [
        f"{json.dumps(cell.name)}: {json.dumps(records[cell.name], separators=(',', ':'))}"
        for cell in cells
        if cell.name in records
    ]
    partial = path.with_suffix(".partial")
    partial.write_text("\n".join(["{", *lines, '"cells": {', ",\n".join(body), "}", "}", ""]))
    os.replace(partial, path)


def digest(cell):
    """Return eight digits that change with the parameters of a cell."""
    return f"{zlib.crc32(json.dumps(cell.parameters, sort_keys=True).encode()):08x}"


def is_finished(cell, records):
    return cell.name in records and records[cell.name]["design"] == digest(cell)


def size_line(cell, figures):
    shares = ((method, next(iter(figure.values()))) for method, figure in figures["methods"].items())
    sizes = "  ".join(f"{method} {share:.3f}" for method, share in shares)
    return f"{figures['seconds']:6.1f} s  {cell.name}: {sizes}"


def complete(cells, records, keep, processes=1, *, run=run, line=size_line):
    """Compute what is missing in the records of some cells, `keep` them after each, and say how many were missing."""
    missing = [cell for cell in cells if not is_finished(cell, records)]
    for cell, figures in _computed(missing, processes, run):
        print(line(cell, figures), flush=True)
        records[cell.name] = {"design": digest(cell), **figures}
        del records[cell.name]["seconds"]
        keep()
    return len(missing)


def _computed(cells, processes, run):
    """Yield (cell, its figures) as they are finished."""
    if processes == 1:
        for cell in cells:
            yield cell, run(cell)
        return
    with ProcessPoolExecutor(processes) as pool:
        waiting = {pool.submit(run, cell): cell for cell in cells}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def report(found):
    """Print whether the promises hold; return the exit status."""
    for promise in found:
        print(f"{promise.checked - len(promise.broken)} of {promise.checked} hold: {promise.says}")
    broken = [f"{promise.says}\n  {where}" for promise in found for where in promise.broken]
    for words in broken:
        print(f"FAILED {words}", file=sys.stderr)
    return 1 if broken else 0
