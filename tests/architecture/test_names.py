"""A name is used once: files and classes say what they are, and where they are can be guessed."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "pinesy").rglob("*.py"))
#: What the root of the package holds beside its packages.
TOP = {"__init__", "__main__", "_version", "exceptions"}
#: Words that say nothing, or that only this library would understand.
ODD = {"answers", "found", "kept", "passage", "pieces", "result", "results", "told", "utils"}

#: Files of several packages that have the name of the public function in them.
NAMED_BY_FUNCTION = {"conditions"}


def twice(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the names that stand for several things, with their places."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, place in pairs:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_a_file_name_is_used_once() -> None:
    stems = [(p.stem.lstrip("_"), shown(p)) for p in FILES if not p.stem.startswith("__")]
    assert set(twice(stems)) <= NAMED_BY_FUNCTION


def test_a_class_name_is_used_once() -> None:
    classes = [
        (node.name.lstrip("_"), shown(path))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert twice(classes) == {}


def test_file_names_say_what_is_in_them() -> None:
    assert [shown(p) for p in FILES if p.stem.lstrip("_") in ODD] == []


def test_the_root_holds_its_packages_and_little_else() -> None:
    assert {p.stem for p in FILES if p.parent.name == "pinesy"} == TOP


def test_the_check_sees_a_name_that_is_used_twice() -> None:
    assert twice([("a", "x"), ("b", "x"), ("a", "y")]) == {"a": ["x", "y"]}
