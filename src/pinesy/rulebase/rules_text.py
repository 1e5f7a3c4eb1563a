"""Reads the ``.rules`` text format; ``str(cascade)`` writes it.

::

    # two digits and their sum
    attribute left in {0..9}
    attribute right in {0..9}
    attribute total in {0..18}
    product pair = left * right

    iff left in {3} then pair where left == 3
    iff pair where left + right == 7 then total in {7} [s=0.1, r=0]
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pinesy._common.budgets import budget, value_limit
from pinesy._common.files import as_path
from pinesy._common.validation import as_list, check_number
from pinesy.exceptions import DataError, DomainError, PinesyError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.function_text import read_function, read_joint
from pinesy.rulebase.rule_reader import VERSION, RuleReader
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import cut_of
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.lexer import KEYWORDS, Token
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.template_reader import TemplateReader
from pinesy.rules.syntax.value_sets import read_name, read_names, read_subset, read_value

#: What files of version 1 began with, which did not say so.
HEAD_1 = "# written by pinesy; the last line says: end"


def parse(
    text: str, directory: str | Path | None = None, *, max_values: int | None = None
) -> Cascade:
    """Return the cascade that a ``.rules`` text declares; ``parse(str(x)) == x``.

    Rules that conclude on one attribute form one rule set, in the order they stand.

    Parameters
    ----------
    text : declarations, rules and templates; see docs/rules-format.md
    directory : that of the files that the text includes; without it, it may include none
    max_values : how many values all attributes may have together; by default as the environment
        variable ``PINESY_MAX_VALUES`` says, else 2,000,000

    Raises
    ------
    RulesTextError : with the line, the column and the text that cannot be read

    Examples
    --------
    >>> parse('attribute a in {0, 1} attribute b in {low, high} iff a in {1} then b in {high}')
    Cascade(1 rule sets, 1 rules: a -> b)
    """
    if not isinstance(text, str):
        raise DataError(f"rules are read from text; got {type(text).__name__}")
    place = None if directory is None else as_path(directory)
    return parse_file(text, place, None, most=value_limit(max_values))


def parse_file(
    text: str, directory: Path | None, file: Path | None, version: int = VERSION, *, most: int
) -> Cascade:
    """Return the cascade of a text that was read from a file; see `parse`.

    Parameters
    ----------
    version : that of the language, if the text does not begin by saying it
    most : how many values all attributes may have together
    """
    with budget(most):
        statements = _read(text, directory, file, version, {})
    while statements.lacks_cuts:  # a second time, with the cuts that comparisons need
        with budget(most):
            statements = _read(text, directory, file, version, statements.compared_cuts)
    if not statements.rules:
        statements.reader.fail("there are no rules in this text")
    try:
        rule_sets = [RuleSet(rules) for rules in statements.rules.values()]
        return Cascade(*rule_sets, attributes=statements.attributes.values())
    except PinesyError as error:
        # Such as a cycle: no one place in the text is to blame.
        raise type(error)(f"the rules do not fit together: {error}") from None


def _read(
    text: str,
    directory: Path | None,
    file: Path | None,
    version: int,
    cuts: dict[str, set[float]],
) -> "_Statements":
    """Read a whole text, of which comparisons are known to need some cuts."""
    statements = _Statements(text)
    reader = statements.reader
    statements.version, statements.compared_cuts = version, cuts
    if reader.token.text == "version" and reader.ahead().isdecimal():
        statements.version = _version(reader)
    older = HEAD_1 if statements.version > 1 else ""
    try:
        TemplateReader(reader, statements.statement, directory, file, older).read()
    except PinesyError:
        if not statements.lacks_cuts:  # else they may be the reason
            raise
    return statements


def parse_rule(text: str, attributes: Iterable[Attribute]) -> Rule:
    """Return the rule that a text such as ``iff a in {0} then b in {1} [s=0.1, r=0]`` writes.

    Examples
    --------
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> parse_rule("iff a in {0} then b in {1}", [a, b])
    iff a in {0} then b in {1}
    """
    if not isinstance(text, str):
        raise DataError(f"a rule is read from text; got {type(text).__name__}")
    known = as_list(attributes, "attributes")
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


def parse_attribute(text: str, attributes: Iterable[Attribute] = ()) -> Attribute:
    """Return the attribute that a declaration writes; `attributes` may be its factors.

    Examples
    --------
    >>> parse_attribute("number age cuts {30, 65}").domain
    ('<30', '[30, 65)', '>=65')
    """
    known = {a.name: a for a in attributes}
    statements = _Statements(text, known)
    reader = statements.reader
    if reader.token.text not in ("attribute", "number", "product"):
        reader.fail(f"expected a declaration, found {reader.token.text!r:.60}")
    statements.statement()
    if reader.token.kind != "end":
        reader.fail(f"expected the end, found {reader.token.text!r:.60}")
    return next(a for name, a in statements.attributes.items() if name not in known)


def _version(reader: Reader) -> int:
    """Read ``version 2``."""
    reader.expect("version")
    token = reader.token
    version = read_value(reader)
    if type(version) is not int or not 1 <= version <= VERSION:
        newer = type(version) is int and version > VERSION
        cure = "; update pinesy to read it" if newer else ""
        reader.fail(f"this pinesy reads versions 1 to {VERSION}, not {version!r:.60}{cure}", token)
    return version


class _Statements(RuleReader):
    """Reads declarations and rules one after the other; line ends mean nothing."""

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        super().__init__(text, attributes)
        self.rules: dict[str, list[Rule]] = {}

    def statement(self) -> None:
        """Read a declaration or a rule."""
        start = self.reader.token
        word = self.reader.accept(
            "attribute", "number", "product", "if", "iff", "joint", "function"
        )
        if word == "attribute":
            self._plain()
        elif word == "number":
            _number(self)
        elif word == "product":
            self._product()
        elif word in ("joint", "function"):
            self._add(start, read_joint(self) if word == "joint" else read_function(self))
        elif word:
            rule = self.rule(word)
            self.rules.setdefault(rule.conclusion.attribute.name, []).append(rule)
        elif start.text == "version" and start.kind == "word":
            if _version(self.reader) != self.version:
                self.reader.fail("the version stands before everything else", start)
        else:
            found = self.reader.token.text
            lower = found.lower()
            hint = f"; write {lower!r}" if lower != found and lower in KEYWORDS else ""
            self.reader.fail(
                "expected a statement such as 'attribute', 'product', 'if' or 'for', found "
                f"{found!r:.60}{hint}"
            )

    def _add(self, token: Token, cascade: Cascade) -> None:
        """Add the attributes and rules of a function."""
        for name, attribute in cascade.attributes.items():
            if self.attributes.setdefault(name, attribute) != attribute:
                self.reader.fail(f"attribute {name!r} is declared before, in another way", token)
        for name, rule_set in cascade.sets.items():
            if name in self.rules:
                self.reader.fail(f"there are other rules that conclude on {name!r}", token)
            self.rules[name] = list(rule_set.rules)

    def _plain(self) -> None:
        token = self.reader.token
        plain = self.reader.plain_membership()
        names = read_names(self.reader, "a name") if plain is None else [plain[0]]
        self.check_new(token, names)
        if plain is None:
            self.reader.expect("in")
        values = read_subset(self.reader) if plain is None else plain[1]
        if len(names) > 1:
            self.reader.step(len(names) * len(values) // 10)
        for name in names:
            self.attributes[name] = self.at(token, partial(Attribute, name, values))

    def _product(self) -> None:
        token = self.reader.token
        name = read_name(self.reader, "a name")
        self.check_new(token, [name])
        self.reader.expect("=")
        factors = self.factors()
        self.attributes[name] = self.at(token, lambda: Attribute.product(name, *factors))


# --- numeric attributes ---


def _number(statements: RuleReader) -> None:
    """Read ``age cuts {30, 65} [blur=2]``: names, and perhaps cuts, interval names and blur.

    Without names, the cuts of the text's comparisons are added to those that stand here.
    """
    reader = statements.reader
    token = reader.token
    titles = read_names(reader, "a name")
    statements.check_new(token, titles)
    cuts = _cuts(reader) if reader.accept("cuts") else []
    names: Any = read_subset(reader) if reader.accept("named") else None
    blur = _blur(reader)
    for title in titles:
        declared = statements.at(token, partial(Attribute.number, title, cuts, names, blur))
        assert declared.scale is not None
        if names is None:
            compared = statements.compared_cuts.setdefault(title, set())
            every = sorted({*declared.scale.cuts, *compared})
            declared = Attribute.number(title, every, None, blur)
        statements.attributes[title] = declared


def _cuts(reader: Reader) -> Iterable[Any]:
    """Read ``{30, <= 65}``, or any set of numbers."""
    start = reader.position
    signs = ("<", "<=", ">", ">=")
    end = reader.source.closing(start) if reader.source.is_sign(start, "{") else start
    if not any(reader.source.is_sign(i, *signs) for i in range(start, end)):
        return read_subset(reader)
    reader.expect("{")

    def cut() -> Any:
        sign, token = reader.accept(*signs), reader.token
        number = read_value(reader)
        try:
            return cut_of(sign, number, "cuts") if sign else number
        except DomainError as error:
            reader.fail(str(error), token)

    return reader.listing("}", cut)


def _blur(reader: Reader) -> float:
    """Read ``[blur=2]`` if it is there."""
    if not reader.accept("["):
        return 0.0
    if not reader.accept("blur"):
        reader.fail(f"expected blur=, found {reader.token.text!r:.60}")
    reader.expect("=")
    token = reader.token
    number = read_value(reader)
    try:
        blur = check_number(number, "blur")
    except DomainError as error:
        reader.fail(str(error), token)
    reader.expect("]")
    return blur
