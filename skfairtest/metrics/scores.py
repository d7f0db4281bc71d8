"""The metrics of scores and numbers, each with its standard error. A new one is one declaration."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.confusion import ClassScores, GeometricMean, Kappa, Matthews, OfLabels
from skfairtest.metrics.counted import AveragePrecision, Determination
from skfairtest.metrics.functionals import Auc, Functional, Mean, Share
from skfairtest.metrics.inequality import Entropy, Inequality
from skfairtest.metrics.score_metric import Context, ScoreMetric, shared_codes
from skfairtest.readers.levels import listed, sort_levels

UNIT, SIGNED, LOSS, ANY = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf), (-np.inf, np.inf)
EITHER = ("decision_function", "predict_proba")
PROBABILITY = "predict_proba"


@dataclass(frozen=True)
class BuiltIn(ScoreMetric):
    """A metric whose standard error is known."""

    places: ClassVar[tuple[str | None, ...]] = (None, "y_true", "y_pred", "condition")
    columns: tuple[str, ...] = ("y_true", "y_pred")
    positive: str = "if labels"  # where one label becomes 1: "always", "if labels", "if two labels", "never"; "unread"
    undefined: str = ""
    power: int = 1

    @property
    def reads(self) -> frozenset[str]:
        """The columns that it needs."""
        return frozenset(self.columns)

    @property
    def needs_pos_label(self) -> bool:
        """Whether it always needs the positive label."""
        return self.positive == "always"

    @property
    def scores(self) -> str:
        """The column that is predicted."""
        return "y_score" if "y_score" in self.columns else "y_pred"

    #: Whether it is evaluated one table at a time.
    slow: ClassVar[bool] = False

    @property
    def takes_weights(self) -> bool:
        """Whether people may have weights."""
        return True

    @property
    def sort_by(self) -> tuple[str, ...]:
        """Columns by which people are sorted for its evaluation."""
        return tuple(name for name in ("y_true", "y_score") if name in self.columns)

    def check(self, context: Context, masses: Floats) -> None:
        """Accept any people: a group in which a built-in metric is undefined is left out."""

    def functional(self, context: Context) -> Functional:
        """Return the metric of these kinds of people as a function of their counts."""
        return self.evaluate(context)  # type: ignore[no-any-return]


def numbers(context: Context, name: str) -> Floats:
    """Return a column as numbers; labels become 1 for the positive one and 0 for others."""
    cells = context.columns[name]
    if name != "y_score" and context.pos_label is not None:
        return cells.is_label(context.pos_label).astype(float)
    if cells.numbers is None:
        seen = ", ".join(map(repr, cells.levels[:5]))
        labels = ", or two labels one of which is pos_label" if name != "y_score" else ""
        raise ParameterError(f"{name} must hold numbers{labels}; found {seen}")
    return cells.numbers


def probabilities(context: Context) -> Floats:
    """Return the scores, which have to be probabilities."""
    score = numbers(context, "y_score")
    if len(score) and (score.min() < 0 or score.max() > 1):
        raise ParameterError(
            f"y_score must hold probabilities of the positive label, between 0 and 1; found {score.min():g} to "
            f"{score.max():g}"
        )
    return score


def _positive(context: Context, name: str = "y_true") -> Booleans:
    return context.columns[name].is_label(context.pos_label)


def _codes(context: Context) -> tuple[Positions, Positions]:
    columns = {name: context.columns[name] for name in ("y_true", "y_pred")}
    if not all(cells.levels for cells in columns.values()):
        raise ParameterError("y_true and y_pred must hold class labels; found numbers of many different values")
    codes = shared_codes(columns)
    return codes["y_true"], codes["y_pred"]


@dataclass(frozen=True)
class OfMean:
    """The mean of a value of each person."""

    z: Callable[[Context], Floats]
    bounds: tuple[float, float]

    def __call__(self, context: Context) -> Functional:
        """Return the mean of these kinds of people."""
        return Mean(self.z(context), self.bounds)


def _residual(context: Context, of: Callable[[Floats], Floats] = np.positive) -> Floats:
    return of(numbers(context, "y_true") - numbers(context, "y_pred"))


def _score_residual(context: Context, of: Callable[[Floats], Floats] = np.positive) -> Floats:
    return of(_positive(context).astype(float) - probabilities(context))


def _cross_entropy(context: Context) -> Floats:
    score = probabilities(context)
    smallest = float(np.finfo(score.dtype).eps)
    score = np.clip(score, smallest, 1 - smallest)  # as scikit-learn's log_loss has it
    return np.asarray(-np.where(_positive(context), np.log(score), np.log1p(-score)))


def _of_codes(context: Context, of: type[OfLabels]) -> Functional:
    return of(*_codes(context))


def _of_scores(context: Context, of: type[Auc | AveragePrecision]) -> Functional:
    return of(_positive(context), numbers(context, "y_score"))


def _of_recalls(context: Context, of: type[ClassScores]) -> Functional:
    """Average the recalls of all classes of the data; a class absent from a group has none there."""
    return of(*_codes(context), classes=np.arange(len(context.columns["y_true"].levels)), absent=False)


def _average_odds(context: Context) -> Functional:
    true, called = (_positive(context, name).astype(np.intp) for name in ("y_true", "y_pred"))
    return ClassScores(true, called, event=called > 0, classes=np.arange(2), absent=False)


def _determination(context: Context) -> Functional:
    return Determination(numbers(context, "y_true"), numbers(context, "y_pred"))


def _of_benefits(context: Context, index: Entropy) -> Functional:
    return Inequality(_positive(context), _positive(context, "y_pred"), index)


def _of_label(context: Context, wrongly: float, missed: float, label: Any) -> Functional:
    """TP / (TP + `wrongly` FP + `missed` FN) of a label; None: of the positive one."""
    seen = sort_levels({*context.columns["y_true"].levels, *context.columns["y_pred"].levels})
    if label is None:
        label = context.pos_label
    elif label not in seen:
        raise ParameterError(f"pos_label={label!r} is not among the labels, which are {listed(seen)}")
    true, called = (context.columns[name].is_label(label) for name in ("y_true", "y_pred"))
    event = (true & called).astype(float)
    return Share(event, event + wrongly * (called & ~true) + missed * (true & ~called))


def _of_all_labels(context: Context, wrongly: float, missed: float) -> Functional:
    """The same of the counts of all labels together."""
    true, called = _codes(context)
    right = (true == called).astype(float)
    return Share(right, right + (wrongly + missed) * (1 - right))


def _of_classes(context: Context, wrongly: float, missed: float, **params: Any) -> Functional:
    return ClassScores(*_codes(context), wrongly, missed, **params)


#: What false positives and false negatives count beside true positives, and what the ratio is called.
CLASS_SCORES: dict[str, tuple[float, float, str]] = {
    "precision": (1.0, 0.0, "precision"),
    "recall": (0.0, 1.0, "recall"),
    "f1": (0.5, 0.5, "F1"),
    "jaccard": (1.0, 1.0, "Jaccard index"),
}


@lru_cache(typed=True)
def class_score(
    kind: str, average: str = "", *, beta: float = 1.0, label: Any = None, undefined: float | None = None
) -> BuiltIn:
    """Declare precision, recall, an F-score or Jaccard's index of a label (the positive one), or averaged over all.

    Examples
    --------
    >>> class_score("f1", "macro", beta=2.0).name
    'f2_macro'
    """
    wrongly, missed, called = CLASS_SCORES[kind]
    name = kind
    if beta != 1:
        share = 1.0 if np.isinf(beta) else beta**2 / (1 + beta**2)
        typed = np.format_float_positional(beta, trim="-")
        wrongly, missed, name, called = 1 - share, share, f"f{typed}", f"F{typed}"
    declared = BuiltIn(name, partial(_of_label, wrongly=wrongly, missed=missed, label=label), within="condition",
        bounds=UNIT, describes=f"the {called} of the positive label", positive="always", undefined=_NO_CLASS,
    )  # fmt: skip
    if label is not None:
        describes = f"the {called} of label {label!r}"
        return replace(declared, name=f"{name}(pos_label={label!r})", describes=describes, positive="never")
    if not average:
        return declared
    declared = replace(declared, name=f"{name}_{average}", positive="never")
    if average == "micro":
        evaluate: Any = partial(_of_all_labels, wrongly=wrongly, missed=missed)
        return replace(declared, evaluate=evaluate, describes=f"the {called} of all labels' counts together")
    given = "" if undefined is None else f"(zero_division={undefined!r})"
    weighted = average == "weighted"
    within = None if weighted else {(True, False): "y_pred", (False, True): "y_true"}.get((wrongly > 0, missed > 0))
    return replace(
        declared,
        name=declared.name + given,
        evaluate=partial(_of_classes, wrongly=wrongly, missed=missed, weighted=weighted, undefined=undefined),
        within=within,
        describes=f"the mean of the labels' {called}"
        + (", weighted by how many people truly have each" if weighted else ""),
    )


@lru_cache(typed=True)
def inequality(alpha: float) -> BuiltIn:
    """Declare generalized entropy with this alpha; with 1 it is Theil's index.

    Examples
    --------
    >>> inequality(2.0).name, inequality(0.5).name, inequality(1.0).name
    ('generalized_entropy', 'generalized_entropy_0.5', 'theil_index')
    """
    usual = {1.0: "theil_index", 2.0: "generalized_entropy"}
    name = usual.get(alpha) or f"generalized_entropy_{np.format_float_positional(alpha, trim='-')}"
    called = "Theil's index" if alpha == 1 else f"generalized entropy with alpha {alpha:g}"
    return BuiltIn(
        name, partial(_of_benefits, index=Entropy(alpha)), bounds=LOSS, positive="always",
        undefined="all benefits are 0",
        describes=f"the inequality of benefits, prediction minus truth plus one ({called})",
    )  # fmt: skip


def _mean(
    name: str, z: Callable[[Context], Floats], bounds: tuple[float, float], describes: str, **params: Any
) -> BuiltIn:
    return BuiltIn(name, OfMean(z, bounds), bounds=bounds, describes=describes, **params)


_ONE_CLASS = "no one is truly positive, or no one truly negative"
_NO_CLASS = "no one is predicted to have, or no one truly has, one of the labels"
_LABELS: dict[str, Any] = {"bounds": UNIT, "within": "y_true"}
_SCORED: dict[str, Any] = {"columns": ("y_true", "y_score"), "positive": "always", "response": PROBABILITY}

SCORES: dict[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        _mean("mean_prediction", partial(numbers, name="y_pred"), ANY, "the mean prediction", columns=("y_pred",)),
        _mean("mean_residual", _residual, ANY, "the mean of true value minus prediction"),
        _mean("mean_squared_error", partial(_residual, of=np.square), LOSS, "the mean squared error", power=2),
        _mean("mean_absolute_error", partial(_residual, of=np.abs), LOSS, "the mean absolute error"),
        _mean("log_loss", _cross_entropy, LOSS, "the mean negative log-probability of the true label", **_SCORED),
        _mean(
            "brier_score", partial(_score_residual, of=np.square), UNIT, "the mean squared error of scores", **_SCORED
        ),
        _mean(
            "calibration", _score_residual, SIGNED, "the share of truly positive people minus the mean score", **_SCORED
        ),
        BuiltIn(
            "roc_auc", partial(_of_scores, of=Auc), **_SCORED | _LABELS | {"response": EITHER}, undefined=_ONE_CLASS,
            describes="the probability that a truly positive person scores above a truly negative one (AUC)",
        ),
        BuiltIn(
            "balanced_accuracy", partial(_of_recalls, of=ClassScores), **_LABELS, positive="never",
            describes="the average over true labels of the share predicted correctly",
            undefined="no one has one of the true labels",
        ),
        BuiltIn(
            "average_odds", _average_odds, **_LABELS, positive="always", undefined=_ONE_CLASS,
            describes="the mean of the true and the false positive rate",
        ),
        BuiltIn(
            "matthews_corrcoef", partial(_of_codes, of=Matthews), bounds=SIGNED, positive="never",
            describes="the correlation of true and predicted label (Matthews)",
            undefined="all people have one true, or one predicted, label",
        ),
        *(
            class_score(*name.split("_")) for name in (
                "precision_macro", "precision_weighted", "recall_macro", "f1_macro", "f1_weighted",
                "jaccard_micro", "jaccard_macro", "jaccard_weighted",
            )
        ),
        BuiltIn(
            "geometric_mean", partial(_of_recalls, of=GeometricMean), **_LABELS, positive="never",
            describes="the geometric mean over true labels of the share predicted correctly (G-mean)",
            undefined="no one has one of the true labels",
        ),
        BuiltIn(
            "cohen_kappa", partial(_of_codes, of=Kappa), bounds=SIGNED, positive="never",
            describes="the agreement of true and predicted label beyond chance (Cohen's kappa)",
            undefined="all people have one label, true and predicted",
        ),
        BuiltIn(
            "average_precision", partial(_of_scores, of=AveragePrecision), **_SCORED | {"response": EITHER},
            bounds=UNIT, undefined="no one is truly positive",
            describes="the mean, over truly positive people, of the precision among all who score as high (average "
            "precision)",
        ),
        BuiltIn(
            "r2", _determination, bounds=(-np.inf, 1.0), power=2, undefined="all people have one true value",
            describes="the share of the variance of true values that predictions explain (R squared)",
        ),
        inequality(2.0), inequality(1.0),
    )
}  # fmt: skip


#: Hinnefeld et al. 2018, equations 1 and 2, under their own names (a residual is prediction minus truth there).
HINNEFELD_MEANS: dict[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        replace(SCORES["mean_prediction"], name="difference_in_means", positive="if two labels"),
        replace(
            SCORES["mean_residual"],
            name="difference_in_residuals",
            evaluate=OfMean(partial(_residual, of=np.negative), ANY),
            describes="the mean of prediction minus true value",
            positive="if two labels",
        ),
    )
}
