"""Reads rule bases of ``.rules`` text: declarations, propositions, formulas of them, and rules."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from pinesy._common.validation import check_degree, suggestion
from pinesy.exceptions import PinesyError, RulesTextError
from pinesy.rulebase import functions, number_text
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import (
    Premise,
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
from pinesy.rules.syntax.expressions import ARITHMETIC, COMPARISONS
from pinesy.rules.syntax.lexer import KEYWORDS, Token
from pinesy.rules.syntax.template_reader import TemplateReader

T = TypeVar("T")

#: That of the language; files of older ones are read as they were meant.
VERSION = 2
#: Words that may not follow a rule, and what to write.
_NO_CONCLUSION = {
    "and": "a rule has one conclusion; write a rule for each",
    "or": "a rule has one conclusion, on one attribute; write 'in' and the values that are left",
    "else": "a rule has no 'else'; write 'iff', or another rule with 'not (...)'",
}
_COUNTS = {"at least": at_least, "at most": at_most, "exactly": exactly}
#: What follows the name of an attribute.
_AFTER_NAME = frozenset(["in", "not", "where", "[", *COMPARISONS])
#: What follows an operand of a formula, outside brackets.
_AFTER_OPERAND = frozenset(["and", "or", "then", "for", ",", ")"])


def is_truth(attribute: Attribute) -> bool:
    """Tell whether the values of an attribute are false and true."""
    return len(attribute.domain) == 2 and all(type(value) is bool for value in attribute.domain)


class RuleReader(TemplateReader):
    """Reads declarations, and what is said of the attributes that are declared.

    Recursive descent: `statement`, `rule`, `formula` (or), `_conjunction` (and), `_operand` (not,
    brackets, ...), `proposition`. Line ends mean nothing.
    """

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        super().__init__(text)
        self.attributes = dict(attributes or {})
        #: The rules by the names of the attributes that they conclude on.
        self.rules: dict[str, list[Rule]] = {}
        #: Products that a ``joint`` statement has paired, by the names of their factors.
        self.joints: dict[frozenset[str], Attribute] = {}
        #: Cuts that comparisons need, of numeric attributes whose intervals have no names.
        self.compared_cuts: dict[str, set[float]] = {}
        #: Whether some were missing, so that the text must be read again, with them.
        self.lacks_cuts = False
        self.version = VERSION
        #: What empty loops say.
        self._empty: dict[bool, Proposition] = {}
        self._statements: dict[str, Callable[[], object]] = {
            "attribute": self._attribute,
            "product": self._product,
            "if": partial(self._rule, "if"),
            "iff": partial(self._rule, "iff"),
            "number": partial(number_text.read_number, self),
            "joint": partial(functions.read_joint, self),
            "function": partial(functions.read_function, self),
        }

    # --- statements ---

    def statements(self, several: bool) -> None:
        """Read a declaration or a rule, or `several` of them, up to a template or the end."""
        self.statement()
        while several and self.token.text in self._statements:
            self.statement()

    def statement(self) -> None:
        """Read a declaration or a rule."""
        word = self.accept(*self._statements)
        if word:
            self._statements[word]()
        elif self.token.text == "version" and self.token.kind == "word":
            token = self.token
            if self.stated_version() != self.version:
                self.fail("the version stands before everything else", token)
        else:
            word = self.token.text
            lower = word.lower()
            hint = f"; write {lower!r}" if lower != word and lower in KEYWORDS else ""
            self.fail(
                "expected a statement such as 'attribute', 'product', 'if' or 'for', found "
                f"{word!r:.60}{hint}"
            )

    def stated_version(self) -> int:
        """Read ``version 2``."""
        self.expect("version")
        token = self.token
        version = self.value()
        if type(version) is not int or not 1 <= version <= VERSION:
            newer = type(version) is int and version > VERSION
            cure = "; update pinesy to read it" if newer else ""
            said = f"this pinesy reads versions 1 to {VERSION}, not {version!r:.60}{cure}"
            self.fail(said, token)
        return version

    def _attribute(self) -> None:
        """Read ``left in {0..9}``, or the same of a family ``digit[1..4]``."""
        token = self.token
        plain = self.plain_membership()
        names = self.names("a name") if plain is None else [plain[0]]
        self.check_new(token, names)
        if plain is None:
            self.expect("in")
        values = self.subset() if plain is None else plain[1]
        for name in names:
            self.attributes[name] = self.at(token, partial(Attribute, name, values))

    def _product(self) -> None:
        """Read ``pair = left * right``."""
        token, name = self.new_name()
        self.expect("=")
        factors = self.factors()
        self.attributes[name] = self.at(token, partial(Attribute.product, name, *factors))

    def new_name(self) -> tuple[Token, str]:
        """Read the name of an attribute that is declared here, and return its place too."""
        token = self.token
        name = self.name("a name")
        self.check_new(token, [name])
        return token, name

    def check_new(self, token: Token, names: Iterable[str]) -> None:
        """Fail at `token` if an attribute of one of these names is declared."""
        for name in names:
            if name in self.attributes:
                self.fail(f"attribute {name!r} is declared twice", token)

    def factors(self) -> list[Attribute]:
        """Read ``left * right * ...``."""
        factors = [self.attribute()]
        while self.accept("*"):
            factors.append(self.attribute())
        return factors

    # --- rules ---

    def _rule(self, word: str) -> None:
        rule = self.rule(word)
        self.rules.setdefault(rule.conclusion.attribute.name, []).append(rule)

    def rule(self, word: str) -> Rule:
        """Read a rule after its ``if`` or ``iff``."""
        start = self.tokens[self.position - 1]
        if word == "iff" and self.version == 1:
            self.fail("'iff' came with version 2; in version 1 'if' means that", start)
        premise = self.formula()
        self.expect("then")
        conclusion = self.proposition()
        s, r = self._parameters(word)
        if self.token.text in _NO_CONCLUSION and self.token.kind == "word":
            self.fail(_NO_CONCLUSION[self.token.text])
        if self.lacks_cuts:  # it is read again; the parts may not fit together now
            premise = conclusion
        if not isinstance(premise, Premise):
            premise = self.at(start, partial(premise_of, premise))
        return self.at(start, partial(Rule, premise, conclusion, s, r))

    def _parameters(self, word: str) -> tuple[float, float]:
        """Read ``[s=0.1, r=0]`` or ``[certainty=0.9]`` if it is there.

        What is not given makes an implication after ``if``, an equivalence after ``iff``.
        """
        pairs = self.plain_parameters()
        if pairs is None:
            pairs = self.listing("]", self._parameter) if self.accept("[") else []
        given: dict[str, float] = {}
        for token, value in pairs:
            self._check_parameter(token, given)
            given[token.text] = self.at(token, partial(check_degree, value, token.text))
            if "certainty" in given and "r" in given:
                self.fail("a certainty c is r = 1 - c: give one of them", token)
        if "certainty" in given:
            given["r"] = from_certainty(given["certainty"])
        # Version 1 knew equivalences: what is not given is 0.
        s = 1.0 if word == "if" and self.version > 1 else 0.0
        return given.get("s", s), given.get("r", 0.0)

    def _parameter(self) -> tuple[Token, Any]:
        token = self.take()
        self._check_parameter(token, {})
        self.expect("=")
        return token, self.value()

    def _check_parameter(self, token: Token, given: Mapping[str, float]) -> None:
        if token.text not in ("s", "r", "certainty") or token.text in given:
            self.missing("s=, r= or certainty=, once each", token)

    # --- formulas ---

    def formula(self) -> Statement:
        """Read ``f or f or ...``."""
        return self._series("or", self._conjunction)

    def _conjunction(self) -> Statement:
        return self._series("and", self._operand)

    def _series(self, word: str, part: Callable[[], Statement]) -> Statement:
        parts = [part()]
        while self.token.text == word:
            self.take()
            parts.append(part())
        return self._joined(parts, is_all=word == "and")

    def _joined(self, parts: list[Statement], is_all: bool) -> Statement:
        """Join parts by and, or by or, less those of empty loops that change nothing."""
        several = [part for part in parts if part is not self._empty.get(is_all)] or parts[:1]
        if len(several) == 1:
            return several[0]
        return all_of(*several) if is_all else any_of(*several)

    def _operand(self) -> Statement:
        """Read a proposition, ``not f``, ``(f)``, ``exists i in ...: f``, ``exactly 2 of ...``."""
        self.deeper("this formula nests")
        word = self.token.text
        if word == "not":
            self.take()
            result: Statement = ~self._operand()
        elif word == "(":
            self.take()
            result = self.formula()
            self.expect(")")
        elif word in ("exists", "forall") and self.ahead(2) == "in":
            result = self._quantified()
        elif word == "exactly" and self.ahead() not in _AFTER_NAME:
            result = self._counted(self.take().text)
        elif word == "at" and self.ahead() in ("least", "most"):
            result = self._counted(f"{self.take().text} {self.take().text}")
        else:
            result = self.proposition()
        self.depth -= 1
        return result

    def _counted(self, words: str) -> Statement:
        """Read ``2 of (f, f, f)`` or ``2 of (f for i in 1..4)``."""
        token = self.token
        number = self.value()
        self.expect("of")
        parts = self.items(self.formula)
        return self.at(token, lambda: _COUNTS[words](number, *parts))

    def _quantified(self) -> Statement:
        """Read ``exists i in 1..4: f``: one of the cases holds; ``forall``: all of them do."""
        outer = self.scope
        is_all = self.take().text == "forall"
        start = self.position
        colon = self.source.find_sign(start, ":")
        if not colon:
            self.fail("expected ':' and a formula after this")
        parts: list[Statement] = []
        end = 0
        for _ in self.bindings(start, colon):
            self.seek(colon + 1)
            parts.append(self._operand())
            end = self.position
            self.read_again(end - colon)
        self.scope = outer
        self.seek(end or self._operand_end(colon + 1))
        if parts:
            return self._joined(parts, is_all)
        # Of no cases all hold, and none does: said of any attribute.
        attribute = next(iter(self.attributes.values()))
        return self._empty.setdefault(is_all, Proposition(attribute, attribute.full * is_all))

    def _operand_end(self, start: int) -> int:
        """Return where the operand of a formula ends, without reading it."""
        for position in self.source.outside(start, len(self.tokens) - 1):
            kind, text, _start = self.tokens[position]
            if text in _AFTER_OPERAND and kind in ("word", "sign") and position > start:
                return position
        return len(self.tokens) - 1

    # --- propositions ---

    def at(self, token: Token, make: Callable[[], T]) -> T:
        """Call `make`; blame the text at `token` for what goes wrong."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.fail(str(error), token)

    def attribute(self) -> Attribute:
        """Read the name of an attribute that is declared."""
        token = self.token
        return self._declared(token, self.name("an attribute"))

    def _declared(self, token: Token, name: str) -> Attribute:
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def proposition(self) -> Proposition:
        """Read ``a in {...}``, ``a not in {...}``, ``a where ...``, ``a == 3``, ``3 <= a < 5``.

        The name of an attribute whose values are false and true says that it is true.
        """
        token, start = self.token, self.position
        plain = self.plain_membership()
        if plain is not None:
            attribute = self._declared(token, plain[0])
            return self.at(self.tokens[start + 2], partial(attribute.isin, plain[1]))
        if number_text.is_number_next(self):
            return number_text.read_between(self)
        attribute = self.attribute()
        if self.token.text in COMPARISONS and self.token.kind == "sign":
            return number_text.read_comparison(self, attribute)
        word = self.accept("in", "where", "not")
        if word == "where":
            condition = read_condition(self, attribute.condition_names)
            return self.at(token, lambda: attribute.where(condition))
        if word != "in" and not (word and self.accept("in")):
            if not word and is_truth(attribute):
                return attribute.isin({True})
            sign, cure = self.token.text, ""
            if sign in ARITHMETIC:
                cure = f"; {number_text.ONE_ATTRIBUTE} = {attribute.name} {sign} ..."
            self.fail(f"expected 'in', 'where' or a comparison, found {sign!r:.60}{cure}")
        subset_token = self.token
        values = self.subset()
        proposition = self.at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if word == "not" else proposition
