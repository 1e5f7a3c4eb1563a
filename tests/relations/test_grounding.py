"""A program without recursion is the propositional inference of its grounding, bit for bit."""

from itertools import product
from typing import Any

from hypothesis import given

from pinesy.exceptions import CascadeError
from pinesy.relations import Graph, RelationalRules
from pinesy.relations.literals import literals_of
from relations.programs import programs


def has_both_signs(rules: RelationalRules) -> bool:
    """Return whether an ``iff`` or a closed relation has an atom with both signs, or repeats one.

    There the cascade splits cases, and ours is a bound on the safe side.
    """
    for name in rules.closed:
        own = [r for r in rules.rules if r.head.name == name]
        literals = [literal for r in own for literal in literals_of(r.parts())]
        signs = {(literal.name, literal.negated) for literal in literals}
        names = [n for n, _ in signs] + [lit.name for lit in literals if lit.values is not None]
        if len({*names}) < len(names):
            return True
    return False


@given(programs())
def test_degrees_are_those_of_the_cascade(program: tuple[RelationalRules, Graph]) -> None:
    rules, graph = program
    known = rules.infer(graph)
    if any(stratum.recursive for stratum in rules.strata) or has_both_signs(rules):
        return
    members: Any = known.ranked.sort_entities.get("t", [])
    names = [known.ranked.entities.names[i] for i in members]
    for name in ("p", "q", "w"):
        sorts = rules.relations[name].sorts
        for entities in product(names, repeat=len(sorts)):
            question = f"{name}({', '.join(map(str, entities))})"
            try:
                cascade = rules.ground(known, question)
            except CascadeError:  # a fact, or nothing
                continue
            atom = known.ask(question)
            inferred = cascade.infer(cascade.evidence)[question]
            assert inferred.to_dict() == {True: atom.possible, False: 1.0 - atom.certain}, (
                question,
                str(rules),
            )
