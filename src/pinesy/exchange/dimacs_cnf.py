"""Rules as clauses for SAT solvers and model counters, in the DIMACS format."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from pinesy.exact.clauses import exactly_one
from pinesy.exceptions import DataError, RuleSetError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, show_value
from pinesy.semantics.worlds import check_certain


@dataclass(frozen=True, eq=False, repr=False)
class DimacsCnf:
    """Clauses whose models are the worlds that certain rules allow; ``str`` gives the file.

    Attributes
    ----------
    variables : for each attribute, by name, and each of its values the variable of the statement
        that the attribute has this value
    clauses : lists of literals; negative numbers are negations
    n_variables : the number of variables; those that are not in `variables` are auxiliary, to
        encode that an attribute of a large domain has one value

    Examples
    --------
    >>> from pinesy import parse, to_dimacs
    >>> rules = parse("attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1}")
    >>> cnf = to_dimacs(rules)
    >>> cnf.variables
    {'a': {0: 1, 1: 2}, 'b': {0: 3, 1: 4}}
    >>> cnf.clauses
    [[1, 2], [-1, -2], [3, 4], [-3, -4], [1, 4]]
    >>> cnf.world([-1, 2, -3, 4])
    {'a': 1, 'b': 1}
    """

    variables: Mapping[str, Mapping[Hashable, int]]
    clauses: list[list[int]]
    n_variables: int

    def world(self, model: Collection[int]) -> dict[str, Hashable]:
        """Return the value of each attribute, by name, in a model: a list of literals."""
        true = {literal for literal in model if literal > 0}
        world = {}
        for name, variables in self.variables.items():
            values = [value for value, variable in variables.items() if variable in true]
            if len(values) != 1:
                raise DataError(
                    f"the model gives {name!r} {len(values)} values; is it one of these?"
                )
            world[name] = values[0]
        return world

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file: the variables as comments, then the clauses."""
        for name, variables in self.variables.items():
            for value, variable in variables.items():
                yield f"c {variable} {format_name(name)} = {_one_line(show_value(value))}"
        yield f"p cnf {self.n_variables} {len(self.clauses)}"
        for clause in self.clauses:
            yield " ".join(map(str, [*clause, 0]))

    def __repr__(self) -> str:
        return f"DimacsCnf({self.n_variables} variables, {len(self.clauses)} clauses)"


def _one_line(text: str) -> str:
    """Return a text with control characters escaped, so that it is one line."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def to_dimacs(rules: Cascade | RuleSet) -> DimacsCnf:
    """Return rules without uncertainty in conjunctive normal form: models are worlds they allow.

    A world gives each attribute of the rules one value. ``if p_1 and ... then b in Q`` with
    ``r = 0`` is the clause ``not p_1 or ... or b in Q``; its converse, with ``s = 0``, is
    ``b not in Q or p_j`` for each `j`. So there is a clause for each rule, one for each proposition
    of an equivalence, and those that say that an attribute has one value; linear in the rules.

    Raises
    ------
    RuleSetError
        A rule has an `s` or `r` that is neither 0 nor 1.
    """
    cascade = as_cascade(rules)
    require_certain(cascade.order, "a CNF")
    attributes = [*cascade.inputs, *(s.output for s in cascade.order)]
    numbers = count(1)
    variables = {a.name: {value: next(numbers) for value in a.domain} for a in attributes}
    clauses = [
        clause
        for by_value in variables.values()
        for clause in exactly_one(list(by_value.values()), numbers)
    ]
    for rule_set in cascade.order:
        for rule in rule_set.rules:
            clauses += _clauses(rule, variables)
    return DimacsCnf(variables, clauses, next(numbers) - 1)


def _clauses(rule: Rule, variables: Mapping[str, Mapping[Hashable, int]]) -> Iterator[list[int]]:
    """Yield the clauses of a rule, without duplicate literals."""

    def literals(*propositions: Proposition) -> list[int]:
        numbers = (variables[p.attribute.name][value] for p in propositions for value in p.values)
        return list(dict.fromkeys(numbers))

    premise, conclusion = rule.premise.propositions, rule.conclusion
    if rule.r == 0.0:
        yield literals(*(p.complement for p in premise), conclusion)
    if rule.s == 0.0:
        yield from (literals(conclusion.complement, p) for p in premise)


def require_certain(rule_sets: Iterable[RuleSet], form: str) -> None:
    """Raise `RuleSetError`, with the cure, for a rule whose `s` or `r` is neither 0 nor 1.

    Parameters
    ----------
    form : the name of the format that cannot express such rules, for the message
    """
    for rule_set in rule_sets:
        try:
            check_certain(rule_set.unit)
        except RuleSetError as error:
            raise RuleSetError(
                f"{form} has no uncertain rules: {error}. Set them (with_parameters), or write the "
                "rules as ONNX (to_onnx), which keeps them"
            ) from None
