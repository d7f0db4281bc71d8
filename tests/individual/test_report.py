"""The test of individual fairness in words: exact sentences, from facts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skfairtest.individual.report import STATISTICS, WAYS, IndividualSetup, individual_report
from skfairtest.report.text import text

COLUMNS = ["person", "loss_ratio", "feature", "before", "after", "loss_increase"]
NOBODY = pd.DataFrame(columns=COLUMNS)
FACTS = SimpleNamespace(
    _setup=IndividualSetup("loss_ratio", 1.25, 0.05, "", ()),
    statistic_=1.7672520803,
    lower_bound_=1.7493232801,
    confidence_interval_=(1.7458902, 1.7886139),
    p_value_=0.0,
    verdict_="unfair",
    concern_=True,
    n_samples_=400,
    excluded_=(),
    n_features_in_=5,
    traces_=pd.DataFrame(columns=["feature", "measure", "value", "p_value", "found"]),
    changed_alone_=pd.DataFrame(columns=["feature"]),
    solver_report_={
        "gradient": "finite_differences",
        "because": "central differences of predict_proba of LogisticRegression",
        "solver": "euler",
        "n_steps": 400,
        "time": 0.3933,
        "regularization": 100.0,
        "loss": "log_loss",
        "fair_metric": "Projection",
        "n_folds": 1,
        "mean_displacement": 0.4029,
        "mean_distance": 0.002601,
        "n_worse": 400,
        "n_unusual": None,
        "n_held_back": 0,
        "n_unstable_steps": 0,
        "n_directions": 2,
        "n_features_outside": 0,
        "n_people_outside": 0,
        "statistic_because": "as asked for",
        "rejected_inside": None,
    },
)


CHANGED = pd.DataFrame(
    {
        "feature": ["insurance", "income"],
        "change": ["no -> yes", "up"],
        "n_people": [31, 1],
        "mean_change": [np.nan, 2.5],
        "worse": [0.66, 1.0],
    }
)


def test_what_changes_is_told_in_words():
    lines = individual_summary(FACTS, NOBODY).splitlines()
    assert "- insurance: no -> yes, 31 people, worse for 66%" in lines
    assert "- income: up by 2.5 on average, 1 person, worse for 100%" in lines


def individual_summary(facts, worst):
    made = {"changed_features": lambda: CHANGED, "most_unfair": lambda k, n_features: worst}
    return text(individual_report(SimpleNamespace(**vars(facts), **made)), titled=False).rstrip("\n")


def having(**changes):
    """Return the facts with changes, some of them in the setup."""
    setup = {name: changes.pop(name) for name in ("statistic", "alpha", "units", "doubts") if name in changes}
    return SimpleNamespace(**{**vars(FACTS), **changes, "_setup": replace(FACTS._setup, **setup)})


def test_a_finding_in_one_sentence():
    first, *rest = individual_summary(FACTS, NOBODY).splitlines()
    assert first.startswith(
        "Similar people are treated differently: the loss at people's unfair examples is on average 1.767 times the "
        "loss at the people; at least 1.749 with 95% confidence (two-sided 1.746 to 1.789), where 1.25 is tolerated, "
    )
    assert rest[:3] == [
        "",
        "Null hypothesis",
        "- in the population that these 400 people were drawn from, the loss at people's unfair examples is on average "
        "at most 1.25 times the loss at the people. The level holds in large samples whichever way unfair examples are "
        "found.",
    ]
    assert "does not prove" not in "\n".join(rest)


def test_no_finding_is_no_proof():
    facts = having(verdict_="not_rejected", concern_=False, p_value_=0.41, lower_bound_=1.1, statistic_=1.2)
    first, second, *_ = individual_summary(facts, NOBODY).splitlines()
    assert first.startswith("No violation of individual fairness was found: the loss at people's unfair examples is on")
    assert first.endswith("where 1.25 is tolerated, p = 0.410.")
    assert second == (
        "This does not prove that there is none: another fair metric, more steps or a better search may find one."
    )


def test_the_level_is_that_of_the_test():
    assert "with 99% confidence" in individual_summary(having(alpha=1 - 0.99), NOBODY)
    assert "with 97.5% confidence" in individual_summary(having(alpha=1 - 0.975), NOBODY)


@pytest.mark.parametrize(
    ("statistic", "words"),
    [
        ("loss_ratio", "is on average 1.767 times the loss at the people"),
        ("error_rate_ratio", "the error rate at people's unfair examples is 1.767 times the error rate at the people"),
        ("ratio_of_means", "the mean loss at people's unfair examples is 1.767 times the mean loss at the people"),
    ],
)
def test_every_statistic_has_its_sentence(statistic, words):
    assert set(STATISTICS) == {"loss_ratio", "error_rate_ratio", "ratio_of_means"}
    text = individual_summary(having(statistic=statistic), NOBODY)
    assert words in text.splitlines()[0]
    assert words.replace("1.767", "at most 1.25") in text.splitlines()[3]


@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_is_stated_with_its_reason(way):
    report = {**FACTS.solver_report_, "gradient": way, "because": "so it was"}
    assert f"- {WAYS[way]}: so it was" in individual_summary(having(solver_report_=report), NOBODY).splitlines()


def test_how_people_were_moved():
    lines = individual_summary(FACTS, NOBODY).splitlines()
    assert (
        "- the gradient flow by forward Euler, 400 steps, for a time of 0.3933, regularization 100, loss log_loss"
        in lines
    )
    assert "- similar people: Projection; they may differ in 2 of 5 directions" in lines
    (moved,) = (line for line in lines if line.startswith("- people moved"))
    assert moved == "- people moved 0.4029 on average, over a fair distance of 0.002601; the loss of 400 grew"
    other = {**FACTS.solver_report_, "solver": "implicit", "n_folds": 5, "n_unstable_steps": 2}
    text = individual_summary(having(solver_report_=other), NOBODY)
    assert "the gradient flow by steps that are implicit in the distance" in text
    assert "similar people: Projection, for each of 5 folds learned on the others; they may differ in 2 of 5" in text
    assert "- 2 unstable steps: steps are too long" in text.splitlines()
    search = {
        **FACTS.solver_report_,
        "solver": "search",
        "n_candidates": 1500,
        "gradient": "search",
        "n_steps": 1500,
        "time": 5.0,
    }
    text = individual_summary(having(solver_report_=search), NOBODY)
    assert "- 1,500 candidates per person, as far as the flow goes in a time of 5, regularization 100" in text
    assert "Euler" not in text


def test_the_worst_people_are_a_table():
    worst = pd.DataFrame(
        [("p1", 3.0, "income", 1.0, 2.5, 0.75), ("p1", 3.0, "debts", -1.0, 0.5, 0.125)], columns=COLUMNS
    )
    text = individual_summary(FACTS, worst)
    _, _, table = text.partition("Whose loss grows most, and by which changes:\n")
    header, first, second, *_ = table.splitlines()
    assert header.split() == ["person", "loss", "ratio", "feature", "before", "after", "loss", "increase"]
    assert first.split() == ["p1", "3", "income", "1", "2.5", "0.75"]
    assert second.split() == ["p1", "3", "debts", "-1", "0.5", "0.125"]
    assert "Whose loss" not in individual_summary(FACTS, NOBODY)


def test_names_are_data_and_cannot_write_on_the_terminal():
    worst = pd.DataFrame([("a\x1b[31m", 3.0, "b\nc", 1.0, 2.5, 0.75)], columns=COLUMNS)
    text = individual_summary(FACTS, worst)
    assert "\x1b" not in text
    assert "a\\x1b[31m" in text
    assert "b\\nc" in text


def test_who_was_left_out_is_told():
    assert "left out" not in individual_summary(FACTS, NOBODY)
    assert individual_summary(having(excluded_=range(1)), NOBODY).endswith(
        "1 person with missing features left out, see excluded_."
    )
    assert individual_summary(having(excluded_=range(1200)), NOBODY).endswith(
        "1,200 people with missing features left out, see excluded_."
    )


def test_doubts_are_printed_under_the_verdict():
    text = individual_summary(having(doubts=("few people", "far away")), NOBODY)
    assert text.splitlines()[1:4] == ["Doubtful: few people.", "Doubtful: far away.", ""]


def test_estimated_units_belong_to_the_null_hypothesis():
    text = individual_summary(having(units="errors in units of 3.2 (the standard deviation of y)"), NOBODY)
    assert "the loss at the people, with errors in units of 3.2 (the standard deviation of y). The level" in text


def test_features_that_left_their_range_are_counted():
    report = {
        **FACTS.solver_report_,
        "n_features_outside": 3,
        "n_people_outside": 12,
        "rejected_inside": FACTS.concern_,
    }
    lines = individual_summary(having(solver_report_=report), NOBODY).splitlines()
    told = "- 12 unfair examples went beyond where anybody is, in 3 features: feature_ranges='observed' holds them back"
    assert told in lines
    assert "where the model is asked" not in lines[0]
    report["rejected_inside"] = not FACTS.concern_
    assert "(12 of 400 unfair examples" in individual_summary(having(solver_report_=report), NOBODY).splitlines()[0]
    assert not any("beyond" in line for line in individual_summary(FACTS, NOBODY).splitlines())


def test_a_column_that_is_changed_alone_comes_first():
    row = {
        "feature": "race", "n_levels": 2, "statistic": 5.07, "ci_low": 4.4, "ci_high": 5.8, "p_value": 1e-9,
        "kind": "decision", "outcome": "yes", "n_changed": 310, "changed": 0.31, "changed_ci_low": 0.28,
        "changed_ci_high": 0.34, "level": "white", "other": "nonwhite", "n_up": 300, "n_down": 10,
        "decision_p_value": 3.2e-12,
    }  # fmt: skip
    first, *_ = individual_summary(having(changed_alone_=pd.DataFrame([row])), NOBODY).splitlines()
    assert first.startswith(
        "Changing race alone: 5.07 times the loss (95% interval 4.4 to 5.8), and the decision changes for 31% of "
        "people (95% interval 28% to 34%); with white instead of nonwhite it becomes yes for 300 and the opposite "
        "for 10 (exact McNemar test, p = 3.2e-12). Similar people are treated differently: "
    )


def test_of_people_without_a_trace_nothing_but_the_reason_is_said():
    traces = pd.DataFrame({"feature": ["sex"], "measure": ["AUC"], "value": [0.51], "p_value": [0.4], "found": [False]})
    lines = individual_summary(having(verdict_="no_trace", concern_=False, traces_=traces), NOBODY).splitlines()
    assert lines[0] == (
        "Individual fairness was not tested: X holds no trace of sex (AUC 0.51 out of fold, p = 0.400), so no "
        "direction in which similar people may differ can be learned."
    )
    assert "neither a pass nor a failure" in lines[1]
    assert len(lines) == 2


def test_hypothetical_people_are_called_so():
    report = {**FACTS.solver_report_, "n_unusual": 7, "n_held_back": 3}
    text = individual_summary(having(solver_report_=report), NOBODY)
    assert "unfair examples are hypothetical people: 7 of 400 are as unusual, in all features together, as 1 in" in text
    assert "1 in 100 of those seen; 3 were held back from more" in text
    assert "hypothetical" not in individual_summary(FACTS, NOBODY)
