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

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from pinesy._common.validation import check_degree, suggestion
from pinesy.exceptions import DataError, DegreeError, PinesyError, RulesTextError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.conditions import read_condition
from pinesy.rules.syntax.lexer import KEYWORDS, Token
from pinesy.rules.syntax.reader import Reader

T = TypeVar("T")


def parse(text: str) -> Cascade:
    """Return the cascade that a ``.rules`` text declares; ``parse(str(x)) == x``.

    Rules that conclude on one attribute form one rule set, in the order they stand.

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
    statements = _Statements(text)
    statements.read()
    if not statements.rules:
        statements.reader.fail("there are no rules in this text")
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
    statements.reader.expect("if")
    rule = statements.rule()
    if statements.reader.token.kind != "end":
        statements.reader.fail(f"expected the end, found {statements.reader.token.text!r:.60}")
    return rule


class _Statements:
    """Reads declarations and rules one after the other; line ends mean nothing."""

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        self.reader = Reader(text)
        self.attributes = dict(attributes or {})
        self.rules: dict[str, list[Rule]] = {}

    def read(self) -> None:
        """Read the whole text."""
        while self.reader.token.kind != "end":
            word = self.reader.accept("attribute", "product", "if")
            if word == "attribute":
                self._declare(self._plain)
            elif word == "product":
                self._declare(self._product)
            elif word == "if":
                rule = self.rule()
                self.rules.setdefault(rule.conclusion.attribute.name, []).append(rule)
            else:
                found = self.reader.token.text
                lower = found.lower()
                hint = f"; write {lower!r}" if lower != found and lower in KEYWORDS else ""
                problem = f"expected 'attribute', 'product' or 'if', found {found!r:.60}{hint}"
                self.reader.fail(problem)

    def _at(self, token: Token, make: Callable[[], T]) -> T:
        """Call `make`; blame the text at `token` for what goes wrong."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.reader.fail(str(error), token)

    def _declare(self, content: Callable[[str], Attribute]) -> None:
        token = self.reader.token
        name = self.reader.name("a name")
        if name in self.attributes:
            self.reader.fail(f"attribute {name!r} is declared twice", token)
        self.attributes[name] = self._at(token, lambda: content(name))

    def _plain(self, name: str) -> Attribute:
        self.reader.expect("in")
        return Attribute(name, self.reader.subset())

    def _product(self, name: str) -> Attribute:
        self.reader.expect("=")
        factors = [self._attribute()]
        while self.reader.accept("*"):
            factors.append(self._attribute())
        return Attribute.product(name, *factors)

    def _attribute(self) -> Attribute:
        token = self.reader.token
        name = self.reader.name("an attribute")
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.reader.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def rule(self) -> Rule:
        """Read a rule after its ``if``."""
        start = self.reader.tokens[self.reader.position - 1]
        premise = [self._proposition()]
        while self.reader.accept("and"):
            premise.append(self._proposition())
        if self.reader.token.text == "or":
            self.reader.fail("premises are conjunctions; write one rule for each case of an 'or'")
        self.reader.expect("then")
        conclusion = self._proposition()
        s, r = self._parameters()
        return self._at(start, lambda: Rule(Premise(tuple(premise)), conclusion, s, r))

    def _proposition(self) -> Proposition:
        token = self.reader.token
        attribute = self._attribute()
        word = self.reader.accept("in", "where", "not")
        if word == "where":
            condition = read_condition(self.reader, attribute.condition_names)
            return self._at(token, lambda: attribute.where(condition))
        if word != "in" and not (word and self.reader.accept("in")):
            found = self.reader.token.text
            cure = "; compare after where, or list values after in" if found == "==" else ""
            self.reader.fail(f"expected 'in' or 'where', found {found!r:.60}{cure}")
        subset_token = self.reader.token
        values: list[Hashable] = self.reader.subset()
        proposition = self._at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if word == "not" else proposition

    def _parameters(self) -> tuple[float, float]:
        """Read ``[s=0.1, r=0]`` if it is there; what is not given is 0."""
        given = {"s": 0.0, "r": 0.0}
        for name, (token, number) in self.reader.settings("s", "r").items():
            try:
                given[name] = check_degree(number, name)
            except DegreeError as error:
                self.reader.fail(str(error), token)
        return given["s"], given["r"]
