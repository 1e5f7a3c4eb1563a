"""The matrix relation O = M box I, and the product it uses."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, Cascade, Iff, RuleSet, minmax_product
from strategies import DEGREES, attributes, distributions, rule_sets


@given(st.data())
def test_the_relation_gives_the_cells_of_the_inference(data: st.DataObject) -> None:
    known = [data.draw(attributes(name, odd=False)) for name in ("a", "b")]
    rule_set = data.draw(rule_sets(known, data.draw(attributes("out", odd=False))))
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in rule_set.inputs}
    premises = Cascade(rule_set).trace(evidence).premises["out"]
    cells = rule_set.relation.apply(premises.lambdas, premises.rhos)
    assert cells.shape == (len(rule_set.partition),)
    assert (cells[rule_set.partition.cell_of] == rule_set.infer(evidence).degrees).all()


@given(st.data())
def test_the_matrix_and_its_symbols(data: st.DataObject) -> None:
    rule_set = data.draw(rule_sets([Attribute("a", range(2))], Attribute("b", range(5))))
    relation = rule_set.relation
    symbols = {"1": 1.0}
    for j, rule in enumerate(rule_set.rules, 1):
        symbols |= {f"s_{j}": rule.s, f"r_{j}": rule.r}
    assert relation.matrix.tolist() == [[symbols[e] for e in row] for row in relation.symbolic]
    for row, signs in zip(relation.symbolic, rule_set.partition.tuples, strict=True):
        expected = [e for t in signs for e in ((f"s_{t}", "1") if t > 0 else ("1", f"r_{-t}"))]
        assert row == expected


def test_the_printed_matrix_lines_up() -> None:
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    relation = RuleSet([Iff(a.isin({0})).then(b.isin({0}), 0.3, 0.5)]).relation
    assert str(relation) == "[s_1   1]\n[  1 r_1]"
    assert repr(relation) == "MatrixRelation(M of shape (2, 2))"


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int) -> list[list[float]]:
    row = st.lists(DEGREES, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_the_product_is_the_definition(data: st.DataObject, n: int, m: int, k: int) -> None:
    a, b = data.draw(matrices(n, m)), data.draw(matrices(m, k))
    exact = oracles.minmax_product(
        [list(map(Fraction, row)) for row in a], [list(map(Fraction, row)) for row in b]
    )
    found = minmax_product(np.array(a), np.array(b))
    assert [list(map(Fraction, row)) for row in found.tolist()] == exact
    vector = minmax_product(np.array(a), np.array(b)[:, 0])
    assert vector.tolist() == found[:, 0].tolist()


def test_the_product_of_a_known_case() -> None:
    a = np.array([[0.3, 1.0], [1.0, 0.5]])
    assert minmax_product(a, np.array([1.0, 0.0])).tolist() == [1.0, 0.5]
    with pytest.raises(ValueError, match="broadcast"):
        minmax_product(a, np.zeros(3))
