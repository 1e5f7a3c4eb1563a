"""What a data file may hold: attributes, their values by name, and columns of entries."""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pinesy._common.names import column_slices
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, PinesyError
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value


def value_texts(attribute: Attribute) -> list[str]:
    """Return the name of each value in data files: texts as they are, others as in rules.

    Where that would be one name for two values, the type is added.

    Examples
    --------
    >>> value_texts(Attribute("a", [3, (0, True), "tea", "3"]))
    ['3 (int)', '(0, true)', 'tea', '3']
    """
    taken = {v for v in attribute.domain if isinstance(v, str)}
    return [v if isinstance(v, str) else _free(v, taken) for v in attribute.domain]


def _free(value: object, taken: set[str]) -> str:
    text = show_value(value)
    while text in taken:
        text += f" ({type(value).__name__})"
    taken.add(text)
    return text


def value_positions(attribute: Attribute) -> dict[str, int]:
    """Return the position of each value by name; a text may also stand in quotes, as in rules."""
    named = {text: i for i, text in enumerate(value_texts(attribute))}
    return {show_value(v): i for i, v in enumerate(attribute.domain)} | named


class Column(NamedTuple):
    """A column of a data file.

    Attributes
    ----------
    number : its place in the file, from 0 on
    title : what stands above it
    name : the attribute
    position : the value whose degrees it holds, by its position in the domain; None where it holds
        entries on the whole attribute: values, or distributions
    """

    number: int
    title: str
    name: str
    position: int | None


@dataclass(eq=False)
class RowError(Exception):
    """What is wrong with a row of a batch.

    Attributes
    ----------
    row : its number in the batch, from 0 on
    problem : the error, without the place of the row
    """

    row: int
    problem: PinesyError


@dataclass(frozen=True, eq=False)
class RawBatch:
    """Some rows of a data file, as they stand there, in columns.

    Attributes
    ----------
    columns : the entries of each column that is wanted, one for each row. A column of degrees
        holds texts or an array of numbers; a column of an attribute holds plain values, and also
        dicts from values to degrees and lists of degrees, or an array ``(n, k)`` of degrees
    lines : the number of each row in the file, counted from 1
    position : the number of bytes of the file read so far
    file, unit : what messages call the file, and the place of a sample: "line" or "row"
    problem : what is wrong with the row after these, if anything
    read : makes lists and arrays of the entries of a column, where they are of another kind; it
        may raise `RowError`
    """

    columns: dict[Column, Any]
    lines: Sequence[int]
    position: int
    file: str
    unit: str
    problem: PinesyError | None = None
    read: Callable[[Column, Any], Any] | None = None

    def before(self, bad: RowError) -> "RawBatch":
        """Return the rows before a bad one, which is their problem then; raise it for the first."""
        place = f"{self.file}, {self.unit} {self.lines[bad.row]}"
        problem = type(bad.problem)(f"{place}: {bad.problem}")
        if bad.row == 0:
            raise problem from None
        columns = {column: entries[: bad.row] for column, entries in self.columns.items()}
        return replace(self, columns=columns, lines=self.lines[: bad.row], problem=problem)


class Layout:
    """The attributes that are read from a file, and what their values are called.

    Attributes
    ----------
    inputs, targets : the attributes that are read, by name
    wanted : both
    known : those, and the attributes that a file may hold besides
    slices : the columns of each input in the evidence
    width : the number of degrees of a sample, targets included
    """

    def __init__(
        self,
        inputs: Sequence[Attribute],
        known: Iterable[Attribute] = (),
        targets: Sequence[Attribute] = (),
    ) -> None:
        _check_once([*inputs, *targets])
        self.inputs = {a.name: a for a in inputs}
        self.targets = {a.name: a for a in targets}
        self.wanted = self.inputs | self.targets
        self.known = {a.name: a for a in known} | self.wanted
        #: What a message calls the names that a file may use.
        self.noun = "attribute" if self.targets else "input"
        self.slices = column_slices(inputs)
        self.width = sum(len(a.domain) for a in self.wanted.values())
        self._positions = {name: value_positions(a) for name, a in self.known.items()}

    def check_names(self, names: Iterable[str]) -> None:
        """Raise for a name that is not known, and for an input that is missing."""
        given = set(names)
        for name in names:
            if name not in self.known:
                hint = suggestion(name, self.known)
                raise DataError(f"there is no {self.noun} {name!r:.80}{hint}")
        missing = [name for name in self.inputs if name not in given]
        if missing:
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            raise DataError(
                f"nothing is given for {', '.join(missing[:8])}{more}; where nothing is known, "
                "give every value possibility 1"
            )

    def columns(self, titles: Sequence[str]) -> list[Column]:
        """Return the columns that are wanted of a table with these titles."""
        others = titles[0].split(";")[1:] if len(titles) == 1 else []
        if any(title.partition("=")[0] in self.known for title in others):
            raise DataError(
                f"the columns {titles[0]!r:.80} must be separated by commas, not by ';'"
            )
        given: dict[str, dict[int | None, Column]] = {}
        for number, title in enumerate(titles):
            column = Column(number, title, *self._meaning(title))
            earlier = given.setdefault(column.name, {})
            whole = None in earlier or (column.position is None and earlier)
            if whole or column.position in earlier:
                raise DataError(f"column {title!r:.80}: an earlier column gives the same")
            earlier[column.position] = column
        self.check_names(given)
        return [c for name in self.wanted if name in given for c in given[name].values()]

    def _meaning(self, title: str) -> tuple[str, int | None]:
        """Return the attribute of a column, and the position of the value."""
        if title in self.known:
            return title, None
        # Names and values may themselves hold "=", so every split is tried.
        splits = [i for i, sign in enumerate(title) if sign == "="]
        pairs = [(title[:i], title[i + 1 :]) for i in splits if title[:i] in self.known]
        for name, text in pairs:
            if text in self._positions[name] or (name, text) == pairs[-1]:
                return name, self.position(name, text)
        name, noun = title.partition("=")[0], self.noun
        raise DataError(
            f"column {title!r:.80} is neither an {noun} nor {noun}=value"
            f"{suggestion(name, self.known)}; columns of other things must be left out"
        )

    def position(self, name: str, value: Hashable) -> int:
        """Return the position of a value: a text that names it, or a value of another type."""
        attribute = self.known[name]
        if isinstance(value, str):
            if value in self._positions[name]:
                return self._positions[name][value]
            shown = repr(value)
        elif value in attribute:
            return attribute.position(value)
        else:
            value = shown = json.dumps(value)
        hint = suggestion(value, value_texts(attribute))
        raise DataError(f"attribute {name!r} has no value {shown:.80}{hint}")


def _check_once(attributes: Sequence[Attribute]) -> None:
    name, times = Counter(a.name for a in attributes).most_common(1)[0] if attributes else ("", 0)
    if times > 1:
        raise DataError(
            f"attribute {name!r} is asked for {times} times; each is an input or a target, once"
        )
