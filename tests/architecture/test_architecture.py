"""The page on the architecture is true."""

import ast
import re
from pathlib import Path

import pytest

from architecture.layers import ROWS, SOURCE, imports, package_of, read_sources

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
_ROW = re.compile(r"^\| `(\w+)` \| .+? \|([^|]*)\|$", re.MULTILINE)
_PLACE = re.compile(r"`([\w/]+\.py)`:\s+`([\w.]+)`")


def packages_on_the_page() -> dict[str, set[str]]:
    """Return each package of the table and the packages that the table says it imports from."""
    return {name: set(re.findall(r"\w+", cell)) for name, cell in _ROW.findall(PAGE)}


def packages_in_the_source() -> dict[str, set[str]]:
    sources = read_sources()
    found: dict[str, set[str]] = {}
    for name, text in sources.items():
        used = {package_of(module) for module in imports(name, text, set(sources))}
        found.setdefault(package_of(name), set()).update(used - {package_of(name)})
    return found


def test_packages_are_in_the_order_of_the_layers() -> None:
    assert list(packages_on_the_page()) == [name for row in ROWS for name in row]


def test_arrows_are_the_imports() -> None:
    page, source = packages_on_the_page(), packages_in_the_source()
    for packages in (page, source):  # what nearly all of them use is not worth an arrow
        for name in packages:
            packages[name] -= {"exceptions", "_common", "_version"}
    assert page == source


def test_the_data_flow_names_what_exists() -> None:
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
