"""Reads ``joint pair = left * right`` and ``function total = left + right`` of ``.rules`` text."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from pinesy.exceptions import PinesyError
from pinesy.rulebase.aggregates import all_different, max_of, min_of, sum_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.counting import count_of, parity_of
from pinesy.rulebase.function_steps import joint
from pinesy.rulebase.functions import function
from pinesy.rulebase.rule_reader import ARITHMETIC, RuleReader
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.value_sets import Grammar, read_items, read_name, read_subset, read_value

_AGGREGATES: dict[str, Callable[..., Cascade]] = {
    "all_different": all_different,
    "count": count_of,
    "max": max_of,
    "min": min_of,
    "parity": parity_of,
    "sum": sum_of,
}


def read_joint(known: RuleReader) -> Cascade:
    """Read ``pair = left * right``: a product attribute and its pairing rules."""
    reader = known.reader
    token = reader.token
    name = read_name(reader, "a name")
    known.check_new(token, [name])
    reader.expect("=")
    factors = known.factors()
    pairing = known.at(token, lambda: joint(name, *factors))
    known.joints[frozenset(f.name for f in factors)] = pairing.output
    return Cascade(pairing)


def read_function(known: RuleReader) -> Cascade:
    """Read ``total = left + right`` or ``total in {0..18} = sum(digit[i] for i in 1..4)``."""
    reader = known.reader
    token = reader.token
    name = read_name(reader, "a name")
    known.check_new(token, [name])
    domain = read_subset(reader) if reader.accept("in") else None
    reader.expect("=")
    if reader.token.text in _AGGREGATES and reader.ahead() == "(":
        return _aggregate(known, name, domain)
    names = _Numbered(known.attributes)
    grammar = Grammar(reader, names)
    grammar.either()
    text, _pattern = grammar.texts()
    if not names.used:
        reader.fail(f"the function {name!r} uses no attribute: it is always the same", token)
    attributes = [known.attributes[used] for used in names.used]
    of = known.joints.get(frozenset(names.used), attributes)
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


def _aggregate(known: RuleReader, name: str, domain: Sequence[Hashable] | None) -> Cascade:
    """Read ``count(digit[i] == 7 for i in 1..4)`` or ``sum(left, right) % 10``."""
    reader = known.reader
    token = reader.take()
    if domain is not None:
        reader.fail(f"{token.text} has a domain of its own; leave it out after {name!r}", token)

    def item() -> Any:
        return known.proposition() if token.text == "count" else _term(known)

    items = read_items(reader, item)
    more: dict[str, Any] = {}
    if token.text == "sum" and reader.accept("%"):
        more["modulo"] = read_value(reader)
    if reader.token.kind == "sign" and reader.token.text in (*COMPARISONS, *ARITHMETIC):
        reader.fail(f"{token.text}(...) stands alone; compute with {name!r} in another function")
    return known.at(token, lambda: _AGGREGATES[token.text](name, items, **more))


def _term(known: RuleReader) -> Any:
    """Read an attribute or, for a parity, a proposition."""
    start = known.reader.position
    attribute = known.attribute()
    after = known.reader.token.text
    if after in (",", ")", "for"):
        return attribute
    if after in ARITHMETIC:
        known.reader.fail("expected ',' or ')': these are attributes; name others by a function")
    known.reader.seek(start)
    return known.proposition()
