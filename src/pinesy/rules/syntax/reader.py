"""Parsers of values, names, sets, expressions and loop variables.

`Reader` holds the current token of a text and the variables in scope. `ExpressionReader` parses an
expression from there; variables are replaced by their values.
"""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, NoReturn, TypeVar

from pinesy._common.budgets import CHARACTERS, HELD, LISTED, OPERAND, TOKEN, take_steps
from pinesy._common.validation import is_integer, listed, suggestion
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.expressions import COMPARISONS, FAILURES, Expression, Membership, evaluator
from pinesy.rules.syntax.lexer import (
    CONSTANTS,
    KEYWORDS,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_LEAVES,
    MAX_RANGE,
    Token,
    TokenizedText,
    join_tokens,
    standard_text,
)
from pinesy.rules.syntax.writer import format_name, format_subset, show_value

T = TypeVar("T")

#: Operands of a condition, at most.
MAX_OPERANDS = 200
#: Characters of a name with indices, at most.
MAX_NAME = 10_000
#: Tokens that may follow a literal which is not part of an expression.
_AFTER_VALUE = frozenset([",", "}", ")", "]", ".."])


class ValueSet(tuple[Hashable, ...]):
    """The value of a variable of type set."""


class Reader:
    """A text, its current token, and the variables in scope."""

    def __init__(self, text: str) -> None:
        self.source = TokenizedText(text)
        self.tokens = self.source.tokens
        self.index = 0
        #: The current token, which is read next.
        self.token = self.tokens[0]
        #: Global variables.
        self.constants: dict[str, Any] = {}
        #: Variables of the enclosing loops and macros.
        self.scope: Mapping[str, Any] = {}
        #: Number of variables read so far. A text with variables is printed with their values.
        self.lookups = 0
        #: Nesting depth of brackets.
        self.depth = 0
        #: False when the text is read again because comparisons lacked cuts.
        self.is_first_reading = True

    def seek(self, index: int) -> None:
        """Move to the token at `index`."""
        self.index = index
        self.token = self.tokens[index]

    def enter(self, source: TokenizedText, index: int) -> None:
        """Move to the token at `index` of another text."""
        self.source, self.tokens = source, source.tokens
        self.seek(index)

    def take_steps(self, steps: int) -> None:
        """Take steps from the budget, or fail at the current token."""
        try:
            take_steps(steps)
        except DomainError as error:
            self.fail(str(error))

    def read_again(self, tokens: int) -> None:
        """Take the steps of reading tokens of a template once more."""
        self.take_steps(TOKEN * (tokens + 1) + len(self.scope))

    def enter_bracket(self, problem: str) -> None:
        """Increase `depth`, or fail if it is too deep; the caller decreases it again."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"{problem} more than {MAX_DEPTH} deep")

    def take(self) -> Token:
        """Return the current token and move to the next one."""
        token = self.token
        if token.kind != "end":
            self.index += 1
            self.token = self.tokens[self.index]
        return token

    def is_sign(self, *signs: str) -> bool:
        """Return whether the current token is one of some signs."""
        return self.token.text in signs and self.token.kind == "sign"

    def peek(self, steps: int = 1) -> str:
        """Return the text of a token after the current one."""
        index = self.index + steps
        return self.tokens[index].text if index < len(self.tokens) else ""

    def accept(self, *texts: str) -> str:
        """Read the current keyword or sign if it is one of `texts`; return its text, or ""."""
        if self.token.text in texts and self.token.kind in ("word", "sign"):
            return self.take().text
        return ""

    def expect(self, text: str) -> None:
        """Read `text`, or fail with the token found instead."""
        if not self.accept(text):
            self.fail_expected(repr(text))

    def expect_end(self, expected: str = "the end", end: int | None = None) -> None:
        """Fail unless all tokens, or those before the index `end`, have been read."""
        if self.index != (len(self.tokens) - 1 if end is None else end):
            self.fail_expected(expected)

    def fail_expected(self, expected: str, token: Token | None = None) -> NoReturn:
        """Raise `RulesTextError`: `token`, by default the current one, is not the expected one."""
        self.fail(f"expected {expected}, found {(token or self.token).text!r:.60}", token)

    def fail(self, problem: str, token: Token | None = None) -> NoReturn:
        """Raise `RulesTextError` at `token`, by default the current one, with the variables."""
        if self.scope:
            values = [f"{name} = {show_value(value):.40}" for name, value in self.scope.items()]
            problem += f", with {listed(values)}"
        self.source.fail(problem, token or self.token)

    def variable(self, token: Token) -> tuple[bool, Any]:
        """Return whether a word is a variable in scope, and its value."""
        if not self.scope and not self.constants:
            return False, None
        for variables in (self.scope, self.constants):
            if token.kind == "word" and token.text in variables:
                self.lookups += 1
                return True, variables[token.text]
        return False, None

    def word(self, expected: str) -> str:
        """Read a word that is not a keyword, such as the name of a variable."""
        token = self.take()
        if token.kind != "word" or token.text in KEYWORDS:
            self.fail_expected(expected, token)
        return token.text

    def plain_name(self, expected: str) -> str:
        """Read a name without indices: a word, or anything in backquotes.

        A variable whose value is a text is replaced by that text.
        """
        token = self.take()
        known, value = self.variable(token)
        if known and not isinstance(value, str):
            self.fail(f"expected {expected}; {token.text!r} is a variable here, not a name", token)
        if known:
            return str(value)
        if token.kind == "name":
            return token.text[1:-1]
        if token.kind == "word" and token.text not in KEYWORDS:
            return token.text
        self.fail_expected(expected, token)

    def listing(self, closing: str, element: Callable[[], Any]) -> list[Any]:
        """Read a list of elements up to the `closing` sign; a trailing comma is allowed."""
        elements: list[Any] = []
        while not self.accept(closing):
            if elements:
                self.expect(",")
                if self.accept(closing):
                    break
            elements.append(element())
        return elements

    def number(self, token: Token) -> int | float:
        """Decode a number: an int unless it has a point or an exponent."""
        if len(token.text) > MAX_DIGITS:
            self.fail(f"this number has more than {MAX_DIGITS} characters", token)
        number = int(token.text) if token.text.isdecimal() else float(token.text)
        if number == inf:
            self.fail("this number is too large for a float; the largest is about 1.8e308", token)
        return number

    # --- fast paths for the most frequent forms ---

    def literals(self) -> list[Hashable] | None:
        """Read ``{low, 3}`` if it is a set of plain words and numbers, else return None."""
        if self.token.text != "{" or self.token.kind != "sign":
            return None
        has_variables = bool(self.scope or self.constants)  # a word may be one, a hyphen a minus
        index = self.index + 1
        values: list[Hashable] = []
        while self.tokens[index].text != "}":
            token = self.tokens[index]
            is_word = token.kind == "word" and token.text not in KEYWORDS and not has_variables
            if not is_word and token.kind != "number":  # such as the end, after which is nothing
                return None
            after = self.tokens[index + 1].text
            if after not in (",", "}"):
                return None
            values.append(token.text if is_word else self.number(token))
            index += 2 if after == "," else 1
        self.seek(index + 1)
        return values

    def plain_membership(self) -> tuple[str, list[Hashable]] | None:
        """Read ``glucose in {low, 3}`` if it has only literals, else return None."""
        start, (kind, name, _start) = self.index, self.token
        if self.scope or self.constants or kind not in ("word", "name") or name in KEYWORDS:
            return None
        if self.peek() != "in":
            return None
        self.seek(start + 2)
        values = self.literals()
        if values is None:
            self.seek(start)
            return None
        return name[1:-1] if kind == "name" else name, values

    def plain_parameters(self) -> list[tuple[Token, float]] | None:
        """Read ``[s=1, r=0]`` if all parameters are numbers, else return None."""
        pairs: list[tuple[Token, float]] = []
        index = self.index
        while self.tokens[index].text == ("," if pairs else "["):
            if index + 4 >= len(self.tokens):
                return None
            name, equals, number = self.tokens[index + 1 : index + 4]
            if equals.text != "=" or number.kind != "number":
                return None
            pairs.append((name, self.number(number)))
            index += 4
        if not pairs or self.tokens[index].text != "]":
            return None
        self.seek(index + 1)
        return pairs

    # --- values ---

    def string(self, token: Token) -> str:
        """Decode a text in quotes."""
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail("this text has an unknown escape; use those of JSON", token)

    def value(self) -> Any:
        """Read a value: a number, a word, a text in quotes, true, false, none, a tuple, a sum."""
        start, token = self.index, self.token
        if self.is_sign("("):  # a tuple of literals, as in long sets
            self.take()
            parts = []
            while self._is_literal():
                parts.append(self._literal())
                if not self.accept(","):
                    break
            if len(parts) > 1 and self.accept(")") and self.token.text in _AFTER_VALUE:
                return self._check_tuple_size(tuple(parts), token)
            self.seek(start)
        elif self._is_literal():
            return self._literal()
        elif token.kind == "name":
            self.fail_expected("a value")
        return self.evaluate(ExpressionReader(self, None).sum(), token)

    def _is_literal(self) -> bool:
        """Return whether the current token is a number or word, not part of an expression."""
        kind, text, _start = self.token
        if self.peek() not in _AFTER_VALUE:
            return False
        return kind == "number" or (kind == "word" and text not in KEYWORDS and "-" not in text)

    def _literal(self) -> Any:
        """Read a number, a word, or the value of a variable."""
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        known, value = self.variable(token)
        return value if known else token.text

    def evaluate(self, expression: Expression, token: Token) -> Any:
        """Return the value of an expression without names, or fail at `token`."""
        if expression.kind == "constant":
            return expression.content
        try:
            value = evaluator(expression)(())
        except FAILURES as error:
            self.fail(f"this fails: {error}", token)
        return self._check_tuple_size(value, token)

    def _check_tuple_size(self, value: Any, token: Token) -> Any:
        """Return `value`, or fail for a huge tuple, as of a macro that calls itself with (x, x)."""
        level, depth = [value], 0
        while any(isinstance(part, tuple) for part in level):
            parts = [part if isinstance(part, tuple) else (part,) for part in level]
            level, depth = [leaf for part in parts for leaf in part], depth + 1
            if len(level) > MAX_LEAVES:
                self.fail(f"this tuple has more than {MAX_LEAVES:,} values", token)
            if depth > MAX_DEPTH:
                self.fail(f"tuples nest more than {MAX_DEPTH} deep", token)
        return value

    def truth(self, expected: str, end: int) -> bool:
        """Read a condition on variables up to the index `end`; return whether it holds."""
        token = self.token
        answer = self.evaluate(ExpressionReader(self, {}).disjunction(), token)
        if not isinstance(answer, bool):
            self.fail(f"this gives {answer!r:.60}; it must give true or false", token)
        self.expect_end(expected, end)
        return answer

    # --- names with indices ---

    def name(self, expected: str) -> str:
        """Read the name of an attribute: ``digit[i + 1]`` gives ``digit_2`` if `i` is 1."""
        return self.add_indices(self.plain_name(expected))

    def names(self, expected: str) -> list[str]:
        """Read the name of an attribute, or the names of a family such as ``digit[1..4]``."""
        names = [self.plain_name(expected)]
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

    def add_indices(self, name: str) -> str:
        """Read the indices after a name, if any; return the name with its indices."""
        if not self._is_index():
            return name
        self.enter_bracket("indices nest")
        self.take()
        self.lookups += 1
        indices = self.listing("]", lambda: self._index_text(self.value()))
        self.depth -= 1
        if not indices:
            self.fail_expected("an index", self.tokens[self.index - 1])
        indexed = "_".join([name, *indices])
        if len(indexed) > MAX_NAME:
            self.fail(f"this name has more than {MAX_NAME:,} characters")
        self.take_steps(len(indexed) // CHARACTERS)
        return indexed

    def _is_index(self) -> bool:
        """Return whether indices come next, not the parameters of a rule."""
        return self.is_sign("[") and self.peek(2) != "="

    def _index_text(self, value: object) -> str:
        """Return the text of an index in a name; the components of a tuple joined by ``_``."""
        if isinstance(value, tuple) and value:
            return "_".join(self._index_text(part) for part in value)
        if not (is_integer(value) or (isinstance(value, str) and value)):
            self.fail(f"an index is an integer or a word; got {value!r:.60}")
        return str(value)

    # --- sets ---

    def subset(self, loop: bool = False) -> Sequence[Hashable]:
        """Read ``{v, v, 0..9}``, ``{2 * i for i in 0..4}``, ``0..9`` or a variable of type set.

        A range may be empty in a `loop`.
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
                self.fail_expected("'{'", token)
            return values
        loop_at, end = self._loop_of_bracket()
        self.enter_bracket("sets nest")
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
        """Read an element of a set: a value, a range, or a set."""
        token = self.token
        if self.is_sign("{"):  # a set of indices
            return self.subset()
        first = self.value()
        if not self.accept(".."):
            return first if isinstance(first, ValueSet) else [first]
        last = self.value()
        if type(first) is not int or type(last) is not int or not first - loop <= last:
            self.fail("a range goes up between integers, such as 0..9", token)
        if last - first >= MAX_RANGE:
            self.fail(f"this range has more than {MAX_RANGE:,} values", token)
        self.take_steps(LISTED * (last - first + 1))
        return range(first, last + 1)

    # --- loops ---

    def items(self, item: Callable[[], T]) -> list[T]:
        """Read ``(x, y, z)`` or ``(x for i in 1..4)``."""
        loop_at, end = self._loop_of_bracket() if self.is_sign("(") else (0, 0)
        if loop_at:
            return [item() for _ in self._comprehension(loop_at, end)]
        self.expect("(")
        return self.listing(")", item)

    def _loop_of_bracket(self) -> tuple[int, int]:
        """Return the indices of ``for`` in the current bracket, and of its end; 0 if none."""
        source = self.source
        if not source.has_loops:
            return 0, 0
        end = source.closing_bracket(self.index)
        return source.find(self.index + 1, end, "for"), end

    def _comprehension(self, loop_at: int, end: int) -> Iterator[None]:
        """Move to `f` of ``(f for i in ...)`` for each value of `i`, then after the bracket."""
        outer, start = self.scope, self.index + 1
        for _ in self.bindings(loop_at + 1, end):
            self.read_again(loop_at - start)
            self.seek(start)
            yield
            self.expect_end("'for'", loop_at)
        self.scope = outer
        self.lookups += 1
        self.seek(end + 1)

    def bindings(self, start: int, end: int) -> Iterator[Mapping[str, Any]]:
        """Yield the scope for each value of ``i in 1..4, j in {a, b} where i < j``.

        Parameters
        ----------
        start, end : indices of the first token, and after the last
        """
        where = self.source.find(start, end, "where") or end
        stops = [*self.source.commas(start, where), where]
        starts = [start, *(stop + 1 for stop in stops[:-1])]
        binders = []
        for begin, stop in zip(starts, stops, strict=True):
            self.seek(begin)
            name = self.word("the name of a variable")
            self.expect("in")
            binders.append((name, self.index, stop))
        yield from self._nested_bindings(binders, where + 1 if where < end else 0, end, self.scope)

    def _nested_bindings(
        self,
        binders: Sequence[tuple[str, int, int]],
        where: int,
        end: int,
        scope: Mapping[str, Any],
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the scopes of nested loops, given by name and the indices of the range."""
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
            yield from self._nested_bindings(binders[1:], where, end, {**scope, name: value})


class _ReplacedTokens(NamedTuple):
    """The end of replaced tokens, and their texts in standard form and in the pattern."""

    end: int
    text: str
    pattern: str


class ExpressionReader:
    """A recursive descent parser of expressions, with a method for each precedence.

    Parameters
    ----------
    reader : its current token is the first of the expression
    names : the content of each known name, mostly its index; None where unknown words are texts,
        as in sets and indices
    """

    def __init__(self, reader: Reader, names: Mapping[str, Any] | None) -> None:
        self.reader = reader
        self.names = names
        self.depth = 0
        self.operands = 0
        self._start = reader.index
        self._replaced: dict[int, _ReplacedTokens] = {}
        #: Whether there is an and, or, not outside brackets (within a rule, brackets are needed).
        self.loose = False

    def texts(self) -> tuple[str, str]:
        """Return the standard form of the text, and the pattern, which has indices for names."""
        texts, pattern = [], []
        index, tokens = self._start, self.reader.tokens
        while index < self.reader.index:
            kind, text, _start = tokens[index]
            replaced = self._replaced.get(index)
            index += 1
            if replaced is None:
                pattern.append(text)
            else:
                index, text, in_pattern = replaced
                pattern.append(in_pattern)
            texts.append((text, kind == "sign"))
        return join_tokens(texts), " ".join(pattern)

    def _replace(self, start: int, text: str, pattern: str | None = None) -> None:
        """Replace the tokens from `start` to the current one in `texts`."""
        self._replaced[start] = _ReplacedTokens(self.reader.index, text, pattern or text)

    def disjunction(self) -> Expression:
        """Read ``x or y or ...``."""
        return self._logical("or", self.conjunction)

    def conjunction(self) -> Expression:
        """Read ``x and y and ...``."""
        return self._logical("and", self.negation)

    def _logical(self, operator: str, part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self.reader.accept(operator):
            self.loose |= self.depth == 0
            parts.append(part())
        return parts[0] if len(parts) == 1 else Expression(operator, tuple(parts))

    def negation(self) -> Expression:
        """Read ``not x`` or a comparison."""
        if self.reader.accept("not"):
            self.loose |= self.depth == 0
            return Expression("not", (self._read_nested(self.negation),))
        return self.comparison()

    def comparison(self) -> Expression:
        """Read ``x``, ``x < y <= z`` or ``x in {...}``."""
        terms, tests = [self.sum()], list[str | Membership]()
        reader = self.reader
        while True:
            if reader.token.text in COMPARISONS and reader.token.kind == "sign":
                tests.append(reader.take().text)
                terms.append(self.sum())
            elif reader.token.text in ("in", "not") and reader.token.kind == "word":
                negated = bool(reader.accept("not"))
                reader.expect("in")
                tests.append(Membership(frozenset(self._read_members()), negated))
                terms.append(Expression("constant"))
            else:
                break
        return Expression("compare", tuple(terms), tuple(tests)) if tests else terms[0]

    def _read_members(self) -> Sequence[Hashable]:
        start, lookups = self.reader.index, self.reader.lookups
        values = self.reader.subset()
        if self.reader.lookups > lookups:
            self._replace(start, standard_text(format_subset(values)))
        return values

    def sum(self) -> Expression:
        """Read ``x + y - z``."""
        return self._arithmetic(("+", "-"), self.product)

    def product(self) -> Expression:
        """Read ``x * y // z % w``."""
        return self._arithmetic(("*", "//", "%"), self.operand)

    def _arithmetic(self, signs: tuple[str, ...], part: Callable[[], Expression]) -> Expression:
        result = part()
        while self.reader.token.text in signs and self.reader.token.kind == "sign":
            result = Expression(self.reader.take().text, (result, part()))
        return result

    def operand(self) -> Expression:
        """Read a number, a text, a name, ``-x``, ``(x)`` or a tuple ``(x, y)``."""
        token = self.reader.take()
        self.reader.take_steps(OPERAND)
        self.operands += 1
        if self.operands > MAX_OPERANDS:
            self.reader.fail(f"this condition has more than {MAX_OPERANDS} operands", token)
        if token.text == "-" and token.kind == "sign":
            return Expression("negative", (self._read_nested(self.operand),))
        if token.text == "(" and token.kind == "sign":
            return self._brackets()
        if token.kind == "number":
            return _constant(self.reader.number(token))
        if token.kind == "string":
            return _constant(self.reader.string(token))
        if token.kind == "word" and token.text in CONSTANTS:
            return _constant(CONSTANTS[token.text])
        if token.kind not in ("word", "name") or (self.names is None and token.text in KEYWORDS):
            expected = "a number, a name or '('" if self.names is not None else "a value"
            self.reader.fail_expected(expected, token)
        return self._name(token)

    def _name(self, token: Token) -> Expression:
        """Return the expression of a word: a name, the value of a variable, or a text."""
        start = self.reader.index - 1
        known, value = self.reader.variable(token)
        name = token.text.strip("`") if not known else value
        if isinstance(name, str):
            name = self.reader.add_indices(name)
        indexed = self.reader.index > start + 1
        if self.names is not None and isinstance(name, str) and name in self.names:
            content = self.names[name]
            written = format_name(name) if known or indexed else token.text
            # Functions give attributes in place of indices, and use no patterns.
            self._replace(start, written, f"${content}" if is_integer(content) else written)
            return Expression("name", content=content)
        if known and not indexed:
            self._replace(start, _literal_text(value))
            return _constant(value)
        if self.names is None:
            first = token.text.split("-")[0]
            if first != token.text and self.reader.variable(token._replace(text=first))[0]:
                self.reader.fail(
                    f"{token.text!r} is one word: a minus takes spaces around it", token
                )
            return _constant(name)
        self._fail_unknown_name(token, name)

    def _fail_unknown_name(self, token: Token, name: str) -> NoReturn:
        if self.reader.token.text == "(":
            self.reader.fail(
                f"{name!r}: functions are not known here; give a function of your own instead "
                "of a text, such as lambda a, b: abs(a - b) <= 1",
                token,
            )
        variables = [*self.reader.scope, *self.reader.constants]
        hint = suggestion(name, [*(self.names or ()), *variables])
        spaces = " (a minus takes spaces around it)" if "-" in name else ""
        quotes = f'; a text value takes quotes: "{name}"' if name == token.text else ""
        self.reader.fail(f"unknown name {name!r}{hint}{spaces}{quotes}", token)

    def _brackets(self) -> Expression:
        part = self.sum if self.names is None else self.disjunction
        parts: list[Expression] = []
        comma = False
        while self.reader.token.text != ")":
            parts.append(self._read_nested(part))
            if not self.reader.accept(","):
                break
            comma = True
        self.reader.expect(")")
        return Expression("tuple", tuple(parts)) if comma or not parts else parts[0]

    def _read_nested(self, part: Callable[[], Expression]) -> Expression:
        self.depth += 1
        self.reader.enter_bracket(
            "this condition nests" if self.names is not None else "tuples nest"
        )
        result = part()
        self.reader.depth -= 1
        self.depth -= 1
        return result


def _constant(value: Any) -> Expression:
    return Expression("constant", content=value)


def _literal_text(value: Hashable) -> str:
    """Return the text of a value in a condition: strings in quotes."""
    if isinstance(value, str):
        return json.dumps(value)
    if is_integer(value) and value >= 0:
        return str(value)
    if isinstance(value, tuple):
        inside = ", ".join(map(_literal_text, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return standard_text(show_value(value))
