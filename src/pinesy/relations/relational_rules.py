"""`RelationalRules`: rules with variables, on relations between entities."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pinesy._common.validation import as_list, cut_repr
from pinesy.exceptions import PinesyError, RuleSetError
from pinesy.relations.literals import atom_text
from pinesy.relations.relational_rule import (
    EntityAttribute,
    GuardedFunction,
    Relation,
    RelationalRule,
)
from pinesy.relations.rule_checks import (
    Declaration,
    RelationalRuleError,
    Stratum,
    check_declarations,
    check_function,
    check_rule,
    find_strata,
)
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import function
from pinesy.rules.attributes import Attribute

if TYPE_CHECKING:
    from pinesy.relations.graph import Graph
    from pinesy.relations.grounding import GroundCascade
    from pinesy.relations.known_graph import KnownGraph


class RelationalRules:
    """Rules on relations between entities, with variables, recursion and negation.

    Parameters
    ----------
    declarations : relations and attributes of entities; relations that a rule concludes on need
        not be declared: they are open, and their sorts follow from the variables
    rules : `RelationalRule` objects
    functions : `GuardedFunction` objects

    Attributes
    ----------
    declarations, rules, functions : as given, in tuples
    relations : every relation and attribute by name, also those that were not declared
    strata : the relations in the order of evaluation

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     relation parent(person, person)
    ...     if parent(X, Y) and parent(Y, Z) then grandparent(X, Z)
    ... ''')
    >>> rules
    RelationalRules(1 rules: parent -> grandparent)
    >>> rules.infer({"parent": [("ann", "bob"), ("bob", "cleo")]}).ask("grandparent(ann, Z)")
    Z     certain  possible
    cleo  1        1
    """

    def __init__(
        self,
        declarations: Iterable[Declaration],
        rules: Iterable[RelationalRule] = (),
        functions: Iterable[GuardedFunction] = (),
    ) -> None:
        self.declarations: tuple[Declaration, ...] = tuple(as_list(declarations, "declarations"))
        self.rules: tuple[RelationalRule, ...] = tuple(as_list(rules, "rules"))
        self.functions: tuple[GuardedFunction, ...] = tuple(as_list(functions, "functions"))
        kinds = (
            (self.declarations, (Relation, EntityAttribute)),
            (self.rules, (RelationalRule,)),
            (self.functions, (GuardedFunction,)),
        )
        for parts, types in kinds:
            for part in parts:
                if not isinstance(part, types):
                    names = " or ".join(t.__name__ for t in types)
                    raise RuleSetError(f"expected a {names}; got {cut_repr(part)}")
        #: The rules of each function, as a cascade over its arguments.
        self.function_rules: Mapping[str, Cascade] = self._compile_functions()
        domains = {n: c.attributes[n].domain for n, c in self.function_rules.items()}
        known = check_declarations(self.declarations, self.rules, self.functions, domains)
        self.relations: Mapping[str, Declaration] = MappingProxyType(known)
        for part in self.functions:
            check_function(part, known)
        for rule in self.rules:
            check_rule(rule, known)
        self.strata: list[Stratum] = find_strata(known, self.rules, self.functions)

    def _compile_functions(self) -> dict[str, Cascade]:
        domains = {d.name: d.domain for d in self.declarations if isinstance(d, EntityAttribute)}
        compiled = {}
        for part in self.functions:
            compiled[part.name] = function_rules(part, domains)
            domains[part.name] = compiled[part.name].attributes[part.name].domain
        return compiled

    @classmethod
    def parse(cls, text: str, directory: str | Path | None = None) -> "RelationalRules":
        """Return the rules of a text; `pinesy.parse` gives the same."""
        from pinesy.relations.relational_text import parse_relational

        return parse_relational(text, directory)

    @cached_property
    def closed(self) -> frozenset[str]:
        """The relations that are closed: declared so, or defined by an ``iff``."""
        declared = {n for n, d in self.relations.items() if isinstance(d, Relation) and d.closed}
        return frozenset(declared | {rule.head.name for rule in self.rules if rule.is_definition})

    @cached_property
    def derived(self) -> frozenset[str]:
        """The relations and attributes that rules or functions conclude on."""
        return frozenset([r.head.name for r in self.rules] + [f.name for f in self.functions])

    def infer(self, graph: "Graph | Mapping[str, Any]") -> "KnownGraph":
        """Return what follows from the facts of a graph: a graph of facts and conclusions.

        Relations are evaluated when they are first used.

        Parameters
        ----------
        graph : a `Graph`, or a dict from relations to facts in any form that `Graph.add` takes
        """
        from pinesy.relations.graph import Graph
        from pinesy.relations.known_graph import KnownGraph

        return KnownGraph(self, graph if isinstance(graph, Graph) else Graph(graph))

    def ground(self, graph: "Graph | Mapping[str, Any] | KnownGraph", atom: str) -> "GroundCascade":
        """Return the propositional rules that an atom depends on, with the graph's evidence.

        For everything that cascades can do: posteriors, margins, pages, the studio.

        Examples
        --------
        >>> from pinesy import parse
        >>> rules = parse("relation p(t) if p(X) then q(X) [certainty=0.9]")
        >>> cascade = rules.ground({"p": [("a", 0.8)]}, "q(a)")
        >>> cascade.infer(cascade.evidence)["q(a)"]
        Possibility(q(a), {true: 1, false: 0.2})
        """
        from pinesy.relations.grounding import Grounding
        from pinesy.relations.known_graph import KnownGraph

        known = graph if isinstance(graph, KnownGraph) else self.infer(graph)
        return Grounding(known, known._ground_literal(atom)).cascade()

    def __str__(self) -> str:
        lines = [*map(str, self.declarations), ""]
        lines += [*map(str, self.functions), *map(str, self.rules)]
        return "\n".join(lines).strip() + "\n"

    def __repr__(self) -> str:
        names = [n for n in self.relations if n not in self.derived]
        heads = [n for n in self.relations if n in self.derived]
        return f"RelationalRules({len(self.rules)} rules: {_some(names)} -> {_some(heads)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RelationalRules):
            return NotImplemented
        return (self.declarations, self.rules, self.functions) == (
            other.declarations,
            other.rules,
            other.functions,
        )

    def __hash__(self) -> int:
        return hash((self.declarations, self.rules))


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def function_rules(part: GuardedFunction, domains: Mapping[str, tuple[Any, ...]]) -> Cascade:
    """Return the cascade of a function over its arguments, which are named like ``digit(X)``."""
    arguments = []
    for argument in part.arguments:
        if argument.name not in domains:
            raise RelationalRuleError(
                f"{argument.name!r} is no attribute that is declared before", part, argument
            )
        name = atom_text(argument.name, argument.terms)
        arguments.append(Attribute(name, domains[argument.name]))
    if not arguments:
        raise RelationalRuleError(f"the function {part.name!r} uses no attribute", part)
    try:
        return function(part.name, arguments, part.text, part.domain)
    except RelationalRuleError:
        raise
    except PinesyError as error:
        raise RelationalRuleError(str(error), part) from None
