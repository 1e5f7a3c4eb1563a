"""Functions of attributes of entities run in one batch, and equal the cascade of each tuple."""

from itertools import pairwise

import numpy as np
import pytest

from pinesy import Attribute, function
from pinesy.exceptions import DataError
from pinesy.relations import AttributeTable, Graph, RelationalRules

RULES = """
    attribute digit(image) in 0..9
    relation next(image, image)
    function total(X, Y) = digit(X) + digit(Y) for next(X, Y)
    function high(Y) in {true, false} = total(X, Y) > 9 for next(X, Y)
    if total(X, Y) in {7..8} then lucky(X)
"""


def example() -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(0)
    images = [f"i{k}" for k in range(6)]
    degrees = rng.dirichlet(np.full(10, 0.2), size=6)
    graph = Graph().attach("digit", degrees, images)
    graph.add("next", [*pairwise(images)])
    return graph, graph.attached["digit"].degrees


def test_a_function_equals_the_cascade_of_its_tuple() -> None:
    graph, degrees = example()
    known = RelationalRules.parse(RULES).infer(graph)
    left, right = Attribute("left", range(10)), Attribute("right", range(10))
    cascade = function("total", [left, right], "left + right")
    table = known["total"]
    assert isinstance(table, AttributeTable)
    assert len(table) == 5
    for k in range(5):
        expected = cascade.infer({"left": degrees[k], "right": degrees[k + 1]})["total"]
        total = table[f"i{k}", f"i{k + 1}"]
        np.testing.assert_allclose(total.degrees, expected.degrees, rtol=0, atol=1e-15)
        certain = known.ask(f"lucky(i{k})").certain
        assert certain == pytest.approx(max(0.0, expected.necessity({7, 8})), abs=1e-15)
        highs = known["high"]
        assert isinstance(highs, AttributeTable)
        high = highs[f"i{k + 1}"]
        assert high.possibility({True}) == pytest.approx(expected.possibility(range(10, 19)))
    assert table["i0", "i5"].best is None


def test_a_ground_function_is_a_cascade() -> None:
    graph, _ = example()
    rules = RelationalRules.parse(RULES)
    known = rules.infer(graph)
    cascade = rules.ground(known, "lucky(i1)")
    inferred = cascade.infer(cascade.evidence)["lucky(i1)"]
    certain = known.ask("lucky(i1)").certain
    assert inferred.necessity({True}) == pytest.approx(certain, abs=1e-15)


def test_a_guard_must_be_certain() -> None:
    graph, _ = example()
    graph.add("next", [("i0", "i2", 0.5)])
    with pytest.raises(DataError, match="certainty 1"):
        RelationalRules.parse(RULES).infer(graph).evaluate(["total"])
