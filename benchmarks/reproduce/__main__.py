"""Recompute the published results of the sources: python -m benchmarks.reproduce NAME [--quick].

Each run stores its figures with seed, versions and run time, and writes the page of the documentation that shows them.
--quick computes less, writes nothing and checks that ours are as near to the published ones as they have to be.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks._results import write
from benchmarks.reproduce._pages import index_page, source_page

#: In the order of the page that lists them.
SOURCES = ("fairlearn_metrics", "hinnefeld", "competitors", "witness")
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/reproduce"
PAGES = ROOT / "doc/papers"


def module_of(name):
    return import_module(f"benchmarks.reproduce.{name}")


def stored(name):
    """Return the stored figures of a source."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def computed(name, quick):
    """Run a source; store what it found unless it is a quick run, and return its rows."""
    module, began = module_of(name), time.perf_counter()
    found = module.run(quick=quick)
    seconds = time.perf_counter() - began
    print(f"{name}: {len(found.rows)} rows in {seconds:.1f} s")
    if not quick:
        figures = {"seconds": round(seconds, 1), "facts": found.facts, "rows": [asdict(row) for row in found.rows]}
        tables = {title: {"head": head, "rows": rows} for title, (head, rows) in found.tables.items()}
        write(RESULTS / f"{name}.json", module.TITLE, module.SEED, **figures, tables=tables)
    return found.rows


def render():
    """Write the pages from the stored figures."""
    PAGES.mkdir(exist_ok=True)
    documents = {name: stored(name) for name in SOURCES}
    for name, document in documents.items():
        (PAGES / f"{name}.md").write_text(source_page(module_of(name), name, document))
    (PAGES / "index.md").write_text(index_page(documents))


def wrong(rows):
    return [row for row in rows if not row.agrees]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=["all", *SOURCES], help="the source")
    parser.add_argument("--quick", action="store_true", help="less of it, nothing written: bounds are checked")
    parser.add_argument("--render", action="store_true", help="write the pages from what is stored")
    options = parser.parse_args(argv)
    names = SOURCES if options.name == "all" else (options.name,)
    if not options.render:
        failed = {name: wrong(computed(name, options.quick)) for name in names}
        for name, rows in failed.items():
            for row in rows:
                print(f"{name}: {row.what}: published {row.published}, ours {row.ours}, allowed {row.within}")
        if any(failed.values()):
            return 1
    if not options.quick:
        render()
    return 0


if __name__ == "__main__":
    sys.exit(main())
