"""Words: numbers, who and what in plain words, predictions by what they mean, and findings in sentences."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.record import Recorded

#: What p-values are adjusted by.
ADJUSTED = {
    "holm": "Holm",
    "shaffer": "Holm, with Shaffer's factors for all pairs of groups",
    "discrete_holm": "discrete Holm, from Fisher's p-values",
    "bonferroni": "Bonferroni",
    "fdr_bh": "Benjamini-Hochberg (false-discovery rate)",
    None: "not at all",
}
#: Whom each group is compared with in a null hypothesis; otherwise with everyone else.
AGAINST = {
    "between_groups": "any other group",
    "to_reference": "the reference group",
    "to_highest": "the one with the highest value",
    "to_lowest": "the one with the lowest value",
    "to_parents": "the rest of each of its parent groups (the people who share all its features but one)",
}
#: Adjustments whose intervals hold together.
FAMILYWISE = ("holm", "shaffer", "discrete_holm", "bonferroni")
#: What a report says where nothing was detected.
NO_PROOF = "This does not prove fairness: the intervals show which disparities the data do not rule out."
#: Verdicts on a comparison of an audit. The second one does not say that there is nothing to be found.
FOUND, NOT_FOUND = "disparity found", "no disparity found"
#: Values and decimals beyond are written with their first digits alone.
LARGEST, MOST_DECIMALS = 1e15, 8
#: Differences up to this are those of rounding.
TINY = 1e-10
#: Names that titles put into words, and the words among them that are written otherwise.
_IDENTIFIER = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
_ACRONYMS = {"roc": "ROC", "auc": "AUC", "corrcoef": "correlation coefficient"}
#: Probability with which the smallest detectable disparity would have been found.
DETECTION_POWER = 0.8
CHANCE = f"{100 * DETECTION_POWER:g}% chance"
#: Features whose values are adjectives of people: "Hispanic people", where "yes people" would say nothing.
_ADJECTIVES = re.compile(r"(?:.*[_ .-])?(?:race|ethnicity|sex|gender|nationality|religion)\d*", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}(?:[ -][^\W\d_]{3,})*")
#: Values that are not adjectives: "other people" are everyone else.
_NO_ADJECTIVES = re.compile(
    r"\b(?:other|unknown|none|missing|yes|not|true|false|and|nan|null|refused)\b", re.IGNORECASE
)
#: What a feature is called that came without a name.
_UNNAMED = re.compile(r"sensitive_feature_\d+")
#: Values that have a noun.
_NOUNS = {"female": "women", "woman": "women", "women": "women", "male": "men", "man": "men", "men": "men"}
#: How rates name predictions; `in_words` says instead what they mean.
_POSITIVE, _NEGATIVE = "predicted positive", "predicted negative"

#: Which value is worse for people (1: the higher one) if a positive prediction is bad for them, and if it is good.
_WORSE = {
    **dict.fromkeys(("selection_rate", "true_positive_rate", "false_positive_rate", "mean_prediction"), (1, -1)),
    **dict.fromkeys(("true_negative_rate", "false_negative_rate"), (-1, 1)),
    "precision": (-1, 0), "false_discovery_rate": (1, 0),
    "negative_predictive_value": (0, -1), "false_omission_rate": (0, 1),
}  # fmt: skip
_ERRORS = re.compile(r"mean_.*_error|.*_loss|brier_score")
_SCORES = re.compile(
    r"accuracy|f\d.*|jaccard.*|(?:precision|recall)_(?:micro|macro|weighted)|roc_auc|average_precision|neg_.*|r2|"
    r"balanced_accuracy|geometric_mean|matthews_corrcoef|cohen_kappa"
)


@dataclass(frozen=True)
class Setup(Recorded):
    """The settings of a test that its sentences need."""

    compare: str = "between_groups"
    disparity: str = "difference"
    alternative: str = "two-sided"
    margin_bounds: tuple[float, float] | None = None
    alpha: float = 0.05
    features: str = "group"
    controls: str = ""
    # By metric: what happens, and among whom; whether the value is a function of that share; what other metrics are.
    sentences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    descriptions: Mapping[str, str] = field(default_factory=dict)
    # The null hypotheses of metrics of all groups at once, with {} for the features.
    omnibus: Mapping[str, str] = field(default_factory=dict)
    disparities: Mapping[str, str] = field(default_factory=dict)
    people: str = ""
    adjust: str | None = "holm"
    within: str | None = "auto"
    unknown: str = ""
    names: tuple[str, ...] = ()
    # Whether words for groups ("women") are unique.
    unique: bool = True
    positive_means: str | None = None
    favorable: bool | None = None
    # Of two models, what values are: "change", "sizes" of disparities, or those of "one group".
    models: str = ""

    def told(self, metric: str) -> tuple[str, str]:
        """The event and the condition in words, a prediction by its meaning; both empty if the metric is not a rate."""
        happens, among = self.sentences.get(metric, ("", ""))
        return in_words(happens, self.positive_means), in_words(among, self.positive_means)

    def is_event(self, metric: str) -> bool:
        """Whether a metric is a share of people."""
        return bool(self.sentences.get(metric, ("", ""))[0]) and metric not in self.functions

    def open_ends(self, row: Mapping[str, Any]) -> tuple[float, ...]:
        """The values at which the interval of a rejected null hypothesis is open: equality, or the margins."""
        adjusted = "p_value_adjusted" if self.adjust in FAMILYWISE else "p_value"
        if self.alternative == "equivalence" or row[adjusted] > self.alpha:
            return ()
        return self.margin_bounds or (float(self.is_ratio(row["metric"])),)

    def disparity_of(self, metric: str) -> str:
        """The kind of disparity by which the values of a metric are compared."""
        return self.disparities.get(metric, self.disparity)

    def is_ratio(self, metric: str) -> bool:
        """Whether the disparity of equal values is 1: a ratio of the values, or of their odds."""
        return self.disparity_of(metric) != "difference"

    def is_share(self, metric: str) -> bool:
        """Whether the metric is a share of people, whose differences are percentage points."""
        return metric not in self.descriptions and metric not in self.omnibus


def p_text(p: float) -> str:
    """Write a p-value: three decimals, scientific below 0.001, and never 0.

    Examples
    --------
    >>> p_text(0.0352), p_text(4.17e-38), p_text(5e-324)
    ('0.035', '4.2e-38', '<1e-300')
    """
    if np.isnan(p):
        return "n/a"
    if p < 1e-300:
        return "<1e-300"
    if p < 0.001:
        return f"{p:.1e}"
    return f"{p:.3f}"


def equals_p(p: float) -> str:
    """Write "p = 0.035" or "p < 1e-300"."""
    text = p_text(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def smallest_p(p: float, n: int) -> str:
    """Write the smallest adjusted p-value of several comparisons.

    Examples
    --------
    >>> smallest_p(0.0352, 1), smallest_p(0.0352, 2)
    ('p = 0.035', 'smallest adjusted p = 0.035')
    """
    return f"{'smallest adjusted ' if n > 1 else ''}{equals_p(p)}"


def percent(value: float, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return "undefined" if np.isnan(value) else f"{points(value, digits)}%"


def points(value: float, digits: int = 1) -> str:
    """Write a difference of shares in percentage points; with more decimals where these are not 0 and fewer are.

    Examples
    --------
    >>> points(-0.123), points(0.0), points(0.00004)
    ('-12.3', '0.0', '0.004')
    """
    # + 0.0: no minus sign before 0.0
    digits = _enough(100 * value, digits)
    return "undefined" if np.isnan(value) else f"{round(100 * value, digits) + 0.0:.{digits}f}"


def _enough(value: float, digits: int) -> int:
    """Return so many decimals, or as many as a value that is not 0 needs not to be written as 0."""
    return max(digits, _decimals(abs(value), 1)) if np.isfinite(value) and abs(value) > TINY else digits


def share_digits(*shares: float) -> int:
    """Return the decimals with which percentages are written: one, or so many that the largest has two digits.

    Examples
    --------
    >>> share_digits(0.448, 0.002), share_digits(0.00042)
    (1, 3)
    """
    largest = max((found for share in shares if np.isfinite(found := abs(100 * float(share)))), default=0.0)
    return min(max(1, _decimals(largest, 2)), MOST_DECIMALS - 2)


def metric_title(metric: str) -> str:
    """Call a metric what a title calls it: its name in words, or a name that is not an identifier as it is.

    Examples
    --------
    >>> (
    ...     metric_title("false_positive_rate"),
    ...     metric_title("selection_rate of red"),
    ...     metric_title("Cost, in EUR"),
    ... )
    ('False positive rate', 'Selection rate of red', 'Cost, in EUR')
    """
    name, of, which = label(metric).partition(" of ")  # one of several labels
    if not _IDENTIFIER.fullmatch(name):
        return name + of + which
    words = " ".join(_ACRONYMS.get(word, word) for word in name.split("_"))
    return words[0].upper() + words[1:] + of + which


def number(value: float) -> str:
    """Write a value of any size with four significant digits; from 10,000 to a million, as a whole number.

    Examples
    --------
    >>> number(0.123456), number(-1234.56), number(45720.4), number(float("inf"))
    ('0.1235', '-1235', '45,720', 'infinity')
    """
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if 9999.5 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value + 0.0:.4g}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:.3e}"


class Written(NamedTuple):
    """How the numbers of one comparison are written: its values, and its disparity with limits and sizes."""

    value: Callable[[float], str]
    disparity: Callable[[float], str]
    unit: str = ""


def written(setup: Setup, row: Mapping[str, Any]) -> Written:
    """The format of the numbers of a comparison, in sentences and in tables."""
    metric = row["metric"]
    numbers = [row.get(name, np.nan) for name in ("value_group", "value_other", "disparity")]
    digits = share_digits(*numbers[:2])
    if setup.is_ratio(metric):
        value = partial(percent, digits=digits)
        return Written(value if setup.is_event(metric) else decimal if setup.is_share(metric) else number, ratio)
    if not setup.is_share(metric):
        return written_numbers(*numbers)
    digits = _enough(100 * numbers[2], digits)
    disparity = partial(points, digits=digits)
    value = partial(percent, digits=digits) if setup.is_event(metric) else partial(decimal, decimals=digits + 2)
    return Written(disparity if setup.models in ("change", "sizes") else value, disparity, " points")


def written_numbers(first: float, second: float, difference: float) -> Written:
    """The format of two values of any size and of their difference: four digits of the larger, two of the gap."""
    largest, gap = max(abs(first), abs(second)), abs(difference)
    if not np.isfinite([first, second, difference]).all() or largest >= LARGEST:
        return Written(number, number)
    fewest = max(0, _decimals(largest, 4), _decimals(gap, 2) if gap > TINY * largest else 0)
    if fewest > MOST_DECIMALS:
        return Written(number, number)
    write = partial(decimal, decimals=fewest, short=True)
    return Written(write, write)


def _decimals(value: float, digits: int) -> int:
    return digits - 1 - int(np.floor(np.log10(value))) if value else 0


def decimal(value: float, decimals: int = 3, *, short: bool = False) -> str:
    """Write a value with this many decimals, or as many as it needs not to be 0; `short`: without zeros at the end.

    Examples
    --------
    >>> decimal(0.5), decimal(0.5, 4, short=True), decimal(-45720.4, 0), decimal(-0.0004, 2)
    ('0.500', '0.5', '-45,720', '-0.0004')
    """
    if not np.isfinite(value):
        return number(value)
    decimals = _enough(value, decimals)
    rounded = round(value, decimals) + 0.0  # + 0.0: no minus sign before 0
    text = f"{rounded:,.{decimals}f}" if abs(rounded) >= 1e4 else f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if short and "." in text else text


def ratio(value: float) -> str:
    """Write a ratio with two decimals; with more if it is small, or would seem to be 1.

    Examples
    --------
    >>> ratio(0.8), ratio(0.00123), ratio(0.0), ratio(1.0), ratio(1.0004)
    ('0.80', '0.0012', '0.00', '1.00', '1.0004')
    """
    if not np.isfinite(value):
        return number(value)
    return f"{value:.{_enough(value - 1, 2)}f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def _groups(setup: Setup) -> str:
    """The groups by their feature; a feature that is called "group" needs no name."""
    features = label(setup.features)
    return "groups" if features.lower() in ("group", "groups") else f"groups of {features}"


def null_sentence(setup: Setup, metric: str) -> str:
    """State the null hypothesis of one metric's comparisons."""
    (happens, among), name, groups = setup.told(metric), label(metric), _groups(setup)
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    if metric in setup.omnibus:
        given = f" among people of one {setup.within}" if setup.within in ("y_true", "y_pred") else ""
        return f"{name}: {setup.omnibus[metric].format(label(setup.features))}{given}{inside}"
    against = f"each {groups.replace('groups', 'group')} and {AGAINST.get(setup.compare, 'everyone else')}"
    # Equal shares are equal values of any function of them; a margin is one of the values.
    shares = happens and (setup.margin_bounds is None or metric not in setup.functions)
    who = f"among {among}{inside}, the share who {happens}"
    who = who if shares else f"{setup.descriptions.get(metric) or name}{inside}"
    if setup.margin_bounds is not None:
        is_outside = "not " * (setup.alternative == "equivalence")
        return f"{name}: {who}; its {setup.disparity_of(metric)} between {against} is {is_outside}{band(setup, metric)}"
    same = f"any two {groups}" if setup.compare == "between_groups" else against
    ways = {"greater": f"not greater in the first of {against}", "less": f"not smaller in the first of {against}"}
    how = ways.get(setup.alternative, f"the same in {same}")
    if setup.within != "auto":
        where = "everywhere" if setup.within is None else f"within {setup.within}"
        how += f", and so is the joint distribution of true labels and predictions: labels were permuted {where}"
    return f"{name}: {who} is {how}"


def band(setup: Setup, metric: str) -> str:
    """Say which disparities a margin tolerates.

    Examples
    --------
    >>> band(Setup(margin_bounds=(-0.05, float("inf"))), "accuracy")
    'at least -5.0 points'
    """
    how, (low, high) = written(setup, {"metric": metric}), setup.margin_bounds or (-np.inf, np.inf)
    first, last = how.disparity(low), how.disparity(high)
    if np.isinf(low) or setup.alternative == "greater":
        return f"at most {last}{how.unit}"
    is_open = np.isinf(high) or setup.alternative == "less"
    return f"at least {first}{how.unit}" if is_open else f"within {first} to {last}{how.unit}"


def turned(setup: Setup, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison seen from its other side."""

    def opposite(end: float) -> float:
        return (np.inf if end == 0 else 1 / end) if setup.is_ratio(row["metric"]) else 0.0 - end

    pairs = (("group", "other"), ("n_group", "n_other"), ("value_group", "value_other"))
    swapped = {a: row[b] for pair in pairs for a, b in (pair, pair[::-1]) if b in row}
    ends = {"disparity": "disparity", "ci_low": "ci_high", "ci_high": "ci_low"}
    return {**row, **swapped, **{end: opposite(row[source]) for end, source in ends.items()}}


def gap_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say who has less or more, the two values, and the gap with its interval, without a sign or a p-value."""
    metric, how, kind, where = row["metric"], written(setup, row), setup.disparity_of(row["metric"]), ""
    if row["stratum"] is not None:
        named = "in" if isinstance(row["stratum"], str | tuple) else f"with {label(setup.controls)} ="
        where = f"{named} {label(row['stratum'])}, "
    elif setup.controls and metric not in setup.omnibus:
        where = f"averaged over {label(setup.controls)}, "
    first, second = sides_of(setup.names, setup.compare, row["group"], row["other"], unique=setup.unique)
    happens, among = setup.told(metric)
    described = setup.descriptions.get(metric, "") or label(metric)
    if metric in setup.omnibus:
        if not np.isnan(row.get("at", np.nan)):
            sign = -1 if row["disparity"] < 0 else 1
            low, high = sorted((sign * row["ci_low"], sign * row["ci_high"]))
            below = " and ".join(percent(row[name]) for name in ("value_group", "value_other"))
            return (
                f"{where}{described} of {first} and {second} differ most at {number(row['at'])}: {below} are not above "
                f"it, a difference of {points(abs(row['disparity']))} points "
                f"({span(points, low, high, setup.open_ends(row)) or 'no interval'})"
            )
        others = "" if row["other"] is None else f" and {second}"
        whom = "" if row["group"] is None else f" {'between' if others else 'among'} {first}{others}"
        return f"{where}{described}{whom} is {number(row['disparity'])}"
    a, b, gap, low, high = (row[name] for name in ("value_group", "value_other", "disparity", "ci_low", "ci_high"))
    less, sign = a < b, -1 if a < b and not setup.is_ratio(metric) else 1
    ends, open_at = sorted((sign * low, sign * high)), tuple(sign * end for end in setup.open_ends(row))
    noun, shown = kind.replace("_", " "), how.disparity(abs(gap))
    size = f"{shown}{how.unit}" if how.unit else f"{'an' if kind == 'odds_ratio' else 'a'} {noun} of {shown}"
    if np.isnan(gap):
        told, size = f"{described} of {first} and of {second}", f"an undefined {noun}"
    elif setup.is_event(metric):
        lead = "" if among in ("", "all people") else f"among {among}, "
        than = "as often as" if a == b else f"{'less' if less else 'more'} often than"
        told = f"{lead}{first} {past(happens)} {than} {second}"
        size = f"{shown} times as often" if kind == "ratio" else size
    else:
        than = f"the same for {first} and" if a == b else f"{'lower' if less else 'higher'} for {first} than for"
        told = f"{described} was {than} {second}"
    inside = span(how.disparity, ends[0], ends[1], open_at) or "no interval"
    return f"{where}{told}: {how.value(a)} versus {how.value(b)}, {size} ({inside})"


def capital(said: str) -> str:
    """Begin a sentence."""
    return said[0].upper() + said[1:]


def finding_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """One comparison in words: the gap and its interval; in an audit also the gap that it could have missed."""
    said = f"{capital(gap_sentence(setup, row))}, adjusted {equals_p(row['p_value_adjusted'])}"
    size = row.get("minimum_detectable", np.nan)
    if row["concern"] or np.isnan(size):
        return f"{said}."
    if np.isinf(size):
        return f"{said}; not significant, and no gap, however large, had an {CHANCE} of being detected."
    how = written(setup, row)
    gap = f"{how.disparity(size)}{how.unit}"
    if setup.is_ratio(row["metric"]):
        noun = "an odds ratio" if setup.disparity_of(row["metric"]) == "odds_ratio" else "a ratio"
        gap = f"{noun} of {ratio(size)} or {ratio(1 / size) if size else 'infinity'}"
    return f"{said}; not significant, with an {CHANCE} of detecting {gap}."


def span(write: Callable[[float], str], low: float, high: float, open_at: Sequence[float] = ()) -> str:
    """Write an interval, which is open at certain values; nothing where it is undefined.

    Examples
    --------
    >>> span(points, 0.0, 0.077, (0.0,)), span(points, -0.077, 0.0, (0.0,))
    ('more than 0 to 7.7', '-7.7 to less than 0')
    """
    if np.isnan(low) or np.isnan(high):
        return ""
    if low == -np.inf:
        return f"at most {_end(write, high, 'less than', open_at)}"
    return f"{_end(write, low, 'more than', open_at)} to {_end(write, high, 'less than', open_at)}"


def _end(write: Callable[[float], str], end: float, beyond: str, open_at: Sequence[float]) -> str:
    """Write an end of an interval; equality, where it is open, without decimals."""
    return write(end) if end not in open_at else f"{beyond} {write(end) if end % 1 else f'{end + 0.0:g}'}"


def verdict_sentence(setup: Setup, comparisons: pd.DataFrame, p_value: float, *, concern: bool) -> str:
    """Say whether there is a significant disparity, and what its absence does not mean."""
    n_comparisons = int(comparisons["stratum"].isna().sum())
    asked, features = pluralize(n_comparisons, "comparison"), label(setup.features)
    several, which = n_comparisons > 1, asked if n_comparisons > 1 else "the one comparison"
    if setup.alternative == "equivalence" and setup.margin_bounds is not None:
        inside = band(setup, min(comparisons["metric"], key=setup.is_share))
        said = f"the disparity in {'every one of ' * several}{which} is {inside} (largest {equals_p(p_value)})."
        shown = f"Certified at {100 * (1 - setup.alpha):g}%: {said}"
        return f"Not certified: it was not shown that {said}" if concern else shown
    beyond = "" if setup.margin_bounds is None else " beyond the margin"
    p = smallest_p(p_value, n_comparisons)
    if concern:
        return f"Significant disparity: {_groups(setup)} differ{beyond} by more than chance explains ({p}, {asked})."
    none = f"No significant disparity{beyond} by {features} was detected in {asked} ({p})."
    return f"{none} {NO_PROOF if comparisons['ci_low'].notna().any() else 'This does not prove fairness.'}"


#: Reasons that a verdict names, and what was not tested for one of them.
MOST_REASONS, MOST_UNTESTED = 3, 8


def lost_metrics(excluded: pd.DataFrame, tested: Iterable[str]) -> dict[str, list[str]]:
    """The metrics that were compared for no two groups, by the reason."""
    untested = excluded[~excluded["metric"].isin([None, *tested])].drop_duplicates("metric")
    names = untested["metric"].map(label).groupby(untested["reason"], sort=False)
    return {str(reason): metrics.tolist() for reason, metrics in names}


def not_tested(lost: Mapping[str, Sequence[str]]) -> str:
    """Name what could not be tested, by the reason; empty if everything was.

    Examples
    --------
    >>> not_tested({"no one meets the condition": ["true_positive_rate"]})
    ' Not tested: true_positive_rate (no one meets the condition).'
    """
    told = [f"{enumerated(names, most=MOST_UNTESTED)} ({label(reason)})" for reason, names in lost.items()]
    return f" Not tested: {enumerated(told, most=MOST_REASONS)}." if told else ""


def adjustment_note(
    adjust: str | None, alpha: float, what: str = "comparison", *, intervals: bool = True, strata: str = ""
) -> str:
    """Say what p-values are adjusted for, and what intervals are."""
    together = f"all {what}s together" if adjust in FAMILYWISE else f"one {what} at a time"
    limits = f" Intervals are {100 * (1 - alpha):g}%, for {together}."
    families = (
        " Averages over {0} and single levels of {0} are two families, each adjusted by itself; the former decide."
    )
    inside = f"{limits * intervals}{families.format(label(strata)) * bool(strata)}"
    return f"p-values are adjusted for the number of {what}s: {ADJUSTED[adjust]}.{inside}"


def breaking_sentence(setup: Setup, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say with how few decisions, and true labels, of one group a verdict would be reversed.

    Examples
    --------
    >>> row = {
    ...     "changed": "decisions",
    ...     "n_changed": 1,
    ...     "among": "Female",
    ...     "among_label": None,
    ...     "n_among": 4,
    ... }
    >>> row |= {"to_positive": 0, "to_negative": 1, "tied": (), "search": "every change"}
    >>> setup = Setup(names=("sex",), positive_means="hired")
    >>> breaking_sentence(setup, [row])
    'The verdict would be reversed if 1 of the 4 women who were hired had not been hired.'
    """
    turns, never = [], [row for row in rows if row["among"] is None]
    for row in (row for row in rows if row["among"] is not None):
        decisions, up, down = row["changed"] == "decisions", row["to_positive"], row["to_negative"]
        what = "decisions about" if decisions else "true labels of"
        people, *tied = (people_of(setup.names, group, unique=setup.unique) for group in (row["among"], *row["tied"]))
        now, then = ("negative", "positive") if up else ("positive", "negative")
        true, predicted = (row["among_label"], now) if decisions else (now, row["among_label"])
        whose = (
            f"{people}{f' with a {true} true label' * bool(true)}{f' who were predicted {predicted}' * bool(predicted)}"
        )
        turn = f"{row['n_changed']:,} of the {row['n_among']:,} {whose} had "
        turn += f"been predicted {then}" if decisions else f"a {then} one"
        if up and down:
            turn = f"{row['n_changed']:,} {what} {people} had been different ({up:,} positive, {down:,} negative)"
        also = [f"or as many {what} {group}" for group in tied] + ["fewer may suffice"] * (row["search"] == "paths")
        turns.append(in_words(turn, setup.positive_means) + "".join(f" ({one})" for one in also))
    changes, sure = " or ".join(row["changed"] for row in never), {row["search"] for row in never} == {"every change"}
    cannot = f"Changing one group's {changes} {'cannot' if sure else 'was not found to'} reverse the verdict."
    reversed_if = f"The verdict would be reversed if {', or if '.join(turns)}."
    return " ".join([*[reversed_if] * bool(turns), *[cannot] * bool(never)])


def sampling_error(limits: tuple[float, float]) -> list[str]:
    """Say between which limits the p-value lies, if it was sampled."""
    if limits[0] == limits[1]:
        return []
    low, high = (p_text(bound) if bound else "0" for bound in limits)
    return [f"With infinitely many resamples, the p-value would lie between {low} and {high} (95% limits)."]


def told(names: Sequence[str], group: Any) -> str:
    """Name a group with its features.

    Examples
    --------
    >>> told(["black"], 1), told(["race", "sex"], ("Black", "Female"))
    ('black = 1', 'race = Black and sex = Female')
    """
    values = group if isinstance(group, tuple) and len(names) > 1 else (group,)
    if len(values) != len(names):  # features without names
        return f"({label(group)})" if isinstance(group, tuple) else label(group)
    return enumerated([f"{label(name)} = {label(value)}" for name, value in zip(names, values, strict=True)])


def are_words_unique(names: Sequence[str], groups: Iterable[Any]) -> bool:
    """Whether no two groups are called alike, at the beginning of a sentence either."""
    words = [people_of(names, group).lower() for group in groups]
    return len(set(words)) == len(words)


def people_of(names: Sequence[str], group: Any, *, unique: bool = True) -> str:
    """Name the people of a group, as a noun of a sentence.

    Examples
    --------
    >>> people_of(["race"], "African-American"), people_of(["race"], "Other")
    ('African-American people', 'people whose race is Other')
    >>> (
    ...     people_of(["sex"], "Female"),
    ...     people_of(["foreign"], "yes"),
    ...     people_of(["sensitive_feature_0"], "b"),
    ... )
    ('women', 'people with foreign = yes', 'people of group b')
    """
    if len(names) == 1 and _ADJECTIVES.fullmatch(names[0]) and isinstance(group, str):
        if not unique or not _WORDS.fullmatch(group) or _NO_ADJECTIVES.search(group):
            return f"people whose {label(names[0])} is {label(group)}"
        return _NOUNS.get(group.lower()) or f"{label(group)} people"
    if len(names) == 1 and _UNNAMED.fullmatch(names[0]):
        return f"people of group {label(group)}"
    values = group if isinstance(group, tuple) and len(names) > 1 else (group,)
    return f"people with {told(names, group)}" if len(values) == len(names) else told(names, group)


def sides_of(names: Sequence[str], compare: str, group: Any, other: Any, *, unique: bool = True) -> tuple[str, str]:
    """Name the people on both sides of a comparison.

    Examples
    --------
    >>> sides_of(["race"], "between_groups", "Hispanic", "Other")
    ('Hispanic people', 'people whose race is Other')
    >>> sides_of(["race"], "to_rest", "Hispanic", "rest")
    ('Hispanic people', 'everyone else')
    """
    several = {"to_overall": "everyone", "to_rest": "everyone else"}.get(compare)
    if compare == "to_parents":
        several = f"others with {label(other).removeprefix('rest of ')}"
    return people_of(names, group, unique=unique), several or people_of(names, other, unique=unique)


def in_words(text: str, positive_means: str | None) -> str:
    """Say of a prediction what it means.

    Examples
    --------
    >>> (
    ...     in_words("are predicted positive", "denied"),
    ...     in_words("had been predicted negative", "denied"),
    ... )
    ('are denied', 'had not been denied')
    """
    if not positive_means:
        return text
    meant = label(positive_means)
    text = text.replace(f"been {_NEGATIVE}", f"not been {meant}")
    return text.replace(_POSITIVE, meant).replace(_NEGATIVE, f"not {meant}")


def past(happens: str) -> str:
    """Say what happens of people who were counted.

    Examples
    --------
    >>> past("are predicted positive"), past("were charged again")
    ('were predicted positive', 'were charged again')
    """
    return f"were {happens.removeprefix('are ')}" if happens.startswith("are ") else happens


def in_unit(text: str, unit: str, names: Iterable[str] = ()) -> str:
    """Call people what a test calls them; names of the data stay as they are.

    Examples
    --------
    >>> in_unit("People of group b, everyone else, 1 person who had no one", "answers")
    'Answers of group b, all other answers, 1 answer that had no answer'
    >>> in_unit("people with race = Black people", "answers", ["Black people"])
    'answers with race = Black people'
    >>> in_unit("a person, 1 person", "answers"), in_unit("a person, no one", "companies")
    ('an answer, 1 answer', 'a company, no company')
    """
    alone = re.sub("(?<=ss|sh|ch|.x)es$|s$", "", re.sub("ies$", "y", unit))
    words = {
        "a person": f"{'an' if alone[:1].lower() in {*'aeiou'} else 'a'} {alone}",
        "everyone else": f"all other {unit}", "everyone": f"all {unit}", "no one": f"no {alone}", "people": unit,
        "person": alone, "whom": "which", "who": "that",
    }  # fmt: skip
    kept = sorted((name for name in names if any(word in name.lower() for word in words)), key=len, reverse=True)

    def write(found: re.Match[str]) -> str:
        word = found.group()
        said = words.get(word.lower(), word) if word not in kept else word
        return said[0].upper() + said[1:] if word[0].isupper() else said

    whole = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in kept]
    return re.sub("|".join([*whole, rf"(?i:\b(?:{'|'.join(words)})\b)"]), write, text)


def worse_when(metric: str, favorable: bool | None) -> int:
    """Say which value of a metric is worse for the people of a group.

    Examples
    --------
    >>> [worse_when("selection_rate", favorable) for favorable in (True, False, None)]
    [-1, 1, 0]
    >>> worse_when("accuracy", None), worse_when("mean_squared_error", None)
    (-1, 1)
    >>> [worse_when("precision", favorable) for favorable in (True, False)]
    [0, -1]
    """
    way = bool(_ERRORS.fullmatch(metric)) - bool(_SCORES.fullmatch(metric))
    return way if way or favorable is None else _WORSE.get(metric, (0, 0))[int(favorable)]
