"""Checks of relational rules: arity, sorts, safe variables, one ``iff`` a relation, strata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pinesy._common.validation import listed, suggestion
from pinesy.exceptions import RuleSetError
from pinesy.relations.literals import (
    Case,
    CountPremise,
    Part,
    RelationLiteral,
    TermComparison,
    Variable,
    literals_of,
)
from pinesy.relations.relational_rule import (
    EntityAttribute,
    GuardedFunction,
    Relation,
    RelationalRule,
)
from pinesy.relations.strata import find_cycle, strongly_connected

Declaration = Relation | EntityAttribute
#: The sort of an argument of which nothing is known.
ANY_SORT = "entity"


class RelationalRuleError(RuleSetError):
    """A relational rule that means nothing.

    Attributes
    ----------
    rule : the rule or function, or None
    literal : the part of it that is wrong, or None
    """

    def __init__(self, message: str, rule: object = None, literal: object = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.literal = literal


@dataclass(frozen=True)
class Stratum:
    """Relations that depend on each other; evaluated together.

    Attributes
    ----------
    names : the relations and attributes
    closed : whether they are closed
    recursive : whether one depends on itself
    """

    names: tuple[str, ...]
    closed: bool
    recursive: bool


def check_declarations(
    declarations: Sequence[Declaration],
    rules: Sequence[RelationalRule],
    functions: Sequence[GuardedFunction],
    domains: Mapping[str, tuple[object, ...]],
) -> dict[str, Declaration]:
    """Return all relations and attributes by name, those that only rules conclude on too.

    Parameters
    ----------
    domains : the values of each function, by name
    """
    known: dict[str, Declaration] = {d.name: d for d in declarations}
    if len(known) < len(declarations):
        raise RelationalRuleError("a relation is declared twice")
    implied: dict[str, RelationLiteral] = {}
    for rule in rules:
        if rule.head.name not in known:
            if rule.head.values is not None:
                _fail_unknown(rule.head, rule, known, "attribute")
            implied.setdefault(rule.head.name, rule.head)
    for function in functions:
        if function.name in known or function.name in implied:
            raise RelationalRuleError(f"{function.name!r} is declared before this", function)
        implied[function.name] = RelationLiteral(function.name, function.variables)
    arities = {name: len(d.sorts) for name, d in known.items()}
    arities |= {name: len(literal.terms) for name, literal in implied.items()}
    attributes = {n for n, d in known.items() if isinstance(d, EntityAttribute)}
    attributes |= {function.name for function in functions}
    for owner, literal in _all_literals(rules, functions):
        _check_arity(owner, literal, arities)
        _check_kind(owner, literal, attributes)
    sorts = _infer_sorts(known, implied, rules, functions)
    for name in implied:
        if name in domains:
            known[name] = EntityAttribute(name, sorts[name], domains[name])
        else:
            known[name] = Relation(name, sorts[name])
    return known


def _check_arity(owner: object, literal: RelationLiteral, arities: Mapping[str, int]) -> None:
    if literal.name not in arities:
        _fail_unknown(literal, owner, arities, "relation")
    n = arities[literal.name]
    if len(literal.terms) != n:
        raise RelationalRuleError(
            f"{literal.name!r} takes {n} argument{'s' * (n != 1)}; got {len(literal.terms)}",
            owner,
            literal,
        )


def _check_kind(owner: object, literal: RelationLiteral, attributes: set[str]) -> None:
    """Raise for a relation that is compared, and an attribute that is not."""
    name = literal.name
    if (name in attributes) != (literal.values is not None):
        cure = f"{name!r} is a relation, which has no values"
        if name in attributes:
            cure = f"{name!r} is an attribute: compare its value, as in {name}(..) == v"
        raise RelationalRuleError(cure, owner, literal)


def _fail_unknown(
    literal: RelationLiteral, owner: object, known: Mapping[str, object], kind: str
) -> None:
    raise RelationalRuleError(
        f"{kind} {literal.name!r:.60} is not declared, and no rule concludes on it"
        f"{suggestion(literal.name[:60], known)}",
        owner,
        literal,
    )


def _all_literals(
    rules: Sequence[RelationalRule], functions: Sequence[GuardedFunction]
) -> Iterator[tuple[object, RelationLiteral]]:
    for rule in rules:
        yield rule, rule.head
        yield from ((rule, literal) for literal in literals_of(rule.parts()))
    for function in functions:
        yield from ((function, literal) for literal in literals_of(function.guard))


def _infer_sorts(
    known: Mapping[str, Declaration],
    implied: Mapping[str, RelationLiteral],
    rules: Sequence[RelationalRule],
    functions: Sequence[GuardedFunction],
) -> dict[str, tuple[str, ...]]:
    """Return the sorts of implied relations, from the variables that they share with others."""
    sorts: dict[str, list[str | None]] = {n: list(d.sorts) for n, d in known.items()}
    sorts |= {name: [None] * len(literal.terms) for name, literal in implied.items()}
    scopes: list[tuple[object, list[RelationLiteral]]] = [
        (rule, [rule.head, *literals_of(rule.parts())]) for rule in rules
    ]
    for function in functions:
        head = RelationLiteral(function.name, function.variables)
        scopes.append((function, [head, *literals_of(function.guard), *function.arguments]))
    changed = True
    while changed:
        changed = False
        for owner, literals in scopes:
            variables = _variable_sorts(owner, literals, sorts)
            for literal in literals:
                for index, term in enumerate(literal.terms):
                    unknown = sorts[literal.name][index] is None
                    if unknown and isinstance(term, Variable) and term in variables:
                        sorts[literal.name][index] = variables[term]
                        changed = True
    return {name: tuple(s or ANY_SORT for s in sorts[name]) for name in implied}


def _variable_sorts(
    owner: object, literals: Sequence[RelationLiteral], sorts: Mapping[str, Sequence[str | None]]
) -> dict[Variable, str]:
    """Return the sorts of the variables of a rule; raise for a variable of two."""
    variables: dict[Variable, tuple[str, RelationLiteral]] = {}
    for literal in literals:
        for term, sort in zip(literal.terms, sorts[literal.name], strict=True):
            if not isinstance(term, Variable) or sort is None:
                continue
            other, where = variables.setdefault(term, (sort, literal))
            if other != sort and ANY_SORT not in (other, sort):
                raise RelationalRuleError(
                    f"variable {term} is of sort {other!r} in {where} and {sort!r} in {literal}; "
                    "an entity has one sort: use one name for it",
                    owner,
                    literal,
                )
    return {variable: sort for variable, (sort, _) in variables.items()}


def check_rule(rule: RelationalRule, known: Mapping[str, Declaration]) -> None:
    """Raise `RelationalRuleError` for unsafe variables and conclusions that cannot be."""
    if rule.is_definition and (rule.head.negated or rule.head.values is not None):
        raise RelationalRuleError(
            "an 'iff' concludes on a relation, not on 'not ...' or on values; write 'if'",
            rule,
            rule.head,
        )
    for literal in [rule.head, *literals_of(rule.parts())]:
        if literal.values is not None:
            _check_values(rule, literal, known)
    for case in rule.cases:
        bound = check_safe(rule, case)
        unbound = [v.name for v in rule.head.variables() if v not in bound]
        if unbound:
            raise RelationalRuleError(
                f"variable {unbound[0]} of the conclusion is in no positive literal of the premise "
                f"'{' and '.join(map(str, case))}': every entity would be concluded on; add a "
                f"relation that {unbound[0]} is in",
                rule,
                rule.head,
            )


def _check_values(
    rule: RelationalRule, literal: RelationLiteral, known: Mapping[str, Declaration]
) -> None:
    attribute = known[literal.name]
    n = len(literal.values or ())
    size = len(attribute.domain) if isinstance(attribute, EntityAttribute) else None
    if n in (0, size):
        raise RelationalRuleError(
            f"'{literal}' {'always' if n else 'never'} holds: name some of the values",
            rule,
            literal,
        )


def check_safe(rule: object, case: Case) -> set[Variable]:
    """Return the variables that positive literals bind; raise if another is not among them."""
    bound: set[Variable] = set()
    for part in case:
        if isinstance(part, RelationLiteral) and (not part.negated or part.values is not None):
            bound |= {*part.variables()}
        if isinstance(part, CountPremise):
            bound |= _check_count(rule, case, part)
    for part in case:
        needed = [] if isinstance(part, CountPremise) else [*part.variables()]
        unbound = [v.name for v in needed if v not in bound]
        if unbound:
            is_literal = isinstance(part, RelationLiteral)
            raise RelationalRuleError(
                f"variable {unbound[0]} of '{part}' is in no positive literal"
                f"{' (a negation ranges over everything)' * is_literal}; add a relation that "
                f"{unbound[0]} is in",
                rule,
                part,
            )
    return bound


def _check_count(rule: object, case: Case, count: CountPremise) -> set[Variable]:
    """Return the free variables of a count: those that are used outside too."""
    bound = check_safe(rule, tuple(count.parts))
    if count.counted not in bound:
        raise RelationalRuleError(
            f"'{count}' counts {count.counted}, which is in no positive literal of it", rule, count
        )
    return free_variables(rule, case, count)


def free_variables(rule: object, case: Case, count: CountPremise) -> set[Variable]:
    """Return the variables of a count that the rest of the rule uses."""
    outside: set[Variable] = set()
    if isinstance(rule, RelationalRule):
        outside |= {*rule.head.variables()}
    outside |= {v for part in case if part is not count for v in part.variables()}
    if count.counted in outside:
        raise RelationalRuleError(
            f"variable {count.counted} is counted in '{count}' and used outside; rename one",
            rule,
            count,
        )
    return {*count.variables()} & outside


def find_strata(
    known: Mapping[str, Declaration],
    rules: Sequence[RelationalRule],
    functions: Sequence[GuardedFunction],
) -> list[Stratum]:
    """Return the strata in the order of evaluation; raise for cycles that have no meaning."""
    definitions: dict[str, RelationalRule] = {}
    for rule in rules:
        if rule.is_definition and definitions.setdefault(rule.head.name, rule) is not rule:
            raise RelationalRuleError(
                f"two 'iff' conclude on {rule.head.name!r}, and contradict each other where one "
                "premise holds and the other does not; write one 'iff' with 'or'",
                rule,
                rule.head,
            )
    closed = {n for n, d in known.items() if isinstance(d, Relation) and d.closed} | {*definitions}
    graph: dict[str, list[str]] = {name: [] for name in known}
    for rule in rules:
        graph[rule.head.name] += [literal.name for literal in literals_of(rule.parts())]
    for function in functions:
        graph[function.name] += [literal.name for literal in literals_of(function.guard)]
        graph[function.name] += [argument.name for argument in function.arguments]
    strata = []
    for component in strongly_connected(graph):
        members = {*component}
        recursive = len(component) > 1 or component[0] in graph[component[0]]
        is_closed = component[0] in closed
        if recursive:
            _check_cycle(members, closed, graph, rules, functions)
        strata.append(Stratum(tuple(component), is_closed, recursive))
    return strata


def _check_cycle(
    members: set[str],
    closed: set[str],
    graph: Mapping[str, list[str]],
    rules: Sequence[RelationalRule],
    functions: Sequence[GuardedFunction],
) -> None:
    """Raise for a cycle of open and closed relations, or through ``not``, a count or a function."""
    inner = {n: [m for m in graph[n] if m in members] for n in members}
    for function in functions:
        if function.name in members:
            cycle = find_cycle(inner, function.name, inner[function.name][0])
            raise RelationalRuleError(
                f"the function {function.name!r} depends on itself: {' -> '.join(cycle)}", function
            )
    is_mixed = bool(members & closed) and bool(members - closed)
    for rule in rules:
        if rule.head.name not in members:
            continue
        for part, literal in _literals_with_parts(rule):
            reason = _cycle_problem(rule, part, literal, closed, is_mixed)
            if literal.name in members and reason:
                cycle = find_cycle(inner, rule.head.name, literal.name)
                raise RelationalRuleError(
                    f"{reason}: {' -> '.join(cycle)}, by '{rule}'", rule, part
                )


def _cycle_problem(
    rule: RelationalRule, part: Part, literal: RelationLiteral, closed: set[str], is_mixed: bool
) -> str:
    """Return why a premise may not be in a cycle with the conclusion; an empty text if it may."""
    if isinstance(part, CountPremise):
        return "a count of what depends on the count has no meaning"
    if is_mixed:
        return "the cycle has open and closed relations; declare all of them closed, or none"
    if rule.head.name in closed and (literal.negated or rule.head.negated):
        return "a closed relation must be complete before 'not' looks at it"
    return ""


def _literals_with_parts(rule: RelationalRule) -> Iterator[tuple[Part, RelationLiteral]]:
    for part in rule.parts():
        for literal in literals_of([part]):
            yield part, literal


def check_function(function: GuardedFunction, known: Mapping[str, Declaration]) -> None:
    """Raise `RelationalRuleError` for a function whose guard does not bind its variables."""
    for part in function.guard:
        if not isinstance(part, RelationLiteral | TermComparison):
            raise RelationalRuleError("the guard of a function is a conjunction", function, part)
    bound = check_safe(function, function.guard)
    needed = [*function.variables, *(v for a in function.arguments for v in a.variables())]
    unbound = [v.name for v in needed if v not in bound]
    if unbound:
        raise RelationalRuleError(
            f"variable {unbound[0]} is in no relation after 'for': {listed(sorted({*unbound}))}",
            function,
        )
    for argument in function.arguments:
        if not isinstance(known.get(argument.name), EntityAttribute):
            raise RelationalRuleError(
                f"{argument.name!r} is no attribute of entities", function, argument
            )
