"""Decision tables: rules as rows, conditions and conclusions as columns, in CSV and Excel files.

The header says what a column holds: ``if NAME`` a condition on an attribute, ``then NAME`` a
conclusion, ``if`` alone any other premise, ``s`` and ``r`` the parameters, ``kind`` whether a row
is an ``if``, an ``iff`` or the ``domain`` of each attribute, and ``note`` anything.

A cell holds a value, a set ``{a, b}``, a comparison ``< 30``, an interval ``[30, 65)``, a condition
``where left + right == 7``, or nothing (or ``-``) where any value will do. The name of a value is
that value, whatever else it might be; a number is the value that equals it, in any spelling.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from pinesy._common.budgets import allow_tokens, budget, value_limit
from pinesy._common.validation import check_degree
from pinesy.exceptions import DataError, PinesyError, RulesTextError, placed
from pinesy.exchange.table_sheets import TableSheet, check_suffix, read_sheets, write_sheets
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.parse import RulesReader, parse_attribute
from pinesy.rulebase.rule_set import RuleSet, declaration_order
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import interval_text
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, format_subset, format_value
from pinesy.samples import value_texts
from pinesy.samples.file_layout import value_positions

IF, IFF, THEN, KIND, S, R, NOTE, DOMAIN = "if", "iff", "then", "kind", "s", "r", "note", "domain"
#: The maximum number of values in the error of a missing domain.
SHOWN = 10
#: Cells that mean any value.
ANY = ("", "-")
_INTERVAL = re.compile(r"([\[(])([^,]*),([^,]*)([\])])")
#: A number as rules have it: it stands for the value that equals it.
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LOW, _HIGH = {"[": "<=", "(": "<"}, {"]": "<=", ")": "<"}
_SIGNS = ("<", ">", "=", "!")
#: First characters of formulas in spreadsheets.
FORMULA_SIGNS = ("=", "+", "-", "@")


@dataclass(frozen=True)
class DecisionColumn:
    """A column: its keyword, and the name of the attribute in conditions and conclusions."""

    keyword: str
    name: str = ""

    @property
    def header(self) -> str:
        """The header of the column."""
        return f"{self.keyword} {format_name(self.name)}" if self.name else self.keyword


#: A sheet and its columns; None for a column without a header.
Table = tuple[TableSheet, list[DecisionColumn | None]]


def read_decision_table(
    path: str | os.PathLike[str], attributes: Iterable[Attribute] = ()
) -> Cascade:
    """Return the rules of a decision table in a CSV or Excel file; see docs/exchange.md.

    Parameters
    ----------
    path : a ``.csv`` or ``.xlsx`` file; of a workbook all sheets that hold something are read
    attributes : the attributes whose domains are not in the table

    Raises
    ------
    DataError
        Names the sheet, the row and the column. Formulas of Excel are not evaluated, but refused.
    """
    path = Path(path)
    sheets = read_sheets(path, _is_header)
    with placed(str(path)), budget(value_limit(None)):
        if not sheets:
            raise DataError("the table is empty; it begins with a header such as 'if a', 'then b'")
        tables = [(sheet, _header(sheet)) for sheet in sheets]
        known = _domains(tables, {a.name: a for a in attributes})
        cells = {name: AttributeCells(a) for name, a in known.items()}
        sets: dict[str, list[Rule]] = {}
        for row in _rows(tables):
            for rule in _rules(row, cells) if row.kind != DOMAIN else ():
                sets.setdefault(rule.conclusion.attribute.name, []).append(rule)
        if not sets:
            raise DataError("the table has no rules: a row for each comes after the header")
        return Cascade(*map(RuleSet, sets.values()), attributes=known.values())


def write_decision_table(rules: Cascade | RuleSet, path: str | os.PathLike[str]) -> None:
    """Write rules as a decision table to a CSV file, or a workbook with a sheet for each rule set.

    `read_decision_table` gives equal rules back. A premise that does not fit into a cell for each
    attribute, such as a formula, stands in the column ``if``.
    """
    path = Path(path)
    check_suffix(path)
    cascade = as_cascade(rules)
    parts = [cascade.stated] if path.suffix.lower() == ".csv" else [(s,) for s in cascade.stated]
    waiting = {a.name: a for a in declaration_order(cascade.attributes.values())}
    used_names = {a.name for part in cascade.stated for a in (*part.inputs, part.output)}
    unused = [name for name in waiting if name not in used_names]
    cells = {name: AttributeCells(a) for name, a in waiting.items()}
    sheets = []
    for part in parts:
        sheets.append(_sheet(part, cells, waiting, unused))
        unused = []
    write_sheets(path, sheets)


# --- cells ---------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """Return a text of rules without line breaks, which have no meaning there."""
    return re.sub(r"\n *", " ", text)


class AttributeCells:
    """Reads and writes the cells of an attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self._texts = value_texts(attribute)
        self._indices = value_positions(attribute)

    def read(self, cell: str) -> Proposition:
        """Return the proposition of a cell."""
        attribute = self.attribute
        if cell in self._indices:
            return Proposition(attribute, 1 << self._indices[cell])
        reader = RulesReader(self._rules_text(cell), {attribute.name: attribute})
        proposition = reader.proposition()
        _check_end(reader)
        return proposition

    def _rules_text(self, cell: str) -> str:
        """Return a cell, other than the name of a value, in the language of rules."""
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
        if condition.isprintable() and condition and f"where {condition}" not in self._indices:
            return f"where {condition}"
        ranges = [] if scale is None or scale.names else scale.ranges(proposition.mask)
        if len(ranges) == 1 and any(map(isfinite, ranges[0])):
            return interval_text(*ranges[0], " ")
        if proposition.mask.bit_count() == 1:
            text = self._texts[proposition.mask.bit_length() - 1]
            # A cell can hold the text as it is, unless something would read it otherwise.
            if text == text.strip() != "" and text.isprintable() and text[0] not in FORMULA_SIGNS:
                return text
        cell = one_line(format_subset(proposition.values))
        while cell in self._indices:  # the set {a, b} is not the text "{a, b}"
            cell = f"{{ {cell[1:]}"
        return cell


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
    keyword, _, declaration = cell.partition(" ")
    title = format_name(name)
    if cell.startswith("{"):
        return parse_attribute(f"attribute {title} in {cell}")
    if keyword == "number":
        return parse_attribute(f"number {title} {declaration}")
    if keyword == "product":
        return parse_attribute(f"product {title} = {declaration}", known.values())
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


# --- reading -------------------------------------------------------------------------------------


def _header(sheet: TableSheet) -> list[DecisionColumn | None]:
    """Return the columns of a sheet; None for a column without a header."""
    columns: list[DecisionColumn | None] = []
    for index, text in enumerate(sheet.rows[0]):
        with placed(sheet.location(0, index)):
            column = _column(text) if text else None
            if column is not None and column.keyword in (KIND, S, R) and column in columns:
                raise DataError(f"there are two columns {column.keyword!r}; one is enough")
        columns.append(column)
    return columns


def _column(header: str) -> DecisionColumn:
    """Return the column of a header, or raise `DataError` for an unknown one."""
    keyword, _, name_text = header.partition(" ")
    keyword, name = keyword.lower(), name_text.strip()
    if len(name) > 2 and name[0] == name[-1] == "`":
        name = name[1:-1]
    column = DecisionColumn(keyword, name)
    is_named = keyword in (IF, THEN) and name
    if not is_named and column not in map(DecisionColumn, (IF, KIND, S, R, NOTE)):
        raise DataError(
            f"the header {column.header!r:.60} is unknown; write 'if NAME' over conditions, "
            "'then NAME' over conclusions, or kind, s, r, note"
        )
    return column


def _is_header(text: str) -> bool:
    try:
        return not text or _column(text) is not None
    except DataError:
        return False


class DecisionRow(NamedTuple):
    """A row that is not blank: location, kind, and other cells (location, column, text)."""

    where: str
    kind: str
    cells: list[tuple[str, DecisionColumn, str]]


def _rows(tables: Iterable[Table]) -> Iterator[DecisionRow]:
    """Yield the rows below the headers, without blank rows and notes."""
    for sheet, columns in tables:
        for row, texts in enumerate(sheet.rows[1:], 1):
            kind, cells = "", []
            for index, text in enumerate(texts):
                column = columns[index] if index < len(columns) else None
                if text in ANY and (column is not None or not text):
                    continue
                where = sheet.location(row, index)
                if column is None:
                    raise DataError(f"{where}: {text!r:.60} stands in a column without a header")
                if column.keyword == KIND:
                    kind = text.lower()
                    if kind not in (IF, IFF, DOMAIN):
                        raise DataError(
                            f"{where}: {text!r:.60} is no kind of row: if, iff or domain"
                        )
                elif column.keyword != NOTE:
                    cells.append((where, column, text))
            if kind or cells:
                yield DecisionRow(sheet.location(row), kind or IF, cells)


def _rules(row: DecisionRow, known: Mapping[str, AttributeCells]) -> Iterator[Rule]:
    """Yield the rules of a row, one for each conclusion."""
    premise: list[Proposition] = []
    conclusions: list[Proposition] = []
    parameters = {S: 0.0 if row.kind == IFF else 1.0, R: 0.0}
    allow_tokens(3 * len(row.cells))
    for where, column, text in row.cells:
        with _located(where):
            if column.name:
                part = conclusions if column.keyword == THEN else premise
                part.append(known[column.name].read(text))
            elif column.keyword == IF:
                attributes = {name: cells.attribute for name, cells in known.items()}
                premise += read_premise(text, attributes).propositions
            else:
                parameters[column.keyword] = _degree(text, column.keyword)
    with _located(row.where):
        if not premise:
            raise DataError(
                "there is no condition, and a rule needs one; if it holds always, write the "
                "set of all values of an attribute"
            )
        if not conclusions:
            raise DataError("there is no conclusion: nothing stands in a column 'then NAME'")
        for conclusion in conclusions:
            yield Rule(Premise(tuple(premise)), conclusion, parameters[S], parameters[R])


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Re-raise any error of a block as a `DataError` with its location."""
    try:
        yield
    except PinesyError as error:
        message = str(error)
        if isinstance(error, RulesTextError):  # its line and column are those of a made-up text
            message = message.removeprefix(f"line {error.line}, column {error.column}: ")
        raise DataError(f"{where}: {message}") from None


def _degree(text: str, parameter: str) -> float:
    try:
        number = float(text)
    except ValueError:
        cure = "; write a decimal point" * ("," in text)
        raise DataError(f"{parameter} is {text!r:.60}, which is no number{cure}") from None
    return check_degree(number, parameter)


def _domains(tables: Sequence[Table], declared: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return the attributes of all columns by name."""
    known = dict(declared)
    domains = (row for row in _rows(tables) if row.kind == DOMAIN)
    waiting = [(c.name, text, where) for row in domains for where, c, text in row.cells if c.name]
    while waiting:
        later = [cell for cell in waiting if not _declare(known, *cell)]
        if len(later) == len(waiting):  # products of factors that nobody declares
            name, text, where = later[0]
            with _located(where):
                read_domain(text, name, {key: a for key, a in known.items() if key != name})
        waiting = later
    for sheet, columns in tables:
        for index, column in enumerate(columns):
            if column is not None and column.name and column.name not in known:
                _refuse_unknown(sheet, index, column.name)
    return known


def _declare(known: dict[str, Attribute], name: str, text: str, where: str) -> bool:
    """Add the attribute of a cell to `known`; return False if its factors are not known yet."""
    others = {key: a for key, a in known.items() if key != name}
    with _located(where):
        try:
            attribute = read_domain(text, name, others)
        except PinesyError:
            if text.startswith("product "):
                return False
            raise
        if known.setdefault(name, attribute) != attribute:
            raise DataError(f"the domain of {name!r} is another one than that given before")
    return True


def _refuse_unknown(sheet: TableSheet, index: int, name: str) -> None:
    rows = (row for row in sheet.rows[1:] if index < len(row) and row[index] not in ANY)
    plain = (row[index] for row in rows if not row[index].startswith(("{", "<", ">", "[", "(")))
    values = [int(text) if text.isdecimal() else text for text in dict.fromkeys(plain)]
    domain_text = format_subset(values[:SHOWN])
    raise DataError(
        f"{sheet.location(0, index)}: the domain of {name!r} is not known; write it, such as "
        f"{domain_text if values else '{no, yes}'}, below the header in a row whose 'kind' is "
        "'domain', or give attributes="
    )


# --- writing -------------------------------------------------------------------------------------


def _sheet(
    part: Sequence[RuleSet],
    known: Mapping[str, AttributeCells],
    waiting: dict[str, Attribute],
    unused: Sequence[str],
) -> TableSheet:
    """Return the sheet of some rule sets.

    Parameters
    ----------
    part : the rule sets
    known : the cells of all attributes, by name
    waiting : the attributes whose domains are not written yet; those that are written are removed
    unused : the attributes that no rule uses, which get a column, too
    """
    rules = [rule for rule_set in part for rule in rule_set.rules]
    attributes = (p.attribute for rule in rules for p in rule.premise.propositions)
    names = [*dict.fromkeys(a.name for a in attributes if a.formula is None), *unused]
    cells = [_premise_cells(rule.premise, names, known) for rule in rules]
    columns = [
        DecisionColumn(KIND),
        *(DecisionColumn(IF, name) for name in names),
        *[DecisionColumn(IF)] * any("" in row for row in cells),
        *(DecisionColumn(THEN, s.output.name) for s in part),
        DecisionColumn(S),
        DecisionColumn(R),
    ]
    domains = [DOMAIN]
    for column in columns[1:]:
        attribute = waiting.pop(column.name, None) if column.name else None
        domains.append("" if attribute is None else write_domain(attribute))
    rows = [[c.header for c in columns], domains]
    for rule, premise in zip(rules, cells, strict=True):
        rows.append(_rule_row(rule, premise, columns, known))
    return TableSheet(part[0].output.name, rows)


def _premise_cells(
    premise: Premise, names: Sequence[str], known: Mapping[str, AttributeCells]
) -> dict[str, str]:
    """Return the cells of a premise by attribute; one cell with the key "" if it does not fit."""
    order = {name: index for index, name in enumerate(names)}
    indices = [order.get(p.attribute.name, -1) for p in premise.propositions]
    if indices == sorted(set(indices)) and indices[0] >= 0:
        return {p.attribute.name: known[p.attribute.name].write(p) for p in premise.propositions}
    return {"": one_line(str(premise))}


def _rule_row(
    rule: Rule,
    premise: Mapping[str, str],
    columns: Sequence[DecisionColumn],
    known: Mapping[str, AttributeCells],
) -> list[str]:
    """Return the row of a rule, a cell for each column."""
    name = rule.conclusion.attribute.name
    texts = {
        DecisionColumn(KIND): IFF if rule.s == rule.r == 0.0 else IF,
        DecisionColumn(THEN, name): known[name].write(rule.conclusion),
        DecisionColumn(S): repr(rule.s).removesuffix(".0"),
        DecisionColumn(R): repr(rule.r).removesuffix(".0"),
        **{DecisionColumn(IF, key): cell for key, cell in premise.items()},
    }
    return [texts.get(column, "") for column in columns]
