"""``skfairtest monitor``: what a nightly job sees of a stream, and that its state survives everything."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfairtest import SequentialFairnessTest
from skfairtest.cli.app import run


def people(week, gap=0.25, n=150):
    rng = np.random.default_rng(week)
    sex = rng.choice(["f", "m"], n)
    hired = rng.random(n) < 0.3 + gap * (sex == "m")
    truth = rng.random(n) < 0.5
    return pd.DataFrame({"sex": sex, "hired": np.where(hired, "yes", "no"), "truth": np.where(truth, "yes", "no")})


@pytest.fixture
def week(tmp_path):
    """Write the file of a week."""

    def write(number, **more):
        path = tmp_path / f"week{number}.csv"
        people(number, **more).to_csv(path, index=False)
        return path

    return write


COLUMNS = ["--y-pred", "hired", "--sensitive", "sex", "--pos-label", "yes"]


def monitor(state, path, *options):
    return run(["monitor", str(state), "--batch", str(path), *COLUMNS, *options])


def test_a_job_writes_one_line_a_night_and_turns_to_status_1(tmp_path, week, capsys):
    state, statuses = tmp_path / "state.json", []
    for number in range(12):
        statuses.append(monitor(state, week(number)))
        out = capsys.readouterr()
        assert out.out.count("\n") == 1
        assert not out.err
    assert statuses[0] == 0
    first = statuses.index(1)
    assert statuses[first:] == [1] * (12 - first)
    assert f"Significant disparity in 12 batches (1,800 samples): first at look {first + 1}" in out.out
    own = SequentialFairnessTest(pos_label="yes")
    for number in range(12):
        data = people(number)
        own.partial_fit(y_pred=data["hired"], sensitive_features=data[["sex"]])
    assert SequentialFairnessTest.from_json(state).p_value_ == own.p_value_


def test_two_runs_at_once_on_one_state_are_an_error_that_says_what_to_do(tmp_path, week, capsys):
    filelock = pytest.importorskip("filelock")
    state, lock = tmp_path / "state.json", tmp_path / "state.json.lock"
    # What a dead process has left holds nobody up.
    lock.write_text("process 7, since 2026-05-01 03:00:00")
    assert monitor(state, week(0, gap=0)) == 0
    before = state.read_bytes()
    with filelock.FileLock(lock):
        assert monitor(state, week(1, gap=0)) == 2
    assert "another run is working on it. Run this again when it has ended" in capsys.readouterr().err
    assert state.read_bytes() == before
    assert monitor(state, week(1, gap=0)) == 0


def test_a_link_to_a_state_shares_its_lock_and_stays_a_link(tmp_path, week):
    filelock = pytest.importorskip("filelock")
    (tmp_path / "real").mkdir()
    state, link = tmp_path / "real" / "state.json", tmp_path / "link.json"
    assert monitor(state, week(0, gap=0)) == 0
    link.symlink_to(state)
    with filelock.FileLock(f"{state}.lock"):
        assert monitor(link, week(1, gap=0)) == 2
    assert monitor(link, week(1, gap=0)) == 0
    assert link.is_symlink()
    assert SequentialFairnessTest.from_json(state).n_batches_ == 2
    assert not (tmp_path / "link.json.lock").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--y-pred", "hired", "--sensitive", "truth"],
            "--sensitive[0] of the batch is 'truth', and of earlier batches it was 'sex'",
        ),
        (["--y-pred", "truth", "--sensitive", "sex"], "is 'truth', and of earlier batches it was 'hired'"),
        (["--y-score", "score", "--sensitive", "sex"], "is 'score', and of earlier batches it was 'hired'"),
    ],
)
def test_a_batch_of_other_columns_is_refused(tmp_path, capsys, options, says):
    state = tmp_path / "state.json"
    data = people(0, gap=0).assign(hired=lambda d: (d["hired"] == "yes") * 1, truth=lambda d: (d["truth"] == "yes") * 1)
    for number in range(2):
        data[number::2].assign(score=data["hired"]).to_csv(tmp_path / f"{number}.csv", index=False)
    first = ["monitor", str(state), "--batch", str(tmp_path / "0.csv"), "--y-pred", "hired", "--sensitive", "sex"]
    assert run(first) == 0
    before = state.read_bytes()
    assert run(["monitor", str(state), "--batch", str(tmp_path / "1.csv"), *options]) == 2
    assert says in capsys.readouterr().err
    assert state.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_output_that_cannot_be_written_says_that_the_state_has_advanced(tmp_path, week, capfd, monkeypatch):
    state = tmp_path / "state.json"
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert monitor(state, week(0, gap=0)) == 2
    assert f"the batch was added: STATE {state} has advanced" in capfd.readouterr().err
    assert SequentialFairnessTest.from_json(state).n_batches_ == 1


def test_a_file_fed_twice_changes_nothing_and_is_said(tmp_path, week, capsys):
    state, path = tmp_path / "state.json", week(1)
    monitor(state, path)
    before = state.read_text()
    assert monitor(state, path) == 0
    assert state.read_text() == before
    out = capsys.readouterr()
    assert "was added already: nothing was changed" in out.err
    assert "in 1 batch " in out.out
    # Line ends and compression are not part of a batch; other rows under its name are an error.
    crlf = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(gzip.compress(crlf))
    assert monitor(state, path) == 0
    assert state.read_text() == before
    week(2).replace(path)
    assert monitor(state, path) == 2
    assert "'week1.csv' is that of a batch with other predictions or groups" in capsys.readouterr().err
    assert state.read_text() == before
    path.write_bytes(crlf)
    monitor(state, path, "--name", "again")
    assert "batch 'again' has the same rows as batch 'week1.csv': both count" in capsys.readouterr().err


def test_batches_from_a_pipe_need_names_and_all_of_them_count(tmp_path, week, capsys, monkeypatch):
    state = tmp_path / "state.json"
    for number in range(4):
        reader, writer = os.pipe()
        os.write(writer, week(number, n=400).read_bytes())
        os.close(writer)
        with open(reader, encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert monitor(state, "-") == 2
            assert "--name is missing" in capsys.readouterr().err
            assert monitor(state, "-", "--name", f"week{number}") in (0, 1)
    assert "in 4 batches (1,600 samples)" in capsys.readouterr().out


def test_labels_come_later_under_the_name_of_their_batch(tmp_path, week, capsys):
    state, path = tmp_path / "state.json", week(3)
    asked = ["--metric", "equalized_odds", "--name", "May"]
    assert monitor(state, path, *asked) == 0
    assert "0 batches" in capsys.readouterr().out
    assert monitor(state, path, *asked, "--y-true", "truth") == 0
    test = SequentialFairnessTest.from_json(state)
    assert test.pending_.empty
    assert test.n_samples_ == 150


def test_the_page_and_the_section_are_those_of_the_class(tmp_path, week):
    state = tmp_path / "state.json"
    for number in range(3):
        monitor(state, week(number))
    for number in (3, 4):  # the second one replaces what the first has written
        monitor(state, week(number), "--html", str(tmp_path / "page.html"), "--markdown", str(tmp_path / "card.md"))
    assert (tmp_path / "card.md").read_text() == SequentialFairnessTest.from_json(state).to_markdown()
    assert "<svg" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "0.01"], "--alpha 0.01: "),
        (["--metric", "accuracy"], "--metric ['accuracy']: "),
        (["--group", "f", "--group", "m"], "--group ['f', 'm']: "),
        (["--y-score", "hired"], "name one column of predictions"),
    ],
)
def test_what_cannot_be_done_is_status_2_and_leaves_the_state_alone(tmp_path, week, capsys, options, message):
    state = tmp_path / "state.json"
    monitor(state, week(0))
    before = state.read_text()
    assert monitor(state, week(1), *options) == 2
    assert message in capsys.readouterr().err
    assert state.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "state.json",
        "state.json.lock",
        "week0.csv",
        "week1.csv",
    ]


def test_a_file_that_is_no_state_is_refused_and_kept(tmp_path, week, capsys):
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"something": "else"}))
    assert monitor(state, week(0)) == 2
    assert "source must be what SequentialFairnessTest.to_json writes" in capsys.readouterr().err
    assert json.loads(state.read_text()) == {"something": "else"}


def test_queues_are_asked_for_in_the_first_run(tmp_path, week):
    state = tmp_path / "state.json"
    assert monitor(state, week(0, gap=0), "--blocks", "queues") == monitor(state, week(1, gap=0)) == 0
    assert SequentialFairnessTest.from_json(state).blocks_ == "queues"


def test_a_state_that_cannot_be_written_is_as_it_was(tmp_path, week, monkeypatch):
    state = tmp_path / "state.json"
    monitor(state, week(0))
    before = state.read_text()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert monitor(state, week(1)) == 2
    assert state.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "state.json",
        "state.json.lock",
        "week0.csv",
        "week1.csv",
    ]
