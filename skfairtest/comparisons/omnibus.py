"""Metrics that look at all groups at once: one row, tested by permuting everybody's labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.rates import resampled_log_p
from skfairtest.comparisons.resample import resample
from skfairtest.comparisons.rows import Exclusion, Measured, Row, places_of
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.draws import permuted
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import oriented
from skfairtest.inference.two_sides import sequential_p
from skfairtest.metrics import Context, MetricError, Omnibus
from skfairtest.tables import Kinds


@dataclass(frozen=True)
class Everybody:
    """One stratum's people, group by kind, and the metric as a function of their masses."""

    statistic: Callable[[Floats], Floats]
    counts: np.ndarray
    block: np.ndarray
    rows: bool
    weight: np.ndarray | None

    def evaluate(self, counts: np.ndarray) -> Floats:
        """Evaluate the metric of tables (..., G, K)."""
        masses = counts.astype(float)
        return self.statistic(masses if self.weight is None else masses * self.weight)

    def draw(self, size: int, seed: np.random.SeedSequence) -> Floats:
        """Return the metric of `size` permutations; NaN where it cannot be computed."""
        rng = np.random.default_rng(seed)
        out = []
        for table in self._tables(size, rng):
            try:
                out.append(self.evaluate(table))
            except MetricError:
                out.append(np.array([self._one(one) for one in table]))
        return np.concatenate(out)

    def _one(self, table: np.ndarray) -> float:
        try:
            return float(self.evaluate(table))
        except MetricError:
            return float("nan")

    def _tables(self, size: int, rng: np.random.Generator) -> Any:
        if not self.rows:
            blocks = [np.flatnonzero(self.block == b).tolist() for b in np.unique(self.block)]
            for drawn in permuted(self.counts[None], blocks, size, rng):
                yield drawn[:, 0]
            return
        group = self.counts.argmax(axis=0)
        place = [np.flatnonzero(self.block == b) for b in np.unique(self.block)]
        for _ in range(size):
            shuffled = group.copy()
            for within in place:
                shuffled[within] = rng.permutation(group[within])
            yield (np.arange(len(self.counts))[:, None] == shuffled)[None].astype(np.int64)


def measure_omnibus(
    out: Measured, metric: Omnibus, kinds: Kinds, kept: list[int], settings: Settings, seed: np.random.SeedSequence
) -> None:
    """Make and test the rows of a metric of all groups: one for everybody, and one for each stratum."""
    sample = out.sample
    strata = []
    for number in range(len(sample.strata)):
        groups = [np.arange(len(sample.groups)) == g for g in kept]
        within, counts = kinds.within(number, groups)
        context = Context(within.values, out.pos_label)
        keys = [sample.groups[g] for g in kept]
        block = within.blocks(None if settings.within == "auto" else settings.within)
        strata.append(
            Everybody(
                metric.statistic(context, keys, sample.sensitive_names), counts, block, within.rows, within.weight
            )
        )  # fmt: skip
    observed = np.array([_observed(metric, stratum) for stratum in strata])
    people = np.array([float(stratum.counts.sum()) for stratum in strata])
    defined = ~np.isnan(observed)
    name = "everybody"
    if not defined.any():
        n = int(people.sum())
        out.excluded.append(Exclusion(metric.name, name, None, None, "undefined for these people", n, n, 1))
        return
    numbers = np.flatnonzero(defined).tolist()
    drawn = _draw(metric, [strata[s] for s in numbers], observed[numbers], settings, seed)
    share = people[numbers] / people[numbers].sum()
    question = replace(settings.question, disparity=metric.disparity or settings.question.disparity)
    for place in places_of(sample):
        if place is not None and not defined[place]:
            reason, n = "undefined for these people", int(people[place])
            out.excluded.append(Exclusion(metric.name, name, None, sample.stratum_labels[place], reason, n, n, 1))
            continue
        if place is None:
            value, column = float(share @ observed[numbers]), drawn @ share
        else:
            value, column = float(observed[place]), drawn[:, numbers.index(place)]
        label = None if place is None else sample.stratum_labels[place]
        n = int(people.sum() if place is None else people[place])
        contrast = Contrast(kept[0], None, stratum=place)
        row = Row(metric.name, None, None, label, contrast, question, n, n, np.nan, np.nan, value)
        row.statistic, row.drawn, row.method, row.studentized = value, column, "permutation", False
        _p_of(row, metric, settings)
        out.rows.append(row)


def _draw(
    metric: Omnibus, strata: list[Everybody], observed: Floats, settings: Settings, seed: np.random.SeedSequence
) -> Floats:
    """Draw the metric of every stratum, (n, S); one stratum alone may stop early."""

    def done(parts: list[Floats]) -> bool:
        so_far, value = np.concatenate(parts), float(observed[0])
        return all(sequential_p(so_far, value, side) is not None for side in _sides(metric))

    early = done if len(strata) == 1 else None
    seeds = seed.spawn(len(strata))
    columns = [
        resample(stratum.draw, settings, own, what=metric.name, done=early, times=len(strata) if first else 0)
        for stratum, own, first in zip(strata, seeds, [True, *[False] * len(strata)], strict=False)
    ]
    return np.stack([np.concatenate(column) for column in columns], axis=1)


def _sides(metric: Omnibus) -> list[str]:
    return ["greater", "less"] if metric.extreme == "two-sided" else [metric.extreme]


def _p_of(row: Row, metric: Omnibus, settings: Settings) -> None:
    """Count in the direction that speaks against independence; twice the smaller tail where neither does."""
    asked, drawn, sides = row.question, row.drawn, _sides(metric)
    found = []
    for side in sides:
        row.question, row.drawn = replace(asked, alternative=side, margin_bounds=None), drawn
        resampled_log_p(row, settings)
        found.append((row.log_p, row.extreme))
    row.log_p, row.extreme = min(found)
    row.drawn = drawn
    if len(sides) == 2 and row.extreme is not None:
        row.log_p = min(0.0, row.log_p + float(np.log(2)))
        row.tails = 2
    row.question = asked
    row.side = metric.extreme
    row.beyond = float(oriented(np.asarray(row.statistic), metric.extreme))


def _observed(metric: Omnibus, stratum: Everybody) -> float:
    try:
        return float(stratum.evaluate(stratum.counts))
    except MetricError as error:
        raise ParameterError(f"metric cannot be computed: {error}") from error


def check_omnibus(metric: Omnibus, settings: Settings) -> None:
    """Refuse what has no meaning for all groups at once.

    Raises
    ------
    ValueError
        If an alternative, a margin, a comparison or a method is asked for that it does not have.
    """
    question = settings.question
    if question.alternative != "two-sided" or question.margin_bounds is not None:
        raise ParameterError(
            f"metric={metric.name!r} looks at all groups at once and tests independence: it has no alternative or "
            "margin; use alternative='two-sided' and margin=None"
        )
    if settings.compare != "between_groups" and not settings.crossed:
        raise ParameterError(
            f"metric={metric.name!r} looks at all groups at once: use compare='between_groups', not "
            f"{settings.compare!r}"
        )
    if question.method not in ("auto", "permutation"):
        raise ParameterError(
            f"metric={metric.name!r} is tested by permuting labels: use method='auto', not {question.method!r}"
        )
