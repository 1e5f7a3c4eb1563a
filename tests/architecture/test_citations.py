"""The paper's equations stand at the lines that compute them, and every citation is one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The labels of the paper's equations, definitions, lemmas, methods and sections.
LABELS = set((ROOT / "tests" / "paper" / "labels.txt").read_text(encoding="utf-8").split())
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


@pytest.mark.parametrize("label", sorted(set(_LABEL.findall(NOTATION)) & LABELS))
def test_what_the_notation_names_is_cited_in_the_code(label: str) -> None:
    assert [path for path, text in SOURCES.items() if label in cited(text)] != []


def test_the_notation_names_no_label_that_the_paper_lacks() -> None:
    assert set(_LABEL.findall(NOTATION)) - LABELS == set()


def test_the_check_sees_labels() -> None:
    text = "nabla [eq:Nablamini, def:reliabletau], [0, 1], eq:loose [eq:gone]"
    assert cited(text) == {"eq:Nablamini", "def:reliabletau", "eq:gone"}
