"""What is said twice is the same: oldest versions for pip, for CI and for conda; and the furniture is whole."""

import re
import tomllib
from pathlib import Path

from skfairtest import __version__

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


def test_the_conda_recipe_asks_for_what_pip_asks_for():
    text = (ROOT / "conda.recipe" / "meta.yaml").read_text(encoding="utf-8")
    runs = text.partition("  run:")[2].partition("test:")[0]
    asked = dict(re.findall(r"- ([\w-]+) >=([\d.]+)", runs))
    assert asked.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    needed = floors(PROJECT["dependencies"]) | floors(EXTRAS["report"])
    assert asked == {{"matplotlib": "matplotlib-base"}.get(name, name): low for name, low in needed.items()}
    assert f'version = "{__version__}"' in text
    assert all(f"{name} = {target}" in text for name, target in PROJECT["scripts"].items())


def test_the_workflow_runs_what_everybody_runs():
    assert "- run: .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_there_is_one_place_for_an_address():
    files = [
        path for pattern in ("*.md", ".github/**/*", "CITATION.cff") for path in ROOT.glob(pattern) if path.is_file()
    ]
    assert [path.name for path in files if "Contact:" in path.read_text(encoding="utf-8")] == ["SECURITY.md"]
    assert not [path.name for path in files if re.search(r"[\w.]+@[\w-]+\.\w", path.read_text(encoding="utf-8"))]
