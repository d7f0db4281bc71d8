"""The words of the project: one word for one thing, and none of those that the glossary has retired."""

import io
import tokenize
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
GLOSSARY = HERE / "retired_words.toml"
PAGES = {".md", ".rst", ".j2", ".toml", ".cfg", ".html", ".yml", ".yaml", ".cff"}
#: Built, or kept as they were found.
SKIPPED = {"auto_examples", "results", "_build", "site", "node_modules"}
#: Their sentences are still to be rewritten; nothing else may be added here.
PENDING = (
    "skfairtest/individual", "skfairtest/cli", "skfairtest/readers", "skfairtest/tables", "tests/individual", "tests/cli",
    "tests/readers", "tests/tables", "doc/individual.md", "doc/guide/scale.md", "doc/command_line.md",
)  # fmt: skip


def prose_of(path):
    """Return the text of a file; of Python, its comments and strings, with everything else blank."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    lines = [[" "] * len(line) for line in text.splitlines()]
    kept = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kept:
            (first, start), (last, end) = token.start, token.end
            for row in range(first, last + 1):
                own = text.splitlines()[row - 1]
                a, b = (start if row == first else 0), (end if row == last else len(own))
                lines[row - 1][a:b] = own[a:b]
    return "\n".join("".join(line) for line in lines)


def files():
    """Return every file with prose."""
    folders = ("skfairtest", "doc", "benchmarks", "examples", "tests")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in PAGES | {".py"}]
    found += [path for path in ROOT.iterdir() if path.suffix in PAGES]
    return sorted(path for path in found if path != GLOSSARY and not SKIPPED & set(path.relative_to(ROOT).parts))
