"""The fewest decisions of one group that must change for the verdict on rates to change.

With true labels fixed, a change is described by the increase of predicted positives among the truly positive (``u``)
and among the truly negative (``v``); it takes ``|u| + |v|`` people. Exchanging predictions and true labels gives the
same for changed labels. Exact p-values are needed only near a level: elsewhere the score test's decides.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.multiplicity import discrete_holm_rejects
from skfairtest.inference.rates import Pair, Question, answer, equalities, score_log_p
from skfairtest.inference.unconditional import within_cap

#: Changes of this many people are all looked at; those of more until this many p-values were, then those along paths.
_FIRST, _LOOKED_AT = 8, 300_000
#: Changes whose exact p-values are found at a time, and fewer of margins, which take longer.
_BATCH, _FEW = 128, 8
#: Shares of u in the changes along paths; p-values looked at whenever their people double, and the most of a path.
_SHARES, _ALONG, _TRIED = (0.0, 0.25, 0.5, 0.75, 1.0), 300_000, 2048
#: How far below Fisher's the logarithm of Boschloo's p-value may be, times the root of the people of the smaller side:
#: measured, too; it was half of it at most.
BELOW_FISHER = 10.0
#: Expected counts from which on a score test is near enough to the exact one to settle a verdict.
_EXPECTED = 2.0
#: The fields of a pair; and by how much logarithms of equal p-values differ at most.
_COUNTS, _ROUNDING = ("x1", "d1", "x2", "d2"), 1e-8


def slack(log_p: Floats, expected: Floats) -> Floats:
    """Measured bound of the difference between the log p-values of the score test and the exact test."""
    return np.asarray(1.1 * np.maximum(-log_p, 1.0) ** 1.5 / np.sqrt(expected))


@dataclass(frozen=True, eq=False)
class Decided:
    """Counts of people by group, true label and prediction, and the hypotheses on rates that they decide.

    `sides` (hypotheses, groups) is 1, 2 or 0 for neither; `event` and `given` (hypotheses, 2, 2) mark the cells with
    the rate's event and condition. `together`: the verdict is about any significant hypothesis, whatever the
    adjustment.
    """

    counts: Integers
    sides: Integers
    event: Integers
    given: Integers
    questions: tuple[Question, ...]
    scales: tuple[Scale, ...]
    overall: tuple[bool, ...]
    log_p: Floats
    adjust: str | None
    level: float
    together: bool

    def __getstate__(self) -> dict[str, Any]:
        """The fields; what was computed from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _known(self) -> dict[Any, float]:
        return {}

    @cached_property
    def _ordered(self) -> dict[Any, list[tuple[float, float]]]:
        """Known (Fisher's, exact) p-values by question and people on both sides, in increasing order."""
        return {}

    def of_labels(self) -> Self:
        """The same with true labels in the place of predictions."""
        turned = {name: getattr(self, name).transpose(0, 2, 1) for name in ("counts", "event", "given")}
        return replace(self, **turned)

    @cached_property
    def _kinds(self) -> dict[tuple[Question, Scale, bool], Booleans]:
        kinds = list(zip(self.questions, self.scales, self.overall, strict=True))
        return {kind: np.array([own == kind for own in kinds]) for kind in dict.fromkeys(kinds)}

    @cached_property
    def _zone(self) -> tuple[float, float]:
        """Log p-values between which adjustment decides: below is always significant, above never."""
        return float(np.log(self.level / len(self.log_p))) - 1e-9, float(np.log(self.level)) + 1e-9

    @cached_property
    def _turnable(self) -> Booleans:
        """Whether changes in each group may change the verdict, given the p-values of hypotheses without that group."""
        untouched = (self.sides == 0).T
        below, above = self.log_p <= self._zone[0], self.log_p > self._zone[1]
        alone = above if self.questions[0].alternative == "equivalence" else below
        return np.asarray(~(untouched & alone).any(axis=1))

    def _moves(self, cells: Integers) -> Floats:
        """Change of each hypothesis's counts with u and with v: (2, hypotheses)."""
        return np.asarray(np.diff(cells)[:, ::-1, 0].T)

    def tables(self, changes: Integers) -> Pair:
        """The counts of each hypothesis after changes (group, u, v): arrays (changes, hypotheses)."""
        group, moved = changes[:, 0], changes[:, 1:]
        found = []
        for side in (1, 2):
            member = self.sides == side
            for cells in (self.event, self.given):
                before = np.einsum("hg,gtp,htp->h", member.astype(np.int64), self.counts, cells)
                found.append(before + member.T[group] * (moved @ self._moves(cells)))
        return Pair(*found)

    def verdicts(self, log_p: Floats) -> Integers:
        """1 for a significant disparity, else 0; -1 if all hypotheses are undefined."""
        n = (~np.isnan(log_p)).sum(axis=1)
        most = np.log(self.level) + 1e-12
        if self.questions[0].alternative == "equivalence":
            significant = np.fmax.reduce(log_p, axis=1) > most
        elif self.together and self.adjust is None:
            significant = np.fmin.reduce(log_p, axis=1) <= most
        else:
            # Of all adjustments, and of Bonferroni's if there is none, n times the smallest; step-up takes others too.
            steps = np.ones(1)
            if self.together and self.adjust == "fdr_bh":
                log_p, steps = np.sort(log_p, axis=1), np.arange(1.0, log_p.shape[1] + 1)
            with np.errstate(divide="ignore"):
                significant = np.fmin.reduce(log_p - np.log(steps), axis=1) + np.log(n) <= most
        return np.where(n > 0, significant, -1)

    @cached_property
    def verdict(self) -> int:
        """The verdict without a change."""
        if self.adjust == "discrete_holm":
            return int(self._discrete_verdicts(np.zeros((1, 3), dtype=np.int64))[0])
        return int(self.verdicts(self.log_p[None])[0])

    def _discrete_verdicts(self, changes: Integers) -> Integers:
        rates = self.given.any(axis=(1, 2))
        table, others = self.tables(changes), self.log_p[~rates & ~np.isnan(self.log_p)]
        counts = [getattr(table, name)[:, rates] for name in _COUNTS]
        significant = discrete_holm_rejects(counts, self.questions[0].alternative, self.level, others)
        defined = ((counts[1] > 0) & (counts[3] > 0)).any(axis=1) | (len(others) > 0)
        return np.where(defined, significant, -1)

    def _bounds(self, table: Pair) -> tuple[Floats, Floats]:
        now = self.tables(np.zeros((1, 3), dtype=np.int64))
        moved = np.any([getattr(table, name) != getattr(now, name) for name in _COUNTS], axis=0)
        low = np.broadcast_to(self.log_p, moved.shape).copy()
        high = low.copy()
        for (question, scale, overall), own in self._kinds.items():
            at = np.nonzero(moved & own)
            x1, d1, x2, d2 = (getattr(table, name)[at].astype(float) for name in _COUNTS)
            with np.errstate(all="ignore"):
                people, events = d1 + d2, x1 + x2
                expected = np.minimum(d1, d2) * np.minimum(events, people - events) / people
                score = scale.is_identity and not overall
                score &= question.disparity != "odds_ratio" or question.margin_bounds is None
                near = score_log_p(x1, d1, x2, d2, question) if score else np.zeros_like(x1)
                error = np.where(score & (expected >= _EXPECTED), slack(near, expected), np.inf)
            near[(d1 == 0) | (d2 == 0)] = np.nan
            low[at], high[at] = near - error, np.minimum(near + error, 0.0)
        return low, high

    def _unknown(self, low: Floats, high: Floats) -> Booleans:
        """The p-values that need a more accurate computation."""
        return np.asarray((low < high) & (high > self._zone[0]) & (low <= self._zone[1]))

    def settle(self, changes: Integers, now: int) -> Booleans:
        """Whether each change reverses the verdict `now`; changes increase in people, and the first ends the search."""
        table, people = self.tables(changes), np.abs(changes[:, 1:]).sum(axis=1)
        if self.adjust == "discrete_holm":
            reverses = np.zeros(len(changes), dtype=bool)
            for start in range(0, len(changes), _BATCH):
                if people[start] <= people[reverses].min(initial=people.max()):
                    some = slice(start, start + _BATCH)
                    reverses[some] = self._discrete_verdicts(changes[some]) == 1 - now
            return reverses
        low, high = self._bounds(table)
        fisher = np.full(low.shape, np.nan)
        first = self.verdicts(low)
        last, open_ = first.copy(), np.flatnonzero(self._unknown(low, high).any(axis=1))
        last[open_] = self.verdicts(high[open_])
        batch = _BATCH if self.questions[0].margin_bounds is None else _FEW
        while True:
            sure = first == last
            turned = sure & (first == 1 - now)
            open_ = np.flatnonzero(~sure & (people <= people[turned].min(initial=people.max())))[:batch]
            if not len(open_):
                return np.asarray(turned)
            unknown = self._unknown(low[open_], high[open_])
            # First those small enough to be the first one rejected: others rarely matter.
            smallest = np.log(self.level / np.maximum((~np.isnan(low[open_])).sum(axis=1), 1)) + 1e-9
            small = unknown & (low[open_] <= smallest[:, None])
            rows, columns = np.nonzero(np.where(small.any(axis=1)[:, None], small, unknown))
            self._narrow(table, low, high, fisher, open_[rows], columns)
            first[open_], last[open_] = self.verdicts(low[open_]), self.verdicts(high[open_])

    def _narrow(
        self, table: Pair, low: Floats, high: Floats, fisher: Floats, rows: Integers, columns: Integers
    ) -> None:
        """Replace the score test's p-values by Fisher's, and those by exact ones if needed."""
        for (question, scale, overall), of_kind in self._kinds.items():
            at = rows[of_kind[columns]], columns[of_kind[columns]]
            counts = np.stack([getattr(table, name)[at] for name in _COUNTS], axis=1)
            equality = question.margin_bounds is None and question.method in ("auto", "exact")
            equality &= question.disparity != "odds_ratio"
            ordered = equality & within_cap(counts[:, 1], counts[:, 3])
            new = ordered & np.isnan(fisher[at])
            if new.any():
                where = at[0][new], at[1][new]
                x1, d1, x2, d2 = counts[new].T
                fisher[where] = conditional_log_p(x1, d1, x2, d2, question.alternative)
                high[where] = np.minimum(high[where], fisher[where])
                low[where] = np.minimum(fisher[where] - BELOW_FISHER / np.sqrt(np.minimum(d1, d2)), high[where])
            tested = ~ordered
            alike: dict[Any, list[int]] = {}
            for number in np.flatnonzero(ordered).tolist():
                alike.setdefault((question, *counts[number, 1::2].tolist()), []).append(number)
            for key, numbers in alike.items():
                where, around = (at[0][numbers], at[1][numbers]), np.array(self._ordered.get(key, [])).reshape(-1, 2)
                exact = np.r_[-np.inf, around[:, 1], np.inf]
                least = exact[np.searchsorted(around[:, 0], fisher[where], side="right")] - _ROUNDING
                most = exact[np.searchsorted(around[:, 0], fisher[where]) + 1] + _ROUNDING
                high[where] = np.minimum(high[where], most)
                low[where] = np.minimum(np.maximum(low[where], least), high[where])
                # The one in the middle of those not settled bounds most of the others.
                open_ = np.flatnonzero((low[where] < high[where]) & ~new[numbers])
                if len(open_):
                    tested[numbers[open_[np.argsort(fisher[where][open_])[len(open_) // 2]]]] = True
            at, counts = (at[0][tested], at[1][tested]), counts[tested]
            keys = [(question, scale, overall, *key) for key in counts.tolist()]
            missing = [key for key in dict.fromkeys(keys) if key not in self._known]
            pairs = [Pair(*np.array(key[3:])[:, None], overall) for key in missing]  # type: ignore[call-arg]
            if equality and pairs:
                found = [log_p for log_p, _ in equalities(pairs, question.alternative)]
            else:
                found = [answer(pair, scale, question).log_p for pair in pairs]
            self._known.update(zip(missing, found, strict=True))
            low[at] = high[at] = [self._known[key] for key in keys]
            for key, both in zip(counts[:, 1::2].tolist(), zip(fisher[at], high[at], strict=True), strict=True):
                if not np.isnan(both[0]):
                    insort(self._ordered.setdefault((question, *key), []), both)

    def turns(self) -> tuple[list[list[int]], bool]:
        """The smallest change (group, u, v) that reverses the verdict, for each group with one of that size.

        The second value is False if the search was not exhaustive, so that fewer people may be enough.
        """
        now = self.verdict
        reach = self._reach()
        # The most people there are to change, by group.
        most = (self._turnable & (now >= 0)) * reach.max(axis=2).sum(axis=1)
        done, radius, looked_at, every = 0, 2, 0, True
        while (most > done).any():
            near = np.minimum(reach * (most > done)[:, None, None], radius)
            # About half of the changes by at most this many in each direction are by this many people.
            looked_at += int((near.sum(axis=2) + 1).prod(axis=1).sum()) // 2 * len(self.log_p)
            every &= done < _FIRST or looked_at <= _LOOKED_AT
            changes = (self._changes if every else self._along_paths)(near, done, radius)
            turned, people = self.settle(changes, now), np.abs(changes[:, 1:]).sum(axis=1)
            if not turned.any():
                done, radius = radius, 2 * radius
                continue
            fewest = int(people[turned].min())
            before = int(people[people < fewest].max(initial=done))
            if every or fewest - before == 1:
                return _fewest(changes[turned]), every
            done, radius = before, fewest  # between two numbers tried along paths
        return [], every

    def _reach(self) -> Integers:
        """Ranges of u and v in each group, (groups, 2, 2)."""
        reach = self.counts[:, ::-1, ::-1]  # u before v, and of each those predicted positive first
        matters = (self._moves(self.event) != 0) | (self._moves(self.given) != 0)
        return np.asarray(reach * matters.any(axis=1)[:, None])

    def _changes(self, reach: Integers, done: int, radius: int) -> Integers:
        """All changes (group, u, v) of more than `done` and at most `radius` people, in increasing order."""
        found = []
        for group, far in enumerate(reach):
            u, v = (a.ravel() for a in np.mgrid[-far[0, 0] : far[0, 1] + 1, -far[1, 0] : far[1, 1] + 1])
            people = np.abs(u) + np.abs(v)
            kept = (people > done) & (people <= radius)
            found.append(np.stack([np.full(kept.sum(), group), u[kept], v[kept]], axis=1))
        changes = np.concatenate(found)
        return changes[np.argsort(np.abs(changes[:, 1:]).sum(axis=1), kind="stable")]

    def _along_paths(self, reach: Integers, done: int, radius: int) -> Integers:
        """Changes with fixed proportions of u, of more than `done` and at most `radius` people, in increasing order."""
        paths = len(reach) * 4 * len(_SHARES)
        n = min(_TRIED, max(16, _ALONG // (paths * len(self.log_p))))
        tried = np.unique(np.linspace(done + 1, radius, n).astype(np.int64))
        group, up, further, number, people = np.indices((len(reach), 2, 2, len(_SHARES), len(tried))).reshape(5, -1)
        far, farther = reach[group, 0, up], reach[group, 1, further]
        people = np.minimum(tried[people], far + farther)
        u = np.minimum(np.rint(np.array(_SHARES)[number] * people).astype(np.int64), far)
        u = np.maximum(u, people - farther)
        moved = np.stack([group, u * (2 * up - 1), (people - u) * (2 * further - 1)], axis=1)[people > done]
        changes = np.unique(moved, axis=0)
        return changes[np.argsort(np.abs(changes[:, 1:]).sum(axis=1), kind="stable")]


def _fewest(changes: Integers) -> list[list[int]]:
    """The changes (group, u, v) of the fewest people, per group the one with the fewest kinds of changes."""
    people = np.abs(changes[:, 1:]).sum(axis=1)
    tied = changes[people == people.min()].tolist()
    tied.sort(key=lambda way: (way[0], way[1] != 0 and way[2] != 0, way))
    return list({group: [group, *moved] for group, *moved in reversed(tied)}.values())[::-1]
