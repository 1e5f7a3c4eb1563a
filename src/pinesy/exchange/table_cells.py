"""Cells of decision tables: what they say of an attribute, and how that is written.

A cell holds a value, a set ``{a, b}``, a comparison ``< 30``, an interval ``[30, 65)``, a condition
``where left + right == 7``, or nothing (or ``-``) where any value will do. What is the name of a
value is that value, whatever else it might be; a number is the value that equals it,
in any spelling.
"""

import re
from collections.abc import Mapping
from math import isfinite

from pinesy.exceptions import DataError
from pinesy.rulebase.parse import RulesReader, parse_attribute
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import interval_text
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.syntax.writer import format_name, format_subset, format_value
from pinesy.samples import value_texts
from pinesy.samples.file_layout import value_positions

#: What stands where any value will do.
ANY = ("", "-")
_INTERVAL = re.compile(r"([\[(])([^,]*),([^,]*)([\])])")
#: A number as rules have it: it stands for the value that equals it.
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LOW, _HIGH = {"[": "<=", "(": "<"}, {"]": "<=", ")": "<"}
_SIGNS = ("<", ">", "=", "!")
#: Spreadsheets take what begins so for a formula.
FORMULA_SIGNS = ("=", "+", "-", "@")


def one_line(text: str) -> str:
    """Return a text of rules without its line breaks, which mean nothing there."""
    return re.sub(r"\n *", " ", text)


class AttributeCells:
    """Reads and writes the cells of an attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self._texts = value_texts(attribute)
        self._places = value_positions(attribute)

    def read(self, cell: str) -> Proposition:
        """Return what a cell says of the attribute."""
        attribute = self.attribute
        if cell in self._places:
            return Proposition(attribute, 1 << self._places[cell])
        reader = RulesReader(self._rules_text(cell), {attribute.name: attribute})
        proposition = reader.proposition()
        _check_end(reader)
        return proposition

    def _rules_text(self, cell: str) -> str:
        """Return a cell that is not the name of a value in the language of rules."""
        name = format_name(self.attribute.name)
        interval = _INTERVAL.fullmatch(cell) if self.attribute.scale is not None else None
        if interval:
            opening, low, high, closing = interval.groups()
            return f"{low} {_LOW[opening]} {name} {_HIGH[closing]} {high}"
        if cell.startswith("{"):
            return f"{name} in {cell}"
        if _NUMBER.fullmatch(cell) and self.attribute.scale is None:
            return f"{name} in {{{cell}}}"
        if not cell.startswith(_SIGNS) and cell.split()[0] not in ("where", "not"):
            self.attribute.position(cell)  # raises: there is no such value
        return f"{name} {cell}"

    def write(self, proposition: Proposition) -> str:
        """Return the cell of a proposition on the attribute."""
        scale, condition = self.attribute.scale, one_line(proposition.condition or "")
        if condition.isprintable() and condition and f"where {condition}" not in self._places:
            return f"where {condition}"
        ranges = [] if scale is None or scale.names else scale.ranges(proposition.mask)
        if len(ranges) == 1 and any(map(isfinite, ranges[0])):
            return interval_text(*ranges[0], " ")
        if proposition.mask.bit_count() == 1:
            text = self._texts[proposition.mask.bit_length() - 1]
            if _is_plain(text):
                return text
        cell = one_line(format_subset(proposition.values))
        while cell in self._places:  # the set {a, b} is not the text "{a, b}"
            cell = f"{{ {cell[1:]}"
        return cell


def _is_plain(text: str) -> bool:
    """Tell whether a cell may hold a text as it is: nobody takes it for another thing."""
    return text == text.strip() != "" and text.isprintable() and text[0] not in FORMULA_SIGNS


def read_premise(cell: str, attributes: Mapping[str, Attribute]) -> Premise:
    """Return the premise that a cell holds, in the language of ``.rules`` files."""
    reader = RulesReader(cell, attributes)
    premise = premise_of(reader.formula())
    _check_end(reader)
    return premise


def _check_end(reader: RulesReader) -> None:
    if reader.token.kind != "end":
        raise DataError(f"{reader.token.text!r:.60} is one thing too many in this cell")


def read_domain(cell: str, name: str, known: Mapping[str, Attribute]) -> Attribute:
    """Return the attribute whose domain a cell holds.

    ``{a, b}``, ``number cuts {30, 65}`` or ``product left * right``.
    """
    word, _, rest = cell.partition(" ")
    title = format_name(name)
    if cell.startswith("{"):
        return parse_attribute(f"attribute {title} in {cell}")
    if word == "number":
        return parse_attribute(f"number {title} {rest}")
    if word == "product":
        return parse_attribute(f"product {title} = {rest}", known.values())
    raise DataError(
        f"{cell!r:.60} is no domain; write a set such as {{no, yes}}, or 'number cuts {{30, 65}}', "
        "or 'product left * right'"
    )


def write_domain(attribute: Attribute) -> str:
    """Return the cell of a domain, or raise `DomainError` for values without a written form."""
    if attribute.scale is not None:
        return f"number{attribute.scale.declaration}"
    if attribute.factors:
        return "product " + " * ".join(format_name(f.name) for f in attribute.factors)
    for value in attribute.domain:
        format_value(value)
    return one_line(format_subset(attribute.domain))
