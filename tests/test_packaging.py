"""The oldest supported versions are said twice, for pip and for CI, and are the same."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def floors(requirements):
    """Names and lowest versions of requirements such as ``numpy>=1.26``."""
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in requirements if ">=" in line)


def oldest():
    """The constraints of CI by name, each with the comment right above its line, if any."""
    found, comment = {}, ""
    for line in (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            comment = line
        else:
            if line:
                name, constraint = re.fullmatch(r"([\w-]+)([=<].*)", line).groups()
                found[name] = (constraint, comment)
            comment = ""
    return found


def test_every_floor_of_what_the_package_needs_is_tested_in_ci():
    needed = floors(PROJECT["dependencies"]) | floors(EXTRAS["report"])
    constraints = {name: constraint for name, (constraint, _) in oldest().items()}
    assert {name: constraints.get(name) for name in needed} == {name: f"=={low}.*" for name, low in needed.items()}


def test_a_constraint_of_the_oldest_environment_that_is_not_such_a_floor_says_why():
    needed = floors(PROJECT["dependencies"]) | floors(EXTRAS["report"])
    further = {name: found for name, found in oldest().items() if name not in needed}
    assert [name for name, (_, comment) in further.items() if not comment] == []
