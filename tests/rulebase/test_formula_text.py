"""Formulas in the premises of a text, against all tuples of values, one by one."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    Iff,
    RuleSet,
    RulesTextError,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
    parse,
)

#: Three attributes p_1, p_2, p_3 of three values, and what is concluded.
HEAD = "attribute p[1..3] in 0..2 attribute b in {0, 1} let k = 2\n"
P = [Attribute(f"p_{i}", range(3)) for i in (1, 2, 3)]

#: A formula's text, in which {i} is a variable, and whether it holds for values and the variable.
Formula = tuple[str, Callable[[tuple[int, ...], int], bool]]


@st.composite
def propositions(draw: st.DrawFn, bound: bool) -> Formula:
    place = draw(st.integers(1, 3))
    value = draw(st.integers(0, 2))
    name, index = f"p[{place}]", place
    if bound and draw(st.booleans()):
        name, index = "p[i]", 0
    text, test = draw(
        st.sampled_from(
            [
                ("{} == {}", lambda x, v: x == v),
                ("{} != {}", lambda x, v: x != v),
                ("{} <= {}", lambda x, v: x <= v),
                ("{} in {{{}, k}}", lambda x, v: x in (v, 2)),
                ("{} not in {{{}}}", lambda x, v: x != v),
                ("{0} where {0} + {1} >= k", lambda x, v: x + v >= 2),
            ]
        )
    )
    return text.format(name, value), lambda u, i: test(u[(index or i) - 1], value)


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3, bound: bool = False) -> Formula:
    kind = draw(st.sampled_from(["p", "p", "and", "or", "not", "all", "some", "count"]))
    if kind == "p" or depth == 0:
        return draw(propositions(bound))
    if kind == "not":
        text, holds = draw(formulas(depth - 1, bound))
        return f"not ({text})", lambda u, i: not holds(u, i)
    if kind in ("all", "some"):
        text, holds = draw(formulas(depth - 1, bound=True))
        low, high = draw(st.sampled_from([(1, 3), (1, 2), (2, 3), (3, 3), (2, 1)]))
        word, fold = ("forall", all) if kind == "all" else ("exists", any)
        span = range(low, high + 1)
        return f"{word} i in {low}..{high}: ({text})", lambda u, _: fold(holds(u, i) for i in span)
    parts = [draw(formulas(depth - 1, bound)) for _ in range(draw(st.integers(1, 3)))]
    texts = [f"({text})" for text, _ in parts]
    if kind == "count":
        number = draw(st.integers(0, 3))
        word, test = draw(
            st.sampled_from(
                [("at least", int.__ge__), ("at most", int.__le__), ("exactly", int.__eq__)]
            )
        )
        text = f"{word} {number} of ({', '.join(texts)})"
        return text, lambda u, i: test(sum(holds(u, i) for _, holds in parts), number)
    fold = all if kind == "and" else any
    return f" {kind} ".join(texts), lambda u, i: fold(holds(u, i) for _, holds in parts)


@given(
    formulas(),
    st.lists(st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=3, max_size=3),
)
def test_a_formula_is_as_possible_as_its_best_case(formula: Formula, rows: list[list[int]]) -> None:
    text, holds = formula
    cascade = parse(f"{HEAD} iff {text} then b == 1")
    assert parse(str(cascade)) == cascade
    degrees = [[10, *row[1:]] if 10 not in row else row for row in rows]
    possible = {False: 0, True: 0}
    for u in product(range(3), repeat=3):
        case = holds(u, 0)
        possible[case] = max(possible[case], min(degrees[i][v] for i, v in enumerate(u)))
    if not cascade.inputs:
        return
    evidence = {f"p_{i + 1}": [d / 10 for d in row] for i, row in enumerate(degrees)}
    known = {a.name for a in cascade.inputs}
    result = cascade.infer({name: row for name, row in evidence.items() if name in known})["b"]
    expected = [possible[False] / 10, possible[True] / 10]
    premise = [p.attribute.name for p in cascade["b"].rules[0].premise.propositions]
    if len(set(premise)) == len(premise):
        assert result.degrees.tolist() == expected
    else:  # a plain conjunction, each part of which is taken for itself
        assert (result.degrees >= expected).all()


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (
            "p[1] == 1 or p[2] == 1 and p[3] == 1",
            any_of(P[0].isin({1}), P[1].isin({1}) & P[2].isin({1})),
        ),
        ("not p[1] == 1 and p[2] == 1", all_of(P[0].isin({0, 2}), P[1].isin({1}))),
        ("exists i in 1..3: p[i] == i - 1", any_of(*(p.isin({i}) for i, p in enumerate(P)))),
        ("forall i in 1..3, j in 1..2 where i == j: p[i] == j", P[0].isin({1}) & P[1].isin({2})),
        (
            "exists i in 1..2: p[i] == 1 and p[3] == 0",
            any_of(P[0].isin({1}), P[1].isin({1})) & P[2].isin({0}),
        ),
        ("at least k of (p[i] == 1 for i in 1..3)", at_least(2, *(p.isin({1}) for p in P))),
        ("at most 1 of (p[i] == 1 for i in 1..3)", at_most(1, *(p.isin({1}) for p in P))),
        ("exactly k - 1 of (p[1] == 1, p[2] == 1)", exactly(1, P[0].isin({1}), P[1].isin({1}))),
    ],
    ids=lambda text: text if isinstance(text, str) else "",
)
def test_a_text_is_a_formula(text: str, formula: object) -> None:
    expected = Iff(formula).then(Attribute("b", (0, 1)).isin({1}))  # type: ignore[arg-type]
    cascade = Cascade(RuleSet([expected]), attributes=P)
    assert parse(f"{HEAD} iff {text} then b == 1") == cascade


def test_words_of_formulas_may_be_names() -> None:
    names = ["at", "exists", "exactly[1..1]", "b"]
    text = "".join(f"attribute {name} in 0..1 " for name in names)
    cascade = parse(text + "iff at == 1 or exists in {1} and exactly[1] == 0 then b == 1")
    assert {a.name for a in cascade.inputs} == {"at", "exists", "exactly_1"}


def test_an_attribute_that_is_true_or_false_is_a_proposition() -> None:
    head = "attribute d in 0..9 attribute x in {yes, no} function even = d % 2 == 0 "
    short = parse(head + "if even and not d == 4 then x == yes if not even then x == no")
    assert short == parse(
        head + "if even == true and d != 4 then x == yes if even == false then x == no"
    )
    assert parse(head + "attribute y in {true, false} iff x == yes then y").outputs[-1].name == "y"
    with raises_saying(RulesTextError, "expected 'in', 'where' or a comparison, found 'then'"):
        parse(head + "if d then x == yes")


@pytest.mark.parametrize(
    ("text", "column", "parts"),
    [
        ("if p[1] == 1 or then b == 1", 17, ["expected an attribute, found 'then'"]),
        ("if (p[1] == 1 then b == 1", 15, ["expected ')', found 'then'"]),
        ("if exists i in 1..4 p[1] == 1 then b == 1", 11, ["expected ':' and a formula"]),
        ("if exists i in 1..4: p[i] == 1 then b == 1", 22, ["'p_4' is not declared", "with i = 4"]),
        ("if at least 2 of p[1] == 1 then b == 1", 18, ["expected '(', found 'p'"]),
        ("if at least 2 (p[1] == 1) then b == 1", 15, ["expected 'of', found '('"]),
        ("if at least x of (p[1] == 1) then b == 1", 13, ["'x'; it must be an integer"]),
        ("if at least 1 of () then b == 1", 13, ["a formula needs at least one proposition"]),
        ("if " + "not " * 60 + "p[1] == 1 then b == 1", 204, ["nests more than 50 deep"]),
        ("if " + "(" * 60 + "p[1] == 1 then b == 1", 54, ["nests more than 50 deep"]),
        ("if p[1] == 1 then b == 1 or b == 0", 26, ["one conclusion, on one attribute"]),
    ],
    ids=lambda text: text[:40] if isinstance(text, str) else "",
)
def test_what_formulas_say_when_they_are_wrong(text: str, column: int, parts: list[str]) -> None:
    with raises_saying(RulesTextError, f"line 2, column {column}: ", *parts):
        parse(HEAD + text)
