"""The command line in this process: what it computes, prints and returns."""

import csv
import json
import re
import shlex
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

import skfairtest.cli.auditing
from skfairtest import FairnessAudit, FairnessTest, __version__
from skfairtest._utils.text import label
from skfairtest.cli.app import run
from skfairtest.cli.errors import in_terms_of_options
from skfairtest.datasets import load_berkeley, load_compas
from skfairtest.metrics import CALIBRATION, CRITERIA, RATES, SCORES
from skfairtest.report.text import escape_formula

EVIL_COLUMN = "[bold]grp[/bold]\x1b[1m"
HOSTILE = [
    "[red]x[/red]",
    "[link=http://e.vil]y[/link]",
    "a\x1b[31mb",
    ":smile:",
    "NA",
    "None",
    "01",
    "1",
    "=1+1",
    "漢字",
    "two\nlines",
    "cr\rx",
    " padded",
    "a\u202eb",
    'quote"d',
    "with, comma",
    "long " * 40 + "end",
]


@pytest.fixture
def people(tmp_path):
    """A file with a disparity by sex and none by city."""
    sex = np.repeat(["f", "m"], 60)
    frame = pd.DataFrame(
        {
            "id": range(120),
            "sex": sex,
            "city": np.tile(["x", "y"], 60),
            "truth": np.tile([0, 0, 1, 1], 30),
            "pred": np.where(sex == "f", 0, 1),
        }
    )
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def hostile(tmp_path):
    rows = [(name, truth, int(place < 2)) for place, name in enumerate(HOSTILE) for truth in (0, 1) * 10]
    path = tmp_path / "[b]evil :smile:.csv"
    pd.DataFrame(rows, columns=[EVIL_COLUMN, "truth", "pred"]).to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    return path


def audit(path, *options):
    return run(["audit", str(path), *options])


BOTH = ["--y-true", "truth", "--y-pred", "pred"]
ODDS = [*BOTH, "--metric", "equalized_odds"]
DEMOGRAPHIC = ["--y-pred", "pred", "--metric", "demographic_parity"]


def undated(text):
    """Return a report without the second in which it was made, and without the command that made it."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00|(?m:^- command: .*$|^ *\"command\": .*$)", "", text)


def one_line(capsys):
    """Return the only line on standard error; nothing may be on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert "Traceback" not in line
    assert line.isprintable()
    return line


# Status -------------------------------------------------------------------------------------


def test_a_significant_disparity_is_1_and_none_is_0(people, capsys):
    assert audit(people, *ODDS, "--sensitive", "city") == 0
    assert "No significant disparity was detected by city" in capsys.readouterr().out
    assert audit(people, *ODDS, "--sensitive", "sex") == 1
    assert "show a significant disparity, more than chance explains: by sex (" in capsys.readouterr().out


def test_the_report_says_what_a_positive_prediction_means_and_who_is_worse_off(people, capsys):
    audit(people, *ODDS, "--sensitive", "sex", "--positive-means", "denied a loan", "--unfavorable")
    out = capsys.readouterr().out
    assert "Worse off: " in out
    assert " were denied a loan more often than " in out
    assert "predicted positive" not in out
    assert audit(people, *ODDS, "--sensitive", "sex", "--positive-means", " ") == 2
    assert "--positive-means must say in words" in capsys.readouterr().err


def test_alpha_decides(tmp_path, capsys):
    path = tmp_path / "p.csv"
    pd.DataFrame({"g": ["a"] * 10 + ["b"] * 10, "pred": [1] * 7 + [0] * 3 + [1] * 2 + [0] * 8}).to_csv(
        path, index=False
    )
    assert audit(path, *DEMOGRAPHIC, "--sensitive", "g", "--alpha", "0.2") == 1
    assert audit(path, *DEMOGRAPHIC, "--sensitive", "g", "--alpha", "0.001") == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit"], "FILE"),
        (["audit", "FILE", "--sensitive", "sex"], "--y-pred"),
        (["audit", "FILE", "--y-pred", "pred"], "--sensitive"),
        (["nonsense"], "nonsense"),
        (["audit", "FILE", *BOTH, "--groups", "sex"], "No such option: --groups. Did you mean --sensitive?"),
        (["audit", "FILE", *BOTH, "--protected", "sex"], "Did you mean --sensitive?"),
        (["audit", "FILE", *BOTH, "--sensitive"], "Option '--sensitive' requires an argument"),
        (["audit", "FILE", "--y_true", "y", "--sensitive", "sex"], "Did you mean --y-true?"),
        (["audit", "FILE", "--predictions", "pred", "--sensitive", "sex"], "Did you mean --y-pred?"),
        (["impact", "FILE", "--selected", "pred", "--sensitive", "sex"], "Did you mean --y-pred?"),
        (["audit", "FILE", "--outcome", "y", "--sensitive", "sex"], "Did you mean --y-true?"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "city"], "repeat the option for each of several"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "extra"], "extra"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--format", "xml"], "xml"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--alpha", "high"], "--alpha"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--alpha", "5"], "between 0 and 1"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--alpha", "nan"], "between 0 and 1"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--alpha", "1e-17"], "--alpha must lie between 0 and 1"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--margin", "2"], "--margin of a difference must be"),
        (["power", "--metric", "equalized_odds", "--baseline", "0.3", "--n", "50"], "with --alpha 0.025 for the level"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--compare", "sideways"], "--compare"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--disparity", "sum"], "--disparity"),
        (
            ["audit", "FILE", "--y-pred", "pred", "--sensitive", "sex", "--metric", "equalized_odds"],
            "--y-true is missing: true_positive_rate, false_positive_rate needs the true labels; --metric",
        ),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--metric", "standard", "--metric", "f1"], "--metric standard"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--margin", "-1"], "--margin of a difference must be"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--margin", "wide"], "--margin"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--adjust", "max_t"], "--adjust"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--n-resamples", "some"], "--n-resamples must be a whole"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--n-resamples", "0"], "--n-resamples must be an integer"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--seed", "x"], "--seed"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--encoding", "nonsense"], "--encoding 'nonsense' is unknown"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--encoding", "hex"], "--encoding 'hex' is unknown"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--encoding", "a\0b"], "--encoding"),
        (["report"], "RECORD"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--seed", "-1"], "--seed"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--jobs", "0"], "--jobs must be an integer other than 0"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--weight", "city"], "line 2: 'x' in column 'city' (--weight)"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--y-score", "sex"], "(--y-score) is not a number"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--cluster", "cty"], "(--cluster); did you mean 'city'?"),
        (["audit", "FILE", *BOTH, "--sensitive", "sexe"], "did you mean 'sex'?"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--metric", "fairness"], "--metric 'fairness' is unknown"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--metric", "nope"], "--metric 'nope' is unknown"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--pos-label", "yes"], "--pos-label 'yes' is not a number"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--pos-label", "7"], "--pos-label 7 is not among the labels"),
        (
            ["audit", "FILE", "--y-pred", "sex", "--metric", "selection_rate", "--sensitive", "city"],
            "--pos-label is needed",
        ),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--sensitive", "sex"], "named twice"),
        (["audit", "nowhere.csv", *BOTH, "--sensitive", "sex"], "nowhere.csv: No such file"),
        (["audit", ".", *BOTH, "--sensitive", "sex"], "Is a directory"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--output", "no/such/folder.txt"], "there is no folder"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--output", "."], "is a folder"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--output", "FILE"], "is the file to be read"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--output", "a\0b"], "--output"),
        (
            ["audit", "FILE", *BOTH, "--sensitive", "sex", "--html", "no/such/folder.html"],
            "--html no/such/folder.html: t",
        ),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--json", "."], "--json .: is a folder"),
        (["audit", "FILE", *BOTH, "--sensitive", "sex", "--markdown", "FILE"], "is the file to be read"),
        (
            ["audit", "FILE", *BOTH, "--sensitive", "sex", "--html", "a", "--json", "./a"],
            "is the file that --html writes",
        ),
        (["demo", "--html", "a.html", "--no-html"], "contradict each other"),
        (["demo", "--html", "no/such/page.html"], "there is no folder"),
        (["audit", "FILE", *BOTH, "--sensitive", "a\x1b[31m\nb"], r"a\x1b[31m"),
    ],
)
def test_bad_input_is_2_with_one_line(people, capsys, arguments, says):
    assert run([str(people) if argument == "FILE" else argument for argument in arguments]) == 2
    assert says in one_line(capsys)


def test_a_column_of_more_than_200_values_is_no_feature(people, capsys):
    frame = pd.concat([pd.read_csv(people)] * 2).assign(id=range(240))
    frame.to_csv(people, index=False)
    assert run(["audit", str(people), *BOTH, "--sensitive", "id"]) == 2
    assert "240 distinct values, more than 200" in capsys.readouterr().err


def test_groups_that_are_too_small_are_named_as_the_report_lists_them(people, capsys):
    frame = pd.read_csv(people)
    frame.loc[0, "city"] = "z"
    frame.to_csv(people, index=False)
    audit(people, *DEMOGRAPHIC, "--sensitive", "sex", "--sensitive", "city")
    text, err = capsys.readouterr()
    assert 'warning: --sensitive: (f, z) left out of comparisons, having fewer than 2 people; see "Left out"' in err
    assert "excluded_" not in text + err
    assert text.count("- --sensitive: (f, z) left out of comparisons") == 1
    assert "\nLeft out" in text


def test_scores_as_predictions_are_told_of_a_threshold(people, capsys):
    frame = pd.read_csv(people)
    frame.assign(pred=np.linspace(0, 1, len(frame))).to_csv(people, index=False)
    assert audit(people, *BOTH, "--sensitive", "sex") == 2
    assert one_line(capsys).endswith("(or give --threshold 0.5 in place of --y-pred)")


def test_a_flag_is_named_where_the_package_names_a_parameter():
    assert in_terms_of_options("rename it, or set intersections=False") == "rename it, or set --no-intersections"


def test_a_file_that_cannot_be_written_is_2(people, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert audit(people, *BOTH, "--sensitive", "sex", "--output", str(people) + ".txt") == 2
    assert "No space left on device" in one_line(capsys)


def test_a_file_without_write_permission_is_refused_before_computing(people, capsys, monkeypatch):
    monkeypatch.setattr("skfairtest.cli.output.os.access", lambda *_: False)
    assert audit(people, *BOTH, "--sensitive", "sex", "--output", str(people) + ".txt") == 2
    assert "you have no permission to write it" in one_line(capsys)


def test_an_internal_failure_is_3_with_a_hint(people, capsys, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(skfairtest.cli.auditing, "audited_people", broken)
    monkeypatch.delenv("SKFAIRTEST_DEBUG", raising=False)
    assert audit(people, *BOTH, "--sensitive", "sex") == 3
    line = one_line(capsys)
    assert "internal error: ZeroDivisionError: oh no" in line
    assert "SKFAIRTEST_DEBUG=1" in line
    monkeypatch.setenv("SKFAIRTEST_DEBUG", "1")
    assert audit(people, *BOTH, "--sensitive", "sex") == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [ValueError, NotImplementedError])
def test_what_the_package_refuses_is_bad_input(people, capsys, monkeypatch, kind):
    def refuses(*_, **__):
        raise kind("sensitive_features is\n  odd")

    monkeypatch.setattr(skfairtest.cli.auditing, "audited_people", refuses)
    assert audit(people, *BOTH, "--sensitive", "sex") == 2
    assert one_line(capsys) == "skfairtest: --sensitive is odd"


def test_an_interrupt_is_130(people, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(skfairtest.cli.auditing, "audited_people", interrupted)
    assert audit(people, *BOTH, "--sensitive", "sex") == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_missing_extra_is_left_to_the_caller(people, monkeypatch):
    def missing(*_, **__):
        raise ModuleNotFoundError("no pyarrow", name="pyarrow")

    monkeypatch.setattr(skfairtest.cli.auditing, "read_people", missing)
    with pytest.raises(ModuleNotFoundError):
        audit(people, *BOTH, "--sensitive", "sex")


def test_warnings_of_the_package_are_lines_and_undefined_rates_are_not_repeated(people, capsys, monkeypatch):
    real = skfairtest.cli.auditing.audited_people

    def warning(*arguments, **options):
        warnings.warn("pos_label is\nodd", UserWarning, stacklevel=1)
        warnings.warn("pos_label is\nodd", UserWarning, stacklevel=1)
        warnings.warn("left out", UndefinedMetricWarning, stacklevel=1)
        warnings.warn("internal", RuntimeWarning, stacklevel=1)
        return real(*arguments, **options)

    monkeypatch.setattr(skfairtest.cli.auditing, "audited_people", warning)
    path = people.parent / "audit.json"
    assert audit(people, *ODDS, "--sensitive", "city", "--json", str(path)) == 0
    assert capsys.readouterr().err == "warning: --pos-label is odd\n"
    assert json.loads(path.read_text(encoding="utf-8"))["warnings"] == ["--pos-label is odd"]


def test_more_than_20_groups_are_warned_of_in_one_line(tmp_path, capsys):
    path = tmp_path / "p.csv"
    pd.DataFrame({"g": np.repeat(np.arange(21), 4), "pred": [0, 1] * 42}).to_csv(path, index=False)
    assert audit(path, *DEMOGRAPHIC, "--sensitive", "g") == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: --sensitive: column 'g' has 21 distinct values")


# Help ---------------------------------------------------------------------------------------


def test_version_and_help(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"skfairtest {__version__}\n"
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage: skfairtest" in text
    assert "skfairtest demo" in text
    assert run([]) == 0
    assert capsys.readouterr().out == text
    assert run(["audit", "--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage: skfairtest audit" in text
    assert "skfairtest audit people.csv --y-true outcome --y-pred decision" in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["nonsense"], "skfairtest -h"),
        (["report"], "skfairtest report -h"),
        (["audit", "--nope"], "skfairtest audit -h"),
    ],
)
def test_a_usage_error_names_the_help_of_its_command(arguments, hint, capsys):
    assert run(arguments) == 2
    assert one_line(capsys).endswith(f"({hint} shows what can be typed)")


COMMANDS = ["demo", "audit", "report", "count", "scan", "impact", "compare", "monitor", "power", "metrics"]


def test_every_metric_is_listed_with_the_options_that_it_needs(capsys):
    assert run(["metrics"]) == 0
    listed = dict(re.findall(r"^- (\w+)(?: \((.*?)\))?: \w", capsys.readouterr().out, flags=re.MULTILINE))
    assert listed.keys() == {*RATES, *CRITERIA, *SCORES, *CALIBRATION}
    assert listed["selection_rate"] == "--y-pred"
    assert listed["roc_auc"] == "--y-true, --y-score"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_short_h_is_help(command, capsys):
    words = [command] if command else []
    assert run([*words, "-h"]) == 0
    short = capsys.readouterr().out
    assert run([*words, "--help"]) == 0
    assert short == capsys.readouterr().out
    assert "-h, --help" in short


def test_the_help_names_every_command_in_a_whole_line(capsys):
    run(["--help"])
    commands = capsys.readouterr().out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in commands] == COMMANDS
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


@pytest.mark.parametrize("command", ["audit", "scan"])
def test_options_stand_under_headings_and_examples_at_the_end(capsys, command):
    run([command, "--help"])
    text = capsys.readouterr().out
    places = [text.index(f"\n{heading}:\n") for heading in ("Arguments", "Columns", "Reading", "The test", "Output")]
    assert places == sorted(places)
    assert places[1] < text.index("--sensitive COLUMN") < places[2] < text.index("--encoding NAME") < places[3]
    assert text.partition("\nOther options:\n")[2].split()[:2] == ["-h,", "--help"]
    assert text.index("Examples:") > text.index("-h, --help")
    assert "\nExamples:\n" in text
    assert text.rstrip().endswith("3  an internal error")


# What is computed ---------------------------------------------------------------------------


def test_one_grouping_is_the_fairness_test_of_the_same_data(tmp_path, capsys):
    compas = load_compas()
    path = tmp_path / "compas.parquet"
    compas.sensitive_features.assign(truth=compas.y_true, pred=compas.y_pred).to_parquet(path)
    options = [*BOTH, "--sensitive", "race", "--metric", "false_positive_rate"]
    assert audit(path, *options, "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], metric="false_positive_rate"
    )
    assert found["verdict"]["p_value"] == pytest.approx(test.p_value_, rel=1e-12)
    assert found["verdict"]["n_samples"] == len(compas.y_true)
    assert found["verdict"]["pos_label"] == 1
    rows = pd.DataFrame(found["parts"][0]["comparisons"])
    for name in ("value_group", "value_other", "p_value", "p_value_adjusted", "ci_low", "ci_high"):
        np.testing.assert_allclose(rows[name], test.comparisons_[name], rtol=1e-9)
    values = pd.DataFrame(found["parts"][0]["by_group"])
    np.testing.assert_allclose(values["value"], test.by_group_["value"])
    assert values["group"].tolist() == test.by_group_.index.tolist()


def test_every_option_reaches_the_audit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "city": rng.choice(["x", "y"], n),
            "truth": rng.integers(0, 2, n),
            "score": rng.random(n).round(3),
            "weight": rng.integers(1, 4, n),
            "house": np.arange(n) // 2,
        }
    )
    for name in ("sex", "city"):
        frame[name] = frame[name].groupby(frame["house"]).transform("first")
    frame["pred"] = (frame["score"] > 0.5).astype(int)
    path, other = tmp_path / "people.csv", tmp_path / "people.parquet"
    frame.to_csv(path, index=False)
    frame.to_parquet(other)
    metrics = ["selection_rate", "roc_auc"]
    expected = FairnessAudit.from_predictions(
        frame["truth"],
        frame["pred"],
        y_score=frame["score"],
        sensitive_features=frame[["sex"]],
        control_features=frame[["city"]],
        sample_weight=frame["weight"],
        clusters=frame["house"],
        metrics=metrics,
        compare="to_rest",
        disparity="ratio",
        margin=0.9,
        confidence_level=0.9,
        adjust="bonferroni",
        n_resamples=99,
        random_state=7,
    )
    options = ["--y-true", "truth", "--y-pred", "pred", "--y-score", "score", "--sensitive", "sex", "--control", "city"]
    options += ["--weight", "weight", "--cluster", "house", "--metric", "selection_rate", "--metric", "roc_auc"]
    options += ["--compare", "to_rest", "--disparity", "ratio", "--margin", "0.9", "--alpha", "0.1"]
    options += ["--adjust", "bonferroni", "--n-resamples", "99", "--seed", "7", "--jobs", "1", "--format", "json"]
    for file in (path, other):
        assert audit(file, *options) == int(expected.concern_)
        found = json.loads(capsys.readouterr().out)
        wanted = json.loads(expected.to_json())
        assert found["parameters"] == wanted["parameters"]
        shown, meant = ([row for part in each["parts"] for row in part["comparisons"]] for each in (found, wanted))
        for name in ("p_value", "p_value_adjusted", "ci_low", "disparity"):
            assert [row[name] for row in shown] == pytest.approx([row[name] for row in meant], rel=1e-9)
    # Clusters of text have another order, in which sums are not the same to the last digit.
    assert found["verdict"] == wanted["verdict"]
    assert found["parts"] == wanted["parts"]


@pytest.mark.parametrize("adjust", ["none", "fdr_bh"])
def test_other_adjustments_are_told(people, capsys, adjust):
    audit(people, *BOTH, "--sensitive", "sex", "--adjust", adjust, "--format", "json")
    assert json.loads(capsys.readouterr().out)["parameters"]["adjust"] == (None if adjust == "none" else adjust)


def test_numbers_are_audited_as_a_regression(tmp_path, capsys):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"g": np.repeat(["a", "b"], 100), "y": rng.normal(size=200)})
    frame["p"] = frame["y"] + np.where(frame["g"] == "a", 1.0, 0.0) + rng.normal(size=200) / 4
    for name in ("p.csv", "p.parquet"):
        path = tmp_path / name
        frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
        assert audit(path, "--y-true", "y", "--y-pred", "p", "--sensitive", "g", "--format", "json") == 1
        found = json.loads(capsys.readouterr().out)
        assert {row["metric"] for row in found["parts"][0]["comparisons"]} == {
            "mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error",
        }  # fmt: skip
        mean = next(row for row in found["parts"][0]["by_group"] if row["metric"] == "mean_prediction")
        assert mean["value"] == pytest.approx(frame.loc[frame["g"] == "a", "p"].mean(), rel=1e-12)


def test_scores_alone_are_audited_without_predictions(tmp_path, capsys):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"g": np.repeat(["a", "b"], 50), "y": rng.integers(0, 2, 100), "s": rng.random(100)})
    path = tmp_path / "p.csv"
    frame.to_csv(path, index=False)
    options = ["--y-true", "y", "--y-score", "s", "--sensitive", "g", "--n-resamples", "99", "--format", "json"]
    assert audit(path, *options) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert [row["metric"] for row in found["parts"][0]["comparisons"]] == ["roc_auc", "calibration"]


def test_several_groupings_are_one_family(people, capsys):
    assert audit(people, *BOTH, "--sensitive", "sex", "--sensitive", "city", "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert [part["sensitive"] for part in found["parts"]] == [["sex"], ["city"], ["sex", "city"]]
    rows = [row for part in found["parts"] for row in part["comparisons"]]
    assert [any(row["concern"] for row in part["comparisons"]) for part in found["parts"]] == [True, False, True]
    assert found["verdict"]["n_comparisons"] == len(rows)
    assert found["verdict"]["p_value"] == min(row["p_value_adjusted"] for row in rows)
    assert found["parts"][2]["comparisons"][0]["group"] == ["f", "x"]


def test_control_features_show_the_strata(tmp_path, capsys):
    data = load_berkeley()
    path = tmp_path / "berkeley.csv"
    data.sensitive_features.assign(dept=data.control_features["department"], pred=data.y_pred).to_csv(path, index=False)
    expected = FairnessAudit.from_predictions(
        None,
        data.y_pred,
        sensitive_features=data.sensitive_features,
        control_features=data.control_features.rename(columns={"department": "dept"}),
        metrics="selection_rate",
    )
    options = [*DEMOGRAPHIC, "--sensitive", "sex", "--control", "dept"]
    assert audit(path, *options, "--format", "json") == int(expected.concern_)
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]["p_value"] == pytest.approx(expected.p_value_)
    assert {row["stratum"] for row in found["parts"][0]["by_group"]} == set("ABCDEF")
    assert audit(path, *options, "--details") == int(expected.concern_)
    assert "all dept" in capsys.readouterr().out


@pytest.mark.parametrize("compare", ["to_overall", "to_rest"])
def test_groups_are_compared_with_everyone_or_the_rest(people, capsys, compare):
    assert audit(people, *DEMOGRAPHIC, "--sensitive", "sex", "--compare", compare, "--disparity", "ratio") == 1
    text = capsys.readouterr().out
    assert "everyone" in text
    assert "ratio" in text


@pytest.mark.parametrize("compare", ["to_rest", "between_groups", "to_parents"])
def test_crossed_groups_are_compared_as_asked(people, capsys, compare):
    options = [*BOTH, "--sensitive", "sex", "--sensitive", "city", "--metric", "accuracy", "--format", "json"]
    audit(people, *options, "--compare-intersections", compare)
    found = json.loads(capsys.readouterr().out)
    assert found["parameters"]["compare_intersections"] == compare
    others = {str(row["other"]) for row in found["parts"][2]["comparisons"]}
    parents = {"rest of sex = f", "rest of sex = m", "rest of city = x", "rest of city = y"}
    pairs = {"['f', 'y']", "['m', 'x']", "['m', 'y']"}
    assert others == {"to_rest": {"rest"}, "between_groups": pairs, "to_parents": parents}[compare]


def test_crossed_groups_are_compared_with_the_rest_where_nothing_is_asked(people, capsys):
    audit(people, *DEMOGRAPHIC, "--sensitive", "sex", "--sensitive", "city", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert {row["other"] for row in found["parts"][2]["comparisons"]} == {"rest"}


def test_metrics_repeat(people, capsys):
    assert (
        audit(people, *BOTH, "--sensitive", "city", "--metric", "accuracy", "--metric", "f1", "--format", "json") == 0
    )
    rows = json.loads(capsys.readouterr().out)["parts"][0]["comparisons"]
    assert [row["metric"] for row in rows] == ["accuracy", "f1"]
    assert audit(people, *BOTH, "--sensitive", "city", "--metric", "accuracy", "--metric", "f1", "--details") == 0
    text = capsys.readouterr().out
    assert "Accuracy by city: " in text
    assert "F1 by city: " in text


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(["no", "yes"], "yes"), ([1, 2], "2"), (["False", "True"], "true"), ([0, 1], "1"), ([0.0, 1.0], "1")],
)
def test_the_positive_label_is_cast(people, tmp_path, capsys, labels, pos_label):
    frame = pd.read_csv(people)
    for name in ("truth", "pred"):
        frame[name] = np.array(labels, dtype=object)[frame[name]]
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    assert audit(path, *ODDS, "--sensitive", "sex", "--pos-label", pos_label, "--format", "json") == 1
    rates = json.loads(capsys.readouterr().out)["parts"][0]["by_group"]
    assert [rate["value"] for rate in rates] == [0, 1, 0, 1]


def test_what_is_left_out_is_listed_in_every_format(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text(
        "g,h,truth,pred\n" + "a,x,1,1\na,x,0,1\nb,x,1,0\nb,x,0,0\n" * 3 + "c,x,1,1\nd,x,0,1\nd,x,0,0\n",
        encoding="utf-8",
    )
    options = [*ODDS, "--sensitive", "g", "--sensitive", "h", "--no-intersections"]
    audit(path, *options)
    text, _ = capsys.readouterr()
    left_out = text[text.index("Left out") : text.index("The rest (")]
    assert "fewer than 2 people: compared with nobody" in left_out
    assert "undefined: nobody meets the condition" in left_out
    assert "h: --sensitive (h) holds one group only" in left_out
    audit(path, *options, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert [entry["sensitive"] for entry in found["not_compared"]] == ["h"]
    assert {entry["group"] for entry in found["parts"][0]["excluded"]} == {"c", "d"}
    undefined = [rate for rate in found["parts"][0]["by_group"] if rate["n_effective"] == 0]
    assert undefined
    assert all(rate["value"] is None for rate in undefined)
    audit(path, *options, "--format", "csv")
    assert "left out" in capsys.readouterr().err


def test_a_grouping_without_a_comparison_does_not_hide_the_others(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("g,h,truth,pred\n" + "a,x,1,1\na,y,0,1\nb,x,1,0\nb,y,0,0\n" * 5, encoding="utf-8")
    audit(path, *BOTH, "--sensitive", "g", "--sensitive", "h", "--metric", "true_positive_rate", "--details")
    assert "No comparison is defined" in capsys.readouterr().out


def test_infinite_ratios_are_valid_json(people, capsys):
    frame = pd.read_csv(people).assign(pred=lambda frame: 1 - frame["pred"])
    frame.to_csv(people, index=False)
    assert audit(people, *ODDS, "--sensitive", "sex", "--disparity", "ratio", "--format", "json") == 1

    def refuse(name):
        raise AssertionError(name)

    found = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert [row["disparity"] for row in found["parts"][0]["comparisons"]] == ["inf", "inf"]


# Names are data -----------------------------------------------------------------------------


def test_hostile_names_are_shown_as_they_are_and_move_no_cursor(hostile, capsys):
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN) == 1
    text, err = capsys.readouterr()
    assert err == ""
    assert all(line.isprintable() for line in text.splitlines())
    assert "Fairness audit of [b]evil :smile:.csv" in text
    for name in HOSTILE:
        assert name.encode("unicode_escape").decode() in text or name in text
    assert r"a\x1b[31mb" in text
    assert r"[bold]grp[/bold]\x1b[1m" in text


def test_hostile_names_are_whole_in_json_and_inert_in_csv(hostile, capsys):
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN, "--format", "json") == 1
    text = capsys.readouterr().out
    assert text.isascii()
    assert "\x1b" not in text
    found = json.loads(text)
    assert {rate["group"] for rate in found["parts"][0]["by_group"]} == set(HOSTILE)
    assert found["parts"][0]["sensitive"] == [EVIL_COLUMN]
    assert found["subject"] == hostile.name
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN, "--format", "csv") == 1
    frame = pd.read_csv(StringIO(capsys.readouterr().out, newline=""), keep_default_na=False)
    assert {*frame["group"], *frame["other"]} == {escape_formula(label(name)) for name in HOSTILE}
    assert "'=1+1" in set(frame["group"])
    assert not frame.map(lambda cell: isinstance(cell, str) and cell.startswith(("=", "@", "+"))).any(axis=None)
    assert frame["disparity"].min() < 0


def test_groups_that_json_has_no_type_for_are_text(tmp_path, capsys):
    path = tmp_path / "p.parquet"
    days = pd.to_datetime(["2020-01-01", "2021-01-01"]).repeat(4)
    pd.DataFrame({"day": days, "pred": [True, False] * 4}).to_parquet(path)
    assert audit(path, *DEMOGRAPHIC, "--sensitive", "day", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parts"][0]["comparisons"][0]["group"] == "2020-01-01 00:00:00"
    assert found["verdict"]["pos_label"] is True


def test_csv_is_the_frame_of_the_audit(people, capsys):
    options = [*BOTH, "--sensitive", "sex", "--sensitive", "city"]
    assert audit(people, *options, "--format", "csv") == 1
    frame = pd.read_csv(StringIO(written := capsys.readouterr().out))
    assert frame["feature"].unique().tolist() == ["sex", "city", "sex x city"]
    assert frame["p_value"].dtype == float
    assert frame["concern"].dtype == bool
    assert "f, x" in set(frame["group"])
    audit(people, *options, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    rows = [row for part in found["parts"] for row in part["comparisons"]]
    # The reader of pandas rounds some last digits.
    p_values = [float(row["p_value"]) for row in csv.DictReader(StringIO(written))]
    assert p_values == [row["p_value"] for row in rows]
    assert frame["sentence"].tolist() == [row["sentence"] for row in rows]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|'/c calc'!A0", "'+cmd|'/c calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-1", "-1"),
        ("+1.5e3", "+1.5e3"),
        ("a=1", "a=1"),
        (-1.5, -1.5),
        (True, True),
    ],
)
def test_text_that_would_be_computed_is_marked_and_numbers_are_not(cell, written):
    assert escape_formula(cell) == written


def test_files_are_written_beside_the_table(hostile, tmp_path, capsys):
    options = [*ODDS, "--sensitive", EVIL_COLUMN]
    assert audit(hostile, *options) == 1
    table = capsys.readouterr()
    paths = {kind: tmp_path / f"report.{kind}" for kind in ("html", "json", "markdown")}
    files = [part for kind, path in paths.items() for part in (f"--{kind}", str(path))]
    assert audit(hostile, *options, *files) == 1
    again = capsys.readouterr()
    assert (undated(again.out), again.err) == (undated(table.out), table.err)
    assert json.loads(paths["json"].read_text(encoding="utf-8"))["schema"] == "skfairtest.audit"
    assert paths["html"].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "|" in paths["markdown"].read_text(encoding="utf-8")
    again = FairnessAudit.from_json(paths["json"])
    assert again.to_html() == paths["html"].read_text(encoding="utf-8")
    assert again.to_markdown() == paths["markdown"].read_text(encoding="utf-8")


def test_details_are_all_of_the_sentences_too(tmp_path, capsys):
    compas = load_compas()
    path = tmp_path / "compas.parquet"
    compas.sensitive_features.assign(truth=compas.y_true, pred=compas.y_pred).to_parquet(path)
    options = [*BOTH, "--sensitive", "race", "--metric", "false_positive_rate"]
    assert audit(path, *options, "--format", "csv") == 1
    rows = pd.read_csv(StringIO(capsys.readouterr().out))
    sentences = rows.loc[rows["concern"], "sentence"]
    assert len(sentences) > 3
    audit(path, *options)
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 60
    assert "--details shows it here" in text
    assert audit(path, *options, "--details") == 1
    text = capsys.readouterr().out
    assert all(f"- {sentence}\n" in text for sentence in sentences)


def test_csv_is_written_beside_the_report_as_on_standard_output(people, tmp_path, capsys):
    options = [*BOTH, "--sensitive", "sex"]
    assert audit(people, *options, "--format", "csv") == 1
    printed = capsys.readouterr().out
    assert audit(people, *options, "--csv", str(tmp_path / "all.csv")) == 1
    assert (tmp_path / "all.csv").read_bytes().decode() == printed


# Saved audits -------------------------------------------------------------------------------


@pytest.mark.parametrize(("sensitive", "status"), [("sex", 1), ("city", 0)])
def test_a_saved_audit_gives_the_reports_and_the_status_of_the_audit(people, tmp_path, capsys, sensitive, status):
    names = ("html", "markdown", "csv")
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    record = str(tmp_path / "audit.json")
    written = [[part for name in names for part in (f"--{name}", str(folder / name))] for folder in (first, second)]
    assert audit(people, *BOTH, "--sensitive", sensitive, "--json", record, *written[0]) == status
    table = capsys.readouterr()
    assert run(["report", record, *written[1]]) == status
    again = capsys.readouterr()
    assert (again.out, again.err) == (table.out, table.err)
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert run(["report", record, "--format", "json", "--output", str(tmp_path / "again.json")]) == status
    assert (tmp_path / "again.json").read_bytes() == Path(record).read_bytes()


def test_what_is_no_saved_audit_is_named(people, tmp_path, capsys):
    test = FairnessTest.from_predictions(None, [1, 1, 0, 0], sensitive_features=list("ffmm"), metric="selection_rate")
    files = {
        "test.json": test.to_json().encode(),
        "empty.json": b"",
        "binary.json": bytes(range(256)),
        "list.json": b"[1, 2]",
        "deep.json": b"[" * 100_000,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert run(["count", str(people), *BOTH, "--sensitive", "sex", "--output", str(tmp_path / "table.json")]) == 0
    assert run(["power", "--rate", ".3", "--rate", ".5", "--format", "json", "--output", str(tmp_path / "p.json")]) == 0
    capsys.readouterr()
    says = {
        "test.json": "is the record of a FairnessTest, of which no report can be made",
        "table.json": "is a table of counts, which 'skfairtest audit' tests",
        "p.json": "is the answer of 'skfairtest power'",
        "empty.json": "is not JSON",
        "binary.json": "is not JSON",
        "deep.json": "its lists are too deep",
        "list.json": "is not the record of an audit: its schema must be 'skfairtest.audit'; found 'list'",
        "nowhere.json": "No such file",
        ".": "Is a directory",
        "a\0b": "null byte",
    }
    for name, what in says.items():
        assert run(["report", str(tmp_path / name)]) == 2, name
        line = one_line(capsys)
        assert what in line, name
        assert line.startswith(f"skfairtest: {label(str(tmp_path / name))}: ")


def test_a_saved_audit_that_contradicts_itself_is_refused(people, tmp_path, capsys):
    record = tmp_path / "audit.json"
    assert audit(people, *BOTH, "--sensitive", "sex", "--json", str(record)) == 1
    capsys.readouterr()
    text = record.read_text(encoding="utf-8")
    record.write_text(text.replace('"concern": true', '"concern": false'), encoding="utf-8")
    assert run(["report", str(record)]) == 2
    assert "concern is False, and must be True" in one_line(capsys)


def test_a_report_does_not_overwrite_its_record(people, tmp_path, capsys):
    record = tmp_path / "audit.json"
    audit(people, *BOTH, "--sensitive", "sex", "--json", str(record))
    capsys.readouterr()
    assert run(["report", str(record), "--html", str(record)]) == 2
    assert "is the file to be read" in one_line(capsys)


@pytest.mark.parametrize(
    "format_", ["csv", *(pytest.param(name, marks=pytest.mark.slow) for name in ("table", "json", "markdown"))]
)
def test_output_goes_to_the_file_and_is_what_a_pipe_gets(hostile, tmp_path, capsys, format_):
    options = [*ODDS, "--sensitive", EVIL_COLUMN, "--format", format_, "--details"]
    audit(hostile, *options)
    printed = capsys.readouterr().out
    path = tmp_path / "report"
    assert audit(hostile, *options, "--output", str(path)) == 1
    assert capsys.readouterr().out == ""
    assert undated(path.read_bytes().decode()) == undated(printed)


def test_what_the_encoding_of_the_output_lacks_is_escaped(hostile, monkeypatch):
    import io
    import sys

    class Latin(io.TextIOWrapper):
        pass

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Latin(raw, encoding="latin-1"))
    assert audit(hostile, *BOTH, "--sensitive", EVIL_COLUMN) == 1
    assert rb"\u6f22\u5b57" in raw.getvalue()


# The demo -----------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demo_reports_what_fairness_test_finds(elsewhere, capsys):
    assert run(["demo", "--no-html", "--details"]) == 0
    text, err = capsys.readouterr()
    assert err == ""
    assert not list(elsewhere.iterdir())
    compas = load_compas()
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], metric="equalized_odds"
    )
    for key, row in test.by_group_.iterrows():
        cells = [key[1], f"{row['n']:,}", f"{row['n_effective']:,}", f"{100 * row['value']:.1f}%"]
        interval = f"{100 * row['ci_low']:.1f} to {100 * row['ci_high']:.1f}%"
        assert any(
            line.startswith(f"  {cells[0]} ") and all(c in line for c in [*cells, interval])
            for line in text.splitlines()
        )
    leading = test.comparisons_.sort_values("p_value").iloc[0]
    first, second = ("value_group", "group"), ("value_other", "other")
    value, name = first if leading["disparity"] <= 0 else second
    assert f"{100 * leading[value]:.1f}% of {leading[name]} people were rated" in text
    assert f"{100 * abs(leading['disparity']):.1f} points" in text
    assert "ProPublica" in text
    assert "propublica/compas-analysis" in text
    headline = text.index("Worse off: among people who were charged again")
    assert headline < text.index(" by race: ") < text.index("null hypotheses")
    assert "True positive rate by race x sex: " in text


def test_the_demo_writes_and_names_its_page(elsewhere, capsys):
    assert run(["demo"]) == 0
    text, err = capsys.readouterr()
    assert err == ""
    page = elsewhere / "skfairtest-demo.html"
    assert text.rstrip().endswith(str(page))
    assert "Does COMPAS treat groups alike?" in page.read_text(encoding="utf-8")
    assert "Broward County" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_demo_goes_on_where_its_page_cannot_be_written(elsewhere, capsys):
    (elsewhere / "skfairtest-demo.html").mkdir()
    assert run(["demo"]) == 0
    text, err = capsys.readouterr()
    assert "Worse off: among people who were charged again" in text
    assert err.startswith("warning: the page skfairtest-demo.html: is a folder")
    assert "--html FILE writes it elsewhere" in err
    assert run(["demo", "--html", "other.html"]) == 0
    assert "other.html" in capsys.readouterr().out


# Real files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "n"),
    [
        (
            "adult.csv.gz",
            ["--y-pred", "income", "--pos-label", ">50K", "--sensitive", "sex", "--sensitive", "race"],
            48842,
        ),
        ("german.csv", ["--y-pred", "credit_risk", "--pos-label", "1", "--sensitive", "personal_status_sex"], 1000),
        ("ricci.csv", ["--y-pred", "passed", "--sensitive", "Race", "--control", "Position"], 118),
    ],
)
def test_real_files_are_read(raw_data, capsys, name, options, n):
    assert audit(raw_data(name), *options, "--metric", "demographic_parity", "--format", "json") in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]["n_samples"] == n


def test_without_intersections_each_sensitive_column_is_all_that_is_asked(people, capsys):
    arguments = ["audit", str(people), "--y-true", "truth", "--y-pred", "pred", "--sensitive", "sex"]
    run([*arguments, "--sensitive", "city", "--no-intersections", "--format", "json"])
    alone = json.loads(capsys.readouterr().out)
    run([*arguments, "--sensitive", "city", "--format", "json"])
    crossed = json.loads(capsys.readouterr().out)
    assert len(alone["parts"]) == 2
    assert len(crossed["parts"]) == 3


def test_a_report_is_signed_and_printed_in_full_on_request(people, tmp_path, capsys):
    record, page, again = (tmp_path / name for name in ("a.json", "a.html", "b.json"))
    asked = [*BOTH, "--sensitive", "sex", "--details", "--json", str(record), "--html", str(page)]
    audit(people, *asked, "--signed-by", "Jane Doe")
    signature = json.loads(record.read_text(encoding="utf-8"))["signature"]
    assert signature["name"] == "Jane Doe"
    command = json.loads(record.read_text(encoding="utf-8"))["provenance"]["command"]
    assert shlex.split(command) == ["skfairtest", "audit", str(people), *asked, "--signed-by", "Jane Doe"]
    assert '<div class="skfairtest all">' in page.read_text(encoding="utf-8")
    run(["report", str(record), "--signed-by", "John Roe", "--format", "json", "--output", str(again)])
    assert json.loads(again.read_text(encoding="utf-8"))["signature"]["name"] == "John Roe"
    capsys.readouterr()
    assert audit(people, *BOTH, "--sensitive", "sex", "--signed-by", " ") == 2
    assert "--signed-by: is empty" in capsys.readouterr().err
