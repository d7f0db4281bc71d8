"""From losses to the statistic: where it is defined, its path along the flow, and when it is doubtful."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.individual._losses import Loss
from skfairtest.individual._parameters import OF_MEANS
from skfairtest.individual._unfair import Moved
from skfairtest.individual.flow import audit_value as flow

#: Fewer people than this, and the normal approximation is doubtful.
FEW = 30
#: A test that really rejects so many times as often as it should is doubtful, unless its p-value is far from the level.
TOO_OFTEN, FAR = 1.3, 5
#: Nobody is to go farther beyond where people are, in lengths of the range of a feature.
FARTHEST = 10
#: Of a test that nothing was tested with.
NOTHING = flow.AuditValue(np.nan, np.nan, np.nan, (np.nan, np.nan), np.nan)
#: A loss below this share of the mean loss is next to nothing.
TINY = 1e-6


@dataclass(frozen=True)
class SequentialStatistic:
    """A statistic of losses, or of errors, at any time of the flow.

    Parameters
    ----------
    statistic : str
        As the caller names it.
    values : ndarray of shape (n, 1 + n_checkpoints)
        What it is a statistic of: at the start, and at every checkpoint.
    checkpoints, times : ndarray of shape (n_checkpoints,)
        Numbers of steps, and times of the flow.
    rounding : float
        Losses up to this size are only rounding errors.
    tolerance, confidence_level : float
        As of the test.
    variance, degrees : float, int
        Variance of the logarithm of the statistic that comes from a metric that was learned, and its degrees of
        freedom.
    """

    statistic: str
    values: Floats
    checkpoints: NDArray[np.intp]
    times: Floats
    rounding: float
    tolerance: float
    confidence_level: float
    variance: float = 0.0
    degrees: int = 0

    @property
    def name(self) -> str:
        """The statistic, regardless of what its values are: a ratio of error rates is a ratio of means."""
        return "ratio_of_means" if self.statistic in OF_MEANS else self.statistic

    def end(self) -> tuple[flow.AuditValue, float]:
        """Test the statistic, and estimate the actual rejection rate at the boundary with this number of people.

        Raises
        ------
        ValueError
            If the statistic is not defined.
        """
        try:
            found = self._at(-1)
        except flow.UndefinedAuditValueError as error:
            raise ValueError(_undefined(self.statistic, error, len(self.values))) from error
        before, after = self.values[:, 0], self.values[:, -1]
        return found, flow.attained_level(self.name, before, after, self.confidence_level)

    def path(self) -> pd.DataFrame:
        """Return the statistic at every checkpoint; NaN where it is not defined."""
        rows = []
        for place, (step, time) in enumerate(zip(self.checkpoints, self.times, strict=True), 1):
            try:
                there = self._at(place)
                row = (there.estimate, there.standard_error, there.lower_bound)
            except flow.UndefinedAuditValueError:
                row = (np.nan, np.nan, np.nan)
            rows.append((int(step), float(time), *row))
        return pd.DataFrame(rows, columns=["n_steps", "time", "statistic", "standard_error", "lower_bound"])

    def _at(self, place: int) -> flow.AuditValue:
        before, after = self.values[:, 0], self.values[:, place]
        if not (before > self.rounding).any():
            raise flow.NoLossError(len(before), "have no loss before they are moved")
        found = flow.audit_value(
            self.name, before, after, tolerance=self.tolerance, confidence_level=self.confidence_level
        )  # fmt: skip
        return flow.widened(found, self.variance, self.degrees, self.confidence_level)


def _undefined(statistic: str, error: flow.UndefinedAuditValueError, n: int) -> str:
    if isinstance(error, flow.NoLossError):
        if statistic == "error_rate_ratio":
            return (
                "statistic='error_rate_ratio' is not defined: the model makes no errors on the people tested. Use "
                "'loss_ratio', or test more people"
            )
        return (
            f"statistic={statistic!r} is not defined: the model has no loss on anybody (n_samples={n:,}), as on "
            "training data that it has memorized. Test people it was not fitted on"
        )
    if isinstance(error, flow.InfiniteLossError):
        instead = "use a smaller step_size, fewer n_steps, or feature_ranges that end"
    else:
        instead = "use statistic='ratio_of_means', or a loss that is never 0"
    return (
        f"statistic={statistic!r} is not defined: {error.people:,} of {n:,} people {error.reason}. Nobody is dropped; "
        f"{instead}"
    )


def choose(statistic: str, loss: Loss, way: str, before: Floats) -> tuple[str, str]:
    """Return the statistic that is tested, and the reason for choosing it.

    The mean of ratios exists if people with hardly any loss hardly move: in a flow of log losses or of squared errors,
    whose gradients vanish with the loss.

    Parameters
    ----------
    statistic : str
        As the caller names it.
    loss : Loss
        The loss of the model.
    way : str
        How unfair examples are found.
    before : ndarray of shape (n,)
        Losses before anybody is moved.

    Raises
    ------
    ValueError
        If the expectation of the statistic is infinite.
    """
    reason = None
    if loss.power == 1:
        reason = f"{loss.name}s near 0 grow by a constant, so that their ratios have no finite mean"
    elif loss.power == 2 and way == "search":
        reason = "a search moves people with errors near 0 as far as others, so that their ratios have no finite mean"
    if statistic == "loss_ratio" and reason is not None:
        raise ParameterError(f"statistic='loss_ratio' is not defined: {reason}. Use 'ratio_of_means'")
    if statistic != "auto":
        return statistic, "as asked for"
    if reason is None and (loss.own or way == "callable"):
        reason = "it is not known how small losses grow"
    tiny = int((before < TINY * before.mean()).sum())
    if reason is None and tiny:
        reason = (
            f"{tiny:,} of {pluralize(len(before), 'person', 'people')} have less than a millionth of the mean loss, "
            "and a mean of ratios would depend on them"
        )
    if reason is None:
        return "loss_ratio", "the paper's choice; nobody's loss is close to zero, and losses grow from where they are"
    return "ratio_of_means", reason


def doubts_about(
    statistic: str, moved: Moved, ratios: Floats, p_value: float, alpha: float, level: float, farthest: float
) -> tuple[str, ...]:
    """Return sentences that say why a result is doubtful.

    Parameters
    ----------
    statistic : str
        As the caller names it.
    moved : Moved
        Everybody's losses.
    ratios : ndarray of shape (n,)
        Everybody's ratio.
    p_value, alpha, level : float
        The p-value, the nominal level, and the actual level that skewness leads to.
    farthest : float
        How far people were moved outside the observed range of a feature, in lengths of that range.

    Returns
    -------
    tuple of str
        Sentences without a full stop at the end.
    """
    before, n = moved.losses[:, 0], len(ratios)
    doubts = []
    if np.array_equal(before, moved.losses[:, -1]):
        doubts.append(
            "nobody's loss changed: the model predicts the same wherever people are moved, so every ratio is 1. "
            "Perhaps it does not use the directions that the fair metric leaves free, or step_size and n_steps are "
            "too small to move anybody; solver_report_ says how far people moved"
        )
    elif statistic == "loss_ratio" and n >= FEW:
        top = np.zeros(n, dtype=bool)
        top[np.argsort(ratios)[-max(1, n // 100) :]] = True
        tiny = before < TINY * before.mean()
        for few, which in ((top, "few people"), (tiny, "people whose losses are close to zero")):
            share = float(ratios[few].sum() / ratios.sum())
            if share > 0.5:
                doubts.append(
                    f"the mean of loss ratios depends on {which}: {int(few.sum()):,} of {n:,} have {100 * share:.0f}% "
                    "of the sum of all ratios, so the result depends on tiny losses. statistic='ratio_of_means' does "
                    "not"
                )
                break
    if level > TOO_OFTEN * alpha and alpha / FAR < p_value <= alpha:
        doubts.append(
            f"p_value_={p_value:.3g} is too close to the level of {alpha:.3g} to be reliable: a few people are harmed "
            f"much less than the others, and with {n:,} people the test then rejects about {100 * level:.1f}% of "
            "models at the tolerance (attained_level_). Test more people"
        )
    if n < FEW:
        doubts.append(
            f"X has {pluralize(n, 'person', 'people')}: the normal approximation of this test needs at least {FEW}"
        )
    if farthest > FARTHEST:
        doubts.append(
            f"unfair examples lie outside the observed range of a feature, by up to {farthest:.3g} times that range: "
            "predictions there are about nobody in the data. Use feature_ranges, or a smaller step_size or n_steps"
        )
    return tuple(doubts)
