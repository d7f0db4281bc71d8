"""Every kind of test on every design in which nothing is to be found: ``python -m benchmarks.gauntlet``.

The designs are in `gauntlet_designs`, the kinds in `gauntlet_kinds`, and how a design becomes the arguments of each
in `gauntlet_answers`. For each cell (a kind and a design) are computed: how often the true null hypothesis is rejected
at 5%, how many of these rejections come without a caution, how often all intervals contain the true values, and how
often test and interval contradict each other. A kind that has no answer for a design says why, and so does a test that
refuses one.

Finished cells are stored in benchmarks/results/gauntlet.json with a digest of their parameters; a rerun computes what
is missing or was run with other parameters. The data of a cell depend on its name alone, and those of a quick run are
the first of a full one. ``--quick`` computes some cells, of few data sets, and stores nothing; ``--only KIND`` and
``--design NAME`` compute the cells of one row or column. The exit status is 1 where a cell breaks a bar of `failures`.
"""

import argparse
import re
import sys
import time
import warnings
import zlib
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from benchmarks.common.bounds import CLUSTERED, COVERED, SILENT, WARNED, Promise
from benchmarks.common.cells import ALPHA
from benchmarks.common.gauntlet_cells import all_cells, failures, is_expected
from benchmarks.common.gauntlet_designs import DESIGNS
from benchmarks.common.gauntlet_kinds import KINDS
from benchmarks.common.storage import ROOT, complete, load, report, store

RESULTS = ROOT / "benchmarks" / "results" / "gauntlet.json"
WHAT = "size, coverage, contradictions and cautions of every kind of test; see benchmarks/gauntlet.py"
SEED = 20261129
#: Warnings that are not about how far a result can be trusted.
NO_CAUTIONS = (
    "cannot reject at", "left out of comparisons", "share a small part of the level", "unfair examples lie outside",
    "no candidate",
)  # fmt: skip
#: What a print says where it has a caution that is no warning.
PRINTED = ("Doubtful:", "Caution:")


# One cell --------------------------------------------------------------------------------------------------


def asked(cell, number):
    """Ask the test about one data set: its answer and its cautions, or why it refuses."""
    seed = [SEED, zlib.crc32(cell.name.encode()), number]
    people = cell.design.drawn(np.random.default_rng(seed), cell.kind.factor)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            answer = cell.kind.answer(people, number)
        except (ValueError, NotImplementedError) as refusal:
            return None, re.split(r"; |\. ", str(refusal))[0]
        printed = answer.said() if answer.rejected or cell.is_friendly else ""
    cautions = [str(one.message) for one in said if is_caution(one)]
    return answer, cautions + [text for text in PRINTED if text in printed]


def is_caution(warning):
    return (
        issubclass(warning.category, UserWarning)
        and not issubclass(warning.category, UndefinedMetricWarning)
        and not any(text in str(warning.message) for text in NO_CAUTIONS)
    )


def run(cell):
    """Compute the figures of one cell."""
    started = time.process_time()
    found = [asked(cell, number) for number in range(cell.data_sets)]
    answers = [(answer, bool(said)) for answer, said in found if answer is not None]
    out = {"data_sets": cell.data_sets, "refused": cell.data_sets - len(answers)}
    refusals = [said for answer, said in found if answer is None]
    if refusals:
        out["refusal"] = max(dict.fromkeys(refusals), key=refusals.count)
    if answers:
        rejected = np.array([answer.rejected for answer, _ in answers])
        doubted = np.array([said for _, said in answers])
        out["rejected"] = round(int(rejected.sum()) / cell.data_sets, 5)
        out |= {"rejected_silently": int((rejected & ~doubted).sum()), "cautions": int(doubted.sum())}
        out |= _of_intervals([answer.comparisons for answer, _ in answers], doubted)
    return out | {"seconds": round(time.process_time() - started, 1)}


def _of_intervals(data_sets, doubted):
    """Coverage of all intervals of a data set together, and how often a test and its interval contradict each other."""
    covered, silent, out, inside, slack = [], [], 0, 0, 1e-9
    for rows, said in zip(data_sets, doubted, strict=True):
        p, low, high, null, truth = np.array(rows, dtype=float).reshape(-1, 5).T
        defined = ~np.isnan(low) & ~np.isnan(high)
        if not defined.any():
            continue
        missed = defined & ((truth < low - slack) | (truth > high + slack))
        covered.append(not missed.any())
        silent.append(bool(missed.any() and not said))
        judged = defined & ~np.isnan(p) & ~np.isnan(null)
        within, significant = (low <= null + slack) & (null - slack <= high), p <= ALPHA + slack
        out += bool((judged & ~within & ~significant).any())
        inside += bool((judged & within & significant).any())
    if not covered:
        return {}
    counts = {"missed_silently": sum(silent), "intervals": len(covered), "out": out, "inside": inside}
    return {"covered": round(sum(covered) / len(covered), 5), **counts}


# What holds ------------------------------------------------------------------------------------------------


def promises(cells, records):
    """What the gauntlet promises, and where it does not hold."""
    held = Promise(
        f"size at most {ALPHA:g} ({CLUSTERED:g} with 20 and 40 clusters, and for areas, F1 and the like of 60 or fewer "
        f"people), or a caution in {WARNED:.0%} of rejections, and none in {SILENT:.0%} of friendly data sets; "
        f"coverage at least {COVERED:g}; each up to three Monte-Carlo errors"
    )
    for cell in cells:
        if cell.name in records and not is_expected(cell):
            broken = list(failures(cell, records[cell.name]))
            held.look(not broken, f"{cell.name}: {'; '.join(broken)}")
    return held


# Command ---------------------------------------------------------------------------------------------------


def line(cell, found):
    if "rejected" not in found:
        return f"{found['seconds']:6.1f} s  {cell.name}: refused, {found['refusal']}"
    coverage = f"  coverage {found['covered']:.3f}" if "covered" in found else ""
    size = f"size {found['rejected']:.3f}, {found['rejected_silently']} silently, {found['cautions']} cautions"
    refused = f", {found['refused']} refused" if found["refused"] else ""
    return f"{found['seconds']:6.1f} s  {cell.name}: {size}{refused}{coverage}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gauntlet", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="some cells, few data sets, nothing stored")
    parser.add_argument("--only", metavar="KIND", help="the cells of one kind")
    parser.add_argument("--design", metavar="NAME", help="the cells of one design")
    parser.add_argument("--data-sets", type=int, metavar="N", help="at most so many of a cell")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="PATH", help="where cells are stored")
    options = parser.parse_args(argv)
    chosen = [
        cell
        for cell in all_cells(quick=options.quick, most=options.data_sets)
        if options.only in (None, cell.kind.name) and options.design in (None, cell.design.name)
    ]
    if not chosen:
        kinds, designs = (", ".join(one.name for one in of) for of in (KINDS, DESIGNS))
        parser.error(f"no cell of {options.only!r} and {options.design!r}; kinds: {kinds}; designs: {designs}")
    started = time.perf_counter()
    records = {} if options.quick else load(options.results)
    keep = (lambda: None) if options.quick else partial(store, options.results, records, all_cells(), WHAT, SEED)
    missing = complete(chosen, records, keep, options.processes, run=run, line=line)
    print(f"{missing} of {len(chosen)} cells computed in {time.perf_counter() - started:.0f} s.")
    return report([promises(chosen, records)])


if __name__ == "__main__":
    sys.exit(main())
