"""The command that computes power: each question, in words and as numbers, and what cannot be asked."""

import json

import pytest

from skfairtest import power, required_sample_size
from skfairtest.cli.app import run


def asked(*options):
    return run(["power", *options])


def numbers(tmp_path, *options):
    path = tmp_path / "power.json"
    assert asked(*options, "--json", str(path)) == 0
    return json.loads(path.read_text(encoding="utf-8"))


RATES = ["--rate", "0.3", "--rate", "0.5"]
ODDS = {"true_positive_rate": (0.7, 0.9), "false_positive_rate": (0.1, 0.2)}


@pytest.mark.parametrize(
    ("options", "function", "params", "says"),
    [
        (RATES, required_sample_size, {"rates": (0.3, 0.5)}, "190 people are needed (95 in each group) to detect"),
        (
            [*RATES, "--n", "60", "--n", "200", "--alpha", "0.01"],
            power,
            {"rates": (0.3, 0.5), "n_per_group": (60, 200), "alpha": 0.01},
            "a test of 60 people in group 1 and 200 people in group 2 will detect a disparity with a probability of ",
        ),
        (
            [*("--metric", "true_positive_rate", "--rate", "0.02", "--rate", "0.98", "--base-rate", "0.9"),
             *("--share", "1", "--share", "3", "--disparity", "ratio", "--power", "0.5", "--compare", "to_rest")],
            required_sample_size,
            {"metric": "true_positive_rate", "rates": (0.02, 0.98), "shares": (1, 3), "base_rates": 0.9, "power": 0.5,
             "disparity": "ratio", "compare": "to_rest"},
            "to detect a disparity with a probability of 50%",
        ),
        (
            [*RATES, "--n", "50", "--alternative", "equivalence", "--margin", "-0.4:"],
            power,
            {"rates": (0.3, 0.5), "n_per_group": (50, 50), "alternative": "equivalence", "margin": (-0.4, None)},
            "within the margin of -0.4 to any value",
        ),
        (
            ["--metric", "mean_prediction", "--rate", "10:3", "--rate", "15:3"],
            required_sample_size,
            {"metric": "mean_prediction", "rates": ((10, 3), (15, 3))},
            "mean_prediction is 10 (standard deviation 3) in group 1",
        ),
        (
            [*("--metric", "equalized_odds", "--base-rate", "0.3", "--n", "5"),
             *(part for name, values in ODDS.items() for value in values for part in ("--rate", f"{name}={value}"))],
            power,
            {"metric": "equalized_odds", "rates": ODDS, "n_per_group": (5, 5), "base_rates": 0.3},
            "true_positive_rate is 0.7 in group 1 and 0.9 in group 2, and false_positive_rate is",
        ),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_the_function(tmp_path, capsys, options, function, params, says):
    found = numbers(tmp_path, *options)
    expected = function(**{"metric": "selection_rate", **params})
    assert found["question"] == function.__name__
    assert says in found["sentences"][0]
    key = "n_per_group" if function is required_sample_size else function.__name__
    assert (tuple(found[key]) if function is required_sample_size else found[key]) == expected
    assert capsys.readouterr().out == "".join(f"{sentence}\n" for sentence in found["sentences"])
