"""What the comparison of two models found, as plain data and in sentences.

Reports of `PairedFairnessTest`, of `compare_models`, and of an audit of a candidate for the place of the model in
production are made of a `PairedRecord`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import difference_span, records
from skfairtest.report.record import Recorded
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, percent, points

#: What is said of one comparison. `feature` is what divides people into groups.
RESULT = (
    "feature", "metric", "group", "other", "stratum", "value_a", "value_b", "difference", "ci_low", "ci_high",
    "p_value", "p_value_adjusted", "concern",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PairedRecord(Recorded):
    """What the comparison of two models found.

    Parameters
    ----------
    setup : Setup
        How it was set up.
    kind : {"change", "sizes", "one group"}
        As `models` of the setup, which a record in JSON has here: values are disparities, their sizes, or rates.
    names : (str, str)
        What models A and B are called.
    shares : tuple of str
        Metrics that are shares of people.
    n_samples : int
        People whom both models judged.
    p_value : float
        The global p-value.
    concern : bool
        Whether the models differ significantly; of sizes, whether model B was not certified.
    results : tuple of mapping
        The comparisons, with the fields of `RESULT`: values under A and B, and B less A.
    not_compared : tuple of str
        What was left out, and why.
    """

    setup: Setup
    kind: str
    names: tuple[str, str]
    shares: tuple[str, ...]
    n_samples: int
    p_value: float
    concern: bool
    results: tuple[Mapping[str, Any], ...]
    not_compared: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The comparisons, those with the strongest evidence first, each so that model A's disparity is positive."""
        rows = pd.DataFrame([self._oriented(row) for row in self.results], columns=[*RESULT, "smaller"])
        last = rows["stratum"] != ""
        order = np.lexsort((-rows["difference"].abs().fillna(0), rows["p_value"], rows["p_value_adjusted"], last))
        return rows.iloc[order[::-1]] if self.kind == "sizes" else rows.iloc[order]

    def _oriented(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(row)
        turned = self.kind == "change" and self.setup.compare == "between_groups" and row["value_a"] < 0
        if turned and self.setup.alternative == "two-sided":
            found |= {"group": row["other"], "other": row["group"], "ci_low": -row["ci_high"]}
            found |= {name: -row[name] for name in ("value_a", "value_b", "difference")}
            found["ci_high"] = -row["ci_low"]
        return found | {"smaller": self._smaller(found)}

    def pieces(self, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """The pieces of a comparison's name in a drawing, and what joins them."""
        pieces, joints = [label(row["group"]), label(row["other"])], [" and " if self.kind == "sizes" else " minus "]
        return ([*pieces, label(row["stratum"])], [*joints, ", "]) if row["stratum"] else (pieces, joints)

    @property
    def _margin(self) -> float:
        return (self.setup.margin_bounds or (0.0, 0.0))[1]

    def _smaller(self, row: Mapping[str, Any]) -> str:
        """Name the model whose disparity is smaller in size, where the difference is significant."""
        a, b = row["value_a"], row["value_b"]
        if self.kind == "sizes":
            return "" if row["concern"] or self._margin else self.names[1]
        if not row["concern"] or abs(a) == abs(b):
            return ""
        return self.names[0] if abs(a) < abs(b) else self.names[1]

    def writer(self, metric: str, *, level: bool = False) -> tuple[Any, str]:
        """The format of a metric's values, and their unit; a `level` is a rate and no difference."""
        if metric not in self.shares:
            return number, ""
        return (percent, "") if level else (points, " points")

    def text(self, row: Mapping[str, Any], field: str, *, level: bool = False) -> str:
        """Write a field of a row as its metric is written."""
        return str(self.writer(row["metric"], level=level)[0](row[field]))

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about each comparison, the strongest evidence first."""
        return tuple(map(self.sentence, records(self.frame)))

    def sentence(self, row: Mapping[str, Any]) -> str:
        """Say what both disparities are, how they differ, and which is smaller."""
        one_group, sizes = self.kind == "one group", self.kind == "sizes"
        value, unit = self.writer(row["metric"], level=one_group)
        gap, of_gap = self.writer(row["metric"])
        a, b = (f"{value(abs(row[name]) if sizes else row[name])}" for name in ("value_a", "value_b"))
        whom = label(row["group"])
        if not one_group:
            whom += f" and {label(row['other'])}" if sizes else f" minus {label(row['other'])}"
        where = f", in {label(row['stratum'])}" if row["stratum"] else ""
        what = "disparity in size " if sizes else ""
        limits = f"{'at most' if sizes else 'interval'} {self.limits(row)}, " if self.limits(row) else ""
        said = (
            f"{metric_title(row['metric'])}, {whom}{where}: {what}{a}{unit} under {label(self.names[0])} and "
            f"{b}{unit} under {label(self.names[1])}, a difference of {gap(row['difference'])}{of_gap} "
            f"({limits}adjusted {equals_p(row['p_value_adjusted'])})"
        )
        return f"{said}: {self._judged(row)}."

    def limits(self, row: Mapping[str, Any]) -> str:
        """Write the interval of a difference, or the upper limit of a difference of sizes."""
        write, _ = self.writer(row["metric"])
        if self.kind == "sizes":
            return "" if math.isnan(row["ci_high"]) else str(write(row["ci_high"]))
        return difference_span(write, row)

    def null_sentence(self, metric: str) -> str:
        """State the null hypothesis of one metric's comparisons."""
        setup, margin = self.setup, self._margin
        happens, among = setup.told(metric)
        rate = f"among {among or 'these people'}, the share who {happens}"
        ways = {"greater": "not greater under model B", "less": "not less under model B"}
        how = ways.get(setup.alternative, "the same under both models")
        if self.kind == "sizes":
            larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
            how = f"{larger} under model B than under model A"
        what = rate if self.kind == "one group" else f"the disparity by {label(setup.features)}"
        inside = f", within every {label(setup.controls)}" if setup.controls else ""
        return self.named(f"{label(metric)}: {what} is {how}{inside}")

    def _judged(self, row: Mapping[str, Any]) -> str:
        if self.kind == "sizes":
            margin, (gap, unit) = self._margin, self.writer(row["metric"])
            smaller = f"not larger by {gap(margin)}{unit} or more" if margin else "smaller"
            return f"{'not certified' if row['concern'] else 'certified'} to be {smaller} under {label(self.names[1])}"
        if not row["concern"]:
            return "no significant difference was detected"
        if self.kind == "one group":
            return f"significantly {'lower' if row['difference'] < 0 else 'higher'} under {label(self.names[1])}"
        smaller = f"smaller in size under {label(row['smaller'])}" if row["smaller"] else "of the same size"
        if row["value_a"] * row["value_b"] < 0:
            return f"significantly different, {smaller}, and in opposite directions"
        return f"significantly {smaller}"

    @property
    def verdict(self) -> str:
        """Whether the models differ, in a sentence or two."""
        setup, n = self.setup, sum(not row["stratum"] for row in self.results)
        by, p, asked = label(setup.features), equals_p(self.p_value), pluralize(n, "comparison")
        p = f"largest {p}" if self.kind == "sizes" else f"smallest adjusted {p}" if n > 1 else p
        if self.kind == "sizes":
            margin, worse, better = self._margin, "is as large or larger", "is smaller"
            if margin:
                worse = f"is larger by {number(margin)} or more"
                better = f"is larger by less than {number(margin)}, if it is larger at all,"
            fairer = "" if margin else "model B is fairer than model A; "
            every, some = f"every one of {asked}", f"at least one of {asked}"
            every, some = ("the one comparison",) * 2 if n == 1 else (every, some)
            said = (
                f"Not certified: for {some} it cannot be ruled out that the disparity by "
                f"{by} {worse} under model B ({p})."
                if self.concern
                else f"Certified at {100 * (1 - setup.alpha):g}%: {fairer}in {every} the disparity by {by} {better} "
                f"under model B ({p})."
            )
            return self.named(said)
        what = "rates" if self.kind == "one group" else f"disparities by {by}"
        if self.concern:
            return (
                f"Significant difference between {enumerated([*map(label, self.names)])}: {self._fairer(by, asked, p)}"
            )
        return (
            f"No significant difference between the models' {what} was detected in {asked} ({p}). "
            "This does not prove that they are the same: the intervals show which differences the data do not rule out."
        )

    def _fairer(self, by: str, asked: str, p: str) -> str:
        """Name the model whose disparities are smaller where they differ significantly, and the strongest evidence."""
        found = self.frame[self.frame["concern"]]
        found = found[found["stratum"] == ""] if (found["stratum"] == "").any() else found
        if not len(found):
            return f"by {by}, in none of {asked} by itself ({p})."
        row = next(iter(records(found)))
        if self.kind == "one group":
            return self.sentence(row)
        crossed = found["value_a"] * found["value_b"] < 0
        counts = found["smaller"].mask(crossed, "").value_counts()
        fairer = [name for name in self.names if name in counts]
        told = [f"{label(name)} in {counts[name]:,}" for name in fairer]
        if len(fairer) == 1:
            where = f" in {counts[fairer[0]]:,} of {asked}, and significantly larger in none" if len(found) > 1 else ""
            said = f"{label(fairer[0])} is fairer by {by} (the observed disparity is smaller{where})"
        elif fairer:
            said = f"neither is fairer by {by}: the observed disparity is smaller under {enumerated(told)} of {asked}"
        else:
            said = f"neither is fairer by {by}: no disparity is smaller in the same direction"
        if crossed.any():
            said += f"; {pluralize(int(crossed.sum()), 'comparison')} changed direction"
        value, unit = self.writer(row["metric"])
        pieces, joints = self.pieces(row)
        pair = "".join(part for both in zip(pieces, [*joints, ""], strict=True) for part in both)
        a, b = map(label, self.names)
        return (
            f"{said}. Strongest evidence: {metric_title(row['metric'])}, {pair}, {value(row['value_b'])}{unit} under "
            f"{b} and {value(row['value_a'])} under {a} ({p.removeprefix('smallest ')})."
        )

    def named(self, said: str) -> str:
        """A sentence about models A and B, with their names."""
        for generic, own in zip(("model A", "model B"), self.names, strict=True):
            said = said.replace(generic, label(own))
        return said


def paired_row(row: Mapping[str, Any], feature: str, values: tuple[float, float]) -> dict[str, Any]:
    """Return a comparison as a record has it: a row of `comparisons_`, and the values under both models."""
    numbers = {name: float(row[name]) for name in ("ci_low", "ci_high", "p_value", "p_value_adjusted")}
    labels = {name: "" if row[name] is None else label(row[name]) for name in ("metric", "group", "other", "stratum")}
    a, b = map(float, values)
    both = {"value_a": a, "value_b": b, "difference": float(row["disparity"])}
    return {"feature": feature, **labels, **both, **numbers, "concern": bool(row["concern"])}
