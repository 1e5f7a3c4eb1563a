"""The fields of docstrings, as their authors mean them.

``name : text`` and lines below it that are indented. numpydoc would have a type after the colon;
here it is what the name means, and the lines below go on with it.
"""

import re
from collections.abc import Iterator

_FIELD = re.compile(r"(\*{0,2}\w[\w*, ]*) : (.+)")
_RULE = re.compile(r"-{3,}")
#: Where a type stands alone after the colon, and the lines below begin anew.
_TYPE = re.compile(
    r"float|int|str|bool|float in \[0, 1\]|iterable of \w+|[A-Z]\w+(?: or [A-Z]\w+)*"
    r"|(?:(?:int|integer|bool) )?arrays? \(.*\)"
)
_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")


def with_fields(lines: list[str]) -> list[str]:
    """Return a docstring whose parameters have no types, and whose attributes are a list."""
    section, made = "", []
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and _RULE.fullmatch(lines[i + 1].strip()):
            section = line.strip()
        if section == "Parameters":
            made += list(_parameter(line, lines[i + 1 : i + 2]))
        elif section == "Attributes":
            made += list(_attribute(line, lines[i + 1 : i + 2]))
        else:
            made.append(line)
    return made


def _parameter(line: str, below: list[str]) -> Iterator[str]:
    field = _FIELD.fullmatch(line)
    if field is None:
        yield _escaped(line)
    else:
        yield field[1]
        yield f"    {_meaning(field[2], below)}"


def _attribute(line: str, below: list[str]) -> Iterator[str]:
    field = _FIELD.fullmatch(line)
    yield _escaped(line) if field is None else f"*   **{field[1]}** -- {_meaning(field[2], below)}"


def _meaning(text: str, below: list[str]) -> str:
    alone = _TYPE.fullmatch(text) and below and below[0].startswith(" ")
    return _escaped(text) + (":" if alone else "")


def _escaped(text: str) -> str:
    """Return text whose bars are bars: ``|D_b|`` would be a substitution."""
    parts = _LITERAL.split(text)
    return "".join(p if p.startswith("`") else p.replace("|", r"\|") for p in parts)
