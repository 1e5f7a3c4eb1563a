"""What SQL engines write differently: names, texts, numbers, minimum and maximum."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import frexp

from pinesy._common.validation import cut_repr, suggestion
from pinesy.exceptions import DomainError

#: Operands of a minimum or maximum, at most; SQLite takes 127 arguments, or 1000 in later versions.
MAX_OPERANDS = 100
#: The highest power of two that is an integer of 8 bytes.
MAX_POWER = 62


@dataclass(frozen=True)
class Dialect:
    """How an engine writes SQL.

    Attributes
    ----------
    name : as users give it
    double : the type of float64
    quote : the quotation mark of names, doubled inside them
    greatest, least : the functions of several numbers
    layer : what stands between the name of a layer and its query
    fence : what ends the query of a layer, so that the engine computes its columns once and does
        not copy their expressions into the next layer, and from there into all others
    max_columns : the most columns of a query, or 0
    max_name : the most bytes of a name, or 0: PostgreSQL cuts longer ones without an error
    has_nan : whether columns can have NaN, which is equal to itself
    checks_types : whether a column may have values of several types
    """

    name: str
    double: str = "DOUBLE"
    quote: str = '"'
    greatest: str = "greatest"
    least: str = "least"
    layer: str = "AS"
    fence: str = ""
    max_columns: int = 0
    max_name: int = 0
    has_nan: bool = True
    checks_types: bool = False

    def identifier(self, name: str) -> str:
        """Return a name of a table or column, quoted."""
        if not name or not is_sql_text(name):
            raise DomainError(f"{cut_repr(name)} cannot name a column; rename it")
        if self.max_name and len(name.encode()) > self.max_name:
            raise DomainError(
                f"{self.name} cuts names after {self.max_name} bytes, and {cut_repr(name)} has "
                f"{len(name.encode())}; rename it"
            )
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def text(self, text: str) -> str:
        """Return a text in quotation marks."""
        if not is_sql_text(text):
            raise DomainError(
                f"SQL has no text with the character NUL or half a surrogate pair; rename "
                f"{cut_repr(text)}"
            )
        if self.name == "spark":
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        quoted = "'" + text.replace("'", "''") + "'"
        if self.name == "postgresql" and "\\" in text:  # whatever standard_conforming_strings is
            return "E" + quoted.replace("\\", "\\\\")
        return quoted

    def number(self, number: float) -> str:
        """Return a literal of float64 with the bits of a finite number.

        Examples
        --------
        >>> [DIALECTS[name].number(0.1) for name in ("duckdb", "postgresql", "spark")]
        ['0.1e0', "float8 '0.1'", '0.1D']
        >>> DIALECTS["sqlite"].number(0.1), DIALECTS["sqlite"].number(0.25)
        ('(7205759403792794 / CAST(72057594037927936 AS REAL))', '0.25')
        """
        if self.name == "sqlite":
            return _exact_real(number)
        if self.name == "postgresql":
            return f"float8 '{number!r}'"
        if self.name == "spark":
            text = f"{number!r}D"
        else:
            text = repr(number) if "e" in repr(number) else f"{number!r}e0"
        return f"({text})" if number < 0 else text

    def maximum(self, operands: Sequence[str]) -> str:
        """Return the maximum of numbers that are not NULL."""
        return _combine(self.greatest, operands)

    def minimum(self, operands: Sequence[str]) -> str:
        """Return the minimum of numbers that are not NULL."""
        return _combine(self.least, operands)

    def as_double(self, column: str) -> str:
        """Return a column as float64, where NaN is NULL."""
        number = f"CAST({column} AS {self.double})"
        return f"nullif({number}, CAST('NaN' AS {self.double}))" if self.has_nan else number


def is_sql_text(text: str) -> bool:
    """Return whether engines take a text: UTF-8 without the character NUL."""
    return "\x00" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def balanced(texts: Sequence[str], sign: str) -> str:
    """Return texts with a sign such as ``AND`` between them, as a tree: SQLite has limits of depth.

    Examples
    --------
    >>> balanced(["a", "b"], "+"), balanced(["a"], "+")
    ('(a + b)', 'a')
    """
    while len(texts) > MAX_OPERANDS:
        groups = [texts[i : i + MAX_OPERANDS] for i in range(0, len(texts), MAX_OPERANDS)]
        texts = [balanced(group, sign) for group in groups]
    return texts[0] if len(texts) == 1 else f"({f' {sign} '.join(texts)})"


def _combine(function: str, operands: Sequence[str]) -> str:
    """Return a call; SQLite's min and max of one argument are aggregates, so there is none."""
    texts = list(operands)
    while len(texts) > MAX_OPERANDS:
        groups = [texts[i : i + MAX_OPERANDS] for i in range(0, len(texts), MAX_OPERANDS)]
        texts = list(map(partial(_combine, function), groups))
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"


def _exact_real(number: float) -> str:
    """Return a number by integers that SQLite reads exactly; it may round decimals differently."""
    if number * 1024 == int(number * 1024) and abs(number) < 1e6:
        return f"({number!r})" if number < 0 else repr(number)
    mantissa, exponent = frexp(number)
    text, power = str(int(mantissa * 2**53)), exponent - 53
    sign, power = (" / ", -power) if power < 0 else (" * ", power)
    while power:
        step = min(power, MAX_POWER)
        text += f"{sign}CAST({2**step} AS REAL)"
        power -= step
    return f"({text})" if sign in text else f"CAST({text} AS REAL)"


#: The dialects by name.
DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("duckdb", layer="AS NOT MATERIALIZED"),
        Dialect(
            "sqlite",
            double="REAL",
            greatest="max",
            least="min",
            fence=" LIMIT -1",
            max_columns=2000,
            has_nan=False,
            checks_types=True,
        ),
        Dialect(
            "postgresql",
            double="double precision",
            fence=" OFFSET 0",
            max_columns=1600,
            max_name=63,
        ),
        Dialect("spark", quote="`"),
    )
}


def dialect_of(name: object) -> Dialect:
    """Return a dialect by name, or raise `DomainError`."""
    if not isinstance(name, str) or name not in DIALECTS:
        names = ", ".join(map(repr, DIALECTS))
        hint = suggestion(name, DIALECTS) if isinstance(name, str) else ""
        raise DomainError(f"unknown dialect {cut_repr(name)}; expected one of {names}{hint}")
    return DIALECTS[name]
