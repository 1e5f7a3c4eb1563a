"""What the formats of data files share: places, names of values, columns."""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, NoReturn

from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value

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


class Origin:
    """A file that samples come from; knows the sample it is at.

    Attributes
    ----------
    name : the file, for messages
    unit : what a sample stands in, "line" or "row"
    number : the line or row read last, counted from 1
    """

    def __init__(self, name: str, unit: str) -> None:
        self.name = name
        self.unit = unit
        self.number = 0

    def place(self, number: int) -> str:
        """Return how a message names a line or row; 0 is the file as a whole."""
        return f"{self.name}, {self.unit} {number}" if number else self.name

    def fail(self, problem: str) -> NoReturn:
        """Raise `DataError` for the line or row read last."""
        raise DataError(f"{self.place(self.number)}: {problem}")


class Lines(Origin):
    """The lines of a binary file as text.

    Attributes
    ----------
    position : the number of bytes read
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__(name, "line")
        self.file = file
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


class Layout:
    """Where the degrees of each attribute stand in a row, and what the values are called.

    Attributes
    ----------
    inputs, targets : the attributes that are read, by name
    wanted : both; a row holds first the degrees of the inputs, then those of the targets
    numbers : the number of each of these
    known : those, and the attributes that a file may hold besides
    spans : the columns of each attribute in a row
    width : the number of columns of a row
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
        self.numbers = {name: number for number, name in enumerate(self.wanted)}
        self.known = {a.name: a for a in known} | self.wanted
        #: What a message calls the names that a file may use.
        self.noun = "attribute" if self.targets else "input"
        self.spans: dict[str, slice] = {}
        self.width = 0
        for name, attribute in self.wanted.items():
            self.spans[name] = slice(self.width, self.width + len(attribute.domain))
            self.width += len(attribute.domain)
        self.positions = {name: _positions(a) for name, a in self.known.items()}

    @property
    def n_columns(self) -> int:
        """The number of columns of the inputs."""
        return sum(len(a.domain) for a in self.inputs.values())

    def check_names(self, names: Iterable[str], origin: Origin) -> None:
        """Fail on a name that is not known, and on an input that is missing."""
        given = set(names)
        for name in names:
            if name not in self.known:
                hint = suggestion(name, self.known)
                origin.fail(f"there is no {self.noun} {name!r:.80}{hint}")
        missing = [name for name in self.inputs if name not in given]
        if missing:
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            origin.fail(
                f"nothing is given for {', '.join(missing[:8])}{more}; where nothing is known, "
                "give every value possibility 1"
            )

    def position(self, name: str, text: str, origin: Origin) -> int:
        """Return the place of a value, given by its name in data files, in its domain."""
        positions = self.positions[name]
        if text not in positions:
            hint = suggestion(text, value_texts(self.known[name]))
            origin.fail(f"attribute {name!r} has no value {text!r:.80}{hint}")
        return positions[text]

    def check_length(self, name: str, length: int, origin: Origin) -> None:
        """Fail on a list that does not hold a degree for each value."""
        size = len(self.known[name].domain)
        if length != size:
            origin.fail(f"attribute {name!r} has {size} values; got a list of {length} degrees")

    def has(self, name: str, value: Hashable) -> bool:
        """Tell whether `place` would find a value."""
        if isinstance(value, str):
            return value in self.positions[name]
        return value in self.known[name]

    def place(self, name: str, value: Hashable, origin: Origin) -> int:
        """Return the place of a value that stands alone: a text, or a value of another type."""
        if isinstance(value, str):
            return self.position(name, value, origin)
        attribute = self.known[name]
        if value not in attribute:
            shown = json.dumps(value)
            hint = suggestion(shown, value_texts(attribute))
            origin.fail(f"attribute {name!r} has no value {shown:.80}{hint}")
        return attribute.position(value)


def _check_once(attributes: Sequence[Attribute]) -> None:
    name, times = Counter(a.name for a in attributes).most_common(1)[0] if attributes else ("", 0)
    if times > 1:
        raise DataError(
            f"attribute {name!r} is asked for {times} times; each is an input or a target, once"
        )


class Record(NamedTuple):
    """A sample: its columns that are not 0, their degrees, the attributes given by one value.

    The latter by their number among those wanted.
    """

    columns: list[int]
    degrees: list[float]
    certain: list[int]
