"""Every command that writes, and every form of model: killed at each step, refused, cut off."""

import errno
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hostile.sabotage import Killed, Sabotage, abandon, sabotaged
from hostile.writers import (
    COMMANDS,
    LONG,
    READERS,
    SAVES,
    WRITERS,
    Camera,
    asked,
    every_command,
    old_file,
    program,
    saved,
)
from messages import raises_saying
from pinesy import DataError, load
from pinesy._common import console
from pinesy._common.files import SCRATCH, scratch_directory


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put temporary directories where they are seen, and notices out of sight."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(console, "NOTICE_AFTER", 600.0)
    monkeypatch.setenv("COLUMNS", "200")


def run(command: str, arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process; return its exit code and what it said of errors."""
    found = CliRunner().invoke(program(command), arguments)
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.stderr


def writer(name: str, place: Path) -> tuple[Callable[[], tuple[int, str]], Path]:
    """Return what writes a file, as a command or in Python, and the file."""
    words, path = asked(name, place)
    return (lambda: _saved(path)) if name in SAVES else partial(run, name, words), path


def _saved(path: Path) -> tuple[int, str]:
    try:
        saved(path)
    except DataError as error:
        return 3, f"error: {error}\n"
    return 0, ""


def test_every_command_is_known() -> None:
    assert {*COMMANDS, *READERS, *LONG} == every_command()


@pytest.mark.parametrize("name", WRITERS)
def test_killed_at_each_step(tmp_path: Path, name: str) -> None:
    write, path = writer(name, tmp_path)
    old = old_file(path)
    with sabotaged(Sabotage(str(tmp_path))) as seen:
        assert write() == (0, "")
    new = path.read_bytes()
    assert new != old
    assert ("open", str(path)) not in seen.steps  # it takes its name once it is whole
    assert seen.calls == []  # no network
    events = [what for what, _ in seen.steps]
    renamed = len(events) - 1 - events[::-1].index("os.rename")
    assert "fsync" in events[:renamed]
    # What commands write is written as what is saved; so one step of theirs is enough.
    for at in range(len(events)) if name in SAVES else [renamed]:
        old_file(path)
        with sabotaged(Sabotage(str(tmp_path), at)), pytest.raises(Killed):
            write()
        assert path.read_bytes() == (old if at <= renamed else new)
    assert abandon(tmp_path) != []
    assert write() == (0, "")  # what was stopped is done as if it had not been, and swept
    assert path.read_bytes() == new
    assert abandon(tmp_path) == []


def test_a_living_process_keeps_its_scratch_directory(tmp_path: Path) -> None:
    with scratch_directory() as mine:
        os.utime(mine, (0, 0))
        with scratch_directory() as other:
            assert mine.is_dir()
            assert other.is_dir()
    assert not mine.exists()
    mine.symlink_to(tmp_path)
    os.mkfifo(mine.with_name(f"{SCRATCH}pipe"))
    os.utime(mine, (0, 0), follow_symlinks=False)
    os.utime(mine.with_name(f"{SCRATCH}pipe"), (0, 0))
    with scratch_directory():
        assert mine.is_symlink()  # what it points at is left alone


@contextmanager
def full(size: int) -> Iterator[None]:
    """Let no file grow beyond a size in a block, as on a disk that is full."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def refused(number: int) -> Callable[[], OSError]:
    return lambda: OSError(number, os.strerror(number))


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_is_full(tmp_path: Path, name: str) -> None:
    write, path = writer(name, tmp_path)
    old = old_file(path)
    with full(10):
        code, said = write()
    assert (code, said.count("\n")) == (3, 1), said
    assert "File too large" in said
    assert path.read_bytes() == old
    assert abandon(tmp_path) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("suffix", SAVES)
def test_each_step_may_be_refused(tmp_path: Path, suffix: str, number: int) -> None:
    write, path = writer(suffix, tmp_path)
    with sabotaged(Sabotage(str(tmp_path))) as seen:
        write()
    old = old_file(path)
    for at in range(len(seen.steps) - 1):  # the last is to delete what is gone already
        with sabotaged(Sabotage(str(tmp_path), at, refused(number))):
            code, said = write()
        assert (code, os.strerror(number) in said) == (3, True), said
        assert path.read_bytes() == old


def test_a_model_needs_room_to_be_read(tmp_path: Path) -> None:
    saved(path := tmp_path / "m.zip")
    for at in (0, 1):
        plan = Sabotage(str(tmp_path), at, refused(errno.ENOSPC))
        with sabotaged(plan), raises_saying(DataError, "No space left on device"):
            load(path, Camera())
    assert load(path, Camera()).rules


@pytest.mark.parametrize("name", [*COMMANDS, *READERS])
def test_a_reader_that_goes_away(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, _ = asked(name, tmp_path)
    reader, end = os.pipe()
    os.close(reader)
    with os.fdopen(end, "w", buffering=1) as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit) as ended:
            program(name)(words)
    assert ended.value.code in (0, None)


@pytest.mark.parametrize("name", READERS)
def test_what_only_reads_writes_nothing(tmp_path: Path, name: str) -> None:
    words, _ = asked(name, tmp_path)
    with sabotaged(Sabotage("/")) as seen:
        code, _ = run(name, words)
    assert code in (0, 1)
    assert seen.calls == []
    assert [s for s in seen.steps if "__pycache__" not in s[1]] == []
