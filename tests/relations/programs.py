"""Random relational programs and graphs, as hypothesis strategies."""

from hypothesis import strategies as st

from pinesy.exceptions import RuleSetError
from pinesy.relations import (
    CountPremise,
    EntityAttribute,
    Graph,
    Relation,
    RelationalRule,
    RelationalRules,
    RelationLiteral,
    TermComparison,
    Variable,
)
from pinesy.relations.literals import Term

SIXTEENTHS = st.integers(0, 16).map(lambda k: k / 16)
CERTAINTIES = st.integers(4, 16).map(lambda k: k / 16)
VARIABLES: list[Term] = [Variable(name) for name in "XYZ"]
ENTITIES = ["a", "b", "c", 3]
SHADES = ("red", "green", "blue")


@st.composite
def programs(draw: st.DrawFn) -> tuple[RelationalRules, Graph]:
    """Draw rules that have a meaning, and facts for them."""
    base = [
        Relation("e", ("t", "t"), draw(st.booleans())),
        Relation("u", ("t",), draw(st.booleans())),
        Relation("z", ()),
    ]
    derived = [
        Relation("p", ("t", "t"), draw(st.booleans())),
        Relation("q", ("t",), draw(st.booleans())),
        Relation("w", ("t", "t"), draw(st.booleans())),
    ]
    shade = EntityAttribute("shade", ("t",), SHADES)
    rules: list[RelationalRule] = []
    for _ in range(draw(st.integers(1, 5))):
        rule = draw(random_rule([*base, *derived], derived))
        try:
            RelationalRules([*base, *derived, shade], [*rules, rule])
        except RuleSetError:
            continue
        rules.append(rule)
    graph = Graph()
    names = draw(st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=4, unique=True))
    entity = st.sampled_from(names)
    for relation in (*base, *derived[: draw(st.integers(0, 3))]):
        rows = draw(
            st.lists(
                st.tuples(st.tuples(*[entity] * len(relation.sorts)), SIXTEENTHS, SIXTEENTHS),
                max_size=6,
            )
        )
        for row, certainty, possibility in rows:
            positive = draw(st.booleans())
            graph.add(
                relation.name,
                [row],
                certainty=[certainty if positive else 0.0],
                possibility=[1.0 if positive else possibility],
            )
    if draw(st.booleans()):
        few = draw(st.lists(entity, min_size=1, max_size=2, unique=True))
        degrees = [draw(st.permutations([1.0, draw(SIXTEENTHS), draw(SIXTEENTHS)])) for _ in few]
        graph.attach("shade", degrees, few, transform=None)
    return RelationalRules([*base, *derived, shade], rules), graph


@st.composite
def random_literal(draw: st.DrawFn, relations: list[Relation]) -> RelationLiteral:
    term = st.sampled_from([*VARIABLES, *VARIABLES, "a"])
    if draw(st.integers(0, 7)) == 0:
        values = draw(st.sampled_from([("red",), ("red", "blue"), ("green",)]))
        return RelationLiteral("shade", (draw(term),), draw(st.booleans()), values)
    relation = draw(st.sampled_from(relations))
    terms = tuple(draw(term) for _ in relation.sorts)
    return RelationLiteral(relation.name, terms, draw(st.integers(0, 3)) == 0)


@st.composite
def random_rule(
    draw: st.DrawFn, relations: list[Relation], heads: list[Relation]
) -> RelationalRule:
    is_definition = draw(st.integers(0, 3)) == 0
    cases = []
    for _ in range(draw(st.integers(1, 2))):
        case: list[RelationLiteral | TermComparison | CountPremise] = [
            draw(random_literal(relations)) for _ in range(draw(st.integers(1, 3)))
        ]
        kind = draw(st.integers(0, 9))
        if kind <= 1:
            sign = draw(st.sampled_from(["!=", "==", "<", ">="]))
            right = draw(st.sampled_from([*VARIABLES, "a", 3]))
            case.append(TermComparison(draw(st.sampled_from(VARIABLES)), sign, right))
        if kind == 2:
            counted = Variable("C")
            x = draw(st.sampled_from(VARIABLES))
            parts = [RelationLiteral("e", draw(st.sampled_from([(x, counted), (counted, x)])))]
            case.append(CountPremise(draw(st.integers(1, 2)), counted, tuple(parts)))
        cases.append(tuple(case))
    if not is_definition and draw(st.integers(0, 9)) == 0:
        head = RelationLiteral("shade", (draw(st.sampled_from(VARIABLES)),), False, ("red",))
    else:
        relation = draw(st.sampled_from(heads))
        term = st.sampled_from([*VARIABLES, *VARIABLES, "b"])
        terms = tuple(draw(term) for _ in relation.sorts)
        negated = not is_definition and draw(st.integers(0, 4)) == 0
        head = RelationLiteral(relation.name, terms, negated)
    s = draw(SIXTEENTHS) if is_definition and draw(st.booleans()) else 1.0 - is_definition
    return RelationalRule(head, tuple(cases), s, 1.0 - draw(CERTAINTIES), is_definition)
