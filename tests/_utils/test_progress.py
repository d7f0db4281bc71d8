"""One line for nested computations, and none without a request."""

import re

import numpy as np
import pytest

from skfairtest import FairnessTest
from skfairtest._utils import progress as _progress
from skfairtest._utils.progress import Line, progress, shown_by


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)


def test_nothing_is_shown_that_nobody_asked_for(capsys):
    with progress("audit", 2, False) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_nested_computations_share_one_line_that_names_them_all_and_is_wiped(capsys):
    with progress("audit", 2, True) as outer, progress("[red]auc\x1b[1m", 2, False) as inner:
        inner()
        outer()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [text.strip() for text in re.split("\r", shown.err)] == [
        "", "audit: 0%", r"audit: [red]auc\x1b[1m: 0%", r"audit: [red]auc\x1b[1m: 25%",
        r"audit: [red]auc\x1b[1m: 75%", "", "",
    ]  # fmt: skip
    with progress("next", 1, True) as advance:
        advance()
    assert "next: 100%" in capsys.readouterr().err


def test_nothing_is_shown_of_what_takes_no_time(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "NOTICEABLE", 60.0)
    with progress("audit", 1, True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_without_standard_error_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    finished = []
    with progress("test", 2, show=True) as advance:
        for part in range(2):
            advance()
            finished.append(part)
    assert finished == [0, 1]


def test_a_line_of_somebody_else_shows_what_was_not_asked_to_show_itself(capsys):
    with shown_by(Line()), progress("race", 2, False) as advance:
        advance()
    assert "race: 50%" in capsys.readouterr().err
    with progress("afterwards", 1, False) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


class Recorded(Line):
    """A line that is not drawn: it keeps the shares that it would show."""

    def __init__(self):
        super().__init__()
        self.shares = []

    def show(self, text):
        self.shares.append(self.share)


def test_no_share_falls_or_is_more_than_all_also_after_a_failure():
    line = Recorded()
    with shown_by(line):
        with progress("audit", 2, False) as outer:
            for _ in range(2):
                for _ in range(2):
                    with progress("part", 1, False) as inner:
                        inner()
                outer()
        assert line.shares == sorted(line.shares)
        assert set(line.shares) == {0.0, 0.5, 1.0}
        with pytest.raises(ZeroDivisionError), progress("audit", 1, False):
            raise ZeroDivisionError
        with progress("nothing", 0, False):
            assert line.share == 0


def test_exact_tests_of_many_groups_go_from_nothing_to_all_one_pair_at_a_time():
    rng = np.random.default_rng(0)
    y_true, y_pred, group = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, 6, 300)
    line = Recorded()
    with shown_by(line):
        FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=["accuracy", "zero_one_loss"])
    assert line.shares == sorted(line.shares)
    assert line.shares[-1] == 1.0
    # Nothing, 15 pairs of groups, of which the error rate's are the accuracy's, and both rates.
    assert len(set(line.shares)) == 17
