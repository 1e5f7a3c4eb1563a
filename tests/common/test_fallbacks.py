"""Where the machine gives less than usual, it works all the same, and says so once."""

import errno
import importlib.util
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest

from pinesy._common import console, jit
from pinesy._common.threads import run_on_threads

KERNELS = """
from numba.core import types
from pinesy._common.jit import compiled, inner

@inner
def double(x):
    return 2 * x

@compiled(types.int64(types.int64))
def twice(x):
    return double(x)

@compiled(types.int64(types.int64))
def thrice(x):
    return 3 * x
"""
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(autouse=True)
def nothing_was_said() -> Iterator[None]:
    console.warn_once.cache_clear()
    yield
    console.warn_once.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a module of kernels, whose cache is beside it."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "few_kernels.py").write_text(KERNELS)
    return tmp_path


def load(place: Path) -> Any:
    """Import the module of kernels as a new process would."""
    spec = importlib.util.spec_from_file_location("few_kernels", place / "few_kernels.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_disk(kernel: Any) -> bool:
    return bool(kernel._compiled.stats.cache_hits)


def test_a_kernel_is_compiled_when_called_and_then_found_on_disk(place: Path) -> None:
    first, second = load(place), load(place)
    assert first.twice._compiled is None
    assert (first.twice(4), second.twice(5)) == (8, 10)
    assert (from_disk(first.twice), from_disk(second.twice)) == (False, True)
    assert first.thrice._compiled is None
    with pytest.raises(TypeError, match="No matching definition"):
        first.twice("4")


def test_a_kernel_is_compiled_anew_if_loops_of_other_modules_changed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(place).twice(1)
    monkeypatch.setattr(jit, "_source_digest", lambda: "another source")
    changed = load(place)
    assert (changed.twice(4), from_disk(changed.twice)) == (8, False)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: bytes(len(b))])
def test_damaged_files_are_written_anew(
    place: Path, ending: str, damage: Callable[[bytes], bytes]
) -> None:
    load(place).twice(1)
    (stored,) = (place / "__pycache__").glob(f"*.{ending}")
    stored.write_bytes(damage(stored.read_bytes()))
    again, after = load(place), load(place)
    assert (again.twice(4), after.twice(5)) == (8, 10)
    assert (from_disk(again.twice), from_disk(after.twice)) == (False, True)


def test_no_directory_that_can_be_written_is_said_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "__pycache__").write_text("a file in the place of the folder")
    monkeypatch.setenv("HOME", str(place / "__pycache__"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "__pycache__"))
    few = load(place)
    with pytest.warns(RuntimeWarning, match=r"anew in every process, .* set .* NUMBA_CACHE_DIR"):
        assert few.twice(4) == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert few.thrice(4) == 12


def test_a_full_disk_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.FunctionCache.save_overload", save)
    with pytest.warns(RuntimeWarning, match="because No space left on device in .*__pycache__"):
        assert load(place).twice(4) == 8


def test_a_cache_that_is_not_where_it_was_asked_for_is_said(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = str(place / "few_kernels.py" / "cache")
    monkeypatch.setenv("NUMBA_CACHE_DIR", wish)
    monkeypatch.setattr(numba.config, "CACHE_DIR", wish)
    few = load(place)
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR is not used, because it cannot"):
        assert few.twice(4) == 8


@pytest.mark.parametrize("given", [0, 1])
def test_threads_that_cannot_be_started_are_said(
    given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, calls = ThreadPoolExecutor.submit, iter([True] * given)

    def submit(pool: ThreadPoolExecutor, *work: Any) -> Any:
        if next(calls, False):
            return start(pool, *work)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    with pytest.warns(RuntimeWarning, match="fewer threads .* can't start new thread; PINESY_NUM"):
        done = run_on_threads(list, range(100), 4)
    assert sorted(task for tasks in done for task in tasks) == list(range(100))
    assert len(done) == 1 + given


FORKED = """
import os, threading, time
import few_kernels
from pinesy._common.threads import run_on_threads

def work():
    return sum(run_on_threads(lambda tasks: sum(map(few_kernels.thrice, tasks)), range(100), 3))

compiling = threading.Thread(target=few_kernels.twice, args=(1,))
compiling.start()
time.sleep(0.1)
child = os.fork()
right = work() == 3 * 4950
if child == 0:
    os._exit(0 if right else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), right)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_forks_while_a_thread_compiles_and_both_compile_the_same(place: Path) -> None:
    path = os.pathsep.join([str(place), str(SOURCE)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "0 True\n", done.stderr


def test_loading_what_is_stored_is_not_called_compiling(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "NOTICE_AFTER", 0.0)
    console._print_once.cache_clear()
    for told in ("pinesy: compiling kernels (each once on this machine, some seconds) ...\n", ""):
        assert load(place).twice(4) == 8
        assert capsys.readouterr().err == told
        console._print_once.cache_clear()
