"""What an audit found: everything that its reports say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.impact import ImpactRecord
from skfairtest.paired.record import PairedRecord
from skfairtest.report import plain
from skfairtest.report.cells import oriented, oriented_histogram
from skfairtest.report.draw import NullHistogram
from skfairtest.report.record import Recorded
from skfairtest.report.sentences import Setup, lost_metrics, not_tested, smallest_p
from skfairtest.report.wording import check_words
from skfairtest.subgroups.scan import ScanRecord

#: Groupings that the verdict names.
NAMED = 3


@dataclass(frozen=True)
class Accepted(Recorded):
    """A known finding, by the identifier that `skfairtest.audit.findings` gives the comparison, and its reason."""

    id: str
    reason: str


@dataclass(frozen=True)
class AuditVerdict(Recorded):
    """What decides an audit: one family of comparisons.

    Parameters
    ----------
    concern : bool
        Whether any adjusted p-value is at most the level.
    p_value : float
        The smallest adjusted p-value.
    p_value_interval : (float, float)
        Limits of its Monte-Carlo error.
    alpha : float
        The level.
    adjust : str or None
        The adjustment that was run.
    n_samples : int
        People.
    n_comparisons, n_found : int
        Comparisons that were adjusted together, and how many of them are significant.
    pos_label : object
        The label counted as positive.
    negative_labels : tuple
        The other labels.
    """

    concern: bool
    p_value: float
    p_value_interval: tuple[float, float]
    alpha: float
    adjust: str | None
    n_samples: int
    n_comparisons: int
    n_found: int
    pos_label: Any = None
    negative_labels: tuple[Any, ...] = ()

    @staticmethod
    def of(comparisons: Sequence[pd.DataFrame]) -> dict[str, Any]:
        """What follows from the comparisons of all parts."""
        every = pd.concat(comparisons, ignore_index=True)
        found = int(every["concern"].sum())
        p_value = float(every["p_value_adjusted"].min())
        return {"concern": found > 0, "p_value": p_value, "n_comparisons": len(every), "n_found": found}


#: Columns of the frames of a part.
COLUMNS = {
    "by_group": (
        "metric", "stratum", "group", "n", "n_effective", "value", "standard_error", "ci_low", "ci_high", "small",
    ),
    "comparisons": (
        "metric", "group", "other", "disparity", "ci_low", "ci_high", "stratum", "n_group", "n_other", "value_group",
        "value_other", "standard_error", "statistic", "method", "p_value", "minimum_detectable", "verdict",
        "p_value_adjusted", "concern",
    ),
    "excluded": ("metric", "group", "other", "stratum", "reason", "n", "n_effective", "comparisons"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class AuditPart(Recorded):
    """What one grouping of the people says, its p-values adjusted for the whole audit.

    Parameters
    ----------
    sensitive, control : tuple of str
        Names of the features that make the groups, and of those that make the strata.
    setup : Setup
        How sentences are written.
    by_group, comparisons, excluded : DataFrame
        Values by group and stratum, one row per comparison, and what was left out.
    """

    sensitive: tuple[str, ...]
    control: tuple[str, ...]
    setup: Setup
    by_group: pd.DataFrame
    comparisons: pd.DataFrame
    excluded: pd.DataFrame

    @classmethod
    def of(cls, sensitive: tuple[str, ...], control: tuple[str, ...], setup: Setup, **frames: pd.DataFrame) -> Self:
        """Return the part of frames, with the columns of `COLUMNS`."""
        kept = {name: frames[name][list(columns)] for name, columns in COLUMNS.items()}
        return cls(sensitive, control, replace(setup, names=sensitive), **kept)

    def in_words(self, positive_means: str | None, favorable: bool | None) -> Self:
        """Return the part with sentences that say what a positive prediction means."""
        if (self.setup.positive_means, self.setup.favorable) == (positive_means, favorable):
            return self
        return replace(self, setup=replace(self.setup, positive_means=positive_means, favorable=favorable))

    @property
    def feature(self) -> str:
        """The name of the grouping: "race", "race x sex"."""
        return self.setup.features

    @property
    def pools_groups(self) -> bool:
        """Whether a group is compared with several groups together."""
        groups = {group if isinstance(group, tuple) else (group,) for group in self.by_group["group"]}
        if self.setup.compare == "to_parents":  # a parent leaves one feature open
            return any(len(set(values)) > 2 for values in zip(*groups, strict=True))
        return self.setup.compare in ("to_overall", "to_rest") and len(groups) > 2


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditRecord(Recorded):
    """Everything that a report of an audit says. The module says what each field holds."""

    created: str
    title: str
    subject: str
    about: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    versions: Mapping[str, str]
    parameters: Mapping[str, Any]
    verdict: AuditVerdict
    parts: tuple[AuditPart, ...]
    not_compared: tuple[tuple[str, str], ...] = ()
    leading: tuple[int, int]
    null_distribution: NullHistogram | None = None
    warnings: tuple[str, ...] = ()
    scan: ScanRecord | None = None
    impact: ImpactRecord | None = None
    baseline: PairedRecord | None = None
    individual: tuple[str, ...] = ()
    individual_verdict: str | None = None
    homogeneity: tuple[str, ...] = ()
    provenance: Mapping[str, Any]
    accepted: tuple[Accepted, ...] = ()

    def __post_init__(self) -> None:
        """Make everything plain, so that a record is the same before it is written and after it is read."""
        object.__setattr__(self, "parameters", plain.plain_value(self.parameters))
        # Sentences say what a positive prediction means, as the parameters do.
        words = {name: self.parameters.get(name) for name in ("positive_means", "favorable")}
        check_words(**words)
        object.__setattr__(self, "parts", tuple(part.in_words(**words) for part in self.parts))
        if self.scan is not None:
            object.__setattr__(self, "scan", self.scan.in_words(**words))

    @property
    def setup(self) -> Setup:
        """How sentences of the whole audit are written."""
        return self.parts[0].setup

    @property
    def untested(self) -> dict[str, list[str]]:
        """Metrics, and groupings, in which nothing could be compared, by the reason."""
        lost: dict[tuple[str, str], list[str]] = {}
        for part in self.parts:
            for both in lost_metrics(part.excluded, part.comparisons["metric"]).items():
                lost.setdefault(both, []).append(f"{label(both[0])} by {label(part.feature)}")
        found: dict[str, list[str]] = {}
        for (metric, reason), names in lost.items():
            found.setdefault(reason, []).extend([label(metric)] if len(names) == len(self.parts) else names)
        for name, reason in self.not_compared:
            found.setdefault(reason, []).append(f"by {label(name)}")
        return found

    @property
    def sentence(self) -> str:
        """The verdict: whether there is a significant disparity, where, its p-value, and what could not be tested."""
        return f"{self._found}{not_tested(self.untested)}"

    @property
    def _found(self) -> str:
        setup, several = self.setup, self.verdict.n_comparisons > 1
        asked = pluralize(self.verdict.n_comparisons, "comparison")
        p = smallest_p(self.verdict.p_value, self.verdict.n_comparisons)
        level = f"level {100 * setup.alpha:g}%"
        beyond = "" if setup.margin_bounds is None else " beyond the margin"
        if not self.verdict.concern:
            names = [f"by {label(part.feature)}" for part in self.parts]
            if len(names) > NAMED:
                single = [f"by {label(part.feature)}" for part in self.parts if len(part.sensitive) == 1][:NAMED]
                names = [*single, f"in {pluralize(len(names) - len(single), 'further grouping')}"]
            return (
                f"No significant disparity{beyond} was detected {enumerated(names)}, in {asked} "
                f"({p}, {level}). This "
                "does not prove fairness: each comparison says how large a disparity it could have missed."
            )
        shows = "show" if self.verdict.n_found > 1 else "shows"
        lead = f"{self.verdict.n_found:,} of {asked} {shows}" if several else "The comparison shows"
        differ = f"{lead} a significant disparity{beyond}, more than chance explains"
        return f"{differ}: {enumerated(self._places())}; {p}, {level}."

    def _places(self) -> list[str]:
        """Name the groupings with significant disparities: features one by one, and how many crossings."""
        found = [(part, int(part.comparisons["concern"].sum())) for part in self.parts]
        fewest = min(len(part.sensitive) for part in self.parts)
        single = sorted((one for one in found if one[1] and len(one[0].sensitive) == fewest), key=lambda one: -one[1])
        names = [f"by {label(part.feature)} ({n:,} of {len(part.comparisons):,})" for part, n in single[:NAMED]]
        if len(single) > NAMED:
            names.append(f"by {pluralize(len(single) - NAMED, 'further feature')}")
        crossed = [(part, n) for part, n in found if n and len(part.sensitive) > fewest]
        if crossed:
            total = sum(len(part.comparisons) for part, _ in found if len(part.sensitive) > fewest)
            names.append(f"at intersections ({sum(n for _, n in crossed):,} of {total:,})")
        return names

    def oriented(self) -> Self:
        """Return the record with the comparisons of all its parts, and its null distribution, as reports show them."""
        parts = tuple(replace(part, comparisons=oriented(part.setup, part.comparisons)) for part in self.parts)
        histogram = self.null_distribution
        if histogram is not None:
            part, row = self.leading
            histogram = oriented_histogram(self.parts[part].setup, self.parts[part].comparisons, row, histogram)
        return replace(self, parts=parts, null_distribution=histogram)

    def accepting(self, known: Sequence[Accepted]) -> Self:
        """Return the record with known disparities that are accepted; what is accepted again replaces the earlier."""
        return replace(self, accepted=tuple({each.id: each for each in (*self.accepted, *known)}.values()))
