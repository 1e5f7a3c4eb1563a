"""Reads values, sets of them, names with indices, and the variables that loops bind."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pinesy._common.budgets import list_values
from pinesy._common.validation import is_integer
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.expression_grammar import ExpressionGrammar
from pinesy.rules.syntax.expressions import FAILURES, Expression, evaluator
from pinesy.rules.syntax.lexer import MAX_LEAVES, MAX_RANGE, Token
from pinesy.rules.syntax.reader import AFTER_VALUE, Reader

T = TypeVar("T")

#: Characters of a name with indices.
MAX_NAME = 10_000


class ValueSet(tuple[Hashable, ...]):
    """The value of a variable that stands for a set."""


class Grammar(ExpressionGrammar):
    """Reads an expression, with its sets and indices."""

    def subset(self) -> Sequence[Hashable]:
        """Read a set of values."""
        return read_subset(self.reader)

    def indexed(self, name: str) -> str:
        """Return the name with the indices that may come next."""
        return _indexed(self.reader, name) if _is_index(self.reader) else name


def evaluated(reader: Reader, expression: Expression, token: Token) -> Any:
    """Return the value of an expression of variables; blame the text at `token` for failures."""
    if expression.kind == "constant":
        return expression.content
    try:
        value = evaluator(expression)(())
    except FAILURES as error:
        reader.fail(f"this fails: {error}", token)
    return _bounded(reader, value, token)


def _bounded(reader: Reader, value: Any, token: Token) -> Any:
    """Return a value unless it is a huge tuple, as of a macro that calls itself with (x, x)."""
    if isinstance(value, tuple) and _size(value) > MAX_LEAVES:
        reader.fail(f"this tuple has more than {MAX_LEAVES:,} values", token)
    return value


def _size(value: object) -> int:
    return sum(map(_size, value)) if isinstance(value, tuple) else 1


def read_truth(reader: Reader) -> bool:
    """Read a condition on variables: true or false."""
    token = reader.token
    answer = evaluated(reader, Grammar(reader, {}).either(), token)
    if not isinstance(answer, bool):
        reader.fail(f"this gives {answer!r:.60}; it must give true or false", token)
    return answer


def read_value(reader: Reader) -> Any:
    """Read a value: a number, a word, a text in quotes, true, false, none, a tuple, a sum ..."""
    start, token = reader.position, reader.token
    if token.text == "(" and token.kind == "sign":  # a tuple of literals, as in long sets
        reader.take()
        parts = []
        while reader.is_literal():
            parts.append(reader.literal())
            if not reader.accept(","):
                break
        if len(parts) > 1 and reader.accept(")") and reader.token.text in AFTER_VALUE:
            return _bounded(reader, tuple(parts), token)
        reader.seek(start)
    elif reader.is_literal():
        return reader.literal()
    elif token.kind == "name":
        reader.fail(f"expected a value, found {token.text!r:.60}")
    return evaluated(reader, Grammar(reader, None).sum(), token)


def read_argument(reader: Reader) -> Any:
    """Read an argument of a macro: a value, or the name of an attribute."""
    return read_name(reader, "a name") if reader.token.kind == "name" else read_value(reader)


# --- names with indices ------------------------------------------------------------------------


def read_name(reader: Reader, what: str) -> str:
    """Read the name of an attribute: ``digit[i + 1]`` is the name ``digit_2`` if `i` is 1."""
    name = reader.plain_name(what)
    return _indexed(reader, name) if _is_index(reader) else name


def read_names(reader: Reader, what: str) -> list[str]:
    """Read the name of an attribute, or those of a family such as ``digit[1..4]``."""
    names = [reader.plain_name(what)]
    if _is_index(reader):
        reader.expect("[")
        for indices in reader.listing("]", lambda: _values(reader)):
            reader.step(len(names) * len(indices) // 10)
            names = [f"{name}_{_index_text(reader, i)}" for name in names for i in indices]
    return names


def _is_index(reader: Reader) -> bool:
    """Tell whether a bracket comes next that is not that of a rule's parameters."""
    return reader.token.text == "[" and reader.token.kind == "sign" and reader.ahead(2) != "="


def _indexed(reader: Reader, name: str) -> str:
    reader.expect("[")
    reader.lookups += 1
    indices = reader.listing("]", lambda: _index_text(reader, read_value(reader)))
    if not indices:
        reader.fail("expected an index, found ']'", reader.tokens[reader.position - 1])
    indexed = "_".join([name, *indices])
    if len(indexed) > MAX_NAME:
        reader.fail(f"this name has more than {MAX_NAME:,} characters")
    return indexed


def _index_text(reader: Reader, value: object) -> str:
    if isinstance(value, tuple) and value:
        return "_".join(_index_text(reader, part) for part in value)
    if not (is_integer(value) or (isinstance(value, str) and value)):
        reader.fail(f"an index is a whole number or a word; got {value!r:.60}")
    return str(value)


# --- sets --------------------------------------------------------------------------------------


def read_subset(reader: Reader, loop: bool = False) -> Sequence[Hashable]:
    """Read ``{v, v, 0..9}``, ``{2 * i for i in 0..4}``, ``0..9`` or a variable that is a set.

    The range of a `loop` may be empty.
    """
    literals = reader.literals()
    if literals is not None:
        return literals
    token = reader.token
    known, value = reader.variable(token)
    if known and isinstance(value, ValueSet):
        reader.take()
        reader.step(len(value) // 10)
        return value
    if token.text != "{" or token.kind != "sign":
        values = _values(reader, loop) if token.kind in ("word", "number", "sign") else ()
        if not isinstance(values, range):
            reader.fail(f"expected '{{', found {token.text!r:.60}", token)
        return values
    loop_at = _comprehension(reader)
    if loop_at:
        return _comprehended(reader, loop_at)
    reader.take()
    parts = reader.listing("}", lambda: _values(reader, loop))
    if len(parts) > 1:
        try:
            list_values(sum(map(len, parts)))
        except DomainError as error:
            reader.fail(str(error), token)
    return parts[0] if len(parts) == 1 else [v for part in parts for v in part]


def _values(reader: Reader, loop: bool = False) -> Sequence[Hashable]:
    token = reader.token
    if token.text == "{" and token.kind == "sign":  # a set of indices
        return read_subset(reader)
    first = read_value(reader)
    if not reader.accept(".."):
        return first if isinstance(first, ValueSet) else [first]
    last = read_value(reader)
    if type(first) is not int or type(last) is not int or not first - loop <= last:
        reader.fail("a range goes up between whole numbers, such as 0..9", token)
    if last - first >= MAX_RANGE:
        reader.fail(f"this range has more than {MAX_RANGE:,} values", token)
    if reader.scope:
        reader.step((last - first) // 10)
    return range(first, last + 1)


def _comprehension(reader: Reader) -> int:
    """Return where the ``for`` of the bracket that comes next stands; 0 if it has none."""
    source = reader.source
    if not source.has_loops:
        return 0
    return source.find(reader.position + 1, source.closing(reader.position), "for")


def _comprehended(reader: Reader, loop_at: int) -> list[Hashable]:
    start, end = reader.position + 1, reader.source.closing(reader.position)
    values: list[Hashable] = []
    for _ in comprehension(reader, start, loop_at, end):
        values.extend(_values(reader))
    return list(dict.fromkeys(values))


def comprehension(reader: Reader, start: int, loop_at: int, end: int) -> Iterator[None]:
    """Come to ``f`` of ``f for i in ...`` once for each value; at last after the bracket."""
    outer = reader.scope
    for _ in bindings(reader, loop_at + 1, end):
        reader.seek(start)
        yield
        if reader.position != loop_at:
            reader.fail(f"expected 'for', found {reader.token.text!r:.60}")
    reader.scope = outer
    reader.lookups += 1
    reader.seek(end + 1)


def read_items(reader: Reader, item: Callable[[], T]) -> list[T]:
    """Read ``(x, y, z)`` or ``(x for i in 1..4)``."""
    start = reader.position
    loop_at = _comprehension(reader) if reader.source.is_sign(start, "(") else 0
    if loop_at:
        end = reader.source.closing(start)
        return [item() for _ in comprehension(reader, start + 1, loop_at, end)]
    reader.expect("(")
    return reader.listing(")", item)


# --- loops -------------------------------------------------------------------------------------


def bindings(reader: Reader, start: int, end: int) -> Iterator[Mapping[str, Any]]:
    """Set the variables of ``i in 1..4, j in {a, b} where i < j`` to their values, in turn.

    Parameters
    ----------
    start, end : the positions of the tokens; the reader is moved, but not put back
    """
    where = reader.source.find(start, end, "where") or end
    stops = [*reader.source.commas(start, where), where]
    starts = [start, *(stop + 1 for stop in stops[:-1])]
    binders = []
    for begin, stop in zip(starts, stops, strict=True):
        reader.seek(begin)
        name = reader.word("the name of a variable")
        reader.expect("in")
        binders.append((name, reader.position, stop))
    yield from _bound(reader, binders, where + 1 if where < end else 0, end, reader.scope)


def _bound(
    reader: Reader,
    binders: Sequence[tuple[str, int, int]],
    where: int,
    end: int,
    scope: Mapping[str, Any],
) -> Iterator[Mapping[str, Any]]:
    reader.scope = scope
    if not binders:
        reader.step(5 if where else 1)  # a condition takes its time
        if not where or _holds(reader, where, end):
            yield scope
        return
    name, start, stop = binders[0]
    reader.seek(start)
    values = read_subset(reader, loop=True)
    if reader.position != stop:
        reader.fail(f"expected ',' or 'where', found {reader.token.text!r:.60}")
    for value in values:
        yield from _bound(reader, binders[1:], where, end, {**scope, name: value})


def _holds(reader: Reader, where: int, end: int) -> bool:
    reader.seek(where)
    answer = read_truth(reader)
    if reader.position != end:
        reader.fail(f"expected the end of the condition, found {reader.token.text!r:.60}")
    return answer
