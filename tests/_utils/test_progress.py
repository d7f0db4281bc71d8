"""One bar for nested computations, and no bar without a request."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console

from skfairtest import FairnessTest
from skfairtest._utils import progress as _progress
from skfairtest._utils.progress import Bar, Step, progress, share_of, shown_by


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)


def screen():
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def test_nothing_is_shown_that_nobody_asked_for(capsys):
    with progress("audit", 2, False) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_nested_computations_share_one_bar_that_names_them_all(capsys):
    with progress("audit", 2, True) as outer, progress("race", 1, True) as middle, progress("auc", 4, True) as inner:
        inner()
        middle()
        outer()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "audit" in shown.err
    with progress("next", 1, True) as advance:
        advance()
    assert "next" in capsys.readouterr().err


def test_without_rich_the_names_and_the_share_are_a_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with progress("audit", 2, True) as outer, progress("[red]auc\x1b[1m", 2, False) as inner:
        inner()
        outer()
    assert r"audit: [red]auc\x1b[1m: 25%" in capsys.readouterr().err


def test_a_notebook_without_ipywidgets_has_the_line_and_no_advice(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with shown_by(Bar(Console(force_jupyter=True))), progress("audit", 2, False) as advance:
        advance()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "\raudit: 0%\raudit: 50%\n"


def test_a_bar_of_somebody_else_shows_what_was_not_asked_to_show_itself(capsys):
    console = screen()
    with shown_by(Bar(console)), progress("[red]x[/red]", 2, False) as advance:
        advance()
    assert "[red]x[/red]" in console.file.getvalue()
    assert "50%" in console.file.getvalue()
    assert capsys.readouterr() == ("", "")
    with progress("afterwards", 1, False) as advance:
        advance()
    assert "afterwards" not in console.file.getvalue()


def test_no_bar_goes_back_and_none_is_open_after_a_failure():
    console = screen()
    shares = []
    bar = Bar(console)
    with shown_by(bar):
        with progress("audit", 2, False) as outer:
            for _ in range(2):
                for _ in range(2):
                    with progress("part", 1, False) as inner:
                        inner()
                        shares.append(bar._share)
                outer()
        with pytest.raises(ZeroDivisionError), progress("audit", 1, False):
            raise ZeroDivisionError
        with progress("again", 1, False) as advance:
            advance()
    assert shares == sorted(shares) == [0.5, 0.5, 1.0, 1.0]
    assert "again" in console.file.getvalue()


@pytest.mark.parametrize(
    ("steps", "share"),
    [([], 0), ([Step("a", 0)], 0), ([Step("a", 4, 1)], 0.25), ([Step("a", 2, 2), Step("b", 3, 3)], 1)],
)
def test_a_share_is_never_more_than_all(steps, share):
    assert share_of(steps) == share


class Recorded(Bar):
    """A bar that is not drawn: it keeps the shares that it would show."""

    def __init__(self):
        super().__init__()
        self.shares = []

    def _open(self):
        self._show = lambda what, share: self.shares.append(share)


def test_exact_tests_of_many_groups_go_from_nothing_to_all_one_pair_at_a_time():
    rng = np.random.default_rng(0)
    y_true, y_pred, group = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, 6, 300)
    bar = Recorded()
    with shown_by(bar):
        FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, metric=["accuracy", "zero_one_loss"])
    assert bar.shares == sorted(bar.shares)
    assert bar.shares[-1] == 1.0
    # Nothing, 15 pairs of groups, of which the error rate's are the accuracy's, and both rates.
    assert len(set(bar.shares)) == 17
