"""A stream of batches: which pairs of groups there are, the evidence about each, and what is significant so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.inference.e_process import EProcess, e_holm
from skfairtest.readers import sort_levels
from skfairtest.tables import tagged, untagged

#: The form of what is saved.
VERSION = 1
#: Share of the level that is kept for pairs of groups which come later; each generation takes half of what is left.
KEPT = 0.1
#: What is kept of every batch and pair.
RECORD = (
    "look", "batch", "time", "metric", "group", "other", "n_group", "n_other", "difference", "log_e", "log_adjusted",
    "low", "high", "log_detector",
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What is tested, and how; it is the same from the first batch to the last.

    Parameters
    ----------
    bounds : mapping of str to tuple of float
        Of every metric, in their order, the least and the greatest value of a sample.
    alpha, margin, average_run_length : float
        The level, the tolerated difference, and the fewest batches until a false alarm of change, on average.
    method, adjust : str
        As of the test; None: no adjustment.
    groups : tuple or None
        All groups that will come, if they are known.
    """

    bounds: Mapping[str, tuple[float, float]]
    alpha: float
    margin: float
    average_run_length: float
    method: str
    adjust: str | None
    groups: tuple[Any, ...] | None = None

    def width(self, metric: str) -> float:
        """Return how far apart two values of a metric can be."""
        low, high = self.bounds[metric]
        return high - low


@dataclass
class Tracked:
    """The evidence about one pair of groups.

    `share` is its family's share of the level and `size` how many pairs the family has. `log_adjusted` is the largest
    adjusted log e-value so far and `log_most` the largest of its own; `rejected_at` and `changed_at` are looks.
    """

    metric: str
    group: Any
    other: Any
    share: float
    size: int
    process: EProcess
    log_adjusted: float = 0.0
    log_most: float = 0.0
    rejected_at: int | None = None
    changed_at: int | None = None


#: Of a metric and a group: the values of samples, sorted, and how many have them.
Values = tuple[Floats, Floats]


@dataclass
class Stream:
    """What is known of all batches so far; apart from a row of `records` per batch its size does not depend on them.

    Parameters
    ----------
    plan : Plan
        What is tested.
    arrivals : dict of group to int
        The groups, and in which generation each came.
    pairs : list of Tracked
        In the order of metrics and groups.
    totals : dict of (metric, group) to list of float
        Samples and sums of their values, unscaled.
    records : list of tuple
        `RECORD` of every look.
    looks : int
        Batches that were taken in.
    log_global : float
        The largest adjusted log e-value of any pair so far, adjusted whatever was asked for.
    """

    plan: Plan
    arrivals: dict[Any, int] = field(default_factory=dict)
    pairs: list[Tracked] = field(default_factory=list)
    totals: dict[tuple[str, Any], list[float]] = field(default_factory=dict)
    records: list[tuple[Any, ...]] = field(default_factory=list)
    looks: int = 0
    log_global: float = 0.0

    def take(
        self, found: Mapping[str, Mapping[Any, Values]], groups: Sequence[Any], batch: Any, time: Any
    ) -> list[Any]:
        """Take in a batch; return the groups that came too late to be among the first.

        Parameters
        ----------
        found : mapping of str to mapping
            Of metrics and groups, values scaled to 0 and 1, and how many samples have them.
        groups : sequence
            All groups of the batch.
        batch, time : object
            What records call it.
        """
        late = self._arrive(groups)
        self.looks += 1
        for metric, by_group in found.items():
            low, _ = self.plan.bounds[metric]
            for group, (values, counts) in by_group.items():
                total = self.totals.setdefault((metric, group), [0.0, 0.0])
                n = float(counts.sum())
                total[0] += n
                total[1] += low * n + self.plan.width(metric) * float(values @ counts)
        for pair in self.pairs:
            if pair.metric in found:
                values, counts = _together(found[pair.metric], pair.group, pair.other)
                pair.process.update(values, counts, self._log_threshold(pair))
        self._judge_all(batch, time, set(found))
        return late

    def _arrive(self, groups: Sequence[Any]) -> list[Any]:
        """Add the pairs of groups that were not there before."""
        known = self.plan.groups
        if known is not None and set(groups) - set(known):
            strange = ", ".join(map(repr, sort_levels(set(groups) - set(known))))
            raise ParameterError(
                f"groups does not list {strange}, which this batch has: name all groups that can come, or groups=None"
            )
        new = sort_levels((set(groups) if known is None else set(known)) - set(self.arrivals))
        first = not self.pairs
        generation = 0 if first else 1 + max(self.arrivals.values())
        self.arrivals |= dict.fromkeys(new, generation)
        everyone = sort_levels(self.arrivals)
        together = [pair for pair in combinations(everyone, 2) if first or set(pair) & set(new)]
        share = 1.0 if known is not None else 1 - KEPT if first else KEPT / 2**generation
        size = len(together) * len(self.plan.bounds)
        for metric in self.plan.bounds:
            margin = self.plan.margin / self.plan.width(metric)
            for group, other in together:
                process = EProcess(margin, self.plan.method)
                self.pairs.append(Tracked(metric, group, other, share, size, process))
        places = {group: place for place, group in enumerate(everyone)}
        metrics = list(self.plan.bounds)
        self.pairs.sort(key=lambda pair: (metrics.index(pair.metric), places[pair.group], places[pair.other]))
        return [] if first else new

    def _log_threshold(self, pair: Tracked) -> float:
        """Return the log wealth at which a difference is outside the simultaneous limits, on either side."""
        family = 1.0 if self.plan.adjust is None else pair.size / pair.share
        return float(np.log(2 * family / self.plan.alpha))

    def adjusted(self, adjust: str | None = "holm") -> Floats:
        """Return logarithms of the pairs' e-values, adjusted within families for how many there are."""
        own = np.array([pair.process.log_e for pair in self.pairs])
        if adjust is None:
            return own
        shares, out = np.array([pair.share for pair in self.pairs]), own.copy()
        for share in np.unique(shares):
            family = shares == share
            log_e = own[family]
            adjusted = e_holm(log_e) if adjust == "holm" else log_e - np.log(len(log_e))
            out[family] = adjusted + np.log(share)
        return out

    def _judge_all(self, batch: Any, time: Any, metrics: set[str]) -> None:
        level = -np.log(self.plan.alpha)
        alarms = np.log(self.plan.average_run_length)
        self.log_global = max(self.log_global, float(self.adjusted().max(initial=0.0)))
        for pair, adjusted in zip(self.pairs, self.adjusted(self.plan.adjust), strict=True):
            process = pair.process
            pair.log_adjusted = max(pair.log_adjusted, float(adjusted))
            pair.log_most = max(pair.log_most, process.log_e)
            if pair.rejected_at is None and pair.log_adjusted >= level:
                pair.rejected_at = self.looks
            if pair.changed_at is None and process.log_detector >= alarms + np.log(pair.size / pair.share):
                pair.changed_at = self.looks
            if pair.metric in metrics:
                width = self.plan.width(pair.metric)
                n = [int(self.totals.get((pair.metric, group), [0])[0]) for group in (pair.group, pair.other)]
                sizes = (process.difference * width, process.log_e, float(adjusted))
                limits = (process.low * width, process.high * width, process.log_detector)
                whom = (pair.metric, pair.group, pair.other)
                self.records.append((self.looks, batch, time, *whom, *n, *sizes, *limits))

    def merged(self, other: Stream) -> Stream:
        """Return the evidence of two streams of different samples together, as if nobody had looked before.

        Raises
        ------
        ValueError
            If they test something else, or groups came in other generations.
        """
        if self.plan != other.plan:
            raise ParameterError("other was made with other parameters or metrics: only equal tests merge")
        theirs = {(pair.metric, pair.group, pair.other): pair for pair in other.pairs}
        ours = {(pair.metric, pair.group, pair.other): pair for pair in self.pairs}
        if self.arrivals != other.arrivals:
            raise ParameterError("other has other groups, or they came at other times: name them all in groups=[...]")
        new = Stream(self.plan, dict(self.arrivals), looks=self.looks + other.looks)
        for key, pair in ours.items():
            process = pair.process.merged(theirs[key].process)
            new.pairs.append(Tracked(*key, pair.share, pair.size, process))
            process.settle(new._log_threshold(new.pairs[-1]))
        for totals in (self.totals, other.totals):
            for name, (n, total) in totals.items():
                before = new.totals.get(name, [0.0, 0.0])
                new.totals[name] = [before[0] + n, before[1] + total]
        new._judge_all("merged", None, set(self.plan.bounds))
        return new

    # Saved and read -------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Return everything as lists, numbers and texts."""
        return {
            "version": VERSION,
            "arrivals": [[tagged(group), generation] for group, generation in self.arrivals.items()],
            "pairs": [
                {
                    "metric": pair.metric,
                    "group": tagged(pair.group),
                    "other": tagged(pair.other),
                    **{name: getattr(pair, name) for name in _NUMBERS},
                    "process": pair.process.to_plain(),
                }
                for pair in self.pairs
            ],
            "totals": [[metric, tagged(group), *sums] for (metric, group), sums in self.totals.items()],
            "records": [*map(_to_plain, self.records)],
            "looks": self.looks,
            "log_global": self.log_global,
        }

    @classmethod
    def from_plain(cls, plan: Plan, plain: Mapping[str, Any]) -> Stream:
        """Read what `to_plain` wrote.

        Raises
        ------
        ValueError, KeyError, TypeError
            If it is something else, or of a later version.
        """
        if plain["version"] > VERSION:
            raise ValueError(f"its form is version {plain['version']}; this version of skfairtest reads {VERSION}")
        pairs = [
            Tracked(
                found["metric"],
                untagged(found["group"]),
                untagged(found["other"]),
                process=EProcess.from_plain(found["process"]),
                **{name: found[name] for name in _NUMBERS},
            )
            for found in plain["pairs"]
        ]
        return cls(
            plan,
            {untagged(group): generation for group, generation in plain["arrivals"]},
            pairs,
            {(metric, untagged(group)): [n, total] for metric, group, n, total in plain["totals"]},
            [*map(_from_plain, plain["records"])],
            plain["looks"],
            plain["log_global"],
        )


_NUMBERS = ("share", "size", "log_adjusted", "log_most", "rejected_at", "changed_at")


def _to_plain(record: tuple[Any, ...]) -> list[Any]:
    """Return a record as JSON has it: before the first block of a pair there is no difference, and no bet was made."""
    named = zip(RECORD, record, strict=True)
    plain = [tagged(value) if name in ("group", "other") else value for name, value in named]
    return [None if isinstance(value, float) and not np.isfinite(value) else value for value in plain]


def _from_plain(record: Sequence[Any]) -> tuple[Any, ...]:
    found = dict(zip(RECORD, record, strict=True))
    for name, missing in (("difference", np.nan), ("log_detector", -np.inf)):
        found[name] = missing if found[name] is None else found[name]
    return tuple({**found, "group": untagged(found["group"]), "other": untagged(found["other"])}.values())


def _together(by_group: Mapping[Any, Values], group: Any, other: Any) -> Values:
    """Return the values that samples of two groups have, and counts (2, K)."""
    sides = [by_group.get(each, (np.zeros(0), np.zeros(0))) for each in (group, other)]
    values = np.unique(np.concatenate([found for found, _ in sides]))
    counts = np.zeros((2, len(values)))
    for place, (found, n) in enumerate(sides):
        counts[place, np.searchsorted(values, found)] = n
    return values, counts
