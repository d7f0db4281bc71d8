"""Metrics that look at all groups at once: one row, tested by permuting everybody's labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.calibration import check_calibration
from skfairtest.comparisons.contrasts import Design
from skfairtest.comparisons.core import Comparison, Estimate, Evidence, Exclusion, Measurement, NullDistribution
from skfairtest.comparisons.resample import evidence_of_draws, orient, resample
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.draws import permuted
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import sequential_p
from skfairtest.metrics import Calibration, Context, MetricError, Omnibus
from skfairtest.tables import Kinds

#: Who is compared, and why they may not be.
NAME, UNDEFINED = "everybody", "undefined for these people"


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


@dataclass(frozen=True)
class OmnibusNull(NullDistribution):
    """The null distribution of a metric of all groups, some values of which are evidence against independence."""

    extreme: str

    @property
    def side(self) -> str:
        """Which values are evidence against independence."""
        return self.extreme

    #: Whether the statistic is the metric itself.
    is_metric: ClassVar[bool] = True


def measure_omnibus(design: Design, metric: Omnibus, kinds: Kinds, seed: np.random.SeedSequence) -> Measurement:
    """Make and test the comparisons of a metric of all groups: one for everybody, and one for each stratum."""
    # A p-value that may be twice that of a side has no number of resamples that is enough for either.
    sample, settings = design.sample, replace(design.settings, n_decisive=None)
    strata = []
    for number in range(len(sample.strata)):
        within, counts = kinds.within(number, [np.arange(len(sample.groups)) == g for g in design.kept])
        keys = [sample.groups[g] for g in design.kept]
        statistic = metric.statistic(Context(within.values, design.pos_label), keys, sample.sensitive_names)
        block = within.blocks(None if settings.within == "auto" else settings.within)
        strata.append(Everybody(statistic, counts, block, within.rows, within.weight))
    observed = np.array([_observed(stratum) for stratum in strata])
    people = np.array([float(stratum.counts.sum()) for stratum in strata])
    numbers = np.flatnonzero(~np.isnan(observed)).tolist()
    if not numbers:
        n = int(people.sum())
        return Measurement(excluded=(Exclusion(metric.name, NAME, None, None, UNDEFINED, n, n, 1),))
    drawn = _draw(metric, [strata[s] for s in numbers], observed[numbers], settings, seed)
    share = people[numbers] / people[numbers].sum()
    null = OmnibusNull(design.question(metric), metric.extreme, studentized=False)
    comparisons, excluded = [], []
    for place in design.places:
        n, stratum = int(people.sum() if place is None else people[place]), design.stratum(place)
        if place is None:
            value, column = float(share @ observed[numbers]), drawn @ share
        elif place in numbers:
            value, column = float(observed[place]), drawn[:, numbers.index(place)]
        else:
            excluded.append(Exclusion(metric.name, NAME, None, stratum, UNDEFINED, n, n, 1))
            continue
        contrast = Contrast(design.kept[0], None, stratum=place)
        estimate = Estimate(metric.name, None, None, stratum, contrast, n, n, np.nan, np.nan, value)
        comparisons.append(Comparison(estimate, null, _evidence(value, column, null, settings)))
    return Measurement(tuple(comparisons), tuple(excluded))


def _draw(
    metric: Omnibus, strata: list[Everybody], observed: Floats, settings: Settings, seed: np.random.SeedSequence
) -> Floats:
    """Draw the metric of every stratum, (n, S); one stratum alone may stop early."""

    def done(parts: list[Floats]) -> bool:
        so_far, value = np.concatenate(parts), float(observed[0])
        return all(sequential_p(so_far, value, side) is not None for side in _sides(metric.extreme))

    early = done if len(strata) == 1 else None
    seeds = seed.spawn(len(strata))
    columns = [
        resample(stratum.draw, settings, own, what=metric.name, done=early, times=len(strata) if first else 0)
        for stratum, own, first in zip(strata, seeds, [True, *[False] * len(strata)], strict=False)
    ]
    return np.stack([np.concatenate(column) for column in columns], axis=1)


def _sides(extreme: str) -> list[str]:
    return ["greater", "less"] if extreme == "two-sided" else [extreme]


def _evidence(value: float, drawn: Floats, null: OmnibusNull, settings: Settings) -> Evidence:
    """Count in the direction that is evidence against independence; twice the smaller tail where neither does."""
    sides = _sides(null.extreme)
    found = [evidence_of_draws(drawn, value, side, settings, "permutation", np.nan) for side in sides]
    least = min(found, key=lambda one: (one.log_p, one.n_extreme, one.n_defined))
    log_p = min(0.0, least.log_p + float(np.log(2))) if len(sides) == 2 else least.log_p
    beyond = orient(value, null.extreme)
    return replace(
        least,
        log_p=log_p,
        n_tails=len(sides),
        draws=drawn,
        oriented_statistic=beyond,
        n_undefined=found[-1].n_undefined,
    )


def _observed(stratum: Everybody) -> float:
    try:
        return float(stratum.evaluate(stratum.counts))
    except MetricError as error:
        raise ParameterError(f"metric cannot be computed: {error}") from error


def check_omnibus(metric: Omnibus, settings: Settings) -> None:
    """Refuse parameters that have no meaning for all groups at once.

    Raises
    ------
    ValueError
        If an alternative, a margin, a comparison or a method is set that does not exist for it.
    """
    if isinstance(metric, Calibration):
        check_calibration(metric, settings)
        return
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
