"""The gauntlet's cells: a kind of test in a design, and which bars its figures have to meet."""

from dataclasses import asdict, dataclass

from scipy.stats import binom, norm

from benchmarks.common.bounds import CLUSTERED, COVERED, SILENT, WARNED
from benchmarks.common.cells import ALPHA
from benchmarks.common.gauntlet_designs import DESIGNS
from benchmarks.common.gauntlet_kinds import KINDS

#: How probable a figure that breaks a bar is at least where the bar is just met: three standard errors.
CHANCE = float(norm.sf(3))
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
    if exceeds(hits, n, bar) and silent > (1 - WARNED) * hits:
        yield f"size {found['rejected']:.3f}, {silent} of {hits} rejections without a caution"
    answered = n - found["refused"]
    if cell.is_friendly and exceeds(found["cautions"], answered, 1 - SILENT):
        yield f"cautions in {found['cautions']} of {answered} friendly data sets"
    if "covered" in found:
        intervals = found["intervals"]
        missed = intervals - round(found["covered"] * intervals)
        if exceeds(missed, intervals, 1 - COVERED) and found["missed_silently"] > (1 - WARNED) * missed:
            yield f"coverage {found['covered']:.3f}"


def is_expected(cell):
    return cell.kind.question in EXPECTED.get(cell.design.name, ())
