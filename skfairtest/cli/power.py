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
    certain = f"with a probability of {100 * (0.8 if target is None else target):g}%, at level {100 * test['alpha']:g}%"
    given: Any = rates if len(rates) > 1 else next(iter(rates.values()), None)
    truth = ", and ".join(f"{label(name)} is {_by_group(values)}" for name, values in rates.items())
    certifies = test["alternative"] == "equivalence"
    goal = "certify that the groups are alike" if certifies else "detect a disparity"
    if test["margin"] is not None:
        ends = test["margin"] if isinstance(test["margin"], tuple) else (test["margin"],)
        shown = " to ".join("any value" if end is None else f"{end:g}" for end in ends)
        goal += f" {'within' if certifies else 'beyond'} the margin of {shown}"
    if baseline is not None:
        if not n:
            raise BadInput("--n is missing: --baseline asks what so many people can detect")
        size = minimum_detectable_disparity(
            baseline=_value(baseline), n_per_group=people, power=target or 0.8, direction=direction, **test
        )
        sentence = f"A test of {_by_group(people)} people can {goal} {certain}, if it is {test['disparity']} {size:.3g}"
        numbers: dict[str, Any] = {"question": "minimum_detectable_disparity", "minimum_detectable_disparity": size}
        sentence += f" or {'smaller' if certifies or (test['disparity'] != 'difference' and size < 1) else 'larger'} "
        sentence += f"from a baseline of {baseline}."
    elif n:
        value = power(rates=given, n_per_group=people, **test)
        numbers = {"question": "power", "power": value}
        sentence = (
            f"If {truth}, a test of {_by_group(people)} people will {goal} with a probability of {100 * value:.1f}%, "
        )
        sentence += f"at level {100 * test['alpha']:g}%."
    else:
        people = required_sample_size(
            rates=given, power=target or 0.8, shares=_per_group(shares, groups, "--share") or None, **test
        )
        numbers = {"question": "required_sample_size"}
        sentence = f"{sum(people):,} people are needed, {_by_group(people)}, to {goal} {certain}, if {truth}."
    among = " of those over whom it is computed" if all(base == 1 for base in test["base_rates"]) else ""
    sentences = [
        sentence,
        f"People are the people of each group{among}; groups are compared by compare={test['compare']!r}.",
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
    try:
        numbers = tuple(float(part) for part in text.split(":"))
    except ValueError:
        numbers = ()
    if not 1 <= len(numbers) <= 2:
        raise BadInput(f"a value must be a number such as 0.3 (of a mean, MEAN:SD such as 10:2.5); found {text!r}")
    return numbers[0] if len(numbers) == 1 else numbers


def margin_of(text: str | None) -> float | tuple[float | None, ...] | None:
    """A margin as a number, or as the two ends that LOW:HIGH stands for."""
    if text is None:
        return None
    try:
        ends = tuple(float(end) if end else None for end in text.split(":"))
    except ValueError:
        ends = ()
    if not 1 <= len(ends) <= 2 or ends == (None,):
        raise BadInput(f"--margin must be a number such as 0.05, or LOW:HIGH such as -0.05:0.1; found {text!r}")
    return ends[0] if len(ends) == 1 else ends


def _by_group(values: Any) -> str:
    shown = [
        f"{value[0]:g} (standard deviation {value[1]:g})" if isinstance(value, tuple) else f"{value:,}"
        for value in values
    ]
    return (
        f"{shown[0]} in each group"
        if len(set(shown)) == 1
        else enumerated([f"{value} in group {number}" for number, value in enumerate(shown, 1)])
    )
