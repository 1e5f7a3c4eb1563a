"""The page that draws the house says what is so."""

import ast
import re
from pathlib import Path

import pytest

from house.test_layers import ROWS, SOURCE, imports, read_sources, room

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
_ROW = re.compile(r"^\| `(\w+)` \| .+? \|([^|]*)\|$", re.MULTILINE)
_PLACE = re.compile(r"`([\w/]+\.py)`:\s+`([\w.]+)`")


def rooms_on_the_page() -> dict[str, set[str]]:
    """Return each room of the table and the rooms that it is said to import from."""
    return {name: set(re.findall(r"\w+", cell)) for name, cell in _ROW.findall(PAGE)}


def rooms_in_the_source() -> dict[str, set[str]]:
    sources = read_sources()
    found: dict[str, set[str]] = {}
    for name, text in sources.items():
        used = {room(module) for module in imports(name, text, set(sources))}
        found.setdefault(room(name), set()).update(used - {room(name)})
    return found


def test_rooms_stand_in_the_order_of_their_floors() -> None:
    assert list(rooms_on_the_page()) == [name for row in ROWS for name in row]


def test_arrows_are_the_imports() -> None:
    page, source = rooms_on_the_page(), rooms_in_the_source()
    for rooms in (page, source):  # what nearly all of them use is not worth an arrow
        for name in rooms:
            rooms[name] -= {"exceptions", "_common", "_version"}
    assert page == source


def test_the_walk_leads_to_what_is_there() -> None:
    places = _PLACE.findall(PAGE)
    assert len(places) > 8
    missing = [(path, name) for path, name in places if name not in defined_in(SOURCE / path)]
    assert missing == []


def defined_in(path: Path) -> set[str]:
    """Return the functions and classes of a module, and the methods as ``Class.method``."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_pages_name_are_there(page: Path) -> None:
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", page.read_text(encoding="utf-8")))
    places = (ROOT, SOURCE, SOURCE / "engine", ROOT / "examples")
    assert [name for name in named if not any((p / name).exists() for p in places)] == []
