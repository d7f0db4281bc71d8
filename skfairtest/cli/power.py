"""How many people a test needs, how likely it is to detect a disparity, or which disparity it can detect."""

from typing import Any

from skfairtest._utils.text import enumerated, label
from skfairtest.cli.errors import BadInput
from skfairtest.planning.power import minimum_detectable_disparity, power, required_sample_size

Value = float | tuple[float, ...]


def answer(
    *, rate: list[str], n: list[int], baseline: str | None, target: float | None, shares: list[float], **test: Any
) -> dict[str, Any]:
    """Answer the question that the given numbers leave open.

    Parameters
    ----------
    rate : list of str
        Values in each group, perhaps with the rate that they are of: ``true_positive_rate=0.7``.
    n : list of int
        People in each group.
    baseline : str or None
        The value in all groups but the first.
    target : float or None
        The probability of detecting the disparity.
    shares : list of float
        The share of people in each group, if numbers of people are computed.
    **test
        Parameters of the functions of the package: metric, base_rates, compare, disparity, margin, alternative, alpha
        and direction.

    Returns
    -------
    dict
        The sentences of the answer, its question and the numbers.

    Raises
    ------
    BadInput
        If the numbers do not make a question.
    """
    direction = test.pop("direction")
    if bool(rate) == (baseline is not None):
        raise BadInput("give --rate once per group, or --baseline and --n for the smallest disparity to be detected")
    if rate and direction != "auto":
        raise BadInput("--direction is where --baseline looks for a disparity: leave it out with --rate")
    if n and (shares or (rate and target is not None)):
        raise BadInput("--n leaves nothing open: leave out --n for the people needed, or --power and --share")
    rates = _rates(rate, test["metric"])
    groups = len(next(iter(rates.values()))) if rates else max(len(n), 2)
    people = _per_group(n, groups, "--n")
    test["base_rates"] = _per_group(test["base_rates"] or [1.0], groups, "--base-rate")
    certain = (
        f"with a probability of {100 * (0.8 if target is None else target):g}%, at the {100 * test['alpha']:g}% level"
    )
    given: Any = rates if len(rates) > 1 else next(iter(rates.values()), None)
    truth = ", and ".join(f"{label(name)} is {_by_group(values)}" for name, values in rates.items())
    certifies = test["alternative"] == "equivalence"
    goal = "certify that the groups are alike" if certifies else "detect a disparity"
    if test["margin"] is not None:
        ends = test["margin"] if isinstance(test["margin"], tuple) else (test["margin"],)
        shown = " to ".join("any value" if end is None else f"{end:g}" for end in ends)
        goal += f" {'within' if certifies else 'beyond'} the margin of {shown}"
    numbers: dict[str, Any]
    if baseline is not None:
        if not n:
            raise BadInput("--n is missing: --baseline asks what so many people can detect")
        size = minimum_detectable_disparity(
            baseline=_value(baseline), n_per_group=people, power=target or 0.8, direction=direction, **test
        )
        numbers = {"question": "minimum_detectable_disparity", "minimum_detectable_disparity": size}
        less = certifies or (test["disparity"] != "difference" and size < 1)
        sentence = (
            f"A test of {_by_group(people, ' people')} can {goal} of {size:.3g} or {'less' if less else 'more'} (as a "
            f"{test['disparity'].replace('_', ' ')}) from a baseline of {baseline}, {certain}."
        )
    elif n:
        value = power(rates=given, n_per_group=people, **test)
        numbers = {"question": "power", "power": value}
        sentence = (
            f"If {truth}, a test of {_by_group(people, ' people')} will {goal} with a probability of "
            f"{100 * value:.1f}%, at the {100 * test['alpha']:g}% level."
        )
    else:
        people = required_sample_size(
            rates=given, power=target or 0.8, shares=_per_group(shares, groups, "--share") or None, **test
        )
        numbers = {"question": "required_sample_size"}
        sentence = f"{sum(people):,} people are needed ({_by_group(people)}) to {goal} {certain}, if {truth}."
    people_of = "over whom the metric is computed" if all(base == 1 for base in test["base_rates"]) else "in all"
    sentences = [
        sentence,
        f"The numbers are of people {people_of}, and groups are compared by --compare {test['compare']}.",
        "The values are assumptions, not data: the answer holds if they are true.",
    ]
    return {"sentences": sentences, **numbers, "n_per_group": people, "rates": rates, **test}


def _per_group(values: list[Any], groups: int, option: str) -> tuple[Any, ...]:
    """One value per group; a single value is that of all groups."""
    if len(values) not in (0, 1, groups):
        raise BadInput(f"{option} is given {len(values)} times for {groups} groups: give it once, or once per group")
    return tuple(values) * (groups if len(values) == 1 else 1)


def _rates(texts: list[str], metric: str) -> dict[str, list[Value]]:
    """The values in each group of each rate."""
    rates: dict[str, list[Value]] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        rates.setdefault(name.strip() or metric, []).append(_value(value))
    if len({len(values) for values in rates.values()}) > 1 or any(len(values) < 2 for values in rates.values()):
        counts = ", ".join(f"{len(values)} of {label(name)}" for name, values in rates.items())
        raise BadInput(f"--rate must be given once per group, for at least two groups, of every rate; found {counts}")
    return rates


def _value(text: str) -> Value:
    """A value, or the mean and the standard deviation that MEAN:SD stands for."""
    numbers = _ends(text, f"a value must be a number such as 0.3 (of a mean, MEAN:SD such as 10:2.5); found {text!r}")
    return numbers  # type: ignore[no-any-return]


def margin_of(text: str | None) -> Any:
    """A margin as a number, or as the two ends that LOW:HIGH stands for, one of which may be open."""
    says = f"--margin must be a number such as 0.05, or LOW:HIGH such as -0.05:0.1; found {text!r}"
    return None if text is None else _ends(text, says, open_ended=True)


def _ends(text: str, says: str, *, open_ended: bool = False) -> Any:
    """The number, or the two numbers between which a colon stands, of which an open one is None."""
    try:
        ends = [None if open_ended and not part else float(part) for part in text.split(":")]
    except ValueError:
        raise BadInput(says) from None
    if len(ends) > 2 or ends == [None]:
        raise BadInput(says)
    return tuple(ends) if len(ends) == 2 else ends[0]


def _by_group(values: Any, unit: str = "") -> str:
    shown = [
        f"{value[0]:g} (standard deviation {value[1]:g})" if isinstance(value, tuple) else f"{value:,}{unit}"
        for value in values
    ]
    if len(set(shown)) == 1:
        return f"{shown[0]} in each group"
    return enumerated([f"{value} in group {number}" for number, value in enumerate(shown, 1)])
