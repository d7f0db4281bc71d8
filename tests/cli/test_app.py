"""The command line in this process: what it computes, prints and returns."""

import csv
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.exceptions import UndefinedMetricWarning

import skfairtest.cli.reading
from skfairtest import FairnessAudit, FairnessTest, __version__
from skfairtest._utils.text import label
from skfairtest.cli.app import run
from skfairtest.cli.errors import in_terms_of_options
from skfairtest.datasets import load_compas
from skfairtest.metrics import CRITERIA, RATES, SCORES
from skfairtest.report.text import escape_formula

EVIL_COLUMN = "[bold]grp[/bold]\x1b[1m"
HOSTILE = [
    *("[red]x[/red]", "[link=http://e.vil]y[/link]", "a\x1b[31mb", ":smile:", "NA", "None", "01", "1", "=1+1", "漢字"),
    *("two\nlines", "cr\rx", " padded", "a\u202eb", 'quote"d', "with, comma", "long " * 40 + "end"),
]
BOTH = ["--y-true", "truth", "--y-pred", "pred"]
SEX = [*BOTH, "--sensitive", "sex"]
RATE = ["FILE", "--y-pred", "pred", "--sensitive", "sex", "--metric", "selection_rate"]
TWO_MODELS = ["compare", *RATE, "--y-pred"]
RATES_OF_TWO = ["power", "--rate", "0.3", "--rate", "0.5"]
COMMANDS = ["demo", "audit", "report", "scan", "impact", "compare", "monitor", "power", "metrics"]
NUMBERS = ["value_group", "value_other", "disparity", "p_value", "p_value_adjusted", "ci_low", "ci_high"]


@pytest.fixture
def people(tmp_path):
    """A file with a disparity by sex and none by city."""
    sex = np.repeat(["f", "m"], 60)
    columns = {"sex": sex, "city": np.tile(["x", "y"], 60), "truth": np.tile([0, 0, 1, 1], 30)}
    columns |= {"pred": np.where(sex == "f", 0, 1), "word": np.where(sex == "f", "no", "yes")}
    path = tmp_path / "people.csv"
    pd.DataFrame({"id": range(120), **columns}).to_csv(path, index=False)
    return path


@pytest.fixture
def hostile(tmp_path):
    rows = [(name, truth, int(place < 2)) for place, name in enumerate(HOSTILE) for truth in (0, 1) * 10]
    path = tmp_path / "[b]evil :smile:.csv"
    pd.DataFrame(rows, columns=[EVIL_COLUMN, "truth", "pred"]).to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    return path


def audit(path, *options):
    return run(["audit", str(path), *options])


def rows_of(path, *options):
    """Audit a file; return the status and the comparisons as they are written."""
    output = Path(path).parent / "rows.csv"
    status = audit(path, *options, "--csv", str(output))
    assert status in (0, 1, 4)
    return status, pd.read_csv(output, keep_default_na=False, na_values=[""])


def one_line(capsys):
    """Return the only line on standard error; nothing may be on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert "Traceback" not in line
    assert line.isprintable()
    return line


# Status -------------------------------------------------------------------------------------


STATUSES = [
    ("audit FILE --y-pred same --y-true truth --sensitive city --metric selection_rate", 0),
    ("audit FILE --y-pred pred --y-true truth --sensitive city --metric selection_rate", 0),
    ("audit FILE --y-pred pred --y-true truth --sensitive sex", 1),  # the precision of women is undefined: 1 before 4
    ("audit FILE --y-pred rare --y-true truth --sensitive city", 4),  # that of one city is undefined
    ("audit FILE --y-pred pred --sensitive nothing", 2),
    ("impact FILE --y-pred pred --sensitive city", 0),
    ("impact FILE --y-pred pred --sensitive sex", 1),
    ("impact FILE --y-pred pred --sensitive nothing", 2),
    ("scan FILE --y-pred pred --sensitive city --metric selection_rate --min-group-size 10", 0),
    ("scan FILE --y-pred pred --sensitive sex --metric selection_rate --min-group-size 10", 1),
    ("scan FILE --y-pred pred --sensitive sex --max-depth 0", 2),
    ("compare FILE --y-pred same --y-pred rare --sensitive city --metric selection_rate", 0),
    ("compare FILE --y-pred same --y-pred pred --sensitive sex --metric selection_rate", 1),
    ("compare FILE --y-pred same --sensitive sex", 2),
    ("monitor STATE --batch FILE --y-pred same --sensitive city --metric selection_rate", 0),
    ("monitor STATE --batch FILE --y-pred pred --sensitive sex --metric selection_rate", 1),
    ("monitor STATE --batch FILE --y-pred pred", 2),
    ("power --rate 0.3 --rate 0.5", 0),
    ("power --rate 0.3", 2),
    ("metrics", 0),
    ("metrics FILE", 2),
    ("report FILE", 2),
]


@pytest.mark.parametrize(("command", "status"), STATUSES, ids=lambda value: value if isinstance(value, str) else "")
def test_the_status_of_every_command(people, tmp_path, capsys, monkeypatch, command, status):
    frame = pd.read_csv(people)
    frame["same"], frame["rare"] = np.tile([0, 1, 1, 0], 30), [1] + [0] * 119
    frame.to_csv(people, index=False)
    files = {"FILE": str(people), "STATE": str(tmp_path / "state.json")}
    arguments = [files.get(part, part) for part in command.split()]
    record = str(tmp_path / "record.json")
    if arguments[0] in ("audit", "scan") and status != 2:  # what was saved has the same status
        assert run([*arguments, "--json", record]) == status
        assert run(["report", record]) == status
    else:
        assert run(arguments) == status

    def fails(*_, **__):
        raise ZeroDivisionError

    broken = {"power": "skfairtest.cli.power.answer", "report": "skfairtest.report.record.read_record"}
    monkeypatch.setattr(broken.get(arguments[0], "skfairtest.cli.reading.read_people"), fails)
    if arguments[0] != "metrics" and status != 2:
        assert run(arguments) == 3
    capsys.readouterr()


def test_the_report_says_what_a_positive_prediction_means_and_who_is_worse_off(people, capsys):
    audit(people, *SEX, "--metric", "equalized_odds", "--positive-means", "denied a loan", "--unfavorable")
    out = capsys.readouterr().out
    assert "Worse off: " in out
    assert " were denied a loan more often than " in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit"], "FILE"),
        (["audit", "FILE", "--sensitive", "sex"], "--y-pred"),
        (["audit", "FILE", "--y-pred", "pred"], "--sensitive"),
        (["audti", "FILE"], "audit"),
        (["audit", "FILE", *BOTH, "--groups", "sex"], "Did you mean --sensitive?"),
        (["audit", "FILE", *BOTH, "--sensitive"], "Option '--sensitive' requires an argument"),
        (["audit", "FILE", "--y_true", "y", "--sensitive", "sex"], "Did you mean --y-true?"),
        (["audit", "FILE", *SEX, "city"], "city: No such file"),
        (["audit", "FILE", *SEX, "--alpha", "5"], "between 0 and 1"),
        (["audit", "FILE", *SEX, "--margin", "2"], "--margin of a difference must be"),
        (["audit", "FILE", *SEX, "--nonsense"], "No such option: --nonsense"),
        (["impact", "FILE", "--y-pred", "pred", "--weight", "w"], "No such option: --weight (skfairtest impact -h"),
        (
            ["audit", "FILE", "--y-pred", "pred", "--sensitive", "sex", "--metric", "equalized_odds"],
            "--y-true is missing: true_positive_rate, false_positive_rate need the true labels; --metric",
        ),
        (["audit", "FILE", *SEX, "--n-resamples", "0"], "--n-resamples must be an integer"),
        (["audit", "FILE", *SEX, "--encoding", "nonsense"], "--encoding 'nonsense' is unknown"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex,city"], "'sex,city' (--sensitive); repeat --sensitive for each"),
        (["audit", "FILE", *SEX, "city"], "city: No such file or directory: if it is a column, repeat the option"),
        (["audit", "FILE", *SEX, "--json", "-"], "--json -: name a file; standard output has the report"),
        (["power", "--rate", "0.3", "0.5"], "repeat an option for each of its values"),
        (["audit", "FILE", *SEX, "--encoding", "a\0b"], "--encoding"),
        (["audit", "FILE", *SEX, "--jobs", "0"], "--jobs must be an integer other than 0"),
        (["audit", "FILE", *SEX, "--weight", "city"], "'x' in column 'city' (--weight) is not a number"),
        (["audit", "FILE", *SEX, "--cluster", "cty"], "(--cluster); did you mean 'city'?"),
        (["audit", "FILE", *BOTH, "--sensitive", "sexe"], "did you mean 'sex'?"),
        (["audit", "FILE", *SEX, "--metric", "fairness"], "--metric 'fairness' is unknown"),
        (["audit", "FILE", *SEX, "--threshold", "0.5"], "--threshold makes predictions of --y-score"),
        (["audit", "FILE", *SEX, "--pos-label", "yes"], "--pos-label 'yes' is not among the labels, which are 0, 1"),
        (["audit", "FILE", "--y-pred", "sex", "--metric", "selection_rate", "--sensitive", "city"], "--pos-label"),
        (["audit", "FILE", *SEX, "--control", "sex"], "is named by --sensitive and --control"),
        (["audit", "nowhere.csv", *SEX], "nowhere.csv: No such file"),
        (["audit", "nowhere*.csv", *SEX], "no file matches this pattern"),
        (["audit", "FILE", *SEX, "--html", "no/such/folder.html"], "--html no/such/folder.html: there is no folder"),
        (["audit", "FILE", *SEX, "--markdown", "FILE"], "is the file to be read"),
        (["audit", "FILE", *SEX, "--html", "a", "--json", "./a"], "is the file that --html writes"),
        (["audit", "FILE", *BOTH, "--sensitive", "a\x1b[31m\nb"], r"a\x1b[31m"),
        (["compare", "FILE", "--y-true", "truth", "--y-pred", "pred", "--sensitive", "sex"], "two or more different"),
        ([*TWO_MODELS, "pred"], "--y-pred: name two or more different columns"),
        ([*TWO_MODELS, "truth", "--margin", "3"], "--margin must be a number of at least 0 and below 1"),
        ([*TWO_MODELS, "word"], "the candidate's predictions holds 'no', 'yes': a number never equals text"),
        (["impact", "FILE", "--sensitive", "sex"], "--y-pred (decisions) or --y-score"),
        (["impact", "FILE", "--y-pred", "word", "--sensitive", "sex"], "--pos-label is needed"),
        (["impact", *RATE[:-2], "--smallest-share", "1"], "--smallest-share must be at least 0 and below 1"),
        (["scan", *RATE, "--max-depth", "0"], "--max-depth must be an integer of at least 1"),
        (["scan", *RATE, "--compare", "in_context"], "--compare 'in_context' compares people who share values of"),
        (
            ["scan", *RATE, "--metric", "roc_auc", "--y-score", "id", "--y-true", "truth"],
            "is neither a rate nor a mean",
        ),
        (["scan", *RATE, "--feature", "nowhere"], "nowhere"),
        (["audit", *RATE, "--scan", "nowhere"], "nowhere"),
        (
            ["audit", *RATE, "--scan", "id", "--weight", "truth"],
            "--scan counts each person once and alone, and takes no --weight",
        ),
        (["power"], "--rate is missing: give it once per group"),
        ([*RATES_OF_TWO, "--n", "50", "--power", "0.8"], "leave out --n for the people needed"),
        (["power", "--rate", "0.3", "--rate", "much"], "must be a number such as 0.3"),
        (["power", "--rate", "0.3", "--rate", "0.3"], "no power at any size"),
        ([*RATES_OF_TWO, "--metric", "mean_prediction"], "--rate of --metric 'mean_prediction' must be pairs"),
        (
            [*RATES_OF_TWO, "--n", "50", "--n", "60", "--n", "70"],
            "--rate and --n must have one value per group; found 2 and 3",
        ),
        ([*RATES_OF_TWO, "--base-rate", "0.5"], "--base-rate"),
        ([*RATES_OF_TWO, "--metric", "nope"], "--metric 'nope' is unknown"),
        (
            [*RATES_OF_TWO, "--metric", "equalized_odds"],
            "--rate must be given as NAME=VALUE for --metric 'equalized_odds'",
        ),
        (
            ["power", "--rate", "a=0.3", "--rate", "a=0.5", "--rate", "b=0.5"],
            "--rate must be given as NAME=VALUE with the keys",
        ),
        ([*RATES_OF_TWO, "--margin", "a:b"], "--margin must be a number such as 0.05, or LOW:HIGH"),
        (
            [*RATES_OF_TWO, "--alternative", "equivalence"],
            "--margin is missing: --alternative 'equivalence' needs",
        ),
        (
            ["monitor", "state.json", "--batch", "/dev/null", "--y-pred", "pred", "--sensitive", "sex"],
            "--name is missing",
        ),
        (["monitor", "state.json", "--batch", "FILE", *SEX, "--y-score", "id"], "--y-pred or --y-score"),
    ],
)
def test_bad_input_is_2_with_one_line(people, capsys, arguments, says):
    assert run([str(people) if argument == "FILE" else argument for argument in arguments]) == 2
    assert says in one_line(capsys)


def test_a_flag_is_named_where_the_package_names_a_parameter():
    assert in_terms_of_options("rename it, or set intersections=False") == "rename it, or set --no-intersections"


def test_a_file_that_cannot_be_written_is_2(people, capsys, monkeypatch):
    monkeypatch.setattr("skfairtest.cli.output.os.access", lambda *_: False)
    people.with_name("rows.csv").touch()
    assert audit(people, *SEX, "--csv", str(people.with_name("rows.csv"))) == 2
    assert "you have no permission to write it" in one_line(capsys)


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (ZeroDivisionError("oh\nno"), 3, "internal error: ZeroDivisionError: oh no (SKFAIRTEST_DEBUG=1 shows where)"),
        (ValueError("sensitive_features is\n  odd"), 2, "skfairtest: --sensitive is odd"),
        (NotImplementedError("sensitive_features is odd"), 2, "skfairtest: --sensitive is odd"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_have_a_status_and_one_line(people, capsys, monkeypatch, error, status, says):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(skfairtest.cli.reading, "read_people", fails)
    monkeypatch.delenv("SKFAIRTEST_DEBUG", raising=False)
    assert audit(people, *SEX) == status
    assert says in capsys.readouterr().err
    if status != 130:
        monkeypatch.setenv("SKFAIRTEST_DEBUG", "1")
        audit(people, *SEX)
        assert "Traceback" in capsys.readouterr().err


def test_a_missing_extra_is_left_to_the_caller(people, monkeypatch):
    def missing(*_, **__):
        raise ModuleNotFoundError("no pyarrow", name="pyarrow")

    monkeypatch.setattr(skfairtest.cli.reading, "read_people", missing)
    with pytest.raises(ModuleNotFoundError):
        audit(people, *SEX)


def test_warnings_of_the_package_are_lines_and_undefined_rates_are_not_repeated(people, capsys, monkeypatch):
    real = skfairtest.cli.reading.read_people

    def warning(*arguments, **options):
        for message, category in (("pos_label is\nodd", UserWarning), ("left out", UndefinedMetricWarning)):
            warnings.warn(message, category, stacklevel=1)
            warnings.warn(message, category, stacklevel=1)
        return real(*arguments, **options)

    monkeypatch.setattr(skfairtest.cli.reading, "read_people", warning)
    assert audit(people, *BOTH, "--sensitive", "city") == 0
    out, err = capsys.readouterr()
    assert err == "warning: --pos-label is odd\n"
    assert "--pos-label is odd" in out


# Help ---------------------------------------------------------------------------------------


def test_version_and_help(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"skfairtest {__version__}\n"
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert "skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex" in text
    assert [line.split()[0] for line in text.partition("Commands:\n")[2].splitlines()] == COMMANDS
    assert run([]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run([command, "-h"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: skfairtest {command}")
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(("arguments", "hint"), [(["nonsense"], "skfairtest -h"), (["report"], "skfairtest report -h")])
def test_a_usage_error_names_the_help_of_its_command(arguments, hint, capsys):
    assert run(arguments) == 2
    assert one_line(capsys).endswith(f"({hint} shows what can be typed)")


def test_every_metric_is_listed_with_the_options_that_it_needs(capsys):
    assert run(["metrics"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} (" in text for name in (*RATES, *SCORES))
    assert all(f"  {name}: " in text for name in CRITERIA)
    assert "  selection_rate (--y-pred): " in text
    assert "  roc_auc (--y-true, --y-score): " in text


# What is computed ---------------------------------------------------------------------------


def test_every_option_reaches_the_audit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    n = 400
    house = np.arange(n) // 2
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "city": rng.choice(["x", "y"], n), "house": house})
    frame[["sex", "city"]] = frame.groupby("house")[["sex", "city"]].transform("first")
    frame["truth"], frame["score"], frame["weight"] = (
        rng.integers(0, 2, n),
        rng.random(n).round(3),
        rng.integers(1, 4, n),
    )
    frame["pred"] = (frame["score"] > 0.5).astype(int)
    test = {"compare": "to_rest", "disparity": "ratio", "margin": 0.9, "adjust": "bonferroni", "n_resamples": 99}
    expected = FairnessAudit.from_predictions(
        frame["truth"],
        frame["pred"],
        y_score=frame["score"],
        sensitive_features=frame[["sex"]],
        control_features=frame[["city"]],
        sample_weight=frame["weight"],
        clusters=frame["house"],
        metrics=["selection_rate", "roc_auc"],
        confidence_level=0.9,
        random_state=7,
        **test,
    )
    options = ["--y-true", "truth", "--y-pred", "pred", "--y-score", "score", "--sensitive", "sex", "--control", "city"]
    options += ["--weight", "weight", "--cluster", "house", "--metric", "selection_rate", "--metric", "roc_auc"]
    options += [part for name, value in test.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    options += ["--alpha", "0.1", "--seed", "7", "--jobs", "1"]
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"people.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
        status, rows = rows_of(path, *options)
        assert status == int(expected.concern_)
        for name in NUMBERS:
            np.testing.assert_allclose(rows[name].astype(float), expected.to_frame()[name].astype(float), rtol=1e-9)
    capsys.readouterr()


def test_several_files_are_one(people, tmp_path, capsys):
    frame = pd.read_csv(people)
    whole = rows_of(people, *SEX)[1]
    for part in range(3):
        frame.iloc[part::3].to_csv(tmp_path / f"part{part}.csv.gz", index=False)
    pd.testing.assert_frame_equal(rows_of(tmp_path / "part*.csv.gz", *SEX)[1], whole)
    capsys.readouterr()


def test_a_threshold_makes_predictions_of_scores(people, capsys):
    frame = pd.read_csv(people).assign(score=lambda each: each["pred"] * 0.4 + 0.3)
    frame.to_csv(people, index=False)
    options = ["--y-true", "truth", "--sensitive", "sex", "--metric", "selection_rate"]
    expected = rows_of(people, *options, "--y-pred", "pred")[1]
    pd.testing.assert_frame_equal(rows_of(people, *options, "--y-score", "score", "--threshold", "0.5")[1], expected)
    capsys.readouterr()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_are_audited_as_a_regression(tmp_path, capsys, kind):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"g": np.repeat(["a", "b"], 100), "y": rng.normal(size=200)})
    frame["p"] = frame["y"] + np.where(frame["g"] == "a", 1.0, 0.0) + rng.normal(size=200) / 4
    path = tmp_path / f"p.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    status, rows = rows_of(path, "--y-true", "y", "--y-pred", "p", "--sensitive", "g")
    assert status == 1
    assert set(rows["metric"]) == {"mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"}
    mean = rows.set_index("metric").loc["mean_prediction", "value_group"]
    assert mean == pytest.approx(frame.loc[frame["g"] == "a", "p"].mean(), rel=1e-12)
    capsys.readouterr()


def test_several_groupings_are_one_family_with_their_intersections(people, capsys):
    both = [*SEX, "--sensitive", "city"]
    status, rows = rows_of(people, *both)
    assert status == 1
    assert rows["feature"].unique().tolist() == ["sex", "city", "sex x city"]
    assert rows.groupby("feature")["concern"].any().to_dict() == {"city": False, "sex": True, "sex x city": True}
    assert set(rows_of(people, *both, "--no-intersections")[1]["feature"]) == {"sex", "city"}
    others = rows_of(people, *both, "--compare-intersections", "to_parents")[1].query("feature == 'sex x city'")[
        "other"
    ]
    assert set(others) == {"rest of sex = f", "rest of sex = m", "rest of city = x", "rest of city = y"}
    capsys.readouterr()


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(["no", "yes"], "yes"), ([1, 2], "2"), (["False", "True"], "true"), ([0, 1], "1"), ([0.0, 1.0], "1")],
)
def test_the_positive_label_is_cast(people, capsys, labels, pos_label):
    frame = pd.read_csv(people)
    for name in ("truth", "pred"):
        frame[name] = np.array(labels, dtype=object)[frame[name]]
    frame.to_csv(people, index=False)
    status, rows = rows_of(people, *SEX, "--metric", "equalized_odds", "--pos-label", pos_label)
    assert status == 1
    assert rows[["value_group", "value_other"]].to_numpy().tolist() == [[0, 1], [0, 1]]
    capsys.readouterr()


def test_what_is_left_out_is_listed(tmp_path, capsys):
    path = tmp_path / "p.csv"
    lines = "a,x,1,1\na,x,0,1\nb,x,1,0\nb,x,0,0\n" * 3 + "c,x,1,1\nd,x,0,1\nd,x,0,0\n"
    path.write_text(f"g,h,truth,pred\n{lines}", encoding="utf-8")
    audit(path, *BOTH, "--metric", "equalized_odds", "--sensitive", "g", "--sensitive", "h", "--no-intersections")
    text = capsys.readouterr().out
    assert "fewer than 2 people" in text
    assert "Not compared by h: --sensitive (h) holds one group only" in text
    assert "excluded_" not in text


# Names are data -----------------------------------------------------------------------------


def test_hostile_names_are_shown_as_they_are_and_move_no_cursor(hostile, tmp_path, capsys):
    files = {kind: tmp_path / f"report.{kind}" for kind in ("html", "json", "markdown", "csv")}
    options = [part for kind, path in files.items() for part in (f"--{kind}", str(path))]
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN, *options) == 1
    text, err = capsys.readouterr()
    assert err == ""
    assert all(line.isprintable() for line in text.splitlines())
    assert "Fairness audit of [b]evil :smile:.csv" in text
    for name in HOSTILE:
        assert name.encode("unicode_escape").decode() in text or name in text
    assert r"a\x1b[31mb" in text
    assert r"[bold]grp[/bold]\x1b[1m" in text
    assert "\x1b" not in files["json"].read_text(encoding="utf-8")
    assert files["html"].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    frame = pd.read_csv(files["csv"], keep_default_na=False)
    assert {*frame["group"], *frame["other"]} == {escape_formula(label(name)) for name in HOSTILE}
    assert not frame.map(lambda cell: isinstance(cell, str) and cell.startswith(("=", "@", "+"))).any(axis=None)
    again = FairnessAudit.from_json(files["json"])
    assert again.to_html() == files["html"].read_text(encoding="utf-8")
    assert again.to_markdown() == files["markdown"].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|'/c calc'!A0", "'+cmd|'/c calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", r"'\t=1"),
        ("\r=1", r"'\r=1"),
        ("-1", "-1"),
        ("+1.5e3", "+1.5e3"),
        ("a=1", "a=1"),
        (-1.5, -1.5),
        (True, True),
    ],
)
def test_text_that_would_be_computed_is_marked_and_numbers_are_not(cell, written):
    assert escape_formula(cell) == written


def test_what_the_encoding_of_the_output_lacks_is_escaped(hostile, monkeypatch):
    import io
    import sys

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN) == 1
    assert rb"\u6f22\u5b57" in raw.getvalue()


# Reports ------------------------------------------------------------------------------------


def test_details_are_the_tables_of_all_comparisons(tmp_path, capsys):
    compas = load_compas()
    path = tmp_path / "compas.parquet"
    compas.sensitive_features.assign(truth=compas.y_true, pred=compas.y_pred).to_parquet(path)
    options = [*BOTH, "--sensitive", "race", "--metric", "false_positive_rate"]
    sentences = rows_of(path, *options)[1].query("concern")["sentence"]
    assert len(sentences) > 3
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 60
    assert "--details shows it here" in text
    audit(path, *options, "--details")
    text = capsys.readouterr().out
    assert sum(line.endswith("*") for line in text.splitlines()) >= len(sentences)


@pytest.mark.parametrize(("sensitive", "status"), [("sex", 1), ("city", 0)])
def test_a_saved_audit_gives_the_reports_and_the_status_of_the_audit(people, tmp_path, capsys, sensitive, status):
    names, record = ("html", "markdown", "csv", "junit"), str(tmp_path / "audit.json")
    first, second = ({name: tmp_path / f"{run_}.{name}" for name in names} for run_ in ("first", "second"))
    options = [[part for name in names for part in (f"--{name}", str(paths[name]))] for paths in (first, second)]
    assert audit(people, *BOTH, "--sensitive", sensitive, "--json", record, *options[0]) == status
    table = capsys.readouterr()
    assert run(["report", record, *options[1]]) == status
    again = capsys.readouterr()
    assert (again.out, again.err) == (table.out, table.err)
    assert all(first[name].read_bytes() == second[name].read_bytes() for name in names)
    assert run(["report", record, "--html", record]) == 2
    assert "is the file to be read" in one_line(capsys)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "JSON"), (bytes(range(256)), ""), (b"[1, 2]", ""), (b"[" * 100_000, ""), (None, "No such file")],
)
def test_what_is_no_saved_audit_is_named(tmp_path, capsys, content, says):
    path = tmp_path / "audit.json"
    if content is not None:
        path.write_bytes(content)
    assert run(["report", str(path)]) == 2
    line = one_line(capsys)
    assert line.startswith(f"skfairtest: {path}: ")
    assert says in line


def test_the_record_says_what_was_typed(people, tmp_path, capsys):
    record = tmp_path / "a.json"
    audit(people, *SEX, "--json", str(record))
    assert "skfairtest audit" in json.dumps(json.loads(record.read_text(encoding="utf-8")))
    capsys.readouterr()


def test_a_finding_is_accepted_by_its_identifier(people, tmp_path, capsys):
    junit = tmp_path / "a.xml"
    options = [*SEX, "--metric", "selection_rate"]
    assert audit(people, *options, "--junit", str(junit)) == 1
    identifier = junit.read_text(encoding="utf-8").partition(" [")[2].partition("]")[0]
    assert audit(people, *options, "--accept", f"{identifier}=known since May") == 0
    assert "known since May" in capsys.readouterr().out
    assert audit(people, *options, "--accept", "nothing=known") == 2


# The demo -----------------------------------------------------------------------------------


def test_the_demo_reports_what_fairness_test_finds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--details"]) == 0
    text, err = capsys.readouterr()
    assert err == ""
    compas = load_compas()
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], metric="equalized_odds"
    )
    for key, row in test.by_group_.iterrows():
        cells = [key[1], f"{row['n']:,}", f"{row['n_effective']:,}", f"{100 * row['value']:.1f}%"]
        assert any(
            line.startswith(f"    {cells[0]} ") and all(cell in line for cell in cells) for line in text.splitlines()
        )
    leading = test.comparisons_.sort_values("p_value").iloc[0]
    assert f"{100 * abs(leading['disparity']):.1f} " in text
    assert "propublica/compas-analysis" in text
    page = tmp_path / "skfairtest-demo.html"
    assert text.rstrip().endswith(str(page))
    assert "Broward County" in page.read_text(encoding="utf-8")
    # README's picture shows what the demo prints today; if not: python doc/make_picture.py.
    shown = Image.open(Path(__file__).parents[2] / "doc" / "_static" / "report.png").text["Description"].splitlines()
    assert len(shown) > 5
    assert [line for line in shown if line not in text] == []


@pytest.mark.parametrize(
    ("name", "options", "n"),
    [
        ("adult.csv.gz", ["--y-pred", "income", "--pos-label", ">50K", "--sensitive", "sex"], 48842),
        ("german.csv", ["--y-pred", "credit_risk", "--pos-label", "1", "--sensitive", "personal_status_sex"], 1000),
        ("ricci.csv", ["--y-pred", "passed", "--sensitive", "Race", "--control", "Position"], 118),
    ],
)
def test_real_files_are_read(raw_data, capsys, name, options, n):
    assert audit(raw_data(name), *options, "--metric", "demographic_parity") in (0, 1)
    assert f"{n:,} people" in capsys.readouterr().out
