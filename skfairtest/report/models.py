"""What a report says of the comparison of two models."""

from __future__ import annotations

from skfairtest._utils.text import label, pluralize
from skfairtest.report.sentences import Setup, equals_p, null_sentence, number

__all__ = ["null_of_models", "verdict_on_models"]


def null_of_models(setup: Setup, metric: str) -> str:
    """State the null hypothesis of one metric's comparisons."""
    if setup.models == "one group":
        happens, among = setup.told(metric)
        return f"{metric}: among {among or 'these people'}, the share who {happens} is the same under both models"
    if setup.models != "sizes":
        return null_sentence(setup, metric)
    margin, inside = _margin(setup), f", within every {label(setup.controls)}" if setup.controls else ""
    larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
    return f"{metric}: the disparity by {label(setup.features)} is {larger} under model B than under model A{inside}"


def verdict_on_models(setup: Setup, *, concern: bool, p_value: float, n_comparisons: int) -> str:
    """Say whether two models differ, or whether B was certified to be the fairer one."""
    asked, by = pluralize(n_comparisons, "comparison"), label(setup.features)
    if setup.models == "sizes":
        return _verdict_on_sizes(setup, concern=concern, p_value=p_value, n_comparisons=n_comparisons)
    what = "rates" if setup.models == "one group" else f"disparities by {by}"
    if concern:
        return (
            f"Significant difference between the models: their {what} differ by more than chance explains "
            f"({equals_p(p_value)}, {asked})."
        )
    return (
        f"No significant difference between the models' {what} was detected in {asked} ({equals_p(p_value)}). "
        "This does not prove that they are the same: the intervals show which differences the data do not rule out."
    )


def _verdict_on_sizes(setup: Setup, *, concern: bool, p_value: float, n_comparisons: int) -> str:
    margin, by, found = _margin(setup), label(setup.features), f"(largest {equals_p(p_value)})"
    asked = pluralize(n_comparisons, "comparison")
    if concern:
        worse = f"is larger by {number(margin)} or more" if margin else "is as large or larger"
        where = "the one comparison" if n_comparisons == 1 else f"at least one of {asked}"
        unknown = f"it cannot be ruled out that the disparity by {by} {worse} under model B"
        return f"Not certified: for {where} {unknown} {found}."
    better = f"is larger by less than {number(margin)}, if it is larger at all," if margin else "is smaller"
    every = "the one comparison" if n_comparisons == 1 else f"every one of {asked}"
    level = f"{100 * (1 - setup.alpha):g}%"
    return f"Certified at {level}: in {every} the disparity by {by} {better} under model B {found}."


def _margin(setup: Setup) -> float:
    assert setup.margin_bounds is not None
    return setup.margin_bounds[1]
