"""Templates: ``let``, ``for``, ``when``, ``define``, macros and ``include`` in ``.rules`` text.

A template is its tokens, read again with other values of its variables; what is read that way are
the statements of a grammar that knows nothing of templates. The passes that are under way stand on
a list of frames, not on Python's stack.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from pinesy._common.budgets import HELD, allow_tokens
from pinesy._common.files import read_text
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, DomainError
from pinesy.rules.syntax.expression_grammar import ExpressionGrammar
from pinesy.rules.syntax.lexer import KEYWORDS, Token, TokenizedText
from pinesy.rules.syntax.value_reader import ValueReader, ValueSet

#: The words that statements start with.
STATEMENTS = frozenset(
    ["attribute", "define", "for", "function", "if", "iff", "include", "joint", "let"]
    + ["number", "product", "version", "when"]
)
#: Words that are no macros, though a bracket may follow.
_NO_MACROS = KEYWORDS | STATEMENTS | {"of"}
#: What stands between the header of a loop, a condition or a macro and its body.
_AFTER_HEADER = (":", "{")
#: Macros that may be under way at a time, and files.
MAX_CALLS, MAX_FILES = 200, 50


@dataclass(frozen=True, slots=True)
class _Body:
    """The tokens of a template, from `start` to `end`."""

    source: TokenizedText
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """Passes through a body: the scopes still to come, and where reading goes on afterwards."""

    body: _Body
    scopes: Iterator[Mapping[str, Any]]
    back: tuple[TokenizedText, int]
    outer: Mapping[str, Any]
    is_macro: bool
    file: Path | None


class TemplateReader(ValueReader, ABC):
    """Reads a text statement by statement, templates written out."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        #: The parameters and the body of each macro.
        self.macros: dict[str, tuple[list[str], _Body]] = {}
        self._frames: list[_Frame] = []
        self._included: set[Path] = set()

    @abstractmethod
    def statements(self, several: bool) -> None:
        """Read a statement that is no template, or `several` of them up to a template."""

    def read(self, directory: Path | None, file: Path | None, older_head: str) -> None:
        """Read to the end.

        Parameters
        ----------
        directory : the one that included files must be in
        file : that of the text, which the files that it includes are beside; None if it has none
        older_head : what files of an older version begin with, which are not included; if any
        """
        self._directory, self._file, self._older_head = directory, file, older_head
        templates = {
            "define": self._define,
            "for": self._for,
            "include": self._include,
            "let": self._let,
            "when": self._when,
        }
        try:
            while self._frames or self.token.kind != "end":
                if self._frames and self.position >= self._frames[-1].body.end:
                    self._pass()
                    continue
                kind, word, _start = self.token
                if kind == "word" and word in templates:
                    self.take()
                    templates[word]()
                elif kind == "word" and word not in _NO_MACROS and self.ahead() == "(":
                    self._call()
                else:
                    self.statements(not self._frames)
        except DomainError as error:  # such as of the budget
            self.fail(str(error))

    def _pass(self) -> None:
        """Begin the next pass of the innermost template, or go on after it."""
        frame = self._frames[-1]
        scope = next(frame.scopes, None)
        if scope is None:
            self._frames.pop()
            self.scope = frame.outer
            self.enter(*frame.back)
        else:
            self.scope = scope
            self.enter(frame.body.source, frame.body.start)
            if frame.file is None:  # which is read once
                self.read_again(frame.body.end - frame.body.start)

    def _push(
        self,
        body: _Body,
        scopes: Iterator[Mapping[str, Any]],
        is_macro: bool = False,
        file: Path | None = None,
    ) -> None:
        """Begin the passes through a body, after which reading goes on here."""
        back = (self.source, self.position)
        self._frames.append(_Frame(body, scopes, back, self.scope, is_macro, file))
        self._pass()

    # --- variables, loops, choices ---

    def _let(self) -> None:
        """Read ``let k = 4``: for the whole text, or for the body of the template it stands in."""
        token = self.token
        name = self.word("the name of a variable")
        local = any(frame.file is None for frame in self._frames)
        if name in (self.scope if local else self.constants):
            self.fail(f"the variable {name!r} has a value already", token)
        self.expect("=")
        value = self._assigned()
        if local:
            self.take_steps(len(self.scope))
            self.scope = {**self.scope, name: value}
        else:
            self.constants[name] = value

    def _assigned(self) -> Any:
        start, token = self.position, self.token
        if not self.is_sign("{"):
            value = self.evaluated(ExpressionGrammar(self, None).either(), token)
            if self.token.text != "..":
                return value
            self.seek(start)
        values = self.subset()
        self.take_steps(HELD * len(values))
        return ValueSet(values)

    def _for(self) -> None:
        """Read ``for i in 1..4, j in 1..4 where i < j:`` and a statement or a block."""
        start = self.position
        head, body, after = self._body()
        self.seek(after)
        self._push(body, self.bindings(start, head))

    def _when(self) -> None:
        """Read ``when i < k:`` and a statement or a block."""
        head, body, after = self._body()
        holds = self.truth("':' or '{'", head)
        self.seek(after)
        self._push(body, iter([self.scope] if holds else []))

    def _body(self) -> tuple[int, _Body, int]:
        """Return where the header that starts here ends, the body after it, and its end."""
        source, start = self.source, self.position
        head = source.find_sign(start, *_AFTER_HEADER)
        if not head:
            self.fail("expected ':' and a statement, or statements in {...}, after this")
        if source.is_sign(head, "{"):
            end = source.closing(head)
            self.take_steps(head - start)
            return head, _Body(source, head + 1, end), end + 1
        end = _statement_end(source, head + 1)
        self.take_steps(end - start)
        return head, _Body(source, head + 1, end), end

    # --- macros ---

    def _define(self) -> None:
        """Read ``define same(x, y) { ... }``."""
        token = self.token
        name = self.word("the name of a macro")
        if name in self.macros or name in _NO_MACROS:
            why = "is defined twice" if name in self.macros else "is a word of the language"
            self.fail(f"the macro {name!r} {why}", token)
        self.expect("(")
        parameters = self.listing(")", lambda: self.word("the name of a parameter"))
        if len(set(parameters)) < len(parameters):
            self.fail(f"two parameters of {name!r} have one name", token)
        start = self.position
        self.expect("{")
        end = self.source.closing(start)
        self.macros[name] = parameters, _Body(self.source, start + 1, end)
        self.seek(end + 1)

    def _call(self) -> None:
        """Read ``same(a[1], a[2])`` and go into the macro."""
        token = self.take()
        if token.text not in self.macros:
            hint = suggestion(token.text, self.macros)
            self.fail(f"no macro {token.text!r:.60} is defined before this{hint}", token)
        parameters, body = self.macros[token.text]
        self.expect("(")
        arguments = self.listing(")", self._argument)
        if len(arguments) != len(parameters):
            wanted, given = ", ".join(parameters), f"{len(arguments)} arguments"
            self.fail(f"{token.text!r} takes ({wanted}); got {given}", token)
        if sum(frame.is_macro for frame in self._frames) >= MAX_CALLS:
            self.fail(
                f"macros call each other more than {MAX_CALLS} deep; a recursion ends by a "
                "condition: when n > 0: ...",
                token,
            )
        self.take_steps(len(self._frames))
        scope = dict(zip(parameters, arguments, strict=True))
        self._push(body, iter([scope]), is_macro=True)

    def _argument(self) -> Any:
        """Read an argument of a macro: a value, or the name of an attribute."""
        is_name = self.token.kind == "name"
        return self.name("a name") if is_name else self.value()

    # --- files ---

    def _include(self) -> None:
        """Read ``include "other.rules"`` and go into that file, the first time it is named."""
        token = self.take()
        if token.kind != "string":
            self.missing("a file's name in quotes", token)
        if any(frame.file is None for frame in self._frames):
            self.fail("include stands outside loops, conditions and macros", token)
        name = self.string(token)
        path = self._located(name, token)
        files = [file for file in (self._file, *(f.file for f in self._frames)) if file is not None]
        if path in files:
            chain = " -> ".join(f.name for f in [*files[files.index(path) :], path])
            self.fail(f"files include each other in a circle: {chain}", token)
        if len(files) > MAX_FILES:
            self.fail(f"files include each other more than {MAX_FILES} deep", token)
        if path in self._included:
            return
        self._included.add(path)
        try:
            text = read_text(path)
        except DataError as error:
            self.fail(f"the file {name!r} cannot be included: {error}", token)
        if self._older_head and text.startswith(self._older_head):
            self.fail(f"the file {name!r} is of an older version; load and save it", token)
        source = TokenizedText(text, name)
        if self.is_first_reading:
            allow_tokens(len(source.tokens))
        body = _Body(source, 0, len(source.tokens) - 1)
        self._push(body, iter([self.scope]), file=path)

    def _located(self, name: str, token: Token) -> Path:
        """Return the path of an included file, which is inside the directory of the first one."""
        if self._directory is None:
            self.fail(
                "a text that is not read from a file includes none; give parse(text, "
                "directory=...), or load the file",
                token,
            )
        beside = next((f.file for f in reversed(self._frames) if f.file), self._file)
        root = self._directory.resolve()
        parent = beside.parent if beside is not None else root
        kinds = (PurePosixPath(name), PureWindowsPath(name))
        is_inside = not any(kind.anchor or ".." in kind.parts or "\0" in name for kind in kinds)
        try:
            path = (parent / name).resolve() if is_inside else root.parent
            is_file = path.is_file()
        except OSError as error:
            self.fail(f"the file {name!r:.60} cannot be included: {error.strerror}", token)
        if not path.is_relative_to(root):
            self.fail(
                f"{name!r:.60} may lead out of the directory of the rules; name a file inside it, "
                "without .. and not by an absolute path",
                token,
            )
        if not is_file:
            self.fail(f"there is no file {name!r:.60} here", token)
        return path


def _statement_end(source: TokenizedText, start: int) -> int:
    """Return where the statement that starts at a place ends, without reading it."""
    last = len(source.tokens) - 1
    position = start
    while source.tokens[position].text in ("for", "when", "define"):
        position = source.find_sign(position + 1, *_AFTER_HEADER)
        if not position or source.is_sign(position, "{"):
            return source.closing(position) + 1 if position else last
        position += 1
    for place in source.outside(position, last):
        if source.is_sign(place, "}") or (place > position and _starts_statement(source, place)):
            return place
    return last


def _starts_statement(source: TokenizedText, position: int) -> bool:
    """Tell whether a statement starts at a word: after an operand, where no other word can be."""
    kind, word, _start = source.tokens[position]
    if kind != "word" or not source.ends_operand(position - 1):
        return False
    is_call = source.is_sign(position + 1, "(") and word not in _NO_MACROS
    return word in STATEMENTS or is_call
