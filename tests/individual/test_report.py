"""The test of individual fairness in words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual.report import STATISTICS


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["skill", "debts", "b\nc"], index=[f"p{i}" for i in range(300)])
    return X, (rng.random(300) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(int)


@pytest.fixture(scope="module")
def report(people):
    def made(X=people[0], **params):
        model = LogisticRegression().fit(*people)
        return IndividualFairnessTest(model, fair_metric=Projection("b\nc"), **params).fit(X, people[1])

    return made


@pytest.mark.parametrize("statistic", STATISTICS)
def test_verdict_and_hypothesis_are_sentences_with_the_numbers_of_the_test(report, statistic):
    test = report(statistic=statistic, confidence_level=0.975)
    says, (low, high) = STATISTICS[statistic], test.confidence_interval_
    verdict, _, head, hypothesis, *_ = str(test).splitlines()
    assert verdict.startswith(
        f"Similar people are treated differently: {says.format(f'{test.statistic_:.4g}')} (97.5% interval {low:.4g} to "
        f"{high:.4g}, at least {test.lower_bound_:.4g}), where 1.25 is tolerated, p = "
    )
    assert (head, hypothesis) == ("Null hypothesis", f"- among people like these 300, {says.format('at most 1.25')}.")
    assert "does not prove" not in str(test)


def test_no_finding_is_no_proof(report):
    test = report(tolerance=50.0)
    first, second, *_ = str(test).splitlines()
    assert first.startswith("No violation of individual fairness was found: ")
    assert second.startswith("This does not prove that there is none")
    assert test.sentences()[:2] == (first, second)


def test_the_report_says_what_was_run_and_what_changed(report, people):
    test = report()
    text = "\n".join(test.sentences())
    for name in ("because", "statistic_because", "loss"):
        assert str(test.solver_report_[name]) in text
    told = str(test)
    worst = test.most_unfair(1)["person"][0]
    assert told.partition("Whose loss grows most")[2].splitlines()[2].split()[0] == worst
    assert "What changes:" in told
    assert "b\\nc" in told  # a name is data, and cannot write on the terminal
    assert "left out" not in told
    X = people[0].copy()
    X.iloc[0, 0] = np.nan
    with pytest.warns(UserWarning, match="1 person left out"):
        assert "1 person left out, see excluded_." in str(report(X))


def test_doubts_stand_under_the_verdict(people):
    X, y = people
    with pytest.warns(UserWarning, match="normal approximation"):
        test = IndividualFairnessTest(LogisticRegression().fit(X, y), fair_metric=Projection("debts")).fit(X[:9], y[:9])
    assert any(line.startswith("Doubtful: X has 9 people") for line in str(test).splitlines()[1:4])
