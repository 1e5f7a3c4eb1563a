"""Reads values, sets of them, names with indices, and the variables that loops bind."""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pinesy._common.budgets import CHARACTERS, HELD, LISTED
from pinesy._common.validation import is_integer
from pinesy.rules.syntax.expression_grammar import ExpressionGrammar
from pinesy.rules.syntax.expressions import FAILURES, Expression, evaluator
from pinesy.rules.syntax.lexer import KEYWORDS, MAX_DEPTH, MAX_LEAVES, MAX_RANGE, Token
from pinesy.rules.syntax.token_reader import Reader

T = TypeVar("T")

#: Characters of a name with indices.
MAX_NAME = 10_000
#: What follows a value that is no expression.
_AFTER_VALUE = frozenset([",", "}", ")", "]", ".."])


class ValueSet(tuple[Hashable, ...]):
    """The value of a variable that stands for a set."""


class ValueReader(Reader):
    """Reads what rules are made of, with the values of variables in their place."""

    # --- values --------------------------------------------------------------------------------

    def string(self, token: Token) -> str:
        """Decode a text in quotes."""
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail("this text has an unknown escape; use those of JSON", token)

    def value(self) -> Any:
        """Read a value: a number, a word, a text in quotes, true, false, none, a tuple, a sum."""
        start, token = self.position, self.token
        if self.is_sign("("):  # a tuple of literals, as in long sets
            self.take()
            parts = []
            while self._is_literal():
                parts.append(self._literal())
                if not self.accept(","):
                    break
            if len(parts) > 1 and self.accept(")") and self.token.text in _AFTER_VALUE:
                return self._bounded(tuple(parts), token)
            self.seek(start)
        elif self._is_literal():
            return self._literal()
        elif token.kind == "name":
            self.missing("a value")
        return self.evaluated(ExpressionGrammar(self, None).sum(), token)

    def _is_literal(self) -> bool:
        """Tell whether a number or a word comes next that is no part of an expression."""
        kind, text, _start = self.token
        if self.ahead() not in _AFTER_VALUE:
            return False
        return kind == "number" or (kind == "word" and text not in KEYWORDS and "-" not in text)

    def _literal(self) -> Any:
        """Read a number, a word, or the value of the variable that it is."""
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        known, value = self.variable(token)
        return value if known else token.text

    def evaluated(self, expression: Expression, token: Token) -> Any:
        """Return the value of an expression of variables; blame the text at `token` if it fails."""
        if expression.kind == "constant":
            return expression.content
        try:
            value = evaluator(expression)(())
        except FAILURES as error:
            self.fail(f"this fails: {error}", token)
        return self._bounded(value, token)

    def _bounded(self, value: Any, token: Token) -> Any:
        """Return a value unless it is a huge tuple, as of a macro that calls itself with (x, x)."""
        level, depth = [value], 0
        while any(isinstance(part, tuple) for part in level):
            parts = [part if isinstance(part, tuple) else (part,) for part in level]
            level, depth = [leaf for part in parts for leaf in part], depth + 1
            if len(level) > MAX_LEAVES:
                self.fail(f"this tuple has more than {MAX_LEAVES:,} values", token)
            if depth > MAX_DEPTH:
                self.fail(f"tuples nest more than {MAX_DEPTH} deep", token)
        return value

    def truth(self, what: str, end: int) -> bool:
        """Read a condition on variables up to a place: true or false; else expect `what`."""
        token = self.token
        answer = self.evaluated(ExpressionGrammar(self, {}).either(), token)
        if not isinstance(answer, bool):
            self.fail(f"this gives {answer!r:.60}; it must give true or false", token)
        self.expect_end(what, end)
        return answer

    # --- names with indices ----------------------------------------------------------------------

    def name(self, what: str) -> str:
        """Read the name of an attribute: ``digit[i + 1]`` is the name ``digit_2`` if `i` is 1."""
        return self.indexed(self.plain_name(what))

    def names(self, what: str) -> list[str]:
        """Read the name of an attribute, or those of a family such as ``digit[1..4]``."""
        names = [self.plain_name(what)]
        if self._is_index():
            self.take()
            for indices in self.listing("]", self._values):
                texts = [self._index_text(i) for i in indices]
                length = len(names[0]) + max(map(len, texts), default=0) + 1
                if length > MAX_NAME:
                    self.fail(f"this name has more than {MAX_NAME:,} characters")
                self.take_steps(len(names) * len(texts) * (HELD + length // CHARACTERS))
                names = [f"{name}_{text}" for name in names for text in texts]
        return names

    def indexed(self, name: str) -> str:
        """Return a name with the indices that may come next."""
        if not self._is_index():
            return name
        self.deeper("indices nest")
        self.take()
        self.lookups += 1
        indices = self.listing("]", lambda: self._index_text(self.value()))
        self.depth -= 1
        if not indices:
            self.missing("an index", self.tokens[self.position - 1])
        indexed = "_".join([name, *indices])
        if len(indexed) > MAX_NAME:
            self.fail(f"this name has more than {MAX_NAME:,} characters")
        self.take_steps(len(indexed) // CHARACTERS)
        return indexed

    def _is_index(self) -> bool:
        """Tell whether a bracket comes next that is not that of a rule's parameters."""
        return self.is_sign("[") and self.ahead(2) != "="

    def _index_text(self, value: object) -> str:
        if isinstance(value, tuple) and value:
            return "_".join(self._index_text(part) for part in value)
        if not (is_integer(value) or (isinstance(value, str) and value)):
            self.fail(f"an index is a whole number or a word; got {value!r:.60}")
        return str(value)

    # --- sets ----------------------------------------------------------------------------------

    def subset(self, loop: bool = False) -> Sequence[Hashable]:
        """Read ``{v, v, 0..9}``, ``{2 * i for i in 0..4}``, ``0..9`` or a variable that is a set.

        The range of a `loop` may be empty.
        """
        literals = self.literals()
        if literals is not None:
            return literals
        token = self.token
        known, value = self.variable(token)
        if known and isinstance(value, ValueSet):
            self.take()
            self.take_steps(LISTED * len(value))
            return value
        if not self.is_sign("{"):
            values = self._values(loop) if token.kind in ("word", "number", "sign") else ()
            if not isinstance(values, range):
                self.missing("'{'", token)
            return values
        loop_at, end = self._loop_of_bracket()
        self.deeper("sets nest")
        if loop_at:
            passes = self._comprehension(loop_at, end)
            values = list(dict.fromkeys(value for _ in passes for value in self._values()))
        else:
            self.take()
            parts = self.listing("}", lambda: self._values(loop))
            self.take_steps(LISTED * sum(map(len, parts)))
            values = parts[0] if len(parts) == 1 else [v for part in parts for v in part]
        self.depth -= 1
        return values

    def _values(self, loop: bool = False) -> Sequence[Hashable]:
        token = self.token
        if self.is_sign("{"):  # a set of indices
            return self.subset()
        first = self.value()
        if not self.accept(".."):
            return first if isinstance(first, ValueSet) else [first]
        last = self.value()
        if type(first) is not int or type(last) is not int or not first - loop <= last:
            self.fail("a range goes up between whole numbers, such as 0..9", token)
        if last - first >= MAX_RANGE:
            self.fail(f"this range has more than {MAX_RANGE:,} values", token)
        self.take_steps(LISTED * (last - first + 1))
        return range(first, last + 1)

    # --- loops ---------------------------------------------------------------------------------

    def items(self, item: Callable[[], T]) -> list[T]:
        """Read ``(x, y, z)`` or ``(x for i in 1..4)``."""
        loop_at, end = self._loop_of_bracket() if self.is_sign("(") else (0, 0)
        if loop_at:
            return [item() for _ in self._comprehension(loop_at, end)]
        self.expect("(")
        return self.listing(")", item)

    def _loop_of_bracket(self) -> tuple[int, int]:
        """Return where the ``for`` and the end of the bracket that comes next are; 0 if none."""
        source = self.source
        if not source.has_loops:
            return 0, 0
        end = source.closing(self.position)
        return source.find(self.position + 1, end, "for"), end

    def _comprehension(self, loop_at: int, end: int) -> Iterator[None]:
        """Come to `f` of ``(f for i in ...)`` once for each value; at last after the bracket."""
        outer, start = self.scope, self.position + 1
        for _ in self.bindings(loop_at + 1, end):
            self.read_again(loop_at - start)
            self.seek(start)
            yield
            self.expect_end("'for'", loop_at)
        self.scope = outer
        self.lookups += 1
        self.seek(end + 1)

    def bindings(self, start: int, end: int) -> Iterator[Mapping[str, Any]]:
        """Set the variables of ``i in 1..4, j in {a, b} where i < j`` to their values, in turn.

        Parameters
        ----------
        start, end : the positions of the tokens; this reader is moved, but not put back
        """
        where = self.source.find(start, end, "where") or end
        stops = [*self.source.commas(start, where), where]
        starts = [start, *(stop + 1 for stop in stops[:-1])]
        binders = []
        for begin, stop in zip(starts, stops, strict=True):
            self.seek(begin)
            name = self.word("the name of a variable")
            self.expect("in")
            binders.append((name, self.position, stop))
        yield from self._bound(binders, where + 1 if where < end else 0, end, self.scope)

    def _bound(
        self,
        binders: Sequence[tuple[str, int, int]],
        where: int,
        end: int,
        scope: Mapping[str, Any],
    ) -> Iterator[Mapping[str, Any]]:
        self.scope = scope
        if not binders:
            self.read_again(end - where if where else 0)
            if where:
                self.seek(where)
            if not where or self.truth("the end of the condition", end):
                yield scope
            return
        name, start, stop = binders[0]
        self.read_again(stop - start)
        self.seek(start)
        values = self.subset(loop=True)
        self.expect_end("',' or 'where'", stop)
        for value in values:
            yield from self._bound(binders[1:], where, end, {**scope, name: value})
