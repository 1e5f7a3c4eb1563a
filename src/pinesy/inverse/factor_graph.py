"""The factor graph of a cascade, and the messages of max and min that pass along it, as programs.

Min is idempotent, so an attribute may have one degree for each value that every message lowers,
rather than a message for each factor. At any time it is an upper bound of the projection of the
joint; after a sweep towards the roots and one back it is the projection itself, if there is no
loop (docs/changes.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import check_stop
from pinesy._common.names import column_slices
from pinesy.engine.code import Code, ColumnCircuit, circuit_code
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.semantics.factors import Factor, Values, factors_of

#: For each attribute the degrees of its values, as expressions.
Degrees = dict[str, Values]


@dataclass(frozen=True)
class GraphStep:
    """A factor, and the place of the attribute that it was reached from (the nearest the root)."""

    factor: Factor
    parent: int

    @property
    def children(self) -> list[int]:
        """The places of the other attributes."""
        return [i for i in range(len(self.factor.names)) if i != self.parent]


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """The attributes and factors of a cascade.

    Attributes
    ----------
    attributes : those that rules use, by name
    steps : the factors, each after the one that it is reached from
    is_forest : whether there is no loop: no two ways from one attribute to another
    inputs : those of the cascade
    """

    attributes: Mapping[str, Attribute]
    steps: tuple[GraphStep, ...]
    is_forest: bool
    inputs: tuple[Attribute, ...]

    @property
    def roots(self) -> list[str]:
        """The attributes that no factor is left by: one for each tree of a forest."""
        below = {step.factor.names[i] for step in self.steps for i in step.children}
        return [name for name in self.attributes if name not in below]


@cached_on_owner
def factor_graph(cascade: Cascade) -> FactorGraph:
    """Return the graph of a cascade, made once.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> factor_graph(addition(3)).is_forest, factor_graph(sudoku(4)).is_forest
    (True, False)
    """
    attributes = {a.name: a for s in cascade.order for a in (*s.inputs, s.output)}
    factors: list[Factor] = []
    for rule_set in cascade.order:
        check_stop()
        factors += factors_of(rule_set.unit)
    steps, is_forest = _walk(attributes, factors)
    return FactorGraph(attributes, tuple(steps), is_forest, cascade.inputs)


def _walk(
    attributes: Mapping[str, Attribute], factors: list[Factor]
) -> tuple[list[GraphStep], bool]:
    """Go breadth first from a root of each tree; return the factors, and if no loop was seen."""
    at: dict[str, list[Factor]] = {name: [] for name in attributes}
    for factor in factors:
        for name in factor.names:
            at[name].append(factor)
    steps: list[GraphStep] = []
    passed: set[int] = set()
    reached: set[str] = set()
    no_loop = True
    for root in reversed(list(attributes)):  # outputs are the last
        queue = [] if root in reached else [root]
        reached.add(root)
        for name in queue:  # grows on the way
            for factor in (f for f in at[name] if id(f) not in passed):
                passed.add(id(factor))
                steps.append(GraphStep(factor, factor.names.index(name)))
                others = [n for n in factor.names if n != name]
                no_loop = no_loop and reached.isdisjoint(others)
                queue += [n for n in others if n not in reached]
                reached.update(others)
    return steps, no_loop


@cached_on_owner
def forest_program(graph: FactorGraph, targets: tuple[str, ...], wanted: tuple[str, ...]) -> Code:
    """Return the program of a graph without loops, made once.

    Its columns are the inputs and then the targets; it gives the compatibility first, then the
    projections of the joint on the attributes `wanted`.
    """
    given = [*graph.inputs, *(graph.attributes[name] for name in targets)]
    circuit = ColumnCircuit(sum(len(a.domain) for a in given))
    degrees: Degrees = {}
    first = 0
    for a in given:  # an input may have a target too
        columns = circuit.columns[first : first + len(a.domain)]
        known = degrees.get(a.name, columns)
        degrees[a.name] = [circuit.meet(pair) for pair in zip(known, columns, strict=True)]
        first += len(a.domain)
    for name, attribute in graph.attributes.items():
        degrees.setdefault(name, [circuit.constant(1.0)] * len(attribute.domain))
    _sweep(graph, circuit, degrees, back=False)
    compatibility = circuit.meet(circuit.join(degrees[root]) for root in graph.roots)
    _sweep(graph, circuit, degrees, back=True)
    if len(graph.roots) > 1:  # a tree that fits badly bounds the others too
        for name in wanted:
            degrees[name] = [circuit.meet([d, compatibility]) for d in degrees[name]]
    least = [1.0] * len(graph.inputs) + [0.0] * len(targets)
    return circuit_code(
        circuit, given, least, [compatibility, *(d for n in wanted for d in degrees[n])]
    )


@cached_on_owner
def sweep_program(graph: FactorGraph) -> Code:
    """Return the program of one sweep there and back: from all degrees to all degrees."""
    given = list(graph.attributes.values())
    circuit = ColumnCircuit(sum(len(a.domain) for a in given))
    degrees = {name: circuit.columns[span] for name, span in column_slices(given).items()}
    _sweep(graph, circuit, degrees, back=False)
    _sweep(graph, circuit, degrees, back=True)
    return circuit_code(
        circuit, given, [0.0] * len(given), [d for a in given for d in degrees[a.name]]
    )


def _sweep(graph: FactorGraph, circuit: ColumnCircuit, degrees: Degrees, *, back: bool) -> None:
    """Let every factor lower its attributes: those nearest the roots, or on the way back others."""
    for step in graph.steps if back else reversed(graph.steps):
        names, places = step.factor.names, step.children if back else [step.parent]
        messages = step.factor.messages(circuit, [degrees[name] for name in names], places)
        for place, message in zip(places, messages, strict=True):
            own = degrees[names[place]]
            degrees[names[place]] = [circuit.meet(pair) for pair in zip(own, message, strict=True)]
