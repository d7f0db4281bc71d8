"""The record of a scan: what reports of it, and of an audit that it is part of, say of the subgroups that differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pandas as pd

from skfairtest.report.consistency import ROUNDING, at_most, implausible, same
from skfairtest.report.plain import plain_value
from skfairtest.report.schema import Declared, array, between, count, made_of, number, one_of, record, text
from skfairtest.report.sentences import Setup, result_sentence

#: What is added for means.
OF_MEANS = (
    "Of means this is exact where nothing differs, and approximate, in large samples, where equal means have unequal "
    "distributions."
)
#: What each guarantee promises; {level} is the level of the test.
PROMISES = {
    "familywise": (
        "The probability that any of these hypotheses is rejected although it is true is at most {level}, whichever "
        "are true (Holm's procedure, in which a hypothesis counts only where its p-value could have been so small)."
    ),
    "split": (
        "Subgroups were chosen on a random half of the people and tested on the other half: the probability that any "
        "of those tested is rejected although its hypothesis is true is at most {level} (Holm)."
    ),
    "fdr": (
        "Of the hypotheses that are rejected, the expected share of true ones is at most {level}, whatever their "
        "dependence (Benjamini and Yekutieli). This holds for all that are rejected, not for those that are reported."
    ),
    "fdr_bh": (
        "Of the hypotheses that are rejected, the expected share of true ones is at most {level} under positive "
        "dependence (Benjamini and Hochberg). This holds for all that are rejected, not for those that are reported."
    ),
}
_SHARE = between(0, 1)
#: What is said of a subgroup that is reported, as `SubgroupScan.results_` has it.
RESULT = {
    "metric": text, "subgroup": text, "compared_with": text, "depth": count, "n_group": count, "n_other": count,
    "n_effective": count, "value_group": number, "value_other": number, "disparity": number, "statistic": number,
    "p_value": _SHARE, "p_value_adjusted": _SHARE, "ci_low": number, "ci_high": number, "p_value_given_above": _SHARE,
}  # fmt: skip


@dataclass(frozen=True)
class ScanSetup(Declared):
    """What sentences need to know about how a scan was set up.

    Parameters
    ----------
    sentences : Setup
        How the sentence of a subgroup is written.
    metrics, features, contextual : tuple of str
        Names of the metrics, of the features that tell people apart, and of those of contexts.
    max_depth, min_group_size : int
        As in the scan.
    guarantee : str
        As in the scan.
    """

    sentences: Annotated[Setup, made_of(Setup)]
    metrics: Annotated[tuple[str, ...], array(text, least=1)]
    features: Annotated[tuple[str, ...], array(text)]
    contextual: Annotated[tuple[str, ...], array(text)]
    max_depth: Annotated[int, count]
    min_group_size: Annotated[int, count]
    guarantee: Annotated[str, one_of(*PROMISES)]


@dataclass(frozen=True, eq=False)
class ScanRecord(Declared):
    """What a scan found.

    Parameters
    ----------
    setup : ScanSetup
        How it was set up.
    n_searched, n_tested, n_significant : int
        Subgroups searched, different hypotheses, and subgroups that differ.
    p_value, remaining_p_value : float
        As of the scan.
    results : tuple of mapping
        The subgroups that are reported, with the fields of `RESULT`.
    """

    setup: Annotated[ScanSetup, made_of(ScanSetup)]
    n_searched: Annotated[int, count]
    n_tested: Annotated[int, count]
    n_significant: Annotated[int, count]
    p_value: Annotated[float, _SHARE]
    remaining_p_value: Annotated[float, _SHARE]
    results: Annotated[tuple[Mapping[str, Any], ...], array(record(RESULT))]

    @property
    def frame(self) -> pd.DataFrame:
        """The subgroups that are reported, a row each."""
        return pd.DataFrame(list(self.results), columns=list(RESULT))

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about each subgroup that is reported."""
        return tuple(subgroup_sentence(self.setup.sentences, row) for row in self.results)

    def also(self) -> dict[str, Any]:
        """The subgroups, each with its sentence."""
        rows = zip(self.results, self.sentences, strict=True)
        return {"results": plain_value([{**row, "sentence": said} for row, said in rows])}

    def rebuilt(self) -> ScanRecord:
        """Return the record with the disparities of its values, and sentences about what was searched."""
        setup = self.setup
        sentences = replace(
            setup.sentences, compare="between_groups", disparity="difference", margin_bounds=None,
            features=", ".join(setup.features), adjust="holm", within="auto", people="",
        )  # fmt: skip
        rows = []
        for row in self.results:
            due = row["value_group"] - row["value_other"]
            rows.append({**row, "disparity": row["disparity"] if same(row["disparity"], due) else due})
        return replace(self, setup=replace(setup, sentences=sentences), results=tuple(rows))

    def in_words(self, positive_means: str | None, favorable: bool | None) -> ScanRecord:
        """Return the record with sentences that say what a positive prediction means."""
        sentences = replace(self.setup.sentences, positive_means=positive_means, favorable=favorable)
        return replace(self, setup=replace(self.setup, sentences=sentences))


def subgroup_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say how a subgroup that is reported differs from those it is compared with."""
    people = {"group": f"people with {row['subgroup']}", "other": row["compared_with"], "stratum": None}
    return result_sentence(setup, {**row, **people, "concern": True, "minimum_detectable": math.nan})


def unlikely_scan(scan: ScanRecord) -> Iterator[str]:
    """Yield a sentence for each number of a scan that cannot be beside the others."""
    setup, n = scan.setup, len(scan.results)
    alpha, familywise = setup.sentences.alpha, not setup.guarantee.startswith("fdr")
    if n > scan.n_significant or (n == 0) != (scan.n_significant == 0):
        yield f"n_significant is {scan.n_significant}, and {n} of these subgroups are in results"
    if not scan.n_significant <= scan.n_tested <= scan.n_searched:
        yield f"n_tested is {scan.n_tested}, and must be at most n_searched, {scan.n_searched}"
    if familywise and at_most(scan.p_value, alpha) != (n > 0):
        yield f"p_value is {scan.p_value:.12g} at level {alpha:.12g}, and results holds {n} subgroups"
    for i, row in enumerate(scan.results):
        place, adjusted = f"results[{i}]", row["p_value_adjusted"]
        yield from (f"{place}.{said}" for said in implausible(row, "disparity"))
        if row["metric"] not in setup.metrics:
            yield f"{place}.metric is {row['metric']!r:.60}, and setup.metrics does not name it"
        if not at_most(adjusted, alpha):
            yield f"{place}.p_value_adjusted is {adjusted:.12g}, and must be at most the level, {alpha:.12g}"
        if familywise and adjusted < scan.p_value * (1 - ROUNDING):
            yield f"{place}.p_value_adjusted is {adjusted:.12g}, and p_value must be the smallest: {scan.p_value:.12g}"
