"""The rooms of the package: what import-linter's layers do not see."""

import ast
from pathlib import Path

import skfairtest

ROOT = Path(skfairtest.__file__).parent


def _imports():
    """Yield (file, module, imported names) of each import of the package's own modules."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skfairtest."):
                yield path.relative_to(ROOT), node.module.split(".")[1:], [alias.name for alias in node.names]


def test_no_room_imports_what_is_private_to_another():
    found = [
        f"{path}: {'.'.join(module)} {names}"
        for path, module, names in _imports()
        if module[0] not in (path.parts[0], "_version") and any(name.startswith("_") for name in (*module[1:], *names))
    ]
    assert not found
