"""One line for nested computations, and no line without a request."""

import numpy as np
import pytest

from skfairtest import FairnessTest
from skfairtest._utils import progress as _progress
from skfairtest._utils.progress import Bar, Step, progress, share_of, shown_by


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)


def test_nothing_is_shown_without_a_request_or_before_a_second(capsys, monkeypatch):
    with progress("audit", 2, False) as advance:
        advance()
    monkeypatch.setattr(_progress, "NOTICEABLE", 1.0)
    with progress("audit", 2, True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_nested_computations_share_one_line_that_names_them_all(capsys):
    with progress("audit", 2, True) as outer, progress("\x1b[1mauc", 2, True) as inner:
        inner()
        outer()
    with progress("next", 1, True) as advance:
        advance()
    written = [line.rstrip(" ") for line in capsys.readouterr().err.split("\r")]
    inside = r"audit: \x1b[1mauc: "
    assert written == ["", "audit: 0%", f"{inside}0%", f"{inside}25%", f"{inside}75%\n", "next: 0%", "next: 100%\n"]


def test_a_transient_line_shows_what_was_not_asked_to_show_itself_and_disappears(capsys):
    with shown_by(Bar(transient=True)), progress("x", 2, False) as advance:
        advance()
    assert capsys.readouterr() == ("", "\rx: 0%\rx: 50%\r      \r")
    with progress("afterwards", 1, False) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


class Recorded(Bar):
    """A line that is not written: it keeps the percentages that it would show."""

    def __init__(self):
        super().__init__()
        self.shares = []

    def _write(self, text):
        if "%" in text:
            self.shares.append(int(text.rstrip().split(" ")[-1].rstrip("%")))


def test_no_percentage_goes_back_and_no_line_is_open_after_a_failure():
    bar = Recorded()
    with shown_by(bar):
        with progress("audit", 2, False) as outer:
            for _ in range(2):
                for _ in range(2):
                    with progress("part", 1, False) as inner:
                        inner()
                outer()
        assert list(dict.fromkeys(bar.shares)) == [0, 50, 100]
        with pytest.raises(ZeroDivisionError), progress("audit", 1, False):
            raise ZeroDivisionError
        with progress("again", 1, False) as advance:
            advance()
    assert bar.shares[-3:] == [0, 0, 100]


@pytest.mark.parametrize(
    ("steps", "share"),
    [([], 0), ([Step("a", 0)], 0), ([Step("a", 4, 1)], 0.25), ([Step("a", 2, 2), Step("b", 3, 3)], 1)],
)
def test_a_share_is_never_more_than_all(steps, share):
    assert share_of(steps) == share


def test_exact_tests_of_many_groups_go_from_nothing_to_all_one_pair_at_a_time():
    rng = np.random.default_rng(0)
    y_true, y_pred, group = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, 6, 300)
    bar = Recorded()
    with shown_by(bar):
        FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=["accuracy", "zero_one_loss"])
    assert bar.shares == sorted(bar.shares)
    assert bar.shares[-1] == 100
    # 15 pairs of groups, of which the error rate's are the accuracy's.
    assert len(set(bar.shares)) == 16
