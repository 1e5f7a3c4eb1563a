"""What the formats of data files share: lines, names of values, columns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NoReturn

from pinesy._validation import suggestion
from pinesy.exceptions import DataError
from pinesy.rules.attribute import Attribute
from pinesy.rules.writing import show_value

#: A line of more bytes is refused: it would fill the memory before anything is known of it.
MAX_LINE = 10_000_000


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


def _positions(attribute: Attribute) -> dict[str, int]:
    """Return the place of each value by name; a text may also stand in quotes, as in rules."""
    named = {text: i for i, text in enumerate(value_texts(attribute))}
    return {show_value(v): i for i, v in enumerate(attribute.domain)} | named


class Lines:
    """The lines of a binary file as text; knows the line it is at.

    Attributes
    ----------
    name : the file, for messages
    number : the line read last, counted from 1
    position : the number of bytes read
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file = file
        self.name = name
        self.number = 0
        self.position = 0

    def __iter__(self) -> Iterator[str]:
        while raw := self._read():
            self.number += 1
            self.position += len(raw)
            if len(raw) > MAX_LINE:
                self.fail(f"longer than {MAX_LINE:,} bytes; a sample takes one line")
            yield self._text(raw)

    def _read(self) -> bytes:
        try:
            return self.file.readline(MAX_LINE + 1)
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def _text(self, raw: bytes) -> str:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.fail(f"not UTF-8 text (byte {error.start + 1} of the line)")
        return text.removeprefix("\ufeff") if self.number == 1 else text

    def place(self, number: int) -> str:
        """Return how a message names a line."""
        return f"{self.name}, line {number}"

    def fail(self, problem: str) -> NoReturn:
        """Raise `DataError` for the line read last."""
        raise DataError(f"{self.place(self.number)}: {problem}")


class Layout:
    """Where the degrees of each attribute stand in a row, and what the values are called."""

    def __init__(self, inputs: Sequence[Attribute], known: Iterable[Attribute]) -> None:
        self.inputs = {a.name: a for a in inputs}
        self.known = {a.name: a for a in known} | self.inputs
        self.starts: dict[str, int] = {}
        self.width = 0
        for attribute in inputs:
            self.starts[attribute.name] = self.width
            self.width += len(attribute.domain)
        self.positions = {name: _positions(a) for name, a in self.known.items()}

    @property
    def spans(self) -> Iterator[tuple[Attribute, slice]]:
        """The columns of each input."""
        for name, attribute in self.inputs.items():
            yield attribute, slice(self.starts[name], self.starts[name] + len(attribute.domain))

    def check_names(self, names: Iterable[str], lines: Lines) -> None:
        """Fail on a name that is no input, and on an input that is missing."""
        given = set(names)
        for name in names:
            if name not in self.known:
                lines.fail(f"there is no input {name!r:.80}{suggestion(name, self.known)}")
        missing = [name for name in self.inputs if name not in given]
        if missing:
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            lines.fail(
                f"nothing is given for {', '.join(missing[:8])}{more}; where nothing is known, "
                "give every value possibility 1"
            )

    def position(self, name: str, text: str, lines: Lines) -> int:
        """Return the place of a value in its domain."""
        positions = self.positions[name]
        if text not in positions:
            hint = suggestion(text, value_texts(self.known[name]))
            lines.fail(f"attribute {name!r} has no value {text!r:.80}{hint}")
        return positions[text]
