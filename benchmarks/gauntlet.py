"""Every kind of test on every design in which nothing is to be found: ``python -m benchmarks.gauntlet``.

The designs are in `_gauntlet_designs`, the kinds in `_gauntlet_kinds`, and how a design becomes the arguments of each
in `_gauntlet_answers`. For each cell (a kind and a design) are computed: how often the true null hypothesis is rejected
at 5%, how many of these rejections come without a caution, how often all intervals contain the true values, and how
often test and interval contradict each other. A kind that has no answer for a design says why, and so does a test that
refuses one.

Finished cells are stored in benchmarks/results/gauntlet.json with their versions; a rerun computes what is missing or
was run with other parameters. The data of a cell depend on its name alone, and those of a quick run are the first of
a full one. ``--quick`` computes some cells, of few data sets, and stores nothing; ``--only KIND`` and ``--design NAME``
compute the cells of one row or column; ``--render`` writes the table into doc/validity.md, and the page
of details. The exit status is 1 where a cell breaks a bar of `failures`.
"""

import argparse
import re
import sys
import time
import warnings
import zlib
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import binom, norm
from sklearn.exceptions import UndefinedMetricWarning

from benchmarks._bounds import COVERED, Promise
from benchmarks._cells import ALPHA, BOUNDS
from benchmarks._gauntlet_designs import DESIGNS
from benchmarks._gauntlet_kinds import KINDS
from benchmarks.validity import DOC, ROOT, complete, load, report, store

CLUSTERED = BOUNDS["clusters"].most

RESULTS = ROOT / "benchmarks" / "results" / "gauntlet.json"
WHAT = "size, coverage, contradictions and cautions of every kind of test; see benchmarks/gauntlet.py"
SEED = 20261129
#: Of the rejections of a test that is wrong too often so many have a caution, and so many friendly results none.
CAUTIONED, SILENT = 0.9, 0.95
#: How probable a figure that breaks a bar is at least where the bar is just met: three standard errors.
CHANCE = float(norm.sf(3))
#: Warnings that are not about how far a result can be trusted.
NO_CAUTIONS = (
    "cannot reject at", "left out of comparisons", "share a small part of the level", "unfair examples lie outside",
    "no candidate",
)  # fmt: skip
#: What a print says where it has a caution that is no warning.
PRINTED = ("Doubtful:", "Caution:")
#: Designs in which tests of these questions are expected to fail.
EXPECTED = {
    "near-separated scores": ("scored labels",),
    "unequal skewed shapes": ("means", "losses", "correlation", "subgroups, means", "changes, means"),
}


@dataclass(frozen=True)
class Cell:
    """A kind of test in a design."""

    kind: object
    design: object
    data_sets: int

    @property
    def name(self):
        return f"{self.kind.name}/{self.design.name}"

    @property
    def is_friendly(self):
        """Whether a test has no reason to be cautious: covariates that explain nothing are one where they are given."""
        explains = self.kind.question != "given covariates" or self.design.covariates != "noise"
        return self.design.friendly and explains

    @property
    def parameters(self):
        """What its figures depend on, as JSON has it."""
        design = {key: value for key, value in asdict(self.design).items() if key not in ("says", "lacks")}
        return _plain({"data_sets": self.data_sets, "factor": self.kind.factor, **design})

    def __reduce__(self):
        """Go to other processes by name: kinds hold functions that cannot be sent."""
        return _cell_named, (self.name, self.data_sets)


def _cell_named(name, data_sets):
    cell = next(cell for cell in all_cells() if cell.name == name)
    return Cell(cell.kind, cell.design, data_sets)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return round(value, 8) if isinstance(value, float) else value


def all_cells(*, quick=False, most=None):
    """Every kind in every design for which it has an answer; `quick`: in those of a quick run."""
    cells = []
    for kind in KINDS:
        for design in DESIGNS:
            if kind.why_not(design) is None and (not quick or design.name in kind.quick):
                limits = [kind.slow.get(design.name, kind.data_sets), kind.most if quick else None, most]
                cells.append(Cell(kind, design, min(limit for limit in limits if limit is not None)))
    return cells


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
    out = {"refused": cell.data_sets - len(answers)}
    refusals = [said for answer, said in found if answer is None]
    if refusals:
        out["refusal"] = max(dict.fromkeys(refusals), key=refusals.count)
    if answers:
        rejected = np.array([answer.rejected for answer, _ in answers])
        doubted = np.array([said for _, said in answers])
        out |= _share("rejected", int(rejected.sum()), cell.data_sets)
        out |= {"rejected_silently": int((rejected & ~doubted).sum()), "cautions": int(doubted.sum())}
        out |= _of_intervals([answer.comparisons for answer, _ in answers], doubted)
    return out | {"seconds": round(time.process_time() - started, 1)}


def _share(name, hits, total):
    share = hits / total
    return {name: round(share, 5), f"{name}_error": round(float(np.sqrt(share * (1 - share) / total)), 5)}


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
    found = {"missed_silently": sum(silent), "intervals": len(covered), "out": out, "inside": inside}
    return _share("covered", sum(covered), len(covered)) | found


# What holds ------------------------------------------------------------------------------------------------


def largest_size(cell):
    small = min(cell.design.sizes) <= cell.kind.small
    return CLUSTERED if cell.design.approximate or small else ALPHA


def exceeds(hits, n, bar):
    """Whether so many hits are more than three Monte-Carlo errors beyond a bar."""
    return bool(binom.sf(hits - 1, n, bar) < CHANCE)


def failures(cell, found):
    """Yield in which ways a cell breaks its bars; three Monte-Carlo errors are allowed beyond each of them."""
    if "rejected" not in found:  # it refuses them all
        return
    n, bar = cell.data_sets, largest_size(cell)
    hits, silent = round(found["rejected"] * n), found["rejected_silently"]
    if exceeds(hits, n, bar) and silent > (1 - CAUTIONED) * hits:
        yield f"size {found['rejected']:.3f}, {silent} of {hits} rejections without a caution"
    answered = n - found["refused"]
    if cell.is_friendly and exceeds(found["cautions"], answered, 1 - SILENT):
        yield f"cautions in {found['cautions']} of {answered} friendly data sets"
    if "covered" in found:
        intervals = found["intervals"]
        missed = intervals - round(found["covered"] * intervals)
        if exceeds(missed, intervals, 1 - COVERED) and found["missed_silently"] > (1 - CAUTIONED) * missed:
            yield f"coverage {found['covered']:.3f}"


def is_expected(cell):
    return cell.kind.question in EXPECTED.get(cell.design.name, ())


def promises(cells, records):
    """What the gauntlet promises, and where it does not hold."""
    held = Promise(
        f"size at most {ALPHA:g} ({CLUSTERED:g} with 20 and 40 clusters, and for areas, F1 and the like of 60 or fewer "
        f"people), or a caution in {CAUTIONED:.0%} of rejections, and none in {SILENT:.0%} of friendly data sets; "
        f"coverage at least {COVERED:g}; each up to three Monte-Carlo errors"
    )
    for cell in cells:
        if cell.name in records and not is_expected(cell):
            broken = list(failures(cell, records[cell.name]))
            held.look(not broken, f"{cell.name}: {'; '.join(broken)}")
    return held


# Command ---------------------------------------------------------------------------------------------------


def is_finished(cell, records):
    return cell.name in records and records[cell.name]["parameters"] == cell.parameters


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
    parser.add_argument("--render", action="store_true", help="write the table, and the page of details")
    options = parser.parse_args(argv)
    if options.render:
        from benchmarks._gauntlet_table import details, replaced

        page = DOC / "validity.md"
        page.write_text(replaced(page.read_text(), options.results))
        (DOC / "validity" / "gauntlet.md").write_text(details(options.results))
        print("Written to doc/validity.md and doc/validity/gauntlet.md.")
        return 0
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
    missing = complete(chosen, records, keep, options.processes, run=run, is_finished=is_finished, line=line)
    print(f"{missing} of {len(chosen)} cells computed in {time.perf_counter() - started:.0f} s.")
    return report([promises(chosen, records)])


if __name__ == "__main__":
    sys.exit(main())
