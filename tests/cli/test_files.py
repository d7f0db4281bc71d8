"""Reading: what is in the file is what is tested."""

import gzip
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable
from skfairtest.cli.errors import BadInput
from skfairtest.cli.files import Columns, cast_pos_label, read_people
from skfairtest.cli.header import column_names

COLUMNS = Columns("truth", "pred", ("sex",))
TEXT = "id,sex,truth,pred\n1,f,0,1\n2,m,1,1\n3,f,1,0\n4,m,0,0\n"
EXPECTED = CountTable.from_predictions(
    [0, 1, 1, 0], [1, 1, 0, 0], sensitive_features=pd.DataFrame({"sex": ["f", "m", "f", "m"]})
)


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return str(path)


def counted(path, columns=COLUMNS):
    """Return the people of a file as a table of counts."""
    people = read_people(str(path), columns)
    return CountTable.from_predictions(
        people.y_true,
        people.y_pred,
        sensitive_features=people.sensitive,
        control_features=people.control or None,
    )


def read(tmp_path, text, columns=COLUMNS, name="people.csv"):
    return counted(written(tmp_path / name, text), columns)


def test_a_csv_file_is_counted(tmp_path):
    assert read(tmp_path, TEXT) == EXPECTED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.tsv", TEXT.replace(",", "\t")),
        ("p.csv", TEXT.replace(",", ";")),
        ("p.csv", TEXT.replace(",", "|")),
        ("p.csv", "\ufeff" + TEXT),
        ("p.csv", TEXT.replace("\n", "\r\n")),
        ("p.csv", TEXT.replace("\n", "\r")),
        ("p.csv", "\n\n" + TEXT.replace("\n", "\n\n")),
        ("p.csv", TEXT.rstrip("\n")),
        ("p.csv", '"' + TEXT.replace(",", '","').replace("\n", '"\n"').rstrip('"')),
        ("p.csv", TEXT.replace("id,", '"the\nid",')),
        ("p", TEXT),
    ],
)
def test_separators_line_ends_and_quotes_do_not_matter(tmp_path, name, text):
    assert read(tmp_path, text, name=name) == EXPECTED


@pytest.mark.parametrize("name", ["p.csv.gz", "p.CSV.GZ", "p.csv"])
def test_gzip_is_recognised_also_by_its_first_bytes(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert counted(path) == EXPECTED


@pytest.mark.parametrize("name", ["p.parquet", "p.pq", "no_extension"])
def test_parquet_is_recognised_also_by_its_first_bytes(tmp_path, name):
    path = tmp_path / name
    EXPECTED.expand().sensitive_features.assign(
        truth=EXPECTED.expand().y_true, pred=EXPECTED.expand().y_pred
    ).to_parquet(path)
    assert counted(path) == EXPECTED


def test_parquet_keeps_its_types_and_an_empty_text_is_a_group(tmp_path):
    path = tmp_path / "p.parquet"
    frame = pd.DataFrame({"a.b": ["", "x", "", "x"], "age": [1, 2, 1, 2], "p": [True, False, True, True]})
    frame["p"] = frame["p"].astype("category")
    frame.to_parquet(path)
    table = counted(path, Columns(None, "p", ("a.b", "age")))
    assert table.groups == (("", 1), ("x", 2))
    assert table.labels == [False, True]


def test_only_an_empty_field_is_missing_and_groups_are_text_as_written(tmp_path):
    names = ["NA", "None", "null", "nan", "N/A", "01", "1", "1.0", "True", " x", "-"]
    rows = [f"{name},{label}" for name in names for label in (0, 1)]
    table = read(tmp_path, "g,p\n" + "\n".join(rows), Columns(None, "p", ("g",)))
    assert sorted(table.group_labels) == sorted(names)
    assert (table.counts == 1).all()


def test_control_columns_are_text_too(tmp_path):
    table = read(tmp_path, "g,c,p\na,01,0\nb,1,1\n", Columns(None, "p", ("g",), ("c",)))
    assert table.strata == (("01",), ("1",))


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["0", "1"], [0, 1]),
        (["0.0", "1.0"], [0.0, 1.0]),
        (["True", "False"], [False, True]),
        (["TRUE", "false"], [False, True]),
        (["yes", "no"], ["no", "yes"]),
        (["0", "yes"], ["0", "yes"]),
        (["NA", "yes"], ["NA", "yes"]),
        (["-1", "1"], [-1, 1]),
        (['"a,b"', '"c\nd"'], ["a,b", "c\nd"]),
        ([" no", "yes"], [" no", "yes"]),
    ],
)
def test_labels_get_the_type_that_pandas_infers(tmp_path, texts, labels):
    table = read(
        tmp_path, "g,p\n" + "".join(f"{g},{text}\n" for g in "ab" for text in texts), Columns(None, "p", ("g",))
    )
    assert table.labels == labels
    assert [type(label) for label in table.labels] == [type(label) for label in labels]


def test_a_column_may_be_a_group_and_a_label(tmp_path):
    table = read(tmp_path, "g,p\n01,1\n1,1\n1,0\n", Columns("g", "p", ("g",)))
    assert table.group_labels == ["01", "1"]
    assert table.labels == [0, 1]


def test_columns_with_the_names_of_roles_and_counts_are_columns(tmp_path):
    table = read(tmp_path, "count,_,y_pred,y_true\n1,a,0,1\n0,b,1,1\n", Columns("count", "y_true", ("_",)))
    assert table.groups == (("a",), ("b",))
    assert table.cell_names == ("y_true", "y_pred")


def test_a_fifo_is_read_once(tmp_path):
    import os

    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    assert counted(path) == EXPECTED
    writer.join()


def test_a_long_field_elsewhere_does_not_disturb_and_the_limit_is_restored(tmp_path):
    import csv

    before = csv.field_size_limit()
    assert read(tmp_path, TEXT.replace("\n1,", "\n" + "x" * 300_000 + ",")) == EXPECTED
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("id,sex,truth,pred\n", "has a header but no rows"),
        (TEXT + "5,f,1\n", "line 6: 3 fields, where the header has 4"),
        (TEXT + "5,f,1,1,1\n", "line 6: 5 fields, where the header has 4"),
        (TEXT + '5,f,1,"1\n6,f,1,1\n', "a quoted value is never closed"),
        (TEXT + '5,"f"x,1,1\n', "line 6: malformed"),
        (TEXT + "5,,1,1\n6,,1,1\n", "2 of 6 values are missing in column 'sex' (--sensitive)"),
        (TEXT + '5,"",1,1\n', "1 of 5 values is missing in column 'sex'"),
        (TEXT + "5,f,,1\n", "column 'truth' (--y-true)"),
        (TEXT.replace("id", "sex"), "2 columns are named 'sex'"),
        (TEXT.replace("sex", "Sex"), "no column 'sex' (--sensitive); did you mean 'Sex'? the columns are 'id', 'Sex'"),
        (TEXT.replace("sex", "city"), "there is no column 'sex' (--sensitive); the columns are 'id', 'city'"),
        (TEXT.replace("sex", "gender").replace(",", ";"), "separated by ';'"),
    ],
)
def test_what_is_wrong_with_a_text_file_is_said(tmp_path, text, says):
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert says in str(error.value)
    assert "people.csv" in str(error.value)


@pytest.mark.parametrize("missing", ["nan", "NaN", "NA", "null"])
def test_a_word_for_missing_among_numbers_is_no_label(tmp_path, missing):
    text = TEXT.replace("3,f,1,0", f"3,f,1,{missing}")
    with pytest.raises(
        BadInput, match=rf"column 'pred' \(--y-pred\) holds numbers and '{missing}': leave these rows out"
    ):
        read(tmp_path, text)


def test_a_wide_file_lists_its_first_columns(tmp_path):
    header = ",".join(f"c{i}" for i in range(500))
    with pytest.raises(BadInput, match=r"\(500 in all\)"):
        read(tmp_path, header + "\n")


ACCENTED = TEXT.replace("f,", "é,")


@pytest.mark.parametrize("begun", [0, 1 << 16, 100_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_first_byte_that_is_not_text_is_named(tmp_path, begun, pack):
    path = tmp_path / "p.csv"
    head, row = "sex,truth,pred\n", "f,0,1\n"
    rows = begun // len(row)
    text = head + row * rows + "é,0,1\n"
    path.write_bytes(pack(text.encode("latin-1")))
    expected = f"byte 0xe9 at offset {text.index('é'):,}, in line {rows + 2:,}"
    with pytest.raises(
        BadInput, match=f"is not UTF-8 text .{expected}.: name its encoding by --encoding, such as cp1252"
    ):
        counted(path)


def test_a_file_that_ends_in_a_character_is_not_text(tmp_path):
    path = tmp_path / "p.csv"
    content = TEXT.encode() + "5,é".encode()[:-1]
    path.write_bytes(content)
    with pytest.raises(BadInput, match=f"byte 0xc3 at offset {len(content) - 1}, in line 6"):
        counted(path)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "iso8859-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz"])
def test_text_is_read_in_the_encoding_that_is_named(tmp_path, encoding, mark, name):
    if mark and not encoding.startswith("utf"):
        mark = ""
    path = tmp_path / name
    content = (mark + ACCENTED).encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    columns = replace(COLUMNS, encoding=encoding)
    assert counted(path, columns) == read(tmp_path, ACCENTED, name="q.csv")
    assert column_names(str(path), encoding) == ["id", "sex", "truth", "pred"]


@pytest.mark.parametrize(
    ("encoding", "read_as", "says"),
    [
        ("utf-16", "utf-8", "it begins like UTF-16: give --encoding utf-16"),
        ("utf-32", "utf-8", "it begins like UTF-32: give --encoding utf-32"),
        ("utf-16-le", "utf-16", "has no byte order mark: give --encoding utf-16-le or utf-16-be"),
        ("utf-8", "ascii", "is not ASCII text .byte 0xc3 at offset"),
    ],
)
def test_text_in_another_encoding_than_the_named_one_is_refused(tmp_path, encoding, read_as, says):
    path = tmp_path / "p.csv"
    path.write_bytes(ACCENTED.encode(encoding))
    with pytest.raises(BadInput, match=says):
        counted(path, replace(COLUMNS, encoding=read_as))


def test_wide_characters_without_a_mark_are_no_names_of_columns(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(TEXT.encode("utf-16-le"))
    with pytest.raises(BadInput, match="null characters: if it is UTF-16 text, give --encoding utf-16-le"):
        counted(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.parquet", b"no parquet at all"),
        ("p.parquet", b""),
        ("p.csv", b"PAR1 and then nothing"),
        ("p.csv.gz", TEXT.encode()),
        ("p.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-9]),
        ("p.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:12] + b"\xff" * 30),
        ("p.csv", b"PK\x03\x04" + bytes(100)),
        ("p.csv", b"BZh9" + bytes(100)),
        ("p.csv", b"x" * (1 << 24)),
        ("p.csv", TEXT.encode("utf-16")),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput):
        counted(path)


@pytest.mark.parametrize("path", ["nowhere.csv", ".", "a\0b"])
def test_a_path_that_cannot_be_opened_is_refused(path):
    with pytest.raises(BadInput):
        counted(path)


def test_missing_values_and_columns_of_parquet_are_named(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"sex": ["f", None], "pred": [1.0, np.nan]}).to_parquet(path)
    with pytest.raises(BadInput, match=r"1 of 2 values is missing in column 'pred' \(--y-pred\)"):
        counted(path, Columns(None, "pred", ("sex",)))
    with pytest.raises(BadInput, match=r"there is no column 'prad'.*did you mean 'pred'"):
        counted(path, Columns(None, "prad", ("sex",)))


PEOPLE = pd.DataFrame(
    {
        "g": ["b", "a", "b"],
        "y": [1, 0, 1],
        "p": [True, False, True],
        "s": [0.1, 1 / 3, 2.5e-300],
        "w": [2, 1, 3],
        "c": ["x", "y", "x"],
        "t": [0.1, 0.30000000000000004, -1e22],
    }
)
EVERYTHING = Columns("y", "p", ("g",), ("c",), y_score="s", weight="w", cluster="c")


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet"])
def test_scores_weights_and_clusters_are_read_beside_labels(tmp_path, name):
    path = tmp_path / name
    PEOPLE.to_parquet(path) if name.endswith("parquet") else PEOPLE.to_csv(path, index=False)
    people = read_people(str(path), EVERYTHING)
    assert people.n_samples == 3
    assert people.y_true.tolist() == [1, 0, 1]
    assert people.y_pred.tolist() == [True, False, True]
    assert people.sensitive["g"].tolist() == ["b", "a", "b"]
    assert people.control["c"].tolist() == ["x", "y", "x"]
    assert people.cluster.name == "c"
    assert people.cluster.tolist() == ["x", "y", "x"]
    assert people.y_score.tolist() == PEOPLE["s"].tolist()
    assert people.weight.tolist() == [2.0, 1.0, 3.0]
    assert people.labels == [0, 1]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_targets_of_a_regression_are_exact(tmp_path, name):
    path = tmp_path / name
    PEOPLE.to_parquet(path) if name.endswith("parquet") else PEOPLE.to_csv(path, index=False)
    people = read_people(str(path), Columns("t", "s", ("g",)))
    assert people.y_true.tolist() == PEOPLE["t"].tolist()
    assert people.y_pred.tolist() == PEOPLE["s"].tolist()


def test_a_column_may_be_a_score_and_a_label_and_a_group(tmp_path):
    path = tmp_path / "p.csv"
    PEOPLE.to_csv(path, index=False)
    for name in ("p.csv", "p.parquet"):
        PEOPLE.to_parquet(tmp_path / "p.parquet")
        people = read_people(str(tmp_path / name), Columns("y", "w", ("w",), y_score="w", weight="w"))
        assert people.y_pred.tolist() == [2, 1, 3]
        assert people.y_score.tolist() == people.weight.tolist() == [2.0, 1.0, 3.0]
        assert list(map(str, people.sensitive["w"])) == ["2", "1", "3"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("g,p,w\na,1,1\nb,0,two\n", "p.csv, line 3: 'two' in column 'w' (--weight) is not a number"),
        ("g;p;w\na;1;0,5\n", "p.csv, line 2: '0,5' in column 'w' (--weight) is not a number: write decimals with a p"),
        ("g,p,w\na,1,1\nb,0,\n", "1 of 2 values is missing in column 'w' (--weight): leave these rows out"),
        ("g,p,w\na,1,nan\nb,0, \n", "2 of 2 values are missing in column 'w' (--weight): leave these rows out"),
        ("g,p,w\na,1,1\n,0,1\n", "in column 'g' (--sensitive): leave these rows out, or give missing a name"),
    ],
)
def test_what_is_no_number_is_said(tmp_path, text, says):
    path = tmp_path / "p.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_people(str(path), Columns(None, "p", ("g",), weight="w"))
    assert says in str(error.value)


def test_parquet_of_every_type_is_read_or_refused(tmp_path):
    import decimal

    path = tmp_path / "p.parquet"
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2021-01-01", "2020-01-01"]),
            "span": pd.to_timedelta([2, 1], unit="D"),
            "bytes": [b"b", b"a"],
            "price": [decimal.Decimal("1.50"), decimal.Decimal("0.25")],
            "kind": pd.Categorical(["y", "x"], categories=["y", "x", "unused"]),
            "list": [[1], [2]],
            "small": pd.array([1, 0], dtype="Int8"),
            "zero": [0.0, -0.0],
        }
    )
    frame.to_parquet(path)
    read = read_people(str(path), Columns("kind", "small", ("day", "span", "bytes", "zero"), weight="price"))
    assert read.sensitive["day"].tolist() == [pd.Timestamp("2021-01-01"), pd.Timestamp("2020-01-01")]
    assert read.sensitive["bytes"].tolist() == [b"b", b"a"]
    assert len(read.sensitive["zero"].categories) == 1
    assert read.y_true.tolist() == ["y", "x"]
    assert read.y_pred.tolist() == [1, 0]
    assert read.weight.tolist() == [1.5, 0.25]
    for columns in (Columns(None, "small", ("list",)), Columns(None, "list", ("day",))):
        with pytest.raises(BadInput, match=r"column 'list' .* holds values of type list<.*>, not one plain value"):
            read_people(str(path), columns)
    with pytest.raises(BadInput, match=r"column 'kind' \(--weight\) holds values of type .*, not numbers"):
        read_people(str(path), Columns(None, "small", ("day",), weight="kind"))


@pytest.mark.parametrize("values", [[1.0, float("nan")], [True, None], [None, None]])
def test_missing_numbers_of_parquet_are_counted(tmp_path, values):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"g": ["a", "b"], "p": values}).to_parquet(path)
    missing = sum(value is None or value != value for value in values)
    with pytest.raises(BadInput, match=rf"{missing} of 2 values (is|are) missing in column 'p' \(--y-pred\)"):
        read_people(str(path), Columns(None, "p", ("g",)))
    with pytest.raises(BadInput, match=rf"{missing} of 2 values (is|are) missing in column 'p' \(--sensitive\)"):
        read_people(str(path), Columns(None, "g", ("p",)))


def test_several_batches_of_parquet_are_one_column(tmp_path, monkeypatch):
    monkeypatch.setattr("skfairtest.cli.files._BATCH", 7)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": rng.choice(list("abc"), 100), "p": rng.integers(0, 2, 100), "s": rng.random(100)})
    frame["k"] = frame["g"].astype("category")
    path = tmp_path / "p.parquet"
    frame.to_parquet(path, row_group_size=30)
    people = read_people(str(path), Columns(None, "p", ("g", "k"), y_score="s"))
    assert people.sensitive["g"].tolist() == people.sensitive["k"].tolist() == frame["g"].tolist()
    assert people.y_pred.tolist() == frame["p"].tolist()
    assert people.y_score.tolist() == frame["s"].tolist()


@pytest.mark.parametrize("name", [pytest.param("wide.csv", marks=pytest.mark.slow), "wide.parquet"])
def test_what_is_kept_depends_on_the_columns_asked_for(tmp_path, name):
    import tracemalloc

    n = 20_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 10**9, n).astype(str) for i in range(20)})
    frame["g"], frame["p"] = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    path = tmp_path / name
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    read_people(str(path), Columns(None, "p", ("g",)))  # imports
    tracemalloc.start()
    people = read_people(str(path), Columns(None, "p", ("g",)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert people.n_samples == n
    # Codes of four bytes, positions of eight and a few copies; the other columns alone have 9 bytes in 20 of them.
    assert peak < 80 * n


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.parquet"])
def test_how_far_reading_is_can_be_shown(tmp_path, monkeypatch, name):
    import io

    from rich.console import Console

    from skfairtest._utils import progress as _progress

    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)
    monkeypatch.setattr("skfairtest.cli.files._BATCH", 10)
    frame = pd.DataFrame({"g": list("ab") * 500, "p": [0, 1] * 500})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    with _progress.shown_by(_progress.Bar(console)):
        read_people(str(path), Columns(None, "p", ("g",)))
    assert f"reading {name}" in console.file.getvalue()
    assert "100%" in console.file.getvalue()


@pytest.mark.parametrize(
    ("name", "text"), [("p.csv", "a,b;c\n1,2\n"), ("p.csv", "a;b;c d\n"), ("p.tsv", "a\tb\n"), ("p.csv", "")]
)
def test_the_names_of_columns_are_read_without_the_rows(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    head = text.partition("\n")[0]
    found = [head.split(separator) for separator in ",;\t"]
    assert column_names(str(path)) == (max(found, key=len) if head else [])


@pytest.mark.parametrize("columns", [Columns(None, "p", ("g", "g")), Columns(None, "p", ("g",), ("g",))])
def test_a_column_has_one_role_among_groups_and_strata(tmp_path, columns):
    with pytest.raises(BadInput, match="'g' is named twice"):
        read(tmp_path, "g,p\na,1\n", columns)


@pytest.mark.parametrize(
    ("text", "labels", "value"),
    [
        ("1", [0, 1], 1),
        ("1", [1.0, 2.0], 1),
        ("2.0", [1, 2], 2.0),
        ("1", ["0", "1"], "1"),
        ("True", [False, True], True),
        ("true", [False, True], True),
        ("yes", ["no", "yes"], "yes"),
        ("maybe", ["no", "yes"], "maybe"),
        ("2020-01-01 00:00:00", [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")], pd.Timestamp("2020-01-01")),
    ],
)
def test_the_positive_label_gets_the_type_of_the_labels(text, labels, value):
    cast = cast_pos_label(text, labels)
    assert cast == value
    assert isinstance(cast, bool) == isinstance(value, bool)


@pytest.mark.parametrize(("text", "labels"), [("yes", [0, 1]), ("1", [False, True]), ("", [0.0, 1.0])])
def test_a_positive_label_of_another_type_is_refused(text, labels):
    with pytest.raises(BadInput, match="--pos-label"):
        cast_pos_label(text, labels)
