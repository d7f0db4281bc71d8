"""Files are read as Python's csv module and pyarrow read them, or refused with the reason."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest

from skfairtest.cli.app import OPTIONS
from skfairtest.cli.errors import BadInput
from skfairtest.cli.options import files_of
from skfairtest.cli.reading import read_people

assert "y_score" in OPTIONS  # the commands name their options when they are defined

MISSING = {"sensitive_features": True}
VALUES = [
    *("f", "m", "NA", "007", "1_0", "x,y", "x;y", 'say "hi"', '5" pipe', "line\nbreak", "cr\rlf", "cr\r\nlf"),
    *(" padded ", "é", "", "\t", "|", "'", "true", "1", "0", "0.50"),
]


def generated(number):
    """The text of a CSV file, its bytes, its encoding, its separator and the columns to read."""
    rng = np.random.default_rng([47, number])
    separator, end = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(["\n", "\r\n", "\r"]))
    names = [f"c{j}" if rng.random() < 0.8 else f"c {j},é" for j in range(int(rng.choice([1, 2, 3, 4, 60])))]
    text = io.StringIO(newline="")
    quoting = int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(names)
    writer.writerows([str(rng.choice(VALUES)) for _ in names] for _ in range(int(rng.integers(1, 30))))
    content, fault = text.getvalue(), rng.random()
    if fault < 0.1:  # an empty line
        content = content.replace(end, end * 2, 1)
    elif fault < 0.2:  # cut off in the middle
        content = content[: len(content) // 2]
    elif fault < 0.3:  # a line that does not end
        content = content.rstrip("\r\n")
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    data = content.encode(encoding)
    wanted = list(rng.choice(names, size=int(rng.integers(1, len(names) + 1)), replace=False))
    return content, gzip.compress(data) if rng.random() < 0.2 else data, encoding, separator, wanted


@pytest.mark.parametrize("part", range(5))
def test_500_generated_files_are_what_pythons_csv_module_reads_or_an_error(tmp_path, part):
    path, refused = tmp_path / "people.csv", 0
    for number in range(100 * part, 100 * (part + 1)):
        content, data, encoding, separator, wanted = generated(number)
        path.write_bytes(data)
        header, *rows = (row for row in csv.reader(io.StringIO(content, newline=""), delimiter=separator) if row)
        try:
            roles = {"sensitive_features": wanted}
            frame = read_people([str(path)], roles, encoding.removesuffix("-sig"), MISSING, {})["sensitive_features"]
        except BadInput:
            refused += 1
            continue
        expected = [[row[header.index(name)] or None for name in wanted] for row in rows]
        found = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        assert found == expected, (number, separator, encoding)
    assert refused < 40


def test_a_file_longer_than_a_block_has_every_line_end_and_quote(tmp_path):
    texts = np.array(["a", "b\rc", 'd"e', "f\r\ng", "h,i"])[np.random.default_rng(0).integers(0, 5, 200_000)]
    for end in ("\n", "\r\n", "\r"):
        path = tmp_path / "long.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([["x"], *([text] for text in texts)])
        assert path.stat().st_size > 1 << 20
        assert np.array_equal(read_people([str(path)], {"sensitive_features": "x"})["sensitive_features"], texts)


def people(tmp_path, text, roles, **options):
    path = tmp_path / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_people([str(path)], roles, **options)


ROLES = {"y_pred": "p", "sensitive_features": ["sex"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"p,sex\n", "has a header but no rows"),
        (b"p,sex\n1,f,3\n", "line 2: 3 fields, where the header has 2"),
        (b"p,sex\n1\n", "line 2: 1 fields, where the header has 2"),
        (b'p,sex\n1,f\n0,"m\n', "line 3: a quoted value is never closed"),
        (b'p,sex\n1,5" pipe\n0,"m\n1,f\n', "line 4: a quoted value is never closed"),
        (b"p,sex\n1,f\n0,\n", "1 of 2 values are missing in column 'sex' (--sensitive)"),
        (b"p,gender\n1,f\n", "there is no column 'sex' (--sensitive); the columns are 'p', 'gender'"),
        (b"p,Sex\n1,f\n", "did you mean 'Sex'?"),
        (b"p,sex,sex\n1,f,f\n", "2 columns are named 'sex'"),
        (b"p,sex\n1,\xff\n", "is not UTF-8 text"),
        (b"p,sex\n1,a\0b\n", "NUL bytes"),
        ("p,sex\n1,f\n".encode("utf-16"), "NUL bytes: if it is UTF-16 text, give --encoding utf-16"),
        (b"PK\x03\x04...", "is a spreadsheet or a zip archive"),
        (b"\x1f\x8bnot gzip", "compression"),
        (b"PAR1 not parquet", "people.csv: "),
        (b"p,sex\n1,f\nNA,m\n", "holds numbers and 'NA': leave these rows out"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, says):
    with pytest.raises(BadInput) as raised:
        people(tmp_path, text, ROLES)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["0", "1"], [0, 1]),
        (["-1", "1"], [-1, 1]),
        (["0.0", "1.5"], [0.0, 1.5]),
        (["1e-3", "2"], [0.001, 2.0]),
        (["True", "false"], [True, False]),
        (["007", "1"], ["007", "1"]),
        (["1_0", "1"], ["1_0", "1"]),
        (["yes", "no"], ["yes", "no"]),
    ],
)
def test_labels_are_numbers_if_all_of_them_are_written_like_numbers(tmp_path, texts, labels):
    read = people(tmp_path, "p,sex\n" + "".join(f"{text},{text}\n" for text in texts), ROLES)
    values = read["y_pred"].tolist()
    assert values == labels
    assert [type(value) for value in values] == [type(label) for label in labels]
    assert read["sensitive_features"]["sex"].tolist() == texts


@pytest.mark.parametrize(
    ("pairs", "y_true", "y_pred"),
    [
        (["0,0", "1,unsure", "1,1"], ["0", "1", "1"], ["0", "unsure", "1"]),
        (["0,0", "?,1", "1,1"], ["0", "?", "1"], ["0", "1", "1"]),
        (["True,True", "False,maybe"], ["True", "False"], ["True", "maybe"]),
        (["yes,1", "no,0"], ["yes", "no"], [1, 0]),  # which another check calls two vocabularies
        (["0.5,1.5", "1.5,low"], [0.5, 1.5], ["1.5", "low"]),  # predicted numbers
    ],
)
def test_labels_beside_text_are_text_together(tmp_path, pairs, y_true, y_pred):
    roles = {"y_true": "t", "y_pred": "p", "sensitive_features": "sex"}
    read = people(tmp_path, "t,p,sex\n" + "".join(f"{pair},f\n" for pair in pairs), roles)
    assert read["y_true"].tolist() == y_true
    assert read["y_pred"].tolist() == y_pred


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), ("1e-3", 0.001), ("-.25", -0.25), (" 2 ", 2.0)])
def test_scores_are_numbers(tmp_path, text, value):
    read = people(tmp_path, f"s,sex\n{text},f\n0.1,m\n", {"y_score": "s", "sensitive_features": "sex"})
    assert read["y_score"].tolist() == [value, 0.1]


@pytest.mark.parametrize("text", ["high", "0,5", "1_0", "inf", "nan", "0x1"])
def test_what_is_no_number_is_said(tmp_path, text):
    with pytest.raises(BadInput, match="in column 's' \\(--y-score\\) is not a number"):
        people(tmp_path, f's,sex\n"{text}",f\n0.1,m\n', {"y_score": "s", "sensitive_features": "sex"})


def test_parquet_keeps_its_types_and_numbers(tmp_path):
    frame = pd.DataFrame({"p": [1, 0, 1], "s": [0.25, 0.5, 1.0], "sex": [7, 8, 7], "town": ["", "x", None]})
    path = tmp_path / "people.pq"
    frame.to_parquet(path)
    roles = {"y_pred": "p", "y_score": "s", "sensitive_features": ["sex", "town"]}
    read = read_people([str(path)], roles, optional=MISSING)
    assert read["y_pred"].tolist() == [1, 0, 1]
    assert read["y_score"].tolist() == [0.25, 0.5, 1.0]
    assert read["sensitive_features"]["sex"].tolist() == [7, 8, 7]
    assert read["sensitive_features"]["town"].isna().tolist() == [False, False, True]
    frame.assign(s=list("abc")).to_parquet(path)
    with pytest.raises(BadInput, match="string, not numbers"):
        read_people([str(path)], roles, optional=MISSING)


def test_files_of_different_types_are_refused_and_alike_ones_are_one(tmp_path):
    frame = pd.DataFrame({"p": [1, 0], "sex": ["f", "m"]})
    for name in ("a.csv", "b.csv"):
        frame.to_csv(tmp_path / name, index=False)
    assert len(read_people(files_of([str(tmp_path / "*.csv"), str(tmp_path / "a.csv")]), ROLES)["y_pred"]) == 4
    frame.to_parquet(tmp_path / "c.parquet")
    with pytest.raises(BadInput, match="different types"):
        read_people(files_of([str(tmp_path / "*")]), ROLES)


def test_many_numbers_are_a_quantity_and_one_value_may_name_what_is_missing(tmp_path):
    def sexes(others, n_bins):
        text = "p,sex\n" + "".join(f"1,{value}\n" for value in [*range(20), *others])
        return people(tmp_path, text, ROLES, bins={"sensitive_features": n_bins})["sensitive_features"]["sex"].tolist()

    assert sexes(["unknown"], 5) == [*range(20), "unknown"]
    assert sexes(["unknown"], 20) == [*map(str, range(20)), "unknown"]
    assert sexes(["a", "b"], 5) == [*map(str, range(20)), "a", "b"]
