"""The search for subgroups that an audit makes beside its comparisons."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skfairtest._utils.errors import ParameterError
from skfairtest.subgroups.fairness import SubgroupScan
from skfairtest.tables import Sample


def wanted_scan(asked: Any, **defaults: Any) -> SubgroupScan | None:
    """Return the scan that an audit is asked for, not fitted.

    Parameters
    ----------
    asked : None, bool or SubgroupScan
        The parameter of the audit.
    **defaults
        What a scan that says nothing else takes from the audit, by the names of its parameters.

    Raises
    ------
    ValueError
        If it is none of these, or has a parameter that cannot be used.
    """
    if asked is None or asked is False:
        return None
    if asked is not True and not isinstance(asked, SubgroupScan):
        raise ParameterError(f"scan must be None, True or a SubgroupScan with the parameters wanted; found {asked!r}")
    scan = SubgroupScan(**defaults) if asked is True else clone(asked)
    given = scan.get_params()
    scan.set_params(**{name: defaults[name] for name in ("pos_label", "random_state") if given[name] is None})
    try:
        scan._check()
    except ParameterError as error:
        raise ParameterError(f"scan has a parameter that cannot be used: {error}") from error
    return scan


def check_counted(sample: Sample, asked: str) -> None:
    """Refuse people whom a part of an audit would count otherwise than its comparisons do."""
    for name, found in (("sample_weight", sample.weight), ("clusters", sample.clusters)):
        if found is not None:
            raise ParameterError(
                f"{asked} counts each person once and alone, and takes no {name}: leave one of them out"
            )
