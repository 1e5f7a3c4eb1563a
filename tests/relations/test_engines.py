"""All engines give, bit for bit, what the reference gives."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy.relations import EntityAttribute, Graph, RelationalRules
from pinesy.relations.known_graph import KnownGraph
from relations.programs import programs
from relations.reference import Reference

#: Programs of each test: in the long tests more than 5,000 in all.
MANY = 2_000 if settings().max_examples >= 400 else settings().max_examples


def assert_equal_to_reference(rules: RelationalRules, graph: Graph, known: KnownGraph) -> None:
    """Compare every atom of every relation."""
    reference = Reference(rules, graph)
    names = known.ranked.entities.names
    levels = known.ranked.levels
    for name, declaration in rules.relations.items():
        if isinstance(declaration, EntityAttribute):
            table = known[name]
            for entities in product(names, repeat=len(declaration.sorts)):
                degrees = dict(zip(declaration.domain, table[entities].degrees, strict=True))  # type: ignore[union-attr]
                for value in declaration.domain:
                    against = reference.against.get((name, *entities, value), 0.0)
                    assert degrees[value] == 1.0 - against, (name, entities, value)
            continue
        atoms = known.atoms(name)
        n = len(names)
        rows = {int(key): index for index, key in enumerate(atoms.keys)}
        for indices in product(range(n), repeat=len(declaration.sorts)):
            entities = tuple(names[i] for i in indices)
            members = (reference.sorts.get(s, set()) for s in declaration.sorts)
            if not all(e in m for e, m in zip(entities, members, strict=True)):
                continue
            key = 0
            for index in indices:
                key = key * n + index
            row = rows.get(key)
            certain = levels[atoms.certain[row]] if row is not None else 0.0
            against = levels[atoms.against[row] if row is not None else atoms.default]
            default = reference.defaults.get(name, 0.0)
            expected = (
                reference.certain.get((name, *entities), 0.0),
                reference.against.get((name, *entities), default),
            )
            assert (certain, against) == expected, (name, entities, str(rules), reference.listed)


@settings(max_examples=MANY)
@given(programs())
def test_the_engines_equal_the_reference(program: tuple[RelationalRules, Graph]) -> None:
    rules, graph = program
    assert_equal_to_reference(rules, graph, rules.infer(graph))


@settings(max_examples=MANY)
@given(programs())
def test_by_certainty_equals_the_reference(program: tuple[RelationalRules, Graph]) -> None:
    rules, graph = program
    known = rules.infer(graph)
    known.engine = "certainty"
    assert_equal_to_reference(rules, graph, known)


@settings(max_examples=MANY)
@given(programs(), st.data())
def test_questions_with_constants_equal_the_whole(
    program: tuple[RelationalRules, Graph], data: st.DataObject
) -> None:
    rules, graph = program
    whole = rules.infer(graph)
    names = whole.ranked.entities.names
    variables = ["X", "Y"]
    name = data.draw(st.sampled_from([n for n, d in rules.relations.items() if n != "shade"]))
    arity = len(rules.relations[name].sorts)
    terms = [data.draw(st.sampled_from([variables[i % 2], *map(str, names)])) for i in range(arity)]
    question = f"{name}({', '.join(terms)})" if terms else name
    level = data.draw(st.sampled_from([0.0, 0.25, 0.75]))
    answer = rules.infer(graph).ask(question, certain=level)
    whole[name]
    expected = whole.ask(question, certain=level)
    if hasattr(answer, "rows"):
        assert answer.to_dict() == expected.to_dict()  # type: ignore[union-attr]
    elif level == 0.0:
        assert answer == expected
