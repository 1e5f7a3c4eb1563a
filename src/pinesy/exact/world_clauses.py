"""The worlds of rule sets as clauses for a SAT solver: variables of values, levels of clauses."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import chain, count

from pinesy._common.console import check_stop
from pinesy._common.masks import positions
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.exact.clauses import exactly_one
from pinesy.exact.rule_clauses import SubsetClause, folded_clauses, rule_clauses, subset_classes
from pinesy.rules.attributes import Attribute


class AttributeLiterals:
    """The literals of an attribute: one for each class of values that clauses distinguish.

    Attributes
    ----------
    classes : the masks of the classes
    of : the class of each value
    members : the indices of the values of each class
    literals : of each class; of a single class there is none, of two one is the negation of the
        other
    """

    def __init__(self, attribute: Attribute, classes: Sequence[int], fresh: Iterable[int]) -> None:
        self.attribute, self.classes = attribute, list(classes)
        self.members = [positions(mask) for mask in self.classes]
        self.of = [0] * len(attribute.domain)
        for index, values in enumerate(self.members):
            for value in values:
                self.of[value] = index
        numbers = iter(fresh)
        n = len(self.classes)
        if n == 2:
            variable = next(numbers)
            self.literals = [variable, -variable]
        else:
            self.literals = [next(numbers) for _ in range(n)] if n > 2 else []
        self.clauses = list(exactly_one(self.literals, numbers)) if n > 2 else []

    def disjunction(self, mask: int) -> list[int] | None:
        """Return literals one of which holds iff the value is in a subset; None if it always is."""
        inside = [index for index, part in enumerate(self.classes) if part & mask]
        if len(inside) == len(self.classes):
            return None
        if len(inside) == len(self.classes) - 1:
            [outside] = set(range(len(self.classes))).difference(inside)
            return [-self.literals[outside]] if self.literals else []
        return [self.literals[index] for index in inside]


class WorldClauses:
    """The clauses of rule sets, and the literals of their attributes.

    Worlds of a degree of at least `t` in the rules are the models of the clauses of a level below
    `t`. Inner attributes have a literal for each class of values that later rules distinguish; if
    that is fewer than their own rules distinguish, they are folded (`folded_clauses`).

    Parameters
    ----------
    units : the rule sets, in topological order
    single : the names of attributes that need a literal for each value
    outputs : the names of attributes that need a literal for each class of their own rules

    Attributes
    ----------
    literals : by the name of an attribute
    clauses : lists of literals, and the level of each
    n_variables : the number of variables
    """

    def __init__(
        self, units: Sequence[RuleUnit], single: Collection[str] = (), outputs: Collection[str] = ()
    ) -> None:
        units_by_output = {unit.output.name: unit for unit in units}
        attributes = {a.name: a for unit in units for a in (*unit.inputs, unit.output)}
        premise_masks: dict[str, dict[int, None]] = {name: {} for name in attributes}
        for unit in units:
            for rule in unit.rules:
                for name, mask in rule.premise.masks.items():
                    premise_masks[name][mask] = None
        self._tables: dict[Hashable, list[SubsetClause] | None] = {}
        folded: dict[str, list[SubsetClause]] = {}
        fresh = count(1)
        self.literals: dict[str, AttributeLiterals] = {}
        for name, attribute in attributes.items():
            check_stop()
            size, unit_of = len(attribute.domain), units_by_output.get(name)
            classes = subset_classes(size, list(premise_masks[name]))
            if name in single:
                classes = [1 << value for value in range(size)]
            elif unit_of is not None:
                conclusions = [rule.conclusion.mask for rule in unit_of.rules]
                finer = subset_classes(size, [*premise_masks[name], *conclusions])
                is_coarser = name not in outputs and len(classes) < len(finer)
                table = self._fold(unit_of, classes) if is_coarser else None
                if table is None:
                    classes = finer
                else:
                    folded[name] = table
            self.literals[name] = AttributeLiterals(attribute, classes, fresh)
        self.clauses: list[tuple[list[int], float]] = [
            (clause, 0.0) for literals in self.literals.values() for clause in literals.clauses
        ]
        for name, unit in units_by_output.items():
            check_stop()
            self._add(unit, folded[name] if name in folded else rule_clauses(unit))
        self.n_variables = next(fresh) - 1

    def _fold(self, unit: RuleUnit, classes: Sequence[int]) -> list[SubsetClause] | None:
        """Return the clauses of a folded set; most sets of a large rule base share them."""
        parameters = tuple((rule.s, rule.r) for rule in unit.rules)
        key = (unit.structure(set()), parameters, tuple(classes))
        if key not in self._tables:
            self._tables[key] = folded_clauses(unit, classes)
        return self._tables[key]

    def _add(self, unit: RuleUnit, clauses: Iterable[SubsetClause]) -> None:
        """Add the clauses of a rule set, without those that always hold."""
        parts = [self.literals[a.name] for a in (unit.output, *unit.inputs)]
        for clause in clauses:
            disjunctions = [parts[index].disjunction(mask) for index, mask in clause.subsets]
            known = [literals for literals in disjunctions if literals is not None]
            if len(known) == len(disjunctions):
                self.clauses.append((list(dict.fromkeys(chain(*known))), clause.level))
