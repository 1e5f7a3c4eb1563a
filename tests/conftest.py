"""What holds for all tests of the library."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from browser import chromium, tab  # noqa: F401  # fixtures, for all tests
from pinesy._common import caching, console

# The collection of tests makes millions of objects that stay; to look through them for what can be
# freed, again and again, took a third of its time, and half a second in each test that asks for it.
gc.disable()

# Before PyTorch is loaded: the tests are on all cores already, and threads of several processes
# that wait for each other take several times as long as one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Numba's parallel loops, which benchmarks compare with, would give PyTorch a thread for each core.
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

# A fresh or busy machine takes long to load compiled loops, and would say so in the middle of what
# tests read. The tests of notices set it for themselves.
console.NOTICE_AFTER = 600.0
# Tests run the kernels at once; tests/engine/test_walk.py compares what runs without them.
caching.LOADING_TIME = 0

# No test is about time: on a busy machine an example may take long. Together they take minutes;
# ``pytest -m hypothesis --hypothesis-profile=long`` takes its time.
settings.register_profile("pinesy", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=400)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("pinesy")


@pytest.fixture(autouse=True)
def _closed_figures() -> Generator[None]:
    """Close the figures of pyplot, which keeps them and warns of more than 20."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


#: Words of a test module's source that give its tests a marker.
MARKS = {
    "torch": ('importorskip("torch")', "import torch", "pinesy.nets"),
    "dask": ("distributed", "import dask"),
    "process": ("subprocess", "multiprocessing", "serve("),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need, so that `make quick` can leave them out."""
    marks: dict[Path, list[str]] = {}
    for item in items:
        if item.path not in marks:
            source = item.path.read_text(encoding="utf-8")
            marks[item.path] = [m for m, words in MARKS.items() if any(w in source for w in words)]
        for mark in marks[item.path]:
            item.add_marker(mark)
        if "tab" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


def pytest_collection_finish() -> None:
    """Free objects again, from here on only those that the tests make."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for no examples in the docstrings of tests: there are none."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]
