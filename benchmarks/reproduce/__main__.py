"""Recompute the published results of the sources: python -m benchmarks.reproduce NAME [--quick].

Each run stores its figures with seed, versions and run time, and writes the page of the documentation that shows them.
--quick computes less, writes nothing and checks that ours are as near to the published ones as they have to be.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, fields
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.common.results import write
from benchmarks.make_compas_counts import data_folder
from benchmarks.reproduce._expected import REPRODUCED, agrees, verdicts
from benchmarks.reproduce._pages import INVENTORY, index_page, inventory_file, source_page, with_words
from benchmarks.reproduce._pictures import drawings
from benchmarks.reproduce._rows import Row

#: The pages: their titles, and the computations on each.
PAPERS = {
    "diciccio": ("DiCiccio et al. (2020): permutation tests of fairness", ("diciccio",)),
    "fairlearn": ("fairlearn: common fairness metrics", ("fairlearn_metrics",)),
    "hinnefeld": ("Hinnefeld et al. (2018): fairness metrics and dataset bias", ("hinnefeld",)),
    "maity": (
        "Maity et al. (2021): statistical inference for individual fairness",
        ("maity_simulation", "maity_tables"),
    ),
}
SOURCES = tuple(source for _, sources in PAPERS.values() for source in sources)
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/reproduce"
PAGES = ROOT / "doc/papers"
STATIC = ROOT / "doc/_static"
#: How many Monte-Carlo errors the numbers of a run may be off.
CHECKED = 3
README = ROOT / "README.md"


def module_of(name):
    return import_module(f"benchmarks.reproduce.{name}")


def stored(name):
    """Return the stored figures of a source."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def computed(name, quick, part=None):
    """Run a source, or one part of it and take the others as they are stored.

    What it found is stored unless it is a quick run; its rows are returned.
    """
    module, began = module_of(name), time.perf_counter()
    absent = [file for file in getattr(module, "NEEDS", ()) if not (data_folder() / file).exists()]
    if quick and absent:
        print(f"{name}: SKIPPED, {', '.join(absent)} not found: set SKFAIRTEST_DATA to the folder")
        return []
    kept = {key: value for key, value in stored(name)["data"].items() if key != part} if part else {}
    found = module.run(quick=quick, **({"kept": kept} if part else {}))
    seconds = time.perf_counter() - began
    print(f"{name}: {len(found.rows)} rows in {seconds:.1f} s")
    if not quick:
        figures = {
            "source": module.SOURCE, "seconds": None if part else round(seconds, 1), "facts": found.facts,
            "rows": stored_rows(found.rows),
        }  # fmt: skip
        tables = {title: {"head": head, "rows": rows} for title, (head, rows) in found.tables.items()}
        libraries = getattr(module, "LIBRARIES", ())
        write(RESULTS / f"{name}.json", module.TITLE, module.SEED, libraries, **figures, tables=tables, data=found.data)
    return found.rows


def stored_rows(rows):
    """Return rows as they are stored: what is not the default."""
    defaults = {field.name: field.default for field in fields(Row)}
    return [{key: value for key, value in asdict(row).items() if value != defaults[key]} for row in rows]


def pages_of(documents, found):
    """Return the text of each page."""
    pages = {
        page: source_page(title, {name: module_of(name) for name in names}, documents, found)
        for page, (title, names) in PAPERS.items()
    }
    return pages | {"index": index_page({page: title for page, (title, _) in PAPERS.items()}, found)}


def render():
    """Write the pages, their pictures and what README says of them from the stored figures."""
    PAGES.mkdir(exist_ok=True)
    documents = {name: stored(name) for name in SOURCES}
    found = verdicts(documents)
    for page, text in pages_of(documents, found).items():
        (PAGES / f"{page}.md").write_text(text)
    for name, document in documents.items():
        for file, text in drawings(module_of(name), name, document).items():
            (STATIC / file).write_text(text)
    (PAGES / f"{INVENTORY}.csv").write_text(inventory_file(found))
    README.write_text(with_words(README.read_text()))


def wrong(name, rows):
    """Yield what is too far from another computation, or not reproduced, and was near when it was stored."""
    documents = {source: stored(source) for source in SOURCES}
    far = {row["what"] for row in documents[name]["rows"] if not Row(**row).agrees}
    for row in rows:
        if row.within is not None and not row.agrees and row.what not in far:
            yield f"{row.what}: another computation {row.other}, ours {row.ours}, allowed {row.within}"
    before = {(claim.source, claim.name): claim for claim in verdicts(documents) if claim.status == REPRODUCED}
    for row in rows:
        claim = before.get((documents[name]["source"], row.answers))
        if claim is None or row.reading or not claim.is_number:
            continue
        if not agrees(claim, row, errors=CHECKED, part=np.inf):  # few repetitions cannot be near
            yield f"{claim.name}: published {claim.printed}, ours {row.ours}"


def chosen(name):
    """Return the sources of a name: all, one, or those of a page."""
    return [source for source in SOURCES if name in ("all", source) or source in PAPERS.get(name, ("", ()))[1]]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=list(dict.fromkeys(["all", *PAPERS, *SOURCES])), help="the source")
    parser.add_argument("--quick", action="store_true", help="less of it, nothing written: bounds are checked")
    parser.add_argument("--render", action="store_true", help="write the pages from what is stored")
    parser.add_argument("--part", help="of a source that stores parts: compute this one, and keep the others")
    options = parser.parse_args(argv)
    names = chosen(options.name)
    if options.part and (options.quick or any(options.part not in getattr(module_of(n), "PARTS", ()) for n in names)):
        parser.error(f"{options.name} has no part {options.part!r} of a full run")
    if not options.render:
        failed = [
            f"{name}: {words}" for name in names for words in wrong(name, computed(name, options.quick, options.part))
        ]
        print(*failed, sep="\n")
        if failed:
            return 1
    if not options.quick:
        render()
    return 0


if __name__ == "__main__":
    sys.exit(main())
