"""The command that computes power: each question, in words and as numbers, and what cannot be asked."""

import json

import pytest

from skfairtest import minimum_detectable_disparity, power, required_sample_size
from skfairtest.cli.app import run


def asked(*options):
    return run(["power", *options])


def numbers(capsys, *options):
    assert asked(*options, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


RATES = ["--rate", "0.3", "--rate", "0.5"]


def test_rates_alone_ask_how_many_people_are_needed(capsys):
    found = numbers(capsys, *RATES)
    assert found["question"] == "required_sample_size"
    assert tuple(found["n_per_group"]) == required_sample_size(metric="selection_rate", rates=(0.3, 0.5)) == (95, 95)
    assert asked(*RATES) == 0
    text = capsys.readouterr().out
    assert "190 people are needed, 95 in each group, to detect a disparity with a probability of 80%" in text
    assert "if 30.0% of group 1 and 50.0% of group 2 are predicted positive." in text


def test_rates_and_people_ask_for_the_power(capsys):
    found = numbers(capsys, *RATES, "--n", "60", "--n", "200", "--alpha", "0.01")
    expected = power(metric="selection_rate", rates=(0.3, 0.5), n_per_group=(60, 200), alpha=0.01)
    assert found["question"] == "power"
    assert found["power"] == expected
    asked(*RATES, "--n", "60", "--n", "200", "--alpha", "0.01")
    text = capsys.readouterr().out
    assert f"a test of 60 and 200 people detects a disparity with a probability of {100 * expected:.1f}%" in text
    assert "at level 1%" in text
    assert f"With a probability of {100 * (1 - expected):.1f}%, it misses it" in text


def test_a_baseline_and_people_ask_what_can_be_found(capsys):
    options = ["--baseline", "0.3", "--n", "60", "--n", "200"]
    found = numbers(capsys, *options)
    expected = minimum_detectable_disparity(metric="selection_rate", baseline=0.3, n_per_group=(60, 200))
    assert found["minimum_detectable_disparity"] == expected
    assert found["baseline"] == 0.3
    asked(*options)
    text = capsys.readouterr().out
    assert f"{100 * expected:.1f} points or more with a probability of 80%" in text
    assert f": selection_rate of {100 * (0.3 + expected):.1f}% versus 30.0%" in text
    assert "a result that is not significant does not mean that there is none" in text
    down = numbers(capsys, *options, "--direction", "down")["minimum_detectable_disparity"]
    assert down == minimum_detectable_disparity(
        metric="selection_rate", baseline=0.3, n_per_group=(60, 200), direction="down"
    )
    assert down < 0


def test_one_number_of_people_is_that_of_every_group(capsys):
    one = numbers(capsys, *RATES, "--rate", "0.4", "--n", "50")
    assert one["n_per_group"] == [50, 50, 50]
    assert numbers(capsys, "--baseline", "0.3", "--n", "50")["n_per_group"] == [50, 50]


def test_shares_base_rates_and_the_test_are_handed_on(capsys):
    options = ["--metric", "true_positive_rate", "--rate", "0.1", "--rate", "0.9", "--base-rate", "0.4"]
    options += ["--share", "1", "--share", "3"]
    options += ["--disparity", "ratio", "--power", "0.5", "--compare", "to_rest"]
    found = numbers(capsys, *options)
    assert tuple(found["n_per_group"]) == required_sample_size(
        metric="true_positive_rate", rates=(0.1, 0.9), shares=(1, 3), base_rates=0.4, disparity="ratio", power=0.5,
        compare="to_rest",
    )  # fmt: skip
    asked(*options)
    text = capsys.readouterr().out
    assert "base rate" in text
    assert "among people whose true label is positive" in text


def test_a_conditional_rate_counts_the_people_who_meet_the_condition(capsys):
    asked("--metric", "true_positive_rate", *RATES)
    text = capsys.readouterr().out
    assert "190 people whose true label is positive are needed" in text
    assert "with --base-rate they are everyone in the group" in text


def test_equivalence_certifies(capsys):
    options = ["--rate", "0.3", "--rate", "0.31", "--n", "50", "--alternative", "equivalence", "--margin", "0.3"]
    assert numbers(capsys, *options)["power"] == power(
        metric="selection_rate", rates=(0.3, 0.31), n_per_group=(50, 50), alternative="equivalence", margin=0.3
    )
    asked(*options)
    assert "certifies that the groups are alike within 30.0 points" in capsys.readouterr().out
    asked("--baseline", "0.3", *options[4:])
    assert "if groups are no further apart than" in capsys.readouterr().out


def test_ratios_and_margins_are_in_the_sentences(capsys):
    asked("--baseline", "0.3", "--n", "40", "--disparity", "ratio", "--margin", "0.9")
    text = capsys.readouterr().out
    assert "a ratio of" in text
    asked(*RATES, "--n", "30", "--margin", "0.05")
    assert "detects a disparity beyond 5.0 points" in capsys.readouterr().out
    asked("--baseline", "0.3", "--n", "90", "--compare", "to_overall")
    assert "or more with a probability of 80%." in capsys.readouterr().out


def test_a_margin_has_two_ends(capsys):
    options = [*RATES, "--n", "50", "--alternative", "equivalence", "--margin"]
    assert numbers(capsys, *options, "-0.4:")["power"] == power(
        metric="selection_rate", rates=(0.3, 0.5), n_per_group=(50, 50), alternative="equivalence", margin=(-0.4, None)
    )
    asked(*options, "-0.4:")
    assert "certifies that the difference lies at or above -40.0 points with" in capsys.readouterr().out
    asked(*options, "0.2:3", "--disparity", "ratio")
    assert "certifies that the ratio lies within 0.20 to 3.00 with" in capsys.readouterr().out


def test_means_are_pairs_and_criteria_are_named(capsys):
    found = numbers(capsys, "--metric", "mean_prediction", "--rate", "10:3", "--rate", "15:3")
    assert tuple(found["n_per_group"]) == required_sample_size(metric="mean_prediction", rates=((10, 3), (15, 3)))
    asked("--metric", "mean_prediction", "--rate", "10:3", "--rate", "15:3")
    assert "mean_prediction is 10 (standard deviation 3) in group 1" in capsys.readouterr().out
    names = [("true_positive_rate", (0.7, 0.9)), ("false_positive_rate", (0.1, 0.2))]
    options = [part for name, values in names for value in values for part in ("--rate", f"{name}={value}")]
    options = ["--metric", "equalized_odds", *options, "--base-rate", "0.3", "--n", "5"]
    assert numbers(capsys, *options)["power"] == power(
        metric="equalized_odds", rates=dict(names), n_per_group=(5, 5), base_rates=0.3
    )
    asked(*options)
    text = capsys.readouterr().out
    assert "70.0% of group 1 and 90.0% of group 2 are predicted positive among people whose true label is pos" in text
    asked("--metric", "roc_auc", "--baseline", "0.7", "--n", "40", "--base-rate", "0.5")
    assert "roc_auc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "nothing to compute from"),
        (["--n", "50"], "nothing to compute from"),
        ([*RATES, "--baseline", "0.3"], "two questions"),
        (["--baseline", "0.3"], "--n is missing"),
        ([*RATES, "--n", "50", "--power", "0.8"], "leave out --power"),
        ([*RATES, "--n", "50", "--share", "1"], "leave it out where --n is given"),
        ([*RATES, "--direction", "up"], "leave it out with --rate"),
        (["--rate", "0.3"], "for one group"),
        (["--rate", "0.3", "--rate", "much"], "must be a number such as 0.3"),
        (["--rate", "0.3", "--rate", "1:2:3"], "must be a number such as 0.3"),
        (["--rate", "0.3", "--rate", "1.5"], "--rate must lie between 0 and 1"),
        (["--rate", "0.3", "--rate", "0.3"], "no power at any size"),
        (["--rate", "0.3", "--rate", "0.4:1"], "--rate must lie between 0 and 1"),
        (["--metric", "mean_prediction", *RATES], "--rate of --metric 'mean_prediction' must be pairs"),
        ([*RATES, "--n", "50", "--n", "60", "--n", "70"], "--n is given 3 times for 2 groups"),
        ([*RATES, "--n", "1"], "--n must be integers from 2 to"),
        ([*RATES, "--n", "many"], "--n"),
        ([*RATES, "--base-rate", "0.5"], "--base-rate"),
        ([*RATES, "--share", "1", "--share", "2", "--share", "3"], "--share is given 3 times"),
        ([*RATES, "--share", "0", "--share", "1"], "--share must be positive"),
        ([*RATES, "--power", "1.5"], "--power must be a number between 0 and 1"),
        ([*RATES, "--alpha", "2"], "--alpha must lie between 0 and 1"),
        ([*RATES, "--metric", "nope"], "--metric 'nope' is unknown"),
        (
            [*RATES, "--metric", "equalized_odds"],
            "is several rates: give each, once per group, such as --rate",
        ),
        (["--metric", "f1", "--rate", "f1=0.3", "--rate", "x=0.3"], "must be numbers alone"),
        (["--rate", "a=0.3", "--rate", "a=0.5", "--rate", "b=0.5"], "the same groups of every rate"),
        (["--baseline", "a=0.3", "--n", "50"], "must be one number"),
        (["--baseline", "0.3", "--n", "5"], "is not reached by any disparity"),
        ([*RATES, "--margin", "a:b"], "--margin must be a number such as 0.05, or LOW:HIGH"),
        ([*RATES, "--alternative", "equivalence"], "--margin is missing: --alternative 'equivalence' needs"),
        ([*RATES, "--rate", "0.4", "--alternative", "greater"], "--alternative 'greater' needs a direction"),
        ([*RATES, "--output", "no/such/folder"], "there is no folder"),
        ([*RATES, "--format", "csv"], "--format"),
    ],
)
def test_what_cannot_be_asked_is_2_with_one_line(capsys, options, says):
    assert asked(*options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert says in line


def test_the_answer_goes_to_a_file(tmp_path, capsys):
    path = tmp_path / "power.txt"
    assert asked(*RATES, "--output", str(path)) == 0
    assert capsys.readouterr() == ("", "")
    assert "190 people are needed" in path.read_text(encoding="utf-8")
