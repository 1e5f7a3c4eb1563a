"""What a data file may hold: attributes, their values by name, and columns of entries."""

import csv
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices, first_duplicate
from pinesy._common.validation import NEAR, object_array, suggestion, unused_columns
from pinesy.evidence.plain_values import ID, is_missing
from pinesy.exceptions import DataError, PinesyError, UnusedColumnsWarning
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: The hint for a column that belongs to no attribute.
AS_ID = "; a column that only identifies samples is one of ids= (--id NAME)"
#: What may separate the cells of CSV.
SEPARATORS = (",", ";", "\t", "|")
#: Texts that mean that nothing is known, unless they are values of an attribute.
BLANK_WORDS = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"]
)
#: A line or text that is longer is refused: it would fill the memory before anything is known of
#: it.
MAX_LINE = 10_000_000
_WHOLE = re.compile(r"[-+]?\d{1,18}")


def value_texts(attribute: Attribute) -> list[str]:
    """Return the name of each value in data files: texts as they are, others as in rules.

    Where that would be one name for two values, the type is added.

    Examples
    --------
    >>> value_texts(Attribute("a", [3, (0, True), "tea", "3"]))
    ['3 (int)', '(0, true)', 'tea', '3']
    """
    used_texts = {value for value in attribute.domain if isinstance(value, str)}
    texts = []
    for value in attribute.domain:
        text = value if isinstance(value, str) else show_value(value)
        while not isinstance(value, str) and text in used_texts:
            text += f" ({type(value).__name__})"
        used_texts.add(text)
        texts.append(text)
    return texts


def json_value(value: Any) -> Any:
    """Return a value of a domain as JSON has it, or its text.

    Examples
    --------
    >>> [json_value(value) for value in ("tea", 3, None, (0, 1), float("inf"))]
    ['tea', 3, None, '(0, 1)', 'inf']
    """
    plain = value is None or isinstance(value, str | int)
    if plain or (isinstance(value, float) and math.isfinite(value)):
        return value
    return show_value(value)


def degrees_by_name(pi: Possibility) -> dict[str, float]:
    """Return the degrees that are not 0, by the names that values have in data files."""
    texts = value_texts(pi.attribute)
    return {t: d for t, d in zip(texts, pi.degrees.tolist(), strict=True) if d > 0.0}


def value_positions(attribute: Attribute) -> dict[str, int]:
    """Return the position of each value by name; a text may also stand in quotes, as in rules."""
    positions = {text: i for i, text in enumerate(value_texts(attribute))}
    return {show_value(v): i for i, v in enumerate(attribute.domain)} | positions


@dataclass(frozen=True)
class FileOptions:
    """How a data file is to be read.

    Attributes
    ----------
    ids : the columns that identify samples; one that is called ``id`` does, if it is no attribute
    separator : what separates the cells of CSV; None to find it from the header
    decimal : the decimal point of numbers in CSV
    strict : whether columns of no attribute are refused, rather than ignored with a warning
    """

    ids: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str = "."
    strict: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.ids, str) or not all(isinstance(name, str) for name in self.ids):
            raise DataError(f"ids is {self.ids!r:.60}; give a list of names of columns")
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise DataError(
                f"the separator is {self.separator!r:.60}; it must be one character, such as ';'"
            )
        if self.decimal not in (".", ","):
            raise DataError(f"the decimal point is {self.decimal!r:.60}; it must be '.' or ','")

    def number(self, text: str) -> float:
        """Read a number; raise `ValueError` if it is none."""
        if "_" in text:  # Python would read 0_1 as 1
            raise ValueError(text)
        if self.decimal == ",":  # 1.234 would be far from what is meant
            text = text.replace(".", "?").replace(",", ".")
        return float(text)

    def cure(self, text: str) -> str:
        """Return what to do about a text that is no number."""
        if self.decimal == "." and text.count(",") == 1:
            return "; if commas are decimal points, pass decimal=',' (--decimal ',')"
        return ""


def is_blank(entry: object) -> bool:
    """Return whether an entry means that nothing is known: None, NaN, or a blank word.

    Examples
    --------
    >>> [is_blank(entry) for entry in (None, float("nan"), " ", "NA", "no", 0)]
    [True, True, True, True, False, False]
    """
    if isinstance(entry, str):
        return entry.strip() in BLANK_WORDS
    return not isinstance(entry, dict | list) and is_missing(entry)


def read_column(entries: Sequence[Any], options: FileOptions) -> Any:
    """Return the entries of a column as numbers, if all are, else as values; blanks are unknown.

    Examples
    --------
    >>> read_column(["1.5", "NA"], FileOptions()).tolist(), read_column([" a", "1"], FileOptions())
    ([1.5, nan], array(['a', '1'], dtype=object))
    """
    cells = [None if is_blank(e) else e.strip() if isinstance(e, str) else e for e in entries]
    known = [cell for cell in cells if cell is not None]
    if not known or not all(type(cell) in (str, int, float) for cell in known):
        return object_array(cells)
    with suppress(ValueError, OverflowError):
        if len(known) == len(cells) and all(_WHOLE.fullmatch(str(cell)) for cell in known):
            return np.array([int(cell) for cell in known], dtype=np.int64)
        return np.array([np.nan if c is None else options.number(str(c)) for c in cells])
    return object_array(cells)


class Column(NamedTuple):
    """A column of a data file.

    Attributes
    ----------
    column_index : in the file
    title : the cell of the header
    name : the attribute
    position : the value whose degrees it holds, by its position in the domain; None where it holds
        values or distributions of the attribute
    is_id : whether it identifies samples, and belongs to no attribute
    """

    column_index: int
    title: str
    name: str
    position: int | None
    is_id: bool = False


@dataclass(eq=False)
class RowError(Exception):
    """What is wrong with a row of a batch.

    Attributes
    ----------
    row : its index in the batch
    problem : the error, without the row
    """

    row: int
    problem: PinesyError


@dataclass(frozen=True, eq=False)
class DistinctEntries:
    """The entries of a column, each distinct one once.

    Attributes
    ----------
    values : the distinct entries, in the order in which rows have them first
    indices : of the entry of each row, in `values`
    """

    values: list[Any]
    indices: npt.NDArray[np.intp]

    def in_rows(self) -> list[Any]:
        """Return the entry of each row."""
        return [self.values[index] for index in self.indices.tolist()]


@dataclass(frozen=True, eq=False)
class RawBatch:
    """Some rows of a data file, as they stand there, in columns.

    Attributes
    ----------
    columns : the entries of each column that is wanted, one for each row. A column of degrees
        holds texts or an array of numbers; a column of an attribute holds plain values, and also
        dicts from values to degrees and lists of degrees, or an array ``(n, k)`` of degrees, an
        array ``(n,)`` of the numbers of a numeric attribute (NaN where nothing is known), or
        `DistinctEntries`
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
        problem = type(bad.problem)(
            f"{self.file}, {self.unit} {self.lines[bad.row]}: {bad.problem}"
        )
        if bad.row == 0:
            raise problem from None
        columns = {column: entries[: bad.row] for column, entries in self.columns.items()}
        return replace(self, columns=columns, lines=self.lines[: bad.row], problem=problem)


class Layout:
    """The attributes that are read from a file, and what their values are called.

    Attributes
    ----------
    inputs, targets : the attributes that are read, by name
    optional : the names of inputs that a file need not have: nothing is known of them then
    wanted : both
    known : those, and the attributes that a file may hold besides
    options : how the file is to be read
    slices : the columns of each input in the evidence
    categories : the inputs whose values are texts or truth values: others than these are unknown
    width : the number of degrees of a sample, targets included
    """

    def __init__(
        self,
        inputs: Sequence[Attribute],
        known: Iterable[Attribute] = (),
        targets: Sequence[Attribute] = (),
        options: FileOptions | None = None,
        optional: Iterable[str] = (),
    ) -> None:
        _check_once([*inputs, *targets])
        self.optional = frozenset(optional)
        self.options = options or FileOptions()
        self.inputs = {a.name: a for a in inputs}
        self.targets = {a.name: a for a in targets}
        self.wanted = self.inputs | self.targets
        self.known = {a.name: a for a in known} | self.wanted
        #: What a message calls the names that a file may use.
        self.noun = "attribute" if self.targets else "input"
        self.slices = column_slices(inputs)
        self.categories = {
            a.name
            for a in inputs
            if a.scale is None and all(isinstance(v, str | bool) for v in a.domain)
        }
        self.width = sum(len(a.domain) for a in self.wanted.values())
        self._positions = {name: value_positions(a) for name, a in self.known.items()}
        self._ignored: set[str] = set()

    def is_id(self, title: str) -> bool:
        """Return whether a column identifies samples."""
        return title in self.options.ids or (title.lower() == ID and title not in self.known)

    def id_columns(self, titles: Iterable[str]) -> list[Column]:
        """Return the columns that identify samples; raise for one that is not there."""
        columns = {t: Column(i, t, t, None, True) for i, t in enumerate(titles) if self.is_id(t)}
        for name in self.options.ids:
            if name not in columns:
                raise DataError(f"there is no column {name!r:.80}{suggestion(name, titles)}")
        return list(columns.values())

    def check_names(self, names: Iterable[str]) -> None:
        """Raise for a name that is not known, and for an input that is missing."""
        present = set(names)
        unused = [name for name in names if name not in self.known and not self.is_id(name)]
        self._check_unused(unused, present, f"there is no {self.noun} {{!r:.80}}")
        missing = self._missing(present)
        if missing:
            ending = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            raise DataError(
                f"nothing is given for {', '.join(missing[:8])}{ending}; where nothing is known, "
                "leave cells blank or give null (every value has possibility 1)"
            )

    def title(self, text: str) -> str:
        """Return the title that a cell above a column has: blanks around it are not part of it."""
        return text if self._is_known(text) or self.is_id(text) else text.strip()

    def _missing(self, present: Collection[str]) -> list[str]:
        """Return the inputs that a file must have and does not."""
        return [name for name in self.inputs if name not in present and name not in self.optional]

    def _check_unused(self, titles: Sequence[str], present: Collection[str], problem: str) -> None:
        """Ignore columns of no attribute, with one warning, or raise for the first of them.

        It raises if the options are strict, if an input is missing, and if there is no target and
        one of the columns looks like a misspelt target.
        """
        for title in titles:
            name = title.partition("=")[0]
            hint = suggestion(name, self.known)
            misspelt = self.targets.keys().isdisjoint(present) and hint.startswith(NEAR)
            if self.options.strict or self._missing(present) or (self.targets and misspelt):
                raise DataError(f"{problem.format(title)}{hint}{AS_ID}")
        if unused := [title for title in titles if title not in self._ignored]:
            self._ignored.update(unused)
            warnings.warn(UnusedColumnsWarning(unused_columns(unused)), stacklevel=2)

    def columns(self, titles: Sequence[str]) -> list[Column]:
        """Return the columns to read of a table with these titles."""
        is_joined = len(titles) == 1 and not self._is_known(titles[0])
        if is_joined and (separator := self.separator_of(titles[0])) != ",":
            raise DataError(
                f"the columns {titles[0]!r:.80} are separated by {separator!r}; pass "
                f"separator={separator!r} (--separator {separator!r})"
            )
        by_name: dict[str, dict[int | None, Column]] = {}
        unused = []
        for index, title in enumerate(titles):
            if title not in self.known and self.is_id(title):
                continue
            meaning = self._meaning(title)
            if meaning is None:
                unused.append(title)
                continue
            column = Column(index, title, *meaning)
            earlier = by_name.setdefault(column.name, {})
            is_covered = None in earlier or (column.position is None and earlier)
            if is_covered or column.position in earlier:
                raise DataError(f"column {title!r:.80}: an earlier column gives the same")
            earlier[column.position] = column
        noun = self.noun
        self._check_unused(
            unused, by_name, f"column {{!r:.80}} is neither an {noun} nor {noun}=value"
        )
        self.check_names(by_name)
        columns = [c for name in self.wanted if name in by_name for c in by_name[name].values()]
        return [*columns, *self.id_columns(titles)]

    def separator_of(self, header: str) -> str:
        """Return the separator of a header by which most of its titles are known."""

        def known_titles(separator: str) -> int:
            try:
                titles = next(csv.reader([header], delimiter=separator), [])
            except csv.Error:  # raised again where the file is read
                return 0
            return sum(map(self._is_known, titles))

        return max(SEPARATORS, key=known_titles)

    def _is_known(self, title: str) -> bool:
        return title in self.known or any(
            text in self._positions[n] for n, text in self._pairs(title)
        )

    def _pairs(self, title: str) -> list[tuple[str, str]]:
        """Return the attributes and values that a title can mean; both may contain "="."""
        splits = (i for i, sign in enumerate(title) if sign == "=")
        return [(title[:i], title[i + 1 :]) for i in splits if title[:i] in self.known]

    def _meaning(self, title: str) -> tuple[str, int | None] | None:
        """Return the attribute of a column and the position of the value; None if it has none."""
        if title in self.known:
            return title, None
        pairs = self._pairs(title)
        for name, text in pairs:
            if text in self._positions[name] or (name, text) == pairs[-1]:
                return name, self.position(name, text)
        return None

    def has_value(self, name: str, value: str | None) -> bool:
        """Return whether a blank entry or null is a value."""
        return value in self._positions[name] or (value is None and None in self.known[name])

    def find(self, name: str, value: Hashable) -> int | None:
        """Return the position of a value, or None if the attribute does not have it.

        A text names a value, perhaps with blanks around it, or is the same number.
        """
        attribute, positions = self.known[name], self._positions[name]
        if isinstance(value, str):
            if (text := value if value in positions else value.strip()) in positions:
                return positions[text]
            with suppress(ValueError):
                value = self.options.number(text)
            if isinstance(value, str):
                return None
            entry = attribute.domain[attribute.position(value)] if value in attribute else None
            return attribute.position(value) if type(entry) in (int, float) else None
        if value in attribute and _is_same(value, attribute.domain[attribute.position(value)]):
            return attribute.position(value)
        return None

    def position(self, name: str, value: Hashable) -> int:
        """Return the position of a value as `find` does; raise if there is none."""
        attribute = self.known[name]
        if (index := self.find(name, value)) is not None:
            return index
        text = repr(value) if isinstance(value, str) else json.dumps(value)
        value = value if isinstance(value, str) else text
        if attribute.scale is not None:
            cure = self.options.cure(text)
            raise DataError(f"{attribute.scale.invalid_value_error(name, value)}{cure}")
        hint = suggestion(value, value_texts(attribute))
        raise DataError(f"attribute {name!r} has no value {text:.80}{hint}")


class TableLayout:
    """The layout of a table without rules: every column is read.

    Attributes
    ----------
    options : how the file is to be read
    """

    def __init__(self, options: FileOptions) -> None:
        self.options = options

    def separator_of(self, header: str) -> str:
        """Return the separator that a header has most of."""
        return max(SEPARATORS, key=header.count)

    def title(self, text: str) -> str:
        """Return the title that a cell above a column has: blanks around it are not part of it."""
        return text.strip()

    def columns(self, titles: Sequence[str]) -> list[Column]:
        """Return all columns."""
        if (twice := first_duplicate(titles)) is not None:
            raise DataError(f"two columns are called {twice!r:.80}; give each a name of its own")
        return [Column(i, title, title, None) for i, title in enumerate(titles)]


def _is_same(entry: Hashable, value: Hashable) -> bool:
    """Return whether an entry that equals a value is that value: true is not 1."""
    return type(entry) is not bool or type(value) is bool


def _check_once(attributes: Sequence[Attribute]) -> None:
    name, times = Counter(a.name for a in attributes).most_common(1)[0] if attributes else ("", 0)
    if times > 1:
        raise DataError(
            f"attribute {name!r} is asked for {times} times; each is an input or a target, once"
        )
