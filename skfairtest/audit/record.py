"""What an audit found: everything that its reports say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons import frames
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import setup_of
from skfairtest.comparisons.null_histogram import minimum_detectable, null_histogram_of
from skfairtest.comparisons.orientation import oriented, oriented_histogram
from skfairtest.group.spread import FEWEST, spread_of, spread_sentence
from skfairtest.metrics import Rate
from skfairtest.report.cells import homogeneity_sentences, records
from skfairtest.report.draw import NullHistogram
from skfairtest.report.mixin import PEOPLE, library_versions, names_of
from skfairtest.report.record import Recorded
from skfairtest.report.report import Report, listed
from skfairtest.report.sentences import (
    FOUND,
    NOT_FOUND,
    Setup,
    finding_sentence,
    in_unit,
    lost_metrics,
    not_tested,
    smallest_p,
)
from skfairtest.tables import Sample

#: Groupings that the verdict names, and groups that are many.
NAMED, MANY = 3, 5
#: The frames of each part, which those of the audit are put together from.
FRAMES = ("by_group", "comparisons", "excluded")


@dataclass(frozen=True, eq=False)
class AuditPart(Recorded):
    """One grouping of the people; a written record has its frames as tables."""

    sensitive: tuple[str, ...]
    control: tuple[str, ...]
    setup: Setup
    by_group: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)
    excluded: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

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
    """Everything that a report of an audit says."""

    created: str
    title: str
    about: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    versions: Mapping[str, str]
    parameters: Mapping[str, Any]
    p_value_interval: tuple[float, float]
    n_samples: int
    pos_label: Any = None
    negative_labels: tuple[Any, ...] = ()
    parts: tuple[AuditPart, ...]
    not_compared: tuple[tuple[str, str], ...] = ()
    leading: tuple[int, int]
    null_distribution: NullHistogram | None = None
    warnings: tuple[str, ...] = ()
    beside: tuple[Report, ...] = ()
    impact: tuple[str, ...] = ()
    individual_verdict: str | None = None
    provenance: Mapping[str, Any]
    accepted: Mapping[str, str] = field(default_factory=dict)

    @property
    def setup(self) -> Setup:
        """How sentences of the whole audit are written."""
        return self.parts[0].setup

    @property
    def n_comparisons(self) -> int:
        """The number of comparisons that were adjusted together."""
        return sum(len(part.comparisons) for part in self.parts)

    @property
    def n_found(self) -> int:
        """The number of significant comparisons."""
        return sum(int(part.comparisons["concern"].sum()) for part in self.parts)

    @property
    def p_value(self) -> float:
        """The smallest adjusted p-value."""
        return float(pd.concat([part.comparisons["p_value_adjusted"] for part in self.parts]).min())

    @property
    def untested(self) -> dict[str, list[str]]:
        """Metrics, and groupings, in which nothing could be compared, by the reason."""
        lost: dict[tuple[str, str], list[str]] = {}
        for part in self.parts:
            for reason, metrics in lost_metrics(part.excluded, part.comparisons["metric"]).items():
                for metric in metrics:
                    lost.setdefault((metric, reason), []).append(f"{metric} by {label(part.feature)}")
        found: dict[str, list[str]] = {}
        for (metric, reason), names in lost.items():
            found.setdefault(reason, []).extend([metric] if len(names) == len(self.parts) else names)
        for name, reason in self.not_compared:
            found.setdefault(reason, []).append(f"by {label(name)}")
        return found

    @property
    def sentence(self) -> str:
        """The verdict: whether there is a significant disparity, where, its p-value, and what could not be tested."""
        n, n_found, setup = self.n_comparisons, self.n_found, self.setup
        p = f"{smallest_p(self.p_value, n)}, level {100 * setup.alpha:g}%"
        beyond, total = "" if setup.margin_bounds is None else " beyond the margin", pluralize(n, "comparison")
        if n_found:
            lead = "The comparison shows" if n == 1 else f"{n_found:,} of {total} show{'s' * (n_found == 1)}"
            said = (
                f"{lead} a significant disparity{beyond}, more than chance explains: {enumerated(self._where())}; {p}."
            )
        else:
            names = enumerated([f"by {label(part.feature)}" for part in self.parts], most=NAMED)
            said = (
                f"No significant disparity{beyond} was detected {names}, in {total} ({p}). This does not prove "
                "fairness: each comparison says how large a disparity it could have missed."
            )
        return f"{said}{not_tested(self.untested)}"

    def _where(self) -> list[str]:
        """Name the groupings with significant disparities: features one by one, and how many crossings."""
        found = [(part, int(part.comparisons["concern"].sum()), len(part.comparisons)) for part in self.parts]
        fewest = min(len(part.sensitive) for part in self.parts)
        single = sorted((one for one in found if one[1] and len(one[0].sensitive) == fewest), key=lambda one: -one[1])
        names = [f"by {label(part.feature)} ({n:,} of {total:,})" for part, n, total in single]
        names[NAMED:] = [f"by {len(names) - NAMED:,} more"] * (len(names) > NAMED)
        crossed = [each[1:] for each in found if len(each[0].sensitive) > fewest]
        if n := sum(n for n, _ in crossed):
            names.append(f"at intersections ({n:,} of {sum(total for _, total in crossed):,})")
        return names

    def oriented(self) -> Self:
        """Return the record with the comparisons of all its parts, and its null distribution, as reports show them."""
        parts = tuple(replace(part, comparisons=oriented(part.setup, part.comparisons)) for part in self.parts)
        (part, row), histogram = self.leading, self.null_distribution
        if histogram is not None:
            histogram = oriented_histogram(self.parts[part].setup, self.parts[part].comparisons, row, histogram)
        return replace(self, parts=parts, null_distribution=histogram)


def record_of(
    results: Sequence[Result], *, subject: str, parameters: Mapping[str, Any], doubts: Sequence[str], **known: Any
) -> AuditRecord:
    """Return the record of an audit, made now: `doubts` are about the predictions, `known` are further fields."""
    verdict = results[0].verdict
    part, row = verdict.leading
    return AuditRecord(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        title=f"Fairness audit of {subject}",
        versions=dict(library_versions()),
        parameters=parameters,
        p_value_interval=verdict.limits,
        pos_label=results[0].pos_label,
        negative_labels=tuple(results[0].negative_labels),
        parts=tuple(_part_of(*each, parameters) for each in zip(results, minimum_detectable(results), strict=True)),
        leading=verdict.leading,
        null_distribution=null_histogram_of(results[part].comparisons[row]),
        beside=(
            *listed("Are disparities the same in every stratum?", chain.from_iterable(map(_homogeneity, results))),
            *listed("How much of the gaps is noise?", chain.from_iterable(map(_spread, results))),
        ),
        warnings=tuple(dict.fromkeys([*doubts, *(line for result in results for line in frames.cautions(result))])),
        **known,
    )


def _spread(result: Result) -> list[str]:
    """Say of one grouping how much of the gaps between many groups is noise, once for complementary rates."""
    sample, said = result.sample, dict[tuple[float, ...], str]()
    if type(sample) is not Sample or sample.weight is not None or sample.clusters is not None or sample.control_names:
        return []
    values, level = frames.by_group(result)[1](), 1 - result.settings.alpha
    feature = label(setup_of(result).features)
    for name in [metric.name for metric in result.metrics if isinstance(metric, Rate) and metric.value is None]:
        rows = values[values["metric"] == name]
        if (n_groups := int((rows["n_effective"] >= FEWEST).sum())) >= MANY:
            found, _ = spread_of(rows, by_people=False, confidence_level=level, n_resamples=999, random_state=0)
            key = tuple(np.round([found.observed, found.observed_range], 9).tolist())
            said.setdefault(key, f"By {feature}: {spread_sentence(name, n_groups, found, level)}")
    return list(said.values())


def _homogeneity(result: Result) -> list[str]:
    setup, shown = setup_of(result), (frames.homogeneity_columns, frames.comparisons_columns)
    said = homogeneity_sentences(setup, *(frames.frame_of(columns(result.comparisons)) for columns in shown))
    return [f"By {label(setup.features)}: {line}" for line in said]


def _part_of(result: Result, detectable: Floats, parameters: Mapping[str, Any]) -> AuditPart:
    sample, unit = result.sample, parameters["unit"]
    assert sample is not None
    setup = setup_of(result)
    words: dict[str, Any] = {name: parameters.get(name) for name in ("positive_means", "favorable")}
    setup = replace(setup, unique=setup.unique and unit == PEOPLE, **words)
    comparisons = frames.frame_of(frames.comparisons_columns(result.comparisons))
    comparisons.insert(len(comparisons.columns) - 2, "minimum_detectable", detectable)
    verdicts = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
    comparisons.insert(len(comparisons.columns) - 2, "verdict", verdicts)
    shown = (frames.by_group(result)[1](), comparisons, frames.excluded_frame(result.excluded))
    said = [finding_sentence(setup, row) for row in records(oriented(setup, comparisons))]
    if unit != PEOPLE:
        names = names_of({"_setup": setup, **dict(zip(FRAMES, shown, strict=True))})
        said = [in_unit(sentence, unit, names) for sentence in said]
    comparisons.insert(list(comparisons).index("method"), "sentence", pd.Series(said, dtype=object))
    for frame in shown:
        frame.insert(0, "feature", pd.Series([setup.features] * len(frame), dtype=object))
    return AuditPart(sample.sensitive_names, sample.control_names, setup, *shown)
