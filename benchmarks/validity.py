"""How often each method rejects a fair model, and an unfair one: ``python -m benchmarks.validity``.

Size, power at equal size and coverage of the package's tests, of textbook tests and of other tools on the same data;
the designs are in `_cells`, the methods in `_methods`, `_competitors` and `_families`. Every finished cell is stored at
once in benchmarks/results/validity.json with the parameters, the seed and the versions behind it, and a rerun computes
only what is missing or was run with other parameters. Seeds depend on a cell's name alone.

``--quick`` runs a few cells with few data sets, and quick checks of the benchmarks that have designs of their own
(calibration, inequality, scans, two models, streams, given covariates, uncertain groups, prompts); it stores nothing.
``--only PATTERN`` runs the cells whose name contains the pattern; ``--render`` writes doc/validity.md, its pages by
topic and its drawings from the stored results. The exit status is 1 where a figure breaks a promise of `_bounds`.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks._bounds import promises
from benchmarks._cells import ALPHA, all_cells
from benchmarks._drawings import drawings
from benchmarks._render import render
from benchmarks._results import versions
from benchmarks._run import SEED, p_value_of, run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "validity.json"
DOC = ROOT / "doc"
#: Data sets of a cell in a quick run.
QUICK = 200


def load(path):
    """Return the stored records by cell name."""
    return json.loads(path.read_text())["cells"] if path.exists() else {}


def store(path, records, cells, what="size, power and coverage; see benchmarks/validity.py", seed=SEED):
    """Write the records of the present designs, a line each, in the designs' order; never half a file."""
    path.parent.mkdir(exist_ok=True)
    known = [cell.name for cell in cells if cell.name in records]
    head = {"what": what, "seed": seed, "level": ALPHA}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(records[name])}" for name in known)
    text = "{\n" + "\n".join(lines) + '\n "cells": {\n' + body + "\n }\n}\n"
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    os.replace(partial, path)


def is_finished(cell, records):
    record = records.get(cell.name)
    return (
        record is not None
        and cell.parameters.items() <= record["parameters"].items()
        # What is run by default, and what its p-value is, may have changed.
        and cell.default in record["methods"]
        and record.get("p_value") == p_value_of(cell)
    )


def size_line(cell, figures):
    shares = ((method, figure.get("size", figure.get("power"))) for method, figure in figures["methods"].items())
    sizes = "  ".join(f"{method} {share:.3f}" for method, share in shares)
    return f"{figures['seconds']:6.1f} s  {cell.name}: {sizes}"


def complete(cells, records, keep, processes=1, *, run=run, is_finished=is_finished, line=size_line):
    """Compute what is missing in the records of some cells, `keep` them after each, and say how many were missing."""
    missing = [cell for cell in cells if not is_finished(cell, records)]
    for cell, figures in _computed(missing, processes, run):
        records[cell.name] = {"parameters": cell.parameters, "versions": versions(), **figures}
        keep()
        print(line(cell, figures), flush=True)
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


def neighbours():
    """Yield quick checks of the benchmarks that have designs of their own."""
    from benchmarks import (  # which use this module's cells
        adjusted,
        calibration,
        inequality,
        paired,
        prompts,
        scan,
        sequential,
        uncertain_groups,
    )

    for benchmark in (calibration, inequality, scan, paired, sequential, adjusted, uncertain_groups, prompts):
        started = time.process_time()
        promise = benchmark.quick()
        print(f"{time.process_time() - started:6.1f} s  {benchmark.__name__}", flush=True)
        yield promise


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few cells and data sets, nothing stored")
    parser.add_argument("--only", metavar="PATTERN", default="", help="cells whose name contains this")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--render", action="store_true", help="write doc/validity.md, its pages and drawings")
    options = parser.parse_args(argv)
    everything = all_cells()
    if options.render:
        records = load(RESULTS)
        pages = render(everything, records, RESULTS.parent)
        for name, text in drawings(everything, records).items():
            pages[f"_static/{name}"] = text
        for name, text in pages.items():
            (DOC / name).parent.mkdir(exist_ok=True)
            (DOC / name).write_text(text)
        print(f"Written to {DOC.relative_to(ROOT)}: {', '.join(pages)}.")
        return 0
    chosen = [cell for cell in everything if options.only in cell.name and (cell.quick or not options.quick)]
    if not chosen:
        parser.error(f"no cell is called anything with {options.only!r}")
    started = time.perf_counter()
    if options.quick:
        chosen = [replace(cell, data_sets=min(QUICK, cell.data_sets), denominators=5) for cell in chosen]
        records = {}
    else:
        records = load(RESULTS)
    keep = (lambda: None) if options.quick else partial(store, RESULTS, records, everything)
    missing = complete(chosen, records, keep, options.processes)
    print(f"{missing} of {len(chosen)} cells computed in {time.perf_counter() - started:.0f} s.")
    held = promises(chosen, records, slack=3.0 if options.quick else 0.0)
    return report([*held, *(neighbours() if options.quick and not options.only else ())])


if __name__ == "__main__":
    sys.exit(main())
