"""The rooms of the package: what import-linter's layers do not see."""

import ast
from functools import cache
from pathlib import Path

import skfairtest

ROOT = Path(skfairtest.__file__).parent


@cache
def _imports():
    """Return (file, module, imported names) of each import of the package's own modules."""
    return [
        (path.relative_to(ROOT), node.module.split(".")[1:], [alias.name for alias in node.names])
        for path in sorted(ROOT.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skfairtest.")
    ]


def test_no_room_imports_what_is_private_to_another():
    found = [
        f"{path}: {'.'.join(module)} {names}"
        for path, module, names in _imports()
        if module[0] not in (path.parts[0], "_version") and any(name.startswith("_") for name in (*module[1:], *names))
    ]
    assert not found


def test_no_modules_import_each_other():
    modules = {path.with_suffix("").parts: path for path in (p.relative_to(ROOT) for p in ROOT.rglob("*.py"))}
    needs = {module: set() for module in modules}
    for path, module, names in _imports():
        for found in [tuple(module), *((*module, name) for name in names)]:
            if found in modules:
                needs[path.with_suffix("").parts].add(found)
    # What imports nothing that is left is taken away until nothing can be.
    while free := [module for module, others in needs.items() if not others & needs.keys()]:
        for module in free:
            del needs[module]
    assert not needs, f"circles among {sorted(map('.'.join, needs))}"


def test_every_test_comes_to_its_verdict_and_its_warnings_in_one_place():
    """Only `judge` decides and warns; what decides without it warns of nothing, or shows no verdict of its own."""
    called = {"decide": set(), "warn_about_people": set(), "warn_about_resamples": set()}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in called:
                called[node.func.id].add(path.relative_to(ROOT).as_posix())
    engine = "comparisons/engine.py"
    # Bounds over unknown groups decide once more, and impact tables name those who are too few.
    assert called.pop("decide") == {engine, "comparisons/unknown.py", "audit/impact.py"}
    assert all(callers == {engine} for callers in called.values())


def test_what_is_public_is_listed_by_folders_only():
    """`__all__` stands where names are handed on, in ``__init__``; in a module an underscore says what is private."""
    listing = {path.name for path in ROOT.rglob("*.py") if "\n__all__ = " in path.read_text(encoding="utf-8")}
    assert listing == {"__init__.py"}
