"""Files are as they were or written as a whole, at every door that writes one."""

import os
import stat
import sys
from functools import cache
from pathlib import Path

import pytest

from skfairtest import FairnessAudit, FairnessTest, SequentialFairnessTest
from skfairtest._utils.files import replaced, write_text

PEOPLE = {"y_pred": [1, 1, 1, 0] * 5, "sensitive_features": {"sex": list("fffm") * 5}}


@cache
def writers():
    test = FairnessTest.from_predictions(None, metric="selection_rate", **PEOPLE)
    audit = FairnessAudit.from_predictions(None, **PEOPLE)
    stream = SequentialFairnessTest().partial_fit(**PEOPLE)
    tests = {f"{name} of {type(each).__name__}": getattr(each, name)
             for each in (test, audit, stream) for name in ("to_json", "to_html")}  # fmt: skip
    return {
        **tests,
        "text": test.to_text,
        "markdown": test.to_markdown,
    }


NAMES = [f"{name} of {kind}" for kind in ("FairnessTest", "FairnessAudit", "SequentialFairnessTest")
         for name in ("to_json", "to_html")]  # fmt: skip


@pytest.fixture(params=[*NAMES, "text", "markdown"])
def write(request):
    return writers()[request.param]


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_has_the_mode_of_the_umask_and_an_old_one_keeps_its_own(tmp_path, write, umask):
    path = tmp_path / "out.json"
    write(path)
    assert mode(path) == 0o640
    path.chmod(0o604)
    write(path)
    assert mode(path) == 0o604
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path, write):
    (tmp_path / "real").mkdir()
    real, link, dangling = tmp_path / "real" / "file.json", tmp_path / "link.json", tmp_path / "dangling.json"
    real.write_text("old")
    link.symlink_to("real/file.json")
    dangling.symlink_to("real/new.json")
    for path in (link, dangling):
        write(path)
        assert path.is_symlink()
    assert (tmp_path / "real" / "new.json").stat().st_size > 20
    assert real.stat().st_size > 20
    assert sorted(os.listdir(tmp_path)) == ["dangling.json", "link.json", "real"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX's")
def test_a_full_disk_leaves_the_old_file(tmp_path, write):
    import resource

    path, new = tmp_path / "out.json", tmp_path / "new.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        for each in (path, new):
            with pytest.raises(Exception, match="too large"):
                write(each)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def interrupted(path):
    with replaced(path) as name:
        Path(name).write_text("torso")
        raise ZeroDivisionError


def test_a_writer_that_fails_half_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text("old", path)
    with pytest.raises(ZeroDivisionError):
        interrupted(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_devices_and_pipes_are_written_to_directly(tmp_path):
    write_text("gone", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left"):
        write_text("text", "/dev/full")
    reader, writer = os.pipe()
    write_text("through a pipe", f"/dev/fd/{writer}")
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        assert pipe.read() == "through a pipe"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may write every file")
def test_a_file_that_is_read_only_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"Permission denied.*a\.txt"):
        write_text("new", path)
    assert path.read_text() == "old"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing"):
        write_text("text", tmp_path / "missing" / "a.txt")


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("ü" * 120 + ".json")
    write_text("text", path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["text"]
