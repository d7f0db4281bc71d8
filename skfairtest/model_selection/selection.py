"""Choosing a candidate of a search: the best of those that are fair enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.checks import check_number, check_probability
from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.typing import Floats
from skfairtest.inference.multiplicity import holm
from skfairtest.readers.levels import listed


@dataclass(frozen=True, eq=False)
class FairSelection:
    """The function of `select_fair`: given ``cv_results_``, it returns the position of the candidate to refit.

    A search looks up the scorer of its own ``score`` by its ``refit``: this finds the score that is maximized.
    """

    maximize: str
    fairness: str | None
    tolerance: float | None = None
    alpha: float | None = None
    better_than: str | None = None

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = {"tolerance": self.tolerance, "alpha": self.alpha, "significantly_better_than": self.better_than}
        named = [f"{name}={value!r}" for name, value in given.items() if value is not None]
        keys = [repr(key) for key in (self.maximize, self.fairness) if key is not None]
        return f"select_fair({', '.join([*keys, *named])})"

    def __eq__(self, other: object) -> bool:
        """Whether it is the name of the score that is maximized, or the same choice."""
        return other == self.maximize if isinstance(other, str) else repr(self) == repr(other)

    def __hash__(self) -> int:
        """That of the name of the score that is maximized."""
        return hash(self.maximize)

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the position of the best candidate that is fair enough; if there is none, of the fairest."""
        keys = {"maximize": self.maximize, "fairness": self.fairness, "significantly_better_than": self.better_than}
        scores = {name: _folds(cv_results, name, key) for name, key in keys.items() if key is not None}
        undefined = {keys[name]: np.isnan(folds) for name, folds in scores.items()}
        complete = np.asarray(~np.concatenate(list(undefined.values()), axis=1).any(axis=1))
        if not complete.any():
            bad = np.flatnonzero(np.logical_or.reduce(list(undefined.values())).any(axis=0)).tolist()
            raise ValueError(
                f"{self!r}: all {len(complete)} candidates have a nan among their scores of "
                f"{listed([key for key, nan in undefined.items() if nan.any()])}, in the splits "
                f"{', '.join(map(str, bad))}, so none can be chosen. The search's warnings, or error_score='raise', "
                "say why: groups missing from a fold (use cv=SensitiveStratifiedKFold() and fewer folds), "
                "sensitive_features not passed, or a metric that a model leaves undefined"
            )
        gains = scores["maximize"].mean(axis=1)
        qualifies, criterion, alpha = complete, gains, float(self.alpha or 0.0)
        if "fairness" in scores:
            criterion, what, limit = self._criterion(scores["fairness"], scores["fairness"][complete])
            qualifies = complete & (criterion > limit if self.tolerance is None else criterion >= limit - 1e-12)
        if self.better_than is not None:
            p_values = self._adjusted(scores["significantly_better_than"])
            qualifies, criterion = qualifies & (p_values <= alpha * (1 + 1e-12)), -p_values
        if qualifies.any():
            return _first(_largest(criterion, _largest(gains, qualifies)))
        chosen = _first(_largest(gains, _largest(criterion, complete)))
        if self.better_than is not None:
            enough = "" if self.fairness is None else " and within the tolerance"
            warn(
                f"{self!r}: no candidate is significantly fairer than the baseline{enough}: keep the baseline. The "
                f"one with the smallest p-value is returned, candidate {chosen}: adjusted p = {p_values[chosen]:.4g}, "
                f"alpha={alpha:.4g}"
            )
            return chosen
        params = np.ma.getdata(cv_results["params"])[chosen] if "params" in cv_results else "unnamed"
        value, name = float(criterion[chosen]), "alpha" if self.tolerance is None else "tolerance"
        warn(
            f"{self!r}: no candidate qualifies. The fairest is chosen, candidate {chosen} ({params}): {what} is "
            f"{abs(value):.4g}, {limit - value:.4g} {'above' if value < 0 else 'below'} {name}={abs(limit):.4g}"
        )
        return chosen

    def _adjusted(self, scores: Floats) -> Floats:
        """Return the adjusted p-values of candidates against the baseline."""
        defined = scores[~np.isnan(scores)]
        if ((defined < -1) | (defined > 0)).any():
            raise ParameterError(
                f"significantly_better_than={self.better_than!r} has scores between {defined.min():.3g} and "
                f"{defined.max():.3g}, but they must be minus p-values: pass make_fairness_scorer(..., "
                "output='p_value', baseline=model)"
            )
        return adjusted_p_values(-scores)

    def _criterion(self, fair: Floats, defined: Floats) -> tuple[Floats, str, float]:
        """Interpret scores, `defined` those of complete candidates: how fair each is, what that is, and the limit.

        Twice the mean of p-values is a p-value, however those of folds depend on each other.
        """
        low, high, mean = float(defined.min()), float(defined.max()), fair.mean(axis=1)
        scores = f"fairness={self.fairness!r} has scores between {low:.3g} and {high:.3g}"
        if self.tolerance is None:
            if low < 0 or high > 1:
                raise ParameterError(
                    f"{scores}, but alpha is for p-values: pass make_fairness_scorer(..., output='p_value'), without "
                    "alternative='equivalence', whose p-values are evidence for fairness; or use tolerance with "
                    "output='upper_bound'"
                )
            return np.minimum(1.0, 2 * mean), "twice the mean of its p-values", float(self.alpha or 0.0)
        if low < 0 < high or high > 1:
            raise ParameterError(
                f"{scores}: pass make_fairness_scorer(..., output='upper_bound') as {self.fairness!r}, whose scores "
                "are at most 0 for differences, and from 0 to 1 for ratios"
            )
        if low < 0:
            return mean, "the mean of its upper bounds", -float(self.tolerance)
        # All scores 0 are read as ratios: the worst end of a ratio's interval often is 0 where groups are small, an
        # upper bound of a difference hardly ever.
        if not 0 < self.tolerance <= 1:
            raise ParameterError(
                f"tolerance must be above 0 and at most 1, as in tolerance=0.8: scores of {self.fairness!r} are "
                f"ratios, from {low:.3g} to {high:.3g}; found {self.tolerance:.4g}"
            )
        return mean, "the mean of its worst ratios", float(self.tolerance)


def adjusted_p_values(p_values: Floats) -> Floats:
    """Return p-values of candidates, adjusted for how many there are, of those of their folds.

    Examples
    --------
    >>> adjusted_p_values(np.array([[0.001, 0.003], [0.5, 0.7]])).round(4).tolist()
    [0.008, 1.0]
    """
    single = p_values.shape[1] == 1
    combined = p_values[:, 0] if single else np.minimum(1.0, 2 * p_values.mean(axis=1))
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(holm(np.log(np.nan_to_num(combined, nan=1.0)))))


def _folds(cv_results: Mapping[str, Any], parameter: str, key: str) -> Floats:
    """Return the scores of shape (candidates, folds)."""
    if not isinstance(cv_results, Mapping) or not all(isinstance(name, str) for name in cv_results):
        raise ParameterError(
            f"{parameter}={key!r} is looked up in the cv_results_ of a search; found {brief(cv_results)}"
        )
    folds = [name for name in cv_results if re.fullmatch(rf"split\d+_test_{re.escape(key)}", name)]
    if not folds:
        keys = [name.removeprefix("mean_test_") for name in cv_results if name.startswith("mean_test_")]
        example = "scoring={'accuracy': 'accuracy', 'fair': make_fairness_scorer(...)}"
        hint = f"; the search has only one score: pass {example}" if keys == ["score"] else ""
        raise ParameterError(
            f"{parameter}={key!r} is not a key of the search's scoring, whose keys are {listed(keys)}{hint}"
        )
    return np.stack([np.asarray(cv_results[name], dtype=float) for name in folds], axis=1)


def _largest(values: Floats, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The largest values; rounding of means does not decide between equal ones."""
    best = float(values[among].max())
    return np.asarray(among & (values >= best - 1e-12 * max(1.0, abs(best)) if np.isfinite(best) else values == best))


def _first(among: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(among)[0])


def select_fair(
    maximize: str,
    fairness: str | None = None,
    *,
    tolerance: float | None = None,
    alpha: float | None = None,
    significantly_better_than: str | None = None,
) -> FairSelection:
    """Choose the best candidate of a search among those that are fair enough, for ``refit=``.

    With `tolerance`, the recommended way, a candidate qualifies if its disparity stays within the tolerance even at the
    worst end of the intervals. With `alpha`, a candidate qualifies if a combined test does not reject it; the null
    hypothesis is that its models are fair in every fold, and small folds hardly ever reject. With
    `significantly_better_than`, a candidate qualifies if it is significantly fairer than the model in production: the
    null hypothesis is that in no fold its model's disparity is smaller in size than the baseline's.

    Parameters
    ----------
    maximize : str
        Key of the search's `scoring` whose mean is to be as large as possible, such as "accuracy".
    fairness : str, optional
        Key of the fairness scores; not needed with `significantly_better_than`. `make_fairness_scorer` with
        ``output="upper_bound"`` for `tolerance`, with ``output="p_value"`` for `alpha`.
    tolerance : float, optional
        For differences, the largest upper bound that is tolerated, at least 0; for ratios, the smallest worst end that
        is tolerated, above 0 and at most 1. It is compared with the mean over folds. The sign of the scores tells
        differences from ratios; `fairness` must not have output "p_value" here.
    alpha : float, optional
        Level, between 0 and 1, of the combined p-value: twice the mean of the folds' p-values, at most 1. With
        `significantly_better_than`, the level for all candidates together, 0.05 by default.
    significantly_better_than : str, optional
        Key of the scores against a baseline: ``make_fairness_scorer(..., output="p_value", baseline=model)``. With
        `fairness` and `tolerance`, candidates have to be within the tolerance too.

    Returns
    -------
    refit : callable
        A function that the search calls with its ``cv_results_`` and that returns the position of the chosen candidate:
        the one with the largest mean of `maximize`, among ties the fairest, then the first. If none qualifies, the
        fairest is chosen (largest mean score of `fairness`, or largest combined p-value), with a UserWarning that says
        by how much it misses. Candidates with a NaN in any fold of either score are excluded.

    Raises
    ------
    ValueError
        If not exactly one of `tolerance` and `alpha` is given, or it is out of range; with `significantly_better_than`,
        if not both or none of `fairness` and `tolerance` are. In the search: if a key is not
        among those of `scoring`, scores do not fit `tolerance` or `alpha`, or every candidate has a NaN.

    See Also
    --------
    make_fairness_scorer : Scores that this chooses by.
    FairnessTest : Test of the chosen model on people that the search did not use.

    Notes
    -----
    Folds share their training data, so that their p-values depend on each other in an unknown way. Twice their average
    is a p-value whatever the dependence (Rueschendorf 1982; Vovk and Wang 2020); no smaller multiple is.

    The choice favours candidates that were lucky in the folds, so their scores are not a verdict: test the refitted
    model on people that the search did not use. The mean of upper bounds is a bound for all candidates together if the
    scorer has ``confidence_level=1 - 0.05 / (candidates * folds)``. If candidates are independent (drawn at random, not
    by an adaptive search), then with 95% confidence at most ``1 - 0.05 ** (1 / n)`` of further ones would beat the best
    of n: 5% after 59.

    With `significantly_better_than`, combined p-values are adjusted over all candidates by Holm's method. The
    probability that any candidate qualifies although none of its folds' models is fairer than the baseline is then at
    most `alpha`, if the people of a fold are new to the model scored on them and to the baseline. It is about the
    models of the folds, not the refitted one.

    ``HalvingGridSearchCV`` and ``HalvingRandomSearchCV`` have only one score and never call the function passed as
    ``refit``: they choose the best by that score, without a warning.

    References
    ----------
    L. Rueschendorf (1982), Random variables with maximum sums, Advances in Applied Probability 14, 623-632. V. Vovk and
    R. Wang (2020), Combining p-values via averaging, Biometrika 107, 791-808, equation 1.

    Examples
    --------
    >>> from skfairtest import select_fair
    >>> choose = select_fair("accuracy", "fair", tolerance=0.1)
    >>> choose(
    ...     {
    ...         "split0_test_accuracy": [0.90, 0.80, 0.70],
    ...         "split1_test_accuracy": [0.92, 0.82, 0.72],
    ...         "split0_test_fair": [-0.30, -0.12, -0.05],
    ...         "split1_test_fair": [-0.25, -0.06, -0.05],
    ...     }
    ... )
    1
    """
    better = significantly_better_than
    named = {"maximize": maximize, "fairness": fairness, "significantly_better_than": better}
    optional = ("significantly_better_than", *(["fairness"] if better is not None else []))
    for name, key in named.items():
        if isinstance(key, Mapping):  # a search hands its results to what `refit` is
            raise ParameterError(
                "maximize is what a search hands to refit: select_fair makes the choice and has to be called, as in "
                "refit=select_fair('accuracy', 'fairness', tolerance=0.1) with two keys of the search's scoring"
            )
        if not isinstance(key, str) and not (key is None and name in optional):
            raise ParameterError(
                f"{name} must be a key of the search's scoring, such as "
                f"{'fairness' if name == 'fairness' else 'accuracy'!r}; found {key!r}"
            )
    for (name, key), (other, same) in combinations(named.items(), 2):
        if key is not None and key == same:
            raise ParameterError(f"{name} and {other} are both {key!r}: name different keys of the search's scoring")
    if better is not None:
        if (fairness is None) != (tolerance is None):
            raise ParameterError(
                f"fairness and tolerance go together with significantly_better_than: give both or none; found "
                f"{fairness!r} and {brief(tolerance)}"
            )
        alpha = 0.05 if alpha is None else alpha
    elif (tolerance is None) == (alpha is None):
        raise ParameterError(f"tolerance or alpha: give exactly one of them; found {brief(tolerance)} and {alpha!r}")
    check_number("tolerance", tolerance, 0, optional=True)
    if alpha is not None:
        check_probability("alpha", alpha)
    return FairSelection(maximize, fairness, tolerance, alpha, better)
