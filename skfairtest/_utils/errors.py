"""Errors and warnings about parameters, and suggestions for unknown keywords."""

from __future__ import annotations

import inspect
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import update_wrapper
from typing import Any, TypeVar, cast

from skfairtest._utils.text import enumerated

#: How values are written in messages: a few of many, and no long text; the most characters of a message.
_BRIEF, LONGEST = reprlib.Repr(), 600
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxset = _BRIEF.maxfrozenset = 3
_BRIEF.maxstring = _BRIEF.maxother = 80


def brief(value: Any) -> str:
    """Write a value for a message, the first few of many.

    Examples
    --------
    >>> brief(list(range(800))), brief(0.5), len(brief("9" * 800))
    ('[0, 1, 2, ...]', '0.5', 80)
    """
    return _BRIEF.repr(value.tolist() if getattr(value, "shape", ()) and hasattr(value, "tolist") else value)


def cut(message: str) -> str:
    """Leave out the middle of a message that is too long to be read."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 205]} ... {message[-200:]}"


#: Attributes of other packages' results: what to type instead.
GUESSED = {
    **dict.fromkeys(("p_value", "pvalue", "pvalue_"), "p_value_"),
    **dict.fromkeys(("ci_", "conf_int", "confidence_interval"), "confidence_interval_"),
    **dict.fromkeys(("summary", "report"), "to_text(), or print it"),
    **dict.fromkeys(("results_", "to_dataframe", "summary_frame"), "to_frame()"),
}


class ParameterError(ValueError):
    """A parameter has a value that cannot be used; the message begins with the parameter's name.

    Parameters
    ----------
    message : str
        The name of the parameter, what was found, and what to do.

    Attributes
    ----------
    parameter : str
        The name.

    Examples
    --------
    >>> ParameterError("margin must be a number; found 'wide'").parameter
    'margin'
    """

    def __init__(self, message: str) -> None:
        super().__init__(cut(message))
        named = re.match(r"\w+", message)
        assert named is not None, f"names no parameter: {message}"
        self.parameter = named[0]

    def renamed(self, parameter: str) -> str:
        """The message with the parameter's name in the caller's terms."""
        return parameter + str(self)[len(self.parameter) :]


@contextmanager
def renaming(parameter: str, name: str) -> Iterator[None]:
    """Name a parameter as the caller does in every error about it that is raised inside.

    Examples
    --------
    >>> with renaming("metric", "metrics"):
    ...     raise ParameterError("metric is empty: name at least one")
    Traceback (most recent call last):
    skfairtest._utils.errors.ParameterError: metrics is empty: name at least one
    """
    try:
        yield
    except ParameterError as error:
        if error.parameter != parameter or name == parameter:
            raise
        raise type(error)(error.renamed(name)) from error


class SmallGroupWarning(UserWarning):
    """Groups, or what is counted in them, are too small for what is asked: a result is approximate or left out.

    Examples
    --------
    >>> import warnings
    >>> from skfairtest import SmallGroupWarning
    >>> warnings.simplefilter("error", SmallGroupWarning)  # treat the warning as an error
    >>> warnings.simplefilter("default", SmallGroupWarning)
    """


class GroupsMissing(ParameterError):
    """The people lack groups that are to be compared: there are fewer than two, or not the reference."""


class NothingDefined(ValueError):
    """The metric is defined in fewer than two groups."""


def find_stack_level() -> int:
    """Return the stack level of the line outside the package that a warning of the calling function is about."""
    level, frame = 1, sys._getframe(1)
    # A function that is dispatched by its first argument is called by functools.
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("skfairtest.", "functools")):
        level, frame = level + 1, frame.f_back
    return level


#: The category of the package's warnings that are held back in this thread, and those that were.
_held: ContextVar[tuple[type[Warning] | tuple[()], list[tuple[str, type[Warning]]]]] = ContextVar(
    "held", default=((), [])
)


@contextmanager
def held_back(category: type[Warning] = Warning) -> Iterator[list[tuple[str, type[Warning]]]]:
    """Collect the package's own warnings, of this thread alone: the filters of `warnings` are the whole process's.

    Examples
    --------
    >>> with held_back() as messages:
    ...     warn("few people")
    >>> messages
    [('few people', <class 'UserWarning'>)]
    """
    messages: list[tuple[str, type[Warning]]] = []
    token = _held.set((category, messages))
    try:
        yield messages
    finally:
        _held.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line outside the package."""
    held, messages = _held.get()
    if issubclass(category, held):
        messages.append((message, category))
    else:
        warnings.warn(cut(message), category, stacklevel=find_stack_level())


Function = TypeVar("Function", bound=Callable[..., Any])

#: A parameter, its names in other packages, and what to type if that is not the parameter's name alone.
GUESSES: tuple[tuple[str, str, str | None], ...] = (
    ("sensitive_features", "protected protected_attribute sensitive sensitive_feature groups group A category", None),
    ("metric", "metrics", None),
    ("metrics", "metric", None),
    ("alpha", "level significance_level", None),
    (
        "confidence_level",
        "alpha level significance_level",
        "confidence_level=1 - alpha, such as 0.95 for a level of 0.05",
    ),
    ("alpha", "confidence_level", "alpha=1 - confidence_level, such as 0.05 for a confidence of 0.95"),
    ("n_resamples", "n_permutations n_boot n_bootstraps num_permutations", None),
    ("disparity", "ratio", "disparity='ratio'"),
    ("adjust", "correction multiple_testing p_adjust", None),
    ("reference_group", "privileged_group reference baseline_group privileged", None),
    (
        "compare_intersections",
        "privileged_group reference baseline_group privileged reference_group",
        "compare='to_rest', or FairnessTest(reference_group=...)",
    ),
    ("compare_intersections", "alternative", "FairnessTest, for one question"),
    ("random_state", "seed rng", None),
    ("sample_weight", "weights weight sample_weights", None),
    ("control_features", "strata controls covariates", None),
    ("y_score", "y_prob y_proba scores", None),
    ("y_pred", "prediction predictions predicted selected decision decisions", None),
    ("y_true", "outcome outcomes truth label labels target targets", None),
    ("estimator", "model", None),
    ("prediction_threshold", "threshold", None),
    ("metric", "threshold", "from_predictions(y_true, y_score >= threshold, ...): rates are of labels"),
)
#: Values of other packages: what to type instead.
VALUES = {
    **dict.fromkeys(("pairwise", "all", "all_pairs"), "'between_groups'"),
    "overall": "'to_overall'",
    **dict.fromkeys(("rest", "one_vs_rest", "ovr"), "'to_rest'"),
    **dict.fromkeys(("reference", "control"), "reference_group=..."),
    "unstudentized": "None",
    **dict.fromkeys(("difference", "ratio", "odds_ratio"), "disparity={!r}"),
    **dict.fromkeys(("bh", "fdr", "benjamini-hochberg"), "'fdr_bh'"),
    **dict.fromkeys(("fisher", "boschloo", "barnard"), "'exact'"),
}

#: What to type if arguments are missing, or too many are passed by position.
BY_POSITION = {
    "power": ": power(metric='selection_rate', rates=[0.3, 0.4], n_per_group=[500, 500])",
    "required_sample_size": ": required_sample_size(metric='selection_rate', rates=[0.3, 0.4])",
    "assert_fair": ": assert_fair(model, X, y, sensitive_features=...), or assert_fair(None, y_pred, y_true, ...)",
    "compare_models": ". Models are one argument: compare_models([model_a, model_b], X, y, sensitive_features=...)",
    "SignificanceFrame": (
        ". A MetricFrame keeps no data: pass what it was made from, "
        "SignificanceFrame(metrics=..., y_true=..., y_pred=..., sensitive_features=...)"
    ),
}


def meant(keyword: str, parameters: Iterable[str]) -> str | None:
    """The parameter closest to an unknown keyword; None if none is near.

    Examples
    --------
    >>> meant("protected", ["sensitive_features"]), meant("metrc", ["metric", "method"])
    ('sensitive_features', 'metric')
    """
    known = list(parameters)
    for name, others, typed in GUESSES:
        if keyword in others.split() and name in known:
            return typed or name
    return next(iter(get_close_matches(keyword, known, n=1, cutoff=0.75)), None)


def meant_value(value: Any, choices: Iterable[Any]) -> str | None:
    """The choice closest to an invalid value; None if none is near.

    Examples
    --------
    >>> meant_value("pairwise", ["between_groups"]), meant_value("exakt", ["auto", "exact"])
    ("'between_groups'", "'exact'")
    """
    if not isinstance(value, str):
        return None
    if value in VALUES:
        return VALUES[value].format(value)
    near = get_close_matches(value.casefold(), [choice for choice in choices if isinstance(choice, str)], n=1)
    return repr(near[0]) if near else None


class Constructor(classmethod):  # type: ignore[type-arg]
    """A constructor, such as ``from_predictions``, which is an error on an instance: it would lose its parameters."""

    def __get__(self, instance: Any, owner: type | None = None, /) -> Callable[..., Any]:
        """Return the constructor of a class; of an instance, what says how to call it."""
        made = super().__get__(instance, owner)
        if instance is None:
            return made

        def refused(*args: Any, **kwargs: Any) -> Any:
            name = f"{type(instance).__name__}.{made.__name__}"
            raise TypeError(
                f"{name} makes a new object, without the parameters of this one: call it on the class, "
                f"{name}(...), with the parameters as keywords, or use fit"
            )

        return update_wrapper(refused, made)


def answering_guesses(function: Function, owner: str = "", forget: Callable[..., None] | None = None) -> Function:
    """A function that suggests the right name if it is given an unknown keyword.

    Examples
    --------
    >>> def fit(X, *, sensitive_features): ...
    >>> answering_guesses(fit)([1], protected=["f"])
    Traceback (most recent call last):
    TypeError: fit() has no parameter 'protected'. Did you mean sensitive_features?
    """
    parameters = inspect.signature(function).parameters.values()
    placed = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    known = {*placed, *named} - {"self", "cls"}
    further = any(p.kind is p.VAR_KEYWORD for p in parameters)
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    required = [
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]

    def checked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        __tracebackhide__ = True
        tested = args[0] if args and placed[:1] in (["self"], ["cls"]) else None
        test = tested if isinstance(tested, type) else type(tested)
        name = owner or (function.__name__ if tested is None else f"{test.__name__}.{function.__name__}")
        closed = not further
        allowed = known
        if (
            further and tested is test and not several and hasattr(test, "_get_param_names")
        ):  # all others are parameters
            closed, allowed = True, known.union(test._get_param_names())
        for keyword in sorted(kwargs.keys() - allowed):
            instead = meant(keyword, allowed - set(getattr(test, "_refused", ())))
            # What goes on to another function may be a parameter there.
            if closed or instead in known.intersection(
                name for name, others, _ in GUESSES if keyword in others.split()
            ):
                hint = "" if instead is None else f". Did you mean {instead}?"
                raise TypeError(f"{name}() has no parameter {keyword!r}{hint}")
        if len(args) > len(placed) and named and not several:
            taken = " and ".join(each for each in placed if each in known)
            rest = f"only {taken} by position: pass the others" if taken else "nothing by position: pass everything"
            first = "sensitive_features" if taken and "sensitive_features" in named else named[0]
            raise TypeError(f"{name}() takes {rest} by name{BY_POSITION.get(name, f', such as {first}=...')}")
        lacking = [each for each in required if each not in kwargs and each not in placed[: len(args)]]
        if lacking:
            hint = (
                ": pass None if the metric needs no true labels" if lacking == ["y_true"] else BY_POSITION.get(name, "")
            )
            raise TypeError(f"{name}() needs {enumerated(lacking)}{hint}")

    def answering(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pytest then ends at the line that was typed
        if forget is None:
            checked(args, kwargs)
            return function(*args, **kwargs)
        forget(*args[:1])
        try:
            checked(args, kwargs)
            return function(*args, **kwargs)
        except BaseException:
            forget(*args[:1])
            raise

    return cast(Function, update_wrapper(answering, function))
