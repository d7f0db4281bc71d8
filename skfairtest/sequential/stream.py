"""A stream of batches: the pairs of groups, the evidence about each, what is significant so far, and their frames.

A batch of samples becomes values between 0 and 1 by group, of the metrics that have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import is_integer, is_number
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Positions
from skfairtest.comparisons.contrasts import Design
from skfairtest.comparisons.measure import FEW_PEOPLE, is_of_labels, positive_label
from skfairtest.comparisons.outcomes import means, measure_of
from skfairtest.inference.rates import Question
from skfairtest.inference.sums import MeanSums
from skfairtest.metrics import RATES, BuiltIn, Metric, Rate
from skfairtest.readers import Column, check_vocabularies, is_label, sort_levels
from skfairtest.report.record import Recorded
from skfairtest.sequential.e_process import EProcess, e_holm
from skfairtest.tables import Sample, distinct_levels

Recorded.kinds[EProcess.__name__] = EProcess  # which is pure NumPy
#: Share of the level that is kept for pairs of groups which come later; each generation takes half of what is left.
KEPT = 0.1
#: Distinct values up to which the pairs of a batch are computed together.
FEW = 16
#: What is kept of a look at a pair.
NUMBERS = ("n_group", "n_other", "disparity", "ci_low", "ci_high", "wealth", "e_value_adjusted")
#: What a block is made of.
BLOCKS = ("queues", "batches")

#: Look, batch, time and metric; which pairs had a block (or became significant), and `NUMBERS` of them (M, 7).
Record = tuple[int, Any, Any, str, Positions, Floats]


@dataclass
class Stream(Recorded):
    """The question of a stream, and the evidence from all batches so far.

    `bounds` are the least and the greatest value of each metric, `groups` the samples of each in a block, `arrivals`
    the generation in which each group came. `share` and `size` (P,) are the level and number of hypotheses of a pair's
    family. `log_adjusted`, `log_most` and `rejected_at` (n_metrics, P) are a pair's largest log e-values so far and the
    look of its rejection (nan: not yet). `queues` are values not yet compared, and `taken` (P, 2) how many of them each
    pair has used. `names` has the digests of named batches, `waiting` those without labels.
    """

    bounds: Mapping[str, tuple[float, float]]
    alpha: float
    margin: float
    method: str
    adjust: str | None
    blocks: str
    groups: Mapping[Any, int] | None
    arrivals: dict[Any, int] = field(default_factory=dict)
    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    share: Floats = field(default_factory=lambda: np.zeros(0))
    size: Floats = field(default_factory=lambda: np.zeros(0))
    evidence: dict[str, EProcess] = field(default_factory=dict)
    log_adjusted: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    log_most: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    rejected_at: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    totals: dict[tuple[str, Any], list[float]] = field(default_factory=dict)
    queues: dict[tuple[str, Any], list[float]] = field(default_factory=dict)
    taken: dict[str, Positions] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    waiting: dict[Any, dict[str, Any]] = field(default_factory=dict)
    labels: dict[str, list[Any]] = field(default_factory=dict)
    columns: dict[str, str | None] = field(default_factory=dict)
    n_samples: int = 0
    looks: int = 0
    log_global: float = 0.0

    def __post_init__(self) -> None:
        if not self.evidence:
            n = len(self.bounds)
            self.evidence = {m: EProcess.begun(0, self.margin / self.width(m), self.method) for m in self.bounds}
            self.taken = {metric: np.zeros((0, 2), dtype=np.intp) for metric in self.bounds}
            self.log_adjusted, self.log_most, self.rejected_at = np.zeros((n, 0)), np.zeros((n, 0)), np.zeros((n, 0))

    def width(self, metric: str) -> float:
        """The largest possible distance between two values of a metric."""
        low, high = self.bounds[metric]
        return high - low

    def take(
        self, found: Mapping[str, Mapping[Any, Floats]], groups: Sequence[Any], batch: Any, time: Any
    ) -> list[Any]:
        """Take in a batch; return the groups that came too late to be among the first."""
        late = self._arrive(groups)
        self.looks += 1
        compared = {}
        for metric, by_group in found.items():
            low, _ = self.bounds[metric]
            for group, values in by_group.items():
                total = self.totals.setdefault((metric, group), [0.0, 0.0])
                total[0] += len(values)
                total[1] += low * len(values) + self.width(metric) * float(values.sum())
            blocks = self._of_queues if self.blocks == "queues" else self._of_batch
            pairs: list[Positions] = [np.zeros(0, dtype=np.intp)]
            for some, values, counts in blocks(metric, {group: own for group, own in by_group.items() if len(own)}):
                self.evidence[metric].update(some, values, counts)
                pairs.append(some)
            compared[metric] = np.sort(np.concatenate(pairs))
            self.evidence[metric].settle(compared[metric], self._log_threshold()[compared[metric]])
        self._judge_all(batch, time, compared)
        return late

    def _arrive(self, groups: Sequence[Any]) -> list[Any]:
        """Add the pairs of groups that were not there before."""
        known = self.groups
        if known is not None and set(groups) - set(known):
            strange = ", ".join(map(repr, sort_levels(set(groups) - set(known))))
            raise ParameterError(
                f"groups does not list {strange}, which this batch has: name all groups that can come, or groups=None"
            )
        new = sort_levels((set(groups) if known is None else set(known)) - set(self.arrivals))
        first = not self.pairs
        generation = 0 if first else 1 + max(self.arrivals.values())
        self.arrivals |= dict.fromkeys(new, generation)
        together = [pair for pair in combinations(sort_levels(self.arrivals), 2) if first or set(pair) & set(new)]
        if not together:
            return []
        n, share = len(together), 1.0 if known is not None else 1 - KEPT if first else KEPT / 2**generation
        self.pairs = [*self.pairs, *together]
        self.share = np.append(self.share, np.full(n, share))
        self.size = np.append(self.size, np.full(n, float(n * len(self.bounds))))
        for metric, evidence in self.evidence.items():
            self.evidence[metric] = evidence.extended(n)
            # What a group had before a later one came is compared with earlier groups only.
            begin = [[0 if first else len(self.queues.get((metric, group), ())) for group in pair] for pair in together]
            self.taken[metric] = np.concatenate([self.taken[metric], np.array(begin, dtype=np.intp)])
        for name, value in (("log_adjusted", 0.0), ("log_most", 0.0), ("rejected_at", np.nan)):
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, np.full((len(before), n), value)], axis=1))
        return [] if first else new

    def _of_batch(self, metric: str, by_group: Mapping[Any, Floats]) -> Iterator[tuple[Positions, Floats, Floats]]:
        """Yield pairs with both groups in a batch: which they are, values (K,), and counts (M, 1, 2, K)."""
        there = [place for place, (group, other) in enumerate(self.pairs) if group in by_group and other in by_group]
        if not there:
            return
        few = len(np.unique(np.concatenate([*by_group.values()]))) <= FEW
        for some in [there] if few else [[place] for place in there]:
            members = dict.fromkeys(group for place in some for group in self.pairs[place])
            codes = {group: code for code, group in enumerate(members)}
            values = np.unique(np.concatenate([by_group[group] for group in members]))
            counts = np.array([_counted(by_group[group], values) for group in members])
            both = np.array([[codes[group] for group in self.pairs[place]] for place in some])
            yield np.array(some), values, counts[both][:, None]

    def _of_queues(self, metric: str, by_group: Mapping[Any, Floats]) -> Iterator[tuple[Positions, Floats, Floats]]:
        """Yield pairs that have complete blocks now: which they are, values (M, B, K), and counts (M, B, 2, K)."""
        for group, values in by_group.items():
            self.queues.setdefault((metric, group), []).extend(values.tolist())
        taken, alike = self.taken[metric], dict[tuple[int, ...], list[int]]()
        for place, pair in enumerate(self.pairs):
            queues = [self.queues.get((metric, group), []) for group in pair]
            sizes = [1 if self.groups is None else self.groups[group] for group in pair]
            n = min(
                (len(queue) - begin) // size for queue, begin, size in zip(queues, taken[place], sizes, strict=True)
            )
            if n:
                alike.setdefault((int(n), *sizes), []).append(place)
        for (n, *sizes), places in alike.items():
            blocks = [
                [
                    np.reshape(self.queues[metric, group][begin : begin + n * size], (n, size))
                    for group, begin, size in zip(self.pairs[place], taken[place].tolist(), sizes, strict=True)
                ]
                for place in places
            ]
            taken[places] += n * np.array(sizes)
            values = np.array([np.concatenate(both, axis=1) for both in blocks])
            counts = np.repeat(np.eye(2), sizes, axis=1)
            yield np.array(places), values, np.broadcast_to(counts, (len(places), n, *counts.shape))
        done: dict[Any, int] = {}
        for pair, begin in zip(self.pairs, taken.tolist(), strict=True):
            for group, n in zip(pair, begin, strict=True):
                done[group] = min(done.get(group, n), n)
        for group, n in done.items():
            if n:
                del self.queues[metric, group][:n]
        taken -= np.array([[done[group] for group in pair] for pair in self.pairs], dtype=np.intp).reshape(-1, 2)

    def _log_threshold(self) -> Floats:
        """Return the log wealth at which a pair's difference is outside the simultaneous limits, on either side."""
        family = 1.0 if self.adjust is None else self.size / self.share
        return np.asarray(np.log(2 * family / self.alpha) + np.zeros(len(self.pairs)))

    def log_e(self) -> Floats:
        """Return logarithms of e-values, (n_metrics, P)."""
        return np.stack([evidence.log_e for evidence in self.evidence.values()])

    def adjusted(self, adjust: str | None = "holm") -> Floats:
        """Return logarithms of e-values, (n_metrics, P), adjusted for their number within families."""
        out = self.log_e()
        if adjust is None:
            return out
        for share in np.unique(self.share):
            family = self.share == share
            log_e = out[:, family].ravel()
            adjusted = e_holm(log_e) if adjust == "holm" else log_e - np.log(len(log_e))
            out[:, family] = adjusted.reshape(len(out), -1) + np.log(share)
        return out

    def _judge_all(self, batch: Any, time: Any, compared: Mapping[str, Positions]) -> None:
        if not self.pairs:
            return
        adjusted = self.adjusted(self.adjust)
        self.log_global = max(self.log_global, float(self.adjusted().max()))
        self.log_adjusted = np.maximum(self.log_adjusted, adjusted)
        self.log_most = np.maximum(self.log_most, self.log_e())
        rejected = np.isnan(self.rejected_at) & (self.log_adjusted >= -np.log(self.alpha))
        self.rejected_at[rejected] = self.looks
        for place, (metric, process) in enumerate(self.evidence.items()):
            pairs = np.union1d(compared.get(metric, []), np.flatnonzero(rejected[place])).astype(np.intp)
            if len(pairs):
                n = self.totals_of(metric)[0, pairs]
                sizes = self.disparities(metric)[pairs]
                evidence = as_e(np.stack([process.log_e, adjusted[place]], axis=1)[pairs])
                self.records.append((self.looks, batch, time, metric, pairs, np.hstack([n, sizes, evidence])))

    def disparities(self, metric: str) -> Floats:
        """The difference of every pair now and its limits, which exclude equality if it was rejected, (P, 3)."""
        process, width, margin = self.evidence[metric], self.width(metric), self.margin
        rejected = ~np.isnan(self.rejected_at[list(self.evidence).index(metric)])
        question, estimates = Question(margin_bounds=(-margin, margin)), (process.difference * width).tolist()
        limits = zip((process.low * width).tolist(), (process.high * width).tolist(), strict=True)
        return np.array(
            [
                (estimate, *question.consistent_limits(ends, estimate, (-width, width), rejected=bool(known)))
                for estimate, ends, known in zip(estimates, limits, rejected, strict=True)
            ]
        ).reshape(-1, 3)

    def totals_of(self, metric: str) -> Floats:
        """The numbers of samples that both groups of every pair have had, and their sums, (2, P, 2)."""
        totals = [[self.totals.get((metric, group), (0.0, np.nan)) for group in pair] for pair in self.pairs]
        return np.moveaxis(np.reshape(totals, (-1, 2, 2)), -1, 0)


def _counted(own: Floats, values: Floats) -> Floats:
    """The number of samples with each of sorted values, which are all there are."""
    return np.bincount(np.searchsorted(values, own), minlength=len(values)).astype(float)


def check_bounded(metric: Metric) -> None:
    """Refuse what is not a rate and no mean, and what is compared by ratios."""
    if isinstance(metric, Rate) and metric.value is not None:
        raise ParameterError(
            f"metric {metric.name!r} is a function of a rate, and bets are made on the rate itself: use "
            "metric='jaccard', which is equal in two groups if f1 is"
        )
    if metric.disparity == "ratio":
        raise ParameterError(f"metric {metric.name!r} is compared by a ratio, and evidence is of differences")
    if not isinstance(metric, Rate) and not (isinstance(metric, BuiltIn) and metric.name in means()):
        raise ParameterError(
            f"metric {metric.name!r} is neither a rate nor a mean of one value per sample, as bets require: "
            f"use a rate ({', '.join(RATES)}), or one of the means {', '.join(means())}"
        )


def with_labels(sample: Sample, earlier: Mapping[str, Sequence[Any]], n_earlier: int) -> Sample:
    """Return a batch whose labels may be those of `n_earlier` samples before it, too."""
    columns = dict(sample.columns)
    for name, column in columns.items():
        known = earlier.get(name, ())
        if known and isinstance(column, Column):
            both = {f"{name} (earlier batches)": known, f"{name} (this batch)": column.levels}
            n_people = min(n_earlier, sample.n_samples)
            check_vocabularies(both, n_people)
            if n_people >= FEW_PEOPLE and not column.categorical:  # of many names two may come in each batch
                check_vocabularies(both, all_classes=True)
            levels = distinct_levels([*known, *column.levels])
            place = np.array([levels.index(level) for level in column.levels], dtype=np.intp)
            columns[name] = replace(column, levels=tuple(levels), codes=place[column.codes])
    return replace(sample, columns=columns)


def labels_of(sample: Sample, metrics: Sequence[Metric]) -> dict[str, list[Any]]:
    """Return the labels that metrics of labels read, by column."""
    read = frozenset().union(*(metric.reads for metric in metrics if is_of_labels(metric)))
    return {
        name: list(column.levels)
        for name, column in sample.columns.items()
        if name in read and isinstance(column, Column)
    }


def positive_of(sample: Sample, metrics: Sequence[Metric], asked: Any) -> Any:
    """Return the positive label of a stream, none of whose samples need have it if it was asked for."""
    labels = sample.labels
    if asked is None or any(is_label(label, asked) for label in labels):
        return positive_label(sample, metrics, asked, None)
    alike = all(isinstance(label, str) == isinstance(asked, str) for label in labels)
    return positive_label(sample, metrics, asked, (labels[0], asked) if alike and len(labels) == 1 else None)


def bounds_of(metric: Metric) -> tuple[float, float]:
    """Return the least and the greatest value of a sample: of numbers without bounds, those of numbers from 0 to 1."""
    low, high = metric.bounds if isinstance(metric, BuiltIn) else (0.0, 1.0)
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    return (-1.0 if np.isinf(low) and len(metric.reads) > 1 else 0.0), 1.0


def values_by_group(design: Design, metric: Metric) -> dict[Any, Floats]:
    """Return by group the values of samples, scaled to 0 and 1, in their order."""
    low, high = bounds_of(metric)
    measured, sample = measure_of(design, metric), design.sample
    if isinstance(measured.sums, MeanSums):
        values = np.round(measured.rows[:, 1] + measured.sums.centre, 12)
        if values.min() < low or values.max() > high:
            raise ParameterError(
                f"metric {metric.name!r} has values from {values.min():g} to {values.max():g}, and bets need values "
                f"between known bounds, here {low:g} and {high:g}: scale what is predicted to 0 and 1"
            )
        values = (values - low) / (high - low)
    else:
        event, given = measured.rows.T
        values = np.where(given > 0, event, np.nan)
    return {
        label: own[~np.isnan(own)]
        for place, label in enumerate(sample.group_labels)
        for own in (values[sample.group_codes == place],)
    }


def plain_time(time: Any) -> str | float | int | None:
    """Return a time as JSON has it.

    Examples
    --------
    >>> import datetime
    >>> plain_time(datetime.date(2026, 5, 1)), plain_time(3)
    ('2026-05-01', 3)
    """
    if time is None or isinstance(time, str):
        return time
    if is_integer(time):
        return int(time)
    return float(time) if is_number(time) else str(time)


#: Logarithm of the largest e-value that is written.
LARGEST = 700.0


def as_e(log_e: Any) -> Any:
    """E-values, at most the largest float."""
    return np.exp(np.minimum(log_e, LARGEST))


def _order(stream: Stream) -> Positions:
    """Return the places of pairs in the order of their groups."""
    places = {group: place for place, group in enumerate(sort_levels(stream.arrivals))}
    codes = np.reshape([[places[group] for group in pair] for pair in stream.pairs], (-1, 2))
    return np.lexsort(codes.T[::-1])


def pairs_frame(stream: Stream) -> pd.DataFrame:
    """The present state of every pair."""
    order, frames = _order(stream), []
    pairs = [stream.pairs[place] for place in order]
    adjusted = stream.adjusted(stream.adjust)
    for place, (metric, process) in enumerate(stream.evidence.items()):
        n, sums = stream.totals_of(metric)[:, order]
        value = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
        limits = stream.disparities(metric)[order].T
        log_p = -stream.log_most[place, order], -stream.log_adjusted[place, order]
        columns = {
            "metric": metric, "group": [group for group, _ in pairs], "other": [other for _, other in pairs],
            **dict(zip(("disparity", "ci_low", "ci_high"), limits, strict=True)),
            "n_group": n[:, 0].astype(int), "n_other": n[:, 1].astype(int),
            "n_uncompared": (n - process.seen[order, :, 0]).sum(axis=1).astype(int),
            "value_group": value[:, 0], "value_other": value[:, 1], "e_value": as_e(process.log_e[order]),
            "e_value_adjusted": as_e(adjusted[place, order]), "rejected_at": stream.rejected_at[place, order],
            "p_value": np.exp(log_p[0]), "p_value_adjusted": np.exp(log_p[1]),
            "concern": ~np.isnan(stream.rejected_at[place, order]),
        }  # fmt: skip
        frames.append(pd.DataFrame(columns, index=range(len(pairs))))
    return pd.concat(frames, ignore_index=True).astype({"rejected_at": "Int64", "concern": bool})


def looks_frame(stream: Stream) -> pd.DataFrame:
    """The states of pairs at every look that compared them."""
    rank = np.argsort(_order(stream))
    told: list[tuple[Any, ...]] = []
    numbers = [np.zeros((0, len(NUMBERS)))]
    for look, batch, time, metric, pairs, own in stream.records:
        order = np.argsort(rank[pairs])
        told += [(look, batch, time, metric, *stream.pairs[place]) for place in pairs[order]]
        numbers.append(own[order])
    frame = pd.DataFrame(told, columns=["look", "batch", "time", "metric", "group", "other"])
    return frame.assign(**dict(zip(NUMBERS, np.concatenate(numbers).T, strict=True))).astype(
        {"n_group": int, "n_other": int}
    )


def groups_frame(stream: Stream) -> pd.DataFrame:
    """Return the samples and the value of every group over all batches."""
    rows = [
        (metric, group, int(n), total / n if n else np.nan) for (metric, group), (n, total) in stream.totals.items()
    ]
    return pd.DataFrame(rows, columns=["metric", "group", "n", "value"])


def pending_frame(stream: Stream) -> pd.DataFrame:
    """Batches that wait for their labels."""
    rows = [(name, told["time"], told["n"]) for name, told in stream.waiting.items()]
    return pd.DataFrame(rows, columns=["batch", "time", "n"])
