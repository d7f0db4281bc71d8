"""The parameters of a test, checked once, with errors that name the parameter, its value and the remedy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.checks import check_choice, check_running, is_integer, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest.inference.rates import Question

CHOICES: dict[str, tuple[object, ...]] = {
    "compare": ("between_groups", "to_overall", "to_rest", "to_reference", "to_highest", "to_lowest"),
    "disparity": ("difference", "ratio", "odds_ratio"),
    "alternative": ("two-sided", "greater", "less", "equivalence"),
    "method": ("auto", "exact", "permutation", "bootstrap", "asymptotic", "diciccio"),
    "variance": ("auto", "score", "delta", "jackknife", "bootstrap", None),
    "within": ("auto", None, "y_true", "y_pred"),
    "adjust": ("auto", "holm", "discrete_holm", "bonferroni", "fdr_bh", None),
    "missing": ("raise", "exclude", "group", "bounds"),
}
#: What parameters are if a test does not have them: the first of their choices, and of others these.
DEFAULTS = {name: choices[0] for name, choices in CHOICES.items()} | {
    "reference_group": None, "margin": None, "confidence_level": 0.95, "n_resamples": 9999, "n_jobs": None,
    "verbose": 0, "strata_weights": None,
}  # fmt: skip
ONE_SIDED = ("greater", "less")
#: Resamples after which ``n_resamples="adaptive"`` stops at the latest.
MOST_ADAPTIVE = 9999
#: The most resamples, whose statistics are kept: 80 MB for each comparison.
MOST_RESAMPLES = 10_000_000


@dataclass(frozen=True)
class Settings:
    """Checked parameters; `question`, `variance`, `adjust` and `method` are those that will be run."""

    compare: str
    reference_group: Any
    question: Question
    variance: str | None
    within: str | None
    adjust: str | None
    alpha: float
    n_resamples: int
    n_jobs: int | None = None
    asked_variance: str | None = "auto"
    adaptive: bool = False
    verbose: int = 0
    #: Resamples after which adaptive drawing stops if none of them is as extreme as the data.
    n_decisive: int | None = None
    #: Whether groups are the intersections of an audit, for which `compare` may be "to_parents" as well.
    crossed: bool = False
    #: Whether p-values count permutations alone, as published by DiCiccio et al. (2020).
    published: bool = False
    #: How people whose group is missing are treated.
    missing: str = "raise"
    #: Whether p-values are wanted; limits alone take rates' score tests, which are the same with every method.
    tested: bool = True
    #: Weights of strata: by label, or a function of both sides' sizes; None: Mantel and Haenszel's.
    strata_weights: Any = None
    #: Whether strata are also compared one by one.
    by_stratum: bool = True


def check_settings(*, shares: bool = True, **params: Any) -> Settings:
    """Check every parameter of a test, and their combinations; `shares`: no metric goes beyond 0 and 1."""
    given = {name: params.get(name, default) for name, default in DEFAULTS.items()}
    for name, choices in CHOICES.items():
        check_choice(name, given[name], choices)
    compare, disparity, alternative, method, variance, within, adjust, missing, *others = given.values()
    reference_group, margin, confidence_level, n_resamples, n_jobs, verbose, strata_weights = others
    check_running(confidence_level, n_jobs, verbose)
    adaptive = isinstance(n_resamples, str) and n_resamples == "adaptive"
    if adaptive:
        n_resamples = MOST_ADAPTIVE
    elif not is_integer(n_resamples) or n_resamples < 1:
        raise ParameterError(f"n_resamples must be an integer of at least 1, or 'adaptive'; found {brief(n_resamples)}")
    elif int(n_resamples) > MOST_RESAMPLES:
        raise ParameterError(f"n_resamples must be at most {MOST_RESAMPLES:,}; found {n_resamples:,}")
    if reference_group is not None and compare == "between_groups":  # the default
        compare = "to_reference"
    if reference_group is not None and compare != "to_reference":
        raise ParameterError(
            f"reference_group={brief(reference_group)} is only used with compare='to_reference'; found "
            f"compare={compare!r}"
        )
    if reference_group is None and compare == "to_reference":
        raise ParameterError("compare='to_reference' needs reference_group: the label of the group to compare with")
    if compare in ("to_highest", "to_lowest") and alternative != "two-sided":
        instead = (
            "all groups are within the margin of the best one exactly if all pairs are: use compare='between_groups'"
            if alternative == "equivalence"
            else "the data choose the group, and with it the direction: use alternative='two-sided'"
        )
        raise ParameterError(f"alternative={alternative!r} has no test with compare={compare!r}; {instead}")
    published = method == "diciccio"
    if published:  # their algorithm 1
        method, variance = "permutation", "bootstrap" if variance == "auto" else variance
        within = None if within == "auto" else within
    if disparity == "odds_ratio":
        _check_odds_ratio(compare, method)
    margin_bounds = _margin_bounds(margin, disparity, alternative, unit=shares)
    asked_variance = variance
    method, variance = _method(method, variance, within, margin_bounds)
    if missing == "bounds":
        _check_bounds(compare, method)
    if adjust == "auto":
        adjust = "shaffer"
    if adaptive and method == "bootstrap":
        raise ParameterError(
            "n_resamples='adaptive' stops when one comparison's p-value is known; method='bootstrap' needs a fixed "
            "number: use n_resamples=9999"
        )
    return Settings(
        compare,
        reference_group,
        Question(
            disparity, alternative, margin_bounds, method, alternative in ONE_SIDED or isinstance(margin, tuple | list)
        ),
        variance,
        within,
        adjust,
        1 - float(confidence_level),
        int(n_resamples),
        None if n_jobs is None else int(n_jobs),
        asked_variance,
        adaptive,
        int(verbose),
        published=published,
        missing=missing,
        strata_weights=strata_weights,
    )


def _check_bounds(compare: str, method: str) -> None:
    """Check that p-values can have bounds: no best group, and no resampling."""
    by_best = compare in ("to_highest", "to_lowest")
    if by_best or method in ("permutation", "bootstrap"):
        given, instead = f"method={method!r}", "method='auto', variance='auto', within='auto'"
        if by_best:
            given, instead = f"compare={compare!r}", "compare='between_groups'"
        raise ParameterError(
            f"missing='bounds' looks at the enumerated or asymptotic test of every assignment, which {given} has not: "
            f"use {instead}, or missing='exclude'"
        )


def _check_odds_ratio(compare: Any, method: Any) -> None:
    if compare == "to_overall":
        raise ParameterError(
            "disparity='odds_ratio' compares two sides that share no one, but compare='to_overall' counts the group "
            "on both: use compare='to_rest'"
        )
    if method == "bootstrap":
        raise ParameterError("disparity='odds_ratio' is not bootstrapped: use method='auto', 'exact' or 'asymptotic'")


def _margin_bounds(margin: Any, disparity: str, alternative: str, *, unit: bool) -> tuple[float, float] | None:
    if margin is None:
        if alternative == "equivalence":
            raise ParameterError(
                "margin is missing: alternative='equivalence' needs the largest disparity that still counts as fair "
                "(0.05 for five points of difference, 0.8 for ratios between 0.8 and 1.25)"
            )
        return None
    if isinstance(margin, tuple | list):
        return _two_ends(margin, disparity, alternative, unit=unit)
    if not is_number(margin):
        raise ParameterError(f"margin must be a number; found {brief(margin)}")
    if disparity != "difference":
        if not 0 < margin <= 1:
            raise ParameterError(
                f"margin of a ratio must be above 0 and at most 1, meaning [margin, 1/margin]; found {brief(margin)}"
            )
        margin_bounds = (float(margin), 1 / float(margin))
    else:
        if not 0 <= margin < (1 if unit else np.inf):
            top = "below 1" if unit else "finite"
            raise ParameterError(f"margin of a difference must be at least 0 and {top}; found {brief(margin)}")
        margin_bounds = (-float(margin), float(margin))
    if margin_bounds[0] == margin_bounds[1]:
        if alternative == "equivalence":
            raise ParameterError(f"margin={brief(margin)} leaves no disparity that counts as fair: pass a wider one")
        return None
    return margin_bounds


def _two_ends(margin: Any, disparity: str, alternative: str, *, unit: bool) -> tuple[float, float]:
    is_difference = disparity == "difference"
    equal, least, most = (0.0, -1.0 if unit else -np.inf, 1.0 if unit else np.inf) if is_difference else (1, 0, np.inf)
    known = [end for end in margin if end is not None]
    usable = alternative == "equivalence" and len(margin) == 2 and known not in ([], [equal, equal])
    if usable and all(is_number(end) and least < end < most for end in known):
        low, high = (
            -np.inf if margin[0] is None else float(margin[0]),
            np.inf if margin[1] is None else float(margin[1]),
        )
        if low <= equal <= high:
            return low, high
    raise ParameterError(
        "margin must be a number or, with alternative='equivalence', the lowest and the highest disparity that are "
        f"tolerated, on either side of {equal:g}, of which one may be None, as in "
        f"{(-0.05, None) if is_difference else (0.8, None)}; found {brief(margin)} with alternative={alternative!r}"
    )


def _method(
    method: str, variance: str | None, within: str | None, margin_bounds: tuple[float, float] | None
) -> tuple[str, str | None]:
    """Resolve method and variance: only score statistics permuted within the rate's condition have exact tests."""
    conflicting = [f"variance={variance!r}"] if variance not in ("auto", "score") else []
    conflicting += [f"within={within!r}"] if within != "auto" else []
    if conflicting and method in ("exact", "asymptotic"):
        raise ParameterError(
            f"method={method!r} is one specific test, which {' and '.join(conflicting)} would change: use "
            "method='permutation'"
        )
    if conflicting and method == "auto":
        method = "permutation"
    if method == "bootstrap" and within != "auto":
        raise ParameterError(f"within={within!r} says where labels are permuted, but method='bootstrap' permutes none")
    if method == "permutation" and margin_bounds is not None:
        raise ParameterError(
            "method='permutation' tests equality and not a margin: use method='exact' or 'bootstrap', or margin=None"
        )
    if variance == "auto":
        variance = "delta" if method == "bootstrap" else "score"
    elif variance == "score" and method == "bootstrap":
        raise ParameterError(
            "variance='score' holds where groups are equal, not in bootstrap samples: use variance='delta'"
        )
    return method, variance
