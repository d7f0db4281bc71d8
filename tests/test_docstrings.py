"""Docstrings of everything public, checked by numpydoc.

Which checks apply is said once, in ``[tool.numpydoc_validation]`` of ``pyproject.toml``.
"""

import inspect
import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import ERROR_MSGS, validate

import skfairtest
import skfairtest.datasets

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def checked_codes():
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    named = set(settings["tool"]["numpydoc_validation"]["checks"])
    return set(ERROR_MSGS) - named if "all" in named else named


def public_objects():
    """Paths of all public classes and functions."""
    for module in (skfairtest, skfairtest.datasets):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{module.__name__}.{name}"


def resolve(path):
    package, _, name = path.rpartition(".")
    return getattr(skfairtest if package == "skfairtest" else skfairtest.datasets, name)


def public_methods():
    """Paths of the methods and properties that the public classes get from this package."""
    kinds = (classmethod, staticmethod, property)
    for path in public_objects():
        cls = resolve(path)
        if not inspect.isclass(cls):
            continue
        names = {
            name
            for owner in cls.__mro__
            if owner.__module__.split(".")[0] == "skfairtest"
            for name, value in vars(owner).items()
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, kinds))
        }
        yield from (f"{path}.{name}" for name in sorted(names))


@pytest.mark.parametrize("path", [*public_objects(), *public_methods()])
def test_the_docstring_is_complete_numpydoc(path):
    found = validate(path)
    codes = checked_codes()
    errors = [f"  {code}: {text}" for code, text in found["errors"] if code in codes]
    where = f"{found['file']}:{found['file_line']}"
    assert not errors, "\n".join([f"{path} ({where})", *errors])


@pytest.mark.parametrize("path", [*public_objects()])
def test_a_public_class_or_function_has_an_example(path):
    assert ">>>" in (inspect.getdoc(resolve(path)) or ""), f"{path} has no example that runs"
