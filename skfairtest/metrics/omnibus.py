"""Metrics that look at all groups at once, or along the scores, and give one number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Positions
from skfairtest.metrics.rates import Summary
from skfairtest.metrics.score_metric import Context, OfRows, parameters_of, shared_codes
from skfairtest.metrics.scores import PROBABILITY, probabilities

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Omnibus:
    """One number for all groups together."""

    name: str
    reads: frozenset[str]
    extreme: str = "greater"
    describes: str = ""
    function: Callable[..., Any] | None = field(default=None, repr=False)
    disparity: str | None = None
    null: str = "truth and prediction together do not depend on {}"
    #: The column within whose levels labels are permuted by default.
    given: str = ""
    #: What it does, for errors; whether it compares two sides.
    action: str = "looks at all groups at once"
    of_two_sides: bool = False
    #: Whether its null distribution is its own, which is that of people without weights.
    own_null: ClassVar[bool] = False
    #: Whether it needs to know the positive label.
    needs_pos_label: ClassVar[bool] = False
    summary: ClassVar[Summary | None] = None

    @property
    def slow(self) -> bool:
        """Whether it is evaluated one table at a time, in Python."""
        return self.function is not None

    @property
    def takes_weights(self) -> bool:
        """Whether people may have weights."""
        return not self.own_null and (self.function is None or _takes_weights(self.function))

    def size(self, context: Context, counts: Floats, statistic: float) -> float:
        """The size that is shown: the statistic."""
        return statistic

    def statistic(self, context: Context, groups: Sequence[Key], names: Sequence[str]) -> Callable[[Floats], Floats]:
        """Return the metric as a function of masses (..., G, K) of people by group and kind."""
        if self.function is None:
            return partial(_mutual_information, context.columns["y_pred"])
        truth = context.columns["y_true"].values if "y_true" in self.reads else None
        arguments = partial(_with_features, truth, context.columns["y_pred"].values, groups, names)
        return OfRows(self.name, self.function, arguments, _takes_weights(self.function), 2, Warning)


def _takes_weights(function: Callable[..., Any]) -> bool:
    names = getattr(function, "_sample_param_names", None)
    if names is not None:  # fairlearn's derived metrics say which of their parameters are per person
        return "sample_weight" in names and "sample_weight" in parameters_of(function._metric_fn)  # type: ignore[attr-defined]
    return "sample_weight" in parameters_of(function)


def _with_features(
    y_true: NDArray[Any] | None, y_pred: NDArray[Any], groups: Sequence[Key], names: Sequence[str], group: Positions,
    kind: Positions,
) -> tuple[Any, Any, dict[str, Any]]:  # fmt: skip
    """Return labels, predictions and sensitive features of people by their groups and kinds."""
    columns = {name: pd.Series([groups[g][i] for g in group.tolist()], name=name, dtype=object).infer_objects()
        for i, name in enumerate(names)}  # fmt: skip
    features = columns[names[0]] if len(names) == 1 else pd.DataFrame(columns)
    truth = np.zeros(len(kind), dtype=int) if y_true is None else y_true[kind]
    return truth, y_pred[kind], {"sensitive_features": features}


def _mutual_information(predicted: Any, masses: Floats) -> Floats:
    """Mutual information of group and prediction over the root of their entropies' product; NaN if either is constant.

    Hinnefeld et al. 2018, equation 6.
    """
    if not predicted.levels:
        raise ParameterError(
            "y_pred holds numbers of many different values, and normalized_mutual_info needs predicted labels"
        )
    codes = np.stack([predicted.is_label(level) for level in predicted.levels], axis=1).astype(float)
    joint = masses @ codes
    with np.errstate(invalid="ignore"):  # without anyone there is no value
        joint = joint / joint.sum(axis=(-2, -1), keepdims=True)
    rows, columns = joint.sum(axis=-1), joint.sum(axis=-2)

    def entropy(p: Floats) -> Floats:
        logs = np.zeros_like(p)
        np.log(p, out=logs, where=p > 0)
        return -(p * logs)

    h_group, h_label = entropy(rows).sum(axis=-1), entropy(columns).sum(axis=-1)
    shared = h_group + h_label - entropy(joint).sum(axis=(-2, -1))
    shared = np.where(shared < 1e-12, 0.0, shared)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(shared / np.sqrt(h_group * h_label))


NORMALIZED_MUTUAL_INFO = Omnibus(
    "normalized_mutual_info",
    frozenset({"y_pred"}),
    describes="the normalized mutual information of prediction and group",
    null="predictions do not depend on {}",
)


def from_function(name: str, function: Callable[..., Any]) -> Omnibus:
    """Declare a function that takes ``sensitive_features``, such as fairlearn's ``equalized_odds_difference``."""
    transform = getattr(function, "_transform", None)
    is_ratio = transform == "ratio" or (transform is None and name.endswith("ratio"))
    extreme = "two-sided" if transform in ("group_min", "group_max") else "less" if is_ratio else "greater"
    return Omnibus(name, frozenset({"y_true", "y_pred"}), extreme, f"{name} over all groups", function)


@dataclass(frozen=True)
class Independence(Omnibus):
    """Labels and groups in one table, with people of one true (or predicted) label apart if `given` names it."""

    takes_weights: ClassVar[bool] = False

    def statistic(self, context: Context, groups: Sequence[Key], names: Sequence[str]) -> Callable[[Floats], Floats]:
        """Minus the logarithm of a table's probability given its margins."""
        return lambda counts: np.round(gammaln(counts + 1.0).sum(axis=(-2, -1)), 9)

    def size(self, context: Context, counts: Floats, statistic: float) -> float:
        """Cramer's V of group and label, averaged over levels of `given`."""
        (name,) = self.reads - {self.given}
        codes = shared_codes(context.columns)
        labels = codes[name]
        within = codes[self.given] if self.given else np.zeros_like(labels)
        found, people = [], []
        for block in np.unique(within):
            table = np.stack([np.bincount(labels[within == block], row) for row in counts[:, within == block]])
            table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
            if min(table.shape) > 1:
                expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
                chi_square = ((table - expected) ** 2 / expected).sum()
                found.append(np.sqrt(chi_square / table.sum() / (min(table.shape) - 1)))
                people.append(table.sum())
        return float(np.average(found, weights=people)) if found else float("nan")


def independence(reads: frozenset[str], given: str = "") -> Independence:
    """Declare the test that labels do not depend on the group.

    Examples
    --------
    >>> (
    ...     independence(frozenset({"y_pred"})).name,
    ...     independence(frozenset({"y_true", "y_pred"}), "y_true").name,
    ... )
    ('all labels', 'all labels given y_true')
    """
    label = "predicted label" if reads - {given} == {"y_pred"} else "true label"
    words = {"y_true": " among people of one true label", "y_pred": " among people of one predicted label"}
    where = words.get(given, "")
    return Independence(
        f"all labels given {given}" if given else "all labels", reads, given=given,
        describes=f"the association of {label} and group{where} (Cramer's V)",
        null=f"the {label} does not depend on {{}}{where}",
    )  # fmt: skip


@dataclass(frozen=True)
class Calibration(Omnibus):
    """A metric of calibration curves. It has no value for each group whose difference could be tested."""

    between: bool = True
    kuiper: bool = True
    own_null: ClassVar[bool] = True
    needs_pos_label: ClassVar[bool] = True
    responses: ClassVar[tuple[str, ...]] = (PROBABILITY,)

    def read(self, context: Context) -> tuple[Floats, Floats]:
        """Return who is truly positive, as 0 and 1, and the probabilities."""
        return context.columns["y_true"].is_label(context.pos_label).astype(float), probabilities(context)


def _declared(name: str, *, between: bool, kuiper: bool) -> Calibration:
    what = "calibration curves" if between else "outcomes from scores"
    share = "the same share of any two groups" if between else "that share of each group"
    return Calibration(
        name, frozenset({"y_true", "y_score"}), "two-sided",
        f"the largest cumulative difference of {what} ({'Kuiper' if kuiper else 'Kolmogorov and Smirnov'})",
        null=f"at every score {share} of {{}} is truly positive",
        action="compares curves" if between else "compares each group with its own scores",
        of_two_sides=between, between=between, kuiper=kuiper,
    )  # fmt: skip


CALIBRATION: dict[str, Calibration] = {
    metric.name: metric
    for metric in (
        _declared("kuiper_calibration", between=True, kuiper=True),
        _declared("kolmogorov_smirnov_calibration", between=True, kuiper=False),
        _declared("calibration_within_groups", between=False, kuiper=True),
    )
}


@dataclass(frozen=True)
class Distribution(Omnibus):
    """The whole distribution of predictions or scores. What differs between groups is not one value of each."""

    disparity: str | None = "difference"
    action: str = "compares whole distributions"
    of_two_sides: bool = True
    own_null: ClassVar[bool] = True
    responses: ClassVar[tuple[str, ...]] = ("decision_function", PROBABILITY)

    @property
    def column(self) -> str:
        """The column of numbers."""
        return next(iter(self.reads))


DISTRIBUTION, DISTRIBUTION_OF_SCORES = (
    Distribution(
        "distribution",
        frozenset({column}),
        describes=f"the distributions of {what}",
        null=f"{what} have the same distribution in any two groups of {{}}",
    )
    for column, what in (("y_pred", "predictions"), ("y_score", "scores"))
)
