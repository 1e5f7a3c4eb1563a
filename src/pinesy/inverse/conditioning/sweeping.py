"""Messages of max and min along the graph of attributes and factors, as programs.

Min is idempotent, so an attribute may keep one degree for each value that every message lowers,
rather than a message for each factor. At any time it is an upper bound of the projection of the
joint; after a sweep towards the roots and one back it is the projection itself, if there is no
loop.
"""

from collections.abc import Sequence
from itertools import accumulate

from pinesy.engine.circuit import ColumnCircuit
from pinesy.engine.code import Code
from pinesy.engine.linker import circuit_code
from pinesy.inverse.conditioning.factors import Values
from pinesy.inverse.conditioning.graph import Graph, Step
from pinesy.rules.attributes import Attribute

#: For each attribute the degrees of its values.
Degrees = dict[str, Values]


def forest_program(
    graph: Graph, inputs: Sequence[Attribute], targets: Sequence[str], wanted: Sequence[str]
) -> Code:
    """Return the program of a graph without loops.

    Its columns are the inputs and then the targets; it gives the compatibility first, then the
    projections of the joint on the attributes `wanted`.
    """
    given = [*inputs, *(graph.attributes[name] for name in targets)]
    made = ColumnCircuit(sum(len(a.domain) for a in given))
    degrees: Degrees = {}
    for a, columns in zip(given, _spans(made, given), strict=True):
        known = degrees.get(a.name, columns)
        degrees[a.name] = [made.meet(pair) for pair in zip(known, columns, strict=True)]
    for name, attribute in graph.attributes.items():
        degrees.setdefault(name, [made.constant(1.0)] * len(attribute.domain))
    _sweep_up(graph, made, degrees)
    compatibility = made.meet(made.join(degrees[root]) for root in graph.roots)
    _sweep_down(graph, made, degrees)
    if len(graph.roots) > 1:  # a tree that fits badly bounds the others too
        for name in wanted:
            degrees[name] = [made.meet([d, compatibility]) for d in degrees[name]]
    least = [1.0] * len(inputs) + [0.0] * len(targets)
    return circuit_code(
        made, given, least, [compatibility, *(d for n in wanted for d in degrees[n])]
    )


def sweep_program(graph: Graph) -> Code:
    """Return the program of one sweep there and back: from all degrees to all degrees."""
    given = list(graph.attributes.values())
    made = ColumnCircuit(sum(len(a.domain) for a in given))
    degrees = {a.name: v for a, v in zip(given, _spans(made, given), strict=True)}
    _sweep_up(graph, made, degrees)
    _sweep_down(graph, made, degrees)
    return circuit_code(
        made, given, [0.0] * len(given), [d for a in given for d in degrees[a.name]]
    )


def _spans(made: ColumnCircuit, given: Sequence[Attribute]) -> list[Values]:
    """Return the columns of each attribute."""
    ends = accumulate(len(a.domain) for a in given)
    return [made.columns[end - len(a.domain) : end] for a, end in zip(given, ends, strict=True)]


def _sweep_up(graph: Graph, made: ColumnCircuit, degrees: Degrees) -> None:
    for step in reversed(graph.steps):
        _lower(step, [step.parent], made, degrees)


def _sweep_down(graph: Graph, made: ColumnCircuit, degrees: Degrees) -> None:
    for step in graph.steps:
        _lower(step, step.children, made, degrees)


def _lower(step: Step, places: list[int], made: ColumnCircuit, degrees: Degrees) -> None:
    """Let a factor lower the degrees of some of its attributes."""
    names = step.factor.names
    messages = step.factor.messages(made, [degrees[name] for name in names], places)
    for place, message in zip(places, messages, strict=True):
        own = degrees[names[place]]
        degrees[names[place]] = [made.meet(pair) for pair in zip(own, message, strict=True)]
