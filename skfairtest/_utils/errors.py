"""What was wrong with a parameter, and why a test has nothing to say, for those who have to tell these apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


class ParameterError(ValueError):
    """A parameter has a value that cannot be used; the message begins with the parameter's name.

    Parameters
    ----------
    message : str
        The name of the parameter, what was found, and what to do.

    Attributes
    ----------
    parameter : str
        The name.

    Examples
    --------
    >>> ParameterError("margin must be a number; found 'wide'").parameter
    'margin'
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        named = re.match(r"\w+", message)
        assert named is not None, f"names no parameter: {message}"
        self.parameter = named[0]

    def renamed(self, parameter: str) -> str:
        """Return the message for those to whom the parameter has another name."""
        return parameter + str(self)[len(self.parameter) :]


@contextmanager
def renaming(parameter: str, name: str) -> Iterator[None]:
    """Name a parameter as the caller does in every error about it that is raised inside.

    Examples
    --------
    >>> with renaming("metric", "metrics"):
    ...     raise ParameterError("metric is empty: name at least one")
    Traceback (most recent call last):
    skfairtest._utils.errors.ParameterError: metrics is empty: name at least one
    """
    try:
        yield
    except ParameterError as error:
        if error.parameter != parameter or name == parameter:
            raise
        raise type(error)(error.renamed(name)) from error


class SmallGroupWarning(UserWarning):
    """Groups, or what is counted in them, are too small for what is asked: a result is approximate or left out.

    Examples
    --------
    >>> import warnings
    >>> from skfairtest import SmallGroupWarning
    >>> warnings.simplefilter("error", SmallGroupWarning)  # such a test is no test
    >>> warnings.simplefilter("default", SmallGroupWarning)
    """


class GroupsMissing(ParameterError):
    """The people lack groups that are to be compared: there are fewer than two, or not the reference."""


class NothingDefined(ValueError):
    """There are groups, and the metric is defined in no two of them."""
