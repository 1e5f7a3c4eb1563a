"""Decision tables: rules as rows, conditions and conclusions as columns, in CSV and Excel files.

The header says what a column holds: ``if NAME`` a condition on an attribute, ``then NAME`` a
conclusion, ``if`` alone any other premise, ``s`` and ``r`` the parameters, ``kind`` whether a row
is an ``if``, an ``iff`` or the ``domain`` of each attribute, and ``note`` anything.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pinesy._common.budgets import allow_tokens, budget, value_limit
from pinesy._common.validation import check_degree
from pinesy.exceptions import DataError, PinesyError, RulesTextError, placed
from pinesy.exchange.table_cells import (
    ANY,
    AttributeCells,
    one_line,
    read_domain,
    read_premise,
    write_domain,
)
from pinesy.exchange.table_sheets import TableSheet, check_suffix, read_sheets, write_sheets
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet, declaration_order
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, format_subset

IF, IFF, THEN, KIND, S, R, NOTE, DOMAIN = "if", "iff", "then", "kind", "s", "r", "note", "domain"
#: Values of a column that the error of a missing domain shows.
SHOWN = 10


@dataclass(frozen=True)
class DecisionColumn:
    """What a column holds: its word, and for conditions and conclusions the attribute's name."""

    word: str
    name: str = ""

    @property
    def header(self) -> str:
        """The header."""
        return f"{self.word} {format_name(self.name)}" if self.name else self.word


#: A sheet, and what its columns hold; None for one without a header.
Table = tuple[TableSheet, list[DecisionColumn | None]]


def read_decision_table(
    path: str | os.PathLike[str], attributes: Iterable[Attribute] = ()
) -> Cascade:
    """Return the rules of a decision table in a CSV or Excel file; see docs/exchange.md.

    Parameters
    ----------
    path : a ``.csv`` or ``.xlsx`` file; of a workbook all sheets that hold something are read
    attributes : those whose domains the table does not tell

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
    used = {a.name for part in cascade.stated for a in (*part.inputs, part.output)}
    unused = [name for name in waiting if name not in used]
    cells = {name: AttributeCells(a) for name, a in waiting.items()}
    sheets = []
    for part in parts:
        sheets.append(_sheet(part, cells, waiting, unused))
        unused = []
    write_sheets(path, sheets)


# --- reading -------------------------------------------------------------------------------------


def _header(sheet: TableSheet) -> list[DecisionColumn | None]:
    """Return what the columns hold; None for one without a header."""
    columns: list[DecisionColumn | None] = []
    for place, text in enumerate(sheet.rows[0]):
        with placed(sheet.place(0, place)):
            column = _column(text) if text else None
            if column is not None and column.word in (KIND, S, R) and column in columns:
                raise DataError(f"there are two columns {column.word!r}; one is enough")
        columns.append(column)
    return columns


def _column(header: str) -> DecisionColumn:
    """Return what the column below a header holds."""
    word, _, rest = header.partition(" ")
    word, name = word.lower(), rest.strip()
    if len(name) > 2 and name[0] == name[-1] == "`":
        name = name[1:-1]
    column = DecisionColumn(word, name)
    named = word in (IF, THEN) and name
    if not named and column not in map(DecisionColumn, (IF, KIND, S, R, NOTE)):
        raise DataError(
            f"the header {column.header!r:.60} says nothing; write 'if NAME' over conditions, "
            "'then NAME' over conclusions, or kind, s, r, note"
        )
    return column


def _is_header(text: str) -> bool:
    try:
        return not text or _column(text) is not None
    except DataError:
        return False


class DecisionRow(NamedTuple):
    """A row that says something: where it is, its kind, and its other cells, with their places."""

    where: str
    kind: str
    cells: list[tuple[str, DecisionColumn, str]]


def _rows(tables: Iterable[Table]) -> Iterator[DecisionRow]:
    """Yield the rows below the headers; blank ones and notes say nothing."""
    for sheet, columns in tables:
        for number, texts in enumerate(sheet.rows[1:], 1):
            kind, cells = "", []
            for place, text in enumerate(texts):
                column = columns[place] if place < len(columns) else None
                if text in ANY and (column is not None or not text):
                    continue
                where = sheet.place(number, place)
                if column is None:
                    raise DataError(f"{where}: {text!r:.60} stands in a column without a header")
                if column.word == KIND:
                    kind = _kind(text, where)
                elif column.word != NOTE:
                    cells.append((where, column, text))
            if kind or cells:
                yield DecisionRow(sheet.place(number), kind or IF, cells)


def _kind(text: str, where: str) -> str:
    if text.lower() not in (IF, IFF, DOMAIN):
        raise DataError(f"{where}: {text!r:.60} is no kind of row: if, iff or domain")
    return text.lower()


def _rules(row: DecisionRow, known: Mapping[str, AttributeCells]) -> Iterator[Rule]:
    """Yield the rules of a row, one for each conclusion."""
    premise: list[Proposition] = []
    conclusions: list[Proposition] = []
    given = {S: 0.0 if row.kind == IFF else 1.0, R: 0.0}
    allow_tokens(3 * len(row.cells))
    for where, column, text in row.cells:
        with _at(where):
            if column.name:
                part = conclusions if column.word == THEN else premise
                part.append(known[column.name].read(text))
            elif column.word == IF:
                attributes = {name: cells.attribute for name, cells in known.items()}
                premise += read_premise(text, attributes).propositions
            else:
                given[column.word] = _degree(text, column.word)
    with _at(row.where):
        if not premise:
            raise DataError(
                "there is no condition, and a rule needs one; if it holds always, write the "
                "set of all values of an attribute"
            )
        if not conclusions:
            raise DataError("there is no conclusion: nothing stands in a column 'then NAME'")
        for conclusion in conclusions:
            yield Rule(Premise(tuple(premise)), conclusion, given[S], given[R])


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Make of any error in a block a `DataError` that says where it is."""
    try:
        yield
    except PinesyError as error:
        message = str(error)
        if isinstance(error, RulesTextError):  # its line and column are those of a made-up text
            message = message.removeprefix(f"line {error.line}, column {error.column}: ")
        raise DataError(f"{where}: {message}") from None


def _degree(text: str, word: str) -> float:
    try:
        number = float(text)
    except ValueError:
        cure = "; write a decimal point" * ("," in text)
        raise DataError(f"{word} is {text!r:.60}, which is no number{cure}") from None
    return check_degree(number, word)


def _domains(tables: Sequence[Table], given: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return the attributes of all columns by name."""
    known = dict(given)
    domains = (row for row in _rows(tables) if row.kind == DOMAIN)
    waiting = [(c.name, text, where) for row in domains for where, c, text in row.cells if c.name]
    while waiting:
        later = [cell for cell in waiting if not _declare(known, *cell)]
        if len(later) == len(waiting):  # products of factors that nobody declares
            name, text, where = later[0]
            with _at(where):
                read_domain(text, name, {key: a for key, a in known.items() if key != name})
        waiting = later
    for sheet, columns in tables:
        for place, column in enumerate(columns):
            if column is not None and column.name and column.name not in known:
                _refuse_unknown(sheet, place, column.name)
    return known


def _declare(known: dict[str, Attribute], name: str, text: str, where: str) -> bool:
    """Add the attribute of a cell to those that are known; False if its factors are not yet."""
    others = {key: a for key, a in known.items() if key != name}
    with _at(where):
        try:
            attribute = read_domain(text, name, others)
        except PinesyError:
            if text.startswith("product "):
                return False
            raise
        if known.setdefault(name, attribute) != attribute:
            raise DataError(f"the domain of {name!r} is another one than that given before")
    return True


def _refuse_unknown(sheet: TableSheet, place: int, name: str) -> None:
    rows = (row for row in sheet.rows[1:] if place < len(row) and row[place] not in ANY)
    plain = (row[place] for row in rows if not row[place].startswith(("{", "<", ">", "[", "(")))
    values = [int(text) if text.isdecimal() else text for text in dict.fromkeys(plain)]
    shown = format_subset(values[:SHOWN])
    raise DataError(
        f"{sheet.place(0, place)}: the domain of {name!r} is not known; write it, such as "
        f"{shown if shown != '{}' else '{no, yes}'}, below the header in a row whose 'kind' is "
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
    known : all attributes
    waiting : the attributes whose domains are not written yet
    unused : those that no rule uses, which get a column all the same
    """
    rules = [rule for rule_set in part for rule in rule_set.rules]
    used = (p.attribute for rule in rules for p in rule.premise.propositions)
    names = [*dict.fromkeys(a.name for a in used if a.formula is None), *unused]
    cells = [_premise_cells(rule.premise, names, known) for rule in rules]
    columns = [
        DecisionColumn(KIND),
        *(DecisionColumn(IF, name) for name in names),
        *[DecisionColumn(IF)] * any("" in row for row in cells),
        *(DecisionColumn(THEN, s.output.name) for s in part),
        DecisionColumn(S),
        DecisionColumn(R),
    ]
    rows = [[c.header for c in columns], _domain_row(columns, waiting)]
    for rule, premise in zip(rules, cells, strict=True):
        rows.append(_rule_row(rule, premise, columns, known))
    return TableSheet(part[0].output.name, rows)


def _domain_row(columns: Sequence[DecisionColumn], waiting: dict[str, Attribute]) -> list[str]:
    row = [DOMAIN]
    for column in columns[1:]:
        attribute = waiting.pop(column.name, None) if column.name else None
        row.append("" if attribute is None else write_domain(attribute))
    return row


def _premise_cells(
    premise: Premise, names: Sequence[str], known: Mapping[str, AttributeCells]
) -> dict[str, str]:
    """Return the cells of a premise by attribute, or by "" where it does not fit into these."""
    where = {name: place for place, name in enumerate(names)}
    places = [where.get(p.attribute.name, -1) for p in premise.propositions]
    if places == sorted(set(places)) and places[0] >= 0:
        return {p.attribute.name: known[p.attribute.name].write(p) for p in premise.propositions}
    return {"": one_line(str(premise))}


def _rule_row(
    rule: Rule,
    premise: Mapping[str, str],
    columns: Sequence[DecisionColumn],
    known: Mapping[str, AttributeCells],
) -> list[str]:
    name = rule.conclusion.attribute.name
    texts = {
        DecisionColumn(KIND): IFF if rule.s == rule.r == 0.0 else IF,
        DecisionColumn(THEN, name): known[name].write(rule.conclusion),
        DecisionColumn(S): repr(rule.s).removesuffix(".0"),
        DecisionColumn(R): repr(rule.r).removesuffix(".0"),
        **{DecisionColumn(IF, key): cell for key, cell in premise.items()},
    }
    return [texts.get(column, "") for column in columns]
