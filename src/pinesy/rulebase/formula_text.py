"""Reads the premises of a ``.rules`` text: formulas of propositions."""

from collections.abc import Callable, Mapping

from pinesy.rulebase.proposition_text import PropositionReader
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import (
    Proposition,
    Statement,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
)
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import MAX_DEPTH
from pinesy.rules.syntax.value_sets import bindings, read_items, read_value

_COUNTS: dict[str, Callable[..., Statement]] = {
    "at least": at_least,
    "at most": at_most,
    "exactly": exactly,
}
#: What follows the name of an attribute.
_AFTER_NAME = frozenset(["in", "not", "where", "[", *COMPARISONS])
#: What follows an operand of a formula, outside brackets.
_AFTER_OPERAND = frozenset(["and", "or", "then", "for", ",", ")"])


class FormulaReader(PropositionReader):
    """Recursive descent: `formula` (or), `_conjunction` (and), `_operand` (not, brackets, ...)."""

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        super().__init__(text, attributes)
        self._depth = 0
        #: What empty loops say.
        self._empty: dict[bool, Proposition] = {}

    def formula(self) -> Statement:
        """Read ``f or f or ...``."""
        parts = [self._conjunction()]
        while self.reader.accept("or"):
            parts.append(self._conjunction())
        return self._joined(parts, any_of, neutral=False)

    def _conjunction(self) -> Statement:
        parts = [self._operand()]
        while self.reader.accept("and"):
            parts.append(self._operand())
        return self._joined(parts, all_of, neutral=True)

    def _joined(
        self, parts: list[Statement], join: Callable[..., Statement], neutral: bool
    ) -> Statement:
        """Join parts, less those of empty loops that change nothing."""
        several = [part for part in parts if part is not self._empty.get(neutral)] or parts[:1]
        return join(*several) if len(several) > 1 else several[0]

    def _operand(self) -> Statement:
        """Read a proposition, ``not f``, ``(f)``, ``exists i in ...: f``, ``exactly 2 of ...``."""
        reader = self.reader
        self._depth += 1
        if self._depth > MAX_DEPTH:
            reader.fail(f"this formula nests more than {MAX_DEPTH} deep")
        word, after = reader.token.text, reader.ahead()
        if reader.accept("not"):
            result: Statement = ~self._operand()
        elif reader.accept("("):
            result = self.formula()
            reader.expect(")")
        elif word in ("exists", "forall") and reader.ahead(2) == "in":
            result = self._quantified()
        elif word == "exactly" and after not in _AFTER_NAME:
            result = self._counted(reader.take().text)
        elif word == "at" and after in ("least", "most"):
            result = self._counted(f"{reader.take().text} {reader.take().text}")
        else:
            result = self.proposition()
        self._depth -= 1
        return result

    def _counted(self, words: str) -> Statement:
        """Read ``2 of (f, f, f)`` or ``2 of (f for i in 1..4)``."""
        reader = self.reader
        token = reader.token
        number = read_value(reader)
        reader.expect("of")
        parts = read_items(reader, self.formula)
        return self.at(token, lambda: _COUNTS[words](number, *parts))

    def _quantified(self) -> Statement:
        """Read ``exists i in 1..4: f``: one of the cases holds; ``forall``: all of them do."""
        reader, source = self.reader, self.reader.source
        outer = reader.scope
        is_all = reader.take().text == "forall"
        start = reader.position
        colon = source.find_sign(start, ":")
        if not colon:
            reader.fail("expected ':' and a formula after this")
        parts: list[Statement] = []
        end = 0
        for _ in bindings(reader, start, colon):
            reader.seek(colon + 1)
            parts.append(self._operand())
            end = reader.position
        reader.scope = outer
        reader.seek(end or self._operand_end(colon + 1))
        if not parts:
            return self._truth(is_all)
        return self._joined(parts, all_of if is_all else any_of, neutral=is_all)

    def _operand_end(self, start: int) -> int:
        """Return where the operand of a formula ends, without reading it."""
        source = self.reader.source
        for position in source.outside(start, len(source.tokens) - 1):
            kind, text, _start = source.tokens[position]
            if text in _AFTER_OPERAND and kind in ("word", "sign") and position > start:
                return position
        return len(source.tokens) - 1

    def _truth(self, value: bool) -> Statement:
        """Return what an empty loop says: a proposition, on any attribute, that is always so."""
        attribute = next(iter(self.attributes.values()))
        return self._empty.setdefault(value, Proposition(attribute, attribute.full * value))
