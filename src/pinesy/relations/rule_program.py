"""Relations, rules and functions that fit together: what `RelationalRules` infers with."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

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


class RuleProgram:
    """Relations, rules and functions, checked; `RelationalRules` infers with them.

    Attributes
    ----------
    declarations, rules, functions : as given, in tuples
    relations : every relation and attribute by name, also those that were not declared
    strata : the relations in the order of evaluation
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

    @cached_property
    def closed(self) -> frozenset[str]:
        """The relations that are closed: declared so, or defined by an ``iff``."""
        declared = {n for n, d in self.relations.items() if isinstance(d, Relation) and d.closed}
        return frozenset(declared | {rule.head.name for rule in self.rules if rule.is_definition})

    @cached_property
    def derived(self) -> frozenset[str]:
        """The relations and attributes that rules or functions conclude on."""
        return frozenset([r.head.name for r in self.rules] + [f.name for f in self.functions])

    def __str__(self) -> str:
        lines = [*map(str, self.declarations), ""]
        lines += [*map(str, self.functions), *map(str, self.rules)]
        return "\n".join(lines).strip() + "\n"

    def __repr__(self) -> str:
        names = [n for n in self.relations if n not in self.derived]
        heads = [n for n in self.relations if n in self.derived]
        return f"{type(self).__name__}({len(self.rules)} rules: {_some(names)} -> {_some(heads)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleProgram):
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
