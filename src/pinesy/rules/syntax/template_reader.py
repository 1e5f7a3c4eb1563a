"""Templates: ``let``, ``for``, ``when``, ``define``, macros and ``include`` in ``.rules`` text.

The tokens of a template are read once for each value of its variables, by a function that does not
know templates. A list of frames replaces recursion.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from pinesy._common.budgets import HELD, allow_tokens
from pinesy._common.files import read_text
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, DomainError
from pinesy.rules.syntax.lexer import KEYWORDS, Token, TokenizedText
from pinesy.rules.syntax.reader import ExpressionReader, Reader, ValueSet

#: The words that statements start with.
STATEMENTS = frozenset(
    ["attribute", "closed", "define", "for", "function", "if", "iff", "include", "joint", "let"]
    + ["number", "product", "relation", "version", "when"]
)
#: Words before a bracket that are not macros.
_NO_MACROS = KEYWORDS | STATEMENTS | {"of"}
#: The sign between the header of a loop, a condition or a macro and its body.
_AFTER_HEADER = (":", "{")
#: Nested calls of macros, and nested included files, at most.
MAX_CALLS, MAX_FILES = 200, 50


@dataclass(frozen=True, slots=True)
class _Body:
    """The tokens of a template, from `start` to `end`."""

    source: TokenizedText
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """A template that is being read: its remaining scopes, and where to continue afterwards."""

    body: _Body
    scopes: Iterator[Mapping[str, Any]]
    back: tuple[TokenizedText, int]
    outer: Mapping[str, Any]
    is_macro: bool
    file: Path | None


class TemplateReader:
    """Reads all statements of a text, and expands templates.

    Parameters
    ----------
    reader : a reader of the text
    read_statements : reads one statement that is not a template; called with True, all statements
        up to the next template
    directory : the directory of included files; None if none may be included
    file : the file of the text, if any; names of included files are relative to it
    """

    def __init__(
        self,
        reader: Reader,
        read_statements: Callable[[bool], None],
        directory: Path | None,
        file: Path | None,
    ) -> None:
        self.reader = reader
        self._read_statements = read_statements
        self._directory, self._file = directory, file
        #: The parameters and the body of each macro.
        self._macros: dict[str, tuple[list[str], _Body]] = {}
        self._frames: list[_Frame] = []
        self._included: set[Path] = set()

    def read(self) -> None:
        """Read the whole text."""
        reader = self.reader
        templates = {
            "define": self._define,
            "for": self._for,
            "include": self._include,
            "let": self._let,
            "when": self._when,
        }
        try:
            while self._frames or reader.token.kind != "end":
                if self._frames and reader.index >= self._frames[-1].body.end:
                    self._start_next_pass()
                    continue
                kind, text, _start = reader.token
                if kind == "word" and text in templates:
                    reader.take()
                    templates[text]()
                elif kind == "word" and text not in _NO_MACROS and reader.peek() == "(":
                    self._expand_macro()
                else:
                    self._read_statements(not self._frames)
        except DomainError as error:  # such as of the budget
            reader.fail(str(error))

    def _start_next_pass(self) -> None:
        """Read the innermost template with its next scope, or continue after it."""
        reader = self.reader
        frame = self._frames[-1]
        scope = next(frame.scopes, None)
        if scope is None:
            self._frames.pop()
            reader.scope = frame.outer
            reader.enter(*frame.back)
        else:
            reader.scope = scope
            reader.enter(frame.body.source, frame.body.start)
            if frame.file is None:  # which is read once
                reader.read_again(frame.body.end - frame.body.start)

    def _push(
        self,
        body: _Body,
        scopes: Iterator[Mapping[str, Any]],
        is_macro: bool = False,
        file: Path | None = None,
    ) -> None:
        """Read a body once for each scope, and continue here afterwards."""
        reader = self.reader
        back = (reader.source, reader.index)
        self._frames.append(_Frame(body, scopes, back, reader.scope, is_macro, file))
        self._start_next_pass()

    # --- variables, loops, choices ---

    def _let(self) -> None:
        """Read ``let k = 4``: a global variable, or a local one inside a template."""
        reader = self.reader
        token = reader.token
        name = reader.word("the name of a variable")
        local = any(frame.file is None for frame in self._frames)
        if name in (reader.scope if local else reader.constants):
            reader.fail(f"the variable {name!r} has a value already", token)
        reader.expect("=")
        value = self._read_assigned_value()
        if local:
            reader.take_steps(len(reader.scope))
            reader.scope = {**reader.scope, name: value}
        else:
            reader.constants[name] = value

    def _read_assigned_value(self) -> Any:
        """Read the value or the set that a variable is set to."""
        reader = self.reader
        start, token = reader.index, reader.token
        if not reader.is_sign("{"):
            value = reader.evaluate(ExpressionReader(reader, None).disjunction(), token)
            if reader.token.text != "..":
                return value
            reader.seek(start)
        values = reader.subset()
        reader.take_steps(HELD * len(values))
        return ValueSet(values)

    def _for(self) -> None:
        """Read ``for i in 1..4, j in 1..4 where i < j:`` and a statement or a block."""
        reader = self.reader
        start = reader.index
        head, body, after = self._body()
        reader.seek(after)
        self._push(body, reader.bindings(start, head))

    def _when(self) -> None:
        """Read ``when i < k:`` and a statement or a block."""
        reader = self.reader
        head, body, after = self._body()
        holds = reader.truth("':' or '{'", head)
        reader.seek(after)
        self._push(body, iter([reader.scope] if holds else []))

    def _body(self) -> tuple[int, _Body, int]:
        """Return the index after the header, the body, and the index after the body."""
        reader = self.reader
        source, start = reader.source, reader.index
        head = source.find_sign(start, *_AFTER_HEADER)
        if not head:
            reader.fail("expected ':' and a statement, or statements in {...}, after this")
        if source.is_sign(head, "{"):
            end = source.closing_bracket(head)
            reader.take_steps(head - start)
            return head, _Body(source, head + 1, end), end + 1
        end = _find_statement_end(source, head + 1)
        reader.take_steps(end - start)
        return head, _Body(source, head + 1, end), end

    # --- macros ---

    def _define(self) -> None:
        """Read ``define same(x, y) { ... }``."""
        reader = self.reader
        token = reader.token
        name = reader.word("the name of a macro")
        if name in self._macros or name in _NO_MACROS:
            problem = "is defined twice" if name in self._macros else "is a word of the language"
            reader.fail(f"the macro {name!r} {problem}", token)
        reader.expect("(")
        parameters = reader.listing(")", lambda: reader.word("the name of a parameter"))
        if len(set(parameters)) < len(parameters):
            reader.fail(f"two parameters of {name!r} have one name", token)
        start = reader.index
        reader.expect("{")
        end = reader.source.closing_bracket(start)
        self._macros[name] = parameters, _Body(reader.source, start + 1, end)
        reader.seek(end + 1)

    def _expand_macro(self) -> None:
        """Read ``same(a[1], a[2])``, and then the body of the macro."""
        reader = self.reader
        token = reader.take()
        if token.text not in self._macros:
            hint = suggestion(token.text, self._macros)
            reader.fail(f"no macro {token.text!r:.60} is defined before this{hint}", token)
        parameters, body = self._macros[token.text]
        reader.expect("(")
        # An argument is a value, or the name of an attribute in backquotes.
        arguments = reader.listing(
            ")", lambda: reader.name("a name") if reader.token.kind == "name" else reader.value()
        )
        if len(arguments) != len(parameters):
            signature = f"{token.text!r} takes ({', '.join(parameters)})"
            reader.fail(f"{signature}; got {len(arguments)} arguments", token)
        if sum(frame.is_macro for frame in self._frames) >= MAX_CALLS:
            reader.fail(
                f"macros call each other more than {MAX_CALLS} deep; a recursion ends by a "
                "condition: when n > 0: ...",
                token,
            )
        reader.take_steps(len(self._frames))
        scope = dict(zip(parameters, arguments, strict=True))
        self._push(body, iter([scope]), is_macro=True)

    # --- files ---

    def _include(self) -> None:
        """Read ``include "other.rules"``, and then the file, if it was not included before."""
        reader = self.reader
        token = reader.take()
        if token.kind != "string":
            reader.fail_expected("a file's name in quotes", token)
        if any(frame.file is None for frame in self._frames):
            reader.fail("include is allowed only outside loops, conditions and macros", token)
        name = reader.string(token)
        path = self._included_path(name, token)
        files = [file for file in (self._file, *(f.file for f in self._frames)) if file is not None]
        if path in files:
            chain = " -> ".join(f.name for f in [*files[files.index(path) :], path])
            reader.fail(f"files include each other in a circle: {chain}", token)
        if len(files) > MAX_FILES:
            reader.fail(f"files include each other more than {MAX_FILES} deep", token)
        if path in self._included:
            return
        self._included.add(path)
        try:
            text = read_text(path)
        except DataError as error:
            reader.fail(f"the file {name!r} cannot be included: {error}", token)
        source = TokenizedText(text, name)
        if reader.is_first_reading:
            allow_tokens(len(source.tokens))
        body = _Body(source, 0, len(source.tokens) - 1)
        self._push(body, iter([reader.scope]), file=path)

    def _included_path(self, name: str, token: Token) -> Path:
        """Return the path of an included file, which must be inside the directory."""
        reader = self.reader
        if self._directory is None:
            reader.fail(
                "a text that is not read from a file includes none; give parse(text, "
                "directory=...), or load the file",
                token,
            )
        current = next((f.file for f in reversed(self._frames) if f.file), self._file)
        root = self._directory.resolve()
        parent = current.parent if current is not None else root
        kinds = (PurePosixPath(name), PureWindowsPath(name))
        is_inside = not any(kind.anchor or ".." in kind.parts or "\0" in name for kind in kinds)
        try:
            path = (parent / name).resolve() if is_inside else root.parent
            is_file = path.is_file()
        except OSError as error:
            reader.fail(f"the file {name!r:.60} cannot be included: {error.strerror}", token)
        if not path.is_relative_to(root):
            reader.fail(
                f"{name!r:.60} may lead out of the directory of the rules; name a file inside it, "
                "without .. and not by an absolute path",
                token,
            )
        if not is_file:
            reader.fail(f"there is no file {name!r:.60} here", token)
        return path


def _find_statement_end(source: TokenizedText, start: int) -> int:
    """Return the index after the statement that starts at `start`, without parsing it."""
    last = len(source.tokens) - 1
    while source.tokens[start].text in ("for", "when", "define"):
        head = source.find_sign(start + 1, *_AFTER_HEADER)
        if not head or source.is_sign(head, "{"):
            return source.closing_bracket(head) + 1 if head else last
        start = head + 1
    for index in source.outside_brackets(start, last):
        if source.is_sign(index, "}"):
            return index
        # A word after an operand, where no other word can be, starts the next statement.
        kind, text, _start = source.tokens[index]
        if index > start and kind == "word" and source.ends_operand(index - 1):
            is_call = source.is_sign(index + 1, "(") and text not in _NO_MACROS
            if text in STATEMENTS or is_call:
                return index
    return last
