"""Errors about a parameter know its name."""

import pickle

import pytest

from skfairtest._utils.errors import GroupsMissing, ParameterError


@pytest.mark.parametrize("kind", [ParameterError, GroupsMissing])
def test_an_error_comes_back_from_another_process_with_its_parameter(kind):
    copied = pickle.loads(pickle.dumps(kind("margin must be a number; found 'wide'")))
    assert type(copied) is kind
    assert str(copied) == "margin must be a number; found 'wide'"
    assert copied.parameter == "margin"


def test_only_the_first_name_is_another_one_for_others():
    error = ParameterError("metric names two different metrics 'a': give one another name")
    assert error.renamed("metrics") == "metrics names two different metrics 'a': give one another name"
