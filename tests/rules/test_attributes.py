"""Attributes and propositions: subsets, complements, products, printing."""

from collections.abc import Hashable
from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import Attribute, If, Premise, Proposition
from strategies import attributes, chosen

EXAMPLES = settings(max_examples=100)


@EXAMPLES
@given(st.data())
def test_a_proposition_holds_its_values_in_domain_order(data: st.DataObject) -> None:
    attribute = data.draw(attributes("a"))
    inside = chosen(attribute, data.draw(st.integers(0, 2 ** len(attribute.domain) - 1)))
    proposition = attribute.isin(data.draw(st.permutations(inside)))
    assert repr(proposition.values) == repr(tuple(inside))
    outside = [v for v in attribute.domain if v not in inside]
    assert repr(proposition.complement.values) == repr(tuple(outside))
    assert ~proposition == proposition.complement
    assert ~~proposition == proposition
    assert hash(~~proposition) == hash(proposition)
    members = set(inside)
    assert attribute.where(lambda v: v in members) == proposition
    assert (proposition == attribute.isin(outside)) is False


@EXAMPLES
@given(st.data())
def test_a_product_has_all_tuples_the_last_factor_running_fastest(data: st.DataObject) -> None:
    factors = [data.draw(attributes(name)) for name in data.draw(st.sampled_from(["xy", "xyz"]))]
    attribute = Attribute.product("p", *factors)
    assert len(attribute.domain) == prod(len(f.domain) for f in factors)
    assert attribute.factors == tuple(factors)
    expected: list[tuple[Hashable, ...]] = [()]
    for factor in factors:
        expected = [(*t, v) for t in expected for v in factor.domain]
    assert repr(attribute.domain) == repr(tuple(expected))
    for position, value in enumerate(attribute.domain):
        assert attribute.position(value) == position
        assert value in attribute


def test_products_of_equal_domains_of_other_types_stay_apart() -> None:
    numbers = Attribute.product("p", Attribute("x", (0, 1)), Attribute("y", (0, 1)))
    truths = Attribute.product("p", Attribute("x", (False, True)), Attribute("y", (False, True)))
    assert repr(numbers.domain[3]) == "(1, 1)"
    assert repr(truths.domain[3]) == "(True, True)"


def test_numpy_values_become_plain_ones() -> None:
    attribute = Attribute("a", np.arange(3))
    assert [type(v) for v in attribute.domain] == [int] * 3
    assert attribute == Attribute("a", range(3))
    assert attribute.isin(np.array([2])).values == (2,)


def test_equal_attributes() -> None:
    assert Attribute("a", range(3)) == Attribute("a", (0, 1, 2))
    assert hash(Attribute("a", range(3))) == hash(Attribute("a", (0, 1, 2)))
    assert Attribute("a", range(3)) != Attribute("b", range(3))
    assert Attribute("a", range(3)) != Attribute("a", range(4))
    assert Attribute("a", range(3)) != "a"
    bit, other = Attribute("x", (0, 1)), Attribute("y", (0, 1))
    pair = Attribute.product("p", bit, other)
    assert pair != Attribute("p", pair.domain)
    assert pair != Attribute.product("p", other, bit)


def test_printed_forms() -> None:
    a = Attribute("a", [0, 1, 2, 4, 5, 7, 8, 9, 10])
    assert repr(a) == "Attribute('a', {0..2, 4, 5, 7..10})"
    assert str(a.isin({8, 0, 1})) == "a in {0, 1, 8}"
    assert str(a.isin([])) == "a in {}"
    b = Attribute("long sleep", ["if", "a-b", "a b", True, None, (0, "x"), (1,), -1, 0, 2.0])
    assert str(b.isin(b.domain)) == (
        '`long sleep` in {"if", a-b, "a b", true, none, (0, x), (1,), -1, 0, 2.0}'
    )
    pair = Attribute.product("p", a, b)
    assert pair.declaration == "product p = a * `long sleep`"
    assert a.declaration == "attribute a in {0..2, 4, 5, 7..10}"
    rule = If(a.isin({0}) & ~b.isin({"if"})).then(pair.where("a==4"), s=1, r=1e-7)
    assert str(rule).endswith("then p where a == 4 [certainty=0.9999999]")
    assert str(If(a.isin({0})).then(pair.where("a == 4"))).endswith("then p where a == 4")


def test_conjunctions_flatten() -> None:
    p, q, r = (Attribute(name, range(2)).isin({0}) for name in "pqr")
    assert (p & q & r).propositions == (p, q, r)
    assert (p & (q & r)).propositions == (p, q, r)
    assert If(p & q, r).premise == If(p, q, r).premise == Premise((p, q, r))
    assert (p & q) != (q & p)


def test_where_on_a_product_takes_the_components_and_on_a_plain_one_the_value() -> None:
    x, y = Attribute("x", range(4)), Attribute("y", range(4))
    pair = Attribute.product("pair", x, y)
    assert pair.where(lambda u, v: u == 2 * v).values == ((0, 0), (2, 1))
    plain = Attribute("pair", pair.domain)
    assert plain.where(lambda t: t[0] == 2 * t[1]).values == ((0, 0), (2, 1))
    late = [pair.where(lambda u, v: u + v == t) for t in range(7)]  # noqa: B023 - done at once
    assert [len(p.values) for p in late] == [1, 2, 3, 4, 3, 2, 1]
    assert isinstance(late[0], Proposition)
    assert x.where(lambda u: np.array([1, 2, 3, 4])[u] > 2).values == (2, 3)
