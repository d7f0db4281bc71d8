"""Why two groups differ: composition, or different treatment at equal conditions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.inference.standardized import STANDARDS, decompose
from skfairtest.readers import is_label
from skfairtest.report.mixin import positive_label
from skfairtest.report.sentences import Setup, written_numbers


@dataclass(frozen=True)
class Explanation:
    """A difference of two groups, decomposed over the strata of control features.

    Parameters
    ----------
    metric, group, other, standard : object
        The metric, the groups compared, and the standard composition.
    parts : DataFrame
        Rows ``difference``, ``composition``, ``treatment`` and ``no_counterpart``, whose last three add up to
        the first; ``value``, ``standard_error``, ``ci_low``, ``ci_high`` (delta method, pointwise).
    by_stratum : DataFrame
        A row for each stratum: ``share_group``, ``share_other``, ``value_group``, ``value_other``, ``composition``,
        ``treatment`` and its ``standard_error``. Sums are those of `parts`.
    pos_label : object
        The positive label, if any.
    """

    metric: str
    group: Any
    other: Any
    standard: str
    controls: str = field(repr=False)
    parts: pd.DataFrame = field(repr=False)
    by_stratum: pd.DataFrame = field(repr=False)
    pos_label: Any = None

    def __str__(self) -> str:
        """Return sentences, then both tables."""
        value = self.parts["value"]
        shown = (float(value[part]) for part in ("composition", "treatment", "difference"))
        write = written_numbers(*shown).disparity

        def with_interval(part: str) -> str:
            low, high = (float(self.parts[limit][part]) for limit in ("ci_low", "ci_high"))
            return f"{write(float(value[part]))} (interval {write(low)} to {write(high)})"

        lost = f"; {write(float(value['no_counterpart']))} is of strata that only one of them is in"
        lines = [
            f"{label(self.metric)} of {label(self.group)} minus that of {label(self.other)}: "
            f"{with_interval('difference')}.",
            f"{with_interval('composition')} of it is composition by {self.controls}, and {with_interval('treatment')} "
            f"is different values within {self.controls}{lost if value['no_counterpart'] else ''}.",
            *positive_label(self.pos_label),
            "",
            self.parts.to_string(float_format="{:.4f}".format),
            "",
            self.by_stratum.to_string(float_format="{:.4f}".format, na_rep="-"),
        ]
        return "\n".join(lines)


def decomposition(
    values: pd.DataFrame, setup: Setup, variances: Any, *, metric: str | None, group: Any, other: Any, standard: str
) -> Explanation:
    """Decompose a difference of a fitted test; `values` are the test's metrics by stratum and group."""
    check_choice("standard", standard, STANDARDS)
    if not setup.controls:
        raise ParameterError("control_features were not given to fit, so there is nothing to decompose over")
    if setup.people:
        raise ParameterError("sample_weight and clusters cannot be decomposed over strata: fit the test without them")
    name = _one("metric", metric, list(dict.fromkeys(values["metric"])))
    groups = list(dict.fromkeys(values["group"]))
    first = _one("group", group, groups, 2)
    second = _one("other", other, [one for one in groups if one != first])
    shares = name in setup.sentences and name not in setup.functions
    variance = variances.get(name) if isinstance(variances, dict) else variances
    if not shares and variance != "welch":
        raise ParameterError(
            f"metric={name!r} is not a rate or a mean over people, so it cannot be decomposed over strata"
        )
    own = values[values["metric"] == name]
    strata = list(dict.fromkeys(own["stratum"]))
    people, value, spread = np.zeros((3, 2, len(strata)))
    for row in own.to_dict("records"):
        for side, label_of in enumerate((first, second)):
            if is_label(row["group"], label_of):
                n, level, place = row["n_effective"], row["value"], (side, strata.index(row["stratum"]))
                people[place], value[place] = n, level
                # One event and one other more: a stratum without events is not certain to have none.
                more = (n * level + 1) / (n + 2)
                spread[place] = more * (1 - more) / (n + 2) if shares else row["standard_error"] ** 2
    if not (people > 0).all(axis=0).any():
        raise ParameterError(f"control_features ({setup.controls}) has no stratum with people of both groups")
    parts, error = decompose(people, value, spread, standard)
    z, n_strata = float(ndtri(1 - setup.alpha / 2)), len(strata)
    found = pd.DataFrame(
        {"value": parts[:4], "standard_error": error[:4], "ci_low": parts[:4] - z * error[:4],
         "ci_high": parts[:4] + z * error[:4]},
        index=["difference", "composition", "treatment", "no_counterpart"],
    )  # fmt: skip
    if (people > 0).all():  # each person has a counterpart, whatever the rounding
        found.loc["no_counterpart"] = 0.0
    share, shown = people / people.sum(axis=1, keepdims=True), np.where(people > 0, value, np.nan)
    by_stratum = pd.DataFrame(
        {"share_group": share[0], "share_other": share[1], "value_group": shown[0], "value_other": shown[1],
         "composition": parts[4 : 4 + n_strata], "treatment": parts[4 + n_strata :],
         "standard_error": error[4 + n_strata :]},
        index=pd.Index(strata, name=setup.controls, tupleize_cols=False),
    )  # fmt: skip
    return Explanation(name, first, second, standard, label(setup.controls), found, by_stratum)


def _one(parameter: str, asked: Any, known: list[Any], at_most: int = 1) -> Any:
    """Return the name that is asked for; if none is, and there are at most this many names, the first."""
    listed = ", ".join(map(repr, known))
    if asked is None:
        if len(known) > at_most:
            raise ParameterError(f"{parameter} must be one of {listed}")
        return known[0]
    found = next((one for one in known if is_label(one, asked)), None)
    if found is None:
        raise ParameterError(f"{parameter}={brief(asked)} is not one of {listed}")
    return found
