"""Functions of attributes against the definition: max over tuples of the min of the inputs."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise, product
from math import prod
from operator import inv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DomainError,
    Premise,
    Proposition,
    RulesTextError,
    all_different,
    count_of,
    explain,
    function,
    joint,
    load,
    max_of,
    min_of,
    parity_of,
    parse,
    save,
    sum_of,
)
from pinesy.problems import addition
from pinesy.rulebase import aggregates, functions
from pinesy.rules.propositions import Statement
from pinesy.rules.syntax.conditions import parse_condition
from pinesy.rules.syntax.expressions import evaluator
from strategies import MIXED_DOMAINS, distributions

Degrees = Mapping[str, Sequence[float]]
#: Each example builds, compiles, prints and reads rules.
SLOW = settings(max_examples=15)
LEFT, RIGHT = Attribute("left", range(10)), Attribute("right", range(10))


def brute_force(
    attributes: Sequence[Attribute], degrees: Degrees, fn: Callable[..., Hashable]
) -> dict[Hashable, float]:
    """Return pi(t) = max over the tuples u with fn(u) = t of min_i pi_i(u_i)."""
    results: dict[Hashable, float] = {}
    tables = [list(zip(a.domain, degrees[a.name], strict=True)) for a in attributes]
    for row in product(*tables):
        value = fn(*(u for u, _ in row))
        results[value] = max(results.get(value, 0.0), min(d for _, d in row))
    return results


def check_exact(
    rules: Cascade,
    name: str,
    attributes: Sequence[Attribute],
    degrees: Degrees,
    fn: Callable[..., Hashable],
) -> None:
    """Compare what rules infer with the definition, bit for bit, and read what they print."""
    expected = brute_force(attributes, degrees, fn)
    inferred = rules.infer({a.name: degrees[a.name] for a in rules.inputs})[name].to_dict()
    assert {t: d for t, d in inferred.items() if t in expected} == expected
    assert all(d == 0.0 for t, d in inferred.items() if t not in expected)
    text = str(rules)
    assert parse(text) == rules
    assert str(parse(text)) == text


@st.composite
def attribute_lists(
    draw: st.DrawFn, values: st.SearchStrategy[Any], max_size: int = 4, most: int = 300
) -> list[Attribute]:
    """Attributes whose product is small."""
    domains = draw(
        st.lists(
            st.lists(values, min_size=1, max_size=5, unique=True), min_size=1, max_size=max_size
        ).filter(lambda ds: prod(map(len, ds)) <= most)
    )
    names = draw(st.permutations(["x", "y", "a b", "if", "z-1", "é"]))
    return [Attribute(n, d) for n, d in zip(names, domains, strict=False)]


@st.composite
def evidence_on(draw: st.DrawFn, attributes: Sequence[Attribute]) -> Degrees:
    """A distribution for each attribute."""
    return {a.name: draw(distributions(len(a.domain))) for a in attributes}


INTEGERS = st.integers(-3, 9)


# --- joint -------------------------------------------------------------------------------------


@given(data=st.data())
@SLOW
def test_the_pair_has_the_min_of_its_factors(data: st.DataObject) -> None:
    domains = data.draw(st.lists(MIXED_DOMAINS, min_size=2, max_size=3))
    factors = [Attribute(n, d) for n, d in zip(["x", "a b", "if"], domains, strict=False)]
    degrees = data.draw(evidence_on(factors))
    rules = Cascade(joint("pair", *factors))
    check_exact(rules, "pair", factors, degrees, lambda *u: u)


def test_pairing_rules_are_those_of_addition() -> None:
    for rule_set in addition(3).rule_sets:
        pair = rule_set.output
        if pair.factors:
            assert joint(pair.name, *pair.factors) == rule_set
            assert str(joint(pair.name, *pair.factors)) == str(rule_set)


def test_a_pair_of_texts_prints_its_conditions() -> None:
    sky, wind = Attribute("sky", ["clear", "dark grey", "x"]), Attribute("wind", [-1, 0.5, None])
    rules = Cascade(joint("weather", sky, wind))
    assert 'weather where sky == "dark grey"' in str(rules)
    assert "weather where wind == - 1" in str(rules)
    assert parse(str(rules)) == rules


# --- function ----------------------------------------------------------------------------------


def test_addition_takes_three_lines() -> None:
    rules = function("total", joint("pair", LEFT, RIGHT), "left + right")
    assert rules["total"].output.domain == tuple(range(19))
    assert str(rules["total"].rules[7].premise) == "pair where left + right == 7"
    seen = {"left": {3: 1.0, 8: 0.4}, "right": {4: 1.0, 9: 0.2}}
    assert rules.infer(seen)["total"].to_dict()[12] == 0.4


@given(data=st.data())
@SLOW
def test_a_python_function_is_exact(data: st.DataObject) -> None:
    attributes = data.draw(attribute_lists(INTEGERS))
    table = data.draw(st.lists(st.sampled_from(["low", None, (1, 2), 3, True]), min_size=1))

    def fn(*values: int) -> Hashable:
        return table[sum(v * (i + 1) for i, v in enumerate(values)) % len(table)]

    degrees = data.draw(evidence_on(attributes))
    check_exact(function("f", attributes, fn), "f", attributes, degrees, fn)


@pytest.mark.parametrize("of", [LEFT, [LEFT], (LEFT,)])
def test_a_function_of_one_attribute_takes_one_rule_set(of: Any) -> None:
    rules = function("odd", of, "left % 2 == 1")
    assert len(rules.rule_sets) == 1
    assert [str(r.premise) for r in rules["odd"].rules] == ["left where left % 2 == 1"]
    assert rules["odd"].output.domain == (False, True)


def test_a_product_attribute_stands_for_its_factors() -> None:
    pair = Attribute.product("pair", LEFT, RIGHT)
    rules = function("total", pair, lambda left, right: left - right)
    assert rules.inputs == (pair,)
    assert rules == function("total", pair, "left - right")
    same = function("same", pair, "pair in {(0, 0), (1, 1)}")
    assert same["same"].rules[0].premise.propositions[0].values == ((0, 0), (1, 1))


def test_rules_with_one_output_may_be_any() -> None:
    total = function("total", [LEFT, RIGHT], "left + right")
    rules = function("large", total, "total > 9")
    assert rules.outputs == (Attribute("large", (False, True)),)
    degrees = {"left": [1.0] + [0.5] * 9, "right": [0.0] * 4 + [1.0] * 6}
    check_exact(rules, "large", [LEFT, RIGHT], degrees, lambda a, b: a + b > 9)


def test_results_are_sorted_if_they_can_be() -> None:
    assert function("f", LEFT, lambda v: -v)["f"].output.domain == tuple(range(-9, 1))
    mixed = function("f", LEFT, lambda v: v if v < 2 else "many")
    assert mixed["f"].output.domain == (0, 1, "many")


def test_a_domain_may_hold_more_than_the_results() -> None:
    rules = function("half", LEFT, "left // 2", domain=[9, 4, 3, 2, 1, 0])
    assert rules["half"].output.domain == (9, 4, 3, 2, 1, 0)
    check_exact(rules, "half", [LEFT], {"left": [1.0] * 10}, lambda v: v // 2)
    bits = function("low", LEFT, "left < 5", domain=[0, 1])
    assert str(bits["low"].rules[0].premise) == "left where left < 5"
    assert bits.infer({"left": {3: 1.0, 7: 0.2}})["low"].to_dict() == {0: 0.2, 1: 1.0}


def test_messages_of_functions() -> None:
    with raises_saying(DomainError, "'f' gives 5 for left = 5", "not in its domain"):
        function("f", LEFT, "left", domain=range(5))
    with raises_saying(DomainError, "'f' fails for left = 0, right = 0", "ZeroDivisionError"):
        function("f", [LEFT, RIGHT], lambda a, b: a / b)
    with raises_saying(DomainError, "'f' fails for left = 0", "unhashable"):
        function("f", LEFT, lambda v: [v])
    with raises_saying(DomainError, "'f' is 3", "a Python function or a text"):
        function("f", LEFT, 3)  # type: ignore[arg-type]
    with raises_saying(DomainError, "list of attributes", "'left'"):
        function("f", "left", "left")  # type: ignore[arg-type]
    with raises_saying(DomainError, "list of attributes", "3"):
        function("f", [LEFT, 3], "left")  # type: ignore[list-item]
    with raises_saying(DomainError, "'left' twice"):
        function("f", [LEFT, LEFT], "left")
    two = Cascade(*(function(n, LEFT, "left + 1")[n] for n in ("f", "g")))
    with raises_saying(DomainError, "one output", "f, g"):
        function("h", two, "f + g")
    with raises_saying(CascadeError, "cycle"):
        function("left", LEFT, "left + 1")


def test_a_product_that_is_too_large_is_refused_at_once() -> None:
    many = [Attribute(f"a_{i}", range(10)) for i in range(8)]
    with raises_saying(DomainError, "10 * 10", "100,000,000 values", "10,000,000", "step by step"):
        function("f", many, lambda *values: sum(values))
    with raises_saying(DomainError, "'pair'", "* ...", "values"):
        joint("pair", *(Attribute(f"a_{i}", range(10)) for i in range(1000)))


def test_rules_that_would_fill_the_memory_are_refused_at_once() -> None:
    wide = [Attribute(n, range(2000)) for n in ("x", "y")]
    with raises_saying(DomainError, "'f.pair'", "4,000 subsets of 4,000,000 values", "2.0 GB"):
        function("f", wide, "x + y")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions, "MAX_SUBSET_BITS", 2500)
        with raises_saying(DomainError, "'f'", "100 subsets of 100 values"):
            function("f", [LEFT, RIGHT], lambda a, b: (a, b))


def test_large_sources_are_computed_without_the_cache() -> None:
    wide = [Attribute(n, range(110)) for n in ("x", "y")]
    rules = function("f", wide, "x + y >= 200")
    assert rules["f"].rules[0].premise.propositions[0].mask.bit_count() == 19 * 20 // 2


@pytest.mark.parametrize("suffix", [".rules", ".json"])
def test_functions_are_ordinary_cascades(suffix: str, tmp_path: Path) -> None:
    digits = [Attribute(f"d{i}", range(4)) for i in range(4)]
    for rules in (
        function("f", digits, "(d0 + d1 + d2 + d3) % 3 == 1 and d0 < 2"),
        sum_of("f", digits, most=5),
        count_of("f", [d.isin({1, 2}) for d in digits]),
        max_of("f", digits),
        all_different("f", digits),
    ):
        save(rules, tmp_path / f"f{suffix}")
        assert load(tmp_path / f"f{suffix}") == rules
        seen = {d.name: {3: 0.4, i: 1.0} for i, d in enumerate(digits)}
        value = rules.infer(seen)["f"].best
        assert "f is" in str(explain(rules, seen, rules["f"].output.isin({value})))


# --- expressions -------------------------------------------------------------------------------


@st.composite
def sums(draw: st.DrawFn, names: Sequence[str], depth: int = 3) -> str:
    """An expression that is a number."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        known = st.sampled_from([f"`{n}`" for n in [*names, "flag"]])
        return draw(known | st.integers(0, 4).map(str))
    if draw(st.integers(0, 9)) == 0:
        return f"- ({draw(sums(names, depth - 1))})"
    sign = draw(st.sampled_from(["+", "+", "-", "*", "//", "%"]))
    left, right = draw(sums(names, depth - 1)), draw(sums(names, depth - 1))
    if sign in ("//", "%") and draw(st.integers(0, 4)):
        right = str(draw(st.integers(1, 5)))
    return f"({left}) {sign} ({right})"


@st.composite
def truths(draw: st.DrawFn, names: Sequence[str], depth: int = 3) -> str:
    """An expression that is true or false."""
    kinds = ["compare", "constant", "constant", "between", "flag", "in", "and", "or", "not"]
    kind = draw(st.sampled_from(kinds))
    if kind == "flag":
        return "`flag`"
    if depth == 0 or kind in kinds[:6]:
        left, sign = draw(sums(names)), draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        if kind == "compare":
            return f"{left} {sign} {draw(sums(names))}"
        if kind == "constant":
            number = draw(st.integers(-1, 12))
            return draw(st.sampled_from([f"{left} {sign} {number}", f"{number} {sign} {left}"]))
        if kind == "between":
            return f"{draw(st.integers(-1, 5))} {sign} {left} < {draw(st.integers(0, 12))}"
        inside = ", ".join(map(str, draw(st.lists(st.integers(-2, 9), max_size=3))))
        return f"{left} {draw(st.sampled_from(['in', 'not in']))} {{{inside}}}"
    if kind == "not":
        return f"not ({draw(truths(names, depth - 1))})"
    parts = draw(st.lists(truths(names, depth - 1), min_size=2, max_size=3))
    return f" {kind} ".join(f"({part})" for part in parts)


@given(data=st.data())
def test_an_expression_is_exact(data: st.DataObject) -> None:
    attributes = [*data.draw(attribute_lists(INTEGERS)), Attribute("flag", [True, False])]
    names = [a.name for a in attributes]
    text = data.draw(sums(names) | truths(names))
    degrees = data.draw(evidence_on(attributes))
    compute = evaluator(parse_condition(text, tuple(names)).expression)
    try:
        brute_force(attributes, degrees, lambda *u: compute(u))
    except ArithmeticError:
        assume(False)
    used = any(f"`{n}`" in text for n in names)
    if not used:
        with raises_saying(DomainError, "uses no attribute"):
            function("f", attributes, text)
        return
    rules = function("f", attributes, text)
    check_exact(rules, "f", attributes, degrees, lambda *u: compute(u))


def inner_sizes(rules: Cascade) -> dict[str, int]:
    """Return the sizes of the domains of all but the inputs."""
    return {s.output.name: len(s.output.domain) for s in rules.rule_sets}


DIGITS = [Attribute(f"d{i}", range(10)) for i in range(40)]


def test_a_sum_is_a_chain() -> None:
    rules = function("t", DIGITS[:4], "d0 + d1 + d2 + d3")
    assert inner_sizes(rules) == {
        "t.1.pair": 100, "t.1": 19, "t.2.pair": 190, "t.2": 28, "t.pair": 280, "t": 37,
    }  # fmt: skip
    assert str(rules["t"].rules[8].premise) == "`t.pair` where `t.2` + d3 == 8"


def test_a_remainder_is_pushed_into_sums_and_products() -> None:
    text = "(" + " + ".join(f"3 * {d.name}" for d in DIGITS) + ") % 7"
    rules = function("t", DIGITS, text)
    assert max(inner_sizes(rules).values()) <= 70
    assert str(rules["t"].rules[5].premise) == "`t.pair` where (`t.77` + `t.78`) % 7 == 5"
    product_rules = function("t", DIGITS[:5], "d0 * d1 * d2 * d3 * d4 % 10")
    assert max(inner_sizes(product_rules).values()) == 100


def test_a_comparison_bounds_the_sums_before_it() -> None:
    text = " + ".join(d.name for d in DIGITS) + " >= 5"
    rules = function("t", DIGITS, text)
    assert max(inner_sizes(rules).values()) == 100  # of the first pair
    assert len(rules["t.20"].output.domain) == 6
    assert "`t.20.pair` where `t.19` + d20 >= 5" in str(rules)
    sure = {d.name: {0: 1.0} for d in DIGITS[:38]}
    few = rules.infer({**sure, "d38": {2: 1.0, 9: 0.4}, "d39": {1: 1.0, 3: 0.7}})["t"].to_dict()
    assert few == {False: 1.0, True: 0.7}


def test_and_and_or_take_one_rule() -> None:
    text = " or ".join(f"d{i} == 7 and d{i + 20} > 2" for i in range(20))
    rules = function("t", DIGITS, text)
    assert sum(map(len, rules.rule_sets)) == 21
    assert str(rules["t.1"].rules[0].premise) == "d0 where d0 == 7 and d20 where d20 > 2"
    joined = function("t", DIGITS, "d0 == d1 and d1 == d2 and not d3 > 4")
    assert inner_sizes(joined) == {"t.1.pair": 1000, "t": 2}


def test_what_occurs_twice_is_joined() -> None:
    rules = function("t", DIGITS[:3], "d0 * (d1 % 2) - d0 // (d2 + 1)")
    assert inner_sizes(rules)["t.pair"] == 10 * 2 * 10


def test_a_long_expression_is_no_recursion() -> None:
    many = [Attribute(f"b{i}", [0, 1]) for i in range(190)]
    rules = function("t", many, "(" + " + ".join(b.name for b in many) + ") % 2")
    seen: dict[str, Any] = {b.name: {1: 1.0} for b in many}
    assert rules.infer({**seen, "b7": {1: 1.0, 0: 0.2}})["t"].to_dict() == {0: 1.0, 1: 0.2}


def test_a_part_that_and_would_not_reach_may_fail() -> None:
    rules = function("f", [LEFT, RIGHT], "left >= 0 or 6 // right > 2")
    assert rules.infer({"left": {1: 1.0}, "right": {0: 1.0}})["f"].to_dict() == {False: 0, True: 1}
    many = DIGITS[:6]
    with raises_saying(DomainError, "'f' fails for d1 = 0", "ZeroDivisionError"):
        function("f", many, "d0 >= 0 or 6 // d1 > 2 or d2 > d3 + d4")


def test_messages_of_expressions() -> None:
    with raises_saying(DomainError, "'f' fails for left = 0, right = 0", "ZeroDivisionError"):
        function("f", [LEFT, RIGHT], "left // right")
    with raises_saying(DomainError, "'f' fails for left = 0", "true or false"):
        function("f", [LEFT, RIGHT], "left and right > 1")
    with raises_saying(RulesTextError, "unknown name 'lift'", "did you mean 'left'?"):
        function("f", [LEFT, RIGHT], "lift + right")
    with raises_saying(DomainError, "'3 + 4'", "uses no attribute"):
        function("f", [LEFT, RIGHT], "3 + 4")
    with raises_saying(DomainError, "the domain of attribute 'f'", "'abc'"):
        function("f", LEFT, "left", domain="abc")
    many = DIGITS[:9]
    with raises_saying(DomainError, "1,000,000,000 values", "step by step"):
        function("f", many, " + ".join(f"{d.name} * {d.name} * d0" for d in many))


# --- aggregates --------------------------------------------------------------------------------


@given(data=st.data(), modulo=st.integers(1, 6))
@SLOW
def test_a_sum_is_exact(data: st.DataObject, modulo: int) -> None:
    attributes = data.draw(attribute_lists(INTEGERS))
    degrees = data.draw(evidence_on(attributes))
    rules = sum_of("f", attributes)
    check_exact(rules, "f", attributes, degrees, lambda *u: sum(u))
    rules = sum_of("f", attributes, modulo=modulo)
    assert rules["f"].output.domain == tuple(range(modulo))
    check_exact(rules, "f", attributes, degrees, lambda *u: sum(u) % modulo)
    rules = sum_of("f", attributes, most=modulo)
    check_exact(rules, "f", attributes, degrees, lambda *u: min(sum(u), modulo))


@given(data=st.data())
@SLOW
def test_extremes_are_exact(data: st.DataObject) -> None:
    attributes = data.draw(attribute_lists(INTEGERS))
    degrees = data.draw(evidence_on(attributes))
    check_exact(max_of("f", attributes), "f", attributes, degrees, lambda *u: max(u))
    check_exact(min_of("f", attributes), "f", attributes, degrees, lambda *u: min(u))


@st.composite
def proposition_lists(draw: st.DrawFn, attributes: Sequence[Attribute]) -> list[Proposition]:
    """Propositions, one on each attribute and perhaps some more."""
    extra = draw(st.lists(st.sampled_from(list(attributes)), max_size=2))
    return [Proposition(a, draw(st.integers(0, a.full))) for a in [*attributes, *extra]]


@given(data=st.data(), most=st.integers(1, 5))
@SLOW
def test_a_count_is_exact(data: st.DataObject, most: int) -> None:
    attributes = data.draw(attribute_lists(INTEGERS, max_size=5))
    degrees = data.draw(evidence_on(attributes))
    stated = data.draw(proposition_lists(attributes))

    def count(*values: int) -> int:
        known = {a.name: v for a, v in zip(attributes, values, strict=True)}
        return sum(known[p.attribute.name] in p.values for p in stated)

    check_exact(count_of("n", stated), "n", attributes, degrees, count)
    check_exact(
        count_of("n", stated, most), "n", attributes, degrees, lambda *u: min(count(*u), most)
    )
    check_exact(parity_of("n", stated), "n", attributes, degrees, lambda *u: count(*u) % 2)


@given(data=st.data(), n=st.integers(2, 6))
@SLOW
def test_a_sorted_count_is_exact(data: st.DataObject, n: int) -> None:
    attributes = [Attribute(f"a_{i}", range(data.draw(st.integers(1, 3)))) for i in range(n)]
    stated = [Proposition(a, data.draw(st.integers(0, a.full))) for a in attributes]
    degrees = data.draw(evidence_on(attributes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregates, "SORTED_FROM", 2)
        rules = count_of("n", stated)
    assert any(name.endswith(".or") for name in rules.attributes)
    pairs = [p.values for p in stated]

    def count(*values: int) -> int:
        return sum(v in inside for v, inside in zip(values, pairs, strict=True))

    check_exact(rules, "n", attributes, degrees, count)


@given(data=st.data(), sort=st.booleans())
@SLOW
def test_a_count_of_formulas_is_exact(data: st.DataObject, sort: bool) -> None:
    x, y, z, u = (Attribute(n, range(3)) for n in "xyzu")
    rest: list[Statement] = [z.isin({1}) | z.isin({2}), ~u.isin({1})]
    both, either = x.isin({1}) & y.isin({0, 2}), x.isin({1}) | ~y.isin({1})
    degrees = data.draw(evidence_on([x, y, z, u]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregates, "SORTED_FROM", 2 if sort else 24)
        with_both, with_either = count_of("n", [both, *rest]), count_of("n", [either, *rest])

    def count(first: Callable[[int, int], bool]) -> Callable[..., int]:
        return lambda a, b, c, d: first(a, b) + (c > 0) + (d != 1)

    four = [x, y, z, u]
    check_exact(with_both, "n", four, degrees, count(lambda a, b: a == 1 and b != 1))
    check_exact(with_either, "n", four, degrees, count(lambda a, b: a == 1 or b != 1))


def test_a_count_of_a_conjunction_that_repeats_an_attribute() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = count_of("n", [a.isin({0}) & a.isin({1}), b.isin({1})])
    result = rules.infer({"a": {0: 0.8, 1: 1.0}, "b": {0: 1.0}})["n"]
    assert result.to_dict() == {0: 1.0, 1: 0.0, 2: 0.0}


def formulas_on(attributes: Sequence[Attribute]) -> st.SearchStrategy[Any]:
    """Formulas that may repeat attributes, and share them with others."""
    single = st.sampled_from(list(attributes)).flatmap(
        lambda a: st.integers(0, a.full).map(lambda mask: Proposition(a, mask))
    )

    def compounds(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        pairs = st.tuples(parts, parts)
        return st.one_of(
            pairs.map(lambda p: p[0] & p[1]), pairs.map(lambda p: p[0] | p[1]), parts.map(inv)
        )

    return st.recursive(single, compounds, max_leaves=4)


def is_true(statement: Any, values: dict[str, Hashable]) -> bool:
    if isinstance(statement, Proposition):
        return values[statement.attribute.name] in statement.values
    if isinstance(statement, Premise):
        return all(is_true(p, values) for p in statement.propositions)
    n_true = sum(is_true(p, values) for p in statement.parts)
    return bool(statement.least <= n_true <= statement.most)


@given(data=st.data(), sort=st.booleans(), most=st.none() | st.integers(1, 3))
@SLOW
def test_a_count_of_formulas_that_share_attributes_is_exact(
    data: st.DataObject, sort: bool, most: int | None
) -> None:
    attributes = [Attribute(n, range(2 + i % 2)) for i, n in enumerate("xyzu")]
    stated = data.draw(st.lists(formulas_on(attributes), min_size=1, max_size=4))
    degrees = data.draw(evidence_on(attributes))

    def count(*values: Hashable) -> int:
        known = dict(zip((a.name for a in attributes), values, strict=True))
        n = sum(is_true(statement, known) for statement in stated)
        return n if most is None else min(n, most)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregates, "SORTED_FROM", 2 if sort else 24)
        rules = count_of("n", stated, most)
    check_exact(rules, "n", attributes, degrees, count)


def test_a_count_of_formulas_that_share_too_much_is_an_upper_bound() -> None:
    """As docs/functions.md says; the check reports it."""
    ten = [Attribute(f"a_{i}", range(3)) for i in range(10)]
    chain = [x.isin({0}) & y.isin({1}) for x, y in pairwise(ten)]
    rules = count_of("n", chain)
    assert any(f.kind == "upper bound" for f in rules.check().findings)
    crisp = rules.infer({a.name: i % 2 for i, a in enumerate(ten)})["n"]
    assert crisp.to_dict() == {k: float(k == 5) for k in range(10)}


@given(degrees=st.lists(distributions(2), min_size=24, max_size=40))
@SLOW
def test_a_long_count_is_the_chain_of_counts(degrees: list[list[float]]) -> None:
    bits = [Attribute(f"bit_{i}", [0, 1]) for i in range(len(degrees))]
    evidence = dict(zip(bits, degrees, strict=True))
    sorted_count = count_of("n", [b.isin({1}) for b in bits]).infer(evidence)["n"]
    assert sorted_count.to_dict() == sum_of("n", bits).infer(evidence)["n"].to_dict()


@given(data=st.data())
@SLOW
def test_the_parity_of_numbers_and_propositions(data: st.DataObject) -> None:
    attributes = data.draw(attribute_lists(INTEGERS))
    degrees = data.draw(evidence_on(attributes))
    last = Proposition(attributes[-1], data.draw(st.integers(0, attributes[-1].full)))
    check_exact(
        parity_of("odd", [*attributes[:-1], last]),
        "odd",
        attributes,
        degrees,
        lambda *u: (sum(u[:-1]) + (u[-1] in last.values)) % 2,
    )


@given(data=st.data())
@SLOW
def test_all_different_is_exact(data: st.DataObject) -> None:
    attributes = data.draw(attribute_lists(st.sampled_from([0, 1, 2, 3, "x"])))
    degrees = data.draw(evidence_on(attributes))
    rules = all_different("ok", attributes)
    check_exact(rules, "ok", attributes, degrees, lambda *u: len(set(u)) == len(u))


def test_all_different_of_many_values_is_a_bound() -> None:
    cells = [Attribute(f"cell_{i}", range(20)) for i in range(6)]
    rules = all_different("ok", cells)
    assert len(rules.rule_sets) == 16
    assert "`ok.1_2.pair` where cell_0 != cell_1" in str(rules)
    two = {a.name: {0: 1.0, 1: 0.6} for a in cells}  # no six values for six cells
    assert rules.infer(two)["ok"].to_dict() == {False: 1.0, True: 0.6}
    different = {a.name: {i: 1.0, 19: 0.3} for i, a in enumerate(cells)}
    assert rules.infer(different)["ok"].to_dict() == {False: 0.3, True: 1.0}
    assert parse(str(rules)) == rules


def test_sums_of_decimals() -> None:
    attributes = [Attribute("x", [0.1, 0.2]), Attribute("y", [0.2, 0.7]), Attribute("z", [3, 0.5])]
    degrees = {"x": [1.0, 0.5], "y": [0.3, 1.0], "z": [1.0, 0.2]}
    check_exact(sum_of("f", attributes), "f", attributes, degrees, lambda x, y, z: x + y + z)


def test_messages_of_aggregates() -> None:
    words = Attribute("word", ["a", "b"])
    halves = Attribute("half", [0.5, 1])
    for call in (sum_of, max_of, min_of, all_different, parity_of):
        with raises_saying(DomainError, "list of attributes", "[]"):
            call("f", [])
        with raises_saying(DomainError, "list of attributes", "3"):
            call("f", [3])  # type: ignore[list-item]
        with raises_saying(DomainError, "'left' twice"):
            call("f", [LEFT, LEFT])
    with raises_saying(DomainError, "'word'", "'a'", "numbers"):
        sum_of("f", [LEFT, words])
    with raises_saying(DomainError, "'half'", "0.5", "integers"):
        sum_of("f", [LEFT, halves], modulo=2)
    with raises_saying(DomainError, "'half'", "0.5", "integers"):
        parity_of("f", [halves])
    with raises_saying(DomainError, "modulo is 0"):
        sum_of("f", [LEFT], modulo=0)
    with raises_saying(DomainError, "most is 0"):
        sum_of("f", [LEFT], most=0)
    with raises_saying(DomainError, "give one of them"):
        sum_of("f", [LEFT], modulo=2, most=2)
    with raises_saying(DomainError, "list of propositions", "Attribute('left'"):
        count_of("f", [LEFT])  # type: ignore[list-item]
    with raises_saying(DomainError, "list of propositions", "[]"):
        count_of("f", [])
    with raises_saying(DomainError, "'left' twice"):
        parity_of("f", [LEFT, LEFT.isin({1})])
    with raises_saying(DomainError, "'word'", "'a'", "the values of max_of are numbers"):
        max_of("f", [LEFT, words])


# --- growth ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ["sum", "capped", "count", "parity", "max"])
def test_rules_are_linear_in_the_number_of_attributes(make: str) -> None:
    def rules(n: int) -> int:
        digits = [Attribute(f"a_{i}", range(10)) for i in range(n)]
        made = {
            "sum": lambda: sum_of("f", digits, modulo=10),
            "capped": lambda: sum_of("f", digits, most=10),
            "count": lambda: count_of("f", [d.isin({7}) for d in digits], most=5),
            "parity": lambda: parity_of("f", digits),
            "max": lambda: max_of("f", digits),
        }[make]()
        return sum(map(len, made.rule_sets))

    assert rules(80) - rules(60) == rules(60) - rules(40)


def test_a_long_sum_is_inferred() -> None:
    digits = [Attribute(f"a_{i}", range(10)) for i in range(1000)]
    rules = sum_of("f", digits, modulo=10)
    evidence: dict[str, Any] = {a.name: {i % 10: 1.0} for i, a in enumerate(digits)}
    evidence["a_7"] = {7: 1.0, 8: 0.3}
    inferred = rules.infer(evidence)["f"].to_dict()
    assert {t: d for t, d in inferred.items() if d} == {0: 1.0, 1: 0.3}


def test_a_sum_of_too_many_values_is_refused_at_once() -> None:
    digits = [Attribute(f"d{i}", range(10)) for i in range(1000)]
    with raises_saying(DomainError, "the sum 's' would have 9,001 values", "most=", "modulo="):
        sum_of("s", digits)


def test_texts_have_no_largest_one() -> None:
    sizes = [Attribute(name, ["low", "medium", "high"]) for name in ("a", "b")]
    for extreme in (max_of, min_of):
        with raises_saying(DomainError, "attribute 'a' has the value 'low'", "are numbers"):
            extreme("m", sizes)
