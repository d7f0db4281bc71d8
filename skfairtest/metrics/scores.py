"""The metrics of scores and numbers, each with its standard error. A new one is one declaration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.confusion import ClassScores, GeometricMean, Kappa, Matthews, recalls
from skfairtest.metrics.counted import AveragePrecision, Determination
from skfairtest.metrics.functionals import Auc, Functional, Mean, Share
from skfairtest.metrics.inequality import Entropy, Inequality
from skfairtest.metrics.score_metric import Context, ScoreMetric, shared_codes
from skfairtest.readers import Column, Numbers
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
        """Which columns it needs."""
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
    if context.pos_label is not None:
        return cells.is_label(context.pos_label).astype(float)
    if cells.numbers is None:
        seen = ", ".join(map(repr, cells.levels[:5]))
        raise ParameterError(f"{name} must hold numbers, or two labels one of which is pos_label; found {seen}")
    return cells.numbers


def _scores(context: Context) -> Floats:
    score = context.columns["y_score"].numbers
    if score is None:
        seen = ", ".join(map(repr, context.columns["y_score"].levels[:5]))
        raise ParameterError(f"y_score must hold numbers; found {seen}")
    return score


def probabilities(context: Context) -> Floats:
    """Return the scores, which have to be probabilities."""
    score = _scores(context)
    if len(score) and (score.min() < 0 or score.max() > 1):
        raise ParameterError(
            f"y_score must hold probabilities of the positive label, between 0 and 1; found {score.min():g} to "
            f"{score.max():g}"
        )
    return score


def _truth(context: Context) -> Floats:
    return context.columns["y_true"].is_label(context.pos_label).astype(float)


def _labels(context: Context) -> tuple[Column | Numbers, Column | Numbers]:
    true, predicted = (context.columns[name] for name in ("y_true", "y_pred"))
    if not true.levels or not predicted.levels:
        raise ParameterError("y_true and y_pred must hold class labels; found numbers of many different values")
    return true, predicted


def _codes(context: Context) -> tuple[Positions, Positions]:
    true, predicted = _labels(context)
    codes = shared_codes({"y_true": true, "y_pred": predicted})
    return codes["y_true"], codes["y_pred"]


def _members(context: Context, labels: tuple[Any, ...] | None) -> tuple[Booleans, Booleans]:
    """Return who truly is in each class, and who is predicted to be: two arrays (K, C), classes in their order."""
    true, predicted = _labels(context)
    classes = sort_levels({*true.levels, *predicted.levels}) if labels is None else labels
    member, called = (np.stack([cells.is_label(label) for label in classes], axis=1) for cells in (true, predicted))
    return member, called


def _check_seen(context: Context, label: Any) -> None:
    """Check that the positive label occurs."""
    seen = sort_levels({*context.columns["y_true"].levels, *context.columns["y_pred"].levels})
    if label not in seen:
        raise ParameterError(f"pos_label={label!r} is not among the labels, which are {listed(seen)}")


@dataclass(frozen=True)
class OfMean:
    """The mean of a value of each person."""

    z: Callable[[Context], Floats]
    bounds: tuple[float, float]

    def __call__(self, context: Context) -> Functional:
        """Return the mean of these kinds of people."""
        return Mean(self.z(context), self.bounds)


def _prediction(context: Context) -> Floats:
    return numbers(context, "y_pred")


def _residual(context: Context) -> Floats:
    return numbers(context, "y_true") - numbers(context, "y_pred")


def _error(context: Context) -> Floats:
    return -_residual(context)


def _squared_error(context: Context) -> Floats:
    return np.asarray(_residual(context) ** 2)


def _absolute_error(context: Context) -> Floats:
    return np.abs(_residual(context))


def _score_residual(context: Context) -> Floats:
    return np.asarray(_truth(context) - probabilities(context))


def _squared_score_error(context: Context) -> Floats:
    return np.asarray(_score_residual(context) ** 2)


def _matthews(context: Context) -> Functional:
    return Matthews(*_codes(context))


def _average_precision(context: Context) -> Functional:
    return AveragePrecision(_truth(context) > 0, _scores(context))


def _determination(context: Context) -> Functional:
    return Determination(numbers(context, "y_true"), numbers(context, "y_pred"))


def _cross_entropy(context: Context) -> Floats:
    truth, score = _truth(context), probabilities(context)
    smallest = float(np.finfo(score.dtype).eps)
    score = np.clip(score, smallest, 1 - smallest)  # as scikit-learn's log_loss has it
    return np.asarray(-np.where(truth > 0, np.log(score), np.log1p(-score)))


def _auc(context: Context) -> Functional:
    return Auc(_truth(context) > 0, _scores(context))


def _recalled(context: Context) -> dict[str, Any]:
    """Return the recalls of all classes of the data; a class absent from a group has none there."""
    true, predicted = _codes(context)
    return recalls(true, predicted, true == predicted, len(context.columns["y_true"].levels))


def _balanced_accuracy(context: Context) -> Functional:
    return ClassScores(**_recalled(context))


def _geometric_mean(context: Context) -> Functional:
    return GeometricMean(**_recalled(context))


def _average_odds(context: Context) -> Functional:
    true, called = (context.columns[name].is_label(context.pos_label) for name in ("y_true", "y_pred"))
    return ClassScores(**recalls(true.astype(np.intp), called.astype(np.intp), called, 2))


@dataclass(frozen=True)
class OfClasses:
    """Precision, recall, F or Jaccard's index of several classes: TP / (TP + `wrongly` FP + `missed` FN) of each."""

    wrongly: float
    missed: float
    average: str
    labels: tuple[Any, ...] | None = None
    undefined: float | None = None

    def __call__(self, context: Context) -> Functional:
        """Return the metric of these kinds of people."""
        own = self.average == "positive" and self.labels is None
        member, called = _members(context, (context.pos_label,) if own else self.labels)
        if self.average == "positive" and not own:
            _check_seen(context, *(self.labels or ()))
        event = (member & called).astype(float)
        given = event + self.wrongly * (called & ~member) + self.missed * (member & ~called)
        if self.average in ("positive", "micro"):
            return Share(event.sum(axis=1), given.sum(axis=1))
        weighted, absent = self.average == "weighted", self.labels is None
        return ClassScores(
            *_codes(context), event, given, member, called, weighted=weighted, undefined=self.undefined, absent=absent
        )


@dataclass(frozen=True)
class OfAgreement:
    """Cohen's kappa."""

    labels: tuple[Any, ...] | None = None

    def __call__(self, context: Context) -> Functional:
        """Return the metric of these kinds of people."""
        member, called = _members(context, self.labels)
        counted = np.asarray(member.any(axis=1) & called.any(axis=1))
        return Kappa(member.argmax(axis=1), called.argmax(axis=1), counted)


#: What false positives and false negatives count beside true positives, and what the ratio is called.
CLASS_SCORES: dict[str, tuple[float, float, str]] = {
    "precision": (1.0, 0.0, "precision"),
    "recall": (0.0, 1.0, "recall"),
    "f1": (0.5, 0.5, "F1"),
    "jaccard": (1.0, 1.0, "Jaccard index"),
}
_AVERAGES = {
    "positive": "the {} of the positive label",
    "micro": "the {} of all labels' counts together",
    "macro": "the mean of the labels' {}",
    "weighted": "the mean of the labels' {}, weighted by how many people truly have each",
}


def class_score(
    kind: str, average: str, *, beta: float = 1.0, labels: tuple[Any, ...] | None = None, undefined: float | None = None
) -> BuiltIn:
    """Declare an average over classes of precision, recall, an F-score or Jaccard's index.

    Examples
    --------
    >>> class_score("f1", "macro", beta=2.0).name
    'f2_macro'
    """
    wrongly, missed, called = CLASS_SCORES[kind]
    name = kind
    if kind == "f1" and beta != 1:
        share = 1.0 if np.isinf(beta) else beta**2 / (1 + beta**2)
        typed = np.format_float_positional(beta, trim="-")
        wrongly, missed, name, called = 1 - share, share, f"f{typed}", f"F{typed}"
    within = {(True, False): "y_pred", (False, True): "y_true"}.get((wrongly > 0, missed > 0))
    if average in ("positive", "micro"):
        within = "condition"
    elif average == "weighted":
        within = None
    arguments = {"labels": None if labels is None else list(labels), "zero_division": undefined}
    describes = _AVERAGES[average].format(called)
    if average == "positive":
        arguments = {"pos_label": None if labels is None else labels[0]}
        describes = describes if labels is None else f"the {called} of label {labels[0]!r}"
    return BuiltIn(
        (name if average == "positive" else f"{name}_{average}") + _given(arguments),
        OfClasses(wrongly, missed, average, labels, undefined),
        within=within,
        bounds=UNIT,
        describes=describes,
        positive="always" if average == "positive" and labels is None else "never",
        undefined=_NO_CLASS,
    )


def _given(arguments: Mapping[str, Any]) -> str:
    """Return in words the arguments that make a metric differ from what its name says."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
    return f"({given})" if given else ""


def kappa(labels: tuple[Any, ...] | None = None) -> BuiltIn:
    """Declare Cohen's kappa of true and predicted labels."""
    return BuiltIn(
        "cohen_kappa" + _given({"labels": None if labels is None else list(labels)}),
        OfAgreement(labels),
        bounds=SIGNED,
        describes="the agreement of true and predicted label beyond chance (Cohen's kappa)",
        positive="never",
        undefined="all people have one label, true and predicted",
    )


@dataclass(frozen=True)
class OfBenefits:
    """Generalized entropy of benefits."""

    index: Entropy

    def __call__(self, context: Context) -> Functional:
        """Return the index of these kinds of people."""
        true, predicted = (context.columns[name].is_label(context.pos_label) for name in ("y_true", "y_pred"))
        return Inequality(true, predicted, self.index)


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
        name, OfBenefits(Entropy(alpha)), bounds=LOSS, positive="always", undefined="everybody's benefit is 0",
        describes=f"the inequality of benefits, prediction minus truth plus one ({called})",
    )  # fmt: skip


def _averaged(name: str) -> BuiltIn:
    return class_score(*name.split("_"))


def _mean(
    name: str, z: Callable[[Context], Floats], columns: tuple[str, ...], describes: str, bounds: tuple[float, float],
    power: int = 1,
) -> BuiltIn:  # fmt: skip
    return BuiltIn(name, OfMean(z, bounds), bounds=bounds, describes=describes, columns=columns, power=power)


def _scored(name: str, z: Callable[[Context], Floats], describes: str, bounds: tuple[float, float]) -> BuiltIn:
    columns = ("y_true", "y_score")
    return BuiltIn(
        name, OfMean(z, bounds), None, PROBABILITY, None, bounds, describes, columns=columns, positive="always"
    )


_ONE_CLASS = "nobody is truly positive, or nobody truly negative"
_NO_CLASS = "nobody is predicted to have, or nobody truly has, one of the labels"

SCORES: dict[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        _mean("mean_prediction", _prediction, ("y_pred",), "the mean prediction", ANY),
        _mean(
            "mean_residual", _residual, ("y_true", "y_pred"),
            "the mean of true value minus prediction", ANY,
        ),
        _mean(
            "mean_squared_error", _squared_error, ("y_true", "y_pred"),
            "the mean squared error", LOSS, 2,
        ),
        _mean(
            "mean_absolute_error", _absolute_error,
            ("y_true", "y_pred"), "the mean absolute error", LOSS,
        ),
        _scored("log_loss", _cross_entropy, "the mean negative log-probability of the true label", LOSS),
        _scored("brier_score", _squared_score_error, "the mean squared error of scores", UNIT),
        _scored(
            "calibration", _score_residual,
            "the share of truly positive people minus the mean score", SIGNED,
        ),
        BuiltIn(
            "roc_auc", _auc, None, EITHER, "y_true", UNIT,
            "the probability that a truly positive person scores above a truly negative one (AUC)",
            columns=("y_true", "y_score"), positive="always", undefined=_ONE_CLASS,
        ),
        BuiltIn(
            "balanced_accuracy", _balanced_accuracy, None, "predict", "y_true", UNIT,
            "the average over true labels of the share predicted correctly", positive="never",
            undefined="nobody has one of the true labels",
        ),
        BuiltIn(
            "average_odds", _average_odds, None, "predict", "y_true", UNIT,
            "the mean of the true and the false positive rate", positive="always", undefined=_ONE_CLASS,
        ),
        BuiltIn(
            "matthews_corrcoef", _matthews, None, "predict", None, SIGNED,
            "the correlation of true and predicted label (Matthews)", positive="never",
            undefined="all people have one true, or one predicted, label",
        ),
        _averaged("precision_macro"), _averaged("precision_weighted"), _averaged("recall_macro"),
        _averaged("f1_macro"), _averaged("f1_weighted"),
        _averaged("jaccard_micro"), _averaged("jaccard_macro"), _averaged("jaccard_weighted"),
        BuiltIn(
            "geometric_mean", _geometric_mean, None, "predict", "y_true", UNIT,
            "the geometric mean over true labels of the share predicted correctly (G-mean)", positive="never",
            undefined="nobody has one of the true labels",
        ),
        kappa(),
        BuiltIn(
            "average_precision", _average_precision, None, EITHER, None, UNIT,
            "the mean, over truly positive people, of the precision among all who score as high (average precision)",
            columns=("y_true", "y_score"), positive="always", undefined="nobody is truly positive",
        ),
        BuiltIn(
            "r2", _determination, None, bounds=(-np.inf, 1.0),
            describes="the share of the variance of true values that predictions explain (R squared)",
            undefined="all people have one true value", power=2,
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
            evaluate=OfMean(_error, ANY),
            describes="the mean of prediction minus true value",
            positive="if two labels",
        ),
    )
}
