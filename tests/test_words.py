"""The words of the project: one word for one thing, and none of those that the glossary has retired."""

import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
GLOSSARY = HERE / "retired_words.toml"
PAGES = {".md", ".rst", ".j2", ".toml", ".cfg", ".html", ".yml", ".yaml", ".cff"}
#: Built, or kept as they were found.
SKIPPED = {"auto_examples", "generated", "results", "_build", "site", "node_modules"}


def prose_of(path):
    """Return the text of a file; of Python, its comments and strings, with everything else blank."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    written = text.splitlines()
    lines = [[" "] * len(line) for line in written]
    kept = {tokenize.OP, tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kept and (token.type != tokenize.OP or token.string == ","):  # what separates strings
            (first, start), (last, end) = token.start, token.end
            for row in range(first, last + 1):
                own = written[row - 1]
                a, b = (start if row == first else 0), (end if row == last else len(own))
                lines[row - 1][a:b] = own[a:b]
    # What stands in braces is code; most of a file is blank now.
    prose = re.sub(r"\{[^{}\n]*\}", "_", "\n".join("".join(line) for line in lines))
    return re.sub(" {2,}", " ", prose)


def files(folders):
    """The files with prose in these folders and beside them."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in PAGES | {".py"}]
    found += [path for path in ROOT.iterdir() if path.suffix in PAGES]
    return sorted(
        path
        for path in found
        if path not in (GLOSSARY, Path(__file__)) and not SKIPPED & set(path.relative_to(ROOT).parts)
    )


def compiled(pattern):
    """Return a pattern whose spaces are any white space, also between lines of a comment or of a string."""
    return re.compile(pattern.replace(" ", r"[\s#\"']+"), re.IGNORECASE)


RETIRED = tomllib.loads(GLOSSARY.read_text(encoding="utf-8"))["retired"]


@pytest.mark.parametrize("word", RETIRED, ids=lambda word: word["example"])
def test_a_pattern_finds_its_example_and_not_what_to_say_instead(word):
    found = compiled(word["pattern"])
    assert found.search(word["example"])
    assert not found.search(word["instead"])


def test_strings_and_comments_of_python_are_prose_and_names_are_not(tmp_path):
    path = tmp_path / "a.py"
    path.write_text('whoever = f"a {whoever} b"  # of\nx = ["false", "concern"]\ny = ("a "\n  "c")\n', encoding="utf-8")
    prose = prose_of(path)
    assert "whoever" not in prose
    assert "# of" in prose
    assert not compiled("false concern").search(prose)
    assert compiled("a c").search(prose)


def test_no_retired_word_is_used(thorough):
    read, found = 0, []
    for path in files(("skfairtest", "doc", "examples") + (("benchmarks", "tests") if thorough else ())):
        name = path.relative_to(ROOT).as_posix()
        read, prose = read + 1, prose_of(path)
        for word in RETIRED:
            for match in compiled(word["pattern"]).finditer(prose):
                line = prose.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {' '.join(match[0].split())!r}; say: {word['instead']}")
    assert read > 200
    assert not found, "\n".join(found)
