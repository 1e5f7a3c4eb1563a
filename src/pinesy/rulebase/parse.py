"""Reads the ``.rules`` text format; ``str(cascade)`` writes it.

::

    # two digits and their sum
    attribute left in {0..9}
    attribute right in {0..9}
    attribute total in {0..18}
    product pair = left * right

    iff left in {3} then pair where left == 3
    iff pair where left + right == 7 then total in {7} [s=0.1, r=0]

`RulesReader` has a method for each part of the grammar. Values, sets and conditions are read by
`pinesy.rules.syntax.reader`, loops and macros by `pinesy.rules.syntax.template_reader`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from pinesy._common.budgets import Budget, allow_tokens, budget, open_budget, value_limit
from pinesy._common.files import as_path
from pinesy._common.validation import as_list, check_degree, check_number, suggestion
from pinesy.exceptions import DataError, PinesyError, RulesTextError
from pinesy.rulebase.aggregates import all_different, count_of, max_of, min_of, parity_of, sum_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import function, joint
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, check_title
from pinesy.rules.definitions import premise_of
from pinesy.rules.numbers import cut_of, is_number, needed_cuts
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
from pinesy.rules.syntax.lexer import KEYWORDS, Token, tokenize
from pinesy.rules.syntax.reader import ExpressionReader, Reader
from pinesy.rules.syntax.template_reader import TemplateReader

T = TypeVar("T")

#: The version of the language.
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
#: The functions of many attributes that a text knows.
_AGGREGATES: dict[str, Callable[..., Cascade]] = {
    "all_different": all_different,
    "count": count_of,
    "max": max_of,
    "min": min_of,
    "parity": parity_of,
    "sum": sum_of,
}
#: A comparison with its sides exchanged.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ONE_ATTRIBUTE = "a proposition is on one attribute: name what is of several, as in function new"


def parse(
    text: str, directory: str | Path | None = None, *, max_values: int | None = None
) -> Cascade:
    """Return the cascade that a ``.rules`` text declares; ``parse(str(x)) == x``.

    Rules that conclude on one attribute form one rule set, in the order of the text. A text that
    declares relations gives `pinesy.relations.RelationalRules` instead.

    Parameters
    ----------
    text : declarations, rules and templates; see docs/rules-format.md
    directory : where the files are that the text includes; without it, it may include none
    max_values : how many values all attributes may have together; by default the environment
        variable ``PINESY_MAX_VALUES``, else 2,000,000

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
    path = None if directory is None else as_path(directory)
    return parse_file(text, path, None, max_values=value_limit(max_values))


def parse_file(text: str, directory: Path | None, file: Path | None, *, max_values: int) -> Cascade:
    """Return the cascade of the text of a file; see `parse`."""
    if declares_relations(text):
        # A package above this one: it is imported when it is called.
        module = import_module("pinesy.relations.relational_rules")
        return cast(Cascade, module.parse_relational(text, directory, file, max_values))
    with budget(max_values) as current:
        reader = _read_text(text, directory, file, {}, current)
        while reader.lacks_cuts and not current.is_spent:
            # Read it again, with the cuts that comparisons need.
            current.restart()
            reader = _read_text(text, directory, file, reader.compared_cuts, current)
        if not reader.rules:
            reader.fail("there are no rules in this text")
        try:
            rule_sets = [RuleSet(rules) for rules in reader.rules.values()]
            return Cascade(*rule_sets, attributes=reader.attributes.values())
        except PinesyError as error:
            if current.is_spent:
                raise
            # Such as a cycle, which has no single location in the text.
            raise type(error)(f"the rules do not fit together: {error}") from None


def declares_relations(text: str) -> bool:
    """Return whether a text declares relations, ``relation parent(...)``.

    Examples
    --------
    >>> declares_relations("closed relation parent(person, person)")
    True
    """
    if "relation" not in text:
        return False
    tokens = tokenize(text)
    return any(
        token.kind == "word" and token.text == "relation" and name.kind in ("word", "name")
        for before, token, name in zip([None, *tokens], tokens, tokens[1:], strict=False)
        if before is None or before.text not in ("then", "and", "or", "not", "if", "iff", "=")
        if name.text not in ("in", "not", "where", "then", "and", "or")
    )


def _read_text(
    text: str,
    directory: Path | None,
    file: Path | None,
    cuts: dict[str, set[float]],
    current: Budget,
) -> "RulesReader":
    """Read a text; `cuts` are the missing ones that an earlier reading found, by attribute."""
    reader = RulesReader(text)
    reader.compared_cuts = cuts
    if cuts:
        reader.is_first_reading = False
        reader.read_again(len(reader.tokens))
    else:
        allow_tokens(len(reader.tokens))
    try:
        TemplateReader(reader, reader.statements, directory, file).read()
    except PinesyError:
        if current.is_spent or not reader.lacks_cuts:  # missing cuts may be the reason
            raise
    return reader


def parse_rule(text: str, attributes: Iterable[Attribute]) -> Rule:
    """Parse a rule such as ``iff a in {0} then b in {1} [s=0.1, r=0]``.

    Examples
    --------
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> parse_rule("iff a in {0} then b in {1}", [a, b])
    iff a in {0} then b in {1}
    """
    if not isinstance(text, str):
        raise DataError(f"a rule is read from text; got {type(text).__name__}")
    declared = as_list(attributes, "attributes")
    for attribute in declared:
        if not isinstance(attribute, Attribute):
            raise DataError(f"parse_rule takes Attribute objects; got {attribute!r}")
    reader = RulesReader(text, {a.name: a for a in declared})
    keyword = reader.accept("if", "iff")
    if not keyword:
        reader.expect("if")
    with open_budget():
        rule = reader.rule(keyword)
    reader.expect_end()
    return rule


def parse_attribute(text: str, attributes: Iterable[Attribute] = ()) -> Attribute:
    """Parse the declaration of an attribute; `attributes` may be its factors.

    Examples
    --------
    >>> parse_attribute("number age cuts {30, 65}").domain
    ('<30', '[30, 65)', '>=65')
    """
    declared = {a.name: a for a in attributes}
    reader = RulesReader(text, declared)
    if reader.token.text not in ("attribute", "number", "product"):
        reader.fail_expected("a declaration")
    with open_budget():
        reader.statement()
    reader.expect_end()
    return next(a for name, a in reader.attributes.items() if name not in declared)


class RulesReader(Reader):
    """Recursive descent parser of declarations and rules; line ends have no meaning.

    From the top: `statement`, `rule`, `formula` (or), `_conjunction` (and), `_operand` (not,
    brackets, ...), `proposition`.
    """

    def __init__(self, text: str, attributes: Mapping[str, Attribute] | None = None) -> None:
        super().__init__(text)
        self.attributes = dict(attributes or {})
        #: The rules, by the name of the attribute that they conclude on.
        self.rules: dict[str, list[Rule]] = {}
        #: Products of ``joint`` statements, by the names of their factors.
        self.joints: dict[frozenset[str], Attribute] = {}
        #: Cuts that comparisons need, by numeric attribute without names of intervals.
        self.compared_cuts: dict[str, set[float]] = {}
        #: Whether some cuts were missing, so that the text is read again with them.
        self.lacks_cuts = False
        #: The propositions of ``forall`` (true) and ``exists`` (false) over an empty range.
        self._empty: dict[bool, Proposition] = {}
        self._statements: dict[str, Callable[[], object]] = {
            "attribute": self._attribute,
            "product": self._product,
            "if": partial(self._rule, "if"),
            "iff": partial(self._rule, "iff"),
            "number": self._number,
            "joint": self._joint,
            "function": self._function,
            "version": self._version,
        }

    # --- statements ---

    def statements(self, until_template: bool) -> None:
        """Read a declaration or a rule, or all of them up to a template or the end."""
        self.statement()
        while until_template and self.token.text in self._statements:
            self.statement()

    def statement(self) -> None:
        """Read a declaration or a rule."""
        keyword = self.accept(*self._statements)
        if keyword:
            self._statements[keyword]()
            return
        text = self.token.text
        lower = text.lower()
        hint = f"; write {lower!r}" if lower != text and lower in KEYWORDS else ""
        if self.peek(-2) == "number":
            hint = "; a title takes quotes"
        elif self.token.kind == "string":
            hint = "; a title stands after the name of its attribute"
        self.fail(
            "expected a statement such as 'attribute', 'product', 'if' or 'for', found "
            f"{text!r:.60}{hint}"
        )

    def _version(self) -> None:
        """Read ``2``, the version of the language."""
        token = self.token
        version = self.value()
        if type(version) is not int or version != VERSION:
            cure = ""
            if type(version) is int and version > VERSION:
                cure = "; update pinesy to read it"
            elif version == 1:
                cure = "; write 'version 2', and 'iff' for an 'if' that is an equivalence"
            self.fail(f"this pinesy reads version {VERSION}, not {version!r:.60}{cure}", token)

    def _attribute(self) -> None:
        """Read ``left in {0..9}``, or the declaration of a family ``digit[1..4] in {0..9}``."""
        token, start = self.token, self.index
        plain = self.plain_membership()
        names = self.names("a name") if plain is None else [plain[0]]
        self.check_new(token, names)
        titles = self._titles(start, names)
        if plain is None and not self.accept("in"):
            cure = "; a title takes quotes" * (self.token.kind == "word")
            self.fail(f"expected 'in', found {self.token.text!r:.60}{cure}")
        values = self.subset() if plain is None else plain[1]
        for name, texts in zip(names, titles, strict=True):
            self.attributes[name] = self.at(token, partial(Attribute, name, values, **texts))

    def _product(self) -> None:
        """Read ``pair = left * right``."""
        token, name, texts = self.new_name()
        self.expect("=")
        factors = self.factors()
        declare = partial(Attribute.product, name, *factors, **texts)
        self.attributes[name] = self.at(token, declare)

    def new_name(self) -> tuple[Token, str, dict[str, str]]:
        """Read the name of a new attribute; return its token, the name, and title and unit."""
        token, start = self.token, self.index
        name = self.name("a name")
        self.check_new(token, [name])
        return token, name, self._titles(start, [name])[0]

    def _titles(self, start: int, names: Sequence[str]) -> list[dict[str, str]]:
        """Read the optional ``"debt ratio" unit "percent"`` after names; return it for each name.

        The indices of a family follow its title: ``digit[1..2] "digit"`` are "digit 1", "digit 2".

        Parameters
        ----------
        start : the index of the token of the name
        """
        texts: dict[str, str] = {}
        if self.token.kind == "string":
            texts["title"] = self._title("title", names[0] if names else "")
        if self.accept("unit"):
            if self.token.kind != "string":
                self.fail_expected('a text in quotes, as in unit "years"')
            texts["unit"] = self._title("unit", names[0] if names else "")
        if "title" not in texts or not self.source.is_sign(start + 1, "["):
            return [texts] * len(names)
        end = self.index
        self.seek(start)
        prefix = self.plain_name("a name") + "_"
        self.seek(end)
        indices = [name.removeprefix(prefix).replace("_", ", ") for name in names]
        return [texts | {"title": f"{texts['title']} {index}"} for index in indices]

    def _title(self, kind: str, name: str) -> str:
        token = self.take()
        return self.at(token, partial(check_title, kind, self.string(token), name))

    def check_new(self, token: Token, names: Iterable[str]) -> None:
        """Fail at `token` if one of the names is declared already."""
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

    def _rule(self, keyword: str) -> None:
        rule = self.rule(keyword)
        self.rules.setdefault(rule.conclusion.attribute.name, []).append(rule)

    def rule(self, keyword: str) -> Rule:
        """Read a rule after its ``if`` or ``iff``."""
        start = self.tokens[self.index - 1]
        premise = self.formula()
        self.expect("then")
        conclusion = self.proposition()
        s, r = self._parameters(keyword)
        if self.token.text in _NO_CONCLUSION and self.token.kind == "word":
            self.fail(_NO_CONCLUSION[self.token.text])
        if self.lacks_cuts:  # it is read again; the parts may not fit together now
            premise = conclusion
        if not isinstance(premise, Premise):
            premise = self.at(start, partial(premise_of, premise))
        return self.at(start, partial(Rule, premise, conclusion, s, r))

    def _parameters(self, keyword: str) -> tuple[float, float]:
        """Read the optional ``[s=0.1, r=0]`` or ``[certainty=0.9]``; return s and r.

        The defaults are those of an implication after ``if``, of an equivalence after ``iff``.
        """
        pairs = self.plain_parameters()
        if pairs is None:
            pairs = self.listing("]", self._parameter) if self.accept("[") else []
        parameters: dict[str, float] = {}
        for token, value in pairs:
            self._check_parameter(token, parameters)
            parameters[token.text] = self.at(token, partial(check_degree, value, token.text))
            if "certainty" in parameters and "r" in parameters:
                self.fail("a certainty c is r = 1 - c: give one of them", token)
        if "certainty" in parameters:
            parameters["r"] = from_certainty(parameters["certainty"])
        return parameters.get("s", 1.0 if keyword == "if" else 0.0), parameters.get("r", 0.0)

    def _parameter(self) -> tuple[Token, Any]:
        token = self.take()
        self._check_parameter(token, {})
        self.expect("=")
        return token, self.value()

    def _check_parameter(self, token: Token, parameters: Mapping[str, float]) -> None:
        if token.text not in ("s", "r", "certainty") or token.text in parameters:
            self.fail_expected("s=, r= or certainty=, once each", token)

    # --- formulas ---

    def formula(self) -> Statement:
        """Read ``f or f or ...``."""
        return self._series("or", self._conjunction)

    def _conjunction(self) -> Statement:
        return self._series("and", self._operand)

    def _series(self, operator: str, part: Callable[[], Statement]) -> Statement:
        parts = [part()]
        while self.token.text == operator:
            self.take()
            parts.append(part())
        return self._combine(parts, is_all=operator == "and")

    def _combine(self, parts: list[Statement], is_all: bool) -> Statement:
        """Return the conjunction or disjunction of parts, without neutral empty quantifiers."""
        operands = [part for part in parts if part is not self._empty.get(is_all)] or parts[:1]
        if len(operands) == 1:
            return operands[0]
        return all_of(*operands) if is_all else any_of(*operands)

    def _operand(self) -> Statement:
        """Read a proposition, ``not f``, ``(f)``, ``exists i in ...: f``, ``exactly 2 of ...``."""
        self.enter_bracket("this formula nests")
        text = self.token.text
        if text == "not":
            self.take()
            result: Statement = ~self._operand()
        elif text == "(":
            self.take()
            result = self.formula()
            self.expect(")")
        elif text in ("exists", "forall") and self.peek(2) == "in":
            result = self._quantifier()
        elif text == "exactly" and self.peek() not in _AFTER_NAME:
            result = self._count(self.take().text)
        elif text == "at" and self.peek() in ("least", "most"):
            result = self._count(f"{self.take().text} {self.take().text}")
        else:
            result = self.proposition()
        self.depth -= 1
        return result

    def _count(self, quantifier: str) -> Statement:
        """Read ``2 of (f, f, f)`` or ``2 of (f for i in 1..4)``."""
        token = self.token
        count = self.value()
        self.expect("of")
        parts = self.items(self.formula)
        return self.at(token, lambda: _COUNTS[quantifier](count, *parts))

    def _quantifier(self) -> Statement:
        """Read ``exists i in 1..4: f``, a disjunction, or ``forall``, a conjunction."""
        outer = self.scope
        is_all = self.take().text == "forall"
        start = self.index
        colon = self.source.find_sign(start, ":")
        if not colon:
            self.fail("expected ':' and a formula after this")
        parts: list[Statement] = []
        end = 0
        for _ in self.bindings(start, colon):
            self.seek(colon + 1)
            parts.append(self._operand())
            end = self.index
            self.read_again(end - colon)
        self.scope = outer
        self.seek(end or self._operand_end(colon + 1))
        if parts:
            return self._combine(parts, is_all)
        # No case: forall is true and exists is false, as propositions on any attribute.
        attribute = next(iter(self.attributes.values()))
        return self._empty.setdefault(is_all, Proposition(attribute, attribute.full * is_all))

    def _operand_end(self, start: int) -> int:
        """Return the index after the operand of a formula, without parsing it."""
        for index in self.source.outside_brackets(start, len(self.tokens) - 1):
            kind, text, _start = self.tokens[index]
            if text in _AFTER_OPERAND and kind in ("word", "sign") and index > start:
                return index
        return len(self.tokens) - 1

    # --- propositions ---

    def at(self, token: Token, make: Callable[[], T]) -> T:
        """Return ``make()``; an error is reported at `token`."""
        try:
            return make()
        except RulesTextError:
            raise
        except PinesyError as error:
            self.fail(str(error), token)

    def attribute(self) -> Attribute:
        """Read the name of a declared attribute; return the attribute."""
        token = self.token
        return self._look_up(token, self.name("an attribute"))

    def _look_up(self, token: Token, name: str) -> Attribute:
        if name not in self.attributes:
            hint = suggestion(name[:60], self.attributes)
            self.fail(f"attribute {name!r:.60} is not declared{hint}", token)
        return self.attributes[name]

    def proposition(self) -> Proposition:
        """Read ``a in {...}``, ``a not in {...}``, ``a where ...``, ``a == 3``, ``3 <= a < 5``.

        The name of a boolean attribute alone means that it is true.
        """
        token, start = self.token, self.index
        plain = self.plain_membership()
        if plain is not None:
            attribute = self._look_up(token, plain[0])
            return self.at(self.tokens[start + 2], partial(attribute.isin, plain[1]))
        if self._is_number_next():
            return self._between()
        attribute = self.attribute()
        if self.token.text in COMPARISONS and self.token.kind == "sign":
            return self._comparison(attribute)
        keyword = self.accept("in", "where", "not")
        if keyword == "where":
            condition = read_condition(self, attribute.condition_names)
            return self.at(token, lambda: attribute.where(condition))
        if keyword != "in" and not (keyword and self.accept("in")):
            is_boolean = len(attribute.domain) == 2 and {*map(type, attribute.domain)} == {bool}
            if not keyword and is_boolean:
                return attribute.isin({True})
            sign, cure = self.token.text, ""
            if sign in ARITHMETIC:
                cure = f"; {_ONE_ATTRIBUTE} = {attribute.name} {sign} ..."
            self.fail(f"expected 'in', 'where' or a comparison, found {sign!r:.60}{cure}")
        subset_token = self.token
        values = self.subset()
        proposition = self.at(subset_token, lambda: attribute.isin(values))
        return proposition.complement if keyword == "not" else proposition

    # --- numbers ---

    def _number(self) -> None:
        """Read ``age "age" unit "years" cuts {30, 65} [blur=2]``; all but the name is optional.

        Without names of intervals, the cuts of all comparisons in the text are added.
        """
        token, start = self.token, self.index
        attributes = self.names("a name")
        self.check_new(token, attributes)
        titles = self._titles(start, attributes)
        cuts = self._cuts() if self.accept("cuts") else []
        interval_names: Any = self.subset() if self.accept("named") else None
        blur = self._blur()
        for name, texts in zip(attributes, titles, strict=True):
            declare = partial(Attribute.number, name, names=interval_names, blur=blur, **texts)
            attribute = self.at(token, partial(declare, cuts))
            assert attribute.scale is not None
            if interval_names is None:
                compared = self.compared_cuts.setdefault(name, set())
                all_cuts = sorted({*attribute.scale.cuts, *compared})
                if len(all_cuts) > len(attribute.scale.cuts):
                    attribute = self.at(token, partial(declare, all_cuts))
            self.attributes[name] = attribute

    def _cuts(self) -> Iterable[Any]:
        """Read ``{30, <= 65}``, or any set of numbers."""
        start, source = self.index, self.source
        end = source.closing_bracket(start) if self.is_sign("{") else start
        if not any(source.is_sign(i, *_MIRRORED) for i in range(start, end)):
            return self.subset()
        self.expect("{")

        def cut() -> Any:
            sign, token = self.accept(*_MIRRORED), self.token
            number = self.value()
            return self.at(token, partial(cut_of, sign, number, "cuts")) if sign else number

        return self.listing("}", cut)

    def _blur(self) -> float:
        """Read the optional ``[blur=2]``."""
        if not self.accept("["):
            return 0.0
        if not self.accept("blur"):
            self.fail_expected("blur=")
        self.expect("=")
        token = self.token
        blur = self.at(token, partial(check_number, self.value(), "blur"))
        self.expect("]")
        return blur

    def _is_number_next(self) -> bool:
        """Return whether a number comes next, or a variable whose value is a number."""
        token = self.token
        if token.text in self.scope or token.text in self.constants:
            return is_number(self.variable(token)[1])
        return token.kind == "number" or token.text == "-"

    def _between(self) -> Proposition:
        """Read ``3 <= a`` or ``3 <= a < 5``."""
        token, start = self.token, self.index
        value = self.value()
        sign = self.accept(*COMPARISONS)
        if token.kind == "word" and self.token.kind not in ("word", "name"):
            self.seek(start)  # a variable where a name should be
            self.attribute()
        if not sign:
            self.fail_expected("a comparison")
        attribute = self.attribute()
        first = self._comparison_proposition(token, attribute, _MIRRORED.get(sign, sign), value)
        if not self.is_sign(*_MIRRORED):
            return first
        second = self._comparison(attribute)
        if first.attribute != second.attribute:  # which lack cuts, so the text is read again
            return second
        return Proposition(first.attribute, first.mask & second.mask)

    def _comparison(self, attribute: Attribute) -> Proposition:
        """Read ``== 3`` or ``< 5`` after an attribute: the subset of its values."""
        sign = self.take().text
        token = self.token
        value = self.value()
        if value in self.attributes and value not in attribute.domain:
            comparison = f"{attribute.name} {sign} {value}"
            self.fail(f"{value!r} is an attribute; {_ONE_ATTRIBUTE} = {comparison}", token)
        return self._comparison_proposition(token, attribute, sign, value)

    def _comparison_proposition(
        self, token: Token, attribute: Attribute, sign: str, value: Any
    ) -> Proposition:
        """Return the proposition of a comparison; record missing cuts."""
        scale = attribute.scale
        if sign in ("==", "!=") and (scale is None or not is_number(value)):
            proposition = self.at(token, lambda: attribute.isin([value]))
            return proposition if sign == "==" else proposition.complement
        if scale is not None and attribute.name in self.compared_cuts:
            name = f"attribute {attribute.name!r}"
            cuts = self.at(token, partial(needed_cuts, sign, value, name))
            if not all(map(scale.has_cut, cuts)):
                self.compared_cuts[attribute.name] |= cuts
                self.lacks_cuts = True
                attribute = Attribute.number(attribute.name, sorted(cuts))
        return self.at(token, lambda: attribute.compared(sign, value))

    # --- functions of attributes ---

    def _joint(self) -> None:
        """Read ``pair = left * right``: a product attribute and its pairing rules."""
        start = self.tokens[self.index - 1]
        token, name, texts = self.new_name()
        self.expect("=")
        factors = self.factors()
        pairing = self.at(token, partial(joint, name, *factors))
        self._add(start, Cascade(pairing), name, texts)
        self.joints[frozenset(f.name for f in factors)] = self.attributes[name]

    def _function(self) -> None:
        """Read ``total = left + right`` or ``total in {0..18} = sum(digit[i] for i in 1..4)``."""
        start = self.tokens[self.index - 1]
        token, name, texts = self.new_name()
        domain = self.subset() if self.accept("in") else None
        self.expect("=")
        if self.token.text in _AGGREGATES and self.peek() == "(":
            cascade = self._aggregate(name, domain)
        else:
            cascade = self._expression(token, name, domain)
        self._add(start, cascade, name, texts)

    def _add(self, token: Token, cascade: Cascade, output: str, texts: dict[str, str]) -> None:
        """Add the attributes and rules of a function; its output gets a title and a unit."""
        for name, attribute in cascade.attributes.items():
            if self.attributes.setdefault(name, attribute) != attribute:
                self.fail(f"attribute {name!r} is declared before, in another way", token)
        for name, rule_set in cascade.sets.items():
            if name in self.rules:
                self.fail(f"there are other rules that conclude on {name!r}", token)
            self.rules[name] = list(rule_set.rules)
        if texts:
            attribute = self.attributes[output].with_title(**texts)
            self.attributes[output] = attribute
            self.rules[output] = [
                replace(rule, conclusion=replace(rule.conclusion, attribute=attribute))
                for rule in self.rules[output]
            ]

    def _expression(self, token: Token, name: str, domain: Sequence[Hashable] | None) -> Cascade:
        """Read ``left + right``."""
        grammar = ExpressionReader(self, self.attributes)
        attributes = list(dict.fromkeys(grammar.disjunction().names()))
        text, _pattern = grammar.texts()
        if not attributes:
            self.fail(f"the function {name!r} uses no attribute: it is always the same", token)
        of = self.joints.get(frozenset(a.name for a in attributes), attributes)
        try:
            return function(name, of, text, domain)
        except PinesyError as error:
            cure = ""
            for numeric in [a.name for a in attributes if a.scale is not None][:1]:
                cure = f"; {numeric!r} is numeric: write rules, such as iff {numeric} < 30 ..."
            self.fail(f"{error}{cure}", token)

    def _aggregate(self, name: str, domain: Sequence[Hashable] | None) -> Cascade:
        """Read ``count(digit[i] == 7 for i in 1..4)`` or ``sum(left, right) % 10``."""
        token = self.take()
        if domain is not None:
            self.fail(f"{token.text} has a domain of its own; leave it out after {name!r}", token)
        terms = self.items(self.proposition if token.text == "count" else self._term)
        options: dict[str, Any] = {}
        if token.text == "sum" and self.accept("%"):
            options["modulo"] = self.value()
        if self.is_sign(*COMPARISONS, *ARITHMETIC):
            self.fail(
                f"{token.text}(...) is the whole function; compute with {name!r} in another one"
            )
        return self.at(token, lambda: _AGGREGATES[token.text](name, terms, **options))

    def _term(self) -> Any:
        """Read an attribute or, for a parity, a proposition."""
        start = self.index
        attribute = self.attribute()
        after = self.token.text
        if after in (",", ")", "for"):
            return attribute
        if after in ARITHMETIC:
            self.fail("expected ',' or ')': these are attributes; name others by a function")
        self.seek(start)
        return self.proposition()
