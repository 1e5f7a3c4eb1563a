"""The paper's equations stand at the lines that compute them, and every citation is one."""

import re
from pathlib import Path

import pytest
from extensions.citations import NUMBERS

ROOT = Path(__file__).parents[2]
#: The labels of equations, definitions, lemmas, methods and sections.
LABELS = set(NUMBERS)
_KINDS = "|".join(sorted({label.partition(":")[0] for label in LABELS}))
_LABEL = re.compile(rf"\b(?:{_KINDS}):[A-Za-z]\w*(?:[:-]\w+)*")
NOTATION = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
SOURCES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in ("src", "reproduction")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def cited(text: str) -> set[str]:
    """Return the labels that a text cites, each in square brackets, alone or in a list."""
    lists = re.findall(r"\[([^\[\]]*)\]", text)
    return {label for part in lists for label in _LABEL.findall(part)}


@pytest.mark.parametrize("path", [p for p, text in SOURCES.items() if cited(text)])
def test_what_is_cited_is_in_the_paper(path: str) -> None:
    assert cited(SOURCES[path]) - LABELS == set()


def test_the_notation_has_the_numbers_of_what_is_cited() -> None:
    listed = dict(re.findall(r"^\| ([^|]+) \| `([a-z]+:[^`]+)` \|$", NOTATION, re.MULTILINE))
    in_code = {label for text in SOURCES.values() for label in cited(text)}
    assert listed == {NUMBERS[label]: label for label in in_code}


def test_pages_cite_by_number() -> None:
    """Readers of the paper see numbers; only the last table of the notation has labels."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    pages["notation.md"] = NOTATION.partition("## Labels in the code")[0]
    labels = {name: set(_LABEL.findall(text)) & LABELS for name, text in pages.items()}
    assert {name: found for name, found in labels.items() if found - {"eq:redFP"}} == {}


def test_equations_that_pages_cite_are_numbers_of_the_paper() -> None:
    numbers = set(re.findall(r"\((\d+)\)", " ".join(NUMBERS.values())))
    rows = [line for line in NOTATION.splitlines() if "equation" in line and line.startswith("|")]
    named = re.findall(r"equations? \((\d+)\)(?: and \((\d+)\))?", " ".join(rows))
    assert {number for pair in named for number in pair if number} <= numbers


def test_the_check_sees_labels() -> None:
    text = "nabla [eq:Nablamini, def:reliabletau], [0, 1], eq:loose [eq:gone]"
    assert cited(text) == {"eq:Nablamini", "def:reliabletau", "eq:gone"}
