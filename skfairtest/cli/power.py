"""The number of people that a test needs, and its power with a given number."""

from typing import Any

from skfairtest._utils.text import enumerated, label
from skfairtest.cli.errors import BadInput
from skfairtest.planning.power import power, required_sample_size


def answer(
    rates: list[str], n_per_group: list[int], target: float | None, shares: list[float], **test: Any
) -> dict[str, Any]:
    """Answer the question that the given numbers leave open."""
    if not rates:
        raise BadInput("--rate is missing: give it once per group")
    if n_per_group and (shares or target is not None):
        raise BadInput("--n leaves nothing open: leave out --n for the people needed, or --power and --share")
    named: dict[str, list[Any]] = {}
    for text in rates:
        name, _, value = text.rpartition("=")
        named.setdefault(name.strip() or test["metric"], []).append(_numbers(value, "--rate"))
    groups, shares_met = max(map(len, named.values())), test["base_rates"] or [1.0]
    test["base_rates"] = shares_met * (groups if len(shares_met) == 1 else 1)
    test["margin"] = None if test["margin"] is None else _numbers(test["margin"], "--margin")
    given: Any = named if len(named) > 1 else next(iter(named.values()))
    truth = ", and ".join(f"{label(name)} is {_by_group(values)}" for name, values in named.items())
    certifies = test["alternative"] == "equivalence"
    goal = "certify that the groups are alike" if certifies else "detect a disparity"
    if test["margin"] is not None:
        ends = test["margin"] if isinstance(test["margin"], tuple) else (test["margin"],)
        shown = " to ".join("any value" if end is None else f"{end:g}" for end in ends)
        goal += f" {'within' if certifies else 'beyond'} the margin of {shown}"
    level = f"at the {100 * test['alpha']:g}% level"
    if n_per_group:
        people = tuple(n_per_group) * (groups if len(n_per_group) == 1 else 1)
        likely = power(rates=given, n_per_group=people, **test)
        numbers: dict[str, Any] = {"question": "power", "power": likely}
        sentence = f"If {truth}, a test of {_by_group(people, ' people')} will {goal} with a probability of "
        sentence += f"{100 * likely:.1f}%, {level}."
    else:
        wanted = 0.8 if target is None else target
        people = required_sample_size(rates=given, power=wanted, shares=shares or None, **test)
        numbers = {"question": "required_sample_size"}
        sentence = f"{sum(people):,} people are needed ({_by_group(people)}) to {goal} with a probability of "
        sentence += f"{100 * wanted:g}%, {level}, if {truth}."
    counted = "everyone for whom the metric is computed" if {*shares_met} == {1} else "everyone in a group"
    sentences = [
        sentence,
        f"The numbers count {counted}; groups are compared by --compare {test['compare']}.",
        "The values are assumptions, not data: the answer holds if they are true.",
    ]
    return {"sentences": sentences, **numbers, "n_per_group": people, "rates": named, **test}


def _numbers(text: str, option: str) -> Any:
    """A number, or the two that MEAN:SD and LOW:HIGH stand for; of a margin, one may be open."""
    try:
        numbers = [None if option == "--margin" and not part else float(part) for part in text.split(":")]
        if len(numbers) > 2 or numbers == [None]:
            raise ValueError
    except ValueError:
        example = {"--margin": "0.05, or LOW:HIGH such as -0.05:0.1"}.get(option, "0.3, or of a mean MEAN:SD, 10:2.5")
        raise BadInput(f"{option} must be a number such as {example}; found {text!r}") from None
    return tuple(numbers) if len(numbers) == 2 else numbers[0]


def _by_group(values: Any, unit: str = "") -> str:
    shown = [
        f"{value[0]:g} (standard deviation {value[1]:g})" if isinstance(value, tuple) else f"{value:,}{unit}"
        for value in values
    ]
    if len(set(shown)) == 1:
        return f"{shown[0]} in each group"
    return enumerated([f"{value} in group {number}" for number, value in enumerate(shown, 1)])
