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
from benchmarks.make_compas_counts import data_folder
from benchmarks.reproduce._pages import index_page, source_page
from benchmarks.reproduce._pictures import drawings
from benchmarks.reproduce._summary import PAGE, summary_page, with_table

#: In the order of the page that lists them.
SOURCES = (
    "diciccio", "fairlearn_metrics", "hinnefeld", "maity_simulation", "maity_tables", "maity_stopping", "competitors",
    "witness",
)  # fmt: skip
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/reproduce"
PAGES = ROOT / "doc/papers"
STATIC = ROOT / "doc/_static"
README = ROOT / "README.md"


def module_of(name):
    return import_module(f"benchmarks.reproduce.{name}")


def stored(name):
    """Return the stored figures of a source."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def missing(module):
    """Return the raw data sets that a source needs and that are not here."""
    return [file for file in getattr(module, "NEEDS", ()) if not (data_folder() / file).exists()]


def computed(name, quick):
    """Run a source; store what it found unless it is a quick run, and return its rows."""
    module, began = module_of(name), time.perf_counter()
    if quick and missing(module):
        print(f"{name}: SKIPPED, {', '.join(missing(module))} not found: set SKFAIRTEST_DATA to the folder")
        return []
    found = module.run(quick=quick)
    seconds = time.perf_counter() - began
    print(f"{name}: {len(found.rows)} rows in {seconds:.1f} s")
    if not quick:
        figures = {"seconds": round(seconds, 1), "facts": found.facts, "rows": [asdict(row) for row in found.rows]}
        tables = {title: {"head": head, "rows": rows} for title, (head, rows) in found.tables.items()}
        more = {key: getattr(found, key) for key in ("pictures", "data") if getattr(found, key)}
        libraries = getattr(module, "LIBRARIES", ())
        write(RESULTS / f"{name}.json", module.TITLE, module.SEED, libraries, **figures, tables=tables, **more)
    return found.rows


def render():
    """Write the pages, their pictures and the table of README from the stored figures."""
    PAGES.mkdir(exist_ok=True)
    documents = {name: stored(name) for name in SOURCES}
    for name, document in documents.items():
        (PAGES / f"{name}.md").write_text(source_page(module_of(name), name, document))
        for file, text in drawings(module_of(name), name, document).items():
            (STATIC / file).write_text(text)
    (PAGES / "index.md").write_text(index_page(documents))
    (PAGES / f"{PAGE}.md").write_text(summary_page(documents, {name: module_of(name) for name in SOURCES}))
    README.write_text(with_table(README.read_text(), documents))


def wrong(rows):
    return [row for row in rows if not row.agrees and not row.explained]


def chosen(name):
    """Return the sources of a name: all, one, or those of a paper that has several."""
    return [source for source in SOURCES if name in ("all", source) or source.startswith(f"{name}_")]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__.splitlines()[0])
    papers = dict.fromkeys(source.partition("_")[0] for source in SOURCES)
    parser.add_argument("name", choices=list(dict.fromkeys(["all", *papers, *SOURCES])), help="the source")
    parser.add_argument("--quick", action="store_true", help="less of it, nothing written: bounds are checked")
    parser.add_argument("--render", action="store_true", help="write the pages from what is stored")
    options = parser.parse_args(argv)
    names = chosen(options.name)
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
