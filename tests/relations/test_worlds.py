"""Degrees of recursive programs are those over all worlds, which are enumerated here."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from pinesy.relations import Graph, RelationalRules

ENTITIES = ("a", "b")
PAIRS = list(product(ENTITIES, repeat=2))
SIXTEENTHS = st.integers(0, 16).map(lambda k: k / 16)
STEPS = ["t(X, Y) and e(Y, Z)", "e(X, Y) and t(Y, Z)", "t(X, Y) and t(Y, Z)"]


def instances(step: str) -> list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    """Return head and premises of the ground instances of ``if step then t(X, Z)``."""
    names = [part.split("(")[0] for part in step.split(" and ")]
    return [
        (("t", x, z), ((names[0], x, y), (names[1], y, z)))
        for x, y, z in product(ENTITIES, repeat=3)
    ]


@given(
    st.lists(SIXTEENTHS, min_size=4, max_size=4),
    st.lists(SIXTEENTHS, min_size=2, max_size=2),
    st.sampled_from(STEPS),
)
def test_open_recursion_is_necessity_over_all_worlds(
    degrees: list[float], certainties: list[float], step: str
) -> None:
    """Definite programs: the least specific distribution on worlds of all atoms."""
    first, second = certainties
    rules = RelationalRules.parse(f"""
        relation e(node, node)
        if e(X, Y) then t(X, Y) [certainty={first}]
        if {step} then t(X, Z) [certainty={second}]
    """)
    known = rules.infer(
        Graph({"e": [(*pair, degree) for pair, degree in zip(PAIRS, degrees, strict=True)]})
    )
    clauses: list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...], float]]
    clauses = [(("e", *pair), (), degree) for pair, degree in zip(PAIRS, degrees, strict=True)]
    clauses += [(("t", *pair), (("e", *pair),), first) for pair in PAIRS]
    clauses += [(head, body, second) for head, body in instances(step)]
    atoms = [(name, *pair) for name in "et" for pair in PAIRS]
    falsified = dict.fromkeys(atoms, 0.0)
    for values in product([False, True], repeat=len(atoms)):
        world = dict(zip(atoms, values, strict=True))
        violated = [
            certainty
            for head, body, certainty in clauses
            if not world[head] and all(world[b] for b in body)
        ]
        possible = 1.0 - max(violated, default=0.0)
        for atom in atoms:
            if not world[atom]:
                falsified[atom] = max(falsified[atom], possible)
    for x, y in PAIRS:
        assert known.ask(f"t({x}, {y})").certain == 1.0 - falsified["t", x, y]


@given(
    st.lists(st.tuples(st.booleans(), SIXTEENTHS), min_size=4, max_size=4),
    st.sampled_from(STEPS),
)
def test_closed_recursion_is_the_least_model_over_all_worlds(
    degrees: list[tuple[bool, float]], step: str
) -> None:
    """Necessity and possibility that an atom is in the least model of a world of the facts."""
    rules = RelationalRules.parse(f"""
        relation e(node, node)
        closed relation t(node, node)
        if e(X, Y) then t(X, Y)
        if {step} then t(X, Z)
    """)
    graph = Graph()
    # An atom that is surely possible with some certainty, or possible to a degree.
    base = {
        pair: (1.0, 1.0 - degree) if positive else (degree, 1.0)
        for pair, (positive, degree) in zip(PAIRS, degrees, strict=True)
    }
    for pair, (true, false) in base.items():
        graph.add("e", [pair], certainty=[1.0 - false], possibility=[true])
    known = rules.infer(graph)
    inside, outside = dict.fromkeys(PAIRS, 0.0), dict.fromkeys(PAIRS, 0.0)
    for values in product([False, True], repeat=len(PAIRS)):
        world = dict(zip(PAIRS, values, strict=True))
        possible = min(base[pair][0 if holds else 1] for pair, holds in world.items())
        model = {("e", *pair) for pair, holds in world.items() if holds}
        model |= {("t", *pair) for pair, holds in world.items() if holds}
        while new := {h for h, body in instances(step) if h not in model and {*body} <= model}:
            model |= new
        for pair in PAIRS:
            side = inside if ("t", *pair) in model else outside
            side[pair] = max(side[pair], possible)
    for pair in PAIRS:
        atom = known.ask(f"t({pair[0]}, {pair[1]})")
        assert (atom.certain, atom.possible) == (1.0 - outside[pair], inside[pair])
