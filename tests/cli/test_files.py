"""Reading: what is in the file is what is tested."""

import gzip
import threading

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable
from skfairtest.cli.errors import BadInput
from skfairtest.cli.files import Columns, cast_pos_label, read_table

COLUMNS = Columns("truth", "pred", ("sex",))
TEXT = "id,sex,truth,pred\n1,f,0,1\n2,m,1,1\n3,f,1,0\n4,m,0,0\n"
EXPECTED = CountTable.from_predictions(
    [0, 1, 1, 0], [1, 1, 0, 0], sensitive_features=pd.DataFrame({"sex": ["f", "m", "f", "m"]})
)


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return str(path)


def read(tmp_path, text, columns=COLUMNS, name="people.csv"):
    return read_table(written(tmp_path / name, text), columns)


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
    assert read_table(str(path), COLUMNS) == EXPECTED


@pytest.mark.parametrize("name", ["p.parquet", "p.pq", "no_extension"])
def test_parquet_is_recognised_also_by_its_first_bytes(tmp_path, name):
    path = tmp_path / name
    EXPECTED.expand().sensitive_features.assign(
        truth=EXPECTED.expand().y_true, pred=EXPECTED.expand().y_pred
    ).to_parquet(path)
    assert read_table(str(path), COLUMNS) == EXPECTED


def test_parquet_keeps_its_types_and_an_empty_text_is_a_group(tmp_path):
    path = tmp_path / "p.parquet"
    frame = pd.DataFrame({"a.b": ["", "x", "", "x"], "age": [1, 2, 1, 2], "p": [True, False, True, True]})
    frame["p"] = frame["p"].astype("category")
    frame.to_parquet(path)
    table = read_table(str(path), Columns(None, "p", ("a.b", "age")))
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
    assert read_table(str(path), COLUMNS) == EXPECTED
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
        ("id,sex,truth,pred\n", "no rows"),
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


def test_a_wide_file_lists_its_first_columns(tmp_path):
    header = ",".join(f"c{i}" for i in range(500))
    with pytest.raises(BadInput, match=r"\(500 in all\)"):
        read(tmp_path, header + "\n")


def test_other_encodings_are_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(TEXT.replace("f,", "é,").encode("latin-1"))
    with pytest.raises(BadInput, match="not UTF-8 text"):
        read_table(str(path), COLUMNS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.parquet", b"no parquet at all"),
        ("p.parquet", b""),
        ("p.csv", b"PAR1 and then nothing"),
        ("p.csv.gz", TEXT.encode()),
        ("p.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-9]),
        ("p.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:12] + b"\xff" * 30),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput):
        read_table(str(path), COLUMNS)


@pytest.mark.parametrize("path", ["nowhere.csv", ".", "a\0b"])
def test_a_path_that_cannot_be_opened_is_refused(path):
    with pytest.raises(BadInput):
        read_table(path, COLUMNS)


def test_missing_values_and_columns_of_parquet_are_named(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"sex": ["f", None], "pred": [1.0, np.nan]}).to_parquet(path)
    with pytest.raises(BadInput, match=r"1 of 2 values is missing in column 'pred' \(--y-pred\)"):
        read_table(str(path), Columns(None, "pred", ("sex",)))
    with pytest.raises(BadInput, match=r"there is no column 'prad'.*did you mean 'pred'"):
        read_table(str(path), Columns(None, "prad", ("sex",)))


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
