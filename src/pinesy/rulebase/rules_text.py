"""Reads the ``.rules`` text format; ``str(cascade)`` writes it.

::

    # two digits and their sum
    attribute left in {0..9}
    attribute right in {0..9}
    attribute total in {0..18}
    product pair = left * right

    if left in {3} then pair where left == 3
    if pair where left + right == 7 then total in {7} [s=0.1, r=0]
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TypeVar

from pinesy._common.validation import check_degree, suggestion
from pinesy.exceptions import DataError, DegreeError, PinesyError, RulesTextError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.conditions import read_condition
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import KEYWORDS, Token
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.template_reader import TemplateReader
from pinesy.rules.syntax.value_sets import read_name, read_names, read_subset, read_value

T = TypeVar("T")


def parse(text: str, directory: str | Path | None = None) -> Cascade:
    """Return the cascade that a ``.rules`` text declares; ``parse(str(x)) == x``.

    Rules that conclude on one attribute form one rule set, in the order they stand.

    Parameters
    ----------
    text : declarations, rules and templates; see docs/rules-format.md
    directory : that of the files that the text includes; without it, it may include none

    Raises
    ------
    RulesTextError : with the line, the column and the text that cannot be read

    Examples
    --------
    >>> parse('attribute a in {0, 1} attribute b in {low, high} if a in {1} then b in {high}')
    Cascade(1 rule sets, 1 rules: a -> b)
    """
    if not isinstance(text, str):
        raise DataError(f"rules are read from text; got {type(text).__name__}")
    return parse_file(text, None if directory is None else Path(directory), None)


def parse_file(text: str, directory: Path | None, file: Path | None) -> Cascade:
    """Return the cascade of a text that was read from a file; see `parse`."""
    statements = _Statements(text)
    reader = statements.reader
    TemplateReader(reader, statements.statement, directory, file).read()
    if not statements.rules:
        reader.fail("there are no rules in this text")
    try:
        rule_sets = [RuleSet(rules) for rules in statements.rules.values()]
        return Cascade(*rule_sets, attributes=statements.attributes.values())
    except PinesyError as error:
        # Such as a cycle: no one place in the text is to blame.
        raise type(error)(f"the rules do not fit together: {error}") from None


def parse_rule(text: str, attributes: Iterable[Attribute]) -> Rule:
    """Return the rule that a text such as ``if a in {0} then b in {1} [s=0.1, r=0]`` writes.

    Examples
    --------
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> parse_rule("if a in {0} then b in {1}", [a, b])
    if a in {0} then b in {1}
    """
    known = list(attributes)
    for attribute in known:
        if not isinstance(attribute, Attribute):
            raise DataError(f"parse_rule takes the attributes themselves; got {attribute!r}")
    statements = _Statements(text, {a.name: a for a in known})
    reader = statements.reader
    word = reader.accept("if", "iff")
    if not word:
        reader.expect("if")
    rule = statements.rule(word)
    if reader.token.kind != "end":
        reader.fail(f"expected the end, found {reader.token.text!r:.60}")
    return rule


class _Statements:
    """Reads declarations and rules one after the other; line ends mean nothing."""

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        self.reader = Reader(text)
        self.attributes = dict(attributes or {})
        self.rules: dict[str, list[Rule]] = {}

    def statement(self) -> None:
        """Read a declaration or a rule."""
        word = self.reader.accept("attribute", "product", "if", "iff")
        if word == "attribute":
            self._plain()
        elif word == "product":
            self._product()
        elif word:
            rule = self.rule(word)
            self.rules.setdefault(rule.conclusion.attribute.name, []).append(rule)
        else:
            found = self.reader.token.text
            lower = found.lower()
            hint = f"; write {lower!r}" if lower != found and lower in KEYWORDS else ""
            self.reader.fail(
                "expected a statement such as 'attribute', 'product', 'if' or 'for', found "
                f"{found!r:.60}{hint}"
            )

    def _at(self, token: Token, make: Callable[[], T]) -> T:
        """Call `make`; blame the text at `token` for what goes wrong."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.reader.fail(str(error), token)

    def _check_new(self, token: Token, names: Iterable[str]) -> None:
        for name in names:
            if name in self.attributes:
                self.reader.fail(f"attribute {name!r} is declared twice", token)

    def _plain(self) -> None:
        token = self.reader.token
        names = read_names(self.reader, "a name")
        self._check_new(token, names)
        self.reader.expect("in")
        values = read_subset(self.reader)
        for name in names:
            self.attributes[name] = self._at(token, partial(Attribute, name, values))

    def _product(self) -> None:
        token = self.reader.token
        name = read_name(self.reader, "a name")
        self._check_new(token, [name])
        self.reader.expect("=")
        factors = [self._attribute()]
        while self.reader.accept("*"):
            factors.append(self._attribute())
        self.attributes[name] = self._at(token, lambda: Attribute.product(name, *factors))

    def _attribute(self) -> Attribute:
        token = self.reader.token
        name = read_name(self.reader, "an attribute")
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.reader.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def rule(self, word: str) -> Rule:
        """Read a rule after its ``if`` or ``iff``."""
        start = self.reader.tokens[self.reader.position - 1]
        premise = [self._proposition()]
        while self.reader.accept("and"):
            premise.append(self._proposition())
        if self.reader.token.text == "or":
            self.reader.fail("premises are conjunctions; write one rule for each case of an 'or'")
        self.reader.expect("then")
        conclusion = self._proposition()
        s, r = self._parameters(word)
        return self._at(start, lambda: Rule(Premise(tuple(premise)), conclusion, s, r))

    def _proposition(self) -> Proposition:
        token = self.reader.token
        attribute = self._attribute()
        if self.reader.token.text in COMPARISONS and self.reader.token.kind == "sign":
            return self._compared(attribute)
        word = self.reader.accept("in", "where", "not")
        if word == "where":
            condition = read_condition(self.reader, attribute.condition_names)
            return self._at(token, lambda: attribute.where(condition))
        if word != "in" and not (word and self.reader.accept("in")):
            found = self.reader.token.text
            self.reader.fail(f"expected 'in' or 'where', found {found!r:.60}")
        subset_token = self.reader.token
        values = read_subset(self.reader)
        proposition = self._at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if word == "not" else proposition

    def _compared(self, attribute: Attribute) -> Proposition:
        """Read ``== 3`` or ``< 5`` after an attribute: the subset of its values."""
        sign = self.reader.take().text
        token = self.reader.token
        value = read_value(self.reader)
        if sign in ("==", "!="):
            proposition = self._at(token, lambda: attribute.isin([value]))
            return proposition if sign == "==" else proposition.complement
        numbers = [v for v in (*attribute.domain, value) if _is_number(v)]
        if len(numbers) <= len(attribute.domain):
            self.reader.fail(
                f"{sign!r} compares numbers; attribute {attribute.name!r} and {value!r:.60} are "
                "not all numbers: list the values after in",
                token,
            )
        test = COMPARISONS[sign]
        return attribute.isin([v for v in attribute.domain if test(v, value)])

    def _parameters(self, word: str) -> tuple[float, float]:
        """Read ``[s=0.1, r=0]`` or ``[certainty=0.9]`` if it is there; what is not given is 0."""
        given: dict[str, float] = {}

        def parameter() -> None:
            token = self.reader.take()
            name = token.text
            if name not in ("s", "r", "certainty") or name in given:
                expected = "s=, r= or certainty="
                self.reader.fail(f"expected {expected}, once each, found {name!r:.60}", token)
            self.reader.expect("=")
            value = read_value(self.reader)
            try:
                given[name] = check_degree(value, name)
            except DegreeError as error:
                self.reader.fail(str(error), token)
            if "certainty" in given and "r" in given:
                self.reader.fail("a certainty c is r = 1 - c: give one of them", token)

        if self.reader.accept("["):
            self.reader.listing("]", parameter)
        if "certainty" in given:
            given["r"] = float(1 - Decimal(repr(given["certainty"])))
        s = 1.0 if "certainty" in given and word == "if" else 0.0
        return given.get("s", s), given.get("r", 0.0)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
