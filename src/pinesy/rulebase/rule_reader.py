"""Reads rules of a ``.rules`` text: propositions, formulas of them, and rules."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from pinesy._common.validation import check_degree, suggestion
from pinesy.exceptions import DegreeError, PinesyError, RulesTextError
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.numbers import cuts_of, is_number
from pinesy.rules.propositions import (
    Proposition,
    Statement,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
)
from pinesy.rules.rule import Rule, from_certainty
from pinesy.rules.syntax.conditions import read_condition
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import MAX_DEPTH, Token
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.value_sets import bindings, read_items, read_name, read_subset, read_value

T = TypeVar("T")

#: That of the language; files of older ones are read as they were meant.
VERSION = 2
#: What a comparison is when its sides change places.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Signs that compute with attributes, which propositions do not.
ARITHMETIC = frozenset(["+", "-", "*", "//", "%"])
ONE_ATTRIBUTE = "a proposition is on one attribute: name what is of several, as in function new"
#: Words that may not follow a rule, and what to write.
_NO_CONCLUSION = {
    "and": "a rule has one conclusion; write a rule for each",
    "or": "a rule has one conclusion, on one attribute; write 'in' and the values that are left",
    "else": "a rule has no 'else'; write 'iff', or another rule with 'not (...)'",
}
_COUNTS: dict[str, Callable[..., Statement]] = {
    "at least": at_least,
    "at most": at_most,
    "exactly": exactly,
}
#: What follows the name of an attribute.
_AFTER_NAME = frozenset(["in", "not", "where", "[", *COMPARISONS])
#: What follows an operand of a formula, outside brackets.
_AFTER_OPERAND = frozenset(["and", "or", "then", "for", ",", ")"])


def is_truth(attribute: Attribute) -> bool:
    """Tell whether the values of an attribute are false and true."""
    return len(attribute.domain) == 2 and all(type(value) is bool for value in attribute.domain)


class RuleReader:
    """Reads what is said of the attributes that are declared.

    Recursive descent: `rule`, `formula` (or), `_conjunction` (and), `_operand` (not, brackets,
    ...), `proposition`.
    """

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        self.reader = Reader(text)
        self.attributes = dict(attributes or {})
        #: Products that a ``joint`` statement has paired, by the names of their factors.
        self.joints: dict[frozenset[str], Attribute] = {}
        #: Cuts that comparisons need, of numeric attributes whose intervals have no names.
        self.compared_cuts: dict[str, set[float]] = {}
        #: Whether some were missing, so that the text must be read again, with them.
        self.lacks_cuts = False
        self.version = VERSION
        self._depth = 0
        #: What empty loops say.
        self._empty: dict[bool, Proposition] = {}

    def rule(self, word: str) -> Rule:
        """Read a rule after its ``if`` or ``iff``."""
        start = self.reader.tokens[self.reader.position - 1]
        if word == "iff" and self.version == 1:
            self.reader.fail("'iff' came with version 2; in version 1 'if' means that", start)
        premise = self.formula()
        self.reader.expect("then")
        conclusion = self.proposition()
        s, r = self._parameters(word)
        if self.reader.token.text in _NO_CONCLUSION and self.reader.token.kind == "word":
            self.reader.fail(_NO_CONCLUSION[self.reader.token.text])
        if self.lacks_cuts:  # it is read again; the parts may not fit together now
            premise = conclusion
        return self.at(start, lambda: Rule(premise_of(premise), conclusion, s, r))

    def _parameters(self, word: str) -> tuple[float, float]:
        """Read ``[s=0.1, r=0]`` or ``[certainty=0.9]`` if it is there.

        What is not given makes an implication after ``if``, an equivalence after ``iff``.
        """
        reader = self.reader
        pairs = reader.plain_parameters()
        if pairs is None:
            pairs = reader.listing("]", self._parameter) if reader.accept("[") else []
        given: dict[str, float] = {}
        for token, value in pairs:
            self._check_parameter(token, given)
            try:
                given[token.text] = check_degree(value, token.text)
            except DegreeError as error:
                reader.fail(str(error), token)
            if "certainty" in given and "r" in given:
                reader.fail("a certainty c is r = 1 - c: give one of them", token)
        if "certainty" in given:
            given["r"] = from_certainty(given["certainty"])
        # Version 1 knew equivalences: what is not given is 0.
        s = 1.0 if word == "if" and self.version > 1 else 0.0
        return given.get("s", s), given.get("r", 0.0)

    def _parameter(self) -> tuple[Token, Any]:
        token = self.reader.take()
        self._check_parameter(token, {})
        self.reader.expect("=")
        return token, read_value(self.reader)

    def _check_parameter(self, token: Token, given: Mapping[str, float]) -> None:
        if token.text not in ("s", "r", "certainty") or token.text in given:
            expected = "s=, r= or certainty="
            self.reader.fail(f"expected {expected}, once each, found {token.text!r:.60}", token)

    # --- formulas ---

    def formula(self) -> Statement:
        """Read ``f or f or ...``."""
        parts = [self._conjunction()]
        while self.reader.token.text == "or":
            self.reader.take()
            parts.append(self._conjunction())
        return self._joined(parts, any_of, neutral=False)

    def _conjunction(self) -> Statement:
        parts = [self._operand()]
        while self.reader.token.text == "and":
            self.reader.take()
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
        word = reader.token.text
        if word == "not":
            reader.take()
            result: Statement = ~self._operand()
        elif word == "(":
            reader.take()
            result = self.formula()
            reader.expect(")")
        elif word in ("exists", "forall") and reader.ahead(2) == "in":
            result = self._quantified()
        elif word == "exactly" and reader.ahead() not in _AFTER_NAME:
            result = self._counted(reader.take().text)
        elif word == "at" and reader.ahead() in ("least", "most"):
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

    # --- propositions ---

    def at(self, token: Token, make: Callable[[], T]) -> T:
        """Call `make`; blame the text at `token` for what goes wrong."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.reader.fail(str(error), token)

    def attribute(self) -> Attribute:
        """Read the name of an attribute that is declared."""
        token = self.reader.token
        return self._declared(token, read_name(self.reader, "an attribute"))

    def _declared(self, token: Token, name: str) -> Attribute:
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.reader.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def check_new(self, token: Token, names: Iterable[str]) -> None:
        """Fail at `token` if an attribute of one of these names is declared."""
        for name in names:
            if name in self.attributes:
                self.reader.fail(f"attribute {name!r} is declared twice", token)

    def factors(self) -> list[Attribute]:
        """Read ``left * right * ...``."""
        factors = [self.attribute()]
        while self.reader.accept("*"):
            factors.append(self.attribute())
        return factors

    def proposition(self) -> Proposition:
        """Read ``a in {...}``, ``a not in {...}``, ``a where ...``, ``a == 3``, ``3 <= a < 5``.

        The name of an attribute whose values are false and true says that it is true.
        """
        token, start = self.reader.token, self.reader.position
        plain = self.reader.plain_membership()
        if plain is not None:
            attribute = self._declared(token, plain[0])
            return self.at(self.reader.tokens[start + 2], partial(attribute.isin, plain[1]))
        if self._is_number(token):
            return self._between()
        attribute = self.attribute()
        if self.reader.token.text in COMPARISONS and self.reader.token.kind == "sign":
            return self._compared(attribute)
        word = self.reader.accept("in", "where", "not")
        if word == "where":
            condition = read_condition(self.reader, attribute.condition_names)
            return self.at(token, lambda: attribute.where(condition))
        if word != "in" and not (word and self.reader.accept("in")):
            if not word and is_truth(attribute):
                return attribute.isin({True})
            found = self.reader.token.text
            cure = f"; {ONE_ATTRIBUTE} = {attribute.name} {found} ..." * (found in ARITHMETIC)
            self.reader.fail(f"expected 'in', 'where' or a comparison, found {found!r:.60}{cure}")
        subset_token = self.reader.token
        values = read_subset(self.reader)
        proposition = self.at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if word == "not" else proposition

    def _compared(self, attribute: Attribute) -> Proposition:
        """Read ``== 3`` or ``< 5`` after an attribute: the subset of its values."""
        sign = self.reader.take().text
        token = self.reader.token
        value = read_value(self.reader)
        if value in self.attributes and value not in attribute.domain:
            comparison = f"{attribute.name} {sign} {value}"
            self.reader.fail(f"{value!r} is an attribute; {ONE_ATTRIBUTE} = {comparison}", token)
        return self._comparison(token, attribute, sign, value)

    def _comparison(self, token: Token, attribute: Attribute, sign: str, value: Any) -> Proposition:
        """Return the proposition of a comparison; take note of the cuts that it lacks."""
        scale = attribute.scale
        if sign in ("==", "!=") and (scale is None or not is_number(value)):
            proposition = self.at(token, lambda: attribute.isin([value]))
            return proposition if sign == "==" else proposition.complement
        if scale is not None and attribute.name in self.compared_cuts:
            needed = self.at(token, lambda: cuts_of(sign, value, f"attribute {attribute.name!r}"))
            if not needed <= set(scale.cuts):
                self.compared_cuts[attribute.name] |= needed
                self.lacks_cuts = True
                attribute = Attribute.number(attribute.name, sorted(needed))
        return self.at(token, lambda: attribute.compared(sign, value))

    def _is_number(self, token: Token) -> bool:
        """Tell whether a number comes next, or a variable that is one."""
        reader = self.reader
        if token.text in reader.scope or token.text in reader.constants:
            return is_number(reader.variable(token)[1])
        return token.kind == "number" or token.text == "-"

    def _between(self) -> Proposition:
        """Read ``3 <= a`` or ``3 <= a < 5``."""
        reader, token, start = self.reader, self.reader.token, self.reader.position
        value = read_value(reader)
        sign = reader.accept(*COMPARISONS)
        if token.kind == "word" and reader.token.kind not in ("word", "name"):
            reader.seek(start)  # a variable where a name should be
            self.attribute()
        if not sign:
            reader.fail(f"expected a comparison, found {reader.token.text!r:.60}")
        attribute = self.attribute()
        first = self._comparison(token, attribute, TURNED.get(sign, sign), value)
        if reader.token.text not in TURNED or reader.token.kind != "sign":
            return first
        second = self._compared(attribute)
        if first.attribute != second.attribute:  # which lack cuts, so the text is read again
            return second
        return Proposition(first.attribute, first.mask & second.mask)
