"""Reads numeric attributes of a ``.rules`` text: ``number age cuts {30, 65} [blur=2]``."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from pinesy._common.validation import check_number
from pinesy.exceptions import DomainError
from pinesy.rulebase.rule_reader import RuleReader
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import cut_of
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.value_sets import read_names, read_subset, read_value


def read_number(statements: RuleReader) -> None:
    """Read what follows ``number``: names, and perhaps cuts, names of the intervals and blur.

    Without names, the cuts of the text's comparisons are added to those that stand here.
    """
    reader = statements.reader
    token = reader.token
    titles = read_names(reader, "a name")
    statements.check_new(token, titles)
    cuts = _cuts(reader) if reader.accept("cuts") else []
    names: Any = read_subset(reader) if reader.accept("named") else None
    blur = _blur(reader)
    for title in titles:
        declared = statements.at(token, partial(Attribute.number, title, cuts, names, blur))
        assert declared.scale is not None
        if names is None:
            compared = statements.compared_cuts.setdefault(title, set())
            every = sorted({*declared.scale.cuts, *compared})
            declared = Attribute.number(title, every, None, blur)
        statements.attributes[title] = declared


def _cuts(reader: Reader) -> Iterable[Any]:
    """Read ``{30, <= 65}``, or any set of numbers."""
    start = reader.position
    signs = ("<", "<=", ">", ">=")
    end = reader.source.closing(start) if reader.source.is_sign(start, "{") else start
    if not any(reader.source.is_sign(i, *signs) for i in range(start, end)):
        return read_subset(reader)
    reader.expect("{")

    def cut() -> Any:
        sign, token = reader.accept(*signs), reader.token
        number = read_value(reader)
        try:
            return cut_of(sign, number, "cuts") if sign else number
        except DomainError as error:
            reader.fail(str(error), token)

    return reader.listing("}", cut)


def _blur(reader: Reader) -> float:
    """Read ``[blur=2]`` if it is there."""
    if not reader.accept("["):
        return 0.0
    if not reader.accept("blur"):
        reader.fail(f"expected blur=, found {reader.token.text!r:.60}")
    reader.expect("=")
    token = reader.token
    number = read_value(reader)
    try:
        blur = check_number(number, "blur")
    except DomainError as error:
        reader.fail(str(error), token)
    reader.expect("]")
    return blur
