"""Rates: the probability of an event among the people who meet a condition, written as text, and the table of them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Floats

#: What a condition is written with.
_ALLOWED = (
    ast.Name, ast.Load, ast.UnaryOp, ast.Invert, ast.BinOp, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Compare, ast.Eq,
    ast.NotEq,
)  # fmt: skip


class _Expression(NamedTuple):
    """A condition written as text: the names it reads, those read as true or false, and its code, if it is one."""

    names: frozenset[str]
    truths: frozenset[str]
    code: CodeType | None


@cache
def _parse(text: str) -> _Expression:
    try:
        tree = ast.parse(text, mode="eval")
        nodes = list(ast.walk(tree.body))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        compares = [(node.left, *node.comparators) for node in nodes if isinstance(node, ast.Compare)]
        # Two names are compared as labels, which may be more than two.
        labels = [side for sides in compares if all(isinstance(side, ast.Name) for side in sides) for side in sides]
        read = frozenset(node.id for node in names)
        truths = frozenset(node.id for node in names if node not in labels)
        for node in names:
            node.id = f"label_of_{node.id}" if node in labels else node.id
        allowed = all(isinstance(node, _ALLOWED) for node in nodes) and all(len(sides) == 2 for sides in compares)
        return _Expression(read, truths, compile(tree, "condition", "eval") if allowed else None)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # lone surrogates, NUL, depth
        raise ValueError(f"{text!r:.60} cannot be read as a condition on y_true and y_pred") from None


def evaluate(text: str, arrays: Mapping[str, Booleans], labels: Mapping[str, NDArray[Any]] | None = None) -> Booleans:
    """Evaluate an expression of ``y_true`` and ``y_pred`` with ``& | ^ ~ == !=`` on boolean arrays."""
    code = _parse(text).code
    if code is None:
        raise ValueError(
            f"{text!r:.60} is not a condition on y_true and y_pred: write one with & | ^ ~ == !=, for instance "
            "'y_true & ~y_pred'"
        )
    compared = {f"label_of_{name}": values for name, values in {**arrays, **(labels or {})}.items()}
    return np.asarray(eval(code, {"__builtins__": {}}, {**arrays, **compared}), dtype=bool)


Condition = str | Callable[..., Any]


def _names(condition: Condition | None) -> frozenset[str]:
    if condition is None:
        return frozenset()
    if isinstance(condition, str):
        return _parse(condition).names
    return frozenset(inspect.signature(condition).parameters)


def _mask(
    condition: Condition | None, arrays: Mapping[str, Booleans], whose: str, labels: Mapping[str, NDArray[Any]] | None
) -> Booleans:
    people = next(iter(arrays.values()))
    if condition is None:
        return np.ones_like(people, dtype=bool)
    if isinstance(condition, str):
        return evaluate(condition, arrays, labels)
    mask = np.asarray(condition(**{key: arrays[key] for key in _names(condition)}))
    if mask.dtype != bool or mask.shape != people.shape:
        raise ParameterError(
            f"{whose} must return one boolean for each of the values it is given, of shape "
            f"{people.shape}; found {mask.dtype} of shape {mask.shape}"
        )
    return mask


def f1_of_jaccard(rate: Floats) -> Floats:
    """F1 from Jaccard's index J: 2J / (1 + J)."""
    return 2 * rate / (1 + rate)


def f1_slope(rate: Floats) -> Floats:
    """Derivative of F1 by Jaccard's index."""
    return 2 / (1 + rate) ** 2


#: The cells of a confusion matrix, of which a rate's masks say what it counts.
CELLS = {"y_true": np.array([True, True, False, False]), "y_pred": np.array([True, False, True, False])}


@dataclass(frozen=True)
class Summary:
    """One number for the disparities of several groups and rates, as a function of fairlearn gives it."""

    name: str
    method: str = "between_groups"
    agg: str = "worst_case"


@dataclass(frozen=True)
class Rate:
    """The probability of an event among the people who meet a condition, in each group.

    Null hypothesis of its test: among the people who meet the condition, the event is equally probable in the compared
    groups. People who meet it are then exchangeable for that event, so the test is exact in finite samples.

    Parameters
    ----------
    name : str
        Its name in results.
    event : str or callable
        Condition on ``y_true`` and ``y_pred``, both True for the positive label: text with ``& | ^ ~ == !=``, or a
        function whose parameters are named ``y_true`` or ``y_pred`` and which returns a boolean array.
    given : str or callable, optional
        The condition for the denominator; everyone by default.
    happens, among : str
        The same in plain words, for sentences: "are predicted positive", "people whose true label is negative".
    value, slope : callable, optional
        The metric as an increasing function of the rate, and its derivative (F1 is ``2J / (1 + J)``).
    disparity : {"difference", "ratio"}, optional
        How its values are compared, if that is part of its meaning, as for disparate impact. None: by the test's
        `disparity`.
    summary : Summary, optional
        How a function of fairlearn summarises the disparities; set when one is recognised.
    label : object, optional
        The label that counts as positive, if there are several. None: that of the test.

    Raises
    ------
    ValueError
        If a condition reads anything but ``y_true`` and ``y_pred``, or `value` does not increase within 0 and 1.

    References
    ----------
    Hardt, Price and Srebro (2016); Barocas, Hardt and Narayanan, Fairness and Machine Learning, chapter 3.

    Examples
    --------
    >>> import skfairtest
    >>> miss = skfairtest.Rate("miss_rate", event="~y_pred", given="y_true")
    >>> str(miss)
    'miss_rate = P(~y_pred given y_true)'
    >>> test = skfairtest.FairnessTest.from_predictions(
    ...     [1, 1, 1, 1, 1, 1, 0, 0],
    ...     [1, 1, 1, 0, 0, 0, 0, 1],
    ...     sensitive_features=list("aaabbbab"),
    ...     metric=miss,
    ... )
    >>> round(test.p_value_, 6)
    0.03125
    """

    name: str
    event: Condition
    given: Condition | None = None
    happens: str = ""
    among: str = ""
    value: Callable[[Floats], Floats] | None = field(default=None, repr=False)
    slope: Callable[[Floats], Floats] | None = field(default=None, repr=False)
    disparity: str | None = field(default=None, repr=False)
    summary: Summary | None = field(default=None, repr=False, compare=False)
    label: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError(f"name of a rate must be text, found {brief(self.name)}")
        for role, condition in (("event", self.event), ("given", self.given)):
            readable = isinstance(condition, str) or callable(condition)
            if not readable and (condition is not None or role == "event"):
                raise ParameterError(
                    f"{role} of rate {self.name!r} must be a condition: text such as 'y_true & ~y_pred', or a function "
                    f"of y_true and y_pred; found {brief(condition)}"
                )
            unknown = _names(condition) - {"y_true", "y_pred"}
            if unknown:
                raise ParameterError(
                    f"{role} of rate {self.name!r} reads {', '.join(sorted(unknown))}: conditions can only read y_true "
                    "and y_pred"
                )
            if isinstance(condition, str):
                evaluate(condition, {name: np.ones(1, dtype=bool) for name in _names(condition)})
        if isinstance(self.among, str) and not self.among:
            given = getattr(self.given, "__name__", self.given)
            object.__setattr__(self, "among", "all people" if given is None else f"people who meet {given}")
        if not _names(self.event):
            raise ParameterError(
                f"event of rate {self.name!r} must be a condition that reads y_true or y_pred; found "
                f"{brief(self.event)}"
            )
        if (self.value is None) != (self.slope is None):
            raise ParameterError(f"value and slope of rate {self.name!r} belong together: pass both or neither")
        if self.value is not None:
            values = np.asarray(self.value(np.linspace(0.0, 1.0, 101)), dtype=float)
            if values.shape != (101,) or not (np.diff(values) > 0).all() or values[0] < 0 or values[-1] > 1:
                raise ParameterError(
                    f"value of rate {self.name!r} must increase from at least 0 to at most 1 as the rate does"
                )

    def __str__(self) -> str:
        """Return the rate as a conditional probability."""
        event, given = (getattr(c, "__name__", c) for c in (self.event, self.given))
        rate = f"P({event})" if given is None else f"P({event} given {given})"
        return f"{self.name} = {rate}" if self.value is None else f"{self.name}, a function of {rate}"

    @property
    def reads(self) -> frozenset[str]:
        """Which of ``y_true`` and ``y_pred`` it needs."""
        return _names(self.event) | _names(self.given)

    @property
    def condition_reads(self) -> frozenset[str]:
        """The labels in its condition: people are exchangeable given these."""
        return _names(self.given)

    @property
    def needs_pos_label(self) -> bool:
        """Whether it needs to know the positive label; "predicted correctly" does not: it is defined for all labels."""
        return self.label is None and any(
            bool(_parse(condition).truths) if isinstance(condition, str) else condition is not None
            for condition in (self.event, self.given)
        )

    def masks(
        self, cells: Mapping[str, Booleans], labels: Mapping[str, NDArray[Any]] | None = None
    ) -> tuple[Booleans, Booleans]:
        """Masks of the cells counted in the numerator and in the denominator.

        Parameters
        ----------
        cells : mapping of str to ndarray of bool, shape (n_cells,)
            ``y_true`` and ``y_pred`` of every cell, True for the positive label.
        labels : mapping of str to ndarray, shape (n_cells,), optional
            Their labels, where there are more than two.

        Returns
        -------
        event, given : ndarray of bool, shape (n_cells,)
            The event within the condition, and the condition.
        """
        given = _mask(self.given, cells, f"given of rate {self.name!r}", labels)
        return _mask(self.event, cells, f"event of rate {self.name!r}", labels) & given, given

    def equality(self, *, several_labels: bool = False) -> tuple[tuple[bytes, bytes], bool]:
        """Identify the hypothesis that this rate is equal: the condition, and the event or its complement within it.

        The complementary event and increasing functions give the same hypothesis.

        Parameters
        ----------
        several_labels : bool
            Whether there are more than two labels, so that two that are not positive can differ.

        Returns
        -------
        what : tuple of bytes
            Equal for rates that are equal at the same time.
        complement : bool
            Whether `what` names the complement of the event.

        Examples
        --------
        >>> import skfairtest
        >>> hit = skfairtest.Rate("hit_rate", event="y_pred", given="y_true")
        >>> miss = skfairtest.Rate("miss_rate", event="~y_pred", given="y_true")
        >>> hit.equality()[0] == miss.equality()[0]
        True
        """
        n = 3 if several_labels else 2
        labels = {"y_true": np.repeat(np.arange(n), n), "y_pred": np.tile(np.arange(n), n)}
        event, given = self.masks({name: codes == 0 for name, codes in labels.items()}, labels)
        events = event.tobytes(), (given & ~event).tobytes()
        return (given.tobytes(), min(events)), events[1] < events[0]


_TRUE, _FALSE = "people whose true label is positive", "people whose true label is negative"
_CALLED, _NOT_CALLED = "people predicted positive", "people predicted negative"
_ANY = "people whose true or predicted label is positive"
_YES, _NO = "are predicted positive", "are predicted negative"
_IS, _IS_NOT = "are truly positive", "are truly negative"
_RIGHT, _WRONG = "are predicted correctly", "are predicted wrongly"
_BOTH = "are both"

RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("selection_rate", "y_pred", None, _YES, "all people"),
        Rate("true_positive_rate", "y_pred", "y_true", _YES, _TRUE),
        Rate("false_positive_rate", "y_pred", "~y_true", _YES, _FALSE),
        Rate("true_negative_rate", "~y_pred", "~y_true", _NO, _FALSE),
        Rate("false_negative_rate", "~y_pred", "y_true", _NO, _TRUE),
        Rate("precision", "y_true", "y_pred", _IS, _CALLED),
        Rate("negative_predictive_value", "~y_true", "~y_pred", _IS_NOT, _NOT_CALLED),
        Rate("false_discovery_rate", "~y_true", "y_pred", _IS_NOT, _CALLED),
        Rate("false_omission_rate", "y_true", "~y_pred", _IS, _NOT_CALLED),
        Rate("accuracy", "y_true == y_pred", None, _RIGHT, "all people"),
        Rate("coverage", "y_true == y_pred", None, "are covered", "all people"),
        Rate("zero_one_loss", "y_true != y_pred", None, _WRONG, "all people"),
        Rate("jaccard", "y_true & y_pred", "y_true | y_pred", _BOTH, _ANY),
        Rate("false_negative_share", "y_true", "y_true != y_pred", _IS, "people predicted wrongly"),
        Rate("f1", "y_true & y_pred", "y_true | y_pred", _BOTH, _ANY, f1_of_jaccard, f1_slope),
    )
}

#: Rates tested jointly. The null hypothesis of a criterion is that each of its rates is equal in all groups.
CRITERIA: dict[str, tuple[str, ...]] = {
    "demographic_parity": ("selection_rate",),
    "equal_opportunity": ("true_positive_rate",),
    "predictive_equality": ("false_positive_rate",),
    "equalized_odds": ("true_positive_rate", "false_positive_rate"),
    "predictive_parity": ("precision",),
    "conditional_use_accuracy": ("precision", "negative_predictive_value"),
    "overall_accuracy_equality": ("accuracy",),
    "treatment_equality": ("false_negative_share",),
}


def asks_coverage(metric: object) -> list[bool]:
    """Whether each metric, listed or alone, is coverage: by name, or as a rate under any name.

    Examples
    --------
    >>> asks_coverage(["coverage", "accuracy"]), asks_coverage(RATES["coverage"])
    ([True, False], [True])
    """
    metrics = list(metric.values()) if isinstance(metric, Mapping) else metric
    coverage = RATES["coverage"]
    return [
        # Accuracy counts the same labels; the words tell them apart.
        replace(each, name=coverage.name, disparity=None) == coverage if isinstance(each, Rate)
        else isinstance(each, str) and each == coverage.name
        for each in (metrics if isinstance(metrics, list | tuple) else [metrics])
    ]  # fmt: skip
