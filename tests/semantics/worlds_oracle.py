"""The weights of all worlds, one after the other, in exact fractions: the definition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from pinesy import Cascade, RuleSet

World = dict[str, Any]
Number = Fraction | float
#: How the weights of worlds are put together, and how those of the parts of a world.
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "probabilistic": (lambda a, b: a + b, lambda a, b: a * b),
    "most probable explanation": (max, lambda a, b: a * b),
    "goedel": (max, min),
}


def left(rule_set: RuleSet, world: Mapping[str, Any]) -> list[Any]:
    """The output values that rules leave for crisp inputs."""
    values = []
    for value in rule_set.output.domain:
        good = True
        for rule in rule_set.rules:
            holds = all(world[p.attribute.name] in p.values for p in rule.premise.propositions)
            inside = value in rule.conclusion.values
            good &= not (holds and not inside and rule.r == 0.0)
            good &= not (inside and not holds and rule.s == 0.0)
        if good:
            values.append(value)
    return values


def worlds(
    cascade: Cascade, inputs: Mapping[str, Sequence[Number]], names: Sequence[str], semantics: str
) -> Iterator[tuple[World, Any]]:
    """All worlds of what some attributes depend on, with their weights."""
    _, times = OPERATIONS[semantics]
    sets = cascade.needed(names)
    used = {a.name for s in sets for a in s.inputs} | set(names)
    given = [a for a in cascade.inputs if a.name in used]
    for places in product(*(range(len(a.domain)) for a in given)):
        weight: Any = 1
        world: World = {}
        for a, i in zip(given, places, strict=True):
            weight = times(weight, inputs[a.name][i])
            world[a.name] = a.domain[i]
        open_worlds = [(world, weight)]
        for rule_set in sets:
            grown = []
            for one, w in open_worlds:
                values = left(rule_set, one)
                share = Fraction(1, len(values)) if semantics == "probabilistic" and values else 1
                grown += [({**one, rule_set.output.name: v}, times(w, share)) for v in values]
            open_worlds = grown
        yield from open_worlds


def weights(
    cascade: Cascade, inputs: Mapping[str, Sequence[Number]], name: str, semantics: str
) -> list[Any]:
    """The weight of each value of an attribute."""
    add, _ = OPERATIONS[semantics]
    attribute = cascade.attributes[name]
    found: dict[Any, Any] = dict.fromkeys(range(len(attribute.domain)), Fraction(0))
    for world, weight in worlds(cascade, inputs, [name], semantics):
        i = attribute.position(world[name])
        found[i] = add(found[i], weight)
    return list(found.values())


def likelihood(
    cascade: Cascade,
    inputs: Mapping[str, Sequence[Number]],
    answers: Mapping[str, Any],
    semantics: str,
) -> Any:
    """The weight of all worlds that agree with answers."""
    add, _ = OPERATIONS[semantics]
    total: Any = Fraction(0)
    for world, weight in worlds(cascade, inputs, list(answers), semantics):
        if all(world[name] == value for name, value in answers.items()):
            total = add(total, weight)
    return total
