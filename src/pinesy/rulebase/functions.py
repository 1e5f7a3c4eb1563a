"""Attributes that are functions of others, in Python and in ``.rules`` text.

There ``joint pair = left * right`` and ``function total = left + right`` make them.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from pinesy._common.validation import listed
from pinesy.exceptions import DomainError, PinesyError
from pinesy.rulebase.aggregates import all_different, max_of, min_of, sum_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.counting import count_of, parity_of
from pinesy.rulebase.expression_rules import TRUTHS, ExpressionRules, value_condition
from pinesy.rulebase.function_steps import FunctionSteps, distinct_attributes, joint
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.conditions import parse_condition
from pinesy.rules.syntax.expression_grammar import ExpressionGrammar
from pinesy.rules.syntax.expressions import ARITHMETIC, COMPARISONS, Expression, evaluator
from pinesy.rules.syntax.lexer import Token

if TYPE_CHECKING:
    from pinesy.rulebase.rule_reader import RuleReader

#: Values of a product on which an expression is tried as a whole if a part of it fails.
MAX_TRIED = 100_000
#: The functions of many attributes that a text knows.
_AGGREGATES: dict[str, Callable[..., Cascade]] = {
    "all_different": all_different,
    "count": count_of,
    "max": max_of,
    "min": min_of,
    "parity": parity_of,
    "sum": sum_of,
}


def function(
    name: str,
    of: Attribute | Sequence[Attribute] | RuleSet | Cascade,
    fn: Callable[..., Any] | str,
    domain: Iterable[Hashable] | None = None,
) -> Cascade:
    """Return the rules of an attribute that is a function of others.

    Its distribution is ``pi(t) = max {min_i pi_i(u_i) : fn(u_1, ..., u_k) = t}``, exactly.

    Parameters
    ----------
    name : the name of the new attribute
    of : what it is a function of: an attribute, a list of attributes, or rules with one output
        (which become part of the result); a product attribute stands for its factors
    fn : a Python function of the values, or a text in the language of conditions, such as
        ``"left + right"``, over the attributes' names
    domain : the values of the new attribute; by default the results, sorted if they can be

    Examples
    --------
    >>> from pinesy import Attribute, function, joint
    >>> left, right = Attribute("left", range(10)), Attribute("right", range(10))
    >>> addition = function("total", joint("pair", left, right), "left + right")
    >>> addition
    Cascade(2 rule sets, 39 rules: left, right -> total)
    >>> addition["total"].rules[7].premise
    pair where left + right == 7
    >>> addition.infer({"left": {3: 1, 8: 0.4}, "right": {4: 1}})["total"].possibility({12})
    0.4
    """
    if not isinstance(name, str):
        raise DomainError(f"the name of a function's attribute is a text; got {name!r:.60}")
    attributes, given = _arguments(of)
    steps = FunctionSteps(given)
    if callable(fn):
        steps.apply(name, attributes, fn, domain=domain)
    elif isinstance(fn, str):
        values = None if domain is None else Attribute(name, domain).domain
        _add_expression(steps, name, attributes, fn, values)
    else:
        raise DomainError(f"the function {name!r} is {fn!r:.60}; give a Python function or a text")
    return Cascade(*steps.rule_sets, attributes=attributes)


def _add_expression(
    steps: FunctionSteps,
    name: str,
    attributes: Sequence[Attribute],
    text: str,
    domain: Sequence[Hashable] | None,
) -> None:
    """Add the rules of an expression; with a product attribute there is nothing to split."""
    pair = attributes[0] if len(attributes) == 1 and attributes[0].factors else None
    names = pair.condition_names if pair else tuple(a.name for a in attributes)
    node = parse_condition(text, names).expression
    if not list(node.names()):
        raise DomainError(f"the function {name!r} is '{text:.60}', which uses no attribute")
    if domain is None and node.kind in TRUTHS:
        domain = (False, True)
    if pair is None and _added_by_parts(steps, name, attributes, node, domain):
        return
    compute = evaluator(node)
    steps.apply(
        name,
        attributes,
        lambda *values: compute((*values, values)),
        lambda value: value_condition(node, names, value),
        domain,
    )


def _added_by_parts(
    steps: FunctionSteps,
    name: str,
    attributes: Sequence[Attribute],
    node: Expression,
    domain: Sequence[Hashable] | None,
) -> bool:
    """Add the rules of an expression part by part, and tell whether that could be done.

    A part may fail where `and` and `or` would not have come to it; then, and to name the
    attributes' own values if it really fails, the whole is tried on their product, if it is small.
    """
    parts = ExpressionRules(name, attributes)
    try:
        parts.add_all(node, domain)
    except DomainError:
        if prod(len(a.domain) for a in attributes) > MAX_TRIED:
            raise
        return False
    steps.rule_sets += parts.steps.rule_sets
    return True


def _arguments(of: Any) -> tuple[list[Attribute], tuple[RuleSet, ...]]:
    """Return the attributes that a function is of, and the rules that come with them."""
    if isinstance(of, RuleSet | Cascade):
        rules = as_cascade(of)
        if len(rules.outputs) != 1:
            outputs = listed([a.name for a in rules.outputs])
            raise DomainError(
                f"a function is of rules with one output; these have {outputs}: give the list of "
                "attributes, and put the rules beside the function's in one Cascade"
            )
        return list(rules.outputs), rules.rule_sets
    return distinct_attributes([of] if isinstance(of, Attribute) else of, "a function"), ()


# --- in text ---


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
    grammar = ExpressionGrammar(reader, reader.attributes)
    attributes = list(dict.fromkeys(grammar.either().names()))
    text, _pattern = grammar.texts()
    if not attributes:
        reader.fail(f"the function {name!r} uses no attribute: it is always the same", token)
    of = reader.joints.get(frozenset(a.name for a in attributes), attributes)
    try:
        return function(name, of, text, domain)
    except PinesyError as error:
        numeric = [a.name for a in attributes if a.scale is not None]
        cure = (f"; {one!r} is numeric: write rules, such as iff {one} < 30 ..." for one in numeric)
        reader.fail(f"{error}{next(cure, '')}", token)


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
