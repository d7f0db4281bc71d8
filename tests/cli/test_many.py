"""Many files: counted one by one by any engine, as if they were one; continued, and named where they are broken."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import skfairtest.cli.many
from skfairtest import CountTable, FairnessTest
from skfairtest.cli.app import run
from skfairtest.cli.errors import BadInput
from skfairtest.cli.files import Columns, read_people
from skfairtest.cli.many import Entry, Question, files_of, state_of
from skfairtest.readers import ScoreBins

ROOT = Path(__file__).parents[2]
MODULES = {"polars": "polars", "duckdb": "duckdb", "spark": "pyspark"}
LABELS = ["--y-true", "truth", "--y-pred", "pred"]
ASKED = [*LABELS, "--sensitive", "sex"]
NAMES = ["f", "01", "1", "NA", "nan", "日本", 'a "b", c', "x\ny", " ", "d'e"]


@pytest.fixture(params=[None, "polars", "duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def engine(request):
    """The options that name an engine, or none for the reader in memory."""
    if request.param is None:
        return []
    pytest.importorskip(MODULES[request.param])
    if request.param == "duckdb":
        require_narwhals_2()
    if request.param == "spark" and not (os.environ.get("JAVA_HOME") or any_java()):
        pytest.skip("Spark needs Java, such as Debian's openjdk-17-jre-headless")
    return ["--engine", request.param]


def any_java():
    return any(os.access(Path(folder) / "java", os.X_OK) for folder in os.environ.get("PATH", "").split(os.pathsep))


def require_narwhals_2():
    narwhals = pytest.importorskip("narwhals")
    if int(narwhals.__version__.partition(".")[0]) < 2:
        pytest.skip("DuckDB needs narwhals 2, which its extra brings")


def people(n=400, seed=0, names=("f", "m")):
    rng = np.random.default_rng(seed)
    score = rng.random(n) ** (1 + seed)
    return pd.DataFrame(
        {
            "id": [f'{i}, "{i}"' for i in range(n)],
            "sex": rng.choice(names, n),
            "age": rng.choice(["old", "young"], n),
            "truth": rng.integers(0, 2, n),
            "pred": rng.integers(0, 2, n),
            "score": score,
            "weight": rng.integers(1, 4, n),
        }
    )


@pytest.fixture
def folder(tmp_path):
    """Four files of one table, each of another kind; the groups have names that readers take for something else."""
    parts = [people(seed=seed, names=NAMES) for seed in range(4)]
    (tmp_path / "data" / "deeper").mkdir(parents=True)
    parts[0].to_csv(tmp_path / "data" / "[a] *.csv", index=False)
    (tmp_path / "data" / "b.csv.gz").write_bytes(gzip.compress(parts[1].to_csv(index=False).encode()))
    parts[2].to_csv(tmp_path / "data" / "deeper" / "c.tsv", index=False, sep="\t")
    parts[3].to_parquet(tmp_path / "data" / "deeper" / "d.parquet")
    return tmp_path / "data"


@pytest.fixture
def everybody(folder):
    return pd.concat([people(seed=seed, names=NAMES) for seed in range(4)])


def count(pattern, *options, output):
    return run(["count", str(pattern), *options, "--output", str(output)])


def expected(frame, features=("sex",)):
    return CountTable.from_predictions(
        frame["truth"].to_numpy(), frame["pred"].to_numpy(), sensitive_features=frame[list(features)]
    )


def said(capsys):
    """Return the lines on standard error."""
    return capsys.readouterr().err.splitlines()


def edited(path):
    """Put nonsense into a file that looks untouched: the same size, the same time of its last change."""
    state = path.stat()
    path.write_bytes(b"\0" * state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def stopped(*_):
    raise AssertionError("a file is read that is in the cache")


# What is counted ------------------------------------------------------------------------------


def test_files_of_all_kinds_are_counted_as_one_table(folder, everybody, engine, tmp_path, capsys):
    output = tmp_path / "table.json"
    assert count(folder / "**" / "*.*", *ASKED, "--sensitive", "age", *engine, output=output) == 0
    assert "1,600 people" in capsys.readouterr().out
    table = CountTable.load(output)
    assert table == expected(everybody, ("sex", "age"))
    assert table.labels == [0, 1]
    assert [type(label) for label in table.labels] == [int, int]


def test_weights_and_scores_are_numbers_also_where_they_are_groups(folder, everybody, engine, tmp_path, capsys):
    columns = ["--y-score", "rank", "--weight", "rank", "--sensitive", "rank", "--threshold", "2"]
    for place in range(2):
        everybody[place::2].rename(columns={"weight": "rank"}).to_csv(tmp_path / f"{place}.csv", index=False)
    output = tmp_path / "table.parquet"
    assert count(tmp_path / "*.csv", "--y-true", "truth", *columns, *engine, output=output) == 0
    rows = everybody.assign(y_pred=(everybody["weight"] >= 2).astype(int), y_true=everybody["truth"])
    rows["rank"] = rows["weight"].astype(str)
    grouped = rows.groupby(["rank", "y_true", "y_pred"])["weight"]
    sums = pd.DataFrame({"count": grouped.size(), "weight": grouped.sum().astype(float)})
    sums["squared_weight"] = grouped.agg(lambda weights: float((weights**2).sum()))
    found = CountTable.load(output).to_frame()
    pd.testing.assert_frame_equal(found, sums.reset_index(), check_dtype=False)
    capsys.readouterr()


def test_an_audit_of_many_files_is_that_of_one(folder, everybody, engine, tmp_path, capsys):
    everybody.to_csv(tmp_path / "one.csv", index=False)
    options = [*LABELS, "--sensitive", "age", "--metric", "accuracy", "--json"]
    assert run(["audit", str(folder / "**" / "*.*"), *options, str(tmp_path / "many.json"), *engine]) == 0
    assert run(["audit", str(tmp_path / "one.csv"), *options, str(tmp_path / "one.json")]) == 0
    many, one = (json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in ("many.json", "one.json"))
    assert many["parts"] == one["parts"]
    assert "counted in 4 files; true labels in truth, predictions in pred" in many["about"][0]
    capsys.readouterr()


def test_truth_beside_predictions_by_a_threshold_is_0_and_1(engine, tmp_path, capsys):
    (tmp_path / "a.csv").write_text("g,s,y\na,0.1,False\nb,0.9,TRUE\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("g,s,y\na,0.5,1\nb,0.2,0\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("g,s,y\na,0.5,good\nb,0.2,bad\n", encoding="utf-8")
    pd.DataFrame({"g": ["a"], "s": [0.3], "y": [True]}).to_parquet(tmp_path / "d.parquet")
    options = ["--y-true", "y", "--y-score", "s", "--sensitive", "g", "--threshold", "0.5", *engine]
    assert count(tmp_path / "*.*", *options, output=tmp_path / "t.json") == 2
    assert f"skfairtest: {tmp_path / 'c.csv'}: " in said(capsys)[-1]
    table = CountTable.load(tmp_path / "t.json")
    assert [(cell, int(table.counts[..., place].sum())) for place, cell in enumerate(table.cells)] == [
        ((0, 0), 2),
        ((1, 0), 1),
        ((1, 1), 2),
    ]
    assert [type(label) for label in table.labels] == [int, int]


def test_labels_have_the_type_of_all_files_together(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("g,p\na,0\nb,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("g,p\na,0\nb,unknown\n", encoding="utf-8")
    assert count(tmp_path / "*.csv", "--y-pred", "p", "--sensitive", "g", output=tmp_path / "t.json") == 0
    assert CountTable.load(tmp_path / "t.json").labels == ["0", "1", "unknown"]
    capsys.readouterr()


def test_text_in_one_file_and_numbers_in_another_are_not_two_groups(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("g,p\n1,0\n2,1\n", encoding="utf-8")
    pd.DataFrame({"g": [1, 2], "p": [0, 1]}).to_parquet(tmp_path / "b.parquet")
    assert count(tmp_path / "*.*", "--y-pred", "p", "--sensitive", "g", output=tmp_path / "t.json") == 2
    (line,) = said(capsys)
    assert "column 'g' holds text in some files and numbers in others" in line


def test_a_file_that_is_named_twice_counts_once(folder, tmp_path, capsys):
    (tmp_path / "link.parquet").symlink_to(folder / "deeper" / "d.parquet")
    paths = [str(folder / "deeper" / "*.parquet"), str(folder / "deeper" / "d.parquet"), str(tmp_path / "link.parquet")]
    assert len(files_of(paths)) == 1
    with pytest.raises(BadInput, match="no file matches"):
        files_of([str(tmp_path / "*.orc")])


def test_a_file_called_like_a_pattern_does_not_hide_what_the_pattern_matches(tmp_path):
    for name in ("a.csv", "*.csv", "[a] x.csv", "[b].csv"):
        (tmp_path / name).touch()
    files = [str(tmp_path / name) for name in ("*.csv", "[a] x.csv", "[b].csv", "a.csv")]
    assert files_of([str(tmp_path / "*.csv")]) == files
    assert files_of(files[1:3]) == files[1:3]
    (tmp_path / "b.csv").touch()
    with pytest.raises(BadInput, match=r"is the name of a file, and a pattern that matches others, such as .*b\.csv"):
        files_of([files[2]])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"sex,truth,pred\nf,1,1\nm,0\n", None),
        (b"sex,truth,pred\nf,1,1\nm,0,1,1\n", None),
        (b"sex,truth,pred\nf\xff,1,1\nm,0,1\n", None),
        (b'sex,truth,pred\nf,1,1\n"m,0,1\n', None),
        (b"sex,truth,pred\nf,1,1\n,0,1\n", "--sensitive (column 'sex') has 1 missing value among 2"),
        (b'sex,truth,pred\nf,1,""\nm,0,1\n', "--y-pred (column 'pred') has 1 missing value among 2"),
        (b"sex,truth,predicted\nf,1,1\n", "there is no column 'pred' (--y-pred)"),
        (b"sex,sex,truth,pred\nf,m,1,1\n", "2 columns are named 'sex'"),
        (b"", "the file is empty"),
        (b"PAR1 broken", "not a readable Parquet file"),
    ],
)
def test_what_is_broken_is_named_and_the_others_are_counted(content, says, engine, tmp_path, capsys):
    people().to_csv(tmp_path / "a.csv", index=False)
    broken = tmp_path / "b.csv"
    broken.write_bytes(content)
    assert count(tmp_path / "*.csv", *ASKED, *engine, output=tmp_path / "t.json") == 2
    (line,) = [line for line in said(capsys) if line.startswith("skfairtest")]
    assert re.match(rf"skfairtest: {re.escape(str(broken))}(, line 3)?: .+", line)
    if says is not None and (engine or "missing" not in says):
        assert says in line
    assert CountTable.load(tmp_path / "t.json") == expected(people())


def test_an_engine_reads_the_encodings_that_it_knows_and_refuses_the_others(engine, tmp_path, capsys):
    text = "sex,truth,pred\n" + "é,0,1\né,1,1\nm,1,0\nm,0,0\n" * 3
    all_known = not engine or "polars" in engine
    table = tmp_path / "utf-8.json"
    (tmp_path / "utf-8.csv").write_text(text, encoding="utf-8")
    assert count(tmp_path / "utf-8.csv", *ASKED, *engine, output=table) == 0
    for encoding in ("latin-1", "utf-16", "cp1252"):
        path, output = tmp_path / f"{encoding}.csv", tmp_path / f"{encoding}.json"
        path.write_bytes(text.encode(encoding))
        capsys.readouterr()
        status = count(path, *ASKED, *engine, "--encoding", encoding, output=output)
        if all_known or encoding != "cp1252":
            assert status == 0, said(capsys)
            assert CountTable.load(output) == CountTable.load(table)
        else:
            assert status == 2
            (line,) = said(capsys)
            assert f"--encoding cp1252: --engine {engine[1]} reads" in line
    capsys.readouterr()
    assert count(tmp_path / "latin-1.csv", *ASKED, *engine, output=tmp_path / "x.json") == 2
    (line,) = said(capsys)
    assert "is not UTF-8 text (byte 0xe9 at offset 15, in line 2): name its encoding by --encoding" in line


def test_a_table_in_the_cache_belongs_to_an_encoding(tmp_path, capsys):
    path, cache = tmp_path / "p.csv", str(tmp_path / "cache")
    path.write_bytes("sex,truth,pred\né,0,1\né,1,1\nm,1,0\nm,0,0\n".encode())
    groups = []
    for encoding in ("utf-8", "latin-1"):
        output = tmp_path / f"{encoding}.json"
        assert count(path, *ASKED, "--cache", cache, "--encoding", encoding, output=output) == 0
        groups.append({str(group) for group in CountTable.load(output).group_labels})
    assert groups == [{"é", "m"}, {"Ã©", "m"}]
    capsys.readouterr()


def test_numbers_that_are_none_are_named(engine, tmp_path, capsys):
    people().to_csv(tmp_path / "a.csv", index=False)
    people().astype({"weight": object}).assign(weight="much").to_csv(tmp_path / "b.csv", index=False)
    assert count(tmp_path / "*.csv", *ASKED, "--weight", "weight", *engine, output=tmp_path / "t.json") == 2
    (line,) = [line for line in said(capsys) if line.startswith("skfairtest")]
    assert line.startswith(f"skfairtest: {tmp_path / 'b.csv'}")


def test_a_report_says_what_is_not_part_of_it(tmp_path, capsys):
    people().assign(pred=lambda frame: (frame["sex"] == "f").astype(int)).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "b.csv").write_text("nothing\n", encoding="utf-8")
    record = tmp_path / "audit.json"
    assert run(["audit", str(tmp_path / "*.csv"), *ASKED, "--json", str(record)]) == 2
    out, err = capsys.readouterr()
    assert "a significant disparity, more than chance explains" in out
    assert f"skfairtest: {tmp_path / 'b.csv'}: there is no column 'truth'" in err
    (warning,) = json.loads(record.read_text(encoding="utf-8"))["warnings"]
    assert warning == f"1 file is not part of this, because of errors: '{tmp_path / 'b.csv'}'"


def test_where_no_file_can_be_read_nothing_is_written(tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("nothing\n", encoding="utf-8")
    assert count(tmp_path / "*.csv", *ASKED, output=tmp_path / "t.json") == 2
    (line,) = said(capsys)
    assert "a.csv: there is no column 'truth'" in line
    assert "(and 1 other file cannot be read either)" in line
    assert not (tmp_path / "t.json").exists()


def test_a_failure_of_the_package_is_no_failure_of_a_file(folder, tmp_path, capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(skfairtest.cli.many.Question, "count", broken)
    assert count(folder / "*.gz", *ASKED, output=tmp_path / "t.json") == 3
    capsys.readouterr()


# Scores ------------------------------------------------------------------------------------------


def test_bins_of_many_files_are_those_of_all_their_people(tmp_path, engine, capsys):
    """The scores of each file lie elsewhere: bins of the first would tell nothing of the others."""
    rng = np.random.default_rng(0)
    scores = [rng.random(3000) / 100, 0.5 + rng.random(3000) / 3, rng.random(3000) ** 40]
    frames = [
        pd.DataFrame({"g": list("ab") * 1500, "s": s, "y": (rng.random(3000) < 0.2 + 0.6 * s).astype(int)})
        for s in scores
    ]
    for place, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{place}.parquet")
    options = ["--y-true", "y", "--y-score", "s", "--sensitive", "g", *engine]
    output = tmp_path / "t.json"
    assert count(tmp_path / "*.parquet", *options, "--score-bins", "200", output=output) == 0
    table = CountTable.load(output)
    everybody = pd.concat(frames)
    people_in_bins = table.marginal("y_score").regroup(control_features=()).counts.sum(axis=(0, 1))
    assert 150 <= len(table.score_bins) <= 200
    # A bin of 200 has 45 people; a quantile is off by a bin of the 800 of one file at most, here four people.
    assert people_in_bins.max() <= 45 + 3 * 4 + 2
    test = FairnessTest.from_table(table, metric="roc_auc", n_resamples=19, random_state=0)
    values = test.by_group_["value"]
    for group in "ab":
        own = everybody[everybody["g"] == group]
        assert values.loc[group] == pytest.approx(roc_auc_score(own["y"], own["s"]), abs=2e-3)
    capsys.readouterr()


def test_few_scores_have_a_bin_each_in_many_files():
    low, high = np.array([0.1, 0.2]), np.array([0.2, 0.7])
    parts = [(ScoreBins(each[1:], each, each, each, 6, True), np.array([3, 4])) for each in (low, high)]
    bins = ScoreBins.pooled(parts, 10)
    assert bins.values.tolist() == [0.1, 0.2, 0.7]
    assert bins.exact


def test_bins_may_be_those_of_another_table(folder, tmp_path, capsys):
    options = ["--y-true", "truth", "--y-score", "score", "--sensitive", "age"]
    first, second, both = tmp_path / "1.json", tmp_path / "2.json", tmp_path / "both.parquet"
    assert count(folder / "*.gz", *options, "--score-bins", "8", output=first) == 0
    assert count(folder / "*.csv", *options, "--score-bins", str(first), output=second) == 0
    assert run(["count", str(first), str(second), "-o", str(both)]) == 0
    assert CountTable.load(both) == CountTable.load(first) + CountTable.load(second)
    assert count(folder / "*.*", *options, "--score-bins", "0.25,0.5", output=first) == 0
    table, scores = CountTable.load(first), pd.concat([people(seed=0), people(seed=1)])["score"]
    assert table.score_bins.edges.tolist() == [0.25, 0.5]
    # What stands for a bin is the mean of the scores in it, here of rounded ones.
    bins = np.digitize(scores, [0.25, 0.5])
    np.testing.assert_allclose(table.score_bins.values, scores.groupby(bins).mean(), rtol=2**-10)
    assert table.marginal("y_score").counts.sum(axis=(0, 1)).tolist() == np.bincount(bins).tolist()
    capsys.readouterr()
    (tmp_path / "plain.json").write_bytes(b"{}")
    for bins, says in (
        ("many", "--score-bins must be a number"),
        ("1", "--score-bins must be at least 2"),
        (str(tmp_path / "plain.json"), "holds no table of counts"),
    ):
        assert count(folder / "*.csv", *options, "--score-bins", bins, output=first) == 2
        assert says in said(capsys)[-1]
    assert count(folder / "*.csv", *options, output=first) == 0
    assert count(folder / "*.csv", *options, "--score-bins", "8", "--y-pred", "pred", output=first) == 0
    assert count(folder / "*.csv", *ASKED, "--score-bins", "8", output=first) == 2
    assert "--score-bins needs scores: pass --y-score" in said(capsys)[-1]
    assert count(folder / "*.csv", *ASKED, "--y-score", "score", "--threshold", "0.5", output=first) == 2
    assert "--threshold makes predictions from --y-score: pass --y-score, and leave --y-pred out" in said(capsys)[-1]
    assert count(folder / "*.csv", *options, "--threshold", "nan", output=first) == 2
    assert "--threshold must be a number; found nan" in said(capsys)[-1]


# The cache ---------------------------------------------------------------------------------------


def test_a_file_that_is_counted_is_not_read_again(folder, everybody, engine, tmp_path, capsys, monkeypatch):
    if engine == ["--engine", "spark"]:
        pytest.skip("the cache does not depend on the engine, and Spark starts slowly")
    cache, output = ["--cache", str(tmp_path / "new" / "cache")], tmp_path / "table.json"
    pattern = folder / "**" / "*.*"
    assert count(pattern, *ASKED, *engine, *cache, output=output) == 0
    with monkeypatch.context() as patched:
        patched.setattr(skfairtest.cli.many.Question, "count", stopped)
        assert count(pattern, *ASKED, *engine, *cache, output=output) == 0
    assert CountTable.load(output) == expected(everybody)
    for path in folder.rglob("*.*"):
        edited(path)
    assert count(pattern, *ASKED, *engine, *cache, output=output) == 2
    capsys.readouterr()


def test_an_entry_of_another_question_or_that_is_a_folder_is_counted_again(folder, everybody, tmp_path, capsys):
    cache, output = tmp_path / "cache", tmp_path / "table.json"
    options = [*LABELS, "--cache", str(cache)]
    assert count(folder / "*.gz", *options, "--sensitive", "age", output=output) == 0
    (age,) = cache.iterdir()
    assert count(folder / "*.gz", *options, "--sensitive", "sex", output=output) == 0
    (sex,) = {*cache.iterdir()} - {age}
    sex.write_bytes(age.read_bytes())
    assert count(folder / "*.gz", *options, "--sensitive", "sex", output=output) == 0
    one = expected(people(seed=1, names=NAMES))
    assert CountTable.load(output) == one
    sex.unlink()
    sex.mkdir()
    capsys.readouterr()
    assert count(folder / "**" / "*.*", *options, "--sensitive", "sex", output=output) == 0
    assert CountTable.load(output) == expected(everybody)
    assert f"{sex} is a folder" in "".join(said(capsys))


def test_what_killed_runs_have_left_in_the_cache_is_swept(folder, tmp_path, capsys):
    cache, output = tmp_path / "cache", tmp_path / "table.json"
    cache.mkdir()
    left, written = (cache / f".x.counts.{digit * 32}" for digit in "0f")
    for path in (left, written):
        path.touch()
    os.utime(left, (0, 0))
    assert count(folder / "*.gz", *ASKED, "--cache", str(cache), output=output) == 0
    # Another process may be writing the younger one.
    assert (left.exists(), written.exists()) == (False, True)
    assert count(folder / "*.gz", *ASKED, "--cache", "", output=output) == 2
    assert "--cache is empty: name a folder" in said(capsys)[-1]


def test_a_run_with_a_broken_file_is_continued_when_it_is_repaired(folder, everybody, tmp_path, capsys):
    options = [*ASKED, "--score-bins", "4", "--y-score", "score", "--cache", str(tmp_path / "cache")]
    whole, output = tmp_path / "whole.json", tmp_path / "table.json"
    assert count(folder / "**" / "*.*", *options[:-2], output=whole) == 0
    path = folder / "deeper" / "c.tsv"
    content = path.read_bytes()
    path.write_bytes(content + b"\0\n")
    assert count(folder / "**" / "*.*", *options, output=output) == 2
    assert CountTable.load(output).n_samples == 1200
    path.write_bytes(content)
    assert count(folder / "**" / "*.*", *options, output=output) == 0
    assert CountTable.load(output) == CountTable.load(whole)
    capsys.readouterr()


def test_damaged_tables_in_the_cache_are_counted_again(folder, everybody, tmp_path, capsys):
    cache, output = tmp_path / "cache", tmp_path / "table.json"
    for _ in range(2):
        assert count(folder / "**" / "*.*", *ASKED, "--cache", str(cache), output=output) == 0
        assert CountTable.load(output) == expected(everybody)
        kept = list(cache.iterdir())
        assert len(kept) == 4
        for place, path in enumerate(kept):
            path.write_bytes(path.read_bytes()[: 100 * place])
    (tmp_path / "file").touch()
    assert count(folder / "*.csv", *ASKED, "--cache", str(tmp_path / "file" / "x"), output=output) == 2
    assert "--cache" in said(capsys)[-1]


def test_no_flipped_bit_of_an_entry_changes_a_count(folder, tmp_path, capsys):
    cache, output = tmp_path / "cache", tmp_path / "table.json"
    path = str(folder / "b.csv.gz")
    assert count(path, *ASKED, "--cache", str(cache), output=output) == 0
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    question = Question(Columns("truth", "pred", ("sex",)))
    entry = Entry(cache, path, state_of(path), question, "")
    table, is_text = entry.read()
    assert (table.counts.tolist(), is_text) == (CountTable.load(output).counts.tolist(), True)
    for place in range(len(content)):
        kept.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        assert entry.read() is None
    capsys.readouterr()


def test_a_file_that_changes_while_it_is_read_is_not_counted(folder, tmp_path, capsys, monkeypatch):
    real = skfairtest.cli.many.Question.count

    def slow(question, frame):
        with open(folder / "b.csv.gz", "ab") as file:
            file.write(gzip.compress(b"\n"))
        return real(question, frame)

    monkeypatch.setattr(skfairtest.cli.many.Question, "count", slow)
    cache = tmp_path / "cache"
    assert count(folder / "b.csv.gz", *ASKED, "--cache", str(cache), output=tmp_path / "t.json") == 2
    (line,) = said(capsys)
    assert line.endswith("b.csv.gz: changed while it was read: run the command again")
    assert not list(cache.iterdir())


def test_a_full_disk_is_no_failure_of_a_file(folder, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CountTable, "save", full)
    for options in (["--cache", str(tmp_path)], []):
        assert count(folder / "b.csv.gz", *ASKED, *options, output=tmp_path / "t.json") == 2
        (line,) = said(capsys)
        assert re.match(r"skfairtest: --(cache|output) \S+: No space left on device", line)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_stopped(tmp_path):
    pytest.importorskip("polars")
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    for place in range(200):
        people(50, seed=place % 7).to_parquet(data / f"{place:03}.parquet")
    options = [*ASKED, "--y-score", "score", "--score-bins", "0.2,0.4,0.6", "--weight", "weight", "--engine", "polars"]
    command = [sys.executable, "-m", "skfairtest", "count", str(data / "*.parquet"), *options]
    where = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}, "stdout": subprocess.DEVNULL}
    undisturbed, continued = tmp_path / "undisturbed.json", tmp_path / "continued.json"
    subprocess.run([*command, "-o", str(undisturbed)], check=True, **where)
    process = subprocess.Popen([*command, "-o", str(continued), "--cache", str(cache)], **where)
    while process.poll() is None and len(list(cache.glob("*.counts"))) < 260:  # 200 of the bins come first
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    finished = {path: path.stat().st_mtime_ns for path in cache.glob("*.counts")}
    assert 260 <= len(finished) < 400
    assert not continued.exists()
    subprocess.run([*command, "-o", str(continued), "--cache", str(cache)], check=True, **where)
    assert continued.read_bytes() == undisturbed.read_bytes()
    assert {path: path.stat().st_mtime_ns for path in finished} == finished


# Tables --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["table.json", "table.parquet"])
def test_an_audit_reads_a_table_by_its_content(name, folder, everybody, tmp_path, capsys):
    table, record = tmp_path / name, tmp_path / "audit.json"
    expected(everybody, ("age", "weight")).save(table)
    assert run(["audit", str(table), "--metric", "selection_rate", "--json", str(record), "--pos-label", "0"]) == 0
    found = json.loads(record.read_text(encoding="utf-8"))
    assert found["about"] == ["1,600 people; counted in 1 table of counts. The positive label is 0."]
    assert [part["sensitive"] for part in found["parts"]] == [["age"], ["weight"], ["age", "weight"]]
    options = ["--sensitive", "age", "--control", "weight", "--metric", "accuracy"]
    assert run(["audit", str(table), *options, "--json", str(record)]) == 0
    (part,) = json.loads(record.read_text(encoding="utf-8"))["parts"]
    assert part["sensitive"] == ["age"]
    capsys.readouterr()
    assert run(["audit", str(table), *LABELS, "--engine", "polars"]) == 2
    (line,) = said(capsys)
    assert "is a table of counts, which was made with its own: leave out --y-true, --y-pred, --engine" in line


def test_tables_are_added_and_prepared_for_sharing(folder, everybody, tmp_path, capsys):
    one, two, both = (tmp_path / name for name in ("1.json", "2.parquet", "both.json"))
    expected(everybody[:700], ("age",)).save(one)
    expected(everybody[700:], ("age",)).save(two)
    assert run(["count", str(one), str(two), "-o", str(both)]) == 0
    assert CountTable.load(both) == expected(everybody, ("age",))
    rare = pd.concat([everybody, everybody[:5].assign(age="unknown")])
    expected(rare, ("age",)).save(one)
    assert run(["count", str(one), "--minimum-cell", "10", "-o", str(both)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "left out: unknown, fewer than 10 people"
    assert CountTable.load(both).suppressed == (("unknown", None, 10),)
    assert run(["count", str(one), "--minimum-cell", "700", "-o", str(both)]) == 2
    assert "--minimum-cell" in said(capsys)[-1]


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_features_may_be_called_like_the_columns_of_a_stored_table(suffix, everybody, tmp_path):
    renamed = everybody.rename(columns={"age": "sex (code)", "weight": "y_true (code)"})
    table = expected(renamed, ("sex", "sex (code)", "y_true (code)"))
    table.save(tmp_path / f"t{suffix}")
    assert CountTable.load(tmp_path / f"t{suffix}") == table


def test_a_table_among_files_of_people_is_named(folder, everybody, tmp_path, capsys):
    expected(everybody).save(folder / "z.json")
    assert count(folder / "**" / "*.*", *ASKED, output=tmp_path / "t.json") == 2
    (line,) = said(capsys)
    assert line.startswith(f"skfairtest: {folder / 'z.json'}: is a table of counts, among files of people")
    assert CountTable.load(tmp_path / "t.json") == expected(everybody)
    assert run(["count", str(folder / "z.json"), str(folder / "zz.json"), "-o", str(tmp_path / "t.json")]) == 2
    assert "zz.json: No such file" in said(capsys)[-1]


# What is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit", "nothing/**/*.parquet", *ASKED], "nothing/**/*.parquet: no file matches this pattern"),
        (["audit", "DATA", *LABELS], "--sensitive is missing"),
        (["audit", "DATA", "--sensitive", "sex"], "--y-pred is missing"),
        (["audit", "DATA", *ASKED, "--cluster", "id"], "does not go with several files"),
        (["audit", "ONE", *ASKED, "--cluster", "id", "--cache", "c"], "does not go with --cache"),
        (["audit", "ONE", *ASKED, "--engine", "excel"], "engine"),
        (
            ["count", "DATA", *ASKED, "-o", "table.csv"],
            "--output table.csv: name a file that ends in .json",
        ),
        (["count", "DATA", *ASKED, "-o", "ONE"], "name a file that ends"),
        (["count", "DATA", *ASKED, "-o", "nowhere/t.json"], "there is no folder nowhere"),
        (["count", "DATA", *ASKED], "output"),
        (["count", "ONE", *LABELS, "--sensitive", "weight", "--weight", "weight", "-o", "t.json"], "rename it"),
        (["count", "DATA", *ASKED, "--sensitive", "sex", "-o", "t.json"], "named twice"),
    ],
)
def test_bad_input_is_one_line(arguments, says, folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = {"DATA": str(folder / "**" / "*.*"), "ONE": str(folder / "b.csv.gz")}
    assert run([places.get(argument, argument) for argument in arguments]) == 2
    (line,) = said(capsys)
    assert says in line


@pytest.mark.parametrize("name", list(MODULES))
def test_an_engine_that_is_not_installed_is_named_with_its_extra(name, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    assert count(folder / "*.gz", *ASKED, "--engine", name, output=tmp_path / "t.json") == 2
    (line,) = said(capsys)
    assert f'is not installed; run: python -m pip install "skfairtest[{name}]"' in line


def test_a_file_is_read_as_before_by_the_reader_in_memory(folder):
    """Labels of a single file have their types at once."""
    read = read_people(str(folder / "b.csv.gz"), Columns("truth", "pred", ("sex",)))
    assert read.y_true.dtype == np.int64
