"""How often each method rejects a fair model, and an unfair one: ``python -m benchmarks.validity``.

Size, power at equal size and coverage of the package's tests, of textbook tests and of other tools on the same data;
the designs are in `cells`, the methods in `methods`, `competitors` and `families`. Kinds of test that have data and
questions of their own have their designs in `benchmarks.designs`. Every finished cell is stored at
once in benchmarks/results/validity.json with a digest of its parameters, and a rerun computes only what is missing or
was run with other parameters. The file has the seed and the versions. Seeds depend on a cell's name alone.

``--quick`` runs a few cells with few data sets, and stores nothing.
``--only PATTERN`` runs the cells whose name contains the pattern; ``--render`` writes doc/validity.md and its drawings
from the stored results. The exit status is 1 where a figure breaks a promise of
`benchmarks.common.bounds`.
"""

import argparse
import sys
import time
from dataclasses import replace
from functools import partial

from benchmarks.common.bounds import promises, promises_of_designs
from benchmarks.common.cells import all_cells
from benchmarks.common.render import render
from benchmarks.common.storage import DOC, RESULTS, ROOT, complete, load, report, store
from benchmarks.designs import DESIGNS

#: Data sets of a cell in a quick run.
QUICK = 200


def fewer(cell):
    """Return the cell with fewer data sets; designs say themselves how many."""
    if hasattr(cell, "broken"):
        return replace(cell, data_sets=cell.quick)
    return replace(cell, data_sets=min(QUICK, cell.data_sets), denominators=5)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few cells and data sets, nothing stored")
    parser.add_argument("--only", metavar="PATTERN", default="", help="cells whose name contains this")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--render", action="store_true", help="write doc/validity.md and its drawings")
    options = parser.parse_args(argv)
    everything = (*all_cells(), *DESIGNS)
    if options.render:
        records = load(RESULTS)
        pages = render(all_cells(), DESIGNS, records, RESULTS.parent)
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
        chosen = [fewer(cell) for cell in chosen]
        records = {}
    else:
        records = load(RESULTS)
    keep = (lambda: None) if options.quick else partial(store, RESULTS, records, everything)
    missing = complete(chosen, records, keep, options.processes)
    print(f"{missing} of {len(chosen)} cells computed in {time.perf_counter() - started:.0f} s.")
    held = promises(
        [cell for cell in chosen if not hasattr(cell, "broken")], records, slack=3.0 if options.quick else 0
    )
    return report([*held, *promises_of_designs([cell for cell in chosen if hasattr(cell, "broken")], records)])


if __name__ == "__main__":
    sys.exit(main())
