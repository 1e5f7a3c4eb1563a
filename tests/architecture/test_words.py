"""Names that a stranger knows: variables say what they hold, public functions are named once."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "pinesy").rglob("*.py"))
PAGES = sorted({*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"})
#: Names that say which part a variable plays in a sentence, not what it holds.
VAGUE_TEXT = """
one own given shown what place places wanted found asked seen named used chosen word words more rest
read how whole every each said alone kept made tried way ways done some both thing things told held
taken several behind there here near far
"""
VAGUE = set(VAGUE_TEXT.split())
#: Commands, endpoints and functions of tensors have the name of the function that they stand for.
SAME_NAME = re.compile(r"^(cli/\w+_command|studio/(\w+_view|web_application)|nets/differentiable_)")
#: Words that only this library would understand.
PRIVATE = re.compile(r"\b(the house|a house|front door|the rooms?|a room|rightly)\b", re.IGNORECASE)


def vague_names(source: str) -> set[tuple[str, str]]:
    """Return the functions of a source that have a variable or an argument of a vague name."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            stored = {
                inner.id
                for inner in ast.walk(node)
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
            }
            arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            names |= {(node.name, name) for name in (stored | arguments) & VAGUE}
    return names


def path_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "src" / "pinesy"))


def test_variables_say_what_they_hold() -> None:
    vague = {
        (path_of(path), *names)
        for path in FILES
        for names in vague_names(path.read_text(encoding="utf-8"))
    }
    assert vague == set()


def test_a_public_function_name_is_used_once() -> None:
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for path in FILES:
        names = {
            node.name
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        }
        for name in names:
            if not SAME_NAME.match(path_of(path)):
                modules[name].append(path_of(path))
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_words_that_readers_know(page: Path) -> None:
    assert PRIVATE.findall(page.read_text(encoding="utf-8")) == []


def test_the_check_sees_vague_names() -> None:
    assert vague_names("def f(given):\n    [one for one in given]\n    row = 1") == {
        ("f", "given"),
        ("f", "one"),
    }
