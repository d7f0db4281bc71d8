"""The groups that take part and their contrasts, also against the group with the highest or lowest value.

The data choose that group, so a plain test against it rejects equal groups too often. All pairs are therefore adjusted
before those with the best group are kept. An interval is extended to the limits of the group's other pairs, to cover
the disparity to the truly best group.

References
----------
J. C. Hsu (1996). Multiple Comparisons: Theory and Methods. Chapter 4.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np

from skfairtest._utils.errors import GroupsMissing, ParameterError, brief
from skfairtest._utils.text import label, pluralize
from skfairtest.comparisons.core import Comparison, Exclusion, GroupValues
from skfairtest.comparisons.core import Design as Design
from skfairtest.comparisons.core import groups_of as groups_of
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.multiplicity import Equality, distinct
from skfairtest.inference.rate_draws import Contrast
from skfairtest.readers import is_label
from skfairtest.tables import Sample

#: A group's value is flagged when it rests on fewer people than this.
SMALL = 10
#: A value tested as a rate is flagged when fewer people than this are misplaced.
MISPLACED = 3
#: Skewness of a difference's error from which on it is too far from normal (that of six events is .4).
SKEWED = 0.4
#: A mean whose skewness is corrected for is flagged by itself when it rests on fewer people than this, on one at most;
#: and where it differs significantly, its error is more skewed than that towards equality, and rests on fewer people.
SINGLE, LOPSIDED, UNSEEN = 1.25, 0.05, 20
#: Why a comparison is only approximate.
FEW, EXTREME = "rests on few people, too few to say how uncertain it is", "depends on a few extreme people"
MISSED = "differs significantly, but so few people with values this skewed often lack the extreme ones"
FEW_IN_STRATA = "exceeds a margin, or lies within it, over strata of few people"
#: A group takes part in comparisons from this many people on.
SMALLEST_GROUP = 2
#: Comparisons of one table that are made at the most.
MOST_COMPARISONS = 100_000

#: The first comparison that was tested with a hypothesis.
Known = dict[Equality, Comparison]


def few_in_strata(comparisons: Iterable[Comparison], values: GroupValues, alpha: float) -> Iterator[tuple[Any, str]]:
    """Yield the groups whose margins are rejected over strata that include one with few people on a side."""
    for one in comparisons:
        sides = groups_of(values.n_effective.shape[1], one.contrast)
        people = np.array([values.n_effective[:, side].sum(axis=1) for side in sides]).min(axis=0)
        strata = people[people > 0]
        rejected = one.null.question.margin_bounds is not None and one.log_p <= np.log(alpha)
        if rejected and one.is_pooled and len(strata) > 1 and strata.min() < SMALL:
            yield one.group, FEW_IN_STRATA


def new_hypotheses(rows: Sequence[Comparison], known: Container[Hashable]) -> list[int]:
    """The places of comparisons whose hypothesis has not been tested yet, each once."""
    places = (places[0] for places in distinct([one.hypothesis for one in rows]))
    return [place for place in places if rows[place].hypothesis not in known]


def tested_once(rows: Sequence[Comparison], known: Known, test: Callable[[int], Comparison]) -> list[Comparison]:
    """The tests of comparisons by their places; a hypothesis is tested once, whichever comparisons are of it."""
    out = list[Comparison]()
    for place, row in enumerate(rows):
        first = None if row.hypothesis is None else known.get(row.hypothesis)
        out.append(test(place) if first is None else row.tested_as(first).updated(method=row.method))
        if row.hypothesis is not None:
            known.setdefault(row.hypothesis, out[-1])
    return out


def disparity_bounds(bounds: tuple[float, float], disparity: str) -> tuple[float, float]:
    """The smallest and largest disparity of values within bounds."""
    return (bounds[0] - bounds[1], bounds[1] - bounds[0]) if disparity == "difference" else (0.0, np.inf)


def kept_groups(
    sample: Sample, excluded: list[Exclusion], settings: Settings, n_metrics: int, least: int = SMALLEST_GROUP,
    why: str = "",
) -> list[int]:  # fmt: skip
    """The groups of at least this many people, which take part; list the others as excluded."""
    labels = sample.group_labels
    totals = sample.sizes.sum(axis=0)
    names = " x ".join(sample.sensitive_names)
    if len(labels) < 2:
        raise GroupsMissing(
            f"sensitive_features ({names}) holds one group only, {labels[0]!r} (n_samples={int(totals.sum())}): "
            "nothing can be compared; at least two groups are needed"
        )
    kept = [g for g, n in enumerate(totals.tolist()) if n >= least]
    if len(kept) < 2:
        raise GroupsMissing(
            f"sensitive_features ({names}) needs at least two groups of {least} or more people{why}; found "
            f"{', '.join(f'{label!r}: {n}' for label, n in list(zip(labels, totals.tolist(), strict=True))[:10])}"
            f"{f', ... ({len(labels):,} in all)' if len(labels) > 10 else ''}"
        )
    for g, n in enumerate(totals.tolist()):
        if n < least:
            reason = f"fewer than {least} people{why}: not compared"
            partners = {"between_groups": len(kept), "to_parents": len(sample.sensitive_names)}.get(settings.compare, 1)
            excluded.append(Exclusion(None, labels[g], None, None, reason, n, n, partners * n_metrics))
    return kept


def check_how_many(sample: Sample, n_groups: int, n_metrics: int, settings: Settings) -> None:
    """Check that comparisons are not too many to wait for: pairs at intersections grow fast."""
    in_pairs = settings.compare in ("between_groups", *BEST)
    places = 1 + len(sample.strata) * bool(sample.control_names and settings.by_stratum)
    found = (comb(n_groups, 2) if in_pairs else n_groups) * n_metrics * places
    if found > MOST_COMPARISONS:
        names = " x ".join(sample.sensitive_names)
        fewer = "compare_intersections='to_rest' or 'to_parents'" if settings.crossed else "compare='to_rest'"
        raise ParameterError(
            f"sensitive_features ({names}) makes {n_groups:,} groups; in {places - 1:,} strata and all together, with "
            f"{pluralize(n_metrics, 'metric')}, these are {found:,} comparisons; at most {MOST_COMPARISONS:,} are "
            f"allowed: use {f'{fewer}, ' * in_pairs}fewer metrics, or coarser sensitive or control features"
        )


def contrasts_of(
    sample: Sample, kept: list[int], settings: Settings, excluded: list[Exclusion], n_metrics: int
) -> Iterator[tuple[Contrast, Any]]:
    """Each contrast with the label of the other side; contrasts that are impossible are listed as excluded."""
    labels = sample.group_labels
    if settings.compare == "between_groups":
        if len(kept) > 2 and settings.question.directed:
            alternative = settings.question.alternative
            what = "margin=(low, high)" if alternative == "equivalence" else f"alternative={alternative!r}"
            raise ParameterError(
                f"{what} needs a direction, which all pairs of {len(kept)} groups do not have: use "
                "compare='to_reference', 'to_rest' or 'to_overall'"
            )
        for first, second in combinations(kept, 2):
            yield Contrast(first, second), labels[second]
    elif settings.compare in BEST:
        if sample.control_names:
            raise ParameterError(
                f"compare={settings.compare!r} needs one value for each group, but with control_features a group has a "
                "different value in each pair, averaged over the strata of both: use compare='to_reference' or "
                "'between_groups'"
            )
        for first, second in permutations(kept, 2):
            yield Contrast(first, second), labels[second]
    elif settings.compare == "to_reference":
        reference = settings.reference_group
        if isinstance(reference, list):
            reference = tuple(reference)
        found = [place for place, label in enumerate(labels) if is_label(label, reference)]
        if not found:
            raise GroupsMissing(
                f"reference_group={brief(reference)} is not a group; the groups are {', '.join(map(repr, labels))}"
            )
        second = found[0]
        if second not in kept:
            raise GroupsMissing(f"reference_group={brief(reference)} has fewer than {SMALLEST_GROUP} people")
        for first in kept:
            if first != second:
                yield Contrast(first, second), labels[second]
    elif settings.compare == "to_parents":
        yield from _to_parents(sample, kept, excluded, n_metrics)
    else:
        overall = settings.compare == "to_overall"
        for first in kept:
            yield Contrast(first, None, overall), "overall" if overall else "rest"


def _to_parents(
    sample: Sample, kept: list[int], excluded: list[Exclusion], n_metrics: int
) -> Iterator[tuple[Contrast, str]]:
    """Pair each intersectional group with the rest of each of its parents, which share all its features but one."""
    names, groups, labels = sample.sensitive_names, sample.groups, sample.group_labels
    sizes = sample.sizes.sum(axis=0).tolist()
    parents: dict[tuple[Any, ...], list[int]] = {}
    shared = list(combinations(range(len(names)), len(names) - 1))
    for group, key in enumerate(groups):
        for places in shared:
            parents.setdefault((places, *(key[i] for i in places)), []).append(group)
    for first in kept:
        for places in shared:
            key = tuple(groups[first][i] for i in places)
            among = tuple(parents[places, *key])
            parent = ", ".join(f"{label(names[i])} = {label(value)}" for i, value in zip(places, key, strict=True))
            n, others = sizes[first], sum(sizes[group] for group in among) - sizes[first]
            if others >= SMALLEST_GROUP:
                yield Contrast(first, None, among=among), f"rest of {parent}"
                continue
            reason = f"{'only one other person has' if others else 'no one else has'} {parent}"
            excluded.append(Exclusion(None, labels[first], f"rest of {parent}", None, reason, n, n, n_metrics))


#: What `compare` may be, and whether the highest value is the best.
BEST = {"to_highest": True, "to_lowest": False}
#: Of these all tables have their margins if the number of events of all people is given.
GIVEN_TOGETHER = ("to_rest", "to_overall")


def against_best(rows: Mapping[int, Comparison], compare: str) -> dict[int, Comparison]:
    """Keep the comparisons with the best group of one grouping, for each metric and stratum."""
    together: dict[object, dict[int, Comparison]] = {}
    for place, one in rows.items():
        together.setdefault((one.metric, one.contrast.stratum), {})[place] = one
    return {place: one for pairs in together.values() for place, one in _kept(pairs, highest=BEST[compare]).items()}


def _kept(pairs: Mapping[int, Comparison], *, highest: bool) -> dict[int, Comparison]:
    sign = 1 if highest else -1
    groups = {one.contrast.first: one for one in pairs.values()}
    best = max(groups, key=lambda g: (sign * groups[g].value_group, groups[g].null.n_effective(groups[g]), -g))
    kept = {}
    for place, one in pairs.items():
        if one.contrast.second == best:
            own = [pair.interval for pair in pairs.values() if pair.contrast.first == one.contrast.first]
            low, high = one.interval
            ends = (min(limits[0] for limits in own), high) if highest else (low, max(limits[1] for limits in own))
            kept[place] = one.updated(interval=(float(np.min(ends)), float(np.max(ends))))
    return kept
