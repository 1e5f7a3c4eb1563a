"""Kernels are compiled once on a machine: by one of several processes, and read where they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
#: A module of a kernel, and a process that calls it and prints whether it was on disk.
KERNEL = """
from numba.core import types
from pinesy._common.jit import compiled

@compiled(types.int64(types.int64))
def twice(x):
    return 2 * x
"""
CALL = """
import sys
from pinesy._common import console
console.NOTICE_AFTER = 0.0
import slow_kernels
assert slow_kernels.twice(4) == 8
print(sum(slow_kernels.twice._compiled.stats.cache_hits.values()))
"""
#: Waits in the compilation, so that all processes begin before one is done.
SLOWLY = """
import time
from numba.core import compiler
compile_extra = compiler.compile_extra
def slow(*arguments, **options):
    time.sleep(1.5)
    return compile_extra(*arguments, **options)
compiler.compile_extra = slow
"""
#: Lets Numba write only below a directory, also as root, whom permissions do not bind.
READ_ONLY = """
import tempfile
from numba.core.caching import IndexDataCacheFile
try_directory, write_file = tempfile.TemporaryFile, IndexDataCacheFile._open_for_write
def check(path):
    if not path.startswith(WRITABLE):
        raise PermissionError(13, "Permission denied")
def checked_directory(dir):
    check(dir)
    return try_directory(dir=dir)
def checked_file(files, path):
    check(path)
    return write_file(files, path)
tempfile.TemporaryFile, IndexDataCacheFile._open_for_write = checked_directory, checked_file
"""
NOTICE = "pinesy: compiling kernels (each once on this machine, some seconds) ..."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a directory with a module of a kernel."""
    (tmp_path / "slow_kernels.py").write_text(KERNEL)
    return tmp_path


def read_only(writable: object) -> str:
    """Return code that calls the kernel, and can write only below a directory."""
    return READ_ONLY.replace("WRITABLE", repr(str(writable))) + CALL


def start(place: Path, code: str, **settings: str) -> subprocess.Popen[str]:
    """Start a process that calls the kernel."""
    path = os.pathsep.join([str(place), str(SOURCE)])
    own = {"HOME": str(place / "home"), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    own |= {"XDG_CACHE_HOME": str(place / "home"), "NUMBA_CACHE_DIR": ""}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **own, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return how many kernels a process found on disk, and what it said."""
    hits, said = process.communicate(timeout=100)
    return hits.strip(), said.strip()


def test_one_of_several_processes_compiles_and_says_so(place: Path) -> None:
    processes = [start(place, SLOWLY + CALL) for _ in range(2)]
    outputs = sorted(map(output, processes))
    assert outputs == [("0", NOTICE), ("1", "")]
    assert output(start(place, CALL)) == ("1", "")


@pytest.mark.parametrize("setting", ["", "cache"])
def test_kernels_are_read_where_they_cannot_be_written(place: Path, setting: str) -> None:
    """As in an image whose files belong to root; nothing is said, since nothing is compiled."""
    settings = {"NUMBA_CACHE_DIR": str(place / setting) if setting else ""}
    assert output(start(place, CALL, **settings)) == ("0", NOTICE)
    for writable in (place / "home", "/nowhere"):
        assert output(start(place, read_only(writable), **settings)) == ("1", "")


def test_what_is_not_stored_is_not_called_once_on_this_machine(place: Path) -> None:
    hits, said = output(start(place, read_only("/nowhere")))
    assert hits == "0"
    assert "anew in every process, because Permission denied" in said
    assert "pinesy: compiling kernels (some seconds) ..." in said
    assert NOTICE not in said
