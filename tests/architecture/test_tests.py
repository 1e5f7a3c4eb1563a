"""Tests stand alone: none imports from another, and none depends on how fast the machine is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    path for folder in ("tests", "reproduction/tests") for path in (ROOT / folder).rglob("*.py")
]
#: Clocks that measure how long work takes; to count it, see `counted_work`. Waiting until a
#: deadline, by `time.monotonic`, is another thing.
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns"}


def imported_tests(source: str) -> Iterator[str]:
    """Yield the names of the test modules that a module imports, or imports from."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            is_folder = not parts[-1].startswith("test_")
            names = [".".join([*parts, a.name]) for a in node.names] if is_folder else [parts[-1]]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            last = name.split(".")[-1]
            if last.startswith("test_"):
                yield last


def clocks(source: str) -> Iterator[str]:
    """Yield the clocks that a module reads."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in CLOCKS:
                yield name


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from model.test_storage import content", ["test_storage"]),
        ("from .test_storage import content", ["test_storage"]),
        ("def f():\n    from nets import test_recipes as kinds", ["test_recipes"]),
        ("from . import test_recipes", ["test_recipes"]),
        ("import paper.test_learning", ["test_learning"]),
        ("from model.stored_models import content\nimport json", []),
    ],
)
def test_imports_of_test_modules_are_found(source: str, found: list[str]) -> None:
    assert list(imported_tests(source)) == found


def test_clocks_are_found() -> None:
    source = "assert time.perf_counter() - start < 1\nx = process_time()\ntime.monotonic()"
    assert set(clocks(source)) == {"perf_counter", "process_time"}


def test_no_module_imports_from_a_test_module() -> None:
    names = {path.stem for path in FILES if path.name.startswith("test_")}
    found = {
        (str(path.relative_to(ROOT)), name)
        for path in FILES
        if "test_" in (text := path.read_text())
        for name in imported_tests(text)
        if name in names
    }
    assert names
    assert not found, "move what they share to a plain module beside them"


def test_no_test_measures_time() -> None:
    """No assertion compares times then, in the same line or later."""
    found = {
        (str(path.relative_to(ROOT)), name)
        for path in FILES
        if path.name.startswith("test_") and any(c in (text := path.read_text()) for c in CLOCKS)
        for name in clocks(text)
    }
    assert not found, "count the work instead, as with counted_work.calls"
