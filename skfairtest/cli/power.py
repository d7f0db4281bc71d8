"""How many people a test needs, or what it can detect: the numbers, and sentences that say it."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skfairtest._utils.text import enumerated, label
from skfairtest.cli.errors import BadInput
from skfairtest.cli.options import Asked
from skfairtest.metrics import Rate, resolve_metrics
from skfairtest.planning.power import minimum_detectable_disparity, power, required_sample_size
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.sentences import DETECTION_POWER, margin_words, number, percent, points, ratio

_EVERYBODY = "all people"
Value = float | tuple[float, float]


@dataclass(frozen=True)
class Answer:
    """What is asked for ("power", "required_sample_size" or "minimum_detectable_disparity"), and what the test has."""

    question: str
    power: float
    rates: dict[str, tuple[Value, ...]]
    n: tuple[int, ...]
    base_rates: tuple[float, ...]
    disparity: float | None
    asked: Asked

    def to_json(self) -> str:
        """Write the answer as one JSON document."""
        found: dict[str, Any] = {"rates": self.rates}
        if self.disparity is not None:
            found = {"baseline": self.rates[self.asked.metric][0], "minimum_detectable_disparity": self.disparity}
        document = {
            "schema": "skfairtest.power",
            "schema_version": 1,
            "question": self.question,
            "sentences": sentences(self),
            "metric": self.asked.metric,
            "power": self.power,
            "n_per_group": self.n,
            "base_rates": self.base_rates,
            **found,
            **_test(self.asked),
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    def document(self) -> list[Block]:
        """Compose the answer for people."""
        said, *rest = sentences(self)
        blocks: list[Block] = [Heading(_TITLES[self.question], 1), Paragraph(said, "fine"), *map(Paragraph, rest)]
        blocks += [_groups(self), Heading("What was computed"), Items(tuple(_settings(self)))]
        return blocks


_TITLES = {
    "power": "How likely is the test to detect this disparity?",
    "required_sample_size": "How many people does the test need?",
    "minimum_detectable_disparity": "Which disparity can the test detect?",
}


def answered(asked: Asked) -> Answer:
    """Answer the question that the given numbers leave open.

    Parameters
    ----------
    asked : Asked
        Rates and people: what the power is. Rates alone: how many people are needed. A baseline and people: the
        smallest disparity that is found.

    Returns
    -------
    Answer
        With everything that it is the answer to.

    Raises
    ------
    BadInput
        If the numbers do not make one of these questions.
    ValueError
        If the package has no answer.
    """
    _check(asked)
    target = DETECTION_POWER if asked.power is None else asked.power
    rates = _rates(asked) if asked.baseline is None else _baselines(asked.metric, asked.baseline, len(asked.n))
    first, *others = rates.values()
    people = _per_group(asked.n or (), len(first), "--n")
    met = _per_group(asked.base_rate or (1.0,), len(first), "--base-rate")
    common = {"metric": asked.metric, "base_rates": met, **_test(asked)}
    if asked.baseline is not None:
        size = minimum_detectable_disparity(
            baseline=first[0], n_per_group=people, power=target, direction=asked.direction, **common
        )
        return Answer("minimum_detectable_disparity", target, rates, people, met, size, asked)
    given: Any = rates if others else first
    if asked.n:
        found = power(rates=given, n_per_group=people, **common)
        return Answer("power", found, rates, people, met, None, asked)
    shares = _per_group(asked.share or (), len(first), "--share") or None
    people = required_sample_size(rates=given, power=target, shares=shares, **common)
    return Answer("required_sample_size", target, rates, people, met, None, asked)


def _test(asked: Asked) -> dict[str, Any]:
    """The parameters of the test."""
    given = {name: getattr(asked, name) for name in ("alpha", "compare", "disparity", "alternative")}
    if asked.margin is None:
        return {**given, "margin": None}
    try:
        ends = [float(end) if end else None for end in asked.margin.split(":")]
    except ValueError:
        ends = []
    if not 1 <= len(ends) <= 2 or ends == [None]:
        raise BadInput(f"--margin must be a number such as 0.05, or LOW:HIGH such as -0.05:0.1; found {asked.margin!r}")
    return {**given, "margin": ends[0] if len(ends) == 1 else tuple(ends)}


def _check(asked: Asked) -> None:
    if asked.rate and asked.baseline is not None:
        raise BadInput("--rate and --baseline are two questions: give the rates of all groups, or a baseline and --n")
    if not asked.rate and asked.baseline is None:
        raise BadInput(
            "nothing to compute from: give --rate once per group (and --n, for the power), or --baseline and --n for "
            "the smallest disparity that can be detected"
        )
    if asked.baseline is not None and not asked.n:
        raise BadInput("--n is missing: --baseline asks what so many people can detect; give --n once per group")
    if asked.rate and asked.n and asked.power is not None:
        raise BadInput("--power is what --rate and --n give: leave out --power, or leave out --n for the people needed")
    if asked.share and asked.n:
        raise BadInput("--share is for the numbers of people that are computed: leave it out where --n is given")
    if asked.direction != "auto" and asked.baseline is None:
        raise BadInput("--direction is where --baseline looks for a disparity: leave it out with --rate")


def _baselines(metric: str, text: str, groups: int) -> dict[str, tuple[Value, ...]]:
    """Return one baseline for all groups, of which there are two if a number of people is everybody's."""
    name, baseline = _value(text, "--baseline")
    if name is not None:
        raise BadInput(f"--baseline {text!r} must be one number: name that rate by --metric {label(name)}")
    return {metric: (baseline,) * max(groups, 2)}


def _per_group(values: Sequence[Any], groups: int, option: str) -> tuple[Any, ...]:
    """Return one value per group; one value is everybody's."""
    if len(values) not in (0, 1, groups):
        raise BadInput(f"{option} is given {len(values)} times for {groups} groups: give it once, or once per group")
    return tuple(values) * (groups if len(values) == 1 else 1)


def _rates(asked: Asked) -> dict[str, tuple[Value, ...]]:
    rates: dict[str, list[Value]] = {}
    for text in asked.rate:
        name, value = _value(text, "--rate")
        rates.setdefault(asked.metric if name is None else name, []).append(value)
    if len({len(values) for values in rates.values()}) > 1:
        found = ", ".join(f"{len(values)} of {label(name)}" for name, values in rates.items())
        raise BadInput(f"--rate must be given for the same groups of every rate; found {found}")
    parts = [rate.name for rate in _rates_of(asked)]
    if len(parts) > 1 and set(rates) != set(parts):
        example = " ".join(f"--rate {name}=0.7 --rate {name}=0.6" for name in parts)
        raise BadInput(f"--metric {asked.metric} is several rates: give each, once per group, such as {example}")
    if len(parts) < 2 and set(rates) != {asked.metric}:
        raise BadInput(f"--rate must be numbers alone with --metric {asked.metric}; found {', '.join(asked.rate)}")
    first = next(iter(rates.values()))
    if len(first) < 2:
        raise BadInput("--rate is given for one group: give it once per group, at least twice; or give --baseline")
    return {name: tuple(values) for name, values in rates.items()}


def _value(text: str, option: str) -> tuple[str | None, Value]:
    name, _, number_text = text.rpartition("=")
    try:
        numbers = [float(part) for part in number_text.split(":")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2:
        raise BadInput(f"{option} must be a number such as 0.3 (of a mean, MEAN:SD such as 10:2.5); found {text!r}")
    return name.strip() or None, numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


# In words -----------------------------------------------------------------------------------


def _rates_of(asked: Asked) -> list[Rate]:
    """The rates that the metric consists of; none of a metric that is no rate."""
    try:
        found = resolve_metrics(asked.metric, _test(asked)["disparity"])
    except ValueError:  # which the computation of power explains
        return []
    return [rate for rate in found if isinstance(rate, Rate)]


def _shown(value: Value, share: bool) -> str:
    if isinstance(value, tuple):
        return f"{number(value[0])} (standard deviation {number(value[1])})"
    return percent(value) if share else number(value)


def _is_share(asked: Asked) -> bool:
    """Whether values are shares of people, and no function of them."""
    found = _rates_of(asked)
    return bool(found) and all(rate.happens and rate.value is None for rate in found)


def _probability(value: float) -> str:
    """Write a power: one decimal where there is one."""
    return f"{round(100 * value, 1):g}%"


def _by_group(values: Sequence[str], of: str = "in") -> str:
    return enumerated([f"{value} {of} group {place}" for place, value in enumerate(values, 1)])


def _who(answer: Answer) -> str:
    """People; where nobody else is counted, those over whom the rate is computed."""
    (among, *_) = [rate.among for rate in _rates_of(answer.asked)] or [""]
    alone = len(answer.rates) == 1 and among != _EVERYBODY and all(base == 1 for base in answer.base_rates)
    return among if among and alone else "people"


def _people(answer: Answer) -> str:
    n = [f"{each:,}" for each in answer.n]
    if len(set(n)) == 1:
        return f"{n[0]} {_who(answer)} in each of {len(n)} groups"
    return f"{enumerated(n)} {_who(answer)}"


def _truth(answer: Answer) -> str:
    """Say what is supposed to be true."""
    rates = _rates_of(answer.asked)
    in_words = _is_share(answer.asked) and len(rates) == len(answer.rates)
    said = []
    for place, (name, values) in enumerate(answer.rates.items()):
        shown = _by_group([_shown(value, in_words) for value in values], "of" if in_words else "in")
        if in_words:
            among = "" if rates[place].among == _EVERYBODY else f" among {rates[place].among}"
            said.append(f"{shown} {rates[place].happens}{among}")
        else:
            said.append(f"{label(name)} is {shown}")
    return ", and ".join(said)


def sentences(answer: Answer) -> list[str]:
    """Say what was found, then what it means."""
    test = _test(answer.asked)
    level, likely = f"at level {100 * test['alpha']:g}%", _probability(answer.power)
    beyond = _margin(answer.asked)
    certifies = test["alternative"] == "equivalence"
    if answer.question == "minimum_detectable_disparity":
        return _of_detectable(answer, level, likely)
    if answer.question == "required_sample_size":
        in_all = f"{sum(answer.n):,} {_who(answer)} are needed"
        n = [f"{each:,}" for each in answer.n]
        each = f"{n[0]} in each group" if len(set(n)) == 1 else _by_group(n)
        goal = "certify" if certifies else "detect a disparity"
        return [f"{in_all}, {each}, to {goal}{beyond} with a probability of {likely} {level}, if {_truth(answer)}."]
    detects, misses = ("certifies", "it does not") if certifies else ("detects a disparity", "it misses it")
    return [
        f"If {_truth(answer)}, a test of {_people(answer)} {detects}{beyond} with a probability of {likely}, {level}.",
        f"With a probability of {_probability(1 - answer.power)}, {misses}.",
    ]


def _margin(asked: Asked) -> str:
    test, share = _test(asked), _is_share(asked)
    margin, certifies, as_ratio = test["margin"], test["alternative"] == "equivalence", test["disparity"] == "ratio"
    if margin is None:
        return ""
    if isinstance(margin, tuple):
        low, high = (-math.inf if margin[0] is None else margin[0], math.inf if margin[1] is None else margin[1])
        inside, _, ends = margin_words((low, high), ratio if as_ratio else points if share else number)
        return f" that the {test['disparity']} lies {inside} {ends}{' points' if share and not as_ratio else ''}"
    band = f"a ratio of {ratio(margin)} to {ratio(1 / margin)}" if as_ratio else ""
    band = band or (f"{points(margin)} points" if share else f"a difference of {number(margin)}")
    return f" that the groups are alike within {band}" if certifies else f" beyond {band}"


def _of_detectable(answer: Answer, level: str, likely: str) -> list[str]:
    assert answer.disparity is not None
    test, size, share = _test(answer.asked), answer.disparity, _is_share(answer.asked)
    baseline = answer.rates[answer.asked.metric][0]
    base = baseline[0] if isinstance(baseline, tuple) else baseline
    if test["disparity"] == "ratio":
        found, value = f"a ratio of {ratio(size)}", base * size
    else:
        found = f"a disparity of {f'{points(abs(size))} points' if share else number(abs(size))}"
        value = base + size
    more = "smaller" if test["disparity"] == "ratio" and size < 1 else "more"
    write = percent if share else number
    name = label(answer.asked.metric)
    # Against everyone the group is part of what it is compared with.
    example = "" if test["compare"] == "to_overall" else f": {name} of {write(value)} versus {write(base)}"
    if test["alternative"] == "equivalence":
        return [
            f"A test of {_people(answer)} {level} certifies{_margin(answer.asked)} with a probability of {likely}, if "
            f"groups are no further apart than {found}{example}.",
            "Groups that are further apart are often not certified.",
        ]
    return [
        f"A test of {_people(answer)} {level} detects {found} or {more} with a probability of {likely}{example}.",
        "Smaller disparities are often missed: a result that is not significant does not mean that there is none.",
    ]


def _groups(answer: Answer) -> Table:
    share = _is_share(answer.asked)
    detectable = answer.question == "minimum_detectable_disparity"
    met = any(base != 1 for base in answer.base_rates)
    names = ["value"] if detectable else [label(name) for name in answer.rates]
    rows = []
    for place, n in enumerate(answer.n):
        values = [_shown(values[place], share) for values in answer.rates.values()]
        base = [percent(answer.base_rates[place])] if met else []
        rows.append((f"group {place + 1}", f"{n:,}", *(["solved for"] if detectable and not place else values), *base))
    numbers = ["people", *names, *(["base rate"] if met else [])]
    return Table((Column("group", "name"), *map(Column, numbers)), tuple(rows))


def _settings(answer: Answer) -> list[str]:
    test, rates = _test(answer.asked), _rates_of(answer.asked)
    lines = [
        f"The test: {label(answer.asked.metric)}, {test['disparity']}, {test['alternative']}, compare "
        f"{test['compare']}, level {100 * test['alpha']:g}% for all comparisons together.",
        *(f"{label(rate.name)}: among {rate.among}, the share who {rate.happens}." for rate in rates if rate.happens),
    ]
    if any(base != 1 for base in answer.base_rates):
        lines.append(
            "base rate: the share of a group for whom the (first) rate is computed; people are everyone in the group."
        )
    elif _who(answer) != "people":
        lines.append(f"People are {_who(answer)} only; with --base-rate they are everyone in the group.")
    lines.append("The values are assumptions, not data; the result holds if they are true.")
    return lines
