"""Hold the size of the code to .ci/budget.toml: exit status 1 above a limit; --lower makes today's sizes the limits.

A code line holds a token and belongs to no docstring; a statement is one of Python's grammar, docstrings aside.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

BUDGET = Path(__file__).with_name("budget.toml")
ROOT = BUDGET.parents[1]
LAYOUT = {getattr(tokenize, kind) for kind in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}


def measure(source):
    """Count what one module holds."""
    counts, docstrings, code = Counter(files=1), set(), set()
    for node in ast.walk(ast.parse(source)):
        counts["statements"] += isinstance(node, ast.stmt)
        if isinstance(node, ast.ClassDef):
            counts["dataclasses"] += any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            counts["functions"] += 1
            parameters = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
            counts["functions of over 10 parameters"] += parameters > 10 and node.name not in {"__init__", "fit"}
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            counts.update({"statements": -1, "words of docstrings": len(text.split())})
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        code.update(range(token.start[0], token.end[0] + 1) if token.type not in LAYOUT else ())
    return counts + Counter(lines=len(code - docstrings))


counts = Counter()
tracked = map(Path, subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())
for name in filter(lambda name: (ROOT / name).is_file(), tracked):
    top, data = name.parts[0], (ROOT / name).read_bytes()
    text = data.decode() if name.suffix in {".py", ".md", ".rst"} else ""
    counts["bytes of JSON"] += len(data) if name.suffix == ".json" else 0
    counts["words of documentation"] += len(text.split()) if top == "doc" and name.suffix != ".py" else 0
    if name.suffix == ".py" and top in {"skfairtest", "tests", "benchmarks"}:
        measured = measure(text)
        folder = name.parts[1] if len(name.parts) > 2 and name.parts[1] != "datasets" else "the rest"
        counts.update(measured if top == "skfairtest" else {f"lines of {top}": measured["lines"]})
        counts.update({f"{folder}: {unit}": measured[unit] for unit in ("lines", "statements") if top == "skfairtest"})
budget, written = tomllib.loads(BUDGET.read_text(encoding="utf-8")), BUDGET.read_text(encoding="utf-8")
for name, (limit, goal) in budget.items():
    print(f"{name:40}{counts[name]:10,} now{limit:10,} limit{goal:10,} goal")
    written = re.sub(rf'(?m)^("{name}" = \[)\d+', rf"\g<1>{min(limit, counts[name])}", written)
if "--lower" in sys.argv:
    BUDGET.write_text(written, encoding="utf-8")
above = [name for name in counts if counts[name] > budget.get(name, (0,))[0]]
sys.exit(f"above the limit of .ci/budget.toml, or without one: {', '.join(above)}" if above else 0)
