"""Numbers, labels and findings in sentences."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.record import Recorded
from skfairtest.report.wording import in_words, past, people_of, sides_of

#: What p-values are adjusted by.
ADJUSTED = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "fdr_bh": "Benjamini-Hochberg",
    None: "not at all",
}
#: Verdicts on a comparison of an audit. The second one does not say that there is nothing to be found.
FOUND, NOT_FOUND = "disparity found", "no disparity found"
#: Values and decimals beyond are written with their first digits alone.
LARGEST, MOST_DECIMALS = 1e15, 8
#: Names that titles put into words, and the words among them that are written otherwise.
_IDENTIFIER = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
_ACRONYMS = {"roc": "ROC", "auc": "AUC", "corrcoef": "correlation coefficient"}
#: Probability with which the smallest detectable disparity would have been found.
DETECTION_POWER = 0.8
CHANCE = f"{100 * DETECTION_POWER:g}% chance"
POWER = f"{100 * DETECTION_POWER:g}% power"


#: How the metrics of calibration curves are described, which compare groups, or each group with its own scores.
BETWEEN_CURVES = "the largest cumulative difference of calibration curves"
FROM_SCORES = "the largest cumulative difference of outcomes from scores"


@dataclass(frozen=True)
class Setup(Recorded):
    """What sentences need to know about how a test was set up.

    Parameters
    ----------
    compare, disparity, alternative : str
        As in the test; `compare` is "to_parents" too.
    margin_bounds : (float, float) or None
        Tolerated disparities.
    alpha : float
        Level of the test.
    features, controls : str
        Names of the sensitive and control features; the latter may be empty.
    sentences : mapping of str to (str, str)
        For each metric, what happens ("are predicted positive") and among whom ("people whose true label is negative").
    functions : frozenset of str
        Metrics whose value is a function of the share of whom that happens, and not the share itself.
    adjust : str or None
        Adjustment that was run.
    descriptions : mapping of str to str
        What each metric that is no rate is ("the mean squared error"); may be empty.
    everybody : frozenset of str
        Metrics that look at all groups at once.
    disparities : mapping of str to str
        The disparity of metrics that are always compared by one.
    people : str
        What is to be said about weights or clusters; may be empty.
    within : {"auto", None, "y_true", "y_pred"}
        Where labels were permuted; anything but "auto" makes the null hypothesis one about the whole
        distribution of labels.
    unknown : str
        What is to be said about people whose group is not known; may be empty.
    names : tuple of str
        Names of the sensitive features one by one; empty where they have none.
    unique : bool
        Whether words for groups ("women") are unique, and may stand for them.
    positive_means : str or None
        What a positive prediction means: "denied".
    favorable : bool or None
        Whether a positive prediction is good for people; None: not known.
    models : {"", "change", "sizes", "one group"}
        Of two models: whether values of groups are changes from one to the other, values are sizes of both models'
        disparities, or groups are the models.
    """

    compare: str = "between_groups"
    disparity: str = "difference"
    alternative: str = "two-sided"
    margin_bounds: tuple[float, float] | None = None
    alpha: float = 0.05
    features: str = "group"
    controls: str = ""
    sentences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    descriptions: Mapping[str, str] = field(default_factory=dict)
    everybody: frozenset[str] = frozenset()
    disparities: Mapping[str, str] = field(default_factory=dict)
    people: str = ""
    adjust: str | None = "holm"
    within: str | None = "auto"
    unknown: str = ""
    names: tuple[str, ...] = ()
    unique: bool = True
    positive_means: str | None = None
    favorable: bool | None = None
    models: str = ""

    def told(self, metric: str) -> tuple[str, str]:
        """Say what happens and among whom, a prediction by what it means; two empty texts of what is no rate."""
        happens, among = self.sentences.get(metric, ("", ""))
        return in_words(happens, self.positive_means), in_words(among, self.positive_means)

    def is_event(self, metric: str) -> bool:
        """Whether the values of a metric are shares of people of whom something happened."""
        return bool(self.sentences.get(metric, ("", ""))[0]) and metric not in self.functions

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides of a margin are alike, so that it holds for a comparison turned round as well."""
        low, high = self.margin_bounds or (0.0, 0.0)
        return low == -high or bool(np.isclose(low * high, 1.0))

    def open_ends(self, row: Mapping[str, Any]) -> tuple[float, ...]:
        """The values at which the interval of a rejected null hypothesis is open: equality, or the margins."""
        familywise = self.adjust in ("holm", "shaffer", "bonferroni")
        if self.alternative == "equivalence" or row["p_value_adjusted" if familywise else "p_value"] > self.alpha:
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
        return metric not in self.descriptions and metric not in self.everybody

    def is_percentage(self, metric: str) -> bool:
        """Whether the values of the metric are such shares themselves, and not a function of them."""
        return metric in self.sentences and metric not in self.functions


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
    """Write the p-value of so many comparisons together, the smallest after adjustment.

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
    """Write a difference of shares in percentage points."""
    # + 0.0: no minus sign before 0.0
    return "undefined" if np.isnan(value) else f"{round(100 * value, digits) + 0.0:.{digits}f}"


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
    """Call a metric what a title calls it: its name in words, or a name that is no identifier as it is.

    Examples
    --------
    >>> (
    ...     metric_title("false_positive_rate"),
    ...     metric_title("roc_auc"),
    ...     metric_title("Cost, in EUR"),
    ... )
    ('False positive rate', 'ROC AUC', 'Cost, in EUR')
    """
    name = label(metric)
    if not _IDENTIFIER.fullmatch(name):
        return name
    words = " ".join(_ACRONYMS.get(word, word) for word in name.split("_"))
    return words[0].upper() + words[1:]


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


def disparity_writer(setup: Setup, metric: str) -> tuple[Any, str]:
    """The format of a metric's disparity, and its unit."""
    if setup.is_ratio(metric):
        return ratio, ""
    return (points, " points") if setup.is_share(metric) else (number, "")


def decimals_of(first: float, second: float, difference: float, *, fewest: int, extra: int = 1) -> int | None:
    """Return with how many decimals two values and their difference are written, so that no subtraction misleads.

    They are the fewest with which the values shown differ by the difference shown, and at most `extra` more than the
    `fewest`; None if so many do not suffice.

    Examples
    --------
    >>> (
    ...     decimals_of(44.8459, 23.4551, 21.3908, fewest=1),
    ...     decimals_of(44.9, 23.5, 21.4, fewest=1),
    ... )
    (2, 1)
    """
    if not np.isfinite([first, second, difference]).all():
        return fewest
    for decimals in range(fewest, min(fewest + extra, MOST_DECIMALS) + 1):
        a, b, gap = (round(value * 10**decimals) for value in (first, second, difference))
        if a - b == gap:
            return decimals
    return None


@dataclass(frozen=True)
class Written:
    """How the numbers of one comparison are written: its values, and its disparity with limits and sizes.

    Parameters
    ----------
    value, disparity : callable
        Take a number and return a text.
    unit : str
        Of disparities; it begins with a space, or is empty.
    """

    value: Callable[[float], str]
    disparity: Callable[[float], str]
    unit: str = ""


def written(setup: Setup, row: Mapping[str, Any]) -> Written:
    """The format of the numbers of a comparison in a sentence.

    Shares are percentages and their differences points, with one decimal (more for tiny shares), or one more where
    these do not agree; other values have four digits or more. Where they do not agree either, a note of the report says
    that differences are computed before rounding.
    """
    metric, numbers = row["metric"], [row[name] for name in ("value_group", "value_other", "disparity")]
    if setup.is_ratio(metric):
        digits = share_digits(*numbers[:2])
        value = partial(percent, digits=digits)
        return Written(value if setup.is_percentage(metric) else decimal if setup.is_share(metric) else number, ratio)
    if not setup.is_share(metric):
        return written_numbers(*numbers)
    fewest = share_digits(*numbers[:2])
    found = decimals_of(*(100 * value for value in numbers), fewest=fewest)
    digits = fewest if found is None else found
    value = partial(percent, digits=digits) if setup.is_percentage(metric) else partial(decimal, decimals=digits + 2)
    return Written(value, partial(points, digits=digits), " points")


def written_numbers(first: float, second: float, difference: float) -> Written:
    """The format of two values of any size and of their difference: four digits of the larger, two of the gap."""
    if not np.isfinite([first, second, difference]).all():
        return Written(number, number)
    largest, gap = max(abs(first), abs(second)), abs(difference)
    fewest = max(0, _decimals(largest, 4), _decimals(gap, 2))
    found = decimals_of(first, second, difference, fewest=fewest) if largest < LARGEST else None
    if found is None:
        return Written(number, number)
    write = partial(decimal, decimals=found, short=True)
    return Written(write, write)


def _decimals(value: float, digits: int) -> int:
    """Return the decimals with which a value has so many digits."""
    return digits - 1 - int(np.floor(np.log10(value))) if value else 0


def decimal(value: float, decimals: int = 3, *, short: bool = False) -> str:
    """Write a value with so many decimals; `short`: without zeros at the end.

    Examples
    --------
    >>> decimal(0.5), decimal(0.5, 4, short=True), decimal(-45720.4, 0), decimal(-0.0001, 2)
    ('0.500', '0.5', '-45,720', '0.00')
    """
    if not np.isfinite(value):
        return number(value)
    rounded = round(value, decimals) + 0.0  # + 0.0: no minus sign before 0
    text = f"{rounded:,.{decimals}f}" if abs(rounded) >= 1e4 else f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if short and "." in text else text


def ratio(value: float) -> str:
    """Write a ratio with two decimals, or two digits if it is small.

    Examples
    --------
    >>> ratio(0.8), ratio(0.00123), ratio(0.0)
    ('0.80', '0.0012', '0.00')
    """
    if not np.isfinite(value):
        return number(value)
    return f"{value:.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def null_sentence(setup: Setup, metric: str) -> str:
    """State the null hypothesis of one metric's comparisons."""
    happens, among = setup.told(metric)
    features, name = label(setup.features), label(metric)
    if metric in setup.everybody:
        given = f" among people of one {setup.within}" if setup.within in ("y_true", "y_pred") else ""
        inside = f", within every {label(setup.controls)}" if setup.controls else ""
        described = setup.descriptions.get(metric, "")
        if described.startswith(BETWEEN_CURVES):
            return f"{name}: at every score the same share of any two groups of {features} is truly positive{inside}"
        if described.startswith(FROM_SCORES):
            return f"{name}: at every score that share of each group of {features} is truly positive{inside}"
        subject = "predictions" if metric == "normalized_mutual_info" else "truth and prediction together"
        return f"{name}: {subject} do not depend on {features}{given}{inside}"
    against = {
        "between_groups": f"the groups of {features} compared",
        "to_overall": f"each group of {features} and everyone else",
        "to_rest": f"each group of {features} and everyone else",
        "to_reference": f"each group of {features} and the reference group",
        "to_highest": f"each group of {features} and the one with the highest value",
        "to_lowest": f"each group of {features} and the one with the lowest value",
        "to_parents": (
            f"each group of {features} and the rest of each of its parent groups (the people who share all its "
            "features but one)"
        ),
    }[setup.compare]
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    # Equal shares are equal values of any function of them; a margin is one of the values.
    shares = happens and (setup.margin_bounds is None or metric not in setup.functions)
    described = setup.descriptions.get(metric, "") or name
    who = f"among {among}{inside}, the share who {happens}" if shares else f"{described}{inside}"
    if setup.margin_bounds is None:
        same = f"any two groups of {features}" if setup.compare == "between_groups" else against
        how = {
            "greater": f"is not greater in the first of {against}",
            "less": f"is not smaller in the first of {against}",
        }.get(setup.alternative, f"is the same in {same}")
        if setup.within != "auto":
            what = {"y_true": "predictions given the true label", "y_pred": "true labels given the prediction"}
            labels = what.get(setup.within or "", "true labels and predictions together")
            where = "everywhere" if setup.within is None else f"within {setup.within}"
            how += f", and so is the whole distribution of {labels}: labels were permuted {where}"
        return f"{name}: {who} {how}"
    low, high = setup.margin_bounds
    write, unit = disparity_writer(setup, metric)
    noun = setup.disparity_of(metric)
    band = f"{write(low)} to {write(high)}{unit}"
    _, beyond, ends = margin_words(setup.margin_bounds, write)
    how = {
        "equivalence": f"differs in {against}: their {noun} lies {beyond} {ends}{unit}",
        "greater": f"has in {against} a {noun} of at most {write(high)}{unit}",
        "less": f"has in {against} a {noun} of at least {write(low)}{unit}",
    }.get(setup.alternative, f"has in {against} a {noun} within {band}")
    return f"{name}: {who} {how}"


def margin_words(bounds: tuple[float, float], write: Any) -> tuple[str, str, str]:
    """Say where disparities lie that are tolerated, and where the others; and the margin's ends, or its only one.

    Parameters
    ----------
    bounds : (float, float)
        The lowest and the highest disparity that are tolerated; infinite where the margin is open.
    write : callable
        Writes a disparity.

    Returns
    -------
    inside, outside, ends : str
        Words, and the ends.

    Examples
    --------
    >>> margin_words((-0.05, float("inf")), points)
    ('at or above', 'below', '-5.0')
    """
    low, high = bounds
    if np.isinf(low):
        return "at or below", "above", write(high)
    return (
        ("at or above", "below", write(low))
        if np.isinf(high)
        else ("within", "outside", f"{write(low)} to {write(high)}")
    )


def _who(setup: Setup, row: Mapping[str, Any]) -> tuple[str, str]:
    """Name the people of a group, and those whom they are compared with."""
    return sides_of(setup.names, setup.compare, row["group"], row["other"], unique=setup.unique)


def _where(setup: Setup, row: Mapping[str, Any]) -> str:
    return _within(setup, row) or (f"averaged over {label(setup.controls)}, " if setup.controls else "")


def _within(setup: Setup, row: Mapping[str, Any]) -> str:
    """Name the stratum of a comparison; a number, True or False with the name of its feature."""
    stratum = row["stratum"]
    if stratum is None:
        return ""
    named = "in" if isinstance(stratum, str | tuple) else f"with {label(setup.controls)} ="
    return f"{named} {label(stratum)}, "


def _p(row: Mapping[str, Any], *, adjusted: bool) -> str:
    return f"adjusted {equals_p(row['p_value_adjusted'])}" if adjusted else equals_p(row["p_value"])


def _values(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say what the value of the group is against that of the other."""
    metric, (group, other) = row["metric"], _who(setup, row)
    happens, among = setup.told(metric)
    write = written(setup, row).value
    a, b = write(row["value_group"]), write(row["value_other"])
    if setup.is_event(metric):
        return f"{_among(among)}{a} of {group} {past(happens)}, versus {b} of {other}"
    described = setup.descriptions.get(metric, "") or label(metric)
    return f"{described} is {a} for {group} versus {b} for {other}"


def _among(among: str) -> str:
    return "" if among in ("", "all people") else f"among {among}, "


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def finding_sentence(setup: Setup, row: Mapping[str, Any], *, adjusted: bool = True) -> str:
    """Say in plain words what one comparison found: who, what share, how far apart, how sure.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    row : mapping
        A row of ``comparisons_``.
    adjusted : bool
        Whether to give the p-value adjusted for all comparisons.

    Returns
    -------
    str
        One sentence.
    """
    metric = row["metric"]
    if metric in setup.everybody:
        return _sentence(f"{_statistic(setup, row)}, {_p(row, adjusted=adjusted)}")
    how = written(setup, row)
    size = _of_size(setup.disparity_of(metric), row["disparity"], f"{how.disparity(row['disparity'])}{how.unit}")
    gap = f"{size} (interval {span(how.disparity, row['ci_low'], row['ci_high'], setup.open_ends(row))})"
    return _sentence(f"{_where(setup, row)}{_values(setup, row)}: {gap}, {_p(row, adjusted=adjusted)}")


def _statistic(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say the number of a metric that has no value of each group: one of pairs of groups, of a group, or of all."""
    described = setup.descriptions.get(row["metric"]) or label(row["metric"])
    if row["group"] is not None:
        group, other = _who(setup, row)
        described += f" in {group}" if row["other"] is None else f" between {group} and {other}"
    return f"{_within(setup, row)}{described} is {number(row['disparity'])}"


def gap_sentence(setup: Setup, row: Mapping[str, Any], *, turn: bool = False) -> str:
    """Say who has less or more, the two values, and the gap with its interval, without a sign or a p-value.

    Parameters
    ----------
    setup : Setup
        How the comparison was set up.
    row : mapping
        A row of the comparisons of an audit.
    turn : bool
        Whether the second group comes first.

    Returns
    -------
    str
        A sentence without its full stop.
    """
    metric, how, kind = row["metric"], written(setup, row), setup.disparity_of(row["metric"])
    if metric in setup.everybody:
        said = _statistic(setup, row)
        return said[0].upper() + said[1:]
    (first, second), (happens, among) = _who(setup, row), setup.told(row["metric"])
    a, b, gap = row["value_group"], row["value_other"], row["disparity"]
    low, high, open_at = row["ci_low"], row["ci_high"], setup.open_ends(row)
    if turn:
        first, second, a, b = second, first, b, a
        ends = (high, gap, low)
        of_ratio = setup.is_ratio(metric)
        low, gap, high = ((np.inf if end == 0 else 1 / end) if of_ratio else -end for end in ends)
        open_at = tuple(1 / end if of_ratio else -end for end in open_at)
    less, values = a < b, f"{how.value(a)} versus {how.value(b)}"
    if setup.is_ratio(metric):
        distance, interval = ratio(gap), span(ratio, low, high, open_at)
    else:
        if less:
            low, high, open_at = -high, -low, tuple(-end for end in open_at)
        distance, interval = how.disparity(abs(gap)), span(how.disparity, low, high, open_at)
    inside = f"({interval or 'no interval'})"
    if setup.is_event(metric):
        often = "as often as" if a == b else f"{'less' if less else 'more'} often than"
        size = {"ratio": f"{distance} times as often", "odds_ratio": f"an odds ratio of {distance}"}.get(
            kind, f"{distance}{how.unit}"
        )
        said = f"{_among(among)}{first} {past(happens)} {often} {second}: {values}, {size} {inside}"
    else:
        described = setup.descriptions.get(metric, "") or label(metric)
        than = "the same for" if a == b else f"{'lower' if less else 'higher'} for"
        joint = "and" if a == b else "than for"
        said = f"{described} was {than} {first} {joint} {second}: {values}, {a_disparity(kind)} of {distance} {inside}"
    said = f"{_where(setup, row)}{said}"
    return said[0].upper() + said[1:]


def a_disparity(kind: str) -> str:
    """Name a disparity with its article.

    Examples
    --------
    >>> a_disparity("ratio"), a_disparity("odds_ratio")
    ('a ratio', 'an odds ratio')
    """
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind.replace('_', ' ')}"


def _of_size(kind: str, disparity: float, size: str) -> str:
    """Name a disparity with its size."""
    return f"an undefined {kind.replace('_', ' ')}" if np.isnan(disparity) else f"{a_disparity(kind)} of {size}"


def size_text(setup: Setup, metric: str, size: float) -> str:
    """Write the size of a disparity: an absolute difference, or a ratio above 1 with its reciprocal."""
    write, unit = disparity_writer(setup, metric)
    if setup.is_ratio(metric):
        return f"{ratio(size)} (or {ratio(1 / size) if size else 'infinity'})"
    return f"{write(size)}{unit}"


def _direction(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say by how much the group's value is above or below the other's, with the interval."""
    metric, disparity, low, high = row["metric"], row["disparity"], row["ci_low"], row["ci_high"]
    how = written(setup, row)
    write, unit = how.disparity, how.unit
    known = not (np.isnan(low) or np.isnan(high))
    if setup.is_ratio(metric):
        kind = setup.disparity_of(metric)
        odds = kind == "odds_ratio"
        times = "" if odds else " times"
        interval = f"interval: {span(write, low, high, setup.open_ends(row))}{times}" if known else "no interval"
        named = _of_size(kind, disparity, write(disparity))
        return f"{named if odds or np.isnan(disparity) else f'{write(disparity)} times as much'} ({interval})"
    share = setup.is_share(metric) and metric not in setup.functions
    words = ("more", "less") if share and metric in setup.sentences else ("higher", "lower")
    interval = f"interval: {_span(write, low, high, *words, setup.open_ends(row))}" if known else "no interval"
    if disparity == 0:
        said = "no difference"
    elif np.isnan(disparity):
        said = "an undefined difference"
    elif _is_nothing(write, disparity):
        said = f"less than {write(disparity)[:-1]}1{unit} apart"  # one in the last place
    else:
        said = f"{write(abs(disparity))}{unit} {words[disparity < 0]}"
    return f"{said} ({interval})"


def _is_nothing(write: Any, value: float) -> bool:
    return not write(abs(value)).strip("0.")


def span(write: Callable[[float], str], low: float, high: float, open_at: Sequence[float] = ()) -> str:
    """Write an interval, which is open at certain values; nothing where it is undefined.

    Examples
    --------
    >>> span(points, 0.0, 0.077, (0.0,)), span(points, -0.077, 0.0, (0.0,))
    ('more than 0 to 7.7', '-7.7 to less than 0')
    """
    if np.isnan(low) or np.isnan(high):
        return ""
    return f"{_end(write, low, 'more than', open_at)} to {_end(write, high, 'less than', open_at)}"


def _end(write: Callable[[float], str], end: float, beyond: str, open_at: Sequence[float]) -> str:
    """Write an end of an interval; equality, where it is open, without decimals."""
    return write(end) if end not in open_at else f"{beyond} {write(end) if end % 1 else f'{end + 0.0:g}'}"


def _span(write: Any, low: float, high: float, more: str, less: str, open_at: Sequence[float]) -> str:
    """Write an interval of a difference without signs: "6.5 less to 2.3 more", "more than 0 to 19.6 less"."""
    sizes = [f"more than {write(abs(end)) if end else 0}" if end in open_at else write(abs(end)) for end in (low, high)]
    ways = ["" if _is_nothing(write, end) else f" {less if end < 0 else more}" for end in (low, high)]
    if ways[0] == ways[1] or not all(ways):
        # From the end that is nearer to equality.
        nearer, farther = sizes if high > 0 or not any(ways) else reversed(sizes)
        return f"{nearer} to {farther}{ways[0] or ways[1]}"
    return f"{sizes[0]}{ways[0]} to {sizes[1]}{ways[1]}"


def result_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say what one comparison of an audit says, found or not, and what its people could have shown.

    Parameters
    ----------
    setup : Setup
        How the comparison was set up.
    row : mapping
        A row of the comparisons of an audit, with ``minimum_detectable``.

    Returns
    -------
    str
        A few sentences. Where nothing was found they say what could have been missed, and never that there is nothing.
    """
    metric, size = row["metric"], row["minimum_detectable"]
    if metric in setup.everybody:
        found = finding_sentence(setup, row)
        return found if row["concern"] else f"{found} No significant dependence was detected, which rules none out."
    beyond = "" if setup.margin_bounds is None else " beyond the margin"
    said = f"{_where(setup, row)}{_values(setup, row)}: {_direction(setup, row)}, {_p(row, adjusted=True)}"
    shown = "" if np.isnan(size) or np.isinf(size) else size_text(setup, metric, size)
    if row["concern"]:
        return _sentence(said)
    group, other = _who(setup, row)
    lead = f"No significant disparity{beyond} was detected between {group} and {other} in {label(metric)}."
    inside = "" if np.isnan(row["ci_low"]) else "No disparity inside the interval is ruled out"
    if np.isinf(size):
        power = f"no gap, however large, had an {CHANCE} of being detected here"
    elif shown:
        gap = setup.disparity_of(metric).replace("_", " ") if setup.is_ratio(metric) else "gap"
        power = f"this comparison had an {CHANCE} of detecting a {gap} of {shown}"
    else:
        power = "how small a gap could have been detected is not known"
    missed = f"{inside}; {power}." if inside else _sentence(power)
    return f"{lead} {_sentence(said)} {missed}"


def verdict_sentence(
    setup: Setup, *, concern: bool, p_value: float, n_comparisons: int, no_intervals: bool = False
) -> str:
    """Say whether there is a significant disparity, and what its absence does not mean."""
    asked, features = pluralize(n_comparisons, "comparison"), label(setup.features)
    level = f"{100 * (1 - setup.alpha):g}%"
    if setup.alternative == "equivalence":
        assert setup.margin_bounds is not None
        noun, unit = "", " points"
        write: Callable[[float], str] = points
        if setup.disparity != "difference":
            noun, unit, write = f"{a_disparity(setup.disparity)} of ", "", ratio
        elif setup.descriptions:
            noun, unit, write = "a difference of ", "", number
        inside, outside, ends = margin_words(setup.margin_bounds, write)
        band = f"{noun}{ends}{unit}"
        one = n_comparisons == 1
        if concern:
            where = "the one comparison" if one else f"at least one of {asked}"
            return (
                f"Not certified: for {where} a disparity {outside} {band} cannot be ruled out "
                f"(largest {equals_p(p_value)})."
            )
        every = "the one comparison" if one else f"every one of {asked}"
        return f"Certified at {level}: {every} lies {inside} {band} (largest {equals_p(p_value)})."
    beyond = "" if setup.margin_bounds is None else " beyond the margin"
    if concern:
        return (
            f"Significant disparity: groups of {features} differ{beyond} by more than chance explains "
            f"({smallest_p(p_value, n_comparisons)}, {asked})."
        )
    shown = "" if no_intervals else ": the intervals show which disparities the data do not rule out"
    return (
        f"No significant disparity{beyond} by {features} was detected in {asked} "
        f"({smallest_p(p_value, n_comparisons)}). This does not prove fairness{shown}."
    )


#: Reasons that a verdict names, and what was not tested for one of them.
MOST_REASONS, MOST_UNTESTED = 3, 8


def lost_metrics(excluded: pd.DataFrame, tested: Iterable[str]) -> dict[str, str]:
    """The reasons for which metrics were compared for no two groups."""
    lost = excluded[~excluded["metric"].isin([None, *tested])].drop_duplicates("metric")
    return dict(zip(lost["metric"], lost["reason"], strict=True))


def not_tested(lost: Mapping[str, Sequence[str]]) -> str:
    """Name what could not be tested, by the reason; empty if everything was.

    Examples
    --------
    >>> not_tested({"nobody meets the condition": ["true_positive_rate"]})
    ' Not tested: true_positive_rate (nobody meets the condition).'
    """
    told = [f"{enumerated(names, most=MOST_UNTESTED)} ({label(reason)})" for reason, names in lost.items()]
    if len(told) > MOST_REASONS:
        told[MOST_REASONS:] = [f"and for {len(told) - MOST_REASONS} more reasons"]
    return f" Not tested: {'; '.join(told)}." if told else ""


def untested_metrics(excluded: pd.DataFrame, tested: Iterable[str]) -> str:
    """Name the metrics that were compared for no two groups, by the reason; empty if every one was."""
    by_reason: dict[str, list[str]] = {}
    for metric, reason in lost_metrics(excluded, tested).items():
        by_reason.setdefault(reason, []).append(label(metric))
    return not_tested(by_reason)


def breaking_sentence(setup: Setup, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say with how few decisions, and true labels, of one group a verdict would be reversed.

    Parameters
    ----------
    setup : Setup
        How the test was set up, with the names of all features that make groups.
    rows : sequence of mapping
        Rows of a test's `breaking_point_` about one verdict.

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
    for row in rows:
        if row["among"] is None:
            continue
        decisions, up, down = row["changed"] == "decisions", row["to_positive"], row["to_negative"]
        what = "decisions about" if decisions else "true labels of"
        people, *tied = (people_of(setup.names, group, unique=setup.unique) for group in (row["among"], *row["tied"]))
        now, then = ("negative", "positive") if up else ("positive", "negative")
        true, predicted = (row["among_label"], now) if decisions else (now, row["among_label"])
        whose = f"people of {people}" if people.startswith("group ") else people
        whose += f" with a {true} true label" if true else ""
        whose += f" who were predicted {predicted}" if predicted else ""
        change = f"had been predicted {then}" if decisions else f"had a {then} one"
        turn = f"{row['n_changed']:,} of the {row['n_among']:,} {whose} {change}"
        if up and down:
            turn = f"{row['n_changed']:,} {what} {people} had been different ({up:,} positive, {down:,} negative)"
        also = [f"or as many {what} {group}" for group in tied]
        also += ["fewer may suffice"] if row["search"] == "bisection" else []
        turns.append(in_words(turn, setup.positive_means) + "".join(f" ({one})" for one in also))
    said = [f"The verdict would be reversed if {', or if '.join(turns)}."] if turns else []
    if never:
        changes = " or ".join(row["changed"] for row in never)
        sure = all(row["search"] == "every change" for row in never)
        said.append(f"Changing one group's {changes} {'cannot' if sure else 'was not found to'} reverse the verdict.")
    return " ".join(said)


#: How a p-value is repeated that is sampled.
SEED = "Without a random_state it differs from run to run: random_state=0 repeats it."


def sampling_error(limits: tuple[float, float]) -> list[str]:
    """Say between which limits the p-value lies, if it was sampled."""
    if limits[0] == limits[1]:
        return []
    low, high = (p_text(bound) if bound else "0" for bound in limits)
    return [f"With infinitely many resamples, the p-value would lie between {low} and {high} (95% limits). {SEED}"]
