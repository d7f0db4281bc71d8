"""Scores in bins: which scores share a bin, the value that represents them, and how far apart they are."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import check_number, finite_numbers, is_integer, is_sequence
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Floats, Integers, Positions

#: Significant bits of a float: rounding to these changes nothing.
ALL_BITS = 53
#: Edges that a score is compared with one by one.
MOST_EDGES = 256
#: No more bins can be asked for.
MOST_BINS = 1_000_000


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """Bins of scores, as in a table whose scores were counted by an engine.

    Scores are first rounded to `bits` significant bits, in the same way by every engine. A bin includes its lower edge.
    Only tables with the same bins can be added: pass ``table.score_bins`` to `CountTable.from_frame` for the other.

    Parameters
    ----------
    edges : ndarray of shape (B - 1,)
        The edges between bins, in increasing order.
    values : ndarray of shape (B,)
        The mean score of each bin when the bins were made.
    low, high : ndarray of shape (B,)
        The smallest and the largest score counted in each bin; NaN for an empty bin.
    bits : int
        Significant bits of scores; 53 leaves them as they are.
    unit : bool
        Whether scores are probabilities: above one half, the distance from 1 is rounded.
    """

    edges: Floats
    values: Floats
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    bits: int = ALL_BITS
    unit: bool = False

    def __len__(self) -> int:
        """The number of bins."""
        return len(self.values)

    def __repr__(self) -> str:
        """Say how many bins there are."""
        return f"ScoreBins({len(self):,} bins from {np.nanmin(self.low):g} to {np.nanmax(self.high):g})"

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        if not isinstance(other, ScoreBins):
            return NotImplemented
        arrays = ((getattr(self, name), getattr(other, name)) for name in ("edges", "values", "low", "high"))
        alike = all(np.array_equal(mine, its, equal_nan=True) for mine, its in arrays)
        return alike and (self.bits, self.unit) == (other.bits, other.unit)

    __hash__ = None  # type: ignore[assignment]  # equality is by value, of arrays

    @property
    def exact(self) -> bool:
        """Whether every bin holds one score only."""
        return bool(((self.low == self.high) | np.isnan(self.low)).all())

    def merge(self, other: "ScoreBins", people: Integers, others: Integers) -> "ScoreBins":
        """The bins of both tables' people, each with the mean of all of its scores."""
        same = (self.bits, self.unit) == (other.bits, other.unit)
        if not same or not np.array_equal(self.edges, other.edges):
            raise ParameterError(
                "score_bins differ between the tables to add: count the second with score_bins=first.score_bins"
            )
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        both = np.maximum(people + others, 1)
        mean = np.clip((self.values * people + other.values * others) / both, low, high)
        # What is the same in both, or seen by one of them only, stays as it is, to the last digit.
        values = np.select(
            [(self.values == other.values) | (others == 0), people == 0], [self.values, other.values], mean
        )
        return replace(self, values=values, low=low, high=high)

    def seen(self, place: Positions, low: Floats, high: Floats) -> "ScoreBins":
        """The same bins with new smallest and largest scores."""
        ends = pd.DataFrame({"low": low, "high": high}).groupby(place).agg({"low": "min", "high": "max"})
        ends = ends.reindex(range(len(self)))
        return replace(self, low=ends["low"].to_numpy(), high=ends["high"].to_numpy())

    @classmethod
    def made(
        cls, edges: Floats, groups: pd.DataFrame, place: Positions, *, bits: int = ALL_BITS, unit: bool = False
    ) -> "ScoreBins":
        """Make bins with these edges from groups of like scores, whose bins are `place`."""
        ends = np.concatenate([np.nextafter(edges[:1], -np.inf), edges, edges[-1:]]) if len(edges) else np.zeros(2)
        middle = ends[:-1] / 2 + ends[1:] / 2
        middle[:1], middle[-1:] = ends[:1], ends[-1:]
        counts, low, high = (groups[name].to_numpy() for name in ("count", "low", "high"))
        bins = cls(edges, middle, middle, middle, bits, unit).seen(place, low, high)
        people = np.bincount(place, weights=counts, minlength=len(bins))
        total = np.bincount(place, weights=counts * (low / 2 + high / 2), minlength=len(bins))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.clip(total / people, bins.low, bins.high)  # of one score that score, to the last digit
        return replace(bins, values=np.where(people > 0, mean, middle))


def rounded(numbers: Any, bits: int) -> Any:
    """Round floats, an array or a column of any engine, to some significant bits (Veltkamp's splitting)."""
    large = numbers * float(2 ** (ALL_BITS - bits) + 1)
    return large - (large - numbers)


def like_scores(rounded: Floats, counts: Integers, low: Floats, high: Floats, place: Positions) -> pd.DataFrame:
    """Groups of people with like scores, sorted, so that sums do not depend on an engine's order."""
    groups = pd.DataFrame({"bin": place, "rounded": rounded, "count": counts, "low": low, "high": high})
    of = groups.groupby(["bin", "rounded"], as_index=False)
    return of.agg({"count": "sum", "low": "min", "high": "max"})


def quantiles(groups: pd.DataFrame, n_bins: int) -> Floats:
    """The edges of bins of about equally many people; of few scores each has its own bin."""
    rounded, counts = groups["rounded"].to_numpy(), groups["count"].to_numpy()
    if len(rounded) <= n_bins:
        return rounded[1:]
    slot = np.floor((np.cumsum(counts) - counts / 2) * (n_bins / counts.sum()))
    return np.asarray(rounded[1:][np.diff(slot) > 0])


def check_edges(score_bins: Any) -> "int | Floats | ScoreBins":
    """Check the argument that says how scores are put into bins."""
    if isinstance(score_bins, ScoreBins):
        return score_bins
    if is_integer(score_bins):
        check_number("score_bins", score_bins, 2, MOST_BINS, whole=True, bounds="[]")
        return int(score_bins)
    edges = finite_numbers(score_bins) + 0.0 if is_sequence(score_bins) else np.zeros(0)
    if len(edges) > MOST_EDGES:
        raise ParameterError(
            f"score_bins holds {len(edges):,} edges, more than {MOST_EDGES}: pass the number of bins, whose edges are "
            "found in the data, or the score_bins of another table"
        )
    if edges.size and (np.diff(edges) > 0).all():
        return edges
    raise ParameterError(
        "score_bins must be a number of bins of about equally many people, the increasing edges between bins, or "
        f"the score_bins of another table; found {brief(score_bins)}"
    )
