"""Reads ``joint pair = left * right`` and ``function total = left + right`` of ``.rules`` text."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pinesy.exceptions import PinesyError
from pinesy.rulebase.aggregates import all_different, max_of, min_of, sum_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.counting import count_of, parity_of
from pinesy.rulebase.function_steps import joint
from pinesy.rulebase.functions import function
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.expression_grammar import ExpressionGrammar
from pinesy.rules.syntax.expressions import ARITHMETIC, COMPARISONS
from pinesy.rules.syntax.lexer import Token

if TYPE_CHECKING:
    from pinesy.rulebase.rule_reader import RuleReader

_AGGREGATES: dict[str, Callable[..., Cascade]] = {
    "all_different": all_different,
    "count": count_of,
    "max": max_of,
    "min": min_of,
    "parity": parity_of,
    "sum": sum_of,
}


def read_joint(reader: "RuleReader") -> None:
    """Read ``pair = left * right``: a product attribute and its pairing rules."""
    start = reader.tokens[reader.position - 1]
    token, name = reader.new_name()
    reader.expect("=")
    factors = reader.factors()
    pairing = reader.at(token, partial(joint, name, *factors))
    reader.joints[frozenset(f.name for f in factors)] = pairing.output
    _add(reader, start, Cascade(pairing))


def _add(reader: "RuleReader", token: Token, cascade: Cascade) -> None:
    """Add the attributes and rules of a function."""
    for name, attribute in cascade.attributes.items():
        if reader.attributes.setdefault(name, attribute) != attribute:
            reader.fail(f"attribute {name!r} is declared before, in another way", token)
    for name, rule_set in cascade.sets.items():
        if name in reader.rules:
            reader.fail(f"there are other rules that conclude on {name!r}", token)
        reader.rules[name] = list(rule_set.rules)


def read_function(reader: "RuleReader") -> None:
    """Read ``total = left + right`` or ``total in {0..18} = sum(digit[i] for i in 1..4)``."""
    start = reader.tokens[reader.position - 1]
    token, name = reader.new_name()
    domain = reader.subset() if reader.accept("in") else None
    reader.expect("=")
    is_aggregate = reader.token.text in _AGGREGATES and reader.ahead() == "("
    read = _aggregate if is_aggregate else _expression
    _add(reader, start, read(reader, token, name, domain))


def _expression(
    reader: "RuleReader", token: Token, name: str, domain: Sequence[Hashable] | None
) -> Cascade:
    names = _Numbered(reader.attributes)
    grammar = ExpressionGrammar(reader, names)
    grammar.either()
    text, _pattern = grammar.texts()
    if not names.used:
        reader.fail(f"the function {name!r} uses no attribute: it is always the same", token)
    attributes = [reader.attributes[used] for used in names.used]
    of = reader.joints.get(frozenset(names.used), attributes)
    try:
        return function(name, of, text, domain)
    except PinesyError as error:
        numeric = [a.name for a in attributes if a.scale is not None]
        cure = (f"; {one!r} is numeric: write rules, such as iff {one} < 30 ..." for one in numeric)
        reader.fail(f"{error}{next(cure, '')}", token)


class _Numbered(Mapping[str, int]):
    """Numbers attributes in the order in which an expression uses them."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self._attributes = attributes
        self.used: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._attributes

    def __getitem__(self, name: str) -> int:
        return self.used.setdefault(name, len(self.used))

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)


def _aggregate(
    reader: "RuleReader", _token: Token, name: str, domain: Sequence[Hashable] | None
) -> Cascade:
    """Read ``count(digit[i] == 7 for i in 1..4)`` or ``sum(left, right) % 10``."""
    token = reader.take()
    if domain is not None:
        reader.fail(f"{token.text} has a domain of its own; leave it out after {name!r}", token)
    is_count = token.text == "count"
    items = reader.items(reader.proposition if is_count else partial(_term, reader))
    more: dict[str, Any] = {}
    if token.text == "sum" and reader.accept("%"):
        more["modulo"] = reader.value()
    if reader.is_sign(*COMPARISONS, *ARITHMETIC):
        reader.fail(f"{token.text}(...) stands alone; compute with {name!r} in another function")
    return reader.at(token, lambda: _AGGREGATES[token.text](name, items, **more))


def _term(reader: "RuleReader") -> Any:
    """Read an attribute or, for a parity, a proposition."""
    start = reader.position
    attribute = reader.attribute()
    after = reader.token.text
    if after in (",", ")", "for"):
        return attribute
    if after in ARITHMETIC:
        reader.fail("expected ',' or ')': these are attributes; name others by a function")
    reader.seek(start)
    return reader.proposition()
