"""The statements ``joint`` and ``function`` in text say what the Python functions say."""

import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    RulesTextError,
    all_different,
    count_of,
    function,
    joint,
    max_of,
    min_of,
    parity_of,
    parse,
    sum_of,
)

DIGITS = [Attribute(f"d_{i}", range(4)) for i in range(1, 5)]
HEAD = "attribute d[1..4] in 0..3 "
SEVENS = [d.isin({3}) for d in DIGITS]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("function n = count(d[i] == 3 for i in 1..4)", count_of("n", SEVENS)),
        ("function n = count(d[1] in {3}, d[2] in {3})", count_of("n", SEVENS[:2])),
        ("function n = sum(d[i] for i in 1..4)", sum_of("n", DIGITS)),
        ("function n = sum(d[1], d[2]) % 3", sum_of("n", DIGITS[:2], modulo=3)),
        ("let k = 3 function n = sum(d[i] for i in 1..k) % (k - 1)", sum_of("n", DIGITS[:3], 2)),
        ("function n = max(d[i] for i in 2..3)", max_of("n", DIGITS[1:3])),
        ("function n = min(d[1], d[4])", min_of("n", [DIGITS[0], DIGITS[3]])),
        ("function n = parity(d[i] for i in 1..4)", parity_of("n", DIGITS)),
        ("function n = parity(d[i] == 3 for i in 1..4)", parity_of("n", SEVENS)),
        ("function n = all_different(d[i] for i in 1..3)", all_different("n", DIGITS[:3])),
        ("function n = d[1] + 2 * d[2]", function("n", DIGITS[:2], "d_1 + 2 * d_2")),
        ("function n = d[2] < d[1]", function("n", DIGITS[1::-1], "d_2 < d_1")),
        (
            "function n in -1..9 = d[1] + d[2]",
            function("n", DIGITS[:2], "d_1 + d_2", domain=range(-1, 10)),
        ),
        ("joint n = d[1] * d[3]", Cascade(joint("n", DIGITS[0], DIGITS[2]))),
    ],
    ids=lambda text: text if isinstance(text, str) else "",
)
def test_a_statement_is_a_call(text: str, rules: Cascade) -> None:
    cascade = parse(HEAD + text)
    assert set(cascade.rule_sets) == set(rules.rule_sets)
    assert {a.name for a in DIGITS} <= set(cascade.attributes)
    assert parse(str(cascade)) == cascade


def test_addition_in_three_statements() -> None:
    cascade = parse(
        "attribute left in 0..9 attribute right in 0..9 "
        "joint pair = left * right "
        "function total = left + right"
    )
    left, right = Attribute("left", range(10)), Attribute("right", range(10))
    assert cascade == function("total", joint("pair", left, right), "left + right")


def test_functions_in_templates() -> None:
    cascade = parse(HEAD + "for i in 1..2: function e[i] = d[i] * i + d[i + 2]")
    expected = [
        function(f"e_{i}", [DIGITS[i - 1], DIGITS[i + 1]], f"d_{i} * {i} + d_{i + 2}")
        for i in (1, 2)
    ]
    assert set(cascade.rule_sets) == {s for c in expected for s in c.rule_sets}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("function e = 3", ["column 36: the function 'e' uses no attribute"]),
        ("function e in {0, 1} = d[1]", ["column 36: the function 'e' gives 2 for d_1 = 2"]),
        ("function e = d[1] + x", ["column 47: unknown name 'x'; known: d_1"]),
        ("function e = d[1] function e = d[2]", ["attribute 'e' is declared twice"]),
        ("function e = sum(d[1], d[1])", ["column 40: ", "the attribute 'd_1' twice"]),
        ("function e = count(d[1], d[2])", ["column 50: expected 'in', 'where'", "found ','"]),
        ("function e = count(d[1] == 1) >= 1", ["column 57: count(...)", "'e' in another"]),
        ("function e = sum(d[1], d[2]) + 1", ["sum(...)", "'e' in another"]),
        ("function e = min(d[1] + 1, d[2])", ["these are attributes; name others by a function"]),
        ("number t function e = t + 1", ["fails for t = ", "write rules, such as iff t < 30"]),
        ("function e in {0, 1} = sum(d[1])", ["sum has a domain of its own"]),
        ("function e = 1 // d[1]", ["column 36: the function 'e' fails for d_1 = 0"]),
        ("joint d_1 = d[1] * d[2]", ["attribute 'd_1' is declared twice"]),
        ("joint e = d[1]", ["column 33: the product 'e' needs two or more factors"]),
        ("for i in 1..9: function e[i] = sum(d[i])", ["'d_5' is not declared", "with i = 5"]),
    ],
)
def test_what_functions_say_when_they_are_wrong(text: str, parts: list[str]) -> None:
    with raises_saying(RulesTextError, "line 1, ", *parts):
        parse("attribute d[1..4] in 0..9 " + text)
